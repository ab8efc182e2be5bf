/* 15_own_kernel.c - a stencil of your own on the library's tensors, on the CPU and on a GPU.

   You learn: where a tensor's elements are (pointer and strides); to put a C function into a
   stream's order, and a CUDA kernel onto it; and why both have to say what they touch: the library
   orders what it knows of, and neither waits for nor warns of what it does not.

   A stencil makes each element of itself and its neighbours. This one is a 3 x 3 median: of the
   nine numbers around a pixel the middle one by size. It takes single wrong pixels out of a
   picture, and the library has none. Element (i, j) of a tensor is at[i*stride[0] + j*stride[1]],
   so the same function takes a picture, a part of one, and a transposed one.

   In the lines with "declared" one stream makes x, a picture, but is held up before it (at a gate),
   while the median of x is called on another stream. Does that wait? The function looks whether x
   is there, and touches nothing if it is not.

   In PyTorch and here:

       x.data_ptr(), x.stride()                 gt_data(x), x->stride[0], in elements
       torch.cuda.current_stream().cuda_stream  gt_stream_native(stream)
       stream.wait_stream(other)                gt_stream_reads(stream, x), gt_stream_writes(...)
       x.record_stream(stream)                  the same two: freed memory waits for them, too
       torch.cuda has no such call              gt_stream_call(stream, function, argument)

       cc -O2 -march=native -fopenmp -I. examples/15_own_kernel.c -lm -lpthread -o own
       nvcc -x cu -O3 -Xcompiler -fopenmp -arch=native -I. examples/15_own_kernel.c \
            gputensor_kernels.cu -o own               (-x cu: this file has a kernel)
       ./own [--device cpu|cuda|cuda:N]

   Output on a laptop (times differ):

       a picture (600, 800), strides 800 and 1: 9639 wrong pixels, after a median 0
       the same transposed, strides 1 and 800
       not declared: called before x was there
         0 races named
       declared, but GT_REPORT does not wait: called before x was there
       race: gt_stream_reads on stream 4 of cpu reads float32 (600, 800), which gt_copy on ...
         1 race named
       declared: called when x was there
         0 races named
       by a function of a stream of cpu: enqueued after 0.007 ms, done after 10.32; 0 waits ...
       by a kernel: skipped, it takes nvcc -x cu and a GPU

   On a GPU the last two lines are "by a function of a stream of cuda:0" and "by a kernel: the same
   bits"; a pretend GPU (make -C examples pretend-15_own_kernel) runs functions, but no kernels.

   Try: gt_data(in); after gt_copy(in, x): the host waits for the copy, 1 wait, and the rest is
   enqueued half a millisecond later (pretend). Leave gt_stream_reads out of attempt: the library
   does not know that x is read, the function comes too early and the check stops the program.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __CUDACC__
#define ANYWHERE static __host__ __device__
#else
#define ANYWHERE static
#endif
enum { ROWS = 600, COLUMNS = 800 };

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* ---- the stencil ---- */

/* Element (i, j) is at[i * down + j * right]: of a picture, a piece of one or a transposed one. */
typedef struct {
  float *at;
  int64_t rows, columns, down, right;
} plane;

/* gt_data waits for what is pending on x: ask before the work begins. The address stays. */
static plane plane_of(const gt_tensor *x) {
  const plane p = {(float *)gt_data(x), x->shape[0], x->shape[1], x->stride[0], x->stride[1]};
  return p;
}
ANYWHERE int64_t inside(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }
/* Nine numbers, put into order one by one. */
ANYWHERE float median(plane x, int64_t i, int64_t j) {
  float v[9];
  for (int n = 0; n < 9; n++) {
    const int64_t row = inside(i + n / 3 - 1, x.rows), column = inside(j + n % 3 - 1, x.columns);
    const float next = x.at[row * x.down + column * x.right];
    int k = n;
    for (; k > 0 && v[k - 1] > next; k--) v[k] = v[k - 1];
    v[k] = next;
  }
  return v[4];
}

/* ---- as a C function ---- */

