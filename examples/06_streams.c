/* 06_streams.c - upload, compute and download in chunks, on one stream and on four.

   You learn: how chunks on several streams overlap copies with computing, what that gains at best,
   that it needs pinned memory, how gt_stats says how each copy really went, and to see what ran
   when: gt_trace_start, gt_trace_stop and gt_trace_print. With --trace FILE gt_trace_save writes a
   file that https://ui.perfetto.dev and chrome://tracing open.

       cc -O2 -march=native -fopenmp -I. examples/06_streams.c -lm -lpthread -o streams
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/06_streams.c \
            gputensor_kernels.cu -o streams
       ./streams [--device cpu|cuda|cuda:N] [--trace FILE]
       make -C examples pretend-06_streams     on a simulated GPU: no real one is needed

   A GPU has an engine for copies to it, one for copies from it, and the multiprocessors. One stream
   keeps one of the three busy at a time; four streams keep all three busy, so the time falls from
   the sum of the three towards the longest of them, and never below: these times stand on the right
   of the pictures. A digit in the row of an engine is the stream that it works for. Ordinary
   (pageable) memory prevents overlap: a copy to it makes the host wait, which enqueues nothing more
   meanwhile.

   The last three columns of the table count the copies, as lesson 03 shows them: asynchronous ones,
   whose call returned at once; staged ones, whose call brought ordinary memory to a pinned buffer;
   and blocking ones, whose call waited until the data was in ordinary memory. A trace lasts from
   the start of its first operation to the end of its last one. What the host copies before and
   after, from and to ordinary memory, counts in the table alone: 11.88 ms there, 11.18 ms in the
   trace.

   On CPU streams the "copies" go from the CPU to the CPU, which the table does not count, and all
   work shares the same cores: four streams gain only the cores that one leaves unused, and pinned
   memory is ordinary memory.

   Output of make -C examples pretend-06_streams, whose times come from a model; others differ:

8 chunks of 1.00 MiB, 40 operations each, on cuda:0 (simulated GPU 0)
                                     ms speed-up  asynch.  staged  blocking
one stream, pinned memory          6.27     1.00       16       0         0
four streams, pinned memory        2.63     2.38       16       0         0
one stream, ordinary memory       11.88     0.53        0       8         8
four streams, ordinary memory     11.88     0.53        0       8         8

one stream, pinned memory:
a trace of 6.27 ms, 337 records, 0 dropped; on the right the busy time in ms
  cuda:0 upload    |1111.....1111.....1111.....1111.....1111.....1111.....1111.....1111.....|     2.12
  cuda:0 compute   |...111......111......111......111......111......111......111......111...|     2.04
  cuda:0 download  |.....11111....11111....11111....11111....11111....11111....11111....1111|     2.11
  cuda:0 stream 1  |uuuCCCddduuuCCCddduuuCCCddduuuCCCddduuuCCCddduuuCCCddduuuCCCddduuuCCCddd|     6.27
         host      |........................................................................|     0.00
                   0                                                                  6.27 ms
  u upload  C compute  d download  . idle
  one after another 6.27 ms, any at work 6.27 ms: gain 1.00
  most operations waited for the one before them on their own stream: independent work can go to ...

four streams, pinned memory:
a trace of 2.63 ms, 337 records, 0 dropped; on the right the busy time in ms
  cuda:0 upload    |1111111222222233333333444444411111112222222333333334444444..............|     2.12
  cuda:0 compute   |.......1111111222222223333333444444411111112222222333333334444444.......|     2.04
  cuda:0 download  |..............1111111222222223333333444444411111112222222233333334444444|     2.11
  cuda:0 stream 1  |uuuuuuuCCCCCCCdddddddd......uuuuuuuuCCCCCCCdddddddd.....................|     1.57
  cuda:0 stream 2  |.......uuuuuuuCCCCCCCdddddddd.......uuuuuuuCCCCCCCdddddddd..............|     1.57
  cuda:0 stream 3  |..............uuuuuuuuCCCCCCCddddddd.......uuuuuuuuCCCCCCCddddddd.......|     1.57
  cuda:0 stream 4  |.....................uuuuuuuuCCCCCCCdddddddd......uuuuuuuuCCCCCCCddddddd|     1.57
         host      |........................................................................|     0.00
                   0                                                                  2.63 ms
  u upload  C compute  d download  . idle
  one after another 6.27 ms, any at work 2.63 ms: gain 2.38

four streams, ordinary memory:
a trace of 11.18 ms, 361 records, 0 dropped; on the right the busy time in ms
  cuda:0 upload    |11.......222.......33.......444.......11.......222.......333......444...|     2.13
  cuda:0 compute   |.111.......22.......333.......444......111.......222.......33.......444.|     2.04
  cuda:0 download  |...111......222.......333.......44.......111.......22.......333.......44|     2.11
  cuda:0 stream 1  |uuCddd................................uuCCdd............................|     1.57
  cuda:0 stream 2  |.........uuCCdd................................uuuCdd...................|     1.57
  cuda:0 stream 3  |...................uuCddd................................uuCCdd.........|     1.57
  cuda:0 stream 4  |............................uuCCdd................................uuuCdd|     1.57
         host      |swwwwsssssswwwsssssswwwwsssssswwwssssssswwwsssssswwwssssssswwwsssssswwww|     0.00
                   0                                                                 11.18 ms
  u upload  C compute  d download  w wait of the host  s staged or blocking copy  . idle
  one after another 6.28 ms, any at work 6.28 ms: gain 1.00
  copies of ordinary (pageable) memory keep the host waiting, which enqueues nothing meanwhile: ...
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 8, STREAMS = 4, STEPS = 40, RECORDS = 4000 };

/* A tensor for each chunk. Rows of one large tensor would do as well: a stream waits for another
   one only where both use the same bytes. */
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

