#include "hooks.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
static int64_t live, calls, fail_from, fail_to;
static int64_t failed;
static int holding;
static pthread_t holder;

/* A child gets the lock free, whatever other threads do. Registered first, it is taken last. */
static void take(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }
__attribute__((constructor)) static void at_fork(void) { pthread_atfork(take, leave, leave); }

static int64_t locked_read(const int64_t *p) {
  int64_t v;
  pthread_mutex_lock(&lock);
  v = *p;
  pthread_mutex_unlock(&lock);
  return v;
}
int64_t hooks_live(void) { return locked_read(&live); }
int64_t hooks_calls(void) { return locked_read(&calls); }
int hooks_failed(void) { return (int)locked_read(&failed); }

static void fail_between(int64_t first, int64_t last) {
  pthread_mutex_lock(&lock);
  fail_from = first ? calls + first : 0;
  fail_to = last ? calls + last : 0;
  failed = 0;
  pthread_mutex_unlock(&lock);
}
void hooks_fail_at(int64_t nth) { fail_between(nth, nth ? INT64_MAX / 2 : 0); }
void hooks_fail_once(int64_t nth) { fail_between(nth, nth); }

void hooks_hold(int on) {
  pthread_mutex_lock(&lock);
  holding = on;
  if (on) holder = pthread_self();
  pthread_cond_broadcast(&let_go);
  pthread_mutex_unlock(&lock);
}

/* 1 if the allocation may go on. */
static int admit(int fresh) {
  int ok;
  pthread_mutex_lock(&lock);
  while (holding && !pthread_equal(pthread_self(), holder)) pthread_cond_wait(&let_go, &lock);
  calls++;
  ok = !(fail_from && calls >= fail_from && calls <= fail_to);
  if (ok) live += fresh;
  else failed++;
  pthread_mutex_unlock(&lock);
  return ok;
}
void *hooks_malloc(size_t size) {
  void *p;
  if (!admit(1)) return NULL;
  p = malloc(size ? size : 1);
  if (!p) {
    pthread_mutex_lock(&lock);
    live--;
    pthread_mutex_unlock(&lock);
  }
  if (p && size <= (1u << 20)) memset(p, 0xCD, size);
  return p;
}
void *hooks_realloc(void *p, size_t size) {
  return admit(p == NULL) ? realloc(p, size ? size : 1) : NULL;
}
void hooks_free(void *p) {
  if (!p) return;
  pthread_mutex_lock(&lock);
  live--;
  pthread_mutex_unlock(&lock);
  free(p);
}

/* Names are those of the library's tables. What finds no room is not counted. */
static struct { int on_gpu, kind; const char *name; int64_t n; } way[64];
enum { WAYS = sizeof way / sizeof *way };
void hooks_way(int on_gpu, int kind, const char *name) {
  int i = 0;
  pthread_mutex_lock(&lock);
  while (i < WAYS - 1 && way[i].name &&
         (way[i].on_gpu != on_gpu || way[i].kind != kind || strcmp(way[i].name, name)))
    i++;
  way[i].on_gpu = on_gpu;
  way[i].kind = kind;
  way[i].name = name;
  way[i].n++;
  pthread_mutex_unlock(&lock);
}
void hooks_print_ways(void) {
  static const char *const kind[] = {"copy", "map", "reduce", "matmul", "scan", "order", "scatter", "replay"};
  pthread_mutex_lock(&lock);
  for (int i = 0; i < WAYS && way[i].name; i++)
    printf("way %s %s %s %" PRId64 "\n", way[i].on_gpu ? "cuda" : "cpu", kind[way[i].kind], way[i].name,
           way[i].n);
  pthread_mutex_unlock(&lock);
}
