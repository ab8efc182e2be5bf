/* 19_where_the_gpu_loses.c - one operation on 10 to 100 million numbers, on all that is here.

   You learn: that each way to compute has a price per call and a price per number, so that below
   some size a plain loop wins over the GPU, over threads and over streams; what copies do to that;
   and that the cure is more work on the data between two copies.

       cc -O2 -march=native -fopenmp -I. examples/19_where_the_gpu_loses.c -lm -lpthread -o loses
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/19_where_the_gpu_loses.c \
            gputensor_kernels.cu -o loses
       ./loses [--device cpu|cuda|cuda:N]

   In PyTorch, which has the same two prices:

       y = (a + b) * 0.5; torch.cuda.synchronize()
       y = ((a.cuda() + b.cuda()) * 0.5).cpu()

   The first price, the latency, is that of a call: here less than 0.1 us for the loop, 0.2 us for
   the library, 20 us or more for a stream, whose thread has to be woken, and some 10 us for the
   kernel launch of a GPU and the wait for it. The second is that of moving 12 bytes a number
   through memory (bandwidth), and with copies through the bus, too: where that is no faster than
   the CPU's memory, one light operation with its copies wins at no size.

   Output on a laptop with two cores, which others use, too (times differ, and so do the sizes from
   which on one wins; a chart as below is left out here). 10^7 numbers do not fit into its caches:
   from there on all wait for the same memory, and threads gain nothing:

       (a + b) * 0.5 on AMD EPYC, 2 threads, and no GPU
       microseconds of an operation    10^1    10^2    10^3    10^4    10^5    10^6    10^7    10^8
       c a plain C loop                0.07    0.09    0.33    2.68      25     258    3606   34880
       1 one call, one thread          0.18    0.18    0.27    1.23      13     141    4250   34132
       t one call, all threads         0.18    0.18    0.27    1.23      45     151    4063   34074
       s two streams, a half each        21      70      21      25      62     164    4175   35615

       t one call, all threads      does not win over one thread at any of these sizes
       s two streams, a half each   does not win over one call at any of these sizes

   Output on a pretend GPU (make -C examples pretend-19_where_the_gpu_loses), the same everywhere:
   the times are a model's, in which a loop of the program's own and the waking of a thread cost
   nothing, and whose bus is two thirds as fast as the processor's memory:

       (a + b) * 0.5 on ...
       microseconds of an operation    10^1    10^2    10^3    10^4    10^5    10^6
       c a plain C loop                0.00    0.00    0.00    0.00    0.00    0.00
       1 one call, one thread          0.22    0.40    2.20      20     200    2000
       t one call, all threads         0.22    0.40    2.20      20     200    2000
       s two streams, a half each      0.27    0.36    1.26      10     100    1000
       G the GPU, the data is there    4.02    4.06    4.42    8.03    8.03      29
       g the GPU, with copies            10      10      13      44     315    3036
       k copies for 50 operations      2.17    2.22    2.63    6.77      12      87

           1000 us |                                          1ts g
                   |
            100 us |                                  1ts g
                   |                              g                k
             10 us |      g       g       g   1ts          k     G
                   |     G       G       G       G k     G
              1 us |       k       k  1ts  k
                   |          1ts
            0.1 us |  1ts
                   |
           0.01 us |
                   |
          0.001 us | c       c       c       c       c       c
                   +------------------------------------------------
                      10^1    10^2    10^3    10^4    10^5    10^6 numbers

       t one call, all threads      does not win over one thread at any of these sizes
       s two streams, a half each   wins over one call from about 5e+01 on
       G the GPU, the data is there wins over 1, t, s from about 7e+03 on
       g the GPU, with copies       does not win over 1, t, s at any of these sizes
       k copies for 50 operations   wins over 1, t, s from about 4e+03 on

   On an H200 beside four threads of a Xeon, microseconds of 10^1, 10^3, 10^5, 10^7 and 10^8 numbers:

       t one call, all threads         0.48    0.66      23    1850   27279
       G the GPU, the data is there      11      10      11      39     290   from 5e+04 on
       g the GPU, with copies            23      24      49    2214   21986   from 3e+07 on
       k copies for 50 operations      3.80    3.78    3.92      73     713   from 2e+04 on

   Try: OMP_NUM_THREADS=1 in the environment: t becomes 1. TIMES = 1000: on a GPU k comes near to G.
   "exp(sin(a) * b)" in mean_of, without plain_loop and the check: all rise but those of the GPU,
   which wins from half the size on (pretend: 4e+03 in place of 7e+03).
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 8, TIMES = 50, ROWS = 16 };

/* y, a and b on the host, pinned where there is a GPU, and on the device; halves of them. */
typedef struct {
  int64_t n;
  gt_tensor *a, *b, *y, *there_a, *there_b, *there_y, *half[2][3];
  gt_stream *stream[2];
} data;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* ---- the ways; each leaves y on the host ---- */

