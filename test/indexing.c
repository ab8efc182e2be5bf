/* What reads by an index: gt_index_select and gt_gather, each beside a loop over the elements. */
#include "check.h"

/* ---- indices, and the loops ---- */
typedef struct {
  int64_t n, at[GT_MAX_DIMS];
  gt_shape shape;
} counter; /* a row-major walk over a shape */
static counter start(gt_shape shape) {
  counter c = {1, {0}, shape};
  for (int d = 0; d < shape.ndim; d++) c.n *= shape.size[d];
  return c;
}
static void next(counter *c) {
  for (int d = c->shape.ndim - 1; d >= 0; d--) {
    if (++c->at[d] < c->shape.size[d]) return;
    c->at[d] = 0;
  }
}
static int64_t number(gt_shape shape, const int64_t *at) {
  int64_t i = 0;
  for (int d = 0; d < shape.ndim; d++) i = i * shape.size[d] + at[d];
  return i;
}
static gt_shape some_shape(int dims, int64_t most) {
  gt_shape s = {dims, {0}};
  for (int d = 0; d < dims; d++) s.size[d] = 1 + rnd_below(most);
  return s;
}
/* Any bits, of bool 0 and 1. */
static gt_tensor *some_bits(gt_shape shape, gt_dtype dtype) {
  const int64_t n = start(shape).n;
  uint64_t *p = (uint64_t *)malloc((size_t)n * 8 + 8);
  for (int64_t i = 0; i <= n; i++) p[i] = dtype == GT_BOOL ? rnd() & 0x0101010101010101u : rnd();
  gt_tensor *x = gt_from_array(p, shape, dtype, DEV);
  free(p);
  return x;
}
static gt_tensor *some_index(gt_shape shape, int64_t entries, gt_dtype dtype) {
  const int64_t n = start(shape).n;
  int64_t *p = (int64_t *)malloc((size_t)n * 8 + 8);
  for (int64_t i = 0; i < n; i++) p[i] = rnd_below(entries);
  gt_tensor *x = gt_to_dtype(gt_from_array(p, shape, GT_INT64, DEV), dtype);
  free(p);
  return x;
}
/* The same values elsewhere, or, of a few, broadcast along the first dim. */
static gt_tensor *elsewhere(gt_tensor *x) {
  const int layout = (int)rnd_below(LAYOUTS + 1);
  if (!gt_numel(x) || !x->ndim) return x;
  if (layout < LAYOUTS) return relayout(x, layout);
  return gt_expand(gt_slice(x, 0, 0, 1, 1), gt_shape_of(x));
}
static int64_t index_at(const gt_tensor *index, const void *values, gt_shape shape, const int64_t *at) {
  return load_int(index->dtype, values, number(shape, at));
}
/* What gt_index_select has to make: a contiguous tensor of x's dtype. */
static gt_tensor *selected(const gt_tensor *x, int dim, const gt_tensor *index) {
  const gt_shape from = gt_shape_of(x), by = gt_shape_of(index);
  gt_shape shape = {0, {0}};
  for (int d = 0; d < dim; d++) shape.size[shape.ndim++] = from.size[d];
  for (int d = 0; d < by.ndim; d++) shape.size[shape.ndim++] = by.size[d];
  for (int d = dim + 1; d < from.ndim; d++) shape.size[shape.ndim++] = from.size[d];
  const size_t width = gt_dtype_size(x->dtype);
  counter c = start(shape);
  char *const values = (char *)values_of(x), *const entries = (char *)values_of(index);
  char *const out = (char *)malloc((size_t)c.n * width + 8);
  for (int64_t i = 0; i < c.n; i++, next(&c)) {
    int64_t at[GT_MAX_DIMS] = {0};
    for (int d = 0; d < from.ndim; d++)
      if (d != dim) at[d] = c.at[d < dim ? d : d - 1 + by.ndim];
    at[dim] = index_at(index, entries, by, c.at + dim);
    memcpy(out + (size_t)i * width, values + (size_t)number(from, at) * width, width);
  }
  gt_tensor *y = gt_from_array(out, shape, x->dtype, DEV);
  free(out);
  free(values);
  free(entries);
  return y;
}
/* The same of gt_gather. */
static gt_tensor *gathered(const gt_tensor *x, int dim, const gt_tensor *index) {
  const gt_shape from = gt_shape_of(x), by = gt_shape_of(index);
  const size_t width = gt_dtype_size(x->dtype);
  counter c = start(by);
  char *const values = (char *)values_of(x), *const entries = (char *)values_of(index);
  char *const out = (char *)malloc((size_t)c.n * width + 8);
  for (int64_t i = 0; i < c.n; i++, next(&c)) {
    int64_t at[GT_MAX_DIMS];
    memcpy(at, c.at, sizeof at);
    at[dim] = load_int(index->dtype, entries, i);
    memcpy(out + (size_t)i * width, values + (size_t)number(from, at) * width, width);
  }
  gt_tensor *y = gt_from_array(out, by, x->dtype, DEV);
  free(out);
  free(values);
  free(entries);
  return y;
}
static gt_tensor *reading(int select, gt_tensor *out, const gt_tensor *x, int dim, const gt_tensor *index) {
  return select ? gt_index_select(out, x, dim, index) : gt_gather(out, x, dim, index);
}
/* Bit by bit, NaNs too. */
static void check_bits(const char *what, const gt_tensor *x, const gt_tensor *y) {
  CHECK_TEXT(x && x->dtype == y->dtype && gt_numel(x) == gt_numel(y), "%s: %s", what, gt_error_message());
  if (!x) return;
  void *const p = values_of(x), *const q = values_of(y);
  CHECK_TEXT(!memcmp(p, q, gt_nbytes(y)), "%s: other bits", what);
  digest(x->dtype, p, gt_numel(x));
  free(p);
  free(q);
}

