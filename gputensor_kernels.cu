/* gputensor_kernels.cu - what gputensor.h runs on an NVIDIA GPU: kernels and their launchers,
   nothing else. nvcc builds it beside the file with GPUTENSOR_IMPLEMENTATION. MIT licence: there.

   CONTENTS   (search for >>word)
     >>traits       vectors of 16 bytes, batches of them, and the ten dtypes
     >>converting   a dtype to a compute type and back
     >>slots        an operand's column in shared memory
     >>loading      the loader: any dtype, any strides, into a slot
     >>storing      the store: the accumulator to any dtype and strides
     >>interpreter  the accumulator machine, the heart of map, reduce and matmul
     >>map          each output element from the inputs at its place, or from a table
     >>reduce       folding by THE PLAN of gputensor.h, and the tree over chunks
     >>copy         elements picked by an index; all other copies are maps
     >>matmul       a tiled product with an expression behind it
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

/* Blocks of 256 threads that a multiprocessor shall hold at once: occupancy hides the latency of
   memory. What more would need spills registers (seen with nvcc 13: 5 of floats). */
#define GT__RESIDENT(T) (sizeof(T) == 4 ? 4 : 3)
#define GT__DEV static __device__ __forceinline__
#define GT__EACH _Pragma("unroll") for (int i = 0; i < N; i++)

/* ---- >>traits ------------------------------------------------------------------------------- */
template <class T> struct gt__lot {
  static constexpr int W = 16 / sizeof(T); /* elements of a vector: the widest load and store */
  static constexpr int N = 2 * W;          /* of a batch: two vectors keep more loads in flight */
};

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

/* The batch of a thread: two vectors of W elements. The dims of a tensor are split at `cut` into
   outer and inner ones, the latter `width` elements together. Vector v begins at outer index
   o + r + v*dr and inner index k + c + v*dc; it runs along the last inner dim, or with `down` along
   the last outer one. valid[v] of its elements exist. straight: no vector goes on in the next line
   of its dim. */
