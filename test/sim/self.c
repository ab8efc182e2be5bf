/* The simulated CUDA runtime by itself: what it promises to the tests that stand on it. */
#define _GNU_SOURCE
#include "../check.h"
#include "cuda_runtime_api.h"
#include "sim.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEDS = 64, SIZE = 4096, MIB = 1 << 20 };
#define OK(call) CHECK_INT(call, cudaSuccess)

static cudaStream_t new_stream(void) {
  cudaStream_t s = NULL;
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
static cudaEvent_t new_event(void) {
  cudaEvent_t e = NULL;
  OK(cudaEventCreate(&e));
  return e;
}
static unsigned char *new_memory(size_t bytes, cudaStream_t s) {
  void *p = NULL;
  OK(cudaMallocAsync(&p, bytes, s));
  return (unsigned char *)p;
}
static unsigned char *new_pinned(size_t bytes) {
  void *p = NULL;
  OK(cudaHostAlloc(&p, bytes, cudaHostAllocDefault));
  return (unsigned char *)p;
}
static cudaMemPool_t new_pool(int device) {
  struct cudaMemPoolProps props;
  cudaMemPool_t pool = NULL;
  memset(&props, 0, sizeof props);
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = device;
  OK(cudaMemPoolCreate(&pool, &props));
  return pool;
}
static size_t pool_says(cudaMemPool_t pool, enum cudaMemPoolAttr attribute) {
  unsigned long long v = 0;
  OK(cudaMemPoolGetAttribute(pool, attribute, &v));
  return (size_t)v;
}
/* Exactly this many violations since the last question, and the text names this. */
static void complained(int line, int n, const char *words) {
  char text[2000];
  const int found = sim_violations(text, sizeof text);
  if (found != n || !strstr(text, words))
    check_report(__FILE__, line, "%d violations, not %d with \"%s\":\n%s", found, n, words, text);
}
#define CLEAN() complained(__LINE__, 0, "")
#define COMPLAINED(words) complained(__LINE__, 1, words)

/* ---- order ---- */
static char note[64];
static int notes;
static void write_note(void *args) {
  note[notes++ % 63] = *(const char *)args;
}
static void say(cudaStream_t s, char c) {
  OK(sim_launch(SIM_gt__cuda_map, s, &c, 1, write_note));
}

/* Four streams of four notes each; d waits for the second of a. */
static void play(uint64_t seed) {
  cudaStream_t s[4];
  cudaEvent_t e;
  int i, k;
  sim_reset(seed, 1);
  memset(note, 0, sizeof note);
  notes = 0;
  e = new_event();
  for (k = 0; k < 4; k++) s[k] = new_stream();
  for (i = 0; i < 4; i++) {
    if (i == 2) {
      OK(cudaEventRecord(e, s[0]));
      OK(cudaStreamWaitEvent(s[3], e, 0));
    }
    for (k = 0; k < 4; k++) say(s[k], (char)("aAwW"[k] + i));
  }
  OK(cudaDeviceSynchronize());
  CHECK_INT(notes, 16);
  CHECK_INT(sim_pending(), 0);
}
static void test_order(void) {
  char seen[SEEDS][20];
  int seed, k, different = 0;
  for (seed = 0; seed < SEEDS; seed++) {
    play((uint64_t)seed);
    for (k = 0; k < 3; k++) {
      CHECK(strchr(note, 'a' + k) < strchr(note, 'a' + k + 1));
      CHECK(strchr(note, 'w' + k) < strchr(note, 'w' + k + 1));
    }
    CHECK(strchr(note, 'b') < strchr(note, 'W' + 2));
    memcpy(seen[seed], note, 17);
    for (k = 0; k < seed && strcmp(seen[k], note) != 0; k++) {}
    different += k == seed;
  }
  CHECK_TEXT(different > SEEDS / 2, "%d orders in %d seeds", different, SEEDS);
  play(7);
  CHECK_STR(note, seen[7]); /* the same seed, the same order */
  CLEAN();
}

/* Pinned memory changes after the copy from it was enqueued: some seeds must see it late, others
   early, and after an event never. */
static void test_late(void) {
  int seed, late = 0;
  for (seed = 0; seed < SEEDS; seed++) {
    cudaStream_t s, other;
    unsigned char *from, *to, *memory;
    sim_reset((uint64_t)seed, 1);
    s = new_stream();
    other = new_stream();
    from = new_pinned(SIZE);
    to = new_pinned(SIZE);
    memset(from, 1, SIZE);
    memory = new_memory(SIZE, s);
    OK(cudaMemcpyAsync(memory, from, SIZE, cudaMemcpyHostToDevice, s));
    say(other, 'x');
    memset(from, 2, SIZE);
    OK(cudaMemcpyAsync(to, memory, SIZE, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    late += to[0] == 2;
    memset(from, 3, SIZE);
    OK(cudaMemcpyAsync(memory, from, SIZE, cudaMemcpyHostToDevice, s));
    OK(cudaStreamSynchronize(s));
    memset(from, 4, SIZE);
    CHECK_INT(((unsigned char *)sim_peek(memory))[SIZE - 1], 3);
  }
  CHECK_TEXT(late > SEEDS / 8 && late < SEEDS * 7 / 8, "late in %d of %d", late, SEEDS);
  CLEAN();
}

/* What one stream writes, another reads. */
static void test_missing_wait(void) {
  int seed, with_event, wrong[2] = {0, 0};
  for (with_event = 0; with_event < 2; with_event++)
    for (seed = 0; seed < SEEDS; seed++) {
      cudaStream_t s, t;
      cudaEvent_t e;
      unsigned char *memory, *to;
      sim_reset((uint64_t)seed, 1);
      s = new_stream();
      t = new_stream();
      e = new_event();
      to = new_pinned(SIZE);
      memory = new_memory(SIZE, s);
      OK(cudaStreamSynchronize(s));
      OK(cudaMemsetAsync(memory, 5, SIZE, s));
      OK(cudaEventRecord(e, s));
      if (with_event) OK(cudaStreamWaitEvent(t, e, 0));
      OK(cudaMemcpyAsync(to, memory, SIZE, cudaMemcpyDeviceToHost, t));
      OK(cudaStreamSynchronize(t));
      wrong[with_event] += to[0] != 5;
    }
  CHECK_TEXT(wrong[0] > 0 && wrong[0] < SEEDS, "%d of %d", wrong[0], SEEDS);
  CHECK_INT(wrong[1], 0);
  CLEAN();
}
static void test_stream_destroyed(void) {
  int seed;
  for (seed = 0; seed < 16; seed++) {
    cudaStream_t s;
    cudaEvent_t e, destroyed;
    sim_reset((uint64_t)seed, 1);
    notes = 0;
    s = new_stream();
    e = new_event();
    destroyed = new_event();
    say(s, 'x');
    OK(cudaEventRecord(destroyed, s));
    OK(cudaEventDestroy(destroyed));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamDestroy(s));
    CHECK_INT(sim_live().streams, 0);
    CHECK_INT(sim_live().events, 1);
    OK(cudaEventSynchronize(e));
    CHECK_INT(notes, 1);
    CHECK_INT(cudaStreamQuery(s), cudaErrorInvalidResourceHandle);
    COMPLAINED("no such stream");
  }
}

/* ---- copies ---- */
static void test_pageable(void) {
  int seed;
  for (seed = 0; seed < SEEDS; seed++) {
    unsigned char from[SIZE], to[SIZE] = {0}, *memory;
    cudaStream_t s;
    sim_reset((uint64_t)seed, 1);
    s = new_stream();
    memory = new_memory(SIZE, s);
    memset(from, 1, SIZE);
    OK(cudaMemcpyAsync(memory, from, SIZE, cudaMemcpyHostToDevice, s));
    memset(from, 2, SIZE);
    OK(cudaMemcpyAsync(to, memory, SIZE, cudaMemcpyDefault, s));
    CHECK_INT(to[0], 1); /* at once */
    CHECK_INT(to[SIZE - 1], 1);
  }
  CLEAN();
}
static void test_two_devices(void) {
  unsigned char *here, *there, to[SIZE];
  cudaStream_t s, t;
  cudaEvent_t e;
  int d = 7;
  sim_reset(1, 2);
  OK(cudaGetDevice(&d));
  CHECK_INT(d, 0);
  CHECK_INT(sim_contexts(0) + sim_contexts(1), 0);
  s = new_stream();
  CHECK_INT(sim_contexts(0), 1);
  CHECK_INT(sim_contexts(1), 0);
  here = new_memory(SIZE, s);
  OK(cudaMemsetAsync(here, 3, SIZE, s));
  OK(cudaSetDevice(1));
  CHECK_INT(sim_contexts(1), 1);
  t = new_stream();
  e = new_event();
  there = new_memory(SIZE, t);
  CHECK_INT(cudaEventRecord(e, s), cudaErrorInvalidResourceHandle);
  CHECK_INT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  CHECK_INT(cudaGetLastError(), cudaSuccess);
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpyPeerAsync(there, 1, here, 0, SIZE, t));
  OK(cudaMemcpyAsync(to, there, SIZE, cudaMemcpyDeviceToHost, t));
  CHECK_INT(to[SIZE - 1], 3);
  CLEAN();
  CHECK_INT(cudaMemcpyPeerAsync(there, 0, here, 0, SIZE, t), cudaErrorInvalidValue);
  COMPLAINED("cudaMemcpyPeerAsync");
  CHECK_INT(cudaSetDevice(2), cudaErrorInvalidDevice);
}
static void test_no_devices(void) {
  int n = 5;
  sim_reset(1, 0);
  CHECK_INT(cudaGetDeviceCount(&n), cudaErrorNoDevice);
  CHECK_INT(cudaMalloc((void **)&n, 1), cudaErrorNoDevice);
  sim_reset(1, -1);
  CHECK_INT(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
  OK(cudaRuntimeGetVersion(&n));
  CHECK_INT(n, CUDART_VERSION);
  OK(cudaDriverGetVersion(&n));
  CHECK_INT(n, 0);
}
static void test_driver_functions(void) {
  enum cudaDriverEntryPointQueryResult found;
  int (*current)(void **) = NULL, (*state)(int, unsigned int *, int *) = NULL, on = 7, d = -1;
  int (*push)(void *) = NULL, (*pop)(void **) = NULL, (*retain)(void **, int) = NULL;
  void *p = NULL, *context = &p, *own = NULL;
  unsigned int flags;
  sim_reset(1, 2);
  OK(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &p, 12000, 0, &found));
  CHECK_INT(found, cudaDriverEntryPointSuccess);
  memcpy(&current, &p, sizeof p);
  OK(cudaGetDriverEntryPoint("cuDevicePrimaryCtxGetState", &p, 0, &found));
  memcpy(&state, &p, sizeof p);
  CHECK_INT(current(&context), 0);
  CHECK(context == NULL);
  CHECK_INT(state(1, &flags, &on), 0);
  CHECK_INT(on, 0);
  OK(cudaSetDevice(1));
  CHECK_INT(current(&context), 0);
  CHECK(context != NULL);
  CHECK_INT(state(1, &flags, &on), 0);
  CHECK_INT(on, 1);
  OK(cudaGetDriverEntryPoint("cuCtxPushCurrent", &p, 0, &found));
  memcpy(&push, &p, sizeof p);
  OK(cudaGetDriverEntryPoint("cuCtxPopCurrent", &p, 0, &found));
  memcpy(&pop, &p, sizeof p);
  OK(cudaGetDriverEntryPoint("cuDevicePrimaryCtxRetain", &p, 0, &found));
  memcpy(&retain, &p, sizeof p);
  sim_reset(1, 2);
  CHECK(pop(&context) != 0); /* nothing there */
  CHECK_INT(retain(&own, 1), 0);
  CHECK_INT(sim_contexts(1), 1);
  CHECK_INT(push(own), 0);
  OK(cudaGetDevice(&d));
  CHECK_INT(d, 1);
  CHECK_INT(current(&context), 0);
  CHECK(context == own);
  OK(cudaStreamDestroy(new_stream()));
  CHECK_INT(pop(&context), 0);
  CHECK(context == own);
  OK(cudaGetDevice(&d));
  CHECK_INT(d, 0);
  CHECK_INT(current(&context), 0);
  CHECK(context == NULL); /* none was made on the way */
  CHECK_INT(sim_contexts(0), 0);
  CHECK(push(&d) != 0);
  COMPLAINED("not a context");
  OK(cudaGetDriverEntryPoint("cuSomething", &p, 0, &found));
  CHECK_INT(found, cudaDriverEntryPointSymbolNotFound);
}

/* ---- events ---- */
static void test_events(void) {
  cudaStream_t s;
  cudaEvent_t a, b, untimed = NULL;
  float ms = -1;
  int turns = 0;
  sim_reset(3, 1);
  s = new_stream();
  a = new_event();
  b = new_event();
  OK(cudaEventQuery(a)); /* never recorded: nothing to wait for */
  OK(cudaEventSynchronize(a));
  OK(cudaStreamWaitEvent(s, a, 0));
  CHECK_INT(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(a, s));
  say(s, 'x');
  OK(cudaEventRecord(b, s));
  while (cudaEventQuery(b) == cudaErrorNotReady) turns++;
  CHECK_TEXT(turns < 100, "%d turns", turns);
  OK(cudaEventElapsedTime(&ms, a, b));
  CHECK_TEXT(ms > 0 && ms < 1, "%g ms", (double)ms);
  OK(cudaEventElapsedTime(&ms, b, a));
  CHECK(ms < 0);
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  OK(cudaEventRecord(untimed, s));
  OK(cudaEventSynchronize(untimed));
  CHECK_INT(cudaEventElapsedTime(&ms, untimed, b), cudaErrorInvalidResourceHandle);
  CLEAN();
}
/* A wait is for the record that was the last one at the time of the call. */
static void test_event_again(void) {
  int seed, early = 0;
  for (seed = 0; seed < SEEDS; seed++) {
    cudaStream_t s, t;
    cudaEvent_t e;
    sim_reset((uint64_t)seed, 1);
    memset(note, 0, sizeof note);
    notes = 0;
    s = new_stream();
    t = new_stream();
    e = new_event();
    say(s, 'a');
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    say(s, 'b');
    OK(cudaEventRecord(e, s));
    say(t, 'x');
    OK(cudaStreamSynchronize(t));
    OK(cudaDeviceSynchronize());
    CHECK(strchr(note, 'a') < strchr(note, 'x'));
    early += strchr(note, 'x') < strchr(note, 'b');
  }
  CHECK_TEXT(early > 0 && early < SEEDS, "%d of %d", early, SEEDS);
  CLEAN();
}

/* ---- memory ---- */
static void test_reuse(void) {
  int seed, waited = 0;
  for (seed = 0; seed < SEEDS; seed++) {
    cudaStream_t s, t;
    unsigned char *p, *q, *r;
    sim_reset((uint64_t)seed, 1);
    s = new_stream();
    t = new_stream();
    p = new_memory(SIZE, s);
    OK(cudaMemsetAsync(p, 1, SIZE, s));
    OK(cudaFreeAsync(p, s));
    q = new_memory(SIZE, t);
    r = new_memory(SIZE, s);
    CHECK(q != r);
    CHECK(p == q || p == r);
    waited += p == q; /* only behind the free: the wait was inserted, or the free is done */
    OK(cudaMemsetAsync(q, 2, SIZE, t));
    OK(cudaMemsetAsync(r, 3, SIZE, s));
    OK(cudaDeviceSynchronize());
    CHECK_INT(((unsigned char *)sim_peek(q))[9], 2);
    CHECK_INT(((unsigned char *)sim_peek(r))[9], 3);
    OK(cudaFreeAsync(q, t));
    OK(cudaFreeAsync(r, t));
    CHECK_INT(sim_live().device_allocations, 0);
    CHECK_INT(sim_live().device_bytes, 0);
    OK(cudaDeviceSynchronize());
    CHECK(((float *)sim_peek(q))[3] != ((float *)sim_peek(q))[3]); /* NaN */
  }
  CHECK_TEXT(waited > 0 && waited < SEEDS, "%d of %d", waited, SEEDS);
  CLEAN();
}
/* Any pieces, in any order, on any stream: they never share an address, and all come back. */
static void test_many_pieces(void) {
  enum { PIECES = 40 };
  unsigned char *p[PIECES] = {0};
  cudaStream_t s[3];
  int seed, i, k;
  for (seed = 0; seed < SEEDS; seed++) {
    sim_reset((uint64_t)seed, 1);
    sim_memory(MIB);
    for (k = 0; k < 3; k++) s[k] = new_stream();
    for (i = 0; i < 400; i++) {
      const int at = (int)rnd_below(PIECES);
      cudaStream_t stream = s[at % 3];
      if (!p[at] && cudaMallocAsync((void **)&p[at], (size_t)(1 + rnd_below(60000)), stream)) {
        p[at] = NULL;
        CHECK_INT(cudaGetLastError(), cudaErrorMemoryAllocation);
        k++;
      } else if (rnd_below(2)) {
        OK(cudaMemsetAsync(p[at], at, 1, stream));
        OK(cudaFreeAsync(p[at], stream));
        p[at] = NULL;
      }
    }
    for (i = 0; i < PIECES; i++) {
      if (p[i]) OK(cudaFreeAsync(p[i], s[0]));
      p[i] = NULL;
      if (i == 0) OK(cudaDeviceSynchronize());
    }
    OK(cudaDeviceSynchronize());
    OK(cudaMalloc((void **)&p[0], MIB));
    OK(cudaFree(p[0]));
    p[0] = NULL;
    CLEAN();
  }
}
static void test_memory_runs_out(void) {
  void *p = NULL, *q = NULL;
  size_t available = 0, total = 0;
  cudaStream_t s;
  cudaMemPool_t pool;
  unsigned long long keep = UINT64_MAX;
  sim_reset(4, 1);
  sim_memory(8 * MIB);
  s = new_stream();
  pool = new_pool(0);
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK_INT(pool_says(pool, cudaMemPoolAttrReleaseThreshold), (size_t)keep);
  CHECK_INT(cudaMemPoolSetAccess(pool, NULL, 1), cudaErrorInvalidValue);
  OK(cudaMallocFromPoolAsync(&p, 5 * MIB, pool, s));
  CHECK_INT(pool_says(pool, cudaMemPoolAttrUsedMemCurrent), 5 * MIB);
  CHECK_INT(pool_says(pool, cudaMemPoolAttrReservedMemCurrent), 6 * MIB);
  CHECK_INT(cudaMallocFromPoolAsync(&q, 5 * MIB, pool, s), cudaErrorMemoryAllocation);
  OK(cudaFreeAsync(p, s));
  OK(cudaStreamSynchronize(s));
  CHECK_INT(pool_says(pool, cudaMemPoolAttrUsedMemCurrent), 0);
  CHECK_INT(pool_says(pool, cudaMemPoolAttrReservedMemCurrent), 6 * MIB);
  CHECK_INT(cudaMalloc(&q, 5 * MIB), cudaErrorMemoryAllocation); /* the pool holds it */
  OK(cudaMemPoolTrimTo(pool, 0));
  OK(cudaMemGetInfo(&available, &total));
  CHECK_INT(available, 8 * MIB);
  CHECK_INT(total, 8 * MIB);
  OK(cudaMalloc(&q, 5 * MIB));
  OK(cudaFree(q));
  keep = 0; /* now a synchronize gives it back */
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  OK(cudaMallocFromPoolAsync(&p, 5 * MIB, pool, s));
  OK(cudaFreeAsync(p, s));
  OK(cudaStreamSynchronize(s));
  CHECK_INT(pool_says(pool, cudaMemPoolAttrReservedMemCurrent), 0);
  CHECK_INT(sim_live().pools, 1);
  OK(cudaMallocFromPoolAsync(&p, MIB, pool, s));
  OK(cudaMemPoolDestroy(pool)); /* goes with its last allocation */
  CHECK_INT(sim_live().pools, 0);
  OK(cudaMemGetInfo(&available, &total));
  CHECK_INT(available, 7 * MIB);
  OK(cudaFreeAsync(p, s));
  OK(cudaMemGetInfo(&available, &total));
  CHECK_INT(available, 8 * MIB);
  CHECK_INT(cudaMalloc(&q, (size_t)1 << 40), cudaErrorMemoryAllocation);
  CHECK_INT(cudaMalloc(&q, 0), cudaErrorInvalidValue);
  CLEAN();
}
/* A stray access by the host faults, whether or not the memory is allocated. */
static void test_stray_access(void) {
  unsigned char *p;
  int status = 0, written;
  for (written = 0; written < 2; written++) {
    pid_t child;
    sim_reset(1, 1);
    OK(cudaMalloc((void **)&p, SIZE));
    fflush(NULL);
    child = fork();
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL);
      signal(SIGBUS, SIG_DFL);
      if (written) *(volatile unsigned char *)p = 1;
      else (void)*(volatile unsigned char *)p;
      _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
  }
}
static void test_pinned(void) {
  struct cudaPointerAttributes attributes;
  unsigned char own[SIZE], *p, *memory;
  sim_reset(1, 1);
  p = new_pinned(SIZE);
  OK(cudaMalloc((void **)&memory, SIZE));
  OK(cudaPointerGetAttributes(&attributes, p + SIZE - 1));
  CHECK_INT(attributes.type, cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&attributes, own));
  CHECK_INT(attributes.type, cudaMemoryTypeUnregistered);
  OK(cudaPointerGetAttributes(&attributes, memory + 1));
  CHECK_INT(attributes.type, cudaMemoryTypeDevice);
  OK(cudaHostRegister(own, SIZE, 0));
  OK(cudaPointerGetAttributes(&attributes, own));
  CHECK_INT(attributes.type, cudaMemoryTypeHost);
  CHECK_INT(cudaHostRegister(own + 8, 8, 0), cudaErrorHostMemoryAlreadyRegistered);
  CHECK_INT(sim_live().host_allocations, 2);
  OK(cudaHostUnregister(own));
  OK(cudaFreeHost(p));
  CHECK_INT(sim_live().host_allocations, 0);
  CLEAN();
  CHECK_INT(cudaFreeHost(p), cudaErrorInvalidValue);
  COMPLAINED("not its memory");
}

