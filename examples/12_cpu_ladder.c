/* 12_cpu_ladder.c - five ways to multiply matrices on a CPU, from three loops to the library.

   You learn: the steps of 12_matmul_ladder.cu where no GPU is needed, as they are the same ones:
   read memory in its order, use each number several times while it is near, keep sums in registers,
   and let one instruction do several multiply-adds. All compute C = A x B of float32, N x N in
   rows, on one thread; each result is compared with the library's. A product takes N*N*N
   multiplications and as many additions: GFLOP/s are billions of these a second. The last column is
   the speed in percent of the library's.

       cc -O2 -march=native -fopenmp -I. examples/12_cpu_ladder.c -lm -lpthread -o cpu_ladder
       ./cpu_ladder [N, a multiple of 32]

   1 naive         The sum of an element, then the next one. B is read down a column, so that each
                   number comes with a whole line of the cache, 64 bytes, of which 4 are used.
   2 ikj order     The loops in another order: a row of C grows by rows of B, which are read in
                   their order. For each multiply-add there are still two loads and a store.
   3 tiles         A tile of 4 x 4 elements of C is summed in registers: 8 loads serve 16
                   multiply-adds.
   4 vectors       A tile of 4 x 16, in vectors of the compiler's: one instruction does 16
                   multiply-adds where the processor has AVX-512 and -march=native allows it. make
                   builds for any x86, where a register has 4 numbers: a fifth of the speed.
   5 the library   Larger tiles in registers, and copies of A and B in the order in which they are
                   read; with gt_set_num_threads(1), as the others have one thread, too.

   Output (one core of an EPYC with AVX-512, gcc 12; times differ. clang makes vectors of 2 and 3,
   too, which are then 10 and 4 times as fast; gcc does so of 2 with -O3):

       float32 480 x 480 x 480, one thread
         1 naive           75.33 ms     2.94 GFLOP/s    1.2 %
         2 ikj order       41.79 ms     5.29 GFLOP/s    2.1 %
         3 tiles           29.23 ms     7.57 GFLOP/s    3.0 %
         4 vectors          1.67 ms   132.74 GFLOP/s   52.6 %
         5 the library      0.88 ms   252.17 GFLOP/s   99.8 %
       all are the library's product, to 0.0048

   Try: ./cpu_ladder 512, where rung 1 takes three times as long: at a power of two the numbers of a
   column share a small part of the cache. -O3 in place of -O2. WIDE = 64, and 576 for N, which
   has to be a multiple of it: gcc keeps vectors that are wider than a register on the stack, so
   rung 4 has less than half its speed; clang keeps them in registers, 96 % of the library's speed.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 16, RUNGS = 5, RUNS = 3 };
typedef struct matrices {
  int n;
  const float *a, *b;
  float *c;
} matrices;

static void naive(const matrices *m) {
  const int n = m->n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += m->a[i * n + k] * m->b[k * n + j];
      m->c[i * n + j] = sum;
    }
}

/* c += x * b; `restrict` tells the compiler that they have no numbers in common, so that it may do
   several at once. */
static void add_row(int n, float *restrict c, float x, const float *restrict b) {
  for (int j = 0; j < n; j++) c[j] += x * b[j];
}
static void ikj_order(const matrices *m) {
  const int n = m->n;
  memset(m->c, 0, sizeof(float) * n * n);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) add_row(n, m->c + i * n, m->a[i * n + k], m->b + k * n);
}

/* Elements (i, j) to (i + 3, j + 3) of C; the compiler keeps 16 sums in registers. */
static void tile(const matrices *m, int i, int j) {
  const int n = m->n;
  const float *a = m->a + i * n, *b = m->b + j;
  float sum[4][4] = {{0}};
  for (int k = 0; k < n; k++)
    for (int r = 0; r < 4; r++)
      for (int s = 0; s < 4; s++) sum[r][s] += a[r * n + k] * b[k * n + s];
  for (int r = 0; r < 4; r++) memcpy(m->c + (i + r) * n + j, sum[r], sizeof sum[r]);
}
static void tiles(const matrices *m) {
  for (int j = 0; j < m->n; j += 4)
    for (int i = 0; i < m->n; i += 4) tile(m, i, j);
}

