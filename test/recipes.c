/* What composes in one to four calls: README.md shows the functions between the two lines, and
   compile.sh compares. Each result is compared with plain loops in float64. */
#include "check.h"

/* ---- recipes ---- */
static gt_tensor *layer_norm(const gt_tensor *x, const gt_tensor *w, const gt_tensor *b) {
  gt_tensor *mean = gt_mean(NULL, x, GT_DIM(-1), 1);
  gt_tensor *var = gt_reduce(NULL, GT_MEAN, GT_DIM(-1), 1, "(a - b)**2", x, mean);
  return gt_eval(NULL, "(a - b)*rsqrt(c + 1e-5)*d + e", x, mean, var, w, b);
}
static gt_tensor *rms_norm(const gt_tensor *x, const gt_tensor *w) {
  gt_tensor *square = gt_reduce(NULL, GT_MEAN, GT_DIM(-1), 1, "a*a", x);
  return gt_eval(NULL, "a*rsqrt(b + 1e-6)*c", x, square, w);
}
static gt_tensor *one_hot(const gt_tensor *label, int64_t classes) { /* (n) to (n, classes) */
  gt_tensor *each = gt_arange(0, (double)classes, 1, GT_INT64, label->device);
  return gt_eval(NULL, "a == b", gt_unsqueeze(label, 1), each);
}
static gt_tensor *cross_entropy(const gt_tensor *scores, const gt_tensor *label) { /* (n, c), (n) */
  gt_tensor *hot = one_hot(label, scores->shape[1]);
  gt_tensor *all = gt_logsumexp(NULL, scores, GT_DIM(1), 1);
  gt_tensor *loss = gt_reduce(NULL, GT_SUM, GT_DIM(1), 0, "a ? b - c : 0", hot, all, scores);
  return gt_mean(NULL, loss, GT_ALL, 0);
}
static gt_tensor *tril(const gt_tensor *x) { /* of the last two dims; triu: "a <= b ? c : 0" */
  gt_tensor *row = gt_arange(0, (double)x->shape[x->ndim - 2], 1, GT_INT64, x->device);
  gt_tensor *column = gt_arange(0, (double)x->shape[x->ndim - 1], 1, GT_INT64, x->device);
  return gt_eval(NULL, "a >= b ? c : 0", gt_unsqueeze(row, 1), column, x);
}
static gt_tensor *pad(const gt_tensor *x, int64_t by) { /* (rows, columns), by zeros on all sides */
  const int64_t rows = x->shape[0], columns = x->shape[1];
  gt_tensor *y = gt_zeros(GT_SHAPE(rows + 2 * by, columns + 2 * by), x->dtype, x->device);
  gt_copy(gt_slice(gt_slice(y, 0, by, by + rows, 1), 1, by, by + columns, 1), x);
  return y;
}
static gt_tensor *dropout(const gt_tensor *x, double p) {
  gt_tensor *chance = gt_rand(gt_shape_of(x), GT_FLOAT32, x->device, NULL);
  return gt_eval(NULL, "a < b ? 0 : c / (1 - b)", chance, gt_scalar(p), x);
}
static gt_tensor *max_pool(const gt_tensor *x) { /* (n, h, w), 2 x 2; avg_pool: gt_mean */
  const int64_t n = x->shape[0], h = x->shape[1], w = x->shape[2];
  gt_tensor *of_2 = gt_reshape(x, GT_SHAPE(n, h / 2, 2, w / 2, 2));
  return gt_max(NULL, of_2, GT_DIM(2) | GT_DIM(4), 0);
}
static gt_tensor *conv2d(const gt_tensor *x, const gt_tensor *w, int64_t step) {
  const int64_t *k = w->shape; /* x: (n, c, h, w); w: (out, c, high, wide) */
  gt_tensor *p = gt_unfold(gt_unfold(x, 2, k[2], step), 3, k[3], step);
  gt_tensor *rows = gt_contiguous(gt_permute(p, GT_SHAPE(0, 2, 3, 1, 4, 5)));
  rows = gt_reshape(rows, GT_SHAPE(p->shape[0], p->shape[2], p->shape[3], k[1] * k[2] * k[3]));
  gt_tensor *y = gt_linear(NULL, rows, gt_reshape(w, GT_SHAPE(k[0], -1)), NULL);
  return gt_permute(y, GT_SHAPE(0, 3, 1, 2));
}
static gt_tensor *embedding_grad(gt_tensor *grad, const gt_tensor *index, const gt_tensor *d) {
  gt_tensor *rows = gt_reshape(d, GT_SHAPE(-1, grad->shape[1])); /* grad: (n, width), in place */
  return gt_index_add(grad, 0, gt_reshape(index, GT_SHAPE(-1)), rows);
}
static gt_tensor *bincount(const gt_tensor *x, int64_t n) { /* x: (m), integers below n */
  gt_tensor *ones = gt_expand(gt_ones(GT_SHAPE_0D, GT_INT64, x->device), gt_shape_of(x));
  return gt_index_add(gt_zeros(GT_SHAPE(n), GT_INT64, x->device), 0, x, ones);
}
/* ---- end of the recipes ---- */

