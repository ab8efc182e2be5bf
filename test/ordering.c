/* gt_sort, gt_topk and gt_nonzero: rows of every dtype, by an insertion of one after the other, which is
   compared with; ties, NaN, both zeros; short rows, rows of one tile of a GPU's blocks, longer ones, and
   what digits of eight bits may get wrong; views, outputs of every kind, and what is refused. */
#include "check.h"

/* ---- the reference ---- */
static gt_dtype dtype_now;
static const void *data_now;
static int64_t step_now;
static int falling;
/* -1, 0, 1: does element i stand before, beside or behind element j? NaN is above all. */
static int compare(int64_t i, int64_t j) {
  int order;
  if (is_float(dtype_now)) {
    const double x = load(dtype_now, data_now, i), y = load(dtype_now, data_now, j);
    order = (x != x) - (y != y);
    if (x == x && y == y) order = (x > y) - (x < y);
  } else {
    const int64_t x = load_int(dtype_now, data_now, i), y = load_int(dtype_now, data_now, j);
    order = (x > y) - (x < y);
    if (dtype_now == GT_BOOL) order = (x != 0) - (y != 0);
  }
  return falling ? -order : order;
}
/* Positions along the row, from element `first` on, are compared; equal ones by their number. */
static int64_t first_now;
static int by_value(const void *a, const void *b) {
  const int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  const int order = compare(first_now + i * step_now, first_now + j * step_now);
  return order ? order : (i > j) - (i < j);
}

/* ---- data ---- */
enum { FEW, BITS, RISING, FALLING_RUN, SAME, HIGH, KINDS };
static const char *const kind_name[] = {"few values", "bits", "in order", "backwards", "all the same", "upper bits"};
static gt_tensor *make(gt_shape s, gt_dtype t, int kind) {
  const double few[] = {0, -0.0, 1, -1, 2, NAN, INFINITY, -INFINITY, 0.5, -NAN};
  const size_t size = gt_dtype_size(t);
  int64_t n = 1;
  for (int d = 0; d < s.ndim; d++) n *= s.size[d];
  char *p = (char *)calloc((size_t)n + 1, size);
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits = rnd();
    const int64_t k = rnd_below(10);
    const uint8_t b1 = (uint8_t)bits;
    const uint16_t b2 = (uint16_t)bits;
    const uint32_t b4 = (uint32_t)bits;
    if (kind == HIGH) bits &= UINT64_C(0xff00ff00ff00ff00);
    if (kind == FEW && is_float(t)) store(t, p, i, few[k]);
    else if (kind == FEW) store_int(t, p, i, k - 5);
    else if (kind == RISING) store_int(t, p, i, i);
    else if (kind == FALLING_RUN) store_int(t, p, i, n - i);
    else if (kind == SAME) store_int(t, p, i, 7);
    else if (kind == HIGH && size == 8) memcpy(p + 8 * i, &bits, 8);
    else if (size == 1) memcpy(p + i, &b1, 1);
    else if (size == 2) memcpy(p + 2 * i, &b2, 2);
    else if (size == 4) memcpy(p + 4 * i, &b4, 4);
    else memcpy(p + 8 * i, &bits, 8);
  }
  gt_tensor *x = gt_from_array(p, s, t, DEV);
  free(p);
  return x;
}

