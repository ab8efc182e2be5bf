/* 17_when_streams_help.c - ten kinds of work on one stream and on four: when that helps, and why
   it does not.

   You learn: that streams help where one leaves part of the device idle and the pieces do not need
   each other; what prevents it: work that fills the device, results of each other, a value read in
   between, the same memory, ordinary (pageable) memory; that the calls of tiny operations take
   longer than these, where one formula or a graph helps and streams do not; and what the trace says
   of each (gt_trace_overlap). Predict each line before you read it.

   The columns are the time on one stream, the time on four, the first divided by the second (the
   gain), and how often, with four, a stream had to wait for another and the host for a stream.
   Below a line stands the reason that the trace of the four streams gives, where the parts of the
   device (upload, compute, download) overlap little. To it operations that compute side by side are
   one part. So small ones gain 2.44, as four fill that part better, and the reason says that more
   streams would add only what is left of it.

       cc -O2 -march=native -fopenmp -I. examples/17_when_streams_help.c -lm -lpthread -o help
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/17_when_streams_help.c \
            gputensor_kernels.cu -o help
       ./help [--device cpu|cuda|cuda:N]

   In PyTorch the program has to order the streams itself, before their work and after it:

       for s in streams: s.wait_stream(torch.cuda.current_stream())
       with torch.cuda.stream(s): ...
       for s in streams: torch.cuda.current_stream().wait_stream(s)

   The last part here does the same with gt_stream_wait_stream, under GT_OFF and under GT_REPORT,
   which finds no race left.

   On a laptop a stream is a thread, on one core here, and copies are work of the cores, too: on two
   idle cores four streams gain 2.00 at most, and they lose with tiny work, as threads have to be
   woken. Where others use the cores these times change from run to run; the waits do not.

   Output on a pretend GPU (make -C examples pretend-17_when_streams_help), the same everywhere, as
   its times come from a model. The graph is one call, and its pieces, which do not need each other,
   run side by side, whatever stream they were recorded on:

       8 pieces of work on cuda:0 (simulated GPU 0)
                                      1 stream        4        waits with 4 of
                                            ms       ms   gain streams   host
       independent, small                0.301    0.123   2.44      0      0
           one kind of work takes nearly all of the time: more streams add only what one ...
       slices of one tensor              0.301    0.123   2.44      0      0
           one kind of work takes nearly all of the time: more streams add only what one ...
       each fills the device             0.703    0.702   1.00      0      0
           one kind of work takes nearly all of the time: more streams add only what one ...
       each needs the one before         0.345    0.344   1.00      7      0
           most operations waited for results of another stream: what depends on each other ...
       tiny, all through one memory      0.101    0.106   0.95      7      0
           most operations waited for the one before them on their own stream: independent ...
       a value read inside               0.333    0.333   1.00      0      8
           the host waited for results before it enqueued more: read them after all work is ...
       copies, pinned memory             4.930    2.467   2.00      0      0
       copies, ordinary memory          10.540   10.540   1.00      0      8
           copies of ordinary (pageable) memory keep the host waiting, which enqueues nothing ...
       tiny: the calls are what takes    0.101    0.097   1.04      0      0
           most operations waited for the one before them on their own stream: independent ...
       the same as a graph               0.013    0.012   1.03      0      0
           most operations began as soon as they were enqueued: the host is what is late; ...
       by gt_stream_wait_stream, GT_OFF: 0 wrong numbers, 0 races
       by gt_stream_wait_stream, GT_REPORT: 0 wrong numbers, 0 races

   On an H200, whose small pieces are over before the host has enqueued the next ones:

       independent, small                0.265    0.228   1.16      0      0
       slices of one tensor              0.264    0.221   1.20      0      0
       each fills the device             1.218    1.080   1.13      0      0
       each needs the one before         0.290    0.299   0.97      7      0
       tiny, all through one memory      0.295    0.289   1.02      7      0
       a value read inside               0.353    0.352   1.00      0      8
       copies, pinned memory             6.207    3.186   1.95      0      0
       copies, ordinary memory          18.384   18.554   0.99      0      8
       tiny: the calls are what takes    0.294    0.297   0.99      0      0
       the same as a graph               0.039    0.037   1.05      0      0

   Try: `small = 1 << 18`: now each small piece fills the pretend GPU, too, and gains 1.00.
   STEPS = 60: computing is the longest part of the copies' pieces: 1.49 in place of 2.00. Leave the
   first gt_stream_wait_stream of by_hand out: the check stops the program, or GT_REPORT names the
   race.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 4, PIECES = 8, STEPS = 6, RECORDS = 20000 };

typedef struct {
  gt_device device;
  gt_stream *stream[STREAMS];
  gt_tensor *small[PIECES];       /* an operation on one leaves part of the device idle */
  gt_tensor *tiny[PIECES];        /* and takes less time than its call */
  gt_tensor *large[PIECES];       /* an operation on these fills it */
  gt_tensor *whole, *row[PIECES]; /* slices of one tensor */
  gt_tensor *host[2][PIECES];     /* pinned and ordinary memory, copied to `large` and back */
  gt_graph *graph;                /* all of `tiny`, recorded */
} work;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* ---- the kinds of work, on that many streams ---- */

