/* Streams, events, current devices, and several threads at once. */
#include "check.h"

#include <pthread.h>

static int64_t size_of_work(void) { return QUICK ? 5000 : 200000; }
static gt_tensor *ones(int64_t n) { return gt_ones(GT_SHAPE(n), GT_FLOAT32, DEV); }
static int same_device(gt_device a, gt_device b) { return a.type == b.type && a.index == b.index; }
/* Every element is v. */
static int all_are(const gt_tensor *x, double v) {
  int ok;
  gt_tensor *number = gt_scalar(v), *e = gt_eq(NULL, x, number), *a = gt_all(NULL, e, GT_ALL, 0);
  ok = a && gt_item(a) == 1;
  gt_free(number);
  gt_free(e);
  gt_free(a);
  return ok;
}

/* ---- streams ---- */
static void test_create(void) {
  static const int priority[] = {0, -1, -100, 1, 100};
  unsigned i;
  for (i = 0; i < sizeof priority / sizeof *priority; i++) {
    gt_stream *s = gt_stream_create(DEV, priority[i]);
    CHECK(s != NULL);
    CHECK(same_device(gt_stream_device(s), DEV));
    CHECK((gt_stream_native(s) != NULL) == (DEV.type == GT_CUDA));
    CHECK_INT(gt_stream_query(s), 1);
    CHECK_INT(gt_stream_synchronize(s), GT_OK);
    gt_stream_free(s);
  }
  gt_stream_free(NULL);
  { /* a wrapped one is not destroyed by us */
    gt_stream *s = gt_stream_create(DEV, 0), *w = gt_stream_from_native(DEV, gt_stream_native(s));
    CHECK(w && w != s && gt_stream_native(w) == gt_stream_native(s));
    GT_WITH_STREAM(w) CHECK(all_are(ones(100), 1));
    gt_stream_free(w);
    GT_WITH_STREAM(s) CHECK(all_are(ones(100), 1));
    gt_stream_free(s);
  }
  CHECK_INT(gt_synchronize(DEV), GT_OK);
  CHECK_INT(gt_synchronize(gt_cpu()), GT_OK);
}
static void test_current(void) {
  gt_stream *usual = gt_current_stream(DEV), *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  const gt_device before = gt_current_device();
  CHECK(usual != NULL && s != t);
  CHECK(gt_current_stream(DEV) == usual);
  gt_stream_free(usual); /* the default one stays */
  CHECK(gt_current_stream(DEV) == usual);
  CHECK_INT(gt_set_stream(s), GT_OK);
  CHECK(gt_current_stream(DEV) == s);
  CHECK(same_device(gt_current_device(), DEV));
  CHECK(all_are(ones(100), 1));
  CHECK_INT(gt_set_stream(t), GT_OK);
  CHECK(gt_current_stream(DEV) == t);
  gt_stream_free(s);
  CHECK(gt_current_stream(DEV) == t);
  gt_stream_free(t); /* the current one: the default takes its place */
  CHECK(gt_current_stream(DEV) == usual);
  s = gt_stream_create(DEV, 0);
  CHECK_INT(gt_set_stream(s), GT_OK);
  CHECK_INT(gt_set_stream(NULL), GT_OK);
  CHECK(gt_current_stream(DEV) == usual);
  gt_stream_free(s);
  CHECK_INT(gt_set_device(before), GT_OK);
  if (DEV.type == GT_CUDA) { /* one a device */
    s = gt_stream_create(DEV, 0);
    CHECK(gt_current_stream(gt_cpu()) != gt_current_stream(DEV));
    GT_WITH_STREAM(s) CHECK(gt_current_stream(gt_cpu()) != s);
    gt_stream_free(s);
  }
}

