/* Reductions: values, dtypes, NaN, order of addition, given outputs, errors. Folds of one plan
   (sum ... all) are compared bit for bit with the plan of the header's >>machine section, written
   here once more; what goes through exp, log or pow with long double. */
#include "check.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- the plan, straightforwardly ---- */
enum { LANES = 256, CHUNK = 4096, ROWS = 32 };
#define DEFINE_PLAN(T) \
  static T maximum_##T(T a, T b) { \
    if (a != a || b != b) return a + b; \
    return a > b || (a == b && !signbit(a)) ? a : b; \
  } \
  static T minimum_##T(T a, T b) { \
    if (a != a || b != b) return a + b; \
    return a < b || (a == b && signbit(a)) ? a : b; \
  } \
  static T step_##T(gt_reduction r, T a, T b) { \
    if (r == GT_MAX) return maximum_##T(a, b); \
    if (r == GT_MIN) return minimum_##T(a, b); \
    return r == GT_PROD ? a * b : a + b; \
  } \
  static T chunk_##T(gt_reduction r, const T *v, int64_t stride, int64_t n, int inner) { \
    T lane[LANES]; \
    int64_t i, half; \
    for (i = 0; i < LANES; i++) \
      lane[i] = r == GT_PROD ? 1 : r == GT_MAX ? -(T)INFINITY : r == GT_MIN ? (T)INFINITY : 0; \
    for (i = 0; i < n; i++) { \
      T *at = &lane[inner ? i % LANES : 0]; \
      *at = step_##T(r, *at, v[i * stride]); \
    } \
    for (half = LANES / 2; inner && half > 0; half /= 2) \
      for (i = 0; i < half; i++) lane[i] = step_##T(r, lane[i], lane[i + half]); \
    return lane[0]; \
  } \
  /* v[0], v[stride] ... */ \
  static T plan_##T(gt_reduction r, const T *v, int64_t stride, int64_t n, int inner) { \
    const int64_t chunk = inner ? CHUNK : ROWS; \
    int64_t chunks = n ? (n - 1) / chunk + 1 : 1, i; \
    T *value = (T *)malloc((size_t)chunks * sizeof(T)), result; \
    for (i = 0; i < chunks; i++) \
      value[i] = chunk_##T(r, v + i * chunk * stride, stride, \
                           n - i * chunk < chunk ? n - i * chunk : chunk, inner); \
    for (; chunks > 1; chunks = (chunks + 1) / 2) { \
      for (i = 0; 2 * i + 1 < chunks; i++) value[i] = step_##T(r, value[2 * i], value[2 * i + 1]); \
      if (chunks % 2) value[chunks / 2] = value[chunks - 1]; \
    } \
    result = value[0]; \
    free(value); \
    return result; \
  } \
  static int64_t arg_##T(gt_reduction r, const T *v, int64_t stride, int64_t n) { \
    int64_t best = 0, i; \
    for (i = 1; i < n; i++) { \
      const T a = v[best * stride], b = v[i * stride]; \
      if (a == a && (b != b || (r == GT_ARGMAX ? b > a : b < a))) best = i; \
    } \
    return best; \
  }
DEFINE_PLAN(float)
DEFINE_PLAN(double)

static int64_t fold_ints(gt_reduction r, const int64_t *v, int64_t n) {
  uint64_t sum = 0, product = 1;
  int64_t i, best = 0;
  for (i = 0; i < n; i++) {
    sum += (uint64_t)v[i];
    product *= (uint64_t)v[i];
    if (r == GT_MAX || r == GT_ARGMAX ? v[i] > v[best] : v[i] < v[best]) best = i;
  }
  if (r == GT_SUM) return (int64_t)sum;
  if (r == GT_PROD) return (int64_t)product;
  return r == GT_MAX || r == GT_MIN ? v[best] : best;
}
static int fold_truth(gt_reduction r, const double *v, int64_t n) {
  int64_t i, count = 0;
  for (i = 0; i < n; i++) count += v[i] != 0;
  return r == GT_ANY_TRUE ? count > 0 : count == n;
}

/* ---- one reduction of an array of dtype t, the expected value put into out[at] ---- */
static gt_dtype result_dtype(gt_reduction r, gt_dtype t) {
  if (r >= GT_ANY_TRUE) return GT_BOOL;
  if (r >= GT_ARGMAX) return GT_INT64;
  if (is_float(t) || r == GT_MAX || r == GT_MIN) return t;
  return r == GT_MEAN ? GT_FLOAT32 : GT_INT64;
}
/* list: where the n elements are in p. Integers are added in int64, but averaged in float64. */
static void fold_list(gt_reduction r, gt_dtype t, const void *p, const int64_t *list, int64_t n,
                      int inner, gt_dtype out_type, void *out, int64_t at) {
  const int wide = t == GT_FLOAT64 || (r == GT_MEAN && !is_float(t));
  double *d = (double *)malloc((size_t)n * 8 + 8);
  int64_t *i64 = (int64_t *)malloc((size_t)n * 8 + 8), i;
  float *f = (float *)malloc((size_t)n * 4 + 8);
  for (i = 0; i < n; i++) {
    d[i] = load(t, p, list[i]);
    f[i] = (float)d[i];
    i64[i] = is_float(t) ? 0 : load_int(t, p, list[i]);
  }
  if (r >= GT_ANY_TRUE) store_int(out_type, out, at, fold_truth(r, d, n));
  else if (r >= GT_ARGMAX && is_float(t)) store_int(out_type, out, at, arg_double(r, d, 1, n));
  else if (r != GT_MEAN && !is_float(t)) store_int(out_type, out, at, fold_ints(r, i64, n));
  else if (wide) {
    const double x = plan_double(r, d, 1, n, inner);
    store(out_type, out, at, r == GT_MEAN ? x / (double)n : x);
  } else {
    const float x = plan_float(r, f, 1, n, inner);
    store(out_type, out, at, r == GT_MEAN ? x / (float)n : x);
  }
  free(d);
  free(i64);
  free(f);
}

/* All outputs of a reduction over the dims in `set`; p is row-major. */
static void reduce_all(gt_reduction r, gt_dtype t, const void *p, gt_shape s, unsigned set,
                       gt_dtype out_type, void *out) {
  int64_t stride[GT_MAX_DIMS], outer = 1, n = 1, o, k, *list;
  int d, inner = 1;
  for (d = s.ndim - 1; d >= 0; d--) stride[d] = d == s.ndim - 1 ? 1 : stride[d + 1] * s.size[d + 1];
  for (d = 0; d < s.ndim; d++) {
    *(set >> d & 1 ? &n : &outer) *= s.size[d];
    if (s.size[d] != 1) inner = set >> d & 1; /* dims of size 1 are none */
  }
  list = (int64_t *)malloc((size_t)n * 8 + 8);
  for (o = 0; o < outer; o++) {
    for (k = 0; k < n; k++) {
      int64_t at = 0, io = o, ik = k;
      for (d = s.ndim - 1; d >= 0; d--) {
        int64_t *i = set >> d & 1 ? &ik : &io;
        at += *i % s.size[d] * stride[d];
        *i /= s.size[d];
      }
      list[k] = at;
    }
    fold_list(r, t, p, list, n, inner, out_type, out, o);
  }
  free(list);
}
static gt_shape reduced_shape(gt_shape s, unsigned set, int keepdim) {
  gt_shape out;
  int d;
  memset(&out, 0, sizeof out);
  for (d = 0; d < s.ndim; d++)
    if (!(set >> d & 1) || keepdim) out.size[out.ndim++] = set >> d & 1 ? 1 : s.size[d];
  return out;
}
static int64_t elements(gt_shape s) {
  int64_t n = 1;
  int d;
  for (d = 0; d < s.ndim; d++) n *= s.size[d];
  return n;
}

typedef gt_tensor *(*reducer)(gt_tensor *, const gt_tensor *, uint32_t, int);
static const reducer reducers[] = {gt_sum,    gt_prod,   gt_mean, gt_max, gt_min,
                                   gt_argmax, gt_argmin, gt_any,  gt_all};
static const char *const reduction_name[] = {"sum",    "prod",   "mean", "max", "min",
                                             "argmax", "argmin", "any",  "all"};
enum { REDUCTIONS = 9 };

static uint32_t dim_bits(unsigned set, int ndim) { /* each dim by either name */
  uint32_t dims = 0;
  int d;
  if (set == (1u << ndim) - 1 && (ndim == 0 || rnd_below(2))) return GT_ALL;
  for (d = 0; d < ndim; d++)
    if (set >> d & 1) dims |= rnd_below(2) ? GT_DIM(d) : GT_DIM(d - ndim);
  return dims;
}

static int64_t any_width(void) {
  const int64_t shift = rnd_below(64);
  return (int64_t)rnd() >> shift;
}
/* Values of three kinds: ordinary; few different ones with both zeros; with NaN and infinities.
   The first is kept near 1 for products. */
static gt_tensor *values_for(gt_reduction r, gt_shape s, gt_dtype t, int kind) {
  static const double special[] = {0, -0.0, 1, -1, (double)INFINITY, -(double)INFINITY,
                                   (double)NAN};
  const int64_t n = elements(s);
  void *p = calloc((size_t)n * 8 + 8, 1);
  gt_tensor *x;
  int64_t i;
  for (i = 0; i < n; i++)
    if (!is_float(t)) store_int(t, p, i, r == GT_PROD || kind ? any_width() : rnd_below(9));
    else if (kind == 0) store(t, p, i, r == GT_PROD ? rnd_between(0.7, 1.4) : rnd_between(-2, 2));
    else if (kind == 1) store(t, p, i, special[rnd_below(4)]);
    else store(t, p, i, rnd_below(8) ? rnd_between(-2, 2) : special[rnd_below(7)]);
  x = gt_from_array(p, s, t, DEV);
  free(p);
  return x;
}

