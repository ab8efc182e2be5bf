/* gputensor_kernels.cu - what gputensor.h runs on an NVIDIA GPU: kernels and their launchers,
   nothing else. nvcc builds it beside the file with GPUTENSOR_IMPLEMENTATION. MIT licence: there.

   CONTENTS   (search for >>word)
     >>traits       vectors of 16 bytes, batches of them, and the ten dtypes
     >>converting   a dtype to a compute type and back
     >>slots        an operand's column in shared memory
     >>loading      between a slot and memory: any dtype, any strides
     >>interpreter  the accumulator machine, the heart of map and reduce
     >>map          each output element from the inputs at its place; short programs apart
     >>reduce       folding by THE PLAN of gputensor.h, and the tree over chunks
     >>copy         elements picked by an index; all other copies are maps
     >>matmul       a tiled product, by any of three engines
     >>hopper       products on the tensor cores of sm_90a
     >>launchers    extern "C": check, return at once, choose, launch, report

   How to read it. A thread owns a few vectors of 16 bytes at a time, a batch: four in a map, two in
   all else. The accumulator of a batch is in registers; every operand, constant and temporary is a
   slot in shared memory, where each thread has a column of its own. So only transposed operands
   need a barrier, one kernel runs every program, and an instruction costs one branch a batch. */
#define GPUTENSOR_KERNELS
#include "gputensor.h"
#include <cuda.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#if defined(__USE_FAST_MATH__) || defined(__FAST_MATH__)
#error "gputensor gives the same bits everywhere and needs NaN: build without --use_fast_math"
#endif

#define GT__DEV static __device__ __forceinline__
#define GT__EACH _Pragma("unroll") for (int i = 0; i < N; i++)

/* ---- >>traits ------------------------------------------------------------------------------- */
template <class T> constexpr int gt__lot = 16 / sizeof(T);   /* elements of the widest load */

/* A kernel is launched as soon as all blocks of the one before said that it may, or ended; so all
   kernels wait for that one's end before they touch memory. One whose blocks all run at once says
   it late, since blocks that wait for room are dealt out unevenly. */
GT__DEV void gt__release_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
GT__DEV void gt__await_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
GT__DEV void gt__after_kernel_before() {
  gt__release_next_kernel();
  gt__await_kernel_before();
}

/* dtypes that C++ has no type for; bits only, so that they live in unions and registers */
struct gt__bool { uint8_t bits; };
struct gt__half { uint16_t bits; };
struct gt__bfloat { uint16_t bits; };
/* elements of copies, which are bits without a meaning: behind the dtypes of gt_dtype */
template <class I> struct gt__raw { I bits; };
enum { GT__RAW_8 = GT_DTYPES, GT__RAW_16 };

/* Calls f with a value whose type is that of `dtype`: one switch in place of ten functions. */
template <class F> GT__DEV void gt__by_dtype(int dtype, F f) {
  if (dtype == GT_FLOAT32) f(float());   /* the usual ones first, since a switch is a tree */
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
    default: f(double()); break;
  }
}

/* The batch of a thread: two vectors of W elements, which keep more loads in flight than one. The
   dims of a tensor are split at `cut` into outer and inner ones, the latter `width` elements
   together. Vector v begins at outer index o + r + v*dr and inner index k + c + v*dc; it runs along
   the last inner dim, or with `down` along the last outer one. valid[v] of its elements exist.
   straight: no vector goes on in the next line of its dim. */
struct gt__batch {
  int64_t width, o, k;
  int r, c, dr, dc, cut, valid[2];
  bool down, straight;
  __device__ __forceinline__ int64_t index(int v, int j) const { /* of element j of vector v */
    return (o + (r + v * dr)) * width + k + (c + v * dc) + j * (down ? width : 1);
  }
  __device__ __forceinline__ gt__batch operator()() const { /* a copy not worked with before */
    gt__batch b = *this;
    asm volatile("" : "+l"(b.o), "+l"(b.k), "+r"(b.r), "+r"(b.c));
    return b;
  }
};
/* The built-in type of so many bytes, which is what a single load or store instruction moves. */
template <int BYTES> struct gt__bits;
template <> struct gt__bits<1> { typedef unsigned char type; };
template <> struct gt__bits<2> { typedef unsigned short type; };
template <> struct gt__bits<4> { typedef unsigned int type; };
template <> struct gt__bits<8> { typedef uint2 type; };
template <> struct gt__bits<16> { typedef uint4 type; };
/* W elements, by 16-byte instructions or one narrower. */
template <class S, int W> GT__DEV void gt__load_line(const char *from, S (&x)[W]) {
  constexpr int PART = sizeof x < 16 ? sizeof x : 16, N = sizeof x / PART;
  typedef typename gt__bits<PART>::type Part;
  Part part[N];
  GT__EACH part[i] = ((const Part *)from)[i];
  memcpy(x, part, sizeof x);
}
template <class S> GT__DEV void gt__store_line(char *to, const S &x) {
  constexpr int PART = sizeof x < 16 ? sizeof x : 16, N = sizeof x / PART;
  typedef typename gt__bits<PART>::type Part;
  Part part[N];
  memcpy(part, x, sizeof x);
  GT__EACH ((Part *)to)[i] = part[i];
}

/* ---- >>converting ------------------------------------------------------------------------------
   float to integer truncates and saturates and makes NaN 0, integer to integer wraps, to bool is
   "not zero"; the 16-bit floats go through float, as they do on the CPU. */
template <class X> GT__DEV X gt__plain(X x) { return x; } /* what C++ can convert */
GT__DEV bool gt__plain(gt__bool x) { return x.bits != 0; }
GT__DEV float gt__plain(gt__bfloat x) { return gt__bf16_to_f32(x.bits); }
GT__DEV float gt__plain(gt__half x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}

template <class T, class X> GT__DEV void gt__set(T &y, X x) { y = (T)x; }
template <class X> GT__DEV void gt__set(gt__bool &y, X x) { y.bits = x != 0; }
template <class X> GT__DEV void gt__set(gt__half &y, X x) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"((float)x));
}
template <class X> GT__DEV void gt__set(gt__bfloat &y, X x) {
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"((float)x));
#else
  y.bits = gt__f32_to_bf16((float)x);
#endif
}
template <class I, class X> GT__DEV void gt__set(gt__raw<I> &y, X x) {
  y.bits = (I)__float_as_int((float)x);
}
template <class T, class I> GT__DEV void gt__set(T &y, gt__raw<I> x) {
  y = (T)__int_as_float(x.bits);
}
#define GT__SATURATE(I, lo, hi) \
  GT__DEV void gt__set(I &y, float x) { y = (I)gt__f32_to_i64(x, lo, hi); } \
  GT__DEV void gt__set(I &y, double x) { y = (I)gt__f64_to_i64(x, lo, hi); }
GT__SATURATE(uint8_t, 0, UINT8_MAX)
GT__SATURATE(int8_t, INT8_MIN, INT8_MAX)
GT__SATURATE(int16_t, INT16_MIN, INT16_MAX)
GT__SATURATE(int32_t, INT32_MIN, INT32_MAX)
GT__SATURATE(int64_t, INT64_MIN, INT64_MAX)
template <class T, class S> struct gt__cast {
  GT__DEV T of(S x) {
    T y;
    gt__set(y, gt__plain(x));
    return y;
  }
};
/* An array, from elements that need not be one. */
template <class T, class S, int N> GT__DEV void gt__cast_all(T (&y)[N], const S *x) {
  GT__EACH y[i] = gt__cast<T, S>::of(x[i]);
}
/* Two at once, which spares instructions. */
template <int N> GT__DEV void gt__cast_all(float (&y)[N], const gt__bfloat *x) {
  #pragma unroll
  for (int i = 0; i < N; i += 2) {
    uint32_t two;
    memcpy(&two, x + i, 4);
    y[i] = __uint_as_float(two << 16);
    y[i + 1] = __uint_as_float(two & 0xffff0000u);
  }
}

template <class T> GT__DEV T gt__constant(gt__num x);
template <> __device__ __forceinline__ float gt__constant<float>(gt__num x) { return x.s; }
template <> __device__ __forceinline__ double gt__constant<double>(gt__num x) { return x.f; }
template <> __device__ __forceinline__ int64_t gt__constant<int64_t>(gt__num x) { return x.i; }

/* ---- >>slots -----------------------------------------------------------------------------------
   Vector v of V of slot s of this thread is at mine + (V*s + v)*pitch. Neighbouring threads are 16
   bytes apart, so a warp reads 512 bytes in a row, four wavefronts and no bank conflict. */
extern __shared__ uint4 gt__shared[];
struct gt__slots {
  char *mine;
  unsigned pitch;                          /* threads x 16 bytes */
};
GT__DEV gt__slots gt__my_slots() {
  return gt__slots{(char *)(gt__shared + threadIdx.x), blockDim.x * 16};
}
template <int V> GT__DEV char *gt__at(const gt__slots &s, unsigned slot, int v) {
  return s.mine + (V * slot + v) * s.pitch;
}
/* Element i of a slot, i not known to the compiler: shared memory can be indexed, registers not. */
template <class T, int V> GT__DEV T *gt__element(const gt__slots &s, unsigned slot, int i) {
  return (T *)gt__at<V>(s, slot, i / gt__lot<T>) + i % gt__lot<T>;
}
template <class T> struct alignas(16) gt__vector { T x[gt__lot<T>]; };
template <class T> GT__DEV void gt__get16(const char *p, T *x) {
  const gt__vector<T> q = *(const gt__vector<T> *)p;
  for (int i = 0; i < gt__lot<T>; i++) x[i] = q.x[i];
}
template <class T> GT__DEV void gt__put16(char *p, const T *x) {
  gt__vector<T> q;
  for (int i = 0; i < gt__lot<T>; i++) q.x[i] = x[i];
  *(gt__vector<T> *)p = q;
}
template <class T, int N> GT__DEV void gt__get(const gt__slots &s, unsigned slot, T (&x)[N]) {
  constexpr int W = gt__lot<T>;
  #pragma unroll
  for (int i = 0; i < N; i += W) gt__get16(gt__at<N / W>(s, slot, i / W), x + i);
}
template <class T, int N>
GT__DEV void gt__put(const gt__slots &s, unsigned slot, const T (&x)[N]) {
  constexpr int W = gt__lot<T>;
  #pragma unroll
  for (int i = 0; i < N; i += W) gt__put16(gt__at<N / W>(s, slot, i / W), x + i);
}
template <class T, int N>
GT__DEV void gt__fill_constants(const gt__program &p, const gt__slots &s) {
  #pragma unroll 1
  for (int k = 0; k < p.n_const; k++) {
    T x[N];
    GT__EACH x[i] = gt__constant<T>(p.constant[k]);
    gt__put(s, p.n_in + k, x);
  }
}

/* ---- >>loading ------------------------------------------------------------------------------ */
/* The element offset of index i among the dims [from, to). More than one are out of line, so that
   they take no registers from the usual case, and in 32 bits where `narrow` allows, since 64-bit
   division costs four times more. */
template <class I>
GT__DEV int64_t gt__locate_as(I i, int from, int to, const int64_t *size, const int64_t *stride) {
  int64_t at = 0;
  #pragma unroll 1
  for (int d = to - 1; d > from; d--) {
    const I n = (I)size[d], q = i / n;
    at += (int64_t)(i - q * n) * stride[d];
    i = q;
  }
  return at + (int64_t)i * stride[from];
}
static __device__ __noinline__ int64_t gt__locate_among(const gt__map_args &p, int64_t i, int from,
                                                        int to, const int64_t *stride) {
  return p.narrow ? gt__locate_as<uint32_t>((uint32_t)i, from, to, p.size, stride)
                  : gt__locate_as<uint64_t>((uint64_t)i, from, to, p.size, stride);
}
GT__DEV int64_t gt__locate(const gt__map_args &p, int64_t i, int from, int to,
                           const int64_t *stride) {
  return to <= from ? 0 : to - from == 1 ? i * stride[from]
                                         : gt__locate_among(p, i, from, to, stride);
}

/* Where a vector of a batch begins in an operand. */
GT__DEV char *gt__place(const gt__map_args &p, const gt__operand &x, const gt__batch &b, int v) {
  return x.data + ((gt__locate(p, b.o + (b.r + v * b.dr), 0, b.cut, x.stride) +
                    gt__locate(p, b.k + (b.c + v * b.dc), b.cut, p.ndim, x.stride))
                   << x.size_log2);
}
static __device__ __noinline__ char *gt__find_one(const gt__map_args &p, const gt__operand &x,
                                                  int64_t i, int cut, int64_t width) {
  const int64_t o = i / width, k = i - o * width;
  const int64_t at = gt__locate(p, o, 0, cut, x.stride) + gt__locate(p, k, cut, p.ndim, x.stride);
  return x.data + (at << x.size_log2);
}
template <class T> GT__DEV T gt__load_one(const char *p, int dtype) {
  T x;
  gt__by_dtype(dtype, [&](auto y) { x = gt__cast<T, decltype(y)>::of(*(decltype(y) *)p); });
  return x;
}
template <class T> GT__DEV void gt__store_one(char *p, int dtype, T x) {
  gt__by_dtype(dtype, [&](auto y) { *(decltype(y) *)p = gt__cast<decltype(y), T>::of(x); });
}

/* Fills a slot with elements of any dtype and strides or, OUT, stores it so. Out of line, as all
   that is unusual, and with arguments by value, so that it costs the kernel no registers. */
template <class T, bool OUT>
static __device__ __noinline__ void gt__move_slot(const gt__map_args &p, int slot, gt__batch b,
                                                  gt__slots s) {
  constexpr int W = gt__lot<T>;
  const gt__operand &x = OUT ? p.out : p.in[slot];
  if (b.straight) {
    const int64_t stride = x.stride[b.down ? b.cut - 1 : p.ndim - 1];
    const int bytes = W << x.size_log2;
    char *const line[2] = {gt__place(p, x, b, 0), gt__place(p, x, b, 1)};
    const int64_t hop = stride << x.size_log2;
    /* may the widest instructions move both? Addresses are tested, since rows start anywhere */
    const bool whole = stride == 1 && b.valid[0] == W && b.valid[1] == W &&
                       (((unsigned)(uintptr_t)line[0] | (unsigned)(uintptr_t)line[1]) &
                        (bytes < 16 ? bytes - 1 : 15)) == 0;
    gt__by_dtype(x.dtype, [&](auto tag) {
      typedef decltype(tag) S;
      S u[2][W];
      T y[2 * W];
      if (OUT) gt__get(s, slot, y);
      #pragma unroll
      for (int v = 0; v < 2; v++) {
        if (OUT) gt__cast_all(u[v], y + v * W);
        if (whole && OUT) gt__store_line(line[v], u[v]);
        else if (whole) gt__load_line(line[v], u[v]);
        else
          #pragma unroll
          for (int j = 0; j < W; j++) {
            S *at = (S *)(line[v] + j * hop);
            if (!OUT) u[v][j] = j < b.valid[v] ? *at : S();
            else if (j < b.valid[v]) *at = u[v][j];
          }
      }
      if (OUT) return;
      gt__cast_all(y, u[0]);
      gt__put(s, slot, y);
    });
    return;
  }
  #pragma unroll 1
  for (int i = 0; i < 2 * W; i++) {
    T *one = gt__element<T, 2>(s, slot, i);
    if (i % W >= (i < W ? b.valid[0] : b.valid[1])) continue;
    char *at = gt__find_one(p, x, b.index(i / W, i % W), b.cut, b.width);
    if (OUT) gt__store_one<T>(at, x.dtype, *one);
    else *one = gt__load_one<T>(at, x.dtype);
  }
}
/* Vectors of a slot whose elements are S still, copied to the beginning of their places. */
template <class T, class S, int V> GT__DEV void gt__convert(const gt__slots &s, int slot) {
  constexpr int W = gt__lot<T>;
  if constexpr (sizeof(S) <= sizeof(T))
    #pragma unroll
    for (int v = 0; v < V; v++) {
      char *p = gt__at<V>(s, slot, v);
      S u[W];
      T y[W];
      gt__load_line(p, u);
      gt__cast_all(y, u);
      gt__put16(p, y);
    }
}
template <class T, int V>
static __device__ __noinline__ void gt__convert_other(int dtype, gt__slots s, int slot) {
  gt__by_dtype(dtype, [&](auto tag) { gt__convert<T, decltype(tag), V>(s, slot); });
}
template <class T> struct gt__native {
  static constexpr int DTYPE = sizeof(T) == 4 ? GT_FLOAT32 : (T)0.5 == 0 ? GT_INT64 : GT_FLOAT64;
};
/* Calls f with a value of the dtype if that is T's own or a short float for floats: was it? */
template <class T, class F> GT__DEV bool gt__if_usual(int dtype, F f) {
  if (dtype == gt__native<T>::DTYPE) f(T());
  else if (sizeof(T) == 4 && dtype == GT_BFLOAT16) f(gt__bfloat());
  else if (sizeof(T) == 4 && dtype == GT_FLOAT16) f(gt__half());
  else return false;
  return true;
}

/* ---- >>interpreter -----------------------------------------------------------------------------
   One structure for each line of THE TABLE and compute type: gt__formula<OP, T>::of(a, b, c).
   What a formula does not use is cast to void, so that it draws no warning. */
template <int OP, class T> struct gt__formula;
#define GT__FORMULA(name, T, formula) \
  template <> struct gt__formula<GT__OP_##name, T> { \
    GT__DEV T of(T a, T b, T c) { return (void)a, (void)b, (void)c, (T)(formula); } \
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
enum { GT__OP_mul_add = GT__OPS };       /* a*b + c, which is two instructions: for gt__short */
GT__FORMULA(mul_add, float, GT__ADD(GT__MUL(a, b), c))
#undef GT__FORMULA

/* A formula on all elements of a batch, where one test tells for all that they need no care: that
   exponents of quotients are far from both ends, that e^x is normal, that an angle is small. */
template <int OP, class T, int N>
GT__DEV void gt__apply_all(T (&a)[N], const T (&b)[N], const T (&c)[N]) {
  constexpr bool EXP = OP == GT__OP_exp && sizeof(T) == 4, SIN = OP == GT__OP_sin && sizeof(T) == 4;
  if constexpr (OP == GT__OP_div && sizeof(T) == 4) {
    uint32_t far_a = 0, far_b = 0;       /* from 2^-63 .. 2^65, 2^-31 .. 2^33 */
    GT__EACH far_a |= __float_as_uint(a[i]) - (64u << 23);
    GT__EACH far_b |= __float_as_uint(b[i]) - (96u << 23);
    if (!((far_a & 2u << 29) | (far_b & 3u << 29))) {
      GT__EACH a[i] = gt__easy_div(a[i], b[i]);
      return;
    }
  }
  if constexpr (EXP || SIN) {
    float most = 0;
    GT__EACH most = fmaxf(most, fabsf(a[i]));
    if (most < (EXP ? 87 : 0x1p15f)) {
      GT__EACH a[i] = EXP ? gt__exp_normal(a[i]) : gt__sin_of(a[i], 0);
      return;
    }
  }
  GT__EACH a[i] = gt__formula<OP, T>::of(a[i], b[i], c[i]);
}

/* An instruction is fetched as one word: op in the low byte, then b, c and d. */
static_assert(sizeof(gt__ins) == 4 && offsetof(gt__program, ins) % 4 == 0,
              "the interpreter reads an instruction as one aligned 32-bit word");
GT__DEV uint32_t gt__fetch(const gt__program &p, int pc) { return ((const uint32_t *)p.ins)[pc]; }

GT__DEV float gt__random(int op, const gt__program &p, uint64_t index, float, float) {
  return gt__random_f32(op, p.seed, p.offset + index);
}
GT__DEV double gt__random(int op, const gt__program &p, uint64_t index, double, double) {
  return gt__random_f64(op, p.seed, p.offset + index);
}
GT__DEV int64_t gt__random(int, const gt__program &p, uint64_t index, int64_t low, int64_t range) {
  return gt__random_i64(p.seed, p.offset + index, low, range);
}

/* A heavy instruction (exp, pow...) on N elements at a time, all E or fewer: then the accumulator
   turns by N, since registers cannot be indexed. Elements' places are asked for in the cases that
   need them, since nvcc takes what it can out of the loop over instructions, for all programs. */
template <class T, int N, class At, int E>
GT__DEV void gt__heavy(uint32_t word, const gt__program &p, const gt__slots &s, const At &at,
                       T (&acc)[E]) {
  constexpr int W = gt__lot<T>;
  const int op = word & 255;
  #pragma unroll 1
  for (int k = 0; k < E; k += N) {
    T y[N], z[N], r[N];
    const auto get = [&](T (&x)[N], unsigned slot) {
      GT__EACH x[i] = *gt__element<T, E / W>(s, slot, k + i);
    };
    GT__EACH r[i] = y[i] = z[i] = acc[i];
    switch (op) {
      case GT__INDEX: {
        const auto b = at();
        GT__EACH r[i] = (T)b.index((k + i) / W, (k + i) % W);
        break;
      }
      case GT__UNIFORM: case GT__NORMAL: case GT__INTEGER: {
        const auto b = at();
        get(y, word >> 8 & 255);
        get(z, word >> 16 & 255);
        GT__EACH r[i] = gt__random(op, p, b.index((k + i) / W, (k + i) % W), y[i], z[i]);
        break;
      }
#define GT__CASE_LIGHT(name, arity)
#define GT__CASE_HEAVY(name, arity) \
      case GT__OP_##name: \
        if (arity > 1) get(y, word >> 8 & 255); \
        if (arity > 2) get(z, word >> 16 & 255); \
        gt__apply_all<GT__OP_##name>(r, y, z); \
        break;
#define GT__LINE(name, arity, result, cost, f, i) GT__CASE_##cost(name, arity)
      GT__OPERATIONS(GT__LINE)
#undef GT__CASE_LIGHT
#undef GT__CASE_HEAVY
    }
    #pragma unroll
    for (int i = 0; i < E - N; i++) acc[i] = acc[i + N];
    GT__EACH acc[E - N + i] = r[i];
  }
}

/* Runs a program over a batch. HEAVY: 0 leaves the heavy cases out, which keeps registers few and
   occupancy high; else the N of gt__heavy. Operand b is read before the branch on the operation, so
   that its latency hides behind it. */
template <class T, int HEAVY, class At, int N>
GT__DEV void gt__run(const gt__program &p, const gt__slots &s, const At &at, T (&acc)[N]) {
  int pc = 0;
  GT__EACH acc[i] = 0;
  if ((gt__fetch(p, 0) & 255) == GT__LOAD) gt__get(s, gt__fetch(p, pc++) >> 8 & 255, acc);
  #pragma unroll 1
  for (; pc < p.n_ins; pc++) {
    const uint32_t word = gt__fetch(p, pc);
    T y[N], z[N];
    gt__get(s, word >> 8 & 255, y);
    switch (word & 255) {
      case GT__LOAD: GT__EACH acc[i] = y[i]; break;
      case GT__SAVE: gt__put(s, word >> 24, acc); break;
#define GT__CASE_HEAVY(name, arity)
#define GT__CASE_LIGHT(name, arity) \
      case GT__OP_##name: \
        if (arity == 3) gt__get(s, word >> 16 & 255, z); \
        gt__apply_all<GT__OP_##name>(acc, y, arity == 3 ? z : y); \
        break;
      GT__OPERATIONS(GT__LINE)
#undef GT__LINE
#undef GT__CASE_LIGHT
#undef GT__CASE_HEAVY
      default:
        if (HEAVY) gt__heavy<T, HEAVY ? HEAVY : 1>(word, p, s, at, acc);
    }
  }
}

