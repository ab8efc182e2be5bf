/* Matrix products: shapes, dtypes, layouts, epilogues, outputs, errors. Floats are compared with
   sums of twice the digits by |C - R| / (|A||B|), integers exactly. Where a test is not about accuracy its
   values are small integers, whose products and sums are exact in any order. */
#include "check.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- the product by its definition ---- */
typedef struct {
  gt_dtype type;
  gt_shape shape;
  int64_t count, k;
  long double *value, *size; /* A B and |A||B| */
  int64_t *exact;            /* of integers, wrapping */
} product;

typedef struct { int64_t m, n, k, a_batch, b_batch; gt_shape a, b; } sizes;
static int64_t elements(gt_shape s) {
  int64_t n = 1;
  int d;
  for (d = 0; d < s.ndim; d++) n *= s.size[d];
  return n;
}
static gt_shape insert_one(gt_shape s, int at) {
  int d;
  for (d = s.ndim++; d > at; d--) s.size[d] = s.size[d - 1];
  s.size[at] = 1;
  return s;
}
/* Which matrix of x is the one at `batch` of the result? Sizes of 1 are repeated. */
static int64_t batch_of(gt_shape x, gt_shape result, int n_batch, int64_t batch) {
  int64_t at = 0, step = 1;
  int d, nx = x.ndim - 2;
  for (d = n_batch - 1; d >= 0; d--) {
    const int64_t i = batch % result.size[d];
    const int dx = d - (n_batch - nx);
    batch /= result.size[d];
    if (dx < 0) continue;
    at += (x.size[dx] == 1 ? 0 : i) * step;
    step *= x.size[dx];
  }
  return at;
}
static product product_of(const gt_tensor *x, const gt_tensor *y) {
  gt_shape a = gt_shape_of(x), b = gt_shape_of(y), r;
  const int drop_m = a.ndim == 1, drop_n = b.ndim == 1;
  const int whole = !is_float(x->dtype) && !is_float(y->dtype);
  void *raw[2];
  double *p, *q;
  int64_t *ip, *iq, m, n, k, i, j, l, at, batches;
  int d, nb;
  product c;
  if (drop_m) a = insert_one(a, 0);
  if (drop_n) b = insert_one(b, 1);
  m = a.size[a.ndim - 2];
  k = a.size[a.ndim - 1];
  n = b.size[b.ndim - 1];
  nb = (a.ndim > b.ndim ? a.ndim : b.ndim) - 2;
  memset(&r, 0, sizeof r);
  for (d = 0; d < nb; d++) {
    const int da = d - (nb - (a.ndim - 2)), db = d - (nb - (b.ndim - 2));
    const int64_t sa = da < 0 ? 1 : a.size[da], sb = db < 0 ? 1 : b.size[db];
    r.size[r.ndim++] = sa == 1 ? sb : sa;
  }
  batches = elements(r);
  c.shape = r;
  if (!drop_m) c.shape.size[c.shape.ndim++] = m;
  if (!drop_n) c.shape.size[c.shape.ndim++] = n;
  c.count = batches * m * n;
  c.k = k;
  c.type = gt_promote_types(x->dtype, y->dtype);
  c.value = (long double *)malloc((size_t)c.count * sizeof(long double) + 16);
  c.size = (long double *)malloc((size_t)c.count * sizeof(long double) + 16);
  c.exact = (int64_t *)calloc((size_t)c.count * 8 + 8, 1);
  raw[0] = values_of(x);
  raw[1] = values_of(y);
  p = (double *)malloc((size_t)elements(a) * sizeof *p + 16);
  q = (double *)malloc((size_t)elements(b) * sizeof *q + 16);
  ip = (int64_t *)calloc((size_t)elements(a) * 8 + 8, 1);
  iq = (int64_t *)calloc((size_t)elements(b) * 8 + 8, 1);
  for (i = 0; i < elements(a); i++)
    if (whole) ip[i] = load_int(x->dtype, raw[0], i);
    else p[i] = load(x->dtype, raw[0], i);
  for (i = 0; i < elements(b); i++) { /* B transposed, so that both are read along K */
    const int64_t to = i / (k * n) * k * n + i % n * k + i / n % k;
    if (whole) iq[to] = load_int(y->dtype, raw[1], i);
    else q[to] = load(y->dtype, raw[1], i);
  }
  for (at = 0; at < c.count; at++) {
    const int64_t batch = at / (m * n);
    i = batch_of(a, r, nb, batch) * m * k + at / n % m * k;
    j = batch_of(b, r, nb, batch) * n * k + at % n * k;
    if (whole) {
      uint64_t sum = 0;
      for (l = 0; l < k; l++) sum += (uint64_t)ip[i + l] * (uint64_t)iq[j + l];
      c.exact[at] = (int64_t)sum;
      c.value[at] = (long double)c.exact[at];
      c.size[at] = 0;
    } else {
      double sum = 0, rest = 0, size = 0;      /* sum + rest: what each rounding lost, too */
      if (c.type != GT_FLOAT64)                /* products are exact, and 29 bits to spare for sums */
        for (l = 0; l < k; l++) sum += p[i + l] * q[j + l], size += fabs(p[i + l] * q[j + l]);
      else
        for (l = 0; l < k; l++) {
          const double x = p[i + l] * q[j + l], lost = fma(p[i + l], q[j + l], -x);
          const double next = sum + x, part = next - sum;
          rest += (sum - (next - part)) + (x - part) + lost;
          sum = next;
          size += fabs(x);
        }
      c.value[at] = isfinite(sum) ? (long double)sum + rest : (long double)sum;
      c.size[at] = size;
    }
  }
  free(raw[0]);
  free(raw[1]);
  free(p);
  free(q);
  free(ip);
  free(iq);
  return c;
}
static void product_free(product c) {
  free(c.value);
  free(c.size);
  free(c.exact);
}

/* ---- comparing ---- */
static double worst; /* of |C - R| / (sqrt(K) u |A||B|), beyond the rounding of the result */
static char worst_where[300];
/* Random signs: the error of a sum of K roundings grows as sqrt(K); 2 covers the largest of many.
   For a result narrower than what it is added up in, half a unit in its last place on top. */
static double half_unit(gt_dtype t, double x) {
  const double u =
      t == GT_FLOAT16 ? 0x1p-11 : t == GT_BFLOAT16 ? 0x1p-8 : t == GT_FLOAT32 ? 0x1p-24 : 0;
  return u * fabs(x) + (t == GT_FLOAT16 ? 0x1p-25 : t == GT_BFLOAT16 ? 0x1p-134 : 0x1p-150);
}
#define CHECK_PRODUCT(c, want, unit) check_product(__LINE__, #c, c, want, unit)
static void check_product(int line, const char *what, const gt_tensor *c, product want,
                          double unit) {
  int64_t i;
  void *got, *exact;
  if (!c || c->ndim != want.shape.ndim || gt_numel(c) != want.count ||
      memcmp(c->shape, want.shape.size, (size_t)c->ndim * sizeof c->shape[0])) {
    check_report(__FILE__, line, "%s has not the product's shape (%s)", what, gt_error_message());
    gt_clear_error();
    return;
  }
  got = values_of(c);
  exact = malloc((size_t)want.count * 8 + 8);
  for (i = 0; i < want.count; i++) {
    const double x = load(c->dtype, got, i);
    const double scale = sqrt((double)want.k) * unit * (double)want.size[i];
    double error, ratio;
    if (!is_float(want.type)) {
      store_int(c->dtype, exact, i, want.exact[i]);
      if (same(c->dtype, got, exact, i)) continue;
      check_report(__FILE__, line, "%s: element %" PRId64 " is %.17g, not %" PRId64, what, i, x,
                   want.exact[i]);
      break;
    }
    error = (double)fabsl(x - want.value[i]);
    if (c->dtype != want.type || c->dtype < GT_FLOAT32) /* stored narrower than it was added up */
      error -= half_unit(c->dtype, (double)want.value[i]);
    ratio = error <= 0 ? 0 : scale > 0 ? error / scale : (double)INFINITY;
    if (!(ratio <= worst)) {
      worst = ratio;
      snprintf(worst_where, sizeof worst_where, "%s, K = %" PRId64 ", [%s]",
               gt_dtype_string(want.type), want.k,
               check_name);
    }
    if (ratio <= 2) continue;
    check_report(__FILE__, line,
               "%s (%s): element %" PRId64 " of %" PRId64 " is %.17g, not %.17Lg: %.3g units", what,
                 gt_dtype_string(c->dtype), i, want.count, x, want.value[i], ratio);
    break;
  }
  digest(c->dtype, got, want.count);
  free(got);
  free(exact);
}
static double unit_of(gt_dtype t) { return t == GT_FLOAT64 ? 0x1p-53 : 0x1p-24; }
/* a x b, made anew, against its definition. */
static void multiply(const gt_tensor *a, const gt_tensor *b) {
  const product want = product_of(a, b);
  const int bad = check_bad;
  GT_SCOPE {
    gt_tensor *c = gt_matmul(NULL, a, b);
    CHECK_INT(c ? c->dtype : GT_DTYPES, want.type);
    CHECK_PRODUCT(c, want, unit_of(want.type));
  }
  if (check_bad > bad && check_bad < 8)
    printf("    %s x %s, last sizes %" PRId64 " %" PRId64 ", K %" PRId64 "\n",
           gt_dtype_string(a->dtype),
           gt_dtype_string(b->dtype), a->ndim > 1 ? a->shape[a->ndim - 2] : 1,
               b->shape[b->ndim - 1], want.k);
  product_free(want);
}
static gt_tensor *rnd_matrix(int64_t m, int64_t n, gt_dtype t) {
  return random_tensor(GT_SHAPE(m, n), t, DEV);
}
static void multiply_sizes(int64_t m, int64_t n, int64_t k, gt_dtype t) {
  GT_SCOPE {
    const gt_tensor *a = rnd_matrix(m, k, t), *b = rnd_matrix(k, n, t);
    multiply(a, b);
  }
}
/* Integers from -4 to 4 in any type. */
static gt_tensor *whole(gt_shape s, gt_dtype t) {
  const int64_t n = elements(s);
  double *v = (double *)malloc((size_t)n * 8 + 8);
  gt_tensor *x;
  int64_t i;
  for (i = 0; i < n; i++) v[i] = (double)(rnd_below(9) - (t <= GT_UINT8 ? 0 : 4));
  x = tensor_of(s, t, v);
  free(v);
  return x;
}

