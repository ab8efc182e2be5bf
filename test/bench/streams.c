/* What streams cost and gain on a GPU: the host's time for one small operation beside that of the
   bare launch, and 16 chunks that are uploaded, put through 40 elementwise operations and
   downloaded. As a program it prints its own figures; streams.py loads it as a shared object and
   alternates with PyTorch.

   nvcc -O3 -Xcompiler -fopenmp -arch=sm_90a -I. test/bench/streams.c gputensor_kernels.cu -o streams */
#define _POSIX_C_SOURCE 199309L
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"

#include "rounds.h"

enum { CHUNKS = 16, CHUNK = 1 << 22, PAIRS = 20, MOST_STREAMS = 4 }; /* 16 MiB of float32, 40 kernels */

static gt_device gpu(void) { return gt__device(GT_CUDA, 0); }

/* ---- one operation of 1024 elements ---- */
static gt_tensor *small_a, *small_b, *small_out;
static void small_begin(void) {
  if (small_a) return;
  small_a = gt_rand(GT_SHAPE(1024), GT_FLOAT32, gpu(), NULL);
  small_b = gt_rand(GT_SHAPE(1024), GT_FLOAT32, gpu(), NULL);
  small_out = gt_empty(GT_SHAPE(1024), GT_FLOAT32, gpu());
}
/* Microseconds of host time a call, over `calls` of gt_add into a given tensor. */
double bench_add(int calls) {
  double t;
  small_begin();
  gt_synchronize(gpu());
  t = now_us();
  for (int i = 0; i < calls; i++) gt_add(small_out, small_a, small_b);
  t = now_us() - t;
  gt_synchronize(gpu());
  return t / calls;
}
/* The same with a new tensor for each result. */
double bench_add_new(int calls) {
  double t;
  small_begin();
  gt_synchronize(gpu());
  t = now_us();
  for (int i = 0; i < calls; i++) gt_free(gt_add(NULL, small_a, small_b));
  t = now_us() - t;
  gt_synchronize(gpu());
  return t / calls;
}
/* The same kernel launched with finished arguments: what no library can do without. */
double bench_launch(int calls) {
  gt__op op;
  gt__map_args *const m = &op.u.map;
  gt__operand *const o[] = {&m->out, &m->in[0], &m->in[1]};
  const gt_tensor *x[3];
  void *queue;
  double t;
  small_begin();
  memset(&op, 0, sizeof op);
  gt__op_new(&op, GT__MAP, gpu());
  x[0] = small_out, x[1] = small_a, x[2] = small_b;
  for (int i = 0; i < 3; i++) gt__bind(&op, o[i], x[i], 1, 1, gt__as_it_is);
  m->count = m->size[0] = 1024;
  m->ndim = m->fits_int = 1;
  m->program.compute = GT__F32;
  m->program.n_in = m->program.n_slot = m->program.n_ins = 2;
  m->program.ins[0].op = GT__LOAD;
  m->program.ins[1].op = GT__OP_add;
  m->program.ins[1].b = 1;
  queue = gt_stream_native(gt_current_stream(gpu()));
  gt__cuda_plan(&op);
  gt_synchronize(gpu());
  t = now_us();
  for (int i = 0; i < calls; i++) op.way->run(&op, queue);
  t = now_us() - t;
  gt_synchronize(gpu());
  return t / calls;
}
/* What gt__submit itself adds: order and number, without front end and launch. */
double bench_order(int calls) {
  gt__op op;
  gt_stream *s;
  double t;
  int waited = 0;
  small_begin();
  s = gt_current_stream(gpu());
  gt_synchronize(gpu());
  t = now_us();
  for (int i = 0; i < calls; i++) {
    const gt_tensor *const x[] = {small_out, small_a, small_b};
    op.n_touch = 0;
    for (int k = 0; k < 3; k++) {
      op.touch[k].where = gt__region_of(x[k]);
      gt__touch(&op, x[k]->storage);
    }
    gt__lock();
    gt__order_unlocks(s, 3, op.touch, &waited);
    s->number++;
    for (int k = 0; k < 3; k++) gt__note(&op.touch[k], s);
    gt__unlock();
  }
  return (now_us() - t) / calls;
}