/* ---- >>map -------------------------------------------------------------------------------------
   A block makes a tile of rows x columns: all dims but the last are rows, one after the other; so
   rows or columns that repeat and plain arrays, one long row, are the same to it. Neighbouring
   threads take neighbouring vectors, so that a warp moves 512 bytes in a row; a thread's next is
   straight below or, in a tile of one row, a share of the tile further on. The usual map, WHOLE,
   has whole vectors and begins to copy them all before it works; others go through the loader. */
struct gt__step {                        /* how an operand moves, in bytes */
  int row, column;                       /* to the next row and column */
  int64_t next;                          /* to the thread's next vector */
  int copy;                              /* asynchronously, so many bytes at once; or 0 */
  bool crossed;                          /* its elements lie side by side down the rows */
};
struct gt__tiling {
  int columns_log2, high;                /* of a tile; high: its rows */
  int dr, dc;                            /* rows and columns to a thread's next vector */
  unsigned across;                       /* tiles that make up a row */
  bool crossed;                          /* some operand is; the tile is 64 rows of 16 vectors */
  int64_t rows;                          /* of a batch */
  unsigned batches;                      /* whole: of dims before the last two, one a blockIdx.y */
  gt__step step[1 + GT__INPUTS];         /* of out and the inputs, if whole */
};
enum { GT__VECTORS = 4 };                /* of a thread in a whole map */
enum { GT__ANY, GT__WHOLE, GT__TURNED }; /* TURNED: whole, and may have crossed operands */
template <class T, bool CROSSED>
GT__DEV gt__batch gt__my_batch(const gt__map_args &p, const gt__tiling &t) {
  unsigned first, down = 0, along = blockIdx.x;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(first)); /* so that it need not be kept */
  if (CROSSED && t.crossed) first ^= first >> 4 & 7;  /* see gt__turn */
  first *= gt__lot<T>;
  gt__batch b = {p.size[p.ndim - 1], 0, 0, 0, (int)first, t.dr, t.dc, p.ndim - 1, {}, false, true};
  if (t.rows > 1) {
    down = along / t.across;
    along -= down * t.across;
    b.o = (int64_t)down * t.high;
    b.r = first >> t.columns_log2;
    b.c = first & ((1 << t.columns_log2) - 1);
  }
  b.k = (int64_t)along << t.columns_log2;
  return b;
}
/* How many elements of vector v exist. */
template <int W> GT__DEV int gt__valid(const gt__batch &b, const gt__tiling &t, int v) {
  const int64_t left = b.width - b.k - (b.c + v * b.dc);
  return b.o + (b.r + v * b.dr) >= t.rows || left <= 0 ? 0 : left < W ? (int)left : W;
}
GT__DEV char *gt__find_vector(const gt__map_args &p, const gt__operand &x, const gt__step &m,
                              const gt__batch &b) {
  char *at = x.data + (b.o + b.r) * m.row + (b.k + b.c) * m.column;
  if (gridDim.y > 1) at += gt__locate(p, blockIdx.y, 0, p.ndim - 2, x.stride) << x.size_log2;
  return at;
}
template <class T> static __device__ __noinline__ T gt__load_any(const char *p, int dtype) {
  return gt__load_one<T>(p, dtype);
}
/* Begins to copy the existing vectors of an operand to slot k. */
template <int V, int BYTES>
GT__DEV void gt__copy_vectors(const gt__slots &s, int k, const char *from, int64_t next,
                              int exist) {
  char *to = gt__at<V>(s, k, 0);
  #pragma unroll
  for (int v = 0; v < V; v++, to += s.pitch, from += next)
    if (exist >> v & 1) __pipeline_memcpy_async(to, from, BYTES);
}
template <class S, class T, int N>
GT__DEV void gt__store_vectors(char *to, int64_t next, int exist, const T (&acc)[N]) {
  constexpr int W = gt__lot<T>;
  #pragma unroll
  for (int v = 0; v < N / W; v++, to += next) {
    S u[W];
    gt__cast_all(u, acc + v * W);
    if (exist >> v & 1) gt__store_line(to, u);
  }
}
template <class T, int N>
static __device__ __noinline__ void gt__store_other(int dtype, char *to, int64_t next, int exist,
                                                    gt__slots s) {
  T y[N];
  gt__get(s, 0, y);
  gt__by_dtype(dtype, [&](auto tag) { gt__store_vectors<decltype(tag)>(to, next, exist, y); });
}
/* Fills slot k with a transposed operand. A warp reads elements that lie side by side, 64 rows of
   one column, in pairs if they have 16 bits, and puts each where the thread works that it belongs
   to. So that these places are in different banks, 16 neighbouring threads have the 16 vectors of
   row r in the order q ^ (r & 7), and lanes that would meet take a vector's columns in turn. */
template <class T, class S, int PAIR>
GT__DEV void gt__turn(const char *from, char *slot, const gt__step &m, unsigned pitch, int64_t rows,
                      int64_t columns) {
  constexpr int W = gt__lot<T>, STEP = 2 / PAIR, TASKS = 16 * STEP / 8; /* of each of 8 warps */
  typedef typename gt__bits<sizeof(S) * PAIR>::type Bits;
  Bits x[TASKS][W];
  const int lane = threadIdx.x % 32;
  #pragma unroll
  for (int n = 0; n < TASKS; n++)
    #pragma unroll
    for (int i = 0; i < W; i++) {
      const int task = threadIdx.x / 32 + 8 * n, r = (task % STEP * 32 + lane) * PAIR;
      const int c = task / STEP * W + (i + lane / 8) % W;
      const char *at = from + r * (int)sizeof(S) + c * (int64_t)m.column;
      x[n][i] = Bits();
      if (r + PAIR <= rows && c < columns) x[n][i] = *(const Bits *)at;
      else if (r < rows && c < columns) memcpy(&x[n][i], at, sizeof(S));
    }
  #pragma unroll
  for (int n = 0; n < TASKS; n++)
    #pragma unroll
    for (int i = 0; i < W * PAIR; i++) {
      const int task = threadIdx.x / 32 + 8 * n, r = (task % STEP * 32 + lane) * PAIR + i % PAIR;
      const int place = r % 16 * 16 + (task / STEP ^ (r & 7)), j = (i / PAIR + lane / 8) % W;
      S y[PAIR];
      memcpy(y, &x[n][i / PAIR], sizeof y);
      ((T *)(slot + r / 16 * pitch + place * 16))[j] = gt__cast<T, S>::of(y[i % PAIR]);
    }
}
template <class T>
static __device__ __noinline__ void gt__fill_crossed(int dtype, const char *from, char *slot,
                                                     const gt__step &m, unsigned pitch,
                                                     int64_t rows, int64_t columns) {
  const auto turn = [&](auto tag) {
    typedef decltype(tag) S;
    if (sizeof(S) == 2 && ((uintptr_t)from | (unsigned)m.column) % 4 == 0)
      gt__turn<T, S, sizeof(S) == 2 ? 2 : 1>(from, slot, m, pitch, rows, columns);
    else
      gt__turn<T, S, 1>(from, slot, m, pitch, rows, columns);
  };
  if (gt__if_usual<T>(dtype, turn) || sizeof(T) == 8) return;
  if (dtype == GT__RAW_8) turn(gt__raw<uint8_t>());
  else turn(gt__raw<uint16_t>());
}
/* Fills slot k with what was not copied: the same along a row, crossed, or of a wide dtype. */
template <class T, bool CROSSED>
GT__DEV void gt__fill_slot(const gt__map_args &p, const gt__tiling &t, const gt__slots &s, int k,
                           const gt__batch &b, int exist) {
  constexpr int W = gt__lot<T>, V = GT__VECTORS;
  const gt__step &m = t.step[1 + k];
  const int dtype = p.in[k].dtype;
  const char *from = gt__find_vector(p, p.in[k], m, b);
  if (CROSSED && m.crossed) {            /* by all threads together, from the tile's beginning */
    from -= (int64_t)b.r * m.row + (int64_t)b.c * m.column;
    return gt__fill_crossed<T>(dtype, from, gt__at<V>(s, k, 0) - threadIdx.x * 16, m, s.pitch,
                               t.rows - b.o, b.width - b.k);
  }
  #pragma unroll 1
  for (int v = 0; v < V; v++, from += m.next) {
    T x = 0, *to = gt__element<T, V>(s, k, v * W);
    if (!(exist >> v & 1)) continue;
    #pragma unroll 1
    for (int j = 0; j < W; j++) {
      if (!j || m.column) x = gt__load_any<T>(from + j * m.column, dtype);
      to[j] = x;
    }
  }
}
template <class T, bool CROSSED>
GT__DEV void gt__fill_slots(const gt__map_args &p, const gt__tiling &t, const gt__slots &s,
                            int exist) {
  constexpr int V = GT__VECTORS;
  const gt__batch b = gt__my_batch<T, CROSSED>(p, t);
  #pragma unroll 1
  for (int k = 0; k < p.program.n_in; k++) {
    const gt__step &m = t.step[1 + k];
    if (!m.copy) continue;
    const char *from = gt__find_vector(p, p.in[k], m, b);
    if (m.copy == 16) gt__copy_vectors<V, 16>(s, k, from, m.next, exist);
    else if (m.copy == 8) gt__copy_vectors<V, 8>(s, k, from, m.next, exist);
    else gt__copy_vectors<V, 4>(s, k, from, m.next, exist);
  }
  gt__fill_constants<T, V * gt__lot<T>>(p.program, s);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  #pragma unroll 1
  for (int k = 0; k < p.program.n_in; k++) {
    const auto convert = [&](auto tag) { gt__convert<T, decltype(tag), V>(s, k); };
    const int dtype = p.in[k].dtype;
    if (!t.step[1 + k].copy) gt__fill_slot<T, CROSSED>(p, t, s, k, b, exist);
    else if (dtype != gt__native<T>::DTYPE && !gt__if_usual<T>(dtype, convert))
      gt__convert_other<T, V>(dtype, s, k);
  }
  if (CROSSED && t.crossed) __syncthreads();
}
template <class T, int HEAVY, bool CROSSED>
GT__DEV void gt__map_whole(const gt__map_args &p, const gt__tiling &t, const gt__slots &s) {
  constexpr int W = gt__lot<T>, V = GT__VECTORS;
  const gt__batch b = gt__my_batch<T, CROSSED>(p, t);
  T acc[V * W];
  int exist = (1 << V) - 1;
  if (!gt__valid<W>(b, t, V - 1)) {      /* the last of a thread's vectors: else all exist */
    exist = 0;
    #pragma unroll
    for (int v = 0; v < V - 1; v++) exist |= (gt__valid<W>(b, t, v) > 0) << v;
  }
  gt__fill_slots<T, CROSSED>(p, t, s, exist);
  const auto at = [&] {
    gt__batch b = gt__my_batch<T, CROSSED>(p, t);
    b.o += blockIdx.y * t.rows;
    return b;
  };
  gt__run<T, HEAVY>(p.program, s, at, acc);
  const gt__step &m = t.step[0];
  char *to = gt__find_vector(p, p.out, m, gt__my_batch<T, CROSSED>(p, t));
  const auto store = [&](auto tag) { gt__store_vectors<decltype(tag)>(to, m.next, exist, acc); };
  if (gt__if_usual<T>(p.out.dtype, store)) return;
  gt__put(s, 0, acc);
  gt__store_other<T, V * W>(p.out.dtype, to, m.next, exist, s);
}
template <class T, int HEAVY>
GT__DEV void gt__map_any(const gt__map_args &p, const gt__tiling &t, const gt__slots &s) {
  constexpr int W = gt__lot<T>;
  gt__batch b = gt__my_batch<T, false>(p, t);
  T acc[2 * W];
  b.valid[0] = gt__valid<W>(b, t, 0);
  b.valid[1] = gt__valid<W>(b, t, 1);
  gt__fill_constants<T, 2 * W>(p.program, s);
  #pragma unroll 1
  for (int k = 0; k < p.program.n_in; k++) gt__move_slot<T, false>(p, k, b, s);
  gt__run<T, HEAVY>(p.program, s, b, acc);
  gt__put(s, 0, acc);
  gt__move_slot<T, true>(p, 0, b, s);
}
/* As many blocks at once as go without spilled registers: occupancy hides the latency of memory. */
template <class T, int HEAVY, int MODE>
__global__ void __launch_bounds__(MODE == GT__WHOLE ? 128 : 256,
                                  MODE == GT__WHOLE ? 7 : sizeof(T) == 4 ? 4 : HEAVY ? 2 : 3)
gt__map_kernel(const __grid_constant__ gt__map_args p, const __grid_constant__ gt__tiling t) {
  const gt__slots s = gt__my_slots();
  gt__after_kernel_before();
  if (MODE == GT__ANY) gt__map_any<T, HEAVY>(p, t, s);
  else gt__map_whole<T, HEAVY, MODE == GT__TURNED>(p, t, s);
}

/* The shortest programs, on rows of one dtype, have an instance for each operation of this list:
   operands go from memory to registers, without slots. Beside the interpreter, H200, November 2026,
   2^28 elements: float32 exp, tanh and sigmoid 505 us for 533, gelu 554 for 612; bfloat16 exp 252
   for 279, a / b 367 for 375, a row added 254 for 301; at 2^24 elements up to 30 % faster. */
#define GT__SHORT_PROGRAMS(X) /* operands, vectors of a thread: two for much arithmetic */ \
  X(add, 2, 1) X(sub, 2, 1) X(mul, 2, 1) X(div, 2, 1) X(mul_add, 3, 1) X(where, 3, 1) \
  X(relu, 1, 1) X(exp, 1, 2) X(tanh, 1, 2) X(sigmoid, 1, 2) X(gelu, 1, 2) X(silu, 1, 2) X(sin, 1, 1)
enum { GT__SHORT_BLOCK = 256 };          /* vectors of a block */
/* All threads that a multiprocessor of a large chip has, with 32 registers each. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900)
enum { GT__SHORT_BLOCKS = 8 };
#else
enum { GT__SHORT_BLOCKS = 4 };
#endif
struct gt__short {
  char *data[4];                         /* of out and the operands; NULL: a number */
  gt__step step[4];                      /* copy 0: the same in all columns; less than 16: bool */
  float number[4];
  unsigned vectors, across;              /* across: of a row; 0: there is but one */
  uint8_t op, each;                      /* each: a thread's vectors */
};
template <int OP, int ARITY, int V, class S> GT__DEV void gt__make_short(const gt__short &p) {
  constexpr int W = gt__lot<S>, HOP = GT__SHORT_BLOCK / V;
  const unsigned first = blockIdx.x * GT__SHORT_BLOCK + threadIdx.x;
  const auto is = [&](int k, int bytes) { return p.data[k] && p.step[k].copy == bytes; };
  uint4 x[1 + ARITY][V];
  int row[V], column[V];
  #pragma unroll
  for (int v = 0; v < V; v++) {
    const unsigned at = first + v * HOP;
    row[v] = p.across ? at / p.across : 0;
    column[v] = at - row[v] * p.across;
    #pragma unroll
    for (int k = 1; k <= ARITY; k++) {
      const char *from = p.data[k] + (int64_t)row[v] * p.step[k].row;
      if (at >= p.vectors) continue;
      if (ARITY == 1 || is(k, 16)) x[k][v] = ((const uint4 *)from)[column[v]];
      else if (is(k, 0)) memcpy(&x[k][v], from, sizeof(S));
      else if (is(k, W)) memcpy(&x[k][v], (const typename gt__bits<W>::type *)from + column[v], W);
    }
  }
  #pragma unroll
  for (int v = 0; v < V; v++) {
    float y[4][W];
    S u[W];
    #pragma unroll
    for (int k = 1; k <= ARITY; k++) {
      memcpy(u, &x[k][v], 16);
      if (ARITY == 1 || is(k, 16)) {
        gt__cast_all(y[k], u);
      } else if (is(k, W)) {
        const uint32_t bits[2] = {x[k][v].x, x[k][v].y};
        for (int i = 0; i < W; i++) y[k][i] = (bits[i / 4] >> i % 4 * 8 & 255) != 0;
      } else {
        const float one = p.data[k] ? gt__cast<float, S>::of(u[0]) : p.number[k];
        for (int i = 0; i < W; i++) y[k][i] = one;
      }
    }
    gt__apply_all<OP>(y[1], y[1 + (ARITY > 1)], y[ARITY]);
    gt__cast_all(u, y[1]);
    if (first + v * HOP < p.vectors)
      gt__store_line(p.data[0] + (int64_t)row[v] * p.step[0].row + column[v] * 16ll, u);
  }
}
template <class S> __global__ void __launch_bounds__(GT__SHORT_BLOCK, GT__SHORT_BLOCKS)
gt__short_kernel(const __grid_constant__ gt__short p) {
  gt__after_kernel_before();
  switch (p.op) {
#define GT__SHORT(name, arity, each) \
    case GT__OP_##name: gt__make_short<GT__OP_##name, arity, each, S>(p); break;
    GT__SHORT_PROGRAMS(GT__SHORT)
#undef GT__SHORT
  }
}

/* ---- >>reduce ----------------------------------------------------------------------------------
   THE PLAN of gputensor.h, by teams of threads. A thread's work is a stream of vectors a constant
   `hop` apart: inner, across a row, the team side by side; else down the rows. It folds them as
   they are loaded or, behind a program, by way of its slots. A block joins the chunks that it has
   of an output in shared memory; what is left of the tree is a second, small kernel. */