/* ---- shapes ---- */
static void test_shapes(void) {
  static const gt_shape pairs[][2] = {
      {{1, {5}}, {1, {5}}},          {{2, {3, 5}}, {1, {5}}},          {{1, {5}}, {2, {5, 4}}},
      {{2, {3, 5}}, {2, {5, 4}}},    {{3, {6, 3, 5}}, {3, {6, 5, 4}}},
          {{3, {6, 3, 5}}, {2, {5, 4}}},
      {{2, {3, 5}}, {3, {6, 5, 4}}}, {{3, {6, 3, 5}}, {1, {5}}},       {{1, {5}}, {3, {6, 5, 4}}},
      {{3, {1, 3, 5}}, {3, {6, 5, 4}}}, {{3, {6, 3, 5}}, {3, {1, 5, 4}}},
      {{4, {2, 1, 3, 5}}, {4, {1, 6, 5, 4}}}, {{4, {2, 1, 3, 5}}, {3, {6, 5, 4}}},
      {{5, {2, 3, 2, 3, 5}}, {3, {2, 5, 4}}}, {{5, {2, 3, 2, 3, 5}}, {1, {5}}},
      {{8, {2, 1, 2, 1, 2, 1, 3, 5}}, {8, {1, 2, 1, 2, 1, 2, 5, 4}}},
      {{2, {1, 1}}, {2, {1, 1}}},    {{1, {1}}, {1, {1}}},
          {{3, {3, 2, 2}}, {4, {2, 1, 2, 2}}}};
  static const int types[] = {GT_FLOAT32, GT_INT32, GT_FLOAT64, GT_BFLOAT16};
  int i, t, layout;
  for (i = 0; i < (int)(sizeof pairs / sizeof *pairs); i++)
    for (t = 0; t < 4; t++)
      GT_SCOPE {
        gt_tensor *a = random_tensor(pairs[i][0], (gt_dtype)types[t], DEV);
        gt_tensor *b = random_tensor(pairs[i][1], (gt_dtype)types[t], DEV);
        for (layout = 0; layout < LAYOUTS; layout++)
          multiply(relayout(a, layout), relayout(b, (int)rnd_below(LAYOUTS)));
      }
  CHECK_SHAPE_0D(gt_matmul(NULL, gt_ones(GT_SHAPE(5), GT_FLOAT32, DEV),
                           gt_ones(GT_SHAPE(5), GT_FLOAT32, DEV)));
  CHECK_VALUES(gt_matmul(NULL, TENSOR(GT_FLOAT32, GT_SHAPE(2, 2), 1, 2, 3, 4),
                         TENSOR(GT_FLOAT32, GT_SHAPE(2, 2), 5, 6, 7, 8)),
               19, 22, 43, 50);
}
static void test_zero_sizes(void) {
  static const gt_shape pairs[][2] = {
      {{2, {0, 5}}, {2, {5, 4}}}, {{2, {3, 5}}, {2, {5, 0}}}, {{2, {3, 0}}, {2, {0, 4}}},
          {{2, {0, 0}}, {2, {0, 0}}},
      {{1, {0}}, {1, {0}}},       {{2, {3, 0}}, {1, {0}}},    {{1, {0}}, {2, {0, 4}}},
          {{3, {0, 3, 5}}, {3, {0, 5, 4}}},
      {{3, {0, 3, 5}}, {2, {5, 4}}}, {{3, {1, 3, 5}}, {3, {0, 5, 4}}},
          {{3, {2, 3, 0}}, {2, {0, 4}}}};
  int i, t;
  for (i = 0; i < (int)(sizeof pairs / sizeof *pairs); i++)
    for (t = 0; t < GT_DTYPES; t++)
      GT_SCOPE {
        const gt_tensor *a = gt_zeros(pairs[i][0], (gt_dtype)t, DEV),
            *b = gt_zeros(pairs[i][1], (gt_dtype)t, DEV);
        multiply(a, b);
      }
  { /* K = 0 writes zeros over what was there, and the epilogue sees them */
    gt_tensor *out = gt_full(GT_SHAPE(2, 3), 77, GT_FLOAT32, DEV);
    gt_tensor *a = gt_zeros(GT_SHAPE(2, 0), GT_FLOAT32, DEV),
        *b = gt_zeros(GT_SHAPE(0, 3), GT_FLOAT32, DEV);
    CHECK(gt_matmul(out, a, b) == out);
    CHECK_VALUES(out, 0, 0, 0, 0, 0, 0);
    CHECK_VALUES(gt_matmul_eval(NULL, a, b, "a + b", TENSOR(GT_FLOAT32, GT_SHAPE(3), 1, 2, 3)), 1,
                 2, 3, 1, 2, 3);
    CHECK_VALUES(gt_addmm(NULL, gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV), a, b, 2, 5), 2, 2, 2, 2, 2,
                 2);
    CHECK_VALUES(gt_linear(NULL, a, gt_zeros(GT_SHAPE(2, 0), GT_FLOAT32, DEV),
                           TENSOR(GT_FLOAT32, GT_SHAPE(2), 4, 5)), 4, 5, 4, 5);
  }
}

/* ---- sizes ---- */
static void test_awkward_sizes(void) {
  static const int64_t size[] = {1, 2, 23, 63, 64, 65, 127, 128, 129};
  int i, j, k;
  for (i = 0; i < 9; i++)
    for (j = 0; j < 9; j++)
      for (k = 0; k < 9; k++)
        if (!QUICK || rnd_below(20) == 0)
          multiply_sizes(size[i], size[j], size[k], GT_FLOAT32);
}
static void test_large_sizes(void) {
  static const int64_t size[][3] = {{301, 299, 303}, {193, 257, 511}, {384, 512, 256},
                                    {5, 300, 1000}, {300, 5, 777},
                                    {1, 1, 100000}, {64, 64, 8192}};
  int i, t;
  for (i = 0; i < (QUICK ? 1 : 7); i++)
    for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
      if (t == GT_FLOAT32 || !QUICK)
        multiply_sizes(size[i][0], size[i][1], size[i][2], (gt_dtype)t);
  if (!QUICK) multiply_sizes(130, 270, 300, GT_INT64);
}
static void test_skinny(void) {
  static const int64_t size[][3] = {{1, 1, 777}, {1, 500, 3}, {500, 1, 3}, {1000, 3, 1},
                                    {3, 1000, 1}, {1, 300, 513},
                                    {300, 1, 513}, {1000, 3, 3}, {2, 2, 4097}, {7, 1, 1},
                                    {1, 7, 1}, {1, 512, 640}, {4, 260, 1028}};
  int i, t;
  for (i = 0; i < 13; i++)
    for (t = 0; t < GT_DTYPES; t++)
      if (!QUICK || rnd_below(3) == 0)
        GT_SCOPE {
          gt_tensor *a = rnd_matrix(size[i][0], size[i][2], (gt_dtype)t),
              *b = rnd_matrix(size[i][2], size[i][1], (gt_dtype)t);
          multiply(a, b);
          multiply(a, relayout(b, 3));
          if (size[i][0] == 1) multiply(gt_select(a, 0, 0), b);
          if (size[i][1] == 1) multiply(a, gt_select(b, 1, 0));
        }
}

/* Few rows, or columns, beside a large matrix, in every form; and rows of very different sizes, with one that
   is tiny, or huge, as a whole. */
