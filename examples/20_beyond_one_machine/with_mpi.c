/* with_mpi.c - the digits, learnt by several processes, on one machine or on many; each has a
   replica of the network and a share of each batch, and MPI adds the gradients up: see README.md.
 */
#define GPUTENSOR_IMPLEMENTATION
#include "train.h"
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* How the gradients get to MPI: */
typedef enum {
  DIRECT,    /* as they are: memory of the host, or MPI is CUDA-aware and reads the GPU's */
  BY_PINNED, /* copied to pinned memory and back */
} way;
typedef struct {
  int rank, size;
  way way;
  gt_tensor *pinned; /* for BY_PINNED */
  const char *trace; /* a file, or NULL */
} process;

/* MPI waits for nothing of ours: the gradients have to be there before it is called. */
static double exchange(worker *w, const process *me) {
  gt_tensor *flat = w->gradient.flat;
  gt_stream_synchronize(w->stream);
  const double start = gt_now_ms();
  gt_range_push("MPI_Allreduce"); /* in a trace, this is what communication takes */
  if (me->way == BY_PINNED) gt_copy(me->pinned, flat);
  float *at = (float *)gt_data(me->way == BY_PINNED ? me->pinned : flat);
  MPI_Allreduce(MPI_IN_PLACE, at, (int)gt_numel(flat), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (me->way == BY_PINNED) gt_copy(flat, me->pinned); /* returns at once; the stream goes on */
  gt_range_pop();
  return gt_now_ms() - start;
}

/* Alone it is one process, which exchanges nothing. */
static result train(worker *w, const plan *p, const process *me, int alone) {
  const int rank = alone ? 0 : me->rank, size = alone ? 1 : me->size;
  result r = {{0}, 1e30, 0};
  for (int e = 0; e < EPOCHS; e++) {
    GT_SCOPED;
    const int traced = me->trace && !alone && e == EPOCHS - 1;
    if (traced) gt_trace_start(100000);
    const double start = gt_now_ms();
    begin_epoch(w, p, e);
    const int64_t samples = w->order->shape[0];
    double exchanged = 0;
    for (int64_t at = 0; at < samples; at += p->batch) {
      backward(w, p, at, at + p->batch < samples ? p->batch : samples - at, rank, size);
      if (!alone) exchanged += exchange(w, me);
      update(w);
    }
    double sum = gt_item(w->loss); /* waits */
    if (!alone) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    r.loss[e] = sum / (double)samples;
    note_time(&r, gt_now_ms() - start, exchanged);
    if (traced) {
      char path[1024];
      snprintf(path, sizeof path, "%s-%d.json", me->trace, me->rank);
      gt_trace_stop();
      gt_trace_save(path);
    }
  }
  return r;
}

/* Are all processes' parameters those of process 0, to the last bit? */
static int replicas_are_equal(const worker *w) {
  GT_SCOPED;
  const gt_tensor *here = gt_copy(NULL, gt_to(w->p.flat, gt_cpu()));
  gt_tensor *first = gt_copy(NULL, here);
  MPI_Bcast(gt_data(first), (int)gt_numel(first), MPI_FLOAT, 0, MPI_COMM_WORLD);
  int equal = !memcmp(gt_data(first), gt_data(here), gt_nbytes(here));
  MPI_Allreduce(MPI_IN_PLACE, &equal, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return equal;
}

static void run(process *me, gt_device device, const plan *p) {
  GT_SCOPED;
  gt_stream *stream = gt_current_stream(device);
  result one = {{0}, 0, 0};
  if (me->rank == 0) { /* to compare with; the others wait */
    GT_SCOPED;
    worker w = worker_on(device, stream, p);
    one = train(&w, p, me, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  worker w = worker_on(device, stream, p);
  me->pinned = gt_empty_pinned(gt_shape_of(w.gradient.flat), GT_FLOAT32);
  const result all = train(&w, p, me, 0);
  const int equal = replicas_are_equal(&w);
  if (me->rank == 0) compare(p, &one, &all, me->size, equal);
}

/* Can this MPI read and write a GPU's memory? Debian's cannot. */
static int is_cuda_aware(void) {
#if defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support();
#else
  return 0;
#endif
}
/* The GPUs of a machine go to its processes in turn. */
static gt_device device_of(const char *name) {
  int on_this_machine;
  MPI_Comm machine;
  if (strcmp(name, "cuda")) return gt_parse_device(name);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &on_this_machine);
  MPI_Comm_free(&machine);
  return gt_cuda(on_this_machine % (gt_cuda_is_available() ? gt_cuda_device_count() : 1));
}

int main(int argc, char **argv) {
  process me = {0, 1, DIRECT, NULL, NULL};
  const char *name = gt_cuda_is_available() ? "cuda" : "cpu";
  int pinned = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &me.size);
  gt_set_error_handler(gt_exit_on_error, NULL); /* mpirun ends the others, too */
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--pinned")) pinned = 1;
    else if (!strcmp(argv[i], "--device") && i + 1 < argc) name = argv[++i];
    else if (!strcmp(argv[i], "--trace") && i + 1 < argc) me.trace = argv[++i];
    else return fprintf(stderr, "usage: %s [--device D] [--pinned] [--trace FILE]\n", argv[0]), 2;
  }
  const gt_device device = device_of(name);
  if (pinned || (device.type == GT_CUDA && !is_cuda_aware())) me.way = BY_PINNED;
  if (device.type == GT_CPU) gt_set_num_threads(1); /* as many cores as processes */
  printf("process %d of %d: %s (%s), the gradients %s\n", me.rank, me.size,
         gt_device_string(device), gt_device_name(device),
         me.way == DIRECT ? "go to MPI as they are" : "go to MPI by pinned memory");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  gt_properties have;
  gt_device_properties(device, &have);
  const int big = device.type == GT_CUDA && have.total_memory > (size_t)1 << 32;
  const plan small = {128, 1, 64}, large = {big ? 2048 : 512, big ? 128 : 1, big ? 65536 : 599};
  run(&me, device, &small);
  run(&me, device, &large);
  MPI_Finalize();
  return 0;
}
