/* The floating-point mode of the calling thread, as start-up code of -Ofast, fesetround or debuggers
   leave it: subnormal numbers flushed, other roundings, traps. Results are those of the usual mode,
   bit for bit, and the mode after a call is the one before it. */
#define _GNU_SOURCE
#include "check.h"

#include <fenv.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#if defined(GPUTENSOR_NO_THREADS)
#define QUEUED 0
#else
#define QUEUED 1
#endif

/* ---- modes ---- */
enum { FLUSH, UP, DOWN, ZERO, TRAPS, MODES };
static const char *const mode_name[MODES] = {"flush", "up", "down", "zero", "traps"};
#if defined(__SSE__)
typedef struct { uint32_t sse; uint16_t x87; } mode;
static mode mode_now(void) { /* its control bits */
  mode m;
  __asm__ volatile("stmxcsr %0" : "=m"(m.sse));
  __asm__ volatile("fnstcw %0" : "=m"(m.x87));
  m.sse &= 0xffc0;
  return m;
}
static void mode_set(mode m) {
  __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(m.x87));
  __asm__ volatile("ldmxcsr %0" : : "m"(m.sse));
}
static int mode_equal(mode a, mode b) { return a.sse == b.sse && a.x87 == b.x87; }
static int mode_make(int which, mode *m) { /* 0: there is none here */
  static const mode all[MODES] = {{0x9fc0, 0x7f}, {0x5f80, 0xb7f}, {0x3f80, 0x77f},
                                  {0x7f80, 0xf7f}, {0, 0x340}};
  *m = all[which];
  return 1;
}
#elif defined(__aarch64__)
typedef uint64_t mode;
static mode mode_now(void) {
  mode m;
  __asm__ volatile("mrs %0, fpcr" : "=r"(m));
  return m;
}
static void mode_set(mode m) { __asm__ volatile("msr fpcr, %0" : : "r"(m)); }
static int mode_equal(mode a, mode b) { return a == b; }
static int mode_make(int which, mode *m) { /* few processors can trap */
  static const mode all[MODES] = {0x1000000, 0x400000, 0x800000, 0xc00000, 0x9f00};
  const mode before = mode_now();
  mode_set(all[which]);
  *m = mode_now();
  mode_set(before);
  return *m == all[which];
}
#else
typedef int mode;
static mode mode_now(void) { return fegetround(); }
static void mode_set(mode m) { fesetround(m); }
static int mode_equal(mode a, mode b) { return a == b; }
static int mode_make(int which, mode *m) {
  static const mode all[MODES] = {-1, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, -1};
  *m = all[which];
  return *m >= 0;
}
#endif

