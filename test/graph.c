/* Graphs: work that is recorded once and done again. Everything that can be recorded gives the bits
   that direct calls give, whatever the inputs are meanwhile; what cannot be is refused by its name,
   and the recording goes on. And gt_warmup and gt_benchmark. */
#include "check.h"

#include <pthread.h>

/* There is no CUDA header here: of the runtime only these are called, and only on a GPU. */
#if !defined(__NVCC__)
#define WEAK __attribute__((weak))
#else
#define WEAK
#endif
WEAK extern int cudaStreamBeginCapture(void *stream, int mode);
WEAK extern int cudaStreamEndCapture(void *stream, void **graph);
WEAK extern int cudaGraphDestroy(void *graph);

#if defined(__GNUC__)
void sim_clock(int on) __attribute__((weak)); /* of the simulated runtime: its model of time */
static int set_clock(int on) {
  if (sim_clock) sim_clock(on);
  return sim_clock != NULL;
}
#else
static int set_clock(int on) { return 0 * on; }
#endif

static gt_stream *usual(void) { return gt_current_stream(DEV); }
static gt_tensor *full(int64_t n, double v) { return gt_full(GT_SHAPE(n), v, GT_FLOAT32, DEV); }
static gt_tensor *plus(gt_tensor *out, const gt_tensor *x, double v) {
  return gt_eval(out, "a + b", x, gt_scalar(v));
}
static void launch(gt_graph *g, gt_stream *s) { CHECK_INT(gt_graph_launch(g, s), GT_OK); }
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

/* ---- the same bits as direct calls ---- */
enum { INPUTS = 4, OUTPUTS = 4 };
/* in: x (60, 70), y (60, 70), w (70, 50) float32, index (30) int64 below 60. */
typedef void work(gt_tensor *const *in, gt_tensor **out);
static void do_maps(gt_tensor *const *in, gt_tensor **out) {
  gt_tensor *t = gt_add(NULL, in[0], in[1]);
  gt_tensor *u = gt_eval(NULL, "exp(-a*a) + b*0.5", t, in[1]);
  out[0] = gt_mul(NULL, t, u);
  out[1] = gt_to_dtype(u, GT_BFLOAT16);
  gt_free(t);
  gt_free(u);
  out[2] = gt_sub(NULL, in[0], out[0]); /* in memory that was just freed */
  gt_eval(out[2], "a + b*index", out[2], in[1]);
}
static void do_folds(gt_tensor *const *in, gt_tensor **out) {
  out[0] = gt_sum(NULL, in[0], GT_DIM(0), 0);
  out[1] = gt_reduce(NULL, GT_MEAN, GT_ALL, 1, "(a-b)*(a-b)", in[0], in[1]);
  out[2] = gt_softmax(NULL, in[0], 1);
  out[3] = gt_std(NULL, in[1], GT_DIM(1), 1, 1);
}
static void do_long_folds(gt_tensor *const *in, gt_tensor **out) { /* with scratch, on a GPU */
  gt_tensor *wide = gt_reshape(in[0], GT_SHAPE(-1, 1, 1));
  gt_tensor *many = gt_expand(wide, GT_SHAPE(4200, 1, 13));
  out[0] = gt_sum(NULL, many, GT_DIM(0), 0);
  out[1] = gt_sum(NULL, gt_contiguous(many), GT_ALL, 1);
  out[2] = gt_argmax(NULL, in[0], GT_ALL, 1);
  out[3] = gt_log_softmax(NULL, in[1], 0);
}
static void do_products(gt_tensor *const *in, gt_tensor **out) {
  out[0] = gt_matmul(NULL, in[0], in[2]);
  out[1] = gt_matmul_eval(NULL, in[1], in[2], "relu(a + b)", out[0]);
  out[2] = gt_matmul(NULL, gt_transpose(in[0], 0, 1), out[1]);
  out[3] = gt_matmul(NULL, in[0], gt_transpose(in[1], 0, 1));
}
static void do_copies(gt_tensor *const *in, gt_tensor **out) {
  const gt_tensor *both[2];
  out[0] = gt_index_select(NULL, in[0], 0, in[3]);
  both[0] = out[0];
  both[1] = in[1];
  out[1] = gt_cat(NULL, 2, both, 0);
  out[2] = gt_contiguous(gt_transpose(in[0], 0, 1));
  out[3] = gt_zeros(GT_SHAPE(61, 70), GT_FLOAT32, DEV);
  gt_copy(gt_slice(out[3], 0, 1, 61, 1), in[0]);
  gt_copy(gt_slice(out[3], 0, 0, 60, 2), gt_slice(in[1], 0, 0, 30, 1));
}
/* More operands than a program has slots: several passes, with tensors between. */
static void do_passes(gt_tensor *const *in, gt_tensor **out) {
  gt_tensor *x = in[0], *y = in[1];
  out[0] = gt_eval(NULL, "sin(a*b)+c*d-e*f+g*h-i*j+k*l-m*n+o*p", x, y, x, y, x, y, x, y, x, y, x, y,
                   x, y, x, y);
  out[1] = gt_eval(NULL, "a*a + exp(b) > 1 ? a : b / (a + 3)", x, y);
}
/* A thing that steps: what it writes it reads again at the next launch. */
static void do_steps(gt_tensor *const *in, gt_tensor **out) {
  out[0] = gt_eval(NULL, "a*0.9 + b*0.1", in[0], in[1]);
  gt_copy(in[0], out[0]);
  gt_eval(in[1], "a + 1", in[1]);
}
static void do_all(gt_tensor *const *in, gt_tensor **out);
static void fill_inputs(gt_tensor **in) {
  GT_SCOPE {
    gt_copy(in[0], random_tensor(GT_SHAPE(60, 70), GT_FLOAT32, DEV));
    gt_copy(in[1], random_tensor(GT_SHAPE(60, 70), GT_FLOAT32, DEV));
    gt_copy(in[2], random_tensor(GT_SHAPE(70, 50), GT_FLOAT32, DEV));
    int64_t index[30];
    for (int i = 0; i < 30; i++) index[i] = rnd_below(60);
    gt_copy(in[3], gt_from_array(index, GT_SHAPE(30), GT_INT64, DEV));
  }
}
static void make_inputs(gt_tensor **in) {
  in[0] = gt_zeros(GT_SHAPE(60, 70), GT_FLOAT32, DEV);
  in[1] = gt_zeros(GT_SHAPE(60, 70), GT_FLOAT32, DEV);
  in[2] = gt_zeros(GT_SHAPE(70, 50), GT_FLOAT32, DEV);
  in[3] = gt_zeros(GT_SHAPE(30), GT_INT64, DEV);
}
/* The work recorded on `here` and launched on `there`, three times with new inputs, beside the same
   work done directly. */
