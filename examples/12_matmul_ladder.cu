/* 12_matmul_ladder.cu - nine ways to multiply matrices on a GPU, each faster than the one before.

   You learn: what a kernel waits for, and how each step removes that; and how to tell the library
   of a kernel of your own: gt_stream_reads and gt_stream_writes before it, cudaGetLastError after.
   All compute C = A x B, N x N in rows, and each result is compared with the library's.
   12_cpu_ladder.c climbs on a CPU; 15_own_kernel.c has a simpler kernel, to begin with.

   A kernel is a function that many threads of the GPU run at once. f<<<blocks, threads>>>(...)
   launches it: so many blocks of so many threads each, and in the function blockIdx and threadIdx
   say which of them a thread is.

       block      up to 1024 threads, which run on one multiprocessor (an H200 has 132), share
                  memory and can wait for each other (__syncthreads)
       warp       32 neighbouring threads of a block; they do the same instruction at a time
       thread     has registers of its own, up to 255

       global     memory, which all threads see; it is large and far away. It is read in pieces of
                  32 bytes: a warp that reads 32 neighbouring floats needs one transaction of 128
                  bytes (it is coalesced), one that reads 32 scattered floats needs 32
       shared     memory, of a block, near; up to 227 KiB on an H200. Word i lies in bank i % 32. A
                  warp that wants different words of one bank gets them one by one: a bank conflict

   Memory makes a warp wait (latency). Other warps of the multiprocessor compute meanwhile, so it
   helps to have many there (occupancy). Tensor cores are units that multiply small matrices in one
   instruction, here of bfloat16, which is the upper half of a float32.

       echo '#include "gputensor.h"' > gputensor.c
       nvcc -O3 -arch=native -I. -DGPUTENSOR_IMPLEMENTATION -c gputensor.c -o gputensor.o
       nvcc -O3 -arch=native -I. examples/12_matmul_ladder.cu gputensor_kernels.cu gputensor.o \
            -lpthread -o ladder   (on a Hopper: -gencode arch=compute_90a,code=sm_90a)
       ./ladder [N, a multiple of 256]

   float32, on the float32 units:
   1 naive         A thread an element. Neighbouring threads have neighbouring rows, so a warp reads
                   32 rows of A at once: 32 transactions of 32 bytes for 128 bytes.
   2 coalesced     Neighbouring threads have neighbouring columns: a warp's B is one transaction of
                   128 bytes, its A one number for all. Still 2 loads for each multiply-add.
   3 shared tile   32 x 32 threads bring a tile of A and B to shared memory, where each number is
                   read 32 times: memory is read 32 times less. Still 2 loads for each multiply-add,
                   if from shared memory.
   4 registers 1-D A thread makes 8 elements of a column: of 9 loads from shared memory one serves
                   all 8 multiply-adds.
   5 registers 2-D A thread makes 8 x 8 elements: 16 loads serve 64 multiply-adds. It takes 128
                   registers, so that 16 warps fit on a multiprocessor, where rung 3 has 64: the
                   occupancy falls to a quarter, but a warp has 64 multiply-adds that need not wait
                   for each other.
   6 vector loads  The same, loads and stores of shared memory four numbers at a time: the
                   multiply-adds now set the pace.
   7 the library   On Hopper six products of bfloat16 pieces, on the tensor cores; elsewhere as 6.

   bfloat16, summed in float32, on the tensor cores. A and B are rounded to 8 bits, so results
   differ from those of float32, by 0.25 % of the largest; a line says by how much:
   8 mma.sync      A warp multiplies 16 x 16 by 16 x 8 in an instruction, from registers, to which
                   ldmatrix brings them; cp.async fills one buffer while the other is read.
   9 wgmma         Hopper: four warps multiply 64 x 64 by 64 x 128, straight from shared memory, and
                   go on meanwhile. It must lie there in swizzled lines.
   10 TMA          Hopper: one thread, the producer, asks the copy engine for whole tiles, which
                   come swizzled; eight warps, the consumers, do nothing but start wgmma. Barriers
                   in shared memory say what is full and what is empty.
   11 the library  The same, and more: clusters of blocks that share loads, blocks that stay for all
                   tiles, any shape, strides and epilogue: see >>matmul-hopper.

   Output on an H200. TFLOP/s count N*N*N multiplications and as many additions; the last column is
   the speed in percent of the library's:

       float32 4096 x 4096 x 4096
         1 naive            275.875 ms    0.50 TFLOP/s    0.4 %
         2 coalesced         21.793 ms    6.31 TFLOP/s    5.0 %
         3 shared tile       15.332 ms    8.96 TFLOP/s    7.1 %
         4 registers 1-D      7.996 ms   17.19 TFLOP/s   13.6 %
         5 registers 2-D      4.867 ms   28.24 TFLOP/s   22.4 %
         6 vector loads       3.219 ms   42.70 TFLOP/s   33.9 %
         7 the library        1.090 ms  126.10 TFLOP/s  100.0 %
       bfloat16: results differ from those of float32 by up to 0.88 of 359
         8 mma.sync           0.477 ms  287.89 TFLOP/s   39.5 %
         9 wgmma              0.336 ms  409.47 TFLOP/s   56.2 %
        10 TMA                0.195 ms  704.32 TFLOP/s   96.6 %
        11 the library        0.189 ms  728.83 TFLOP/s  100.0 %

   Try: in rung 1 swap threadIdx.x and threadIdx.y: it is rung 2. In rung 6 write as[8][32], and 128
   for 132 and so on: bank conflicts. In rung 10 STAGES = 2: the copies hide less. Leave
   gt_stream_writes out: gt_eval on another stream would no longer wait for the kernel, and nothing
   would say so.
*/
#include "gputensor.h"
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __nv_bfloat16 bf16;