struct gt__batch {
  int64_t width, o, k;
  int r, c, dr, dc, cut, valid[2];
  bool down, straight;
  __device__ __forceinline__ int64_t index(int v, int j) const { /* of element j of vector v */
    return (o + (r + v * dr)) * width + k + (c + v * dc) + j * (down ? width : 1);
  }
  __device__ __forceinline__ gt__batch now() const { /* a copy that is not worked with before */
    gt__batch b = *this;
    asm volatile("" : "+l"(b.o), "+l"(b.k), "+r"(b.r), "+r"(b.c));
    return b;
  }
};
/* How many of the W elements of a vector exist if `left` do from its first on. */
template <class T> GT__DEV int gt__valid(int64_t left) {
  const int W = gt__lot<T>::W;
  return left >= W ? W : left > 0 ? (int)left : 0;
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
  GT__DEV T of(gt__half x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return gt__cast<T, float>::of(y);
  }
};
template <class T> struct gt__cast<T, gt__bfloat> {
  GT__DEV T of(gt__bfloat x) { return gt__cast<T, float>::of(gt__bf16_to_f32(x.bits)); }
};
template <class X> struct gt__cast<gt__bool, X> {
  GT__DEV gt__bool of(X x) { gt__bool r; r.bits = x != 0; return r; }
};
template <class X> struct gt__cast<gt__half, X> {
  GT__DEV gt__half of(X x) {
    gt__half r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"((float)x));
    return r;
  }
};
template <class X> struct gt__cast<gt__bfloat, X> {
  GT__DEV gt__bfloat of(X x) {
    gt__bfloat r;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"((float)x));
#else
    r.bits = gt__f32_to_bf16((float)x);
#endif
    return r;
  }
};
template <class T, class I> struct gt__cast<T, gt__raw<I>> {
  GT__DEV T of(gt__raw<I> x) { return (T)__int_as_float(x.bits); }
};
template <class I, class X> struct gt__cast<gt__raw<I>, X> {
  GT__DEV gt__raw<I> of(X x) { gt__raw<I> r; r.bits = (I)__float_as_int((float)x); return r; }
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
   Vector v of V of slot s of this thread is at mine + (V*s + v)*pitch. Neighbouring threads are 16
   bytes apart, so a warp reads 512 bytes in a row, four wavefronts and no bank conflict. */
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
template <int V> GT__DEV char *gt__at(const gt__slots &s, unsigned slot, int v) {
  return s.mine + (V * slot + v) * s.pitch;
}
/* Element i of a slot, i not known to the compiler: shared memory can be indexed, registers not. */
template <class T, int V> GT__DEV T *gt__element(const gt__slots &s, unsigned slot, int i) {
  return (T *)gt__at<V>(s, slot, i / gt__lot<T>::W) + i % gt__lot<T>::W;
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

template <class T, int N> GT__DEV void gt__get(const gt__slots &s, unsigned slot, T (&x)[N]) {
  constexpr int W = gt__lot<T>::W;
  #pragma unroll
  for (int i = 0; i < N; i += W) gt__get16(gt__at<N / W>(s, slot, i / W), x + i);
}
template <class T, int N>
GT__DEV void gt__put(const gt__slots &s, unsigned slot, const T (&x)[N]) {
  constexpr int W = gt__lot<T>::W;
  #pragma unroll
  for (int i = 0; i < N; i += W) gt__put16(gt__at<N / W>(s, slot, i / W), x + i);
}
template <class T, int N>
GT__DEV void gt__fill_constants(const gt__program &p, const gt__slots &s) {
  #pragma unroll 1
  for (int k = 0; k < p.n_const; k++) {
    T x[N];
    const T c = gt__constant<T>(p.constant[k]);
    #pragma unroll
    for (int i = 0; i < N; i++) x[i] = c;
    gt__put(s, p.n_in + k, x);
  }
}

/* ---- >>loading ---------------------------------------------------------------------------------
   In two halves, so that the elements of all operands are on their way at once: gt__start_inputs
   begins copies to the slots that no thread waits for; gt__await_inputs fetches what cannot be
   copied so, waits, and converts in place what is not of type T. */

/* The element offset of index i among the dims [from, to). One dim, or none, is the usual case;
   more are out of line, so that they take no registers from it, and in 32 bits where `narrow`
   allows, since 64-bit division costs four times more. */
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

/* Where a straight batch lies in an operand: element j of vector v is at p[v] + j*stride, in bytes.
   whole: both vectors exist, lie side by side and may be moved by their widest instructions. The
   addresses are tested here because rows start anywhere. */
struct gt__lines {
  char *p[2];
  int64_t stride;
  bool whole;
};
GT__DEV int64_t gt__place(const gt__map_args &p, const gt__operand &x, const gt__batch &b, int v) {
  return gt__locate(p, b.o + (b.r + v * b.dr), 0, b.cut, x.stride) +
         gt__locate(p, b.k + (b.c + v * b.dc), b.cut, p.ndim, x.stride);
}
template <class T>
GT__DEV gt__lines gt__find(const gt__map_args &p, const gt__operand &x, const gt__batch &b) {
  constexpr int W = gt__lot<T>::W;
  gt__lines l;
  const int64_t stride = x.stride[b.down ? b.cut - 1 : p.ndim - 1];
  const int bytes = W << x.size_log2;
  l.p[0] = x.data + (gt__place(p, x, b, 0) << x.size_log2);
  l.p[1] = x.data + (gt__place(p, x, b, 1) << x.size_log2);
  l.stride = stride << x.size_log2;
  l.whole = stride == 1 && b.valid[0] == W && b.valid[1] == W && b.straight &&
            (((unsigned)(uintptr_t)l.p[0] | (unsigned)(uintptr_t)l.p[1]) &
             (bytes < 16 ? bytes - 1 : 15)) == 0;
  return l;
}
/* The address of one element, by itself. */
static __device__ __noinline__ char *gt__find_one(const gt__map_args &p, const gt__operand &x,
                                                  int64_t i, int cut, int64_t width) {
  const int64_t o = i / width, k = i - o * width;
  const int64_t at = gt__locate(p, o, 0, cut, x.stride) + gt__locate(p, k, cut, p.ndim, x.stride);
  return x.data + (at << x.size_log2);
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
/* W elements, by 16-byte instructions or one narrower. */
template <class S, int W> GT__DEV void gt__load_line(const char *from, S (&x)[W]) {
  constexpr int BYTES = sizeof x, PART = BYTES < 16 ? BYTES : 16;
  typedef typename gt__bits<PART>::type Part;
  Part part[BYTES / PART];
  #pragma unroll
  for (int i = 0; i < BYTES / PART; i++) part[i] = ((const Part *)from)[i];
  memcpy(x, part, BYTES);
}
template <class S> GT__DEV void gt__store_line(char *to, const S &x) {
  constexpr int BYTES = sizeof x, PART = BYTES < 16 ? BYTES : 16;
  typedef typename gt__bits<PART>::type Part;
  Part part[BYTES / PART];
  memcpy(part, x, BYTES);
  #pragma unroll
  for (int i = 0; i < BYTES / PART; i++) ((Part *)to)[i] = part[i];
}

/* Begins to copy the vectors of input k and those behind it, unconverted, to the beginning of their
   places in the slots. The bits of the result say for which inputs. */
template <class T> GT__DEV uint32_t gt__start_inputs(const gt__map_args &p, int from,
                                                     const gt__batch &b, const gt__slots &s) {
  constexpr int W = gt__lot<T>::W;
  uint32_t started = 0;
  #pragma unroll 1
  for (int k = from; k < p.program.n_in; k++) {
    const gt__lines l = gt__find<T>(p, p.in[k], b);
    const int bytes = W << p.in[k].size_log2;
    if (!l.whole || bytes > 16 || bytes < 4) continue;
    started |= 1u << k;
    #pragma unroll
    for (int v = 0; v < 2; v++) {
      char *to = gt__at<2>(s, k, v);
      if (bytes == 16) __pipeline_memcpy_async(to, l.p[v], 16);
      else if (bytes == 8) __pipeline_memcpy_async(to, l.p[v], 8);
      else __pipeline_memcpy_async(to, l.p[v], 4);
    }
  }
  __pipeline_commit();
  return started;
}
/* Fills a slot with elements of any strides. Like all that is not the usual case, out of line and
   with its arguments by value, so that it costs the kernel no registers. */
template <class T>
static __device__ __noinline__ void gt__fetch_input(const gt__map_args &p, int slot, gt__batch b,
                                                    gt__slots s) {
  constexpr int W = gt__lot<T>::W;
  const gt__operand &x = p.in[slot];
  if (b.straight) {
    const gt__lines l = gt__find<T>(p, x, b);
    gt__by_dtype(x.dtype, [&](auto tag) {
      typedef decltype(tag) S;
      S u[2][W];
      T y[2 * W];
      #pragma unroll
      for (int v = 0; v < 2; v++) {
        if (l.stride == 0) {             /* a number, or one for the whole row */
          const S one = b.valid[v] ? *(const S *)l.p[v] : S();
          #pragma unroll
          for (int j = 0; j < W; j++) u[v][j] = one;
        } else if (l.whole) {
          gt__load_line(l.p[v], u[v]);
        } else {
          #pragma unroll
          for (int j = 0; j < W; j++)
            u[v][j] = j < b.valid[v] ? *(const S *)(l.p[v] + j * l.stride) : S();
        }
      }
      #pragma unroll
      for (int i = 0; i < 2 * W; i++) y[i] = gt__cast<T, S>::of(u[i / W][i % W]);
      gt__put(s, slot, y);
    });
    return;
  }
  #pragma unroll 1
  for (int i = 0; i < 2 * W; i++)
    if (i % W < (i < W ? b.valid[0] : b.valid[1]))
      *gt__element<T, 2>(s, slot, i) =
          gt__load_one<T>(gt__find_one(p, x, b.index(i / W, i % W), b.cut, b.width), x.dtype);
}
/* Converts a slot in place from dtype S, whose vectors were copied to the beginning of their
   places; joined: those of two to that of the first. */
template <class T, class S, int V>
GT__DEV void gt__convert(const gt__slots &s, int slot, bool joined) {
  constexpr int W = gt__lot<T>::W;
  if constexpr (sizeof(S) <= sizeof(T))
    #pragma unroll
    for (int v = 0; v < V; v += 2) {
      S u[2][W];
      T y[2][W];
      char *p = gt__at<V>(s, slot, v), *q = p + s.pitch;
      gt__load_line(p, u[0]);
      gt__load_line(joined && sizeof u[0] < 16 ? p + sizeof u[0] : q, u[1]);
      #pragma unroll
      for (int i = 0; i < 2 * W; i++) y[i / W][i % W] = gt__cast<T, S>::of(u[i / W][i % W]);
      gt__put16(p, y[0]);
      gt__put16(q, y[1]);
    }
}
template <class T, int V>
static __device__ __noinline__ void gt__convert_other(int dtype, gt__slots s, int slot,
                                                      bool joined) {
  gt__by_dtype(dtype, [&](auto tag) { gt__convert<T, decltype(tag), V>(s, slot, joined); });
}
template <class T> struct gt__native {
  static constexpr int DTYPE = sizeof(T) == 4 ? GT_FLOAT32 : (T)0.5 == 0 ? GT_INT64 : GT_FLOAT64;
};
template <class T>
GT__DEV void gt__await_inputs(const gt__map_args &p, int from, uint32_t started,
                              const gt__batch &b, const gt__slots &s) {
  const uint32_t all = (1u << p.program.n_in) - (1u << from);
  if (started != all)
    #pragma unroll 1
    for (int k = from; k < p.program.n_in; k++)
      if (!(started >> k & 1)) gt__fetch_input<T>(p, k, b, s);
  __pipeline_wait_prior(0);
  #pragma unroll 1
  for (int k = from; k < p.program.n_in; k++) {
    const int dtype = p.in[k].dtype;
    if (dtype == gt__native<T>::DTYPE || !(started >> k & 1)) continue;
    if (sizeof(T) == 4 && dtype == GT_BFLOAT16) gt__convert<T, gt__bfloat, 2>(s, k, false);
    else if (sizeof(T) == 4 && dtype == GT_FLOAT16) gt__convert<T, gt__half, 2>(s, k, false);
    else gt__convert_other<T, 2>(dtype, s, k, false);
  }
}

/* ---- >>storing ---------------------------------------------------------------------------------
   Stores the accumulator. It may overwrite slot 0: the program is done with it. */
template <class T, class S>
GT__DEV void gt__store_lines(const gt__lines &l, const gt__batch &b, const T (&x)[gt__lot<T>::N]) {
  constexpr int W = gt__lot<T>::W;
  #pragma unroll
  for (int v = 0; v < 2; v++) {
    S u[W];
    #pragma unroll
    for (int j = 0; j < W; j++) u[j] = gt__cast<S, T>::of(x[v * W + j]);
    if (l.whole) gt__store_line(l.p[v], u);
    else
      #pragma unroll
      for (int j = 0; j < W; j++)
        if (j < b.valid[v]) *(S *)(l.p[v] + j * l.stride) = u[j];
  }
}
/* Stores slot 0, to any dtype and strides. */
template <class T>
static __device__ __noinline__ void gt__store_slot(const gt__map_args &p, gt__batch b,
                                                   gt__slots s) {
  constexpr int W = gt__lot<T>::W;
  const gt__operand &x = p.out;
  if (b.straight) {
    const gt__lines l = gt__find<T>(p, x, b);
    T y[2 * W];
    gt__get(s, 0, y);
    gt__by_dtype(x.dtype, [&](auto tag) { gt__store_lines<T, decltype(tag)>(l, b, y); });
    return;
  }
  #pragma unroll 1
  for (int i = 0; i < 2 * W; i++)
    if (i % W < (i < W ? b.valid[0] : b.valid[1]))
      gt__store_one<T>(gt__find_one(p, x, b.index(i / W, i % W), b.cut, b.width), x.dtype,
                       *gt__element<T, 2>(s, 0, i));
}
template <class T>
GT__DEV void gt__store(const gt__map_args &p, const gt__batch &b, const gt__slots &s,
                       const T (&acc)[gt__lot<T>::N]) {
  gt__put(s, 0, acc);
  gt__store_slot<T>(p, b, s);
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

/* U elements of a slot from element k on: whole vectors, or one. */
template <class T, int V, int U>
GT__DEV void gt__get_some(const gt__slots &s, unsigned slot, int k, T (&x)[U]) {
  constexpr int W = gt__lot<T>::W;
  static_assert(U == 1 || U % W == 0, "a part of a vector would conflict in the banks");
  if constexpr (U == 1) x[0] = *gt__element<T, V>(s, slot, k);
  else
    #pragma unroll
    for (int i = 0; i < U; i += W)
      gt__get16((const char *)gt__element<T, V>(s, slot, k + i), x + i);
}
/* A heavy instruction (exp, pow, random numbers...) on U elements at a time, all N or fewer: then a
   loop has the body U times, after which the accumulator turns by U, since registers cannot be
   indexed. What the elements' places are is asked for inside of the case that needs them: nvcc
   would take all that it can out of the loop over instructions, in front of all programs. */
template <class T, int U, class At, int N>
GT__DEV void gt__heavy(uint32_t word, const gt__program &p, const gt__slots &s, const At &at,
                       T (&acc)[N]) {
  constexpr int W = gt__lot<T>::W;
  const int op = word & 255;
  #pragma unroll 1
  for (int k = 0; k < N; k += U) {
    T y[U], z[U], r[U];
    switch (op) {
      case GT__INDEX: {
        const auto b = at.now();
        #pragma unroll
        for (int i = 0; i < U; i++) r[i] = (T)b.index((k + i) / W, (k + i) % W);
        break;
      }
      case GT__UNIFORM: case GT__NORMAL: case GT__INTEGER: {
        const auto b = at.now();
        gt__get_some<T, N / W, U>(s, word >> 8 & 255, k, y);
        gt__get_some<T, N / W, U>(s, word >> 16 & 255, k, z);
        #pragma unroll
        for (int i = 0; i < U; i++)
          r[i] = gt__random<T>(op, p, b.index((k + i) / W, (k + i) % W), y[i], z[i]);
        break;
      }
#define GT__CASE_LIGHT(name, arity)
#define GT__CASE_HEAVY(name, arity) \
      case GT__OP_##name: \
        if (arity > 1) gt__get_some<T, N / W, U>(s, word >> 8 & 255, k, y); \
        if (arity > 2) gt__get_some<T, N / W, U>(s, word >> 16 & 255, k, z); \
        _Pragma("unroll") for (int i = 0; i < U; i++) \
          r[i] = gt__formula<GT__OP_##name, T>::of(acc[i], arity > 1 ? y[i] : acc[i], \
                                                   arity > 2 ? z[i] : acc[i]); \
        break;
#define GT__LINE(name, arity, result, cost, f, i) GT__CASE_##cost(name, arity)
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

/* ---- >>map -------------------------------------------------------------------------------------
   A block makes a tile of rows x columns: all dims but the last are rows, one after the other. So
   rows that repeat, columns that repeat and plain arrays, which are one long row, are the same to
   it. Neighbouring threads take neighbouring vectors; a thread's second vector lies half a tile
   further on, so that a warp's loads and stores cover 512 bytes in a row; or next to the first, if
   that makes 16 bytes of two vectors of 16-bit elements (joined).
   A map is limited by the instructions around the expression as soon as by memory: at the rate of
   an H200's memory there is time for 500 instructions of a warp on 256 floats. So the usual map,
   WHOLE, finds its places by steps that the host worked out; any other takes gt__batch. */
struct gt__step {                        /* how an operand moves, in bytes */
  int64_t down, along, next;             /* to the tile below, the one beside, the next vector */
  int row, column;                       /* to the next row and column within a tile */
  int copy;                              /* asynchronously, so many bytes at once; or 0 */
  bool both;                             /* they are two vectors, `next` leads to the next two */
  bool crossed;                          /* its elements lie side by side down the rows */
};
struct gt__tiling {
  int columns_log2, joined;
  unsigned across;                       /* tiles that make up a row */
  unsigned full_down, full_along;        /* the tiles before these have all their elements */
  int64_t rows;                          /* of a batch: all dims before the last two are batches */
  unsigned batches;
  unsigned tiles;                        /* of a batch */
  bool crossed;                          /* some operand is; the tile is 64 rows of 16 vectors */
  gt__step step[1 + GT__INPUTS];         /* of out and the inputs, if whole */
};
enum { GT__VECTORS = 4 };                /* of a thread in a whole map */
enum { GT__ANY, GT__WHOLE, GT__TURNED }; /* TURNED: whole, with batches or crossed operands */
/* Where a thread works. */
template <class T, bool TURNED> struct gt__seat {
  unsigned down, along;                  /* the block's tile */
  int first, r, c;                       /* the first element in it, its row and column */
  GT__DEV gt__seat of(const gt__tiling &t, unsigned tile) {
    gt__seat q;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(q.first)); /* so that it need not be kept */
    if (TURNED && t.crossed) q.first ^= q.first >> 4 & 7;           /* see gt__fill_crossed */
    q.first = q.first * gt__lot<T>::W << t.joined;
    q.down = q.r = 0;
    q.along = tile;
    q.c = q.first;
    if (t.rows > 1) {
      q.down = q.along;
      q.along = 0;
      if (t.across > 1) {
        q.along = q.down % t.across;
        q.down /= t.across;
      }
      q.r = q.first >> t.columns_log2;
      q.c = q.first & ((1 << t.columns_log2) - 1);
    }
    return q;
  }
  __device__ __forceinline__ char *place(const gt__map_args &p, const gt__operand &x,
                                         const gt__step &m) const {
    char *at = x.data + along * m.along + c * (int64_t)m.column;
    if (down | r) at += down * m.down + r * (int64_t)m.row;
    if (TURNED && gridDim.y > 1)
      at += gt__locate(p, blockIdx.y, 0, p.ndim - 2, x.stride) << x.size_log2;
    return at;
  }
  __device__ __forceinline__ bool is_full(const gt__tiling &t) const {
    return down < t.full_down && along < t.full_along;
  }
};
/* The places of a map's elements, vector by vector. */
template <class T, int V, bool TURNED> struct gt__places {
  gt__seat<T, TURNED> q;
  int64_t rows, width, o, k;
  int hop, log2, joined;
  GT__DEV gt__places of(const gt__map_args &p, const gt__tiling &t, unsigned tile) {
    gt__places a;
    a.q = gt__seat<T, TURNED>::of(t, tile);
    a.hop = blockDim.x * gt__lot<T>::W;
    a.joined = t.joined;
    a.log2 = t.rows > 1 ? t.columns_log2 : 31;
    a.rows = t.rows;
    a.width = p.size[p.ndim - 1];
    a.o = t.rows > 1 ? (int64_t)a.q.down * (V * a.hop >> t.columns_log2) : 0;
    a.k = (int64_t)a.q.along << t.columns_log2;
    return a;
  }
  __device__ __forceinline__ int offset(int v) const { /* of vector v in the tile */
    return q.first + (joined ? v / 2 * 2 * hop + v % 2 * gt__lot<T>::W : v * hop);
  }
  __device__ __forceinline__ int row(int v) const { return offset(v) >> log2; }
  __device__ __forceinline__ int column(int v) const {
    return offset(v) - (int)((int64_t)row(v) << log2);
  }
  __device__ __forceinline__ int64_t index(int v, int j) const {
    return ((TURNED ? blockIdx.y * rows : 0) + o + row(v)) * width + k + column(v) + j;
  }
};
template <class P> struct gt__lazy { /* P, made when an instruction asks for indices */
  const gt__map_args &p;
  const gt__tiling &t;
  unsigned tile;
  __device__ __forceinline__ P now() const { return P::of(p, t, tile); }
};
/* Which of a thread's vectors exist, a bit each. */
template <class P, int V>
static __device__ __noinline__ int gt__which_exist(const gt__map_args &p, const gt__tiling &t,
                                                   unsigned tile) {
  const P a = P::of(p, t, tile);
  int bits = 0;
  #pragma unroll
  for (int v = 0; v < V; v++)
    bits |= (a.o + a.row(v) < t.rows && a.k + a.column(v) < a.width) << v;
  return bits;
}
template <class T>
static __device__ __noinline__ T gt__load_any(const char *p, int dtype) {
  return gt__load_one<T>(p, dtype);
}
/* Begins to copy the existing vectors of an operand to slot k. */
template <int V, int BYTES>
GT__DEV void gt__copy_vectors(const gt__slots &s, int k, const char *from, int64_t next, bool both,
                              int exist) {
  char *to = gt__at<V>(s, k, 0);
  #pragma unroll
  for (int v = 0; v < V; v++, to += s.pitch) {
    if (both && v % 2) continue;
    if (exist >> v & 1) __pipeline_memcpy_async(to, from, BYTES);
    from += next;
  }
}
template <class T, class S, int N>
GT__DEV void gt__store_vectors(char *to, int64_t next, bool both, int exist, const T (&acc)[N]) {
  constexpr int W = gt__lot<T>::W;
  #pragma unroll
  for (int v = 0; v < N / W; v += 2) {
    S u[2][W];
    #pragma unroll
    for (int i = 0; i < 2 * W; i++) u[i / W][i % W] = gt__cast<S, T>::of(acc[v * W + i]);
    if (both && sizeof u == 16) {
      if (exist >> v & 1) gt__store_line(to, u);
      to += next;
      continue;
    }
    if (exist >> v & 1) gt__store_line(to, u[0]);
    to += next;
    if (exist >> v & 2) gt__store_line(to, u[1]);
    to += next;
  }
}
template <class T, int N>
static __device__ __noinline__ void gt__store_other(int dtype, char *to, int64_t next, bool both,
                                                    int exist, gt__slots s) {
  T y[N];
  gt__get(s, 0, y);
  gt__by_dtype(dtype, [&](auto tag) {
    gt__store_vectors<T, decltype(tag)>(to, next, both, exist, y);
  });
}
/* Fills slot k with a transposed operand. A warp reads elements that lie side by side, 64 rows of
   one column, in pairs if they have 16 bits, and puts each where the thread works that it belongs
   to. So that these places are in different banks, the 16 vectors of row r are dealt to 16
   neighbouring threads in the order q ^ (r & 7), and lanes that would meet take the columns of a
   vector in turn. */
template <class T, class S, int PAIR>
GT__DEV void gt__turn(const char *from, char *slot, const gt__step &m, unsigned pitch, int64_t rows,
                      int64_t columns) {
  constexpr int W = gt__lot<T>::W, STEP = 2 / PAIR, TASKS = 16 * STEP / 8; /* of each of 8 warps */
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
template <class T, class F> GT__DEV void gt__by_usual_dtype(int dtype, F f) {
  if (dtype == gt__native<T>::DTYPE) f(T());
  else if constexpr (sizeof(T) == 4) {
    if (dtype == GT_BFLOAT16) f(gt__bfloat());
    else if (dtype == GT_FLOAT16) f(gt__half());
    else if (dtype == GT__RAW_8) f(gt__raw<uint8_t>());
    else f(gt__raw<uint16_t>());
  }
}
template <class T>
static __device__ __noinline__ void gt__fill_crossed(const gt__map_args &p, const gt__tiling &t,
                                                     gt__slots s, int k) {
  const gt__step &m = t.step[1 + k];
  const gt__seat<T, true> q = gt__seat<T, true>::of(t, blockIdx.x);
  const int64_t rows = t.rows - (int64_t)q.down * 64;
  const int64_t columns = p.size[p.ndim - 1] - (int64_t)q.along * 16 * gt__lot<T>::W;
  const char *from = q.place(p, p.in[k], m) - q.r * (int64_t)m.row - q.c * (int64_t)m.column;
  char *slot = gt__at<GT__VECTORS>(s, k, 0) - threadIdx.x * 16;
  gt__by_usual_dtype<T>(p.in[k].dtype, [&](auto tag) {
    typedef decltype(tag) S;
    if (sizeof(S) == 2 && ((uintptr_t)from | (unsigned)m.column) % 4 == 0)
      gt__turn<T, S, sizeof(S) == 2 ? 2 : 1>(from, slot, m, s.pitch, rows, columns);
    else
      gt__turn<T, S, 1>(from, slot, m, s.pitch, rows, columns);
  });
}
/* Begins to copy a tile's inputs to a set of slots; which of the thread's vectors exist. */
template <class T, bool TURNED>
GT__DEV int gt__start_tile(const gt__map_args &p, const gt__tiling &t, unsigned tile,
                           const gt__slots &s) {
  constexpr int V = GT__VECTORS;
  const gt__seat<T, TURNED> q = gt__seat<T, TURNED>::of(t, tile);
  int exist = (1 << V) - 1;
  if (!q.is_full(t)) exist = gt__which_exist<gt__places<T, V, TURNED>, V>(p, t, tile);
  #pragma unroll 1
  for (int k = 0; k < p.program.n_in; k++) {
    const gt__step &m = t.step[1 + k];
    if (!m.copy) continue;
    const char *from = q.place(p, p.in[k], m);
    if (m.copy == 16) gt__copy_vectors<V, 16>(s, k, from, m.next, m.both, exist);
    else if (m.copy == 8) gt__copy_vectors<V, 8>(s, k, from, m.next, m.both, exist);
    else gt__copy_vectors<V, 4>(s, k, from, m.next, false, exist);
  }
  return exist;
}
/* Fetches what cannot be copied so, and converts what was. */
template <class T, bool TURNED>
GT__DEV void gt__end_tile(const gt__map_args &p, const gt__tiling &t, unsigned tile, int exist,
                          const gt__slots &s) {
  constexpr int W = gt__lot<T>::W, V = GT__VECTORS;
  #pragma unroll 1
  for (int k = 0; k < p.program.n_in; k++) {
    const gt__step &m = t.step[1 + k];
    const int dtype = p.in[k].dtype;
    if (m.copy) {
      if (dtype == gt__native<T>::DTYPE) continue;
      if (sizeof(T) == 4 && dtype == GT_BFLOAT16) gt__convert<T, gt__bfloat, V>(s, k, m.both);
      else if (sizeof(T) == 4 && dtype == GT_FLOAT16) gt__convert<T, gt__half, V>(s, k, m.both);
      else gt__convert_other<T, V>(dtype, s, k, m.both);
      continue;
    }
    if (TURNED && m.crossed) {
      gt__fill_crossed<T>(p, t, s, k);
      continue;
    }
    const char *from = gt__seat<T, TURNED>::of(t, tile).place(p, p.in[k], m);
    #pragma unroll 1
    for (int v = 0; v < V; v++) {        /* the same along the row, or of a wide dtype */
      const char *at = from + (t.joined ? v / 2 * m.next + v % 2 * W * m.column : v * m.next);
      T x = 0, *to = gt__element<T, V>(s, k, v * W);
      if (!(exist >> v & 1)) continue;
      #pragma unroll 1
      for (int j = 0; j < W; j++) {
        if (!j || m.column) x = gt__load_any<T>(at + j * m.column, dtype);
        to[j] = x;
      }
    }
  }
}
/* A block makes several tiles if there are many, and begins to copy the next one's inputs to a
   second set of slots before it works on a tile, so that memory does not wait for arithmetic. */
template <class T, int HEAVY, bool TURNED>
GT__DEV void gt__map_whole(const gt__map_args &p, const gt__tiling &t, gt__slots s) {
  constexpr int W = gt__lot<T>::W, V = GT__VECTORS, N = V * W;
  int other = t.tiles > gridDim.x ? p.program.n_slot * V * s.pitch : 0; /* from set to set */
  unsigned tile = blockIdx.x;
  int exist = gt__start_tile<T, TURNED>(p, t, tile, s);
  __pipeline_commit();
  gt__fill_constants<T, N>(p.program, s);
  if (other) {
    s.mine += other;
    gt__fill_constants<T, N>(p.program, s);
    s.mine -= other;
  }
  #pragma unroll 1
  for (;;) {
    T acc[N];
    const unsigned next = tile + gridDim.x;
    int exist_next = 0;
    s.mine += other;
    if (next < t.tiles) exist_next = gt__start_tile<T, TURNED>(p, t, next, s);
    s.mine -= other;
    __pipeline_commit();
    __pipeline_wait_prior(1);
    gt__end_tile<T, TURNED>(p, t, tile, exist, s);
    if (TURNED && t.crossed) __syncthreads();
    const gt__lazy<gt__places<T, V, TURNED>> at = {p, t, tile};
    gt__run<T, HEAVY>(p.program, s, at, acc);

    const gt__step &m = t.step[0];
    char *to = gt__seat<T, TURNED>::of(t, tile).place(p, p.out, m);
    const int dtype = p.out.dtype;
    if (dtype == gt__native<T>::DTYPE) {
      gt__store_vectors<T, T>(to, m.next, false, exist, acc);
    } else if (sizeof(T) == 4 && dtype == GT_BFLOAT16) {
      gt__store_vectors<T, gt__bfloat>(to, m.next, m.both, exist, acc);
    } else if (sizeof(T) == 4 && dtype == GT_FLOAT16) {
      gt__store_vectors<T, gt__half>(to, m.next, m.both, exist, acc);
    } else {
      gt__put(s, 0, acc);
      gt__store_other<T, N>(dtype, to, m.next, m.both, exist, s);
    }
    if (next >= t.tiles) return;
    tile = next;
    exist = exist_next;
    s.mine += other;
    other = -other;
  }
}
template <class T, int HEAVY>
GT__DEV void gt__map_any(const gt__map_args &p, const gt__tiling &t, const gt__slots &s) {
  constexpr int W = gt__lot<T>::W;
  const auto a = gt__places<T, 2, false>::of(p, t, blockIdx.x);
  gt__batch b;
  T acc[2 * W];
  b.width = a.width;
  b.o = a.o;
  b.k = a.k;
  b.r = a.row(0);
  b.c = a.column(0);
  b.dr = a.row(1) - b.r;
  b.dc = a.column(1) - b.c;
  b.cut = p.ndim - 1;
  #pragma unroll
  for (int v = 0; v < 2; v++)
    b.valid[v] = a.o + a.row(v) < t.rows ? gt__valid<T>(a.width - a.k - a.column(v)) : 0;
  b.down = false;
  b.straight = true;
  const uint32_t started = gt__start_inputs<T>(p, 0, b, s);
  gt__fill_constants<T, 2 * W>(p.program, s);
  gt__await_inputs<T>(p, 0, started, b, s);
  gt__run<T, HEAVY>(p.program, s, b, acc);
  gt__store<T>(p, b, s, acc);
}
template <class T, int HEAVY, int MODE>
__global__ void __launch_bounds__(256, GT__RESIDENT(T))
gt__map_kernel(const __grid_constant__ gt__map_args p, const __grid_constant__ gt__tiling t) {
  const gt__slots s = gt__my_slots(blockDim.x);
  if (MODE == GT__ANY) gt__map_any<T, HEAVY>(p, t, s);
  else gt__map_whole<T, HEAVY, MODE == GT__TURNED>(p, t, s);
}

/* A function of one operand of 16 bits has 65,536 results. In shared memory they are a table, and
   then the longest program costs one load an element: memory sets the time again. A map of all that
   16 bits can be makes the table; each block, one a multiprocessor, has a copy of its own. */
struct gt__patterns {
  uint16_t bits[65536];
  constexpr gt__patterns() : bits() {
    for (int i = 0; i < 65536; i++) bits[i] = (uint16_t)i;
  }
};
static __device__ const gt__patterns gt__all_patterns;

enum { GT__TABLE_THREADS = 1024, GT__TABLE_LOADS = 4 }; /* vectors on their way to a thread */
GT__DEV uint4 gt__look_up(const uint16_t *table, uint4 x) {
  uint32_t u[4] = {x.x, x.y, x.z, x.w};
  #pragma unroll
  for (int i = 0; i < 4; i++) u[i] = table[u[i] & 0xffff] | (uint32_t)table[u[i] >> 16] << 16;
  return make_uint4(u[0], u[1], u[2], u[3]);
}
GT__DEV void gt__load_many(uint4 (&x)[GT__TABLE_LOADS], const uint4 *from, int64_t left) {
  #pragma unroll
  for (int i = 0; i < GT__TABLE_LOADS; i++)
    if (i * GT__TABLE_THREADS < left) x[i] = from[i * GT__TABLE_THREADS];
}
static __global__ void __launch_bounds__(GT__TABLE_THREADS, 1)
gt__table_kernel(const uint4 *table, const uint4 *in, uint4 *out, int64_t count) {
  const int tile = GT__TABLE_THREADS * GT__TABLE_LOADS;
  const int64_t n = count / 8, step = (int64_t)gridDim.x * tile;
  const uint16_t *results = (const uint16_t *)gt__shared;
  int64_t at = (int64_t)blockIdx.x * tile + threadIdx.x;
  uint4 x[GT__TABLE_LOADS], next[GT__TABLE_LOADS];
  gt__load_many(next, in + at, n - at);
  for (int i = threadIdx.x; i < GT__TABLE_BYTES / 16; i += GT__TABLE_THREADS)
    gt__shared[i] = table[i];
  __syncthreads();
  for (; at < n; at += step) {
    #pragma unroll
    for (int i = 0; i < GT__TABLE_LOADS; i++) x[i] = next[i];
    gt__load_many(next, in + at + step, n - at - step);
    #pragma unroll
    for (int i = 0; i < GT__TABLE_LOADS; i++)
      if (i * GT__TABLE_THREADS < n - at)
        __stcs(out + at + i * GT__TABLE_THREADS, gt__look_up(results, x[i]));
  }
  const int64_t last = n * 8 + threadIdx.x;
  if (blockIdx.x == 0 && last < count)
    ((uint16_t *)out)[last] = results[((const uint16_t *)in)[last]];
}

/* ---- >>reduce ----------------------------------------------------------------------------------
   THE PLAN of gputensor.h, by teams of threads. A team makes a chunk of one output; not inner, of
   some outputs that lie side by side. The teams of a block join the chunks of an output in shared
   memory; what is left of the tree over chunks is a second, small kernel.
   To a thread its work is a stream of vectors that lie a constant `hop` apart: inner, across a row,
   the team side by side; else down the rows. One skeleton folds the stream, U vectors at a time.
   Three sources fill them: DIRECT, loads to registers, for the plain sum of a tensor; STEADY,
   asynchronous copies to slots and the interpreter; ANYHOW, the loader of maps, for the rest. */
template <class T> struct gt__folds;
#define GT__FOLDS_OF(T, suffix, word, mask) \
  template <> struct gt__folds<T> { \
    typedef word bits; \
    static constexpr word opposite = mask; /* as bits, x ^ opposite orders the other way around */ \
    GT__DEV T identity(int fold) { return gt__identity_##suffix(fold); } \
    GT__DEV T fold(int fold, T a, T b) { return gt__fold_##suffix(fold, a, b); } \
    GT__DEV bool beats(T a, int64_t i, T b, int64_t j) { \
      return gt__beats_##suffix(GT__FOLD_ARGMAX, a, i, b, j); \
    } \
  };
GT__FOLDS_OF(float, f32, uint32_t, 1u << 31)
GT__FOLDS_OF(double, f64, uint64_t, 1ull << 63)
GT__FOLDS_OF(int64_t, i64, uint64_t, ~0ull)
#undef GT__FOLDS_OF
/* The value of a formula of one operand, or of two. */
template <int OP, class T> GT__DEV T gt__apply(T a, T b) { return gt__formula<OP, T>::of(a, b, b); }

/* Eight folds are four: min, argmin, any and all are maxima of values turned, turned back at the
   end: the opposite, "is it not zero", "is it zero". Twice is once, or nothing. */
__host__ __device__ __forceinline__ int gt__base_fold(int fold) {
  return fold == GT__FOLD_ARGMIN ? GT__FOLD_ARGMAX : fold > GT__FOLD_ARGMAX || fold == GT__FOLD_MIN
                                                   ? GT__FOLD_MAX : fold;
}
GT__DEV bool gt__is_flipped(int fold) { return fold == GT__FOLD_MIN || fold == GT__FOLD_ARGMIN; }
/* The largest of values turned so is the smallest. */
template <bool FLIPPED, class T> GT__DEV T gt__flip(T x) {
  typename gt__folds<T>::bits u;
  memcpy(&u, &x, sizeof u);
  if (FLIPPED) u ^= gt__folds<T>::opposite;
  memcpy(&x, &u, sizeof x);
  return x;
}
template <class T> GT__DEV T gt__truth(int fold, T x) {
  return fold < GT__FOLD_ANY ? x : (T)((x != 0) == (fold == GT__FOLD_ANY));
}
template <class T> GT__DEV T gt__turned(int fold, T x) {
  return gt__truth(fold, gt__is_flipped(fold) ? gt__flip<true>(x) : x);
}
/* A running result: the value, and for argmax where it was found. A lane starts with the identity
   at its own first place: an equal element does not take its place, and need not. */
template <class T, class I> struct gt__part {
  T value;
  I index;
};
/* Calls f with the fold as a constant, outside of loops over elements. */
enum { GT__PLAIN, GT__ARG, GT__BOTH };
template <int FOLD> struct gt__fold_tag { static constexpr int value = FOLD; };
template <int FOLDS, class F> GT__DEV void gt__by_fold(int fold, F f) {
  if (FOLDS == GT__ARG || (FOLDS == GT__BOTH && fold == GT__FOLD_ARGMAX))
    f(gt__fold_tag<GT__FOLD_ARGMAX>());
  else if (fold == GT__FOLD_SUM) f(gt__fold_tag<GT__FOLD_SUM>());
  else if (fold == GT__FOLD_MAX) f(gt__fold_tag<GT__FOLD_MAX>());
  else f(gt__fold_tag<GT__FOLD_PROD>());
}
/* What the GPU's own maximum does with NaN and -0 is what ours does. */
template <int FOLD, class T> GT__DEV T gt__fold_two(T a, T b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (FOLD == GT__FOLD_MAX && sizeof(T) == 4) {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
    return a;
  }
#endif
  return gt__folds<T>::fold(FOLD, a, b);
}
template <int FOLD, class T, class I>
GT__DEV void gt__join(gt__part<T, I> &a, const gt__part<T, I> &b) {
  if (FOLD != GT__FOLD_ARGMAX) a.value = gt__fold_two<FOLD, T>(a.value, b.value);
  else if (gt__folds<T>::beats(a.value, a.index, b.value, b.index)) a = b;
}
/* The same for the next element of a lane, which takes the place of an equal one never, and of
   anything but NaN if it is NaN: one comparison that is false for NaN tells both. */
template <int FOLD, class T> GT__DEV void gt__take(gt__part<T, int> &a, T x, int index) {
  if (FOLD != GT__FOLD_ARGMAX) {
    a.value = gt__fold_two<FOLD, T>(a.value, x);
  } else {
    const bool wins = !(x <= a.value) & (a.value == a.value);
    a.value = wins ? x : a.value;
    a.index = wins ? index : a.index;
  }
}
/* Does the order count? A maximum is the same in any. */
template <int FOLD> struct gt__in_order {
  static constexpr bool value = FOLD == GT__FOLD_SUM || FOLD == GT__FOLD_PROD;
};

/* How the launcher cuts the work. A block has 1 << chunks_log2 teams for neighbouring chunks of the
   same outputs. DOWN: that is all, and a thread has a vector of outputs. Inner: the other teams
   have other outputs, `outs` together; teams take turns if there are more. SHORT: a thread of the
   team has so few elements of a row that all are in registers at once; LONG: a team is a warp, and
   a thread has 8 of the 256 lanes. Outputs of a block lie in one line, the last kept dim. */
enum { GT__LONG, GT__SHORT, GT__DOWN };
enum { GT__DIRECT, GT__STEADY, GT__ANYHOW };
struct gt__stride {                      /* how an operand moves, in bytes: by */
  int64_t wide, deep, hop, next;         /* an output, an element, a vector, and within a vector */
  int copy;                              /* bytes of a vector; 0: its elements are apart or one */
};
struct gt__cut {
  int32_t way, fold, team_log2, chunks_log2, outs;
  unsigned groups, across;               /* groups of chunks; blocks that share a line */
  int64_t line;                          /* outputs */
  gt__stride in[GT__INPUTS];
};
/* The vectors of a stream that are left: `full` have all elements, those behind, up to `count`,
   only `valid`. */
template <int W> struct gt__extent {
  int full, count, valid;
  __device__ __forceinline__ gt__extent(int vectors, int elements, bool all) { /* all: likewise */
    count = vectors;
    valid = elements < W ? elements : W;
    full = valid == W ? count : all ? 0 : count - 1;
  }
  __device__ __forceinline__ void pass(int n) { full -= n, count -= n; }
  __device__ __forceinline__ int of(int j) const { return j < full ? W : j < count ? valid : 0; }
};
template <int W> struct gt__log2_of { static constexpr int value = W == 8 ? 3 : W / 2; };
/* Of `left` elements of a row, for a thread whose vectors lie `step` elements apart. */
template <int W> GT__DEV gt__extent<W> gt__across_row(int left, int step_log2) {
  const int count = left > 0 ? ((left - 1) >> step_log2) + 1 : 0;
  return gt__extent<W>(count, left - ((count - 1) << step_log2), false);
}

/* Calls f with a value of the dtype, one of those that reductions read and write by vectors. */
template <class T, int W, class F> GT__DEV void gt__by_usual(int dtype, F f) {
  if constexpr (sizeof(T) == 8) {
    f(T());
  } else {
    if constexpr (W == 4)
      if (dtype == GT_FLOAT32) return f(T());
    if (dtype == GT_BFLOAT16) f(gt__bfloat());
    else f(gt__half());
  }
}
/* The next vectors from memory, what there is of them; else `none`. */
template <int W, class S, int E>
GT__DEV void gt__load_stream(const char *from, const gt__stride &m, const gt__extent<W> &x, S none,
                             S (&e)[E]) {
  constexpr int U = E / W;
  S y[U][W];
  if (m.copy && x.full >= U) {
    #pragma unroll
    for (int j = 0; j < U; j++) gt__load_line(from + j * m.hop, y[j]);
  } else {
    #pragma unroll
    for (int j = 0; j < U; j++)
      if (m.copy && j < x.full) gt__load_line(from + j * m.hop, y[j]);
      else
        #pragma unroll
        for (int i = 0; i < W; i++)
          y[j][i] = i < x.of(j) ? *(const S *)(from + j * m.hop + i * m.next) : none;
  }
  #pragma unroll
  for (int i = 0; i < E; i++) e[i] = y[i / W][i % W];
}
/* The same, converted from another dtype where that is known only now. */
template <int W, class T, int E>
GT__DEV void gt__load_usual(int dtype, const char *from, const gt__stride &m,
                            const gt__extent<W> &x, T none, T (&e)[E]) {
  gt__by_usual<T, W>(dtype, [&](auto tag) {
    typedef decltype(tag) S;
    S y[E];
    gt__load_stream<W>(from, m, x, gt__cast<S, T>::of(none), y);
    #pragma unroll
    for (int i = 0; i < E; i++) e[i] = gt__cast<T, S>::of(y[i]);
  });
}
/* The same through slots and a program. There are no calls in it: they would take the registers
   that hold lanes to memory and back. */
template <class T, int W, int E>
GT__DEV void gt__run_stream(const gt__reduce_args &p, const gt__cut &w, const gt__slots &s,
                            int64_t o, int64_t k, const gt__extent<W> &x, T (&e)[E]) {
  constexpr int U = E / W;
  #pragma unroll 1
  for (int slot = 0; slot < p.pre.program.n_in; slot++) {
    const gt__stride &m = w.in[slot];
    const char *from = p.pre.in[slot].data + (o * m.wide + k * m.deep);
    char *to = gt__at<U>(s, slot, 0);
    if (m.copy == 16) {
      #pragma unroll
      for (int j = 0; j < U; j++)
        if (j < x.full) __pipeline_memcpy_async(to + j * s.pitch, from + j * m.hop, 16);
    } else if (m.copy) {
      #pragma unroll
      for (int j = 0; j < U; j++)
        if (j < x.full) __pipeline_memcpy_async(to + j * s.pitch, from + j * m.hop, 8);
    } else {
      T y[E];
      #pragma unroll
      for (int i = 0; i < E; i++) y[i] = i / W < x.full ? *(const T *)(from + i / W * m.hop) : (T)0;
      gt__put(s, slot, y);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  #pragma unroll 1
  for (int slot = 0; slot < p.pre.program.n_in; slot++) {
    if (p.pre.in[slot].dtype == GT_BFLOAT16) gt__convert<T, gt__bfloat, U>(s, slot, false);
    if (p.pre.in[slot].dtype == GT_FLOAT16) gt__convert<T, gt__half, U>(s, slot, false);
  }
  gt__run<T, 0>(p.pre.program, s, gt__batch(), e);
}
/* Vectors j and j + 1 of the stream from output o and element k on, as a batch. */
template <int W>
GT__DEV gt__batch gt__batch_of(const gt__reduce_args &p, int64_t o, int64_t k, int j, int hop,
                               const gt__extent<W> &x) {
  const int last = p.inner ? p.pre.ndim - 1 : p.n_kept - 1;
  gt__batch b;
  b.width = p.n;
  b.cut = p.n_kept;
  b.down = !p.inner;
  b.straight = (p.inner ? p.pre.ndim - p.n_kept : p.n_kept) <= 1 || p.pre.size[last] % W == 0;
  b.o = o;
  b.k = k;
  b.r = b.dr = 0;
  b.c = j * hop;
  b.dc = hop;
  b.valid[0] = x.of(j);
  b.valid[1] = x.of(j + 1);
  return b;
}
/* The same for any strides and dtypes, two vectors at a time, from output o and element k on. */
template <class T, int W, int E>
GT__DEV void gt__run_any(const gt__reduce_args &p, const gt__slots &s, int64_t o, int64_t k,
                         int hop, const gt__extent<W> &x, T (&e)[E]) {
  #pragma unroll 1
  for (int j = 0; j < E / W; j += 2) {
    T acc[2 * W];
    const gt__batch b = gt__batch_of<W>(p, o, k, j, hop, x);
    const uint32_t started = gt__start_inputs<T>(p.pre, 0, b, s);
    gt__await_inputs<T>(p.pre, 0, started, b, s);
    gt__run<T, W>(p.pre.program, s, b, acc);
    #pragma unroll
    for (int i = 0; i < E; i++) e[i] = i + 2 * W < E ? e[i + 2 * W] : acc[i % (2 * W)];
  }
}

/* Folds a thread's elements, turned, to its lanes, vectors being `hop` elements apart. SHORT, in
   order: the lanes of a row are halved until 8 are left. */
template <int FOLD, bool FLIPPED, int W, class T, class S, int E>
GT__DEV void gt__take_all(int way, gt__part<T, int> (&r)[8], const S (&e)[E], int k, int hop) {
  if (way == GT__DOWN) {
    #pragma unroll
    for (int i = 0; i < E; i++)
      gt__take<FOLD>(r[i % W], gt__flip<FLIPPED>(gt__cast<T, S>::of(e[i])), k + i / W);
  } else if (way == GT__SHORT && gt__in_order<FOLD>::value) {
    #pragma unroll
    for (int i = 0; i < 8; i++) {
      T x[E / 8];
      #pragma unroll
      for (int c = 0; c < E / 8; c++) x[c] = gt__cast<T, S>::of(e[i + 8 * c]);
      #pragma unroll
      for (int c = E / 16; c > 0; c /= 2)
        #pragma unroll
        for (int j = 0; j < c; j++) x[j] = gt__fold_two<FOLD>(x[j], x[j + c]);
      gt__take<FOLD>(r[i], x[0], 0);
    }
  } else {
    #pragma unroll
    for (int i = 0; i < E; i++)
      gt__take<FOLD>(r[i % 8], gt__flip<FLIPPED>(gt__cast<T, S>::of(e[i])), k + i / W * hop);
  }
}
/* Halves the lanes of a team: r[i] of thread t is lane i/W * team*W + t*W + i%W. In order, the W
   neighbours of a thread come last: until then pairs of threads share them out, so that not both
   do the same, and then they are W apart no longer, but team/2 threads, team/4 and so on. All
   threads have the result in r[0]. */
template <int FOLD, int W, class T>
GT__DEV void gt__fold_team(gt__part<T, int> (&r)[8], int team) {
  constexpr int C = gt__in_order<FOLD>::value ? W : 1;
  constexpr int VALUE = FOLD == GT__FOLD_ARGMAX ? GT__FOLD_MAX : FOLD;
  T x[8];
  int m = team / 2;
  #pragma unroll
  for (int i = 0; i < 8; i++) x[i] = r[i].value;
  #pragma unroll
  for (int c = 4; c >= C; c /= 2)
    #pragma unroll
    for (int i = 0; i < c; i++) x[i] = gt__fold_two<VALUE>(x[i], x[i + c]);
  #pragma unroll
  for (int c = C / 2; c > 0; c /= 2, m /= 2)
    if (m > 0) {
      const bool upper = threadIdx.x & m;
      #pragma unroll
      for (int i = 0; i < c; i++) {
        const T away = upper ? x[i] : x[i + c];
        x[i] = gt__fold_two<VALUE>(upper ? x[i + c] : x[i], __shfl_xor_sync(~0u, away, m));
      }
    }
  #pragma unroll 1
  for (; m > 0; m /= 2) x[0] = gt__fold_two<VALUE>(x[0], __shfl_xor_sync(~0u, x[0], m));
  m = team / 2;
  #pragma unroll
  for (int c = C / 2; c > 0; c /= 2, m /= 2)
    #pragma unroll
    for (int i = 0; i < C / 2; i++)
      if (i * team < C)
        if (m > 0) x[i] = gt__fold_two<VALUE>(x[i], __shfl_xor_sync(~0u, x[i], m));
        else if (i < c) x[i] = gt__fold_two<VALUE>(x[i], x[i + c]);
  if (FOLD == GT__FOLD_ARGMAX) {         /* the first place of the maximum, or of a NaN */
    int first = INT32_MAX;
    #pragma unroll
    for (int i = 0; i < 8; i++)
      if (r[i].value == x[0] || r[i].value != r[i].value)
        first = r[i].index < first ? r[i].index : first;
    #pragma unroll 1
    for (int m = team / 2; m > 0; m /= 2) {
      const int other = __shfl_xor_sync(~0u, first, m);
      first = other < first ? other : first;
    }
    r[0].index = first;
  }
  r[0].value = x[0];
}
/* Results of chunks, [chunk][output], in a block's shared memory; those of groups in scratch,
   [group][output]. Without indices unless they count. */
template <class T> struct gt__board {
  T *value;
  int64_t *index;
  __device__ __forceinline__ void put(int64_t at, const gt__part<T, int64_t> &r) const {
    value[at] = r.value;
    if (index) index[at] = r.index;
  }
  __device__ __forceinline__ gt__part<T, int64_t> get(int64_t at) const {
    return gt__part<T, int64_t>{value[at], index ? index[at] : 0};
  }
};
struct gt__level {                       /* of the tree over chunks, a board in scratch */
  int64_t at;                            /* it begins behind so many partials */
  unsigned groups;
};
template <class T> GT__DEV gt__board<T> gt__board_of(const gt__reduce_args &p, const gt__level &l,
                                                     bool arg) {
  char *from = (char *)p.pre.scratch + l.at * (int64_t)sizeof(gt__partial);
  return gt__board<T>{(T *)from, arg ? (int64_t *)from + p.outer * l.groups : NULL};
}
/* The end of output o: turn back, finish, convert, store. */
template <class T>
GT__DEV void gt__finish(const gt__reduce_args &p, int64_t o, bool arg,
                        const gt__part<T, int64_t> &r) {
  const int64_t at = p.n_kept == 1 ? o * p.out.stride[0]
                                   : gt__offset(o, p.n_kept, p.pre.size, p.out.stride);
  char *to = p.out.data + (at << p.out.size_log2);
  T value = gt__turned(p.fold, r.value);
  if (p.finish & GT__DIVIDE)
    value = gt__apply<GT__OP_div, T>(value, gt__constant<T>(p.divisor));
  if (p.finish & GT__ROOT) value = gt__apply<GT__OP_sqrt, T>(value, value);
  if (arg) gt__store_one<int64_t>(to, p.out.dtype, r.index);
  else gt__store_one<T>(to, p.out.dtype, value);
}
/* The pairwise tree over n results of each of `outs` outputs on a board, of which `here` exist from
   output `first` on; then they are finished, or left for the next level. */
template <int FOLDS, class T>
GT__DEV void gt__leave(const gt__reduce_args &p, int fold, const gt__board<T> &board, int outs,
                       int n, int64_t first, int here, int64_t group, const gt__level &next) {
  for (int d = 1; d < n; d *= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < (n / (2 * d) + 1) * outs; i += blockDim.x) {
      const int pair = (unsigned)i / (unsigned)outs, at = i + (2 * d - 1) * pair * outs;
      if (pair * 2 * d + d >= n) break;
      gt__part<T, int64_t> a = board.get(at);
      const gt__part<T, int64_t> b = board.get(at + d * outs);
      gt__by_fold<FOLDS>(fold, [&](auto tag) { gt__join<decltype(tag)::value>(a, b); });
      board.put(at, a);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < here; i += blockDim.x) {
    const bool arg = FOLDS && fold == GT__FOLD_ARGMAX;
    if (next.groups == 1) gt__finish<T>(p, first + i, arg, board.get(i));
    else gt__board_of<T>(p, next, arg).put(group * p.outer + first + i, board.get(i));
  }
}

/* DIRECT folds elements S; if these are T, of the operand's dtype, converted at once. */
template <class T, class S, int W, int SOURCE, int FOLDS>
__global__ void __launch_bounds__(256, SOURCE == GT__DIRECT                       ? 3
                                       : SOURCE == GT__STEADY && sizeof(T) == 4 ? 4 : 2)
gt__reduce_kernel(const __grid_constant__ gt__reduce_args p, const __grid_constant__ gt__cut w) {
  constexpr int U = SOURCE == GT__STEADY ? 4 : SOURCE == GT__DIRECT ? 8 : 8 / W;
  const bool down = w.way == GT__DOWN, arg = FOLDS && w.fold == GT__FOLD_ARGMAX;
  const gt__operand &x = p.pre.in[0];
  const int t = threadIdx.x & ((1 << w.team_log2) - 1), chunks = 1 << w.chunks_log2;
  const int step_log2 = w.team_log2 + gt__log2_of<W>::value, hop = down ? 1 : 1 << step_log2;
  const unsigned rest = blockIdx.x / w.groups, line = rest / w.across;
  const int64_t group = blockIdx.x - rest * w.groups, first = group << w.chunks_log2;
  const int64_t o0 = (int64_t)(rest - line * w.across) * w.outs;
  const int here = w.line - o0 < w.outs ? (int)(w.line - o0) : w.outs;
  const int64_t before = p.n_kept < 2 || SOURCE != GT__DIRECT ? 0
                         : gt__offset(line, p.n_kept - 1, p.pre.size, x.stride) << x.size_log2;
  const T none = gt__folds<T>::identity(p.fold), identity = gt__turned(p.fold, none);
  const bool flipped = gt__is_flipped(p.fold);
  gt__board<T> board;
  gt__slots s = gt__my_slots(blockDim.x);
  board.value = (T *)gt__shared;
  board.index = arg ? (int64_t *)(board.value + 8 * blockDim.x) : NULL;
  s.mine += (sizeof(T) + (arg ? 8 : 0)) * 8 * blockDim.x;
  if (SOURCE == GT__STEADY) gt__fill_constants<T, 4 * W>(p.pre.program, s);
  if (SOURCE == GT__ANYHOW) gt__fill_constants<T, 2 * W>(p.pre.program, s);
  #pragma unroll 1
  for (int i = threadIdx.x >> w.team_log2; i < chunks * (down ? 1 : w.outs);
       i += blockDim.x >> w.team_log2) {
    const int chunk = i & (chunks - 1), row = i >> w.chunks_log2, c = down ? t * W : row;
    const int64_t begin = (first + chunk) * p.chunk, most = p.n - begin;
    const int size = most < 0 ? 0 : most < p.chunk ? (int)most : (int)p.chunk;
    const int64_t o = o0 + c, k0 = begin + (down ? 0 : t * W);
    gt__extent<W> left = down ? gt__extent<W>(here > c ? size : 0, here - c, true)
                              : gt__across_row<W>(row < here ? size - t * W : 0, step_log2);
    gt__part<T, int> r[8];
    #pragma unroll
    for (int j = 0; j < 8; j++) {
      r[j].value = identity;
      r[j].index = down ? 0 : j / W * hop;
    }
    #pragma unroll 1
    for (int k = 0; k < size; k += U * hop) {
      S e[U * W];
      const char *from = x.data + (before + o * w.in[0].wide + (k0 + k) * w.in[0].deep);
      if constexpr (SOURCE == GT__DIRECT && sizeof(S) == 2)
        gt__load_stream(from, w.in[0], left, gt__cast<S, T>::of(none), e);
      else if constexpr (SOURCE == GT__DIRECT)
        gt__load_usual(x.dtype, from, w.in[0], left, none, e);
      else if constexpr (SOURCE == GT__STEADY) gt__run_stream(p, w, s, o, k0 + k, left, e);
      else gt__run_any(p, s, o, k0 + k, hop, left, e);
      if constexpr (SOURCE != GT__DIRECT) {
        if (left.full < U)
          #pragma unroll
          for (int j = 0; j < U * W; j++) e[j] = j % W < left.of(j / W) ? e[j] : none;
        if (p.fold >= GT__FOLD_ANY)
          #pragma unroll
          for (int j = 0; j < U * W; j++) e[j] = gt__truth(p.fold, e[j]);
      }
      gt__by_fold<FOLDS>(w.fold, [&](auto fold) {
        constexpr int FOLD = decltype(fold)::value;
        if (!gt__in_order<FOLD>::value && flipped)
          gt__take_all<FOLD, true, W>(w.way, r, e, k, hop);
        else gt__take_all<FOLD, false, W>(w.way, r, e, k, hop);
      });
      left.pass(U);
    }
    if (!down)
      gt__by_fold<FOLDS>(w.fold, [&](auto fold) {
        #pragma unroll
        for (int j = 0; j < 8; j++) r[j].index += t * W + j % W;
        gt__fold_team<decltype(fold)::value, W>(r, 1 << w.team_log2);
      });
    #pragma unroll
    for (int j = 0; j < W; j++)
      if (down || (t == 0 && j == 0))
        board.put(chunk * w.outs + c + j, gt__part<T, int64_t>{r[j].value, begin + r[j].index});
  }
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");  /* the tree's kernel may get ready */
#endif
  const int n = p.n_chunk - first < chunks ? (int)(p.n_chunk - first) : chunks;
  gt__leave<FOLDS>(p, w.fold, board, w.outs, n, line * w.line + o0, here, group,
                   gt__level{0, w.groups});
}

/* The rest of the tree, from one level to the next: a thread joins 8 neighbouring groups of an
   output, a leaf; a block `leaves` of them of each of `outs` outputs. */
enum { GT__LEAVES = 2048 };
template <class T> __global__ void __launch_bounds__(512)
gt__combine_kernel(const __grid_constant__ gt__reduce_args p, int fold, gt__level from,
                   gt__level to, int outs, int leaves) {
  __shared__ T value[GT__LEAVES];
  __shared__ int64_t index[GT__LEAVES];
  const bool arg = fold == GT__FOLD_ARGMAX;
  const gt__board<T> board = {value, arg ? index : NULL}, source = gt__board_of<T>(p, from, arg);
  const unsigned rest = blockIdx.x / to.groups, group = blockIdx.x - rest * to.groups;
  const int64_t first = (int64_t)rest * outs, begin = (int64_t)group * leaves * 8;
  const int here = p.outer - first < outs ? (int)(p.outer - first) : outs;
  const int64_t left = (from.groups - begin + 7) / 8;
  const int n = left < leaves ? (int)left : leaves;
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
  for (int i = threadIdx.x; i < n * outs; i += blockDim.x) {
    const int leaf = i / outs, out = i - leaf * outs;
    const int64_t g = begin + leaf * 8;
    const int exist = from.groups - g < 8 ? (int)(from.groups - g) : 8;
    gt__part<T, int64_t> x[8];
    if (out >= here) continue;
    #pragma unroll
    for (int j = 0; j < 8; j++)
      if (j < exist) x[j] = source.get((g + j) * p.outer + first + out);
    gt__by_fold<GT__BOTH>(fold, [&](auto tag) {
      #pragma unroll
      for (int d = 1; d < 8; d *= 2)
        #pragma unroll
        for (int j = 0; j + d < 8; j += 2 * d)
          if (j + d < exist) gt__join<decltype(tag)::value>(x[j], x[j + d]);
    });
    board.put(i, x[0]);
  }
  gt__leave<GT__BOTH>(p, fold, board, outs, n, first, here, group, to);
}

/* Softmax and its kind: a row in registers, read once, with one exp an element. A team of threads
   has a row; where one warp is not enough, a block has it, and as the lanes of THE PLAN are folded
   in order, the warps of a chunk take turns at adding. WHOLE: input and output by vectors. */
/* Divides by s. Floats take its reciprocal and two corrections, as a division does, which rounds
   correctly unless remainders are subnormal: then, `tiny`, they are divisions. */
template <class T, int N> GT__DEV void gt__divide_all(T (&e)[N], T s, bool tiny) {
  if constexpr (sizeof(T) == 4) {
    const float once = GT__DIV(1.0f, s);
    if (!tiny) {
      #pragma unroll
      for (int i = 0; i < N; i++) {
        float x = GT__MUL(e[i], once);
        x = gt__fma_f32(gt__fma_f32(-x, s, e[i]), once, x);
        e[i] = gt__fma_f32(gt__fma_f32(-x, s, e[i]), once, x);
      }
      return;
    }
  }
  GT__EACH e[i] = gt__apply<GT__OP_div, T>(e[i], s);
}
template <class T, int W, bool WHOLE> __global__ void __launch_bounds__(1024)
gt__soft_kernel(const __grid_constant__ gt__reduce_args p, const __grid_constant__ gt__cut w,
                gt__stride result) {
  constexpr int N = 128 / sizeof(T), U = N / W, ROW = 32 * N, PARTS = GT__CHUNK / ROW;
  __shared__ T lane[GT__SOFT_BYTES / sizeof(T) / GT__CHUNK][GT__LANES], joined[32];
  const bool shared = p.n > ROW;
  const int team = 1 << w.team_log2, t = threadIdx.x & (team - 1), warp = threadIdx.x / 32;
  const int chunk = warp / PARTS, part = warp % PARTS;
  const int step_log2 = w.team_log2 + gt__log2_of<W>::value;
  const int64_t o = shared ? blockIdx.x : (int64_t)blockIdx.x * (blockDim.x >> w.team_log2) +
                                          (threadIdx.x >> w.team_log2);
  const int step = 1 << step_log2, k = (shared ? warp * ROW : 0) + t * W;
  const gt__extent<W> x = gt__across_row<W>(o < p.outer ? (int)p.n - k : 0, step_log2);
  const gt__slots s = gt__my_slots(blockDim.x);
  const gt__operand &in = p.pre.in[0], &out = p.pre.out;
  const T none = gt__folds<T>::identity(GT__FOLD_MAX);
  T e[N], most, lowest = 0, log_s = 0;
  gt__part<T, int> r[8];
  #pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    if constexpr (WHOLE) {
      const int64_t row = gt__offset(o, p.n_kept, p.pre.size, in.stride) << in.size_log2;
      gt__load_usual(in.dtype, in.data + (row + k * w.in[0].deep), w.in[0], x, none, e);
    } else {
      #pragma unroll
      for (int j = 0; j < U; j += 2) {
        T y[2 * W];
        if (j < x.count) gt__fetch_input<T>(p.pre, 0, gt__batch_of<W>(p, o, k, j, step, x), s);
        gt__get(s, 0, y);
        #pragma unroll
        for (int i = 0; i < 2 * W; i++) e[j * W + i] = i % W < x.of(j + i / W) ? y[i] : none;
      }
    }
    if (pass) break;
    most = e[0];
    GT__EACH most = gt__fold_two<GT__FOLD_MAX>(most, e[i]);
    #pragma unroll 1
    for (int m = team / 2; m > 0; m /= 2)
      most = gt__fold_two<GT__FOLD_MAX>(most, __shfl_xor_sync(~0u, most, m));
    if (shared) {
      joined[warp] = most;
      __syncthreads();
      for (int i = 0; i < blockDim.x / 32; i++) most = gt__fold_two<GT__FOLD_MAX>(most, joined[i]);
      __syncthreads();
    }
    if (p.soft == GT__LOGSUMEXP && isinf((double)most)) most = 0;
    GT__EACH {
      const T v = GT__SUB(e[i], most);
      if (i / W < x.count) lowest = v < lowest ? v : lowest;
      e[i] = gt__apply<GT__OP_exp, T>(v, v);
    }
    #pragma unroll
    for (int i = 0; i < 8; i++) r[i].value = 0;
    if (!shared) {
      gt__take_all<GT__FOLD_SUM, false, W>(w.way, r, e, 0, 0);
    } else {
      for (int turn = 0; turn < PARTS; turn++) {
        if (turn == part) {
          #pragma unroll
          for (int i = 0; i < 8; i++)
            if (turn) r[i].value = lane[chunk][i * 32 + t];
          gt__take_all<GT__FOLD_SUM, false, W>(GT__LONG, r, e, 0, 0);
          #pragma unroll
          for (int i = 0; i < 8; i++) lane[chunk][i * 32 + t] = r[i].value;
        }
        __syncthreads();
      }
      #pragma unroll
      for (int i = 0; i < 8; i++) r[i].value = lane[chunk][i * 32 + t];
    }
    gt__fold_team<GT__FOLD_SUM, W>(r, team);
    T sum = r[0].value;
    if (shared) {
      const int chunks = (int)p.n_chunk;
      T c[8];
      joined[chunk] = sum;
      __syncthreads();
      #pragma unroll
      for (int i = 0; i < 8; i++) c[i] = joined[i];
      #pragma unroll
      for (int d = 1; d < 8; d *= 2)
        #pragma unroll
        for (int i = 0; i + d < 8; i += 2 * d)
          if (i + d < chunks) c[i] = GT__ADD(c[i], c[i + d]);
      sum = c[0];
    }
    if (p.soft == GT__SOFTMAX) {
      gt__divide_all(e, sum, lowest < -64);
      break;
    }
    log_s = gt__apply<GT__OP_log, T>(sum, sum);
    if (p.soft == GT__LOGSUMEXP) {
      if (k == 0 && o < p.outer)
        gt__finish<T>(p, o, false, gt__part<T, int64_t>{GT__ADD(log_s, most), 0});
      return;
    }
  }
  if (p.soft == GT__LOG_SOFTMAX) GT__EACH e[i] = GT__SUB(GT__SUB(e[i], most), log_s);
  if constexpr (WHOLE) {
    const int64_t row = gt__offset(o, p.n_kept, p.pre.size, out.stride) << out.size_log2;
    char *to = out.data + (row + k * result.deep);
    gt__by_usual<T, W>(out.dtype, [&](auto tag) {
      typedef decltype(tag) S;
      #pragma unroll
      for (int j = 0; j < U; j++) {
        S y[W];
        #pragma unroll
        for (int i = 0; i < W; i++) y[i] = gt__cast<S, T>::of(e[j * W + i]);
        if (j < x.full) gt__store_line(to + j * result.hop, y);
      }
    });
  } else {
    #pragma unroll
    for (int j = 0; j < U; j += 2) {
      T y[2 * W];
      #pragma unroll
      for (int i = 0; i < 2 * W; i++) y[i] = e[j * W + i];
      if (j < x.count) gt__store<T>(p.pre, gt__batch_of<W>(p, o, k, j, step, x), s, y);
    }
  }
}

/* ---- >>copy ------------------------------------------------------------------------------------
   Elements of one size, whatever they mean, where an index picks along a dim of the source; other
   copies are maps. A thread takes elements a grid apart; its coordinates come from divisions, in 32
   bits where the tensor allows. */
template <class S, class I> GT__DEV void gt__pick_one(const gt__copy_args &p, I i) {
  int64_t to = 0, from = 0;
  bool inside = true;
  #pragma unroll 1
  for (int d = p.ndim - 1; d >= 0; d--) {
    const I n = (I)p.size[d], q = d ? i / n : 0;
    int64_t r = (int64_t)(i - q * n);
    i = q;
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
  if (!inside && p.fault) {
    *(volatile int32_t *)p.fault = 1;    /* all who write it write the same */
    __threadfence_system();              /* the word is the host's */
  }
}
template <class S> __global__ void __launch_bounds__(256)
gt__copy_kernel(const __grid_constant__ gt__copy_args p) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += stride) {
    if (p.narrow) gt__pick_one<S, uint32_t>(p, (uint32_t)i);
    else gt__pick_one<S, uint64_t>(p, (uint64_t)i);
  }
}

/* ---- >>matmul ----------------------------------------------------------------------------------
   The general kernel: any dtype, size and stride. A block of 256 threads makes a tile of C, 128 x
   128 or, where those would be too few, 64 x 64, STEP of K at a time: it copies a TILE x STEP piece
   of A and of B into shared memory, converted to the compute type T, and each thread adds up 64 (16)
   elements of C, a block of 8 x 8 (4 x 4) of them. So a value read from global memory is used TILE
   times and one read from shared memory 8 (4) times. There are two sets of pieces: while a step is
   computed from one, the next step's values are on their way to the other, and a step costs one
   barrier. What lies outside of a matrix is 0. The sums run over K in order, with fused
   multiply-adds, so they are the same in every run.
   float64 has tensor cores from sm_90 on; there a warp makes TILE/2 x TILE/4 of the tile, in blocks
   of 16 x 8, of which a thread has 2 x 2 elements. */
#if __CUDA_ARCH__ >= 900 && !defined(GPUTENSOR_NO_TENSOR_CORES)
enum { GT__HAS_DMMA = 1 };
#else
enum { GT__HAS_DMMA = 0 };
#endif
enum { GT__QUAD = 4 };
template <class T, int Q> struct gt__tile { /* Q x Q squares of 4 x 4 a thread */
  static constexpr int TILE = 64 * Q, STEP = 64 / sizeof(T), PITCH = TILE + 4, N = 16 * Q * Q;
  static constexpr int THREADS = 256, VALUES = TILE * STEP / THREADS, PIECE = STEP * PITCH;
  static constexpr bool DMMA = GT__HAS_DMMA && sizeof(T) == 8 && (T)0.5 != 0;
  static constexpr int BYTES = 4 * PIECE * (int)sizeof(T);
  static_assert(PITCH * sizeof(T) % 16 == 0, "rows start at 16 bytes");
  static_assert(BYTES <= 48 << 10, "two sets of two pieces");
};

/* One operand's piece of a tile: `wide` runs along M or N, `deep` along K. The faster of the two in
   memory runs over neighbouring threads, so that either order of storage is read coalesced. */
template <class P> struct gt__piece {
  const char *at;                        /* this thread's first value; the others follow by hop */
  int64_t hop, step;                     /* bytes, step: to the next step */
  int wide_left, dtype;                  /* wide_left: size from the thread's first value on */
  bool along;                            /* neighbouring threads go along K */
  __device__ __forceinline__ int wide(int i) const {
    return along ? threadIdx.x / P::STEP + i * (P::THREADS / P::STEP) : threadIdx.x % P::TILE;
  }
  __device__ __forceinline__ int deep(int i) const {
    return along ? threadIdx.x % P::STEP : threadIdx.x / P::TILE + i * (P::THREADS / P::TILE);
  }
};
template <class P>
GT__DEV gt__piece<P> gt__make_piece(const gt__operand &x, int64_t offset, int64_t wide_stride,
                                    int64_t deep_stride, int64_t from, int64_t wide) {
  gt__piece<P> p;
  const int64_t left = wide - from;
  p.along = (deep_stride < 0 ? -deep_stride : deep_stride) <
            (wide_stride < 0 ? -wide_stride : wide_stride);
  p.dtype = x.dtype;
  p.at = x.data + ((offset + (from + p.wide(0)) * wide_stride + p.deep(0) * deep_stride)
                   << x.size_log2);
  p.hop = (p.along ? P::THREADS / P::STEP * wide_stride : P::THREADS / P::TILE * deep_stride)
          << x.size_log2;
  p.step = (P::STEP * deep_stride) << x.size_log2;
  p.wide_left = left < P::TILE ? (int)left : P::TILE;
  return p;
}
/* Brings the thread's values of a step, of which `left` of K are in the matrix, to shared memory:
   those of T itself by copies that nobody waits for. FULL: none lies outside of the matrix. */
template <bool FULL, class T, class P>
GT__DEV void gt__copy_piece(const gt__piece<P> &p, int left, T *to) {
  const int hop = p.along ? P::THREADS / P::STEP : P::THREADS / P::TILE * P::PITCH;
  const char *at = p.at;
  to += p.deep(0) * P::PITCH + p.wide(0);
  #pragma unroll
  for (int i = 0; i < P::VALUES; i++, at += p.hop, to += hop) {
    const bool inside = FULL || (p.wide(i) < p.wide_left && p.deep(i) < left);
    __pipeline_memcpy_async(to, at, sizeof(T), inside ? 0 : sizeof(T));
  }
}
template <class T, class P> GT__DEV void gt__fetch(gt__piece<P> &p, int64_t left_of_k, T *to) {
  const int left = left_of_k < P::STEP ? (int)left_of_k : P::STEP;
  if (p.dtype == gt__native<T>::DTYPE) {
    if (left == P::STEP && p.wide_left == P::TILE) gt__copy_piece<true>(p, left, to);
    else gt__copy_piece<false>(p, left, to);
  } else gt__by_dtype(p.dtype, [&](auto tag) {
    typedef decltype(tag) S;
    S u[P::VALUES];
    const char *at = p.at;
    #pragma unroll
    for (int i = 0; i < P::VALUES; i++, at += p.hop)
      u[i] = p.wide(i) < p.wide_left && p.deep(i) < left ? *(const S *)at : S();
    #pragma unroll
    for (int i = 0; i < P::VALUES; i++)
      to[p.deep(i) * P::PITCH + p.wide(i)] = gt__cast<T, S>::of(u[i]);
  });
  p.at += p.step;
}
GT__DEV void gt__get4(const float *p, float *x) { gt__get16((const char *)p, x); }
template <class T> GT__DEV void gt__get4(const T *p, T *x) {
  gt__get16((const char *)p, x);
  gt__get16((const char *)(p + 2), x + 2);
}
/* Row and column in the tile of a thread's element i: in quads, thread (ty, tx) of 16 x 16 has rows
   4*ty + 0..3 and those 64 below, and columns likewise. */
template <class P> GT__DEV int gt__row(int i) {
  const int t = threadIdx.x, side = GT__QUAD * (P::TILE / 64);
  if (P::DMMA)
    return t / 128 * (P::TILE / 2) + i / (P::TILE / 8) * 16 + t % 32 / 4 + i / 2 % 2 * 8;
  return i / side / 4 * 64 + t / 16 * 4 + i / side % 4;
}
template <class P> GT__DEV int gt__column(int i) {
  const int t = threadIdx.x, side = GT__QUAD * (P::TILE / 64);
  if (P::DMMA)
    return t / 32 % 4 * (P::TILE / 4) + i / 4 % (P::TILE / 32) * 8 + t % 4 * 2 + i % 2;
  return i % side / 4 * 64 + t % 16 * 4 + i % 4;
}
/* The products of one step, of float64 by tensor cores, ... */
template <class P, int N>
GT__DEV void gt__multiply_dmma(const double *as, const double *bs, double (&sum)[N]) {
  constexpr int BLOCKS = P::TILE / 32;   /* of 16 rows, and of 8 columns, of a warp */
  static_assert(P::STEP == 8, "an instruction takes 8 of K");
  const int place = threadIdx.x % 4 * P::PITCH + threadIdx.x % 32 / 4;
  const double *a = as + place + threadIdx.x / 128 * (P::TILE / 2);
  const double *b = bs + place + threadIdx.x / 32 % 4 * (P::TILE / 4);
  double y[BLOCKS][2];
  #pragma unroll
  for (int j = 0; j < BLOCKS; j++) y[j][0] = b[8 * j], y[j][1] = b[4 * P::PITCH + 8 * j];
  #pragma unroll
  for (int i = 0; i < BLOCKS; i++) {
    const double x0 = a[16 * i], x1 = a[16 * i + 8];
    const double x2 = a[4 * P::PITCH + 16 * i], x3 = a[4 * P::PITCH + 16 * i + 8];
    #pragma unroll
    for (int j = 0; j < BLOCKS; j++) {
      double *d = sum + (i * BLOCKS + j) * 4;
      asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
          "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
          : "d"(x0), "d"(x1), "d"(x2), "d"(x3), "d"(y[j][0]), "d"(y[j][1]));
    }
  }
}
/* ... and of any type. */
template <class P, class T, int N>
GT__DEV void gt__multiply_step(const T *as, const T *bs, T (&sum)[N]) {
  constexpr int SIDE = GT__QUAD * (P::TILE / 64);
  #pragma unroll
  for (int q = 0; q < P::STEP; q++) {
    T x[SIDE], y[SIDE];
    #pragma unroll
    for (int i = 0; i < SIDE; i += 4) {
      gt__get4(as + q * P::PITCH + i * 16 + threadIdx.x / 16 * 4, x + i);
      gt__get4(bs + q * P::PITCH + i * 16 + threadIdx.x % 16 * 4, y + i);
    }
    #pragma unroll
    for (int i = 0; i < N; i++)
      sum[i] = gt__formula<GT__OP_fma, T>::of(x[i / SIDE], y[i % SIDE], sum[i]);
  }
}
template <class P, class T, int N>
GT__DEV void gt__multiply(gt__piece<P> a, gt__piece<P> b, int64_t left, T (&sum)[N]) {
  T *set = (T *)gt__shared;
  int other = 2 * P::PIECE;              /* from set to set */
  #pragma unroll
  for (int i = 0; i < N; i++) sum[i] = 0;
  __syncthreads();                       /* the tile before is done with shared memory */
  gt__fetch(a, left, set);
  gt__fetch(b, left, set + P::PIECE);
  __pipeline_commit();
  #pragma unroll 1
  for (; left > 0; left -= P::STEP) {
    __pipeline_wait_prior(0);
    __syncthreads();                     /* this set is there, and nobody needs the other one */
    gt__fetch(a, left - P::STEP, set + other);
    gt__fetch(b, left - P::STEP, set + other + P::PIECE);
    __pipeline_commit();
    if constexpr (P::DMMA) gt__multiply_dmma<P>(set, set + P::PIECE, sum);
    else gt__multiply_step<P>(set, set + P::PIECE, sum);
    set += other;
    other = -other;
  }
  __pipeline_wait_prior(0);
}

/* Runs post.program over the tile and stores it, `active` threads at a time: as many rows as their
   batches hold. Slot 0 of a pass is those rows of the tile, element after element, since vector q
   of a slot belongs to thread q % active: the products change hands where they must lie anyway. */
template <class P, class T, int HEAVY, int N>
GT__DEV void gt__epilogue(const gt__matmul_args &p, const T (&sum)[N], int64_t batch, int64_t row0,
                          int64_t col0, int active) {
  constexpr int W = gt__lot<T>::W;
  const gt__slots s = gt__my_slots(active);
  const int rows = active * 2 * W / P::TILE, hop = active * W / P::TILE;
  T *slot0 = (T *)gt__shared;
  #pragma unroll 1
  for (int r = 0; r < P::TILE && row0 + r < p.m; r += rows) {
    __syncthreads();                     /* the pieces, or the pass before, are no longer needed */
    #pragma unroll
    for (int i = 0; i < N; i++) {
      const int row = gt__row<P>(i) - r;
      if (row >= 0 && row < rows) slot0[row * P::TILE + gt__column<P>(i)] = sum[i];
    }
    __syncthreads();
    if (threadIdx.x < active) {
      const int e = threadIdx.x * W;     /* of the first vector, within the pass */
      const int64_t row = row0 + r + e / P::TILE, col = col0 + e % P::TILE, left = p.n - col;
      const int wide = gt__valid<T>(left);
      gt__batch b;
      T acc[gt__lot<T>::N];
      b.width = p.n;
      b.cut = p.post.ndim - 1;
      b.down = false;
      b.straight = true;
      b.o = batch * p.m + row;
      b.k = col;
      b.r = b.c = b.dc = 0;
      b.dr = hop;
      b.valid[0] = row < p.m ? wide : 0;
      b.valid[1] = row + hop < p.m ? wide : 0;
      const uint32_t started = gt__start_inputs<T>(p.post, 1, b, s);
      gt__fill_constants<T, gt__lot<T>::N>(p.post.program, s);
      gt__await_inputs<T>(p.post, 1, started, b, s);
      gt__run<T, HEAVY>(p.post.program, s, b, acc);
      gt__store<T>(p.post, b, s, acc);
    }
  }
}

/* Grid: x tiles, z batches. */
template <class T, int Q, int HEAVY>
__global__ void __launch_bounds__(256, 3 - Q)
gt__matmul_kernel(const __grid_constant__ gt__matmul_args p, int64_t tiles, int active) {
  typedef gt__tile<T, Q> P;
  const int64_t across = (p.n + P::TILE - 1) / P::TILE;
  for (int64_t batch = blockIdx.z; batch < p.batch; batch += gridDim.z)
    for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int64_t row0 = tile / across * P::TILE, col0 = tile % across * P::TILE;
      const int64_t at_a = gt__offset(batch, p.n_batch, p.post.size, p.a.stride);
      const int64_t at_b = gt__offset(batch, p.n_batch, p.post.size, p.b.stride);
      T sum[P::N];
      gt__multiply<P>(gt__make_piece<P>(p.a, at_a, p.a_row, p.a_col, row0, p.m),
                      gt__make_piece<P>(p.b, at_b, p.b_col, p.b_row, col0, p.n), p.k, sum);
      gt__epilogue<P, T, HEAVY>(p, sum, batch, row0, col0, active);
    }
}

/* Few rows: C in strips of ROWS x 256, at most 16, where reading B is most of the work. Where
   strips are few, K is dealt to `parts` blocks, so that all multiprocessors read. A thread has two
   columns and half of the k's of a step. The sums go to scratch, from where gt__gather_kernel or a
   map makes C. Grid: x strips, y parts, z batches. */
template <int WIDE> struct gt__strip {
  static constexpr int TILE = WIDE, STEP = 16, PITCH = WIDE + 4, THREADS = 256;
  static constexpr int VALUES = TILE * STEP / THREADS, PIECE = STEP * PITCH;
};
struct gt__gather_args {                 /* C, or the parts of its K, in scratch; and where it goes */
  float *from;                           /* [batch][part][row][pitch] */
  void *to;
  int parts, m, n;
  int64_t part, pitch, row, column, batch;      /* elements: in `from`, then in `to` */
  float alpha;
};
template <int ROWS> __global__ void __launch_bounds__(256, 2)
gt__skinny_kernel(const __grid_constant__ gt__matmul_args p,
                  const __grid_constant__ gt__gather_args g, int64_t k_part) {
  typedef gt__strip<16> A;
  typedef gt__strip<256> B;
  __shared__ float4 sets[2][(A::PIECE + B::PIECE) / 4];
  const int pair = threadIdx.x % 128, half = threadIdx.x / 128;
  const int64_t from = blockIdx.y * k_part, batch = blockIdx.z;
  const int64_t at_a = gt__offset(batch, p.n_batch, p.post.size, p.a.stride) + from * p.a_col;
  const int64_t at_b = gt__offset(batch, p.n_batch, p.post.size, p.b.stride) + from * p.b_row;
  gt__piece<A> a = gt__make_piece<A>(p.a, at_a, p.a_row, p.a_col, 0, p.m);
  gt__piece<B> b = gt__make_piece<B>(p.b, at_b, p.b_col, p.b_row, blockIdx.x * B::TILE, p.n);
  int64_t left = p.k - from < k_part ? p.k - from : k_part;
  float2 sum[ROWS] = {};
  int i = 0;
  gt__fetch(a, left, (float *)sets[0]);
  gt__fetch(b, left, (float *)sets[0] + A::PIECE);
  __pipeline_commit();
  #pragma unroll 1
  for (; left > 0; left -= A::STEP, i ^= 1) {
    const float *as = (const float *)sets[i] + half * 8 * A::PITCH;
    const float *bs = (const float *)sets[i] + A::PIECE + half * 8 * B::PITCH + 2 * pair;
    __pipeline_wait_prior(0);
    __syncthreads();
    gt__fetch(a, left - A::STEP, (float *)sets[i ^ 1]);
    gt__fetch(b, left - A::STEP, (float *)sets[i ^ 1] + A::PIECE);
    __pipeline_commit();
    #pragma unroll
    for (int q = 0; q < 8; q++) {
      float x[ROWS];
      const float2 y = *(const float2 *)(bs + q * B::PITCH);
      #pragma unroll
      for (int r = 0; r < ROWS; r += 4) gt__get4(as + q * A::PITCH + r, x + r);
      #pragma unroll
      for (int r = 0; r < ROWS; r++)
        sum[r] = make_float2(gt__fma_f32(x[r], y.x, sum[r].x), gt__fma_f32(x[r], y.y, sum[r].y));
    }
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  float2 *other = (float2 *)sets;        /* the other half's sums */
  const int64_t column = blockIdx.x * B::TILE + 2 * pair;
  float *to = g.from + (batch * g.parts + blockIdx.y) * g.part + column;
  #pragma unroll
  for (int r = 0; r < ROWS && half; r++) other[r * 128 + pair] = sum[r];
  __syncthreads();
  #pragma unroll
  for (int r = 0; r < ROWS && !half; r++) {
    const float2 y = other[r * 128 + pair];
    if (r < p.m && column < p.n)
      *(float2 *)(to + r * g.pitch) = make_float2(GT__ADD(sum[r].x, y.x), GT__ADD(sum[r].y, y.y));
  }
}
/* A kernel may begin while the last blocks of the one before run, but waits for them here. */
GT__DEV void gt__after_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n griddepcontrol.wait;" ::: "memory");
#endif
}
/* C from float32 in scratch: alpha * the sum of the parts of K, in their order. Grid: x pieces of
   8 x 128, y batches. */
template <class Out> __global__ void __launch_bounds__(256)
gt__gather_kernel(const __grid_constant__ gt__gather_args p) {
  const int across = (p.n + 127) / 128, row = blockIdx.x / across * 8 + threadIdx.x / 32;
  const float *from = p.from + blockIdx.y * p.parts * p.part + row * p.pitch;
  Out *to = (Out *)p.to + blockIdx.y * p.batch + row * p.row;
  gt__after_kernel_before();
  if (row >= p.m) return;
  #pragma unroll
  for (int j = 0; j < 4; j++) {
    const int column = blockIdx.x % across * 128 + j * 32 + threadIdx.x % 32;
    float sum = 0;
    if (column >= p.n) return;
    #pragma unroll 8
    for (int k = 0; k < p.parts; k++) sum = GT__ADD(sum, from[k * p.part + column]);
    to[column * p.column] = gt__cast<Out, float>::of(GT__MUL(p.alpha, sum));
  }
}

/* ---- >>hopper ----------------------------------------------------------------------------------
   C = A x B on the tensor cores of sm_90a, for float16, bfloat16 and, in pieces, float32.

   Notation. C is M x N, A is M x K, B is K x N. A block makes one tile of C, 128 x WIDE, 64 of K a
   step. A brick is 64 x 64 elements of 16 bits, 8 KB, in shared memory: 64 lines of 128 bytes,
   whose 16-byte chunks are swizzled (chunk c of line r lies at c ^ r % 8), so that neither the
   tensor cores nor the copy engine meet bank conflicts. The lines run along K, or along M or N, as
   the operand does in memory: the tensor cores take both, so no transposed form needs a copy. A
   stage holds the bricks of one step, and the stages are a ring.

   float32: x = p0 + p1 + p2, each a bfloat16, is exact to 2^-25 of x. Of the nine products of
   pieces six matter; they share the bricks of their stage. The tensor cores cut off what does not
   fit while they add, so after every step their sum goes to float32 registers, rounded.

   Roles. A block has three warpgroups of 128 threads. One thread of the first starts the copies;
   the other two compute 64 x WIDE each. Two barriers in shared memory guard a stage: `full` when
   its bytes are there, `empty` when nobody needs them any longer. Two blocks of a cluster make
   tiles above each other: each loads half of the bricks of B, which the copy engine lays into both.

   H200, November 2026: bfloat16 4096 x 4096 x 4096 in 172 us, 798 TFLOP/s; float32 of 6 products
   in 1080 us, 127 TFLOP/s, where float32 units reach 51. */
enum { GT__HIGH = 128, GT__DEEP = 64, GT__BRICK = 64 * 64 * 2, GT__TEAM = 128 };
static_assert(GT__HIGH == 2 * 64, "each of two warpgroups multiplies 64 rows");
enum { GT__ROOM = 227 << 10, GT__RING = 2 };   /* a block's memory; a warpgroup's bricks of C */

struct gt__hopper_args {
  CUtensorMap a, b, c;                   /* where the operands, or their pieces, and C are */
  int m, n, k, batches;                  /* batches: of C, times spread */
  int down, spread;                      /* a cluster is `down` tiles above each other, 1 or 2;
                                            `spread` batches of C, added up later, share a K */
  int rows, columns;                     /* of tiles; if down is 2, rows of pairs */
  int a_step, b_step;                    /* matrices from a batch's to the next one's, or 0 */
  int as_float, relu;                    /* as_float: C is float32 */
  float alpha;                           /* C = alpha * sums + bias, then relu */
  const char *bias;                      /* one for each column, or NULL */
  int64_t bias_stride;                   /* in bytes */
  int bias_dtype;
  int chunks;                            /* float32: per chunk of K, */
  const uint32_t *a_top, *b_top;         /* the largest |x| of each row of A and column of B, */
  const float *a_data, *b_data;          /* and the operands themselves */
  int64_t a_row, a_col, a_batch, b_row, b_col, b_batch;
};

/* -- a kernel's constants -- T: what is multiplied; Out: what C is made of; PRODUCTS: 6, 3 or 1. */
template <class T_, class Out_, int WIDE_, int PRODUCTS_, bool A_ALONG_K_, bool B_ALONG_K_>
struct gt__plan {
  typedef T_ T;
  typedef Out_ Out;
  static constexpr int WIDE = WIDE_, PRODUCTS = PRODUCTS_, N = WIDE / 2;    /* N: sums a thread */
  static constexpr bool A_ALONG_K = A_ALONG_K_, B_ALONG_K = B_ALONG_K_;
  static constexpr int PIECES = PRODUCTS == 6 ? 3 : PRODUCTS == 3 ? 2 : 1;
  static constexpr int A_BRICKS = GT__HIGH / 64, B_BRICKS = WIDE / 64;      /* of a piece */
  static constexpr int STAGE = PIECES * (A_BRICKS + B_BRICKS) * GT__BRICK;
  static constexpr int FIXED = 2 * GT__RING * GT__BRICK + 1024 + 256;
  static constexpr int FITTING = (GT__ROOM - FIXED) / STAGE;
  static constexpr int STAGES = FITTING < 8 ? FITTING : 8;
  static_assert(STAGES >= 2, "one stage is filled while another is used");
};
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(GPUTENSOR_NO_TENSOR_CORES)
#define GT__HOPPER                       /* what follows exists for sm_90a alone */
#endif
#ifdef GT__HOPPER
/* -- instructions -- */
GT__DEV uint32_t gt__smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
GT__DEV unsigned gt__cluster_rank() {
  unsigned r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
GT__DEV unsigned gt__cluster_size() {
  unsigned r;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(r));
  return r;
}
GT__DEV void gt__cluster_meet() {        /* promises nothing about memory: that would cost 1 us */
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;"
               ::: "memory");
}
GT__DEV void gt__barrier_init(uint64_t *b, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gt__smem(b)), "r"(arrivals));
}
/* The phase ends when `bytes` more have landed. */
GT__DEV void gt__barrier_expect(uint64_t *b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               ::"r"(gt__smem(b)), "r"(bytes) : "memory");
}
/* Arrives at the same barrier of block `rank` of the cluster. */
GT__DEV void gt__barrier_arrive(uint64_t *b, int rank) {
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there]; }"
               ::"r"(gt__smem(b)), "r"(rank) : "memory");
}
GT__DEV void gt__barrier_wait(uint64_t *b, int phase) {
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again; }" ::"r"(gt__smem(b)), "r"(phase) : "memory");
}
/* Waits for the `threads` that name the same number. */
GT__DEV void gt__team_sync(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
GT__DEV bool gt__team_any(int number, int threads, bool x) {
  int any;
  asm volatile("{ .reg .pred p, q; setp.ne.b32 p, %3, 0; bar.red.or.pred q, %1, %2, p;\n"
               "selp.b32 %0, 1, 0, q; }"
               : "=r"(any) : "r"(number), "r"(threads), "r"((int)x) : "memory");
  return any != 0;
}
/* The copy engine: a box at (x, y, z) of a tensor to shared memory here, ... */
GT__DEV void gt__load_box(void *to, const CUtensorMap *from, uint64_t *full, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(gt__smem(to)), "l"(from),
               "r"(gt__smem(full)), "r"(x), "r"(y), "r"(z) : "memory");
}
/* ... and to the same place in both blocks of a cluster, telling both of their barriers. */
GT__DEV void gt__load_both(void *to, const CUtensorMap *from, uint64_t *full, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(gt__smem(to)),
               "l"(from), "r"(gt__smem(full)), "r"(x), "r"(y), "r"(z), "h"((uint16_t)3) : "memory");
}
GT__DEV void gt__store_box(const CUtensorMap *to, const void *from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];\n"
               "cp.async.bulk.commit_group;"
               ::"l"(to), "r"(gt__smem(from)), "r"(x), "r"(y), "r"(z) : "memory");
}
GT__DEV void gt__await_stores() {        /* the last ones' bytes have been read */
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
GT__DEV void gt__prefetch_map(const CUtensorMap *m) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(m) : "memory");
}
GT__DEV void gt__fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
GT__DEV void gt__mma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GT__DEV void gt__mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> GT__DEV void gt__mma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
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
                   "8,%" #t "9"
