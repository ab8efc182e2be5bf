/* Work that is done later: CPU streams that are threads, the order that the library puts between
   streams, the races that it reports, freed memory, how copies went, failures that come late, forks
   and several host threads on one tensor.

   Nothing here depends on time. On a CPU stream a gate stands before the work: a small product,
   whose allocation in the stream's thread waits until the gate is opened. What must wait for that
   stream can then not be done, and what need not wait must be. On a GPU long work stands in its
   place. With GPUTENSOR_NO_THREADS, for the library and for this file, created CPU streams work at
   once. */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef GPUTENSOR_NO_THREADS
enum { QUEUED = 0 };
#else
enum { QUEUED = 1 };
#endif

/* There is no CUDA header here: of the runtime only these are called, and only on a GPU. The simulator has no
   cudaDeviceCanAccessPeer: its GPUs can. */
#if !defined(__NVCC__)
__attribute__((weak))
#endif
extern int cudaMemsetAsync(void *data, int byte, size_t bytes, void *stream);
#if !defined(__NVCC__)
__attribute__((weak))
#endif
extern int cudaDeviceCanAccessPeer(int *can, int device, int other);

static int on_cpu(void) { return DEV.type == GT_CPU; }
/* Are calls on streams of DEV still going on when they return? */
static int later(void) { return QUEUED || !on_cpu(); }
static int64_t some(void) { return QUICK ? 3000 : 30000; }
static gt_tensor *full(int64_t n, double v) { return gt_full(GT_SHAPE(n), v, GT_FLOAT32, DEV); }
static gt_tensor *cpu_full(int64_t n, double v) {
  return gt_full(GT_SHAPE(n), v, GT_FLOAT32, gt_cpu());
}
static gt_tensor *plus(const gt_tensor *x, double v) {
  return gt_eval(NULL, "a + b", x, gt_scalar(v));
}
/* Every element is v. */
static int all_are(const gt_tensor *x, double v) {
  void *p = values_of(x);
  const int64_t n = x ? gt_numel(x) : 0;
  int64_t i = 0;
  while (i < n && load(x->dtype, p, i) == v) i++;
  if (x && i < n) printf("element %" PRId64 " is %g, not %g\n", i, load(x->dtype, p, i), v);
  free(p);
  return x && i == n;
}
static int array_is(const float *p, int64_t n, float v) {
  int64_t i;
  for (i = 0; i < n; i++)
    if (p[i] != v) return 0;
  return 1;
}

/* ---- gates ---- */
/* Long enough, as a rule, for others to do what they may. Tests pass however short it is; they find
   more when it is not. */
static void let_others_run(void) { usleep(1000); }
/* What is enqueued on s from now on waits for open_gates. */
static void close_gate(gt_stream *s) {
  int k;
  if (gt_stream_device(s).type == GT_CPU) {
    gt_tensor *x = gt_ones(GT_SHAPE(1, 2000), GT_FLOAT32, gt_cpu()), *out = gt_empty_like(x);
    hooks_hold(1);
    GT_WITH_STREAM(s) gt_softmax(out, x, 1); /* long rows: asks for memory */
  } else GT_WITH_STREAM(s) {
      /* the simulator's order needs no long work, and thirty gates are more than its memory */
      gt_tensor *x = full(QUICK || !is_gpu(DEV) ? 20000 : 4000000, 1);
      for (k = 0; k < 20; k++) gt_eval(x, "sqrt(a)", x);
      gt_free(x);
    }
}
static void open_gates(void) { hooks_hold(0); }
static void *open_gates_later(void *unused) {
  let_others_run();
  open_gates();
  return unused;
}
/* For calls that wait for what is behind a gate. */
static pthread_t start_to_open(void) {
  pthread_t thread;
  CHECK_INT(pthread_create(&thread, NULL, open_gates_later, NULL), 0);
  return thread;
}
/* All that s holds is behind a gate: it cannot get done, however often one asks. A GPU's gate is only
   work that takes long, so nothing can be said there. */
static int waits_unseen;
static void check_waits(int line, gt_stream *s) {
  int i, done = 0;
  if (!QUEUED || gt_stream_device(s).type != GT_CPU) {
    waits_unseen++;
    return;
  }
  for (i = 0; i < 8; i++) {
    let_others_run();
    done |= gt_stream_query(s);
  }
  if (done) check_report(__FILE__, line, "a stream did not wait for another");
}
#define CHECK_WAITS(s) check_waits(__LINE__, s)

/* ---- CPU streams ---- */
static void test_asynchronous(void) {
  enum { N = 1000 };
  static float memory[N];
  gt_stream *s = gt_stream_create(gt_cpu(), 0), *other = gt_stream_create(gt_cpu(), 0);
  gt_event *event = gt_event_create();
  gt_tensor *x = cpu_full(N, 3), *z = cpu_full(N, 0), *out;
  int i;
  for (i = 0; i < N; i++) memory[i] = -1;
  out = gt_from_ptr(memory, GT_SHAPE(N), GT_FLOAT32, gt_cpu(), NULL, NULL);
  CHECK_INT(gt_stream_query(s), 1);
  close_gate(s);
  GT_WITH_STREAM(s) gt_add(out, x, x);
  CHECK_INT(gt_event_record(event, s), GT_OK);
  CHECK_INT(gt_stream_query(s), !QUEUED);
  CHECK_INT(gt_event_query(event), !QUEUED);
  CHECK(array_is(memory, N, QUEUED ? -1 : 6));
  /* another stream goes on, and so does the default one */
  GT_WITH_STREAM(other) gt_add(z, x, x);
  CHECK_INT(gt_stream_synchronize(other), GT_OK);
  CHECK(all_are(z, 6));
  CHECK(all_are(gt_add(NULL, x, z), 9));
  CHECK_WAITS(s);
  open_gates();
  CHECK_INT(gt_stream_synchronize(s), GT_OK);
  CHECK_INT(gt_stream_query(s), 1);
  CHECK_INT(gt_event_query(event), 1);
  CHECK(array_is(memory, N, 6));
  gt_event_free(event);
  gt_stream_free(s);
  gt_stream_free(other);
}
static void test_in_order(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *x = full(some(), 0), *seen[4];
  int k;
  close_gate(s);
  GT_WITH_STREAM(s) {
    for (k = 1; k <= 40; k++) {
      gt_eval(x, "a*2 % 1001 + 1", x);
      if (k % 10 == 0) seen[k / 10 - 1] = gt_copy(NULL, x);
    }
  }
  open_gates();
  { /* the same numbers here */
    int v = 0;
    for (k = 1; k <= 40; k++) {
      v = v * 2 % 1001 + 1;
      if (k % 10 == 0) CHECK(all_are(seen[k / 10 - 1], v));
    }
    CHECK(all_are(x, v));
  }
  gt_stream_free(s);
}

/* A thread that runs ahead of a stream that does not move is stopped: by the queue's length. */
typedef struct ahead {
  gt_stream *stream;
  gt_tensor *x;
  atomic_int pushed, closed;
  int64_t live_before, live_most;
} ahead;
static void *run_ahead(void *argument) {
  ahead *a = (ahead *)argument;
  int k;
  close_gate(a->stream);
  a->live_before = a->live_most = hooks_live();
  atomic_store(&a->closed, 1);
  for (k = 0; k < 1000; k++) {
    GT_WITH_STREAM(a->stream) gt_add(a->x, a->x, a->x);
    if (hooks_live() > a->live_most) a->live_most = hooks_live();
    atomic_store(&a->pushed, k + 1);
  }
  return NULL;
}
static void *run_ahead_scoped(void *argument) {
  GT_SCOPE run_ahead(argument);
  return NULL;
}
static void test_bounded(void) {
  ahead a;
  pthread_t thread;
  int i;
  memset(&a, 0, sizeof a);
  a.stream = gt_stream_create(gt_cpu(), 0);
  a.x = cpu_full(10, 0);
  CHECK_INT(pthread_create(&thread, NULL, run_ahead_scoped, &a), 0);
  while (atomic_load(&a.pushed) < 60) sched_yield();
  for (i = 0; i < 20; i++) let_others_run(); /* more than enough for the other 940 */
  if (QUEUED) CHECK_TEXT(atomic_load(&a.pushed) <= 65, "%d pushed", atomic_load(&a.pushed));
  CHECK_INT(gt_stream_query(a.stream), !QUEUED);
  open_gates();
  CHECK_INT(pthread_join(thread, NULL), 0);
  CHECK_INT(a.pushed, 1000);
  CHECK_TEXT(a.live_most - a.live_before <= 70, "%" PRId64 " blocks more",
             a.live_most - a.live_before);
  CHECK(all_are(a.x, 0));
  gt_stream_free(a.stream);
}
/* All blocked, freed while busy in a random order, and their work is done all the same. */
static void test_freed_while_busy(void) {
  enum { MANY = 30 };
  gt_stream *s[MANY];
  gt_tensor *x[MANY], *y[MANY];
  int i, left = MANY;
  for (i = 0; i < MANY; i++) {
    s[i] = gt_stream_create(DEV, i % 3 - 1);
    x[i] = full(100 + i, i);
    close_gate(s[i]);
    GT_WITH_STREAM(s[i]) gt_add(x[i], x[i], x[i]);
    GT_WITH_STREAM(s[i]) y[i] = plus(x[i], 1);
    CHECK_WAITS(s[i]);
  }
  while (left) {
    const int64_t k = rnd_below(MANY);
    if (!s[k]) continue;
    gt_stream_free(s[k]);
    s[k] = NULL;
    left--;
  }
  open_gates();
  for (i = 0; i < MANY; i++) {
    CHECK(all_are(y[i], 2 * i + 1));
    CHECK(all_are(x[i], 2 * i));
  }
  CHECK_INT(gt_synchronize(DEV), GT_OK);
}
/* Several threads wait for one stream, each in another way. */
static struct {
  gt_stream *stream;
  gt_event *event;
  gt_tensor *x;
  atomic_int bad;
} waited;
static void *wait_for_it(void *argument) {
  const int how = (int)(intptr_t)argument;
  float v[100];
  switch (how % 5) {
    case 0: waited.bad += gt_stream_synchronize(waited.stream) != GT_OK; break;
    case 1: waited.bad += gt_event_synchronize(waited.event) != GT_OK; break;
    case 2: waited.bad += gt_synchronize(DEV) != GT_OK; break;
    case 3: while (gt_stream_query(waited.stream) == 0) sched_yield(); break;
    default: while (gt_event_query(waited.event) == 0) sched_yield(); break;
  }
  waited.bad += gt_stream_query(waited.stream) != 1;
  waited.bad += gt_event_query(waited.event) != 1;
  waited.bad += gt_to_array(waited.x, v, sizeof v) != GT_OK;
  waited.bad += !array_is(v, 100, 12);
  waited.bad += gt_error() != GT_OK;
  return NULL;
}
static void test_waited_for_by_threads(void) {
  enum { WAITERS = 10 };
  pthread_t thread[WAITERS];
  int i;
  waited.stream = gt_stream_create(DEV, 0);
  waited.event = gt_event_create();
  waited.x = full(100, 5);
  waited.bad = 0;
  close_gate(waited.stream);
  GT_WITH_STREAM(waited.stream) gt_eval(waited.x, "2*a + 2", waited.x);
  gt_event_record(waited.event, waited.stream);
  for (i = 0; i < WAITERS; i++)
    CHECK_INT(pthread_create(&thread[i], NULL, wait_for_it, (void *)(intptr_t)i), 0);
  let_others_run();
  open_gates();
  for (i = 0; i < WAITERS; i++) CHECK_INT(pthread_join(thread[i], NULL), 0);
  CHECK_INT(waited.bad, 0);
  gt_event_free(waited.event);
  gt_stream_free(waited.stream);
}
static void test_shutdown_while_busy(void) {
  enum { N = 500, MANY = 4 };
  static float memory[MANY][N];
  gt_stream *s[MANY];
  gt_tensor *x = full(N, 20), *y = NULL;
  pthread_t opener;
  int i;
  memset(memory, 0, sizeof memory);
  for (i = 0; i < MANY; i++) {
    gt_tensor *out = gt_from_ptr(memory[i], GT_SHAPE(N), GT_FLOAT32, gt_cpu(), NULL, NULL);
    s[i] = gt_stream_create(gt_cpu(), 0);
    close_gate(s[i]);
    GT_WITH_STREAM(s[i]) gt_fill(out, i + 1);
    GT_WITH_STREAM(s[i]) gt_free(gt_exp(NULL, out));
    if (i % 2 || !QUEUED) gt_stream_free(s[i]);
  }
  if (!on_cpu()) {
    gt_stream *g = gt_stream_create(DEV, 0);
    close_gate(g);
    GT_WITH_STREAM(g) y = plus(x, 1);
  }
  opener = start_to_open();
  gt_shutdown();
  for (i = 0; i < MANY; i++) CHECK(array_is(memory[i], N, (float)(i + 1)));
  CHECK_INT(pthread_join(opener, NULL), 0);
  if (y) CHECK(all_are(y, 21));
  CHECK(all_are(plus(x, 1), 21));
}

