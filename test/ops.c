/* Every operation of the table against reference.h: values, dtypes, layouts, sizes,
   broadcasting, in
   place, overlap. On a GPU the same cases are also compared with the CPU, bit by bit. */
#include "check.h"
#include "reference.h"

typedef gt_tensor *(*op1)(gt_tensor *, const gt_tensor *);
typedef gt_tensor *(*op2)(gt_tensor *, const gt_tensor *, const gt_tensor *);
typedef gt_tensor *(*op3)(gt_tensor *, const gt_tensor *, const gt_tensor *, const gt_tensor *);
typedef struct op {
  const char *name, *result;
  int arity;
  op1 f1;
  op2 f2;
  op3 f3;
} op;
#define CALL_1(f) f, NULL, NULL
#define CALL_2(f) NULL, f, NULL
#define CALL_3(f) NULL, NULL, f
#define ROW(name, arity, result, cost, f, i) {#name, #result, arity, CALL_##arity(gt_##name)},
static const op table[] = {GT__OPERATIONS(ROW)};
enum { OPS = sizeof table / sizeof *table };

static gt_tensor *call(const op *o, gt_tensor *out, gt_tensor *const *x) {
  return o->arity == 1 ? o->f1(out, x[0])
       : o->arity == 2 ? o->f2(out, x[0], x[1]) : o->f3(out, x[0], x[1], x[2]);
}
static const char *text_of(const op *o) {
  static const char *const list[] = {"", "a", "a, b", "a, b, c"};
  static char text[64];
  snprintf(text, sizeof text, "%s(%s)", o->name, list[o->arity]);
  return text;
}
static int has(const op *o, gt_dtype t) { return strcmp(o->result, "INT") != 0 || !is_float(t); }
static gt_dtype result_of(const op *o, gt_dtype t) {
  if (!strcmp(o->result, "BOOL")) return GT_BOOL;
  if (!strcmp(o->result, "FLOAT") && !is_float(t)) return GT_FLOAT32;
  return t;
}

/* ---- values ---- */
typedef struct inputs { /* n elements of each operand, row-major in memory */
  gt_dtype dtype;
  int64_t n;
  void *x[3];
} inputs;
static inputs inputs_make(gt_dtype dtype, int64_t n) {
  inputs in;
  int k;
  in.dtype = dtype;
  in.n = n;
  for (k = 0; k < 3; k++) in.x[k] = calloc((size_t)n + 1, 8);
  return in;
}
static void inputs_free(inputs in) {
  int k;
  for (k = 0; k < 3; k++) free(in.x[k]);
}

static const float special32[] = {
    0.f, -0.f, 1.f, -1.f, INFINITY, -INFINITY, NAN, 2.f, -2.f, 0.5f, -3.7f, 3.f, 0x1.fffffep127f,
    -0x1.fffffep127f, 0x1p-126f, 0x1p-149f, -0x1p-149f, 1e-40f, -1e-20f, 1e-20f, 88.5f, -88.f, 89.f,
    -104.f, 10.f, -10.f, 127.f, 128.f, -126.5f, -149.5f, 1e10f, -1e10f, 16777216.f, 16777217.f,
    0x1p31f, 0x1p62f, -0x1p63f, 1.57079637f, 3.14159274f, 0x1.000002p0f, 0x1.fffffep-1f, -0.25f,
    1e30f, -7.f, 5.f, 2.5f, -1.5f, 1.5f, 0.49999997f, 8388607.5f, 4194304.5f, -0x1.fffffep-127f};
enum { SPECIAL = sizeof special32 / sizeof *special32 };

static double special(gt_dtype t, int i) {
  static const double d[] = {709.9, -745.5, -745.2, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp1023,
                             1e300, -1e-300, 1023.5, -1074.5, 9007199254740993.0, 36.7, -36.7};
  if (t == GT_FLOAT64 && i < (int)(sizeof d / sizeof *d)) return d[i];
  if (t == GT_FLOAT64) i -= (int)(sizeof d / sizeof *d);
  return special32[i % SPECIAL];
}
static double random_float(gt_dtype t) {
  switch (rnd() % 6) {
    case 0: return rnd_between(-1, 1);
    case 1: return rnd_between(-20, 20);
    case 2: return rnd_between(-1000, 1000);
    case 3: return rnd_scaled(t == GT_FLOAT64 ? 140 : 60);
    case 4: return (double)(rnd_below(41) - 20);
    default: return t == GT_FLOAT64 ? double_of(rnd()) : (double)float_of((uint32_t)rnd());
  }
}
/* Special values with each other, then random ones; for one operand also a walk over all
   exponents. */
