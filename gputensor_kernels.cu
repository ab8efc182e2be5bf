/* gputensor_kernels.cu - what gputensor.h runs on an NVIDIA GPU: kernels and their launchers,
   nothing else. nvcc builds it beside the file with GPUTENSOR_IMPLEMENTATION. MIT licence: there.

   CONTENTS   (search for >>word)
     >>traits       vectors of 16 bytes, batches of 32, and the ten dtypes
     >>converting   a dtype to a compute type and back
     >>slots        an operand's column in shared memory
     >>loading      the loader: any dtype, any strides, into a slot
     >>storing      the store: the accumulator to any dtype and strides
     >>interpreter  the accumulator machine, the heart of map, reduce and matmul
     >>map          each output element from the inputs at its place
     >>reduce       folding by THE PLAN of gputensor.h, and the tree over chunks
     >>copy         moving elements between strides, and gathering
     >>matmul       a tiled product with an expression behind it
     >>launchers    extern "C": check, return at once, choose, launch, report

   How to read it. A thread owns 32 bytes of elements at a time, a batch: 8 floats, or 4 doubles or
   int64s. The accumulator of a batch is in registers; every operand, constant and temporary is a
   slot in shared memory, where each thread has a column of its own. So no barrier is needed, one
   kernel runs every program, and a program costs one indirect branch an instruction and batch. */
#define GPUTENSOR_KERNELS
#include "gputensor.h"
#include <cuda_runtime.h>
#include <string.h>

#if defined(__USE_FAST_MATH__) || defined(__FAST_MATH__)
#error "gputensor gives the same bits everywhere and needs NaN: build without --use_fast_math"
#endif

/* Blocks of 256 threads that a multiprocessor shall hold at once: occupancy hides the latency of
   memory. What more would need spills registers (seen with nvcc 13: 6 of floats, 4 of doubles). */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define GT__RESIDENT(T) (sizeof(T) == 4 ? 4 : 3)         /* Turing has 1024 threads for them */
#else
#define GT__RESIDENT(T) (sizeof(T) == 4 ? 5 : 3)
#endif
#define GT__DEV static __device__ __forceinline__
#define GT__EACH _Pragma("unroll") for (int i = 0; i < gt__lot<T>::N; i++)

/* ---- >>traits ------------------------------------------------------------------------------- */
template <class T> struct gt__lot {
  static constexpr int W = 16 / sizeof(T); /* elements of a vector: the widest load and store */
  static constexpr int N = 2 * W;          /* of a batch: two vectors keep more loads in flight */
};

/* dtypes that C++ has no type for; bits only, so that they live in unions and registers */
struct gt__bool { uint8_t bits; };
struct gt__half { uint16_t bits; };
struct gt__bfloat { uint16_t bits; };

/* Calls f with a value whose type is that of `dtype`: one switch in place of ten functions. */
template <class F> GT__DEV void gt__by_dtype(int dtype, F f) {
  switch (dtype) {
    case GT_BOOL: f(gt__bool()); break;
    case GT_UINT8: f(uint8_t()); break;
    case GT_INT8: f(int8_t()); break;
    case GT_INT16: f(int16_t()); break;
    case GT_INT32: f(int32_t()); break;
    case GT_INT64: f(int64_t()); break;
    case GT_FLOAT16: f(gt__half()); break;
    case GT_BFLOAT16: f(gt__bfloat()); break;
    case GT_FLOAT32: f(float()); break;
    default: f(double()); break;
  }
}
GT__DEV int gt__size_log2(int dtype) { /* a nibble a dtype, in the order of gt_dtype */
  return (int)(0x3211321000ull >> (4 * dtype)) & 15;
}

/* The batch of a thread: element j of vector v has logical index first + v*hop + j*step, and exists
   if j < valid[v]. Map, both kinds of reduction and the epilogue of matmul differ in this alone. */
struct gt__batch {
  int64_t first, hop, step;
  int valid[2];
};
/* Splits `total` valid elements of a batch over its two vectors. */
template <class T> GT__DEV void gt__set_valid(gt__batch &b, int64_t total) {
  const int W = gt__lot<T>::W, n = (int)(total < 0 ? 0 : total > 2 * W ? 2 * W : total);
  b.valid[0] = n < W ? n : W;
  b.valid[1] = n - b.valid[0];
}

/* The built-in type of so many bytes, which is what a single load or store instruction moves. */
template <int BYTES> struct gt__bits;
template <> struct gt__bits<1> { typedef unsigned char type; };
template <> struct gt__bits<2> { typedef unsigned short type; };
template <> struct gt__bits<4> { typedef unsigned int type; };
template <> struct gt__bits<8> { typedef uint2 type; };
template <> struct gt__bits<16> { typedef uint4 type; };

/* ---- >>converting ------------------------------------------------------------------------------
   float to integer truncates and saturates and makes NaN 0, integer to integer wraps, to bool is
   "not zero"; the 16-bit floats go through float, as they do on the CPU. */
template <class T, class X> struct gt__cast {
  GT__DEV T of(X x) { return (T)x; }
};
template <class T> struct gt__cast<T, gt__bool> {
  GT__DEV T of(gt__bool x) { return (T)(x.bits != 0); }
};
template <class T> struct gt__cast<T, gt__half> {
  GT__DEV T of(gt__half x) { return gt__cast<T, float>::of(gt__f16_to_f32(x.bits)); }
};
template <class T> struct gt__cast<T, gt__bfloat> {
  GT__DEV T of(gt__bfloat x) { return gt__cast<T, float>::of(gt__bf16_to_f32(x.bits)); }
};
template <class X> struct gt__cast<gt__bool, X> {
  GT__DEV gt__bool of(X x) { gt__bool r; r.bits = x != 0; return r; }
};
template <class X> struct gt__cast<gt__half, X> {
  GT__DEV gt__half of(X x) { gt__half r; r.bits = gt__f32_to_f16((float)x); return r; }
};
template <class X> struct gt__cast<gt__bfloat, X> {
  GT__DEV gt__bfloat of(X x) { gt__bfloat r; r.bits = gt__f32_to_bf16((float)x); return r; }
};
#define GT__SATURATE(I, lo, hi) \
  template <> struct gt__cast<I, float> { \
    GT__DEV I of(float x) { return (I)gt__f32_to_i64(x, lo, hi); } \
  }; \
  template <> struct gt__cast<I, double> { \
    GT__DEV I of(double x) { return (I)gt__f64_to_i64(x, lo, hi); } \
  };
GT__SATURATE(uint8_t, 0, UINT8_MAX)
GT__SATURATE(int8_t, INT8_MIN, INT8_MAX)
GT__SATURATE(int16_t, INT16_MIN, INT16_MAX)
GT__SATURATE(int32_t, INT32_MIN, INT32_MAX)
GT__SATURATE(int64_t, INT64_MIN, INT64_MAX)

template <class T> GT__DEV T gt__constant(gt__num x);
template <> __device__ __forceinline__ float gt__constant<float>(gt__num x) { return x.s; }
template <> __device__ __forceinline__ double gt__constant<double>(gt__num x) { return x.f; }
template <> __device__ __forceinline__ int64_t gt__constant<int64_t>(gt__num x) { return x.i; }

/* ---- >>slots -----------------------------------------------------------------------------------
   Vector v of slot s of this thread is at mine + (2s + v)*pitch. Neighbouring threads are 16 bytes
   apart, so a warp reads 512 bytes in a row, four wavefronts and no bank conflict. */
