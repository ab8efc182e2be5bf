/* 13_several_devices.c - one network trained on several devices at once.

   You learn: where a result lands when another device is current; what the library says of a device
   that is not there, and of operands on two devices; when bytes go from GPU to GPU, and how many;
   and data parallel training of lesson 09's network: each worker has a replica of it and a share of
   each batch, the gradients are added up and sent back (all-reduce), and the replicas stay equal
   bit by bit:

       worker 0   weights, share 0 of the batch --> gradient --+         +--> the same step
                                                               +-- sum --+
       worker 1   weights, share 1 of the batch --> gradient --+         +--> the same step

       cc -O2 -march=native -fopenmp -I. examples/13_several_devices.c -lm -lpthread -o several
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/13_several_devices.c \
            gputensor_kernels.cu -o several
       ./several [--device cpu] [--workers N]

   A worker is a GPU where there are two or more, else a stream of the CPU. In PyTorch:

       with torch.cuda.device(1): ...           GT_WITH_DEVICE(gt_cuda(1)) { ... }
       x.to("cuda:1")                           gt_to(x, gt_cuda(1))
       copy.deepcopy(model).to("cuda:1")        one gt_copy, as all parameters lie in one tensor
       dist.all_reduce(gradient)                all_reduce below
       DistributedDataParallel(model)           all of this, with a process for each GPU
       DataParallel(model)                      copies the model anew at each step; PyTorch's own
                                                advice is the line above, on one machine, too

   The efficiency is how many times as fast several workers are, divided by their number.

   Output on a laptop with two cores (times differ, the losses do not):

       2 workers, from cpu to cpu (AMD EPYC)
       one too many: gt_cuda: no GPU: built without CUDA: build with nvcc, or define ...
       mixed devices: the CPU is all there is, so there is nothing to mix
       inside a block for cpu, x + x of an x on cpu is on cpu
       once around all workers: 0 copies from GPU to GPU, 0.0 MiB
       gt_to(x) to cpu again has x's own memory; gt_copy(NULL, x) has not
       gradients not exchanged: 128 hidden units, batches of 64
         1 worker   loss of epoch 1 1.045034, of epoch 3 0.203275, an epoch took 2.6 ms
         2 workers  loss of epoch 1 1.338705, of epoch 3 0.324796, an epoch took 2.5 ms
         the replicas have become 2 networks, each of its own share
       gradients added up: 128 hidden units, batches of 64
         1 worker   loss of epoch 1 1.045034, of epoch 3 0.203275, an epoch took 2.4 ms
         2 workers  loss of epoch 1 1.045034, of epoch 3 0.203275, an epoch took 2.5 ms
         the replicas are equal bit by bit; 0.95 times as fast, an efficiency of 47 %
       more work between exchanges: 512 hidden units, batches of 599
         1 worker   loss of epoch 1 2.930598, of epoch 3 0.691376, an epoch took 5.0 ms
         2 workers  loss of epoch 1 2.930598, of epoch 3 0.691376, an epoch took 3.8 ms
         the replicas are equal bit by bit; 1.34 times as fast, an efficiency of 67 %

   On two GPUs, pretend ones too (make -C examples pretend-13_several_devices), some lines differ:

       2 workers, from cuda:0 to cuda:1 (simulated GPU 0)
       one too many: gt_cuda: there is no cuda:2: 2 devices here, counted from 0
       mixed devices: gt_add: operand 1 (1048576,) is on cuda:0, operand 2 (1048576,) on cuda:1; ...
       inside a block for cuda:1, x + x of an x on cuda:0 is on cuda:0
       once around all workers: 2 copies from GPU to GPU, 8.0 MiB
       gt_to(x) to cuda:0 again has x's own memory; gt_copy(NULL, x) has not

   On two H200, whose small steps wait for the host's calls:

       gradients added up: 128 hidden units, batches of 64
         1 worker   loss of epoch 1 1.045034, of epoch 3 0.203275, an epoch took 3.4 ms
         2 workers  loss of epoch 1 1.045034, of epoch 3 0.203275, an epoch took 7.9 ms
         the replicas are equal bit by bit; 0.43 times as fast, an efficiency of 22 %
       more work between exchanges: 2048 hidden units, batches of 65536
         1 worker   loss of epoch 1 11.137898, of epoch 3 0.271784, an epoch took 14.2 ms
         2 workers  loss of epoch 1 11.137895, of epoch 3 0.271784, an epoch took 11.9 ms
         the replicas are equal bit by bit; 1.20 times as fast, an efficiency of 60 %

   Try: --workers 4: the losses stay, and the efficiency falls, as each share is smaller. Batches of
   16: four times as many exchanges, and several workers lose. Leave the copies out of all_reduce:
   the check of the replicas stops the program.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 64, CLASSES = 10, MOST = 8, EPOCHS = 3 };

/* Views of one flat tensor: what is done to all parameters alike is one call, and one copy. */
typedef struct { gt_tensor *flat, *w1, *b1, *w2, *b2; } network;

