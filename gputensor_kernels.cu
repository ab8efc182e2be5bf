/* gputensor_kernels.cu - what gputensor.h runs on an NVIDIA GPU: kernels and their launchers,
   nothing else. nvcc builds it beside the file with GPUTENSOR_IMPLEMENTATION. MIT licence: there.

   HOW TO READ IT. Part I does everything, plainly: copies, maps, reductions, softmax, orders,
   scatters, products and scans of any shape, strides and dtypes, each by a kernel that can be read
   in minutes. Part II does the same faster, in sections that can be skipped: each is a way, a row
   of the table in >>ways, with its kernel, launcher and plan together. Both parts give the same
   bits; only products differ, within the same error bound. -DGPUTENSOR_PLAIN compiles Part I alone.
   Who wants to know how a GPU multiplies matrices reads >>plain-map, for the words, and then
   >>plain-matmul; the lesson 12_matmul_ladder.cu has the steps from there to >>matmul-hopper, a
   kernel of one page each. Which kernel an operation takes stands in >>ways; what a new operation
   needs in >>interpreter, a new dtype in >>dtypes, a new kernel in >>ways.

   CONTENTS   (search for >>word)
   Part I, everything, plainly
     >>dtypes         the ten dtypes as C++ types
     >>converting     a dtype to a compute type and back
     >>interpreter    a program's value for one element
     >>launching      what the launchers of both parts share
     >>plain-map      each output element from the inputs at its place
     >>plain-reduce   folding by THE PLAN of gputensor.h
     >>plain-softmax  rows whose exponentials are divided by their sum
     >>plain-copy     elements of any strides, also picked by an index
     >>plain-order    positions in the order of their elements
     >>plain-scatter  folding elements into the places that an index names
     >>plain-matmul   the naive product, and the one in shared memory
     >>plain-scan     running folds by THE SCAN of gputensor.h
     >>device         what the device is, and what the code was built for
   Part II, faster ways
     >>tuning         every number that was found by measuring
     >>overlapping    kernels that start before the one in front of them has ended
     >>vectors        16 bytes at once, and batches of such vectors
     >>slots          an operand's column in shared memory
     >>loading        between a slot and memory: any dtype, any strides
     >>batches        the interpreter over a batch
     >>map-vectors    each output element from the inputs at its place, by whole vectors
     >>map-short      programs of one operation, without slots
     >>map-bfloat16   chains of bfloat16, which stays so in its slots
     >>map-plan       the choice between the ways of maps
     >>reduce         folding by THE PLAN of gputensor.h, and the tree over chunks
     >>softmax        softmax and its kind, rows in registers and columns
     >>copy           elements picked by an index; all other copies are maps
     >>copy-transposed  but for those of 16 bits that are transposed
     >>scan           running folds, a run of 16 by a lane
     >>radix          pairs of a key and a position, sorted by the key
     >>order          short rows, the first of long ones, and whole long ones
     >>scatter        folding into places that an index names, sorted by these
     >>matmul-epilogue  what follows a product
     >>matmul-plan    what the ways of products share on the host
     >>matmul-split   tiles that several blocks have a part of K of, and their sum
     >>matmul-tiled   a tiled product, by any of three engines
     >>matmul-tiny    products of microseconds, and what follows them, in one kernel
     >>matmul-dots    a matrix times a vector
     >>matmul-hopper  products on the tensor cores of sm_90a
     >>hopper-plan    their tiles, clusters and parts
     >>matmul-skinny  products of few rows, at the speed of memory
   Both
     >>ways           the table of ways for each primitive
     >>exports        what the header asks of this file

   NOTATION. C = A x B has M rows, N columns and sums over K; matrices are row-major, strides count
   elements. T is the compute type (float, double or int64_t), S the type of elements in memory. The
   comment above a kernel gives its grid, how many blocks it has, and its block, how many threads:

       the device   memory: all blocks see it; its bandwidth is TB/s, its latency some 500 clocks
         a block      runs on one of the device's multiprocessors, beside other blocks;
                      shared memory: up to 227 KB, which its threads alone see; some 30 clocks
           a warp       32 threads that execute the same instruction together
             a thread     registers: at most 255 words

   While a warp waits for memory, its multiprocessor runs others: that hides the latency, and is why
   a kernel has many more threads than the device has arithmetic units. threadIdx is a thread's
   number in its block, blockIdx its block's number in the grid. A barrier, __syncthreads: no thread
   of the block goes on before all of them have come to it. __grid_constant__ leaves a kernel's
   parameters where the launch put them, which all threads can read; __launch_bounds__ tells the
   compiler how many threads a block has, and so how many registers each may take.

   ARGUMENTS of kernels, see >>machine in gputensor.h. program: what is computed for one element.
   pre: the map that makes the values of a fold; post: the map behind a product. Of a fold, outer:
   how many outputs; n: the elements of each; inner: these are neighbours in memory, as the last dim
   is folded; if not, the outputs are. fits_int: all offsets fit in an int. early: what a product
   may do before the kernel in front of it has ended. scratch: memory for results on their way.

   WORDS, ours beside the field's
     way        a kernel variant           fold       a reduction
     slot       an operand in shared memory, a column of 16 bytes for each thread
     vector     16 bytes, the widest load of a thread (float4)
     lot        elements that are moved at once, such as a vector's
     batch      the vectors that a thread works on at once (a register tile); in products, where no
                thread has one, a batch of matrices
     line       elements side by side in memory: of a matrix a row or, transposed, a column
     along      in the direction of lines  across     in the other one: transposed
     ring       a pipeline of stages in shared memory
     brick      a swizzled tile in shared memory, 64 lines of 128 bytes
     form       a tile configuration       strip      a tile of few rows
     partition  how C is cut into tiles, and K (split-K)
     part       a range of K, or of sorted positions, that one block takes
     wave       the blocks that run at the same time
     piece      of a float32, one of the bfloat16 numbers that it is split into
     mirrored   of a value: -x, of an integer ~x, so that the least becomes the largest
     team       threads that share a row; a warp group */
#define GPUTENSOR_KERNELS
#include "gputensor.h"
#include <cuda.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <type_traits>
#include <utility>

#if defined(__USE_FAST_MATH__) || defined(__FAST_MATH__)
#error "gputensor gives the same bits everywhere and needs NaN: build without --use_fast_math"
#endif
#ifdef GPUTENSOR_NO_TENSOR_CORES
#error \
    "GPUTENSOR_NO_TENSOR_CORES is gone: use GPUTENSOR_WAYS in the environment, or GPUTENSOR_PLAIN"
#endif

#define GT__DEV static __device__ __forceinline__
#define GT__UNROLL _Pragma("unroll")
#define GT__LOOP _Pragma("unroll 1")
#define GT__EACH GT__UNROLL for (int i = 0; i < N; i++)

/* ==== Part I: everything, plainly ============================================================ */
/* ---- >>dtypes ----------------------------------------------------------------------------------
   Structures stand for the dtypes that C++ has no type for. They hold bits only, so that they can
   stand in unions and registers. A new dtype has a line in gt__by_dtype and, from GT_UINT8 on, a
   place in gt__short_kernels, as assertions at both say; its values come by gt__as_plain and go by
   gt__set, which take every integer type as they are. */
struct gt__bool {
  uint8_t bits;
};
struct gt__half {
  uint16_t bits;
};
struct gt__bfloat {
  uint16_t bits;
};
/* Elements that are copied as bits without a meaning, numbered behind the dtypes of gt_dtype. On
   their way they are the bits of a float. */
template <class I>
struct gt__raw {
  I bits;
};
enum { GT__RAW_8 = GT_DTYPES, GT__RAW_16 };

/* Calls f with a value whose type is that of `dtype`: one switch in place of ten functions. The
   usual dtypes stand first, since a switch is a tree of branches. */
template <class F>
GT__DEV void gt__by_dtype(int dtype, F f) {
  if (dtype == GT_FLOAT32) f(float());
  else if (dtype == GT_BFLOAT16) f(gt__bfloat());
  else if (dtype == GT_FLOAT16) f(gt__half());
  else switch (dtype) {
      case GT_BOOL: f(gt__bool()); break;
      case GT_UINT8: f(uint8_t()); break;
      case GT_INT8: f(int8_t()); break;
      case GT_INT16: f(int16_t()); break;
      case GT_INT32: f(int32_t()); break;
      case GT_INT64: f(int64_t()); break;
      case GT__RAW_8: f(gt__raw<uint8_t>()); break;
      case GT__RAW_16: f(gt__raw<uint16_t>()); break;
      default: f(double()); break; /* GT_FLOAT64 */
    }
}
static_assert(GT_DTYPES == 10, "gt__by_dtype has a line for each dtype, and gt__short_kernels");

/* ---- >>converting ------------------------------------------------------------------------------
   A float becomes an integer by truncation; what is too large becomes the largest, and NaN 0. An
   integer becomes a shorter one by dropping its upper bits; bool means "not zero". Before a float64
   or an int64 becomes a 16-bit float it is rounded to a float whose last bit is odd if anything was
   lost, so that rounding twice gives what rounding once does, as on the CPU. */
template <class X>
GT__DEV X gt__as_plain(X x) { /* as a type that C++ can convert */
  return x;
}
GT__DEV bool gt__as_plain(gt__bool x) { return x.bits != 0; }
GT__DEV float gt__as_plain(gt__bfloat x) { return gt__bf16_to_f32(x.bits); }
GT__DEV float gt__as_plain(gt__half x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}

GT__DEV float gt__odd(float x) { return x; }
GT__DEV float gt__odd(double x) { return gt__odd_f64(x); }
GT__DEV float gt__odd(int64_t x) { return gt__odd_i64(x); }
template <class T, class X>
GT__DEV void gt__set(T &y, X x) {
  y = (T)x;
}
template <class X>
GT__DEV void gt__set(gt__bool &y, X x) {
  y.bits = x != 0;
}
template <class X>
GT__DEV void gt__set(gt__half &y, X x) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(gt__odd(x)));
}
template <class X>
GT__DEV void gt__set(gt__bfloat &y, X x) {
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(gt__odd(x)));
#else
  y.bits = gt__f32_to_bf16(gt__odd(x));
#endif
}
template <class I, class X>
GT__DEV void gt__set(gt__raw<I> &y, X x) {
  y.bits = (I)__float_as_int((float)x);
}
template <class T, class I>
GT__DEV void gt__set(T &y, gt__raw<I> x) {
  y = (T)__int_as_float(x.bits);
}
/* The range of an integer type. */
template <class I>
constexpr int64_t gt__most = INT64_MAX >> (64 - 8 * sizeof(I) - std::is_unsigned<I>::value);
template <class I>
constexpr int64_t gt__least = std::is_unsigned<I>::value ? 0 : -gt__most<I> - 1;
template <class I>
GT__DEV std::enable_if_t<std::is_integral<I>::value> gt__set(I &y, float x) {
  y = (I)gt__to_i64_f32(x, gt__least<I>, gt__most<I>);
}
template <class I>
GT__DEV std::enable_if_t<std::is_integral<I>::value> gt__set(I &y, double x) {
  y = (I)gt__to_i64_f64(x, gt__least<I>, gt__most<I>);
}
template <class T, class S>
GT__DEV T gt__as(S x) {
  T y;
  gt__set(y, gt__as_plain(x));
  return y;
}
template <class T>
GT__DEV T gt__constant(gt__num x) {
  if constexpr (std::is_integral<T>::value) return x.i;
  else if constexpr (sizeof(T) == 4) return x.s;
  else return x.f;
}

/* ---- >>interpreter -----------------------------------------------------------------------------
   Each line of THE TABLE in gputensor.h becomes a structure for each compute type:
   gt__formula<OP, T>::of(a, b, c) is the operation's value. So a new line needs nothing more here.
   To be fast, a function of cost HEAVY also stands in GT__USUAL_FUNCTIONS, which take a batch at
   once, in GT__SHORT_FUNCTIONS, which do without slots, and, if it follows products, in
   GT__ACTIVATIONS. */
template <int OP, class T>
struct gt__formula;
#define GT__FORMULA(name, T, formula) \
  template <> \
  struct gt__formula<GT__OP_##name, T> { \
    GT__DEV T of(T a, T b, T c) { return (T)(formula); } \
  };
#define GT__F(name) gt__##name##_f32
#define GT__LINE(name, arity, result, cost, f, i) \
  GT__FORMULA(name, float, f) GT__FORMULA(name, int64_t, i)
GT__OPERATIONS(GT__LINE)
#undef GT__LINE
#undef GT__F
#define GT__F(name) gt__##name##_f64
#define GT__LINE(name, arity, result, cost, f, i) GT__FORMULA(name, double, f)
GT__OPERATIONS(GT__LINE)
#undef GT__LINE
#undef GT__F
template <int OP, class T>
GT__DEV T gt__apply(T a, T b = 0, T c = 0) {
  return gt__formula<OP, T>::of(a, b, c);
}
template <class T>
GT__DEV T gt__random_value(int op, const gt__program &p, uint64_t index, T low, T range) {
  index += p.offset;
  if constexpr (std::is_integral<T>::value) return gt__random_i64(p.seed, index, low, range);
  else if constexpr (sizeof(T) == 4) return gt__random_f32(op, p.seed, index);
  else return gt__random_f64(op, p.seed, index);
}

/* The accumulator machine of >>machine in gputensor.h, for one element: acc = op(acc, slot[b],
   slot[c]). a + b has the instructions LOAD slot 0, then add slot 1. All threads of a warp execute
   the same instruction, so the branches cost little. */
template <class T>
GT__DEV T gt__evaluate(const gt__program &p, T *slot, int64_t index) {
  T acc = 0;
  GT__LOOP for (int pc = 0; pc < p.n_ins; pc++) {
    const gt__ins i = p.ins[pc];
    const T b = slot[i.b], c = slot[i.c];
    switch (i.op) {
      case GT__LOAD: acc = b; break;
      case GT__SAVE: slot[i.d] = acc; break;
      case GT__INDEX: acc = (T)index; break;
      case GT__UNIFORM:
      case GT__NORMAL:
      case GT__INTEGER: acc = gt__random_value(i.op, p, index, b, c); break;
#define GT__LINE(name, arity, result, cost, f, i) \
  case GT__OP_##name: acc = gt__formula<GT__OP_##name, T>::of(acc, b, c); break;
        GT__OPERATIONS(GT__LINE)
#undef GT__LINE
    }
  }
  return acc;
}
/* Reads, as a T, and writes the element that lies `at` elements behind element 0 of an operand.
   Functions that are not inlined are compiled once for a type and not once for each kernel. */
template <class T>
static __device__ __noinline__ T gt__read_element(const gt__operand &x, int64_t at) {
  T value = 0;
  gt__by_dtype(x.dtype, [&](auto tag) {
    const auto *data = (const decltype(tag) *)x.data;
    value = gt__as<T>(data[at]);
  });
  return value;
}
template <class T>
static __device__ __noinline__ void gt__store_any(char *p, int dtype, T x) {
  gt__by_dtype(dtype, [&](auto tag) {
    typedef decltype(tag) S;
    *(S *)p = gt__as<S>(x);
  });
}
template <class T>
GT__DEV void gt__write_element(const gt__operand &x, int64_t at, T value) {
  gt__store_any(x.data + (at << x.size_log2), x.dtype, value);
}
/* The program's value at element i of the shape m.size, counted row by row. Behind a product
   `known` is 1, and the first input is `product`. */
template <class T>
static __device__ __noinline__ T gt__value_at(const gt__map_args &m, int64_t i, int known = 0,
                                              T product = 0) {
  const gt__program &p = m.program;
  T slot[GT__SLOTS];
  slot[0] = product;
  GT__LOOP for (int k = known; k < p.n_in; k++) {
    const gt__operand &x = m.in[k];
    slot[k] = gt__read_element<T>(x, gt__offset(i, m.ndim, m.size, x.stride));
  }
  GT__LOOP for (int k = 0; k < p.n_const; k++) {
    slot[p.n_in + k] = gt__constant<T>(p.constant[k]);
  }
  return gt__evaluate(p, slot, i);
}
/* Stores element i of the output. */
template <class T>
GT__DEV void gt__store_at(const gt__map_args &m, int64_t i, T value) {
  const int64_t to = gt__offset(i, m.ndim, m.size, m.out.stride);
  gt__write_element(m.out, to, value);
}

/* ---- >>launching -------------------------------------------------------------------------------
   A launcher runs on the host and has five steps: check, return at once for nothing to do, choose,
   launch on the caller's stream, report. */
#define GT__POINTER(...) ((const void *)(__VA_ARGS__))
/* A kernel's three forms, in the order of the compute types. */
#define GT__EACH_COMPUTE(kernel) \
  GT__POINTER(kernel<float>), GT__POINTER(kernel<double>), GT__POINTER(kernel<int64_t>)
enum { GT__THREADS = 256 };       /* of a block in Part I: eight warps */
GT__DEV int64_t gt__my_number() { /* of the thread, in the grid */
  return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}
static unsigned gt__blocks(int64_t items, int64_t per_block) {
  return (unsigned)min((items - 1) / per_block + 1, (int64_t)INT32_MAX);
}
static bool gt__is_program(const gt__program *p) {
  return p->compute <= GT__I64 && p->n_ins <= GT__CODE && p->n_in <= GT__INPUTS &&
         p->n_in + p->n_const <= p->n_slot && p->n_slot <= GT__SLOTS;
}
/* kernel<<<blocks, threads, 0, stream>>>(*args): starts when all work before it on the stream has
   ended. An error is returned, and does not stay behind as CUDA's last error. */
static int gt__start(const void *kernel, unsigned blocks, dim3 threads, const void *args,
                     void *stream) {
  void *parameters[] = {(void *)args};
  const cudaError_t error =
      cudaLaunchKernel(kernel, dim3(blocks), threads, parameters, 0, (cudaStream_t)stream);
  if (error != cudaSuccess) (void)cudaGetLastError();
  return (int)error;
}
/* Brings kernels to the device. At their first launch it would wait for the kernels that run. */
static cudaError_t gt__load(const void *const *kernels, int n) {
  cudaFuncAttributes attributes;
  cudaError_t error = cudaSuccess;
  for (int i = 0; i < n && !error; i++)
    if (kernels[i]) error = cudaFuncGetAttributes(&attributes, kernels[i]);
  return error;
}
/* The plan of a way that takes every operation and needs no scratch memory. */
static int gt__plan_none(gt__op *) { return 1; }

/* ---- >>plain-map -------------------------------------------------------------------------------
   Each element of the output from the input elements at its (broadcast) place, for any shape,
   strides and dtypes. A thread makes one element: of a + b, gt__value_at reads a's element and b's
   and adds them, gt__store_at stores the sum. Block: 256 threads. Grid: elements / 256, rounded up,
   so that the last block may have idle threads.

       thread    0   1   2   3  ...  31 | 32  33 ...     32 threads are a warp and load together:
       element   0   1   2   3  ...  31 | 32  33 ...     here 32 neighbours, one access of 128 bytes

   Such an access is called coalesced. Of an operand whose last stride is not 1 a warp's elements
   lie in up to 32 places, and for each the memory moves a sector, 32 bytes: for float32 up to 8
   times as much. So Part II transposes such operands on their way. */
template <class T>
__global__ void __launch_bounds__(GT__THREADS)
    gt__plain_map_kernel(const __grid_constant__ gt__map_args m) {
  const int64_t i = gt__my_number();
  if (i >= m.count) return;
  gt__store_at(m, i, gt__value_at<T>(m, i));
}
static const void *const gt__plain_map_kernels[] = {GT__EACH_COMPUTE(gt__plain_map_kernel)};
static int gt__start_plain_map(const gt__map_args *m, void *queue) {
  const gt__program *p = &m->program;
  if (!gt__is_program(p) || m->count < 0) return cudaErrorInvalidValue;
  if (m->count == 0) return cudaSuccess;
  const unsigned blocks = gt__blocks(m->count, GT__THREADS);
  return gt__start(gt__plain_map_kernels[p->compute], blocks, GT__THREADS, m, queue);
}
static int gt__run_plain_map(const gt__op *op, void *queue) {
  return gt__start_plain_map(&op->u.map, queue);
}

/* ---- >>plain-reduce ----------------------------------------------------------------------------
   Folds n elements to each of `outer` outputs in the order of THE PLAN, see gputensor.h, which
   fixes how every sum is rounded: elements are folded to chunks, and chunks by a tree. */
/* A running result: a value and, for argmax and argmin, where it was found. */
template <class T, class I = int64_t>
struct gt__found {
  T value;
  I at;
};
static_assert(sizeof(gt__found<double>) <= GT__PARTIAL, "scratch has room for such a result");
template <class T>
GT__DEV T gt__identity(int fold) {
  if constexpr (std::is_integral<T>::value) return gt__identity_i64(fold);
  else if constexpr (sizeof(T) == 4) return gt__identity_f32(fold);
  else return gt__identity_f64(fold);
}
template <class T>
GT__DEV T gt__fold_values(int fold, T a, T b) {
  if constexpr (std::is_integral<T>::value) return gt__fold_i64(fold, a, b);
  else if constexpr (sizeof(T) == 4) return gt__fold_f32(fold, a, b);
  else return gt__fold_f64(fold, a, b);
}
GT__DEV bool gt__finds_place(int fold) {
  return fold == GT__FOLD_ARGMAX || fold == GT__FOLD_ARGMIN;
}
/* Is b better than a, for argmax or argmin? Of equal values the one that stands first; NaN wins. */
template <class T>
GT__DEV bool gt__is_better(int fold, const gt__found<T> &a, const gt__found<T> &b) {
  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
  if (a_is_nan != b_is_nan) return b_is_nan;
  if (a_is_nan || a.value == b.value) return b.at < a.at;
  return fold == GT__FOLD_ARGMAX ? b.value > a.value : b.value < a.value;
}
/* Two results as one. */
template <class T>
GT__DEV gt__found<T> gt__fold_found(int fold, const gt__found<T> &a, const gt__found<T> &b) {
  if (gt__finds_place(fold)) return gt__is_better(fold, a, b) ? b : a;
  const T value = gt__fold_values(fold, a.value, b.value);
  return {value, 0};
}
/* Folds the elements from `begin` to `end`, of which value(k) is the k-th. `inner`, the elements
   are neighbours: a block folds a chunk. Its 256 threads are the lanes of THE PLAN and fold every
   256th element each; then lanes are folded in halves, through shared memory, which all threads of
   a block see:

       element   0  1  2 ... 255 256 257 ...        step 1   lanes   0..127 take in 128..255
       lane      0  1  2 ... 255   0   1 ...        step 2   lanes   0..63  take in  64..127
                                                    ...
       a warp's loads are coalesced                 step 8   lane    0      takes in  1: it has all

   The barrier before a step makes what other threads wrote in the last one visible. Not inner: a
   thread folds a chunk alone, in order, and its neighbours do so for the neighbouring outputs,
   whose elements are neighbours, so that these loads are coalesced, too. */
template <class T, class F>
GT__DEV gt__found<T> gt__fold_chunk(int fold, bool inner, int64_t begin, int64_t end, F value) {
  static_assert((int)GT__LANES == (int)GT__THREADS, "each thread of a block is a lane");
  __shared__ gt__found<T> lane[GT__LANES];
  const int t = threadIdx.x, step = inner ? GT__THREADS : 1;
  gt__found<T> mine = {gt__identity<T>(fold), INT64_MAX};
  if (inner) begin += t;
  for (int64_t k = begin; k < end; k += step) {
    const gt__found<T> next = {value(k), k};
    mine = gt__fold_found(fold, mine, next);
  }
  if (!inner) return mine;
  __syncthreads(); /* all threads have read the result of the chunk before */
  lane[t] = mine;
  for (int half = GT__LANES / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t >= half) continue;
    lane[t] = gt__fold_found(fold, lane[t], lane[t + half]);
  }
  __syncthreads();
  return lane[0];
}
/* The tree over n chunks, of which chunk(c) is the c-th: neighbours are folded in pairs, the
   results in pairs again, and so on; a last one without a neighbour goes up as it is. One pass
   does it, as one counts in binary: left[d] holds 2^d chunks and waits for the 2^d behind them. At
   the end the last result takes in those that still wait, of which n has a bit each. */
template <class T, class F>
GT__DEV gt__found<T> gt__fold_tree(int fold, int64_t n, F chunk) {
  gt__found<T> left[64], found = {};
  GT__LOOP for (int64_t c = 0; c < n; c++) {
    int d = 0;
    found = chunk(c);
    for (; c >> d & 1; d++) { found = gt__fold_found(fold, left[d], found); }
    left[d] = found;
  }
  GT__LOOP for (int d = __ffsll(n); n >> d > 0; d++) {
    const bool waits = n >> d & 1;
    if (waits) found = gt__fold_found(fold, left[d], found);
  }
  return found;
}
/* What follows the fold of output o: a division, a root, and the store. */
template <class T>
GT__DEV void gt__store_result(const gt__reduce_args &p, int64_t o, const gt__found<T> &found) {
  const gt__operand &out = p.out;
  const int64_t to = gt__offset(o, p.n_kept, p.pre.size, out.stride);
  const T divisor = gt__constant<T>(p.divisor);
  T value = found.value;
  if (p.finish & GT__DIVIDE) value = gt__apply<GT__OP_div>(value, divisor);
  if (p.finish & GT__ROOT) value = gt__apply<GT__OP_sqrt>(value);
  if (gt__finds_place(p.fold)) gt__write_element(out, to, found.at);
  else gt__write_element(out, to, value);
}
/* Which rows, or chunks of rows, a thread makes or helps to make: first, first + step, ... (a
   grid-stride loop). */
struct gt__grid_loop {
  int64_t first, step;
};
GT__DEV gt__grid_loop gt__my_grid_loop(bool inner) {
  if (inner) return {blockIdx.x, gridDim.x};
  return {gt__my_number(), (int64_t)gridDim.x * blockDim.x};
}
template <class T>
GT__DEV void gt__make_soft_row(const gt__reduce_args &p, int64_t row); /* see >>plain-softmax */
/* The first kernel folds chunks, a block each or, if not inner, a thread. Where an output has one
   chunk, its result is the output. Else that of chunk c of output o goes to scratch[c * outer + o],
   so that neighbouring threads of the second kernel read neighbours. Block: 256 threads. Grid: a
   block, or thread, for each chunk of each output. */
template <class T>
__global__ void __launch_bounds__(GT__THREADS)
    gt__plain_reduce_kernel(const __grid_constant__ gt__reduce_args p) {
  const gt__grid_loop mine = gt__my_grid_loop(p.inner);
  const int64_t chunks = p.soft ? 1 : p.n_chunk;
  gt__found<T> *scratch = (gt__found<T> *)p.pre.scratch;
  for (int64_t i = mine.first; i < p.outer * chunks; i += mine.step) {
    const int64_t c = i / p.outer, o = i - c * p.outer;
    if (!std::is_integral<T>::value && p.soft) {
      gt__make_soft_row<T>(p, o);
      continue;
    }
    const int64_t begin = c * p.chunk, end = min(begin + p.chunk, p.n);
    const int64_t row = o * p.n;
    const auto value = [&](int64_t k) { return gt__value_at<T>(p.pre, row + k); };
    const gt__found<T> found = gt__fold_chunk<T>(p.fold, p.inner, begin, end, value);
    if (p.inner && threadIdx.x > 0) continue;
    if (p.n_chunk == 1) gt__store_result(p, o, found);
    else scratch[i] = found;
  }
}
/* The second kernel folds the results of chunks, a thread those of one output. Block: 256 threads.
   Grid: outputs / 256, rounded up. */
template <class T>
__global__ void __launch_bounds__(GT__THREADS)
    gt__plain_tree_kernel(const __grid_constant__ gt__reduce_args p) {
  const gt__found<T> *scratch = (const gt__found<T> *)p.pre.scratch;
  const int64_t o = gt__my_number();
  if (o >= p.outer) return;
  const auto chunk = [&](int64_t c) { return scratch[c * p.outer + o]; };
  gt__store_result(p, o, gt__fold_tree<T>(p.fold, p.n_chunk, chunk));
}
static const void *const gt__plain_reduce_kernels[] = {GT__EACH_COMPUTE(gt__plain_reduce_kernel)};
static const void *const gt__plain_tree_kernels[] = {GT__EACH_COMPUTE(gt__plain_tree_kernel)};
static int gt__plan_plain_reduce(gt__op *op) {
  const gt__reduce_args *r = &op->u.reduce;
  const size_t chunks = (size_t)(r->outer * r->n_chunk);
  if (r->n_chunk > 1 && !r->soft) op->scratch = chunks * GT__PARTIAL;
  return 1;
}
/* The fold of chunks, and the tree where there are several. A row of a softmax is one item. */
static int gt__run_plain_reduce(const gt__op *op, void *queue) {
  const gt__reduce_args *r = &op->u.reduce;
  const gt__program *p = &r->pre.program;
  if (!gt__is_program(p) || r->outer < 0 || r->n < 0) return cudaErrorInvalidValue;
  if (r->outer == 0) return cudaSuccess;
  if (r->soft && p->compute == GT__I64) return cudaErrorInvalidValue;
  const int64_t chunks = r->soft ? 1 : r->n_chunk;
  if (chunks > 1 && !r->pre.scratch) return cudaErrorInvalidValue;
  const unsigned blocks = gt__blocks(r->outer * chunks, r->inner ? 1 : GT__THREADS);
  const unsigned tree_blocks = gt__blocks(r->outer, GT__THREADS);
  const int error = gt__start(gt__plain_reduce_kernels[p->compute], blocks, GT__THREADS, r, queue);
  if (error || chunks == 1) return error;
  return gt__start(gt__plain_tree_kernels[p->compute], tree_blocks, GT__THREADS, r, queue);
}

/* ---- >>plain-softmax ---------------------------------------------------------------------------
   A row is the n values v of an output. Its largest value m is subtracted first, so that no power
   of e overflows; s is the sum of exp(v - m). The results:

       softmax       exp(v - m) / s
       log_softmax   (v - m) - log(s)
       logsumexp     log(s) + m, one number for a row

   Each row is read three times, for m, for s and for the results. It is a part of the kernel of
   >>plain-reduce, whose code for the values serves both, and m and s are folds as there, with the
   barriers of gt__fold_chunk. `inner`: a block makes a row, a thread every 256th element. Else a
   thread makes a row, which lies across the lines of memory, and its neighbours make the rows
   beside it. */
/* A fold over a row in the order of THE PLAN; all threads of a block have the result. */
template <class T, class F>
GT__DEV T gt__fold_row(const gt__reduce_args &p, int fold, F value) {
  const auto chunk = [&](int64_t c) {
    const int64_t begin = c * p.chunk;
    const int64_t end = min(begin + p.chunk, p.n);
    return gt__fold_chunk<T>(fold, p.inner, begin, end, value);
  };
  return gt__fold_tree<T>(fold, p.n_chunk, chunk).value;
}
/* The row of an output: its results, or with LOGSUMEXP the one result. */
template <class T>
GT__DEV void gt__make_soft_row(const gt__reduce_args &p, int64_t row) {
  const int64_t first = row * p.n;
  const int lane = p.inner ? threadIdx.x : 0;
  const int step = p.inner ? GT__THREADS : 1;
  const bool single = p.soft == GT__LOGSUMEXP; /* one result for the row */
  const auto value = [&](int64_t k) { return gt__value_at<T>(p.pre, first + k); };
  T most = gt__fold_row<T>(p, GT__FOLD_MAX, value);
  if (single && isinf((double)most)) most = 0;
  const auto less = [&](int64_t k) {
    const T x = value(k);
    return gt__apply<GT__OP_sub>(x, most);
  };
  const auto power = [&](int64_t k) {
    const T x = less(k);
    return gt__apply<GT__OP_exp>(x);
  };
  const T sum = gt__fold_row<T>(p, GT__FOLD_SUM, power);
  const T log_sum = gt__apply<GT__OP_log>(sum);
  for (int64_t k = lane; k < p.n && !single; k += step) {
    T result;
    if (p.soft == GT__SOFTMAX) result = gt__apply<GT__OP_div>(power(k), sum);
    else result = gt__apply<GT__OP_sub>(less(k), log_sum);
    gt__store_at(p.pre, first + k, result);
  }
  if (!single || lane > 0) return;
  const T result = gt__apply<GT__OP_add>(log_sum, most);
  gt__store_result(p, row, gt__found<T>{result, 0});
}

/* ---- >>plain-copy ------------------------------------------------------------------------------
   Elements of one size, whatever they mean, from any strides to any strides. With an index, an
   element is read k * gather_stride further on, where k is its entry of the index; a bad entry
   gives 0, and sets *fault, a word that the host reads. A thread moves one element, and neighbours
   write neighbours. Where the source is a transposed matrix of H rows, whose columns lie side by
   side in memory, a row is read in steps of H:

       thread      0   1    2    3 ...  31     of a warp
       writes at   0   1    2    3 ...  31     coalesced: one access of 128 bytes
       reads at    0   H   2H   3H ... 31H     32 sectors, one for each element

   Neighbouring rows want the rest of these sectors, but not at the same time. So Part II goes
   through squares, see >>copy-transposed. Block: 256 threads. Grid: elements / 256, rounded up. */
GT__DEV void gt__set_fault(int32_t *fault) {
  if (!fault) return;
  *(volatile int32_t *)fault = 1;
  __threadfence_system(); /* the host sees it */
}
/* k[i] becomes the entry of the index at at[i]; without an index it stays as it is. */
template <class J, int N>
GT__DEV void gt__read_entries(const gt__operand &index, const J (&at)[N], int64_t (&k)[N]) {
  if (index.dtype == GT_INT32) {
    GT__EACH k[i] = ((const int32_t *)index.data)[at[i]];
  } else if (index.data) {
    GT__EACH k[i] = ((const int64_t *)index.data)[at[i]];
  }
}
/* A thread moves N elements, 256 apart, or, behind the end, the last one again, and reads all of
   them before it writes. Coordinates come from divisions of unsigned numbers I, of which J are the
   signed. Where all fits in an int these have 32 bits, whose division is faster. */
template <class S, int N, class I, class J>
GT__DEV void gt__copy_elements(const gt__copy_args &p) {
  const int64_t first = (int64_t)blockIdx.x * N * GT__THREADS + threadIdx.x;
  const S *const src = (const S *)p.src.data;
  S *const dst = (S *)p.dst.data;
  I left[N];
  J to[N] = {};
  J from[N] = {};
  J entry[N] = {};
  int64_t k[N] = {};
  bool exists[N];
  S value[N];
  GT__EACH {
    const int64_t number = first + i * GT__THREADS;
    left[i] = (I)min(number, p.count - 1);
  }
  GT__LOOP for (int d = p.ndim - 1; d >= 0; d--) {
    GT__EACH {
      const I n = (I)p.size[d];
      const I quotient = d ? left[i] / n : 0;
      const J at = left[i] - quotient * n; /* the coordinate in dim d */
      left[i] = quotient;
      to[i] += at * (J)p.dst.stride[d];
      from[i] += at * (J)p.src.stride[d];
      entry[i] += at * (J)p.index.stride[d];
    }
  }
  gt__read_entries(p.index, entry, k);
  GT__EACH {
    value[i] = S();
    exists[i] = k[i] >= 0 && k[i] < p.gather_size;
    if (exists[i]) value[i] = src[from[i] + k[i] * p.gather_stride];
  }
  GT__EACH {
    dst[to[i]] = value[i];
    if (!exists[i]) gt__set_fault(p.fault);
  }
}
template <class S, int N>
GT__DEV void gt__copy_my_elements(const gt__copy_args &p) {
  if (p.fits_int) gt__copy_elements<S, N, uint32_t, int32_t>(p);
  else gt__copy_elements<S, N, uint64_t, int64_t>(p);
}
template <class S>
__global__ void __launch_bounds__(GT__THREADS)
    gt__plain_copy_kernel(const __grid_constant__ gt__copy_args p) {
  gt__copy_my_elements<S, 1>(p);
}
static const void *const gt__plain_copy_kernels[] = {
    GT__POINTER(gt__plain_copy_kernel<uint8_t>), GT__POINTER(gt__plain_copy_kernel<uint16_t>),
    GT__POINTER(gt__plain_copy_kernel<uint32_t>), GT__POINTER(gt__plain_copy_kernel<uint64_t>)};
static int gt__run_plain_copy(const gt__op *op, void *queue) {
  const gt__copy_args *c = &op->u.copy;
  if (c->kind != GT__ELEMENTS || c->count < 0) return cudaErrorInvalidValue;
  if (c->dst.dtype != c->src.dtype) return cudaErrorInvalidValue;
  if (c->count == 0) return cudaSuccess;
  const unsigned blocks = gt__blocks(c->count, GT__THREADS);
  return gt__start(gt__plain_copy_kernels[c->dst.size_log2], blocks, GT__THREADS, c, queue);
}

/* ---- >>plain-order -----------------------------------------------------------------------------
   The order of rows, see gt__order_args. For each element a thread counts those of its row that
   come before it, which have a smaller key, or the same key and a lower position: their number is
   its place. That is n comparisons for each of n elements; >>radix sorts. Block: 256 threads. Grid:
   elements / 256, rounded up. */
template <class F> /* calls f with a 0 of the unsigned integer type that has this size */
GT__DEV uint64_t gt__by_size(int size_log2, F f) {
  if (size_log2 == 0) return f(uint8_t());
  if (size_log2 == 1) return f(uint16_t());
  return size_log2 == 2 ? f(uint32_t()) : f(uint64_t());
}
GT__DEV uint64_t gt__key_at(const gt__order_args &a, int64_t at) {
  return gt__by_size(a.x.size_log2, [&](auto zero) {
    const auto *x = (const decltype(zero) *)a.x.data;
    return gt__order_key(&a, x[at]);
  });
}
__global__ void __launch_bounds__(GT__THREADS)
    gt__plain_order_kernel(const __grid_constant__ gt__order_args a) {
  const int64_t i = gt__my_number(), row = i / a.n;
  int64_t place = 0;
  if (row >= a.rows) return;
  const uint64_t key = gt__key_at(a, i);
  for (int64_t k = row * a.n; k < (row + 1) * a.n; k++) {
    const uint64_t other = gt__key_at(a, k);
    place += other < key || (other == key && k < i);
  }
  if (place >= a.keep) return;
  int64_t *const out = (int64_t *)a.out.data + row * a.keep;
  out[place] = i - row * a.n;
}
static const void *const gt__plain_order_kernels[] = {GT__POINTER(gt__plain_order_kernel)};
static int gt__run_plain_order(const gt__op *op, void *queue) {
  const gt__order_args *a = &op->u.order;
  if (a->keep < 1 || a->keep > a->n) return cudaErrorInvalidValue;
  const unsigned blocks = gt__blocks(a->rows * a->n, GT__THREADS);
  return gt__start(gt__plain_order_kernels[0], blocks, GT__THREADS, a, queue);
}

/* ---- >>plain-scatter ---------------------------------------------------------------------------
   Elements are folded into the places of `out` that an index names, in the order that
   gt__scatter_args describes: the n positions of the index each name a place, and bring `rest`
   elements there, such as a row. A thread makes one element of one place. It looks at all
   positions of the index twice: first it counts those that go to its place, which shapes the tree
   of THE PLAN; then it folds what they bring, in runs of GT__ROWS, 32, and the runs by that tree.
   Block: 256 threads. Grid: elements of all places / 256, rounded up. */
/* An element in memory, of type S; gt__operand as S stands for the dtype that the operand names. */
template <class T, class S>
GT__DEV T gt__read_as(const gt__operand &x, int64_t at) {
  if constexpr (std::is_same<S, gt__operand>::value) {
    return gt__read_element<T>(x, at);
  } else {
    const S *data = (const S *)x.data;
    return gt__as<T>(data[at]);
  }
}
template <class T, class S>
GT__DEV void gt__write_as(const gt__operand &x, int64_t at, T value) {
  if constexpr (std::is_same<S, gt__operand>::value) {
    gt__write_element(x, at, value);
  } else {
    S *data = (S *)x.data;
    data[at] = gt__as<S>(value);
  }
}
/* Element e of a place takes in the value of what goes there. */
template <class T, class S>
GT__DEV void gt__end_place(const gt__scatter_args &a, int64_t place, int64_t e, T value) {
  const int64_t at = gt__scatter_to(&a, place, e);
  if (a.include_self) {
    const T old = gt__read_as<T, S>(a.out, at);
    value = gt__fold_values(a.fold, old, value);
  }
  gt__write_as<T, S>(a.out, at, value);
}
template <class T>
__global__ void __launch_bounds__(GT__THREADS)
    gt__plain_scatter_kernel(const __grid_constant__ gt__scatter_args a) {
  const int64_t i = gt__my_number();
  const int64_t place = i / a.rest, e = i - place * a.rest;
  int64_t found = 0, p = 0;
  if (place >= a.inner * a.entries) return;
  for (int64_t k = 0; k < a.n; k++) {
    const int64_t to = gt__scatter_place(&a, k);
    if (to < 0 && i == 0) gt__set_fault(a.fault);
    if (to == place) found++;
  }
  if (!found) return;
  const auto run = [&](int64_t) {
    gt__found<T> sum = {gt__identity<T>(a.fold), 0};
    for (int taken = 0; taken < GT__ROWS && p < a.n; p++) {
      if (gt__scatter_place(&a, p) != place) continue;
      const int64_t at = gt__scatter_from(&a, &a.src, p, e);
      const T value = gt__read_element<T>(a.src, at);
      sum.value = gt__fold_values(a.fold, sum.value, value);
      taken++;
    }
    return sum;
  };
  const int64_t runs = (found - 1) / GT__ROWS + 1;
  const gt__found<T> sum = gt__fold_tree<T>(a.fold, runs, run);
  gt__end_place<T, gt__operand>(a, place, e, sum.value);
}
static const void *const gt__plain_scatter_kernels[] = {GT__EACH_COMPUTE(gt__plain_scatter_kernel)};
static int gt__run_plain_scatter(const gt__op *op, void *queue) {
  const gt__scatter_args *a = &op->u.scatter;
  if (a->n <= 0 || a->rest <= 0) return cudaErrorInvalidValue;
  const int64_t elements = a->inner * a->entries * a->rest;
  const unsigned blocks = gt__blocks(elements, GT__THREADS);
  return gt__start(gt__plain_scatter_kernels[a->compute], blocks, GT__THREADS, a, queue);
}

/* ---- >>plain-matmul ----------------------------------------------------------------------------
   C = A x B for batches of matrices of any shape, strides and dtypes, and then the program behind
   the product: sums go to scratch, and from there to C by a map, >>plain-map. C has M rows and N
   columns, A has K columns and B K rows: C[m][n] is the sum over k of A[m][k] * B[k][n]. 32
   products make a short sum, and the short sums are added up, since the error of a sum grows with
   its length. */
enum { GT__SHORT_SUM = 32 }; /* products */
template <class T>
GT__DEV T gt__multiply_add(T a, T b, T sum) {
  return gt__apply<GT__OP_fma>(a, b, sum);
}
template <class T>
GT__DEV T gt__add_up(T a, T b) {
  return gt__apply<GT__OP_add>(a, b);
}
/* A matrix in memory: where its element 0 is, its size, and its strides. */
struct gt__matrix {
  int64_t at, rows, columns, row_stride, column_stride;
};
GT__DEV int64_t gt__batch_at(const gt__matmul_args &p, const gt__operand &x, int64_t batch) {
  return gt__offset(batch, p.n_batch, p.post.size, x.stride);
}
GT__DEV gt__matrix gt__matrix_a(const gt__matmul_args &p, int64_t batch) {
  return {gt__batch_at(p, p.a, batch), p.m, p.k, p.a_row, p.a_col};
}
GT__DEV gt__matrix gt__matrix_b(const gt__matmul_args &p, int64_t batch) {
  return {gt__batch_at(p, p.b, batch), p.k, p.n, p.b_row, p.b_col};
}
/* An element of a matrix, or 0 outside of it. */
template <class T>
GT__DEV T gt__read_matrix(const gt__operand &x, const gt__matrix &m, int64_t row, int64_t column) {
  if (row >= m.rows || column >= m.columns) return 0;
  const int64_t along = column * m.column_stride;
  return gt__read_element<T>(x, m.at + row * m.row_stride + along);
}

/* The naive product: a thread makes one element of C, on its own. It is the definition; >>ways asks
   it only for what the next one refuses. Block: 256 threads. Grid: elements of C / 256, rounded
   up.

                       B  . . n . .     The thread of C[m][n] reads row m of A and column n of B.
                          . . | . .     The 32 threads of a warp have neighbouring n, so their 32
                          . . v . .     reads of row k of B are coalesced, and of A they read the
       A  . . . . .    C  . . . . .     same element, which one access brings to all of them.
        m --------->      . . x . .     N x N matrices have 2 N^2 elements, but 2 N^3 are read: the
          . . . . .       . . . . .     arithmetic units wait for memory and its caches. */
template <class T>
__global__ void __launch_bounds__(GT__THREADS)
    gt__naive_matmul_kernel(const __grid_constant__ gt__matmul_args p) {
  const int64_t i = gt__my_number(), lines = i / p.n; /* lines: rows of C before this one, of all
                                                          matrices one after the other */
  if (i >= p.batch * p.m * p.n) return;
  const int64_t column = i - lines * p.n, row = lines % p.m;
  const gt__matrix a = gt__matrix_a(p, lines / p.m);
  const gt__matrix b = gt__matrix_b(p, lines / p.m);
  T sum = 0;
  for (int64_t begin = 0; begin < p.k; begin += GT__SHORT_SUM) {
    const int64_t end = min(begin + GT__SHORT_SUM, p.k);
    T short_sum = 0;
    for (int64_t k = begin; k < end; k++) {
      const T x = gt__read_matrix<T>(p.a, a, row, k);
      const T y = gt__read_matrix<T>(p.b, b, k, column);
      short_sum = gt__multiply_add(x, y, short_sum);
    }
    sum = gt__add_up(sum, short_sum);
  }
  T *products = (T *)p.post.scratch;
  products[i] = sum;
}

/* The product in shared memory: a block makes a tile of C, 32 x 32 elements, each thread one of
   them. In a step the block brings a tile of A and a tile of B from memory to shared memory, a
   thread one element of each, and multiplies the tiles. Each element that was brought is used 32
   times, so memory is read 32 times less. Block: 32 x 32 threads, of which those with equal y, a
   row of the tile, are a warp. Grid: the tiles of C in all matrices.

                       B  . [k] .        For all steps k along K:
                          . [k] .          1 bring tile k of A and tile k of B
       A  .  .  .      C  .  .  .          2 barrier: both tiles are there
         [k][k][k]        . [x] .          3 a thread multiplies a row of A's tile by a column of
          .  .  .         .  .  .            B's: 32 products, added up in a register
                                           4 barrier: nobody reads the tiles any longer

   Without the first barrier a thread would read elements before other threads have brought them;
   without the second it would bring new ones over elements that others still read.

   Shared memory is 32 banks side by side, each 4 bytes wide: word w is in bank w % 32. It serves a
   warp at once if no two threads want different words of one bank. In step 3 a warp wants one
   element of A's tile, the same for all, and 32 neighbours of B's. A transposed operand is brought
   column by column, so that the loads of a warp are coalesced; then the warp stores 32 elements
   that stand below each other in the tile. In rows of 32 they would all lie in one bank, a bank
   conflict, which takes 32 times as long. One column more, which is not used, prevents that:

       element           [0][0]  [1][0]  [2][0]  [3][0]
       rows of 32 words  bank 0  bank 0  bank 0  bank 0
       rows of 33 words  bank 0  bank 1  bank 2  bank 3

   So it is for float. A double or an int64_t takes two banks, and a warp is served in two steps.

   What is left to gain: each product reads two elements of shared memory, which now limits the
   speed. In Part II a thread makes many elements of C and reads each element for several of them
   into registers, copies are on their way while it multiplies, and tensor cores multiply. */
enum { GT__SQUARE = 32 }; /* rows and columns of a tile */
template <class T>
struct gt__square {
  T x[GT__SQUARE][GT__SQUARE + 1];
};
__host__ __device__ __forceinline__ int64_t
gt__squares_along(int64_t n) { /* that n elements need */
  return (n - 1) / GT__SQUARE + 1;
}
/* Brings the tile that begins at a row and a column of a matrix. The threads of a warp have
   neighbouring x, which counts along the dim with the shorter stride. */
template <class T>
GT__DEV void gt__bring_square(gt__square<T> *tile, const gt__operand &operand, const gt__matrix &m,
                              int64_t row, int64_t column) {
  const bool transposed = m.row_stride < m.column_stride;
  const int r = transposed ? threadIdx.x : threadIdx.y;
  const int c = transposed ? threadIdx.y : threadIdx.x;
  tile->x[r][c] = gt__read_matrix<T>(operand, m, row + r, column + c);
}
template <class T>
__global__ void __launch_bounds__(GT__SQUARE *GT__SQUARE)
    gt__shared_matmul_kernel(const __grid_constant__ gt__matmul_args p) {
  static_assert((int)GT__SQUARE == (int)GT__SHORT_SUM, "both products have the same bits");
  __shared__ gt__square<T> tile_a, tile_b;
  const int x = threadIdx.x, y = threadIdx.y;
  const int64_t across = gt__squares_along(p.n), down = gt__squares_along(p.m);
  const int64_t lines = blockIdx.x / across, batch = lines / down;   /* lines: rows of tiles */
  const int64_t column = (blockIdx.x - lines * across) * GT__SQUARE; /* where the tile begins */
  const int64_t row = lines % down * GT__SQUARE;
  const gt__matrix a = gt__matrix_a(p, batch);
  const gt__matrix b = gt__matrix_b(p, batch);
  T sum = 0;
  for (int64_t k = 0; k < p.k; k += GT__SQUARE) {
    gt__bring_square(&tile_a, p.a, a, row, k);
    gt__bring_square(&tile_b, p.b, b, k, column);
    __syncthreads(); /* both tiles are there */
    T short_sum = 0;
    GT__UNROLL for (int i = 0; i < GT__SQUARE; i++) {
      const T of_a = tile_a.x[y][i]; /* A[row + y][k + i] */
      const T of_b = tile_b.x[i][x]; /* B[k + i][column + x] */
      short_sum = gt__multiply_add(of_a, of_b, short_sum);
    }
    sum = gt__add_up(sum, short_sum);
    __syncthreads(); /* nobody reads the tiles any longer */
  }
  /* Threads outside of C have added up zeros until here, as every thread of a block must come to
     each barrier. */
  if (row + y >= p.m || column + x >= p.n) return;
  const int64_t line = batch * p.m + row + y;
  T *products = (T *)p.post.scratch;
  products[line * p.n + column + x] = sum;
}
static const void *const gt__naive_matmul_kernels[] = {GT__EACH_COMPUTE(gt__naive_matmul_kernel)};
static const void *const gt__shared_matmul_kernels[] = {GT__EACH_COMPUTE(gt__shared_matmul_kernel)};
static bool gt__is_product(const gt__matmul_args *p) {
  const gt__program *behind = &p->post.program;
  if (!gt__is_program(behind) || behind->n_in < 1) return false;
  if (p->compute != behind->compute) return false;
  return p->m >= 0 && p->n >= 0 && p->k >= 0 && p->batch >= 0;
}
static int gt__plan_product(gt__op *op) {
  const gt__matmul_args *p = &op->u.matmul;
  op->scratch = sizeof(double) * (size_t)(p->batch * p->m * p->n);
  return 1;
}
static const uint8_t gt__widest[] = {GT_FLOAT32, GT_FLOAT64, GT_INT64}; /* by compute type */
/* Starts a kernel for the product, and the map behind it, whose input 0 are the sums. */
static int gt__start_product(const void *const *kernels, int64_t blocks, dim3 threads,
                             const gt__matmul_args *p, void *queue) {
  gt__map_args m = p->post;
  int64_t stride = 1;
  if (!gt__is_product(p)) return cudaErrorInvalidValue;
  if (m.count == 0) return cudaSuccess;
  const int error = gt__start(kernels[p->compute], (unsigned)blocks, threads, p, queue);
  m.in[0].data = (char *)m.scratch;
  m.in[0].dtype = gt__widest[p->compute];
  m.in[0].size_log2 = p->compute == GT__F32 ? 2 : 3;
  for (int d = m.ndim - 1; d >= 0; d--) {
    m.in[0].stride[d] = stride;
    stride *= m.size[d];
  }
  return error ? error : gt__start_plain_map(&m, queue);
}
static int gt__run_naive_matmul(const gt__op *op, void *queue) {
  const gt__matmul_args *p = &op->u.matmul;
  const unsigned blocks = gt__blocks(p->batch * p->m * p->n, GT__THREADS);
  return gt__start_product(gt__naive_matmul_kernels, blocks, GT__THREADS, p, queue);
}
static int64_t gt__count_squares(const gt__matmul_args *p) {
  return gt__squares_along(p->n) * gt__squares_along(p->m) * p->batch;
}
static int gt__plan_shared_matmul(gt__op *op) { /* CUDA counts blocks with 31 bits */
  return gt__count_squares(&op->u.matmul) <= INT32_MAX && gt__plan_product(op);
}
static int gt__run_shared_matmul(const gt__op *op, void *queue) {
  const gt__matmul_args *p = &op->u.matmul;
  const dim3 threads(GT__SQUARE, GT__SQUARE);
  return gt__start_product(gt__shared_matmul_kernels, gt__count_squares(p), threads, p, queue);
}

/* ---- >>plain-scan ------------------------------------------------------------------------------
   Running folds in the order of THE SCAN, see gputensor.h. A thread makes a row, one element after
   the other. level[0][0] is the fold of all that are before the next one, level[1] on those of the
   runs, of each size, in which the last one is. Block: 256 threads. Grid: rows / 256, rounded up;
   neighbouring threads make neighbouring rows. */
template <class T>
GT__DEV T gt__scan_next(int fold, T (*level)[2], int64_t k, T x) {
  if constexpr (std::is_integral<T>::value) return gt__scan_i64(fold, level, k, x);
  else if constexpr (sizeof(T) == 4) return gt__scan_f32(fold, level, k, x);
  else return gt__scan_f64(fold, level, k, x);
}
template <class T>
__global__ void __launch_bounds__(GT__THREADS)
    gt__plain_scan_kernel(const __grid_constant__ gt__scan_args p) {
  const int64_t row = gt__my_number();
  if (row >= p.outer * p.inner) return;
  const int64_t o = row / p.inner;
  int64_t at = row + o * (p.n - 1) * p.inner;
  const gt__map_args &m = p.pre; /* whose program is but a load, see gt__launch_scan */
  T level[GT__LEVELS][2];
  **level = gt__identity<T>(p.fold);
  for (int64_t k = 0; k < p.n; k++) {
    const int64_t from = gt__offset(at, m.ndim, m.size, m.in[0].stride);
    T x = gt__read_element<T>(m.in[0], from);
    x = gt__scan_next(p.fold, level + 1, k, x);
    gt__store_at(m, at, x);
    at += p.inner;
  }
}
static const void *const gt__plain_scan_kernels[] = {GT__EACH_COMPUTE(gt__plain_scan_kernel)};
static int gt__run_plain_scan(const gt__op *op, void *queue) {
  const gt__scan_args *s = &op->u.scan;
  const gt__program *p = &s->pre.program;
  if (!gt__is_program(p) || s->n < 1) return cudaErrorInvalidValue;
  if (s->pre.count == 0) return cudaSuccess;
  const int64_t rows = s->outer * s->inner;
  const unsigned blocks = gt__blocks(rows, GT__THREADS);
  const void *kernel = gt__plain_scan_kernels[p->compute];
  return gt__start(kernel, blocks, GT__THREADS, s, queue);
}

/* ---- >>device ----------------------------------------------------------------------------------
   No macro tells the host whether the code has Hopper's own features (sm_90a), or flushes tiny
   numbers to zero (--use_fast_math, -ftz). A kernel that is never launched answers by how much
   shared memory it takes, since the compiler drops the arrays that it does not touch. */
extern "C" __device__ int __nvvm_reflect(const char *question);
enum { GT__PROBE_HOPPER = 8192 };
enum { GT__PROBE_FLUSHES = 16384 };
__global__ void gt__probe_kernel(int i) {
  __shared__ volatile char hopper[GT__PROBE_HOPPER], flushes[GT__PROBE_FLUSHES];
  (void)hopper;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  hopper[i] = 0;
#endif
  if (__nvvm_reflect("__CUDA_FTZ")) flushes[i] = 0;
}
/* What the current device is: its multiprocessors << 16, the answers of the probe, the KB of shared
   memory that a block may have << 4, and what its code was built for: 7, 8, 9, ... 0: unknown. */
enum { GT__BUILT_FOR = 15 };
enum { GT__KB = 255 << 4 };
static int gt__ask_device(int device, int *devices) {
  const int answers = GT__PROBE_HOPPER | GT__PROBE_FLUSHES;
  cudaFuncAttributes built;
  int blocks, room;
  if (cudaGetDeviceCount(devices) ||
      cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device) ||
      cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ||
      cudaFuncGetAttributes(&built, GT__POINTER(gt__probe_kernel))) {
    (void)cudaGetLastError();
    return 0;
  }
  const int probed = built.sharedSizeBytes & answers;
  return blocks << 16 | probed | room >> 10 << 4 | built.ptxVersion / 10;
}
/* The same, asked once for each device. If there is but one, it is the current one: to ask for that
   takes 31 ns, up to eight times a product. */
static int gt__device_facts(void) {
  static int known[64], alone;
  int device = 0, devices = 0;
  if (!__atomic_load_n(&alone, __ATOMIC_RELAXED)) {
    if (cudaGetDevice(&device) || device >= 64) return 0;
  }
  int facts = __atomic_load_n(&known[device], __ATOMIC_RELAXED);
  if (facts) return facts;
  facts = gt__ask_device(device, &devices);
  __atomic_store_n(&known[device], facts, __ATOMIC_RELAXED);
  if (facts) __atomic_store_n(&alone, devices == 1, __ATOMIC_RELAXED);
  return facts;
}

/* ==== Part II: faster ways =================================================================== */
#ifndef GPUTENSOR_PLAIN
/* ---- >>tuning ----------------------------------------------------------------------------------
   Every number that was found by measuring: on an H200, November 2026, where nothing else is said.
   What is no count has its unit beside it. */
/* clang-format off */
static constexpr int
  /* maps */
  GT__ACROSS_COLUMNS = 24,        /* a matrix with so many has those across it transposed, */
  GT__ACROSS_ROWS = 16,           /* if it has so many */
  GT__USELESS_COLUMNS = 8,        /* tiles are narrower where more than one in so many is useless */
  GT__ODD_END = 1 << 20,          /* elements from which an odd end is a map of its own, and */
                                  /* bfloat16 stay so in their slots */
  GT__MAP_BLOCKS = 256,           /* threads of a block are fewer where these would be */
  GT__FEW_ELEMENTS = 1 << 15,     /* up to so many a thread has one vector */
  /* copies */
  GT__PICKS = 2,                  /* elements of a thread that an index picks */
  GT__STRIPE = 32,                /* columns whose elements are picked before the next ones', */
  GT__STRIPE_LEAST = 1 << 22,     /* of a source of so many elements */
  /* reductions */
  GT__TINY_ROW = 8,               /* elements that one thread folds, at most */
  GT__LIGHT_SLOTS = 5,            /* of a program whose operands come by vectors */
  GT__FEW_CHUNKS = 2048,          /* up to so many in all, there are more where order is free */
  GT__BROAD_CHUNKS = 1024,        /* up to so many a block has one, of single elements */
  GT__MANY_BLOCKS = 256,          /* times the root of a block's threads: these take several each */
  GT__TWO_WAVES = 512,            /* and from these blocks to twice as many */
  GT__SHORT_WORK = 16384,         /* elements of the rows that a block takes */
  GT__DIRECT_BLOCKS = 384,        /* that run at once on a large chip */
  GT__SOFT_ROW = 1024,            /* elements up to which a warp has a row of softmax */
  /* scans */
  GT__SCAN_ROWS = 384,            /* rows up to which they are cut into chunks, and columns */
  GT__SCAN_COLUMNS = 4096,
  GT__ROW_WARPS = 2,              /* of a row, at most: 4 take 1.02 times as long, 8 1.07 */
  GT__COLUMN_BYTES = 64,          /* of neighbouring rows, as they are computed */
  /* order */
  GT__SCATTER_PART = 1024,        /* sorted positions of a block, at most, */
  GT__SCATTER_WORK = 8192,        /* and such positions times columns, at most */
  GT__JOIN_BLOCKS = 1056,         /* that fold segments of several runs */
  GT__RADIX_PARTS = 1024,         /* of all rows that are sorted together, about */
  /* products in tiles */
  GT__TRANSPOSED_COLUMNS = 64,    /* up to so many columns C' is made if it has fewer rows */
  GT__THREADS_AT_ONCE = 256,      /* of a multiprocessor, by their registers */
  GT__MOST_DEEP = 8,              /* K is cut for at most so many blocks of a multiprocessor, */
  GT__PART_LEAST_K = 64,          /* and a part has so many of K */
  GT__SUM_K = 4096,               /* no part is longer, for the error of its sums */
  GT__MOST_PARTS = 128,
  GT__SUM_EACH = 4,               /* parts that a thread of the second kernel adds up */
  /* products of few rows: strips of >>matmul-tiled, and >>matmul-skinny */
  GT__STRIP_ROWS = 4,             /* up to so many, strips are as fast */
  GT__SKINNY_ROWS = 128,          /* at most */
  GT__SKINNY_LEAST = 1 << 18,     /* elements of the other matrix */
  /* tiny products, and those with a vector */
  GT__TINY_K = 128,               /* of tiny products, at most, */
  GT__TINY_TILES = 132,           /* and so many tiles of C */
  GT__DOTS_LEAST = 128,           /* dot products, at least, */
  GT__DOTS_BUSY = 132 * 32,       /* and so many warps, if a block of them can share one; */
  GT__DOTS_LEAST_K = 1024,        /* more dot products are so long, or tiles are as fast */
  /* products on Hopper */
  GT__PIECES_LEAST_K = 16,        /* float32 in pieces: below, their error shows */
  GT__PIECES_LEAST_ROWS = 64,     /* up to so many rows, products and elements of C pieces */
  GT__PIECES_LEAST_WORK = 1 << 21, /* cost more: 2.6 us per million elements; tiles .06 us a row */
  GT__PIECES_LEAST_C = 1 << 17,
  GT__PACK_ROUNDS = 4,            /* steps of a block that packs, at least */
  GT__PACK_CHUNKS = 16,           /* of K, at most about so many */
  GT__PART_STEPS = 10;              /* of K, in a part of a tile, at least */
/* The clocks that a tile takes, a step being 64 of K; see gt__clocks_of. */
static constexpr double
  GT__BYTES_A_CLOCK = 54,         /* from the L2 cache to a multiprocessor */
  GT__MEMORY_A_CLOCK = 2170,      /* from memory to all of them */
  GT__OFF_LINES = 1.7,            /* times as long, if lines begin off 128 bytes, */
  GT__CLUSTER_OFF_LINES = 1.15,   /* by clusters */
  GT__CLOCKS_A_COLUMN = 2.12,     /* of 64 rows, in a step */
  GT__CLUSTER_GAIN = .985,        /* of a step */
  GT__NARROW_PIECES = 1.25,       /* times a step of pieces of 64 columns */
  GT__WIDE_CLUSTER_CLOCKS = 6000,
  GT__TILE_CLOCKS = 1000,         /* of beginning a tile */
  GT__STORE_CLOCKS = 4,           /* of storing a column */
  GT__SUM_CLOCKS = 9000,          /* of the second kernel */
  GT__SUM_SPEED = 180,            /* elements of parts that it adds a clock */
  GT__BRING_US = 3,               /* of bringing an operand to scratch, */
  GT__BRING_BYTE_US = .5e-6,
  GT__WAVE_US = .7,               /* of beginning a wave of blocks, */
  GT__SUM_US = 3,                 /* of the second kernel, */
  GT__SUM_EACH_US = 3e-6;         /* of each sum of a part */
/* clang-format on */

/* ---- >>overlapping -----------------------------------------------------------------------------
   Programmatic dependent launch, from sm_90 on: a kernel starts as soon as all blocks of the
   kernel before it have called launch_dependents or ended. So the kernels of Part II wait for the
   end of that kernel before they touch memory. Products that are `early` read first and wait
   before they write; other products wait before they let the next kernel start, see gt__earliness.
   A kernel whose blocks all run at once lets the next one start late, since blocks that wait for
   room on the multiprocessors are dealt out unevenly.

       kernel 1   |read, compute ...... write|
       kernel 2       |start, wait           |read, compute ... write| */
#if __CUDA_ARCH__ >= 900
#define GT__ON_SM_90(...) asm volatile(__VA_ARGS__)
#else
#define GT__ON_SM_90(...)
#endif
GT__DEV void gt__release_next_kernel() { GT__ON_SM_90("griddepcontrol.launch_dependents;"); }
GT__DEV void gt__await_kernel_before() { GT__ON_SM_90("griddepcontrol.wait;" ::: "memory"); }
/* What most kernels begin with: the next one may start, and this one waits for the one before. */
GT__DEV void gt__after_kernel_before() {
  gt__release_next_kernel();
  gt__await_kernel_before();
}

enum { GT__SHARED = 48 << 10 }; /* what a block may have without asking, on every GPU */
static int64_t gt__up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }
__host__ __device__ __forceinline__ unsigned gt__slot_count(const gt__program &p) {
  return p.n_slot > 1 ? p.n_slot : 1;
}
/* Launches a kernel that may overlap with the one before it, which also takes the host less time:
   on that of an H200, November 2026, 2.5 us, without 2.9. It returns an error as gt__start does. */
static int gt__launch(const void *kernel, dim3 grid, unsigned threads, size_t shared, void *stream,
                      void **parameters, int cluster = 1) {
  const int built_for = gt__device_facts() & GT__BUILT_FOR;
  cudaLaunchAttribute with[2];
  with[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  with[0].val.programmaticStreamSerializationAllowed = 1;
  with[1].id = cudaLaunchAttributeClusterDimension;
  with[1].val.clusterDim.x = cluster;
  with[1].val.clusterDim.y = 1;
  with[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {grid, dim3(threads), shared, (cudaStream_t)stream, with, 0};
  if (built_for >= 9) config.numAttrs = cluster > 1 ? 2 : 1;
  const cudaError_t error = cudaLaunchKernelExC(&config, kernel, parameters);
  if (error != cudaSuccess) (void)cudaGetLastError();
  return (int)error;
}
/* Is the dtype the compute type's own, or a short float for floats? */
static bool gt__is_usual(int compute, int dtype) {
  if (compute == GT__I64) return dtype == GT_INT64;
  if (compute == GT__F64) return dtype == GT_FLOAT64;
  return dtype == GT_FLOAT32 || dtype == GT_BFLOAT16 || dtype == GT_FLOAT16;
}

/* ---- >>vectors ---------------------------------------------------------------------------------
   A thread moves fastest by its widest load and store, a vector of 16 bytes: a warp then moves 512
   bytes with one instruction. */
template <class T>
constexpr int gt__lot = 16 / sizeof(T); /* elements of a vector */

/* Calls f with `bits`, of which those of MASK may be set, as a number that the compiler knows. */
template <int N>
using gt__known = std::integral_constant<int, N>;
template <int MASK, int BITS = MASK, class F>
GT__DEV void gt__by_bits(int bits, const F &f) {
  if (bits == BITS) f(gt__known<BITS>());
  else if constexpr (BITS > 0) gt__by_bits<MASK, (BITS - 1) & MASK>(bits, f);
}

/* A batch: the vectors that a thread works on at once, of W elements each. Vector v begins at
   inner index k + c + v*dc of outer index o + r + v*dr, of which each has `width` inner ones; the
   elements of a vector are `next` apart. o and k, row and column, are where the block's tile
   begins, r and c the thread's place in it. */
struct gt__batch {
  int64_t width, o, k;
  int r, c, dr, dc, next;
  /* of element j of vector v */
  __device__ __forceinline__ int64_t index(int v, int j) const {
    const int64_t outer = o + (r + v * dr), inner = k + (c + v * dc);
    return outer * width + inner + j * next;
  }
  /* of element i of the batch */
  template <class T>
  __device__ __forceinline__ int64_t place(int i) const {
    return index(i / gt__lot<T>, i % gt__lot<T>);
  }
  /* A copy that the compiler does not compute with before it is asked for. */
  __device__ __forceinline__ gt__batch operator()() const {
    gt__batch b = *this;
    asm volatile("" : "+l"(b.o), "+l"(b.k));
    asm volatile("" : "+r"(b.r), "+r"(b.c));
    return b;
  }
};
/* The built-in type of so many bytes, which a single load or store instruction moves. */
template <int BYTES>
using gt__few_bits = std::conditional_t<BYTES == 1, uint8_t, uint16_t>;
template <int BYTES>
using gt__some_bits = std::conditional_t<BYTES == 4, uint32_t, gt__few_bits<BYTES>>;
template <int BYTES>
using gt__more_bits = std::conditional_t<BYTES == 8, uint2, gt__some_bits<BYTES>>;
template <int BYTES>
using gt__bits = std::conditional_t<BYTES == 16, uint4, gt__more_bits<BYTES>>;
/* Moves W elements, by instructions of 16 bytes or one that is narrower. */
template <class S, int W>
GT__DEV void gt__load_line(const char *from, S (&x)[W]) {
  constexpr int BYTES = sizeof x < 16 ? sizeof x : 16, N = sizeof x / BYTES;
  typedef gt__bits<BYTES> Bits;
  Bits bits[N];
  GT__EACH bits[i] = ((const Bits *)from)[i];
  memcpy(x, bits, sizeof x);
}
template <class S>
GT__DEV void gt__store_line(char *to, const S &x) {
  constexpr int BYTES = sizeof x < 16 ? sizeof x : 16, N = sizeof x / BYTES;
  typedef gt__bits<BYTES> Bits;
  Bits bits[N];
  memcpy(bits, x, sizeof x);
  GT__EACH((Bits *)to)[i] = bits[i];
}

/* Converts elements that need not be an array. */
template <class T, class S, int N>
GT__DEV void gt__cast_all(T (&y)[N], const S *x) {
  GT__EACH y[i] = gt__as<T>(x[i]);
}
/* Two at once, which takes fewer instructions. */
template <int N>
GT__DEV void gt__cast_all(float (&y)[N], const gt__bfloat *x) {
  GT__UNROLL for (int i = 0; i < N; i += 2) {
    uint32_t two;
    memcpy(&two, x + i, 4);
    y[i] = __uint_as_float(two << 16);
    y[i + 1] = __uint_as_float(two & 0xffff0000u);
  }
}

/* ---- >>slots -----------------------------------------------------------------------------------
   Each operand, constant and temporary of a program is a slot: V vectors of each thread in shared
   memory, where registers would have to be indexed. A warp's slots lie together, so the distance
   of two of them is known to the compiler. Threads are 16 bytes apart, so a warp reads 512 bytes in
   a row and meets no bank conflict. A thread reads what it wrote itself: no barrier is needed.

                  thread   0    1    2   ...  31
       slot 0, vector 0   [16] [16] [16] ... [16]  bytes
               vector 1   [16] [16] [16] ... [16]
       slot 1, vector 0   [16] [16] [16] ... [16]                                                 */
extern __shared__ __align__(1024) uint4 gt__shared[];
enum { GT__WARP_LINE = 512 }; /* bytes: a vector of each thread */
struct gt__slots {
  char *mine; /* vector 0 of slot 0 */
};
GT__DEV gt__slots gt__my_slots(int vectors) { /* so many has a thread in all slots */
  unsigned at = (unsigned)__cvta_generic_to_shared(gt__shared);
  at += threadIdx.x / 32 * vectors * GT__WARP_LINE + threadIdx.x % 32 * 16;
  asm("" : "+r"(at)); /* so that it is computed once */
  return {(char *)__cvta_shared_to_generic(at)};
}
template <int V>
GT__DEV char *gt__at(const gt__slots &s, unsigned slot, int v) {
  return s.mine + (V * slot + v) * GT__WARP_LINE;
}
/* Element i of a slot, where the compiler does not know i. */
template <class T, int V>
GT__DEV T *gt__element(const gt__slots &s, unsigned slot, int i) {
  constexpr int W = gt__lot<T>;
  T *const vector = (T *)gt__at<V>(s, slot, i / W);
  return vector + i % W;
}
template <class T>
struct alignas(16) gt__vector {
  T x[gt__lot<T>];
};
template <class T, int N>
GT__DEV void gt__get(const gt__slots &s, unsigned slot, T (&x)[N]) {
  constexpr int W = gt__lot<T>;
  GT__UNROLL for (int i = 0; i < N; i += W) {
    const char *from = gt__at<N / W>(s, slot, i / W);
    const gt__vector<T> v = *(const gt__vector<T> *)from;
    for (int j = 0; j < W; j++) x[i + j] = v.x[j];
  }
}
template <class T, int N>
GT__DEV void gt__put(const gt__slots &s, unsigned slot, const T (&x)[N]) {
  constexpr int W = gt__lot<T>;
  GT__UNROLL for (int i = 0; i < N; i += W) {
    gt__vector<T> v;
    for (int j = 0; j < W; j++) v.x[j] = x[i + j];
    char *to = gt__at<N / W>(s, slot, i / W);
    *(gt__vector<T> *)to = v;
  }
}
template <class T, int N>
GT__DEV void gt__fill_constants(const gt__program &p, const gt__slots &s) {
  GT__LOOP for (int k = 0; k < p.n_const; k++) {
    T x[N];
    GT__EACH x[i] = gt__constant<T>(p.constant[k]);
    gt__put(s, p.n_in + k, x);
  }
}

/* ---- >>loading ---------------------------------------------------------------------------------
   Single elements of any dtype and strides, for operands that are not whole vectors. */
GT__DEV uint32_t gt__high(uint32_t a, uint32_t b) { return __umulhi(a, b); }
GT__DEV uint64_t gt__high(uint64_t a, uint64_t b) { return __umul64hi(a, b); }
/* Makes indices among the dims [from, to) offsets in elements, N of them in step. A division is a
   multiplication by the inverse, rounded down, and its quotient is too small by 1 at most, as no
   index has the upper bit set. JOIN: neighbouring dims that this operand walks as one are found and
   need no division; to look for them costs more than it saves where there are few elements. */
template <bool JOIN, class I, int N>
GT__DEV void gt__locate_all(const gt__map_args &p, int from, int to, const int64_t *strides,
                            I (&at)[N]) {
  I left[N];
  GT__EACH {
    left[i] = at[i];
    at[i] = 0;
  }
  GT__LOOP for (int d = to - 1; d > from; d--) {
    const I stride = (I)strides[d];
    I size = (I)p.size[d];
    GT__LOOP while (JOIN && d > from && (I)strides[d - 1] == stride * size) {
      d--;
      size *= (I)p.size[d];
    }
    if (JOIN && d == from) {
      GT__EACH at[i] += left[i] * stride;
      return;
    }
    const I inverse = ~(I)0 / size;
    GT__EACH {
      I quotient = gt__high(left[i], inverse);
      I rest = left[i] - quotient * size;
      if (rest >= size) {
        quotient++;
        rest -= size;
      }
      at[i] += rest * stride;
      left[i] = quotient;
    }
  }
  GT__EACH at[i] += left[i] * (I)strides[from];
}
/* More dims than one; not inlined, as all that is unusual, so that it takes no registers
   elsewhere. */
static __device__ __noinline__ int64_t gt__locate_among(const gt__map_args &p, int64_t i, int from,
                                                        int to, const int64_t *stride) {
  const auto locate = [&](auto index) {
    typedef decltype(index) I;
    I at[1] = {index};
    gt__locate_all<false>(p, from, to, stride, at);
    return (int64_t)(std::make_signed_t<I>)at[0];
  };
  return p.fits_int ? locate((uint32_t)i) : locate((uint64_t)i);
}
GT__DEV int64_t gt__locate(const gt__map_args &p, int64_t i, int from, int to,
                           const int64_t *stride) {
  if (to <= from) return 0;
  if (to - from == 1) return i * stride[from];
  return gt__locate_among(p, i, from, to, stride);
}

/* Loads (OUT: stores) n elements, `hop` apart, of the dims from `first` on. The operand's row
   begins `row` bytes behind its element 0. Loads behind the n-th element repeat it. */
template <class T, bool OUT, int N>
GT__DEV void gt__move_apart(const gt__map_args &p, const gt__operand &x, int first, int64_t row,
                            int64_t k, int hop, int n, T (&y)[N]) {
  char *const line = x.data + row, *at[N];
  if (p.fits_int) {
    uint32_t index[N];
    GT__EACH index[i] = (uint32_t)k + min(i, n - 1) * hop;
    gt__locate_all<true>(p, first, p.ndim, x.stride, index);
    GT__EACH at[i] = line + (int)(index[i] << x.size_log2);
  } else {
    GT__EACH {
      const int64_t index = k + min(i, n - 1) * hop;
      at[i] = line + (gt__locate(p, index, first, p.ndim, x.stride) << x.size_log2);
    }
  }
  gt__by_dtype(x.dtype, [&](auto tag) {
    typedef decltype(tag) S;
    S u[N];
    if (OUT) gt__cast_all(u, y);
    GT__EACH {
      if (!OUT) u[i] = *(const S *)at[i];
      else if (i < n) *(S *)at[i] = u[i];
    }
    if (!OUT) gt__cast_all(y, u);
  });
}
/* Converts the vectors of a slot whose elements are still S, at the beginning of their places. */
template <class T, class S, int V>
GT__DEV void gt__convert(const gt__slots &s, int slot) {
  constexpr int W = gt__lot<T>;
  GT__UNROLL for (int v = 0; v < V; v++) {
    char *p = gt__at<V>(s, slot, v);
    S u[W];
    T y[W];
    gt__load_line(p, u);
    gt__cast_all(y, u);
    gt__store_line(p, y);
  }
}
template <class T>
struct gt__native {
  static constexpr int WIDE = std::is_integral<T>::value ? GT_INT64 : GT_FLOAT64;
  static constexpr int DTYPE = sizeof(T) == 4 ? (int)GT_FLOAT32 : WIDE;
};
/* Calls f with a value of the dtype if that is T's own or a short float for floats: was it? */
template <class T, class F>
GT__DEV bool gt__if_usual(int dtype, F f) {
  if (dtype == gt__native<T>::DTYPE) f(T());
  else if (sizeof(T) == 4 && dtype == GT_BFLOAT16) f(gt__bfloat());
  else if (sizeof(T) == 4 && dtype == GT_FLOAT16) f(gt__half());
  else return false;
  return true;
}

/* ---- >>batches ---------------------------------------------------------------------------------
   The interpreter over a batch. The accumulator is in registers, slots are in shared memory, and a
   fetch and a branch serve all elements of the batch: in a map 16 of float32, before a fold 32. */
enum { GT__OP_mul_add = GT__OPS }; /* a*b + c, which is two instructions: for gt__short */
GT__FORMULA(mul_add, float, GT__ADD(GT__MUL(a, b), c))

/* Quotients whose exponents are all far from both ends: a from 2^-63 to 2^65, b from 2^-31 to
   2^33. False: one of them is not, and nothing was done. */
template <int N>
GT__DEV bool gt__divide_easily(float (&a)[N], const float (&b)[N]) {
  uint32_t far_a = 0, far_b = 0;
  GT__EACH far_a |= __float_as_uint(a[i]) - (64u << 23);
  GT__EACH far_b |= __float_as_uint(b[i]) - (96u << 23);
  const uint32_t outside = (far_a & 2u << 29) | (far_b & 3u << 29);
  if (outside) return false;
  GT__EACH a[i] = gt__easy_div_f32(a[i], b[i]);
  return true;
}
/* The sines of small angles, and exponentials that are normal numbers, in the same way. */
template <class T>
constexpr T gt__easy_angle = sizeof(T) == 4 ? (T)0x1p15 : (T)0x1p40;
template <class T>
constexpr T gt__easy_power = sizeof(T) == 4 ? (T)87 : (T)708;
#define GT__FORMULA_OF(f, ...) \
  (sizeof(T) == 4 ? (T)gt__##f##_f32(__VA_ARGS__) : (T)gt__##f##_f64(__VA_ARGS__))
template <int OP, class T>
GT__DEV T gt__easy(T x) {
  if (OP == GT__OP_sin) return GT__FORMULA_OF(trig, x, 0, 0);
  if (OP == GT__OP_exp) return GT__FORMULA_OF(exp_normal, x);
  const T power = GT__FORMULA_OF(exp_normal, -fabs(x));
  return GT__FORMULA_OF(over_one_and, power, x < 0 ? power : 1);
}
#undef GT__FORMULA_OF
template <int OP, class T, int N>
GT__DEV bool gt__apply_easily(T (&a)[N]) {
  T most = 0;
  GT__EACH most = fmax(most, fabs(a[i]));
  const T limit = OP == GT__OP_sin ? gt__easy_angle<T> : gt__easy_power<T>;
  if (!(most < limit)) return false;
  GT__EACH a[i] = gt__easy<OP>(a[i]);
  return true;
}
/* A formula on all elements, by its easy form where one test says that all of them allow it. */
template <int OP, class T, int N>
GT__DEV void gt__apply_all(T (&a)[N] /* operands, then results */, const T (&b)[N],
                           const T (&c)[N]) {
  constexpr bool REAL = !std::is_integral<T>::value && N * sizeof(T) < 256;
  constexpr bool SOME = OP == GT__OP_sin || OP == GT__OP_sigmoid || OP == GT__OP_exp;
  if constexpr (OP == GT__OP_div && sizeof(T) == 4) {
    if (gt__divide_easily(a, b)) return;
  }
  if constexpr (SOME && REAL) {
    if (gt__apply_easily<OP>(a)) return;
  }
  GT__EACH a[i] = gt__apply<OP>(a[i], b[i], c[i]);
}

/* An instruction is fetched as one word: op in the low byte, then b, c and d. */
static_assert(sizeof(gt__ins) == 4 && offsetof(gt__program, ins) % 4 == 0,
              "the interpreter reads an instruction as one aligned 32-bit word");
GT__DEV uint32_t gt__fetch(const gt__program &p, int pc) {
  const uint32_t *words = (const uint32_t *)p.ins;
  return words[pc];
}
GT__DEV int gt__op_of(uint32_t word) { return word & 255; }
GT__DEV unsigned gt__b_of(uint32_t word) { return word >> 8 & 255; }
GT__DEV unsigned gt__c_of(uint32_t word) { return word >> 16 & 255; }

/* N elements of a slot, from element k on. */
template <int V, class T, int N>
GT__DEV void gt__get_some(const gt__slots &s, unsigned slot, int k, T (&x)[N]) {
  GT__EACH x[i] = *gt__element<T, V>(s, slot, k + i);
}
/* The places of elements, and random numbers for them. */
template <class T, int N>
GT__DEV void gt__set_indices(const gt__batch &b, int k, T (&r)[N]) {
  GT__EACH r[i] = (T)b.place<T>(k + i);
}
template <class T, int N>
GT__DEV void gt__draw(int op, const gt__program &p, const gt__batch &b, int k, const T (&low)[N],
                      const T (&range)[N], T (&r)[N]) {
  GT__EACH {
    const int64_t index = b.place<T>(k + i);
    r[i] = gt__random_value(op, p, index, low[i], range[i]);
  }
}
/* A heavy instruction (exp, pow ...) on the first N of the E elements at a time; in between the
   accumulator is rotated by N, since registers cannot be indexed: of 4, two at a time, a b c d
   becomes c d A B and then A B C D. Elements' places are computed in the cases that need them,
   since nvcc moves what it can out of the loop over instructions, for all programs. */
template <class T, int N, class At, int E>
GT__DEV void gt__heavy(uint32_t word, const gt__program &p, const gt__slots &s, const At &at,
                       T (&acc)[E]) {
  constexpr int V = E / gt__lot<T>;
  GT__LOOP for (int k = 0; k < E; k += N) {
    T y[N], z[N], r[N];
    GT__EACH r[i] = acc[i];
    GT__EACH y[i] = acc[i];
    GT__EACH z[i] = acc[i];
    switch (gt__op_of(word)) {
      case GT__INDEX: gt__set_indices(at(), k, r); break;
      case GT__UNIFORM:
      case GT__NORMAL:
      case GT__INTEGER:
        gt__get_some<V>(s, gt__b_of(word), k, y);
        gt__get_some<V>(s, gt__c_of(word), k, z);
        gt__draw(gt__op_of(word), p, at(), k, y, z, r);
        break;
#define GT__CASE_LIGHT(name, arity)
#define GT__CASE_HEAVY(name, arity) \
  case GT__OP_##name: \
    if (arity > 1) gt__get_some<V>(s, gt__b_of(word), k, y); \
    if (arity > 2) gt__get_some<V>(s, gt__c_of(word), k, z); \
    gt__apply_all<GT__OP_##name>(r, y, z); \
    break;
#define GT__LINE(name, arity, result, cost, f, i) GT__CASE_##cost(name, arity)
        GT__OPERATIONS(GT__LINE)
#undef GT__CASE_LIGHT
#undef GT__CASE_HEAVY
    }
    GT__UNROLL for (int i = 0; i < E - N; i++) acc[i] = acc[i + N];
    GT__EACH acc[E - N + i] = r[i];
  }
}

#define GT__ACTIVATIONS(X) X(gelu) X(silu) X(sigmoid) X(tanh) /* and relu, which is LIGHT */
/* clang-format off */
#define GT__USUAL_FUNCTIONS(X) \
  GT__ACTIVATIONS(X) X(exp) X(exp2) X(expm1) X(log) \
  X(log1p) X(log2) X(sin) X(cos) X(erf) X(softplus)
/* clang-format on */
/* Runs a program over a batch. HEAVY: 0 leaves the heavy cases out, which keeps registers few and
   occupancy high; else it is the N of gt__heavy. WHOLE: the usual functions take all elements at
   once. Slot b is read before the branch on the operation, which hides its latency. */
template <class T, int HEAVY, bool WHOLE = false, class Slots, class At, int N>
GT__DEV void gt__run(const gt__program &p, const Slots &s, const At &at, T (&acc)[N]) {
  int pc = 0;
  GT__EACH acc[i] = 0;
  if (gt__op_of(gt__fetch(p, 0)) == GT__LOAD) {
    gt__get(s, gt__b_of(gt__fetch(p, 0)), acc);
    pc++;
  }
  GT__LOOP for (; pc < p.n_ins; pc++) {
    const uint32_t word = gt__fetch(p, pc);
    T y[N], z[N];
    gt__get(s, gt__b_of(word), y);
    switch (gt__op_of(word)) {
      case GT__LOAD: GT__EACH acc[i] = y[i]; break;
      case GT__SAVE: gt__put(s, word >> 24, acc); break;
#define GT__CASE_HEAVY(name, arity)
#define GT__CASE_LIGHT(name, arity) \
  case GT__OP_##name: \
    if (arity == 3) gt__get(s, gt__c_of(word), z); \
    gt__apply_all<GT__OP_##name>(acc, y, arity == 3 ? z : y); \
    break;
        GT__OPERATIONS(GT__LINE)
#undef GT__LINE
#undef GT__CASE_LIGHT
#undef GT__CASE_HEAVY
#define GT__USUAL_STEP(name) \
  case GT__OP_##name: \
    if constexpr (WHOLE && HEAVY) { \
      gt__apply_all<GT__OP_##name>(acc, y, y); \
      break; \
    }
        GT__USUAL_FUNCTIONS(GT__USUAL_STEP) /* if not whole, they are as the others: */
      default:
        if constexpr (HEAVY != 0) gt__heavy<T, HEAVY>(word, p, s, at, acc);
    }
  }
}

/* ---- >>map-vectors -----------------------------------------------------------------------------
   A block makes a tile of rows x columns: all dims but the last are rows, one after the other; so
   rows or columns that repeat and plain arrays, one long row, are the same to it. Neighbouring
   threads take neighbouring vectors, so that a warp moves 512 bytes in a row; a thread's next is
   straight below or, in a tile of one row, a share of the tile further on. Were there 16 threads:

       row 0   t0  t1  t2  t3  t4  t5  t6  t7     a row of the tile: 8 vectors
       row 1   t8  t9  t10 t11 t12 t13 t14 t15
       row 2   t0  t1  t2 ...                     the second vectors, dr = 2 rows below the first

   The usual map, WHOLE, has whole vectors and begins to copy them all to slots before it works; ANY
   moves single elements. */
struct gt__step { /* how an operand moves, in bytes */
  int row;        /* to the next row */
  int column;     /* to the next column */
  int64_t next;   /* to the thread's next vector */
  int copy;       /* so many bytes at once, asynchronously; or 0 */
  bool across;    /* its elements lie side by side down the rows */
};
struct gt__tiling {
  int columns_log2;              /* of a tile */
  int high;                      /* its rows */
  int dr;                        /* rows to a thread's next vector */
  int dc;                        /* columns to a thread's next vector */
  unsigned across;               /* tiles that make up a row */
  bool transposes;               /* some operand lies across; the tile is 64 rows of 16 vectors */
  int64_t rows;                  /* of a batch */
  unsigned batches;              /* whole: of dims before the last two, one a blockIdx.y */
  gt__step step[1 + GT__INPUTS]; /* of out and the inputs, if whole */
};
enum { GT__VECTORS = 4 }; /* of a thread in a whole map */
/* TRANSPOSED: whole, and may have operands across. FEW: whole, with one vector a thread, as few
   elements take as long as a thread's share of them. */
enum { GT__ANY, GT__ALL_WHOLE, GT__TRANSPOSED, GT__FEW_VECTORS, GT__BFLOAT16 };
/* Where the vectors of this thread are. It is computed anew where it is needed, since to keep it
   would take registers. */
template <class T, bool ACROSS>
GT__DEV gt__batch gt__my_batch(const gt__map_args &p, const gt__tiling &t) {
  unsigned first;
  unsigned along = blockIdx.x;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(first));  /* so that it need not be kept */
  if (ACROSS && t.transposes) first ^= first >> 4 & 7; /* see gt__transpose */
  first *= gt__lot<T>;
  gt__batch b = {};
  b.width = p.size[p.ndim - 1];
  b.c = (int)first;
  b.dr = t.dr;
  b.dc = t.dc;
  b.next = 1;
  if (t.rows > 1) {
    const unsigned down = along / t.across;
    along -= down * t.across;
    b.o = (int64_t)down * t.high;
    b.r = first >> t.columns_log2;
    b.c = first & ((1 << t.columns_log2) - 1);
  }
  b.k = (int64_t)along << t.columns_log2;
  return b;
}
/* The address of an operand's first vector of this thread. */
GT__DEV char *gt__find_vector(const gt__map_args &p, const gt__operand &x, const gt__step &m,
                              const gt__batch &b) {
  const int64_t row = b.o + b.r;
  const int64_t column = b.k + b.c;
  char *at = x.data + row * m.row + column * m.column;
  if (gridDim.y > 1) {
    const int64_t batch = gt__locate(p, blockIdx.y, 0, p.ndim - 2, x.stride);
    at += batch << x.size_log2;
  }
  return at;
}
/* Begins to copy the existing vectors of an operand to slot k. */
template <int V, int BYTES>
GT__DEV void gt__copy_vectors(const gt__slots &s, int k, const char *from, int64_t next,
                              int exist) {
  GT__UNROLL for (int v = 0; v < V; v++) {
    if (exist >> v & 1) __pipeline_memcpy_async(gt__at<V>(s, k, v), from, BYTES);
    from += next;
  }
}
template <class S, class T, int N>
GT__DEV void gt__store_vectors(char *to, int64_t next, int exist, const T (&acc)[N]) {
  constexpr int W = gt__lot<T>;
  GT__UNROLL for (int v = 0; v < N / W; v++) {
    S u[W];
    gt__cast_all(u, acc + v * W);
    if (exist >> v & 1) gt__store_line(to, u);
    to += next;
  }
}
template <class T, int N>
static __device__ __noinline__ void gt__store_other(int dtype, char *to, int64_t next, int exist,
                                                    gt__slots s) {
  T y[N];
  gt__get(s, 0, y);
  gt__by_dtype(dtype, [&](auto tag) {
    typedef decltype(tag) S;
    gt__store_vectors<S>(to, next, exist, y);
  });
}
/* Fills slot k with a transposed operand, whose columns are lines: a tile of 64 rows and 16 vectors
   across. Eight lanes read 8 rows of one column, which lie side by side (16 rows, in pairs, if
   elements have 16 bits), the next eight lanes the rows below in the vector's next column. Each
   element is written to the place of the thread that works on it. 16 neighbouring threads have the
   16 vectors of a row, in row r vector q at q ^ (r & 7), so that these places are in different
   banks:

       thread   0   1   2   3   4   5   6   7   8   9 ...  of 16; each has 16 bytes of the slot
       row 0    0   1   2   3   4   5   6   7   8   9 ...  its vector
       row 1    1   0   3   2   5   4   7   6   9   8 ...  Eight lanes that write to vector 0 of
       row 2    2   3   0   1   6   7   4   5  10  11 ...  eight rows find it in 8 different fours
       ...                                                 of banks; the other lanes then write to
       row 7    7   6   5   4   3   2   1   0  15  14 ...  its other elements, in other banks. */
template <class T, class S, int PAIR>
GT__DEV void gt__transpose(const char *from, char *slot, int column, int warp_slots, int64_t rows,
                           int64_t columns) {
  constexpr int W = gt__lot<T>;
  constexpr int STEP = 2 / PAIR;
  constexpr int TASKS = 2 * STEP; /* of each of 8 warps */
  typedef gt__bits<sizeof(S) * PAIR> Bits;
  Bits x[TASKS][W] = {};
  const int lane = threadIdx.x % 32;
  GT__UNROLL for (int n = 0; n < TASKS; n++) GT__UNROLL for (int i = 0; i < W; i++) {
    const int task = threadIdx.x / 32 + 8 * n;
    const int r = (task % STEP * 32 + lane) * PAIR;
    const int c = task / STEP * W + (i + lane / 8) % W;
    const char *at = from + r * (int)sizeof(S) + c * (int64_t)column;
    if (r + PAIR <= rows && c < columns) x[n][i] = *(const Bits *)at;
    else if (r < rows && c < columns) memcpy(x[n] + i, at, sizeof(S));
  }
  GT__UNROLL for (int n = 0; n < TASKS; n++) {
    const int task = threadIdx.x / 32 + 8 * n;
    GT__UNROLL for (int i = 0; i < W * PAIR; i++) {
      const int r = (task % STEP * 32 + lane) * PAIR + i % PAIR;
      const int place = r % 2 * 16 + (task / STEP ^ r % 8); /* a warp has two rows */
      const int j = (i / PAIR + lane / 8) % W;
      S y[PAIR];
      memcpy(y, x[n] + i / PAIR, sizeof y);
      T *to = (T *)(slot + r % 16 / 2 * warp_slots + r / 16 * GT__WARP_LINE);
      to[place * W + j] = gt__as<T>(y[i % PAIR]);
    }
  }
}
template <class T>
static __device__ __noinline__ void gt__fill_transposed(int dtype, const char *from, char *slot,
                                                        const gt__step &m, int warp_slots,
                                                        int64_t rows, int64_t columns) {
  const auto transpose = [&](auto tag) {
    typedef decltype(tag) S;
    constexpr int PAIR = sizeof(S) == 2 ? 2 : 1;
    if (PAIR == 2 && ((uintptr_t)from | (unsigned)m.column) % 4 == 0)
      gt__transpose<T, S, PAIR>(from, slot, m.column, warp_slots, rows, columns);
    else gt__transpose<T, S, 1>(from, slot, m.column, warp_slots, rows, columns);
  };
  if (gt__if_usual<T>(dtype, transpose)) return;
  if (sizeof(T) == 8) return;
  if (dtype == GT__RAW_8) transpose(gt__raw<uint8_t>());
  else transpose(gt__raw<uint16_t>());
}
/* Fills slot k with vectors of any dtype, whose elements are side by side or `column` bytes apart.
   What all rows share comes like this, too, since it stays in the L1 cache, which asynchronous
   copies pass by: 18 doubles that all blocks read take 147 us, copied from the L2 cache 2640. */
template <class T, int V>
static __device__ __noinline__ void gt__fill_apart(int dtype, const char *from, int64_t next,
                                                   int column, int exist, gt__slots s, int k) {
  constexpr int W = gt__lot<T>;
  if (exist)
    gt__by_dtype(dtype, [&](auto tag) {
      typedef decltype(tag) S;
      S u[V][W];
      T y[V * W];
      const auto at = [&](int v) {
        const int64_t hop = exist >> v & 1 ? v * next : 0;
        return from + hop;
      };
      if (column == sizeof(S)) {
        GT__UNROLL for (int v = 0; v < V; v++) gt__load_line(at(v), u[v]);
      } else {
        GT__UNROLL for (int i = 0; i < V * W; i++) {
          const char *element = at(i / W) + i % W * column;
          u[i / W][i % W] = *(const S *)element;
        }
      }
      gt__cast_all(y, u[0]);
      gt__put(s, k, y);
    });
}
/* Makes floats of the shorter ones that were copied. */
template <class T, int V>
GT__DEV void gt__widen_copied(const gt__map_args &p, const gt__tiling &t, const gt__slots &s) {
  GT__LOOP for (int k = 0; k < p.program.n_in; k++) {
    if (t.step[1 + k].copy == 8 && p.in[k].dtype == GT_BFLOAT16)
      gt__convert<T, gt__bfloat, V>(s, k);
    else if (t.step[1 + k].copy == 8) gt__convert<T, gt__half, V>(s, k);
  }
}
/* Brings the vectors of all operands to their slots, each in one of four forms: copied by 16 bytes
   or by 8 on their way, transposed, or one by one. Then the constants, and what needs converting.
   */
template <class T, bool ACROSS, int V>
GT__DEV void gt__fill_slots(const gt__map_args &p, const gt__tiling &t, const gt__slots &s,
                            int exist) {
  const gt__batch b = gt__my_batch<T, ACROSS>(p, t);
  GT__LOOP for (int k = 0; k < p.program.n_in; k++) {
    const gt__step &m = t.step[1 + k];
    const char *from = gt__find_vector(p, p.in[k], m, b);
    if (m.copy == 16) {
      gt__copy_vectors<V, 16>(s, k, from, m.next, exist);
    } else if (sizeof(T) == 4 && m.copy) {
      gt__copy_vectors<V, 8>(s, k, from, m.next, exist);
    } else if (ACROSS && m.across) { /* by all threads together, from the tile's beginning */
      const int dtype = p.in[k].dtype;
      const char *tile = from - (int64_t)b.r * m.row - (int64_t)b.c * m.column;
      const int warp_slots = V * gt__slot_count(p.program) * GT__WARP_LINE;
      char *slot = (char *)gt__shared + V * k * GT__WARP_LINE;
      const int64_t rows = t.rows - b.o;
      const int64_t columns = b.width - b.k;
      gt__fill_transposed<T>(dtype, tile, slot, m, warp_slots, rows, columns);
    } else {
      const int dtype = p.in[k].dtype;
      gt__fill_apart<T, V>(dtype, from, m.next, m.column, exist, s, k);
    }
  }
  gt__fill_constants<T, V * gt__lot<T>>(p.program, s);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (sizeof(T) == 4) gt__widen_copied<T, V>(p, t, s);
  if (ACROSS && t.transposes) __syncthreads();
}
/* Bit v: does a thread's vector v exist? */
GT__DEV int gt__which_exist(const gt__tiling &t, const gt__batch &b, int vectors) {
  int exist = 0;
  GT__UNROLL for (int v = 0; v < vectors; v++) {
    const int64_t row = b.o + (b.r + v * b.dr);
    exist |= (row < t.rows && b.k + (b.c + v * b.dc) < b.width) << v;
  }
  return exist;
}
/* A map of whole vectors: slots are filled, the program runs, the result is stored. */
template <class T, int HEAVY, bool ACROSS, int V>
GT__DEV void gt__map_whole(const gt__map_args &p, const gt__tiling &t, const gt__slots &s) {
  constexpr int W = gt__lot<T>;
  const int exist = gt__which_exist(t, gt__my_batch<T, ACROSS>(p, t), V);
  T acc[V * W];
  gt__fill_slots<T, ACROSS, V>(p, t, s, exist);
  const auto at = [&] {
    gt__batch b = gt__my_batch<T, ACROSS>(p, t);
    b.o += blockIdx.y * t.rows;
    return b;
  };
  gt__run<T, HEAVY, !ACROSS && V == GT__VECTORS>(p.program, s, at, acc);
  const gt__step &m = t.step[0];
  char *to = gt__find_vector(p, p.out, m, gt__my_batch<T, ACROSS>(p, t));
  const auto store = [&](auto tag) {
    typedef decltype(tag) S;
    gt__store_vectors<S>(to, m.next, exist, acc);
  };
  if (gt__if_usual<T>(p.out.dtype, store)) return;
  gt__put(s, 0, acc);
  gt__store_other<T, V * W>(p.out.dtype, to, m.next, exist, s);
}
/* A map of single elements, N of each thread, a block apart from each other. */
template <class T, int HEAVY>
GT__DEV void gt__map_any(const gt__map_args &p, const gt__slots &s) {
  constexpr int W = gt__lot<T>;
  constexpr int N = 2 * W;
  const int hop = blockDim.x;
  const int64_t first = (int64_t)blockIdx.x * (N * hop) + threadIdx.x;
  const int64_t left = p.count - first;
  const int n = (int)min((left - 1) / hop + 1, (int64_t)N);
  T acc[N];
  if (left <= 0) return;
  gt__fill_constants<T, N>(p.program, s);
  GT__LOOP for (int k = 0; k < p.program.n_in; k++) {
    gt__move_apart<T, false>(p, p.in[k], 0, 0, first, hop, n, acc);
    gt__put(s, k, acc);
  }
  const gt__batch b = {0, 0, first, 0, 0, 0, W * hop, hop};
  gt__run<T, HEAVY>(p.program, s, b, acc);
  gt__move_apart<T, true>(p, p.out, 0, 0, first, hop, n, acc);
}
/* As many blocks at once as go without spilled registers: occupancy hides the latency of memory. */
template <class T>
constexpr int gt__map_blocks(bool whole, bool heavy) {
  if (whole) return 7;
  if (sizeof(T) == 4) return 4;
  return heavy ? 2 : 3;
}
template <class T, int HEAVY, int MODE>
__global__ void __launch_bounds__(MODE == GT__ALL_WHOLE ? 128 : 256,
                                  gt__map_blocks<T>(MODE == GT__ALL_WHOLE, HEAVY != 0))
    gt__map_kernel(const __grid_constant__ gt__map_args p, const __grid_constant__ gt__tiling t) {
  constexpr int V = MODE == GT__FEW_VECTORS ? 1 : GT__VECTORS;
  gt__after_kernel_before();
  const gt__slots s = gt__my_slots((MODE == GT__ANY ? 2 : V) * gt__slot_count(p.program));
  if constexpr (MODE == GT__ANY) gt__map_any<T, HEAVY>(p, s);
  else gt__map_whole<T, HEAVY, MODE == GT__TRANSPOSED, V>(p, t, s);
}
/* [compute type][heavy][mode]. The rarer a mode, the fewer elements a heavy instruction takes at a
   time, for the sake of compile time; WHOLE has code of its own for heavy floats alone, ANY and FEW
   of floats serve both. */
#define GT__MAPS(T, SOME, MANY, M) \
  { \
    GT__POINTER(gt__map_kernel<T, 1, GT__ANY>), GT__POINTER(gt__map_kernel<T, MANY, M>), \
        GT__POINTER(gt__map_kernel<T, SOME, GT__TRANSPOSED>) \
  }
static const void *const gt__map_kernels[3][2][3] = {
    {GT__MAPS(float, 0, 0, GT__TRANSPOSED), GT__MAPS(float, 2, 4, GT__ALL_WHOLE)},
    {GT__MAPS(double, 0, 0, GT__TRANSPOSED), GT__MAPS(double, 1, 1, GT__TRANSPOSED)},
    {GT__MAPS(int64_t, 1, 1, GT__TRANSPOSED), GT__MAPS(int64_t, 1, 1, GT__TRANSPOSED)}};
/* Does x lie side by side along dim d and not the last, in a dtype that gt__fill_transposed takes?
   */
static bool gt__lies_across(const gt__operand *x, const gt__map_args *args, int d) {
  const int line = args->ndim - 1;
  const int compute = args->program.compute;
  const bool raw = compute == GT__F32 && x->dtype >= GT__RAW_8;
  return (raw || gt__is_usual(compute, x->dtype)) && d >= 0 && x->stride[d] == 1 &&
         x->stride[line] > 1;
}
/* Is a matrix of dim d and the last worth transposing inputs that lie so? */
static bool gt__is_across(const gt__map_args *args, int d) {
  bool across = false;
  for (int k = 0; k < args->program.n_in; k++) {
    const gt__operand *x = &args->in[k];
    across |= gt__lies_across(x, args, d);
  }
  return across && args->size[args->ndim - 1] >= GT__ACROSS_COLUMNS &&
         args->size[d] >= GT__ACROSS_ROWS;
}
/* Do values depend on their place? */
static bool gt__is_placed(const gt__program *p) {
  bool placed = false;
  for (int i = 0; i < p->n_ins; i++)
    placed |= p->ins[i].op >= GT__INDEX && p->ins[i].op <= GT__INTEGER;
  return placed;
}
static void gt__move_last_but_one(int64_t *x, int d, int at) {
  const int64_t moved = x[d];
  memmove(x + d, x + d + 1, (at - d) * sizeof *x);
  x[at] = moved;
}
/* Moves the dim with which the last one is worth transposing to the last place but one. False: it
   is there already, or there is none, or values depend on their place. */
static bool gt__bring_near(gt__map_args *to, const gt__map_args *args) {
  const int at = args->ndim - 2;
  int d = at;
  while (d >= 0 && !gt__is_across(args, d)) d--;
  if (d < 0 || d == at || gt__is_placed(&args->program)) return false;
  *to = *args;
  gt__move_last_but_one(to->size, d, at);
  gt__move_last_but_one(to->out.stride, d, at);
  for (int k = 0; k < args->program.n_in; k++) {
    int64_t *stride = to->in[k].stride;
    gt__move_last_but_one(stride, d, at);
  }
  return true;
}
/* How an operand moves in whole vectors of W elements; false if it cannot. */
static bool gt__set_step(gt__step *m, const gt__operand *x, const gt__map_args *args,
                         const gt__tiling *t, int W) {
  const int line = args->ndim - 1;
  const int bytes = W << x->size_log2;
  const int64_t size = 1ll << x->size_log2;
  const int64_t align = bytes < 16 ? bytes : 16;
  bool aligned = x->stride[line] == 1 && ((uintptr_t)x->data & (align - 1)) == 0;
  for (int d = 0; d < line; d++) {
    const int64_t hop = x->stride[d] * size;
    aligned = aligned && (hop & (align - 1)) == 0;
  }
  const int64_t row = line ? x->stride[line - 1] * size : 0;
  const int64_t column = x->stride[line] * size;
  m->row = (int)row;
  m->column = (int)column;
  m->next = row * t->dr + column * t->dc;
  m->across = t->transposes && gt__lies_across(x, args, line - 1);
  m->copy = m->column && !m->across && bytes <= 16 ? bytes : 0;
  return row == m->row && column == m->column && (column == 0 || m->across || aligned);
}
/* Lays the tiles for threads of so many vectors of W. Of columns a tile has at most those of one
   vector of each thread, so that the next vector lies straight below; and fewer where an eighth of
   a row would be useless. */
static void gt__lay_map_tiles(gt__tiling *t, const gt__map_args *args, int threads, int vectors,
                              int W) {
  const int hop = threads * W;
  const int elements = hop * vectors;
  const int64_t width = args->size[args->ndim - 1];
  const bool one = t->rows == 1;
  int columns = one ? elements : hop;
  if (t->transposes) columns = 16 * W;
  while (!t->transposes && !one && columns > W &&
         (-width & (columns - 1)) > width / GT__USELESS_COLUMNS)
    columns /= 2;
  t->columns_log2 = __builtin_ctz(columns);
  t->across = gt__blocks(width, columns);
  t->high = one ? 1 : elements >> t->columns_log2;
  t->dr = one ? 0 : hop >> t->columns_log2;
  t->dc = one ? hop : 0;
}
/* False: the map cannot be cut into whole vectors; or there are several batches, and the tiles of
   one would have over a third more rows than the batch or, transposed, over twice as many. */
static bool gt__set_tiling(gt__tiling *t, const gt__map_args *args, int threads, int vectors,
                           int W) {
  const int compute = args->program.compute;
  const int line = args->ndim - 1;
  int64_t batches = 1;
  for (int d = 0; d < line - 1; d++) batches *= args->size[d];
  t->transposes = gt__is_across(args, line - 1);
  t->rows = args->count / args->size[line] / batches;
  t->batches = (unsigned)batches;
  gt__lay_map_tiles(t, args, threads, vectors, W);
  const int64_t used = gt__up(t->rows, t->high) * 3;
  const int64_t most = t->transposes ? 6 : 4;
  if (batches > 1 && (batches > USHRT_MAX || used > most * t->rows)) return false;
  if (args->size[line] % W != 0 || args->out.stride[line] != 1) return false;
  if (!gt__set_step(&t->step[0], &args->out, args, t, W)) return false;
  if (t->step[0].across) return false;
  for (int k = 0; k < args->program.n_in; k++) {
    const gt__operand *x = &args->in[k];
    gt__step *m = &t->step[1 + k];
    if (!gt__set_step(m, x, args, t, W)) return false;
    if (!gt__is_usual(compute, x->dtype) || (m->row == 0 && t->rows > 1)) m->copy = 0;
  }
  return true;
}

/* ---- >>map-short --------------------------------------------------------------------------------
   The shortest programs, on rows of one dtype, have an instance for each operation of this list:
   operands go from memory to registers, without slots. H200, November 2026, us of 2^28 elements:

                      float32: exp, tanh, sigmoid     gelu    bfloat16: exp    -a    a < b
       so                             505             554               252    250    306
       by slots                       533             612               279    308    497

   2^24 elements are up to 40 % faster, sqrt of 2^14 takes 1.2 us, by slots 3.1. */
/* clang-format off */
#define GT__SHORT_PROGRAMS(X) /* operands, vectors of a thread: two for much arithmetic */ \
  X(add, 2, 1) X(sub, 2, 1) X(mul, 2, 1) X(div, 2, 1) \
  X(mul_add, 3, 1) X(where, 3, 1) \
  X(relu, 1, 1) X(neg, 1, 1) X(square, 1, 1) \
  X(sqrt, 1, 1) X(rsqrt, 1, 1) \
  GT__SHORT_FUNCTIONS(X)
/* float64 has these alone: exp of 2^25 130 us, by slots 174; pow of 2^28 2.15 ms, by slots 2.66 */
#define GT__SHORT_DOUBLES(X) GT__SHORT_FUNCTIONS(X) X(pow, 2, 2)
#define GT__SHORT_FUNCTIONS(X) \
  X(exp, 1, 2) X(log, 1, 2) \
  X(tanh, 1, 2) X(sigmoid, 1, 2) \
  X(gelu, 1, 2) X(silu, 1, 2) X(sin, 1, 2)
/* Those of integers. Here the compiler finds that they need not be 64 bits wide, as the
   interpreter's are: uint8 takes a tenth of the time. Comparisons and logic make bools; short
   floats have the choices, too. */
#define GT__SHORT_INTEGERS(X) \
  X(add, 2, 1) X(sub, 2, 1) X(mul, 2, 1) X(where, 3, 1) \
  GT__SHORT_CHOICES(X) \
  X(logical_and, 2, 1) X(logical_or, 2, 1) X(logical_not, 1, 1)
#define GT__SHORT_CHOICES(X) \
  X(abs, 1, 1) X(maximum, 2, 1) X(minimum, 2, 1) \
  X(eq, 2, 1) X(ne, 2, 1) X(lt, 2, 1) X(le, 2, 1)
/* clang-format on */
__host__ __device__ constexpr bool gt__makes_bools(int op) { /* these stand together in THE TABLE */
  return op >= GT__OP_eq && op <= GT__OP_isfinite;
}
enum { GT__SHORT_BLOCK = 256 }; /* vectors of a block */
/* All threads that a multiprocessor of a large chip has, with 32 registers each. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900)
enum { GT__SHORT_BLOCKS = 8 };
#else
enum { GT__SHORT_BLOCKS = 4 };
#endif
struct gt__short {
  char *data[4];    /* of out and the operands; NULL: a number */
  gt__step step[4]; /* copy 0: the same in all columns; less than 16: bool */
  gt__num number[4];
  unsigned vectors, across;       /* across: of a row; 0: there is but one */
  uint8_t op, each, dtype, width; /* a thread's vectors; the operands' dtype; a vector's elements */
};
/* A float16 or bfloat16, as `half` tells, which is the same for all threads: so one kernel serves
   both, with exp 1 % slower, and is compiled once. */
struct gt__sixteen {
  uint16_t bits;
};
/* Converts, where gt__sixteen stands for float16 (`half`) or bfloat16. */
template <class T, class S, int N>
GT__DEV void gt__cast_known(T (&y)[N], const S *x, bool half) {
  if constexpr (std::is_same<S, gt__sixteen>::value) {
    if (half) gt__cast_all(y, (const gt__half *)x);
    else gt__cast_all(y, (const gt__bfloat *)x);
  } else if constexpr (std::is_same<T, gt__sixteen>::value) {
    if (half) gt__cast_all((gt__half(&)[N])y, x);
    else gt__cast_all((gt__bfloat(&)[N])y, x);
  } else gt__cast_all(y, x);
}
GT__DEV bool gt__is_step(const gt__short &p, int k, int bytes) {
  return p.data[k] && p.step[k].copy == bytes;
}
/* A vector of each operand: 16 bytes, as many bools, or one value for all columns. */
template <int ARITY, class S>
GT__DEV void gt__load_short(const gt__short &p, int row, int column, uint4 (&x)[1 + ARITY]) {
  constexpr int W = gt__lot<S>;
  GT__UNROLL for (int k = 1; k <= ARITY; k++) {
    const char *from = p.data[k] + (int64_t)row * p.step[k].row;
    if (ARITY == 1 || gt__is_step(p, k, 16)) {
      x[k] = ((const uint4 *)from)[column];
    } else if (gt__is_step(p, k, 0)) {
      memcpy(&x[k], from, sizeof(S));
    } else if (gt__is_step(p, k, W)) {
      memcpy(&x[k], (const gt__bits<W> *)from + column, W);
    }
  }
}
/* Operand k in the compute type C. */
template <bool ALONE, class S, class C, int W>
GT__DEV void gt__widen_short(const gt__short &p, int k, const uint4 &x, C (&y)[W]) {
  const bool half = p.dtype == GT_FLOAT16;
  S u[W];
  memcpy(u, &x, 16);
  if (ALONE || gt__is_step(p, k, 16)) {
    gt__cast_known(y, u, half);
  } else if (gt__is_step(p, k, W)) {
    const uint32_t bits[2] = {x.x, x.y}; /* of uint8 it is a whole vector */
    for (int i = 0; i < W; i++) {
      const uint32_t four = bits[i / 4 % 2];
      const uint32_t one = four >> i % 4 * 8;
      y[i] = (one & 255) != 0;
    }
  } else {
    y[0] = gt__constant<C>(p.number[k]);
    if (p.data[k]) gt__cast_known(y, u, half); /* whole, since two are cast at once */
    for (int i = 1; i < W; i++) y[i] = y[0];
  }
}
/* Stores a vector of results, or as many bools. */
template <int OP, class S, class C, int W>
GT__DEV void gt__store_short(const gt__short &p, int row, int column, const C (&y)[W]) {
  char *const to = p.data[0] + (int64_t)row * p.step[0].row;
  if constexpr (gt__makes_bools(OP)) {
    uint8_t z[W];
    const int64_t at = column * (int64_t)W;
    gt__cast_all(z, y);
    gt__store_line(to + at, z);
  } else {
    S u[W];
    gt__cast_known(u, y, p.dtype == GT_FLOAT16);
    gt__store_line(to + column * 16ll, u);
  }
}
template <class S>
using gt__short_float = std::conditional_t<sizeof(S) == 8, double, float>;
template <class S> /* what S is computed in */
using gt__short_compute =
    std::conditional_t<std::is_integral<S>::value, int64_t, gt__short_float<S>>;
/* Approximations that all GPUs have. */
GT__DEV float gt__about_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
GT__DEV float gt__about_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/* -- functions of 16-bit numbers by shorter forms, which use Hopper's approximations. Rounded to 16
   bits they are the same as the full ones, as test/ops.c tries, for all numbers but one that is
   hard and those beyond a limit. 2^28 bfloat16: tanh 255 us, in full 327, gelu 288, in full 387,
   sin 302, in full 380. -- */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
GT__DEV float gt__brief_sin(float x) {
  const float k = gt__fma_f32(fabsf(x), 0x1.45f306p-1f, gt__rounder_f32);
  const float n = GT__SUB(k, gt__rounder_f32);
  const float r = gt__fma_f32(n, -gt__pio2_hi_f32, fabsf(x));
  const float y = gt__fma_f32(n, -gt__pio2_mid_f32, r);
  return gt__neg_if_f32(gt__sin_quadrant_f32(gt__bits_f32(k), y, 0), gt__bits_f32(x));
}
/* max(x, 0) - a Phi(-a) with a = |x|. Phi(-a) is 2^24 e^(-a^2/2), a power of 2, which is no
   subnormal number so, times 2^-24 Phi(-a) e^(a^2/2), a polynomial in t = 1 / (1 + .3 a), fit
   2^-24. */
GT__DEV float gt__brief_gelu(float x) {
  static const float c[] = {0x1.e9f6c4p-28f,  0x1.ef5624p-28f, 0x1.9414f2p-28f,  0x1.1087b2p-27f,
                            -0x1.00c4b6p-28f, 0x1.bb72cep-27f, -0x1.4e6868p-27f, 0x1.307d72p-29f};
  const float a = gt__at_most_f32(14.4f, fabsf(x));
  const float z = GT__MUL(a, a);
  const float k = gt__fma_f32(z, -0x1.715476p-1f, gt__rounder_f32 + 24);
  const float n = GT__SUB(k, gt__rounder_f32 + 24);
  const float y = gt__about_exp2(gt__fma_f32(z, -0x1.715476p-1f, -n));
  const float power = gt__float_f32(gt__bits_f32(y) + (gt__bits_f32(k) << 23));
  const float t = gt__about_reciprocal(gt__fma_f32(a, 0x1.333338p-2f, 1));
  const float tail = GT__MUL(gt__poly_f32(t, c, 8), t);
  return gt__fma_f32(-GT__MUL(a, power), tail, gt__at_least_f32(-0.0f, x));
}
/* tanh, and sigmoid(x) = 1/2 + tanh(x/2)/2; near 0 by a polynomial, fit 2^-24. */
template <int OP>
GT__DEV float gt__brief(float x) {
  static const float c[] = {-0x1.555422p-2f, 0x1.10c656p-3f, -0x1.ae9d0cp-5f, 0x1.09f5ccp-6f};
  if (OP == GT__OP_sin) return gt__brief_sin(x);
  if (OP == GT__OP_gelu) return gt__brief_gelu(x);
  const bool whole = OP == GT__OP_tanh;
  const float a = whole ? fabsf(x) : GT__MUL(x, 0.5f);
  const float z = GT__MUL(a, a);
  const float little = gt__fma_f32(GT__MUL(a, z), gt__poly_f32(z, c, 4), a);
  const float power = gt__about_exp2(GT__MUL(a, whole ? 0x1.715476p+1f : -0x1.715476p+1f));
  const float inverse = gt__about_reciprocal(GT__ADD(1.0f, power));
  const bool low = fabsf(a) < 0.5625f;
  if (whole) return copysignf(low ? little : gt__fma_f32(-2, inverse, 1), x);
  const float y = low ? gt__fma_f32(0.5f, little, 0.5f) : inverse;
  return OP == GT__OP_silu ? GT__MUL(x, y) : y;
}
/* By the short forms, if no value is beyond their limits or one of the few for which the rounding
   to 16 bits would come out otherwise. */
template <int OP, int N>
GT__DEV void gt__apply_briefly(float (&a)[N]) {
  const float limit = OP == GT__OP_sin ? 0x1p15f : 87;
  bool full = false;
  GT__EACH {
    const float x = fabsf(a[i]);
    if (OP == GT__OP_sigmoid) full |= x == 0x1.6p-7f;
    if (OP == GT__OP_silu) full |= x == 0x1.3bp+2f;
    if (OP == GT__OP_gelu) full |= x == 0x1.8p-23f;
    else if (OP != GT__OP_tanh) full |= x >= limit;
  }
  if (full) {
    GT__EACH a[i] = gt__apply<OP>(a[i]);
  } else {
    GT__EACH a[i] = gt__brief<OP>(a[i]);
  }
}
static_assert(GT__OP_silu == GT__OP_tanh + 3, "tanh, sigmoid, gelu and silu are neighbours");
#else
template <int OP, int N>
GT__DEV void gt__apply_briefly(float (&a)[N]) {
  gt__apply_all<OP>(a, a, a);
}
#endif
/* V vectors of a thread: all are loaded before one is computed and stored. */
template <int OP, int ARITY, int V, class S>
GT__DEV void gt__make_short(const gt__short &p) {
  typedef gt__short_compute<S> C;
  constexpr int W = gt__lot<S>;
  constexpr int HOP = GT__SHORT_BLOCK / V;
  const unsigned first = blockIdx.x * GT__SHORT_BLOCK + threadIdx.x;
  uint4 x[V][1 + ARITY];
  int row[V];
  int column[V];
  GT__UNROLL for (int v = 0; v < V; v++) {
    const unsigned at = first + v * HOP;
    const int r = p.across ? at / p.across : 0;
    const int c = at - r * p.across;
    row[v] = r;
    column[v] = c;
    if (v == 0) gt__await_kernel_before();
    if (at < p.vectors) gt__load_short<ARITY, S>(p, r, c, x[v]);
  }
  GT__UNROLL for (int v = 0; v < V; v++) {
    C y[1 + ARITY][W];
    GT__UNROLL for (int k = 1; k <= ARITY; k++) {
      gt__widen_short<ARITY == 1, S>(p, k, x[v][k], y[k]);
    }
    constexpr bool FITS = OP >= GT__OP_tanh && OP <= GT__OP_silu;
    if constexpr (sizeof(S) == 2 && (FITS || OP == GT__OP_sin)) gt__apply_briefly<OP>(y[1]);
    else gt__apply_all<OP>(y[1], y[1 + (ARITY > 1)], y[ARITY]);
    const bool exists = first + v * HOP < p.vectors;
    if (exists) gt__store_short<OP, S>(p, row[v], column[v], y[1]);
  }
}
template <class S>
__global__ void __launch_bounds__(GT__SHORT_BLOCK,
                                  GT__SHORT_BLOCKS / (sizeof(S) == 1 || sizeof(S) == 8 ? 2 : 1))
    gt__short_kernel(const __grid_constant__ gt__short p) {
  gt__release_next_kernel();
#define GT__SHORT(name, arity, each) \
  case GT__OP_##name: gt__make_short<GT__OP_##name, arity, sizeof(S) == 8 ? 2 : each, S>(p); break;
  if constexpr (std::is_integral<S>::value) switch (p.op) {
      GT__SHORT_INTEGERS(GT__SHORT)
    }
  else if constexpr (sizeof(S) == 8) switch (p.op) {
      GT__SHORT_DOUBLES(GT__SHORT)
    }
  else switch (p.op) {
      GT__SHORT_PROGRAMS(GT__SHORT) GT__SHORT_CHOICES(GT__SHORT)
    }
#undef GT__SHORT
}
static const void *const gt__short_kernels[] = {/* by dtype, from GT_UINT8 on */
                                                GT__POINTER(gt__short_kernel<uint8_t>),
                                                NULL,
                                                NULL,
                                                GT__POINTER(gt__short_kernel<int32_t>),
                                                NULL,
                                                GT__POINTER(gt__short_kernel<gt__sixteen>),
                                                GT__POINTER(gt__short_kernel<gt__sixteen>),
                                                GT__POINTER(gt__short_kernel<float>),
                                                GT__POINTER(gt__short_kernel<double>)};
static_assert(GT_INT32 == GT_UINT8 + 3 && GT_FLOAT16 == GT_UINT8 + 5 &&
                  GT_BFLOAT16 == GT_UINT8 + 6 && GT_FLOAT32 == GT_UINT8 + 7 &&
                  GT_FLOAT64 == GT_UINT8 + 8,
              "gt__short_kernels has a place for each dtype from GT_UINT8 on");
/* -- recognising such a program -- */
struct gt__short_row {
  uint8_t op, arity, each;
};
#define GT__SHORT(name, arity, each) {GT__OP_##name, arity, each},
static const gt__short_row gt__short_floats[] = {GT__SHORT_PROGRAMS(GT__SHORT)
                                                     GT__SHORT_CHOICES(GT__SHORT){}};
static const gt__short_row gt__short_doubles[] = {GT__SHORT_DOUBLES(GT__SHORT){}};
static const gt__short_row gt__short_integers[] = {GT__SHORT_INTEGERS(GT__SHORT){}};
#undef GT__SHORT
static const gt__short_row *const gt__short_rows[] = {gt__short_floats, gt__short_doubles,
                                                      gt__short_integers};
static_assert(GT__F32 == 0 && GT__F64 == 1 && GT__I64 == 2, "the order of gt__short_rows");
/* The operation and the slots of its operands, from 1 on: a > b is b < a, and a*b + c, which is two
   operations, is one here. */
static bool gt__read_short(const gt__program *p, gt__short *s, int *slot) {
  const gt__ins *i = p->ins;
  const bool two = p->n_ins == 3 && i[1].op == GT__OP_mul && i[2].op == GT__OP_add;
  if ((p->n_ins != 2 && !two) || i[0].op != GT__LOAD) return false;
  const bool greater = i[1].op == GT__OP_gt;
  const bool swaps = greater || i[1].op == GT__OP_ge;
  s->op = two ? (uint8_t)GT__OP_mul_add : i[1].op;
  if (swaps) s->op = greater ? GT__OP_lt : GT__OP_le;
  slot[1] = i[swaps].b;
  slot[2] = i[!swaps].b;
  slot[3] = two ? i[2].b : i[1].c;
  return true;
}
/* How operand k is loaded: false if it is none that the kernel can load. */
static bool gt__set_short_operand(gt__short *s, int k, int slot, const gt__map_args *args,
                                  int dtype, int arity) {
  static const gt__tiling none = {};
  const int constant = slot - args->program.n_in;
  s->data[k] = NULL;
  if (constant >= 0) s->number[k] = args->program.constant[constant];
  if (constant >= 0) return arity > 1;
  const gt__operand *x = &args->in[slot];
  const bool chooses = s->op == GT__OP_where && k == 1 && x->dtype == GT_BOOL;
  s->data[k] = x->data;
  if (!gt__set_step(&s->step[k], x, args, &none, s->width)) return false;
  const bool copies = s->step[k].copy > 0;
  if (x->dtype == dtype) return copies || arity > 1;
  return copies && chooses;
}
/* The dtype of the operands; comparisons and logic make bools of them. Logic takes bools as the
   bytes that they are. */
static const gt__operand *gt__short_operand(const gt__short *s, const gt__map_args *args,
                                            const int *slot) {
  const int n_in = args->program.n_in;
  const int k = slot[1] < n_in ? slot[1] : slot[2];
  const bool tells = gt__makes_bools(s->op) && k < n_in;
  return tells ? &args->in[k] : &args->out;
}
/* Has the kernel these dtypes, and are rows whole vectors? */
static bool gt__fits_short(const gt__short *s, const gt__map_args *args, int64_t row) {
  const int compute = args->program.compute;
  const int to = gt__makes_bools(s->op) ? (int)GT_BOOL : s->dtype;
  const bool fits = compute == GT__I64 ? s->dtype == GT_UINT8 || s->dtype == GT_INT32
                                       : gt__is_usual(compute, s->dtype);
  if (!fits || args->out.dtype != to) return false;
  return row % s->width == 0 && args->count / s->width <= INT32_MAX;
}
/* Is the map, but for `rest` elements, one of these programs on whole vectors, in one row or many?
   */
static bool gt__set_short(gt__short *s, const gt__map_args *args, int rest) {
  static const gt__tiling none = {};
  const gt__program *p = &args->program;
  const int line = args->ndim - 1;
  const int64_t row = args->size[line] - rest;
  int slot[4];
  if (line > 1) return false;
  if (!gt__read_short(p, s, slot)) return false;
  const gt__short_row *known = gt__short_rows[p->compute];
  while (known->arity && known->op != s->op) known++;
  const gt__operand *x = gt__short_operand(s, args, slot);
  const bool logic = s->op >= GT__OP_logical_and && s->op <= GT__OP_logical_not;
  const bool bytes = logic && x->dtype == GT_BOOL;
  s->dtype = bytes ? (uint8_t)GT_UINT8 : x->dtype;
  s->each = p->compute == GT__F64 ? 2 : known->each;
  s->width = (uint8_t)(16 >> x->size_log2);
  s->vectors = (unsigned)((args->count - rest) / s->width);
  s->across = line ? (unsigned)(row / s->width) : 0;
  s->data[0] = args->out.data;
  if (!known->arity || !gt__fits_short(s, args, row)) return false;
  bool is = gt__set_step(&s->step[0], &args->out, args, &none, s->width);
  is = is && s->step[0].copy;
  for (int k = 1; k <= known->arity && is; k++)
    is = gt__set_short_operand(s, k, slot[k], args, x->dtype, known->arity);
  return is;
}

/* ---- >>map-bfloat16 -----------------------------------------------------------------------------
   Long maps of bfloat16 alone, by light steps: operands are not made floats in their slots but as a
   step reads them, from half as many bytes. The last step may be a sigmoid, which has a short form.
   A thread has 16 elements, as in >>map-vectors:

       slot of an operand       [8 bfloat16] [8 bfloat16] [ unused ] [ unused ]     4 x 16 bytes
       slot of another value    [ 4 float  ] [ 4 float  ] [4 float ] [4 float ] */
enum { GT__BFLOAT16_VECTORS = 2 }; /* of a thread */
struct gt__bfloat16_slots : gt__slots {
  unsigned operands; /* the first slots: vectors of eight, in the first half of their places */
};
template <int N>
GT__DEV void gt__get(const gt__bfloat16_slots &s, unsigned slot, float (&x)[N]) {
  gt__bfloat u[GT__BFLOAT16_VECTORS][8];
  if (slot >= s.operands) return gt__get<float>(s, slot, x); /* the one of all slots */
  GT__UNROLL for (int v = 0; v < GT__BFLOAT16_VECTORS; v++)
      gt__load_line(gt__at<GT__VECTORS>(s, slot, v), u[v]);
  gt__cast_all(x, u[0]);
}
/* Sigmoids that are to be bfloat16. The approximations are so good on every GPU that the short form
   is wrong by less than 12 ulp of float32 where no number is below -4. If one lies so near to the
   middle of two bfloat16, all are computed in full. */
template <int N>
GT__DEV void gt__round_sigmoid(float (&x)[N]) {
  float y[N];
  float low = 0;
  uint32_t least = 1 << 16;
  GT__EACH {
    const float power = gt__about_exp2(GT__MUL(x[i], -0x1.715476p+0f));
    y[i] = gt__about_reciprocal(GT__ADD(1.0f, power));
    low = fminf(low, x[i]);
    least = min(least, (gt__bits_f32(y[i]) + 0x800c) & 0xffff);
  }
  if (low < -4 || least <= 24) gt__apply_all<GT__OP_sigmoid>(x, x, x);
  else memcpy(x, y, sizeof y);
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { GT__BFLOAT16_BLOCKS = 8 }; /* a multiprocessor of sm_75 has room for 1,024 threads */
#else
enum { GT__BFLOAT16_BLOCKS = 9 };
#endif
/* Block: up to 128 threads. Grid: tiles, as gt__map_kernel's. */
__global__ void __launch_bounds__(128, GT__BFLOAT16_BLOCKS)
    gt__bfloat16_kernel(const __grid_constant__ gt__map_args p,
                        const __grid_constant__ gt__tiling t) {
  const gt__bfloat16_slots s = {gt__my_slots(GT__VECTORS * gt__slot_count(p.program)),
                                p.program.n_in};
  const gt__batch b = gt__my_batch<gt__bfloat, false>(p, t);
  const int exist = gt__which_exist(t, b, GT__BFLOAT16_VECTORS);
  float acc[GT__BFLOAT16_VECTORS][8];
  gt__after_kernel_before();
  GT__LOOP for (unsigned k = 0; k < s.operands; k++) {
    const gt__step &step = t.step[1 + k];
    /* the first two of the four vectors of slot k are those of slot 2 * k, if slots have two */
    gt__copy_vectors<GT__BFLOAT16_VECTORS, 16>(s, 2 * k, gt__find_vector(p, p.in[k], step, b),
                                               step.next, exist);
  }
  gt__fill_constants<float, 8 * GT__BFLOAT16_VECTORS>(p.program, s);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  gt__run<float, 0>(p.program, s, b, (float(&)[8 * GT__BFLOAT16_VECTORS]) acc);
  char *to = gt__find_vector(p, p.out, *t.step, gt__my_batch<gt__bfloat, false>(p, t));
  GT__UNROLL for (int v = 0; v < GT__BFLOAT16_VECTORS; v++) {
    gt__bfloat u[8];
    if (p.program.heavy) gt__round_sigmoid(acc[v]);
    gt__cast_all(u, acc[v]);
    if (exist >> v & 1) gt__store_line(to + v * t.step->next, u);
  }
}

/* ---- >>map-plan --------------------------------------------------------------------------------
   Which of the ways short, bfloat16, transposed, few, vectors and strided takes a map, and with
   what tiles. A map inside of a product has a plan, too, so plans are made from a map's arguments.
   */
static const void *const gt__rare_map_kernels[] = {
    GT__POINTER(gt__map_kernel<float, 1, GT__FEW_VECTORS>), GT__POINTER(gt__bfloat16_kernel)};
struct gt__map_plan {
  int rest; /* elements of an odd end, a map of its own, so that the rest has whole vectors */
  int mode, threads, vectors;
  bool moved; /* args is the map, not the operation's */
  gt__short brief;
  gt__tiling t;
  gt__map_args args;
};
static_assert(sizeof(gt__map_plan) <= GT__PLAN_WORDS * 8, "a plan has room in an operation");
static bool gt__has_elements(const gt__map_args *args) {
  return gt__is_program(&args->program) && args->count > 0;
}
static int gt__odd_end(const gt__map_args *args) {
  const bool is_long = args->ndim == 1 && args->count >= GT__ODD_END;
  return is_long && !gt__is_placed(&args->program) ? (int)(args->count % 16) : 0;
}
static const gt__map_args *gt__planned_map(const gt__map_args *args, const gt__map_plan *plan) {
  return plan->moved ? &plan->args : args;
}
static int64_t gt__slot_bytes(const gt__map_args *args) {
  return 16ll * gt__slot_count(args->program);
}
/* Work that would not give each multiprocessor some blocks is cut finer. */
static int gt__map_threads(const gt__map_args *args) {
  const int W = args->program.compute == GT__F32 ? 4 : 2;
  int threads = gt__is_across(args, args->ndim - 2) ? 256 : 128;
  const auto too_many = [&] {
    return gt__slot_bytes(args) * threads * GT__VECTORS > GT__SHARED ||
           args->count < (int64_t)GT__MAP_BLOCKS * threads * GT__VECTORS * W;
  };
  while (threads == 128 && too_many()) threads /= 2;
  return threads;
}
/* The plan of a map by whole vectors, in one of its modes; false: that mode does not take it. */
template <int MODE>
static bool gt__plan_whole(const gt__map_args *args, gt__map_plan *plan) {
  const bool few = MODE == GT__FEW_VECTORS;
  const bool is_few = args->program.compute == GT__F32 && args->count <= GT__FEW_ELEMENTS;
  if (!gt__has_elements(args) || (few && !is_few)) return false;
  plan->rest = gt__odd_end(args);
  plan->moved = gt__bring_near(&plan->args, args);
  if (plan->rest) {
    plan->args = *args;
    plan->args.count -= plan->rest;
    plan->args.size[0] = plan->args.count;
    plan->moved = true;
  }
  const gt__map_args *m = gt__planned_map(args, plan);
  if (gt__is_across(m, m->ndim - 2) != (MODE == GT__TRANSPOSED)) return false;
  plan->mode = MODE;
  plan->threads = gt__map_threads(m);
  plan->vectors = few ? 1 : GT__VECTORS;
  const int lot = m->program.compute == GT__F32 ? 4 : 2;
  const int W = MODE == GT__BFLOAT16 ? 8 : lot;
  return gt__slot_bytes(m) * plan->threads * plan->vectors <= GT__SHARED &&
         gt__set_tiling(&plan->t, m, plan->threads, plan->vectors * lot / W, W);
}
/* The kernel makes the last sigmoid itself. */
static bool gt__plan_bfloat16(const gt__map_args *args, gt__map_plan *plan) {
  const gt__program *p = &args->program;
  const bool rounds = p->heavy == 1 && p->ins[p->n_ins - 1].op == GT__OP_sigmoid;
  if (args->out.dtype != GT_BFLOAT16 || args->count < GT__ODD_END || p->heavy != rounds ||
      !gt__plan_whole<GT__BFLOAT16>(args, plan))
    return false;
  for (int k = 0; k < p->n_in; k++)
    if (args->in[k].dtype != GT_BFLOAT16 || plan->t.step[1 + k].copy != 16) return false;
  plan->args = *gt__planned_map(args, plan);
  plan->moved = true;
  plan->args.program.n_ins -= rounds;
  return true;
}
static bool gt__plan_strided(const gt__map_args *args, gt__map_plan *plan) {
  if (!gt__has_elements(args)) return false;
  plan->rest = 0;
  plan->moved = gt__bring_near(&plan->args, args);
  const gt__map_args *m = gt__planned_map(args, plan);
  const int most = gt__slot_bytes(m) * 256 > GT__SHARED ? 64 : 128;
  plan->mode = GT__ANY;
  plan->threads = min(gt__map_threads(m), most);
  plan->vectors = 2;
  return true;
}
static int gt__map_by_best_way(const gt__map_args *args, void *stream);
/* The last `rest` elements, which are no whole vector, as a map of their own. */
static int gt__map_odd_end(const gt__map_args *args, int rest, void *stream) {
  gt__map_args end = *args;
  const auto skip = [&](gt__operand *x) {
    x->data += (x->stride[0] * (args->count - rest)) << x->size_log2;
  };
  skip(&end.out);
  for (int k = 0; k < args->program.n_in; k++) skip(&end.in[k]);
  end.count = rest;
  end.size[0] = rest;
  return gt__map_by_best_way(&end, stream);
}
/* Launches what gt__plan_whole or gt__plan_strided planned, and the odd end. */
static int gt__start_map(const gt__map_args *args, const gt__map_plan *plan, void *stream) {
  const gt__map_args *m = gt__planned_map(args, plan);
  const gt__program *p = &m->program;
  const gt__tiling *t = &plan->t;
  const int W = p->compute == GT__F32 ? 4 : 2;
  const int batch = plan->vectors * plan->threads;
  void *parameters[] = {(void *)m, (void *)t};
  dim3 grid(gt__blocks(m->count, batch * W));
  if (plan->mode != GT__ANY) grid = dim3(gt__blocks(t->rows, t->high) * t->across, t->batches);
  const void *kernel = gt__rare_map_kernels[plan->mode == GT__BFLOAT16];
  if (plan->mode < GT__FEW_VECTORS) kernel = gt__map_kernels[p->compute][p->heavy != 0][plan->mode];
  const int error =
      gt__launch(kernel, grid, plan->threads, gt__slot_bytes(m) * batch, stream, parameters);
  return error || !plan->rest ? error : gt__map_odd_end(args, plan->rest, stream);
}
static bool gt__plan_short(const gt__map_args *args, gt__map_plan *plan) {
  if (!gt__has_elements(args)) return false;
  plan->rest = gt__odd_end(args);
  return gt__set_short(&plan->brief, args, plan->rest);
}
static int gt__start_short(const gt__map_args *args, const gt__map_plan *plan, void *stream) {
  const gt__short *s = &plan->brief;
  void *parameters[] = {(void *)s};
  const int error =
      gt__launch(gt__short_kernels[s->dtype - GT_UINT8], gt__blocks(s->vectors, GT__SHORT_BLOCK),
                 GT__SHORT_BLOCK / s->each, 0, stream, parameters);
  return error || !plan->rest ? error : gt__map_odd_end(args, plan->rest, stream);
}
/* A map inside of something else: what a product brings, what follows it, a copy. */
static int gt__map_by_best_way(const gt__map_args *args, void *stream) {
  gt__map_plan plan;
  if (!gt__is_program(&args->program) || args->count < 0) return cudaErrorInvalidValue;
  if (args->count == 0) return cudaSuccess;
  if (gt__plan_short(args, &plan)) return gt__start_short(args, &plan, stream);
  if (!gt__plan_whole<GT__TRANSPOSED>(args, &plan) &&
      !gt__plan_whole<GT__FEW_VECTORS>(args, &plan) && !gt__plan_whole<GT__ALL_WHOLE>(args, &plan))
    gt__plan_strided(args, &plan);
  return gt__start_map(args, &plan, stream);
}
/* The rows of >>ways for an operation. */
template <bool (*PLAN)(const gt__map_args *, gt__map_plan *)>
static int gt__plan_map(gt__op *op) {
  op->plan_bytes = sizeof(gt__map_plan);
  return PLAN(&op->u.map, (gt__map_plan *)op->plan);
}
template <int (*START)(const gt__map_args *, const gt__map_plan *, void *)>
static int gt__run_map(const gt__op *op, void *queue) {
  return START(&op->u.map, (const gt__map_plan *)op->plan, queue);
}

/* ---- >>reduce ----------------------------------------------------------------------------------
   THE PLAN of gputensor.h, by teams of threads. A thread's work is a sequence of vectors a constant
   `hop` apart: inner, across a row, the team side by side; else down the rows. It folds them as
   they are loaded or, behind a program, by way of its slots; single elements where no vectors fit.
   A block joins its chunks of an output in shared memory; what is left of the tree is a second
   kernel. */
/* Six folds are four: min and argmin are maxima of mirrored values, mirrored back at the end. */
__host__ __device__ __forceinline__ int gt__base_fold(int fold) {
  if (fold == GT__FOLD_ARGMIN) return GT__FOLD_ARGMAX;
  return fold == GT__FOLD_MIN ? (int)GT__FOLD_MAX : fold;
}
template <class T>
GT__DEV T gt__mirror(T x, T by) { /* integers: by 0 or -1; floats: by 1 or -1 */
  if constexpr (std::is_integral<T>::value) return x ^ by;
  else return GT__MUL(x, by);
}
template <class T>
GT__DEV T gt__mirror_of(int fold) {
  if (fold == GT__FOLD_MIN || fold == GT__FOLD_ARGMIN) return -1;
  return std::is_integral<T>::value ? 0 : 1;
}
/* Running results of a thread's lanes. A lane starts with the identity at its own first place: an
   equal element does not take its place, and need not. */
template <class T>
using gt__lane_results = gt__found<T, int>[8];
/* Where the values come from: the operand, U vectors at a time, or 8 elements of a TINY row; or a
   program, LIGHT with the usual operands, of float64 also float32 and bfloat16, or ANYHOW, one by
   one. Elements S that are not T are converted as they are folded. DIRECT_SUM has nothing but the
   sum. */
enum {
  GT__DIRECT_SUM = -1,
  GT__TINY,
  GT__DIRECT,
  GT__DIRECT_ARG,
  GT__LIGHT_FOLD,
  GT__ANYHOW,
  GT__COMBINE
};
/* Calls f with the fold as a constant, outside of loops over elements. What is read directly has a
   kernel for argmax: indices would take registers from all other folds. */
template <int SOURCE, class F>
GT__DEV void gt__by_fold(int fold, F f) {
  if (SOURCE == GT__DIRECT_SUM) f(gt__known<GT__FOLD_SUM>());
  else if (SOURCE == GT__DIRECT_ARG || (SOURCE != GT__DIRECT && fold == GT__FOLD_ARGMAX))
    f(gt__known<GT__FOLD_ARGMAX>());
  else if (fold == GT__FOLD_SUM) f(gt__known<GT__FOLD_SUM>());
  else if (fold == GT__FOLD_MAX) f(gt__known<GT__FOLD_MAX>());
  else f(gt__known<GT__FOLD_PROD>());
}
/* What the GPU's own maximum does with NaN and -0 is what ours does. */
template <int FOLD, class T>
GT__DEV T gt__fold_two(T a, T b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (FOLD == GT__FOLD_MAX && sizeof(T) == 4) return gt__at_least_f32(b, a);
#endif
  return gt__fold_values(FOLD, a, b);
}
/* Folds in an element that comes later. It never replaces an equal one, and if it is NaN it
   replaces all but a NaN: one comparison, which is false for NaN, tells both. */
template <int FOLD, class T, class I>
GT__DEV void gt__take(gt__found<T, I> &a, T x, I index) {
  if (FOLD != GT__FOLD_ARGMAX) {
    a.value = gt__fold_two<FOLD, T>(a.value, x);
  } else {
    const bool wins = !(x <= a.value) & (a.value == a.value);
    a.value = wins ? x : a.value;
    a.at = wins ? index : a.at;
  }
}
/* Does the order count? A maximum is the same in any. */
template <int F>
constexpr bool gt__in_order = F == GT__FOLD_SUM || F == GT__FOLD_PROD;

/* How a block's threads are dealt out to its 1 << chunks_log2 chunks of `outs` outputs, which teams
   take in turn:

       LONG         a team is a warp, and has a chunk of one output; a thread has 8 of the 256 lanes
       SHORT_ROWS   likewise, by 1 to 16 threads: all that each has of a row fits in registers
       DOWN         a team has a chunk of all `outs` outputs, a thread a vector of neighbouring ones
       BROAD        the block has a chunk of one output, a thread a lane of it */
enum { GT__LONG, GT__SHORT_ROWS, GT__DOWN, GT__BROAD };
struct gt__stride { /* how an operand moves, in bytes */
  int64_t wide;     /* by an output */
  int64_t deep;     /* by an element */
  int64_t hop;      /* by a vector */
  int64_t next;     /* within a vector */
};
struct gt__cut {
  int32_t pattern; /* LONG, ... */
  int32_t fold;
  int32_t team_log2;
  int32_t chunks_log2;
  int32_t outs;
  int32_t results; /* of a block, rounded up so that slots begin a line */
  unsigned groups; /* of chunks */
  /* blocks of a group, side by side, as rows are read as a whole then, 2 % faster */
  unsigned across;
  unsigned most; /* blocks that run at once on a large chip */
  bool bare;     /* the program is nothing but its operand, or whether that is not 0 */
  gt__stride in[GT__INPUTS];
};
/* Bounds of the elements that a thread still has to read. Along a row: `left` elements, its vectors
   begin `step` apart, and the first one lacks its first `skip`. Down: W for each row, of which
   `columns` exist. */
template <int W>
struct gt__extent {
  int left;
  int step;
  int columns;
  int skip;
  __device__ __forceinline__ bool has(int j, int i) const { /* element i of vector j */
    return j * step + i < left && i < columns && (j || i >= skip);
  }
  __device__ __forceinline__ bool is_full(int j) const { return has(j, W - 1) && (j || !skip); }
  __device__ __forceinline__ bool all(int n) const { return is_full(n - 1) && !skip; }
};
/* Rows start anywhere, vectors at multiples of their size: a row's first vector begins so many
   elements before it. That rotates the lanes. Each is still one lane of a thread, and since lane i
   takes in lane i + 128, then i + 64, ..., round a circle, halving makes the same bits. */
template <int W>
GT__DEV int gt__shift(const char *row, const gt__stride &m, int size_log2) {
  return m.next >> size_log2 == 1 ? (unsigned)(uintptr_t)row >> size_log2 & (W - 1) : 0;
}
/* Are the vectors of elements S side by side, and begin where the widest instructions may? */
template <int W, class S>
GT__DEV bool gt__has_lines(const char *from, const gt__stride &m) {
  constexpr int BYTES = W * (int)sizeof(S);
  return m.next == sizeof(S) && ((int)(uintptr_t)from | (int)m.hop) % BYTES == 0;
}
/* Loads the next vectors, with `none` for elements that do not exist; or (OUT) stores them. */
template <bool OUT, int W, class S, int E>
GT__DEV void gt__move_sequence(char *line, const gt__stride &m, bool lines, const gt__extent<W> &x,
                               S none, S (&e)[E]) {
  S(*y)[W] = (S(*)[W])e;
  const auto move = [&](int j, bool whole) {
    char *at = line + j * m.hop;
    if (whole && OUT) gt__store_line(at, y[j]);
    else if (whole) gt__load_line(at, y[j]);
    else
      for (int i = 0; i < W; i++) {
        const auto one = [&] { return (S *)(at + i * m.next); };
        if (!OUT) y[j][i] = x.has(j, i) ? *one() : none;
        else if (x.has(j, i)) *one() = y[j][i];
      }
  };
  if (lines && x.all(E / W))
    for (int j = 0; j < E / W; j++) move(j, true);
  else
    for (int j = 0; j < E / W; j++) move(j, lines && x.is_full(j));
}
GT__DEV int64_t gt__offset_of(const gt__reduce_args &p, const gt__operand &x, int64_t o) {
  return gt__locate(p.pre, o, 0, p.n_kept, x.stride) << x.size_log2;
}
/* Calls f with what LIGHT programs may have: the usual, and bytes or, of doubles, shorter ones. */
template <class T, class F>
GT__DEV void gt__by_light(int dtype, F f) {
  if (gt__if_usual<T>(dtype, f)) return;
  if (sizeof(T) == 8 && dtype == GT_BFLOAT16) f(gt__bfloat());
  else f(std::conditional_t<sizeof(T) == 4, uint8_t, float>());
}
/* Where an operand's next vectors are, in bytes from a line's beginning. Behind the last one stands
   the last one again. */
template <int U>
struct gt__vectors {
  const char *line;
  int at[U], any, other; /* bits that some place has, or by which they differ */
};
/* The vectors of output o, from element k of the fold on, `hop` elements apart; n of them exist. */
template <int N>
GT__DEV gt__vectors<N> gt__find_vectors(const gt__reduce_args &p, const gt__operand &in,
                                        const gt__stride &m, int64_t o, int64_t k, int hop, int n) {
  const int first = p.n_kept;
  const int last = p.pre.ndim - 1;
  gt__vectors<N> v;
  int64_t row = o * m.wide;
  if (first > 1) { /* not by gt__offset_of: a call would cost the others, too */
    uint32_t index[1] = {(uint32_t)o};
    gt__locate_all<false>(p.pre, 0, first, in.stride, index);
    row = (int)(index[0] << in.size_log2);
  }
  v.any = (int)m.hop;
  v.other = v.any;
  if (last <= first) {
    row += k * m.deep;
    GT__EACH v.at[i] = i * m.hop;
  } else {
    uint32_t index[N];
    GT__EACH index[i] = (uint32_t)k + min(i, n - 1) * hop;
    gt__locate_all<false>(p.pre, first, last + 1, in.stride, index);
    v.any = 0;
    v.other = 0;
    GT__EACH {
      v.at[i] = (int)(index[i] << in.size_log2);
      v.any |= v.at[i];
      v.other |= v.at[i] - v.at[0];
    }
  }
  v.line = in.data + row;
  v.any |= (int)(uintptr_t)v.line;
  return v;
}
/* The next vectors of an operand, of elements S, as T: near ones, of one dim at most, or far ones,
   that go on in the next line of their dim. */
template <class S, int W, int U, class T, int E>
GT__DEV void gt__load_vectors(const gt__vectors<U> &v, const gt__stride &m, bool lines,
                              bool one_line, const gt__extent<W> &x, T (&e)[E]) {
  const auto at = [&](int j, int i) {
    const char *vector = v.line + v.at[j];
    return (const S *)(vector + i * m.next);
  };
  const bool whole = lines && x.all(U);
  S u[U][W];
  S(&all)[E] = *(S(*)[E])u;
  if (v.other == 0 && m.next == 0) { /* a number for all */
    const T y = gt__as<T>(*at(0, 0));
    for (int i = 0; i < E; i++) e[i] = y;
    return;
  }
  if (one_line) {
    gt__move_sequence<false>((char *)v.line, m, lines, x, S(), all);
  } else {
    GT__UNROLL for (int j = 0; j < U; j++) {
      if (whole) gt__load_line((const char *)at(j, 0), u[j]);
      else
        for (int i = 0; i < W; i++) {
          const bool has = x.has(j, i);
          u[j][i] = has ? *at(j, i) : S();
        }
    }
  }
  gt__cast_all(e, u[0]);
}
/* The next vectors of a LIGHT program's operands, in slots or, of a bare one, in e. No vector goes
   on in the next line of its dim; more than one dim, kept or folded, only if all fits in an int. */
template <class T, int W, int E>
GT__DEV void gt__load_operands(const gt__reduce_args &p, const gt__cut &w, const gt__slots &s,
                               int64_t o, int64_t k, int hop, const gt__extent<W> &x, T (&e)[E]) {
  constexpr int U = E / W;
  const bool one_line = p.pre.ndim - 1 <= p.n_kept;
  const int n = x.all(U) ? U : (x.left - 1) / x.step + 1;
  GT__LOOP for (int slot = 0; slot < p.pre.program.n_in; slot++) {
    const gt__operand &in = p.pre.in[slot];
    const gt__stride &m = w.in[slot];
    const gt__vectors<U> v = gt__find_vectors<U>(p, in, m, o, k, hop, n);
    gt__by_light<T>(in.dtype, [&](auto tag) {
      typedef decltype(tag) S;
      constexpr int BYTES = W * sizeof(S);
      const bool lines = m.next == sizeof(S) && !(v.any & (BYTES - 1));
      if (sizeof(S) == sizeof(T) && lines && x.all(U) && !w.bare) {
        GT__UNROLL for (int j = 0; j < U; j++)
            __pipeline_memcpy_async(gt__at<U>(s, slot, j), v.line + v.at[j], 16);
        return;
      }
      gt__load_vectors<S, W, U>(v, m, lines, one_line, x, e);
      if (!w.bare) gt__put(s, slot, e);
    });
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

/* Folds the second half of N values to the first, and so on until TO are left. */
template <int FOLD, int N, int TO, class T>
GT__DEV void gt__halve(T *x) {
  for (int c = N / 2; c >= TO; c /= 2)
    for (int i = 0; i < c; i++) {
      T &y = x[i];
      y = gt__fold_two<FOLD>(y, x[i + c]);
    }
}
/* The lanes of a thread; W of them, of any elements, where the order does not count. */
template <int FOLD, int W>
constexpr int gt__lanes = gt__in_order<FOLD> ? 8 : W;
/* Folds a thread's elements, mirrored, to its lanes, vectors being `hop` elements apart. SHORT, in
   order: the lanes of a row are halved until 8 are left. */
template <int FOLD, int W, class T, class S, int N>
GT__DEV void gt__take_elements(int pattern, gt__lane_results<T> &r, const S (&e)[N], int first,
                               int hop, T mirror) {
  const auto of = [&](int i) {
    const T x = gt__as<T>(e[i]);
    return gt__in_order<FOLD> ? x : gt__mirror(x, mirror);
  };
  constexpr int LANES = gt__lanes<FOLD, W>;
  if (pattern == GT__SHORT_ROWS && gt__in_order<FOLD>) {
    for (int i = 0; i < 8; i++) {
      T x[N / 8];
      for (int c = 0; c < N / 8; c++) x[c] = of(i + 8 * c);
      if (N == 64 && hop == 2 * 64) { /* of 256 lanes every other vector has the same */
        for (int c = 2; c < N / 8; c++) {
          T &y = x[c % 2];
          y = gt__fold_two<FOLD>(y, x[c]);
        }
        x[0] = gt__fold_two<FOLD>(x[0], x[N / 8 > 1]);
      } else {
        gt__halve<FOLD, N / 8, 1>(x);
      }
      gt__take<FOLD>(r[i], x[0], 0);
    }
  } else if (LANES == W || pattern == GT__DOWN || pattern == GT__BROAD) {
    GT__EACH gt__take<FOLD>(r[i % W], of(i), first + i / W * hop);
  } else {
    GT__EACH gt__take<FOLD>(r[i % LANES], of(i), first + i / W * hop);
  }
}
/* Halves the lanes of a team: r[i] of thread t is lane i/W * team*W + t*W + i%W. With W = 4 a warp
   has the 256 lanes so, and lane i takes in lane i + 128 in its own thread, i + 64, ... i + 4 of
   another, i + 2 and i + 1 in its own:

       lane      0 1 2 3   4 5 6 7  ...  124 .. 127   128 .. 131  132 ..
       thread       0         1              31            0        1
       r         0 1 2 3   0 1 2 3        0 1 2 3      4 5 6 7    4 5 6 7

   All threads have the result in r[0]. Where the order does not count, a thread folds its own
   first. */
template <int FOLD, int W, class T>
GT__DEV void gt__fold_team(gt__lane_results<T> &r, int team) {
  constexpr int N = gt__lanes<FOLD, W>;
  constexpr int C = gt__in_order<FOLD> ? W : 1;
  constexpr int VALUE = FOLD == GT__FOLD_ARGMAX ? GT__FOLD_MAX : FOLD;
  T x[N];
  GT__EACH x[i] = r[i].value;
  gt__halve<VALUE, N, C>(x);
  GT__LOOP for (int m = team / 2; m > 0; m /= 2) {
    for (int i = 0; i < C; i++) {
      T &y = x[i];
      y = gt__fold_two<VALUE>(y, __shfl_xor_sync(~0u, y, m));
    }
  }
  gt__halve<VALUE, C, 1>(x);
  if (FOLD == GT__FOLD_ARGMAX) { /* the first place of the maximum, or of a NaN */
    int first = INT32_MAX;
    GT__EACH {
      const T &y = r[i].value;
      if (y == x[0] || y != y) first = min(first, r[i].at);
    }
    GT__LOOP for (int m = team / 2; m > 0; m /= 2) {
      first = min(first, __shfl_xor_sync(~0u, first, m));
    }
    r[0].at = first;
  }
  r[0].value = x[0];
}
/* Results of chunks, [chunk][output], in a block's shared memory; those of groups in scratch,
   [group][output]. Without indices unless they count. */
template <class T>
struct gt__board {
  T *value;
  int64_t *index;
  __device__ __forceinline__ gt__board(void *at, int64_t bytes, bool arg)
      : value((T *)at), index(arg ? (int64_t *)((char *)at + bytes) : NULL) {}
  __device__ __forceinline__ void put(int64_t at, const gt__found<T> &r) const {
    value[at] = r.value;
    if (index) index[at] = r.at;
  }
  __device__ __forceinline__ gt__found<T> get(int64_t at) const {
    return {value[at], index ? index[at] : 0};
  }
};
/* The end of output o: mirror back, finish, convert, store. */
template <class T>
GT__DEV void gt__finish(const gt__reduce_args &p, int64_t o, const gt__found<T> &r) {
  char *to = p.out.data + gt__offset_of(p, p.out, o);
  T value = gt__mirror(r.value, gt__mirror_of<T>(p.fold));
  if (p.finish & GT__DIVIDE) value = gt__apply<GT__OP_div>(value, gt__constant<T>(p.divisor));
  if (p.finish & GT__ROOT) value = gt__apply<GT__OP_sqrt>(value, value);
  const auto put = [&](auto tag) {
    typedef decltype(tag) S;
    *(S *)to = gt__as<S>(value);
  };
  if (gt__finds_place(p.fold)) {
    gt__store_any<int64_t>(to, p.out.dtype, r.at);
  } else if (!gt__if_usual<T>(p.out.dtype, put)) {
    gt__store_any<T>(to, p.out.dtype, value);
  }
}
/* The pairwise tree over n results on a board, of each of `outs` outputs from `first` on; then they
   are finished, or those of one of several groups left in scratch. */
template <int SOURCE, class T>
GT__DEV void gt__leave(const gt__reduce_args &p, int fold, const gt__board<T> &board,
                       const gt__board<T> &scratch, int outs, int n, int64_t first, int64_t group,
                       unsigned groups) {
  constexpr int N = 8; /* neighbours that a thread joins: three levels at once */
  const int outs_log2 = 31 - __clz(outs);
  for (int deep = 0; 1 << deep < n; deep += 3) {
    __syncthreads();
    for (int item = threadIdx.x; item >> outs_log2 <= (n - 1) >> (deep + 3); item += blockDim.x) {
      const int k = item >> outs_log2 << (deep + 3);
      const int at = (k << outs_log2) + (item & (outs - 1));
      gt__found<T> r[N];
      GT__EACH r[i] = board.get(at + (min(i << deep, n - 1 - k) << outs_log2));
      gt__by_fold<SOURCE>(fold, [&](auto tag) {
        constexpr int FOLD = decltype(tag)::value;
        for (int c = 1; c < N; c *= 2)
          for (int i = 0; i < N; i += 2 * c) {
            const bool exists = k + ((i + c) << deep) < n;
            const auto &next = r[i + c];
            if (exists) gt__take<FOLD>(r[i], next.value, next.at);
          }
      });
      board.put(at, r[0]);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < outs && first + i < p.outer; i += blockDim.x)
    if (groups == 1) gt__finish<T>(p, first + i, board.get(i));
    else scratch.put(group * p.outer + first + i, board.get(i));
}

/* What a team of threads folds, a chunk of a row or, `down`, of W neighbouring outputs in a round.
   */
template <class T, class S, int SOURCE>
struct gt__folder {
  static constexpr bool DIRECT = SOURCE < GT__LIGHT_FOLD;
  static constexpr int W = SOURCE == GT__ANYHOW ? 1 : gt__lot<S>;
  static constexpr int U = SOURCE == GT__TINY ? 8 / W : 8;
  static constexpr int N = U * W;
  const gt__reduce_args &p;
  const gt__cut &w;
  bool down;
  int t;          /* the thread of its team */
  int hop;        /* elements to its next vector */
  int here;       /* outputs that exist */
  unsigned group; /* the block's, of chunks */
  unsigned first; /* its first chunk */
  int64_t o0;     /* the block's first output */
  T none;
  /* of a round: */
  int chunk;
  int c; /* the output, from o0 on */
  int shift;
  int64_t begin; /* where the chunk begins */
  int64_t k0;    /* where the thread begins */
  char *line;
  bool lines;
  gt__extent<W> left;
  __device__ __forceinline__ gt__folder(const gt__reduce_args &p, const gt__cut &w) : p(p), w(w) {
    down = w.pattern == GT__DOWN;
    t = threadIdx.x & ((1 << w.team_log2) - 1);
    hop = down ? 1 : W << w.team_log2;
    group = blockIdx.x / w.across;
    first = group << w.chunks_log2;
    o0 = (int64_t)(blockIdx.x - group * w.across) * w.outs;
    here = (int)min((int64_t)w.outs, p.outer - o0);
    none = gt__identity<T>(p.fold);
  }
  __device__ __forceinline__ void begin_round(int round) {
    const gt__operand &x = p.pre.in[0];
    const int row = round >> w.chunks_log2;
    chunk = round & ((1 << w.chunks_log2) - 1);
    c = down ? t * W : row;
    begin = (int64_t)(first + chunk) * p.chunk;
    const int64_t most = p.n - begin;
    const int size = (int)min(max(most, (int64_t)0), p.chunk);
    line = x.data;
    if (DIRECT) line += gt__offset_of(p, x, o0 + c);
    shift = DIRECT && SOURCE != GT__TINY && !down ? gt__shift<W>(line, w.in[0], x.size_log2) : 0;
    k0 = begin + (down ? 0 : t * W - shift);
    line += k0 * w.in[0].deep;
    lines = gt__has_lines<W, S>(line, w.in[0]);
    left.columns = W;
    left.skip = t ? 0 : shift;
    if (down) {
      left.left = here > c ? size * W : 0;
      left.step = W;
      if (here - c < W) left.columns = here - c;
    } else {
      left.left = row < here ? size + shift - t * W : 0;
      left.step = hop;
    }
  }
  /* The values of a program; of elements that do not exist the identity. */
  __device__ __forceinline__ void compute(const gt__slots &s, int k, T (&e)[N]) {
    const int64_t o = o0 + c;
    if constexpr (SOURCE == GT__LIGHT_FOLD) gt__load_operands(p, w, s, o, k0 + k, hop, left, e);
    else GT__LOOP for (int i = 0; i < p.pre.program.n_in; i++) {
        const gt__operand &x = p.pre.in[i];
        gt__move_apart<T, false>(p.pre, x, p.n_kept, gt__offset_of(p, x, o), k0 + k, hop,
                                 min((left.left - 1) / left.step + 1, N), e);
        if (!w.bare) gt__put(s, i, e);
      }
    const auto place = [] { return gt__batch(); };
    if (!w.bare) gt__run<T, SOURCE != GT__LIGHT_FOLD>(p.pre.program, s, place, e);
    if (w.bare && p.pre.program.n_ins > 1) GT__EACH e[i] = e[i] != 0;
    if (!left.all(U)) GT__EACH {
        const bool has = left.has(i / W, i % W);
        e[i] = has ? e[i] : none;
      }
  }
  __device__ __forceinline__ void fold_all(const gt__slots &s, gt__lane_results<T> &r) {
    GT__LOOP for (int k = 0; left.left > 0; k += U * hop) {
      S e[N];
      if constexpr (DIRECT) {
        char *from = line + k * w.in[0].deep;
        gt__move_sequence<false>(from, w.in[0], lines, left, gt__as<S>(none), e);
      } else {
        compute(s, k, e);
      }
      gt__by_fold<SOURCE>(w.fold, [&](auto fold) {
        constexpr int FOLD = decltype(fold)::value;
        gt__take_elements<FOLD, W>(w.pattern, r, e, k, hop, gt__mirror_of<T>(p.fold));
      });
      left.left -= U * left.step;
      left.skip = 0;
    }
  }
  /* BROAD: the 256 lanes are a value of each thread; then each warp has 8 of them a thread. */
  __device__ __forceinline__ void spread(gt__lane_results<T> &r) {
    if constexpr (SOURCE == GT__ANYHOW && !std::is_integral<T>::value) {
      __shared__ T lane[GT__LANES];
      __syncthreads();
      lane[t] = r[0].value;
      __syncthreads();
      for (int j = 0; j < 8; j++) r[j].value = lane[j * 32 + t % 32];
    }
  }
  __device__ __forceinline__ void join(gt__lane_results<T> &r) {
    const bool broad = SOURCE == GT__ANYHOW && w.pattern == GT__BROAD;
    if (broad) spread(r);
    if (!down)
      gt__by_fold<SOURCE>(w.fold, [&](auto fold) {
        for (int j = 0; j < 8; j++) r[j].at += t * W + j % W;
        gt__fold_team<decltype(fold)::value, W>(r, broad ? 32 : 1 << w.team_log2);
      });
  }
  /* Puts the results of a round on the board. */
  __device__ __forceinline__ void leave(const gt__board<T> &board,
                                        const gt__lane_results<T> &r) const {
    for (int j = 0; j < W; j++)
      if (down || (t == 0 && j == 0)) {
        const int64_t place = begin + max(r[j].at - shift, 0);
        board.put(chunk * w.outs + c + j, {r[j].value, place});
      }
  }
};
/* The first kernel. Grid: blocks of w.outs outputs, for each group of chunks. Block: 1 <<
   threads_log2, at most 256. */
template <class T, class S, int SOURCE>
__global__ void __launch_bounds__(256, SOURCE != GT__TINY && SOURCE < GT__LIGHT_FOLD ? 3 : 2)
    gt__reduce_kernel(const __grid_constant__ gt__reduce_args p,
                      const __grid_constant__ gt__cut w) {
  gt__folder<T, S, SOURCE> f(p, w);
  constexpr int W = f.W;
  const int chunks = 1 << w.chunks_log2;
  const int rounds = chunks * (f.down ? 1 : w.outs);
  const bool arg = SOURCE != GT__DIRECT && w.fold == GT__FOLD_ARGMAX;
  const T identity = gt__mirror(f.none, gt__mirror_of<T>(p.fold));
  const gt__board<T> board(gt__shared, sizeof(T) * w.results, arg);
  const gt__board<T> scratch(p.pre.scratch, 8 * p.outer * w.groups, arg);
  gt__slots s = gt__my_slots(f.N / gt__lot<T> * gt__slot_count(p.pre.program));
  s.mine += (sizeof(T) + (arg ? 8 : 0)) * w.results;
  gt__await_kernel_before();
  if (!f.DIRECT && !w.bare) gt__fill_constants<T, f.N>(p.pre.program, s);
  GT__LOOP for (int round = threadIdx.x >> w.team_log2; round < rounds;
                round += blockDim.x >> w.team_log2) {
    gt__lane_results<T> r;
    f.begin_round(round);
    for (int j = 0; j < 8; j++) {
      const int at = f.down ? 0 : j / W * f.hop;
      r[j] = {identity, at};
    }
    f.fold_all(s, r);
    f.join(r);
    f.leave(board, r);
  }
  gt__release_next_kernel();
  const int leaves = (int)min((int64_t)chunks, p.n_chunk - f.first);
  const int outs = w.outs;
  gt__leave<SOURCE>(p, w.fold, board, scratch, outs, leaves, f.o0, f.group, w.groups);
}
/* The rest of the tree: a block joins the groups of `outs` outputs, `leaves` of them to one, and
   stores these in place of groups that it is done with, until there is one. Its threads and their
   registers are so few that it starts beside two blocks of the first kernel: if it had to wait for
   room, dim 0 of 16384x1024 would take 5 us more. */
enum { GT__COMBINERS = 256 };
template <class T>
__global__ void __launch_bounds__(GT__COMBINERS)
    gt__combine_kernel(const __grid_constant__ gt__reduce_args p, int fold, int groups, int outs,
                       int leaves) {
  const bool arg = fold == GT__FOLD_ARGMAX;
  const gt__board<T> board(gt__shared, sizeof(T) * leaves * outs, arg);
  const gt__board<T> scratch(p.pre.scratch, 8 * p.outer * groups, arg);
  const int64_t first = (int64_t)blockIdx.x * outs;
  gt__await_kernel_before();
  gt__release_next_kernel();
  for (int joined = 0; joined != 1; groups = joined) {
    joined = (groups - 1) / leaves + 1;
    for (int group = 0; group < joined; group++) {
      const int begin = group * leaves;
      const int n = min(groups - begin, leaves);
      __syncthreads();
      for (int i = threadIdx.x; i < n * outs; i += blockDim.x) {
        const int64_t o = min(first + i % outs, p.outer - 1);
        const int64_t at = (begin + i / outs) * p.outer + o;
        __pipeline_memcpy_async(board.value + i, scratch.value + at, sizeof(T));
        if (arg) __pipeline_memcpy_async(board.index + i, scratch.index + at, 8);
      }
      __pipeline_commit();
      __pipeline_wait_prior(0);
      gt__leave<GT__COMBINE>(p, fold, board, scratch, outs, n, first, group, joined);
    }
  }
}
/* [elements][source]: those of the compute types, the two of 16 bits, and float32 and bfloat16
   where sums and means are taken in float64, as for an output of float64. */
static constexpr int GT__OF_HALF = 3, GT__F64_OF_F32 = 5; /* rows of this table */
#define GT__TINY_OF(T, S) GT__POINTER(gt__reduce_kernel<T, S, GT__TINY>)
#define GT__REDUCES(T, S, LIGHT) \
  GT__POINTER(gt__reduce_kernel<T, S, GT__DIRECT>), \
      GT__POINTER(gt__reduce_kernel<T, S, GT__DIRECT_ARG>), \
      GT__POINTER(gt__reduce_kernel<T, T, LIGHT>), \
      GT__POINTER(gt__reduce_kernel<T, T, GT__ANYHOW>), GT__POINTER(gt__combine_kernel<T>)
static const void *const gt__reduce_kernels[][6] = {
    {GT__TINY_OF(float, float), GT__REDUCES(float, float, GT__LIGHT_FOLD)},
    {NULL, GT__REDUCES(double, double, GT__LIGHT_FOLD)},
    {GT__TINY_OF(int64_t, int64_t), GT__REDUCES(int64_t, int64_t, GT__ANYHOW)},
    {GT__TINY_OF(float, gt__half), GT__REDUCES(float, gt__half, GT__LIGHT_FOLD)},
    {GT__TINY_OF(float, gt__bfloat), GT__REDUCES(float, gt__bfloat, GT__LIGHT_FOLD)},
    {NULL, GT__POINTER(gt__reduce_kernel<double, float, GT__DIRECT_SUM>)},
    {NULL, GT__POINTER(gt__reduce_kernel<double, gt__bfloat, GT__DIRECT_SUM>)}};
/* -- the plan -- */
struct gt__reduce_plan {
  gt__cut w;
  int source;   /* the kernel's column in gt__reduce_kernels */
  int elements; /* and its row */
  int compute;
  int threads_log2;
  int slots;       /* bytes of a thread's slots */
  int result;      /* bytes of a result */
  int64_t chunk;   /* in place of that of the operation */
  int64_t n_chunk; /* likewise */
};
/* Integers of 8 and 16 bits, and truths, are folded as floats, which tell them apart as well. */
static bool gt__has_short_bits(const gt__reduce_args *args) {
  const gt__program *p = &args->pre.program;
  const bool is_short = gt__is_bare(p) && args->pre.in[0].size_log2 < 2;
  return p->compute == GT__I64 && args->fold > GT__FOLD_PROD && (is_short || gt__is_truth(p));
}
/* A bare operand with one folded dim at most, folded as it is? And do vectors of outputs end where
   lines do? */
static bool gt__is_direct(const gt__reduce_args *args, int compute) {
  const gt__map_args *m = &args->pre;
  const int n_kept = args->n_kept;
  const int dtype = m->in[0].dtype;
  const bool mixed = compute == GT__F64 && args->fold == GT__FOLD_SUM && args->n > GT__TINY_ROW &&
                     dtype > GT_FLOAT16;
  if (!gt__is_bare(&m->program) || args->n == 0) return false;
  if (m->ndim - n_kept > 1 || (!mixed && !gt__is_usual(compute, dtype))) return false;
  return args->inner || n_kept <= 1 || m->size[n_kept - 1] % 8 == 0;
}
/* By how many elements gt__shift may make rows longer. */
static int gt__slack(const gt__reduce_args *args, int W) {
  const gt__operand *x = &args->pre.in[0];
  int64_t odd = (int64_t)((uintptr_t)x->data >> x->size_log2);
  for (int d = 0; d < args->n_kept; d++) odd |= x->stride[d];
  return args->inner && odd % W != 0 ? W - 1 : 0;
}
/* An operand's strides; wide and deep are along the last of the kept and of the folded dims. */
static gt__stride gt__stride_of(const gt__reduce_args *args, const gt__operand *x, int W,
                                int team_log2) {
  const int n_kept = args->n_kept;
  const int last = args->pre.ndim - 1;
  const int64_t wide = n_kept ? x->stride[n_kept - 1] << x->size_log2 : 0;
  const int64_t deep = n_kept <= last ? x->stride[last] << x->size_log2 : 0;
  if (!args->inner) return {wide, deep, deep, wide};
  return {wide, deep, deep * (W << team_log2), deep};
}
/* Has gt__by_light x's dtype? Bytes only if short_bits: as the numbers or truths that they are. */
static bool gt__has_light(const gt__reduce_args *args, const gt__operand *x) {
  if (args->pre.program.compute == GT__F64) return x->dtype > GT_FLOAT16;
  if (gt__is_usual(GT__F32, x->dtype)) return true;
  if (x->dtype == GT_INT8 && !gt__is_truth(&args->pre.program)) return false;
  return x->size_log2 == 0 && gt__has_short_bits(args);
}
/* Can the operands of a program be loaded by vectors? Of more dims than one the offsets must fit in
   an int, and no vector may go on in the next line. */
static bool gt__is_light(const gt__reduce_args *args, int compute) {
  const gt__program *p = &args->pre.program;
  const int n_kept = args->n_kept;
  const int last = args->pre.ndim - 1;
  const int along = args->inner ? last : n_kept - 1;
  const bool one_dim = n_kept <= 1 && last <= n_kept; /* kept, and folded */
  const bool whole = args->pre.fits_int && (along < 0 || args->pre.size[along] % 4 == 0);
  bool light = compute != GT__I64 && gt__slot_count(*p) <= GT__LIGHT_SLOTS && !p->heavy &&
               (one_dim || whole);
  for (int k = 0; k < p->n_in; k++) {
    const gt__operand *x = &args->pre.in[k];
    light =
        light && gt__has_light(args, x) && llabs(gt__stride_of(args, x, 4, 5).hop) < INT_MAX / 8;
  }
  return light;
}
/* The exponent of the least power of two that is x or more. */
static int gt__log2_above(int64_t x) { return x > 1 ? 64 - __builtin_clzll((uint64_t)x - 1) : 0; }

/* -- cutting the work, rows of n elements, for threads with `own` elements at a time -- */
static void gt__lay_outputs(gt__reduce_plan *j, const gt__reduce_args *args) {
  gt__cut *w = &j->w;
  w->chunks_log2 = min(gt__log2_above(j->n_chunk), j->threads_log2 - w->team_log2);
  w->outs = 1 << (j->threads_log2 - w->team_log2 - w->chunks_log2);
  w->across = gt__blocks(args->outer, w->outs);
}
/* DOWN takes 8 chunks a block, if there are as many, and more where lines are narrow; inner 8 too.
   */
static void gt__lay_teams(gt__reduce_plan *j, const gt__reduce_args *args, int64_t n, int W,
                          int own) {
  gt__cut *w = &j->w;
  const int64_t parts = (args->inner ? (n - 1) / own : (args->outer - 1) / W) + 1;
  w->pattern = n <= 16 * own ? GT__SHORT_ROWS : GT__LONG;
  w->team_log2 = min(5, gt__log2_above(parts));
  gt__lay_outputs(j, args);
  if (args->inner) return;
  w->pattern = GT__DOWN;
  w->team_log2 = j->threads_log2 - w->chunks_log2;
  w->outs = W << w->team_log2;
  w->across = gt__blocks(args->outer, w->outs);
}
/* Where the order does not count, chunks have any length: with those of 2^21 bytes all blocks would
   ask the same memory at once, and take 263 to 277 us, where other lengths take 241; few rows are
   cut for more warps. */
static void gt__cut_in_any_order(gt__reduce_plan *j, const gt__reduce_args *args, int64_t n,
                                 int own) {
  gt__cut *w = &j->w;
  if (!args->inner) {
    const int64_t chunks = (int64_t)max(w->most / w->across, 1u) << w->chunks_log2;
    j->chunk = max(j->chunk, ((n - 1) / chunks + 8) & ~7);
    j->n_chunk = (n - 1) / j->chunk + 1;
  } else if (args->outer * j->n_chunk < GT__FEW_CHUNKS) {
    j->chunk = max(32 * own, GT__CHUNK >> (j->threads_log2 - 5));
    j->n_chunk = (args->n - 1) / j->chunk + 1;
    gt__lay_outputs(j, args);
  }
}
static unsigned gt__count_groups(const gt__reduce_plan *j) {
  return (unsigned)(((j->n_chunk - 1) >> j->w.chunks_log2) + 1);
}
/* Blocks take several chunks or rows, one after the other, so that few leave results to be joined;
   of one output, if then they just fill the chip, so that all run at once: 2^26 elements, H200,
   November 2026: 38 us without, 36 with. Rows far apart and argmax are faster with more. */
static void gt__share_blocks(gt__reduce_plan *j, const gt__reduce_args *args) {
  gt__cut *w = &j->w;
  int64_t blocks = (int64_t)w->across * gt__count_groups(j);
  int64_t once = blocks;
  while (once > w->most) once /= 2;
  const bool one = args->inner && w->across == 1 && w->fold != GT__FOLD_ARGMAX;
  const bool fills = one && 3 * once >= 2 * (int64_t)w->most;
  const int64_t many = fills ? w->most : GT__MANY_BLOCKS << j->threads_log2 / 2;
  const auto goes_on = [&] {
    const bool twice = blocks >= GT__TWO_WAVES && blocks < 2 * GT__TWO_WAVES;
    return (blocks > many || twice) && w->outs << w->chunks_log2 < 8 << j->threads_log2;
  };
  for (; goes_on(); blocks /= 2) {
    if (j->n_chunk >> w->chunks_log2 > 1) w->chunks_log2++;
    else if (args->inner && blocks > many && args->n * w->outs < GT__SHORT_WORK) w->outs *= 2;
    else break;
  }
}
/* Decides who folds what: first a team's width, then the chunks and outputs of a block. */
static void gt__cut_work(gt__reduce_plan *j, const gt__reduce_args *args, int64_t n, int W,
                         int own) {
  gt__cut *w = &j->w;
  const bool in_any_order = args->fold > GT__FOLD_PROD || j->compute == GT__I64;
  gt__lay_teams(j, args, n, W, own);
  if (in_any_order) {
    gt__cut_in_any_order(j, args, n, own);
  } else if (args->inner && W == 1 && n > GT__LANES && j->threads_log2 == 8 &&
             args->outer * j->n_chunk < GT__BROAD_CHUNKS) {
    w->pattern = GT__BROAD;
    w->team_log2 = 8;
    w->chunks_log2 = 0;
    w->outs = 1;
    w->across = (unsigned)args->outer;
  }
  gt__share_blocks(j, args);
  w->across = gt__blocks(args->outer, w->outs);
  w->results = ((w->outs << w->chunks_log2) + 31) & ~31;
  w->groups = gt__count_groups(j);
  for (int k = 0; k < args->pre.program.n_in; k++)
    w->in[k] = gt__stride_of(args, &args->pre.in[k], W, w->team_log2);
}
/* The plan of a fold that has something to do, or NULL. */
static gt__reduce_plan *gt__begin_reduce(gt__op *op) {
  const gt__reduce_args *args = &op->u.reduce;
  gt__reduce_plan *j = (gt__reduce_plan *)op->plan;
  static_assert(sizeof *j <= sizeof op->plan, "a plan has room in an operation");
  if (!gt__is_program(&args->pre.program) || args->outer <= 0 || args->soft) return NULL;
  j->compute = gt__has_short_bits(args) ? GT__F32 : (int)args->pre.program.compute;
  j->w.fold = gt__base_fold(args->fold);
  j->chunk = args->chunk;
  j->n_chunk = args->n_chunk;
  op->plan_bytes = sizeof *j;
  return j;
}
/* W elements of a vector, `own` a thread at a time. */
static int gt__plan_fold(gt__op *op, gt__reduce_plan *j, int source, int W, int own) {
  const gt__reduce_args *args = &op->u.reduce;
  const gt__program *p = &args->pre.program;
  const bool direct = source < GT__LIGHT_FOLD;
  const int size = j->compute == GT__F32 ? 4 : 8;
  j->source = source;
  j->elements = j->compute;
  j->w.bare = gt__is_bare(p) || gt__is_truth(p);
  j->slots = j->w.bare ? 0 : own * size * (int)gt__slot_count(*p);
  j->result = j->w.fold == GT__FOLD_ARGMAX ? size + 8 : size;
  j->threads_log2 = 8; /* a thread has room for 8 results */
  while (j->threads_log2 > 5 && (8 * j->result + j->slots) << j->threads_log2 > GT__SHARED)
    j->threads_log2--;
  j->w.most = direct ? GT__DIRECT_BLOCKS : 65536 >> j->threads_log2;
  const int slack = direct && source != GT__TINY ? gt__slack(args, W) : 0;
  gt__cut_work(j, args, args->n + slack, W, own);
  if (args->n_chunk > 1) op->scratch = (size_t)args->outer * (size_t)args->n_chunk * GT__PARTIAL;
  return 1;
}
/* The ways rows (INNER) and columns: an operand as it is, without a program. */
template <bool INNER>
static int gt__plan_direct(gt__op *op) {
  const gt__reduce_args *args = &op->u.reduce;
  gt__reduce_plan *j = gt__begin_reduce(op);
  if (!j || args->inner != INNER || !gt__is_direct(args, j->compute)) return 0;
  const gt__operand *x = &args->pre.in[0];
  const int W = 16 >> x->size_log2;
  const int size_log2 = j->compute == GT__F32 ? 2 : 3;
  const bool tiny = INNER && args->n <= GT__TINY_ROW && j->compute != GT__F64;
  int source = j->w.fold == GT__FOLD_ARGMAX ? GT__DIRECT_ARG : GT__DIRECT;
  if (tiny) source = GT__TINY;
  gt__plan_fold(op, j, source, W, tiny ? GT__TINY_ROW : 8 * W);
  if (x->size_log2 < size_log2)
    j->elements = j->compute == GT__F64 ? GT__F64_OF_F32 + 2 - x->size_log2
                                        : GT__OF_HALF + (x->dtype == GT_BFLOAT16);
  return 1;
}
static int gt__plan_light(gt__op *op) {
  gt__reduce_plan *j = gt__begin_reduce(op);
  if (!j || !gt__is_light(&op->u.reduce, j->compute)) return 0;
  const int W = j->compute == GT__F32 ? 4 : 2;
  return gt__plan_fold(op, j, GT__LIGHT_FOLD, W, 8 * W);
}
static int gt__plan_anyhow(gt__op *op) {
  gt__reduce_plan *j = gt__begin_reduce(op);
  return j && gt__plan_fold(op, j, GT__ANYHOW, 1, 8);
}
/* Where there are many outputs, at least 8 neighbours a block, so that it reads whole sectors. */
static int gt__launch_combine(const gt__reduce_args *args, const gt__reduce_plan *j, void *stream) {
  int fold = j->w.fold;
  int groups = (int)j->w.groups;
  int outs = 1 << min(3, gt__log2_above(args->outer));
  int leaves = 1 << gt__log2_above(groups);
  while (leaves * outs < GT__COMBINERS) outs *= 2;
  while (leaves * outs > 32 * GT__COMBINERS || leaves * outs * j->result > GT__SHARED) leaves /= 2;
  void *parameters[] = {(void *)args, &fold, &groups, &outs, &leaves};
  return gt__launch(gt__reduce_kernels[j->compute][GT__COMBINE], gt__blocks(args->outer, outs),
                    GT__COMBINERS, leaves * outs * j->result, stream, parameters);
}
/* Both kernels, or the first alone if one group has all chunks of an output. */
static int gt__run_fold(const gt__op *op, void *stream) {
  const gt__reduce_plan *j = (const gt__reduce_plan *)op->plan;
  gt__reduce_args args = op->u.reduce;
  args.chunk = j->chunk;
  args.n_chunk = j->n_chunk;
  args.pre.program.compute = (uint8_t)j->compute;
  void *parameters[] = {&args, (void *)&j->w};
  const size_t shared = j->result * j->w.results + (j->slots << j->threads_log2);
  const int error =
      gt__launch(gt__reduce_kernels[j->elements][j->source], j->w.across * j->w.groups,
                 1 << j->threads_log2, shared, stream, parameters);
  return error || j->w.groups == 1 ? error : gt__launch_combine(&args, j, stream);
}

/* ---- >>softmax ---------------------------------------------------------------------------------
   As >>plain-softmax, with the same sums. Rows are read once and stay in registers, see
   gt__soft_kernel; columns are read three times, see gt__soft_down_kernel. */
/* Where a thread is: its team has row o or, by_block, the block has it, each warp 1,024 elements of
   it; k: the thread's first element, or `shift` before it. */
template <class T>
struct gt__soft_place {
  static constexpr int W = gt__lot<T>;
  static constexpr int N = 32;
  static constexpr int ROW = 32 * N;
  static constexpr int WARPS = GT__CHUNK / ROW; /* of a chunk */
  bool by_block;
  int team, t;
  int warp, chunk;
  int k, shift;
  int64_t o;
  gt__extent<W> x;
  __device__ __forceinline__ gt__soft_place(const gt__reduce_args &p, const gt__cut &w) {
    const gt__operand &in = p.pre.in[0];
    by_block = w.outs == 1;
    team = 1 << w.team_log2;
    t = threadIdx.x & (team - 1);
    warp = threadIdx.x / 32;
    chunk = warp / WARPS;
    o = (int64_t)blockIdx.x * w.outs + (by_block ? 0 : threadIdx.x >> w.team_log2);
    const bool apart = p.n + W > GT__CHUNK;
    shift = apart ? 0 : gt__shift<W>(row(p, in), w.in[0], in.size_log2);
    k = (by_block ? warp * ROW : 0) + t * W;
    x.left = o < p.outer ? (int)p.n + shift - k : 0;
    x.step = W << w.team_log2;
    x.columns = W;
    x.skip = k ? 0 : shift;
  }
  __device__ __forceinline__ char *row(const gt__reduce_args &p, const gt__operand &x) const {
    return x.data + gt__offset_of(p, x, o);
  }
};
/* Reads a thread's elements of the row; -infinity for those that do not exist. */
template <class T, int N>
GT__DEV void gt__read_soft(const gt__reduce_args &p, const gt__stride &m,
                           const gt__soft_place<T> &at, T (&e)[N]) {
  constexpr int W = gt__lot<T>;
  const auto read = [&](auto tag) {
    typedef decltype(tag) S;
    S y[N], none;
    gt__set(none, gt__identity<T>(GT__FOLD_MAX));
    char *from = at.row(p, p.pre.in[0]);
    from += (at.k - at.shift) * m.deep;
    const bool lines = gt__has_lines<W, S>(from, m);
    gt__move_sequence<false>(from, m, lines, at.x, none, y);
    gt__cast_all(e, y);
  };
  if (!gt__if_usual<T>(p.pre.in[0].dtype, read)) __builtin_unreachable();
}
/* The tree over n values of warps, of which this thread's is number `at`. */
template <int FOLD, class T>
GT__DEV T gt__fold_warps(T (&joined)[32], T x, int at, int n, int t) {
  __syncthreads();
  joined[at] = x;
  __syncthreads();
  x = joined[t];
  for (int d = 1; d < n; d *= 2) {
    const T next = __shfl_down_sync(~0u, x, d);
    if (t + d < n) x = gt__fold_two<FOLD>(x, next);
  }
  return __shfl_sync(~0u, x, 0);
}
/* The largest value of the row: of the thread's elements, then of its team, then of its block. */
template <class T, int N>
GT__DEV T gt__soft_most(const gt__soft_place<T> &at, const T (&e)[N], T (&joined)[32]) {
  T most = e[0];
  GT__EACH most = gt__fold_two<GT__FOLD_MAX>(most, e[i]);
  GT__LOOP for (int m = at.team / 2; m > 0; m /= 2) {
    const T other = __shfl_xor_sync(~0u, most, m);
    most = gt__fold_two<GT__FOLD_MAX>(most, other);
  }
  if (!at.by_block) return most;
  return gt__fold_warps<GT__FOLD_MAX>(joined, most, at.warp, blockDim.x / 32, at.t);
}
/* e^(x - most). Elements that do not exist are -infinity, for which the easy form of exp does not
   do. Returns the least power that is not 0, as the bits of a float, less 1. */
template <class T, int N>
GT__DEV uint32_t gt__soft_powers(const gt__soft_place<T> &at, T most, T (&e)[N]) {
  uint32_t least = ~0u;
  GT__EACH e[i] = GT__SUB(e[i], most);
  if (__all_sync(~0u, at.x.all(N / gt__lot<T>))) {
    gt__apply_all<GT__OP_exp>(e, e, e);
  } else {
    GT__EACH e[i] = gt__apply<GT__OP_exp>(e[i], e[i]);
  }
  GT__EACH least = min(least, __float_as_uint((float)e[i]) - 1);
  return least;
}
/* The lanes of THE PLAN are folded in order, so the warps of a chunk add one after the other: each
   goes on with the lanes as the one before left them in shared memory, and at last all have them.
   */
template <class T, int N>
GT__DEV T gt__soft_sum(const gt__soft_place<T> &at, int pattern, const T (&e)[N], T *lane) {
  constexpr int W = gt__lot<T>;
  constexpr int WARPS = gt__soft_place<T>::WARPS;
  gt__lane_results<T> r = {};
  GT__LOOP for (int round = 0; round <= (at.by_block ? WARPS : 0); round++) {
    const bool mine = !at.by_block || round == at.warp % WARPS;
    for (int i = 0; i < 8; i++)
      if (round && (mine || round == WARPS)) r[i].value = lane[i * 32 + at.t];
    if (mine) gt__take_elements<GT__FOLD_SUM, W>(pattern, r, e, 0, 0, (T)0);
    if (!at.by_block) break;
    for (int i = 0; i < 8; i++)
      if (mine) lane[i * 32 + at.t] = r[i].value;
    __syncthreads();
  }
  gt__fold_team<GT__FOLD_SUM, W>(r, at.team);
  return r[0].value;
}
/* Divides all by one number. A product with the inverse, corrected once, is the rounded quotient in
   all hard cases, if no remainder may be subnormal. */
template <class T, int N>
GT__DEV void gt__soft_divide(T (&e)[N], T sum, uint32_t least) {
  const T once = GT__DIV((T)1, sum);
  if (sizeof(T) == 8 || least < 35u << 23) /* 2^-92 */
    GT__EACH e[i] = GT__DIV(e[i], sum);
  else GT__EACH {
      const T q = GT__MUL(e[i], once);
      const T rest = gt__formula<GT__OP_fma, T>::of(-q, sum, e[i]);
      e[i] = gt__formula<GT__OP_fma, T>::of(rest, once, q);
    }
}
/* Stores a thread's elements of the row, in the output's dtype. */
template <class T, int N>
GT__DEV void gt__store_soft(const gt__reduce_args &p, const gt__stride &m,
                            const gt__soft_place<T> &at, const T (&e)[N]) {
  constexpr int W = gt__lot<T>;
  gt__if_usual<T>(p.pre.out.dtype, [&](auto tag) {
    typedef decltype(tag) S;
    S y[N];
    char *to = at.row(p, p.pre.out);
    to += (at.k - at.shift) * m.deep;
    gt__cast_all(y, e);
    const bool lines = gt__has_lines<W, S>(to, m);
    gt__move_sequence<true>(to, m, lines, at.x, S(), y);
  });
}
/* Softmax and its kind: a row in registers, read once (by log_softmax twice), with one exp an
   element. A team of threads has a row; where one warp is not enough, a block has it. Grid: rows /
   w.outs. Block: 256, or a warp for each 1,024 elements. */
template <class T>
__global__ void __launch_bounds__(4096 / sizeof(T))
    gt__soft_kernel(const __grid_constant__ gt__reduce_args p, const __grid_constant__ gt__cut w,
                    const __grid_constant__ gt__stride result) {
  __shared__ T lane[GT__SOFT_BYTES / sizeof(T) / GT__CHUNK][GT__LANES];
  __shared__ T joined[32];
  const gt__soft_place<T> at(p, w);
  constexpr int N = gt__soft_place<T>::N;
  T e[N], most, log_s = 0;
  gt__after_kernel_before();
  GT__LOOP for (int pass = 0; pass < 2; pass++) {
    gt__read_soft(p, w.in[0], at, e);
    if (pass) break;
    most = gt__soft_most(at, e, joined);
    if (p.soft == GT__LOGSUMEXP && isinf((double)most)) most = 0;
    const uint32_t least = gt__soft_powers(at, most, e);
    T sum = gt__soft_sum(at, w.pattern, e, lane[at.chunk]);
    const int chunks = (int)p.n_chunk;
    if (at.by_block) sum = gt__fold_warps<GT__FOLD_SUM>(joined, sum, at.chunk, chunks, at.t);
    if (p.soft == GT__SOFTMAX) gt__soft_divide(e, sum, least);
    else log_s = gt__apply<GT__OP_log>(sum, sum);
    if (p.soft != GT__LOG_SOFTMAX) break;
  }
  if (p.soft == GT__LOG_SOFTMAX) GT__EACH e[i] = GT__SUB(GT__SUB(e[i], most), log_s);
  if (p.soft != GT__LOGSUMEXP) {
    gt__store_soft(p, result, at, e);
  } else if (at.k == 0 && at.o < p.outer) {
    gt__finish<T>(p, at.o, {GT__ADD(log_s, most), 0});
  }
}

static const void *const gt__soft_kernels[] = {GT__POINTER(gt__soft_kernel<float>),
                                               GT__POINTER(gt__soft_kernel<double>)};
static int gt__plan_soft_rows(gt__op *op) { return op->u.reduce.soft && op->u.reduce.inner; }
/* How many threads a row takes, and how many rows a block. */
static int gt__run_soft_rows(const gt__op *op, void *stream) {
  const gt__reduce_args *args = &op->u.reduce;
  const int compute = args->pre.program.compute;
  const int W = compute == GT__F32 ? 4 : 2;
  const int64_t n = args->n + (args->n + W > GT__CHUNK ? 0 : gt__slack(args, W));
  const bool shares = n <= GT__SOFT_ROW; /* does a block have several rows? */
  gt__cut w = {};
  w.pattern = n <= 16 * 32 ? GT__SHORT_ROWS : GT__LONG; /* a thread has 32 elements of a row */
  w.team_log2 = min(5, gt__log2_above((n - 1) / 32 + 1));
  w.outs = shares ? 256 >> w.team_log2 : 1;
  w.in[0] = gt__stride_of(args, &args->pre.in[0], W, w.team_log2);
  gt__stride result = {};
  if (args->soft != GT__LOGSUMEXP) result = gt__stride_of(args, &args->pre.out, W, w.team_log2);
  const int threads = shares ? 256 : 32 * (int)((n - 1) / GT__SOFT_ROW + 1);
  void *parameters[] = {(void *)args, &w, &result};
  return gt__launch(gt__soft_kernels[compute], gt__blocks(args->outer, w.outs), threads, 0, stream,
                    parameters);
}

/* A thread's share of a column: a chunk, elements [begin, end). */
template <class T, class S>
struct gt__soft_column {
  const gt__reduce_args &p;
  const S *from;
  int64_t step;
  int64_t begin, end;
  T most, sum;
  __device__ __forceinline__ gt__soft_column(const gt__reduce_args &p, int64_t o, int chunk)
      : p(p) {
    const gt__operand &in = p.pre.in[0];
    from = (const S *)(in.data + gt__offset_of(p, in, o));
    step = p.n > 1 ? in.stride[p.n_kept] : 0;
    begin = chunk * p.chunk;
    end = min(begin + p.chunk, p.n);
  }
  __device__ __forceinline__ T get(int64_t k) const { return gt__as<T>(from[k * step]); }
  __device__ __forceinline__ T power(int64_t k) const {
    return gt__apply<GT__OP_exp>(GT__SUB(get(k), most), (T)0);
  }
  __device__ __forceinline__ void find_most(T *board, int column, int columns) {
    most = gt__identity<T>(GT__FOLD_MAX);
#pragma unroll 8
    for (int64_t k = begin; k < end; k++) most = gt__fold_two<GT__FOLD_MAX>(most, get(k));
    board[threadIdx.x] = most;
    __syncthreads(); /* all chunks of the column are on the board */
    for (int i = column; i < 256; i += columns) most = gt__fold_two<GT__FOLD_MAX>(most, board[i]);
    if (p.soft == GT__LOGSUMEXP && isinf((double)most)) most = 0;
  }
  __device__ __forceinline__ void add_up() {
    sum = 0;
#pragma unroll 4
    for (int64_t k = begin; k < end; k++) {
      const T value = power(k);
      sum = GT__ADD(sum, value);
    }
  }
  /* The tree over the threads of a column, of which `used` / columns have chunks. */
  __device__ __forceinline__ void join(T *board, int column, int columns, int used) {
    const int at = threadIdx.x;
    __syncthreads();
    board[at] = sum;
    __syncthreads();
    for (int width = columns; width < used; width *= 2) {
      if (at / columns % (2 * width / columns) == 0 && at + width < used)
        board[at] = GT__ADD(board[at], board[at + width]);
      __syncthreads();
    }
    sum = board[column];
  }
  __device__ __forceinline__ void store(int64_t o, T log_s) const {
    S *to = (S *)(p.pre.out.data + gt__offset_of(p, p.pre.out, o));
    const int64_t hop = p.n > 1 ? p.pre.out.stride[p.n_kept] : 0;
#pragma unroll 4
    for (int64_t k = begin; k < end; k++) {
      const bool soft = p.soft == GT__SOFTMAX;
      const T y = soft ? GT__DIV(power(k), sum) : GT__SUB(GT__SUB(get(k), most), log_s);
      gt__set(to[k * hop], y);
    }
  }
};
/* Softmax and its kind along another dim than the last, to the input's dtype, in three reads: a
   block has neighbouring columns, each by a thread for each of its chunks. Grid: outputs / columns.
   Block: 256. */
template <class T>
__global__ void __launch_bounds__(256)
    gt__soft_down_kernel(const __grid_constant__ gt__reduce_args p, int columns) {
  __shared__ T board[256];
  const int column = threadIdx.x % columns;
  const int chunk = threadIdx.x / columns;
  const int used = (int)p.n_chunk * columns;
  const int64_t mine = (int64_t)blockIdx.x * columns + column;
  const int64_t o = min(mine, p.outer - 1);
  gt__after_kernel_before();
  gt__if_usual<T>(p.pre.in[0].dtype, [&](auto tag) {
    gt__soft_column<T, decltype(tag)> x(p, o, chunk);
    x.find_most(board, column, columns);
    x.add_up();
    x.join(board, column, columns, used);
    const T log_s = p.soft == GT__SOFTMAX ? 0 : gt__apply<GT__OP_log>(x.sum, x.sum);
    if (mine >= p.outer) return;
    if (p.soft != GT__LOGSUMEXP) {
      x.store(o, log_s);
    } else if (chunk == 0) {
      gt__finish<T>(p, o, {GT__ADD(log_s, x.most), 0});
    }
  });
}
static const void *const gt__soft_down_kernels[] = {GT__POINTER(gt__soft_down_kernel<float>),
                                                    GT__POINTER(gt__soft_down_kernel<double>)};
enum { GT__COLUMN_CHUNKS = 32 };
static int gt__plan_soft_columns(gt__op *op) {
  const gt__reduce_args *args = &op->u.reduce;
  return args->soft && !args->inner && args->n_chunk <= GT__COLUMN_CHUNKS;
}
static int gt__run_soft_columns(const gt__op *op, void *stream) {
  const gt__reduce_args *args = &op->u.reduce;
  int columns = 256 >> gt__log2_above(args->n_chunk);
  void *parameters[] = {(void *)args, &columns};
  return gt__launch(gt__soft_down_kernels[args->pre.program.compute],
                    gt__blocks(args->outer, columns), 256, 0, stream, parameters);
}

/* ---- >>copy ------------------------------------------------------------------------------------
   What an index picks is copied as by >>plain-copy, but rows in elements of up to 16 bytes, and
   several elements by a thread, whose reads are on their way at the same time. Other copies are
   maps. Block: 256 threads. Grid: elements / 512, rounded up. */
template <class S>
__global__ void __launch_bounds__(GT__THREADS)
    gt__copy_kernel(const __grid_constant__ gt__copy_args p) {
  gt__after_kernel_before();
  gt__copy_my_elements<S, GT__PICKS>(p);
}
static const void *const gt__copy_kernels[] = {
    GT__POINTER(gt__copy_kernel<uint8_t>), GT__POINTER(gt__copy_kernel<uint16_t>),
    GT__POINTER(gt__copy_kernel<uint32_t>), GT__POINTER(gt__copy_kernel<uint2>),
    GT__POINTER(gt__copy_kernel<uint4>)};
/* A map that copies x; its sizes are to be set. Its program is of zeros, since GT__LOAD is one. */
static gt__map_args gt__copying_map(const gt__operand &x, int ndim, int compute) {
  gt__map_args m = {};
  m.in[0] = x;
  m.ndim = ndim;
  m.program.compute = (uint8_t)compute;
  m.program.n_in = 1;
  m.program.n_slot = 1;
  m.program.n_ins = 1;
  return m;
}
/* Joins neighbours along the last dim, if it is dense on both sides, to elements of 8 bytes, or of
   16 where an index picks rows, which move faster so: of as many as divide all distances. */
static void gt__widen(gt__copy_args *a) {
  const int last = a->ndim - 1;
  const int indexed = a->index.data != NULL;
  const int64_t size = 1ll << a->dst.size_log2;
  int64_t *to = a->dst.stride;
  int64_t *from = a->src.stride;
  uint64_t all = (uintptr_t)a->dst.data | (uintptr_t)a->src.data | a->size[last] * size;
  if (to[last] != 1 || from[last] != 1) return;
  if (indexed && a->index.stride[last]) return;
  all |= indexed ? 16 | a->gather_stride * size : 8;
  for (int d = 0; d < last; d++) all |= (to[d] | from[d]) * size;
  const int64_t joined = max((int64_t)(all & -all) / size, (int64_t)1);
  a->dst.size_log2 += __builtin_ctzll(joined);
  a->size[last] /= joined;
  a->gather_stride /= joined;
  a->count /= joined;
  for (int d = 0; d < last; d++) {
    to[d] /= joined;
    from[d] /= joined;
  }
}
/* Elements from all over the rows of a large matrix are picked in stripes of its columns, whose
   lines are still in the L2 cache when their other elements are due: the columns become two dims,
   of which the first stands before the rows. 2^12 x 2^12 float32: 135 us, else 273.

       columns    0 .. 31   32 .. 63   ...      the order in which runs of 32 elements are picked,
       row 0      0         4                   if there are four rows
       row 1      1         5
       row 2      2         6
       row 3      3         7 */
static void gt__stripe(gt__copy_args *a) {
  const int row = a->ndim - 2;
  const int column = row + 1;
  const auto split = [&](int64_t *d, int64_t outer, int64_t inner) {
    d[column + 1] = inner;
    d[column] = d[row];
    d[row] = outer;
  };
  if (row < 0 || a->ndim == GT_MAX_DIMS) return;
  if (a->src.stride[row] || !a->index.stride[column]) return;
  if (a->size[column] % GT__STRIPE) return;
  if (a->gather_size * a->gather_stride < GT__STRIPE_LEAST) return;
  for (gt__operand *x : {&a->dst, &a->src, &a->index})
    split(x->stride, x->stride[column] * GT__STRIPE, x->stride[column]);
  split(a->size, a->size[column] / GT__STRIPE, GT__STRIPE);
  a->ndim++;
}
static bool gt__is_element_copy(const gt__copy_args *c) {
  return c->kind == GT__ELEMENTS && c->count > 0 && c->dst.dtype == c->src.dtype;
}
static int gt__plan_picked(gt__op *op) {
  gt__copy_args *c = (gt__copy_args *)op->plan;
  if (!gt__is_element_copy(&op->u.copy) || !op->u.copy.index.data) return 0;
  *c = op->u.copy;
  gt__widen(c);
  gt__stripe(c);
  op->plan_bytes = sizeof *c;
  return 1;
}
static int gt__run_picked(const gt__op *op, void *stream) {
  const gt__copy_args *c = (const gt__copy_args *)op->plan;
  void *parameters[] = {(void *)c};
  const unsigned blocks = gt__blocks(c->count, GT__PICKS * GT__THREADS);
  const void *kernel = gt__copy_kernels[c->dst.size_log2];
  return gt__launch(kernel, blocks, GT__THREADS, 0, stream, parameters);
}
/* A copy without an index is a map, which loads and stores bits. */
static int gt__plan_mapped(gt__op *op) {
  static const uint8_t dtype[] = {GT__RAW_8, GT__RAW_16, GT_FLOAT32, GT_FLOAT64};
  gt__map_args *m = (gt__map_args *)op->plan;
  gt__copy_args c = op->u.copy;
  if (!gt__is_element_copy(&c) || c.index.data) return 0;
  gt__widen(&c);
  const uint8_t size_log2 = c.dst.size_log2;
  *m = gt__copying_map(c.src, c.ndim, size_log2 == 3 ? GT__F64 : GT__F32);
  memcpy(m->size, c.size, sizeof m->size);
  m->count = c.count;
  m->fits_int = (int16_t)c.fits_int;
  m->out = c.dst;
  m->in[0].size_log2 = size_log2;
  m->in[0].dtype = dtype[size_log2];
  m->out.dtype = dtype[size_log2];
  op->plan_bytes = sizeof *m;
  return 1;
}
static int gt__run_mapped(const gt__op *op, void *stream) {
  return gt__map_by_best_way((const gt__map_args *)op->plan, stream);
}

/* ---- >>copy-transposed --------------------------------------------------------------------------
   Copies that transpose elements of 16 bits: in the source those of a column lie side by side, in
   the output those of a row, and both in whole vectors of 8. A thread loads 8 vectors, 8 rows of
   each of 8 columns, transposes them in its registers, and stores 8:

       from[0] = a0 a1 a2 ... a7                  row 0 = a0 b0 c0 ... h0
       from[1] = b0 b1 b2 ... b7     becomes      row 1 = a1 b1 c1 ... h1
       ...                                        ...

   A warp, 8 threads down by 4 along, loads 128 bytes side by side and stores 64. Block: 64 threads,
   a tile of 64 x 64 elements, as >>map-vectors lays it for operands across. */
enum { GT__TRANSPOSE_BLOCK = 64 };
__global__ void __launch_bounds__(GT__TRANSPOSE_BLOCK)
    gt__transpose_kernel(const __grid_constant__ gt__map_args p,
                         const __grid_constant__ gt__tiling t) {
  const int64_t down = blockIdx.x / t.across;
  const int64_t along = blockIdx.x % t.across;
  gt__batch b = {};
  b.o = (8 * down + threadIdx.x % 8) * 8;
  b.k = (8 * along + threadIdx.x / 8) * 8;
  uint32_t from[8][4];
  gt__after_kernel_before();
  if (b.o >= t.rows || b.k >= p.size[p.ndim - 1]) return;
  const char *x = gt__find_vector(p, p.in[0], t.step[1], b);
  char *to = gt__find_vector(p, p.out, t.step[0], b);
  GT__UNROLL for (int i = 0; i < 8; i++) {
    gt__load_line(x, from[i]);
    x += t.step[1].column;
  }
  GT__UNROLL for (int i = 0; i < 8; i++) {
    uint32_t row[4];
    GT__UNROLL for (int j = 0; j < 4; j++) {
      const uint32_t low = from[2 * j][i / 2];
      const uint32_t high = from[2 * j + 1][i / 2];
      row[j] = __byte_perm(low, high, i % 2 ? 0x7632 : 0x5410);
    }
    gt__store_line(to, row);
    to += t.step[0].row;
  }
}
static const void *const gt__transpose_kernels[] = {GT__POINTER(gt__transpose_kernel)};
/* Takes what is 16 bits wide and lies across, if all that is moved is whole vectors. */
static int gt__plan_transposed_copy(gt__op *op) {
  gt__map_plan *plan = (gt__map_plan *)op->plan;
  const gt__map_args *a = &plan->args;
  uint64_t all = 0; /* elements and distances, which are to be multiples of 8 */
  if (!gt__plan_mapped(op)) return 0;
  const gt__map_args m = *(gt__map_args *)plan;
  plan->args = m;
  if (m.out.dtype != GT__RAW_16) return 0;
  if (!gt__plan_whole<GT__TRANSPOSED>(&m, plan)) return 0;
  for (const gt__operand *x : {a->in, &a->out}) {
    all |= (uintptr_t)x->data / 2;
    for (int d = 0; d < a->ndim; d++) {
      const int64_t hop = x->stride[d];
      all |= hop == 1 ? a->size[d] : hop;
    }
  }
  op->plan_bytes = sizeof *plan;
  return all % 8 == 0;
}
static int gt__run_transposed_copy(const gt__op *op, void *stream) {
  const gt__map_plan *plan = (const gt__map_plan *)op->plan;
  const gt__tiling *t = &plan->t;
  void *parameters[] = {(void *)&plan->args, (void *)t};
  const dim3 grid(gt__blocks(t->rows, t->high) * t->across, t->batches);
  return gt__launch(gt__transpose_kernels[0], grid, GT__TRANSPOSE_BLOCK, 0, stream, parameters);
}

/* ---- >>scan ------------------------------------------------------------------------------------
   THE SCAN of gputensor.h, for operands in memory. A lane, a thread of a warp, has a run of 16
   elements. Half a warp has 16 such runs, whose folds its lanes pass on by shuffles. 16 times that
   is a chunk, 4096 elements, which a row's warps do at once or, if they are fewer than eight, one
   after the other. Rows of up to 256 take fewer lanes. Memory is read and written as it lies, by
   neighbouring threads side by side, and transposed in shared memory, so that a lane finds a whole
   run.

       rows      the dim lies in memory: a team of two warps has a row
       columns   neighbouring rows lie side by side: a warp, a team of one, has a row

   Where rows are long and few, several blocks have a row, each a chunk, in three steps. First each
   makes its chunk's fold (TOTALS). Then these are scanned as a row of their own, in which an
   element becomes the fold of those BEFORE it. Then the chunks are scanned, each CARRIED on from
   there. A sum:

       TOTALS     block 0: a        block 1: b        block 2: c        read once
       BEFORE     0                 a                 a + b             a row of three, by one block
       CARRIED    0 + its scan      a + its scan      (a + b) + ...     read again, and written */
enum { GT__WARP_RUNS = 512 }; /* elements */
enum { GT__TOTALS = 1 };
enum { GT__BEFORE = 2 };
enum { GT__CARRIED = 4 };
struct gt__scan_cut {
  int32_t team, lanes_log2, task; /* warps of a row; its lanes of a warp; bits: GT__TOTALS, ... */
  int64_t n_chunk;                /* blocks that share a row */
};
/* Where element i of a line is in shared memory: one place is left out behind each 128 bytes, so
   that the first elements of the lanes' runs are in different banks; and columns, which are written
   side by side, have lines of their own, one further apart. */
template <class T>
GT__DEV unsigned gt__gapped(unsigned i) {
  return i + i * (unsigned)sizeof(T) / 128;
}
GT__DEV int64_t gt__row_offset(const gt__scan_args &p, const gt__operand &x, int64_t row) {
  const int64_t o = p.inner == 1 ? row : row / p.inner;
  const int64_t i = row - o * p.inner;
  const int64_t outer = gt__locate(p.pre, o, 0, p.dim, x.stride);
  return outer + gt__locate(p.pre, i, p.dim + 1, p.pre.ndim, x.stride);
}
/* A thread of a block: of each tile it moves 16 elements of a row, and folds a run. */
template <class T>
struct gt__scan_thread {
  int64_t in, out;  /* of the elements that it moves: where their row begins, */
  int begins, step; /* which of the tile is the first, from one to the next, */
  T *to;            /* and where the row is in shared memory */
  T *mine;          /* the run that it folds, in shared memory */
  T *total;         /* the fold of that row's chunk, in scratch; NULL: there is no such row */
  bool moves;       /* there is the row that it moves */
};
/* The rows of this thread: of one it moves elements, of the same or another it folds a run. */
template <class T>
GT__DEV gt__scan_thread<T> gt__my_scan(const gt__scan_args &p, const gt__scan_cut &c, int rows) {
  const int t = threadIdx.x;
  const int moved = t % rows;
  const int folded = c.team > 1 ? 0 : t >> c.lanes_log2;
  const int64_t first = blockIdx.x / c.n_chunk * rows;
  const int64_t row = first + folded;
  const int64_t all = p.outer * p.inner;
  T *const shared = (T *)gt__shared;
  T *const totals = (T *)p.pre.scratch + blockIdx.x % c.n_chunk;
  gt__scan_thread<T> m;
  m.in = gt__row_offset(p, p.pre.in[0], first + moved);
  m.out = gt__row_offset(p, p.pre.out, first + moved);
  m.begins = t / rows;
  m.step = blockDim.x / rows;
  m.to = shared + gt__gapped<T>(moved * GT__RUN * m.step) + moved * m.step / 32;
  m.mine = shared + gt__gapped<T>(t * GT__RUN) + (c.team > 1 ? 0 : t / 32);
  m.total = row < all ? totals + row * c.n_chunk : nullptr;
  m.moves = first + moved < all;
  return m;
}
/* Brings a tile, from element k of the rows on, to shared memory, `none` behind its first n; or
   (OUT) stores these. Loads that have nothing to load repeat the last one. */
template <class T, bool OUT>
GT__DEV void gt__move_tile(const gt__scan_args &p, const gt__scan_thread<T> &m, int64_t k, int n,
                           T none) {
  constexpr int N = GT__RUN;
  const gt__operand &x = OUT ? p.pre.out : p.pre.in[0];
  const int64_t hop = x.stride[p.dim];
  const int64_t jump = hop * m.step;
  const int left = m.moves ? n - m.begins : 0;
  const int count = left > 0 ? (left - 1) / m.step + 1 : 0;
  const int last = max(count - 1, 0);
  const int64_t row = OUT ? m.out : m.in;
  const int64_t at = count > 0 ? row + (k + m.begins) * hop : 0;
  const auto there = [&](int i) -> T & { /* its element i in shared memory */
                                         return m.to[gt__gapped<T>(m.begins + i * m.step)];
  };
  gt__by_dtype(x.dtype, [&](auto tag) {
    typedef decltype(tag) S;
    S *const line = (S *)x.data + at;
    const auto move = [&](auto known) {
      constexpr bool WHOLE = decltype(known)::value;
      if constexpr (OUT) {
        GT__EACH if (WHOLE || i < count) line[i * jump] = gt__as<S>(there(i));
      } else {
        S u[N];
        GT__EACH u[i] = line[(WHOLE ? i : min(i, last)) * jump];
        GT__EACH there(i) = WHOLE || i < count ? gt__as<T>(u[i]) : none;
      }
    };
    /* not for what is rare beside float64 and int64: so bool takes 3 % longer */
    constexpr bool WHOLE = sizeof(T) == 4 || sizeof(S) == 8 || std::is_same<S, int32_t>::value;
    if (WHOLE && count == N) move(gt__known<WHOLE>());
    else move(gt__known<0>());
  });
}
template <class F>
GT__DEV void gt__by_running_fold(int fold, F f) {
  if (fold == GT__FOLD_SUM) f(gt__known<GT__FOLD_SUM>());
  else if (fold == GT__FOLD_MAX) f(gt__known<GT__FOLD_MAX>());
  else if (fold == GT__FOLD_MIN) f(gt__known<GT__FOLD_MIN>());
  else f(gt__known<GT__FOLD_PROD>());
}
/* The fold of what stands before a lane's run: before the chunk (`before`), in the chunk before its
   half of a warp (`sums` so far, and the halves in front), and in that half, of which `width` lanes
   have a row. `sum` is the run's own fold; `sums` takes in those of all halves of the team. */
template <int FOLD, class T>
GT__DEV T gt__runs_before(T sum, T before, T &sums, int width, int team) {
  __shared__ T halves[32];
  const int half = threadIdx.x / 16;
  const int first = team > 1 ? 0 : half & ~1;
  const int lane = threadIdx.x & (width - 1);
  T runs = gt__identity<T>(FOLD);
  T mine = runs;
  GT__UNROLL for (int j = 0; j < 15; j++) {
    const T other = __shfl_sync(~0u, sum, j, width);
    if (lane > j) runs = gt__fold_two<FOLD>(runs, other);
  }
  if (threadIdx.x % 16 == 15) halves[half] = gt__fold_two<FOLD>(runs, sum);
  __syncthreads();
  _Pragma("unroll 4") for (int h = first; h < first + 2 * team; h++) {
    if (h == half) mine = sums;
    sums = gt__fold_two<FOLD>(sums, halves[h]);
  }
  before = gt__fold_two<FOLD>(before, mine);
  return gt__fold_two<FOLD>(before, runs);
}
/* Each element of a thread's run becomes what is stored for it: the fold of all up to it, or, with
   GT__BEFORE, of all before it. With GT__TOTALS only `sums` is made. */
template <int FOLD, class T>
GT__DEV void gt__scan_run(T *run, T before, T &sums, int width, int team, int task) {
  constexpr int N = GT__RUN;
  T sum = gt__identity<T>(FOLD), x[N];
  T so_far = sum;
  GT__EACH {
    x[i] = run[i];
    sum = gt__fold_two<FOLD>(sum, x[i]);
  }
  before = gt__runs_before<FOLD>(sum, before, sums, width, team);
  if (task & GT__TOTALS) return;
  GT__EACH {
    const T with = gt__fold_two<FOLD>(so_far, x[i]);
    const T mine = task & GT__BEFORE ? so_far : with;
    run[i] = gt__fold_two<FOLD>(before, mine);
    so_far = with;
  }
}
/* Block: one or two warps for a row, or a warp for each of neighbouring rows that fill 64 bytes; of
   short rows a warp has several. Grid: a block for each chunk of these. `sums`: the fold of the
   chunk so far; **level: of all chunks before it, which gt__scan_next folds in THE SCAN's order. */
template <class T>
__global__ void __launch_bounds__(2048 / sizeof(T), 2)
    gt__scan_kernel(const __grid_constant__ gt__scan_args p,
                    const __grid_constant__ gt__scan_cut c) {
  gt__after_kernel_before();
  const int rows = blockDim.x / c.team >> c.lanes_log2;
  const int width = min(1 << c.lanes_log2, 16);
  const int team = c.lanes_log2 == 5 ? c.team : 0;
  const int64_t tile = c.team * GT__WARP_RUNS;
  const int64_t begin = blockIdx.x % c.n_chunk * GT__CHUNK;
  const int64_t end = c.n_chunk > 1 ? min(begin + GT__CHUNK, p.n) : p.n;
  const gt__scan_thread<T> m = gt__my_scan<T>(p, c, rows);
  const T none = gt__identity<T>(p.fold);
  T sums = none, level[GT__LEVELS][2];
  **level = c.task & GT__CARRIED && m.total ? *m.total : none;
  GT__LOOP for (int64_t k = begin; k < end; k += tile) {
    const int n = (int)min(end - k, tile);
    if (k > begin && k % GT__CHUNK == 0) {
      gt__scan_next(p.fold, level + 1, k / GT__CHUNK - 1, sums);
      sums = none;
    }
    gt__move_tile<T, false>(p, m, k, n, none);
    __syncthreads();
    gt__by_running_fold(p.fold, [&](auto fold) {
      constexpr int FOLD = decltype(fold)::value;
      gt__scan_run<FOLD>(m.mine, **level, sums, width, team, c.task);
    });
    __syncthreads();
    if (!(c.task & GT__TOTALS)) gt__move_tile<T, true>(p, m, k, n, none);
    __syncthreads();
  }
  if (c.task & GT__TOTALS && m.total) *m.total = sums; /* all of the team say the same */
}
static const void *const gt__scan_kernels[] = {GT__EACH_COMPUTE(gt__scan_kernel)};
/* How many blocks share a row: several only if there are so few rows that they leave the device
   idle. */
static int64_t gt__scan_chunks(const gt__scan_args *s, bool rows) {
  const int64_t many = rows ? GT__SCAN_ROWS : GT__SCAN_COLUMNS;
  const bool few = s->outer * s->inner < many;
  return few && s->n > GT__CHUNK ? (s->n - 1) / GT__CHUNK + 1 : 1;
}
/* One launch of the kernel, with as many lanes for a row as it has runs, at most 32. */
static int gt__start_scan(const gt__scan_args *s, bool rows, int task, void *queue) {
  const int compute = s->pre.program.compute;
  const int width = compute == GT__F32 ? 4 : 8;
  const int tile = GT__WARP_RUNS + GT__WARP_RUNS * width / 128 + 1;
  const int64_t all = s->outer * s->inner;
  gt__scan_cut c = {1, 0, task, 1};
  if (task & ~GT__BEFORE) c.n_chunk = gt__scan_chunks(s, rows);
  while (c.lanes_log2 < 5 && s->n > GT__RUN << c.lanes_log2) c.lanes_log2++;
  const int of_warp = 32 >> c.lanes_log2;
  int64_t warps = GT__ROW_WARPS;
  if (!rows) warps = GT__COLUMN_BYTES / width;
  if (rows) warps = min(warps, (s->n - 1) / GT__WARP_RUNS + 1);
  else warps = min(warps, (all - 1) / of_warp + 1);
  if (rows) c.team = (int)warps;
  const int64_t each = warps / c.team * of_warp;
  const unsigned blocks = gt__blocks(all, each) * (unsigned)c.n_chunk;
  const size_t shared = (size_t)(warps * tile * width);
  void *parameters[] = {(void *)s, &c};
  return gt__launch(gt__scan_kernels[compute], blocks, (unsigned)warps * 32, shared, queue,
                    parameters);
}
/* The three steps above, where several blocks share a row; one launch where none do. `t` describes
   the totals as rows of their own, which may need the three steps in turn. */
static int gt__scan_by_chunks(const gt__scan_args *s, bool rows, int task, void *queue) {
  static const uint8_t dtype[] = {GT_FLOAT32, GT_FLOAT64, GT_INT64};
  gt__scan_args t = *s;
  gt__operand *totals = &t.pre.out;
  t.n = gt__scan_chunks(s, rows);
  if (t.n == 1) return gt__start_scan(s, rows, task, queue);
  t.outer = s->outer * s->inner;
  t.inner = 1;
  t.dim = 1;
  t.pre.ndim = 2;
  totals->data = (char *)s->pre.scratch;
  totals->dtype = dtype[t.pre.program.compute];
  totals->stride[0] = t.n;
  totals->stride[1] = 1;
  t.pre.in[0] = *totals;
  t.pre.scratch = totals->data + t.outer * t.n * 8;
  int error = gt__start_scan(s, rows, GT__TOTALS, queue);
  if (!error) error = gt__scan_by_chunks(&t, true, GT__BEFORE, queue);
  return error ? error : gt__start_scan(s, rows, task | GT__CARRIED, queue);
}
/* ROWS: the way of the table, which takes scans whose dim lies in memory. */
template <bool ROWS>
static int gt__plan_scan(gt__op *op) {
  const gt__scan_args *s = &op->u.scan;
  const int64_t chunks = gt__scan_chunks(s, ROWS);
  const bool lies = s->inner == 1 || s->pre.out.stride[s->dim] == 1;
  if (ROWS && !lies) return 0;
  const int64_t places = s->outer * s->inner * chunks;
  if (chunks > 1) op->scratch = places * 16; /* also for the totals of totals */
  return 1;
}
template <bool ROWS>
static int gt__run_scan(const gt__op *op, void *queue) {
  const gt__scan_args *s = &op->u.scan;
  if (!gt__is_program(&s->pre.program) || s->n < 1) return cudaErrorInvalidValue;
  if (gt__scan_chunks(s, ROWS) > 1 && !s->pre.scratch) return cudaErrorInvalidValue;
  return s->pre.count ? gt__scan_by_chunks(s, ROWS, 0, queue) : (int)cudaSuccess;
}

/* ---- >>radix -----------------------------------------------------------------------------------
   A stable sort of rows of n pairs, a key of 32 bits above a position of 32 bits, by digits of
   eight bits of the key, the lowest first. A pass sorts by one digit. It cuts each row into parts
   of one or more tiles, which are 4,096 pairs long, and has three kernels:

       count    counts[row][digit][part]: how often the digit occurs in the part
       add      each count becomes the number of pairs of its digit in the parts before; total has
                the number in all parts
       move     a block takes the tiles of a part in their order. In shared memory it sorts a tile
                by the digit; then neighbours go to neighbouring places and share their stores. A
                digit's first place is the sum of the totals of lower digits.

   A row of two parts, and three digits:

                  counts: part 0   part 1    added: part 0   part 1   total   first place
       digit 0              2        1                0        2        3          0
       digit 1              1        3                0        1        4          3
       digit 2              0        2                0        0        2          7

   Part 1's first pair with digit 1 goes to place 3 + 1. In a tile a warp has 512 pairs, 32 at a
   time. A pair's place among those of its digit comes from a vote: the lanes that have the same
   digit, and of these the ones before its own. */
enum { GT__DIGITS = 256 };
enum { GT__SORT_EACH = 16 }; /* pairs of a thread */
enum { GT__SORT_TILE = GT__SORT_EACH * GT__THREADS };
static_assert((int)GT__DIGITS == (int)GT__THREADS, "each thread of a block has a digit");
#define GT__EACH_PAIR GT__UNROLL for (int i = 0; i < GT__SORT_EACH; i++)
/* What a block that sorts has in shared memory. */
struct gt__sorter {
  uint64_t pair[GT__SORT_TILE];
  uint32_t count[GT__THREADS / 32][GT__DIGITS]; /* of the pairs of a warp */
  uint32_t begin[GT__DIGITS];                   /* in the sorted tile, of those with the digit */
  uint32_t sums[GT__THREADS / 32];
};
/* The digit of the key that begins at bit `shift`. */
GT__DEV uint32_t gt__digit(uint64_t pair, int shift) {
  return (uint32_t)(pair >> 32) >> shift & (GT__DIGITS - 1);
}
/* The number in the tile of a thread's i-th pair. */
GT__DEV int gt__in_tile(int i) {
  const int lane = threadIdx.x & 31;
  return (threadIdx.x - lane) * GT__SORT_EACH + i * 32 + lane;
}
/* The sum over this lane and those before it. */
GT__DEV uint32_t gt__sum_to_lane(uint32_t x) {
  GT__UNROLL for (int step = 1; step < 32; step *= 2) {
    const uint32_t before = __shfl_up_sync(~0u, x, step);
    if ((threadIdx.x & 31) >= step) x += before;
  }
  return x;
}
/* The sum over the threads of the block before this one. A barrier has to follow. */
GT__DEV uint32_t gt__sum_before(uint32_t *sums, uint32_t x) {
  const int warp = threadIdx.x / 32;
  const uint32_t sum = gt__sum_to_lane(x);
  uint32_t before = sum - x;
  if ((threadIdx.x & 31) == 31) sums[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; w++) before += sums[w];
  return before;
}
/* Counts a warp's digits. place[i]: how many like that of pair[i] stand before it in the warp. */
GT__DEV void gt__count_digits(uint32_t *count, const uint64_t *pair, int shift, uint32_t *place) {
  const int lane = threadIdx.x & 31;
  for (int d = lane; d < GT__DIGITS; d += 32) count[d] = 0;
  __syncwarp();
  GT__EACH_PAIR {
    const uint32_t digit = gt__digit(pair[i], shift);
    uint32_t same = ~0u; /* the lanes that have that digit */
    GT__UNROLL for (int bit = 1; bit < GT__DIGITS; bit *= 2) {
      const uint32_t set = __ballot_sync(~0u, digit & bit);
      same &= digit & bit ? set : ~set;
    }
    const uint32_t first = count[digit];
    place[i] = first + __popc(same & ((1u << lane) - 1));
    __syncwarp();
    if (place[i] == first) count[digit] = first + __popc(same);
    __syncwarp();
  }
}
/* Sorts a tile's pairs by a digit of their keys. */
GT__DEV void gt__sort_tile(gt__sorter &s, uint64_t *pair, int shift) {
  const int t = threadIdx.x;
  uint32_t *const count = s.count[t / 32];
  uint32_t place[GT__SORT_EACH], sum = 0;
  gt__count_digits(count, pair, shift, place);
  __syncthreads();
  for (auto &of_warp : s.count) { /* thread t has digit t */
    const uint32_t n = of_warp[t];
    of_warp[t] = sum;
    sum += n;
  }
  s.begin[t] = gt__sum_before(s.sums, sum);
  __syncthreads();
  GT__EACH_PAIR {
    const uint32_t digit = gt__digit(pair[i], shift);
    s.pair[place[i] + count[digit] + s.begin[digit]] = pair[i];
  }
  __syncthreads();
  GT__EACH_PAIR pair[i] = s.pair[gt__in_tile(i)];
}
struct gt__radix {
  int64_t rows, n, part; /* part: pairs, whole tiles */
  int parts, shift, current;
  uint64_t *pair[2];        /* [row][n]: what is sorted, and where to: a double buffer */
  uint32_t *counts, *total; /* [row][digit][part] and [row][digit] */
  int64_t keep, *out; /* with `out`, the last pass writes the first `keep` positions there alone */
};
/* Block: 256 threads. Grid: a block for each part of each row. */
__global__ void __launch_bounds__(GT__THREADS)
    gt__radix_count_kernel(const __grid_constant__ gt__radix p) {
  __shared__ uint32_t count[GT__DIGITS];
  const int64_t row = blockIdx.x / p.parts, part = blockIdx.x % p.parts;
  const int64_t end = min((part + 1) * p.part, p.n);
  const uint64_t *const pair = p.pair[p.current] + row * p.n;
  const int64_t digit = row * GT__DIGITS + threadIdx.x;
  count[threadIdx.x] = 0;
  __syncthreads();
  _Pragma("unroll 8") for (int64_t i = part * p.part + threadIdx.x; i < end; i += GT__THREADS)
      atomicAdd(&count[gt__digit(pair[i], p.shift)], 1);
  __syncthreads();
  p.counts[digit * p.parts + part] = count[threadIdx.x];
}
/* A warp adds up the parts of a digit. Block: 256 threads. Grid: a block for eight digits. */
__global__ void __launch_bounds__(GT__THREADS)
    gt__radix_add_kernel(const __grid_constant__ gt__radix p) {
  const int lane = threadIdx.x & 31;
  const int64_t digit = gt__my_number() / 32;
  uint32_t *const count = p.counts + digit * p.parts;
  uint32_t sum = 0;
  for (int i = lane; i - lane < p.parts; i += 32) {
    const uint32_t n = i < p.parts ? count[i] : 0;
    const uint32_t to_lane = gt__sum_to_lane(n);
    if (i < p.parts) count[i] = sum + to_lane - n;
    sum += __shfl_sync(~0u, to_lane, 31);
  }
  if (lane == 0) p.total[digit] = sum;
}
/* Block: 256 threads. Grid: a block for each part of each row. */
__global__ void __launch_bounds__(GT__THREADS, 3)
    gt__radix_move_kernel(const __grid_constant__ gt__radix p) {
  __shared__ gt__sorter s;
  __shared__ uint32_t shifted[GT__DIGITS]; /* from a pair's place in the tile to that in the row */
  const int t = threadIdx.x;
  const int64_t row = blockIdx.x / p.parts, part = blockIdx.x % p.parts;
  const int64_t end = min((part + 1) * p.part, p.n), digit = row * GT__DIGITS + t;
  const uint64_t *const from = p.pair[p.current] + row * p.n;
  uint64_t *const into = p.pair[p.current ^ 1] + row * p.n;
  uint64_t pair[GT__SORT_EACH];
  uint32_t next = p.counts[digit * p.parts + part];
  next += gt__sum_before(s.sums, p.total[digit]);
  for (int64_t begin = part * p.part; begin < end; begin += GT__SORT_TILE) {
    GT__EACH_PAIR {
      const int64_t k = begin + gt__in_tile(i);
      pair[i] = k < end ? from[k] : ~0ull; /* what stays behind all others */
    }
    gt__sort_tile(s, pair, p.shift);
    shifted[t] = next - s.begin[t];
    next += (t + 1 < GT__DIGITS ? s.begin[t + 1] : (uint32_t)GT__SORT_TILE) - s.begin[t];
    __syncthreads();
    GT__EACH_PAIR {
      const int k = gt__in_tile(i);
      const uint32_t to = shifted[gt__digit(pair[i], p.shift)] + k;
      if (k >= end - begin) break;
      if (!p.out) into[to] = pair[i];
      else if (to < p.keep) p.out[row * p.keep + to] = (uint32_t)pair[i];
    }
  }
}
/* How rows of n pairs are cut. All lies in `scratch`, whose end is returned; pair[1] stands last: a
   sort of one pass to `out` does not use it. */
static char *gt__plan_radix(gt__radix *r, int64_t rows, int64_t n, void *scratch) {
  const int64_t tiles = (n - 1) / GT__SORT_TILE + 1;
  const int64_t most = max(GT__RADIX_PARTS / rows, (int64_t)1);
  *r = {};
  r->rows = rows;
  r->n = n;
  r->part = ((tiles - 1) / most + 1) * GT__SORT_TILE;
  r->parts = (int)((n - 1) / r->part + 1);
  r->counts = (uint32_t *)scratch;
  r->total = r->counts + rows * GT__DIGITS * r->parts;
  r->pair[0] = (uint64_t *)(r->total + rows * GT__DIGITS);
  r->pair[1] = r->pair[0] + rows * n;
  return (char *)(r->pair[1] + rows * n);
}
/* Starts the sort of pair[current] by the lowest `bits` bits of the keys, in whole digits, one at
   least. `current` then says where they are. */
static int gt__run_radix(gt__radix *r, int bits, void *queue) {
  const unsigned blocks = (unsigned)(r->rows * r->parts);
  const unsigned lines = (unsigned)(r->rows * GT__DIGITS / (GT__THREADS / 32));
  int64_t *const out = r->out;
  int e = 0;
  r->shift = 0;
  do {
    r->out = r->shift + 8 < bits ? NULL : out;
    e = gt__start(GT__POINTER(gt__radix_count_kernel), blocks, GT__THREADS, r, queue);
    if (!e) e = gt__start(GT__POINTER(gt__radix_add_kernel), lines, GT__THREADS, r, queue);
    if (!e) e = gt__start(GT__POINTER(gt__radix_move_kernel), blocks, GT__THREADS, r, queue);
    r->current ^= 1;
    r->shift += 8;
  } while (!e && r->shift < bits);
  return e;
}

/* ---- >>order -----------------------------------------------------------------------------------
   Short rows, and the first few of long rows, are ordered in shared memory; whole long rows by
   >>radix. */
/* A block sorts a tile of 4,096 candidates, and keeps the first `keep` of each row. Short rows
   share a tile: after the passes by the keys, one more by the number of the row takes them apart.
   Of a long row each tile gives candidates for the next round, until one tile has them all. Keys of
   64 bits are sorted by their lower half, and are then read anew for the upper one. The lower half
   of a pair is where the candidate stands, counted from the beginning of the tile's first row. */
struct gt__order_round {
  gt__order_args a;
  const uint32_t *from; /* the candidates' positions; NULL: all are */
  uint32_t *to;         /* for the next round; NULL: to a.out */
  int64_t n, next;      /* candidates of a row, and how many are written of it */
  int tiles, rows;      /* tiles of a row, rows of a tile; one of them is 1 */
};
static constexpr uint32_t GT__NOWHERE = ~0u; /* what fills a tile up */
/* Bits `low` to `low` + 31 of the keys of elements that stand behind number `first`. */
GT__DEV void gt__load_keys(const gt__order_args &a, int64_t first, int low, uint64_t *pair) {
  gt__by_size(a.x.size_log2, [&](auto zero) {
    const auto *x = (const decltype(zero) *)a.x.data + first;
    GT__EACH_PAIR {
      const uint32_t at = (uint32_t)pair[i];
      uint32_t key = ~0u; /* what stays behind all others */
      if (at != GT__NOWHERE) key = (uint32_t)(gt__order_key(&a, x[at]) >> low);
      pair[i] = (uint64_t)key << 32 | at;
    }
    return 0;
  });
}
/* Writes what comes first of each row; its number in the tile is the key if there are several. */
GT__DEV void gt__keep_first(const gt__order_round &p, int64_t row, uint32_t tile,
                            const uint64_t *pair) {
  GT__EACH_PAIR {
    const uint32_t at = (uint32_t)pair[i];
    const uint32_t number = p.rows > 1 ? (uint32_t)(pair[i] >> 32) : 0;
    const int64_t place = gt__in_tile(i) - number * p.n;
    const int64_t to = (row + number) * p.next + tile * p.a.keep + place;
    if (at == GT__NOWHERE || place >= p.a.keep) continue;
    if (p.to) p.to[to] = at;
    else ((int64_t *)p.a.out.data)[to] = at - number * p.n;
  }
}
/* Sorts a tile by the lower half of the keys, by the upper half if there is one, and by the row.
   Block: 256 threads. Grid: a block for each tile. */
__global__ void __launch_bounds__(GT__THREADS, 3)
    gt__order_tile_kernel(const __grid_constant__ gt__order_round p) {
  __shared__ gt__sorter s;
  const int64_t row = (int64_t)(blockIdx.x / p.tiles) * p.rows;
  const int64_t end = min((int64_t)p.rows, p.a.rows - row) * p.n;
  const uint32_t tile = blockIdx.x % p.tiles;
  const int halves = p.a.bits > 32 ? 2 : 1;
  uint64_t pair[GT__SORT_EACH];
  GT__EACH_PAIR {
    const int64_t k = (int64_t)tile * GT__SORT_TILE + gt__in_tile(i);
    pair[i] = GT__NOWHERE;
    if (k < end) pair[i] = p.from ? p.from[row * p.n + k] : k;
  }
  for (int k = 0; k < halves + (p.rows > 1); k++) {
    const bool by_row = k == halves;
    const int bits = by_row ? 8 : min(p.a.bits, 32);
    if (!by_row) gt__load_keys(p.a, row * p.a.n, 32 * k, pair);
    else GT__EACH_PAIR {
        const uint32_t at = (uint32_t)pair[i];
        const uint32_t number = at / (uint32_t)p.n;
        pair[i] = (uint64_t)min(number, GT__DIGITS - 1u) << 32 | at;
      }
    GT__LOOP for (int shift = 0; shift < bits; shift += 8) { gt__sort_tile(s, pair, shift); }
  }
  gt__keep_first(p, row, tile, pair);
}
/* How many candidates of n are left in the next round. */
static int64_t gt__next_candidates(const gt__order_args *a, int64_t n) {
  const int64_t whole = (n - 1) / GT__SORT_TILE;
  return whole * a->keep + min(a->keep, n - whole * GT__SORT_TILE);
}
static int gt__plan_order_tiles(gt__op *op) {
  const gt__order_args *a = &op->u.order;
  const size_t next = a->rows * gt__next_candidates(a, a->n);
  if (a->n > GT__SORT_TILE) op->scratch = next * 2 * sizeof(uint32_t);
  return a->n <= GT__SORT_TILE || a->keep <= GT__SORT_TILE / 4;
}
/* One launch a round. The candidates of a round lie in scratch, in one of two halves. */
static int gt__run_order_tiles(const gt__op *op, void *queue) {
  const gt__order_args *a = &op->u.order;
  const int64_t fit = min(GT__SORT_TILE / a->n, GT__DIGITS - (int64_t)1);
  const int rows = max((int)fit, 1); /* of long ones each has a tile, also in the end */
  const int64_t room = a->rows * gt__next_candidates(a, a->n);
  const void *const kernel = GT__POINTER(gt__order_tile_kernel);
  gt__order_round p = {*a, NULL, NULL, 0, a->n, 0, rows};
  int e = 0;
  do {
    p.n = p.next;
    p.next = gt__next_candidates(a, p.n);
    p.tiles = (int)((p.n - 1) / GT__SORT_TILE + 1);
    p.to = NULL;
    if (p.tiles > 1) p.to = (uint32_t *)a->scratch + (p.from == a->scratch) * room;
    const int64_t blocks = p.tiles * ((a->rows - 1) / p.rows + 1);
    e = gt__start(kernel, (unsigned)blocks, GT__THREADS, &p, queue);
    p.from = p.to;
  } while (!e && p.to);
  return e;
}
/* Makes the pairs for >>radix: 32 bits of the key, from bit `low` on, above the position. The
   second time, for the upper half of a key of 64 bits, it takes the positions from the pairs as
   they were sorted. Block: 256 threads. Grid: elements / 256, rounded up. */
struct gt__order_keys {
  gt__order_args a;
  uint64_t *pair;
  int low;
};
__global__ void __launch_bounds__(GT__THREADS)
    gt__order_keys_kernel(const __grid_constant__ gt__order_keys p) {
  const int64_t i = gt__my_number();
  if (i >= p.a.rows * p.a.n) return;
  const int64_t row = p.a.rows > 1 ? i / p.a.n * p.a.n : 0;
  const uint32_t at = (uint32_t)(p.low ? p.pair[i] : i - row);
  p.pair[i] = gt__key_at(p.a, row + at) >> p.low << 32 | at;
}
static int gt__plan_order_radix(gt__op *op) {
  const gt__order_args *a = &op->u.order;
  gt__radix r;
  op->scratch = (size_t)gt__plan_radix(&r, a->rows, a->n, NULL);
  if (a->bits <= 8) op->scratch = (size_t)r.pair[1];
  return 1;
}
/* Sorts by the lower half of the keys, then, if they have 64 bits, by the upper half. */
static int gt__run_order_radix(const gt__op *op, void *queue) {
  const gt__order_args *a = &op->u.order;
  const unsigned blocks = gt__blocks(a->rows * a->n, GT__THREADS);
  gt__radix r;
  gt__order_keys p = {*a, NULL, 0};
  int e = 0;
  gt__plan_radix(&r, a->rows, a->n, a->scratch);
  r.keep = a->keep;
  for (; !e && p.low < a->bits; p.low += 32) {
    if (p.low + 32 >= a->bits) r.out = (int64_t *)a->out.data;
    p.pair = r.pair[r.current];
    e = gt__start(GT__POINTER(gt__order_keys_kernel), blocks, GT__THREADS, &p, queue);
    if (!e) e = gt__run_radix(&r, min(a->bits, 32), queue);
  }
  return e;
}
static const void *const gt__order_kernels[] = {
    GT__POINTER(gt__radix_count_kernel), GT__POINTER(gt__radix_add_kernel),
    GT__POINTER(gt__radix_move_kernel), GT__POINTER(gt__order_tile_kernel),
    GT__POINTER(gt__order_keys_kernel)};

/* ---- >>scatter ---------------------------------------------------------------------------------
   Positions of the index are sorted by the place that each goes to, see >>radix. Those that go to
   one place are then a segment, in their order, and a segment is cut into runs of GT__ROWS:

       place        0  0  0  2  2  5  5  5  5 ...   A bad index goes with place 0, and has the
       position     4  7  9  1  8  0  2  3  6 ...   position NOWHERE.

   A block lists the runs that begin in its part of the sorted positions, and folds them; a thread
   makes one element of a run's fold, which has as many as gt__scatter_args has in `rest`. If the
   segment is that run alone, its fold goes to the place. The folds of a longer segment's runs, here
   called sums whatever the fold, are kept, and a second kernel folds these. */
enum { GT__RUN_LOT = 4 };  /* positions of a run that are loaded at once */
enum { GT__JOIN_LOT = 8 }; /* sums of runs that are loaded at once */
struct gt__scatterer {
  gt__scatter_args a;
  gt__radix r;
  uint32_t *longs;  /* [0]: how many segments have several runs; [1]: a good index names place 0;
                       then where those segments begin */
  void *sums;       /* of runs: [two for each GT__ROWS positions][rest] */
  int columns_log2; /* threads beside each other, for elements of the rest */
  int part;         /* positions of a block */
};
GT__DEV uint64_t gt__pair_at(const gt__scatterer &s, int64_t p) {
  const uint64_t *pairs = s.r.pair[s.r.current];
  return p >= 0 && p < s.a.n ? pairs[p] : ~0ull;
}
GT__DEV uint32_t gt__place_at(const gt__scatterer &s, int64_t p) {
  return (uint32_t)(gt__pair_at(s, p) >> 32);
}
/* Where the fold of a run is kept, if its segment has several. In each GT__ROWS positions begin at
   most one run that is its segment's first and one that is not. */
template <class T>
GT__DEV T *gt__sum_of_run(const gt__scatterer &s, int64_t begin, bool first) {
  const int64_t number = begin / GT__ROWS * 2 + first;
  return (T *)s.sums + number * s.a.rest;
}
template <class T, class S>
GT__DEV void gt__end_segment(const gt__scatterer &s, uint32_t place, int64_t e, T sum) {
  const bool named = place > 0 || s.longs[1];
  if (named) gt__end_place<T, S>(s.a, place, e, sum);
}
__global__ void __launch_bounds__(GT__THREADS)
    gt__scatter_keys_kernel(const __grid_constant__ gt__scatterer s) {
  const int64_t p = gt__my_number();
  if (p >= s.a.n) return;
  const int64_t place = gt__scatter_place(&s.a, p);
  if (place < 0) gt__set_fault(s.a.fault);
  if (place == 0 && !s.longs[1]) s.longs[1] = 1;
  s.r.pair[0][p] = place < 0 ? GT__NOWHERE : (uint64_t)place << 32 | p;
}
/* How many of same(1), same(2) ... same(most) hold: the first ones, behind which none does. The
   threads of a warp ask for 32 of them at once, `step` apart, and then for those between the last
   that holds and the next, with a 32nd of the step. */
template <class F>
GT__DEV int64_t gt__count_same(int64_t most, F same) {
  const int lane = threadIdx.x & 31;
  int64_t found = 0, step = 1;
  const auto probe = [&] {
    const int64_t k = found + (lane + 1) * step;
    const bool holds = k <= most && same(k);
    return __popc(__ballot_sync(~0u, holds));
  };
  const int few = probe();
  if (few < 32) return few;
  while (step * 32 <= most) step *= 32;
  for (; step > 0; step /= 32) found += step * probe();
  return found;
}
/* What a block shares: the places and positions of its part, one more in front and a run more
   behind, and where runs begin. */
struct gt__scatter_part {
  uint32_t place[GT__SCATTER_PART + GT__ROWS + 1];
  uint32_t at[GT__SCATTER_PART + GT__ROWS + 1];
  uint16_t run[GT__SCATTER_PART];
  int runs;
};
/* Brings a part, and lists its runs: the thread of a segment's first position there does. A segment
   that goes on from the part before has `before` positions of a run there. */
GT__DEV void gt__list_runs(const gt__scatterer &s, int64_t begin, gt__scatter_part &part) {
  const uint32_t first = gt__place_at(s, begin);
  const auto same = [&](int64_t k) { return gt__place_at(s, begin - k) == first; };
  const int before = (int)(gt__count_same(begin, same) % GT__ROWS);
  part.runs = 0;
  for (int i = threadIdx.x; i <= s.part + GT__ROWS; i += GT__THREADS) {
    const int64_t p = begin + i - 1;
    const uint64_t pair = gt__pair_at(s, p);
    part.place[i] = (uint32_t)(pair >> 32);
    part.at[i] = (uint32_t)pair;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < s.part; i += GT__THREADS) {
    const uint32_t mine = part.place[i + 1];
    int k = i;
    const bool goes_on = mine == part.place[i];
    if (goes_on) k = i ? s.part : (GT__ROWS - before) % GT__ROWS;
    if (mine == GT__NOWHERE) break;
    for (; k < s.part && part.place[k + 1] == mine; k += GT__ROWS)
      part.run[atomicAdd(&part.runs, 1)] = (uint16_t)k;
  }
  __syncthreads();
}
/* The fold of the run that begins at place k of the part, `along` elements into the rest. */
template <class T, class S>
GT__DEV T gt__fold_run(const gt__scatter_args &a, const gt__scatter_part &part, int k,
                       int64_t along) {
  const uint32_t place = part.place[k + 1];
  const int end = k + GT__ROWS;
  T sum = gt__identity<T>(a.fold);
  GT__LOOP for (; k < end && part.place[k + 1] == place; k += GT__RUN_LOT) {
    T value[GT__RUN_LOT];
    GT__UNROLL for (int i = 0; i < GT__RUN_LOT; i++) {
      const uint32_t at = part.at[k + i + 1];
      value[i] = gt__identity<T>(a.fold);
      if (part.place[k + i + 1] != place || at == GT__NOWHERE) continue;
      const int64_t from = gt__offset(at, a.n_index, a.size, a.src.stride);
      value[i] = gt__read_as<T, S>(a.src, from + along);
    }
    GT__UNROLL for (int i = 0; i < GT__RUN_LOT; i++) {
      const T next = value[i];
      sum = gt__fold_values(a.fold, sum, next);
    }
  }
  return sum;
}
/* Block: 256 threads. Grid: positions / part, rounded up. */
template <class T>
__global__ void __launch_bounds__(GT__THREADS)
    gt__scatter_kernel(const __grid_constant__ gt__scatterer s) {
  __shared__ gt__scatter_part part;
  const int64_t begin = (int64_t)blockIdx.x * s.part;
  const int columns = 1 << s.columns_log2;
  gt__list_runs(s, begin, part);
  const auto fold = [&](auto tag) {
    typedef decltype(tag) S;
    const int items = part.runs << s.columns_log2;
    for (int i = threadIdx.x; i < items; i += GT__THREADS) {
      const int k = part.run[i >> s.columns_log2];
      const int column = i & (columns - 1);
      const uint32_t place = part.place[k + 1];
      const bool first = part.place[k] != place;
      const bool whole = first && part.place[k + 1 + GT__ROWS] != place;
      const bool notes = first && !whole && column == 0;
      T *const kept = gt__sum_of_run<T>(s, begin + k, first);
      if (notes) s.longs[2 + atomicAdd(s.longs, 1)] = (uint32_t)(begin + k);
      for (int64_t e = column; e < s.a.rest; e += columns) {
        const int64_t along = gt__scatter_from(&s.a, &s.a.src, 0, e);
        const T sum = gt__fold_run<T, S>(s.a, part, k, along);
        if (whole) gt__end_segment<T, S>(s, place, e, sum);
        else kept[e] = sum;
      }
    }
  };
  const bool usual = gt__if_usual<T>(s.a.src.dtype, fold);
  if (!usual) fold(gt__operand());
}
/* The fold of the sums of runs from `run` to `end`, at most a lot, in pairs. */
template <class T>
GT__DEV gt__found<T> gt__fold_lot(const gt__scatterer &s, int64_t begin, int64_t run, int64_t end,
                                  int64_t e) {
  T value[GT__JOIN_LOT];
  GT__UNROLL for (int k = 0; k < GT__JOIN_LOT; k++) {
    const int64_t at = begin + (run + k) * GT__ROWS;
    const T *sum = gt__sum_of_run<T>(s, at, at == begin);
    if (run + k < end) value[k] = sum[e];
  }
  GT__UNROLL for (int wide = 1; wide < GT__JOIN_LOT; wide *= 2) {
    GT__UNROLL for (int k = 0; k < GT__JOIN_LOT; k += 2 * wide) {
      const bool pair = run + k + wide < end;
      if (pair) value[k] = gt__fold_values(s.a.fold, value[k], value[k + wide]);
    }
  }
  return {value[0], 0};
}
/* The fold of the sums of a segment's runs, for element e of the rest, by the lanes of a warp that
   are 1 << log2 apart. Each of these has as many runs, a power of two: a node of the tree. The
   first one has the result. */
template <class T>
GT__DEV T gt__fold_segment(const gt__scatterer &s, int64_t begin, int64_t runs, int64_t e,
                           int log2) {
  const int team = (threadIdx.x & 31) >> log2, teams = 32 >> log2;
  int64_t own = 1;
  while (own * teams < runs) own *= 2;
  const int64_t first = team * own;
  const int64_t end = min(first + own, runs);
  const int64_t lots = (end - first - 1) / GT__JOIN_LOT + 1;
  T sum = 0;
  const auto lot = [&](int64_t c) {
    const int64_t run = first + c * GT__JOIN_LOT;
    return gt__fold_lot<T>(s, begin, run, end, e);
  };
  const bool has = first < end && e < s.a.rest;
  if (has) sum = gt__fold_tree<T>(s.a.fold, lots, lot).value;
  for (int wide = 1; wide < teams; wide *= 2) {
    const T other = __shfl_down_sync(~0u, sum, wide << log2);
    const bool pair = team % (2 * wide) == 0 && first + wide * own < runs;
    if (pair) sum = gt__fold_values(s.a.fold, sum, other);
  }
  return sum;
}
/* A warp takes a segment, for up to eight elements of the rest. Block: 256 threads. Grid: blocks
   whose warps take one segment after the other. */
template <class T>
__global__ void __launch_bounds__(GT__THREADS)
    gt__scatter_join_kernel(const __grid_constant__ gt__scatterer s) {
  const int lane = threadIdx.x & 31, log2 = s.a.rest < 8 ? 0 : 3;
  const int64_t groups = ((s.a.rest - 1) >> log2) + 1;
  const int64_t step = gridDim.x * (GT__THREADS / 32);
  for (int64_t i = gt__my_number() / 32; i < *s.longs * groups; i += step) {
    const int64_t segment = i / groups, begin = s.longs[2 + segment];
    const int64_t group = i - segment * groups;
    const int64_t e = (group << log2) + (lane & ((1 << log2) - 1));
    const uint32_t place = gt__place_at(s, begin);
    const int64_t most = (s.a.n - 1 - begin) / GT__ROWS;
    const auto same = [&](int64_t k) {
      const int64_t p = begin + k * GT__ROWS;
      return gt__place_at(s, p) == place;
    };
    const int64_t runs = gt__count_same(most, same) + 1;
    const T sum = gt__fold_segment<T>(s, begin, runs, e, log2);
    const bool mine = lane >> log2 == 0 && e < s.a.rest;
    if (mine) gt__end_segment<T, gt__operand>(s, place, e, sum);
  }
}
static const void *const gt__scatter_kernels[] = {GT__EACH_COMPUTE(gt__scatter_kernel),
                                                  GT__EACH_COMPUTE(gt__scatter_join_kernel),
                                                  GT__POINTER(gt__scatter_keys_kernel)};
/* Returns the bytes of scratch. */
static size_t gt__place_scatter(gt__scatterer *s, const gt__scatter_args *a) {
  const int64_t runs = a->n / GT__ROWS + 1;
  s->a = *a;
  s->sums = a->scratch;
  s->longs = (uint32_t *)a->scratch + 4 * runs * a->rest;
  s->columns_log2 = min(gt__log2_above(a->rest), 8);
  const int part = max(GT__SCATTER_WORK >> s->columns_log2, (int)GT__ROWS);
  s->part = min(part, GT__SCATTER_PART);
  uint32_t *const behind = s->longs + 2 * (runs + 1);
  char *const end = gt__plan_radix(&s->r, 1, a->n, behind);
  return end - (char *)a->scratch;
}
static int gt__plan_sorted(gt__op *op) {
  const gt__scatter_args *a = &op->u.scatter;
  gt__scatterer s;
  op->scratch = gt__place_scatter(&s, a);
  return a->n <= INT32_MAX && a->inner * a->entries <= INT32_MAX;
}
/* Makes the keys, sorts them, folds runs, and then the sums of runs. */
static int gt__run_sorted(const gt__op *op, void *queue) {
  const gt__scatter_args *a = &op->u.scatter;
  const void *const *kernel = gt__scatter_kernels + a->compute;
  const int64_t sums = (a->n / GT__ROWS + 1) * a->rest;
  const int bits = gt__log2_above(a->inner * a->entries);
  const unsigned blocks = gt__blocks(a->n, GT__THREADS);
  gt__scatterer s;
  gt__place_scatter(&s, a);
  const unsigned parts = gt__blocks(a->n, s.part);
  int e = (int)cudaMemsetAsync(s.longs, 0, 8, (cudaStream_t)queue);
  if (!e) e = gt__start(gt__scatter_kernels[6], blocks, GT__THREADS, &s, queue);
  if (!e) e = gt__run_radix(&s.r, bits, queue);
  if (!e) e = gt__start(kernel[0], parts, GT__THREADS, &s, queue);
  if (e || a->n <= GT__ROWS) return e;
  const unsigned warps = gt__blocks(sums, GT__THREADS / 32);
  const unsigned joins = min(warps, (unsigned)GT__JOIN_BLOCKS);
  return gt__start(kernel[3], joins, GT__THREADS, &s, queue);
}

/* ---- >>matmul-epilogue --------------------------------------------------------------------------
   What follows a product (scale, bias, activation, another matrix) works on its sums in registers.
   */
/* A step of the epilogue, where all are so simple that they need no slots: sum = op(sum, number
   times an element, or the number alone). */
enum { GT__EPILOGUE_STEPS = 4 };
struct gt__epilogue_step {
  const char *data; /* of C's shape by its strides in bytes; or NULL */
  int64_t batch;
  int64_t row;
  int64_t column;
  float number;
  uint8_t op;
  uint8_t dtype;
};
/* A number by which device code divides, with its inverse: see gt__quotient, as a division takes
   ten times as long. */
struct gt__fast_divisor {
  unsigned by;
  unsigned inverse;
};
/* How C is cut into tiles, and these into parts, which go through scratch. A block takes one whole
   tile after the other. The last tiles, from `whole` on, would leave some blocks idle: each has
   steps / share parts, `each`. Part i of the r-th of these is in slot r * (each + 1) + i of
   scratch. */
struct gt__partition {
  int m, n, high, wide;            /* C, and a tile of it */
  int rows, columns, tiles, whole; /* of tiles: down, across, in all batches, never cut */
  /* whole tiles and parts; steps of K: of a tile, of a part; parts of a tile that may be cut */
  int units, steps, share, each;
  /* what is divided by: tiles of a matrix, of a band; rows of a whole band, of the last; each */
  gt__fast_divisor matrix, band, rest[2], part;
  int direct, slots, lines, pitch; /* direct: the copy engine can store to C */
  void *parts, *to;                /* [slots][lines][pitch]; C, of any type that is usual */
  int64_t row, column, batch;      /* its strides, in elements */
  int dtype;
  int n_epilogue;
  gt__epilogue_step epilogue[GT__EPILOGUE_STEPS];
};
/* On a thread's sums. each(s, f) calls f(i, y) with the element of operand s for each sum i. An
   activation takes 16 at a time and rotates the registers, since these cannot be indexed. */
template <int N, class Each>
GT__DEV void gt__follow(const gt__partition &t, float (&sum)[N], const Each &each) {
  constexpr int LOT = N < 16 ? N : 16;
  GT__LOOP for (int k = 0; k < t.n_epilogue; k++) {
    const gt__epilogue_step &s = t.epilogue[k];
    const bool mul = s.op == GT__OP_mul;
    /* sum * y + -0 is the product, sum * 1 + y the sum */
    const auto take = [&](int i, float y) {
      const float factor = mul ? y : 1;
      sum[i] = __fmaf_rn(sum[i], factor, mul ? -0.f : y);
    };
    if (s.data) {
      each(s, [&](int i, float y) { take(i, GT__MUL(s.number, y)); });
    } else if (mul || s.op == GT__OP_add) {
      GT__EACH take(i, s.number);
    } else if (s.op == GT__OP_relu) {
      GT__EACH sum[i] = gt__formula<GT__OP_relu, float>::of(sum[i], 0, 0);
    } else GT__LOOP for (int done = 0; done < N; done += LOT) {
        float y[LOT];
        GT__UNROLL for (int i = 0; i < LOT; i++) y[i] = sum[i];
        switch (s.op) {
#define GT__ACTIVATION(name) \
  case GT__OP_##name: gt__apply_all<GT__OP_##name>(y, y, y); break;
          GT__ACTIVATIONS(GT__ACTIVATION)
#undef GT__ACTIVATION
        }
        GT__UNROLL for (int i = 0; i < N; i++) sum[i] =
            i < N - LOT ? sum[(i + LOT) % N] : y[i - (N - LOT)];
      }
  }
}

/* ---- >>matmul-plan -----------------------------------------------------------------------------
   What the ways of products decide before anything runs: where C goes, what follows the product
   and what lies in scratch memory. A plan is made once, before scratch has an address: until then
   each pointer into it is an offset. */
enum { GT__PLACES = 8 };
struct gt__product {
  gt__matmul_args x;        /* transposed: the product is C' = B' x A' */
  gt__partition t;          /* where the product goes and what follows it */
  bool through, transposed; /* through: C goes to scratch, and a map follows */
  int products, type;       /* Hopper's: of pieces, and the pieces' dtype, or 0 */
  int matrix;               /* the step behind the product that has a matrix, from 1, or 0 */
  int n_placed;
  uint16_t placed[GT__PLACES]; /* where in this struct the pointers into scratch are */
  size_t scratch;
};
static int gt__size_log2(const gt__matmul_args *x) { return x->compute == GT__F32 ? 2 : 3; }
/* The offset of so many bytes of scratch; and a pointer that will lead there. */
static size_t gt__carve(gt__product *j, size_t bytes) {
  const size_t at = j->scratch;
  j->scratch += (bytes + 255) / 256 * 256;
  return at;
}
template <class P>
static void gt__place(gt__product *j, P *&pointer, size_t at) {
  pointer = (P *)at;
  j->placed[j->n_placed++] = (uint16_t)((char *)&pointer - (char *)j);
}
/* The plan that gt__submit kept, with addresses in place of the offsets. */
static void gt__recall_product(const gt__op *op, gt__product *j) {
  const uintptr_t scratch = (uintptr_t)op->u.matmul.post.scratch;
  memcpy((void *)j, op->plan, op->plan_bytes);
  for (int i = 0; i < j->n_placed; i++) {
    uintptr_t *pointer = (uintptr_t *)((char *)j + j->placed[i]);
    *pointer += scratch;
  }
  j->x.post.early = j->through ? 0 : op->u.matmul.post.early;
}
/* Begins a plan, `bytes` of which are set to zero. It is made beside the operation, since CUDA's
   tensor maps want an alignment that the operation's memory need not have. */
static void gt__begin_product(const gt__op *op, gt__product *j, size_t bytes) {
  memset((void *)j, 0, bytes);
  j->x = op->u.matmul;
}
template <class P>
static int gt__keep_product(gt__op *op, const P *j, const void *end) {
  static_assert(sizeof *j <= sizeof op->plan, "a plan has room in an operation");
  op->scratch = j->scratch;
  op->plan_bytes = (size_t)((const char *)end - (const char *)j);
  memcpy(op->plan, (const void *)j, op->plan_bytes);
  return 1;
}
/* Lays matrices of `next` elements one after the other; returns the elements of all. */
static int64_t gt__lay_batch(int n_batch, const int64_t *size, gt__operand *o, int64_t next) {
  for (int d = n_batch - 1; d >= 0; d--) {
    o->stride[d] = size[d] > 1 ? next : 0;
    next *= size[d];
  }
  return next;
}
/* A product with something to do. */
static bool gt__has_work(const gt__matmul_args *x) {
  return gt__is_product(x) && x->m > 0 && x->n > 0 && x->batch > 0;
}

/* A product that the tensor cores may make. The steps of all tiles are counted by an int. */
static bool gt__is_on_hopper(const gt__matmul_args *x) {
  const double tiles = (x->m / 64. + 1) * (x->n / 64. + 1) * x->batch;
  if (!(gt__device_facts() & GT__PROBE_HOPPER)) return false;
  if (!gt__has_work(x) || x->k < 1) return false;
  if (x->compute != GT__F32) return false;
  if (x->a.dtype != x->b.dtype || x->batch > USHRT_MAX) return false;
  if (max(max(x->m, x->n), x->k) > INT_MAX / 4) return false;
  return tiles * (x->k / 64. + 1) <= INT_MAX;
}
/* To split float32 into pieces costs more than it gains where rows are few or the product is small;
   below 16 of K the error of pieces shows. */
static bool gt__is_for_hopper(const gt__matmul_args *x) {
  const double c = (double)x->m * x->n;
  if (!gt__is_on_hopper(x)) return false;
  if (x->a.dtype == GT_FLOAT16 || x->a.dtype == GT_BFLOAT16) return true;
  if (x->a.dtype != GT_FLOAT32 || x->k < GT__PIECES_LEAST_K) return false;
  if (min(x->m, x->n) <= GT__PIECES_LEAST_ROWS) return false;
  return c * x->k > GT__PIECES_LEAST_WORK && c * x->batch > GT__PIECES_LEAST_C;
}

/* A, or B: its size along M or N, and its strides there and along K. */
struct gt__view {
  gt__operand *o;
  int64_t *wide;
  int64_t *deep;
  int64_t size;
};
static gt__view gt__view_of(gt__matmul_args *x, bool b) {
  if (b) return {&x->b, &x->b_col, &x->b_row, x->n};
  return {&x->a, &x->a_row, &x->a_col, x->m};
}
/* Do the batch dims of an operand act as one? Then *stride leads from matrix to matrix. */
static bool gt__one_batch(const gt__matmul_args *x, const gt__operand *o, int64_t *stride) {
  int64_t count = 1;
  *stride = 0;
  for (int d = x->n_batch - 1; d >= 0; d--) {
    if (x->post.size[d] == 1) continue;
    if (count == 1) *stride = o->stride[d];
    if (o->stride[d] != *stride * count) return false;
    count *= x->post.size[d];
  }
  return true;
}
/* C' = B' x A'; of a vector C' is C. */
static void gt__swap_operands(gt__matmul_args *x) {
  std::swap(x->a, x->b);
  std::swap(x->m, x->n);
  std::swap(x->a_row, x->b_col);
  std::swap(x->a_col, x->b_row);
}
static void gt__transpose_product(gt__matmul_args *x) {
  int64_t *stride = x->post.out.stride + x->n_batch;
  gt__swap_operands(x);
  std::swap(stride[0], stride[1]);
}

/* -- the epilogue, read from the program -- */
static const float *gt__number_in(const gt__program *g, int slot) { /* or NULL: it is none */
  const int i = slot - g->n_in;
  return i >= 0 && i < g->n_const ? &g->constant[i].s : NULL;
}
static bool gt__is_activation(int op) {
  switch (op) {
#define GT__ACTIVATION(name) case GT__OP_##name:
    GT__ACTIVATIONS(GT__ACTIVATION)
#undef GT__ACTIVATION
    case GT__OP_relu: return true;
    default: return false;
  }
}
/* A scaled operand is SAVE, LOAD, mul, add. */
static bool gt__is_scaled(const gt__ins *i, const gt__ins *end) {
  return end - i > 3 && i->op == GT__SAVE && i[1].op == GT__LOAD && i[2].op == GT__OP_mul &&
         i[3].op == GT__OP_add && i[3].b == i->d;
}
/* On Hopper a matrix comes by the copy engine, behind the stages of a tile; false: it cannot. */
static bool gt__add_operand(gt__product *j, gt__epilogue_step *s, int slot) {
  const gt__program *g = &j->x.post.program;
  const gt__operand *o = &j->x.post.in[slot];
  const int row = j->x.n_batch + j->transposed;
  const int column = j->x.n_batch + !j->transposed;
  if (slot < 1 || slot >= g->n_in || !gt__is_usual(GT__F32, o->dtype) ||
      !gt__one_batch(&j->x, o, &s->batch))
    return false;
  s->data = o->data;
  s->dtype = o->dtype;
  s->batch <<= o->size_log2;
  s->row = o->stride[row] << o->size_log2;
  s->column = o->stride[column] << o->size_log2;
  if (!j->type || s->row == 0) return true;
  const bool first = j->matrix == 0, fits = (o->dtype == GT_FLOAT32) == (j->products > 1);
  j->matrix = j->t.n_epilogue + 1;
  if (o->stride[column] != 1 || o->stride[row] < j->t.n) return false;
  return first && fits && s->batch >= 0 && ((uintptr_t)o->data | s->row | s->batch) % 16 == 0;
}
/* One step, from instruction i on; false: it is none. */
static bool gt__read_epilogue_step(gt__product *j, gt__epilogue_step *s, const gt__ins *i,
                                   bool scaled) {
  const float *number = gt__number_in(&j->x.post.program, i[scaled ? 2 : 0].b);
  *s = {NULL, 0, 0, 0, 1, scaled ? (uint8_t)GT__OP_add : i->op, 0};
  if (gt__is_activation(s->op)) return true;
  if (s->op != GT__OP_add && s->op != GT__OP_mul) return false;
  if (number) s->number = *number;
  if (!scaled && number) return true;
  return (number || !scaled) && gt__add_operand(j, s, i[scaled].b);
}
/* Reads the program as steps behind the product; false: it is more than that. */
static bool gt__read_epilogue(gt__product *j) {
  const gt__program *g = &j->x.post.program;
  const gt__ins *i = g->ins, *end = i + g->n_ins;
  gt__partition *t = &j->t;
  t->n_epilogue = 0;
  if (i == end || i->op != GT__LOAD || i->b != 0) return false;
  if (g->compute != GT__F32 && g->n_ins > 1) return false;
  for (i++; i < end; i++) {
    gt__epilogue_step *s = &t->epilogue[t->n_epilogue];
    const bool scaled = gt__is_scaled(i, end);
    if (t->n_epilogue == GT__EPILOGUE_STEPS || !gt__read_epilogue_step(j, s, i, scaled))
      return false;
    if (s->data || s->op != GT__OP_mul || s->number != 1) t->n_epilogue++;
    if (scaled) i += 3;
  }
  return true;
}
/* Can the sums go straight to C, through an epilogue of simple steps? */
static bool gt__fits_place(gt__product *j) {
  const gt__partition *t = &j->t;
  const gt__operand *out = &j->x.post.out;
  if (!gt__one_batch(&j->x, out, &j->t.batch) || !gt__read_epilogue(j)) return false;
  if (t->column != 1 && !j->transposed) return false;
  if (j->type && t->dtype != GT_FLOAT32 && t->dtype != j->type) return false;
  return gt__is_usual(j->x.compute, t->dtype);
}
/* Where the sums go: to C or, always or if need be, to scratch, and from there to C by a map. */
static void gt__plan_output(gt__product *j, bool always) {
  const gt__operand *out = &j->x.post.out;
  gt__partition *t = &j->t;
  t->dtype = out->dtype;
  t->to = out->data;
  t->row = out->stride[j->x.n_batch];
  t->column = out->stride[j->x.n_batch + 1];
  j->through = always || !gt__fits_place(j);
  if (j->through) {
    t->dtype = gt__widest[j->x.compute];
    t->row = gt__up(t->n, 8); /* lines begin at 16 bytes */
    t->column = 1;
    t->batch = t->row * t->m;
    const size_t elements = (size_t)(t->batch * j->x.batch);
    gt__place(j, t->to, gt__carve(j, elements << gt__size_log2(&j->x)));
    t->n_epilogue = 0;
    j->matrix = 0;
  }
}
/* ---- >>matmul-split -----------------------------------------------------------------------------
   Split-K: several blocks have a part of K each of one tile. Their sums go to scratch, and a second
   kernel adds them up in the order of the parts, so the result is ever the same:

       steps of K    0 .. share - 1    share .. 2 * share - 1   ...     of one tile
       a block       sums in slot 0    sums in slot 1           ...     by gt__hopper_kernel, say
       C's tile      slot 0            + slot 1                 + ...   by gt__split_sum_kernel */
/* The place of a tile in C. Tiles that are made at the same time shall share rows of A and columns
   of B in the L2 cache: they go through C in bands of 8 rows of tiles, and down in these.

       tile   0   8  16 ...      the first band: 8 rows; 64 tiles at once read 8 rows and 8 columns
              1   9  17          of tiles; 64 in one row would read 1 row and 64 columns
              ...
              7  15  23 ...      behind it the second one */
enum { GT__BAND = 8 };
struct gt__corner {
  int batch;
  int m;
  int n;
};
GT__DEV unsigned gt__quotient(unsigned x, gt__fast_divisor d) { /* for x below 2^31 */
  const unsigned q = __umulhi(x, d.inverse);
  return q + (x - q * d.by >= d.by);
}
/* The corner of a tile by its number. */
GT__DEV gt__corner gt__find_corner(const gt__partition &t, unsigned tile) {
  const unsigned batch = gt__quotient(tile, t.matrix);
  const unsigned in = tile - batch * t.matrix.by;
  const unsigned band = gt__quotient(in, t.band);
  const unsigned at = in - band * t.band.by;
  const gt__fast_divisor high = t.rest[(band + 1) * GT__BAND > t.rows];
  const unsigned column = gt__quotient(at, high);
  const unsigned row = band * GT__BAND + at - column * high.by;
  return {(int)batch, (int)row * t.high, (int)column * t.wide};
}
template <class T>
GT__DEV void gt__add4(T (&sum)[4], const T *from) {
  T x[4];
  gt__load_line((const char *)from, x);
  for (int j = 0; j < 4; j++) {
    T &to = sum[j];
    to = gt__apply<GT__OP_add>(to, x[j]);
  }
}
/* What follows the four sums of a thread, and where they go. */
template <class T>
GT__DEV void gt__store_sums(const gt__partition &t, const gt__corner &at, int m, int n,
                            T (&sum)[4]) {
  if constexpr (std::is_same<T, float>::value)
    gt__follow(t, sum, [&](const gt__epilogue_step &s, auto take) {
      const int row = min(m, t.m - 1);
      const char *line = s.data + at.batch * s.batch + row * s.row;
      gt__if_usual<float>(s.dtype, [&](auto tag) {
        for (int j = 0; j < 4; j++) {
          const int column = min(n + j, t.n - 1);
          const auto y = *(const decltype(tag) *)(line + column * s.column);
          take(j, gt__as<float>(y));
        }
      });
    });
  const int64_t to = at.batch * t.batch + m * t.row + n * t.column;
  gt__if_usual<T>(t.dtype, [&](auto tag) {
    typedef decltype(tag) O;
    for (int j = 0; j < 4 && m < t.m && n + j < t.n; j++) {
      const int64_t place = to + j * t.column;
      ((O *)t.to)[place] = gt__as<O>(sum[j]);
    }
  });
}
/* C from the parts of its tiles, added up in their order. A block makes 32 columns, a thread four
   of them; of many parts, `team` threads have a share each, so that all loads are on their way at
   once. Grid: across, down, for each tile that may be cut. Block: 256. */
template <class T>
__global__ void __launch_bounds__(256)
    gt__split_sum_kernel(const __grid_constant__ gt__partition t, int team) {
  __shared__ alignas(16) T shares[256][4];
  const int rows = 32 / team;
  const int tile = blockIdx.z;
  const int threads = 256 / team;
  const int share = threadIdx.x / threads;
  const int i = threadIdx.x % threads;
  const bool along_n = t.column == 1; /* lines of C in memory */
  const int down = along_n ? i / 8 : i % rows;
  const int right = along_n ? i % 8 : i / rows;
  const int row = blockIdx.y * rows + down;
  const int column = blockIdx.x * 32 + right * 4;
  const int64_t part_size = (int64_t)t.lines * t.pitch;
  const T *from = (const T *)t.parts + tile * (t.each + 1) * part_size;
  const bool inside = row < t.lines && column < t.pitch;
  from += row * t.pitch + column;
  T sum[4] = {};
  gt__await_kernel_before();
  gt__release_next_kernel();
  if (inside) {
    const int each = (t.each + team - 1) / team; /* parts */
    const int first = share * each;
    const int end = min(t.each, first + each);
#pragma unroll 8
    for (int k = first; k < end; k++) gt__add4(sum, from + k * part_size);
  }
  gt__store_line((char *)shares[threadIdx.x], sum);
  __syncthreads();
  if (!inside || share > 0) return;
  for (int k = 1; k < team; k++) gt__add4(sum, shares[i + k * threads]);
  const gt__corner at = gt__find_corner(t, t.whole + tile);
  gt__store_sums(t, at, at.m + row, at.n + column, sum);
}
static void gt__set_divisors(gt__partition *t) {
  const auto by = [](int n) { return gt__fast_divisor{(unsigned)n, ~0u / n}; };
  t->matrix = by(t->rows * t->columns);
  t->band = by(GT__BAND * t->columns);
  t->part = by(t->each);
  t->rest[0] = by(GT__BAND);
  t->rest[1] = by((t->rows - 1) % GT__BAND + 1);
}
/* By compute type. */
static const void *const gt__split_sum_kernels[] = {
    GT__POINTER(gt__split_sum_kernel<float>),
    GT__POINTER(gt__split_sum_kernel<double>),
    GT__POINTER(gt__split_sum_kernel<int64_t>),
};
/* C from the parts of tiles. */
static int gt__launch_split_sum(gt__product *j, void *stream) {
  gt__partition *t = &j->t;
  int team = 1;
  while (team < 32 && team * GT__SUM_EACH < t->each) team *= 2;
  const int across = (t->pitch - 1) / 32 + 1;
  const int down = (t->lines - 1) / (32 / team) + 1;
  const dim3 grid(across, down, t->tiles - t->whole);
  void *parameters[] = {t, &team};
  const void *kernel = gt__split_sum_kernels[j->x.compute];
  return gt__launch(kernel, grid, 256, 0, stream, parameters);
}
/* What is left to do if there was no error: parts are added up; from a matrix in scratch to C leads
   a map of the program with the product as its input 0. */
static int gt__finish_product(const gt__op *op, gt__product *j, int e, void *stream) {
  const gt__partition *t = &j->t;
  const int nb = j->x.n_batch;
  if (!e && t->slots) e = gt__launch_split_sum(j, stream);
  if (e || !j->through) return e;
  gt__map_args m = op->u.matmul.post;
  gt__operand *in = &m.in[0];
  memset(in, 0, sizeof *in);
  in->data = (char *)t->to;
  in->dtype = gt__widest[j->x.compute];
  in->size_log2 = (uint8_t)gt__size_log2(&j->x);
  in->stride[nb + j->transposed] = t->row;
  in->stride[nb + !j->transposed] = 1;
  m.fits_int = m.fits_int && gt__lay_batch(nb, m.size, in, t->batch) < INT32_MAX / 8;
  m.scratch = NULL;
  return gt__map_by_best_way(&m, stream);
}

/* ---- >>matmul-tiled ----------------------------------------------------------------------------
   The general kernel. A block makes a tile of C, STEP of K at a time, from a ring of STAGES stages
   in shared memory, each a tile of A and one of B: copies are on their way while earlier steps are
   computed, and a step costs one barrier. With STAGES = 3:

       copies        step 0, step 1 | step 2 | step 3 | step 4     |: a barrier, behind which a step
       multiplied                   | step 0 | step 1 | step 2        is there, and the stage of the
       stages                 0, 1      2        0        1           step before it is free

   A warp makes HIGH x WIDE of C's tile from fragments in registers: while DEEP of K are multiplied,
   the next are read. A's and B's tiles are copied by single values, of any strides, or by 16 bytes;
   what does not lie so, or is of another dtype, is brought to scratch before, which costs 1 % of
   the time at 4096 x 4096 x 4096. Where tiles are few, several blocks have a part of K each. The
   sums run over K in order, and over the parts: ever the same. H200, November 2026, beside cuBLAS:
   float32 47 TFLOP/s, .96; float64 60, 1.0; bfloat16 450, .57, since from sm_90 on full speed needs
   the instructions of >>matmul-hopper; one row at 4 TB/s, 1.0. */
/* For which GPU this code is: 80 is Ampere; 91 is sm_90a, where products of 16 bits are left to
   >>matmul-hopper. On the host it is 91 for all, so a form says what it needs, see gt__suits. */
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
enum { GT__CORES_OF_ARCH = __CUDA_ARCH__ / 10 };
#else
enum { GT__CORES_OF_ARCH = 91 };
#endif
/* What multiplies: nothing, any type's own instruction, or the tensor cores, which take float64 on
   sm_90 and 16-bit floats, added in float32, on sm_80. */
enum { GT__NONE, GT__FMA, GT__TENSOR };
template <>
struct gt__native<gt__half> {
  static constexpr int DTYPE = GT_FLOAT16;
};
template <>
struct gt__native<gt__bfloat> {
  static constexpr int DTYPE = GT_BFLOAT16;
};
static __host__ __device__ __forceinline__ bool gt__is_along(int64_t deep, int64_t wide) {
  const int64_t distance = deep < 0 ? -deep : deep;
  return distance < (wide < 0 ? -wide : wide);
}

/* One operand's tile, TILE of M or N times STEP of K, in lines along M or N, PITCH apart; or in
   lines along K, ALONG apart, if they are so in memory and the engine may KEEP them. A thread
   copies of lines as they are in memory, LOT values at once: neighbours read neighbours. */
template <class T, int TILE, int STEP, int THREADS, int LOT_, bool KEEP>
struct gt__fetcher {
  static constexpr int LOT = LOT_;
  static constexpr int LOTS = TILE * STEP / THREADS / LOT;
  static constexpr int PAD = sizeof(T) == 2 ? 8 : 4; /* lines begin in different banks */
  static constexpr int PITCH = TILE + PAD;
  static constexpr int ALONG = STEP + PAD;
  static constexpr int SIZE = KEEP ? TILE * ALONG : STEP * PITCH;
  static_assert(LOTS > 0 && (TILE >= STEP || !KEEP), "all threads copy; either way there is room");
  const T *at;       /* the thread's first lot */
  int64_t hop, step; /* to its next lot and to the next step */
  int line, place;   /* of its first lot */
  int more;          /* lines to its next */
  int wide_left;     /* there is of TILE */
  bool along;        /* lines run along K in memory */
  /* Of matrix `batch` of x, from `first` of `size` of M or N and from k on. */
  __device__ __forceinline__ gt__fetcher(const gt__matmul_args &p, const gt__operand &x,
                                         int64_t batch, int64_t first, int64_t k, int64_t size,
                                         int64_t wide_stride, int64_t deep_stride) {
    along = gt__is_along(deep_stride, wide_stride);
    const int lots = (along ? STEP : TILE) / LOT; /* of a line */
    line = threadIdx.x / lots;
    place = threadIdx.x % lots * LOT;
    more = THREADS / lots;
    wide_left = (int)min(size - first, (int64_t)TILE);
    hop = along ? wide_stride : deep_stride;
    at = (const T *)x.data + gt__offset(batch, p.n_batch, p.post.size, x.stride);
    at += first * wide_stride;
    at += k * deep_stride;
    at += line * hop;
    at += place * (along ? deep_stride : wide_stride);
    hop *= more;
    step = STEP * deep_stride;
  }
  /* In shared memory: from a value to the next of M or N, and of K. */
  __device__ __forceinline__ int wide() const { return KEEP && along ? ALONG : 1; }
  __device__ __forceinline__ int deep() const { return KEEP && along ? 1 : PITCH; }
  /* Brings the thread's lots of a step, of which `left` of K are in the matrix. */
  __device__ __forceinline__ void fetch(int64_t left_of_k, T *to) {
    const int left = left_of_k < STEP ? (int)left_of_k : STEP;
    const int next = along ? wide() : deep();
    const int run = (along ? left : wide_left) - place;
    const int lines = along ? wide_left : left;
    const T *from = at;
    to += line * next + place * (along ? deep() : wide());
    GT__UNROLL for (int i = 0; i < LOTS; i++, from += hop, to += more * next) {
      const int there = line + i * more < lines ? max(min(run, LOT), 0) : 0;
#if __CUDA_ARCH__ >= 800 /* zeros where there are none; nobody waits for it */
#define GT__ASYNC_COPY(how) \
  asm volatile("cp.async." how ".shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"( \
                   (uint32_t)__cvta_generic_to_shared(to)), \
               "l"(from), "n"(LOT * sizeof(T)), "r"(there * (int)sizeof(T)) \
               : "memory")
      if constexpr (LOT * sizeof(T) == 16)
        GT__ASYNC_COPY("cg"); /* past the L1 cache: float64 3 % sooner */
      else GT__ASYNC_COPY("ca");
#else
      for (int j = 0; j < LOT; j++) to[j] = j < there ? from[j] : T();
#endif
    }
    at += step;
  }
};
/* A tile, for DOWN x ACROSS warps. T is what they multiply, S what they add. LOT: of A, and of B
   if that is another one. */
template <class T_, int M_, int N_, int STEP_, int DOWN, int ACROSS, int STAGES_, int LOT_A,
          int LOT_B = LOT_A>
struct gt__tile {
  typedef T_ T;
  typedef std::conditional_t<sizeof(T) == 2, float, T> S;
  static constexpr int M = M_;
  static constexpr int N = N_;
  static constexpr int STEP = STEP_;
  static constexpr int STAGES = STAGES_;
  static constexpr int THREADS = 32 * DOWN * ACROSS;
  static constexpr int HIGH = M / DOWN;
  static constexpr int WIDE = N / ACROSS;
  static constexpr int SUMS = HIGH * WIDE / 32;
  static constexpr bool HALVES = sizeof(T) == 2;
  static constexpr bool CORES_16 = GT__CORES_OF_ARCH >= 80 && GT__CORES_OF_ARCH != 91;
  static constexpr bool CORES = GT__CORES_OF_ARCH >= 90 && gt__native<T>::DTYPE == GT_FLOAT64;
  static constexpr int ENGINE_16 = CORES_16 ? GT__TENSOR : GT__NONE;
  static constexpr int ENGINE_OTHER = CORES ? GT__TENSOR : GT__FMA;
  static constexpr int ENGINE = HALVES ? ENGINE_16 : ENGINE_OTHER;
  /* what may have lines along K in shared memory: 1 for A, 2 for B, which GT__FMA takes in strips
     only */
  static constexpr int KEEPS = ENGINE == GT__FMA ? (LOT_B > LOT_A) << 1 : (LOT_A > 1) * 3;
  typedef gt__fetcher<T, M, STEP, THREADS, LOT_A, (KEEPS & 1) != 0> A;
  typedef gt__fetcher<T, N, STEP, THREADS, LOT_B, (KEEPS & 2) != 0> B;
  static constexpr int SET = A::SIZE + B::SIZE; /* elements of a stage */
  static constexpr int BYTES = STAGES * SET * (int)sizeof(T);
  GT__DEV int row() { return threadIdx.x / 32 / ACROSS * HIGH; } /* the warp's first */
  GT__DEV int column() { return threadIdx.x / 32 % ACROSS * WIDE; }
};
template <class T>
using gt__small = gt__tile<T, 64, 64, 128 / sizeof(T), 2, 2, 3, 1>;
typedef gt__tile<float, 32, 64, 32, 2, 2, 4, 1> gt__small_float;
typedef gt__tile<float, 128, 128, 8, 2, 2, 4, 4> gt__large_float;
typedef gt__tile<double, 128, 64, 16, 2, 2, 3, 2> gt__large_double;
typedef gt__tile<double, 64, 64, 16, 2, 2, 4, 2> gt__mid_double;
typedef gt__tile<double, 32, 32, 32, 2, 2, 3, 2> gt__fine_double;
template <class T>
using gt__large_16 = gt__tile<T, 128, 256, 64, 2, 4, 3, 8>;
template <class T>
using gt__lean_16 = gt__tile<T, 128, 256, 32, 2, 4, 3, 8>;
template <class T>
using gt__fine_16 = gt__tile<T, 64, 64, 64, 2, 2, 4, 8>;
typedef gt__tile<float, 4, 64, 64, 1, 2, 3, 1, 4> gt__strip_4;
typedef gt__tile<float, 16, 128, 32, 1, 4, 4, 1, 4> gt__strip_16;
typedef gt__tile<float, 64, 64, 32, 2, 2, 5, 1> gt__strip_64;

/* -- the engines -- x: fragments of A, for HIGH rows; y: of B, for WIDE columns. row and column
   tell the place of a thread's sum i, of the first 4 Y. */
template <class P, int ENGINE = P::ENGINE>
struct gt__fragments {
  typedef typename P::T T; /* lanes: 4 x 8, each with 4 x 4 and more; or 1 x 32 */
  static constexpr int DEEP = P::KEEPS ? 4 : 1;
  static constexpr int LANES = P::HIGH < 16 ? 32 : 8;
  static constexpr int X = P::HIGH * LANES / 128;
  static constexpr int Y = P::WIDE / LANES;
  static constexpr int RUN = Y < 4 ? Y : 4;
  T x[DEEP][X][4];
  T y[DEEP][Y];
  GT__DEV int row(int i) { return threadIdx.x % 32 / LANES * 4 + i / Y; }
  GT__DEV int column(int i, bool along) {
    const unsigned lane = threadIdx.x % LANES;
    if (along) return lane + i % Y * LANES;
    return (i % Y / RUN * LANES + lane) * RUN + i % RUN;
  }
  __device__ __forceinline__ void read(const typename P::A &, const typename P::B &b, const T *at,
                                       int q) {
    const T *from = at + P::A::SIZE + P::column() * b.wide();
    from += q * b.deep();
    at += q * P::A::PITCH + P::row() + row(0);
    GT__UNROLL for (int i = 0; i < DEEP * X; i++) {
      const T *line = at + i / X * P::A::PITCH + i % X * 16;
      gt__load_line((const char *)line, x[i / X][i % X]);
    }
    if (b.wide() > 1) {
      GT__UNROLL for (int i = 0; i < Y; i++) {
        const T *line = from + column(i, true) * P::B::ALONG;
        T lot[DEEP];
        gt__load_line((const char *)line, lot);
        for (int d = 0; d < DEEP; d++) y[d][i] = lot[d];
      }
    } else {
      GT__UNROLL for (int i = 0; i < DEEP * Y; i += RUN) {
        const T *line = from + i / Y * P::B::PITCH + column(i, false);
        T *lot = &y[i / Y][i % Y];
        T run[RUN];
        gt__load_line((const char *)line, run);
        for (int j = 0; j < RUN; j++) lot[j] = run[j];
      }
    }
  }
  __device__ __forceinline__ void multiply(T *sum) const {
    GT__UNROLL for (int d = 0; d < DEEP; d++) {
      GT__UNROLL for (int i = 0; i < P::SUMS; i++) {
        const T u = x[d][i / Y / 4][i / Y % 4];
        const T v = y[d][i % Y];
        sum[i] = gt__formula<GT__OP_fma, T>::of(u, v, sum[i]);
      }
    }
  }
};
/* The tensor cores leave a lane 2 x 2 sums d of each 16 x 8:

       column      0 1      2 3      4 5      6 7
       row 0     lane 0   lane 1   lane 2   lane 3     d[0] and d[1]
       row 1     lane 4   lane 5   lane 6   lane 7
       ...
       row 8     lane 0   lane 1   lane 2   lane 3     d[2] and d[3]

   Of float64 it has one element of each 8 x 4 of A and B. Of 16 bits a read brings 16 x 16, of
   which a register has two of each 8 x 8: of A the first, 8 down, 8 on along K, both; of B the
   middle ones change places, since an instruction takes neighbours. */
struct gt__places {
  GT__DEV int row(int i) { return threadIdx.x % 32 / 4 + i / 2 % 2 * 8; }
  GT__DEV int column(int i, bool = false) { return i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }
};
template <class P>
struct gt__fragments<P, GT__TENSOR> : gt__places {
  typedef typename P::T T;
  static constexpr bool DOUBLE = sizeof(T) == 8;
  static constexpr int DEEP = DOUBLE ? 4 : 16;
  static constexpr int X = P::HIGH / 16;
  static constexpr int Y = P::WIDE / 8;
  typedef std::conditional_t<DOUBLE, double, uint32_t> Lane;
  Lane x[X][DOUBLE ? 2 : 4];
  Lane y[Y][DOUBLE ? 1 : 2];
  GT__DEV void get(const T *at, bool along, uint32_t *x, uint32_t *y) {
    const uint32_t address = (uint32_t)__cvta_generic_to_shared(at);
#define GT__GET(how) \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" how ".shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(x[0]), "=r"(x[1]), "=r"(y[0]), "=r"(y[1]) \
               : "r"(address) \
               : "memory")
    if (along) GT__GET("");
    else GT__GET(".trans");
  }
  __device__ __forceinline__ void read(const typename P::A &a, const typename P::B &b, const T *at,
                                       int q) {
    const int aw = a.wide();
    const int ad = a.deep();
    const int bw = b.wide();
    const int bd = b.deep();
    const int lane = threadIdx.x % 32;
    const int low = lane % 8;
    const int inner_8 = lane & 8;
    const int outer_8 = lane / 2 & 8;
    const T *u = at + P::row() * aw + q * ad;
    const T *v = at + P::A::SIZE + P::column() * bw + q * bd;
    if constexpr (DOUBLE) {
      u += lane / 4 * aw + lane % 4 * ad;
      v += lane / 4 * bw + lane % 4 * bd;
      for (int i = 0; i < X; i++) {
        x[i][0] = u[16 * i * aw];
        x[i][1] = u[(16 * i + 8) * aw];
      }
      for (int i = 0; i < Y; i++) y[i][0] = v[8 * i * bw];
    } else {
      u += inner_8 * aw + outer_8 * ad + low * (aw > 1 ? aw : ad);
      v += outer_8 * bw + inner_8 * bd + low * (bw > 1 ? bw : bd);
      for (int i = 0; i < X; i++) {
        const T *from = u + 16 * i * aw;
        get(from, aw > 1, x[i], x[i] + 2);
      }
      for (int i = 0; i < Y; i += 2) {
        const T *from = v + 8 * i * bw;
        get(from, bw > 1, y[i], y[i + 1]);
      }
    }
  }
  __device__ __forceinline__ void multiply(typename P::S *sum) const {
    GT__UNROLL for (int i = 0; i < X * Y; i++) {
      typename P::S *const d = sum + 4 * i;
      const auto &u = x[i / Y];
      const auto &v = y[i % Y];
      if constexpr (DOUBLE)
        asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
            "{%0, %1, %2, %3};"
            : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
            : "d"(u[0]), "d"(u[1]), "d"(v[0]));
#define GT__MMA_16(type) \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type \
      ".f32 {%0, %1, %2, %3}, " \
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) \
      : "r"(u[0]), "r"(u[1]), /* of A, 16 down */ \
        "r"(u[2]), "r"(u[3]), /* 8 on along K */ \
        "r"(v[0]), "r"(v[1]))
      else if constexpr (gt__native<T>::DTYPE == GT_FLOAT16) GT__MMA_16("f16");
      else GT__MMA_16("bf16");
    }
  }
};

/* The loop over K: while the fragments of one step are multiplied, the next are read from shared
   memory, and later steps are on their way there. */
template <class P>
GT__DEV void gt__multiply(typename P::A &a, typename P::B &b, int64_t k,
                          typename P::S (&sum)[P::SUMS]) {
  typedef gt__fragments<P> F;
  static_assert(P::STEP / F::DEEP % 2 == 0, "fragments alternate within a step");
  constexpr int ROOM = P::STAGES * P::SET;
  typename P::T *const sets = (typename P::T *)gt__shared;
  int64_t left = k; /* of K: not yet fetched */
  F f[2];
  const auto fetch = [&](int to) {
    if (left > 0) a.fetch(left, sets + to);
    if (left > 0) b.fetch(left, sets + to + P::A::SIZE);
    __pipeline_commit();
    left -= P::STEP;
  };
  GT__LOOP for (int to = 0; to < ROOM - P::SET; to += P::SET) fetch(to);
  int at = -P::SET;       /* the stage to read */
  int to = ROOM - P::SET; /* the stage to fill */
  /* Goes on to the next stage, which is there then; the last one is no longer needed. */
  const auto await = [&]() {
    at = at + P::SET == ROOM ? 0 : at + P::SET;
    __pipeline_wait_prior(P::STAGES - 2);
    __syncthreads();
  };
  await();
  f[0].read(a, b, sets, 0);
  GT__LOOP for (; k > 0; k -= P::STEP) {
    GT__UNROLL for (int q = 0; q < P::STEP; q += F::DEEP) {
      const int next = q + F::DEEP;
      if (next == P::STEP) {
        to = at;
        await();
      }
      f[next / F::DEEP % 2].read(a, b, sets + at, next % P::STEP);
      if (q == 0) fetch(to);
      f[q / F::DEEP % 2].multiply(sum);
    }
  }
  __pipeline_wait_prior(0);
}

/* -- from registers to C -- */
template <int WIDE>
constexpr int gt__pitch = WIDE + 8; /* of lines that begin in different banks */
/* ROWS x WIDE values of a warp, LOT side by side a thread, some read before one is stored. */
template <int LOT, int ROWS, int WIDE, class S, class O>
GT__DEV void gt__put_lots(const S *from, O *to, int64_t down, int64_t right, int64_t rows,
                          int64_t columns) {
  constexpr int ALL = ROWS * WIDE / 32 / LOT;
  constexpr int MOST = LOT == 1 ? 16 : 8;
  constexpr int N = ALL < MOST ? ALL : MOST;
  for (int k = threadIdx.x % 32; k < 32 * ALL; k += 32 * N) {
    S x[N][LOT];
    O y[LOT];
    const auto row = [&](int i) { return (k + 32 * i) * LOT / WIDE; };
    const auto column = [&](int i) { return (k + 32 * i) * LOT % WIDE; };
    GT__EACH {
      const S *lot = from + row(i) * gt__pitch<WIDE> + column(i);
      gt__load_line((const char *)lot, x[i]);
    }
    GT__EACH {
      gt__cast_all(y, x[i]);
      if (row(i) < rows && column(i) < columns)
        gt__store_line((char *)(to + row(i) * down + column(i) * right), y);
    }
  }
}
/* A warp's sums to C, through its share of shared memory, ROWS x WIDE at a time, below or beside
   each other; F knows the places of a thread's sums in these. So neighbours store neighbours, 16
   bytes each where C lies so, and the code is so short that no block waits for it: 4096 x 4096 x
   4096 on the tensor cores of sm_80 takes 304 us, without it 339, 4096 x 50304 x 192 404 and 915
   (H200). */
template <class F, int ROWS, int WIDE, bool BELOW, class S, int N, class O>
GT__DEV void gt__put_sums(S *mine, O *to, int64_t down, int64_t right, int64_t rows,
                          int64_t columns, bool along, S (&sum)[N]) {
  constexpr int EACH = ROWS * WIDE / 32;
  constexpr int LOT = gt__lot<O>;
  GT__LOOP for (int k = 0; k < N && (!BELOW || rows > 0); k += EACH) {
    GT__UNROLL for (int i = 0; i < EACH; i++) {
      const int at = F::row(i) * gt__pitch<WIDE> + F::column(i, along);
      mine[at] = sum[i];
    }
    __syncwarp();
    if (right == 1 && ((intptr_t)to | down * (int)sizeof(O)) % 16 == 0 &&
        (columns >= WIDE || columns % LOT == 0))
      gt__put_lots<LOT, ROWS, WIDE>(mine, to, down, 1, rows, columns);
    else gt__put_lots<1, ROWS, WIDE>(mine, to, down, right, rows, columns);
    __syncwarp();
    GT__UNROLL for (int i = EACH; i < N; i++) sum[i - EACH] = sum[i]; /* the next to the front */
    to += BELOW ? ROWS * down : WIDE * right;
    rows -= BELOW ? ROWS : 0;
    columns -= BELOW ? 0 : WIDE;
  }
}
/* Stores a warp's sums of the tile at (m, n), by its share of shared memory, which is the ring's.
   */
template <class P>
GT__DEV void gt__store_tiled(const gt__matmul_args &p, int64_t batch, int64_t m, int64_t n,
                             bool along, typename P::S (&sum)[P::SUMS]) {
  typedef typename P::T T;
  typedef typename P::S S;
  typedef gt__fragments<P> F;
  constexpr int WIDE = P::WIDE;
  constexpr int ROWS = 128 * F::Y / WIDE;
  constexpr int ROOM = ROWS * gt__pitch<WIDE>;
  static_assert(P::THREADS / 32 * ROOM * sizeof(S) <= P::BYTES, "each warp has its share");
  const gt__operand &out = p.post.out;
  const int64_t down = out.stride[p.n_batch];
  const int64_t right = out.stride[p.n_batch + 1];
  const int64_t row = m + P::row();
  const int64_t column = n + P::column();
  const int64_t at = blockIdx.y * p.m * down + row * down + column * right +
                     gt__offset(batch, p.n_batch, p.post.size, out.stride);
  S *mine = (S *)gt__shared + threadIdx.x / 32 * ROOM;
  const auto put = [&](auto *to) {
    const int64_t rows = p.m - row;
    const int64_t columns = p.n - column;
    gt__put_sums<F, ROWS, WIDE, true>(mine, to + at, down, right, rows, columns, along, sum);
  };
  if (sizeof(T) == 2 && out.size_log2 == 1) put((T *)out.data);
  else put((S *)out.data);
}
/* C = A x B, or parts of K whose sums are a matrix each; C is of type S, or T. Grid: x tiles of all
   batches, y parts of K. Block: P::THREADS, each with P::SUMS sums. along_k: which
   operands of P::KEEPS have lines along K; if the compiler did not know that, float64 would take
   7 % longer, strips and 16 bits 10 to 40 %. */
template <class P>
__global__ void __launch_bounds__(P::THREADS, 256 / P::THREADS)
    gt__matmul_kernel(const __grid_constant__ gt__matmul_args p, int64_t share) {
  const int along_a = gt__is_along(p.a_col, p.a_row);
  const int along_b = gt__is_along(p.b_row, p.b_col);
  const int along_k = P::KEEPS & (along_a | along_b << 1);
  const int64_t across = (p.n - 1) / P::N + 1;
  const int64_t down = (p.m - 1) / P::M + 1;
  const int64_t tiles = down * across;
  const int64_t k = blockIdx.y * share;
  const int64_t batch = blockIdx.x / tiles;
  const int64_t tile = blockIdx.x % tiles;
  const int64_t m = tile / across * P::M;
  const int64_t n = tile % across * P::N;
  typename P::S sum[P::SUMS] = {};
  if (!p.post.early) gt__await_kernel_before();
  if constexpr (P::ENGINE != GT__NONE) {
    gt__by_bits<P::KEEPS>(along_k, [&](auto known) {
      typename P::A a(p, p.a, batch, m, k, p.m, p.a_row, p.a_col);
      typename P::B b(p, p.b, batch, n, k, p.n, p.b_col, p.b_row);
      if (P::KEEPS & 1) a.along = decltype(known)::value & 1;
      if (P::KEEPS & 2) b.along = decltype(known)::value >> 1;
      gt__multiply<P>(a, b, min(p.k - k, share), sum);
    });
    gt__after_kernel_before();
    __syncthreads(); /* the ring is no longer read */
    gt__store_tiled<P>(p, batch, m, n, along_k > 1, sum);
  }
}

/* -- which tiles, and who brings what -- */
struct gt__form {
  const void *kernel;
  int cores; /* it needs, as GT__BUILT_FOR */
  double us; /* that its blocks take for 64 of K, as many as run at once */
  int m;
  int n;
  int threads;
  int bytes;
  uint8_t dtype;
  uint8_t size_log2;
  int lots;  /* bits, 1 for A and 2 for B: is it copied by several values at once? */
  int keeps; /* likewise: may its lines run along K? see P::KEEPS */
};
#define GT__FORM(P, cores, us) \
  { \
    GT__POINTER(gt__matmul_kernel<P>), cores, us, P::M, P::N, P::THREADS, P::BYTES, \
        gt__native<typename P::T>::DTYPE, sizeof(typename P::T) / 4 + 1, \
        (P::A::LOT > 1) | (P::B::LOT > 1) << 1, P::KEEPS \
  }
#define GT__HALVES(tile, us) GT__FORM(tile<gt__half>, 8, us), GT__FORM(tile<gt__bfloat>, 8, us)
/* clang-format off */
static const gt__form gt__matmul_forms[] = {
    GT__FORM(gt__small_float, 0, 2.4),
    GT__FORM(gt__large_float, 0, 10.7),
    GT__FORM(gt__strip_4, 0, 1.07),
    GT__FORM(gt__strip_16, 0, 2.25),
    GT__FORM(gt__strip_64, 0, 3.6),
    GT__FORM(gt__small<double>, 0, 3.2),
    GT__FORM(gt__large_double, 9, 4.55),
    GT__FORM(gt__mid_double, 9, 2.45),
    GT__FORM(gt__fine_double, 9, 1.25),
    GT__FORM(gt__small<int64_t>, 0, 3.2),
    GT__HALVES(gt__large_16, 1.45),
    GT__HALVES(gt__lean_16, 1.68),
    GT__HALVES(gt__fine_16, .64),
};
/* clang-format on */

struct gt__tiled_product : gt__product {
  const gt__form *form;
  int64_t share;         /* of K: what a block takes, as many elements */
  int brought;           /* operands that a map brings to scratch */
  gt__map_args bring[2]; /* only what is needed is set */
};
/* Can the kernel copy A, or B, from where it is? */
static bool gt__can_copy(gt__matmul_args *x, bool b, const gt__form *f) {
  const gt__view v = gt__view_of(x, b);
  const int64_t line = *v.wide == 1 ? *v.deep : *v.wide;
  const int size = 1 << v.o->size_log2;
  int64_t all = (intptr_t)v.o->data | line * size;
  const bool same = v.o->dtype == f->dtype;
  if (!same || !(f->lots >> b & 1)) return same;
  for (int d = 0; d < x->n_batch; d++) all |= v.o->stride[d] * size;
  if ((all & 15) != 0 || line <= 0) return false;
  return *v.wide == 1 || (*v.deep == 1 && f->keeps >> b & 1);
}
/* The elements of a map to `all` of scratch, with gaps; and whether its offsets fit in
   an int. */
static void gt__count_brought(gt__map_args *m, int64_t all) {
  double last = (double)all;
  m->count = 1;
  for (int d = 0; d < m->ndim; d++) {
    const double stride = (double)m->in[0].stride[d];
    m->count *= m->size[d];
    last += (double)(m->size[d] - 1) * fabs(stride);
  }
  m->fits_int = last < INT32_MAX / 8;
}
/* Lets a map bring A, or B, to scratch, in lines that begin at 16 bytes: along K if they are and
   may be so, else along M or N. A matrix that all batches share is brought once. */
static void gt__plan_bringing(gt__tiled_product *j, bool b) {
  const gt__view v = gt__view_of(&j->x, b);
  const gt__form *f = j->form;
  const bool along = f->keeps >> b & 1 && gt__is_along(*v.deep, *v.wide);
  int64_t *line = along ? v.wide : v.deep;
  int64_t *in = along ? v.deep : v.wide;
  const int nb = j->x.n_batch;
  gt__operand *o = v.o;
  gt__map_args *m = &j->bring[j->brought++];
  *m = gt__copying_map(*o, nb + 2, j->x.compute);
  m->in[0].stride[nb] = *line;
  m->in[0].stride[nb + 1] = *in;
  m->size[nb] = along ? v.size : j->x.k;
  m->size[nb + 1] = along ? j->x.k : v.size;
  for (int d = 0; d < nb; d++) {
    const bool shared = o->stride[d] == 0;
    m->size[d] = shared ? 1 : j->x.post.size[d];
  }
  *line = gt__up(m->size[nb + 1], 8);
  *in = 1;
  o->stride[nb] = *line;
  o->stride[nb + 1] = 1;
  o->dtype = f->dtype;
  o->size_log2 = f->size_log2;
  const int64_t all = gt__lay_batch(nb, m->size, o, m->size[nb] * *line);
  const size_t at = gt__carve(j, (size_t)all << f->size_log2);
  gt__count_brought(m, all);
  m->out = *o;
  gt__place(j, o->data, at);
  gt__place(j, m->out.data, at);
}
static int64_t gt__count_tiles(const gt__matmul_args *x, const gt__form *f) {
  const int64_t down = (x->m - 1) / f->m + 1;
  const int64_t across = (x->n - 1) / f->n + 1;
  return down * across * x->batch;
}
/* How many of its blocks have room in a multiprocessor's shared memory. */
static int gt__room_for(const gt__form *f, int facts) { return ((facts & GT__KB) << 6) / f->bytes; }
/* Can a form make the product on this GPU? Where it takes 16 bits, both operands must have its
   dtype, and the GPU must have no better way. */
static bool gt__suits(const gt__matmul_args *x, const gt__form *f, int facts) {
  if ((facts & GT__BUILT_FOR) < f->cores) return false;
  if (!gt__room_for(f, facts)) return false;
  if (f->size_log2 > 1) return f->dtype == gt__widest[x->compute];
  return !(facts & GT__PROBE_HOPPER) && x->a.dtype == f->dtype && x->b.dtype == f->dtype;
}
/* How many us it takes, by a model, to bring the operands that the kernel cannot copy from where
   they are. */
static double gt__time_to_bring(gt__matmul_args *x, const gt__form *f) {
  double us = 0;
  for (int i = 0; i < 2; i++) {
    const double elements = (double)x->batch * x->k * gt__view_of(x, i).size;
    if (gt__can_copy(x, i, f)) continue;
    const double bytes = elements * (1 << f->size_log2);
    us += GT__BRING_US + GT__BRING_BYTE_US * bytes;
  }
  return us;
}
/* How many us the product takes: blocks come in waves, as many at once as the multiprocessors have
   room for; then parts are added up. */
static double gt__time_of(const gt__matmul_args *x, const gt__form *f, int facts, int64_t tiles,
                          int64_t parts, int64_t share) {
  const int at_once = min(GT__THREADS_AT_ONCE / f->threads, gt__room_for(f, facts));
  const int64_t deep = (tiles * parts - 1) / (facts >> 16);
  const double sums = (double)x->batch * x->m * x->n * parts;
  const double us = (deep / at_once + 1) * (share / 64. * f->us + GT__WAVE_US);
  return parts > 1 ? us + GT__SUM_US + GT__SUM_EACH_US * sums : us;
}
/* The form that takes the least time, with K whole or in as many parts as give each multiprocessor
   a block, two or more. No part is so long that the error of its sums shows. */
static void gt__choose_form(gt__tiled_product *j) {
  gt__matmul_args *x = &j->x;
  const int facts = gt__device_facts();
  const int64_t most = x->k / GT__PART_LEAST_K;
  const int deepest = most > 1 ? GT__MOST_DEEP : 0;
  const int64_t fewest = x->k / GT__SUM_K;
  double least = HUGE_VAL;
  for (const gt__form &f : gt__matmul_forms) {
    if (!gt__suits(x, &f, facts)) continue;
    const double bringing = gt__time_to_bring(x, &f);
    const int64_t tiles = gt__count_tiles(x, &f);
    int64_t last = 0; /* the number of parts that was tried last */
    for (int deep = 0; deep <= deepest; deep++) {
      int64_t parts = min((facts >> 16) * deep / tiles, most);
      parts = max(parts, (int64_t)1);
      if (parts > 1) parts = min(max(parts, fewest), (int64_t)GT__MOST_PARTS);
      if (parts == last) continue;
      last = parts;
      const int64_t share = parts > 1 ? gt__up((x->k - 1) / parts + 1, 32) : x->k;
      const double us = bringing + gt__time_of(x, &f, facts, tiles, parts, share);
      if (us >= least) continue;
      least = us;
      j->form = &f;
      j->share = share;
    }
  }
}
/* Sums go to scratch: parts, where a batch is a tile to gt__split_sum_kernel, or all of C, for a
   map. */
static void gt__plan_sums(gt__tiled_product *j) {
  gt__matmul_args *x = &j->x;
  gt__operand *o = &x->post.out;
  gt__partition *t = &j->t;
  const int nb = x->n_batch;
  const bool cut = t->each > 1;
  t->m = (int)x->m;
  t->lines = t->m;
  t->n = (int)x->n;
  t->pitch = (int)gt__up(x->n, 8);
  t->rows = 1;
  t->columns = 1;
  t->tiles = (int)x->batch;
  t->slots = cut ? t->tiles : 0;
  gt__set_divisors(t);
  const int64_t next = x->m * t->pitch * (t->each + cut);
  gt__plan_output(j, !cut);
  size_t at = (size_t)t->to;
  if (cut) {
    at = gt__carve(j, (size_t)(x->batch * next) << gt__size_log2(x));
    gt__place(j, t->parts, at);
  }
  gt__place(j, o->data, at);
  o->size_log2 = (uint8_t)gt__size_log2(x);
  o->stride[nb] = t->pitch;
  o->stride[nb + 1] = 1;
  gt__lay_batch(nb, x->post.size, o, next);
}
/* Does nothing follow the product? */
static bool gt__is_alone(const gt__program *p) {
  return p->n_ins == 1 && p->ins[0].op == GT__LOAD && p->ins[0].b == 0;
}
/* Chooses the form, then who brings the operands, then where the sums go. */
static int gt__plan_tiled(gt__op *op) {
  const gt__matmul_args *args = &op->u.matmul;
  const int to = args->post.out.dtype;
  if (!gt__has_work(args)) return 0;
  gt__tiled_product plan;
  gt__tiled_product *j = &plan;
  gt__begin_product(op, j, sizeof *j - sizeof j->bring);
  gt__matmul_args *x = &j->x;
  j->transposed = x->compute == GT__F32 && x->n < x->m && x->n <= GT__TRANSPOSED_COLUMNS;
  if (j->transposed) gt__transpose_product(x);
  gt__choose_form(j);
  if (!j->form || gt__count_tiles(x, j->form) > INT_MAX) return 0;
  for (int i = 0; i < 2; i++)
    if (!gt__can_copy(x, i, j->form)) gt__plan_bringing(j, i);
  j->t.each = 1;
  const int64_t k = x->k;
  if (j->share < k) j->t.each = (int)((k - 1) / j->share + 1);
  const bool follows = !gt__is_alone(&args->post.program);
  const bool usual = to == gt__widest[x->compute] || to == j->form->dtype;
  if (j->t.each > 1 || follows || !usual) gt__plan_sums(j);
  return gt__keep_product(op, j, &j->bring[j->brought]);
}
/* First the maps that bring operands, then the product, then what follows it. */
static int gt__run_tiled(const gt__op *op, void *stream) {
  gt__tiled_product job, *j = &job;
  gt__recall_product(op, j);
  const gt__form *f = j->form;
  const dim3 grid((unsigned)gt__count_tiles(&j->x, f), j->t.each);
  void *parameters[] = {&j->x, &j->share};
  int e = 0;
  j->x.post.early = j->brought ? 0 : j->x.post.early;
  for (int i = 0; i < j->brought && !e; i++) {
    const gt__map_args *m = &j->bring[i];
    e = gt__map_by_best_way(m, stream);
  }
  if (!e) e = gt__launch(f->kernel, grid, f->threads, f->bytes, stream, parameters);
  return gt__finish_product(op, j, e, stream);
}

/* ---- >>matmul-tiny ------------------------------------------------------------------------------
   Products of float32 that are so small that their time is latency: in a graph of many alike, one
   of 32 x 128 x 64 with a bias and relu takes 3.4 us, by >>matmul-tiled and the map behind it 5.4.
   A block makes 16 x 16 elements of C, a thread one of them, and brings all that it needs at once:
   16 rows of A and 16 columns of B, in shared memory lines along K, of which a thread reads four
   elements at a time. The program behind the product runs before the store. Block: 256. Grid: the
   tiles of C. */
enum { GT__TINY_TILE = 16 };
enum { GT__TINY_HALF = GT__THREADS / 2 };
enum { GT__TINY_PITCH = GT__TINY_K + 4 }; /* lines begin in different banks */
/* Half of the block brings 16 rows, and zeros up to a power of two: neighbours read neighbours. */
GT__DEV void gt__bring_lines(float (*to)[GT__TINY_PITCH], const gt__operand &x, const gt__matrix &m,
                             int64_t first) {
  const bool along = gt__is_along(m.column_stride, m.row_stride);
  const int columns = (int)m.columns;
  const int log2 = max(32 - __clz(columns - 1), 5);
  const float *from = (const float *)x.data + m.at;
#pragma unroll 8
  for (int i = threadIdx.x % GT__TINY_HALF; i < GT__TINY_TILE << log2; i += GT__TINY_HALF) {
    const int lot = along ? i >> log2 : i / GT__TINY_TILE;
    const int line = along ? lot : i % GT__TINY_TILE;
    const int column = along ? i - (lot << log2) : lot;
    const int64_t row = first + line;
    float value = 0;
    if (row < m.rows && column < columns)
      value = from[row * m.row_stride + column * m.column_stride];
    to[line][column] = value;
  }
}
GT__DEV float gt__multiply_lines(const float *a, const float *b, int k) {
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < k; i += 4) {
    float x[4];
    float y[4];
    gt__load_line((const char *)(a + i), x);
    gt__load_line((const char *)(b + i), y);
    for (int j = 0; j < 4; j++) sum = gt__multiply_add(x[j], y[j], sum);
  }
  return sum;
}
/* Is the product stored as it is: no program follows, and C is float32? */
static bool gt__stands_alone(const gt__matmul_args *x) {
  return gt__is_alone(&x->post.program) && x->post.out.dtype == GT_FLOAT32;
}
/* Stores element i of C, by the program behind the product unless the product stands alone. */
GT__DEV void gt__store_product(const gt__matmul_args &p, int64_t i, float sum, bool alone) {
  const gt__operand &out = p.post.out;
  if (alone) {
    const int64_t to = gt__offset(i, p.post.ndim, p.post.size, out.stride);
    ((float *)out.data)[to] = sum;
  } else {
    gt__store_at(p.post, i, gt__value_at<float>(p.post, i, 1, sum));
  }
}
/* Half of the threads bring rows of A, the others columns of B; then each makes an element of C. */
__global__ void __launch_bounds__(GT__THREADS)
    gt__tiny_kernel(const __grid_constant__ gt__matmul_args p, bool alone) {
  __shared__ alignas(16) float lines[2][GT__TINY_TILE][GT__TINY_PITCH];
  const int y = threadIdx.x / GT__TINY_TILE;
  const int x = threadIdx.x % GT__TINY_TILE;
  const int64_t batch = blockIdx.z;
  const int64_t row = blockIdx.y * GT__TINY_TILE;
  const int64_t column = blockIdx.x * GT__TINY_TILE;
  const gt__matrix a = gt__matrix_a(p, batch);
  gt__matrix b = gt__matrix_b(p, batch);
  b = {b.at, b.columns, b.rows, b.column_stride, b.row_stride}; /* its rows are B's columns */
  if (!p.post.early) gt__await_kernel_before();
  if (threadIdx.x < GT__TINY_HALF) gt__bring_lines(lines[0], p.a, a, row);
  else gt__bring_lines(lines[1], p.b, b, column);
  __syncthreads();
  const float sum = gt__multiply_lines(lines[0][y], lines[1][x], (int)p.k);
  gt__after_kernel_before();
  const int64_t m = row + y;
  const int64_t n = column + x;
  if (m >= p.m || n >= p.n) return;
  const int64_t line = batch * p.m + m;
  gt__store_product(p, line * p.n + n, sum, alone);
}
static const void *const gt__tiny_kernels[] = {GT__POINTER(gt__tiny_kernel)};
static dim3 gt__tiny_grid(const gt__matmul_args *x) {
  const unsigned across = gt__blocks(x->n, GT__TINY_TILE);
  return dim3(across, gt__blocks(x->m, GT__TINY_TILE), (unsigned)x->batch);
}
static int gt__plan_tiny(gt__op *op) {
  const gt__matmul_args *x = &op->u.matmul;
  if (!gt__has_work(x) || x->a.dtype != GT_FLOAT32 || x->b.dtype != GT_FLOAT32) return 0;
  const dim3 grid = gt__tiny_grid(x);
  const double tiles = (double)grid.x * grid.y * x->batch;
  return x->k > 0 && x->k <= GT__TINY_K && tiles <= GT__TINY_TILES;
}
static int gt__run_tiny(const gt__op *op, void *stream) {
  const gt__matmul_args *x = &op->u.matmul;
  bool alone = gt__stands_alone(x);
  void *parameters[] = {(void *)x, &alone};
  return gt__launch(gt__tiny_kernels[0], gt__tiny_grid(x), GT__THREADS, 0, stream, parameters);
}

/* ---- >>matmul-dots ------------------------------------------------------------------------------
   Products of float32 of one row, or of one column, where the lines of the matrix run along K: each
   element of C is the dot product of a line and the vector, and reading the lines takes the time.
   As many warps share a line as keep the device busy: a lane takes every 32nd four of K, or every
   64th and so on, and what lanes and warps have is added up. The program behind the product runs
   before the store. The vector is A here, the lines are B's columns.
   Block: 256. Grid: the lines, 8 / warps of them in a block; the batch. */
enum { GT__DOTS_WARPS = GT__THREADS / 32 };
enum { GT__DOTS_AT_ONCE = 4 }; /* loads of a lane that are on their way together */
/* A lane's share of the sum of x * y: four elements from each of x and y on, and `step` apart. */
GT__DEV float gt__dot(const float *x, const float *y, int64_t left, int step) {
  float sum[4] = {};
  GT__LOOP while (left > 0) {
    float u[GT__DOTS_AT_ONCE][4] = {};
    float v[GT__DOTS_AT_ONCE][4] = {};
    GT__UNROLL for (int i = 0; i < GT__DOTS_AT_ONCE; i++) {
      if (i * step >= left) continue;
      gt__load_line((const char *)(x + i * step), u[i]);
      gt__load_line((const char *)(y + i * step), v[i]);
    }
    GT__UNROLL for (int i = 0; i < 4 * GT__DOTS_AT_ONCE; i++) {
      const float of_x = u[i / 4][i % 4];
      const float of_y = v[i / 4][i % 4];
      sum[i % 4] = gt__multiply_add(of_x, of_y, sum[i % 4]);
    }
    x += GT__DOTS_AT_ONCE * step;
    y += GT__DOTS_AT_ONCE * step;
    left -= GT__DOTS_AT_ONCE * step;
  }
  sum[0] += sum[1];
  sum[2] += sum[3];
  return sum[0] + sum[2];
}
/* `warps` of a block share a line. Lanes add up by halving, then the line's first warp adds the
   others' sums. */
__global__ void __launch_bounds__(GT__THREADS)
    gt__dots_kernel(const __grid_constant__ gt__matmul_args p, int warps, bool alone) {
  __shared__ float sums[GT__DOTS_WARPS];
  const int64_t batch = blockIdx.y;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int first = (warp % warps * 32 + lane) * 4;
  const int64_t line = (blockIdx.x * (int64_t)GT__DOTS_WARPS + warp) / warps;
  float sum = 0;
  if (!p.post.early) gt__await_kernel_before();
  if (line < p.n) {
    const float *x = (const float *)p.a.data + first;
    const float *y = (const float *)p.b.data + first;
    x += gt__batch_at(p, p.a, batch);
    y += gt__batch_at(p, p.b, batch);
    y += line * p.b_col;
    sum = gt__dot(x, y, p.k - first, warps * 128);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  gt__after_kernel_before();
  if (first > 0 || line >= p.n) return;
  for (int i = 1; i < warps; i++) sum += sums[warp + i];
  gt__store_product(p, batch * p.n + line, sum, alone);
}
static const void *const gt__dots_kernels[] = {GT__POINTER(gt__dots_kernel)};
/* Can lanes read an operand by fours along K? */
static bool gt__has_fours(const gt__matmul_args *x, const gt__operand *o, int64_t along,
                          int64_t next) {
  int64_t off = (int64_t)o->data / 4;
  off |= next | x->k;
  for (int d = 0; d < x->n_batch; d++) off |= o->stride[d];
  return o->dtype == GT_FLOAT32 && along == 1 && off % 4 == 0;
}
/* The product with its vector as A; false: it is none of a vector. */
static bool gt__see_dots(const gt__op *op, gt__matmul_args *x) {
  *x = op->u.matmul;
  if (x->m > 1) gt__swap_operands(x);
  if (x->m != 1 || !gt__has_fours(x, &x->a, x->a_col, 0)) return false;
  return gt__has_fours(x, &x->b, x->b_row, x->b_col);
}
static int gt__plan_dots(gt__op *op) {
  gt__matmul_args x;
  if (!gt__has_work(&op->u.matmul)) return 0;
  if (!gt__see_dots(op, &x) || x.k < 1) return 0;
  if (x.batch > USHRT_MAX) return 0;
  const int64_t dots = x.n * x.batch;
  if (x.k < GT__DOTS_LEAST_K && dots > GT__DOTS_BUSY) return 0;
  return dots >= GT__DOTS_LEAST;
}
static int gt__run_dots(const gt__op *op, void *stream) {
  gt__matmul_args x;
  int warps = 1;
  gt__see_dots(op, &x);
  bool alone = gt__stands_alone(&x);
  void *parameters[] = {&x, &warps, &alone};
  while (warps < GT__DOTS_WARPS && x.n * x.batch * warps < GT__DOTS_BUSY) warps *= 2;
  const dim3 grid(gt__blocks(x.n * warps, GT__DOTS_WARPS), (unsigned)x.batch);
  return gt__launch(gt__dots_kernels[0], grid, GT__THREADS, 0, stream, parameters);
}

/* ---- >>matmul-hopper ---------------------------------------------------------------------------
   C = A x B on the tensor cores of sm_90a, for float16, bfloat16 and, in pieces, float32.

   Notation. A block makes a tile of C, 128 x WIDE, 64 of K a step. A brick is 64 x 64 elements of
   16 bits, 8 KB, in shared memory: 64 lines of 128 bytes, whose 16-byte chunks are swizzled (chunk
   c of line r lies at c ^ r % 8), so that neither the tensor cores nor the copy engine meet bank
   conflicts: chunk 0 of eight lines is in all 32 banks.

       place     0  1  2  3  4  5  6  7     of 16 bytes
       line 0    0  1  2  3  4  5  6  7     chunk
       line 1    1  0  3  2  5  4  7  6
       line 2    2  3  0  1  6  7  4  5
       ...
       line 7    7  6  5  4  3  2  1  0     line 8 is as line 0

   The lines run along K, or along M or N, as the operand does in memory: the tensor cores take
   both, so no transposed form needs a copy. A stage holds the bricks of one step.

   Roles. Of a block's three warpgroups of 128 threads the first is the producer, which starts the
   copies by the copy engine (TMA): a warp those of A, another those of B. The other two, the
   consumers, compute 64 x WIDE each (wgmma). The stages are a ring: step i is in stage i % STAGES.
   Each stage has two barriers in shared memory (mbarrier), `full` when its bytes are there, `empty`
   when nobody needs them any longer:

       producer    wait for empty     how many bytes will come     start the copies
                         ^                                               |  copy engine
                         |  8 warps have said so                         v
       consumers   release stage i-1  <--  start products of i  <--  wait for full

   A barrier counts rounds of the ring, and a wait is for the last bit of the round's number: step i
   waits for `full` of its own round, i / STAGES, and for `empty` of the one before, which in the
   first round counts as over. Two blocks of a cluster make tiles above each other: each loads half
   of the bricks of B, which the copy engine lays into both (multicast); so the warps of both
   release a stage in both.

   float32: x = p0 + p1 + p2, each a bfloat16 of 8 bits: p0 is x rounded, p1 what is missing then,
   rounded, p2 the rest, at most 8 of the 24 bits, so the sum is exact (where it is not, see
   gt__must_be_strict). p1 is at most 2^-8 of p0, p2 2^-17. Of the nine products of pieces six
   matter, added in this order, small ones first; the other three are about 2^-24 of the whole:

            b0  b1  b2
       a0    6   5   3     HIGHEST, the default, takes all six; HIGH takes 4, 5 and 6, of two
       a1    4   2         pieces; MEDIUM takes 6, of one
       a2    1

   They share the bricks of their stage. The tensor cores cut off what does not fit while they add,
   so after every step their sum goes to float32 registers, rounded.

   What follows the product (scale, bias, activation, another matrix) works on sums in registers; a
   row is spread by shuffles, a matrix comes through the stages, as if it were two more steps.

   H200, November 2026: bfloat16 4096 x 4096 x 4096 in 174 us, 789 TFLOP/s; float32 of 6 products
   in 1104 us, 125 TFLOP/s, where float32 units reach 51. */
static constexpr int GT__HIGH = 128;
static constexpr int GT__DEEP = 64;
static constexpr int GT__BRICK = 64 * 64 * 2;
static constexpr int GT__TEAM = 128;
enum { GT__B_ALONG_K = 1 };                /* bits of a layout: B's lines run along K, */
enum { GT__A_ALONG_K = 2 };                /* A's lines do, */
enum { GT__OF_FLOAT16 = 4 };               /* elements are float16, not bfloat16 */
static constexpr int GT__ROOM = 227 << 10; /* a block's memory */
static constexpr int GT__OUT_BRICKS = 2;   /* a warpgroup's bricks of C */

/* A or B as lines of `wide` elements, which run along K or across, and how it is packed. */
struct gt__hopper_operand {
  const char *data;
  char *to;       /* [batch][piece][lines][pitch], or data itself */
  uint32_t *top;  /* float32: the largest |x|, [batch][chunk][m or n] */
  int64_t stride; /* of `data`: within a line, */
  int64_t line_stride;
  int64_t batch_stride;                     /* 0: all batches have the same matrix */
  int64_t pitch;                            /* of `to`, from line to line */
  int wide;                                 /* elements of a line, */
  int lines;                                /* lines of a matrix, */
  int batch;                                /* and matrices */
  int along_k;                              /* do lines run along K? */
  int tiles, chunk, chunks, rounds, blocks; /* see gt__pack_kernel; chunk: of K */
  int per_batch; /* matrices of a batch, pieces each by itself; 0: all batches have the same */
};
struct gt__hopper_operands {
  gt__hopper_operand x[2];
  int early;
};
struct gt__hopper_args {
  CUtensorMap map[2], c,
      other;   /* where A and B, or their pieces, C and the epilogue's matrix are */
  int early;   /* may read before the kernel before has ended */
  int down, k; /* a cluster is `down` tiles above each other, 1 or 2 */
  int box;     /* the lines of A that are loaded at once, at most 64 */
  int layout;  /* bits: GT__B_ALONG_K, ... */
  int extra, columns, per_batch; /* the epilogue's matrix: stages or 0; a brick's columns; 1 or 0 */
  gt__partition t;
  gt__hopper_operands f;
};

static constexpr int GT__HIGH_PRODUCTS = 3; /* of pieces, for GT_HIGH; for GT_HIGHEST: */
static constexpr int GT__HIGHEST_PRODUCTS = 6;
static constexpr int gt__pieces_of(int products) {
  if (products == GT__HIGHEST_PRODUCTS) return 3;
  return products == GT__HIGH_PRODUCTS ? 2 : 1;
}
/* A kernel's constants. PRODUCTS: 6 or 3, which make float32, or 1. A kernel without what follows
   the product would begin sooner, by 2 % of the time of 1024 x 1024 x 1024, less of larger ones. */
template <int WIDE_, int PRODUCTS_>
struct gt__hopper_tile {
  static constexpr int WIDE = WIDE_;
  static constexpr int PRODUCTS = PRODUCTS_;
  static constexpr int N = WIDE / 2; /* sums a thread */
  static constexpr int PIECES = gt__pieces_of(PRODUCTS);
  static constexpr int A_BRICKS = GT__HIGH / 64; /* of a piece */
  static constexpr int B_BRICKS = WIDE / 64;
  static constexpr int STAGE = PIECES * (A_BRICKS + B_BRICKS) * GT__BRICK;
  static constexpr int FIXED = 2 * GT__OUT_BRICKS * GT__BRICK + 256;
  static constexpr int FITTING = (GT__ROOM - FIXED) / STAGE;
  static constexpr int STAGES = FITTING < 8 ? FITTING : 8;
  static_assert(STAGES >= 2, "one stage is filled while another is used");
};
template <class S>
GT__DEV uint32_t gt__two(float x, float y) { /* x in the lower half */
  uint32_t u;
  if constexpr (gt__native<S>::DTYPE == GT_FLOAT16)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(y), "f"(x));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(y), "f"(x));
  return u;
}
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define GT__HOPPER /* what follows exists for sm_90a alone */
/* -- instructions -- */
#define GT__KEPT(text) asm volatile(text ::: "memory") /* where it stands */
GT__DEV uint32_t gt__smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
GT__DEV void gt__barrier_init(uint64_t *b, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gt__smem(b)), "r"(arrivals));
}
GT__DEV void gt__barrier_wait(uint64_t *b, int phase) {
  asm volatile(
      "{ .reg .pred done;\n again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(gt__smem(b)),
      "r"(phase)
      : "memory");
}
/* Barriers 1 and 2: of the warpgroup that makes this half of the tile; 3: of both. */
GT__DEV void gt__team_sync(int half) {
  asm volatile("bar.sync %0, %1;" ::"r"(1 + half), "r"(GT__TEAM) : "memory");
}
/* What follows is done by one lane of a warp; the whole warp comes here, which is faster than a
   thread alone. */
#define GT__ONE_THREAD "{ .reg .pred one; elect.sync _|one, -1;\n @one "
/* A barrier waits for so many bytes. */
GT__DEV void gt__expect(uint64_t *full, int bytes) {
  asm volatile(GT__ONE_THREAD
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1; }" ::"r"(gt__smem(full)),
               "r"(bytes)
               : "memory");
}
/* The copy engine: a box at (x, y, z) of a tensor to shared memory, of both blocks of a cluster if
   `mask` is 3, telling the barriers of all. */
#define GT__LOAD_BOX(more, end) \
  asm volatile(GT__ONE_THREAD \
               "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::" \
               "complete_tx::bytes" more " [%0], [%1, {%3, %4, %5}], [%2]" end \
               "; }" ::"r"(gt__smem(to)), \
               "l"(from), "r"(gt__smem(full)), "r"(x), "r"(y), "r"(z), "h"(mask) \
               : "memory")
GT__DEV void gt__load_box(void *to, const CUtensorMap *from, uint64_t *full, int x, int y, int z,
                          uint16_t mask) {
  if (mask) GT__LOAD_BOX(".multicast::cluster", ", %6");
  else GT__LOAD_BOX("", "");
}
/* Until the last stores' bytes have been read. */
GT__DEV void gt__await_stores() { GT__KEPT("cp.async.bulk.wait_group.read 0;"); }
/* Describes bricks: 128-byte swizzle, 1024 bytes from 8 lines to the next 8; where lines run along
   M or N, 8192 bytes (a brick) from 64 elements to the next 64. */
GT__DEV uint64_t gt__bricks(uint32_t address) {
  return (uint64_t)(address >> 4 & 0x3FFF) | (uint64_t)(GT__BRICK >> 4) << 16 |
         (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}
/* d (64 x 2n for n registers a thread) = A (64 x 64) x B (64 x 2n) + (add ? d : 0) of bricks along
   K or across. A thread has those of gt__places in its warp's 16 rows. One asm takes all four steps
   of 16 of K, since nvcc takes long for each asm of so many registers. */
template <bool ALONG_K> /* from 16 of K to the next, of 16 bytes */
constexpr int gt__next_16 = (ALONG_K ? 32 : 2048) >> 4;
#define GT__TEN(t) \
  "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define GT__30 GT__TEN() GT__TEN(1) GT__TEN(2)
#define GT__60 GT__30 GT__TEN(3) GT__TEN(4) GT__TEN(5)
#define GT__90 GT__60 GT__TEN(6) GT__TEN(7) GT__TEN(8)
#define GT__120 GT__90 GT__TEN(9) GT__TEN(10) GT__TEN(11)
#define GT__D2(i) "+f"(d[i]), "+f"(d[i + 1])
#define GT__D8(i) GT__D2(i), GT__D2(i + 2), GT__D2(i + 4), GT__D2(i + 6)
#define GT__D32(i) GT__D8(i), GT__D8(i + 8), GT__D8(i + 16), GT__D8(i + 24)
#define GT__D64(i) GT__D32(i), GT__D32(i + 32)
#define GT__STEP(type, wide, list, transpose_a, transpose_b, next_a, next_b) \
  "wgmma.mma_async.sync.aligned.m64n" #wide "k16.f32." type "." type " {" list \
  "}, a, b, p, 1, 1," \
  " %" #transpose_a ", %" #transpose_b ";\n add.s64 a, a, %" #next_a ";\n add.s64 b, b, %" #next_b \
  ";\n" \
  "setp.eq.b32 p, 0, 0;\n"
#define GT__TWICE(...) __VA_ARGS__ __VA_ARGS__
#define GT__MMA(T, type, count, wide, list, a_, b_, add_, transpose_a, transpose_b, next_a, \
                next_b, ...) \
  template <bool A_ALONG_K, bool B_ALONG_K> \
  GT__DEV void gt__mma(T, float(&d)[count], uint64_t a, uint64_t b, int add) { \
    asm volatile("{ .reg .pred p;\n .reg .b64 a, b;\n mov.b64 a, %" #a_ ";\n mov.b64 b, %" #b_ \
                 ";\n setp.ne.b32 p, %" #add_ ", 0;\n" GT__TWICE(GT__TWICE( \
                     GT__STEP(type, wide, list, transpose_a, transpose_b, next_a, next_b))) "}" \
                 : __VA_ARGS__ \
                 : "l"(a), "l"(b), "r"(add), "n"(!A_ALONG_K), "n"(!B_ALONG_K), \
                   "n"(gt__next_16<A_ALONG_K>), "n"(gt__next_16<B_ALONG_K>)); \
  }
#define GT__MMAS(T, type) \
  GT__MMA(T, type, 32, 64, GT__30 "%30,%31", 32, 33, 34, 35, 36, 37, 38, GT__D32(0)) \
  GT__MMA(T, type, 64, 128, GT__60 "%60,%61,%62,%63", 64, 65, 66, 67, 68, 69, 70, GT__D64(0)) \
  GT__MMA(T, type, 96, 192, GT__90 "%90,%91,%92,%93,%94,%95", 96, 97, 98, 99, 100, 101, 102, \
          GT__D64(0), GT__D32(64)) \
  GT__MMA(T, type, 128, 256, GT__120 "%120,%121,%122,%123,%124,%125,%126,%127", 128, 129, 130, \
          131, 132, 133, 134, GT__D64(0), GT__D64(64))
GT__MMAS(gt__bfloat, "bf16")
GT__MMAS(gt__half, "f16")

/* Shared memory: the stages, the bricks of C of two warpgroups, the barriers. */
struct gt__ring {
  uint8_t *stages;
  uint8_t *out;
  uint64_t *full;
  uint64_t *empty;
};
/* Lays out a block's shared memory and starts the barriers. arrivals: how many release a stage. */
template <class P>
GT__DEV gt__ring gt__make_ring(int arrivals) {
  gt__ring r;
  r.stages = (uint8_t *)gt__shared;
  r.out = r.stages + P::STAGES * P::STAGE;
  r.full = (uint64_t *)(r.out + 2 * GT__OUT_BRICKS * GT__BRICK);
  r.empty = r.full + P::STAGES;
  if (threadIdx.x == 32) {
    for (int s = 0; s < 2 * P::STAGES; s++)
      gt__barrier_init(&r.full[s], s < P::STAGES ? 1 : arrivals);
    GT__KEPT("fence.mbarrier_init.release.cluster;");
  }
  return r;
}
/* A part of a block's work: where, which steps of K, and its slot, or -1 if it is a whole tile. All
   parts are numbered, those that are whole tiles first; a cluster takes one after the other. */
struct gt__work : gt__corner {
  int next;
  int from;
  int to;
  int slot;
};
/* What the cluster makes next, number w.next; false if nothing is left. */
GT__DEV bool gt__find_work(const gt__hopper_args &p, int down, gt__work &w) {
  const gt__partition &t = p.t;
  if (w.next >= t.units) return false;
  const int part = w.next - t.whole; /* of those that may be cut */
  const int cut = part < 0 ? 0 : gt__quotient(part, t.part);
  const int tile = part < 0 ? w.next : t.whole + cut;
  w.next += gridDim.x >> (down - 1);
  w.from = part < 0 ? 0 : (part - cut * t.each) * t.share;
  w.to = part < 0 ? t.steps : w.from + t.share;
  w.slot = part < 0 || t.each == 1 ? -1 : cut + part;
  (gt__corner &)w = gt__find_corner(t, tile);
  w.m += (blockIdx.x & (down - 1)) * GT__HIGH;
  return true;
}

/* Waits until step i's stage is empty; the warp of A tells how many bytes will come. */
template <class P, int OF_B>
GT__DEV uint64_t *gt__begin_stage(const gt__ring &r, int i, int bytes) {
  uint64_t *full = &r.full[i % P::STAGES];
  gt__barrier_wait(&r.empty[i % P::STAGES], i / P::STAGES % 2 ^ 1);
  if (!OF_B) gt__expect(full, bytes);
  return full;
}
/* One step of K of an operand. A's second brick is left out where C has no rows for it. */
template <class P, int OF_B>
GT__DEV void gt__load_step(const gt__hopper_args &p, int down, const gt__ring &r, const gt__work &w,
                           int step, int i) {
  constexpr int EACH = OF_B ? P::B_BRICKS : P::A_BRICKS;
  const int along = p.f.x[OF_B].along_k;
  const int per_batch = p.f.x[OF_B].per_batch;
  const int k = step * GT__DEEP;
  const int left_out = p.t.m - w.m <= 64;
  const int of_a = (P::A_BRICKS - left_out) * P::PIECES;
  const int bytes = of_a * p.box * 128 + P::PIECES * P::B_BRICKS * GT__BRICK;
  uint64_t *full = gt__begin_stage<P, OF_B>(r, i, bytes);
  uint8_t *to = r.stages + i % P::STAGES * P::STAGE;
  if (OF_B) to += P::PIECES * P::A_BRICKS * GT__BRICK;
  const uint16_t both = OF_B && down > 1 ? 3 : 0;
  GT__UNROLL for (int b = 0; b < P::PIECES * EACH; b++, to += GT__BRICK) {
    const int mn = (OF_B ? w.n : w.m) + b % EACH * 64;
    const bool mine = down == 1 || (b + i) % 2 == blockIdx.x % 2; /* of three bricks one or two */
    const bool there = b % EACH == 0 || !left_out;
    const bool loads = OF_B ? mine : there;
    const int x = along ? k : mn;
    const int y = along ? mn : k;
    const int matrix = w.batch * per_batch + b / EACH;
    if (loads) gt__load_box(to, &p.map[OF_B], full, x, y, matrix, both);
  }
}
/* Behind a whole tile's steps comes the matrix of its epilogue, in stages of its own. */
template <class P, int OF_B>
GT__DEV void gt__load_other(const gt__hopper_args &p, const gt__ring &r, const gt__work &w, int e,
                            int i) {
  constexpr int BRICKS = P::STAGE / GT__BRICK;
  const int first = e * BRICKS;
  const int some = min(2 * P::WIDE / p.columns - first, BRICKS);
  uint64_t *full = gt__begin_stage<P, OF_B>(r, i, some * GT__BRICK);
  uint8_t *to = r.stages + i % P::STAGES * P::STAGE;
  for (int b = 0; b < some && !OF_B; b++)
    gt__load_box(to + b * GT__BRICK, &p.other, full, w.n + (first + b) / 2 * p.columns,
                 w.m + b % 2 * 64, w.batch * p.per_batch, 0);
}
/* The producer of an operand, a warp, keeps the stages full. */
template <class P, int OF_B>
GT__DEV void gt__produce(const gt__hopper_args &p, int down, gt__ring r, gt__work w) {
  int i = 0;
  do {
    GT__LOOP for (int step = w.from; step < w.to; step++, i++)
        gt__load_step<P, OF_B>(p, down, r, w, step, i);
    for (int e = 0; w.slot < 0 && e < p.extra; e++) {
      gt__load_other<P, OF_B>(p, r, w, e, i);
      i++;
    }
  } while (gt__find_work(p, down, w));
}

/* One warp's word that it is done with a stage, to the same barrier of all blocks that write it. */
GT__DEV void gt__release(uint64_t *empty, int writers) {
  const int lane = threadIdx.x % 32;
  if (lane < writers)
    asm volatile(
        "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(gt__smem(empty)),
        "r"(lane)
        : "memory");
}
/* Starts the products of step i when its stage is full, for rows 64 * half ..: of pieces six, small
   ones first, or the last three of these. On return they may still go on, but those of the step
   before have ended. */
template <class P, int LAYOUT, int N>
GT__DEV void gt__multiply_stage(const gt__ring &r, int i, int half, float (&d)[N], bool add) {
  typedef std::conditional_t<(LAYOUT & GT__OF_FLOAT16) != 0, gt__half, gt__bfloat> T;
  constexpr bool A_ALONG = LAYOUT & GT__A_ALONG_K;
  constexpr bool B_ALONG = LAYOUT & GT__B_ALONG_K;
  constexpr int of_a[6] = {2, 1, 0, 1, 0, 0};
  constexpr int of_b[6] = {0, 1, 2, 0, 1, 0};
  const uint8_t *stage = r.stages + i % P::STAGES * P::STAGE;
  const uint64_t a = gt__bricks(gt__smem(stage) + half * GT__BRICK);
  const uint64_t b = gt__bricks(gt__smem(stage) + P::PIECES * P::A_BRICKS * GT__BRICK);
  gt__barrier_wait(&r.full[i % P::STAGES], i / P::STAGES % 2);
  GT__KEPT("wgmma.fence.sync.aligned;");
  GT__UNROLL for (int q = 6 - P::PRODUCTS; q < 6; q++) {
    const int to_a = of_a[q] * P::A_BRICKS * GT__BRICK >> 4;
    const int to_b = of_b[q] * P::B_BRICKS * GT__BRICK >> 4;
    const bool more = add || q > 6 - P::PRODUCTS;
    gt__mma<A_ALONG, B_ALONG>(T(), d, a + to_a, b + to_b, more);
  }
  GT__KEPT("wgmma.commit_group.sync.aligned;");
  GT__KEPT("wgmma.wait_group.sync.aligned 1;");
}
/* float32 that pieces cannot carry. A line (a row of A, a column of B) whose largest |x| is NaN,
   infinite or above 2^62 may make products of pieces overflow, one below 2^-62 makes those of low
   pieces vanish. Both teams: does the tile have such a line? */
template <class P>
GT__DEV bool gt__must_be_strict(const gt__hopper_args &p, const gt__work &w) {
  const int thread = threadIdx.x - GT__TEAM;
  const int along_n = thread / GT__HIGH;
  const gt__hopper_operand &x = p.f.x[along_n];
  const int line = (along_n ? w.n : w.m) + thread % GT__HIGH;
  const int lines = along_n ? p.t.n : p.t.m;
  const int64_t batch = x.per_batch > 0 ? w.batch : 0;
  const uint32_t *top = x.top + batch * x.chunks * lines + line;
  uint32_t most = 0;
  static_assert(P::WIDE <= GT__HIGH || P::PRODUCTS == 1, "a thread has one row or one column");
  if (line < lines && (!along_n || thread % GT__HIGH < P::WIDE))
#pragma unroll 4
    for (int i = 0; i < x.chunks; i++) {
      const int64_t chunk = (int64_t)i * lines;
      most = max(most, top[chunk]);
    }
  int any = most > 189u << 23 || (most < 65u << 23 && most > 0);
  asm volatile(
      "{ .reg .pred p, q; setp.ne.b32 p, %0, 0; bar.red.or.pred q, 3, %1, p;\n"
      "selp.b32 %0, 1, 0, q; }"
      : "+r"(any)
      : "n"(2 * GT__TEAM)
      : "memory");
  return any != 0;
}
/* Where element k of row or column mn of an operand is. */
GT__DEV const float *gt__find(const gt__hopper_operand &x, int batch, int mn, int k) {
  const int64_t line = x.along_k ? mn : k;
  const int64_t in = x.along_k ? k : mn;
  return (const float *)x.data + batch * x.batch_stride + line * x.line_stride + in * x.stride;
}
/* A sum from the float32 themselves, over the steps of K of the work, each `deep`, in order. */
GT__DEV float gt__multiply_strictly(const gt__hopper_args &p, const gt__work &w, int m, int n,
                                    int deep) {
  const int end = min(p.k, w.to * deep);
  float x = 0;
  GT__LOOP for (int k = w.from * deep; k < end; k++) {
    const float a = *gt__find(p.f.x[0], w.batch, m, k);
    const float b = *gt__find(p.f.x[1], w.batch, n, k);
    x = __fmaf_rn(a, b, x);
  }
  return x;
}
/* All sums of a thread, made anew from the float32. */
template <int N>
GT__DEV void gt__make_strictly(const gt__hopper_args &p, const gt__work &w, int half,
                               float (&sum)[N]) {
  const int first = w.m + 64 * half + threadIdx.x / 32 % 4 * 16;
  GT__LOOP for (int i = 0; i < N; i++) { /* rotated, since registers cannot be indexed */
    const int m = min(first + gt__places::row(i), p.t.m - 1);
    const int n = min(w.n + gt__places::column(i), p.t.n - 1);
    const float x = gt__multiply_strictly(p, w, m, n, GT__DEEP);
    GT__UNROLL for (int j = 1; j < N; j++) sum[j - 1] = sum[j];
    sum[N - 1] = x;
  }
}

/* -- from registers to C -- */
/* These two take, for each of a thread's sums, the element of an operand of the epilogue. A thread
   has two columns of each eight. Of a row a lane loads every 32nd element, and shuffles bring those
   that it needs; a matrix is in stages, as float32 if the product is of pieces. */
template <class P, class F>
GT__DEV void gt__each_of_row(const gt__epilogue_step &s, int n, const gt__work &w, const F &take) {
  const int lane = threadIdx.x % 32;
  float x[P::WIDE / 32];
  gt__if_usual<float>(s.dtype, [&](auto tag) {
    typedef decltype(tag) S;
    const char *row = s.data + w.batch * s.batch;
    S y[P::WIDE / 32];
    GT__UNROLL for (int i = 0; i < P::WIDE / 32; i++) {
      const int column = min(w.n + i * 32 + lane, n - 1);
      y[i] = *(const S *)(row + column * s.column);
    }
    gt__cast_all(x, y);
  });
  GT__UNROLL for (int i = 0; i < P::N; i++) {
    const int from = i / 4 % 4 * 8 + lane % 4 * 2 + i % 2;
    take(i, __shfl_sync(~0u, x[i / 16], from));
  }
}
template <class P, class F>
GT__DEV void gt__each_of_matrix(const gt__ring &r, int dtype, int step, int half, const F &take) {
  typedef std::conditional_t<P::PRODUCTS == 1, uint32_t, float2> S;
  constexpr int COLUMNS = 256 / sizeof(S);
  constexpr int EACH = P::STAGE / GT__BRICK / 2; /* in a stage */
  const int lane = threadIdx.x % 32;
  GT__UNROLL for (int i = 0; i < P::N; i += 2) {
    const int column = i / 4 * 8;
    const int brick = column / COLUMNS;
    const int at = step + brick / EACH;
    const int stage = at % P::STAGES;
    const int line = threadIdx.x / 32 % 4 * 16 + lane / 4 + i / 2 % 2 * 8;
    const int in = (column % COLUMNS / 2 + lane % 4) * (int)sizeof(S) ^ line % 8 * 16;
    float x[2];
    if (i % 4 == 0 && column % (EACH * COLUMNS) == 0)
      gt__barrier_wait(&r.full[stage], at / P::STAGES % 2);
    const uint8_t *from = r.stages + stage * P::STAGE + line * 128 + in;
    from += (brick % EACH * 2 + half) * GT__BRICK;
    const S pair = *(const S *)from;
    if (sizeof(S) == 8) memcpy(x, &pair, 8);
    else if (dtype == GT_FLOAT16) gt__cast_all(x, (const gt__half *)&pair);
    else gt__cast_all(x, (const gt__bfloat *)&pair);
    take(i, x[0]);
    take(i + 1, x[1]);
  }
}
/* Lays brick i of a team's 64 rows, of S. Chunk c of a line lies at c ^ line % 8. Four squares of 8
   x 8 are stored at once: a thread gives the address of a line of one of them. */
template <class S, int N>
GT__DEV void gt__lay_brick(uint8_t *brick, int i, const float (&sum)[N]) {
  const int lane = threadIdx.x % 32;
  const int line = threadIdx.x / 32 % 4 * 16 + lane % 16;
  GT__UNROLL for (int j = 0; j < 8; j += 2) {
    const float *x = sum + i * 32 + j * 4;
    const int chunk = j + lane / 16 ^ line % 8;
    const uint32_t at = gt__smem(brick + line * 128 + (chunk << 4));
    uint32_t u[4];
    for (int q = 0; q < 4; q++) {
      const float *two = x + 2 * q;
      u[q] = gt__two<S>(two[0], two[1]);
    }
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3])
                 : "memory");
  }
}
/* A warpgroup's 64 x WIDE of C, of 16 bits, by the copy engine, which stores a brick while the next
   one is laid, and the last ones as the next tile is made. */
template <class P, class S>
GT__DEV void gt__put_tile(const gt__hopper_args &p, const gt__work &w, const gt__ring &r, int half,
                          const float (&sum)[P::N]) {
  static_assert(GT__OUT_BRICKS == 2, "a brick may be on its way");
  const bool leader = threadIdx.x % GT__TEAM == 0;
  GT__UNROLL for (int j = 0; j < P::WIDE / 64; j++) {
    uint8_t *brick = r.out + (half * GT__OUT_BRICKS + j % GT__OUT_BRICKS) * GT__BRICK;
    if (leader) GT__KEPT("cp.async.bulk.wait_group.read 1;");
    gt__team_sync(half); /* the brick is free */
    gt__lay_brick<S>(brick, j, sum);
    GT__KEPT("fence.proxy.async.shared::cta;");
    gt__team_sync(half);
    if (leader)
      asm volatile(
          "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];"
          "\ncp.async.bulk.commit_group;" ::"l"(&p.c),
          "r"(gt__smem(brick)), "r"(w.n + j * 64), /* column; row, matrix: */
          "r"(w.m + half * 64), "r"(w.batch)
          : "memory");
  }
}
/* A warpgroup's 64 x WIDE of C, or of a part in float32, of any dtype and alignment, by the
   threads, each warp for itself. */
template <class P>
GT__DEV void gt__store_tile(const gt__partition &t, const gt__work &w, uint8_t *bricks, int half,
                            float (&sum)[P::N]) {
  const bool is_part = w.slot >= 0;
  const int64_t row = is_part ? t.pitch : t.row;
  const int warp = threadIdx.x / 32 % 4;
  const int first = is_part ? w.m % t.high : w.m;
  const int m = 64 * half + 16 * warp + first;
  const int64_t lines = (int64_t)w.slot * t.lines; /* of the parts before */
  const int64_t base = is_part ? lines * t.pitch : w.batch * t.batch + w.n;
  const int64_t at = m * row + base;
  const int rows = is_part ? t.lines : t.m;
  const int columns = is_part ? t.pitch : t.n - w.n;
  float *mine = (float *)bricks + warp * 16 * gt__pitch<32>;
  const auto put = [&](auto *to) {
    gt__put_sums<gt__places, 16, 32, false>(mine, to + at, row, 1, rows - m, columns, false, sum);
  };
  if (is_part || t.dtype == GT_FLOAT32) put((float *)(is_part ? t.parts : t.to));
  else if (t.dtype == GT_FLOAT16) put((gt__half *)t.to);
  else put((gt__bfloat *)t.to);
}

/* Adds up the block's steps `step` .. end - 1; of pieces each by itself. */
template <class P, int LAYOUT, int N>
GT__DEV void gt__accumulate(const gt__ring &r, int step, int end, int half, int down,
                            float (&sum)[N]) {
  const auto add_up = [&](float(&d)[N], int i, int stop) {
    gt__multiply_stage<P, LAYOUT>(r, i, half, d, false);
#pragma unroll(256 / P::WIDE)
    while (++i < stop) {
      gt__multiply_stage<P, LAYOUT>(r, i, half, d, true);
      gt__release(&r.empty[(i - 1) % P::STAGES], down);
    }
    GT__KEPT("wgmma.wait_group.sync.aligned 0;");
    gt__release(&r.empty[(stop - 1) % P::STAGES], down);
  };
  if (P::PRODUCTS == 1) add_up(sum, step, end);
  else GT__EACH sum[i] = 0;
  GT__LOOP for (; P::PRODUCTS > 1 && step < end; step++) {
    float step_sum[N];
    add_up(step_sum, step, step + 1);
    GT__EACH sum[i] += step_sum[i];
  }
}

/* The epilogue of a whole tile, whose matrix is in the stages from `end` on. */
template <class P>
GT__DEV void gt__follow_tile(const gt__hopper_args &p, const gt__ring &r, const gt__work &w,
                             int end, int half, float (&sum)[P::N]) {
  gt__follow(p.t, sum, [&](const gt__epilogue_step &s, auto take) {
    if (s.row == 0) gt__each_of_row<P>(s, p.t.n, w, take);
    else gt__each_of_matrix<P>(r, s.dtype, end, half, take);
  });
}
/* To C by the copy engine if it can be, else by the threads, once the bytes of the last
   stores have been read. */
template <class P>
GT__DEV void gt__write_tile(const gt__hopper_args &p, const gt__ring &r, const gt__work &w,
                            int half, float (&sum)[P::N]) {
  if (threadIdx.x % GT__TEAM == 0) gt__await_stores();
  if (P::PRODUCTS == 1 && w.slot < 0 && p.t.direct) {
    if (p.t.dtype == GT_FLOAT16) gt__put_tile<P, gt__half>(p, w, r, half, sum);
    else gt__put_tile<P, gt__bfloat>(p, w, r, half, sum);
    return;
  }
  gt__team_sync(half); /* the bricks are free */
  gt__store_tile<P>(p.t, w, r.out + half * GT__OUT_BRICKS * GT__BRICK, half, sum);
}
/* A consumer, a warpgroup: multiplies what arrives, and writes its half of each tile, if C has rows
   there. */
template <class P>
GT__DEV void gt__consume(const gt__hopper_args &p, int down, gt__ring r, gt__work w) {
  const int half = __shfl_sync(~0u, threadIdx.x / GT__TEAM, 0) - 1; /* uniform registers */
  int step = 0;
  do {
    float sum[P::N];
    const bool strict = P::PRODUCTS > 1 && gt__must_be_strict<P>(p, w);
    const int begin = step;
    const int end = begin + w.to - w.from;
    const int last = end + (w.slot < 0 ? p.extra : 0);
    step = last;
    if (P::WIDE == 64 && p.t.m - w.m <= 64 * half) {
      for (int i = begin; i < last; i++) {
        gt__barrier_wait(&r.full[i % P::STAGES], i / P::STAGES % 2);
        gt__release(&r.empty[i % P::STAGES], down);
      }
      continue;
    }
    gt__by_bits<P::PRODUCTS == 1 ? 7 : 3>(p.layout, [&](auto layout) {
      gt__accumulate<P, decltype(layout)::value>(r, begin, end, half, down, sum);
    });
    if (strict) gt__make_strictly(p, w, half, sum);
    if (w.slot < 0) gt__follow_tile<P>(p, r, w, end, half, sum);
    for (int i = end; i < last; i++) gt__release(&r.empty[i % P::STAGES], down);
    gt__await_kernel_before();
    gt__write_tile<P>(p, r, w, half, sum);
  } while (gt__find_work(p, down, w));
  if (threadIdx.x % GT__TEAM == 0) gt__await_stores();
}

#endif
/* Grid: as many clusters as fit, each going through units of work (a persistent kernel). Block:
   three warpgroups, of which a thread of the last two makes P::N sums of a tile, in registers that
   the first one gives up. A step of 128 x 256 x 64 takes the tensor cores 1024 clocks for 48 KB (32
   with a neighbour's help), 47 bytes a clock (32) from the L2 cache, which gives about 64. */
template <class P>
__global__ void __launch_bounds__(3 * GT__TEAM, 1)
    gt__hopper_kernel(const __grid_constant__ gt__hopper_args p) {
#ifdef GT__HOPPER
  const int down = P::WIDE < 128 ? 1 : p.down; /* narrow tiles are not in clusters */
  if (threadIdx.x == 64)
    asm volatile(
        "prefetch.tensormap [%0];\n prefetch.tensormap [%1];\n prefetch.tensormap [%2];" ::"l"(
            p.map),
        "l"(p.map + 1), "l"(&p.c)
        : "memory");
  const gt__ring r = gt__make_ring<P>(8 * down); /* 8 warps of a block release a stage */
  /* blocks of a cluster meet; that promises nothing about memory, which would cost 1 us */
  if (down > 1) GT__KEPT("barrier.cluster.arrive.relaxed.aligned;");
  gt__work w;
  w.next = blockIdx.x >> (down - 1);
  gt__find_work(p, down, w); /* there is some for each cluster */
  /* nobody writes into a block that has not begun */
  if (down > 1) GT__KEPT("barrier.cluster.wait.aligned;");
  __syncthreads();
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0); /* the same for the compiler, too */
  if (!p.early) gt__await_kernel_before();
  gt__release_next_kernel();
  if (warp < 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 0) gt__produce<P, 0>(p, down, r, w);
    if (warp == 1) gt__produce<P, 1>(p, down, r, w);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    gt__consume<P>(p, down, r, w);
  }
  if (down > 1) { /* nobody writes into a block that has ended */
    GT__KEPT("barrier.cluster.arrive.relaxed.aligned;");
    GT__KEPT("barrier.cluster.wait.aligned;");
  }
#endif
}

/* -- splitting and packing -- */
/* 16 bytes of a line, or `left` elements, of an operand that ends at `end`. Of 16 bits come the
   aligned words that hold them, so that a warp reads neighbours wherever a line begins: by how many
   bytes they lie behind the start of x; what else is in it is not to be used. */
template <class S, int N>
GT__DEV int gt__grab(const S *p, const S *end, int64_t stride, int left, uint32_t (&x)[N]) {
  const int over = (uintptr_t)p % 16;
  const uint4 *at = (const uint4 *)((const char *)p - over);
  if (left <= 0) return 0;
  if (stride != 1 || (N == 4 && over) || at + (over ? 2 : 1) > (const uint4 *)end) {
    S some[gt__lot<S>];
    for (int j = 0; j < gt__lot<S>; j++) {
      const bool inside = j < left;
      some[j] = inside ? p[j * stride] : 0;
    }
    memcpy(x, some, sizeof some);
    return 0;
  }
  *(uint4 *)x = at[0];
  if constexpr (N > 4)
    if (over) *(uint4 *)(x + 4) = at[1];
  return over;
}
/* Brings them to the front: what begins at byte `over`, 0 to 15, is moved down by 8 bytes or not,
   by 4 or not, then by 0 to 3. */
template <int N>
GT__DEV void gt__align(int over, uint32_t (&x)[N]) {
  for (int i = 0; i < N - 2; i++) {
    const uint32_t next = x[i + 2];
    x[i] = over & 8 ? next : x[i];
  }
  for (int i = 0; i < N - 3; i++) {
    const uint32_t next = x[i + 1];
    x[i] = over & 4 ? next : x[i];
  }
  for (int i = 0; i < N - 4; i++) {
    const uint32_t next = x[i + 1];
    x[i] = __funnelshift_r(x[i], next, over % 4 * 8);
  }
}
/* The first N bfloat16 of four floats, two a word. */
template <int N>
GT__DEV void gt__split(const uint32_t (&x)[4], uint32_t (&piece)[N][2]) {
  float f[4];
  memcpy(f, x, sizeof f);
  GT__EACH
  for (int j = 0; j < 2; j++) {
    float &first = f[2 * j];
    float &second = f[2 * j + 1];
    const uint32_t two = gt__two<gt__bfloat>(first, second);
    piece[i][j] = two;
    first = __fsub_rn(first, __uint_as_float(two << 16));
    second = __fsub_rn(second, __uint_as_float(two & 0xFFFF0000));
  }
}
/* What a thread of gt__pack_kernel has of an operand: in a round one vector of line `line`, from
   element e on. Lines along K: a warp has one line of 8, and goes along it; across: a block has 32
   vectors of 8 lines, and goes down.

                  lines along K                           lines across
                  round 0    round 1   ...                vector of lane 0  lane 1 ... lane 31
       warp 0     line 0     on in it            warp 0   k = 0 of round 0, k = 8 of round 1 ...
       warp 1     line 1     on in it            warp 1   k = 1 of round 0, k = 9 of round 1 ...
       ...
       warp 7     line 7     on in it            warp 7   k = 7 of round 0, ... */
template <class S, int PIECES>
struct gt__packer {
  static constexpr int LOT = gt__lot<S>;
  static constexpr int AHEAD = 4;
  static constexpr int WORDS = sizeof(S) == 2 ? 8 : 4;
  const gt__hopper_operand &x;
  const S *from;
  const S *end;
  uint16_t *to;
  int e;
  int line;
  int right;
  int down;
  uint32_t top[LOT];
  __device__ __forceinline__ gt__packer(const gt__hopper_operand &x, int z, int tile, int k)
      : x(x), top{} {
    right = x.along_k ? 32 * LOT : 0;
    down = x.along_k ? 0 : 8;
    e = (x.along_k ? k : tile * 32 * LOT) + threadIdx.x % 32 * LOT;
    line = (x.along_k ? tile * 8 : k) + threadIdx.x / 32;
    from = (const S *)x.data + z * x.batch_stride;
    end = from + x.wide + max((x.lines - 1) * x.line_stride, (int64_t)0);
    to = (uint16_t *)x.to + (int64_t)z * PIECES * x.lines * x.pitch;
  }
  /* All loads of some rounds are begun before one is used. */
  __device__ __forceinline__ void load(uint32_t (&u)[AHEAD][WORDS], int (&over)[AHEAD]) const {
    GT__UNROLL for (int i = 0; i < AHEAD; i++) {
      const int there = line + i * down;
      const int begin = e + i * right;
      const int left = there < x.lines ? x.wide - begin : 0;
      over[i] =
          gt__grab(from + there * x.line_stride + begin * x.stride, end, x.stride, left, u[i]);
    }
  }
  __device__ __forceinline__ void store(uint32_t (&u)[WORDS], int over) {
    uint32_t piece[PIECES][LOT / 2];
    if (line >= x.lines || e >= x.wide) return;
    if constexpr (sizeof(S) == 4) {
      gt__split(u, piece);
    } else {
      gt__align(over, u);
      memcpy(piece, u, sizeof piece);
    }
    for (int q = 0; q < PIECES; q++) {
      const int64_t at = ((int64_t)q * x.lines + line) * x.pitch + e;
      gt__store_line((char *)(to + at), piece[q]);
    }
    for (int j = 0; j < LOT && sizeof(S) == 4; j++)
      if (e + j < x.wide) top[j] = max(top[j], u[j] & 0x7FFFFFFF);
  }
  /* The largest of each line, of all threads of the block. */
  __device__ __forceinline__ void note_tops(uint32_t *tops, int chunk, int tile) const {
    const int lane = threadIdx.x % 32;
    const int i = threadIdx.x;
    __syncthreads(); /* one line a warp: 512 atomics would take 5 us of 80 */
    if (x.along_k) {
      const uint32_t first = max(top[0], top[1]);
      const uint32_t second = max(top[2], top[3]);
      tops[i / 32] = __reduce_max_sync(~0u, max(first, second));
    } else {
      for (int j = 0; j < LOT; j++) atomicMax(&tops[j * 32 + lane], top[j]);
    }
    __syncthreads();
    const int count = x.along_k ? 8 : 32 * LOT;
    const int lines = x.along_k ? x.lines : x.wide;
    const int mine = tile * count + i;
    const int at = x.along_k ? i : i % LOT * 32 + i / LOT;
    if (i < count && mine < lines) x.top[(int64_t)chunk * lines + mine] = tops[at];
  }
};
/* Splits float32 into pieces (S is uint32_t), or copies 16-bit elements, into lines that start at
   16 bytes. Reads each element once and writes 2 bytes a piece: 10 bytes for three, at the speed of
   memory. Beside it notes the largest |x| of each line of M or N in each chunk of K, as bits, which
   order floats by size and NaN above all. Grid: for A, then for B, its tiles, chunks of K and
   batches. Block: 256. */
template <class S, int PIECES>
__global__ void __launch_bounds__(256, sizeof(S) == 4 ? 4 : 3)
    gt__pack_kernel(const __grid_constant__ gt__hopper_operands p) {
#ifdef GT__HOPPER
  typedef gt__packer<S, PIECES> Packer;
  __shared__ uint32_t tops[32 * Packer::LOT];
  const int second = blockIdx.x >= p.x[0].blocks;
  const gt__hopper_operand &x = p.x[second];
  const int block = blockIdx.x - (second ? p.x[0].blocks : 0);
  const int chunk = block / x.tiles; /* its number, over all batches */
  const int z = chunk / x.chunks;
  const int tile = block - chunk * x.tiles;
  const int k = (chunk - z * x.chunks) * x.chunk;
  Packer packer(x, z, tile, k);
  if (threadIdx.x < 32 * Packer::LOT) tops[threadIdx.x] = 0;
  gt__release_next_kernel();
  if (!p.early) gt__await_kernel_before();
  for (int rest = x.rounds; rest > 0; rest -= Packer::AHEAD) {
    uint32_t u[Packer::AHEAD][Packer::WORDS];
    int over[Packer::AHEAD];
    packer.load(u, over);
    if (!(p.early & GT__EARLY_WRITE)) gt__await_kernel_before();
    GT__UNROLL for (int i = 0; i < Packer::AHEAD; i++) {
      packer.store(u[i], over[i]);
      packer.e += packer.right;
      packer.line += packer.down;
    }
  }
  if (blockIdx.x == gridDim.x - 1) gt__await_kernel_before(); /* none ends before those before it */
  if (sizeof(S) == 4) packer.note_tops(tops, chunk, tile);
#endif
}

/* -- on the host -- */
struct gt__hopper_product : gt__product {
  gt__hopper_args p;
  int pieces; /* of bfloat16 that make a float32 */
};
#define GT__KIND(...) GT__POINTER(gt__hopper_kernel<gt__hopper_tile<__VA_ARGS__>>)
static const void *const gt__hopper_kernels[][4] = {
    /* by pieces and width */
    {GT__KIND(64, 1), GT__KIND(128, 1), GT__KIND(192, 1), GT__KIND(256, 1)},
    {NULL, GT__KIND(128, 3)},
    {GT__KIND(64, 6), GT__KIND(128, 6)},
};
static const void *gt__hopper_kernel_of(const gt__hopper_product *j, const gt__partition *t) {
  return gt__hopper_kernels[j->pieces - 1][t->wide / 64 - 1];
}
static const void *const gt__pack_kernels[] = {
    /* for 16 bits, then by pieces */
    GT__POINTER(gt__pack_kernel<uint16_t, 1>),
    GT__POINTER(gt__pack_kernel<uint32_t, 1>),
    GT__POINTER(gt__pack_kernel<uint32_t, 2>),
    GT__POINTER(gt__pack_kernel<uint32_t, 3>),
};
/* The runtime has the driver's encoder: nobody links the driver. */
static void *gt__find_encoder(void) {
  static void *encoder = NULL;
  cudaDriverEntryPointQueryResult found;
  void *f = __atomic_load_n(&encoder, __ATOMIC_RELAXED);
  if (f) return f;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found);
#else
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &found);
#endif
  __atomic_store_n(&encoder, f, __ATOMIC_RELAXED);
  return f;
}
/* Makes the map by which the copy engine finds a tensor of three dims, with strides in bytes, in
   boxes of 128 bytes x `box` lines. (Fetched by 256 bytes, lines off 128 take up to 18 % longer.)
   */
static int gt__make_map(CUtensorMap *map, int dtype, const void *data, const int64_t (&size)[3],
                        int64_t line, int64_t matrix, int box) {
  const cuuint32_t boxes[3] = {dtype == GT_FLOAT32 ? 32u : 64u, (cuuint32_t)box, 1};
  const cuuint32_t one[3] = {1, 1, 1};
  const int64_t stride[2] = {line, matrix ? matrix : line * size[1]}; /* 0 is refused */
  const auto encode = (decltype(&cuTensorMapEncodeTiled))gt__find_encoder();
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (dtype == GT_FLOAT32) type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  if (dtype == GT_FLOAT16) type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (!encode) return cudaErrorNotSupported;
  const CUresult bad =
      encode(map, type, 3, (void *)data, (const cuuint64_t *)size, (const cuuint64_t *)stride,
             boxes, one, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return bad ? cudaErrorInvalidValue : cudaSuccess;
}
/* The map of A or B, or of their pieces. */
static int gt__map_operand(gt__hopper_product *j, int i, int dtype, int box) {
  const gt__hopper_operand *x = &j->p.f.x[i];
  const int bytes = dtype == GT_FLOAT32 ? 4 : 2;
  const int64_t matrix = x->blocks ? x->pitch * x->lines : x->batch_stride;
  const int64_t line = x->pitch * bytes;
  const int64_t size[3] = {x->wide, x->lines, (int64_t)x->batch * j->pieces};
  return gt__make_map(&j->p.map[i], dtype, x->to, size, line, matrix * bytes, box);
}
/* The maps of both, of C, if the engine stores it, and of the epilogue's matrix, which comes in
   stages of its own. */
static int gt__make_maps(gt__hopper_product *j) {
  gt__hopper_args *p = &j->p;
  const gt__partition *t = &j->t;
  const int each = j->pieces * (GT__HIGH + t->wide) / 64; /* bricks in a stage */
  const int64_t size[3] = {t->n, t->m, j->x.batch};
  int e = gt__map_operand(j, 0, j->type, p->box);
  if (!e) e = gt__map_operand(j, 1, j->type, 64);
  const int64_t row = t->row * 2;
  const int64_t batch = t->batch * 2;
  if (e) return e;
  if (t->direct) e = gt__make_map(&p->c, t->dtype, t->to, size, row, batch, 64);
  if (e || !j->matrix) return e;
  const gt__epilogue_step *s = &t->epilogue[j->matrix - 1];
  p->columns = s->dtype == GT_FLOAT32 ? 32 : 64; /* of a brick */
  p->per_batch = s->batch != 0;
  p->extra = (2 * t->wide / p->columns - 1) / each + 1;
  return gt__make_map(&p->other, s->dtype, s->data, size, s->row, s->batch, 64);
}

/* ---- >>hopper-plan -----------------------------------------------------------------------------
   Which products go to >>matmul-hopper, how C is cut into tiles, and the launch. */
/* How operand i lies; false: its batch dims do not act as one. */
static bool gt__see(gt__hopper_product *j, int i) {
  const gt__view v = gt__view_of(&j->x, i);
  const int mn = (int)v.size;
  const int k = j->p.k;
  const bool short_across = *v.deep == 1 && k >= mn;
  const bool along = *v.wide != 1 || short_across;
  gt__hopper_operand *f = &j->p.f.x[i];
  if (!gt__one_batch(&j->x, v.o, &f->batch_stride)) return false;
  f->data = v.o->data;
  f->to = v.o->data;
  f->along_k = along;
  f->wide = along ? k : mn;
  f->lines = along ? mn : k;
  f->stride = along ? *v.deep : *v.wide;
  f->line_stride = along ? *v.wide : *v.deep;
  f->pitch = f->line_stride;
  f->batch = f->batch_stride ? (int)j->x.batch : 1;
  f->per_batch = f->batch_stride ? j->pieces : 0;
  return true;
}
static bool gt__see_both(gt__hopper_product *j) {
  j->t.m = (int)j->x.m;
  j->t.n = (int)j->x.n;
  j->p.k = (int)j->x.k;
  return gt__see(j, 0) && gt__see(j, 1);
}
/* Can the copy engine take elements of so many bytes from where they are? */
static bool gt__can_stay(const gt__hopper_operand *f, int size) {
  const int64_t all = (intptr_t)f->data | f->line_stride * size | f->batch_stride * size;
  if (f->stride != 1 || f->line_stride < f->wide) return false;
  return all >= 0 && all % 16 == 0;
}
/* Lets gt__pack_kernel bring operand i to scratch, in pieces if it is float32. */
static void gt__plan_packing(gt__hopper_product *j, int i) {
  const gt__view v = gt__view_of(&j->x, i);
  gt__hopper_operand *f = &j->p.f.x[i];
  const bool f32 = v.o->dtype == GT_FLOAT32;
  const bool along = f->along_k;
  const int line = 32 * (f32 ? 4 : 8); /* a warp's elements */
  const int mn = (int)v.size;
  const int k = j->p.k;
  const int step = along ? line : 8;
  const int tile = along ? 8 : line;
  f->rounds = GT__PACK_ROUNDS;
  const int wanted = (k - 1) / (GT__PACK_CHUNKS * step) + 1;
  if (f32) f->rounds = (int)gt__up(wanted, GT__PACK_ROUNDS);
  f->chunk = f->rounds * step;
  f->chunks = (k - 1) / f->chunk + 1;
  f->tiles = (mn - 1) / tile + 1;
  f->blocks = f->tiles * f->chunks * f->batch;
  f->pitch = gt__up(f->wide, 64);
  const size_t elements = (size_t)f->batch * j->pieces * f->lines * f->pitch;
  const size_t tops = (size_t)f->batch * f->chunks * mn;
  gt__place(j, f->to, gt__carve(j, elements * 2));
  if (f32) gt__place(j, f->top, gt__carve(j, tops * 4));
}
/* Can the copy engine store C, 16 bytes at once? */
static bool gt__can_store(const gt__hopper_product *j) {
  const gt__partition *t = &j->t;
  const int64_t all = (intptr_t)t->to | t->n * 2 | t->row * 2 | t->batch * 2;
  if (t->dtype == GT_FLOAT32 || j->products > 1) return false;
  if (t->column != 1 || t->row < t->n) return false;
  return all >= 0 && all % 16 == 0;
}

/* -- cutting C into tiles, and those that would leave multiprocessors idle into parts -- Of all
   widths, with parts and clusters or not, that is taken which needs the fewest clocks by a model.
   */
static double gt__slowness(const gt__hopper_operand *f, int down) { /* in loading A or B */
  if (((uintptr_t)f->to | f->pitch * 2) % 128 == 0) return 1;
  return down > 1 ? GT__CLUSTER_OFF_LINES : GT__OFF_LINES;
}
/* Tiles of t->wide columns and so many rows. */
static void gt__lay_tiles(const gt__hopper_product *j, gt__partition *t, int high) {
  t->high = high;
  t->lines = min(t->high, t->m);
  t->rows = (t->m - 1) / t->high + 1;
  t->columns = (t->n - 1) / t->wide + 1;
  t->tiles = t->rows * t->columns * (int)j->x.batch;
  t->pitch = (int)gt__up(min(t->wide, t->n), 4);
}
/* `room` tiles are made at once. If `cut`, those of the last wave are cut into parts. */
static void gt__lay_parts(const gt__hopper_product *j, gt__partition *t, int room, bool cut) {
  const int steps = (j->p.k - 1) / GT__DEEP + 1;
  const int rest = t->tiles % room;
  const int most = j->products > 1 ? steps : steps / GT__PART_STEPS;
  int parts = 1;
  const bool counts = j->products > 1 || t->tiles < 2 * room; /* of many waves the last does not */
  if (cut && rest && counts) parts = max(1, min(room / rest, most));
  t->whole = t->tiles - rest;
  t->share = (steps - 1) / parts + 1;
  t->each = (steps - 1) / t->share + 1;
  t->steps = t->share * t->each; /* beyond K there are zeros */
  t->units = t->whole + rest * t->each;
  t->slots = 0;
  if (t->each > 1) t->slots = rest * (t->each + 1);
}
/* The model: how many clocks all tiles take, in waves of `room` tiles. A step takes the longer one
   of multiplying and loading; a tile has a beginning and a store; parts are added up in the end. */
static double gt__clocks_of(const gt__hopper_product *j, const gt__partition *t, int down,
                            int room) {
  const int halves = t->m > 64 ? 2 : 1;
  const int waves = t->tiles / room;
  const int rest = t->tiles % room;
  const gt__hopper_operand *x = j->p.f.x;
  const double lines_a = halves * j->p.box * gt__slowness(&x[0], down);
  const double lines_b = t->wide * gt__slowness(&x[1], down);
  const double lines = lines_a + lines_b;
  const double loading = 128 * j->pieces * lines / GT__BYTES_A_CLOCK;
  const double multiplying = GT__CLOCKS_A_COLUMN * halves * t->wide * j->products;
  double step = fmax(multiplying, loading);
  if (down > 1) step *= GT__CLUSTER_GAIN;
  else if (j->products > 1 && t->wide < 128) step *= GT__NARROW_PIECES;
  int steps = waves * t->steps;
  if (rest) steps += t->share;
  const int tiles = waves + (rest > 0);
  const double storing = GT__STORE_CLOCKS * t->wide;
  const double lines_of_all = (double)t->m + t->n;
  const double elements = lines_of_all * j->p.k * j->x.batch;
  const double bytes = 2 * j->pieces * elements;
  double clocks = fmax(steps * step, bytes / GT__MEMORY_A_CLOCK);
  clocks += tiles * (GT__TILE_CLOCKS + storing);
  if (down > 1 && t->wide > 128) clocks += GT__WIDE_CLUSTER_CLOCKS;
  const double sums = (double)rest * t->each * t->lines * t->pitch;
  return t->slots ? clocks + GT__SUM_CLOCKS + sums / GT__SUM_SPEED : clocks;
}
/* Tries all partitions and keeps the one of the fewest clocks. */
static void gt__cut_up(gt__hopper_product *j, int blocks) {
  gt__partition t = j->t;
  double least = HUGE_VAL;
  const int lines = (int)gt__up(t.m, 8);
  j->p.box = 64;
  if (j->p.f.x[0].along_k) j->p.box = min(64, lines);
  for (int i = 0; i < 16; i++) { /* clusters or not, four widths, parts or not */
    const int down = 1 + i / 8;
    const int room = blocks / down;
    t.wide = 64 + i % 8 / 2 * 64;
    gt__lay_tiles(j, &t, GT__HIGH * down);
    if (down > 1 && t.wide < 128) continue;
    if (!gt__hopper_kernel_of(j, &t)) continue;
    gt__lay_parts(j, &t, room, i % 2);
    const double clocks = gt__clocks_of(j, &t, down, room);
    if (clocks >= least) continue;
    least = clocks;
    j->t = t;
    j->p.down = down;
  }
}
/* Keeps the plan, with its divisors set, and with scratch for the parts. */
static int gt__keep_partition(gt__op *op, gt__hopper_product *j, const void *end) {
  const size_t elements = (size_t)j->t.slots * j->t.lines * j->t.pitch;
  gt__set_divisors(&j->t);
  gt__place(j, j->t.parts, gt__carve(j, elements * 4));
  return gt__keep_product(op, j, end);
}
/* Works out everything but the tensor maps. */
static int gt__plan_hopper(gt__op *op) {
  const gt__matmul_args *args = &op->u.matmul;
  if (!gt__is_for_hopper(args)) return 0;
  gt__hopper_product plan;
  gt__hopper_product *j = &plan;
  gt__begin_product(op, j, sizeof *j);
  const bool halves = args->a.dtype != GT_FLOAT32;
  const bool one = halves || args->precision == GT_MEDIUM;
  j->products = args->precision == GT_HIGH ? GT__HIGH_PRODUCTS : GT__HIGHEST_PRODUCTS;
  if (one) j->products = 1;
  j->pieces = gt__pieces_of(j->products);
  j->type = args->a.dtype == GT_FLOAT16 ? GT_FLOAT16 : GT_BFLOAT16;
  if (!gt__see_both(j)) return 0;
  gt__plan_output(j, false);
  j->t.direct = gt__can_store(j);
  for (int i = 0; i < 2; i++) {
    const gt__hopper_operand *f = &j->p.f.x[i];
    const bool stays = halves && gt__can_stay(f, 2);
    if (!stays) gt__plan_packing(j, i);
  }
  gt__cut_up(j, gt__device_facts() >> 16);
  return gt__keep_partition(op, j, j + 1);
}

/* Packs operands if need be, makes the tensor maps, and launches the product. */
static int gt__run_hopper(const gt__op *op, void *stream) {
  gt__hopper_product job;
  gt__hopper_product *j = &job;
  gt__hopper_args *p = &job.p;
  gt__recall_product(op, j);
  const gt__hopper_operand *x = p->f.x;
  void *parameters[] = {p};
  void *packs[] = {&p->f};
  const int packed = x[0].blocks + x[1].blocks;
  const int clusters = (gt__device_facts() >> 16) / p->down;
  const dim3 grid(p->down * min(j->t.units, clusters));
  const void *kernel = gt__hopper_kernel_of(j, &j->t);
  const void *pack = gt__pack_kernels[x[0].top ? j->pieces : 0];
  int e = 0;
  p->f.early = j->x.post.early;
  p->early = packed ? 0 : j->x.post.early;
  p->layout = j->type == GT_FLOAT16 ? GT__OF_FLOAT16 : 0;
  p->layout += 2 * x[0].along_k + x[1].along_k;
  p->t = j->t;
  if (packed) e = gt__launch(pack, dim3(packed), 256, 0, stream, packs);
  if (!e) e = gt__make_maps(j);
  if (!e) e = gt__launch(kernel, grid, 3 * GT__TEAM, GT__ROOM, stream, parameters, p->down);
  return gt__finish_product(op, j, e, stream);
}

/* ---- >>matmul-skinny ----------------------------------------------------------------------------
   Products of float32 whose A has few rows, so that reading B takes the time. A float32 is split
   into three pieces, bfloat16, as by >>matmul-hopper. The tensor cores of sm_90a make 64 rows at
   once: here these are columns of B, in registers, and A's few rows, in shared memory, are the
   columns. A team of four warps has 128 columns of B and, of each step of K, a share of 32. They
   come to stages of the team's own, which the copy engine fills:

       B    stage -- take --> registers -- split --> 3 pieces, registers --+-- multiply --> sums
       A    stage -- lay, which splits once for the team --> a strip ------+

   Lines of A and of B may run along K or across: 16 of K may come in any order, if A and B have the
   same. H200, measured when A's rows still came by threads: 64 x 7168 x 16384 in 219 us, by tiles
   502, cuBLAS 330. */
#ifdef GT__HOPPER
/* d (64 x N) = A (64 x 16), from registers, x B (16 x N) + (add ? d : 0). */
#define GT__MMA_OF(wide, list, a, b, c, e, at, add_, ...) \
  asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %" #add_ \
               ", 0;\n" \
               "wgmma.mma_async.sync.aligned.m64n" #wide "k16.f32.bf16.bf16 {" list "}, {%" #a \
               ",%" #b ",%" #c ",%" #e "}, %" #at ", p, 1, 1, 0; }" \
               : __VA_ARGS__ \
               : "r"(x[0]), "r"(x[1]), /* of A, 8 down */ \
                 "r"(x[2]), "r"(x[3]), /* 8 on along K */ \
                 "l"(strip), "r"(add))
template <int N>
GT__DEV void gt__mma_few(float (&d)[N], const uint32_t (&x)[4], uint64_t strip, int add) {
  if constexpr (N == 8) GT__MMA_OF(16, "%0,%1,%2,%3,%4,%5,%6,%7", 8, 9, 10, 11, 12, 13, GT__D8(0));
  else if constexpr (N == 16)
    GT__MMA_OF(32, GT__TEN() "%10,%11,%12,%13,%14,%15", 16, 17, 18, 19, 20, 21, GT__D8(0),
               GT__D8(8));
  else GT__MMA_OF(64, GT__30 "%30,%31", 32, 33, 34, 35, 36, 37, GT__D32(0));
}
#endif
/* What a thread has of a product of up to ROWS rows. */
template <int ROWS>
struct gt__skinny {
  static constexpr int N = ROWS / 2; /* sums of 16 columns */
  static constexpr int TEAMS = ROWS > 32 ? 2 : 3;
  static constexpr int RAW = (ROWS < 32 ? 32 : ROWS) * 128; /* bytes of A in a stage */
  static constexpr int STAGE = RAW + 16384;
  static constexpr int STRIP = ROWS * 192;      /* A in pieces; of a step and of the next */
  static constexpr int PITCH = 132;             /* of lines of sums */
  static constexpr int SUMS = ROWS * PITCH * 4; /* in a stage that is free, if it has room */
  static constexpr bool FITS = SUMS <= STAGE;
  static constexpr int LAID = FITS ? 2 * STRIP : SUMS;
  static constexpr int STAGES = (GT__ROOM - 1024 - TEAMS * LAID) / (TEAMS * STAGE);
  static constexpr int RING = STAGES * STAGE;
  static constexpr int BYTES = TEAMS * (RING + LAID + STAGES * 8);
  static constexpr int THREADS = TEAMS * GT__TEAM;
  static_assert(STAGES > 2 && LAID >= 2 * STRIP, "some is on its way while other is used");
#ifdef GT__HOPPER
  typedef uint32_t Lots[2][4][4];      /* of B: of each 16 of K four, in four columns */
  typedef uint32_t Fragments[2][3][4]; /* their pieces, of two columns */
  const gt__hopper_args &p;
  const bool along; /* B's lines run along K */
  int team;
  gt__work w;     /* what is made */
  gt__work ahead; /* and what is brought */
  int stage = 0;
  int phase = 0;
  int filled = 0;
  char *ring;
  char *strips;
  uint64_t *full;
  float sum[2][N];
  uint32_t top[4 + ROWS / 16]; /* all bits of a column of B, of four of K of a row of A */
  __device__ __forceinline__ gt__skinny(const gt__hopper_args &p)
      : p(p), along(p.f.x[1].along_k), w{} {
    team = __shfl_sync(~0u, threadIdx.x / GT__TEAM, 0);
    char *const shared = (char *)gt__shared;
    ring = shared + team * RING;
    strips = shared + TEAMS * RING + team * LAID;
    full = (uint64_t *)(shared + TEAMS * (RING + LAID)) + team * STAGES;
    w.next = blockIdx.x;
    ahead = w;
    if (threadIdx.x % GT__TEAM == 0)
      for (int i = 0; i < STAGES; i++) gt__barrier_init(full + i, 1);
    GT__KEPT("fence.mbarrier_init.release.cluster;");
    __syncthreads();
  }
  /* Starts the copies of a step: a team's first warp. */
  __device__ __forceinline__ void bring() {
    if (threadIdx.x % GT__TEAM >= 32) return;
    if (ahead.from == ahead.to && !gt__find_work(p, 1, ahead)) return;
    const bool lines = p.f.x[0].along_k;
    const int k = (ahead.from++ * TEAMS + team) * 32;
    const int boxes = lines ? 1 : RAW / 4096; /* of A */
    const int bytes = lines ? ROWS * 128 : RAW;
    char *const to = ring + filled * STAGE;
    uint64_t *const barrier = full + filled;
    gt__expect(barrier, bytes + 16384);
    for (int i = 0; i < boxes + 4; i++) {
      const bool b = i >= boxes;
      const gt__hopper_operand &f = p.f.x[b];
      const int mn = b ? ahead.n + 32 * (i - boxes) : ahead.m + 32 * i;
      const int x = f.along_k ? k : mn;
      const int y = f.along_k ? mn : k;
      const int at = b ? RAW - boxes * 4096 : 0;
      const int z = ahead.batch * f.per_batch;
      gt__load_box(to + at + i * 4096, &p.map[b], barrier, x, y, z, 0);
    }
    filled = filled + 1 == STAGES ? 0 : filled + 1;
  }
  /* Four of K of a row of A, from a stage. */
  __device__ __forceinline__ void read(const char *box, int row, int four, uint32_t (&x)[4]) const {
    if (p.f.x[0].along_k) {
      gt__load_line(box + row * 128 + ((four ^ row % 8) << 4), x);
    } else GT__UNROLL for (int j = 0; j < 4; j++) {
        const int line = 4 * four + j;
        const int lot = row % 32 / 4 ^ line % 8;
        const char *at = box + row / 32 * 4096 + line * 128;
        x[j] = *(const uint32_t *)(at + lot * 16 + row % 4 * 4);
      }
  }
  /* When the next stage is there, A's rows go to a strip as pieces, in squares of 8 x 8, two of
     which have 16 of K. */
  __device__ __forceinline__ void lay(char *strip) {
    constexpr int HALF = ROWS * 16;
    const int four = threadIdx.x % 8;
    strip += four / 4 * 2 * HALF;
    strip += along ? four % 4 * 4 : four % 4 / 2 * HALF + four % 2 * 8;
    gt__barrier_wait(full + stage, phase);
    GT__UNROLL for (int i = 0; i < ROWS / 16; i++) {
      const int row = threadIdx.x % GT__TEAM / 8 + 16 * i;
      char *to = strip + row * 16;
      uint32_t x[4];
      uint32_t piece[3][2];
      read(ring + stage * STAGE, row, four, x);
      top[4 + i] |= x[0] | x[1] | x[2] | x[3];
      gt__split(x, piece);
      for (int q = 0; q < 3; q++, to += 4 * HALF) {
        *(uint32_t *)to = piece[q][0];
        *(uint32_t *)(to + (along ? HALF : 4)) = piece[q][1];
      }
    }
    GT__KEPT("fence.proxy.async.shared::cta;");
  }
  /* The thread's lots of B, from the stage. Lane 4g + t has columns 4g to 4g + 3 and, of each 16 of
     K, what a lane has of wgmma's fragments: 2t, 2t + 1, 2t + 8 and 2t + 9; or, where lines run
     along K, 4t to 4t + 3, which are one lot: A's rows are laid in the same order. */
  __device__ __forceinline__ void take(Lots &u) {
    const int lane = threadIdx.x % 32;
    const int g = lane / 4;
    const int t = lane % 4;
    const char *box = ring + stage * STAGE + RAW;
    box += threadIdx.x % GT__TEAM / 32 * 4096;
    GT__UNROLL for (int i = 0; i < 8; i++) {
      const int s = i / 4;
      const int j = i % 4;
      const int k = 16 * s + j / 2 * 8 + 2 * t + j % 2;
      const int line = along ? 4 * g + j : k;
      const int lot = along ? 4 * s + t : g;
      gt__load_line(box + line * 128 + ((lot ^ line % 8) << 4), u[s][j]);
    }
    stage = stage + 1 == STAGES ? 0 : stage + 1;
    phase ^= stage == 0;
  }
  /* Two of the columns as fragments of 16 x 16: of a column two neighbours along K, of the next
     column, and of both 8 on. */
  __device__ __forceinline__ void split(const Lots &u, int tile, Fragments &x) {
    GT__UNROLL for (int i = 0; i < 4; i++) {
      const int s = i / 2;
      const int column = 2 * tile + i % 2;
      uint32_t f[4];
      uint32_t piece[3][2];
      for (int j = 0; j < 4; j++) {
        const uint32_t across = u[s][j][column];
        f[j] = along ? u[s][column][j] : across;
      }
      top[column] |= f[0] | f[1] | f[2] | f[3];
      gt__split(f, piece);
      for (int q = 0; q < 3; q++) {
        x[s][q][i % 2] = piece[q][0];
        x[s][q][i % 2 + 2] = piece[q][1];
      }
    }
  }
  /* Starts the products of a strip with 16 columns of the warp, small ones first. */
  __device__ __forceinline__ void multiply(const char *strip, const Fragments &x, float (&d)[N]) {
    constexpr int of_a[6] = {2, 1, 0, 1, 0, 0};
    constexpr int of_b[6] = {0, 1, 2, 0, 1, 0};
    const uint64_t at = (uint64_t)(gt__smem(strip) >> 4) | ROWS << 16 | 8ull << 32;
    GT__KEPT("wgmma.fence.sync.aligned;");
    GT__UNROLL for (int i = 0; i < 12; i++) {
      const int q = i / 2;
      const int to_a = (of_a[q] * 2 + i % 2) * ROWS * 2;
      gt__mma_few(d, x[i % 2][of_b[q]], at + to_a, i > 0);
    }
    GT__KEPT("wgmma.commit_group.sync.aligned;");
  }
  /* Waits for all products but the LEFT that were begun last; then adds their sums. */
  template <int LEFT>
  __device__ __forceinline__ void add(float (&to)[N], float (&d)[N]) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
    GT__EACH {
      asm volatile("" : "+f"(d[i]));
      to[i] += d[i];
    }
  }
  /* All steps of a tile, or of a part of it. */
  __device__ __forceinline__ void add_up() {
    for (uint32_t &bits : top) bits = 0;
    for (auto &half : sum) GT__EACH half[i] = 0;
    lay(strips);
    GT__LOOP for (int i = w.from; i < w.to; i++) {
      char *const strip = strips + (i - w.from) % 2 * STRIP;
      Lots u;
      Fragments x[2];
      float d[2][N];
      gt__team_sync(team); /* the strip is there */
      take(u);
      GT__UNROLL for (int tile = 0; tile < 2; tile++) {
        split(u, tile, x[tile]);
        multiply(strip, x[tile], d[tile]);
      }
      bring(); /* to the stage of the step before, which all of the team have left */
      if (i + 1 < w.to) lay(strips + (i + 1 - w.from) % 2 * STRIP);
      add<1>(sum[0], d[0]);
      add<0>(sum[1], d[1]);
    }
  }
  /* Lays the team's sums. */
  __device__ __forceinline__ void lay_sums(char *to) {
    float *mine = (float *)to + threadIdx.x % 4 * 2 * PITCH;
    mine += threadIdx.x % GT__TEAM / 4 * 4;
    GT__UNROLL for (int j = 0; j < N / 2; j++) {
      const float *u = sum[0] + j / 2 * 4 + j % 2;
      const float *v = sum[1] + j / 2 * 4 + j % 2;
      const float four[4] = {u[0], u[2], v[0], v[2]};
      const int row = j / 2 * 8 + j % 2;
      gt__store_line((char *)(mine + row * PITCH), four);
    }
  }
  /* Adds up the teams' sums, which go to C, or to a part. Those that pieces cannot make, since a
     sum is not finite, or all of a line below 2^-111, are made from float32 itself. */
  __device__ __forceinline__ void store(const char *sums, bool strict) const {
    const gt__partition &t = p.t;
    const int64_t lines = (int64_t)w.slot * t.lines;  /* of the parts before */
    const bool across = w.slot >= 0 || t.column == 1; /* neighbours in C are those of a row */
    GT__LOOP for (int i = threadIdx.x; i < ROWS * 32; i += THREADS) {
      const int row = across ? i / 32 : i % ROWS;
      const int column = (across ? i % 32 : i / ROWS) * 4;
      const int m = w.m + row;
      const int n = w.n + column;
      const char *from = sums + (row * PITCH + column) * 4;
      float four[4] = {};
      for (int s = 0; s < TEAMS; s++) {
        gt__add4(four, (const float *)from);
        from += FITS ? RING : LAID;
      }
      for (int j = 0; j < 4 && m < t.m && n + j < t.n; j++)
        if (strict || !(fabsf(four[j]) < INFINITY))
          four[j] = gt__multiply_strictly(p, w, m, n + j, 32 * TEAMS);
      float *const to_part = (float *)t.parts + (lines + row) * t.pitch + column;
      if (w.slot < 0) gt__store_sums(t, w, m, n, four);
      else if (row < t.lines && column < t.pitch) gt__store_line((char *)to_part, four);
    }
  }
  __device__ __forceinline__ void run() {
    for (int i = 1; i < STAGES; i++) bring();
    while (gt__find_work(p, 1, w)) {
      int tiny = 0;
      add_up();
      gt__after_kernel_before();
      for (uint32_t bits : top) tiny |= !(bits & 0x78000000) && bits << 1;
      tiny = __syncthreads_or(tiny); /* the strips are no longer used */
      const int spare = (stage + STAGES - 1) % STAGES * STAGE;
      lay_sums(FITS ? ring + spare : strips);
      __syncthreads();
      store((char *)gt__shared + (FITS ? spare : TEAMS * RING), tiny);
      __syncthreads();
    }
  }
#endif
};
/* Grid: as many blocks as run at once, which take one tile, or part of a tile, after the other. */
template <class P>
__global__ void __launch_bounds__(P::THREADS, 1)
    gt__skinny_kernel(const __grid_constant__ gt__hopper_args p) {
#ifdef GT__HOPPER
  P block(p);
  if (!p.early) gt__await_kernel_before();
  block.run();
#endif
}

static const struct gt__skinny_form {
  const void *kernel;
  int rows, threads, bytes;
} gt__skinny_forms[] = {
#define GT__SKINNY(rows) \
  { \
    GT__POINTER(gt__skinny_kernel<gt__skinny<rows>>), rows, gt__skinny<rows>::THREADS, \
        gt__skinny<rows>::BYTES \
  }
    GT__SKINNY(16),
    GT__SKINNY(32),
    GT__SKINNY(64),
};
struct gt__skinny_product : gt__hopper_product {
  const gt__skinny_form *form;
};
/* Tiles, cut into as many parts of K as take the least time, about 1 us for 64 of K; blocks come in
   waves, and parts are added up. */
static void gt__cut_strip(gt__skinny_product *j) {
  gt__partition *t = &j->t;
  const int step = j->form->threads / 4;
  const int steps = (j->p.k - 1) / step + 1;
  const int room = gt__device_facts() >> 16;
  double least = HUGE_VAL;
  t->wide = 128;
  gt__lay_tiles(j, t, j->form->rows);
  for (int parts = 1; parts <= min(steps, (int)GT__MOST_PARTS); parts++) {
    const int share = (steps - 1) / parts + 1;
    const int cut = (steps - 1) / share + 1;
    const double waves = ceil((double)t->tiles * cut / room);
    double us = waves * (share * step / 64. + GT__WAVE_US);
    if (cut > 1) us += GT__SUM_US + GT__SUM_EACH_US * t->m * t->n * j->x.batch * cut;
    if (us >= least) continue;
    least = us;
    t->share = share;
    t->each = cut;
    t->steps = share * cut;
    t->units = t->tiles * cut;
    t->slots = cut > 1 ? t->tiles * (cut + 1) : 0;
  }
  t->whole = t->slots ? 0 : t->tiles;
}
static bool gt__is_skinny(const gt__matmul_args *x) {
  const int64_t few = min(x->m, x->n);
  const int64_t many = max(x->m, x->n);
  if (!gt__is_on_hopper(x) || x->a.dtype != GT_FLOAT32) return false;
  if (few > GT__PIECES_LEAST_ROWS && x->precision != GT_HIGHEST) return false;
  return few > GT__STRIP_ROWS && few <= GT__SKINNY_ROWS && many * x->k >= GT__SKINNY_LEAST;
}
/* Takes the operand of few rows as A, and the smallest form that has room for these. */
static int gt__plan_skinny(gt__op *op) {
  const gt__matmul_args *args = &op->u.matmul;
  if (!gt__is_skinny(args)) return 0;
  gt__skinny_product plan;
  gt__skinny_product *j = &plan;
  gt__begin_product(op, j, sizeof *j);
  j->transposed = args->n < args->m;
  if (j->transposed) gt__transpose_product(&j->x);
  j->pieces = 1;
  if (!gt__see_both(j)) return 0;
  for (const gt__hopper_operand &f : j->p.f.x)
    if (!gt__can_stay(&f, 4)) return 0;
  j->form = gt__skinny_forms;
  while (j->form->rows < 64 && j->form->rows < j->t.m) j->form++;
  gt__plan_output(j, false);
  gt__cut_strip(j);
  return gt__keep_partition(op, j, j + 1);
}
/* The tensor maps are made anew at each run, as addresses are known only then. */
static int gt__run_skinny(const gt__op *op, void *stream) {
  gt__skinny_product job;
  gt__skinny_product *j = &job;
  gt__hopper_args *p = &job.p;
  gt__recall_product(op, j);
  int e = gt__map_operand(j, 0, GT_FLOAT32, p->f.x[0].along_k ? j->form->rows : 32);
  if (!e) e = gt__map_operand(j, 1, GT_FLOAT32, 32);
  p->early = j->x.post.early;
  p->t = j->t;
  void *parameters[] = {p};
  const gt__skinny_form *f = j->form;
  const dim3 grid(min(p->t.units, gt__device_facts() >> 16));
  if (!e) e = gt__launch(f->kernel, grid, f->threads, f->bytes, stream, parameters);
  return gt__finish_product(op, j, e, stream);
}

/* Kernels load at their first use, which may wait for the device; so all are loaded at first. Those
   of products must say how much shared memory they take before they are launched. */
static cudaError_t gt__allow(const void *kernel, int bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
/* Loads the kernels of these lists, and those of products. */
static cudaError_t gt__load_fast(void) {
  static const struct {
    const void *const *kernels;
    int n;
  } all[] = {
      {gt__rare_map_kernels, 2},  {gt__map_kernels[0][0], 18}, {gt__reduce_kernels[0], 42},
      {gt__soft_kernels, 2},      {gt__soft_down_kernels, 2},  {gt__pack_kernels, 4},
      {gt__copy_kernels, 5},      {gt__split_sum_kernels, 3},  {gt__short_kernels, 9},
      {gt__transpose_kernels, 1}, {gt__order_kernels, 5},      {gt__scan_kernels, 3},
      {gt__tiny_kernels, 1},      {gt__dots_kernels, 1},
  };
  cudaError_t error = cudaSuccess;
  for (const auto &some : all)
    if (!error) error = gt__load(some.kernels, some.n);
  for (const gt__form &f : gt__matmul_forms)
    if (!error && gt__room_for(&f, gt__device_facts())) error = gt__allow(f.kernel, f.bytes);
  if (!(gt__device_facts() & GT__PROBE_HOPPER)) return error;
  for (const auto &kernels : gt__hopper_kernels)
    for (const void *kernel : kernels)
      if (kernel && !error) error = gt__allow(kernel, GT__ROOM);
  for (const gt__skinny_form &f : gt__skinny_forms)
    if (!error) error = gt__allow(f.kernel, f.bytes);
  return error;
}
#endif /* not GPUTENSOR_PLAIN */

/* ---- >>ways ------------------------------------------------------------------------------------
   The table of ways for each primitive, see gt__way in gputensor.h: the first one whose plan takes
   an operation runs it. Those of Part I come last, and take every operation. A way of Part II is a
   row here, and a section of its own with its kernel, plan and run; its kernels are listed in
   gt__load_fast. gt__map_by_best_way, for the maps inside of products and copies, has a list of its
   own. What a way gains was measured in November 2026, on an H200 but where an H100 is named. On
   that, for example:

       float32 4096 x 4096 x 4096          hopper: gt__pack_kernel, gt__hopper_kernel of 6 products
       bfloat16 16 x 4096 x 4096           hopper: gt__hopper_kernel, 64 tiles of 64 columns
       the sum of 2^28 float32             rows: gt__reduce_kernel, then gt__combine_kernel
       a bfloat16 matrix, transposed       transposed: gt__transpose_kernel; else mapped
       the running sum of 2^20             rows: gt__scan_kernel three times
       2^20 float32 in order               radix: gt__order_keys_kernel, four passes of three */
/* clang-format off */
static const gt__way gt__copy_ways[] = {
#ifndef GPUTENSOR_PLAIN
    {"picked", gt__plan_picked, gt__run_picked,
     "8192 rows of 8192 float32: 135 us, plain 352; H200"},
    {"transposed", gt__plan_transposed_copy, gt__run_transposed_copy,
     "16384 x 16384 bfloat16 transposed: 278 us, mapped 505"},
    {"mapped", gt__plan_mapped, gt__run_mapped,
     "8192 x 8192 float32 transposed: 200 us, plain 537; H100"},
#endif
    {"plain", gt__plan_none, gt__run_plain_copy, "the definition"}, {}};
static const gt__way gt__map_ways[] = {
#ifndef GPUTENSOR_PLAIN
    {"short", gt__plan_map<gt__plan_short>, gt__run_map<gt__start_short>,
     "2^28 elements: exp of float32 505 us, vectors 533; a < b of bfloat16 306, 497"},
    {"bfloat16", gt__plan_map<gt__plan_bfloat16>, gt__run_map<gt__start_map>,
     "a chain of eight, 2^28 bfloat16: 552 us, vectors 792"},
    {"transposed", gt__plan_map<gt__plan_whole<GT__TRANSPOSED>>, gt__run_map<gt__start_map>,
     "a + b, b transposed, 8192 x 8192 float32: 277 us, strided 595; H100"},
    {"few", gt__plan_map<gt__plan_whole<GT__FEW_VECTORS>>, gt__run_map<gt__start_map>,
     "a layer norm's formula, (1, 768) float32: 3.2 us, vectors 4.1"},
    {"vectors", gt__plan_map<gt__plan_whole<GT__ALL_WHOLE>>, gt__run_map<gt__start_map>,
     "a chain of five, 2^26 float32: 189 us, strided 338; H100"},
    {"strided", gt__plan_map<gt__plan_strided>, gt__run_map<gt__start_map>,
     "exp of every third column, 8192 x 8192 float32: 119 us, plain 314; H100"},
#endif
    {"plain", gt__plan_none, gt__run_plain_map, "the definition"}, {}};
static const gt__way gt__reduce_ways[] = {
#ifndef GPUTENSOR_PLAIN
    {"rows", gt__plan_direct<true>, gt__run_fold,
     "sums of 2^21 rows of 4, bfloat16: 35 us, by vectors of long rows 107"},
    {"columns", gt__plan_direct<false>, gt__run_fold,
     "sum of dim 0, 8192 x 8192 float32: 95 us, strided 174; H100"},
    {"program", gt__plan_light, gt__run_fold,
     "sums of a*a of dim 1, 8192 x 8192 float32: 118 us, strided 202; H100"},
    {"strided", gt__plan_anyhow, gt__run_fold,
     "sums of every second column, 8192 x 8192 float32: 93 us, plain 396; H100"},
    {"softmax-rows", gt__plan_soft_rows, gt__run_soft_rows,
     "8192 x 8192 float32: 0.18 ms, plain 2.4; H100"},
    {"softmax-columns", gt__plan_soft_columns, gt__run_soft_columns,
     "16 x 21 x 262144 float32: 0.36 ms, by its steps 1.35"},
#endif
    {"plain", gt__plan_plain_reduce, gt__run_plain_reduce, "the definition"}, {}};
static const gt__way gt__matmul_ways[] = {
#ifndef GPUTENSOR_PLAIN
    {"tiny", gt__plan_tiny, gt__run_tiny,
     "32 x 128 x 64 float32, bias and relu: 3.4 us, tiled and mapped 5.4; 128^3 3.0, tiled 4.0"},
    {"dots", gt__plan_dots, gt__run_dots,
     "1 x 4096 x 4096 float32, lines along K: 19 us, tiled 22; 1 x 2304 x 768: 4.2, tiled 6.6"},
    {"skinny", gt__plan_skinny, gt__run_skinny,
     "24 x 4096 x 4096 float32: 27 us, tiled 38; 64 x 7168 x 16384: 219, tiled 502"},
    {"hopper", gt__plan_hopper, gt__run_hopper,
     "4096 x 4096 x 4096 bfloat16: 174 us, 789 TFLOP/s; by mma.sync 304 us"},
    {"tiled", gt__plan_tiled, gt__run_tiled,
     "4096 x 4096 x 4096 float32: 2.8 ms, shared 38; 2048^3 float64: 0.31, shared 5.9; H100"},
#endif
    {"shared", gt__plan_shared_matmul, gt__run_shared_matmul,
     "4096 x 4096 x 4096 float32: 38 ms, plain 277; H100"},
    {"plain", gt__plan_product, gt__run_naive_matmul, "the definition"}, {}};
static const gt__way gt__scan_ways[] = {
#ifndef GPUTENSOR_PLAIN
    {"rows", gt__plan_scan<true>, gt__run_scan<true>,
     "2^14 x 2^14 float32: 637 us, a copy 552; 2^28 in one row 939"},
    {"columns", gt__plan_scan<false>, gt__run_scan<false>,
     "dim 0 of 2^14 x 2^14 float32: 0.89 ms, PyTorch 6.5"},
#endif
    {"plain", gt__plan_none, gt__run_plain_scan, "the definition"}, {}};
static const gt__way gt__order_ways[] = {
#ifndef GPUTENSOR_PLAIN
    {"tiles", gt__plan_order_tiles, gt__run_order_tiles,
     "2^16 rows of 256 float32: 0.59 ms, plain 14; the first 64 of 2^17: 53 us, plain 65 ms"},
    {"radix", gt__plan_order_radix, gt__run_order_radix,
     "sort of 2^17 float32: 57 us, plain 65 ms; of 2^24 1.15 ms"},
#endif
    {"plain", gt__plan_none, gt__run_plain_order, "the definition"}, {}};
static const gt__way gt__scatter_ways[] = {
#ifndef GPUTENSOR_PLAIN
    {"sorted", gt__plan_sorted, gt__run_sorted,
     "2^18 rows of 64 float32 into 2^16: 142 us; 2^24 float32 into 2^20: 1.4 ms"},
#endif
    {"plain", gt__plan_none, gt__run_plain_scatter, "the definition"}, {}};
/* clang-format on */
extern "C" const gt__way *gt__cuda_ways(int kind) {
  static_assert(GT__COPY == 0 && GT__MAP == 1 && GT__REDUCE == 2 && GT__MATMUL == 3, "their order");
  static_assert(GT__SCAN == 4 && GT__ORDER == 5 && GT__SCATTER == 6, "their order");
  static const gt__way *const ways[] = {gt__copy_ways,   gt__map_ways,  gt__reduce_ways,
                                        gt__matmul_ways, gt__scan_ways, gt__order_ways,
                                        gt__scatter_ways};
  return ways[kind];
}

/* ---- >>exports ------------------------------------------------------------------------------- */
extern "C" int gt__cuda_build(gt__build *build) {
  static const int list[] = {__CUDA_ARCH_LIST__};
  const int facts = gt__device_facts();
  *build = {{}, GT__LAYOUT, sizeof(gt__op), 0, {}};
  strncpy(build->version, facts & GT__PROBE_FLUSHES ? "fast-math" : GPUTENSOR_VERSION,
          sizeof build->version - 1);
  for (size_t i = 0; i < sizeof list / sizeof *list && build->n_arch < 16; i++)
    build->arch[build->n_arch++] =
        list[i] == 900 && facts & GT__PROBE_HOPPER ? 900 + 'a' : list[i] / 10;
  return cudaSuccess;
}

extern "C" int gt__cuda_warmup(void) {
  cudaError_t error = gt__load(gt__plain_map_kernels, 3);
  if (!error) error = gt__load(gt__plain_reduce_kernels, 3);
  if (!error) error = gt__load(gt__plain_tree_kernels, 3);
  if (!error) error = gt__load(gt__plain_copy_kernels, 4);
  if (!error) error = gt__load(gt__plain_order_kernels, 1);
  if (!error) error = gt__load(gt__plain_scatter_kernels, 3);
  if (!error) error = gt__load(gt__naive_matmul_kernels, 3);
  if (!error) error = gt__load(gt__shared_matmul_kernels, 3);
  if (!error) error = gt__load(gt__plain_scan_kernels, 3);
#ifndef GPUTENSOR_PLAIN
  if (!error) error = gt__load(gt__scatter_kernels, 7);
  if (!error) error = gt__load_fast();
#endif
  if (error) (void)cudaGetLastError();
  return error;
}