/* ---- what is called: nothing here may compute between the modes but the library ---- */
static gt_device at;                             /* of the operands */
static gt_tensor *f16, *f32, *f64, *i64, *square, *square64, *square16, *many, *index1;
static const gt_tensor *tiny, *third, *three;
static char path[300], said[4000];
static volatile double item;
static volatile int64_t item_int64;
static int turn;                                 /* makes texts new, so that they are parsed */
static const char *fresh(const char *text) {
  static char all[400];
  snprintf(all, sizeof all, "%s%*s", text, turn % 100 + 1, " ");
  return all;
}
static gt_tensor *out(gt_dtype dtype) { return gt_empty(gt_shape_of(f32), dtype, at); }
#define CALL(name, call) static gt_tensor *call_##name(void) { return call; }
#define CALLS(X) \
  X(read_half, gt_to_dtype(f16, GT_FLOAT32)) \
  X(write_half, gt_to_dtype(f32, GT_FLOAT16)) \
  X(write_brain, gt_to_dtype(f32, GT_BFLOAT16)) \
  X(narrow, gt_to_dtype(f64, GT_FLOAT32)) \
  X(narrow_half, gt_to_dtype(f64, GT_FLOAT16)) \
  X(widen, gt_to_dtype(f32, GT_FLOAT64)) \
  X(to_integer, gt_to_dtype(f64, GT_INT32)) \
  X(from_integer, gt_to_dtype(i64, GT_FLOAT32)) \
  X(add, gt_add(NULL, f32, third)) \
  X(add64, gt_add(NULL, f64, third)) \
  X(add_half, gt_add(NULL, f16, third)) \
  X(mul, gt_mul(out(GT_FLOAT32), f32, third)) \
  X(divide, gt_div(NULL, f64, three)) \
  X(integers, gt_div(NULL, i64, three)) \
  X(tiny_number, gt_mul(NULL, f64, tiny)) \
  X(compare, gt_gt(NULL, f32, tiny)) \
  X(not, gt_logical_not(NULL, f16)) \
  X(roots, gt_sqrt(NULL, gt_abs(NULL, f32))) \
  X(exp, gt_exp(NULL, f32)) \
  X(exp64, gt_exp(NULL, f64)) \
  X(log, gt_log(NULL, gt_abs(NULL, f64))) \
  X(sin, gt_sin(NULL, f32)) \
  X(tanh, gt_tanh(NULL, f64)) \
  X(power, gt_pow(NULL, gt_abs(NULL, f32), third)) \
  X(erf, gt_erf(NULL, f16)) \
  X(floor, gt_floor(NULL, f64)) \
  X(round, gt_round(NULL, f64)) \
  X(formula, gt_eval(NULL, fresh("a*b + c/(a*a + 0.1)"), f32, third, f16)) \
  X(literal, gt_eval(NULL, fresh("a*0 + 0.1 + 1e-310"), f64)) \
  X(literal32, gt_eval(NULL, fresh("a*0 + 0.1"), f32)) \
  X(subnormal, gt_eval(NULL, fresh("where(4.9e-324 > 0, 1e-310, a)"), f64)) \
  X(subnormal32, gt_eval(NULL, fresh("a*0 + 1e-40"), f32)) \
  X(temporaries, gt_eval(NULL, fresh("(a == b ? a : 1e-3)*3 + a/3"), i64, gt_neg(NULL, i64))) \
  X(sum, gt_sum(NULL, many, GT_ALL, 0)) \
  X(sum_down, gt_sum(NULL, square, GT_DIM(0), 0)) \
  X(sum_half, gt_sum(NULL, f16, GT_ALL, 0)) \
  X(mean, gt_mean(NULL, square64, GT_DIM(1), 0)) \
  X(product, gt_prod(NULL, square64, GT_DIM(0), 0)) \
  X(largest, gt_max(NULL, f64, GT_ALL, 0)) \
  X(place, gt_argmin(NULL, gt_abs(NULL, f16), GT_ALL, 0)) \
  X(any, gt_any(NULL, gt_slice(f16, 0, 1, 3, 1), GT_ALL, 0)) \
  X(var, gt_var(NULL, square, GT_ALL, 1, 0)) \
  X(deviation, gt_std(NULL, square64, GT_DIM(0), 0.5, 0)) \
  X(norm, gt_norm(NULL, square, 3, GT_DIM(1), 0)) \
  X(norm_tiny, gt_norm(NULL, square64, 1e-310, GT_DIM(1), 0)) \
  X(softmax, gt_softmax(NULL, square, 1)) \
  X(softmax_down, gt_softmax(NULL, square64, 0)) \
  X(logsumexp, gt_logsumexp(NULL, square16, GT_DIM(1), 0)) \
  X(matmul, gt_matmul(NULL, square, square)) \
  X(matmul_transposed, gt_matmul(NULL, square64, gt_transpose(square64, 0, 1))) \
  X(matmul_half, gt_matmul(NULL, square16, square16)) \
  X(matmul_formula, gt_matmul_eval(NULL, square, square, fresh("tanh(a)*0.1"))) \
  X(addmm, gt_addmm(NULL, square64, square64, square64, 1e-310, 0.1)) \
  X(linear, gt_linear(NULL, square, square, gt_select(square, 0, 2))) \
  X(full, gt_full(GT_SHAPE(5), 0.1, GT_FLOAT16, at)) \
  X(full_tiny, gt_full(GT_SHAPE(5), 1e-310, GT_FLOAT64, at)) \
  X(fill, gt_fill(out(GT_BFLOAT16), 1.0039)) \
  X(arange, gt_arange(0, 1, 0.1, GT_FLOAT64, at)) \
  X(arange_third, gt_arange(0, 2.9999999999999996, 0.3, GT_FLOAT32, at)) \
  X(linspace, gt_linspace(-0.1, 0.7, 33, GT_FLOAT64, at)) \
  X(eye, gt_eye(4, 5, GT_FLOAT16, at)) \
  X(rand, gt_rand(GT_SHAPE(300), GT_FLOAT16, at, &(gt_generator){3, 5})) \
  X(randn, gt_randn(GT_SHAPE(300), GT_FLOAT32, at, &(gt_generator){3, 5})) \
  X(randn64, gt_randn(GT_SHAPE(300), GT_FLOAT64, at, &(gt_generator){3, 5})) \
  X(randint, gt_randint(-5, 100, GT_SHAPE(300), GT_INT64, at, &(gt_generator){3, 5})) \
  X(threads, gt_eval(NULL, "exp(a)*b + c", many, third, tiny)) \
  X(threads_half, gt_mul(NULL, gt_to_dtype(many, GT_FLOAT16), tiny)) \
  X(cat, gt_cat(NULL, 2, (const gt_tensor *const[]){f32, f16}, 0)) \
  X(gather, gt_index_select(NULL, f16, 0, index1)) \
  X(files, gt_save_npy(path, gt_to_dtype(f32, GT_BFLOAT16)) ? NULL : gt_load_npy(path, at)) \
  X(print, gt_to_string(f64, said, sizeof said) > 0 ? gt_retain(f64) : NULL) \
  X(print_half, gt_to_string(f16, said, sizeof said) > 0 ? gt_retain(f16) : NULL) \
  X(item, (item = gt_item(gt_select(f16, 0, 1)), gt_retain(f16))) \
  X(item_of_integer, (item = gt_item(gt_select(i64, 0, 3)), gt_retain(i64))) \
  X(item_int64, (item_int64 = gt_item_int64(gt_select(f64, 0, 5)), gt_retain(f64)))