static void test_few_rows(void) {
  static const int64_t size[][3] = {{24, 516, 520}, {13, 1000, 268}, {5, 700, 384}, {40, 260, 1040},
                                    {64, 132, 2052}, {100, 640, 416}};
  const int brief = QUICK && !is_gpu(DEV);
  double scale[100];
  int i, r, form;
  for (i = 0; i < (brief ? 1 : 6); i++)
    for (form = 0; form < 5; form++)
      GT_SCOPE {
        const int64_t m = size[i][0], n = size[i][1], k = size[i][2];
        gt_tensor *a = form & 1 ? gt_transpose(rnd_matrix(k, m, GT_FLOAT32), 0, 1) : rnd_matrix(m, k, GT_FLOAT32);
        gt_tensor *b = form & 2 ? gt_transpose(rnd_matrix(n, k, GT_FLOAT32), 0, 1) : rnd_matrix(k, n, GT_FLOAT32);
        for (r = 0; r < m; r++) scale[r] = ldexp(1, r * 7 % 101 - 50);
        scale[m - 1] = ldexp(1, i % 2 ? 100 : -125);
        if (form == 4) a = gt_mul(NULL, a, tensor_of(GT_SHAPE(m, 1), GT_FLOAT32, scale));
        multiply(a, b);
        multiply(gt_transpose(b, 0, 1), gt_transpose(a, 0, 1));
        if (!brief) multiply(gt_stack(NULL, 2, (const gt_tensor *[]){a, a}, 0), b);
      }
  GT_SCOPE { /* infinity makes its row infinite, NaN its column NaN, and nothing else */
    gt_tensor *a = gt_ones(GT_SHAPE(24, 520), GT_FLOAT32, DEV), *b = gt_ones(GT_SHAPE(520, 516), GT_FLOAT32, DEV), *c;
    gt_fill(gt_select(gt_select(a, 0, 3), 0, 7), (double)INFINITY);
    gt_fill(gt_select(gt_select(b, 0, 5), 0, 9), (double)NAN);
    c = gt_matmul(NULL, a, b);
    CHECK_INT(gt_item_int64(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "isnan(a)", c)), 24);
    CHECK_INT(gt_item_int64(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a == b", c, gt_scalar((double)INFINITY))), 515);
    CHECK_INT(gt_item_int64(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a == 520", c)), 24 * 516 - 24 - 515);
  }
}

/* ---- dtypes and layouts ---- */
static void test_dtypes(void) {
  static const int64_t size[][3] = {{23, 65, 31}, {129, 66, 70}, {8, 16, 32}, {1, 2, 2}};
  int t, i;
  for (t = 0; t < GT_DTYPES; t++)
    for (i = 0; i < 4; i++)
      multiply_sizes(size[i][0], size[i][1], size[i][2], (gt_dtype)t);
}
static void test_mixed_dtypes(void) {
  int t, u;
  for (t = 0; t < GT_DTYPES; t++)
    for (u = 0; u < GT_DTYPES; u++)
      GT_SCOPE {
        const gt_tensor *a = rnd_matrix(17, 40, (gt_dtype)t), *b = rnd_matrix(40, 33, (gt_dtype)u);
        multiply(a, b);
      }
  /* Examples: values that the type of the sums holds, though not the result's (4097 is no float16). */
  gt_tensor *bits = TENSOR(GT_BOOL, GT_SHAPE(2, 2), 1, 0, 1, 1);
  gt_tensor *wide = gt_empty(GT_SHAPE(2, 2), GT_FLOAT64, DEV);
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(2, 2), 0.5, 2, -3, 0.25);
  gt_tensor *large = TENSOR(GT_INT64, GT_SHAPE(2, 2), 4097, 0, 0, -1);
  gt_tensor *half = TENSOR(GT_FLOAT16, GT_SHAPE(2, 2), 1, 0, 0, 1);
  CHECK_VALUES(gt_matmul(NULL, bits, x), 0.5, 2, -2.5, 2.25);
  CHECK_VALUES(gt_matmul(NULL, bits, bits), 1, 0, 1, 1);
  CHECK_VALUES(gt_matmul(wide, half, large), 4097, 0, 0, -1);
  CHECK_VALUES(gt_linear(NULL, bits, x, bits), 1.5, -3, 3.5, -1.75);
}
static void test_layouts(void) {
  static const int64_t size[][3] = {{65, 63, 127}, {64, 64, 64}, {5, 70, 33}, {300, 289, 257}};
  int t, i, p, q;
  for (t = 0; t < GT_DTYPES; t++)
    for (i = 0; i < (QUICK ? 1 : t == GT_FLOAT16 || t == GT_FLOAT32 ? 4 : 3); i++)
      GT_SCOPE {
        gt_tensor *a = rnd_matrix(size[i][0], size[i][2], (gt_dtype)t),
            *b = rnd_matrix(size[i][2], size[i][1], (gt_dtype)t);
        gt_tensor *x[LAYOUTS], *y[LAYOUTS], *c;
        const product want = product_of(a, b);
        for (p = 0; p < LAYOUTS; p++) x[p] = relayout(a, p), y[p] = relayout(b, p);
        for (p = 0; p < LAYOUTS; p++)
          for (q = 0; q < LAYOUTS; q++) {
            c = gt_matmul(NULL, x[p], y[q]);
            CHECK_PRODUCT(c, want, unit_of(want.type));
          }
        product_free(want);
      }
}
static void test_strides_of_zero(void) {
  int t;
  for (t = 0; t < GT_DTYPES; t++)
    GT_SCOPE {
      gt_tensor *row = rnd_matrix(1, 70, (gt_dtype)t), *column = rnd_matrix(70, 1, (gt_dtype)t);
      gt_tensor *full = rnd_matrix(70, 33, (gt_dtype)t), *one = rnd_matrix(1, 1, (gt_dtype)t);
      multiply(gt_expand(row, GT_SHAPE(65, 70)), full);
      multiply(gt_transpose(full, 0, 1), gt_expand(column, GT_SHAPE(70, 9)));
      multiply(gt_expand(row, GT_SHAPE(3, 70)), gt_expand(column, GT_SHAPE(70, 5)));
      multiply(gt_expand(one, GT_SHAPE(6, 70)), full);
      multiply(gt_expand(column, GT_SHAPE(70, 8)), gt_expand(one, GT_SHAPE(8, 4)));
      multiply(gt_expand(full, GT_SHAPE(3, 70, 33)),
               gt_expand(gt_transpose(full, 0, 1), GT_SHAPE(3, 33, 70)));
      multiply(gt_slice(full, 0, 3, 60, 3), gt_transpose(gt_slice(full, 0, 1, 70, 5), 0, 1));
      multiply(full, gt_transpose(full, 0, 1)); /* twice the same memory */
      multiply(gt_permute(gt_expand(full, GT_SHAPE(2, 70, 33)), GT_SHAPE(1, 0, 2)),
               gt_transpose(gt_slice(full, 0, 0, 5, 1), 0, 1));
    }
}
static void test_integers(void) {
  int64_t v[4], i;
  gt_tensor *a, *b, *c;
  for (i = 0; i < 4; i++) v[i] = (int64_t)rnd();
  a = gt_from_array(v, GT_SHAPE(2, 2), GT_INT64, DEV);
  b = gt_from_array(v, GT_SHAPE(2, 2), GT_INT64, DEV);
  multiply(a, b); /* wraps */
  v[0] = (INT64_C(1) << 53) + 1;
  v[1] = 1;
  a = gt_from_array(v, GT_SHAPE(2), GT_INT64, DEV);
  b = gt_ones(GT_SHAPE(2), GT_INT64, DEV);
  CHECK_INT(gt_item_int64(gt_matmul(NULL, a, b)), (INT64_C(1) << 53) + 2);
  CHECK_INT(gt_item_int64(gt_matmul_eval(NULL, a, b, "a + 1")), (INT64_C(1) << 53) + 3);
  a = gt_full(GT_SHAPE(3, 100), 100, GT_INT8, DEV);
  b = gt_full(GT_SHAPE(100), 100, GT_INT8, DEV);
  CHECK_VALUES(gt_matmul(NULL, a, b), 64, 64, 64); /* 1000000 modulo 256 */
  c = gt_full(GT_SHAPE(3), 7, GT_INT32, DEV);
  CHECK(gt_matmul(c, a, b) == c); /* added up in int64: an output with room has it all */
  CHECK_VALUES(c, 1000000, 1000000, 1000000);
  CHECK_VALUES(gt_matmul_eval(NULL, a, b, "a > 999999"), 1, 1, 1);
  a = gt_ones(GT_SHAPE(2, 512), GT_BOOL, DEV); /* 512 is 0 in a byte, but not false */
  CHECK_VALUES(gt_matmul(NULL, a, gt_ones(GT_SHAPE(512), GT_BOOL, DEV)), 1, 1);
  CHECK_INT(gt_matmul(NULL, a, gt_ones(GT_SHAPE(512), GT_BOOL, DEV))->dtype, GT_BOOL);
  CHECK_VALUES(gt_matmul(NULL, a, gt_zeros(GT_SHAPE(512), GT_BOOL, DEV)), 0, 0);
  for (i = GT_UINT8; i <= GT_INT64; i++) { /* every bit pattern */
    const int64_t bytes = (int64_t)gt_dtype_size((gt_dtype)i) * 40 * 40;
    unsigned char *raw = (unsigned char *)malloc((size_t)bytes);
    int64_t j;
    for (j = 0; j < bytes; j++) raw[j] = (unsigned char)rnd();
    a = gt_from_array(raw, GT_SHAPE(40, 40), (gt_dtype)i, DEV);
    multiply(a, gt_transpose(a, 0, 1));
    free(raw);
  }
}
/* The half types add up in float32: ones in float16 would stop at 2048, in bfloat16 at 256. */
static void test_half_accumulation(void) {
  int i;
  for (i = 0; i < 2; i++) {
    const gt_dtype t = i ? GT_BFLOAT16 : GT_FLOAT16;
    const int64_t k = i ? 1024 : 4096;
    gt_tensor *a = gt_ones(GT_SHAPE(3, k), t, DEV), *b = gt_ones(GT_SHAPE(k, 2), t, DEV);
    CHECK_SAME(gt_matmul(NULL, a, b), gt_full(GT_SHAPE(3, 2), (double)k, t, DEV));
    a = TENSOR(t, GT_SHAPE(3), 60000, 60000, -60000); /* a partial sum beyond float16 */
    CHECK_NUM(gt_item(gt_matmul(NULL, a, gt_ones(GT_SHAPE(3), t, DEV))),
              gt_item(gt_slice(a, 0, 0, 1, 1)));
    /* 4097 needs 13 bits: what follows the product sees it unrounded, and rounds once */
    a = gt_ones(GT_SHAPE(1, 4097), t, DEV);
    b = gt_ones(GT_SHAPE(4097, 1), t, DEV);
    CHECK_VALUES(gt_matmul_eval(NULL, a, b, "a - 4096"), 1);
    CHECK_VALUES(gt_matmul_eval(NULL, a, b, "a - b", gt_full(GT_SHAPE(1, 1), 4096, t, DEV)), 1);
    CHECK_VALUES(gt_matmul(gt_full(GT_SHAPE(1, 1), 77, GT_FLOAT32, DEV), a, b), 4097);
  }
}

/* ---- NaN and infinities stay where they belong ---- */
static void test_specials(void) {
  static const int64_t sizes[] = {1, 7, 33, 65, 129, 300};
  int i, t;
  int64_t r, c;
  for (i = 0; i < (QUICK ? 5 : 6); i++)
    for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
      GT_SCOPE {
        const int64_t n = sizes[i];
        gt_tensor *inf = gt_full(GT_SHAPE(n, n), (double)INFINITY, (gt_dtype)t, DEV);
        gt_tensor *ones = gt_ones(GT_SHAPE(n, n), (gt_dtype)t, DEV),
            *x = gt_ones(GT_SHAPE(n, n), (gt_dtype)t, DEV);
        void *p;
        /* infinity times a pad of zeros would be NaN */
        CHECK_SAME(gt_matmul(NULL, inf, ones), inf);
        CHECK_SAME(gt_matmul(NULL, ones, inf), inf);
        CHECK_NUM(gt_item(gt_reduce(NULL, GT_ALL_TRUE, GT_ALL, 0, "isnan(a)",
                                    gt_matmul(NULL, inf, gt_zeros_like(inf)))), 1);
        gt_fill(gt_slice(gt_select(x, 0, n - 1), 0, n - 1, n, 1), (double)NAN);
        x = gt_matmul(NULL, x, ones);
        p = values_of(x);
        for (r = 0; r < n; r++)
          for (c = 0; c < n; c++)
            CHECK_NUM(load((gt_dtype)t, p, r * n + c), r == n - 1 ? (double)NAN : (double)n);
        free(p);
        x = gt_full(GT_SHAPE(n, n), t == GT_FLOAT64 ? 1e300 : 1e38,
                    t == GT_FLOAT64 ? GT_FLOAT64 : GT_FLOAT32, DEV);
        CHECK_SAME(gt_matmul(NULL, x, gt_mul(NULL, x, gt_scalar(-1))),
                   gt_full(GT_SHAPE(n, n), -(double)INFINITY, x->dtype, DEV));
      }
  { /* numbers near both ends of float32 keep their accuracy */
    gt_tensor *a = rnd_matrix(20, 30, GT_FLOAT32), *b = rnd_matrix(30, 40, GT_FLOAT32);
    gt_tensor *up = gt_full(GT_SHAPE_0D, 0x1p100, GT_FLOAT32, DEV),
        *down = gt_full(GT_SHAPE_0D, 0x1p-100, GT_FLOAT32, DEV);
    multiply(gt_mul(NULL, a, up), gt_mul(NULL, b, down));
    multiply(gt_mul(NULL, a, up), b);
    multiply(a, gt_mul(NULL, b, down));
  }
}
/* With any number of threads on the CPU x times y has the same bits as `first`. */
static void for_threads(const gt_tensor *x, const gt_tensor *y, const gt_tensor *first) {
#ifdef _OPENMP
  const int before = omp_get_max_threads();
  int n;
  for (n = 1; n <= 7; n += 2) {
    omp_set_num_threads(n);
    CHECK_SAME(gt_matmul(NULL, x, y), first);
  }
  omp_set_num_threads(before);
#else
  CHECK_SAME(gt_matmul(NULL, x, y), first);
#endif
}
/* Does float32 become pieces here, so that sizes should be large enough for it? */
static int has_pieces(void) {
  gt_properties p;
  return gt_device_properties(DEV, &p) == GT_OK && (is_gpu(DEV) || !strcmp(p.instructions, "amx"));
}
/* Large enough for float32 in pieces: lines of very different sizes, which pieces carry; lines that
   they do not, next to others; and numbers in a line that are small beside its largest. */
static void test_lines_of_all_sizes(void) {
  static const double last[] = {0x1p-100, 0x1p100, 0x1p-70, 0x1p70, 0, 1};
  const int64_t depth = has_pieces() ? 340 : 220;
  double scale[256], steep[340];
  size_t i;
  int j;
  for (i = 0; i < 256; i++) scale[i] = ldexp(1, (int)(i * 7 % 101) - 50);
  for (i = 0; i < 340; i++) steep[i] = ldexp(1, -(int)(i % 127));
  for (i = QUICK && !has_pieces() ? 5 : 0; i < sizeof last / sizeof last[0]; i++)
    for (j = 0; j < 5; j++) GT_SCOPE {
      gt_tensor *a = gt_contiguous(gt_slice(rnd_matrix(250, 340, GT_FLOAT32), 1, 0, depth, 1));
      gt_tensor *b = gt_contiguous(gt_slice(rnd_matrix(340, 256, GT_FLOAT32), 0, 0, depth, 1));
      gt_tensor *rows, *columns, *along, *x = a, *y = b;
      scale[249] = last[i];
      rows = tensor_of(GT_SHAPE(250, 1), GT_FLOAT32, scale);
      columns = tensor_of(GT_SHAPE(256), GT_FLOAT32, scale);
      along = tensor_of(GT_SHAPE(depth, 1), GT_FLOAT32, steep);
      if (j == 0 || j == 2 || j == 4) x = gt_mul(NULL, a, rows);
      if (j == 1) y = gt_mul(NULL, b, columns);
      if (j == 2 || j == 4) y = gt_mul(NULL, b, along);
      if (j == 3) x = gt_mul(NULL, a, gt_scalar(0x1p-60)), y = gt_mul(NULL, b, gt_scalar(0x1p-60));
      if (j == 4) a = x, x = gt_transpose(y, 0, 1), y = gt_transpose(a, 0, 1);
      multiply(x, y);
      for_threads(x, y, gt_matmul(NULL, x, y));
    }
}

/* A NaN of any bits makes its row, or column, NaN, and nothing else, in every form and precision. */
static void test_nan_of_all_bits(void) {
  static const uint32_t bits[] = {0xffffffff, 0x7fffffff, 0x7fff8000, 0x7fc00000, 0x7f800001};
  const int64_t n = has_pieces() ? 288 : 96;
  int k, form, precision;
  for (k = 0; k < 5; k++) for (form = 0; form < 4; form++) for (precision = 0; precision < 3; precision++)
    GT_SCOPE {
      gt_generator g = {1, 0};
      gt_tensor *a = gt_rand(GT_SHAPE(n, n), GT_FLOAT32, gt_cpu(), &g);
      gt_tensor *b = gt_rand(GT_SHAPE(n, n), GT_FLOAT32, gt_cpu(), &g), *c;
      memcpy((char *)gt_data(a) + 4 * (5 * n + 70), &bits[k], 4);
      memcpy((char *)gt_data(b) + 4 * (77 * n + 31), &bits[k], 4);
      a = gt_to(a, DEV), b = gt_to(b, DEV);
      gt_set_float32_matmul_precision((gt_precision)precision);
      c = gt_matmul(NULL, form & 1 ? gt_transpose(a, 0, 1) : a, form & 2 ? gt_transpose(b, 0, 1) : b);
      gt_set_float32_matmul_precision(GT_HIGHEST);
      CHECK_INT(gt_item_int64(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "isnan(a)", c)), 2 * n - 1);
      CHECK_INT(gt_item_int64(gt_sum(NULL, gt_isnan(NULL, gt_select(c, 0, form & 1 ? 70 : 5)), GT_ALL, 0)), n);
      CHECK_INT(gt_item_int64(gt_sum(NULL, gt_isnan(NULL, gt_select(c, 1, form & 2 ? 77 : 31)), GT_ALL, 0)), n);
    }
}

/* A line of subnormal numbers is not one of zeros. */
static void test_subnormal_lines(void) {
  const int64_t n = has_pieces() ? 288 : 96;
  int form, of_b;
  for (form = 0; form < 4; form++) for (of_b = 0; of_b < 2; of_b++)
    GT_SCOPE {
      gt_tensor *x[2] = {gt_full(GT_SHAPE(n, n), of_b ? 1e18 : 1, GT_FLOAT32, DEV),
                         gt_full(GT_SHAPE(n, n), of_b ? 1 : 1e18, GT_FLOAT32, DEV)};
      gt_tensor *a = form & 1 ? gt_transpose(x[0], 0, 1) : x[0];
      gt_tensor *b = form & 2 ? gt_transpose(x[1], 0, 1) : x[1], *c;
      gt_fill(gt_select(of_b ? b : a, of_b, 31), 0x1p-140);
      c = gt_matmul(NULL, a, b);
      CHECK_NEAR(gt_item(gt_min(NULL, c, GT_ALL, 0)), (double)n * 1e18 * 0x1p-140, 1e-5 * (double)n * 1e18 * 0x1p-140);
      CHECK_NEAR(gt_item(gt_max(NULL, gt_select(c, of_b, 31), GT_ALL, 0)), (double)n * 1e18 * 0x1p-140,
                 1e-5 * (double)n * 1e18 * 0x1p-140);
      CHECK_NEAR(gt_item(gt_max(NULL, c, GT_ALL, 0)), (double)n * 1e18, 1e-5 * (double)n * 1e18);
    }
}

/* ---- addmm and linear, in whole numbers ---- */
static gt_tensor *no_minus_zero(gt_tensor *x) { return x ? gt_add(x, x, gt_scalar(0)) : NULL; }
static void test_addmm(void) {
  static const double factor[][2] = {{1, 1}, {0, 1}, {2, 3}, {-1, 0.5}, {0, 0}, {1, 0}, {0.5, -2}};
  static const gt_shape shapes[] = {{2, {23, 17}}, {1, {17}}, {2, {23, 1}}, {2, {1, 17}}, {0, {0}},
                                    {1, {1}}};
  int i, j, t, layout;
  int64_t e;
  for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
    for (i = 0; i < 7; i++)
      for (j = 0; j < 6; j++)
        GT_SCOPE {
          const double beta = factor[i][0], alpha = factor[i][1];
          gt_tensor *a = whole(GT_SHAPE(23, 9), (gt_dtype)t),
              *b = whole(GT_SHAPE(9, 17), (gt_dtype)t);
          gt_tensor *c = whole(shapes[j], (gt_dtype)t), *y;
          const product want = product_of(a, b);
          void *q = values_of(gt_contiguous(gt_expand(c, GT_SHAPE(23, 17)))),
              *expected = malloc(23 * 17 * 8);
          for (e = 0; e < 23 * 17; e++)
            store((gt_dtype)t, expected, e, (beta == 0 ? 0 : beta * load((gt_dtype)t, q,
                                                         e)) + alpha * (double)want.value[e] + 0.0);
          y = gt_from_array(expected, GT_SHAPE(23, 17), (gt_dtype)t, DEV);
          for (layout = 0; layout < LAYOUTS; layout++)
            CHECK_SAME(no_minus_zero(gt_addmm(NULL, relayout(c, layout), relayout(a, layout),
                                              relayout(b, layout), beta, alpha)), y);
          if (j == 0) { /* in place */
            gt_tensor *z = gt_copy(NULL, c);
            CHECK(gt_addmm(z, z, a, b, beta, alpha) == z);
            CHECK_SAME(no_minus_zero(z), y);
          }
          product_free(want);
          free(q);
          free(expected);
        }
}
static void test_beta_zero_never_reads(void) {
  gt_tensor *a = whole(GT_SHAPE(6, 4), GT_FLOAT32), *b = whole(GT_SHAPE(4, 5), GT_FLOAT32);
  gt_tensor *c = gt_full(GT_SHAPE(6, 5), (double)NAN, GT_FLOAT32, DEV), *y = gt_matmul(NULL, a, b);
  CHECK_SAME(gt_addmm(NULL, c, a, b, 0, 1), y);
  CHECK_SAME(gt_addmm(NULL, NULL, a, b, 0, 1), y);
  CHECK_SAME(gt_addmm(c, c, a, b, 0, 1), y);
  gt_fill(c, (double)NAN);
  CHECK_SAME(gt_addmm(c, NULL, a, b, 0, 1), y);
  CHECK_SAME(gt_addmm(NULL, NULL, a, b, 0, 2), gt_add(NULL, y, y));
  REFUSED(gt_addmm(NULL, NULL, a, b, 1, 1), GT_ERROR_ARGUMENT, "gt_addmm: operand 1 is NULL");
}
static void test_addmm_of_integers(void) { /* as PyTorch: whole factors keep integers */
  gt_tensor *a = TENSOR(GT_INT32, GT_SHAPE(2, 2), 1, 2, 3, 4),
      *c = TENSOR(GT_INT32, GT_SHAPE(2), 10, 20);
  gt_tensor *out = gt_zeros(GT_SHAPE(2, 2), GT_INT32, DEV), *y = gt_addmm(NULL, c, a, a, 1, 1);
  CHECK_VALUES(y, 17, 30, 25, 42);
  CHECK_INT(y ? y->dtype : GT_DTYPES, GT_INT32);
  CHECK(gt_addmm(out, c, a, a, 2, 3) == out);
  CHECK_VALUES(out, 41, 70, 65, 106);
}
static void test_linear(void) {
  int t, layout;
  for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
    GT_SCOPE {
      gt_tensor *x = whole(GT_SHAPE(3, 7, 20), (gt_dtype)t),
          *w = whole(GT_SHAPE(33, 20), (gt_dtype)t);
      gt_tensor *bias = whole(GT_SHAPE(33), (gt_dtype)t), *flat = gt_reshape(x, GT_SHAPE(21, 20));
      gt_tensor *y = gt_matmul(NULL, flat, gt_transpose(w, 0, 1)), *z = gt_add(NULL, y, bias);
      multiply(flat, gt_transpose(w, 0, 1));
      for (layout = 0; layout < LAYOUTS; layout++) {
        gt_tensor *u = relayout(x, layout), *v = relayout(w, layout), *q = relayout(bias, layout);
        CHECK_SHAPE(gt_linear(NULL, u, v, q), 3, 7, 33);
        CHECK_SAME(gt_linear(NULL, u, v, q), z);
        CHECK_SAME(gt_linear(NULL, u, v, NULL), y);
        CHECK_SAME(gt_linear(NULL, gt_select(u, 0, 2), v, q), gt_slice(z, 0, 14, 21, 1));
        CHECK_SHAPE(gt_linear(NULL, gt_select(gt_select(u, 0, 2), 0, 1), v, q), 33);
        CHECK_SAME(gt_linear(NULL, gt_select(gt_select(u, 0, 2), 0, 1), v, q), gt_select(z, 0, 15));
      }
    }
}

/* ---- an expression behind the product ---- */
static void test_epilogues(void) {
  int t;
  for (t = GT_INT32; t < GT_DTYPES; t++)
    GT_SCOPE {
      const gt_dtype d = (gt_dtype)t;
      gt_tensor *a = whole(GT_SHAPE(45, 12), d), *b = whole(GT_SHAPE(12, 70), d),
          *c = gt_matmul(NULL, a, b);
      gt_tensor *row = whole(GT_SHAPE(70), d), *column = whole(GT_SHAPE(45, 1), d),
          *full = whole(GT_SHAPE(45, 70), d);
      gt_tensor *number = whole(GT_SHAPE_0D, d), *transposed = relayout(full, 3),
          *more = whole(GT_SHAPE(2, 45, 70), d);
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a"), c);
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "relu(a + b)", row),
                 gt_eval(NULL, "relu(a + b)", c, row));
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a - b", column), gt_sub(NULL, c, column));
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a + b", full), gt_add(NULL, c, full));
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a + b", transposed), gt_add(NULL, c, full));
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a + b", number), gt_add(NULL, c, number));
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a + b", gt_scalar_int64(3)),
                 gt_add(NULL, c, gt_scalar_int64(3)));
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "maximum(a + b, c) - d", row, column, full),
                 gt_eval(NULL, "maximum(a + b, c) - d", c, row, column, full));
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a + a"), gt_add(NULL, c, c));
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a > b", full), gt_gt(NULL, c, full));
      CHECK_INT(gt_matmul_eval(NULL, a, b, "a > 0")->dtype, GT_BOOL);
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "b", full), full); /* the product is not used */
      /* wider than the product */
      CHECK_SHAPE(gt_matmul_eval(NULL, a, b, "a + b", more), 2, 45, 70);
      CHECK_SAME(gt_matmul_eval(NULL, a, b, "a + b", more), gt_add(NULL, c, more));
      CHECK_SHAPE(gt_matmul_eval(NULL, gt_select(a, 0, 0), gt_select(b, 1, 0), "a + b", row), 70);
      CHECK_SAME(gt_matmul_eval(NULL, a, gt_select(b, 1, 3), "a * b", gt_select(column, 1, 0)),
                 gt_mul(NULL, gt_select(c, 1, 3), gt_select(column, 1, 0)));
      CHECK_SAME(gt_matmul_eval(NULL, gt_select(a, 0, 3), b, "a - b", row),
                 gt_sub(NULL, gt_select(c, 0, 3), row));
    }
}
/* Sizes that a GPU makes in tiles of all widths, whole and cut along K, in batches, by clusters since
   lines begin off 128 bytes, and of lines that it cannot copy at once: in float32 sums of whole numbers
   are exact in any order, so what follows has the bits of a map. */