/* `x` has n elements of dtype t equal to those at `want`. */
#define CHECK_ARRAY(x, t, want, n) check_array(__LINE__, #x, x, t, want, n)
static void check_array(int line, const char *what, const gt_tensor *x, gt_dtype t,
                        const void *want,
                        int64_t n) {
  void *got;
  int64_t i;
  if (!x || x->dtype != t || gt_numel(x) != n) {
    check_report(__FILE__, line, "%s: %s, %" PRId64 " elements, not %s, %" PRId64 " (%s)", what,
                 x ? gt_dtype_string(x->dtype) : "NULL", x ? gt_numel(x) : 0, gt_dtype_string(t), n,
                 gt_error_message());
    gt_clear_error();
    return;
  }
  got = values_of(x);
  for (i = 0; i < n && same(t, got, want, i); i++) {}
  if (i < n)
    check_report(__FILE__, line, "%s: element %" PRId64 " of %" PRId64 " is %.17g, not %.17g", what,
                 i,
                 n, load(t, got, i), load(t, want, i));
  digest(t, got, n);
  free(got);
}

/* ---- every reduction, dtype, layout, set of dims ---- */
static gt_shape shape_of(int i) {
  static const gt_shape shapes[] = {
      {0, {0}},       {1, {1}},          {1, {7}},          {1, {300}},       {2, {3, 5}},
      {2, {4, 1}},    {2, {70, 3}},      {3, {2, 3, 4}},    {3, {5, 33, 2}},  {3, {1, 40, 1}},
      {4, {2, 3, 4, 5}}, {4, {3, 1, 2, 7}}, {2, {1, 300}},  {3, {2, 259, 2}}};
  static const gt_shape none = {-1, {0}};
  return i < (int)(sizeof shapes / sizeof *shapes) ? shapes[i] : none;
}
static void check_reduction(gt_reduction r, const gt_tensor *x, const void *p, unsigned set,
                            int keepdim) {
  const gt_shape s = gt_shape_of(x), shape = reduced_shape(s, set, keepdim);
  const gt_dtype t = result_dtype(r, x->dtype);
  const int64_t n = elements(shape);
  void *want = calloc((size_t)n * 8 + 8, 1);
  const int bad = check_bad;
  reduce_all(r, x->dtype, p, s, set, t, want);
  GT_SCOPE {
    gt_tensor *y = reducers[r](NULL, x, dim_bits(set, s.ndim), keepdim);
    CHECK_ARRAY(y, t, want, n);
    if (y) check_shape(__FILE__, __LINE__, "the shape", y, shape.ndim, shape.size);
  }
  if (check_bad > bad && check_bad < 8)
    printf("    gt_%s of %s, %d dims (%d %d %d %d), set %x, keepdim %d\n", reduction_name[r],
           gt_dtype_string(x->dtype), s.ndim, (int)s.size[0], (int)s.size[1], (int)s.size[2],
           (int)s.size[3], set, keepdim);
  free(want);
}
static void every_layout(gt_reduction r, gt_shape s, gt_dtype t, int kind) {
  int layout, keepdim;
  unsigned set;
  GT_SCOPE {
    gt_tensor *x = values_for(r, s, t, kind);
    void *p = values_of(x);
    for (layout = 0; layout < LAYOUTS; layout++) {
      gt_tensor *y = relayout(x, layout);
      if (layout && (s.ndim == 0 || (QUICK && rnd_below(4)))) continue;
      for (set = s.ndim ? 1 : 0; set < 1u << s.ndim; set++)
        for (keepdim = 0; keepdim < 2; keepdim++)
          if (!QUICK || rnd_below(8) == 0) check_reduction(r, y, p, set, keepdim);
    }
    free(p);
  }
}
static void test_every_reduction(void) {
  int r, i, t, kind;
  for (r = 0; r < REDUCTIONS; r++)
    for (i = 0; shape_of(i).ndim >= 0; i++)
      for (t = 0; t < GT_DTYPES; t++)
        for (kind = 0; kind < (is_float((gt_dtype)t) ? 3 : 2); kind++)
          every_layout((gt_reduction)r, shape_of(i), (gt_dtype)t, kind);
}

/* Inputs whose strides are 0: the same values as their copies. */
static void test_broadcast_inputs(void) {
  int r, t;
  unsigned set;
  for (r = 0; r < REDUCTIONS; r++)
    for (t = 0; t < GT_DTYPES; t++)
      GT_SCOPE {
        gt_tensor *x = values_for((gt_reduction)r, GT_SHAPE(3, 1, 5), (gt_dtype)t, 0);
        gt_tensor *y = gt_expand(x, GT_SHAPE(2, 3, 4, 5)),
            *z = gt_expand(gt_select(x, 2, 1), GT_SHAPE(3, 9));
        void *p = values_of(y), *q = values_of(z);
        for (set = 1; set < 16; set++) check_reduction((gt_reduction)r, y, p, set, 0);
        for (set = 1; set < 4; set++) check_reduction((gt_reduction)r, z, q, set, 1);
        free(p);
        free(q);
      }
}

/* ---- given outputs ---- */
/* A place for a result: dense between guards, padded, transposed, at an offset. */
static gt_tensor *place(gt_tensor *base, gt_shape s, int layout) {
  gt_shape order;
  int d;
  gt_tensor *y = base;
  if (layout == 2) {
    memset(&order, 0, sizeof order);
    order.ndim = s.ndim;
    for (d = 0; d < s.ndim; d++) order.size[d] = s.ndim - 1 - d;
    y = gt_permute(y, order);
  }
  for (d = 0; d < s.ndim; d++) y = gt_slice(y, d, 1, 1 + s.size[d] * (layout == 1 ? 2 : 1),
                                            layout == 1 ? 2 : 1);
  return y;
}
static void into_output(gt_reduction r, const gt_tensor *x, const void *p, unsigned set,
                        gt_dtype t) {
  const gt_shape s = gt_shape_of(x), shape = reduced_shape(s, set, 0);
  const int64_t n = elements(shape);
  void *want = calloc((size_t)n * 8 + 8, 1), *rest;
  int layout, d;
  int64_t i;
  reduce_all(r, x->dtype, p, s, set, t, want);
  for (layout = 0; layout < 3; layout++)
    GT_SCOPE {
      gt_shape big = shape;
      gt_tensor *base, *out;
      for (d = 0; d < shape.ndim; d++)
        big.size[d] = 2 + 2 * shape.size[layout == 2 ? shape.ndim - 1 - d : d];
      base = gt_full(big, 1, t, DEV);
      out = place(base, shape, layout);
      CHECK(reducers[r](out, x, dim_bits(set, s.ndim), 0) == out);
      CHECK_ARRAY(out, t, want, n);
      gt_fill(out, 1);
      rest = values_of(base);
      for (i = 0; i < gt_numel(base); i++)
        if (load(t, rest, i) != 1) break;
      CHECK_TEXT(i == gt_numel(base), "gt_%s wrote beside its output (%s)", reduction_name[r],
                 gt_dtype_string(t));
      free(rest);
    }
  free(want);
}
static void test_given_outputs(void) {
  int r, t, u;
  unsigned set;
  for (r = 0; r < REDUCTIONS; r++)
    for (t = 0; t < GT_DTYPES; t++)
      for (u = 0; u < GT_DTYPES; u++)
        GT_SCOPE {
          gt_tensor *x = values_for((gt_reduction)r, GT_SHAPE(3, 4, 2), (gt_dtype)t, 0);
          void *p = values_of(x);
          for (set = 1; set < 8; set++)
            if (!QUICK || rnd_below(8) == 0) into_output((gt_reduction)r, x, p, set, (gt_dtype)u);
          free(p);
        }
}
/* An output that is a part of the input gets what a separate one gets. */
static void test_overlapping_outputs(void) {
  int r;
  for (r = 0; r < REDUCTIONS; r++)
    GT_SCOPE {
      gt_tensor *x = values_for(GT_SUM, GT_SHAPE(6, 5), GT_FLOAT32, 0), *y = gt_copy(NULL, x);
      gt_tensor *out = gt_select(x, 0, 2), *want = reducers[r](NULL, y, GT_DIM(0), 0);
      CHECK(reducers[r](out, x, GT_DIM(0), 0) == out);
      CHECK_SAME(out, gt_to_dtype(want, GT_FLOAT32));
      gt_copy(x, y);
      out = gt_select(x, 1, 4);
      want = reducers[r](NULL, y, GT_DIM(1), 0);
      CHECK(reducers[r](out, x, GT_DIM(-1), 0) == out);
      CHECK_SAME(out, gt_to_dtype(want, GT_FLOAT32));
      CHECK_SAME(gt_slice(x, 1, 0, 4, 1), gt_slice(y, 1, 0, 4, 1));
      gt_copy(x, y);
      out = gt_slice(x, 1, 1, 2, 1);
      want = reducers[r](NULL, y, GT_DIM(1), 1);
      CHECK(reducers[r](out, x, GT_DIM(1), 1) == out);
      CHECK_SAME(out, gt_to_dtype(want, GT_FLOAT32));
    }
  {
    gt_tensor *x = random_tensor(GT_SHAPE(6, 5), GT_FLOAT32, DEV), *y = gt_copy(NULL, x);
    gt_tensor *column = gt_select(x, 1, 3);
    gt_var(column, x, GT_DIM(1), 1, 0);
    CHECK_SAME(column, gt_var(NULL, y, GT_DIM(1), 1, 0));
    gt_copy(x, y);
    gt_std(column, x, GT_DIM(1), 1, 0);
    CHECK_SAME(column, gt_std(NULL, y, GT_DIM(1), 1, 0));
    gt_copy(x, y);
    gt_norm(column, x, 3, GT_DIM(1), 0);
    CHECK_SAME(column, gt_norm(NULL, y, 3, GT_DIM(1), 0));
    gt_copy(x, y);
    gt_norm(column, x, 2, GT_DIM(1), 0);
    CHECK_SAME(column, gt_norm(NULL, y, 2, GT_DIM(1), 0));
    gt_copy(x, y);
    gt_logsumexp(column, x, GT_DIM(1), 0);
    CHECK_SAME(column, gt_logsumexp(NULL, y, GT_DIM(1), 0));
    gt_copy(x, y);
    CHECK(gt_softmax(x, x, 1) == x);
    CHECK_SAME(x, gt_softmax(NULL, y, 1));
    gt_copy(x, y);
    CHECK(gt_log_softmax(x, x, 0) == x);
    CHECK_SAME(x, gt_log_softmax(NULL, y, 0));
    x = random_tensor(GT_SHAPE(5, 5), GT_FLOAT32, DEV);
    y = gt_copy(NULL, x);
    gt_softmax(gt_transpose(x, 0, 1), x, 1); /* another view of the input */
    CHECK_SAME(gt_transpose(x, 0, 1), gt_softmax(NULL, y, 1));
  }
}