static inputs float_inputs(gt_dtype t, int arity) {
  const int n_special = arity == 1 ? SPECIAL + 13 : arity == 2 ? SPECIAL + 13 : 14;
  const int64_t cross = arity == 1 ? n_special
                      : arity == 2 ? n_special * n_special : n_special * n_special * n_special;
  const int64_t walk = arity == 1 ? (QUICK ? 1 << 12 : 1 << 16) : 0;
  const int64_t n = cross + walk + (QUICK ? 3000 : 40000);
  inputs in = inputs_make(t, n);
  int64_t i;
  int k;
  for (i = 0; i < n; i++) {
    int64_t place = i;
    for (k = 0; k < 3; k++) {
      double v;
      if (i < cross) v = special(t, (int)(place % n_special)), place /= n_special;
      else if (i < cross + walk && t == GT_FLOAT64)
        v = double_of(((uint64_t)(i - cross) * (uint64_t)(0x100000000 / walk) << 32) |
                      (rnd() >> 32));
      else if (i < cross + walk)
        v = (double)float_of((uint32_t)(i - cross) * (uint32_t)(0x100000000 / walk) +
                             (uint32_t)rnd() % (uint32_t)(0x100000000 / walk));
      else v = random_float(t);
      store(t, in.x[k], i, v);
    }
  }
  return in;
}
/* All pairs of the two bytes (one of 16 with --quick), or edges and random values. */
static inputs int_inputs(gt_dtype t) {
  static const int64_t edge[] = {0, 1, -1, 2, -2, 3, 7, -7, 63, 64, 65, 31, 32, 127, -128, 255,
      32767,
                                 -32768, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MAX - 1};
  const int n_edge = (int)(sizeof edge / sizeof *edge);
  const int64_t bytes = QUICK ? 4096 : 65536, step = 65536 / bytes;
  const int64_t n = t == GT_BOOL   ? 8
                    : t <= GT_INT8 ? bytes
                                   : n_edge * n_edge + (QUICK ? 500 : 5000);
  inputs in = inputs_make(t, n);
  int64_t i;
  for (i = 0; i < n; i++) {
    if (t == GT_BOOL || t <= GT_INT8) {
      const int64_t pair = t == GT_BOOL ? i : i * step + rnd_below(step);
      store_int(t, in.x[0], i, t == GT_BOOL ? i & 1 : pair & 255);
      store_int(t, in.x[1], i, t == GT_BOOL ? i >> 1 & 1 : pair >> 8);
      store_int(t, in.x[2], i, t == GT_BOOL ? i >> 2 : (int64_t)(rnd() & 255));
    } else if (i < n_edge * n_edge) {
      store_int(t, in.x[0], i, edge[i % n_edge]);
      store_int(t, in.x[1], i, edge[i / n_edge]);
      store_int(t, in.x[2], i, edge[(i * 7) % n_edge]);
    } else {
      store_int(t, in.x[0], i, rnd_int());
      store_int(t, in.x[1], i, rnd_int());
      store_int(t, in.x[2], i, rnd_int());
    }
  }
  return in;
}

/* The operation over these inputs on a device; the result's elements, to be freed. */
static void *compute(const op *o, inputs in, gt_device device, gt_dtype *dtype) {
  void *p = NULL;
  GT_SCOPE {
    gt_tensor *x[3] = {NULL, NULL, NULL}, *y, *z;
    int k;
    for (k = 0; k < o->arity; k++) x[k] = gt_from_array(in.x[k], GT_SHAPE(in.n), in.dtype, device);
    y = call(o, NULL, x);
    z = gt_eval_n(NULL, text_of(o), o->arity, (const gt_tensor *const *)x);
    CHECK_SAME(y, z);
    *dtype = y ? y->dtype : GT_DTYPES;
    if (y) p = values_of(y);
  }
  return p;
}

static double worst;
static char worst_place[160];
/* An element's operands, result, and what is right of these as float64. */
static void place_of(char text[160], const reference *r, const inputs *in, int64_t i, double got) {
  const double v[3] = {load(in->dtype, in->x[0], i), load(in->dtype, in->x[1], i),
                       load(in->dtype, in->x[2], i)};
  const double exact = r->close ? (double)r->close(v[0], v[1], v[2])
                       : r->f64 ? r->f64(v[0], v[1], v[2])
                                : (double)r->i64((int64_t)v[0], (int64_t)v[1], (int64_t)v[2]);
  snprintf(text, 160, "(%.17g, %.17g, %.17g) -> %.17g, exact %.17g", v[0], v[1], v[2], got, exact);
}
/* gelu and silu of float32 have an absolute bound below zero, lerp one relative to what it adds. */
static double allowance(const char *name, const double *v, int digits) {
  const double eps = ldexp(1, -digits);
  if ((!strcmp(name, "gelu") || !strcmp(name, "silu")) && v[0] < 0 && digits < 53)
    return eps * fabs(v[0]);
  if (!strcmp(name, "lerp"))
    return 4 * eps * (fabs(v[0]) + fabs(v[1]) + fabs(v[2]) * (fabs(v[0]) + fabs(v[1])));
  return 0;
}