/* --trace's file, or NULL. */
static const char *choose(int argc, char **argv, gt_device *device) {
  const char *trace = NULL;
  *device = gt_best_device();
  for (int i = 1; i < argc; i += 2)
    if (i + 1 < argc && strcmp(argv[i], "--device") == 0) *device = gt_parse_device(argv[i + 1]);
    else if (i + 1 < argc && strcmp(argv[i], "--trace") == 0) trace = argv[i + 1];
    else {
      fprintf(stderr, "usage: %s [--device cpu|cuda|cuda:N] [--trace FILE]\n", argv[0]);
      exit(2);
    }
  return trace;
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

/* What gt_benchmark calls again and again. */
typedef struct {
  const pipeline *p;
  int streams;
} job;
static void work(void *argument) {
  const job *j = (const job *)argument;
  gt_reset_stats();
  all_chunks(j->p, j->streams);
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

static void variant(const char *name, const pipeline *p, int streams) {
  static double first_ms;
  static uint64_t first_hash;
  job j = {p, streams};
  const double ms = gt_benchmark(work, &j, p->there[0]->device, 50).median_ms;
  gt_statistics s; /* of the last call */
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
}

/* Once more, as a picture: a lane for each stream, and on a GPU for each of its engines. What is
   gained over doing one thing after another stands below it, and if that is little, why. */
static void draw(const char *name, const pipeline *p, int streams) {
  gt_trace_start(RECORDS);
  all_chunks(p, streams);
  gt_trace_stop();
  printf("\n%s:\n", name);
  gt_trace_print(stdout, 0);
  check(gt_trace_overlap().dropped == 0, "there was no room for the whole picture");
}

/* Both again in one file, each in a range of its name. */
static void save(const char *path, const pipeline *p) {
  static const char *const name[] = {"one stream, pinned memory", "four streams, pinned memory"};
  gt_trace_start(2 * RECORDS);
  for (int i = 0; i < 2; i++) {
    gt_range_push(name[i]);
    all_chunks(p, i ? STREAMS : 1);
    gt_synchronize(p->there[0]->device);
    gt_range_pop();
  }
  gt_trace_stop();
  gt_trace_save(path);
  printf("\nsaved %s: open it in https://ui.perfetto.dev\n", path);
}

/* On a GPU an operation fills the device; on a CPU it is one core's work, so that four streams can
   use four. A GPU with little memory gets small chunks, and so does the pretend one. */
static int64_t elements(gt_device device) {
  gt_properties p;
  if (device.type == GT_CPU) return 1 << 14;
  gt_device_properties(device, &p);
  return p.total_memory > (size_t)1 << 30 ? 1 << 22 : 1 << 18;
}

static void run(gt_device device, const char *trace) {
  const gt_shape shape = GT_SHAPE(elements(device));
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
  variant("four streams, pinned memory", &pinned, STREAMS);
  variant("one stream, ordinary memory", &ordinary, 1);
  variant("four streams, ordinary memory", &ordinary, STREAMS);
  draw("one stream, pinned memory", &pinned, 1);
  draw("four streams, pinned memory", &pinned, STREAMS);
  draw("four streams, ordinary memory", &ordinary, STREAMS);
  if (trace) save(trace, &pinned);

  for (int i = 0; i < STREAMS; i++) gt_stream_free(pinned.stream[i]);
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  gt_device device;
  const char *trace = choose(argc, argv, &device);
  GT_SCOPE { run(device, trace); }
  return 0;
}