static void test_epilogues_of_tiles(void) {
  static const int64_t size[][4] = {{1, 200, 264, 128}, {1, 70, 64, 2048}, {1, 1030, 520, 96},
                                    {2, 40, 516, 520}, {1, 1032, 7, 264}, {3, 130, 136, 64}, {1, 520, 2056, 136}, {1, 300, 301, 100},
                                    {2, 30, 400, 640}};
  static const char *const text[] = {"relu(a*0.5 + b)", "gelu(a*0.01 + b)", "a*0.5 + c*d",
                                     "silu(a*0.01)*c + b", "relu(a + b)*0.25 + c", "sigmoid(a) - c",
                                     "tanh((a + c)*0.01) + c", "((a + 1)*2 + b)*3 + 1",
                                     "c*d + a*0.5", "relu(a*0.5 + 1) + d*d"};
  const int brief = QUICK && !is_gpu(DEV), sizes = brief ? 1 : QUICK ? 7 : 9; /* the tiles are a GPU's */
  int i, t, k;
  for (i = 0; i < sizes; i++)
    for (t = GT_FLOAT16; t <= GT_FLOAT32; t++)
      GT_SCOPE {
        const gt_dtype d = (gt_dtype)t;
        const int64_t n = size[i][0], rows = size[i][1], columns = size[i][2], deep = size[i][3];
        gt_tensor *a = whole(GT_SHAPE(n, rows, deep), d), *b = whole(GT_SHAPE(n, deep, columns), d);
        gt_tensor *row = whole(GT_SHAPE(columns), d), *two = gt_scalar(2);
        gt_tensor *full = whole(GT_SHAPE(i % 2 ? n : 1, rows, columns), d);
        gt_tensor *x = gt_to_dtype(a, GT_FLOAT32), *y = gt_to_dtype(b, GT_FLOAT32);
        gt_tensor *product = gt_matmul(NULL, x, y);
        gt_tensor *r = gt_to_dtype(row, GT_FLOAT32), *f = gt_to_dtype(full, GT_FLOAT32);
        for (k = 0; k < 10; k += brief ? 3 : 1)
          GT_SCOPE {
            gt_tensor *want = gt_to_dtype(gt_eval(NULL, text[k], product, r, f, two), d), *mine;
            CHECK_SAME(gt_matmul_eval(NULL, a, b, text[k], row, full, two), want);
            if (full->shape[0] != n) break;
            mine = gt_copy(NULL, full);
            CHECK(gt_matmul_eval(mine, a, b, text[k], row, mine, two) == mine);
            CHECK_SAME(mine, want);
          }
      }
}
static void test_epilogues_of_other_types(void) {
  gt_tensor *a = TENSOR(GT_INT32, GT_SHAPE(2, 2), 1, 2, 3, 4),
      *b = TENSOR(GT_INT32, GT_SHAPE(2), 1, 1);
  gt_tensor *y = gt_matmul_eval(NULL, a, b, "a * 0.5"),
      *f = TENSOR(GT_FLOAT32, GT_SHAPE(2), 0.25, 0.5);
  CHECK_VALUES(y, 1.5, 3.5);
  CHECK_INT(y->dtype, GT_FLOAT32);
  CHECK_VALUES(gt_matmul_eval(NULL, a, b, "a / 2"), 1.5, 3.5);
  CHECK_VALUES(gt_matmul_eval(NULL, a, b, "floor_div(a, 2)"), 1, 3);
  CHECK_VALUES(gt_matmul_eval(NULL, a, b, "sqrt(a + 2 - b)", TENSOR(GT_INT32, GT_SHAPE(2), 1, 0)),
               2, 3);
  CHECK_VALUES(gt_matmul_eval(NULL, a, b, "a + b", f), 3.25, 7.5);
  CHECK_INT(gt_matmul_eval(NULL, a, b, "a + b", f)->dtype, GT_FLOAT32);
  CHECK_VALUES(gt_matmul_eval(NULL, a, b, "a + b", TENSOR(GT_FLOAT64, GT_SHAPE(2), 1e-9, 1)),
               3 + 1e-9, 8);
  CHECK_VALUES(gt_matmul_eval(NULL, f, f, "a + b", TENSOR(GT_FLOAT64, GT_SHAPE(1), 1e-9)),
               0.3125 + 1e-9);
  y = gt_matmul_eval(NULL, gt_reshape(f, GT_SHAPE(1, 2)), TENSOR(GT_FLOAT64, GT_SHAPE(2), 1, 1e-9),
                     "a + b", f);
  CHECK_VALUES(y, 0.25 + 0.5e-9 + 0.25, 0.25 + 0.5e-9 + 0.5);
}
/* More operands and instructions than the machine has: several passes. */
static void test_large_expressions(void) {
  gt_tensor *a = whole(GT_SHAPE(20, 6), GT_FLOAT32), *b = whole(GT_SHAPE(6, 30), GT_FLOAT32);
  gt_tensor *c = gt_matmul(NULL, a, b), *sum = gt_copy(NULL, c), *x[26];
  const gt_tensor *in[26];
  char text[2000] = "a";
  int i;
  for (i = 0; i < 25; i++) in[i] = x[i] = whole(i % 3 ? GT_SHAPE(30) : GT_SHAPE(20, 30),
                                                GT_FLOAT32);
  for (i = 0; i < 25; i++) gt_add(sum, sum, x[i]);
  CHECK_SAME(gt_matmul_eval_n(NULL, a, b, "a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+x+y+z", 25,
                              in), sum);
  for (i = 0; i < 150; i++) strcat(text, "+1*b");
  gt_copy(sum, c);
  for (i = 0; i < 150; i++) gt_add(sum, sum, x[1]);
  CHECK_SAME(gt_matmul_eval(NULL, a, b, text, x[1]), sum);
}