/* What the library computes float16 and bfloat16 in: the reference in float, rounded once. */
static double check_float(const reference *r, const op *o, const inputs *in, const void *out,
                          gt_dtype type, int64_t i) {
  const int boolean = !strcmp(o->result, "BOOL"), wide64 = in->dtype == GT_FLOAT64;
  const int digits = wide64 ? 53 : 24, low = wide64 ? -1022 : -126;
  const double v[3] = {load(in->dtype, in->x[0], i), load(in->dtype, in->x[1], i),
                       load(in->dtype, in->x[2], i)};
  const double got = load(type, out, i);
  const int small = in->dtype == GT_FLOAT16 || in->dtype == GT_BFLOAT16;
  if (!r->close) {
    double ref = wide64 ? r->f64(v[0], v[1], v[2])
                        : (double)r->f32((float)v[0], (float)v[1], (float)v[2]);
    unsigned char cell[8];
    if (!boolean) {
      store(type, cell, 0, ref);
      ref = load(type, cell, 0);
    }
    if (got != got && ref != ref) return 0;
    if (got != ref) return 1e30;
    return !boolean && ref == 0 && signbit(got) != signbit(ref) && strcmp(o->name, "sign") ? 1e30
                                                                                           : 0;
  } else {
    long double ref = r->close(v[0], v[1], v[2]);
    double error, slack = allowance(o->name, v, digits);
    if (!strcmp(o->name, "lerp") && !(fabs(v[0]) + fabs(v[1]) + fabs(v[2]) < 1e30)) return 0;
    if (small) { /* half a unit from rounding, and a trace of float32's error */
      const int d = in->dtype == GT_FLOAT16 ? 11 : 8, l = in->dtype == GT_FLOAT16 ? -14 : -126;
      const long double limit = in->dtype == GT_FLOAT16 ? 65520.L : 0x1.ffp127L;
      long double unit;
      int e;
      if (ref != ref || got != got) return ref != ref && got != got ? 0 : 1e30;
      if (fabsl(ref) >= limit || isinf(got))
        return isinf(got) && fabsl(ref) > limit * 0.9999L && (got > 0) == (ref > 0) ? 0 : 1e30;
      e = ref == 0 ? l : ilogbl(ref);
      if (e < l) e = l;
      unit = ldexpl(1, e - d + 1);
      error = (double)((fabsl(got - ref) - slack) / unit);
      return error <= 0.501 + (d == 8 ? 0.001 : 0.004) ? 0 : error;
    }
    error = ulp_error(ref, got, digits, low);
    if (error > 0 && slack > 0 && fabsl(got - ref) <= slack) error = 0;
    if (got == 0 && ref == 0 && signbit(got) != signbit((double)ref) && slack == 0 &&
        strcmp(o->name, "lerp"))
      error = 1e30;
    return error;
  }
}

/* Is the C library's long double function good enough? Elsewhere only the digest is compared. */
#if defined(__GLIBC__)
enum { LONG_DOUBLE_IS_EXACT = 1 };
#else
enum { LONG_DOUBLE_IS_EXACT = 0 };
#endif
static int can_judge(const reference *r) { return !BY_DIGEST && (!r->close || LONG_DOUBLE_IS_EXACT); }
static void test_values(const op *o, gt_dtype t) {
  const reference r = ref_find(o->name);
  inputs in;
  gt_dtype type = GT_DTYPES;
  void *out;
  int64_t i, bad = 0;
  case_begin("%s %s values", o->name, gt_dtype_string(t));
  worst = 0;
  worst_place[0] = 0;
  in = is_float(t) ? float_inputs(t, o->arity) : int_inputs(t);
  out = compute(o, in, DEV, &type);
  CHECK_INT(type, result_of(o, t));
  CHECK_TEXT(r.name != NULL, "reference.h lacks %s", o->name);
  for (i = 0; out && r.name && type == result_of(o, t) && i < in.n && bad < 5; i++) {
    double error, bound = 0;
    if (!can_judge(&r)) break;
    if (!is_float(t) && type != GT_FLOAT32) {
      unsigned char cell[8];
      store_int(type, cell, 0, r.i64(load_int(t, in.x[0], i), load_int(t, in.x[1], i),
                                     load_int(t, in.x[2], i)));
      if (t == GT_BOOL && !strcmp(o->name, "bitwise_not")) cell[0] = !load_int(t, in.x[0], i);
      error = memcmp(cell, (char *)out + (size_t)i * gt_dtype_size(type), gt_dtype_size(type))
                  ? 1e30
                  : 0;
    } else if (!is_float(t)) { /* integers go through float32 */
      inputs f = inputs_make(GT_FLOAT32, 1);
      int k;
      for (k = 0; k < 3; k++) ((float *)f.x[k])[0] = (float)load_int(t, in.x[k], i);
      error = check_float(&r, o, &f, (char *)out + i * 4, GT_FLOAT32, 0);
      bound = r.bound32;
      inputs_free(f);
    } else {
      error = check_float(&r, o, &in, out, type, i);
      bound = t == GT_FLOAT64 ? r.bound64 : t == GT_FLOAT32 ? r.bound32 : 0;
    }
    if (error > worst) {
      worst = error;
      place_of(worst_place, &r, &in, i, load(type, out, i));
    }
    if (error > bound) {
      char place[160];
      bad++;
      place_of(place, &r, &in, i, load(type, out, i));
      check_report(__FILE__, __LINE__, "%.3g ULP: %s", error, place);
    }
  }
  if (is_float(t) && r.close && can_judge(&r) && t >= GT_FLOAT32)
    printf("  %-10s %s  %8.3f ULP at %s\n", o->name, gt_dtype_string(t), worst, worst_place);
  if (out) digest(type, out, in.n);
  if (out && DEV.type == GT_CUDA) {
    gt_dtype cpu_type;
    void *cpu = compute(o, in, gt_cpu(), &cpu_type);
    for (i = 0; cpu && i < in.n; i++) {
      if (same(type, cpu, out, i)) continue;
      check_report(__FILE__, __LINE__, "(%.17g, %.17g, %.17g): CPU %.17g, CUDA %.17g",
                   load(t, in.x[0], i), load(t, in.x[1], i), load(t, in.x[2], i),
                   load(type, cpu, i), load(type, out, i));
      break;
    }
    free(cpu);
  }
  free(out);
  inputs_free(in);
  case_end();
}

