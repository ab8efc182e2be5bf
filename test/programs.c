/* Streams cannot race: random programs on several streams, devices and threads give the bits that
   the same programs give in order.

   A program is made from its seed alone. Its steps make tensors, views and wraps of parts of their
   memory, compute in place and into other tensors, copy between devices, read and write host memory,
   record and wait for events, create and free streams, call functions in the order of streams, and
   free everything at any time, each step under streams chosen at random. Some record graphs of several steps on several streams, and launch
   them again and again, some trace what they do. The reference is the same list of steps in order,
   on the default CPU stream of one thread, where a launch does a graph's steps again. All values are
   whole numbers that every dtype holds exactly, so bytes are compared: what the host read at each
   step, and all variables at the end.

   Threads: a program is a list of phases. In a phase every variable, storage, stream and event
   belongs to one thread or is shared by all; a thread changes only what is its own, and reads its
   own and the shared ones. A barrier between phases deals them anew, without waiting for any
   device.

     programs [--programs N] [--seed S] [--safety order|report|off] [--careful] [--minutes M]
              [--threads T] [--ballast] [--verbose]

   With one of these options only that run is done. A mismatch prints the seed and the steps of its
   program; `--seed S --programs 1 --verbose` repeats it. --careful waits for every other stream
   before each step. --ballast puts long work into every program. */
#include "check.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#if defined(__GNUC__)
/* The simulated CUDA runtime, if the program is linked with it: mistakes since the last call. */
int sim_violations(char *text, size_t size) __attribute__((weak));
#define VIOLATIONS(text, size) (sim_violations ? sim_violations(text, size) : 0)
#else
#define VIOLATIONS(text, size) 0
#endif

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

enum {
  VARIABLES = 12, STREAMS = 8, EVENTS = 4, DEVICES = 4, THREADS = 3, PHASES = 6, STEPS = 140,
  STORAGES = STEPS, DIMS = 3, OPERANDS = 3,
  GRAPHS = 3, RECORDED = 12, /* RECORDED: most steps of a graph */
  MOST_ELEMENTS = 200000,
  NOBODY = -2, EVERYBODY = -1, /* owners, else a thread */
  NONE = -1                    /* no slot; the default stream */
};

/* ---- programs ---- */
typedef struct step {
  int kind, thread, phase;
  int out, in[OPERANDS], release;      /* slots: of the result, of operands, freed afterwards */
  int place[2], stream[2];             /* devices, and the current streams on them */
  int other_place, other_stream, event; /* what a step about streams is about */
  int graph, recorded;                 /* the graph that it is about; it is part of that */
  int numbers;                         /* operands, a bit each, that a graph takes as constants */
  int except;                          /* the device that its thread records, or NONE */
  unsigned usable;                     /* the streams that its thread may name, a bit each */
  int device;
  gt_dtype dtype;
  gt_shape shape;
  int64_t n[5];
  const char *text;
  void *seen[2];                       /* what the host read in the reference and in the run */
  size_t bytes[2];
} step;
typedef struct program {
  uint64_t seed;
  int threads, phases, devices, steps;
  step step[STEPS];
} program;

/* What the planner knows about a variable. */
typedef struct value {
  int alive, owner, device, storage, ndim, contiguous, expanded;
  gt_dtype dtype;
  int64_t shape[DIMS];
} value;
typedef struct planner {
  uint64_t random;
  program *program;
  int thread, phase, big, ballast;
  int home;                            /* the device of all streams, or NONE */
  int64_t rows, columns;
  value v[VARIABLES];
  /* wild: integers of any size, or floats up to 2^20. All other values are within 1021. tame: and
     must be, since a graph was recorded that counts on it. */
  struct { int owner, wild, tame, pinned; } storage[STORAGES];
  struct { int alive, device, owner; } stream[STREAMS];
  struct { int recorded, owner; } event[EVENTS]; /* recorded: 1, or IN_GRAPH + the graph */
  struct { int alive, owner, device, begun; unsigned char uses[STORAGES]; } graph[GRAPHS];
  int storages;
  int recording;                       /* the graph, or NONE */
  int beside;                          /* the step is on another device, and done at once */
  int refused;                         /* the step would make what is tame wild */
  int traced, ranges[THREADS];         /* 0, ON or STOPPED; open ranges */
} planner;
enum { READS = 1, WRITES = 2, IN_GRAPH = 2, ON = 1, STOPPED = 2 }; /* the first two: a graph's uses */

/* Where a program runs: really, or (reference) on the default CPU stream. */
typedef struct machine {
  int real, careful;
  gt_safety safety;
  const program *program;
  gt_device device[DEVICES];
  gt_tensor *v[VARIABLES];
  gt_stream *stream[STREAMS], *usual[THREADS][DEVICES]; /* usual: the default streams */
  gt_event *event[EVENTS];
  gt_graph *graph[GRAPHS];
  gt_stream *begun[GRAPHS]; /* where a graph's recording began: all of it, of a careful program */
  /* In the reference: what a graph's steps work on, whatever became of the variables. */
  struct bound {
    struct step *step;
    gt_tensor *in[OPERANDS], *out;
  } bound[GRAPHS][RECORDED];
  int bounds[GRAPHS];
  int traced, ranges[THREADS]; /* ranges: open ones */
  int errors[THREADS];
  char error[THREADS][300]; /* the first one */
  void *last[VARIABLES];    /* contents at the end */
  size_t last_bytes[VARIABLES];
} machine;

static int cuda_devices;               /* in use by the tests, at most DEVICES - 1 */
static gt_tensor *ballast_of[DEVICES]; /* long work reads these */
static int64_t most_threads = THREADS;
static int always_ballast, verbose;

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int64_t below(planner *p, int64_t n) {
  return (int64_t)(next_random(&p->random) % (uint64_t)n);
}
static int one_in(planner *p, int64_t n) { return below(p, n) == 0; }

/* ---- choosing operands ---- */
enum {
  WRITTEN = 1, CONTIGUOUS = 2, ON_HOST = 4, SMALL = 8, INTEGER = 16, WIDE = 32, OWN = 64,
  SINGLE = 128, FLAT = 256, MATRIX = 512,
  NUMBER = 1024, BOTH = 2048 /* of a graph's steps: a constant will do; and the CPU's tensors */
};

static int is_mine(const planner *p, int owner) { return owner == p->thread; }
static int is_open(const planner *p, int owner) { return owner == p->thread || owner == EVERYBODY; }
static int64_t count_of(const value *v) {
  int64_t n = 1;
  int d;
  for (d = 0; d < v->ndim; d++) n *= v->shape[d];
  return n;
}
/* While a graph is recorded: its steps keep to its device, and leave alone the numbers that stand in
   maps, which the host reads; those beside it keep away from both. */
static int fits_graph(const planner *p, const value *v, int need) {
  const int uses = p->graph[p->recording].uses[v->storage], device = p->graph[p->recording].device;
  if (p->beside) return v->device != device && !uses;
  if (v->device == 0 && v->ndim == 0) return (need & NUMBER) && !(uses & WRITES);
  return v->device == device || ((need & BOTH) && v->device == 0);
}
static int fits(const planner *p, int slot, int need) {
  const value *v = &p->v[slot];
  if (!v->alive || !is_open(p, v->owner)) return 0;
  if (p->recording != NONE && !fits_graph(p, v, need)) return 0;
  if ((need & OWN) && !is_mine(p, v->owner)) return 0;
  if ((need & WRITTEN) && (!is_mine(p, p->storage[v->storage].owner) || v->expanded)) return 0;
  if ((need & CONTIGUOUS) && !v->contiguous) return 0;
  if ((need & ON_HOST) && v->device != 0) return 0;
  if ((need & SMALL) && p->storage[v->storage].wild) return 0;
  if ((need & INTEGER) && (v->dtype == GT_FLOAT32 || v->dtype == GT_UINT8)) return 0;
  if ((need & SINGLE) && count_of(v) != 1) return 0;
  if ((need & FLAT) && v->ndim != 1) return 0;
  if ((need & MATRIX) && v->ndim != 2) return 0;
  if ((need & WIDE) && v->ndim == 0) return 0;
  return 1;
}
static int pick(planner *p, int need) {
  const int start = (int)below(p, VARIABLES);
  int i;
  for (i = 0; i < VARIABLES; i++)
    if (fits(p, (start + i) % VARIABLES, need)) return (start + i) % VARIABLES;
  return NONE;
}
/* Does b broadcast to a's shape? */
static int broadcasts(const value *b, const value *a) {
  int d;
  if (b->ndim > a->ndim) return 0;
  for (d = 1; d <= b->ndim; d++)
    if (b->shape[b->ndim - d] != 1 && b->shape[b->ndim - d] != a->shape[a->ndim - d]) return 0;
  return 1;
}
static int is_wild(const planner *p, int slot) {
  return slot != NONE && p->storage[p->v[slot].storage].wild;
}
/* A second operand for a map over slot `first`: same device, and promotion does no harm. With
   `kept`, the result has the first one's kind of dtype. */
static int pick_partner(planner *p, int first, int kept) {
  const value *a = &p->v[first], *b;
  const int start = (int)below(p, VARIABLES);
  int i;
  for (i = 0; i < VARIABLES; i++) {
    const int slot = (start + i) % VARIABLES;
    b = &p->v[slot];
    if (!fits(p, slot, NUMBER) || !broadcasts(b, a)) continue;
    if (b->device != a->device && (b->device != 0 || b->ndim > 0)) continue;
    if (b->dtype != a->dtype && (is_wild(p, slot) || is_wild(p, first))) continue;
    if (kept && b->dtype == GT_FLOAT32 && a->dtype != GT_FLOAT32) continue;
    return slot;
  }
  return NONE;
}
/* A slot for the result: an empty one, or one whose tensor is given up. */
static int find_room(planner *p, step *s) {
  const int start = (int)below(p, VARIABLES);
  int i;
  for (i = 0; i < 2 * VARIABLES; i++) {
    const int slot = (start + i) % VARIABLES;
    if (!is_mine(p, p->v[slot].owner) || (i < VARIABLES && p->v[slot].alive)) continue;
    s->out = slot;
    return 1;
  }
  return 0;
}
static int pick_stream(planner *p, int device) {
  int i, n = 0, found[STREAMS];
  for (i = 0; i < STREAMS; i++)
    if (p->stream[i].alive && p->stream[i].device == device && is_open(p, p->stream[i].owner))
      found[n++] = i;
  i = (int)below(p, n + 1);
  return i == n ? NONE : found[i];
}
static void choose_streams(planner *p, step *s, int first, int second) {
  s->place[0] = first;
  s->stream[0] = pick_stream(p, first);
  s->place[1] = second;
  s->stream[1] = pick_stream(p, second);
}
/* The work is on `first`; the other current stream has nothing to do with it, mostly. */
static void choose_stream(planner *p, step *s, int first) {
  choose_streams(p, s, first, (int)below(p, p->program->devices));
}

/* ---- results ---- */
static void put(planner *p, const step *s, const value *v) {
  p->v[s->out] = *v;
  p->v[s->out].alive = 1;
  p->v[s->out].owner = p->thread;
}
/* A result in storage of its own. */
static void put_fresh(planner *p, const step *s, const value *v, int wild) {
  value fresh = *v;
  fresh.contiguous = 1;
  fresh.expanded = 0;
  fresh.storage = p->storages++;
  p->storage[fresh.storage].owner = p->thread;
  p->storage[fresh.storage].wild = wild;
  put(p, s, &fresh);
}
static void spread_wild(planner *p, int slot, int wild) {
  const int storage = p->v[slot].storage;
  p->storage[storage].wild |= wild;
  p->refused |= wild && p->storage[storage].tame;
}
/* Any device; of a graph's steps, the graph's; of those beside it, another. */
static int any_device(planner *p) {
  const int n = p->program->devices;
  if (p->recording == NONE) return (int)below(p, n);
  if (!p->beside) return p->graph[p->recording].device;
  return (p->graph[p->recording].device + 1 + (int)below(p, n - 1)) % n;
}
static gt_shape shape_of(const value *v) {
  gt_shape shape = GT_SHAPE_0D;
  int d;
  shape.ndim = v->ndim;
  for (d = 0; d < v->ndim; d++) shape.size[d] = v->shape[d];
  return shape;
}

