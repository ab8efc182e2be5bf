/* gt_index_add and gt_scatter_reduce against a reference of their own, which folds in the order that the
   documentation gives: all dtypes, strides, overlaps, many sizes, and hostile inputs. The digest of all results
   is the same on every device. */
#include "check.h"

/* ---- the reference, over tensors brought to the host ---- */
typedef struct {
  int ndim;
  gt_dtype dtype;
  int64_t shape[GT_MAX_DIMS], n;
  void *data;
} host;
static host to_host(const gt_tensor *x) { /* of one dim at least */
  host h = {x->ndim, x->dtype, {1}, gt_numel(x), values_of(x)};
  memcpy(h.shape, x->shape, (size_t)x->ndim * sizeof *h.shape);
  if (!h.ndim) h.ndim = 1;
  return h;
}
typedef struct { double f; int64_t i; } value;
static value value_at(const host *h, int64_t i) {
  value v = {load(h->dtype, h->data, i), is_float(h->dtype) ? 0 : load_int(h->dtype, h->data, i)};
  return v;
}
/* As the library folds: short floats in float32, +0 above -0, and a NaN wins. */
static value fold(gt_reduction r, gt_dtype t, value a, value b) {
  if (is_float(t)) {
    volatile float sum = (float)a.f + (float)b.f;
    if (r == GT_SUM) a.f = t == GT_FLOAT64 ? a.f + b.f : (double)sum;
    else if (a.f != a.f || b.f != b.f) a.f = (double)NAN;
    else if (a.f == b.f && !signbit(a.f) != (r == GT_MAX)) a.f = b.f;
    else if (a.f != b.f && (b.f > a.f) == (r == GT_MAX)) a.f = b.f;
  } else if (r == GT_SUM) a.i = (int64_t)((uint64_t)a.i + (uint64_t)b.i);
  else if ((b.i > a.i) == (r == GT_MAX)) a.i = b.i;
  return a;
}
static value nothing(gt_reduction r) { /* where a run begins */
  value v = {0, 0};
  if (r == GT_MAX) v.f = -(double)INFINITY, v.i = INT64_MIN;
  if (r == GT_MIN) v.f = (double)INFINITY, v.i = INT64_MAX;
  return v;
}
/* 32 at a time in order, then the values of these runs by neighbours, until one is left. */
static value fold_all(gt_reduction r, gt_dtype t, value *x, int64_t n) {
  int64_t runs = 0;
  for (int64_t begin = 0; begin < n; begin += 32) {
    value sum = nothing(r);
    for (int64_t k = begin; k < n && k < begin + 32; k++) sum = fold(r, t, sum, x[k]);
    x[runs++] = sum;
  }
  for (; runs > 1; runs = (runs + 1) / 2) {
    for (int64_t k = 0; k + 1 < runs; k += 2) x[k / 2] = fold(r, t, x[k], x[k + 1]);
    if (runs % 2) x[runs / 2] = x[runs - 1];
  }
  return x[0];
}
static int64_t stride_of(const host *h, int dim) {
  int64_t n = 1;
  for (int d = dim + 1; d < h->ndim; d++) n *= h->shape[d];
  return n;
}
/* Where position p of `walked` lies in src and out: every one is looked at for each element of out. */
static int goes_to(const host *out, int dim, const host *index, const host *src, int rows, int64_t p, int64_t o,
                   int64_t *from) {
  const host *walked = rows ? src : index;
  int64_t to = 0, i = 0;
  *from = 0;
  for (int d = walked->ndim - 1; d >= 0; d--) {
    const int64_t at = p % walked->shape[d];
    p /= walked->shape[d];
    *from += at * stride_of(src, d);
    if (!rows) i += at * stride_of(index, d);
    else if (d == dim) i = at;
    if (d != dim) to += at * stride_of(out, d);
  }
  const int64_t k = load_int(index->dtype, index->data, i);
  return k >= 0 && k < out->shape[dim] && to + k * stride_of(out, dim) == o;
}
static void reference(host *out, int dim, const host *index, const host *src, gt_reduction r, int self, int rows) {
  const int64_t n = rows ? src->n : index->n;
  value *list = (value *)malloc(((size_t)n + 1) * sizeof *list);
  if (dim < 0) dim += out->ndim;
  for (int64_t o = 0; o < out->n; o++) {
    int64_t found = 0, from;
    for (int64_t p = 0; p < n; p++)
      if (goes_to(out, dim, index, src, rows, p, o, &from)) list[found++] = value_at(src, from);
    if (!found) continue;
    value v = fold_all(r, out->dtype, list, found);
    if (self) v = fold(r, out->dtype, value_at(out, o), v);
    if (is_float(out->dtype)) store(out->dtype, out->data, o, v.f);
    else store_int(out->dtype, out->data, o, v.i);
  }
  free(list);
}
/* Calls one of the two and compares. `rows`: gt_index_add. */
static void compare(gt_tensor *out, int dim, const gt_tensor *index, const gt_tensor *src, gt_reduction r, int self,
                    int rows) {
  host before = to_host(out), i = to_host(index), from = to_host(src);
  const gt_tensor *y = rows ? gt_index_add(out, dim, index, src) : gt_scatter_reduce(out, dim, index, src, r, self);
  CHECK(y == out);
  NO_ERROR();
  void *p = values_of(out);
  reference(&before, dim, &i, &from, r, self, rows);
  for (int64_t k = 0; k < before.n; k++)
    if (!same(out->dtype, p, before.data, k)) {
      check_report(__FILE__, __LINE__, "%s of %s, dim %d, reduction %d, self %d: element %lld of %lld is %.9g, not %.9g",
                   rows ? "index_add" : "scatter_reduce", gt_dtype_string(out->dtype), dim, (int)r, self, (long long)k,
                   (long long)before.n, load(out->dtype, p, k), load(out->dtype, before.data, k));
      break;
    }
  digest(out->dtype, p, before.n);
  free(p);
  free(before.data);
  free(i.data);
  free(from.data);
}
/* Indices below `most`, or only a few of these. */
static gt_tensor *random_index(gt_shape shape, int64_t most, int few, gt_dtype dtype) {
  int64_t n = 1;
  for (int d = 0; d < shape.ndim; d++) n *= shape.size[d];
  void *p = malloc((size_t)n * 8 + 8);
  for (int64_t i = 0; i < n; i++) {
    const int64_t any = rnd_below(most), one = rnd_below(2) * (most - 1);
    store_int(dtype, p, i, few ? one : any);
  }
  gt_tensor *x = gt_from_array(p, shape, dtype, DEV);
  free(p);
  return x;
}
static const gt_reduction reductions[] = {GT_SUM, GT_MAX, GT_MIN};
/* Values of which sums round, and large integers, which wrap. */
static gt_tensor *any_values(gt_shape shape, gt_dtype t) {
  gt_tensor *x = random_tensor(shape, t, DEV);
  if (t == GT_INT64) gt_mul(x, x, gt_scalar_int64(INT64_C(0x123456789abcdef)));
  return x;
}

