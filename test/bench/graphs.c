/* What a recorded graph costs to replay, and what a trace costs, on a GPU; graphs.py loads it as a shared
   object and alternates with PyTorch.

   nvcc -O3 -shared -Xcompiler -fPIC,-fopenmp -arch=sm_90a -I. test/bench/graphs.c gputensor_kernels.cu -o graphs.so */
#define _POSIX_C_SOURCE 199309L
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"

#include "rounds.h"

static gt_device gpu(void) {
  const gt_device d = {GT_CUDA, 0};
  return d;
}
static struct {
  gt_tensor *a, *b, *out;
  gt_graph *graph;
  int length;
} chain;

/* Records `length` additions of 1,024 elements, each into the same tensor; 0 if all went well. */
int bench_record(int length) {
  if (!chain.a) {
    chain.a = gt_rand(GT_SHAPE(1024), GT_FLOAT32, gpu(), NULL);
    chain.b = gt_rand(GT_SHAPE(1024), GT_FLOAT32, gpu(), NULL);
    chain.out = gt_empty(GT_SHAPE(1024), GT_FLOAT32, gpu());
  }
  gt_graph_free(chain.graph);
  gt_graph_begin(gt_current_stream(gpu()));
  for (int i = 0; i < length; i++) gt_add(chain.out, chain.a, chain.b);
  chain.graph = gt_graph_end();
  chain.length = length;
  return gt_error() != GT_OK;
}
/* Microseconds an addition, over so many replays, until all are done. */
double bench_replay(int replays) {
  gt_synchronize(gpu());
  const double t = now_us();
  for (int i = 0; i < replays; i++) gt_graph_launch(chain.graph, gt_current_stream(gpu()));
  gt_synchronize(gpu());
  return (now_us() - t) / (replays * chain.length);
}
/* The same additions as calls. */
double bench_calls(int replays) {
  gt_synchronize(gpu());
  const double t = now_us();
  for (int i = 0; i < replays * chain.length; i++) gt_add(chain.out, chain.a, chain.b);
  gt_synchronize(gpu());
  return (now_us() - t) / (replays * chain.length);
}
/* And traced. */
double bench_traced(int replays) {
  gt_trace_start(replays * chain.length + 1000);
  const double us = bench_calls(replays);
  gt_trace_stop();
  return us;
}
/* The largest difference between the sum and what is there. */
double bench_error(void) {
  gt_tensor *d = gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a - (b + c))", chain.out, chain.a, chain.b);
  const double error = gt_item(d);
  gt_free(d);
  return error;
}
const char *bench_message(void) { return gt_error_message(); }
