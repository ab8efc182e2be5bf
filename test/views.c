/* Views that go backwards, overlap or come from a text: each is compared with a list of the elements
   that it has to show, made one by one; then all primitives read and write them. */
#include "check.h"

/* ---- the model: a view is its shape and, row by row, the number of each element in memory ---- */
enum { MOST = 4096 };
typedef struct {
  int ndim;
  int64_t shape[GT_MAX_DIMS], n, at[MOST];
} model;
static void count(model *m) {
  m->n = 1;
  for (int d = 0; d < m->ndim; d++) m->n *= m->shape[d];
}
static model whole_model(const gt_tensor *x) {
  model m = {0};
  m.ndim = x->ndim;
  for (int d = 0; d < x->ndim; d++) m.shape[d] = x->shape[d];
  count(&m);
  for (int64_t i = 0; i < m.n; i++) m.at[i] = i;
  return m;
}
static void coordinates(const model *m, int64_t i, int64_t *c) {
  for (int d = m->ndim - 1; d >= 0; d--) {
    c[d] = i % m->shape[d];
    i /= m->shape[d];
  }
}
static int64_t number(const model *m, const int64_t *c) {
  int64_t i = 0;
  for (int d = 0; d < m->ndim; d++) i = i * m->shape[d] + c[d];
  return i;
}
/* Dim d has the entries that are named. */
static model picked(const model *m, int d, int64_t n, const int64_t *entry) {
  model y = *m;
  int64_t c[GT_MAX_DIMS];
  y.shape[d] = n;
  count(&y);
  for (int64_t i = 0; i < y.n; i++) {
    coordinates(&y, i, c);
    c[d] = entry[c[d]];
    y.at[i] = m->at[number(m, c)];
  }
  return y;
}
static model dropped(const model *m, int d, int64_t entry) { /* select */
  model y = picked(m, d, 1, &entry);
  y.ndim--;
  for (; d < y.ndim; d++) y.shape[d] = y.shape[d + 1];
  return y;
}
/* The entries of Python's start:end:step, of which any may be missing (has 0): how many. */
static int64_t entries(int64_t n, const int *has, const int64_t *part, int64_t *entry) {
  const int64_t step = has[2] ? part[2] : 1;
  int64_t count = 0, start, end;
  if (step > 0) {
    start = !has[0] ? 0 : part[0] < 0 ? part[0] + n : part[0];
    end = !has[1] ? n : part[1] < 0 ? part[1] + n : part[1];
    for (int64_t i = start < 0 ? 0 : start; i < n && i < end; i += step) {
      entry[count++] = i;
      if (step > n) break;
    }
  } else {
    start = !has[0] ? n - 1 : part[0] < 0 ? part[0] + n : part[0];
    end = !has[1] ? -1 : part[1] < 0 ? part[1] + n : part[1];
    for (int64_t i = start > n - 1 ? n - 1 : start; i >= 0 && i > end; i += step) {
      entry[count++] = i;
      if (step < -n) break;
    }
  }
  return count;
}
static model unfolded(const model *m, int d, int64_t size, int64_t step) {
  model y = *m;
  int64_t c[GT_MAX_DIMS + 1];
  y.shape[d] = (m->shape[d] - size) / step + 1;
  y.shape[y.ndim++] = size;
  count(&y);
  for (int64_t i = 0; i < y.n; i++) {
    coordinates(&y, i, c);
    c[d] = c[d] * step + c[y.ndim - 1];
    y.at[i] = m->at[number(m, c)];
  }
  return y;
}
static model permuted(const model *m, const int64_t *order) {
  model y = *m;
  int64_t c[GT_MAX_DIMS], b[GT_MAX_DIMS];
  for (int d = 0; d < m->ndim; d++) y.shape[d] = m->shape[order[d]];
  for (int64_t i = 0; i < y.n; i++) {
    coordinates(&y, i, c);
    for (int d = 0; d < m->ndim; d++) b[order[d]] = c[d];
    y.at[i] = m->at[number(m, b)];
  }
  return y;
}
/* Does x, a view of 0, 1, 2, ... (modulo 100 in small dtypes), show what m lists? */
static void compare(const gt_tensor *x, const model *m, const char *what) {
  void *p;
  CHECK_TEXT(x != NULL, "%s: NULL (%s)", what, gt_error_message());
  if (!x) return;
  CHECK_TEXT(x->ndim == m->ndim, "%s: %d dims, not %d", what, x->ndim, m->ndim);
  if (x->ndim != m->ndim) return;
  for (int d = 0; d < m->ndim; d++)
    CHECK_TEXT(x->shape[d] == m->shape[d], "%s: size %d is %" PRId64 ", not %" PRId64, what, d, x->shape[d],
               m->shape[d]);
  if (gt_numel(x) != m->n) return;
  p = values_of(x);
  for (int64_t i = 0; i < m->n; i++) {
    const int64_t want = gt_dtype_size(x->dtype) == 1 ? m->at[i] % 100 : m->at[i];
    if (load(x->dtype, p, i) == (double)want) continue;
    CHECK_TEXT(0, "%s: element %" PRId64 " is %g, not %" PRId64, what, i, load(x->dtype, p, i), want);
    break;
  }
  free(p);
}
static gt_tensor *numbered(gt_shape shape, gt_dtype dtype) {
  int64_t n = 1, i;
  for (int d = 0; d < shape.ndim; d++) n *= shape.size[d];
  char *p = (char *)calloc((size_t)n + 1, 8);
  for (i = 0; i < n; i++) store_int(dtype, p, i, gt_dtype_size(dtype) == 1 ? i % 100 : i);
  gt_tensor *x = gt_from_array(p, shape, dtype, DEV);
  free(p);
  return x;
}