typedef struct {
  gt_stream *stream;
  gt_device device;
  network p, gradient;
  gt_tensor *x, *label, *classes, *order, *loss; /* all digits, and the order of an epoch */
} worker;

/* An epoch is `copies` times all digits. */
typedef struct { int workers, hidden, copies, batch, exchange; } plan;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* ---- devices ---- */

static void refused(const char *what) {
  check(gt_error() == GT_ERROR_DEVICE, what);
  printf("%s: %s\n", what, gt_error_message());
  gt_clear_error();
}

static void devices(const gt_device *device, int n) {
  const gt_device first = device[0], last = device[n - 1];
  const int gpu = last.type == GT_CUDA;
  gt_tensor *x = gt_ones(GT_SHAPE(1 << 20), GT_FLOAT32, first), *y = x;
  gt_statistics s;
  gt_set_error_handler(NULL, NULL); /* these errors are looked at here */
  gt_cuda(gt_cuda_device_count());
  refused("one too many");
  if (gt_cuda_is_available()) {
    gt_add(NULL, x, gt_ones(GT_SHAPE(1 << 20), GT_FLOAT32, gpu ? last : gt_cuda(0)));
    refused("mixed devices");
  } else printf("mixed devices: the CPU is all there is, so there is nothing to mix\n");
  gt_set_error_handler(gt_exit_on_error, NULL);

  GT_WITH_DEVICE(last) y = gt_add(NULL, x, x); /* computed where x is */
  printf("inside a block for %s, x + x of an x on %s is on %s\n", gt_device_string(last),
         gt_device_string(first), gt_device_string(y->device));
  check(y->device.index == first.index, "the place of a sum");

  gt_reset_stats();
  for (int i = 1; i <= n; i++) y = gt_to(y, device[i % n]);
  check(gt_item(gt_min(NULL, y, GT_ALL, 0)) == 2, "a copy");
  gt_stats(&s);
  const uint64_t copies = s.copies[GT_DEVICE_TO_DEVICE][GT_COPY_ASYNC].count;
  printf("once around all workers: %d copies from GPU to GPU, %.1f MiB\n", (int)copies,
         (double)s.copies[GT_DEVICE_TO_DEVICE][GT_COPY_ASYNC].bytes / (1 << 20));
  check(copies == (uint64_t)(gpu ? n : 0), "the number of copies");
  printf("gt_to(x) to %s again has x's own memory; gt_copy(NULL, x) has not\n",
         gt_device_string(first));
  check(gt_data(gt_to(x, first)) == gt_data(x), "gt_to shares");
  check(gt_data(gt_copy(NULL, x)) != gt_data(x), "gt_copy does not");
}

/* ---- training ---- */

static gt_tensor *piece(gt_tensor *flat, int64_t *at, int64_t rows, int64_t columns) {
  const int64_t start = *at;
  *at += rows * columns;
  gt_tensor *x = gt_slice(flat, 0, start, *at, 1);
  return rows == 1 ? x : gt_reshape(x, GT_SHAPE(rows, columns));
}

static network network_of(gt_tensor *flat, int64_t hidden) {
  int64_t at = 0;
  network p;
  p.flat = flat;
  p.w1 = piece(flat, &at, hidden, PIXELS);
  p.b1 = piece(flat, &at, 1, hidden);
  p.w2 = piece(flat, &at, CLASSES, hidden);
  p.b2 = piece(flat, &at, 1, CLASSES);
  return p;
}

