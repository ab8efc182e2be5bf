/* matmul.c - CPU matrix products beside OpenBLAS's, alternating in one process, and the peak of
   fused multiply-adds measured in the same run.

       cc -O2 -fopenmp -I. test/bench/matmul.c -ldl -lm -lpthread -o bench
       ./bench [--threads N] [--only square|small|skinny|shapes] [--most N] [--shapes FILE]
               [--library FILE] [--core NAME]

   OPENBLAS_CORETYPE is set to NAME, or else to the best kernels that OpenBLAS has for the
   processor's instructions; by itself it takes those of an older one where it does not know the
   model. FILE holds lines "source,M,N,K,ta,tb"; a source with _col was published for column-major
   matrices. K is cut where a product would take more than half a second.

   Each round of a product times ours, theirs, the peak and, of several threads, one of ours: clocks
   that change with load and neighbours change all of them. The columns are medians of the rounds;
   "peak" is our share of the peak's median, "one" how many times as fast as one thread we are. */
#define _GNU_SOURCE
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include "rounds.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef void sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int,
                   float, float *, int);
typedef void dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int,
                   double, double *, int);
static sgemm *peer_s;
static dgemm *peer_d;
static double peak;           /* of one thread, float32, GFLOP/s: the highest seen */
static int threads = 1, most = 1 << 30;