/* ---- doing ---- */
static gt_tensor *operand(const machine *m, const step *s, int k) {
  return s->in[k] == NONE ? NULL : m->v[s->in[k]];
}
static gt_device device_of(const machine *m, const step *s) { return m->device[s->device]; }
static gt_stream *stream_at(const machine *m, int stream, int device) {
  return stream == NONE ? gt_current_stream(m->device[device]) : m->stream[stream];
}
static void set_result(machine *m, const step *s, gt_tensor *x) {
  gt_free(m->v[s->out]);
  m->v[s->out] = x;
}
static void synchronize_but(const machine *m, int except) {
  int d;
  for (d = 0; d < m->program->devices; d++)
    if (d != except) gt_synchronize(m->device[d]);
}
static void synchronize_all(const machine *m) { synchronize_but(m, NONE); }
static int is_same(gt_device a, gt_device b) { return a.type == b.type && a.index == b.index; }
/* Inside a step of a careful program, before the host touches what the step has just made. */
static void settle(const machine *m, const step *s) {
  if (m->careful && !s->recorded) synchronize_but(m, s->except);
}
/* Room for what the host reads at this step. */
static void *see(const machine *m, step *s, size_t bytes) {
  s->bytes[m->real] = bytes;
  s->seen[m->real] = calloc(bytes ? bytes : 1, 1);
  return s->seen[m->real];
}
/* first, first + step, ... modulo 1021; uint8 wraps */
static void fill_pattern(void *p, gt_dtype dtype, int64_t n, int64_t first, int64_t step) {
  int64_t i, v = first % 1021;
  if (!p) return;
  for (i = 0; i < n; i++) {
    store_int(dtype, p, i, dtype == GT_UINT8 ? v & 255 : v);
    v = (v + step) % 1021;
  }
}
static gt_tensor *eval_2(gt_tensor *out, const char *text, gt_tensor *a, gt_tensor *b) {
  return b ? gt_eval(out, text, a, b) : gt_eval(out, text, a);
}

/* ---- making ---- */
static int plan_making(planner *p, step *s, int device, int most_dims) {
  static const gt_dtype dtypes[] = {GT_INT32, GT_INT32, GT_FLOAT32, GT_FLOAT32, GT_INT64, GT_UINT8};
  const int big = p->big && one_in(p, 4);
  const int64_t rows = big ? 250 : p->rows, columns = big ? 400 : p->columns;
  value v;
  if (!find_room(p, s)) return 0;
  memset(&v, 0, sizeof v);
  v.dtype = dtypes[below(p, 6)];
  v.device = device;
  v.ndim = 1;
  switch (most_dims == 1 ? below(p, 2) : below(p, 6)) {
    case 0: v.shape[0] = columns; break;
    case 1: v.shape[0] = rows * columns; break;
    case 2: v.ndim = 2, v.shape[0] = columns, v.shape[1] = rows; break;
    case 3: v.ndim = one_in(p, 4) ? 0 : 1, v.shape[0] = rows; break;
    default: v.ndim = 2, v.shape[0] = rows, v.shape[1] = columns; break;
  }
  s->device = device;
  s->dtype = v.dtype;
  s->shape = shape_of(&v);
  s->n[0] = below(p, 200);
  s->n[1] = 1 + below(p, 50);
  choose_stream(p, s, device);
  put_fresh(p, s, &v, 0);
  return 1;
}
static int plan_anywhere(planner *p, step *s) { return plan_making(p, s, any_device(p), DIMS); }
static int plan_on_host(planner *p, step *s) { return plan_making(p, s, 0, DIMS); }
static int plan_pinned(planner *p, step *s) {
  if (!plan_on_host(p, s)) return 0;
  p->storage[p->v[s->out].storage].pinned = 1;
  return 1;
}

static void do_full(machine *m, step *s) {
  set_result(m, s, gt_full(s->shape, (double)s->n[0], s->dtype, device_of(m, s)));
}
static int plan_arange(planner *p, step *s) {
  if (!plan_making(p, s, any_device(p), 1)) return 0;
  spread_wild(p, s->out, s->shape.size[0] > 800);
  return 1;
}
static void do_arange(machine *m, step *s) {
  const double start = (double)s->n[0], end = start + (double)s->shape.size[0];
  set_result(m, s, gt_arange(start, end, 1, s->dtype, device_of(m, s)));
}
static void do_randint(machine *m, step *s) {
  gt_generator generator = {0, 0};
  generator.seed = (uint64_t)s->n[0];
  set_result(m, s, gt_randint(0, 200 + s->n[1], s->shape, s->dtype, device_of(m, s), &generator));
}
static void do_empty(machine *m, step *s) {
  gt_tensor *x = gt_empty(s->shape, s->dtype, device_of(m, s));
  gt_fill(x, (double)s->n[0]);
  set_result(m, s, x);
}
/* The source may be overwritten as soon as the call returns. */
static void do_array(machine *m, step *s) {
  int64_t count = 1;
  size_t bytes;
  void *source;
  int d;
  for (d = 0; d < s->shape.ndim; d++) count *= s->shape.size[d];
  bytes = (size_t)count * gt_dtype_size(s->dtype);
  source = malloc(bytes);
  fill_pattern(source, s->dtype, count, s->n[0], s->n[1]);
  set_result(m, s, gt_from_array(source, s->shape, s->dtype, device_of(m, s)));
  memset(source, 0xEE, bytes);
  free(source);
}
static void do_pinned(machine *m, step *s) {
  gt_tensor *x = m->real ? gt_empty_pinned(s->shape, s->dtype)
                         : gt_empty(s->shape, s->dtype, gt_cpu());
  fill_pattern(gt_data(x), s->dtype, gt_numel(x), s->n[0], s->n[1]);
  set_result(m, s, x);
}
/* The deleter spoils the memory: no work may be left then. */
static void spoil_and_free(void *data, void *context) {
  memset(data, 0xEE, (size_t)(intptr_t)context);
  free(data);
}
static void do_wrap(machine *m, step *s) {
  int64_t count = 1;
  size_t bytes;
  void *data;
  gt_tensor *x;
  int d;
  for (d = 0; d < s->shape.ndim; d++) count *= s->shape.size[d];
  bytes = (size_t)count * gt_dtype_size(s->dtype);
  data = malloc(bytes);
  fill_pattern(data, s->dtype, count, s->n[0], s->n[1]);
  x = gt_from_ptr(data, s->shape, s->dtype, gt_cpu(), spoil_and_free, (void *)(intptr_t)bytes);
  if (!x) free(data);
  set_result(m, s, x);
}

/* ---- views ---- */
static int plan_view(planner *p, step *s, int need, value *v) {
  s->in[0] = pick(p, need);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  *v = p->v[s->in[0]];
  choose_stream(p, s, v->device);
  return 1;
}
static int plan_slice(planner *p, step *s) {
  value v;
  int64_t size, d;
  if (!plan_view(p, s, WIDE, &v)) return 0;
  d = below(p, v.ndim);
  size = v.shape[d];
  s->n[0] = d;
  s->n[1] = below(p, size);
  s->n[2] = s->n[1] + 1 + below(p, size - s->n[1]);
  s->n[3] = 1 + (one_in(p, 3) ? below(p, 3) : 0);
  v.shape[d] = (s->n[2] - s->n[1] + s->n[3] - 1) / s->n[3];
  s->n[4] = one_in(p, 5); /* backwards */
  v.contiguous = v.contiguous && d == 0 && s->n[3] == 1 && !s->n[4];
  put(p, s, &v);
  return 1;
}
static void do_slice(machine *m, step *s) {
  const int64_t hop = s->n[3], last = s->n[1] + (s->n[2] - s->n[1] - 1) / hop * hop;
  const gt_tensor *x = operand(m, s, 0);
  if (!s->n[4]) set_result(m, s, gt_slice(x, (int)s->n[0], s->n[1], s->n[2], hop));
  else set_result(m, s, gt_slice(x, (int)s->n[0], last, s->n[1] ? s->n[1] - 1 : INT64_MIN, -hop));
}
static int plan_transpose(planner *p, step *s) {
  value v;
  int64_t size;
  if (!plan_view(p, s, WIDE, &v) || v.ndim < 2) return 0;
  s->n[0] = below(p, v.ndim);
  s->n[1] = below(p, v.ndim);
  size = v.shape[s->n[0]];
  v.shape[s->n[0]] = v.shape[s->n[1]];
  v.shape[s->n[1]] = size;
  v.contiguous = v.contiguous && s->n[0] == s->n[1];
  put(p, s, &v);
  return 1;
}
static void do_transpose(machine *m, step *s) {
  set_result(m, s, gt_transpose(operand(m, s, 0), (int)s->n[0], (int)s->n[1]));
}
static int plan_select(planner *p, step *s) {
  value v;
  int d;
  if (!plan_view(p, s, WIDE, &v)) return 0;
  s->n[0] = below(p, v.ndim);
  s->n[1] = below(p, v.shape[s->n[0]]);
  v.contiguous = v.contiguous && s->n[0] == 0;
  v.ndim--;
  for (d = (int)s->n[0]; d < v.ndim; d++) v.shape[d] = v.shape[d + 1];
  put(p, s, &v);
  return 1;
}
static void do_select(machine *m, step *s) {
  set_result(m, s, gt_select(operand(m, s, 0), (int)s->n[0], s->n[1]));
}
static int plan_expand(planner *p, step *s) {
  value v;
  int d;
  if (!plan_view(p, s, 0, &v) || v.ndim == DIMS) return 0;
  for (d = v.ndim; d > 0; d--) v.shape[d] = v.shape[d - 1];
  v.ndim++;
  v.shape[0] = 1 + below(p, 5);
  if (count_of(&v) > MOST_ELEMENTS) return 0;
  if (v.shape[0] > 1) v.expanded = 1, v.contiguous = 0;
  s->shape = shape_of(&v);
  put(p, s, &v);
  return 1;
}
static void do_expand(machine *m, step *s) {
  set_result(m, s, gt_expand(operand(m, s, 0), s->shape));
}
static int plan_reshape(planner *p, step *s) {
  value v;
  int64_t count;
  if (!plan_view(p, s, CONTIGUOUS, &v)) return 0;
  count = count_of(&v);
  v.ndim = 1;
  v.shape[0] = count;
  if (count % p->columns == 0 && !one_in(p, 3)) {
    v.ndim = 2;
    v.shape[0] = count / p->columns;
    v.shape[1] = p->columns;
  }
  s->shape = shape_of(&v);
  put(p, s, &v);
  return 1;
}
static void do_reshape(machine *m, step *s) {
  set_result(m, s, gt_reshape(operand(m, s, 0), s->shape));
}
/* A part of the memory of a tensor, wrapped again: another storage, on which the same order holds. It
   keeps the memory by a handle of its own. gt_data counts as writing, so the memory is the thread's. */
static int plan_alias(planner *p, step *s) {
  value v;
  int64_t count;
  if (!plan_view(p, s, CONTIGUOUS | WRITTEN, &v)) return 0;
  count = count_of(&v);
  s->n[0] = below(p, count);
  s->n[1] = 1 + below(p, count - s->n[0]);
  s->n[2] = (int64_t)gt_dtype_size(v.dtype);
  v.ndim = 1;
  v.shape[0] = s->n[1];
  if (s->n[1] % p->columns == 0 && one_in(p, 2)) {
    v.ndim = 2;
    v.shape[0] = s->n[1] / p->columns;
    v.shape[1] = p->columns;
  }
  s->shape = shape_of(&v);
  put(p, s, &v);
  return 1;
}
static void free_owner(void *data, void *context) {
  (void)data;
  gt_free((gt_tensor *)context);
}
static void do_alias(machine *m, step *s) {
  gt_tensor *x = operand(m, s, 0), *owner = gt_retain(x), *alias = NULL;
  char *data = (char *)gt_data(x);
  if (data)
    alias = gt_from_ptr(data + s->n[0] * s->n[2], s->shape, x->dtype, x->device, free_owner, owner);
  if (!alias) gt_free(owner);
  set_result(m, s, alias);
}
static int plan_retain(planner *p, step *s) {
  value v;
  if (!plan_view(p, s, 0, &v)) return 0;
  put(p, s, &v);
  return 1;
}
static void do_retain(machine *m, step *s) { set_result(m, s, gt_retain(operand(m, s, 0))); }

/* ---- maps ---- */
/* The first three of each keep values within 1021; the rest wrap, and are for integers. */
static const char *const texts_1[] = {"(a*3 + 1) % 1021", "(a + 77) % 509", "a % 97",
                                      "a*1103515245 + 12345", "a*a + 7", "a - 1000003"};
