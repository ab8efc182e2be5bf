/* 09_train_digits.c - a neural network learns to read handwritten digits.

   You learn: how the pieces fit together in a real program. The network has 64 inputs, 128 hidden
   units and 10 classes; there is no autograd here, so the backward pass is written out, which is
   four lines, and checked: the gradient is compared with differences of the loss. The program fails
   if the network reads less than 95 % of the digits correctly after 40 epochs. 14_model.c saves and
   loads one (gt_save_npy, gt_load_npy). Everything stays on the device: the host enqueues the steps
   of an epoch and waits only at its end, when it reads the loss. With --graph these steps, some 500
   small operations, are recorded once, and one call an epoch launches them again; the results have
   the same bits. Without a graph a GPU is idle between small operations, because it waits for the
   host's calls: with one an epoch is several times as fast. --trace FILE draws the last epoch, and
   saves it for https://ui.perfetto.dev.

       cc -O2 -march=native -fopenmp -I. examples/09_train_digits.c -lm -lpthread -o digits
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/09_train_digits.c \
            gputensor_kernels.cu -o digits
       ./digits [--device cpu|cuda|cuda:N] [--epochs N] [--seed N] [--data DIRECTORY] \
                [--graph] [--trace FILE]

   Output (its end; the last digits and the times differ between machines):

       1198 digits to learn from, 599 held out, on cpu (AMD EPYC)
       square of the gradient: 2.423 by the backward pass, 2.423 by differences
       epoch   1   loss 1.2517   held out 89.98 %   1.1 ms
       ...
       epoch  38   loss 0.1595   held out 98.16 %   1.0 ms
       epoch  39   loss 0.1838   held out 97.83 %   1.0 ms
       epoch  40   loss 0.1727   held out 97.83 %   1.0 ms

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

typedef struct {
  gt_tensor *w1, *b1, *w2, *b2; /* (128, 64) (128) (10, 128) (10) */
} network;

typedef struct {
  gt_tensor *x, *label; /* (n, 64) float32 from 0 to 1, (n, 1) uint8 */
} samples;

/* What an epoch works with. A graph knows tensors by their memory: what changes from one launch to
   the next, the mixed samples and the learning rate, gets new contents in the same tensors. */
typedef struct {
  network p, v;           /* parameters, and how they moved in the step before */
  samples mixed;          /* in a new order for each epoch, and noisy */
  gt_tensor *classes;     /* (10) uint8: 0 to 9 */
  gt_tensor *rate, *loss; /* (1) and (1, 1); 0-d ones on the CPU would be constants of a graph */
  gt_graph *graph;        /* of all steps of an epoch, or NULL */
} training;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* ---- parameters ---- */

/* The numbers depend on the seed alone: every device starts with the same bits. */
static gt_tensor *random_weights(int64_t rows, int64_t columns, gt_generator *generator) {
  gt_tensor *w = gt_randn(GT_SHAPE(rows, columns), GT_FLOAT32, gt_cpu(), generator);
  return gt_mul(w, w, gt_scalar(sqrt(2.0 / (double)columns)));
}

static network random_network(gt_generator *generator) {
  network p;
  p.w1 = random_weights(HIDDEN, PIXELS, generator);
  p.w2 = random_weights(CLASSES, HIDDEN, generator);
  p.b1 = gt_zeros(GT_SHAPE(HIDDEN), GT_FLOAT32, gt_cpu());
  p.b2 = gt_zeros(GT_SHAPE(CLASSES), GT_FLOAT32, gt_cpu());
  return p;
}

static network network_to(const network *p, gt_device device) {
  const network q = {gt_to(p->w1, device), gt_to(p->b1, device), gt_to(p->w2, device),
                     gt_to(p->b2, device)};
  return q;
}

static network zeros_like(const network *p) {
  const network q = {gt_zeros_like(p->w1), gt_zeros_like(p->b1), gt_zeros_like(p->w2),
                     gt_zeros_like(p->b2)};
  return q;
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
  return all;
}

static samples pick(const samples *from, const gt_tensor *index) {
  const samples s = {gt_index_select(NULL, from->x, 0, index),
                     gt_index_select(NULL, from->label, 0, index)};
  return s;
}

