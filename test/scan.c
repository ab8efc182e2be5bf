/* Running folds along a dim: values bit for bit as THE SCAN of the header's >>machine section has
   them, which is written here once more; dtypes, layouts, NaN, given outputs, in place, in a graph,
   on a stream, errors. */
#include "check.h"

/* ---- the scan, straightforwardly: the folds of runs are scanned by the same function ---- */
enum { RUN_OF = 16 };
static const gt_reduction reductions[] = {GT_SUM, GT_PROD, GT_MAX, GT_MIN};
static const char *const names[] = {"sum", "prod", "", "max", "min"};
static float none_float(gt_reduction r) {
  return r == GT_PROD ? 1.0f : r == GT_MAX ? -INFINITY : r == GT_MIN ? INFINITY : 0.0f;
}
static double none_double(gt_reduction r) { return none_float(r); }
static int64_t none_int64_t(gt_reduction r) {
  return r == GT_PROD ? 1 : r == GT_MAX ? INT64_MIN : r == GT_MIN ? INT64_MAX : 0;
}
#define DEFINE_FLOAT_STEP(T) \
  static T step_##T(gt_reduction r, T a, T b) { \
    if (r == GT_SUM) return a + b; \
    if (r == GT_PROD) return a * b; \
    if (a != a || b != b) return a + b; \
    if (a == b) return (r == GT_MAX) == !signbit(a) ? a : b; \
    return (r == GT_MAX) == (a > b) ? a : b; \
  }
DEFINE_FLOAT_STEP(float)
DEFINE_FLOAT_STEP(double)
static int64_t step_int64_t(gt_reduction r, int64_t a, int64_t b) {
  if (r == GT_SUM) return (int64_t)((uint64_t)a + (uint64_t)b);
  if (r == GT_PROD) return (int64_t)((uint64_t)a * (uint64_t)b);
  return (r == GT_MAX) == (a > b) ? a : b;
}
#define DEFINE_SCAN(T) \
  /* y[i] = what is before x[i]: of the runs in front, and of its own run */ \
  static void before_##T(gt_reduction r, const T *x, T *y, int64_t n) { \
    const int64_t runs = n / RUN_OF; \
    T *upper = (T *)malloc((size_t)(2 * runs + 2) * sizeof(T)), *of_run = upper + runs + 1, run = none_##T(r); \
    int64_t i; \
    for (i = 0; i < n; i++) { \
      if (i % RUN_OF == 0) run = none_##T(r); \
      y[i] = run; \
      run = step_##T(r, run, x[i]); \
      if (i / RUN_OF < runs) of_run[i / RUN_OF] = run; \
    } \
    of_run[runs] = none_##T(r); \
    if (n > RUN_OF) before_##T(r, of_run, upper, runs + 1); \
    for (i = RUN_OF; i < n; i++) y[i] = step_##T(r, upper[i / RUN_OF], y[i]); \
    free(upper); \
  } \
  static void scan_##T(gt_reduction r, const T *x, T *y, int64_t n) { \
    T *upper = (T *)malloc((size_t)(n / RUN_OF + 1) * 2 * sizeof(T)), *of_run = upper + n / RUN_OF + 1; \
    T run = none_##T(r); \
    int64_t i; \
    for (i = 0; i < n; i++) { \
      run = step_##T(r, i % RUN_OF ? run : none_##T(r), x[i]); \
      y[i] = run; \
      of_run[i / RUN_OF] = run; \
    } \
    before_##T(r, of_run, upper, n ? (n - 1) / RUN_OF + 1 : 0); \
    for (i = 0; i < n; i++) y[i] = step_##T(r, upper[i / RUN_OF], y[i]); \
    free(upper); \
  }
DEFINE_SCAN(float)
DEFINE_SCAN(double)
DEFINE_SCAN(int64_t)