static void test_refused_dtype(const op *o, gt_dtype t) {
  case_begin("%s %s refused", o->name, gt_dtype_string(t));
  GT_SCOPE {
    gt_tensor *x[3];
    x[0] = x[1] = x[2] = random_tensor(GT_SHAPE(3), t, DEV);
    REFUSED(call(o, NULL, x), GT_ERROR_DTYPE, o->name);
    REFUSED(gt_eval_n(NULL, text_of(o), o->arity, (const gt_tensor *const *)x), GT_ERROR_DTYPE,
            o->name);
  }
  case_end();
}

/* ---- float16 and bfloat16: every pattern ---- */
static void test_all_halves(const op *o, gt_dtype t) {
  const gt_dtype out_type = result_of(o, t);
  uint16_t *bits = (uint16_t *)malloc(65536 * 2);
  float *wide32 = (float *)malloc(65536 * 4);
  int i;
  case_begin("%s %s all 65536", o->name, gt_dtype_string(t));
  for (i = 0; i < 65536; i++) {
    bits[i] = (uint16_t)i;
    wide32[i] = (float)load(t, bits, i);
  }
  GT_SCOPE {
    gt_tensor *x[1], *y[1], *fx, *fy;
    void *p, *q;
    x[0] = gt_from_array(bits, GT_SHAPE(65536), t, DEV);
    y[0] = gt_from_array(wide32, GT_SHAPE(65536), GT_FLOAT32, DEV);
    fx = call(o, NULL, x);
    fy = call(o, NULL, y);
    if (fx && fy) {
      p = values_of(fx);
      q = values_of(fy);
      for (i = 0; i < 65536; i++) {
        unsigned char cell[8];
        store(out_type, cell, 0, load(fy->dtype, q, i));
        if (!same(out_type, cell, (char *)p + (size_t)i * gt_dtype_size(out_type), 0)) {
          check_report(__FILE__, __LINE__, "%#x: %.9g, float32 gives %.9g", i, load(out_type, p, i),
                       load(fy->dtype, q, i));
          break;
        }
      }
      digest(out_type, p, 65536);
      free(p);
      free(q);
    }
  }
  free(bits);
  free(wide32);
  case_end();
}

/* ---- sizes, layouts, outputs ---- */
static const int64_t sizes[] = {0, 1, 2, 23, 63, 64, 65, 127, 128, 129, 1000, 1023};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* A slice of a larger tensor, to write into; what is around it stays. Odd layouts have steps of
   2. */
static gt_tensor *poisoned_out(gt_shape shape, gt_dtype t, int layout, gt_tensor **base) {
  gt_shape big = shape;
  gt_tensor *y = NULL;
  int d;
  const int first = shape.ndim > 4 ? shape.ndim - 2 : 0; /* all 8 dims padded would be 40 million */
  const int64_t step = layout % 2 + 1;
  for (d = first; d < shape.ndim; d++) big.size[d] = shape.size[d] * step + 5;
  *base = gt_full(big, t == GT_BOOL ? 1 : 113, t, DEV);
  y = *base;
  for (d = first; d < shape.ndim; d++) y = gt_slice(y, d, 2, 2 + shape.size[d] * step, step);
  if (layout >= 2 && shape.ndim == 2 && shape.size[0] == shape.size[1]) y = gt_transpose(y, 0, 1);
  return y;
}
static int64_t count_poison(const gt_tensor *x) { /* elements that are still 113, or true */
  const int64_t count = gt_numel(x);
  uint64_t cell[1] = {0};
  void *p = values_of(x);
  int64_t i, n = 0;
  store(x->dtype, cell, 0, x->dtype == GT_BOOL ? 1 : 113);
#define COUNT(T) \
  if (gt_dtype_size(x->dtype) == sizeof(T)) { \
    T poison; \
    memcpy(&poison, cell, sizeof poison); \
    for (i = 0; i < count; i++) n += ((const T *)p)[i] == poison; \
  }
  COUNT(uint8_t)
  COUNT(uint16_t)
  COUNT(uint32_t)
  COUNT(uint64_t)
#undef COUNT
  free(p);
  return n;
}