/* ---- the pipeline ---- */
static gt_tensor *source[2][CHUNKS], *target[2][CHUNKS], *chunk[CHUNKS], *factor, *term;
static gt_stream *stream[MOST_STREAMS];
static void chunks_begin(void) {
  if (factor) return;
  factor = gt_scalar(1.0001);
  term = gt_scalar(1e-6);
  for (int i = 0; i < MOST_STREAMS; i++) stream[i] = gt_stream_create(gpu(), 0);
  for (int i = 0; i < CHUNKS; i++) {
    for (int pinned = 0; pinned < 2; pinned++) {
      const gt_shape shape = GT_SHAPE(CHUNK);
      source[pinned][i] = pinned ? gt_empty_pinned(shape, GT_FLOAT32)
                                 : gt_from_ptr(malloc(CHUNK * 4), shape, GT_FLOAT32, gt_cpu(), NULL, NULL);
      target[pinned][i] = pinned ? gt_empty_pinned(shape, GT_FLOAT32)
                                 : gt_from_ptr(malloc(CHUNK * 4), shape, GT_FLOAT32, gt_cpu(), NULL, NULL);
      gt_copy(source[pinned][i], gt_rand(shape, GT_FLOAT32, gt_cpu(), NULL));
      gt_fill(target[pinned][i], 0);
    }
    chunk[i] = gt_empty(GT_SHAPE(CHUNK), GT_FLOAT32, gpu());
  }
  gt_synchronize(gpu());
}
enum { UPLOAD = 1, COMPUTE = 2, DOWNLOAD = 4, ALL_THREE = 7 };
static void steps(int what, int i, int pinned) {
  if (what & UPLOAD) gt_copy(chunk[i], source[pinned][i]);
  for (int k = 0; k < PAIRS && what & COMPUTE; k++) {
    gt_mul(chunk[i], chunk[i], factor);
    gt_add(chunk[i], chunk[i], term);
  }
  if (what & DOWNLOAD) gt_copy(target[pinned][i], chunk[i]);
}
/* What is done with all chunks, on n streams. what: UPLOAD, COMPUTE, DOWNLOAD. */
typedef struct {
  int n, what, pinned;
} plan;
/* Downloads into ordinary memory block, so they come after all else. */
static void chunks(void *argument) {
  const plan *p = (const plan *)argument;
  const int together = p->pinned ? p->what : p->what & ~DOWNLOAD;
  for (int i = 0; i < CHUNKS; i++)
    GT_WITH_STREAM(stream[i % p->n]) steps(together, i, p->pinned);
  for (int i = 0; i < CHUNKS && together != p->what; i++)
    GT_WITH_STREAM(stream[i % p->n]) steps(DOWNLOAD, i, p->pinned);
}
/* From ordinary memory; results as gt_to brings them to the host. */
static void chunks_to(void *argument) {
  const plan *p = (const plan *)argument;
  gt_tensor *result[CHUNKS];
  for (int i = 0; i < CHUNKS; i++)
    GT_WITH_STREAM(stream[i % p->n]) {
      steps(UPLOAD | COMPUTE, i, 0);
      result[i] = gt_to(chunk[i], gt_cpu());
    }
  for (int i = 0; i < CHUNKS; i++) gt_data(result[i]);
  for (int i = 0; i < CHUNKS; i++) gt_free(result[i]);
}
/* Copies in both directions at once, of different chunks on two streams. */
static void both(void *unused) {
  (void)unused;
  for (int i = 0; i < CHUNKS; i++) {
    GT_WITH_STREAM(stream[0]) gt_copy(chunk[i / 2], source[1][i]);
    GT_WITH_STREAM(stream[1]) gt_copy(target[1][i], chunk[CHUNKS / 2 + i / 2]);
  }
}
/* For streams.py: microseconds of one call, from its begin until all is done. */
static double once(void (*work)(void *), plan p) {
  chunks_begin();
  const double t = now_us();
  work(&p);
  gt_synchronize(gpu());
  return now_us() - t;
}
double bench_chunks(int n, int what, int pinned) { return once(chunks, (plan){n, what, pinned}); }
double bench_chunks_to(int n) { return once(chunks_to, (plan){n, 0, 0}); }
double bench_both(void) { return once(both, (plan){0, 0, 0}); }
/* Are the results those of the CPU, in pinned and in ordinary memory? */
int bench_right(void) {
  int right = 1;
  for (int pinned = 0; pinned < 2; pinned++) {
    bench_chunks(MOST_STREAMS, ALL_THREE, pinned);
    for (int i = 0; i < CHUNKS; i += 5) GT_SCOPE {
      gt_tensor *x = gt_copy(NULL, source[pinned][i]), *same;
      for (int k = 0; k < PAIRS; k++) {
        gt_mul(x, x, factor);
        gt_add(x, x, term);
      }
      same = gt_all(NULL, gt_eq(NULL, x, target[pinned][i]), GT_ALL, 0);
      right &= gt_item(same) == 1;
    }
  }
  return right && !gt_error();
}

/* ---- the program ---- */
/* Host time of a call of which the device's work is left out, so that gt_benchmark cannot tell. */
static void print_host_time(const char *name, double (*bench)(int), int calls) {
  double us[21];
  for (int i = 0; i < 21; i++) us[i] = bench(calls);
  printf("%-46s %10.2f us\n", name, median(us, 21));
}
static void print_time(const char *name, void (*work)(void *), plan p) {
  const gt_timing t = gt_benchmark(work, &p, gpu(), 300);
  printf("%-46s %10.2f us, spread %.3f\n", name, t.median_ms * 1e3, t.spread);
}
int main(void) {
  if (!gt_cuda_is_available()) {
    printf("no GPU: %s\n", gt_cuda_unavailable_reason());
    return 1;
  }
  gt_warmup(gpu());
  print_host_time("bare launch", bench_launch, 1000);
  print_host_time("add into a given tensor", bench_add, 1000);
  print_host_time("add with a new result", bench_add_new, 1000);
  print_host_time("order, number and lock, of these", bench_order, 100000);
  printf("results are %s\n", bench_right() ? "right" : "WRONG");
  print_time("uploads, pinned", chunks, (plan){1, UPLOAD, 1});
  print_time("downloads, pinned", chunks, (plan){1, DOWNLOAD, 1});
  print_time("copies in both directions at once, pinned", both, (plan){0, 0, 0});
  print_time("compute, one stream", chunks, (plan){1, COMPUTE, 1});
  print_time("compute, two streams", chunks, (plan){2, COMPUTE, 1});
  print_time("compute, four streams", chunks, (plan){4, COMPUTE, 1});
  print_time("all three, one stream, pinned", chunks, (plan){1, ALL_THREE, 1});
  print_time("all three, four streams, pinned", chunks, (plan){4, ALL_THREE, 1});
  print_time("uploads from malloc", chunks, (plan){1, UPLOAD, 0});
  print_time("downloads to malloc", chunks, (plan){1, DOWNLOAD, 0});
  print_time("all three, four streams, malloc to malloc", chunks, (plan){4, ALL_THREE, 0});
  print_time("malloc to a new host tensor, four streams", chunks_to, (plan){4, 0, 0});
  if (gt_error()) printf("%s\n", gt_error_message());
  return gt_error() != GT_OK;
}