#define GT__64 GT__TEN() "," GT__TEN(1) "," GT__TEN(2) "," GT__TEN(3) "," GT__TEN(4) "," \
               GT__TEN(5) ",%60,%61,%62,%63"
#define GT__128 GT__TEN() "," GT__TEN(1) "," GT__TEN(2) "," GT__TEN(3) "," GT__TEN(4) "," \
                GT__TEN(5) "," GT__TEN(6) "," GT__TEN(7) "," GT__TEN(8) "," GT__TEN(9) "," \
                GT__TEN(10) "," GT__TEN(11) ",%120,%121,%122,%123,%124,%125,%126,%127"
#define GT__32 GT__TEN() "," GT__TEN(1) "," GT__TEN(2) ",%30,%31"
#define GT__96 GT__TEN() "," GT__TEN(1) "," GT__TEN(2) "," GT__TEN(3) "," GT__TEN(4) "," \
               GT__TEN(5) "," GT__TEN(6) "," GT__TEN(7) "," GT__TEN(8) ",%90,%91,%92,%93,%94,%95"
#define GT__D8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), \
                  "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define GT__D64(i) GT__D8(i), GT__D8(i + 8), GT__D8(i + 16), GT__D8(i + 24), GT__D8(i + 32), \
                   GT__D8(i + 40), GT__D8(i + 48), GT__D8(i + 56)