static void check_layouts(const op *o, gt_dtype t, gt_shape shape, int layout) {
  GT_SCOPE {
    gt_tensor *x[3], *v[3], *expected, *y, *base, *out;
    int k;
    for (k = 0; k < 3; k++) {
      x[k] = random_tensor(shape, t, DEV);
      v[k] = relayout(x[k], (layout + k) % LAYOUTS);
    }
    expected = call(o, NULL, x);
    y = call(o, NULL, v);
    CHECK_SAME(y, expected);
    CHECK(!y || gt_is_contiguous(y));
    if (expected) {
      out = poisoned_out(shape, expected->dtype, layout, &base);
      CHECK(call(o, out, v) == out);
      CHECK_SAME(out, expected);
      CHECK_INT(count_poison(base) - count_poison(out), gt_numel(base) - gt_numel(out));
      if (expected->dtype == t) { /* in place, on strided elements */
        CHECK(call(o, v[0], v) == v[0]);
        CHECK_SAME(v[0], expected);
        for (k = 1; k < o->arity; k++) { /* the inputs are as they were */
          CHECK_SAME(v[k], x[k]);
        }
      }
    }
  }
}
static gt_dtype pick_dtype(const op *o, int turn) {
  static const gt_dtype order[] = {GT_FLOAT32, GT_INT32, GT_FLOAT16, GT_INT64, GT_FLOAT64, GT_UINT8,
                                   GT_BFLOAT16, GT_INT16, GT_BOOL, GT_INT8};
  gt_dtype t;
  do t = order[turn++ % 10];
  while (!has(o, t));
  return t;
}
static void test_layouts(const op *o) {
  int i, layout, turn = 0;
  case_begin("%s sizes and layouts", o->name);
  for (i = 0; i < SIZES; i++)
    for (layout = 0; layout < LAYOUTS; layout++) {
      if (QUICK && (i + layout) % 5) continue;
      check_layouts(o, pick_dtype(o, layout == 0 ? 0 : turn++), GT_SHAPE(sizes[i]), layout);
      check_layouts(o, pick_dtype(o, layout == 0 ? 0 : turn++), GT_SHAPE(3, sizes[i]), layout);
    }
  for (layout = 0; layout < LAYOUTS; layout++) {
    check_layouts(o, pick_dtype(o, layout), GT_SHAPE(33, 33), layout);
    check_layouts(o, pick_dtype(o, layout), GT_SHAPE(2, 3, 5, 7), layout);
    check_layouts(o, pick_dtype(o, layout), GT_SHAPE(2, 1, 2, 1, 3, 2, 1, 5), layout);
    check_layouts(o, pick_dtype(o, layout), GT_SHAPE_0D, layout);
  }
  case_end();
}

static void test_broadcast(const op *o) {
  static const int which[][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 0}, {3, 0, 1}, {1, 2, 3}, {0, 3, 1}};
  int i;
  case_begin("%s broadcast", o->name);
  for (i = 0; i < 6; i++) GT_SCOPE {
      const gt_dtype t = pick_dtype(o, i);
      const int64_t m = 5 + 30 * (i % 2), n = 129;
      gt_tensor *x[3], *e[3];
      gt_shape full = GT_SHAPE(m, n);
      int k, max = 0;
      for (k = 0; k < 3; k++) {
        const gt_shape s = which[i][k] == 0 ? full : which[i][k] == 1 ? GT_SHAPE(n)
                         : which[i][k] == 2 ? GT_SHAPE(m, 1) : GT_SHAPE(1, 1);
        x[k] = random_tensor(s, t, DEV);
        if (k < o->arity && s.size[0] > max) max = (int)s.size[0];
      }
      { /* the shape that the operands used have together */
        int64_t rows = 1, columns = 1;
        int dims = 1;
        for (k = 0; k < o->arity; k++) {
          if (which[i][k] == 0 || which[i][k] == 2) rows = m;
          if (which[i][k] <= 1) columns = n;
          if (which[i][k] != 1) dims = 2;
        }
        full = dims == 2 ? GT_SHAPE(rows, columns) : GT_SHAPE(columns);
      }
      for (k = 0; k < 3; k++)
        e[k] = k < o->arity ? gt_copy(NULL, gt_expand(x[k], full)) : x[k];
      CHECK_SAME(call(o, NULL, x), call(o, NULL, e));
    }
  case_end();
}

/* Outputs that overlap inputs, shifted by one element or transposed. */
static void test_overlap(const op *o) {
  int shift;
  case_begin("%s overlapping output", o->name);
  for (shift = 0; shift < 4; shift++) GT_SCOPE {
      const gt_dtype t = strcmp(o->result, "BOOL") ? GT_FLOAT32 : GT_BOOL;
      const gt_dtype u = has(o, t) ? t : GT_INT32;
      gt_tensor *base = random_tensor(GT_SHAPE(40, 40), u, DEV), *x[3], *e[3], *out, *expected;
      int k;
      for (k = 0; k < 3; k++) x[k] = random_tensor(GT_SHAPE(38, 38), u, DEV);
      x[shift % o->arity] = gt_slice(gt_slice(base, 0, 1, 39, 1), 1, 1, 39, 1);
      for (k = 0; k < 3; k++) e[k] = gt_copy(NULL, x[k]);
      out = gt_slice(gt_slice(base, 0, shift & 1, (shift & 1) + 38, 1), 1, shift >> 1 & 1,
                     (shift >> 1 & 1) + 38, 1);
      if (shift == 3) out = gt_transpose(x[shift % o->arity], 0, 1);
      expected = call(o, NULL, e);
      if (expected && expected->dtype == u) {
        CHECK(call(o, out, x) == out);
        CHECK_SAME(out, expected);
      }
    }
  case_end();
}

