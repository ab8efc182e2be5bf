/* The allocator under the library in all tests: counts what is alive, fills fresh memory with
   garbage, and can fail on demand. And counts of the ways in which operations were done. */
#ifndef HOOKS_H
#define HOOKS_H
#include <stddef.h>
#include <stdint.h>
void *hooks_malloc(size_t size);
void *hooks_realloc(void *p, size_t size);
void hooks_free(void *p);
int64_t hooks_live(void);        /* blocks alive */
int64_t hooks_calls(void);       /* allocations asked for so far */
void hooks_fail_at(int64_t nth); /* the nth allocation from now fails, and all after it; 0: none */
void hooks_fail_once(int64_t nth); /* only the nth one */
int hooks_failed(void);          /* how many failed since */
void hooks_way(int on_gpu, int kind, const char *name); /* an operation of that kind was planned so */
void hooks_print_ways(void); /* "way cpu matmul panels 12" for each way that was taken */
void hooks_hold(int on); /* while on, allocations of all threads but the caller's wait */
#endif
