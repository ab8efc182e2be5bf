/* A CUDA runtime without a GPU, made to find mistakes in the order of work.

   - Work is a list of items for each stream. Nothing runs by itself: items are executed inside the
     program's own calls, when one of them waits, asks, or needs memory. What is executed then is
     the seed's choice among the heads of all streams whose waits are fulfilled, and no more than
     the call needs; a seed may also like to run some items early. So a missing wait shows in some
     seed.
   - Device memory has two addresses. The one that the program gets cannot be read or written; the
     kernels use the other. An allocation lives for kernels from the execution of its allocation to
     that of its free, and whatever touches memory outside is noted and left out. Fresh and freed
     memory holds NaNs and large integers.
   - Pinned memory is read and written when the item is executed. Pageable memory is read at the
     call, and a copy to it is over when the call returns.
   - Handles are numbers that are never used twice, so that a dead one is known.
   - What a captured stream is given becomes a node of a graph. A launch is one item of its stream;
     its nodes are executed one at a time, in an order that the seed chooses among those that the
     edges allow, and other streams may go on in between.
   One lock guards it all. Host functions alone run without it: they may wait for the program's
   locks.

   With SIM_CLOCK=1 in the environment the seed has no choice, and there is a model of time. Work is
   executed inside the program's calls, as above; the model says when a GPU would have done it, and
   so which item comes next:
   - A device has an engine for copies to it and one for copies from it, each of which does one copy
     at a time, and UNITS units that compute. A kernel takes as many units as it has grains of work,
     but at least one and at most all. So small kernels of several streams, or small nodes of a
     graph, run side by side. A long kernel that is not in a graph gives its units back after each
     wave, and others may begin there.
   - An item begins when the item before it on its stream is done, its call was made, what it waits
     for is done, and its engine or units are free. If several could be next, the one that can begin
     earliest is; at equal times the one of the more urgent stream, then the one enqueued first.
   - Each host thread has a clock of its own. A call moves it on, and so does what the thread itself
     computes or copies. A wait moves it to the end of what was waited for, if that is later. Events
     give the model's times.
   The numbers, in the table `model`, are those of a small and slow GPU: sizes that a laptop computes
   in a second show there what large sizes show on a real GPU. */
#define _GNU_SOURCE
#include "cuda_runtime_api.h"
#include "sim.h"

#include <fenv.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES = 8, STACK = 8, ALIGN = 512, NAMES = SIM_FUNCTION_COUNT, TEXT = 8192, UNITS = 16 };
#define MIB ((size_t)1 << 20)
#define ARENA (1024 * MIB)
#define DEFAULT_MEMORY (64 * MIB)
#define FRESH 0x7fffffff7fffffffu /* NaN in every floating type, a large integer */
#define FREED 0x7ffffffe7ffffffeu

/* Times in us; rates in bytes or multiply-adds a us: 1000 bytes a us are 1 GB/s. */
static const struct {
  double call, note, look;                           /* the host's */
  double own, host_bytes, host_adds;
  double copy, copy_bytes;                           /* an engine's */
  double launch, unit_bytes, unit_adds, grain, wave; /* of UNITS units */
} model = {
    .call = 2,           /* a call that enqueues a copy or a kernel */
    .note = 0.5,         /* one that does something else */
    .look = 0.02,        /* a look at the clock */
    .own = 0.2,          /* an operation of the host itself, and what it moves or multiplies */
    .host_bytes = 6000,
    .host_adds = 10000,
    .copy = 2,           /* a copy between host and device, and its bytes */
    .copy_bytes = 4000,
    .launch = 2,         /* a kernel, and what each of its units moves or multiplies: */
    .unit_bytes = 30000, /* 480 GB/s, a tenth of an H200's */
    .unit_adds = 62500,  /* 2 TFLOP/s with all */
    .grain = 4,          /* us of work that are worth a unit */
    .wave = 50,          /* us after which a kernel lets others begin */
};

enum { STREAM = 1, EVENT, POOL, GRAPH, EXEC };
enum { COPY, SET, KERNEL, HOST, RECORD, WAIT, ALLOCATE, RELEASE, LAUNCH, UPLOAD };
enum { ON_DEVICE, PINNED, PAGEABLE };

/* A point in a stream that others wait for. Each record makes a new one. */
typedef struct mark {
  struct mark *next; /* in the list of unused ones */
  struct object *stream;
  double time;
  int refs, done;
} mark;

typedef struct item {
  struct item *next;
  int kind, function, value, device;
  uint64_t issue;       /* its number among all calls that enqueue, allocate or free */
  mark *mark;           /* RECORD, RELEASE: fulfils it; WAIT: waits for it */
  char *dst, *src;      /* COPY, SET: as the program knows them */
  size_t bytes;         /* KERNEL: of the arguments */
  double at, left;      /* when the call was made; us of work for one unit that are left */
  int waves;            /* that were done */
  uint64_t dst_host, src_host; /* serial of the pinned memory there, or 0 */
  void *payload;        /* KERNEL: the arguments; COPY: the captured source */
  void (*run)(void *);
  struct block *block;  /* ALLOCATE, RELEASE */
  struct play *play;    /* LAUNCH */
} item;

/* A stream, an event, a pool, a graph or an executable one. */
typedef struct object {
  int kind, live, device;
  int lost, own;        /* its destroy was made to fail; it is a thread's own stream */
  uint32_t index, serial;
  item *head, *tail;    /* stream */
  uint64_t issued, done;
  int priority;         /* the lower, the more urgent */
  double clock;         /* when it has done what it has done */
  int active, busy;     /* place in `active` or -1; a host function is running */
  mark *mark;           /* event: the last record; executable graph: its last launch */
  int timed, blocking;  /* blocking: the legacy stream waits for this stream */
  struct capture *capture; /* stream: what records it; event: what its last record belongs to */
  int *tips, n_tips;    /* nodes that come before the stream's next one, or before the event */
  struct recipe *work;  /* graphs of both kinds */
  struct object *next;  /* pool: of the device */
  size_t used, reserved, keep;
  uint32_t reached;     /* by these devices' kernels */
} object;

/* A piece of a device's addresses. A free piece may be waiting for its free to be executed. */
typedef struct segment {
  struct segment *before, *after;
  size_t offset, bytes;
  int used;
  mark *mark;
} segment;
typedef struct block {
  struct block *next;   /* in the list of unused ones */
  struct block *made;   /* in the list of all */
  size_t offset, bytes; /* bytes: as asked for */
  uint64_t born, freed; /* the calls that allocated and freed it, 0: not yet */
  int device, live, early, lost; /* early: its free was executed before its allocation */
  object *pool;
  segment *segment;
} block;
typedef struct {
  char *seen, *real;    /* the program's address, and the kernels' */
  block **live;         /* by granule of ALIGN bytes: what has been executed */
  block **start;        /* by granule: what the program has */
  size_t memory, reserved, top; /* top: no granule behind was touched */
  segment *first;
  object *pools;
  int context;
  double to, from, unit[UNITS], latest; /* when engines and units are free, in order; the last end */
} device;
typedef struct {
  char *p;
  size_t bytes;
  uint64_t serial;
  int registered, lost;
} host;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_function_ended = PTHREAD_COND_INITIALIZER;
static int started, n_device;
static uint64_t rng, epoch, issue;
static int early, detour; /* of 64: how often a call runs items, and how often others go first */
static device gpu[DEVICES];
static object **objects;
static uint32_t n_object, room_object, unused_object[1 << 20], n_unused_object;
static object **active;
static int n_active, room_active;
static int64_t n_pending;
static host *hosts;
static int n_host, room_host;
static uint64_t host_serial;
static item *unused_item;
static mark *unused_mark;
static block *unused_block, *made_blocks;
static segment *unused_segment;
static double now;
static __thread double thread_now; /* where has_clock: it has been asked for or set */
static __thread int has_clock;
static double newest; /* of all threads' clocks; a thread's clock begins there */
static int clock_mode = -1; /* -1: the environment was not asked yet */
static sim_counts alive;
static int64_t calls[NAMES + 1], failed;
static struct { int64_t at; int on; } fail[NAMES + 1];
static int fail_code;
static char text[TEXT];
static size_t text_bytes;
static int n_violation;
static const char *running = "?"; /* the call or the item that is executed, where, and its number */
static int running_device;
static uint64_t running_issue, running_capture; /* the latter: of a graph's node, or 0 */

static __thread struct {
  uint64_t epoch;
  int device, context;  /* the runtime's choice, and whether it made a context current */
  int stack[STACK], depth; /* contexts pushed on top of that */
  int in_host_function;
  cudaError_t last;
  object *stream[DEVICES];
} me;

#define SIM_NAME(name, can_fail) #name,
#define SIM_CAN_FAIL(name, can_fail) can_fail,
static const char *const function_name[] = {SIM_FUNCTIONS(SIM_NAME)};
static const unsigned char can_fail[] = {SIM_FUNCTIONS(SIM_CAN_FAIL)};

static int device_now(void) { return me.depth ? me.stack[me.depth - 1] : me.device; }

static int clocked(void) { /* without the lock, too */
  int mode = __atomic_load_n(&clock_mode, __ATOMIC_RELAXED);
  if (mode < 0) {
    const char *value = getenv("SIM_CLOCK");
    mode = value && strcmp(value, "0") != 0;
    __atomic_store_n(&clock_mode, mode, __ATOMIC_RELAXED);
  }
  return mode;
}

/* ---- chance, violations, lists of unused things ---- */
static uint64_t rnd(void) { /* splitmix64 */
  uint64_t z = rng += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int chance(int of64) { return (int)(rnd() & 63) < of64 && !clocked(); }
static uint32_t below(int n) { return clocked() ? 0 : (uint32_t)(((rnd() >> 32) * (uint64_t)n) >> 32); }

static void complain_list(const char *format, va_list list) {
  n_violation++;
  if (text_bytes + 300 > TEXT) return;
  text_bytes += (size_t)vsnprintf(text + text_bytes, 298, format, list);
  if (text_bytes > TEXT - 2) text_bytes = TEXT - 2;
  text[text_bytes++] = '\n';
  text[text_bytes] = 0;
}
__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...) {
  va_list list;
  va_start(list, format);
  complain_list(format, list);
  va_end(list);
}
static void *or_die(void *p) {
  if (p) return p;
  fprintf(stderr, "sim: out of memory\n");
  abort();
}
static void *fresh(size_t bytes) { return or_die(calloc(1, bytes)); }
#define TAKE(type, list) \
  static type *new_##type(void) { \
    type *x = list; \
    if (!x) return (type *)fresh(sizeof *x); \
    list = x->next; \
    memset(x, 0, sizeof *x); \
    return x; \
  }
TAKE(item, unused_item)
TAKE(mark, unused_mark)
/* Blocks stand in tables of mmap's memory, which leak checkers do not search: so all are in a list. */
static block *new_block(void) {
  block *b = unused_block, *made = made_blocks;
  if (!b) made_blocks = b = (block *)fresh(sizeof *b);
  else {
    unused_block = b->next;
    made = b->made;
    memset(b, 0, sizeof *b);
  }
  b->made = made;
  return b;
}
static void drop_block(block *b) {
  b->next = unused_block;
  unused_block = b;
}
static mark *keep_mark(mark *m) {
  if (m) m->refs++;
  return m;
}
static void drop_mark(mark *m) {
  if (!m || --m->refs) return;
  m->next = unused_mark;
  unused_mark = m;
}
static segment *new_segment(segment *before, segment *after, size_t offset, size_t bytes) {
  segment *s = unused_segment;
  if (s) unused_segment = s->after;
  else s = (segment *)fresh(sizeof *s);
  memset(s, 0, sizeof *s);
  s->before = before;
  s->after = after;
  s->offset = offset;
  s->bytes = bytes;
  if (before) before->after = s;
  if (after) after->before = s;
  return s;
}
static void drop_segment(segment *s) {
  if (s->before) s->before->after = s->after;
  if (s->after) s->after->before = s->before;
  drop_mark(s->mark);
  s->after = unused_segment;
  unused_segment = s;
}

