/* Random numbers: the generator against its published answers, the library against a second writing
   of it, distributions, and hashes that every compiler and device must repeat. */
#include "check.h"

/* ---- the generator, written a second time ---- */
typedef struct philox { uint32_t w[4]; } philox;
static philox philox_of(const uint32_t counter[4], uint32_t k0, uint32_t k1) {
  philox c;
  int round;
  memcpy(c.w, counter, sizeof c.w);
  for (round = 0; round < 10; round++) {
    const uint64_t p = UINT64_C(0xD2511F53) * c.w[0], q = UINT64_C(0xCD9E8D57) * c.w[2];
    philox next;
    next.w[0] = (uint32_t)(q >> 32) ^ c.w[1] ^ (k0 + (uint32_t)round * 0x9E3779B9u);
    next.w[1] = (uint32_t)q;
    next.w[2] = (uint32_t)(p >> 32) ^ c.w[3] ^ (k1 + (uint32_t)round * 0xBB67AE85u);
    next.w[3] = (uint32_t)p;
    c = next;
  }
  return c;
}
static philox words(uint64_t seed, uint64_t index) {
  const uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), 0, 0};
  return philox_of(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}
static double wanted_uniform(gt_dtype t, uint64_t seed, uint64_t index) {
  const philox c = words(seed, index);
  if (t == GT_FLOAT16) return ldexp(c.w[0] >> 21, -11); /* cut: rounded, some would be 1 */
  if (t == GT_BFLOAT16) return ldexp(c.w[0] >> 24, -8);
  if (t == GT_FLOAT32) return ldexp(c.w[0] >> 8, -24);
  return ldexp((double)(((uint64_t)c.w[0] << 21) | (c.w[1] >> 11)), -53);
}
static double wanted_normal(gt_dtype t, uint64_t seed, uint64_t index) { /* Box and Muller */
  const double turn = 6.283185307179586476925;
  const philox c = words(seed, index);
  double u = (float)ldexp((double)c.w[0] + 1, -32), v = ldexp(c.w[1] >> 8, -24);
  if (t == GT_FLOAT64) {
    u = ldexp((double)((((uint64_t)c.w[0] << 21) | (c.w[1] >> 11)) + 1), -53);
    v = ldexp((double)(((uint64_t)c.w[2] << 21) | (c.w[3] >> 11)), -53);
  }
  return sqrt(-2 * log(u)) * cos(turn * v);
}
static uint64_t scaled(uint64_t bits, uint64_t range) { /* the high word of the product */
  const uint64_t a0 = bits & 0xffffffffu, a1 = bits >> 32, b0 = range & 0xffffffffu, b1 = range >> 32;
  const uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
  const uint64_t carry = ((p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu)) >> 32;
  return a1 * b1 + (p01 >> 32) + (p10 >> 32) + carry;
}
static int64_t wanted_integer(int64_t low, int64_t high, uint64_t seed, uint64_t index) {
  const philox c = words(seed, index);
  const uint64_t bits = (uint64_t)c.w[0] << 32 | c.w[1];
  return (int64_t)((uint64_t)low + scaled(bits, (uint64_t)high - (uint64_t)low));
}

