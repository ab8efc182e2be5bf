/* 04_expressions.c - seven operations in seven calls, and in one.

   You learn: that a call per operation moves every intermediate result through memory, that gt_eval
   computes a formula in one pass, how numbers known only at run time get into it (gt_scalar), what
   a bad formula is told, and that reductions and products take formulas, too.

       cc -O2 -march=native -fopenmp -I. examples/04_expressions.c -lm -lpthread -o expressions
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/04_expressions.c \
            gputensor_kernels.cu -o expressions

   What moves through memory, each letter an array of 32 MiB, t the result so far:

       seven calls   ab>t  tc>t  ta>t  tb>t  t>t  t>t  t>t       18
       one gt_eval   abc>t                                        4

   Output (times differ):

       sigmoid(relu((a*b + c)*a - b) * s) over 8388608 elements on cpu
       seven calls:   20.9 ms, 0.60 GB moved
       one gt_eval:    7.6 ms, 0.13 GB moved
       largest difference: 0
       mean of (a - b)**2 in one pass: 2.0001; in two: 2.0001
       product, bias and relu in one call: largest difference 0
       a bad formula: gt_eval: "a * relu(b"  at column 11: expected ) or ,
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 23 };

static void check(int ok) {
  if (ok && !gt_error()) return;
  fprintf(stderr, "%s\n", gt_error() ? gt_error_message() : "a check failed");
  exit(1);
}

/* As a library of single operations does it. t is used again: in place is allowed. */
static void seven_calls(gt_tensor *t, gt_tensor *a, gt_tensor *b, gt_tensor *c, gt_tensor *s) {
  gt_mul(t, a, b);
  gt_add(t, t, c);
  gt_mul(t, t, a);
  gt_sub(t, t, b);
  gt_relu(t, t);
  gt_mul(t, t, s);
  gt_sigmoid(t, t);
}

static void one_call(gt_tensor *t, gt_tensor *a, gt_tensor *b, gt_tensor *c, gt_tensor *s) {
  gt_eval(t, "sigmoid(relu((a*b + c)*a - b) * d)", a, b, c, s);
}

typedef void (*chain)(gt_tensor *, gt_tensor *, gt_tensor *, gt_tensor *, gt_tensor *);
typedef struct work {
  chain f;
  gt_tensor *t, *a, *b, *c, *s;
} work;
static void do_work(void *argument) {
  const work *w = (const work *)argument;
  w->f(w->t, w->a, w->b, w->c, w->s);
}
/* Milliseconds until the result is there: the median of some rounds. */
static double time_of(work w) {
  return gt_benchmark(do_work, &w, w.t->device, 20).median_ms;
}

static double largest_difference(const gt_tensor *x, const gt_tensor *y) {
  return gt_item(gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a - b)", x, y));
}

int main(void) {
  const gt_device device = gt_best_device();
  GT_SCOPE {
    gt_tensor *a = gt_randn(GT_SHAPE(N), GT_FLOAT32, device, NULL);
    gt_tensor *b = gt_randn(GT_SHAPE(N), GT_FLOAT32, device, NULL);
    gt_tensor *c = gt_randn(GT_SHAPE(N), GT_FLOAT32, device, NULL);
    gt_tensor *s = gt_scalar(0.25); /* a number of the run: not part of the text, any device */
    gt_tensor *x = gt_empty_like(a), *y = gt_empty_like(a);
    check(x && y);

    printf("sigmoid(relu((a*b + c)*a - b) * s) over %d elements on %s\n", N,
           gt_device_string(device));
    const double seven = time_of((work){seven_calls, x, a, b, c, s});
    const double one = time_of((work){one_call, y, a, b, c, s});
    /* Four calls read two arrays and three read one; each writes one. The formula reads three. */
    printf("seven calls: %6.1f ms, %.2f GB moved\n", seven, 18.0 * 4 * N * 1e-9);
    printf("one gt_eval: %6.1f ms, %.2f GB moved\n", one, 4.0 * 4 * N * 1e-9);
    const double difference = largest_difference(x, y);
    printf("largest difference: %g\n", difference);
    check(difference <= 1e-6);

    gt_tensor *squares = gt_eval(NULL, "(a - b)**2", a, b);
    const double once = gt_item(gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "(a - b)**2", a, b));
    const double twice = gt_item(gt_mean(NULL, squares, GT_ALL, 0));
    printf("mean of (a - b)**2 in one pass: %.4f; in two: %.4f\n", once, twice);
    check(fabs(once - twice) < 1e-3);

    gt_tensor *m = gt_reshape(gt_slice(a, 0, 0, 256 * 64, 1), GT_SHAPE(256, 64));
    gt_tensor *w = gt_reshape(gt_slice(b, 0, 0, 64 * 32, 1), GT_SHAPE(64, 32));
    gt_tensor *bias = gt_slice(c, 0, 0, 32, 1);
    gt_tensor *fused = gt_matmul_eval(NULL, m, w, "relu(a + b)", bias); /* a: the product */
    gt_tensor *plain = gt_relu(NULL, gt_add(NULL, gt_matmul(NULL, m, w), bias));
    const double apart = largest_difference(fused, plain);
    printf("product, bias and relu in one call: largest difference %g\n", apart);
    check(apart <= 1e-4);

    const gt_tensor *none = gt_eval(NULL, "a * relu(b", a, b);
    printf("a bad formula: %s\n", gt_error_message());
    gt_clear_error();
    check(none == NULL);
  }
  return 0;
}