/* ---- 1 naive, 2 coalesced: 32 x 32 threads, a thread an element ---- */
__global__ void naive(int n, const float *a, const float *b, float *c) {
  const int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void coalesced(int n, const float *a, const float *b, float *c) {
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

/* ---- 3 shared tile: likewise, but from shared memory ---- */
__global__ void shared_tile(int n, const float *a, const float *b, float *c) {
  __shared__ float as[32][32], bs[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    as[y][x] = a[row * n + k0 + x];
    bs[y][x] = b[(k0 + y) * n + column];
    __syncthreads(); /* both tiles are there */
    for (int k = 0; k < 32; k++) sum += as[y][k] * bs[k][x];
    __syncthreads(); /* and nobody needs them any longer */
  }
  c[row * n + column] = sum;
}

/* ---- 4 registers 1-D: 512 threads make 64 x 64, a thread 8 rows of one column ---- */
__global__ void __launch_bounds__(512)
    registers_1d(int n, const float *a, const float *b, float *c) {
  __shared__ float as[64][8], bs[8][64];
  const int t = threadIdx.x, x = t % 64, y = t / 64;
  const int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
    as[t / 8][t % 8] = a[(row + t / 8) * n + k0 + t % 8];
    bs[y][x] = b[(k0 + y) * n + column + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const float v = bs[k][x]; /* stays in a register */
#pragma unroll
      for (int i = 0; i < 8; i++) sum[i] += as[y * 8 + i][k] * v; /* the same for a warp */
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++) c[(row + y * 8 + i) * n + column + x] = sum[i];
}

/* ---- 5 registers 2-D: 256 threads make 128 x 128, a thread 8 x 8, 16 apart ----

       columns of B           x     x + 16   x + 32 ...
                              v0      v1       v2
       rows of A    y     u0   +       +        +       each + is a sum in a register. One of K
               y + 16     u1   +       +        +       reads 8 u and 8 v, for 64 multiply-adds
               ... */
__global__ void __launch_bounds__(256)
    registers_2d(int n, const float *a, const float *b, float *c) {
  __shared__ float as[128][8], bs[8][128];
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  const int row = blockIdx.y * 128, column = blockIdx.x * 128;
  float sum[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
#pragma unroll
    for (int e = t; e < 1024; e += 256) {
      as[e / 8][e % 8] = a[(row + e / 8) * n + k0 + e % 8];
      bs[e / 128][e % 128] = b[(k0 + e / 128) * n + column + e % 128];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float u[8], v[8];
#pragma unroll
      for (int i = 0; i < 8; i++) {
        u[i] = as[y + 16 * i][k];
        v[i] = bs[k][x + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < 64; i++) sum[i / 8][i % 8] += u[i / 8] * v[i % 8];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 64; i++)
    c[(row + y + i / 8 * 16) * n + column + x + i % 8 * 16] = sum[i / 8][i % 8];
}

/* ---- 6 vector loads: 256 threads make 128 x 128; thread (ty, tx) of 16 x 16 has rows 4*ty + 0..3
   and those 64 below, and columns likewise, so that a warp reads without bank conflicts ---- */
__global__ void __launch_bounds__(256)
    vector_loads(int n, const float *a, const float *b, float *c) {
  /* as: transposed, [k][row / 4]. Its lines of 33, which are 132 numbers, prevent that the stores
     of a warp, which go to two k and 16 rows of each, meet in a bank. */
  __shared__ float4 as[8][33], bs[8][32];
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

/* ---- what the tensor cores' rungs share ---- */
__device__ __forceinline__ uint32_t in_shared(const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}
/* 16 bytes, past the registers. wait_groups: until all but the newest `pending` are there. */
__device__ __forceinline__ void copy_16(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(in_shared(to)), "l"(from)
               : "memory");
#endif
}
__device__ __forceinline__ void end_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int pending>
__device__ __forceinline__ void wait_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

/* ---- 8 mma.sync: 8 warps make 128 x 128, a warp 64 x 32 as 4 x 4 products of 16 x 8 ---- */
__device__ __forceinline__ void load_matrices(uint32_t (&x)[4], const bf16 *from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(in_shared(from)));
}
__device__ __forceinline__ void load_transposed(uint32_t (&x)[4], const bf16 *from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(in_shared(from)));
}
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t *b) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
__global__ void __launch_bounds__(256) by_mma(int n, const bf16 *a, const bf16 *b, float *c) {
  enum { STEP = 32 }; /* of K. Lines are 16 bytes longer, against bank conflicts */
  __shared__ __align__(16) bf16 as[2][128][STEP + 8], bs[2][STEP][128 + 8];
  const int t = threadIdx.x, lane = t % 32, down = t / 128 * 64, along = t / 32 % 4 * 32;
  const int row = blockIdx.y * 128, column = blockIdx.x * 128;
  float sum[4][4][4] = {};
  const auto fetch = [&](int k0, int to) {
    for (int e = t; e < 512; e += 256) { /* 8 numbers, 16 bytes, at a time */
      copy_16(&as[to][e / 4][e % 4 * 8], a + (row + e / 4) * n + k0 + e % 4 * 8);
      copy_16(&bs[to][e / 16][e % 16 * 8], b + (k0 + e / 16) * n + column + e % 16 * 8);
    }
    end_group();
  };
  fetch(0, 0);
  for (int k0 = 0; k0 < n; k0 += STEP) {
    const int at = k0 / STEP % 2;
    if (k0 + STEP < n) fetch(k0 + STEP, 1 - at);
    else end_group(); /* an empty one: the number of those that may be pending stays the same */
    wait_groups<1>(); /* what this thread copied of the step is there, */
    __syncthreads();  /* and what the others did */
#pragma unroll
    for (int k = 0; k < STEP; k += 16) {
      uint32_t x[4][4], y[2][4]; /* y: of 16 columns */
#pragma unroll
      for (int i = 0; i < 4; i++)
        load_matrices(x[i], &as[at][down + 16 * i + lane % 16][k + lane / 16 * 8]);
#pragma unroll
      for (int j = 0; j < 2; j++)
        load_transposed(y[j], &bs[at][k + lane % 16][along + 16 * j + lane / 16 * 8]);
#pragma unroll
      for (int i = 0; i < 16; i++) mma(sum[i / 4][i % 4], x[i / 4], y[i % 4 / 2] + i % 2 * 2);
    }
    __syncthreads(); /* nobody reads this buffer any longer: the next round fills it */
  }
#pragma unroll
  for (int i = 0; i < 32; i++) { /* two neighbours at once; the second two are 8 rows below */
    const float *two = sum[i / 8][i / 2 % 4] + i % 2 * 2;
    const int r = row + down + i / 8 * 16 + i % 2 * 8 + lane / 4;
    *(float2 *)(c + r * n + column + along + i / 2 % 4 * 8 + lane % 4 * 2) =
        make_float2(two[0], two[1]);
  }
}

/* ---- Hopper: what 9 and 10 share. The code exists for sm_90a alone ---- */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/* In shared memory a swizzled tile is 64 lines of 128 bytes, 64 numbers, whose 16-byte chunks are
   permuted: chunk j of line i lies at j ^ i % 8. So the same chunk of eight lines, which the tensor
   cores read together, lies in all 32 banks:

       line 0    0  1  2  3  4  5  6  7     the chunks as they lie; line 8 is as line 0
       line 1    1  0  3  2  5  4  7  6
       line 2    2  3  0  1  6  7  4  5

   Lines of A run along K, of B along N. A descriptor has the tile's address, the bytes to the next
   64 numbers of N (8192) and to the next 8 lines (1024), all in units of 16, and in its top bits
   that the swizzle is of 128 bytes. */
enum { TILE = 8192 };
__device__ uint64_t descriptor(const void *tile) {
  return (uint64_t)(in_shared(tile) >> 4 & 0x3FFF) | (uint64_t)(TILE >> 4) << 16 |
         (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}
#define TEN(t) \
  "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define SIXTY TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5)
#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define D64(i) D16(i), D16(i + 16), D16(i + 32), D16(i + 48)
#define WGMMA(wide, registers, a, b, more) \
  "{ .reg .pred p;\n setp.ne.b32 p, " more ", 0;\n wgmma.mma_async.sync.aligned.m64n" wide \
  "k16.f32.bf16.bf16 {" registers "}, " a ", " b ", p, 1, 1, 0, 1; }"
/* d = A (64 x 16) x B (16 x wide) + (more ? d : 0). The last 0, 1: lines of A along K, of B not. */
__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, int more) {
  asm volatile(WGMMA("128", SIXTY "%60,%61,%62,%63", "%64", "%65", "%66")
               : D64(0)
               : "l"(a), "l"(b), "r"(more));
}
__device__ __forceinline__ void wgmma(float (&d)[128], uint64_t a, uint64_t b, int more) {
  asm volatile(WGMMA("256",
                     SIXTY TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)
                         TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127",
                     "%128", "%129", "%130")
               : D64(0), D64(64)
               : "l"(a), "l"(b), "r"(more));
}
/* Starts a step, 64 of K, with A's tile and B's tiles; then waits for the step before. */
template <int N>
__device__ __forceinline__ void multiply_tiles(float (&d)[N], const char *a, const char *b,
                                               int step) {
  const uint64_t from_a = descriptor(a), from_b = descriptor(b);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int k = 0; k < 4; k++) /* 16 of K: 32 bytes of A's lines, 16 lines of B */
    wgmma(d, from_a + (k * 32 >> 4), from_b + (k * 16 * 128 >> 4), step + k);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}