static const char *const texts_2[] = {"(a*3 + b) % 1021", "(a + b*7 + 1) % 1019",
                                      "(a < b ? a + 1 : b) % 769", "a*b + a", "a*31 + b", "a - b"};
static int choose_text(planner *p, step *s, int integer, int two) { /* is the result wild? */
  const int64_t i = below(p, integer ? 6 : 3);
  s->text = two ? texts_2[i] : texts_1[i];
  return i >= 3;
}
/* Promotion as the library does it: beside dims, a 0-d operand counts only if it alone is floating.
   b never has more dims than a. */
static gt_dtype dtype_with(const value *a, const value *b) {
  const int same_level = (a->ndim == 0) == (b->ndim == 0);
  return same_level || b->dtype == GT_FLOAT32 ? gt_promote_types(a->dtype, b->dtype) : a->dtype;
}
/* a new tensor from one or two */
static int plan_map(planner *p, step *s) {
  value v;
  int wild, integer;
  s->in[0] = pick(p, 0);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  if (!one_in(p, 3)) s->in[1] = pick_partner(p, s->in[0], 0);
  v = p->v[s->in[0]];
  if (s->in[1] != NONE) v.dtype = dtype_with(&v, &p->v[s->in[1]]);
  integer = v.dtype != GT_FLOAT32;
  wild = choose_text(p, s, integer, s->in[1] != NONE);
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, wild);
  return 1;
}
static void do_map(machine *m, step *s) {
  set_result(m, s, eval_2(NULL, s->text, operand(m, s, 0), operand(m, s, 1)));
}
/* over its first operand */
static int plan_in_place(planner *p, step *s) {
  const value *v;
  s->in[0] = pick(p, WRITTEN);
  if (s->in[0] == NONE) return 0;
  v = &p->v[s->in[0]];
  if (!one_in(p, 3)) s->in[1] = pick_partner(p, s->in[0], 1);
  spread_wild(p, s->in[0], choose_text(p, s, v->dtype != GT_FLOAT32, s->in[1] != NONE));
  choose_stream(p, s, v->device);
  return 1;
}
static void do_in_place(machine *m, step *s) {
  eval_2(operand(m, s, 0), s->text, operand(m, s, 0), operand(m, s, 1));
}
/* Another variable of the same shape, on the same device, of the same kind of dtype. */
static int pick_alike(planner *p, int slot) {
  const value *to = &p->v[slot], *from;
  const int start = (int)below(p, VARIABLES);
  int i;
  for (i = 0; i < VARIABLES; i++) {
    const int at = (start + i) % VARIABLES;
    from = &p->v[at];
    if (at == slot || !fits(p, at, 0) || from->device != to->device) continue;
    if ((to->dtype == GT_FLOAT32) != (from->dtype == GT_FLOAT32)) continue;
    if (to->ndim == from->ndim && broadcasts(from, to) && broadcasts(to, from)) return at;
  }
  return NONE;
}
/* Into a given tensor: in[0] = f(in[1], in[2]). */
static int plan_into(planner *p, step *s) {
  const value *to;
  s->in[0] = pick(p, WRITTEN);
  if (s->in[0] == NONE) return 0;
  to = &p->v[s->in[0]];
  s->in[1] = pick_alike(p, s->in[0]);
  if (s->in[1] == NONE) return 0;
  if (!one_in(p, 3)) s->in[2] = pick_partner(p, s->in[1], 1);
  spread_wild(p, s->in[0], choose_text(p, s, to->dtype != GT_FLOAT32, s->in[2] != NONE));
  choose_stream(p, s, to->device);
  return 1;
}
static void do_into(machine *m, step *s) {
  eval_2(operand(m, s, 0), s->text, operand(m, s, 1), operand(m, s, 2));
}
/* One operation of the table. n[0] names it, n[1] asks for the place of the first operand. */
static int plan_function(planner *p, step *s) {
  value v;
  int wild;
  s->n[1] = one_in(p, 2);
  s->in[0] = pick(p, s->n[1] ? WRITTEN : 0);
  if (s->in[0] == NONE) return 0;
  s->in[1] = pick_partner(p, s->in[0], 1);
  if (s->in[1] == NONE || (!s->n[1] && !find_room(p, s))) return 0;
  v = p->v[s->in[0]];
  v.dtype = dtype_with(&v, &p->v[s->in[1]]);
  s->n[0] = below(p, v.dtype == GT_FLOAT32 ? 2 : 5);
  wild = s->n[0] >= 2 || is_wild(p, s->in[0]) || is_wild(p, s->in[1]);
  if (s->n[1]) spread_wild(p, s->in[0], wild);
  else put_fresh(p, s, &v, wild);
  choose_stream(p, s, v.device);
  return 1;
}
static void do_function(machine *m, step *s) {
  static gt_tensor *(*const f[])(gt_tensor *, const gt_tensor *, const gt_tensor *) = {
      gt_maximum, gt_minimum, gt_add, gt_sub, gt_mul};
  gt_tensor *a = operand(m, s, 0), *b = operand(m, s, 1);
  if (s->n[1]) f[s->n[0]](a, a, b);
  else set_result(m, s, f[s->n[0]](NULL, a, b));
}
static int plan_convert(planner *p, step *s) {
  static const gt_dtype dtypes[] = {GT_INT32, GT_INT64, GT_FLOAT32};
  value v;
  s->dtype = dtypes[below(p, 3)];
  s->in[0] = pick(p, s->dtype == GT_FLOAT32 ? SMALL : 0);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  v = p->v[s->in[0]];
  choose_stream(p, s, v.device);
  if (v.dtype == s->dtype) { /* the same elements */
    put(p, s, &v);
    return 1;
  }
  v.dtype = s->dtype;
  put_fresh(p, s, &v, is_wild(p, s->in[0]));
  return 1;
}
static void do_convert(machine *m, step *s) {
  set_result(m, s, gt_to_dtype(operand(m, s, 0), s->dtype));
}
/* Temporaries that a scope frees while work on them is pending. */
static int plan_scope(planner *p, step *s) {
  value v;
  s->in[0] = pick(p, 0);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  v = p->v[s->in[0]];
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, 0);
  return 1;
}
static void do_scope(machine *m, step *s) {
  gt_tensor *y = NULL;
  GT_SCOPE {
    gt_tensor *half = gt_eval(NULL, "a % 499", operand(m, s, 0));
    gt_tensor *twice;
    settle(m, s); /* numbers are read by the host */
    twice = gt_eval(NULL, "a + b", half, half);
    settle(m, s);
    y = gt_keep(gt_eval(NULL, "(a*3 + b) % 1021", twice, half));
  }
  set_result(m, s, y);
}

/* ---- reductions, products, gathering ---- */
static int plan_reduce(planner *p, step *s) {
  value v;
  int64_t folded;
  int d, wild = 0;
  s->in[0] = pick(p, 0);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  v = p->v[s->in[0]];
  s->n[0] = below(p, 4); /* max, min, argmax, sum */
  s->n[1] = v.ndim == 0 || one_in(p, 2) ? NONE : below(p, v.ndim);
  s->n[2] = one_in(p, 3); /* keepdim */
  folded = s->n[1] == NONE ? count_of(&v) : v.shape[s->n[1]];
  if (s->n[0] < 2) wild = is_wild(p, s->in[0]);
  else wild = s->n[0] == 3 || folded > 1000;
  if (s->n[0] == 3 && v.dtype == GT_FLOAT32 && (folded > 1000 || is_wild(p, s->in[0]))) return 0;
  if (s->n[0] == 2 || (s->n[0] == 3 && v.dtype != GT_FLOAT32)) v.dtype = GT_INT64;
  for (d = 0; d < v.ndim; d++)
    if (s->n[1] == NONE || s->n[1] == d) v.shape[d] = 1;
  if (!s->n[2] && s->n[1] == NONE) v.ndim = 0;
  if (!s->n[2] && s->n[1] != NONE) {
    v.ndim--;
    for (d = (int)s->n[1]; d < v.ndim; d++) v.shape[d] = v.shape[d + 1];
  }
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, wild);
  return 1;
}
static void do_reduce(machine *m, step *s) {
  static const gt_reduction reductions[] = {GT_MAX, GT_MIN, GT_ARGMAX, GT_SUM};
  const uint32_t dims = s->n[1] == NONE ? GT_ALL : GT_DIM(s->n[1]);
  set_result(m, s, gt_reduce(NULL, reductions[s->n[0]], dims, (int)s->n[2], "a", operand(m, s, 0)));
}
/* The largest, the smallest or the sum so far, along a dim. */
static int plan_scan(planner *p, step *s) {
  value v;
  s->in[0] = pick(p, 0);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  v = p->v[s->in[0]];
  if (!v.ndim) return 0;
  s->n[0] = below(p, 3);
  s->n[1] = below(p, v.ndim);
  if (s->n[0] == 2 && v.dtype != GT_FLOAT32) v.dtype = GT_INT64;
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, s->n[0] == 2 || is_wild(p, s->in[0]));
  return 1;
}
static void do_scan(machine *m, step *s) {
  static const gt_reduction reductions[] = {GT_MAX, GT_MIN, GT_SUM};
  set_result(m, s, gt_scan(NULL, reductions[s->n[0]], (int)s->n[1], "a", operand(m, s, 0)));
}
/* The first ones along a dim: what they are, or where. */
static int plan_topk(planner *p, step *s) {
  value v;
  s->in[0] = pick(p, 0);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  v = p->v[s->in[0]];
  if (!v.ndim) return 0;
  s->n[0] = below(p, v.ndim);
  s->n[1] = 1 + below(p, v.shape[s->n[0]]);
  s->n[2] = one_in(p, 2); /* where */
  const int wild = s->n[2] ? v.shape[s->n[0]] > 1000 : is_wild(p, s->in[0]);
  if (s->n[2]) v.dtype = GT_INT64;
  v.shape[s->n[0]] = s->n[1];
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, wild);
  return 1;
}
static void do_topk(machine *m, step *s) {
  gt_tensor *y = NULL, **values = s->n[2] ? NULL : &y, **indices = s->n[2] ? &y : NULL;
  gt_topk(values, indices, operand(m, s, 0), s->n[1], (int)s->n[0], s->n[1] & 1);
  set_result(m, s, y);
}
/* x times its own transpose, or times another matrix that fits. Sums stay below 2^24. */
static int plan_matmul(planner *p, step *s) {
  const value *a, *b = NULL;
  value v;
  int i;
  s->in[0] = pick(p, MATRIX | SMALL);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  a = &p->v[s->in[0]];
  if (a->dtype == GT_UINT8 || a->shape[1] > 15) return 0;
  for (i = 0; i < VARIABLES; i++) {
    if (!fits(p, i, MATRIX | SMALL) || p->v[i].shape[0] != a->shape[1]) continue;
    if (p->v[i].dtype == a->dtype && p->v[i].device == a->device) s->in[1] = i;
  }
  v = *a;
  v.shape[1] = a->shape[0];
  if (s->in[1] != NONE) b = &p->v[s->in[1]];
  if (b) v.shape[1] = b->shape[1];
  if (count_of(&v) > 4000) return 0;
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, 0);
  return 1;
}
static void do_matmul(machine *m, step *s) {
  gt_tensor *a = operand(m, s, 0), *transposed = NULL, *b = operand(m, s, 1);
  if (!b) b = transposed = gt_transpose(a, 0, 1);
  set_result(m, s, gt_matmul_eval(NULL, a, b, "a % 1021"));
  gt_free(transposed);
}
/* Has an index the shape that gt_gather wants? */
static int gathers(const value *index, const value *x, int64_t dim) {
  if (index->ndim != x->ndim) return 0;
  for (int d = 0; d < x->ndim; d++)
    if (d != dim && index->shape[d] > x->shape[d]) return 0;
  return 1;
}
/* The index is a variable, brought into range: gt_gather's, if it fits, or else gt_index_select's. */
static int plan_index_select(planner *p, step *s) {
  const value *index;
  value v;
  s->in[0] = pick(p, WIDE);
  s->in[1] = pick(p, INTEGER);
  if (s->in[0] == NONE || s->in[1] == NONE || !find_room(p, s)) return 0;
  index = &p->v[s->in[1]];
  v = p->v[s->in[0]];
  if (index->device != v.device) return 0;
  s->n[0] = below(p, v.ndim);
  s->n[1] = v.shape[s->n[0]];
  s->n[2] = gathers(index, &v, s->n[0]);
  const int behind = s->n[2] ? 0 : v.ndim - 1 - (int)s->n[0], at = s->n[2] ? 0 : (int)s->n[0];
  if (at + index->ndim + behind > DIMS) return 0;
  memmove(v.shape + at + index->ndim, v.shape + at + 1, (size_t)behind * sizeof *v.shape);
  memcpy(v.shape + at, index->shape, (size_t)index->ndim * sizeof *v.shape);
  v.ndim = at + index->ndim + behind;
  if (count_of(&v) > MOST_ELEMENTS) return 0;
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, is_wild(p, s->in[0]));
  return 1;
}
static void do_index_select(machine *m, step *s) {
  char text[40];
  gt_tensor *index;
  snprintf(text, sizeof text, "a %% %" PRId64, s->n[1]);
  index = gt_eval(NULL, text, operand(m, s, 1));
  settle(m, s); /* on the CPU the host reads the index at the call */
  gt_tensor *(*pick_by)(gt_tensor *, const gt_tensor *, int, const gt_tensor *) = gt_index_select;
  if (s->n[2]) pick_by = gt_gather;
  set_result(m, s, pick_by(NULL, operand(m, s, 0), (int)s->n[0], index));
  gt_free(index);
}
/* Entries of x, named by another variable brought into range, are added to those of a copy. */
static int plan_index_add(planner *p, step *s) {
  s->in[0] = pick(p, WIDE);
  s->in[1] = pick(p, INTEGER);
  if (s->in[0] == NONE || s->in[1] == NONE || !find_room(p, s)) return 0;
  const value *index = &p->v[s->in[1]];
  const value v = p->v[s->in[0]];
  if (index->device != v.device || index->ndim != 1) return 0;
  s->n[0] = below(p, v.ndim);
  s->n[1] = v.shape[s->n[0]];
  if (count_of(&v) / s->n[1] * index->shape[0] > MOST_ELEMENTS) return 0;
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, 1);
  return 1;
}
static void do_index_add(machine *m, step *s) {
  char text[40];
  const int dim = (int)s->n[0];
  snprintf(text, sizeof text, "a %% %" PRId64, s->n[1]);
  gt_tensor *index = gt_eval(NULL, text, operand(m, s, 1));
  settle(m, s);
  gt_tensor *src = gt_index_select(NULL, operand(m, s, 0), dim, index);
  gt_tensor *y = gt_copy(NULL, operand(m, s, 0));
  gt_index_add(y, dim, index, src);
  set_result(m, s, y);
  gt_free(index);
  gt_free(src);
}
static int plan_cat(planner *p, step *s) {
  const value *b;
  value v;
  int d;
  s->in[0] = pick(p, WIDE);
  s->in[1] = pick(p, WIDE);
  if (s->in[0] == NONE || s->in[1] == NONE || !find_room(p, s)) return 0;
  v = p->v[s->in[0]];
  b = &p->v[s->in[1]];
  if (v.ndim != b->ndim || v.dtype != b->dtype || v.device != b->device) return 0;
  for (d = 1; d < v.ndim; d++)
    if (v.shape[d] != b->shape[d]) return 0;
  v.shape[0] += b->shape[0];
  if (count_of(&v) > MOST_ELEMENTS) return 0;
  choose_stream(p, s, v.device);
  put_fresh(p, s, &v, is_wild(p, s->in[0]) || is_wild(p, s->in[1]));
  return 1;
}
static void do_cat(machine *m, step *s) {
  const gt_tensor *x[2];
  x[0] = operand(m, s, 0);
  x[1] = operand(m, s, 1);
  set_result(m, s, gt_cat(NULL, 2, x, 0));
}