/* ---- order between streams ---- */
static gt_stream *first, *second; /* the gate is on the first one */
static void two_streams(void) {
  first = gt_stream_create(DEV, 0);
  second = gt_stream_create(DEV, 0);
}
static void free_two_streams(void) {
  gt_stream_free(first);
  gt_stream_free(second);
}
static void test_read_after_write(void) {
  gt_tensor *x = full(some(), 1), *y = NULL;
  two_streams();
  close_gate(first);
  GT_WITH_STREAM(first) gt_fill(x, 7);
  GT_WITH_STREAM(second) y = plus(x, 1);
  CHECK_WAITS(second);
  open_gates();
  CHECK(all_are(y, 8));
  free_two_streams();
}
static void test_write_after_read(void) {
  gt_tensor *x = full(some(), 1), *y = NULL, *z = NULL;
  two_streams();
  close_gate(first);
  GT_WITH_STREAM(first) y = plus(x, 1);
  GT_WITH_STREAM(second) gt_fill(x, 50);
  CHECK_WAITS(second);
  open_gates();
  CHECK(all_are(y, 2));
  CHECK(all_are(x, 50));
  { /* more readers than a storage remembers, each on a stream of its own; the later ones wait */
    enum { READERS = 9 };
    gt_stream *s[READERS];
    gt_tensor *seen[READERS];
    int i;
    for (i = 0; i < READERS; i++) {
      s[i] = gt_stream_create(DEV, 0);
      if (i >= 4) close_gate(s[i]);
      GT_WITH_STREAM(s[i]) seen[i] = plus(x, i);
    }
    GT_WITH_STREAM(second) gt_fill(x, -1);
    CHECK_WAITS(second);
    GT_WITH_STREAM(second) z = gt_copy(NULL, x);
    open_gates();
    for (i = 0; i < READERS; i++) {
      CHECK(all_are(seen[i], 50 + i));
      gt_stream_free(s[i]);
    }
    CHECK(all_are(z, -1));
  }
  free_two_streams();
}
static void test_write_after_write(void) {
  gt_tensor *x = full(some(), 0);
  two_streams();
  close_gate(first);
  GT_WITH_STREAM(first) gt_fill(x, 1);
  GT_WITH_STREAM(second) gt_fill(x, 2);
  CHECK_WAITS(second);
  open_gates();
  CHECK(all_are(x, 2));
  free_two_streams();
}
/* Views share a storage, and it is the storage that is ordered. In place both read and write. */
static void test_views_in_place(void) {
  gt_tensor *x = gt_full(GT_SHAPE(30, 40), 3, GT_FLOAT32, DEV), *y = NULL;
  gt_tensor *row = gt_select(x, 0, 2), *column = gt_transpose(gt_slice(x, 1, 2, 3, 1), 0, 1);
  gt_tensor *again = gt_retain(x);
  two_streams();
  close_gate(first);
  GT_WITH_STREAM(first) gt_add(row, row, row);
  GT_WITH_STREAM(second) gt_eval(column, "a*10", column);
  CHECK_WAITS(second);
  GT_WITH_STREAM(first) gt_eval(again, "a + 1", again);
  GT_WITH_STREAM(second) y = gt_copy(NULL, gt_slice(x, 0, 2, 4, 1));
  CHECK_WAITS(second);
  open_gates();
  CHECK_NUM(gt_item(gt_select(gt_select(y, 0, 0), 0, 2)), 61);
  CHECK_NUM(gt_item(gt_select(gt_select(y, 0, 0), 0, 3)), 7);
  CHECK_NUM(gt_item(gt_select(gt_select(y, 0, 1), 0, 2)), 31);
  CHECK_NUM(gt_item(gt_select(gt_select(y, 0, 1), 0, 39)), 4);
  free_two_streams();
}
/* Memory that is freed while a stream still reads or writes it is nobody else's yet. */
static void check_free_and_reuse(void) {
  gt_tensor *x, *y = NULL, *fresh[8];
  const int64_t n = some();
  int i, round;
  two_streams();
  for (round = 0; round < 5; round++) {
    x = full(n, 1);
    y = full(n, 5);
    gt_synchronize(DEV); /* what is made on the default stream is ready in every mode */
    close_gate(first);
    if (round < 4) GT_WITH_STREAM(first) gt_eval(y, "a + 4", x);
    if (round == 1) GT_WITH_STREAM(second) gt_free(plus(x, 1)); /* a later read, done at once */
    if (round == 2) GT_WITH_STREAM(first) gt_fill(x, -3);
    if (round == 3) GT_WITH_STREAM(second) gt_free(gt_eval(NULL, "exp(a)", x));
    if (round == 4) { /* written by both, and the later one is through unless it has to wait */
      GT_WITH_STREAM(first) gt_fill(x, -3);
      GT_WITH_STREAM(second) gt_fill(x, -4);
      if (gt_stream_safety() != GT_ORDER) gt_stream_synchronize(second);
    }
    gt_free(x);
    for (i = 0; i < 8; i++) {
      if (i < 4) GT_WITH_STREAM(second) fresh[i] = full(n, 100 + i);
      else fresh[i] = full(n, 100 + i);
    }
    open_gates();
    gt_synchronize(DEV);
    CHECK(all_are(y, 5));
    for (i = 0; i < 8; i++) {
      CHECK(all_are(fresh[i], 100 + i));
      gt_free(fresh[i]);
    }
    gt_free(y);
  }
  free_two_streams();
}
static void test_free_and_reuse(void) { check_free_and_reuse(); }
/* Host reads and writes, by every way in. */
static void test_host_access(void) {
  enum { N = 300 };
  gt_stream *s = gt_stream_create(gt_cpu(), 0);
  gt_tensor *x = cpu_full(N, 1), *y = NULL, *one = cpu_full(1, 1);
  float v[N], *p;
  pthread_t opener;
  char text[300];
  int i;
  close_gate(s);
  GT_WITH_STREAM(s) gt_fill(x, 3);
  opener = start_to_open();
  p = (float *)gt_data(x);
  CHECK(array_is(p, N, 3));
  CHECK_INT(pthread_join(opener, NULL), 0);
  for (i = 0; i < N; i++) p[i] = 9;
  close_gate(s);
  GT_WITH_STREAM(s) y = gt_add(NULL, x, x);
  opener = start_to_open();
  p = (float *)gt_data(x); /* the stream has read it now: it may be written */
  for (i = 0; i < N; i++) p[i] = 100;
  CHECK_INT(pthread_join(opener, NULL), 0);
  CHECK(all_are(y, 18));
  CHECK(all_are(x, 100));
  close_gate(s);
  GT_WITH_STREAM(s) gt_fill(x, 4);
  opener = start_to_open();
  CHECK_INT(gt_to_array(x, v, sizeof v), GT_OK);
  CHECK(array_is(v, N, 4));
  CHECK_INT(pthread_join(opener, NULL), 0);
  close_gate(s);
  GT_WITH_STREAM(s) gt_fill(one, 77);
  opener = start_to_open();
  CHECK_NUM(gt_item(one), 77);
  CHECK_INT(pthread_join(opener, NULL), 0);
  close_gate(s);
  GT_WITH_STREAM(s) gt_fill(one, 78);
  opener = start_to_open();
  CHECK(gt_to_string(one, text, sizeof text) > 0 && strstr(text, "78"));
  CHECK_INT(pthread_join(opener, NULL), 0);
  close_gate(s); /* the default stream, which works at once, waits too */
  GT_WITH_STREAM(s) gt_fill(x, 6);
  opener = start_to_open();
  y = plus(x, 1);
  CHECK_INT(pthread_join(opener, NULL), 0);
  CHECK(all_are(y, 7));
  gt_stream_free(s);
}
/* A wrapped array's deleter is called when the work on it is done. */
static void note_deletion(void *data, void *context) {
  CHECK(array_is((const float *)data, 100, 8));
  ++*(int *)context;
}
static void test_deleter_waits(void) {
  static float memory[100];
  gt_stream *s = gt_stream_create(gt_cpu(), 0);
  int deleted = 0;
  gt_tensor *x = gt_from_ptr(memory, GT_SHAPE(100), GT_FLOAT32, gt_cpu(), note_deletion, &deleted);
  pthread_t opener;
  close_gate(s);
  GT_WITH_STREAM(s) gt_fill(x, 8);
  opener = start_to_open();
  gt_free(x);
  CHECK_INT(deleted, 1);
  CHECK_INT(pthread_join(opener, NULL), 0);
  gt_stream_free(s);
}

