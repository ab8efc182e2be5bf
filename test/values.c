/* Values that were wrong, or that nobody looked at: results in range whose squares are not, factors
   that alpha leaves unread, products that nothing may broadcast, outputs of another dtype, memory
   that is input and output at once, and elements that lie apart. */
#include "check.h"

#define F32(shape, ...) TENSOR(GT_FLOAT32, shape, __VA_ARGS__)

/* ---- std, var and norm ---- */
typedef struct { long double mean, var, norm; } moments;
static moments moments_of(gt_dtype t, const void *p, int64_t n, double correction) {
  moments m = {0, 0, 0};
  int64_t i;
  for (i = 0; i < n; i++) m.mean += (long double)load(t, p, i) / (long double)n;
  for (i = 0; i < n; i++) {
    const long double x = load(t, p, i), d = x - m.mean;
    m.var += d * d / (long double)((double)n - correction);
    m.norm += x * x;
  }
  m.norm = sqrtl(m.norm);
  return m;
}
/* Half a unit of the dtype, and for sums of float64 some more. */
static double precision_of(gt_dtype t) {
  return t == GT_FLOAT16 ? 0x1.02p-11 : t == GT_BFLOAT16 ? 0x1.02p-8 : t == GT_FLOAT32 ? 0x1.02p-24 : 0x1p-46;
}
static double range_of(gt_dtype t) {
  return t == GT_FLOAT16 ? 65504 : t == GT_FLOAT64 ? DBL_MAX : FLT_MAX;
}
static double least_of(gt_dtype t) { /* the smallest of full precision */
  return t == GT_FLOAT16 ? 0x1p-14 : t == GT_FLOAT64 ? DBL_MIN : FLT_MIN;
}
static void check_moment(const char *what, const gt_tensor *x, double scale, const gt_tensor *got,
                         long double want, int64_t i) {
  void *p = values_of(got);
  const long double value = got ? load(got->dtype, p, i) : -1;
  if (want <= range_of(x->dtype) && want >= least_of(x->dtype))
    CHECK_TEXT(fabsl(value / want - 1) <= precision_of(x->dtype), "%s of %s times %g: %.17Lg, not %.17Lg",
               what, gt_dtype_string(x->dtype), scale, value, want);
  free(p);
}
/* Rows of x, of which each has its own magnitude. */
static void check_moments(const gt_tensor *x, double scale) {
  const int64_t n = x->shape[1];
  void *p = values_of(x);
  int64_t row;
  gt_tensor *var = gt_var(NULL, x, GT_DIM(1), 1, 0), *norm = gt_norm(NULL, x, 2, GT_DIM(1), 0);
  gt_tensor *transposed = gt_contiguous(gt_transpose(x, 0, 1)), *std = gt_std(NULL, transposed, GT_DIM(0), 0, 1);
  CHECK_SHAPE(std, 1, 4);
  for (row = 0; row < 4; row++) {
    const char *at = (const char *)p + (size_t)(row * n) * gt_dtype_size(x->dtype);
    const moments m1 = moments_of(x->dtype, at, n, 1), m0 = moments_of(x->dtype, at, n, 0);
    check_moment("var", x, scale, var, m1.var, row);
    check_moment("std", x, scale, std, sqrtl(m0.var), row);
    check_moment("norm", x, scale, norm, m0.norm, row);
  }
  check_moment("std of all", x, scale, gt_std(NULL, x, GT_ALL, 1, 0),
               sqrtl(moments_of(x->dtype, p, 4 * n, 1).var), 0);
  check_moment("norm of all", x, scale, gt_norm(NULL, transposed, 2, GT_ALL, 0),
               moments_of(x->dtype, p, 4 * n, 1).norm, 0);
  free(p);
  p = values_of(var);
  digest(x->dtype, p, 4);
  free(p);
}
static void test_moments(void) {
  static const double scales[] = {1, 7e-3, 1e4, 1e18, 1e19, 1e25, 2e37, 1e-18, 1e-22, 1e-25, 1e-30, 1e-36,
                                  1e100, 1e153, 1e154, 1e200, 2e307, 1e-100, 1e-153, 1e-170, 1e-200, 1e-300};
  unsigned s;
  int t, i, row;
  for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
    for (s = 0; s < sizeof scales / sizeof *scales; s++) {
      enum { N = 1000 };
      static double v[4 * N];
      if (scales[s] > range_of((gt_dtype)t) / 8 || scales[s] < least_of((gt_dtype)t) * 8) continue;
      for (row = 0; row < 4; row++)
        for (i = 0; i < N; i++) v[row * N + i] = rnd_between(-3, 3) * scales[s] / (1 + 3 * row);
      GT_SCOPE { check_moments(tensor_of(GT_SHAPE(4, N), (gt_dtype)t, v), scales[s]); }
    }
  /* a mean that is in range though the sum is not, and rows far apart */
  CHECK_NUM(gt_item(gt_std(NULL, F32(GT_SHAPE(4), 3e38, -3e38, 3e38, -3e38), GT_ALL, 0, 0)), (float)3e38);
  CHECK_NUM(gt_item(gt_std(NULL, TENSOR(GT_FLOAT64, GT_SHAPE(4), 0x1p1023, 0x1p1023, 0x1p1023, 0x1.8p1023),
                           GT_ALL, 1, 0)), 0x1p1021);
  CHECK_VALUES(gt_norm(NULL, F32(GT_SHAPE(3, 2), 3e-30f, 4e-30f, 0x3p90, 0x4p90, 3, 4), 2, GT_DIM(1), 0),
               5e-30f, 0x5p90, 5);
  CHECK_VALUES(gt_norm(NULL, TENSOR(GT_FLOAT64, GT_SHAPE(3, 2), 0x3p-900, 0x4p-900, 0x3p900, 0x4p900, 3, 4),
                       2, GT_DIM(1), 1), 0x5p-900, 0x5p900, 5);
  CHECK_VALUES(gt_var(NULL, TENSOR(GT_FLOAT64, GT_SHAPE(2, 2), 0x3p-500, 0x5p-500, 0x3p500, 0x5p500),
                      GT_DIM(1), 1, 0), 0x2p-1000, 0x2p1000);
  CHECK_NUM(gt_item(gt_norm(NULL, F32(GT_SHAPE(3), 1e20f, 1, 1), 2, GT_ALL, 0)), 1e20f);
  CHECK_NUM(gt_item(gt_norm(NULL, TENSOR(GT_FLOAT64, GT_SHAPE(3), 1e200, 1, 1), 2, GT_ALL, 0)), 1e200);
}
static void test_moments_of_what_is_not_ordinary(void) {
  gt_tensor *big = F32(GT_SHAPE(2, 2), INFINITY, 1, NAN, 1), *none = gt_zeros(GT_SHAPE(2, 0), GT_FLOAT64, DEV);
  gt_tensor *ints = TENSOR(GT_INT32, GT_SHAPE(4), 1000000000, 1000000001, 1000000000, 1000000001);
  static const double nine[10] = {9e18, -9e18, 9e18, -9e18, 9e18, -9e18, 9e18, -9e18, 9e18, -9e18};
  int t;
  for (t = GT_BFLOAT16; t <= GT_FLOAT64; t++) {
    gt_tensor *x = gt_to_dtype(big, (gt_dtype)t);
    CHECK_VALUES(gt_var(NULL, x, GT_DIM(1), 1, 0), NAN, NAN);
    CHECK_VALUES(gt_norm(NULL, x, 2, GT_DIM(1), 0), INFINITY, NAN);
    CHECK_VALUES(gt_norm(NULL, x, 3, GT_DIM(1), 0), INFINITY, NAN);
    CHECK_VALUES(gt_norm(NULL, gt_zeros(GT_SHAPE(3), (gt_dtype)t, DEV), 2, GT_ALL, 0), 0);
    CHECK_VALUES(gt_std(NULL, gt_zeros(GT_SHAPE(3), (gt_dtype)t, DEV), GT_ALL, 1, 0), 0);
  }
  CHECK_VALUES(gt_norm(NULL, none, 2, GT_DIM(1), 0), 0, 0);
  CHECK_VALUES(gt_norm(NULL, none, 3, GT_DIM(1), 0), 0, 0);
  CHECK_VALUES(gt_std(NULL, none, GT_DIM(1), 1, 0), NAN, NAN);
  CHECK_INT(gt_numel(gt_std(NULL, none, GT_DIM(0), 1, 0)), 0);
  CHECK_NUM(gt_item(gt_var(NULL, TENSOR(GT_FLOAT64, GT_SHAPE_0D, 5), GT_ALL, 0, 0)), 0);
  CHECK_NUM(gt_item(gt_norm(NULL, TENSOR(GT_FLOAT64, GT_SHAPE_0D, -5), 2, GT_ALL, 0)), 5);
  /* integers: differences that float32 does not see, squares that it does not hold */
  CHECK_NUM(gt_item(gt_var(NULL, ints, GT_ALL, 0, 0)), 0.25);
  CHECK_NUM(gt_item(gt_var(NULL, tensor_of(GT_SHAPE(10), GT_INT64, nine), GT_ALL, 0, 0)), (float)81e36);
  /* into given outputs, one of them the input's own row */
  {
    gt_tensor *x = TENSOR(GT_FLOAT64, GT_SHAPE(2, 2), 0x3p600, 0x5p600, 2, 6), *out = gt_select(x, 1, 0);
    CHECK(gt_std(out, x, GT_DIM(1), 0, 0) == out);
    CHECK_VALUES(x, 0x1p600, 0x5p600, 2, 6);
    CHECK_VALUES(gt_norm(gt_zeros(GT_SHAPE(2), GT_FLOAT32, DEV), x, INFINITY, GT_DIM(1), 0), INFINITY, 6);
  }
}
static void test_powers(void) {
  static const double p[] = {3, 4, 2.5, 1.5, 20, 300, -1, -3, -300, 0.5, 0.01, -0.5, -0.01, 1, INFINITY};
  static const double scales[] = {1, 1e15, 1e-15, 1e30, 1e-30, 1e100, 1e-100};
  unsigned k, s;
  int t;
  for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
    for (s = 0; s < sizeof scales / sizeof *scales; s++)
      for (k = 0; k < sizeof p / sizeof *p; k++) GT_SCOPE {
          const double c = scales[s], error = t <= GT_BFLOAT16 ? 0x1p-7 : t == GT_FLOAT32 ? 3e-5 : 1e-12;
          gt_tensor *x = TENSOR((gt_dtype)t, GT_SHAPE(2, 4), 3 * c, -4 * c, 5 * c, c, 2 * c, 2 * c, -c, 7 * c);
          void *v = values_of(x);
          gt_tensor *got = gt_norm(NULL, x, p[k], GT_DIM(-1), 0), *base = gt_zeros(GT_SHAPE(4), (gt_dtype)t, DEV);
          gt_tensor *apart = gt_slice(base, 0, 0, 4, 2);
          int row, i;
          if (c > range_of((gt_dtype)t) / 8 || c < least_of((gt_dtype)t) * 8) { free(v); continue; }
          for (row = 0; row < 2; row++) {
            long double sum = 0, want, unit = 0;
            for (i = 0; i < 4; i++) {
              const long double a = fabsl((long double)load((gt_dtype)t, v, 4 * row + i));
              if (!i || (p[k] > 0 ? a > unit : a < unit)) unit = a;
            }
            for (i = 0; i < 4; i++)
              sum += powl(fabsl((long double)load((gt_dtype)t, v, 4 * row + i)) / unit, p[k]);
            want = isinf(p[k]) ? unit : unit * powl(sum, 1 / (long double)p[k]);
            if (want > range_of((gt_dtype)t)) want = INFINITY;
            if (want < least_of((gt_dtype)t)) continue;
            CHECK_TEXT(isinf(want) ? isinf(gt_item(gt_select(got, 0, row)))
                                   : fabsl(gt_item(gt_select(got, 0, row)) / want - 1) < error *
                                         (fabs(p[k]) < 1 ? 1 / fabs(p[k]) : 1),
                       "norm %g of %s times %g is %g, not %Lg", p[k], gt_dtype_string((gt_dtype)t), c,
                       gt_item(gt_select(got, 0, row)), want);
          }
          CHECK(gt_norm(apart, x, p[k], GT_DIM(1), 0) == apart);
          CHECK_SAME(apart, got);
          free(v);
        }
  CHECK_VALUES(gt_norm(NULL, F32(GT_SHAPE(2, 2), 0, 0, 0, 8), 3, GT_DIM(1), 0), 0, 8);
  CHECK_VALUES(gt_norm(NULL, F32(GT_SHAPE(2, 2), 0, 0, 0, 8), -3, GT_DIM(1), 0), 0, 0);
}

