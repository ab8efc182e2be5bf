/* The library as one object, on top of the allocator of hooks.h; all test programs link it. */
#include "hooks.h"

#define GPUTENSOR_MALLOC(n) hooks_malloc(n)
#define GPUTENSOR_REALLOC(p, n) hooks_realloc(p, n)
#define GPUTENSOR_FREE(p) hooks_free(p)
#define GPUTENSOR_IMPLEMENTATION
#include "../gputensor.h"
