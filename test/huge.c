/* Tensors of more than 2^32 elements: what is asked of them is looked at where indices of 31 and of 32
   bits end, and at both ends. It needs 20 GB on the device; on a CPU, where it takes minutes, it runs
   if GPUTENSOR_TEST_HUGE is set. */
#include "check.h"

enum { N_WINDOW = 997, ROWS = 65537, COLUMNS = 65541 };
static const int64_t COUNT = (int64_t)ROWS * COLUMNS;

/* Are n elements of x, 1-d, from `first` on those of `of`? */
static void check_window(const gt_tensor *x, int64_t first, int64_t (*of)(int64_t i)) {
  uint8_t seen[N_WINDOW];
  const int64_t n = gt_numel(x) - first < N_WINDOW ? gt_numel(x) - first : N_WINDOW;
  gt_tensor *part = gt_slice(x, 0, first, first + n, 1);
  int64_t bad = -1;
  CHECK_INT(gt_to_array(part, seen, (size_t)n), GT_OK);
  for (int64_t i = 0; i < n && bad < 0; i++) if (seen[i] != (uint8_t)of(first + i)) bad = i;
  CHECK_TEXT(bad < 0, "element %" PRId64 " is %d, not %d", first + bad, seen[bad < 0 ? 0 : bad],
             (uint8_t)of(first + (bad < 0 ? 0 : bad)));
  gt_free(part);
}
static void check_all(gt_tensor *x, int64_t (*of)(int64_t i)) {
  static const int64_t places[] = {0, INT32_MAX, (INT64_C(1) << 32) - 500, INT64_MAX};
  gt_tensor *flat = gt_reshape(x, GT_SHAPE(-1));
  for (int k = 0; k < 4; k++) {
    const int64_t last = gt_numel(flat) - N_WINDOW, at = places[k] < last ? places[k] : last;
    check_window(flat, at, of);
  }
  gt_free(flat);
}
static int64_t value(int64_t i) { return i % 251; }
static gt_tensor *filled(void) { /* with value(i) */
  gt_tensor *x = gt_empty(GT_SHAPE(ROWS, COLUMNS), GT_UINT8, DEV);
  return gt_eval(x, "index % 251");
}
static int64_t square(int64_t i) { return value(i) * value(i) + value(i) - 7; }
static int64_t doubled(int64_t i) { return 2 * value(i); }
static void test_maps(void) {
  gt_tensor *x = filled(), *y = gt_empty_like(x);
  check_all(x, value);
  gt_eval(y, "a * a + a - 7", x);
  check_all(y, square);
  gt_add(y, x, x);
  check_all(y, doubled);
}
static int64_t every_third(int64_t i) { return value(1 + 3 * i) + 1; }
static int64_t transposed(int64_t i) { return value(i % ROWS * COLUMNS + i / ROWS); }
static int64_t with_row(int64_t i) { return value(i) + 3 * value(i % COLUMNS); }
static void test_views(void) {
  gt_tensor *x = filled(), *y = NULL, *flat = gt_reshape(x, GT_SHAPE(-1));
  gt_tensor *row = gt_slice(flat, 0, 0, COLUMNS, 1);
  y = gt_eval(NULL, "a + 1", gt_slice(flat, 0, 1, COUNT, 3));
  check_all(y, every_third);
  gt_free(y);
  y = gt_contiguous(gt_transpose(x, 0, 1));
  check_all(y, transposed);
  gt_free(y);
  y = gt_eval(NULL, "a + b * 3", x, row);
  check_all(y, with_row);
}
static int64_t column_top(int64_t i) { return i == 77 ? 255 : 250; }
static int64_t row_top(int64_t i) { return i == ROWS - 2 ? 255 : 250; }
static void test_folds(void) {
  gt_tensor *x = filled();
  const int64_t whole = COUNT / 251, rest = COUNT % 251;
  const int64_t at = (int64_t)(ROWS - 2) * COLUMNS + 77, sum = whole * 251 * 125 + rest * (rest - 1) / 2;
  CHECK_INT(gt_item_int64(gt_sum(NULL, x, GT_ALL, 0)), sum);
  CHECK_INT(gt_item_int64(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a * 2 + 1", x)), 2 * sum + COUNT);
  CHECK_INT(gt_item_int64(gt_sum(NULL, gt_sum(NULL, x, GT_DIM(0), 0), GT_ALL, 0)), sum);
  CHECK_INT(gt_item_int64(gt_sum(NULL, gt_sum(NULL, x, GT_DIM(1), 0), GT_ALL, 0)), sum);
  gt_fill(gt_select(gt_select(x, 0, -2), 0, 77), 255);
  CHECK_INT(gt_item_int64(gt_argmax(NULL, x, GT_ALL, 0)), at);
  check_window(gt_max(NULL, x, GT_DIM(0), 0), 0, column_top);
  check_window(gt_max(NULL, x, GT_DIM(1), 0), ROWS - 900, row_top);
  CHECK_INT(gt_item_int64(gt_select(gt_argmax(NULL, x, GT_DIM(0), 0), 0, 77)), ROWS - 2);
  CHECK_INT(gt_item_int64(gt_select(gt_argmax(NULL, x, GT_DIM(1), 0), 0, -2)), 77);
}
static int64_t picked(int64_t i) { return value(i / 1001 * 7919 % 300 * 1001 + i % 1001); }
static int64_t gathered(int64_t i) { return value(i % COLUMNS % ROWS * COLUMNS + i % COLUMNS); }
static int64_t joined(int64_t i) { return i < COUNT / 2 ? value(i) : value(i - COUNT / 2) + 1; }
static void test_gathers(void) {
  gt_tensor *few = gt_empty(GT_SHAPE(300, 1001), GT_UINT8, DEV);
  gt_tensor *index = gt_empty(GT_SHAPE(4300001), GT_INT64, DEV), *y;
  gt_eval(few, "index % 251");
  gt_eval(index, "index * 7919 % 300");
  y = gt_index_select(NULL, few, 0, index);
  check_all(y, picked);
  gt_free(y);
  gt_tensor *x = filled();
  index = gt_eval(gt_empty(GT_SHAPE(1, COLUMNS), GT_INT32, DEV), "index % 65537");
  y = gt_gather(NULL, x, 0, gt_expand(index, GT_SHAPE(ROWS, COLUMNS)));
  check_all(y, gathered);
  gt_free(y);
  gt_free(x);
  gt_tensor *half[2] = {gt_empty(GT_SHAPE(COUNT / 2), GT_UINT8, DEV), NULL};
  gt_eval(half[0], "index % 251");
  half[1] = gt_eval(NULL, "a + 1", half[0]);
  check_all(gt_cat(NULL, 2, (const gt_tensor *const *)half, 0), joined);
}
/* The longest row, and many rows. */
static void test_orders(void) {
  static const int64_t place[] = {77, INT64_C(1) << 31, UINT32_MAX - 1};
  gt_tensor *x = gt_zeros(GT_SHAPE(ROWS, COLUMNS), GT_UINT8, DEV), *at = NULL, *first = NULL;
  const gt_tensor *row = gt_slice(gt_reshape(x, GT_SHAPE(-1)), 0, 0, UINT32_MAX, 1);
  for (int i = 0; i < 3; i++) gt_fill(gt_slice(row, 0, place[i], place[i] + 1, 1), 1 + i);
  CHECK_VALUES(gt_nonzero(row), 77, 2147483648.0, 4294967294.0);
  CHECK_INT(gt_topk(NULL, &at, row, 4, 0, 1), GT_OK);
  CHECK_VALUES(at, 4294967294.0, 2147483648.0, 77, 0);
  CHECK_INT(gt_topk(NULL, &first, x, 1, 1, 1), GT_OK);
  for (int i = 0; i < 3; i++)
    CHECK_INT(gt_item_int64(gt_select(first, 0, place[i] / COLUMNS)), place[i] % COLUMNS);
  CHECK_INT(gt_item_int64(gt_sum(NULL, gt_ne(NULL, first, gt_scalar_int64(0)), GT_ALL, 0)), 3);
}
/* The numbers behind 2^32 are those of a generator that begins there. */
static void test_random(void) {
  gt_generator all = {7, 0}, end = {7, (uint64_t)COUNT - N_WINDOW};
  float from_all[N_WINDOW], alone[N_WINDOW];
  gt_tensor *x = gt_rand(GT_SHAPE(COUNT), GT_BFLOAT16, DEV, &all);
  gt_tensor *y = gt_rand(GT_SHAPE(N_WINDOW), GT_BFLOAT16, gt_cpu(), &end);
  gt_to_array(gt_to_dtype(gt_slice(x, 0, -N_WINDOW, COUNT, 1), GT_FLOAT32), from_all, sizeof from_all);
  gt_to_array(gt_to_dtype(y, GT_FLOAT32), alone, sizeof alone);
  CHECK(!memcmp(from_all, alone, sizeof alone));
  CHECK_INT(all.offset, COUNT);
}
static int64_t product(int64_t i) { return 4 * (i / COLUMNS % 3) * (i % COLUMNS % 5); }
static void test_products(void) {
  gt_tensor *a = gt_empty(GT_SHAPE(ROWS, 4), GT_BFLOAT16, DEV), *c;
  gt_tensor *b = gt_empty(GT_SHAPE(4, COLUMNS), GT_BFLOAT16, DEV);
  gt_eval(a, "floor_div(index, 4) % 3 * 1.0");
  gt_eval(b, "index % 65541 % 5 * 1.0");
  c = gt_matmul(NULL, a, b);
  check_all(gt_to_dtype(c, GT_UINT8), product);
}
static void test_moves(void) {
  gt_tensor *x = filled();
  check_all(gt_to(gt_to(x, gt_cpu()), DEV), value);
}
int main(int argc, char **argv) {
  gt_properties p;
  check_start("huge", argc, argv);
  gt_device_properties(DEV, &p);
  if (p.total_memory < (size_t)20 << 30 || QUICK || (DEV.type == GT_CPU && !getenv("GPUTENSOR_TEST_HUGE"))) {
    skip("more than 2^32 elements", "needs a GPU with 20 GB, and time");
    return check_finish();
  }
  RUN(maps);
  RUN(views);
  RUN(folds);
  RUN(gathers);
  RUN(orders);
  RUN(random);
  RUN(products);
  RUN(moves);
  return check_finish();
}