/* A warp has 16 rows, a thread two numbers in each 8 columns, and two 8 rows below. */
template <int N>
__device__ __forceinline__ void store_sums(float (&d)[N], float *c, int n, int row, int column) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  const int lane = threadIdx.x % 32;
  float *to = c + (row + threadIdx.x / 32 % 4 * 16 + lane / 4) * n + column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < N / 4; i++) {
    *(float2 *)(to + i * 8) = make_float2(d[4 * i], d[4 * i + 1]);
    *(float2 *)(to + 8 * n + i * 8) = make_float2(d[4 * i + 2], d[4 * i + 3]);
  }
}
#endif
extern __shared__ char room[];
/* wgmma wants its tiles at multiples of 1024 bytes. */
__device__ __forceinline__ char *aligned_room() { return room + (-in_shared(room) & 1023); }

/* ---- 9 wgmma: 256 threads make 128 x 128, 64 of K a step, in four buffers ---- */
enum { BUFFERS = 4, BUFFER = 4 * 8192, WGMMA_BYTES = BUFFERS * BUFFER + 1024 };
__global__ void __launch_bounds__(256, 1) by_wgmma(int n, const bf16 *a, const bf16 *b, float *c) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  char *buffers = aligned_room();
  const int t = threadIdx.x, half = t / 128;
  const int row = blockIdx.y * 128, column = blockIdx.x * 128;
  float sum[64]; /* set by the first product */
  /* A's two tiles and B's two, each of 64 lines: chunk j of line i, which from 64 on is the second
     tile's. */
  const auto fetch = [&](int step) {
    char *to = buffers + step % BUFFERS * BUFFER;
    for (int e = t; e < 1024; e += 256) {
      const int i = e / 8, j = e % 8;
      const int at = i * 128 + (j ^ i % 8) * 16;
      copy_16(to + at, a + (row + i) * n + step * 64 + j * 8);
      copy_16(to + 2 * TILE + at, b + (step * 64 + i % 64) * n + column + i / 64 * 64 + j * 8);
    }
  };
  fetch(0);
  end_group();
  fetch(1);
  end_group();
  for (int step = 0; step < n / 64; step++) {
    wait_groups<1>();                                            /* mine of this step are there */
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* also for the tensor cores */
    __syncthreads();                                             /* and everybody's */
    /* All have waited for the products of two steps before, whose buffer this is. */
    if (step + 2 < n / 64) fetch(step + 2);
    end_group();
    const char *from = buffers + step % BUFFERS * BUFFER;
    multiply_tiles(sum, from + half * TILE, from + 2 * TILE, step);
  }
  store_sums(sum, c, n, row + half * 64, column);
