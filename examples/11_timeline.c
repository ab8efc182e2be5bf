/* 11_timeline.c - what ran when, as a picture: predict it, then look.

   You learn: to read a timeline of streams and of the parts of a device; how much work overlaps, as
   a figure; and what keeps it from overlapping, which the library finds and names.

       cc -O2 -march=native -fopenmp -I. examples/11_timeline.c -lm -lpthread -o timeline
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/11_timeline.c \
            gputensor_kernels.cu -o timeline
       ./timeline [--device cpu|cuda|cuda:N] [--trace FILE] [--guess GAIN]

   Without a GPU it runs on a simulated one, whose times come from a model and are always the same:

       make -C examples pretend-11_timeline

   Eight chunks are brought to the device, computed on and brought back: on one stream, on two and
   on four, each from ordinary (pageable) memory and from pinned memory. Before you run it, draw the
   six timelines on paper, and guess how many times as fast four streams are as one from pinned
   memory: --guess 2.5 prints your guess beside what it is. --trace FILE saves the last timeline,
   for https://ui.perfetto.dev or chrome://tracing.

   The rows upload, compute and download are the parts of a GPU, each of which does one chunk at a
   time: digits name the stream that it works for. When one of these rows is full, more overlap
   gains nothing. Below the rows stand the busy times of all parts added up, the time in which any
   of them worked, and the first divided by the second, the gain; where that is small, the reason.

   CPU streams have no such parts, they are threads: more of them gain only the cores that one
   leaves unused. Their busy time is processor time: where others use the cores, too, the gain may
   be below 1.

   Output of make -C examples pretend-11_timeline, some of it:

       8 chunks of 1.00 MiB, 40 operations each, on cuda:0 (simulated GPU 0)
       ...
       1 stream, pinned memory: 6.27 ms
         cuda:0 upload    |111....1111....111....1111....111....1111....111....1111....|     2.12
         cuda:0 compute   |..111.....111....111.....111....111.....111....111.....111..|     2.04
         cuda:0 download  |....1111....1111...1111....1111...1111....1111...1111....111|     2.11
         one after another 6.27 ms, any at work 6.27 ms: gain 1.00
         most operations waited for the one before them on their own stream: ...
       ...
       4 streams, pinned memory: 2.63 ms
         cuda:0 upload    |1111112222223333334444441111112222223333334444444...........|     2.12
         cuda:0 compute   |......111111222222333333444444111111222222333333444444......|     2.04
         cuda:0 download  |...........1111111222222333333444444111111222222333333444444|     2.11
         cuda:0 stream 1  |uuuuuuCCCCCCdddddd......uuuuuuCCCCCCdddddd..................|     1.57
         cuda:0 stream 2  |......uuuuuuCCCCCCdddddd......uuuuuuCCCCCCdddddd............|     1.57
         cuda:0 stream 3  |............uuuuuuCCCCCCdddddd......uuuuuuCCCCCCdddddd......|     1.57
         cuda:0 stream 4  |..................uuuuuuCCCCCCdddddd......uuuuuuCCCCCCdddddd|     1.57
         one after another 6.27 ms, any at work 2.63 ms: gain 2.38

       four streams, pinned memory: 2.38 times as fast as one stream

   Try: STEPS = 160. Computing is now the longest part and its row is full with two streams: 1.4
        times as fast as one, also with four.
   Try: p->there[0] in place of p->there[i % streams] in all_chunks. All chunks go through the same
        memory, so the library makes the streams take turns: 1.00.
   Try: gt_item(gt_select(there, 0, 0)); after compute(there). The host waits for each chunk before
        it enqueues the next, and the reason given says so for one stream; four are 1.4 times as
        fast, because a download still overlaps the next upload.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 8, STREAMS = 4, STEPS = 40, RECORDS = 4000, COLUMNS = 60 };

typedef struct {
  gt_device device;
  const char *trace; /* NULL: none is saved */
  double guess;      /* 0: none was made */
} options;

/* A tensor for each chunk on the host, one for each stream on the device. */
typedef struct {
  gt_stream *stream[STREAMS];
  gt_tensor *there[STREAMS], *in[2][CHUNKS], *out[2][CHUNKS]; /* [0]: pinned, [1]: ordinary */
  gt_tensor *expected[CHUNKS];
} pipeline;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

static void compute(gt_tensor *x) {
  for (int step = 0; step < STEPS; step++) gt_eval(x, "a*0.99 + 0.5", x);
}

/* A GPU with little memory gets small chunks, and so does the pretend one. */
static int64_t elements(gt_device device) {
  gt_properties p;
  if (device.type == GT_CPU) return 1 << 20;
  gt_device_properties(device, &p);
  return p.total_memory > (size_t)1 << 30 ? 1 << 22 : 1 << 18;
}