static void test_published_answers(void) {
  static const uint32_t zero[4] = {0, 0, 0, 0}, ones[4] = {~0u, ~0u, ~0u, ~0u},
                        pi[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  static const uint32_t wanted[3][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  const philox a = philox_of(zero, 0, 0), b = philox_of(ones, ~0u, ~0u),
               c = philox_of(pi, 0xa4093822, 0x299f31d0);
  gt_generator g = {0, 0};
  CHECK(memcmp(a.w, wanted[0], 16) == 0);
  CHECK(memcmp(b.w, wanted[1], 16) == 0);
  CHECK(memcmp(c.w, wanted[2], 16) == 0);
  /* and the library's first numbers, from the first vector's words */
  CHECK_NUM(gt_item(gt_rand(GT_SHAPE(1), GT_FLOAT32, DEV, &g)), ldexp(0x6627e8, -24));
  g.offset = 0;
  CHECK_NUM(gt_item(gt_rand(GT_SHAPE(1), GT_FLOAT64, DEV, &g)),
            ldexp((double)(UINT64_C(0x6627e8d5e169c58d) >> 11), -53));
  g.offset = 0;
  CHECK_INT(gt_item_int64(gt_randint(INT64_MIN, INT64_MAX, GT_SHAPE(1), GT_INT64, DEV, &g)),
            (int64_t)(UINT64_C(0x6627e8d5e169c58d) - 1 - (UINT64_C(1) << 63)));
}

/* ---- against the second writing ---- */
static const uint64_t seeds[] = {0, 1, 20261121, UINT64_C(0xffffffff), UINT64_C(1) << 32,
                                 UINT64_MAX};
static const uint64_t starts[] = {0, 7, UINT64_C(0xfffffff0), UINT64_C(1) << 40, UINT64_MAX - 5};
enum { SEEDS = sizeof seeds / sizeof *seeds, STARTS = sizeof starts / sizeof *starts };

static void compare_floating(int normal, gt_dtype t, uint64_t seed, uint64_t start, int64_t n) {
  static const double tolerance[] = {0, 0, 0, 0, 0, 0, 0x1p-10, 0x1p-7, 0x1p-20, 0x1p-48};
  gt_generator g;
  gt_tensor *x;
  void *p;
  int64_t i;
  g.seed = seed;
  g.offset = start;
  x = (normal ? gt_randn : gt_rand)(GT_SHAPE(n), t, DEV, &g);
  p = values_of(x);
  CHECK_INT(g.seed, seed);
  CHECK_INT(g.offset, start + (uint64_t)n);
  for (i = 0; i < n; i++) {
    const double got = load(t, p, i);
    const double exact = (normal ? wanted_normal : wanted_uniform)(t, seed, start + (uint64_t)i);
    const double allowed = normal ? tolerance[t] * (1 + fabs(exact)) : 0;
    if (!(fabs(got - exact) <= allowed)) {
      check_report(__FILE__, __LINE__, "%s %s seed %" PRIu64 " number %" PRIu64 ": %.17g, not %.17g",
                   normal ? "randn" : "rand", gt_dtype_string(t), seed, start + (uint64_t)i, got,
                   exact);
      break;
    }
  }
  free(p);
}
static void test_reference(void) {
  int s, o, t, normal;
  for (s = 0; s < SEEDS; s++)
    for (o = 0; o < STARTS; o++)
      for (t = GT_FLOAT16; t <= GT_FLOAT64; t++)
        for (normal = 0; normal < 2; normal++) GT_SCOPE {
            compare_floating(normal, (gt_dtype)t, seeds[s], starts[o], 37);
          }
  for (t = GT_FLOAT32; t <= GT_FLOAT64; t++)
    for (normal = 0; normal < 2; normal++) GT_SCOPE {
        compare_floating(normal, (gt_dtype)t, 99, 12345, QUICK ? 20001 : 300001);
      }
}

static void compare_integers(int64_t low, int64_t high, gt_dtype t, uint64_t seed, int64_t n) {
  gt_generator g = {0, 3};
  gt_tensor *x;
  void *p, *q;
  int64_t i;
  g.seed = seed;
  x = gt_randint(low, high, GT_SHAPE(n), t, DEV, &g);
  p = values_of(x);
  q = calloc((size_t)n, 8);
  CHECK_INT(g.offset, 3 + n);
  for (i = 0; i < n; i++) store_int(t, q, i, wanted_integer(low, high, seed, 3 + (uint64_t)i));
  for (i = 0; i < n; i++)
    if (!same(t, p, q, i)) {
      check_report(__FILE__, __LINE__, "randint %" PRId64 "..%" PRId64 " %s number %" PRId64
                   ": %.17g, not %.17g", low, high, gt_dtype_string(t), i, load(t, p, i),
                   load(t, q, i));
      break;
    }
  for (i = 0; i < n && t == GT_INT64; i++)
    if (load_int(t, p, i) < low || load_int(t, p, i) >= high) CHECK(!"an integer out of bounds");
  free(p);
  free(q);
}
/* Every integer up to here is one of the dtype's; NumPy and PyTorch refuse others likewise. */
static int can_hold(gt_dtype t, int64_t low, int64_t last) {
  static const int64_t least[GT_DTYPES] = {0, 0, -128, -32768, INT32_MIN, INT64_MIN, -2048, -256,
                                           -16777216, -INT64_C(9007199254740992)};
  static const int64_t most[GT_DTYPES] = {1, 255, 127, 32767, INT32_MAX, INT64_MAX, 2048, 256,
                                          16777216, INT64_C(9007199254740992)};
  return low >= least[t] && last <= most[t];
}
static void test_integers(void) {
  static const int64_t range[][2] = {
      {0, 2}, {0, 100}, {-100, 100}, {-7, -6}, {-128, 127}, {0, 65536}, {5, 6}, {-1000000007, 3},
      {INT64_MIN, INT64_MAX}, {INT64_MIN, INT64_MIN + 1}, {INT64_MAX - 1, INT64_MAX},
      {INT64_MIN, 0}, {-1, INT64_MAX}, {0, INT64_C(3) << 61}, {INT64_MIN, 17},
      {0, 256}, {0, 257}, {-1, 4}, {-128, 128}, {-129, 0}, {0, 129}, {-32768, 32768}, {0, 40000},
      {-32769, 0}, {INT32_MIN, INT64_C(1) << 31}, {0, 3000000000}, {-1, (INT64_C(1) << 31) + 1},
      {-256, 257}, {0, 258}, {-257, 0}, {-2048, 2049}, {0, 2050}, {-2049, 0}, {0, 100000},
      {-16777216, 16777217}, {0, 16777218}, {-16777217, 0}, {-(INT64_C(1) << 53), (INT64_C(1) << 53) + 1},
      {0, (INT64_C(1) << 53) + 2}, {-(INT64_C(1) << 53) - 1, 0}, {0, 3}};
  unsigned r;
  int t;
  for (r = 0; r < sizeof range / sizeof *range; r++)
    for (t = 0; t < GT_DTYPES; t++)
      GT_SCOPE {
        const int64_t low = range[r][0], high = range[r][1];
        if (can_hold((gt_dtype)t, low, high - 1)) compare_integers(low, high, (gt_dtype)t, 5 + r, 1001);
        else REFUSED(gt_randint(low, high, GT_SHAPE(10), (gt_dtype)t, DEV, NULL), GT_ERROR_ARGUMENT,
                     "does not hold every integer from");
      }
}

/* Same seed, same numbers, however they are asked for. */
static void test_continuity(void) {
  int t, kind;
  for (t = 0; t < GT_DTYPES; t++)
    for (kind = 0; kind < 3; kind++) GT_SCOPE {
        const gt_dtype d = (gt_dtype)t;
        gt_generator g = {42, 0}, h = {42, 0}, k = {42, 0};
        gt_tensor *piece[4], *whole, *wide;
        const int64_t size[4] = {1, 300, 0, 699};
        int i;
        if (kind < 2 && !is_float(d)) continue;
#define DRAW(shape, g) \
  (kind == 0   ? gt_rand(shape, d, DEV, g) \
   : kind == 1 ? gt_randn(shape, d, DEV, g) \
               : gt_randint(d <= GT_UINT8 ? 0 : -50, d == GT_BOOL ? 2 : 50, shape, d, DEV, g))
        for (i = 0; i < 4; i++) piece[i] = DRAW(GT_SHAPE(size[i]), &g);
        whole = DRAW(GT_SHAPE(1000), &h);
        wide = DRAW(GT_SHAPE(10, 1, 100), &k);
        CHECK_SAME(gt_cat(NULL, 4, (const gt_tensor *const *)piece, 0), whole);
        CHECK_SAME(gt_reshape(wide, GT_SHAPE(1000)), whole);
        CHECK_INT(g.offset, 1000);
        CHECK_INT(h.offset, 1000);
        CHECK_INT(k.offset, 1000);
        /* with the thread's generator */
        gt_manual_seed(42);
        CHECK_SAME(DRAW(GT_SHAPE(1000), NULL), whole);
        CHECK_SAME(DRAW(GT_SHAPE(5), NULL), DRAW(GT_SHAPE(5), &h));
        /* another seed, other numbers */
        gt_manual_seed(43);
        CHECK(!gt_item(gt_all(NULL, gt_eq(NULL, DRAW(GT_SHAPE(1000), NULL), whole), GT_ALL, 0)));
#undef DRAW
      }
  GT_SCOPE { /* the same on the CPU */
    gt_generator g = {9, 9}, h = {9, 9};
    CHECK_SAME(gt_rand(GT_SHAPE(513), GT_FLOAT32, DEV, &g), gt_rand(GT_SHAPE(513), GT_FLOAT32, gt_cpu(), &h));
    CHECK_SAME(gt_randn(GT_SHAPE(70000), GT_FLOAT32, DEV, &g), gt_randn(GT_SHAPE(70000), GT_FLOAT32, gt_cpu(), &h));
    CHECK_SAME(gt_randn(GT_SHAPE(999), GT_FLOAT64, DEV, &g), gt_randn(GT_SHAPE(999), GT_FLOAT64, gt_cpu(), &h));
    CHECK_SAME(gt_randperm(1000, DEV, &g), gt_randperm(1000, gt_cpu(), &h));
    CHECK_INT(g.offset, h.offset);
  }
}

/* ---- distributions ---- */
static int64_t many(void) { return QUICK ? 60000 : 1000000; }

static double *drawn(gt_tensor *x) {
  const int64_t n = gt_numel(x);
  double *v = (double *)malloc((size_t)n * 8);
  void *p = values_of(x);
  int64_t i;
  for (i = 0; i < n; i++) v[i] = load(x->dtype, p, i);
  free(p);
  return v;
}
/* counts against equal expectations; six standard deviations */
static void check_even(const char *what, const int64_t *count, int bins, int64_t n) {
  const double expected = (double)n / bins;
  double sum = 0;
  int i;
  for (i = 0; i < bins; i++) {
    const double d = (double)count[i] - expected;
    sum += d * d / expected;
  }
  CHECK_TEXT(fabs(sum - (bins - 1)) < 6 * sqrt(2.0 * (bins - 1)),
             "%s: chi-square is %.1f over %d bins", what, sum, bins);
}
static void check_correlation(const char *what, const double *x, const double *y, int64_t n, double mean,
                              double variance) {
  double sum = 0;
  int64_t i;
  for (i = 0; i < n; i++) sum += (x[i] - mean) * (y[i] - mean);
  sum /= variance * (double)n;
  CHECK_TEXT(fabs(sum) < 6 / sqrt((double)n), "%s: correlation %.5f of %" PRId64, what, sum, n);
}

static void test_uniform(void) {
  int t;
  for (t = GT_FLOAT16; t <= GT_FLOAT64; t++) GT_SCOPE {
      const int64_t n = many();
      gt_generator g = {7, 0};
      double *v = drawn(gt_rand(GT_SHAPE(n), (gt_dtype)t, DEV, &g)), sum = 0, squares = 0;
      enum { BINS = 64 };
      int64_t count[BINS] = {0}, pairs[BINS] = {0}, outside = 0, i;
      const double coarse = t == GT_BFLOAT16 ? 0x1p-8 : t == GT_FLOAT16 ? 0x1p-11 : 0;
      for (i = 0; i < n; i++) {
        const double x = v[i];
        outside += !(x >= 0 && x < 1);
        sum += x;
        squares += x * x;
        if (x < 1) count[(int)(x * BINS)]++;
        if (i & 1 && v[i - 1] < 1 && x < 1) pairs[(int)(v[i - 1] * 8) * 8 + (int)(x * 8)]++;
      }
      CHECK_TEXT(outside == 0, "%s: %" PRId64 " of %" PRId64 " numbers are not in [0, 1)",
                 gt_dtype_string((gt_dtype)t), outside, n);
      sum /= (double)n;
      CHECK_NEAR(sum, 0.5, 6 * sqrt(1 / 12.0 / (double)n) + coarse);
      CHECK_NEAR(squares / (double)n - sum * sum, 1 / 12.0, 6 * sqrt(1 / 180.0 / (double)n) + coarse);
      check_even("uniform", count, BINS, n);
      check_even("pairs of uniforms", pairs, 64, n / 2);
      check_correlation("uniform, lag 1", v, v + 1, n - 1, 0.5, 1 / 12.0);
      check_correlation("uniform, lag 2", v, v + 2, n - 2, 0.5, 1 / 12.0);
      check_correlation("uniform, lag 64", v, v + 64, n - 64, 0.5, 1 / 12.0);
      { /* the next seed is another sequence */
        gt_generator h = {8, 0};
        double *w = drawn(gt_rand(GT_SHAPE(n), (gt_dtype)t, DEV, &h));
        check_correlation("uniform, next seed", v, w, n, 0.5, 1 / 12.0);
        check_correlation("uniform, next seed, shifted", v, w + 1, n - 1, 0.5, 1 / 12.0);
        free(w);
      }
      free(v);
    }
}

static void test_normal(void) {
  int t;
  for (t = GT_FLOAT16; t <= GT_FLOAT64; t++) GT_SCOPE {
      const int64_t n = many();
      const double coarse = t == GT_BFLOAT16 ? 1e-3 : t == GT_FLOAT16 ? 1e-4 : 0;
      gt_generator g = {11, 0};
      double *v = drawn(gt_randn(GT_SHAPE(n), (gt_dtype)t, DEV, &g)), m[5] = {0}, largest = 0;
      enum { BINS = 64 };
      int64_t count[BINS] = {0}, beyond[5] = {0}, i;
      int k;
      for (i = 0; i < n; i++) {
        const double x = v[i], below = 0.5 * erfc(-x / sqrt(2.0));
        double power = 1;
        for (k = 0; k < 5; k++, power *= x) m[k] += power;
        for (k = 1; k < 5; k++) beyond[k] += fabs(x) > k + 0.001;
        if (fabs(x) > largest) largest = fabs(x);
        if (below >= 0 && below <= 1) count[below < 1 ? (int)(below * BINS) : BINS - 1]++;
      }
      for (k = 1; k < 5; k++) m[k] /= (double)n;
      CHECK_NEAR(m[1], 0, 6 / sqrt((double)n) + coarse);
      CHECK_NEAR(m[2], 1, 6 * sqrt(2.0 / (double)n) + 4 * coarse);
      CHECK_NEAR(m[3], 0, 6 * sqrt(15.0 / (double)n) + 4 * coarse);
      CHECK_NEAR(m[4], 3, 6 * sqrt(96.0 / (double)n) + 16 * coarse);
      for (k = 1; k < 5 && t >= GT_FLOAT32; k++) {
        const double p = erfc((k + 0.001) / sqrt(2.0)) * (double)n;
        CHECK_NEAR((double)beyond[k], p, 6 * sqrt(p) + 1);
      }
      if (t >= GT_FLOAT32) check_even("normal", count, BINS, n);
      CHECK(largest > 3.5 && largest < 9);
      check_correlation("normal, lag 1", v, v + 1, n - 1, 0, 1);
      check_correlation("normal, lag 2", v, v + 2, n - 2, 0, 1);
      for (i = 0; i < n; i++) v[i] *= v[i]; /* Box-Muller's radii must not show in neighbours */
      check_correlation("squares of normals, lag 1", v, v + 1, n - 1, 1, 2);
      free(v);
    }
}

static void test_integer_distribution(void) {
  static const int64_t range[][2] = {{0, 6}, {-5, 5}, {0, 256}, {-3, 98}, {0, 2}};
  unsigned r;
  for (r = 0; r < sizeof range / sizeof *range; r++) GT_SCOPE {
      const int64_t n = many();
      const int bins = (int)(range[r][1] - range[r][0]);
      gt_generator g = {31, 0};
      int64_t count[256] = {0}, i;
      double *v = drawn(gt_randint(range[r][0], range[r][1], GT_SHAPE(n), GT_INT32, DEV, &g));
      for (i = 0; i < n; i++) {
        const int64_t k = (int64_t)v[i] - range[r][0];
        CHECK(k >= 0 && k < bins);
        if (k >= 0 && k < bins) count[k]++;
      }
      check_even("integers", count, bins, n);
      free(v);
    }
  GT_SCOPE { /* all 64 bits are drawn evenly */
    const int64_t n = many() / 10;
    gt_generator g = {32, 0};
    gt_tensor *x = gt_randint(INT64_MIN, INT64_MAX, GT_SHAPE(n), GT_INT64, DEV, &g);
    int64_t *p = (int64_t *)values_of(x), i;
    int b;
    for (b = 0; b < 64; b++) {
      int64_t set = 0;
      for (i = 0; i < n; i++) set += (int64_t)((uint64_t)p[i] >> b & 1);
      CHECK_NEAR((double)set, (double)n / 2, 6 * sqrt((double)n / 4));
    }
    free(p);
  }
}

static void test_permutations(void) {
  static const int64_t size[] = {0, 1, 2, 3, 10, 255, 1000, 65537};
  unsigned k;
  for (k = 0; k < sizeof size / sizeof *size; k++) GT_SCOPE {
      const int64_t n = size[k];
      gt_generator g = {17, 100}, h = {17, 100};
      gt_tensor *x = gt_randperm(n, DEV, &g);
      int64_t *p = (int64_t *)values_of(x), i, distinct = 0, fixed = 0;
      char *seen = (char *)calloc((size_t)n + 1, 1);
      CHECK_INT(gt_numel(x), n);
      CHECK_INT(x->ndim, 1);
      CHECK_INT(x->dtype, GT_INT64);
      CHECK_INT(x->device.type, DEV.type);
      CHECK_INT(g.offset, 100 + n);
      for (i = 0; i < n; i++) {
        if (p[i] >= 0 && p[i] < n && !seen[p[i]]) seen[p[i]] = 1, distinct++;
        fixed += p[i] == i;
      }
      CHECK_INT(distinct, n);
      CHECK(n < 100 || fixed < 12); /* one fixed point is expected, whatever n */
      CHECK_SAME(x, gt_randperm(n, DEV, &h));
      free(p);
      free(seen);
    }
  GT_SCOPE { /* all 24 orders of four, equally often */
    int64_t count[24] = {0}, n = QUICK ? 2400 : 24000, i;
    gt_generator g = {5, 0};
    for (i = 0; i < n; i++) GT_SCOPE {
        int64_t *p = (int64_t *)values_of(gt_randperm(4, gt_cpu(), &g));
        int a, b, rank = 0;
        for (a = 0; a < 4; a++) {
          int smaller = 0;
          for (b = a + 1; b < 4; b++) smaller += p[b] < p[a];
          rank = rank * (4 - a) + smaller;
        }
        count[rank]++;
        free(p);
      }
    check_even("permutations of four", count, 24, n);
  }
}

/* ---- refusals: nothing is drawn by a call that fails ---- */
static void test_refused(void) {
  gt_generator g = {1, 5};
  int t;
  for (t = GT_BOOL; t <= GT_INT64; t++) {
    REFUSED(gt_rand(GT_SHAPE(2), (gt_dtype)t, DEV, &g), GT_ERROR_DTYPE, "gt_randint");
    REFUSED(gt_randn(GT_SHAPE(2), (gt_dtype)t, DEV, &g), GT_ERROR_DTYPE, "gt_randn");
  }
  REFUSED(gt_rand(GT_SHAPE(2), (gt_dtype)77, DEV, &g), GT_ERROR_DTYPE, "77");
  REFUSED(gt_randn(GT_SHAPE(2), (gt_dtype)-1, DEV, &g), GT_ERROR_DTYPE, "-1");
  REFUSED(gt_rand(GT_SHAPE(2, -2), GT_FLOAT32, DEV, &g), GT_ERROR_SHAPE, "gt_rand");
  REFUSED(gt_randint(3, 3, GT_SHAPE(2), GT_INT32, DEV, &g), GT_ERROR_ARGUMENT, "from 3 to below 3");
  REFUSED(gt_randint(4, 3, GT_SHAPE(2), GT_INT32, DEV, &g), GT_ERROR_ARGUMENT, "gt_randint");
  REFUSED(gt_randint(INT64_MAX, INT64_MIN, GT_SHAPE(2), GT_INT64, DEV, &g), GT_ERROR_ARGUMENT,
          "gt_randint");
  REFUSED(gt_randint(0, 3, GT_SHAPE(2), (gt_dtype)12, DEV, &g), GT_ERROR_DTYPE, "gt_randint");
  REFUSED(gt_randint(-1, 4, GT_SHAPE(2), GT_UINT8, DEV, &g), GT_ERROR_ARGUMENT,
          "gt_randint: uint8 does not hold every integer from -1 to below 4");
  REFUSED(gt_randint(0, 4096, GT_SHAPE(2), GT_FLOAT16, DEV, &g), GT_ERROR_ARGUMENT,
          "gt_randint: float16 does not hold every integer from 0 to below 4096");
  REFUSED(gt_randperm(-1, DEV, &g), GT_ERROR_SHAPE, "gt_randperm");
  REFUSED(gt_randperm(INT64_MAX, DEV, &g), GT_ERROR_SHAPE, "gt_randperm");
  REFUSED(gt_randperm(3, (gt_device){GT_NO_DEVICE, 0}, &g), GT_ERROR_DEVICE, "gt_randperm");
  CHECK_INT(g.offset, 5);
  CHECK_INT(g.seed, 1);
}

/* ---- recorded: the first 1000 numbers of every kind and dtype ---- */
static void check_golden(const char *kind, gt_dtype t, gt_tensor *x, uint64_t wanted) {
  void *p = values_of(x);
  uint64_t got = UINT64_C(0xcbf29ce484222325);
  int64_t i;
  for (i = 0; x && i < gt_numel(x); i++) got = hash_element(got, t, p, i);
  CHECK_TEXT(got == wanted, "%s %s: recorded UINT64_C(0x%016" PRIx64 "), got UINT64_C(0x%016" PRIx64
             ")", kind, gt_dtype_string(t), wanted, got);
  digest(t, p, x ? gt_numel(x) : 0);
  free(p);
}
static void test_recorded(void) {
  /* integers stored as floats are the reference's, rounded */
  static const uint64_t integers[GT_DTYPES] = {
      UINT64_C(0x87d167c89fc7ba11), UINT64_C(0xb5aa7f09571bb6d0), UINT64_C(0x9853b9f239f2c038),
      UINT64_C(0xbaac80bea739353e), UINT64_C(0x5552c2e28d9ac61e), UINT64_C(0x787e118603ecdd16),
      UINT64_C(0x574db89b20454964), UINT64_C(0xb2422f8360d007b8), UINT64_C(0x3b081d653650d770),
      UINT64_C(0x761b3b279dc74f7b)};
  static const uint64_t uniforms[4] = {UINT64_C(0xcc4792c500154d21), UINT64_C(0x3feb450f0a7d6003),
                                       UINT64_C(0xaa373a5cc7b07a7b), UINT64_C(0x96b092495b37ebcc)};
  static const uint64_t normals[4] = {UINT64_C(0x25ed147b811401ed), UINT64_C(0x7156d186a6682327),
                                      UINT64_C(0x4422220e1dce450a), UINT64_C(0xf0f8ffa3cebe5744)};
  static const uint64_t permutation = UINT64_C(0x5aca022f866c6ba1);
  static const uint64_t whole = UINT64_C(0x67a7d4ddd698cef2);
  int t;
  for (t = 0; t < GT_DTYPES; t++) GT_SCOPE {
      gt_generator g = {20261121, 0};
      const gt_dtype d = (gt_dtype)t;
      const int64_t low = t <= GT_UINT8 ? 0 : -100;
      const int64_t high = d == GT_BOOL ? 2 : 101;
      check_golden("randint", d, gt_randint(low, high, GT_SHAPE(1000), d, DEV, &g), integers[t]);
      if (!is_float(d)) continue;
      g.offset = 0;
      check_golden("rand", d, gt_rand(GT_SHAPE(1000), d, DEV, &g), uniforms[t - GT_FLOAT16]);
      g.offset = 0;
      check_golden("randn", d, gt_randn(GT_SHAPE(1000), d, DEV, &g), normals[t - GT_FLOAT16]);
    }
  GT_SCOPE {
    gt_generator g = {20261121, 0};
    check_golden("randperm", GT_INT64, gt_randperm(1000, DEV, &g), permutation);
    g.offset = 0;
    check_golden("randint, all 64 bits", GT_INT64,
                 gt_randint(INT64_MIN, INT64_MAX, GT_SHAPE(1000), GT_INT64, DEV, &g), whole);
  }
}

int main(int argc, char **argv) {
  check_start("random", argc, argv);
  RUN(published_answers);
  RUN(reference);
  RUN(integers);
  RUN(continuity);
  RUN(uniform);
  RUN(normal);
  RUN(integer_distribution);
  RUN(permutations);
  RUN(refused);
  RUN(recorded);
  return check_finish();
}
