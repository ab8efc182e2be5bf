/* What streams wait for: the memory that operations touch, not the tensor that it belongs to. Slices
   that do not meet, several wraps of one piece of memory, more uses than a storage remembers, writes
   that failed after their call, streams that were freed while current, and more streams than slots.

   Nothing depends on time: what is compared is how many waits the library made and how many races it
   reported, and the values. */
#include "check.h"

#include <pthread.h>
#include <sched.h>

#ifdef GPUTENSOR_NO_THREADS
enum { QUEUED = 0 };
#else
enum { QUEUED = 1 };
#endif

static int later(void) { return QUEUED || DEV.type != GT_CPU; } /* do calls return early? */
static int64_t waits(void) { /* between streams, and of the host, since the last call */
  gt_statistics s;
  gt_stats(&s);
  gt_reset_stats();
  return (int64_t)(s.stream_waits + s.host_waits);
}
static gt_stream *one, *two;
static void open_streams(void) {
  one = gt_stream_create(DEV, 0);
  two = gt_stream_create(DEV, 0);
}
static void close_streams(void) {
  gt_synchronize(DEV);
  gt_stream_free(one);
  gt_stream_free(two);
}
/* How many races two declarations make: 0 or 1. *may: the library could not tell. */
static int64_t races_of(const gt_tensor *a, int a_writes, const gt_tensor *b, int b_writes, int *may) {
  char line[400] = "";
  FILE *file = tmpfile();
  int64_t n;
  gt_set_stream_safety(GT_REPORT);
  gt_report_races(NULL);
  if (a_writes) gt_stream_writes(one, a);
  else gt_stream_reads(one, a);
  if (b_writes) gt_stream_writes(two, b);
  else gt_stream_reads(two, b);
  n = gt_report_races(file);
  gt_set_stream_safety(GT_ORDER);
  gt_synchronize(DEV);
  rewind(file);
  if (!fgets(line, sizeof line, file)) line[0] = 0;
  fclose(file);
  *may = strncmp(line, "may be a race: ", 15) == 0;
  if (n && !*may) CHECK(strncmp(line, "race: ", 6) == 0);
  return n;
}

/* ---- slices ---- */
/* Blocks of rows and columns: from[0]..to[0] in steps of step[0], likewise columns. */
typedef struct { int64_t from[2], to[2], step[2]; } block;
static gt_tensor *slice_of(const gt_tensor *x, const block *b) {
  gt_tensor *rows = gt_slice(x, 0, b->from[0], b->to[0], b->step[0]);
  gt_tensor *y = gt_slice(rows, 1, b->from[1], b->to[1], b->step[1]);
  const int way = (int)rnd_below(4); /* backwards, along any dims, it is the same memory */
  if (way & 1) y = gt_flip(y, GT_DIM(0));
  return way & 2 ? gt_flip(y, GT_DIM(1)) : y;
}
static void test_blocks_of_a_matrix(void) {
  static const struct { const char *name; block a, b; int meet; } pairs[] = {
      {"rows", {{0, 0}, {3, 20}, {1, 1}}, {{3, 0}, {6, 20}, {1, 1}}, 0},
      {"the same rows", {{0, 0}, {3, 20}, {1, 1}}, {{2, 0}, {6, 20}, {1, 1}}, 1},
      {"columns", {{0, 0}, {12, 5}, {1, 1}}, {{0, 5}, {12, 20}, {1, 1}}, 0},
      {"columns that meet", {{0, 0}, {12, 6}, {1, 1}}, {{0, 5}, {12, 20}, {1, 1}}, 1},
      {"columns and a row", {{0, 0}, {12, 5}, {1, 1}}, {{4, 0}, {5, 20}, {1, 1}}, 1},
      {"columns and half a row", {{0, 0}, {12, 5}, {1, 1}}, {{4, 5}, {5, 20}, {1, 1}}, 0},
      {"even and odd rows", {{0, 0}, {12, 20}, {2, 1}}, {{1, 0}, {12, 20}, {2, 1}}, 0},
      {"even and odd columns", {{0, 0}, {12, 20}, {1, 2}}, {{0, 1}, {12, 20}, {1, 2}}, 0},
      {"blocks below each other", {{0, 0}, {6, 5}, {1, 1}}, {{6, 0}, {12, 5}, {1, 1}}, 0},
      {"blocks that share a corner", {{0, 0}, {7, 6}, {1, 1}}, {{6, 5}, {12, 20}, {1, 1}}, 1},
      {"one column and the next", {{0, 7}, {12, 8}, {1, 1}}, {{0, 8}, {12, 9}, {1, 1}}, 0},
      {"the last element and the rest", {{11, 19}, {12, 20}, {1, 1}}, {{0, 0}, {11, 20}, {1, 1}}, 0},
  };
  gt_tensor *x = gt_zeros(GT_SHAPE(12, 20), GT_FLOAT32, DEV);
  unsigned i;
  int may, w;
  if (!later()) return;
  open_streams();
  for (i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    gt_tensor *a = slice_of(x, &pairs[i].a), *b = slice_of(x, &pairs[i].b);
    gt_synchronize(DEV);
    for (w = 0; w < 4; w++) {
      const int expected = pairs[i].meet && w != 0;
      CHECK_TEXT(races_of(a, w & 1, b, w >> 1, &may) == expected, "%s: %d", pairs[i].name, w);
      CHECK_TEXT(!may, "%s: it can be told", pairs[i].name);
      CHECK_TEXT(races_of(b, w & 1, a, w >> 1, &may) == expected, "%s: %d", pairs[i].name, w);
    }
    gt_synchronize(DEV);
    waits();
    GT_WITH_STREAM(one) gt_fill(a, 1);
    GT_WITH_STREAM(two) gt_fill(b, 2);
    CHECK_TEXT(waits() == pairs[i].meet, "%s: the streams waited", pairs[i].name);
  }
  close_streams();
}
/* Any two views, against their bytes one by one: what meets is never overlooked, and where the library
   says that it can tell, it is right. */