static void check_work(const char *name, work *f, gt_stream *here, gt_stream *there) {
  gt_tensor *in[INPUTS], *same[INPUTS], *out[OUTPUTS] = {NULL}, *direct[OUTPUTS];
  int i, round;
  make_inputs(in);
  make_inputs(same);
  CHECK_INT(gt_graph_begin(here), GT_OK);
  GT_WITH_STREAM(here) f(in, out);
  gt_graph *g = gt_graph_end();
  CHECK_TEXT(g != NULL, "%s: %s", name, gt_error_message());
  for (round = 0; round < 3; round++) {
    fill_inputs(in);
    for (i = 0; i < INPUTS; i++) gt_copy(same[i], in[i]);
    launch(g, there);
    memset(direct, 0, sizeof direct);
    f(same, direct);
    for (i = 0; i < OUTPUTS; i++) {
      if (!direct[i]) continue;
      CHECK_SAME(out[i], direct[i]);
      void *p = values_of(out[i]);
      if (f != do_products && f != do_all) digest(out[i]->dtype, p, gt_numel(out[i]));
      free(p);
    }
    for (i = 0; i < INPUTS; i++) CHECK_SAME(in[i], same[i]);
  }
  gt_graph_free(g);
}
static void test_same_bits(void) {
  static const struct { const char *name; work *f; } row[] = {
      {"maps", do_maps}, {"folds", do_folds}, {"long folds", do_long_folds},
      {"products", do_products}, {"copies", do_copies}, {"passes", do_passes}, {"steps", do_steps}};
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    GT_SCOPE check_work(row[i].name, row[i].f, usual(), usual());
    GT_SCOPE check_work(row[i].name, row[i].f, s, s);
    GT_SCOPE check_work(row[i].name, row[i].f, s, t);
    GT_SCOPE check_work(row[i].name, row[i].f, usual(), t);
  }
  gt_stream_free(s);
  gt_stream_free(t);
}
/* Everything in one. */
static void do_all(gt_tensor *const *in, gt_tensor **out) {
  gt_tensor *part[OUTPUTS];
  work *const list[] = {do_maps, do_folds, do_products, do_copies, do_passes};
  out[0] = gt_zeros(GT_SHAPE(1, 1), GT_FLOAT64, DEV);
  for (int i = 0; i < 5; i++) {
    memset(part, 0, sizeof part);
    list[i](in, part);
    for (int k = 0; k < OUTPUTS; k++)
      if (part[k])
        gt_eval(out[0], "a*0.5 + b", out[0],
                gt_sum(NULL, gt_reshape(part[k], GT_SHAPE(1, -1)), GT_DIM(1), 1));
  }
}
static void test_all_in_one(void) { check_work("all", do_all, usual(), usual()); }

/* ---- several streams ---- */
static void test_streams(void) {
  enum { N = 3000, STREAMS = 12 }; /* more than a graph tells apart */
  gt_stream *s[STREAMS];
  gt_tensor *x[STREAMS], *sum = full(N, 0), *left = full(N, 1), *right = full(N, 2);
  int i, round;
  for (i = 0; i < STREAMS; i++) {
    s[i] = gt_stream_create(DEV, 0);
    x[i] = full(N, 0);
  }
  gt_graph_begin(usual());
  for (i = 0; i < STREAMS; i++)
    GT_WITH_STREAM(s[i]) plus(x[i], i ? x[i - 1] : left, 1); /* each behind the one before */
  for (i = 0; i < STREAMS; i++) GT_WITH_STREAM(s[i]) gt_eval(x[i], "a*2", x[i]);
  gt_fill(sum, 0);
  for (i = 0; i < STREAMS; i++) GT_WITH_STREAM(s[i]) gt_add(sum, sum, x[i]);
  GT_WITH_STREAM(s[3]) gt_add(right, right, sum);
  GT_WITH_STREAM(s[5]) gt_copy(left, right); /* written after it was read */
  gt_graph *g = gt_graph_end();
  double a = 1, b = 2;
  for (round = 0; round < 3; round++) {
    double total = 0;
    launch(g, s[round]);
    for (i = 0; i < STREAMS; i++) total += 2 * (a + 1 + i);
    b += total;
    a = b;
    CHECK(all_are(sum, total));
    CHECK(all_are(right, b));
    CHECK(all_are(left, a));
  }
  gt_graph_free(g);
  for (i = 0; i < STREAMS; i++) gt_stream_free(s[i]);
}
/* Order that the program asks for, where no memory asks for it, is kept, and refused where it cannot
   be. That shows in no result, but in time: see record_waits and record_events. */
static void test_waits(void) {
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  gt_event *inside = gt_event_create(), *outside = gt_event_create(), *never = gt_event_create();
  gt_tensor *x = full(1000, 1), *y = full(1000, 1);
  CHECK_INT(gt_event_record(outside, s), GT_OK);
  gt_graph_begin(s);
  GT_WITH_STREAM(s) plus(x, x, 1);
  CHECK_INT(gt_event_record(inside, s), GT_OK);
  CHECK_INT(gt_stream_wait_event(t, inside), GT_OK);
  GT_WITH_STREAM(t) plus(y, y, 1);
  CHECK_INT(gt_stream_wait_stream(s, t), GT_OK);
  CHECK_INT(gt_stream_wait_stream(s, s), GT_OK);
  GT_WITH_STREAM(s) plus(x, x, 1);
  REFUSED_STATUS(gt_stream_wait_event(t, outside), GT_ERROR_STATE, "events recorded in it");
  REFUSED_STATUS(gt_stream_wait_event(t, never), GT_ERROR_STATE, "events recorded in it");
  REFUSED_STATUS(gt_event_synchronize(inside), GT_ERROR_STATE, "but for in a graph");
  REFUSED_IF(gt_event_query(inside) == -1, GT_ERROR_STATE, "gt_event_query: the event was never recorded, but for in a graph");
  CHECK_INT(gt_event_synchronize(outside), GT_OK);
  gt_graph *g = gt_graph_end();
  REFUSED_STATUS(gt_stream_wait_event(t, inside), GT_ERROR_STATE, "but for in a graph");
  launch(g, t);
  launch(g, s);
  CHECK(all_are(x, 5));
  CHECK(all_are(y, 3));
  gt_graph_begin(s);
  REFUSED_STATUS(gt_stream_wait_event(t, inside), GT_ERROR_STATE, "events recorded in it");
  CHECK_INT(gt_event_record(inside, s), GT_OK); /* before anything: nothing to wait for */
  CHECK_INT(gt_stream_wait_event(t, inside), GT_OK);
  gt_graph_free(gt_graph_end());
  CHECK_INT(gt_event_record(inside, s), GT_OK); /* and outside it is an event as ever */
  CHECK_INT(gt_event_synchronize(inside), GT_OK);
  gt_graph_free(g);
  gt_event_free(inside);
  gt_event_free(outside);
  gt_event_free(never);
  gt_stream_free(s);
  gt_stream_free(t);
}

