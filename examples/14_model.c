/* 14_model.c - a model is moved, saved, loaded and compared as a whole.

   You learn: that a model is a list of parameters and that each thing done to all of it is one loop
   over that list; that moving makes a second model, and the first one stays; what a forgotten
   assignment does; how to ask where a model is, and what the library says when a model and its data
   are on two devices; and that weights are saved as files of NumPy (.npy).

       cc -O2 -march=native -fopenmp -I. examples/14_model.c -lm -lpthread -o model
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/14_model.c gputensor_kernels.cu \
            -o model
       ./model [--device cpu|cuda|cuda:N]

   In PyTorch:

       next(model.parameters()).device          device_of(&m); PyTorch's asks the first one alone
       model.to("cuda:1"), model.cuda()         m = to(&m, gt_cuda(1)): there the model is changed,
                                                here a new one is made
       x.cuda()                                 gt_to(x, gt_cuda(0)): in both x stays where it is
       model.half()                             m = to_dtype(&m, GT_FLOAT16)
       torch.save, torch.load(map_location=d)   save(&m), load(d): a NumPy file for each parameter

   Output without a GPU:

       the model is on cpu: 814090 parameters, 3.11 MiB
       moved to cpu: the model there takes 0.00 MiB more, the one on cpu is still there
         it was there before, so both are handles on the same memory
       as float16 1.55 MiB, and forgot the assignment: m itself is still float32
       m = to_dtype(&m, GT_FLOAT16): now it is float16
       model and data on two devices: there is one device here
       saved, loaded to cpu and brought back: every bit as before
       outputs computed on cpu and on cpu differ by 0e+00 at most
       files that are not there: gt_load_npy: gputensor_model_w1.npy: No such file or directory

   With a GPU, a pretend one too (make -C examples pretend-14_model), some lines differ:

       moved to cuda:0: the model there takes 3.11 MiB more, the one on cpu is still there
       model and data on two devices: gt_matmul_eval: operand 1 (256, 784) is on cuda:0, ...
       a model of which one parameter was moved:
         w1 is on cpu, but w2 on cuda:0

   Try: a third layer: W3 and B3 in the list, random_model and forward; no loop changes. Leave the
   remove() out: the last check stops the program, as the files are there. NumPy reads them, too:
   numpy.load("gputensor_model_w1.npy").shape is (1024, 784). Save the model as float16: the check
   of the bits stops it.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 784, HIDDEN = 1024, CLASSES = 10, SAMPLES = 256 };

/* The list of parameters: a name each, for its file and for messages. */
enum { W1, B1, W2, B2, PARAMETERS };
static const char *const name_of[PARAMETERS] = {"w1", "b1", "w2", "b2"};
typedef struct { gt_tensor *p[PARAMETERS]; } model;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

static model random_model(gt_device device) {
  model m;
  m.p[W1] = gt_randn(GT_SHAPE(HIDDEN, INPUTS), GT_FLOAT32, device, NULL);
  m.p[B1] = gt_randn(GT_SHAPE(HIDDEN), GT_FLOAT32, device, NULL);
  m.p[W2] = gt_randn(GT_SHAPE(CLASSES, HIDDEN), GT_FLOAT32, device, NULL);
  m.p[B2] = gt_randn(GT_SHAPE(CLASSES), GT_FLOAT32, device, NULL);
  gt_mul(m.p[W1], m.p[W1], gt_scalar(sqrt(2.0 / INPUTS)));
  gt_mul(m.p[W2], m.p[W2], gt_scalar(sqrt(2.0 / HIDDEN)));
  return m;
}

static gt_tensor *forward(const model *m, const gt_tensor *x) {
  gt_tensor *w1 = gt_transpose(m->p[W1], 0, 1);
  return gt_linear(NULL, gt_matmul_eval(NULL, x, w1, "relu(a + b)", m->p[B1]), m->p[W2], m->p[B2]);
}

/* ---- one loop for each thing that is done to a whole model ---- */

static model to(const model *m, gt_device device) {
  model n;
  for (int i = 0; i < PARAMETERS; i++) n.p[i] = gt_to(m->p[i], device);
  return n;
}

static model to_dtype(const model *m, gt_dtype dtype) {
  model n;
  for (int i = 0; i < PARAMETERS; i++) n.p[i] = gt_to_dtype(m->p[i], dtype);
  return n;
}

static void free_model(model *m) {
  for (int i = 0; i < PARAMETERS; i++) gt_free(m->p[i]);
}

/* Where the model is. One of which parameters are on two devices is nowhere: it cannot compute. */
static gt_device device_of(const model *m) {
  const gt_device first = m->p[0]->device, none = {GT_NO_DEVICE, 0};
  for (int i = 1; i < PARAMETERS; i++) {
    const gt_device d = m->p[i]->device;
    if (d.type == first.type && d.index == first.index) continue;
    printf("  %s is on %s, but %s on %s\n", name_of[0], gt_device_string(first), name_of[i],
           gt_device_string(d));
    return none;
  }
  return first;
}