/* ---- events ---- */
static void test_events(void) {
  gt_event *e[4];
  gt_tensor *x = full(some(), 1), *y = full(some(), 2);
  double so_far = 0, ms;
  int i;
  two_streams();
  for (i = 0; i < 4; i++) e[i] = gt_event_create();
  close_gate(first);
  for (i = 0; i < 4; i++) {
    GT_WITH_STREAM(first) gt_eval(x, "sqrt(a)", x);
    CHECK_INT(gt_event_record(e[i], first), GT_OK);
    if (on_cpu()) CHECK_INT(gt_event_query(e[i]), !QUEUED);
  }
  CHECK_INT(gt_stream_wait_event(second, e[1]), GT_OK);
  GT_WITH_STREAM(second) gt_add(y, y, y); /* nothing of the first stream's, but the event */
  CHECK_WAITS(second);
  open_gates();
  CHECK_INT(gt_stream_synchronize(second), GT_OK);
  CHECK_INT(gt_event_query(e[1]), 1);
  CHECK_INT(gt_event_query(e[0]), 1);
  CHECK_INT(gt_event_synchronize(e[3]), GT_OK);
  CHECK_INT(gt_event_query(e[3]), 1);
  for (i = 0; i < 4; i++) {
    ms = gt_event_elapsed_ms(e[0], e[i]);
    CHECK_TEXT(ms >= so_far, "%g ms, then %g", so_far, ms);
    so_far = ms;
  }
  CHECK(all_are(y, 4));
  for (i = 0; i < 4; i++) gt_event_free(e[i]);
  free_two_streams();
}
/* Who waits for an event waits for what it was at that time. */
static void test_event_recorded_again(void) {
  gt_stream *third = gt_stream_create(DEV, 0);
  gt_event *e = gt_event_create();
  gt_tensor *x = full(some(), 1), *y = NULL, *z = full(some(), 5);
  two_streams();
  close_gate(first);
  GT_WITH_STREAM(first) gt_fill(x, 2);
  gt_event_record(e, first);
  CHECK_INT(gt_stream_wait_event(second, e), GT_OK);
  GT_WITH_STREAM(third) gt_add(z, z, z);
  CHECK_INT(gt_event_record(e, third), GT_OK); /* while its first record is pending */
  CHECK_INT(gt_event_synchronize(e), GT_OK);
  CHECK_INT(gt_event_query(e), 1);
  GT_WITH_STREAM(second) y = plus(x, 1); /* the library knows that this has waited */
  CHECK_WAITS(second);
  open_gates();
  CHECK(all_are(y, 3));
  CHECK(all_are(z, 10));
  /* and the same stream, three times */
  close_gate(first);
  gt_event_record(e, first);
  gt_event_record(e, first);
  gt_event_record(e, first);
  if (on_cpu()) CHECK_INT(gt_event_query(e), !QUEUED);
  open_gates();
  CHECK_INT(gt_event_synchronize(e), GT_OK);
  CHECK_INT(gt_event_query(e), 1);
  gt_event_free(e);
  gt_stream_free(third);
  free_two_streams();
}
static void test_event_freed_pending(void) {
  gt_event *e = gt_event_create();
  gt_tensor *x = full(some(), 1), *y = full(some(), 2);
  two_streams();
  close_gate(first);
  GT_WITH_STREAM(first) gt_fill(x, 3);
  gt_event_record(e, first);
  CHECK_INT(gt_stream_wait_event(second, e), GT_OK);
  gt_event_free(e);
  GT_WITH_STREAM(second) gt_add(y, y, x);
  CHECK_WAITS(second);
  e = gt_event_create();
  gt_event_record(e, first);
  gt_stream_free(first);
  gt_event_free(e); /* recorded on a freed stream, still pending */
  open_gates();
  CHECK(all_are(y, 5));
  gt_stream_free(second);
}
static void test_wait_stream(void) {
  gt_stream *third = gt_stream_create(DEV, 0);
  gt_tensor *y = full(some(), 2), *z = full(some(), 3);
  two_streams();
  close_gate(first);
  CHECK_INT(gt_stream_wait_stream(second, first), GT_OK);
  CHECK_INT(gt_stream_wait_stream(third, second), GT_OK);
  GT_WITH_STREAM(second) gt_add(y, y, y);
  GT_WITH_STREAM(third) gt_add(z, z, z);
  CHECK_WAITS(second);
  CHECK_WAITS(third);
  open_gates();
  CHECK_INT(gt_stream_synchronize(third), GT_OK);
  CHECK(all_are(y, 4));
  CHECK(all_are(z, 6));
  gt_stream_free(third);
  free_two_streams();
}

/* Who waits for a stream after that one has begun to wait for another waits for both, or knows that
   he did not: also when the library could use an older event of its own. */
static void test_waits_are_passed_on(void) {
  gt_event *e = gt_event_create();
  int by_event;
  for (by_event = 0; by_event < 2; by_event++) {
    gt_stream *third = gt_stream_create(DEV, 0), *fourth = gt_stream_create(DEV, 0);
    gt_tensor *x = full(some(), 0), *z = full(some(), 0), *y = NULL;
    two_streams();
    close_gate(first);
    GT_WITH_STREAM(first) gt_fill(z, 7);
    gt_event_record(e, first);
    GT_WITH_STREAM(second) gt_fill(x, 1);
    GT_WITH_STREAM(third) gt_free(plus(x, 1)); /* waits for the second one as it is now */
    if (by_event) gt_stream_wait_event(second, e);
    else gt_stream_wait_stream(second, first);
    GT_WITH_STREAM(fourth) {
      gt_free(plus(x, 1));
      y = plus(z, 1);
    }
    CHECK_WAITS(fourth);
    open_gates();
    CHECK(all_are(y, 8));
    gt_stream_free(third);
    gt_stream_free(fourth);
    free_two_streams();
  }
  gt_event_free(e);
}

/* ---- CPU streams and a GPU ---- */
static void test_cpu_and_gpu(void) {
  gt_stream *cpu = gt_stream_create(gt_cpu(), 0), *gpu = gt_stream_create(DEV, 0);
  gt_event *e = gt_event_create();
  gt_tensor *host = gt_empty_pinned(GT_SHAPE(some()), GT_FLOAT32), *plain = cpu_full(some(), 0);
  gt_tensor *device = full(some(), 0), *back = NULL, *sum = cpu_full(some(), 0);
  int k;
  for (k = 0; k < (QUICK ? 4 : 20); k++) {
    pthread_t opener;
    close_gate(cpu);
    GT_WITH_STREAM(cpu) gt_fill(host, k);
    opener = start_to_open();
    GT_WITH_STREAM(gpu) gt_copy(device, host); /* a GPU does not wait for a thread: the host does */
    GT_WITH_STREAM(cpu) gt_fill(host, -1);      /* after the copy has read it */
    GT_WITH_STREAM(gpu) gt_eval(device, "a + 1", device);
    GT_WITH_STREAM(gpu) back = gt_to(device, gt_cpu());
    GT_WITH_STREAM(cpu) gt_add(sum, sum, back);
    GT_WITH_STREAM(gpu) gt_fill(device, -2);
    GT_WITH_STREAM(cpu) gt_fill(plain, 3 * k);
    GT_WITH_STREAM(gpu) gt_copy(device, plain);
    gt_free(back);
    CHECK_INT(pthread_join(opener, NULL), 0);
    CHECK_INT(gt_event_record(e, gpu), GT_OK);
    CHECK_INT(gt_stream_wait_event(cpu, e), GT_OK);
    CHECK_INT(gt_stream_wait_stream(gpu, cpu), GT_OK);
    CHECK_INT(gt_event_record(e, cpu), GT_OK);
    CHECK_INT(gt_stream_wait_event(gpu, e), GT_OK);
    CHECK(all_are(device, 3 * k));
    CHECK(all_are(host, -1));
    CHECK(all_are(sum, (k + 1) * (k + 2) / 2));
  }
  gt_event_free(e);
  gt_stream_free(cpu);
  gt_stream_free(gpu);
}
/* A copy that waits on the host tells of an index that an operation before had; the memory that it
   goes to is the caller's again all the same. */
static void test_copy_that_tells(void) {
  const int64_t beyond = (int64_t)1 << 40;
  gt_stream *cpu = gt_stream_create(gt_cpu(), 0);
  gt_tensor *x = full(some(), 4), *p = gt_empty_pinned(GT_SHAPE(some()), GT_FLOAT32);
  gt_tensor *index = gt_from_array(&beyond, GT_SHAPE(1), GT_INT64, DEV);
  float *memory = (float *)gt_data(p);
  for (int k = 0; k < 8; k++) {
    gt_free(gt_index_select(NULL, x, 0, index));
    CHECK_INT(gt_stream_writes(cpu, x), GT_OK); /* for which no GPU waits */
    REFUSED_STATUS(gt_to_array(x, memory, gt_nbytes(x)), GT_ERROR_ARGUMENT, "gt_index_select: an index");
    for (int64_t i = 0; i < some(); i++) memory[i] = 7;
    CHECK_INT(gt_synchronize(DEV), GT_OK);
    CHECK(array_is(memory, some(), 7));
  }
  gt_stream_free(cpu);
}

/* ---- races ---- */
static char races[20000];
/* How many; their lines are in `races`. */
static int64_t report_races(void) {
  FILE *file = tmpfile();
  size_t n;
  int64_t found;
  if (!file) return -1;
  found = gt_report_races(file);
  rewind(file);
  n = fread(races, 1, sizeof races - 1, file);
  races[n] = 0;
  fclose(file);
  return found;
}
static int lines_of(const char *text) {
  int n = 0;
  while ((text = strchr(text, '\n')) != NULL) n++, text++;
  return n;
}
/* Streams are numbered as they are made; a race between two tells the number of the newest. */
static int number_of(gt_stream *s) {
  gt_tensor *x = full(10, 1);
  const char *p;
  gt_stream *next = gt_stream_create(DEV, 0);
  gt_synchronize(DEV);
  gt_set_stream_safety(GT_REPORT);
  close_gate(next);
  GT_WITH_STREAM(next) gt_fill(x, 2);
  GT_WITH_STREAM(s) gt_fill(x, 3);
  gt_set_stream_safety(GT_ORDER);
  CHECK_INT(report_races(), later());
  gt_stream_synchronize(s);              /* through before the other begins, as in end_races */
  open_gates();
  gt_stream_free(next);
  p = strstr(races, "on stream ");
  return p ? atoi(p + 10) : 0;
}
/* Everything that was made on the default stream is done, and two streams are there. */
static void begin_races(void) {
  two_streams();
  gt_synchronize(DEV);
  CHECK_INT(gt_report_races(NULL), 0);
  CHECK_INT(gt_set_stream_safety(GT_REPORT), GT_OK);
  CHECK_INT(gt_stream_safety(), GT_REPORT);
}
/* The second stream, which nothing holds, is through before the first one begins: TSan has nothing
   to complain about. */
static void end_races(void) {
  CHECK_INT(gt_set_stream_safety(GT_ORDER), GT_OK);
  gt_stream_synchronize(second);
  open_gates();
  gt_synchronize(DEV);
  free_two_streams();
  gt_report_races(NULL);
}
/* One race of exactly this line, if calls return early at all. */
static void check_race(int line, const char *expected) {
  const int64_t n = report_races();
  if (n != later()) check_report(__FILE__, line, "%" PRId64 " races\n%s", n, races);
  else if (n && strcmp(races, expected))
    check_report(__FILE__, line, "\n%snot\n%s", races, expected);
}
#define CHECK_RACE(...) \
  do { \
    char gt_line_[400]; \
    snprintf(gt_line_, sizeof gt_line_, __VA_ARGS__); \
    check_race(__LINE__, gt_line_); \
  } while (0)