/* ---- the order of additions ---- */
static float *pool_float[2]; /* in (-2, 2); near 1, for products */
static double *pool_double[2];
static int64_t pool_size;
static void fill_pools(void) {
  int which;
  int64_t i;
  pool_size = QUICK ? 300000 : 4700000;
  for (which = 0; which < 2; which++) {
    pool_float[which] = (float *)malloc((size_t)pool_size * 4);
    pool_double[which] = (double *)malloc((size_t)pool_size * 8);
    for (i = 0; i < pool_size; i++) {
      pool_double[which][i] = which ? rnd_between(0.99, 1.01) : rnd_between(-2, 2);
      pool_float[which][i] = (float)pool_double[which][i];
    }
  }
}
static void free_pools(void) {
  free(pool_float[0]);
  free(pool_float[1]);
  free(pool_double[0]);
  free(pool_double[1]);
}

/* rows results from n elements each: inner, of shape (rows, n); else (n, rows). Element k of row o
   is data[o*row + k*step], in the order of that shape or of its transpose. */
static void plan_case(gt_reduction r, gt_dtype t, int64_t n, int64_t rows, int inner, int transposed) {
  const int which = r == GT_PROD, arg = r == GT_ARGMAX;
  const int64_t row = inner == transposed ? 1 : n, step = inner == transposed ? rows : 1;
  const void *data = t == GT_FLOAT32 ? (void *)pool_float[which] : (void *)pool_double[which];
  const gt_dtype result = arg ? GT_INT64 : t;
  void *want = malloc((size_t)rows * 8);
  int64_t o;
  for (o = 0; o < rows; o++) {
    const float *f = pool_float[which] + o * row;
    const double *d = pool_double[which] + o * row;
    if (arg) ((int64_t *)want)[o] = t == GT_FLOAT32 ? arg_float(r, f, step, n) : arg_double(r, d,
                                                                                           step, n);
    else if (t == GT_FLOAT32) ((float *)want)[o] = plan_float(r, f, step, n, inner);
    else ((double *)want)[o] = plan_double(r, d, step, n, inner);
  }
  GT_SCOPE {
    const gt_shape s = inner != transposed ? GT_SHAPE(rows, n) : GT_SHAPE(n, rows);
    gt_tensor *x = gt_from_array(data, s, t, DEV);
    if (transposed) x = gt_transpose(x, 0, 1);
    x = reducers[r](NULL, x, GT_DIM(inner), 0);
    CHECK_ARRAY(x, result, want, rows);
  }
  free(want);
}
static void test_the_plan(void) {
  static const int64_t sizes[] = {1, 2, 255, 256, 257, 4095, 4096, 4097, 8191, 12289, 70001};
  static const int64_t rows[] = {1, 31, 32, 33, 64, 65, 1000, 5000};
  static const gt_reduction folds[] = {GT_SUM, GT_PROD, GT_MAX, GT_ARGMAX};
  int i, j, k, t, inner, bad = 0;
  for (i = 0; i < 11; i++)
    for (j = 0; j < 8; j++)
      for (k = 0; k < 4; k++)
        for (t = GT_FLOAT32; t <= GT_FLOAT64; t++)
          for (inner = 0; inner < 2; inner++) {
            const int64_t elements = sizes[i] * rows[j];
            /* one row folded over (n, 1) is inner: dims of size 1 are none */
            if (elements > pool_size || (rows[j] == 1 && !inner)) continue;
            if (elements > 1000000 && k > 0 && !(k == 1 && t == GT_FLOAT32)) continue;
            plan_case(folds[k], (gt_dtype)t, sizes[i], rows[j], inner, 0);
            if (elements < 300000 && !QUICK) plan_case(folds[k], (gt_dtype)t, sizes[i], rows[j],
                                                       inner, 1);
            if (check_bad > bad && check_bad < 8)
              printf("    gt_%s of %s, n %d, rows %d, inner %d\n", reduction_name[folds[k]],
                     gt_dtype_string((gt_dtype)t), (int)sizes[i], (int)rows[j], inner);
            bad = check_bad;
          }
}
/* Several folded dims that do not lie together, and other dtypes, through the same reference. */
static void test_plan_of_split_dims(void) {
  static const gt_shape shapes[] = {{3, {37, 5, 300}}, {3, {90, 7, 4}}, {4, {9, 11, 6, 41}}};
  static const int types[] = {GT_FLOAT32, GT_FLOAT64, GT_FLOAT16, GT_BFLOAT16, GT_INT16};
  int i, k, r;
  unsigned set;
  for (i = 0; i < 3; i++)
    for (k = 0; k < (QUICK ? 2 : 5); k++)
      for (r = 0; r < REDUCTIONS; r++)
        GT_SCOPE {
          gt_tensor *x = values_for((gt_reduction)r, shapes[i], (gt_dtype)types[k], 0);
          void *p = values_of(x);
          for (set = 1; set < 1u << shapes[i].ndim; set++)
            if (!QUICK || rnd_below(8) == 0) check_reduction((gt_reduction)r, x, p, set, 0);
          free(p);
        }
}

/* ---- reductions of expressions ---- */
static void test_expressions(void) {
  enum { M = 7, N = 300 };
  gt_tensor *a = random_tensor(GT_SHAPE(M, N), GT_FLOAT32, DEV);
  gt_tensor *b = random_tensor(GT_SHAPE(N), GT_FLOAT32, DEV);
  gt_tensor *c = random_tensor(GT_SHAPE(M, 1), GT_FLOAT32, DEV);
  float *p = (float *)values_of(a), *q = (float *)values_of(b), *s = (float *)values_of(c);
  float *v = (float *)malloc(M * N * 4), want[N];
  int i, j;
  for (i = 0; i < M; i++)
    for (j = 0; j < N; j++) {
      const float d = p[i * N + j] - q[j];
      v[i * N + j] = d * d;
    }
  for (i = 0; i < M; i++) want[i] = plan_float(GT_SUM, v + i * N, 1, N, 1);
  CHECK_ARRAY(gt_reduce(NULL, GT_SUM, GT_DIM(1), 0, "(a-b)*(a-b)", a, b), GT_FLOAT32, want, M);
  for (j = 0; j < N; j++) want[j] = plan_float(GT_SUM, v + j, N, M, 0);
  CHECK_ARRAY(gt_reduce(NULL, GT_SUM, GT_DIM(0), 0, "(a-b)*(a-b)", a, b), GT_FLOAT32, want, N);
  want[0] = plan_float(GT_SUM, v, 1, M * N, 1) / (float)(M * N);
  CHECK_ARRAY(gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "(a-b)*(a-b)", a, b), GT_FLOAT32, want, 1);
  for (i = 0; i < M * N; i++) v[i] = p[i] * q[i % N];
  for (i = 0; i < M * N; i++) v[i] = v[i] + s[i / N];
  for (i = 0; i < M; i++) want[i] = plan_float(GT_MAX, v + i * N, 1, N, 1);
  CHECK_ARRAY(gt_reduce(NULL, GT_MAX, GT_DIM(1), 0, "a*b + c", a, b, c), GT_FLOAT32, want, M);
  { /* the result of a fold as an operand of the next, a number, an index */
    gt_tensor *m = gt_mean(NULL, a, GT_DIM(1), 1), *x = gt_reduce(NULL, GT_SUM, GT_DIM(1), 0,
                                                                  "a - b", a, m);
    CHECK_SHAPE(x, M);
    for (i = 0; i < M; i++) CHECK_NEAR(load(GT_FLOAT32, gt_data(gt_to(x, gt_cpu())), i), 0, 1e-4);
    x = gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a * b", gt_ones(GT_SHAPE(3, 4), GT_INT32, DEV),
                  gt_scalar(0.5));
    CHECK_NUM(gt_item(x), 6);
    CHECK_INT(x->dtype, GT_FLOAT32);
    x = gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a > 0.5", a);
    CHECK_INT(x->dtype, GT_INT64);
    for (i = 0, j = 0; i < M * N; i++) j += p[i] > 0.5f;
    CHECK_INT(gt_item_int64(x), j);
    CHECK_NUM(gt_item(gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "a > 0.5", a)),
              (float)((double)j / (M * N)));
    CHECK_INT(gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "a > 0.5", a)->dtype, GT_FLOAT32);
    CHECK_INT(gt_reduce(NULL, GT_ANY_TRUE, GT_ALL, 0, "a > 5", a)->dtype, GT_BOOL);
    CHECK_NUM(gt_item(gt_reduce(NULL, GT_ANY_TRUE, GT_ALL, 0, "a > 5", a)), 0);
    CHECK_NUM(gt_item(gt_reduce(NULL, GT_ALL_TRUE, GT_ALL, 0, "a > -5", a)), 1);
    CHECK_VALUES(gt_reduce(NULL, GT_SUM, GT_DIM(0), 0, "a + b",
                           TENSOR(GT_INT8, GT_SHAPE(2, 2), 100, 1, 100, 2),
                           /* wraps only at the end */
                           TENSOR(GT_INT8, GT_SHAPE(2), 100, 3)), 400, 9);
    CHECK_VALUES(gt_reduce(NULL, GT_ARGMAX, GT_DIM(1), 0, "abs(a)",
                           TENSOR(GT_FLOAT32, GT_SHAPE(2, 3), 1, -5, 2, 3, 0, -3)), 1, 0);
  }
  { /* every operand given; and a program that is cut in several */
    gt_tensor *x = gt_full(GT_SHAPE(4, 5), 1, GT_FLOAT32, DEV);
    const gt_tensor *in[26];
    gt_tensor *y;
    for (i = 0; i < 26; i++) in[i] = x;
    y = gt_reduce_n(NULL, GT_SUM, GT_DIM(0), 0,
                    "a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+x+y+z", 26, in);
    CHECK_VALUES(y, 104, 104, 104, 104, 104);
  }
  free(p);
  free(q);
  free(s);
  free(v);
}