/* What is expected is computed at once, on the CPU: every device gives the same bits. */
static pipeline make(gt_device device) {
  const gt_shape shape = GT_SHAPE(elements(device));
  pipeline p;
  for (int i = 0; i < STREAMS; i++) {
    p.stream[i] = gt_stream_create(device, 0);
    p.there[i] = gt_empty(shape, GT_FLOAT32, device);
  }
  for (int i = 0; i < CHUNKS; i++) {
    p.in[1][i] = gt_rand(shape, GT_FLOAT32, gt_cpu(), NULL);
    p.in[0][i] = gt_copy(gt_empty_pinned(shape, GT_FLOAT32), p.in[1][i]);
    p.out[0][i] = gt_empty_pinned(shape, GT_FLOAT32);
    p.out[1][i] = gt_empty(shape, GT_FLOAT32, gt_cpu());
    p.expected[i] = gt_copy(NULL, p.in[1][i]);
    compute(p.expected[i]);
  }
  return p;
}

static void all_chunks(const pipeline *p, int streams, int ordinary) {
  for (int i = 0; i < CHUNKS; i++) {
    gt_tensor *there = p->there[i % streams];
    GT_WITH_STREAM_SCOPED(p->stream[i % streams]); /* to the end of this round */
    gt_copy(there, p->in[ordinary][i]);
    compute(there);
    gt_copy(p->out[ordinary][i], there);
  }
  gt_synchronize(p->there[0]->device);
}

static void check_results(const pipeline *p, int ordinary) {
  for (int i = 0; i < CHUNKS; i++) {
    GT_SCOPED;
    gt_tensor *same = gt_eq(NULL, p->out[ordinary][i], p->expected[i]);
    check(gt_item(gt_all(NULL, same, GT_ALL, 0)) == 1, "a result");
    gt_fill(p->out[ordinary][i], -1); /* so that the next run cannot pass by doing nothing */
  }
}

/* Runs it once to warm up and once under the trace, and draws what happened; returns what overlap
   gained, and how long all took. */
static gt_overlap draw(const pipeline *p, int streams, int ordinary) {
  char name[64];
  snprintf(name, sizeof name, "%d stream%s, %s memory", streams, streams > 1 ? "s" : "",
           ordinary ? "ordinary" : "pinned");
  all_chunks(p, streams, ordinary);
  gt_trace_start(RECORDS);
  gt_range_push(name);
  all_chunks(p, streams, ordinary);
  gt_range_pop();
  gt_trace_stop();
  check_results(p, ordinary);
  const gt_overlap overlap = gt_trace_overlap();
  check(overlap.records > 0 && overlap.dropped == 0, "the trace is not whole");
  check(overlap.any_ms > 0 && overlap.any_ms <= overlap.span_ms * 1.001, "more than all the time");
  printf("\n%s: %.2f ms\n", name, overlap.span_ms);
  gt_trace_print(stdout, COLUMNS);
  return overlap;
}

static void run(const options *o) {
  if (o->device.type == GT_CPU) gt_set_num_threads(1); /* so that streams can use the other cores */
  const pipeline p = make(o->device);
  double one = 0, four = 0;
  printf("%d chunks of %.2f MiB, %d operations each, on %s (%s)\n", CHUNKS,
         (double)gt_nbytes(p.there[0]) / 1048576, STEPS, gt_device_string(o->device),
         gt_device_name(o->device));
  for (int ordinary = 1; ordinary >= 0; ordinary--)
    for (int streams = 1; streams <= STREAMS; streams *= 2) {
      four = draw(&p, streams, ordinary).span_ms;
      if (streams == 1) one = four;
    }
  printf("\nfour streams, pinned memory: %.2f times as fast as one stream\n", one / four);
  if (o->guess > 0) printf("you guessed %.2f\n", o->guess);
  if (o->trace) gt_trace_save(o->trace); /* the last one */
  for (int i = 0; i < STREAMS; i++) gt_stream_free(p.stream[i]);
}

static int parse_options(options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return 0;
    if (strcmp(argv[i], "--device") == 0) o->device = gt_parse_device(argv[i + 1]);
    else if (strcmp(argv[i], "--trace") == 0) o->trace = argv[i + 1];
    else if (strcmp(argv[i], "--guess") == 0) o->guess = strtod(argv[i + 1], NULL);
    else return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  options o = {gt_best_device(), NULL, 0};
  if (!parse_options(&o, argc, argv)) {
    fprintf(stderr, "usage: %s [--device D] [--trace FILE] [--guess GAIN]\n", argv[0]);
    return 2;
  }
  GT_SCOPE { run(&o); }
  return 0;
}
