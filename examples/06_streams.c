/* 06_streams.c - upload, compute and download in chunks, on one stream and on four.

   You learn: how chunks on several streams overlap copies with computing, what that can gain at
   best, that it needs pinned memory, and how gt_stats says how each copy really went.

       cc -O2 -march=native -fopenmp -I. examples/06_streams.c -lm -lpthread -o streams
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/06_streams.c \
            gputensor_kernels.cu -o streams
       ./streams [--device cpu|cuda|cuda:N]

   A GPU has an engine for copies to it, one for copies from it, and the multiprocessors. One stream
   keeps one of the three busy at a time; four streams keep all three busy, so the time falls from
   the sum of the three towards the longest of them, and never below. Ordinary memory spoils it: a
   copy to it makes the host wait, and nothing more is enqueued meanwhile.

   On CPU streams the "copies" go from the CPU to the CPU, and all work shares the same cores: four
   streams gain only the cores that one leaves unused, and pinned memory is ordinary memory.

   Output (times differ):

       16 chunks of 0.06 MiB, 40 operations each, on cpu (AMD EPYC)
                                            ms speed-up  asynch.  staged  blocking
       one stream, pinned memory          4.34     1.00        0       0         0
       four streams, pinned memory        2.07     2.10        0       0         0
       one stream, ordinary memory        4.08     1.06        0       0         0
       four streams, ordinary memory      2.14     2.02        0       0         0
       copies of both directions alone    0.14 ms, computing alone    4.01 ms
       copies and computing share the cores here: no ideal to compare with
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 16, STREAMS = 4, STEPS = 40, ROUNDS = 3 };

/* A tensor for each chunk: the library orders streams by the memory that they share, so slices of
   one large result would make each stream wait for the one before. */
typedef struct {
  gt_stream *stream[STREAMS];
  gt_tensor *there[STREAMS];           /* on the device, used again for every chunk of a stream */
  gt_tensor *in[CHUNKS], *out[CHUNKS]; /* on the host */
} pipeline;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

static gt_device choose(int argc, char **argv) {
  if (argc == 1) return gt_best_device();
  if (argc == 3 && strcmp(argv[1], "--device") == 0) return gt_parse_device(argv[2]);
  fprintf(stderr, "usage: %s [--device cpu|cuda|cuda:N]\n", argv[0]);
  exit(2);
}

static void compute(gt_tensor *x) {
  for (int step = 0; step < STEPS; step++) gt_eval(x, "a*0.99 + 0.5", x);
}

/* Enqueues everything; nothing here waits, unless a copy has to. */
static void all_chunks(const pipeline *p, int streams) {
  for (int i = 0; i < CHUNKS; i++) {
    gt_tensor *there = p->there[i % streams];
    GT_WITH_STREAM_SCOPED(p->stream[i % streams]); /* to the end of this round */
    gt_copy(there, p->in[i]);
    compute(there);
    gt_copy(p->out[i], there);
  }
}

/* The parts alone: the copies of both directions at once, and the computing. */
static void only_copies(const pipeline *p, int streams) {
  for (int i = 0; i < CHUNKS; i++) {
    GT_WITH_STREAM(p->stream[0]) gt_copy(p->there[0], p->in[i]);
    GT_WITH_STREAM(p->stream[streams - 1]) gt_copy(p->out[i], p->there[streams - 1]);
  }
}

static void only_compute(const pipeline *p, int streams) {
  for (int i = 0; i < CHUNKS; i++)
    GT_WITH_STREAM(p->stream[i % streams]) compute(p->there[i % streams]);
}

/* The best of a few rounds, after one that warms up. */
static double best_ms(void (*work)(const pipeline *, int), const pipeline *p, int streams) {
  double best = 1e30;
  for (int i = 0; i <= ROUNDS; i++) {
    gt_reset_stats();
    const double start = gt_now_ms();
    work(p, streams);
    gt_synchronize(p->there[0]->device);
    if (i > 0) best = fmin(best, gt_now_ms() - start);
  }
  return best;
}

