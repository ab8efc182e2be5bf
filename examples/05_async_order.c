/* 05_async_order.c - what a call enqueues, when it returns, and when the work is done.

   You learn: that a call returns before its work is done and the host is free meanwhile; that
   asynchronous is not parallel, because one stream runs in the order of the calls; that a second
   stream may overtake; and that a clock stopped without a synchronisation measures the enqueueing.

   A stream is a queue of work. A call puts its work at the end of the current stream's queue (it
   enqueues it) and returns: that is asynchronous. The stream does the work in the order of the
   calls. An event is a mark in that queue: the host can ask whether the stream has come past it,
   and how much time lay between two of them. To synchronise is to let the host wait, for an event,
   a stream or a device:

       host      call 1  call 2  event   goes on with its own work ...     is the event past?
       stream            |---- work 1 ----|---- work 2 ----| event

       cc -O2 -march=native -fopenmp -I. examples/05_async_order.c -lm -lpthread -o order
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/05_async_order.c \
            gputensor_kernels.cu -o order
       ./order [--device cpu|cuda|cuda:N]

   Below each table is a trace: what ran when, from left to right. In the row "compute", the part of
   the GPU that computes, a digit is the number of the stream that it works for, and + stands for
   several streams at once; a row of a stream has a letter for what it does. Records are what was
   noted, and dropped is what found no room. The gain is what was won by parts of the device
   (upload, compute, download) that worked at the same time. It is 1.00 here, since there is work
   for one part only: the second stream has its first short work done at 0.070 ms in place of 1.095,
   the long work ends a little later, and all of it takes the time that it took.

   Output of make -C examples pretend-05_async_order, whose times are a model's (others differ; where
   the long work fills the device, the short work on the second stream may have to wait for it):

on cuda:0 (simulated GPU 0)
one stream: in the order of calls  issued at   finished at (ms)
  long:  product                       0.009       1.084
  short: mean of rows                  0.013       1.095
  long:  product                       0.018       2.171
  short: mean of rows                  0.022       2.182
a trace of 2.18 ms, 14 records, 0 dropped; on the right the busy time in ms
  cuda:0 compute   |111111111111111111111111111111111111111111111111111111111111111111111111|     2.18
  cuda:0 stream 1  |CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC|     2.18
         host      |.......................................................................w|     0.00
                   0                                                                  2.18 ms
  C compute  w wait of the host  . idle
  one after another 2.18 ms, any at work 2.18 ms: gain 1.00
  most operations waited for the one before them on their own stream: independent work can go to ...
  meanwhile the host added up 4297000 terms of its own
two streams: short on the second   issued at   finished at (ms)
  long:  product                       0.009       1.105
  short: mean of rows                  0.014       0.070
  long:  product                       0.019       2.182
  short: mean of rows                  0.023       0.081
a trace of 2.18 ms, 14 records, 0 dropped; on the right the busy time in ms
  cuda:0 compute   |+++111111111111111111111111111111111111111111111111111111111111111111111|     2.18
  cuda:0 stream 1  |CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC|     2.18
  cuda:0 stream 2  |CCC.....................................................................|     0.07
         host      |........................................................................|     0.00
                   0                                                                  2.18 ms
  C compute  . idle
  one after another 2.18 ms, any at work 2.18 ms: gain 1.00
  one kind of work takes nearly all of the time: more streams add only what one operation leaves ...
  meanwhile the host added up 4316000 terms of its own
20 times r + a*b over 1048576 elements
  clock stopped without waiting:      0.040 ms,     8384.4 GB/s, which is false
  clock stopped after waiting:        0.741 ms,      452.8 GB/s
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, ROUNDS = 20, RECORDS = 100 };

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

/* What the host does with its time: terms of a series for pi, until the event has passed. */
static int64_t work_of_the_host(gt_event *last) {
  int64_t terms = 0;
  double quarter = 0;
  while (gt_event_query(last) == 0)
    for (int i = 0; i < 1000; i++, terms++)
      quarter += (terms % 2 ? -1.0 : 1.0) / (double)(2 * terms + 1);
  check(terms == 0 || fabs(4 * quarter - 3.14159265) < 1e-2, "pi");
  return terms;
}

/* Four pieces of work, long and short in turn: the long ones on one stream, the short ones on
   another or on the same. An event after each says when it was finished. */
