/* 03_copies.c - to the GPU and back: what a copy costs, and which copies let the host go on.

   You learn: gt_to, gt_copy and gt_to_dtype; that one gt_copy may change device, dtype and layout;
   that the call of a copy returns at once if the host's memory is pinned, and keeps the host if it
   is not; and that a clock must be stopped after the work is done.

   The host is the CPU with your program. A GPU has memory of its own, and copies go to it over a
   bus. It can fetch from the host's memory by itself, but only if that stays in its place: such
   memory is pinned. What malloc gives is pageable (here: ordinary), since the operating system may
   move it. So the host itself has to bring it to a pinned buffer, piece by piece, and the way back
   is likewise:

       ordinary   == the host ==>  pinned buffer  == the GPU ==>  the GPU's memory
       pinned     ================== the GPU ==================>  the GPU's memory

   The call enqueues a copy: it puts it into a queue, which is called a stream, and the GPU does it
   when its turn comes. Lesson 05 is about that.

   In PyTorch: there.copy_(x, non_blocking=True), with x = x.pin_memory(); torch.cuda.synchronize().

       cc -O2 -march=native -fopenmp -I. examples/03_copies.c -lm -lpthread -o copies
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/03_copies.c gputensor_kernels.cu \
            -o copies

   Output on a laptop: `call` is until gt_copy returned, `done` until the data was there; GB/s, the
   bandwidth, are bytes by `done`. Without a GPU the copies go from the CPU to the CPU, on a stream
   of the CPU, which is a thread with a queue: so they are enqueued, whatever memory it is (times
   differ; that done is later than call does not):

       copying 64 MiB between cpu and cpu (no GPU: built without CUDA: ...)
                                          call ms   done ms    GB/s
       ordinary -> device                    0.00      2.66    25.2
       device   -> ordinary                  0.00      2.82    23.8
       device   -> device                    0.00      2.67    25.1
       float32  -> float16, to device        0.01      2.91    23.0
       pinned: the same memory here, as there is no GPU to pin it for
       there and back: the same bits; as float16 and back: off by at most 1/2048

   Output on a pretend GPU (make -C examples pretend-03_copies), the same everywhere. In the last
   line of the table the numbers come from pinned memory, too, but the host converts them first, so
   that half as many bytes go over the bus: the call keeps it:

       copying 64 MiB between cpu and cuda:0
                                          call ms   done ms    GB/s
       ordinary -> device                   22.97     23.49     2.9
       pinned   -> device                    0.00     16.78     4.0
       device   -> ordinary                 28.22     28.22     2.4
       device   -> pinned                    0.00     16.78     4.0
       device   -> device                    0.00      0.28   236.6
       float32  -> float16, to device       28.00     28.52     2.4
       there and back: the same bits; as float16 and back: off by at most 1/2048

   Try: leave gt_stream_synchronize out of time_copy (pretend: pinned memory makes 32896 GB/s, which
   is false). ELEMENTS = 1 << 10: none is above 1 GB/s: what a copy costs at least, its latency, is
   more than its bytes do.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 1 << 24, ROUNDS = 5 };

/* The least of a few rounds, after one that warms up: the first use of a GPU and of fresh memory
   costs more than the copy. */
static void time_copy(const char *what, gt_tensor *to, const gt_tensor *from, gt_stream *stream) {
  double call = 1e30, done = 1e30;
  for (int i = 0; i <= ROUNDS; i++) {
    const double start = gt_now_ms();
    GT_WITH_STREAM(stream) { gt_copy(to, from); } /* enqueued on that stream */
    const double returned = gt_now_ms();
    gt_stream_synchronize(stream); /* without this the clock would show the enqueueing alone */
    const double finished = gt_now_ms();
    if (i > 0 && returned - start < call) call = returned - start;
    if (i > 0 && finished - start < done) done = finished - start;
  }
  printf("%-32s %9.2f %9.2f %7.1f\n", what, call, done, (double)gt_nbytes(from) / done * 1e-6);
}

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* float16 has 11 bits: it is off by 1 part in 2048 at most, in the range of these numbers. */
static void check_round_trips(const gt_tensor *x, const gt_tensor *half, gt_device device) {
  gt_tensor *there = gt_to(x, device);
  gt_tensor *back = gt_to(there, gt_cpu());
  gt_tensor *short_of = gt_to_dtype(gt_to(half, gt_cpu()), GT_FLOAT32);
  check(gt_item_int64(gt_all(NULL, gt_eq(NULL, x, back), GT_ALL, 0)) == 1, "the copy");
  const gt_tensor *off =
      gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a - b) - abs(a)/2048", x, short_of);
  check(gt_item(off) <= 6e-8, "the float16 numbers");
  printf("there and back: the same bits; as float16 and back: off by at most 1/2048\n");
}

int main(void) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  const gt_device device = gt_best_device();
  const gt_shape shape = GT_SHAPE(ELEMENTS);
  printf("copying %d MiB between cpu and %s", ELEMENTS / 262144, gt_device_string(device));
  if (!gt_cuda_is_available()) printf(" (no GPU: %s)", gt_cuda_unavailable_reason());
  printf("\n%32s %9s %9s %7s\n", "", "call ms", "done ms", "GB/s");

  GT_SCOPE {
    gt_stream *stream = gt_stream_create(device, 0);
    gt_tensor *ordinary = gt_randn(shape, GT_FLOAT32, gt_cpu(), NULL);
    gt_tensor *pinned = gt_empty_pinned(shape, GT_FLOAT32);
    gt_tensor *there = gt_empty(shape, GT_FLOAT32, device);
    gt_tensor *other = gt_empty(shape, GT_FLOAT32, device);
    gt_tensor *half = gt_empty(shape, GT_FLOAT16, device);
    gt_copy(pinned, ordinary);

    /* With a GPU: the program may change or free ordinary memory as soon as the call returns, so
       the call reads it first. Pinned memory belongs to the library: the GPU fetches it while the
       host goes on; gt_data, the way to its address, waits until that is done. */
    time_copy("ordinary -> device", there, ordinary, stream);
    if (gt_is_pinned(pinned)) time_copy("pinned   -> device", there, pinned, stream);
    time_copy("device   -> ordinary", ordinary, there, stream);
    if (gt_is_pinned(pinned)) time_copy("device   -> pinned", pinned, there, stream);
    time_copy("device   -> device", other, there, stream);
    time_copy("float32  -> float16, to device", half, pinned, stream);
    if (!gt_is_pinned(pinned))
      printf("pinned: the same memory here, as there is no GPU to pin it for\n");
    check_round_trips(ordinary, half, device);
    gt_stream_free(stream);
  }
  return 0;
}