/* ---- what stands behind a product ---- */
static void test_product_shape(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(5, 3), GT_FLOAT32, DEV), *w = gt_ones(GT_SHAPE(1, 3), GT_FLOAT32, DEV);
  gt_tensor *b = gt_ones(GT_SHAPE(3, 1), GT_FLOAT32, DEV), *v = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV);
  gt_tensor *five = gt_ones(GT_SHAPE(5), GT_FLOAT32, DEV), *c = gt_ones(GT_SHAPE(5, 2), GT_FLOAT32, DEV);
  REFUSED(gt_linear(NULL, x, w, five), GT_ERROR_SHAPE,
          "gt_linear: (5,) does not broadcast to the product's shape (5, 1)");
  REFUSED(gt_linear(NULL, x, w, gt_ones(GT_SHAPE(2, 1, 1), GT_FLOAT32, DEV)), GT_ERROR_SHAPE,
          "gt_linear: (2, 1, 1) does not broadcast to the product's shape (5, 1)");
  REFUSED(gt_addmm(NULL, c, x, b, 1, 1), GT_ERROR_SHAPE,
          "gt_addmm: (5, 2) does not broadcast to the product's shape (5, 1)");
  REFUSED(gt_addmm(NULL, gt_ones(GT_SHAPE(4, 5, 1), GT_FLOAT32, DEV), x, b, 1, 1), GT_ERROR_SHAPE,
          "gt_addmm: (4, 5, 1) does not broadcast to the product's shape (5, 1)");
  REFUSED(gt_addmm(NULL, c, x, v, 1, 1), GT_ERROR_SHAPE, "gt_addmm");
  REFUSED(gt_addmm(NULL, c, x, b, 1, 0), GT_ERROR_SHAPE, "the product's shape (5, 1)");
  REFUSED(gt_addmm(NULL, gt_ones(GT_SHAPE(5, 1), GT_FLOAT64, DEV), gt_ones(GT_SHAPE(1, 3), GT_FLOAT32, DEV),
                   b, 1, 1), GT_ERROR_SHAPE, "gt_addmm");
  /* what has fewer elements is broadcast as before, and gt_matmul_eval broadcasts both */
  CHECK_VALUES(gt_linear(NULL, x, w, gt_ones(GT_SHAPE(1), GT_FLOAT32, DEV)), 4, 4, 4, 4, 4);
  CHECK_VALUES(gt_linear(NULL, x, w, gt_scalar(2)), 5, 5, 5, 5, 5);
  CHECK_VALUES(gt_addmm(NULL, gt_ones(GT_SHAPE(5, 1), GT_FLOAT32, DEV), x, b, 2, 1), 5, 5, 5, 5, 5);
  CHECK_VALUES(gt_addmm(NULL, five, x, v, 2, 1), 5, 5, 5, 5, 5);
  CHECK_SHAPE(gt_matmul_eval(NULL, x, b, "a + b", c), 5, 2);
}
static void test_unread_factors(void) {
  gt_tensor *bad = F32(GT_SHAPE(2, 2), NAN, INFINITY, -INFINITY, NAN), *ones = gt_ones(GT_SHAPE(2, 2), GT_FLOAT32, DEV);
  gt_tensor *c = F32(GT_SHAPE(2), 3, -0.0), *out = gt_ones(GT_SHAPE(2, 2), GT_FLOAT32, DEV), *y;
  gt_tensor *i = TENSOR(GT_INT32, GT_SHAPE(2, 2), 5, 6, 7, 8), *wide = TENSOR(GT_FLOAT64, GT_SHAPE(2, 1), 0x1p-30, 1);
  float *p;
  CHECK_VALUES(gt_addmm(NULL, ones, bad, ones, 2, 0), 2, 2, 2, 2);
  CHECK_VALUES(gt_addmm(NULL, ones, ones, bad, 2, -0.0), 2, 2, 2, 2);
  CHECK(gt_addmm(out, c, bad, bad, 1, 0) == out);
  CHECK_VALUES(out, 3, 0, 3, 0);
  p = (float *)values_of(out);
  CHECK(signbit(p[1]) && signbit(p[3]));
  free(p);
  CHECK_VALUES(gt_addmm(NULL, NULL, bad, bad, 0, 0), 0, 0, 0, 0);
  CHECK_VALUES(gt_addmm(NULL, bad, bad, bad, 0, 0), 0, 0, 0, 0);
  CHECK_VALUES(gt_addmm(NULL, bad, ones, ones, 0, 1), 2, 2, 2, 2);
  y = gt_addmm(NULL, wide, bad, ones, 1, 0); /* computed in another type than the product */
  CHECK_VALUES(y, 0x1p-30, 0x1p-30, 1, 1);
  CHECK_INT(y->dtype, GT_FLOAT64);
  y = gt_addmm(NULL, i, i, i, 3, 0);
  CHECK_VALUES(y, 15, 18, 21, 24);
  CHECK_INT(y->dtype, GT_INT32);
  CHECK_VALUES(gt_addmm(NULL, c, gt_select(bad, 0, 0), bad, 2, 0), 6, 0); /* a vector times a matrix */
  y = gt_expand(bad, GT_SHAPE(3, 2, 2));
  CHECK_VALUES(gt_addmm(NULL, c, y, bad, 2, 0), 6, 0, 6, 0, 6, 0, 6, 0, 6, 0, 6, 0);
  REFUSED(gt_addmm(NULL, c, bad, gt_ones(GT_SHAPE(3, 2), GT_FLOAT32, DEV), 1, 0), GT_ERROR_SHAPE, "inner sizes");
}

