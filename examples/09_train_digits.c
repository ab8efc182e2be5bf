/* 09_train_digits.c - a neural network learns to read handwritten digits.

   You learn: how the pieces fit together in a real program. Everything stays on the device: the
   host enqueues the steps of an epoch and waits only at its end, when it reads the loss. With
   --graph these steps, some 400 small operations, are recorded once, and one call an epoch launches
   them again; the results have the same bits. Without a graph a GPU is idle between small
   operations, because it waits for the host's calls: with one an epoch takes half the time (2.57
   and 1.35 ms on an H200). --trace FILE draws the last epoch, and saves it for
   https://ui.perfetto.dev. 14_model.c saves and loads a network (gt_save_npy, gt_load_npy).

   If you have not met such a network: it is a function with 9610 numbers, the weights, which at
   first are random. x is a picture, 64 numbers; a matrix product and relu, the larger of a number
   and 0, make 128 numbers of it, the hidden units, and another product 10, the scores, one for each
   digit. softmax makes probabilities of the scores. The loss is minus the logarithm of the right
   digit's, so a small loss is good:

       x (32, 64) --w1, b1, relu--> h (32, 128) --w2, b2--> scores (32, 10) --softmax--> loss

   A step takes 32 pictures, a batch, and finds by how much the loss grows with each weight: that is
   the gradient. It is computed from the end to the beginning, by the backward pass: PyTorch has
   autograd for that, there is no autograd here, and six lines of step() do it. Each weight then
   moves a little against its gradient, and keeps some of its last move (momentum). An epoch is all
   pictures once. A third of them is held out: the network never learns from these, and so they show
   whether it has learned to read, or learned by heart. The gradient is compared with differences of
   the loss, and the program fails if less than 95 % are read correctly after 40 epochs.

       cc -O2 -march=native -fopenmp -I. examples/09_train_digits.c -lm -lpthread -o digits
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/09_train_digits.c \
            gputensor_kernels.cu -o digits
       ./digits [--device cpu|cuda|cuda:N] [--epochs N] [--seed N] [--data DIRECTORY] \
                [--graph] [--trace FILE]

   Output (its end; the last digits and the times differ between machines):

       1198 digits to learn from, 599 held out, on cpu (AMD EPYC)
       square of the gradient: 2.423 by the backward pass, 2.423 by differences
       epoch   1   loss 1.2517   held out 89.98 %   1.27 ms
       ...
       epoch  38   loss 0.1595   held out 98.16 %   5.13 ms
       epoch  39   loss 0.1838   held out 97.83 %   1.13 ms
       epoch  40   loss 0.1727   held out 97.83 %   1.06 ms

       rows: what it is; columns: what it was read as
              0   1   2   3   4   5   6   7   8   9
          0  55   .   .   .   .   .   .   .   .   .
          1   .  57   .   .   .   .   .   .   .   .
          2   .   .  52   .   .   .   .   .   .   .
          3   .   .   .  60   .   1   .   .   .   .
          4   .   .   .   .  59   .   .   .   .   .
          5   .   .   .   .   .  64   .   .   .   1
          6   1   .   .   .   .   .  57   .   .   .
          7   .   .   .   .   .   .   .  65   .   .
          8   .   6   1   1   .   .   .   .  59   .
          9   .   .   .   1   .   1   .   .   .  58

        8 read as 1   8 read as 2   8 read as 1   8 read as 1   5 read as 9   6 read as 0
          .%%.          .%%.           =#+          :*=           *+             *@*
         .*%+#        .@@*@-          +%@%          *@:#-         #@@#          :@+@:
         .@#*#         %--#          :%:=#          .%@*          #@%+         .%+ =
          -@@+         :##+          =# #-           +@-          *@@-         :@+
          :@#           -@-           %#*            %@-           :-@-        =@@+
          #@*           -%#=          #@#           =@@*            :@+        .@+@-
          #@%           =*-@          *+%-          *@@+          ::*@:         *@@-
          .%+           :%@#          .+@:          -**.          +@@+           =#
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 64, HIDDEN = 128, CLASSES = 10, SIDE = 8, BATCH = 32, SHOWN = 6 };
static const double learning_rate = 0.1, momentum = 0.9, noise = 0.3;

typedef struct {
  gt_device device;
  int epochs;
  uint64_t seed;
  const char *data, *trace; /* trace: a file to write, or NULL */
  int graph;
} options;