/* ---- handles ---- */
static object *new_object(int kind, int on) {
  object *o;
  uint32_t index, serial;
  if (n_unused_object) {
    o = objects[unused_object[--n_unused_object]];
  } else {
    if (n_object == room_object) {
      room_object = room_object ? 2 * room_object : 64;
      objects = (object **)or_die(realloc(objects, room_object * sizeof *objects));
    }
    o = objects[n_object] = (object *)fresh(sizeof *o);
    o->index = n_object++;
  }
  index = o->index;
  serial = (o->serial + 1) & 0xffffff;
  memset(o, 0, sizeof *o);
  o->index = index;
  o->serial = serial;
  o->kind = kind;
  o->live = 1;
  o->device = on;
  o->active = -1;
  return o;
}
static void leave_capture(object *o);
static void drop_recipe(struct recipe *r);
static void drop_object(object *o) { /* its handle is dead at once, whoever asks next */
  leave_capture(o);
  drop_recipe(o->work);
  o->work = NULL;
  o->live = 0;
  o->kind = 0;
  unused_object[n_unused_object++] = o->index;
}
static void *handle_of(const object *o) {
  return (void *)(uintptr_t)(0x51a0u * ((uintptr_t)1 << 48) + ((uintptr_t)o->serial << 20) +
                             o->index);
}
static object *object_of(const void *handle, int kind) {
  static const char *const name[] = {"", "stream", "event", "pool", "graph", "executable graph"};
  const uintptr_t h = (uintptr_t)handle;
  const uint32_t index = (uint32_t)(h & 0xfffff), serial = (uint32_t)(h >> 20 & 0xffffff);
  object *o = index < n_object ? objects[index] : NULL;
  if (h >> 48 == 0x51a0 && o && o->serial == serial && o->kind == kind && o->live) return o;
  complain("%s: there is no such %s, or no longer", running, name[kind]);
  return NULL;
}
static object *thread_stream(void) {
  object **s = &me.stream[device_now()];
  if (!*s) {
    *s = new_object(STREAM, device_now());
    (*s)->own = 1;
    (*s)->blocking = 1;
  }
  return *s;
}
static int legacy_code(void);
static int no_stream; /* the error of the last stream_of that found none */
static object *stream_of(cudaStream_t stream) {
  no_stream = cudaErrorInvalidResourceHandle;
  if (stream == cudaStreamPerThread) return thread_stream();
  if (stream == NULL || stream == cudaStreamLegacy) {
    complain("%s: on the legacy stream", running);
    no_stream = legacy_code();
    return NULL;
  }
  return object_of(stream, STREAM);
}

/* ---- what is where ---- */
static int arena_of(const void *p) {
  int d;
  for (d = 0; d < n_device; d++)
    if ((const char *)p >= gpu[d].seen && (const char *)p < gpu[d].seen + ARENA) return d;
  return -1;
}
/* The first pinned range that ends behind p. */
static int host_place(const char *p) {
  int low = 0, high = n_host;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (hosts[middle].p + hosts[middle].bytes <= p) low = middle + 1;
    else high = middle;
  }
  return low;
}
static host *host_of(const char *p) {
  const int i = host_place(p);
  return i < n_host && hosts[i].p <= p ? &hosts[i] : NULL;
}
static int place_of(const void *p, size_t bytes, uint64_t *serial) {
  const host *h;
  *serial = 0;
  if (arena_of(p) >= 0) return ON_DEVICE;
  h = host_of((const char *)p);
  if (!h) return PAGEABLE;
  *serial = h->serial;
  if ((const char *)p + bytes > h->p + h->bytes)
    complain("%s: %zu bytes at %p run over the end of pinned memory", running, bytes, p);
  return PINNED;
}
/* The kernels' address of device memory, if all of it is one living allocation. */
static char *device_memory(const char *p, size_t bytes, const char *what) {
  const int d = arena_of(p);
  const size_t offset = (size_t)(p - gpu[d].seen);
  const block *b = gpu[d].live[offset / ALIGN];
  if (!b)
    complain("%s: %s: %zu bytes at %p on device %d, which %s", running, what, bytes,
             (const void *)p, d,
             offset < gpu[d].top ? "are not allocated yet or freed already" : "nobody allocated");
  else if (b->born > running_issue || (b->freed && b->freed < running_issue))
    complain("%s: %s: %zu bytes at %p on device %d, which %s", running, what, bytes,
             (const void *)p, d, b->freed ? "were freed before this was enqueued"
                                         : "were freed and are another allocation now");
  else if (running_capture && b->born > running_capture)
    complain("%s: %s: %zu bytes at %p on device %d, which are another allocation than at the capture",
             running, what, bytes, (const void *)p, d);
  else if (offset + bytes > b->offset + b->bytes)
    complain("%s: %s: %zu bytes at %p run over the end of %zu bytes", running, what, bytes,
             (const void *)p, b->bytes);
  else return gpu[d].real + offset;
  return NULL;
}
static char *memory_of(char *p, size_t bytes, uint64_t serial, const char *what) {
  const host *h;
  if (arena_of(p) >= 0) return device_memory(p, bytes, what);
  if (!serial) return p;
  h = host_of(p);
  if (h && h->serial == serial) return p;
  complain("%s: %s: pinned memory at %p was freed before the copy was done", running, what,
           (void *)p);
  return NULL;
}
/* May the running kernel use memory of device d? It may if the pool that it came from is open to its device. */
static int is_reached(int d, const char *p) {
  const block *b = gpu[d].live[(size_t)(p - gpu[d].seen) / ALIGN];
  return d == running_device || !b || (b->pool && b->pool->reached >> running_device & 1);
}
void *sim_touch(const void *address, size_t bytes, const char *what) {
  uint64_t serial;
  const int d = arena_of(address);
  if (d >= 0 && !is_reached(d, (const char *)address)) {
    complain("%s: %s is on device %d, the kernel on %d", running, what, d, running_device);
    return NULL;
  }
  switch (place_of(address, bytes, &serial)) {
    case ON_DEVICE: return device_memory((const char *)address, bytes, what);
    case PINNED: return (void *)(uintptr_t)address;
    default: complain("%s: %s at %p is ordinary host memory", running, what, address); return NULL;
  }
}
void sim_complain(const char *format, ...) {
  va_list list;
  va_start(list, format);
  complain_list(format, list);
  va_end(list);
}

/* ---- recorded work ---- */
/* An item, and the nodes that come behind it. A node's number is larger than those before it. */
typedef struct {
  item what;
  int *next, n_next, lack; /* lack: nodes in front of it */
} node;
typedef struct recipe {
  int refs, n;
  node *nodes;
} recipe;
/* Streams and events that belong to it hold it. */
typedef struct capture {
  struct capture *next;
  int refs, mode, invalid, over;
  const void *thread;
  object *origin;
  recipe *work;
} capture;
/* A launch that may have begun: what each node still waits for, and those that wait for none. */
typedef struct play {
  recipe *work;
  int left, n_ready, *lack, *ready;
  int next;           /* which of `ready` the model of time takes next */
  double end, *after; /* and when it ends so far, and what is in front of each node */
} play;
static capture *captures; /* that have not ended */

/* Room for one more of n things, whose array grows to powers of two. */
static void *one_more(void *array, int n, size_t bytes) {
  if (n & (n - 1)) return array;
  return or_die(realloc(array, (n ? 2 * (size_t)n : 1) * bytes));
}
static void drop_recipe(recipe *r) {
  int k;
  if (!r || --r->refs) return;
  for (k = 0; k < r->n; k++) {
    free(r->nodes[k].what.payload);
    free(r->nodes[k].next);
  }
  free(r->nodes);
  free(r);
}
static recipe *keep_recipe(recipe *r) {
  r->refs++;
  return r;
}
static void drop_capture(capture *c) {
  if (--c->refs) return;
  drop_recipe(c->work);
  free(c);
}
static void leave_capture(object *o) {
  free(o->tips);
  o->tips = NULL;
  o->n_tips = 0;
  if (o->capture) drop_capture(o->capture);
  o->capture = NULL;
}
static void enter_capture(object *o, capture *c) {
  leave_capture(o);
  o->capture = c;
  c->refs++;
}
static void add_tip(object *o, int tip) {
  int k;
  for (k = 0; k < o->n_tips; k++)
    if (o->tips[k] == tip) return;
  o->tips = (int *)one_more(o->tips, o->n_tips, sizeof tip);
  o->tips[o->n_tips++] = tip;
}
static void add_tips(object *o, const object *from) {
  int k;
  for (k = 0; k < from->n_tips; k++) add_tip(o, from->tips[k]);
}
/* A captured stream's next node, behind all that the stream has waited for. */
static item *add_node(object *s) {
  recipe *r = s->capture->work;
  const int at = r->n;
  node *x;
  int k;
  r->nodes = (node *)one_more(r->nodes, r->n++, sizeof *r->nodes);
  x = &r->nodes[at];
  memset(x, 0, sizeof *x);
  x->lack = s->n_tips;
  for (k = 0; k < s->n_tips; k++) {
    node *before = &r->nodes[s->tips[k]];
    before->next = (int *)one_more(before->next, before->n_next, sizeof at);
    before->next[before->n_next++] = at;
  }
  s->n_tips = 0;
  free(s->tips);
  s->tips = NULL;
  add_tip(s, at);
  return &x->what;
}
static play *new_play(recipe *r) {
  play *p = (play *)fresh(sizeof *p);
  int k;
  p->work = keep_recipe(r);
  p->left = r->n;
  p->lack = (int *)fresh((size_t)(2 * r->n + 1) * sizeof *p->lack);
  p->ready = p->lack + r->n;
  p->after = (double *)fresh((size_t)(r->n + 1) * sizeof *p->after);
  for (k = 0; k < r->n; k++) {
    p->lack[k] = r->nodes[k].lack;
    if (!p->lack[k]) p->ready[p->n_ready++] = k;
  }
  return p;
}
static void drop_play(play *p) {
  if (!p) return;
  drop_recipe(p->work);
  free(p->lack);
  free(p->after);
  free(p);
}