#endif
}

/* ---- 10 TMA: 4 warps of which a thread is the producer, 8 consumers; they make 128 x 256 ----
   Step i is in stage i % STAGES. Each stage has two barriers:

       producer     wait for empty   say on full how many bytes come   start the copies
                        ^                                                    |  copy engine
                        |  8 warps arrive                                    v
       consumers    arrive on empty of step i - 1  <--  start wgmma  <--  wait for full

   A barrier's phase is the number of the round, i / STAGES, of which a wait names the last bit. In
   the first round the producer waits for the round before, which counts as over. */
enum { STAGES = 4, STAGE = 6 * 8192, TMA_BYTES = STAGES * STAGE + 1024 + 16 * STAGES };
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
__device__ __forceinline__ void await(uint64_t *barrier, int phase) {
  asm volatile(
      "{ .reg .pred done;\n again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @!done bra again; }" ::"r"(
          in_shared(barrier)),
      "r"(phase)
      : "memory");
}
__device__ __forceinline__ void arrive(uint64_t *barrier, int bytes) { /* that many will come */
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void load_box(void *to, const CUtensorMap *from, int x, int y,
                                         uint64_t *barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(in_shared(to)),
      "l"(from), "r"(x), "r"(y), "r"(in_shared(barrier))
      : "memory");
}
#endif
__global__ void __launch_bounds__(384, 1) by_tma(int n, const __grid_constant__ CUtensorMap a,
                                                 const __grid_constant__ CUtensorMap b, float *c) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  char *stages = aligned_room();
  uint64_t *full = (uint64_t *)(stages + STAGES * STAGE), *empty = full + STAGES;
  const int row = blockIdx.y * 128, column = blockIdx.x * 256, steps = n / 64;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2 * STAGES; i++) /* full: one arrival and its bytes; empty: of 8 warps */
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(in_shared(full + i)),
                   "r"(i < STAGES ? 1 : 8));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); /* for the copy engine */
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); /* registers go to the consumers */
    for (int step = 0; step < steps && threadIdx.x == 0; step++) {
      const int i = step % STAGES;
      char *to = stages + i * STAGE;
      await(&empty[i], step / STAGES % 2 ^ 1); /* the first time around at once */
      arrive(&full[i], STAGE);
      load_box(to, &a, step * 64, row, &full[i]); /* 128 lines: two tiles */
      for (int j = 0; j < 4; j++)
        load_box(to + (2 + j) * TILE, &b, column + j * 64, step * 64, &full[i]);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int half = threadIdx.x / 128 - 1;
    float sum[128]; /* set by the first product */
    for (int step = 0; step < steps; step++) {
      const char *from = stages + step % STAGES * STAGE;
      await(&full[step % STAGES], step / STAGES % 2);
      multiply_tiles(sum, from + half * TILE, from + 2 * TILE, step);
      if (step > 0 && threadIdx.x % 32 == 0) arrive(&empty[(step - 1) % STAGES], 0);
    }
    store_sums(sum, c, n, row + half * 64, column);
  }