/* Compares with double precision in plain C; the hash of all bits must be that of all variants. */
static uint64_t checked_hash(const pipeline *p) {
  uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < CHUNKS; i++) {
    const float *x = (const float *)gt_data(p->in[i]), *y = (const float *)gt_data(p->out[i]);
    for (int64_t k = 0; k < gt_numel(p->out[i]); k++) {
      uint32_t bits;
      memcpy(&bits, y + k, sizeof bits);
      hash = (hash ^ bits) * 1099511628211u;
      if (k % 97) continue;
      double expected = x[k];
      for (int step = 0; step < STEPS; step++) expected = expected * 0.99 + 0.5;
      check(fabs(y[k] - expected) <= 1e-4, "a result");
    }
    gt_fill(p->out[i], -1); /* so that the next variant cannot pass by doing nothing */
  }
  return hash;
}

static double variant(const char *name, const pipeline *p, int streams) {
  static double first_ms;
  static uint64_t first_hash;
  const double ms = best_ms(all_chunks, p, streams);
  gt_statistics s; /* of the last round */
  int kind[3];
  gt_stats(&s);
  const uint64_t hash = checked_hash(p);
  if (!first_ms) {
    first_ms = ms;
    first_hash = hash;
  }
  check(hash == first_hash, "the variants differ");
  for (int k = 0; k < 3; k++)
    kind[k] = (int)(s.copies[GT_HOST_TO_DEVICE][k].count + s.copies[GT_DEVICE_TO_HOST][k].count);
  printf("%-30s %8.2f %8.2f %8d %7d %9d\n", name, ms, first_ms / ms, kind[GT_COPY_ASYNC],
         kind[GT_COPY_STAGED], kind[GT_COPY_BLOCKING]);
  return ms;
}

static void run(gt_device device) {
  const int gpu = device.type == GT_CUDA;
  /* On a CPU so small that an operation is one core's work: four streams can use four. */
  const gt_shape shape = GT_SHAPE(gpu ? 1 << 22 : 1 << 14);
  pipeline pinned, ordinary;
  for (int i = 0; i < STREAMS; i++) {
    pinned.stream[i] = ordinary.stream[i] = gt_stream_create(device, 0);
    pinned.there[i] = ordinary.there[i] = gt_zeros(shape, GT_FLOAT32, device);
  }
  for (int i = 0; i < CHUNKS; i++) {
    ordinary.in[i] = gt_rand(shape, GT_FLOAT32, gt_cpu(), NULL);
    ordinary.out[i] = gt_empty(shape, GT_FLOAT32, gt_cpu());
    pinned.in[i] = gt_copy(gt_empty_pinned(shape, GT_FLOAT32), ordinary.in[i]);
    pinned.out[i] = gt_empty_pinned(shape, GT_FLOAT32);
  }

  printf("%d chunks of %.2f MiB, %d operations each, on %s (%s)\n", CHUNKS,
         (double)gt_nbytes(pinned.there[0]) / 1048576, STEPS, gt_device_string(device),
         gt_device_name(device));
  printf("%30s %8s %8s %8s %7s %9s\n", "", "ms", "speed-up", "asynch.", "staged", "blocking");
  variant("one stream, pinned memory", &pinned, 1);
  const double four = variant("four streams, pinned memory", &pinned, STREAMS);
  variant("one stream, ordinary memory", &ordinary, 1);
  variant("four streams, ordinary memory", &ordinary, STREAMS);
  const double copies = best_ms(only_copies, &pinned, 2);
  double computing = 1e30; /* on as many streams as suit it */
  for (int n = 1; n <= STREAMS; n *= 2) computing = fmin(computing, best_ms(only_compute, &pinned, n));
  printf("copies of both directions alone %7.2f ms, computing alone %7.2f ms\n", copies, computing);

  /* The longest part sets the pace; before it begins and after it ends, the first and the last
     chunk go through the other two parts alone. */
  const double ideal = copies > computing ? copies + (copies + computing) / CHUNKS
                                          : computing + 2 * copies / CHUNKS;
  if (gpu) printf("the ideal is %.2f ms; four streams took %.2f times that\n", ideal, four / ideal);
  else printf("copies and computing share the cores here: no ideal to compare with\n");

  for (int i = 0; i < STREAMS; i++) gt_stream_free(pinned.stream[i]);
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  const gt_device device = choose(argc, argv);
  GT_SCOPE { run(device); }
  return 0;
}