extern __shared__ uint4 gt__shared[];
struct gt__slots {
  char *mine;
  unsigned pitch;                          /* threads x 16 bytes */
};
GT__DEV gt__slots gt__my_slots(unsigned threads) {
  gt__slots s;
  s.mine = (char *)(gt__shared + threadIdx.x);
  s.pitch = threads * 16;
  return s;
}
GT__DEV char *gt__at(const gt__slots &s, unsigned slot, int v) {
  return s.mine + (2 * slot + v) * s.pitch;
}
/* Element i of a slot, i not known to the compiler: shared memory can be indexed, registers not. */
template <class T> GT__DEV T *gt__element(const gt__slots &s, unsigned slot, int i) {
  return (T *)gt__at(s, slot, i / gt__lot<T>::W) + i % gt__lot<T>::W;
}
GT__DEV void gt__get16(const char *p, float *x) {
  const float4 q = *(const float4 *)p;
  x[0] = q.x, x[1] = q.y, x[2] = q.z, x[3] = q.w;
}
GT__DEV void gt__get16(const char *p, double *x) {
  const double2 q = *(const double2 *)p;
  x[0] = q.x, x[1] = q.y;
}
GT__DEV void gt__get16(const char *p, int64_t *x) {
  const longlong2 q = *(const longlong2 *)p;
  x[0] = q.x, x[1] = q.y;
}
GT__DEV void gt__put16(char *p, const float *x) {
  *(float4 *)p = make_float4(x[0], x[1], x[2], x[3]);
}
GT__DEV void gt__put16(char *p, const double *x) { *(double2 *)p = make_double2(x[0], x[1]); }
GT__DEV void gt__put16(char *p, const int64_t *x) { *(longlong2 *)p = make_longlong2(x[0], x[1]); }

template <class T> GT__DEV void gt__get(const gt__slots &s, unsigned slot, T (&x)[gt__lot<T>::N]) {
  gt__get16(gt__at(s, slot, 0), x);
  gt__get16(gt__at(s, slot, 1), x + gt__lot<T>::W);
}
template <class T>
GT__DEV void gt__put(const gt__slots &s, unsigned slot, const T (&x)[gt__lot<T>::N]) {
  gt__put16(gt__at(s, slot, 0), x);
  gt__put16(gt__at(s, slot, 1), x + gt__lot<T>::W);
}
template <class T> GT__DEV void gt__fill_constants(const gt__program &p, const gt__slots &s) {
  #pragma unroll 1
  for (int k = 0; k < p.n_const; k++) {
    T x[gt__lot<T>::N];
    const T c = gt__constant<T>(p.constant[k]);
    GT__EACH x[i] = c;
    gt__put<T>(s, p.n_in + k, x);
  }
}

/* ---- >>loading ------------------------------------------------------------------------------ */
/* The element offset of logical index i, and how many elements from it on lie on one line of the
   last dimension. I: 32 bits where `narrow` allows, since 64-bit division costs four times more. */
template <class I> GT__DEV int64_t gt__locate_as(I i, int ndim, const int64_t *size,
                                                 const int64_t *stride, int64_t *room) {
  int64_t at = 0;
  *room = 1;
  #pragma unroll 1
  for (int d = ndim - 1; d >= 0; d--) {
    const I n = (I)size[d], q = d ? i / n : 0, r = i - q * n;
    at += (int64_t)r * stride[d];
    if (d == ndim - 1) *room = n - r;
    i = q;
  }
  return at;
}
GT__DEV int64_t gt__locate(const gt__map_args &p, int64_t i, const int64_t *stride, int64_t *room) {
  return p.narrow ? gt__locate_as<uint32_t>((uint32_t)i, p.ndim, p.size, stride, room)
                  : gt__locate_as<uint64_t>((uint64_t)i, p.ndim, p.size, stride, room);
}

/* Where a batch lies in an operand: straight if each vector is a line, element j of vector v at
   at[v] + j*stride. */
struct gt__spot {
  int64_t at[2], stride;
  bool straight;
};
GT__DEV gt__spot gt__find(const gt__map_args &p, const gt__operand &x, const gt__batch &b) {
  gt__spot s;
  const bool scalar = x.mode == GT__SCALAR;
  s.straight = true;
  s.at[0] = scalar ? 0 : b.first;
  s.at[1] = scalar ? 0 : b.first + b.hop;
  s.stride = scalar ? 0 : b.step;
  if (x.mode == GT__STRIDED) {
    #pragma unroll
    for (int v = 0; v < 2; v++) {
      int64_t room;
      s.at[v] = b.valid[v] ? gt__locate(p, b.first + v * b.hop, x.stride, &room) : 0;
      s.straight = s.straight && (!b.valid[v] || (b.valid[v] - 1) * b.step < room);
    }
    s.stride = p.ndim ? b.step * x.stride[p.ndim - 1] : 0;
  }
  return s;
}

/* W elements by 16-byte instructions, or one narrower. `once`: marked to leave the caches first. */
template <class S, int W> GT__DEV void gt__load_line(const char *from, bool once, S (&x)[W]) {
  constexpr int BYTES = sizeof x, PART = BYTES < 16 ? BYTES : 16;
  typedef typename gt__bits<PART>::type Part;
  Part part[BYTES / PART];
  #pragma unroll
  for (int i = 0; i < BYTES / PART; i++)
    part[i] = once ? __ldcs((const Part *)from + i) : ((const Part *)from)[i];
  memcpy(x, part, BYTES);
}
template <class S, int W> GT__DEV void gt__store_line(char *to, const S (&x)[W]) {
  constexpr int BYTES = sizeof x, PART = BYTES < 16 ? BYTES : 16;
  typedef typename gt__bits<PART>::type Part;
  Part part[BYTES / PART];
  memcpy(part, x, BYTES);
  #pragma unroll
  for (int i = 0; i < BYTES / PART; i++) __stcs((Part *)to + i, part[i]);
}
/* A spot in bytes, and whether both vectors may be moved whole. Addresses are tested instead of
   align_log2: a product's tiles and broadcast rows start anywhere, and the test costs little. */
struct gt__lines {
  char *p[2];
  int64_t stride;
  bool whole;
};
template <int W>
GT__DEV gt__lines gt__make_lines(const gt__operand &x, const gt__spot &s, const gt__batch &b) {
  const int size_log2 = gt__size_log2(x.dtype), bytes = W << size_log2;
  gt__lines l;
  l.p[0] = x.data + (s.at[0] << size_log2);
  l.p[1] = x.data + (s.at[1] << size_log2);
  l.stride = s.stride << size_log2;
  l.whole = s.stride == 1 && b.valid[0] == W && b.valid[1] == W &&
            (((uintptr_t)l.p[0] | (uintptr_t)l.p[1]) & ((bytes < 16 ? bytes : 16) - 1)) == 0;
  return l;
}

template <class T> GT__DEV T gt__load_one(const char *p, int dtype) {
  T x;
  gt__by_dtype(dtype, [&](auto tag) {
    typedef decltype(tag) S;
    x = gt__cast<T, S>::of(*(const S *)p);
  });
  return x;
}
template <class T> GT__DEV void gt__store_one(char *p, int dtype, T x) {
  gt__by_dtype(dtype, [&](auto tag) {
    typedef decltype(tag) S;
    *(S *)p = gt__cast<S, T>::of(x);
  });
}

/* A straight batch of elements of type S. All loads are issued before the first is used. `once`: no
   other thread reads these elements, as is so for VECTOR operands. */