/* One thread is timed by its own processor time, which other programs at work disturb least. */
static double time_us(void) {
  struct timespec t;
  if (threads > 1) return now_us();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* ---- the peak: independent fused multiply-adds in registers ---- */
#if defined(__x86_64__)
#define PEAK(name, isa, bytes, n) \
  __attribute__((target(isa), noinline)) static double name(long count) { \
    typedef float V __attribute__((vector_size(bytes))); \
    V s[n], x, y; \
    double t; \
    volatile float sink = 0.5f; \
    for (int i = 0; i < n; i++) s[i] = (V){0} + sink; \
    x = (V){0} + sink, y = (V){0} + sink; \
    t = time_us(); \
    for (long k = 0; k < count; k++) { \
      _Pragma("GCC unroll 16") for (int i = 0; i < n; i++) s[i] = s[i] * x + y; \
      __asm__ volatile("" : "+v"(x), "+v"(y)); \
    } \
    t = time_us() - t; \
    for (int i = 1; i < n; i++) s[0] += s[i]; \
    sink = s[0][0]; \
    return 2e-3 * n * (bytes / 4) * (double)count / t; \
  }
PEAK(peak_avx512, "avx512f", 64, 12)
PEAK(peak_avx2, "avx2,fma", 32, 12)
#endif
/* GFLOP/s of float32 on as many threads, the slowest of which counts. */
static double peak_now(int n_threads) {
  double least = HUGE_VAL;
  (void)n_threads;
#if defined(__x86_64__)
#pragma omp parallel for num_threads(n_threads) schedule(static, 1) reduction(min : least)
  for (int i = 0; i < n_threads; i++) {
    double x = 0;
    if (__builtin_cpu_supports("avx512f")) x = peak_avx512(1000000);
    else if (__builtin_cpu_supports("fma")) x = peak_avx2(1000000);
    if (x < least) least = x;
  }
#endif
  if (least > peak && least < HUGE_VAL) peak = least;
  return least * n_threads;
}

/* ---- one product ---- */
typedef struct { const char *name; int64_t m, n, k; int ta, tb; gt_dtype dtype; } task;
typedef struct { double ours, theirs, one, peak; } figures;   /* microseconds; GFLOP/s */
static void peer_product(const task *t, const void *a, const void *b, void *c) {
  const int m = (int)t->m, n = (int)t->n, k = (int)t->k;
  const int ta = t->ta ? 112 : 111, tb = t->tb ? 112 : 111, lda = t->ta ? m : k, ldb = t->tb ? k : n;
  if (t->dtype == GT_FLOAT32)
    peer_s(101, ta, tb, m, n, k, 1, (const float *)a, lda, (const float *)b, ldb, 0, (float *)c, n);
  else
    peer_d(101, ta, tb, m, n, k, 1, (const double *)a, lda, (const double *)b, ldb, 0, (double *)c,
           n);
}
static void set_threads(int n) {
  (void)n;
#ifdef _OPENMP
  omp_set_num_threads(n);
#endif
}
static void product(int ours, const task *t, const void *x, const void *y, void *z,
                    const gt_tensor *a, const gt_tensor *b, gt_tensor *c) {
  if (ours) gt_matmul(c, a, b);
  else peer_product(t, x, y, z);
}
static double time_of(int ours, int count, const task *t, const gt_tensor *a, const gt_tensor *b,
                      const gt_tensor *va, const gt_tensor *vb, gt_tensor *c) {
  const void *x = gt_data(a), *y = gt_data(b);
  void *z = gt_data(c);
  double start = time_us();
  /* Not timed: the first call and, of threads, those while the other side's may still spin. */
  do product(ours, t, x, y, z, va, vb, c);
  while (threads > 1 && time_us() < start + 40000);
  start = time_us();
  for (int i = 0; i < count; i++) product(ours, t, x, y, z, va, vb, c);
  return (time_us() - start) / count;
}
static figures measure(const task *t) {
  enum { MOST = 15 };
  const double flop = 2.0 * (double)t->m * (double)t->n * (double)t->k;
  const int rounds = flop > 2e10 ? 5 : MOST;
  double ours[MOST], theirs[MOST], one[MOST], most_flops[MOST];
  int count = 1;
  figures result = {0, 0, 0, 0};
  GT_SCOPE {
    const gt_shape of_a = t->ta ? GT_SHAPE(t->k, t->m) : GT_SHAPE(t->m, t->k);
    const gt_shape of_b = t->tb ? GT_SHAPE(t->n, t->k) : GT_SHAPE(t->k, t->n);
    gt_tensor *a = gt_randn(of_a, t->dtype, gt_cpu(), NULL);
    gt_tensor *b = gt_randn(of_b, t->dtype, gt_cpu(), NULL);
    gt_tensor *c = gt_zeros(GT_SHAPE(t->m, t->n), t->dtype, gt_cpu());
    gt_tensor *va = t->ta ? gt_transpose(a, 0, 1) : a, *vb = t->tb ? gt_transpose(b, 0, 1) : b;
    const double once = time_of(1, 1, t, a, b, va, vb, c);
    while (count * once < 4000 && count < 100000) count *= 2;
    for (int i = 0; i < rounds; i++) {
      most_flops[i] = peak_now(threads) * (t->dtype == GT_FLOAT32 ? 1 : 0.5);
      ours[i] = time_of(1, count, t, a, b, va, vb, c);
      theirs[i] = time_of(0, count, t, a, b, va, vb, c);
      set_threads(1);
      one[i] = threads > 1 ? time_of(1, count, t, a, b, va, vb, c) : ours[i];
      set_threads(threads);
    }
    result.ours = median(ours, rounds);
    result.theirs = median(theirs, rounds);
    result.one = median(one, rounds);
    result.peak = median(most_flops, rounds);
  }
  if (gt_error()) {
    fprintf(stderr, "%s\n", gt_error_message());
    exit(1);
  }
  return result;
}

/* ---- groups ---- */
typedef struct { double log_sum, worst; int n; } summary;
static void run(task t, summary *s) {
  const figures f = measure(&t);
  const double gflop = 2e-3 * (double)t.m * (double)t.n * (double)t.k, ratio = f.theirs / f.ours;
  printf("%-34.34s %7lld %6lld %6lld  %c%c  %s %2d %11.2f %9.1f %9.1f %6.2f  %5.2f %5.2f\n",
         t.name, (long long)t.m, (long long)t.n, (long long)t.k, t.ta ? 'T' : 'N',
         t.tb ? 'T' : 'N', t.dtype == GT_FLOAT32 ? "f32" : "f64", threads, f.ours, gflop / f.ours, gflop / f.theirs,
         ratio, gflop / f.ours / f.peak, f.one / f.ours);
  fflush(stdout);
  s->log_sum += log(ratio);
  if (!s->n || ratio < s->worst) s->worst = ratio;
  s->n++;
}
static void report(const char *group, const summary *s) {
  if (s->n)
    printf("%s: %d products, %d threads, geometric mean %.2f, worst %.2f\n\n", group, s->n, threads,
           exp(s->log_sum / s->n), s->worst);
}
static void squares(const char *group, const int *size, int n) {
  summary s = {0, 0, 0};
  for (int d = 0; d < 2; d++)
    for (int i = 0; i < n && size[i] <= most; i++) {
      const task t = {group, size[i], size[i], size[i], 0, 0, d ? GT_FLOAT64 : GT_FLOAT32};
      run(t, &s);
    }
  report(group, &s);
}
static void skinny(void) {
  static const int64_t size[][5] = {
      {1, 1024, 1024, 0, 0}, {1, 1024, 1024, 0, 1}, {1024, 1, 1024, 0, 0}, {1024, 1, 1024, 1, 0},
      {1, 4096, 4096, 0, 0}, {1, 4096, 4096, 0, 1}, {4096, 1, 4096, 0, 0}, {4096, 1, 4096, 1, 0},
      {1, 1, 100000, 0, 0}, {1000, 1000, 1, 0, 0}, {4, 2048, 2048, 0, 0}, {4, 2048, 2048, 0, 1},
      {16, 1760, 1760, 0, 0}, {16, 2048, 2048, 0, 1}, {32, 2560, 2560, 0, 1}, {2048, 16, 512, 0, 0},
      {2048, 10, 512, 0, 0}, {2048, 10, 512, 0, 1}, {512, 10, 2048, 1, 0}, {64, 64, 8192, 0, 1},
      {10000, 32, 32, 0, 0}, {64, 10, 128, 0, 0}};
  summary s = {0, 0, 0};
  for (int i = 0; i < (int)(sizeof size / sizeof *size); i++) {
    const task t = {"skinny", size[i][0], size[i][1], size[i][2], (int)size[i][3], (int)size[i][4],
                    GT_FLOAT32};
    run(t, &s);
  }
  report("skinny", &s);
}
static void from_file(const char *path) {
  FILE *file = fopen(path, "r");
  char line[400], name[200];
  summary s = {0, 0, 0};
  while (file && fgets(line, sizeof line, file)) {
    long long m, n, k;
    int ta, tb;
    if (sscanf(line, "%199[^,],%lld,%lld,%lld,%d,%d", name, &m, &n, &k, &ta, &tb) != 6) continue;
    task t = {name, m, n, k, ta, tb, GT_FLOAT32};
    if (strstr(name, "_col")) t.m = n, t.n = m, t.ta = tb, t.tb = ta;
    const double flop = peak * threads * 5e8;
    while (2.0 * (double)t.m * (double)t.n * (double)t.k > flop && t.k > 64) t.k = (t.k + 1) / 2;
    while (4.0 * ((double)t.m * (double)t.k + (double)t.k * (double)t.n) > 2e9) t.k /= 2;
    run(t, &s);
  }
  if (file) fclose(file);
  else fprintf(stderr, "%s: cannot be read\n", path);
  report("shapes", &s);
}
int main(int argc, char **argv) {
  static const int large[] = {512, 1024, 2048, 4096};
  static const int small[] = {8, 16, 32, 48, 64, 96, 100, 128, 256};
  const char *library = "libopenblas.so.0", *only = "", *file = NULL, *core = NULL;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--threads")) threads = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--only")) only = argv[i + 1];
    if (!strcmp(argv[i], "--most")) most = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--shapes")) file = argv[i + 1];
    if (!strcmp(argv[i], "--core")) core = argv[i + 1];
    if (!strcmp(argv[i], "--library")) library = argv[i + 1];
  }