CALLS(CALL)
#define ROW(name, call) {#name, call_##name},
static const struct { const char *name; gt_tensor *(*call)(void); } calls[] = {CALLS(ROW)};
enum { N_CALLS = sizeof calls / sizeof *calls };

/* ---- operands ---- */
static void make_operands(void) {
  static const double first[] = {0x1p-24, -0x1.8p-15, 1e-39, 0.1, -2.7, 6.5e-5, 3e-41, 1, 1234.5, 1e-310, -7e-320};
  enum { N = 300, FIRST = sizeof first / sizeof *first };
  const gt_device dev = DEV;
  double *v = (double *)malloc(N * sizeof *v);
  uint16_t h[N];
  int64_t w[N];
  int i;
  for (i = 0; i < N; i++) {
    v[i] = i < FIRST ? first[i] : i % 3 ? rnd_between(-3, 3) : rnd_scaled(i % 2 ? 130 : 20);
    h[i] = (uint16_t)(i < 40 ? i + (i % 2) * 0x8000 : rnd_below(0x7c00));
    w[i] = i == 3 ? (INT64_C(1) << 60) + 129 : rnd_int() >> 1;
  }
  DEV = at;
  f16 = gt_from_array(h, GT_SHAPE(N), GT_FLOAT16, at);
  f32 = tensor_of(GT_SHAPE(N), GT_FLOAT32, v);
  f64 = tensor_of(GT_SHAPE(N), GT_FLOAT64, v);
  i64 = gt_from_array(w, GT_SHAPE(N), GT_INT64, at);
  square64 = random_tensor(GT_SHAPE(70, 70), GT_FLOAT64, at);
  square = gt_to_dtype(square64, GT_FLOAT32);
  square16 = gt_mul(NULL, gt_to_dtype(square64, GT_FLOAT16), gt_scalar(1e-3));
  many = gt_mul(NULL, random_tensor(GT_SHAPE(QUICK ? 60000 : 300000), GT_FLOAT32, at), gt_scalar(0.01));
  index1 = gt_arange(0, 300, 7, GT_INT64, at);
  tiny = gt_scalar(1e-310);
  third = gt_scalar(1.0 / 3);
  three = gt_scalar_int64(3);
  DEV = dev;
  free(v);
  NO_ERROR();
}
typedef struct { gt_tensor *x; double item; int64_t whole; char *said; } outcome;
static void run_call(int k, outcome *o) {
  said[0] = 0;
  item = 0;
  item_int64 = 0;
  o->x = calls[k].call();
}
static void keep_outcome(outcome *o) {
  o->item = item;
  o->whole = item_int64;
  o->said = strdup(said);
}
/* Also of OpenMP's threads, as far as they are those of the library. Returns how many have it by now. */
static int in_all_threads(mode m, int set) {
  int n = 0;
  (void)m, (void)set;
#ifdef _OPENMP
#pragma omp parallel num_threads(4) reduction(+ : n)
  {
    if (set) mode_set(m);
    n += mode_equal(mode_now(), m);
  }
#endif
  return n;
}
/* Every call in a foreign mode, then in the usual one. */
static void walk(int which) {
  mode usual = mode_now(), foreign, after;
  outcome a, b;
  int k, threads;
  if (!mode_make(which, &foreign)) return;
  threads = in_all_threads(foreign, 1);
  mode_set(usual);
  for (k = 0; k < N_CALLS; k++) {
    GT_SCOPE {
      turn++;
      mode_set(foreign);
      run_call(k, &a);
      after = mode_now();
      mode_set(usual);
      keep_outcome(&a);
      CHECK_TEXT(mode_equal(foreign, after), "%s leaves another mode", calls[k].name);
      turn++;
      run_call(k, &b);
      keep_outcome(&b);
      CHECK_TEXT(a.x && b.x, "%s: %s", calls[k].name, gt_error_message());
      if (a.x && b.x) check_same(__FILE__, __LINE__, calls[k].name, a.x, b.x);
      CHECK_TEXT(bits_of64(a.item) == bits_of64(b.item), "%s: %.17g, not %.17g", calls[k].name, a.item, b.item);
      CHECK_INT(a.whole, b.whole);
      CHECK_STR(a.said, b.said);
      free(a.said);
      free(b.said);
      gt_clear_error();
    }
  }
  mode_set(foreign);
  k = in_all_threads(foreign, 0);
  mode_set(usual);
  CHECK_INT(k, threads);
  in_all_threads(usual, 1);
}
static int there_is(int which) {
  mode m;
  if (mode_make(which, &m)) return 1;
  skip(mode_name[which], "this machine has no such mode");
  return 0;
}
static int which_mode;
static void test_default_stream(void) {
  at = DEV;
  make_operands();
  walk(which_mode);
}
/* Threads get the mode of the one that starts them: the stream's and OpenMP's are made in it. */
static void test_cpu_stream(void) {
  mode usual = mode_now(), foreign;
  gt_stream *s;
  at = gt_cpu();
  make_operands();
  mode_make(which_mode, &foreign);
  mode_set(foreign);
  s = gt_stream_create(gt_cpu(), 0);
  mode_set(usual);
  GT_WITH_STREAM(s) walk(which_mode);
  gt_stream_free(s);
}
static void test_events(void) {
  mode usual = mode_now(), foreign, after;
  gt_event *e = gt_event_create(), *f = gt_event_create();
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *x = gt_ones(GT_SHAPE(1000), GT_FLOAT32, DEV);
  volatile double ms;
  mode_make(which_mode, &foreign);
  mode_set(foreign);
  gt_event_record(e, s);
  GT_WITH_STREAM(s) gt_add(x, x, x);
  gt_event_record(f, s);
  ms = gt_event_elapsed_ms(e, f);
  after = mode_now();
  mode_set(usual);
  CHECK(mode_equal(foreign, after));
  CHECK(ms >= 0 && ms < 1e6);
  gt_event_free(e);
  gt_event_free(f);
  gt_stream_free(s);
}