/* ---- any operands ---- */
/* Into a result that is made, one that lies as it likes, and one of another dtype. */
static void check_reading(int select, const gt_tensor *x, int dim, const gt_tensor *index) {
  const gt_tensor *right = select ? selected(x, dim, index) : gathered(x, dim, index);
  const char *what = select ? "gt_index_select" : "gt_gather";
  const int negative = dim - x->ndim;
  check_bits(what, reading(select, NULL, x, dim, index), right);
  gt_tensor *out = gt_zeros(gt_shape_of(right), x->dtype, DEV);
  if (gt_numel(out) && out->ndim) out = relayout(out, (int)rnd_below(LAYOUTS));
  CHECK(reading(select, out, x, negative, index) == out);
  check_bits(what, out, right);
  gt_tensor *other = gt_zeros(gt_shape_of(right), GT_FLOAT64, DEV);
  CHECK(reading(select, other, x, dim, index) == other);
  CHECK_SAME(other, gt_to_dtype(right, GT_FLOAT64));
}
static void test_random_selects(void) {
  for (int i = 0; i < (QUICK ? 300 : 3000); i++) GT_SCOPE {
    const gt_dtype dtype = (gt_dtype)(i % GT_DTYPES), width = rnd_below(2) ? GT_INT32 : GT_INT64;
    const int dims = 1 + (int)rnd_below(4), rank = (int)rnd_below(4);
    gt_tensor *x = elsewhere(some_bits(some_shape(dims, 9), dtype));
    const int dim = (int)rnd_below(dims);
    gt_tensor *index = elsewhere(some_index(some_shape(rank, 6), x->shape[dim], width));
    check_reading(1, x, dim, index);
  }
}
static void test_random_gathers(void) {
  for (int i = 0; i < (QUICK ? 300 : 3000); i++) GT_SCOPE {
    const gt_dtype dtype = (gt_dtype)(i % GT_DTYPES), width = rnd_below(2) ? GT_INT32 : GT_INT64;
    const int dims = 1 + (int)rnd_below(4);
    gt_tensor *x = elsewhere(some_bits(some_shape(dims, 12), dtype));
    const int dim = (int)rnd_below(dims);
    gt_shape shape = some_shape(dims, 12);
    for (int d = 0; d < dims; d++)
      if (d != dim && shape.size[d] > x->shape[d]) shape.size[d] = x->shape[d];
    check_reading(0, x, dim, elsewhere(some_index(shape, x->shape[dim], width)));
  }
}
/* Rows of all widths, which move in pieces of up to 16 bytes, by several threads and blocks. */
static void test_rows(void) {
  static const int64_t widths[] = {1, 2, 3, 4, 6, 8, 15, 16, 24, 63, 64, 100, 768, 1025};
  for (int i = 0; i < 14 * 4; i++) GT_SCOPE {
    static const gt_dtype dtypes[] = {GT_INT8, GT_BFLOAT16, GT_FLOAT32, GT_INT64};
    const int64_t width = widths[i / 4], rows = 1 + 40000 / width;
    gt_tensor *x = some_bits(GT_SHAPE(50, width + i % 3), dtypes[i % 4]);
    x = gt_slice(x, 1, i % 3, width + i % 3, 1);
    check_reading(1, x, 0, some_index(GT_SHAPE(2, rows), 50, i % 5 ? GT_INT64 : GT_INT32));
    check_reading(1, gt_transpose(x, 0, 1), 1, some_index(GT_SHAPE(rows), 50, GT_INT64));
  }
}
static void test_many(void) {
  for (int i = 0; i < 8; i++) GT_SCOPE {
    static const gt_dtype dtypes[] = {GT_UINT8, GT_FLOAT16, GT_FLOAT32, GT_FLOAT64};
    gt_tensor *x = some_bits(GT_SHAPE(130, 257), dtypes[i % 4]);
    gt_tensor *index = some_index(GT_SHAPE(120, 250), 120, i < 4 ? GT_INT64 : GT_INT32);
    check_reading(0, x, 0, index);
    check_reading(0, x, 1, index);
    check_reading(0, gt_transpose(x, 0, 1), 1, gt_transpose(index, 0, 1));
    check_reading(0, gt_reshape(x, GT_SHAPE(-1)), 0, gt_reshape(index, GT_SHAPE(-1)));
    check_reading(0, x, 0, gt_expand(gt_slice(index, 0, 0, 1, 1), GT_SHAPE(99, 250)));
    check_reading(1, gt_reshape(x, GT_SHAPE(-1)), 0, index);
  }
}
/* Large matrices, of which some elements are picked: GPUs go by stripes of 32 columns. */
static void test_stripes(void) {
  static const int64_t columns[] = {64, 192, 100};
  for (int i = 0; i < 3 * 2; i++) GT_SCOPE {
    gt_generator g = {7, (uint64_t)i};
    const int64_t n = columns[i / 2], rows = (1 << 22) / n + 1;
    gt_tensor *x = gt_randint(0, 200, GT_SHAPE(rows, n), i % 2 ? GT_INT16 : GT_UINT8, DEV, &g);
    gt_tensor *index = some_index(GT_SHAPE(37, n), rows, i % 2 ? GT_INT32 : GT_INT64);
    check_reading(0, x, 0, index);
    check_reading(0, gt_flip(x, GT_ALL), 0, gt_slice(index, 0, 0, 37, 3));
    x = gt_reshape(gt_expand(x, GT_SHAPE(2, rows, n)), GT_SHAPE(1, 2, rows, n));
    check_reading(0, x, 2, gt_expand(index, GT_SHAPE(1, 2, 37, n)));
  }
}