/* A view: no copy is made. */
static samples part(const samples *from, int64_t start, int64_t end) {
  const samples s = {gt_slice(from->x, 0, start, end, 1), gt_slice(from->label, 0, start, end, 1)};
  return s;
}

/* ---- learning ---- */

static gt_tensor *hidden_layer(const network *p, const samples *s) {
  return gt_matmul_eval(NULL, s->x, gt_transpose(p->w1, 0, 1), "relu(a + b)", p->b1);
}

/* v = momentum*v + gradient, then p = p - rate*v, both in place. */
static void update(gt_tensor *p, gt_tensor *v, const gt_tensor *gradient, const gt_tensor *rate) {
  gt_eval(v, "a*b + c", v, gt_scalar(momentum), gradient);
  gt_eval(p, "a - b*c", p, v, rate);
}

/* One step on one batch; adds the sum of its losses to t->loss, which stays on the device. */
static void step(const training *t, const samples *s) {
  const network *p = &t->p, *v = &t->v;
  GT_SCOPE {
    gt_tensor *hot = gt_eval(NULL, "a == b", s->label, t->classes); /* (n, 1) and (10): (n, 10) */
    gt_tensor *h = hidden_layer(p, s);
    gt_tensor *log_p = gt_log_softmax(NULL, gt_linear(NULL, h, p->w2, p->b2), 1);
    gt_add(t->loss, t->loss, gt_reduce(NULL, GT_SUM, GT_ALL, 1, "a ? -b : 0", hot, log_p));

    gt_tensor *count = gt_scalar((double)gt_numel(s->label));
    gt_tensor *d = gt_eval(NULL, "(exp(a) - b) / c", log_p, hot, count); /* of the logits */
    gt_tensor *dh = gt_matmul_eval(NULL, d, p->w2, "b > 0 ? a : 0", h);  /* before the relu */
    gt_tensor *dw2 = gt_matmul(NULL, gt_transpose(d, 0, 1), h);
    gt_tensor *dw1 = gt_matmul(NULL, gt_transpose(dh, 0, 1), s->x);

    update(p->w2, v->w2, dw2, t->rate);
    update(p->b2, v->b2, gt_sum(NULL, d, GT_DIM(0), 0), t->rate);
    update(p->w1, v->w1, dw1, t->rate);
    update(p->b1, v->b1, gt_sum(NULL, dh, GT_DIM(0), 0), t->rate);
  }
}

/* The steps of an epoch: work on the device alone, which a graph can hold. */
static void all_steps(const training *t) {
  const int64_t n = gt_numel(t->mixed.label);
  gt_fill(t->loss, 0);
  for (int64_t i = 0; i < n; i += BATCH) {
    GT_SCOPED; /* frees at the end of each round what was made in it */
    const samples batch = part(&t->mixed, i, i + BATCH); /* the last one may be smaller */
    step(t, &batch);
  }
}

/* All samples once, in a new order and with new noise, so that none is learned by heart; returns
   their mean loss. */
static double train_epoch(const training *t, const samples *all, double rate,
                          gt_generator *generator) {
  const int64_t n = gt_numel(all->label);
  double mean = 0;
  GT_SCOPE {
    const gt_tensor *order = gt_randperm(n, t->classes->device, generator);
    const gt_tensor *grain =
        gt_randn(gt_shape_of(all->x), GT_FLOAT32, t->classes->device, generator);
    gt_index_select(t->mixed.x, all->x, 0, order);
    gt_index_select(t->mixed.label, all->label, 0, order);
    gt_eval(t->mixed.x, "a + b*c", t->mixed.x, grain, gt_scalar(noise));
    gt_fill(t->rate, rate);
    if (t->graph) gt_graph_launch(t->graph, gt_current_stream(t->classes->device));
    else all_steps(t);
    mean = gt_item(t->loss) / (double)n; /* the one place where the host waits */
  }
  return mean;
}

/* The steps of an epoch; nothing runs while they are recorded. */
static gt_graph *record(const training *t) {
  gt_graph_begin(gt_current_stream(t->classes->device));
  all_steps(t);
  return gt_graph_end();
}