#define GT__D32(i) GT__D8(i), GT__D8(i + 8), GT__D8(i + 16), GT__D8(i + 24)
#define GT__MMA(T, type, count, wide, list, first, second, add_, turn_a, turn_b, ...) \
  template <bool A_ALONG_K, bool B_ALONG_K> \
  GT__DEV void gt__mma(T, float (&d)[count], uint64_t a, uint64_t b, int add) { \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #add_ ", 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n" #wide "k16.f32." type "." type " {" list \
                 "}, %" #first ", %" #second ", p, 1, 1, %" #turn_a ", %" #turn_b "; }" \
                 : __VA_ARGS__ : "l"(a), "l"(b), "r"(add), "n"(!A_ALONG_K), "n"(!B_ALONG_K)); \
  }
GT__MMA(gt__bfloat, "bf16", 32, 64, GT__32, 32, 33, 34, 35, 36, GT__D32(0))
GT__MMA(gt__bfloat, "bf16", 64, 128, GT__64, 64, 65, 66, 67, 68, GT__D64(0))
GT__MMA(gt__bfloat, "bf16", 96, 192, GT__96, 96, 97, 98, 99, 100, GT__D64(0), GT__D32(64))
GT__MMA(gt__bfloat, "bf16", 128, 256, GT__128, 128, 129, 130, 131, 132, GT__D64(0), GT__D64(64))
GT__MMA(gt__half, "f16", 32, 64, GT__32, 32, 33, 34, 35, 36, GT__D32(0))
GT__MMA(gt__half, "f16", 64, 128, GT__64, 64, 65, 66, 67, 68, GT__D64(0))
GT__MMA(gt__half, "f16", 96, 192, GT__96, 96, 97, 98, 99, 100, GT__D64(0), GT__D32(64))
GT__MMA(gt__half, "f16", 128, 256, GT__128, 128, 129, 130, 131, 132, GT__D64(0), GT__D64(64))

