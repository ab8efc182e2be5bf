/* Sizes at the ends of what 64 bits hold. Every public function that takes a tensor or a shape is
   given tensors of up to 2^60 elements, which are expanded from one or hold none, and shapes
   beyond: each call gives a right result or refuses with a message. Nothing here needs more than
   some MB; what would run for years is not called. Run under UBSan it finds sizes, strides and
   offsets that overflow. */
#include "check.h"

#define POWER(n) (INT64_C(1) << (n))
static const int64_t MOST = POWER(60) - 1; /* elements of a tensor */

static gt_tensor *expanded(gt_dtype dtype, gt_shape shape) { /* all of them the same one */
  return gt_expand(gt_ones(GT_SHAPE_0D, dtype, DEV), shape);
}
static const char too_many[] = "elements are more than memory can address";

/* ---- shapes ---- */
enum { MAKERS = 13 };
static gt_tensor *made(int how, gt_shape s, gt_dtype dtype) {
  static int64_t memory[2];
  gt_generator g = {1, 2};
  switch (how) {
    case 0: return gt_empty(s, dtype, DEV);
    case 1: return gt_zeros(s, dtype, DEV);
    case 2: return gt_ones(s, dtype, DEV);
    case 3: return dtype % 2 ? gt_full(s, 1, dtype, DEV) : gt_full_int64(s, 1, dtype, DEV);
    case 4: return gt_from_array(memory, s, dtype, DEV);
    case 5:
      if (dtype % 2) return gt_from_ptr(memory, s, dtype, gt_cpu(), NULL, NULL);
      return gt_from_const_ptr(memory, s, dtype, gt_cpu(), NULL, NULL);
    case 6: return gt_empty_pinned(s, dtype);
    case 7: return gt_rand(s, GT_FLOAT16, DEV, &g);
    case 8: return gt_randn(s, GT_FLOAT64, DEV, &g);
    case 9: return gt_randint(0, 9, s, GT_INT8, DEV, &g);
    case 10: return gt_expand(gt_ones(GT_SHAPE_0D, dtype, DEV), s);
    case 11: return gt_reshape(gt_empty(GT_SHAPE(0), dtype, DEV), s);
    default: return gt_reshape(gt_ones(GT_SHAPE(6), dtype, DEV), s);
  }
}
static void test_refused_shapes(void) {
  const gt_shape refused[] = {GT_SHAPE(INT64_MAX),
                              GT_SHAPE(POWER(60)),
                              GT_SHAPE(POWER(61)),
                              GT_SHAPE(POWER(62)),
                              GT_SHAPE(POWER(30), POWER(30)),
                              GT_SHAPE(POWER(31) + 1, POWER(31) + 1),
                              GT_SHAPE(POWER(32), POWER(32)),
                              GT_SHAPE(POWER(32), POWER(32), 0),
                              GT_SHAPE(0, POWER(60)),
                              GT_SHAPE(INT64_MAX, 0),
                              GT_SHAPE(0, 1, INT64_MAX),
                              GT_SHAPE(INT64_MAX, INT64_MAX, INT64_MAX),
                              GT_SHAPE(POWER(62), 0, 4),
                              GT_SHAPE(3, 3, 3, 3, 3, 3, 3, POWER(58)),
                              GT_SHAPE(MOST, 2)};
  const gt_shape negative[] = {GT_SHAPE(INT64_MIN), GT_SHAPE(-2), GT_SHAPE(3, INT64_MIN),
                               GT_SHAPE(INT64_MIN, INT64_MAX), GT_SHAPE(-POWER(32), -POWER(32))};
  static const int dims[] = {-1, 9, INT_MAX, INT_MIN};
  for (int how = 0; how < MAKERS; how++)
    for (int t = GT_BOOL; t <= GT_FLOAT64; t += GT_FLOAT64) {
      gt_shape s = GT_SHAPE(1);
      for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        REFUSED(made(how, refused[i], (gt_dtype)t), GT_ERROR_SHAPE, too_many);
      for (size_t i = 0; i < sizeof negative / sizeof *negative; i++)
        REFUSED(made(how, negative[i], (gt_dtype)t), GT_ERROR_SHAPE, "negative size in");
      for (int i = 0; i < 4; i++) {
        s.ndim = dims[i];
        REFUSED(made(how, s, (gt_dtype)t), GT_ERROR_SHAPE, "dimensions; 0 to 8 are possible");
      }
    }
}
static void test_refused_counts(void) {
  static const int64_t n[] = {POWER(60), POWER(61), INT64_MAX, -1, INT64_MIN, INT64_MIN + 1};
  for (int i = 0; i < 6; i++) {
    const char *const why = n[i] < 0 ? "negative size" : too_many;
    REFUSED(gt_linspace(0, 1, n[i], GT_FLOAT32, DEV), GT_ERROR_SHAPE, why);
    REFUSED(gt_eye(n[i], 1, GT_BOOL, DEV), GT_ERROR_SHAPE, why);
    REFUSED(gt_eye(0, n[i], GT_BOOL, DEV), GT_ERROR_SHAPE, why);
    REFUSED(gt_randperm(n[i], DEV, NULL), GT_ERROR_SHAPE, why);
  }
  REFUSED(gt_eye(POWER(32), POWER(32), GT_INT8, DEV), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_arange(0, 0x1p61, 1, GT_INT64, DEV), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_arange(-0x1p62, 0x1p62, 1, GT_INT64, DEV), GT_ERROR_ARGUMENT, "no finite sequence");
  REFUSED(gt_arange(0, 1e300, 1e-300, GT_FLOAT64, DEV), GT_ERROR_ARGUMENT, "no finite sequence");
  REFUSED(gt_arange(0, 0x1p59, 1, GT_INT64, DEV), GT_ERROR_MEMORY, "gt_arange: out of memory");
  REFUSED(gt_linspace(0, 1, MOST, GT_FLOAT64, DEV), GT_ERROR_MEMORY, "gt_linspace: out of memory");
  REFUSED(gt_randperm(MOST, DEV, NULL), GT_ERROR_MEMORY, "gt_randperm: out of memory");
  CHECK_SHAPE(gt_eye(0, MOST, GT_FLOAT64, DEV), 0, MOST);
  CHECK_SHAPE(gt_linspace(0, 1, 0, GT_FLOAT32, DEV), 0);
}
static void test_largest(void) {
  char text[100];
  for (int t = 0; t < GT_DTYPES; t++) {
    gt_tensor *x = expanded((gt_dtype)t, GT_SHAPE(MOST)),
              *y = gt_empty(GT_SHAPE(MOST, 0), (gt_dtype)t, DEV);
    CHECK_INT(gt_numel(x), MOST);
    CHECK_INT(gt_nbytes(x), MOST * (int64_t)gt_dtype_size((gt_dtype)t));
    CHECK_INT(gt_is_contiguous(x), 0);
    CHECK_INT(gt_shape_of(x).size[0], MOST);
    CHECK_VALUES(gt_slice(x, 0, MOST - 2, INT64_MAX, 1), 1, 1);
    CHECK_VALUES(gt_select(x, 0, -MOST), 1);
    REFUSED(gt_contiguous(x), GT_ERROR_MEMORY, "gt_contiguous: out of memory");
    REFUSED(gt_to_dtype(x, t == GT_FLOAT64 ? GT_BOOL : GT_FLOAT64), GT_ERROR_MEMORY,
            "out of memory");
    REFUSED_STATUS(gt_to_array(x, NULL, gt_nbytes(x)), GT_ERROR_ARGUMENT, "host is NULL");
    REFUSED_STATUS(gt_to_array(x, text, 0), GT_ERROR_ARGUMENT, "0 bytes given");
    CHECK_INT(gt_numel(y), 0);
    CHECK_INT(gt_nbytes(y), 0);
    CHECK(gt_data(y) == NULL);
    CHECK_INT(y->stride[0], 1);
    CHECK_SHAPE(gt_contiguous(gt_transpose(y, 0, 1)), 0, MOST);
  }
  if (DEV.type != GT_CPU) return;
  CHECK(gt_to_string(expanded(GT_FLOAT32, GT_SHAPE(POWER(59))), text, sizeof text) > 0);
  CHECK_STR(text, "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
  CHECK(gt_to_string(gt_empty(GT_SHAPE(0, POWER(59)), GT_FLOAT32, DEV), text, sizeof text) > 0);
  CHECK_STR(text, "tensor([], size=(0, 576460752303423488))");
}

/* ---- results ---- */
static const uint32_t sets[] = {GT_ALL, GT_DIM(0), GT_DIM(1), GT_DIM(0) | GT_DIM(1)};
static void test_broadcasts(void) {
  gt_tensor *tall = expanded(GT_BOOL, GT_SHAPE(POWER(32), 1)),
            *wide = expanded(GT_BOOL, GT_SHAPE(1, POWER(32)));
  gt_tensor *none = gt_empty(GT_SHAPE(0, 1, 1), GT_BOOL, DEV),
            *out = gt_zeros(GT_SHAPE_0D, GT_INT64, DEV);
  REFUSED(gt_eval(NULL, "a + b", tall, wide), GT_ERROR_SHAPE,
          "gt_eval: (4294967296, 4294967296) elements are more than memory can address");
#define LONGEST "-9223372036854775808"
#define FOUR LONGEST ", " LONGEST ", " LONGEST ", " LONGEST
  const int64_t least = INT64_MIN; /* of which a message has all eight */
  REFUSED(gt_empty(GT_SHAPE(least, least, least, least, least, least, least, least), GT_BOOL, DEV),
          GT_ERROR_SHAPE, "gt_empty: negative size in (" FOUR ", " FOUR ")");
#define OUTPUT_1(x, y) x
#define OUTPUT_2(x, y) x, y
#define OUTPUT_3(x, y) x, y, x
#define TRIED_1(call) (void)0
#define TRIED_2(call) REFUSED(call, GT_ERROR_SHAPE, too_many)
#define TRIED_3(call) REFUSED(call, GT_ERROR_SHAPE, too_many)
#define TRIED(name, arity, result, cost, f, i) \
  TRIED_##arity(gt_##name(NULL, OUTPUT_##arity(tall, wide))); \
  TRIED_##arity(gt_##name(out, OUTPUT_##arity(tall, wide)));
  GT__OPERATIONS(TRIED)
  for (int i = 0; i < 4; i++)
    for (int r = GT_SUM; r <= GT_ALL_TRUE; r++)
      REFUSED(gt_reduce(NULL, (gt_reduction)r, sets[i], 0, "a + b", tall, wide), GT_ERROR_SHAPE,
              "gt_reduce: (4294967296, 4294967296) elements");
  CHECK_SHAPE(gt_add(NULL, none, tall), 0, POWER(32), 1);
  REFUSED(gt_eval(NULL, "a + b + c", none, tall, wide), GT_ERROR_SHAPE,
          "(0, 4294967296, 4294967296)");
  REFUSED(gt_eval(NULL, "index + a*0 + b", tall, wide), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_copy(out, tall), GT_ERROR_SHAPE, "does not broadcast to");
  REFUSED(gt_copy(tall, wide), GT_ERROR_SHAPE, "does not broadcast to");
  REFUSED(gt_fill(tall, 1), GT_ERROR_ARGUMENT, "share memory");
  REFUSED(gt_add(NULL, tall, expanded(GT_INT8, GT_SHAPE(1, POWER(27)))), GT_ERROR_MEMORY,
          "out of memory");
}
static void test_folds(void) {
  gt_tensor *none = gt_empty(GT_SHAPE(0, MOST), GT_FLOAT16, DEV), *y;
  gt_tensor *flat = gt_empty(GT_SHAPE(MOST, 0), GT_INT32, DEV);
  CHECK_VALUES(gt_sum(NULL, none, GT_ALL, 0), 0);
  CHECK_VALUES(gt_prod(NULL, none, GT_DIM(0) | GT_DIM(1), 1), 1);
  CHECK_VALUES(gt_mean(NULL, none, GT_ALL, 0), NAN);
  CHECK_VALUES(gt_any(NULL, none, GT_ALL, 0), 0);
  CHECK_VALUES(gt_all(NULL, none, GT_ALL, 0), 1);
  CHECK_VALUES(gt_var(NULL, none, GT_ALL, 1, 0), NAN);
  CHECK_VALUES(gt_norm(NULL, none, 2, GT_ALL, 0), 0);
  CHECK_VALUES(gt_norm(NULL, none, 3, GT_ALL, 0), 0);
  CHECK_VALUES(gt_logsumexp(NULL, none, GT_ALL, 0), -INFINITY);
  CHECK_SHAPE(gt_sum(NULL, none, GT_DIM(1), 0), 0);
  CHECK_SHAPE(gt_max(NULL, flat, GT_DIM(0), 0), 0);
  CHECK_SHAPE(gt_log_softmax(NULL, none, 1), 0, MOST);
  CHECK_SHAPE(gt_std(NULL, none, GT_DIM(-1), 1, 1), 0, 1);
  REFUSED(gt_max(NULL, none, GT_ALL, 0), GT_ERROR_SHAPE, "no elements to choose from");
  REFUSED(gt_argmax(NULL, flat, GT_DIM(1), 0), GT_ERROR_SHAPE, "no elements to choose from");
  REFUSED(gt_sum(NULL, none, GT_DIM(0), 0), GT_ERROR_MEMORY, "gt_sum: out of memory");
  REFUSED(gt_mean(NULL, flat, GT_DIM(1), 0), GT_ERROR_MEMORY, "gt_mean: out of memory");
  REFUSED(gt_var(NULL, flat, GT_DIM(1), 1, 0), GT_ERROR_MEMORY, "gt_var: out of memory");
  REFUSED(gt_logsumexp(NULL, flat, GT_DIM(1), 0), GT_ERROR_MEMORY, "gt_logsumexp: out of memory");
  y = expanded(GT_FLOAT16, GT_SHAPE(POWER(58), 3));
  REFUSED(gt_softmax(NULL, y, 1), GT_ERROR_MEMORY, "gt_softmax: out of memory");
  REFUSED(gt_logsumexp(NULL, y, GT_DIM(1), 0), GT_ERROR_MEMORY, "gt_logsumexp: out of memory");
  REFUSED(gt_argmax(NULL, y, GT_DIM(-1), 0), GT_ERROR_MEMORY, "gt_argmax: out of memory");
  REFUSED(gt_logsumexp(NULL, expanded(GT_FLOAT16, GT_SHAPE(POWER(61))), GT_ALL, 0), GT_ERROR_SHAPE,
          "gt_expand");
}
static void test_joins(void) {
  const gt_tensor *most[16], *small[3], *wide[5];
  gt_tensor *out = gt_zeros(GT_SHAPE(3), GT_UINT8, DEV), *one = gt_ones(GT_SHAPE(3), GT_UINT8, DEV),
            *index;
  int i;
  for (i = 0; i < 16; i++) most[i] = expanded(GT_BOOL, GT_SHAPE(MOST));
  for (i = 0; i < 5; i++) wide[i] = expanded(GT_INT16, GT_SHAPE(POWER(58), 1));
  REFUSED(expanded(GT_BOOL, GT_SHAPE(POWER(62))), GT_ERROR_SHAPE,
          too_many); /* four of them: 2^64 */
  REFUSED(gt_cat(NULL, 16, most, 0), GT_ERROR_SHAPE, "gt_cat: (2305843009213693950,) elements");
  REFUSED(gt_cat(out, 16, most, 0), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_cat(NULL, 5, wide, 0), GT_ERROR_SHAPE, "gt_cat: (1152921504606846976, 1) elements");
  REFUSED(gt_cat(NULL, 5, wide, 1), GT_ERROR_SHAPE, "gt_cat: (288230376151711744, 4) elements");
  REFUSED(gt_cat(NULL, 3, wide, 1), GT_ERROR_MEMORY, "gt_cat: out of memory");
  REFUSED(gt_cat(out, 3, wide, 1), GT_ERROR_SHAPE, "the output is (3,)");
  REFUSED(gt_cat(NULL, 1, most, 0), GT_ERROR_MEMORY, "gt_cat: out of memory");
  REFUSED(gt_stack(NULL, 16, most, 0), GT_ERROR_SHAPE,
          "gt_stack: (2, 1152921504606846975) elements");
  REFUSED(gt_stack(NULL, 5, wide, 2), GT_ERROR_SHAPE,
          "gt_stack: (288230376151711744, 1, 4) elements");
  for (i = 0; i < 3; i++) small[i] = gt_empty(GT_SHAPE(MOST, 0), GT_INT8, DEV);
  CHECK_SHAPE(gt_cat(NULL, 3, small, 1), MOST, 0);
  REFUSED(gt_cat(NULL, 3, small, 0), GT_ERROR_SHAPE, too_many);
  small[0] = small[2] = one;
  small[1] = gt_empty(GT_SHAPE(0), GT_UINT8, DEV);
  CHECK_VALUES(gt_cat(NULL, 3, small, 0), 1, 1, 1, 1, 1, 1);
  CHECK_VALUES(out, 0, 0, 0);
  index = gt_expand(gt_zeros(GT_SHAPE_0D, GT_INT64, DEV), GT_SHAPE(POWER(58)));
  REFUSED(gt_index_select(NULL, wide[0], 1, index), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_index_select(NULL, most[0], 0, index), GT_ERROR_MEMORY,
          "gt_index_select: out of memory");
  REFUSED(gt_index_select(out, one, 0, index), GT_ERROR_SHAPE, "the output is (3,)");
  CHECK_VALUES(gt_index_select(NULL, most[0], 0, gt_slice(index, 0, 0, 2, 1)), 1, 1);
  REFUSED(gt_gather(NULL, most[0], 0, index), GT_ERROR_MEMORY, "gt_gather: out of memory");
  REFUSED(gt_gather(out, most[0], 0, index), GT_ERROR_SHAPE, "the output is (3,)");
  CHECK_VALUES(gt_gather(NULL, most[0], 0, gt_slice(index, 0, 0, 2, 1)), 1, 1);
  index = gt_expand(gt_zeros(GT_SHAPE_0D, GT_INT32, DEV), GT_SHAPE(POWER(29), POWER(29)));
  REFUSED(gt_index_select(NULL, wide[0], 1, index), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_index_select(NULL, wide[0], 0, index), GT_ERROR_MEMORY,
          "gt_index_select: out of memory");
  CHECK_VALUES(gt_gather(NULL, wide[0], 0, gt_view(index, ":2, :1")), 1, 1);
  gt_tensor *all = expanded(out->dtype, GT_SHAPE(MOST));
  const gt_tensor *first = gt_zeros(GT_SHAPE(1), GT_INT32, DEV), *ones = gt_slice(all, 0, 0, 1, 1);
  REFUSED(gt_index_add(all, 0, first, ones), GT_ERROR_ARGUMENT, "share memory");
  REFUSED(gt_scatter_reduce(out, 0, index, all, GT_SUM, 1), GT_ERROR_SHAPE, "does not go along dim 0");
  CHECK_VALUES(gt_index_add(out, 0, first, ones), 1, 0, 0);
}
static void test_products(void) {
  gt_tensor *column = expanded(GT_FLOAT32, GT_SHAPE(POWER(32), 1)),
            *row = expanded(GT_FLOAT32, GT_SHAPE(1, POWER(32)));
  gt_tensor *a = expanded(GT_INT8, GT_SHAPE(POWER(32), 1, 1, 1)),
            *b = expanded(GT_INT8, GT_SHAPE(1, POWER(32), 1, 1));
  gt_tensor *deep = expanded(GT_FLOAT16, GT_SHAPE(1, MOST)), *bias,
            *two = gt_ones(GT_SHAPE(2, 2), GT_FLOAT32, DEV);
  gt_tensor *none = gt_empty(GT_SHAPE(0, POWER(50)), GT_FLOAT32, DEV), *eight;
  const gt_tensor *list[1] = {NULL};
  bias = expanded(GT_FLOAT32, GT_SHAPE(POWER(59), 1, 1));
  REFUSED(gt_matmul(NULL, column, row), GT_ERROR_SHAPE,
          "gt_matmul: (4294967296, 4294967296) elements");
  REFUSED(gt_matmul(NULL, a, b), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_matmul(NULL, deep, gt_transpose(deep, 0, 1)), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_matmul(NULL, gt_select(deep, 0, 0), gt_select(deep, 0, 0)), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_matmul(NULL, column, gt_slice(row, 1, 0, POWER(22), 1)), GT_ERROR_MEMORY,
          "out of memory");
  REFUSED(gt_matmul(NULL, gt_transpose(none, 0, 1), none), GT_ERROR_SHAPE, too_many);
  REFUSED(gt_matmul(NULL, gt_transpose(none, 0, 1), gt_empty(GT_SHAPE(0, 8), GT_FLOAT32, DEV)),
          GT_ERROR_MEMORY, "gt_matmul: out of memory");
  CHECK_SHAPE(gt_matmul(NULL, none, gt_transpose(none, 0, 1)), 0, 0);
  CHECK_VALUES(
      gt_matmul(NULL, gt_empty(GT_SHAPE(2, 0), GT_FLOAT32, DEV), gt_slice(none, 1, 0, 1, 1)), 0, 0);
  REFUSED(gt_matmul_eval(NULL, two, two, "a + b", bias), GT_ERROR_SHAPE,
          "gt_matmul_eval: (576460752303423488, 2, 2)");
  REFUSED(gt_addmm(NULL, bias, two, two, 1, 1), GT_ERROR_SHAPE, "gt_addmm: ");
  REFUSED(gt_linear(NULL, column, column, NULL), GT_ERROR_SHAPE,
          "gt_linear: (4294967296, 4294967296) elements");
  eight = gt_reshape(two, GT_SHAPE(1, 1, 1, 1, 1, 1, 2, 2));
  CHECK_VALUES(gt_matmul(NULL, eight, eight), 2, 2, 2, 2);
  REFUSED(gt_matmul_eval_n(NULL, two, two, "a", INT_MAX, list), GT_ERROR_ARGUMENT,
          "2147483648 operands");
  REFUSED(gt_matmul_eval_n(NULL, two, two, "a", INT_MIN, list), GT_ERROR_ARGUMENT,
          "-2147483647 operands");
  REFUSED(gt_matmul_eval_n(NULL, two, two, "a", 26, list), GT_ERROR_ARGUMENT, "27 operands");
  REFUSED(gt_eval_n(NULL, "a", INT_MAX, list), GT_ERROR_ARGUMENT, "2147483647 operands");
  REFUSED(gt_reduce_n(NULL, GT_SUM, GT_ALL, 0, "a", INT_MIN, list), GT_ERROR_ARGUMENT,
          "-2147483648 operands");
}

/* ---- views ---- */
static const int64_t ends[] = {
    INT64_MIN, INT64_MIN + 1, -POWER(60), -POWER(32),    -2,       -1, 0, 1, 2, 3, POWER(31),
    POWER(32), POWER(32) + 1, POWER(59),  POWER(60) - 1, INT64_MAX};
enum { ENDS = sizeof ends / sizeof *ends };
static int64_t some_end(void) { return ends[rnd_below(ENDS)]; }
static int some_dim(int ndim) { /* mostly a good one */
  static const int bad[] = {INT_MIN, -9, 8, 256, INT_MAX};
  const int good = (int)rnd_below(2 * ndim + 1) - ndim;
  return rnd_below(20) ? good : bad[rnd_below(5)];
}
static gt_shape some_shape(void) {
  gt_shape s = {0, {0}};
  s.ndim = (int)rnd_below(9);
  for (int d = 0; d < s.ndim; d++) s.size[d] = rnd_below(4) ? rnd_below(3) : some_end();
  return s;
}
/* What all that comes later relies on. */
static void check_tensor(const char *name, const gt_tensor *x) {
  long double n = 1, span = 0;
  int empty = 0;
  for (int d = 0; d < x->ndim; d++) {
    CHECK_TEXT(x->shape[d] >= 0, "%s made a size of %" PRId64, name, x->shape[d]);
    n *= x->shape[d] ? x->shape[d] : 1;
    empty |= x->shape[d] == 0;
    const int64_t way = x->stride[d] < 0 ? -x->stride[d] : x->stride[d]; /* some go backwards */
    if (x->shape[d]) span += (long double)(x->shape[d] - 1) * way;
    CHECK_TEXT(way >= 0 && way < POWER(62), "%s made a stride of %" PRId64, name, x->stride[d]);
  }
  CHECK_TEXT(n < 0x1p60L && span < 0x1p60L, "%s: %Lg elements, %Lg apart", name, n, span);
  CHECK_TEXT(x->offset >= 0 && x->offset < POWER(60), "%s: an offset of %" PRId64, name, x->offset);
  CHECK_TEXT(gt_numel(x) == (empty ? 0 : (int64_t)n), "%s: %" PRId64 " elements", name,
             gt_numel(x));
}
/* A result is right, or there is an error with a message. All elements are ones in these tests. */
static int check_outcome(const char *name, const gt_tensor *y, int ones) {
  const gt_status status = gt_error();
  if (!y) {
    CHECK_TEXT(status == GT_ERROR_ARGUMENT || status == GT_ERROR_SHAPE ||
                   status == GT_ERROR_DTYPE || status == GT_ERROR_MEMORY ||
                   (status == GT_ERROR_EXPRESSION && !strcmp(name, "gt_view")),
               "%s: status %s (%s)", name, gt_status_string(status), gt_error_message());
    CHECK_TEXT(!strncmp(gt_error_message(), "gt_", 3), "%s: \"%s\"", name, gt_error_message());
    gt_clear_error();
    return 0;
  }
  CHECK_TEXT(!status, "%s: a result and the error %s", name, gt_error_message());
  check_tensor(name, y);
  if (!ones || gt_numel(y) > 100) return 1;
  double *v = (double *)values_of(gt_to_dtype(y, GT_FLOAT64));
  for (int64_t i = 0; i < gt_numel(y); i++)
    CHECK_TEXT(v[i] == 1, "%s: element %" PRId64 " is %g", name, i, v[i]);
  free(v);
  return 1;
}
static gt_tensor *some_view(const gt_tensor *x, const char **name) {
  const int d = some_dim(x->ndim), e = some_dim(x->ndim);
  gt_shape order = {x->ndim, {0}}, grown = some_shape();
  switch (rnd_below(13)) {
    case 9: return *name = "gt_flip", gt_flip(x, rnd_below(3) ? GT_DIM(d & 7) : GT_ALL);
    case 10:
      return *name = "gt_unfold", gt_unfold(x, d, rnd_below(2) ? rnd_below(3) : some_end(),
                                            rnd_below(2) ? 1 + rnd_below(3) : some_end());
    case 11:
      for (int k = 0; k < grown.ndim; k++) order.size[k] = rnd_below(3) ? rnd_below(3) - 1 : some_end();
      order.ndim = grown.ndim;
      return *name = "gt_as_strided",
             gt_as_strided(x, grown, order, rnd_below(2) ? rnd_below(3) : some_end());
    case 12: {
      static const char *const text[] = {"::-1", "...", "1:, ::-2", ":, 0", "-1", "::9223372036854775807",
                                         "9223372036854775808", "-9223372036854775808:"};
      return *name = "gt_view", gt_view(x, text[rnd_below(8)]);
    }
    case 0: return *name = "gt_transpose", gt_transpose(x, d, e);
    case 1: return *name = "gt_slice", gt_slice(x, d, some_end(), some_end(), some_end());
    case 2:
      return *name = "gt_slice", gt_slice(x, d, rnd_below(3) ? 0 : 1, INT64_MAX, 1 + rnd_below(3));
    case 3: return *name = "gt_select", gt_select(x, d, rnd_below(2) ? 0 : some_end());
    case 4: return *name = "gt_squeeze", gt_squeeze(x, d);
    case 5: return *name = "gt_unsqueeze", gt_unsqueeze(x, some_dim(x->ndim + 1));
    case 6:
      return *name = "gt_diagonal",
             gt_diagonal(x, rnd_below(2) ? rnd_below(3) - 1 : some_end(), d, e);
    case 7:
      for (int k = 0; k < x->ndim && rnd_below(8); k++) order.size[k] = x->ndim - 1 - k;
      if (rnd_below(8) == 0) order.size[rnd_below(8)] = some_end();
      return *name = "gt_permute", gt_permute(x, order);
    default:
      for (int k = 0; k < x->ndim && x->ndim <= grown.ndim && rnd_below(20); k++)
        if (x->shape[k] != 1)
          grown.size[grown.ndim - x->ndim + k] = rnd_below(2) ? -1 : x->shape[k];
      if (rnd_below(3)) return *name = "gt_expand", gt_expand(x, grown);
      return *name = "gt_reshape", gt_reshape(x, rnd_below(2) ? grown : GT_SHAPE(1, -1, 1));
  }
}
static void test_random_views(void) {
  int64_t good = 0;
  for (int i = 0; i < (QUICK ? 1500 : 6000); i++) GT_SCOPE {
      const gt_shape s = some_shape();
      gt_tensor *x = rnd_below(3) ? gt_expand(gt_ones(GT_SHAPE_0D, GT_UINT8, DEV), s) : NULL;
      const char *name = "gt_empty";
      gt_clear_error();
      if (!x) x = gt_ones(GT_SHAPE(rnd_below(2) * 3, rnd_below(3), rnd_below(3)), GT_FLOAT64, DEV);
      if (gt_numel(x) == 0 && rnd_below(2)) x = gt_empty(GT_SHAPE(0, MOST), GT_INT64, DEV);
      for (int k = 0; k < 25; k++) {
        gt_tensor *y = some_view(x, &name);
        if (!check_outcome(name, y, 1)) continue;
        x = y;
        good++;
      }
    }
  CHECK(good > 1000);
}
static void test_views_of_nothing(void) { /* strides and offsets that once added up */
  gt_tensor *x = gt_slice(gt_empty(GT_SHAPE(MOST, 0), GT_BOOL, DEV), 0, 0, MOST, POWER(59));
  CHECK_SHAPE(x, 2, 0);
  for (int i = 0; i < 12; i++) {
    x = gt_diagonal(gt_unsqueeze(gt_unsqueeze(x, 0), 0), 0, 0, 1);
    check_tensor("gt_diagonal", x);
    x = gt_permute(x, GT_SHAPE(2, 0, 1));
    x = gt_diagonal(gt_slice(gt_unsqueeze(x, 0), 0, 1, 1, 1), 0, 0, 3);
    x = gt_select(gt_unsqueeze(gt_expand(gt_unsqueeze(x, 0), GT_SHAPE(2, -1, -1, -1)), 1), 0, 1);
    check_tensor("gt_select", x);
    x = gt_squeeze(gt_squeeze(x, 0), 0);
  }
  CHECK_INT(x->offset, 0);
  REFUSED(gt_empty(GT_SHAPE(INT64_MAX, 0), GT_BOOL, DEV), GT_ERROR_SHAPE, too_many);
}

/* ---- every function, with things of all kinds ---- */
enum { THINGS = 20 };
static const gt_tensor *thing[THINGS];
static void make_things(void) {
  gt_tensor *nothing = gt_empty(GT_SHAPE(MOST, 0), GT_INT64, DEV);
  const gt_tensor *x[THINGS] = {
      gt_ones(GT_SHAPE_0D, GT_FLOAT32, DEV),
      gt_ones(GT_SHAPE(1), GT_INT64, DEV),
      gt_ones(GT_SHAPE(3), GT_FLOAT16, DEV),
      gt_ones(GT_SHAPE(3, 3), GT_FLOAT32, DEV),
      gt_ones(GT_SHAPE(1, 1, 1, 1, 1, 1, 1, 2), GT_BOOL, DEV),
      gt_empty(GT_SHAPE(0), GT_FLOAT32, DEV),
      gt_empty(GT_SHAPE(0, MOST), GT_FLOAT64, DEV),
      nothing,
      gt_empty(GT_SHAPE(POWER(30), 0, POWER(29)), GT_UINT8, DEV),
      gt_unsqueeze(gt_slice(nothing, 0, 0, MOST, POWER(58)), 0),
      gt_diagonal(nothing, 0, 0, 1),
      expanded(GT_FLOAT32, GT_SHAPE(MOST)),
      expanded(GT_BOOL, GT_SHAPE(MOST)),
      expanded(GT_FLOAT64, GT_SHAPE(POWER(30), POWER(29))),
      expanded(GT_FLOAT16, GT_SHAPE(1, POWER(59))),
      expanded(GT_INT8, GT_SHAPE(POWER(59), 1)),
      expanded(GT_BFLOAT16, GT_SHAPE(3, POWER(58))),
      expanded(GT_INT32, GT_SHAPE(1, 1, POWER(20), POWER(20), 1, POWER(19), 1, 1)),
      gt_slice(expanded(GT_FLOAT32, GT_SHAPE(MOST)), 0, 0, MOST, POWER(59)),
      gt_transpose(expanded(GT_UINT8, GT_SHAPE(POWER(58), 2)), 0, 1)};
  for (int i = 0; i < THINGS; i++) CHECK(x[i] != NULL);
  memcpy(thing, x, sizeof thing);
}
/* Would it take long to read `folded` elements for each result? Not if these find no memory. */
static int ends_soon(int64_t results, int64_t folded) {
  return folded <= 100 || results == 0 || results >= POWER(50);
}
static int64_t kept(const gt_tensor *x, int d) { /* elements of a reduction over dim d */
  int64_t n = 1;
  for (int k = 0; k < x->ndim; k++) n *= k == d ? 1 : x->shape[k];
  return n;
}
#define TRY(ones, name, ...) check_outcome(#name, gt_##name(__VA_ARGS__), ones)
static void try_alone(const gt_tensor *x) {
  char text[200];
  const size_t bytes = gt_nbytes(x);
  gt_generator g = {1, 2};
  gt_tensor *none = gt_empty(GT_SHAPE(0), GT_BOOL, DEV);
  gt_stream *s = gt_current_stream(DEV);
  FILE *full = fopen("/dev/null", "w");
#define ALONE_1(name) \
  TRY(0, name, NULL, x); \
  TRY(0, name, none, x);
#define ALONE_2(name) TRY(0, name, NULL, x, x);
#define ALONE_3(name) TRY(0, name, NULL, x, x, x);
#define ALONE(name, arity, result, cost, f, i) ALONE_##arity(name)
  GT__OPERATIONS(ALONE)
  TRY(1, retain, x);
  TRY(1, keep, gt_retain(x));
  TRY(0, empty_like, x);
  TRY(0, zeros_like, x);
  TRY(1, copy, NULL, x);
  TRY(1, to, x, DEV);
  TRY(1, to, x, gt_cpu());
  for (int t = 0; t < GT_DTYPES; t++) TRY(1, to_dtype, x, (gt_dtype)t);
  TRY(1, contiguous, x);
  TRY(1, squeeze, x, -1);
  TRY(1, reshape, x, GT_SHAPE(-1));
  TRY(0, empty, gt_shape_of(x), GT_FLOAT64, DEV);
  TRY(0, zeros, gt_shape_of(x), GT_FLOAT64, DEV);
  TRY(1, ones, gt_shape_of(x), GT_FLOAT64, DEV);
  TRY(1, full, gt_shape_of(x), 1, GT_BOOL, DEV);
  TRY(0, empty_pinned, gt_shape_of(x), GT_INT16);
  TRY(0, rand, gt_shape_of(x), GT_FLOAT32, DEV, &g);
  TRY(0, randn, gt_shape_of(x), GT_FLOAT64, DEV, &g);
  TRY(0, randint, 0, 5, gt_shape_of(x), GT_UINT8, DEV, NULL);
  if (bytes == 0 || bytes >= (size_t)POWER(50))
    TRY(0, from_array, text, gt_shape_of(x), x->dtype, DEV);
  TRY(1, eval_n, NULL, "a*1 + index*0", 1, &x);
  TRY(1, softmax, gt_to_dtype(x, GT_FLOAT32), gt_to_dtype(x, GT_FLOAT32), 99);
  if (gt_numel(x) < 100) TRY(1, fill, gt_copy(NULL, x), 1);
  TRY(0, from_ptr, gt_data(x), gt_shape_of(x), x->dtype, DEV, NULL, NULL);
  TRY(1, from_dlpack, gt_to_dlpack(x, 1, -1), 1, -1);
  CHECK_INT(gt_is_pinned(x), 0);
  if (gt_numel(x) < 2) CHECK(gt_is_contiguous(x));
  CHECK_INT(gt_data(x) != NULL, gt_numel(x) != 0);
  CHECK_NUM(gt_item(x), gt_numel(x) == 1 ? 1 : (double)NAN);
  gt_clear_error();
  CHECK_INT(gt_item_int64(x), gt_numel(x) == 1);
  gt_clear_error();
  CHECK_INT(gt_to_array(x, NULL, bytes), bytes ? GT_ERROR_ARGUMENT : GT_OK);
  gt_clear_error();
  CHECK_INT(gt_fprint(full, x), GT_OK);
  CHECK(gt_to_string(x, text, sizeof text) > 8);
  CHECK_INT(gt_stream_reads(s, x), GT_OK);
  CHECK_INT(gt_stream_writes(s, x), GT_OK);
  fclose(full);
}
static void try_dims(const gt_tensor *x) {
  const gt_tensor *const pair[] = {x, x};
  for (int d = -1; d < x->ndim; d++) {
    const int64_t n = d < 0 ? 1 : kept(x, d);
    const int64_t folded = d < 0 ? gt_numel(x) : x->shape[d];
    const uint32_t dims = d < 0 ? GT_ALL : GT_DIM(d);
    if (!ends_soon(n, folded)) continue;
#define FOLD(name, reduction) \
  TRY(0, name, NULL, x, dims, 0); \
  check_outcome("reduce", gt_reduce(NULL, reduction, dims, 1, "a + b", x, x), 0);
    GT__REDUCTIONS(FOLD)
    TRY(0, var, NULL, x, dims, 1, 1);
    TRY(0, std, NULL, x, dims, 0, 0);
    for (int p = 0; p < 4; p++) TRY(0, norm, NULL, x, p, dims, 0);
    TRY(0, logsumexp, NULL, x, dims, 1);
    if (d < 0) TRY(0, nonzero, x);
    if (d < 0) continue;
    gt_tensor *sorted = NULL, *most = NULL;
    gt_sort(&sorted, NULL, x, d, 1);
    check_outcome("sort", sorted, 1);
    gt_topk(&most, NULL, x, folded > 1, d, 0);
    check_outcome("topk", most, 1);
    TRY(0, softmax, NULL, x, d);
    TRY(0, log_softmax, NULL, x, d - x->ndim);
    TRY(0, cumsum, NULL, x, d);
    TRY(0, cumprod, NULL, x, d - x->ndim);
    TRY(0, cummax, NULL, x, d);
    check_outcome("scan", gt_scan_n(NULL, GT_MIN, d, "a + b", 2, pair), 0);
  }
}
static void try_pair(gt_tensor *x, const gt_tensor *y) {
  const gt_tensor *const list[] = {x, y, x, y};
  const int64_t k = x->ndim ? x->shape[x->ndim - 1] : 0;
  gt_tensor *index =
      gt_expand(gt_zeros(GT_SHAPE_0D, GT_INT64, DEV), GT_SHAPE(y->ndim ? y->shape[0] : 1));
  TRY(0, add, NULL, x, y);
  TRY(0, where, NULL, x, y, x);
  TRY(0, pow, x, x, y);
  check_outcome("eval", gt_eval(NULL, "a*b + c*d - floor(a)", x, y, x, y), 0);
  for (int d = -2; d < 2; d++) {
    check_outcome("gt_cat", gt_cat(NULL, 4, list, d), 1);
    check_outcome("gt_stack", gt_stack(NULL, 2, list, d), 1);
    const int dim = d < 0 ? d + x->ndim : d;
    const long double n = (long double)kept(x, dim) * gt_numel(index);
    if (DEV.type != GT_CPU && dim >= 0 && dim < x->ndim && x->shape[dim] == 0)
      continue; /* it makes zeros */
    if (n >= 0x1p50L || (n < 10000 && gt_numel(index) < 10000))
      TRY(1, index_select, NULL, x, d, index);
    if (gt_numel(x) < 10000 && gt_numel(y) < 10000) {
      TRY(0, index_add, gt_copy(NULL, x), d, index, y);
      TRY(1, scatter_reduce, gt_copy(NULL, x), d, gt_expand(gt_zeros(GT_SHAPE_0D, GT_INT32, DEV), gt_shape_of(y)), y, GT_MAX, 0);
    }
    if (y->ndim != x->ndim || (gt_numel(y) >= 10000 && gt_numel(y) < POWER(50))) continue;
    TRY(1, gather, NULL, x, d, gt_expand(gt_zeros(GT_SHAPE_0D, GT_INT32, DEV), gt_shape_of(y)));
  }
  if (gt_numel(x) < 100 || gt_numel(y) < 100) TRY(1, copy, x, y);
  if (k > 100 && gt_numel(x) && gt_numel(y)) return;
  TRY(0, matmul, NULL, x, y);
  check_outcome("matmul_eval", gt_matmul_eval(NULL, x, y, "a*b + 1", y), 0);
  TRY(0, addmm, NULL, y, x, y, 1, 2);
  TRY(0, linear, NULL, x, y, NULL);
  TRY(0, linear, NULL, x, y, x);
}
static void test_every_function(void) {
  make_things();
  for (int i = 0; i < THINGS; i++) {
    GT_SCOPE { try_alone(thing[i]); }
    GT_SCOPE { try_dims(thing[i]); }
    for (int j = 0; j < THINGS; j++)
      if (!QUICK || (i + j) % 3 == 0) GT_SCOPE {
          try_pair(gt_retain(thing[i]), thing[j]);
        }
  }
}
static void test_files(void) {
  static const char *const shapes[] = {"(0, 1152921504606846975)", "(1152921504606846976, 0)",
                                       "(4611686018427387904,)",   "(0, 9223372036854775807)",
                                       "(9223372036854775807, 2)", "(4294967296, 4294967296)"};
  const char *path = "sizes-test.npy";
  for (int i = 0; i < 6; i++) {
    unsigned char head[128];
    FILE *file = fopen(path, "wb");
    if (!file) {
      skip("files", "this folder is not writable");
      return;
    }
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\0\x76\0", 10);
    const int n =
        snprintf((char *)head + 10, 117, "{'descr': '|u1', 'fortran_order': %s, 'shape': %s, }",
                 i & 1 ? "True" : "False", shapes[i]);
    head[10 + n] = ' ';
    head[127] = '\n';
    CHECK_INT(fwrite(head, 1, 128, file), 128);
    fclose(file);
    gt_tensor *x = gt_load_npy(path, DEV);
    if (i == 0) CHECK_SHAPE(x, 0, MOST);
    else REFUSED(x, gt_error() == GT_ERROR_SHAPE ? GT_ERROR_SHAPE : GT_ERROR_FORMAT, "");
  }
  REFUSED_STATUS(gt_save_npy(path, expanded(GT_FLOAT32, GT_SHAPE(MOST))), GT_ERROR_MEMORY,
                 "gt_save_npy: out of memory");
  CHECK_INT(gt_save_npy(path, gt_empty(GT_SHAPE(MOST, 0), GT_BOOL, DEV)), GT_OK);
  CHECK_SHAPE(gt_load_npy(path, DEV), MOST, 0);
  remove(path);
}

/* Each function of the header that takes a tensor or a shape is called above. */
static char *contents(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = file ? (char *)calloc(1 << 20, 1) : NULL;
  if (text && !fread(text, 1, (1 << 20) - 1, file)) *text = 0;
  if (file) fclose(file);
  return text;
}
static void test_nothing_is_left_out(void) {
  char path[300], name[80], *own = contents(__FILE__), *header, *end, *p;
  const char *slash = strrchr(__FILE__, '/');
  int seen = 0;
  snprintf(path, sizeof path, "%.*s../gputensor.h", slash ? (int)(slash + 1 - __FILE__) : 0,
           __FILE__);
  header = contents(path);
  end = header ? strstr(header, "#endif /* GPUTENSOR_H */") : NULL;
  if (!own || !end) skip("which functions are called", "the sources are not here");
  for (p = header; own && end && (p = strstr(p, "\nGT_API ")) && p < end; p++) {
    const size_t before = strcspn(p, "("), all = strcspn(p, ";");
    size_t n = 0;
    char *tensor = strstr(p + before, "gt_tensor"), *shape = strstr(p + before, "gt_shape ");
    while (n < 70 && strchr("abcdefghijklmnopqrstuvwxyz0123456789_", p[before - n - 1])) n++;
    if (!((tensor && tensor < p + all) || (shape && shape < p + all))) continue;
    snprintf(name, sizeof name, "%.*s", (int)n, p + before - n);
    char called[2][90];
    snprintf(called[0], sizeof called[0], "%s(", name);
    snprintf(called[1], sizeof called[1], "TRY(0, %s,", name + 3);
    seen++;
    int found = strstr(own, called[0]) || strstr(own, called[1]);
    called[1][4] = '1';
    found = found || strstr(own, called[1]);
    if (strncmp(name, "gt_free", 8) && strncmp(name, "gt_print", 9) && strncmp(name, "gt_tensors_", 11))
      CHECK_TEXT(found, "%s is not called here", name);
  }
  if (own && end) CHECK(seen > 50);
  free(own);
  free(header);
}

int main(int argc, char **argv) {
  check_start("sizes", argc, argv);
  if (PTRDIFF_MAX < INT64_MAX) {
    skip("sizes", "the limit is lower on this machine");
    return check_finish();
  }
  RUN(refused_shapes);
  RUN(refused_counts);
  RUN(largest);
  RUN(broadcasts);
  RUN(folds);
  RUN(joins);
  RUN(products);
  RUN(random_views);
  RUN(views_of_nothing);
  RUN(every_function);
  RUN(files);
  RUN(nothing_is_left_out);
  return check_finish();
}