static gt_tensor *random_view(const gt_tensor *x) {
  gt_tensor *y = gt_retain(x);
  int k;
  for (k = 0; k < 4; k++) {
    const int d = (int)rnd_below(y->ndim);
    const int64_t size = y->shape[d], from = rnd_below(size);
    if (k == 2 && y->ndim > 1) y = gt_transpose(y, 0, (int)rnd_below(y->ndim));
    else y = gt_slice(y, d, from, from + 1 + rnd_below(size - from), 1 + rnd_below(3));
  }
  if (y->ndim > 1 && rnd_below(4) == 0) y = gt_select(y, 0, 0);
  if (y->ndim == 2 && rnd_below(4) == 0) y = gt_diagonal(y, 0, 0, 1);
  return y;
}
static void mark(const gt_tensor *x, int dim, int64_t at, unsigned char *bytes, unsigned char bit) {
  int64_t i;
  if (dim == x->ndim) bytes[at] |= bit;
  else for (i = 0; i < x->shape[dim]; i++) mark(x, dim + 1, at + i * x->stride[dim], bytes, bit);
}
static void test_any_views(void) {
  enum { TIMES = 3000, SIZE = 6 * 10 * 8 };
  int64_t apart = 0, meet = 0, unknown = 0;
  int i, k;
  if (!later()) return;
  open_streams();
  for (i = 0; i < (QUICK ? TIMES / 5 : TIMES); i++) GT_SCOPE {
      const gt_shape shape = i % 2 ? GT_SHAPE(6, 10, 8) : GT_SHAPE(20, 24);
      gt_tensor *x = gt_empty(shape, GT_INT16, DEV);
      gt_tensor *a = random_view(x), *b = random_view(x);
      unsigned char bytes[SIZE] = {0};
      int truly = 0, may;
      int64_t found;
      gt_synchronize(DEV); /* x's memory is there */
      mark(a, 0, a->offset, bytes, 1);
      mark(b, 0, b->offset, bytes, 2);
      for (k = 0; k < SIZE; k++) truly |= bytes[k] == 3;
      found = races_of(a, 1, b, rnd_below(2) == 0, &may);
      CHECK(!truly || found);
      CHECK(may || found == truly);
      if (may) unknown++;
      else if (found) meet++;
      else apart++;
    }
  CHECK(apart > 0 && meet > 0 && unknown > 0); /* or the test sees nothing */
  close_streams();
}
/* Two streams share out a matrix by rows: they wait for nothing, and the sums are right. */
static void test_shared_out(void) {
  enum { ROWS = 48, STREAMS = 4 };
  gt_stream *s[STREAMS];
  gt_tensor *x = gt_zeros(GT_SHAPE(ROWS, 500), GT_FLOAT32, DEV);
  int i, round;
  for (i = 0; i < STREAMS; i++) s[i] = gt_stream_create(DEV, 0);
  gt_synchronize(DEV);
  waits();
  for (round = 0; round < 3; round++)
    for (i = 0; i < ROWS; i++)
      GT_WITH_STREAM(s[i % STREAMS]) GT_SCOPE {
        gt_tensor *row = gt_select(x, 0, i);
        gt_eval(row, "a + b", row, gt_scalar(i + 1));
      }
  if (later()) CHECK_INT(waits(), 0);
  CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 3.0 * 500 * ROWS * (ROWS + 1) / 2);
  for (i = 0; i < STREAMS; i++) gt_stream_free(s[i]);
}
/* More pieces, of more streams, than a storage remembers; nothing is lost where they are joined. */
static void test_many_pieces(void) {
  enum { PIECES = 300, STREAMS = 7 };
  gt_stream *s[STREAMS];
  gt_tensor *x = gt_zeros(GT_SHAPE(PIECES, 9), GT_INT32, DEV);
  int i, round;
  for (i = 0; i < STREAMS; i++) s[i] = gt_stream_create(DEV, 0);
  for (round = 0; round < 4; round++) {
    for (i = 0; i < PIECES; i++)
      GT_WITH_STREAM(s[(i + round) % STREAMS]) GT_SCOPE {
        gt_tensor *row = gt_select(x, 0, (i * 7) % PIECES);
        gt_eval(row, "a*3 + 1", row);
      }
    GT_WITH_STREAM(s[round]) gt_eval(x, "a + 1", x);
  }
  CHECK_INT(gt_item_int64(gt_min(NULL, x, GT_ALL, 0)), 80); /* 0, then four times 3a + 2 */
  CHECK_INT(gt_item_int64(gt_max(NULL, x, GT_ALL, 0)), 80);
  for (i = 0; i < STREAMS; i++) gt_stream_free(s[i]);
}
/* What was waited for stays waited for when its neighbour is written: no false alarm. */
static void test_neighbours(void) {
  gt_tensor *x = gt_zeros(GT_SHAPE(4, 100), GT_FLOAT32, DEV), *a, *b;
  gt_event *e = gt_event_create();
  if (!later()) return;
  open_streams();
  a = gt_select(x, 0, 0);
  b = gt_select(x, 0, 1);
  gt_synchronize(DEV);
  gt_report_races(NULL);
  gt_set_stream_safety(GT_REPORT);
  GT_WITH_STREAM(one) gt_fill(a, 1);
  gt_event_record(e, one);
  GT_WITH_STREAM(one) gt_fill(b, 2);
  gt_stream_wait_event(two, e);
  GT_WITH_STREAM(two) gt_add(a, a, a);
  CHECK_INT(gt_report_races(NULL), 0);
  GT_WITH_STREAM(two) gt_add(b, b, b);
  CHECK_INT(gt_report_races(NULL), 1);
  gt_set_stream_safety(GT_ORDER);
  close_streams();
  gt_event_free(e);
}