/* The blocks set back what was there, however they are left. */
static int leave_by_return(gt_stream *s) {
  GT_WITH_STREAM(s) {
    if (gt_current_stream(DEV) == s) return 1;
  }
  return 0;
}
static int leave_device_by_return(void) {
  GT_WITH_DEVICE(DEV) {
    GT_SCOPE return same_device(gt_current_device(), DEV);
  }
  return 0;
}
static void test_blocks(void) {
  gt_stream *usual = gt_current_stream(DEV), *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  const gt_device before = gt_current_device();
  int i, rounds = 0, inside = 0;
#define AS_BEFORE() \
  (CHECK(gt_current_stream(DEV) == usual), CHECK(same_device(gt_current_device(), before)))
  GT_WITH_STREAM(s) {
    CHECK(gt_current_stream(DEV) == s);
    CHECK(same_device(gt_current_device(), DEV));
    GT_WITH_STREAM(t) {
      CHECK(gt_current_stream(DEV) == t);
      GT_WITH_STREAM(s) CHECK(gt_current_stream(DEV) == s);
      CHECK(gt_current_stream(DEV) == t);
      GT_WITH_DEVICE(gt_cpu()) CHECK(same_device(gt_current_device(), gt_cpu()));
      CHECK(gt_current_stream(DEV) == t);
      CHECK(same_device(gt_current_device(), DEV));
    }
    CHECK(gt_current_stream(DEV) == s);
    inside++;
  }
  CHECK_INT(inside, 1);
  AS_BEFORE();
  CHECK_INT(leave_by_return(s), 1);
  AS_BEFORE();
  CHECK_INT(leave_device_by_return(), 1);
  AS_BEFORE();
  GT_WITH_STREAM(s) {
    if (inside) break;
    inside = 99;
  }
  CHECK_INT(inside, 1);
  AS_BEFORE();
  for (i = 0; i < 3; i++) {
    GT_WITH_STREAM(s) {
      rounds++;
      if (i == 1) continue; /* leaves the block, as break does: the block is itself a loop */
      rounds += 10;
    }
    AS_BEFORE();
    GT_WITH_DEVICE(DEV) {
      if (i == 2) continue;
      if (i == 1) break;
      rounds += 100;
    }
    AS_BEFORE();
  }
  CHECK_INT(rounds, 123);
  /* without the stream or the device a block runs on what was there, with the error pending */
  GT_WITH_STREAM(NULL) inside = gt_error() && gt_current_stream(DEV) == usual;
  REFUSED_IF(inside, GT_ERROR_ARGUMENT, "GT_WITH_STREAM");
  GT_WITH_DEVICE(((gt_device){GT_NO_DEVICE, 0})) inside = same_device(gt_current_device(), before);
  REFUSED_IF(inside, GT_ERROR_DEVICE, "not a device");
  GT_WITH_DEVICE(((gt_device){GT_CUDA, 1000})) inside = same_device(gt_current_device(), before);
  REFUSED_IF(inside, GT_ERROR_DEVICE, "gt_set_device");
  AS_BEFORE();
#undef AS_BEFORE
  gt_stream_free(s);
  gt_stream_free(t);
}
/* What gt_with_device returns is all set, whatever was on the stack: the block's end reads it. */
UNUSED static void dirty_stack(void) {
  volatile unsigned char junk[2000];
  unsigned i;
  for (i = 0; i < sizeof junk; i++) junk[i] = 0x01;
}
static void test_device_block_is_whole(void) {
  gt_with w;
  memset(&w, 0x5A, sizeof w);
  dirty_stack();
  w = gt_with_device(DEV);
  CHECK_INT(w.gt__where, 0);
  CHECK_INT(w.gt__name, 0);
  w.gt__where = 0; /* so that ending it here does no harm */
  gt_with_pop(&w);
}

