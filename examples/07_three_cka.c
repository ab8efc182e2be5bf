/* 07_three_cka.c - three similarities on three streams: a race, found and named, and the same
   program without it.

   You learn: what is wrong with "compute on three streams, synchronise at the end" when the inputs
   come from yet another stream, how GT_REPORT names such races, that GT_ORDER, the default, makes
   the same calls right, that a result read by the host makes the streams take turns, and when
   streams win.

   A race: one stream writes a tensor, another one reads or writes it, and nothing says who comes
   first. Here one stream makes features, and three others read them:

       stream 1        |-- features 1, 2, 3 --|
       with a race     |-- CKA 1 --|               begins too early: reads what is not there yet
       with a wait                            |-- CKA 1 --|

       cc -O2 -march=native -fopenmp -I. examples/07_three_cka.c -lm -lpthread -o cka
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/07_three_cka.c gputensor_kernels.cu \
            -o cka
       ./cka [--device cpu|cuda|cuda:N] [--without-races]

   Linear CKA (Kornblith et al., ICML 2019) compares two sets of features of the same samples, each
   a matrix with a row for each sample: |Y'X|^2 / (|X'X| |Y'Y|), where Y' is Y transposed, the mean
   of each column is 0, and |A|^2 is the sum of the squares of A's elements; 1 is "the same up to
   rotation and scale". Here the input of three random networks is compared with what each makes of
   it. For the lesson they are only some products and sums that do not need each other.
   --without-races leaves the first part out, for tools that would stop at a real race, such as
   ThreadSanitizer. They find a race when it happens; GT_REPORT finds it by the order of the calls,
   also when the numbers came out right.

   In the pictures 0 is the default stream, which brings the results to the host at the end, and +
   stands for several streams at once.

   Output of make -C examples pretend-07_three_cka, whose times are a model's; others differ, and
   so do wrong numbers:

on cuda:0 (simulated GPU 0)
no waits between the streams; these numbers may be wrong:
  three streams      nan  nan  nan
race: gt_mean on stream 2 of cuda:0 reads float32 (8192, 64), which gt_linear on stream 1 of ...
race: gt_sub on stream 2 of cuda:0 reads float32 (8192, 64), which gt_linear on stream 1 of cuda:0 ...
...
6 races
with the waits that GT_ORDER, the default, puts in:
512 samples: one stream 0.28 ms, three streams 0.19 ms, 1.47 times as fast
  one stream         0.656638  0.621584  0.577284
  three streams      0.656638  0.621584  0.577284
  plain C, float64   0.656638  0.621584  0.577284

one stream:
a trace of 0.26 ms, 53 records, 0 dropped; on the right the busy time in ms
  cuda:0 compute   |11111111111111111111111111111111111111111111111111111111111111111111....|     0.25
  cuda:0 download  |....................................................................0000|     0.01
  cuda:0 default   |....................................................................dddd|     0.01
  cuda:0 stream 1  |CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC....|     0.25
         host      |........................................wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww|     0.00
                   0                                                                  0.26 ms
  C compute  d download  w wait of the host  . idle
  one after another 0.26 ms, any at work 0.26 ms: gain 1.00
  most operations waited for the one before them on their own stream: independent work can go to ...

three streams behind the one that makes the features:
a trace of 0.19 ms, 59 records, 0 dropped; on the right the busy time in ms
  cuda:0 compute   |11111111111111111111111111111111++++++++++++++++++++++++4444444444......|     0.17
  cuda:0 download  |..................................................................000000|     0.01
  cuda:0 default   |..................................................................dddddd|     0.01
  cuda:0 stream 1  |CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC.......................................|     0.08
  cuda:0 stream 2  |................................CCCCCCCCCCCCCCCCCCCCCC..................|     0.06
  cuda:0 stream 3  |................................CCCCCCCCCCCCCCCCCCCCCCCC................|     0.06
  cuda:0 stream 4  |...........................................CCCCCCCCCCCCCCCCCCCCCCC......|     0.06
         host      |..........................................................wwwwwwwwwwwwww|     0.00
                   0                                                                  0.19 ms
  C compute  d download  w wait of the host  . idle
  one after another 0.18 ms, any at work 0.18 ms: gain 1.00
  one kind of work takes nearly all of the time: more streams add only what one operation leaves ...

the same, but each result read at once:
a trace of 0.28 ms, 65 records, 0 dropped; on the right the busy time in ms
  cuda:0 compute   |11111111111111111111112222222222222223333333333333334444444444444444....|     0.25
  cuda:0 download  |....................................0..............00..............00000|     0.02
  cuda:0 default   |....................................d..............dd..............ddddd|     0.02
  cuda:0 stream 1  |CCCCCCCCCCCCCCCCCCCCCC..................................................|     0.08
  cuda:0 stream 2  |.....................CCCCCCCCCCCCCCCC...................................|     0.05
  cuda:0 stream 3  |....................................CCCCCCCCCCCCCCCC....................|     0.06
  cuda:0 stream 4  |....................................................CCCCCCCCCCCCCCCC....|     0.06
         host      |..................wwwwwwwwwwwwwwwwwww..........wwwwww.........wwwwwwwwww|     0.00
                   0                                                                  0.28 ms
  C compute  d download  w wait of the host  . idle
  one after another 0.27 ms, any at work 0.27 ms: gain 1.00
  the host waited for results before it enqueued more: read them after all work is enqueued

8192 samples: one stream 1.43 ms, three streams 1.43 ms, 1.00 times as fast

   Streams win where the work of one leaves part of the device unused. They gain nothing where each
   operation fills it, as on a CPU whose cores share the larger operations, and lose where the work
   is so short that the waits cost more than it does.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NETWORKS = 3, WIDTH = 64, HIDDEN = 256, SMALL = 512, RECORDS = 1000 };

typedef struct {
  gt_tensor *w1, *b1, *w2; /* (256, 64) (256) (64, 256) */
} network;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* Their hidden layers are weak, usual and strong beside their biases. */
static network random_network(double gain, gt_device device) {
  network p;
  p.w1 = gt_randn(GT_SHAPE(HIDDEN, WIDTH), GT_FLOAT32, device, NULL);
  p.b1 = gt_randn(GT_SHAPE(HIDDEN), GT_FLOAT32, device, NULL);
  p.w2 = gt_randn(GT_SHAPE(WIDTH, HIDDEN), GT_FLOAT32, device, NULL);
  gt_mul(p.w1, p.w1, gt_scalar(gain / sqrt(WIDTH)));
  return p;
}

