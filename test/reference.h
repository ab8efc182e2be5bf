/* The operations once more, written apart from the library: plain C where IEEE 754 decides the
   bits,
   long double where a bound in ULP holds, __int128 or unsigned words for integers. A name of the
   library's table that is missing here fails the tests. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 wide;
#else /* 32 bits: with -fwrapv; division of 64 bits is a function there, which does not trap */
typedef int64_t wide;
#endif

/* ---- exact: the same bits as these, for float and double. M(f) is f or ff. ---- */
#define M_f32(g) g##f
#define M_f64(g) g
#define REF_REMAINDERS(T, M) \
  static T ref_remainder_##T(T a, T b) { \
    const T r = M(fmod)(a, b); \
    return r != 0 && (r < 0) != (b < 0) ? r + b : r; \
  } \
  static T ref_floor_div_##T(T a, T b) { \
    T r, q, f; \
    if (b == 0) return a / b; \
    r = M(fmod)(a, b); \
    q = (a - r) / b; \
    if (r != 0 && (r < 0) != (b < 0)) q -= 1; \
    if (q == 0) return M(copysign)(0, a / b); \
    f = M(floor)(q); \
    return q - f > (T)0.5 ? f + 1 : f; \
  } \
  static T ref_maximum_##T(T a, T b) { \
    if (a != a || b != b) return a + b; \
    if (a == 0 && b == 0) return signbit(a) ? b : a; \
    return a > b ? a : b; \
  } \
  static T ref_minimum_##T(T a, T b) { \
    if (a != a || b != b) return a + b; \
    if (a == 0 && b == 0) return signbit(a) ? a : b; \
    return a < b ? a : b; \
  } \
  static T ref_round_##T(T a) { \
    T f, d; \
    if (!(M(fabs)(a) < (T)0x1p52)) return a; \
    f = M(floor)(a); \
    d = a - f; \
    if (d > (T)0.5 || (d == (T)0.5 && M(fmod)(f, 2) != 0)) f += 1; \
    return M(copysign)(f, a); \
  }
REF_REMAINDERS(float, M_f32)
REF_REMAINDERS(double, M_f64)