/* Views of one flat tensor: what is done to all parameters alike is one operation. */
typedef struct {
  gt_tensor *all, *w1, *w2, *b1, *b2; /* (128, 64) (10, 128) (128) (10) */
} network;

typedef struct {
  gt_tensor *x;     /* (n, 64) float32 from 0 to 1, */
  gt_tensor *label; /* (n, 1) uint8, and */
  gt_tensor *hot;   /* (n, 10) float32: 1 at the label, else 0 */
} samples;

/* What an epoch works with. A graph knows tensors by their memory: what changes from one launch to
   the next, the mixed samples and the rate, gets new contents in the same tensors. */
typedef struct {
  network p, v, g;  /* parameters, how they moved in the step before, the loss's gradient */
  gt_tensor *rate;  /* (1): minus the learning rate; a graph would take a 0-d one for a constant */
  samples mixed;    /* in a new order for each epoch, and noisy */
  gt_tensor *log_p; /* (n, 10): the logarithms of their classes' probabilities */
  gt_graph *graph;  /* of all steps of an epoch, or NULL */
} training;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* ---- parameters ---- */

/* Each begins at 16 bytes, and all end there, so that processors can take four at a time. */
static int64_t whole(int64_t size) { return (size + 3) / 4 * 4; }

static gt_tensor *piece(const gt_tensor *all, int64_t *at, gt_shape shape) {
  const int64_t size = shape.size[0] * (shape.ndim > 1 ? shape.size[1] : 1);
  gt_tensor *x = gt_reshape(gt_slice(all, 0, *at, *at + size, 1), shape);
  *at += whole(size);
  return x;
}

static network network_of(gt_tensor *all) {
  int64_t at = 0;
  network p;
  p.all = all;
  p.w1 = piece(all, &at, GT_SHAPE(HIDDEN, PIXELS));
  p.w2 = piece(all, &at, GT_SHAPE(CLASSES, HIDDEN));
  p.b1 = piece(all, &at, GT_SHAPE(HIDDEN));
  p.b2 = piece(all, &at, GT_SHAPE(CLASSES));
  return p;
}

static network zeros(gt_device device) {
  const int64_t size = HIDDEN * PIXELS + CLASSES * HIDDEN + HIDDEN + whole(CLASSES);
  return network_of(gt_zeros(GT_SHAPE(size), GT_FLOAT32, device));
}

/* The numbers depend on the seed alone: every device starts with the same bits. */
static void set_random(gt_tensor *w, gt_generator *generator) {
  const gt_tensor *x = gt_randn(gt_shape_of(w), GT_FLOAT32, gt_cpu(), generator);
  gt_copy(w, gt_mul(NULL, x, gt_scalar(sqrt(2.0 / (double)w->shape[1]))));
}

/* ---- data ---- */

static gt_tensor *load(const char *directory, const char *name, gt_device device) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return gt_load_npy(path, device);
}

static samples load_samples(const options *o) {
  samples all;
  gt_tensor *images = load(o->data, "digits_images.npy", o->device);
  gt_tensor *labels = load(o->data, "digits_labels.npy", o->device);
  const int64_t n = gt_numel(labels);
  all.x = gt_eval(NULL, "a / 16", gt_reshape(images, GT_SHAPE(n, PIXELS)));
  all.label = gt_reshape(labels, GT_SHAPE(n, 1));
  all.hot = gt_empty(GT_SHAPE(n, CLASSES), GT_FLOAT32, o->device);
  gt_eval(all.hot, "a == b", all.label, gt_arange(0, CLASSES, 1, GT_UINT8, o->device));
  return all;
}