#endif
}

/* ---- the host ---- */
static void stop(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}
static void check_cuda(cudaError_t error, const char *what) {
  if (error) stop(what, cudaGetErrorString(error));
}
/* Where an n x n matrix is, for the copy engine: in boxes of 64 columns, swizzled. The driver's
   function comes through the runtime, so nobody links the driver. */
static CUtensorMap map_of(const void *data, int n, int lines) {
  CUtensorMap map;
  void *f = NULL;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000,
                                              cudaEnableDefault, &found),
             "cuTensorMapEncodeTiled");
#else
  check_cuda(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &found),
             "cuTensorMapEncodeTiled");
#endif
  const cuuint64_t size[2] = {(cuuint64_t)n, (cuuint64_t)n}, pitch[1] = {(cuuint64_t)n * 2};
  const cuuint32_t box[2] = {64, (cuuint32_t)lines}, one[2] = {1, 1};
  if (!f || ((decltype(&cuTensorMapEncodeTiled))f)(
                &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)data, size, pitch, box, one,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    stop("cuTensorMapEncodeTiled", "refused");
  return map;
}

enum { RUNGS = 11, RUNS = 6 };
static const char *const name[RUNGS] = {
    "naive",       "coalesced", "shared tile", "registers 1-D", "registers 2-D", "vector loads",
    "the library", "mma.sync",  "wgmma",       "TMA",           "the library"};