/* ---- memory that is wrapped ---- */
static gt_tensor *wrap(void *p, int64_t n, gt_dtype dtype, gt_device device) {
  return gt_from_ptr(p, GT_SHAPE(n), dtype, device, NULL, NULL);
}
static void check_wraps(float *p, gt_device device) {
  enum { N = 20000 };
  gt_tensor *x = wrap(p, N, GT_FLOAT32, device), *y = wrap(p + 100, N - 100, GT_FLOAT32, device);
  gt_tensor *z = wrap(p, 50, GT_FLOAT32, device), *sum;
  gt_stream *s = gt_stream_create(device, 0), *t = gt_stream_create(device, 0);
  int i;
  for (i = 0; i < 20; i++) {
    gt_synchronize(device);
    waits();
    GT_WITH_STREAM(s) gt_fill(x, 1);
    GT_WITH_STREAM(s) gt_eval(x, "sin(a)*0 + 2", x);
    GT_WITH_STREAM(t) gt_eval(y, "a*3", y);
    if (later()) CHECK_INT(waits(), 1);
    GT_WITH_STREAM(s) sum = gt_sum(NULL, x, GT_ALL, 0);
    CHECK_NUM(gt_item(sum), 2 * 100 + 6 * (N - 100));
    gt_free(sum);
    gt_synchronize(device);
    waits();
    GT_WITH_STREAM(t) gt_fill(y, 5);   /* y and z do not meet */
    GT_WITH_STREAM(s) gt_fill(z, 7);
    if (later()) CHECK_INT(waits(), 0);
    CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 50 * 7 + 50 * 2 + 5 * (N - 100));
  }
  gt_stream_free(s);
  gt_stream_free(t);
  gt_free(x);
  gt_free(y);
  gt_free(z);
}
static void test_two_wraps(void) {
  static float host[20000];
  gt_tensor *x;
  if (QUEUED || DEV.type == GT_CUDA) check_wraps(host, gt_cpu());
  x = gt_zeros(GT_SHAPE(30000), GT_FLOAT32, DEV); /* memory of ours is wrapped again */
  check_wraps((float *)gt_data(x) + 1000, DEV);
  CHECK_NUM(gt_item(gt_slice(x, 0, 1000, 1001, 1)), 7);
}
/* A wrap over two others joins what was known of them, in any order of making and freeing. */
static void test_a_wrap_of_two(void) {
  static float host[300];
  int order;
  if (!QUEUED) return;
  for (order = 0; order < 6; order++) {
    gt_tensor *x = wrap(host, 100, GT_FLOAT32, gt_cpu());
    gt_tensor *y = wrap(host + 200, 100, GT_FLOAT32, gt_cpu()), *all;
    gt_stream *s = gt_stream_create(gt_cpu(), 0), *t = gt_stream_create(gt_cpu(), 0);
    GT_WITH_STREAM(s) gt_fill(x, 1);
    GT_WITH_STREAM(t) gt_fill(y, 2);
    all = wrap(host, 300, GT_FLOAT32, gt_cpu());
    if (order % 2) gt_free(x);
    GT_WITH_STREAM(s) gt_eval(all, "a*10", all);
    if (order % 3 == 1) gt_free(all);
    GT_WITH_STREAM(t) gt_eval(y, "a + 1", y);
    if (order % 3 == 2) gt_free(y);
    if (order % 3 != 1) gt_free(all);
    if (order % 3 != 2) gt_free(y);
    if (order % 2 == 0) gt_free(x);
    CHECK_NUM(host[0], 10); /* freeing has waited */
    CHECK_NUM(host[299], 21);
    gt_stream_free(s);
    gt_stream_free(t);
  }
}
/* One operation whose operands are two wraps of one memory, of different dtypes as well. */
static void test_wraps_in_one_operation(void) {
  enum { N = 5000 };
  static int32_t v[N + 1];
  int i, bad = 0;
  for (i = 0; i <= N; i++) v[i] = i;
  gt_add(wrap(v + 1, N, GT_INT32, gt_cpu()), wrap(v, N, GT_INT32, gt_cpu()), gt_scalar_int64(0));
  for (i = 1; i <= N; i++) bad += v[i] != i - 1;
  CHECK_INT(bad, 0);
  for (i = 0; i <= N; i++) v[i] = i;
  gt_copy(wrap(v, N, GT_INT32, gt_cpu()), wrap(v, 2 * N, GT_INT16, gt_cpu())->shape[0] == 2 * N
                                              ? gt_slice(wrap(v, 2 * N, GT_INT16, gt_cpu()), 0, N, 2 * N, 1)
                                              : NULL);
  for (i = 0, bad = 0; i < N; i++) { /* the halves of the numbers from N/2 on */
    const int32_t number = (N + i) / 2, low_first = 1;
    const int16_t low = (int16_t)number, high = (int16_t)(number >> 16);
    const int is_low = (*(const char *)&low_first ? (N + i) % 2 == 0 : (N + i) % 2 == 1);
    bad += v[i] != (is_low ? low : high);
  }
  CHECK_INT(bad, 0);
}
static void test_whose_memory(void) {
  static float host[4] = {1, 2, 3, 4};
  gt_tensor *x = gt_ones(GT_SHAPE(4), GT_FLOAT32, DEV), *pinned;
  CHECK_NUM(gt_item(gt_sum(NULL, wrap(gt_data(x), 4, GT_FLOAT32, DEV), GT_ALL, 0)), 4);
  if (DEV.type == GT_CPU) {
    skip("memory of the host is no GPU's", "no GPU");
    return;
  }
  pinned = gt_empty_pinned(GT_SHAPE(4), GT_FLOAT32);
  REFUSED(wrap(host, 4, GT_FLOAT32, DEV), GT_ERROR_DEVICE, "data is memory of the host, not of cuda:");
  REFUSED(wrap(gt_data(pinned), 4, GT_FLOAT32, DEV), GT_ERROR_DEVICE, "memory of the host");
  REFUSED(wrap(gt_data(x), 4, GT_FLOAT32, gt_cpu()), GT_ERROR_DEVICE, "not of cpu");
  CHECK(wrap(gt_data(pinned), 4, GT_FLOAT32, gt_cpu()) != NULL);
  if (gt_cuda_device_count() < 2) {
    skip("memory of another GPU", "one GPU");
    return;
  }
  REFUSED(wrap(gt_data(x), 4, GT_FLOAT32, gt_cuda(DEV.index == 0)), GT_ERROR_DEVICE, "data is memory of cuda:");
}