/* ---- what waits for what ---- */
enum { ROWS = 6, STEPS = 10, LENGTH = 900 };
typedef void recording(gt_stream *const *s, gt_tensor *const *x);
/* In the simulator's model of time kernels run side by side unless one waits for the other: how many
   additions, one behind the other, take as long as a launch of what f records. x: ROWS tensors, then
   (ROWS, LENGTH), then (LENGTH, ROWS), of zeros. */
static double replay_ms(gt_graph *g) {
  launch(g, usual());
  gt_synchronize(DEV);
  const double began = gt_now_ms();
  launch(g, usual());
  gt_synchronize(DEV);
  return gt_now_ms() - began;
}
static double chain_ms(int n) {
  gt_tensor *x = full(LENGTH, 0);
  gt_graph_begin(usual());
  for (int i = 0; i < n; i++) plus(x, x, 1);
  gt_graph *g = gt_graph_end();
  const double ms = replay_ms(g);
  gt_graph_free(g);
  return ms;
}
/* Two launches; every element is counted. */
static double steps_of(recording *f, gt_stream *const *s, double total) {
  gt_tensor *x[ROWS + 2];
  double sum = 0, steps = 0;
  GT_SCOPE {
    for (int i = 0; i < ROWS; i++) x[i] = full(LENGTH, 0);
    x[ROWS] = gt_zeros(GT_SHAPE(ROWS, LENGTH), GT_FLOAT32, DEV);
    x[ROWS + 1] = gt_zeros(GT_SHAPE(LENGTH, ROWS), GT_FLOAT32, DEV);
    gt_graph_begin(usual());
    GT_SCOPE f(s, x);
    gt_graph *g = gt_graph_end();
    CHECK(g != NULL);
    const double first = chain_ms(1), unit = (chain_ms(21) - first) / 20;
    steps = 1 + (replay_ms(g) - first) / unit;
    for (int i = 0; i < ROWS + 2; i++) sum += gt_item(gt_sum(NULL, x[i], GT_ALL, 0));
    CHECK_NUM(sum, 2 * total);
    gt_graph_free(g);
  }
  return steps;
}
static void record_chains(gt_stream *const *s, gt_tensor *const *x) {
  for (int k = 0; k < STEPS * ROWS; k++) GT_WITH_STREAM(s[0]) plus(x[k % ROWS], x[k % ROWS], 1);
}
static void record_rows(gt_stream *const *s, gt_tensor *const *x) {
  for (int k = 0; k < STEPS * ROWS; k++) {
    gt_tensor *row = gt_select(x[ROWS], 0, k % ROWS);
    GT_WITH_STREAM(s[0]) plus(row, row, 1);
  }
}
static void record_columns(gt_stream *const *s, gt_tensor *const *x) {
  for (int k = 0; k < STEPS * ROWS; k++) {
    gt_tensor *column = gt_select(x[ROWS + 1], 1, k % ROWS);
    GT_WITH_STREAM(s[0]) plus(column, column, 1);
  }
}
/* Rows 0 to 3 and 3 to 5 have one in common. */
static void record_overlap(gt_stream *const *s, gt_tensor *const *x) {
  for (int k = 0; k < 2 * STEPS; k++) {
    gt_tensor *part = gt_slice(x[ROWS], 0, k % 2 ? 3 : 0, k % 2 ? 6 : 4, 1);
    GT_WITH_STREAM(s[0]) plus(part, part, 1);
  }
}
/* One is written, and the others read it; then it is written again. */
static void record_readers(gt_stream *const *s, gt_tensor *const *x) {
  for (int k = 0; k < STEPS; k++) {
    GT_WITH_STREAM(s[0]) {
      gt_fill(x[0], k);
      for (int i = 1; i < ROWS; i++) gt_add(x[i], x[i], x[0]);
    }
  }
}
static void record_temporaries(gt_stream *const *s, gt_tensor *const *x) {
  for (int k = 0; k < ROWS; k++) {
    GT_SCOPE {
      GT_WITH_STREAM(s[0]) {
        gt_tensor *t = plus(NULL, x[k], 1); /* in memory of before, but not of just before */
        gt_tensor *u = plus(NULL, t, 1);
        plus(x[k], u, -1);
      }
    }
  }
}
static void record_streams(gt_stream *const *s, gt_tensor *const *x) {
  for (int k = 0; k < 2 * STEPS; k++) GT_WITH_STREAM(s[k % 2]) plus(x[k % 2], x[k % 2], 1);
}
static void record_waits(gt_stream *const *s, gt_tensor *const *x) {
  for (int k = 0; k < 2 * STEPS; k++) {
    gt_stream_wait_stream(s[k % 2], s[1 - k % 2]);
    GT_WITH_STREAM(s[k % 2]) plus(x[k % 2], x[k % 2], 1);
  }
}
/* 0 before 1 by an event, 1 before 2 by a stream on which nothing is done. */
static void record_events(gt_stream *const *s, gt_tensor *const *x) {
  gt_event *event = gt_event_create();
  for (int k = 0; k < 3; k++) {
    GT_WITH_STREAM(s[k]) plus(x[k], x[k], 1);
    if (k == 0) {
      gt_event_record(event, s[0]);
      gt_stream_wait_event(s[1], event);
    }
    if (k == 1) {
      gt_stream_wait_stream(s[3], s[1]);
      gt_stream_wait_stream(s[2], s[3]);
    }
  }
  gt_event_free(event);
}
static const struct { const char *name; recording *f; double total, from, to; } recordings[] = {
    {"chains", record_chains, ROWS * STEPS * LENGTH, STEPS, STEPS},
    {"rows", record_rows, ROWS * STEPS * LENGTH, STEPS, STEPS},
    {"columns", record_columns, ROWS * STEPS * LENGTH, STEPS, 1.5 * STEPS},
    {"overlap", record_overlap, 7 * STEPS * LENGTH, 2 * STEPS, 3 * STEPS},
    {"readers", record_readers, 229.5 * LENGTH, 2 * STEPS, 2 * STEPS},
    {"temporaries", record_temporaries, ROWS * LENGTH, 3, 3},
    {"streams", record_streams, 2 * STEPS * LENGTH, STEPS, STEPS},
    {"waits", record_waits, 2 * STEPS * LENGTH, 2 * STEPS, 2 * STEPS},
    {"events", record_events, 3 * LENGTH, 3, 3}};