/* ---- one by one ---- */
static void test_slices(void) {
  static const int64_t some[] = {INT64_MIN, INT64_MIN + 1, -9, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 9,
                                 INT64_MAX - 1, INT64_MAX};
  enum { N = sizeof some / sizeof *some };
  static const int has[3] = {1, 1, 1};
  const gt_tensor *x = numbered(GT_SHAPE(2, 5), GT_INT32);
  const model m = whole_model(x);
  CHECK_VALUES(gt_slice(x, 1, INT64_MAX, INT64_MIN, -1), 4, 3, 2, 1, 0, 9, 8, 7, 6, 5);
  CHECK_VALUES(gt_slice(x, 1, 3, 0, -2), 3, 1, 8, 6);
  CHECK_VALUES(gt_slice(x, 0, -1, -3, -1), 5, 6, 7, 8, 9, 0, 1, 2, 3, 4);
  CHECK_SHAPE(gt_slice(x, 1, 0, 3, -1), 2, 0);
  REFUSED(gt_slice(x, 1, 0, 3, 0), GT_ERROR_ARGUMENT, "gt_slice: step 0");
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) GT_SCOPE {
        const int64_t part[3] = {some[i], some[j], some[k]};
        int64_t entry[8];
        char what[100];
        if (part[2] == 0) break;
        const model y = picked(&m, 1, entries(5, has, part, entry), entry);
        snprintf(what, sizeof what, "%" PRId64 ":%" PRId64 ":%" PRId64, part[0], part[1], part[2]);
        compare(gt_slice(x, 1, part[0], part[1], part[2]), &y, what);
      }
}
static void test_flip(void) {
  const gt_tensor *x = numbered(GT_SHAPE(2, 3), GT_FLOAT32);
  CHECK_VALUES(gt_flip(x, GT_DIM(0)), 3, 4, 5, 0, 1, 2);
  CHECK_VALUES(gt_flip(x, GT_DIM(-1)), 2, 1, 0, 5, 4, 3);
  CHECK_VALUES(gt_flip(x, GT_ALL), 5, 4, 3, 2, 1, 0);
  CHECK_VALUES(gt_flip(gt_flip(x, GT_DIM(0) | GT_DIM(1)), GT_ALL), 0, 1, 2, 3, 4, 5);
  CHECK_VALUES(gt_flip(gt_expand(gt_slice(x, 0, 0, 1, 1), GT_SHAPE(2, 3)), GT_ALL), 2, 1, 0, 2, 1, 0);
  CHECK_NUM(gt_item(gt_flip(gt_full(GT_SHAPE_0D, 3, GT_FLOAT64, DEV), GT_ALL)), 3);
  CHECK_SHAPE(gt_flip(gt_empty(GT_SHAPE(0, 3), GT_INT8, DEV), GT_ALL), 0, 3);
  CHECK_INT(gt_flip(x, GT_ALL)->offset, 5);
  CHECK_INT(gt_flip(x, GT_ALL)->stride[0], -3);
  CHECK(!gt_is_contiguous(gt_flip(x, GT_ALL)));
  CHECK(gt_is_contiguous(gt_flip(gt_slice(x, 0, 0, 1, 1), GT_DIM(0))));
  CHECK_VALUES(gt_reshape(gt_flip(x, GT_ALL), GT_SHAPE(6)), 5, 4, 3, 2, 1, 0);
  REFUSED(gt_reshape(gt_flip(x, GT_DIM(0)), GT_SHAPE(6)), GT_ERROR_SHAPE, "call gt_contiguous first");
  REFUSED(gt_flip(x, 1), GT_ERROR_ARGUMENT, "gt_flip: dims is the bare number 1; write GT_DIM(1)");
  REFUSED(gt_flip(x, GT_DIM(2)), GT_ERROR_ARGUMENT, "dim 2 is out of range for 2 dimensions");
  REFUSED(gt_flip(x, GT_DIM(1) | GT_DIM(-1)), GT_ERROR_ARGUMENT, "dim 1 is named twice");
  REFUSED(gt_flip(NULL, GT_ALL), GT_ERROR_ARGUMENT, "gt_flip");
}
static void test_unfold(void) {
  const gt_tensor *x = numbered(GT_SHAPE(7), GT_INT64), *one = gt_full(GT_SHAPE_0D, 4, GT_INT32, DEV);
  CHECK_VALUES(gt_unfold(x, 0, 3, 2), 0, 1, 2, 2, 3, 4, 4, 5, 6);
  CHECK_VALUES(gt_unfold(x, -1, 3, 4), 0, 1, 2, 4, 5, 6);
  CHECK_SHAPE(gt_unfold(x, 0, 7, 100), 1, 7);
  CHECK_SHAPE(gt_unfold(x, 0, 0, 2), 4, 0);
  CHECK_SHAPE(gt_unfold(gt_empty(GT_SHAPE(2, 0), GT_INT8, DEV), 1, 0, 1), 2, 1, 0);
  CHECK_SHAPE(gt_unfold(gt_empty(GT_SHAPE(0, 5), GT_INT8, DEV), 1, 2, 3), 0, 2, 2);
  CHECK_VALUES(gt_unfold(one, 0, 1, 1), 4); /* as torch.Tensor.unfold has it */
  CHECK_SHAPE(gt_unfold(one, -1, 0, 3), 0);
  CHECK_VALUES(gt_unfold(gt_flip(x, GT_ALL), 0, 2, 3), 6, 5, 3, 2);
  CHECK_SHAPE(gt_unfold(numbered(GT_SHAPE(2, 5, 3), GT_INT8), 1, 2, INT64_MAX), 2, 1, 3, 2);
  REFUSED(gt_unfold(x, 0, 8, 1), GT_ERROR_ARGUMENT, "gt_unfold: no windows of 8, one every 1, are in 7 entries");
  REFUSED(gt_unfold(x, 0, -1, 1), GT_ERROR_ARGUMENT, "windows of -1");
  REFUSED(gt_unfold(x, 0, 2, 0), GT_ERROR_ARGUMENT, "one every 0");
  REFUSED(gt_unfold(x, 0, 2, -1), GT_ERROR_ARGUMENT, "one every -1");
  REFUSED(gt_unfold(one, 0, 2, 1), GT_ERROR_ARGUMENT, "are in 1 entries");
  REFUSED(gt_unfold(x, 1, 2, 1), GT_ERROR_ARGUMENT, "dim 1 is out of range");
  REFUSED(gt_unfold(gt_empty(GT_SHAPE(1, 1, 1, 1, 1, 1, 1, 1), GT_INT8, DEV), 0, 1, 1), GT_ERROR_SHAPE,
          "already has 8 dimensions");
  REFUSED(gt_unfold(gt_expand(gt_empty(GT_SHAPE(1, 0), GT_INT8, DEV), GT_SHAPE((int64_t)1 << 59, 0)), 0,
                    (int64_t)1 << 58, 1), GT_ERROR_SHAPE, "more than memory can address");
}
static void test_as_strided(void) {
  const gt_tensor *x = numbered(GT_SHAPE(3, 4), GT_INT32), *row = gt_select(x, 0, 1);
  CHECK_VALUES(gt_as_strided(x, GT_SHAPE(2, 2), GT_SHAPE(1, 2), 0), 0, 2, 1, 3);
  CHECK_VALUES(gt_as_strided(row, GT_SHAPE(3), GT_SHAPE(-4), 11), 11, 7, 3);
  CHECK_VALUES(gt_as_strided(row, GT_SHAPE(2, 3), GT_SHAPE(0, 1), 9), 9, 10, 11, 9, 10, 11);
  CHECK_VALUES(gt_as_strided(x, GT_SHAPE(10, 3), GT_SHAPE(1, 1), 0), 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6,
               5, 6, 7, 6, 7, 8, 7, 8, 9, 8, 9, 10, 9, 10, 11);
  CHECK_NUM(gt_item(gt_as_strided(x, GT_SHAPE_0D, GT_SHAPE_0D, 11)), 11);
  CHECK_VALUES(gt_as_strided(x, GT_SHAPE(1, 2), GT_SHAPE(INT64_MIN, 1), 3), 3, 4); /* of size 1: no stride */
  CHECK_SHAPE(gt_as_strided(x, GT_SHAPE(5, 0), GT_SHAPE(INT64_MAX, INT64_MIN), INT64_MAX), 5, 0);
  CHECK_SHAPE(gt_as_strided(gt_empty(GT_SHAPE(0), GT_INT8, DEV), GT_SHAPE(0), GT_SHAPE(1), 0), 0);
  CHECK_SHAPE(gt_as_strided(x, GT_SHAPE(12), GT_SHAPE(1), 0), 12);
  REFUSED(gt_as_strided(x, GT_SHAPE(13), GT_SHAPE(1), 0), GT_ERROR_ARGUMENT,
          "gt_as_strided: (13,) by 1 strides from 0 on is not in 12 elements");
  REFUSED(gt_as_strided(x, GT_SHAPE(2), GT_SHAPE(-4), 3), GT_ERROR_ARGUMENT, "is not in 12");
  REFUSED(gt_as_strided(x, GT_SHAPE_0D, GT_SHAPE_0D, 12), GT_ERROR_ARGUMENT, "is not in 12");
  REFUSED(gt_as_strided(x, GT_SHAPE_0D, GT_SHAPE_0D, -1), GT_ERROR_ARGUMENT, "is not in 12");
  REFUSED(gt_as_strided(gt_empty(GT_SHAPE(0), GT_INT8, DEV), GT_SHAPE(1), GT_SHAPE(1), 0), GT_ERROR_ARGUMENT,
          "is not in 0 elements");
  REFUSED(gt_as_strided(x, GT_SHAPE(3), GT_SHAPE(INT64_MAX), 1), GT_ERROR_ARGUMENT, "is not in 12");
  REFUSED(gt_as_strided(x, GT_SHAPE(2), GT_SHAPE(INT64_MIN), 1), GT_ERROR_ARGUMENT, "is not in 12");
  REFUSED(gt_as_strided(x, GT_SHAPE(2, 2), GT_SHAPE(INT64_MAX, INT64_MAX), 1), GT_ERROR_ARGUMENT, "is not in");
  REFUSED(gt_as_strided(x, GT_SHAPE(2, 2), GT_SHAPE(INT64_MAX, -INT64_MAX), 1), GT_ERROR_ARGUMENT, "is not in");
  REFUSED(gt_as_strided(x, GT_SHAPE((int64_t)1 << 32, (int64_t)1 << 32), GT_SHAPE(0, 0), 0), GT_ERROR_SHAPE,
          "more than memory can address");
  REFUSED(gt_as_strided(x, GT_SHAPE(-1), GT_SHAPE(1), 0), GT_ERROR_SHAPE, "negative size");
  REFUSED(gt_as_strided(x, GT_SHAPE(2), GT_SHAPE(1, 1), 0), GT_ERROR_ARGUMENT, "(2,) by 2 strides from 0 on is not in 12 elements");
  REFUSED(gt_as_strided(NULL, GT_SHAPE(2), GT_SHAPE(1), 0), GT_ERROR_ARGUMENT, "gt_as_strided");
}
/* What shares memory is read, and refused as an output; what only looks so is not. */
static void test_outputs(void) {
  gt_tensor *x = numbered(GT_SHAPE(40), GT_FLOAT32);
  const gt_tensor *ones = gt_ones(GT_SHAPE(3, 3), GT_FLOAT32, DEV);
  REFUSED(gt_fill(gt_as_strided(x, GT_SHAPE(3, 3), GT_SHAPE(1, 1), 0), 1), GT_ERROR_ARGUMENT,
          "gt_fill: the output's elements share memory");
  REFUSED(gt_copy(gt_unfold(gt_slice(x, 0, 0, 5, 1), 0, 3, 1), ones), GT_ERROR_ARGUMENT, "share memory");
  REFUSED(gt_add(gt_as_strided(x, GT_SHAPE(3, 3), GT_SHAPE(-2, 1), 20), ones, ones), GT_ERROR_ARGUMENT,
          "share memory");
  REFUSED(gt_matmul(gt_as_strided(x, GT_SHAPE(3, 3), GT_SHAPE(0, 1), 0), ones, ones), GT_ERROR_ARGUMENT,
          "share memory");
  REFUSED(gt_sum(gt_as_strided(x, GT_SHAPE(3), GT_SHAPE(0), 0), ones, GT_DIM(0), 0), GT_ERROR_ARGUMENT, "share");
  REFUSED(gt_fill(gt_as_strided(x, GT_SHAPE(2, 2, 2), GT_SHAPE(3, -1, 2), 9), 1), GT_ERROR_ARGUMENT, "share");
  CHECK(gt_fill(gt_as_strided(x, GT_SHAPE(3, 0), GT_SHAPE(1, 1), 0), 1) != NULL);
  CHECK(gt_fill(gt_unfold(gt_slice(x, 0, 0, 9, 1), 0, 3, 3), 7) != NULL);
  CHECK(gt_fill(gt_as_strided(x, GT_SHAPE(2, 2, 2), GT_SHAPE(7, -1, 3), 11), 8) != NULL);
  CHECK_VALUES(gt_slice(x, 0, 0, 24, 1), 7, 7, 7, 7, 7, 7, 7, 7, 7, 9, 8, 8, 12, 8, 8, 15, 16, 8, 8, 19, 8, 8, 22,
               23);
}
/* Operands and outputs that overlap, one of them backwards: as if by way of a copy. */
static void test_overlaps(void) {
  gt_tensor *x = numbered(GT_SHAPE(12), GT_INT32), *y;
  CHECK_VALUES(gt_copy(x, gt_flip(x, GT_ALL)), 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  y = gt_slice(x, 0, 5, INT64_MIN, -1);
  CHECK_VALUES(gt_add(y, y, gt_slice(x, 0, 2, 8, 1)), 15, 15, 15, 15, 15, 15);
  CHECK_VALUES(x, 15, 15, 15, 15, 15, 15, 5, 4, 3, 2, 1, 0);
  gt_add(x, x, gt_flip(x, GT_ALL));
  CHECK_VALUES(x, 15, 16, 17, 18, 19, 20, 20, 19, 18, 17, 16, 15);
  gt_copy(gt_view(x, "::-1"), gt_arange(0, 12, 1, GT_INT32, DEV));
  CHECK_VALUES(x, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  gt_copy(gt_view(x, "6:"), gt_view(x, "5::-1")); /* beside each other */
  CHECK_VALUES(x, 11, 10, 9, 8, 7, 6, 6, 7, 8, 9, 10, 11);
}

/* ---- gt_view ---- */
static void test_texts(void) {
  const gt_tensor *x = numbered(GT_SHAPE(3, 4, 2), GT_INT32), *one = gt_full(GT_SHAPE_0D, 5, GT_INT32, DEV);
  gt_tensor *wide = gt_zeros(GT_SHAPE(1, 1, 1, 1, 1, 1, 1, 1), GT_INT8, DEV);
  char text[70000];
  CHECK_VALUES(gt_view(x, "1, ::2, 1"), 9, 13);
  CHECK_VALUES(gt_view(x, "1:-1, ::-2, 0"), 14, 10);
  CHECK_VALUES(gt_view(x, " -1 ,\t+1 ,\n: : -1"), 19, 18);
  CHECK_VALUES(gt_view(x, "..., 0")/* all dims but the last */, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22);
  CHECK_VALUES(gt_view(x, "0,...,1"), 1, 3, 5, 7);
  CHECK_VALUES(gt_view(x, "2,3,...,1"), 23);
  CHECK_SHAPE(gt_view(x, "..."), 3, 4, 2);
  CHECK_SHAPE(gt_view(x, ":"), 3, 4, 2);
  CHECK_SHAPE(gt_view(x, "5:2:1"), 0, 4, 2);
  CHECK_SHAPE(gt_view(x, "-9223372036854775808:9223372036854775807:9223372036854775807"), 1, 4, 2);
  CHECK_SHAPE(gt_view(x, "::-9223372036854775808"), 1, 4, 2);
  CHECK_SHAPE_0D(gt_view(one, "..."));
  CHECK_SHAPE(gt_view(x, "0, 1:3, ..., 0"), 2);
  CHECK_SHAPE(gt_view(wide, "0,0,0,...,0,0,0"), 1, 1);
  REFUSED(gt_view(x, ""), GT_ERROR_EXPRESSION, "at column 1: expected an index, a slice of no step 0, or ...");
  REFUSED(gt_view(x, "1,,2"), GT_ERROR_EXPRESSION, "gt_view: \"1,,2\"  at column 3: expected an index");
  REFUSED(gt_view(x, "1 2"), GT_ERROR_EXPRESSION, "at column 3: expected a comma or the end");
  REFUSED(gt_view(x, "0,"), GT_ERROR_EXPRESSION, "at column 3: expected an index");
  REFUSED(gt_view(x, "None"), GT_ERROR_EXPRESSION, "at column 1: expected an index");
  REFUSED(gt_view(x, "::2:"), GT_ERROR_EXPRESSION, "at column 4: expected a comma or the end");
  REFUSED(gt_view(x, "1, -"), GT_ERROR_EXPRESSION, "at column 4: expected an index");
  REFUSED(gt_view(x, "--1"), GT_ERROR_EXPRESSION, "at column 1: expected an index");
  REFUSED(gt_view(x, "1:- 1"), GT_ERROR_EXPRESSION, "at column 3: expected a comma or the end");
  REFUSED(gt_view(x, "0, ::0"), GT_ERROR_EXPRESSION, "at column 4: expected an index, a slice of no step 0");
  CHECK_SHAPE(gt_view(x, "-99999999999999999999:99999999999999999999:99999999999999999999"), 1, 4, 2);
  CHECK_SHAPE(gt_view(x, "99999999999999999999::-99999999999999999999"), 1, 4, 2);
  REFUSED(gt_view(x, "0, 4"), GT_ERROR_EXPRESSION, "at column 4: an index out of range");
  REFUSED(gt_view(x, "-4"), GT_ERROR_EXPRESSION, "at column 1: an index out of range");
  REFUSED(gt_view(x, "9223372036854775807"), GT_ERROR_EXPRESSION, "an index out of range");
  REFUSED(gt_view(x, "..., 0, ..."), GT_ERROR_EXPRESSION, "at column 1: ... stands twice");
  REFUSED(gt_view(x, "0, 0, 0, :"), GT_ERROR_EXPRESSION, "at column 10: the tensor has no dim for this");
  REFUSED(gt_view(one, "0"), GT_ERROR_EXPRESSION, "at column 1: the tensor has no dim for this");
  REFUSED(gt_view(x, "0, 0, ..., 0, 0"), GT_ERROR_EXPRESSION, "at column 15: the tensor has no dim for this");
  REFUSED(gt_view(x, "[0]"), GT_ERROR_EXPRESSION, "at column 1: expected an index");
  REFUSED(gt_view(x, "1.5"), GT_ERROR_EXPRESSION, "at column 2: expected a comma");
  REFUSED(gt_view(x, NULL), GT_ERROR_EXPRESSION, "no text");
  REFUSED(gt_view(NULL, ":"), GT_ERROR_ARGUMENT, "gt_view");
  *text = 0;
  for (int i = 0; i < 20; i++) strcat(text, i < 19 ? ":," : ":");
  REFUSED(gt_view(x, text), GT_ERROR_EXPRESSION, "at column 7: the tensor has no dim for this");
  memset(text, ' ', sizeof text);
  text[sizeof text - 1] = 0;
  REFUSED(gt_view(x, text), GT_ERROR_EXPRESSION, "more than 65535 characters");
  text[65535] = 0;
  REFUSED(gt_view(x, text), GT_ERROR_EXPRESSION, "at column 65536: expected an index");
}
/* Any text is a view, within the memory, or refused with its column. */
static void test_hostile_texts(void) {
  static const char *const word[] = {"0", "1", "2", "-", "+", ":", ":", ":", ",", ",", ",", "...", "None", "+1",
                                     " ", "\t", "9223372036854775807", "-9223372036854775808", "99999999999999999999",
                                     ".", "N", "[", "\x80", "\xff", "-1", "::-1"};
  const gt_tensor *x = gt_empty(GT_SHAPE(4, 5, 6), GT_INT8, DEV);
  int good = 0;
  for (int i = 0; i < 100000; i++) GT_SCOPE {
    char text[200] = "";
    const int n = (int)rnd_below(9);
    for (int k = 0; k < n; k++) strcat(text, word[rnd_below(i % 2 ? 26 : 15)]);
    const gt_tensor *y = gt_view(x, text);
    if (!y) {
      CHECK_TEXT(gt_error() == GT_ERROR_EXPRESSION && strstr(gt_error_message(), "at column"), "\"%s\": %s", text,
                 gt_error_message());
      gt_clear_error();
      continue;
    }
    int64_t low = y->offset, high = y->offset;
    good++;
    for (int d = 0; d < y->ndim && gt_numel(y); d++)
      *(y->stride[d] < 0 ? &low : &high) += y->stride[d] * (y->shape[d] - 1);
    CHECK_TEXT(low >= 0 && high < 120, "\"%s\" shows %" PRId64 " to %" PRId64, text, low, high);
  }
  CHECK(good > 1000 && good < 99000);
}

/* ---- random views ---- */
/* Adds an entry to the text and does the same to m, whose dim `d` is next. Returns the next dim. */
static int random_entry(char *text, model *m, int d) {
  const int64_t n = m->shape[d];
  int has[3];
  int64_t part[3], entry[64];
  if (n && rnd_below(4) == 0) {
    const int64_t i = rnd_below(2 * n) - n;
    sprintf(text + strlen(text), "%" PRId64 ",", i);
    *m = dropped(m, d, i < 0 ? i + n : i);
    return d;
  }
  for (int k = 0; k < 3; k++) {
    has[k] = rnd_below(3) > 0;
    part[k] = k < 2 ? rnd_below(2 * n + 5) - n - 2 : rnd_below(7) - 3;
    if (k == 2 && !part[k]) part[k] = -1;
    if (has[k]) sprintf(text + strlen(text), "%" PRId64, part[k]);
    strcat(text, k < 2 ? ":" : ",");
  }
  *m = picked(m, d, entries(n, has, part, entry), entry);
  return d + 1;
}
static gt_tensor *random_view(const gt_tensor *x, model *m, char *text) {
  gt_tensor *y = gt_retain(x);
  for (int turn = (int)rnd_below(4); turn >= 0; turn--) {
    const int kind = (int)rnd_below(5);
    char *end = text + strlen(text);
    if (kind == 0) {
      *end++ = '[';
      *end = 0;
      for (int d = 0; d < m->ndim;) {
        if (d && rnd_below(6) == 0 && !strstr(end, "...")) { /* the other dims, which are whole */
          strcat(text, "...,");
          break;
        }
        d = random_entry(text, m, d);
      }
      if (*end) text[strlen(text) - 1] = 0;
      y = *end ? gt_view(y, end) : y;
      strcat(text, "] ");
    } else if (kind == 1 && m->ndim) {
      const int d = (int)rnd_below(m->ndim);
      int64_t entry[64];
      for (int64_t i = 0; i < m->shape[d]; i++) entry[i] = m->shape[d] - 1 - i;
      *m = picked(m, d, m->shape[d], entry);
      sprintf(end, "flip %d ", d);
      y = gt_flip(y, GT_DIM(d));
    } else if (kind == 2 && m->ndim && m->ndim < 5) {
      const int d = (int)rnd_below(m->ndim);
      const int64_t size = rnd_below(m->shape[d] + 1), step = 1 + rnd_below(3);
      if (m->n * (size + 1) > MOST) continue;
      *m = unfolded(m, d, size, step);
      sprintf(end, "unfold %d %d %d ", d, (int)size, (int)step);
      y = gt_unfold(y, d, size, step);
    } else if (kind == 3) {
      gt_shape order = {m->ndim, {0}};
      for (int d = 0; d < m->ndim; d++) order.size[d] = d;
      for (int d = m->ndim - 1; d > 0; d--) {
        const int e = (int)rnd_below(d + 1);
        const int64_t was = order.size[d];
        order.size[d] = order.size[e];
        order.size[e] = was;
      }
      *m = permuted(m, order.size);
      strcat(text, "permute ");
      y = gt_permute(y, order);
    } else if (kind == 4) { /* the same strides, given by hand; of at most one dim more, twice */
      gt_shape shape = gt_shape_of(y), strides = shape;
      for (int d = 0; d < y->ndim; d++) strides.size[d] = y->stride[d];
      strcat(text, "as_strided ");
      y = gt_as_strided(y, shape, strides, y->offset);
    }
    if (!y) break;
  }
  return y;
}
static gt_shape random_shape(void) {
  gt_shape s = {1 + (int)rnd_below(4), {0}};
  for (int d = 0; d < s.ndim; d++) s.size[d] = rnd_below(20) ? 1 + rnd_below(s.ndim > 2 ? 6 : 40) : 0;
  return s;
}
static gt_dtype random_dtype(void) {
  static const gt_dtype some[] = {GT_FLOAT32, GT_FLOAT64, GT_INT64, GT_INT32, GT_INT8, GT_INT16, GT_FLOAT32};
  return some[rnd_below(7)];
}
static gt_tensor *numbered_at_random(void) { /* compilers differ in which argument they look at first */
  const gt_shape shape = random_shape();
  return numbered(shape, random_dtype());
}
static void test_random_views(void) {
  for (int i = 0; i < (QUICK ? 1500 : 20000); i++) GT_SCOPE {
    const gt_tensor *x = numbered_at_random();
    model m = whole_model(x);
    char text[2000] = "";
    const gt_tensor *y = random_view(x, &m, text);
    compare(y, &m, text);
    if (i % 4 == 0 && y) { /* by other roads to the host */
      compare(gt_contiguous(y), &m, text);
      compare(gt_to(y, gt_cpu()), &m, text);
      compare(gt_to(gt_to(y, gt_cpu()), DEV), &m, text);
      if (gt_dtype_size(y->dtype) > 1) compare(gt_to_dtype(y, GT_FLOAT64), &m, text);
    }
  }
}
static int shares(const model *m) {
  static unsigned char seen[MOST];
  int any = 0;
  memset(seen, 0, sizeof seen);
  for (int64_t i = 0; i < m->n; i++) any |= seen[m->at[i]]++ > 0;
  return any;
}
static gt_tensor *dense_of(const gt_tensor *y) { /* by way of the host */
  void *p = values_of(y);
  gt_tensor *x = gt_from_array(p, gt_shape_of(y), y->dtype, DEV);
  free(p);
  return x;
}
/* Each result has the bits that it has of a dense copy. */
static void read_by_all(const gt_tensor *y) {
  const gt_tensor *d = dense_of(y);
  const uint32_t dims = y->ndim && rnd_below(3) ? GT_DIM((int)rnd_below(y->ndim)) : GT_ALL;
  const gt_tensor *z = gt_flip(y, dims), *e = dense_of(z);
  CHECK_SAME(gt_eval(NULL, "a*0.5 + b", y, z), gt_eval(NULL, "a*0.5 + b", d, e));
  CHECK_SAME(gt_copy(NULL, z), e);
  CHECK_SAME(gt_sum(NULL, y, dims, 0), gt_sum(NULL, d, dims, 0));
  CHECK_SAME(gt_reduce(NULL, GT_SUM, dims, 1, "a*0.37 - b", y, z), gt_reduce(NULL, GT_SUM, dims, 1, "a*0.37 - b", d, e));
  if (gt_numel(y)) {
    CHECK_SAME(gt_max(NULL, z, dims, 0), gt_max(NULL, e, dims, 0));
    CHECK_SAME(gt_argmin(NULL, y, dims, 0), gt_argmin(NULL, d, dims, 0));
  }
  CHECK_SAME(gt_any(NULL, y, dims, 0), gt_any(NULL, d, dims, 0));
  const gt_tensor *sum = gt_reduce(NULL, GT_SUM, dims, 0, "a*0.37", y);
  void *p = values_of(sum);
  digest(sum->dtype, p, gt_numel(sum));
  free(p);
  if (!y->ndim) return;
  const int dim = (int)rnd_below(y->ndim);
  if (is_float(y->dtype)) {
    CHECK_SAME(gt_softmax(NULL, y, dim), gt_softmax(NULL, d, dim));
    CHECK_SAME(gt_logsumexp(NULL, y, GT_DIM(dim), 0), gt_logsumexp(NULL, d, GT_DIM(dim), 0));
  }
  if (y->shape[dim]) {
    const int64_t n = y->shape[dim];
    const gt_tensor *index = gt_flip(gt_randint(0, n, GT_SHAPE(5), GT_INT64, DEV, NULL), GT_ALL);
    CHECK_SAME(gt_index_select(NULL, y, dim, index), gt_index_select(NULL, d, dim, dense_of(index)));
  }
  const gt_tensor *both[] = {y, z}, *dense[] = {d, e};
  CHECK_SAME(gt_cat(NULL, 2, both, dim), gt_cat(NULL, 2, dense, dim));
  const gt_tensor *w = numbered(GT_SHAPE(y->shape[y->ndim - 1], 3), y->dtype);
  CHECK_SAME(gt_matmul(NULL, y, w), gt_matmul(NULL, d, w));
}
/* The elements of x that y shows, which m lists, become what `made` is, and no others. */
static void wrote(const gt_tensor *x, const gt_tensor *before, const gt_tensor *made, const model *m,
                  const char *what, const char *text) {
  void *p = values_of(before), *q = values_of(x), *v = values_of(made);
  CHECK_TEXT(made && made->dtype == x->dtype && gt_numel(made) == m->n, "%s: %s", what, gt_error_message());
  for (int64_t i = 0; made && i < m->n; i++) store(x->dtype, p, m->at[i], load(x->dtype, v, i));
  for (int64_t i = 0; i < gt_numel(x); i++)
    if (!same(x->dtype, p, q, i)) {
      CHECK_TEXT(0, "%s to %s: element %" PRId64 " is %g, not %g", what, text, i, load(x->dtype, q, i),
                 load(x->dtype, p, i));
      break;
    }
  free(p);
  free(q);
  free(v);
}
static void write_by_all(gt_tensor *x, gt_tensor *y, const model *m, const char *text) {
  const gt_dtype t = x->dtype;
  const gt_tensor *v = random_tensor(gt_shape_of(y), t, DEV), *n = random_tensor(gt_shape_of(y), GT_INT16, DEV);
  const gt_tensor *before = gt_copy(NULL, x), *d;
  gt_copy(y, v);
  wrote(x, before, v, m, "gt_copy", text);
  gt_copy(y, n);
  wrote(x, before, gt_to_dtype(n, t), m, "gt_copy of int16", text);
  gt_fill(y, 3);
  wrote(x, before, gt_full(gt_shape_of(y), 3, t, DEV), m, "gt_fill", text);
  d = gt_to_dtype(gt_eval(NULL, "a + b*2", v, n), t);
  gt_eval(y, "a + b*2", v, n);
  if (!is_float(t) || t == gt_promote_types(t, GT_INT16)) wrote(x, before, d, m, "gt_eval", text);
  gt_copy(y, gt_to(gt_flip(v, GT_ALL), gt_cpu()));
  wrote(x, before, gt_copy(NULL, gt_flip(v, GT_ALL)), m, "gt_copy from the host", text);
  if (!y->ndim) return;
  gt_tensor *sums = gt_unsqueeze(v, 0);
  const gt_tensor *both[] = {sums, sums};
  gt_max(y, gt_cat(NULL, 2, both, 0), GT_DIM(0), 0);
  wrote(x, before, v, m, "gt_max", text);
  if (is_float(t)) {
    gt_softmax(y, v, -1);
    wrote(x, before, gt_softmax(NULL, v, -1), m, "gt_softmax", text);
  }
  if (y->ndim != 2) return;
  const gt_tensor *a = random_tensor(GT_SHAPE(y->shape[0], 9), GT_INT8, DEV), *b;
  b = random_tensor(GT_SHAPE(9, y->shape[1]), GT_INT8, DEV);
  a = gt_to_dtype(a, t);
  b = gt_to_dtype(b, t);
  gt_matmul(y, a, b);
  wrote(x, before, gt_matmul(NULL, a, b), m, "gt_matmul", text);
}
static void test_random_work(void) {
  int written = 0, shared = 0;
  for (int i = 0; i < (QUICK ? 800 : 8000); i++) GT_SCOPE {
    gt_tensor *x = numbered_at_random(), *y;
    model m = whole_model(x);
    char text[2000] = "";
    const int bad = check_bad;
    y = random_view(x, &m, text);
    if (y) read_by_all(y);
    if (y && shares(&m)) {
      shared++;
      REFUSED(gt_fill(y, 3), GT_ERROR_ARGUMENT, "share memory");
    } else if (y && strstr(text, "unfold") && !gt_fill(y, 3)) { /* it might, as far as strides tell */
      REFUSED_IF(1, GT_ERROR_ARGUMENT, "share memory");
    } else if (y && m.n) {
      written++;
      gt_copy(x, numbered(gt_shape_of(x), x->dtype));
      write_by_all(x, y, &m, text);
    }
    if (check_bad > bad && check_bad < 9)
      printf("  with %s of %s (seed of case %d)\n", text, gt_dtype_string(x->dtype), i);
  }
  CHECK_TEXT(written > 100 && shared > 40, "%d written, %d shared", written, shared);
}
/* Sizes that the faster ways take: all combinations of dims that go backwards, in two orders. */
static void test_large(void) {
  static const gt_dtype type[] = {GT_FLOAT32, GT_FLOAT16, GT_UINT8, GT_FLOAT64, GT_INT32};
  for (int k = 0; k < 5; k++)
    for (int flips = 0; flips < 8; flips++)
      for (int transposed = 0; transposed < (QUICK ? 1 : 3); transposed++) GT_SCOPE {
        const gt_tensor *x = numbered(GT_SHAPE(4, 72, 132), GT_INT16);
        gt_tensor *y = gt_eval(gt_empty(gt_shape_of(x), type[k], DEV), "a % 7 - 2*(a % 2)", x), *z, *d, *out;
        for (int dim = 0; dim < 3; dim++)
          if (flips >> dim & 1) y = gt_flip(y, GT_DIM(dim));
        if ((transposed + flips) % 3 == 1) y = gt_transpose(y, 1, 2);
        if ((transposed + flips) % 3 == 2) y = gt_permute(y, GT_SHAPE(2, 0, 1));
        d = dense_of(y);
        read_by_all(y);
        z = gt_slice(y, -1, 100, 3, -3);
        CHECK_SAME(gt_contiguous(z), dense_of(z));
        read_by_all(z);
        out = gt_flip(gt_empty(gt_shape_of(y), type[k], DEV), GT_DIM(flips % 3));
        CHECK_SAME(gt_copy(out, y), d);
        CHECK_SAME(gt_mul(out, y, y), gt_mul(gt_empty(gt_shape_of(y), type[k], DEV), d, d));
        out = gt_transpose(gt_flip(gt_empty(gt_shape_of(gt_transpose(y, 0, 2)), type[k], DEV), GT_DIM(0)), 0, 2);
        CHECK_SAME(gt_copy(out, y), d);
        CHECK_SAME(gt_where(out, gt_gt(NULL, y, d), y, d), d);
        if (is_float(type[k])) CHECK_SAME(gt_log_softmax(out, y, flips % 3), gt_log_softmax(NULL, d, flips % 3));
      }
}
/* Small whole numbers, so that each order of additions gives the same. */
static gt_tensor *small(gt_shape shape, gt_dtype t) {
  return gt_to_dtype(random_tensor(shape, GT_INT8, DEV), t);
}
static void check_product(const gt_tensor *a, const gt_tensor *b, const gt_tensor *bias) {
  const gt_tensor *c = gt_matmul(NULL, dense_of(a), dense_of(b));
  gt_tensor *out = gt_flip(gt_empty_like(c), GT_DIM(-1));
  CHECK_SAME(gt_matmul(NULL, a, b), c);
  CHECK_SAME(gt_matmul(out, a, b), c);
  CHECK_SAME(gt_matmul(gt_flip(out, GT_DIM(-2) | GT_DIM(-1)), a, b), c);
  CHECK_SAME(gt_matmul_eval(out, a, b, "relu(a + b)", bias), gt_matmul_eval(NULL, dense_of(a), dense_of(b), "relu(a + b)", dense_of(bias)));
}
static void test_products(void) {
  static const gt_dtype type[] = {GT_FLOAT32, GT_FLOAT64, GT_BFLOAT16, GT_FLOAT16, GT_INT64};
  static const int64_t size[][3] = {{5, 3, 4}, {33, 70, 65}, {1, 200, 130}, {200, 130, 1}, {160, 96, 200}, {8, 640, 8}};
  for (int k = 0; k < 5; k++)
    for (int s = 0; s < 6; s++)
      for (int flips = 0; flips < 16; flips += QUICK ? 3 : 1) GT_SCOPE {
        const int64_t m = size[s][0], q = size[s][1], n = size[s][2];
        const gt_tensor *a = small(GT_SHAPE(2, m, q), type[k]), *b = small(GT_SHAPE(2, q, n), type[k]);
        const gt_tensor *bias = gt_flip(small(GT_SHAPE(n), type[k]), GT_ALL), *line;
        if (flips & 1) a = gt_flip(a, GT_DIM(-2));
        if (flips & 2) a = gt_flip(a, GT_DIM(-1));
        if (flips & 4) b = gt_flip(b, GT_DIM(-2));
        if (flips & 8) b = gt_flip(b, GT_DIM(-1) | GT_DIM(0));
        check_product(a, b, bias);
        check_product(gt_select(a, 0, 1), gt_select(b, 0, 0), bias);
        check_product(gt_transpose(gt_contiguous(gt_transpose(a, 1, 2)), 1, 2), gt_flip(b, GT_DIM(0)), bias);
        line = small(GT_SHAPE(m + q + 8), type[k]); /* windows: rows that overlap */
        a = gt_unfold(gt_slice(line, 0, 0, m + q - 1, 1), 0, q, 1);
        check_product(a, gt_select(b, 0, 1), bias);
        check_product(gt_flip(a, GT_ALL), gt_select(b, 0, 1), bias);
        line = small(GT_SHAPE(q + n - 1), type[k]);
        check_product(a, gt_unfold(line, 0, n, 1), bias);
        check_product(a, gt_flip(gt_unfold(line, 0, n, 1), GT_DIM(flips & 1)), bias);
      }
}
/* Printed, saved and loaded. */
static void test_texts_and_files(void) {
  const gt_tensor *x = numbered(GT_SHAPE(40, 50), GT_FLOAT32), *y = gt_view(x, "::-1, ::-3");
  const gt_tensor *z = gt_unfold(gt_select(y, 1, 0), 0, 4, 3), *w;
  char text[2][20000], name[100];
  gt_to_string(y, text[0], sizeof text[0]);
  gt_to_string(dense_of(y), text[1], sizeof text[1]);
  CHECK_STR(text[0], text[1]);
  gt_to_string(z, text[0], sizeof text[0]);
  gt_to_string(dense_of(z), text[1], sizeof text[1]);
  CHECK_STR(text[0], text[1]);
  snprintf(name, sizeof name, "views-%d.npy", (int)rnd_below(1 << 30));
  for (int i = 0; i < 2; i++) {
    w = i ? z : y;
    CHECK_INT(gt_save_npy(name, w), GT_OK);
    CHECK_SAME(gt_load_npy(name, DEV), dense_of(w));
  }
  remove(name);
  if (DEV.type == GT_CPU) {
    CHECK(gt_data(y) == (float *)gt_data(x) + 1999);
    ((float *)gt_data(y))[-3] = 7;
    CHECK_NUM(gt_item(gt_view(y, "0, 1")), 7);
  }
  CHECK_NUM(gt_item(gt_view(y, "-1, -1")), 1);
}
/* Streams: what meets in memory is put in order, also where it goes backwards. */
static void half_by_half(gt_tensor *x, gt_stream *const *stream) {
  const gt_tensor *flipped = gt_flip(x, GT_ALL);
  gt_tensor *half[2] = {gt_view(x, "149::-1, ::-1"), gt_view(x, "150:, ::-1")};
  const gt_tensor *other[2] = {gt_view(flipped, "150:, :"), gt_view(flipped, ":150, :")};
  for (int i = 0; i < 40; i++) {
    if (stream) gt_set_stream(stream[i % 2]);
    gt_eval(half[i % 2], "a % 1000 + b + index % 7", half[i % 2], other[i % 2]);
    if (stream) gt_set_stream(stream[i / 2 % 2]);
    gt_copy(gt_view(half[0], "::2"), gt_view(half[1], "::-2"));
  }
}
static void test_streams(void) {
  gt_tensor *x = gt_zeros(GT_SHAPE(300, 200), GT_INT32, DEV), *y = gt_zeros(GT_SHAPE(300, 200), GT_INT32, DEV);
  gt_stream *const stream[] = {gt_stream_create(DEV, 0), gt_stream_create(DEV, 0)};
  half_by_half(x, NULL);
  half_by_half(y, stream);
  gt_set_stream(NULL);
  CHECK_SAME(x, y);
  gt_stream_free(stream[0]);
  gt_stream_free(stream[1]);
}

static void test_pooling(void) {
  const gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(1, 4, 6), 1, 5, 2, 0, 3, 4, 7, 2, 9, 1, 0, 2, 3, 3, 8, 6, 5, 5, 4, 4,
                              1, 2, 7, 0);
  const gt_tensor *p = gt_unfold(gt_unfold(x, -2, 2, 2), -2, 2, 2);
  CHECK_VALUES(gt_max(NULL, p, GT_DIM(-1) | GT_DIM(-2), 0), 7, 9, 4, 4, 8, 7);
  CHECK_VALUES(gt_mean(NULL, p, GT_DIM(-1) | GT_DIM(-2), 0), 3.75, 3, 2.25, 3.5, 4.25, 4.25);
  p = gt_unfold(gt_unfold(x, -2, 3, 1), -2, 3, 2); /* windows that overlap */
  CHECK_VALUES(gt_max(NULL, p, GT_DIM(-1) | GT_DIM(-2), 0), 9, 9, 9, 9);
}

int main(int argc, char **argv) {
  check_start("views", argc, argv);
  RUN(slices);
  RUN(flip);
  RUN(unfold);
  RUN(as_strided);
  RUN(outputs);
  RUN(overlaps);
  RUN(texts);
  RUN(hostile_texts);
  RUN(random_views);
  RUN(random_work);
  RUN(large);
  RUN(products);
  RUN(texts_and_files);
  RUN(streams);
  RUN(pooling);
  return check_finish();
}