/* ---- writes that fail after their call ---- */
static void hold(gt_stream *s, gt_tensor *out) { /* a softmax of long rows that will find no memory */
  gt_tensor *a = gt_ones(gt_shape_of(out), GT_FLOAT32, gt_cpu());
  hooks_hold(1);
  GT_WITH_STREAM(s) gt_softmax(out, a, 1);
  CHECK_INT(gt_error(), GT_OK);
  gt_free(a);
}
static void let_fail(gt_stream *s) {
  hooks_fail_at(1);
  hooks_hold(0);
  while (gt_stream_query(s) == 0) sched_yield();
  hooks_fail_at(0);
  gt_clear_error();
}
/* Whoever reads it hears of it, whatever was called in between, until it is written. */
static void check_unwritten(int what) {
  static float values[40000];
  gt_stream *s = gt_stream_create(gt_cpu(), 0), *t = gt_stream_create(gt_cpu(), 0);
  gt_tensor *x = gt_zeros(GT_SHAPE(20, 2000), GT_FLOAT32, gt_cpu()), *y = gt_copy(NULL, x), *row;
  gt_tensor *other = gt_zeros(GT_SHAPE(20), GT_FLOAT32, gt_cpu()), *sum = NULL, *third = NULL;
  hold(s, x);
  GT_WITH_STREAM(s) gt_fill(other, 3);           /* it needs nothing of x */
  GT_WITH_STREAM(s) gt_eval(y, "a + 1", x);      /* it does */
  GT_WITH_STREAM(t) sum = gt_sum(NULL, x, GT_ALL, 0);
  let_fail(s);
  while (gt_stream_synchronize(t)) gt_clear_error();
  if (what == 1) gt_stream_synchronize(s), gt_clear_error();
  if (what == 2) gt_free(other), other = NULL;
  if (what == 3) gt_stream_free(s), s = NULL;
  if (what == 4) gt_synchronize(gt_cpu()), gt_clear_error();
  if (what == 5) gt_empty_cache(), gt_clear_error();
  gt_clear_error();
  REFUSED_STATUS(gt_to_array(x, values, sizeof values), GT_ERROR_MEMORY,
                 "what it reads was never written, since gt_softmax on a stream of the CPU failed");
  REFUSED(gt_data(x), GT_ERROR_MEMORY, "never written");
  REFUSED(gt_add(NULL, x, x), GT_ERROR_MEMORY, "gt_add: what it reads was never written");
  REFUSED(gt_data(y), GT_ERROR_MEMORY, "since gt_eval on a stream");
  REFUSED_IF(gt_item(sum) != gt_item(sum), GT_ERROR_MEMORY, "since gt_sum on a stream");
  if (other) CHECK_NUM(gt_item(gt_sum(NULL, other, GT_ALL, 0)), 60);
  row = gt_select(x, 0, 3);
  gt_fill(row, 1);                               /* a part of it does not do */
  REFUSED(gt_data(x), GT_ERROR_MEMORY, "never written");
  if (what % 2) GT_WITH_STREAM(t) third = gt_fill(x, 2);
  else third = gt_fill(x, 2);
  CHECK(third != NULL);
  CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 80000);
  gt_copy(y, x);
  CHECK_NUM(gt_item(gt_sum(NULL, y, GT_ALL, 0)), 80000);
  gt_stream_free(s);
  gt_stream_free(t);
}
static void test_unwritten(void) {
  int what;
  if (!QUEUED) return;
  for (what = 0; what < 6; what++) GT_SCOPE check_unwritten(what);
}
/* The same, but nobody asks the stream, which therefore still has its error. */
static void let_fail_untold(void) {
  hooks_fail_at(1);
  hooks_hold(0);
  while (!hooks_failed()) sched_yield();
  hooks_fail_at(0);
}
static void fail_to_write(gt_stream *s, gt_tensor *out) {
  hold(s, out);
  let_fail(s);
}
#define UNWRITTEN(x) REFUSED(gt_data(x), GT_ERROR_MEMORY, "never written")
static double at(const gt_tensor *x, int64_t i, int64_t j) {
  return gt_item(gt_select(gt_select(x, 0, i), 0, j));
}
static gt_tensor *matrix(int64_t rows, double value) {
  return gt_full(GT_SHAPE(rows, 2000), value, GT_FLOAT32, gt_cpu());
}
/* What the stream wrote before and after the failure can be read, by other streams, too. */
static void test_written_well(void) {
  gt_stream *s, *t;
  gt_tensor *before, *after, *x, *sum;
  int i;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0), t = gt_stream_create(gt_cpu(), 0);
  before = matrix(2, 1), after = matrix(2, 2), x = matrix(20, 0);
  hooks_hold(1);
  GT_WITH_STREAM(s) gt_fill(before, 5);
  hold(s, x);
  GT_WITH_STREAM(s) gt_fill(after, 7);
  GT_WITH_STREAM(t) sum = gt_add(NULL, before, after); /* it waits for the stream that fails */
  let_fail_untold();
  for (i = 0; i < 3; i++) {
    CHECK_NUM(at(before, 1, 3), 5);
    CHECK_NUM(at(after, 1, 3), 7);
    CHECK_NUM(at(sum, 1, 3), 12);
    NO_ERROR();
    UNWRITTEN(x);
  }
  /* reading has not taken the error away from who asks the stream, who hears of it once */
  REFUSED_STATUS(gt_stream_synchronize(s), GT_ERROR_MEMORY, "gt_stream_synchronize: cpu: ");
  CHECK_INT(gt_stream_synchronize(s), GT_OK);
  CHECK_NUM(at(before, 0, 0) + at(after, 0, 0), 12);
  gt_stream_free(s);
  gt_stream_free(t);
}
/* Written anew, at once or piece by piece, by the host or on a stream, it can be read. */
static void refill(gt_tensor *x, int how) {
  const gt_tensor *half[2];
  gt_tensor *row = gt_full(GT_SHAPE(2000), 3, GT_FLOAT32, gt_cpu());
  int i;
  half[0] = half[1] = matrix(10, 3);
  if (how == 0) gt_cat(x, 2, half, 0);
  else if (how == 1) gt_fill(gt_transpose(x, 0, 1), 3);
  else if (how == 2) gt_eval(x, "3");
  else for (i = 0; i < 20; i++) {
    gt_tensor *to = gt_select(x, 0, i * 7 % 20); /* in any order */
    if (i) UNWRITTEN(x);
    if (how == 3) gt_fill(to, 3);
    else gt_copy(to, row);
    CHECK_NUM(gt_item(gt_select(to, 0, 1999)), 3); /* of that row nobody says any more */
  }
}
static void test_refilled(void) {
  gt_stream *s, *t;
  gt_tensor *x;
  int how;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0), t = gt_stream_create(gt_cpu(), 0);
  x = matrix(20, 0);
  for (how = 0; how < 10; how++) GT_SCOPE {
      fail_to_write(s, x);
      UNWRITTEN(x);
      if (how % 2) GT_WITH_STREAM(t) refill(x, how / 2);
      else refill(x, how / 2);
      CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 3 * 40000);
      NO_ERROR();
    }
  fail_to_write(s, x); /* whoever declares a write has written it */
  gt_stream_writes(t, x);
  CHECK(gt_data(x) != NULL);
  gt_stream_free(s);
  gt_stream_free(t);
}
/* A write that leaves gaps has not written what lies between. */
static void test_refilled_with_gaps(void) {
  gt_stream *s;
  gt_tensor *x, *cube, *most;
  int on_stream;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0);
  x = matrix(20, 0);
  cube = gt_reshape(x, GT_SHAPE(20, 40, 50));
  fail_to_write(s, x);
  for (on_stream = 0; on_stream < 2; on_stream++) {
    gt_stream *const where = on_stream ? s : gt_current_stream(gt_cpu());
    GT_WITH_STREAM(where) gt_fill(gt_slice(x, 1, 0, 2000, 2), 1); /* every second column */
    UNWRITTEN(x);
    GT_WITH_STREAM(where) gt_fill(gt_slice(x, 1, 0, 1999, 1), 1); /* all columns but one */
    UNWRITTEN(x);
    most = gt_slice(gt_slice(cube, 1, 0, 40, 39), 2, 0, 50, 49);  /* the corners of each matrix */
    GT_WITH_STREAM(where) gt_fill(most, 1);
    UNWRITTEN(x);
    REFUSED_IF(at(x, 3, 1000) != 0 || gt_error(), GT_ERROR_MEMORY, "never written");
  }
  gt_fill(x, 1);
  CHECK_NUM(at(x, 3, 1000), 1);
  gt_stream_free(s);
}
/* Between two parts that were not written is one that was. */
static void test_between_failures(void) {
  gt_stream *s;
  gt_tensor *x;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0);
  x = matrix(60, 4);
  fail_to_write(s, gt_slice(x, 0, 0, 20, 1));
  fail_to_write(s, gt_slice(x, 0, 40, 60, 1));
  CHECK_NUM(at(x, 20, 0), 4);
  CHECK_NUM(at(x, 39, 1999), 4);
  NO_ERROR();
  UNWRITTEN(gt_slice(x, 0, 19, 30, 1));
  UNWRITTEN(gt_slice(x, 0, 30, 41, 1));
  gt_fill(gt_slice(x, 0, 0, 20, 1), 4);
  CHECK_NUM(at(x, 0, 0), 4);
  UNWRITTEN(x);
  gt_stream_free(s);
}
/* More failures than are kept apart: none is forgotten, and all are over when all is written. */
static void test_many_failures(void) {
  enum { MANY = 150 };
  gt_stream *s;
  gt_tensor *x, *in;
  int i, round;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0);
  in = gt_ones(GT_SHAPE(1, 2000), GT_FLOAT32, gt_cpu());
  x = gt_zeros(GT_SHAPE(2 * MANY, 2000), GT_FLOAT32, gt_cpu());
  for (round = 0; round < 2; round++) GT_SCOPE {
      for (i = 0; i < MANY; i++) fail_to_write(s, gt_slice(x, 0, 2 * i, 2 * i + 1, 1));
      for (i = 0; i < MANY; i++) UNWRITTEN(gt_select(x, 0, 2 * i));
      CHECK(gt_data(in) != NULL);
      if (round) gt_fill(x, 2);
      else for (i = 0; i < 2 * MANY; i++) gt_copy(gt_slice(x, 0, i, i + 1, 1), in);
      CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), (round + 1) * 2000.0 * 2 * MANY);
    }
  gt_stream_free(s);
}
/* Operands without elements are nobody's memory: not refused, not waited for, and not looked at
   after they were freed. */
