/* fft.c - cuFFT on the library's tensors: a low pass. The signal is a slow and a fast sine; all
   frequencies from 100 on are set to 0, and only the slow one is left. README.md has the command.
 */
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <cuda_runtime_api.h>
#include <cufft.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, KEPT = 100 };

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* In place; x is (n, 2), complex numbers for cuFFT: its pointer, our stream, and what it writes. */
static void transform(cufftHandle plan, gt_stream *stream, gt_tensor *x, int direction) {
  cufftComplex *at = (cufftComplex *)gt_data(x);
  check(!cufftSetStream(plan, (cudaStream_t)gt_stream_native(stream)), "the stream");
  gt_stream_writes(stream, x);
  check(!cufftExecC2C(plan, at, at, direction), "the transform");
}

static void run(gt_device device) {
  gt_stream *stream = gt_stream_create(device, 0);
  GT_WITH_STREAM_SCOPED(stream);
  gt_tensor *t = gt_arange(0, N, 1, GT_FLOAT64, device);
  gt_tensor *slow = gt_eval(NULL, "sin(a * (2*pi * 5/4096))", t);
  gt_tensor *x = gt_zeros(GT_SHAPE(N, 2), GT_FLOAT32, device);
  gt_eval(gt_select(x, 1, 0), "a + sin(b * (2*pi * 1000/4096))", slow, t);
  cufftHandle plan;
  check(cudaSetDevice(device.index) == cudaSuccess, "the device");
  check(!cufftPlan1d(&plan, N, CUFFT_C2C, 1), "the plan");

  /* Two calls of cuFFT, two of ours, one stream: the host waits for none of them. */
  transform(plan, stream, x, CUFFT_FORWARD);
  gt_fill(gt_slice(x, 0, KEPT, N - KEPT + 1, 1), 0); /* the upper half are the negative ones */
  transform(plan, stream, x, CUFFT_INVERSE);
  gt_mul(x, x, gt_scalar(1.0 / N)); /* cuFFT does not divide */

  const double off =
      gt_item(gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a - b)", gt_select(x, 1, 0), slow));
  printf("%d samples on %s: off by at most %.1e\n", N, gt_device_string(device), off);
  check(off < 1e-5, "the low pass");
  gt_stream_synchronize(stream);
  cufftDestroy(plan);
  gt_stream_free(stream);
}

int main(void) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  if (!gt_cuda_is_available()) return printf("skipped: %s\n", gt_cuda_unavailable_reason()), 0;
  GT_SCOPE { run(gt_cuda(0)); }
  return 0;
}