template <class T> struct gt__folds;
#define GT__FOLDS_OF(T, suffix, same, turned) \
  template <> struct gt__folds<T> { \
    static constexpr T as_it_is = same; /* or by -1: the largest is the smallest then */ \
    GT__DEV T turn(T x, T by) { return turned; } \
    GT__DEV T identity(int fold) { return gt__identity_##suffix(fold); } \
    GT__DEV T fold(int fold, T a, T b) { return gt__fold_##suffix(fold, a, b); } \
  };
GT__FOLDS_OF(float, f32, 1, GT__MUL(x, by))
GT__FOLDS_OF(double, f64, 1, GT__MUL(x, by))
GT__FOLDS_OF(int64_t, i64, 0, x ^ by)
#undef GT__FOLDS_OF
template <int OP, class T> GT__DEV T gt__apply(T a, T b) { return gt__formula<OP, T>::of(a, b, b); }

/* Eight folds are four: min, argmin, any and all are maxima of values turned, turned back at the
   end: the opposite, "is it not zero", "is it zero". Twice is once, or nothing. */
__host__ __device__ __forceinline__ int gt__base_fold(int fold) {
  return fold == GT__FOLD_ARGMIN ? GT__FOLD_ARGMAX : fold > GT__FOLD_ARGMAX || fold == GT__FOLD_MIN
                                                   ? GT__FOLD_MAX : fold;
}
template <class T> GT__DEV T gt__turn_of(int fold) {
  return fold == GT__FOLD_MIN || fold == GT__FOLD_ARGMIN ? (T)-1 : gt__folds<T>::as_it_is;
}
template <class T> GT__DEV T gt__truth(int fold, T x) {
  return fold < GT__FOLD_ANY ? x : (T)((x != 0) == (fold == GT__FOLD_ANY));
}
template <class T> GT__DEV T gt__turned(int fold, T x) {
  return gt__truth(fold, gt__folds<T>::turn(x, gt__turn_of<T>(fold)));
}
/* A running result: the value, and for argmax where it was found. A lane starts with the identity
   at its own first place: an equal element does not take its place, and need not. */
template <class T, class I> struct gt__part {
  T value;
  I index;
};
/* Where the values come from: the operand, U vectors at a time, or 8 elements of a TINY row; or a
   program, LIGHT with the usual operands, or any. Elements S that are not T wait for their fold. */
enum { GT__TINY, GT__DIRECT, GT__DIRECT_ARG, GT__LIGHT, GT__ANYHOW, GT__COMBINE };
/* Calls f with the fold as a constant, outside of loops over elements. What is read directly has a
   kernel for argmax: indices would take registers from all other folds. */
template <int FOLD> struct gt__fold_tag { static constexpr int value = FOLD; };
template <int SOURCE, class F> GT__DEV void gt__by_fold(int fold, F f) {
  if (SOURCE == GT__DIRECT_ARG || (SOURCE != GT__DIRECT && fold == GT__FOLD_ARGMAX))
    f(gt__fold_tag<GT__FOLD_ARGMAX>());
  else if (fold == GT__FOLD_SUM) f(gt__fold_tag<GT__FOLD_SUM>());
  else if (fold == GT__FOLD_MAX) f(gt__fold_tag<GT__FOLD_MAX>());
  else f(gt__fold_tag<GT__FOLD_PROD>());
}
/* What the GPU's own maximum does with NaN and -0 is what ours does. */
template <int FOLD, class T> GT__DEV T gt__fold_two(T a, T b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (FOLD == GT__FOLD_MAX && sizeof(T) == 4) return gt__at_least(b, a);
#endif
  return gt__folds<T>::fold(FOLD, a, b);
}
/* Folds what comes later: it takes the place of an equal one never, and of anything but NaN if it
   is NaN: one comparison that is false for NaN tells both. */
template <int FOLD, class T, class I> GT__DEV void gt__take(gt__part<T, I> &a, T x, I index) {
  if (FOLD != GT__FOLD_ARGMAX) {
    a.value = gt__fold_two<FOLD, T>(a.value, x);
  } else {
    const bool wins = !(x <= a.value) & (a.value == a.value);
    a.value = wins ? x : a.value;
    a.index = wins ? index : a.index;
  }
}
/* Does the order count? A maximum is the same in any. */
template <int F> constexpr bool gt__in_order = F == GT__FOLD_SUM || F == GT__FOLD_PROD;

/* A block has 1 << chunks_log2 chunks of `outs` outputs; teams take them in turn, one chunk of one
   output or, DOWN, of them all, a vector a thread. SHORT: all elements that a thread has of a row
   fit in registers; LONG: a team is a warp, a thread has 8 of 256 lanes. */
enum { GT__LONG, GT__SHORT, GT__DOWN };
struct gt__stride {                      /* how an operand moves, in bytes: by */
  int64_t wide, deep, hop, next;         /* an output, an element, a vector, and within a vector */
};
struct gt__cut {
  int32_t way, fold, team_log2, chunks_log2, outs;
  int32_t results;                       /* of a block, rounded up so that slots begin a line */
  unsigned groups;                       /* of chunks */
  bool simple;                           /* one kept and one folded dim at most: strides tell all */
  gt__stride in[GT__INPUTS];
};
/* What is left of a stream: `left` elements of a row, where a thread's vectors begin `step` apart
   and the first lacks `skip`; or, down, W for each row, of which `columns` exist. */
template <int W> struct gt__extent {
  int left, step, columns, skip;
  __device__ __forceinline__ void pass(int n) { left -= n * step, skip = 0; }
  __device__ __forceinline__ bool has(int j, int i) const { /* element i of vector j */
    return j * step + i < left && i < columns && (j || i >= skip);
  }
  __device__ __forceinline__ bool is_full(int j) const { return has(j, W - 1) && (j || !skip); }
  __device__ __forceinline__ bool all(int n) const { return is_full(n - 1) && !skip; }
  __device__ __forceinline__ int of(int j) const { return max(min(left - j * step, columns), 0); }
};
/* Rows start anywhere, vectors at multiples of their size: a row's first vector begins so many
   elements before it. That turns the lanes round, each is one of a thread's still, and as lane i
   meets i + 128, then i + 64, ... of the lanes in a circle, halving makes the same bits. */
template <int W> GT__DEV int gt__shift(const char *row, const gt__stride &m, int size_log2) {
  return m.next >> size_log2 == 1 ? (unsigned)(uintptr_t)row >> size_log2 & (W - 1) : 0;
}
/* Are the vectors of elements S side by side, and begin where the widest instructions may? */
template <int W, class S> GT__DEV bool gt__has_lines(const char *from, const gt__stride &m) {
  return m.next == sizeof(S) && ((int)(uintptr_t)from | (int)m.hop) % (W * (int)sizeof(S)) == 0;
}
/* The next vectors from memory, what there is of them; else `none`. */
template <int W, class S, int E>
GT__DEV void gt__load_stream(const char *from, const gt__stride &m, bool lines,
                             const gt__extent<W> &x, S none, S (&e)[E]) {
  constexpr int U = E / W;
  S (*y)[W] = (S (*)[W])e;
  if (lines && x.all(U)) {
    #pragma unroll
    for (int j = 0; j < U; j++) gt__load_line(from + j * m.hop, y[j]);
  } else {
    #pragma unroll
    for (int j = 0; j < U; j++)
      if (lines && x.is_full(j)) gt__load_line(from + j * m.hop, y[j]);
      else
        #pragma unroll
        for (int i = 0; i < W; i++)
          y[j][i] = x.has(j, i) ? *(const S *)(from + j * m.hop + i * m.next) : none;
  }
}
/* The next vectors of a program's operands in slots, and what it makes of them. HEAVY: see gt__run;
   if 0 there are no calls, which would take the registers that hold lanes to memory and back. */
template <class T, int HEAVY, int W, int E>
GT__DEV void gt__run_stream(const gt__reduce_args &p, const gt__cut &w, const gt__slots &s,
                            int64_t o, int64_t k, int hop, const gt__extent<W> &x, T (&e)[E]) {
  constexpr int U = E / W;
  const auto batch = [&](int j) {        /* vectors j and j + 1 */
    return gt__batch{p.n, o, k, 0, j * hop, 0, hop, p.n_kept, {x.of(j), x.of(j + 1)}, !p.inner,
                     w.simple || p.pre.size[(p.inner ? p.pre.ndim : p.n_kept) - 1] % W == 0};
  };
  #pragma unroll 1
  for (int slot = 0; slot < p.pre.program.n_in; slot++) {
    const gt__stride &m = w.in[slot];
    const auto load = [&](auto tag) {
      typedef decltype(tag) S;
      S u[E];
      const char *from = p.pre.in[slot].data + (o * m.wide + k * m.deep);
      if (sizeof(S) == sizeof(T) && gt__has_lines<W, S>(from, m) && x.all(U))
        return gt__copy_vectors<U, 16>(s, slot, from, m.hop, (1 << U) - 1);
      gt__load_stream(from, m, gt__has_lines<W, S>(from, m), x, S(), u);
      gt__cast_all(e, u);
      gt__put(s, slot, e);
    };
    if (w.simple && gt__if_usual<T>(p.pre.in[slot].dtype, load)) continue;
    #pragma unroll 1
    for (int j = 0; HEAVY && j < U; j += 2) /* to where a slot of two vectors would be */
      gt__move_slot<T, false>(p.pre, slot, batch(j),
                              {gt__at<U>(s, slot, j) - 2 * slot * (int)s.pitch, s.pitch});
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  gt__run<T, HEAVY>(p.pre.program, s, [&] { return batch(0); }, e);
}

/* Folds the second half of N values to the first, and so on until TO are left. */
template <int FOLD, int N, int TO, class T> GT__DEV void gt__halve(T *x) {
  #pragma unroll
  for (int c = N / 2; c >= TO; c /= 2)
    #pragma unroll
    for (int i = 0; i < c; i++) x[i] = gt__fold_two<FOLD>(x[i], x[i + c]);
}
/* The lanes of a thread; W of them, of any elements, where the order does not count. */
template <int FOLD, int W> constexpr int gt__lanes = gt__in_order<FOLD> ? 8 : W;
/* Folds a thread's elements, turned, to its lanes, vectors being `hop` elements apart. SHORT, in
   order: the lanes of a row are halved until 8 are left. */
template <int FOLD, int W, class T, class S, int N>
GT__DEV void gt__take_all(int way, gt__part<T, int> (&r)[8], const S (&e)[N], int k, int hop,
                          T by) {
  const auto of = [&](int i) {
    const T x = gt__cast<T, S>::of(e[i]);
    return gt__in_order<FOLD> ? x : gt__folds<T>::turn(x, by);
  };
  if (way == GT__DOWN) {
    GT__EACH gt__take<FOLD>(r[i % W], of(i), k + i / W * hop);
  } else if (way == GT__SHORT && gt__in_order<FOLD>) {
    #pragma unroll
    for (int i = 0; i < 8; i++) {
      T x[N / 8];
      #pragma unroll
      for (int c = 0; c < N / 8; c++) x[c] = of(i + 8 * c);
      if (N == 64 && hop == 2 * 64) {    /* every other one is of the same lane */
        #pragma unroll
        for (int c = 2; c < N / 8; c++) x[c % 2] = gt__fold_two<FOLD>(x[c % 2], x[c]);
        x[0] = gt__fold_two<FOLD>(x[0], x[N / 8 > 1]);
      } else {
        gt__halve<FOLD, N / 8, 1>(x);
      }
      gt__take<FOLD>(r[i], x[0], 0);
    }
  } else {
    GT__EACH gt__take<FOLD>(r[i % gt__lanes<FOLD, W>], of(i), k + i / W * hop);
  }
}
/* Halves the lanes of a team: r[i] of thread t is lane i/W * team*W + t*W + i%W. In order, the W
   neighbours of a thread come last. All threads have the result in r[0]. */
template <int FOLD, int W, class T>
GT__DEV void gt__fold_team(gt__part<T, int> (&r)[8], int team) {
  constexpr int N = gt__lanes<FOLD, W>, C = gt__in_order<FOLD> ? W : 1;
  constexpr int VALUE = FOLD == GT__FOLD_ARGMAX ? GT__FOLD_MAX : FOLD;
  T x[N];
  GT__EACH x[i] = r[i].value;
  gt__halve<VALUE, N, C>(x);
  #pragma unroll 1
  for (int m = team / 2; m > 0; m /= 2)
    #pragma unroll
    for (int i = 0; i < C; i++) x[i] = gt__fold_two<VALUE>(x[i], __shfl_xor_sync(~0u, x[i], m));
  gt__halve<VALUE, C, 1>(x);
  if (FOLD == GT__FOLD_ARGMAX) {         /* the first place of the maximum, or of a NaN */
    int first = INT32_MAX;
    GT__EACH if (r[i].value == x[0] || r[i].value != r[i].value) first = min(first, r[i].index);
    #pragma unroll 1
    for (int m = team / 2; m > 0; m /= 2) first = min(first, __shfl_xor_sync(~0u, first, m));
    r[0].index = first;
  }
  r[0].value = x[0];
}
/* Results of chunks, [chunk][output], in a block's shared memory; those of groups in scratch,
   [group][output]. Without indices unless they count. */
template <class T> struct gt__board {
  T *value;
  int64_t *index;
  __device__ __forceinline__ gt__board(void *at, int64_t bytes, bool arg)
      : value((T *)at), index(arg ? (int64_t *)((char *)at + bytes) : NULL) {}
  __device__ __forceinline__ void put(int64_t at, const gt__part<T, int64_t> &r) const {
    value[at] = r.value;
    if (index) index[at] = r.index;
  }
  __device__ __forceinline__ gt__part<T, int64_t> get(int64_t at) const {
    return gt__part<T, int64_t>{value[at], index ? index[at] : 0};
  }
};
/* The end of output o: turn back, finish, convert, store. */
template <class T>
GT__DEV void gt__finish(const gt__reduce_args &p, int64_t o, const gt__part<T, int64_t> &r) {
  char *to = p.out.data + (gt__locate(p.pre, o, 0, p.n_kept, p.out.stride) << p.out.size_log2);
  T value = gt__turned(p.fold, r.value);
  if (p.finish & GT__DIVIDE) value = gt__apply<GT__OP_div>(value, gt__constant<T>(p.divisor));
  if (p.finish & GT__ROOT) value = gt__apply<GT__OP_sqrt>(value, value);
  if (gt__base_fold(p.fold) == GT__FOLD_ARGMAX) gt__store_one<int64_t>(to, p.out.dtype, r.index);
  else gt__store_one<T>(to, p.out.dtype, value);
}
/* The pairwise tree over n results on a board, of each of `outs` outputs from `first` on; then they
   are finished, or those of one of several groups left in scratch. */
template <class T>
GT__DEV void gt__leave(const gt__reduce_args &p, int fold, const gt__board<T> &board, int outs,
                       int n, int64_t first, int64_t group, unsigned groups) {
  const gt__board<T> scratch(p.pre.scratch, 8 * p.outer * p.n_chunk, board.index != NULL);
  for (int d = 1; d < n; d *= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < (n / (2 * d) + 1) * outs; i += blockDim.x) {
      const int pair = (unsigned)i / (unsigned)outs, at = i + (2 * d - 1) * pair * outs;
      if (pair * 2 * d + d >= n) break;
      gt__part<T, int64_t> a = board.get(at), b = board.get(at + d * outs);
      gt__by_fold<GT__COMBINE>(
          fold, [&](auto tag) { gt__take<decltype(tag)::value>(a, b.value, b.index); });
      board.put(at, a);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < outs && first + i < p.outer; i += blockDim.x)
    if (groups == 1) gt__finish<T>(p, first + i, board.get(i));
    else scratch.put(group * p.outer + first + i, board.get(i));
}

enum { GT__FEW = 4 };                    /* vectors, for room for 16 slots */
template <class T, class S, int SOURCE>
__global__ void __launch_bounds__(256, SOURCE == GT__DIRECT || SOURCE == GT__DIRECT_ARG ? 3 : 2)
gt__reduce_kernel(const __grid_constant__ gt__reduce_args p, const __grid_constant__ gt__cut w) {
  constexpr bool DIRECT = SOURCE < GT__LIGHT;
  constexpr int W = gt__lot<S>, U = SOURCE == GT__TINY ? 8 / W : SOURCE == GT__ANYHOW ? GT__FEW : 8;
  constexpr int N = U * W;
  const bool down = w.way == GT__DOWN, arg = SOURCE != GT__DIRECT && w.fold == GT__FOLD_ARGMAX;
  const gt__operand &x = p.pre.in[0];
  const int t = threadIdx.x & ((1 << w.team_log2) - 1), chunks = 1 << w.chunks_log2;
  const int hop = down ? 1 : W << w.team_log2;
  const unsigned block = blockIdx.x / w.groups, group = blockIdx.x - block * w.groups;
  const unsigned first = group << w.chunks_log2;
  const int64_t o0 = (int64_t)block * w.outs;
  const int here = (int)min((int64_t)w.outs, p.outer - o0);
  const T none = gt__folds<T>::identity(p.fold), identity = gt__turned(p.fold, none);
  const gt__board<T> board(gt__shared, sizeof(T) * w.results, arg);
  gt__slots s = gt__my_slots();
  s.mine += (sizeof(T) + (arg ? 8 : 0)) * w.results;
  gt__await_kernel_before();
  if (!DIRECT) gt__fill_constants<T, N>(p.pre.program, s);
  #pragma unroll 1
  for (int turn = threadIdx.x >> w.team_log2; turn < chunks * (down ? 1 : w.outs);
       turn += blockDim.x >> w.team_log2) {
    const int chunk = turn & (chunks - 1), row = turn >> w.chunks_log2, c = down ? t * W : row;
    const int64_t begin = (int64_t)(first + chunk) * p.chunk, most = p.n - begin, o = o0 + c;
    const int size = most < 0 ? 0 : most < p.chunk ? (int)most : (int)p.chunk;
    const char *line = x.data;
    if (DIRECT) line += gt__locate(p.pre, o, 0, p.n_kept, x.stride) << x.size_log2;
    const int shift = DIRECT && SOURCE != GT__TINY && !down
                          ? gt__shift<W>(line, w.in[0], x.size_log2) : 0;
    const int64_t k0 = begin + (down ? 0 : t * W - shift);
    line += k0 * w.in[0].deep;
    const bool lines = gt__has_lines<W, S>(line, w.in[0]);
    gt__extent<W> left = {down ? here > c ? size * W : 0 : row < here ? size + shift - t * W : 0,
                          down ? W : hop, down && here - c < W ? here - c : W, t ? 0 : shift};
    gt__part<T, int> r[8];
    #pragma unroll
    for (int j = 0; j < 8; j++) r[j] = {identity, down ? 0 : j / W * hop};
    #pragma unroll 1
    for (int k = 0; left.left > 0; k += U * hop, left.pass(U)) {
      S e[N];
      if constexpr (DIRECT) {
        gt__load_stream(line + k * w.in[0].deep, w.in[0], lines, left, gt__cast<S, T>::of(none), e);
      } else {
        constexpr int HEAVY = SOURCE == GT__LIGHT ? 0 : W == 4 ? 4 : 1;
        gt__run_stream<T, HEAVY>(p, w, s, o, k0 + k, hop, left, e);
        if (!left.all(U) || p.fold >= GT__FOLD_ANY)
          GT__EACH e[i] = gt__truth(p.fold, left.has(i / W, i % W) ? e[i] : none);
      }
      gt__by_fold<SOURCE>(w.fold, [&](auto fold) {
        gt__take_all<decltype(fold)::value, W>(w.way, r, e, k, hop, gt__turn_of<T>(p.fold));
      });
    }
    if (!down)
      gt__by_fold<SOURCE>(w.fold, [&](auto fold) {
        #pragma unroll
        for (int j = 0; j < 8; j++) r[j].index += t * W + j % W;
        gt__fold_team<decltype(fold)::value, W>(r, 1 << w.team_log2);
      });
    #pragma unroll
    for (int j = 0; j < W; j++)
      if (down || (t == 0 && j == 0))
        board.put(chunk * w.outs + c + j, {r[j].value, begin + max(r[j].index - shift, 0)});
  }
  gt__release_next_kernel();
  gt__leave(p, w.fold, board, w.outs, (int)min((int64_t)chunks, p.n_chunk - first), o0, group,
            w.groups);
}

/* The rest of the tree: a block joins the groups of `outs` outputs, `leaves` at a time, and leaves
   what they make in place of groups that it is done with, until there is one. */
template <class T> __global__ void __launch_bounds__(512)
gt__combine_kernel(const __grid_constant__ gt__reduce_args p, int fold, int groups, int outs,
                   int leaves) {
  const bool arg = fold == GT__FOLD_ARGMAX;
  const gt__board<T> board(gt__shared, sizeof(T) * leaves * outs, arg);
  const gt__board<T> scratch(p.pre.scratch, 8 * p.outer * p.n_chunk, arg);
  const int64_t first = (int64_t)blockIdx.x * outs;
  gt__await_kernel_before();
  for (int pieces = 0; pieces != 1; groups = pieces) {
    pieces = (groups - 1) / leaves + 1;
    for (int piece = 0; piece < pieces; piece++) {
      const int begin = piece * leaves, n = min(groups - begin, leaves);
      __syncthreads();
      for (int i = threadIdx.x; i < n * outs; i += 4 * blockDim.x) {
        gt__part<T, int64_t> r[4];       /* loaded together */
        #pragma unroll
        for (int j = 0; j < 8; j++) {
          const int wide = i + j % 4 * blockDim.x, at = min(wide, n * outs - 1);
          const int64_t o = min(first + at % outs, p.outer - 1);
          if (j < 4) r[j] = scratch.get((begin + at / outs) * p.outer + o);
          else if (wide == at) board.put(at, r[j % 4]);
        }
      }
      gt__release_next_kernel();
      gt__leave(p, fold, board, outs, n, first, piece, pieces);
    }
  }
}

/* Softmax and its kind: a row in registers, read once, with one exp an element. A team of threads
   has a row; where one warp is not enough, a block has it, and as the lanes of THE PLAN are folded
   in order, the warps of a chunk take turns at adding. */
template <class T> __global__ void __launch_bounds__(4096 / sizeof(T))
gt__soft_kernel(const __grid_constant__ gt__reduce_args p, const __grid_constant__ gt__cut w,
                const __grid_constant__ gt__stride result) {
  constexpr int W = gt__lot<T>, N = 32, U = N / W, ROW = 32 * N, PARTS = GT__CHUNK / ROW;
  __shared__ T lane[GT__SOFT_BYTES / sizeof(T) / GT__CHUNK][GT__LANES], joined[32];
  const bool shared = w.outs == 1;       /* one row by the block */
  const int team = 1 << w.team_log2, t = threadIdx.x & (team - 1);
  const int warp = threadIdx.x / 32, chunk = warp / PARTS;
  const gt__operand &in = p.pre.in[0], &out = p.pre.out;
  const int64_t o = (int64_t)blockIdx.x * w.outs + (shared ? 0 : threadIdx.x >> w.team_log2);
  const auto row = [&](const gt__operand &x) {
    return x.data + (gt__locate(p.pre, o, 0, p.n_kept, x.stride) << x.size_log2);
  };
  const int shift = p.n + W > GT__CHUNK ? 0 : gt__shift<W>(row(in), w.in[0], in.size_log2);
  const int k = (shared ? warp * ROW : 0) + t * W, left = o < p.outer ? (int)p.n + shift - k : 0;
  const gt__extent<W> x = {left, W << w.team_log2, W, k ? 0 : shift};
  const auto across = [&](auto fold, T x, int at, int n) { /* the tree over n values of warps */
    __syncthreads();
    joined[at] = x;
    __syncthreads();
    x = joined[t];
    for (int d = 1; d < n; d *= 2) {
      const T next = __shfl_down_sync(~0u, x, d);
      if (t + d < n) x = gt__fold_two<decltype(fold)::value>(x, next);
    }
    return __shfl_sync(~0u, x, 0);
  };
  uint32_t least = ~0u;
  T e[N], most, log_s = 0;
  gt__after_kernel_before();
  #pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    const char *from = row(in) + (k - shift) * w.in[0].deep;
    if (!gt__if_usual<T>(in.dtype, [&](auto tag) {
      decltype(tag) y[N];
      gt__load_stream(from, w.in[0], gt__has_lines<W, decltype(tag)>(from, w.in[0]), x,
                      gt__cast<decltype(tag), T>::of(gt__folds<T>::identity(GT__FOLD_MAX)), y);
      gt__cast_all(e, y);
    })) __builtin_unreachable();
    if (pass) break;
    most = e[0];
    GT__EACH most = gt__fold_two<GT__FOLD_MAX>(most, e[i]);
    #pragma unroll 1
    for (int m = team / 2; m > 0; m /= 2)
      most = gt__fold_two<GT__FOLD_MAX>(most, __shfl_xor_sync(~0u, most, m));
    if (shared) most = across(gt__fold_tag<GT__FOLD_MAX>(), most, warp, blockDim.x / 32);
    if (p.soft == GT__LOGSUMEXP && isinf((double)most)) most = 0;
    const auto pad = [&](T with) { /* what does not exist takes no difficult path */
      if (!x.all(U)) GT__EACH e[i] = x.has(i / W, i % W) ? e[i] : with;
    };
    pad(most);
    GT__EACH e[i] = GT__SUB(e[i], most);
    gt__apply_all<GT__OP_exp>(e, e, e);
    pad(0);
    GT__EACH least = min(least, __float_as_uint((float)e[i]) - 1); /* of those that are not 0 */
    gt__part<T, int> r[8] = {};
    #pragma unroll 1
    for (int turn = 0; turn <= (shared ? PARTS : 0); turn++) {
      const bool mine = !shared || turn == warp % PARTS;
      #pragma unroll
      for (int i = 0; i < 8; i++)
        if (turn && (mine || turn == PARTS)) r[i].value = lane[chunk][i * 32 + t];
      if (mine) gt__take_all<GT__FOLD_SUM, W>(w.way, r, e, 0, 0, (T)0);
      if (!shared) break;
      #pragma unroll
      for (int i = 0; i < 8; i++)
        if (mine) lane[chunk][i * 32 + t] = r[i].value;
      __syncthreads();
    }
    gt__fold_team<GT__FOLD_SUM, W>(r, team);
    T sum = r[0].value;
    if (shared) sum = across(gt__fold_tag<GT__FOLD_SUM>(), sum, chunk, (int)p.n_chunk);
    if (p.soft == GT__SOFTMAX) {
      const T once = GT__DIV((T)1, sum);
      if (sizeof(T) == 8 || least < 35u << 23)   /* 2^-92: remainders may be subnormal */
        GT__EACH e[i] = GT__DIV(e[i], sum);
      else
        GT__EACH {                               /* corrected once, as all hard cases allow */
          const T q = GT__MUL(e[i], once), rest = gt__formula<GT__OP_fma, T>::of(-q, sum, e[i]);
          e[i] = gt__formula<GT__OP_fma, T>::of(rest, once, q);
        }
    } else {
      log_s = gt__apply<GT__OP_log>(sum, sum);
    }
    if (p.soft != GT__LOG_SOFTMAX) break;
  }
  if (p.soft == GT__LOG_SOFTMAX) GT__EACH e[i] = GT__SUB(GT__SUB(e[i], most), log_s);
  char *to = row(out) + (k - shift) * result.deep;
  if (p.soft == GT__LOGSUMEXP) {
    if (k == 0 && o < p.outer) gt__finish<T>(p, o, {GT__ADD(log_s, most), 0});
    return;
  }
  gt__if_usual<T>(out.dtype, [&](auto tag) {
    typedef decltype(tag) S;
    const bool lines = gt__has_lines<W, S>(to, result);
    #pragma unroll
    for (int j = 0; j < U; j++) {
      char *at = to + j * result.hop;
      S y[W];
      gt__cast_all(y, e + j * W);
      if (lines && x.is_full(j)) gt__store_line(at, y);
      else
        #pragma unroll
        for (int i = 0; i < W; i++)
          if (x.has(j, i)) *(S *)(at + i * result.next) = y[i];
    }
  });
}

/* ---- >>copy ------------------------------------------------------------------------------------
   Elements of one size, whatever they mean, where an index picks along a dim of the source; other
   copies are maps. A thread takes elements a grid apart; its coordinates come from divisions. */
template <class S> __global__ void __launch_bounds__(256)
gt__copy_kernel(const __grid_constant__ gt__copy_args p) {
  const uint64_t stride = (uint64_t)gridDim.x * blockDim.x, count = p.count;
  gt__after_kernel_before();
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    uint64_t left = i;
    int64_t to = 0, from = 0;
    bool inside = true;
    #pragma unroll 1
    for (int d = p.ndim - 1; d >= 0; d--) {
      const uint64_t n = p.size[d], q = d ? left / n : 0;
      int64_t r = left - q * n;
      left = q;
      to += r * p.dst.stride[d];
      if (d == p.gather_dim) {
        const int64_t at = r * p.index.stride[0];
        r = p.index.dtype == GT_INT32 ? ((const int32_t *)p.index.data)[at]
                                      : ((const int64_t *)p.index.data)[at];
        inside = r >= 0 && r < p.gather_size;
      }
      from += r * p.src.stride[d];
    }
    ((S *)p.dst.data)[to] = inside ? ((const S *)p.src.data)[from] : S();
    if (inside || !p.fault) continue;
    *(volatile int32_t *)p.fault = 1;    /* all who write it write the same */
    __threadfence_system();              /* the word is the host's */
  }
}

/* ---- >>matmul ----------------------------------------------------------------------------------
   The general kernel. A block makes a tile of C, STEP of K at a time, from a ring of STAGES sets of
   pieces of A and B in shared memory: copies are on their way while earlier steps are computed, and
   a step costs one barrier. A warp makes HIGH x WIDE of it from fragments in registers: while DEEP
   of K are multiplied, the next are read. GT__FMA is for any type, GT__DMMA for float64 on sm_90,
   GT__MMA for 16-bit floats on sm_80, added in float32. Pieces are copied by single values, of any
   strides, or by 16 bytes; what does not lie so, or is of another dtype, is brought to scratch
   before, which costs 1 % of the time at 4096 x 4096 x 4096. Where tiles are few, several blocks
   have a part of K each. The sums run over K in order, and over the parts: ever the same.
   H200, November 2026, beside cuBLAS: float32 48 TFLOP/s, .95; float64 53, .89; bfloat16 365, .47,
   since from sm_90 on full speed needs the instructions of >>hopper; one row at 4 TB/s, 1.0. */
#ifdef GPUTENSOR_NO_TENSOR_CORES
enum { GT__CORES = 0 };
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
enum { GT__CORES = 91 };                 /* those for 16 bits are left to >>hopper */
#elif defined(__CUDA_ARCH__)
enum { GT__CORES = __CUDA_ARCH__ / 10 }; /* the architecture whose tensor cores are used */
#else
enum { GT__CORES = INT_MAX };            /* on the host: see gt__can_run */
#endif
enum { GT__NONE, GT__FMA, GT__DMMA, GT__MMA };
template <> struct gt__native<gt__half> { static constexpr int DTYPE = GT_FLOAT16; };
template <> struct gt__native<gt__bfloat> { static constexpr int DTYPE = GT_BFLOAT16; };

/* One operand's piece, TILE of M or N times STEP of K, in lines along M or N, PITCH apart, or along
   K, ALONG apart, if it is so in memory and the engine turns it. LOT values are copied at once. */
template <class T_, int TILE_, int STEP_, int THREADS_, int LOT_> struct gt__side {
  typedef T_ T;
  static constexpr int TILE = TILE_, STEP = STEP_, THREADS = THREADS_, LOT = LOT_;
  static constexpr int PAD = sizeof(T) == 2 ? 8 : 4;     /* lines begin in different banks */
  static constexpr int PITCH = TILE + PAD, ALONG = STEP + PAD, VALUES = TILE * STEP / THREADS;
  static constexpr int PIECE = LOT > 1 ? TILE * ALONG : STEP * PITCH;
};
/* A tile, for DOWN x ACROSS warps. T is what they multiply, S what they add. LOT: of A, of B. */
template <class T_, class S_, int M_, int N_, int STEP_, int DOWN, int ACROSS, int STAGES_,
          int LOT_A, int LOT_B>
struct gt__tile {
  typedef T_ T;
  typedef S_ S;
  static constexpr int M = M_, N = N_, STEP = STEP_, STAGES = STAGES_;
  static constexpr int THREADS = 32 * DOWN * ACROSS, HIGH = M / DOWN, WIDE = N / ACROSS;
  static constexpr int PARTS = HIGH < 16 ? 1 : HIGH / 16, SUMS = HIGH * WIDE / 32;
  static constexpr int EACH = SUMS / PARTS;
  static constexpr int ENGINE =
      sizeof(T) == 2 ? (GT__CORES >= 80 && GT__CORES != 91 ? GT__MMA : GT__NONE)
                     : GT__CORES >= 90 && gt__native<T>::DTYPE == GT_FLOAT64 ? GT__DMMA : GT__FMA;
  /* what is turned: 1 for A, 2 for B, which GT__FMA does for strips only */
  static constexpr int TURNS = ENGINE == GT__FMA ? (LOT_B > LOT_A) << 1
                                                 : (LOT_A > 1) | (LOT_B > 1) << 1;
  typedef gt__side<T, M, STEP, THREADS, LOT_A> A;
  typedef gt__side<T, N, STEP, THREADS, LOT_B> B;
  static_assert(A::VALUES >= LOT_A && B::VALUES >= LOT_B, "all threads copy");
  static constexpr int SET = A::PIECE + B::PIECE, BYTES = STAGES * SET * (int)sizeof(T);
  GT__DEV int row() { return threadIdx.x / 32 / ACROSS * HIGH; }         /* the warp's first */
  GT__DEV int column() { return threadIdx.x / 32 % ACROSS * WIDE; }
};
template <class T> using gt__small = gt__tile<T, T, 64, 64, 64 / sizeof(T), 2, 2, 3, 1, 1>;
typedef gt__tile<float, float, 128, 256, 16, 2, 4, 3, 4, 4> gt__large_float;
typedef gt__tile<double, double, 128, 64, 16, 2, 2, 3, 2, 2> gt__large_double;
template <class T> using gt__large_16 = gt__tile<T, float, 128, 256, 64, 2, 4, 3, 8, 8>;
template <class T> using gt__lean_16 = gt__tile<T, float, 128, 256, 32, 2, 4, 3, 8, 8>;  /* 90 KB */
typedef gt__tile<float, float, 4, 128, 32, 1, 4, 4, 1, 4> gt__strip_4;
typedef gt__tile<float, float, 16, 128, 32, 1, 4, 4, 1, 4> gt__strip_16;
typedef gt__tile<float, float, 64, 64, 32, 2, 2, 5, 1, 4> gt__strip_64;

/* What a thread copies of an operand's piece. Its lines are those in memory, along M or N, or along
   K if that is faster: neighbouring threads read neighbours, coalesced either way. */
template <class P> struct gt__piece {
  const typename P::T *at;               /* its first lot */
  int64_t hop, step;                     /* to its next lot and to the next step */
  int line, place, more;                 /* of its first lot; lines to its next one */
  int wide_left;                         /* what there is of TILE */
  bool along;                            /* lines are along K */
};
static __host__ __device__ __forceinline__ bool gt__is_along(int64_t deep, int64_t wide) {
  return (deep < 0 ? -deep : deep) < (wide < 0 ? -wide : wide);
}
/* From `from` of the `wide` along M or N, and from k; x is the operand of p with these strides. */
template <class P>
GT__DEV gt__piece<P> gt__make_piece(const gt__matmul_args &p, const gt__operand &x, int64_t batch,
                                    int64_t wide_stride, int64_t deep_stride, int64_t wide,
                                    int64_t from, int64_t k) {
  gt__piece<P> q;
  q.along = gt__is_along(deep_stride, wide_stride);
  const int lots = (q.along ? P::STEP : P::TILE) / P::LOT;     /* of a line */
  q.line = threadIdx.x / lots;
  q.place = threadIdx.x % lots * P::LOT;
  q.more = P::THREADS / lots;
  q.wide_left = wide - from < P::TILE ? (int)(wide - from) : P::TILE;
  q.hop = q.along ? wide_stride : deep_stride;
  q.at = (const typename P::T *)x.data + gt__offset(batch, p.n_batch, p.post.size, x.stride) +
         k * deep_stride + from * wide_stride + q.line * q.hop +
         q.place * (q.along ? deep_stride : wide_stride);
  q.hop *= q.more;
  q.step = P::STEP * deep_stride;
  return q;
}
/* Brings the thread's lots of a step, of which `left` of K are in the matrix, to shared memory. */
template <class T, class P> GT__DEV void gt__fetch(gt__piece<P> &p, int64_t left_of_k, T *to) {
  const int left = left_of_k < P::STEP ? (int)left_of_k : P::STEP;
  const bool turned = p.along && P::LOT == 1;            /* lines are along M or N there */
  const int line_hop = turned ? 1 : p.along ? P::ALONG : P::PITCH, hop = p.more * line_hop;
  const int run = (p.along ? left : p.wide_left) - p.place;
  const int most = run <= 0 ? 0 : run < P::LOT ? run : P::LOT;
  const auto there = [&](int i) {        /* how many values of lot i are in the matrix */
    const int line = p.line + i * p.more;
    return (p.along ? line < p.wide_left : line < left) ? most : 0;
  };
  const T *at = p.at;
  to += p.line * line_hop + p.place * (turned ? P::PITCH : 1);
  #pragma unroll
  for (int i = 0; i < P::VALUES / P::LOT; i++, at += p.hop, to += hop) {
#if __CUDA_ARCH__ >= 800                 /* zeros where there are none; nobody waits for it */
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;"
                 ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(at),
                 "n"(P::LOT * sizeof(T)), "r"(there(i) * (int)sizeof(T)) : "memory");
#else
    for (int j = 0; j < P::LOT; j++) to[j] = j < there(i) ? at[j] : T();
#endif
  }
  p.at += p.step;
}

