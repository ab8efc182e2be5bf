/* 03_copies.c - to the GPU and back: what a copy costs, and which copies let the host go on.

   You learn: gt_to, gt_copy and gt_to_dtype; that one gt_copy may change device, dtype and layout;
   that a copy from or to pinned memory is enqueued, while one with ordinary memory keeps the host
   until the memory may be used again; and that a clock must be stopped after the work is done.

       cc -O2 -march=native -fopenmp -I. examples/03_copies.c -lm -lpthread -o copies
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/03_copies.c gputensor_kernels.cu \
            -o copies

   Output (times differ; without a GPU the copies go from the CPU to the CPU, and the first line
   says so, with the reason). `call` is until gt_copy returned, `done` until the data was there:

       copying 64 MiB between cpu and cpu (no GPU: built without CUDA: ...)
                                          call ms   done ms    GB/s
       ordinary -> device                    5.71      5.71    11.8
       pinned   -> device                    6.95      6.95     9.6
       device   -> ordinary                  7.57      7.57     8.9
       device   -> pinned                    9.79      9.79     6.9
       device   -> device                    3.16      3.16    21.2
       float32  -> float16, to device        2.57      2.57    26.1
       there and back: the same bits
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 1 << 24, ROUNDS = 5 };

/* The best of a few rounds, after one that warms up: the first use of a GPU and of fresh memory
   costs more than the copy. */
static void time_copy(const char *what, gt_tensor *to, const gt_tensor *from, gt_device device) {
  double call = 1e30, done = 1e30;
  for (int i = 0; i <= ROUNDS; i++) {
    const double start = gt_now_ms();
    gt_copy(to, from);
    const double returned = gt_now_ms();
    gt_synchronize(device); /* without this the clock would show the enqueueing alone */
    const double finished = gt_now_ms();
    if (i > 0 && finished - start < done) {
      call = returned - start;
      done = finished - start;
    }
  }
  printf("%-32s %9.2f %9.2f %7.1f\n", what, call, done, (double)gt_nbytes(from) / done * 1e-6);
}

static void check_round_trip(const gt_tensor *x, gt_device device) {
  gt_tensor *there = gt_to(x, device), *back = gt_to(there, gt_cpu());
  if (gt_item_int64(gt_all(NULL, gt_eq(NULL, x, back), GT_ALL, 0)) != 1) {
    fprintf(stderr, "the copy differs\n");
    exit(1);
  }
  printf("there and back: the same bits\n");
}

int main(void) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  const gt_device device = gt_best_device();
  const gt_shape shape = GT_SHAPE(ELEMENTS);
  printf("copying %d MiB between cpu and %s", ELEMENTS / 262144, gt_device_string(device));
  if (!gt_cuda_is_available()) printf(" (no GPU: %s)", gt_cuda_unavailable_reason());
  printf("\n%32s %9s %9s %7s\n", "", "call ms", "done ms", "GB/s");

  GT_SCOPE {
    gt_tensor *ordinary = gt_randn(shape, GT_FLOAT32, gt_cpu(), NULL);
    gt_tensor *pinned = gt_empty_pinned(shape, GT_FLOAT32);
    gt_tensor *there = gt_empty(shape, GT_FLOAT32, device);
    gt_tensor *other = gt_empty(shape, GT_FLOAT32, device);
    gt_tensor *half = gt_empty(shape, GT_FLOAT16, device);
    gt_copy(pinned, ordinary);

    /* The program may change or free ordinary memory as soon as the call returns, so the call reads
       it first. Pinned memory belongs to the library: the GPU fetches it while the host goes on;
       gt_data, the way to its address, waits until that is done. */
    time_copy("ordinary -> device", there, ordinary, device);
    time_copy("pinned   -> device", there, pinned, device);
    time_copy("device   -> ordinary", ordinary, there, device);
    time_copy("device   -> pinned", pinned, there, device);
    time_copy("device   -> device", other, there, device);
    time_copy("float32  -> float16, to device", half, pinned, device);
    check_round_trip(ordinary, device);
  }
  return 0;
}