/* What a function of a stream gets. It stays until the function has run. */
typedef struct {
  plane x, y;
  int *ready;          /* NULL, or set when x is there */
  int early, finished; /* it found that x was not; it has run */
} job;
static void set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
static int is_set(const int *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static void medians(void *argument) {
  job *p = (job *)argument;
  p->early = p->ready && !is_set(p->ready); /* then it touches nothing: this is safe to try */
  for (int64_t i = 0; i < p->x.rows && !p->early; i++)
    for (int64_t j = 0; j < p->x.columns; j++)
      p->y.at[i * p->y.down + j * p->y.right] = median(p->x, i, j);
  set(&p->finished);
}
static void wait_for_gate(void *gate) {
  while (!is_set((int *)gate)) sched_yield();
}
static void say_ready(void *ready) { set((int *)ready); }

/* One stream makes x, and is held up at a gate; the medians are on another. Do they wait? */
static void attempt(const char *title, int declared, gt_safety safety, const gt_tensor *noisy,
                    const gt_tensor *right) {
  GT_SCOPED;
  gt_stream *makes = gt_stream_create(gt_cpu(), 0), *mine = gt_stream_create(gt_cpu(), 0);
  gt_tensor *x = gt_zeros_like(noisy), *y = gt_zeros_like(noisy);
  int gate = 0, ready = 0;
  job p = {plane_of(x), plane_of(y), &ready, 0, 0};
  gt_stream_call(makes, wait_for_gate, &gate);
  GT_WITH_STREAM(makes) gt_copy(x, noisy);
  gt_stream_call(makes, say_ready, &ready);

  gt_set_stream_safety(safety);
  if (declared) {
    gt_stream_reads(mine, x);
    gt_stream_writes(mine, y);
  }
  gt_stream_call(mine, medians, &p);
  const int waits = declared && safety == GT_ORDER;
  if (!waits) wait_for_gate(&p.finished); /* it runs while the other stream is held up */
  set(&gate);
  gt_set_stream_safety(GT_ORDER);

  gt_synchronize(gt_cpu());
  printf("%s: called %s x was there\n", title, p.early ? "before" : "when");
  const int races = (int)gt_report_races(stdout);
  printf("  %d race%s named\n", races, races == 1 ? "" : "s");
  check(races == (safety == GT_REPORT && declared), "the races that are named");
  check(p.early == !waits, "the order");
  check(p.early || gt_item(gt_all(NULL, gt_eq(NULL, y, right), GT_ALL, 0)), "the medians");
  gt_stream_free(makes);
  gt_stream_free(mine);
}

/* On a stream of any device: down to the host, the function, and up again, all of it enqueued. */
static void through_the_host(const gt_tensor *x, gt_tensor *y) {
  GT_SCOPED;
  gt_statistics s;
  gt_stream *stream = gt_stream_create(x->device, 0);
  gt_tensor *in = gt_empty_pinned(gt_shape_of(x), GT_FLOAT32);
  gt_tensor *out = gt_empty_pinned(gt_shape_of(x), GT_FLOAT32);
  job p = {plane_of(in), plane_of(out), NULL, 0, 0};
  gt_synchronize(x->device);
  gt_reset_stats();
  const double start = gt_now_ms();
  GT_WITH_STREAM(stream) gt_copy(in, x);
  gt_stream_reads(stream, in);
  gt_stream_writes(stream, out);
  gt_stream_call(stream, medians, &p);
  GT_WITH_STREAM(stream) gt_copy(y, out);
  const double enqueued = gt_now_ms() - start;
  gt_stats(&s);
  gt_stream_synchronize(stream);
  printf(
      "by a function of a stream of %s: enqueued after %.3f ms, done after %.2f; "
      "%d waits of the host\n",
      gt_device_string(x->device), enqueued, gt_now_ms() - start, (int)s.host_waits);
  gt_stream_free(stream);
}

/* ---- as a CUDA kernel: the same two lines before it, and the stream's own handle ----
   A thread makes a pixel. Block: 32 x 8 threads; those of a row are a warp, whose reads and writes
   are neighbours (coalesced) where rows lie side by side. Grid: blocks that cover the picture. */
#ifdef __CUDACC__
__global__ void median_kernel(plane x, plane y) {
  const int64_t j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i < x.rows && j < x.columns) y.at[i * y.down + j * y.right] = median(x, i, j);
}
static int on_the_gpu(const gt_tensor *x, gt_tensor *y) {
  gt_stream *stream = gt_current_stream(x->device);
  const dim3 block(32, 8);
  const dim3 grid((unsigned)(x->shape[1] + 31) / 32, (unsigned)(x->shape[0] + 7) / 8);
  if (x->device.type != GT_CUDA) return 0;
  check(cudaSetDevice(x->device.index) == cudaSuccess, "the device");
  gt_stream_reads(stream, x);
  gt_stream_writes(stream, y);
  median_kernel<<<grid, block, 0, (cudaStream_t)gt_stream_native(stream)>>>(plane_of(x),
                                                                            plane_of(y));
  check(cudaGetLastError() == cudaSuccess, "the launch");
  return 1;
}
#else
static int on_the_gpu(const gt_tensor *x, gt_tensor *y) { return (void)x, (void)y, 0; }
#endif