/* -- the engines -- x: fragments of A, for HIGH rows; y: of B, for WIDE columns. TURN: lines of the
   piece, of A or B, lie along K. row and column: of a thread's sum i in 16 rows. */
template <class P, int ENGINE, int TURN> struct gt__fragments {
  typedef typename P::T T;               /* lanes: 4 x 8, each with 4 x 4 and more; or 1 x 32 */
  static constexpr int DEEP = P::TURNS ? 4 : 1, LANES = P::HIGH < 16 ? 32 : 8;
  static constexpr int Y = P::WIDE / LANES, RUN = Y < 4 ? Y : 4, LINE = TURN ? DEEP : RUN;
  T x[DEEP][P::PARTS][4], y[DEEP * Y / LINE][LINE];
  GT__DEV int row(int i) { return threadIdx.x % 32 / LANES * 4 + i / Y; }
  GT__DEV int column(int i) {
    return TURN ? threadIdx.x % LANES + i % Y * LANES
                : (i % Y / RUN * LANES + threadIdx.x % LANES) * RUN + i % RUN;
  }
  __device__ __forceinline__ void read(const T *a, const T *b, int q, int part) {
    a += q * P::A::PITCH + P::row() + row(0) + part * 16;
    #pragma unroll
    for (int d = 0; d < DEEP; d++) gt__load_line((const char *)(a + d * P::A::PITCH), x[d][part]);
    #pragma unroll
    for (int i = part * RUN; i < Y; i += P::PARTS * RUN)
      #pragma unroll
      for (int d = 0; d < (TURN ? RUN : DEEP); d++) {
        const int n = P::column() + column(TURN ? i + d : i);
        const T *at = b + (TURN ? n * P::B::ALONG + q : (q + d) * P::B::PITCH + n);
        gt__load_line((const char *)at, y[TURN ? i + d : (d * Y + i) / RUN]);
      }
  }
  __device__ __forceinline__ void multiply(T *sum, int part) const {
    #pragma unroll
    for (int d = 0; d < DEEP; d++)
      #pragma unroll
      for (int i = 0; i < P::EACH; i++)
        sum[i] = gt__formula<GT__OP_fma, T>::of(
            x[d][part][i / Y], y[TURN ? i % Y : (d * Y + i % Y) / RUN][TURN ? d : i % RUN], sum[i]);
  }
};
/* Where the tensor cores of either kind leave a lane's sums: 2 x 2 of each 16 x 8; and the steps of
   the pieces of A and B, from M or N to the next and from k to the next. */
template <class P, int TURN> struct gt__lane {
  static constexpr int AW = TURN & 1 ? P::A::ALONG : 1, AD = TURN & 1 ? 1 : P::A::PITCH;
  static constexpr int BW = TURN & 2 ? P::B::ALONG : 1, BD = TURN & 2 ? 1 : P::B::PITCH;
  GT__DEV int row(int i) { return threadIdx.x % 32 / 4 + i / 2 % 2 * 8; }
  GT__DEV int column(int i) { return i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }
};
template <class P, int TURN> struct gt__fragments<P, GT__DMMA, TURN> : gt__lane<P, TURN> {
  typedef gt__lane<P, TURN> L;
  static constexpr int DEEP = 4, N = P::WIDE / 8;
  double x[P::HIGH / 8], y[N];           /* a lane has one of each 8 x 4 */
  __device__ __forceinline__ void read(const double *a, const double *b, int q, int part) {
    const int wide = threadIdx.x % 32 / 4, deep = q + threadIdx.x % 4;
    a += (P::row() + wide) * L::AW + deep * L::AD;
    b += (P::column() + wide) * L::BW + deep * L::BD;
    for (int i = 2 * part; i < 2 * part + 2; i++) x[i] = a[8 * i * L::AW];
    #pragma unroll
    for (int i = part; i < N; i += P::PARTS) y[i] = b[8 * i * L::BW];
  }
  __device__ __forceinline__ void multiply(double *sum, int part) const {
    GT__EACH {
      double *d = sum + 4 * i;
      asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
          "{%0, %1, %2, %3};" : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
          : "d"(x[part * 2]), "d"(x[part * 2 + 1]), "d"(y[i]));
    }
  }
};
#define GT__MMA_16(type, d, x, y) \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, " \
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3]) \
      : "r"((x)[0]), "r"((x)[1]), "r"((x)[2]), "r"((x)[3]), "r"((y)[0]), "r"((y)[1]))
/* A read brings 16 x 16 values, of which a register has two of each 8 x 8: of A the first, 8 down,
   8 on along K, both; of B the middle ones change places, since an instruction takes neighbours. */
template <class P, int TURN> struct gt__fragments<P, GT__MMA, TURN> : gt__lane<P, TURN> {
  typedef gt__lane<P, TURN> L;
  typedef typename P::T T;
  static constexpr int DEEP = 16, N = P::WIDE / 8;
  uint32_t x[P::HIGH / 16][4], y[P::WIDE / 16][4];
  template <bool ALONG> GT__DEV void get(const T *at, uint32_t *x) {
    const uint32_t address = (uint32_t)__cvta_generic_to_shared(at);
    if (ALONG)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(address) : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(address) : "memory");
  }
  __device__ __forceinline__ void read(const T *a, const T *b, int q, int part) {
    const int low = threadIdx.x % 8, near = threadIdx.x & 8, far = threadIdx.x / 2 & 8;
    a += (P::row() + near) * L::AW + (q + far) * L::AD + low * (L::AW > 1 ? L::AW : L::AD);
    b += (P::column() + far) * L::BW + (q + near) * L::BD + low * (L::BW > 1 ? L::BW : L::BD);
    get<(TURN & 1) != 0>(a + part * 16 * L::AW, x[part]);
    #pragma unroll
    for (int i = part; i < P::WIDE / 16; i += P::PARTS)
      get<(TURN & 2) != 0>(b + i * 16 * L::BW, y[i]);
  }
  __device__ __forceinline__ void multiply(float *sum, int part) const {
    GT__EACH {
      const uint32_t *pair = y[i / 2] + i % 2 * 2;
      if (gt__native<T>::DTYPE == GT_FLOAT16) GT__MMA_16("f16", sum + 4 * i, x[part], pair);
      else GT__MMA_16("bf16", sum + 4 * i, x[part], pair);
    }
  }
};
#undef GT__MMA_16

template <class P, int TURN>
GT__DEV void gt__multiply(gt__piece<typename P::A> a, gt__piece<typename P::B> b, int64_t k,
                          typename P::S (&sum)[P::SUMS]) {
  typedef gt__fragments<P, P::ENGINE, TURN> F;
  static_assert(P::STEP / F::DEEP % 2 == 0, "fragments take turns within a step");
  constexpr int ROOM = P::STAGES * P::SET;
  typename P::T *const sets = (typename P::T *)gt__shared;
  int64_t left = k;                      /* of K: not yet fetched */
  F f[2];
  const auto fetch = [&](int to) {
    if (left > 0) gt__fetch(a, left, sets + to);
    if (left > 0) gt__fetch(b, left, sets + to + P::A::PIECE);
    __pipeline_commit();
    left -= P::STEP;
  };
  if (P::A::LOT > 1) a.along = TURN & 1; /* for the compiler to see */
  if (P::B::LOT > 1) b.along = TURN >> 1;
  #pragma unroll 1
  for (int to = 0; to < ROOM - P::SET; to += P::SET) fetch(to);
  int at = -P::SET, to = ROOM - P::SET;  /* the sets to read and to fill */
  const auto await = [&]() {             /* the next set is there, this one is no longer needed */
    at = at + P::SET == ROOM ? 0 : at + P::SET;
    __pipeline_wait_prior(P::STAGES - 2);
    __syncthreads();
  };
  await();
  #pragma unroll
  for (int i = 0; i < P::PARTS; i++) f[0].read(sets, sets + P::A::PIECE, 0, i);
  #pragma unroll 1
  for (; k > 0; k -= P::STEP) {
    #pragma unroll
    for (int q = 0; q < P::STEP; q += F::DEEP) {
      if (q + F::DEEP == P::STEP) to = at, await();
      F &now = f[q / F::DEEP % 2], &next = f[(q / F::DEEP + 1) % 2];
      #pragma unroll
      for (int i = 0; i < P::PARTS; i++) {
        next.read(sets + at, sets + at + P::A::PIECE, (q + F::DEEP) % P::STEP, i);
        if (i > 0) now.multiply(sum + (i - 1) * P::EACH, i - 1);
      }
      if (q == 0) fetch(to);
      now.multiply(sum + P::SUMS - P::EACH, P::PARTS - 1);
    }
  }
  __pipeline_wait_prior(0);
}

/* The block's tile, of type S, or T. */
template <class P, int TURN>
GT__DEV void gt__make_tile(const gt__matmul_args &p, int64_t k_part, int64_t hop) {
  typedef gt__fragments<P, P::ENGINE, TURN> F;
  typedef typename P::T T;
  typedef typename P::S S;
  const gt__operand &out = p.post.out;
  const int64_t across = (p.n - 1) / P::N + 1, tiles = ((p.m - 1) / P::M + 1) * across;
  const int64_t from = blockIdx.y * k_part, k = p.k - from < k_part ? p.k - from : k_part;
  const int64_t batch = blockIdx.x / tiles, tile = blockIdx.x % tiles;
  const int64_t m = tile / across * P::M, n = tile % across * P::N;
  S sum[P::SUMS] = {};
  gt__multiply<P, TURN>(
      gt__make_piece<typename P::A>(p, p.a, batch, p.a_row, p.a_col, p.m, m, from),
      gt__make_piece<typename P::B>(p, p.b, batch, p.b_col, p.b_row, p.n, n, from), k, sum);
  gt__release_next_kernel();
  const int64_t at = blockIdx.y * hop + gt__offset(batch, p.n_batch, p.post.size, out.stride);
  #pragma unroll
  for (int i = 0; i < P::SUMS; i++) {
    const int64_t row = m + P::row() + i / P::EACH * 16 + F::row(i % P::EACH);
    const int64_t column = n + P::column() + F::column(i % P::EACH);
    const int64_t to = at + row * out.stride[p.n_batch] + column * out.stride[p.n_batch + 1];
    if (row >= p.m || column >= p.n) continue;
    if (sizeof(T) == 2 && out.size_log2 == 1) ((T *)out.data)[to] = gt__cast<T, S>::of(sum[i]);
    else ((S *)out.data)[to] = sum[i];
  }
}
/* Grid: x tiles of all batches, y parts of K, whose sums go to C, C + hop and so on. */
template <class P> __global__ void __launch_bounds__(P::THREADS, 256 / P::THREADS)
gt__matmul_kernel(const __grid_constant__ gt__matmul_args p, int64_t k_part, int64_t hop) {
  const int turn =
      P::TURNS & (gt__is_along(p.a_col, p.a_row) | gt__is_along(p.b_row, p.b_col) << 1);
  gt__await_kernel_before();
  if constexpr (P::ENGINE != GT__NONE) {
    if (turn == 3) gt__make_tile<P, P::TURNS & 3>(p, k_part, hop);
    else if (turn == 2) gt__make_tile<P, P::TURNS & 2>(p, k_part, hop);
    else if (turn == 1) gt__make_tile<P, P::TURNS & 1>(p, k_part, hop);
    else gt__make_tile<P, 0>(p, k_part, hop);
  }
}

/* How C is cut into tiles, and these into parts, which may go through scratch. Clusters take whole
   tiles in turns. The last tiles, from `whole` on, would leave some idle: they lie in a row, each
   with its steps of K, of which every `share` are one cluster's. A cluster starts a part where a
   tile or its share does, so that of cluster c and tile r of the row is in slot r + c. */
struct gt__division {
  int m, n, high, wide;                  /* C, and a tile of it: of a cluster, if that is a pair */
  int rows, columns, tiles, whole;       /* of tiles: down, across, in all batches, never cut: */
  int turns, steps, share, clusters;     /* `turns` for each cluster; of K; of a cluster */
  int direct, slots, lines, pitch;       /* direct: tiles in one part go to C themselves */
  float *parts;                          /* [slots][lines][pitch] */
  void *to;                              /* C = relu(alpha * sums + bias) */
  int64_t row, column, batch;            /* its strides, in elements */
  float alpha;
  int relu, dtype, bias_dtype;           /* dtype: float32, float16 or bfloat16 */
  const char *bias;                      /* or NULL; its strides are in bytes */
  int64_t bias_row, bias_column;
};
/* The place of a tile in C. Tiles that are made at the same time shall share rows of A and columns
   of B in the L2 cache: they go through C in bands of 8 rows of tiles. */
enum { GT__BAND = 8 };
struct gt__corner { int batch, m, n; };
GT__DEV gt__corner gt__find_corner(const gt__division &t, unsigned tile) {
  const unsigned each = t.rows * t.columns, batch = tile / each, in = tile - batch * each;
  const unsigned top = in / (GT__BAND * t.columns) * GT__BAND, at = in - top * t.columns;
  const unsigned high = min((unsigned)GT__BAND, t.rows - top);
  return {(int)batch, (int)((top + at % high) * t.high), (int)(at / high * t.wide)};
}
GT__DEV void gt__add4(float (&sum)[4], const float4 &x) {
  sum[0] = GT__ADD(sum[0], x.x), sum[1] = GT__ADD(sum[1], x.y);
  sum[2] = GT__ADD(sum[2], x.z), sum[3] = GT__ADD(sum[3], x.w);
}
/* C from the parts of its tiles, added up in their order. A block makes 32 columns, a thread four
   of them; of many parts, `team` threads have a share each, so that all loads are on their way at
   once. Grid: pieces of 32 / team x 32 of each tile that may be cut. */