static samples pick(const samples *from, const gt_tensor *index) {
  const samples s = {gt_index_select(NULL, from->x, 0, index),
                     gt_index_select(NULL, from->label, 0, index),
                     gt_index_select(NULL, from->hot, 0, index)};
  return s;
}

/* A view: no copy is made. */
static samples part(const samples *from, int64_t start, int64_t end) {
  const samples s = {gt_slice(from->x, 0, start, end, 1), gt_slice(from->label, 0, start, end, 1),
                     gt_slice(from->hot, 0, start, end, 1)};
  return s;
}

/* ---- learning ---- */

static gt_tensor *hidden_layer(const network *p, const samples *s) {
  return gt_matmul_eval(NULL, s->x, gt_transpose(p->w1, 0, 1), "relu(a + b)", p->b1);
}

/* One step on one batch. log_p gets what it predicts; the losses are added up from that later. */
static void step(const training *t, const samples *s, gt_tensor *log_p) {
  const network *p = &t->p, *v = &t->v, *g = &t->g;
  GT_SCOPE {
    gt_tensor *h = hidden_layer(p, s);
    gt_log_softmax(log_p, gt_linear(NULL, h, p->w2, p->b2), 1);

    /* Backward: how the loss grows with each score, and with each hidden unit before its relu. */
    gt_tensor *count = gt_scalar((double)gt_numel(s->label));
    gt_tensor *d = gt_eval(NULL, "(exp(a) - b) / c", log_p, s->hot, count);
    gt_tensor *dh = gt_matmul_eval(NULL, d, p->w2, "b > 0 ? a : 0", h);
    gt_matmul(g->w2, gt_transpose(d, 0, 1), h);
    gt_matmul(g->w1, gt_transpose(dh, 0, 1), s->x);
    gt_sum(g->b2, d, GT_DIM(0), 0);
    gt_sum(g->b1, dh, GT_DIM(0), 0);

    gt_eval(v->all, "a*b + c", v->all, gt_scalar(momentum), g->all);
    gt_eval(p->all, "a*b + c", v->all, t->rate, p->all);
  }
}

/* The steps of an epoch: work on the device alone, which a graph can hold. */
static void all_steps(const training *t) {
  const int64_t n = gt_numel(t->mixed.label);
  for (int64_t i = 0; i < n; i += BATCH) {
    GT_SCOPED; /* frees at the end of each round what was made in it */
    const samples batch = part(&t->mixed, i, i + BATCH); /* the last one may be smaller */
    step(t, &batch, gt_slice(t->log_p, 0, i, i + BATCH, 1));
  }
}

/* All samples once, in a new order and with new noise, so that none is learned by heart; returns
   their mean loss. */
static double train_epoch(const training *t, const samples *all, double rate,
                          gt_generator *generator) {
  const int64_t n = gt_numel(all->label);
  const gt_device device = all->x->device;
  double sum = 0;
  GT_SCOPE {
    const gt_tensor *order = gt_randperm(n, device, generator);
    const gt_tensor *grain = gt_randn(gt_shape_of(all->x), GT_FLOAT32, device, generator);
    gt_index_select(t->mixed.x, all->x, 0, order);
    gt_index_select(t->mixed.label, all->label, 0, order);
    gt_index_select(t->mixed.hot, all->hot, 0, order);
    gt_eval(t->mixed.x, "a + b*c", t->mixed.x, grain, gt_scalar(noise));
    gt_fill(t->rate, -rate);
    if (t->graph) gt_graph_launch(t->graph, gt_current_stream(device));
    else all_steps(t);
    sum = gt_item(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "-a * b", t->mixed.hot, t->log_p));
  } /* gt_item is the one place where the host waits */
  return sum / (double)n;
}

/* The steps of an epoch; nothing runs while they are recorded. */
static gt_graph *record(const training *t) {
  gt_graph_begin(gt_current_stream(t->p.all->device));
  all_steps(t);
  return gt_graph_end();
}