static void test_no_elements(void) {
  gt_stream *s;
  gt_tensor *x, *out, *a, *b, *product, *sum, *none;
  gt_statistics stats;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0);
  x = matrix(20, 0), out = matrix(20, 0);
  fail_to_write(s, x);
  none = gt_slice(x, 0, 5, 5, 1);
  gt_free(gt_add(NULL, none, none));
  CHECK_NUM(gt_item(gt_sum(NULL, none, GT_ALL, 0)), 0);
  CHECK_INT(gt_to_array(none, NULL, 0), GT_OK);
  NO_ERROR();
  gt_fill(x, 0);
  fail_to_write(s, gt_slice(x, 0, 0, 5, 1)); /* and with work pending besides */
  hold(s, out);
  a = gt_empty(GT_SHAPE(3, 0), GT_FLOAT32, gt_cpu());
  b = gt_empty(GT_SHAPE(0, 4), GT_FLOAT32, gt_cpu());
  GT_WITH_STREAM(s) {
    product = gt_matmul(NULL, a, b);
    sum = gt_sum(NULL, a, GT_DIM(1), 0);
    gt_copy(gt_slice(out, 0, 5, 5, 1), none);
  }
  gt_reset_stats();
  gt_free(a); /* or this would wait for the stream for ever */
  gt_free(b);
  none = gt_slice(out, 0, 7, 7, 1); /* of memory that is about to be written */
  gt_free(gt_add(NULL, none, none));
  gt_fill(none, 1);
  gt_stats(&stats);
  CHECK_INT(stats.host_waits + stats.stream_waits, 0);
  a = matrix(2, 1); /* in their place, perhaps */
  hooks_hold(0);
  CHECK_NUM(gt_item(gt_sum(NULL, product, GT_ALL, 0)), 0);
  CHECK_NUM(gt_item(gt_sum(NULL, sum, GT_ALL, 0)), 0);
  CHECK_NUM(gt_item(gt_sum(NULL, a, GT_ALL, 0)), 4000);
  CHECK_NUM(at(out, 19, 0), 1 / 2000.0f);
  gt_stream_free(s);
}
/* The mark is the memory's: another wrap of it has it, too. */
static void test_unwritten_wraps(void) {
  static float host[40000];
  gt_stream *s;
  gt_tensor *x, *y;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0);
  x = gt_reshape(wrap(host, 40000, GT_FLOAT32, gt_cpu()), GT_SHAPE(20, 2000));
  y = wrap(host + 10, 5, GT_FLOAT32, gt_cpu());
  hold(s, x);
  let_fail(s);
  gt_stream_synchronize(s);
  gt_clear_error();
  REFUSED(gt_data(y), GT_ERROR_MEMORY, "never written");
  REFUSED(gt_data(wrap(host + 20, 5, GT_FLOAT32, gt_cpu())), GT_ERROR_MEMORY, "never written");
  CHECK(gt_fill(x, 1) != NULL);
  CHECK_NUM(gt_item(gt_sum(NULL, y, GT_ALL, 0)), 5);
  gt_stream_free(s);
}