/* ---- executing ---- */
static void fill(char *p, size_t bytes, uint64_t pattern) {
  size_t i;
  for (i = 0; i < (bytes + 7) / 8; i++) memcpy(p + 8 * i, &pattern, 8);
}
static size_t rounded(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }
static void set_live(block *b, int live) {
  device *g = &gpu[b->device];
  size_t i;
  for (i = b->offset / ALIGN; i < (b->offset + rounded(b->bytes)) / ALIGN; i++)
    g->live[i] = live ? b : NULL;
  fill(g->real + b->offset, rounded(b->bytes), live ? FRESH : FREED);
  b->live = live;
}
static void execute_release(item *i) {
  block *b = i->block;
  if (b->live) {
    set_live(b, 0);
    drop_block(b);
  } else {
    complain("%s: memory at %p is freed before it is allocated: streams are not in order",
             function_name[i->function], (void *)(gpu[b->device].seen + b->offset));
    b->early = 1;
  }
}
static void execute_allocation(block *b) {
  if (b->early) drop_block(b);
  else set_live(b, 1);
}
static void execute_copy(item *i) {
  char *dst = memory_of(i->dst, i->bytes, i->dst_host, "destination");
  char *src = i->payload ? (char *)i->payload
                         : memory_of(i->src, i->bytes, i->src_host, "source");
  if (dst && src) memmove(dst, src, i->bytes);
}
static void execute_set(item *i) {
  char *dst = memory_of(i->dst, i->bytes, i->dst_host, "destination");
  if (dst) memset(dst, i->value, i->bytes);
}
static void execute_host(item *i, object *s) {
  s->busy = 1;
  pthread_mutex_unlock(&lock);
  me.in_host_function = 1;
  i->run(i->payload);
  me.in_host_function = 0;
  pthread_mutex_lock(&lock);
  s->busy = 0;
  i->payload = NULL; /* it is the program's */
  pthread_cond_broadcast(&host_function_ended);
}
/* A kernel may write to its arguments, and the next launch needs them as they were. */
static void execute_node(const node *x) {
  item i = x->what;
  running = function_name[i.function];
  running_device = i.device;
  running_capture = i.issue;
  if (i.kind == COPY) execute_copy(&i);
  if (i.kind == SET) execute_set(&i);
  if (i.kind == KERNEL) {
    i.payload = memcpy(or_die(malloc(i.bytes)), i.payload, i.bytes);
    i.run(i.payload);
    free(i.payload);
  }
  running_capture = 0;
}
static void execute_launch(play *p) {
  int at, k;
  const node *x;
  if (!p->left) return;
  at = clocked() ? p->next : (int)below(p->n_ready);
  x = &p->work->nodes[p->ready[at]];
  p->ready[at] = p->ready[--p->n_ready];
  execute_node(x);
  for (k = 0; k < x->n_next; k++)
    if (!--p->lack[x->next[k]]) p->ready[p->n_ready++] = x->next[k];
  p->left--;
}
static void finish_mark(mark *m) {
  if (!m) return;
  m->done = 1;
  m->time = now;
}
static void deactivate(object *s) {
  object *last = active[--n_active];
  active[s->active] = last;
  last->active = s->active;
  s->active = -1;
  if (!s->live) drop_object(s);
}
static void execute_head(object *s) {
  item *i = s->head;
  const char *const before = running;
  running = function_name[i->function];
  running_device = i->device;
  running_issue = i->issue;
  switch (i->kind) {
    case COPY: execute_copy(i); break;
    case SET: execute_set(i); break;
    case KERNEL: i->run(i->payload); break;
    case HOST: execute_host(i, s); break;
    case ALLOCATE: execute_allocation(i->block); break;
    case RELEASE: execute_release(i); break;
    case LAUNCH: execute_launch(i->play); break;
    default: break;
  }
  running = before;
  if (!clocked()) now += 0.001 * (double)(1 + below(8));
  if (i->kind == LAUNCH && i->play->left) return;
  drop_play(i->play);
  if (i->kind != WAIT) finish_mark(i->mark);
  drop_mark(i->mark);
  free(i->payload);
  s->head = i->next;
  s->done++;
  n_pending--;
  i->next = unused_item;
  unused_item = i;
  if (!s->head) deactivate(s);
}

/* ---- the model of time ---- */
static double larger(double a, double b) { return a > b ? a : b; }
static double host_now(void) {
  if (!has_clock) __atomic_load(&newest, &thread_now, __ATOMIC_RELAXED);
  has_clock = 1;
  return thread_now;
}
static void host_goes_on(double ms) {
  double last;
  if (!has_clock || ms > thread_now) thread_now = ms;
  has_clock = 1;
  __atomic_load(&newest, &last, __ATOMIC_RELAXED);
  if (thread_now > last) __atomic_store(&newest, &thread_now, __ATOMIC_RELAXED);
}
static void host_spends(double us) { host_goes_on(host_now() + us * 0.001); }
/* The engines of a copy between host and device or two devices: where they note till when they are
   taken. */
static int engines_of(const item *i, double **engine) {
  const int to = arena_of(i->dst), from = i->payload || !i->src ? -1 : arena_of(i->src);
  int n = 0;
  if (i->kind != COPY || (to >= 0 && to == from)) return 0;
  if (to >= 0) engine[n++] = &gpu[to].to;
  if (from >= 0) engine[n++] = &gpu[from].from;
  if (!n) engine[n++] = &gpu[i->device].from;
  return n;
}
static int computes(const item *i) {
  double *engine[2];
  return i->kind == KERNEL || i->kind == SET || (i->kind == COPY && !engines_of(i, engine));
}
static int units_of(const item *i) {
  const double n = i->left / model.grain;
  return n >= UNITS ? UNITS : n > 1 ? (int)n : 1;
}
/* When it may begin, t at the earliest. */
static double begin_of(const item *i, double t) {
  double *engine[2];
  int n = engines_of(i, engine);
  if (i->kind == WAIT) t = larger(t, i->mark->time);
  if (computes(i)) t = larger(t, gpu[i->device].unit[units_of(i) - 1]);
  while (n--) t = larger(t, *engine[n]);
  return t;
}
/* Of the nodes of a graph that may begin, the earliest, and of these the first. */
static double begin_of_play(const play *p, double t, int *next) {
  double best = -1;
  int k;
  *next = 0;
  for (k = 0; k < p->n_ready; k++) {
    const int at = p->ready[k];
    const double begin = begin_of(&p->work->nodes[at].what, larger(t, p->after[at]));
    if (best >= 0 && (begin > best || (begin == best && at > p->ready[*next]))) continue;
    best = begin;
    *next = k;
  }
  return larger(best, t);
}
/* When the head of a stream may begin. */
static double start_of(const object *s) {
  const item *i = s->head;
  const double t = larger(s->clock, i->at);
  int next;
  return i->kind == LAUNCH ? begin_of_play(i->play, t, &next) : begin_of(i, t);
}
/* Those that were free first are taken; the list stays in order. */
static void take_units(double *unit, int n, double until) {
  int k = n;
  while (k < UNITS && unit[k] < until) k++;
  memmove(unit, unit + n, (size_t)(k - n) * sizeof *unit);
  for (; n > 0; n--) unit[k - n] = until;
}
/* It begins at t; returns when it ends, or that much of its work, in us. */
static double take(item *i, double t, double most) {
  double *engine[2];
  int n = engines_of(i, engine);
  if (computes(i)) {
    const int units = units_of(i);
    const double part = i->left > most * units ? most * units : i->left;
    t += (part / units + (i->waves++ ? 0 : model.launch)) * 0.001;
    i->left -= part;
    take_units(gpu[i->device].unit, units, t);
  } else if (n) t += (model.copy + (double)i->bytes / model.copy_bytes) * 0.001;
  while (n--) *engine[n] = t;
  gpu[i->device].latest = larger(gpu[i->device].latest, t);
  return t;
}
static void take_node(object *s) {
  play *p = s->head->play;
  const double began = larger(s->clock, s->head->at), t = begin_of_play(p, began, &p->next);
  if (p->left) {
    const node *x = &p->work->nodes[p->ready[p->next]];
    item i = x->what;
    int k;
    now = take(&i, t, 1e30);
    for (k = 0; k < x->n_next; k++) p->after[x->next[k]] = larger(p->after[x->next[k]], now);
    p->end = larger(p->end, now);
  }
  if (p->left <= 1) now = s->clock = larger(began, p->end);
}
/* Moves the stream's clock; 0: a wave of a kernel is over, not the kernel. */
static int take_time(object *s) {
  if (s->head->kind == LAUNCH) {
    take_node(s);
    return 1;
  }
  now = s->clock = take(s->head, start_of(s), model.wave);
  return s->head->left <= 0;
}
/* Does the head of a, which may begin at the same time, go before that of b? */
static int goes_first(const object *a, const object *b) {
  if (a->priority != b->priority) return a->priority < b->priority;
  if (!a->head->waves != !b->head->waves) return !a->head->waves;
  return a->head->issue < b->head->issue;
}
static int is_stuck(const object *s) { return s->head->kind == WAIT && !s->head->mark->done; }
static object *earliest(object *s) {
  int k;
  for (k = 0; k < n_active; k++) {
    object *o = active[k];
    double a, b;
    if (o == s || is_stuck(o) || o->head->kind == HOST) continue;
    if (!s) s = o;
    a = start_of(o);
    b = start_of(s);
    if (a < b || (a == b && goes_first(o, s))) s = o;
  }
  return s;
}
/* What copies and sets inside a device cost one unit, and what the kernels say. */
static double unit_us(const item *i) {
  sim_cost cost = {0, 0};
  if (i->kind == KERNEL && sim_cost_of) cost = sim_cost_of(i->function, i->payload);
  if (i->kind == COPY && computes(i)) cost.bytes = 2 * (double)i->bytes;
  if (i->kind == SET) cost.bytes = (double)i->bytes;
  return larger(cost.bytes / model.unit_bytes, cost.multiply_adds / model.unit_adds);
}
static double call_us(int function) {
  switch (function) {
    case SIM_cudaMemcpyAsync: case SIM_cudaMemcpyPeerAsync: case SIM_cudaMemsetAsync:
    case SIM_cudaLaunchHostFunc: case SIM_gt__cuda_copy: case SIM_gt__cuda_map:
    case SIM_gt__cuda_reduce: case SIM_gt__cuda_matmul: case SIM_gt__cuda_order: case SIM_gt__cuda_scatter:
    case SIM_cudaGraphLaunch: return model.call;
    case SIM_cudaGetErrorString: case SIM_cudaGetErrorName: case SIM_cudaGetLastError:
    case SIM_cudaPeekAtLastError: case SIM_cudaGetDevice: case SIM_cudaSetDevice:
    case SIM_cuCtxGetCurrent: case SIM_cuCtxPushCurrent: case SIM_cuCtxPopCurrent: return 0;
    default: return model.note;
  }
}

/* ---- going on ---- */
/* A GPU has a floating-point mode of its own. */
static void execute(object *s) {
  fenv_t caller;
  if (clocked() && !take_time(s)) return;
  fegetenv(&caller);
  fesetenv(FE_DFL_ENV);
  execute_head(s);
  fesetenv(&caller);
}
/* The stream whose head must be executed first, if s is to go on. Waits never form a circle: each
   is for a record that was enqueued before it. */
static object *root_of(object *s) {
  while (s->head->kind == WAIT && !s->head->mark->done) s = s->head->mark->stream;
  return s;
}
/* May this item be executed though nobody asked for it? A host function may not: the thread at hand
   can hold a lock that the function takes, and CUDA's own thread would just wait for it. */