/* (n, 1) int64 */
static gt_tensor *predict(const network *p, const samples *s) {
  return gt_argmax(NULL, gt_linear(NULL, hidden_layer(p, s), p->w2, p->b2), GT_DIM(1), 1);
}

/* The mean loss, by another way than step's. */
static double loss_of(const network *p, const samples *s) {
  GT_SCOPED;
  const gt_tensor *scores = gt_linear(NULL, hidden_layer(p, s), p->w2, p->b2);
  const gt_tensor *all = gt_logsumexp(NULL, scores, GT_DIM(1), 1);
  const gt_tensor *loss = gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a * (b - c)", s->hot, all, scores);
  return gt_item(loss) / (double)gt_numel(s->label);
}

/* A step at rate 0 leaves the weights alone, and makes their gradient g. If the weights move by
   h*g, the loss grows by h times the square of g, which so follows from two losses, one h above and
   one h below, without the backward pass; in float64. */
static void check_gradient(const training *t, const samples *s) {
  const double h = 1e-4;
  gt_fill(t->rate, 0);
  step(t, s, gt_slice(t->log_p, 0, 0, BATCH, 1));
  const gt_tensor *g = gt_to_dtype(t->g.all, GT_FLOAT64);
  const network q = network_of(gt_to_dtype(t->p.all, GT_FLOAT64));
  const samples exact = {gt_to_dtype(s->x, GT_FLOAT64), s->label, s->hot};
  const double square = gt_item(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a * a", g));
  gt_eval(q.all, "a + b*c", q.all, g, gt_scalar(h));
  const double above = loss_of(&q, &exact);
  gt_eval(q.all, "a + b*c", q.all, g, gt_scalar(-2 * h));
  const double slope = (above - loss_of(&q, &exact)) / (2 * h);
  printf("square of the gradient: %.3f by the backward pass, %.3f by differences\n", square, slope);
  check(fabs(square - slope) <= 1e-4 * slope, "the gradient");
  gt_fill(t->v.all, 0);
}

static double accuracy(const network *p, const samples *s) {
  double value = 0;
  GT_SCOPE {
    value = gt_item(gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "a == b", predict(p, s), s->label));
  }
  return value;
}

/* ---- results ---- */

static void print_confusion(int64_t n, const uint8_t *label, const int64_t *guess) {
  int count[CLASSES][CLASSES] = {{0}};
  for (int64_t i = 0; i < n; i++) count[label[i]][guess[i]]++;
  printf("\nrows: what it is; columns: what it was read as\n    ");
  for (int c = 0; c < CLASSES; c++) printf("%4d", c);
  for (int r = 0; r < CLASSES; r++) {
    printf("\n%4d", r);
    for (int c = 0; c < CLASSES; c++)
      if (count[r][c]) printf("%4d", count[r][c]);
      else printf("   .");
  }
  printf("\n");
}

static void print_misread(int64_t n, const uint8_t *label, const int64_t *guess, const float *x) {
  int64_t wrong[SHOWN];
  int shown = 0;
  for (int64_t i = 0; i < n && shown < SHOWN; i++)
    if (guess[i] != label[i]) wrong[shown++] = i;
  printf("\n");
  for (int k = 0; k < shown; k++) printf(" %d read as %d  ", label[wrong[k]], (int)guess[wrong[k]]);
  for (int row = 0; row < SIDE; row++) {
    printf("\n");
    for (int k = 0; k < shown; k++) {
      printf(" ");
      for (int c = 0; c < SIDE; c++)
        putchar(" .:-=+*#%@"[(int)(x[wrong[k] * PIXELS + row * SIDE + c] * 9.0f)]);
      printf("     ");
    }
  }
  printf("\n");
}