/* Shared memory: the stages, the bricks of C of two warpgroups, the barriers. */
struct gt__ring { uint8_t *stages, *out; uint64_t *full, *empty; };
template <class P> GT__DEV gt__ring gt__make_ring(int arrivals) {
  gt__ring r;
  r.stages = (uint8_t *)(((uintptr_t)gt__shared + 1023) & ~(uintptr_t)1023);
  r.out = r.stages + P::STAGES * P::STAGE;
  r.full = (uint64_t *)(r.out + 2 * GT__RING * GT__BRICK);
  r.empty = r.full + P::STAGES;
  if (threadIdx.x == 32) {
    for (int s = 0; s < P::STAGES; s++) {
      gt__barrier_init(&r.full[s], 1);
      gt__barrier_init(&r.empty[s], arrivals);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  return r;
}
/* A position in the ring: stage `slot`, filled for the `phase`th time (0 and 1 in turn). */
struct gt__spot { int slot, phase; };
template <class P> GT__DEV void gt__next(gt__spot &t) {
  if (++t.slot == P::STAGES) t.slot = 0, t.phase ^= 1;
}
template <class P> GT__DEV int gt__before(const gt__spot &t) {
  return (t.slot ? t.slot : P::STAGES) - 1;
}

/* Which tile, and which steps of K, unit u of work is. Units that run at the same time shall share
   rows of A and columns of B in the L2 cache: they go through C in bands of 8 rows of tiles. */
struct gt__work { int batch, m, n, from, to; };
enum { GT__BAND = 8 };
template <class P> GT__DEV gt__work gt__find_work(const gt__hopper_args &p, unsigned u) {
  const unsigned rank = gt__cluster_rank(), each = p.rows * p.columns;
  const unsigned batch = p.batches > 1 ? u / each : 0, in = u - batch * each;
  const unsigned band = in / (GT__BAND * p.columns), top = band * GT__BAND;
  const unsigned high = min((unsigned)GT__BAND, p.rows - top), at = in - top * p.columns;
  const unsigned steps = (p.k + GT__DEEP - 1) / GT__DEEP;
  gt__work w;
  w.batch = batch;
  w.n = at / high * P::WIDE;
  w.m = ((top + at % high) * p.down + (p.down > 1 ? rank : 0)) * GT__HIGH;
  w.from = 0;
  w.to = steps;
  if (p.spread > 1) {
    const unsigned part = batch % p.spread;
    w.from = steps * part / p.spread;
    w.to = steps * (part + 1) / p.spread;
  }
  return w;
}

/* One thread: keeps the stages full. */
template <class P>
GT__DEV void gt__produce(const gt__hopper_args &p, const gt__ring &r, gt__work w, unsigned units) {
  const unsigned size = gt__cluster_size(), rank = gt__cluster_rank(), hop = gridDim.x / size;
  const bool pair = p.down > 1;
  gt__spot t = {0, 0};
  for (unsigned u = blockIdx.x / size; u < units; w = gt__find_work<P>(p, u += hop)) {
    const int batch = p.spread > 1 ? w.batch / p.spread : w.batch;
    for (int step = w.from; step < w.to; step++, gt__next<P>(t)) {
      uint64_t *full = &r.full[t.slot];
      uint8_t *to = r.stages + t.slot * P::STAGE;
      const int k = step * GT__DEEP;
      gt__barrier_wait(&r.empty[t.slot], t.phase ^ 1);
      gt__barrier_expect(full, P::STAGE);
      #pragma unroll
      for (int i = 0; i < P::PIECES * P::A_BRICKS; i++, to += GT__BRICK) {
        const int m = w.m + i % P::A_BRICKS * 64, z = batch * p.a_step + i / P::A_BRICKS;
        gt__load_box(to, &p.a, full, P::A_ALONG_K ? k : m, P::A_ALONG_K ? m : k, z);
      }
      #pragma unroll
      for (int i = 0; i < P::PIECES * P::B_BRICKS; i++, to += GT__BRICK) {
        const int n = w.n + i % P::B_BRICKS * 64, z = batch * p.b_step + i / P::B_BRICKS;
        const int x = P::B_ALONG_K ? k : n, y = P::B_ALONG_K ? n : k;
        if (!pair) gt__load_box(to, &p.b, full, x, y, z);
        else if (i % 2 == rank) gt__load_both(to, &p.b, full, x, y, z);
      }
    }
  }
}

/* The products of one stage, for rows 64 * half ..: pieces (2,0) (1,1) (0,2) (1,0) (0,1) (0,0), of
   which three products are the last three: small ones are added first. */
template <class P>
GT__DEV void gt__multiply_stage(const uint8_t *stage, int half, float (&d)[P::N], bool add) {
  constexpr int of_a[6] = {2, 1, 0, 1, 0, 0}, of_b[6] = {0, 1, 2, 0, 1, 0};
  const uint64_t a = gt__bricks(gt__smem(stage) + half * GT__BRICK);
  const uint64_t b = gt__bricks(gt__smem(stage) + P::PIECES * P::A_BRICKS * GT__BRICK);
  #pragma unroll
  for (int q = 6 - P::PRODUCTS; q < 6; q++)
    #pragma unroll
    for (int k = 0; k < GT__DEEP; k += 16) {
      const int over_a = of_a[q] * P::A_BRICKS * GT__BRICK + k * (P::A_ALONG_K ? 2 : 128);
      const int over_b = of_b[q] * P::B_BRICKS * GT__BRICK + k * (P::B_ALONG_K ? 2 : 128);
      gt__mma<P::A_ALONG_K, P::B_ALONG_K>(typename P::T(), d, a + (over_a >> 4), b + (over_b >> 4),
                                          add || q > 6 - P::PRODUCTS || k > 0);
    }
}
/* One warp's word that it is done with a stage, to all blocks that write it. */
GT__DEV void gt__release(uint64_t *empty, int writers) {
  const int lane = threadIdx.x % 32;
  if (lane < writers) gt__barrier_arrive(empty, writers > 1 ? lane : gt__cluster_rank());
}
/* float32 that pieces cannot carry. A line (a row of A, a column of B) whose largest |x| is NaN,
   infinite or above 2^62 may make products of pieces overflow, one below 2^-62 makes those of low
   pieces vanish. Both teams: does the tile have such a line? */
template <class P> GT__DEV bool gt__must_be_strict(const gt__hopper_args &p, const gt__work &w) {
  const int thread = threadIdx.x - GT__TEAM, along_n = thread / GT__HIGH;
  const int line = (along_n ? w.n : w.m) + thread % GT__HIGH, lines = along_n ? p.n : p.m;
  const int batch = w.batch / p.spread * ((along_n ? p.b_step : p.a_step) > 0);
  const uint32_t *top = (along_n ? p.b_top : p.a_top) + (int64_t)batch * p.chunks * lines + line;
  uint32_t most = 0;
  static_assert(P::WIDE == GT__HIGH || P::PRODUCTS == 1, "a thread has one row or one column");
  if (line < lines)
    #pragma unroll 4
    for (int i = 0; i < p.chunks; i++) most = max(most, top[(int64_t)i * lines]);
  return gt__team_any(3, 2 * GT__TEAM, most > 189u << 23 || (most < 65u << 23 && most > 0));
}
/* The tile from float32 itself, in the order of the general kernel: K in order, multiply-add. */
template <class P>
GT__DEV void gt__multiply_strictly(const gt__hopper_args &p, const gt__work &w, int half,
                                   float (&sum)[P::N]) {
  const int k_size = w.from > 0 ? 0 : p.k;     /* where K is spread, the first has all of it */
  const int lane = threadIdx.x % 32, row = w.m + 64 * half + threadIdx.x / 32 % 4 * 16 + lane / 4;
  const int batch = w.batch / p.spread;
  const float *a0 = p.a_data + batch * p.a_batch + min(row, p.m - 1) * p.a_row;
  const float *a8 = p.a_data + batch * p.a_batch + min(row + 8, p.m - 1) * p.a_row;
  const float *b = p.b_data + batch * p.b_batch;
  #pragma unroll
  for (int i = 0; i < P::N; i += 16) {   /* 16 sums: two rows, eight columns */
    const float *at[8];
    float s[16] = {0};
    #pragma unroll
    for (int j = 0; j < 8; j++)
      at[j] = b + min(w.n + 2 * i + j / 2 * 8 + lane % 4 * 2 + j % 2, p.n - 1) * p.b_col;
    #pragma unroll 1
    for (int k = 0; k < k_size; k++) {
      const float x0 = a0[k * p.a_col], x8 = a8[k * p.a_col];
      #pragma unroll
      for (int j = 0; j < 8; j++) {
        const float y = at[j][k * p.b_row];
        s[j / 2 * 4 + j % 2] = __fmaf_rn(x0, y, s[j / 2 * 4 + j % 2]);
        s[j / 2 * 4 + 2 + j % 2] = __fmaf_rn(x8, y, s[j / 2 * 4 + 2 + j % 2]);
      }
    }
    #pragma unroll
    for (int j = 0; j < 16; j++) sum[i + j] = s[j];
  }
}

/* -- from registers to C -- */
GT__DEV uint32_t gt__two(gt__bfloat, float x, float y) {   /* x in the lower half */
  uint32_t u;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(y), "f"(x));
  return u;
}
GT__DEV uint32_t gt__two(gt__half, float x, float y) {
  uint32_t u;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(y), "f"(x));
  return u;
}
/* What stands behind the product, in registers: a thread has two columns of each eight. The bias of
   the tile's columns lies in a brick meanwhile. */