static int wrong_pixels(const gt_tensor *x, const gt_tensor *clean) {
  return (int)gt_item_int64(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "abs(a - b) > 100", x, clean));
}

static void run(gt_device device) {
  gt_tensor *clean =
      gt_add(NULL, gt_arange(0, ROWS, 1, GT_FLOAT32, gt_cpu()),
             gt_reshape(gt_arange(0, COLUMNS, 1, GT_FLOAT32, gt_cpu()), GT_SHAPE(-1, 1)));
  clean = gt_transpose(clean, 0, 1); /* (600, 800), and its elements are 600 apart */
  gt_tensor *noise = gt_rand(GT_SHAPE(ROWS, COLUMNS), GT_FLOAT32, gt_cpu(), NULL);
  gt_tensor *noisy = gt_eval(NULL, "b < 0.02 ? 9999 : a", clean, noise);
  gt_tensor *y = gt_zeros_like(noisy), *turned = gt_transpose(noisy, 0, 1);
  job p = {plane_of(noisy), plane_of(y), NULL, 0, 0};
  job q = {plane_of(turned), plane_of(gt_transpose(gt_copy(NULL, y), 0, 1)), NULL, 0, 0};

  medians(&p); /* called as any C function, on memory of the host */
  printf("a picture (600, 800), strides %d and %d: %d wrong pixels, after a median %d\n",
         (int)p.x.down, (int)p.x.right, wrong_pixels(noisy, clean), wrong_pixels(y, clean));
  check(wrong_pixels(y, clean) * 100 < wrong_pixels(noisy, clean), "what a median mends");
  medians(&q); /* the transposed picture, through its strides: no copy is made */
  printf("the same transposed, strides %d and %d\n", (int)q.x.down, (int)q.x.right);
  check(!memcmp(p.y.at, q.y.at, (size_t)ROWS * COLUMNS * sizeof(float)), "through strides");

  attempt("not declared", 0, GT_REPORT, noisy, y);
  attempt("declared, but GT_REPORT does not wait", 1, GT_REPORT, noisy, y);
  attempt("declared", 1, GT_ORDER, noisy, y);

  gt_tensor *x = gt_to(noisy, device), *z = gt_zeros_like(x);
  through_the_host(x, z);
  check(gt_item(gt_all(NULL, gt_eq(NULL, gt_to(z, gt_cpu()), y), GT_ALL, 0)), "by a function");
  gt_fill(z, 0);
  const int launched = on_the_gpu(x, z);
  gt_tensor *same = gt_eq(NULL, gt_to(z, gt_cpu()), y);
  check(!launched || gt_item(gt_all(NULL, same, GT_ALL, 0)), "by a kernel");
  printf("by a kernel: %s\n",
         launched ? "the same bits" : "skipped, it takes nvcc -x cu and a GPU");
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  gt_device device = gt_best_device();
  if (argc == 3 && !strcmp(argv[1], "--device")) device = gt_parse_device(argv[2]);
  else if (argc > 1) return fprintf(stderr, "usage: %s [--device D]\n", argv[0]), 2;
  GT_SCOPE { run(device); }
  return 0;
}