static int is_bf16(int rung) { return rung > 6; }
static int is_library(int rung) { return rung == 6 || rung == 10; }

static void float32_kernel(int rung, int n, const float *a, const float *b, float *c,
                           cudaStream_t s) {
  const dim3 of_32(n / 32, n / 32), of_64(n / 64, n / 64), of_128(n / 128, n / 128);
  const dim3 threads(32, 32);
  if (rung == 0) naive<<<of_32, threads, 0, s>>>(n, a, b, c);
  if (rung == 1) coalesced<<<of_32, threads, 0, s>>>(n, a, b, c);
  if (rung == 2) shared_tile<<<of_32, threads, 0, s>>>(n, a, b, c);
  if (rung == 3) registers_1d<<<of_64, 512, 0, s>>>(n, a, b, c);
  if (rung == 4) registers_2d<<<of_128, 256, 0, s>>>(n, a, b, c);
  if (rung == 5) vector_loads<<<of_128, 256, 0, s>>>(n, a, b, c);
}
static void bf16_kernel(int rung, int n, const bf16 *a, const bf16 *b, float *c, cudaStream_t s) {
  const dim3 of_128(n / 128, n / 128), wide(n / 256, n / 128);
  if (rung == 7) by_mma<<<of_128, 256, 0, s>>>(n, a, b, c);
  if (rung == 8) by_wgmma<<<of_128, 256, WGMMA_BYTES, s>>>(n, a, b, c);
  if (rung == 9) by_tma<<<wide, 384, TMA_BYTES, s>>>(n, map_of(a, n, 128), map_of(b, n, 64), c);
}
/* To the library a kernel of ours is work on its stream: it is told which tensors that reads and
   writes, and then orders all streams around it as around its own. */
static void multiply(int rung, const gt_tensor *x, const gt_tensor *y, gt_tensor *z) {
  const int n = (int)x->shape[0];
  gt_stream *stream = gt_current_stream(x->device);
  if (is_library(rung)) {
    gt_matmul(z, x, y);
    return;
  }
  gt_stream_reads(stream, x);
  gt_stream_reads(stream, y);
  gt_stream_writes(stream, z);
  const void *a = gt_data(x), *b = gt_data(y);
  float *c = (float *)gt_data(z);
  cudaStream_t s = (cudaStream_t)gt_stream_native(stream);
  if (is_bf16(rung)) bf16_kernel(rung, n, (const bf16 *)a, (const bf16 *)b, c, s);
  else float32_kernel(rung, n, (const float *)a, (const float *)b, c, s);
  check_cuda(cudaGetLastError(), name[rung]);
}

