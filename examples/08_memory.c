/* 08_memory.c - what a tensor costs, who shares it, and when its memory comes back.

   You learn: allocated, reserved and peak; that views cost nothing and keep the memory alive; that
   a formula needs no room for its steps; that memory may be freed while another stream still works
   on it; what pinned memory is worth; and what the library says when there is not enough memory.

   A gt_tensor is a handle: it has a shape and strides, and points to a storage, the memory itself.
   Views are handles on one storage, which is freed with the last of them:

       x     (1024, 1024), strides 1024, 1  --+
       t     (1024, 1024), strides 1, 1024  --+-->  a storage of 4 MiB with 3 handles
       row   (1024),       stride  1        --+

   Allocated are the bytes in storages, the peak is the most of them so far, and reserved is what
   the library holds. On a GPU, where to ask the driver for memory takes long, a freed storage stays
   reserved (in a pool) for the next tensor, until gt_empty_cache.

       cc -O2 -march=native -fopenmp -I. examples/08_memory.c -lm -lpthread -o memory
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/08_memory.c \
            gputensor_kernels.cu -o memory
       ./memory [--device cpu|cuda|cuda:N]

   Output (times and the free bytes differ; on a GPU the reserved bytes are more than 0 until
   gt_empty_cache, and a line for each copy says how fast it was and whether the host waited):

       on cpu (AMD EPYC)
       MiB in tensors
         float32 (1024, 1024)                              4.00
         and the same as float16                           6.00
         and two views of the first                        6.00
         and one of them made contiguous                  10.00
         all freed but one row of the first                4.00
         that, too                                         0.00
       peak of five calls, with their input 24.00 MiB; of one formula  8.00
         left after the scope: the two that were kept      8.00
       freed while the product was being computed: all its elements are 512
       copies of 8 MiB; pinned: no, without a GPU there is nothing to pin it for
       gt_empty: out of memory on cpu: asked for 1125899906842624 bytes, ...
       alive: int64 (3, 1024) on cpu, a storage of 24576 bytes with 1 handle
       alive: float32 (1024, 2048) on cpu, a storage of 8388608 bytes with 1 handle
       alive: 2
       reserved 0.00 MiB, after gt_empty_cache 0.00
       alive at the end: 0
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024, MIB = 1 << 20 };

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

static double allocated(gt_device device) { return (double)gt_memory_allocated(device) / MIB; }

static void line(const char *what, gt_device device, double expected) {
  printf("  %-46s %7.2f\n", what, allocated(device));
  check(allocated(device) == expected, what);
}

static void views(gt_device device) {
  printf("MiB in tensors\n");
  gt_tensor *x = gt_zeros(GT_SHAPE(N, N), GT_FLOAT32, device);
  line("float32 (1024, 1024)", device, 4);
  gt_tensor *half = gt_to_dtype(x, GT_FLOAT16);
  line("and the same as float16", device, 6);
  gt_tensor *t = gt_transpose(x, 0, 1), *row = gt_select(x, 0, 5);
  line("and two views of the first", device, 6);
  gt_tensor *dense = gt_contiguous(t); /* the transposed order needs memory of its own */
  line("and one of them made contiguous", device, 10);
  gt_free(half);
  gt_free(dense);
  gt_free(x);
  gt_free(t);
  line("all freed but one row of the first", device, 4); /* a view keeps all of the memory */
  gt_free(row);
  line("that, too", device, 0);
}

/* Each result takes memory, unless an output is given: `a` and the results of five calls are 6
   times 4 MiB. A formula has one result: 2 times 4 MiB. */
static void peaks(gt_device device) {
  gt_tensor *steps = NULL, *formula = NULL;
  GT_SCOPE {
    gt_tensor *a = gt_ones(GT_SHAPE(N, N), GT_FLOAT32, device);
    gt_reset_peak_memory_stats(device);
    GT_SCOPE { /* frees the four that nobody keeps */
      gt_tensor *b = gt_exp(NULL, a), *c = gt_add(NULL, b, a), *d = gt_mul(NULL, c, c);
      steps = gt_keep(gt_keep(gt_sqrt(NULL, gt_relu(NULL, d)))); /* out of both scopes */
    }
    const double five = (double)gt_max_memory_allocated(device) / MIB;
    gt_reset_peak_memory_stats(device);
    formula = gt_keep(gt_eval(NULL, "sqrt(relu((exp(a) + a) * (exp(a) + a)))", a));
    const double one = (double)gt_max_memory_allocated(device) / MIB - 4; /* `steps` is there */
    printf("peak of five calls, with their input %5.2f MiB; of one formula %5.2f\n", five, one);
    check(five == 24 && one == 8, "a peak");
  }
  line("left after the scope: the two that were kept", device, 8);
  check(fabs(gt_item(gt_max(NULL, gt_sub(NULL, steps, formula), GT_ALL, 0))) < 1e-5, "the formula");
  gt_free(steps);
  gt_free(formula);
}