/* ---- a call beside the reference ---- */
/* x: its values; dim: from 0 on; values and indices have `keep` entries there. */
static void check_rows(const gt_tensor *x, int dim, int64_t keep, int descending, const gt_tensor *values,
                       const gt_tensor *indices) {
  const int64_t n = x->ndim ? x->shape[dim] : 1;
  int64_t inner = 1, outer = 1, bad = 0;
  for (int d = 0; d < x->ndim; d++) *(d < dim ? &outer : &inner) *= d == dim ? 1 : x->shape[d];
  void *in = values_of(x), *out = values_of(values);
  int64_t *at = (int64_t *)values_of(indices);
  int64_t *order = (int64_t *)malloc((size_t)(n + 1) * sizeof *order);
  CHECK(values && values->dtype == x->dtype && indices && indices->dtype == GT_INT64);
  dtype_now = x->dtype;
  data_now = in;
  step_now = inner;
  falling = descending;
  for (int64_t row = 0; row < outer * inner && !bad && values && indices; row++) {
    const int64_t to = row / inner * keep * inner + row % inner;
    first_now = row / inner * n * inner + row % inner;
    for (int64_t i = 0; i < n; i++) order[i] = i;
    qsort(order, (size_t)n, sizeof *order, by_value);
    for (int64_t i = 0; i < keep && !bad; i++) {
      const int64_t k = to + i * inner;
      bad = at[k] != order[i] || bits_at(x->dtype, out, k) != bits_at(x->dtype, in, first_now + order[i] * inner);
      CHECK_TEXT(!bad, "row %lld, entry %lld of %lld: %lld, not %lld", (long long)row, (long long)i, (long long)n,
                 (long long)at[k], (long long)order[i]);
    }
  }
  if (values) digest(values->dtype, out, gt_numel(values));
  if (indices) digest(GT_INT64, at, gt_numel(indices));
  free(in);
  free(out);
  free(at);
  free(order);
}
static void check_sort(const gt_tensor *x, int dim, int descending) {
  gt_tensor *values = NULL, *indices = NULL;
  CHECK_INT(gt_sort(&values, &indices, x, dim, descending), GT_OK);
  check_rows(x, dim < 0 ? dim + x->ndim : dim, x->ndim ? x->shape[dim < 0 ? dim + x->ndim : dim] : 1, descending,
             values, indices);
  CHECK(!values || gt_is_contiguous(values));
  CHECK(!indices || gt_is_contiguous(indices));
  gt_free(values);
  gt_free(indices);
}
static void check_topk(const gt_tensor *x, int64_t k, int dim, int largest) {
  gt_tensor *values = NULL, *indices = NULL;
  CHECK_INT(gt_topk(&values, &indices, x, k, dim, largest), GT_OK);
  check_rows(x, dim, k, largest, values, indices);
  gt_free(values);
  gt_free(indices);
}