/* ---- by hand ---- */
static void test_dtypes(void) {
  int r, t;
  for (r = 0; r < REDUCTIONS; r++)
    for (t = 0; t < GT_DTYPES; t++)
      CHECK_INT(reducers[r](NULL, gt_ones(GT_SHAPE(2), (gt_dtype)t, DEV), GT_ALL, 0)->dtype,
                result_dtype((gt_reduction)r, (gt_dtype)t));
  for (t = 0; t < GT_DTYPES; t++) {
    gt_tensor *x = gt_ones(GT_SHAPE(2), (gt_dtype)t, DEV);
    const gt_dtype f = is_float((gt_dtype)t) ? (gt_dtype)t : GT_FLOAT32;
    CHECK_INT(gt_var(NULL, x, GT_ALL, 1, 0)->dtype, f);
    CHECK_INT(gt_std(NULL, x, GT_ALL, 1, 0)->dtype, f);
    CHECK_INT(gt_norm(NULL, x, 2, GT_ALL, 0)->dtype, f);
    CHECK_INT(gt_norm(NULL, x, 3, GT_ALL, 0)->dtype, f);
    CHECK_INT(gt_norm(NULL, x, 0, GT_ALL, 0)->dtype, f);
    CHECK_INT(gt_logsumexp(NULL, x, GT_ALL, 0)->dtype, f);
    CHECK_INT(gt_softmax(NULL, x, 0)->dtype, f);
    CHECK_INT(gt_log_softmax(NULL, x, 0)->dtype, f);
  }
}
static void test_empty(void) {
  gt_tensor *x = gt_zeros(GT_SHAPE(3, 0), GT_FLOAT32, DEV),
      *i = gt_zeros(GT_SHAPE(0), GT_INT16, DEV);
  const double nan = (double)NAN;
  CHECK_VALUES(gt_sum(NULL, x, GT_DIM(1), 0), 0, 0, 0);
  CHECK_VALUES(gt_prod(NULL, x, GT_DIM(1), 0), 1, 1, 1);
  CHECK_VALUES(gt_mean(NULL, x, GT_DIM(1), 0), nan, nan, nan);
  CHECK_VALUES(gt_any(NULL, x, GT_DIM(1), 0), 0, 0, 0);
  CHECK_VALUES(gt_all(NULL, x, GT_DIM(1), 0), 1, 1, 1);
  CHECK_VALUES(gt_var(NULL, x, GT_DIM(1), 0, 0), nan, nan, nan);
  CHECK_VALUES(gt_std(NULL, x, GT_DIM(1), 1, 0), nan, nan, nan);
  CHECK_VALUES(gt_norm(NULL, x, 2, GT_DIM(1), 0), 0, 0, 0);
  CHECK_VALUES(gt_norm(NULL, x, 1, GT_DIM(1), 0), 0, 0, 0);
  CHECK_VALUES(gt_norm(NULL, x, 0, GT_DIM(1), 0), 0, 0, 0);
  CHECK_VALUES(gt_norm(NULL, x, 3, GT_DIM(1), 0), 0, 0, 0);
  CHECK_VALUES(gt_logsumexp(NULL, x, GT_DIM(1), 0), -(double)INFINITY, -(double)INFINITY,
               -(double)INFINITY);
  CHECK_VALUES(gt_sum(NULL, x, GT_ALL, 0), 0);
  CHECK_VALUES(gt_mean(NULL, i, GT_ALL, 0), nan);
  CHECK_VALUES(gt_sum(NULL, i, GT_ALL, 1), 0);
  CHECK_VALUES(gt_prod(NULL, i, GT_ALL, 0), 1);
  CHECK_SHAPE(gt_sum(NULL, x, GT_DIM(0), 0), 0); /* no outputs */
  CHECK_SHAPE(gt_max(NULL, x, GT_DIM(0), 0), 0);
  CHECK_SHAPE(gt_argmin(NULL, x, GT_DIM(0), 1), 1, 0);
  CHECK_SHAPE(gt_logsumexp(NULL, x, GT_DIM(0), 1), 1, 0);
  CHECK_SHAPE(gt_var(NULL, x, GT_DIM(0), 1, 0), 0);
  CHECK_SHAPE(gt_softmax(NULL, x, 0), 3, 0);
  CHECK_SHAPE(gt_log_softmax(NULL, x, 1), 3, 0);
  CHECK_SHAPE(gt_max(NULL, gt_zeros(GT_SHAPE(0, 0), GT_FLOAT32, DEV), GT_DIM(0), 0), 0);
  REFUSED(gt_max(NULL, x, GT_DIM(1), 0), GT_ERROR_SHAPE,
          "gt_max: no elements to choose from in (3, 0)");
  REFUSED(gt_min(NULL, x, GT_ALL, 0), GT_ERROR_SHAPE,
          "gt_min: no elements to choose from in (3, 0)");
  REFUSED(gt_argmax(NULL, i, GT_ALL, 1), GT_ERROR_SHAPE, "gt_argmax: no elements");
  REFUSED(gt_argmin(NULL, x, GT_DIM(-1), 0), GT_ERROR_SHAPE, "gt_argmin: no elements");
  REFUSED(gt_norm(NULL, x, (double)INFINITY, GT_DIM(-1), 0), GT_ERROR_SHAPE,
          "gt_norm: no elements");
}
/* What any and all test is the text's value: also of numbers alone, of truths, and of texts that
   fill the room that short ones have, or have room of their own. */
static void test_truths_of_texts(void) {
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(2, 3), 0, 0.25, -0.0, 1, -3, (double)NAN);
  gt_tensor *bytes = TENSOR(GT_INT8, GT_SHAPE(2, 2), -128, 1, 1, 0);
  gt_tensor *none = gt_empty(GT_SHAPE(2, 0), GT_INT64, DEV);
  CHECK_VALUES(gt_reduce(NULL, GT_ANY_TRUE, GT_DIM(1), 0, "0", x), 0, 0);
  CHECK_VALUES(gt_reduce(NULL, GT_ANY_TRUE, GT_DIM(1), 0, "0 != 0", x), 0, 0);
  CHECK_VALUES(gt_reduce(NULL, GT_ALL_TRUE, GT_DIM(1), 0, "2", x), 1, 1);
  CHECK_VALUES(gt_reduce(NULL, GT_ALL_TRUE, GT_DIM(1), 0, "a != 0", x), 0, 1);
  CHECK_VALUES(gt_reduce(NULL, GT_ALL_TRUE, GT_DIM(1), 0, "a != 0.25", x), 0, 1);
  CHECK_VALUES(gt_reduce(NULL, GT_ANY_TRUE, GT_DIM(0), 0, "a < 0", x), 0, 1, 0);
  CHECK_VALUES(gt_reduce(NULL, GT_ALL_TRUE, GT_DIM(1), 0, "-a+a+a+a+a+a+a+a+a+a+a+a", x), 0, 1);
  CHECK_VALUES(gt_reduce(NULL, GT_ALL_TRUE, GT_DIM(1), 0, "-a+a+a+a+a+a+a+a+a+a+a+a+a", x), 0, 1);
  CHECK_VALUES(gt_any(TENSOR(GT_INT32, GT_SHAPE(2), 7, 7), x, GT_DIM(1), 0), 1, 1);
  CHECK_VALUES(gt_all(NULL, bytes, GT_DIM(1), 0), 1, 0);
  CHECK_VALUES(gt_reduce(NULL, GT_ALL_TRUE, GT_DIM(1), 0, "a", none), 1, 1);
  CHECK_VALUES(gt_reduce(NULL, GT_ANY_TRUE, GT_DIM(1), 0, "a*2", none), 0, 0);
}
static void test_nan_and_ties(void) {
  const double nan = (double)NAN, inf = (double)INFINITY;
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(4, 4), 1, nan, 3, nan, 2, 5, 5, 1, -inf, -inf, -inf,
                        -inf, inf, 0, inf, -inf);
  CHECK_VALUES(gt_sum(NULL, x, GT_DIM(1), 0), nan, 13, -inf, nan);
  CHECK_VALUES(gt_max(NULL, x, GT_DIM(1), 0), nan, 5, -inf, inf);
  CHECK_VALUES(gt_min(NULL, x, GT_DIM(1), 0), nan, 1, -inf, -inf);
  CHECK_VALUES(gt_argmax(NULL, x, GT_DIM(1), 0), 1, 1, 0, 0);
  CHECK_VALUES(gt_argmin(NULL, x, GT_DIM(1), 0), 1, 3, 0, 3);
  CHECK_VALUES(gt_any(NULL, x, GT_DIM(1), 0), 1, 1, 1, 1);
  CHECK_VALUES(gt_all(NULL, x, GT_DIM(1), 0), 1, 1, 1, 0);
  CHECK_VALUES(gt_argmax(NULL, x, GT_ALL, 0), 1);
  CHECK_VALUES(gt_argmax(NULL, x, GT_DIM(0), 0), 3, 0, 3, 0);
  CHECK_VALUES(gt_argmax(NULL, TENSOR(GT_INT64, GT_SHAPE(3, 2), 4, 9, 9, 0, 9, 9), GT_ALL, 0), 1);
  CHECK_VALUES(gt_argmax(NULL, gt_full(GT_SHAPE(1), (double)INT64_MIN, GT_INT64, DEV), GT_ALL, 0),
               0);
  CHECK_VALUES(gt_argmin(NULL, gt_full(GT_SHAPE(9), inf, GT_FLOAT64, DEV), GT_ALL, 0), 0);
  CHECK_VALUES(gt_argmax(NULL, gt_full(GT_SHAPE(5000), 3, GT_INT8, DEV), GT_ALL, 0), 0);
  { /* both zeros: +0 is the larger, but they are equal for argmax */
    gt_tensor *z = TENSOR(GT_FLOAT32, GT_SHAPE(2), -0.0, 0);
    CHECK(!signbit(gt_item(gt_max(NULL, z, GT_ALL, 0))) &&
          signbit(gt_item(gt_min(NULL, z, GT_ALL, 0))));
    CHECK_VALUES(gt_argmax(NULL, z, GT_ALL, 0), 0);
    CHECK_VALUES(gt_argmin(NULL, TENSOR(GT_FLOAT32, GT_SHAPE(2), 0, -0.0), GT_ALL, 0), 0);
  }
  { /* (2, 3, 4) folded over dims 0 and 2: the index counts 4*i + k */
    gt_tensor *y = gt_zeros(GT_SHAPE(2, 3, 4), GT_FLOAT32, DEV);
    gt_fill(gt_select(gt_select(gt_select(y, 0, 1), 0, 0), 0, 2), 1);
    gt_fill(gt_select(gt_select(gt_select(y, 0, 1), 0, 1), 0, 3), 1);
    gt_fill(gt_select(gt_select(gt_select(y, 0, 0), 0, 2), 0, 1), 1);
    gt_fill(gt_select(gt_select(gt_select(y, 0, 1), 0, 2), 0, 1), 1);
    CHECK_VALUES(gt_argmax(NULL, y, GT_DIM(0) | GT_DIM(2), 0), 6, 7, 1);
    CHECK_SHAPE(gt_argmax(NULL, y, GT_DIM(0) | GT_DIM(2), 1), 1, 3, 1);
  }
}
/* One element that decides, at each place of rows and columns of many lengths: NaN, +0 among -0 (or
   the reverse), the largest (smallest). */