/* ---- outputs ---- */
static void test_given_outputs(void) {
  int t, u, layout;
  for (t = 0; t < GT_DTYPES; t++)
    for (u = 0; u < GT_DTYPES; u++)
      GT_SCOPE {
        gt_tensor *a = rnd_matrix(21, 30, (gt_dtype)t), *b = rnd_matrix(30, 35, (gt_dtype)t);
        const product want = product_of(a, b);
        for (layout = 0; layout < 3; layout++) { /* padded, transposed, every second column */
          gt_tensor *base = gt_full(layout == 1 ? GT_SHAPE(40, 30) : GT_SHAPE(25, 75), 1,
                                    (gt_dtype)u, DEV), *out = base;
          if (layout == 1) out = gt_transpose(out, 0, 1);
          out = gt_slice(gt_slice(out, 0, 2, 23, 1), 1, 3, layout == 2 ? 73 : 38,
                         layout == 2 ? 2 : 1);
          if (is_float((gt_dtype)t) && !is_float((gt_dtype)u)) { /* as gt_copy converts; exact sums */
            const gt_dtype wide = t == GT_FLOAT64 ? GT_FLOAT64 : GT_FLOAT32;
            gt_tensor *sums = gt_zeros(GT_SHAPE(21, 35), wide, DEV);
            gt_tensor *halves = gt_div(NULL, whole(GT_SHAPE(21, 30), (gt_dtype)t), gt_scalar(2));
            gt_tensor *wholes = whole(GT_SHAPE(30, 35), (gt_dtype)t);
            CHECK(gt_matmul(sums, halves, wholes) && gt_matmul(out, halves, wholes) == out);
            CHECK_SAME(out, gt_to_dtype(sums, (gt_dtype)u));
          } else {
            CHECK(gt_matmul(out, a, b) == out);
            CHECK_PRODUCT(out, want, unit_of(want.type));
          }
          gt_fill(out, 1);
          CHECK_NUM(gt_item(gt_reduce(NULL, GT_ALL_TRUE, GT_ALL, 0, "a == 1", base)), 1);
        }
        product_free(want);
      }
  { /* guards around memory of our own */
    buffer mine = buffer_make(17 * 9 * 4);
    gt_tensor *a = whole(GT_SHAPE(17, 30), GT_FLOAT32), *b = whole(GT_SHAPE(30, 9), GT_FLOAT32);
    if (DEV.type == GT_CPU) {
      gt_tensor *out = gt_from_ptr(buffer_data(mine), GT_SHAPE(17, 9), GT_FLOAT32, DEV, NULL, NULL);
      gt_matmul(out, a, b);
      CHECK_SAME(out, gt_matmul(NULL, a, b));
      CHECK(buffer_guards_hold(mine));
    }
    buffer_free(mine);
  }
}
static void test_overlapping_outputs(void) {
  gt_tensor *x = whole(GT_SHAPE(40, 40), GT_FLOAT32), *y = gt_copy(NULL, x),
      *b = whole(GT_SHAPE(40, 40), GT_FLOAT32);
  gt_tensor *part, *left, *right;
  CHECK(gt_matmul(x, x, b) == x);
  CHECK_SAME(x, gt_matmul(NULL, y, b));
  gt_copy(x, y);
  gt_matmul(x, b, x);
  CHECK_SAME(x, gt_matmul(NULL, b, y));
  gt_copy(x, y);
  gt_matmul(x, x, x);
  CHECK_SAME(x, gt_matmul(NULL, y, y));
  gt_copy(x, y);
  gt_matmul(gt_transpose(x, 0, 1), x, b);
  CHECK_SAME(gt_transpose(x, 0, 1), gt_matmul(NULL, y, b));
  gt_copy(x, y);
  /* some rows of the left, all of the right */
  part = gt_slice(gt_slice(x, 0, 5, 25, 1), 1, 7, 37, 1);
  left = gt_slice(x, 0, 0, 20, 1);
  right = gt_slice(b, 1, 0, 30, 1);
  CHECK(gt_matmul(part, left, right) == part);
  CHECK_SAME(part, gt_matmul(NULL, gt_slice(y, 0, 0, 20, 1), right));
  gt_copy(x, y);
  CHECK(gt_matmul_eval(x, b, b, "a + b", x) == x);
  CHECK_SAME(x, gt_add(NULL, gt_matmul(NULL, b, b), y));
  gt_copy(x, y);
  gt_matmul_eval(x, b, b, "a + b", gt_transpose(x, 0, 1));
  CHECK_SAME(x, gt_add(NULL, gt_matmul(NULL, b, b), gt_transpose(y, 0, 1)));
  gt_copy(x, y);
  gt_linear(x, x, x, gt_select(x, 0, 3));
  CHECK_SAME(x, gt_linear(NULL, y, y, gt_select(y, 0, 3)));
}