/* A larger array on all threads gives the bits of small pieces. */
static void test_large(const op *o) {
  const int64_t n = QUICK ? 40009 : 300007;
  case_begin("%s large", o->name);
  GT_SCOPE {
    const gt_dtype t = has(o, GT_FLOAT32) ? GT_FLOAT32 : GT_INT32;
    gt_tensor *x[3], *piece[3], *y;
    int64_t i, step = 9973;
    int k;
    for (k = 0; k < 3; k++) x[k] = random_tensor(GT_SHAPE(n), t, DEV);
    y = call(o, NULL, x);
    for (i = 0; y && i < n; i += 7 * step) GT_SCOPE {
        for (k = 0; k < 3; k++) piece[k] = gt_copy(NULL, gt_slice(x[k], 0, i + 1, i + step, 1));
        CHECK_SAME(gt_slice(y, 0, i + 1, i + step, 1), call(o, NULL, piece));
      }
  }
  case_end();
}

/* Many elements of 16 bits, long rows, are what the 65,536 that there can be are. */
static void test_many_halves(void) {
  const int64_t n = (QUICK ? 1 << 18 : 1 << 22) + 11;
  const gt_dtype types[] = {GT_BFLOAT16, GT_FLOAT16};
  uint16_t *bits = (uint16_t *)malloc((size_t)n * 2);
  int from, to;
  int64_t i;
  for (i = 0; i < n; i++) bits[i] = (uint16_t)(i < 65536 ? i : i * 40503 >> 5);
  for (from = 0; from < 2; from++)
    for (to = 0; to < 2; to++) GT_SCOPE {
        const char *text = to == from ? "gelu(a)" : "tanh(a * 0.5) + 1";
        gt_tensor *x = gt_from_array(bits, GT_SHAPE(n), types[from], DEV);
        gt_tensor *y = gt_empty(GT_SHAPE(65536), types[to], DEV);
        gt_tensor *all = to == from ? x : gt_empty(GT_SHAPE(n), types[to], DEV); /* or in place */
        uint16_t *few, *many;
        gt_eval(y, text, gt_slice(x, 0, 0, 65536, 1));
        few = (uint16_t *)values_of(y);
        CHECK(gt_eval(all, text, x) == all);
        many = (uint16_t *)values_of(all);
        for (i = 0; i < n && few[bits[i]] == many[i]; i++) {}
        CHECK_INT(i, n);
        free(few);
        free(many);
      }
  free(bits);
}

/* Long arrays of 16-bit floats alone are what their pieces are: whole, and rows apart, in place. */
static void test_long_halves(void) {
  static const char *const texts[] = {
    "(a*b + c)*a - b*0.1", "(a - b)*(a - b) + (c + a)*(c - b)", "clamp(a, b, c) / b", "where(a < b, lerp(a, b, c), c)",
    "sigmoid(relu((a*b + c)*a - b)*c)", "exp(a*0.25) + log(abs(b)) ** 2", "tanh(a - b)", "gelu(a + b*c)", "fma(a, b, c)"};
  const int64_t rows = QUICK && !is_gpu(DEV) ? 33 : 1025, n = rows * 1024 + 3075, cut = rows / 2 * 1024;
  const int64_t some = rows / 4 + 7;
  for (int t = GT_FLOAT16; t <= GT_BFLOAT16; t++)
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) GT_SCOPE {
        gt_tensor *x[3], *piece[2][3], *y, *want;
        for (int k = 0; k < 3; k++) {
          x[k] = random_tensor(GT_SHAPE(n), (gt_dtype)t, DEV);
          piece[0][k] = gt_slice(x[k], 0, 0, cut, 1);
          piece[1][k] = gt_slice(x[k], 0, cut, n, 1);
        }
        y = gt_eval(NULL, texts[i], x[0], x[1], x[2]);
        want = gt_eval(NULL, texts[i], piece[0][0], piece[0][1], piece[0][2]);
        CHECK_SAME(gt_slice(y, 0, 0, cut, 1), want);
        want = gt_eval(NULL, texts[i], piece[1][0], piece[1][1], piece[1][2]);
        CHECK_SAME(gt_slice(y, 0, cut, n, 1), want);
        for (int k = 0; k < 3; k++) x[k] = gt_reshape(gt_slice(x[k], 0, 0, rows * 1024, 1), GT_SHAPE(rows, 1024));
        y = gt_slice(gt_empty(GT_SHAPE(rows, 2048), (gt_dtype)t, DEV), 1, 0, 1024, 1);
        gt_copy(y, x[0]);
        gt_eval(y, texts[i], y, x[1], x[2]);
        for (int k = 0; k < 3; k++) piece[0][k] = gt_slice(x[k], 0, 7, some, 1);
        want = gt_eval(NULL, texts[i], piece[0][0], piece[0][1], piece[0][2]);
        CHECK_SAME(gt_slice(y, 0, 7, some, 1), want);
      }
}
/* Three bfloat16 add up to any float32: the sigmoid of such a sum, rounded, is that of the float32. */
static void test_sigmoid_of_sums(void) {
  const int64_t n = QUICK && !is_gpu(DEV) ? 1 << 17 : 1 << 23; /* the first of them: the kernel is a GPU's */
  const int first = QUICK || DEV.type == GT_CPU ? -1 : -30, end = first == -1 ? 1 : 8;
  const gt_tensor *i = gt_arange(0, (double)n, 1, GT_FLOAT32, DEV);
  const gt_tensor *high = gt_to_dtype(gt_eval(NULL, "1 + floor(a / 65536) / 128", i), GT_BFLOAT16);
  const gt_tensor *mid = gt_to_dtype(gt_eval(NULL, "floor(a / 256) % 256 / 32768", i), GT_BFLOAT16);
  const gt_tensor *low = gt_to_dtype(gt_eval(NULL, "a % 256 / 8388608", i), GT_BFLOAT16);
  for (int e = first; e < end; e++)
    for (int sign = -1; sign < 2; sign += 2) GT_SCOPE {
        const gt_tensor *by = gt_scalar(ldexp(sign, e));
        gt_tensor *a = gt_mul(NULL, high, by), *b = gt_mul(NULL, mid, by), *c = gt_mul(NULL, low, by);
        gt_tensor *sum = gt_eval(gt_empty(GT_SHAPE(n), GT_FLOAT32, DEV), "a + b + c", a, b, c);
        gt_tensor *want = gt_eval(gt_empty(GT_SHAPE(n), GT_BFLOAT16, DEV), "sigmoid(a)", sum);
        const gt_tensor *differ = gt_ne(NULL, gt_eval(NULL, "sigmoid(a + b + c)", a, b, c), want);
        CHECK_INT(gt_item_int64(gt_sum(NULL, differ, GT_ALL, 0)), 0);
      }
}