static void test_race_lines(void) {
  char device[16];
  gt_tensor *x = gt_ones(GT_SHAPE(30, 7), GT_FLOAT64, DEV), *y = NULL;
  gt_tensor *i = gt_ones(GT_SHAPE(5), GT_INT16, DEV), *j = gt_ones(GT_SHAPE(5), GT_INT16, DEV);
  gt_statistics before, after;
  int one, two;
  snprintf(device, sizeof device, "%s", gt_device_string(DEV));
  two_streams();
  one = number_of(first);
  free_two_streams();
  one += 3; /* the second one and the one of number_of came between */
  two = one + 1;
  begin_races();
  gt_stats(&before);
  close_gate(first);
  GT_WITH_STREAM(first) gt_exp(x, x);
  GT_WITH_STREAM(second) y = gt_add(NULL, x, x);
  CHECK_RACE("race: gt_add on stream %d of %s reads float64 (30, 7), which gt_exp on stream %d "
             "of %s may still be writing\n", two, device, one, device);
  GT_WITH_STREAM(first) gt_add(i, j, j);
  GT_WITH_STREAM(second) gt_mul(j, j, j);
  CHECK_RACE("race: gt_mul on stream %d of %s writes int16 (5,), which gt_add on stream %d of %s "
             "may still be reading\n", two, device, one, device);
  GT_WITH_STREAM(second) gt_fill(i, 3);
  CHECK_RACE("race: gt_fill on stream %d of %s writes int16 (5,), which gt_add on stream %d of %s "
             "may still be writing\n", two, device, one, device);
  CHECK_INT(gt_report_races(NULL), 0); /* forgotten */
  gt_stats(&after);
  CHECK_INT(after.stream_waits - before.stream_waits, 0);
  CHECK_INT(after.host_waits - before.host_waits, 0);
  if (on_cpu()) { /* the first stream stands, the second one is through */
    CHECK_INT(gt_stream_synchronize(second), GT_OK);
    CHECK_INT(gt_stream_query(first), !QUEUED);
  }
  CHECK(y != NULL);
  end_races();
}
/* The default CPU stream works in the caller, so its races are the host's; and so are reads. */
static void test_races_of_the_host(void) {
  static float memory[50];
  gt_tensor *x = cpu_full(6, 1), *wrapped, *y = NULL;
  gt_stream *s = gt_stream_create(gt_cpu(), 0);
  pthread_t opener;
  gt_set_stream_safety(GT_REPORT);
  close_gate(s);
  GT_WITH_STREAM(s) gt_neg(x, x);
  y = gt_exp(NULL, x);
  CHECK_INT(report_races(), QUEUED);
  CHECK(!QUEUED || strstr(races, "race: gt_exp on the host reads float32 (6,), which gt_neg on "));
  gt_data(x);
  CHECK_INT(report_races(), QUEUED);
  CHECK(!QUEUED || strstr(races, "race: gt_data on the host writes float32 (6,), which gt_neg"));
  open_gates();
  gt_stream_synchronize(s);
  gt_data(x);
  CHECK_INT(report_races(), 0);
  /* freeing is always safe, and so it is no race */
  wrapped = gt_from_ptr(memory, GT_SHAPE(50), GT_FLOAT32, gt_cpu(), NULL, NULL);
  close_gate(s);
  GT_WITH_STREAM(s) gt_fill(wrapped, 3);
  opener = start_to_open();
  gt_free(wrapped);
  CHECK(array_is(memory, 50, 3));
  CHECK_TEXT(report_races() == 0, "%s", races);
  CHECK_INT(pthread_join(opener, NULL), 0);
  gt_set_stream_safety(GT_ORDER);
  CHECK(y != NULL);
  gt_stream_free(s);
}
/* Orders that the caller gave are known, also by way of others. */
static void test_no_false_alarm(void) {
  gt_stream *third = gt_stream_create(DEV, 0);
  gt_event *e = gt_event_create(), *f = gt_event_create();
  gt_tensor *x = full(some(), 1);
  begin_races();
#define TOUCH(s) do { GT_WITH_STREAM(s) gt_add(x, x, x); } while (0)
#define CHECK_NO_RACE() CHECK_TEXT(report_races() == 0, "%s", races)
  close_gate(first);
  TOUCH(first);
  gt_stream_wait_stream(second, first);
  TOUCH(second);
  CHECK_NO_RACE();
  gt_event_record(e, second); /* second to third to first */
  gt_stream_wait_event(third, e);
  gt_event_record(f, third);
  gt_stream_wait_event(first, f);
  TOUCH(first);
  CHECK_NO_RACE();
  gt_stream_wait_stream(third, first);
  gt_stream_wait_stream(second, third);
  TOUCH(second);
  CHECK_NO_RACE();
  open_gates();
  gt_stream_synchronize(second);
  TOUCH(first);
  CHECK_NO_RACE();
  gt_event_record(e, first);
  gt_event_synchronize(e);
  TOUCH(second);
  CHECK_NO_RACE();
  gt_event_record(e, second);
  while (gt_event_query(e) == 0) sched_yield();
  TOUCH(third);
  CHECK_NO_RACE();
  while (gt_stream_query(third) == 0) sched_yield();
  TOUCH(first);
  CHECK_NO_RACE();
  gt_synchronize(DEV);
  TOUCH(second);
  CHECK_NO_RACE();
  gt_event_record(e, second); /* an event ends what waiting for it orders */
  close_gate(second);
  TOUCH(second);
  gt_stream_wait_event(first, e);
  TOUCH(first);
  CHECK_INT(report_races(), later());
  gt_stream_synchronize(first);
  open_gates();
  gt_synchronize(DEV);
  close_gate(first); /* two that only read */
  GT_WITH_STREAM(first) gt_free(plus(x, 1));
  GT_WITH_STREAM(second) gt_free(plus(x, 1));
  CHECK_NO_RACE();
#undef TOUCH
  gt_event_free(e);
  gt_event_free(f);
  end_races();
  gt_stream_free(third);
}
/* A query that says 0 orders nothing. */
static void test_pending_query_orders_nothing(void) {
  gt_tensor *x = cpu_full(some(), 1);
  gt_event *e;
  if (!QUEUED) {
    skip("pending_query_orders_nothing", "created CPU streams run at once");
    return;
  }
  e = gt_event_create();
  first = gt_stream_create(gt_cpu(), 0);
  second = gt_stream_create(gt_cpu(), 0);
  gt_set_stream_safety(GT_REPORT);
  close_gate(first);
  GT_WITH_STREAM(first) gt_fill(x, 2);
  gt_event_record(e, first);
  CHECK_INT(gt_event_query(e), 0);
  CHECK_INT(gt_stream_query(first), 0);
  GT_WITH_STREAM(second) gt_fill(x, 3);
  CHECK_INT(gt_report_races(NULL), 1);
  gt_event_free(e);
  end_races();
}
static void test_many_races(void) {
  enum { MANY = 40 };
  gt_tensor *x[MANY];
  int i;
  for (i = 0; i < MANY; i++) x[i] = full(i + 1, i);
  begin_races();
  close_gate(first);
  for (i = 0; i < MANY; i++) GT_WITH_STREAM(first) gt_neg(x[i], x[i]);
  for (i = 0; i < MANY; i++) GT_WITH_STREAM(second) gt_free(gt_exp(NULL, x[i]));
  CHECK_INT(report_races(), later() * MANY);
  if (later()) {
    CHECK_INT(lines_of(races), 33);
    CHECK(strstr(races, "float32 (9,)") && !strstr(races, "float32 (8,)"));
    CHECK(strstr(races, "float32 (40,)") && strstr(races, "\nand 8 before these\n"));
  }
  CHECK_INT(report_races(), 0);
  CHECK_STR(races, "");
  end_races();
}
static gt_tensor *of_another_thread;
static void *order_in_another_thread(void *bad) {
  *(int *)bad += gt_stream_safety() != GT_ORDER;
  GT_WITH_STREAM(second) gt_add(of_another_thread, of_another_thread, of_another_thread);
  *(int *)bad += gt_error() != GT_OK;
  return NULL;
}
static void test_safety_is_the_threads(void) {
  pthread_t thread, opener;
  int bad = 0;
  of_another_thread = full(some(), 1);
  begin_races();
  close_gate(first);
  GT_WITH_STREAM(first) gt_fill(of_another_thread, 4);
  opener = start_to_open(); /* its allocations are held too */
  CHECK_INT(pthread_create(&thread, NULL, order_in_another_thread, &bad), 0);
  CHECK_INT(pthread_join(thread, NULL), 0);
  CHECK_INT(pthread_join(opener, NULL), 0);
  CHECK_INT(bad, 0);
  CHECK_INT(gt_report_races(NULL), 0);
  CHECK_INT(gt_stream_safety(), GT_REPORT);
  end_races();
  CHECK(all_are(of_another_thread, 8));
}
static void test_safety_off(void) {
  gt_tensor *x = full(some(), 1), *y = full(some(), 2);
  gt_statistics before, after;
  begin_races();
  CHECK_INT(gt_set_stream_safety(GT_OFF), GT_OK);
  gt_stats(&before);
  close_gate(first);
  GT_WITH_STREAM(first) gt_fill(x, 2);
  GT_WITH_STREAM(second) gt_add(y, y, x);
  GT_WITH_STREAM(second) gt_fill(x, 3);
  CHECK_INT(report_races(), 0);
  gt_stats(&after);
  CHECK_INT(after.stream_waits - before.stream_waits, 0);
  CHECK_INT(after.host_waits - before.host_waits, 0);
  if (on_cpu()) {
    CHECK_INT(gt_stream_synchronize(second), GT_OK);
    CHECK_INT(gt_stream_query(first), !QUEUED);
  }
  end_races();
  CHECK_INT(gt_stream_safety(), GT_ORDER);
  REFUSED_STATUS(gt_set_stream_safety((gt_safety)7), GT_ERROR_ARGUMENT, "7 is not a choice");
  CHECK_INT(gt_stream_safety(), GT_ORDER);
}
static void test_frees_without_order(void) {
  gt_set_stream_safety(GT_REPORT);
  check_free_and_reuse();
  gt_set_stream_safety(GT_OFF);
  check_free_and_reuse();
  gt_set_stream_safety(GT_ORDER);
  gt_report_races(NULL);
}

/* ---- kernels of the caller's ---- */
static void test_own_kernels(void) {
  gt_tensor *x = full(some(), 1), *y = full(some(), 2), *z = full(some(), 3);
  two_streams();
  close_gate(first);
  CHECK_INT(gt_stream_reads(first, x), GT_OK);
  CHECK_INT(gt_stream_writes(first, y), GT_OK);
  GT_WITH_STREAM(second) gt_fill(x, 5);
  CHECK_WAITS(second);
  open_gates();
  CHECK_INT(gt_synchronize(DEV), GT_OK);
  CHECK(all_are(x, 5));
  close_gate(first);
  CHECK_INT(gt_stream_writes(first, y), GT_OK);
  GT_WITH_STREAM(second) gt_add(z, z, y);
  CHECK_WAITS(second);
  open_gates();
  CHECK(all_are(z, 5));
  close_gate(first); /* a declaration waits like an operation, and what follows waits with it */
  GT_WITH_STREAM(first) gt_fill(x, 6);
  CHECK_INT(gt_stream_reads(second, x), GT_OK);
  GT_WITH_STREAM(second) gt_fill(z, 9);
  CHECK_WAITS(second);
  open_gates();
  CHECK(all_are(z, 9));
  free_two_streams();
  begin_races();
  close_gate(first);
  GT_WITH_STREAM(first) gt_neg(x, x);
  CHECK_INT(gt_stream_writes(second, x), GT_OK);
  CHECK_INT(report_races(), later());
  if (later())
    CHECK_TEXT(strstr(races, "race: gt_stream_writes on stream ") &&
                   strstr(races, "which gt_neg on"), "%s", races);
  end_races();
  two_streams();
  if (DEV.type == GT_CUDA) {
    const int64_t n = some();
    gt_tensor *bytes = gt_ones(GT_SHAPE(n), GT_UINT8, DEV), *copy = NULL;
    close_gate(first);
    GT_WITH_STREAM(first) gt_fill(bytes, 3);
    CHECK_INT(gt_stream_writes(second, bytes), GT_OK);
    CHECK_INT(cudaMemsetAsync(gt_data(bytes), 9, (size_t)n, gt_stream_native(second)), 0);
    GT_WITH_STREAM(first) copy = gt_copy(NULL, bytes);
    CHECK(all_are(copy, 9));
    CHECK(all_are(bytes, 9));
  }
  REFUSED_STATUS(gt_stream_reads(NULL, x), GT_ERROR_ARGUMENT, "the stream is NULL");
  REFUSED_STATUS(gt_stream_writes(first, NULL), GT_ERROR_ARGUMENT, "operand 1 is NULL");
  free_two_streams();
}