static void long_and_short(const char *title, gt_stream *first, gt_stream *second,
                           const gt_tensor *x, const gt_tensor *w) {
  gt_event *start = gt_event_create(), *done[STEPS];
  double issued[STEPS], finished[STEPS];
  gt_tensor *y[STEPS];
  gt_synchronize(x->device);
  gt_trace_start(RECORDS);
  gt_event_record(start, first);
  gt_event_synchronize(start); /* it has passed: both clocks begin here */
  const double began = gt_now_ms();
  for (int i = 0; i < STEPS; i++) {
    gt_stream *stream = i % 2 ? second : first;
    GT_WITH_STREAM_SCOPED(stream); /* to the end of this round */
    y[i] = i % 2 ? gt_mean(NULL, x, GT_DIM(1), 0) : gt_matmul(NULL, x, w);
    done[i] = gt_event_create();
    gt_event_record(done[i], stream);
    issued[i] = gt_now_ms() - began;
  }
  const int64_t terms = work_of_the_host(done[STEPS - 2]); /* the last long one */

  printf("%-34s issued at   finished at (ms)\n", title);
  for (int i = 0; i < STEPS; i++) {
    finished[i] = gt_event_elapsed_ms(start, done[i]); /* waits for it */
    printf("  %-32s %9.3f %11.3f\n", i % 2 ? "short: mean of rows" : "long:  product", issued[i],
           finished[i]);
    check(first != second || i == 0 || finished[i] >= finished[i - 1], "the order of a stream");
    gt_event_free(done[i]);
  }
  gt_trace_stop();
  gt_trace_print(stdout, 0);
  printf("  meanwhile the host added up %lld terms of its own\n", (long long)terms);
  gt_event_free(start);

  /* x is all ones and w all halves, so every result is known. */
  const double n = (double)x->shape[1];
  for (int i = 0; i < STEPS; i++) {
    const double expected = i % 2 ? 1 : n / 2;
    check(gt_item(gt_max(NULL, y[i], GT_ALL, 0)) == expected, "a largest element");
    check(gt_item(gt_min(NULL, y[i], GT_ALL, 0)) == expected, "a smallest element");
  }
}

/* r = r + a*b, over and over: 16 bytes move for each element. */
static void two_clocks(gt_stream *stream, gt_device device, int64_t n) {
  gt_tensor *a = gt_full(GT_SHAPE(n), 0.5, GT_FLOAT32, device);
  gt_tensor *b = gt_full(GT_SHAPE(n), 0.25, GT_FLOAT32, device);
  gt_tensor *r = gt_zeros(GT_SHAPE(n), GT_FLOAT32, device);
  GT_WITH_STREAM(stream) {
    gt_fma(r, a, b, r); /* the first use of anything costs more */
    gt_stream_synchronize(stream);
    const double start = gt_now_ms();
    for (int i = 0; i < ROUNDS; i++) gt_fma(r, a, b, r);
    const double returned = gt_now_ms() - start;
    gt_stream_synchronize(stream);
    const double done = gt_now_ms() - start, gigabytes = 16.0 * ROUNDS * (double)n * 1e-9;
    printf("%d times r + a*b over %lld elements\n", ROUNDS, (long long)n);
    printf("  clock stopped without waiting:  %9.3f ms, %10.1f GB/s, which is false\n", returned,
           gigabytes / returned * 1e3);
    printf("  clock stopped after waiting:    %9.3f ms, %10.1f GB/s\n", done,
           gigabytes / done * 1e3);
    check(gt_item(gt_max(NULL, r, GT_ALL, 0)) == 0.125 * (ROUNDS + 1), "the largest sum");
    check(gt_item(gt_min(NULL, r, GT_ALL, 0)) == 0.125 * (ROUNDS + 1), "the smallest sum");
  }
}

/* Some milliseconds a product. A GPU with little memory, as the pretend one, gets a small one. */
static int64_t side(gt_device device) {
  gt_properties p;
  if (device.type == GT_CPU) return 512;
  gt_device_properties(device, &p);
  return p.total_memory > (size_t)4 << 30 ? 8192 : 1024;
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  const gt_device device = choose(argc, argv);
  const int64_t n = side(device);

  /* A created CPU stream is a thread with a queue. The default CPU stream has none and works at
     once, in the caller: nothing could be seen there. On a GPU every stream is a queue. */
  gt_stream *first = gt_stream_create(device, 0), *second = gt_stream_create(device, 0);
  GT_SCOPE {
    gt_tensor *x = gt_ones(GT_SHAPE(n, n), GT_FLOAT32, device);
    gt_tensor *w = gt_full(GT_SHAPE(n, n), 0.5, GT_FLOAT32, device);
    GT_WITH_STREAM(first) gt_matmul(NULL, x, w); /* warms up */
    gt_synchronize(device);

    printf("on %s (%s)\n", gt_device_string(device), gt_device_name(device));
    long_and_short("one stream: in the order of calls", first, first, x, w);
    long_and_short("two streams: short on the second", first, second, x, w);
    two_clocks(first, device, device.type == GT_CUDA ? n * n : 1 << 20);
  }
  gt_stream_free(second);
  gt_stream_free(first);
  return 0;
}