enum { RECORDINGS = sizeof recordings / sizeof *recordings };
static void do_recordings(int clocked) {
  gt_stream *s[4];
  for (int i = 0; i < 4; i++) s[i] = gt_stream_create(DEV, 0);
  for (int i = 0; i < RECORDINGS; i++) {
    const double steps = steps_of(recordings[i].f, s, recordings[i].total);
    const int good = steps > recordings[i].from - .3 && steps < recordings[i].to + .3;
    CHECK_TEXT(!clocked || good, "%s: %g one behind the other", recordings[i].name, steps);
  }
  for (int i = 0; i < 4; i++) gt_stream_free(s[i]);
}
static void test_recordings(void) { do_recordings(0); }
static void test_side_by_side(void) {
  gt_synchronize(DEV);
  if (DEV.type == GT_CUDA && set_clock(1)) {
    do_recordings(1);
    gt_synchronize(DEV);
    set_clock(0);
  } else skip("side by side", "needs the simulated GPU's clock");
}
/* Small memory is used again only after some operations, and then it is. */
static void test_small_memory(void) {
  gt_tensor *x = full(1000, 1), *y = full(1000, 0), *z = full(1000, 0);
  gt_synchronize(DEV);
  const size_t before = gt_memory_allocated(DEV);
  gt_graph_begin(usual());
  for (int i = 0; i < 1000; i++) {
    GT_SCOPE {
      gt_tensor *t = gt_eval(NULL, "a + b % 7", x, y);
      gt_add(i % 2 ? y : z, i % 3 ? y : z, t); /* many orders would be wrong */
    }
  }
  gt_graph *g = gt_graph_end();
  const size_t inside = gt_memory_allocated(DEV) - before;
  CHECK_TEXT(inside <= 70 * 1000 * sizeof(float), "%zu bytes", inside);
  launch(g, usual());
  double a = 0, b = 0;
  for (int i = 0; i < 1000; i++) {
    const double t = 1 + fmod(a, 7), sum = (i % 3 ? a : b) + t;
    if (i % 2) a = sum;
    else b = sum;
  }
  CHECK(all_are(y, a));
  CHECK(all_are(z, b));
  gt_graph_free(g);
}

/* ---- launches and other work ---- */
/* Two graphs on common tensors, launched by turns on several streams, and other work between. */
static void test_shared_tensors(void) {
  gt_stream *s[3];
  gt_tensor *x = full(5000, 1), *y = full(5000, 2);
  double a = 1, b = 2;
  for (int i = 0; i < 3; i++) s[i] = gt_stream_create(DEV, 0);
  gt_graph_begin(s[0]);
  GT_WITH_STREAM(s[0]) gt_eval(x, "(a + b) % 1009", x, y);
  gt_graph *f = gt_graph_end();
  gt_graph_begin(s[1]);
  GT_WITH_STREAM(s[1]) {
    gt_tensor *t = plus(NULL, x, 3);
    GT_WITH_STREAM(s[2]) gt_eval(y, "(a*2 + b) % 1013", y, t);
    gt_free(t);
  }
  gt_graph *g = gt_graph_end();
  for (int i = 0; i < 20; i++) {
    launch(f, s[i % 3]);
    a = fmod(a + b, 1009);
    if (i % 3 == 0) {
      GT_WITH_STREAM(s[(i / 3) % 3]) plus(y, y, 1);
      b += 1;
    }
    launch(g, s[(i / 2) % 3]);
    b = fmod(b * 2 + a + 3, 1013);
    if (i % 7 == 0) {
      CHECK(all_are(x, a));
      CHECK(all_are(y, b));
    }
  }
  gt_graph_free(f);
  CHECK(all_are(x, a));
  CHECK(all_are(y, b));
  gt_graph_free(g);
  for (int i = 0; i < 3; i++) gt_stream_free(s[i]);
}
/* Parts of one tensor. */
static void test_parts(void) {
  gt_tensor *x = gt_zeros(GT_SHAPE(40, 30), GT_FLOAT32, DEV), *sum;
  gt_graph_begin(usual());
  GT_SCOPE for (int i = 39; i >= 0; i--) /* more than the list keeps apart */
    plus(gt_select(x, i % 2, i % 2 ? i % 30 : i), gt_select(x, i % 2, i % 2 ? i % 30 : i), 1);
  sum = gt_sum(NULL, x, GT_ALL, 1);
  gt_graph *g = gt_graph_end();
  gt_tensor *rows = gt_slice(x, 0, 10, 20, 1);
  launch(g, usual());
  CHECK_NUM(gt_item(sum), 20 * 30 + 20 * 40);
  gt_fill(rows, 5);
  launch(g, usual());
  CHECK_NUM(gt_item(sum), 2 * (20 * 30 + 20 * 40) + 5 * 300 - (5 * 30 + 20 * 10));
  gt_graph_free(g);
}
/* The graph keeps memory; what is its own is used again, inside and by nobody else. */
static void test_memory(void) {
  enum { N = 100000 };
  gt_tensor *y = full(N, 0), *kept = NULL;
  size_t before, inside;
  int i;
  gt_synchronize(DEV);
  before = gt_memory_allocated(DEV);
  gt_tensor *x = full(N, 3);
  gt_graph_begin(usual());
  GT_SCOPE {
    gt_tensor *t = plus(NULL, x, 1);
    for (i = 0; i < 50; i++) {
      gt_tensor *u = plus(NULL, t, 1);
      gt_free(t);
      t = u;
    }
    gt_copy(y, t);
    gt_free(gt_copy(NULL, gt_contiguous(gt_expand(gt_slice(t, 0, 0, 1, 1), GT_SHAPE(N)))));
    kept = gt_keep(plus(NULL, t, 1));
  }
  gt_free(x); /* before the end, and before the first launch */
  gt_graph *g = gt_graph_end();
  inside = gt_memory_allocated(DEV) - before;
  CHECK_TEXT(inside <= 5 * N * sizeof(float), "%zu bytes", inside);
  for (i = 0; i < 3; i++) {
    gt_tensor *other = full(N, -1); /* in memory that was free, if it was */
    launch(g, usual());
    CHECK(all_are(y, 54));
    if (kept) CHECK(all_are(kept, 55));
    CHECK(all_are(other, -1));
    gt_fill(y, 0);
    gt_free(other);
    gt_free(kept); /* after the first launch */
    kept = NULL;
  }
  gt_free(y);
  launch(g, usual());
  gt_graph_free(g);
  gt_synchronize(DEV);
  CHECK_INT(gt_memory_allocated(DEV), before - N * sizeof(float));
}
/* What the host wrote is not memory to be used again. */
static void test_constants(void) {
  float three[500];
  gt_tensor *x = full(500, 1), *y = full(500, 0), *t, *scale = gt_scalar(10);
  for (int i = 0; i < 500; i++) three[i] = 3;
  if (DEV.type != GT_CPU) return;
  gt_graph_begin(usual());
  t = gt_from_array(three, GT_SHAPE(500), GT_FLOAT32, DEV);
  gt_eval(y, "a*b + c", x, scale, t);
  gt_free(t);
  gt_free(plus(NULL, x, 7));
  t = gt_empty_like(x);
  ((float *)gt_data(t))[0] = 100;
  gt_add(gt_slice(y, 0, 0, 1, 1), gt_slice(y, 0, 0, 1, 1), gt_slice(t, 0, 0, 1, 1));
  gt_free(t);
  gt_free(plus(NULL, x, 7));
  gt_graph *g = gt_graph_end();
  gt_fill(scale, 1000); /* was read when it was recorded */
  for (int i = 0; i < 3; i++) {
    gt_fill(x, i);
    launch(g, usual());
    CHECK_NUM(gt_item(gt_select(y, 0, 0)), i * 10 + 103);
    CHECK_NUM(gt_item(gt_select(y, 0, 1)), i * 10 + 3);
  }
  gt_graph_free(g);
}
/* On the CPU, a part of a formula that has numbers alone is computed at the call, and is a number. */
static void test_number_parts(void) {
  gt_tensor *x = full(100, 1), *y = full(100, 0), *n = gt_scalar_int64(3);
  gt_graph_begin(usual());
  gt_eval(y, "(a + b*7 + 1) % 1019", x, n); /* whole numbers beside floating ones: b*7 is apart */
  gt_graph *g = gt_graph_end();
  gt_fill(n, 5);
  for (int i = 0; i < 3; i++) {
    gt_fill(x, i);
    launch(g, usual());
    CHECK_NUM(gt_item(gt_select(y, 0, 9)), i + 22);
  }
  gt_graph_free(g);
}