template <class T, class S>
GT__DEV void gt__load_lines(const gt__lines &l, bool once, const gt__batch &b,
                            T (&y)[gt__lot<T>::N]) {
  constexpr int W = gt__lot<T>::W;
  S u[W], v[W];
  if (l.whole) {
    gt__load_line(l.p[0], once, u);
    gt__load_line(l.p[1], once, v);
  } else {
    #pragma unroll
    for (int j = 0; j < W; j++) {
      u[j] = j < b.valid[0] ? *(const S *)(l.p[0] + j * l.stride) : S();
      v[j] = j < b.valid[1] ? *(const S *)(l.p[1] + j * l.stride) : S();
    }
  }
  #pragma unroll
  for (int j = 0; j < W; j++) {
    y[j] = gt__cast<T, S>::of(u[j]);
    y[W + j] = gt__cast<T, S>::of(v[j]);
  }
}
/* Fills a slot with the batch's elements of one operand, converted to T. */
template <class T> GT__DEV void gt__fill(const gt__map_args &p, const gt__operand &x, unsigned slot,
                                         const gt__batch &b, const gt__slots &s) {
  constexpr int W = gt__lot<T>::W;
  const gt__spot spot = gt__find(p, x, b);
  if (spot.straight) {
    const gt__lines l = gt__make_lines<W>(x, spot, b);
    const bool once = x.mode == GT__VECTOR;
    T y[gt__lot<T>::N];
    gt__by_dtype(x.dtype, [&](auto tag) { gt__load_lines<T, decltype(tag)>(l, once, b, y); });
    gt__put<T>(s, slot, y);
    return;
  }
  /* A line of the last dimension ends inside the batch: each element is located by itself. */
  #pragma unroll 1
  for (int i = 0; i < 2 * W; i++) {
    const int v = i / W, j = i % W;
    int64_t room;
    if (j >= (v ? b.valid[1] : b.valid[0])) continue;
    const int64_t at = gt__locate(p, b.first + v * b.hop + j * b.step, x.stride, &room);
    *gt__element<T>(s, slot, i) = gt__load_one<T>(x.data + (at << gt__size_log2(x.dtype)), x.dtype);
  }
}