/* ---- events ---- */
static void test_events(void) {
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  gt_event *a = gt_event_create(), *b = gt_event_create();
  gt_tensor *x = NULL;
  double ms;
  int k;
  CHECK(a && b && a != b);
  for (k = 0; k < 3; k++) { /* again and again */
    CHECK_INT(gt_event_record(a, s), GT_OK);
    GT_WITH_STREAM(s) {
      gt_free(x);
      x = ones(size_of_work());
      gt_exp(x, x);
      gt_log(x, x);
    }
    CHECK_INT(gt_event_record(b, s), GT_OK);
    CHECK(gt_event_query(b) >= 0);
    CHECK_INT(gt_event_synchronize(b), GT_OK);
    CHECK_INT(gt_event_query(b), 1);
    CHECK_INT(gt_event_query(a), 1);
    ms = gt_event_elapsed_ms(a, b);
    CHECK_TEXT(ms > 0 && ms < 60000, "%g ms", ms);
    CHECK(gt_event_elapsed_ms(b, a) <= 0);
    CHECK_NUM(gt_event_elapsed_ms(a, a), 0);
    CHECK_INT(gt_stream_query(s), 1);
  }
  CHECK_INT(gt_stream_wait_event(t, b), GT_OK);
  CHECK_INT(gt_stream_wait_stream(t, s), GT_OK);
  CHECK_INT(gt_stream_wait_stream(s, s), GT_OK);
  CHECK_INT(gt_stream_synchronize(t), GT_OK);
  gt_stream_free(s); /* the event outlives its stream */
  CHECK_INT(gt_event_query(b), 1);
  CHECK_INT(gt_event_synchronize(b), GT_OK);
  CHECK_INT(gt_stream_wait_event(t, b), GT_OK);
  if (DEV.type == GT_CUDA) { /* over devices */
    gt_stream *host = gt_current_stream(gt_cpu());
    CHECK_INT(gt_stream_wait_event(host, b), GT_OK);
    CHECK_INT(gt_stream_wait_stream(host, t), GT_OK);
    CHECK_INT(gt_stream_wait_stream(t, host), GT_OK);
    CHECK_INT(gt_event_record(a, host), GT_OK); /* now it is an event of the CPU */
    CHECK_INT(gt_stream_wait_event(t, a), GT_OK);
    REFUSED_IF(gt_event_elapsed_ms(a, b) != 0, GT_ERROR_DEVICE, "clocks differ");
  }
  gt_stream_free(t);
  gt_event_free(a);
  gt_event_free(b);
  gt_event_free(NULL);
}
static void test_refused(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_event *e = gt_event_create(), *done = gt_event_create();
  const gt_device nowhere = {GT_NO_DEVICE, 0}, far = {GT_CUDA, 1000};
  double ms;
  CHECK_INT(gt_event_record(done, s), GT_OK);
  REFUSED(gt_stream_create(nowhere, 0), GT_ERROR_DEVICE, "gt_stream_create");
  REFUSED(gt_stream_create(far, 0), GT_ERROR_DEVICE, "gt_stream_create");
  REFUSED(gt_stream_from_native(nowhere, NULL), GT_ERROR_DEVICE, "gt_stream_from_native");
  REFUSED(gt_current_stream(nowhere), GT_ERROR_DEVICE, "gt_current_stream");
  REFUSED_STATUS(gt_synchronize(nowhere), GT_ERROR_DEVICE, "gt_synchronize");
  REFUSED_STATUS(gt_synchronize(far), GT_ERROR_DEVICE, "gt_synchronize");
  REFUSED_STATUS(gt_stream_synchronize(NULL), GT_ERROR_ARGUMENT, "stream is NULL");
  REFUSED_IF(gt_stream_query(NULL) == -1, GT_ERROR_ARGUMENT, "stream is NULL");
  CHECK_INT(gt_stream_device(NULL).type, GT_NO_DEVICE);
  CHECK(gt_stream_native(NULL) == NULL);
  REFUSED_STATUS(gt_stream_wait_stream(NULL, s), GT_ERROR_ARGUMENT, "the stream is NULL");
  REFUSED_STATUS(gt_stream_wait_stream(s, NULL), GT_ERROR_ARGUMENT, "the stream is NULL");
  REFUSED_STATUS(gt_stream_wait_event(NULL, done), GT_ERROR_ARGUMENT, "stream is NULL");
  REFUSED_STATUS(gt_stream_wait_event(s, NULL), GT_ERROR_ARGUMENT, "the event is NULL");
  REFUSED_STATUS(gt_stream_wait_event(s, e), GT_ERROR_STATE, "never recorded");
  REFUSED_STATUS(gt_event_record(NULL, s), GT_ERROR_ARGUMENT, "the event is NULL");
  REFUSED_STATUS(gt_event_record(e, NULL), GT_ERROR_ARGUMENT, "the stream is NULL");
  REFUSED_STATUS(gt_event_synchronize(NULL), GT_ERROR_ARGUMENT, "the event is NULL");
  REFUSED_STATUS(gt_event_synchronize(e), GT_ERROR_STATE, "never recorded");
  REFUSED_IF(gt_event_query(NULL) == -1, GT_ERROR_ARGUMENT, "the event is NULL");
  REFUSED_IF(gt_event_query(e) == -1, GT_ERROR_STATE, "never recorded");
  ms = gt_event_elapsed_ms(e, done);
  REFUSED_IF(ms != ms, GT_ERROR_STATE, "never recorded");
  ms = gt_event_elapsed_ms(done, e);
  REFUSED_IF(ms != ms, GT_ERROR_STATE, "never recorded");
  ms = gt_event_elapsed_ms(NULL, done);
  REFUSED_IF(ms != ms, GT_ERROR_ARGUMENT, "the event is NULL");
  gt_event_free(e);
  gt_event_free(done);
  gt_stream_free(s);
}