static gt_dtype result_dtype(gt_reduction r, gt_dtype t) {
  return is_float(t) || r == GT_MAX || r == GT_MIN ? t : GT_INT64;
}
/* n elements from `at` on, `stride` apart, of row-major p, to the same places of out. */
static void scan_row(gt_reduction r, gt_dtype t, const void *p, int64_t at, int64_t stride, int64_t n,
                     gt_dtype out_type, void *out) {
  float *f = (float *)malloc((size_t)n * 8 + 8);
  double *d = (double *)malloc((size_t)n * 16 + 8);
  int64_t *l = (int64_t *)malloc((size_t)n * 16 + 8), i;
  for (i = 0; i < n; i++) {
    d[i] = load(t, p, at + i * stride);
    f[i] = (float)d[i];
    l[i] = is_float(t) ? 0 : load_int(t, p, at + i * stride);
  }
  if (!is_float(t)) scan_int64_t(r, l, l + n, n);
  else if (t == GT_FLOAT64) scan_double(r, d, d + n, n);
  else scan_float(r, f, f + n, n);
  for (i = 0; i < n; i++) {
    if (!is_float(t)) store_int(out_type, out, at + i * stride, l[n + i]);
    else store(out_type, out, at + i * stride, t == GT_FLOAT64 ? d[n + i] : f[n + i]);
  }
  free(f);
  free(d);
  free(l);
}
static int64_t elements(gt_shape s) {
  int64_t n = 1;
  for (int d = 0; d < s.ndim; d++) n *= s.size[d];
  return n;
}
static void scan_all(gt_reduction r, gt_dtype t, const void *p, gt_shape s, int dim, gt_dtype out_type,
                     void *out) {
  int64_t inner = 1, n = s.ndim ? s.size[dim] : 1, row, rows = elements(s);
  for (int d = dim + 1; d < s.ndim; d++) inner *= s.size[d];
  rows = n ? rows / n : 0;
  for (row = 0; row < rows; row++)
    scan_row(r, t, p, row / inner * n * inner + row % inner, inner, n, out_type, out);
}

/* ---- comparing ---- */
static void check_array(int line, const char *what, const gt_tensor *x, gt_dtype t, const void *want,
                        int64_t n) {
  int64_t i;
  void *got = values_of(x);
  if (!x || x->dtype != t || gt_numel(x) != n) {
    check_report(__FILE__, line, "%s: %s, not %s (%s)", what, x ? gt_dtype_string(x->dtype) : "NULL",
                 gt_dtype_string(t), gt_error_message());
    gt_clear_error();
    free(got);
    return;
  }
  for (i = 0; i < n && same(t, got, want, i); i++) {}
  if (i < n)
    check_report(__FILE__, line, "%s: element %" PRId64 " of %" PRId64 " is %.17g, not %.17g", what, i, n,
                 load(t, got, i), load(t, want, i));
  digest(t, got, n);
  free(got);
}
#define CHECK_ARRAY(x, t, want, n) check_array(__LINE__, #x, x, t, want, n)
static void check_scan(gt_reduction r, const gt_tensor *x, const void *p, int dim, gt_tensor *out) {
  const gt_shape s = gt_shape_of(x);
  const gt_dtype t = out ? out->dtype : result_dtype(r, x->dtype);
  const int64_t n = elements(s);
  const int bad = check_bad;
  void *want = calloc((size_t)n * 8 + 8, 1);
  scan_all(r, x->dtype, p, s, dim, t, want);
  GT_SCOPE {
    gt_tensor *y = gt_scan(out, r, rnd_below(2) ? dim : dim - (s.ndim ? s.ndim : 1), "a", x);
    CHECK_ARRAY(y, t, want, n);
    if (y) check_shape(__FILE__, __LINE__, "the shape", y, s.ndim, s.size);
    if (y && out) CHECK(y == out);
  }
  if (check_bad > bad && check_bad < 8)
    printf("    %s of %s, %d dims (%d %d %d), dim %d\n", names[r], gt_dtype_string(x->dtype), s.ndim,
           (int)s.size[0], (int)s.size[1], (int)s.size[2], dim);
  free(want);
}