#if defined(__x86_64__)
  const char *best = __builtin_cpu_supports("avx512f") ? "SKYLAKEX" : "HASWELL";
  setenv("OPENBLAS_CORETYPE", core ? core : best, 1);
#endif
  void *blas = dlopen(library, RTLD_NOW);
  if (!blas) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void *symbol[4] = {dlsym(blas, "cblas_sgemm"), dlsym(blas, "cblas_dgemm"),
                     dlsym(blas, "openblas_set_num_threads"), dlsym(blas, "openblas_get_config")};
  void (*set_peers)(int);
  char *(*config)(void);
  memcpy(&peer_s, &symbol[0], sizeof symbol[0]);
  memcpy(&peer_d, &symbol[1], sizeof symbol[1]);
  memcpy(&set_peers, &symbol[2], sizeof symbol[2]);
  memcpy(&config, &symbol[3], sizeof symbol[3]);
  if (!peer_s || !peer_d || !set_peers) return 1;
  set_peers(threads);
  set_threads(threads);
  for (int i = 0; i < 9; i++) peak_now(threads);
  gt_properties p;
  gt_device_properties(gt_cpu(), &p);
  printf("%s, gputensor (%s), %s, OPENBLAS_CORETYPE=%s\n", p.name, p.instructions,
         config ? config() : "another library", getenv("OPENBLAS_CORETYPE"));
  printf("peak of fused multiply-adds, one thread, float32: up to %.1f GFLOP/s\n\n", peak);
  printf("%-34s %7s %6s %6s  %2s  %3s %2s %11s %9s %9s %6s  %5s %5s\n", "product", "M", "N", "K", "AB",
         "", "T", "ours us", "GFLOP/s", "peer", "ratio", "peak", "one");
  if (!*only || !strcmp(only, "square")) squares("square", large, 4);
  if (!*only || !strcmp(only, "small")) squares("small", small, 9);
  if (!*only || !strcmp(only, "skinny")) skinny();
  if (file && (!*only || !strcmp(only, "shapes"))) from_file(file);
  return 0;
}