#define REF_EXACT(X, T, M) \
  X(add, a + b) X(sub, a - b) X(rsub, b - a) X(mul, a * b) X(div, a / b) X(rdiv, b / a) \
  X(floor_div, ref_floor_div_##T(a, b)) X(remainder, ref_remainder_##T(a, b)) \
  X(fmod, M(fmod)(a, b)) \
  X(maximum, ref_maximum_##T(a, b)) X(minimum, ref_minimum_##T(a, b)) \
  X(leaky_relu, a > 0 ? a : a * b) X(neg, -a) X(abs, M(fabs)(a)) \
  X(sign, (T)((a > 0) - (a < 0))) \
  X(floor, M(floor)(a)) X(ceil, M(ceil)(a)) X(round, ref_round_##T(a)) X(trunc, M(trunc)(a)) \
  X(square, a * a) X(relu, a != a ? a : a > 0 ? a : 0) \
  X(sqrt, M(sqrt)(a)) X(reciprocal, 1 / a) \
  X(eq, a == b) X(ne, !(a == b)) X(lt, a < b) X(le, a <= b) X(gt, a > b) X(ge, a >= b) \
  X(logical_and, a != 0 && b != 0) X(logical_or, a != 0 || b != 0) \
  X(logical_xor, (a != 0) != (b != 0)) X(logical_not, !(a != 0)) \
  X(isnan, isnan(a) != 0) X(isinf, isinf(a) != 0) X(isfinite, isfinite(a) != 0) \
  X(where, a != 0 ? b : c) \
  X(clamp, ref_minimum_##T(ref_maximum_##T(a, b), c)) \
  X(fma, M(fma)(a, b, c))

#define REF_DEFINE(T, M, name, e) \
  static T ref_##name##_x_##T(T a, T b, T c) { (void)a, (void)b, (void)c; return (T)(e); }
#define REF_DEFINE_F(name, e) REF_DEFINE(float, M_f32, name, e)
#define REF_DEFINE_D(name, e) REF_DEFINE(double, M_f64, name, e)
REF_EXACT(REF_DEFINE_F, float, M_f32)
REF_EXACT(REF_DEFINE_D, double, M_f64)

/* ---- within a bound: name, bound for float, bound for double (ULP), long double formula ---- */
static long double ref_silu(long double x) {
  return isinf(x) && x < 0 ? -0.0L : x / (1 + expl(-x)); /* the limit */
}
static long double ref_sigmoid(long double x) {
  return x >= 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x));
}
static long double ref_gelu(long double x) {
  return isinf(x) && x < 0 ? -0.0L : x / 2 * erfcl(-x * 0.707106781186547524400844362104849039L);
}
static long double ref_softplus(long double x) {
  return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}
/* Some powl go wrong for exponents beyond 2^62; there the result is 0, 1 or infinite in double
   too. */
static long double ref_pow(long double a, long double b) {
  return fabsl(b) >= 0x1p62L || isinf(a) ? pow((double)a, (double)b) : powl(a, b);
}
#define REF_CLOSE(X) \
  X(exp, 2, 2, expl(a)) X(exp2, 2, 2, exp2l(a)) X(expm1, 2, 2, expm1l(a)) \
  X(log, 2, 2, logl(a)) X(log2, 2, 2, log2l(a)) X(log10, 2, 2, log10l(a)) \
  X(log1p, 2, 2, log1pl(a)) \
  X(sin, 2, 2, sinl(a)) X(cos, 2, 2, cosl(a)) X(tan, 2, 2, tanl(a)) \
  X(asin, 4, 2, asinl(a)) X(acos, 4, 2, acosl(a)) X(atan, 4, 2, atanl(a)) \
  X(sinh, 2, 2, sinhl(a)) X(cosh, 2, 2, coshl(a)) X(tanh, 2, 2, tanhl(a)) \
  X(sigmoid, 2, 2, ref_sigmoid(a)) X(softplus, 2, 2, ref_softplus(a)) \
  X(gelu, 4, 5, ref_gelu(a)) X(silu, 4, 3, ref_silu(a)) X(erf, 4, 2, erfl(a)) \
  X(rsqrt, 2, 2, 1 / sqrtl(a)) X(hypot, 2, 2, hypotl(a, b)) X(atan2, 4, 2, atan2l(a, b)) \
  X(pow, 4, 2, ref_pow(a, b)) X(lerp, 4, 4, a + c * (b - a))
#define REF_DEFINE_L(name, u, v, e) \
  static long double ref_##name##_l(long double a, long double b, long double c) { \
    (void)a, (void)b, (void)c; \
    return e; \
  }
REF_CLOSE(REF_DEFINE_L)

/* ---- integers ---- */
static int64_t ref_wrap(wide x) { return (int64_t)(uint64_t)x; }
static int64_t ref_ifloor_div(int64_t a, int64_t b) {
  wide q;
  if (b == 0) return 0;
  q = (wide)a / b;
  return ref_wrap((wide)a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
}
static int64_t ref_ipow(int64_t a, int64_t b) {
  uint64_t r = 1;
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  if (b > 200) { /* parity and the low bits are enough: square and multiply is the library's way */
    uint64_t x = (uint64_t)a;
    for (; b; b >>= 1, x *= x)
      if (b & 1) r *= x;
    return (int64_t)r;
  }
  while (b-- > 0) r *= (uint64_t)a;
  return (int64_t)r;
}
#define REF_INT(X) \
  X(add, ref_wrap((wide)a + b)) X(sub, ref_wrap((wide)a - b)) X(rsub, ref_wrap((wide)b - a)) \
  X(mul, ref_wrap((wide)a * b)) X(floor_div, ref_ifloor_div(a, b)) \
  X(remainder, b == 0 ? 0 : ref_wrap((wide)a - (wide)b * ref_ifloor_div(a, b))) \
  X(fmod, b == 0 ? 0 : ref_wrap((wide)a % b)) X(pow, ref_ipow(a, b)) \
  X(maximum, a >= b ? a : b) X(minimum, a <= b ? a : b) \
  X(leaky_relu, a > 0 ? a : ref_wrap((wide)a * b)) X(neg, ref_wrap(-(wide)a)) \
  X(abs, ref_wrap(a < 0 ? -(wide)a : a)) X(sign, (a > 0) - (a < 0)) \
  X(floor, a) X(ceil, a) X(round, a) X(trunc, a) X(square, ref_wrap((wide)a * a)) \
  X(relu, a < 0 ? 0 : a) \
  X(eq, a == b) X(ne, a != b) X(lt, a < b) X(le, a <= b) X(gt, a > b) X(ge, a >= b) \
  X(logical_and, a && b) X(logical_or, a || b) X(logical_xor, !a != !b) X(logical_not, !a) \
  X(isnan, 0) X(isinf, 0) X(isfinite, 1) \
  X(bitwise_and, a & b) X(bitwise_or, a | b) X(bitwise_xor, a ^ b) X(bitwise_not, ~a) \
  X(bitwise_left_shift, b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b)) \
  X(bitwise_right_shift, b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b) \
  X(where, a ? b : c) X(clamp, (a < b ? b : a) > c ? c : (a < b ? b : a)) \
  X(fma, ref_wrap((wide)ref_wrap((wide)a * b) + c))
#define REF_DEFINE_I(name, e) \
  static int64_t ref_##name##_i(int64_t a, int64_t b, int64_t c) { \
    (void)a, (void)b, (void)c; \
    return e; \
  }