/* GCC's and Clang's: + and * of all 16 at once; memory need not be aligned for it. */
typedef float vector __attribute__((vector_size(WIDE * sizeof(float)), aligned(4)));
/* Elements (i, j) to (i + 3, j + 15) of C. */
static void in_registers(const matrices *m, int i, int j) {
  const int n = m->n;
  const float *a = m->a + i * n;
  vector *to = (vector *)(m->c + i * n + j);
  vector s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
  for (int k = 0; k < n; k++) {
    const vector y = *(const vector *)(m->b + k * n + j);
    s0 += a[k] * y;
    s1 += a[n + k] * y;
    s2 += a[2 * n + k] * y;
    s3 += a[3 * n + k] * y;
  }
  to[0] = s0;
  to[n / WIDE] = s1;
  to[2 * n / WIDE] = s2;
  to[3 * n / WIDE] = s3;
}
static void vectors(const matrices *m) {
  for (int j = 0; j < m->n; j += WIDE)
    for (int i = 0; i < m->n; i += 4) in_registers(m, i, j);
}

typedef struct rung {
  const char *name;
  void (*multiply)(const matrices *m); /* NULL: the library */
} rung;
static const rung rungs[RUNGS] = {{"naive", naive},
                                  {"ikj order", ikj_order},
                                  {"tiles", tiles},
                                  {"vectors", vectors},
                                  {"the library", NULL}};

/* The fastest of some runs, in ms. */
static double time_of(const rung *r, const gt_tensor *x, const gt_tensor *y, gt_tensor *z) {
  double least = INFINITY;
  gt_fill(z, NAN);
  const matrices m = {(int)x->shape[0], (const float *)gt_data(x), (const float *)gt_data(y),
                      (float *)gt_data(z)};
  for (int run = 0; run < RUNS; run++) {
    const double start = gt_now_ms();
    if (r->multiply) r->multiply(&m);
    else gt_matmul(z, x, y);
    const double took = gt_now_ms() - start;
    if (took < least) least = took;
  }
  return least;
}

/* The largest difference. */
static double apart(const gt_tensor *p, const gt_tensor *q) {
  GT_SCOPED;
  return gt_item(gt_max(NULL, gt_eval(NULL, "abs(a - b)", p, q), GT_ALL, 0));
}

static int climb(int n) {
  gt_tensor *x = gt_randn(GT_SHAPE(n, n), GT_FLOAT32, gt_cpu(), NULL);
  gt_tensor *y = gt_randn(GT_SHAPE(n, n), GT_FLOAT32, gt_cpu(), NULL);
  gt_tensor *right = gt_matmul(NULL, x, y), *z = gt_empty_like(right);
  const double library = time_of(&rungs[RUNGS - 1], x, y, z);
  printf("float32 %d x %d x %d, one thread\n", n, n, n);
  for (int i = 0; i < RUNGS; i++) {
    const double took = time_of(&rungs[i], x, y, z);
    if (!(apart(z, right) < 1e-5 * n)) {
      fprintf(stderr, "%s is wrong\n", rungs[i].name);
      return 1;
    }
    printf("  %d %-12s %9.2f ms %8.2f GFLOP/s %6.1f %%\n", i + 1, rungs[i].name, took,
           2e-6 * n * n * n / took, 100 * library / took);
  }
  printf("all are the library's product, to %g\n", 1e-5 * n);
  return 0;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 480;
  int bad = 0;
  if (n < 32 || n % 32 || n > 8192) {
    fprintf(stderr, "%d is not a multiple of 32, from 32 to 8192\n", n);
    return 2;
  }
  gt_set_error_handler(gt_exit_on_error, NULL);
  gt_set_num_threads(1);
  GT_SCOPE { bad = climb(n); }
  return bad;
}
