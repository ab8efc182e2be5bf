/* Every kind of kernel on little data: rows that are tiny, short, long, odd and shifted, products
   of all sizes, forms and dtypes. Each result is that of the CPU, bit for bit, but in float64, whose
   exp is the platform's; products are near those in float64. The larger tests would take
   compute-sanitizer minutes; this one takes it a minute. */
#include "check.h"

enum { RESULTS = 24 };
/* What is computed from x, a matrix: everything that the dtype has. */
static int results_of(const gt_tensor *x, gt_tensor *y[RESULTS]) {
  const int floats = is_float(x->dtype);
  int n = 0, d;
  for (d = -1; d < 2; d++) {
    const uint32_t dim = d < 0 ? GT_ALL : GT_DIM(d);
    y[n++] = gt_sum(NULL, x, dim, 0);
    y[n++] = gt_max(NULL, x, dim, 0);
    y[n++] = gt_argmax(NULL, x, dim, 0);
    if (floats) y[n++] = gt_reduce(NULL, GT_MEAN, dim, 1, "exp(a - 2)", x);
    if (!floats || d < 0) continue;
    y[n++] = gt_softmax(NULL, x, d);
    y[n++] = gt_logsumexp(NULL, x, dim, 0);
  }
  y[n++] = gt_add(NULL, x, x);
  y[n++] = gt_eval(NULL, "exp(a) * b + 1", x, gt_select(x, 0, 0));
  y[n++] = gt_eval(NULL, "a / b", x, gt_unsqueeze(gt_select(x, 1, 0), 1));
  y[n++] = gt_contiguous(gt_transpose(x, 0, 1));
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
                                    GT_UINT8};
  int t, s, i, n;
  for (t = 0; t < 6; t++)
    for (s = 0; s < 12; s++) GT_SCOPE {
      const gt_shape shape = GT_SHAPE(size[s][0] + 1, size[s][1]);
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
                                    {384, 520, 128}, {1, 900, 1000}, {200, 1, 300}};
  static const gt_dtype dtypes[] = {GT_BFLOAT16, GT_FLOAT16, GT_FLOAT32, GT_FLOAT64, GT_INT64};
  int t, s, p;
  for (t = 0; t < 5; t++)
    for (s = 0; s < 10; s++)
      for (p = 0; p < (dtypes[t] == GT_FLOAT32 ? 3 : 1); p++)
        GT_SCOPE { check_product(dtypes[t], (gt_precision)p, size[s], (s + t + p) & 3); }
}

int main(int argc, char **argv) {
  check_start("every_kernel", argc, argv);
  gt_free(gt_ones(GT_SHAPE(2), GT_FLOAT32, DEV)); /* what is made on first use is there */
  RUN(maps_and_reductions);
  RUN(products);
  return check_finish();
}