/* ---- values and shapes that are known ---- */
static void test_ranks(void) {
  const gt_tensor *x = gt_reshape(gt_arange(0, 24, 1, GT_INT32, DEV), GT_SHAPE(2, 4, 3));
  const gt_tensor *one = TENSOR(GT_INT64, GT_SHAPE_0D, 2), *four = TENSOR(GT_INT32, GT_SHAPE(2, 2), 3, 0, 1, 1);
  gt_tensor *number = gt_full(GT_SHAPE_0D, 5, GT_INT16, DEV), *most;
  CHECK_SHAPE(gt_index_select(NULL, x, 1, one), 2, 3);
  CHECK_VALUES(gt_index_select(NULL, x, 1, one), 6, 7, 8, 18, 19, 20);
  CHECK_VALUES(gt_index_select(NULL, gt_view(x, "1, :, 2"), 0, one), 20);
  CHECK_SHAPE_0D(gt_index_select(NULL, gt_view(x, "1, :, 2"), 0, one));
  CHECK_SHAPE(gt_index_select(NULL, x, 1, four), 2, 2, 2, 3);
  CHECK_VALUES(gt_index_select(NULL, gt_view(x, "0, :, :2"), 0, four), 9, 10, 0, 1, 3, 4, 3, 4);
  CHECK_SHAPE(gt_index_select(NULL, x, 0, gt_zeros(GT_SHAPE(0, 5), GT_INT64, DEV)), 0, 5, 4, 3);
  CHECK_SHAPE(gt_index_select(NULL, gt_zeros(GT_SHAPE(4, 0), GT_INT8, DEV), 0, four), 2, 2, 0);
  CHECK_SHAPE(gt_index_select(NULL, gt_zeros(GT_SHAPE(0, 3), GT_INT8, DEV), 0,
                              gt_zeros(GT_SHAPE(2, 0), GT_INT32, DEV)), 2, 0, 3);
  CHECK_SHAPE_0D(gt_index_select(NULL, number, 0, gt_zeros(GT_SHAPE(1, 1), GT_INT64, DEV)));
  CHECK_VALUES(gt_index_select(NULL, number, -1, gt_zeros(GT_SHAPE_0D, GT_INT32, DEV)), 5);
  most = gt_reshape(x, GT_SHAPE(2, 1, 4, 1, 1, 1, 3));
  CHECK_SHAPE(gt_index_select(NULL, most, 2, four), 2, 1, 2, 2, 1, 1, 1, 3);
  REFUSED(gt_index_select(NULL, gt_unsqueeze(most, 0), 3, four), GT_ERROR_SHAPE,
          "an index (2, 2) for a dim of (1, 2, 1, 4, 1, 1, 1, 3) makes 9 dimensions, 8 are most");
}
static void test_gathers(void) { /* as torch.gather */
  const gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
  const gt_tensor *index = TENSOR(GT_INT64, GT_SHAPE(2, 3), 0, 1, 1, 1, 0, 0);
  CHECK_VALUES(gt_gather(NULL, x, 0, index), 1, 5, 6, 4, 2, 3);
  CHECK_VALUES(gt_gather(NULL, x, 1, index), 1, 2, 2, 5, 4, 4);
  CHECK_VALUES(gt_gather(NULL, x, -1, TENSOR(GT_INT32, GT_SHAPE(1, 5), 2, 2, 0, 1, 2)), 3, 3, 1, 2, 3);
  CHECK_VALUES(gt_gather(NULL, x, 0, TENSOR(GT_INT64, GT_SHAPE(3, 1), 1, 0, 1)), 4, 1, 4);
  CHECK_SHAPE(gt_gather(NULL, x, 0, gt_zeros(GT_SHAPE(4, 0), GT_INT64, DEV)), 4, 0);
  CHECK_SHAPE(gt_gather(NULL, gt_zeros(GT_SHAPE(0, 2), GT_INT8, DEV), 0, gt_zeros(GT_SHAPE(0, 2), GT_INT32, DEV)),
              0, 2);
  /* the entries of a row in their order: what sorting by an index is */
  const gt_tensor *order = TENSOR(GT_INT64, GT_SHAPE(2, 3), 2, 0, 1, 1, 2, 0);
  CHECK_VALUES(gt_gather(NULL, x, 1, order), 3, 1, 2, 5, 6, 4);
  gt_tensor *number = gt_full(GT_SHAPE_0D, 7, GT_FLOAT16, DEV), *zero = gt_zeros(GT_SHAPE_0D, GT_INT64, DEV);
  CHECK_SHAPE_0D(gt_gather(NULL, number, 0, zero));
  CHECK_VALUES(gt_gather(NULL, number, -1, zero), 7);
  CHECK_VALUES(gt_gather(NULL, number, 0, gt_zeros(GT_SHAPE(3), GT_INT64, DEV)), 7, 7, 7);
  CHECK_SHAPE_0D(gt_gather(NULL, gt_view(x, "1"), 0, zero));
  CHECK_VALUES(gt_gather(NULL, gt_view(x, "1"), 0, zero), 4);
}