static int unasked(const object *s) { return s->head->kind != HOST; }
/* Executes one item: what `target` needs next, or by chance any other that may run. */
static void step(object *target) {
  object *s = root_of(target);
  if (clocked()) s = s->busy ? s : earliest(s);
  else if (chance(detour)) {
    object *other = root_of(active[below(n_active)]);
    if (unasked(other)) s = other;
  }
  if (s->busy) pthread_cond_wait(&host_function_ended, &lock);
  else execute(s);
}
static void run_until(object *s, uint64_t number) {
  while (s->done < number) step(s);
  host_goes_on(s->clock);
}
static void run_until_mark(mark *m) {
  keep_mark(m);
  while (!m->done) step(m->stream);
  if (clocked()) host_goes_on(m->time);
  drop_mark(m);
}
/* All that begins by now. */
static void run_till_now(void) {
  object *s;
  while ((s = earliest(NULL)) != NULL && start_of(s) <= host_now()) execute(s);
}
static int has_passed(const mark *m) { return m->done && !(clocked() && m->time > host_now()); }
static int is_idle(const object *s) { return !s->head && (!clocked() || s->clock <= host_now()); }
static void run_some(int n) {
  while (n-- > 0 && n_active) {
    object *s = root_of(active[below(n_active)]);
    if (unasked(s)) execute(s);
  }
}
/* A query that sees progress: the program may ask again until the stream is done. */
static void run_towards(object *s) {
  if (clocked()) run_till_now();
  else if (chance(32)) run_some(1 + (int)below(4));
  else if (s->head && chance(32) && !root_of(s)->busy) execute(root_of(s));
}
static int has_work(int d) {
  int k;
  for (k = 0; k < n_active && active[k]->device != d; k++) {}
  return k < n_active;
}
static void run_device(int d) {
  while (has_work(d)) {
    object *s = active[below(n_active)];
    if (s->device == d || clocked()) step(s);
  }
  host_goes_on(gpu[d].latest);
}

/* ---- enqueuing ---- */
static item *enqueue(object *s, int kind, int function) {
  item *i = s->capture ? add_node(s) : new_item();
  i->kind = kind;
  i->function = function;
  i->device = s->device;
  i->issue = ++issue;
  i->at = host_now();
  if (s->capture) return i;
  if (s->head) s->tail->next = i;
  else s->head = i;
  s->tail = i;
  s->issued++;
  n_pending++;
  if (s->active >= 0) return i;
  if (n_active == room_active) {
    room_active = room_active ? 2 * room_active : 64;
    active = (object **)or_die(realloc(active, (size_t)room_active * sizeof *active));
  }
  s->active = n_active;
  active[n_active++] = s;
  return i;
}
static mark *mark_here(object *s) {
  mark *m = new_mark();
  m->stream = s;
  return keep_mark(m);
}
static void enqueue_wait(object *s, mark *m, int function) {
  if (m && !has_passed(m)) enqueue(s, WAIT, function)->mark = keep_mark(m);
}