/* Who gets its memory back hears from gt_free that it was not written, if nobody has asked. */
static int deleted;
static void note_deleted(void *data, void *context) {
  (void)data;
  (void)context;
  deleted++;
}
static void test_unwritten_and_freed(void) {
  static float host[40000];
  gt_stream *s;
  gt_tensor *x, *view;
  int told;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0);
  for (told = 0; told < 2; told++) {
    deleted = 0;
    x = gt_from_ptr(host, GT_SHAPE(20, 2000), GT_FLOAT32, gt_cpu(), note_deleted, NULL);
    view = gt_slice(x, 0, 3, 4, 1);
    hold(s, x);
    if (told) let_fail(s);
    else let_fail_untold();
    gt_free(x); /* not the last */
    NO_ERROR();
    CHECK_INT(deleted, 0);
    gt_free(view);
    REFUSED_IF(gt_error() != GT_OK, GT_ERROR_MEMORY, "gt_free: what it reads was never written");
    CHECK_INT(deleted, 1);
    /* and it is over: another wrap of the same memory is a new one */
    x = wrap(host, 40000, GT_FLOAT32, gt_cpu());
    GT_SCOPE CHECK_NUM(gt_item(gt_slice(x, 0, 7000, 7001, 1)), host[7000]);
    gt_free(x);
    NO_ERROR();
  }
  /* nothing is said of what was written since */
  x = gt_from_ptr(host, GT_SHAPE(20, 2000), GT_FLOAT32, gt_cpu(), NULL, NULL);
  hold(s, x);
  let_fail(s);
  gt_fill(x, 1);
  gt_free(x);
  NO_ERROR();
  gt_stream_free(s);
}
/* A wrap around the memory of two others, one of which was not written. */
static void test_unwritten_in_part(void) {
  static float host[90000];
  gt_stream *s;
  gt_tensor *a, *b, *all;
  int64_t i;
  int early; /* is the third there when the write fails? */
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0);
  for (early = 0; early < 2; early++) {
    for (i = 0; i < 90000; i++) host[i] = 6;
    a = gt_reshape(wrap(host, 40000, GT_FLOAT32, gt_cpu()), GT_SHAPE(20, 2000));
    b = wrap(host + 45000, 40000, GT_FLOAT32, gt_cpu());
    all = early ? wrap(host, 90000, GT_FLOAT32, gt_cpu()) : NULL;
    GT_WITH_STREAM(s) gt_fill(b, 8);
    fail_to_write(s, a);
    if (!all) all = wrap(host, 90000, GT_FLOAT32, gt_cpu());
    UNWRITTEN(a);
    UNWRITTEN(all);
    REFUSED_IF(gt_item(gt_slice(all, 0, 39999, 40000, 1)) != 6, GT_ERROR_MEMORY, "never written");
    CHECK_NUM(gt_item(gt_slice(all, 0, 40000, 40001, 1)), 6);
    CHECK_NUM(gt_item(gt_min(NULL, gt_slice(all, 0, 45000, 85000, 1), GT_ALL, 0)), 8);
    CHECK_NUM(gt_item(gt_min(NULL, b, GT_ALL, 0)), 8);
    NO_ERROR();
    gt_fill(gt_slice(all, 0, 0, 40000, 1), 2); /* by the other handle */
    CHECK_NUM(gt_item(gt_sum(NULL, a, GT_ALL, 0)), 80000);
    GT_SCOPE CHECK(gt_data(all) != NULL);
  }
  gt_stream_free(s);
}
/* A failure ends with its memory: what is made at the same address is not taken for unwritten. */
static void test_unwritten_memory_again(void) {
  enum { TRIES = 50 };
  gt_stream *s;
  gt_tensor *x, *y[TRIES];
  uintptr_t before;
  int i, met = 0;
  if (!QUEUED) return;
  s = gt_stream_create(gt_cpu(), 0);
  x = matrix(20, 0);
  before = (uintptr_t)gt_data(x);
  fail_to_write(s, x);
  gt_free(x);
  NO_ERROR(); /* memory of the library's: nobody misses it */
  for (i = 0; i < TRIES; i++) {
    y[i] = gt_empty(GT_SHAPE(20, 2000), GT_FLOAT32, gt_cpu());
    met += (uintptr_t)gt_data(y[i]) == before;
    NO_ERROR();
  }
  if (!met) skip("memory that is used again", "the allocator did not use it again");
  gt_stream_free(s);
}

