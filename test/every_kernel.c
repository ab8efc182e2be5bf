/* Every kind of kernel on little data: rows that are tiny, short, long, odd and shifted, products
   of all sizes, forms and dtypes. Each result is that of the CPU, bit for bit, but in float64, whose
   exp is the platform's; products are near those in float64. The larger tests would take
   compute-sanitizer minutes; this one takes it a minute, and racecheck some: --products and --rows
   are the halves of it. --small is for the plain kernels, of which a whole block folds each row,
   however short, and order and scatter compare all with all: it has shorter rows, fewer of them, and
   no products that are there for tiles or precisions of the others. */
#include "check.h"

static int small_only;
enum { RESULTS = 65 };
/* What is computed from x, a matrix: everything that the dtype has. */
static int results_of(const gt_tensor *x, gt_tensor *y[RESULTS]) {
  const int floats = is_float(x->dtype);
  const gt_tensor *twice[2], *cube;
  int n = 0, d;
  for (d = -1; d < 2; d++) {
    const uint32_t dim = d < 0 ? GT_ALL : GT_DIM(d);
    y[n++] = gt_sum(NULL, x, dim, 0);
    y[n++] = gt_max(NULL, x, dim, 0);
    y[n++] = gt_argmax(NULL, x, dim, 0);
    if (floats) y[n++] = gt_reduce(NULL, GT_MEAN, dim, 1, "exp(a - 2)", x);
    if (d >= 0) y[n++] = gt_cumsum(NULL, x, d);
    if (!floats || d < 0) continue;
    y[n++] = gt_softmax(NULL, x, d);
    y[n++] = gt_logsumexp(NULL, x, dim, 0);
    y[n++] = gt_std(NULL, x, dim, 0, 0);
  }
  for (d = -1; d < 2; d++) {
    y[n++] = gt_any(NULL, x, d < 0 ? GT_ALL : GT_DIM(d), 0);
    y[n++] = gt_all(NULL, x, d < 0 ? GT_ALL : GT_DIM(d), 0);
    y[n++] = gt_max(NULL, gt_transpose(x, 0, 1), d < 0 ? GT_ALL : GT_DIM(d), 0);
  }
  twice[0] = twice[1] = x; /* three dims, of which others than neighbours are folded */
  cube = gt_permute(gt_stack(NULL, 2, twice, 0), GT_SHAPE(1, 0, 2));
  y[n++] = gt_sum(NULL, cube, GT_DIM(0) | GT_DIM(2), 0);
  y[n++] = gt_min(NULL, cube, GT_DIM(0) | GT_DIM(1), 0);
  y[n++] = gt_prod(NULL, gt_slice(cube, 0, 0, 40, 3), GT_DIM(0), 0);
  if (floats) {
    y[n++] = gt_norm(NULL, cube, 2, GT_DIM(0) | GT_DIM(2), 0);
    y[n++] = gt_var(NULL, cube, GT_DIM(1) | GT_DIM(2), 1, 0);
    y[n++] = gt_log_softmax(NULL, cube, 1);
    y[n++] = gt_softmax(NULL, gt_transpose(cube, 0, 1), 1);
  }
  y[n++] = gt_eval(NULL, "abs(a) + b", gt_permute(cube, GT_SHAPE(2, 0, 1)),
                   gt_unsqueeze(gt_transpose(x, 0, 1), 2));
  y[n++] = gt_index_select(NULL, cube, 1, gt_arange(0, 2, 1, GT_INT32, x->device));
  y[n++] = gt_index_select(NULL, x, 1, gt_arange(0, x->shape[1], 2, GT_INT64, x->device));
  y[n++] = gt_lt(NULL, x, gt_select(x, 0, 0));
  y[n++] = gt_ge(NULL, x, gt_scalar_int64(1));
  y[n++] = gt_eval(NULL, "a > 0", x);
  y[n++] = gt_logical_or(NULL, gt_ne(NULL, x, gt_select(x, 0, -1)), gt_logical_not(NULL, x));
  y[n++] = gt_maximum(NULL, x, gt_select(x, 0, 0));
  y[n++] = gt_where(NULL, gt_eq(NULL, x, gt_select(x, 0, 0)), gt_abs(NULL, x), x);
  y[n++] = gt_add(NULL, x, x);
  y[n++] = gt_eval(NULL, "exp(a) * b + 1", x, gt_select(x, 0, 0));
  y[n++] = gt_eval(NULL, "a / b", x, gt_unsqueeze(gt_select(x, 1, 0), 1));
  y[n++] = gt_contiguous(gt_transpose(x, 0, 1));
  y[n++] = gt_nonzero(x);
  y[n++] = gt_index_add(gt_copy(NULL, x), 0, gt_zeros(GT_SHAPE(x->shape[0]), GT_INT32, x->device), x);
  y[n++] = gt_scatter_reduce(gt_copy(NULL, x), 1, gt_zeros(gt_shape_of(x), GT_INT64, x->device), x, GT_MIN, 0);
  for (d = 0; d < 4; d++) {
    y[n] = NULL;
    if (d < 2) gt_sort(&y[n++], NULL, x, d, d);
    else gt_topk(NULL, &y[n++], x, x->shape[d - 2] / 2, d - 2, 1);
  }
  if (floats) y[n++] = gt_eval(NULL, "gelu(a)", x);
  return n;
}
static void check_result(const gt_tensor *y, const gt_tensor *expected) {
  void *p = values_of(y);
  if (y && y->dtype == GT_FLOAT64) {
    const gt_tensor *x = gt_to(y, gt_cpu());
    CHECK_NEAR(gt_item(gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a - b)", x, expected)), 0,
               1e-14 * gt_item(gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a)", expected)));
  } else {
    CHECK_SAME(y, expected);
    if (y) digest(y->dtype, p, gt_numel(y));
  }
  free(p);
}
static void test_maps_and_reductions(void) {
  static const int64_t size[][2] = {{1000, 4}, {333, 7}, {50, 1001}, {1001, 50}, {3, 4001},
                                    {17, 127}, {1, 70001}, {70001, 1}, {300, 12}, {9, 2000},
                                    {40, 1024}, {2, 33000}};
  static const gt_dtype dtypes[] = {GT_FLOAT32, GT_BFLOAT16, GT_FLOAT16, GT_FLOAT64, GT_INT64,
                                    GT_UINT8, GT_INT32, GT_BOOL};
  const int64_t most_rows = small_only ? 250 : INT64_MAX, most_columns = small_only ? 1100 : INT64_MAX;
  int t, s, i, n;
  for (t = 0; t < 8; t++)
    for (s = 0; s < 12; s++) GT_SCOPE {
      const int64_t rows = size[s][0] < most_rows ? size[s][0] : most_rows;
      const int64_t columns = size[s][1] < most_columns ? size[s][1] : most_columns;
      const gt_shape shape = GT_SHAPE(rows + 1, columns);
      const gt_tensor *all = random_tensor(shape, dtypes[t], DEV);
      const gt_tensor *x = gt_slice(all, 0, 1, shape.size[0], 1); /* rows start anywhere */
      const gt_tensor *on_cpu = gt_slice(gt_to(all, gt_cpu()), 0, 1, shape.size[0], 1);
      gt_tensor *y[RESULTS], *expected[RESULTS];
      n = results_of(x, y);
      CHECK_INT(results_of(on_cpu, expected), n);
      for (i = 0; i < n; i++) check_result(y[i], expected[i]);
    }
}

/* The product, transposed in memory or not, against that in float64. */
static void check_product(gt_dtype dtype, gt_precision precision, const int64_t *size, int form) {
  const char *program = dtype == GT_INT64 ? "a + 1" : "gelu(a)";
  const gt_shape sa = form & 1 ? GT_SHAPE(size[2], size[0]) : GT_SHAPE(size[0], size[2]);
  const gt_shape sb = form & 2 ? GT_SHAPE(size[1], size[2]) : GT_SHAPE(size[2], size[1]);
  const gt_tensor *a = random_tensor(sa, dtype, DEV), *b = random_tensor(sb, dtype, DEV);
  const gt_tensor *c, *e;
  double share = 0; /* of the largest element, that an error may be */
  if (form & 1) a = gt_transpose(a, 0, 1);
  if (form & 2) b = gt_transpose(b, 0, 1);
  gt_set_float32_matmul_precision(precision);
  c = gt_to_dtype(form == 3 ? gt_matmul_eval(NULL, a, b, program) : gt_matmul(NULL, a, b),
                  GT_FLOAT64);
  gt_set_float32_matmul_precision(GT_HIGHEST);
  a = gt_to_dtype(gt_to(a, gt_cpu()), GT_FLOAT64);
  b = gt_to_dtype(gt_to(b, gt_cpu()), GT_FLOAT64);
  e = form == 3 ? gt_matmul_eval(NULL, a, b, program) : gt_matmul(NULL, a, b);
  if (dtype == GT_BFLOAT16) share = 1e-2;
  else if (dtype == GT_FLOAT16) share = 1e-3;
  else if (dtype == GT_FLOAT32) share = precision == GT_MEDIUM ? 1e-2 : 2e-5;
  else if (dtype == GT_FLOAT64) share = 1e-13;
  CHECK_NEAR(gt_item(gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a - b)", gt_to(c, gt_cpu()), e)), 0,
             share * gt_item(gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a)", e)));
}
static void test_products(void) {
  static const int64_t size[][3] = {{256, 256, 192}, {130, 70, 40}, {3, 700, 600}, {14, 520, 900},
                                    {600, 12, 500}, {257, 129, 131}, {64, 64, 2048},
                                    {384, 520, 128}, {1, 900, 1000}, {200, 1, 300}, {8, 5, 3001},
                                    {30, 1300, 333}, {48, 1300, 200},
                                    {700, 600, 333}, {1100, 1900, 50}}; /* float64 has such tiles */
  static const gt_dtype dtypes[] = {GT_BFLOAT16, GT_FLOAT16, GT_FLOAT32, GT_FLOAT64, GT_INT64};
  int t, s, p, d;
  for (t = 0; t < 5; t++)
    for (s = 0; s < (dtypes[t] == GT_FLOAT64 && !small_only ? 15 : 13); s++)
      for (p = 0; p < (dtypes[t] == GT_FLOAT32 && !small_only ? 3 : 1); p++) GT_SCOPE {
        int64_t mnk[3];
        for (d = 0; d < 3; d++) mnk[d] = small_only && size[s][d] > 300 ? 300 : size[s][d];
        check_product(dtypes[t], (gt_precision)p, mnk, (s + t + p) & 3);
      }
}

int main(int argc, char **argv) {
  int i, products_only = 0, rows_only = 0;
  for (i = 1; i < argc; i++) {
    products_only |= strcmp(argv[i], "--products") == 0;
    rows_only |= strcmp(argv[i], "--rows") == 0;
    small_only |= strcmp(argv[i], "--small") == 0;
  }
  check_start("every_kernel", argc, argv);
  gt_free(gt_ones(GT_SHAPE(2), GT_FLOAT32, DEV)); /* what is made on first use is there */
  if (!products_only) RUN(maps_and_reductions);
  if (!rows_only) RUN(products);
  return check_finish();
}