__global__ void __launch_bounds__(256)
gt__gather_kernel(const __grid_constant__ gt__division t, int team) {
  __shared__ float4 shares[256];
  const int rows = 32 / team, across = (t.pitch + 31) / 32;
  const int pieces = (t.lines + rows - 1) / rows * across;
  const int tile = blockIdx.x / pieces, piece = blockIdx.x - tile * pieces;
  const int first = tile * t.steps / t.share, last = ((tile + 1) * t.steps - 1) / t.share;
  const int parts = last - first + 1, each = (parts + team - 1) / team;
  const int share = threadIdx.x / (256 / team), i = threadIdx.x % (256 / team);
  const int row = piece / across * rows + (t.column == 1 ? i / 8 : i % rows);
  const int column = piece % across * 32 + (t.column == 1 ? i % 8 : i / rows) * 4;
  const int64_t part = (int64_t)t.lines * t.pitch;
  const float *from = t.parts + (tile + first) * part + row * t.pitch + column;
  const bool inside = row < t.lines && column < t.pitch;
  float sum[4] = {0, 0, 0, 0};
  gt__after_kernel_before();
  if (parts == 1) return;                /* the tile is whole */
  #pragma unroll 8
  for (int k = share * each; k < min(parts, (share + 1) * each) && inside; k++)
    gt__add4(sum, *(const float4 *)(from + k * part));
  shares[threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
  __syncthreads();
  if (!inside || share > 0) return;
  for (int k = 1; k < team; k++) gt__add4(sum, shares[i + k * (256 / team)]);
  const gt__corner at = gt__find_corner(t, t.whole + tile);
  const int64_t m = at.m + row, n = at.n + column;
  #pragma unroll
  for (int j = 0; j < 4; j++) {
    const int64_t to = at.batch * t.batch + m * t.row + (n + j) * t.column;
    const char *bias = t.bias + m * t.bias_row + (n + j) * t.bias_column;
    if (m >= t.m || n + j >= t.n) return;
    float x = GT__MUL(t.alpha, sum[j]);
    if (t.bias) x = GT__ADD(x, gt__load_one<float>(bias, t.bias_dtype));
    if (t.relu) x = gt__formula<GT__OP_relu, float>::of(x, 0, 0);
    gt__store_one((char *)t.to + (to << (t.dtype == GT_FLOAT32 ? 2 : 1)), t.dtype, x);
  }
}

/* ---- >>hopper ----------------------------------------------------------------------------------
   C = A x B on the tensor cores of sm_90a, for float16, bfloat16 and, in pieces, float32.

   Notation. A block makes one tile of C, 128 x WIDE, 64 of K a step. A brick is 64 x 64 elements of
   16 bits, 8 KB, in shared memory: 64 lines of 128 bytes, whose 16-byte chunks are swizzled (chunk
   c of line r lies at c ^ r % 8), so that neither the tensor cores nor the copy engine meet bank
   conflicts. The lines run along K, or along M or N, as the operand does in memory: the tensor
   cores take both, so no transposed form needs a copy. A stage holds the bricks of one step.

   float32: x = p0 + p1 + p2, each a bfloat16, is exact to 2^-25 of x. Of the nine products of
   pieces six matter; they share the bricks of their stage. The tensor cores cut off what does not
   fit while they add, so after every step their sum goes to float32 registers, rounded.

   Roles. A block has three warpgroups of 128 threads. One thread of the first starts the copies;
   the other two compute 64 x WIDE each. The stages are a ring, each with two barriers: `full` when
   its bytes are there, `empty` when nobody needs them any longer. Two blocks of a cluster make
   tiles above each other: each loads half of the bricks of B, which the copy engine lays into both.

   H200, November 2026: bfloat16 4096 x 4096 x 4096 in 172 us, 798 TFLOP/s; float32 of 6 products
   in 1095 us, 125 TFLOP/s, where float32 units reach 51. */
enum { GT__HIGH = 128, GT__DEEP = 64, GT__BRICK = 64 * 64 * 2, GT__TEAM = 128 };
static_assert(GT__HIGH == 2 * 64, "each of two warpgroups multiplies 64 rows");
enum { GT__ROOM = 227 << 10, GT__RING = 2 };   /* a block's memory; a warpgroup's bricks of C */

/* A or B as lines of `wide` elements, which run along K or across, and how it is packed. */
struct gt__factor {
  const char *data;
  uint16_t *to;                          /* [batch][piece][lines][pitch] */
  uint32_t *top;                         /* float32: the largest |x|, [batch][chunk][m or n] */
  int64_t stride, line_stride, batch_stride;
  int wide, lines, pitch, batch, along_k, tiles, chunk;
  int step;                              /* matrices from a batch's to the next one's, or 0 */
};
struct gt__factors { gt__factor x[2]; int chunks, batches; };
struct gt__hopper_args {
  CUtensorMap a, b, c, parts;            /* where the operands, or their pieces, and C are */
  gt__division t;
  int down, k;                           /* a cluster is `down` tiles above each other, 1 or 2 */
  gt__factors f;
};

/* -- a kernel's constants -- T: what is multiplied; PRODUCTS: 6 or 3, which make float32, or 1. */
template <class T_, int WIDE_, int PRODUCTS_, bool A_ALONG_K_, bool B_ALONG_K_> struct gt__plan {
  typedef T_ T;
  static constexpr int WIDE = WIDE_, PRODUCTS = PRODUCTS_, N = WIDE / 2;    /* N: sums a thread */
  static constexpr bool A_ALONG_K = A_ALONG_K_, B_ALONG_K = B_ALONG_K_;
  static constexpr int PIECES = PRODUCTS == 6 ? 3 : PRODUCTS == 3 ? 2 : 1;
  static constexpr int A_BRICKS = GT__HIGH / 64, B_BRICKS = WIDE / 64;      /* of a piece */
  static constexpr int STAGE = PIECES * (A_BRICKS + B_BRICKS) * GT__BRICK;
  static constexpr int FIXED = 2 * GT__RING * GT__BRICK + 1024 + 256;
  static constexpr int FITTING = (GT__ROOM - FIXED) / STAGE;
  static constexpr int STAGES = FITTING < 8 ? FITTING : 8;
  static_assert(STAGES >= 2, "one stage is filled while another is used");
  static constexpr unsigned LOADERS = PRODUCTS == 1 ? ~0u : 1;    /* lanes of the first warp */
};
template <class S> GT__DEV uint32_t gt__two(float x, float y) {  /* x in the lower half */
  uint32_t u;
  if constexpr (gt__native<S>::DTYPE == GT_FLOAT16)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(y), "f"(x));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(y), "f"(x));
  return u;
}
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(GPUTENSOR_NO_TENSOR_CORES)
#define GT__HOPPER                       /* what follows exists for sm_90a alone */
/* -- instructions -- */
GT__DEV uint32_t gt__smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
GT__DEV void gt__cluster_meet() {        /* promises nothing about memory: that would cost 1 us */
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;"
               ::: "memory");
}
/* What one of the `lanes` does that come here together: a whole warp finds its way faster than a
   thread alone. */
#define GT__ONE "{ .reg .pred one; elect.sync _|one, %0;\n @one "
/* The phase ends when `bytes` more have landed. */
GT__DEV void gt__barrier_expect(unsigned lanes, uint64_t *b, int bytes) {
  asm volatile(GT__ONE "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%1], %2; }"
               ::"r"(lanes), "r"(gt__smem(b)), "r"(bytes) : "memory");
}
GT__DEV void gt__barrier_wait(uint64_t *b, int phase) {
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again; }" ::"r"(gt__smem(b)), "r"(phase) : "memory");
}
GT__DEV void gt__team_sync(int half) {   /* the warpgroup that makes this half of the tile */
  asm volatile("bar.sync %0, %1;" ::"r"(1 + half), "r"(GT__TEAM) : "memory");
}
/* The copy engine: a box at (x, y, z) of a tensor to shared memory here, ... */
GT__DEV void gt__load_box(unsigned lanes, void *to, const CUtensorMap *from, uint64_t *full, int x,
                          int y, int z) {
  asm volatile(GT__ONE
               "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%1], [%2, {%4, %5, %6}], [%3]; }" ::"r"(lanes), "r"(gt__smem(to)), "l"(from),
               "r"(gt__smem(full)), "r"(x), "r"(y), "r"(z) : "memory");
}
/* ... and to the same place in both blocks of a cluster, telling both of their barriers. */
GT__DEV void gt__load_both(unsigned lanes, void *to, const CUtensorMap *from, uint64_t *full, int x,
                           int y, int z) {
  asm volatile(GT__ONE
               "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%1], [%2, {%4, %5, %6}], [%3], %7; }" ::"r"(lanes),
               "r"(gt__smem(to)), "l"(from), "r"(gt__smem(full)), "r"(x), "r"(y), "r"(z),
               "h"((uint16_t)3) : "memory");
}
#undef GT__ONE
GT__DEV void gt__store_box(const CUtensorMap *to, const void *from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];\n"
               "cp.async.bulk.commit_group;"
               ::"l"(to), "r"(gt__smem(from)), "r"(x), "r"(y), "r"(z) : "memory");
}
GT__DEV void gt__await_stores() {        /* the last ones' bytes have been read */
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/* Describes bricks: 128-byte swizzle, 1024 bytes from 8 lines to the next 8; where lines run along
   M or N, 8192 bytes (a brick) from 64 elements to the next 64. */
GT__DEV uint64_t gt__bricks(uint32_t address) {
  return (uint64_t)(address >> 4 & 0x3FFF) | (uint64_t)(GT__BRICK >> 4) << 16 |
         (uint64_t)(1024 >> 4) << 32 | 1ull << 62;
}
/* d (64 x 2n for n registers a thread) = A (64 x 16) x B (16 x 2n) + (add ? d : 0). Bricks of A and
   of B lie along K, or across. A thread has rows lane / 4 and lane / 4 + 8 of its warp's 16, and in
   d[4j ..] the columns 8j + lane % 4 * 2 and the next of the one row, then of the other. */
#define GT__TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t \
                   "8,%" #t "9,"
#define GT__30 GT__TEN() GT__TEN(1) GT__TEN(2)
#define GT__60 GT__30 GT__TEN(3) GT__TEN(4) GT__TEN(5)
#define GT__90 GT__60 GT__TEN(6) GT__TEN(7) GT__TEN(8)
#define GT__120 GT__90 GT__TEN(9) GT__TEN(10) GT__TEN(11)
#define GT__D8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), \
                  "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define GT__D32(i) GT__D8(i), GT__D8(i + 8), GT__D8(i + 16), GT__D8(i + 24)
#define GT__D64(i) GT__D32(i), GT__D32(i + 32)
#define GT__MMA(T, type, count, wide, list, first, second, add_, turn_a, turn_b, ...) \
  template <bool A_ALONG_K, bool B_ALONG_K> \
  GT__DEV void gt__mma(T, float (&d)[count], uint64_t a, uint64_t b, int add) { \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #add_ ", 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n" #wide "k16.f32." type "." type " {" list \
                 "}, %" #first ", %" #second ", p, 1, 1, %" #turn_a ", %" #turn_b "; }" \
                 : __VA_ARGS__ : "l"(a), "l"(b), "r"(add), "n"(!A_ALONG_K), "n"(!B_ALONG_K)); \
  }
#define GT__MMAS(T, type) \
  GT__MMA(T, type, 32, 64, GT__30 "%30,%31", 32, 33, 34, 35, 36, GT__D32(0)) \
  GT__MMA(T, type, 64, 128, GT__60 "%60,%61,%62,%63", 64, 65, 66, 67, 68, GT__D64(0)) \
  GT__MMA(T, type, 96, 192, GT__90 "%90,%91,%92,%93,%94,%95", 96, 97, 98, 99, 100, \
          GT__D64(0), GT__D32(64)) \
  GT__MMA(T, type, 128, 256, GT__120 "%120,%121,%122,%123,%124,%125,%126,%127", 128, 129, 130, \
          131, 132, GT__D64(0), GT__D64(64))
GT__MMAS(gt__bfloat, "bf16")
GT__MMAS(gt__half, "f16")

/* Shared memory: the stages, the bricks of C of two warpgroups, the barriers. */
struct gt__ring { uint8_t *stages, *out; uint64_t *full, *empty; };
template <class P> GT__DEV gt__ring gt__make_ring(int arrivals) {
  gt__ring r;
  r.stages = (uint8_t *)(((uintptr_t)gt__shared + 1023) & ~(uintptr_t)1023);
  r.out = r.stages + P::STAGES * P::STAGE;
  r.full = (uint64_t *)(r.out + 2 * GT__RING * GT__BRICK);
  r.empty = r.full + P::STAGES;
  if (threadIdx.x == 32) {
    for (int s = 0; s < 2 * P::STAGES; s++)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                   ::"r"(gt__smem(&r.full[s])), "r"(s < P::STAGES ? 1 : arrivals));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  return r;
}
/* A position in the ring: stage `slot`, filled for the `phase`th time (0 and 1 in turn). */
struct gt__spot { int slot, phase; };
template <class P> GT__DEV void gt__next(gt__spot &t) {
  if (++t.slot == P::STAGES) t.slot = 0, t.phase ^= 1;
}
/* A part of a block's work: where, which steps of K, and its slot, or -1 if it is a whole tile. Its
   cluster first makes every so many-th of the tiles that are never cut, then a share of others. */
struct gt__work : gt__corner { int turn, at, from, to, slot; };
GT__DEV bool gt__find_work(const gt__hopper_args &p, gt__work &w) {
  const gt__division &t = p.t;
  const int c = blockIdx.x / p.down;
  int tile = c + w.turn * t.clusters;
  w.from = 0, w.to = t.steps, w.slot = -1;
  if (w.turn++ >= t.turns) {
    const int end = min((c + 1) * t.share, (t.tiles - t.whole) * t.steps);
    if (w.at >= end) return false;
    tile = w.at / t.steps;
    w.from = w.at - tile * t.steps;
    w.to = min(t.steps, w.from + end - w.at);
    w.at += w.to - w.from;
    if (w.to - w.from < t.steps) w.slot = tile + c;
    tile += t.whole;
  }
  (gt__corner &)w = gt__find_corner(t, tile);
  w.m += (blockIdx.x - c * p.down) * GT__HIGH;
  return true;
}

/* A warp, or for pieces, where that was faster, one thread: keeps the stages full. */
template <class P> GT__DEV void gt__produce(const gt__hopper_args &p, gt__ring r, gt__work w) {
  gt__spot t = {0, 0};
  do {
    for (int step = w.from; step < w.to; step++, gt__next<P>(t)) {
      uint64_t *full = &r.full[t.slot];
      uint8_t *to = r.stages + t.slot * P::STAGE;
      const int k = step * GT__DEEP;
      gt__barrier_wait(&r.empty[t.slot], t.phase ^ 1);
      gt__barrier_expect(P::LOADERS, full, P::STAGE);
      #pragma unroll
      for (int i = 0; i < P::PIECES * P::A_BRICKS; i++, to += GT__BRICK) {
        const int m = w.m + i % P::A_BRICKS * 64, z = w.batch * p.f.x[0].step + i / P::A_BRICKS;
        gt__load_box(P::LOADERS, to, &p.a, full, P::A_ALONG_K ? k : m, P::A_ALONG_K ? m : k, z);
      }
      #pragma unroll
      for (int i = 0; i < P::PIECES * P::B_BRICKS; i++, to += GT__BRICK) {
        const int n = w.n + i % P::B_BRICKS * 64, z = w.batch * p.f.x[1].step + i / P::B_BRICKS;
        const int x = P::B_ALONG_K ? k : n, y = P::B_ALONG_K ? n : k;
        if (p.down == 1) gt__load_box(P::LOADERS, to, &p.b, full, x, y, z);
        else if (i % 2 == blockIdx.x % 2) gt__load_both(P::LOADERS, to, &p.b, full, x, y, z);
      }
    }
  } while (gt__find_work(p, w));
}

/* Starts the products of a stage when it is there, for rows 64 * half ..: pieces (2,0) (1,1) (0,2)
   (1,0) (0,1) (0,0), of which three products are the last three: small ones are added first. Of
   one product the stage's may go on, those before have ended; several have ended all. */
template <class P, int N>
GT__DEV void gt__multiply_stage(const gt__ring &r, gt__spot t, int half, float (&d)[N], bool add) {
  constexpr int of_a[6] = {2, 1, 0, 1, 0, 0}, of_b[6] = {0, 1, 2, 0, 1, 0};
  const uint8_t *stage = r.stages + t.slot * P::STAGE;
  const uint64_t a = gt__bricks(gt__smem(stage) + half * GT__BRICK);
  const uint64_t b = gt__bricks(gt__smem(stage) + P::PIECES * P::A_BRICKS * GT__BRICK);
  gt__barrier_wait(&r.full[t.slot], t.phase);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  #pragma unroll
  for (int q = 6 - P::PRODUCTS; q < 6; q++)
    #pragma unroll
    for (int k = 0; k < GT__DEEP; k += 16) {
      const int over_a = of_a[q] * P::A_BRICKS * GT__BRICK + k * (P::A_ALONG_K ? 2 : 128);
      const int over_b = of_b[q] * P::B_BRICKS * GT__BRICK + k * (P::B_ALONG_K ? 2 : 128);
      gt__mma<P::A_ALONG_K, P::B_ALONG_K>(typename P::T(), d, a + (over_a >> 4), b + (over_b >> 4),
                                          add || q > 6 - P::PRODUCTS || k > 0);
    }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"((int)(P::PRODUCTS == 1)) : "memory");
}
/* One warp's word that it is done with a stage, to the same barrier of all blocks that write it. */
GT__DEV void gt__release(uint64_t *empty, int writers) {
  const int lane = threadIdx.x % 32;
  if (lane < writers)
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there]; }"
                 ::"r"(gt__smem(empty)), "r"(lane) : "memory");
}
/* float32 that pieces cannot carry. A line (a row of A, a column of B) whose largest |x| is NaN,
   infinite or above 2^62 may make products of pieces overflow, one below 2^-62 makes those of low
   pieces vanish. Both teams: does the tile have such a line? */
template <class P> GT__DEV bool gt__must_be_strict(const gt__hopper_args &p, const gt__work &w) {
  const int thread = threadIdx.x - GT__TEAM, along_n = thread / GT__HIGH;
  const gt__factor &x = p.f.x[along_n];
  const int line = (along_n ? w.n : w.m) + thread % GT__HIGH, lines = along_n ? p.t.n : p.t.m;
  const uint32_t *top = x.top + (int64_t)(x.step > 0 ? w.batch : 0) * p.f.chunks * lines + line;
  uint32_t most = 0;
  static_assert(P::WIDE == GT__HIGH || P::PRODUCTS == 1, "a thread has one row or one column");
  if (line < lines)
    #pragma unroll 4
    for (int i = 0; i < p.f.chunks; i++) most = max(most, top[(int64_t)i * lines]);
  int any = most > 189u << 23 || (most < 65u << 23 && most > 0);
  asm volatile("{ .reg .pred p, q; setp.ne.b32 p, %0, 0; bar.red.or.pred q, 3, %1, p;\n"
               "selp.b32 %0, 1, 0, q; }" : "+r"(any) : "n"(2 * GT__TEAM) : "memory");
  return any != 0;
}
/* The tile from float32 itself, in the order of the general kernel: K in order, multiply-add. */
template <class P, int N>
GT__DEV void gt__multiply_strictly(const gt__hopper_args &p, const gt__work &w, int half,
                                   float (&sum)[N]) {
  const int k_size = w.from > 0 ? 0 : p.k;     /* of a tile's parts the first has all of it */
  const int lane = threadIdx.x % 32, row = w.m + 64 * half + threadIdx.x / 32 % 4 * 16 + lane / 4;
  const gt__factor &x = p.f.x[0], &y = p.f.x[1];
  const int64_t a_row = P::A_ALONG_K ? x.line_stride : x.stride;
  const int64_t b_col = P::B_ALONG_K ? y.line_stride : y.stride;
  const int64_t a_k = P::A_ALONG_K ? x.stride : x.line_stride;
  const int64_t b_k = P::B_ALONG_K ? y.stride : y.line_stride;
  GT__EACH {
    const int m = min(row + i / 2 % 2 * 8, p.t.m - 1);
    const int n = min(w.n + i / 4 * 8 + lane % 4 * 2 + i % 2, p.t.n - 1);
    const float *a = (const float *)x.data + w.batch * x.batch_stride + m * a_row;
    const float *b = (const float *)y.data + w.batch * y.batch_stride + n * b_col;
    sum[i] = 0;
    #pragma unroll 1
    for (int k = 0; k < k_size; k++) sum[i] = __fmaf_rn(a[k * a_k], b[k * b_k], sum[i]);
  }
}

/* -- from registers to C -- */
/* What stands behind the product, in registers: a thread has two columns of each eight. The bias of
   the tile's columns lies in a brick meanwhile. */
template <int N> GT__DEV void gt__finish(const gt__division &t, const gt__work &w, uint8_t *bricks,
                                         int half, float (&sum)[N]) {
  if (t.alpha != 1) GT__EACH sum[i] = GT__MUL(t.alpha, sum[i]);
  if (t.bias_row) return;                /* the rest follows in gt__store_brick */
  if (t.bias) {
    float *bias = (float *)bricks;
    if (threadIdx.x % GT__TEAM == 0) gt__await_stores();
    gt__team_sync(half);                 /* the brick is free */
    for (int i = threadIdx.x % GT__TEAM; i < 2 * N && w.n + i < t.n; i += GT__TEAM)
      bias[i] = gt__load_one<float>(t.bias + (w.n + i) * t.bias_column, t.bias_dtype);
    gt__team_sync(half);
    #pragma unroll
    for (int i = 0; i < N; i += 4) {
      const float2 y = *(const float2 *)(bias + 2 * i + threadIdx.x % 4 * 2);
      sum[i] = GT__ADD(sum[i], y.x), sum[i + 1] = GT__ADD(sum[i + 1], y.y);
      sum[i + 2] = GT__ADD(sum[i + 2], y.x), sum[i + 3] = GT__ADD(sum[i + 3], y.y);
    }
  }
  if (t.relu) GT__EACH sum[i] = gt__formula<GT__OP_relu, float>::of(sum[i], 0, 0);
}
/* Lays brick i of a team's 64 rows, of S. Chunk c of a line lies at c ^ line % 8. Of 16 bits, four
   squares of 8 x 8 are stored at once: a thread gives the address of a line of one of them. */
