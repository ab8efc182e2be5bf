/* 02_devices.c - what is in this machine, and how to choose it.

   You learn: to list the devices, to let the library choose and to see why it chose, that asking
   for a device that is not there is an error and never a silent change of place, and what
   GT_WITH_DEVICE does: it sets what "cuda" means, not where tensors are made.

   A device is what computes and has the memory for it: "cpu", or a GPU, "cuda:0" the first and
   "cuda:1" the second. CUDA is NVIDIA's system for programs on GPUs, nvcc its compiler: a program
   built by cc alone, as in the first line below, knows no GPU, whatever is in the machine. Without
   one "cuda" names nothing, and to ask for it is an error, in a block for a device and outside.

       cc -O2 -march=native -fopenmp -I. examples/02_devices.c -lm -lpthread -o devices
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/02_devices.c gputensor_kernels.cu \
            -o devices

   Output on a machine without a GPU (names and sizes differ):

       cpu     AMD EPYC, 2 cores, 23.5 GiB, avx512
       chosen: cpu, because there is no GPU: built without CUDA: build with nvcc, ...
       asked for cuda:1: gt_parse_device: no GPU: built without CUDA: build with nvcc, ...
       so cpu it is
       "cuda" inside a block for cpu: an error here, too
       a tensor made inside the block on cpu is on cpu
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <stdio.h>
#include <stdlib.h>

static void check(int ok) {
  if (ok) return;
  fprintf(stderr, "%s\n", gt_error() ? gt_error_message() : "a check failed");
  exit(1);
}

static void describe(gt_device device) {
  gt_properties p;
  check(gt_device_properties(device, &p) == GT_OK);
  printf("%-7s %s, %d %s, %.1f GiB, %s\n", gt_device_string(device), p.name, p.multiprocessors,
         device.type == GT_CUDA ? "multiprocessors" : "cores",
         (double)p.total_memory / (1024.0 * 1024 * 1024), p.instructions);
}

/* A device by name if it is there, else the best there is, and a word about it. */
static gt_device choose(const char *name) {
  gt_device device = gt_parse_device(name);
  if (device.type != GT_NO_DEVICE) return device;
  printf("asked for %s: %s\n", name, gt_error_message());
  gt_clear_error(); /* we have dealt with it; the next error shall be seen */
  device = gt_best_device();
  printf("so %s it is\n", gt_device_string(device));
  return device;
}

int main(void) {
  /* Counting and asking are never errors: no driver is a normal state. */
  describe(gt_cpu());
  for (int i = 0; i < gt_cuda_device_count(); i++) describe(gt_cuda(i));

  const gt_device best = gt_best_device();
  if (gt_cuda_is_available()) printf("chosen: %s, the first GPU\n", gt_device_string(best));
  else printf("chosen: %s, because there is no GPU: %s\n", gt_device_string(best),
              gt_cuda_unavailable_reason());

  /* "Is there a GPU?" is not enough to ask before using the second one. */
  const gt_device second = choose("cuda:1");

  GT_WITH_DEVICE(second) {
    gt_device named = gt_parse_device("cuda"); /* the current one, if that is a GPU */
    if (named.type == GT_NO_DEVICE) {
      gt_clear_error();
      named = second;
      printf("\"cuda\" inside a block for %s: an error here, too\n", gt_device_string(second));
    } else {
      printf("\"cuda\" inside a block for %s is %s\n", gt_device_string(second),
             gt_device_string(named));
    }
    check(named.type == second.type && named.index == second.index);

    gt_tensor *x = gt_zeros(GT_SHAPE(2), GT_FLOAT32, gt_cpu()); /* it is made where the call says */
    check(x && x->device.type == GT_CPU);
    printf("a tensor made inside the block on cpu is on %s\n", gt_device_string(x->device));
    gt_free(x);
  }
  check(gt_current_device().type == GT_CPU); /* as before the block */
  return 0;
}