/* gt_data waits for the copy and gives the address; all three are contiguous. */
static void report(const network *p, const samples *held_out) {
  const int64_t n = gt_numel(held_out->label);
  const int64_t *guess = (const int64_t *)gt_data(gt_to(predict(p, held_out), gt_cpu()));
  const uint8_t *label = (const uint8_t *)gt_data(gt_to(held_out->label, gt_cpu()));
  print_confusion(n, label, guess);
  print_misread(n, label, guess, (const float *)gt_data(gt_to(held_out->x, gt_cpu())));
}

static training begin_training(const options *o, const samples *like, gt_generator *generator) {
  training t;
  t.p = zeros(o->device);
  t.v = zeros(o->device);
  t.g = zeros(o->device);
  set_random(t.p.w1, generator);
  set_random(t.p.w2, generator);
  t.mixed.x = gt_empty_like(like->x);
  t.mixed.label = gt_empty_like(like->label);
  t.mixed.hot = gt_empty_like(like->hot);
  t.log_p = gt_empty_like(like->hot);
  t.rate = gt_empty(GT_SHAPE(1), GT_FLOAT32, o->device);
  t.graph = o->graph ? record(&t) : NULL;
  return t;
}

static void train(const options *o) {
  gt_generator generator = {o->seed, 0};
  const samples all = load_samples(o);
  const int64_t n = gt_numel(all.label), kept = n - n / 3; /* a third is held out */
  const samples mixed = pick(&all, gt_randperm(n, o->device, &generator));
  const samples learned = part(&mixed, 0, kept), held_out = part(&mixed, kept, n);
  const training t = begin_training(o, &learned, &generator);

  printf("%d digits to learn from, %d held out, on %s (%s)\n", (int)kept, (int)(n - kept),
         gt_device_string(o->device), gt_device_name(o->device));
  const samples some = part(&learned, 0, BATCH);
  check_gradient(&t, &some);
  double right = 0;
  for (int epoch = 1; epoch <= o->epochs; epoch++) {
    const int traced = o->trace && epoch == o->epochs;
    /* It falls from 0.1 to 0, along half a wave of the cosine. */
    const double rate = learning_rate * 0.5 * (1 + cos(3.14159265 * (epoch - 1) / o->epochs));
    if (traced) gt_trace_start(10000);
    const double began = gt_now_ms();
    const double loss = train_epoch(&t, &learned, rate, &generator);
    const double took = gt_now_ms() - began;
    if (traced) gt_trace_stop();
    right = 100 * accuracy(&t.p, &held_out);
    printf("epoch %3d   loss %.4f   held out %.2f %%   %.2f ms\n", epoch, loss, right, took);
  }
  gt_graph_free(t.graph);
  report(&t.p, &held_out);
  if (o->trace && o->epochs > 0) {
    gt_trace_print(stdout, 0);
    gt_trace_save(o->trace);
  }
  check(o->epochs < 40 || right >= 95, "less than 95 % is read rightly");
}

static int parse_options(options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char *end = NULL;
    const char *name = argv[i], *value = argv[i + 1]; /* NULL after the last one */
    if (strcmp(name, "--graph") == 0) {
      o->graph = 1;
      continue;
    }
    if (!value) return 0;
    i++;
    if (strcmp(name, "--device") == 0) o->device = gt_parse_device(value);
    else if (strcmp(name, "--data") == 0) o->data = value;
    else if (strcmp(name, "--trace") == 0) o->trace = value;
    else if (strcmp(name, "--epochs") == 0) o->epochs = (int)strtol(value, &end, 10);
    else if (strcmp(name, "--seed") == 0) o->seed = strtoull(value, &end, 10);
    else return 0;
    if (end && (*end || end == value)) return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  options o = {gt_best_device(), 40, 0, "examples/data", NULL, 0};
  if (!parse_options(&o, argc, argv)) {
    fprintf(stderr,
            "usage: %s [--device D] [--epochs N] [--seed N] [--data DIRECTORY] [--graph] "
            "[--trace FILE]\n",
            argv[0]);
    return 2;
  }
  GT_SCOPE { train(&o); }
  return 0;
}