/* ---- the same in every run, and with any number of threads on the CPU ---- */
static void test_same_in_every_run(void) {
  static const int64_t size[][3] = {{64, 64, 3000}, {300, 200, 500}, {1, 700, 900}, {33, 1, 5000}};
  int i, t, run;
  for (i = 0; i < (QUICK ? 1 : 4); i++)
    for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
      GT_SCOPE {
        gt_tensor *a = rnd_matrix(size[i][0], size[i][2], (gt_dtype)t),
            *b = rnd_matrix(size[i][2], size[i][1], (gt_dtype)t);
        gt_tensor *first = gt_matmul(NULL, a, b);
#ifdef _OPENMP
        const int before = omp_get_max_threads();
#endif
        for (run = 1; run < 4; run++) {
#ifdef _OPENMP
          omp_set_num_threads(run);
#endif
          CHECK_SAME(gt_matmul(NULL, a, b), first);
          CHECK_SAME(gt_matmul(gt_full(GT_SHAPE(size[i][0], size[i][1]), (double)NAN, (gt_dtype)t,
                                       DEV), a, b), first);
        }
#ifdef _OPENMP
        omp_set_num_threads(before);
#endif
      }
}
/* A GPU may begin a product before those before it have ended, but none that reads what is not there
   yet: products and sums over a few matrices, at random, with a wait behind each and without. */
enum { MATRICES = 6, STEPS = 80 };
static void run_steps(gt_tensor **x, const int (*step)[3], int wait) {
  int i;
  for (i = 0; i < STEPS; i++) {
    gt_tensor *to = x[step[i][0]];
    const gt_tensor *a = x[step[i][1]], *b = x[step[i][2]];
    CHECK(i % 7 == 6 ? gt_add(to, a, b) : gt_matmul_eval(to, a, b, "tanh(a * 0.25)"));
    if (wait) CHECK(gt_synchronize(DEV) == GT_OK);
  }
}
static void test_products_that_overlap(void) {
  static const gt_dtype dtypes[] = {GT_BFLOAT16, GT_FLOAT32, GT_FLOAT64, GT_FLOAT16};
  const int64_t sizes[] = {64, QUICK ? 70 : 200, 1024};
  int i, t, k, j;
  for (i = 0; i < (QUICK ? 2 : 3); i++)
    for (t = 0; t < (QUICK ? 2 : 4); t++)
      GT_SCOPE {
        gt_tensor *x[MATRICES], *y[MATRICES];
        int step[STEPS][3];
        for (k = 0; k < STEPS; k++) {
          for (j = 0; j < 3; j++) step[k][j] = (int)rnd_below(MATRICES);
          if (step[k][0] == step[k][1] || step[k][0] == step[k][2]) k--;
        }
        for (k = 0; k < MATRICES; k++) {
          x[k] = rnd_matrix(sizes[i], sizes[i], dtypes[t]);
          y[k] = gt_copy(NULL, x[k]);
        }
        run_steps(x, (const int (*)[3])step, 0);
        run_steps(y, (const int (*)[3])step, 1);
        for (k = 0; k < MATRICES; k++) CHECK_SAME(x[k], y[k]);
      }
}
static void test_precision(void) {
  gt_tensor *a = rnd_matrix(130, 200, GT_FLOAT32), *b = rnd_matrix(200, 140, GT_FLOAT32);
  const product want = product_of(a, b);
  const double before = worst;
  CHECK_INT(gt_float32_matmul_precision(), GT_HIGHEST);
  CHECK_INT(gt_set_float32_matmul_precision(GT_HIGH), GT_OK);
  CHECK_INT(gt_float32_matmul_precision(), GT_HIGH);
  CHECK_PRODUCT(gt_matmul(NULL, a, b), want, 0x1p-11); /* TF32 has 11 bits */
  CHECK_INT(gt_set_float32_matmul_precision(GT_MEDIUM), GT_OK);
  CHECK_PRODUCT(gt_matmul(NULL, a, b), want, 0x1p-8); /* bfloat16 has 8 */
  worst = before;
  REFUSED_STATUS(gt_set_float32_matmul_precision((gt_precision)3), GT_ERROR_ARGUMENT,
                 "gt_set_float32_matmul_precision: 3 is not a precision");
  CHECK_INT(gt_float32_matmul_precision(), GT_MEDIUM);
  CHECK_INT(gt_set_float32_matmul_precision(GT_HIGHEST), GT_OK);
  CHECK_PRODUCT(gt_matmul(NULL, a, b), want, 0x1p-24);
  product_free(want);
}