static void steps(gt_tensor *x) {
  for (int k = 0; k < STEPS; k++) gt_eval(x, "sin(sin(sin(sin(a)))) + 0.5", x);
}
static void each(const work *w, int streams, gt_tensor *const *x) {
  for (int i = 0; i < PIECES; i++) GT_WITH_STREAM(w->stream[i % streams]) steps(x[i]);
}
static void independent(const work *w, int streams) { each(w, streams, w->small); }
static void slices(const work *w, int streams) { each(w, streams, w->row); }
static void filling(const work *w, int streams) { each(w, streams, w->large); }
static void tiny(const work *w, int streams) { each(w, streams, w->tiny); }
static void dependent(const work *w, int streams) { /* each piece begins with the one before */
  for (int i = 0; i < PIECES; i++) GT_WITH_STREAM(w->stream[i % streams]) {
      if (i) gt_copy(w->small[i], w->small[i - 1]);
      steps(w->small[i]);
    }
}
static void one_memory(const work *w, int streams) { /* all pieces go through the same tensor */
  for (int i = 0; i < PIECES; i++) GT_WITH_STREAM(w->stream[i % streams]) steps(w->tiny[0]);
}
static void read_inside(const work *w, int streams) {
  for (int i = 0; i < PIECES; i++) GT_WITH_STREAM(w->stream[i % streams]) {
      steps(w->small[i]);
      check(gt_item(gt_select(w->small[i], 0, 0)) < 2, "a value");
    }
}
static void copies(const work *w, int streams, int ordinary) {
  for (int i = 0; i < PIECES; i++) GT_WITH_STREAM(w->stream[i % streams]) {
      gt_copy(w->large[i], w->host[ordinary][i]);
      steps(w->large[i]);
      gt_copy(w->host[ordinary][i], w->large[i]);
    }
}
static void pinned(const work *w, int streams) { copies(w, streams, 0); }
static void pageable(const work *w, int streams) { copies(w, streams, 1); }
static void graph(const work *w, int streams) { gt_graph_launch(w->graph, w->stream[streams - 1]); }

/* ---- measuring ---- */

static void all(const work *w, void (*what)(gt_tensor *x, void *argument), void *argument) {
  what(w->whole, argument);
  for (int i = 0; i < PIECES; i++) {
    gt_tensor *const x[] = {w->small[i], w->tiny[i], w->large[i], w->host[0][i], w->host[1][i]};
    for (int k = 0; k < 5; k++) what(x[k], argument);
  }
}
static void reset(gt_tensor *x, void *unused) { (void)unused, gt_fill(x, 1); }
static void add_up(gt_tensor *x, void *sum) {
  GT_SCOPED;
  *(double *)sum += gt_item(gt_sum(NULL, x, GT_ALL, 0));
}

typedef struct {
  void (*kind)(const work *, int);
  const work *w;
  int streams;
} job;
static void call(void *argument) {
  const job *j = (const job *)argument;
  GT_SCOPE { j->kind(j->w, j->streams); }
}

/* After the measurement all tensors are set to 1, and it is done once more, traced, with its waits
   counted. *sum: of all results. */
static double time_of(job j, double *sum, gt_statistics *s) {
  const double ms = gt_benchmark(call, &j, j.w->device, 10).median_ms;
  all(j.w, reset, NULL);
  gt_synchronize(j.w->device);
  gt_trace_start(RECORDS);
  gt_reset_stats();
  call(&j);
  gt_stats(s);
  gt_trace_stop();
  *sum = 0;
  all(j.w, add_up, sum);
  return ms;
}

/* One stream and all of them: the results are equal, the waits are as many as there have to be. */
static void line(const char *title, void (*kind)(const work *, int), const work *w, int waits) {
  double ms[2], sum[2];
  gt_statistics s;
  for (int k = 0; k < 2; k++) ms[k] = time_of((job){kind, w, k ? STREAMS : 1}, &sum[k], &s);
  const gt_overlap o = gt_trace_overlap();
  printf("%-30s %8.3f %8.3f %6.2f %6d %6d\n", title, ms[0], ms[1], ms[0] / ms[1],
         (int)s.stream_waits, (int)s.host_waits);
  if (o.reason[0]) printf("    %s\n", o.reason);
  check(sum[0] == sum[1], "streams change the time, not the result");
  check(o.dropped == 0, "the trace is not whole");
  check((int)s.stream_waits == waits, "the waits between streams");
}