REF_INT(REF_DEFINE_I)

/* ---- by name ---- */
typedef struct reference {
  const char *name;
  float (*f32)(float, float, float);       /* exact, or NULL */
  double (*f64)(double, double, double);
  long double (*close)(long double, long double, long double); /* within bounds, or NULL */
  double bound32, bound64;
  int64_t (*i64)(int64_t, int64_t, int64_t);
} reference;

static reference ref_find(const char *name) {
  static const struct { const char *name; float (*f)(float, float, float);
                        double (*d)(double, double, double); } exact[] = {
#define REF_ROW(name, e) {#name, ref_##name##_x_float, ref_##name##_x_double},
      REF_EXACT(REF_ROW, float, M_f32)};
  static const struct { const char *name; double bound32, bound64;
                        long double (*l)(long double, long double, long double); } close_[] = {
#define REF_ROW_L(name, u, v, e) {#name, u, v, ref_##name##_l},
      REF_CLOSE(REF_ROW_L)};
  static const struct { const char *name; int64_t (*i)(int64_t, int64_t, int64_t); } whole[] = {
#define REF_ROW_I(name, e) {#name, ref_##name##_i},
      REF_INT(REF_ROW_I)};
  reference r;
  size_t i;
  memset(&r, 0, sizeof r);
  for (i = 0; i < sizeof exact / sizeof *exact; i++)
    if (!strcmp(exact[i].name, name)) {
      r.name = name;
      r.f32 = exact[i].f;
      r.f64 = exact[i].d;
    }
  for (i = 0; i < sizeof close_ / sizeof *close_; i++)
    if (!strcmp(close_[i].name, name)) {
      r.name = name;
      r.close = close_[i].l;
      r.bound32 = close_[i].bound32;
      r.bound64 = close_[i].bound64;
    }
  for (i = 0; i < sizeof whole / sizeof *whole; i++)
    if (!strcmp(whole[i].name, name)) {
      r.name = name;
      r.i64 = whole[i].i;
    }
  return r;
}

/* Distance of `got` from `ref` in ULP of a format with `digits` bits and smallest exponent `low`:
   0 for equal infinities and for two NaNs, huge where one of them is special and the other is
   not. */
static double ulp_error(long double ref, double got, int digits, int low) {
  const int high = digits == 24 ? 128 : 1024; /* values from 2^high on are infinite */
  const long double limit = ldexpl(1, high);
  long double value = got, unit;
  int e;
  if (ref != ref || got != got) return ref != ref && got != got ? 0 : 1e30;
  if (ref > limit) ref = limit;
  if (ref < -limit) ref = -limit;
  if (isinf(got)) value = got > 0 ? limit : -limit;
  if (ref == value) return 0;
  e = ref == 0 ? low : ilogbl(ref);
  if (e < low) e = low;
  if (e >= high) e = high - 1;
  unit = ldexpl(1, e - digits + 1);
  return (double)(fabsl(value - ref) / unit);
}
#endif