/* x is freed while the stream still multiplies by it; the next tensor may be given its memory, but
   no sooner than the product is done. In PyTorch this needs x.record_stream(s). */
static void free_in_use(gt_device device, int64_t n) {
  gt_stream *stream = gt_stream_create(device, 0);
  GT_SCOPE {
    gt_tensor *x = gt_ones(GT_SHAPE(n, n), GT_FLOAT32, device), *y = NULL;
    GT_WITH_STREAM(stream) y = gt_matmul(NULL, x, x);
    gt_free(x);
    const int busy = gt_stream_query(stream) == 0;
    gt_full(GT_SHAPE(n, n), 1000, GT_FLOAT32, device); /* on the default stream */
    const double most = gt_item(gt_max(NULL, y, GT_ALL, 0));
    const double least = gt_item(gt_min(NULL, y, GT_ALL, 0));
    printf("freed while the product %s: all its elements are %g\n",
           busy ? "was being computed" : "had already been computed", most);
    check(most == (double)n && least == (double)n, "a product whose operand was freed");
  }
  gt_stream_free(stream);
}

typedef struct {
  gt_tensor *to;
  const gt_tensor *from;
} pair;
static void copy(void *argument) {
  const pair *p = (const pair *)argument;
  gt_reset_stats();
  gt_copy(p->to, p->from);
}

/* How fast copies are, and how the last one went; 03 looks at them more closely. */
static void time_copy(const char *what, gt_tensor *to, const gt_tensor *from, gt_device device) {
  static const char *const text[] = {"at once", "staged through pinned memory", "the host waited"};
  const char *how = NULL; /* no copy between devices: nothing to say */
  pair p = {to, from};
  const double ms = gt_benchmark(copy, &p, device, 20).median_ms;
  gt_statistics s;
  gt_stats(&s);
  for (int kind = GT_COPY_ASYNC; kind <= GT_COPY_BLOCKING; kind++)
    if (s.copies[GT_HOST_TO_DEVICE][kind].count + s.copies[GT_DEVICE_TO_HOST][kind].count)
      how = text[kind];
  if (how) printf("  %-22s %6.1f GB/s, %s\n", what, (double)gt_nbytes(from) / ms * 1e-6, how);
}

static void pinned_memory(gt_device device, int64_t n) {
  GT_SCOPE {
    gt_tensor *there = gt_zeros(GT_SHAPE(n), GT_FLOAT32, device);
    gt_tensor *ordinary = gt_ones(GT_SHAPE(n), GT_FLOAT32, gt_cpu());
    gt_tensor *pinned = gt_empty_pinned(GT_SHAPE(n), GT_FLOAT32);
    printf("copies of %d MiB; pinned: %s\n", (int)(4 * n / MIB),
           gt_is_pinned(pinned) ? "yes" : "no, without a GPU there is nothing to pin it for");
    time_copy("upload, ordinary", there, ordinary, device);
    time_copy("download, pinned", pinned, there, device);
    time_copy("upload, pinned", there, pinned, device);
    gt_fill(ordinary, 0);
    time_copy("download, ordinary", ordinary, there, device);
    check(gt_item(gt_min(NULL, ordinary, GT_ALL, 0)) == 1, "there and back");
  }
}

/* A petabyte. The error is handled here, so the handler that stops the program steps aside. */
static void too_much(gt_device device) {
  gt_tensor *weights = gt_zeros(GT_SHAPE(N, 2 * N), GT_FLOAT32, device);
  gt_tensor *table = gt_zeros(GT_SHAPE(3, N), GT_INT64, device);
  gt_set_error_handler(NULL, NULL);
  const gt_tensor *x = gt_empty(GT_SHAPE(N, N, N, N, 256), GT_FLOAT32, device);
  check(!x && gt_error() == GT_ERROR_MEMORY, "a petabyte was there");
  printf("%s\n", gt_error_message());
  gt_clear_error();
  gt_set_error_handler(gt_exit_on_error, NULL);
  printf("alive: %d\n", (int)gt_report_leaks(stdout));
  check(gt_item(gt_max(NULL, weights, GT_ALL, 0)) == 0, "what was there before");
  gt_free(weights);
  gt_free(table);
}

/* Of large matrices, as large as the device's memory allows. */
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
  printf("on %s (%s)\n", gt_device_string(device), gt_device_name(device));
  views(device);
  GT_SCOPE peaks(device);
  free_in_use(device, n);
  pinned_memory(device, device.type == GT_CUDA ? n * n : 1 << 21);
  GT_SCOPE too_much(device);

  /* A GPU's memory stays with the program, so that the next tensor has it at once. */
  printf("reserved %.2f MiB", (double)gt_memory_reserved(device) / MIB);
  gt_empty_cache();
  printf(", after gt_empty_cache %.2f\n", (double)gt_memory_reserved(device) / MIB);
  const int64_t alive = gt_report_leaks(stdout);
  printf("alive at the end: %d\n", (int)alive);
  return alive == 0 && allocated(device) == 0 ? 0 : 1;
}