enum { N = 6, D = 37 };
static gt_tensor *numbers(gt_shape shape) { return gt_randn(shape, GT_FLOAT32, DEV, NULL); }
static void check_all(const char *what, const gt_tensor *got, int64_t n, const double *want) {
  void *p = values_of(got);
  CHECK_INT(gt_numel(got), n);
  for (int64_t i = 0; got && i < n; i++)
    CHECK_TEXT(fabs(load(got->dtype, p, i) - want[i]) <= 1e-5 * (1 + fabs(want[i])),
               "%s[%d] is %.9g, not %.9g", what, (int)i, (double)load(got->dtype, p, i), want[i]);
  free(p);
}

static void test_norms(void) {
  gt_tensor *x = numbers(GT_SHAPE(N, D)), *w = numbers(GT_SHAPE(D)), *b = numbers(GT_SHAPE(D));
  float *v = (float *)values_of(x), *f = (float *)values_of(w), *s = (float *)values_of(b);
  double layer[N * D], rms[N * D];
  for (int i = 0; i < N; i++) {
    double mean = 0, var = 0, square = 0;
    for (int j = 0; j < D; j++) mean += v[i * D + j] / (double)D;
    for (int j = 0; j < D; j++) {
      var += (v[i * D + j] - mean) * (v[i * D + j] - mean) / D;
      square += (double)v[i * D + j] * v[i * D + j] / D;
    }
    for (int j = 0; j < D; j++) {
      layer[i * D + j] = (v[i * D + j] - mean) / sqrt(var + 1e-5) * f[j] + s[j];
      rms[i * D + j] = v[i * D + j] / sqrt(square + 1e-6) * f[j];
    }
  }
  check_all("layer_norm", layer_norm(x, w, b), N * D, layer);
  check_all("rms_norm", rms_norm(x, w), N * D, rms);
  free(v);
  free(f);
  free(s);
}

static void test_classes(void) {
  static const int64_t labels[N] = {3, 0, 36, 7, 7, 20};
  gt_tensor *x = numbers(GT_SHAPE(N, D));
  gt_tensor *label = gt_from_array(labels, GT_SHAPE(N), GT_INT64, DEV);
  float *v = (float *)values_of(x);
  double hot[N * D], loss = 0;
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < D; j++) {
      hot[i * D + j] = j == labels[i];
      sum += exp(v[i * D + j]);
    }
    loss += (log(sum) - v[i * D + labels[i]]) / N;
  }
  check_all("one_hot", one_hot(label, D), N * D, hot);
  check_all("cross_entropy", cross_entropy(x, label), 1, &loss);
  free(v);
}

static void test_shapes(void) {
  gt_tensor *x = numbers(GT_SHAPE(N, D)), *y = numbers(GT_SHAPE(2, 4, 6));
  float *v = (float *)values_of(x), *u = (float *)values_of(y);
  double low[N * D], padded[(N + 4) * (D + 4)] = {0}, most[2 * 2 * 3];
  for (int i = 0; i < N * D; i++) {
    low[i] = i / D >= i % D ? v[i] : 0;
    padded[(i / D + 2) * (D + 4) + i % D + 2] = v[i];
  }
  for (int i = 0; i < 12; i++) {
    const float *at = u + i / 6 * 24 + i / 3 % 2 * 12 + i % 3 * 2;
    most[i] = fmax(fmax(at[0], at[1]), fmax(at[6], at[7]));
  }
  check_all("tril", tril(x), N * D, low);
  check_all("pad", pad(x, 2), (N + 4) * (D + 4), padded);
  check_all("max_pool", max_pool(y), 12, most);
  free(v);
  free(u);
}