/* Launches without waiting, from two threads. */
typedef struct racer {
  gt_graph *graph, *reader; /* the reader writes its own memory alone, where only TSan looks */
  gt_stream *stream;
} racer;
static void *race(void *argument) {
  racer *r = (racer *)argument;
  for (int i = 0; i < 50; i++)
    if (gt_graph_launch(r->graph, r->stream ? r->stream : usual()) ||
        gt_graph_launch(r->reader, r->stream ? r->stream : usual()))
      return argument;
  return NULL;
}
static void test_threads(void) {
  racer r[2];
  pthread_t thread;
  void *failed = NULL;
  for (int created = 0; created < 2; created++) {
    gt_tensor *x = full(2000, 0), *y = full(2000, 0);
    gt_graph_begin(usual());
    gt_free(plus(NULL, y, 1));
    r[0].reader = r[1].reader = gt_graph_end();
    gt_graph_begin(usual());
    GT_SCOPE {
      gt_tensor *t = plus(NULL, x, 2); /* the graph's own memory */
      gt_free(plus(NULL, x, 100));
      plus(x, t, -1);
    }
    r[0].graph = r[1].graph = gt_graph_end();
    for (int i = 0; i < 2; i++) r[i].stream = created ? gt_stream_create(DEV, 0) : NULL;
    CHECK_INT(pthread_create(&thread, NULL, race, &r[1]), 0);
    CHECK(race(&r[0]) == NULL);
    pthread_join(thread, &failed);
    CHECK(failed == NULL);
    CHECK(all_are(x, 100));
    gt_graph_free(r[0].graph);
    gt_graph_free(r[0].reader);
    for (int i = 0; i < 2; i++) gt_stream_free(r[i].stream);
    gt_free(x);
    gt_free(y);
  }
}
/* Another thread's work is not recorded. */
static void *work_outside(void *argument) {
  gt_tensor *x = (gt_tensor *)argument;
  GT_SCOPE plus(x, x, 1);
  return gt_synchronize(DEV) ? argument : NULL;
}
static void test_other_threads(void) {
  pthread_t thread;
  void *failed;
  gt_tensor *x = full(100, 0), *y = full(100, 0);
  gt_graph_begin(usual());
  plus(y, y, 1);
  CHECK_INT(pthread_create(&thread, NULL, work_outside, x), 0);
  pthread_join(thread, &failed);
  CHECK(failed == NULL);
  gt_graph *g = gt_graph_end();
  CHECK(all_are(x, 1));
  CHECK(all_are(y, 0));
  launch(g, usual());
  CHECK(all_are(x, 1));
  CHECK(all_are(y, 1));
  gt_graph_free(g);
}
/* While graphs are captured and launched, other threads give back what is kept for later: a graph's
   scratch is not among that. */
static int emptying;
static void *empty_caches(void *argument) {
  while (__atomic_load_n(&emptying, __ATOMIC_RELAXED))
    if (gt_empty_cache()) return argument;
  return NULL;
}
static void test_emptied_cache(void) {
  enum { ROUNDS = 100, LAUNCHES = 3, OTHERS = 3 };
  pthread_t thread[OTHERS];
  void *failed;
  gt_tensor *x = full(5000, 0), *ones = full(5000, 1), *index = gt_arange(0, 5000, 1, GT_INT64, DEV);
  emptying = 1;
  for (int i = 0; i < OTHERS; i++) CHECK_INT(pthread_create(&thread[i], NULL, empty_caches, x), 0);
  for (int i = 0; i < ROUNDS; i++) {
    gt_graph_begin(usual());
    gt_index_add(x, 0, index, ones);
    gt_graph *g = gt_graph_end();
    for (int k = 0; k < LAUNCHES; k++) launch(g, usual());
    gt_graph_free(g);
  }
  __atomic_store_n(&emptying, 0, __ATOMIC_RELAXED);
  for (int i = 0; i < OTHERS; i++) {
    pthread_join(thread[i], &failed);
    CHECK(failed == NULL);
  }
  CHECK(all_are(x, ROUNDS * LAUNCHES));
}
/* Freed while it runs; an empty one; streams that are freed before. */
static void test_ends(void) {
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  gt_tensor *x = full(QUICK ? 20000 : 1000000, 1);
  gt_graph_begin(s);
  GT_WITH_STREAM(t) for (int i = 0; i < 20; i++) gt_eval(x, "sqrt(a) + 0.5*a - 0.5", x);
  gt_stream_free(t);
  gt_graph *g = gt_graph_end();
  launch(g, s);
  launch(g, s);
  gt_graph_free(g);
  CHECK(all_are(x, 1));
  gt_graph_begin(s);
  g = gt_graph_end();
  CHECK(g != NULL);
  launch(g, s);
  launch(g, usual());
  gt_graph_free(g);
  gt_graph_free(NULL);
  gt_stream_free(s);
}

