/* with_nccl.c - the same with NCCL, NVIDIA's library for several GPUs: it gets our pointers and our
   streams and adds the gradients up on the GPUs themselves; the host waits for nothing. Here one
   process has all GPUs of a machine. See README.md. */
#define GPUTENSOR_IMPLEMENTATION
#include "train.h"
#include <nccl.h>

enum { MOST = 8 };
typedef struct {
  int size;
  ncclComm_t comm[MOST];
  const char *trace; /* a file, or NULL */
} team;

static void nccl(ncclResult_t result) {
  if (result != ncclSuccess) fprintf(stderr, "NCCL: %s\n", ncclGetErrorString(result));
  check(result == ncclSuccess, "NCCL");
}

/* One operation of each GPU's stream, in the order of the calls before and after it. To the
   library it is a kernel of the program's own, so it has to be said what it writes. */
static void exchange(worker *w, const team *t) {
  gt_range_push("ncclAllReduce");
  nccl(ncclGroupStart());
  for (int i = 0; i < t->size; i++) {
    gt_tensor *flat = w[i].gradient.flat;
    gt_stream_writes(w[i].stream, flat);
    nccl(ncclAllReduce(gt_data(flat), gt_data(flat), (size_t)gt_numel(flat), ncclFloat, ncclSum,
                       t->comm[i], (cudaStream_t)gt_stream_native(w[i].stream)));
  }
  nccl(ncclGroupEnd());
  gt_range_pop();
}

/* An epoch of workers on n GPUs. Where `exchanged` is not NULL, the streams are waited for around
   each exchange, and it gets the time that these took; an epoch takes longer then. */
static double epoch(worker *w, const plan *p, const team *t, int n, int e, double *exchanged) {
  double sum = 0;
  for (int i = 0; i < n; i++) begin_epoch(&w[i], p, e);
  const int64_t samples = w->order->shape[0];
  for (int64_t at = 0; at < samples; at += p->batch) {
    const int64_t batch = at + p->batch < samples ? p->batch : samples - at;
    for (int i = 0; i < n; i++) backward(&w[i], p, at, batch, i, n);
    for (int i = 0; i < n && exchanged; i++) gt_stream_synchronize(w[i].stream);
    const double start = gt_now_ms();
    if (n > 1) exchange(w, t);
    for (int i = 0; i < n && exchanged; i++) gt_stream_synchronize(w[i].stream);
    if (exchanged) *exchanged += gt_now_ms() - start;
    for (int i = 0; i < n; i++) update(&w[i]);
  }
  for (int i = 0; i < n; i++) sum += gt_item(w[i].loss); /* waits */
  return sum / (double)samples;
}

static result train(worker *w, const plan *p, const team *t, int n) {
  result r = {{0}, 1e30, 0};
  for (int e = 0; e < EPOCHS; e++) {
    GT_SCOPED;
    const double start = gt_now_ms();
    r.loss[e] = epoch(w, p, t, n, e, NULL);
    note_time(&r, gt_now_ms() - start, 0);
  }
  return r;
}

/* Are all parameters those of the first GPU, to the last bit? */
static int replicas_are_equal(const worker *w, int n) {
  GT_SCOPED;
  int equal = 1;
  for (int i = 1; i < n; i++) {
    const gt_tensor *same = gt_eq(NULL, gt_to(w[i].p.flat, w[0].device), w[0].p.flat);
    equal &= gt_item(gt_all(NULL, same, GT_ALL, 0)) == 1;
  }
  return equal;
}

static void run(const team *t, const plan *p) {
  GT_SCOPED;
  gt_stream *stream[MOST];
  worker w[MOST], alone;
  for (int i = 0; i < t->size; i++) stream[i] = gt_stream_create(gt_cuda(i), 0);
  alone = worker_on(gt_cuda(0), stream[0], p);
  const result one = train(&alone, p, t, 1);
  for (int i = 0; i < t->size; i++) w[i] = worker_on(gt_cuda(i), stream[i], p);
  result all = train(w, p, t, t->size);
  const int equal = replicas_are_equal(w, t->size);

  /* One more epoch, for its trace and for what exchanges take. */
  double exchanged = 0;
  gt_trace_start(200000);
  const double start = gt_now_ms();
  epoch(w, p, t, t->size, EPOCHS, &exchanged);
  all.share = exchanged / (gt_now_ms() - start);
  gt_trace_stop();
  if (t->trace) gt_trace_save(t->trace);
  compare(p, &one, &all, t->size, equal);
  for (int i = 0; i < t->size; i++) gt_stream_free(stream[i]);
}

int main(int argc, char **argv) {
  gt_properties have;
  team t;
  t.size = gt_cuda_device_count();
  t.trace = argc == 3 && !strcmp(argv[1], "--trace") ? argv[2] : NULL;
  if (argc > 1 && !t.trace) return fprintf(stderr, "usage: %s [--trace FILE]\n", argv[0]), 2;
  gt_set_error_handler(gt_exit_on_error, NULL);
  if (t.size > MOST) t.size = MOST;
  if (!t.size) return printf("skipped: %s\n", gt_cuda_unavailable_reason()), 0;
  printf("%d GPUs (%s), the gradients go to NCCL as they are\n", t.size,
         gt_device_name(gt_cuda(0)));
  nccl(ncclCommInitAll(t.comm, t.size, NULL));
  gt_device_properties(gt_cuda(0), &have);
  const int big = have.total_memory > (size_t)1 << 32;
  const plan small = {128, 1, 64}, large = {big ? 2048 : 512, big ? 128 : 1, big ? 65536 : 599};
  run(&t, &small);
  run(&t, &large);
  for (int i = 0; i < t.size; i++) nccl(ncclCommDestroy(t.comm[i]));
  return 0;
}