static void test_one_decides(void) {
  static const int64_t sizes[] = {1, 3, 5, 27, 28, 33, 64, 130, 300, 1030};
  static const char *const tests[] = {"a != a", "1/a == b/0.0", "a == 2*b"};
  int dtype, i, kind, dim, sign;
  for (i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
    for (dtype = GT_FLOAT32; dtype <= GT_FLOAT64; dtype++) {
      const int64_t n = sizes[i];
      gt_tensor *eye = gt_eye(n, n, GT_BOOL, DEV), *place = gt_arange(0, (double)n, 1, GT_INT64, DEV);
      for (kind = 0; kind < 3; kind++)
        for (sign = -1; sign <= 1; sign += 2) {
          const double one = kind == 0 ? (double)NAN : kind == 1 ? sign * 0.0 : 2 * sign;
          gt_tensor *other = gt_scalar(kind == 1 ? -sign * 0.0 : -1.0 * sign), *number = gt_scalar(sign);
          gt_tensor *x = gt_eval(gt_empty(GT_SHAPE(n, n), (gt_dtype)dtype, DEV), "a ? b : c", eye,
                                 gt_scalar(one), other);
          for (dim = 0; dim < 2; dim++) {
            gt_tensor *y = (sign > 0 ? gt_max : gt_min)(NULL, x, GT_DIM(dim), 0);
            gt_tensor *at = (sign > 0 ? gt_argmax : gt_argmin)(NULL, x, GT_DIM(dim), 0);
            CHECK_TEXT(gt_item(gt_all(NULL, gt_eval(NULL, tests[kind], y, number), GT_ALL, 0)),
                       "%s: %lld, dim %d, sign %d", tests[kind], (long long)n, dim, sign);
            if (kind != 1) CHECK_SAME(at, place);
          }
          gt_free(x);
        }
    }
}
static void test_exact_sums(void) {
  const int64_t big = (INT64_C(1) << 53) + 1, many = (INT64_C(1) << 24) + 5;
  int64_t v[3], i;
  gt_tensor *x, *ones = gt_expand(gt_ones(GT_SHAPE(1), GT_FLOAT32, DEV), GT_SHAPE(many));
  v[0] = big;
  v[1] = 2;
  v[2] = big;
  x = gt_from_array(v, GT_SHAPE(3), GT_INT64, DEV);
  CHECK_INT(gt_item_int64(gt_sum(NULL, x, GT_ALL, 0)), 2 * big + 2);
  CHECK_INT(gt_item_int64(gt_max(NULL, x, GT_ALL, 0)), big);
  v[0] = INT64_MAX;
  v[1] = 3;
  x = gt_from_array(v, GT_SHAPE(2), GT_INT64, DEV);
  CHECK_INT(gt_item_int64(gt_sum(NULL, x, GT_ALL, 0)), INT64_MIN + 2);
  v[0] = v[1] = INT64_C(3037000500);
  x = gt_from_array(v, GT_SHAPE(2), GT_INT64, DEV);
  CHECK_INT(gt_item_int64(gt_prod(NULL, x, GT_ALL, 0)), (int64_t)((uint64_t)v[0] * (uint64_t)v[0]));
  for (i = 0; i < 3; i++) v[i] = big - i;
  x = gt_from_array(v, GT_SHAPE(3), GT_INT64, DEV);
  /* as doubles the last two were equal */
  CHECK_INT(gt_item_int64(gt_argmin(NULL, x, GT_ALL, 0)), 2);
  CHECK_INT(gt_item_int64(gt_argmax(NULL, x, GT_ALL, 0)), 0);
  /* counts: a float32 sum of ones stops at 2^24 in order, and would round here */
  CHECK_INT(gt_item_int64(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a > 0", ones)), many);
  CHECK_INT(gt_item_int64(gt_sum(NULL, gt_expand(gt_ones(GT_SHAPE(1), GT_BOOL, DEV),
                                                 GT_SHAPE(many)), GT_ALL, 0)), many);
  CHECK_NUM(gt_item(gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "a > 0", ones)), 1);
  CHECK_NUM(gt_item(gt_norm(NULL, ones, 0, GT_ALL, 0)), (float)many);
  if (!QUICK) {
    x = gt_expand(ones, GT_SHAPE(2, many));
    CHECK_INT(gt_item_int64(gt_select(gt_reduce(NULL, GT_SUM, GT_DIM(1), 0, "a > 0", x), 0, 1)),
              many);
    CHECK_INT(gt_item_int64(gt_sum(NULL, gt_expand(TENSOR(GT_INT8, GT_SHAPE(1), -128),
                                                   GT_SHAPE(many)), GT_ALL, 0)), -128 * many);
  }
}
/* Half types add up in float32: in float16 ones stop at 2048, in bfloat16 at 256. */
static void test_half_accumulation(void) {
  int i, layout;
  for (layout = 0; layout < 2; layout++)
    for (i = 0; i < 2; i++) {
      const uint32_t dims = layout ? GT_DIM(0) : GT_DIM(1);
      const gt_dtype t = i ? GT_BFLOAT16 : GT_FLOAT16;
      gt_tensor *x = gt_ones(layout ? GT_SHAPE(4992, 3) : GT_SHAPE(3, 4992), t, DEV), *y;
      const double rounded = 4992;
      CHECK_VALUES(gt_sum(NULL, x, dims, 0), rounded, rounded, rounded);
      CHECK_VALUES(gt_mean(NULL, x, dims, 0), 1, 1, 1);
      CHECK_VALUES(gt_std(NULL, x, dims, 1, 0), 0, 0, 0);
      y = gt_full(GT_SHAPE(1000), 60000, t, DEV); /* the sum is beyond float16 */
      CHECK_NUM(gt_item(gt_mean(NULL, y, GT_ALL, 0)), gt_item(gt_slice(y, 0, 0, 1, 1)));
      CHECK_NUM(gt_item(gt_var(NULL, y, GT_ALL, 0, 0)), 0);
      y = gt_sum(gt_empty(GT_SHAPE_0D, GT_FLOAT32, DEV), gt_ones(GT_SHAPE(4099), t, DEV), GT_ALL,
                 0);
      CHECK_NUM(gt_item(y), 4099); /* and a float32 output is not rounded to the half type first */
    }
}

/* ---- against long double ---- */
typedef struct {
  gt_dtype type;
  double unit, tiny; /* rounding of the compute type; smallest positive of the result */
  double result_unit;
} precision;
static precision precision_of(gt_dtype t) {
  precision p;
  p.type = is_float(t) ? t : GT_FLOAT32;
  p.unit = t == GT_FLOAT64 ? 0x1p-53 : 0x1p-24;
  p.result_unit = t == GT_FLOAT16 ? 0x1p-11 : t == GT_BFLOAT16 ? 0x1p-8 : 0;
  p.tiny = t == GT_FLOAT64 ? 0x1p-1073 : t == GT_FLOAT16 ? 0x1p-24 : 0x1p-133;
  return p;
}
/* Additions that an element may pass: 16 in a lane and 8 of the halving, or 32; then the tree. */
static double plan_depth(double n) { return 32 + (n > 32 ? log2(n / 32) + 1 : 0); }

static double worst;
static void close_to(const char *what, double x, long double want, double tolerance, precision p) {
  const double bound = tolerance + fabs((double)want) * p.result_unit + p.tiny;
  const double error = (double)fabsl(x - want);
  if (isinf(x) && p.type == GT_FLOAT16 && fabsl(want) >= 65519) return; /* beyond the type */
  if (x == (double)want || (x != x && want != want)) return;
  if (error / bound > worst) worst = error / bound;
  CHECK_TEXT(error <= bound, "%s of %s: %.17g, not %.17Lg within %.3g", what,
             gt_dtype_string(p.type), x,
             want, bound);
}
typedef struct { long double mean, mean_abs, squares; } moments;
static moments moments_of(const long double *v, int64_t n) {
  moments m = {0, 0, 0};
  int64_t i;
  for (i = 0; i < n; i++) m.mean += v[i] / n, m.mean_abs += fabsl(v[i]) / n;
  for (i = 0; i < n; i++) m.squares += (v[i] - m.mean) * (v[i] - m.mean);
  return m;
}
/* The mean is off by d <= depth*u*mean|x|, which adds n*d*d to the squares; each difference and
   square is rounded once and the sum of what is positive has depth*u: all relative to the sum. */
static void check_spread(precision p, const long double *v, int64_t n, double correction,
                         double var,
                         double std) {
  const moments m = moments_of(v, n);
  const double left = n > correction ? (double)n - correction : 0,
      depth = plan_depth((double)n) + 6;
  const long double want =
      left > 0 ? m.squares / left : m.squares > 0 ? (long double)INFINITY : (long double)NAN;
  const double d = depth * p.unit * (double)m.mean_abs;
  const double tolerance = left > 0 ? depth * p.unit * (double)want + d * d * (double)n / left : 0;
  close_to("var", var, want, tolerance, p);
  close_to("std", std, sqrtl(want),
           want > 0 ? tolerance / (double)sqrtl(want) + p.unit * (double)sqrtl(want) : d, p);
}
static long double norm_of(const long double *v, int64_t n, double q) {
  long double s = q < 0 ? (long double)INFINITY : 0;
  int64_t i;
  for (i = 0; i < n; i++) {
    const long double x = fabsl(v[i]);
    if (isinf(q)) s = q > 0 ? fmaxl(s, x) : fminl(s, x);
    else s += q == 0 ? v[i] != 0 : powl(x, q);
  }
  return q == 0 || isinf(q) ? s : powl(s, 1 / (long double)q);
}
/* abs is exact, pow within 2 ulp (4 u), the sum of what is positive within depth*u; the root
   divides the relative error by q and adds its own, with that of 1/q magnified by a logarithm. */
static double norm_tolerance(precision p, int64_t n, double q, long double want) {
  if (q == 0) return p.unit * (double)want;
  if (isinf(q)) return 0;
  return (double)want * p.unit *
         ((plan_depth((double)n) + 6) / q + 5 + fabs(log((double)want + 1e-300)));
}
static void check_norms(precision p, const gt_tensor *x, uint32_t dims, const long double *v,
                        int64_t rows,
                        int64_t n) {
  static const double powers[] = {0, 1, 2, 3, 0.5, (double)INFINITY, -(double)INFINITY};
  int i;
  int64_t o;
  for (i = 0; i < 7; i++) {
    gt_tensor *y = gt_norm(NULL, x, powers[i], dims, 0);
    void *got = values_of(y);
    /* pow of float64 is each platform's own: 3 and 0.5 are within the bound, not bit-equal */
    if (DEV.type == GT_CUDA && (x->dtype != GT_FLOAT64 || i < 3 || i > 4))
      CHECK_SAME(gt_to(y, gt_cpu()), gt_norm(NULL, gt_to(x, gt_cpu()), powers[i], dims, 0));
    for (o = 0; o < rows; o++) {
      const long double want = norm_of(v + o * n, n, powers[i]);
      close_to("norm", load(y->dtype, got, o), want, norm_tolerance(p, n, powers[i], want), p);
    }
    if (x->dtype != GT_FLOAT64 || i < 3 || i > 4) digest(y->dtype, got, rows);
    free(got);
  }
}
/* x - max is rounded (u*|x - max|, which exp turns into a relative error), exp has 2 ulp, the sum
   depth*u, the division u. log adds 2 ulp of itself. |x - max| exp(x - max) is at most 0.37. */
static void check_soft(precision p, const long double *v, int64_t n, const double *soft,
                       const double *log_soft,
                       double lse) {
  const double depth = plan_depth((double)n) + 10, u = p.unit;
  long double most = -(long double)INFINITY, sum = 0, log_sum;
  int64_t i;
  for (i = 0; i < n; i++) most = fmaxl(most, v[i]);
  for (i = 0; i < n; i++) sum += expl(v[i] - most);
  log_sum = logl(sum);
  close_to("logsumexp", lse, most + log_sum,
           u * (depth + 4 * (double)log_sum + (double)fabsl(most + log_sum)), p);
  for (i = 0; i < n; i++) {
    const long double want = expl(v[i] - most) / sum, d = v[i] - most;
    close_to("softmax", soft[i], want, (double)want * u * (depth - (double)d), p);
    close_to("log_softmax", log_soft[i], d - log_sum,
             u * (depth - (double)d + 4 * (double)log_sum + (double)fabsl(d - log_sum)), p);
  }
}
static void check_statistics(gt_dtype t, int64_t rows, int64_t n, double scale, double shift,
                             int transposed) {
  const precision p = precision_of(t);
  const uint32_t dims = transposed ? GT_DIM(0) : GT_DIM(1);
  gt_tensor *x = random_tensor(GT_SHAPE(rows, n), t, DEV), *y[5];
  long double *v = (long double *)malloc((size_t)(rows * n) * sizeof *v);
  double *soft = (double *)malloc((size_t)n * 8), *log_soft = (double *)malloc((size_t)n * 8);
  void *raw, *got[5];
  int64_t i, o;
  double correction = 0;
  if (scale != 1 || shift != 0) gt_eval(x, "a*b + c", x, gt_scalar(scale), gt_scalar(shift));
  raw = values_of(x);
  for (i = 0; i < rows * n; i++) v[i] = is_float(t) ? load(t, raw, i) : (long double)load_int(t,
                                                                                            raw, i);
  if (transposed) x = gt_contiguous(gt_transpose(x, 0, 1));
  for (correction = 0; correction < 3; correction += 1) {
    y[0] = gt_var(NULL, x, dims, correction, 0);
    y[1] = gt_std(NULL, x, dims, correction, 0);
    got[0] = values_of(y[0]);
    got[1] = values_of(y[1]);
    for (o = 0; o < rows; o++)
      check_spread(p, v + o * n, n, correction, load(y[0]->dtype, got[0], o),
                   load(y[1]->dtype, got[1], o));
    for (i = 0; i < 2; i++) digest(y[i]->dtype, got[i], rows), free(got[i]);
  }
  y[2] = gt_logsumexp(NULL, x, dims, 0);
  y[3] = gt_softmax(NULL, x, transposed ? 0 : -1);
  y[4] = gt_log_softmax(NULL, x, transposed ? 0 : 1);
  if (DEV.type == GT_CUDA) {
    gt_tensor *host = gt_to(x, gt_cpu());
    CHECK_SAME(gt_to(gt_var(NULL, x, dims, 1, 0), gt_cpu()), gt_var(NULL, host, dims, 1, 0));
    CHECK_SAME(gt_to(gt_std(NULL, x, dims, 1, 0), gt_cpu()), gt_std(NULL, host, dims, 1, 0));
  }
  /* exp and log of float64 are each platform's own: within the bound, not bit-equal */
  if (DEV.type == GT_CUDA && x->dtype != GT_FLOAT64) {
    gt_tensor *host = gt_to(x, gt_cpu());
    CHECK_SAME(gt_to(y[2], gt_cpu()), gt_logsumexp(NULL, host, dims, 0));
    CHECK_SAME(gt_to(y[3], gt_cpu()), gt_softmax(NULL, host, transposed ? 0 : 1));
    CHECK_SAME(gt_to(y[4], gt_cpu()), gt_log_softmax(NULL, host, transposed ? 0 : 1));
  }
  for (i = 2; i < 5; i++) {
    got[i] = values_of(y[i]);
    if (x->dtype != GT_FLOAT64) digest(y[i]->dtype, got[i], gt_numel(y[i]));
  }
  for (o = 0; o < rows; o++) {
    for (i = 0; i < n; i++) {
      const int64_t at = transposed ? i * rows + o : o * n + i;
      soft[i] = load(y[3]->dtype, got[3], at);
      log_soft[i] = load(y[4]->dtype, got[4], at);
    }
    check_soft(p, v + o * n, n, soft, log_soft, load(y[2]->dtype, got[2], o));
  }
  for (i = 2; i < 5; i++) free(got[i]);
  check_norms(p, x, dims, v, rows, n);
  free(raw);
  free(v);
  free(soft);
  free(log_soft);
}
static void test_statistics(void) {
  static const int64_t sizes[] = {1, 2, 3, 31, 257, 5000};
  int t, i, transposed;
  worst = 0;
  for (t = 0; t < GT_DTYPES; t++)
    for (i = 0; i < (QUICK ? 5 : 6); i++)
      for (transposed = 0; transposed < 2; transposed++) {
        GT_SCOPE { check_statistics((gt_dtype)t, 3, sizes[i], 1, 0, transposed); }
        if (is_float((gt_dtype)t)) /* far apart, and far from 0: cancellation in the variance */
          GT_SCOPE {
            check_statistics((gt_dtype)t, 2, sizes[i], 40, 0, transposed);
            check_statistics((gt_dtype)t, 2, sizes[i], 1, 500, transposed);
          }
      }
  printf("statistics: the worst error is %.2f of its bound\n", worst);
}
static void test_statistics_of_specials(void) {
  const double nan = (double)NAN, inf = (double)INFINITY;
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(4, 2), -inf, -inf, inf, 0, nan, 1, 1000, 1000);
  gt_tensor *y = gt_logsumexp(NULL, x, GT_DIM(1), 0), *one = TENSOR(GT_FLOAT32, GT_SHAPE(1), 3);
  void *p = values_of(y);
  CHECK_NUM(load(GT_FLOAT32, p, 0), -inf);
  CHECK_NUM(load(GT_FLOAT32, p, 1), inf);
  CHECK_NUM(load(GT_FLOAT32, p, 2), nan);
  CHECK_NEAR(load(GT_FLOAT32, p, 3), 1000.6931471805599, 7e-5);
  free(p);
  CHECK_VALUES(gt_softmax(NULL, x, 1), nan, nan, nan, nan, nan, nan, 0.5, 0.5); /* as PyTorch */
  CHECK_VALUES(gt_softmax(NULL, TENSOR(GT_FLOAT32, GT_SHAPE(3), -inf, 7, -inf), 0), 0, 1, 0);
  CHECK_VALUES(gt_log_softmax(NULL, TENSOR(GT_FLOAT32, GT_SHAPE(3), -inf, 7, -inf), 0), -inf, 0,
               -inf);
  CHECK_VALUES(gt_var(NULL, one, GT_ALL, 1, 0), nan);
  CHECK_VALUES(gt_var(NULL, one, GT_ALL, 0, 0), 0);
  /* / max(0, n-5) */
  CHECK_VALUES(gt_var(NULL, TENSOR(GT_FLOAT32, GT_SHAPE(2), 1, 3), GT_ALL, 5, 0), inf);
  CHECK_VALUES(gt_var(NULL, TENSOR(GT_FLOAT32, GT_SHAPE(2), 1, 3), GT_ALL, 0.5, 0),
               (double)(2.0f / 1.5f));
  CHECK_VALUES(gt_std(NULL, x, GT_DIM(1), 1, 0), nan, nan, nan, 0);
  CHECK_VALUES(gt_norm(NULL, x, 2, GT_DIM(1), 0), inf, inf, nan, 1414.213623046875);
  CHECK_VALUES(gt_norm(NULL, x, 0, GT_DIM(1), 0), 2, 1, 2, 2);
  CHECK_VALUES(gt_norm(NULL, x, inf, GT_DIM(1), 0), inf, inf, nan, 1000);
  CHECK_VALUES(gt_norm(NULL, x, -inf, GT_DIM(1), 0), inf, 0, nan, 1000);
  /* 0-d tensors: one element, no dims; dim 0 and -1 are allowed as in PyTorch */
  one = TENSOR(GT_FLOAT32, GT_SHAPE_0D, -3);
  CHECK_VALUES(gt_sum(NULL, one, GT_ALL, 0), -3);
  CHECK_VALUES(gt_sum(NULL, one, GT_DIM(0), 1), -3);
  CHECK_VALUES(gt_argmax(NULL, one, GT_DIM(-1), 0), 0);
  CHECK_VALUES(gt_softmax(NULL, one, 0), 1);
  CHECK_VALUES(gt_softmax(NULL, one, -1), 1);
  CHECK_VALUES(gt_log_softmax(NULL, one, 0), 0);
  CHECK_VALUES(gt_logsumexp(NULL, one, GT_ALL, 1), -3);
  CHECK_VALUES(gt_var(NULL, one, GT_ALL, 0, 0), 0);
  CHECK_VALUES(gt_norm(NULL, one, 3, GT_ALL, 0), 3);
  CHECK_VALUES(gt_norm(NULL, TENSOR(GT_FLOAT32, GT_SHAPE(2, 2), 3, 4, 6, 8), 2, GT_DIM(1), 1), 5,
               10);
  CHECK_SHAPE(gt_norm(NULL, gt_ones(GT_SHAPE(2, 3, 4), GT_FLOAT32, DEV), 3, GT_DIM(0) | GT_DIM(2),
                      1), 1, 3, 1);
  CHECK_SHAPE(gt_logsumexp(NULL, gt_ones(GT_SHAPE(2, 3, 4), GT_FLOAT32, DEV), GT_DIM(0) | GT_DIM(2),
                           1), 1, 3, 1);
  CHECK_SHAPE(gt_logsumexp(NULL, gt_ones(GT_SHAPE(2, 3, 4), GT_FLOAT32, DEV), GT_DIM(0) | GT_DIM(2),
                           0), 3);
  CHECK_SHAPE(gt_std(NULL, gt_ones(GT_SHAPE(2, 3, 4), GT_FLOAT32, DEV), GT_DIM(1), 1, 1), 2, 1, 4);
  CHECK_SHAPE_0D(gt_var(NULL, gt_ones(GT_SHAPE(2, 3, 4), GT_FLOAT32, DEV), GT_ALL, 1, 0));
}
/* Given outputs of another dtype and layout; strided inputs. */
static void test_statistics_into_outputs(void) {
  int layout, t;
  for (layout = 0; layout < LAYOUTS; layout++)
    for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
      GT_SCOPE {
        gt_tensor *x = random_tensor(GT_SHAPE(4, 6), (gt_dtype)t, DEV), *z = relayout(x, layout);
        gt_tensor *base = gt_full(GT_SHAPE(6, 9), 77, (gt_dtype)t, DEV);
        gt_tensor *out = gt_slice(gt_slice(base, 0, 1, 5, 1), 1, 2, 8, 1),
            *column = gt_select(out, 1, 3);
        CHECK(gt_softmax(out, z, 1) == out);
        CHECK_SAME(out, gt_softmax(NULL, x, 1));
        CHECK(gt_log_softmax(out, z, 0) == out);
        CHECK_SAME(out, gt_log_softmax(NULL, x, 0));
        CHECK(gt_var(column, z, GT_DIM(1), 1, 0) == column);
        CHECK_SAME(column, gt_var(NULL, x, GT_DIM(1), 1, 0));
        gt_std(column, z, GT_DIM(1), 0, 0);
        CHECK_SAME(column, gt_std(NULL, x, GT_DIM(1), 0, 0));
        gt_norm(column, z, 3, GT_DIM(1), 0);
        CHECK_SAME(column, gt_norm(NULL, x, 3, GT_DIM(1), 0));
        gt_logsumexp(column, z, GT_DIM(1), 0);
        CHECK_SAME(column, gt_logsumexp(NULL, x, GT_DIM(1), 0));
        gt_fill(out, 77);
        CHECK_NUM(gt_item(gt_reduce(NULL, GT_ALL_TRUE, GT_ALL, 0, "a == 77", base)), 1);
        if (t == GT_FLOAT32) { /* a wider output takes the float32 values as they are */
          gt_tensor *wide = gt_full(GT_SHAPE(4, 6), 77, GT_FLOAT64, DEV);
          CHECK_SAME(gt_to_dtype(gt_softmax(wide, z, 1), GT_FLOAT32), gt_softmax(NULL, x, 1));
          wide = gt_full(GT_SHAPE(4), 77, GT_FLOAT64, DEV);
          CHECK_SAME(gt_to_dtype(gt_var(wide, z, GT_DIM(1), 1, 0), GT_FLOAT32),
                     gt_var(NULL, x, GT_DIM(1), 1, 0));
          CHECK_SAME(gt_to_dtype(gt_logsumexp(wide, z, GT_DIM(1), 0), GT_FLOAT32),
                     gt_logsumexp(NULL, x, GT_DIM(1), 0));
        }
      }
}

/* ---- large, threads ---- */
/* Softmax and its like read a short row once: the same bits as by their three steps apart. */
static void check_soft_steps(const gt_tensor *x, gt_tensor *out) {
  const gt_tensor *wide = x->dtype == GT_FLOAT64 ? x : gt_to_dtype(x, GT_FLOAT32);
  const gt_tensor *m = gt_max(NULL, wide, GT_DIM(-1), 1);
  const gt_tensor *finite = gt_eval(NULL, "isinf(a) ? 0 : a", m);
  const gt_tensor *s = gt_reduce(NULL, GT_SUM, GT_DIM(-1), 1, "exp(a-b)", wide, m);
  const gt_tensor *t = gt_reduce(NULL, GT_SUM, GT_DIM(-1), 1, "exp(a-b)", wide, finite);
  const gt_tensor *soft = gt_to_dtype(gt_eval(NULL, "exp(a-b)/c", wide, m, s), x->dtype);
  const gt_tensor *log_soft = gt_to_dtype(gt_eval(NULL, "(a-b)-log(c)", wide, m, s), x->dtype);
  void *p = values_of(soft);
  CHECK_SAME(gt_logsumexp(NULL, x, GT_DIM(-1), 1),
             gt_to_dtype(gt_eval(NULL, "log(a)+b", t, finite), x->dtype));
  CHECK_SAME(gt_log_softmax(NULL, x, -1), log_soft);
  CHECK_SAME(gt_softmax(out, x, -1), soft);
  if (x->dtype != GT_FLOAT64) digest(x->dtype, p, gt_numel(x));
  free(p);
}
static void test_soft_rows(void) {
  static const int64_t length[] = {1,    2,    63,   64,   65,   255,   256,   257,   1000,
                                   4095, 4096, 4097, 9000, 16384, 16385, 32768, 32769};
  static const gt_dtype types[] = {GT_FLOAT32, GT_FLOAT64, GT_FLOAT16, GT_BFLOAT16};
  const int most = sizeof length / sizeof *length * 4;
  int i, kind, layout;
  for (i = 0; i < most; i++)
    for (kind = QUICK && length[i / 4] > 1000 ? 2 : 0; kind < 3; kind++)
      for (layout = 0; layout < (length[i / 4] < 1000 || (kind == 2 && !QUICK) ? (int)LAYOUTS : 1); layout++)
        GT_SCOPE {
          const int64_t n = length[i / 4];
          gt_tensor *x = values_for(GT_SUM, GT_SHAPE(3, n), types[i % 4], kind);
          if (kind == 1) gt_mul(x, x, gt_scalar(40));
          if (kind == 2) gt_fill(gt_select(x, 0, 1), layout % 2 ? (double)INFINITY : -(double)INFINITY);
          x = relayout(x, layout);
          check_soft_steps(gt_expand(gt_select(x, 0, 0), GT_SHAPE(2, n)), NULL);
          check_soft_steps(x, relayout(gt_full(GT_SHAPE(3, n), 7, x->dtype, DEV), kind + 1));
          check_soft_steps(x, x);
        }
}

static void test_large(void) {
  static const int64_t sizes[] = {1000000, (1 << 20) + 1};
  static const int types[] = {GT_FLOAT32, GT_FLOAT64, GT_INT64, GT_FLOAT16};
  int i, k, r;
  for (i = QUICK; i < 2; i++)
    for (k = 0; k < (QUICK ? 1 : 4); k++)
      GT_SCOPE {
        gt_tensor *x = values_for(GT_SUM, GT_SHAPE(sizes[i]), (gt_dtype)types[k], 0);
        void *p = values_of(x);
        for (r = 0; r < (QUICK ? 2 : REDUCTIONS); r++) check_reduction((gt_reduction)r, x, p, 1, 0);
        if (types[k] == GT_FLOAT32)
          check_reduction(GT_SUM, gt_reshape(gt_slice(x, 0, 0, 1000000, 1), GT_SHAPE(1000, 1000)),
                          p, 1, 0);
        free(p);
      }
}
static void test_number_of_threads(void) {
#ifdef _OPENMP
  static const gt_shape shapes[] = {{2, {1, 700000}}, {2, {700, 1000}}, {2, {100000, 7}},
                                    {3, {30, 900, 20}}};
  const int before = omp_get_max_threads();
  int i, r, threads;
  for (i = 0; i < (QUICK ? 2 : 4); i++)
    for (r = 0; r < REDUCTIONS + 2; r++)
      GT_SCOPE {
        gt_tensor *x = values_for(GT_SUM, shapes[i], GT_FLOAT32, 0), *first = NULL, *y;
        for (threads = 1; threads < 4; threads++) {
          const uint32_t dims = i == 2 ? GT_DIM(0) : GT_DIM(1);
          omp_set_num_threads(threads);
          y = r < REDUCTIONS ? reducers[r](NULL, x, dims, 0)
              : r == REDUCTIONS ? gt_std(NULL, x, dims, 1, 0) : gt_softmax(NULL, x, i != 2);
          if (first) CHECK_SAME(y, first);
          else first = y;
        }
      }
  omp_set_num_threads(before);
#else
  skip("threads", "not compiled with OpenMP");
#endif
}

/* ---- which dims ---- */
static const uint32_t two_dims = GT_DIM(0) | GT_DIM(-1); /* a constant in C and in C++ */
static void test_sets_of_dims(void) {
  gt_tensor *x = gt_reshape(gt_arange(0, 24, 1, GT_INT32, DEV), GT_SHAPE(2, 3, 4));
  gt_tensor *deep = gt_ones(GT_SHAPE(2, 1, 2, 1, 2, 1, 2, 3), GT_INT32, DEV);
  gt_tensor *number = gt_full(GT_SHAPE_0D, 7, GT_INT32, DEV);
  int d;
  CHECK_VALUES(gt_sum(NULL, x, two_dims, 0), 60, 92, 124);
  CHECK_VALUES(gt_sum(NULL, x, GT_DIM(1) | GT_DIM(2) | GT_DIM(1), 0), 66, 210);
  for (d = 0; d < 8; d++) {
    gt_tensor *front = gt_sum(NULL, deep, GT_DIM(d), 1), *behind = gt_sum(NULL, deep, GT_DIM(d - 8), 1);
    CHECK_INT(front->shape[d], 1);
    CHECK_INT(gt_numel(front), 48 / deep->shape[d]);
    CHECK_SAME(front, behind);
    for (int e = 0; e < 8; e++)
      if (e != d) CHECK_INT(gt_sum(NULL, deep, GT_DIM(d) | GT_DIM(e - 8), 0)->ndim, 6);
    REFUSED(gt_sum(NULL, deep, GT_DIM(d) | GT_DIM(d - 8), 0), GT_ERROR_ARGUMENT, "is named twice");
  }
  CHECK_VALUES(gt_sum(NULL, number, GT_DIM(0), 0), 7);
  CHECK_VALUES(gt_max(NULL, number, GT_DIM(-1), 1), 7);
  REFUSED(gt_sum(NULL, number, GT_DIM(0) | GT_DIM(-1), 0), GT_ERROR_ARGUMENT, "dim 0 is named twice");
  REFUSED(gt_sum(NULL, x, GT_DIM(1) | GT_DIM(-2), 0), GT_ERROR_ARGUMENT, "gt_sum: dim 1 is named twice");
  REFUSED(gt_sum(NULL, x, GT_ALL | GT_DIM(2), 0), GT_ERROR_ARGUMENT, "dim 2 is named twice");
  REFUSED(gt_logsumexp(NULL, x, GT_DIM(0) | GT_DIM(-3), 0), GT_ERROR_ARGUMENT, "dim 0 is named twice");
  for (d = -8; d < 8; d++) { /* PyTorch's x.sum(1) */
    char text[80];
    snprintf(text, sizeof text, "dims is the bare number %d; write GT_DIM(%d)", d, d);
    REFUSED(gt_sum(NULL, x, (uint32_t)d, 0), GT_ERROR_ARGUMENT, text);
    REFUSED(gt_var(NULL, deep, (uint32_t)d, 1, 0), GT_ERROR_ARGUMENT, text);
    REFUSED(gt_logsumexp(NULL, number, (uint32_t)d, 0), GT_ERROR_ARGUMENT, text);
    snprintf(text, sizeof text, "a plain number is expected here: %d, not GT_DIM(%d)", d, d);
    REFUSED(gt_softmax(NULL, deep, GT_DIM(d)), GT_ERROR_ARGUMENT, text);
    REFUSED(gt_squeeze(deep, GT_DIM(d)), GT_ERROR_ARGUMENT, text);
    REFUSED(gt_permute(x, GT_SHAPE(0, 1, GT_DIM(d))), GT_ERROR_ARGUMENT, text);
  }
  for (d = 8; d < 256; d++)
    REFUSED(gt_sum(NULL, deep, (uint32_t)d, 0), GT_ERROR_ARGUMENT, "is not GT_ALL");
  REFUSED(gt_softmax(NULL, x, GT_ALL), GT_ERROR_ARGUMENT, "dim 1073741824 is out of range");
}

/* ---- errors ---- */
static void test_errors(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(2, 3), GT_FLOAT32, DEV),
      *y = gt_ones(GT_SHAPE(4), GT_FLOAT32, DEV);
  const gt_tensor *none = NULL;
  REFUSED(gt_sum(NULL, x, GT_DIM(2), 0), GT_ERROR_ARGUMENT,
          "gt_sum: dim 2 is out of range for 2 dimensions");
  REFUSED(gt_mean(NULL, x, GT_DIM(-3), 0), GT_ERROR_ARGUMENT,
          "gt_mean: dim -3 is out of range for 2 dimensions");
  REFUSED(gt_sum(NULL, x, GT_DIM(8), 0), GT_ERROR_ARGUMENT,
          "gt_sum: dims 0x80000000 is not GT_ALL, nor GT_DIM(d), d from -8 to 7");
  REFUSED(gt_sum(NULL, x, 1u << 24, 0), GT_ERROR_ARGUMENT, "dims 0x1000000 is not GT_ALL");
  REFUSED(gt_max(NULL, gt_ones(GT_SHAPE_0D, GT_INT8, DEV), GT_DIM(1), 0), GT_ERROR_ARGUMENT,
          "gt_max: dim 1 is out of range for 0 dimensions");
  REFUSED(gt_sum(NULL, NULL, GT_ALL, 0), GT_ERROR_ARGUMENT, "gt_sum: operand 1 is NULL");
  REFUSED(gt_var(NULL, NULL, GT_ALL, 1, 0), GT_ERROR_ARGUMENT, "gt_var: operand 1 is NULL");
  REFUSED(gt_norm(NULL, NULL, 2, GT_ALL, 0), GT_ERROR_ARGUMENT, "gt_norm: operand 1 is NULL");
  REFUSED(gt_softmax(NULL, NULL, 0), GT_ERROR_ARGUMENT, "gt_softmax: operand 1 is NULL");
  REFUSED(gt_logsumexp(NULL, NULL, GT_ALL, 0), GT_ERROR_ARGUMENT,
          "gt_logsumexp: operand 1 is NULL");
  REFUSED(gt_sum(y, x, GT_DIM(1), 0), GT_ERROR_SHAPE,
          "gt_sum: the output is (4,), the result (2,)");
  REFUSED(gt_sum(y, x, GT_DIM(1), 1), GT_ERROR_SHAPE,
          "gt_sum: the output is (4,), the result (2, 1)");
  REFUSED(gt_var(y, x, GT_DIM(1), 1, 0), GT_ERROR_SHAPE,
          "gt_var: the output is (4,), the result (2,)");
  REFUSED(gt_norm(y, x, 3, GT_DIM(1), 0), GT_ERROR_SHAPE,
          "gt_norm: the output is (4,), the result (2,)");
  REFUSED(gt_logsumexp(y, x, GT_DIM(1), 0), GT_ERROR_SHAPE,
          "gt_logsumexp: the output is (4,), the result (2,)");
  REFUSED(gt_softmax(y, x, 1), GT_ERROR_SHAPE, "gt_softmax: the output is (4,), the result (2, 3)");
  REFUSED(gt_softmax(NULL, x, 2), GT_ERROR_ARGUMENT, "gt_softmax: dim 2 is out of range");
  REFUSED(gt_log_softmax(NULL, x, -3), GT_ERROR_ARGUMENT, "gt_log_softmax: dim -3 is out of range");
  REFUSED(gt_softmax(NULL, gt_ones(GT_SHAPE_0D, GT_FLOAT32, DEV), 5), GT_ERROR_ARGUMENT,
          "gt_softmax: dim 5 is out of range");
  REFUSED(gt_logsumexp(NULL, x, GT_DIM(4), 0), GT_ERROR_ARGUMENT,
          "gt_logsumexp: dim 4 is out of range");
  REFUSED(gt_std(NULL, x, GT_DIM(4), 1, 0), GT_ERROR_ARGUMENT, "gt_std: dim 4 is out of range");
  REFUSED(gt_norm(NULL, x, (double)NAN, GT_ALL, 0), GT_ERROR_ARGUMENT, "gt_norm: p is NaN");
  REFUSED(gt_reduce(NULL, (gt_reduction)9, GT_ALL, 0, "a", x), GT_ERROR_ARGUMENT,
          "gt_reduce: 9 is not a reduction");
  REFUSED(gt_reduce(NULL, (gt_reduction)-1, GT_ALL, 0, "a", x), GT_ERROR_ARGUMENT,
          "gt_reduce: -1 is not a reduction");
  REFUSED(gt_reduce_n(NULL, GT_SUM, GT_ALL, 0, NULL, 0, NULL), GT_ERROR_ARGUMENT,
          "gt_reduce: the text is NULL");
  REFUSED(gt_reduce_n(NULL, GT_SUM, GT_ALL, 0, "a", 1, &none), GT_ERROR_ARGUMENT,
          "gt_reduce: operand 1 is NULL");
  REFUSED(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a + b", x, y), GT_ERROR_SHAPE,
          "gt_reduce: operand 2 (4,) does not broadcast with (2, 3)");
  REFUSED(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a +", x), GT_ERROR_EXPRESSION, "gt_reduce");
  REFUSED(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a + b", x), GT_ERROR_EXPRESSION, "gt_reduce");
  gt_sum(NULL, x, GT_DIM(7), 0); /* a pending error passes through */
  CHECK(gt_softmax(NULL, gt_sum(NULL, NULL, GT_ALL, 0), 0) == NULL);
  CHECK_STR(gt_error_message(), "gt_sum: dim 7 is out of range for 2 dimensions");
  gt_clear_error();
  CHECK_VALUES(y, 1, 1, 1, 1); /* untouched */
}

int main(int argc, char **argv) {
  int i, hash = 0;
  check_start("reduce", argc, argv);
  for (i = 1; i < argc; i++) hash |= strcmp(argv[i], "--hash") == 0;
  fill_pools();
  RUN(every_reduction);
  RUN(broadcast_inputs);
  RUN(given_outputs);
  RUN(overlapping_outputs);
  RUN(the_plan);
  RUN(plan_of_split_dims);
  RUN(expressions);
  RUN(dtypes);
  RUN(empty);
  RUN(truths_of_texts);
  RUN(nan_and_ties);
  RUN(one_decides);
  RUN(exact_sums);
  RUN(half_accumulation);
  RUN(statistics);
  RUN(statistics_of_specials);
  RUN(statistics_into_outputs);
  RUN(soft_rows);
  RUN(large);
  RUN(number_of_threads);
  RUN(sets_of_dims);
  RUN(errors);
  free_pools();
  if (hash) printf("hash %016" PRIx64 "\n", check_hash_state);
  return check_finish();
}