/* ---- mistakes ---- */
static void kernel(void *args) {
  unsigned char *const *p = (unsigned char *const *)args;
  unsigned char *q = (unsigned char *)sim_touch(*p, SIZE, "the output");
  if (q) q[0]++;
}
static int launch(cudaStream_t s, unsigned char *p) {
  return sim_launch(SIM_gt__cuda_map, s, &p, sizeof p, kernel);
}
/* Kernels use another device's memory if its pool is open to theirs. */
static void test_open_pool(void) {
  const struct cudaMemAccessDesc to_1 = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  unsigned char *p = NULL;
  cudaStream_t s;
  cudaMemPool_t pool;
  sim_reset(4, 2);
  s = new_stream();
  pool = new_pool(0);
  OK(cudaMallocFromPoolAsync((void **)&p, SIZE, pool, s));
  OK(cudaMemsetAsync(p, 7, SIZE, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaSetDevice(1));
  OK(launch(cudaStreamPerThread, p));
  OK(cudaDeviceSynchronize());
  COMPLAINED("the kernel on 1");
  CHECK_INT(((unsigned char *)sim_peek(p))[0], 7);
  OK(cudaMemPoolSetAccess(pool, &to_1, 1));
  OK(launch(cudaStreamPerThread, p));
  OK(cudaDeviceSynchronize());
  CHECK_INT(((unsigned char *)sim_peek(p))[0], 8);
  OK(cudaFreeAsync(p, s));
  OK(cudaMemPoolDestroy(pool));
  OK(cudaSetDevice(0));
}
static void calls_cuda(void *user) { cudaStreamSynchronize((cudaStream_t)user); }
static void test_mistakes(void) {
  unsigned char own[SIZE], *p, *q, *other;
  cudaStream_t s, t;
  cudaEvent_t e;
  int value;
  sim_reset(5, 2);
  s = new_stream();
  t = new_stream();
  e = new_event();
  p = new_memory(SIZE, s);
  OK(launch(s, p));
  OK(cudaDeviceSynchronize());
  CLEAN();

  CHECK_INT(cudaStreamSynchronize(NULL), cudaErrorInvalidResourceHandle);
  COMPLAINED("legacy stream");
  CHECK_INT(cudaMemsetAsync(p, 0, 1, cudaStreamLegacy), cudaErrorInvalidResourceHandle);
  COMPLAINED("legacy stream");
  OK(cudaMemsetAsync(p, 0, 1, cudaStreamPerThread));
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  OK(cudaMemsetAsync(p + 1, 0, SIZE, s)); /* one too many */
  OK(cudaDeviceSynchronize());
  COMPLAINED("run over the end");
  OK(launch(s, p + 1));
  OK(cudaDeviceSynchronize());
  COMPLAINED("the output: 4096 bytes");
  OK(launch(s, own));
  OK(cudaDeviceSynchronize());
  COMPLAINED("ordinary host memory");
  OK(launch(s, p + 64 * SIZE));
  OK(cudaDeviceSynchronize());
  COMPLAINED("nobody allocated");
  CHECK_INT(cudaMemcpyAsync(p, own, 1, cudaMemcpyDeviceToHost, s), cudaErrorInvalidValue);
  COMPLAINED("does not fit the addresses");
  CHECK_INT(cudaMemsetAsync(own, 0, 1, s), cudaErrorInvalidValue);
  COMPLAINED("ordinary host memory");
  CHECK_INT(cudaFreeAsync(p + 512, s), cudaErrorInvalidValue);
  COMPLAINED("is not device memory");
  CHECK_INT(cudaFree(own), cudaErrorInvalidValue);
  COMPLAINED("is not device memory");
  CHECK_INT(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
  COMPLAINED("attribute 9999");

  OK(cudaFreeAsync(p, s)); /* freed, then used */
  OK(launch(t, p));
  OK(cudaDeviceSynchronize());
  COMPLAINED("freed");
  CHECK_INT(cudaFreeAsync(p, s), cudaErrorInvalidValue);
  COMPLAINED("freed already");

  p = new_memory(SIZE, s); /* used on another stream that does not wait, then freed and reused */
  OK(cudaDeviceSynchronize());
  OK(launch(t, p));
  OK(cudaFreeAsync(p, s));
  OK(cudaStreamSynchronize(s));
  q = new_memory(SIZE, s);
  CHECK(p == q);
  OK(cudaStreamSynchronize(s));
  OK(cudaDeviceSynchronize());
  value = sim_violations(NULL, 0);
  CHECK_TEXT(value <= 1, "%d", value); /* whether it was late is the seed's choice */

  OK(cudaLaunchHostFunc(s, calls_cuda, t));
  OK(cudaDeviceSynchronize());
  COMPLAINED("called by a host function");
  OK(cudaSetDevice(1));
  CHECK_INT(launch(s, p), cudaErrorInvalidResourceHandle); /* a stream of the other device */
  other = new_memory(SIZE, cudaStreamPerThread);
  OK(launch(cudaStreamPerThread, q));
  OK(cudaDeviceSynchronize());
  COMPLAINED("the kernel on 1");
  OK(cudaFree(other));
  OK(cudaEventDestroy(e));
  CHECK_INT(cudaEventQuery(e), cudaErrorInvalidResourceHandle);
  COMPLAINED("no such event");
}
/* Mistakes that depend on the order are found by some seeds. */
static void test_mistakes_of_order(void) {
  int seed, kind, found[4] = {0, 0, 0, 0};
  for (kind = 0; kind < 4; kind++)
    for (seed = 0; seed < SEEDS; seed++) {
      cudaStream_t s, t;
      unsigned char *p, *pinned;
      sim_reset((uint64_t)seed, 1);
      s = new_stream();
      t = new_stream();
      p = new_memory(SIZE, s);
      pinned = new_pinned(SIZE);
      if (kind == 0) OK(launch(t, p)); /* before the allocation */
      if (kind == 1) OK(cudaFreeAsync(p, t));
      if (kind >= 2) OK(cudaDeviceSynchronize());
      if (kind == 2) { /* in another stream's hands, and given away before it is done */
        OK(launch(t, p));
        OK(cudaFreeAsync(p, s));
        p = new_memory(SIZE, s);
        OK(cudaMemsetAsync(p, 1, SIZE, s));
      }
      if (kind == 3) {
        OK(cudaMemcpyAsync(pinned, p, SIZE, cudaMemcpyDeviceToHost, s));
        OK(cudaFreeHost(pinned));
      }
      OK(cudaDeviceSynchronize());
      found[kind] += sim_violations(NULL, 0) > 0;
    }
  for (kind = 0; kind < 4; kind++)
    CHECK_TEXT(found[kind] > 4 && found[kind] < SEEDS, "mistake %d: found by %d of %d seeds", kind,
               found[kind], SEEDS);
}

/* ---- the model of time ---- */
enum { MANY = 17, BIG = 8 * MIB }; /* MANY: one more than a device has units */
/* Bytes of kernels: of one unit; of all; and of a long one, which has many waves. */
static const double little = 1e5, full = 1e7, lengthy = 1.5e9;
static sim_cost cost_by_bytes(int function, const void *args) { /* the argument is the cost */
  sim_cost cost = {0, 0};
  (void)function;
  memcpy(&cost.bytes, args, sizeof cost.bytes);
  return cost;
}
static void nothing(void *args) { (void)args; }
static void launch_bytes(cudaStream_t s, double bytes) {
  OK(sim_launch(SIM_gt__cuda_map, s, &bytes, sizeof bytes, nothing));
}
static cudaEvent_t mark_of(cudaStream_t s) {
  cudaEvent_t e = new_event();
  OK(cudaEventRecord(e, s));
  return e;
}
static double between(cudaEvent_t a, cudaEvent_t b) {
  float ms = -1;
  OK(cudaEventSynchronize(b));
  OK(cudaEventElapsedTime(&ms, a, b));
  return (double)ms;
}
#define CHECK_MS(x, y) CHECK_NEAR(x, y, 1e-4)
/* Streams that wait for a point of time behind all calls of a test. */
typedef struct timed {
  cudaStream_t s[MANY];
  cudaEvent_t gate;
  unsigned char *memory, *pinned;
} timed;
static timed behind_gate(uint64_t seed) {
  timed t;
  cudaStream_t first;
  int k;
  sim_reset(seed, 1);
  sim_clock(1);
  sim_cost_of = cost_by_bytes;
  first = new_stream();
  t.memory = new_memory(2 * BIG, first);
  t.pinned = new_pinned(2 * BIG);
  OK(cudaMemcpyAsync(t.memory, t.pinned, BIG, cudaMemcpyHostToDevice, first));
  t.gate = mark_of(first);
  for (k = 0; k < MANY; k++) {
    t.s[k] = new_stream();
    OK(cudaStreamWaitEvent(t.s[k], t.gate, 0));
  }
  return t;
}
static void upload(const timed *t, int k) {
  OK(cudaMemcpyAsync(t->memory, t->pinned, MIB, cudaMemcpyHostToDevice, t->s[k]));
}
static void download(const timed *t, int k) {
  OK(cudaMemcpyAsync(t->pinned + BIG, t->memory + BIG, MIB, cudaMemcpyDeviceToHost, t->s[k]));
}
/* Milliseconds from the gate until each of the first n streams has done what it has. */
static void ends(const timed *t, int n, double *ms) {
  cudaEvent_t e[MANY];
  int k;
  for (k = 0; k < n; k++) e[k] = mark_of(t->s[k]);
  for (k = 0; k < n; k++) ms[k] = between(t->gate, e[k]);
}
static void test_copies_in_time(void) {
  timed t = behind_gate(1);
  double one, ms[3];
  upload(&t, 0);
  ends(&t, 1, &one);
  CHECK_TEXT(one > 0.2 && one < 0.4, "%g ms for 1 MiB", one);
  t = behind_gate(1);
  upload(&t, 0); /* both ways at once */
  download(&t, 1);
  ends(&t, 2, ms);
  CHECK_MS(ms[0], one);
  CHECK_MS(ms[1], one);
  t = behind_gate(1);
  upload(&t, 0); /* one way takes turns, while the device computes */
  upload(&t, 1);
  launch_bytes(t.s[2], full);
  ends(&t, 3, ms);
  CHECK_MS(ms[0], one);
  CHECK_MS(ms[1], 2 * one);
  CHECK_TEXT(ms[2] < one, "%g ms", ms[2]);
  t = behind_gate(1);
  upload(&t, 0); /* a stream does one after the other */
  launch_bytes(t.s[0], full);
  download(&t, 0);
  ends(&t, 1, &ms[0]);
  CHECK_MS(ms[0], 2 * one + ms[2]);
  CLEAN();
}
static void test_kernels_in_time(void) {
  timed t = behind_gate(1);
  double one, ms[MANY];
  int k;
  launch_bytes(t.s[0], little);
  ends(&t, 1, &one);
  t = behind_gate(1);
  for (k = 0; k < MANY; k++) launch_bytes(t.s[k], little);
  ends(&t, MANY, ms);
  for (k = 0; k < MANY - 1; k++) CHECK_MS(ms[k], one); /* side by side, up to the width */
  CHECK_MS(ms[k], 2 * one);
  t = behind_gate(1);
  launch_bytes(t.s[0], full); /* what fills the device takes turns */
  launch_bytes(t.s[1], full);
  ends(&t, 2, ms);
  CHECK_MS(ms[1], 2 * ms[0]);
  t = behind_gate(1);
  launch_bytes(t.s[0], lengthy); /* and lets others begin, if it is long */
  launch_bytes(t.s[1], full);
  launch_bytes(t.s[1], full);
  ends(&t, 2, ms);
  CHECK_TEXT(ms[1] < 0.1 * ms[0], "%g of %g ms", ms[1], ms[0]);
  CLEAN();
}
static void test_urgent_in_time(void) {
  timed t = behind_gate(1);
  double ms[2];
  OK(cudaStreamCreateWithPriority(&t.s[1], cudaStreamNonBlocking, -1));
  OK(cudaStreamWaitEvent(t.s[1], t.gate, 0));
  launch_bytes(t.s[0], full);
  launch_bytes(t.s[1], full);
  ends(&t, 2, ms);
  CHECK_MS(ms[0], 2 * ms[1]);
}
/* Waits move the host's clock to the end of what they wait for, queries and looks a little. */
static void test_host_in_time(void) {
  timed t = behind_gate(1);
  const double began = sim_now();
  sim_cost work = {6e6, 0};
  double before, after;
  cudaEvent_t end;
  int asked = 0;
  upload(&t, 0);
  end = mark_of(t.s[0]);
  CHECK_TEXT(sim_now() - began < 0.01, "%g ms for two calls", sim_now() - began);
  CHECK_INT(cudaEventQuery(end), cudaErrorNotReady);
  CHECK_INT(cudaEventQuery(t.gate), cudaErrorNotReady);
  OK(cudaEventSynchronize(t.gate));
  before = sim_now();
  OK(cudaEventSynchronize(end));
  after = sim_now();
  CHECK_TEXT(after - before > 0.2 && after - before < 0.4, "%g ms", after - before);
  CHECK_TEXT(after - before < between(t.gate, end), "%g ms", after - before);
  OK(cudaStreamSynchronize(t.s[0])); /* nothing more to wait for */
  CHECK_TEXT(sim_now() - after < 0.01, "%g ms", sim_now() - after);
  launch_bytes(t.s[1], lengthy);
  CHECK_INT(cudaStreamQuery(t.s[1]), cudaErrorNotReady);
  before = sim_now();
  while (cudaStreamQuery(t.s[1]) == cudaErrorNotReady && asked < 100000) asked++;
  CHECK_TEXT(asked > 100 && asked < 100000, "%d queries", asked);
  CHECK_TEXT(sim_now() - before > 2, "%g ms", sim_now() - before);
  before = sim_now();
  OK(cudaStreamSynchronize(t.s[1])); /* the queries did not say so too early */
  CHECK_TEXT(sim_now() - before < 0.001, "%g ms", sim_now() - before);
  launch_bytes(t.s[1], lengthy);
  OK(cudaStreamSynchronize(t.s[1]));
  CHECK_TEXT(sim_now() - before > 2, "%g ms", sim_now() - before);
  before = sim_now();
  sim_host_work(work);
  after = sim_now();
  CHECK_TEXT(after - before > 0.9 && after - before < 1.1, "%g ms for 6 MB of the host's", after - before);
  sim_host_after(before);
  CHECK_TEXT(sim_now() - after < 0.01, "%g ms", sim_now() - after);
  sim_host_after(after + 5);
  CHECK_TEXT(sim_now() - after > 5, "%g ms", sim_now() - after);
  launch_bytes(t.s[1], lengthy);
  OK(cudaDeviceSynchronize());
  CHECK_TEXT(sim_now() - after > 7, "%g ms", sim_now() - after);
  CLEAN();
}
/* A graph costs the host one call; its branches are like streams. */
static void test_graphs_in_time(void) {
  enum { NODES = 20 };
  timed t = behind_gate(1);
  cudaStream_t s, other;
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  cudaEvent_t fork, end;
  double one, before, ms, both;
  int k;
  launch_bytes(t.s[0], little);
  ends(&t, 1, &one);
  t = behind_gate(1);
  s = new_stream();
  other = new_stream();
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  fork = mark_of(s);
  OK(cudaStreamWaitEvent(other, fork, 0));
  for (k = 0; k < NODES; k++) launch_bytes(k % 2 ? s : other, little);
  OK(cudaMemcpyAsync(t.memory, t.pinned, MIB, cudaMemcpyHostToDevice, s));
  OK(cudaStreamWaitEvent(s, mark_of(other), 0));
  OK(cudaStreamEndCapture(s, &graph));
  OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  before = sim_now();
  OK(cudaGraphLaunch(exec, t.s[0]));
  CHECK_TEXT(sim_now() - before < 0.005, "%g ms", sim_now() - before);
  ends(&t, 1, &ms);
  CHECK_TEXT(ms > NODES / 2 * one + 0.2 && ms < NODES / 2 * one + 0.4, "%g ms, one %g", ms, one);
  end = mark_of(t.s[0]);
  launch_bytes(t.s[0], little); /* what is behind it waits for all of it */
  OK(cudaGraphLaunch(exec, t.s[0]));
  both = between(end, mark_of(t.s[0]));
  CHECK_TEXT(both > ms + one && both < ms + one + 0.01, "%g, not %g ms", both, ms + one);
  CLEAN();
}
/* What the library's own hooks and costs make of it. */
static sim_cost (*cost_of_library)(int function, const void *args);
static void time_host(gt_stream *s, gt_tensor *x) { /* of 4 MiB, read and written */
  const double start = gt_now_ms();
  gt_event *begin = gt_event_create(), *end = gt_event_create();
  double called, done;
  GT_WITH_STREAM(s) {
    gt_event_record(begin, s);
    gt_add(x, x, x);
    gt_event_record(end, s);
  }
  called = gt_now_ms() - start;
  gt_stream_synchronize(s);
  done = gt_now_ms() - start;
  CHECK_TEXT(called < 0.01, "%g ms for the call", called);
  CHECK_NEAR(done, 2 * 4.194304 / 6, 0.02);
  CHECK_NEAR(gt_event_elapsed_ms(begin, end), done, 0.01);
  gt_event_free(begin);
  gt_event_free(end);
}
static void count_call(void *calls) { ++*(int *)calls; } /* takes no time here */
static void test_library_in_time(void) {
  gt_timing t;
  int calls = 0;
  gt_tensor *x, *y, *there;
  gt_stream *s;
  double start;
  sim_reset(1, 1);
  sim_clock(1);
  sim_cost_of = cost_of_library;
  x = gt_ones(GT_SHAPE(1024, 1024), GT_FLOAT32, gt_cpu());
  y = gt_copy(gt_empty_pinned(GT_SHAPE(1024, 1024), GT_FLOAT32), x);
  there = gt_zeros(GT_SHAPE(1024, 1024), GT_FLOAT32, gt_cuda(0));
  s = gt_stream_create(gt_cpu(), 0);
  time_host(s, x);
  gt_synchronize(gt_cuda(0));
  start = gt_now_ms();
  gt_copy(there, y);
  CHECK_TEXT(gt_now_ms() - start < 0.01, "%g ms from pinned memory", gt_now_ms() - start);
  gt_synchronize(gt_cuda(0));
  CHECK_NEAR(gt_now_ms() - start, 4.194304 / 4 + 0.005, 0.01);
  start = gt_now_ms();
  gt_copy(there, x); /* by the host, which reads and writes each byte */
  CHECK_NEAR(gt_now_ms() - start, 2 * 4.194304 / 6, 0.02);
  gt_synchronize(gt_cuda(0));
  start = gt_now_ms();
  gt_matmul(there, there, there);
  CHECK_TEXT(gt_now_ms() - start < 0.01, "%g ms for a launch", gt_now_ms() - start);
  gt_synchronize(gt_cuda(0));
  CHECK_NEAR(gt_now_ms() - start, 1024.0 * 1024 * 1024 / 1e9, 0.1);
  t = gt_benchmark(count_call, &calls, gt_cpu(), 10);
  CHECK_TEXT(t.rounds == 3 && t.median_ms < 1e-6, "%d rounds, %g ms", t.rounds, t.median_ms);
  CHECK_TEXT(calls > 3 && calls < 1000, "%d calls", calls);
  gt_stream_free(s);
  gt_free(x);
  gt_free(y);
  gt_free(there);
  gt_shutdown();
  CHECK_INT(gt_error(), GT_OK);
  CLEAN();
}
/* The clock of another thread is behind: what this one waited for lies ahead of it, though it was
   executed already. */
static pthread_barrier_t turns;
static void *other_thread(void *user) {
  const timed *t = (const timed *)user;
  cudaStream_t s = new_stream();
  double *const ms = (double *)malloc(sizeof *ms);
  pthread_barrier_wait(&turns); /* its clock has begun; this one's goes on */
  pthread_barrier_wait(&turns);
  CHECK_INT(cudaEventQuery(t->gate), cudaErrorNotReady);
  OK(cudaStreamWaitEvent(s, t->gate, 0));
  launch_bytes(s, little);
  *ms = between(t->gate, mark_of(s));
  return ms;
}
static void *late_thread(void *user) {
  CHECK_INT(cudaEventQuery(((const timed *)user)->gate), cudaSuccess);
  return user;
}
static void test_threads_in_time(void) {
  timed t = behind_gate(1);
  pthread_t thread;
  double one;
  void *ms;
  pthread_barrier_init(&turns, NULL, 2);
  pthread_create(&thread, NULL, other_thread, &t);
  pthread_barrier_wait(&turns);
  launch_bytes(t.s[0], little);
  ends(&t, 1, &one);
  CHECK_INT(cudaEventQuery(t.gate), cudaSuccess);
  pthread_barrier_wait(&turns);
  pthread_join(thread, &ms);
  CHECK_TEXT(*(double *)ms >= one - 1e-4, "%g, not %g", *(double *)ms, one);
  free(ms);
  pthread_barrier_destroy(&turns);
  pthread_create(&thread, NULL, late_thread, &t); /* a new one begins at the newest clock */
  pthread_join(thread, &ms);
  CLEAN();
}
/* The same calls give the same times and the same order, whatever the seed. */
static void play_in_time(uint64_t seed, double *ms, char *order) {
  timed t = behind_gate(seed);
  int i;
  memset(note, 0, sizeof note);
  notes = 0;
  rnd_state = 7;
  for (i = 0; i < 60; i++) {
    const int k = (int)rnd_below(4), other = (int)rnd_below(4);
    switch (rnd_below(6)) {
      case 0: upload(&t, k); break;
      case 1: download(&t, k); break;
      case 2: OK(cudaStreamWaitEvent(t.s[k], mark_of(t.s[other]), 0)); break;
      case 3: cudaStreamQuery(t.s[k]); break;
      default: launch_bytes(t.s[k], little * (double)(1 + rnd_below(40)));
    }
    sim_cost_of = NULL;
    say(t.s[k], (char)('a' + i % 26));
    sim_cost_of = cost_by_bytes;
  }
  ends(&t, 4, ms);
  ms[4] = sim_now();
  memcpy(order, note, sizeof note);
}
static void test_seeds_in_time(void) {
  double ms[5], first[5];
  char order[sizeof note], first_order[sizeof note];
  int seed, k;
  play_in_time(0, first, first_order);
  for (seed = 1; seed < SEEDS; seed++) {
    play_in_time((uint64_t)seed, ms, order);
    for (k = 0; k < 5; k++) CHECK_TEXT(ms[k] == first[k], "%g, not %g", ms[k], first[k]);
    CHECK_STR(order, first_order);
  }
  CLEAN();
}

/* ---- failures ---- */
static void test_failures(void) {
  const char *names[SIM_FUNCTION_COUNT];
  void *p = NULL;
  unsigned char *q;
  cudaStream_t s;
  cudaEvent_t e;
  int n, k;
  sim_reset(6, 1);
  s = new_stream();
  sim_fail("cudaMallocAsync", 2, 0);
  OK(cudaMallocAsync(&p, SIZE, s));
  CHECK_INT(cudaMallocAsync(&p, SIZE, s), cudaErrorMemoryAllocation);
  OK(cudaMallocAsync(&p, SIZE, s));
  sim_fail("cudaEventCreate", 1, 1);
  CHECK_INT(cudaEventCreate(&e), cudaErrorUnknown);
  CHECK_INT(cudaEventCreate(&e), cudaErrorUnknown);
  CHECK_INT(cudaPeekAtLastError(), cudaErrorUnknown);
  CHECK_STR(cudaGetErrorName(cudaErrorUnknown), "cudaErrorUnknown");
  CHECK(strlen(cudaGetErrorString(cudaErrorUnknown)) > 0);
  sim_fail("cudaEventCreate", 0, 0);
  e = new_event();
  sim_fail("*", 2, 0);
  OK(cudaEventQuery(e));
  CHECK_INT(cudaEventRecord(e, s), cudaErrorUnknown);
  OK(cudaEventRecord(e, s));
  sim_fail_code(cudaErrorLaunchFailure);
  sim_fail("gt__cuda_map", 1, 0);
  CHECK_INT(launch(s, (unsigned char *)p), cudaErrorLaunchFailure);
  sim_fail_code(0);
  CHECK_INT(sim_failed(), 5);
  CHECK_INT(sim_calls("cudaMallocAsync"), 3);
  n = sim_seen(names, SIM_FUNCTION_COUNT);
  CHECK_INT(n, 6);
  for (k = 0; k < n; k++) CHECK(strcmp(names[k], "cudaGetErrorName") != 0);
  /* what could not be given back is no longer the program's */
  q = new_pinned(8);
  CHECK_INT(sim_live().device_allocations, 2);
  sim_fail("*", 1, 1);
  CHECK(cudaFreeAsync(p, s) != cudaSuccess);
  CHECK(cudaFreeAsync(p, s) != cudaSuccess);
  CHECK(cudaFreeHost(q) != cudaSuccess);
  CHECK(cudaEventDestroy(e) != cudaSuccess);
  CHECK(cudaStreamDestroy(s) != cudaSuccess);
  sim_fail("*", 0, 0);
  CHECK_INT(sim_live().device_allocations, 1);
  CHECK_INT(sim_live().host_allocations, 0);
  CHECK_INT(sim_live().events, 0);
  CHECK_INT(sim_live().streams, 0);
  OK(cudaDeviceSynchronize());
  CLEAN();
}

/* ---- threads ---- */
static void *work(void *user) {
  unsigned char *p = (unsigned char *)user, to[64];
  cudaStream_t s = new_stream();
  cudaEvent_t e = new_event();
  int i;
  for (i = 0; i < 200; i++) {
    unsigned char *memory = new_memory(64, s);
    OK(cudaMemsetAsync(memory, i, 64, s));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(cudaStreamPerThread, e, 0));
    OK(cudaMemcpyAsync(p, memory, 64, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    OK(cudaMemcpyAsync(to, memory, 64, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    say(s, 'x');
    OK(cudaFreeAsync(memory, s));
    if (p[5] != (unsigned char)i || to[5] != (unsigned char)i) return user;
  }
  OK(cudaStreamSynchronize(s));
  OK(cudaEventDestroy(e));
  OK(cudaStreamDestroy(s));
  return NULL;
}
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
static int own_count;
static void count_locked(void *user) {
  (void)user;
  pthread_mutex_lock(&own_lock);
  own_count++;
  pthread_mutex_unlock(&own_lock);
}
/* A host function may take a lock that a thread holds while it calls CUDA. */
static void *count(void *user) {
  cudaStream_t s = new_stream();
  int i;
  for (i = 0; i < 200; i++) {
    OK(cudaLaunchHostFunc(s, count_locked, NULL));
    pthread_mutex_lock(&own_lock);
    OK(cudaLaunchHostFunc(s, count_locked, user));
    pthread_mutex_unlock(&own_lock);
    OK(cudaStreamSynchronize(s));
  }
  OK(cudaStreamDestroy(s));
  return NULL;
}
static void run_threads(void *(*function)(void *)) {
  pthread_t thread[4];
  unsigned char *p[4];
  void *wrong;
  int k;
  for (k = 0; k < 4; k++) p[k] = new_pinned(64);
  for (k = 0; k < 4; k++) pthread_create(&thread[k], NULL, function, p[k]);
  for (k = 0; k < 4; k++) {
    pthread_join(thread[k], &wrong);
    CHECK(wrong == NULL);
  }
  CHECK_INT(sim_live().streams, 0);
  CHECK_INT(sim_live().events, 0);
  CLEAN();
}
static void test_threads(void) {
  int seed;
  for (seed = 0; seed < 8; seed++) {
    sim_reset((uint64_t)seed, 1);
    run_threads(work);
    sim_reset((uint64_t)seed, 1);
    run_threads(count);
  }
}

/* ---- graphs ---- */
static cudaStream_t captured(enum cudaStreamCaptureMode mode) {
  cudaStream_t s = new_stream();
  OK(cudaStreamBeginCapture(s, mode));
  return s;
}
static cudaGraphExec_t ended(cudaStream_t s) {
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  OK(cudaStreamEndCapture(s, &graph));
  OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  return exec;
}
/* After this, `to` comes behind `from`. */
static void link_streams(cudaStream_t to, cudaStream_t from) {
  cudaEvent_t e = new_event();
  OK(cudaEventRecord(e, from));
  OK(cudaStreamWaitEvent(to, e, 0));
  OK(cudaEventDestroy(e));
}
static enum cudaStreamCaptureStatus status_of(cudaStream_t s) {
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  OK(cudaStreamIsCapturing(s, &status));
  return status;
}
/* a, then bcd and xyz side by side, then e. */
static cudaGraphExec_t diamond(cudaStream_t s, cudaStream_t t) {
  const char *c;
  say(s, 'a');
  link_streams(t, s);
  CHECK_INT(status_of(t), cudaStreamCaptureStatusActive);
  for (c = "bcd"; *c; c++) say(s, *c);
  for (c = "xyz"; *c; c++) say(t, *c);
  link_streams(s, t);
  say(s, 'e');
  CHECK_INT(sim_pending(), 0);
  CHECK_INT(notes, 0); /* nothing of it runs, nor waits to run */
  return ended(s);
}
static void test_graph_order(void) {
  char seen[SEEDS][32];
  int seed, k, different = 0, between = 0;
  for (seed = 0; seed < SEEDS; seed++) {
    cudaStream_t s, t, u;
    cudaGraphExec_t exec;
    sim_reset((uint64_t)seed, 1);
    memset(note, 0, sizeof note);
    notes = 0;
    s = captured(cudaStreamCaptureModeThreadLocal);
    t = new_stream();
    u = new_stream();
    exec = diamond(s, t);
    CHECK_INT(status_of(s), cudaStreamCaptureStatusNone);
    CHECK_INT(status_of(t), cudaStreamCaptureStatusNone);
    OK(cudaGraphUpload(exec, u));
    say(t, '<');
    OK(cudaGraphLaunch(exec, t));
    say(t, '>');
    say(u, '1');
    say(u, '2');
    OK(cudaStreamSynchronize(t));
    OK(cudaDeviceSynchronize());
    CHECK_INT(notes, 12);
    CHECK(strchr(note, '<') < strchr(note, 'a') && strchr(note, 'e') < strchr(note, '>'));
    for (k = 0; k < 3; k++) {
      CHECK(strchr(note, "abc"[k]) < strchr(note, "bcd"[k]));
      CHECK(strchr(note, "axy"[k]) < strchr(note, "xyz"[k]));
    }
    CHECK(strchr(note, 'd') < strchr(note, 'e') && strchr(note, 'z') < strchr(note, 'e'));
    between += strchr(note, 'a') < strchr(note, '1') && strchr(note, '1') < strchr(note, 'e');
    memcpy(seen[seed], note, 13);
    for (k = 0; k < seed && strcmp(seen[k], note) != 0; k++) {}
    different += k == seed;
    OK(cudaGraphExecDestroy(exec));
  }
  CHECK_TEXT(different > SEEDS / 2, "%d orders in %d seeds", different, SEEDS);
  CHECK_TEXT(between > 0 && between < SEEDS, "between nodes in %d", between);
  CLEAN();
}
/* The launches of one executable graph follow each other, whatever the stream; those of two from one
   graph need not. Launches that were not done survive it. */
static void test_graph_launches(void) {
  char left[200];
  int seed, two, turned[2] = {0, 0};
  for (two = 0; two < 2; two++)
    for (seed = 0; seed < SEEDS; seed++) {
      cudaStream_t s, t;
      cudaGraph_t graph = NULL;
      cudaGraphExec_t exec[2] = {NULL, NULL};
      sim_reset((uint64_t)seed, 1);
      memset(note, 0, sizeof note);
      notes = 0;
      t = new_stream();
      s = captured(cudaStreamCaptureModeRelaxed);
      say(s, 'g');
      OK(cudaStreamEndCapture(s, &graph));
      OK(cudaGraphInstantiateWithFlags(&exec[0], graph, 0));
      OK(cudaGraphInstantiateWithFlags(&exec[1], graph, 0));
      CHECK_INT(sim_left(left, sizeof left), 5);
      CHECK_STR(left, "2 streams left; 1 graphs left; 2 executable graphs left; ");
      OK(cudaGraphDestroy(graph));
      say(s, 'a');
      OK(cudaGraphLaunch(exec[0], s));
      OK(cudaGraphLaunch(exec[two], t));
      say(t, 'b');
      OK(cudaGraphExecDestroy(exec[0]));
      OK(cudaGraphExecDestroy(exec[1]));
      CHECK_INT(sim_live().graphs + sim_live().execs, 0);
      OK(cudaDeviceSynchronize());
      CHECK_INT(notes, 4);
      turned[two] += strchr(note, 'b') < strchr(note, 'a');
    }
  CHECK_INT(turned[0], 0);
  CHECK_TEXT(turned[1] > 0 && turned[1] < SEEDS, "%d of %d", turned[1], SEEDS);
  CLEAN();
}
typedef struct { unsigned char *p; int n; } filling;
static void fill_once(void *args) { /* writes to its arguments, as the library's kernels may */
  filling *f = (filling *)args;
  unsigned char *q = (unsigned char *)sim_touch(f->p, SIZE, "the output");
  if (q) memset(q, f->n++, SIZE);
}
/* Work between two streams of a graph that lacks an edge is wrong in some seeds, and never with it.
   Arguments are those of the capture, pinned memory is read at each launch. */
static void test_graph_edges(void) {
  int seed, edge, turn, wrong[2] = {0, 0};
  for (edge = 0; edge < 2; edge++)
    for (seed = 0; seed < SEEDS; seed++) {
      unsigned char *p, *q, *from, *to;
      filling f;
      cudaStream_t s, t;
      cudaGraphExec_t exec;
      sim_reset((uint64_t)seed, 1);
      OK(cudaMalloc((void **)&p, SIZE));
      OK(cudaMalloc((void **)&q, SIZE));
      from = new_pinned(SIZE);
      to = new_pinned(2 * SIZE);
      t = new_stream();
      s = captured(cudaStreamCaptureModeGlobal);
      link_streams(t, s);
      f.p = p;
      f.n = 5;
      OK(sim_launch(SIM_gt__cuda_map, s, &f, sizeof f, fill_once));
      f.n = 99;
      if (edge) link_streams(t, s);
      OK(cudaMemcpyAsync(q, p, SIZE, cudaMemcpyDeviceToDevice, t));
      OK(cudaMemcpyAsync(to, q, SIZE, cudaMemcpyDeviceToHost, t));
      link_streams(s, t);
      OK(cudaMemsetAsync(p, 0, SIZE, s));
      OK(cudaMemcpyAsync(q, from, SIZE, cudaMemcpyHostToDevice, s));
      OK(cudaMemcpyAsync(to + SIZE, q, SIZE, cudaMemcpyDeviceToHost, s));
      exec = ended(s);
      for (turn = 1; turn < 4; turn++) {
        memset(from, turn, SIZE);
        OK(cudaGraphLaunch(exec, s));
        OK(cudaStreamSynchronize(s));
        wrong[edge] += to[SIZE - 1] != 5;
        CHECK_INT(to[SIZE], turn);
      }
      OK(cudaGraphExecDestroy(exec));
    }
  CHECK_TEXT(wrong[0] > SEEDS / 4 && wrong[0] < 3 * SEEDS, "%d of %d", wrong[0], 3 * SEEDS);
  CHECK_INT(wrong[1], 0);
  CLEAN();
}
/* A graph of nodes on two devices, and one of none. */
static void test_graph_devices(void) {
  unsigned char *here, *there;
  cudaStream_t s, t;
  cudaGraphExec_t exec;
  int seed;
  for (seed = 0; seed < 16; seed++) {
    sim_reset((uint64_t)seed, 2);
    OK(cudaMalloc((void **)&here, SIZE));
    OK(cudaSetDevice(1));
    OK(cudaMalloc((void **)&there, SIZE));
    t = new_stream();
    OK(cudaSetDevice(0));
    s = captured(cudaStreamCaptureModeGlobal);
    OK(launch(s, here));
    OK(cudaMemsetAsync(here, 7, SIZE, s));
    link_streams(t, s);
    OK(cudaMemcpyPeerAsync(there, 1, here, 0, SIZE, t));
    OK(cudaSetDevice(1));
    OK(launch(t, there));
    {
      cudaEvent_t e = new_event(); /* of the second device */
      OK(cudaEventRecord(e, t));
      OK(cudaStreamWaitEvent(s, e, 0));
    }
    exec = ended(s);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CHECK_INT(((unsigned char *)sim_peek(there))[0], 8);
    CHECK_INT(((unsigned char *)sim_peek(there))[1], 7);
    OK(cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal));
    exec = ended(t);
    OK(cudaGraphLaunch(exec, t));
    OK(cudaStreamSynchronize(t));
  }
  CLEAN();
}
/* Memory is that of the capture, alive at each launch. */
static void test_graph_memory(void) {
  int kind;
  for (kind = 0; kind < 4; kind++) {
    static const char *const words[] = {"", "freed", "another allocation than at the capture",
                                        "was freed before the copy"};
    cudaStream_t s;
    cudaGraphExec_t exec;
    unsigned char *p, *q, *pinned;
    sim_reset(3, 1);
    s = new_stream();
    p = new_memory(SIZE, s);
    pinned = new_pinned(SIZE);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    OK(launch(s, p));
    if (kind == 3) OK(cudaMemcpyAsync(pinned, p, SIZE, cudaMemcpyDefault, s));
    exec = ended(s);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CLEAN();
    if (kind == 1 || kind == 2) OK(cudaFreeAsync(p, s));
    if (kind == 2) {
      OK(cudaStreamSynchronize(s));
      q = new_memory(SIZE, s);
      CHECK(p == q);
    }
    if (kind == 3) OK(cudaFreeHost(pinned));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    if (kind) COMPLAINED(words[kind]);
    else CLEAN();
  }
}
/* Each breach of a rule: its code, and what it does to the capture. */
typedef struct {
  cudaStream_t s, t, other, blocking;
  cudaEvent_t e, outside;
  unsigned char *p, *pinned, *own;
} scene;
static int breach(const scene *c, int rule) {
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  void *p;
  switch (rule) {
    case 0: return cudaStreamSynchronize(c->s);
    case 1: return cudaStreamQuery(c->s);
    case 2: return cudaDeviceSynchronize();
    case 3: return cudaStreamWaitEvent(c->s, c->outside, 0);
    case 4: return cudaEventSynchronize(c->e);
    case 5: return cudaEventQuery(c->e);
    case 6: return cudaMemcpyAsync(c->p, c->own, SIZE, cudaMemcpyHostToDevice, c->s);
    case 7: return cudaMemcpyAsync(c->own, c->p, SIZE, cudaMemcpyDeviceToHost, c->s);
    case 8: return cudaStreamWaitEvent(c->other, c->e, 0); /* which another capture has */
    case 9: return cudaStreamEndCapture(c->t, &graph);     /* which the capture came to */
    case 10: return cudaStreamBeginCapture(c->s, cudaStreamCaptureModeRelaxed);
    case 11: return cudaMalloc(&p, SIZE);
    case 12: return cudaHostAlloc(&p, SIZE, 0);
    case 13: return cudaEventQuery(c->outside);
    case 14: return cudaFree(c->p);
    case 15: return cudaFreeHost(c->pinned);
    case 16: return cudaMallocAsync(&p, SIZE, c->s);
    case 17: return cudaFreeAsync(c->p, c->t);
    case 18: return cudaLaunchHostFunc(c->s, count_locked, NULL);
    case 19: {
      cudaStream_t u = captured(cudaStreamCaptureModeRelaxed);
      exec = ended(u);
      return cudaGraphLaunch(exec, c->s);
    }
    case 20: return cudaStreamWaitEvent(c->blocking, c->e, 0); /* no breach: it joins */
    default: return cudaStreamSynchronize(c->other);           /* nor this: not in the capture */
  }
}
static void test_capture_rules(void) {
  enum { NO = cudaErrorStreamCaptureUnsupported, RULES = 22 };
  static const int code[RULES] = {
      NO, NO, NO, cudaErrorStreamCaptureIsolation, cudaErrorCapturedEvent, cudaErrorCapturedEvent,
      NO, NO, cudaErrorStreamCaptureMerge, cudaErrorStreamCaptureUnmatched, cudaErrorIllegalState,
      NO, NO, NO, NO, NO, NO, NO, NO, NO, 0, 0};
  int rule, mode;
  for (mode = 0; mode < 3; mode++)
    for (rule = 0; rule < RULES; rule++) {
      const int relaxed = mode == cudaStreamCaptureModeRelaxed && rule >= 11 && rule <= 15;
      const int no_harm = relaxed || rule == 10 || rule >= 20;
      unsigned char own[SIZE] = {0};
      cudaGraph_t graph = NULL;
      scene c;
      int left;
      sim_reset((uint64_t)(mode * RULES + rule), 1);
      c.own = own;
      c.other = new_stream();
      c.t = new_stream();
      c.blocking = NULL;
      OK(cudaStreamCreateWithFlags(&c.blocking, cudaStreamDefault));
      c.e = new_event();
      c.outside = new_event();
      OK(cudaEventRecord(c.outside, c.other));
      OK(cudaMalloc((void **)&c.p, SIZE));
      c.pinned = new_pinned(SIZE);
      if (rule == 8) OK(cudaStreamBeginCapture(c.other, (enum cudaStreamCaptureMode)mode));
      c.s = captured((enum cudaStreamCaptureMode)mode);
      OK(launch(c.s, c.p));
      OK(cudaEventRecord(c.e, c.s));
      OK(cudaStreamWaitEvent(c.t, c.e, 0));
      case_begin("rule %d in mode %d", rule, mode);
      CHECK_INT(breach(&c, rule), relaxed ? 0 : code[rule]);
      if (rule >= 16 && rule <= 19) COMPLAINED("on a stream that is captured");
      left = no_harm ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
      CHECK_INT(status_of(c.s), left);
      CHECK_INT(status_of(c.t), left);
      if (rule == 8) CHECK_INT(status_of(c.other), left);
      if (rule == 20) CHECK_INT(status_of(c.blocking), left);
      if (!no_harm) { /* all else is refused until the end, which says so and leaves */
        CHECK_INT(launch(c.s, c.p), cudaErrorStreamCaptureInvalidated);
        CHECK_INT(cudaMemsetAsync(c.p, 0, 1, c.t), cudaErrorStreamCaptureInvalidated);
        CHECK_INT(cudaEventRecord(c.e, c.t), cudaErrorStreamCaptureInvalidated);
        CHECK_INT(cudaStreamWaitEvent(c.t, c.e, 0), cudaErrorStreamCaptureInvalidated);
      }
      CHECK_INT(cudaStreamEndCapture(c.s, &graph), no_harm ? 0 : cudaErrorStreamCaptureInvalidated);
      CHECK((graph != NULL) == no_harm);
      CHECK_INT(status_of(c.s), cudaStreamCaptureStatusNone);
      CHECK_INT(status_of(c.t), cudaStreamCaptureStatusNone);
      CHECK_INT(status_of(c.blocking), cudaStreamCaptureStatusNone);
      CHECK_INT(cudaEventQuery(c.e), cudaErrorCapturedEvent);
      CHECK_INT(cudaStreamWaitEvent(c.t, c.e, 0), cudaErrorCapturedEvent);
      OK(cudaEventRecord(c.e, c.t)); /* and that makes it an ordinary event again */
      if (rule == 8) CHECK_INT(cudaStreamEndCapture(c.other, &graph), cudaErrorStreamCaptureInvalidated);
      OK(cudaEventSynchronize(c.e));
      OK(cudaDeviceSynchronize());
      case_end();
      CLEAN();
    }
}
static void test_capture_ends(void) {
  cudaStream_t s, t, blocking = NULL;
  cudaGraph_t graph = (cudaGraph_t)&s;
  cudaGraphExec_t exec = NULL;
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  sim_reset(2, 1);
  s = new_stream();
  t = new_stream();
  OK(cudaStreamCreateWithFlags(&blocking, cudaStreamDefault));
  CHECK_INT(cudaStreamEndCapture(s, &graph), cudaErrorIllegalState);
  CHECK(graph == NULL);
  CHECK_INT(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  CHECK_INT(cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)3), cudaErrorInvalidValue);

  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); /* a stream that did not come back */
  link_streams(t, s);
  say(t, 'x');
  CHECK_INT(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
  CHECK(graph == NULL);
  CHECK_INT(status_of(t), cudaStreamCaptureStatusNone);
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); /* one that brought no work */
  link_streams(t, s);
  OK(cudaStreamEndCapture(s, &graph));
  OK(cudaGraphDestroy(graph));
  CHECK_INT(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  COMPLAINED("no such graph");
  CHECK_INT(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaErrorInvalidValue);
  COMPLAINED("no such graph");
  CHECK_INT(cudaGraphLaunch(exec, s), cudaErrorInvalidValue);
  COMPLAINED("no such executable graph");

  /* the legacy stream, and a stream that it would wait for */
  OK(cudaStreamIsCapturing(NULL, &status));
  CHECK_INT(status, cudaStreamCaptureStatusNone);
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  CHECK_INT(cudaStreamQuery(NULL), cudaErrorInvalidResourceHandle);
  COMPLAINED("legacy stream");
  CHECK_INT(status_of(s), cudaStreamCaptureStatusActive);
  OK(cudaStreamEndCapture(s, &graph));
  OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
  CHECK_INT(cudaStreamIsCapturing(NULL, &status), cudaErrorStreamCaptureImplicit);
  CHECK_INT(status_of(blocking), cudaStreamCaptureStatusActive);
  CHECK_INT(cudaStreamQuery(NULL), cudaErrorStreamCaptureImplicit);
  COMPLAINED("legacy stream");
  CHECK_INT(status_of(blocking), cudaStreamCaptureStatusInvalidated);
  CHECK_INT(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);

  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  link_streams(t, s);
  OK(cudaStreamDestroy(s));
  COMPLAINED("the stream is captured");
  CHECK_INT(status_of(t), cudaStreamCaptureStatusNone);
  OK(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed)); /* and left to the next reset */
  say(t, 'x');
  sim_reset(3, 1);
  CLEAN();
}
static cudaStream_t of_main;
static void *from_elsewhere(void *user) {
  int *code = (int *)user;
  cudaGraph_t graph = NULL;
  void *p = NULL;
  code[0] = cudaMalloc(&p, SIZE);
  code[1] = status_of(of_main);
  code[2] = cudaStreamEndCapture(of_main, &graph);
  return NULL;
}
static void test_capture_threads(void) {
  enum { NO = cudaErrorStreamCaptureUnsupported };
  static const int expected[3][3] = {{NO, cudaStreamCaptureStatusInvalidated, 901}, /* global */
                                     {0, cudaStreamCaptureStatusActive, 908},
                                     {0, cudaStreamCaptureStatusActive, 0}}; /* relaxed */
  int mode, k, code[3] = {-1, -1, -1};
  for (mode = 0; mode < 3; mode++) {
    pthread_t thread;
    cudaGraph_t graph;
    sim_reset(1, 1);
    of_main = captured((enum cudaStreamCaptureMode)mode);
    pthread_create(&thread, NULL, from_elsewhere, code);
    pthread_join(thread, NULL);
    if (mode == 0) code[2] = code[2] == 908 ? 901 : code[2]; /* either is right */
    for (k = 0; k < 3; k++) CHECK_INT(code[k], expected[mode][k]);
    if (mode < 2) CHECK_INT(cudaStreamEndCapture(of_main, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK_INT(status_of(of_main), cudaStreamCaptureStatusNone);
  }
  CLEAN();
}
static void test_graph_failures(void) {
  int seed, spoilt = 0;
  for (seed = 0; seed < SEEDS; seed++) {
    cudaStream_t s;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    int code;
    sim_reset((uint64_t)seed, 1);
    s = new_stream();
    sim_fail("cudaStreamBeginCapture", 1, 0);
    CHECK_INT(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), cudaErrorUnknown);
    CHECK_INT(status_of(s), cudaStreamCaptureStatusNone);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    sim_fail("cudaStreamEndCapture", 1, 0);
    CHECK_INT(cudaStreamEndCapture(s, &graph), cudaErrorUnknown);
    CHECK(graph == NULL);
    CHECK_INT(status_of(s), cudaStreamCaptureStatusNone);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    sim_fail("gt__cuda_map", 1, 0);
    notes = 0;
    CHECK_INT(sim_launch(SIM_gt__cuda_map, s, "x", 1, write_note), cudaErrorUnknown);
    code = cudaStreamEndCapture(s, &graph); /* what failed may have invalidated it */
    if (code) {
      spoilt++;
      CHECK_INT(code, cudaErrorStreamCaptureInvalidated);
      continue;
    }
    sim_fail("cudaGraphInstantiateWithFlags", 1, 0);
    CHECK_INT(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaErrorUnknown);
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    sim_fail("cudaGraphLaunch", 1, 0);
    CHECK_INT(cudaGraphLaunch(exec, s), cudaErrorUnknown);
    sim_fail("cudaGraphUpload", 1, 0);
    CHECK_INT(cudaGraphUpload(exec, s), cudaErrorUnknown);
    CHECK_INT(sim_pending(), 0);
    sim_fail("*", 1, 1);
    CHECK(cudaGraphDestroy(graph) != cudaSuccess);
    CHECK(cudaGraphExecDestroy(exec) != cudaSuccess);
    sim_fail("*", 0, 0);
    CHECK_INT(sim_live().graphs + sim_live().execs, 0);
  }
  CHECK_TEXT(spoilt > 0 && spoilt < SEEDS, "%d of %d", spoilt, SEEDS);
  CLEAN();
}

int main(int argc, char **argv) {
  check_start("sim-self", argc, argv);
  cost_of_library = sim_cost_of;
  RUN(order);
  RUN(late);
  RUN(missing_wait);
  RUN(stream_destroyed);
  RUN(pageable);
  RUN(two_devices);
  RUN(no_devices);
  RUN(driver_functions);
  RUN(events);
  RUN(event_again);
  RUN(reuse);
  RUN(many_pieces);
  RUN(open_pool);
  RUN(memory_runs_out);
  RUN(stray_access);
  RUN(pinned);
  RUN(mistakes);
  RUN(mistakes_of_order);
  RUN(copies_in_time);
  RUN(kernels_in_time);
  RUN(urgent_in_time);
  RUN(host_in_time);
  RUN(graphs_in_time);
  RUN(library_in_time);
  RUN(threads_in_time);
  RUN(seeds_in_time);
  RUN(failures);
  RUN(threads);
  RUN(graph_order);
  RUN(graph_launches);
  RUN(graph_edges);
  RUN(graph_devices);
  RUN(graph_memory);
  RUN(capture_ends);
  RUN(capture_threads);
  RUN(graph_failures);
  test_capture_rules();
  sim_reset(1, 1);
  return check_finish();
}