/* Operands that run across the result, of all dtypes and in batches: whole numbers, known by place. */
static void test_transposed(void) {
  static const int64_t size[][2] = {{8, 8}, {9, 70}, {70, 530}, {130, 1100}};
  int s, t;
  for (s = 0; s < (QUICK ? 3 : 4); s++)
    for (t = GT_UINT8; t < GT_DTYPES; t++) GT_SCOPE {
        const int64_t rows = size[s][0], columns = size[s][1], n = 2 * rows * columns;
        double *v = (double *)malloc((size_t)n * 8 * 4);
        gt_tensor *a, *b, *c, *d, *want;
        int64_t i, j, k, at = 0;
        for (i = 0; i < 2; i++)
          for (j = 0; j < rows; j++)
            for (k = 0; k < columns; k++, at++) {
              const int64_t across = (i * columns + k) * rows + j;
              v[across] = (double)(across % 29);                   /* a, transposed */
              v[n + across] = (double)(across % 5);                /* c, transposed */
              v[2 * n + at] = (double)(at % 31);                   /* b */
              v[3 * n + at] = (double)(across % 29 * 2 + at % 31 - across % 5 + k % 7);
            }
        a = gt_transpose(tensor_of(GT_SHAPE(2, columns, rows), (gt_dtype)t, v), 1, 2);
        c = gt_transpose(tensor_of(GT_SHAPE(2, columns, rows), GT_INT16, v + n), 1, 2);
        b = tensor_of(GT_SHAPE(2, rows, columns), (gt_dtype)t, v + 2 * n);
        want = tensor_of(GT_SHAPE(2, rows, columns), GT_FLOAT64, v + 3 * n);
        for (k = 0; k < columns; k++) v[k * 16] = (double)(k % 7); /* d: a value for each column */
        d = gt_select(tensor_of(GT_SHAPE(columns, 16), GT_FLOAT64, v), 1, 0);
        CHECK_SAME(gt_eval(NULL, "a*2.0 + b - c + d", a, b, c, d), want);
        CHECK_SAME(gt_contiguous(a), gt_eval(NULL, "a", a));
        b = gt_to_dtype(b, GT_FLOAT64);
        CHECK(gt_eval(b, "a*2.0 + b - c + d", a, b, c, d) == b);   /* in place */
        CHECK_SAME(b, want);
        free(v);
      }
}

/* Operands whose lines are long, and lie apart or are broadcast, give what dense copies of them do: with
   last blocks of all heights, upwards, backwards, every second element; and into a slice, in place, and
   one row and element on. What is around an output stays. */
static gt_tensor *slice_of(gt_tensor *x, int64_t rows, int64_t columns, int64_t from) {
  return gt_slice(gt_slice(x, 0, from, from + rows, 1), 1, from, from + columns, 1);
}
static const gt_tensor *eval_dense(const char *text, const gt_tensor *a, const gt_tensor *b, const gt_tensor *c) {
  const gt_shape shape = GT_SHAPE(a->shape[0], a->shape[1]);
  return gt_eval(NULL, text, gt_copy(NULL, a), gt_copy(NULL, gt_expand(b, shape)), gt_copy(NULL, gt_expand(c, shape)));
}
static void test_lines(void) {
  static const int64_t lines[] = {383, 384, 385, 447, 511, 512, 513, 1000, 1088};
  static const gt_dtype types[] = {GT_FLOAT32, GT_FLOAT64, GT_INT64, GT_BFLOAT16, GT_INT32, GT_UINT8};
  static const char *const texts[] = {"a*2 + b - c", "maximum(a, b)*(c + 1)", "a + b < c"};
  for (int l = 0; l < 9; l++)
    for (int k = 0; k < 18; k++) GT_SCOPE {
        const int64_t rows = 17, n = lines[l]; /* of 16 and more, a CPU works line by line */
        const gt_dtype t = types[k / 3];
        const char *text = texts[k % 3];
        gt_tensor *whole = random_tensor(GT_SHAPE(rows + 9, n + 9), t, DEV), *base, *y;
        gt_tensor *a = slice_of(whole, rows, n, 1), *b = slice_of(whole, rows, n, 2), *c = slice_of(whole, rows, n, 5);
        const gt_tensor *second = gt_slice(random_tensor(GT_SHAPE(rows, 2 * n), t, DEV), 1, 1, 2 * n, 2);
        const gt_tensor *row = gt_slice(b, 0, 2, 3, 1), *column = gt_slice(c, 1, 3, 4, 1);
        const gt_tensor *others[] = {b, gt_flip(b, GT_DIM(0)), gt_flip(b, GT_DIM(1)), second, row, column};
        const gt_tensor *want = eval_dense(text, a, b, c);
        for (int i = 0; i < 6; i++) {
          CHECK_SAME(gt_eval(NULL, text, a, others[i], c), eval_dense(text, a, others[i], c));
          CHECK_SAME(gt_eval(NULL, text, a, column, others[i]), eval_dense(text, a, column, others[i]));
        }
        y = poisoned_out(GT_SHAPE(rows, n), want->dtype, 0, &base);
        CHECK(gt_eval(y, text, a, b, c) == y);
        CHECK_SAME(y, want);
        CHECK_INT(count_poison(base) - count_poison(y), gt_numel(base) - gt_numel(y));
        if (want->dtype != t) continue;
        b = gt_copy(NULL, b);
        c = gt_copy(NULL, c);
        base = gt_copy(NULL, whole);
        y = slice_of(whole, rows, n, 1 + k % 2);
        CHECK(gt_eval(y, text, a, b, c) == y);
        CHECK_SAME(y, want);
        gt_fill(y, 3);
        CHECK_SAME(y, gt_full(GT_SHAPE(rows, n), 3, t, DEV));
        gt_copy(y, slice_of(base, rows, n, 1 + k % 2));
        CHECK_SAME(whole, base);
      }
}