template <class S, int N> GT__DEV void gt__lay_brick(uint8_t *brick, int i, const float (&sum)[N]) {
  const int lane = threadIdx.x % 32, top = threadIdx.x / 32 % 4 * 16;
  const auto at = [&](int line, int c) { return brick + line * 128 + ((c ^ (line & 7)) << 4); };
  #pragma unroll
  for (int j = 0; j < 8; j += 2) {
    const float *x = sum + (sizeof(S) == 4 ? i * 16 + j * 2 : i * 32 + j * 4);
    if constexpr (sizeof(S) == 4) {      /* 16 bytes are 4 of 8 columns: half of x[0 ..] */
      for (int h = 0; h < 2; h++)        /* row, and row + 8 */
        *(float2 *)(at(top + lane / 4 + 8 * h, j + lane % 4 / 2) + lane % 2 * 8) =
            make_float2(x[2 * h], x[2 * h + 1]);
    } else
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                   ::"r"(gt__smem(at(top + lane % 16, j + lane / 16))),
                   "r"(gt__two<S>(x[0], x[1])), "r"(gt__two<S>(x[2], x[3])),
                   "r"(gt__two<S>(x[4], x[5])), "r"(gt__two<S>(x[6], x[7])) : "memory");
  }
}
/* A warp's 16 rows of a float brick to C, which is of S, with any strides. Lanes lie along the rows
   of C, or if these are not dense, down its columns: there each adds its row's bias, if any. */
template <class S>
GT__DEV void gt__store_brick(const gt__division &t, int64_t batch, int m, int n, float bias,
                             const uint8_t *brick) {
  const int across = t.column == 1, lane = threadIdx.x % 32, top = threadIdx.x / 32 % 4 * 16;
  const int line = top + (across ? 0 : lane % 16), c = across ? lane : lane / 16;    /* its first */
  const int rows = t.m - m - line, columns = t.n - n - c;    /* of C from there on, so there are */
  const int left = min(rows, columns) <= 0 ? 0 : across ? rows : (columns + 1) / 2;
  const int down = across ? 128 : 0, flip = across ? 16 : 8, flips = across ? 7 << 4 : 15 << 3;
  const int first = across ? c * 4 : (line & 7) << 4 ^ c * 4;  /* chunk j lies at j ^ line % 8 */
  const int64_t hop = across ? t.row : 2 * t.column;
  S *to = (S *)t.to + batch * t.batch + (m + line) * t.row + (n + c) * t.column;
  brick += line * 128;
  #pragma unroll
  for (int i = 0; i < 16; i++, to += hop) {
    float x = *(const float *)(brick + i * down + (first ^ (i * flip & flips)));
    if (t.bias_row) x = GT__ADD(x, bias);
    if (t.bias_row && t.relu) x = gt__formula<GT__OP_relu, float>::of(x, 0, 0);
    if (i >= left) continue;
    if constexpr (sizeof(S) == 4) *to = x;
    else to->bits = (uint16_t)gt__two<S>(x, 0);
  }
}
/* A warpgroup's 64 x WIDE of C, two bricks a time, by the copy engine, which stores the last ones
   as the next tile is made, or by the threads. */
template <class P, class S>
GT__DEV void gt__put_tile(const gt__hopper_args &p, const gt__work &w, uint8_t *bricks, int half,
                          const float (&sum)[P::N]) {
  constexpr int WIDTH = 128 / sizeof(S), COUNT = P::WIDE / WIDTH;  /* columns of a brick; bricks */
  const bool leader = threadIdx.x % GT__TEAM == 0, part = w.slot >= 0;
  const int m = half * 64 + (part ? w.m % p.t.high : w.m), n = part ? 0 : w.n;
  const int row = min(m + (int)(threadIdx.x / 32 % 4 * 16 + threadIdx.x % 16), p.t.m - 1);
  const float bias = p.t.bias_row && !part ? gt__load_one<float>(p.t.bias + row * p.t.bias_row,
                                                                 p.t.bias_dtype) : 0;
  #pragma unroll
  for (int i = 0; i < COUNT; i += GT__RING) {
    if (leader) gt__await_stores();
    gt__team_sync(half);                 /* the bricks are free */
    #pragma unroll
    for (int j = 0; j < GT__RING && i + j < COUNT; j++)
      gt__lay_brick<S>(bricks + j * GT__BRICK, i + j, sum);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    gt__team_sync(half);
    #pragma unroll 1
    for (int j = 0; j < GT__RING && i + j < COUNT; j++) {
      const uint8_t *brick = bricks + j * GT__BRICK;
      const int column = n + (i + j) * WIDTH;
      if (sizeof(S) == 2 || part || p.t.direct) {
        const CUtensorMap *to = part ? &p.parts : &p.c;
        if (leader) gt__store_box(to, brick, column, m, part ? w.slot : w.batch);
      } else if (p.t.dtype == GT_FLOAT32)
        gt__store_brick<float>(p.t, w.batch, m, column, bias, brick);
      else gt__store_brick<typename P::T>(p.t, w.batch, m, column, bias, brick);
    }
  }
}

/* Adds up the steps of a unit. */
template <class P, int N>
GT__DEV void gt__accumulate(const gt__hopper_args &p, const gt__ring &r, int steps, int half,
                            gt__spot &t, float (&sum)[N]) {
  if constexpr (P::PRODUCTS == 1) {
    int before = 0;
    for (int i = 0; i < steps; i++) {
      gt__multiply_stage<P>(r, t, half, sum, i > 0);
      if (i > 0) gt__release(&r.empty[before], p.down);
      before = t.slot;
      gt__next<P>(t);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    gt__release(&r.empty[before], p.down);
  } else {
    GT__EACH sum[i] = 0;
    for (int step = 0; step < steps; step++, gt__next<P>(t)) {
      float part[N];
      gt__multiply_stage<P>(r, t, half, part, false);
      gt__release(&r.empty[t.slot], p.down);
      GT__EACH sum[i] += part[i];
    }
  }
}

/* One warpgroup: multiplies what arrives, and writes its half of each tile. */
template <class P> GT__DEV void gt__consume(const gt__hopper_args &p, gt__ring r, gt__work w) {
  const int half = threadIdx.x / GT__TEAM - 1;
  uint8_t *bricks = r.out + half * GT__RING * GT__BRICK;
  gt__spot t = {0, 0};
  do {
    float sum[P::N];
    const bool strict = P::PRODUCTS > 1 && gt__must_be_strict<P>(p, w);
    gt__accumulate<P>(p, r, w.to - w.from, half, t, sum);
    if (P::PRODUCTS > 1 && strict) gt__multiply_strictly<P>(p, w, half, sum);
    if (w.slot < 0) gt__finish(p.t, w, bricks, half, sum);
    if (P::PRODUCTS > 1 || w.slot >= 0 || !p.t.direct || p.t.dtype == GT_FLOAT32)
      gt__put_tile<P, float>(p, w, bricks, half, sum);
    else gt__put_tile<P, typename P::T>(p, w, bricks, half, sum);
  } while (gt__find_work(p, w));
  if (threadIdx.x % GT__TEAM == 0) gt__await_stores();
}

#endif
/* Grid: as many clusters as fit, each going through units of work. For a step of 128 x 256 x 64 a
   block loads 48 KB (32 with a neighbour's help) for 4.2 million operations: 1024 clocks of the
   tensor cores, 47 (32) bytes a clock from the L2 cache, which gives about 64. */
template <class P> __global__ void __launch_bounds__(3 * GT__TEAM, 1)
gt__hopper_kernel(const __grid_constant__ gt__hopper_args p) {
#ifdef GT__HOPPER
  const gt__ring r = gt__make_ring<P>(8 * p.down);     /* by another warp than the first */
  gt__work w;
  w.turn = 0, w.at = blockIdx.x / p.down * p.t.share;
  gt__find_work(p, w);                   /* there is some for each cluster */
  if (threadIdx.x == 64)
    asm volatile("prefetch.tensormap [%0];\n prefetch.tensormap [%1];\n prefetch.tensormap [%2];"
                 ::"l"(&p.a), "l"(&p.b), "l"(&p.c) : "memory");
  if (p.down > 1) gt__cluster_meet();    /* nobody writes into a block that has not begun */
  __syncthreads();
  gt__after_kernel_before();
  if (threadIdx.x < GT__TEAM) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    const bool first = __shfl_sync(~0u, threadIdx.x / 32, 0) == 0;    /* of the four warps */
    if (P::PRODUCTS == 1 ? first : threadIdx.x == 0) gt__produce<P>(p, r, w);
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    gt__consume<P>(p, r, w);
  }
  if (p.down > 1) gt__cluster_meet();    /* nobody writes into a block that has ended */
#endif
}

/* -- splitting and packing -- */
template <class S> struct alignas(4 * sizeof(S)) gt__four { S x[4]; };
template <class S> GT__DEV gt__four<S> gt__grab4(const S *p, int64_t stride, int left) {
  gt__four<S> u;
  if (left >= 4 && stride == 1 && (uintptr_t)p % sizeof u == 0) u = *(const gt__four<S> *)p;
  else for (int j = 0; j < 4; j++) u.x[j] = j < left ? p[j * stride] : 0;
  return u;
}
/* The first N bfloat16 of four floats, 4 bytes a pair. What 16 bits hold is copied. */
template <int N> GT__DEV void gt__split4(const gt__four<uint32_t> &x, uint2 (&piece)[N]) {
  float f[4];
  memcpy(f, &x, sizeof x);
  GT__EACH {
    piece[i] = make_uint2(gt__two<gt__bfloat>(f[0], f[1]), gt__two<gt__bfloat>(f[2], f[3]));
    const uint32_t two[4] = {piece[i].x << 16, piece[i].x, piece[i].y << 16, piece[i].y};
    for (int j = 0; j < 4; j++) f[j] = __fsub_rn(f[j], __uint_as_float(two[j] & 0xFFFF0000));
  }
}
template <int N> GT__DEV void gt__split4(const gt__four<uint16_t> &x, uint2 (&piece)[N]) {
  memcpy(piece, &x, sizeof x);
}
/* Splits float32 into pieces (S is uint32_t), or copies 16-bit elements, into lines that start at
   16 bytes. Reads each element once and writes 2 bytes a piece: 10 bytes for three, at the speed of
   memory. Beside it notes the largest |x| of each line of M or N in each chunk of K, as bits, which
   order floats by size and NaN above all. Grid: x tiles of A, then of B; y chunks of K; z batches.
   Lines along K: a warp has one line of 8 and a chunk of it. Across: a block has 128 elements of
   the lines, for a chunk of lines. */
template <class S, int PIECES> __global__ void __launch_bounds__(256)
gt__pack_kernel(const __grid_constant__ gt__factors p) {
#ifdef GT__HOPPER
  constexpr int AHEAD = 4;
  const int second = blockIdx.x >= p.x[0].tiles, tile = blockIdx.x - (second ? p.x[0].tiles : 0);
  const gt__factor &x = p.x[second];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, k0 = blockIdx.y * x.chunk;
  const int rounds = x.along_k ? x.chunk / 128 : x.chunk / 8;
  __shared__ uint4 tops[8][32];
  gt__after_kernel_before();
  if ((int)blockIdx.z >= x.batch) return;
  const S *from = (const S *)x.data + blockIdx.z * x.batch_stride;
  uint16_t *to = x.to + (int64_t)blockIdx.z * PIECES * x.lines * x.pitch;
  uint32_t top[4] = {0, 0, 0, 0};
  for (int round = 0; round < rounds; round += AHEAD) {
    gt__four<S> u[AHEAD];
    int e[AHEAD], line[AHEAD];
    #pragma unroll
    for (int i = 0; i < AHEAD; i++) {    /* all loads are on their way before the first is used */
      e[i] = (x.along_k ? k0 + 128 * (round + i) : 128 * tile) + 4 * lane;
      line[i] = x.along_k ? 8 * tile + warp : k0 + 8 * (round + i) + warp;
      if (round + i >= rounds || line[i] >= x.lines) e[i] = x.wide;
      u[i] = gt__grab4(from + line[i] * x.line_stride + e[i] * x.stride, x.stride, x.wide - e[i]);
    }
    #pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      uint2 piece[PIECES];
      if (e[i] >= x.wide) continue;
      gt__split4(u[i], piece);
      for (int q = 0; q < PIECES; q++)
        *(uint2 *)(to + ((int64_t)q * x.lines + line[i]) * x.pitch + e[i]) = piece[q];
      for (int j = 0; j < 4; j++) top[j] = max(top[j], u[i].x[j] & 0x7FFFFFFF);
    }
  }
  if (!x.top) return;
  uint32_t *out = x.top + (int64_t)(blockIdx.z * p.chunks + blockIdx.y) *
                          (x.along_k ? x.lines : x.wide);
  if (x.along_k) {
    const uint32_t most = __reduce_max_sync(~0u, max(max(top[0], top[1]), max(top[2], top[3])));
    if (lane == 0 && 8 * tile + warp < x.lines) out[8 * tile + warp] = most;
    return;
  }
  tops[warp][lane] = make_uint4(top[0], top[1], top[2], top[3]);
  __syncthreads();
  if (threadIdx.x < 128 && 128 * tile + (int)threadIdx.x < x.wide) {
    uint32_t most = 0;
    for (int i = 0; i < 8; i++) most = max(most, ((const uint32_t *)tops[i])[threadIdx.x]);
    out[128 * tile + threadIdx.x] = most;
  }
#endif
}

/* ---- >>launchers -------------------------------------------------------------------------------
   Each: check, return at once for nothing to do, choose, launch on the caller's stream, report. */
#define GT__POINTER(...) ((const void *)(__VA_ARGS__))
/* [compute type][heavy][mode]. The rarer a mode, the fewer elements a heavy instruction takes at a
   time, for the sake of compile time; WHOLE has code of its own for heavy floats alone. */
#define GT__MAPS(T, FEW, SOME, MANY, M) \
  {GT__POINTER(gt__map_kernel<T, FEW, GT__ANY>), GT__POINTER(gt__map_kernel<T, MANY, M>), \
   GT__POINTER(gt__map_kernel<T, SOME, GT__TURNED>)}
static const void *const gt__map_kernels[3][2][3] = {
  {GT__MAPS(float, 0, 0, 0, GT__TURNED), GT__MAPS(float, 1, 2, 16, GT__WHOLE)},
  {GT__MAPS(double, 0, 0, 0, GT__TURNED), GT__MAPS(double, 1, 1, 1, GT__TURNED)},
  {GT__MAPS(int64_t, 0, 0, 0, GT__TURNED), GT__MAPS(int64_t, 1, 1, 1, GT__TURNED)}};
#undef GT__MAPS
static const void *const gt__short_kernels[3] = { /* from GT_FLOAT16 on */
  GT__POINTER(gt__short_kernel<gt__half>), GT__POINTER(gt__short_kernel<gt__bfloat>),
  GT__POINTER(gt__short_kernel<float>)};
/* [elements][source]: those of the compute types, and the two that are read 8 at a time. */
#define GT__REDUCES(T, S, LIGHT) { \
  GT__POINTER(gt__reduce_kernel<T, S, GT__TINY>), \
  GT__POINTER(gt__reduce_kernel<T, S, GT__DIRECT>), \
  GT__POINTER(gt__reduce_kernel<T, S, GT__DIRECT_ARG>), \
  GT__POINTER(gt__reduce_kernel<T, T, LIGHT>), \
  GT__POINTER(gt__reduce_kernel<T, T, GT__ANYHOW>), GT__POINTER(gt__combine_kernel<T>)}
static const void *const gt__reduce_kernels[5][6] = {
  GT__REDUCES(float, float, GT__LIGHT), GT__REDUCES(double, double, GT__ANYHOW),
  GT__REDUCES(int64_t, int64_t, GT__ANYHOW), GT__REDUCES(float, gt__half, GT__LIGHT),
  GT__REDUCES(float, gt__bfloat, GT__LIGHT)};
#undef GT__REDUCES
static const void *const gt__soft_kernels[2] = {GT__POINTER(gt__soft_kernel<float>),
                                                GT__POINTER(gt__soft_kernel<double>)};
struct gt__form { const void *kernel; int m, n, threads, bytes, dtype, size_log2, lots, turns; };
#define GT__FORM(P) \
  {GT__POINTER(gt__matmul_kernel<P>), P::M, P::N, P::THREADS, P::BYTES, \
   gt__native<typename P::T>::DTYPE, sizeof(typename P::T) / 4 + 1, \
   (P::A::LOT > 1) | (P::B::LOT > 1) << 1, P::TURNS}
enum { GT__LARGE = 3, GT__LARGE_16 = 5, GT__STRIP = 9, GT__FORMS = 12 };
/* Small ones by compute type, large ones, strips. */
static const gt__form gt__matmul_forms[GT__FORMS] = {
  GT__FORM(gt__small<float>), GT__FORM(gt__small<double>), GT__FORM(gt__small<int64_t>),
  GT__FORM(gt__large_float), GT__FORM(gt__large_double), GT__FORM(gt__large_16<gt__half>),
  GT__FORM(gt__large_16<gt__bfloat>), GT__FORM(gt__lean_16<gt__half>),
  GT__FORM(gt__lean_16<gt__bfloat>), GT__FORM(gt__strip_4), GT__FORM(gt__strip_16),
  GT__FORM(gt__strip_64)};
#undef GT__FORM
static const void *const gt__copy_kernels[5] = { /* by the logarithm of the element's size */
  GT__POINTER(gt__copy_kernel<uint8_t>), GT__POINTER(gt__copy_kernel<uint16_t>),
  GT__POINTER(gt__copy_kernel<uint32_t>), GT__POINTER(gt__copy_kernel<uint2>),
  GT__POINTER(gt__copy_kernel<uint4>)};

enum { GT__SHARED = 48 << 10 };          /* what a block may have without asking, on every GPU */
static unsigned gt__blocks(int64_t items, int64_t per_block) {
  const int64_t blocks = items / per_block + (items % per_block != 0);
  return (unsigned)(blocks < INT32_MAX ? blocks : INT32_MAX);
}
static unsigned gt__slot_count(const gt__program *p) { return p->n_slot > 1 ? p->n_slot : 1; }
static bool gt__is_program(const gt__program *p) {
  return p->compute <= GT__I64 && p->n_ins <= GT__CODE && p->n_in <= GT__INPUTS &&
         p->n_in + p->n_const <= p->n_slot && p->n_slot <= GT__SLOTS;
}
/* What no macro tells the host: were Hopper's own features (sm_90a) on, and are tiny numbers
   flushed to zero (--use_fast_math, -ftz)? A kernel that is never launched answers by how much
   shared memory it takes, since the compiler drops the arrays that it does not touch. */
extern "C" __device__ int __nvvm_reflect(const char *question);
enum { GT__PROBE_HOPPER = 8192, GT__PROBE_FLUSHES = 16384 };
__global__ void gt__probe_kernel(int i) {
  __shared__ volatile char hopper[GT__PROBE_HOPPER], flushes[GT__PROBE_FLUSHES];
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  hopper[i] = 0;
#else
  (void)hopper;
#endif
  if (__nvvm_reflect("__CUDA_FTZ")) flushes[i] = 0;
}
/* What the current device is, asked once: its multiprocessors << 16, the answers of the probe, and
   may kernels be launched early, which older code does not know? */