/* ---- overlaps: as if all were read first ---- */
static void test_overlaps(void) {
  for (int select = 0; select < 2; select++) {
    gt_tensor *index = TENSOR(GT_INT64, GT_SHAPE(4), 3, 3, 0, 1), *x = gt_arange(10, 14, 1, GT_INT64, DEV);
    CHECK(reading(select, x, x, 0, index) == x);
    CHECK_VALUES(x, 13, 13, 10, 11);
    CHECK(reading(select, index, x, 0, index) == index);
    CHECK_VALUES(index, 11, 11, 13, 13);
    x = gt_arange(0, 9, 1, GT_FLOAT32, DEV);
    index = TENSOR(GT_INT32, GT_SHAPE(5), 4, 3, 2, 1, 0);
    CHECK(reading(select, gt_slice(x, 0, 3, 8, 1), x, 0, index) != NULL);
    CHECK_VALUES(x, 0, 1, 2, 4, 3, 2, 1, 0, 8);
    CHECK(reading(select, gt_slice(x, 0, 4, 9, 1), gt_flip(x, GT_ALL), -1, index) != NULL);
    CHECK_VALUES(x, 0, 1, 2, 4, 3, 2, 1, 0, 8);
    REFUSED(reading(select, gt_expand(gt_zeros(GT_SHAPE_0D, GT_FLOAT32, DEV), GT_SHAPE(5)), x, 0, index),
            GT_ERROR_ARGUMENT, "the output's elements share memory");
  }
}