template <class P>
GT__DEV void gt__finish(const gt__hopper_args &p, const gt__work &w, uint8_t *bricks, int half,
                        float (&sum)[P::N]) {
  if (p.bias) {
    float *bias = (float *)bricks;
    if (threadIdx.x % GT__TEAM == 0) gt__await_stores();
    gt__team_sync(1 + half, GT__TEAM);   /* the brick is free */
    for (int i = threadIdx.x % GT__TEAM; i < P::WIDE && w.n + i < p.n; i += GT__TEAM)
      bias[i] = gt__load_one<float>(p.bias + (w.n + i) * p.bias_stride, p.bias_dtype);
    gt__team_sync(1 + half, GT__TEAM);
    #pragma unroll
    for (int i = 0; i < P::N; i += 4) {
      const float2 y = *(const float2 *)(bias + 2 * i + threadIdx.x % 4 * 2);
      sum[i] = GT__ADD(sum[i], y.x), sum[i + 1] = GT__ADD(sum[i + 1], y.y);
      sum[i + 2] = GT__ADD(sum[i + 2], y.x), sum[i + 3] = GT__ADD(sum[i + 3], y.y);
    }
  }
  if (p.relu)
    #pragma unroll
    for (int i = 0; i < P::N; i++) sum[i] = gt__formula<GT__OP_relu, float>::of(sum[i], 0, 0);
}
/* Lays brick i of a team's 64 rows, of S. Chunk c of a line lies at c ^ line % 8. */
template <class S, int N> GT__DEV void gt__lay_brick(uint8_t *brick, int i, const float (&sum)[N]) {
  constexpr int GROUPS = 16 / sizeof(S);         /* of 8 columns, 128 bytes in all */
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4;
  #pragma unroll
  for (int j = 0; j < GROUPS; j++)
    #pragma unroll
    for (int h = 0; h < 2; h++) {        /* row, and row + 8 */
      const float x = sum[(i * GROUPS + j) * 4 + h * 2], y = sum[(i * GROUPS + j) * 4 + h * 2 + 1];
      const int byte = (8 * j + lane % 4 * 2) * (int)sizeof(S), line = row + 8 * h;
      uint8_t *to = brick + line * 128 + (((byte >> 4) ^ (line & 7)) << 4 | (byte & 15));
      if constexpr (sizeof(S) == 4) *(float2 *)to = make_float2(x, y);
      else *(uint32_t *)to = gt__two(S(), x, y);
    }
}
/* A warpgroup's 64 x WIDE of C, two bricks at a time: the copy engine stores the last ones while
   the next tile is multiplied. */
template <class P, class S>
GT__DEV void gt__put_tile(const gt__hopper_args &p, const gt__work &w, uint8_t *bricks, int half,
                          const float (&sum)[P::N]) {
  constexpr int WIDTH = 128 / sizeof(S), COUNT = P::WIDE / WIDTH;  /* columns of a brick; bricks */
  const bool leader = threadIdx.x % GT__TEAM == 0;
  #pragma unroll
  for (int i = 0; i < COUNT; i += GT__RING) {
    if (leader) gt__await_stores();
    gt__team_sync(1 + half, GT__TEAM);   /* the bricks are free */
    #pragma unroll
    for (int j = 0; j < GT__RING && i + j < COUNT; j++)
      gt__lay_brick<S>(bricks + j * GT__BRICK, i + j, sum);
    gt__fence_async();
    gt__team_sync(1 + half, GT__TEAM);
    #pragma unroll
    for (int j = 0; j < GT__RING && i + j < COUNT; j++)
      if (leader)
        gt__store_box(&p.c, bricks + j * GT__BRICK, w.n + (i + j) * WIDTH, w.m + half * 64,
                      w.batch);
  }
}

/* Adds up the steps of a unit. */
template <class P>
GT__DEV void gt__accumulate(const gt__hopper_args &p, const gt__ring &r, int steps, int half,
                            gt__spot &t, float (&sum)[P::N]) {
  if constexpr (P::PRODUCTS == 1) {
    for (int i = 0; i < steps; i++) {
      gt__barrier_wait(&r.full[t.slot], t.phase);
      gt__mma_fence();
      gt__multiply_stage<P>(r.stages + t.slot * P::STAGE, half, sum, i > 0);
      gt__mma_commit();
      gt__mma_wait<1>();                 /* the tensor cores have this step before that ends */
      if (i > 0) gt__release(&r.empty[gt__before<P>(t)], p.down);
      gt__next<P>(t);
    }
    gt__mma_wait<0>();
    gt__release(&r.empty[gt__before<P>(t)], p.down);
  } else {
    #pragma unroll
    for (int i = 0; i < P::N; i++) sum[i] = 0;
    for (int i = 0; i < steps; i++, gt__next<P>(t)) {
      float part[P::N];
      gt__barrier_wait(&r.full[t.slot], t.phase);
      gt__mma_fence();
      gt__multiply_stage<P>(r.stages + t.slot * P::STAGE, half, part, false);
      gt__mma_commit();
      gt__mma_wait<0>();
      gt__release(&r.empty[t.slot], p.down);
      #pragma unroll
      for (int j = 0; j < P::N; j++) sum[j] += part[j];
    }
  }
}

/* One warpgroup: multiplies what arrives, and writes its half of each tile. */
template <class P>
GT__DEV void gt__consume(const gt__hopper_args &p, const gt__ring &r, gt__work w, unsigned units) {
  const unsigned size = gt__cluster_size(), hop = gridDim.x / size;
  const int half = threadIdx.x / GT__TEAM - 1;
  uint8_t *bricks = r.out + half * GT__RING * GT__BRICK;
  gt__spot t = {0, 0};
  for (unsigned u = blockIdx.x / size; u < units; w = gt__find_work<P>(p, u += hop)) {
    float sum[P::N];
    const bool strict = P::PRODUCTS > 1 && gt__must_be_strict<P>(p, w);
    gt__accumulate<P>(p, r, w.to - w.from, half, t, sum);
    if (P::PRODUCTS > 1 && strict) gt__multiply_strictly<P>(p, w, half, sum);
    #pragma unroll
    for (int i = 0; i < P::N; i++) sum[i] = GT__MUL(p.alpha, sum[i]);
    if (p.bias || p.relu) gt__finish<P>(p, w, bricks, half, sum);
    if (p.as_float) gt__put_tile<P, float>(p, w, bricks, half, sum);
    else gt__put_tile<P, typename P::Out>(p, w, bricks, half, sum);
  }
  if (threadIdx.x % GT__TEAM == 0) gt__await_stores();
}

/* Grid: as many clusters as fit, each going through units of work. For a step of 128 x 256 x 64 a
   block loads 48 KB (32 with a neighbour's help) for 4.2 million operations: 1024 clocks of the
   tensor cores, 47 (32) bytes a clock from the L2 cache, which gives about 64. */
template <class P> GT__DEV void gt__run_roles(const gt__hopper_args &p) {
  const unsigned size = gt__cluster_size(), units = p.rows * p.columns * p.batches;
  const gt__ring r = gt__make_ring<P>(8 * p.down);     /* by another warp than the first, which */
  const gt__work first = gt__find_work<P>(p, blockIdx.x / size);      /* finds its work meanwhile */
  if (threadIdx.x == 64) {
    gt__prefetch_map(&p.a);
    gt__prefetch_map(&p.b);
    gt__prefetch_map(&p.c);
  }
  if (size > 1) gt__cluster_meet();      /* nobody writes into a block that has not begun */
  __syncthreads();
  gt__after_kernel_before();
  if (threadIdx.x < GT__TEAM) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) gt__produce<P>(p, r, first, units);
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    gt__consume<P>(p, r, first, units);
  }
  if (size > 1) gt__cluster_meet();      /* nobody writes into a block that has ended */
}
#endif
template <class P> __global__ void __launch_bounds__(3 * GT__TEAM, 1)
gt__hopper_kernel(const __grid_constant__ gt__hopper_args p) {
#ifdef GT__HOPPER
  gt__run_roles<P>(p);
#endif
}

/* -- splitting and packing -- */
/* One operand as lines of `wide` elements; `along_k`: the lines run along K. */
struct gt__pack_operand {
  const char *data;
  uint16_t *to;                          /* [batch][piece][lines][pitch] */
  uint32_t *top;                         /* [batch][chunk][line of M or N], or NULL */
  int64_t stride, line_stride, batch_stride;
  int wide, lines, pitch, batch, along_k, tiles;
};
struct gt__pack_args { gt__pack_operand x[2]; int chunk, chunks; };
#ifdef GT__HOPPER
template <class S> GT__DEV void gt__grab4(const S *p, int64_t stride, int left, S (&x)[4]) {
  if (left >= 4 && stride == 1 && (uintptr_t)p % sizeof x == 0) {
    if constexpr (sizeof(S) == 4) {
      const uint4 u = *(const uint4 *)p;
      x[0] = u.x, x[1] = u.y, x[2] = u.z, x[3] = u.w;
    } else {
      const uint2 u = *(const uint2 *)p;
      x[0] = (S)u.x, x[1] = (S)(u.x >> 16), x[2] = (S)u.y, x[3] = (S)(u.y >> 16);
    }
  } else {
    #pragma unroll
    for (int j = 0; j < 4; j++) x[j] = j < left ? p[j * stride] : 0;
  }
}
/* The first PIECES bfloat16 of four floats, 4 bytes a pair. What 16 bits hold is copied. */
template <int PIECES> GT__DEV void gt__split4(const uint32_t (&x)[4], uint2 (&piece)[PIECES]) {
  float f[4];
  #pragma unroll
  for (int j = 0; j < 4; j++) f[j] = __uint_as_float(x[j]);
  #pragma unroll
  for (int i = 0; i < PIECES; i++) {
    piece[i] = make_uint2(gt__two(gt__bfloat(), f[0], f[1]), gt__two(gt__bfloat(), f[2], f[3]));
    f[0] = __fsub_rn(f[0], __uint_as_float(piece[i].x << 16));
    f[1] = __fsub_rn(f[1], __uint_as_float(piece[i].x & 0xFFFF0000));
    f[2] = __fsub_rn(f[2], __uint_as_float(piece[i].y << 16));
    f[3] = __fsub_rn(f[3], __uint_as_float(piece[i].y & 0xFFFF0000));
  }
}
template <int PIECES> GT__DEV void gt__split4(const uint16_t (&x)[4], uint2 (&piece)[PIECES]) {
  piece[0] = make_uint2(x[0] | (uint32_t)x[1] << 16, x[2] | (uint32_t)x[3] << 16);
}
/* Splits float32 into pieces (S is uint32_t), or copies 16-bit elements, into lines that start at
   16 bytes. Reads each element once and writes 2 bytes a piece: 10 bytes for three, at the speed of
   memory. Beside it notes the largest |x| of each line of M or N in each chunk of K, as bits, which
   order floats by size and NaN above all. Grid: x tiles of A, then of B; y chunks of K; z batches.
   Lines along K: a warp has one line of 8 and a chunk of it. Across: a block has 128 elements of
   the lines, for a chunk of lines. */
template <class S, int PIECES> GT__DEV void gt__pack(const gt__pack_args &p) {
  constexpr int AHEAD = 4;
  const int second = blockIdx.x >= p.x[0].tiles, tile = blockIdx.x - (second ? p.x[0].tiles : 0);
  const gt__pack_operand &x = p.x[second];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, k0 = blockIdx.y * p.chunk;
  const int rounds = x.along_k ? p.chunk / 128 : p.chunk / 8;
  __shared__ uint4 tops[8][32];
  gt__after_kernel_before();
  if ((int)blockIdx.z >= x.batch) return;
  const S *from = (const S *)x.data + blockIdx.z * x.batch_stride;
  uint16_t *to = x.to + (int64_t)blockIdx.z * PIECES * x.lines * x.pitch;
  uint32_t top[4] = {0, 0, 0, 0};
  for (int round = 0; round < rounds; round += AHEAD) {
    S u[AHEAD][4];
    int e[AHEAD], line[AHEAD];
    #pragma unroll
    for (int i = 0; i < AHEAD; i++) {    /* all loads are on their way before the first is used */
      e[i] = (x.along_k ? k0 + 128 * (round + i) : 128 * tile) + 4 * lane;
      line[i] = x.along_k ? 8 * tile + warp : k0 + 8 * (round + i) + warp;
      if (round + i >= rounds || line[i] >= x.lines) e[i] = x.wide;
      gt__grab4(from + line[i] * x.line_stride + e[i] * x.stride, x.stride, x.wide - e[i], u[i]);
    }
    #pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      uint2 piece[PIECES];
      if (e[i] >= x.wide) continue;
      gt__split4(u[i], piece);
      #pragma unroll
      for (int q = 0; q < PIECES; q++)
        *(uint2 *)(to + ((int64_t)q * x.lines + line[i]) * x.pitch + e[i]) = piece[q];
      #pragma unroll
      for (int j = 0; j < 4; j++) top[j] = max(top[j], u[i][j] & 0x7FFFFFFF);
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
}
#endif
template <class S, int PIECES> __global__ void __launch_bounds__(256)
gt__pack_kernel(const __grid_constant__ gt__pack_args p) {
#ifdef GT__HOPPER
  gt__pack<S, PIECES>(p);
#endif
}

/* ---- >>launchers -------------------------------------------------------------------------------
   Each: check, return at once for nothing to do, choose, launch on the caller's stream, report. */
#define GT__POINTER(...) ((const void *)(__VA_ARGS__))
/* [compute type][heavy][mode]. The rarer a mode, the fewer elements a heavy instruction takes at a
   time, for the sake of compile time; 8-byte elements take the code for TURNED if whole, too. */
#define GT__MAPS(T, FEW, SOME, MANY, M) \
  {GT__POINTER(gt__map_kernel<T, FEW, GT__ANY>), GT__POINTER(gt__map_kernel<T, MANY, M>), \
   GT__POINTER(gt__map_kernel<T, SOME, GT__TURNED>)}
static const void *const gt__map_kernels[3][2][3] = {
  {GT__MAPS(float, 0, 0, 0, GT__WHOLE), GT__MAPS(float, 1, 4, 8, GT__WHOLE)},
  {GT__MAPS(double, 0, 0, 0, GT__TURNED), GT__MAPS(double, 1, 2, 2, GT__TURNED)},
  {GT__MAPS(int64_t, 0, 0, 0, GT__TURNED), GT__MAPS(int64_t, 1, 2, 2, GT__TURNED)}};
#undef GT__MAPS
#define GT__REDUCES(T, W) \
  GT__POINTER(gt__reduce_kernel<T, T, W, GT__DIRECT, GT__PLAIN>), \
  GT__POINTER(gt__reduce_kernel<T, T, W, GT__DIRECT, GT__ARG>), \
  GT__POINTER(gt__reduce_kernel<T, T, W, GT__STEADY, GT__PLAIN>), \
  GT__POINTER(gt__reduce_kernel<T, T, W, GT__ANYHOW, GT__BOTH>)
#define GT__WIDE(S) \
  GT__POINTER(gt__reduce_kernel<float, S, 8, GT__DIRECT, GT__PLAIN>), \
  GT__POINTER(gt__reduce_kernel<float, S, 8, GT__DIRECT, GT__ARG>)
static const void *const gt__reduce_kernels[] = { /* [compute type][source and fold], wide ones */
  GT__REDUCES(float, 4), GT__REDUCES(double, 2), GT__REDUCES(int64_t, 2), GT__WIDE(gt__half),
  GT__WIDE(gt__bfloat)};
#undef GT__WIDE
#undef GT__REDUCES
static const void *const gt__combine_kernels[3] = {GT__POINTER(gt__combine_kernel<float>),
                                                   GT__POINTER(gt__combine_kernel<double>),
                                                   GT__POINTER(gt__combine_kernel<int64_t>)};
static const void *const gt__soft_kernels[5] = {
  GT__POINTER(gt__soft_kernel<float, 4, false>), GT__POINTER(gt__soft_kernel<float, 4, true>),
  GT__POINTER(gt__soft_kernel<float, 8, true>), GT__POINTER(gt__soft_kernel<double, 2, false>),
  GT__POINTER(gt__soft_kernel<double, 2, true>)};
/* one heavy element at a time: behind a product it does not show, and the code is a quarter */
#define GT__MATMULS(T, Q) \
  {GT__POINTER(gt__matmul_kernel<T, Q, 0>), GT__POINTER(gt__matmul_kernel<T, Q, 1>)}
static const void *const gt__matmul_kernels[5][2] = { /* [compute type, or large tiles][heavy] */
  GT__MATMULS(float, 1), GT__MATMULS(double, 1), GT__MATMULS(int64_t, 1), GT__MATMULS(float, 2),
  GT__MATMULS(double, 2)};
#undef GT__MATMULS
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
static int gt__is_heavy(const gt__program *p) {
  for (int i = 0; i < p->n_ins; i++) {
    const int op = p->ins[i].op;
    if (op >= GT__INDEX && op <= GT__INTEGER) return 1;
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

/* Does x lie side by side down the rows, in a dtype of gt__by_usual_dtype? */
static bool gt__lies_across(const gt__operand *x, int line, int W) {
  const int t = x->dtype;
  const bool usual = W == 2 ? t == GT_FLOAT64 || t == GT_INT64
                            : t >= GT_FLOAT16 && t != GT_FLOAT64;
  return usual && line > 0 && x->stride[line - 1] == 1 && x->stride[line] > 1;
}
/* Has a matrix that is worth turning such inputs? */
static bool gt__is_crossed(const gt__map_args *args) {
  const int line = args->ndim - 1, W = args->program.compute == GT__F32 ? 4 : 2;
  bool crossed = false;
  for (int k = 0; k < args->program.n_in; k++)
    crossed = crossed || gt__lies_across(&args->in[k], line, W);
  return crossed && args->size[line] >= 16 && args->size[line - 1] >= 16;
}
/* How an operand moves in whole vectors, of W elements or joined twice as many; false if it cannot.
   The tile has `rows`, and dr rows and dc columns lead from a thread's vector to its next. */
static bool gt__set_step(gt__step *m, const gt__operand *x, int line, int W, const gt__tiling *t,
                         int rows, int dr, int dc) {
  const int bytes = (W << x->size_log2) << t->joined, align = bytes < 16 ? bytes : 16;
  const int64_t size = 1ll << x->size_log2, row = line ? x->stride[line - 1] * size : 0;
  const int64_t column = x->stride[line] * size;
  bool aligned = (uintptr_t)x->data % align == 0 && row % align == 0;
  for (int d = 0; d < line - 1; d++) aligned = aligned && x->stride[d] * size % align == 0;
  m->column = (int)column;
  m->row = (int)row;
  m->down = row * rows;
  m->along = column * (1ll << t->columns_log2);
  m->next = row * dr + column * dc;
  m->crossed = t->crossed && gt__lies_across(x, line, W);
  m->copy = x->stride[line] == 1 && W << x->size_log2 <= 16 && bytes >= 4 ? align : 0;
  m->both = t->joined && m->copy;
  return row == m->row && column == m->column &&
         (column == 0 || m->crossed || (x->stride[line] == 1 && aligned));
}
/* The tile's columns: the more the better, unless an eighth of its elements would be useless; but
   at most those of one vector of each thread, so that the next vector lies straight below. */
static void gt__set_columns(gt__tiling *t, const gt__map_args *args, int elements, int hop, int W) {
  const int64_t width = args->size[args->ndim - 1];
  int64_t least = INT64_MAX;
  for (int log2 = 12; log2 > 0; log2--) {
    const int64_t columns = 1ll << log2, across = (width - 1) / columns + 1;
    if (t->crossed ? columns != 16 * W
        : t->rows == 1 ? columns != elements : columns > hop || columns < W)
      continue;
    if (across * columns < least - least / 8) {
      least = across * columns;
      t->columns_log2 = log2;
      t->across = (unsigned)across;
    }
  }
}
/* Do results have 16 bits, arrays 16 or 8, and are there pairs of vectors? */
static bool gt__is_joined(const gt__map_args *args, int W) {
  const int line = args->ndim - 1;
  bool joined = args->out.size_log2 == 1 && args->size[line] % (2 * W) == 0 && W == 4;
  for (int k = 0; k < args->program.n_in; k++)
    joined = joined && (args->in[k].size_log2 <= 1 || args->in[k].stride[line] == 0);
  return joined;
}
/* Lays the tiles for threads of so many vectors; `whole`: in whole ones, or false if it cannot. */
static bool gt__set_tiling(gt__tiling *t, const gt__map_args *args, int threads, int vectors,
                           bool whole) {
  const int W = args->program.compute == GT__F32 ? 4 : 2, line = args->ndim - 1;
  const int elements = threads * vectors * W;
  int64_t batches = 1;
  t->crossed = whole && gt__is_crossed(args);
  t->joined = whole && !t->crossed && gt__is_joined(args, W);
  const int hop = threads * W << t->joined;
  t->rows = args->count / args->size[line];
  if (whole)
    for (int d = 0; d < line - 1; d++) batches *= args->size[d];
  if (batches > 65535 || (batches > 1 && t->rows / batches < 64)) return false;
  t->rows /= batches;
  t->batches = (unsigned)batches;
  gt__set_columns(t, args, elements, hop, W << t->joined);
  const bool one = t->rows == 1;
  const int rows = one ? 1 : elements >> t->columns_log2;
  const int dr = one ? 0 : hop >> t->columns_log2, dc = one ? hop : 0;
  t->full_down = (unsigned)(t->rows / rows);
  t->full_along = (unsigned)(args->size[line] >> t->columns_log2);
  if (!whole) return false;
  if (args->size[line] % W || args->out.stride[line] != 1 ||
      !gt__set_step(&t->step[0], &args->out, line, W, t, rows, dr, dc) || t->step[0].crossed)
    return false;
  for (int k = 0; k < args->program.n_in; k++)
    if (!gt__set_step(&t->step[1 + k], &args->in[k], line, W, t, rows, dr, dc)) return false;
  return true;
}
/* The multiprocessors of the current device, if they have room for a table; or 0. */
static int gt__table_blocks(void) {
  int device, room = 0, blocks = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ||
      cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device))
    (void)cudaGetLastError();
  return room >= GT__TABLE_BYTES ? blocks : 0;
}
static int gt__map_by_table(const gt__map_args *args, int blocks, void *stream) {
  const void *kernel = GT__POINTER(gt__table_kernel);
  gt__map_args all = *args;
  all.count = all.size[0] = 65536;
  all.out.data = (char *)args->scratch;
  all.scratch = NULL;
  int code = cudaGetSymbolAddress((void **)&all.in[0].data, gt__all_patterns);
  if (!code)
    code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                GT__TABLE_BYTES);
  if (!code) code = gt__cuda_map(&all, stream);
  if (code) return code;
  void *parameters[] = {(void *)&args->scratch, (void *)&args->in[0].data,
                        (void *)&args->out.data, (void *)&args->count};
  return gt__launch(kernel, blocks, GT__TABLE_THREADS, GT__TABLE_BYTES, stream, parameters);
}
extern "C" int gt__cuda_map(const gt__map_args *args, void *stream) {
  const gt__program *p = &args->program;
  if (!gt__is_program(p) || args->count < 0) return cudaErrorInvalidValue;
  if (args->count == 0) return cudaSuccess;
  const int blocks = args->scratch ? gt__table_blocks() : 0;
  if (blocks) return gt__map_by_table(args, blocks, stream);
  const int W = p->compute == GT__F32 ? 4 : 2;
  const int64_t slots = 16ll * gt__slot_count(p);
  gt__tiling t;
  int vectors = GT__VECTORS, threads = gt__is_crossed(args) ? 256 : 128;
  /* work that would not give each multiprocessor some blocks is cut finer */
  while (threads == 128 && (slots * threads * vectors > GT__SHARED ||
                            args->count < 256ll * threads * vectors * W))
    threads /= 2;
  bool whole = slots * threads * vectors <= GT__SHARED;
  whole = gt__set_tiling(&t, args, threads, vectors, whole);
  if (!whole) {
    threads = threads < 128 ? threads : slots * 256 > GT__SHARED ? 64 : 128;
    gt__set_tiling(&t, args, threads, vectors = 2, false);
  }
  const int64_t rows = t.rows == 1 ? 1 : (threads * vectors * W) >> t.columns_log2;
  const int mode = !whole ? GT__ANY : t.crossed || t.batches > 1 ? GT__TURNED : GT__WHOLE;
  const int64_t tiles = gt__blocks(t.rows, rows) * (int64_t)t.across;
  /* Several tiles a block where arithmetic or 16-bit elements would leave memory waiting, if the
     second set of slots does not cost too many blocks. */
  const bool waits = t.joined || gt__is_heavy(p);
  const int turns = mode == GT__WHOLE && waits && p->n_slot <= 2 && tiles >= 16384 ? 4 : 1;
  const size_t shared = (size_t)(slots * threads * vectors) * (turns > 1 ? 2 : 1);
  t.tiles = (unsigned)tiles;
  void *parameters[] = {(void *)args, &t};
  return gt__launch(gt__map_kernels[p->compute][gt__is_heavy(p)][mode],
                    dim3(gt__blocks(tiles, turns), t.batches), threads, shared, stream,
                    parameters);
}