/* ---- the cases ---- */
static void test_dtypes(void) {
  for (int t = 0; t < GT_DTYPES; t++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int descending = 0; descending < 2; descending++) GT_SCOPE {
          case_begin("%s, %s, %d", gt_dtype_string((gt_dtype)t), kind_name[kind], descending);
          GT_SCOPE {
            check_sort(make(GT_SHAPE(5, 100), (gt_dtype)t, kind), 1, descending);
            check_sort(make(GT_SHAPE(1, 700), (gt_dtype)t, kind), 1, descending);
            check_sort(make(GT_SHAPE(5000), (gt_dtype)t, kind), 0, descending);
            check_topk(make(GT_SHAPE(2, 5000), (gt_dtype)t, kind), 3, 1, descending);
          }
          case_end();
        }
  case_begin("dtypes");
}
static void test_sizes(void) {
  static const int64_t n[] = {1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097, 8192, 12289};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++)
    for (int rows = 1; rows <= 600; rows = rows * 4 + 1) {
      if (rows * n[i] > (QUICK ? 20000 : 300000) && rows > 1) continue;
      GT_SCOPE {
        const gt_tensor *x = make(GT_SHAPE(rows, n[i]), GT_FLOAT32, (int)(i % 2));
        check_sort(x, 1, 0);
        check_topk(x, (n[i] + 2) / 3, 1, 1);
        check_topk(x, n[i] < 5 ? n[i] : 5, 1, 0);
        check_topk(x, 0, 1, 0);
      }
    }
  GT_SCOPE { /* more rows than a block has digits, of one to a few */
    for (int m = 1; m < 6; m++) check_sort(make(GT_SHAPE(5000, m), GT_INT16, BITS), 1, m & 1);
  }
}
static void test_long(void) {
  static const int64_t n[] = {20000, 70001, 1 << 20};
  for (int i = 0; i < (QUICK ? 2 : 3); i++)
    for (int kind = 0; kind < 2; kind++) GT_SCOPE {
        const gt_tensor *x = make(GT_SHAPE(n[i]), i % 2 ? GT_INT64 : GT_FLOAT32, kind);
        check_sort(x, 0, 1);
        check_topk(x, 64, 0, 1);
        check_topk(x, 1024, 0, 0);
        check_topk(x, 1025, 0, 0);
      }
  GT_SCOPE { check_sort(make(GT_SHAPE(3, 20000), GT_FLOAT64, BITS), 1, 0); }
  GT_SCOPE { check_sort(make(GT_SHAPE(40, 5000), GT_FLOAT16, BITS), 1, 0); }
}
static void test_dims(void) {
  const gt_tensor *x = make(GT_SHAPE(4, 30, 5), GT_FLOAT32, FEW);
  for (int dim = -3; dim < 3; dim++) check_sort(x, dim, dim & 1);
  for (int dim = 0; dim < 3; dim++) check_topk(x, 3, dim, 1);
  for (int layout = 0; layout < LAYOUTS; layout++)
    for (int dim = 0; dim < 3; dim++) {
      const gt_tensor *y = relayout(x, layout);
      gt_tensor *values = NULL, *indices = NULL;
      CHECK_INT(gt_sort(&values, &indices, y, dim, 1), GT_OK);
      check_rows(x, dim, x->shape[dim], 1, values, indices);
    }
  check_sort(gt_expand(make(GT_SHAPE(1, 30, 1), GT_INT32, FEW), GT_SHAPE(4, 30, 6)), 1, 0);
  check_sort(gt_expand(make(GT_SHAPE(30, 1), GT_INT32, FEW), GT_SHAPE(30, 6)), 1, 0); /* all are equal */
  check_sort(make(GT_SHAPE_0D, GT_FLOAT64, BITS), 0, 0);
  check_sort(make(GT_SHAPE_0D, GT_FLOAT64, BITS), -1, 1);
  check_topk(make(GT_SHAPE_0D, GT_INT8, BITS), 1, 0, 1);
  check_sort(make(GT_SHAPE(3, 0), GT_FLOAT32, FEW), 1, 0);
  check_sort(make(GT_SHAPE(0, 3), GT_FLOAT32, FEW), 1, 0);
  check_sort(make(GT_SHAPE(0, 3), GT_FLOAT32, FEW), 0, 0);
  check_topk(make(GT_SHAPE(3, 0), GT_FLOAT32, FEW), 0, 1, 0);
}
static void test_outputs(void) {
  const gt_tensor *x = make(GT_SHAPE(6, 40), GT_FLOAT32, FEW);
  gt_tensor *values = NULL, *indices = NULL;
  CHECK_INT(gt_sort(&values, NULL, x, 1, 0), GT_OK);
  CHECK_INT(gt_sort(NULL, &indices, x, 1, 0), GT_OK);
  check_rows(x, 1, 40, 0, values, indices);
  CHECK_INT(gt_sort(NULL, NULL, x, 1, 0), GT_OK);
  for (int layout = 0; layout < LAYOUTS; layout++) /* written, not made */
    for (int dim = 0; dim < 2; dim++) {
      gt_tensor *v = relayout(gt_zeros(GT_SHAPE(6, 40), GT_FLOAT32, DEV), layout), *given_v = v;
      gt_tensor *i = relayout(gt_zeros(GT_SHAPE(6, 40), GT_INT64, DEV), layout), *given_i = i;
      CHECK_INT(gt_sort(&v, &i, x, dim, 1), GT_OK);
      CHECK(v == given_v && i == given_i);
      check_rows(x, dim, x->shape[dim], 1, v, i);
    }
  gt_tensor *wide = gt_zeros(GT_SHAPE(6, 40), GT_FLOAT64, DEV), *narrow = gt_zeros(GT_SHAPE(6, 40), GT_INT32, DEV);
  CHECK_INT(gt_sort(&wide, &narrow, x, 1, 0), GT_OK);
  CHECK_SAME(gt_to_dtype(wide, GT_FLOAT32), values);
  CHECK_SAME(gt_to_dtype(narrow, GT_INT64), indices);
  gt_tensor *small = gt_zeros(GT_SHAPE(6, 40), GT_UINT8, DEV); /* from which nothing could be gathered */
  gt_tensor *again = NULL;
  CHECK_INT(gt_sort(&again, &small, x, 1, 0), GT_OK);
  CHECK_SAME(again, values);
  CHECK_SAME(gt_to_dtype(small, GT_INT64), indices);
  gt_tensor *in_place = gt_copy(NULL, x);
  CHECK_INT(gt_sort(&in_place, NULL, in_place, 1, 0), GT_OK);
  CHECK_SAME(in_place, values);
  gt_tensor *whole = gt_randint(-50, 50, GT_SHAPE(6, 40), GT_INT64, DEV, NULL); /* indices over x, values too */
  const gt_tensor *before = gt_copy(NULL, whole);
  gt_tensor *over = whole, *kept = NULL;
  CHECK_INT(gt_sort(&kept, &over, whole, 0, 1), GT_OK);
  check_rows(before, 0, 6, 1, kept, over);
}
static void check_nonzero(const gt_tensor *x) {
  void *p = values_of(x);
  gt_tensor *y = gt_nonzero(x);
  int64_t *at = (int64_t *)values_of(y), n = 0, bad = 0;
  for (int64_t i = 0; i < gt_numel(x) && y; i++) {
    const int is = is_float(x->dtype) ? load(x->dtype, p, i) != 0 : load_int(x->dtype, p, i) != 0;
    int64_t left = i;
    if (!is) continue;
    for (int d = x->ndim - 1; d >= 0 && n < y->shape[0]; d--) {
      bad += at[n * x->ndim + d] != left % x->shape[d];
      left /= x->shape[d];
    }
    n++;
  }
  CHECK(y && y->dtype == GT_INT64 && y->ndim == 2 && y->shape[1] == x->ndim);
  CHECK_INT(bad, 0);
  CHECK_INT(y ? y->shape[0] : -1, n);
  if (y) digest(GT_INT64, at, gt_numel(y));
  free(p);
  free(at);
  gt_free(y);
}
static void test_nonzero(void) {
  for (int t = 0; t < GT_DTYPES; t++)
    for (int kind = 0; kind < KINDS; kind++) GT_SCOPE {
        check_nonzero(make(GT_SHAPE(300), (gt_dtype)t, kind));
        check_nonzero(make(GT_SHAPE(4, 7, 5), (gt_dtype)t, kind));
      }
  for (int layout = 0; layout < LAYOUTS; layout++)
    check_nonzero(relayout(make(GT_SHAPE(4, 7, 5), GT_FLOAT32, FEW), layout));
  check_nonzero(make(GT_SHAPE(100003), GT_BOOL, BITS));
  check_nonzero(gt_eye(300, 500, GT_BOOL, DEV));
  check_nonzero(gt_ones(GT_SHAPE(30000), GT_BOOL, DEV));
  check_nonzero(gt_zeros(GT_SHAPE(30000), GT_FLOAT32, DEV));
  check_nonzero(make(GT_SHAPE(0), GT_FLOAT32, FEW));
  check_nonzero(make(GT_SHAPE(3, 0), GT_FLOAT32, FEW));
  check_nonzero(gt_ones(GT_SHAPE_0D, GT_INT32, DEV));
  check_nonzero(gt_zeros(GT_SHAPE_0D, GT_FLOAT64, DEV));
  check_nonzero(gt_expand(make(GT_SHAPE(30, 1), GT_INT32, FEW), GT_SHAPE(30, 6)));
}
static void test_refused(void) {
  const gt_tensor *x = make(GT_SHAPE(3, 5), GT_FLOAT32, FEW), *none = NULL;
  gt_tensor *v = NULL, *i = NULL, *wrong = gt_zeros(GT_SHAPE(3, 4), GT_FLOAT32, DEV);
  gt_tensor *line = gt_zeros(GT_SHAPE(30), GT_FLOAT32, DEV);
  REFUSED_STATUS(gt_sort(&v, &i, none, 0, 0), GT_ERROR_ARGUMENT, "gt_sort: operand 1 is NULL");
  REFUSED_STATUS(gt_topk(&v, &i, none, 1, 0, 0), GT_ERROR_ARGUMENT, "gt_topk: operand 1 is NULL");
  REFUSED(gt_nonzero(none), GT_ERROR_ARGUMENT, "gt_nonzero: operand 1 is NULL");
  REFUSED_STATUS(gt_sort(&v, &i, x, 2, 0), GT_ERROR_ARGUMENT, "dim 2 is out of range");
  REFUSED_STATUS(gt_topk(&v, &i, x, -1, 1, 0), GT_ERROR_ARGUMENT, "gt_topk: k is -1, a row has 5 entries");
  REFUSED_STATUS(gt_topk(&v, &i, x, 6, 1, 0), GT_ERROR_ARGUMENT, "k is 6, a row has 5 entries");
  REFUSED_STATUS(gt_topk(&v, &i, gt_zeros(GT_SHAPE_0D, GT_INT8, DEV), 0, 0, 0), GT_ERROR_ARGUMENT, "k is 0");
  REFUSED_STATUS(gt_sort(&wrong, &i, x, 1, 0), GT_ERROR_SHAPE, "gt_sort: the output is (3, 4), the result (3, 5)");
  REFUSED_STATUS(gt_sort(&v, &wrong, x, 1, 0), GT_ERROR_SHAPE, "gt_sort: the output is (3, 4), the result (3, 5)");
  gt_tensor *one = gt_reshape(gt_slice(line, 0, 0, 15, 1), GT_SHAPE(3, 5));
  gt_tensor *two = gt_reshape(gt_slice(line, 0, 14, 29, 1), GT_SHAPE(3, 5));
  REFUSED_STATUS(gt_sort(&one, &two, x, 1, 0), GT_ERROR_ARGUMENT, "values and indices share memory");
  gt_tensor *thin = gt_expand(gt_zeros(GT_SHAPE(3, 1), GT_INT64, DEV), GT_SHAPE(3, 5));
  REFUSED_STATUS(gt_sort(&v, &thin, x, 1, 0), GT_ERROR_ARGUMENT, "share memory");
  REFUSED_STATUS(gt_sort(&thin, &i, x, 1, 0), GT_ERROR_ARGUMENT, "share memory");
  gt_tensor *huge = gt_expand(gt_ones(GT_SHAPE_0D, GT_BOOL, DEV), GT_SHAPE(INT64_C(1) << 32));
  REFUSED_STATUS(gt_sort(&v, &i, huge, 0, 0), GT_ERROR_SHAPE, "has 4294967296 entries, 2^32 - 1 are most");
  REFUSED(gt_nonzero(huge), GT_ERROR_SHAPE, "has 4294967296 entries");
  CHECK(!v && !i);
  /* an error that is pending stops what is given NULL */
  gt_add(NULL, none, none);
  CHECK(gt_sort(&v, &i, x, 1, 0) != GT_OK && gt_topk(&v, NULL, x, 1, 1, 0) != GT_OK && !gt_nonzero(x) && !v && !i);
  REFUSED_IF(1, GT_ERROR_ARGUMENT, "gt_add: operand 1 is NULL");
}
static void test_graph(void) {
  gt_tensor *x = make(GT_SHAPE(3, 9000), GT_FLOAT32, FEW), *v = NULL, *i = NULL, *few = NULL, *at = NULL;
  const gt_tensor *next = make(GT_SHAPE(3, 9000), GT_FLOAT32, BITS);
  gt_stream *stream = gt_stream_create(DEV, 0);
  gt_graph *graph = NULL;
  GT_WITH_STREAM(stream) {
    CHECK_INT(gt_graph_begin(stream), GT_OK);
    CHECK_INT(gt_sort(&v, &i, x, 1, 0), GT_OK);
    CHECK_INT(gt_topk(&few, &at, x, 7, 1, 1), GT_OK);
    REFUSED(gt_nonzero(x), GT_ERROR_STATE, "the host waits for how many elements are not 0");
    graph = gt_graph_end();
    CHECK(graph != NULL);
    for (int turn = 0; turn < 2; turn++) {
      CHECK_INT(gt_graph_launch(graph, stream), GT_OK);
      gt_stream_synchronize(stream);
      check_rows(x, 1, 9000, 0, v, i);
      check_rows(x, 1, 7, 1, few, at);
      gt_copy(x, next);
    }
    gt_free(v);
    v = NULL;
    gt_sort(&v, NULL, x, 1, 0);
    check_nonzero(x);
    gt_stream_synchronize(stream);
  }
  gt_graph_free(graph);
  gt_stream_free(stream);
}

int main(int argc, char **argv) {
  check_start("ordering", argc, argv);
  RUN(dtypes);
  RUN(sizes);
  RUN(long);
  RUN(dims);
  RUN(outputs);
  RUN(nonzero);
  RUN(refused);
  RUN(graph);
  return check_finish();
}
