/* 04_expressions.c - seven operations in seven calls, and in one.

   You learn: that a call per operation moves every intermediate result through memory, that gt_eval
   computes a formula in one pass, how numbers known only at run time get into it (gt_scalar), what
   the library says of a bad formula, and that reductions and products take formulas, too.

   In a formula the operands are a, b, c ... in the order of the call, whatever they are called in
   C. relu(x) is the larger of x and 0, and sigmoid(x) is 1/(1 + exp(-x)); >>operations in
   gputensor.h has the table of all that there are, and >>expressions the rules.

       cc -O2 -march=native -fopenmp -I. examples/04_expressions.c -lm -lpthread -o expressions
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/04_expressions.c \
            gputensor_kernels.cu -o expressions

   What moves through memory: ab>t is a call that reads a and b and writes t, the result so far.
   Each letter is an array of 32 MiB:

       seven calls   ab>t  tc>t  ta>t  tb>t  t>t  t>t  t>t       18 arrays
       one gt_eval   abc>t                                        4

   Operands may have different shapes. From the last dim back their sizes must be equal, or one of
   them 1 or missing: that operand is repeated (broadcast). A bias of shape (32) is so added to each
   of the 256 rows of a product of shape (256, 32), and s, a single number, goes with any shape.

   Output (times differ):

       sigmoid(relu((a*b + c)*a - b) * s) over 8388608 elements on cpu
       seven calls:   27.151 ms, 0.60 GB moved
       one gt_eval:   12.077 ms, 0.13 GB moved
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
  gt_eval(t, "sigmoid(relu((a*b + c)*a - b) * d)", a, b, c, s); /* d is s, the fourth operand */
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
    gt_tensor *s = gt_scalar(0.25); /* known at run time; goes with any device */
    gt_tensor *x = gt_empty_like(a), *y = gt_empty_like(a);
    check(x && y);

    printf("sigmoid(relu((a*b + c)*a - b) * s) over %d elements on %s\n", N,
           gt_device_string(device));
    const double seven = time_of((work){seven_calls, x, a, b, c, s});
    const double one = time_of((work){one_call, y, a, b, c, s});
    /* Four calls read two arrays and three read one; each writes one. The formula reads three. */
    printf("seven calls: %8.3f ms, %.2f GB moved\n", seven, 18.0 * 4 * N * 1e-9);
    printf("one gt_eval: %8.3f ms, %.2f GB moved\n", one, 4.0 * 4 * N * 1e-9);
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
