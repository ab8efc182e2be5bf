/* What every test program shares: cases that are counted, checks that print values, a generator
   with a printed seed, buffers with guard bytes, and conversions written apart from the library's. */
#ifndef CHECK_H
#define CHECK_H

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "../gputensor.h"
#include "hooks.h"

#define UNUSED __attribute__((unused))
#if defined(__MINGW_PRINTF_FORMAT)
#define PRINTF(i, j) __attribute__((format(__MINGW_PRINTF_FORMAT, i, j)))
#else
#define PRINTF(i, j) __attribute__((format(printf, i, j)))
#endif

static int check_passed, check_failed, check_skipped; /* cases */
static int check_bad, check_shown;                    /* bad checks of this case, lines printed */
static int check_unseen;    /* this case could not look: it has not passed, but is skipped */
static char check_name[200];
static const char *check_program = "test";
static int64_t check_handles;
static gt_device DEV;       /* where the tests run: the CPU, or a GPU: --device cuda, cuda:1 */
static int QUICK;           /* --quick: a short version, for slow tools */
static int BY_DIGEST;       /* --by-digest: no error is measured; the digest has to be another run's */
static FILE *check_messages; /* every error message goes here: errors.sh wants each seen once */
UNUSED static int is_gpu(gt_device d) { /* and not the simulated CUDA runtime */
  return d.type == GT_CUDA && !strstr(gt_device_name(d), "simulated");
}

/* ---- cases and checks ---- */
static void check_report(const char *file, int line, const char *format, ...) PRINTF(3, 4);
static void check_report(const char *file, int line, const char *format, ...) {
  va_list list;
  if (check_bad++ < 4 && check_shown++ < 200) {
    printf("%s:%d: [%s] ", file, line, check_name);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    printf("\n");
  }
}