/* ---- work on several streams that meets ---- */
enum { STREAMS = 7 };
static void test_meeting(void) {
  gt_stream *s[STREAMS];
  gt_tensor *x = NULL, *sum = NULL;
  const int64_t n = size_of_work();
  int i, k, rounds = QUICK ? 5 : 30;
  for (i = 0; i < STREAMS; i++) s[i] = gt_stream_create(DEV, i % 2 ? -1 : 0);
  GT_WITH_STREAM(s[0]) x = gt_zeros(GT_SHAPE(n), GT_FLOAT32, DEV);
  for (k = 0; k < rounds; k++) /* one tensor, written by each in turn */
    GT_WITH_STREAM(s[k % STREAMS]) gt_eval(x, "a*2 - a + 1", x);
  CHECK(all_are(x, rounds));
  for (k = 0; k < rounds; k++) GT_SCOPE { /* all write, one adds up, another overwrites */
      gt_tensor *piece[STREAMS];
      for (i = 0; i < STREAMS; i++)
        GT_WITH_STREAM(s[i]) piece[i] = gt_full(GT_SHAPE(n), i + k, GT_FLOAT32, DEV);
      GT_WITH_STREAM(s[k % STREAMS])
        sum = gt_eval(NULL, "a + b + c + d + e + f + g", piece[0], piece[1], piece[2], piece[3], piece[4],
                      piece[5], piece[6]);
      for (i = 0; i < STREAMS; i++) GT_WITH_STREAM(s[(i + 3) % STREAMS]) gt_fill(piece[i], -1);
      CHECK(all_are(sum, 21 + STREAMS * k));
      CHECK(all_are(piece[k % STREAMS], -1));
    }
  for (k = 0; k < rounds; k++) { /* memory freed on one stream, made on another */
    gt_tensor *y = NULL, *z = NULL;
    GT_WITH_STREAM(s[1]) {
      y = gt_full(GT_SHAPE(n), k, GT_FLOAT32, DEV);
      z = gt_add(NULL, y, y);
    }
    GT_WITH_STREAM(s[2]) {
      gt_add(z, z, y);
      gt_free(y);
      y = gt_full(GT_SHAPE(n), 1000, GT_FLOAT32, DEV);
    }
    GT_WITH_STREAM(s[3]) CHECK(all_are(z, 3 * k));
    CHECK(all_are(y, 1000));
    gt_free(y);
    gt_free(z);
  }
  /* free in any order while tensors of theirs live */
  GT_WITH_STREAM(s[5]) gt_eval(x, "a*0 + 5", x);
  for (i = 0; i < STREAMS; i++) gt_stream_free(s[(i * 3 + 5) % STREAMS]);
  CHECK(all_are(x, 5));
  gt_add(x, x, x);
  CHECK(all_are(x, 10));
}
static void test_many(void) {
  enum { MANY = 200 };
  gt_stream *s[MANY];
  gt_tensor *x[MANY];
  int i, left = MANY;
  for (i = 0; i < MANY; i++) {
    s[i] = gt_stream_create(DEV, 0);
    GT_WITH_STREAM(s[i]) x[i] = gt_full(GT_SHAPE(1000), i, GT_FLOAT32, DEV);
  }
  while (left) { /* a stream and a tensor at random, not of one another */
    const int64_t a = rnd_below(MANY), b = rnd_below(MANY);
    if (s[a]) gt_stream_free(s[a]), s[a] = NULL, left--;
    if (x[b]) CHECK(all_are(x[b], (double)b)), gt_free(x[b]), x[b] = NULL;
  }
  CHECK_INT(gt_synchronize(DEV), GT_OK);
}
static void test_copies_between(void) { /* host memory and devices, on a stream of one's own */
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *pinned = gt_empty_pinned(GT_SHAPE(size_of_work()), GT_FLOAT32), *x = NULL, *back = NULL;
  gt_fill(pinned, 3);
  GT_WITH_STREAM(s) {
    x = gt_copy(gt_empty(gt_shape_of(pinned), GT_FLOAT32, DEV), pinned);
    gt_add(x, x, x);
    back = gt_copy(gt_empty_pinned(gt_shape_of(x), GT_FLOAT32), x);
    gt_fill(x, 0);
  }
  gt_fill(pinned, 4); /* the copy was before this */
  CHECK(all_are(back, 6));
  CHECK(all_are(x, 0));
  CHECK(all_are(pinned, 4));
  gt_stream_free(s);
}