static gt_tensor *features(const network *p, const gt_tensor *x) {
  gt_tensor *h = gt_linear(NULL, x, p->w1, p->b1);
  return gt_linear(NULL, gt_relu(h, h), p->w2, NULL);
}

/* The squared Frobenius norm of y'x. It keeps its two dims: a 0-d tensor on the CPU counts as a
   number, which is read at the call, and the host would wait for it. */
static gt_tensor *squared_norm(const gt_tensor *y, const gt_tensor *x) {
  return gt_reduce(NULL, GT_SUM, GT_ALL, 1, "a*a", gt_matmul(NULL, gt_transpose(y, 0, 1), x));
}

static gt_tensor *cka(const gt_tensor *x, const gt_tensor *y) {
  gt_tensor *xc = gt_sub(NULL, x, gt_mean(NULL, x, GT_DIM(0), 1));
  gt_tensor *yc = gt_sub(NULL, y, gt_mean(NULL, y, GT_DIM(0), 1));
  return gt_eval(NULL, "a / sqrt(b*c)", squared_norm(yc, xc), squared_norm(xc, xc),
                 squared_norm(yc, yc));
}

/* The features on the stream `front`, the similarities on the streams in `side`, all enqueued
   before anything is read, unless each is read at once. With the same stream everywhere it is the
   serial version. */
enum { READ_AT_THE_END, READ_AT_ONCE };
typedef struct {
  const network *p;
  const gt_tensor *x;
  gt_stream *front, *side[NETWORKS];
  int when;
  double value[NETWORKS]; /* the similarities */
} work;

static void three_cka(void *argument) {
  work *w = (work *)argument;
  GT_SCOPED; /* frees at the end of the function what was made in it */
  gt_tensor *f[NETWORKS], *result[NETWORKS];
  GT_WITH_STREAM(w->front) {
    for (int i = 0; i < NETWORKS; i++) f[i] = features(&w->p[i], w->x);
  }
  for (int i = 0; i < NETWORKS; i++) {
    GT_WITH_STREAM(w->side[i]) result[i] = cka(f[i], w->x);
    if (w->when == READ_AT_ONCE) w->value[i] = gt_item(result[i]);
  }
  gt_synchronize(w->x->device); /* one wait for all streams */
  for (int i = 0; i < NETWORKS; i++) w->value[i] = gt_item(result[i]);
}

static double time_of(work *w) { return gt_benchmark(three_cka, w, w->x->device, 10).median_ms; }

/* The same in plain C and double precision: |Y'X|^2 of the centred columns. */
static double plain_norm(const float *y, const float *x, int64_t n) {
  double total = 0;
  for (int i = 0; i < WIDTH; i++)
    for (int j = 0; j < WIDTH; j++) {
      double yx = 0, sum_y = 0, sum_x = 0;
      for (int64_t r = 0; r < n; r++) {
        yx += (double)y[r * WIDTH + i] * x[r * WIDTH + j];
        sum_y += y[r * WIDTH + i];
        sum_x += x[r * WIDTH + j];
      }
      yx -= sum_y * sum_x / (double)n;
      total += yx * yx;
    }
  return total;
}

