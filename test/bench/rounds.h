/* What the benchmarks share: a clock, and the median of rounds. What is compared with a peer is
   timed a round at a time, since both take turns; the rest is left to gt_benchmark. */
#ifndef ROUNDS_H
#define ROUNDS_H
#include <stdlib.h>
#include <time.h>

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}
static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(double *x, int n) {
  qsort(x, (size_t)n, sizeof *x, by_size);
  return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}
#endif