/* ---- functions of the caller's, on streams ---- */
typedef struct {
  float *at;
  int64_t n;
  double sum;
  _Atomic int calls;
  pthread_t thread;
} numbers;
static void double_all(void *argument) {
  numbers *v = (numbers *)argument;
  int64_t i;
  for (i = 0; i < v->n; i++) v->at[i] *= 2;
  v->thread = pthread_self();
  v->calls++;
}
static void add_up(void *argument) {
  numbers *v = (numbers *)argument;
  int64_t i;
  v->sum = 0;
  for (i = 0; i < v->n; i++) v->sum += v->at[i];
  v->calls++;
}
/* Between a copy to host memory and one from it, on two streams that wait by themselves. */
static void test_calls(void) {
  gt_tensor *x = full(some(), 3), *back = full(some(), 0);
  gt_tensor *p = gt_empty_pinned(GT_SHAPE(some()), GT_FLOAT32);
  gt_stream *usual = gt_current_stream(DEV);
  numbers v = {(float *)gt_data(p), some(), 0, 0, pthread_self()};
  two_streams();
  close_gate(first);
  GT_WITH_STREAM(first) gt_copy(p, x);
  CHECK_INT(gt_stream_writes(first, p), GT_OK);
  CHECK_INT(gt_stream_call(first, double_all, &v), GT_OK);
  CHECK(gt_current_stream(DEV) == usual);
  if (on_cpu() && QUEUED) CHECK_INT(v.calls, 0);
  GT_WITH_STREAM(second) gt_copy(back, p);
  CHECK_WAITS(second);
  open_gates();
  CHECK(all_are(back, 6));
  CHECK_INT(v.calls, 1);
  if (on_cpu() ? QUEUED : is_gpu(DEV)) CHECK(!pthread_equal(v.thread, pthread_self()));
  close_gate(first); /* it reads what another stream overwrites, */
  CHECK_INT(gt_stream_reads(first, p), GT_OK);
  CHECK_INT(gt_stream_call(first, add_up, &v), GT_OK);
  GT_WITH_STREAM(second) gt_copy(p, x);
  CHECK_WAITS(second);
  open_gates();
  CHECK(array_is((float *)gt_data(p), v.n, 3)); /* which the host waits for */
  CHECK_NUM(v.sum, 6.0 * (double)v.n);
  close_gate(first); /* what is freed stays until then, and other memory is taken meanwhile */
  CHECK_INT(gt_stream_reads(first, p), GT_OK);
  CHECK_INT(gt_stream_call(first, add_up, &v), GT_OK);
  gt_free(p);
  p = gt_empty_pinned(GT_SHAPE(some()), GT_FLOAT32);
  gt_fill(p, 9);
  open_gates();
  CHECK_INT(gt_stream_synchronize(first), GT_OK);
  CHECK_NUM(v.sum, 3.0 * (double)v.n);
  CHECK_INT(v.calls, 3);
  free_two_streams();
}
/* Many, each with an argument of its own, which it frees: in order, all before an event behind them. */
typedef struct { int number; _Atomic int *next; int *wrong; } turn;
static void take_turn(void *argument) {
  turn *t = (turn *)argument;
  *t->wrong += t->number != (*t->next)++;
  free(t);
}
static void test_calls_in_order(void) {
  enum { CALLS = 300 };
  _Atomic int next = 0;
  int wrong = 0, i;
  gt_statistics before, stats;
  gt_event *e = gt_event_create();
  two_streams();
  gt_stats(&before);
  for (i = 0; i < CALLS; i++) {
    turn *t = (turn *)malloc(sizeof *t);
    t->number = i;
    t->next = &next;
    t->wrong = &wrong;
    CHECK_INT(gt_stream_call(first, take_turn, t), GT_OK);
  }
  CHECK_INT(gt_event_record(e, first), GT_OK);
  CHECK_INT(gt_event_synchronize(e), GT_OK);
  CHECK_INT(next, CALLS);
  CHECK_INT(wrong, 0);
  gt_stats(&stats);
  CHECK_INT(stats.operations - before.operations, CALLS);
  gt_event_free(e);
  free_two_streams();
}
/* The CPU's default stream runs it at once, by this thread, and behind what other streams do with
   the tensors that were named. */
static void test_calls_at_once(void) {
  gt_stream *cpu = gt_current_stream(gt_cpu());
  gt_tensor *p = gt_empty_pinned(GT_SHAPE(some()), GT_FLOAT32), *x = full(some(), 4);
  numbers v = {(float *)gt_data(p), some(), 0, 0, pthread_self()};
  pthread_t opener;
  two_streams();
  close_gate(first);
  GT_WITH_STREAM(first) gt_copy(p, x);
  opener = start_to_open();
  CHECK_INT(gt_stream_writes(cpu, p), GT_OK);
  CHECK_INT(gt_stream_call(cpu, double_all, &v), GT_OK);
  CHECK_INT(v.calls, 1);
  CHECK(pthread_equal(v.thread, pthread_self()));
  CHECK(array_is(v.at, v.n, 8));
  CHECK_INT(pthread_join(opener, NULL), 0);
  REFUSED_STATUS(gt_stream_call(NULL, double_all, &v), GT_ERROR_ARGUMENT, "gt_stream_call: the stream is NULL");
  REFUSED_STATUS(gt_stream_call(first, NULL, &v), GT_ERROR_ARGUMENT, "the function is NULL");
  CHECK_INT(gt_synchronize(DEV), GT_OK);
  CHECK_INT(v.calls, 1);
  free_two_streams();
}

/* ---- memory ---- */
enum { MIB = 1 << 20 };
static gt_tensor *mebibytes(int n, gt_device device) {
  return gt_empty(GT_SHAPE(n, MIB), GT_UINT8, device);
}
static void test_memory_numbers(void) {
  const gt_device far = {GT_CUDA, 99};
  const size_t base = gt_memory_allocated(DEV);
  gt_tensor *a, *b, *view;
  static float memory[100];
  CHECK_INT(gt_reset_peak_memory_stats(DEV), GT_OK);
  CHECK_INT(gt_max_memory_allocated(DEV), base);
  a = mebibytes(2, DEV);
  CHECK_INT(gt_memory_allocated(DEV), base + 2 * MIB);
  view = gt_slice(a, 0, 0, 1, 1);
  gt_free(gt_retain(a));
  CHECK_INT(gt_memory_allocated(DEV), base + 2 * MIB);
  gt_free(a);
  CHECK_INT(gt_memory_allocated(DEV), base + 2 * MIB); /* the view keeps all of it */
  b = mebibytes(1, DEV);
  CHECK_INT(gt_memory_allocated(DEV), base + 3 * MIB);
  CHECK(gt_memory_reserved(DEV) >= gt_memory_allocated(DEV));
  gt_free(view);
  gt_free(b);
  CHECK_INT(gt_memory_allocated(DEV), base);
  CHECK_INT(gt_max_memory_allocated(DEV), base + 3 * MIB);
  CHECK_INT(gt_reset_peak_memory_stats(DEV), GT_OK);
  CHECK_INT(gt_max_memory_allocated(DEV), base);
  a = gt_from_ptr(memory, GT_SHAPE(100), GT_FLOAT32, gt_cpu(), NULL, NULL);
  CHECK_INT(gt_memory_allocated(DEV), base); /* the caller's */
  gt_free(a);
  if (!on_cpu()) { /* the CPU's are counted apart */
    const size_t host = gt_memory_allocated(gt_cpu());
    a = mebibytes(1, gt_cpu());
    CHECK_INT(gt_memory_allocated(gt_cpu()), host + MIB);
    CHECK_INT(gt_memory_allocated(DEV), base);
    gt_free(a);
  }
  REFUSED_IF(gt_memory_allocated(far) == 0, GT_ERROR_DEVICE, "gt_memory_allocated");
  REFUSED_STATUS(gt_reset_peak_memory_stats(far), GT_ERROR_DEVICE, "gt_reset_peak_memory_stats");
}
static void test_empty_cache(void) {
  gt_stream *s = gt_stream_create(gt_cpu(), 0);
  gt_tensor *x = cpu_full(1000, 1), *y = NULL, *d;
  size_t reserved;
  pthread_t opener;
  CHECK_INT(gt_empty_cache(), GT_OK);
  CHECK_INT(gt_memory_reserved(gt_cpu()), gt_memory_allocated(gt_cpu()));
  close_gate(s);
  GT_WITH_STREAM(s) y = plus(x, 1);
  gt_free(x); /* kept until it was read */
  CHECK_INT(gt_memory_reserved(gt_cpu()) - gt_memory_allocated(gt_cpu()), QUEUED ? 4000 : 0);
  opener = start_to_open();
  CHECK_INT(gt_empty_cache(), GT_OK);
  CHECK_INT(gt_memory_reserved(gt_cpu()), gt_memory_allocated(gt_cpu()));
  CHECK_INT(pthread_join(opener, NULL), 0);
  CHECK(all_are(y, 2));
  gt_stream_free(s);
  if (on_cpu()) return;
  d = gt_fill(mebibytes(8, DEV), 1);
  gt_free(d);
  reserved = gt_memory_reserved(DEV);
  CHECK(reserved >= 8 * MIB); /* kept for the next */
  CHECK_INT(gt_empty_cache(), GT_OK);
  CHECK(gt_memory_reserved(DEV) + 8 * MIB <= reserved);
  CHECK(all_are(full(100, 3), 3));
  gt_free(gt_empty_pinned(GT_SHAPE(MIB), GT_UINT8));
  CHECK(gt_memory_reserved(gt_cpu()) >= gt_memory_allocated(gt_cpu()) + MIB);
  CHECK_INT(gt_empty_cache(), GT_OK);
  CHECK_INT(gt_memory_reserved(gt_cpu()), gt_memory_allocated(gt_cpu()));
}
static void test_pinned_pool(void) {
  gt_tensor *p, *d[20];
  void *at;
  int i;
  if (on_cpu()) {
    p = gt_empty_pinned(GT_SHAPE(1000), GT_FLOAT32);
    CHECK(all_are(gt_fill(p, 3), 3));
    return;
  }
  p = gt_empty_pinned(GT_SHAPE(MIB), GT_UINT8);
  CHECK_INT(gt_is_pinned(p), 1);
  at = gt_data(p);
  gt_free(p);
  p = gt_empty_pinned(GT_SHAPE(MIB - 5000), GT_UINT8);
  CHECK(gt_data(p) == at);
  CHECK_INT(gt_is_pinned(p), 1);
  gt_free(p);
  two_streams();
  close_gate(first);
  for (i = 0; i < 20; i++) { /* more than the pool lets wait; each is filled, sent and freed */
    p = gt_fill(gt_empty_pinned(GT_SHAPE(100000), GT_UINT8), i);
    GT_WITH_STREAM(i % 2 ? second : first) d[i] = gt_to(p, DEV);
    gt_free(p);
  }
  for (i = 0; i < 20; i++) CHECK(all_are(d[i], i));
  for (i = 0; i < 20; i++) { /* downloads that nobody reads */
    GT_WITH_STREAM(first) gt_fill(d[i], 100 + i);
    GT_WITH_STREAM(i % 2 ? second : first) p = gt_to(d[i], gt_cpu());
    gt_free(p);
    p = gt_fill(gt_empty_pinned(GT_SHAPE(100000), GT_UINT8), i);
    gt_synchronize(DEV);
    CHECK(all_are(p, i));
    gt_free(p);
  }
  free_two_streams();
}
static void test_out_of_memory(void) {
  gt_tensor *small = full(11, 1), *large = gt_ones(GT_SHAPE(70, 1000), GT_FLOAT64, DEV);
  gt_tensor *middle = gt_ones(GT_SHAPE(3, 9000), GT_FLOAT32, DEV);
  const gt_tensor *const three[] = {small, large, middle};
  char held[60], message[800];
  int i;
  snprintf(held, sizeof held, "%zu are in tensors", gt_memory_allocated(DEV));
  CHECK(gt_empty(GT_SHAPE(INT64_C(1) << 50, 8), GT_UINT8, DEV) == NULL);
  CHECK_INT(gt_error(), GT_ERROR_MEMORY);
  snprintf(message, sizeof message, "%s", gt_error_message());
  gt_clear_error();
  CHECK_TEXT(strstr(message, "gt_empty: out of memory on ") != NULL, "%s", message);
  CHECK_TEXT(strstr(message, gt_device_string(DEV)) != NULL, "%s", message);
  CHECK_TEXT(strstr(message, "asked for 9007199254740992 bytes, ") != NULL, "%s", message);
  CHECK_TEXT(strstr(message, " are free, ") != NULL, "%s", message);
  CHECK_TEXT(strstr(message, held) != NULL, "%s lacks %s", message, held);
  CHECK_TEXT(strstr(message, "; largest: float64 (70, 1000) 560000, float32 (3, 9000) 108000, "
                             "float32 (11,) 44") != NULL, "%s", message);
  for (i = 0; i < 3; i++) CHECK(all_are(three[i], 1)); /* and on it goes */
  CHECK(all_are(plus(middle, 1), 2));
  gt_free(gt_ones(GT_SHAPE(100, 100), GT_FLOAT32, DEV));
  /* the host's: first the structure is allocated, then the elements; these are tried twice, since
     a stream may let go of some */
  hooks_fail_at(2);
  REFUSED(gt_empty(GT_SHAPE(1234), GT_FLOAT64, gt_cpu()), GT_ERROR_MEMORY,
          "gt_empty: out of memory on cpu: asked for 9872 bytes");
  hooks_fail_at(0);
  {
    gt_stream *s = gt_stream_create(gt_cpu(), 0);
    gt_tensor *x = cpu_full(1000, 1), *y = NULL, *z;
    pthread_t opener;
    close_gate(s);
    GT_WITH_STREAM(s) y = plus(x, 1);
    gt_free(x);
    opener = start_to_open();
    hooks_fail_once(2);
    z = gt_empty(GT_SHAPE(1000), GT_FLOAT32, gt_cpu());
    hooks_fail_at(0);
    CHECK(z != NULL);
    CHECK_INT(pthread_join(opener, NULL), 0);
    CHECK(all_are(gt_fill(z, -1), -1));
    CHECK(all_are(y, 2));
    gt_stream_free(s);
  }
}