/* Does the launcher of DIRECT know the dtype? It is a float's own or the compute type. */
static bool gt__is_usual(int compute, int dtype) {
  return compute == GT__F32 ? dtype == GT_FLOAT32 || dtype == GT_BFLOAT16 || dtype == GT_FLOAT16
                            : dtype == (compute == GT__F64 ? GT_FLOAT64 : GT_INT64);
}
/* Is the program nothing but its operand, with one folded dim at most, folded as it is? */
static bool gt__is_direct(const gt__reduce_args *args) {
  const gt__program *p = &args->pre.program;
  return p->n_ins == 1 && p->ins[0].op == GT__LOAD && p->n_in == 1 && args->n > 0 &&
         args->fold < GT__FOLD_ANY &&
         gt__is_usual(p->compute, args->pre.in[0].dtype) && args->pre.ndim - args->n_kept <= 1;
}
/* The dim that vectors lie along: the last kept or folded one. */
static int gt__along(const gt__reduce_args *args) {
  return args->inner ? args->n_kept : args->n_kept - 1;
}
/* May x be read in vectors of W elements? */
static bool gt__has_vectors(const gt__reduce_args *args, const gt__operand *x, int W) {
  const gt__map_args *m = &args->pre;
  const int along = gt__along(args);
  bool has = (uintptr_t)x->data % ((unsigned)W << x->size_log2) == 0 && along >= 0 &&
             along < m->ndim && m->size[along] % W == 0;
  for (int d = 0; d < m->ndim && has; d++)
    has = d == along ? x->stride[d] == 1 : x->stride[d] % W == 0;
  return has;
}
/* Elements of a vector of x: 16 bytes, or of 16-bit elements 8 where rows allow no more. */
static int gt__width(const gt__reduce_args *args, const gt__operand *x) {
  if (x->size_log2 == 3) return 2;
  return x->size_log2 == 1 && gt__has_vectors(args, x, 8) ? 8 : 4;
}
static gt__stride gt__stride_of(const gt__reduce_args *args, const gt__operand *x, int W,
                                int team_log2) {
  const int n_kept = args->n_kept, size = 1 << x->size_log2;
  gt__stride s;
  s.wide = n_kept ? x->stride[n_kept - 1] * size : 0;
  s.deep = n_kept < args->pre.ndim ? x->stride[n_kept] * size : 0;
  s.hop = args->inner ? s.deep * (W << team_log2) : s.deep;
  s.next = args->inner ? s.deep : s.wide;
  s.copy = gt__has_vectors(args, x, W) ? W * size : 0;
  return s;
}
static int gt__log2_above(int64_t x) {     /* the least power of two that is x or more */
  int log2 = 0;
  while (log2 < 40 && 1ll << log2 < x) log2++;
  return log2;
}
static int gt__least(int a, int b) { return a < b ? a : b; }
/* Cuts the work for threads with `own` elements at a time. DOWN takes 8 chunks a block, if there
   are as many, and more where lines are narrow; inner 8 too, and several short rows a team. */
static void gt__cut_work(gt__cut *w, const gt__reduce_args *args, int W, int own,
                         int threads_log2) {
  const int chunks_log2 = gt__log2_above(args->n_chunk);
  const int narrow = gt__least(5, gt__log2_above((w->line - 1) / W + 1));
  w->fold = gt__base_fold(args->fold);
  w->way = !args->inner ? GT__DOWN : args->n <= 16 * own ? GT__SHORT : GT__LONG;
  w->team_log2 = w->way == GT__LONG    ? 5
                 : w->way == GT__SHORT ? gt__log2_above((args->n - 1) / own + 1)
                                       : threads_log2 - gt__least(chunks_log2,
                                                                  threads_log2 - narrow);
  w->chunks_log2 = gt__least(chunks_log2, threads_log2 - w->team_log2);
  w->outs = w->way == GT__DOWN ? W << w->team_log2
                               : 1 << (threads_log2 - w->team_log2 - w->chunks_log2);
  const int64_t blocks = args->outer * (args->n_chunk >> w->chunks_log2);
  if (w->way == GT__LONG && w->outs == 1 && blocks >= 512 && blocks <= 1024)
    w->chunks_log2++;                    /* so that all run at once */
  for (int i = 0; i < 3 && args->inner && args->n * w->outs < 16384 &&
                  args->outer / w->outs >= 2048; i++)
    w->outs *= 2;
  w->groups = (unsigned)((args->n_chunk - 1) / (1ll << w->chunks_log2) + 1);
  w->across = (unsigned)((w->line - 1) / w->outs + 1);
  for (int k = 0; k < args->pre.program.n_in; k++)
    w->in[k] = gt__stride_of(args, &args->pre.in[k], W, w->team_log2);
}
/* How the values come. Lines that would leave a block next to nothing to do are for ANYHOW, to
   which all outputs are one line. STEADY has at most one kept and one folded dim, and operands that
   are vectors or a number for each vector. */
static int gt__source(const gt__reduce_args *args, int W) {
  const gt__map_args *m = &args->pre;
  const int n_kept = args->n_kept, along = gt__along(args);
  const int64_t line = n_kept ? m->size[n_kept - 1] : 1;
  if (gt__is_direct(args) && (n_kept <= 1 || line * (args->inner ? args->n : 64) >= 2048))
    return GT__DIRECT;
  bool whole = n_kept <= 1 && m->ndim - n_kept <= 1 && along >= 0 && along < m->ndim &&
               m->size[along] % W == 0 && gt__slot_count(&m->program) <= 8 &&
               !gt__is_heavy(&m->program) && gt__base_fold(args->fold) != GT__FOLD_ARGMAX;
  for (int k = 0; k < m->program.n_in && whole; k++) {
    const gt__operand *x = &m->in[k];
    const bool number = x->stride[along] == 0 && x->size_log2 == (W == 4 ? 2 : 3);
    whole = gt__is_usual(m->program.compute, x->dtype) && (number || gt__has_vectors(args, x, W));
  }
  return whole ? GT__STEADY : GT__ANYHOW;
}
/* A kernel that may be launched while the one before still runs, and itself waits for its end. */
static int gt__launch_behind(const void *kernel, dim3 grid, unsigned threads, size_t shared,
                             int cluster, void *stream, void **parameters) {
  cudaLaunchAttribute with[2] = {};
  cudaLaunchConfig_t config = {};
  cudaFuncAttributes built = {};
  cudaError_t error = cudaFuncGetAttributes(&built, kernel);
  with[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  with[0].val.programmaticStreamSerializationAllowed = 1;
  with[1].id = cudaLaunchAttributeClusterDimension;
  with[1].val.clusterDim.x = cluster;
  with[1].val.clusterDim.y = with[1].val.clusterDim.z = 1;
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = (cudaStream_t)stream;
  config.attrs = with;
  config.numAttrs = built.ptxVersion < 90 ? 0 : cluster > 1 ? 2 : 1; /* older code cannot wait */
  if (!error) error = cudaLaunchKernelExC(&config, kernel, parameters);
  if (error) (void)cudaGetLastError();
  return (int)error;
}
/* The tree's levels; all but the first, which the kernel before left, are behind it in scratch.
   Where there are many outputs, at least 16 neighbours a block, so that it reads whole sectors. */
static int gt__launch_tree(const gt__reduce_args *args, int fold, unsigned groups, void *stream) {
  gt__level from = {0, groups};
  int error = 0;
  while (from.groups > 1 && !error) {
    const unsigned wanted = (from.groups - 1) / 8 + 1;
    int leaves = wanted < GT__LEAVES ? (int)wanted : (int)GT__LEAVES, outs = 1;
    while (leaves < GT__LEAVES && leaves & (leaves - 1)) leaves++;
    while (outs * leaves < 512 || (outs < 16 && outs * leaves < GT__LEAVES)) outs *= 2;
    gt__level to = {from.at + args->outer * from.groups, (wanted - 1) / leaves + 1};
    void *parameters[] = {(void *)args, &fold, &from, &to, &outs, &leaves};
    error = gt__launch_behind(gt__combine_kernels[args->pre.program.compute],
                              gt__blocks(args->outer, outs) * to.groups, 512, 0, 1, stream,
                              parameters);
    from = to;
  }
  return error;
}
static int gt__launch_soft(const gt__reduce_args *args, void *stream) {
  const gt__map_args *m = &args->pre;
  const int doubles = m->program.compute == GT__F64, own = doubles ? 16 : 32;
  const int compute = m->program.compute, row = 32 * own;
  int W = gt__width(args, &m->in[0]);
  const bool rows = args->soft != GT__LOGSUMEXP; /* are written; else m->out is not set */
  gt__cut w;
  if (W == 8 && rows && gt__width(args, &m->out) < 8) W = 4;
  if (m->program.n_ins != 1 || m->program.n_in != 1) return cudaErrorInvalidValue;
  w.line = args->outer;
  gt__cut_work(&w, args, W, own, 8);
  gt__stride result = gt__stride_of(args, rows ? &m->out : &m->in[0], W, w.team_log2);
  const bool whole = gt__is_direct(args) && w.in[0].copy &&
                     (!rows || (result.copy && gt__is_usual(compute, m->out.dtype)));
  const int threads = args->n <= row ? 256 : 32 * (int)((args->n - 1) / row + 1);
  void *parameters[] = {(void *)args, &w, &result};
  return gt__launch(gt__soft_kernels[doubles ? 3 + whole : !whole ? 0 : W / 4],
                    gt__blocks(args->outer, args->n <= row ? 256 >> w.team_log2 : 1), threads,
                    whole ? 0 : threads * 32, stream, parameters);
}
extern "C" int gt__cuda_reduce(const gt__reduce_args *args, void *stream) {
  const gt__program *p = &args->pre.program;
  if (!gt__is_program(p) || args->outer < 0 || args->n < 0) return cudaErrorInvalidValue;
  if (args->n_chunk > 1 && !args->pre.scratch) return cudaErrorInvalidValue;
  if (args->soft && (args->n < 1 || args->n * (p->compute == GT__F32 ? 4 : 8) > GT__SOFT_BYTES ||
                     p->compute == GT__I64 || !args->inner || args->fold != GT__FOLD_SUM))
    return cudaErrorInvalidValue;
  if (args->outer == 0) return cudaSuccess;
  if (args->soft) return gt__launch_soft(args, stream);
  const int source = gt__source(args, p->compute == GT__F32 ? 4 : 2);
  const int W = source == GT__DIRECT ? gt__width(args, &args->pre.in[0])
                                     : p->compute == GT__F32 ? 4 : 2;
  const int arg = gt__base_fold(args->fold) == GT__FOLD_ARGMAX;
  const int vectors = source == GT__DIRECT ? 0 : source == GT__STEADY ? 4 : 2;
  const int bytes = 8 * ((p->compute == GT__F32 ? 4 : 8) + (arg ? 8 : 0)) +
                    16 * vectors * (int)gt__slot_count(p);
  int threads_log2 = 8;                  /* bytes: of a thread, for its results and its slots */
  while (threads_log2 > 6 && bytes << threads_log2 > GT__SHARED) threads_log2--;
  gt__cut w;
  w.line = source == GT__ANYHOW || !args->n_kept ? args->outer
                                                 : args->pre.size[args->n_kept - 1];
  const int own = source == GT__DIRECT ? 8 * W : source == GT__STEADY ? 4 * W : 8;
  gt__cut_work(&w, args, W, own, threads_log2);
  void *parameters[] = {(void *)args, &w};
  const int kernel = W == 8 ? 12 + 2 * (args->pre.in[0].dtype == GT_BFLOAT16) + arg
                            : 4 * p->compute + (source == GT__DIRECT ? arg : source + 1);
  const int error = gt__launch(gt__reduce_kernels[kernel],
                               (unsigned)(args->outer / w.line) * w.across * w.groups,
                               1 << threads_log2, bytes << threads_log2, stream, parameters);
  return error ? error : gt__launch_tree(args, w.fold, w.groups, stream);
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
/* -- products on the tensor cores of Hopper -- */
typedef CUresult (*gt__encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                               const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                               const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
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
  return ((gt__encode)f)(map, dtype == GT_FLOAT32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 :
                         dtype == GT_FLOAT16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 :
                         CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void *)data, dim, stride, box, one,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                         CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
             ? cudaErrorInvalidValue : cudaSuccess;
}
static int64_t gt__up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }
/* The multiprocessors of the current device; *hopper: does it run the kernels for Hopper? */
static int gt__multiprocessors(bool *hopper) {
  static int known[64];                  /* twice the answer + *hopper */
  int device = 0, blocks = 0;
  *hopper = false;
  if (cudaGetDevice(&device) || device >= 64) return 1;
  int answer = __atomic_load_n(&known[device], __ATOMIC_RELAXED);
  if (!answer) {
    cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device);
    answer = 2 * blocks + (gt__probe() & GT__PROBE_HOPPER ? 1 : 0);
    __atomic_store_n(&known[device], answer, __ATOMIC_RELAXED);
  }
#ifndef GPUTENSOR_NO_TENSOR_CORES
  *hopper = answer & 1;
#endif
  return answer / 2;
}

/* How a product is cut up: the columns of a tile, and as in gt__hopper_args. */
struct gt__cut_up { int wide, down, spread; };
/* One operand, of mn (M or N) by K. */
struct gt__factor { const gt__operand *x; int64_t mn, mn_stride, k_stride, batch; };
struct gt__product {
  gt__hopper_args p;
  gt__pack_args pack;
  gt__gather_args gather;                /* if C, or its parts, go through scratch: */
  bool through, simple, turned;          /* simple: an elementary copy; turned: B' x A' is made */
  bool skinny;                           /* by gt__skinny_kernel, in parts of k_part */
  int64_t k_part;
  gt__cut_up cut;
  int dtype, products, pieces, packs;    /* packs: bit 0 for A, bit 1 for B */
  bool along_a, along_b;
  size_t scratch;
};
/* The clocks that a product takes if cut up so, by a model: per step the tensor cores' or what 44
   bytes a clock from the L2 cache take, and what was measured beside the steps. */
static double gt__clocks(const gt__product *j, int blocks, gt__cut_up c) {
  const gt__hopper_args *p = &j->p;
  const double rows = ceil(p->m / (128.0 * c.down)), columns = ceil(p->n / (double)c.wide);
  const double units = rows * columns * p->batches * c.spread, room = blocks / c.down;
  const double steps = ceil((p->k + 63) / 64 / (double)c.spread);
  const double busy = units < room ? units / room : 1, compute = c.wide * 4.0 * j->products;
  const double bytes = 128.0 * j->pieces * (128 + c.wide / (double)c.down) * busy;
  return ceil(units / room) * (steps * fmax(compute, bytes / 44) + 1500) + 6000 +
         (j->through || c.spread > 1 ? 6000 + c.spread * 8.0 * p->m * p->n / 1500 : 0);
}
static gt__cut_up gt__choose(const gt__product *j, int blocks) {
  static const gt__cut_up all[] = {      /* 0: parts for all blocks */
    {128, 1, 1}, {128, 2, 1}, {128, 1, 0}, {64, 1, 1}, {64, 2, 1}, {64, 1, 0},
    {192, 1, 1}, {192, 2, 1}, {256, 1, 1}, {256, 2, 1}, {256, 1, 0}};
  const int64_t steps = (j->p.k + 63) / 64;
  gt__cut_up best = all[0];
  double least = gt__clocks(j, blocks, best);
  for (gt__cut_up c : all) {
    const double tiles = ceil(j->p.m / 128.0) * ceil(j->p.n / (double)c.wide) * j->p.batches;
    if (c.spread == 0) c.spread = (int)fmin(blocks / tiles, (double)(steps / 4));
    if (c.spread == 0 || (j->products > 1 && c.wide != 128)) continue;
    const double clocks = gt__clocks(j, blocks, c);
    if (clocks < least) least = clocks, best = c;
  }
  return best;
}