/* ---- copies ---- */
/* in[0] = in[1], between any two devices, dtypes and strides */
static int plan_copy(planner *p, step *s) {
  const value *to, *from;
  const int start = (int)below(p, VARIABLES);
  int i;
  s->in[0] = pick(p, WRITTEN);
  if (s->in[0] == NONE) return 0;
  to = &p->v[s->in[0]];
  for (i = 0; i < VARIABLES; i++) {
    const int slot = (start + i) % VARIABLES;
    from = &p->v[slot];
    if (slot == s->in[0] || !fits(p, slot, 0) || !broadcasts(from, to)) continue;
    if (to->dtype == GT_FLOAT32 && from->dtype != GT_FLOAT32 && is_wild(p, slot)) continue;
    s->in[1] = slot;
    choose_streams(p, s, to->device, from->device);
    spread_wild(p, s->in[0], is_wild(p, slot));
    return 1;
  }
  return 0;
}
static void do_copy(machine *m, step *s) { gt_copy(operand(m, s, 0), operand(m, s, 1)); }
static int plan_clone(planner *p, step *s) {
  s->in[0] = pick(p, 0);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  choose_stream(p, s, p->v[s->in[0]].device);
  put_fresh(p, s, &p->v[s->in[0]], is_wild(p, s->in[0]));
  return 1;
}
static void do_clone(machine *m, step *s) { set_result(m, s, gt_copy(NULL, operand(m, s, 0))); }
/* n[0]: another device. The reference has only one, so it copies there. */
static int plan_to(planner *p, step *s) {
  value v;
  s->in[0] = pick(p, 0);
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  v = p->v[s->in[0]];
  s->device = (int)below(p, p->program->devices);
  s->n[0] = s->device != v.device;
  choose_streams(p, s, s->device, v.device);
  if (!s->n[0]) {
    put(p, s, &v);
    return 1;
  }
  v.device = s->device;
  put_fresh(p, s, &v, is_wild(p, s->in[0]));
  return 1;
}
static void do_to(machine *m, step *s) {
  gt_tensor *x = operand(m, s, 0);
  set_result(m, s, s->n[0] && !m->real ? gt_copy(NULL, x) : gt_to(x, device_of(m, s)));
}
static int plan_fill(planner *p, step *s) {
  s->in[0] = pick(p, WRITTEN);
  if (s->in[0] == NONE) return 0;
  s->n[0] = below(p, 200);
  choose_stream(p, s, p->v[s->in[0]].device);
  return 1;
}
static void do_fill(machine *m, step *s) { gt_fill(operand(m, s, 0), (double)s->n[0]); }
static int plan_free(planner *p, step *s) {
  s->release = pick(p, OWN);
  if (s->release == NONE) return 0;
  choose_stream(p, s, p->v[s->release].device);
  p->v[s->release].alive = 0;
  return 1;
}
static void do_free(machine *m, step *s) { (void)m, (void)s; /* the step's release is all */ }

/* ---- the host ---- */
static int plan_item(planner *p, step *s) {
  s->in[0] = pick(p, SINGLE);
  if (s->in[0] == NONE) return 0;
  s->n[0] = p->v[s->in[0]].dtype == GT_FLOAT32;
  s->dtype = GT_INT64; /* of what is seen */
  choose_stream(p, s, p->v[s->in[0]].device);
  return 1;
}
static void do_item(machine *m, step *s) {
  int64_t *seen = (int64_t *)see(m, s, 8);
  if (s->n[0]) *seen = (int64_t)gt_item(operand(m, s, 0));
  else *seen = gt_item_int64(operand(m, s, 0));
}
static int plan_to_array(planner *p, step *s) {
  s->in[0] = pick(p, 0);
  if (s->in[0] == NONE) return 0;
  s->dtype = p->v[s->in[0]].dtype;
  choose_stream(p, s, p->v[s->in[0]].device);
  return 1;
}
static void do_to_array(machine *m, step *s) {
  const gt_tensor *x = operand(m, s, 0);
  const size_t bytes = gt_nbytes(x);
  gt_to_array(x, see(m, s, bytes), bytes);
}
static int plan_host_read(planner *p, step *s) {
  s->in[0] = pick(p, ON_HOST | CONTIGUOUS);
  if (s->in[0] == NONE) return 0;
  s->dtype = p->v[s->in[0]].dtype;
  choose_stream(p, s, 0);
  return 1;
}
/* gt_data counts as writing, a race with what another thread reads: careful programs copy. */
static void do_host_read(machine *m, step *s) {
  const gt_tensor *x = operand(m, s, 0);
  const void *data = m->careful ? NULL : gt_data(x);
  void *seen = see(m, s, gt_nbytes(x));
  if (data) memcpy(seen, data, gt_nbytes(x));
  else gt_to_array(x, seen, gt_nbytes(x));
}
static int plan_host_write(planner *p, step *s) {
  s->in[0] = pick(p, ON_HOST | CONTIGUOUS | WRITTEN);
  if (s->in[0] == NONE) return 0;
  s->dtype = p->v[s->in[0]].dtype;
  s->n[0] = below(p, 1000);
  s->n[1] = 1 + below(p, 50);
  choose_stream(p, s, 0);
  return 1;
}
static void do_host_write(machine *m, step *s) {
  gt_tensor *x = operand(m, s, 0);
  fill_pattern(gt_data(x), x->dtype, gt_numel(x), s->n[0], s->n[1]);
}
/* Written by the host, copied to a device, and at once written again. */
static int plan_host_turn(planner *p, step *s) {
  value v;
  if (!plan_host_write(p, s) || !find_room(p, s) || s->out == s->in[0]) return 0;
  v = p->v[s->in[0]];
  v.device = s->device = (int)below(p, p->program->devices);
  s->n[2] = s->device != 0;
  choose_streams(p, s, s->device, 0);
  put_fresh(p, s, &v, is_wild(p, s->in[0]));
  return 1;
}
static void do_host_turn(machine *m, step *s) {
  gt_tensor *x = operand(m, s, 0);
  fill_pattern(gt_data(x), x->dtype, gt_numel(x), s->n[0], s->n[1]);
  set_result(m, s, s->n[2] && m->real ? gt_to(x, device_of(m, s)) : gt_copy(NULL, x));
  settle(m, s);
  fill_pattern(gt_data(x), x->dtype, gt_numel(x), s->n[0] + 500, s->n[1]);
}

/* Every stream reads one tensor, more of them than a storage has room to remember; then it is
   written. The last reader's copy is kept. */
static int plan_crowd(planner *p, step *s) {
  s->in[0] = pick(p, WRITTEN);
  if (s->in[0] == NONE || !find_room(p, s) || s->out == s->in[0]) return 0;
  s->n[0] = below(p, 200);
  choose_stream(p, s, p->v[s->in[0]].device);
  put_fresh(p, s, &p->v[s->in[0]], is_wild(p, s->in[0]));
  return 1;
}
static void do_crowd(machine *m, step *s) {
  gt_tensor *x = operand(m, s, 0), *copy = gt_copy(NULL, x);
  int i;
  for (i = 0; i < STREAMS && m->real && !(m->careful && s->recorded); i++) {
    gt_stream *stream = s->usable >> i & 1 ? m->stream[i] : NULL;
    const gt_device device = stream ? gt_stream_device(stream) : gt_cpu();
    if (!stream || !is_same(device, x->device)) continue;
    gt_free(copy);
    settle(m, s);
    GT_WITH_STREAM(stream) copy = gt_copy(NULL, x);
  }
  settle(m, s);
  gt_fill(x, (double)s->n[0]);
  set_result(m, s, copy);
}