/* ---- what is refused ---- */
static void test_order_of_calls(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *x = full(10, 0);
  REFUSED(gt_graph_end(), GT_ERROR_STATE, "gt_graph_end: no graph is being recorded");
  REFUSED_STATUS(gt_graph_begin(NULL), GT_ERROR_ARGUMENT, "gt_graph_begin: the stream is NULL");
  REFUSED_STATUS(gt_graph_launch(NULL, s), GT_ERROR_ARGUMENT, "gt_graph_launch: the graph is NULL");
  gt_graph_begin(s);
  plus(x, x, 1);
  gt_graph *g = gt_graph_end();
  REFUSED_STATUS(gt_graph_launch(g, NULL), GT_ERROR_ARGUMENT, "the stream is NULL");
  gt_graph_begin(s);
  REFUSED_STATUS(gt_graph_begin(s), GT_ERROR_STATE, "gt_graph_begin: a graph is being recorded already");
  REFUSED_STATUS(gt_graph_launch(g, s), GT_ERROR_STATE, "gt_graph_launch: a graph is being recorded, in which");
  plus(x, x, 10);
  gt_graph *h = gt_graph_end();
  CHECK(h != NULL);
  launch(g, s);
  launch(h, s);
  CHECK(all_are(x, 11));
  if (DEV.type != GT_CPU)
    REFUSED_STATUS(gt_graph_launch(g, gt_current_stream(gt_cpu())), GT_ERROR_DEVICE, "the graph is of");
  gt_graph_free(h);
  /* an error that is pending in the end */
  gt_graph_begin(s);
  plus(x, x, 100);
  gt_add(NULL, x, full(7, 0));
  CHECK(gt_graph_end() == NULL);
  CHECK_INT(gt_error(), GT_ERROR_SHAPE);
  gt_clear_error();
  CHECK(all_are(x, 11));
  /* after gt_shutdown one can be freed and nothing else; one that is recorded is gone */
  gt_graph_begin(s);
  plus(x, x, 100);
  gt_shutdown();
  REFUSED(gt_graph_end(), GT_ERROR_STATE, "no graph is being recorded");
  REFUSED_STATUS(gt_graph_launch(g, usual()), GT_ERROR_STATE, "from before gt_shutdown");
  gt_graph_free(g);
  CHECK(all_are(x, 11));
}
/* Each call is refused with the beginning of its message; the recording goes on and is right. */
static void test_refusals(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *x = full(100, 1), *y = full(100, 2), *z, *pinned = gt_empty_pinned(GT_SHAPE(100), GT_FLOAT32);
  gt_tensor *host = gt_full(GT_SHAPE(100), 4, GT_FLOAT32, gt_cpu());
  gt_tensor *ints = gt_full(GT_SHAPE(100), 4, GT_INT32, gt_cpu());
  const int gpu = DEV.type == GT_CUDA;
  float a[100];
  gt_generator generator = {1, 5};
  gt_timing t;
  gt_fill(pinned, 7);
  gt_graph_begin(s);
  z = gt_add(NULL, x, y);
  REFUSED_IF(isnan(gt_item(gt_slice(z, 0, 0, 1, 1))), GT_ERROR_STATE, "gt_item: ");
  REFUSED_IF(gt_item_int64(gt_slice(z, 0, 0, 1, 1)) == 0, GT_ERROR_STATE, "gt_item_int64: ");
  REFUSED_IF(gt_to_array(z, a, sizeof a) != 0, GT_ERROR_STATE, "gt_to_array: ");
  REFUSED_IF(gt_print(z) != 0, GT_ERROR_STATE, "gt_print: ");
  REFUSED_IF(gt_save_npy("graph.npy", z) != 0, GT_ERROR_STATE, "gt_save_npy: ");
  REFUSED_STATUS(gt_synchronize(DEV), GT_ERROR_STATE, "gt_synchronize: a graph of");
  REFUSED_STATUS(gt_stream_synchronize(s), GT_ERROR_STATE, "gt_stream_synchronize: a graph of");
  REFUSED(gt_rand(GT_SHAPE(5), GT_FLOAT32, DEV, NULL), GT_ERROR_STATE, "gt_rand: a graph of");
  REFUSED(gt_randn(GT_SHAPE(5), GT_FLOAT32, DEV, &generator), GT_ERROR_STATE, "gt_randn: ");
  REFUSED(gt_randint(0, 9, GT_SHAPE(5), GT_INT64, DEV, &generator), GT_ERROR_STATE, "gt_randint: ");
  REFUSED(gt_randperm(5, DEV, &generator), GT_ERROR_STATE, "gt_randperm: ");
  CHECK_INT(generator.offset, 5);
  REFUSED_STATUS(gt_stream_reads(s, x), GT_ERROR_STATE, "gt_stream_reads: a graph of");
  REFUSED_STATUS(gt_stream_writes(s, x), GT_ERROR_STATE, "gt_stream_writes: ");
  REFUSED_STATUS(gt_stream_call(s, free, NULL), GT_ERROR_STATE, "gt_stream_call: a graph of");
  REFUSED_STATUS(gt_warmup(DEV), GT_ERROR_STATE, "gt_warmup: a graph of");
  t = gt_benchmark((void (*)(void *))gt_free, NULL, DEV, 1);
  CHECK_INT(t.rounds, 0);
  REFUSED_IF(t.median_ms == 0, GT_ERROR_STATE, "a graph of");
  if (gpu) {
    CHECK(gt_to(z, gt_cpu()) != NULL); /* pinned: is recorded */
    REFUSED(gt_from_array(a, GT_SHAPE(100), GT_FLOAT32, DEV), GT_ERROR_STATE, "gt_from_array: ");
    REFUSED(gt_copy(x, host), GT_ERROR_STATE, "gt_copy: a graph of");
    REFUSED(gt_copy(host, x), GT_ERROR_STATE, "gt_copy: ");
    REFUSED(gt_to(host, DEV), GT_ERROR_STATE, "gt_to: ");
    REFUSED(gt_copy(x, ints), GT_ERROR_STATE, "the host has a part in this copy");
    REFUSED(gt_copy(gt_slice(pinned, 0, 0, 50, 2), gt_slice(x, 0, 0, 25, 1)), GT_ERROR_STATE, "gt_copy: ");
    REFUSED(gt_stream_native(s), GT_ERROR_STATE, "gt_stream_native: ");
    gt_copy(x, pinned); /* is recorded */
    REFUSED(gt_fill(pinned, 9), GT_ERROR_STATE, "gt_fill: work that is being recorded");
    REFUSED(gt_data(pinned), GT_ERROR_STATE, "gt_data: work that is being recorded");
    REFUSED_STATUS(gt_stream_wait_stream(s, gt_current_stream(gt_cpu())), GT_ERROR_STATE, "none waits");
    REFUSED_STATUS(gt_stream_wait_stream(gt_current_stream(gt_cpu()), s), GT_ERROR_STATE, "none waits");
    if (gt_cuda_device_count() > 1) {
      gt_tensor *there = gt_full(GT_SHAPE(100), 6, GT_FLOAT32, gt_cuda(!DEV.index));
      REFUSED(gt_copy(x, there), GT_ERROR_STATE, "work of one GPU");
      REFUSED(gt_copy(there, z), GT_ERROR_STATE, "work that is being recorded");
      CHECK(gt_copy(there, y) == there); /* another device's, which disturbs nothing */
    }
    CHECK(gt_fill(host, 5) == host); /* the host's own work goes on */
    CHECK_NUM(gt_item(gt_slice(host, 0, 3, 4, 1)), 5);
  } else {
    gt_tensor *loss = gt_sum(NULL, z, GT_ALL, 0);
    REFUSED(gt_data(z), GT_ERROR_STATE, "gt_data: work that is being recorded");
    REFUSED(gt_data(x), GT_ERROR_STATE, "gt_data: work that is being recorded");
    REFUSED(gt_div(NULL, x, loss), GT_ERROR_STATE, "0-d tensors of the CPU are read");
    CHECK(gt_data(ints) != NULL);
  }
  gt_add(z, z, z);
  gt_graph *g = gt_graph_end();
  CHECK(g != NULL);
  launch(g, s);
  CHECK(all_are(z, 6));
  CHECK(all_are(x, gpu ? 7 : 1));
  gt_graph_free(g);
  gt_stream_free(s);
}