/* ---- copies ---- */
static void check_copies(int line, int direction, int kind, uint64_t count, uint64_t bytes) {
  gt_statistics s;
  uint64_t all = 0;
  int i, j;
  CHECK_INT(gt_stats(&s), GT_OK);
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) all += s.copies[i][j].count;
  if (all != count || s.copies[direction][kind].count != count ||
      s.copies[direction][kind].bytes != bytes)
    check_report(__FILE__, line, "%d copies of %d bytes there, %d elsewhere",
                 (int)s.copies[direction][kind].count, (int)s.copies[direction][kind].bytes,
                 (int)(all - s.copies[direction][kind].count));
  gt_reset_stats();
}
#define CHECK_COPIES(direction, kind, count, bytes) \
  check_copies(__LINE__, direction, kind, (uint64_t)(count), (uint64_t)(bytes))
static void test_stats(void) {
  gt_tensor *x = full(100, 1), *p, *h;
  gt_statistics s;
  char *ordinary = (char *)calloc(4 * MIB, 1);
  gt_synchronize(DEV);
  gt_reset_stats();
  gt_stats(&s);
  CHECK_INT(s.operations + s.stream_waits + s.host_waits, 0);
  CHECK_COPIES(0, 0, 0, 0);
  gt_add(x, x, x);
  gt_add(x, x, x);
  gt_stats(&s);
  CHECK_INT(s.operations, 2);
  CHECK_INT(s.stream_waits, 0);
  two_streams();
  GT_WITH_STREAM(first) gt_add(x, x, x);
  gt_stream_synchronize(first);
  gt_reset_stats();
  GT_WITH_STREAM(first) gt_add(x, x, x);
  GT_WITH_STREAM(first) gt_add(x, x, x);
  GT_WITH_STREAM(second) gt_add(x, x, x);
  GT_WITH_STREAM(second) gt_add(x, x, x);
  gt_stats(&s);
  CHECK_INT(s.operations, 4);
  CHECK_INT(s.stream_waits, later());
  CHECK_INT(s.host_waits, 0);
  if (on_cpu()) {
    gt_data(x);
    gt_data(x);
    gt_stats(&s);
    CHECK_INT(s.host_waits, QUEUED);
    CHECK(all_are(x, 128));
  }
  gt_synchronize(DEV);
  gt_reset_stats();
  gt_free(gt_from_array(ordinary, GT_SHAPE(1000), GT_UINT8, DEV));
  CHECK_COPIES(GT_HOST_TO_DEVICE, GT_COPY_STAGED, !on_cpu(), on_cpu() ? 0 : 1000);
  gt_free(gt_from_array(ordinary, GT_SHAPE(4 * MIB), GT_UINT8, DEV));
  CHECK_COPIES(GT_HOST_TO_DEVICE, GT_COPY_STAGED, !on_cpu(), on_cpu() ? 0 : 4 * MIB);
  if (on_cpu()) {
    gt_free(gt_to(gt_copy(NULL, x), gt_cpu()));
    CHECK_COPIES(0, 0, 0, 0);
  } else {
    p = gt_fill(gt_empty_pinned(GT_SHAPE(MIB), GT_UINT8), 1);
    gt_reset_stats();
    gt_free(gt_to(p, DEV));
    CHECK_COPIES(GT_HOST_TO_DEVICE, GT_COPY_ASYNC, 1, MIB);
    gt_free(gt_from_array(gt_data(p), GT_SHAPE(1000), GT_UINT8, DEV));
    CHECK_COPIES(GT_HOST_TO_DEVICE, GT_COPY_ASYNC, 1, 1000);
    h = gt_fill(mebibytes(1, gt_cpu()), 2);
    gt_reset_stats();
    gt_free(gt_to(h, DEV));
    CHECK_COPIES(GT_HOST_TO_DEVICE, GT_COPY_STAGED, 1, MIB);
    h = gt_to(x, gt_cpu());
    CHECK_COPIES(GT_DEVICE_TO_HOST, GT_COPY_ASYNC, 1, 400);
    CHECK_INT(gt_is_pinned(h), 1);
    gt_stats(&s);
    CHECK_INT(s.host_waits, 0);
    CHECK(all_are(h, 128));
    gt_stats(&s);
    CHECK_INT(s.host_waits, 1); /* the reader's */
    gt_reset_stats();
    gt_copy(cpu_full(100, 0), x);
    CHECK_COPIES(GT_DEVICE_TO_HOST, GT_COPY_BLOCKING, 1, 400);
    CHECK_INT(gt_to_array(x, ordinary, 400), GT_OK);
    CHECK_COPIES(GT_DEVICE_TO_HOST, GT_COPY_BLOCKING, 1, 400);
    CHECK_NUM(gt_item(gt_select(x, 0, 5)), 128);
    CHECK_COPIES(GT_DEVICE_TO_HOST, GT_COPY_BLOCKING, 1, 4);
    CHECK_INT(gt_to_array(x, gt_data(p), 400), GT_OK);
    CHECK_COPIES(GT_DEVICE_TO_HOST, GT_COPY_ASYNC, 1, 400);
    gt_copy(NULL, x); /* not between devices */
    CHECK_COPIES(0, 0, 0, 0);
    if (gt_cuda_device_count() > 1) {
      gt_tensor *far = gt_to(x, gt_cuda(!DEV.index));
      CHECK_COPIES(GT_DEVICE_TO_DEVICE, GT_COPY_ASYNC, 1, 400);
      CHECK(all_are(far, 128));
    }
  }
  free_two_streams();
  free(ordinary);
}
/* Views of any kind to dense memory of another GPU and to every second row of it, of all dtypes. To dense
   memory of ours it is one operation where the source's GPU can reach that, else two. */