/* The first worker draws the weights; the others have copies, from GPU to GPU. */
static void begin(worker *w, gt_device device, const plan *p, const worker *first) {
  const int64_t n = (int64_t)p->hidden * (PIXELS + 1 + CLASSES) + CLASSES;
  gt_generator generator = {0, 0};
  w->device = device;
  w->stream = gt_stream_create(device, 0);
  w->p = network_of(gt_zeros(GT_SHAPE(n), GT_FLOAT32, device), p->hidden);
  w->gradient = network_of(gt_zeros(GT_SHAPE(n), GT_FLOAT32, device), p->hidden);
  w->classes = gt_arange(0, CLASSES, 1, GT_UINT8, device);
  w->loss = gt_zeros(GT_SHAPE(1, 1), GT_FLOAT32, device);
  if (w != first) {
    gt_copy(w->p.flat, first->p.flat);
    return;
  }
  gt_copy(w->p.w1, gt_randn(gt_shape_of(w->p.w1), GT_FLOAT32, device, &generator));
  gt_copy(w->p.w2, gt_randn(gt_shape_of(w->p.w2), GT_FLOAT32, device, &generator));
  gt_mul(w->p.w1, w->p.w1, gt_scalar(sqrt(2.0 / PIXELS)));
  gt_mul(w->p.w2, w->p.w2, gt_scalar(sqrt(2.0 / p->hidden)));
}