static size_t bytes_of(const model *m) {
  size_t bytes = 0;
  for (int i = 0; i < PARAMETERS; i++) bytes += gt_nbytes(m->p[i]);
  return bytes;
}

static int same_bits(const model *m, const model *n) {
  int same = 1;
  for (int i = 0; i < PARAMETERS; i++)
    same &= gt_item(gt_all(NULL, gt_eq(NULL, m->p[i], n->p[i]), GT_ALL, 0)) == 1;
  return same;
}

static const char *path_of(int i) {
  static char path[64];
  snprintf(path, sizeof path, "gputensor_model_%s.npy", name_of[i]);
  return path;
}

static void save(const model *m) {
  for (int i = 0; i < PARAMETERS; i++) gt_save_npy(path_of(i), m->p[i]);
}

/* Straight to the device: nothing of it stays on the host. */
static model load(gt_device device) {
  model m;
  for (int i = 0; i < PARAMETERS; i++) m.p[i] = gt_load_npy(path_of(i), device);
  return m;
}

/* ---- the lesson ---- */

static double mib(gt_device device) { return (double)gt_memory_allocated(device) / (1 << 20); }

static void moving(model *m, gt_device device) {
  const double before = mib(device);
  model there = to(m, device);
  printf("moved to %s: the model there takes %.2f MiB more, the one on %s is still there\n",
         gt_device_string(device), mib(device) - before, gt_device_string(device_of(m)));
  if (device.type == GT_CPU) {
    printf("  it was there before, so both are handles on the same memory\n");
    check(gt_data(there.p[W1]) == gt_data(m->p[W1]), "gt_to shares");
  }
  free_model(&there);

  model mine = *m;
  const model half = to_dtype(&mine, GT_FLOAT16); /* a new model: `mine` is as it was */
  printf("as float16 %.2f MiB, and forgot the assignment: m itself is still %s\n",
         (double)bytes_of(&half) / (1 << 20), gt_dtype_string(mine.p[W1]->dtype));
  check(mine.p[W1]->dtype == GT_FLOAT32 && 2 * bytes_of(&half) == bytes_of(m), "half the bytes");
  mine = to_dtype(&mine, GT_FLOAT16);
  printf("m = to_dtype(&m, GT_FLOAT16): now it is %s\n", gt_dtype_string(mine.p[W1]->dtype));
  check(mine.p[W1]->dtype == GT_FLOAT16, "the assignment");
}

static void mixing(const model *m, gt_device device, const gt_tensor *x) {
  if (device.type == GT_CPU) {
    printf("model and data on two devices: there is one device here\n");
    return;
  }
  model half_moved = *m;
  gt_set_error_handler(NULL, NULL); /* this error is looked at here */
  check(forward(m, gt_to(x, device)) == NULL && gt_error() == GT_ERROR_DEVICE, "mixed devices");
  printf("model and data on two devices: %s\n", gt_error_message());
  gt_clear_error();
  gt_set_error_handler(gt_exit_on_error, NULL);
  half_moved.p[W2] = gt_to(m->p[W2], device);
  printf("a model of which one parameter was moved:\n");
  check(device_of(&half_moved).type == GT_NO_DEVICE, "a model on two devices");
}

static void journey(const model *m, gt_device device, const gt_tensor *x) {
  save(m);
  const model loaded = load(device), back = to(&loaded, gt_cpu());
  const gt_tensor *y = forward(m, x), *z = gt_to(forward(&loaded, gt_to(x, device)), gt_cpu());
  const double apart = gt_item(gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a - b)", y, z));
  check(same_bits(m, &back), "the weights have changed");
  printf("saved, loaded to %s and brought back: every bit as before\n",
         gt_device_string(device_of(&loaded)));
  printf("outputs computed on cpu and on %s differ by %.0e at most\n", gt_device_string(device),
         apart);
  check(apart <= (device.type == GT_CPU ? 0 : 1e-4), "the outputs");
  for (int i = 0; i < PARAMETERS; i++) check(remove(path_of(i)) == 0, "the file is not there");

  gt_set_error_handler(NULL, NULL);
  check(load(device).p[W1] == NULL && gt_error() == GT_ERROR_FILE, "a file that is not there");
  printf("files that are not there: %s\n", gt_error_message());
  gt_clear_error();
  gt_set_error_handler(gt_exit_on_error, NULL);
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  gt_device device = gt_best_device();
  if (argc == 3 && strcmp(argv[1], "--device") == 0) device = gt_parse_device(argv[2]);
  GT_SCOPE {
    model m = random_model(gt_cpu());
    gt_tensor *x = gt_randn(GT_SHAPE(SAMPLES, INPUTS), GT_FLOAT32, gt_cpu(), NULL);
    printf("the model is on %s: %d parameters, %.2f MiB\n", gt_device_string(device_of(&m)),
           (int)(bytes_of(&m) / sizeof(float)), (double)bytes_of(&m) / (1 << 20));
    moving(&m, device);
    mixing(&m, device, x);
    journey(&m, device, x);
  }
  return 0;
}