/* ---- outputs of another dtype: as gt_copy ---- */
static void test_converted_results(void) {
  static const double values[] = {-2.7, -0.5, 0, 0.5, 1.5, 127.9, 300, 40000.7, -1e30, 1e30, NAN, INFINITY};
  gt_tensor *x = tensor_of(GT_SHAPE(12), GT_FLOAT32, values), *half = F32(GT_SHAPE(2), 0.75, 0.75);
  gt_tensor *i = TENSOR(GT_INT32, GT_SHAPE(4), 1, 2, 3, -4), *list[2] = {half, half}, *y;
  gt_tensor *const one = gt_ones(GT_SHAPE(1, 2), GT_FLOAT32, DEV), *column = gt_unsqueeze(half, 1);
  int t, from;
#define OUT(dtype, ...) gt_zeros(GT_SHAPE(__VA_ARGS__), dtype, DEV)
  CHECK_VALUES(gt_eval(OUT(GT_UINT8, 12), "a", x), 0, 0, 0, 0, 1, 127, 255, 255, 0, 255, 0, 255);
  CHECK_VALUES(gt_eval(OUT(GT_BOOL, 12), "a", x), 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1);
  for (from = GT_FLOAT16; from <= GT_FLOAT64; from++)
    for (t = GT_BOOL; t <= GT_INT64; t++) GT_SCOPE {
        gt_tensor *z = gt_to_dtype(x, (gt_dtype)from), *copied = gt_copy(OUT((gt_dtype)t, 12), z);
        gt_tensor *apart = gt_slice(OUT((gt_dtype)t, 24), 0, 0, 24, 2);
        CHECK_SAME(gt_eval(OUT((gt_dtype)t, 12), "a*1", z), copied);
        CHECK_SAME(gt_maximum(apart, z, z), copied);
        CHECK_SAME(gt_max(OUT((gt_dtype)t, 12), gt_unsqueeze(z, 0), GT_DIM(0), 0), copied);
      }
  CHECK_VALUES(gt_add(OUT(GT_INT32, 2), half, half), 1, 1);
  CHECK(gt_eval(i, "a*0.5 + 0.25", i) == i); /* in place */
  CHECK_VALUES(i, 0, 1, 1, -1);
  /* numbers alone are computed in float64 */
  CHECK_VALUES(gt_eval_n(OUT(GT_INT64, 1), "16777216.0 + 1", 0, NULL), 16777217);
  CHECK_VALUES(gt_eval_n(OUT(GT_INT32, 1), "-2.5", 0, NULL), -2);
  CHECK_VALUES(gt_eval(OUT(GT_INT64, 1), "a", gt_scalar(16777217.5)), 16777217);
  CHECK_VALUES(gt_eval_n(OUT(GT_BOOL, 1), "1e-300", 0, NULL), 1);
  /* folds, products, joins */
  CHECK_VALUES(gt_sum(OUT(GT_INT32, 1), half, GT_ALL, 1), 1);
  CHECK_VALUES(gt_reduce(OUT(GT_UINT8, 1), GT_MEAN, GT_ALL, 1, "a*4", half), 3);
  CHECK_VALUES(gt_norm(OUT(GT_INT16, 1), half, 3, GT_ALL, 1), 0);
  CHECK_VALUES(gt_std(OUT(GT_INT8, 1), TENSOR(GT_FLOAT64, GT_SHAPE(2), 1, 8), GT_ALL, 0, 1), 3);
  CHECK_VALUES(gt_softmax(OUT(GT_INT8, 2), F32(GT_SHAPE(2), 0, 200), 0), 0, 1);
  CHECK_VALUES(gt_matmul(OUT(GT_INT64, 1, 1), one, column), 1);
  CHECK_VALUES(gt_matmul_eval(OUT(GT_INT8, 1, 1), one, column, "a * -100"), -128);
  CHECK_VALUES(gt_linear(OUT(GT_INT32, 1, 1), one, one, F32(GT_SHAPE(1), 0.9)), 2);
  CHECK_VALUES(gt_cat(OUT(GT_INT32, 4), 2, (const gt_tensor *const *)list, 0), 0, 0, 0, 0);
  y = TENSOR(GT_INT64, GT_SHAPE(2), 6, 4);
  CHECK_VALUES(gt_index_select(OUT(GT_INT32, 2), x, 0, y), 300, 1);
}