/* ---- every dtype, layout, dim ---- */
static void test_every_scan(void) {
  static const gt_shape shapes[] = {
      {0, {0}},        {1, {1}},        {1, {16}},      {1, {17}},         {1, {511}},
      {1, {513}},      {1, {8200}},     {2, {1, 5}},    {2, {4, 1}},       {2, {70, 3}},
      {2, {3, 70}},    {2, {33, 260}},  {2, {520, 37}}, {3, {2, 3, 4}},    {3, {5, 33, 2}},
      {3, {3, 40, 65}}, {3, {2, 600, 5}}, {3, {1, 40, 1}}, {4, {2, 3, 4, 5}}, {4, {3, 1, 2, 7}}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int t = 0; t < GT_DTYPES; t++)
      GT_SCOPE {
        const gt_shape s = shapes[i];
        gt_tensor *x = random_tensor(s, (gt_dtype)t, DEV);
        void *p = values_of(x);
        for (int layout = 0; layout < (s.ndim ? LAYOUTS : 1); layout++) {
          gt_tensor *y = relayout(x, layout);
          for (int dim = 0; dim < (s.ndim ? s.ndim : 1); dim++)
            for (int r = 0; r < 4; r++)
              if (!QUICK || rnd_below(5) == 0) check_scan(reductions[r], y, p, dim, NULL);
        }
        free(p);
      }
}
/* More than a block of a GPU scans at once, along the last dim, the first and one between. */
static void test_long_dims(void) {
  static const gt_shape shapes[] = {{1, {65536}}, {1, {65537}},       {2, {3, 70000}}, {2, {66000, 5}},
                                    {2, {20000, 40}}, {3, {2, 65600, 3}}, {2, {40000, 1}}};
  static const gt_dtype dtypes[] = {GT_FLOAT32, GT_FLOAT64, GT_INT32, GT_BFLOAT16};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int t = 0; t < 4; t++)
      GT_SCOPE {
        const gt_shape s = shapes[i];
        const int dim = s.ndim == 1 || s.size[1] == 70000 || s.ndim == 3 ? s.ndim - 1 - (s.ndim == 3) : 0;
        gt_tensor *x = random_tensor(s, dtypes[t], DEV);
        void *p = values_of(x);
        for (int r = 0; r < 4; r++)
          if (!QUICK || (r + t) % 2 == 0) check_scan(reductions[r], x, p, dim, NULL);
        if (!QUICK) check_scan(GT_SUM, relayout(x, 5), p, dim, NULL);
        free(p);
      }
  if (QUICK) return;
  gt_tensor *x = random_tensor(GT_SHAPE(65536 * 70 + 7), GT_FLOAT32, DEV); /* tiles of chunks */
  void *p = values_of(x);
  check_scan(GT_SUM, x, p, 0, NULL);
  free(p);
}
static void test_expanded(void) {
  gt_tensor *x = gt_expand(gt_full(GT_SHAPE(1, 3), 2, GT_FLOAT32, DEV), GT_SHAPE(4, 3));
  CHECK_VALUES(gt_cumsum(NULL, x, 0), 2, 2, 2, 4, 4, 4, 6, 6, 6, 8, 8, 8);
  CHECK_VALUES(gt_cumprod(NULL, x, 1), 2, 4, 8, 2, 4, 8, 2, 4, 8, 2, 4, 8);
}
static void test_named(void) {
  gt_tensor *x = TENSOR(GT_INT32, GT_SHAPE(2, 3), 3, -1, 4, 1, 5, -9);
  CHECK_VALUES(gt_cumsum(NULL, x, 1), 3, 2, 6, 1, 6, -3);
  CHECK_VALUES(gt_cumprod(NULL, x, -1), 3, -3, -12, 1, 5, -45);
  CHECK_VALUES(gt_cummax(NULL, x, 0), 3, -1, 4, 3, 5, 4);
  CHECK_VALUES(gt_scan(NULL, GT_MIN, 1, "a", x), 3, -1, -1, 1, 1, -9);
  CHECK_INT(gt_cumsum(NULL, x, 1)->dtype, GT_INT64);
  CHECK_INT(gt_cummax(NULL, x, 1)->dtype, GT_INT32);
  CHECK_INT(gt_cumsum(NULL, gt_full(GT_SHAPE(2), 1, GT_BOOL, DEV), 0)->dtype, GT_INT64);
  CHECK_INT(gt_cummax(NULL, gt_full(GT_SHAPE(2), 1, GT_BOOL, DEV), 0)->dtype, GT_BOOL);
  CHECK_VALUES(gt_cumsum(NULL, gt_full(GT_SHAPE_0D, 7, GT_FLOAT16, DEV), -1), 7);
  CHECK_VALUES(gt_cumprod(NULL, TENSOR(GT_INT64, GT_SHAPE(3), 0x1p62, 2, 3), 0), 0x1p62, -0x1p63, -0x1p63);
}
static void test_empty(void) {
  CHECK_SHAPE(gt_cumsum(NULL, gt_empty(GT_SHAPE(0), GT_FLOAT32, DEV), 0), 0);
  CHECK_SHAPE(gt_cummax(NULL, gt_empty(GT_SHAPE(3, 0), GT_FLOAT32, DEV), 0), 3, 0);
  CHECK_SHAPE(gt_cummax(NULL, gt_empty(GT_SHAPE(3, 0), GT_INT8, DEV), 1), 3, 0);
  CHECK_SHAPE(gt_cumprod(NULL, gt_empty(GT_SHAPE(0, 2), GT_BOOL, DEV), 1), 0, 2);
}
static void test_specials(void) {
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(6), -0.0, 1, NAN, 5, INFINITY, -INFINITY);
  CHECK_VALUES(gt_cummax(NULL, x, 0), 0, 1, NAN, NAN, NAN, NAN);
  CHECK_VALUES(gt_scan(NULL, GT_MIN, 0, "a", x), 0, 0, NAN, NAN, NAN, NAN);
  CHECK_VALUES(gt_cumsum(NULL, x, 0), 0, 1, NAN, NAN, NAN, NAN);
  CHECK_VALUES(gt_cumsum(NULL, TENSOR(GT_FLOAT64, GT_SHAPE(3), INFINITY, 1, -INFINITY), 0), INFINITY, INFINITY, NAN);
  CHECK_VALUES(gt_cummax(NULL, TENSOR(GT_FLOAT16, GT_SHAPE(2), -INFINITY, -65504), 0), -INFINITY, -65504);
  for (int n = 600; n < 40000; n += 39000) { /* one NaN is carried on to the end */
    gt_tensor *y = gt_full(GT_SHAPE(n), 1, GT_FLOAT32, DEV);
    gt_fill(gt_slice(y, 0, 530, 531, 1), NAN);
    CHECK_NUM(gt_item(gt_sum(NULL, gt_isnan(NULL, gt_cummax(NULL, y, 0)), GT_ALL, 0)), n - 530);
    CHECK_NUM(gt_item(gt_sum(NULL, gt_isnan(NULL, gt_cumsum(NULL, y, 0)), GT_ALL, 0)), n - 530);
  }
  for (int n = 1; n < 3000; n += 600) { /* a sum begins at +0 */
    gt_tensor *y = gt_cumsum(NULL, gt_full(GT_SHAPE(n), -0.0, GT_FLOAT32, DEV), 0);
    CHECK_NUM(gt_item(gt_sum(NULL, gt_eval(NULL, "1/a == inf", y), GT_ALL, 0)), n);
  }
}
/* float16 adds up in float32: 2048 + 1 would be 2048 for ever. */
static void test_short_floats(void) {
  gt_tensor *y = gt_cumsum(NULL, gt_ones(GT_SHAPE(5000), GT_FLOAT16, DEV), 0);
  CHECK_NUM(gt_item(gt_select(y, 0, 4999)), 5000);
  y = gt_cumsum(NULL, gt_ones(GT_SHAPE(40000, 3), GT_BFLOAT16, DEV), 0);
  CHECK_NUM(gt_item(gt_select(gt_select(y, 0, 32767), 0, 2)), 32768);
}
static void test_given_outputs(void) {
  for (int t = 0; t < GT_DTYPES; t++)
    for (int u = 0; u < GT_DTYPES; u++)
      GT_SCOPE {
        gt_tensor *x = random_tensor(GT_SHAPE(3, 600), (gt_dtype)t, DEV);
        gt_tensor *out = relayout(gt_zeros(GT_SHAPE(3, 600), (gt_dtype)u, DEV), (t + u) % LAYOUTS);
        const int dim = (t + u) % 2;
        gt_tensor *want = gt_to_dtype(gt_cumsum(NULL, x, dim), (gt_dtype)u);
        if (is_float((gt_dtype)t) && gt_dtype_size((gt_dtype)t) == 2) continue; /* rounded once */
        CHECK(gt_cumsum(out, x, dim) == out);
        CHECK_SAME(out, want);
      }
}
static void test_in_place(void) {
  static const gt_shape shapes[] = {{1, {40000}}, {2, {7, 1000}}, {2, {1000, 7}}, {2, {17000, 20}}};
  for (int i = 0; i < 4; i++)
    for (int dim = 0; dim < shapes[i].ndim; dim++)
      for (int layout = 0; layout < LAYOUTS; layout++)
        GT_SCOPE {
          gt_tensor *x = relayout(random_tensor(shapes[i], GT_FLOAT32, DEV), QUICK ? layout % 4 : layout);
          gt_tensor *want = gt_cumsum(NULL, x, dim);
          CHECK(gt_cumsum(x, x, dim) == x);
          CHECK_SAME(x, want);
        }
  /* other overlap goes through a temporary */
  gt_tensor *all = random_tensor(GT_SHAPE(901, 40), GT_FLOAT32, DEV);
  gt_tensor *x = gt_slice(all, 0, 0, 900, 1), *y = gt_slice(all, 0, 1, 901, 1);
  gt_tensor *want = gt_cumsum(NULL, x, 0);
  gt_cumsum(y, x, 0);
  CHECK_SAME(y, want);
  x = random_tensor(GT_SHAPE(50, 50), GT_FLOAT64, DEV);
  want = gt_cumprod(NULL, gt_transpose(x, 0, 1), 1);
  gt_cumprod(x, gt_transpose(x, 0, 1), 1);
  CHECK_SAME(x, want);
}
/* A text in front is what gt_eval makes of it, in the compute type. */
static void test_texts(void) {
  for (int t = 0; t < 2; t++)
    for (int dim = 0; dim < 2; dim++)
      GT_SCOPE {
        const gt_dtype dtype = t ? GT_FLOAT64 : GT_FLOAT32;
        gt_tensor *x = random_tensor(GT_SHAPE(700, 900), dtype, DEV), *y = random_tensor(GT_SHAPE(900), dtype, DEV);
        gt_tensor *z = gt_eval(NULL, "a*b + 1", x, y);
        CHECK_SAME(gt_scan(NULL, GT_SUM, dim, "a*b + 1", x, y), gt_cumsum(NULL, z, dim));
        CHECK_SAME(gt_scan(NULL, GT_MAX, dim, "a*b + 1", gt_slice(x, 1, 0, 900, 1), y), gt_cummax(NULL, z, dim));
        CHECK_SAME(gt_scan(NULL, GT_SUM, dim, "a > b", x, y), gt_cumsum(NULL, gt_gt(NULL, x, y), dim));
        CHECK(gt_scan(x, GT_SUM, dim, "a*b + 1", x, y) == x); /* in place */
        CHECK_SAME(x, gt_cumsum(NULL, z, dim));
      }
  gt_tensor *h = gt_full(GT_SHAPE(4), 2049.0 / 2048, GT_FLOAT16, DEV); /* 1: no rounding between */
  CHECK_VALUES(gt_scan(NULL, GT_SUM, 0, "a + 0.25/1024", h), 1, 2, 3, 4);
  gt_tensor *n = gt_full(GT_SHAPE(4), 2048, GT_FLOAT16, DEV);
  CHECK_VALUES(gt_scan(NULL, GT_SUM, 0, "(a + 1) - 2047", n), 2, 4, 6, 8);
  CHECK_VALUES(gt_scan(NULL, GT_SUM, 0, "int32(a) + b", n, gt_scalar(1)), 2049, 4098, 6147, 8196);
  CHECK_VALUES(gt_scan(NULL, GT_SUM, -1, "3"), 3);
  gt_tensor *one = gt_select(gt_zeros(GT_SHAPE(1), GT_FLOAT32, gt_cpu()), 0, 0);
  CHECK_VALUES(gt_scan(one, GT_SUM, 0, "a*a", gt_scalar(3)), 9); /* of nothing in memory */
  CHECK_SHAPE(gt_scan(NULL, GT_SUM, 1, "a + b", gt_ones(GT_SHAPE(3, 1), GT_INT8, DEV), gt_ones(GT_SHAPE(4), GT_INT8, DEV)), 3, 4);
}
/* The lines of README.md's recipes. */
static void test_recipes(void) {
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(4), 2, 4, 3, 7);
  CHECK_VALUES(gt_eval(NULL, "a/b", gt_cumsum(NULL, x, 0), gt_arange(1, 4 + 1, 1, GT_INT64, x->device)), 2, 3, 3, 4);
  gt_tensor *p = TENSOR(GT_FLOAT32, GT_SHAPE(3, 4), 0.5, 0.25, 0.125, 0.125, 0.25, 0.25, 0.25, 0.25, 1, 0, 0, 0);
  gt_tensor *u = TENSOR(GT_FLOAT32, GT_SHAPE(3, 1), 0.76, 0.1, 0.99);
  CHECK_VALUES(gt_reduce(NULL, GT_SUM, GT_DIM(-1), 1, "a < b", gt_cumsum(NULL, p, -1), u), 2, 0, 0);
  CHECK_VALUES(gt_eval(NULL, "b - a < 0.75 ? a : 0", p, gt_cumsum(NULL, p, -1)), 0.5, 0.25, 0, 0, 0.25, 0.25, 0.25, 0, 1, 0, 0, 0);
}
/* Recorded, the scan runs anew on what its input then is; on a stream it is in order. */
static void test_graph_and_stream(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(3, 20000), GT_FLOAT32, DEV);
  gt_tensor *y, *z;
  gt_stream *s = gt_stream_create(DEV, 0);
  GT_WITH_STREAM(s) {
    gt_graph_begin(s);
    y = gt_cumsum(NULL, x, 1);
    z = gt_scan(NULL, GT_SUM, 0, "a*2", y);
    gt_graph *g = gt_graph_end();
    for (int i = 1; i < 4; i++) {
      gt_fill(x, i);
      gt_graph_launch(g, s);
      CHECK_NUM(gt_item(gt_select(gt_select(y, 0, 1), 0, 19999)), 20000.0 * i);
      CHECK_NUM(gt_item(gt_select(gt_select(z, 0, 2), 0, 19999)), 120000.0 * i);
    }
    gt_graph_free(g);
    gt_fill(x, 3);
    gt_cumsum(x, x, 1);
    gt_cumsum(x, x, 0);
    CHECK_NUM(gt_item(gt_select(gt_select(x, 0, 2), 0, 19999)), 180000.0);
  }
  gt_stream_free(s);
}
/* The CPU and a GPU, and the CPU with each number of threads, give the same bits. */
static void test_devices(void) {
  const gt_shape shapes[] = {GT_SHAPE(5, 20001), GT_SHAPE(20001, 5), GT_SHAPE(300, 300), GT_SHAPE(3000, 9)};
  const int most = gt_num_threads();
  for (int i = 0; i < 4; i++)
    for (int dim = 0; dim < 2; dim++)
      GT_SCOPE {
        gt_tensor *x = random_tensor(shapes[i], i % 2 ? GT_FLOAT32 : GT_FLOAT64, gt_cpu());
        gt_tensor *want = gt_cumsum(NULL, x, dim);
        CHECK_SAME(gt_cumsum(NULL, gt_to(x, DEV), dim), want);
        for (int n = 1; n < 6; n += 2) {
          gt_set_num_threads(n);
          CHECK_SAME(gt_cumsum(NULL, x, dim), want);
        }
        gt_set_num_threads(most);
      }
}
static void test_errors(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(2, 3), GT_FLOAT32, DEV), *y = gt_ones(GT_SHAPE(4), GT_FLOAT32, DEV);
  const gt_tensor *none = NULL;
  REFUSED(gt_cumsum(NULL, NULL, 0), GT_ERROR_ARGUMENT, "gt_cumsum: operand 1 is NULL");
  REFUSED(gt_cumprod(NULL, x, 2), GT_ERROR_ARGUMENT, "gt_cumprod: dim 2 is out of range for 2 dimensions");
  REFUSED(gt_cummax(NULL, x, -3), GT_ERROR_ARGUMENT, "gt_cummax: dim -3 is out of range");
  REFUSED(gt_cumsum(NULL, x, 8), GT_ERROR_ARGUMENT, "dim 8 is out of range");
  REFUSED(gt_cumsum(NULL, x, GT_DIM(1)), GT_ERROR_ARGUMENT, "a plain number is expected here: 1, not GT_DIM(1)");
  REFUSED(gt_scan(NULL, GT_SUM, -9, "a", x), GT_ERROR_ARGUMENT, "dim -9 is out of range");
  REFUSED(gt_cumsum(NULL, x, INT_MIN), GT_ERROR_ARGUMENT, "is out of range");
  REFUSED(gt_cumsum(NULL, gt_ones(GT_SHAPE_0D, GT_INT8, DEV), 1), GT_ERROR_ARGUMENT, "dim 1 is out of range");
  REFUSED(gt_cumsum(y, x, 0), GT_ERROR_SHAPE, "gt_cumsum: the output is (4,), the result (2, 3)");
  REFUSED(gt_cumsum(gt_expand(y, GT_SHAPE(2, 4)), gt_expand(y, GT_SHAPE(2, 4)), 0), GT_ERROR_ARGUMENT, "share memory");
  for (int r = GT_MEAN; r <= GT_ALL_TRUE + 1; r++)
    if (r != GT_MAX && r != GT_MIN)
      REFUSED(gt_scan(NULL, (gt_reduction)r, 0, "a", x), GT_ERROR_ARGUMENT, "is not GT_SUM, GT_PROD, GT_MAX or GT_MIN");
  REFUSED(gt_scan(NULL, (gt_reduction)-1, 0, "a", x), GT_ERROR_ARGUMENT, "gt_scan: -1 is not");
  REFUSED(gt_scan_n(NULL, GT_SUM, 0, NULL, 0, NULL), GT_ERROR_ARGUMENT, "gt_scan: the text is NULL");
  REFUSED(gt_scan_n(NULL, GT_SUM, 0, "a", 1, &none), GT_ERROR_ARGUMENT, "gt_scan: operand 1 is NULL");
  REFUSED(gt_scan(NULL, GT_SUM, 0, "a +", x), GT_ERROR_EXPRESSION, "gt_scan");
  REFUSED(gt_scan(NULL, GT_SUM, 0, "a + index", x), GT_ERROR_EXPRESSION, "gt_scan");
  REFUSED(gt_scan(NULL, GT_SUM, 0, "a + b", x, y), GT_ERROR_SHAPE, "does not broadcast");
  gt_cumsum(NULL, x, 7);
  CHECK(gt_cummax(NULL, NULL, 0) == NULL); /* a pending error passes through */
  CHECK_STR(gt_error_message(), "gt_cumsum: dim 7 is out of range for 2 dimensions");
  gt_clear_error();
  CHECK_VALUES(y, 1, 1, 1, 1);
}

int main(int argc, char **argv) {
  check_start("scan", argc, argv);
  RUN(every_scan);
  RUN(long_dims);
  RUN(expanded);
  RUN(named);
  RUN(empty);
  RUN(specials);
  RUN(short_floats);
  RUN(given_outputs);
  RUN(in_place);
  RUN(texts);
  RUN(recipes);
  RUN(graph_and_stream);
  RUN(devices);
  RUN(errors);
  return check_finish();
}
