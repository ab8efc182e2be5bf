/* train.h - what both programs here share: a network that reads digits, as in lesson 13, and one
   worker's part of a step. Who exchanges the gradients, and how, is the programs' own matter. */
#ifndef TRAIN_H
#define TRAIN_H
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 64, CLASSES = 10, EPOCHS = 3 };

/* Views of one flat tensor: what is done to all parameters alike is one call, and one message. */
typedef struct {
  gt_tensor *flat, *w1, *b1, *w2, *b2;
} network;
typedef struct {
  gt_device device;
  gt_stream *stream;
  network p, gradient;
  gt_tensor *x, *label, *classes, *order, *loss; /* all digits, and the order of an epoch */
} worker;
/* An epoch is `copies` times all digits. Worker `rank` of `size` has its share of each batch. */
typedef struct {
  int hidden, copies, batch;
} plan;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}
static gt_tensor *piece(gt_tensor *flat, int64_t *at, int64_t rows, int64_t columns) {
  const int64_t start = *at;
  *at += rows * columns;
  gt_tensor *x = gt_slice(flat, 0, start, *at, 1);
  return rows == 1 ? x : gt_reshape(x, GT_SHAPE(rows, columns));
}
static network network_of(const plan *p, gt_device device) {
  int64_t at = 0, hidden = p->hidden;
  network n;
  n.flat = gt_zeros(GT_SHAPE(hidden * (PIXELS + 1 + CLASSES) + CLASSES), GT_FLOAT32, device);
  n.w1 = piece(n.flat, &at, hidden, PIXELS);
  n.b1 = piece(n.flat, &at, 1, hidden);
  n.w2 = piece(n.flat, &at, CLASSES, hidden);
  n.b2 = piece(n.flat, &at, 1, CLASSES);
  return n;
}
static void random_weights(gt_tensor *w, double inputs, gt_generator *generator) {
  gt_eval(w, "a*b", gt_randn(gt_shape_of(w), GT_FLOAT32, w->device, generator),
          gt_scalar(sqrt(2.0 / inputs)));
}
/* The weights depend on the seed alone, so that every worker draws the same: none is sent. */
static worker worker_on(gt_device device, gt_stream *stream, const plan *p) {
  gt_generator generator = {0, 0};
  worker w;
  w.device = device;
  w.stream = stream;
  GT_WITH_STREAM_SCOPED(stream);
  w.p = network_of(p, device);
  w.gradient = network_of(p, device);
  random_weights(w.p.w1, PIXELS, &generator);
  random_weights(w.p.w2, p->hidden, &generator);
  w.classes = gt_arange(0, CLASSES, 1, GT_UINT8, device);
  w.loss = gt_zeros(GT_SHAPE(1, 1), GT_FLOAT32, device);
  w.label = gt_reshape(gt_load_npy("examples/data/digits_labels.npy", device), GT_SHAPE(-1, 1));
  w.x = gt_reshape(gt_load_npy("examples/data/digits_images.npy", device), GT_SHAPE(-1, PIXELS));
  w.x = gt_eval(NULL, "a / 16", w.x);
  return w;
}

/* The samples of an epoch, in the same order on every worker. */
static void begin_epoch(worker *w, const plan *p, int epoch) {
  gt_generator generator = {(uint64_t)epoch, 0};
  const int64_t digits = w->label->shape[0];
  GT_WITH_STREAM_SCOPED(w->stream);
  w->order = gt_randperm(digits * p->copies, w->device, &generator);
  gt_remainder(w->order, w->order, gt_scalar_int64(digits));
  gt_fill(w->loss, 0);
}
/* This worker's part of the gradient, and of the loss, of the n samples from `at` on. */
static void backward(worker *w, const plan *p, int64_t at, int64_t n, int rank, int size) {
  GT_SCOPED;
  GT_WITH_STREAM_SCOPED(w->stream);
  gt_tensor *index = gt_slice(w->order, 0, at + n * rank / size, at + n * (rank + 1) / size, 1);
  gt_tensor *x = gt_index_select(NULL, w->x, 0, index);
  gt_tensor *hot = gt_eval(NULL, "a == b", gt_index_select(NULL, w->label, 0, index), w->classes);
  gt_tensor *h = gt_matmul_eval(NULL, x, gt_transpose(w->p.w1, 0, 1), "relu(a + b)", w->p.b1);
  gt_tensor *log_p = gt_log_softmax(NULL, gt_linear(NULL, h, w->p.w2, w->p.b2), 1);
  gt_add(w->loss, w->loss, gt_reduce(NULL, GT_SUM, GT_ALL, 1, "a ? -b : 0", hot, log_p));

  gt_tensor *d = gt_eval(NULL, "(exp(a) - b) / c", log_p, hot, gt_scalar(p->batch));
  gt_tensor *dh = gt_matmul_eval(NULL, d, w->p.w2, "b > 0 ? a : 0", h);
  gt_matmul(w->gradient.w2, gt_transpose(d, 0, 1), h);
  gt_matmul(w->gradient.w1, gt_transpose(dh, 0, 1), x);
  gt_sum(w->gradient.b2, d, GT_DIM(0), 0);
  gt_sum(w->gradient.b1, dh, GT_DIM(0), 0);
}
/* After the exchange: every worker takes the same step. */
static void update(worker *w) {
  GT_WITH_STREAM_SCOPED(w->stream);
  gt_eval(w->p.flat, "a - 0.5*b", w->p.flat, w->gradient.flat);
}

/* Of one worker, to compare with, and of all of them. */
typedef struct {
  double loss[EPOCHS], ms,
      share; /* of the fastest epoch, and the share of it that exchanges took */
} result;
static void note_time(result *r, double ms, double exchanged_ms) {
  if (ms > r->ms) return;
  r->ms = ms;
  r->share = exchanged_ms / ms;
}
static void compare(const plan *p, const result *one, const result *all, int size, int equal) {
  printf("%d hidden units, batches of %d\n", p->hidden, p->batch);
  for (int k = 0; k < 2; k++) {
    const result *r = k ? all : one;
    printf("  %d worker%s  loss of epoch 1 %.6f, of epoch %d %.6f, an epoch took %.1f ms\n",
           k ? size : 1, k && size > 1 ? "s" : " ", r->loss[0], EPOCHS, r->loss[EPOCHS - 1], r->ms);
  }
  check(fabs(all->loss[0] - one->loss[0]) <= 1e-5 * one->loss[0], "the loss of the first epoch");
  check(equal, "the replicas");
  printf(
      "  the replicas are equal bit by bit; %.0f %% of the time is the exchange;\n"
      "  %.2f times as fast, an efficiency of %.0f %%\n",
      100 * all->share, one->ms / all->ms, 100 * one->ms / all->ms / size);
}
#endif