/* The largest difference, by the library. */
static double apart(const gt_tensor *p, const gt_tensor *q) {
  GT_SCOPED;
  return gt_item(gt_max(NULL, gt_eval(NULL, "abs(a - b)", p, q), GT_ALL, 0));
}
/* The fastest of some runs, in ms. */
static double time_of(int rung, const gt_tensor *x, const gt_tensor *y, gt_tensor *z) {
  gt_event *start = gt_event_create(), *end = gt_event_create();
  gt_stream *stream = gt_current_stream(x->device);
  double least = 1e30;
  gt_fill(z, NAN);
  for (int run = 0; run < RUNS; run++) {
    gt_event_record(start, stream);
    multiply(rung, x, y, z);
    gt_event_record(end, stream);
    const double ms = gt_event_elapsed_ms(start, end);
    if (ms < least) least = ms;
  }
  gt_event_free(start);
  gt_event_free(end);
  return least;
}
/* What the rung lacks here, or NULL. */
static const char *lacks(int rung, const gt_properties *p) {
  if (rung == 7 && p->major < 8) return "needs an Ampere or later";
  if ((rung == 8 || rung == 9) && strcmp(p->instructions, "sm_90a") != 0)
    return "needs a Hopper, and -gencode arch=compute_90a,code=sm_90a";
  return NULL;
}
static void climb(int first, int end, const gt_tensor *x, const gt_tensor *y,
                  const gt_tensor *right, const gt_properties *p) {
  const int n = (int)x->shape[0];
  gt_tensor *z = gt_empty(GT_SHAPE(n, n), GT_FLOAT32, x->device);
  const double library = time_of(end - 1, x, y, z);
  for (int rung = first; rung < end; rung++) {
    if (lacks(rung, p)) {
      printf(" %2d %-14s %s\n", rung + 1, name[rung], lacks(rung, p));
      continue;
    }
    const double took = is_library(rung) ? library : time_of(rung, x, y, z);
    if (!is_library(rung) && !(apart(z, right) < 1e-5 * n)) stop(name[rung], "is wrong");
    printf(" %2d %-14s %9.3f ms %7.2f TFLOP/s %6.1f %%\n", rung + 1, name[rung], took,
           2e-9 * n * n * n / took, 100 * library / took);
  }
}
int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 4096;
  gt_properties p;
  if (n < 256 || n % 256 || n > 16384) stop(argv[0], "N is a multiple of 256, to 16384");
  gt_set_error_handler(gt_exit_on_error, NULL);
  const gt_device gpu = gt_cuda(0);
  gt_zeros(GT_SHAPE(1), GT_FLOAT32, gpu);
  gt_device_properties(gpu, &p);
  check_cuda(cudaFuncSetAttribute(by_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  p.major == 9 ? WGMMA_BYTES : 0),
             "by_wgmma");
  check_cuda(cudaFuncSetAttribute(by_tma, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  p.major == 9 ? TMA_BYTES : 0),
             "by_tma");
  GT_SCOPE {
    gt_tensor *x = gt_randn(GT_SHAPE(n, n), GT_FLOAT32, gpu, NULL);
    gt_tensor *y = gt_randn(GT_SHAPE(n, n), GT_FLOAT32, gpu, NULL);
    gt_tensor *right = gt_matmul(NULL, x, y), *z = gt_empty_like(right);
    printf("float32 %d x %d x %d\n", n, n, n);
    climb(0, 7, x, y, right, &p);
    x = gt_to_dtype(x, GT_BFLOAT16);
    y = gt_to_dtype(y, GT_BFLOAT16);
    gt_matmul(z, x, y);
    printf("bfloat16: results differ from those of float32 by up to %.2f of %.0f\n",
           apart(z, right), gt_item(gt_max(NULL, gt_abs(NULL, right), GT_ALL, 0)));
    climb(7, 11, x, y, z, &p);
  }
  return gt_error() != GT_OK;
}