enum { GT__CAN_WAIT = 1 };
static int gt__device_facts(void) {
  static int known[64];
  int device, blocks, facts = 0;
  cudaFuncAttributes built;
  if (cudaGetDevice(&device) || device >= 64) return 0;
  facts = __atomic_load_n(&known[device], __ATOMIC_RELAXED);
  if (facts) return facts;
  if (cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device) ||
      cudaFuncGetAttributes(&built, GT__POINTER(gt__probe_kernel))) {
    (void)cudaGetLastError();
    return 0;
  }
  facts = blocks << 16 | (built.sharedSizeBytes & (GT__PROBE_HOPPER | GT__PROBE_FLUSHES)) |
          (built.ptxVersion >= 90 ? GT__CAN_WAIT : 0);
  __atomic_store_n(&known[device], facts, __ATOMIC_RELAXED);
  return facts;
}
/* A failed launch is returned, so it leaves the last-error slot; what others left there stays. */
static int gt__launch_behind(const void *kernel, dim3 grid, unsigned threads, size_t shared,
                              int cluster, void *stream, void **parameters) {
  cudaLaunchAttribute with[2] = {};
  with[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  with[0].val.programmaticStreamSerializationAllowed = 1;
  with[1].id = cudaLaunchAttributeClusterDimension;
  with[1].val.clusterDim.x = cluster;
  with[1].val.clusterDim.y = with[1].val.clusterDim.z = 1;
  const cudaLaunchConfig_t config = {
    grid, dim3(threads), shared, (cudaStream_t)stream, with,
    !cluster || !(gt__device_facts() & GT__CAN_WAIT) ? 0u : cluster > 1 ? 2 : 1};
  const cudaError_t error =
      cluster ? cudaLaunchKernelExC(&config, kernel, parameters)
              : cudaLaunchKernel(kernel, grid, config.blockDim, parameters, shared, config.stream);
  if (error != cudaSuccess) (void)cudaGetLastError();
  return (int)error;
}
/* Small kernels are launched in the way that takes the host least. */
static int gt__launch(const void *kernel, dim3 grid, unsigned threads, size_t shared, void *stream,
                      void **parameters) {
  return gt__launch_behind(kernel, grid, threads, shared, grid.x < 256 ? 0 : 1, stream, parameters);
}

/* Is the dtype the compute type's own, or a short float for floats? */
static bool gt__is_usual(int compute, int dtype) {
  return compute == GT__F32 ? dtype == GT_FLOAT32 || dtype == GT_BFLOAT16 || dtype == GT_FLOAT16
                            : dtype == (compute == GT__F64 ? GT_FLOAT64 : GT_INT64);
}
/* Does x lie side by side down the rows, in a dtype that gt__fill_crossed takes? */
static bool gt__lies_across(const gt__operand *x, const gt__map_args *args) {
  const int line = args->ndim - 1, compute = args->program.compute;
  return (gt__is_usual(compute, x->dtype) || (compute == GT__F32 && x->dtype >= GT__RAW_8)) &&
         line > 0 && x->stride[line - 1] == 1 && x->stride[line] > 1;
}
/* Has a matrix that is worth turning such inputs? */
static bool gt__is_crossed(const gt__map_args *args) {
  const int line = args->ndim - 1;
  bool crossed = false;
  for (int k = 0; k < args->program.n_in; k++)
    crossed = crossed || gt__lies_across(&args->in[k], args);
  return crossed && args->size[line] >= 16 && args->size[line - 1] >= 16;
}
/* How an operand moves in whole vectors of W elements; false if it cannot. */
static bool gt__set_step(gt__step *m, const gt__operand *x, const gt__map_args *args,
                         const gt__tiling *t, int W) {
  const int line = args->ndim - 1, bytes = W << x->size_log2;
  const int64_t size = 1ll << x->size_log2, align = bytes < 16 ? bytes : 16;
  bool aligned = x->stride[line] == 1 && (uintptr_t)x->data % align == 0;
  for (int d = 0; d < line; d++) aligned = aligned && x->stride[d] * size % align == 0;
  const int64_t row = line ? x->stride[line - 1] * size : 0, column = x->stride[line] * size;
  m->row = (int)row;
  m->column = (int)column;
  m->next = row * t->dr + column * t->dc;
  m->crossed = t->crossed && gt__lies_across(x, args);
  m->copy = m->column && !m->crossed && bytes >= 4 && bytes <= 16 ? bytes : 0;
  return row == m->row && column == m->column && (column == 0 || m->crossed || aligned);
}
/* Lays the tiles for threads of so many vectors; `whole`: in whole ones, or false if it cannot. Of
   columns a tile has at most those of one vector of each thread, so that the next vector lies
   straight below; and fewer where an eighth of a row would be useless. */
static bool gt__set_tiling(gt__tiling *t, const gt__map_args *args, int threads, int vectors,
                           bool whole) {
  const int W = args->program.compute == GT__F32 ? 4 : 2, line = args->ndim - 1;
  const int elements = threads * vectors * W, hop = threads * W;
  int64_t batches = 1;
  t->crossed = whole && gt__is_crossed(args);
  if (whole)
    for (int d = 0; d < line - 1; d++) batches *= args->size[d];
  t->rows = args->count / args->size[line] / batches;
  if (batches > 65535 || (batches > 1 && t->rows < 64)) return false;
  t->batches = (unsigned)batches;
  const bool one = t->rows == 1;
  const int64_t width = args->size[line];
  int columns = t->crossed ? 16 * W : one ? elements : hop;
  while (!t->crossed && !one && columns > W && (-width & (columns - 1)) > width / 8) columns /= 2;
  t->columns_log2 = __builtin_ctz(columns);
  t->across = gt__blocks(width, columns);
  t->high = one ? 1 : elements >> t->columns_log2;
  t->dr = one ? 0 : hop >> t->columns_log2;
  t->dc = one ? hop : 0;
  whole = whole && args->size[line] % W == 0 && args->out.stride[line] == 1 &&
          gt__set_step(&t->step[0], &args->out, args, t, W) && !t->step[0].crossed;
  for (int k = 0; k < args->program.n_in; k++)
    whole = whole && gt__set_step(&t->step[1 + k], &args->in[k], args, t, W);
  return whole;
}
/* Is the map one of GT__SHORT_PROGRAMS on whole vectors, in one row or many? */
static bool gt__set_short(gt__short *s, const gt__map_args *args) {
  const gt__program *p = &args->program;
  const gt__operand *out = &args->out;
  const gt__tiling none = {};
  const int line = args->ndim - 1, W = 16 >> out->size_log2;
  const bool two = p->n_ins == 3 && p->ins[1].op == GT__OP_mul && p->ins[2].op == GT__OP_add;
  int arity = 0;
  if ((p->n_ins != 2 && !two) || p->ins[0].op != GT__LOAD || p->compute != GT__F32 || line > 1 ||
      !gt__is_usual(GT__F32, out->dtype) || args->size[line] % W || args->count / W > INT32_MAX)
    return false;
  const int slot[] = {0, p->ins[0].b, p->ins[1].b, two ? p->ins[2].b : p->ins[1].c};
  s->op = two ? (uint8_t)GT__OP_mul_add : p->ins[1].op;
#define GT__SHORT(name, n, many) if (s->op == GT__OP_##name) arity = n, s->each = many;
  GT__SHORT_PROGRAMS(GT__SHORT)
#undef GT__SHORT
#undef GT__SHORT_PROGRAMS
  s->vectors = (unsigned)(args->count / W);
  s->across = line ? (unsigned)(args->size[line] / W) : 0;
  s->data[0] = out->data;
  bool is = arity > 0 && gt__set_step(&s->step[0], out, args, &none, W) && s->step[0].copy;
  for (int k = 1; k <= arity && is; k++) {
    const int constant = slot[k] - p->n_in;
    const gt__operand *x = &args->in[constant < 0 ? slot[k] : 0];
    const bool chooses = s->op == GT__OP_where && k == 1 && x->dtype == GT_BOOL;
    const bool moves = gt__set_step(&s->step[k], x, args, &none, W), copies = s->step[k].copy > 0;
    s->data[k] = constant < 0 ? x->data : NULL;
    if (constant >= 0) s->number[k] = p->constant[constant].s;
    is = constant >= 0 ? arity > 1
         : moves && (x->dtype == out->dtype ? copies || arity > 1 : copies && chooses);
  }
  return is;
}
extern "C" int gt__cuda_map(const gt__map_args *args, void *stream) {
  const gt__program *p = &args->program;
  if (!gt__is_program(p) || args->count < 0) return cudaErrorInvalidValue;
  if (args->count == 0) return cudaSuccess;
  gt__short brief;
  void *just[] = {&brief};
  if (gt__set_short(&brief, args))
    return gt__launch(gt__short_kernels[args->out.dtype - GT_FLOAT16],
                      gt__blocks(brief.vectors, GT__SHORT_BLOCK), GT__SHORT_BLOCK / brief.each, 0,
                      stream, just);
  const int W = p->compute == GT__F32 ? 4 : 2;
  const int64_t slots = 16ll * gt__slot_count(p);
  gt__tiling t;
  int vectors = GT__VECTORS, threads = gt__is_crossed(args) ? 256 : 128;
  /* work that would not give each multiprocessor some blocks is cut finer */
  while (threads == 128 && (slots * threads * vectors > GT__SHARED ||
                            args->count < 256ll * threads * vectors * W))
    threads /= 2;
  const bool fits = slots * threads * vectors <= GT__SHARED;
  const bool whole = gt__set_tiling(&t, args, threads, vectors, fits);
  if (!whole) {
    threads = threads < 128 ? threads : slots * 256 > GT__SHARED ? 64 : 128;
    gt__set_tiling(&t, args, threads, vectors = 2, false);
  }
  const int mode = !whole ? GT__ANY : t.crossed ? GT__TURNED : GT__WHOLE;
  void *parameters[] = {(void *)args, &t};
  return gt__launch(gt__map_kernels[p->compute][p->heavy != 0][mode],
                    dim3(gt__blocks(t.rows, t.high) * t.across, t.batches), threads,
                    (size_t)(slots * threads * vectors), stream, parameters);
}

/* Is the program nothing but its operand, with one folded dim at most, folded as it is, and do the
   vectors of outputs end where lines do? */
static bool gt__is_direct(const gt__reduce_args *args) {
  const gt__map_args *m = &args->pre;
  const int n_kept = args->n_kept;
  return m->program.n_ins == 1 && m->program.ins[0].op == GT__LOAD && m->program.n_in == 1 &&
         args->n > 0 && args->fold < GT__FOLD_ANY && m->ndim - n_kept <= 1 &&
         gt__is_usual(m->program.compute, m->in[0].dtype) &&
         (args->inner || n_kept <= 1 || m->size[n_kept - 1] % 8 == 0);
}
/* By how many elements gt__shift may make rows longer. */
static int gt__slack(const gt__reduce_args *args, int W) {
  const gt__operand *x = &args->pre.in[0];
  int64_t odd = (int64_t)((uintptr_t)x->data >> x->size_log2);
  for (int d = 0; d < args->n_kept; d++) odd |= x->stride[d];
  return args->inner && odd % W != 0 ? W - 1 : 0;
}
static gt__stride gt__stride_of(const gt__reduce_args *args, const gt__operand *x, int W,
                                int team_log2) {
  const int n_kept = args->n_kept;
  const int64_t wide = n_kept ? x->stride[n_kept - 1] << x->size_log2 : 0;
  const int64_t deep = n_kept < args->pre.ndim ? x->stride[n_kept] << x->size_log2 : 0;
  return gt__stride{wide, deep, args->inner ? deep * (W << team_log2) : deep,
                    args->inner ? deep : wide};
}
static int gt__log2_above(int64_t x) {     /* the least power of two that is x or more */
  return x > 1 ? 64 - __builtin_clzll((uint64_t)x - 1) : 0;
}
static int gt__least(int a, int b) { return a < b ? a : b; }
/* Cuts the work, rows of n elements, for threads with `own` elements at a time. DOWN takes 8 chunks
   a block, if there are as many, and more where lines are narrow; inner 8 too. Blocks take more in
   turn, chunks or rows, so that all run at once, or at least few leave results to be joined. */
static void gt__cut_work(gt__cut *w, const gt__reduce_args *args, int64_t n, int W, int own,
                         int threads_log2) {
  const int64_t parts = (args->inner ? (n - 1) / own : (args->outer - 1) / W) + 1;
  w->fold = gt__base_fold(args->fold);
  w->way = !args->inner ? GT__DOWN : n <= 16 * own ? GT__SHORT : GT__LONG;
  w->team_log2 = gt__least(5, gt__log2_above(parts));
  w->chunks_log2 = gt__least(gt__log2_above(args->n_chunk), threads_log2 - w->team_log2);
  if (!args->inner) w->team_log2 = threads_log2 - w->chunks_log2;
  w->outs = args->inner ? 1 << (threads_log2 - w->team_log2 - w->chunks_log2) : W << w->team_log2;
  const int64_t many = 256 << threads_log2 / 2;
  int64_t blocks = gt__blocks(args->outer, w->outs) * (((args->n_chunk - 1) >> w->chunks_log2) + 1);
  for (; (blocks > many || blocks >> 9 == 1) &&
         w->outs << w->chunks_log2 < 8 << threads_log2; blocks /= 2)
    if (args->n_chunk >> w->chunks_log2 > 1) w->chunks_log2++;
    else if (args->inner && blocks > many && args->n * w->outs < 16384) w->outs *= 2;
    else break;
  w->results = ((w->outs << w->chunks_log2) + 31) & ~31;
  w->groups = (unsigned)(((args->n_chunk - 1) >> w->chunks_log2) + 1);
  for (int k = 0; k < args->pre.program.n_in; k++)
    w->in[k] = gt__stride_of(args, &args->pre.in[k], W, w->team_log2);
}
static int gt__launch_soft(const gt__reduce_args *args, void *stream) {
  const gt__map_args *m = &args->pre;
  const gt__operand *out = args->soft == GT__LOGSUMEXP ? &m->in[0] : &m->out;
  const int compute = m->program.compute, W = compute == GT__F32 ? 4 : 2, row = 1024;
  const int64_t n = args->n + (args->n + W > GT__CHUNK ? 0 : gt__slack(args, W));
  gt__cut w;
  if (!gt__is_direct(args) || !gt__is_usual(compute, out->dtype) || compute == GT__I64 ||
      args->n * (16 / W) > GT__SOFT_BYTES || !args->inner || args->fold != GT__FOLD_SUM)
    return cudaErrorInvalidValue;
  gt__cut_work(&w, args, n, W, 32, 8);
  gt__stride result = gt__stride_of(args, out, W, w.team_log2);
  const int threads = n <= row ? 256 : 32 * (int)((n - 1) / row + 1);
  w.outs = n <= row ? 256 >> w.team_log2 : 1;
  void *parameters[] = {(void *)args, &w, &result};
  return gt__launch(gt__soft_kernels[compute == GT__F64], gt__blocks(args->outer, w.outs), threads,
                    0, stream, parameters);
}
/* Where there are many outputs, at least 8 neighbours a block, so that it reads whole sectors. */
static int gt__launch_combine(const gt__reduce_args *args, gt__cut *w, int result, void *stream) {
  int groups = (int)w->groups, outs = 1 << gt__least(3, gt__log2_above(args->outer));
  int leaves = 1 << gt__log2_above(groups);
  while (leaves * outs < 512) outs *= 2;
  while (leaves * outs > 8192 || leaves * outs * result > GT__SHARED) leaves /= 2;
  void *parameters[] = {(void *)args, &w->fold, &groups, &outs, &leaves};
  return gt__launch_behind(gt__reduce_kernels[args->pre.program.compute][GT__COMBINE],
                           gt__blocks(args->outer, outs), 512, leaves * outs * result, 1, stream,
                           parameters);
}
extern "C" int gt__cuda_reduce(const gt__reduce_args *args, void *stream) {
  const gt__program *p = &args->pre.program;
  if (!gt__is_program(p) || args->outer < 0 || args->n < 0) return cudaErrorInvalidValue;
  if (args->n_chunk > 1 && !args->pre.scratch) return cudaErrorInvalidValue;
  if (args->outer == 0) return cudaSuccess;
  if (args->soft) return gt__launch_soft(args, stream);
  const int fold = gt__base_fold(args->fold), arg = fold == GT__FOLD_ARGMAX;
  gt__reduce_args coarse = *args;        /* longer chunks of what is the same in any order */
  for (; fold > GT__FOLD_PROD && coarse.n_chunk > 1 && coarse.outer * coarse.n_chunk >> 20;
       coarse.n_chunk = (coarse.n_chunk + 1) / 2) coarse.chunk *= 2;
  args = &coarse;
  gt__cut w;
  w.simple = args->n_kept <= 1 && args->pre.ndim - args->n_kept <= 1;
  bool light = w.simple && p->compute == GT__F32 && gt__slot_count(p) <= 5 && !p->heavy;
  for (int k = 0; k < p->n_in; k++) light = light && gt__is_usual(GT__F32, args->pre.in[k].dtype);
  const int source = !gt__is_direct(args) ? light ? GT__LIGHT : GT__ANYHOW
                     : args->inner && args->n <= 8 ? GT__TINY : arg ? GT__DIRECT_ARG : GT__DIRECT;
  const int size = p->compute == GT__F32 ? 4 : 8;
  const bool direct = source < GT__LIGHT, wide = direct && args->pre.in[0].size_log2 == 1;
  const int W = wide ? 8 : 16 / size, vectors = source == GT__ANYHOW ? GT__FEW : 8;
  const int slots = direct ? 0 : 16 * vectors * (int)gt__slot_count(p), result = size + 8 * arg;
  int threads_log2 = 8;                  /* a thread has room for 8 results */
  while (threads_log2 > 5 && (8 * result + slots) << threads_log2 > GT__SHARED) threads_log2--;
  gt__cut_work(&w, args, args->n + (direct && source != GT__TINY ? gt__slack(args, W) : 0), W,
               source == GT__TINY ? 8 : vectors * W, threads_log2);
  const int row = wide ? 3 + (args->pre.in[0].dtype == GT_BFLOAT16) : p->compute;
  void *parameters[] = {(void *)args, &w};
  const int error = gt__launch(gt__reduce_kernels[row][source],
                               gt__blocks(args->outer, w.outs) * w.groups, 1 << threads_log2,
                               result * w.results + (slots << threads_log2), stream, parameters);
  return error || w.groups == 1 ? error : gt__launch_combine(args, &w, result, stream);
}

/* -- products on the tensor cores of Hopper -- */
/* A tensor of wide x lines x depth for the copy engine, in boxes of 128 bytes x 64 lines. The
   encoder is asked of the runtime, so that nobody has to link the driver. */
static int gt__make_map(CUtensorMap *map, int dtype, const void *data, int64_t wide, int64_t lines,
                        int64_t depth, int64_t line_stride, int64_t depth_stride) {
  static void *encoder = NULL;
  const int size = dtype == GT_FLOAT32 ? 4 : 2;
  if (depth_stride == 0) depth_stride = line_stride * lines;   /* depth is 1, but it is checked */
  const cuuint64_t dim[3] = {(cuuint64_t)wide, (cuuint64_t)lines, (cuuint64_t)depth};
  const cuuint64_t stride[2] = {(cuuint64_t)line_stride * size, (cuuint64_t)depth_stride * size};
  const cuuint32_t box[3] = {128u / size, 64, 1}, one[3] = {1, 1, 1};
  cudaDriverEntryPointQueryResult found;
  void *f = __atomic_load_n(&encoder, __ATOMIC_RELAXED);
#if CUDART_VERSION >= 12050
  if (!f) cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault,
                                           &found);
#else
  if (!f) cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault, &found);
#endif
  if (!f) return cudaErrorNotSupported;
  __atomic_store_n(&encoder, f, __ATOMIC_RELAXED);
  const CUresult bad = ((decltype(&cuTensorMapEncodeTiled))f)(
      map, dtype == GT_FLOAT32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 :
      dtype == GT_FLOAT16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3,
      (void *)data, dim, stride, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return bad ? cudaErrorInvalidValue : cudaSuccess;
}
static int64_t gt__up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }
/* The multiprocessors of the current device; *hopper: does it run the kernels for Hopper? */
static int gt__multiprocessors(bool *hopper) {
  const int facts = gt__device_facts();
  *hopper = (facts & GT__PROBE_HOPPER) && GT__CORES > 0;
  return facts ? facts >> 16 : 1;
}

struct gt__product {
  gt__hopper_args p;
  gt__matmul_args x;
  bool through, turned;                  /* through: C is in scratch and a map follows; turned: x is
                                            B' x A' */
  int products, pieces, type;            /* type: of the pieces */
  size_t scratch;
};
/* Cuts C into tiles of `wide` columns, `down` of them a cluster; `even`: tiles that would not fill
   all clusters are cut: few into as many parts as there are clusters for (half as many if it is 2),
   more into equal shares. Its clocks, by a model: per step the tensor cores' or those of loading,
   44 bytes a clock if all multiprocessors do, 46 if few; and what was measured beside. */
static double gt__cut_up(const gt__product *j, int wide, int down, int even, int blocks,
                         gt__division *t) {
  const int room = blocks / down, steps = (j->p.k - 1) / GT__DEEP + 1;
  t->high = GT__HIGH * down, t->wide = wide;
  t->rows = (t->m - 1) / t->high + 1;
  t->columns = (t->n - 1) / wide + 1;
  t->tiles = t->rows * t->columns * (int)j->x.batch;
  t->turns = t->tiles / room;
  t->whole = t->turns * room;
  const int rest = t->tiles - t->whole, most = j->products > 1 ? steps : steps / 10;
  const int parts = rest && even ? min(room / rest / even, most) : 0;
  t->share = parts > 1 ? (steps - 1) / parts + 1
             : even ? (rest * steps - 1) / room + 1 : (rest - 1) / room * steps + steps;
  t->steps = parts > 1 ? (int)gt__up(steps, t->share) : steps;   /* beyond K there are zeros */
  t->clusters = t->turns ? room : (rest * t->steps - 1) / t->share + 1;
  t->slots = rest && t->share % t->steps ? rest + t->clusters : 0;
  t->lines = t->high < t->m ? t->high : t->m;
  t->pitch = wide < t->n ? wide : (int)gt__up(t->n, 4);
  const double mine = t->turns * t->steps + (rest ? t->share : 0);
  const double busy = t->clusters / (double)room, compute = wide * 4.0 * j->products;
  const double load = 128.0 * j->pieces * (128 + wide / (double)down) / (46 - 2 * busy);
  const double bytes = 8.0 * t->slots * t->lines * t->pitch;
  return mine * fmax(compute, load) + mine / t->steps * (1000 + (t->direct ? 4 : 30) * wide) +
         (t->slots ? 3000 + bytes / (parts > 1 ? 1800 : 700) : 0);
}
static void gt__choose(gt__product *j, int blocks) {
  gt__division best = j->p.t, t = best;
  double least = HUGE_VAL;
  for (int i = 0; i < 24; i++) {
    const int wide = 64 + i / 6 * 64, down = 1 + i / 3 % 2, even = i % 3;
    if ((j->products > 1 && wide != 128) || (down > 1 && t.m <= GT__HIGH)) continue;
    const double clocks = gt__cut_up(j, wide, down, even, blocks, &t);
    if (clocks < least) least = clocks, best = t, j->p.down = down;
  }
  j->p.t = best;
}

/* A part of the scratch memory, which has no address yet when its size is asked for. */
static char *gt__carve(gt__product *j, size_t bytes) {
  char *part = j->x.post.scratch ? (char *)j->x.post.scratch + j->scratch : NULL;
  j->scratch += (bytes + 255) / 256 * 256;
  return part;
}
/* How operand i lies, and whether it must be packed. */
static void gt__see(gt__product *j, int i) {
  const gt__matmul_args *x = &j->x;
  const int64_t mn_stride = i ? x->b_col : x->a_row, k_stride = i ? x->b_row : x->a_col;
  const int mn = i ? j->p.t.n : j->p.t.m, k = j->p.k;
  const bool along = mn_stride != 1 || (k_stride == 1 && k >= mn), f32 = x->a.dtype == GT_FLOAT32;
  gt__factors *both = &j->p.f;
  gt__factor *f = &both->x[i];
  f->data = i ? x->b.data : x->a.data;
  f->along_k = along;
  f->wide = along ? k : mn;
  f->lines = along ? mn : k;
  f->stride = along ? k_stride : mn_stride;
  f->line_stride = along ? mn_stride : k_stride;
  f->batch = f->batch_stride ? (int)x->batch : 1;
  f->step = f->batch_stride ? j->pieces : 0;
  if (!f32 && f->stride == 1 && (uintptr_t)f->data % 16 == 0 && f->line_stride % 8 == 0 &&
      f->line_stride >= f->wide && f->batch_stride % 8 == 0 && f->batch_stride >= 0) return;
  f->chunk = (int)gt__up((k + 15) / 16, along ? 512 : 32);
  f->pitch = (int)gt__up(f->wide, 8);
  f->tiles = along ? (f->lines + 7) / 8 : (f->wide + 127) / 128;
  f->to = (uint16_t *)gt__carve(j, (size_t)f->batch * j->pieces * f->lines * f->pitch * 2);
  if (f32) f->top = (uint32_t *)gt__carve(j, (size_t)f->batch * 16 * mn * 4);
  both->batches = max(both->batches, f->batch);
  both->chunks = max(both->chunks, (k - 1) / f->chunk + 1);
}
/* Is the program alpha * product [+ an operand][, relu] or less? What there is of it. */
static bool gt__is_linear(const gt__program *g, gt__division *t, int *bias) {
  int pc = 1;
  t->alpha = 1;
  if (g->n_ins < 1 || g->ins[0].op != GT__LOAD || g->ins[0].b != 0) return false;
  if (pc < g->n_ins && g->ins[pc].op == GT__OP_mul) {
    const int k = g->ins[pc++].b - g->n_in;
    if (k < 0 || k >= g->n_const) return false;
    t->alpha = g->constant[k].s;
  }
  if (pc < g->n_ins && g->ins[pc].op == GT__OP_add && g->ins[pc].b > 0 && g->ins[pc].b < g->n_in)
    *bias = g->ins[pc++].b;
  if (pc < g->n_ins && g->ins[pc].op == GT__OP_relu) t->relu = 1, pc++;
  return pc == g->n_ins;
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
/* Where C goes: to its place, or to a matrix in scratch and from there by a map. */
static void gt__plan_output(gt__product *j) {
  const gt__matmul_args *x = &j->x;
  const gt__operand *out = &x->post.out;
  gt__division *t = &j->p.t;
  const int size = out->dtype == GT_FLOAT32 ? 4 : 2, line = x->post.ndim - 1;
  int bias = 0;
  t->dtype = out->dtype;
  t->to = out->data;
  t->row = out->stride[x->n_batch], t->column = out->stride[x->n_batch + 1];
  j->through = !gt__one_batch(x, out, &t->batch) ||
               !gt__is_linear(&x->post.program, t, &bias) ||
               (t->dtype != GT_FLOAT32 && t->dtype != GT_FLOAT16 && t->dtype != GT_BFLOAT16) ||
               (j->type && t->dtype != GT_FLOAT32 && t->dtype != j->type);
  for (int d = 0; d < line && bias; d++)
    j->through = j->through || x->post.in[bias].stride[d] != 0;
  if (bias && j->turned && t->column == 1) j->through = true;  /* see gt__store_brick */
  if (j->through) {
    t->dtype = GT_FLOAT32;
    t->row = gt__up(t->n, 4), t->column = 1, t->batch = t->row * t->m;
    t->to = gt__carve(j, (size_t)(t->batch * x->batch) * 4);
    t->alpha = 1, t->relu = 0;
  } else if (bias) {
    const gt__operand *o = &x->post.in[bias];
    t->bias = o->data;
    t->bias_dtype = o->dtype;
    (j->turned ? t->bias_row : t->bias_column) = o->stride[line] << o->size_log2;
  }
  t->direct = j->through ||              /* 16 bytes are stored at once */
              (t->column == 1 && (uintptr_t)t->to % 16 == 0 && t->row * size % 16 == 0 &&
               t->row >= t->n && t->batch * size % 16 == 0 && t->batch >= 0 &&
               t->n * size % 16 == 0 && t->bias_row == 0 &&
               (t->dtype == GT_FLOAT32 || (t->dtype == j->type && j->products == 1)));
}
/* C' = B' x A'. */
static void gt__turn(gt__matmul_args *to, const gt__matmul_args *x) {
  const int row = x->n_batch, column = row + 1;
  to->a = x->b, to->m = x->n, to->a_row = x->b_col, to->a_col = x->b_row;
  to->b = x->a, to->n = x->m, to->b_row = x->a_col, to->b_col = x->a_row;
  to->post.out.stride[row] = x->post.out.stride[column];
  to->post.out.stride[column] = x->post.out.stride[row];
}
/* Works out everything but the tensor maps; false: the general kernel has to do it. */
static bool gt__plan_product(const gt__matmul_args *args, gt__product *j) {
  gt__hopper_args *p = &j->p;
  gt__matmul_args *x = &j->x;
  bool hopper;
  const int blocks = gt__multiprocessors(&hopper), dtype = args->a.dtype;
  const bool halves = dtype == GT_FLOAT16 || dtype == GT_BFLOAT16;
  memset(j, 0, sizeof *j);
  *x = *args;
  const int64_t few = x->m < x->n ? x->m : x->n, many = x->m < x->n ? x->n : x->m;
  if (x->compute != GT__F32 || x->k < 1 || x->k > INT_MAX / 4 || many > INT_MAX / 4 ||
      x->batch > 65535 ||                /* steps of all tiles are counted by an int */
      (many / 64. + 1) * (few / 64. + 1) * (x->k / 64. + 1) * x->batch > INT_MAX) return false;
  j->turned = x->m <= 64 && x->n > x->m;
  if (j->turned) gt__turn(x, args);
  /* float32: below 16 of K the pieces' error shows, and they cost more than few rows or a small
     product: 2.6 us per million elements, where the general kernel takes .06 a row */
  if (!hopper || dtype != args->b.dtype || (!halves && dtype != GT_FLOAT32) ||
      (!halves && (x->k < 16 || few <= 64 || (double)few * many * x->k <= 1 << 21 ||
                   (double)few * many * x->batch <= 1 << 17)) ||
      !gt__one_batch(x, &x->a, &p->f.x[0].batch_stride) ||
      !gt__one_batch(x, &x->b, &p->f.x[1].batch_stride)) return false;
  j->products = halves || x->precision == GT_MEDIUM ? 1 : x->precision == GT_HIGH ? 3 : 6;
  j->pieces = j->products == 6 ? 3 : j->products == 3 ? 2 : 1;
  j->type = dtype == GT_FLOAT16 ? GT_FLOAT16 : GT_BFLOAT16;
  p->t.m = (int)x->m, p->t.n = (int)x->n, p->k = (int)x->k;
  gt__plan_output(j);
  gt__choose(j, blocks);
  for (int i = 0; i < 2; i++) gt__see(j, i);
  p->t.parts = (float *)gt__carve(j, (size_t)p->t.slots * p->t.lines * p->t.pitch * 4);
  return true;
}

#define GT__FORM(...) GT__POINTER(gt__hopper_kernel<gt__plan<__VA_ARGS__>>)
#define GT__FORMS(...) {GT__FORM(__VA_ARGS__, 0, 0), GT__FORM(__VA_ARGS__, 0, 1), \
                        GT__FORM(__VA_ARGS__, 1, 0), GT__FORM(__VA_ARGS__, 1, 1)}