/* ---- hundreds of random products: alpha*A*B + beta*C by its definition ---- */
static int64_t rnd_size(void) { /* mostly small, at times larger than any tile or block */
  static const int64_t most[] = {3, 20, 70, 150};
  return 1 + rnd_below(most[rnd_below(4)]);
}
static void check_addmm(const gt_tensor *got, product want, const gt_tensor *c, double alpha,
                        double beta) {
  void *x = values_of(got), *y = values_of(c);
  const gt_dtype t = got->dtype;
  int64_t i;
  for (i = 0; i < want.count; i++) {
    const long double add = beta == 0 ? 0 : beta * load(t, y, i);
    const long double right = alpha * want.value[i] + add;
    const double is = load(t, x, i), error = (double)fabsl(is - right);
    const double bound = ((double)want.k + 2) * unit_of(t) * fabs(alpha) * (double)want.size[i] +
                         2 * unit_of(t) * (double)(fabsl(right) + fabsl(add)) +
                         (t < GT_FLOAT32 ? half_unit(t, (double)right) : 0) + 1e-44;
    const int64_t sum = (int64_t)((uint64_t)(int64_t)alpha * (uint64_t)want.exact[i]);
    int good = right != right ? is != is : error <= bound;
    if (!is_float(t)) {
      void *exact = malloc((size_t)(i + 1) * 8);
      store_int(t, exact, i,
                (int64_t)((uint64_t)sum + (beta == 0 ? 0 : (uint64_t)(int64_t)beta *
                                                               (uint64_t)load_int(t, y, i))));
      good = same(t, x, exact, i);
      free(exact);
    }
    if (good) continue;
    check_report(__FILE__, __LINE__, "%s, K = %" PRId64 ", alpha %g, beta %g: element %" PRId64
                 " of %" PRId64 " is %.17g, not %.17Lg", gt_dtype_string(t), want.k, alpha, beta, i,
                 want.count, is, right);
    break;
  }
  free(x);
  free(y);
}
static void test_random_products(void) {
  static const double factor[] = {1, 0, -1, 0.5, (double)NAN};
  static const int types[] = {GT_FLOAT32, GT_FLOAT64, GT_FLOAT32, GT_FLOAT64, GT_FLOAT16,
                              GT_BFLOAT16, GT_INT64, GT_INT32, GT_INT8};
  int i, run;
#ifdef _OPENMP
  const int before = omp_get_max_threads();
#endif
  for (i = 0; i < (QUICK ? 30 : 400); i++)
    GT_SCOPE {
      static const int counts[] = {1, 2, 5};
      const gt_dtype t = (gt_dtype)types[rnd_below(9)];
      const int64_t m = rnd_size(), n = rnd_size();
      const int64_t k = rnd_below(8) ? rnd_size() : 500 + rnd_below(1000);
      const double alpha = factor[rnd_below(is_float(t) ? 5 : 3)];
      const double beta = factor[rnd_below(is_float(t) ? 5 : 3)];
      gt_tensor *a = relayout(rnd_matrix(m, k, t), (int)rnd_below(LAYOUTS));
      gt_tensor *b = relayout(rnd_matrix(k, n, t), (int)rnd_below(LAYOUTS));
      gt_tensor *c = relayout(rnd_matrix(m, n, t), (int)rnd_below(LAYOUTS));
      gt_tensor *first = NULL, *plain = NULL;
      const product want = product_of(a, b);
      for (run = 0; run < 3; run++) {
        gt_tensor *out = relayout(gt_full(GT_SHAPE(m, n), is_float(t) ? (double)NAN : 77, t, DEV),
                                  (int)rnd_below(3));
#ifdef _OPENMP
        omp_set_num_threads(counts[run]);
#endif
        CHECK(gt_addmm(out, c, a, b, beta, alpha) == out);
        if (!first) {
          check_addmm(out, want, c, alpha, beta);
          CHECK_PRODUCT(plain = gt_matmul(NULL, a, b), want, unit_of(want.type));
          first = out;
        } else {
          CHECK_SAME(out, first);
          CHECK_SAME(gt_matmul(NULL, a, b), plain);
        }
        (void)counts;
      }
      product_free(want);
    }
#ifdef _OPENMP
  omp_set_num_threads(before);
#endif
}
/* Small integers, and among them NaN, infinities and zeros of both signs: whatever the order of
   additions, each sum is that of the textbook's three loops. */
static void test_specials_in_three_loops(void) {
  static const double special[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -0.0, 0};
  int i;
  for (i = 0; i < (QUICK ? 10 : 60); i++)
    GT_SCOPE {
      const gt_dtype t = i % 2 ? GT_FLOAT64 : GT_FLOAT32;
      const int64_t m = rnd_size(), n = rnd_size(), k = rnd_size();
      double *a = (double *)malloc((size_t)(m * k) * 8), *b = (double *)malloc((size_t)(k * n) * 8);
      double *c = (double *)malloc((size_t)(m * n) * 8);
      int64_t p, q, r;
      for (p = 0; p < m * k; p++)
        a[p] = rnd_below(3 * k) ? (double)(rnd_below(9) - 4) : special[rnd_below(5)];
      for (p = 0; p < k * n; p++)
        b[p] = rnd_below(3 * k) ? (double)(rnd_below(9) - 4) : special[rnd_below(5)];
      if (rnd_below(4) == 0)
        for (p = 0; p < m * k; p++) a[p] = -0.0;
      for (p = 0; p < m; p++)
        for (q = 0; q < n; q++) {
          double sum = 0;
          for (r = 0; r < k; r++) sum += a[p * k + r] * b[r * n + q];
          c[p * n + q] = sum;
        }
      CHECK_SAME(gt_matmul(NULL, relayout(tensor_of(GT_SHAPE(m, k), t, a), (int)rnd_below(LAYOUTS)),
                           relayout(tensor_of(GT_SHAPE(k, n), t, b), (int)rnd_below(LAYOUTS))),
                 tensor_of(GT_SHAPE(m, n), t, c));
      free(a);
      free(b);
      free(c);
    }
}
/* One of each way through the CPU's product, batched and not, and both kinds of edges. */
static void test_batches_of_every_size(void) {
  static const int64_t size[][3] = {{1, 70, 90},  {30, 1, 200}, {20, 130, 40},
                                    {64, 64, 64}, {5, 9, 700},  {170, 40, 30}};
  int i, batch, layout;
  for (i = 0; i < 6; i++)
    for (batch = 1; batch < 20; batch += QUICK ? 18 : 6)
      for (layout = 0; layout < (QUICK ? 2 : LAYOUTS); layout++)
        GT_SCOPE {
          gt_tensor *a = random_tensor(GT_SHAPE(batch, size[i][0], size[i][2]), GT_FLOAT32, DEV);
          gt_tensor *b = random_tensor(GT_SHAPE(batch, size[i][2], size[i][1]), GT_FLOAT32, DEV);
          multiply(relayout(a, layout), relayout(b, (int)rnd_below(LAYOUTS)));
        }
}

/* Matrices that are multiplied by the same one: where all rows follow each other it is one product, to
   the bit; small integers, whose sums are exact, come out the same however rows lie. */
static void test_rows_of_all_matrices(void) {
  static const gt_dtype dtype[] = {GT_FLOAT32, GT_FLOAT64, GT_BFLOAT16, GT_INT32};
  static const int64_t size[][5] = {{3, 5, 70, 9}, {8, 1, 96, 40}, {1, 7, 33, 1}, {2, 64, 64, 64}, {4, 3, 1, 5}};
  for (int i = 0; i < 20; i++)
    GT_SCOPE {
      const int64_t *s = size[i / 4];
      const gt_dtype t = dtype[i % 4];
      const gt_shape rows = GT_SHAPE(s[0] * s[1], s[2]), batch = GT_SHAPE(s[0], s[1], s[2]);
      const gt_shape result = GT_SHAPE(s[0], s[1], s[3]);
      const gt_tensor *x = random_tensor(rows, t, DEV), *w = random_tensor(GT_SHAPE(s[2], s[3]), t, DEV);
      const gt_tensor *bias = random_tensor(GT_SHAPE(s[3]), t, DEV);
      const gt_tensor *more = random_tensor(GT_SHAPE(s[0] * s[1], s[3]), t, DEV);
      const gt_tensor *y = gt_matmul(NULL, x, w), *z = gt_matmul_eval(NULL, x, w, "a + b*c", bias, more);
      const gt_tensor *each = gt_reshape(x, batch);
      CHECK_SAME(gt_matmul(NULL, each, w), gt_reshape(y, result));
      CHECK_SAME(gt_matmul(NULL, each, gt_expand(w, GT_SHAPE(s[0], s[2], s[3]))), gt_reshape(y, result));
      CHECK_SAME(gt_matmul_eval(NULL, each, w, "a + b*c", bias, gt_reshape(more, result)), gt_reshape(z, result));
      CHECK_SAME(gt_matmul(NULL, gt_unsqueeze(each, 1), w), gt_unsqueeze(gt_reshape(y, result), 1));
      gt_tensor *wide = gt_full(GT_SHAPE(s[0], s[1] + 1, s[3] + 2), 77, t, DEV);
      gt_tensor *part = gt_slice(gt_slice(wide, 1, 0, s[1], 1), 2, 1, s[3] + 1, 1);
      const gt_tensor *whole[] = {x, w, bias, more};
      gt_tensor *few[4]; /* of small integers */
      for (int k = 0; k < 4; k++)
        few[k] = gt_to_dtype(gt_eval(NULL, "floor(a*0 + index % 5) - 2", gt_to_dtype(whole[k], GT_FLOAT64)), t);
      const gt_tensor *exact = gt_reshape(gt_matmul(NULL, few[0], few[1]), result);
      each = gt_reshape(few[0], batch);
      const gt_tensor *transposed = gt_transpose(gt_contiguous(gt_transpose(each, 0, 1)), 0, 1);
      const gt_tensor *across = gt_transpose(gt_contiguous(gt_transpose(each, 1, 2)), 1, 2);
      CHECK_SAME(gt_matmul(NULL, transposed, few[1]), exact);
      CHECK_SAME(gt_matmul(NULL, across, few[1]), exact);
      CHECK_SAME(gt_matmul(part, each, few[1]), exact);
      CHECK_INT(gt_item_int64(gt_select(gt_select(gt_select(wide, 2, 0), 1, 0), 0, 0)), 77);
      CHECK_SAME(gt_matmul(NULL, gt_expand(gt_select(each, 0, 0), batch), few[1]),
                 gt_expand(gt_select(exact, 0, 0), result));
      CHECK_SAME(gt_matmul_eval(NULL, transposed, few[1], "a*b + c", few[2], gt_reshape(few[3], result)),
                 gt_eval(NULL, "a*b + c", exact, few[2], gt_reshape(few[3], result)));
    }
}