#define CHECK(x) ((x) ? (void)0 : check_report(__FILE__, __LINE__, "%s", #x))
#define CHECK_TEXT(x, ...) ((x) ? (void)0 : check_report(__FILE__, __LINE__, __VA_ARGS__))
#define CHECK_INT(x, y) check_int(__FILE__, __LINE__, #x, (int64_t)(x), (int64_t)(y))
#define CHECK_NUM(x, y) check_num(__FILE__, __LINE__, #x, (double)(x), (double)(y))
#define CHECK_NEAR(x, y, tolerance) \
  check_near(__FILE__, __LINE__, #x, (double)(x), (double)(y), (double)(tolerance))
#define CHECK_STR(x, y) check_str(__FILE__, __LINE__, #x, x, y)
/* The call fails with this status and a message that contains this text; the error is cleared. */
#define REFUSED(call, status, text) \
  check_refused(__FILE__, __LINE__, #call, (call) == NULL, status, text)
#define REFUSED_STATUS(call, status, text) \
  check_refused(__FILE__, __LINE__, #call, (call) == (status), status, text)
#define REFUSED_IF(call, status, text) \
  check_refused(__FILE__, __LINE__, #call, (call), status, text)
#define NO_ERROR() check_no_error(__FILE__, __LINE__)

UNUSED static void check_int(const char *file, int line, const char *what, int64_t x, int64_t y) {
  if (x != y) check_report(file, line, "%s is %" PRId64 ", not %" PRId64, what, x, y);
}
UNUSED static void check_num(const char *file, int line, const char *what, double x, double y) {
  if (!(x == y || (x != x && y != y)))
    check_report(file, line, "%s is %.17g, not %.17g", what, x, y);
}
UNUSED static void check_near(const char *file, int line, const char *what, double x, double y,
                              double tolerance) {
  if (!(x == y || fabs(x - y) <= tolerance || (x != x && y != y)))
    check_report(file, line, "%s is %.17g, not %.17g within %.3g", what, x, y, tolerance);
}
UNUSED static void check_str(const char *file, int line, const char *what, const char *x,
                             const char *y) {
  if (!x || strcmp(x, y))
    check_report(file, line, "%s is\n  %s\nnot\n  %s", what, x ? x : "NULL", y);
}
UNUSED static void check_refused(const char *file, int line, const char *what, int refused,
                                 gt_status status, const char *text) {
  if (!refused) check_report(file, line, "%s was not refused", what);
  if (gt_error() != status)
    check_report(file, line, "%s: status %s, not %s (\"%s\")", what, gt_status_string(gt_error()),
                 gt_status_string(status), gt_error_message());
  else if (!strstr(gt_error_message(), text))
    check_report(file, line, "%s: the message \"%s\" lacks \"%s\"", what, gt_error_message(), text);
  gt_clear_error();
}
UNUSED static void check_no_error(const char *file, int line) {
  if (gt_error()) check_report(file, line, "error: %s", gt_error_message());
  gt_clear_error();
}

static void check_handler(gt_status status, const char *message, void *user) {
  (void)user;
  if (check_messages) fprintf(check_messages, "%d\t%s\n", (int)status, message);
}

UNUSED static void case_begin(const char *format, ...) PRINTF(1, 2);
UNUSED static void case_begin(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(check_name, sizeof check_name, format, list);
  va_end(list);
  check_bad = 0;
  check_unseen = 0;
  check_handles = gt_report_leaks(NULL);
}
UNUSED static void case_end(void) {
  NO_ERROR();
  CHECK_INT(gt_report_leaks(NULL), check_handles);
  if (check_bad > 4) printf("  ... %d more in [%s]\n", check_bad - 4, check_name);
  if (check_bad) check_failed++;
  else if (!check_unseen) check_passed++;
}
UNUSED static void skip(const char *name, const char *reason) {
  printf("skipped: %s: %s (%s)\n", check_program, name, reason);
  check_skipped++;
  check_unseen = 1;
}
#define RUN(name) \
  do { \
    case_begin("%s", #name); \
    GT_SCOPE { test_##name(); } \
    NO_ERROR(); \
    gt_shutdown(); /* and the library starts again */ \
    CHECK_INT(hooks_live(), 0); \
    case_end(); \
  } while (0)

/* ---- numbers that look random, from a fixed seed ---- */
static uint64_t rnd_state = 20261121;
UNUSED static uint64_t rnd(void) { /* splitmix64 */
  uint64_t z = rnd_state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
UNUSED static int64_t rnd_below(int64_t n) { return (int64_t)(rnd() % (uint64_t)n); }
UNUSED static double rnd_between(double low, double high) {
  return low + (high - low) * ((double)(rnd() >> 11) * 0x1p-53);
}

/* A double of any size between about 2^-bits and 2^bits, and an integer of any size. One call each:
   the order in which C computes two operands is the compiler's. */
UNUSED static double rnd_scaled(int bits) {
  const int e = (int)rnd_below(2 * bits) - bits;
  return ldexp(rnd_between(-2, 2), e);
}
UNUSED static int64_t rnd_int(void) {
  const int shift = (int)rnd_below(64);
  return (int64_t)rnd() >> shift;
}

/* ---- bits ---- */
UNUSED static float float_of(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
UNUSED static double double_of(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
UNUSED static uint32_t bits_of(float x) { uint32_t b; memcpy(&b, &x, 4); return b; }
UNUSED static uint64_t bits_of64(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
static uint64_t check_hash_state = 0xcbf29ce484222325u;
UNUSED static uint64_t hash_bytes(uint64_t h, const void *data, size_t n) { /* FNV-1a */
  const unsigned char *p = (const unsigned char *)data;
  while (n--) h = (h ^ *p++) * 0x100000001b3u;
  return h;
}

/* The two small floats, both directions, by the definition: sign, exponent, `man` bits. */
UNUSED static uint16_t small_encode(double x, int man, int bias) {
  const uint16_t sign = (uint16_t)(signbit(x) ? 0x8000 : 0),
                 inf = (uint16_t)((2 * bias + 1) << man);
  int e;
  double q;
  if (x != x) return (uint16_t)(inf | 1u << (man - 1));
  if (isinf(x)) return sign | inf;
  x = fabs(x);
  if (x == 0) return sign;
  e = ilogb(x);
  if (e > bias) return sign | inf;
  if (e < 1 - bias) e = 1 - bias;
  q = rint(ldexp(x, man - e)); /* ties to even */
  if (q >= ldexp(1, man + 1)) { q /= 2; e++; }
  if (e > bias) return sign | inf;
  if (q < ldexp(1, man)) return (uint16_t)(sign | (uint16_t)q);
  return (uint16_t)(sign | ((e + bias) << man) | ((int)q - (1 << man)));
}
UNUSED static double small_decode(uint16_t h, int man, int bias) {
  const int e = (h & 0x7fff) >> man, m = h & ((1 << man) - 1);
  double x;
  if (e == 2 * bias + 1) x = m ? (double)NAN : (double)INFINITY;
  else if (e == 0) x = ldexp(m, 1 - bias - man);
  else x = ldexp(m + (1 << man), e - bias - man);
  return h & 0x8000 ? -x : x;
}

/* The same from a table, since tests read many of them. */
UNUSED static double half_value(int which, uint16_t h) { /* 0 float16, 1 bfloat16 */
  static float *table[2];
  int i;
  if (!table[which]) {
    table[which] = (float *)malloc(65536 * sizeof(float));
    for (i = 0; i < 65536; i++)
      table[which][i] = (float)small_decode((uint16_t)i, which ? 7 : 10, which ? 127 : 15);
  }
  return table[which][h];
}

/* ---- elements of host arrays ---- */
UNUSED static int is_float(gt_dtype t) { return t >= GT_FLOAT16; }
UNUSED static double load(gt_dtype t, const void *p, int64_t i) {
  switch (t) {
    case GT_BOOL: case GT_UINT8: return ((const uint8_t *)p)[i];
    case GT_INT8: return ((const int8_t *)p)[i];
    case GT_INT16: return ((const int16_t *)p)[i];
    case GT_INT32: return ((const int32_t *)p)[i];
    case GT_INT64: return (double)((const int64_t *)p)[i];
    case GT_FLOAT16: return half_value(0, ((const uint16_t *)p)[i]);
    case GT_BFLOAT16: return half_value(1, ((const uint16_t *)p)[i]);
    case GT_FLOAT32: return ((const float *)p)[i];
    default: return ((const double *)p)[i];
  }
}
UNUSED static int64_t load_int(gt_dtype t, const void *p, int64_t i) {
  return t == GT_INT64 ? ((const int64_t *)p)[i] : (int64_t)load(t, p, i);
}
/* A double that lies between the same two numbers of 50 bits as x, and in the middle only if x does. */
UNUSED static double near_double(int64_t x) {
  const int64_t rest = x % 2048;
  if (x > -(INT64_C(1) << 53) && x < INT64_C(1) << 53) return (double)x;
  return (double)(x / 2048) * 2048 + (rest > 0 ? 1024 : rest < 0 ? -1024 : 0);
}
UNUSED static void store_int(gt_dtype t, void *p, int64_t i, int64_t x) {
  switch (t) {
    case GT_BOOL: ((uint8_t *)p)[i] = x != 0; break;
    case GT_UINT8: ((uint8_t *)p)[i] = (uint8_t)x; break;
    case GT_INT8: ((int8_t *)p)[i] = (int8_t)(uint8_t)x; break;
    case GT_INT16: ((int16_t *)p)[i] = (int16_t)(uint16_t)x; break;
    case GT_INT32: ((int32_t *)p)[i] = (int32_t)(uint32_t)x; break;
    case GT_INT64: ((int64_t *)p)[i] = x; break;
    case GT_FLOAT16: ((uint16_t *)p)[i] = small_encode(near_double(x), 10, 15); break;
    case GT_BFLOAT16: ((uint16_t *)p)[i] = small_encode(near_double(x), 7, 127); break;
    case GT_FLOAT32: ((float *)p)[i] = (float)x; break;
    default: ((double *)p)[i] = (double)x; break;
  }
}
/* Truncates, saturates, NaN is 0. */
UNUSED static int64_t to_int(double x, gt_dtype t) {
  static const double low[] = {0, 0, -128, -32768, -2147483648.0, -0x1p63};
  static const double high[] = {1, 255, 127, 32767, 2147483647.0, 0x1p63};
  if (x != x) return 0;
  if (t == GT_BOOL) return x != 0;
  if (x <= low[t]) return t == GT_INT64 ? INT64_MIN : (int64_t)low[t];
  if (x >= high[t]) return t == GT_INT64 ? INT64_MAX : (int64_t)high[t];
  return (int64_t)x;
}
UNUSED static void store(gt_dtype t, void *p, int64_t i, double x) {
  switch (t) {
    case GT_BOOL: ((uint8_t *)p)[i] = x != 0; break;
    case GT_FLOAT16: ((uint16_t *)p)[i] = small_encode(x, 10, 15); break;
    case GT_BFLOAT16: ((uint16_t *)p)[i] = small_encode(x, 7, 127); break;
    case GT_FLOAT32: ((float *)p)[i] = (float)x; break;
    case GT_FLOAT64: ((double *)p)[i] = x; break;
    default: if (!is_float(t)) store_int(t, p, i, to_int(x, t)); break;
  }
}
/* The bits of an element. */
UNUSED static uint64_t bits_at(gt_dtype t, const void *p, int64_t i) {
  const char *at = (const char *)p + i * (int64_t)gt_dtype_size(t);
  uint64_t b = 0;
  uint32_t b4;
  uint16_t b2;
  switch (gt_dtype_size(t)) {
    case 1: return *(const unsigned char *)at;
    case 2: memcpy(&b2, at, 2); return b2;
    case 4: memcpy(&b4, at, 4); return b4;
    default: memcpy(&b, at, 8); return b;
  }
}
UNUSED static uint64_t hash_element(uint64_t h, gt_dtype t, const void *p, int64_t i) {
  const size_t n = gt_dtype_size(t);
  const uint64_t bits = bits_at(t, p, i);
  unsigned char low_first[8]; /* on a machine of either byte order */
  size_t k;
  for (k = 0; k < n; k++) low_first[k] = (unsigned char)(bits >> 8 * k);
  return hash_bytes(h, low_first, n);
}
/* Same bits, where all NaNs are one. */
UNUSED static int same(gt_dtype t, const void *p, const void *q, int64_t i) {
  if (bits_at(t, p, i) == bits_at(t, q, i)) return 1;
  return is_float(t) && load(t, p, i) != load(t, p, i) && load(t, q, i) != load(t, q, i);
}
/* A hash of values, one for all NaNs: equal on every compiler, instruction set and device. */
UNUSED static void digest(gt_dtype t, const void *p, int64_t n) {
  int64_t i;
  for (i = 0; i < n; i++) {
    if (is_float(t) && load(t, p, i) != load(t, p, i))
      check_hash_state = hash_bytes(check_hash_state, "NaN", 3);
    else check_hash_state = hash_element(check_hash_state, t, p, i);
  }
}

/* ---- tensors for tests ---- */
enum { GUARD = 64, POISON = 0xA7 };
typedef struct buffer { /* `bytes` of poison with guards on both sides */
  unsigned char *raw;
  size_t bytes;
} buffer;
UNUSED static buffer buffer_make(size_t bytes) {
  buffer b;
  b.bytes = bytes;
  b.raw = (unsigned char *)malloc(bytes + 2 * GUARD);
  memset(b.raw, POISON, bytes + 2 * GUARD);
  return b;
}
UNUSED static void *buffer_data(buffer b) { return b.raw + GUARD; }
UNUSED static int buffer_guards_hold(buffer b) {
  size_t i;
  for (i = 0; i < GUARD; i++)
    if (b.raw[i] != POISON || b.raw[GUARD + b.bytes + i] != POISON) return 0;
  return 1;
}
UNUSED static void buffer_free(buffer b) { free(b.raw); }

/* All elements, row-major, in x's dtype; to be freed. */
UNUSED static void *values_of(const gt_tensor *x) {
  const size_t bytes = x ? gt_nbytes(x) : 0;
  void *p = calloc(bytes + 16, 1);
  if (x) gt_to_array(x, p, bytes);
  return p;
}
#define CHECK_VALUES(x, ...) \
  do { \
    static const double gt_expected_[] = {__VA_ARGS__}; \
    check_values(__FILE__, __LINE__, #x, x, (int64_t)(sizeof gt_expected_ / sizeof(double)), \
                 gt_expected_); \
  } while (0)
UNUSED static void check_values(const char *file, int line, const char *what, const gt_tensor *x,
                                int64_t n, const double *expected) {
  void *p;
  int64_t i;
  if (!x || gt_numel(x) != n) {
    check_report(file, line, "%s: %" PRId64 " elements, not %" PRId64 " (%s)", what,
                 x ? gt_numel(x) : -1, n, gt_error_message());
    gt_clear_error();
    return;
  }
  p = values_of(x);
  for (i = 0; i < n; i++) {
    const double v = load(x->dtype, p, i);
    if (!(v == expected[i] || (v != v && expected[i] != expected[i]))) {
      check_report(file, line, "%s: element %" PRId64 " is %.17g, not %.17g", what, i, v,
                   expected[i]);
      break;
    }
  }
  free(p);
}
#define CHECK_SHAPE(x, ...) \
  do { \
    static const int64_t gt_expected_[] = {__VA_ARGS__}; \
    check_shape(__FILE__, __LINE__, #x, x, (int)(sizeof gt_expected_ / 8), gt_expected_); \
  } while (0)
#define CHECK_SHAPE_0D(x) check_shape(__FILE__, __LINE__, #x, x, 0, NULL)
UNUSED static void check_shape(const char *file, int line, const char *what, const gt_tensor *x,
                               int n, const int64_t *expected) {
  int d;
  if (!x || x->ndim != n) {
    check_report(file, line, "%s: %d dims, not %d (%s)", what, x ? x->ndim : -1, n,
                 gt_error_message());
    gt_clear_error();
    return;
  }
  for (d = 0; d < n; d++)
    if (x->shape[d] != expected[d])
      check_report(file, line, "%s: size %d is %" PRId64 ", not %" PRId64, what, d, x->shape[d],
                   expected[d]);
}
#define CHECK_SAME(x, y) check_same(__FILE__, __LINE__, #x " and " #y, x, y)
UNUSED static void check_same(const char *file, int line, const char *what, const gt_tensor *x,
                              const gt_tensor *y) {
  void *p, *q;
  int64_t i, n;
  if (!x || !y || x->dtype != y->dtype || gt_numel(x) != gt_numel(y)) {
    check_report(file, line, "%s: %s, %s (%s)", what, x ? gt_dtype_string(x->dtype) : "NULL",
                 y ? gt_dtype_string(y->dtype) : "NULL", gt_error_message());
    gt_clear_error();
    return;
  }
  p = values_of(x);
  q = values_of(y);
  n = gt_numel(x);
  for (i = 0; i < n; i++)
    if (!same(x->dtype, p, q, i)) {
      check_report(file, line, "%s: element %" PRId64 " of %" PRId64 " is %.17g and %.17g", what, i,
                   n, load(x->dtype, p, i), load(x->dtype, q, i));
      break;
    }
  free(p);
  free(q);
}

/* Makes a tensor of `dtype` on DEV from doubles. */
UNUSED static gt_tensor *tensor_of(gt_shape shape, gt_dtype dtype, const double *v) {
  int64_t n = 1, i;
  int d;
  void *p;
  gt_tensor *x;
  for (d = 0; d < shape.ndim; d++) n *= shape.size[d];
  p = calloc((size_t)n * 8 + 8, 1);
  for (i = 0; i < n; i++) store(dtype, p, i, v[i]);
  x = gt_from_array(p, shape, dtype, DEV);
  free(p);
  return x;
}
#define TENSOR(dtype, shape, ...) tensor_of(shape, dtype, (const double[]){__VA_ARGS__})

/* Ordinary values: integers in -9..9 for integer types, uniform in (-2, 2) for floats. */
UNUSED static gt_tensor *random_tensor(gt_shape shape, gt_dtype dtype, gt_device device) {
  int64_t n = 1, i;
  int d;
  void *p;
  gt_tensor *x;
  for (d = 0; d < shape.ndim; d++) n *= shape.size[d];
  p = calloc((size_t)n * 8 + 8, 1);
  for (i = 0; i < n; i++)
    if (is_float(dtype)) store(dtype, p, i, rnd_between(-2, 2));
    else store_int(dtype, p, i, dtype <= GT_UINT8 ? rnd_below(10) : rnd_below(19) - 9);
  x = gt_from_array(p, shape, dtype, device);
  free(p);
  return x;
}
enum { LAYOUTS = 7 };
/* The same values in other storage: 0 contiguous, 1 padded rows, 2 offset, 3 reversed dims
   (transposed), 4 every second element of the last dim, 5 backwards in all dims, 6 in the last, and
   transposed. */
UNUSED static gt_tensor *relayout(const gt_tensor *x, int layout) {
  gt_shape s = gt_shape_of(x), big = s, order = s;
  gt_tensor *y = NULL;
  int d;
  GT_SCOPE {
    if (s.ndim == 0 || layout == 0) {
      y = gt_copy(NULL, x);
    } else if (layout == 1) {
      big.size[s.ndim - 1] += 3;
      y = gt_slice(gt_full(big, 77, x->dtype, x->device), -1, 0, s.size[s.ndim - 1], 1);
      gt_copy(y, x);
    } else if (layout == 2) {
      big.size[0] += 1;
      big.size[s.ndim - 1] += 1;
      y = gt_slice(gt_slice(gt_full(big, 77, x->dtype, x->device), 0, 1, s.size[0] + 1, 1), -1,
                   s.ndim == 1 ? 0 : 1, s.size[s.ndim - 1] + (s.ndim == 1 ? 0 : 1), 1);
      gt_copy(y, x);
    } else if (layout == 3) {
      for (d = 0; d < s.ndim; d++) {
        big.size[d] = s.size[s.ndim - 1 - d];
        order.size[d] = s.ndim - 1 - d;
      }
      y = gt_permute(gt_empty(big, x->dtype, x->device), order);
      gt_copy(y, x);
    } else if (layout == 5) {
      y = gt_flip(gt_empty(s, x->dtype, x->device), GT_ALL);
      gt_copy(y, x);
    } else if (layout == 6) {
      for (d = 0; d < s.ndim; d++) {
        big.size[d] = s.size[s.ndim - 1 - d];
        order.size[d] = s.ndim - 1 - d;
      }
      y = gt_flip(gt_permute(gt_empty(big, x->dtype, x->device), order), GT_DIM(-1));
      gt_copy(y, x);
    } else {
      big.size[s.ndim - 1] *= 2;
      y = gt_slice(gt_full(big, 77, x->dtype, x->device), -1, 0, big.size[s.ndim - 1], 2);
      gt_copy(y, x);
    }
    y = gt_keep(y);
  }
  return y;
}

/* ---- the program ---- */
#if defined(__GNUC__) && defined(__linux__)
/* What the program has not given back to the simulated CUDA runtime, if it is linked with that. */
int64_t sim_left(char *text, size_t size) __attribute__((weak));
#define CHECK_LEFT(text, size) (sim_left ? sim_left(text, size) : 0)
#else
#define CHECK_LEFT(text, size) 0
#endif
static int check_finish(void) {
  char left[300] = "";
  const int any = check_passed + check_failed > 0;
  gt_shutdown();
  case_begin("nothing is left after gt_shutdown");
  check_unseen = !any;
  gt_report_leaks(stdout);
  CHECK_INT(gt_report_leaks(NULL), 0);
  CHECK_INT(hooks_live(), 0);
  CHECK_TEXT(!CHECK_LEFT(left, sizeof left), "%s", left);
  case_end();
  hooks_print_ways();
  printf("digest %s %016" PRIx64 "\n", check_program, check_hash_state);
  printf("%s: %d passed, %d failed, %d skipped\n", check_program, check_passed, check_failed,
         check_skipped);
  return check_failed != 0;
}
/* Reads --device cpu|cuda, --quick, --by-digest and --messages FILE. */
static void check_start(const char *program, int argc, char **argv) {
  int i;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
#if defined(__GLIBC__) /* keep freed memory: giving it back costs half of the time */
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
  check_program = program;
  DEV = gt_cpu();
  for (i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0) QUICK = 1;
    if (strcmp(argv[i], "--by-digest") == 0) BY_DIGEST = 1;
    if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) DEV = gt_parse_device(argv[++i]);
    if (strcmp(argv[i], "--messages") == 0 && i + 1 < argc) check_messages = fopen(argv[++i], "w");
  }
  if (gt_error()) {
    printf("%s: %s\n%s: 0 passed, 1 failed, 0 skipped\n", program, gt_error_message(), program);
    exit(1);
  }
  gt_set_error_handler(check_handler, NULL);
  printf("%s: on %s, seed %" PRIu64 "\n", program,
         DEV.type == GT_CUDA ? gt_device_name(DEV) : "cpu", rnd_state);
}

#endif