/* Floats near the limits of every integer type become what C's conversion, cut at the limits, says. */
static void test_limits_of_integers(void) {
  static const double limits[] = {0, 1, 127, 128, 255, 256, 32767, 32768, 2147483520, 2147483647, 2147483648.0,
                                  2147483904.0, 0x1p53, 0x1p63, 0x1p64, 1e300};
  static const double beside[] = {0, 0.25, 0.5, 0.999, 1};
  static double v[640];
  int t, from, n = 0;
  unsigned i, k;
  for (i = 0; i < sizeof limits / sizeof *limits; i++)
    for (k = 0; k < sizeof beside / sizeof *beside; k++) {
      v[n++] = limits[i] + beside[k];
      v[n++] = limits[i] - beside[k];
      v[n++] = -limits[i] + beside[k];
      v[n++] = -limits[i] - beside[k];
    }
  v[n++] = NAN;
  v[n++] = -INFINITY;
  for (from = GT_FLOAT16; from <= GT_FLOAT64; from++)
    for (t = GT_UINT8; t <= GT_INT64; t++) GT_SCOPE {
        gt_tensor *x = tensor_of(GT_SHAPE(n), (gt_dtype)from, v), *y = gt_to_dtype(x, (gt_dtype)t);
        void *p = values_of(x), *q = values_of(y);
        int j;
        for (j = 0; j < n; j++)
          if (load_int((gt_dtype)t, q, j) != to_int(load((gt_dtype)from, p, j), (gt_dtype)t)) break;
        CHECK_TEXT(j == n, "%s %.17g becomes %s %" PRId64, gt_dtype_string((gt_dtype)from),
                   load((gt_dtype)from, p, j), gt_dtype_string((gt_dtype)t), load_int((gt_dtype)t, q, j));
        free(p);
        free(q);
      }
}