/* ---- >>storing ------------------------------------------------------------------------------ */
template <class T, class S>
GT__DEV void gt__store_lines(const gt__lines &l, const gt__batch &b, const T (&y)[gt__lot<T>::N]) {
  constexpr int W = gt__lot<T>::W;
  S u[W], v[W];
  #pragma unroll
  for (int j = 0; j < W; j++) {
    u[j] = gt__cast<S, T>::of(y[j]);
    v[j] = gt__cast<S, T>::of(y[W + j]);
  }
  if (l.whole) {
    gt__store_line(l.p[0], u);
    gt__store_line(l.p[1], v);
    return;
  }
  #pragma unroll
  for (int j = 0; j < W; j++) {
    if (j < b.valid[0]) *(S *)(l.p[0] + j * l.stride) = u[j];
    if (j < b.valid[1]) *(S *)(l.p[1] + j * l.stride) = v[j];
  }
}
/* Stores the accumulator. It may overwrite slot 0: the program is done with it. */
template <class T> GT__DEV void gt__store(const gt__map_args &p, const gt__batch &b,
                                          const gt__slots &s, const T (&acc)[gt__lot<T>::N]) {
  constexpr int W = gt__lot<T>::W;
  const gt__operand &x = p.out;
  const gt__spot spot = gt__find(p, x, b);
  if (spot.straight) {
    const gt__lines l = gt__make_lines<W>(x, spot, b);
    gt__by_dtype(x.dtype, [&](auto tag) { gt__store_lines<T, decltype(tag)>(l, b, acc); });
    return;
  }
  gt__put<T>(s, 0, acc);
  #pragma unroll 1
  for (int i = 0; i < 2 * W; i++) {
    const int v = i / W, j = i % W;
    int64_t room;
    if (j >= (v ? b.valid[1] : b.valid[0])) continue;
    const int64_t at = gt__locate(p, b.first + v * b.hop + j * b.step, x.stride, &room);
    gt__store_one<T>(x.data + (at << gt__size_log2(x.dtype)), x.dtype, *gt__element<T>(s, 0, i));
  }
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
#define GT__LINE(name, arity, result, cost, f, i) GT__FORMULA(name, float, f)
GT__OPERATIONS(GT__LINE)
#undef GT__LINE
#undef GT__F
#define GT__F(name) gt__##name##_f64
#define GT__LINE(name, arity, result, cost, f, i) GT__FORMULA(name, double, f)
GT__OPERATIONS(GT__LINE)
#undef GT__LINE
#undef GT__F
#define GT__LINE(name, arity, result, cost, f, i) GT__FORMULA(name, int64_t, i)
GT__OPERATIONS(GT__LINE)
#undef GT__LINE
#undef GT__FORMULA

/* An instruction is fetched as one word: op in the low byte, then b, c and d. */
static_assert(sizeof(gt__ins) == 4 && offsetof(gt__program, ins) % 4 == 0,
              "the interpreter reads an instruction as one aligned 32-bit word");
GT__DEV uint32_t gt__fetch(const gt__program &p, int pc) { return ((const uint32_t *)p.ins)[pc]; }

template <class T> GT__DEV T gt__random(int op, const gt__program &p, uint64_t index, T b, T c);
template <> __device__ __forceinline__ float gt__random<float>(int op, const gt__program &p,
                                                               uint64_t index, float, float) {
  return gt__random_f32(op, p.seed, p.offset + index);
}
template <> __device__ __forceinline__ double gt__random<double>(int op, const gt__program &p,
                                                                 uint64_t index, double, double) {
  return gt__random_f64(op, p.seed, p.offset + index);
}
template <> __device__ __forceinline__ int64_t gt__random<int64_t>(int, const gt__program &p,
                                                                   uint64_t index, int64_t low,
                                                                   int64_t range) {
  return gt__random_i64(p.seed, p.offset + index, low, range);
}

/* U elements of a slot from element k on: a whole vector, or one. */
template <class T, int U>
GT__DEV void gt__get_some(const gt__slots &s, unsigned slot, int k, T (&x)[U]) {
  static_assert(U == 1 || U == gt__lot<T>::W, "a part of a vector would conflict in the banks");
  if constexpr (U == 1) x[0] = *gt__element<T>(s, slot, k);
  else gt__get16((const char *)gt__element<T>(s, slot, k), x);
}

/* A heavy instruction (exp, pow, random numbers...) takes U elements of the batch at a time: a loop
   with the body U times, after which the accumulator turns by U, since registers cannot be indexed.
   Eight copies of each body would double code and compile time for one move an element less. */
template <class T, int U>
GT__DEV void gt__heavy(uint32_t word, const gt__program &p, const gt__slots &s, const gt__batch &at,
                       T (&acc)[gt__lot<T>::N]) {
  constexpr int N = gt__lot<T>::N, W = gt__lot<T>::W;
  const int op = word & 255;
  #pragma unroll 1
  for (int k = 0; k < N; k += U) {
    const uint64_t index = at.first + k / W * at.hop + k % W * at.step;
    T y[U], z[U], r[U];
    gt__get_some<T, U>(s, word >> 8 & 255, k, y);
    gt__get_some<T, U>(s, word >> 16 & 255, k, z);
    switch (op) {
      case GT__UNIFORM: case GT__NORMAL: case GT__INTEGER:
        #pragma unroll
        for (int i = 0; i < U; i++) r[i] = gt__random<T>(op, p, index + i * at.step, y[i], z[i]);
        break;
#define GT__CASE_LIGHT(name)
#define GT__CASE_HEAVY(name) \
      case GT__OP_##name: \
        _Pragma("unroll") for (int i = 0; i < U; i++) \
          r[i] = gt__formula<GT__OP_##name, T>::of(acc[i], y[i], z[i]); \
        break;
#define GT__LINE(name, arity, result, cost, f, i) GT__CASE_##cost(name)
      GT__OPERATIONS(GT__LINE)
#undef GT__CASE_LIGHT
#undef GT__CASE_HEAVY
      default:
        #pragma unroll
        for (int i = 0; i < U; i++) r[i] = acc[i];
    }
    #pragma unroll
    for (int i = 0; i < N - U; i++) acc[i] = acc[i + U];
    #pragma unroll
    for (int i = 0; i < U; i++) acc[N - U + i] = r[i];
  }
}

/* Runs a program over a batch. HEAVY: 0 leaves the heavy cases out, which keeps registers few and
   occupancy high; else the U of gt__heavy. Operand b is read before the branch on the operation, so
   that its latency hides behind it. */
template <class T, int HEAVY>
GT__DEV void gt__run(const gt__program &p, const gt__slots &s, const gt__batch &at,
                     T (&acc)[gt__lot<T>::N]) {
  constexpr int W = gt__lot<T>::W;
  GT__EACH acc[i] = 0;
  #pragma unroll 1
  for (int pc = 0; pc < p.n_ins; pc++) {
    const uint32_t word = gt__fetch(p, pc);
    T y[gt__lot<T>::N], z[gt__lot<T>::N];
    gt__get<T>(s, word >> 8 & 255, y);
    switch (word & 255) {
      case GT__LOAD: GT__EACH acc[i] = y[i]; break;
      case GT__SAVE: gt__put<T>(s, word >> 24, acc); break;
      case GT__INDEX: GT__EACH acc[i] = (T)(at.first + i / W * at.hop + i % W * at.step); break;
#define GT__CASE_HEAVY(name, arity)
#define GT__CASE_LIGHT(name, arity) \
      case GT__OP_##name: \
        if (arity == 3) gt__get<T>(s, word >> 16 & 255, z); \
        GT__EACH acc[i] = \
          gt__formula<GT__OP_##name, T>::of(acc[i], y[i], arity == 3 ? z[i] : y[i]); \
        break;
#undef GT__LINE
#define GT__LINE(name, arity, result, cost, f, i) GT__CASE_##cost(name, arity)
      GT__OPERATIONS(GT__LINE)
#undef GT__LINE
#undef GT__CASE_LIGHT
#undef GT__CASE_HEAVY
      default:
        if (HEAVY) gt__heavy<T, HEAVY ? HEAVY : 1>(word, p, s, at, acc);
    }
  }
}
template <class T> GT__DEV void gt__fill_inputs(const gt__map_args &p, int from,
                                                const gt__batch &b, const gt__slots &s) {
  #pragma unroll 1
  for (int k = from; k < p.program.n_in; k++) gt__fill<T>(p, p.in[k], k, b, s);
}

/* ---- >>map -------------------------------------------------------------------------------------
   Grid: a tile of blockDim x N elements a block; block: 64, 128 or 256 threads. Consecutive threads
   take consecutive 16-byte vectors; a thread's second vector lies blockDim vectors further on, so
   every load and store of a warp covers 512 bytes in a row. */
template <class T, int HEAVY> __global__ void __launch_bounds__(256, GT__RESIDENT(T))
gt__map_kernel(const __grid_constant__ gt__map_args p) {
  constexpr int W = gt__lot<T>::W;
  const gt__slots s = gt__my_slots(blockDim.x);
  const int64_t tile = (int64_t)blockDim.x * 2 * W, stride = tile * gridDim.x;
  for (int64_t base = blockIdx.x * tile; base < p.count; base += stride) {
    gt__batch b;
    T acc[gt__lot<T>::N];
    b.first = base + threadIdx.x * W;
    b.hop = blockDim.x * W;
    b.step = 1;
    #pragma unroll
    for (int v = 0; v < 2; v++) {
      const int64_t left = p.count - b.first - v * b.hop;
      b.valid[v] = left >= W ? W : left > 0 ? (int)left : 0;
    }
    gt__fill_constants<T>(p.program, s); /* each time, since a ragged store reuses slot 0 */
    gt__fill_inputs<T>(p, 0, b, s);
    gt__run<T, HEAVY>(p.program, s, b, acc);
    gt__store<T>(p, b, s, acc);
  }
}

/* ---- >>reduce ------------------------------------------------------------------------------- */
/* gt__identity_f32 and its like, by type. */
template <class T> struct gt__folds;
#define GT__FOLDS_OF(T, suffix) \
  template <> struct gt__folds<T> { \
    GT__DEV T identity(int fold) { return gt__identity_##suffix(fold); } \
    GT__DEV T fold(int fold, T a, T b) { return gt__fold_##suffix(fold, a, b); } \
    GT__DEV bool beats(int fold, T a, int64_t i, T b, int64_t j) { \
      return gt__beats_##suffix(fold, a, i, b, j); \
    } \
  };
GT__FOLDS_OF(float, f32)
GT__FOLDS_OF(double, f64)
GT__FOLDS_OF(int64_t, i64)
#undef GT__FOLDS_OF
GT__DEV float gt__finished(float x, int finish, gt__num divisor) {
  if (finish & GT__DIVIDE) x = GT__DIV(x, divisor.s);
  return finish & GT__ROOT ? gt__sqrt_f32(x) : x;
}
GT__DEV double gt__finished(double x, int finish, gt__num divisor) {
  if (finish & GT__DIVIDE) x = GT__DIV(x, divisor.f);
  return finish & GT__ROOT ? gt__sqrt_f64(x) : x;
}
GT__DEV int64_t gt__finished(int64_t x, int, gt__num) { return x; } /* means are float */

__host__ __device__ __forceinline__ bool gt__is_arg(int fold) {
  return fold == GT__FOLD_ARGMAX || fold == GT__FOLD_ARGMIN;
}
/* A running result: the value, and for argmax and argmin the index k that it came from. */
template <class T> struct gt__part {
  T value;
  int64_t index;
};
template <class T> GT__DEV gt__part<T> gt__nothing(int fold) {
  gt__part<T> r;
  r.value = gt__folds<T>::identity(fold);
  r.index = -1;
  return r;
}
template <class T>
GT__DEV gt__part<T> gt__join(int fold, const gt__part<T> &a, const gt__part<T> &b) {
  gt__part<T> r = a;
  if (!gt__is_arg(fold)) r.value = gt__folds<T>::fold(fold, a.value, b.value);
  else if (gt__folds<T>::beats(fold, a.value, a.index, b.value, b.index)) r = b;
  return r;
}

/* Folds the elements of a batch in order; element i is k + i*step. The branch on the fold stands
   outside of the loop: inside, it would cost more than the folding. */
template <class T>
GT__DEV void gt__fold_batch(int fold, gt__part<T> &r, const T (&x)[gt__lot<T>::N], int total,
                            int64_t k, int64_t step) {
  switch (fold) {
#define GT__FOLD(name) \
    case GT__FOLD_##name: \
      GT__EACH if (i < total) r.value = gt__folds<T>::fold(GT__FOLD_##name, r.value, x[i]); \
      break;
    GT__FOLD(SUM) GT__FOLD(PROD) GT__FOLD(MAX) GT__FOLD(MIN) GT__FOLD(ANY) GT__FOLD(ALL)
#undef GT__FOLD
    default:
      GT__EACH if (i < total &&
                   gt__folds<T>::beats(fold, r.value, r.index, x[i], k + i * step)) {
        r.value = x[i];
        r.index = k + i * step;
      }
  }
}

/* The values of chunks wait in scratch as an array of T, and behind it, for argmax and argmin only,
   one of indices: a sum moves 4 bytes a chunk in place of the 16 of a gt__partial. Chunks of an
   output are neighbours where a block makes a chunk, and outputs are where a thread makes one. */
template <class T> struct gt__chunks {
  T *value;
  int64_t *index, per_output, per_chunk;
  int fold;
  GT__DEV gt__chunks of(const gt__reduce_args &p) {
    gt__chunks c;
    c.value = (T *)p.scratch;
    c.index = (int64_t *)p.scratch + p.outer * p.n_chunk;
    c.per_output = p.inner ? p.n_chunk : 1;
    c.per_chunk = p.inner ? 1 : p.outer;
    c.fold = p.fold;
    return c;
  }
  __device__ __forceinline__ void put(int64_t o, int64_t chunk, const gt__part<T> &r) const {
    const int64_t at = o * per_output + chunk * per_chunk;
    value[at] = r.value;
    if (gt__is_arg(fold)) index[at] = r.index;
  }
  __device__ __forceinline__ gt__part<T> get(int64_t o, int64_t chunk) const {
    const int64_t at = o * per_output + chunk * per_chunk;
    gt__part<T> r;
    r.value = value[at];
    r.index = gt__is_arg(fold) ? index[at] : 0;
    return r;
  }
};
/* The end of output o: finish, convert, store. */
template <class T> GT__DEV void gt__finish(const gt__reduce_args &p, int64_t o, gt__part<T> r) {
  const int64_t at = gt__offset(o, p.n_kept, p.pre.size, p.out.stride);
  char *to = p.out.data + (at << gt__size_log2(p.out.dtype));
  if (gt__is_arg(p.fold)) gt__store_one<int64_t>(to, p.out.dtype, r.index);
  else gt__store_one<T>(to, p.out.dtype, gt__finished(r.value, p.finish, p.divisor));
}
template <class T>
GT__DEV void gt__emit(const gt__reduce_args &p, int64_t o, int64_t chunk, const gt__part<T> &r) {
  if (p.n_chunk > 1) gt__chunks<T>::of(p).put(o, chunk, r);
  else gt__finish<T>(p, o, r);
}

/* The element values of a lane: k = from, from + step, ... below `end`, folded in order. */
template <class T, int HEAVY>
GT__DEV gt__part<T> gt__fold_lane(const gt__reduce_args &p, const gt__slots &s, int64_t o,
                                  int64_t from, int64_t end, int step) {
  constexpr int W = gt__lot<T>::W, N = gt__lot<T>::N;
  gt__part<T> r = gt__nothing<T>(p.fold);
  #pragma unroll 1
  for (int64_t k = from; k < end; k += N * step) {
    const int64_t left = (end - k + step - 1) / step;
    const int total = left < N ? (int)left : N;
    gt__batch b;
    T acc[N];
    b.first = o * p.n + k;
    b.step = step;
    b.hop = W * step;
    gt__set_valid<T>(b, total);
    gt__fill_inputs<T>(p.pre, 0, b, s);
    gt__run<T, HEAVY>(p.pre.program, s, b, acc);
    gt__fold_batch<T>(p.fold, r, acc, total, k, step);
  }
  return r;
}

/* inner: a block a chunk. Lane l takes elements l, l + 256, ... of the chunk: the lanes of a warp
   read neighbours. A block of fewer than 256 threads, for short rows and for programs with many
   slots, plays several lanes a thread, one after the other: the plan, and the bits, stay the same.
   Not inner: a thread an output and chunk of 32 rows, which it folds alone. Consecutive threads are
   consecutive outputs, which lie side by side in memory. One loop serves both, because the loader
   and the interpreter inside of it are most of the kernel's code. */
template <class T, int HEAVY> __global__ void __launch_bounds__(256, sizeof(T) == 4 ? 4 : 3)
gt__reduce_kernel(const __grid_constant__ gt__reduce_args p) {
  __shared__ T value[GT__LANES];
  __shared__ int64_t index[GT__LANES];
  const gt__slots s = gt__my_slots(blockDim.x);
  const bool inner = p.inner;
  const int64_t n_chunk = p.n_chunk > 1 ? p.n_chunk : 1, jobs = p.outer * n_chunk;
  const int64_t size = inner ? GT__CHUNK : GT__ROWS, per_block = inner ? 1 : blockDim.x;
  gt__fill_constants<T>(p.pre.program, s);
  for (int64_t at = blockIdx.x * per_block; at < jobs; at += gridDim.x * per_block) {
    const int64_t job = inner ? at : at + threadIdx.x, many = inner ? n_chunk : p.outer;
    const int64_t quotient = job / many, rest = job - quotient * many;
    const int64_t o = inner ? quotient : rest, chunk = inner ? rest : quotient;
    const int64_t base = chunk * size, end = base + size < p.n ? base + size : p.n;
    gt__part<T> r = gt__nothing<T>(p.fold);
    for (int lane = inner ? threadIdx.x : 0; lane < (inner ? GT__LANES : 1); lane += blockDim.x) {
      if (job < jobs)
        r = gt__fold_lane<T, HEAVY>(p, s, o, base + lane, end, inner ? GT__LANES : 1);
      if (!inner) break;
      value[lane] = r.value;
      index[lane] = r.index;
    }
    for (int half = inner ? GT__LANES / 2 : 0; half > 0; half /= 2) {
      __syncthreads();
      for (int lane = threadIdx.x; lane < half; lane += blockDim.x) {
        const gt__part<T> a = {value[lane], index[lane]};
        const gt__part<T> b = {value[lane + half], index[lane + half]};
        r = gt__join<T>(p.fold, a, b);
        value[lane] = r.value;
        index[lane] = r.index;
      }
    }
    if (inner ? threadIdx.x == 0 : job < jobs) gt__emit<T>(p, o, chunk, r);
    __syncthreads(); /* before the next job writes value[] again */
  }
}

/* The tree over the chunks of an output: neighbours (0,1) (2,3) ..., a last odd one moves up.
   8 neighbours, aligned to 8, make a subtree of their own, cut off at the end of the row; a thread
   folds one in registers and leaves the result in the place of its first leaf. So a pass shrinks
   the row to an eighth: 65536 chunks take six passes. Block: 256 threads; `lanes` share a row. */
enum { GT__GROUP = 8 };
template <class T>
GT__DEV gt__part<T> gt__tree(const gt__chunks<T> &c, int64_t o, int64_t first, int64_t gap, int n) {
  gt__part<T> x[GT__GROUP];
  #pragma unroll
  for (int i = 0; i < GT__GROUP; i++) {
    x[i].value = 0;
    x[i].index = -1;
    if (i < n) x[i] = c.get(o, first + i * gap);
  }
  #pragma unroll
  for (int d = 1; d < GT__GROUP; d *= 2)
    #pragma unroll
    for (int i = 0; i + d < GT__GROUP; i += 2 * d)
      if (i + d < n) x[i] = gt__join<T>(c.fold, x[i], x[i + d]);
  return x[0];
}
template <class T> __global__ void __launch_bounds__(256, 2)
gt__combine_kernel(const __grid_constant__ gt__reduce_args p, int lanes) {
  const gt__chunks<T> c = gt__chunks<T>::of(p);
  /* neighbouring threads share a row if its chunks lie side by side, else take neighbouring rows */
  const int rows = 256 / lanes;
  const int row = p.inner ? threadIdx.x / lanes : threadIdx.x % rows;
  const int lane = p.inner ? threadIdx.x % lanes : threadIdx.x / rows;
  const int64_t stride = (int64_t)gridDim.x * rows;
  for (int64_t base = (int64_t)blockIdx.x * rows; base < p.outer; base += stride) {
    const int64_t o = base + row;
    int64_t left = p.n_chunk, gap = 1;   /* nodes of this level, and the distance of their places */
    while (left > 1) {                   /* the same number of passes for all threads of a block */
      for (int64_t g = lane; o < p.outer && g * GT__GROUP < left; g += lanes) {
        const int64_t n = left - g * GT__GROUP, first = g * GT__GROUP * gap;
        c.put(o, first, gt__tree<T>(c, o, first, gap, n < GT__GROUP ? (int)n : GT__GROUP));
      }
      left = (left + GT__GROUP - 1) / GT__GROUP;
      gap *= GT__GROUP;
      __syncthreads();                   /* the next pass reads what other threads wrote */
    }
    if (o < p.outer && lane == 0) gt__finish<T>(p, o, c.get(o, 0));
  }
}

/* ---- >>copy ------------------------------------------------------------------------------------
   Elements of one size, whatever they mean, between any strides. A thread takes elements a grid
   apart; its coordinates come from divisions, in 32 bits where the tensor allows. */
template <class S, class I> GT__DEV void gt__copy_one(const gt__copy_args &p, I i) {
  const bool gather = p.index.data != NULL;
  int64_t to = 0, from = 0;
  bool inside = true;
  #pragma unroll 1
  for (int d = p.ndim - 1; d >= 0; d--) {
    const I n = (I)p.size[d], q = d ? i / n : 0;
    int64_t r = (int64_t)(i - q * n);
    i = q;
    to += r * p.dst.stride[d];
    if (gather && d == p.gather_dim) {
      const int64_t at = r * p.index.stride[0];
      r = p.index.dtype == GT_INT32 ? ((const int32_t *)p.index.data)[at]
                                    : ((const int64_t *)p.index.data)[at];
      if (r < 0 || r >= p.gather_size) {
        inside = false;
        r = 0;
      }
    }
    from += r * p.src.stride[d];
  }
  ((S *)p.dst.data)[to] = inside ? ((const S *)p.src.data)[from] : S();
  if (!inside && p.fault) {
    *(volatile int32_t *)p.fault = 1;    /* all who write it write the same */
    __threadfence_system();              /* the word is the host's */
  }
}
template <class S> __global__ void __launch_bounds__(256)
gt__copy_kernel(const __grid_constant__ gt__copy_args p) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += stride) {
    if (p.narrow) gt__copy_one<S, uint32_t>(p, (uint32_t)i);
    else gt__copy_one<S, uint64_t>(p, (uint64_t)i);
  }
}

/* ---- >>matmul ----------------------------------------------------------------------------------
   A block of 256 threads makes a 64 x 64 tile of C, 16 of K at a time: it copies a 64 x 16 piece of
   A and a 16 x 64 piece of B into shared memory, converted to the compute type T, and each thread
   adds a 4 x 4 square of products. A value read from global memory is thus used 64 times, one read
   from shared memory 4 times. While a step is computed, the next one's values are on their way to
   registers. Any strides and sizes: what lies outside of a matrix is 0. The sums run over K in
   order, with fused multiply-adds, so they are the same in every run. */
enum { GT__TILE = 64, GT__STEP = 16, GT__PITCH = GT__TILE + 4, GT__QUAD = 4 };
static_assert(GT__TILE * GT__STEP == 4 * 256, "a thread moves four values of each piece a step");
static_assert(GT__TILE * GT__TILE == GT__QUAD * GT__QUAD * 256, "256 squares of 4 x 4 make a tile");
static_assert(GT__PITCH * 8 % 16 == 0 && GT__PITCH * 4 % 16 == 0, "rows start at 16 bytes");

GT__DEV float gt__mad(float a, float b, float c) { return gt__fma_f32(a, b, c); }
GT__DEV double gt__mad(double a, double b, double c) { return gt__fma_f64(a, b, c); }
GT__DEV int64_t gt__mad(int64_t a, int64_t b, int64_t c) {
  return gt__add_i64(gt__mul_i64(a, b), c);
}
/* One operand's piece of a tile: `wide` runs along M or N, `deep` along K. The faster of the two in
   memory runs over neighbouring threads, so that either order of storage is read coalesced. */
struct gt__piece {
  const char *data;                      /* the batch's matrix */
  int64_t wide_stride, deep_stride, wide_left, deep_size;
  int dtype, wide[4], deep[4];           /* of this thread's four values, within the piece */
};
GT__DEV gt__piece gt__make_piece(const gt__operand &x, int64_t offset, int64_t wide_stride,
                                 int64_t deep_stride, int64_t from, int64_t wide, int64_t deep) {
  gt__piece p;
  const int t = threadIdx.x;
  const bool along_k = (deep_stride < 0 ? -deep_stride : deep_stride) <
                       (wide_stride < 0 ? -wide_stride : wide_stride);
  p.dtype = x.dtype;
  p.data = x.data + ((offset + from * wide_stride) << gt__size_log2(x.dtype));
  p.wide_stride = wide_stride;
  p.deep_stride = deep_stride;
  p.wide_left = wide - from;
  p.deep_size = deep;
  #pragma unroll
  for (int i = 0; i < 4; i++) {
    p.wide[i] = along_k ? t / GT__STEP + 16 * i : t % GT__TILE;
    p.deep[i] = along_k ? t % GT__STEP : t / GT__TILE + 4 * i;
  }
  return p;
}
template <class T> GT__DEV void gt__grab(const gt__piece &p, int64_t k, T (&x)[4]) {
  const char *from[4];
  bool inside[4];
  #pragma unroll
  for (int i = 0; i < 4; i++) {
    const int64_t at = p.wide[i] * p.wide_stride + (k + p.deep[i]) * p.deep_stride;
    from[i] = p.data + (at << gt__size_log2(p.dtype));
    inside[i] = p.wide[i] < p.wide_left && k + p.deep[i] < p.deep_size;
  }
  gt__by_dtype(p.dtype, [&](auto tag) {
    typedef decltype(tag) S;
    S u[4];
    #pragma unroll
    for (int i = 0; i < 4; i++) u[i] = inside[i] ? *(const S *)from[i] : S();
    #pragma unroll
    for (int i = 0; i < 4; i++) x[i] = gt__cast<T, S>::of(u[i]);
  });
}
template <class T> GT__DEV void gt__lay(const gt__piece &p, const T (&x)[4], T *tile) {
  #pragma unroll
  for (int i = 0; i < 4; i++) tile[p.deep[i] * GT__PITCH + p.wide[i]] = x[i];
}
GT__DEV void gt__get4(const float *p, float (&x)[4]) { gt__get16((const char *)p, x); }
template <class T> GT__DEV void gt__get4(const T *p, T (&x)[4]) {
  gt__get16((const char *)p, x);
  gt__get16((const char *)(p + 2), x + 2);
}

/* The tile's products: thread (ty, tx) of 16 x 16 has rows 4*ty + i and columns 4*tx + j. */
template <class T>
GT__DEV void gt__multiply(const gt__piece &a, const gt__piece &b, int64_t k_size, T (&sum)[16]) {
  T *as = (T *)gt__shared, *bs = as + GT__STEP * GT__PITCH;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  T next_a[4], next_b[4];
  #pragma unroll
  for (int i = 0; i < 16; i++) sum[i] = 0;
  #pragma unroll 1
  for (int64_t k = -GT__STEP; k < k_size; k += GT__STEP) {
    if (k >= 0) {                        /* the first round only fetches */
      __syncthreads();                   /* all are done with the step before */
      gt__lay<T>(a, next_a, as);
      gt__lay<T>(b, next_b, bs);
      __syncthreads();
    }
    gt__grab<T>(a, k + GT__STEP, next_a);
    gt__grab<T>(b, k + GT__STEP, next_b);
    if (k < 0) continue;
    #pragma unroll
    for (int q = 0; q < GT__STEP; q++) {
      T x[4], y[4];
      gt__get4(as + q * GT__PITCH + 4 * ty, x);
      gt__get4(bs + q * GT__PITCH + 4 * tx, y);
      #pragma unroll
      for (int i = 0; i < 16; i++) sum[i] = gt__mad(x[i / 4], y[i % 4], sum[i]);
    }
  }
}

/* Runs post.program over the tile and stores it, `active` threads at a time: as many rows as their
   batches hold. Slot 0 of a pass is those rows of the tile, element after element, since vector q
   of a slot belongs to thread q % active: the products change hands where they must lie anyway. */
template <class T, int HEAVY>
GT__DEV void gt__epilogue(const gt__matmul_args &p, const T (&sum)[16], int64_t batch, int64_t row0,
                          int64_t col0, int active) {
  constexpr int W = gt__lot<T>::W;
  const gt__slots s = gt__my_slots(active);
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  const int rows = active * 2 * W / GT__TILE, hop = active * W / GT__TILE;
  T *slot0 = (T *)gt__shared;
  #pragma unroll 1
  for (int r = 0; r < GT__TILE && row0 + r < p.m; r += rows) {
    __syncthreads();                     /* the pieces, or the pass before, are no longer needed */
    #pragma unroll
    for (int i = 0; i < 16; i++) {
      const int row = 4 * ty + i / 4 - r;
      if (row >= 0 && row < rows)
        slot0[row * GT__TILE + 4 * tx + i % 4] = sum[i];
    }
    __syncthreads();
    if (threadIdx.x < active) {
      const int e = threadIdx.x * W;     /* of the first vector, within the pass */
      const int64_t row = row0 + r + e / GT__TILE, col = col0 + e % GT__TILE, left = p.n - col;
      const int wide = left >= W ? W : left > 0 ? (int)left : 0;
      gt__batch b;
      T acc[gt__lot<T>::N];
      b.first = (batch * p.m + row) * p.n + col;
      b.hop = hop * p.n;
      b.step = 1;
      b.valid[0] = row < p.m ? wide : 0;
      b.valid[1] = row + hop < p.m ? wide : 0;
      gt__fill_constants<T>(p.post.program, s);
      gt__fill_inputs<T>(p.post, 1, b, s);
      gt__run<T, HEAVY>(p.post.program, s, b, acc);
      gt__store<T>(p.post, b, s, acc);
    }
  }
}

/* Grid: x tiles, z batches. */
template <class T, int HEAVY> __global__ void __launch_bounds__(256, 2)
gt__matmul_kernel(const __grid_constant__ gt__matmul_args p, int64_t tiles, int active) {
  const int64_t across = (p.n + GT__TILE - 1) / GT__TILE;
  for (int64_t batch = blockIdx.z; batch < p.batch; batch += gridDim.z)
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int64_t row0 = tile / across * GT__TILE, col0 = tile % across * GT__TILE;
      const gt__piece a = gt__make_piece(p.a, gt__offset(batch, p.n_batch, p.post.size, p.a.stride),
                                         p.a_row, p.a_col, row0, p.m, p.k);
      const gt__piece b = gt__make_piece(p.b, gt__offset(batch, p.n_batch, p.post.size, p.b.stride),
                                         p.b_col, p.b_row, col0, p.n, p.k);
      T sum[16];
      gt__multiply<T>(a, b, p.k, sum);
      gt__epilogue<T, HEAVY>(p, sum, batch, row0, col0, active);
    }
}

/* ---- >>launchers -------------------------------------------------------------------------------
   Each: check, return at once for nothing to do, choose, launch on the caller's stream, report. */
#define GT__POINTER(...) ((const void *)(__VA_ARGS__))
/* [compute type][heavy], a heavy instruction taking a vector at a time */
static const void *const gt__map_kernels[3][2] = {
  {GT__POINTER(gt__map_kernel<float, 0>), GT__POINTER(gt__map_kernel<float, 4>)},
  {GT__POINTER(gt__map_kernel<double, 0>), GT__POINTER(gt__map_kernel<double, 2>)},
  {GT__POINTER(gt__map_kernel<int64_t, 0>), GT__POINTER(gt__map_kernel<int64_t, 2>)}};
static const void *const gt__reduce_kernels[3][2] = {
  {GT__POINTER(gt__reduce_kernel<float, 0>), GT__POINTER(gt__reduce_kernel<float, 4>)},
  {GT__POINTER(gt__reduce_kernel<double, 0>), GT__POINTER(gt__reduce_kernel<double, 2>)},
  {GT__POINTER(gt__reduce_kernel<int64_t, 0>), GT__POINTER(gt__reduce_kernel<int64_t, 2>)}};
static const void *const gt__combine_kernels[3] = {GT__POINTER(gt__combine_kernel<float>),
                                                   GT__POINTER(gt__combine_kernel<double>),
                                                   GT__POINTER(gt__combine_kernel<int64_t>)};
/* one heavy element at a time: behind a product it does not show, and the code is a quarter */
static const void *const gt__matmul_kernels[3][2] = {
  {GT__POINTER(gt__matmul_kernel<float, 0>), GT__POINTER(gt__matmul_kernel<float, 1>)},
  {GT__POINTER(gt__matmul_kernel<double, 0>), GT__POINTER(gt__matmul_kernel<double, 1>)},
  {GT__POINTER(gt__matmul_kernel<int64_t, 0>), GT__POINTER(gt__matmul_kernel<int64_t, 1>)}};
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
/* Threads a block so that the slots fit into `room` bytes: 256, 128 or, always, 64. Work that would
   not give each multiprocessor two blocks is cut finer. `per_thread` items go to a thread. */
static unsigned gt__threads(const gt__program *p, int64_t room, int64_t items, int per_thread) {
  unsigned threads = 256;
  while (threads > 64 && (32ll * threads * gt__slot_count(p) > room ||
                          items < 256ll * threads * per_thread))
    threads /= 2;
  return threads;
}
static bool gt__is_program(const gt__program *p) {
  return p->compute <= GT__I64 && p->n_ins <= GT__CODE && p->n_in <= GT__INPUTS &&
         p->n_in + p->n_const <= p->n_slot && p->n_slot <= GT__SLOTS;
}
static int gt__is_heavy(const gt__program *p) {
  for (int i = 0; i < p->n_ins; i++) {
    const int op = p->ins[i].op;
    if (op == GT__UNIFORM || op == GT__NORMAL || op == GT__INTEGER) return 1;
  }
  return p->heavy != 0;
}
/* A failed launch is reported by its return value, so it is taken out of the last-error slot again;
   what others left there stays. */
static int gt__launch(const void *kernel, dim3 grid, unsigned threads, size_t shared, void *stream,
                      void **parameters) {
  const cudaError_t error =
      cudaLaunchKernel(kernel, grid, dim3(threads), parameters, shared, (cudaStream_t)stream);
  if (error != cudaSuccess) (void)cudaGetLastError();
  return (int)error;
}

extern "C" int gt__cuda_map(const gt__map_args *args, void *stream) {
  const gt__program *p = &args->program;
  if (!gt__is_program(p) || args->count < 0) return cudaErrorInvalidValue;
  if (args->count == 0) return cudaSuccess;
  const int per_thread = p->compute == GT__F32 ? 8 : 4;
  const unsigned threads = gt__threads(p, GT__SHARED, args->count, per_thread);
  void *parameters[] = {(void *)args};
  return gt__launch(gt__map_kernels[p->compute][gt__is_heavy(p)],
                    gt__blocks(args->count, threads * per_thread), threads,
                    threads * 32 * gt__slot_count(p), stream, parameters);
}

/* Threads that share a row in the tree: one for each 8 chunks; but where outputs lie side by side,
   up to 32 rows a block as long as 64 blocks are left, since a warp then reads whole lines. */
static int gt__tree_lanes(const gt__reduce_args *args) {
  int lanes = 1;
  while (lanes < 256 && (int64_t)lanes * GT__GROUP < args->n_chunk) lanes *= 2;
  while (!args->inner && lanes > 8 && args->outer >= 64 * (256 / lanes)) lanes /= 2;
  return lanes;
}
extern "C" int gt__cuda_reduce(const gt__reduce_args *args, void *stream) {
  const gt__program *p = &args->pre.program;
  if (!gt__is_program(p) || args->outer < 0 || args->n < 0) return cudaErrorInvalidValue;
  if (args->n_chunk > 1 && !args->scratch) return cudaErrorInvalidValue;
  if (args->outer == 0) return cudaSuccess;
  const int64_t jobs = args->outer * (args->n_chunk > 1 ? args->n_chunk : 1);
  /* The lanes' values take 4 KB of shared memory. Short rows leave most lanes without an element:
     blocks of 64 threads, of which more fit on a multiprocessor, waste less on them. */
  const unsigned threads =
      gt__threads(p, GT__SHARED - 4096, !args->inner ? jobs : args->n > 512 ? INT64_MAX : 0, 1);
  void *parameters[] = {(void *)args};
  const int error = gt__launch(gt__reduce_kernels[p->compute][gt__is_heavy(p)],
                               gt__blocks(jobs, args->inner ? 1 : threads), threads,
                               threads * 32 * gt__slot_count(p), stream, parameters);
  if (error || args->n_chunk <= 1) return error;
  int lanes = gt__tree_lanes(args);
  void *more[] = {(void *)args, &lanes};
  return gt__launch(gt__combine_kernels[p->compute], gt__blocks(args->outer, 256 / lanes), 256, 0,
                    stream, more);
}

extern "C" int gt__cuda_matmul(const gt__matmul_args *args, void *stream) {
  const gt__program *p = &args->post.program;
  if (!gt__is_program(p) || p->n_in < 1 || args->compute != p->compute ||
      args->m < 0 || args->n < 0 || args->k < 0 || args->batch < 0)
    return cudaErrorInvalidValue;
  if (args->m == 0 || args->n == 0 || args->batch == 0) return cudaSuccess;
  int64_t tiles = ((args->m - 1) / GT__TILE + 1) * ((args->n - 1) / GT__TILE + 1);
  int active = (int)gt__threads(p, GT__SHARED, INT64_MAX, 1);
  const size_t pieces = 2 * GT__STEP * GT__PITCH * (args->compute == GT__F32 ? 4 : 8);
  const size_t slots = (size_t)active * 32 * gt__slot_count(p);
  const dim3 grid(gt__blocks(tiles, 1), 1, (unsigned)(args->batch < 65535 ? args->batch : 65535));
  void *parameters[] = {(void *)args, &tiles, &active};
  return gt__launch(gt__matmul_kernels[p->compute][gt__is_heavy(p)], grid, 256,
                    pieces > slots ? pieces : slots, stream, parameters);
}

/* Can `n` neighbours along the last dimension, which is dense on both sides, move as one? */
static bool gt__can_join(const gt__copy_args *a, int n, int bytes) {
  const int last = a->ndim - 1;
  bool can = a->size[last] % n == 0 && (uintptr_t)a->dst.data % bytes == 0 &&
             (uintptr_t)a->src.data % bytes == 0;
  for (int d = 0; d < last; d++)
    can = can && a->dst.stride[d] % n == 0 && a->src.stride[d] % n == 0;
  return can;
}
/* Makes elements as wide as 16 bytes where possible: rows picked by an index move much faster. */
static int gt__widen(gt__copy_args *a, int size_log2) {
  const int last = a->ndim - 1;
  int n_log2 = 0;
  if (last < 0 || a->dst.stride[last] != 1 || a->src.stride[last] != 1 ||
      (a->index.data && a->gather_dim == last))
    return size_log2;
  while (size_log2 + n_log2 < 4 && gt__can_join(a, 2 << n_log2, 2 << (size_log2 + n_log2)))
    n_log2++;
  a->size[last] >>= n_log2;
  a->count >>= n_log2;
  for (int d = 0; d < last; d++) {
    a->dst.stride[d] /= 1 << n_log2;
    a->src.stride[d] /= 1 << n_log2;
  }
  return size_log2 + n_log2;
}
extern "C" int gt__cuda_copy(const gt__copy_args *args, void *stream) {
  static const unsigned char size_log2[GT_DTYPES] = {0, 0, 0, 1, 2, 3, 1, 1, 2, 3};
  if (args->kind != GT__ELEMENTS || args->count < 0 || args->dst.dtype != args->src.dtype ||
      args->dst.dtype >= GT_DTYPES)
    return cudaErrorInvalidValue;
  if (args->count == 0) return cudaSuccess;
  gt__copy_args wide = *args;
  const int size = gt__widen(&wide, size_log2[args->dst.dtype]);
  void *parameters[] = {&wide};
  return gt__launch(gt__copy_kernels[size], gt__blocks(wide.count, 256), 256, 0, stream,
                    parameters);
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
/* The answers for the current device; none if there is no device. */
static int gt__probe(void) {
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, GT__POINTER(gt__probe_kernel)) == cudaSuccess)
    return (int)attributes.sharedSizeBytes;
  (void)cudaGetLastError();
  return 0;
}
extern "C" int gt__cuda_build(gt__build *build) {
  static const int list[] = {__CUDA_ARCH_LIST__};
  const int probe = gt__probe();
  memset(build, 0, sizeof *build);
  strncpy(build->version, probe & GT__PROBE_FLUSHES ? "fast-math" : GPUTENSOR_VERSION,
          sizeof build->version - 1);
  build->size_map = sizeof(gt__map_args);
  build->size_reduce = sizeof(gt__reduce_args);
  build->size_matmul = sizeof(gt__matmul_args);
  build->size_copy = sizeof(gt__copy_args);
  for (size_t i = 0; i < sizeof list / sizeof *list && build->n_arch < 16; i++)
    build->arch[build->n_arch++] =
        list[i] == 900 && probe & GT__PROBE_HOPPER ? 900 + 'a' : list[i] / 10;
  return cudaSuccess;
}

static int gt__warm(const void *const *kernels, int n) {
  cudaFuncAttributes attributes;
  for (int i = 0; i < n; i++) {
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernels[i]);
    if (error == cudaSuccess) continue;
    (void)cudaGetLastError();
    return (int)error;
  }
  return cudaSuccess;
}
/* Kernels load at their first use, which may wait for the device; this loads all of them. */
extern "C" int gt__cuda_warmup(void) {
  int error = gt__warm(gt__map_kernels[0], 6);
  if (!error) error = gt__warm(gt__reduce_kernels[0], 6);
  if (!error) error = gt__warm(gt__combine_kernels, 3);
  if (!error) error = gt__warm(gt__matmul_kernels[0], 6);
  return error ? error : gt__warm(gt__copy_kernels, 5);
}

#undef GT__POINTER
#undef GT__SATURATE
#undef GT__EACH
#undef GT__RESIDENT
#undef GT__DEV