/* A stream that the program captures itself gets none of our work; nor is the capture disturbed. */
static void test_captured(void) {
  if (DEV.type != GT_CUDA) {
    skip("captured", "needs a GPU");
    return;
  }
#if !defined(__NVCC__)
  if (!cudaStreamBeginCapture) return;
#endif
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  void *native = gt_stream_native(s), *captured = NULL;
  gt_stream *wrapped = gt_stream_from_native(DEV, native);
  gt_event *event = gt_event_create(), *before = gt_event_create();
  gt_tensor *x = full(100, 1), *y = full(100, 2), *u = full(100, 1), *z;
  CHECK_INT(gt_event_record(before, t), GT_OK);
  gt_tensor *v = full(100, 3), *w = full(100, 0);
  gt_graph_begin(s);
  GT_WITH_STREAM(s) GT_SCOPE gt_add(w, plus(NULL, v, 1), plus(NULL, v, 2)); /* in memory of the graph's */
  gt_graph *busy = gt_graph_end();
  launch(busy, s);
  GT_WITH_STREAM(s) z = gt_matmul(NULL, gt_reshape(y, GT_SHAPE(4, 25)), gt_reshape(x, GT_SHAPE(25, 4)));
  CHECK_INT(cudaStreamBeginCapture(native, 2), 0);
  gt_graph_free(busy); /* nobody can wait for it, so it stays */
  REFUSED_IF(1, GT_ERROR_STATE, "gt_graph_free: the program captures");
  for (int i = 0; i < 2; i++) {
    gt_stream *on = i ? wrapped : s;
    GT_WITH_STREAM(on) {
      REFUSED(plus(y, x, 1), GT_ERROR_STATE, "the program captures a stream");
      REFUSED(gt_empty(GT_SHAPE(10), GT_FLOAT32, DEV), GT_ERROR_STATE, "gt_empty: the program captures");
    }
    REFUSED_STATUS(gt_stream_synchronize(on), GT_ERROR_STATE, "gt_stream_synchronize: the program");
    REFUSED_IF(gt_stream_query(on) == -1, GT_ERROR_STATE, "gt_stream_query: the program captures");
    REFUSED_STATUS(gt_event_record(event, on), GT_ERROR_STATE, "gt_event_record: the program captures");
    REFUSED_STATUS(gt_stream_wait_event(on, before), GT_ERROR_STATE, "gt_stream_wait_event: the pro");
    REFUSED_STATUS(gt_stream_wait_stream(on, t), GT_ERROR_STATE, "gt_stream_wait_stream: the program");
    REFUSED_STATUS(gt_stream_wait_stream(t, on), GT_ERROR_STATE, "gt_stream_wait_stream: the program");
    REFUSED_STATUS(gt_stream_reads(on, x), GT_ERROR_STATE, "gt_stream_reads: the program captures");
    REFUSED_STATUS(gt_synchronize(DEV), GT_ERROR_STATE, "gt_synchronize: the program captures");
  }
  GT_WITH_STREAM(t) {
    REFUSED(plus(x, x, 1), GT_ERROR_STATE, "gt_eval: the program captures"); /* would wait for s */
    plus(u, u, 1);
  }
  gt_graph_begin(t);
  GT_WITH_STREAM(t) plus(u, u, 1);
  gt_graph *g = gt_graph_end();
  launch(g, t);
  REFUSED_STATUS(gt_graph_launch(g, s), GT_ERROR_STATE, "gt_graph_launch: the program captures");
  gt_free(z); /* the stream's own, whose work is not done as far as anybody knows */
  CHECK_INT(cudaStreamEndCapture(native, &captured), 0);
  cudaGraphDestroy(captured);
  gt_graph_free(busy);
  CHECK(all_are(w, 9));
  GT_WITH_STREAM(s) plus(y, u, 1);
  CHECK(all_are(y, 4));
  CHECK(all_are(u, 3));
  gt_graph_free(g);
  gt_event_free(event);
  gt_event_free(before);
  gt_stream_free(wrapped);
  gt_stream_free(s);
  gt_stream_free(t);
}