/* ---- every call begins and ends here ---- */
static void start_device(device *g) {
  const int none = PROT_NONE, all = PROT_READ | PROT_WRITE;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const size_t table = ARENA / ALIGN * sizeof *g->live;
  if (g->seen) return;
  g->seen = (char *)mmap(NULL, ARENA, none, flags, -1, 0);
  g->real = (char *)mmap(NULL, ARENA, all, flags, -1, 0);
  g->live = (block **)mmap(NULL, table, all, flags, -1, 0);
  g->start = (block **)mmap(NULL, table, all, flags, -1, 0);
  if (g->seen != MAP_FAILED && g->real != MAP_FAILED && (void *)g->live != MAP_FAILED &&
      (void *)g->start != MAP_FAILED) return;
  fprintf(stderr, "sim: no address space\n");
  abort();
}
static void reset_device(device *g) {
  size_t i;
  start_device(g);
  while (g->first) {
    segment *s = g->first;
    block *b = s->used ? g->start[s->offset / ALIGN] : NULL;
    if (b) drop_block(b);
    g->first = s->after;
    drop_segment(s);
  }
  for (i = 0; i < g->top / ALIGN; i++) g->live[i] = g->start[i] = NULL;
  g->top = g->reserved = 0;
  g->memory = DEFAULT_MEMORY;
  g->context = 0;
  g->pools = NULL;
  g->to = g->from = g->latest = 0;
  memset(g->unit, 0, sizeof g->unit);
  g->first = new_segment(NULL, NULL, 0, g->memory);
}
static void forget_work(void) {
  while (n_active) {
    object *s = active[0];
    while (s->head) {
      item *i = s->head;
      if (i->kind == RELEASE || (i->kind == ALLOCATE && i->block->early)) drop_block(i->block);
      if (i->kind != HOST) free(i->payload);
      drop_play(i->play);
      drop_mark(i->mark);
      s->head = i->next;
      i->next = unused_item;
      unused_item = i;
    }
    deactivate(s);
  }
  n_pending = 0;
}
static void reset(uint64_t seed, int devices) {
  static const unsigned char often[] = {0, 2, 16, 64}, off[] = {0, 16, 56, 64};
  uint32_t k;
  int d;
  started = 1;
  epoch++;
  rng = seed;
  rng = rnd();
  early = often[below(4)];
  detour = off[below(4)];
  forget_work();
  for (k = 0; k < n_object; k++)
    if (objects[k]->kind) {
      drop_mark(objects[k]->mark);
      drop_object(objects[k]);
    }
  captures = NULL;
  for (d = 0; d < n_host; d++)
    if (!hosts[d].registered) free(hosts[d].p);
  n_host = 0;
  n_device = devices < DEVICES ? devices : DEVICES;
  for (d = 0; d < n_device; d++) reset_device(&gpu[d]);
  memset(&alive, 0, sizeof alive);
  memset(calls, 0, sizeof calls);
  memset(fail, 0, sizeof fail);
  fail_code = 0;
  failed = 0;
  now = 0;
  n_violation = 0;
  text_bytes = 0;
  text[0] = 0;
}
static void set_memory(size_t bytes) {
  int d;
  if (bytes > ARENA) bytes = ARENA;
  for (d = 0; d < n_device; d++) {
    segment *s = gpu[d].first;
    while (s->after) s = s->after;
    if (s->used || s->mark) s = new_segment(s, NULL, s->offset + s->bytes, 0);
    s->bytes = rounded(bytes) > s->offset ? rounded(bytes) - s->offset : 0;
    gpu[d].memory = bytes;
  }
}
static uint64_t from_environment(const char *name, uint64_t otherwise) {
  const char *value = getenv(name);
  return value ? strtoull(value, NULL, 10) : otherwise;
}
static void start(void) {
  if (!started) {
    reset(from_environment("SIM_SEED", 1), (int)from_environment("SIM_DEVICES", 2));
    if (getenv("SIM_MEMORY")) set_memory((size_t)from_environment("SIM_MEMORY", 64) * MIB);
  }
  if (me.epoch == epoch) return;
  memset(&me, 0, sizeof me);
  me.epoch = epoch;
}
static int fitting_code(int function) {
  switch (function) {
    case SIM_cudaMalloc: case SIM_cudaMallocAsync: case SIM_cudaMallocFromPoolAsync:
    case SIM_cudaHostAlloc: case SIM_cudaHostRegister: case SIM_cudaMemPoolCreate:
      return cudaErrorMemoryAllocation;
    case SIM_cudaGetDeviceCount: return cudaErrorInitializationError;
    default: return cudaErrorUnknown;
  }
}
static int must_fail(int k) {
  if (!fail[k].at || calls[k] < fail[k].at) return 0;
  return fail[k].on || calls[k] == fail[k].at;
}
/* A call that fails may or may not invalidate what its thread captures. */
static void spoil_captures(void) {
  capture *c;
  for (c = captures; c; c = c->next)
    if (c->thread == &me && chance(32)) c->invalid = 1;
}
/* Takes the lock and counts; the error that the call must return with no effect, or 0. */
static int enter(int function) {
  pthread_mutex_lock(&lock);
  start();
  running = function_name[function];
  calls[function]++;
  if (clocked()) host_spends(call_us(function));
  if (me.in_host_function) {
    complain("%s: called by a host function", running);
    return cudaErrorNotPermitted;
  }
  if (!can_fail[function]) return 0;
  calls[NAMES]++;
  if (n_device < 0) return cudaErrorInsufficientDriver;
  if (!must_fail(function) && !must_fail(NAMES)) return 0;
  failed++;
  spoil_captures();
  return fail_code ? fail_code : fitting_code(function);
}
static cudaError_t leave(int code) {
  if (code) me.last = (cudaError_t)code;
  pthread_mutex_unlock(&lock);
  return (cudaError_t)code;
}
#define ENTER(function) \
  do { \
    const int gone_wrong = enter(SIM_##function); \
    if (gone_wrong) return leave(gone_wrong); \
  } while (0)
#define NEED(x, code) \
  do { \
    if (!(x)) return leave(code); \
  } while (0)
/* What needs a context makes one on the current device. */
static int use_context(void) {
  if (n_device <= 0) return cudaErrorNoDevice;
  gpu[device_now()].context = 1;
  if (!me.depth) me.context = 1;
  return 0;
}
#define NEED_NO(function_and_arguments) \
  do { \
    const int refusal = function_and_arguments; \
    if (refusal) return leave(refusal); \
  } while (0)
#define NEED_CONTEXT() \
  do { \
    const int no_context = use_context(); \
    if (no_context) return leave(no_context); \
  } while (0)
static void maybe_run(void) {
  if (n_active && chance(early)) run_some(early == 64 ? 64 : 1 + (int)below(4));
}

/* ---- the rules of captures ---- */
static int invalidate(capture *c, int code) {
  if (c->invalid) return cudaErrorStreamCaptureInvalidated;
  c->invalid = 1;
  return code;
}
/* May this work go to the stream? 0, or the error. */
static int records(const object *s) {
  return s->capture && s->capture->invalid ? cudaErrorStreamCaptureInvalidated : 0;
}
/* What no graph can hold. */
static int unrecorded(const object *s) {
  return s->capture ? invalidate(s->capture, cudaErrorStreamCaptureUnsupported) : 0;
}
/* What CUDA's graphs could hold, and the simulator's cannot, since the library never does it. */
static int never_recorded(const object *s) {
  if (s->capture) complain("%s: on a stream that is captured", running);
  return unrecorded(s);
}
/* The device, or the legacy stream of the calling thread's: an error if a capture is in the way. */
static int captured_on(int d, int only_blocking, int code) {
  uint32_t k;
  int found = 0;
  for (k = 0; k < n_object; k++) {
    const object *o = objects[k];
    if (o->kind != STREAM || !o->capture || o->device != d) continue;
    if (only_blocking && !o->blocking) continue;
    found = code;
    o->capture->invalid = 1;
  }
  return found;
}
static int legacy_code(void) {
  const int code = captured_on(device_now(), 1, cudaErrorStreamCaptureImplicit);
  return code ? code : cudaErrorInvalidResourceHandle;
}
/* Calls that a capture does not see and that it could depend on. CUDA names cudaMalloc alone; event
   queries and pinned memory are known. Refused to a thread that captures and has not said relaxed,
   and to all others while one captures in the global mode. */
static int unsafe(void) {
  capture *c;
  int code = 0;
  for (c = captures; c; c = c->next) {
    if (c->mode == cudaStreamCaptureModeRelaxed) continue;
    if (c->mode == cudaStreamCaptureModeThreadLocal && c->thread != &me) continue;
    c->invalid = 1;
    code = cudaErrorStreamCaptureUnsupported;
  }
  return code;
}
static int captured_event(const object *e) {
  if (!e->capture) return 0;
  if (!e->capture->over) invalidate(e->capture, 0);
  return cudaErrorCapturedEvent;
}
/* A stream waits for an event, and one of the two is captured. */
static int join_capture(object *s, const object *e) {
  capture *c = s->capture, *from = e->capture;
  if (c && c->invalid) return cudaErrorStreamCaptureInvalidated;
  if (c && !from) return invalidate(c, cudaErrorStreamCaptureIsolation);
  if (from->over) return c ? invalidate(c, cudaErrorStreamCaptureIsolation) : cudaErrorCapturedEvent;
  if (from->invalid) return cudaErrorStreamCaptureInvalidated;
  if (c && c != from) {
    invalidate(from, 0);
    return invalidate(c, cudaErrorStreamCaptureMerge);
  }
  if (!c) enter_capture(s, from);
  add_tips(s, e);
  return 0;
}
static void record_captured(object *e, const object *s) {
  drop_mark(e->mark);
  e->mark = NULL;
  enter_capture(e, s->capture);
  add_tips(e, s);
}
/* Does the origin come behind every node? */
static int joined(const capture *c) {
  const recipe *r = c->work;
  char *reached = (char *)fresh((size_t)r->n + 1);
  int k, j, all = 1;
  for (k = 0; k < c->origin->n_tips; k++) reached[c->origin->tips[k]] = 1;
  for (k = r->n - 1; k >= 0; k--) {
    for (j = 0; j < r->nodes[k].n_next; j++)
      if (reached[r->nodes[k].next[j]]) reached[k] = 1;
    all &= reached[k];
  }
  free(reached);
  return all;
}
/* Takes all its streams out; events stay captured until their next record. */
static void end_capture(capture *c) {
  capture **link = &captures;
  uint32_t k;
  while (*link != c) link = &(*link)->next;
  *link = c->next;
  c->over = 1;
  c->refs++;
  for (k = 0; k < n_object; k++)
    if (objects[k]->kind == STREAM && objects[k]->capture == c) leave_capture(objects[k]);
  drop_capture(c);
}
/* CUDA does not say what becomes of the capture. */
static void destroy_captured(object *s) {
  capture *c = s->capture;
  if (!c) return;
  complain("%s: the stream is captured", running);
  c->invalid = 1;
  if (c->origin == s) end_capture(c);
  else leave_capture(s);
}

/* ---- control ---- */
void sim_reset(uint64_t seed, int devices) {
  const double zero = 0;
  pthread_mutex_lock(&lock);
  __atomic_store_n(&clock_mode, -1, __ATOMIC_RELAXED);
  __atomic_store(&newest, &zero, __ATOMIC_RELAXED);
  has_clock = 0;
  reset(seed, devices);
  start();
  pthread_mutex_unlock(&lock);
}
void sim_memory(size_t bytes) {
  pthread_mutex_lock(&lock);
  start();
  set_memory(bytes);
  pthread_mutex_unlock(&lock);
}
static int function_of(const char *name) {
  int k;
  for (k = 0; k < NAMES && strcmp(name, "*") != 0; k++)
    if (strcmp(function_name[k], name) == 0) return k;
  if (strcmp(name, "*") == 0) return NAMES;
  fprintf(stderr, "sim: no function is called %s\n", name);
  abort();
}
void sim_fail(const char *function, int nth, int from_then_on) {
  const int k = function_of(function);
  pthread_mutex_lock(&lock);
  fail[k].at = nth ? calls[k] + nth : 0;
  fail[k].on = from_then_on;
  pthread_mutex_unlock(&lock);
}
void sim_fail_code(int code) {
  pthread_mutex_lock(&lock);
  fail_code = code;
  pthread_mutex_unlock(&lock);
}
static int64_t locked(const int64_t *p) {
  int64_t v;
  pthread_mutex_lock(&lock);
  v = *p;
  pthread_mutex_unlock(&lock);
  return v;
}
int64_t sim_failed(void) { return locked(&failed); }
int64_t sim_calls(const char *function) { return locked(&calls[function_of(function)]); }
int64_t sim_pending(void) { return locked(&n_pending); }
int sim_seen(const char **names, int size) {
  int k, n = 0;
  pthread_mutex_lock(&lock);
  for (k = 0; k < NAMES && n < size; k++)
    if (calls[k] && can_fail[k]) names[n++] = function_name[k];
  pthread_mutex_unlock(&lock);
  return n;
}
sim_counts sim_live(void) {
  sim_counts c;
  pthread_mutex_lock(&lock);
  c = alive;
  pthread_mutex_unlock(&lock);
  return c;
}
int64_t sim_left(char *out, size_t size) {
  const sim_counts c = sim_live();
  const int64_t n[] = {c.device_allocations, c.host_allocations, c.streams, c.events,
                       c.pools,              c.graphs,           c.execs};
  static const char *const name[] = {"device allocations", "pinned allocations", "streams", "events",
                                     "pools",              "graphs",             "executable graphs"};
  int64_t sum = 0;
  size_t at = 0;
  int k;
  if (size) *out = 0;
  for (k = 0; k < 7; k++) {
    sum += n[k];
    if (n[k] && at < size) at += (size_t)snprintf(out + at, size - at, "%d %s left; ", (int)n[k], name[k]);
  }
  return sum;
}
int sim_contexts(int d) {
  int n;
  pthread_mutex_lock(&lock);
  n = d >= 0 && d < n_device && gpu[d].context;
  pthread_mutex_unlock(&lock);
  return n;
}
int sim_violations(char *out, size_t size) {
  int n;
  pthread_mutex_lock(&lock);
  n = n_violation;
  if (size) snprintf(out, size, "%s", text);
  n_violation = 0;
  text_bytes = 0;
  text[0] = 0;
  pthread_mutex_unlock(&lock);
  return n;
}
void sim_clock(int on) {
  pthread_mutex_lock(&lock);
  start();
  __atomic_store_n(&clock_mode, on, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
}
double sim_now(void) {
  struct timespec t;
  if (clocked()) {
    host_spends(model.look);
    return thread_now;
  }
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
int sim_clocked(void) { return clocked(); }
void sim_host_work(sim_cost cost) {
  const double us = larger(cost.bytes / model.host_bytes, cost.multiply_adds / model.host_adds);
  if (clocked()) host_spends(model.own + us);
}
void sim_host_after(double ms) {
  if (clocked()) host_goes_on(ms);
}
int sim_device(void) {
  int d;
  pthread_mutex_lock(&lock);
  start();
  d = device_now();
  pthread_mutex_unlock(&lock);
  return d;
}
void *sim_peek(const void *p) {
  int d;
  pthread_mutex_lock(&lock);
  d = arena_of(p);
  pthread_mutex_unlock(&lock);
  return d < 0 ? NULL : gpu[d].real + ((const char *)p - gpu[d].seen);
}
__attribute__((destructor)) static void report_at_exit(void) {
  if (!n_violation || getenv("SIM_RACES")) return;
  fprintf(stderr, "sim: %d violations\n%s", n_violation, text);
  fflush(NULL);
  _exit(3);
}

/* ---- devices, versions and errors ---- */
cudaError_t cudaGetDeviceCount(int *count) {
  ENTER(cudaGetDeviceCount);
  NEED(count, cudaErrorInvalidValue);
  NEED(n_device > 0, cudaErrorNoDevice);
  *count = n_device;
  return leave(0);
}
static cudaError_t version(int function, int *out) {
  const int code = enter(function);
  if (code && code != cudaErrorInsufficientDriver) return leave(code);
  NEED(out, cudaErrorInvalidValue);
  *out = code && function == SIM_cudaDriverGetVersion ? 0 : CUDART_VERSION;
  return leave(0);
}
cudaError_t cudaRuntimeGetVersion(int *out) { return version(SIM_cudaRuntimeGetVersion, out); }
cudaError_t cudaDriverGetVersion(int *out) { return version(SIM_cudaDriverGetVersion, out); }

#define ERRORS(X) \
  X(cudaSuccess, "no error") X(cudaErrorInvalidValue, "invalid argument") \
  X(cudaErrorMemoryAllocation, "out of memory") \
  X(cudaErrorInitializationError, "initialization error") \
  X(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy") \
  X(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version") \
  X(cudaErrorNoDevice, "no CUDA-capable device is detected") \
  X(cudaErrorInvalidDevice, "invalid device ordinal") \
  X(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device") \
  X(cudaErrorInvalidResourceHandle, "invalid resource handle") \
  X(cudaErrorIllegalState, "the operation cannot be performed in the present state") \
  X(cudaErrorSymbolNotFound, "named symbol not found") \
  X(cudaErrorNotReady, "device not ready") \
  X(cudaErrorIllegalAddress, "an illegal memory access was encountered") \
  X(cudaErrorHostMemoryAlreadyRegistered, "part or all of the memory is already mapped") \
  X(cudaErrorHostMemoryNotRegistered, "pointer is not registered memory") \
  X(cudaErrorLaunchFailure, "unspecified launch failure") \
  X(cudaErrorNotPermitted, "operation not permitted") \
  X(cudaErrorNotSupported, "operation not supported") \
  X(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing") \
  X(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture") \
  X(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate captures") \
  X(cudaErrorStreamCaptureUnmatched, "capture was not ended in the stream where it began") \
  X(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work") \
  X(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream") \
  X(cudaErrorStreamCaptureImplicit, "the legacy stream would depend on a capturing stream") \
  X(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capture") \
  X(cudaErrorStreamCaptureWrongThread, "attempt to end a capture from another thread") \
  X(cudaErrorUnknown, "unknown error")
static void count_only(int function) {
  enter(function);
  leave(0);
}
const char *cudaGetErrorString(cudaError_t error) {
#define ERROR_TEXT(name, words) case name: return words;
  count_only(SIM_cudaGetErrorString);
  switch (error) { ERRORS(ERROR_TEXT) }
  return "unrecognized error code";
}
const char *cudaGetErrorName(cudaError_t error) {
#define ERROR_NAME(name, words) case name: return #name;
  count_only(SIM_cudaGetErrorName);
  switch (error) { ERRORS(ERROR_NAME) }
  return "unrecognized error code";
}
cudaError_t cudaGetLastError(void) {
  cudaError_t last;
  enter(SIM_cudaGetLastError);
  last = me.last;
  me.last = cudaSuccess;
  leave(0);
  return last;
}
cudaError_t cudaPeekAtLastError(void) {
  cudaError_t last;
  enter(SIM_cudaPeekAtLastError);
  last = me.last;
  leave(0);
  return last;
}

/* The driver's functions. Their results are the driver's codes, and the runtime does not note them.
   A context is its device; it stays the same address after sim_reset, since programs keep it. */
enum { NO_CONTEXT = 201 };
static device *context_now(void) {
  if (!me.depth && !me.context) return NULL;
  return &gpu[device_now()];
}
static int leave_driver(int code) {
  pthread_mutex_unlock(&lock);
  return code;
}
static int get_current(void **context) {
  const int code = enter(SIM_cuCtxGetCurrent);
  if (!code) *context = context_now();
  return leave_driver(code);
}
static int index_of(const void *context) {
  int d;
  for (d = 0; d < n_device; d++)
    if (context == &gpu[d]) return d;
  complain("%s: not a context", running);
  return -1;
}
static int push_current(void *context) {
  const int code = enter(SIM_cuCtxPushCurrent), d = code ? -1 : index_of(context);
  if (code) return leave_driver(code);
  if (d < 0) return leave_driver(NO_CONTEXT);
  if (me.depth == STACK) {
    complain("cuCtxPushCurrent: %d contexts pushed, none taken off", STACK);
    return leave_driver(cudaErrorInvalidValue);
  }
  me.stack[me.depth++] = d;
  return leave_driver(use_context());
}
static int pop_current(void **context) {
  const int code = enter(SIM_cuCtxPopCurrent); /* made to fail, it pops: the program cannot */
  if (context) *context = context_now();
  if (me.depth) {
    me.depth--;
    return leave_driver(code);
  }
  if (!me.context) return leave_driver(NO_CONTEXT);
  me.context = 0;
  return leave_driver(code);
}
static int primary_retain(void **context, int d) {
  const int code = enter(SIM_cuDevicePrimaryCtxRetain);
  if (code) return leave_driver(code);
  if (d < 0 || d >= n_device) return leave_driver(cudaErrorInvalidDevice);
  gpu[d].context = 1;
  *context = &gpu[d];
  return leave_driver(0);
}
static int primary_state(int d, unsigned int *flags, int *on) {
  const int code = enter(SIM_cuDevicePrimaryCtxGetState);
  if (code) return leave_driver(code);
  if (d < 0 || d >= n_device) return leave_driver(cudaErrorInvalidDevice);
  *flags = 0;
  *on = gpu[d].context;
  return leave_driver(0);
}
/* C has no cast from a function to a data pointer. */
static void *driver_function(const char *symbol) {
  int (*get)(void **) = get_current, (*pop)(void **) = pop_current, (*push)(void *) = push_current;
  int (*retain)(void **, int) = primary_retain;
  int (*state)(int, unsigned int *, int *) = primary_state;
  void *p = NULL;
  if (strcmp(symbol, "cuCtxGetCurrent") == 0) memcpy(&p, &get, sizeof p);
  if (strcmp(symbol, "cuCtxPushCurrent") == 0) memcpy(&p, &push, sizeof p);
  if (strcmp(symbol, "cuCtxPopCurrent") == 0) memcpy(&p, &pop, sizeof p);
  if (strcmp(symbol, "cuDevicePrimaryCtxRetain") == 0) memcpy(&p, &retain, sizeof p);
  if (strcmp(symbol, "cuDevicePrimaryCtxGetState") == 0) memcpy(&p, &state, sizeof p);
  return p;
}
static cudaError_t entry_point(const char *symbol, void **function,
                               enum cudaDriverEntryPointQueryResult *result) {
  NEED(symbol && function, cudaErrorInvalidValue);
  *function = driver_function(symbol);
  if (result)
    *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return leave(*function || result ? 0 : cudaErrorSymbolNotFound);
}
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result) {
  (void)flags;
  ENTER(cudaGetDriverEntryPoint);
  return entry_point(symbol, function, result);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned int driver_version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result) {
  (void)driver_version, (void)flags;
  ENTER(cudaGetDriverEntryPointByVersion);
  return entry_point(symbol, function, result);
}
static int no_device(int d) { return d < 0 || d >= n_device; }
cudaError_t cudaGetDevice(int *d) {
  ENTER(cudaGetDevice);
  NEED(d, cudaErrorInvalidValue);
  NEED(n_device > 0, cudaErrorNoDevice);
  *d = device_now();
  return leave(0);
}
cudaError_t cudaSetDevice(int d) {
  ENTER(cudaSetDevice);
  NEED(!no_device(d), cudaErrorInvalidDevice);
  if (me.depth) me.stack[me.depth - 1] = d;
  else me.device = d;
  return leave(use_context());
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int d) {
  ENTER(cudaDeviceGetAttribute);
  NEED(value, cudaErrorInvalidValue);
  NEED(!no_device(d), cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = 132; break;
    case cudaDevAttrL2CacheSize: *value = 50 << 20; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
    case cudaDevAttrCanMapHostMemory: case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    case cudaDevAttrComputeCapabilityMinor: case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables: *value = 0; break;
    default:
      complain("cudaDeviceGetAttribute: the simulator does not know attribute %d", (int)attribute);
      return leave(cudaErrorInvalidValue);
  }
  return leave(0);
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int d) {
  ENTER(cudaGetDeviceProperties);
  NEED(out, cudaErrorInvalidValue);
  NEED(!no_device(d), cudaErrorInvalidDevice);
  memset(out, 0, sizeof *out);
  snprintf(out->name, sizeof out->name, "simulated GPU %d", d);
  out->totalGlobalMem = gpu[d].memory;
  out->sharedMemPerBlock = 48 << 10;
  out->major = 9;
  out->multiProcessorCount = 132;
  out->l2CacheSize = 50 << 20;
  out->warpSize = 32;
  return leave(0);
}
cudaError_t cudaDeviceGetPCIBusId(char *out, int size, int d) {
  ENTER(cudaDeviceGetPCIBusId);
  NEED(out && size > 0, cudaErrorInvalidValue);
  NEED(!no_device(d), cudaErrorInvalidDevice);
  snprintf(out, (size_t)size, "0000:%02x:00.0", 0x10 + d);
  return leave(0);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  ENTER(cudaDeviceGetStreamPriorityRange);
  NEED_CONTEXT();
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return leave(0);
}

/* ---- addresses of device memory ---- */
static int pending_free(const segment *s) { return s->mark && !s->mark->done; }
static void merge_after(segment *s) { /* with neighbours that are as free as it is */
  while (s->after && !s->after->used && !pending_free(s->after)) {
    s->bytes += s->after->bytes;
    drop_segment(s->after);
  }
}
static int usable(const segment *s, const object *stream, int insert) {
  if (s->used) return 0;
  return !pending_free(s) || (stream && (insert || s->mark->stream == stream));
}
static segment *find_segment(device *g, size_t bytes, const object *stream, int insert) {
  segment *s, *first = NULL;
  size_t sum = 0;
  for (s = g->first; s; s = s->after) {
    if (!s->used && !pending_free(s)) merge_after(s);
    if (!usable(s, stream, insert)) first = NULL;
    else if (!first) first = s, sum = 0;
    sum += s->bytes;
    if (first && sum >= bytes) return first;
  }
  return NULL;
}
/* Makes one used piece; the stream waits for the frees that are still to come on others. */
static void take_segment(device *g, segment *s, size_t bytes, object *stream) {
  segment *piece;
  size_t sum = 0;
  for (piece = s; sum < bytes; piece = piece->after) {
    if (pending_free(piece) && piece->mark->stream != stream)
      enqueue_wait(stream, piece->mark, SIM_cudaMallocAsync);
    sum += piece->bytes;
  }
  while (s->bytes < bytes) {
    const size_t lack = bytes - s->bytes, more = lack < s->after->bytes ? lack : s->after->bytes;
    s->bytes += more;
    s->after->offset += more;
    s->after->bytes -= more;
    if (!s->after->bytes) drop_segment(s->after);
  }
  if (s->bytes > bytes) {
    new_segment(s, s->after, s->offset + bytes, s->bytes - bytes)->mark = keep_mark(s->mark);
    s->bytes = bytes;
  }
  drop_mark(s->mark);
  s->mark = NULL;
  s->used = 1;
  if (g->top < s->offset + bytes) g->top = s->offset + bytes;
}
/* Looks for addresses; when there are none, executes work that may end in a free. */
static segment *find_memory(int d, size_t bytes, object *stream) {
  device *g = &gpu[d];
  segment *s = find_segment(g, bytes, stream, chance(16));
  while (!s && n_active) {
    step(active[below(n_active)]);
    if (clocked()) host_goes_on(now);
    s = find_segment(g, bytes, stream, 0);
  }
  return s;
}
/* The pool grows in pieces of 2 MiB; what all pools and cudaMalloc hold must fit. */
static int reserve(device *g, object *pool, size_t bytes) {
  size_t more = bytes;
  if (pool) {
    more = pool->used + bytes > pool->reserved ? pool->used + bytes - pool->reserved : 0;
    if (g->reserved + more > g->memory) return 0;
    more = (more + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    if (g->reserved + more > g->memory) more = g->memory - g->reserved;
    pool->reserved += more;
  }
  if (g->reserved + more > g->memory) return 0;
  g->reserved += more;
  return 1;
}
static void trim(object *pool, size_t keep) {
  if (keep < pool->used) keep = pool->used;
  if (keep >= pool->reserved) return;
  gpu[pool->device].reserved -= pool->reserved - keep;
  pool->reserved = keep;
}
static cudaError_t allocate(int function, void **p, size_t bytes, int d, object *pool,
                            object *stream) {
  const size_t size = rounded(bytes);
  segment *s;
  block *b;
  NEED(p && bytes, cudaErrorInvalidValue);
  NEED(bytes <= ARENA && size <= gpu[d].memory, cudaErrorMemoryAllocation);
  s = find_memory(d, size, stream);
  NEED(s && reserve(&gpu[d], pool, size), cudaErrorMemoryAllocation);
  take_segment(&gpu[d], s, size, stream);
  b = new_block();
  b->offset = s->offset;
  b->bytes = bytes;
  b->device = d;
  b->pool = pool;
  b->segment = s;
  b->born = ++issue;
  if (pool) pool->used += size;
  gpu[d].start[b->offset / ALIGN] = b;
  alive.device_allocations++;
  alive.device_bytes += (int64_t)bytes;
  if (stream) enqueue(stream, ALLOCATE, function)->block = b;
  else execute_allocation(b);
  *p = gpu[d].seen + b->offset;
  return leave(0);
}
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream) {
  object *s;
  ENTER(cudaMallocAsync);
  NEED_CONTEXT();
  s = stream_of(stream);
  NEED(s, no_stream);
  NEED_NO(never_recorded(s));
  maybe_run();
  return allocate(SIM_cudaMallocAsync, p, bytes, s->device, NULL, s);
}
cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  object *s, *from;
  ENTER(cudaMallocFromPoolAsync);
  NEED_CONTEXT();
  s = stream_of(stream);
  from = object_of(pool, POOL);
  NEED(s && from, cudaErrorInvalidResourceHandle);
  NEED(s->device == from->device, cudaErrorInvalidValue);
  NEED_NO(never_recorded(s));
  maybe_run();
  return allocate(SIM_cudaMallocFromPoolAsync, p, bytes, s->device, from, s);
}
cudaError_t cudaMalloc(void **p, size_t bytes) {
  ENTER(cudaMalloc);
  NEED_CONTEXT();
  NEED_NO(unsafe());
  return allocate(SIM_cudaMalloc, p, bytes, device_now(), NULL, NULL);
}
static block *block_at(const void *p) {
  const int d = arena_of(p);
  const size_t offset = d < 0 ? 1 : (size_t)((const char *)p - gpu[d].seen);
  block *b = offset % ALIGN ? NULL : gpu[d].start[offset / ALIGN];
  if (!b) complain("%s: %p is not device memory, or was freed already", running, p);
  return b;
}
static void uncount_block(const block *b) {
  if (b->lost) return;
  alive.device_allocations--;
  alive.device_bytes -= (int64_t)b->bytes;
}
/* A pool that was destroyed goes with its last allocation. */
static void leave_pool(object *pool, size_t bytes) {
  pool->used -= bytes;
  if (pool->live) return;
  trim(pool, 0);
  if (!pool->used) drop_object(pool);
}
/* The program gives the memory back; `m` is done when the device does. */
static void give_back(block *b, mark *m) {
  b->segment->used = 0;
  b->segment->mark = keep_mark(m);
  gpu[b->device].start[b->offset / ALIGN] = NULL;
  b->freed = ++issue;
  if (b->pool) leave_pool(b->pool, rounded(b->bytes));
  else gpu[b->device].reserved -= rounded(b->bytes);
  uncount_block(b);
}
static cudaError_t lose_block(void *p, int code) {
  block *b = block_at(p);
  if (b) {
    uncount_block(b);
    b->lost = 1;
  }
  return leave(code);
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) {
  const int code = enter(SIM_cudaFreeAsync);
  object *s;
  block *b;
  item *i;
  if (code) return lose_block(p, code);
  NEED_CONTEXT();
  b = block_at(p);
  s = stream_of(stream);
  NEED(s, no_stream);
  NEED(b, cudaErrorInvalidValue);
  NEED_NO(never_recorded(s));
  i = enqueue(s, RELEASE, SIM_cudaFreeAsync);
  i->block = b;
  i->mark = mark_here(s);
  give_back(b, i->mark);
  maybe_run();
  return leave(0);
}
cudaError_t cudaFree(void *p) {
  const int code = enter(SIM_cudaFree);
  block *b;
  if (code && p) return lose_block(p, code);
  if (code) return leave(code);
  NEED_CONTEXT();
  if (!p) return leave(0);
  NEED_NO(unsafe());
  b = block_at(p);
  NEED(b, cudaErrorInvalidValue);
  run_device(b->device);
  give_back(b, NULL);
  if (b->live) set_live(b, 0);
  drop_block(b);
  return leave(0);
}

/* ---- pools ---- */
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *p) {
  object *o;
  ENTER(cudaMemPoolCreate);
  NEED_CONTEXT();
  NEED(pool && p && p->allocType == cudaMemAllocationTypePinned, cudaErrorInvalidValue);
  NEED(p->location.type == cudaMemLocationTypeDevice, cudaErrorInvalidValue);
  NEED(!no_device(p->location.id), cudaErrorInvalidDevice);
  o = new_object(POOL, p->location.id);
  o->next = gpu[o->device].pools;
  gpu[o->device].pools = o;
  *pool = (cudaMemPool_t)handle_of(o);
  alive.pools++;
  return leave(0);
}
static object *lose(int kind, void *handle, int64_t *count) {
  object *o = object_of(handle, kind);
  if (o && !o->lost && !o->own) --*count;
  if (o) o->lost = 1;
  return o;
}
/* Its memory stays with the program until it is freed, and so does the object. */
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const int code = enter(SIM_cudaMemPoolDestroy);
  object *o = lose(POOL, pool, &alive.pools), **link;
  if (code) return leave(code);
  NEED_CONTEXT();
  NEED(o, cudaErrorInvalidValue);
  trim(o, 0);
  for (link = &gpu[o->device].pools; *link != o; link = &(*link)->next) {}
  *link = o->next;
  if (o->used) o->live = 0;
  else drop_object(o);
  return leave(0);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                    void *value) {
  object *o;
  unsigned long long v;
  ENTER(cudaMemPoolSetAttribute);
  o = object_of(pool, POOL);
  NEED(o && value, cudaErrorInvalidValue);
  memcpy(&v, value, attribute == cudaMemPoolAttrReleaseThreshold ? sizeof v : sizeof(int));
  if (attribute == cudaMemPoolAttrReleaseThreshold) o->keep = (size_t)v;
  else NEED(attribute <= cudaMemPoolReuseAllowInternalDependencies, cudaErrorNotSupported);
  return leave(0);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                    void *value) {
  object *o;
  unsigned long long v = 0;
  ENTER(cudaMemPoolGetAttribute);
  o = object_of(pool, POOL);
  NEED(o && value, cudaErrorInvalidValue);
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold: v = o->keep; break;
    case cudaMemPoolAttrReservedMemCurrent: v = o->reserved; break;
    case cudaMemPoolAttrUsedMemCurrent: v = o->used; break;
    default: return leave(cudaErrorNotSupported);
  }
  memcpy(value, &v, sizeof v);
  return leave(0);
}
/* From then on kernels of these devices may use the pool's memory. Asking would give a GPU a context that has none. */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
                                 size_t count) {
  object *o;
  size_t i;
  ENTER(cudaMemPoolSetAccess);
  o = object_of(pool, POOL);
  NEED(o && access, cudaErrorInvalidValue);
  for (i = 0; i < count; i++) {
    NEED(access[i].location.type == cudaMemLocationTypeDevice, cudaErrorInvalidValue);
    NEED(!no_device(access[i].location.id), cudaErrorInvalidDevice);
    if (!gpu[access[i].location.id].context)
      complain("cudaMemPoolSetAccess: device %d has no context", access[i].location.id);
    if (access[i].flags == cudaMemAccessFlagsProtReadWrite) o->reached |= 1u << access[i].location.id;
  }
  return leave(0);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  object *o;
  ENTER(cudaMemPoolTrimTo);
  o = object_of(pool, POOL);
  NEED(o, cudaErrorInvalidValue);
  trim(o, keep);
  return leave(0);
}
/* A synchronize gives back what a pool holds beyond its threshold. */
static void trim_all(int d) {
  object *o;
  for (o = gpu[d].pools; o; o = o->next) trim(o, o->keep);
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  ENTER(cudaMemGetInfo);
  NEED_CONTEXT();
  if (available) *available = gpu[device_now()].memory - gpu[device_now()].reserved;
  if (total) *total = gpu[device_now()].memory;
  return leave(0);
}