/* ---- streams that were freed, and many ---- */
static void test_freed_while_current(void) {
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV);
  GT_WITH_STREAM(s) {
    GT_WITH_STREAM(t) gt_stream_free(s);
    REFUSED(gt_exp(NULL, x), GT_ERROR_STATE, "current stream of");
    REFUSED(gt_current_stream(DEV), GT_ERROR_STATE, "was freed; gt_set_stream chooses another");
    gt_set_stream(t);
    CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 3);
  }
  CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 3);
  GT_WITH_STREAM(t) {
    gt_stream_free(t);                  /* the default stream is current now */
    CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 3);
  }
}
static pthread_barrier_t meeting;
static void *use_freed(void *stream) {
  void *refused;
  gt_set_stream((gt_stream *)stream);
  pthread_barrier_wait(&meeting);       /* it is current */
  pthread_barrier_wait(&meeting);       /* and freed */
  refused = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV);
  if (!refused && gt_error() == GT_ERROR_STATE) return NULL;
  gt_free((gt_tensor *)refused);
  return stream;
}
static void test_freed_in_another_thread(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  pthread_t thread;
  void *bad = NULL;
  pthread_barrier_init(&meeting, NULL, 2);
  CHECK_INT(pthread_create(&thread, NULL, use_freed, s), 0);
  pthread_barrier_wait(&meeting);
  gt_stream_free(s);
  pthread_barrier_wait(&meeting);
  pthread_join(thread, &bad);
  CHECK(bad == NULL);
  pthread_barrier_destroy(&meeting);
}
/* Threads submit to a stream and wait for what it does while it is freed: each call is over before
   the stream is, or finds that it was freed. */