/* An index out of range is told by the launch, or by what waits for it. */
static void test_bad_index(void) {
  const int64_t two[] = {0, 1}, far_away[] = {0, 99};
  gt_tensor *x = full(5, 3), *index = gt_from_array(two, GT_SHAPE(2), GT_INT64, DEV), *y;
  gt_graph_begin(usual());
  y = gt_index_select(NULL, x, 0, index);
  gt_graph *g = gt_graph_end();
  launch(g, usual());
  CHECK(all_are(y, 3));
  gt_copy(index, gt_from_array(far_away, GT_SHAPE(2), GT_INT64, DEV));
  gt_status status = gt_graph_launch(g, usual());
  if (!status) status = gt_synchronize(DEV);
  REFUSED_STATUS(status, GT_ERROR_ARGUMENT, "gt_index_select: an index");
  CHECK_VALUES(y, 3, 0);
  gt_graph_free(g);
}

/* ---- failures ---- */
/* An operation fails in the middle of a launch on a CPU stream: who reads what it should have written
   hears of it, until it is written anew. */
static void test_late_failure(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *x = gt_ones(GT_SHAPE(1, 2000), GT_FLOAT32, DEV), *y = gt_empty_like(x), *z = full(10, 1);
  int failed = 0;
  if (DEV.type != GT_CPU) return;
  gt_graph_begin(s);
  gt_softmax(y, x, 1); /* asks for memory */
  plus(z, z, 1);
  gt_graph *g = gt_graph_end();
  for (int queued = 0; queued < 2; queued++) {
    for (int nth = 1; nth < 10; nth++) {
      gt_stream *on = queued ? s : usual();
      hooks_fail_at(nth);
      const gt_status status = gt_graph_launch(g, on);
      gt_clear_error();
      const gt_status late = gt_stream_synchronize(on);
      hooks_fail_at(0);
      gt_clear_error();
      if (queued && !status && late) {
        failed++;
        REFUSED(gt_add(NULL, y, y), GT_ERROR_MEMORY, "never written");
        REFUSED(gt_data(z), GT_ERROR_MEMORY, "gt_graph_launch on a stream of the CPU failed");
      } else if (status) failed++;
      gt_fill(z, 1);
      launch(g, on);
      CHECK(all_are(z, 2));
      CHECK(all_are(y, 1.0f / 2000));
    }
  }
  CHECK(failed > 0);
  gt_graph_free(g);
  gt_stream_free(s);
}
/* Every allocation fails once: an error, nothing lost, and the next try is right. */
static void test_out_of_memory(void) {
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  gt_tensor *in[INPUTS], *out[OUTPUTS] = {NULL}, *direct[OUTPUTS] = {NULL};
  int nth, tries = 0;
  make_inputs(in);
  fill_inputs(in);
  do_maps(in, direct);
  gt_synchronize(DEV);
  fill_inputs(in);
  for (nth = 1; nth < 400; nth++) {
    const int64_t handles = gt_report_leaks(NULL);
    int hit = 0;
    gt_graph *g = NULL;
    GT_SCOPE {
      hooks_fail_once(nth);
      if (gt_graph_begin(s) == GT_OK) {
        GT_WITH_STREAM(s) do_maps(in, out);
        GT_WITH_STREAM(t) if (out[2]) plus(out[2], out[2], 1);
        g = gt_graph_end();
      }
      if (g) gt_graph_launch(g, t);
      hit = hooks_failed();
      hooks_fail_once(0);
      CHECK(hit || (g && !gt_error()));
      CHECK(g || gt_error() == GT_ERROR_MEMORY);
      gt_clear_error();
      gt_graph_free(g);
      REFUSED(gt_graph_end(), GT_ERROR_STATE, "no graph");
      gt_stream_synchronize(t);
      gt_clear_error();
    }
    CHECK_INT(gt_report_leaks(NULL), handles);
    tries++;
    if (!hit) break;
  }
  CHECK(tries > 5 && tries < 399);
  gt_stream_free(s);
  gt_stream_free(t);
}

/* ---- gt_warmup and gt_benchmark ---- */
static int calls;
static void count_call(void *argument) {
  calls++;
  GT_SCOPE plus((gt_tensor *)argument, (gt_tensor *)argument, 1);
}
static void fail_call(void *argument) {
  gt_add(NULL, (gt_tensor *)argument, NULL);
}
static void test_benchmark(void) {
  gt_device none = {GT_NO_DEVICE, 0};
  gt_tensor *x = full(1000, 0);
  gt_timing t = gt_benchmark(count_call, x, DEV, QUICK ? 5 : 50);
  NO_ERROR();
  CHECK(t.rounds >= 3 && calls > t.rounds); /* it warmed up */
  CHECK(all_are(x, calls));                 /* and waited */
  CHECK(t.least_ms > 0 && t.least_ms <= t.median_ms && t.median_ms <= t.most_ms);
  CHECK(t.spread >= 0);
  t = gt_benchmark(count_call, x, DEV, 0);
  CHECK_INT(t.rounds, 3);
  t = gt_benchmark(NULL, x, DEV, 1);
  REFUSED_IF(t.rounds == 0, GT_ERROR_ARGUMENT, "gt_benchmark: work is NULL");
  t = gt_benchmark(count_call, x, none, 1);
  REFUSED_IF(t.rounds == 0, GT_ERROR_DEVICE, "not a device");
  t = gt_benchmark(fail_call, x, DEV, 1);
  REFUSED_IF(t.rounds == 0, GT_ERROR_ARGUMENT, "operand 2 is NULL");
}
static void test_warmup(void) {
  gt_device none = {GT_NO_DEVICE, 0};
  CHECK_INT(gt_warmup(DEV), GT_OK);
  CHECK_INT(gt_warmup(gt_cpu()), GT_OK);
  REFUSED_STATUS(gt_warmup(none), GT_ERROR_DEVICE, "gt_warmup: not a device");
  gt_tensor *x = full(10, 1);
  CHECK_INT(gt_warmup(DEV), GT_OK);
  CHECK(all_are(x, 1));
}

int main(int argc, char **argv) {
  check_start("graph", argc, argv);
  RUN(same_bits);
  RUN(all_in_one);
  RUN(streams);
  RUN(waits);
  RUN(recordings);
  RUN(side_by_side);
  RUN(small_memory);
  RUN(shared_tensors);
  RUN(parts);
  RUN(memory);
  RUN(constants);
  RUN(number_parts);
  RUN(threads);
  RUN(other_threads);
  RUN(emptied_cache);
  RUN(ends);
  RUN(order_of_calls);
  RUN(refusals);
  RUN(captured);
  RUN(bad_index);
  RUN(late_failure);
  RUN(out_of_memory);
  RUN(benchmark);
  RUN(warmup);
  return check_finish();
}