/* (n, 1) int64 */
static gt_tensor *predict(const network *p, const samples *s) {
  return gt_argmax(NULL, gt_linear(NULL, hidden_layer(p, s), p->w2, p->b2), GT_DIM(1), 1);
}

/* The mean loss, by another way than step's. */
static double loss_of(const network *p, const samples *s, const gt_tensor *classes) {
  GT_SCOPED;
  const gt_tensor *scores = gt_linear(NULL, hidden_layer(p, s), p->w2, p->b2);
  const gt_tensor *all = gt_logsumexp(NULL, scores, GT_DIM(1), 1);
  const gt_tensor *loss =
      gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a == b ? c - d : 0", s->label, classes, all, scores);
  return gt_item(loss) / (double)gt_numel(s->label);
}

static network in_float64(const network *p) {
  const network q = {gt_to_dtype(p->w1, GT_FLOAT64), gt_to_dtype(p->b1, GT_FLOAT64),
                     gt_to_dtype(p->w2, GT_FLOAT64), gt_to_dtype(p->b2, GT_FLOAT64)};
  return q;
}
static double sum_of_squares(const gt_tensor *x) {
  return gt_item(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a * a", x));
}
/* p += h * g */
static void move(const network *p, const network *g, double h) {
  gt_eval(p->w1, "a + b*c", p->w1, g->w1, gt_scalar(h));
  gt_eval(p->b1, "a + b*c", p->b1, g->b1, gt_scalar(h));
  gt_eval(p->w2, "a + b*c", p->w2, g->w2, gt_scalar(h));
  gt_eval(p->b2, "a + b*c", p->b2, g->b2, gt_scalar(h));
}

/* A step at rate 0 leaves the weights alone and their gradients in v, as v was 0. Along the
   gradient the loss rises by its square: all weights go up by a little of theirs, then down, in
   float64. */
static void check_gradient(const training *t, const samples *s) {
  const double h = 1e-4;
  gt_fill(t->rate, 0);
  gt_fill(t->loss, 0);
  step(t, s);
  const network q = in_float64(&t->p), g = in_float64(&t->v);
  const samples exact = {gt_to_dtype(s->x, GT_FLOAT64), s->label};
  const double square =
      sum_of_squares(g.w1) + sum_of_squares(g.b1) + sum_of_squares(g.w2) + sum_of_squares(g.b2);
  move(&q, &g, h);
  const double above = loss_of(&q, &exact, t->classes);
  move(&q, &g, -2 * h);
  const double slope = (above - loss_of(&q, &exact, t->classes)) / (2 * h);
  printf("square of the gradient: %.3f by the backward pass, %.3f by differences\n", square, slope);
  check(fabs(square - slope) <= 1e-4 * slope, "the gradient");
  gt_fill(t->v.w1, 0);
  gt_fill(t->v.b1, 0);
  gt_fill(t->v.w2, 0);
  gt_fill(t->v.b2, 0);
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
  const network start = random_network(generator);
  training t;
  t.p = network_to(&start, o->device);
  t.v = zeros_like(&t.p);
  t.mixed.x = gt_empty_like(like->x);
  t.mixed.label = gt_empty_like(like->label);
  t.classes = gt_arange(0, CLASSES, 1, GT_UINT8, o->device);
  t.rate = gt_empty(GT_SHAPE(1), GT_FLOAT32, o->device);
  t.loss = gt_empty(GT_SHAPE(1, 1), GT_FLOAT32, o->device);
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
    const double rate = learning_rate * 0.5 * (1 + cos(3.14159265 * (epoch - 1) / o->epochs));
    if (traced) gt_trace_start(10000);
    const double began = gt_now_ms();
    const double loss = train_epoch(&t, &learned, rate, &generator);
    const double took = gt_now_ms() - began;
    if (traced) gt_trace_stop();
    right = 100 * accuracy(&t.p, &held_out);
    printf("epoch %3d   loss %.4f   held out %.2f %%   %.1f ms\n", epoch, loss, right, took);
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
    const char *name = argv[i], *value = argv[i + 1]; /* NULL behind the last one */
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
