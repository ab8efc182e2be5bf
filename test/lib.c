/* The library as one object, on top of the allocator of hooks.h; all test programs link it. */
#include "hooks.h"

#define GPUTENSOR_MALLOC(n) hooks_malloc(n)
#define GPUTENSOR_REALLOC(p, n) hooks_realloc(p, n)
#define GT__HOOK_WAY(op) hooks_way((op)->device.type == GT_CUDA, (op)->kind, (op)->way->name)
#define GPUTENSOR_FREE(p) hooks_free(p)
#define GPUTENSOR_IMPLEMENTATION
#include "../gputensor.h"