/* ---- what is refused ---- */
static void test_refused(void) {
  const gt_tensor *x = gt_ones(GT_SHAPE(3, 4), GT_FLOAT32, DEV), *wide = gt_zeros(GT_SHAPE(3, 5), GT_INT64, DEV);
  const gt_tensor *index = gt_zeros(GT_SHAPE(2, 4), GT_INT64, DEV), *flat = gt_zeros(GT_SHAPE(2), GT_INT64, DEV);
  const gt_tensor *zero = gt_zeros(GT_SHAPE_0D, GT_INT64, DEV);
  gt_tensor *out = gt_full(GT_SHAPE(2, 4), 3, GT_FLOAT32, DEV);
  REFUSED(gt_gather(NULL, x, 2, index), GT_ERROR_ARGUMENT, "gt_gather: dim 2 is out of range");
  REFUSED(gt_gather(NULL, x, -3, index), GT_ERROR_ARGUMENT, "gt_gather: dim -3 is out of range");
  REFUSED(gt_gather(NULL, x, (int)GT_DIM(0), index), GT_ERROR_ARGUMENT, "a plain number is expected");
  REFUSED(gt_gather(NULL, x, 0, gt_to_dtype(index, GT_FLOAT32)), GT_ERROR_ARGUMENT,
          "gt_gather: the index must be int32 or int64, not float32 (2, 4)");
  REFUSED(gt_gather(NULL, x, 0, gt_to_dtype(index, GT_BOOL)), GT_ERROR_ARGUMENT, "not bool (2, 4)");
  REFUSED(gt_gather(NULL, x, 0, flat), GT_ERROR_SHAPE,
          "the index (2,) must have as many dims as (3, 4), and none but dim 0 may be longer");
  REFUSED(gt_gather(NULL, x, 0, zero), GT_ERROR_SHAPE, "the index () must have as many dims");
  REFUSED(gt_gather(NULL, zero, 0, index), GT_ERROR_SHAPE, "the index (2, 4) must have as many dims as ()");
  REFUSED(gt_gather(NULL, x, 0, wide), GT_ERROR_SHAPE, "the index (3, 5) must have as many dims as (3, 4), and none");
  CHECK_SHAPE(gt_gather(NULL, x, 1, wide), 3, 5);
  REFUSED(gt_gather(out, x, 1, wide), GT_ERROR_SHAPE, "gt_gather: the output is (2, 4), the result (3, 5)");
  REFUSED(gt_gather(NULL, NULL, 0, index), GT_ERROR_ARGUMENT, "gt_gather: operand 1 is NULL");
  REFUSED(gt_gather(NULL, x, 0, NULL), GT_ERROR_ARGUMENT, "gt_gather: operand 2 is NULL");
  REFUSED(gt_index_select(NULL, x, 0, gt_to_dtype(index, GT_INT16)), GT_ERROR_ARGUMENT,
          "gt_index_select: the index must be int32 or int64, not int16 (2, 4)");
  if (DEV.type != GT_CPU) {
    REFUSED(gt_gather(NULL, x, 0, gt_to(index, gt_cpu())), GT_ERROR_DEVICE, "gt_gather: operand 1 (3, 4) is on cuda");
    REFUSED(gt_gather(gt_zeros(GT_SHAPE(2, 4), GT_FLOAT32, gt_cpu()), x, 0, index), GT_ERROR_DEVICE,
            "gt_gather: the output is on cpu");
  }
  gt_gather(NULL, x, 9, index); /* while an error is pending nothing happens, but for a given out */
  CHECK(gt_gather(NULL, x, 0, index) == NULL);
  REFUSED(gt_gather(out, NULL, 0, index), GT_ERROR_ARGUMENT, "dim 9");
  CHECK_VALUES(out, 3, 3, 3, 3, 3, 3, 3, 3);
}
/* A call and the waits behind it tell of both functions, of one after the other. */
static void check_both_told(gt_status status) {
  int seen = 0;
  for (int i = 0; i < 2; i++) {
    if (i || !status) status = gt_synchronize(DEV);
    CHECK_INT(status, GT_ERROR_ARGUMENT);
    seen |= strstr(gt_error_message(), "gt_index_select: an index of a GPU") ? 1 : 0;
    seen |= strstr(gt_error_message(), "gt_gather: an index of a GPU") ? 2 : 0;
    gt_clear_error();
  }
  CHECK_INT(seen, 3);
  CHECK_INT(gt_synchronize(DEV), GT_OK);
}
/* On the CPU the call says so and leaves out as it was; a GPU makes zeros, and a wait says so. */
static void test_out_of_range(void) {
  static const double bad[] = {3, -1, -3, 2147483647., -2147483648., 0x1p32, 0x1p62, -0x1p63};
  for (int i = 0; i < 8 * 2 * 2; i++) GT_SCOPE {
    const int select = i % 2;
    const gt_tensor *x = gt_ones(GT_SHAPE(3, 3), GT_INT16, DEV);
    gt_tensor *index = gt_zeros(GT_SHAPE(3, 2), GT_INT64, DEV), *out, *same;
    gt_fill(gt_view(index, "1, 1"), bad[i / 4]);
    if (bad[i / 4] != 0x1p32 && fabs(bad[i / 4]) < 0x1p40 && i & 2) index = gt_to_dtype(index, GT_INT32);
    out = gt_full(select ? GT_SHAPE(3, 2, 3) : GT_SHAPE(3, 2), 7, GT_INT16, DEV);
    same = gt_copy(NULL, out);
    const char *said = "an index of a GPU or a graph was out of range; the entries that it named are 0";
    if (DEV.type == GT_CPU) {
      REFUSED(reading(select, out, x, 0, index), GT_ERROR_ARGUMENT, "index[3] is ");
      CHECK_SAME(out, same);
      REFUSED(reading(select, NULL, x, 0, gt_transpose(index, 0, 1)), GT_ERROR_ARGUMENT, "index[4] is ");
      continue;
    }
    CHECK(reading(select, out, x, 0, index) == out);
    NO_ERROR();
    REFUSED_IF(gt_synchronize(DEV) != GT_OK, GT_ERROR_ARGUMENT, said);
    CHECK_INT(gt_synchronize(DEV), GT_OK);
    if (select) CHECK_VALUES(gt_view(out, ":, :, 1"), 1, 1, 1, 0, 1, 1);
    else CHECK_VALUES(out, 1, 1, 1, 0, 1, 1);
  }
  const gt_tensor *none = gt_zeros(GT_SHAPE(0, 2), GT_FLOAT32, DEV), *zero = gt_zeros(GT_SHAPE(1, 2), GT_INT32, DEV);
  if (DEV.type == GT_CPU) REFUSED(gt_gather(NULL, none, 0, zero), GT_ERROR_ARGUMENT, "the dim has 0 entries");
  else {
    const gt_tensor *y = gt_index_select(NULL, none, 0, zero), *z = gt_gather(NULL, none, 0, zero);
    check_both_told(GT_OK);
    CHECK_INT(gt_synchronize(DEV), GT_OK);
    CHECK_VALUES(y, 0, 0, 0, 0);
    CHECK_VALUES(z, 0, 0);
  }
}

