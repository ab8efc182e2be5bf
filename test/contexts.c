/* On a machine with two GPUs: the library opens a context only on the one that is used, and leaves
   the thread's current device and context as they were. */
#include "check.h"

#include <pthread.h>

#if defined(__NVCC__) || defined(GPUTENSOR_CUDA)
#include <cuda_runtime_api.h>

static int (*state_of)(int device, unsigned *flags, int *active);
static int (*current_of)(void **context);
static int find(const char *name, void *function) {
  enum cudaDriverEntryPointQueryResult found;
  void *p = NULL;
  if (cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault, &found) || !p) return 0;
  memcpy(function, &p, sizeof p);
  return 1;
}
static int is_open(int device) {
  unsigned flags;
  int active = -1;
  state_of(device, &flags, &active);
  return active;
}
static int has_context(void) {
  void *context = NULL;
  current_of(&context);
  return context != NULL;
}
/* Something of everything. */
static double use(gt_device device) {
  double result = 0;
  GT_SCOPE {
    gt_stream *s = gt_stream_create(device, 0);
    gt_event *e = gt_event_create();
    gt_tensor *x = NULL, *y = NULL, *big = gt_ones(GT_SHAPE(1 << 20), GT_FLOAT32, gt_cpu());
    gt_tensor *pinned = gt_empty_pinned(GT_SHAPE(64, 64), GT_FLOAT32);
    gt_fill(pinned, 2);
    GT_WITH_STREAM(s) {
      x = gt_matmul(NULL, gt_to(pinned, device), gt_ones(GT_SHAPE(64, 64), GT_FLOAT32, device));
      y = gt_sum(NULL, gt_to(big, device), GT_ALL, 0);
      gt_event_record(e, s);
    }
    gt_event_synchronize(e);
    result = gt_item(gt_max(NULL, x, GT_ALL, 0)) + gt_item(gt_to(y, gt_cpu()));
    gt_memory_reserved(device);
    gt_empty_cache();
    gt_event_free(e);
    gt_stream_free(s);
  }
  return result;
}
static void *use_in_thread(void *at) {
  int device = -1;
  CHECK(!has_context());
  CHECK(use(*(gt_device *)at) == 128 + (1 << 20));
  CHECK(!has_context());
  cudaGetDevice(&device);
  CHECK_INT(device, 0);
  return NULL;
}
static void test_only_what_is_used(void) {
  gt_device one = gt_cuda(1);
  gt_properties p;
  pthread_t thread;
  int device = -1;
  CHECK(!is_open(0) && !is_open(1));
  gt_device_properties(gt_cuda(0), &p);
  gt_device_properties(one, &p);
  gt_memory_reserved(gt_cuda(0));
  CHECK(!is_open(0) && !is_open(1));
  CHECK(use(one) == 128 + (1 << 20));
  CHECK(!is_open(0) && is_open(1));
  CHECK(!has_context());
  pthread_create(&thread, NULL, use_in_thread, &one);
  pthread_join(thread, NULL);
  gt_synchronize(gt_cuda(0)); /* nothing was done there, so nothing to wait for */
  CHECK(!is_open(0));
  CHECK_INT(cudaSetDevice(0), 0); /* the user's own */
  CHECK(is_open(0) && has_context());
  CHECK(use(one) == 128 + (1 << 20));
  cudaGetDevice(&device);
  CHECK_INT(device, 0);
  CHECK_INT(cudaSetDevice(1), 0);
  CHECK(use(gt_cuda(0)) == 128 + (1 << 20));
  cudaGetDevice(&device);
  CHECK_INT(device, 1);
  CHECK_INT(cudaGetLastError(), 0);
}
int main(int argc, char **argv) {
  check_start("contexts", argc, argv);
  if (DEV.type == GT_CUDA && gt_cuda_device_count() > 1 &&
      find("cuDevicePrimaryCtxGetState", &state_of) && find("cuCtxGetCurrent", &current_of))
    RUN(only_what_is_used);
  else skip("contexts", "needs two GPUs and their driver");
  return check_finish();
}
#else
int main(int argc, char **argv) {
  check_start("contexts", argc, argv);
  skip("contexts", "built without CUDA");
  return check_finish();
}
#endif