/* ---- streams, events, and calls that change no value; the reference leaves them out ---- */
static int plan_create(planner *p, step *s) {
  int i;
  for (i = 0; i < STREAMS; i++)
    if (!p->stream[i].alive && is_mine(p, p->stream[i].owner)) break;
  if (i == STREAMS) return 0;
  s->other_stream = i;
  s->device = p->home == NONE ? (int)below(p, p->program->devices) : p->home;
  s->n[0] = below(p, 3) - 1;
  choose_stream(p, s, 0); /* not yet the new one */
  p->stream[i].alive = 1;
  p->stream[i].device = s->device;
  return 1;
}
static void do_create(machine *m, step *s) {
  m->stream[s->other_stream] = gt_stream_create(device_of(m, s), (int)s->n[0]);
}
static int plan_destroy(planner *p, step *s) {
  const int i = (int)below(p, STREAMS);
  if (!p->stream[i].alive || !is_mine(p, p->stream[i].owner)) return 0;
  if (p->recording != NONE && p->graph[p->recording].begun == i) return 0;
  if (p->recording != NONE && p->graph[p->recording].device != p->stream[i].device) return 0;
  choose_stream(p, s, p->stream[i].device);
  s->stream[0] = NONE; /* a careful program waits there for what it will not be able to name */
  if (s->stream[1] == i) s->stream[1] = NONE;
  s->other_stream = i;
  p->stream[i].alive = 0;
  return 1;
}
static void do_destroy(machine *m, step *s) {
  gt_stream_free(m->stream[s->other_stream]);
  m->stream[s->other_stream] = NULL;
}
/* The stream that a step is about. */
static void choose_other(planner *p, step *s) {
  s->other_place = any_device(p);
  s->other_stream = pick_stream(p, s->other_place);
}
static gt_stream *other(const machine *m, const step *s) {
  return stream_at(m, s->other_stream, s->other_place);
}
static int plan_other(planner *p, step *s) {
  choose_stream(p, s, any_device(p));
  choose_other(p, s);
  return 1;
}
static void do_synchronize(machine *m, step *s) { gt_stream_synchronize(other(m, s)); }
static void do_synchronize_device(machine *m, step *s) {
  gt_synchronize(m->device[s->other_place]);
}
static void do_query(machine *m, step *s) { gt_stream_query(other(m, s)); }
static void do_wait_stream(machine *m, step *s) {
  if (m->careful && s->recorded) return;
  gt_stream_wait_stream(stream_at(m, s->stream[0], s->place[0]), other(m, s));
}
static int plan_record(planner *p, step *s) {
  s->event = (int)below(p, EVENTS);
  if (!is_mine(p, p->event[s->event].owner)) return 0;
  p->event[s->event].recorded = p->recording == NONE ? 1 : IN_GRAPH + p->recording;
  return plan_other(p, s);
}
static void do_record(machine *m, step *s) { gt_event_record(m->event[s->event], other(m, s)); }
static int plan_event(planner *p, step *s) {
  const int start = (int)below(p, EVENTS);
  int i;
  for (i = 0; i < EVENTS; i++) {
    s->event = (start + i) % EVENTS;
    if (!is_open(p, p->event[s->event].owner)) continue;
    if (p->event[s->event].recorded != (p->recording == NONE ? 1 : IN_GRAPH + p->recording)) continue;
    return plan_other(p, s);
  }
  return 0;
}
static void do_wait_event(machine *m, step *s) {
  gt_stream_wait_event(other(m, s), m->event[s->event]);
}
static void do_synchronize_event(machine *m, step *s) { gt_event_synchronize(m->event[s->event]); }
static void do_query_event(machine *m, step *s) { gt_event_query(m->event[s->event]); }
/* Says that a kernel of the program's own touches a tensor. None runs, so no value changes. */
static int plan_declare(planner *p, step *s) {
  s->n[0] = one_in(p, 2);
  s->in[0] = pick(p, s->n[0] ? WRITTEN : 0);
  if (s->in[0] == NONE) return 0;
  choose_stream(p, s, p->v[s->in[0]].device);
  return 1;
}
static void do_declare(machine *m, step *s) {
  gt_stream *stream = stream_at(m, s->stream[0], s->place[0]);
  if (s->n[0]) gt_stream_writes(stream, operand(m, s, 0));
  else gt_stream_reads(stream, operand(m, s, 0));
}
/* A function of the program's own, on a stream of any device: it writes host memory in that stream's
   order. The tensor is named just before, so no other thread may come between. */
typedef struct pattern {
  void *data;
  gt_dtype dtype;
  int64_t n, first, step;
} pattern;
static void write_pattern(void *argument) {
  pattern *w = (pattern *)argument;
  fill_pattern(w->data, w->dtype, w->n, w->first, w->step);
  free(w);
}
static int plan_call(planner *p, step *s) {
  s->in[0] = pick(p, ON_HOST | CONTIGUOUS | WRITTEN);
  if (p->program->threads > 1 || s->in[0] == NONE) return 0;
  s->n[0] = below(p, 1000);
  s->n[1] = 1 + below(p, 50);
  choose_stream(p, s, any_device(p));
  return 1;
}
static void do_call(machine *m, step *s) {
  const gt_tensor *x = operand(m, s, 0);
  pattern *w = (pattern *)malloc(sizeof *w), like = {NULL, x->dtype, gt_numel(x), s->n[0], s->n[1]};
  gt_stream *stream = m->real ? stream_at(m, s->stream[0], s->place[0]) : gt_current_stream(gt_cpu());
  const gt_safety safety = gt_stream_safety();
  *w = like;
  gt_set_stream_safety(GT_OFF); /* for the address alone, without waiting */
  w->data = gt_data(x);
  gt_set_stream_safety(safety);
  gt_stream_writes(stream, x);
  gt_stream_call(stream, write_pattern, w);
}
static int plan_nothing(planner *p, step *s) {
  choose_stream(p, s, (int)below(p, p->program->devices));
  return 1;
}
static void do_empty_cache(machine *m, step *s) { (void)m, (void)s, gt_empty_cache(); }
static void do_ask(machine *m, step *s) {
  gt_statistics statistics;
  gt_stats(&statistics);
  gt_memory_allocated(m->device[s->place[0]]);
}
/* Long work on a stream, so that what follows there is late. */
static int plan_ballast(planner *p, step *s) {
  const int device = (int)below(p, p->program->devices);
  if (!p->ballast) return 0;
  choose_stream(p, s, device);
  s->device = device;
  return s->stream[0] != NONE;
}
static void do_ballast(machine *m, step *s) {
  (void)m;
  gt_free(gt_eval(NULL, "sin(exp(a) + cos(a)) + tanh(a)", ballast_of[s->device]));
}

/* ---- graphs ---- */
/* The steps between begin and end are planned as others are. In the reference they are done when
   they are recorded, and the first launch, which comes right behind the end, is nothing; in the run
   they are done at the first launch. Later ones do them again to the same memory. */
static int plan_begin(planner *p, step *s) {
  int g = 0;
  while (g < GRAPHS && (p->graph[g].alive || !is_mine(p, p->graph[g].owner))) g++;
  if (g == GRAPHS || p->program->steps + RECORDED + 3 > STEPS) return 0;
  memset(&p->graph[g], 0, sizeof p->graph[g]);
  p->graph[g].owner = p->thread;
  p->graph[g].device = (int)below(p, p->program->devices);
  p->graph[g].alive = 1;
  p->recording = s->graph = g;
  choose_stream(p, s, p->graph[g].device);
  p->graph[g].begun = s->stream[0];
  return 1;
}
static void do_begin(machine *m, step *s) {
  m->bounds[s->graph] = 0;
  if (m->careful) synchronize_all(m); /* as what is beside the graph cannot wait for its device */
  m->begun[s->graph] = stream_at(m, s->stream[0], s->place[0]);
  if (m->real) gt_graph_begin(m->begun[s->graph]);
}
static int plan_end(planner *p, step *s) {
  int i;
  for (i = 0; i < EVENTS; i++)
    if (p->event[i].recorded == IN_GRAPH + p->recording) p->event[i].recorded = 0;
  s->graph = p->recording;
  s->except = p->graph[s->graph].device; /* until the call */
  p->recording = NONE;
  choose_stream(p, s, s->except);
  return 1;
}
static void do_end(machine *m, step *s) {
  if (m->real) m->graph[s->graph] = gt_graph_end();
}
/* What a launch writes must be the thread's, what it reads must be for it to read. */
static int may_launch(const planner *p, int g) {
  int i, may = p->graph[g].alive && is_mine(p, p->graph[g].owner);
  for (i = 0; i < p->storages; i++) {
    if (p->graph[g].uses[i] & READS) may &= is_open(p, p->storage[i].owner);
    if (p->graph[g].uses[i] & WRITES) may &= is_mine(p, p->storage[i].owner);
  }
  return may;
}
static int plan_launch(planner *p, step *s) {
  const int start = (int)below(p, GRAPHS);
  int i;
  for (i = 0; i < GRAPHS && !may_launch(p, (start + i) % GRAPHS); i++) {}
  if (i == GRAPHS) return 0;
  s->graph = (start + i) % GRAPHS;
  choose_stream(p, s, p->graph[s->graph].device);
  return 1;
}
static void again(const machine *m, struct bound *b);
static void do_launch(machine *m, step *s) {
  int i;
  if (m->real) gt_graph_launch(m->graph[s->graph], stream_at(m, s->stream[0], s->place[0]));
  for (i = 0; i < m->bounds[s->graph] && !s->n[0]; i++) again(m, &m->bound[s->graph][i]);
}
static int plan_forget(planner *p, step *s) {
  s->graph = (int)below(p, GRAPHS);
  if (!p->graph[s->graph].alive || !is_mine(p, p->graph[s->graph].owner)) return 0;
  choose_stream(p, s, p->graph[s->graph].device);
  p->graph[s->graph].alive = 0;
  return 1;
}
static void forget(machine *m, int g) {
  int i, k;
  gt_graph_free(m->graph[g]);
  m->graph[g] = NULL;
  for (i = 0; i < m->bounds[g]; i++) {
    for (k = 0; k < OPERANDS; k++) gt_free(m->bound[g][i].in[k]);
    gt_free(m->bound[g][i].out);
  }
  m->bounds[g] = 0;
}
static void do_forget(machine *m, step *s) { forget(m, s->graph); }
/* From pinned memory to a new tensor on the graph's GPU. */
static int plan_upload(planner *p, step *s) {
  const int start = (int)below(p, VARIABLES);
  value v;
  int i;
  if (p->recording == NONE || p->graph[p->recording].device == 0) return 0;
  for (i = 0; i < VARIABLES; i++) {
    const int slot = (start + i) % VARIABLES;
    if (!fits(p, slot, BOTH | CONTIGUOUS) || p->v[slot].device != 0) continue;
    if (p->storage[p->v[slot].storage].pinned) s->in[0] = slot;
  }
  if (s->in[0] == NONE || !find_room(p, s)) return 0;
  v = p->v[s->in[0]];
  v.device = s->device = any_device(p);
  s->n[0] = 1; /* as plan_to has it: a copy in the reference, too */
  choose_streams(p, s, s->device, 0);
  put_fresh(p, s, &v, is_wild(p, s->in[0]));
  return 1;
}
/* Between the graph's GPU and pinned memory, all in one piece. */
static int may_transfer(const planner *p, int to, int from) {
  const value *a = &p->v[to], *b = &p->v[from];
  if (!fits(p, to, WRITTEN | BOTH | CONTIGUOUS) || !fits(p, from, BOTH | CONTIGUOUS)) return 0;
  if ((a->device == 0) == (b->device == 0) || a->dtype != b->dtype || a->ndim != b->ndim) return 0;
  if (!p->storage[a->device ? b->storage : a->storage].pinned) return 0;
  return broadcasts(a, b) && broadcasts(b, a);
}
static int plan_transfer(planner *p, step *s) {
  const int start = (int)below(p, VARIABLES * VARIABLES);
  int i, to, from;
  if (p->recording == NONE || p->graph[p->recording].device == 0) return 0;
  for (i = 0; i < VARIABLES * VARIABLES; i++) {
    to = (start + i) % (VARIABLES * VARIABLES) / VARIABLES;
    from = (start + i) % VARIABLES;
    if (!may_transfer(p, to, from)) continue;
    s->in[0] = to;
    s->in[1] = from;
    choose_streams(p, s, any_device(p), 0);
    spread_wild(p, to, is_wild(p, from));
    return 1;
  }
  return 0;
}
/* A call that no graph can hold: it must be refused, and the recording goes on. */
static int plan_refusal(planner *p, step *s) {
  if (p->recording == NONE) return 0;
  s->graph = p->recording;
  s->device = p->graph[s->graph].device;
  s->n[0] = below(p, 7);
  s->in[0] = pick(p, 0);
  if (s->n[0] == 4 && s->in[0] == NONE) return 0;
  if (s->n[0] >= 5 && s->device == 0) return 0;
  choose_stream(p, s, s->device);
  return 1;
}
static void do_refusal(machine *m, step *s) {
  gt_stream *stream = stream_at(m, s->stream[0], s->place[0]);
  const gt_device device = device_of(m, s);
  static const float one[1] = {1};
  char room[8];
  switch (s->n[0]) {
    case 0: gt_synchronize(device); break;
    case 1: gt_stream_synchronize(stream); break;
    case 2: gt_graph_begin(stream); break;
    case 3: gt_free(gt_rand(GT_SHAPE(3), GT_FLOAT32, device, NULL)); break;
    case 4: gt_to_array(operand(m, s, 0), room, 0); break;
    case 5: gt_free(gt_from_array(one, GT_SHAPE(1), GT_FLOAT32, device)); break;
    default: gt_stream_native(stream); break;
  }
  if (!gt_error() && !m->errors[s->thread]++)
    snprintf(m->error[s->thread], sizeof m->error[0], "refusal %d did not come", (int)s->n[0]);
  gt_clear_error();
}