static void mean_of(gt_tensor *y, const gt_tensor *a, const gt_tensor *b) {
  gt_eval(y, "(a + b) * 0.5", a, b);
}

static void plain_loop(const data *d) {
  const float *a = (const float *)gt_data(d->a), *b = (const float *)gt_data(d->b);
  float *y = (float *)gt_data(d->y);
  for (int64_t i = 0; i < d->n; i++) y[i] = (a[i] + b[i]) * 0.5f;
}

static void one_call(const data *d) { mean_of(d->y, d->a, d->b); }

static void two_streams(const data *d) {
  for (int i = 0; i < 2; i++)
    GT_WITH_STREAM(d->stream[i]) mean_of(d->half[i][0], d->half[i][1], d->half[i][2]);
  for (int i = 0; i < 2; i++) gt_stream_synchronize(d->stream[i]);
}

static void on_the_gpu(const data *d) {
  mean_of(d->there_y, d->there_a, d->there_b);
  gt_synchronize(d->there_y->device);
}

static void copied(const data *d, int times) {
  gt_copy(d->there_a, d->a);
  gt_copy(d->there_b, d->b);
  for (int i = 0; i < times; i++) mean_of(d->there_y, d->there_a, d->there_b);
  gt_copy(d->y, d->there_y);
  gt_synchronize(d->there_y->device);
}
static void with_copies(const data *d) { copied(d, 1); }
static void copied_once(const data *d) { copied(d, TIMES); }

typedef struct {
  char letter;
  const char *name;
  void (*work)(const data *);
  int threads, gpu, operations; /* threads 0: all */
} way;
static const way ways[] = {
    {'c', "a plain C loop", plain_loop, 1, 0, 1},
    {'1', "one call, one thread", one_call, 1, 0, 1},
    {'t', "one call, all threads", one_call, 0, 0, 1},
    {'s', "two streams, a half each", two_streams, 1, 0, 1},
    {'G', "the GPU, the data is there", on_the_gpu, 0, 1, 1},
    {'g', "the GPU, with copies", with_copies, 0, 1, 1},
    {'k', "copies for 50 operations", copied_once, 0, 1, TIMES},
};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct {
  void (*work)(const data *);
  const data *d;
} job;
static void call(void *argument) {
  const job *j = (const job *)argument;
  j->work(j->d);
}

/* Microseconds of one operation. */
static double time_of(const way *w, const data *d) {
  job j = {w->work, d};
  const gt_device device = w->gpu ? d->there_y->device : gt_cpu();
  const double ms = gt_benchmark(call, &j, device, 10).median_ms;
  return fmax(ms * 1e3 / w->operations, 1e-3);
}

static gt_tensor *random_numbers(gt_shape shape) {
  GT_SCOPED;
  gt_tensor *x = gt_empty_pinned(shape, GT_FLOAT32);
  return gt_keep(gt_copy(x, gt_rand(shape, GT_FLOAT32, gt_cpu(), NULL)));
}

static data make(int64_t n, gt_device device) {
  const gt_shape shape = GT_SHAPE(n);
  data d;
  d.n = n;
  d.a = random_numbers(shape);
  d.b = random_numbers(shape);
  d.y = gt_empty_pinned(shape, GT_FLOAT32);
  d.there_a = gt_to(d.a, device); /* without a GPU it is the same memory */
  d.there_b = gt_to(d.b, device);
  d.there_y = device.type == GT_CUDA ? gt_empty(shape, GT_FLOAT32, device) : d.y;
  for (int i = 0; i < 2; i++) {
    const gt_tensor *const all[3] = {d.y, d.a, d.b};
    for (int k = 0; k < 3; k++) d.half[i][k] = gt_slice(all[k], 0, n / 2 * i, i ? n : n / 2, 1);
    d.stream[i] = gt_stream_create(gt_cpu(), 0);
  }
  return d;
}