#define GT__WIDTHS(T) \
  GT__FORMS(T, 64, 1), GT__FORMS(T, 128, 1), GT__FORMS(T, 192, 1), GT__FORMS(T, 256, 1)
/* [what][A along K, B along K] */
static const void *const gt__hopper_kernels[10][4] = {
  GT__WIDTHS(gt__bfloat), GT__WIDTHS(gt__half), GT__FORMS(gt__bfloat, 128, 3),
  GT__FORMS(gt__bfloat, 128, 6)};
#undef GT__FORM
#undef GT__FORMS
#undef GT__WIDTHS
static const void *const gt__pack_kernels[4] = { /* for 16 bits, then by pieces */
  GT__POINTER(gt__pack_kernel<uint16_t, 1>), GT__POINTER(gt__pack_kernel<uint32_t, 1>),
  GT__POINTER(gt__pack_kernel<uint32_t, 2>), GT__POINTER(gt__pack_kernel<uint32_t, 3>)};
/* C from the parts of tiles, if there are any. */
static int gt__launch_gather(gt__product *j, void *stream) {
  gt__division *t = &j->p.t;
  const int parts = (t->steps - 1) / t->share + 1;
  int team = 1;
  while (team < 8 && team * 16 < parts) team *= 2;
  const int rows = 32 / team, pieces = ((t->lines - 1) / rows + 1) * ((t->pitch - 1) / 32 + 1);
  void *parameters[] = {t, &team};
  if (!t->slots) return 0;
  return gt__launch_behind(GT__POINTER(gt__gather_kernel), dim3((t->tiles - t->whole) * pieces),
                           256, 0, 1, stream, parameters);
}
static const uint8_t gt__widest[] = {GT_FLOAT32, GT_FLOAT64, GT_INT64};   /* by compute type */
/* From a matrix in scratch to C: a map of the program with the product as its input 0. */
static int gt__finish_product(const gt__matmul_args *x, gt__product *j, void *stream) {
  const gt__division *t = &j->p.t;
  const int nb = x->n_batch;
  gt__map_args m = x->post;
  gt__operand *in = &m.in[0];
  int64_t stride = t->batch;
  *in = {(char *)t->to, {}, gt__widest[x->compute], (uint8_t)(x->compute == GT__F32 ? 2 : 3), {}};
  in->stride[nb + j->turned] = t->row;
  in->stride[nb + !j->turned] = 1;
  for (int d = nb - 1; d >= 0; stride *= m.size[d--]) in->stride[d] = stride;
  m.narrow = m.narrow && stride < INT32_MAX / 8;
  m.scratch = NULL;
  return gt__cuda_map(&m, stream);
}
static int gt__launch_hopper(gt__product *j, void *stream) {
  gt__hopper_args *p = &j->p;
  gt__division *t = &p->t;
  const gt__factor *x = p->f.x;
  void *parameters[] = {p}, *packs[] = {&p->f};
  int e = 0;
  if (p->f.batches)
    e = gt__launch_behind(gt__pack_kernels[x[0].top ? j->pieces : 0],
                          dim3(x[0].tiles + x[1].tiles, p->f.chunks, p->f.batches), 256, 0, 1,
                          stream, packs);
  for (int i = 0; i < 2 && !e; i++) {
    const bool packed = x[i].tiles > 0;
    const int64_t line = packed ? x[i].pitch : x[i].line_stride;
    e = gt__make_map(i ? &p->b : &p->a, j->type, packed ? (const void *)x[i].to : x[i].data,
                     x[i].wide, x[i].lines, (int64_t)x[i].batch * j->pieces, line,
                     packed ? line * x[i].lines : x[i].batch_stride);
  }
  if (!e && t->direct)
    e = gt__make_map(&p->c, t->dtype, t->to, gt__up(t->n, 4), t->m, j->x.batch, t->row, t->batch);
  if (!e && t->slots)
    e = gt__make_map(&p->parts, GT_FLOAT32, t->parts, t->pitch, t->lines,
                     t->slots, t->pitch, (int64_t)t->lines * t->pitch);
  if (e) return e;
  const int what = j->products == 6 ? 9 : j->products == 3 ? 8
                   : t->wide / 64 - 1 + (j->type == GT_FLOAT16 ? 4 : 0);
  e = gt__launch_behind(gt__hopper_kernels[what][2 * x[0].along_k + x[1].along_k],
                        dim3(t->clusters * p->down), 3 * GT__TEAM, GT__ROOM, p->down, stream,
                        parameters);
  return e ? e : gt__launch_gather(j, stream);
}

/* -- the general kernel -- */
/* Can the current device run it, as built for an architecture from `least` on? Is there memory?
   The driver is asked once, since it takes a microsecond to answer. */
static bool gt__can_run(const gt__form *f, int least) {
  static int known[64][GT__FORMS];       /* that architecture, or 1: it cannot */
  int device = 0, *at = &known[0][f - gt__matmul_forms];
  if (cudaGetDevice(&device) || device >= 64) return false;
  at += device * GT__FORMS;
  int built = __atomic_load_n(at, __ATOMIC_RELAXED);
  if (!built) {
    cudaFuncAttributes a = {};
    cudaError_t error = cudaFuncGetAttributes(&a, f->kernel);
    if (!error) error = cudaFuncSetAttribute(f->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             f->bytes);
    if (error) (void)cudaGetLastError();
    built = error ? 1 : a.ptxVersion;
    __atomic_store_n(at, built, __ATOMIC_RELAXED);
  }
  return built > 1 && built >= least && (int)GT__CORES >= least;
}
/* A map that copies x; its sizes are to be set. Its program is of zeros, since GT__LOAD is one. */
static gt__map_args gt__copying_map(const gt__operand &x, int ndim, int compute) {
  gt__map_args m = {};
  m.in[0] = x;
  m.ndim = ndim;
  m.program.compute = (uint8_t)compute;
  m.program.n_in = m.program.n_slot = m.program.n_ins = 1;
  return m;
}
/* Can the kernel copy A, or B, from where it is? */
static bool gt__can_copy(const gt__matmul_args *x, bool b, const gt__form *f) {
  const gt__operand *o = b ? &x->b : &x->a;
  const int64_t wide = b ? x->b_col : x->a_row, deep = b ? x->b_row : x->a_col;
  const bool along = gt__is_along(deep, wide);
  const int64_t step = along ? deep : wide, line = along ? wide : deep, V = 16 >> o->size_log2;
  if (o->dtype != f->dtype || !(f->lots >> b & 1)) return o->dtype == f->dtype;
  bool well = step == 1 && line >= V && line % V == 0 && (uintptr_t)o->data % 16 == 0 &&
              (!along || f->turns >> b & 1);
  for (int d = 0; d < x->n_batch; d++) well = well && o->stride[d] % V == 0;
  return well;
}
/* Brings A, or B, to scratch, in lines that the kernel copies and that begin at 16 bytes. */
static int gt__bring(gt__product *j, bool b, const gt__form *f, void *stream) {
  gt__matmul_args *x = &j->x;
  gt__operand *o = b ? &x->b : &x->a;
  int64_t *wide = b ? &x->b_col : &x->a_row, *deep = b ? &x->b_row : &x->a_col, next = 1;
  const bool along = f->turns >> b & 1 && gt__is_along(*deep, *wide);
  int64_t *step = along ? deep : wide, *line = along ? wide : deep;    /* in a line, to the next */
  const int64_t mn = b ? x->n : x->m;
  const int nb = x->n_batch;
  gt__map_args m = gt__copying_map(*o, nb + 2, x->compute);
  m.in[0].stride[nb] = *line;
  m.in[0].stride[nb + 1] = *step;
  m.size[nb] = along ? mn : x->k;
  m.size[nb + 1] = along ? x->k : mn;
  m.count = mn * x->k;
  for (int d = 0; d < nb; d++) m.count *= m.size[d] = o->stride[d] ? x->post.size[d] : 1;
  for (int d = nb + 1; d >= 0; d--) {
    o->stride[d] = m.size[d] == 1 ? 0 : next;
    next *= d > nb ? gt__up(m.size[d], 8) : m.size[d];
  }
  *step = 1;
  *line = gt__up(m.size[nb + 1], 8);
  o->dtype = (uint8_t)f->dtype;
  o->size_log2 = (uint8_t)f->size_log2;
  o->data = gt__carve(j, (size_t)next << f->size_log2);
  m.out = *o;
  return x->post.scratch ? gt__cuda_map(&m, stream) : cudaSuccess;
}
static int64_t gt__count_tiles(const gt__matmul_args *x, const gt__form *f) {
  return ((x->m - 1) / f->m + 1) * ((x->n - 1) / f->n + 1) * x->batch;
}
/* Large tiles where these fill the GPU and its rows pay for what is brought; strips of B where this
   is what is read most. */
static gt__form gt__choose_form(const gt__matmul_args *x) {
  const bool f32 = x->compute == GT__F32, bf16 = x->a.dtype == GT_BFLOAT16;
  const gt__form *f = gt__matmul_forms + x->compute, *f16 = gt__matmul_forms + GT__LARGE_16 + bf16;
  const gt__form *strip = gt__matmul_forms + GT__STRIP + (x->m > 4) + (x->m > 16);
  const gt__form *large = x->compute == GT__I64 ? f : f + GT__LARGE;
  bool hopper;
  gt__multiprocessors(&hopper);
  if (f32 && !hopper && x->a.dtype == x->b.dtype && (bf16 || x->a.dtype == GT_FLOAT16) &&
      (double)x->m * x->n * x->k >= 1 << 18 &&
      (gt__can_run(f16, 80) || gt__can_run(f16 += 2, 80))) return *f16;
  if (min(x->m, x->n) > (f32 ? 256 : 64) && gt__count_tiles(x, large) >= 90 &&
      gt__can_run(large, 0)) {
    gt__form big = *large;
    if (!gt__can_run(large, 90)) big.turns = 0;          /* by GT__FMA, then */
    return big;
  }
  return f32 && gt__can_copy(x, true, strip) && gt__can_run(strip, 0) ? *strip : *f;
}
/* How much of K a block takes: all, or so much that the multiprocessors are full, or have a block
   each if that were below 128; and not so much that the error of its sums shows. */
static int64_t gt__share_k(const gt__matmul_args *x, const gt__form *f) {
  const int64_t blocks = gt__device_facts() >> 16, tiles = gt__count_tiles(x, f);
  int64_t parts = blocks * (256 / f->threads) / tiles;
  if (parts > x->k / 128) parts = min(blocks / tiles, x->k / 64);
  if (x->compute != GT__F32 || parts < 2) return x->k;
  return gt__up((x->k - 1) / min(max(parts, x->k / 4096), (int64_t)128) + 1, 32);
}
/* Sums go to scratch: the parts of C, of which a batch is a tile to gt__gather_kernel, or the whole
   of it for a map. */
static void gt__plan_sums(gt__product *j, int parts) {
  gt__matmul_args *x = &j->x;
  gt__operand *o = &x->post.out;
  gt__division *t = &j->p.t;
  const int nb = x->n_batch, size_log2 = x->compute == GT__F32 ? 2 : 3;
  const int64_t pitch = gt__up(x->n, 4);
  int64_t next = x->m * pitch * (parts > 1 ? parts + 1 : 1);
  t->m = t->high = t->lines = (int)x->m;
  t->n = t->wide = (int)x->n;
  t->pitch = (int)pitch;
  t->rows = t->columns = t->share = 1;
  t->tiles = t->slots = (int)x->batch;
  t->steps = parts;
  if (parts > 1) gt__plan_output(j);
  t->direct = 0;
  o->data = gt__carve(j, (size_t)(x->batch * next) << size_log2);
  if (parts > 1) t->parts = (float *)o->data;
  else j->through = true, t->row = pitch, t->batch = next, t->to = o->data;
  o->dtype = gt__widest[x->compute];
  o->size_log2 = (uint8_t)size_log2;
  o->stride[nb] = pitch;
  o->stride[nb + 1] = 1;
  for (int d = nb - 1; d >= 0; next *= x->post.size[d--]) o->stride[d] = next;
}
/* `counts`: only *used is wanted. */
static int gt__run_tiled(const gt__matmul_args *args, size_t *used, bool counts, void *stream) {
  gt__product j = {};
  gt__matmul_args *x = &j.x;
  const gt__program *p = &args->post.program;
  int error = 0;
  *x = *args;
  j.turned = x->compute == GT__F32 && x->n < x->m && x->n <= 64;
  if (j.turned) gt__turn(x, args);
  if (counts) x->post.scratch = NULL;
  const gt__form f = gt__choose_form(x);
  for (int i = 0; i < 2 && !error; i++)
    if (!gt__can_copy(x, i, &f)) error = gt__bring(&j, i, &f, stream);
  const int64_t tiles = gt__count_tiles(x, &f);
  int64_t part = gt__share_k(x, &f), hop = 0;
  const int parts = part < x->k ? (int)((x->k - 1) / part + 1) : 1, to = x->post.out.dtype;
  const bool plain = p->n_ins == 1 && p->ins[0].op == GT__LOAD && p->ins[0].b == 0 &&
                     (to == gt__widest[x->compute] || to == f.dtype);
  if (parts > 1 || !plain) gt__plan_sums(&j, parts);
  if (parts > 1) hop = x->m * j.p.t.pitch;
  *used = j.scratch;
  if (error || counts) return error;
  if ((j.scratch && !x->post.scratch) || tiles > INT_MAX) return cudaErrorInvalidValue;
  void *parameters[] = {x, &part, &hop};
  error = gt__launch_behind(f.kernel, dim3((unsigned)tiles, parts), f.threads, f.bytes,
                            tiles * parts >= 128, stream, parameters);
  if (!error && parts > 1) error = gt__launch_gather(&j, stream);
  return error || !j.through ? error : gt__finish_product(args, &j, stream);
}

extern "C" int gt__cuda_matmul(const gt__matmul_args *args, void *stream) {
  const gt__program *p = &args->post.program;
  if (!gt__is_program(p) || p->n_in < 1 || args->compute != p->compute ||
      args->m < 0 || args->n < 0 || args->k < 0 || args->batch < 0)
    return cudaErrorInvalidValue;
  if (args->m == 0 || args->n == 0 || args->batch == 0) return cudaSuccess;
  gt__product job;
  size_t used = 0;
  if (!gt__plan_product(args, &job)) return gt__run_tiled(args, &used, false, stream);
  if (job.scratch && !args->post.scratch) return cudaErrorInvalidValue;
  const int code = gt__launch_hopper(&job, stream);
  return code || !job.through ? code : gt__finish_product(args, &job, stream);
}

/* Bytes that gt__cuda_matmul needs in post.scratch. */
extern "C" size_t gt__cuda_matmul_scratch(const gt__matmul_args *args) {
  gt__product job;
  size_t used = 0;
  if (gt__plan_product(args, &job)) return job.scratch;
  return gt__run_tiled(args, &used, true, NULL) ? 0 : used;
}

/* Joins neighbours along the last dim, if it is dense on both sides, to elements of 8 bytes, or of
   16 where an index picks rows, which move faster so. */
static void gt__widen(gt__copy_args *a) {
  const int last = a->ndim - 1, most = a->index.data ? 16 : 8;
  bool can = a->dst.stride[last] == 1 && a->src.stride[last] == 1 &&
             !(a->index.data && a->gather_dim == last);
  for (;; a->dst.size_log2++) {
    const int bytes = 2 << a->dst.size_log2;
    can = can && bytes <= most && a->size[last] % 2 == 0 &&
          ((uintptr_t)a->dst.data | (uintptr_t)a->src.data) % bytes == 0;
    for (int d = 0; d < last; d++) can = can && (a->dst.stride[d] | a->src.stride[d]) % 2 == 0;
    if (!can) return;
    a->size[last] /= 2;
    a->count /= 2;
    for (int d = 0; d < last; d++) a->dst.stride[d] /= 2, a->src.stride[d] /= 2;
  }
}
/* Without an index, a map copies, which loads and stores bits. */
extern "C" int gt__cuda_copy(const gt__copy_args *args, void *stream) {
  static const uint8_t dtype[] = {GT__RAW_8, GT__RAW_16, GT_FLOAT32, GT_FLOAT64};
  gt__copy_args c = *args;
  if (c.kind != GT__ELEMENTS || c.count < 0 || c.dst.dtype != c.src.dtype)
    return cudaErrorInvalidValue;
  if (c.count == 0) return cudaSuccess;
  gt__widen(&c);
  const uint8_t size = c.dst.size_log2;
  if (c.index.data) {
    void *parameters[] = {&c};
    return gt__launch(gt__copy_kernels[size], gt__blocks(c.count, 256), 256, 0, stream, parameters);
  }
  gt__map_args m = gt__copying_map(c.src, c.ndim, size == 3 ? GT__F64 : GT__F32);
  m.count = c.count;
  memcpy(m.size, c.size, sizeof m.size);
  m.narrow = c.narrow;
  m.out = c.dst;
  m.in[0].size_log2 = size;
  m.out.dtype = m.in[0].dtype = dtype[size];
  return gt__cuda_map(&m, stream);
}

extern "C" int gt__cuda_build(gt__build *build) {
  static const int list[] = {__CUDA_ARCH_LIST__};
  const int facts = gt__device_facts();
  *build = {{}, sizeof(gt__map_args), sizeof(gt__reduce_args), sizeof(gt__matmul_args),
            sizeof(gt__copy_args), 0, {}};
  strncpy(build->version, facts & GT__PROBE_FLUSHES ? "fast-math" : GPUTENSOR_VERSION,
          sizeof build->version - 1);
  for (size_t i = 0; i < sizeof list / sizeof *list && build->n_arch < 16; i++)
    build->arch[build->n_arch++] =
        list[i] == 900 && facts & GT__PROBE_HOPPER ? 900 + 'a' : list[i] / 10;
  return cudaSuccess;
}

/* Kernels load at their first use, which may wait for the device; this loads all of them. Those for
   Hopper must say how much shared memory they take before they are launched. */
extern "C" int gt__cuda_warmup(void) {
  static const void *const gather = GT__POINTER(gt__gather_kernel);
  static const struct { const void *const *kernels; int n; } all[] = {
    {gt__map_kernels[0][0], 18}, {gt__reduce_kernels[0], 30}, {gt__soft_kernels, 2},
    {gt__pack_kernels, 4}, {gt__copy_kernels, 5}, {&gather, 1}, {gt__short_kernels, 3}};
  cudaFuncAttributes attributes;
  bool hopper;
  cudaError_t error = cudaSuccess;
  for (const auto &some : all)
    for (int i = 0; i < some.n && !error; i++)
      error = cudaFuncGetAttributes(&attributes, some.kernels[i]);
  for (const gt__form &f : gt__matmul_forms)
    if (!error) error = cudaFuncGetAttributes(&attributes, f.kernel);
  gt__multiprocessors(&hopper);
  for (int i = 0; i < 40 && !error && hopper; i++)
    error = cudaFuncSetAttribute(gt__hopper_kernels[i / 4][i % 4],
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, GT__ROOM);
  if (error) (void)cudaGetLastError();
  return error;
}

#undef GT__POINTER
#undef GT__SATURATE
#undef GT__EACH
#undef GT__DEV