/* ---- threads ---- */
enum { THREADS = 4 };
static gt_tensor *shared;
static int thread_bad[THREADS];
#define THREAD_CHECK(c) ((c) ? (void)0 : (void)(bad++, printf("stream.c:%d: thread: %s\n", __LINE__, #c)))

static void *thread_body(void *argument) {
  const int me = (int)(intptr_t)argument, rounds = QUICK ? 10 : 60;
  int bad = 0, k, t;
  gt_stream *mine = gt_stream_create(DEV, 0);
  gt_event *event = gt_event_create();
  gt_generator like_mine = {0, 0};
  char text[300], message[400];
  like_mine.seed = (uint64_t)me;
  THREAD_CHECK(!gt_error() && same_device(gt_current_device(), gt_cpu()));
  THREAD_CHECK(gt_set_stream(mine) == GT_OK);
  gt_manual_seed((uint64_t)me);
  for (k = 0; k < rounds; k++) GT_SCOPE {
      gt_tensor *x = gt_full(GT_SHAPE(64, 64), me + 1, GT_FLOAT32, DEV), *y, *z;
      /* own tensors, one shared for reading, and the texts of one cache */
      y = gt_eval(NULL, k % 2 ? "a*b + 1" : "1 + b*a", x, shared);
      THREAD_CHECK(all_are(y, (me + 1) * 2 + 1));
      snprintf(text, sizeof text, "a + %d*b", k * THREADS + me);
      THREAD_CHECK(all_are(gt_eval(NULL, text, x, shared), me + 1 + 2 * (k * THREADS + me)));
      z = gt_matmul(NULL, x, shared);
      THREAD_CHECK(all_are(z, 64.0 * 2 * (me + 1)));
      THREAD_CHECK(gt_item(gt_sum(NULL, gt_relu(NULL, shared), GT_ALL, 0)) == 2 * 64 * 64);
      THREAD_CHECK(gt_item(gt_select(gt_select(shared, 0, k % 64), 0, me)) == 2);
      THREAD_CHECK(all_are(gt_copy(NULL, gt_transpose(shared, 0, 1)), 2));
      for (t = 0; t < 3; t++) gt_free(gt_retain(shared));
      /* a generator of its own */
      THREAD_CHECK(gt_item(gt_all(NULL, gt_eq(NULL, gt_rand(GT_SHAPE(33), GT_FLOAT32, DEV, NULL),
                                                gt_rand(GT_SHAPE(33), GT_FLOAT32, DEV, &like_mine)),
                                  GT_ALL, 0)) == 1);
      /* an error of its own */
      THREAD_CHECK(gt_add(NULL, x, gt_ones(GT_SHAPE(3 + me), GT_FLOAT32, DEV)) == NULL);
      THREAD_CHECK(gt_error() == GT_ERROR_SHAPE);
      snprintf(message, sizeof message, "(%d,)", 3 + me);
      THREAD_CHECK(strstr(gt_error_message(), message) != NULL);
      THREAD_CHECK(gt_exp(NULL, NULL) == NULL && gt_error() == GT_ERROR_SHAPE);
      gt_clear_error();
      THREAD_CHECK(gt_empty(GT_SHAPE(INT64_C(1) << 50), GT_FLOAT64, DEV) == NULL);
      THREAD_CHECK(gt_error() == GT_ERROR_MEMORY);
      gt_clear_error();
      /* a stream of its own, and some that come and go */
      THREAD_CHECK(gt_current_stream(DEV) == mine);
      THREAD_CHECK(gt_event_record(event, mine) == GT_OK && gt_event_synchronize(event) == GT_OK);
      {
        gt_stream *s = gt_stream_create(DEV, 0);
        GT_WITH_STREAM(s) y = gt_mul(NULL, y, y);
        THREAD_CHECK(gt_stream_wait_stream(mine, s) == GT_OK);
        gt_stream_free(s);
        THREAD_CHECK(all_are(y, ((me + 1) * 2.0 + 1) * ((me + 1) * 2.0 + 1)));
      }
      gt_set_float32_matmul_precision((gt_precision)(me % 3));
      THREAD_CHECK((int)gt_float32_matmul_precision() == me % 3);
      THREAD_CHECK(gt_memory_allocated(DEV) > 0 && gt_report_leaks(NULL) > 0);
      THREAD_CHECK(gt_to_string(x, NULL, 0) > 10);
      THREAD_CHECK(!gt_error());
      gt_clear_error();
    }
  gt_event_free(event);
  gt_set_stream(NULL);
  gt_stream_free(mine);
  thread_bad[me] = bad;
  return NULL;
}
static void test_threads(void) {
  pthread_t thread[THREADS];
  int i;
  CHECK_INT(gt_set_device(gt_cpu()), GT_OK);
  shared = gt_full(GT_SHAPE(64, 64), 2, GT_FLOAT32, DEV);
  gt_empty(GT_SHAPE(-7), GT_FLOAT32, DEV); /* this thread's error stays this thread's */
  for (i = 0; i < THREADS; i++)
    CHECK_INT(pthread_create(&thread[i], NULL, thread_body, (void *)(intptr_t)i), 0);
  for (i = 0; i < THREADS; i++) {
    CHECK_INT(pthread_join(thread[i], NULL), 0);
    CHECK_INT(thread_bad[i], 0);
  }
  REFUSED_IF(1, GT_ERROR_SHAPE, "(-7,)");
  CHECK(gt_float32_matmul_precision() == GT_HIGHEST);
  CHECK(all_are(shared, 2));
}
/* Cold: the first call of all, from several threads at once. */
static void *first_call(void *argument) {
  const int me = (int)(intptr_t)argument;
  gt_stream *s = gt_stream_create(DEV, 0), *usual;
  gt_tensor *x, *y;
  if (me & 1) gt_stream_free(gt_stream_create(DEV, 0)); /* while another makes the default one */
  x = gt_full(GT_SHAPE(10), me, GT_FLOAT32, DEV);
  y = gt_eval(NULL, "a + 1", x);
  usual = gt_current_stream(DEV);
  gt_stream_free(s);
  thread_bad[me] = !usual || !y || gt_item(gt_select(y, 0, 3)) != me + 1;
  return NULL;
}
static void *first_call_scoped(void *argument) {
  void *r = NULL;
  GT_SCOPE r = first_call(argument);
  return r;
}
static void test_first_calls(void) {
  pthread_t thread[THREADS];
  int i, k;
  for (k = 0; k < (QUICK ? 5 : 50); k++) {
    gt_shutdown();
    for (i = 0; i < THREADS; i++)
      CHECK_INT(pthread_create(&thread[i], NULL, first_call_scoped, (void *)(intptr_t)i), 0);
    for (i = 0; i < THREADS; i++) {
      CHECK_INT(pthread_join(thread[i], NULL), 0);
      CHECK_INT(thread_bad[i], 0);
    }
  }
}

/* Tensors outlive gt_shutdown, and the library starts again. */
static void test_shutdown(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *x = NULL;
  GT_WITH_STREAM(s) x = gt_add(NULL, ones(1000), ones(1000));
  gt_shutdown(); /* s is gone */
  CHECK(all_are(x, 2));
  x = gt_add(NULL, x, x);
  CHECK(all_are(x, 4));
  gt_shutdown();
  gt_shutdown();
}

int main(int argc, char **argv) {
  check_start("stream", argc, argv);
  RUN(first_calls); /* before all others: nothing is initialised */
  RUN(create);
  RUN(current);
  RUN(blocks);
  RUN(device_block_is_whole);
  RUN(events);
  RUN(refused);
  RUN(meeting);
  RUN(many);
  RUN(copies_between);
  RUN(threads);
  RUN(shutdown);
  return check_finish();
}