enum { USERS = 3 };
static gt_stream *shared_stream;
static gt_tensor *shared_tensor;
static float shared_values[100000];
static int odd_errors;
static void *use_until_freed(void *number) {
  const int k = *(const int *)number;
  int i, ended = 0;
  gt_set_stream(shared_stream);
  pthread_barrier_wait(&meeting);       /* from here on it may be freed at any time */
  for (i = 0; !ended; i++) GT_SCOPE {
      if (k == 0) gt_fill(shared_tensor, i);
      else if (k == 1) gt_add(NULL, shared_tensor, shared_tensor);
      else gt_to_array(shared_tensor, shared_values, sizeof shared_values); /* the others wait */
      ended = gt_error() == GT_ERROR_STATE || (k == 2 && i >= 8); /* to read takes no stream */
      if (gt_error() && gt_error() != GT_ERROR_STATE)
        __atomic_add_fetch(&odd_errors, 1, __ATOMIC_RELAXED);
      gt_clear_error();
    }
  return NULL;
}
static void test_freed_while_in_use(void) {
  pthread_t thread[USERS];
  gt_stream *other;
  int number[USERS], i, round;
  odd_errors = 0;
  pthread_barrier_init(&meeting, NULL, USERS + 1);
  other = gt_stream_create(DEV, 0);
  shared_tensor = gt_zeros(GT_SHAPE(100000), GT_FLOAT32, DEV);
  for (round = 0; round < (QUICK ? 100 : 400); round++) {
    shared_stream = gt_stream_create(DEV, 0);
    for (i = 0; i < USERS; i++) {
      number[i] = i;
      CHECK_INT(pthread_create(&thread[i], NULL, use_until_freed, &number[i]), 0);
    }
    pthread_barrier_wait(&meeting);
    for (i = 0; i < round % 4; i++)
      GT_WITH_STREAM(other) gt_fill(shared_tensor, 1); /* it waits, too */
    gt_stream_free(shared_stream);
    for (i = 0; i < USERS; i++) pthread_join(thread[i], NULL);
  }
  CHECK_INT(odd_errors, 0);
  gt_stream_free(other);
  pthread_barrier_destroy(&meeting);
}
static void test_create_use_free(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(30000), GT_FLOAT32, DEV);
  int i;
  for (i = 0; i < (QUICK ? 600 : 2000); i++) {
    gt_stream *s = gt_stream_create(DEV, 0);
    CHECK(s != NULL);
    GT_WITH_STREAM(s) gt_free(gt_exp(NULL, x));
    gt_stream_free(s);
  }
}
static void test_most_streams(void) {
  enum { MOST = 256 };
  gt_stream *s[MOST];
  gt_tensor *x;
  int i;
  for (i = 0; i < MOST; i++) s[i] = gt_stream_create(DEV, 0);
  CHECK(s[MOST - 1] != NULL);
  REFUSED(gt_stream_create(DEV, 0), GT_ERROR_STATE, "256 streams are in use");
  x = gt_ones(GT_SHAPE(10), GT_FLOAT32, DEV); /* the default streams have places of their own */
  for (i = 0; i < MOST; i++) GT_WITH_STREAM(s[i]) gt_add(x, x, gt_scalar(1));
  CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 10 * (1 + MOST));
  gt_graph_begin(s[0]); /* and so have those on which a graph is captured */
  gt_add(x, x, x);
  gt_graph *g = gt_graph_end();
  CHECK_INT(gt_graph_launch(g, s[MOST - 1]), GT_OK);
  CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 20 * (1 + MOST));
  gt_graph_free(g);
  for (i = 0; i < MOST; i++) gt_stream_free(s[i]);
}

int main(int argc, char **argv) {
  check_start("order", argc, argv);
  if (!later()) skip("streams that wait", "created CPU streams run at once");
  RUN(blocks_of_a_matrix);
  RUN(any_views);
  RUN(shared_out);
  RUN(many_pieces);
  RUN(neighbours);
  RUN(two_wraps);
  RUN(a_wrap_of_two);
  RUN(wraps_in_one_operation);
  RUN(whose_memory);
  RUN(unwritten);
  RUN(written_well);
  RUN(refilled);
  RUN(refilled_with_gaps);
  RUN(between_failures);
  RUN(many_failures);
  RUN(no_elements);
  RUN(unwritten_wraps);
  RUN(unwritten_and_freed);
  RUN(unwritten_in_part);
  RUN(unwritten_memory_again);
  RUN(freed_while_current);
  RUN(freed_in_another_thread);
  RUN(freed_while_in_use);
  RUN(create_use_free);
  RUN(most_streams);
  return check_finish();
}