/* Of 10,000 ones some 3,000 become 0, the others 1/0.7. */
static void test_dropout(void) {
  gt_tensor *y = dropout(gt_ones(GT_SHAPE(10000), GT_FLOAT32, DEV), 0.3);
  const double kept = gt_item(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a != 0", y));
  CHECK_TEXT(kept > 6800 && kept < 7200, "%g of 10000 are kept", kept);
  CHECK_NEAR(gt_item(gt_max(NULL, y, GT_ALL, 0)), 1 / 0.7, 1e-6);
  CHECK_NEAR(gt_item(gt_sum(NULL, y, GT_ALL, 0)), kept / 0.7, 1e-2);
}

/* Whole numbers, so that sums are exact in any order. */
static void test_scattering(void) {
  gt_tensor *grad = gt_zeros(GT_SHAPE(5, 3), GT_FLOAT64, DEV), *index = gt_randint(0, 5, GT_SHAPE(4, 20), GT_INT64, DEV, NULL);
  gt_tensor *d = gt_rand(GT_SHAPE(4, 20, 3), GT_FLOAT64, DEV, NULL);
  const int64_t *at = (const int64_t *)values_of(index);
  const double *x = (const double *)values_of(d), *got = (const double *)values_of(embedding_grad(grad, index, d));
  double sum[5][3] = {{0}};
  int64_t count[5] = {0};
  for (int i = 0; i < 80; i++) {
    count[at[i]]++;
    for (int k = 0; k < 3; k++) sum[at[i]][k] += x[3 * i + k];
  }
  for (int i = 0; i < 15; i++) CHECK_NEAR(got[i], sum[i / 3][i % 3], 1e-14 * 80);
  const int64_t *counts = (const int64_t *)values_of(bincount(gt_reshape(index, GT_SHAPE(-1)), 5));
  for (int i = 0; i < 5; i++) CHECK_INT(counts[i], count[i]);
  free((void *)(uintptr_t)at);
  free((void *)(uintptr_t)x);
  free((void *)(uintptr_t)got);
  free((void *)(uintptr_t)counts);
}
static void test_conv2d(void) {
  static const int64_t size[][8] = {{1, 1, 4, 5, 1, 2, 3, 1}, {2, 3, 9, 8, 4, 3, 2, 1}, {3, 2, 11, 7, 5, 3, 3, 2}};
  for (int s = 0; s < 3; s++)
    for (int t = GT_FLOAT32; t <= GT_FLOAT64; t++) GT_SCOPE {
      const int64_t N = size[s][0], C = size[s][1], H = size[s][2], W = size[s][3];
      const int64_t O = size[s][4], h = size[s][5], w = size[s][6], step = size[s][7];
      const gt_tensor *x = gt_to_dtype(random_tensor(GT_SHAPE(N, C, H, W), GT_INT8, DEV), (gt_dtype)t), *y;
      const gt_tensor *weight = gt_to_dtype(random_tensor(GT_SHAPE(O, C, h, w), GT_INT8, DEV), (gt_dtype)t);
      void *px = values_of(x), *pw = values_of(weight), *py;
      y = conv2d(x, weight, step);
      py = values_of(y);
      const int64_t down = (H - h) / step + 1, across = (W - w) / step + 1;
      CHECK_INT(y->shape[0], N);
      CHECK_INT(y->shape[1], O);
      CHECK_INT(y->shape[2], down);
      CHECK_INT(y->shape[3], across);
      for (int64_t i = 0; i < gt_numel(y); i++) {
        const int64_t n = i / across / down / O, o = i / across / down % O, r = i / across % down, q = i % across;
        double sum = 0;
        for (int64_t c = 0; c < C; c++)
          for (int64_t a = 0; a < h; a++)
            for (int64_t b = 0; b < w; b++)
              sum += load(x->dtype, px, ((n * C + c) * H + r * step + a) * W + q * step + b) *
                     load(x->dtype, pw, ((o * C + c) * h + a) * w + b);
        CHECK_NUM(load(y->dtype, py, i), sum);
      }
      free(px);
      free(pw);
      free(py);
    }
}
int main(int argc, char **argv) {
  check_start("recipes", argc, argv);
  RUN(norms);
  RUN(classes);
  RUN(shapes);
  RUN(dropout);
  RUN(scattering);
  RUN(conv2d);
  return check_finish();
}