/* ---- random products larger than any kernel's tile, in batches, against the same in float64 ---- */
static gt_tensor *expression(int which, const gt_tensor *a, const gt_tensor *b, const gt_tensor *row,
                             const gt_tensor *full) {
  switch (which) {
    case 0: return gt_matmul(NULL, a, b);
    case 1: return gt_matmul_eval(NULL, a, b, "relu(a * 0.5 + b)", row);
    case 2: return gt_matmul_eval(NULL, a, b, "a + b", row);
    case 3: return gt_matmul_eval(NULL, a, b, "a * -2");
    case 4: return gt_matmul_eval(NULL, a, b, "tanh(a) * b - c", row, full);
    default: return gt_matmul_eval(NULL, a, b, "a + b * 0.5", full);
  }
}
static gt_tensor *in_double(const gt_tensor *x) { return gt_to_dtype(x, GT_FLOAT64); }
static void test_large_random_products(void) {
  static const int64_t most[] = {9, 70, 300, 600};
  int i, which;
  for (i = 0; i < (QUICK ? 3 : 48); i++)
    GT_SCOPE {
      const gt_dtype t = (gt_dtype)(GT_FLOAT16 + rnd_below(3));
      const int64_t m = 1 + rnd_below(most[rnd_below(4)]), n = 1 + rnd_below(most[rnd_below(4)]);
      const int64_t k = 1 + rnd_below(most[rnd_below(4)]), batch = rnd_below(3) ? 1 : 3;
      const int64_t even = rnd_below(2) ? 8 : 1; /* rows of 16 bytes, as the fastest kernels like */
      const gt_shape as = GT_SHAPE(batch, m * even, k * even);
      const gt_shape bs = GT_SHAPE(batch, k * even, n * even);
      const int64_t *size = as.size;
      gt_tensor *a, *b, *row, *full, *mass;
      if (size[1] * size[2] > 400000 || bs.size[1] * bs.size[2] > 400000 ||
          size[1] * bs.size[2] > 400000) continue;
      a = relayout(random_tensor(as, t, DEV), (int)rnd_below(LAYOUTS));
      b = relayout(random_tensor(bs, t, DEV), (int)rnd_below(LAYOUTS));
      if (batch > 1 && rnd_below(2)) b = gt_expand(gt_slice(b, 0, 1, 2, 1), bs);
      row = random_tensor(GT_SHAPE(n * even), t, DEV);
      full = random_tensor(GT_SHAPE(batch, m * even, n * even), t, DEV);
      full = relayout(full, (int)rnd_below(LAYOUTS));
      mass = gt_matmul(NULL, gt_abs(NULL, in_double(a)), gt_abs(NULL, in_double(b)));
      for (which = 0; which < 6; which++) GT_SCOPE {
        gt_tensor *got = expression(which, a, b, row, full);
        gt_tensor *want = expression(which, in_double(a), in_double(b), in_double(row),
                                     in_double(full));
        double *x, *y, *z;
        int64_t e;
        CHECK(got && got->dtype == t && want);
        if (!got || !want) continue;
        x = (double *)values_of(in_double(got));
        y = (double *)values_of(want);
        z = (double *)values_of(mass);
        for (e = 0; e < gt_numel(want); e++) {
          const double bound = 4 * sqrt((double)size[2]) * 0x1p-24 * z[e] + 2 * half_unit(t, y[e]) +
                               8 * 0x1p-24 * fabs(y[e]) + 0x1p-22;
          if (fabs(x[e] - y[e]) <= bound) continue;
          check_report(__FILE__, __LINE__, "%s %" PRId64 " x %" PRId64 " x %" PRId64 " of %" PRId64
                       ", expression %d: element %" PRId64 " is %.9g, not %.9g", gt_dtype_string(t),
                       size[1], bs.size[2], size[2], batch, which, e, x[e], y[e]);
          break;
        }
        free(x);
        free(y);
        free(z);
      }
    }
}

/* ---- errors ---- */
static gt_tensor *ones(gt_shape s) { return gt_ones(s, GT_FLOAT32, DEV); }
static void test_errors(void) {
  gt_tensor *a = ones(GT_SHAPE(64, 100)), *b = ones(GT_SHAPE(30, 100)), *x = ones(GT_SHAPE(2, 3)),
      *y = ones(GT_SHAPE(4));
  REFUSED(gt_matmul(NULL, a, b), GT_ERROR_SHAPE,
          "gt_matmul: (64, 100) x (30, 100): inner sizes 100 and 30 differ; "
          "transpose the second operand?");
  REFUSED(gt_matmul(NULL, x, ones(GT_SHAPE(4, 5))), GT_ERROR_SHAPE,
          "gt_matmul: (2, 3) x (4, 5): inner sizes 3 and 4 differ");
  REFUSED(gt_matmul(NULL, x, y), GT_ERROR_SHAPE,
          "gt_matmul: (2, 3) x (4,): inner sizes 3 and 4 differ");
  REFUSED(gt_matmul(NULL, y, x), GT_ERROR_SHAPE,
          "gt_matmul: (4,) x (2, 3): inner sizes 4 and 2 differ");
  REFUSED(gt_matmul(NULL, y, ones(GT_SHAPE(3))), GT_ERROR_SHAPE,
          "gt_matmul: (4,) x (3,): inner sizes 4 and 3 differ");
  REFUSED(gt_matmul(NULL, ones(GT_SHAPE(2, 3, 4)), ones(GT_SHAPE(3, 4, 5))), GT_ERROR_SHAPE,
          "gt_matmul: (2, 3, 4) x (3, 4, 5): the batches do not broadcast");
  REFUSED(gt_matmul(NULL, ones(GT_SHAPE_0D), x), GT_ERROR_SHAPE,
          "gt_matmul: () x (2, 3): both need one dimension at least; "
          "gt_mul multiplies by a number");
  REFUSED(gt_matmul(NULL, x, gt_scalar(2)), GT_ERROR_SHAPE, "both need one dimension at least");
  REFUSED(gt_matmul(NULL, NULL, x), GT_ERROR_ARGUMENT, "gt_matmul: operand 1 is NULL");
  REFUSED(gt_matmul(NULL, x, NULL), GT_ERROR_ARGUMENT, "gt_matmul: operand 2 is NULL");
  REFUSED(gt_matmul(y, x, ones(GT_SHAPE(3, 5))), GT_ERROR_SHAPE,
          "gt_matmul: the output is (4,), the result (2, 5)");
  REFUSED(gt_matmul(gt_expand(ones(GT_SHAPE(1, 5)), GT_SHAPE(2, 5)), x, ones(GT_SHAPE(3, 5))),
          GT_ERROR_ARGUMENT, "gt_matmul");
  REFUSED(gt_linear(NULL, x, y, NULL), GT_ERROR_SHAPE,
          "gt_linear: w is (4,); it must be (out, in)");
  REFUSED(gt_linear(NULL, NULL, x, NULL), GT_ERROR_ARGUMENT, "gt_linear: operand 1 is NULL");
  REFUSED(gt_linear(NULL, x, NULL, NULL), GT_ERROR_ARGUMENT, "gt_linear: operand 2 is NULL");
  REFUSED(gt_linear(NULL, x, ones(GT_SHAPE(5, 4)), NULL), GT_ERROR_SHAPE,
          "gt_linear: (2, 3) x (4, 5): inner sizes 3 and 4 differ");
  REFUSED(gt_linear(NULL, x, ones(GT_SHAPE(5, 3)), y), GT_ERROR_SHAPE, "gt_linear");
  REFUSED(gt_addmm(NULL, y, x, ones(GT_SHAPE(3, 5)), 1, 1), GT_ERROR_SHAPE, "gt_addmm");
  REFUSED(gt_addmm(NULL, y, NULL, x, 1, 1), GT_ERROR_ARGUMENT, "gt_addmm: operand 2 is NULL");
  REFUSED(gt_addmm(NULL, y, x, NULL, 1, 1), GT_ERROR_ARGUMENT, "gt_addmm: operand 3 is NULL");
  REFUSED(gt_matmul_eval(NULL, x, ones(GT_SHAPE(3, 5)), "a + b", y), GT_ERROR_SHAPE,
          "gt_matmul_eval");
  REFUSED(gt_matmul_eval(NULL, x, ones(GT_SHAPE(3, 5)), "a +"), GT_ERROR_EXPRESSION,
          "gt_matmul_eval");
  REFUSED(gt_matmul_eval(NULL, x, ones(GT_SHAPE(3, 5)), "a + b"), GT_ERROR_EXPRESSION,
          "gt_matmul_eval");
  REFUSED(gt_matmul_eval_n(NULL, x, ones(GT_SHAPE(3, 5)), NULL, 0, NULL), GT_ERROR_ARGUMENT,
          "gt_matmul_eval: the text is NULL");
  REFUSED(gt_matmul_eval_n(NULL, x, ones(GT_SHAPE(3, 5)), "a", 26, NULL), GT_ERROR_ARGUMENT,
          "27 operands; the letters a to z name 26");
  REFUSED(gt_matmul_eval(NULL, x, ones(GT_SHAPE(3, 5)), "a + b", (gt_tensor *)NULL),
          GT_ERROR_ARGUMENT, "gt_matmul_eval: operand 3 is NULL");
  if (DEV.type == GT_CUDA) {
    char want[100];
    snprintf(want, sizeof want, "gt_matmul: operand 1 (2, 3) is on %s, operand 2 (3, 5) on cpu; gt_to "
             "moves a tensor", gt_device_string(DEV));
    REFUSED(gt_matmul(NULL, x, gt_ones(GT_SHAPE(3, 5), GT_FLOAT32, gt_cpu())), GT_ERROR_DEVICE, want);
    REFUSED(gt_matmul(gt_ones(GT_SHAPE(2, 5), GT_FLOAT32, gt_cpu()), x, ones(GT_SHAPE(3, 5))),
            GT_ERROR_DEVICE, "gt_matmul: the output is on cpu");
    REFUSED(gt_linear(NULL, x, ones(GT_SHAPE(5, 3)), gt_ones(GT_SHAPE(5), GT_FLOAT32, gt_cpu())),
            GT_ERROR_DEVICE, "gt_linear");
  }
  CHECK(gt_matmul(NULL, gt_matmul(NULL, x, x), x) == NULL); /* the first error is kept */
  CHECK_STR(gt_error_message(),
           "gt_matmul: (2, 3) x (2, 3): inner sizes 3 and 2 differ; transpose the second operand?");
  gt_clear_error();
}

int main(int argc, char **argv) {
  check_start("matmul", argc, argv);
  RUN(shapes);
  RUN(zero_sizes);
  RUN(awkward_sizes);
  RUN(large_sizes);
  RUN(skinny);
  RUN(few_rows);
  RUN(dtypes);
  RUN(mixed_dtypes);
  RUN(layouts);
  RUN(strides_of_zero);
  RUN(integers);
  RUN(half_accumulation);
  RUN(specials);
  RUN(lines_of_all_sizes);
  RUN(nan_of_all_bits);
  RUN(subnormal_lines);
  RUN(addmm);
  RUN(beta_zero_never_reads);
  RUN(addmm_of_integers);
  RUN(linear);
  RUN(epilogues);
  RUN(epilogues_of_tiles);
  RUN(epilogues_of_other_types);
  RUN(large_expressions);
  RUN(given_outputs);
  RUN(overlapping_outputs);
  RUN(same_in_every_run);
  RUN(products_that_overlap);
  RUN(precision);
  RUN(random_products);
  RUN(specials_in_three_loops);
  RUN(batches_of_every_size);
  RUN(rows_of_all_matrices);
  RUN(large_random_products);
  RUN(errors);
  printf("matmul: the worst error is %.3f sqrt(K) u |A||B|: %s\n", worst, worst_where);
  return check_finish();
}