/* PyTorch's way: under GT_OFF nothing waits by itself, and the program says where to. The side
   streams wait for the one that made their input, and the last one for all of them. */
static void by_hand(const work *w, gt_safety safety) {
  gt_stream *front = w->stream[0];
  double sum = 0;
  GT_SCOPED;
  all(w, reset, NULL);
  gt_synchronize(w->device);
  gt_set_stream_safety(safety);
  GT_WITH_STREAM(front) steps(w->small[0]);
  for (int i = 1; i < STREAMS; i++) {
    gt_stream_wait_stream(w->stream[i], front); /* s.wait_stream(torch.cuda.current_stream()) */
    GT_WITH_STREAM(w->stream[i]) steps(gt_copy(w->small[i], w->small[0]));
  }
  for (int i = 1; i < STREAMS; i++) gt_stream_wait_stream(front, w->stream[i]);
  GT_WITH_STREAM(front) gt_eval(w->small[4], "a + b + c", w->small[1], w->small[2], w->small[3]);
  gt_stream_synchronize(front);
  gt_set_stream_safety(GT_ORDER);

  gt_tensor *right = gt_ones(gt_shape_of(w->small[0]), GT_FLOAT32, w->device);
  steps(right), steps(right);
  gt_eval(right, "a + a + a", right);
  add_up(gt_ne(NULL, w->small[4], right), &sum);
  const int races = (int)gt_report_races(stdout);
  printf("by gt_stream_wait_stream, %s: %d wrong numbers, %d races\n",
         safety == GT_OFF ? "GT_OFF" : "GT_REPORT", (int)sum, races);
  check(sum == 0 && races == 0, "the waits by hand");
}

static void run(gt_device device) {
  const int gpu = device.type == GT_CUDA;
  gt_properties p;
  work w;
  gt_device_properties(device, &p);
  if (!gpu) gt_set_num_threads(1); /* so that streams can use the other cores */
  const int big = gpu && p.total_memory > (size_t)1 << 30;
  const int64_t small = 1 << 14, large = big ? 1 << 22 : 1 << 18;
  w.device = device;
  w.whole = gt_ones(GT_SHAPE(PIECES, small), GT_FLOAT32, device);
  for (int i = 0; i < STREAMS; i++) w.stream[i] = gt_stream_create(device, 0);
  for (int i = 0; i < PIECES; i++) {
    w.small[i] = gt_ones(GT_SHAPE(small), GT_FLOAT32, device);
    w.tiny[i] = gt_ones(GT_SHAPE(32), GT_FLOAT32, device);
    w.large[i] = gt_ones(GT_SHAPE(large), GT_FLOAT32, device);
    w.row[i] = gt_select(w.whole, 0, i);
    w.host[0][i] = gt_empty_pinned(GT_SHAPE(large), GT_FLOAT32);
    w.host[1][i] = gt_ones(GT_SHAPE(large), GT_FLOAT32, gt_cpu());
  }
  gt_graph_begin(w.stream[0]);
  tiny(&w, 1);
  w.graph = gt_graph_end();

  printf("%d pieces of work on %s (%s)\n%30s %8s %8s %6s %15s\n%30s %8s %8s %6s %6s %6s\n", PIECES,
         gt_device_string(device), gt_device_name(device), "", "1 stream", "4", "",
         "waits with 4 of", "", "ms", "ms", "gain", "streams", "host");
  line("independent, small", independent, &w, 0);
  line("slices of one tensor", slices, &w, 0);
  line("each fills the device", filling, &w, 0);
  line("each needs the one before", dependent, &w, PIECES - 1);
  line("tiny, all through one memory", one_memory, &w, PIECES - 1);
  line("a value read inside", read_inside, &w, 0);
  line("copies, pinned memory", pinned, &w, 0);
  line("copies, ordinary memory", pageable, &w, 0);
  line("tiny: the calls are what takes", tiny, &w, 0);
  line("the same as a graph", graph, &w, 0);
  by_hand(&w, GT_OFF);
  by_hand(&w, GT_REPORT);
  gt_graph_free(w.graph);
  for (int i = 0; i < STREAMS; i++) gt_stream_free(w.stream[i]);
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  gt_device device = gt_best_device();
  if (argc == 3 && !strcmp(argv[1], "--device")) device = gt_parse_device(argv[2]);
  else if (argc > 1) return fprintf(stderr, "usage: %s [--device D]\n", argv[0]), 2;
  GT_SCOPE { run(device); }
  return 0;
}