/* ---- pinned host memory ---- */
static int add_host(char *p, size_t bytes, int registered) {
  const int at = host_place(p);
  if (at < n_host && hosts[at].p < p + bytes) return cudaErrorHostMemoryAlreadyRegistered;
  if (n_host == room_host) {
    room_host = room_host ? 2 * room_host : 64;
    hosts = (host *)or_die(realloc(hosts, (size_t)room_host * sizeof *hosts));
  }
  memmove(hosts + at + 1, hosts + at, (size_t)(n_host++ - at) * sizeof *hosts);
  hosts[at].p = p;
  hosts[at].bytes = bytes;
  hosts[at].serial = ++host_serial;
  hosts[at].registered = registered;
  hosts[at].lost = 0;
  alive.host_allocations++;
  return 0;
}
static cudaError_t remove_host(void *p, int registered, int code) {
  host *h;
  if (!code) NEED_NO(unsafe());
  h = host_of((char *)p);
  maybe_run(); /* CUDA often waits here, and does not promise it */
  if (!h || h->p != p || h->registered != registered) {
    complain("%s: %p is not its memory, or was given back already", running, p);
    return leave(cudaErrorInvalidValue);
  }
  if (!h->lost) alive.host_allocations--;
  h->lost = 1;
  if (code) return leave(code);
  if (!registered) free(p);
  memmove(h, h + 1, (size_t)(hosts + n_host-- - (h + 1)) * sizeof *h);
  return leave(0);
}
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned int flags) {
  (void)flags;
  ENTER(cudaHostAlloc);
  NEED_CONTEXT();
  NEED(p, cudaErrorInvalidValue);
  NEED_NO(unsafe());
  NEED(bytes <= ARENA && posix_memalign(p, ALIGN, bytes ? bytes : 1) == 0,
       cudaErrorMemoryAllocation);
  if (bytes <= MIB) fill((char *)*p, bytes & ~(size_t)7, FRESH);
  return leave(add_host((char *)*p, bytes ? bytes : 1, 0));
}
cudaError_t cudaFreeHost(void *p) {
  const int code = enter(SIM_cudaFreeHost);
  if (!p) return leave(code);
  return remove_host(p, 0, code);
}
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned int flags) {
  (void)flags;
  ENTER(cudaHostRegister);
  NEED_CONTEXT();
  NEED(p && bytes, cudaErrorInvalidValue);
  NEED_NO(unsafe());
  return leave(add_host((char *)p, bytes, 1));
}
cudaError_t cudaHostUnregister(void *p) {
  const int code = enter(SIM_cudaHostUnregister);
  return remove_host(p, 1, code);
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p) {
  uint64_t serial;
  ENTER(cudaPointerGetAttributes);
  NEED_CONTEXT();
  NEED(out, cudaErrorInvalidValue);
  memset(out, 0, sizeof *out);
  out->device = -1;
  switch (place_of(p, 0, &serial)) {
    case ON_DEVICE:
      out->type = cudaMemoryTypeDevice;
      out->device = arena_of(p);
      out->devicePointer = (void *)(uintptr_t)p;
      break;
    case PINNED:
      out->type = cudaMemoryTypeHost;
      out->device = device_now();
      out->devicePointer = out->hostPointer = (void *)(uintptr_t)p;
      break;
    default: break;
  }
  return leave(0);
}