static int same_elements(const gt_tensor *x, const gt_tensor *y) {
  int same = 0;
  GT_SCOPE {
    const gt_tensor *a = gt_contiguous(gt_to(x, gt_cpu())), *b = gt_contiguous(gt_to(y, gt_cpu()));
    const size_t bytes = (size_t)gt_numel(x) * gt_dtype_size(x->dtype);
    same = gt_numel(x) == gt_numel(y) && (!bytes || !memcmp(gt_data(a), gt_data(b), bytes));
  }
  return same;
}
static uint64_t operations_of_copy(gt_tensor *to, const gt_tensor *from) {
  gt_statistics s;
  const uint64_t bytes = (uint64_t)(gt_numel(to) * (int64_t)gt_dtype_size(to->dtype));
  gt_reset_stats();
  CHECK(gt_copy(to, from) == to);
  gt_stats(&s);
  CHECK_INT(s.copies[GT_DEVICE_TO_DEVICE][GT_COPY_ASYNC].count, bytes > 0);
  CHECK_INT(s.copies[GT_DEVICE_TO_DEVICE][GT_COPY_ASYNC].bytes, bytes);
  CHECK_INT(s.host_waits, 0);
  return s.operations;
}
static void check_across(const gt_tensor *view, gt_device far, int reached) {
  const gt_shape shape = gt_shape_of(view);
  gt_shape twice = shape;
  if (shape.ndim) twice.size[0] *= 2;
  GT_SCOPE {
    gt_tensor *dense = gt_zeros(shape, view->dtype, far);
    gt_tensor *rows = gt_zeros(twice, view->dtype, far);
    gt_tensor *memory = gt_zeros(shape, view->dtype, far);
    gt_tensor *wrapped = gt_from_ptr(gt_data(memory), shape, view->dtype, far, NULL, NULL);
    const int some = gt_numel(view) > 0, more = some && !gt_is_contiguous(view);
    CHECK_INT(operations_of_copy(dense, view), some + (more && !reached));
    CHECK(same_elements(dense, view));
    gt_set_stream_safety(GT_OFF); /* the caller orders the streams of dst's GPU, and no others */
    CHECK_INT(operations_of_copy(dense, view), some + more);
    gt_set_stream_safety(GT_ORDER);
    CHECK(same_elements(dense, view));
    CHECK_INT(operations_of_copy(wrapped, view), some + more);
    CHECK(same_elements(memory, view));
    if (!shape.ndim) continue;
    rows = gt_slice(rows, 0, 0, INT64_MAX, 2);
    CHECK(operations_of_copy(rows, view) <= (uint64_t)(some * (reached && shape.ndim > 1 ? 1 : 3)));
    CHECK(same_elements(rows, view));
  }
}
static void test_across_gpus(void) {
  static const char *const texts[] = {":",    "..., ::2", "::-1",      "1:-1, ::-3, ::2",
                                      "3, :", "0, 0, 0",  "..., 5:5", "2:3"};
  static const gt_shape orders[] = {{3, {0, 1, 2}}, {3, {2, 1, 0}}, {3, {1, 2, 0}}};
  const gt_device far = gt_cuda(!DEV.index);
  const int64_t edge = QUICK ? 9 : 65;
  int type, i, k, can = 1;
#if !defined(__NVCC__)
  if (cudaDeviceCanAccessPeer)
#endif
    CHECK_INT(cudaDeviceCanAccessPeer(&can, DEV.index, far.index), 0);
  for (type = 0; type < GT_DTYPES; type++)
    for (k = 0; k < 3; k++)
      for (i = 0; i < 8; i++) GT_SCOPE {
        gt_tensor *x = gt_randint(0, 2 + 9 * (type > 0), GT_SHAPE(7, edge, 70), (gt_dtype)type, DEV, NULL);
        check_across(gt_view(gt_permute(x, orders[k]), texts[i]), far, can);
        check_across(gt_expand(gt_view(x, "..., :1"), GT_SHAPE(7, edge, 3)), far, can);
      }
}
/* Ordinary memory, up and down at sizes around those where the way changes. The source is
   overwritten as soon as the call has returned. */
static void test_ordinary_memory(void) {
  static const int64_t sizes[] = {1, 7, 65535, 65536, 65537, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1,
                                  7 * 2 * MIB + 3, 16 * MIB - 1, 16 * MIB, 16 * MIB + 1};
  const int64_t most = 16 * MIB + 1;
  unsigned char *source = (unsigned char *)malloc((size_t)most);
  unsigned char *expected = (unsigned char *)malloc((size_t)most);
  unsigned k;
  int64_t i;
  for (i = 0; i < most; i++) expected[i] = (unsigned char)((i * 2654435761u) >> 13);
  two_streams();
  for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int64_t n = sizes[k];
    buffer down = buffer_make((size_t)n);
    gt_tensor *x = NULL, *host = NULL, *wrapped = NULL;
    memcpy(source, expected, (size_t)n);
    GT_WITH_STREAM(first) x = gt_from_array(source, GT_SHAPE(n), GT_UINT8, DEV);
    memset(source, 0xEE, (size_t)n);
    GT_WITH_STREAM(second) CHECK_INT(gt_to_array(x, buffer_data(down), (size_t)n), GT_OK);
    CHECK_TEXT(!memcmp(buffer_data(down), expected, (size_t)n), "%" PRId64 " bytes", n);
    CHECK(buffer_guards_hold(down));
    /* the same with tensors of the caller's memory */
    memcpy(source, expected, (size_t)n);
    wrapped = gt_from_ptr(source, GT_SHAPE(n), GT_UINT8, gt_cpu(), NULL, NULL);
    GT_WITH_STREAM(second) {
      gt_fill(x, 0);
      gt_copy(x, wrapped);
    }
    if (!on_cpu()) memset(source, 0xDD, (size_t)n);
    else memset(gt_data(wrapped), 0xDD, (size_t)n);
    memset(buffer_data(down), 0, (size_t)n);
    host = gt_from_ptr(buffer_data(down), GT_SHAPE(n), GT_UINT8, gt_cpu(), NULL, NULL);
    GT_WITH_STREAM(first) gt_copy(host, x);
    CHECK_TEXT(!memcmp(gt_data(host), expected, (size_t)n), "%" PRId64 " bytes", n);
    CHECK(buffer_guards_hold(down));
    gt_free(host);
    gt_free(wrapped);
    gt_free(x);
    buffer_free(down);
  }
  free_two_streams();
  free(source);
  free(expected);
}

/* ---- forks ---- */
static gt_tensor *fork_tensor, *fork_pending, *fork_device;
static gt_stream *fork_stream;
static gt_event *fork_event;
static int child_bad;
#define CHILD(x) \
  ((x) ? (void)0 : (void)(child_bad++, printf("async.c:%d: child: %s (%s)\n", __LINE__, #x, \
                                              gt_error_message())))
/* An error that says what happened. */
#define CHILD_REFUSED(x) \
  (CHILD(x), CHILD(gt_error() == GT_ERROR_STATE || gt_error() == GT_ERROR_DEVICE), \
   CHILD(strstr(gt_error_message(), "fork") != NULL), gt_clear_error())
static void child_computes(void) {
  const int64_t n = 300000; /* in the parent several threads would share it */
  gt_tensor *x = gt_full(GT_SHAPE(n), 2, GT_FLOAT64, gt_cpu()), *y = gt_exp(NULL, x);
  gt_tensor *a = gt_ones(GT_SHAPE(120, 130), GT_FLOAT32, gt_cpu());
  CHILD(gt_item(gt_sum(NULL, x, GT_ALL, 0)) == 2.0 * (double)n);
  CHILD(gt_item(gt_sum(NULL, gt_eq(NULL, y, gt_select(y, 0, 5)), GT_ALL, 0)) == (double)n);
  a = gt_matmul(NULL, a, gt_transpose(a, 0, 1));
  CHILD(gt_item(gt_select(gt_select(a, 0, 3), 0, 4)) == 130);
  CHILD(gt_item(gt_select(plus(fork_tensor, 1), 0, 7)) == 4);
}
static void child_uses_streams(void) {
  gt_stream *fresh = gt_stream_create(gt_cpu(), 0);
  gt_event *event = gt_event_create();
  if (!QUEUED) {
    gt_stream_free(fresh);
    gt_event_free(event);
    return;
  }
  CHILD_REFUSED(fresh == NULL);
  GT_WITH_STREAM(fork_stream) CHILD_REFUSED(gt_add(NULL, fork_tensor, fork_tensor) == NULL);
  CHILD_REFUSED(gt_event_record(event, fork_stream) != GT_OK);
  CHILD_REFUSED(gt_stream_synchronize(fork_stream) != GT_OK);
  CHILD_REFUSED(gt_synchronize(gt_cpu()) != GT_OK);
  CHILD_REFUSED(gt_event_synchronize(fork_event) != GT_OK);
  CHILD_REFUSED(gt_data(fork_pending) == NULL); /* its values will never come here */
  CHILD_REFUSED(plus(fork_pending, 1) == NULL);
  CHILD(gt_stream_query(fork_stream) != 1);
  gt_clear_error();
  CHILD(gt_event_query(fork_event) != 1);
  gt_clear_error();
  gt_event_free(event);
}
static void child_uses_cuda(void) {
  CHILD(!gt_cuda_is_available());
  CHILD(strstr(gt_cuda_unavailable_reason(), "fork") != NULL);
  CHILD(gt_best_device().type == GT_CPU);
  CHILD_REFUSED(full(3, 1) == NULL);
  CHILD_REFUSED(gt_add(NULL, fork_device, fork_device) == NULL);
  CHILD_REFUSED(gt_to(fork_device, gt_cpu()) == NULL);
  CHILD_REFUSED(gt_synchronize(DEV) != GT_OK);
  CHILD(gt_item(gt_select(gt_fill(gt_empty_pinned(GT_SHAPE(10), GT_FLOAT32), 4), 0, 1)) == 4);
}
static void child(void) {
  GT_SCOPE {
    child_computes();
    child_uses_streams();
    if (!on_cpu()) child_uses_cuda();
    CHILD(!gt_error());
  }
  gt_event_free(fork_event);
  gt_free(fork_pending);
  gt_free(fork_device);
  gt_free(fork_tensor);
  gt_clear_error();
  gt_shutdown();
  GT_SCOPE {
    gt_tensor *x = cpu_full(100, 1);
    CHILD(gt_item(gt_sum(NULL, x, GT_ALL, 0)) == 100);
  }
  gt_shutdown();
  CHILD(!gt_error());
}
static void test_fork(void) {
  int status = -1, busy;
  pid_t pid;
  for (busy = 0; busy < 2; busy++) {
    fork_stream = gt_stream_create(gt_cpu(), 0);
    fork_event = gt_event_create();
    fork_tensor = cpu_full(200000, 3);
    fork_device = full(10, 1);
    close_gate(fork_stream);
    GT_WITH_STREAM(fork_stream) fork_pending = gt_add(NULL, fork_tensor, fork_tensor);
    gt_event_record(fork_event, fork_stream);
    if (busy == 0) { /* the rest of the stream's life does not matter to what it has done */
      open_gates();
      gt_stream_synchronize(fork_stream);
      close_gate(fork_stream);
      GT_WITH_STREAM(fork_stream) gt_add(fork_pending, fork_pending, fork_tensor);
      gt_event_record(fork_event, fork_stream);
    }
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
      child();
      fflush(NULL);
      _exit(child_bad != 0);
    }
    CHECK(pid > 0);
    if (pid > 0) CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_TEXT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's status is %#x", status);
    open_gates();
    CHECK(all_are(fork_pending, busy == 0 ? 9 : 6));
    CHECK_INT(gt_event_synchronize(fork_event), GT_OK);
    CHECK(all_are(plus(fork_device, 1), 2));
    GT_WITH_STREAM(fork_stream) gt_fill(fork_tensor, 1);
    CHECK(all_are(fork_tensor, 1));
    gt_event_free(fork_event);
    gt_stream_free(fork_stream);
  }
}

/* ---- operations that fail in a CPU stream's thread ---- */
/* A softmax that finds no memory behind the gate, writing x. */
static void fail_later(gt_stream *s, gt_tensor *x) {
  gt_tensor *a = gt_ones(GT_SHAPE(2, 2000), GT_FLOAT32, gt_cpu());
  hooks_hold(1);
  GT_WITH_STREAM(s) gt_softmax(x, a, 1);
  CHECK_INT(gt_error(), GT_OK);
}
static void let_it_fail(void) {
  hooks_fail_at(1);
  open_gates();
}
/* The call reports it: nobody did before. */
#define CHECK_FAILED(failed) \
  do { \
    REFUSED_IF(failed, GT_ERROR_MEMORY, "out of memory"); \
    hooks_fail_at(0); \
  } while (0)