/* A part of the scratch memory, which has no address yet when its size is asked for. */
static char *gt__carve(gt__product *j, const gt__matmul_args *x, size_t bytes) {
  char *part = x->post.scratch ? (char *)x->post.scratch + j->scratch : NULL;
  j->scratch += (bytes + 255) / 256 * 256;
  return part;
}
/* How operand i lies, and whether it must be packed. */
static void gt__see(gt__product *j, int i, const gt__matmul_args *x, const gt__factor &f) {
  gt__pack_operand *o = &j->pack.x[i];
  const int64_t k = j->p.k;
  const bool along = f.k_stride == 1 ? f.mn_stride != 1 || k >= f.mn : f.mn_stride != 1;
  o->data = f.x->data;
  o->along_k = along;
  o->wide = (int)(along ? k : f.mn);
  o->lines = (int)(along ? f.mn : k);
  o->stride = along ? f.k_stride : f.mn_stride;
  o->line_stride = along ? f.mn_stride : f.k_stride;
  o->batch_stride = f.batch;
  o->batch = f.batch ? (int)x->batch : 1;
  (i ? j->along_b : j->along_a) = along;
  (i ? j->p.b_step : j->p.a_step) = f.batch ? j->pieces : 0;
  if (j->dtype != GT_FLOAT32 && o->stride == 1 && (uintptr_t)o->data % 16 == 0 &&
      o->line_stride % 8 == 0 && o->line_stride >= o->wide && f.batch % 8 == 0 && f.batch >= 0)
    return;
  o->pitch = (int)gt__up(o->wide, 8);
  o->tiles = along ? (o->lines + 7) / 8 : (o->wide + 127) / 128;
  o->to = (uint16_t *)gt__carve(j, x, (size_t)o->batch * j->pieces * o->lines * o->pitch * 2);
  j->packs |= 1 << i;
  if (j->dtype != GT_FLOAT32) return;
  o->top = (uint32_t *)gt__carve(j, x, (size_t)o->batch * j->pack.chunks * f.mn * 4);
  (i ? j->p.b_top : j->p.a_top) = o->top;
}
/* Is the program alpha * product [+ an operand][, relu] or less? What there is of it. */
static bool gt__is_linear(const gt__program *g, float *alpha, int *bias, int *relu) {
  int pc = 1;
  *alpha = 1;
  if (g->n_ins < 1 || g->ins[0].op != GT__LOAD || g->ins[0].b != 0) return false;
  if (pc < g->n_ins && g->ins[pc].op == GT__OP_mul) {
    const int k = g->ins[pc++].b - g->n_in;
    if (k < 0 || k >= g->n_const) return false;
    *alpha = g->constant[k].s;
  }
  if (pc < g->n_ins && g->ins[pc].op == GT__OP_add && g->ins[pc].b > 0 && g->ins[pc].b < g->n_in)
    *bias = g->ins[pc++].b;
  if (pc < g->n_ins && g->ins[pc].op == GT__OP_relu) *relu = 1, pc++;
  return pc == g->n_ins;
}
/* Do the batch dims of an operand act as one? Then *stride leads from matrix to matrix. */
static bool gt__one_batch(const gt__matmul_args *x, const gt__operand *o, int64_t *stride) {
  int64_t next = 0;
  bool first = true, one = true;
  *stride = 0;
  for (int d = x->n_batch - 1; d >= 0; d--) {
    if (x->post.size[d] == 1) continue;
    if (first) *stride = o->stride[d];
    else one = one && o->stride[d] == next;
    next = o->stride[d] * x->post.size[d];
    first = false;
  }
  return one;
}
/* Where C goes: by the copy engine with alpha, bias and relu, or through scratch. */
static void gt__plan_output(gt__product *j, const gt__matmul_args *x, int64_t row,
                            int64_t column) {
  const gt__operand *out = &x->post.out;
  gt__hopper_args *p = &j->p;
  const int size = out->dtype == GT_FLOAT32 ? 4 : 2, line = x->post.ndim - 1;
  int64_t batch;
  int bias = 0;
  const bool one = gt__one_batch(x, out, &batch);
  const bool linear = gt__is_linear(&x->post.program, &p->alpha, &bias, &p->relu);
  const bool known =
      out->dtype == GT_FLOAT32 || out->dtype == GT_FLOAT16 || out->dtype == GT_BFLOAT16;
  const int made = j->dtype != GT_FLOAT32 ? j->dtype : j->products > 1 ? GT_FLOAT32 : GT_BFLOAT16;
  j->gather.row = row, j->gather.column = column, j->gather.batch = batch;
  j->simple = one && linear && known && !bias && !p->relu;
  j->through = !one || !linear || column != 1 || (uintptr_t)out->data % 16 != 0 ||
               row * size % 16 != 0 || batch * size % 16 != 0 || row < p->n || batch < 0 ||
               p->n * size % 16 != 0 ||  /* it stores 16 bytes at once */
               (out->dtype != GT_FLOAT32 && out->dtype != made);
  if (bias) {
    const gt__operand *o = &x->post.in[bias];
    for (int d = 0; d < line; d++) j->through = j->through || o->stride[d] != 0;
    p->bias = o->data;
    p->bias_stride = o->stride[line] << o->size_log2;
    p->bias_dtype = o->dtype;
  }
}
/* C, in parts, goes through scratch. */
static void gt__go_through(gt__product *j, const gt__matmul_args *x, int64_t m, int64_t n,
                           int parts) {
  gt__gather_args *g = &j->gather;
  j->through = true;
  g->to = x->post.out.data;
  g->parts = parts, g->m = (int)m, g->n = (int)n, g->alpha = j->p.alpha;
  g->pitch = gt__up(n, 4);
  g->part = g->pitch * m;
  g->from = (float *)gt__carve(j, x, (size_t)g->part * parts * x->batch * 4);
}
/* At most 16 rows or columns. */
static void gt__plan_skinny(const gt__matmul_args *x, gt__product *j, int blocks) {
  const int64_t *c = x->post.out.stride + x->n_batch;
  j->skinny = true;
  j->turned = x->n < x->m;               /* few columns are few rows of C' = B' x A' */
  const int64_t m = j->turned ? x->n : x->m, n = j->turned ? x->m : x->n;
  const int64_t strips = ((n - 1) / 256 + 1) * x->batch;
  int64_t parts = 2 * blocks / strips;
  if (parts > x->k / 64) parts = x->k / 64;
  if (parts < 1) parts = 1;
  j->k_part = gt__up((x->k - 1) / parts + 1, 16);
  gt__plan_output(j, x, c[j->turned], c[!j->turned]);
  gt__go_through(j, x, m, n, (int)((x->k - 1) / j->k_part + 1));
}
/* Works out everything but the tensor maps; false: the general kernel has to do it. */
static bool gt__plan_product(const gt__matmul_args *x, gt__product *j) {
  gt__hopper_args *p = &j->p;
  gt__factor a = {&x->a, x->m, x->a_row, x->a_col, 0}, b = {&x->b, x->n, x->b_col, x->b_row, 0};
  bool hopper;
  const int blocks = gt__multiprocessors(&hopper);
  const int64_t few = x->m < x->n ? x->m : x->n, many = x->m < x->n ? x->n : x->m;
  int64_t row = x->post.out.stride[x->n_batch], column = x->post.out.stride[x->n_batch + 1];
  memset(j, 0, sizeof *j);
  j->dtype = x->a.dtype;
  if (x->compute != GT__F32 || x->k < 1 || x->k > INT_MAX / 4 || many > INT_MAX / 4 ||
      x->batch > 65535) return false;
  const bool halves = j->dtype == GT_FLOAT16 || j->dtype == GT_BFLOAT16;
  if (few <= (hopper && halves ? 0 : 16) && x->k * many >= 1 << 16) {
    gt__plan_skinny(x, j, blocks);
    return true;
  }
  /* float32: below 16 of K the pieces' error shows; a small product is not worth two launches */
  if (!hopper || x->a.dtype != x->b.dtype || (!halves && j->dtype != GT_FLOAT32) ||
      (!halves && (x->k < 16 || (double)few * many * x->k <= 1 << 21)) ||
      !gt__one_batch(x, &x->a, &a.batch) || !gt__one_batch(x, &x->b, &b.batch)) return false;
  j->products = halves || x->precision == GT_MEDIUM ? 1 : x->precision == GT_HIGH ? 3 : 6;
  j->pieces = j->products == 6 ? 3 : j->products == 3 ? 2 : 1;
  j->turned = x->m <= 64 && x->n > x->m;         /* few rows are few columns of C' = B' x A' */
  if (j->turned) {
    const gt__factor f = a;
    const int64_t s = row;
    a = b, b = f, row = column, column = s;
  }
  p->m = (int)a.mn, p->n = (int)b.mn, p->k = (int)x->k, p->batches = (int)x->batch;
  gt__plan_output(j, x, row, column);
  j->cut = gt__choose(j, blocks);
  p->down = j->cut.down, p->spread = j->cut.spread;
  p->batches *= p->spread;
  p->columns = (p->n + j->cut.wide - 1) / j->cut.wide;
  p->rows = (p->m + 128 * p->down - 1) / (128 * p->down);
  j->through = j->through || p->spread > 1;
  p->as_float = j->through || x->post.out.dtype == GT_FLOAT32;
  p->a_data = (const float *)a.x->data, p->b_data = (const float *)b.x->data;
  p->a_row = a.mn_stride, p->a_col = a.k_stride, p->a_batch = a.batch;
  p->b_row = b.k_stride, p->b_col = b.mn_stride, p->b_batch = b.batch;
  j->pack.chunk = (int)gt__up((p->k + 15) / 16, 128);
  p->chunks = j->pack.chunks = (p->k + j->pack.chunk - 1) / j->pack.chunk;
  gt__see(j, 0, x, a);
  gt__see(j, 1, x, b);
  if (j->through) {
    gt__go_through(j, x, p->m, p->n, p->spread);
    p->alpha = 1, p->bias = NULL, p->relu = 0;
  }
  return true;
}

#define GT__FORMS(T, Out, WIDE, PRODUCTS) \
  {GT__POINTER(gt__hopper_kernel<gt__plan<T, Out, WIDE, PRODUCTS, false, false>>), \
   GT__POINTER(gt__hopper_kernel<gt__plan<T, Out, WIDE, PRODUCTS, false, true>>), \
   GT__POINTER(gt__hopper_kernel<gt__plan<T, Out, WIDE, PRODUCTS, true, false>>), \
   GT__POINTER(gt__hopper_kernel<gt__plan<T, Out, WIDE, PRODUCTS, true, true>>)}
#define GT__WIDTHS(T) \
  GT__FORMS(T, T, 64, 1), GT__FORMS(T, T, 128, 1), GT__FORMS(T, T, 192, 1), GT__FORMS(T, T, 256, 1)
/* [what][A along K, B along K] */
static const void *const gt__hopper_kernels[10][4] = {
  GT__WIDTHS(gt__bfloat), GT__WIDTHS(gt__half), GT__FORMS(gt__bfloat, float, 128, 3),
  GT__FORMS(gt__bfloat, float, 128, 6)};
#undef GT__FORMS
#undef GT__WIDTHS
static const void *const gt__pack_kernels[4] = { /* for 16 bits, then by pieces */
  GT__POINTER(gt__pack_kernel<uint16_t, 1>), GT__POINTER(gt__pack_kernel<uint32_t, 1>),
  GT__POINTER(gt__pack_kernel<uint32_t, 2>), GT__POINTER(gt__pack_kernel<uint32_t, 3>)};
static const void *const gt__gather_kernels[3] = {GT__POINTER(gt__gather_kernel<float>),
  GT__POINTER(gt__gather_kernel<gt__half>), GT__POINTER(gt__gather_kernel<gt__bfloat>)};
static const void *const gt__skinny_kernels[2] = {GT__POINTER(gt__skinny_kernel<4>),
                                                  GT__POINTER(gt__skinny_kernel<16>)};
static int gt__launch_pack(gt__product *j, void *stream) {
  gt__pack_operand *x = j->pack.x;
  int batches = 1;
  for (int i = 0; i < 2; i++) {
    if (!(j->packs >> i & 1)) x[i].tiles = 0;
    else if (x[i].batch > batches) batches = x[i].batch;
  }
  void *parameters[] = {&j->pack};
  return gt__launch_behind(gt__pack_kernels[j->dtype == GT_FLOAT32 ? j->pieces : 0],
                           dim3(x[0].tiles + x[1].tiles, j->pack.chunks, batches), 256, 0, 1,
                           stream, parameters);
}
static int gt__launch_gather(gt__gather_args *g, int dtype, int64_t batch, void *stream) {
  const dim3 grid((unsigned)((g->m + 7) / 8) * ((g->n + 127) / 128), (unsigned)batch);
  const int kernel = dtype == GT_FLOAT32 ? 0 : dtype == GT_FLOAT16 ? 1 : 2;
  void *parameters[] = {g};
  return gt__launch_behind(gt__gather_kernels[kernel], grid, 256, 0, 1, stream, parameters);
}
/* From scratch to C: a plain copy, or a map of the program with the product as its input 0. */
static int gt__finish_product(const gt__matmul_args *x, gt__product *j, void *stream) {
  gt__gather_args *g = &j->gather;
  const int nb = x->n_batch;
  int code = 0;
  if (j->simple) return gt__launch_gather(g, x->post.out.dtype, x->batch, stream);
  if (g->parts > 1) {                    /* their sum takes the place of the first */
    gt__gather_args sum = *g;
    sum.to = (void *)g->from;
    sum.row = g->pitch, sum.column = 1, sum.batch = g->part * g->parts;
    sum.alpha = 1;
    code = gt__launch_gather(&sum, GT_FLOAT32, x->batch, stream);
  }
  gt__map_args m = x->post;
  gt__operand *in = &m.in[0];
  int64_t stride = g->part * g->parts;
  in->data = (char *)g->from;
  in->dtype = GT_FLOAT32;
  in->size_log2 = 2;
  in->stride[nb] = j->turned ? 1 : g->pitch;
  in->stride[nb + 1] = j->turned ? g->pitch : 1;
  for (int d = nb - 1; d >= 0; stride *= m.size[d--]) in->stride[d] = stride;
  m.narrow = m.narrow && stride < INT32_MAX / 4;
  m.scratch = NULL;
  return code ? code : gt__cuda_map(&m, stream);
}
static int gt__launch_hopper(const gt__matmul_args *x, gt__product *j, void *stream) {
  gt__hopper_args *p = &j->p;
  const gt__gather_args *g = &j->gather;
  const int type = j->dtype == GT_FLOAT16 ? GT_FLOAT16 : GT_BFLOAT16;
  int e = j->packs ? gt__launch_pack(j, stream) : 0;
  for (int i = 0; i < 2 && !e; i++) {
    const gt__pack_operand *o = &j->pack.x[i];
    const bool packed = j->packs >> i & 1;
    const int64_t line = packed ? o->pitch : o->line_stride;
    e = gt__make_map(i ? &p->b : &p->a, type, packed ? (const void *)o->to : o->data, o->wide,
                     o->lines, (int64_t)o->batch * j->pieces, line,
                     packed ? line * o->lines : o->batch_stride);
  }
  if (!e && j->through)
    e = gt__make_map(&p->c, GT_FLOAT32, g->from, g->pitch, p->m, p->batches, g->pitch, g->part);
  else if (!e)
    e = gt__make_map(&p->c, x->post.out.dtype, x->post.out.data, p->n, p->m, p->batches, g->row,
                     g->batch);
  if (e) return e;
  const int what = j->products == 6 ? 9 : j->products == 3 ? 8
                   : j->cut.wide / 64 - 1 + (type == GT_FLOAT16 ? 4 : 0);
  bool hopper;
  const int units = p->rows * p->columns * p->batches;
  const int room = gt__multiprocessors(&hopper) / p->down;
  void *parameters[] = {p};
  return gt__launch_behind(gt__hopper_kernels[what][2 * j->along_a + j->along_b],
                           dim3((units < room ? units : room) * p->down), 3 * GT__TEAM, GT__ROOM,
                           p->down, stream, parameters);
}
static int gt__launch_skinny(const gt__matmul_args *x, gt__product *j, void *stream) {
  gt__gather_args *g = &j->gather;
  gt__matmul_args turned = *x;
  if (j->turned) {
    turned.a = x->b, turned.a_row = x->b_col, turned.a_col = x->b_row, turned.m = x->n;
    turned.b = x->a, turned.b_row = x->a_col, turned.b_col = x->a_row, turned.n = x->m;
  }
  void *parameters[] = {&turned, g, &j->k_part};
  return gt__launch(gt__skinny_kernels[g->m > 4], dim3(gt__blocks(g->n, 256), g->parts,
                    (unsigned)x->batch), 256, 0, stream, parameters);
}

extern "C" int gt__cuda_matmul(const gt__matmul_args *args, void *stream) {
  const gt__program *p = &args->post.program;
  if (!gt__is_program(p) || p->n_in < 1 || args->compute != p->compute ||
      args->m < 0 || args->n < 0 || args->k < 0 || args->batch < 0)
    return cudaErrorInvalidValue;
  if (args->m == 0 || args->n == 0 || args->batch == 0) return cudaSuccess;
  gt__product job;
  if (gt__plan_product(args, &job) && (job.scratch == 0 || args->post.scratch)) {
    const int code = job.skinny ? gt__launch_skinny(args, &job, stream)
                                : gt__launch_hopper(args, &job, stream);
    return code || !job.through ? code : gt__finish_product(args, &job, stream);
  }
  int64_t tiles = ((args->m - 1) / 128 + 1) * ((args->n - 1) / 128 + 1);
  const bool large = args->compute != GT__I64 && tiles * args->batch >= 64 && args->m > 64 &&
                     args->n > 64;
  if (!large) tiles = ((args->m - 1) / 64 + 1) * ((args->n - 1) / 64 + 1);
  int active = 256;                      /* threads in the epilogue: as many as the slots allow */
  while (active > 64 && active * 32 * gt__slot_count(p) > GT__SHARED) active /= 2;
  static_assert((int)gt__tile<float, 2>::BYTES == (int)gt__tile<double, 2>::BYTES, "as below");
  const void *kernel = gt__matmul_kernels[p->compute + (large ? 3 : 0)][gt__is_heavy(p)];
  const size_t pieces = large ? gt__tile<float, 2>::BYTES : gt__tile<float, 1>::BYTES;
  const size_t slots = (size_t)active * 32 * gt__slot_count(p);
  const dim3 grid(gt__blocks(tiles, 1), 1, (unsigned)(args->batch < 65535 ? args->batch : 65535));
  void *parameters[] = {(void *)args, &tiles, &active};
  return gt__launch(kernel, grid, 256, pieces > slots ? pieces : slots, stream, parameters);
}

/* Bytes that gt__cuda_matmul needs in post.scratch. */
extern "C" size_t gt__cuda_matmul_scratch(const gt__matmul_args *args) {
  gt__product job;
  const bool none = args->m == 0 || args->n == 0 || args->batch == 0;
  return !none && gt__plan_product(args, &job) ? job.scratch : 0;
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
/* Makes elements as wide as 1 << most bytes where possible: rows picked by an index move faster. */
static int gt__widen(gt__copy_args *a, int size_log2, int most) {
  const int last = a->ndim - 1;
  int n_log2 = 0;
  if (last < 0 || a->dst.stride[last] != 1 || a->src.stride[last] != 1 ||
      (a->index.data && a->gather_dim == last))
    return size_log2;
  while (size_log2 + n_log2 < most && gt__can_join(a, 2 << n_log2, 2 << (size_log2 + n_log2)))
    n_log2++;
  a->size[last] >>= n_log2;
  a->count >>= n_log2;
  for (int d = 0; d < last; d++) {
    a->dst.stride[d] /= 1 << n_log2;
    a->src.stride[d] /= 1 << n_log2;
  }
  return size_log2 + n_log2;
}
/* Elements of the same size are copied by a map that loads and stores bits. */
static int gt__copy_by_map(const gt__copy_args *c, int size_log2, void *stream) {
  static const uint8_t dtype[] = {GT__RAW_8, GT__RAW_16, GT_FLOAT32, GT_FLOAT64};
  gt__map_args m;
  m.count = c->count;
  m.ndim = c->ndim ? c->ndim : 1;
  m.size[0] = 1;
  memcpy(m.size, c->size, c->ndim * sizeof *m.size);
  m.narrow = c->narrow;
  m.scratch = NULL;
  m.out = c->dst;
  m.in[0] = c->src;
  m.out.size_log2 = m.in[0].size_log2 = (uint8_t)size_log2;
  m.out.dtype = m.in[0].dtype = dtype[size_log2];
  m.program.compute = size_log2 == 3 ? GT__F64 : GT__F32;
  m.program.heavy = m.program.n_const = 0;
  m.program.n_in = m.program.n_slot = m.program.n_ins = 1;
  m.program.ins[0].op = GT__LOAD;
  m.program.ins[0].b = 0;
  return gt__cuda_map(&m, stream);
}
extern "C" int gt__cuda_copy(const gt__copy_args *args, void *stream) {
  if (args->kind != GT__ELEMENTS || args->count < 0 || args->dst.dtype != args->src.dtype ||
      args->dst.dtype >= GT_DTYPES)
    return cudaErrorInvalidValue;
  if (args->count == 0) return cudaSuccess;
  gt__copy_args wide = *args;
  const int size = gt__widen(&wide, args->dst.size_log2, args->index.data ? 4 : 3);
  if (!args->index.data) return gt__copy_by_map(&wide, size, stream);
  void *parameters[] = {&wide};
  return gt__launch(gt__copy_kernels[size], gt__blocks(wide.count, 256), 256, 0, stream,
                    parameters);
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
/* Kernels with much shared memory must say so before they are launched. */
static int gt__warm_hopper(void) {
  bool hopper;
  int error = gt__warm(gt__pack_kernels, 4);
  gt__multiprocessors(&hopper);
  for (int i = 0; i < 40 && !error && hopper; i++)
    error = cudaFuncSetAttribute(gt__hopper_kernels[i / 4][i % 4],
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, GT__ROOM);
  return error;
}
/* Kernels load at their first use, which may wait for the device; this loads all of them. */
extern "C" int gt__cuda_warmup(void) {
  int error = gt__warm(gt__map_kernels[0][0], 18);
  if (!error) error = gt__warm(gt__reduce_kernels, 16);
  if (!error) error = gt__warm(gt__soft_kernels, 5);
  if (!error) error = gt__warm(gt__combine_kernels, 3);
  if (!error) error = gt__warm(gt__matmul_kernels[0], 10);
  if (!error) error = gt__warm(gt__skinny_kernels, 2);
  if (!error) error = gt__warm(gt__gather_kernels, 3);
  if (!error) error = gt__warm_hopper();
  const void *table = GT__POINTER(gt__table_kernel);
  if (!error) error = gt__warm(&table, 1);
  return error ? error : gt__warm(gt__copy_kernels, 5);
}

#undef GT__POINTER
#undef GT__SATURATE
#undef GT__EACH
#undef GT__RESIDENT
#undef GT__DEV