/* The right values themselves, of one mode each. */
static void test_values(void) {
  static const uint16_t bits[] = {1, 2, 512, 1023, 1024, 0x8001};
  mode usual = mode_now(), foreign;
  gt_tensor *h = gt_from_array(bits, GT_SHAPE(6), GT_FLOAT16, DEV), *f, *m, *positive, *steps, *sum;
  if (!there_is(FLUSH) || !mode_make(FLUSH, &foreign)) return;
  mode_set(foreign);
  f = gt_to_dtype(h, GT_FLOAT32);
  m = gt_mul(NULL, h, gt_scalar(1024));
  positive = gt_gt(NULL, h, gt_scalar(0));
  mode_make(UP, &foreign);
  mode_set(foreign);
  steps = gt_arange(0, 1, 0.1, GT_FLOAT64, DEV);
  sum = gt_eval(NULL, fresh("a + 0.2"), gt_full(GT_SHAPE(2), 0.1, GT_FLOAT64, DEV));
  mode_set(usual);
  CHECK_VALUES(f, 0x1p-24, 0x1p-23, 0x1p-15, 1023 * 0x1p-24, 0x1p-14, -0x1p-24);
  CHECK_VALUES(m, 0x1p-14, 0x1p-13, 0x1p-5, 1023 * 0x1p-14, 0x1p-4, -0x1p-14);
  CHECK_VALUES(positive, 1, 1, 1, 1, 1, 0);
  CHECK_INT(gt_numel(steps), 10);
  CHECK_VALUES(sum, 0.1 + 0.2, 0.1 + 0.2);
}

int main(int argc, char **argv) {
  check_start("environment", argc, argv);
  snprintf(path, sizeof path, "/tmp/gputensor-environment-%ld.npy", (long)getpid());
  RUN(values);
  gt_set_num_threads(4);
  for (which_mode = 0; which_mode < MODES; which_mode++) {
    if (!there_is(which_mode)) continue;
    printf("mode: %s\n", mode_name[which_mode]);
    RUN(default_stream);
    if (QUEUED) RUN(cpu_stream);
    RUN(events);
  }
  remove(path);
  return check_finish();
}
