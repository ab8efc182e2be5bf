/* 10_cpu_vs_gpu.c - the well-known loop "result = result + t1*t2", timed as it should be.

   You learn: to time set-up, upload and computing apart; that a clock stopped without waiting
   measures how fast work is enqueued; to check a time against the bytes that must move; and that
   one expression moves two thirds of the bytes of two operations. Such a loop is bound by the
   memory's bandwidth, the bytes that it can move in a second: a GPU wins by that, not by its
   thousands of arithmetic units (ALUs), most of which wait.

       cc -O2 -march=native -fopenmp -I. examples/10_cpu_vs_gpu.c -lm -lpthread -o cpu_vs_gpu
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/10_cpu_vs_gpu.c \
            gputensor_kernels.cu -o cpu_vs_gpu
       ./cpu_vs_gpu [--device cpu|cuda|cuda:N] [--small]

   A loop of 1000 steps over 100 million numbers was published as 178 s on a CPU and 4.02 s on a
   GTX 1060. The GPU's figure cannot be: a step as two operations reads t1 and t2, writes the
   product, reads it and the result, and writes the result, 2.4 GB together. The memory of that card
   moves 192 GB a second, so 1000 steps take it 12.5 s or more. The program had stopped its clock
   without waiting for the GPU. What the clock did hold is no computing: making 2 x 10^8 random
   numbers on the CPU, which torch.randn(...).cuda() does, then their upload from pageable memory
   and the first use of the GPU; these have lines of their own below.

   The CPU does fewer steps here, and their time is scaled to 1000. It works on a created stream,
   which is a queue as on a GPU, so the false clock can be seen on a laptop, too: it is the column
   "not waited for", the time until the last call has returned, and the GB/s that follow from it.

   Output (times differ; it needs 1.6 GB; with --small, and where the memory is less than 3 GB, as of
   the pretend GPU, a million numbers do):

       set-up, 2 x 10^8 random numbers   0.31 s
       cpu (Intel(R) Xeon(R) Processor)
                             steps    1000 take    GB/s    not waited for      GB/s
         two operations         10      39.16 s      61           0.007 s    367384
         one expression         10      22.84 s      70           0.006 s    285570
         one expression is 1.71 times as fast
       first use of cuda:0               0.18 s
       upload of both tensors            0.06 s
       cuda:0 (NVIDIA H200)
                             steps    1000 take    GB/s    not waited for      GB/s
         two operations       1000       0.56 s    4322           0.272 s      8838
         one expression       1000       0.36 s    4416           0.004 s    389105
         one expression is 1.53 times as fast
         the CPU's result to the last bit, 71 times as fast
       published: 4.02 s on a GTX 1060, that is 597 GB/s; its memory moves 192 GB/s, so two
       operations take it 12.5 s or more: the clock was stopped before the work was done
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 1000, MOST_ON_THE_CPU = 10, SAMPLE = 9973 };
static const double published = 100.0 * 1000 * 1000; /* elements */

typedef struct loop {
  gt_stream *stream;
  gt_tensor *t1, *t2, *product, *result;
} loop;