/* ---- memory that is input and output ---- */
enum { LONG = 5001 }; /* several blocks of a CPU's evaluator, and of a GPU */
static void test_overlap_by_one(void) {
  int t, first, k;
  for (t = 0; t < GT_DTYPES; t++)
    for (first = 0; first < 2; first++) /* is the input in front? */
      for (k = 0; k < 3; k++) GT_SCOPE {
          gt_tensor *base = random_tensor(GT_SHAPE(2 * LONG - 1), (gt_dtype)t, DEV);
          gt_tensor *a = gt_slice(base, 0, 0, LONG, 1), *b = gt_slice(base, 0, LONG - 1, 2 * LONG - 1, 1);
          gt_tensor *in = first ? a : b, *out = first ? b : a, *before = gt_copy(NULL, in), *want;
          want = k == 1 ? gt_add(NULL, before, before) : before;
          if (k == 0) CHECK(gt_copy(out, in) == out);
          if (k == 1) CHECK(gt_add(out, in, in) == out);
          if (k == 2) CHECK(gt_cat(out, 1, (const gt_tensor *const *)&in, 0) == out);
          CHECK_SAME(out, want);
        }
}
static void test_wraps_of_one_address(void) {
  static const gt_dtype pairs[][2] = {{GT_INT32, GT_FLOAT64}, {GT_FLOAT64, GT_INT32}, {GT_UINT8, GT_FLOAT32},
                                      {GT_FLOAT32, GT_INT8}, {GT_FLOAT16, GT_INT64}, {GT_INT64, GT_BFLOAT16}};
  unsigned k;
  int way;
  for (k = 0; k < sizeof pairs / sizeof *pairs; k++)
    for (way = 0; way < 3; way++) GT_SCOPE {
        const gt_dtype from = pairs[k][0], to = pairs[k][1];
        gt_tensor *memory = gt_zeros(GT_SHAPE(LONG), GT_FLOAT64, DEV);
        gt_tensor *in = gt_from_ptr(gt_data(memory), GT_SHAPE(LONG), from, DEV, NULL, NULL);
        gt_tensor *out = gt_from_ptr(gt_data(memory), GT_SHAPE(LONG), to, DEV, NULL, NULL);
        gt_tensor *fresh = random_tensor(GT_SHAPE(LONG), from, DEV), *want = gt_to_dtype(fresh, to);
        gt_copy(in, fresh);
        if (way == 0) CHECK(gt_copy(out, in) == out);
        if (way == 1) CHECK(gt_eval(out, "a", in) == out);
        if (way == 2) CHECK(gt_max(out, gt_unsqueeze(in, 0), GT_DIM(0), 0) == out);
        CHECK_SAME(out, want);
        gt_synchronize(DEV); /* before the memory goes */
      }
}