/* It may be reported to others too: to who waits for the stream, and to who reads the result. */
static void report_to_all(void) {
  while (gt_synchronize(gt_cpu())) gt_clear_error();
}
/* Are sums made by the plain way, which needs no memory? */
static int sum_is_plain(void) {
  const char *asked = getenv("GPUTENSOR_WAYS");
  return asked && !strcmp(asked, "plain");
}
static void test_failures(void) {
  float values[4000];
  gt_tensor *x, *y, *big = cpu_full(400000, 1), *sum = NULL;
  gt_event *e = gt_event_create();
  gt_stream *s = gt_stream_create(gt_cpu(), 0);
  if (!QUEUED) {
    gt_event_free(e);
    gt_stream_free(s);
    skip("failures", "created CPU streams run at once");
    return;
  }
  x = gt_ones(GT_SHAPE(2, 2000), GT_FLOAT32, gt_cpu());
  y = gt_ones(GT_SHAPE(2, 2000), GT_FLOAT32, gt_cpu());
  fail_later(s, x);
  let_it_fail();
  CHECK_FAILED(gt_stream_synchronize(s) != GT_OK);
  CHECK_INT(gt_stream_synchronize(s), GT_OK); /* once */
  GT_WITH_STREAM(s) gt_fill(x, 2);            /* and the stream goes on */
  CHECK(all_are(x, 2));
  fail_later(s, x);
  let_it_fail();
  CHECK_FAILED(gt_data(x) == NULL);
  report_to_all();
  fail_later(s, x);
  let_it_fail();
  CHECK_FAILED(gt_to_array(x, values, sizeof values) != GT_OK);
  report_to_all();
  fail_later(s, x);
  let_it_fail();
  CHECK_FAILED(gt_synchronize(gt_cpu()) != GT_OK);
  report_to_all();
  fail_later(s, x);
  GT_WITH_STREAM(s) gt_fill(y, 3); /* what comes after it is done */
  let_it_fail();
  CHECK_FAILED(gt_stream_synchronize(s) != GT_OK);
  report_to_all();
  CHECK(all_are(y, 3));
  fail_later(s, x);
  gt_event_record(e, s);
  let_it_fail();
  CHECK_FAILED(gt_event_synchronize(e) != GT_OK);
  report_to_all();
  fail_later(s, x);
  gt_stream_free(s);
  let_it_fail();
  CHECK_FAILED(gt_data(x) == NULL);
  report_to_all();
  s = gt_stream_create(gt_cpu(), 0);
  hooks_hold(1); /* a sum, which needs memory but for the plain way */
  GT_WITH_STREAM(s) sum = gt_sum(NULL, big, GT_ALL, 0);
  let_it_fail();
  if (strstr(gt_build_info(), "reduce: plain") || sum_is_plain()) hooks_fail_at(0);
  else CHECK_FAILED(gt_stream_synchronize(s) != GT_OK);
  report_to_all();
  gt_free(sum);
  fail_later(s, x); /* the default stream needs it */
  let_it_fail();
  CHECK_FAILED(gt_add(x, x, x) == NULL);
  report_to_all();
  gt_event_free(e);
  gt_stream_free(s);
}
/* An event that passes after it, and a stream that waits, do not take it away from those who ask
   for the stream or its results. */
static void test_failures_are_not_lost(void) {
  float values[4000];
  gt_tensor *x = gt_ones(GT_SHAPE(2, 2000), GT_FLOAT32, gt_cpu()), *y = NULL;
  gt_event *e = gt_event_create();
  gt_stream *s = gt_stream_create(gt_cpu(), 0), *t = gt_stream_create(gt_cpu(), 0);
  if (QUEUED) {
    fail_later(s, x);
    gt_event_record(e, s); /* to measure a time, say */
    let_it_fail();
    CHECK_FAILED(gt_stream_synchronize(s) != GT_OK);
    report_to_all();
    fail_later(s, x);
    GT_WITH_STREAM(t) y = plus(x, 1);
    let_it_fail();
    CHECK_FAILED(gt_to_array(x, values, sizeof values) != GT_OK);
    report_to_all();
    gt_free(y);
  }
  gt_event_free(e);
  gt_stream_free(s);
  gt_stream_free(t);
}

/* Every allocation of a piece of work on two streams fails once, or with all that follow it. A call
   that says so has done nothing, and all others are in order. */
static void fail_at_allocation(int64_t nth, int once) {
  gt_tensor *x = cpu_full(100, 1), *y = cpu_full(100, 10), *z = cpu_full(100, 0);
  gt_event *e = gt_event_create();
  double vx = 1, vy = 10, vz = 0;
  pthread_t opener;
  first = gt_stream_create(gt_cpu(), 0);
  second = gt_stream_create(gt_cpu(), 0);
  close_gate(first);
  (once ? hooks_fail_once : hooks_fail_at)(nth);
  GT_WITH_STREAM(first) if (gt_add(x, x, x)) vx *= 2;
  GT_WITH_STREAM(second) if (gt_add(y, y, x)) vy += vx;
  gt_clear_error();
  gt_event_record(e, first);
  GT_WITH_STREAM(first) if (gt_mul(x, x, y)) vx *= vy;
  gt_clear_error();
  gt_stream_wait_event(second, e);
  gt_stream_wait_stream(first, second);
  gt_clear_error();
  GT_WITH_STREAM(second) {
    if (gt_add(z, x, y)) vz = vx + vy;
    if (gt_fill(y, 5)) vy = 5;
  }
  opener = start_to_open();
  gt_stream_free(first); /* if it cannot note its end, it waits */
  CHECK_INT(pthread_join(opener, NULL), 0);
  hooks_fail_at(0);
  gt_stream_free(second);
  gt_clear_error();
  report_to_all();
  CHECK_TEXT(all_are(x, vx) && all_are(y, vy) && all_are(z, vz), "%s at %d",
             once ? "once" : "from then on", (int)nth);
  NO_ERROR();
  gt_free(x);
  gt_free(y);
  gt_free(z);
  gt_event_free(e);
}
static void test_allocations_fail(void) {
  int64_t n;
  for (n = 1; n < 30; n++) {
    GT_SCOPE fail_at_allocation(n, 1);
    GT_SCOPE fail_at_allocation(n, 0);
  }
}

/* ---- several threads and one tensor ---- */
enum { THREADS = 4 };
static gt_tensor *counter;
static atomic_int thread_bad;
static int rounds(void) { return QUICK ? 60 : 400; }
static void *count_on_default(void *argument) {
  int k;
  GT_SCOPE for (k = 0; k < rounds(); k++) {
    gt_eval(counter, "a + 1", counter);
    if (k % 16 == 0) { /* one operation is seen whole */
      gt_tensor *copy = gt_copy(NULL, counter);
      gt_tensor *low = gt_min(NULL, copy, GT_ALL, 0), *high = gt_max(NULL, copy, GT_ALL, 0);
      if (gt_item(low) != gt_item(high)) thread_bad++;
      gt_free(low);
      gt_free(high);
      gt_free(copy);
    }
  }
  thread_bad += gt_error() != GT_OK;
  return argument;
}
static void *count_on_streams(void *argument) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_set_stream(s);
  count_on_default(NULL);
  gt_set_stream(NULL);
  gt_stream_free(s);
  thread_bad += gt_error() != GT_OK;
  return argument;
}
static void *count_on_either(void *argument) {
  return (intptr_t)argument % 2 ? count_on_streams(NULL) : count_on_default(NULL);
}
/* One thread makes the word in which kernels note a bad index, others look at it. */
static int looking;
static void *look(void *unused) {
  while (__atomic_load_n(&looking, __ATOMIC_RELAXED))
    if (gt_synchronize(DEV)) thread_bad++;
  return unused;
}
static void test_word_of_faults(void) {
  for (int round = 0; round < 5; round++) {
    pthread_t thread[THREADS];
    const int64_t entries[] = {0, 1};
    gt_shutdown(); /* forgets the word */
    gt_tensor *x = full(3, 4), *index = gt_from_array(entries, GT_SHAPE(2), GT_INT64, DEV), *y;
    thread_bad = 0;
    looking = 1;
    for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_create(&thread[i], NULL, look, NULL), 0);
    let_others_run();
    y = gt_index_select(NULL, x, 0, index);
    let_others_run();
    __atomic_store_n(&looking, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_join(thread[i], NULL), 0);
    CHECK_INT(thread_bad, 0);
    CHECK(all_are(y, 4));
  }
}
static void test_one_tensor(void) {
  static void *(*const body[])(void *) = {count_on_default, count_on_streams, count_on_either};
  unsigned b;
  for (b = 0; b < 3; b++) {
    pthread_t thread[THREADS];
    int i;
    counter = gt_zeros(GT_SHAPE(QUICK ? 300 : 3000), GT_FLOAT64, DEV);
    thread_bad = 0;
    for (i = 0; i < THREADS; i++)
      CHECK_INT(pthread_create(&thread[i], NULL, body[b], (void *)(intptr_t)i), 0);
    for (i = 0; i < THREADS; i++) CHECK_INT(pthread_join(thread[i], NULL), 0);
    CHECK_INT(thread_bad, 0);
    CHECK(all_are(counter, THREADS * rounds()));
  }
}

/* Streams of every kind that nobody has freed; the events that were recorded on them stay. */
static void test_shutdown_ends_streams(void) {
  gt_event *e = gt_event_create();
  gt_stream *s = gt_stream_create(gt_cpu(), 0), *wrapped;
  wrapped = gt_stream_from_native(DEV, gt_stream_native(gt_stream_create(DEV, 0)));
  GT_WITH_STREAM(wrapped) CHECK(all_are(full(10, 1), 1));
  gt_stream_from_native(gt_cpu(), NULL);
  gt_event_record(e, s);
  gt_shutdown();
  CHECK_INT(gt_event_query(e), 1);
  gt_event_free(e);
}

int main(int argc, char **argv) {
  check_start("async", argc, argv);
  RUN(asynchronous);
  RUN(in_order);
  RUN(bounded);
  RUN(freed_while_busy);
  RUN(waited_for_by_threads);
  RUN(shutdown_while_busy);
  RUN(read_after_write);
  RUN(write_after_read);
  RUN(write_after_write);
  RUN(views_in_place);
  RUN(free_and_reuse);
  RUN(host_access);
  RUN(deleter_waits);
  RUN(events);
  RUN(event_recorded_again);
  RUN(event_freed_pending);
  RUN(wait_stream);
  RUN(waits_are_passed_on);
  if (on_cpu()) skip("CPU streams and a GPU", "runs on a GPU");
  else RUN(cpu_and_gpu);
  if (!on_cpu()) RUN(copy_that_tells);
  RUN(race_lines);
  RUN(races_of_the_host);
  RUN(no_false_alarm);
  RUN(pending_query_orders_nothing);
  RUN(many_races);
  RUN(safety_is_the_threads);
  RUN(safety_off);
  RUN(frees_without_order);
  RUN(own_kernels);
  RUN(calls);
  RUN(calls_in_order);
  RUN(calls_at_once);
  RUN(memory_numbers);
  RUN(empty_cache);
  RUN(pinned_pool);
  RUN(out_of_memory);
  RUN(stats);
  if (gt_cuda_device_count() > 1 && !on_cpu()) RUN(across_gpus);
  else skip("from GPU to GPU", "needs two GPUs");
  RUN(ordinary_memory);
  RUN(fork);
  RUN(failures);
  RUN(failures_are_not_lost);
  RUN(allocations_fail);
  RUN(one_tensor);
  RUN(word_of_faults);
  RUN(shutdown_ends_streams);
  if (waits_unseen) skip("streams that wait", "only a CPU stream of its own can be held at a gate");
  return check_finish();
}