/* ---- traces: the first thread's; ranges are each thread's own ---- */
static int plan_trace(planner *p, step *s) {
  if (p->thread) return 0;
  s->n[0] = p->traced;
  s->n[1] = one_in(p, 3) ? 1 + below(p, 40) : 1000; /* room */
  if (p->traced == ON) p->traced = STOPPED;
  else p->traced = p->traced == STOPPED && one_in(p, 2) ? 0 : ON;
  s->n[2] = p->traced;
  return plan_other(p, s);
}
static char trace_path[64];
/* Behind the JSON value that begins at p, or NULL: what it means is looked at by trace.c. */
static const char *behind_blanks(const char *p) { return p + strspn(p, " \n"); }
static const char *behind_text(const char *p) {
  for (p++; *p && *p != '"'; p++)
    if (*p == '\\' && !*++p) return NULL;
  return *p ? p + 1 : NULL;
}
static const char *behind_number(const char *p) {
  const size_t digits = strspn(p += *p == '-', "0123456789");
  size_t more = 1;
  p += digits;
  if (*p == '.') p += 1 + (more = strspn(p + 1, "0123456789"));
  return digits && more ? p : NULL;
}
static const char *behind_value(const char *p) {
  const int named = *p == '{';
  const char end = named ? '}' : ']';
  if (*p == '"') return behind_text(p);
  if (strncmp(p, "true", 4) == 0) return p + 4;
  if (strncmp(p, "false", 5) == 0) return p + 5;
  if (!named && *p != '[') return behind_number(p);
  p = behind_blanks(p + 1);
  while (p && *p != end) {
    if (named && (*p != '"' || !(p = behind_text(p)) || *p++ != ':')) return NULL;
    p = behind_value(behind_blanks(p));
    if (!p) return NULL;
    p = behind_blanks(p);
    if (*p == ',') p = behind_blanks(p + 1);
    else if (*p != end) return NULL;
  }
  return p ? p + 1 : NULL;
}
static int is_json(const char *path) {
  enum { MOST = 1 << 22 };
  FILE *file = fopen(path, "r");
  char *text = (char *)calloc(MOST + 1, 1);
  const char *end = NULL;
  if (file && text && fread(text, 1, MOST, file) < MOST) end = behind_value(behind_blanks(text));
  if (end) end = behind_blanks(end);
  if (file) fclose(file);
  const int good = end && !*end;
  free(text);
  return good;
}
static void look_at_trace(machine *m, const step *s) {
  const gt_overlap overlap = gt_trace_overlap();
  FILE *file = fopen(trace_path, "w");
  const int sane = overlap.gain >= 0 && overlap.reason;
  if (file) {
    gt_trace_print(file, 0);
    fclose(file);
  }
  if (!gt_trace_save(trace_path) && sane && is_json(trace_path)) return;
  if (!m->errors[s->thread]++)
    snprintf(m->error[s->thread], sizeof m->error[0], "a trace is not well formed");
}
static void do_trace(machine *m, step *s) {
  m->traced = s->n[2] == ON;
  if (s->n[0] == ON) gt_trace_stop();
  else if (s->n[2] == ON) gt_trace_start(s->n[1]);
  else look_at_trace(m, s);
}
static int plan_range(planner *p, step *s) {
  int *open = &p->ranges[p->thread];
  s->n[0] = *open > 0 && one_in(p, 2);
  *open += s->n[0] ? -1 : 1;
  return plan_other(p, s);
}
static void do_range(machine *m, step *s) {
  m->ranges[s->thread] += s->n[0] ? -1 : 1;
  if (s->n[0]) gt_range_pop();
  else gt_range_push("a range");
}

/* ---- the list of steps ---- */
/* no part of the reference; the host touches elements; a graph can hold it; over its first operand */
/* it may come between a graph's steps, on another device */
enum { QUIET = 1, HOST = 2, GRAPHED = 4, OVER = 8, BESIDE = 16 };
typedef struct kind {
  const char *name;
  int weight, flags;
  int (*plan)(planner *, step *);  /* 0: not possible now */
  void (*act)(machine *, step *);
} kind;
static const kind kinds[] = {
    {"full", 4, GRAPHED | BESIDE, plan_anywhere, do_full},
    {"arange", 2, GRAPHED, plan_arange, do_arange},
    {"randint", 4, 0, plan_anywhere, do_randint},
    {"empty and fill", 2, GRAPHED, plan_anywhere, do_empty},
    {"from_array", 4, BESIDE, plan_anywhere, do_array},
    {"pinned", 4, HOST, plan_pinned, do_pinned},
    {"wrap", 2, 0, plan_on_host, do_wrap},
    {"slice", 4, GRAPHED, plan_slice, do_slice},
    {"transpose", 3, GRAPHED, plan_transpose, do_transpose},
    {"select", 3, GRAPHED, plan_select, do_select},
    {"expand", 2, GRAPHED, plan_expand, do_expand},
    {"reshape", 2, GRAPHED, plan_reshape, do_reshape},
    {"alias", 5, HOST, plan_alias, do_alias},
    {"retain", 1, GRAPHED, plan_retain, do_retain},
    {"map", 12, GRAPHED | BESIDE, plan_map, do_map},
    {"in place", 16, GRAPHED | OVER | BESIDE, plan_in_place, do_in_place},
    {"into", 8, GRAPHED | OVER, plan_into, do_into},
    {"function", 8, GRAPHED, plan_function, do_function},
    {"to_dtype", 3, GRAPHED, plan_convert, do_convert},
    {"scope", 3, GRAPHED, plan_scope, do_scope},
    {"reduce", 6, GRAPHED | BESIDE, plan_reduce, do_reduce},
    {"scan", 4, GRAPHED | BESIDE, plan_scan, do_scan},
    {"topk", 4, GRAPHED | BESIDE, plan_topk, do_topk},
    {"matmul", 6, GRAPHED, plan_matmul, do_matmul},
    {"index_select", 6, HOST | GRAPHED, plan_index_select, do_index_select},
    {"index_add", 4, HOST | GRAPHED, plan_index_add, do_index_add},
    {"cat", 5, GRAPHED, plan_cat, do_cat},
    {"copy", 14, GRAPHED | OVER, plan_copy, do_copy},
    {"clone", 3, GRAPHED, plan_clone, do_clone},
    {"to", 12, 0, plan_to, do_to},
    {"fill", 5, GRAPHED | OVER | BESIDE, plan_fill, do_fill},
    {"free", 8, GRAPHED, plan_free, do_free},
    {"item", 5, HOST | BESIDE, plan_item, do_item},
    {"to_array", 3, HOST | BESIDE, plan_to_array, do_to_array},
    {"host read", 6, HOST | BESIDE, plan_host_read, do_host_read},
    {"host write", 6, HOST | BESIDE, plan_host_write, do_host_write},
    {"host turn", 6, HOST, plan_host_turn, do_host_turn},
    {"crowd", 4, GRAPHED | OVER, plan_crowd, do_crowd},
    {"stream create", 4, QUIET | GRAPHED, plan_create, do_create},
    {"stream free", 3, QUIET | GRAPHED, plan_destroy, do_destroy},
    {"stream synchronize", 1, QUIET, plan_other, do_synchronize},
    {"synchronize", 1, QUIET, plan_other, do_synchronize_device},
    {"stream query", 2, QUIET, plan_other, do_query},
    {"wait_stream", 3, QUIET | GRAPHED, plan_other, do_wait_stream},
    {"event record", 6, QUIET | GRAPHED, plan_record, do_record},
    {"wait_event", 8, QUIET | GRAPHED, plan_event, do_wait_event},
    {"event synchronize", 1, QUIET, plan_event, do_synchronize_event},
    {"event query", 2, QUIET, plan_event, do_query_event},
    {"declare", 2, QUIET, plan_declare, do_declare},
    {"call", 8, 0, plan_call, do_call},
    {"empty_cache", 1, QUIET, plan_nothing, do_empty_cache},
    {"ask", 1, QUIET, plan_nothing, do_ask},
    {"ballast", 30, QUIET, plan_ballast, do_ballast},
    {"graph begin", 0, 0, plan_begin, do_begin}, /* add_graph adds these two */
    {"graph end", 0, 0, plan_end, do_end},
    {"graph launch", 30, 0, plan_launch, do_launch},
    {"graph free", 2, 0, plan_forget, do_forget},
    {"upload", 16, GRAPHED, plan_upload, do_to},
    {"transfer", 24, GRAPHED | OVER, plan_transfer, do_copy},
    {"refusal", 3, QUIET | GRAPHED, plan_refusal, do_refusal},
    {"trace", 14, QUIET, plan_trace, do_trace},
    {"range", 4, QUIET, plan_range, do_range},
};
enum { KINDS = (int)(sizeof kinds / sizeof *kinds) };

static int choose_kind(planner *p) {
  static int total;
  int64_t at;
  int k;
  if (!total)
    for (k = 0; k < KINDS; k++) total += kinds[k].weight;
  at = below(p, total);
  for (k = 0; at >= kinds[k].weight; k++) at -= kinds[k].weight;
  return k;
}
static int kind_named(const char *name) {
  int k = 0;
  while (strcmp(kinds[k].name, name) != 0) k++;
  return k;
}