/* ---- elements that lie apart, as the channels of an image ---- */
static void test_channels(void) {
  static const int64_t lengths[] = {1, 2, 3, 4, 5, 63, 511, 513, 1500};
  unsigned n;
  int t, step;
  int64_t i;
  for (t = 0; t < GT_DTYPES; t++)
    for (step = 1; step <= 6; step++)
      for (n = 0; n < sizeof lengths / sizeof *lengths; n++) GT_SCOPE {
          const int64_t length = lengths[n], offset = rnd_below(step);
          gt_tensor *base = random_tensor(GT_SHAPE(length, step), (gt_dtype)t, DEV);
          gt_tensor *channel = gt_select(base, 1, (int)offset), *fresh, *float_too;
          void *p = values_of(base), *q = values_of(gt_contiguous(channel)), *r;
          for (i = 0; i < length; i++)
            if (bits_at((gt_dtype)t, p, i * step + offset) != bits_at((gt_dtype)t, q, i)) break;
          CHECK_TEXT(i == length, "%s, 1 of %d: element %d was read wrong", gt_dtype_string((gt_dtype)t), step, (int)i);
          free(q);
          fresh = random_tensor(GT_SHAPE(length), (gt_dtype)t, DEV);
          float_too = gt_to_dtype(fresh, GT_FLOAT64);
          gt_copy(channel, rnd_below(2) ? fresh : float_too);
          q = values_of(fresh);
          r = values_of(base);
          for (i = 0; i < length * step; i++)
            if (bits_at((gt_dtype)t, r, i) != (i % step == offset ? bits_at((gt_dtype)t, q, i / step)
                                                                   : bits_at((gt_dtype)t, p, i))) break;
          CHECK_TEXT(i == length * step, "%s, 1 of %d: element %d was written wrong", gt_dtype_string((gt_dtype)t),
                     step, (int)i);
          free(p);
          free(q);
          free(r);
        }
}
static void test_pixels(void) {
  int t, wide, first, count, layout;
  int64_t i;
  for (t = 0; t < GT_DTYPES; t++)
    for (wide = 2; wide <= 6; wide++)
      for (count = 1; count < wide; count++)
        for (layout = 0; layout < 2; layout++) GT_SCOPE { /* by rows; across them */
            enum { H = 5, W = 173 };
            gt_tensor *image = random_tensor(GT_SHAPE(H, W, wide), (gt_dtype)t, DEV), *part, *fresh, *transposed;
            void *p = values_of(image), *q, *r;
            first = (int)rnd_below(wide - count + 1);
            part = gt_slice(image, 2, first, first + count, 1);
            transposed = layout ? gt_transpose(part, 0, 2) : part;
            q = values_of(gt_contiguous(transposed));
#define PLACE(i) /* of an element of `transposed`, in the image */ \
  (layout ? ((i) % H * W + (i) / H % W) * wide + first + (i) / H / W : (i) / count * wide + first + (i) % count)
            for (i = 0; i < H * W * count; i++)
              if (bits_at((gt_dtype)t, p, PLACE(i)) != bits_at((gt_dtype)t, q, i)) break;
            CHECK_TEXT(i == H * W * count, "%s, %d of %d: element %d was read wrong",
                       gt_dtype_string((gt_dtype)t), count, wide, (int)i);
            free(q);
            fresh = random_tensor(gt_shape_of(transposed), (gt_dtype)t, DEV);
            gt_copy(transposed, fresh);
            q = values_of(fresh);
            r = values_of(image);
            for (i = 0; i < H * W * count; i++)
              memcpy((char *)p + PLACE(i) * (int64_t)gt_dtype_size((gt_dtype)t),
                     (char *)q + i * (int64_t)gt_dtype_size((gt_dtype)t), gt_dtype_size((gt_dtype)t));
            CHECK_TEXT(!memcmp(p, r, gt_nbytes(image)), "%s, %d of %d: written wrong",
                       gt_dtype_string((gt_dtype)t), count, wide);
            free(p);
            free(q);
            free(r);
          }
}

int main(int argc, char **argv) {
  check_start("values", argc, argv);
  RUN(moments);
  RUN(moments_of_what_is_not_ordinary);
  RUN(powers);
  RUN(product_shape);
  RUN(unread_factors);
  RUN(converted_results);
  RUN(limits_of_integers);
  RUN(overlap_by_one);
  RUN(wraps_of_one_address);
  RUN(channels);
  RUN(pixels);
  return check_finish();
}