/* Adds this worker's losses, and makes its part of the gradient, of the samples order[from..to). */
static void backward(worker *w, const plan *p, int64_t from, int64_t to) {
  GT_SCOPED;
  GT_WITH_STREAM_SCOPED(w->stream);
  gt_tensor *index = gt_slice(w->order, 0, from, to, 1);
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

/* All gradients become their sum: added on the first device, in the order of the workers, and sent
   back. The host waits nowhere; the library orders the streams of all devices. */
static void all_reduce(worker *w, int n) {
  GT_SCOPED;
  gt_tensor *sum = w[0].gradient.flat;
  GT_WITH_STREAM(w[0].stream) {
    for (int i = 1; i < n; i++) gt_add(sum, sum, gt_to(w[i].gradient.flat, w[0].device));
  }
  for (int i = 1; i < n; i++)
    GT_WITH_STREAM(w[i].stream) gt_copy(w[i].gradient.flat, sum);
}

/* The mean loss. Each worker draws the order itself: with the same seed it is the same on every
   device, so that nothing but gradients has to be sent. */
static double epoch(worker *w, const plan *p, uint64_t seed) {
  GT_SCOPED;
  const int64_t digits = w->label->shape[0], samples = digits * p->copies;
  double loss = 0;
  for (int i = 0; i < p->workers; i++) {
    gt_generator generator = {seed, 0};
    GT_WITH_STREAM_SCOPED(w[i].stream);
    w[i].order = gt_randperm(samples, w[i].device, &generator);
    gt_remainder(w[i].order, w[i].order, gt_scalar_int64(digits));
    gt_fill(w[i].loss, 0);
  }
  for (int64_t at = 0; at < samples; at += p->batch) {
    const int64_t n = at + p->batch < samples ? p->batch : samples - at;
    for (int i = 0; i < p->workers; i++)
      backward(&w[i], p, at + n * i / p->workers, at + n * (i + 1) / p->workers);
    if (p->exchange) all_reduce(w, p->workers);
    for (int i = 0; i < p->workers; i++)
      GT_WITH_STREAM(w[i].stream)
        gt_eval(w[i].p.flat, "a - 0.5*b", w[i].p.flat, w[i].gradient.flat);
  }
  for (int i = 0; i < p->workers; i++) loss += gt_item(w[i].loss); /* waits */
  return loss / (double)samples;
}

/* Losses of the epochs, milliseconds of the last one, which gt_benchmark could not take: an epoch
   is not done again. Returns whether all replicas are equal. */
static int train(const plan *p, const gt_device *device, const gt_tensor *x, const gt_tensor *label,
                 double *loss, double *ms) {
  GT_SCOPED;
  worker w[MOST];
  int equal = 1;
  for (int i = 0; i < p->workers; i++) {
    begin(&w[i], device[i], p, w);
    w[i].x = gt_to(x, device[i]); /* it is only read: workers on one device may share it */
    w[i].label = gt_to(label, device[i]);
  }
  for (int e = 0; e < EPOCHS; e++) {
    const double start = gt_now_ms();
    loss[e] = epoch(w, p, (uint64_t)e);
    *ms = gt_now_ms() - start;
  }
  for (int i = 0; i < p->workers; i++) {
    const gt_tensor *same = gt_eq(NULL, gt_to(w[i].p.flat, device[0]), w[0].p.flat);
    equal &= gt_item(gt_all(NULL, same, GT_ALL, 0)) == 1;
    gt_stream_free(w[i].stream);
  }
  return equal;
}

/* One worker and several, the same batches: the losses differ by the order of additions alone. */
static void compare(const char *title, const plan *p, const gt_device *device, const gt_tensor *x,
                    const gt_tensor *label) {
  plan q = *p;
  double loss[2][EPOCHS], ms[2];
  int equal = 1;
  printf("%s: %d hidden units, batches of %d\n", title, p->hidden, p->batch);
  for (int k = 0; k < 2; k++) {
    q.workers = k ? p->workers : 1;
    /* Both may use as many cores: one worker shares each operation among them. */
    if (device[0].type == GT_CPU) gt_set_num_threads(k ? 1 : p->workers);
    equal &= train(&q, device, x, label, loss[k], &ms[k]);
    printf("  %d worker%s  loss of epoch 1 %.6f, of epoch %d %.6f, an epoch took %.1f ms\n",
           q.workers, k ? "s" : " ", loss[k][0], EPOCHS, loss[k][EPOCHS - 1], ms[k]);
  }
  check(equal == p->exchange, "the replicas");
  if (!equal) {
    printf("  the replicas have become %d networks, each of its own share\n", p->workers);
    return;
  }
  check(fabs(loss[1][0] - loss[0][0]) <= 1e-5 * loss[0][0], "the loss of the first epoch");
  printf("  the replicas are equal bit by bit; %.2f times as fast, an efficiency of %.0f %%\n",
         ms[0] / ms[1], 100 * ms[0] / ms[1] / p->workers);
}

static void run(int workers, int gpus) {
  const int gpu = gpus >= 2, n = workers ? workers : gpu ? gpus : 2;
  gt_device device[MOST];
  gt_properties have;
  check(n >= 2 && n <= MOST && (!gpu || n <= gpus), "the number of workers");
  for (int i = 0; i < n; i++) device[i] = gpu ? gt_cuda(i) : gt_cpu();
  printf("%d workers, from %s to %s (%s)\n", n, gt_device_string(device[0]),
         gt_device_string(device[n - 1]), gt_device_name(device[0]));
  devices(device, n);

  gt_tensor *images = gt_load_npy("examples/data/digits_images.npy", gt_cpu());
  gt_tensor *label = gt_load_npy("examples/data/digits_labels.npy", gt_cpu());
  label = gt_reshape(label, GT_SHAPE(-1, 1));
  gt_tensor *x = gt_eval(NULL, "a / 16", gt_reshape(images, GT_SHAPE(-1, PIXELS)));
  gt_device_properties(device[0], &have);
  const int big = gpu && have.total_memory > (size_t)1 << 32;
  const plan forgotten = {n, 128, 1, 64, 0}, small = {n, 128, 1, 64, 1};
  const plan large = {n, big ? 2048 : 512, big ? 128 : 1, big ? 65536 : 599, 1};
  compare("gradients not exchanged", &forgotten, device, x, label);
  compare("gradients added up", &small, device, x, label);
  compare("more work between exchanges", &large, device, x, label);
}

int main(int argc, char **argv) {
  int workers = 0, gpus = gt_cuda_device_count();
  gt_set_error_handler(gt_exit_on_error, NULL);
  for (int i = 1; i < argc; i += 2)
    if (i + 1 == argc) return fprintf(stderr, "usage: see the beginning of this file\n"), 2;
    else if (strcmp(argv[i], "--workers") == 0) workers = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--device") == 0) gpus = strcmp(argv[i + 1], "cpu") ? gpus : 0;
  GT_SCOPE { run(workers, gpus); }
  return 0;
}