/* ---- planning ---- */
static void clear_step(step *s) {
  memset(s, 0, sizeof *s);
  s->out = s->in[0] = s->in[1] = s->in[2] = s->release = NONE;
  s->stream[0] = s->stream[1] = s->other_stream = s->event = NONE;
  s->graph = s->except = NONE;
}
/* A step becomes part of the graph that is recorded. `before`: what its operands were. */
static void record_use(planner *p, int g, int storage, int use) {
  p->graph[g].uses[storage] |= (unsigned char)use;
  if (!p->storage[storage].wild) p->storage[storage].tame = 1;
}
static void record_step(planner *p, step *s, const planner *before) {
  const int over = (kinds[s->kind].flags & OVER) || (kinds[s->kind].act == do_function && s->n[1]);
  int i;
  s->graph = p->recording;
  s->recorded = 1;
  s->except = p->graph[s->graph].device;
  for (i = 0; i < OPERANDS; i++) {
    const value *v = s->in[i] == NONE ? NULL : &before->v[s->in[i]];
    if (!v || (kinds[s->kind].flags & QUIET)) continue;
    if (v->device == 0 && v->ndim == 0) s->numbers |= 1 << i;
    else record_use(p, s->graph, v->storage, over && i == 0 ? READS | WRITES : READS);
  }
  if (s->out != NONE) record_use(p, s->graph, p->v[s->out].storage, READS | WRITES);
}
/* Adds one step of this kind, if it is possible. A failed attempt may have noted a result. */
static int add_step(planner *p, int k) {
  step *s = &p->program->step[p->program->steps];
  const planner before = *p;
  int i;
  if (p->program->steps == STEPS) return 0;
  clear_step(s);
  s->kind = k;
  s->thread = p->thread;
  s->phase = p->phase;
  for (i = 0; i < STREAMS; i++)
    if (p->stream[i].alive && is_open(p, p->stream[i].owner)) s->usable |= 1u << i;
  if (!kinds[k].plan(p, s) || p->refused) {
    const uint64_t random = p->random;
    *p = before;
    p->random = random;
    return 0;
  }
  p->program->steps++;
  if (before.recording != NONE && p->recording != NONE && !p->beside) record_step(p, s, &before);
  if (p->beside) s->except = p->graph[p->recording].device;
  for (i = 0; i < OPERANDS; i++) { /* freed right after use */
    if (s->in[i] == NONE || s->in[i] == s->out || s->release != NONE || !one_in(p, 12)) continue;
    if (!is_mine(p, p->v[s->in[i]].owner)) continue;
    s->release = s->in[i];
    p->v[s->release].alive = 0;
  }
  return 1;
}
/* Of the graph that was just recorded: nothing may happen in between. */
static void add_first_launch(planner *p) {
  step *s = &p->program->step[p->program->steps];
  const int g = s[-1].graph;
  clear_step(s);
  s->kind = kind_named("graph launch");
  s->thread = p->thread;
  s->phase = p->phase;
  s->usable = s[-1].usable;
  s->graph = g;
  s->n[0] = 1;
  choose_stream(p, s, p->graph[g].device);
  p->program->steps++;
}
/* A graph of some steps, and its first launch. */
static void add_graph(planner *p) {
  int i, k, more;
  if (!add_step(p, kind_named("graph begin"))) return;
  for (more = 1 + (int)below(p, RECORDED); more > 0; more--) {
    p->beside = p->program->devices > 1 && one_in(p, 8);
    for (i = 0; i < 20; i++) {
      do k = choose_kind(p);
      while (!(kinds[k].flags & (p->beside ? BESIDE : GRAPHED)));
      if (add_step(p, k)) break;
    }
    p->beside = 0;
  }
  add_step(p, kind_named("graph end"));
  add_first_launch(p);
}
/* Deals everything to the threads; half of it is for all of them to read. */
static int deal_one(planner *p) {
  const int threads = p->program->threads;
  return threads == 1 ? 0 : one_in(p, 2) ? EVERYBODY : (int)below(p, threads);
}
static void deal(planner *p) {
  const int threads = p->program->threads;
  int i, g;
  for (i = 0; i < p->storages; i++) p->storage[i].owner = deal_one(p);
  for (g = 0; g < GRAPHS; g++) { /* what a graph writes goes with it, to be launched again */
    p->graph[g].owner = (int)below(p, threads);
    for (i = 0; i < p->storages; i++)
      if (p->graph[g].alive && (p->graph[g].uses[i] & WRITES)) p->storage[i].owner = p->graph[g].owner;
  }
  for (i = 0; i < VARIABLES; i++) {
    value *v = &p->v[i];
    v->owner = v->alive ? p->storage[v->storage].owner : (int)below(p, threads);
    if (v->owner == EVERYBODY) v->owner = deal_one(p); /* the handle: one may free it, or nobody */
  }
  for (i = 0; i < STREAMS; i++)
    p->stream[i].owner = p->stream[i].alive ? deal_one(p) : (int)below(p, threads);
  for (i = 0; i < EVENTS; i++) p->event[i].owner = deal_one(p);
}
static void make_program(program *program, uint64_t seed) {
  planner p;
  uint64_t mixed = seed;
  int i, steps, more, graphs;
  memset(&p, 0, sizeof p);
  p.recording = NONE;
  p.random = next_random(&mixed); /* the next seed must not be the same sequence, one later */
  p.program = program;
  program->seed = seed;
  program->steps = 0;
  program->devices = 1;
  if (cuda_devices && !one_in(&p, 10)) program->devices += 1 + (int)below(&p, cuda_devices);
  i = (int)below(&p, 20);
  program->threads = i < 12 ? 1 : i < 17 ? 2 : 3;
  if (program->threads > most_threads) program->threads = (int)most_threads;
  program->phases = program->threads == 1 ? 2 : 2 + (int)below(&p, PHASES - 2);
  p.big = one_in(&p, 100);
  graphs = one_in(&p, 2);
  p.ballast = one_in(&p, 16) || always_ballast;
  p.rows = 1 + below(&p, 16);
  p.columns = 1 + below(&p, 18);
  /* the first phase makes streams and tensors, in one thread */
  p.home = one_in(&p, 6) ? (int)below(&p, program->devices) : NONE;
  for (i = p.home == NONE ? 2 + (int)below(&p, 3) : STREAMS; i > 0; i--)
    add_step(&p, kind_named("stream create"));
  for (i = 3; i > 0; i--) add_step(&p, kind_named("randint"));
  steps = 10 + (int)below(&p, 51);
  for (p.phase = 1; p.phase < program->phases; p.phase++) {
    deal(&p);
    for (more = steps / (program->phases - 1); more > 0; more--) {
      p.thread = (int)below(&p, program->threads);
      if (graphs && one_in(&p, 12)) add_graph(&p);
      for (i = 0; i < 20 && !add_step(&p, choose_kind(&p)); i++) {}
    }
  }
}

/* ---- running ---- */
static int is_ordered(const machine *m) { return m->safety == GT_ORDER || m->careful; }
/* An index that is overwritten while it is used may be out of range: fair where nothing is ordered.
   The GPU's word on it comes at any later wait. */
static int is_fair(const machine *m) {
  return !is_ordered(m) && gt_error() == GT_ERROR_ARGUMENT &&
         (strncmp(gt_error_message(), "gt_index_", 9) == 0 || /* _select, _add */
          strncmp(gt_error_message(), "gt_gather", 9) == 0);
}
static void note_error(machine *m, int thread, int at) {
  if (gt_error() && !is_fair(m) && !m->errors[thread]++)
    snprintf(m->error[thread], sizeof m->error[0], "step %d: %s", at, gt_error_message());
  gt_clear_error();
}
static int has_operands(const machine *m, const step *s) {
  int i;
  for (i = 0; i < OPERANDS; i++)
    if (s->in[i] != NONE && !m->v[s->in[i]]) return 0;
  return 1;
}
/* Makes `stream` wait for all streams that this thread may have used since the phase began. */
static void wait_for(const machine *m, const step *s, gt_stream *stream, gt_stream *other) {
  const gt_device device = gt_stream_device(other), of = gt_stream_device(stream);
  const int except = s->except != NONE;
  const gt_device none = m->device[except ? s->except : 0];
  if (other == stream || (except && is_same(device, none)) || (except && is_same(of, none))) return;
  gt_stream_wait_stream(stream, other);
}
static void wait_for_all(const machine *m, const step *s, gt_stream *stream) {
  int i;
  for (i = 0; i < STREAMS; i++)
    if ((s->usable >> i & 1) && m->stream[i]) wait_for(m, s, stream, m->stream[i]);
  for (i = 0; i < m->program->devices; i++) wait_for(m, s, stream, m->usual[s->thread][i]);
}
/* What a program has to do before each step when the library does not order it. The host reads the
   numbers that stand in maps. */
static void be_careful(const machine *m, const step *s) {
  int i, host = kinds[s->kind].flags & HOST;
  for (i = 0; i < 2; i++) wait_for_all(m, s, stream_at(m, s->stream[i], s->place[i]));
  for (i = 0; i < OPERANDS; i++) {
    const gt_tensor *x = operand(m, s, i);
    if (x && x->ndim == 0 && x->device.type == GT_CPU) host = 1;
  }
  if (host) synchronize_but(m, s->except);
}
/* Between the phases of a careful program, in one thread: by the host, or by streams alone. */
static void join_all(const machine *m) {
  gt_stream *all[STREAMS + THREADS * DEVICES];
  int i, t, n = 0;
  if (m->program->seed % 2) {
    synchronize_all(m);
    return;
  }
  for (i = 0; i < STREAMS; i++)
    if (m->stream[i]) all[n++] = m->stream[i];
  for (t = 0; t < m->program->threads; t++)
    for (i = 0; i < m->program->devices; i++) all[n++] = m->usual[t][i];
  for (i = 1; i < n; i++) gt_stream_wait_stream(all[0], all[i]);
  for (i = 1; i < n; i++) gt_stream_wait_stream(all[i], all[0]);
}
/* A graph's step once more: what it made has a place now. */
static void again(const machine *m, struct bound *b) {
  machine r = *m;
  const step *s = b->step;
  int k;
  memset(r.v, 0, sizeof r.v);
  for (k = 0; k < OPERANDS; k++)
    if (s->in[k] != NONE && !r.v[s->in[k]]) r.v[s->in[k]] = gt_retain(b->in[k]);
  kinds[s->kind].act(&r, b->step);
  if (s->out != NONE && gt_data(r.v[s->out]) != gt_data(b->out)) gt_copy(b->out, r.v[s->out]);
  for (k = 0; k < VARIABLES; k++) gt_free(r.v[k]);
}
static struct bound *bind(machine *m, step *s) {
  struct bound *b;
  int k;
  if (!s->recorded || m->real || (kinds[s->kind].flags & QUIET)) return NULL;
  b = &m->bound[s->graph][m->bounds[s->graph]++];
  memset(b, 0, sizeof *b);
  b->step = s;
  for (k = 0; k < OPERANDS; k++) {
    gt_tensor *x = operand(m, s, k);
    b->in[k] = x && (s->numbers >> k & 1) ? gt_copy(NULL, x) : x ? gt_retain(x) : NULL;
  }
  return b;
}
static void act(machine *m, step *s) {
  struct bound *b = bind(m, s);
  const int left_out = !m->real && (kinds[s->kind].flags & QUIET);
  if (!left_out && has_operands(m, s)) kinds[s->kind].act(m, s);
  else if (!left_out && s->out != NONE) set_result(m, s, NULL);
  if (b && s->out != NONE) b->out = gt_retain(m->v[s->out]);
  if (s->release == NONE) return;
  gt_free(m->v[s->release]);
  m->v[s->release] = NULL;
}
static void run_step(machine *m, step *s) {
  if (!m->real) {
    act(m, s);
  } else {
    gt_stream *stream = stream_at(m, s->stream[0], s->place[0]);
    if (m->careful && s->recorded) stream = m->begun[s->graph];
    if (m->careful && s->numbers) synchronize_but(m, s->except);
    if (m->careful && !s->recorded) be_careful(m, s);
    GT_WITH_STREAM(stream_at(m, s->stream[1], s->place[1])) GT_WITH_STREAM(stream) act(m, s);
  }
  note_error(m, s->thread, (int)(s - m->program->step));
}

/* The threads of a program meet here between phases. The last to come joins a careful program. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t all_here;
  int here, round;
} barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
static void meet(const machine *m) {
  int round;
  pthread_mutex_lock(&barrier.lock);
  round = barrier.round;
  if (++barrier.here == m->program->threads) {
    if (m->careful) join_all(m);
    barrier.here = 0;
    barrier.round++;
    pthread_cond_broadcast(&barrier.all_here);
  }
  while (barrier.round == round) pthread_cond_wait(&barrier.all_here, &barrier.lock);
  pthread_mutex_unlock(&barrier.lock);
}
typedef struct worker {
  machine *m;
  program *program;
  int thread;
} worker;
static void *work(void *argument) {
  const worker *w = (const worker *)argument;
  machine *m = w->m;
  int phase, i;
  gt_set_stream_safety(m->safety);
  for (i = 0; i < w->program->devices; i++)
    m->usual[w->thread][i] = gt_current_stream(m->device[i]);
  for (phase = 0; phase < w->program->phases; phase++) {
    if (phase) meet(m);
    for (i = 0; i < w->program->steps; i++) {
      step *s = &w->program->step[i];
      if (s->phase == phase && s->thread == w->thread) run_step(m, s);
    }
  }
  while (m->ranges[w->thread]-- > 0) gt_range_pop();
  return NULL;
}
static void work_in_threads(machine *m, program *program) {
  worker w[THREADS];
  pthread_t thread[THREADS];
  int t;
  for (t = 0; t < program->threads; t++) {
    w[t].m = m;
    w[t].program = program;
    w[t].thread = t;
    if (t && pthread_create(&thread[t], NULL, work, &w[t]) != 0) {
      printf("programs: no thread\n");
      exit(1);
    }
  }
  work(&w[0]);
  for (t = 1; t < program->threads; t++) pthread_join(thread[t], NULL);
}
/* Reads all variables and frees everything. Programs that are not ordered wait first, so that what
   differs came from their steps. */
static void finish(machine *m) {
  int i;
  if (m->safety != GT_ORDER) synchronize_all(m);
  for (i = 0; i < VARIABLES; i++) {
    if (!m->v[i]) continue;
    m->last_bytes[i] = gt_nbytes(m->v[i]);
    m->last[i] = calloc(m->last_bytes[i] + 1, 1);
    gt_to_array(m->v[i], m->last[i], m->last_bytes[i]);
  }
  if (m->traced) gt_trace_stop();
  for (i = 0; i < VARIABLES; i++) gt_free(m->v[i]);
  for (i = 0; i < GRAPHS; i++) forget(m, i);
  for (i = 0; i < STREAMS; i++) gt_stream_free(m->stream[i]);
  for (i = 0; i < EVENTS; i++) gt_event_free(m->event[i]);
  note_error(m, 0, m->program->steps);
}
static void run_program(machine *m, program *program, int real, gt_safety safety, int careful) {
  int i;
  memset(m, 0, sizeof *m);
  m->program = program;
  m->real = real;
  m->safety = safety;
  m->careful = careful;
  for (i = 0; i < program->devices; i++) m->device[i] = real && i ? gt_cuda(i - 1) : gt_cpu();
  if (real) {
    for (i = 0; i < EVENTS; i++) m->event[i] = gt_event_create();
    work_in_threads(m, program);
  } else {
    for (i = 0; i < program->steps; i++) run_step(m, &program->step[i]);
  }
  finish(m);
  gt_set_stream_safety(GT_ORDER);
}

