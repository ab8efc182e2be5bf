/* 12_matmul_ladder.cu - five ways to multiply matrices on a GPU, each faster than the one before.

   You learn: what a kernel waits for, and how each step removes that. All compute C = A x B of
   float32, N x N in rows. Each result is compared with the library's.

       echo '#include "gputensor.h"' > gputensor.c
       nvcc -O3 -arch=native -I. -DGPUTENSOR_IMPLEMENTATION -c gputensor.c -o gputensor.o
       nvcc -O3 -arch=native -I. examples/12_matmul_ladder.cu gputensor_kernels.cu gputensor.o \
            -lpthread -o ladder                   (on a Hopper: -arch=sm_90a)
       ./ladder [N, a multiple of 128]

   1 by itself     A thread an element. Neighbouring threads have neighbouring rows, so a warp reads
                   32 rows of A at once: 32 transactions of 32 bytes for 128 bytes.
   2 in order      Neighbouring threads have neighbouring columns: a warp's B is one transaction of
                   128 bytes, its A one number for all. Still 2 loads for each multiply-add.
   3 shared        32 x 32 threads bring a 32 x 32 piece of A and B to shared memory, where each
                   number is read 32 times: memory is read 32 times less. Still 2 loads for each
                   multiply-add, if from shared memory.
   4 registers     A thread makes 8 x 8 elements: 16 loads from shared memory, four at a time, serve
                   64 multiply-adds, which now set the pace.
   5 the library   On Hopper: six products of bfloat16 pieces on the tensor cores, see >>hopper of
                   gputensor_kernels.cu; elsewhere as in 4, with any shape and strides.

   Output on an H200:

       float32 4096 x 4096 x 4096
         1 by itself      275.883 ms    0.50 TFLOP/s    0.4 %
         2 in order        22.114 ms    6.21 TFLOP/s    4.9 %
         3 shared          15.440 ms    8.90 TFLOP/s    7.0 %
         4 registers        3.221 ms   42.67 TFLOP/s   33.6 %
         5 the library      1.083 ms  126.86 TFLOP/s  100.0 %
*/
#include "gputensor.h"
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void by_itself(int n, const float *a, const float *b, float *c) {
  const int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void in_order(int n, const float *a, const float *b, float *c) {
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void shared(int n, const float *a, const float *b, float *c) {
  __shared__ float as[32][32], bs[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    as[y][x] = a[row * n + k0 + x];
    bs[y][x] = b[(k0 + y) * n + column];
    __syncthreads(); /* both pieces are there */
    for (int k = 0; k < 32; k++) sum += as[y][k] * bs[k][x];
    __syncthreads(); /* and nobody needs them any longer */
  }
  c[row * n + column] = sum;
}
/* 256 threads make 128 x 128; thread (ty, tx) of 16 x 16 has rows 4*ty + 0..3 and those 64 below,
   and columns likewise, so that a warp reads shared memory without bank conflicts. */
__global__ void __launch_bounds__(256) registers(int n, const float *a, const float *b, float *c) {
  __shared__ float4 as[8][33], bs[8][32]; /* as: turned, [k][row / 4]; 33 against conflicts */
  const int t = threadIdx.x, ty = t / 16, tx = t % 16;
  const float *from_a = a + (blockIdx.y * 128 + t / 2) * n + t % 2 * 4; /* 4 numbers of a row */
  const float *from_b = b + t / 32 * n + blockIdx.x * 128 + t % 32 * 4;
  float sum[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
    const float4 x = *(const float4 *)(from_a + k0);
    float *to = (float *)as[t % 2 * 4] + t / 2;
    to[0] = x.x, to[132] = x.y, to[264] = x.z, to[396] = x.w;
    bs[t / 32][t % 32] = *(const float4 *)(from_b + k0 * n);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const float4 u = as[k][ty], v = as[k][ty + 16], p = bs[k][tx], q = bs[k][tx + 16];
      const float rows[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
      const float columns[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
#pragma unroll
      for (int i = 0; i < 64; i++) sum[i / 8][i % 8] += rows[i / 8] * columns[i % 8];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 64; i++) {
    const int row = blockIdx.y * 128 + i / 32 * 64 + ty * 4 + i / 8 % 4;
    const int column = blockIdx.x * 128 + i / 4 % 2 * 64 + tx * 4 + i % 4;
    c[row * n + column] = sum[i / 8][i % 8];
  }
}

static void multiply(int rung, int n, const gt_tensor *x, const gt_tensor *y, gt_tensor *z) {
  const float *a = (const float *)gt_data(x), *b = (const float *)gt_data(y);
  float *c = (float *)gt_data(z);
  cudaStream_t stream = (cudaStream_t)gt_stream_native(gt_current_stream(x->device));
  const dim3 blocks(n / 32, n / 32), threads(32, 32);
  if (rung == 1) by_itself<<<blocks, threads, 0, stream>>>(n, a, b, c);
  if (rung == 2) in_order<<<blocks, threads, 0, stream>>>(n, a, b, c);
  if (rung == 3) shared<<<blocks, threads, 0, stream>>>(n, a, b, c);
  if (rung == 4) registers<<<dim3(n / 128, n / 128), 256, 0, stream>>>(n, a, b, c);
  if (rung == 5) gt_matmul(z, x, y);
}
int main(int argc, char **argv) {
  static const char *const name[] = {"", "by itself", "in order", "shared", "registers",
                                     "the library"};
  const int n = argc > 1 ? atoi(argv[1]) : 4096;
  double took[6];
  gt_set_error_handler(gt_exit_on_error, NULL);
  const gt_device gpu = gt_cuda(0);
  if (n < 128 || n % 128 || n > 16384) {
    fprintf(stderr, "%d is not a multiple of 128, from 128 to 16384\n", n);
    return 1;
  }
  gt_tensor *x = gt_randn(GT_SHAPE(n, n), GT_FLOAT32, gpu, NULL);
  gt_tensor *y = gt_randn(GT_SHAPE(n, n), GT_FLOAT32, gpu, NULL);
  gt_tensor *z = gt_empty(GT_SHAPE(n, n), GT_FLOAT32, gpu), *right = gt_matmul(NULL, x, y);
  gt_event *start = gt_event_create(), *end = gt_event_create();
  gt_stream *stream = gt_current_stream(gpu);
  for (int rung = 1; rung <= 5; rung++) {
    took[rung] = 1e30;
    gt_fill(z, 0);
    for (int run = 0; run < 4; run++) { /* the fastest of four */
      gt_event_record(start, stream);
      multiply(rung, n, x, y, z);
      gt_event_record(end, stream);
      const double ms = gt_event_elapsed_ms(start, end);
      if (ms < took[rung]) took[rung] = ms;
    }
    GT_SCOPED; /* frees at the end of this round what the check makes */
    const double worst = gt_item(gt_max(NULL, gt_eval(NULL, "abs(a - b)", z, right), GT_ALL, 0));
    if (!(worst < 1e-5 * n)) {
      fprintf(stderr, "%s is wrong by %g\n", name[rung], worst);
      return 1;
    }
  }
  printf("float32 %d x %d x %d\n", n, n, n);
  for (int rung = 1; rung <= 5; rung++)
    printf("  %d %-12s %9.3f ms %7.2f TFLOP/s %6.1f %%\n", rung, name[rung], took[rung],
           2e-9 * n * n * n / took[rung], 100 * took[5] / took[rung]);
  gt_event_free(start);
  gt_event_free(end);
  gt_free(x);
  gt_free(y);
  gt_free(z);
  gt_free(right);
  return gt_error() != GT_OK;
}