/* ---- graphs and streams ---- */
static void test_graph(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *x = some_bits(GT_SHAPE(40, 30), GT_BFLOAT16), *index = some_index(GT_SHAPE(8, 30), 30, GT_INT64);
  gt_tensor *y = NULL, *z = NULL;
  CHECK_INT(gt_graph_begin(s), GT_OK);
  GT_WITH_STREAM(s) {
    y = gt_gather(NULL, x, 0, index);
    z = gt_index_select(NULL, x, 1, index);
  }
  gt_graph *g = gt_graph_end();
  for (int i = 0; i < 3; i++) GT_SCOPE {
    gt_copy(index, some_index(GT_SHAPE(8, 30), 30, GT_INT64));
    CHECK_INT(gt_graph_launch(g, s), GT_OK);
    check_bits("gt_gather in a graph", y, gathered(x, 0, index));
    check_bits("gt_index_select in a graph", z, selected(x, 1, index));
  }
  gt_fill(gt_view(index, "3, 3"), 35); /* of 40 and of 30 */
  gt_status status = gt_graph_launch(g, s);
  if (!status) status = gt_synchronize(DEV);
  REFUSED_STATUS(status, GT_ERROR_ARGUMENT, "gt_index_select: an index of a GPU or a graph");
  gt_fill(gt_view(index, "3, 3"), -1);
  check_both_told(gt_graph_launch(g, s));
  gt_graph_free(g);
  gt_stream_free(s);
}
static void test_streams(void) {
  gt_stream *const s = gt_stream_create(DEV, 0), *const t = gt_stream_create(DEV, 0);
  gt_tensor *x = some_bits(GT_SHAPE(700, 64), GT_FLOAT32), *index = some_index(GT_SHAPE(500, 64), 500, GT_INT32);
  gt_tensor *y = NULL, *z = NULL, *right = gathered(gathered(x, 0, index), 0, index);
  for (int i = 0; i < 5; i++) GT_SCOPE {
    GT_WITH_STREAM(s) y = gt_gather(NULL, x, 0, index);
    GT_WITH_STREAM(t) z = gt_gather(NULL, y, 0, index);
    GT_WITH_STREAM(s) gt_fill(y, 0);
    CHECK_SAME(z, right);
  }
  gt_stream_free(s);
  gt_stream_free(t);
}

int main(int argc, char **argv) {
  check_start("indexing", argc, argv);
  RUN(ranks);
  RUN(gathers);
  RUN(random_selects);
  RUN(random_gathers);
  RUN(rows);
  RUN(many);
  RUN(stripes);
  RUN(overlaps);
  RUN(refused);
  RUN(out_of_range);
  RUN(graph);
  RUN(streams);
  return check_finish();
}