/* ---- comparing and telling ---- */
static void tell_streams(const step *s) {
  int i;
  printf("  on");
  for (i = 0; i < 2; i++) {
    printf(s->place[i] ? " cuda:%d" : " cpu", s->place[i] - 1);
    if (s->stream[i] != NONE) printf("/%d", s->stream[i]);
  }
}
static void tell_step(const program *program, int i) {
  const step *s = &program->step[i];
  int k;
  printf("  %2d. phase %d thread %d  %-16s", i, s->phase, s->thread, kinds[s->kind].name);
  if (s->out != NONE) printf(" v%d =", s->out);
  for (k = 0; k < OPERANDS; k++)
    if (s->in[k] != NONE) printf(" v%d", s->in[k]);
  if (s->text) printf(" \"%s\"", s->text);
  for (k = 0; k < s->shape.ndim; k++) printf(k ? " x %" PRId64 : " %" PRId64, s->shape.size[k]);
  if (s->dtype) printf(" %s", gt_dtype_string(s->dtype));
  for (k = 0; k < 4; k++)
    if (s->n[k]) printf(" n%d=%" PRId64, k, s->n[k]);
  if (s->other_stream != NONE) printf(" stream %d", s->other_stream);
  if (s->event != NONE) printf(" event %d", s->event);
  tell_streams(s);
  if (s->release != NONE) printf("  frees v%d", s->release);
  printf("\n");
}
static void tell_program(const program *program) {
  int i;
  printf("program %" PRIu64 ": %d steps, %d phases, %d threads, CPU and %d GPUs\n", program->seed,
         program->steps, program->phases, program->threads, program->devices - 1);
  for (i = 0; i < program->steps; i++) tell_step(program, i);
}
/* The first element that differs, or -1. */
static int64_t first_difference(gt_dtype dtype, const void *p, const void *q, size_t bytes) {
  const int64_t n = (int64_t)(bytes / gt_dtype_size(dtype));
  int64_t i;
  if (memcmp(p, q, bytes) == 0) return -1;
  for (i = 0; i < n; i++)
    if (bits_at(dtype, p, i) != bits_at(dtype, q, i)) return i;
  return -1;
}
typedef struct outcome {
  int wrong;   /* values or errors that should not be */
  int differs; /* from the reference */
  int64_t races;
  char text[400];
} outcome;
static void compare_steps(program *program, outcome *o) {
  int i;
  for (i = 0; i < program->steps; i++) {
    step *s = &program->step[i];
    int64_t at = -1;
    if (s->seen[0] && s->seen[1] && s->bytes[0] == s->bytes[1])
      at = first_difference(s->dtype, s->seen[0], s->seen[1], s->bytes[0]);
    else if (s->seen[0] || s->seen[1]) at = 0;
    if (at >= 0 && !o->differs++ && s->seen[0] && s->seen[1])
      snprintf(o->text, sizeof o->text, "step %d: element %" PRId64 " is %.17g, not %.17g", i, at,
               load(s->dtype, s->seen[1], at), load(s->dtype, s->seen[0], at));
    free(s->seen[0]);
    free(s->seen[1]);
    s->seen[0] = s->seen[1] = NULL;
  }
}
static void compare_ends(machine *expected, machine *m, outcome *o) {
  int i;
  for (i = 0; i < VARIABLES; i++) {
    const size_t bytes = expected->last_bytes[i];
    if (bytes != m->last_bytes[i] || (bytes && memcmp(expected->last[i], m->last[i], bytes) != 0))
      if (!o->differs++) snprintf(o->text, sizeof o->text, "v%d differs at the end", i);
    free(expected->last[i]);
    free(m->last[i]);
  }
}
static void compare_errors(const machine *m, outcome *o) {
  int t;
  for (t = 0; t < THREADS; t++)
    if (m->errors[t] && !o->wrong++) snprintf(o->text, sizeof o->text, "%s", m->error[t]);
}

/* ---- many programs ---- */
typedef struct campaign {
  gt_safety safety;
  int careful;
  int64_t programs, threads[THREADS];
  int64_t differ, wrong, races, silent; /* silent: they differ, and no race was reported */
  int told;
} campaign;
static void try_program(campaign *c, uint64_t seed) {
  static program program;
  static machine expected, m;
  const int64_t handles = gt_report_leaks(NULL);
  char text[300] = "";
  int64_t left;
  int violations;
  outcome o;
  memset(&o, 0, sizeof o);
  make_program(&program, seed);
  if (verbose) tell_program(&program);
  run_program(&expected, &program, 0, GT_ORDER, 0);
  run_program(&m, &program, 1, c->safety, c->careful);
  o.races = gt_report_races(verbose ? stdout : NULL);
  compare_steps(&program, &o);
  compare_ends(&expected, &m, &o);
  compare_errors(&expected, &o);
  compare_errors(&m, &o);
  violations = VIOLATIONS(text, sizeof text);
  if (violations && is_ordered(&m) && !o.wrong++)
    snprintf(o.text, sizeof o.text, "%d violations: %s", violations, text);
  left = gt_report_leaks(NULL) - handles;
  if (left && !o.wrong++) snprintf(o.text, sizeof o.text, "%" PRId64 " handles are left", left);
  if (c->careful && o.races && !o.wrong++)
    snprintf(o.text, sizeof o.text, "%" PRId64 " races reported where all is ordered", o.races);
  if ((c->safety == GT_ORDER || c->careful) && o.differs) o.wrong++;
  c->programs++;
  c->threads[program.threads - 1]++;
  c->differ += o.differs > 0;
  c->wrong += o.wrong > 0;
  c->races += o.races;
  c->silent += o.differs && !o.races;
  if (o.wrong && c->told++ < 20) {
    printf("seed %" PRIu64 ": %s\n", seed, o.text);
    if (!verbose && c->told == 1) tell_program(&program);
  }
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
/* Long work reads these: a tenth of a millisecond or so. Ready before the first program. */
static void make_ballast(void) {
  int d;
  for (d = 0; d <= cuda_devices; d++) {
    const gt_device device = d ? gt_cuda(d - 1) : gt_cpu();
    ballast_of[d] = gt_ones(GT_SHAPE(is_gpu(device) ? 1 << 24 : 1 << 14), GT_FLOAT32, device);
    gt_synchronize(device);
  }
}
static void drop_ballast(void) {
  int d;
  for (d = 0; d <= cuda_devices; d++) {
    gt_free(ballast_of[d]);
    ballast_of[d] = NULL;
  }
}
/* `programs` of them, or (minutes > 0) as many as there is time for. */
static campaign run_campaign(gt_safety safety, int careful, uint64_t seed, int64_t programs,
                             double minutes) {
  static const char *const names[] = {"in order", "with reports", "without safety"};
  const double began = now();
  campaign c;
  memset(&c, 0, sizeof c);
  c.safety = safety;
  c.careful = careful;
  make_ballast();
  while (minutes > 0 ? now() < began + 60 * minutes : c.programs < programs)
    try_program(&c, seed + (uint64_t)c.programs);
  drop_ballast();
  printf("programs %s%s: %" PRId64 " from seed %" PRIu64 ", CPU and %d GPUs, ",
         careful ? "careful " : "", names[safety], c.programs, seed, cuda_devices);
  printf("%" PRId64 " of 2 and %" PRId64 " of 3 threads, ", c.threads[1], c.threads[2]);
  printf("%" PRId64 " differ, %" PRId64 " wrong, %" PRId64 " races, ", c.differ, c.wrong, c.races);
  printf("%.0f us each\n", (now() - began) * 1e6 / (double)(c.programs ? c.programs : 1));
  return c;
}

/* ---- the tests ---- */
static int64_t number_of_programs(void) { return QUICK ? 300 : 4000; }

static void test_ordered(void) {
  const campaign c = run_campaign(GT_ORDER, 0, 1, number_of_programs(), 0);
  CHECK_INT(c.wrong, 0);
  CHECK_INT(c.races, 0);
}
static void test_careful(void) {
  const campaign c = run_campaign(GT_REPORT, 1, 1000001, number_of_programs() / 10, 0);
  CHECK_INT(c.wrong, 0);
  CHECK_INT(c.races, 0);
}
/* Does a created CPU stream work beside the caller? */
static int workers_are_real(void) {
  int late = 0, i;
  gt_stream *s = gt_stream_create(gt_cpu(), 0);
  make_ballast();
  for (i = 0; i < 50 && !late; i++) {
    GT_WITH_STREAM(s) gt_free(gt_eval(NULL, "sin(exp(a))", ballast_of[0]));
    late = gt_stream_query(s) == 0;
  }
  gt_stream_synchronize(s);
  gt_stream_free(s);
  drop_ballast();
  return late;
}
/* Without the library's order the same programs do go wrong: so the test above can fail. */
static void test_unordered(void) {
  const int64_t n = QUICK ? 100 : 1000;
  campaign off, report;
  always_ballast = 1;
  off = run_campaign(GT_OFF, 0, 2000001, n, 0);
  report = run_campaign(GT_REPORT, 0, 2000001, n, 0);
  always_ballast = 0;
  CHECK_INT(off.wrong, 0);
  CHECK_INT(off.races, 0);
  CHECK(off.differ > 0);
  CHECK_INT(report.wrong, 0);
  CHECK(report.races > 0);
  CHECK_INT(report.silent, 0);
}
/* The same seed is the same program. */
static void test_repeats(void) {
  static program a, b;
  uint64_t seed;
  for (seed = 1; seed <= 100; seed++) {
    make_program(&a, seed);
    make_program(&b, seed);
    CHECK_INT(a.steps, b.steps);
    CHECK(memcmp(a.step, b.step, (size_t)a.steps * sizeof(step)) == 0);
  }
}

/* ---- the program ---- */
static int count_devices(int argc, char **argv) {
  int i, n = gt_cuda_device_count();
  for (i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], "--device") == 0 && strcmp(argv[i + 1], "cpu") == 0) n = 0;
  return n < DEVICES ? n : DEVICES - 1;
}
static void test_as_told(int argc, char **argv) {
  static const char *const safeties[] = {"order", "report", "off"};
  int64_t programs = 1000;
  uint64_t seed = 1;
  double minutes = 0;
  int safety = GT_ORDER, careful = 0, i, k;
  for (i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--programs") == 0) programs = strtoll(value, NULL, 10);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(value, NULL, 10);
    if (strcmp(argv[i], "--minutes") == 0) minutes = strtod(value, NULL);
    if (strcmp(argv[i], "--threads") == 0) most_threads = strtoll(value, NULL, 10);
    if (strcmp(argv[i], "--careful") == 0) careful = 1;
    if (strcmp(argv[i], "--ballast") == 0) always_ballast = 1;
    if (strcmp(argv[i], "--verbose") == 0) verbose = 1;
    for (k = 0; k < 3; k++)
      if (strcmp(argv[i], "--safety") == 0 && strcmp(value, safeties[k]) == 0) safety = k;
  }
  if (careful) safety = GT_REPORT;
  CHECK_INT(run_campaign((gt_safety)safety, careful, seed, programs, minutes).wrong, 0);
}
static int is_told(int argc, char **argv) {
  static const char *const options[] = {"--programs", "--seed",    "--safety",  "--careful",
                                        "--minutes",  "--threads", "--ballast", "--verbose"};
  int i, k;
  for (i = 1; i < argc; i++)
    for (k = 0; k < 8; k++)
      if (strcmp(argv[i], options[k]) == 0) return 1;
  return 0;
}

int main(int argc, char **argv) {
  check_start("programs", argc, argv);
  snprintf(trace_path, sizeof trace_path, "/tmp/gputensor-programs-%ld.json", (long)getpid());
  cuda_devices = count_devices(argc, argv);
  if (is_told(argc, argv)) {
    case_begin("programs");
    test_as_told(argc, argv);
    case_end();
    remove(trace_path);
    return check_finish();
  }
  RUN(repeats);
  RUN(ordered);
  RUN(careful);
#if defined(UNDER_TSAN)
  skip("unordered", "such programs are data races");
#else
  if (cuda_devices > 0 || workers_are_real()) RUN(unordered);
  else skip("unordered", "created CPU streams run at once");
#endif
  remove(trace_path);
  return check_finish();
}