/* ---- tests ---- */
static void test_small(void) {
  gt_tensor *out = TENSOR(GT_FLOAT32, GT_SHAPE(3, 2), 1, 2, 3, 4, 5, 6);
  gt_tensor *src = TENSOR(GT_FLOAT32, GT_SHAPE(4, 2), 10, 20, 30, 40, 50, 60, 70, 80);
  const gt_tensor *index = TENSOR(GT_INT64, GT_SHAPE(4), 2, 0, 2, 2);
  CHECK(gt_index_add(out, 0, index, src) == out);
  CHECK_VALUES(out, 31, 42, 3, 4, 135, 166);
  CHECK(gt_index_add(out, -1, TENSOR(GT_INT32, GT_SHAPE(1), 1), gt_slice(src, 1, 0, 1, 1)) == NULL);
  CHECK(gt_error() == GT_ERROR_SHAPE);
  gt_clear_error();
  CHECK(gt_index_add(out, -1, TENSOR(GT_INT32, GT_SHAPE(1), 1), gt_view(src, "1:4, 1:2")) == out);
  CHECK_VALUES(out, 31, 82, 3, 64, 135, 246);
  /* torch's documentation: scatter_reduce */
  gt_tensor *input = TENSOR(GT_FLOAT32, GT_SHAPE(4), 1, 2, 3, 4);
  src = TENSOR(GT_FLOAT32, GT_SHAPE(6), 1, 2, 3, 4, 5, 6);
  index = TENSOR(GT_INT64, GT_SHAPE(6), 0, 1, 0, 1, 2, 1);
  CHECK_VALUES(gt_scatter_reduce(gt_copy(NULL, input), 0, index, src, GT_SUM, 1), 5, 14, 8, 4);
  CHECK_VALUES(gt_scatter_reduce(gt_copy(NULL, input), 0, index, src, GT_SUM, 0), 4, 12, 5, 4);
  input = TENSOR(GT_FLOAT32, GT_SHAPE(4), 5, 4, 3, 2);
  CHECK_VALUES(gt_scatter_reduce(gt_copy(NULL, input), 0, index, src, GT_MAX, 1), 5, 6, 5, 2);
  CHECK_VALUES(gt_scatter_reduce(gt_copy(NULL, input), 0, index, src, GT_MAX, 0), 3, 6, 5, 2);
  CHECK_VALUES(gt_scatter_reduce(gt_copy(NULL, input), 0, index, src, GT_MIN, 1), 1, 2, 3, 2);
}
static void test_dtypes(void) {
  for (int t = 0; t < GT_DTYPES; t++)
    for (int width = 1; width <= 40; width += 39) {
      const gt_tensor *out = any_values(GT_SHAPE(9, width), (gt_dtype)t);
      const gt_tensor *src = any_values(GT_SHAPE(150, width), (gt_dtype)t);
      const gt_tensor *index = random_index(GT_SHAPE(150), 9, 0, t % 2 ? GT_INT32 : GT_INT64);
      compare(gt_copy(NULL, out), 0, index, src, GT_SUM, 1, 1);
      const gt_tensor *single = random_index(GT_SHAPE(150, width), 9, 0, t % 2 ? GT_INT64 : GT_INT32);
      if (width > 1 && QUICK && t % 3) continue;
      for (int k = 0; k < 6; k++) compare(gt_copy(NULL, out), 0, single, src, reductions[k / 2], k % 2, 0);
    }
}
/* Segments of all lengths around runs, their tree, and what a thread and a block take on a GPU. */
static void test_lengths(void) {
  static const int64_t length[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 255, 256, 257, 288, 289, 1000, 4097, 8193, 20000};
  for (int k = 0; k < (int)(sizeof length / sizeof *length); k++)
    for (int few = 0; few < 2; few++) {
      const int64_t n = length[k];
      const gt_tensor *src = any_values(GT_SHAPE(n), GT_FLOAT32);
      const gt_tensor *index = random_index(GT_SHAPE(n), 2, few, GT_INT64);
      compare(gt_ones(GT_SHAPE(2), GT_FLOAT32, DEV), 0, index, src, GT_SUM, 1, 1);
      compare(gt_ones(GT_SHAPE(1), GT_FLOAT32, DEV), 0, gt_zeros(GT_SHAPE(n), GT_INT32, DEV), src, GT_SUM, 0, 0);
      if (n > 5000 && QUICK) continue;
      const gt_tensor *wide = any_values(GT_SHAPE(3, n, 5), GT_BFLOAT16);
      compare(gt_ones(GT_SHAPE(3, 3, 5), GT_BFLOAT16, DEV), 1, index, wide, GT_SUM, 1, 1);
    }
}
/* Keys of one, two and three digits. */
static void test_many_places(void) {
  static const int64_t places[] = {255, 256, 257, 65536, 65537};
  for (int k = 0; k < 5; k++) {
    const int64_t n = k < 3 ? 3000 : 40;
    const gt_tensor *src = any_values(GT_SHAPE(n), GT_FLOAT64);
    const gt_tensor *index = random_index(GT_SHAPE(n), places[k], k % 2, GT_INT64);
    compare(any_values(GT_SHAPE(places[k]), GT_FLOAT64), 0, index, src, reductions[k % 3], 1, 0);
  }
}
static void test_layouts(void) {
  static const gt_dtype type[] = {GT_FLOAT32, GT_INT16, GT_FLOAT16};
  for (int t = 0; t < 3; t++)
    for (int layout = 0; layout < LAYOUTS; layout++)
      for (int dim = -3; dim < 0; dim++) {
        int64_t shape[] = {4, 5, 6}, longer[] = {4, 5, 6};
        shape[dim + 3] = 11;
        gt_tensor *out = any_values(GT_SHAPE(4, 5, 6), type[t]);
        const gt_tensor *src = any_values(GT_SHAPE(shape[0], shape[1], shape[2]), type[t]);
        const gt_tensor *index = random_index(GT_SHAPE(11), longer[dim + 3], 0, GT_INT64);
        compare(relayout(out, layout), dim, relayout(index, layout), relayout(src, (layout + t) % LAYOUTS), GT_SUM, 1, 1);
        index = random_index(GT_SHAPE(shape[0] - 1, shape[1], shape[2] - 2), longer[dim + 3], 0, GT_INT32);
        compare(relayout(out, layout), dim, relayout(index, (layout + 2) % LAYOUTS),
                relayout(src, (layout + t + 1) % LAYOUTS), reductions[(layout + t) % 3], layout % 2, 0);
      }
}
static void test_shapes(void) {
  gt_tensor *number = TENSOR(GT_FLOAT32, GT_SHAPE_0D, 5);
  const gt_tensor *zero = gt_zeros(GT_SHAPE_0D, GT_INT64, DEV), *six = TENSOR(GT_FLOAT32, GT_SHAPE_0D, 6);
  CHECK_SHAPE_0D(gt_index_add(number, -1, zero, six));
  CHECK_VALUES(gt_index_add(number, 0, gt_zeros(GT_SHAPE(1), GT_INT32, DEV), six), 17);
  CHECK_VALUES(gt_scatter_reduce(number, 0, zero, six, GT_MIN, 1), 6);
  const gt_tensor *src = any_values(GT_SHAPE(4, 1), GT_FLOAT32);
  compare(any_values(GT_SHAPE(4, 3), GT_FLOAT32), 1, TENSOR(GT_INT64, GT_SHAPE_0D, 2), src, GT_SUM, 1, 1);
  /* of a broadcast source and index; no elements; eight dims */
  compare(gt_zeros(GT_SHAPE(7), GT_FLOAT32, DEV), 0, random_index(GT_SHAPE(500), 7, 0, GT_INT64),
          gt_expand(TENSOR(GT_FLOAT32, GT_SHAPE_0D, 0.1), GT_SHAPE(500)), GT_SUM, 1, 1);
  const gt_tensor *index = gt_expand(random_index(GT_SHAPE(50, 1), 7, 0, GT_INT64), GT_SHAPE(50, 4));
  src = gt_expand(any_values(GT_SHAPE(4), GT_INT32), GT_SHAPE(50, 4));
  compare(any_values(GT_SHAPE(7, 4), GT_INT32), 0, index, src, GT_SUM, 1, 0);
  gt_tensor *out = any_values(GT_SHAPE(3, 4), GT_FLOAT32);
  compare(out, 0, gt_zeros(GT_SHAPE(0), GT_INT64, DEV), gt_zeros(GT_SHAPE(0, 4), GT_FLOAT32, DEV), GT_SUM, 1, 1);
  compare(out, 1, gt_zeros(GT_SHAPE(3, 0), GT_INT64, DEV), out, GT_MAX, 0, 0);
  compare(gt_zeros(GT_SHAPE(0, 3), GT_FLOAT32, DEV), 1, gt_zeros(GT_SHAPE(5), GT_INT64, DEV),
          gt_zeros(GT_SHAPE(0, 5), GT_FLOAT32, DEV), GT_SUM, 1, 1);
  out = any_values(GT_SHAPE(2, 1, 3, 2, 1, 2, 2, 3), GT_FLOAT32);
  index = random_index(GT_SHAPE(2, 1, 7, 2, 1, 2, 1, 3), 3, 0, GT_INT64);
  src = any_values(GT_SHAPE(2, 1, 7, 2, 1, 2, 2, 3), GT_FLOAT32);
  compare(out, 2, index, src, GT_SUM, 1, 0);
  index = random_index(GT_SHAPE(9), 2, 0, GT_INT64);
  src = any_values(GT_SHAPE(2, 1, 3, 2, 1, 2, 9, 3), GT_FLOAT32);
  compare(out, 6, index, src, GT_SUM, 1, 1);
}
static void test_special_values(void) {
  const double inf = (double)INFINITY, nan = (double)NAN;
  const gt_tensor *src = TENSOR(GT_FLOAT32, GT_SHAPE(9), -0.0, nan, inf, -inf, 0.0, 1, -0.0, 1e38, 3e38);
  const gt_tensor *index = TENSOR(GT_INT64, GT_SHAPE(9), 0, 1, 2, 2, 3, 1, 3, 4, 4);
  for (int k = 0; k < 6; k++)
    compare(TENSOR(GT_FLOAT32, GT_SHAPE(6), -0.0, 1, 2, -0.0, nan, 7), 0, index, src, reductions[k / 2], k % 2, 0);
}
static void test_overlap(void) {
  gt_tensor *x = any_values(GT_SHAPE(6, 6), GT_FLOAT32), *y = gt_copy(NULL, x);
  const gt_tensor *index = random_index(GT_SHAPE(6), 6, 0, GT_INT64);
  gt_index_add(y, 0, index, gt_copy(NULL, x));
  CHECK_SAME(gt_index_add(gt_retain(x), 0, index, x), y);
  y = gt_copy(NULL, x);
  index = gt_remainder(NULL, index, gt_scalar_int64(4));
  gt_index_add(gt_slice(y, 0, 0, 4, 1), 0, index, gt_transpose(gt_copy(NULL, x), 0, 1));
  gt_index_add(gt_slice(x, 0, 0, 4, 1), 0, index, gt_transpose(x, 0, 1));
  CHECK_SAME(x, y);
  gt_tensor *same = gt_arange(0, 8, 1, GT_INT64, DEV);
  CHECK_VALUES(gt_index_add(same, 0, same, same), 0, 2, 4, 6, 8, 10, 12, 14);
}
static void test_refused(void) {
  gt_tensor *out = gt_zeros(GT_SHAPE(3, 4), GT_FLOAT32, DEV);
  const gt_tensor *src = gt_ones(GT_SHAPE(2, 4), GT_FLOAT32, DEV), *index = gt_zeros(GT_SHAPE(2), GT_INT64, DEV);
  const gt_tensor *single = gt_zeros(GT_SHAPE(2, 4), GT_INT64, DEV);
  REFUSED(gt_index_add(NULL, 0, index, src), GT_ERROR_ARGUMENT, "gt_index_add: operand 1 is NULL");
  REFUSED(gt_index_add(out, 0, NULL, src), GT_ERROR_ARGUMENT, "operand 2 is NULL");
  REFUSED(gt_index_add(out, 0, index, NULL), GT_ERROR_ARGUMENT, "operand 3 is NULL");
  REFUSED(gt_index_add(out, 2, index, src), GT_ERROR_ARGUMENT, "dim 2");
  REFUSED(gt_index_add(out, 0, src, src), GT_ERROR_ARGUMENT, "int32 or int64, not float32");
  REFUSED(gt_index_add(out, 0, single, src), GT_ERROR_SHAPE, "(2, 4)");
  REFUSED(gt_index_add(out, 1, index, src), GT_ERROR_SHAPE, "gt_index_add: the source (2, 4) does not go along dim 1");
  REFUSED(gt_index_add(out, 0, index, gt_ones(GT_SHAPE(2, 4), GT_FLOAT64, DEV)), GT_ERROR_DTYPE, "gt_to_dtype");
  REFUSED(gt_index_add(gt_expand(gt_ones(GT_SHAPE(4), GT_FLOAT32, DEV), GT_SHAPE(3, 4)), 0, index, src), GT_ERROR_ARGUMENT,
          "share memory");
  REFUSED(gt_index_add(gt_zeros(GT_SHAPE(0, 4), GT_FLOAT32, DEV), 0, index, src), GT_ERROR_SHAPE, "(0, 4)");
  REFUSED(gt_scatter_reduce(out, 0, index, src, GT_SUM, 1), GT_ERROR_SHAPE, "gt_scatter_reduce: the source (2, 4) does not go");
  REFUSED(gt_scatter_reduce(out, 1, gt_zeros(GT_SHAPE(2, 5), GT_INT64, DEV), src, GT_SUM, 1), GT_ERROR_SHAPE, "(2, 4) does not go along dim 1");
  REFUSED(gt_scatter_reduce(gt_zeros(GT_SHAPE(3, 3), GT_FLOAT32, DEV), 0, single, src, GT_SUM, 1), GT_ERROR_SHAPE, "(3, 3)");
  REFUSED(gt_scatter_reduce(out, 0, single, src, GT_MEAN, 1), GT_ERROR_ARGUMENT, "GT_SUM, GT_MAX or GT_MIN");
  REFUSED(gt_scatter_reduce(out, 0, single, src, (gt_reduction)77, 1), GT_ERROR_ARGUMENT, "GT_SUM, GT_MAX or GT_MIN");
  CHECK_VALUES(gt_sum(NULL, out, GT_ALL, 0), 0);
  CHECK(!gt_index_add(out, 9, index, src) && !gt_index_add(out, 0, NULL, src) && gt_error() == GT_ERROR_ARGUMENT);
  gt_clear_error();
}
/* On the CPU the call refuses; on a GPU a bad index is left out, and the next wait says so. */
static void test_bad_index(void) {
  for (int k = 0; k < 4; k++) {
    gt_tensor *out = gt_ones(GT_SHAPE(4), GT_FLOAT32, DEV);
    const gt_tensor *index = TENSOR(k % 2 ? GT_INT64 : GT_INT32, GT_SHAPE(3), 2, k < 2 ? -1 : 4, 2);
    const gt_tensor *src = TENSOR(GT_FLOAT32, GT_SHAPE(3), 10, 20, 30);
    if (DEV.type == GT_CPU) {
      REFUSED(gt_index_add(out, 0, index, src), GT_ERROR_ARGUMENT, "gt_index_add: index[1] is");
      REFUSED(gt_scatter_reduce(out, 0, index, src, GT_MAX, 0), GT_ERROR_ARGUMENT, "gt_scatter_reduce: index[1] is");
      CHECK_VALUES(out, 1, 1, 1, 1);
      continue;
    }
    CHECK(gt_scatter_reduce(out, 0, index, src, GT_SUM, 0) == out);
    REFUSED_STATUS(gt_synchronize(DEV), GT_ERROR_ARGUMENT, "gt_scatter_reduce: an index");
    CHECK_VALUES(out, 1, 1, 40, 1);
    CHECK(gt_index_add(out, 0, index, src) == out);
    REFUSED_STATUS(gt_synchronize(DEV), GT_ERROR_ARGUMENT, "gt_index_add: an index");
    CHECK_VALUES(out, 1, 1, 80, 1);
  }
}
/* On a stream, and in a graph that is launched several times and told of a bad index. */
static void test_streams_and_graphs(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *out = gt_zeros(GT_SHAPE(5, 8), GT_FLOAT32, DEV), *index = random_index(GT_SHAPE(300), 5, 0, GT_INT64);
  const gt_tensor *src = any_values(GT_SHAPE(300, 8), GT_FLOAT32);
  gt_tensor *expected = gt_index_add(gt_zeros_like(out), 0, index, src);
  GT_WITH_STREAM(s) { gt_index_add(out, 0, index, src); }
  CHECK_SAME(out, expected);
  gt_fill(out, 0);
  gt_graph *g = NULL;
  GT_WITH_STREAM(s) {
    gt_graph_begin(s);
    gt_index_add(out, 0, index, src);
    gt_scatter_reduce(out, 0, gt_zeros(GT_SHAPE(1, 8), GT_INT32, DEV), gt_slice(src, 0, 0, 1, 1), GT_MAX, 1);
    g = gt_graph_end();
  }
  CHECK(g != NULL);
  for (int k = 0; k < 3; k++) {
    gt_tensor *again = gt_index_add(expected, 0, index, src);
    if (!k) gt_copy(again, gt_index_add(gt_zeros_like(out), 0, index, src));
    gt_scatter_reduce(again, 0, gt_zeros(GT_SHAPE(1, 8), GT_INT32, DEV), gt_slice(src, 0, 0, 1, 1), GT_MAX, 1);
    CHECK_INT(gt_graph_launch(g, s), GT_OK);
    CHECK_SAME(out, again);
  }
  gt_fill(gt_slice(index, 0, 7, 8, 1), 99);
  gt_status status = gt_graph_launch(g, s); /* which may hear of it already */
  if (!status) status = gt_synchronize(DEV);
  REFUSED_STATUS(status, GT_ERROR_ARGUMENT, "gt_index_add: an index");
  gt_graph_free(g);
  gt_stream_free(s);
}
/* Large ones, against a plain loop over integers, in which the order does not count, and twice for floats. */
static void test_large(void) {
  const int64_t n = QUICK ? 1 << 16 : 1 << 20, places = QUICK ? 5000 : 70000;
  for (int few = 0; few < 2; few++) {
    const gt_tensor *index = random_index(GT_SHAPE(n), places, few, GT_INT32);
    const gt_tensor *src = any_values(GT_SHAPE(n), GT_INT32);
    gt_tensor *out = gt_index_add(gt_zeros(GT_SHAPE(places), GT_INT32, DEV), 0, index, src);
    int32_t *at = (int32_t *)values_of(index), *x = (int32_t *)values_of(src), *y = (int32_t *)values_of(out);
    for (int64_t i = 0; i < n; i++) y[at[i]] -= x[i];
    for (int64_t i = 0; i < places; i++)
      if (y[i]) {
        check_report(__FILE__, __LINE__, "place %lld is off by %d", (long long)i, y[i]);
        break;
      }
    free(at);
    free(x);
    free(y);
    src = any_values(GT_SHAPE(n), GT_FLOAT32);
    const gt_tensor *one = gt_index_add(gt_zeros(GT_SHAPE(places), GT_FLOAT32, DEV), 0, index, src);
    CHECK_SAME(one, gt_index_add(gt_zeros(GT_SHAPE(places), GT_FLOAT32, DEV), 0, index, src));
    y = (int32_t *)values_of(one);
    digest(GT_FLOAT32, y, places);
    free(y);
  }
}

int main(int argc, char **argv) {
  check_start("scatter", argc, argv);
  RUN(small);
  RUN(dtypes);
  RUN(lengths);
  RUN(many_places);
  RUN(layouts);
  RUN(shapes);
  RUN(special_values);
  RUN(overlap);
  RUN(refused);
  RUN(bad_index);
  RUN(streams_and_graphs);
  RUN(large);
  return check_finish();
}