static void check(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* Seconds. */
static double now(void) { return gt_now_ms() * 1e-3; }

static gt_device choose(int argc, char **argv, int *small) {
  gt_device device = {GT_NO_DEVICE, 0};
  for (int i = 1; i < argc; i++) {
    const char *value = argv[i + 1]; /* NULL after the last one */
    if (strcmp(argv[i], "--small") == 0) *small = 1;
    else if (strcmp(argv[i], "--device") == 0 && value) {
      device = gt_parse_device(value);
      i++;
    } else {
      fprintf(stderr, "usage: %s [--device cpu|cuda|cuda:N] [--small]\n", argv[0]);
      exit(2);
    }
  }
  return device.type == GT_NO_DEVICE ? gt_best_device() : device;
}

/* A step of the first moves six tensors through memory, of the second four. */
static void two_operations(const loop *l) {
  gt_mul(l->product, l->t1, l->t2);
  gt_add(l->result, l->result, l->product);
}
static void one_expression(const loop *l) {
  gt_eval(l->result, "a + b*c", l->result, l->t1, l->t2);
}

/* Seconds until the last call has returned, and until the work is done. gt_benchmark, which waits,
   could not show the first. */
static void run(const loop *l, void (*step)(const loop *), int steps, double *returned,
                double *done) {
  gt_stream_synchronize(l->stream);
  const double start = now();
  GT_WITH_STREAM(l->stream) {
    for (int i = 0; i < steps; i++) step(l);
  }
  *returned = now() - start;
  gt_stream_synchronize(l->stream);
  *done = now() - start;
}

/* Some of the elements, in double precision. A sum of 1000 floats is rounded 1000 times. */
static void check_result(const gt_tensor *result, const float *t1, const float *t2, int steps) {
  const gt_tensor *here = gt_to(result, gt_cpu());
  const float *r = (const float *)gt_data(here);
  for (int64_t i = 0; i < gt_numel(here); i += SAMPLE) {
    const double expected = (double)steps * t1[i] * t2[i];
    check(fabs(r[i] - expected) <= 1e-4 * fabs(expected), "an element of the result");
  }
}

static double variant(const char *name, const loop *l, void (*step)(const loop *), int steps,
                      double tensors) {
  const double scale = (double)STEPS / steps;
  const double bytes = tensors * (double)gt_nbytes(l->result) * STEPS;
  double returned, done;
  gt_fill(l->result, 0);
  run(l, step, steps, &returned, &done);
  printf("  %-16s %8d %10.2f s %7.0f %15.3f s %9.0f\n", name, steps, done * scale,
         bytes / (done * scale) * 1e-9, returned * scale, bytes / (returned * scale) * 1e-9);
  return done * scale;
}

/* Both ways on one device; seconds for 1000 steps as two operations. */
static double both(const loop *l, int steps, const float *t1, const float *t2) {
  const gt_device device = l->t1->device;
  double one, two;
  printf("%s (%s)\n%27s %12s %7s %17s %9s\n", gt_device_string(device), gt_device_name(device),
         "steps", "1000 take", "GB/s", "not waited for", "GB/s");
  two = variant("two operations", l, two_operations, steps, 6);
  check_result(l->result, t1, t2, steps);
  one = variant("one expression", l, one_expression, steps, 4);
  check_result(l->result, t1, t2, steps);
  printf("  one expression is %.2f times as fast\n", two / one);
  return two;
}

static loop loop_of(gt_tensor *t1, gt_tensor *t2) {
  const loop l = {gt_stream_create(t1->device, 0), t1, t2, gt_zeros_like(t1), gt_zeros_like(t1)};
  return l;
}

/* Ten, or as many as take about two seconds; the first one also touches all memory. */
static int steps_on_the_cpu(const loop *l) {
  double returned, done;
  run(l, two_operations, 1, &returned, &done);
  run(l, two_operations, 1, &returned, &done);
  return done * MOST_ON_THE_CPU < 2 ? MOST_ON_THE_CPU : 1 + (int)(2 / done);
}

/* The GPU does the CPU's few steps first: that warms it up, and the results must be equal. */
static void on_the_gpu(gt_device device, const loop *cpu, int steps, double cpu_seconds) {
  double start = now(), returned, done;
  gt_zeros(GT_SHAPE(1), GT_FLOAT32, device);
  gt_synchronize(device);
  printf("first use of %-18s %6.2f s\n", gt_device_string(device), now() - start);
  start = now();
  gt_tensor *t1 = gt_to(cpu->t1, device), *t2 = gt_to(cpu->t2, device);
  gt_synchronize(device);
  printf("upload of both tensors          %6.2f s\n", now() - start);

  const loop l = loop_of(t1, t2);
  run(&l, one_expression, steps, &returned, &done);
  const gt_tensor *same = gt_eq(NULL, gt_to(l.result, gt_cpu()), cpu->result);
  check(gt_item(gt_all(NULL, same, GT_ALL, 0)) == 1, "the devices differ");
  const double seconds =
      both(&l, STEPS, (const float *)gt_data(cpu->t1), (const float *)gt_data(cpu->t2));
  printf("  the CPU's result to the last bit, %.0f times as fast\n", cpu_seconds / seconds);
  gt_stream_free(l.stream);
}

static int is_large(gt_device device) {
  gt_properties p;
  gt_device_properties(device, &p);
  return p.total_memory > (size_t)3 << 30;
}

/* 100 million, as published, where the memory holds them; a million where it does not. */
static gt_shape elements(gt_device device, int small) {
  const int large = !small && is_large(device) && is_large(gt_cpu());
  return large ? GT_SHAPE(100, 1000, 1000) : GT_SHAPE(100, 100, 100);
}

static void compare(gt_device device, int small) {
  const gt_shape shape = elements(device, small);
  const double start = now();
  gt_tensor *t1 = gt_rand(shape, GT_FLOAT32, gt_cpu(), NULL);
  gt_tensor *t2 = gt_rand(shape, GT_FLOAT32, gt_cpu(), NULL);
  printf("set-up, 2 x 10^%d random numbers %6.2f s\n", gt_numel(t1) > 1000000 ? 8 : 6,
         now() - start);

  const loop cpu = loop_of(t1, t2);
  const int steps = steps_on_the_cpu(&cpu);
  const double seconds = both(&cpu, steps, (const float *)gt_data(t1), (const float *)gt_data(t2));
  if (device.type == GT_CUDA) on_the_gpu(device, &cpu, steps, seconds);
  gt_stream_free(cpu.stream);

  const double bytes = 6 * 4 * published * STEPS;
  printf(
      "published: 4.02 s on a GTX 1060, that is %.0f GB/s; its memory moves 192 GB/s, so two\n"
      "operations take it %.1f s or more: the clock was stopped before the work was done\n",
      bytes / 4.02 * 1e-9, bytes / 192e9);
}

int main(int argc, char **argv) {
  gt_set_error_handler(gt_exit_on_error, NULL);
  int small = 0;
  const gt_device device = choose(argc, argv, &small);
  GT_SCOPE { compare(device, small); }
  return 0;
}