static double plain_cka(const gt_tensor *x_there, const gt_tensor *y_there) {
  const float *x = (const float *)gt_data(gt_to(x_there, gt_cpu()));
  const float *y = (const float *)gt_data(gt_to(y_there, gt_cpu()));
  const int64_t n = x_there->shape[0];
  return plain_norm(y, x, n) / sqrt(plain_norm(x, x, n) * plain_norm(y, y, n));
}

static void print_values(const char *title, const double *value) {
  printf("  %-18s %.6f  %.6f  %.6f\n", title, fabs(value[0]), fabs(value[1]), fabs(value[2]));
}

/* As in PyTorch: the streams begin at once, whether the features are there or not. */
static void with_races(work *w) {
  gt_set_stream_safety(GT_REPORT); /* nothing waits, and what should have is noted */
  three_cka(w);
  gt_set_stream_safety(GT_ORDER);
  printf("no waits between the streams; these numbers may be wrong:\n");
  print_values("three streams", w->value);
  printf("%d races\n", (int)gt_report_races(stdout));
}

/* What ran when: a lane for each stream. On a GPU kernels that wait look like those that run. */
static void draw(const char *title, work *w, int when) {
  double expected[NETWORKS];
  memcpy(expected, w->value, sizeof expected);
  w->when = when;
  gt_trace_start(RECORDS);
  three_cka(w);
  gt_trace_stop();
  printf("\n%s:\n", title);
  gt_trace_print(stdout, 0);
  check(memcmp(w->value, expected, sizeof expected) == 0, "a traced similarity");
}

static void without_races(work *parallel) {
  const int64_t samples = parallel->x->shape[0];
  work serial = *parallel;
  double plain[NETWORKS];
  for (int i = 0; i < NETWORKS; i++) serial.side[i] = serial.front;
  const double one = time_of(&serial), three = time_of(parallel);
  printf("%lld samples: one stream %.2f ms, three streams %.2f ms, %.2f times as fast\n",
         (long long)samples, one, three, one / three);
  for (int i = 0; i < NETWORKS; i++) {
    const double value = parallel->value[i];
    check(value == serial.value[i], "three streams differ from one");
    if (samples > SMALL) continue;
    plain[i] = plain_cka(parallel->x, features(&parallel->p[i], parallel->x));
    check(fabs(value - plain[i]) <= 1e-5, "a similarity");
  }
  if (samples > SMALL) return;
  print_values("one stream", serial.value);
  print_values("three streams", parallel->value);
  print_values("plain C, float64", plain);
  draw("one stream", &serial, READ_AT_THE_END);
  draw("three streams behind the one that makes the features", parallel, READ_AT_THE_END);
  draw("the same, but each result read at once", parallel, READ_AT_ONCE);
  printf("\n");
}

/* Many: enough that an operation fills the device, and its memory holds them. */
static int64_t samples(gt_device device) {
  gt_properties p;
  if (device.type == GT_CPU) return 1 << 12;
  gt_device_properties(device, &p);
  return p.total_memory > (size_t)4 << 30 ? 1 << 18 : 1 << 13;
}

int main(int argc, char **argv) {
  gt_device device = gt_best_device();
  int races = 1;
  gt_set_error_handler(gt_exit_on_error, NULL);
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--without-races") == 0) races = 0;
    else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) device = gt_parse_device(argv[++i]);
    else return fprintf(stderr, "usage: %s [--device D] [--without-races]\n", argv[0]), 2;

  /* On the CPU the default stream works at once, so that the features would be there in time. With
     a stream of their own it is as on a GPU, where the default stream is a queue, too. */
  work few = {0}, many;
  few.front = gt_stream_create(device, 0);
  for (int i = 0; i < NETWORKS; i++) few.side[i] = gt_stream_create(device, 0);
  printf("on %s (%s)\n", gt_device_string(device), gt_device_name(device));
  GT_SCOPE {
    const int64_t large = samples(device);
    const network p[NETWORKS] = {random_network(0.1, device), random_network(1, device),
                                 random_network(10, device)};
    few.p = p;
    many = few;
    few.x = gt_randn(GT_SHAPE(SMALL, WIDTH), GT_FLOAT32, device, NULL);
    many.x = gt_randn(GT_SHAPE(large, WIDTH), GT_FLOAT32, device, NULL);
    gt_synchronize(device);
    if (races) with_races(&many);
    printf("with the waits that GT_ORDER, the default, puts in:\n");
    without_races(&few);
    without_races(&many);
  }
  for (int i = 0; i < NETWORKS; i++) gt_stream_free(few.side[i]);
  gt_stream_free(few.front);
  return 0;
}