/* ---- work ---- */
static int wrong_kind(enum cudaMemcpyKind kind, int to, int from) {
  if (kind == cudaMemcpyDefault) return 0;
  return (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) !=
             (to == ON_DEVICE) ||
         (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) !=
             (from == ON_DEVICE);
}
/* Of ordinary host memory, CUDA records some copies, and then reads or writes it at each launch, and
   refuses those that it would have to wait for; which is not written down. All are refused here. */
static cudaError_t copy(int function, void *dst, const void *src, size_t bytes,
                        enum cudaMemcpyKind kind, object *s) {
  uint64_t dst_host, src_host;
  const int to = place_of(dst, bytes, &dst_host), from = place_of(src, bytes, &src_host);
  item *i;
  if (wrong_kind(kind, to, from)) {
    complain("%s: kind %d does not fit the addresses %p and %p", running, (int)kind, dst, src);
    return leave(cudaErrorInvalidValue);
  }
  NEED_NO(from == PAGEABLE || to == PAGEABLE ? unrecorded(s) : records(s));
  if (!bytes) return leave(0);
  maybe_run();
  /* The driver may send a pageable source behind the work before it, or at once. */
  if (from == PAGEABLE && chance(8)) run_until(s, s->issued);
  i = enqueue(s, COPY, function);
  i->dst = (char *)dst;
  i->src = (char *)(uintptr_t)src;
  i->bytes = bytes;
  i->dst_host = dst_host;
  i->src_host = src_host;
  if (from == PAGEABLE) i->payload = memcpy(or_die(malloc(bytes)), src, bytes);
  i->left = clocked() ? unit_us(i) : 0;
  if (to == PAGEABLE) run_until(s, s->issued);
  return leave(0);
}
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  object *s;
  ENTER(cudaMemcpyAsync);
  NEED_CONTEXT();
  s = stream_of(stream);
  NEED(s, no_stream);
  NEED(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
  return copy(SIM_cudaMemcpyAsync, dst, src, bytes, kind, s);
}
cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                size_t bytes, cudaStream_t stream) {
  object *s;
  ENTER(cudaMemcpyPeerAsync);
  NEED_CONTEXT();
  s = stream_of(stream);
  NEED(s, no_stream);
  NEED(!no_device(dst_device) && !no_device(src_device), cudaErrorInvalidDevice);
  if (arena_of(dst) != dst_device || arena_of(src) != src_device) {
    complain("cudaMemcpyPeerAsync: %p is not on device %d, or %p not on %d", dst, dst_device, src,
             src_device);
    return leave(cudaErrorInvalidValue);
  }
  return copy(SIM_cudaMemcpyPeerAsync, dst, src, bytes, cudaMemcpyDefault, s);
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream) {
  object *s;
  item *i;
  uint64_t serial;
  ENTER(cudaMemsetAsync);
  NEED_CONTEXT();
  s = stream_of(stream);
  NEED(s, no_stream);
  if (place_of(p, bytes, &serial) == PAGEABLE) {
    complain("cudaMemsetAsync: %p is ordinary host memory", p);
    return leave(cudaErrorInvalidValue);
  }
  NEED_NO(records(s));
  if (!bytes) return leave(0);
  maybe_run();
  i = enqueue(s, SET, SIM_cudaMemsetAsync);
  i->dst = (char *)p;
  i->bytes = bytes;
  i->dst_host = serial;
  i->value = value;
  i->left = clocked() ? unit_us(i) : 0;
  return leave(0);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user) {
  object *s;
  item *i;
  ENTER(cudaLaunchHostFunc);
  NEED_CONTEXT();
  s = stream_of(stream);
  NEED(s, no_stream);
  NEED(function, cudaErrorInvalidValue);
  NEED_NO(never_recorded(s));
  maybe_run();
  i = enqueue(s, HOST, SIM_cudaLaunchHostFunc);
  i->run = function;
  i->payload = user;
  return leave(0);
}
/* Kernels and their like report through their result alone. */
int sim_call(int function) {
  int code = enter(function);
  if (!code && function == SIM_gt__cuda_warmup) code = use_context();
  return leave_driver(code);
}
int sim_launch(int function, void *stream, const void *args, size_t bytes, void (*run)(void *)) {
  int code = enter(function);
  object *s;
  item *i;
  if (!code) code = use_context();
  if (code) return leave_driver(code);
  s = stream_of((cudaStream_t)stream);
  if (!s || s->device != device_now()) return leave_driver(no_stream);
  if (records(s)) return leave_driver(records(s));
  maybe_run();
  i = enqueue(s, KERNEL, function);
  i->bytes = bytes;
  i->payload = memcpy(or_die(malloc(bytes)), args, bytes);
  i->run = run;
  i->left = clocked() ? unit_us(i) : 0;
  return leave_driver(0);
}