/* Of each way at this size, whose result is compared with the formula, bit by bit. */
static void measure(int64_t n, gt_device device, int threads, double *us) {
  GT_SCOPED;
  const data d = make(n, device);
  for (int w = 0; w < WAYS; w++) {
    us[w] = 0;
    if (ways[w].gpu && device.type != GT_CUDA) continue;
    gt_set_num_threads(ways[w].threads ? ways[w].threads : threads);
    gt_fill(d.y, -1);
    us[w] = time_of(&ways[w], &d);
    if (ways[w].work == on_the_gpu) gt_copy(d.y, d.there_y);
    const gt_tensor *right =
        gt_reduce(NULL, GT_ALL_TRUE, GT_ALL, 0, "a == (b + c) * 0.5", d.y, d.a, d.b);
    check(gt_item(right) == 1, ways[w].name);
  }
  for (int i = 0; i < 2; i++) gt_stream_free(d.stream[i]);
}

/* ---- what is printed ---- */

static void table(double us[][WAYS], int sizes) {
  printf("microseconds of an operation");
  for (int s = 0; s < sizes; s++) printf("    10^%d", s + 1);
  for (int w = 0; w < WAYS; w++) {
    if (us[0][w] == 0) continue;
    printf("\n%c %-26s", ways[w].letter, ways[w].name);
    for (int s = 0; s < sizes; s++) printf(us[s][w] < 10 ? "%8.2f" : "%8.0f", us[s][w]);
  }
}

/* The chart has two rows for each power of ten. */
static int row_of(double us) { return (int)floor(2 * log10(us)); }

/* Time against size, both by powers of ten: each way has its place in a size's column. */
static void chart(double us[][WAYS], int sizes) {
  int lowest = row_of(us[0][0]), highest = lowest;
  for (int s = 0; s < sizes; s++)
    for (int w = 0; w < WAYS; w++) {
      if (us[s][w] > 0 && row_of(us[s][w]) < lowest) lowest = row_of(us[s][w]);
      if (us[s][w] > 0 && row_of(us[s][w]) > highest) highest = row_of(us[s][w]);
    }
  printf("\n\n");
  for (int row = highest; row >= lowest; row--) {
    if (row % 2 == 0) printf("%8g us |", pow(10, row / 2));
    else printf("%11s |", "");
    for (int s = 0; s < sizes; s++) {
      putchar(' ');
      for (int w = 0; w < WAYS; w++)
        putchar(us[s][w] > 0 && row_of(us[s][w]) == row ? ways[w].letter : ' ');
    }
    printf("\n");
  }
  printf("%13s", "+");
  for (int s = 0; s < sizes; s++) printf("--------");
  printf("\n%12s", "");
  for (int s = 0; s < sizes; s++) printf("   10^%d ", s + 1);
  printf("numbers\n\n");
}

static double least(const double *us, int from, int to) {
  double best = us[from];
  for (int w = from + 1; w <= to; w++) best = fmin(best, us[w]);
  return best;
}

/* From which size on way w takes less than the best of the ways from..to. */
static void crossing(double us[][WAYS], int sizes, int w, int from, int to, const char *rivals) {
  int s = sizes;
  printf("%c %-26s ", ways[w].letter, ways[w].name);
  while (s > 0 && us[s - 1][w] < 0.9 * least(us[s - 1], from, to)) s--;
  if (s == sizes) printf("does not win over %s at any of these sizes\n", rivals);
  else if (s == 0) printf("wins over %s at every size\n", rivals);
  else {
    const double loses = fmax(0, log(us[s - 1][w] / least(us[s - 1], from, to)));
    const double wins = log(least(us[s], from, to) / us[s][w]);
    printf("wins over %s from about %.0e on\n", rivals, pow(10, s + loses / (loses + wins)));
  }
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  gt_device device = gt_best_device();
  if (argc == 3 && strcmp(argv[1], "--device") == 0) device = gt_parse_device(argv[2]);
  const int threads = gt_num_threads();
  gt_properties cpu, gpu;
  double us[SIZES][WAYS];
  int sizes = 0;
  gt_device_properties(gt_cpu(), &cpu);
  gt_device_properties(device, &gpu);
  const double memory = fmin((double)cpu.total_memory, (double)gpu.total_memory);
  printf("(a + b) * 0.5 on %s, %d threads, and %s\n", gt_device_name(gt_cpu()), threads,
         device.type == GT_CUDA ? gt_device_name(device) : "no GPU");
  for (double n = 10; sizes < SIZES && 32 * n < fmax(memory, 1e8); n *= 10, sizes++)
    measure((int64_t)n, device, threads, us[sizes]);
  table(us, sizes);
  chart(us, sizes);
  crossing(us, sizes, 2, 1, 1, "one thread");
  crossing(us, sizes, 3, 1, 2, "one call");
  for (int w = 4; w < WAYS && device.type == GT_CUDA; w++) crossing(us, sizes, w, 1, 3, "1, t, s");
  return 0;
}