/* Results of 64 MB and more go past the caches, unless their memory is fresh. */
static void test_past_the_caches(void) {
  const int64_t rows = 4100, columns = 4099, n = rows * columns;
  gt_tensor *a, *b, *across, *y;
  a = gt_reshape(gt_arange(0, (double)n, 1, GT_FLOAT32, DEV), GT_SHAPE(rows, columns));
  across = gt_transpose(gt_reshape(a, GT_SHAPE(columns, rows)), 0, 1);
  b = gt_to_dtype(a, GT_BFLOAT16);
  y = gt_slice(gt_ones(GT_SHAPE(n + 8), GT_FLOAT32, DEV), 0, 1, n + 1, 1);   /* not on 64 bytes */
  y = gt_reshape(y, GT_SHAPE(rows, columns));
  CHECK_SAME(gt_add(y, a, b), gt_add(NULL, a, b));
  CHECK_SAME(gt_eval(y, "a*0.5 + b", across, b), gt_eval(NULL, "a*0.5 + b", across, b));
  CHECK_SAME(gt_copy(y, a), a);
  CHECK_SAME(gt_copy(y, b), gt_to_dtype(b, GT_FLOAT32));
  CHECK_SAME(gt_copy(y, across), gt_contiguous(across));
  CHECK_SAME(gt_mul(y, y, b), gt_mul(NULL, across, b));   /* in place */
}

static void test_guards(void) { /* raw memory of the host around input and output */
  int i;
  for (i = 0; i < SIZES; i++) GT_SCOPE {
      const int64_t n = sizes[i];
      buffer in = buffer_make((size_t)n * 4), out = buffer_make((size_t)n * 4);
      gt_tensor *x, *y;
      memset(buffer_data(in), 0, (size_t)n * 4);
      x = gt_from_ptr(buffer_data(in), GT_SHAPE(n), GT_FLOAT32, gt_cpu(), NULL, NULL);
      y = gt_from_ptr(buffer_data(out), GT_SHAPE(n), GT_FLOAT32, gt_cpu(), NULL, NULL);
      gt_exp(y, x);
      gt_eval(y, "(a*a + b) * b", x, y);
      CHECK_SAME(y, gt_ones(GT_SHAPE(n), GT_FLOAT32, gt_cpu()));
      CHECK(buffer_guards_hold(in) && buffer_guards_hold(out));
      gt_free(x);
      gt_free(y);
      buffer_free(in);
      buffer_free(out);
    }
}

int main(int argc, char **argv) {
  int i, t;
  check_start("ops", argc, argv);
  printf("  operation  dtype     largest error, and where (inputs -> result)\n");
  for (i = 0; i < OPS; i++) {
    const op *o = &table[i];
    for (t = 0; t < GT_DTYPES; t++)
      if (has(o, (gt_dtype)t)) test_values(o, (gt_dtype)t);
      else test_refused_dtype(o, (gt_dtype)t);
    if (o->arity == 1 && has(o, GT_FLOAT16)) {
      test_all_halves(o, GT_FLOAT16);
      test_all_halves(o, GT_BFLOAT16);
    }
    test_layouts(o);
    test_broadcast(o);
    test_overlap(o);
    test_large(o);
  }
  RUN(many_halves);
  RUN(long_halves);
  RUN(sigmoid_of_sums);
  RUN(transposed);
  RUN(lines);
  if (DEV.type != GT_CPU) skip("past_the_caches and guards", "about memory of the host");
  else {
    if (!QUICK) RUN(past_the_caches);
    RUN(guards);
  }
  if (!LONG_DOUBLE_IS_EXACT) skip("bounds of errors", "another C library's long double is the reference");
  return check_finish();
}