/* ---- streams ---- */
static cudaError_t create_stream(cudaStream_t *stream, unsigned int flags, int priority) {
  object *s;
  NEED_CONTEXT();
  NEED(stream && flags <= cudaStreamNonBlocking, cudaErrorInvalidValue);
  s = new_object(STREAM, device_now());
  s->blocking = !(flags & cudaStreamNonBlocking);
  s->priority = priority;
  *stream = (cudaStream_t)handle_of(s);
  alive.streams++;
  return leave(0);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
  ENTER(cudaStreamCreateWithFlags);
  return create_stream(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
  ENTER(cudaStreamCreateWithPriority);
  return create_stream(stream, flags, priority); /* without the clock any order is taken anyway */
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const int code = enter(SIM_cudaStreamDestroy);
  object *s = lose(STREAM, stream, &alive.streams);
  if (code) return leave(code);
  NEED_CONTEXT();
  NEED(s, no_stream);
  destroy_captured(s);
  s->live = 0;
  if (!s->head) drop_object(s);
  return leave(0);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  object *s;
  ENTER(cudaStreamQuery);
  NEED_CONTEXT();
  s = stream_of(stream);
  NEED(s, no_stream);
  NEED_NO(unrecorded(s));
  if (s->head) run_towards(s);
  return leave(is_idle(s) ? 0 : cudaErrorNotReady);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  object *s;
  ENTER(cudaStreamSynchronize);
  NEED_CONTEXT();
  s = stream_of(stream);
  NEED(s, no_stream);
  NEED_NO(unrecorded(s));
  run_until(s, s->issued);
  trim_all(s->device);
  return leave(0);
}
cudaError_t cudaDeviceSynchronize(void) {
  ENTER(cudaDeviceSynchronize);
  NEED_CONTEXT();
  NEED_NO(captured_on(device_now(), 0, cudaErrorStreamCaptureUnsupported));
  run_device(device_now());
  trim_all(device_now());
  return leave(0);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  object *s, *e;
  (void)flags;
  ENTER(cudaStreamWaitEvent);
  NEED_CONTEXT();
  s = stream_of(stream);
  e = object_of(event, EVENT);
  NEED(s && e, no_stream);
  if (s->capture || e->capture) return leave(join_capture(s, e));
  enqueue_wait(s, e->mark, SIM_cudaStreamWaitEvent);
  maybe_run();
  return leave(0);
}

/* ---- events ---- */
static cudaError_t create_event(cudaEvent_t *event, unsigned int flags) {
  object *e;
  NEED_CONTEXT();
  NEED(event, cudaErrorInvalidValue);
  e = new_object(EVENT, device_now());
  e->timed = !(flags & cudaEventDisableTiming);
  *event = (cudaEvent_t)handle_of(e);
  alive.events++;
  return leave(0);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  ENTER(cudaEventCreate);
  return create_event(event, 0);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
  ENTER(cudaEventCreateWithFlags);
  return create_event(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const int code = enter(SIM_cudaEventDestroy);
  object *e = lose(EVENT, event, &alive.events);
  if (code) return leave(code);
  NEED_CONTEXT();
  NEED(e, cudaErrorInvalidResourceHandle);
  drop_mark(e->mark);
  e->mark = NULL;
  drop_object(e);
  return leave(0);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  object *s, *e;
  ENTER(cudaEventRecord);
  NEED_CONTEXT();
  e = object_of(event, EVENT);
  s = stream_of(stream);
  NEED(s && e && s->device == e->device, no_stream);
  NEED_NO(records(s));
  if (s->capture) {
    record_captured(e, s);
    return leave(0);
  }
  leave_capture(e);
  drop_mark(e->mark);
  e->mark = mark_here(s);
  enqueue(s, RECORD, SIM_cudaEventRecord)->mark = keep_mark(e->mark);
  maybe_run();
  return leave(0);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  object *e;
  ENTER(cudaEventQuery);
  NEED_CONTEXT();
  e = object_of(event, EVENT);
  NEED(e, cudaErrorInvalidResourceHandle);
  NEED_NO(captured_event(e));
  NEED_NO(unsafe());
  if (e->mark && !e->mark->done) run_towards(e->mark->stream);
  return leave(e->mark && !has_passed(e->mark) ? cudaErrorNotReady : 0);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  object *e;
  ENTER(cudaEventSynchronize);
  NEED_CONTEXT();
  e = object_of(event, EVENT);
  NEED(e, cudaErrorInvalidResourceHandle);
  NEED_NO(captured_event(e));
  NEED_NO(unsafe());
  if (e->mark) run_until_mark(e->mark);
  return leave(0);
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start_event, cudaEvent_t end_event) {
  object *a, *b;
  ENTER(cudaEventElapsedTime);
  NEED_CONTEXT();
  a = object_of(start_event, EVENT);
  b = object_of(end_event, EVENT);
  NEED(ms, cudaErrorInvalidValue);
  NEED(a && b && a->device == b->device && a->timed && b->timed, cudaErrorInvalidResourceHandle);
  NEED_NO(captured_event(a));
  NEED_NO(captured_event(b));
  NEED(a->mark && b->mark, cudaErrorInvalidResourceHandle);
  NEED(has_passed(a->mark) && has_passed(b->mark), cudaErrorNotReady);
  *ms = (float)(b->mark->time - a->mark->time);
  return leave(0);
}

/* ---- graphs ---- */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  object *s;
  capture *c;
  ENTER(cudaStreamBeginCapture);
  NEED_CONTEXT();
  NEED(stream != NULL && stream != cudaStreamLegacy, cudaErrorStreamCaptureUnsupported);
  s = stream_of(stream);
  NEED(s, no_stream);
  NEED(mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed,
       cudaErrorInvalidValue);
  NEED(!s->capture, cudaErrorIllegalState);
  c = (capture *)fresh(sizeof *c);
  c->mode = mode;
  c->thread = &me;
  c->origin = s;
  c->work = keep_recipe((recipe *)fresh(sizeof *c->work));
  c->next = captures;
  captures = c;
  enter_capture(s, c);
  return leave(0);
}
/* Whatever is wrong, no stream stays in the capture, but for two errors: another thread's or
   another stream's call. They, too, invalidate it. */
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  int code = enter(SIM_cudaStreamEndCapture);
  object *s = stream_of(stream), *o;
  capture *c = s ? s->capture : NULL;
  if (graph) *graph = NULL;
  if (code && c && c->origin == s) end_capture(c);
  if (code) return leave(code);
  NEED_CONTEXT();
  NEED(s, no_stream);
  NEED(graph, cudaErrorInvalidValue);
  NEED(c, cudaErrorIllegalState);
  if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != &me)
    return leave(invalidate(c, cudaErrorStreamCaptureWrongThread));
  if (c->origin != s) return leave(invalidate(c, cudaErrorStreamCaptureUnmatched));
  if (c->invalid) code = cudaErrorStreamCaptureInvalidated;
  else if (!joined(c)) code = cudaErrorStreamCaptureUnjoined;
  if (!code) {
    o = new_object(GRAPH, s->device);
    o->work = keep_recipe(c->work);
    *graph = (cudaGraph_t)handle_of(o);
    alive.graphs++;
  }
  end_capture(c);
  return leave(code);
}
/* Asked of the legacy stream, this alone is no mistake of the program's. */
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  object *s = NULL;
  ENTER(cudaStreamIsCapturing);
  NEED_CONTEXT();
  NEED(status, cudaErrorInvalidValue);
  *status = cudaStreamCaptureStatusNone;
  if (stream == NULL || stream == cudaStreamLegacy) {
    uint32_t k;
    for (k = 0; k < n_object; k++)
      if (objects[k]->kind == STREAM && objects[k]->capture && objects[k]->blocking &&
          objects[k]->device == device_now()) return leave(cudaErrorStreamCaptureImplicit);
    return leave(0);
  }
  s = stream_of(stream);
  NEED(s, no_stream);
  if (s->capture) *status = cudaStreamCaptureStatusActive;
  if (records(s)) *status = cudaStreamCaptureStatusInvalidated;
  return leave(0);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  object *o, *x;
  ENTER(cudaGraphInstantiateWithFlags);
  NEED_CONTEXT();
  NEED(exec && flags == 0, cudaErrorInvalidValue); /* of the flags, none is pretended */
  *exec = NULL;
  o = object_of(graph, GRAPH);
  NEED(o, cudaErrorInvalidValue);
  x = new_object(EXEC, o->device);
  x->work = keep_recipe(o->work);
  *exec = (cudaGraphExec_t)handle_of(x);
  alive.execs++;
  return leave(0);
}
/* Each launch or upload of an executable graph comes behind the one before, whatever its stream. */
static item *enqueue_exec(object *x, object *s, int kind, int function) {
  item *i;
  if (x->mark && x->mark->stream != s) enqueue_wait(s, x->mark, function);
  i = enqueue(s, kind, function);
  drop_mark(x->mark);
  x->mark = mark_here(s);
  i->mark = keep_mark(x->mark);
  return i;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  object *x, *s;
  ENTER(cudaGraphUpload);
  NEED_CONTEXT();
  x = object_of(exec, EXEC);
  s = stream_of(stream);
  NEED(s && x, x ? no_stream : cudaErrorInvalidValue);
  NEED_NO(never_recorded(s));
  enqueue_exec(x, s, UPLOAD, SIM_cudaGraphUpload);
  maybe_run();
  return leave(0);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  object *x, *s;
  ENTER(cudaGraphLaunch);
  NEED_CONTEXT();
  x = object_of(exec, EXEC);
  s = stream_of(stream);
  NEED(s && x, x ? no_stream : cudaErrorInvalidValue);
  NEED_NO(never_recorded(s));
  enqueue_exec(x, s, LAUNCH, SIM_cudaGraphLaunch)->play = new_play(x->work);
  maybe_run();
  return leave(0);
}
/* Launches that are not done go on. */
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const int code = enter(SIM_cudaGraphExecDestroy);
  object *x = lose(EXEC, exec, &alive.execs);
  if (code) return leave(code);
  NEED_CONTEXT();
  NEED(x, cudaErrorInvalidValue);
  drop_mark(x->mark);
  x->mark = NULL;
  drop_object(x);
  return leave(0);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const int code = enter(SIM_cudaGraphDestroy);
  object *o = lose(GRAPH, graph, &alive.graphs);
  if (code) return leave(code);
  NEED_CONTEXT();
  NEED(o, cudaErrorInvalidValue);
  drop_object(o);
  return leave(0);
}
