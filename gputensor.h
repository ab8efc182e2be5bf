/* gputensor.h - PyTorch's devices, tensors and streams in plain C: your arrays, on the GPU or on
   the CPU, from one source.                       version 0.9.0, 2026-11-27. MIT licence, below.

   A complete program:

       #define GPUTENSOR_IMPLEMENTATION             // in exactly one C file
       #include "gputensor.h"
       #include <stdio.h>
       int main(void) {
         gt_device dev = gt_best_device();          // cuda:0 where there is one, else the CPU
         GT_SCOPE {                                 // frees at its end all that was made inside
           gt_tensor *x = gt_randn(GT_SHAPE(1000, 64), GT_FLOAT32, dev, NULL);
           gt_tensor *w = gt_randn(GT_SHAPE(64, 10), GT_FLOAT32, dev, NULL);
           gt_tensor *y = gt_matmul_eval(NULL, x, w, "relu(a) * 0.125");
           gt_tensor *m = gt_mean(NULL, y, GT_DIM(0), 0);
           gt_print(m);                             // waits for the GPU, prints as PyTorch does
         }
         if (gt_error()) { fprintf(stderr, "%s\n", gt_error_message()); return 1; }
         return 0;
       }

       cc   -O2 -march=native -fopenmp app.c -lm -lpthread -o app               # CPU only
       nvcc -O3 -Xcompiler -fopenmp -arch=native app.c gputensor_kernels.cu     # and the GPU

   The first takes 4 seconds, the second a minute or two: README.md says how to pay that once. On
   Hopper write -arch=sm_90a; from CUDA 12.1 on add -split-compile 0. No other library is needed: no
   cuBLAS, no NVRTC, no driver library.

   What it is: seven primitives - copy, map, reduce, matmul, scan, order, scatter - on two kinds of
   device, and one expression language, in which map, reduce, matmul and scan take formulas:

       gt_eval(out, "a*b + c", x, y, z);                        // one pass over memory
       gt_reduce(out, GT_MEAN, GT_ALL, 0, "(a-b)*(a-b)", p, q); // mean squared error in one pass
       gt_matmul_eval(out, x, w, "relu(a + b)", bias);          // a is the product, b the bias

   What it is not: autograd, convolution, FFT, quantised types, managed memory. What is one to four
   calls is not a function: README.md has recipes for layer_norm, rms_norm, cross_entropy, one_hot,
   tril, pad, dropout and pooling.

   CONTENTS   (search for >>word)
       >>errors      >>devices     >>dtypes      >>tensors     >>views       >>copies
       >>operations  >>expressions >>reductions  >>scans       >>ordering    >>products
       >>random      >>streams     >>tracing     >>graphs      >>files       >>exchange
       >>program
     and under GPUTENSOR_IMPLEMENTATION, where a reader begins with how-it-works
       >>shared           compiled by gputensor_kernels.cu, too, as math and machine are
       >>math             float32 and float64 functions, conversions, integers, random bits
       >>machine          programs, dtypes, and the arguments of the primitives; gt__backend
       >>system           dialects of compilers and operating systems
       >>how-it-works     a call on its way, the lock, where to look for a fault, words
       >>state            streams, storages, graphs and traces as structures
       >>floor-plan       what is used before it is defined
       >>reports          errors, of which a thread's first is kept
       >>device-code      back ends by device, and what the table of dtypes says
       >>regions          the bytes of a tensor; do two tensors meet?
       >>codes            error codes of back ends become messages
       >>trace-code       what is noted while a trace is on
       >>waiting          a stream, or the host, waits for a stream
       >>ledgers          who uses which memory, and need not be done
       >>order            the waits of an operation; races; what the host reads and writes
       >>storage          memory: taken, given back, kept for the next one
       >>ways             which way does an operation
       >>submit           the one road to a back end
       >>handles          tensors and scopes: made, kept, freed
       >>views-code       other shapes and strides on the same storage
       >>operands         tensors as back ends see them; where a result goes
       >>parser           a text becomes a tree
       >>compiler         a tree becomes programs
       >>operations-code  gt_add and its like, gt_eval
       >>moving           gt_copy, gt_to, gt_item and their like
       >>making           gt_full and its like, random tensors
       >>joining          gt_index_select, gt_gather, gt_cat, gt_stack
       >>folding          gt_sum and its like, norms, softmax, scans
       >>multiplying      gt_matmul and its like
       >>scattering       gt_index_add, gt_scatter_reduce
       >>sorting          gt_sort, gt_topk, gt_nonzero
       >>timeline         what a trace has noted is drawn, saved and summed up
       >>graph-code       graphs; gt_warmup, gt_benchmark
       >>stream-code      streams, events, gt_build_info, gt_shutdown
       >>npy              NumPy's files, and how a file is replaced
       >>safetensors      files of several tensors
       >>dlpack           tensors of other libraries
       >>print            gt_print and its like
       >>cpu-threads      how threads share an operation
       >>cpu-plain        Part I: each primitive, plainly; it is the definition
       >>cpu-order        the same of orders and scatters
       >>cpu-streams      the CPU as a back end
       >>tuning           Part II: numbers that were measured
       >>cpu-loops        loops over values, for each type and instruction set
       >>cpu-vectors      maps and copies, by blocks of 512 values
       >>cpu-transposed   those of operands that run across
       >>cpu-lines        maps of slices, and of what is broadcast
       >>cpu-folds        reductions
       >>cpu-softmax      softmax and its like
       >>cpu-scans        running folds
       >>cpu-products     products
       >>cpu-amx          products by Intel's tiles
       >>cpu-ways         the CPU's table of ways
       >>cuda-backend     CUDA as a back end
       >>licence          and what changed from version to version
     To add an operation see GT__OPERATIONS; a dtype, GT__DTYPES; a back end, gt__backend; a faster
     way, gt__way.

   CONVENTIONS
     - Shapes are row-major, strides count elements, matrices are M x K times K x N.
     - The output comes first. NULL there makes the result, which the caller then owns; in place is
       gt_add(a, a, b). Other overlap of output and inputs is computed through a temporary. A given
       output may be of any dtype: what was computed is converted to it as gt_copy does, a float to
       an integer, too, and not first to the dtype that NULL would have made.
     - A call that fails returns NULL (or a status other than GT_OK) and keeps the thread's first
       error. While an error is pending, a call given any NULL tensor, the output included, does
       nothing and returns NULL: a chain of calls is checked once, at its end.
     - Work on a GPU is enqueued on the current stream and the call returns before it is done.
       gt_data, gt_item, gt_to_array, gt_print and the synchronize functions wait; work of two
       streams that meets in the same memory is put in order by the library. Calls on CPU tensors
       return when the work is done, except on a CPU stream that was created.
     - Every function may be called by several threads at once, also on one tensor: they take turns
       where one of them writes. Only the freeing of a handle has to come after all uses of that
       handle: a thread that cannot know takes one of its own, by gt_retain. Device, stream, scopes,
       generator and error belong to the thread.
     - Results do not depend on the caller's floating-point mode (subnormals flushed by a program
       linked with -Ofast, another rounding, traps): a call works in the usual one, then gives the
       caller's back, though not its flags. Only the implementation refuses -ffast-math.
     - Stacks of 128 KiB are enough, also OpenMP's.

   WHEN STREAMS HELP   (four for one; an H200, and where * stands lesson 17 on a pretend GPU)
     - They gain where pieces of work do not need each other and each leaves a part of the device
       idle: small kernels 2.4 times*, disjoint slices of one tensor likewise; uploads, computing
       and downloads of pinned memory 2.2 times (lesson 06).
     - They gain nothing where each piece fills the device*, where each needs the one before*, where
       the host reads a value in between*, and with copies of pageable memory, which keep the host.
     - Tiny pieces are bound by their calls: 1.04*; one formula or a graph (8 times*) helps.
     - Below 10,000 numbers the CPU is faster than the launch of a kernel and the wait for it, some
       10 us (lesson 19). gt_trace_print says which case yours is.

   COSTS on the CPU   (one thread of an EPYC with AVX-512, 2026-11)
     - A call on small tensors takes 0.2 microseconds, 0.35 if it makes its output. A plain loop is
       faster below about 1,000 elements, products of 8 x 8 and, times a vector, of 48 x 48.
     - OpenMP's threads spin when they have nothing to do. Where others need the cores that takes up
       to five times the processor time; OMP_WAIT_POLICY=passive in the environment ends it.
     - Freed memory goes to the C library. glibc's gives large pieces back to the system, and each
       page that comes from there again costs a fault: lesson 09 takes a seventh less time with
       MALLOC_TRIM_THRESHOLD_=268435456 and MALLOC_MMAP_THRESHOLD_=33554432 in the environment.

   COMPILERS   GCC and Clang, on Windows MinGW-w64. The declarations take C99, C++11 and all later
     standards, the implementation C99, C++17 and all later ones. x86 of 32 bits needs -msse2 and
     -mfpmath=sse. On x86-64 loops are made for AVX-512 or AVX2 where the flags name one, as
     -march=native does, and the program needs it. Without they are made for AVX2, and products of
     floats also for AVX-512; a processor that has neither does all by the plain ways.

   OPTIONS   (define before including the implementation)
     GPUTENSOR_IMPLEMENTATION   in one file: compile the library here. This file then includes
                                itself: of another name, GPUTENSOR_FILE is that name in quotes
     GPUTENSOR_STATIC           everything is static to that file
     GPUTENSOR_LINKED           GPUTENSOR_IMPLEMENTATION does nothing: the library was compiled
                                elsewhere, once, and is linked to this program
     GPUTENSOR_CUDA             use CUDA also when nvcc does not drive the compilation
     GPUTENSOR_NO_CUDA          never use CUDA
     GPUTENSOR_NO_THREADS       CPU streams run their work at once
     GPUTENSOR_PLAIN            only the plain way of each primitive, light to compile and to read;
                                gputensor_kernels.cu takes it, too, and one may be plain alone
     GPUTENSOR_DISPATCH         x86-64: all instruction sets, of which the machine's best is taken,
                                or the one that the environment's GPUTENSOR_CPU names: plain, avx2,
                                avx512 or amx
     GPUTENSOR_CHECK_HANDLES    a call that is given a tensor that was freed says so: which operand,
                                and whether by gt_free or by the end of a GT_SCOPE
     GPUTENSOR_NVTX             ranges of >>tracing are NVIDIA's, too: it includes nvToolsExt.h
     GPUTENSOR_MALLOC(n) GPUTENSOR_REALLOC(p, n) GPUTENSOR_FREE(p)   all three or none (C library)
     In the environment GPUTENSOR_WAYS names ways of gt_build_info's list, with commas between: only
     these and the plain ones are taken. It is for tests, and for looking.
*/
#ifndef GPUTENSOR_H
#define GPUTENSOR_H

#define GPUTENSOR_VERSION_MAJOR 0
#define GPUTENSOR_VERSION_MINOR 9
#define GPUTENSOR_VERSION_PATCH 0
#define GPUTENSOR_VERSION "0.9.0"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
#define GT__EXTERN extern "C"
#else
#define GT__EXTERN extern
#endif
#if defined(GPUTENSOR_STATIC) && defined(GPUTENSOR_LINKED)
#error "GPUTENSOR_STATIC keeps the library in this file, GPUTENSOR_LINKED elsewhere: choose one"
#endif
#ifdef GPUTENSOR_STATIC
#define GT_API static __attribute__((unused))
#else
#define GT_API GT__EXTERN
#endif

/* The public part is laid out by hand. */
/* clang-format off */
/* ---- >>errors ----------------------------------------------------------------------------------
   The first error stays until gt_clear_error. Its message names the function, the shapes, dtypes
   and devices, and the way out. Nothing here allocates. */
typedef enum gt_status {
  GT_OK = 0,
  GT_ERROR_ARGUMENT,    /* a value that cannot be meant: NULL, a bad dim, an index out of range */
  GT_ERROR_SHAPE,       /* sizes that do not fit together */
  GT_ERROR_DTYPE,       /* an element type that the operation does not have */
  GT_ERROR_DEVICE,      /* tensors on different devices, or a device that is not there */
  GT_ERROR_MEMORY,      /* out of memory */
  GT_ERROR_EXPRESSION,  /* the text of an expression, or of gt_view */
  GT_ERROR_FILE,        /* the operating system's word on a file */
  GT_ERROR_FORMAT,      /* the content of a file */
  GT_ERROR_STATE,       /* a call out of order: an event never recorded, a stream in use */
  GT_ERROR_CUDA,        /* the CUDA runtime's word */
  GT_ERROR_DEVICE_LOST, /* an earlier CUDA fault; the CPU keeps working */
  GT_ERROR_VERSION      /* gputensor.h and gputensor_kernels.cu differ */
} gt_status;

GT_API gt_status gt_error(void);                /* GT_OK, or the pending error */
GT_API const char *gt_error_message(void);      /* "" without one; valid until the next error */
GT_API void gt_clear_error(void);
GT_API const char *gt_status_string(gt_status status);
/* Called once for each first error, on the thread that failed, with no lock held. One a process;
   NULL removes it. It may stop the program; if it returns, the call fails as usual. */
typedef void (*gt_error_handler)(gt_status status, const char *message, void *user);
GT_API void gt_set_error_handler(gt_error_handler handler, void *user);

/* ---- >>devices ---------------------------------------------------------------------------------
   A device is a value. Asking for one that is not there is an error that says why, and returns type
   GT_NO_DEVICE, which every call refuses. Only gt_best_device falls back; print what it chose. */
typedef enum gt_device_type { GT_NO_DEVICE = 0, GT_CPU = 1, GT_CUDA = 2 } gt_device_type;
typedef struct gt_device { int32_t type, index; } gt_device;
typedef struct gt_properties {
  char name[128];
  int major, minor;         /* CUDA compute capability; 0 on the CPU */
  int multiprocessors;      /* SMs, or CPU cores */
  size_t total_memory;      /* bytes; 0 where unknown, as of Windows */
  size_t l2_bytes;          /* 0 where unknown */
  char pci_bus_id[32];      /* as nvidia-smi prints it; "" on the CPU */
  char instructions[32];    /* "sm_90", "sm_90a" (a GPU in use), "avx512", "avx2", "plain" */
} gt_properties;

GT_API gt_device gt_cpu(void);
GT_API gt_device gt_cuda(int index);
/* "cpu" or "cpu:0", "cuda" (the current one, or else the first) or "cuda:1". */
GT_API gt_device gt_parse_device(const char *text);
GT_API gt_device gt_best_device(void);              /* cuda:0 where there is one, else the CPU */
GT_API int gt_cuda_is_available(void);              /* never fails, sets no error */
GT_API const char *gt_cuda_unavailable_reason(void); /* "" if it is available */
GT_API int gt_cuda_device_count(void);              /* 0 where there is none; sets no error */
GT_API const char *gt_device_string(gt_device device); /* "cuda:0"; valid for the next 3 calls */
GT_API const char *gt_device_name(gt_device device);   /* "NVIDIA H200"; likewise */
GT_API gt_status gt_device_properties(gt_device device, gt_properties *out);
/* The thread's current device, as torch.cuda.device: what "cuda" means. It is the CPU until set. */
GT_API gt_device gt_current_device(void);
GT_API gt_status gt_set_device(gt_device device);
/* GT_WITH_DEVICE(d) { ... } sets it for the block, GT_WITH_DEVICE_SCOPED(d); from there to the end
   of the block around it. Where d is not there, an error is pending and the device stays. GT_SCOPE
   says what break and continue do. */

/* ---- >>dtypes ----------------------------------------------------------------------------------
   Promotion is PyTorch's: of tensors with dimensions first; 0-d tensors and then numbers count only
   where they are of a higher kind (bool < integer < floating). */
typedef enum gt_dtype {
  GT_BOOL, GT_UINT8, GT_INT8, GT_INT16, GT_INT32, GT_INT64,
  GT_FLOAT16, GT_BFLOAT16, GT_FLOAT32, GT_FLOAT64, GT_DTYPES
} gt_dtype;

GT_API size_t gt_dtype_size(gt_dtype dtype);            /* bytes; 0 for a bad value */
GT_API const char *gt_dtype_string(gt_dtype dtype);     /* "float32" */
GT_API int gt_is_floating(gt_dtype dtype);
GT_API gt_dtype gt_promote_types(gt_dtype a, gt_dtype b);

/* ---- >>tensors ---------------------------------------------------------------------------------
   A tensor is a handle on a storage, which views share. A handle has one owner: whoever made it
   frees it, or a GT_SCOPE around the making does. The first fields may be read by everyone. */
enum { GT_MAX_DIMS = 8 };
typedef struct gt_shape { int ndim; int64_t size[GT_MAX_DIMS]; } gt_shape;

typedef struct gt_tensor {
  gt_dtype dtype;
  gt_device device;
  int ndim;
  int64_t shape[GT_MAX_DIMS], stride[GT_MAX_DIMS]; /* strides in elements */
  int64_t offset;                                  /* of the first element, in elements */
  struct gt_storage *storage;
  int gt__number;                                  /* made by gt_scalar: promotes as a number */
  struct gt_tensor *gt__next, *gt__prev;           /* all handles alive; guarded by the lock */
  struct gt_tensor *gt__scope_next, *gt__scope_prev;
  struct gt_scope *gt__scope;
} gt_tensor;

typedef struct gt_generator { uint64_t seed, offset; } gt_generator; /* see >>random */

/* Making. `shape` is GT_SHAPE(2, 3) or GT_SHAPE_0D; its sizes, those of 0 left out, multiply to
   less than 2^60, and so do those of every view and result. gt_empty does not set its elements. */
GT_API gt_tensor *gt_empty(gt_shape shape, gt_dtype dtype, gt_device device);
GT_API gt_tensor *gt_zeros(gt_shape shape, gt_dtype dtype, gt_device device);
GT_API gt_tensor *gt_ones(gt_shape shape, gt_dtype dtype, gt_device device);
GT_API gt_tensor *gt_full(gt_shape shape, double value, gt_dtype dtype, gt_device device);
/* Exact beyond 2^53, too. What an integer dtype cannot hold wraps, as in gt_to_dtype. */
GT_API gt_tensor *gt_full_int64(gt_shape shape, int64_t value, gt_dtype dtype,
                                gt_device device);
GT_API gt_tensor *gt_empty_like(const gt_tensor *x);
GT_API gt_tensor *gt_zeros_like(const gt_tensor *x);
/* A number: 0-d on the CPU, read when it is used, welcome beside tensors of any device. */
GT_API gt_tensor *gt_scalar(double value);
GT_API gt_tensor *gt_scalar_int64(int64_t value);
/* ceil((end - start) / step) elements start + i*step, computed in float64 (int64 for integers). */
GT_API gt_tensor *gt_arange(double start, double end, double step, gt_dtype dtype,
                            gt_device device);
GT_API gt_tensor *gt_linspace(double start, double end, int64_t steps, gt_dtype dtype,
                              gt_device device);
GT_API gt_tensor *gt_eye(int64_t rows, int64_t columns, gt_dtype dtype, gt_device device);
/* Copies row-major host memory; `data` may be reused on return. */
GT_API gt_tensor *gt_from_array(const void *data, gt_shape shape, gt_dtype dtype, gt_device device);
/* Wraps that device's memory. gt_free of its last handle waits until all work on it is done, says
   if some of that failed, and calls `deleter`, unless that is NULL. Memory of another device is
   refused. What wraps the same memory is ordered as one tensor's views are. */
GT_API gt_tensor *gt_from_ptr(void *data, gt_shape shape, gt_dtype dtype, gt_device device,
                              void (*deleter)(void *data, void *context), void *context);
/* The same of memory that nobody may write: what would write to the tensor or to a view of it is
   refused. What gt_data returns of it is not const, but must not be written either. */
GT_API gt_tensor *gt_from_const_ptr(const void *data, gt_shape shape,
                                    gt_dtype dtype, gt_device device,
                                    void (*deleter)(void *data, void *context),
                                    void *context);
/* On the CPU, page-locked where there is CUDA: copies to and from a GPU do not block the host. */
GT_API gt_tensor *gt_empty_pinned(gt_shape shape, gt_dtype dtype);

GT_API gt_tensor *gt_retain(const gt_tensor *x); /* another handle on the same elements */
GT_API void gt_free(gt_tensor *x);               /* NULL is fine; pending work is not disturbed */
/* Hands x to the scope outside, or to the caller */
GT_API gt_tensor *gt_keep(gt_tensor *x);
/* GT_SCOPE { ... } frees at its end what this thread made inside and did not keep. It is a loop of
   one round: break and continue end the block, not a round of a loop around it; return leaves the
   function, but one that ends with such a block needs a return behind it. GT_SCOPED; is a
   declaration: what is made from there to the end of the block around it is freed at that end, and
   break, continue and return do what they do elsewhere; only a goto must not jump over it into its
   block. All these need the cleanup attribute of GCC and Clang. */

GT_API int64_t gt_numel(const gt_tensor *x);
GT_API size_t gt_nbytes(const gt_tensor *x);     /* numel x element size */
GT_API gt_shape gt_shape_of(const gt_tensor *x);
GT_API int gt_is_contiguous(const gt_tensor *x);
GT_API int gt_is_pinned(const gt_tensor *x);

/* Reading. gt_data is the first element's address (NULL without one); on the CPU it waits for what
   is pending: call it before each new round of host access. The others wait for what they read. */
GT_API void *gt_data(const gt_tensor *x);
GT_API double gt_item(const gt_tensor *x);          /* the one element of x; NaN on error */
GT_API int64_t gt_item_int64(const gt_tensor *x);   /* 0 on error */
/* Row-major, x's dtype */
GT_API gt_status gt_to_array(const gt_tensor *x, void *host, size_t bytes);
GT_API gt_status gt_print(const gt_tensor *x);      /* to stdout, as PyTorch prints */
GT_API gt_status gt_fprint(FILE *file, const gt_tensor *x);
/* Writes at most `size` bytes with the final 0; returns the length that all of it needs, or -1. */
GT_API int64_t gt_to_string(const gt_tensor *x, char *text, size_t size);

/* ---- >>views -----------------------------------------------------------------------------------
   New handles on the same elements, to be freed as any other. A dim may be negative: -1 is the
   last. Of a 0-d tensor gt_transpose, gt_squeeze, gt_unfold, gt_index_select, gt_gather and
   reductions take 0 and -1. */
GT_API gt_tensor *gt_reshape(const gt_tensor *x, gt_shape shape); /* one may be -1; never a copy */
GT_API gt_tensor *gt_transpose(const gt_tensor *x, int dim0, int dim1);
GT_API gt_tensor *gt_permute(const gt_tensor *x, gt_shape order); /* GT_SHAPE(2, 0, 1) */
/* Python's x[start:end:step]: ends are clipped, a negative step goes backwards. What Python leaves
   out at the far end is INT64_MAX, or INT64_MIN where that is the beginning. */
GT_API gt_tensor *gt_slice(const gt_tensor *x, int dim, int64_t start, int64_t end, int64_t step);
GT_API gt_tensor *gt_select(const gt_tensor *x, int dim, int64_t index);
/* All of that by Python's text: gt_view(x, "1:-1, ::-2, ..., 3"). A bad text is refused with its
   column. */
GT_API gt_tensor *gt_view(const gt_tensor *x, const char *text);
GT_API gt_tensor *gt_flip(const gt_tensor *x, uint32_t dims);     /* GT_DIM(0) | GT_DIM(-1) */
GT_API gt_tensor *gt_expand(const gt_tensor *x, gt_shape shape);  /* -1 keeps a size */
GT_API gt_tensor *gt_squeeze(const gt_tensor *x, int dim);        /* unchanged if not of size 1 */
GT_API gt_tensor *gt_unsqueeze(const gt_tensor *x, int dim);
GT_API gt_tensor *gt_diagonal(const gt_tensor *x, int64_t offset, int dim0, int dim1);
/* The windows of `size` entries of a dim, one every `step`: the dim counts them, and a dim is added
   at the end for what is in a window. Max pooling of 2 x 2, and the rows which, times weights, make
   a convolution by h x w (gt_reshape lies between; README.md):
       gt_max(NULL, gt_unfold(gt_unfold(x, -2, 2, 2), -2, 2, 2), GT_DIM(-1) | GT_DIM(-2), 0);
       gt_contiguous(gt_permute(gt_unfold(gt_unfold(x, 2, h, 1), 3, w, 1),
                                GT_SHAPE(0, 2, 3, 1, 4, 5))); */
GT_API gt_tensor *gt_unfold(const gt_tensor *x, int dim, int64_t size, int64_t step);
/* Any view of x's whole memory: element (i, j) is number offset + i * strides.size[0] + ... of it,
   as PyTorch counts; what would lie outside is refused. Elements may share memory: then the view is
   read, and refused as an output. */
GT_API gt_tensor *gt_as_strided(const gt_tensor *x, gt_shape shape, gt_shape strides,
                                int64_t offset);

/* ---- >>copies ----------------------------------------------------------------------------------
   gt_copy converts between any devices, dtypes and strides; src is broadcast to dst's shape, and a
   NULL dst makes a contiguous clone. Copies between a GPU and pinned memory return at once.
   Ordinary host memory is read and written before the call returns; what gt_to brings to the host
   is pinned. */
GT_API gt_tensor *gt_copy(gt_tensor *dst, const gt_tensor *src);
/* Shares x if it is there already */
GT_API gt_tensor *gt_to(const gt_tensor *x, gt_device device);
GT_API gt_tensor *gt_to_dtype(const gt_tensor *x, gt_dtype dtype); /* likewise */
GT_API gt_tensor *gt_contiguous(const gt_tensor *x);               /* likewise */
GT_API gt_tensor *gt_fill(gt_tensor *x, double value);
/* As torch.cat, gt_cat passes over 1-d tensors without elements, whatever the others' dims. */
GT_API gt_tensor *gt_cat(gt_tensor *out, int n, const gt_tensor *const *x, int dim);
GT_API gt_tensor *gt_stack(gt_tensor *out, int n, const gt_tensor *const *x, int dim);
/* Picks the entries of dim `dim` that `index` (int32 or int64) names. The index's dims, as many as
   it has, take the place of that one: of a table of (n, width), (batch, time) tokens make (batch,
   time, width), and one number, 0-d, makes a row. An index out of range, as all below 0 are, is an
   error at the call on the CPU; on a GPU, and in a graph, its entries are zero and the next wait
   reports it. */
GT_API gt_tensor *gt_index_select(gt_tensor *out, const gt_tensor *x, int dim,
                                  const gt_tensor *index);
/* Picks single elements, as torch.gather: out[i][j] is x[index[i][j]][j] with dim 0, and
   x[i][index[i][j]] with dim 1. The index has as many dims as x, and only in `dim` may it be longer
   than x; where it is shorter, the rest of x is left out. 0-d counts as 1-d. The result has the
   index's shape. Indices as above. */
GT_API gt_tensor *gt_gather(gt_tensor *out, const gt_tensor *x, int dim, const gt_tensor *index);

/* ---- >>operations ------------------------------------------------------------------------------
   THE TABLE. Each line defines one elementwise operation for every device, for the expression
   language (by its name) and as a function gt_NAME(out, a[, b[, c]]) with broadcasting. It is all
   that a new one needs: parser, CPU loops in vectors and GPU kernels take it from here. A function
   that >>math does not have yet is written there; >>interpreter in the .cu names the lists that
   make an operation faster on a GPU; test/reference.h has what the tests expect of it:

       name, number of operands, result, cost, formula for floating numbers, formula for int64

   Result: ARITH the promoted dtype · FLOAT the same, float32 for integers · BOOL a bool, from
   operands of the promoted dtype · INT integers and bool only · WHERE that of b and c. Where FLOAT
   or INT leave a formula without use, there stands a.
   Cost: LIGHT or HEAVY (the GPU has two kernels, so that what is light alone needs few registers).
   A pass over memory computes in one type: float32 (also for float16 and bfloat16), float64 or
   int64; what is stored is converted then. GT__F(exp) is that type's exp, GT__ADD its correctly
   rounded sum, as GT__SUB, GT__MUL and GT__DIV are; integers wrap by gt__add_i64 and its like. No
   formula has a bare + or * of floats, which would leave rounding to the compiler: so every device
   gives the same bits, functions of float64 on x86 without FMA excepted. The errors of functions
   stand in >>math.
   Semantics, where languages differ: NaN goes through maximum, minimum, clamp and relu, sign makes
   it 0; maximum(+0, -0) = +0, minimum = -0; round goes to even; remainder has the divisor's sign,
   fmod the dividend's; floor_div is PyTorch's; integers wrap; integer x//0, x%0 are 0; / of
   integers is float32; integer pow with a negative exponent is 0 but for 1 and -1; shifts by the
   width or more give 0 or the sign; gelu is the erf form, it and silu are -0 at -inf. float to
   integer truncates and saturates, NaN becomes 0; integer to integer wraps; to bool is "not zero";
   others round once. */
#define GT__MATH(X, name) X(name, 1, FLOAT, HEAVY, GT__F(name)(a), a)
#define GT__ROUND(X, name, f) X(name, 1, ARITH, LIGHT, GT__F(f)(a), a)
#define GT__SAME(X, name, formula) X(name, 2, BOOL, LIGHT, formula, formula)
#define GT__COMPARE(X, name, sign) GT__SAME(X, name, (a sign b))
#define GT__LOGIC(X, name, sign) GT__SAME(X, name, ((a != 0) sign (b != 0)))
#define GT__BITS(X, name, sign) X(name, 2, INT, LIGHT, a, (a sign b))
#define GT__OPERATIONS(X) \
  X(add, 2, ARITH, LIGHT, GT__ADD(a, b), gt__add_i64(a, b)) \
  X(sub, 2, ARITH, LIGHT, GT__SUB(a, b), gt__sub_i64(a, b)) \
  X(rsub, 2, ARITH, LIGHT, GT__SUB(b, a), gt__sub_i64(b, a)) \
  X(mul, 2, ARITH, LIGHT, GT__MUL(a, b), gt__mul_i64(a, b)) \
  X(div, 2, FLOAT, LIGHT, GT__DIV(a, b), a) \
  X(rdiv, 2, FLOAT, LIGHT, GT__DIV(b, a), a) \
  X(floor_div, 2, ARITH, HEAVY, GT__F(floor_div)(a, b), gt__floor_div_i64(a, b)) \
  X(remainder, 2, ARITH, HEAVY, GT__F(remainder)(a, b), gt__remainder_i64(a, b)) \
  X(fmod, 2, ARITH, HEAVY, GT__F(fmod)(a, b), gt__fmod_i64(a, b)) \
  X(pow, 2, ARITH, HEAVY, GT__F(pow)(a, b), gt__pow_i64(a, b)) \
  X(maximum, 2, ARITH, LIGHT, GT__F(maximum)(a, b), (a > b ? a : b)) \
  X(minimum, 2, ARITH, LIGHT, GT__F(minimum)(a, b), (a < b ? a : b)) \
  X(atan2, 2, FLOAT, HEAVY, GT__F(atan2)(a, b), a) \
  X(hypot, 2, FLOAT, HEAVY, GT__F(hypot)(a, b), a) \
  X(leaky_relu, 2, ARITH, LIGHT, (a > 0 ? a : GT__MUL(a, b)), (a > 0 ? a : gt__mul_i64(a, b))) \
  X(neg, 1, ARITH, LIGHT, -a, gt__neg_i64(a)) \
  X(abs, 1, ARITH, LIGHT, GT__F(abs)(a), (a < 0 ? gt__neg_i64(a) : a)) \
  X(sign, 1, ARITH, LIGHT, ((a > 0) - (a < 0)), ((a > 0) - (a < 0))) \
  GT__ROUND(X, floor, floor) GT__ROUND(X, ceil, ceil) GT__ROUND(X, round, rint) \
  GT__ROUND(X, trunc, trunc) \
  X(square, 1, ARITH, LIGHT, GT__MUL(a, a), gt__mul_i64(a, a)) \
  X(relu, 1, ARITH, LIGHT, (((a > 0) | (a != a)) ? a : 0), (a > 0 ? a : 0)) \
  X(sqrt, 1, FLOAT, LIGHT, GT__F(sqrt)(a), a) \
  X(rsqrt, 1, FLOAT, LIGHT, GT__F(reciprocal)(GT__F(sqrt)(a)), a) \
  X(reciprocal, 1, FLOAT, LIGHT, GT__F(reciprocal)(a), a) \
  GT__MATH(X, exp) GT__MATH(X, exp2) GT__MATH(X, expm1) GT__MATH(X, log) GT__MATH(X, log2) \
  GT__MATH(X, log10) GT__MATH(X, log1p) \
  X(sin, 1, FLOAT, HEAVY, GT__ANGLE(0), a) \
  X(cos, 1, FLOAT, HEAVY, GT__ANGLE(1), a) \
  X(tan, 1, FLOAT, HEAVY, GT__ANGLE(2), a) \
  GT__MATH(X, asin) GT__MATH(X, acos) GT__MATH(X, atan) GT__MATH(X, sinh) GT__MATH(X, cosh) \
  GT__MATH(X, tanh) GT__MATH(X, sigmoid) GT__MATH(X, gelu) GT__MATH(X, silu) GT__MATH(X, softplus) \
  GT__MATH(X, erf) \
  GT__COMPARE(X, eq, ==) GT__COMPARE(X, ne, !=) GT__COMPARE(X, lt, <) GT__COMPARE(X, le, <=) \
  GT__COMPARE(X, gt, >) GT__COMPARE(X, ge, >=) \
  GT__LOGIC(X, logical_and, &) GT__LOGIC(X, logical_or, |) GT__LOGIC(X, logical_xor, ^) \
  X(logical_not, 1, BOOL, LIGHT, (a == 0), (a == 0)) \
  X(isnan, 1, BOOL, LIGHT, (a != a), 0) \
  X(isinf, 1, BOOL, LIGHT, (GT__F(abs)(a) == INFINITY), 0) \
  X(isfinite, 1, BOOL, LIGHT, (GT__F(abs)(a) < INFINITY), 1) \
  GT__BITS(X, bitwise_and, &) GT__BITS(X, bitwise_or, |) GT__BITS(X, bitwise_xor, ^) \
  X(bitwise_not, 1, INT, LIGHT, a, ~a) \
  X(bitwise_left_shift, 2, INT, LIGHT, a, gt__shl_i64(a, b)) \
  X(bitwise_right_shift, 2, INT, LIGHT, a, gt__shr_i64(a, b)) \
  X(where, 3, WHERE, LIGHT, (a != 0 ? b : c), (a != 0 ? b : c)) \
  X(clamp, 3, ARITH, LIGHT, GT__F(minimum)(GT__F(maximum)(a, b), c), \
    (a < b ? (b > c ? c : b) : (a > c ? c : a))) \
  X(lerp, 3, FLOAT, LIGHT, GT__F(lerp)(a, b, c), a) \
  X(fma, 3, ARITH, LIGHT, GT__F(fma)(a, b, c), gt__add_i64(gt__mul_i64(a, b), c))

#define GT__LETTERS_1(type) type a
#define GT__LETTERS_2(type) type a, type b
#define GT__LETTERS_3(type) type a, type b, type c
#define GT__DECLARE(name, arity, result, cost, f, i) \
  GT_API gt_tensor *gt_##name(gt_tensor *out, GT__LETTERS_##arity(const gt_tensor *));
GT__OPERATIONS(GT__DECLARE)

/* ---- >>expressions -----------------------------------------------------------------------------
   gt_eval(out, text, ...) computes a formula over the operands a, b, c... in the order passed, 26
   at most, in one pass over memory. By precedence, tightest first:

       name(x, y)  ( )  numbers  pi  inf  nan  operands
       x ** y                 power, from the right, above unary minus: -a**2 is -(a**2); where y
                              is the number 2 it is square(x)
       -x  +x  !x             minus, plus, logical not
       x * y  x / y  x % y    % is remainder
       x + y  x - y
       x < y  <= > >=         then  x == y  !=        they give bool; x < y < z is refused
       x && y                 then  x || y            both sides are evaluated
       x ? y : z              where, from the right; both sides are evaluated

   `name` is any operation of the table, or a dtype: int32(x) converts x, as the formula has it, as
   gt_to_dtype does, which rounds, truncates or wraps. Numbers are 64-bit, with an f as in 1e-3f a
   float32 as in C; integers without point or exponent are exact, or refused. All tensors are on
   one device, except numbers (gt_scalar) and other 0-d CPU tensors, which are read at the call. A
   bad text is refused with its column, and so is one that is nested more than 1,000 deep or longer
   than 65,535 characters. What is larger than one pass can hold (8 inputs; 16 inputs, numbers and
   values in between together; 64 steps), and most casts in a chain, take several passes. A chain
   keeps its compute type between steps, which is more exact than separate calls: float16 is
   rounded, integers wrap at the end. */
GT_API gt_tensor *gt_eval_n(gt_tensor *out, const char *text, int n,
                            const gt_tensor *const *operands);

/* ---- >>reductions ------------------------------------------------------------------------------
   `dims` is GT_DIM(0) | GT_DIM(-1), or GT_ALL; a `dim` is a number. 1 for GT_DIM(1) is refused, as
   is GT_DIM(1) for 1, and a dim named twice. sum and prod of integers and bool are int64; mean of
   integers is float32; argmax counts in the row-major order of the reduced dims, the first of
   equals, and a NaN wins; any and all give bool. Empty: sum 0, prod 1, mean and var NaN, any 0, all
   1; max, min, argmax, argmin are an error. The order of additions depends on the shape alone, so
   the result has the same bits on every device and in every run. Output never overlaps an input. */
typedef enum gt_reduction {
  GT_SUM, GT_PROD, GT_MEAN, GT_MAX, GT_MIN, GT_ARGMAX, GT_ARGMIN, GT_ANY_TRUE, GT_ALL_TRUE
} gt_reduction;
enum { GT__FIRST_DIM = 8 }; /* the bit of dim 0: the bits below it are a bare number's */
#define GT_DIM(d) ((d) >= -8 && (d) < 8 ? 1u << (GT__FIRST_DIM + ((d) & 15)) : 1u << 31)
#define GT_ALL (1u << 30)

GT_API gt_tensor *gt_reduce_n(gt_tensor *out, gt_reduction reduction, uint32_t dims, int keepdim,
                              const char *text, int n, const gt_tensor *const *operands);
/* Each of these is also a function gt_NAME(out, x, dims, keepdim). */
#define GT__REDUCTIONS(X) \
  X(sum, GT_SUM) X(prod, GT_PROD) X(mean, GT_MEAN) X(max, GT_MAX) X(min, GT_MIN) \
  X(argmax, GT_ARGMAX) X(argmin, GT_ARGMIN) X(any, GT_ANY_TRUE) X(all, GT_ALL_TRUE)
#define GT__DECLARE_REDUCTION(name, reduction) \
  GT_API gt_tensor *gt_##name(gt_tensor *out, const gt_tensor *x, uint32_t dims, int keepdim);
GT__REDUCTIONS(GT__DECLARE_REDUCTION)
/* sum((x - mean)^2) / max(0, n - correction): 1 is the sample's variance, 0 the population's. These
   and gt_norm find a result that is in range, whether or not the squares are. */
GT_API gt_tensor *gt_var(gt_tensor *out, const gt_tensor *x, uint32_t dims, double correction,
                         int keepdim);
GT_API gt_tensor *gt_std(gt_tensor *out, const gt_tensor *x, uint32_t dims, double correction,
                         int keepdim);
/* (sum |x|^p)^(1/p); p = 0 counts what is not zero, INFINITY and -INFINITY give max and min of
   |x|. */
GT_API gt_tensor *gt_norm(gt_tensor *out, const gt_tensor *x, double p, uint32_t dims, int keepdim);
GT_API gt_tensor *gt_logsumexp(gt_tensor *out, const gt_tensor *x, uint32_t dims, int keepdim);
GT_API gt_tensor *gt_softmax(gt_tensor *out, const gt_tensor *x, int dim);
GT_API gt_tensor *gt_log_softmax(gt_tensor *out, const gt_tensor *x, int dim);
/* Adds rows into out, as index_add_: entry i of src's dim `dim` is added to the entry of out's that
   index[i] names. It is the gradient of gt_index_select. The index is 1-d or 0-d; src has out's
   shape, but in that dim it is as long as the index: 1 if that is 0-d. */
GT_API gt_tensor *gt_index_add(gt_tensor *out, int dim, const gt_tensor *index,
                               const gt_tensor *src);
/* Folds single elements into out, as scatter_reduce_: src[i][j] goes to out[index[i][j]][j] with
   dim 0, to out[i][index[i][j]] with dim 1. All three have the same number of dims, where 0-d
   counts as 1-d. The index is in no dim longer than src, and longer than out only in `dim`; where
   it is shorter, the rest of src or out is left alone. `reduction` is GT_SUM, GT_MAX or GT_MIN.
   With include_self 0 the old value of out counts only where nothing goes.
   Both functions: out may not be NULL, and is returned. The index is int32 or int64. src has out's
   dtype, and is not broadcast. float16 and bfloat16 are folded in float32, integers and bool in
   int64, and converted once, at the end. With GT_MAX and GT_MIN a NaN wins. The bits of an element
   depend on what goes there and in which order the index has it, on nothing else. An index out of
   range, as all below 0 are, is an error at the call on the CPU, and nothing is written; on a GPU,
   and in a graph, what it names is left out and the next wait reports it. A GPU is slow if the
   index has 2^31 elements or more, or if there are so many places: out's size in `dim` times the
   index's in all other dims; the CPU takes up to 2^32 - 1 elements. Overlap goes through a
   temporary. */
GT_API gt_tensor *gt_scatter_reduce(gt_tensor *out, int dim, const gt_tensor *index,
                                    const gt_tensor *src, gt_reduction reduction, int include_self);

/* ---- >>scans -----------------------------------------------------------------------------------
   Running folds along a dim: each element becomes the fold of itself and all before it. The result
   has the shape to which the operands are broadcast. gt_scan(out, reduction, dim, text, ...), like
   gt_reduce, computes a formula first; a running minimum is gt_scan(NULL, GT_MIN, 0, "a", x). The
   reduction is GT_SUM, GT_PROD, GT_MAX or GT_MIN; the result's dtype is that of the reduction, and
   from a NaN on all are NaN. `dim` is a number; a 0-d tensor has dim 0. Without elements the result
   has none, either. float16 and bfloat16 are rounded only as they are stored. The order of
   additions depends on the dim's size alone: the same bits on every device and in every run. out
   may be one of the operands. */
GT_API gt_tensor *gt_scan_n(gt_tensor *out, gt_reduction reduction, int dim, const char *text,
                            int n, const gt_tensor *const *operands);
/* Each of these is also a function gt_NAME(out, x, dim). */
#define GT__SCANS(X) X(cumsum, GT_SUM) X(cumprod, GT_PROD) X(cummax, GT_MAX)
#define GT__DECLARE_SCAN(name, reduction) \
  GT_API gt_tensor *gt_##name(gt_tensor *out, const gt_tensor *x, int dim);
GT__SCANS(GT__DECLARE_SCAN)

/* ---- >>ordering --------------------------------------------------------------------------------
   Stable, as torch.sort with stable=True: of equals the first stands first, also when descending.
   NaN is above all, -0 equals 0. Rows, along `dim`, have fewer than 2^32 entries. A pointer that is
   NULL says that this result is not wanted. If *values is NULL, a tensor of x's dtype is made, and
   an int64 one if *indices is NULL: the caller owns it. Any other *values or *indices is written.
   The two must not overlap; other overlap is computed through a temporary. On a GPU the calls
   return before the work is done, but for gt_nonzero. */
GT_API gt_status gt_sort(gt_tensor **values, gt_tensor **indices, const gt_tensor *x, int dim,
                         int descending);
/* The k largest of each row, or with largest 0 the k smallest, in order, so the best comes first. k
   is from 0 to the row's length; of a 0-d tensor it is 1. */
GT_API gt_status gt_topk(gt_tensor **values, gt_tensor **indices, const gt_tensor *x, int64_t k,
                         int dim, int largest);
/* The coordinates of each element that is not 0, as NaN is, in row-major order: (n, x.ndim), int64.
   The host waits for n, so a graph cannot record this call. */
GT_API gt_tensor *gt_nonzero(const gt_tensor *x);

/* ---- >>products --------------------------------------------------------------------------------
   torch.matmul's shapes: (n)x(n) a number, (m,k)x(k), (k)x(k,n), (m,k)x(k,n), and batches of these,
   broadcast. Transposed and strided operands are read in place. float16 and bfloat16 add up in
   float32, integers and bool in int64 (and wrap). Operands of any two dtypes are taken, which
   PyTorch refuses: the result is of gt_promote_types of both, and each element is converted to the
   type that this adds up in. So bool x float32 is float32; bool x bool is bool, true where any term
   is. The same in every run; not bit-equal across devices. */
GT_API gt_tensor *gt_matmul(gt_tensor *out, const gt_tensor *a, const gt_tensor *b);
/* beta*c + alpha*(a x b), of the product's shape, to which c is broadcast. With beta 0 c is never
   read and may be NULL; with alpha 0 only the shapes of a and b count. */
GT_API gt_tensor *gt_addmm(gt_tensor *out, const gt_tensor *c, const gt_tensor *a,
                           const gt_tensor *b,
                           double beta, double alpha);
/* x (..., in) times w (out, in) transposed, plus bias (out), which may be NULL; it is broadcast to
   the product's shape. */
GT_API gt_tensor *gt_linear(gt_tensor *out, const gt_tensor *x, const gt_tensor *w,
                            const gt_tensor *bias);
/* The product, then an expression in which a is the product and b, c... the operands; all of them
   are broadcast. */
GT_API gt_tensor *gt_matmul_eval_n(gt_tensor *out, const gt_tensor *x, const gt_tensor *w,
                                   const char *text, int n, const gt_tensor *const *operands);
/* The thread's float32 precision, as in PyTorch. HIGHEST, the default, is float32 accuracy; the
   others allow less and are never less exact than PyTorch's of that name. On Hopper, and on CPUs
   with AMX, large products split each float32 into bfloat16 pieces and add six (HIGHEST), three
   (HIGH) or one (MEDIUM) products of pieces; values that pieces cannot represent take the ordinary
   way. On other GPUs float32 takes the float32 units, whatever the precision; float16 and bfloat16
   take the tensor cores from Ampere on, float64 from Hopper on. */
typedef enum gt_precision { GT_HIGHEST, GT_HIGH, GT_MEDIUM } gt_precision;
GT_API gt_status gt_set_float32_matmul_precision(gt_precision precision);
GT_API gt_precision gt_float32_matmul_precision(void);

/* ---- >>random ----------------------------------------------------------------------------------
   Philox4x32-10 (Salmon et al., SC 2011) with the element's index as counter: the same numbers on
   every device. A generator is a seed and how many numbers were drawn; NULL is the thread's. */
GT_API void gt_manual_seed(uint64_t seed); /* of the thread's generator, which starts at seed 0 */
GT_API gt_tensor *gt_rand(gt_shape shape, gt_dtype dtype, gt_device device,
                          gt_generator *generator);
GT_API gt_tensor *gt_randn(gt_shape shape, gt_dtype dtype, gt_device device,
                           gt_generator *generator);
GT_API gt_tensor *gt_randint(int64_t low, int64_t high, gt_shape shape, gt_dtype dtype,
                             gt_device device, gt_generator *generator);
                             /* low <= x < high, all of which the dtype must hold exactly: float16
                                -2048 to 2048, bfloat16 256, float32 2^24, float64 2^53 */
GT_API gt_tensor *gt_randperm(int64_t n, gt_device device, gt_generator *generator); /* int64 */

/* ---- >>streams ---------------------------------------------------------------------------------
   A stream is a queue of work, which it does in the order of the calls. On a GPU a matrix product
   may start before the work in front of it has ended, if it does not use its results; no result
   shows this, and gt_stream_native switches it off for that stream. Streams of one device may
   overlap. A thread has a current stream for each device. A negative priority is urgent.
   A created CPU stream is a thread with a queue: calls return at once, or when fewer than 64
   operations are queued. It takes none of the program's signals (OpenMP's threads do, as OpenMP
   makes them). An operation on it that fails leaves its output unwritten: who reads that gets the
   error, until it is written anew.
   Streams cannot race: an operation waits for the work of other streams on the same memory, reads
   after writes, writes after reads and writes, on the device where it can; freed memory is not used
   again before all streams are done with it. Memory is the same where its bytes are: slices of one
   tensor that have none in common do not wait for each other (ranges, and blocks of the rows or
   columns of a matrix; what is more scattered counts with all that lies between).
   At most 256 streams live at a time; gt_stream_create waits for one that was freed. Events mark a
   point of a stream; waiting for one that was never recorded is an error. */
typedef struct gt_stream gt_stream;
typedef struct gt_event gt_event;
GT_API gt_stream *gt_stream_create(gt_device device, int priority);
/* Wraps a cudaStream_t, which must outlive it. */
GT_API gt_stream *gt_stream_from_native(gt_device device, void *native);
/* Ends the handle at once; the stream's work still finishes. Where it is still current, in other
   threads or in blocks outside, work is refused. */
GT_API void gt_stream_free(gt_stream *stream);
GT_API gt_status gt_stream_synchronize(gt_stream *stream);
GT_API int gt_stream_query(gt_stream *stream);         /* 1 all done, 0 not yet, -1 error */
GT_API gt_device gt_stream_device(const gt_stream *stream);
GT_API void *gt_stream_native(gt_stream *stream);      /* cudaStream_t; NULL on the CPU */
GT_API gt_stream *gt_current_stream(gt_device device); /* not to be freed if it is the default */
/* Sets the device, too. NULL goes back to the default streams of all devices. */
GT_API gt_status gt_set_stream(gt_stream *stream);
GT_API gt_status gt_stream_wait_event(gt_stream *stream, gt_event *event);
GT_API gt_status gt_stream_wait_stream(gt_stream *stream, gt_stream *other);
GT_API gt_status gt_synchronize(gt_device device);     /* all streams of the device */
/* GT_WITH_STREAM(s) { ... } sets stream and device for the block (torch.cuda.stream), and
   GT_WITH_STREAM_SCOPED(s); from there to the end of the block around it; see GT_WITH_DEVICE. */
/* Before a kernel of your own call one of these for each tensor that it touches: then it is ordered
   as our own work is. */
GT_API gt_status gt_stream_reads(gt_stream *stream, const gt_tensor *x);
GT_API gt_status gt_stream_writes(gt_stream *stream, const gt_tensor *x);
/* Calls function(argument) on the host when what came before on that stream is done; what comes
   later waits for it. Returns at once, on the CPU's default stream when it is done. Name the
   tensors that it touches just before, as for a kernel; ask for their addresses earlier, since
   gt_data waits. What `argument` points to has to stay until then. The function must not call CUDA
   or this library, nor throw. It is called once; never, if a GPU's work before it failed. Refused
   while a graph is recorded: call it before gt_graph_begin, or behind gt_graph_launch. */
GT_API gt_status gt_stream_call(gt_stream *stream, void (*function)(void *argument),
                                void *argument);
/* How the calling thread's work is ordered. GT_ORDER, the default: as above. GT_REPORT waits only
   where it was told to and notes each race: the two operations, their streams, the tensor; "may be
   a race" where it cannot tell if they meet. GT_OFF does neither. In these two the caller
   orders streams, as in PyTorch; frees stay safe, and reads on the host wait for the thread's
   current stream alone. */
typedef enum gt_safety { GT_ORDER, GT_REPORT, GT_OFF } gt_safety;
GT_API gt_status gt_set_stream_safety(gt_safety safety);
GT_API gt_safety gt_stream_safety(void);
GT_API int64_t gt_report_races(FILE *file); /* since the last call, the newest 32 a line each (NULL:
                                               none); returns how many, and forgets them */
GT_API gt_event *gt_event_create(void);
GT_API void gt_event_free(gt_event *event);
GT_API gt_status gt_event_record(gt_event *event, gt_stream *stream);
GT_API int gt_event_query(gt_event *event);            /* 1 passed, 0 not yet, -1 error */
GT_API gt_status gt_event_synchronize(gt_event *event);
GT_API double gt_event_elapsed_ms(gt_event *start, gt_event *end); /* waits for end; NaN on error */

/* ---- >>tracing ---------------------------------------------------------------------------------
   What ran when, on all devices and threads: operations, with formula, sizes, way, and the bytes in
   tensors at that moment; copies; waits of streams for each other and of the host; and ranges of
   the program's own.
       gt_trace_start(100000);  ...  gt_trace_stop();  gt_trace_print(stdout, 0);
   One trace at a time, of the whole process. Off, it costs two branches an operation. On a GPU an
   event is recorded behind each operation and kept until the end. A kernel that waits for room on
   the device looks like one that runs. */
/* Forgets the trace before and allocates room for so many records now, some 550 bytes each. Records
   that find no room are only counted, see `dropped`. GT_ERROR_STATE: one is on. */
GT_API gt_status gt_trace_start(int64_t capacity);
/* Waits for all work of all streams. GT_ERROR_STATE: none is on. */
GT_API gt_status gt_trace_stop(void);
/* Writes the last trace, which must have ended, else GT_ERROR_STATE. The file is in Chrome's trace
   format (JSON), for ui.perfetto.dev: a process for each device (CPU streams with the host), a lane
   for each stream, engine of a GPU and thread, arrows from what was waited for. An existing file is
   written over. */
GT_API gt_status gt_trace_save(const char *path);
/* Prints it as bars to scale of `columns` characters, 8 to 1000; 0: 72. In the bar of an engine a
   digit is the last one of the number of the stream that worked most in that time; '+': several did
   at once. */
GT_API gt_status gt_trace_print(FILE *file, int columns);
/* What overlap gained: the sum of the busy times, of each engine of a GPU and of each thread that
   computed on the CPU (its processor time, so that threads of one core count once), divided by the
   time in which anything worked. Below GT_SMALL_GAIN `reason` says why, in a sentence. All 0 and ""
   without a trace that has ended. */
#define GT_SMALL_GAIN 1.2
typedef struct gt_overlap {
  double busy_ms, any_ms, gain;   /* one after another; any at work; busy_ms / any_ms */
  const char *reason;             /* never NULL */
  double span_ms;                 /* from the begin of the first operation to the end of the last */
  int64_t records, dropped;
} gt_overlap;
GT_API gt_overlap gt_trace_overlap(void);
/* A range of this thread, around what it calls until the pop; with GPUTENSOR_NVTX one of NVIDIA's
   tools, too. Ranges may be nested, 256 deep. Of the name, UTF-8, up to 71 bytes are copied.
   Without a trace they cost a lock. One too deep, or a pop without a push, is GT_ERROR_STATE. */
GT_API gt_status gt_range_push(const char *name);
GT_API gt_status gt_range_pop(void);

/* ---- >>graphs ----------------------------------------------------------------------------------
   A graph is work that was recorded once and is done again by one call, which costs about as much
   as one operation. On a GPU it is a CUDA graph, on the CPU a list.

       gt_tensor *x = gt_zeros(shape, GT_FLOAT32, dev);   // what changes stays in the same tensors
       gt_graph_begin(gt_current_stream(dev));
       gt_tensor *y = gt_matmul_eval(NULL, x, w, "relu(a)"); // recorded; nothing runs yet
       gt_graph *graph = gt_graph_end();
       for (int i = 0; i < n; i++) {
         gt_copy(x, batch[i]);                            // new contents of x
         gt_graph_launch(graph, gt_current_stream(dev));
         gt_print(y);                                     // waits for the launch, as for any work
       }
       gt_graph_free(graph);

   From gt_graph_begin to gt_graph_end what this thread calls on that device, on any of its streams,
   is recorded in place of being done, and with it the order that shared memory needs and the order
   that gt_stream_wait_stream, gt_event_record and gt_stream_wait_event ask for. On a GPU all else
   may run side by side, even work of one stream, since no result shows its order. Work on other
   devices is done at once, as ever; what other threads do is not affected.
   A launch is one operation of its stream: it waits for all work on the memory that the graph
   reads or writes, and later work waits for it. Launches of one graph follow each other. It returns
   before the work is done where an operation on that stream does.
   Each launch uses the addresses, shapes and formulas of the recording, and its numbers: a 0-d
   tensor of the CPU is a number, too. What was copied from ordinary memory or drawn at random
   before is not copied or drawn again: new contents are written to the same tensors, as to x above.
   Tensors that it uses may be freed: the graph keeps their memory until it is freed itself. Memory
   of gt_from_ptr has to stay until then. Memory that is made and freed between begin and end is the
   graph's own, and may serve several tensors.
   Refused while a graph is recorded, with GT_ERROR_STATE, are calls that need results or cannot be
   done again: reading what it computes (gt_item, gt_print, gt_data, ...), copies from or to
   ordinary memory, waiting for its streams, random numbers on its device, gt_stream_native,
   gt_stream_reads and _writes, other GPUs, and gt_graph_launch. The recording goes on without that
   call.
   A program that captures a stream by itself, with cudaStreamBeginCapture, may not use it here
   meanwhile: calls that would put work there are refused. */
typedef struct gt_graph gt_graph;
GT_API gt_status gt_graph_begin(gt_stream *stream); /* current streams stay as they are */
/* NULL on error, and if one is pending: then nothing of the recording is left. It waits until the
   memory that was made for the graph may be used. */
GT_API gt_graph *gt_graph_end(void);
GT_API gt_status gt_graph_launch(gt_graph *graph, gt_stream *stream); /* of the graph's device */
/* Waits for its launches; NULL is fine. While the program captures a stream that has one of them,
   it is an error and does nothing: call it again afterwards. */
GT_API void gt_graph_free(gt_graph *graph);

/* ---- >>files -----------------------------------------------------------------------------------
   NumPy's .npy, versions 1 to 3, either byte order, C and Fortran order. bfloat16 is saved as
   float32. Everything else, hostile headers included, and pipes, are refused with a message.
   Saving writes a new file beside the one that PATH and its symbolic links name, and renames it
   (a program that is killed leaves gputensor-*.tmp there): a reader or another saver never meets
   half a file, and a save that fails leaves what was there. Owner and mode are kept. It writes in
   place, without that promise, to devices and pipes, to a file with other hard links, and where no
   new file can take its place: in a folder where we may not write, of an owner that we cannot give,
   or on a mounted file. */
GT_API gt_tensor *gt_load_npy(const char *path, gt_device device);
GT_API gt_status gt_save_npy(const char *path, const gt_tensor *x);
/* Tensors with names, as a file of safetensors has them; bfloat16 stays bfloat16. The list and its
   tensors end by gt_tensors_free, not by a GT_SCOPE; gt_retain makes a handle of one's own. */
typedef struct gt_named { const char *name; gt_tensor *tensor; } gt_named;
typedef struct gt_tensors {
  int n;
  gt_named *item;      /* sorted by name; names as in the file: UTF-8, JSON's escapes unresolved */
  gt_tensor *gt__file;
} gt_tensors;
/* Hostile files are refused as those of .npy. On the CPU tensors are the file's own pages, read
   when they are touched: writing to one copies the page and leaves the file as it is. While they
   live nobody may change the file in place; to rename another over it, as saving does, is fine. To
   a GPU elements are copied, and so are those that are not aligned; Windows reads the file. */
GT_API gt_tensors *gt_load_safetensors(const char *path, gt_device device);
/* The tensor of that name, which stays the list's; an error if there is none. */
GT_API gt_tensor *gt_tensors_get(const gt_tensors *list, const char *name);
GT_API void gt_tensors_free(gt_tensors *list); /* NULL is fine */
/* n tensors of any devices, dtypes and strides, gathered in the host's memory. */
GT_API gt_status gt_save_safetensors(const char *path, int n, const gt_named *item);

/* ---- >>exchange --------------------------------------------------------------------------------
   Tensors shared with NumPy, PyTorch, CuPy, JAX and others, without a copy, by DLPack: `managed` is
   a DLManagedTensorVersioned, or a DLManagedTensor if `versioned` is 0 (what Python's capsules
   "dltensor_versioned" and "dltensor" hold). `stream` is __dlpack__'s: a cudaStream_t as a number;
   0 or 1, the legacy default stream; 2, the thread's; -1: nobody waits. On the CPU it is not read.
   examples/21_other_libraries/dlpack.py has the Python of it. */
/* The stream waits for our pending work on x, on the CPU the call does. The other side calls the
   deleter, once, on any thread; until then the memory stays. If the stream is one of those two,
   later work on that memory waits for what the stream holds then; of others that is the caller's
   to see to. What gt_from_const_ptr made is read-only, which only a versioned one can say. */
GT_API void *gt_to_dlpack(const gt_tensor *x, int versioned, int64_t stream);
/* Takes `managed` over: its deleter is called once, also if NULL is returned, otherwise when the
   last handle on its memory ends. Work on it is ordered behind what the stream holds now: pass the
   one that the producer was given, as gt_stream_native(gt_current_stream(device)). Read-only memory
   is as of gt_from_const_ptr. Refused are other devices, managed memory, and dtypes that we do not
   have. */
GT_API gt_tensor *gt_from_dlpack(void *managed, int versioned, int64_t stream);

/* ---- >>program ------------------------------------------------------------------------------- */
/* Bytes: in tensors now, at most since the start or the last reset, and held. A GPU's memory stays
   in a pool until gt_empty_cache, which waits for all devices, or until a call needs it. */
GT_API size_t gt_memory_allocated(gt_device device);
GT_API size_t gt_max_memory_allocated(gt_device device);
GT_API size_t gt_memory_reserved(gt_device device);
GT_API gt_status gt_reset_peak_memory_stats(gt_device device);
GT_API gt_status gt_empty_cache(void);
/* What happened since the start or gt_reset_stats, in all threads: copies between devices,
   operations, waits between streams, and waits of the host that no call asked for. ASYNC: with
   pinned memory or between GPUs; the call returned at once. STAGED: from ordinary memory through
   pinned memory; it returned when it was read. BLOCKING: to ordinary memory; when it was there. */
enum { GT_HOST_TO_DEVICE, GT_DEVICE_TO_HOST, GT_DEVICE_TO_DEVICE };
enum { GT_COPY_ASYNC, GT_COPY_STAGED, GT_COPY_BLOCKING };
typedef struct gt_statistics {
  struct { uint64_t count, bytes; } copies[3][3]; /* [direction][kind] */
  uint64_t operations, stream_waits, host_waits;
} gt_statistics;
GT_API gt_status gt_stats(gt_statistics *out);
GT_API void gt_reset_stats(void);
/* Handles alive, a line each; NULL: counts */
GT_API int64_t gt_report_leaks(FILE *file);
GT_API void gt_shutdown(void); /* waits, then lets go of all streams (the caller's too), pools and
        caches; tensors, events and graphs stay valid to free. Other threads must be outside the
        library. */
/* How many threads an operation on the CPU takes at most, in the whole process: 1 to 1024, at first
   as many as OpenMP's next parallel region would have. Without OpenMP it stays 1. */
GT_API gt_status gt_set_num_threads(int n);
GT_API int gt_num_threads(void);
GT_API const char *gt_version(void);
/* Milliseconds of a clock that is never set back; only differences mean something. */
GT_API double gt_now_ms(void);
/* Makes ready what a first use would wait for: a GPU's context, memory pool and all kernels, or the
   threads of the CPU. At any time; returns when it is done. */
GT_API gt_status gt_warmup(gt_device device);
/* Calls work(argument) again and again for about for_ms and tells how long a call took, its work on
   the device included. What is timed are rounds of one call or, of short ones, of so many that they
   take a millisecond, or a hundredth of for_ms; the device is idle before and after each. First
   the same is done without timing, until calls get no faster. Of what takes no time there are
   three rounds: a pretend GPU's clock does not see the program's own loops. */
typedef struct gt_timing {
  double median_ms, least_ms, most_ms; /* of a call, over the rounds */
  double spread;                       /* (upper quartile - lower quartile) / median */
  int rounds;                          /* at least 3; 0: an error is pending */
} gt_timing;
GT_API gt_timing gt_benchmark(void (*work)(void *argument), void *argument, gt_device device,
                              double for_ms);
/* For gt_set_error_handler(gt_exit_on_error, NULL): prints the message to stderr and exits with 1,
   as small programs want it. Nothing else in the library exits, and this only where it is named. */
GT_API void gt_exit_on_error(gt_status status, const char *message, void *user);
/* Compiler, OpenMP, CUDA; once a GPU was used, its kernels' architectures and whether one lacks;
   and the ways of each kind of operation, whose names GPUTENSOR_WAYS takes. */
GT_API const char *gt_build_info(void);

/* ---- what the macros above are made of ------------------------------------------------------- */
typedef struct gt_scope { gt_tensor *gt__first; struct gt_scope *gt__outer; } gt_scope;
GT_API gt_scope *gt_scope_push(gt_scope *scope);
GT_API void gt_scope_pop(gt_scope *scope);
typedef struct gt_with {
  gt_device device;   /* what to go back to; if gt__where is not 0, also to that stream */
  int gt__where, gt__slot, gt__name;
} gt_with;
GT_API gt_with gt_with_device(gt_device device);
GT_API gt_with gt_with_stream(gt_stream *stream);
GT_API void gt_with_pop(gt_with *with);

/* The text, then the operands and a NULL, in an array whose elements the compiler checks. */
#define GT__FIRST(first, ...) (first)
#define GT__TEXT(...) GT__FIRST(__VA_ARGS__, NULL)
#define GT__JOIN2(a, b) a##b
#define GT__JOIN(a, b) GT__JOIN2(a, b)
#ifdef __TINYC__
#define GT__CLEANUP(function) tcc_ignores_the_cleanup_attribute_so_use_gcc_or_clang_for_this_block
#else
#define GT__CLEANUP(function) __attribute__((cleanup(function), unused))
#endif
/* What begins here ends with the block around it. `n` makes names of its own. */
#define GT__SCOPE(n) \
  gt_scope GT__JOIN(gt__s, n) GT__CLEANUP(gt_scope_pop) = {NULL, NULL}, \
      *GT__JOIN(gt__p, n) __attribute__((unused)) = gt_scope_push(&GT__JOIN(gt__s, n))
#define GT__WITH(n, value) \
  gt_with GT__JOIN(gt__w, n) GT__CLEANUP(gt_with_pop) = (value)
#define GT_SCOPED GT__SCOPE(__COUNTER__)
#define GT_WITH_DEVICE_SCOPED(device) GT__WITH(__COUNTER__, gt_with_device(device))
#define GT_WITH_STREAM_SCOPED(stream) GT__WITH(__COUNTER__, gt_with_stream(stream))
/* Two loops of one round, as compilers see; after a break from the inner one the outer one ends. */
#define GT__BLOCK(once, declaration) \
  for (int once = 1; once; once = 0) for (declaration; once; once = 0)
#define GT_SCOPE GT__BLOCK(GT__JOIN(gt__o, __LINE__), GT__SCOPE(__LINE__))
#define GT__WITH_BLOCK(value) GT__BLOCK(GT__JOIN(gt__o, __LINE__), GT__WITH(__LINE__, value))
#define GT_WITH_DEVICE(device) GT__WITH_BLOCK(gt_with_device(device))
#define GT_WITH_STREAM(stream) GT__WITH_BLOCK(gt_with_stream(stream))
#ifdef __cplusplus
template <class... T> static inline gt_shape gt__shape(T... size) {
  static_assert(sizeof...(T) <= GT_MAX_DIMS, "at most 8 dimensions");
  gt_shape s = {static_cast<int>(sizeof...(size)), {static_cast<int64_t>(size)...}};
  return s;
}
#define GT_SHAPE(...) gt__shape(__VA_ARGS__)
#define GT_SHAPE_0D gt_shape()
template <class... T> char (&gt__count(const char *text, T *...x))[sizeof...(T) + 1];
struct gt__list {
  const gt_tensor *x[27];
  template <class... T> explicit gt__list(const char *, T *...t) : x{t...} {}
};
#define GT__COUNT(...) static_cast<int>(sizeof(gt__count(__VA_ARGS__)) - 1)
#define GT__LIST(...) gt__list(__VA_ARGS__).x
#else
/* Each size is cast, as -Wconversion wants of a size_t. The product keeps pointers out. */
#define GT__1(a) (int64_t)(1 * (a))
#define GT__2(a, b) GT__1(a), GT__1(b)
#define GT__3(a, ...) GT__1(a), GT__2(__VA_ARGS__)
#define GT__4(a, ...) GT__1(a), GT__3(__VA_ARGS__)
#define GT__5(a, ...) GT__1(a), GT__4(__VA_ARGS__)
#define GT__6(a, ...) GT__1(a), GT__5(__VA_ARGS__)
#define GT__7(a, ...) GT__1(a), GT__6(__VA_ARGS__)
#define GT__8(a, ...) GT__1(a), GT__7(__VA_ARGS__)
#define GT__9(...) a_GT_SHAPE_has_8_sizes_at_most
#define GT__TENTH(a, b, c, d, \
                  e, f, g, h, i, tenth, ...) tenth
#define GT__SIZES(n, ...) \
  ((gt_shape){n, {GT__JOIN(GT__, n)(__VA_ARGS__)}})
#define GT_SHAPE(...) \
  GT__SIZES(GT__TENTH(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), __VA_ARGS__)
#define GT_SHAPE_0D ((gt_shape){0, {0}})
#define GT__REST(first, ...) __VA_ARGS__
#define GT__LIST(...) ((const gt_tensor *const[]){GT__REST(__VA_ARGS__, NULL)})
#define GT__COUNT(...) ((int)(sizeof(GT__LIST(__VA_ARGS__)) / sizeof(void *)) - 1)
#endif
#define GT__OPERANDS(...) GT__TEXT(__VA_ARGS__), GT__COUNT(__VA_ARGS__), GT__LIST(__VA_ARGS__)
#define gt_eval(out, ...) gt_eval_n(out, GT__OPERANDS(__VA_ARGS__))
#define gt_reduce(out, reduction, dims, keepdim, ...) \
  gt_reduce_n(out, reduction, dims, keepdim, GT__OPERANDS(__VA_ARGS__))
#define gt_scan(out, reduction, dim, ...) \
  gt_scan_n(out, reduction, dim, GT__OPERANDS(__VA_ARGS__))
#define gt_matmul_eval(out, a, b, ...) gt_matmul_eval_n(out, a, b, GT__OPERANDS(__VA_ARGS__))

#endif /* GPUTENSOR_H */

#if (defined(GPUTENSOR_KERNELS) || \
     (defined(GPUTENSOR_IMPLEMENTATION) && !defined(GPUTENSOR_LINKED))) && !defined(GT__IMPLEMENTED)
#define GT__IMPLEMENTED
#define GT__MAIN 1
#define GT__EXCERPT GT__MAIN /* without it a sentence below is all that the compiler says */
#if !defined(__GNUC__) || defined(__TINYC__)
#undef GT__EXCERPT
#error "the implementation of gputensor needs GCC or Clang, on Windows MinGW-w64: take one of them"
#endif
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#undef GT__EXCERPT
#error "the implementation of gputensor needs C99: compile it with -std=c99 or newer"
#endif
#if defined(__STRICT_ANSI__) && defined(__cplusplus) && __cplusplus < 201703L
#undef GT__EXCERPT
#error "the implementation of gputensor needs C++17's hexadecimal numbers: add -std=c++17"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 2
#undef GT__EXCERPT
#error "gputensor gives the same bits everywhere, which x87 cannot: add -msse2 -mfpmath=sse"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#undef GT__EXCERPT
#error "gputensor gives the same bits everywhere and needs NaN: build this file without -ffast-math"
#endif
#endif

/* clang-format on */
#ifdef GT__EXCERPT
/* What exists for several types is written once, as plain text: the file includes itself, and
   GT__EXCERPT chooses the text, GT__TYPE the type. In such a text T is the type, U the unsigned
   integer of its size, F(exp) its exp and LIBM(exp) the C library's, K(f, d) is f in float and d in
   double, LIST((f, ...), (d, ...)) several of them, in comments f (d). POLY(z, c) is c[0] + c[1] z
   + ... */
#if GT__EXCERPT == GT__MAIN
#define GT__ARITHMETIC 2
#define GT__FUNCTIONS 3
#define GT__FOLDS 4
#define GT__LOOPS 5
#define GT__BARE(...) __VA_ARGS__
#define POLY(z, c) F(poly)(z, c, (int)(sizeof(c) / sizeof *(c)))
#ifndef GPUTENSOR_FILE
#define GPUTENSOR_FILE "gputensor.h"
#endif
#ifdef __has_include
#if !__has_include(GPUTENSOR_FILE)
#error "gputensor.h includes itself: if its name is another, define GPUTENSOR_FILE as \"the name\""
#endif
#endif
#endif
#if GT__TYPE == 32
#define T float
#define U uint32_t
#define F(name) gt__##name##_f32
#define K(f, d) f
#define LIST(f, d) GT__BARE f
#define LIBM(name) GT__LIBM(name##f)
#define LOWEST -INFINITY
#define HIGHEST INFINITY
#endif
#if GT__TYPE == 64
#define T double
#define U uint64_t
#define F(name) gt__##name##_f64
#define K(f, d) d
#define LIST(f, d) GT__BARE d
#define LIBM(name) GT__LIBM(name)
#define LOWEST -INFINITY
#define HIGHEST INFINITY
#endif
#if GT__TYPE == 0 && GT__EXCERPT != GT__MAIN
#define T int64_t
#define U uint64_t
#define F(name) gt__##name##_i64
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#endif
#if GT__EXCERPT == GT__MAIN
/* ---- >>shared ----------------------------------------------------------------------------------
   From here to the includes in >>machine: compiled by the file with GPUTENSOR_IMPLEMENTATION and by
   gputensor_kernels.cu, which must agree on every bit of it. Compilers fuse a*b + c where the
   machine can, whatever their users' flags, so that is switched off up to the end of this file. */
#ifdef __clang__
#pragma clang fp contract(off)
#elif defined(__GNUC__) && !defined(__CUDACC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off", "excess-precision=fast", "no-math-errno", \
                     "no-trapping-math")
#ifdef __x86_64__
/* -march=native of a Xeon would copy structures by 64 bytes, for which what was just written to
   them by eight is waited for: products of 1024 x 1024 x 1024 took twice as long, small calls 1.3
   times */
#pragma GCC target("tune=generic")
#endif
#endif

/* The order of a list, or its length, where code relies on it. */
#ifdef __cplusplus
#define GT__ASSERT(condition, text) static_assert(condition, text)
#else
#define GT__ASSERT(condition, text) __extension__ _Static_assert(condition, text)
#endif

/* ---- >>math ------------------------------------------------------------------------------------
   Strict arithmetic first: what every formula of floats is written in. */
#include <math.h>

#if defined(__CUDACC__) && defined(GPUTENSOR_KERNELS)
#define GT__FN static __device__ __forceinline__ __attribute__((unused))
#define GT__LIBM(f) f /* CUDA's own */
GT__FN float GT__ADD(float a, float b) { return __fadd_rn(a, b); }
GT__FN double GT__ADD(double a, double b) { return __dadd_rn(a, b); }
GT__FN float GT__SUB(float a, float b) { return __fsub_rn(a, b); }
GT__FN double GT__SUB(double a, double b) { return __dsub_rn(a, b); }
GT__FN float GT__MUL(float a, float b) { return __fmul_rn(a, b); }
GT__FN double GT__MUL(double a, double b) { return __dmul_rn(a, b); }
GT__FN float GT__DIV(float a, float b) { return __fdiv_rn(a, b); }
GT__FN double GT__DIV(double a, double b) { return __ddiv_rn(a, b); }
GT__FN float gt__sqrt_f32(float x) { return __fsqrt_rn(x); }
/* 1/x for x in [1, 2^64) without a branch; correctly rounded, as a trial of all mantissas shows. */
GT__FN float gt__easy_reciprocal_f32(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return __fmaf_rn(r, __fmaf_rn(-x, r, 1.0f), r);
}
/* a/b, for the same b, where a/b and what is left of a are normal. */
GT__FN float gt__easy_div_f32(float a, float b) {
  float r = gt__easy_reciprocal_f32(b);
  float q = __fmul_rn(a, r);
  return __fmaf_rn(r, __fmaf_rn(-b, q, a), q);
}
GT__FN double gt__sqrt_f64(double x) { return __dsqrt_rn(x); }
/* The same of double, likewise: rounded upwards first, or 1/x would be wrong where all bits of the
   mantissa are set. */
GT__FN double gt__easy_reciprocal_f64(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  const double e = __fma_rn(-x, r, 1.0);
  r = __fma_ru(r, __fma_rn(e, e, e), r);
  return __fma_rn(r, __fma_rn(-x, r, 1.0), r);
}
GT__FN double gt__easy_div_f64(double a, double b) {
  const double r = gt__easy_reciprocal_f64(b);
  const double q = __dmul_rn(a, r);
  return __fma_rn(r, __fma_rn(-b, q, a), q);
}
#define GT__BRANCHES 1 /* around what few threads need */
#define GT__ANGLE(which) GT__F(trig)(a, which, 1)
#else
#if defined(__OPTIMIZE__) || defined(__clang__)
#define GT__FN static inline __attribute__((always_inline, unused))
#else /* a few passes make a function smaller before it is written out where it is called */
#define GT__FN static inline __attribute__((always_inline, unused, optimize("Og")))
#endif
#define GT__LIBM(f) __builtin_##f
#define GT__ADD(a, b) ((a) + (b))
#define GT__SUB(a, b) ((a) - (b))
#define GT__MUL(a, b) ((a) * (b))
#define GT__DIV(a, b) ((a) / (b))
#define GT__BRANCHES 0
GT__FN float gt__easy_reciprocal_f32(float x) { return 1.0f / x; }
GT__FN float gt__easy_div_f32(float a, float b) { return a / b; }
GT__FN double gt__easy_reciprocal_f64(double x) { return 1.0 / x; }
GT__FN double gt__easy_div_f64(double a, double b) { return a / b; }
#if defined(__clang__) && defined(__GLIBC__) && !defined(__CUDACC__)
/* clang assumes that sqrt may set errno and does not vectorise loops that call it. Declared const,
   it may not. */
__BEGIN_DECLS
float sqrtf(float) __THROW __attribute__((const));
double sqrt(double) __THROW __attribute__((const));
__END_DECLS
GT__FN float gt__sqrt_f32(float x) { return sqrtf(x); }
GT__FN double gt__sqrt_f64(double x) { return sqrt(x); }
#else
GT__FN float gt__sqrt_f32(float x) { return __builtin_sqrtf(x); }
GT__FN double gt__sqrt_f64(double x) { return __builtin_sqrt(x); }
#endif
#endif
/* The high word of a product. */
GT__FN uint64_t gt__high_u64(uint64_t x, uint64_t y) {
  const uint64_t a = x >> 32;
  const uint64_t b = (uint32_t)x;
  const uint64_t c = y >> 32;
  const uint64_t d = (uint32_t)y;
  const uint64_t mid = a * d + (b * d >> 32);
  const uint64_t rest = b * c + (uint32_t)mid;
  return a * c + (mid >> 32) + (rest >> 32);
}
#endif
#if GT__EXCERPT == GT__ARITHMETIC
/* Written once for float and double. Functions that the C library rounds exactly are the
   library's. Floor division is computed from fmod, whose remainder is exact. lo and hi of to_i64
   are an integer type's limits: lo and hi + 1 are powers of two and so exact; what is cast lies
   between them. */
GT__FN U F(bits)(T x) {
  U b;
  GT__LIBM(memcpy)(&b, &x, sizeof b);
  return b;
}
GT__FN T F(float)(U b) {
  T x;
  GT__LIBM(memcpy)(&x, &b, sizeof x);
  return x;
}
GT__FN T F(add)(T a, T b) { return GT__ADD(a, b); }
GT__FN T F(mul)(T a, T b) { return GT__MUL(a, b); }
GT__FN T F(fma)(T a, T b, T c) { return LIBM(fma)(a, b, c); }
GT__FN T F(fmod)(T a, T b) { return LIBM(fmod)(a, b); }
GT__FN T F(copysign)(T x, T y) { return LIBM(copysign)(x, y); }
GT__FN T F(floor)(T x) { return LIBM(floor)(x); }
GT__FN T F(ceil)(T x) { return LIBM(ceil)(x); }
GT__FN T F(rint)(T x) { return LIBM(rint)(x); }
GT__FN T F(trunc)(T x) { return LIBM(trunc)(x); }
GT__FN T F(abs)(T x) { return LIBM(fabs)(x); }
GT__FN T F(reciprocal)(T x) { return GT__DIV((T)1, x); }
/* two instructions of x86; "or" joins the signs of zeros, keeps equals, and a NaN a NaN */
GT__FN T F(minimum)(T a, T b) {
  T x = a < b ? a : b;
  T y = b < a ? b : a;
  return F(float)(F(bits)(x) | F(bits)(y));
}
GT__FN T F(maximum)(T a, T b) { return -F(minimum)(-a, -b); }
/* from whichever end is nearer, so that both ends are met exactly */
GT__FN T F(lerp)(T a, T b, T w) {
  T d = GT__SUB(b, a);
  T from_a = F(fma)(w, d, a);
  T from_b = F(fma)(GT__SUB(w, (T)1), d, b);
  return w < (T)0.5 ? from_a : from_b;
}
GT__FN T F(remainder)(T a, T b) {
  T m = F(fmod)(a, b);
  int differ = (b < 0) != (m < 0);
  return ((m != 0) & differ) ? GT__ADD(m, b) : m;
}
GT__FN T F(floor_div)(T a, T b) {
  T m = F(fmod)(a, b);
  T q = GT__DIV(a, b);
  T d = GT__DIV(GT__SUB(a, m), b);
  int differ = (b < 0) != (m < 0);
  d = ((m != 0) & differ) ? GT__SUB(d, (T)1) : d;
  T f = F(floor)(d);
  f = GT__SUB(d, f) > (T)0.5 ? GT__ADD(f, (T)1) : f;
  f = d == 0 ? F(copysign)((T)0, q) : f;
  return b == 0 ? q : f;
}
GT__FN int64_t F(to_i64)(T x, int64_t lo, int64_t hi) {
  T below = (T)lo;
  T above = (T)((uint64_t)hi + 1u);
  T within = ((x >= below) & (x < above)) ? x : (T)0;
  int64_t v = (int64_t)within;
  v = x < below ? lo : v;
  return x >= above ? hi : v;
}
/* for limits within 32 bits: every machine has vectors for it, which few have for the other */
GT__FN int32_t F(to_i32)(T x, int32_t lo, int32_t hi) {
  T below = (T)lo;
  T above = (T)((uint32_t)hi + 1u);
  T within = ((x >= below) & (x < above)) ? x : (T)0;
  int32_t v = (int32_t)within;
  v = x < below ? lo : v;
  return x >= above ? hi : v;
}
/* c[0] + c[1] z + c[2] z^2 ... + c[n-1] z^(n-1), n <= 20 and known to the compiler. Horner's steps
   are written out: gcc at -O1 does not unroll a loop before it looks for vectors. */
GT__FN T F(poly)(T z, const T *c, int n) {
  T p = c[n - 1];
  if (n > 1) p = F(fma)(z, p, c[n - 2]);
  if (n > 2) p = F(fma)(z, p, c[n - 3]);
  if (n > 3) p = F(fma)(z, p, c[n - 4]);
  if (n > 4) p = F(fma)(z, p, c[n - 5]);
  if (n > 5) p = F(fma)(z, p, c[n - 6]);
  if (n > 6) p = F(fma)(z, p, c[n - 7]);
  if (n > 7) p = F(fma)(z, p, c[n - 8]);
  if (n > 8) p = F(fma)(z, p, c[n - 9]);
  if (n > 9) p = F(fma)(z, p, c[n - 10]);
  if (n > 10) p = F(fma)(z, p, c[n - 11]);
  if (n > 11) p = F(fma)(z, p, c[n - 12]);
  if (n > 12) p = F(fma)(z, p, c[n - 13]);
  if (n > 13) p = F(fma)(z, p, c[n - 14]);
  if (n > 14) p = F(fma)(z, p, c[n - 15]);
  if (n > 15) p = F(fma)(z, p, c[n - 16]);
  if (n > 16) p = F(fma)(z, p, c[n - 17]);
  if (n > 17) p = F(fma)(z, p, c[n - 18]);
  if (n > 18) p = F(fma)(z, p, c[n - 19]);
  if (n > 19) p = F(fma)(z, p, c[n - 20]);
  return p;
}
#undef GT__TYPE
#endif
#if GT__EXCERPT == GT__MAIN
#undef GT__EXCERPT
#define GT__EXCERPT GT__ARITHMETIC
#define GT__TYPE 32
#include GPUTENSOR_FILE
#define GT__TYPE 64
#include GPUTENSOR_FILE
#undef GT__EXCERPT
#define GT__EXCERPT GT__MAIN
/* -- float32 and float64 functions, the same bits everywhere; first what the two do not share --
   Only + - * / sqrt fma, comparisons, selects and integer operations, rounded the same on every
   machine. Both sides of a select are evaluated, so a loop over any of these (fmod and its
   relatives excepted) becomes vector code. Polynomials are minimax fits on the named interval with
   rounded coefficients; "fit 2^-k 2^-l": the relative error that remains in float and in double.
   The worst errors found, in ULP, of float over at least every third one, denormals too, or two
   million pairs, and of double over 10^8 values of all sizes and near multiples of pi/4:
     exp 1.04 1.00   exp2 1.04 1.08  expm1 1.53 1.94  log 0.90 0.86   log2 1.14 1.00
     log10 1.02 0.91 log1p 1.53 1.31 sin 1.29 1.26    cos 1.30 1.27   tan 1.47 1.44
     asin 2.33 1.58  acos 1.12 1.16  atan 1.31 1.65   sinh 1.62 1.63  cosh 1.50 1.45
     tanh 1.01 1.30  sigmoid 1.44 1.48  softplus 1.77 1.68            silu 2.51 2.52
     gelu 3.67 4.16  erf 1.04 1.22   pow 1.11 1.36    atan2 1.46 1.63 hypot 0.94 1.01 */
/* The lesser and the greater of n and x; x if that is NaN. Each is one instruction. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
GT__FN float gt__at_most_f32(float n, float x) {
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(n));
  return x;
}
GT__FN float gt__at_least_f32(float n, float x) {
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(n));
  return x;
}
#else
GT__FN float gt__at_most_f32(float n, float x) { return n < x ? n : x; }
GT__FN float gt__at_least_f32(float n, float x) { return n > x ? n : x; }
#endif
GT__FN double gt__at_most_f64(double n, double x) { return n < x ? n : x; }
GT__FN double gt__at_least_f64(double n, double x) { return n > x ? n : x; }
/* log(1+f) - f for f in [sqrt(1/2)-1, sqrt(2)-1]: f^2 (-1/2 + f p(f)), fit 2^-27; in double
 * s (f^2/2 + z p(z)) - f^2/2 with s = f/(2+f) and z = s^2, fit 2^-59. */
GT__FN float gt__log_tail_f32(float f) {
  /* clang-format off */
  static const float c[] = {
    -0.5f, 0x1.555554p-2f,
    -0x1.000226p-2f, 0x1.99a01cp-3f,
    -0x1.54728ap-3f, 0x1.22d940p-3f,
    -0x1.0d825cp-3f, 0x1.055e2ep-3f,
    -0x1.38c78cp-4f};
  /* clang-format on */
  return GT__MUL(GT__MUL(f, f), gt__poly_f32(f, c, 9));
}
GT__FN double gt__log_tail_f64(double f) {
  /* clang-format off */
  static const double c[] = {
    0x1.5555555555592p-1, 0x1.999999997feaep-2,
    0x1.24924941eb688p-2, 0x1.c71c52099fc74p-3,
    0x1.74663f86a81d8p-3, 0x1.39a19d18e00c9p-3,
    0x1.2f06ff8d978fep-3};
  /* clang-format on */
  double s = gt__easy_div_f64(f, GT__ADD(2.0, f));
  double z = GT__MUL(s, s);
  double h = GT__MUL(0.5, GT__MUL(f, f));
  double y = gt__fma_f64(z, gt__poly_f64(z, c, 7), h);
  return gt__fma_f64(s, y, -h);
}
/* Converts exponent bits, still in their place, to a number. Written with bit operations because
   AVX2 cannot convert int64 to double. */
GT__FN float gt__exponent_f32(uint32_t k) { return (float)((int32_t)k >> 23); }
GT__FN double gt__exponent_f64(uint64_t k) {
  return GT__SUB(gt__float_f64(k >> 52 ^ 0x4330000000000800u), 0x1p+52 + 2048);
}
/* Moves the words from w[from] on to w[0 ... n) if mask has all bits set, not if it is 0. */
GT__FN void gt__skip_words(uint32_t *w, int n, int from, uint32_t mask) {
  for (int i = 0; i < n; i++) {
    uint32_t change = w[i] ^ w[i + from];
    w[i] ^= change & mask;
  }
}
/* a = (n + c + b) pi/2, or n - c - b where neg is set, for 2^15 <= a < inf (Payne and Hanek): a =
   M 2^k with a 24-bit M. Bits of 2/pi that make multiples of 4 are skipped; the next 96 times M
   leave quadrant and fraction in 64 bits, over 30 of them right: floats stay 2^-30 away from
   multiples of pi/2. */
GT__FN uint32_t gt__trig_far_f32(float a, float *c, float *b, uint32_t *neg) {
  /* clang-format off */
  uint32_t w[8] = {
    0u, 0xa2f9836eu,
    0x4e441529u, 0xfc2757d1u,
    0xf534ddc0u, 0xdb629599u,
    0x3c439041u, 0xfe5163abu};
  /* clang-format on */
  uint32_t bits = gt__bits_f32(a);
  uint32_t m = (bits & 0x7fffffu) | 0x800000u;
  uint32_t e = bits >> 23;
  uint32_t start = e < 120u ? 0u : e - 120u; /* at most 135 */
  uint32_t sh = start & 31u;
  uint32_t ush = 31u - sh;
  gt__skip_words(w, 4, 4, 0u - (start >> 7));
  gt__skip_words(w, 5, 2, 0u - (start >> 6 & 1u));
  gt__skip_words(w, 4, 1, 0u - (start >> 5 & 1u));
  for (int i = 0; i < 3; i++) {
    uint32_t next = w[i + 1] >> 1;
    w[i] = (w[i] << sh) | (next >> ush);
  }
  uint64_t q = (uint64_t)(m * w[0]) << 32;
  q += (uint64_t)m * w[1];
  q += ((uint64_t)m * w[2]) >> 32;
  uint32_t n = ((uint32_t)(q >> 32) + 0x20000000u) >> 30;
  uint32_t sign = 0u - (uint32_t)(q >> 61 & 1u);
  q = (q << 2) ^ (((uint64_t)sign << 32) | sign); /* |fraction|, one unit of 2^-64 off */
  uint32_t hi = (uint32_t)(q >> 32);
  uint32_t lo = (uint32_t)q;
  *neg = sign;
  *c = GT__MUL((float)(int32_t)(hi >> 8), 0x1p-24f); /* 64 bits as three exact floats */
  uint32_t mid = ((hi & 255u) << 16) | (lo >> 16);
  *b = GT__MUL((float)(int32_t)mid, 0x1p-48f);
  *b = gt__fma_f32((float)(int32_t)(lo & 0xffffu), 0x1p-64f, *b);
  return n;
}
/* For 2^40 <= a: M has 53 bits, the next 192 leave 128, over 60 of which are right. */
GT__FN uint64_t gt__trig_far_f64(double a, double *c, double *b, uint64_t *neg) {
  /* clang-format off */
  static const uint64_t digits[] = {
    0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  /* clang-format on */
  uint64_t bits = gt__bits_f64(a);
  uint64_t m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  uint64_t w[3];
  uint64_t e = bits >> 52;
  uint64_t start = e < 1063u || e > 2046u ? 50u : e - 1013u;
  uint64_t sh = start & 63u;
  const uint64_t *d = digits + (start >> 6);
  for (int i = 0; i < 3; i++) {
    uint64_t next = d[i + 1] >> 1;
    w[i] = (d[i] << sh) | (next >> (63u - sh));
  }
  uint64_t lo = m * w[1];
  uint64_t hi = m * w[0] + gt__high_u64(m, w[1]);
  uint64_t more = gt__high_u64(m, w[2]);
  lo += more;
  hi += lo < more;
  const uint64_t n = (hi + 0x2000000000000000u) >> 62;
  const uint64_t sign = 0u - (hi >> 61 & 1u);
  hi = ((hi << 2) | (lo >> 62)) ^ sign;
  lo = (lo << 2) ^ sign;
  *neg = sign;
  *c = GT__MUL((double)(int64_t)(hi >> 11), 0x1p-53);
  const uint64_t mid = ((hi & 0x7ffu) << 42) | (lo >> 22);
  *b = GT__MUL((double)(int64_t)mid, 0x1p-106);
  *b = gt__fma_f64((double)(int64_t)(lo & 0x3fffffu), 0x1p-128, *b);
  return n;
}
#endif
#if GT__EXCERPT == GT__FUNCTIONS
/* What the two share. Where n is a power of two only its low bits are used. So n may be taken from
   the bits of x + rounder, whose low bits are x rounded to an integer. */
/* pi/2 = hi + mid + lo; the bits of -0; NaN by its bits: NAN keeps gcc from the shortest selects */
static const T F(pio2_hi) = K(0x1.921fb6p+0f, 0x1.921fb54442d18p+0);
static const T F(pio2_mid) = K(-0x1.777a5cp-25f, 0x1.1a62633145c07p-54);
static const T F(rounder) = K(0x1.8p+23f, 0x1.8p+52);
static const U F(minus) = K(0x80000000u, 0x8000000000000000u);
GT__FN T F(nan)(void) { return F(float)(K(0x7fc00000u, 0x7ff8000000000000u)); }
GT__FN T F(neg_if)(T x, U sign) { /* if the bits of `sign` have a sign */
  return F(float)(F(bits)(x) ^ (sign & F(minus)));
}
/* a b and the error of its rounding, both exact. */
GT__FN T F(two_product)(T a, T b, T *error) {
  T p = GT__MUL(a, b);
  *error = F(fma)(a, b, -p);
  return p;
}
/* a + b and the error of its rounding, exact for |a| >= |b|. */
GT__FN T F(two_sum)(T a, T b, T *error) {
  T s = GT__ADD(a, b);
  *error = GT__ADD(GT__SUB(a, s), b);
  return s;
}
/* 2^(n + more) if that is normal. */
GT__FN T F(pow2)(U n, int more) {
  U exponent = n + K(127u, 1023u) + (U)more;
  return F(float)(exponent << K(23, 52));
}
/* y 2^n for |n| <= 190 (1500) in two factors, so that only the last product can round. For n > 0
   the sign bit of `sign` is 0, for n < 0 it is 1; it picks 2^64 or 2^-64 (2^512 ...) as the last
   one. */
GT__FN T F(scale)(T y, U n, U sign) {
  U first = sign >> 1 & K(0x40000000u, 0x4000000000000000u);
  first |= K(0x1f800000u, 0x1ff0000000000000u); /* the bits of the other */
  T last = F(float)(K(0x7f000000u, 0x7fe0000000000000u) - first);
  T other = F(float)((n << K(23, 52)) + first);
  return GT__MUL(GT__MUL(y, other), last);
}
GT__FN T F(expm1_poly)(T r) { /* for |r| <= ln2/2: r + r^2 q(r), fit 2^-26 2^-56 */
  /* clang-format off */
  static const T c[] = {LIST(
    (0x1.fffffep-2f, 0x1.5554b2p-3f,
     0x1.5556fep-5f, 0x1.1226b6p-7f,
     0x1.6b900cp-10f),
    (0x1.0000000000001p-1, 0x1.5555555555557p-3,
     0x1.5555555554d37p-5, 0x1.11111111100d9p-7,
     0x1.6c16c16f0bdc7p-10, 0x1.a01a01abea3e2p-13,
     0x1.a019f391b17cep-16, 0x1.71de022876a37p-19,
     0x1.28022a3b99c6bp-22, 0x1.af4dffaf0b1cep-26,
     0x1.e6321cdbdc2c5p-30))};
  /* clang-format on */
  T q = POLY(r, c);
  return F(fma)(GT__MUL(r, r), q, r);
}
GT__FN T F(exp_poly)(T r) { return GT__ADD((T)1, F(expm1_poly)(r)); }
/* x = n ln2 + r, |r| <= ln2/2, |x| <= 300 (1500). x - n LN2_HI is exact. */
GT__FN U F(exp_split)(T x, T *r) {
  const T log2e = K(0x1.715476p+0f, 0x1.71547652b82fep+0);
  T k = F(fma)(x, log2e, F(rounder));
  T n = GT__SUB(k, F(rounder));
  const T ln2_hi = K(0x1.62e430p-1f, 0x1.62e42fefa2p-1);
  const T ln2_lo = K(-0x1.05c610p-29f, 0x1.9ef35793c7673p-41);
  *r = F(fma)(n, -ln2_hi, x);
  *r = F(fma)(n, -ln2_lo, *r);
  return F(bits)(k);
}
/* a b = n ln2 + r. With an LN2_HI of few bits its product is exact, and a small r rounded. */
GT__FN U F(exp_split_product)(T a, T b, T *r) {
  const T log2e = K(0x1.715476p+0f, 0x1.71547652b82fep+0);
  T k = F(fma)(GT__MUL(a, b), log2e, F(rounder));
  T n = GT__SUB(k, F(rounder));
  const T ln2_hi = K(0x1.62e4p-1f, 0x1.62e42fefa2p-1);
  const T ln2_lo = K(0x1.7f7d1cp-20f, 0x1.9ef35793c7673p-41);
  *r = F(fma)(a, b, GT__MUL(n, -ln2_hi));
  *r = F(fma)(n, -ln2_lo, *r);
  return F(bits)(k);
}
/* 2^more e^x, no clamp; sign has the sign bit of x. */
GT__FN T F(exp_of)(T x, int more, U sign) {
  T r;
  U n = F(exp_split)(x, &r);
  T y = F(exp_poly)(r);
  return F(scale)(y, n + (U)more, sign);
}
GT__FN T F(exp)(T x) {
  const T least = F(at_least)(K(-104, -746), x);
  const T c = F(at_most)(K(89, 710), least);
  return F(exp_of)(c, 0, F(bits)(x)); /* or compilers decide the sign three times */
}
GT__FN T F(exp_normal)(T x) { /* e^x, which is to be normal */
  T r;
  U n = F(exp_split)(x, &r);
  return GT__MUL(F(exp_poly)(r), F(pow2)(n, 0));
}
/* 2^(hi+lo): the rest of hi after rounding is exact, times ln2 it goes into the same polynomial. */
GT__FN T F(exp2_of)(T hi, T lo) {
  const T most = K(160, 1200);
  const T ln2 = K(0x1.62e430p-1f, 0x1.62e42fefa39efp-1);
  T c = F(at_most)(most, F(at_least)(-most, hi));
  T l = c == hi ? lo : (T)0;
  T k = GT__ADD(GT__ADD(c, l), F(rounder));
  T n = GT__SUB(k, F(rounder));
  T rest = GT__ADD(GT__SUB(c, n), l);
  T y = F(exp_poly)(GT__MUL(rest, ln2));
  return F(scale)(y, F(bits)(k), F(bits)(hi));
}
GT__FN T F(exp2)(T x) { return F(exp2_of)(x, 0); }
/* 2^n t + (2^n - 1), halved until the end because 2^128 is no float; tiny x, -0 too, stays. */
GT__FN T F(expm1)(T x) {
  T r;
  T least = F(at_least)(K(-20, -40), x);
  T c = F(at_most)(K(89, 710), least);
  U n = F(exp_split)(c, &r);
  T s = F(pow2)(n, -1);
  T ones = GT__SUB(s, (T)0.5);
  T half = F(fma)(s, F(expm1_poly)(r), ones);
  T y = GT__MUL((T)2, half);
  return F(abs)(x) < K(0x1p-25f, 0x1p-54) ? x : y;
}
/* p / (1 + e). What the sum and the product with 1/d lost is put back by one step with the rest. */
GT__FN T F(over_one_and)(T e, T p) {
  T d = GT__ADD((T)1, e);
  T i = F(easy_reciprocal)(d);
  T q = GT__MUL(p, i);
  T e_lost = GT__SUB(e, GT__SUB(d, (T)1));
  T rest = F(fma)(-q, d, p);
  rest = F(fma)(-q, e_lost, rest);
  return F(fma)(rest, i, q);
}
/* num / (1 + e^-x); for x < 0 as num e^x / (1 + e^x), scaled last so that denormals round once. */
GT__FN T F(logistic)(T num, T x) {
  T r;
  U neg = x < 0;
  T a = F(at_most)(K(130, 800), F(abs)(x));
  U n = F(exp_split)(-a, &r);
  T p = F(exp_poly)(r);
  T e = F(scale)(p, n, F(minus));
  U of = neg ? n : 0u;
  T top = neg ? GT__MUL(num, p) : num;
  return F(scale)(F(over_one_and)(e, top), of, F(minus));
}
/* The same for num 1, whose denormal results are e itself, so that nothing is left to scale. */
GT__FN T F(sigmoid)(T x) {
  T a = F(at_most)(K(104, 746), F(abs)(x));
  T e = F(exp_of)(-a, 0, F(minus));
  return F(over_one_and)(e, x < 0 ? e : (T)1);
}
/* silu(-inf) is the limit, -0; above 20 (40) the result is x to the last bit, and -0 stays. */
GT__FN T F(silu)(T x) {
  const T low = K(-130, -800);
  const T num = x < low ? low : x;
  const int stays = (x > K(20, 40)) | (x == 0);
  return stays ? x : F(logistic)(num, x);
}
/* tanh a = c + (h (1-c) - c) / (h+1) for any c, with h = (e^2a - 1)/2. c = a leaves a small
   quotient; c = 1, by bits, a large h. h = m + w, as e^2a = s e^2r and e^2r = 1 + 2r + 2r^2 q(r),
   fit 2^-26 2^-56. */
GT__FN T F(tanh)(T x) {
  /* clang-format off */
  static const T q[] = {LIST(
    (0x1.fffffep-1f, 0x1.5554b4p-1f,
     0x1.5556f6p-2f, 0x1.122538p-3f,
     0x1.6b97a6p-5f),
    (0x1.0000000000001p+0, 0x1.5555555555557p-1,
     0x1.5555555554d37p-2, 0x1.11111111100d9p-3,
     0x1.6c16c16f0bdc7p-5, 0x1.a01a01abea3e2p-7,
     0x1.a019f391b17cep-9, 0x1.71de022876a37p-11,
     0x1.28022a3b99c6bp-13, 0x1.af4dffaf0b1cep-16,
     0x1.e6321cdbdc2c5p-19))};
  /* clang-format on */
  const T rounder = GT__ADD(F(rounder), K(127, 1023));
  const U one = F(bits)(1);
  const U bits = F(bits)(F(abs)(x));
  T a = F(at_most)(K(10, 20), F(float)(bits));
  U least = bits < one ? bits : one;
  T u = GT__SUB((T)1, F(float)(least));
  T c = GT__SUB((T)1, u);
  const T two_log2e = K(0x1.715476p+1f, 0x1.71547652b82fep+1);
  const T half_ln2 = K(0x1.62e430p-2f, 0x1.62e42fefa39efp-2);
  T k = F(fma)(a, two_log2e, rounder);
  T r = F(fma)(GT__SUB(k, rounder), -half_ln2, a);
  T s = F(float)(F(bits)(k) << K(23, 52));
  T m = F(fma)(s, (T)0.5, (T)-0.5);
  m = F(fma)(s, r, m);
  T tail = GT__MUL(GT__MUL(r, r), POLY(r, q));
  T w = GT__MUL(s, tail);
  T h = GT__ADD(w, m);
  T i = F(easy_reciprocal)(GT__ADD(h, (T)1));
  T top = F(fma)(m, u, -c);
  top = F(fma)(w, u, top);
  return F(copysign)(F(fma)(top, i, c), x);
}
GT__FN T F(cosh)(T x) { /* e^|x| / 2 overflows no sooner than the result */
  T a = F(at_most)(K(90, 711), F(abs)(x));
  T h = F(exp_of)(a, -1, 0);
  return GT__ADD(h, GT__DIV((T)0.25, h));
}
/* Below 1, to cancel nothing: x + x^3 p(x^2), fit 2^-31 2^-62. */
GT__FN T F(sinh)(T x) {
  /* clang-format off */
  static const T c[] = {LIST(
    (0x1.555556p-3f, 0x1.1110e0p-7f,
     0x1.a022bcp-13f, 0x1.756c58p-19f),
    (0x1.5555555555556p-3, 0x1.111111111101ep-7,
     0x1.a01a01a037284p-13, 0x1.71de3a3b0393ap-19,
     0x1.ae646ff92c7d6p-26, 0x1.6116f25b870b5p-33,
     0x1.b5c97c6ae03e4p-41))};
  /* clang-format on */
  T a = F(abs)(x);
  T z = GT__MUL(a, a);
  T y = POLY(z, c);
  T little = F(fma)(GT__MUL(a, z), y, a);
  T most = F(at_most)(K(90, 711), a);
  T h = F(exp_of)(most, -1, 0);
  T big = GT__SUB(h, GT__DIV((T)0.25, h));
  return F(copysign)(a < 1 ? little : big, x);
}
/* The exponent bits of u relative to sqrt(1/2): subtracting them leaves [sqrt(1/2), sqrt(2)). */
GT__FN U F(log_exponent)(T u) {
  U above = F(bits)(u) - K(0x3f3504f3u, 0x3fe6a09e667f3bcdu);
  return above & K(0xff800000u, 0xfff0000000000000u);
}
GT__FN T F(minus_exponent)(T x, U e) { return F(float)(F(bits)(x) - e); }
GT__FN T F(log_split)(T x, T *e) { /* x = 2^e (1 + f), exactly, denormals too */
  U tiny = x < K(0x1p-126f, 0x1p-1022);
  T u = tiny ? GT__MUL(x, K(0x1p+23f, 0x1p+52)) : x;
  U k = F(log_exponent)(u);
  T more = tiny ? K(23, 52) : (T)0;
  *e = GT__SUB(F(exponent)(k), more);
  return GT__SUB(F(minus_exponent)(u, k), (T)1);
}
/* The logarithm's values where y, computed for a positive finite x, does not hold. */
GT__FN T F(log_edges)(T x, T y) {
  T edge = x < 0 ? F(nan)() : x;
  edge = x == 0 ? (T)-INFINITY : edge;
  return ((x > 0) & (x < (T)INFINITY)) ? y : edge;
}
GT__FN T F(log_join)(T f, T e) {
  const T ln2_hi = K(0x1.62e430p-1f, 0x1.62e42fefa2p-1);
  const T ln2_lo = K(-0x1.05c610p-29f, 0x1.9ef35793c7673p-41);
  T low = F(fma)(e, ln2_lo, F(log_tail)(f));
  return F(fma)(e, ln2_hi, GT__ADD(f, low));
}
GT__FN T F(log)(T x) {
  T e;
  T f = F(log_split)(x, &e);
  return F(log_edges)(x, F(log_join)(f, e));
}
/* Base b: log(1+f) times l+l_lo, the product with f in two numbers, plus e times k+k_lo. */
GT__FN T F(log_base)(T x, T l, T l_lo, T k, T k_lo) {
  T e;
  T f = F(log_split)(x, &e);
  T low;
  T h = F(two_product)(f, l, &low);
  low = F(fma)(f, l_lo, low);
  low = F(fma)(e, k_lo, low);
  low = F(fma)(F(log_tail)(f), l, low);
  T y = F(fma)(e, k, GT__ADD(h, low));
  return F(log_edges)(x, y);
}
GT__FN T F(log2)(T x) {
  const T l = K(0x1.715476p+0f, 0x1.71547652b82fep+0);
  const T l_lo = K(0x1.4ae0c0p-26f, 0x1.777d0ffda0d24p-56);
  return F(log_base)(x, l, l_lo, 1, 0);
}
GT__FN T F(log10)(T x) {
  const T l = K(0x1.bcb7b2p-2f, 0x1.bcb7b1526e50ep-2);
  const T l_lo = K(-0x1.5b235ep-27f, 0x1.95355baaafad3p-57);
  const T k = K(0x1.344000p-2f, 0x1.34413509f6p-2);
  const T k_lo = K(0x1.3509f8p-18f, 0x1.9fef311f12b36p-42);
  return F(log_base)(x, l, l_lo, k, k_lo);
}
/* 1 + x = 2^e (1 + f) with f = x 2^-e + (2^-e - 1): x itself for e = 0, one rounding otherwise. */
GT__FN T F(log1p)(T x) {
  T u = GT__ADD((T)1, x);
  U k = F(log_exponent)(u);
  T four = F(minus_exponent)(4, k);
  T s = F(fma)((T)0.25, four, (T)-1);
  T f = GT__ADD(F(minus_exponent)(x, k), s);
  T y = F(log_join)(f, F(exponent)(k));
  y = F(log_edges)(u, y);
  return F(abs)(x) < K(0x1p-25f, 0x1p-54) ? x : y;
}
GT__FN T F(softplus)(T x) { /* log(1 + e^x) = max(x,0) + log(1 + e^-|x|) */
  T a = F(at_most)(K(110, 750), F(abs)(x));
  T e = F(exp_of)(-a, 0, F(minus));
  T most = x > 0 ? x : (T)0;
  return GT__ADD(most, F(log1p)(e));
}
/* log2 of 2^e (1+f) in two numbers, relative error below 2^-33 2^-62. With s = f/(2+f), |s| <
   0.172: 2/ln2 atanh(s) = s (K + s^2 (K/3 + s^2 p(s^2))), K and K/3 and s and s^2 in two numbers
   each. */
GT__FN T F(log2_two)(T x, T *lo) {
  /* clang-format off */
  static const T c[] = {LIST(
    (0x1.2776c4p-1f, 0x1.a6194ep-2f,
     0x1.47b1f2p-2f, 0x1.20675ep-2f),
    (0x1.2776c50ef9d25p-1, 0x1.a61762a759648p-2,
     0x1.484b1421b06c1p-2, 0x1.0c9a63ce47cc8p-2,
     0x1.c69f8f507bef4p-3, 0x1.87b072aac384p-3,
     0x1.85ec1e336dbbfp-3))};
  /* clang-format on */
  const T k = K(0x1.715476p+1f, 0x1.71547652b82fep+1); /* 2/ln2 and a third of it */
  const T k_lo = K(0x1.4ae0c0p-25f, 0x1.777d0ffda0d24p-55);
  const T k3 = K(0x1.ec709ep-1f, 0x1.ec709dc3a03fdp-1);
  const T k3_lo = K(-0x1.e2fe02p-28f, 0x1.d27f05548af0cp-55);
  T e;
  T f = F(log_split)(x, &e);
  T g = GT__ADD(f, (T)2);
  T i = F(easy_reciprocal)(g);
  T s = GT__MUL(f, i);
  T g_lo = GT__SUB(f, GT__SUB(g, (T)2));
  T rest = F(fma)(-s, g, f);
  rest = F(fma)(-s, g_lo, rest);
  T s_lo = GT__MUL(rest, i);
  T z_lo;
  T z = F(two_product)(s, s, &z_lo);
  z_lo = F(fma)(GT__MUL((T)2, s), s_lo, z_lo);
  T t_lo;
  T t = F(two_product)(z, k3, &t_lo);
  t_lo = F(fma)(z, k3_lo, t_lo);
  t_lo = F(fma)(z_lo, k3, t_lo);
  t_lo = F(fma)(GT__MUL(z, z), POLY(z, c), t_lo);
  T a_lo;
  T a = F(two_product)(s, k, &a_lo);
  a_lo = F(fma)(s, k_lo, a_lo);
  a_lo = F(fma)(s_lo, k, a_lo);
  T b_lo;
  T b = F(two_product)(s, t, &b_lo);
  b_lo = F(fma)(s, t_lo, b_lo);
  b_lo = F(fma)(s_lo, t, b_lo);
  T h_lo;
  T h = F(two_sum)(a, b, &h_lo);
  h_lo = GT__ADD(h_lo, GT__ADD(a_lo, b_lo));
  T sum = F(two_sum)(e, h, lo);
  *lo = GT__ADD(*lo, h_lo);
  return sum;
}
/* r, but NaN where x or y is. */
GT__FN T F(or_nan)(T x, T y, T r) {
  const int is_nan = (x != x) | (y != y);
  return is_nan ? GT__ADD(x, y) : r;
}
/* 2^(y log2|x|); zeros and infinities pass through log2 as -inf and inf. */
GT__FN T F(pow)(T x, T y) {
  const T inf = (T)INFINITY;
  T ax = F(abs)(x);
  T l_lo;
  T l = F(log2_two)(ax, &l_lo);
  T half = GT__MUL((T)0.5, y);
  U whole = F(rint)(y) == y;
  U odd = whole & (F(rint)(half) != half);
  l = ax == inf ? inf : l;
  l = ax == 0 ? -inf : l;
  T h_lo;
  T h = F(two_product)(l, y, &h_lo);
  T r = F(exp2_of)(h, F(fma)(l_lo, y, h_lo));
  r = ax == 1 ? (T)1 : r; /* also y = inf */
  r = F(or_nan)(x, y, r);
  r = F(neg_if)(r, odd ? F(bits)(x) : 0u);
  const int no_root = (x < 0) & (x > -inf) & (whole == 0);
  r = no_root ? F(nan)() : r;
  return ((x == 1) | (y == 0)) ? (T)1 : r;
}
/* a = n pi/2 + r + r_lo for 0 <= a < 2^15 (2^40) by Cody and Waite. r1 is exact, a multiple of
   2^-24 (2^-52) < 1, and a multiple of the last bit of p, which makes the error of r exact as
   well. */
GT__FN U F(trig_near)(T a, T *r, T *r_lo) {
  const T two_over_pi = K(0x1.45f306p-1f, 0x1.45f306dc9c883p-1);
  const T pio2_lo = K(-0x1.ee59dap-50f, -0x1.f1976b7ed8fbcp-110);
  T k = F(fma)(a, two_over_pi, F(rounder));
  T n = GT__SUB(k, F(rounder));
  T r1 = F(fma)(n, -F(pio2_hi), a);
  T p_lo;
  T p = F(two_product)(n, F(pio2_mid), &p_lo);
  *r = GT__SUB(r1, p);
  T error = GT__SUB(GT__SUB(r1, *r), p);
  *r_lo = F(fma)(n, -pio2_lo, GT__SUB(error, p_lo));
  return F(bits)(k);
}
/* `any` is 0 if the caller knows that no angle of the block is large. Branching and selecting give
   the same bits, since only `a` decides. The near way makes NaN of infinity. */
GT__FN U F(trig_reduce)(T a, int any, T *r, T *r_lo) {
  U large = any & (a >= K(0x1p+15f, 0x1p+40));
  large &= a < (T)INFINITY;
  U n = F(trig_near)(a, r, r_lo);
  if (!any || (GT__BRANCHES && !large)) return n;
  T b;
  T c;
  U neg;
  U far_n = F(trig_far)(a, &c, &b, &neg);
  T s = GT__ADD(c, b);
  b = GT__SUB(b, GT__SUB(s, c));
  T p = F(two_product)(s, F(pio2_hi), &c);
  c = F(fma)(s, F(pio2_mid), c);
  c = F(fma)(b, F(pio2_hi), c);
  *r = large ? F(neg_if)(p, neg) : *r;
  *r_lo = large ? F(neg_if)(c, neg) : *r_lo;
  return large ? far_n : n;
}
/* sin(r + r_lo + n pi/2), |r| <= pi/4: r + r^3 p(r^2), fit 2^-27.9 2^-57.9; 1 - r^2/2 + r^4 p(r^2),
 * 2^-33 2^-63. */
GT__FN T F(sin_quadrant)(U n, T r, T r_lo) {
  /* clang-format off */
  static const T sines[] = {LIST(
    (-0x1.555546p-3f, 0x1.110778p-7f,
     -0x1.995400p-13f),
    (-0x1.5555555555548p-3, 0x1.111111110f72fp-7,
     -0x1.a01a019be8fbdp-13, 0x1.71de35550a909p-19,
     -0x1.ae5e4b6974cb9p-26, 0x1.5d8b4d44e4125p-33))};
  /* clang-format on */
  /* clang-format off */
  static const T cosines[] = {LIST(
    (0x1.55554ap-5f, -0x1.6c0c2ap-10f,
     0x1.99e910p-16f),
    (0x1.555555555554bp-5, -0x1.6c16c16c15006p-10,
     0x1.a01a019c8ca38p-16, -0x1.27e4f7ef2deaap-22,
     0x1.1ee9d9de5c619p-29, -0x1.8fa560394b32fp-37))};
  /* clang-format on */
  T z = GT__MUL(r, r);
  T s = POLY(z, sines);
  T c = POLY(z, cosines);
  s = F(fma)(GT__MUL(r, z), s, r_lo);
  s = GT__ADD(r, s);
  T low = F(fma)((T)-0.5, z, -GT__MUL(r, r_lo));
  c = F(fma)(GT__MUL(z, z), c, low);
  c = GT__ADD((T)1, c);
  T y = n & 1u ? c : s;
  return F(neg_if)(y, n << K(30, 62));
}
/* t = r + r^3 p(r^2), fit 2^-29 2^-55; in odd quadrants -1/t, corrected for the rounding of t. */
GT__FN T F(tan_quadrant)(U n, T r, T r_lo) {
  /* clang-format off */
  static const T c[] = {LIST(
    (0x1.555560p-2f, 0x1.110da0p-3f,
     0x1.bad946p-5f, 0x1.5cc660p-6f,
     0x1.62ad22p-7f, 0x1.af79d0p-14f,
     0x1.1e6b20p-8f),
    (0x1.55555555554eep-2, 0x1.111111111868fp-3,
     0x1.ba1ba1b43f815p-5, 0x1.664f49b096130p-6,
     0x1.226e1175c5c29p-7, 0x1.d6d953d3aa667p-9,
     0x1.7d59d7a2f19f0p-10, 0x1.38074cf54b8a1p-11,
     0x1.d1da80d078261p-13, 0x1.1f5e88488388fp-13,
     -0x1.c69ad678b10e4p-16, 0x1.79ef7076c177cp-14,
     -0x1.7b6c3dc5f5b72p-15, 0x1.5f75bccc12571p-16))};
  /* clang-format on */
  T z = GT__MUL(r, r);
  T low = F(fma)(r_lo, z, r_lo);
  T tail = POLY(z, c);
  T p = F(fma)(GT__MUL(r, z), tail, low);
  T t = GT__ADD(r, p);
  T q = GT__DIV((T)-1, t);
  p = GT__SUB(p, GT__SUB(t, r));
  T rest = F(fma)(q, t, (T)1);
  rest = F(fma)(q, p, rest);
  q = F(fma)(q, rest, q);
  return n & 1u ? q : t;
}
/* sin x, cos x or tan x: which is 0, 1 or 2. */
GT__FN T F(trig)(T x, U which, int any) {
  T r;
  T r_lo;
  U n = F(trig_reduce)(F(abs)(x), any, &r, &r_lo) + (which & 1u);
  T y = which > 1 ? F(tan_quadrant)(n, r, r_lo) : F(sin_quadrant)(n, r, r_lo);
  return F(neg_if)(y, which == 1 ? 0u : F(bits)(x));
}
/* asin(s) to 1/2 (0.54): s + s^3 p(s^2), fit 2^-27.6 2^-56.1; above pi/2 - 2 asin(sqrt((1-a)/2)).
   */
static const T F(asin_far) = K(0.5f, 0.5404);
GT__FN T F(asin_core)(T a) {
  /* clang-format off */
  static const T c[] = {LIST(
    (0x1.5555c8p-3f, 0x1.3301fep-4f,
     0x1.747cc0p-5f, 0x1.8c30a0p-6f,
     0x1.596a96p-5f),
    (0x1.55555555556ccp-3, 0x1.3333333302a5fp-4,
     0x1.6db6db90dab32p-5, 0x1.f1c70fa8c088ep-6,
     0x1.6e8d012d49207p-6, 0x1.1c36c5a16c621p-6,
     0x1.cbcf3d4079ba3p-7, 0x1.6892bb36a37a7p-7,
     0x1.a5522dd053c18p-7, -0x1.df1f9ecd7694cp-9,
     0x1.3b8b1fa9ed4a3p-5, -0x1.630d6bebcb546p-5,
     0x1.76e0ab6d3aeccp-5))};
  /* clang-format on */
  T halved = GT__MUL(GT__SUB((T)1, a), (T)0.5);
  T z = a > F(asin_far) ? halved : GT__MUL(a, a);
  T s = a > F(asin_far) ? F(sqrt)(z) : a;
  T y = POLY(z, c);
  return F(fma)(GT__MUL(s, z), y, s);
}
GT__FN T F(from_pio2)(T t) {
  T low = GT__SUB(t, F(pio2_mid));
  return GT__SUB(F(pio2_hi), low);
}
GT__FN T F(asin)(T x) {
  T a = F(abs)(x);
  T t = F(asin_core)(a);
  T beyond = F(from_pio2)(GT__MUL((T)2, t));
  return F(copysign)(a > F(asin_far) ? beyond : t, x);
}
GT__FN T F(acos)(T x) {
  T a = F(abs)(x);
  T t = F(asin_core)(a);
  T half = x < 0 ? F(from_pio2)(t) : t;
  T big = GT__MUL((T)2, half);
  T little = F(from_pio2)(F(copysign)(t, x));
  return a > F(asin_far) ? big : little;
}
GT__FN T F(atan_core)(T q) { /* for 0 <= q <= 1: q + q^3 p(q^2), fit 2^-26.6 2^-53.9 */
  /* clang-format off */
  static const T c[] = {LIST(
    (-0x1.55553ep-2f, 0x1.9991e6p-3f,
     -0x1.2420b4p-3f, 0x1.c08f2ep-4f,
     -0x1.58147ap-4f, 0x1.da5af6p-5f,
     -0x1.fdf30ap-6f, 0x1.64b6d6p-7f,
     -0x1.d482ccp-10f),
    (-0x1.5555555555526p-2, 0x1.99999999955b7p-3,
     -0x1.249249237f626p-3, 0x1.c71c717fd14c2p-4,
     -0x1.745d11ae89301p-4, 0x1.3b13669aa5453p-4,
     -0x1.110e51285811bp-4, 0x1.e1bba64d2def2p-5,
     -0x1.ae5e70402f0e8p-5, 0x1.82dac26860149p-5,
     -0x1.59a3962bd6b26p-5, 0x1.2c2d0cd5af654p-5,
     -0x1.e9f45f4050e45p-6, 0x1.6834554e3f410p-6,
     -0x1.c77ea98ba04e0p-7, 0x1.d7a284847d845p-8,
     -0x1.7a288178923d0p-9, 0x1.b3f31b042c523p-11,
     -0x1.3f457cce81208p-13, 0x1.bc363c5a83eeap-17))};
  /* clang-format on */
  T z = GT__MUL(q, q);
  T y = POLY(z, c);
  return F(fma)(GT__MUL(q, z), y, q);
}
GT__FN T F(atan)(T x) {
  T a = F(abs)(x);
  T q = a > 1 ? GT__DIV((T)1, a) : a;
  T t = F(atan_core)(q);
  t = a > 1 ? F(from_pio2)(t) : t;
  return F(copysign)(t, x);
}
GT__FN T F(atan2)(T y, T x) {
  T a = F(abs)(y);
  T b = F(abs)(x);
  T mx = a > b ? a : b;
  T mn = a > b ? b : a;
  T q = GT__DIV(mn, mx);
  q = mn == INFINITY ? 1 : q;
  q = mx == 0 ? 0 : q;
  T t = F(atan_core)(q);
  t = a > b ? F(from_pio2)(t) : t;
  T half = F(from_pio2)(GT__MUL((T)0.5, t));
  t = F(bits)(x) & F(minus) ? GT__MUL((T)2, half) : t;
  t = F(copysign)(t, y);
  return F(or_nan)(x, y, t);
}
/* 2^-24 (2^-64) Phi(-a) e^(a^2/2 + r) for 0 <= a <= 14.4 (38.7), Phi the normal distribution.
   Without e^r it is p(a)/(s(a) + k a p(a)), fit 2^-25.5 2^-57.8; its limit 1/(k a) forgives p's
   error. */
GT__FN T F(phi_tail)(T a, T r) {
  /* clang-format off */
  static const T c[] = {LIST(
    (0x1.8p-25f, 0x1.6224acp-25f,
     0x1.33ccfp-26f, 0x1.1d92f2p-28f,
     0x1.eb73c8p-32f),
    (0x1p-64, 0x1.b1ab2c6b45689p-64,
     0x1.6b5b2eb57a8d7p-64, 0x1.85e38c0212223p-65,
     0x1.26235e980cff8p-66, 0x1.44bbeaeeecf38p-68,
     0x1.096f403a2d411p-70, 0x1.3dcb15d28f139p-73,
     0x1.0be29c276fff1p-76, 0x1.217a8749f4267p-80,
     0x1.34eee0879ce6ep-85))};
  /* clang-format on */
  /* clang-format off */
  static const T s[] = {LIST(
    (1.5f, 0x1.6683fep-1f,
     0x1.688fdep-3f, 0x1.33122p-6f),
    (2, 0x1.3d14240a84abp+1,
     0x1.91a68fb573f36p+0, 0x1.4a49600e81dcdp-1,
     0x1.7efc7dcf96444p-3, 0x1.424c8d0d8f150p-5,
     0x1.88a03fdeeb07ep-8, 0x1.4e3b59d532ef6p-11,
     0x1.6acec2857380dp-15, 0x1.8330b37b3b62ep-20))};
  /* clang-format on */
  T p = POLY(a, c);
  T k_a = GT__MUL(a, K(0x1.40d956p+25f, 0x1.40d931ff62706p+65));
  T below = F(fma)(k_a, p, POLY(a, s));
  T t = F(easy_div)(p, below);
  return F(fma)(t, F(expm1_poly)(r), t);
}
/* Below 1: x + x p(x^2), fit 2^-27.8 2^-55.8. Above: 1 - 2 Phi(-a sqrt 2); e^-a^2 is 2^n e^r. */
GT__FN T F(erf)(T x) {
  /* clang-format off */
  static const T c[] = {LIST(
    (0x1.06eba8p-3f, -0x1.81273ep-2f,
     0x1.ce2ce6p-4f, -0x1.b7f730p-6f,
     0x1.53f320p-8f, -0x1.a35aacp-11f,
     0x1.4790c0p-14f),
    (0x1.06eba8214db68p-3, -0x1.812746b03799dp-2,
     0x1.ce2f21a03f8bap-4, -0x1.b82ce311a96c3p-6,
     0x1.565bcceee5fb1p-8, -0x1.c02daebd270f9p-11,
     0x1.f9a297d64929cp-14, -0x1.f4c84a657c1f1p-17,
     0x1.b96ccf681dc1fp-20, -0x1.5b97ffd0c063ap-23,
     0x1.d43f5a1f2b78dp-27, -0x1.a39459f0842c2p-31))};
  /* clang-format on */
  T a = F(at_most)(K(4.2f, 6), F(abs)(x));
  T r;
  U n = F(exp_split_product)(-a, a, &r);
  T z = GT__MUL(a, a);
  T little = F(fma)(a, POLY(z, c), a);
  const T sqrt2 = K(0x1.6a09e6p+0f, 0x1.6a09e667f3bcdp+0);
  T tail = F(phi_tail)(GT__MUL(a, sqrt2), r);
  T power = F(pow2)(n, K(25, 65));
  T big = F(fma)(-power, tail, (T)1);
  return F(copysign)(a < 1 ? little : big, x);
}
/* x Phi(x) = max(x, 0) - |x| Phi(-|x|). The power of two times 2^24 (2^64) goes to |x|, which is
 * exact, so that only the end can be rounded to a denormal. gelu(-inf) is -0. */
GT__FN T F(gelu)(T x) {
  T a = F(at_most)(K(14.4f, 38.7), F(abs)(x));
  T r;
  T half = GT__MUL((T)-0.5, a);
  U n = F(exp_split_product)(half, a, &r);
  T power = F(pow2)(n, K(24, 64));
  T scaled = GT__MUL(a, power);
  T most = F(at_least)((T)-0.0, x);
  return F(fma)(-scaled, F(phi_tail)(a, r), most);
}
GT__FN T F(hypot)(T x, T y) { /* scaled where squares leave the range */
  const T inf = (T)INFINITY;
  const T up = K(0x1p+96f, 0x1p+600);
  const T down = K(0x1p-96f, 0x1p-600);
  T p = F(abs)(x);
  T q = F(abs)(y);
  T a = p > q ? p : q;
  T b = p > q ? q : p;
  const U large = a > K(0x1p+63f, 0x1p+511);
  const U tiny = a < K(0x1p-40f, 0x1p-480);
  T s = tiny ? up : (T)1;
  T back = tiny ? down : (T)1;
  s = large ? down : s;
  back = large ? up : back;
  a = GT__MUL(a, s);
  b = GT__MUL(b, s);
  T sum = F(fma)(a, a, GT__MUL(b, b));
  T r = GT__MUL(F(sqrt)(sum), back);
  r = F(or_nan)(x, y, r);
  return ((p >= inf) | (q >= inf)) ? inf : r;
}
#undef GT__TYPE
#endif
#if GT__EXCERPT == GT__MAIN
#undef GT__EXCERPT
#define GT__EXCERPT GT__FUNCTIONS
#define GT__TYPE 32
#include GPUTENSOR_FILE
#define GT__TYPE 64
#include GPUTENSOR_FILE
#undef GT__EXCERPT
#define GT__EXCERPT GT__MAIN
/* -- conversions -- */
/* The exponent is moved by an exact product with 2^112, which also makes denormals normal. */
GT__FN float gt__f16_to_f32(uint16_t h) {
  uint32_t m = h & 0x7fffu;
  uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
  uint32_t b = gt__bits_f32(GT__MUL(gt__float_f32(m << 13), 0x1p+112f));
  const uint32_t quiet = m > 0x7c00u ? 0x400000u : 0u;
  b = m >= 0x7c00u ? 0x7f800000u | m << 13 | quiet : b;
  return gt__float_f32(b | sign);
}
/* Below 2^-14 a sum with 1/2 rounds at 2^-24, the step of denormals; above, integer arithmetic
 * rounds to even and may carry into the exponent, up to infinity. */
GT__FN uint16_t gt__f32_to_f16(float x) {
  uint32_t b = gt__bits_f32(x);
  uint32_t sign = (b >> 16) & 0x8000u;
  uint32_t a = b & 0x7fffffffu;
  uint32_t low = gt__bits_f32(GT__ADD(gt__float_f32(a), 0.5f)) - 0x3f000000u;
  uint32_t r = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  r = a >= 0x477ff000u ? 0x7c00u : r;
  r = a < 0x38800000u ? low : r;
  r = a > 0x7f800000u ? 0x7e00u : r;
  return (uint16_t)(r | sign);
}
GT__FN float gt__bf16_to_f32(uint16_t h) { return gt__float_f32((uint32_t)h << 16); }
GT__FN uint16_t gt__f32_to_bf16(float x) {
  uint32_t b = gt__bits_f32(x);
  uint32_t r = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
  const uint32_t nan = (b >> 16 & 0x8000u) | 0x7fc0u;
  return (uint16_t)((b & 0x7fffffffu) > 0x7f800000u ? nan : r);
}
/* Rounded to odd: what no float equals becomes that one of the two beside it whose last bit is
 * set. A float has more than two bits more than a 16-bit float, so its rounding is that of the
 * original. */
GT__FN float gt__odd_f32(float x) { return x; }
GT__FN float gt__odd_f64(double x) {
  const float nearest = (float)x;
  const uint32_t bits = gt__bits_f32(nearest);
  const uint32_t even = (bits & 1u) - 1u;
  const uint64_t more = gt__bits_f64(x) - gt__bits_f64((double)nearest);
  const uint32_t toward = (uint32_t)((0u - more) >> 63) - (uint32_t)(more >> 63);
  return gt__float_f32(bits + (toward & even));
}
/* Of integers beyond 2^52 the low bits become one, set if any was: then a double holds the
 * integer. */
GT__FN float gt__odd_i64(int64_t x) {
  const uint64_t bits = (uint64_t)x;
  const uint64_t low = bits & 0x7ffu;
  const uint64_t joined = (bits - low) | (low ? 0x400u : 0u);
  const int is_small = bits + 0x10000000000000u < 0x20000000000000u;
  return gt__odd_f64((double)(int64_t)(is_small ? bits : joined));
}
/* -- int64: everything wraps, nothing is undefined -- */
GT__FN int64_t gt__add_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
GT__FN int64_t gt__sub_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
GT__FN int64_t gt__mul_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
GT__FN int64_t gt__neg_i64(int64_t a) { return (int64_t)(0u - (uint64_t)a); }
GT__FN int64_t gt__maximum_i64(int64_t a, int64_t b) { return a > b ? a : b; }
GT__FN int64_t gt__minimum_i64(int64_t a, int64_t b) { return a < b ? a : b; }
/* The sign of the dividend; x % 0 = 0. A divisor of -1 becomes 1: same result, no overflow. */
GT__FN int64_t gt__divisor_i64(int64_t b) { return ((b == 0) | (b == -1)) ? 1 : b; }
GT__FN int64_t gt__fmod_i64(int64_t a, int64_t b) { return a % gt__divisor_i64(b); }
GT__FN int64_t gt__remainder_i64(int64_t a, int64_t b) {
  int64_t m = gt__fmod_i64(a, b);
  const int differ = (m < 0) != (b < 0);
  return ((m != 0) & differ) ? m + b : m;
}
/* Rounded down; x // 0 = 0, INT64_MIN // -1 = INT64_MIN. */
GT__FN int64_t gt__floor_div_i64(int64_t a, int64_t b) {
  int64_t d = gt__divisor_i64(b);
  int64_t q = a / d;
  int64_t m = a % d;
  const int differ = (m < 0) != (b < 0);
  q = ((m != 0) & differ) ? q - 1 : q;
  q = b == -1 ? gt__neg_i64(a) : q;
  return b == 0 ? 0 : q;
}
GT__FN int64_t gt__pow_i64(int64_t a, int64_t n) {
  uint64_t r = 1u;
  uint64_t s = (uint64_t)a;
  uint64_t e = (uint64_t)n;
  for (int i = 0; i < 64; i++) {
    r = e & 1u ? r * s : r;
    s *= s;
    e >>= 1;
  }
  const int64_t sign = n & 1 ? -1 : 1;
  if (n < 0) return a == -1 ? sign : (int64_t)(a == 1);
  return (int64_t)r;
}
GT__FN int64_t gt__shl_i64(int64_t a, int64_t n) {
  return (uint64_t)n > 63u ? 0 : (int64_t)((uint64_t)a << (n & 63));
}
GT__FN int64_t gt__shr_i64(int64_t a, int64_t n) { return a >> ((uint64_t)n > 63u ? 63 : n); }
/* -- random numbers -- */
GT__FN void gt__philox_round(uint64_t x[4], uint64_t seed, uint32_t i) {
  const uint64_t p = (x[0] & 0xffffffffu) * 0xd2511f53u;
  const uint64_t q = (x[2] & 0xffffffffu) * 0xcd9e8d57u;
  x[0] = q >> 32 ^ x[1] ^ ((uint32_t)seed + i * 0x9e3779b9u);
  x[1] = q;
  x[2] = p >> 32 ^ x[3] ^ ((uint32_t)(seed >> 32) + i * 0xbb67ae85u);
  x[3] = p;
}
/* Written out, as Horner's steps are. */
GT__FN void gt__philox_rounds(uint64_t x[4], uint64_t seed, uint32_t i) {
  gt__philox_round(x, seed, i);
  gt__philox_round(x, seed, i + 1);
  gt__philox_round(x, seed, i + 2);
  gt__philox_round(x, seed, i + 3);
  gt__philox_round(x, seed, i + 4);
}
/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): counter words {lo, hi, 0, 0}. */
GT__FN void gt__philox(uint64_t seed, uint64_t counter, uint32_t c[4]) {
  uint64_t x[4] = {counter, counter >> 32, 0, 0}; /* of which the lower halves count */
  gt__philox_rounds(x, seed, 0);
  gt__philox_rounds(x, seed, 5);
  c[0] = (uint32_t)x[0];
  c[1] = (uint32_t)x[1];
  c[2] = (uint32_t)x[2];
  c[3] = (uint32_t)x[3];
}
GT__FN int64_t gt__53_bits(const uint32_t w[2]) { return (int64_t)w[0] << 21 | w[1] >> 11; }
/* Box-Muller: sqrt(-2 log u) cos(2 pi v), u in (0,1] in steps of 2^-32 rounded to float, v of 24
 * bits. The quadrant is the top of v, the rest is exact. */
GT__FN float gt__normal_f32(uint32_t w0, uint32_t w1) {
  float high = (float)(int32_t)(w0 >> 16);
  float low = (float)(int32_t)((w0 & 0xffffu) + 1u);
  float u = GT__ADD(GT__MUL(high, 0x1p-16f), GT__MUL(low, 0x1p-32f));
  float e;
  float f = gt__log_split_f32(u, &e);
  float radius = gt__sqrt_f32(GT__MUL(-2.0f, gt__log_join_f32(f, e)));
  int32_t v = (int32_t)(w1 >> 8);
  int32_t n = (v + 0x200000) >> 22;
  float angle = GT__MUL((float)(v - n * 0x400000), 0x1.921fb6p-22f);
  float cosine = gt__sin_quadrant_f32((uint32_t)n + 1u, angle, 0.0f);
  return GT__MUL(radius, cosine);
}
/* The same with u and v of 53 bits. */
GT__FN double gt__normal_f64(const uint32_t w[4]) {
  double u = GT__MUL((double)(gt__53_bits(w) + 1), 0x1p-53);
  double e;
  double f = gt__log_split_f64(u, &e);
  double radius = gt__sqrt_f64(GT__MUL(-2.0, gt__log_join_f64(f, e)));
  int64_t v = gt__53_bits(w + 2);
  int64_t n = (v + 0x4000000000000) >> 51;
  double angle = GT__MUL((double)(v - n * 0x8000000000000), 0x1.921fb54442d18p-51);
  double cosine = gt__sin_quadrant_f64((uint64_t)n + 1u, angle, 0.0);
  return GT__MUL(radius, cosine);
}

/* ---- >>machine ---------------------------------------------------------------------------------
   What the front end and the back ends share: the program of an expression and the arguments of the
   primitives, plain data that is copied by value into kernel parameters.
   The accumulator machine, an interpreter, runs a program once for each element: an instruction is
   acc = op(acc, slot[b], slot[c]). Slots hold inputs, constants and then temporaries. Inputs become
   the compute type when loaded, acc the output's dtype when stored. "a*b + 2" of float32:

       slots   0: a   1: b   2: 2.0f           instructions   LOAD 0   mul 1   add 2
 */
enum { GT__F32, GT__F64, GT__I64 }; /* compute types: float, double, int64_t */
/* THE DTYPES: bytes, kind, compute type, the type in a .npy file (NumPy does not have bfloat16,
   which is written as float32), and the ends of the range in which it holds every integer.
   Who adds one adds it to gt_dtype and here, and raises GT__LAYOUT. Assertions then name the other
   places: the types in memory (GT__MEMORY_TYPES), the pairs that neither dtype holds
   (gt__promote_types), DLPack's codes (gt__dl_code), the names of safetensors (gt__json_dtype),
   signs and digits (gt__rising_key), and in the .cu gt__by_dtype and gt__short_kernels. One they do
   not name: what messages about files list. */
enum { GT__TRUTH, GT__WHOLE_KIND, GT__FLOAT_KIND };
/* clang-format off */
#define GT__DTYPES(X) \
  X(BOOL, "bool", 1, GT__TRUTH, GT__I64, "b1", 0, 1) \
  X(UINT8, "uint8", 1, GT__WHOLE_KIND, GT__I64, "u1", 0, 255) \
  X(INT8, "int8", 1, GT__WHOLE_KIND, GT__I64, "i1", -128, 127) \
  X(INT16, "int16", 2, GT__WHOLE_KIND, GT__I64, "i2", -32768, 32767) \
  X(INT32, "int32", 4, GT__WHOLE_KIND, GT__I64, "i4", INT32_MIN, INT32_MAX) \
  X(INT64, "int64", 8, GT__WHOLE_KIND, GT__I64, "i8", INT64_MIN, INT64_MAX) \
  X(FLOAT16, "float16", 2, GT__FLOAT_KIND, GT__F32, "f2", -2048, 2048) \
  X(BFLOAT16, "bfloat16", 2, GT__FLOAT_KIND, GT__F32, "f4", -256, 256) \
  X(FLOAT32, "float32", 4, GT__FLOAT_KIND, GT__F32, "f4", -16777216, 16777216) \
  X(FLOAT64, "float64", 8, GT__FLOAT_KIND, GT__F64, "f8", -9007199254740992, 9007199254740992)
#define GT__DTYPE_NUMBER(name, ...) GT__DTYPE_##name,
#define GT__SAME_NUMBER(name, ...) && (int)GT__DTYPE_##name == (int)GT_##name
/* clang-format on */
enum { GT__DTYPES(GT__DTYPE_NUMBER) GT__DTYPE_COUNT };
GT__ASSERT((int)GT__DTYPE_COUNT == (int)GT_DTYPES GT__DTYPES(GT__SAME_NUMBER),
           "GT__DTYPES has gt_dtype's order");
/* A list of one X(...) for each dtype has them all; `what` says what its reader relies on. */
#define GT__ONE_MORE(...) +1
#define GT__EACH_DTYPE(list, what) GT__ASSERT(0 list == (int)GT_DTYPES, what)
enum { GT__CODE = 64 };  /* instructions of a program, at most */
enum { GT__SLOTS = 16 }; /* its inputs, constants and temporaries together */
enum { GT__INPUTS = 8 };
enum {
  GT__LOAD,    /* acc = slot[b] */
  GT__SAVE,    /* slot[d] = acc */
  GT__INDEX,   /* acc = logical index of the element, row-major in the output's shape */
  GT__UNIFORM, /* acc = uniform in [0, 1), Philox(seed, offset + index)  (float types) */
  GT__NORMAL,  /* acc = standard normal, likewise                        (float types) */
  GT__INTEGER, /* acc = slot[b] + 64 random bits scaled to 0 <= r < slot[c] (GT__I64) */
#define GT__ENUM(name, arity, result, cost, f, i) GT__OP_##name,
  GT__OPERATIONS(GT__ENUM) GT__OPS
};
typedef struct {
  uint8_t op, b, c, d;
} gt__ins;
typedef union {
  int64_t i;
  double f;
  float s;
} gt__num; /* i, f or s by the compute type */
typedef struct {
  uint8_t compute, heavy; /* heavy: steps of cost HEAVY, or that tell the place */
  uint8_t n_ins, n_in, n_const, n_slot, pad[2];
  uint64_t seed, offset; /* of the generator, for GT__UNIFORM and its like */
  gt__ins ins[GT__CODE];
  gt__num constant[GT__SLOTS]; /* constant[k] fills slot n_in + k */
} gt__program;
/* Is the program nothing but its operand? */
static inline int gt__is_bare(const gt__program *p) {
  return p->n_ins == 1 && p->ins[0].op == GT__LOAD && p->n_in == 1;
}
/* Or whether that is not 0, as gt_any has it? */
static inline int gt__is_truth(const gt__program *p) {
  if (p->n_ins != 2 || p->ins[1].op != GT__OP_ne || p->n_in != 1) return 0;
  return p->n_const && !p->constant[0].i;
}
/* data points at element 0. stride[d] counts elements of `dtype` along size[d]; 0 broadcasts. */
typedef struct {
  char *data;
  int64_t stride[GT_MAX_DIMS];
  uint8_t dtype, size_log2; /* an element has 1 << size_log2 bytes */
  uint8_t fresh, pad[5];    /* fresh: memory that is written for the first time */
} gt__operand;
enum { GT__EARLY_READ = 1, GT__EARLY_WRITE }; /* see gt__earliness */
typedef struct {
  int64_t count, size[GT_MAX_DIMS]; /* count = product of size[0..ndim); after collapsing */
  int32_t ndim;
  int16_t fits_int, early; /* count and all byte offsets are below 2^31; GT__EARLY_READ, ... */
  gt__operand out, in[GT__INPUTS];
  gt__program program;
  void *scratch; /* what the back end asked for, or NULL */
} gt__map_args;
/* Folds the inner n of outer x n elements. pre.size is the kept dims (n_kept of them), then the
   folded ones; element (o, k) has logical index o*n + k there, and pre.program makes its value.
   pre.out is for softmax alone; `out` has strides along the kept dims.
   THE PLAN, a function of `inner` and n alone, is what makes the bits the same everywhere. A chunk
   is `chunk` consecutive k's. inner (the last dimension that is not of size 1 is folded): chunk is
   GT__CHUNK = 4096; element j of a chunk goes to lane j mod 256; a lane starts at the fold's
   identity and folds its elements in order; lanes combine by halving: lane i with lane i + 128,
   then i + 64, ... 1. Not inner: chunk is GT__ROWS = 32, one lane, in order. Then, both, the values
   of the chunks combine pairwise: neighbours (0,1) (2,3) ..., a last odd one is carried up; repeat.
   With `soft` fold is SUM, one dim is folded, and all are floats. A row is the n values v of an
   outer index. It takes at most GT__SOFT_BYTES; on a GPU, if not inner, it has at most 1024 values.
   m = the maximum (LOGSUMEXP: 0 for an infinite one), s = the SUM of e = exp(v - m). The results e
   / s, or (v - m) - log(s), go through pre.out, as a map's over pre.size; LOGSUMEXP's log(s) + m
   goes through `out`. */
enum { GT__LANES = 256 };
enum { GT__CHUNK = 4096 };
enum { GT__ROWS = 32 };
enum { GT__SOFT_BYTES = 131072 };
enum { GT__PARTIAL = 16 }; /* bytes of a value and an index */
enum { GT__SOFTMAX = 1, GT__LOG_SOFTMAX, GT__LOGSUMEXP };
enum { GT__FOLD_SUM, GT__FOLD_PROD, GT__FOLD_MAX, GT__FOLD_MIN, GT__FOLD_ARGMAX, GT__FOLD_ARGMIN };
enum { GT__DIVIDE = 1, GT__ROOT }; /* then: value / divisor, then sqrt */
typedef struct {
  gt__map_args pre;
  int32_t fold, inner, n_kept, finish, soft; /* soft: 0 is an ordinary fold */
  int32_t truths;                            /* a maximum or minimum of zeros and ones */
  int64_t outer, n, chunk, n_chunk;
  gt__num divisor;
  gt__operand out;
} gt__reduce_args;
/* C(batch, M, N) = A(batch, M, K) x B(batch, K, N), then post.program over C: post.size is the
   batch dims (n_batch of them), M, N; input 0 is the product, out and the other inputs have that
   shape. a and b have strides along the batch dims only. K may be 0: the product is then 0.
   `compute`, of sums, is post.program.compute too. */
typedef struct {
  int64_t m, n, k, batch; /* batch: product of the batch sizes */
  int64_t a_row, a_col, b_row, b_col;
  int32_t n_batch, compute, precision; /* precision: gt_precision, of float32 */
  gt__operand a, b;
  gt__map_args post;
} gt__matmul_args;
/* The order of each of `rows` rows of n elements: the positions, int64, of the first `keep`, by
   gt__order_key and then by the position. x and out are contiguous. */
enum { GT__RISING, GT__FALLING, GT__NONZERO };
typedef struct {
  int64_t rows, n, keep;
  int32_t how, bits; /* keys differ in no others than the lowest `bits` */
  gt__operand x, out;
  void *scratch;
} gt__order_args;
/* GT__BYTES: `bytes` from src to dst, both contiguous, on any devices (the index of each is its
   CUDA device, or -1 for host memory). GT__ELEMENTS: dst and src on one device, of one dtype, with
   any strides along size; with index.data set, index has strides along size, too, and an element of
   the source is as many times gather_stride further on as its entry of the index says, which must
   be in 0..gather_size-1: others give 0 and set *fault. Without an index, gather_size is 1. */
enum { GT__BYTES, GT__ELEMENTS };
typedef struct {
  int32_t kind, dst_index, src_index, ndim, fits_int;
  int64_t bytes, gather_size, gather_stride, count, size[GT_MAX_DIMS];
  gt__operand dst, src, index; /* index: GT_INT32 or GT_INT64 */
  int32_t *fault;              /* host-visible word, or NULL */
} gt__copy_args;
/* Running folds of the n elements along dim `dim` of pre.size, in each of outer x inner rows:
   element (o, k, i) has logical index (o*n + k)*inner + i, pre.program makes its value, and the
   fold of it with all before it goes through pre.out.
   THE SCAN, a function of k alone, is what makes the bits the same everywhere. A row is cut into
   runs of 16 elements, these into runs of 16 runs, and so on. Each level folds what stands in front
   of the element in its run there: whole runs of the level below, in order, from the identity on;
   the lowest level's elements up to this one itself. The levels are folded from the highest down:
   element 283 = 1*256 + 1*16 + 11 of a sum is (s[0..255] + s[256..271]) + s[272..283]. */
enum { GT__RUN = 16 };
enum { GT__LEVELS = 17 }; /* 16^15 is 2^60; and one in front */
typedef struct {
  gt__map_args pre;
  int32_t fold, dim;
  int64_t outer, n, inner;
} gt__scan_args;
/* Folds src into out. The first n_index dims of `size` count the n positions of the index. The
   first of them is the dim that the index is for: each of its coordinates has `inner` positions.
   The other dims count the `rest`, elements that go with each position. src and out have strides
   along all dims, but out none along the first: there the index names one of `entries`, `pitch`
   elements apart, and one out of range sets *fault. So there are entries * inner places. What goes
   to one is folded, in the order of the positions, by THE PLAN of a reduction that is not inner;
   then, with include_self, the result is fold(old value, that). */
typedef struct {
  int32_t fold, include_self, compute, n_index, ndim;
  int64_t n, inner, rest, entries, pitch, size[GT_MAX_DIMS];
  gt__operand out, src, index; /* index: GT_INT32 or GT_INT64, without strides along the rest */
  int32_t *fault;              /* host-visible word, or NULL */
  void *scratch;
} gt__scatter_args;
/* The kinds of operation that have ways; a graph's launch; and a function of the program's. */
enum {
  GT__COPY,
  GT__MAP,
  GT__REDUCE,
  GT__MATMUL,
  GT__SCAN,
  GT__ORDER,
  GT__SCATTER,
  GT__KINDS,
  GT__REPLAY = GT__KINDS,
  GT__FUNCTION
};
/* Memory that is touched: `count` runs of `run` bytes, `pitch` bytes apart. A contiguous range is
   one run, a block of columns has a run for each row. Where there are more levels the region is
   larger than what is touched, and not exact. */
typedef struct {
  uintptr_t begin;
  int64_t run, pitch, count;
  int exact; /* or 0; negative: elements share memory, or may */
} gt__region;
typedef struct {
  struct gt_storage *storage;
  gt__region where;
  int reads, writes;
} gt__access;
enum { GT__TOUCH = GT__INPUTS + 4 }; /* accesses of an operation, at most */
/* A way is one method of doing one primitive, and knows all that is special about it. Each back end
   has for each primitive a table of ways, the fastest first; the last one, "plain", takes every
   operation. gt__submit plans an operation once: it asks the ways in their order until one takes
   it, and keeps the way and its plan in the operation. GPUTENSOR_WAYS in the environment, names
   between commas, asks these ways alone, in that order, and then the last one. */
struct gt__op;
struct gt__record;
typedef struct gt__way {
  const char *name;
  int (*plan)(
      struct gt__op *op); /* 1: takes op, and has set op->scratch and op->plan; 0: does not */
  int (*run)(const struct gt__op *op, void *queue); /* starts it; 0 or the back end's error code */
  const char *gain;                                 /* what was measured, on what, and when */
} gt__way;
enum { GT__PLAN_WORDS = 896 };
typedef struct gt__op {
  uint8_t kind;
  gt_device device;            /* where it runs */
  const char *text;            /* the function's name, for messages */
  uint64_t number;             /* on its stream */
  gt__access touch[GT__TOUCH]; /* n_touch of them; the first one is the output */
  int n_touch;
  union {
    gt__copy_args copy;
    gt__map_args map;
    gt__reduce_args reduce;
    gt__matmul_args matmul;
    gt__scan_args scan;
    gt__order_args order;
    gt__scatter_args scatter;
    struct gt_graph *graph; /* GT__REPLAY: it has the accesses, in place of touch */
    struct {
      void (*function)(void *);
      void *argument;
    } call; /* GT__FUNCTION */
  } u;
  struct gt__record *record; /* of a trace, or NULL */
  const gt__way *way;
  size_t scratch;                /* bytes that the way asks for; see gt__map_args */
  size_t plan_bytes;             /* of `plan` that are in use */
  uint64_t plan[GT__PLAN_WORDS]; /* the way's own */
} gt__op;
/* What gputensor_kernels.cu says of itself; a header that expects anything else refuses it. The
   layout is a number that rises with every change of what the two files share. */
enum { GT__LAYOUT = 11 };
typedef struct {
  char version[16];
  int layout, size_op;
  int n_arch, arch[16]; /* 75, 80, ... as built in; Hopper's own features: 900 + 'a' */
} gt__build;
/* gputensor_kernels.cu defines these. The ways of a kind of operation, the last one of which takes
   all: their plans are made with the device current, their runs start work on `queue`, a
   cudaStream_t, and return a cudaError_t. Nothing there allocates or waits. */
GT__EXTERN const gt__way *gt__cuda_ways(int kind);
GT__EXTERN int gt__cuda_build(gt__build *build);
GT__EXTERN int gt__cuda_warmup(void); /* loads every kernel */
GT__FN int64_t gt__offset(int64_t i, int ndim, const int64_t *size, const int64_t *stride) {
  int64_t offset = 0;
  for (int d = ndim - 1; d > 0; d--) {
    const int64_t q = i / size[d];
    offset += (i - q * size[d]) * stride[d];
    i = q;
  }
  return ndim > 0 ? offset + i * stride[0] : 0;
}
/* A number that is larger for what is larger, of an element with these bits. -0 is 0, NaN above
   all. The sign bit of integers is flipped; floats count from it up and down by their magnitude. */
GT__ASSERT(GT_DTYPES == 10, "gt__rising_key has the integers without a sign, and floats' digits");
GT__FN uint64_t gt__rising_key(const gt__operand *x, uint64_t bits) {
  const uint64_t sign = (uint64_t)1 << ((8 << x->size_log2) - 1);
  const uint64_t magnitude = bits & (sign - 1);
  int digits = 52; /* of the mantissa */
  if (x->dtype == GT_BOOL) return bits != 0;
  if (x->dtype == GT_UINT8) return bits;
  if (x->dtype < GT_FLOAT16) return bits ^ sign;
  if (x->dtype == GT_FLOAT16) digits = 10;
  if (x->dtype == GT_BFLOAT16) digits = 7;
  if (x->dtype == GT_FLOAT32) digits = 23;
  if (magnitude > sign - ((uint64_t)1 << digits)) return sign | (sign - 1);
  return bits & sign ? sign - magnitude : sign + magnitude;
}
GT__FN uint64_t gt__order_key(const gt__order_args *a, uint64_t bits) {
  const uint64_t key = gt__rising_key(&a->x, bits);
  if (a->how == GT__NONZERO) return key == gt__rising_key(&a->x, 0);
  return a->how == GT__FALLING ? ~key : key;
}
/* The place to which position p goes, or -1. */
GT__FN int64_t gt__scatter_place(const gt__scatter_args *a, int64_t p) {
  const int64_t at = gt__offset(p, a->n_index, a->size, a->index.stride);
  const int32_t *entry_32 = (const int32_t *)a->index.data;
  const int64_t *entry_64 = (const int64_t *)a->index.data;
  const int64_t k = a->index.dtype == GT_INT32 ? entry_32[at] : entry_64[at];
  if (k < 0 || k >= a->entries) return -1;
  return a->inner > 1 ? k * a->inner + p % a->inner : k;
}
/* How far element e of the rest lies behind the first: at position p in x, at a place in out. */
GT__FN int64_t gt__scatter_from(const gt__scatter_args *a, const gt__operand *x, int64_t p,
                                int64_t e) {
  const int n = a->n_index;
  const int64_t along = gt__offset(e, a->ndim - n, a->size + n, x->stride + n);
  return along + gt__offset(p, n, a->size, x->stride);
}
GT__FN int64_t gt__scatter_to(const gt__scatter_args *a, int64_t place, int64_t e) {
  const int64_t k = a->inner > 1 ? place / a->inner : place;
  return k * a->pitch + gt__scatter_from(a, &a->out, place - k * a->inner, e);
}
GT__FN float gt__random_f32(int op, uint64_t seed, uint64_t counter) {
  uint32_t w[4];
  gt__philox(seed, counter, w);
  if (op == GT__NORMAL) return gt__normal_f32(w[0], w[1]);
  return GT__MUL((float)(int32_t)(w[0] >> 8), 0x1p-24f);
}
GT__FN double gt__random_f64(int op, uint64_t seed, uint64_t counter) {
  uint32_t w[4];
  gt__philox(seed, counter, w);
  return op == GT__NORMAL ? gt__normal_f64(w) : GT__MUL((double)gt__53_bits(w), 0x1p-53);
}
/* 64 random bits scaled to 0 <= r < range: the high word of their product (range 0: all 2^64). */
GT__FN int64_t gt__random_i64(uint64_t seed, uint64_t counter, int64_t low, int64_t range) {
  uint32_t w[4];
  gt__philox(seed, counter, w);
  const uint64_t bits = (uint64_t)w[0] << 32 | w[1];
  return gt__add_i64(low, (int64_t)(range ? gt__high_u64(bits, (uint64_t)range) : bits));
}
#endif
#if GT__EXCERPT == GT__FOLDS
/* A fold's identity and step. Of equals argmax and argmin take the lowest index; a NaN wins. */
GT__FN T F(identity)(int fold) {
  if (fold == GT__FOLD_PROD) return (T)1;
  if (fold == GT__FOLD_MAX || fold == GT__FOLD_ARGMAX) return LOWEST;
  return fold == GT__FOLD_MIN || fold == GT__FOLD_ARGMIN ? HIGHEST : (T)0;
}
GT__FN T F(fold)(int fold, T a, T b) {
  switch (fold) {
    case GT__FOLD_SUM: return F(add)(a, b);
    case GT__FOLD_PROD: return F(mul)(a, b);
    case GT__FOLD_MAX: return F(maximum)(a, b);
    default: return F(minimum)(a, b);
  }
}
/* THE SCAN's next element of a row, number k: returns the fold up to it. level[i] is about the run
   of 16^(i + 1) elements in which it stands: [0] is the fold of all before that run, [1] that of
   the run so far. level[-1][0] becomes the fold of all before the next element. */
GT__FN T F(scan)(int fold, T (*level)[2], int64_t k, T x) {
  T(*top)[2] = level;
  T value = x, with = x;
  for (;; top++, k /= GT__RUN) {
    x = F(fold)(fold, k % GT__RUN ? (*top)[1] : F(identity)(fold), x);
    with = F(fold)(fold, k < GT__RUN ? F(identity)(fold) : **top, x);
    (*top)[1] = x;
    if (top == level) value = with;
    if (k % GT__RUN < GT__RUN - 1) break;
  }
  for (; top >= level; top--) top[-1][0] = with;
  return value;
}
#undef GT__TYPE
#endif
#if GT__EXCERPT == GT__MAIN
#undef GT__EXCERPT
#define GT__EXCERPT GT__FOLDS
#define GT__TYPE 32
#include GPUTENSOR_FILE
#define GT__TYPE 64
#include GPUTENSOR_FILE
#define GT__TYPE 0
#include GPUTENSOR_FILE
#undef GT__EXCERPT
#define GT__EXCERPT GT__MAIN
#ifdef GPUTENSOR_IMPLEMENTATION
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#ifdef _OPENMP
#include <omp.h>
#define GT__OPENMP ", OpenMP"
#define GT__CORES omp_get_max_threads()
#else
#define GT__OPENMP ", no OpenMP: one CPU thread"
#ifdef _WIN32
#define GT__CORES pthread_num_processors_np()
#else
#define GT__CORES (int)sysconf(_SC_NPROCESSORS_ONLN)
#endif
#endif

#ifdef GPUTENSOR_NO_SIMD
#error "GPUTENSOR_NO_SIMD is gone: GPUTENSOR_PLAIN compiles the plain ways alone"
#endif
#ifdef GPUTENSOR_NO_TENSOR_CORES
#error "GPUTENSOR_NO_TENSOR_CORES is gone: GPUTENSOR_WAYS in the environment names ways to take"
#endif
#if defined(GPUTENSOR_PLAIN) && defined(GPUTENSOR_DISPATCH)
#error "GPUTENSOR_PLAIN has no instruction sets, of which GPUTENSOR_DISPATCH would choose: take one"
#endif
#if defined(GPUTENSOR_CUDA) && defined(GPUTENSOR_NO_CUDA)
#error "GPUTENSOR_CUDA and GPUTENSOR_NO_CUDA are both defined: choose one"
#elif defined(GPUTENSOR_CUDA) || (defined(__NVCC__) && !defined(GPUTENSOR_NO_CUDA))
#define GT__CUDA
#endif
#if !defined(GPUTENSOR_MALLOC) && !defined(GPUTENSOR_REALLOC) && !defined(GPUTENSOR_FREE)
#define GPUTENSOR_MALLOC(n) malloc(n)
#define GPUTENSOR_REALLOC(p, n) realloc(p, n)
#define GPUTENSOR_FREE(p) free(p)
#elif !defined(GPUTENSOR_MALLOC) || !defined(GPUTENSOR_REALLOC) || !defined(GPUTENSOR_FREE)
#error "define all of GPUTENSOR_MALLOC, GPUTENSOR_REALLOC and GPUTENSOR_FREE, or none"
#endif
#ifdef __MINGW_PRINTF_FORMAT /* "printf" there has not heard of %zu */
#define GT__PRINTF(text, first) __attribute__((format(__MINGW_PRINTF_FORMAT, text, first)))
#else
#define GT__PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif
enum { GT__NOT_YET = -1 };
enum { GT__GPUS = 32 };
enum { GT__ASK, GT__WAIT, GT__WAIT_ONLY }; /* ..., and leave an error for those who ask */
/* Whose memory an address is: the host's own, pinned memory of the host, a device's, or managed. */
enum { GT__OF_HOST, GT__PINNED, GT__OF_DEVICE, GT__OF_ALL };
typedef struct {
  int kind, index;
} gt__owner;
/* A back end is a table of functions. `index` is the device's number; a queue is the back end's own
   (a cudaStream_t; on the CPU a thread, or NULL: the caller does the work), an event likewise. Each
   returns 0 or an error code, which classify and text explain; run starts the work of a queue.
   >>device-code says where a new one is entered. */
typedef struct gt__backend {
  int (*properties)(int index, gt_properties *out);
  int (*memory)(int index, size_t *reserved, size_t *free_bytes, size_t *total);
  int (*alloc)(int index, void *queue, size_t bytes, int pinned, void **out);
  int (*release)(int index, void *queue, void *p, int pinned);
  int (*trim)(int index);           /* gives back what is kept for later; or NULL */
  const gt__way *(*ways)(int kind); /* the last one takes every operation */
  int (*plan)(gt__op *op);          /* chooses the way */
  int (*run)(int index, void *queue, const gt__op *op);
  int (*queue_create)(int index, int priority, void **queue);
  int (*queue_destroy)(int index, void *queue);
  int (*queue_ask)(int index, void *queue, int how); /* 0 all done, else a code, or GT__NOT_YET */
  int (*queue_wait_event)(int index, void *queue, void *event);
  int (*event_destroy)(int index, void *event);
  int (*event_record)(int index, void **event, void *queue); /* makes one, with times, of a NULL */
  int (*event_ask)(int index, void *event, int wait);
  int (*event_elapsed)(int index, void *start, void *end, float *ms);
  gt_status (*classify)(int code);
  const char *(*text)(int code);
  int (*owner)(const void *p, int index, gt__owner *out); /* index: a device's, or -1, the host's */
  const char *(*info)(void);                              /* for gt_build_info */
  void (*after_fork)(void);                               /* in the child */
  void (*shutdown)(void);
  const gt__way *replay, *call; /* of a graph; of a function of the program's */
  /* of GPUs; else NULL: begins to record what goes to a queue; or, with `graph`, ends that */
  int (*capture)(int index, void *queue, void **graph);
  int (*end_graph)(int index, void *graph);
  int (*captured)(int index, void *queue); /* GT__CAPTURED while the program records it itself */
  int (*reaches)(int index, int to);       /* its kernels, our memory of another */
  /* of queues that are threads of the host; else NULL */
  int (*queue_wait_other)(void *queue, const struct gt__backend *other, int index, void *others);
  uint64_t (*queue_progress)(void *queue); /* the last operation done; UINT64_MAX: all are */
  void (*queue_room)(void *queue);         /* waits while it is full */
  /* of the host; else NULL */
  int (*threads)(int n);                                          /* sets it, if n > 0 */
  void (*move)(char *to, char *from, int64_t bytes);              /* by several threads */
  void (*element)(gt_dtype dtype, const void *p, gt__num *value); /* i or, if floating, f */
} gt__backend;
/* After fork the calling thread alone goes on: OpenMP's, those of streams and CUDA do not. */
static int gt__forked;
/* The floating-point mode. A program linked with -Ofast takes subnormal numbers for 0, others round
   upwards or trap. Who computes, converts, reads or prints numbers here does so in the usual mode,
   and then gives back the caller's, though not its flags: on x87, one that is set would trap. */
#ifdef __SSE__
typedef struct {
  uint32_t sse;
  uint16_t x87;
} gt__mode;
static const gt__mode gt__usual = {0x1f80, 0x37f};
#define GT__USUAL &gt__usual
#define GT__GET_MODE(m) \
  __asm__ volatile("stmxcsr %0" : "=m"((m)->sse)); \
  __asm__ volatile("fnstcw %0" : "=m"((m)->x87))
#define GT__SET_MODE(m) \
  __asm__ volatile("ldmxcsr %0\n\tfnclex\n\tfldcw %1" : : "m"((m)->sse), "m"((m)->x87) : "memory")
#define GT__IS_USUAL(m) (((m)->sse & 0xffc0) == 0x1f80 && ((m)->x87 & 0xf3f) == 0x33f)
#elif defined(__aarch64__)
typedef uint64_t gt__mode;
static const gt__mode gt__usual = 0;
#define GT__USUAL &gt__usual
#define GT__GET_MODE(m) __asm__ volatile("mrs %0, fpcr" : "=r"(*(m)))
#define GT__SET_MODE(m) __asm__ volatile("msr fpcr, %0" : : "r"(*(m)) : "memory")
#define GT__IS_USUAL(m) (*(m) == 0)
#else
#include <fenv.h>
typedef fenv_t gt__mode;
#define GT__USUAL FE_DFL_ENV
#define GT__GET_MODE(m) fegetenv(m)
#define GT__SET_MODE(m) fesetenv(m)
#define GT__IS_USUAL(m) 0
#endif
typedef struct {
  gt__mode mode;
  int foreign;
} gt__strict;
static inline gt__strict gt__strict_begin(void) {
  gt__strict s;
  GT__GET_MODE(&s.mode);
  s.foreign = !GT__IS_USUAL(&s.mode);
  if (s.foreign) GT__SET_MODE(GT__USUAL);
  return s;
}
static inline void gt__strict_end(gt__strict *s) {
  if (s->foreign) GT__SET_MODE(&s->mode);
}
#define GT__STRICT \
  gt__strict gt__mode_before __attribute__((cleanup(gt__strict_end), unused)) = gt__strict_begin()
/* Compilers do not know of the mode: what uses x is not done before this point. */
#define GT__FENCE(x) __asm__ volatile("" : "+m"(x))

/* ---- >>system -----------------------------------------------------------------------------------
   What the compiler and the operating system give, in their dialects; the codes of the host's
   errors; and a few small functions. */
/* Which loops are made. WITH_AVX512: 1, the products alone; 2, all. */
#ifndef __x86_64__
#define GT__WITH_BASELINE 1
#define GT__WITH_AVX2 0
#define GT__WITH_AVX512 0
#else
#define GT__WITH_BASELINE 0
#ifdef GPUTENSOR_DISPATCH
#define GT__WITH_AVX2 1
#define GT__WITH_AVX512 2
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
#define GT__WITH_AVX2 0
#define GT__WITH_AVX512 2
#else
#define GT__WITH_AVX2 1
#if defined(__OPTIMIZE__) && !(defined(__AVX2__) && defined(__FMA__))
#define GT__WITH_AVX512 1
#else
#define GT__WITH_AVX512 0
#endif
#endif
#endif
#if defined(__x86_64__) && defined(__GLIBC__) && GT__WITH_AVX512 && !defined(GPUTENSOR_PLAIN) && \
    (__GNUC__ > 10 || __clang_major__ > 11) && \
    (defined(GPUTENSOR_DISPATCH) || (defined(__AMX_TILE__) && defined(__AMX_BF16__)))
#include <cpuid.h>
#include <sys/syscall.h>
__BEGIN_DECLS
long syscall(long number, ...) __THROW; /* which strict C hides */
__END_DECLS
#define GT__AMX __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq")))
#else
#define gt__cpu_has_amx() 0
#endif
#ifndef _WIN32
#include <sys/mman.h>
#endif
#ifdef GPUTENSOR_NVTX
#include <nvtx3/nvToolsExt.h>
#endif
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifndef _WIN32
#include <signal.h>
#ifdef SIG_SETMASK
#define GT__SET_SIGNALS SIG_SETMASK
#elif defined(__linux__) && !defined(__mips__) && !defined(__sparc__) && !defined(__alpha__)
#define GT__SET_SIGNALS 2
#endif
#if defined(GT__SET_SIGNALS) && defined(__linux__) && !defined(__cplusplus)
int sigfillset(sigset_t *set); /* strict C, or an old POSIX that was asked for, hides these */
int sigdelset(sigset_t *set, int number);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
#endif
#ifndef __cplusplus /* likewise */
ssize_t readlink(const char *path, char *text, size_t size);
int fchown(int file, uid_t owner, gid_t group);
int fchmod(int file, mode_t mode);
#endif
#endif
#if defined(__NVCC__) && defined(__CUDACC__) /* the host's compiler knows the loops' pragmas */
#pragma nv_diag_suppress 550, 1675
#endif
#ifdef __clang__
/* assume_safety says "one element does not touch another", but also "warn if not vectorised" */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#define GT__COMPILER ", clang " __clang_version__
#define GT__IVDEP _Pragma("clang loop vectorize(assume_safety)")
#define GT__LIGHTLY(contract)
#define GT__TIGHT
#define GT__FOLDING(jumps)
#define GT__RARELY
#define GT__FUSED
#define GT__FUSE _Pragma("clang fp contract(fast)")
#define GT__UNROLL _Pragma("clang loop unroll(full)")
#define GT__UNROLL_4 _Pragma("clang loop unroll_count(4)")
#define GT__SHUFFLE(x, y, mask, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define GT__COMPILER ", gcc " __VERSION__
#define GT__IVDEP _Pragma("GCC ivdep")
/* The cheapest passes that make vectors of loops whose bodies are straight lines; those of -O3 take
   three times as long. Without expensive-optimizations no multiply-adds are fused and no vzeroupper
   is put behind AVX; thread-jumps would make branches of what is to be selected. FOLDING: with
   selects in place of branches that nobody can foresee; short rows gain by thread-jumps. TIGHT: for
   sorting. FUSED: for what is written with vectors, the kernels of matmul above all. */
#define GT__VECTOR_PASSES(jumps) \
  "O1", "expensive-optimizations", "tree-loop-vectorize", "vect-cost-model=dynamic", \
      jumps "thread-jumps", "no-tree-dominator-opts", "no-tree-dse", "no-tree-sink", \
      "no-math-errno", "no-trapping-math"
#define GT__LIGHTLY(contract) \
  __attribute__((optimize(GT__VECTOR_PASSES("no-"), "no-if-conversion", "no-if-conversion2", \
                          "fp-contract=" contract)))
#define GT__RARELY \
  __attribute__((optimize("Og", "no-math-errno", "no-trapping-math", "fp-contract=off")))
#ifdef __OPTIMIZE__
#define GT__FOLDING(jumps) __attribute__((optimize(GT__VECTOR_PASSES(jumps), "fp-contract=off")))
#else
#define GT__FOLDING(jumps) GT__RARELY
#endif
#define GT__TIGHT __attribute__((optimize("O2", "no-tree-vectorize")))
#define GT__FUSED \
  __attribute__((optimize("O1", "expensive-optimizations", "align-loops=64", "no-math-errno", \
                          "no-trapping-math", "fp-contract=fast")))
#define GT__FUSE
#define GT__UNROLL _Pragma("GCC unroll 16")
#define GT__UNROLL_4 _Pragma("GCC unroll 4")
#define GT__SHUFFLE(x, y, mask, ...) __builtin_shuffle(x, y, mask)
/* gcc decides about errno before it sees the options above; const says that there is none */
float __builtin_sqrtf(float) __attribute__((const));
double __builtin_sqrt(double) __attribute__((const));
#endif
/* Few passes do from here on: an -O2 of everything would double the time to compile, for a tenth of
   a call. The host's code takes those of Og and what a call gains by or gets smaller by; what is
   rare is to be smaller still, or takes none of clang's; and what walks over data takes O1, without
   crossjumping, which doubles the time of an addition of 64 MB. Flags add up: what an inner list is
   to be without it names with "no-". (No O0 in these: gcc 12 makes no vectors behind it. What an
   initialiser leaves to be 0, if that is more than 64 bytes, is set by `rep stos`, and takes 30 ns
   to begin.) Loops over data ask for more by the names above. */
#if defined(__OPTIMIZE__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC optimize("Og", "inline-small-functions", "inline-functions-called-once", \
                     "reorder-blocks", "crossjumping", "align-functions", "align-jumps=1", \
                     "tree-dse", "tree-sra", "no-tree-dominator-opts")
#define GT__RARE_BEGINS \
  _Pragma("GCC push_options") \
      _Pragma("GCC optimize(\"peephole2\", \"align-functions=1\", \"align-loops=1\")")
#define GT__FLAGS_END _Pragma("GCC pop_options")
#define GT__DATA_BEGINS \
  _Pragma("GCC push_options") \
      _Pragma("GCC optimize(\"O1\", \"inline-small-functions\", \"store-merging\")") \
          _Pragma("GCC optimize(\"no-crossjumping\")")
#else
#ifdef __clang__
#define GT__RARE_BEGINS _Pragma("clang optimize off")
#define GT__FLAGS_END _Pragma("clang optimize on")
#else
#define GT__RARE_BEGINS
#define GT__FLAGS_END
#endif
#define GT__DATA_BEGINS
#endif
#define GT__INSIDE static inline __attribute__((always_inline, unused))
/* Small rather than fast. Code that calls such a function is taken to run seldom, too. */
#define GT__COLD __attribute__((cold))
enum { GT__BLOCK = 512 }; /* values of the CPU's loops, at a time */
enum { GT__GROUP = 64 };  /* values, of which loops take whole multiples */
/* Codes that are none of CUDA's, so that they tell whose they are wherever they come by. */
enum {
  GT__CPU_CODES = 40000,
  GT__CPU_NO_MEMORY,
  GT__CPU_NO_THREAD,
  GT__CPU_OTHER,
  GT__CPU_FORKED,
  GT__CPU_NO_FMA,
  GT__CPU_LACKS,
  GT__CPU_CODES_END
};
static int64_t gt__count(int ndim, const int64_t *size) {
  int64_t n = 1;
  for (int d = 0; d < ndim; d++) n *= size[d];
  return n;
}
static void gt__swap(int64_t *a, int64_t *b) {
  const int64_t t = *a;
  *a = *b;
  *b = t;
}
/* Holds a lock to the end of the block. */
static void gt__let_go(pthread_mutex_t **lock) { pthread_mutex_unlock(*lock); }
#define GT__HOLD(lock) \
  pthread_mutex_t *gt__held __attribute__((cleanup(gt__let_go))) = &(lock); \
  pthread_mutex_lock(gt__held)
GT__INSIDE int64_t gt__least(int64_t a, int64_t b) { return a < b ? a : b; }
GT__INSIDE int64_t gt__div_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }
GT__INSIDE int64_t gt__rounded(int64_t n, int64_t unit) { return gt__div_up(n, unit) * unit; }
static int gt__finds_index(int fold) { return fold == GT__FOLD_ARGMAX || fold == GT__FOLD_ARGMIN; }
enum { GT__MOST_THREADS = 1024 };

/* ---- >>how-it-works -----------------------------------------------------------------------------
   A call on its way to a processor. Each step stands in the section that is named beside it, and in
   the file what it uses stands in front of it:

     gt_add  gt_eval  gt_full    gt_sum         gt_matmul       gt_copy  gt_load_npy
        |               |           |              |              |          |
        v               v           v              v              v          v
     >>operations-code  >>making  >>folding    >>multiplying   >>moving    >>npy
        |               |           |              |              |          |
      +-------------------------------------------------------+   |          |
      |  a formula: a text (>>parser) or a call becomes a     |   |          |
      |  tree of nodes; each gets a dtype; what computes in   |   |          |
      |  one type becomes a program (>>compiler)              |   |          |
      +-------------------------------------------------------+   |          |
        v               v           v              v              v          v
      +------------------- one gt__op: which of the primitives, on which ------------------------+
      |  operands (>>operands: address, dtype, strides), and the memory that it touches          |
      +-------------------------------------------+----------------------------------------------+
                                                  v
     gt__submit (>>submit)   plan    the first way of the back end that takes it (>>ways)
                             order   behind what uses the same memory: >>order compares regions
                                     (>>regions) with the uses in the storages' ledgers
                                     (>>ledgers), and lets the stream wait for others (>>waiting)
                             run     on the stream's queue; without one the caller does the work
                             note    the new use in the ledgers
                                                  |
                       gt__backend, a table of functions for each kind of device
                              /                                      \
     the host: >>cpu-threads, >>cpu-plain, >>cpu-streams             GPUs: >>cuda-backend, and the
     and faster ways: "==== Part II"                                kernels in gputensor_kernels.cu

   THE LOCK. gt__mutex guards gt__all, the streams, the ledgers and the lists of handles; gt__me
   belongs to its thread and needs none.
     - A function that takes it says GT__HOLD or gt__lock. The others of >>ledgers, >>order and
       >>waiting, and those that gt__submit calls behind its gt__lock, are called with it.
     - A function whose name ends in _unlocks may give it up and take it again: what its caller read
       before it has to be read again. gt__storage_end_unlocks alone returns without it. Meanwhile a
       stream that is used is held (gt_stream's `held`), and memory that the caller's thread works
       on is claimed (gt__claim).
     - With the lock no message is made: gt__fail calls the program's handler, which may call us.
     - gt__failures_lock, of failed writes, and the CPU back end's own lock come after it.

   A TRACE. What gt__submit starts, what waits and what is allocated is noted by >>trace-code while
   one is on; the measured times become lanes of slices, drawn and saved by >>timeline. A
   new kind of record takes a constant GT__TRACED_... in >>state, a function in >>trace-code that
   makes it, and, if it is to be seen, a lane in >>timeline.

   A GRAPH. While a thread records one, gt__submit hands its planned operations to >>graph-code in
   place of running them. A launch is one operation, GT__REPLAY, which takes the way drawn above.

   ONE CALL. gt_add(NULL, a, b) of two float32 matrices on the CPU, down to the loop:

     gt_add                       made by GT__DEFINE from a line of THE TABLE
     gt__apply_op                 refuses NULL; makes the tree: operand 0, operand 1, add
       gt__run_kept               by the program of the call before, if that was of this kind; else
       gt__run_tree               makes one:
         gt__place_tree           the device, and the shape to which a and b are broadcast
         gt__annotate             the dtype of each node
         gt__begin                the result's tensor, or a temporary if it overlaps an operand
         gt__prepare              the tree becomes a program: LOAD a, add b
         gt__launch_map           the operation: operands, of as few dims as there can be
           gt__submit             plan, order, run, note: as drawn above. The way is "vectors"
             gt__cpu_run          at once; on a created stream the operation is queued
               gt__cpu_run_map    how many threads
                 gt__cpu_split    gives them blocks of 512 elements
                   gt__cpu_block  fetches, computes and stores one
                     step         the loop over its elements, made from that line of THE TABLE
         gt__end                  moves the temporary to its place; after an error, frees

   On a GPU gt__cuda_run calls the way's launcher instead, which stands in gputensor_kernels.cu.

   WHERE TO LOOK
     a wrong result      With GPUTENSOR_WAYS=plain in the environment only the plain ways are taken.
                         If it is right then, name one faster way after the other. If not, it is
                         the formula (THE TABLE, >>math), the operands (gt__bind), the program
                         (>>compiler) or the plain way: >>cpu-plain, Part I of the .cu.
     CPU, GPU differ     But for products they may not. Which one differs from its own plain way? If
                         none does: sums and scans go by THE PLAN and THE SCAN (>>machine), 16-bit
                         floats are folded as float32 and rounded once, where they are stored.
     a wrong copy        gt__copy_into chooses how, by devices, dtypes and strides: see >>moving.
     on one stream only  gt_set_stream_safety(GT_REPORT) tells of races; then do the uses meet
                         (gt__meeting), are they noted (gt__note), and is one a product that began
                         too early (gt__earliness)? A stream has scratch of its own, too.
     a wait too short    The host waits for memory in gt__order_host, for a stream in
                         gt__await_unlocks; gt__knows says what need not be waited for.
     old values          A graph keeps numbers, those that gt__set_operand read in its recording;
                         and addresses, in the operations and plans that gt__graph_add copied,
                         with a handle on each storage (gt__graph_touch). Memory that it uses
                         twice is given out by gt__graph_memory.
     a leak              gt_report_leaks lists the handles alive. What gt__begin made gt__end frees
                         if the call fails; what has GT__LOCAL is freed at the end of its block.
     a message           All are made by gt__fail, behind the name of the function that was called.

   WORDS
     primitive   copy, map, reduce, matmul, scan, order or scatter
     operation   a primitive and what it works on, gt__op; of THE TABLE, a function of numbers
     way         one implementation of a primitive
     plan        what a way decided about an operation; THE PLAN is the order of a fold's additions
     text        a formula
     tree        a formula with dtypes
     program     what a back end runs for each element
     slot        of a program, an operand, constant or temporary; of a stream, its place in gt__all
     fold        a reduction of any kind
     chunk       elements of a fold, or of K, that follow each other
     piece       of a float32, one of the bfloat16 numbers whose sum it is
     lane        of a fold, one of its partial results; of a graph, a stream on which it is
                 captured; of a trace, a line of the picture
     item        what a thread takes of an operation at a time; what is in the queue of a CPU stream
     order       which operation comes behind which (>>order); the primitive sorts positions
     point       a stream and the number of an operation of it
     use         a point, and the memory that it reads or writes
     ledger      the uses of a storage that need not be over
     clock       for each stream, the number up to which it is known to be done
     mark        an event of a stream that covers its first operations
     claim       memory that a thread works on with the lock given up
     bin         a stream of ours on which memory is freed
     fresh       not written or used before
     host        the processor that runs the program, and its memory */

/* ---- >>state -----------------------------------------------------------------------------------
   One lock guards the lists of handles and streams and every call that enqueues work: with finer
   locks another thread could record an event before the launch that it should cover. What belongs
   to a thread is fixed in size and owns no memory.

   ORDER. A stream numbers its operations; the pair (stream, number) is a point. A storage's ledger
   has the points that have used its memory, and which part of it. A stream knows of every other one
   up to which number it has waited for it, and so does the host (a vector clock: Fidge 1988,
   Mattern 1989). An operation compares the points that used the same memory with the clock of its
   stream: on one stream that is all. Only where a point is not reached yet, an event is recorded on
   the point's stream, at that moment, and waited for; it covers all that this stream holds by then
   and has waited for. Stream 1 has been given operation 1, which writes x, and 2; stream 2 reads x:

     x's ledger          (1, 1) writes
     stream 2's clock    stream 1: 0     so (1, 1) need not be over:
                                         an event on stream 1, behind 2; stream 2 waits for it
     stream 2's clock    stream 1: 2     and no operation of stream 2 waits for (1, 1) again */
enum { GT__RECENT = 4 }; /* operations whose names a stream keeps, for messages */
enum { GT__LATE = 8 };   /* regions that may still be written, see gt__earliness */
enum { GT__RACES = 32 }; /* messages of races that are kept */
typedef struct gt_storage gt__storage;
typedef const gt_tensor *const *gt__operands; /* of an expression: n of them */
#ifndef GT__GRAPH_LANES
#define GT__GRAPH_LANES 8 /* of streams of ours, see gt_graph; 1: in the order of the calls */
#endif
enum { GT__STREAMS = 256 }; /* of the caller, at a time; each device has two of ours besides */
enum { GT__SLOTS_OF_STREAMS = GT__STREAMS + 2 * (1 + GT__GPUS) + GT__GRAPH_LANES };
/* Codes beside the back ends': see gt__report. */
enum {
  GT__TOO_MANY = -2000,
  GT__LOST,
  GT__STREAM_FREED,
  GT__RECORDED,
  GT__CAPTURED,
  GT__UNWRITTEN
};
enum { GT__CLASSES = 48 }; /* of freed memory: 0, not pinned; else pinned, 2^class bytes */
typedef struct {
  uint64_t number;  /* 0: never */
  const char *text; /* the operation's name */
  int slot;         /* of the stream */
} gt__point;
typedef struct {
  uint64_t at[GT__SLOTS_OF_STREAMS];
} gt__clock;
typedef struct {
  char *begin, *end;
} gt__span; /* of memory */
struct gt_stream {
  gt_device device;
  int slot, name;          /* name: for messages; 0: not the caller's */
  void *queue, *mark;      /* NULL: the caller does its work; an event, made on first use */
  uint64_t number, marked; /* operations so far; how many of them the mark covers, if any */
  uint64_t recorded;       /* how many there were when an event was recorded last */
  int owned, freed, gone,
      shared;                /* gone: what it wrapped may not exist any more; shared: the caller
                                      has its native handle, so others may enqueue, too */
  gt__region late[GT__LATE]; /* see gt__earliness */
  gt__span scratch[2];       /* two, which its operations take alternately */
  int n_late, scratch_next, fresh; /* fresh: the scratch that is next was not there before */
  int held;                        /* threads that wait for it with the lock given up */
  unsigned n_recent;
  const char *recent[GT__RECENT];
  gt__clock seen; /* what of the other streams is waited for */
};
struct gt_event {
  gt_device device; /* GT_NO_DEVICE: never recorded */
  void *native;
  gt__point at;
  gt__clock seen;
  uint64_t graph; /* recorded in that one, on the stream of at.slot */
};
/* A use of memory by a stream, which need not be over. */
typedef struct {
  gt__point at;
  gt__region where;
  int writes;
} gt__use;
/* All uses of a storage's memory that may still be going on. Storages with memory in common, since
   it was wrapped, have one ledger for all of them, gt__all.aliases. */
enum { GT__FEW_USES = 4 };   /* in the ledger itself */
enum { GT__MANY_USES = 64 }; /* in memory of its own, at first */
typedef struct {
  int n, room;                      /* uses; how many fit into more */
  gt__use few[GT__FEW_USES], *more; /* more, if not NULL, is in place of few */
} gt__ledger;
/* Memory that an operation on a CPU stream should have written; but the operation failed. */
enum { GT__FAILURES = 64 };
typedef struct {
  gt__region where;
  int code;         /* the CPU back end's */
  const char *text; /* the operation's name */
} gt__failure;
/* What a thread does at this moment outside the lock, on its stack. */
typedef struct gt__claim {
  const gt__access *access;
  int n;
  struct gt__claim *next;
} gt__claim;
typedef struct {
  int slot, name;
} gt__choice; /* of a stream; name 0 is the default one */
struct gt_storage {
  void *data;
  size_t bytes;
  gt_device device;
  int64_t refs;
  int pinned;            /* host memory that a GPU may still be using when a copy returns */
  int pooled;            /* the class of pinned memory of ours, or 0 */
  int foreign, internal; /* not from our allocator; not the caller's */
  int constant;          /* foreign, and nothing may write to it */
  int written;           /* ever, by an operation */
  uint64_t graph;        /* serial of the graph in whose recording it was made, or 0 */
  int used;              /* operations in that graph's list, when it was used last */
  int last;              /* slot of the stream that used it last */
  int aliased;           /* others have the same memory: their common ledger is in place of own */
  gt__ledger own;        /* who has used it */
  void (*deleter)(void *data, void *context);
  void *context;
  gt__storage *next; /* in a list of memory that waits for its points */
};
/* A graph: a list of operations. The place of one in it counts from 1; 0 is none. For a GPU the
   list is captured on several streams of ours, its lanes, see >>graph-code. */
typedef struct {
  gt__op *op;                /* only as much of its plan as is used; NULL: stream waits for other */
  int stream, other;         /* slots of the program's streams */
  int seen[GT__GRAPH_LANES]; /* at its end, what is over in each lane: all up to that place */
  void *mark;                /* the event behind it, during the capture */
} gt__recorded;
struct gt_graph {
  gt_device device;
  uint64_t serial;
  gt_scope kept; /* a handle on each storage that it uses, so that freed tensors keep theirs */
  gt__recorded *list;
  gt__access *access; /* what a launch reads and writes: one for each storage; after gt_graph_end
                         only one for all that nobody else has */
  int n, n_access, n_use; /* n_use: how often its operations use a storage */
  void *native;           /* a GPU's executable graph */
};
static pthread_mutex_t gt__mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gt__failures_lock = PTHREAD_MUTEX_INITIALIZER; /* of gt__all.failure */
static pthread_cond_t gt__idle =
    PTHREAD_COND_INITIALIZER; /* a thread has done what it did outside */
static struct {
  gt_tensor *tensors;                    /* all handles alive */
  gt_stream *slot[GT__SLOTS_OF_STREAMS]; /* freed ones too, until their work is done */
  int top, streams;   /* slots that were ever used; the caller's streams in them */
  gt__claim *claims;  /* of all threads */
  gt__ledger aliases; /* of all storages whose memory others have, too */
  int failures;       /* these two are guarded by gt__failures_lock */
  gt__failure failure[GT__FAILURES];
  gt__clock done; /* the host's clock; a slot's next stream goes on counting there */
  int names;      /* given to streams so far */
  gt_stream fallback[1 + GT__GPUS], bin[1 + GT__GPUS]; /* default; to free what several used */
  struct {
    gt__storage *first, *last;
    int count;
  } pool[GT__CLASSES]; /* oldest first */
  size_t allocated[1 + GT__GPUS], peak[1 + GT__GPUS];
  int lost[1 + GT__GPUS];
  int32_t *fault; /* set by a kernel that met a bad index */
  gt_error_handler handler;
  void *handler_user;
  gt_statistics stats;
  char race[GT__RACES][320];
  int64_t n_race;
  uint64_t graphs, ended_graphs; /* begun so far; how many before gt_shutdown */
  int64_t traced;                /* what all traces before this one had of records */
  int threads;                   /* that were ever traced */
} gt__all;
/* What a trace keeps. Times are the host's, in ms. See >>trace-code. */
enum {
  GT__TRACED_NOTHING,
  GT__TRACED_OPERATION,
  GT__TRACED_WAIT,
  GT__TRACED_COPY, /* staged or blocking, as a whole */
  GT__TRACED_RANGE,
  GT__TRACED_ENQUEUE, /* of slices: the call */
  GT__TRACED_JOIN,
  GT__TRACED_CLOCK
};
enum { GT__TRACED_TEXT = 72 };
enum { GT__RANGES = 256 }; /* of a thread, one in another */
enum { GT__SCRAP = 192 };  /* characters: of 8 sizes as long as can be */
typedef struct gt__record {
  uint8_t what, kind, dtype, moving, joined; /* joined: it waited for another stream last */
  int thread, name;                          /* of the host; of the stream */
  gt_device device;
  /* Other records, 0: none. from: what was waited for; to: who waits; before: the one before on the
     stream, or the range around; behind: what kept the host before; clock: the tie to the GPU's
     clock, or how deep a range is. */
  int32_t from, to, before, behind, clock;
  uint64_t number;            /* on its stream; 0: the calling thread did it */
  long long size[4];          /* by the kind, see gt__write_args */
  int64_t allocated;          /* bytes on its device */
  double asked, called;       /* the host enqueued it from here to there */
  double begin, end, cpu;     /* end: -1, it is going on; how long a processor worked */
  void *front, *back;         /* events of a GPU */
  const char *call, *way;     /* way: or NULL */
  char text[GT__TRACED_TEXT]; /* a formula or a range's name */
} gt__record;
typedef struct {
  int64_t lane;              /* group, pid and tid in one number */
  int group;                 /* of lanes, see >>timeline */
  int pid, tid;              /* in JSON: 0, the CPU, or 1 + a GPU; the stream, thread or engine */
  int track;                 /* in JSON: behind tid */
  int what, letter;          /* GT__TRACED_; in the picture, or 0 */
  const double *begin, *end; /* in the record */
  gt__record *r;
} gt__slice; /* of a record, in a lane */
typedef struct {
  int32_t last, joins; /* records: the newest; those that wait for its next one */
  double enqueued;     /* when the host was there last */
} gt__line;            /* of a stream */
static struct {
  int on, open; /* on: 2 while it ends; open: the host's own operations at work */
  int64_t room, n, dropped;
  gt__record *at;
  gt__slice *slices, *end; /* end: of those that are used */
  double first;            /* when an operation began */
  gt__line line[GT__SLOTS_OF_STREAMS];
  struct {
    void *queue;
    int32_t newest;
  } clock[GT__GPUS];
  gt_overlap overlap; /* its reason is NULL until the trace has ended */
} gt__trace;
static __thread struct {
  gt_status status;
  const char *call; /* the function of ours that was called, as messages name it */
  char message[768];
  gt_scope *scope;
  gt_device device;
  gt__choice stream[1 + GT__GPUS];
  int claims, untold; /* claims held by calls; an error of which the handler must hear */
  gt__failure failed; /* the write that GT__UNWRITTEN is about */
  gt_device culprit;  /* the GPU whose code was returned last */
  gt_generator generator;
  gt_precision precision;
  gt_safety safety;
  const char *formula;                /* the caller's, during a call */
  int ranges, thread;                 /* pushed; its number in traces */
  int64_t range[GT__RANGES], blocked; /* records; the last that kept it waiting */
  gt_graph *graph;                    /* that the thread records, or NULL */
  double asked;                       /* when it began to wait for room in a queue */
  int moving; /* 1 + 3 * direction + kind of the copy that it is in; 0: none */
  char text[4][GT__SCRAP];
  unsigned text_next;
} gt__me;
static void gt__lock(void) { pthread_mutex_lock(&gt__mutex); }
static void gt__unlock(void) { pthread_mutex_unlock(&gt__mutex); }
/* The dims that an operation walks over, and the operands that it walks over, the output first. */
typedef struct {
  int64_t *size;
  int n; /* operands */
  gt__operand *o[1 + GT__INPUTS];
} gt__walk;
/* Where a result goes: out, given or made; first to `place` if out overlaps operands badly. */
typedef struct {
  gt_tensor *out, *place;
  int made;
} gt__result;
static const int gt__as_it_is[GT_MAX_DIMS] = {0, 1, 2, 3, 4, 5, 6, 7};
/* Entries of the source's dim `dim` that an index names. Dim d of the result is the source's dim
   of_src[d] and the index's of_index[d]; -1: none of its dims. */
enum { GT__SELECTS, GT__GATHERS, GT__ADDS, GT__SCATTERS, GT__PICKERS };
static const char *const gt__picker[GT__PICKERS] = {"gt_index_select", "gt_gather", "gt_index_add",
                                                    "gt_scatter_reduce"};
typedef struct {
  const gt_tensor *index;
  int caller, dim, of_src[GT_MAX_DIMS], of_index[GT_MAX_DIMS];
} gt__pick;
/* Memory that the host reads or writes by itself; other threads wait until gt__host_end. */
typedef struct {
  gt__access access;
  gt__claim claim; /* of no access: it is over */
} gt__host_use;
/* What a reader wants of a tensor: any strides, dense memory, or a copy of its own. */
enum { GT__ANY_STRIDES, GT__DENSE, GT__FRESH };

/* ---- >>floor-plan -------------------------------------------------------------------------------
   Declarations of what is used before it is defined, by the section that defines it. */
/* The tables of the back ends, which stand at the end. Without CUDA both are the CPU's. */
static const gt__backend *gt__cpu_table(void);
static const gt__backend *gt__cuda_table(void);
/* >>graph-code: what is recorded. */
static gt_status gt__graph_add(gt__op *op);
static gt_tensor *gt__graph_memory(const gt_tensor *x);

/* ---- >>reports ----------------------------------------------------------------------------------
   Errors: the first one of a thread is kept. A call begins with gt__refuse, which says of a NULL or
   of a tensor that was freed which operand it is. */
GT_API gt_status gt_error(void) { return gt__me.status; }
GT_API const char *gt_error_message(void) { return gt__me.message; }
GT_API void gt_clear_error(void) {
  gt__me.status = GT_OK;
  gt__me.message[0] = 0;
}
GT_API void gt_set_error_handler(gt_error_handler handler, void *user) {
  GT__HOLD(gt__mutex);
  gt__all.handler = handler;
  gt__all.handler_user = user;
}
GT_API void gt_exit_on_error(gt_status status, const char *message, void *user) {
  (void)status;
  (void)user;
  fprintf(stderr, "%s\n", message);
  exit(1);
}
GT_API const char *gt_status_string(gt_status status) {
  static const char *const name[] = {
      "no error",      "bad argument",   "bad shape",      "bad dtype",  "bad device",
      "out of memory", "bad expression", "file error",     "bad format", "bad state",
      "CUDA error",    "device lost",    "versions differ"};
  GT__ASSERT(sizeof name / sizeof *name == GT_ERROR_VERSION + 1, "each status has a text");
  return (unsigned)status <= GT_ERROR_VERSION ? name[status] : "unknown status";
}
/* Calls the handler: not while the thread has claims, since it may use the very tensors. */
static void gt__tell_handler(void) {
  const char *call = gt__me.call;
  gt__me.untold = gt__me.claims > 0;
  if (gt__me.untold || !gt__me.status) return;
  gt__lock();
  gt_error_handler handler = gt__all.handler;
  void *user = gt__all.handler_user;
  gt__unlock();
  if (handler) handler(gt__me.status, gt__me.message, user);
  gt__me.call = call; /* the handler may have called others */
}
/* Keeps the thread's first error and calls the handler. Called with no lock held. */
GT__COLD GT__PRINTF(2, 3) static gt_status gt__fail(gt_status status, const char *format, ...) {
  va_list list;
  if (gt__me.status) return status;
  int n = snprintf(gt__me.message, sizeof gt__me.message, "%.100s: ", gt__me.call);
  va_start(list, format);
  vsnprintf(gt__me.message + n, sizeof gt__me.message - (size_t)n, format, list);
  va_end(list);
  gt__me.status = status;
  gt__tell_handler();
  return status;
}
/* What a call reports that failed inside another: a handler may have cleared the error. */
static gt_status gt__failed(void) { return gt__me.status ? gt__me.status : GT_ERROR_STATE; }
/* The functions of the API begin with this: messages, and races, are about the last one called. */
#define GT__CALL gt__me.call = __func__
#define GT__NULL(...) \
  (gt__fail(__VA_ARGS__), (gt_tensor *)NULL) /* for calls that return a tensor */
GT__INSIDE void *gt__malloc(size_t bytes) {  /* filled with zeros */
  void *p = GPUTENSOR_MALLOC(bytes ? bytes : 1);
  if (p) return memset(p, 0, bytes);
  gt__fail(GT_ERROR_MEMORY, "out of host memory, asked for %zu bytes", bytes);
  return NULL;
}
enum { GT__BY_FREE = 1, GT__BY_SCOPE }; /* how a handle ended */
#ifdef GPUTENSOR_CHECK_HANDLES
#define GT__CHECKING ", handles checked"
/* Handles that ended lately. As long as one is not freed, its address is no other's. */
enum { GT__HELD_BACK = 1024 };
static struct {
  gt_tensor *x;
  int how;
} gt__ended[GT__HELD_BACK];
static gt_tensor *gt__held_back(gt_tensor *x, int how) { /* takes one in, and gives one out */
  static unsigned next;
  GT__HOLD(gt__mutex);
  unsigned i = next++ % GT__HELD_BACK;
  gt_tensor *before = gt__ended[i].x;
  gt__ended[i].x = x;
  gt__ended[i].how = how;
  return before;
}
static void gt__free_held_back(void) {
  for (int i = 0; i < GT__HELD_BACK; i++) GPUTENSOR_FREE(gt__ended[i].x);
  memset(gt__ended, 0, sizeof gt__ended);
}
/* True, with an error, if x was freed; it is not read. Operand 0 is the output. */
static int gt__is_ended(int i, const gt_tensor *x) {
  static const char *const by[] = {"", "gt_free", "the end of a GT_SCOPE; gt_keep hands it out"};
  int how = 0;
  gt__lock();
  for (int k = 0; k < GT__HELD_BACK; k++)
    if (gt__ended[k].x == x) how = gt__ended[k].how;
  gt__unlock();
  if (how)
    gt__fail(GT_ERROR_ARGUMENT, "operand %d%s was freed by %s", i, i ? "" : ", the output,",
             by[how]);
  return how;
}
#else
#define GT__CHECKING
#define gt__held_back(x, how) ((void)(how), (x))
#define gt__free_held_back() (void)0
#define gt__is_ended(i, x) 0
#endif
/* The rule on NULL: true if the call shall do nothing. `out` may be NULL, to be allocated, but that
   stops the call while an error is pending. Messages count the operands from `first` on. */
static int gt__refuse(const gt_tensor *out, int first, int n, gt__operands x) {
  int null = 0;
  while (null < n && x && x[null]) null++;
  if (gt__me.status && (!out || null < n)) return 1;
  if (null < n) return gt__fail(GT_ERROR_ARGUMENT, "operand %d is NULL", first + null);
  for (int i = 0; i < n; i++)
    if (gt__is_ended(first + i, x[i])) return 1;
  return gt__is_ended(0, out);
}
static int gt__refuse_one(const gt_tensor *x) {
  return x ? gt__is_ended(1, x) : gt__refuse(x, 1, 1, &x);
}
/* A call that is given one tensor begins with this; it notes the call, as GT__CALL does. */
#define GT__NO(x) (GT__CALL, gt__refuse_one(x))
/* A small text that lives until three more are made on this thread. */
static char *gt__scrap(void) { return gt__me.text[gt__me.text_next++ & 3]; }
static const char *gt__sizes(int ndim, const int64_t *size) {
  char *text = gt__scrap();
  size_t n = snprintf(text, GT__SCRAP, "(");
  for (int d = 0; d < ndim; d++)
    n += snprintf(text + n, GT__SCRAP - n, d ? ", %lld" : "%lld", (long long)size[d]);
  snprintf(text + n, GT__SCRAP - n, ndim == 1 ? ",)" : ")");
  return text;
}
static const char *gt__shape_text(const gt_tensor *x) { return gt__sizes(x->ndim, x->shape); }

/* ---- >>device-code ------------------------------------------------------------------------------
   Back ends by device, what a device is called, and what the table of dtypes says. */
/* What the core knows about devices: a table of functions for each type, and whose memory is the
   host's. A third back end is entered in gt_device_type; here in gt__backend_of, gt__slot (its
   devices come behind the GPUs' in all that has 1 + GT__GPUS places), gt__after_fork,
   gt__check_device and the functions that read and write a device's name; in gt_empty_cache,
   gt__check_ways, gt__drop_events, gt_build_info, gt_shutdown and gt__dl_model; and in
   gt__copy_bytes, where one back end copies between any two devices but the host. Its codes must
   differ from the others' (see >>system), and gt__device_of tells whose they are. */
static const gt__backend *gt__backend_of(gt_device device) {
  return device.type == GT_CUDA ? gt__cuda_table() : gt__cpu_table();
}
static int gt__on_host(gt_device device) { return device.type == GT_CPU; }
/* The back end that page-locks memory of the host, and that knows whose memory an address is. */
#define GT__PINNING gt__cuda_table()
#define GT__HOST gt__cpu_table()
#define GT__OF(x) gt__backend_of((x)->device)
static int gt__slot(gt_device device) { return device.type == GT_CUDA ? 1 + device.index : 0; }
static int gt__same_device(gt_device a, gt_device b) {
  return a.type == b.type && a.index == b.index;
}
static gt_device gt__device(int type, int index) {
  gt_device device = {type, index};
  return device;
}
/* Does this thread record its calls on that device? */
static int gt__is_recorded(gt_device device) {
  return gt__me.graph && gt__same_device(device, gt__me.graph->device);
}
static gt_status gt__refuse_recorded(gt_device device, const char *why) {
  if (!gt__is_recorded(device)) return GT_OK;
  return gt__fail(GT_ERROR_STATE, "a graph of %s is being recorded: %s", gt_device_string(device),
                  why);
}
/* In the child; the parent may have held the locks. Windows has no fork. */
__attribute__((unused)) static void gt__after_fork(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  gt__forked = 1;
  gt__mutex = mutex;
  gt__failures_lock = mutex;
  gt__idle = cond;
  gt__trace.on = 0;
  gt__trace.open = 0;
  for (int type = GT_CPU; type <= GT_CUDA; type++)
    gt__backend_of(gt__device(type, 0))->after_fork();
}
__attribute__((constructor)) static void gt__watch_fork(void) {
  pthread_atfork(NULL, NULL, gt__after_fork);
}
GT_API gt_device gt_cpu(void) { return gt__device(GT_CPU, 0); }
GT_API int gt_cuda_is_available(void) { return gt_cuda_device_count() > 0; }
static gt_status gt__check_device(gt_device device) {
  int n = gt_cuda_device_count(), cuda = device.type == GT_CUDA;
  if (device.index >= 0 && device.index < (cuda ? n : device.type == GT_CPU)) return GT_OK;
  if (cuda && n > 0)
    return gt__fail(GT_ERROR_DEVICE, "there is no cuda:%d: %d device%s here, counted from 0",
                    (int)device.index, n, n == 1 ? "" : "s");
  if (cuda)
    return gt__fail(GT_ERROR_DEVICE, "no GPU: %s; gt_best_device() chooses what there is",
                    gt_cuda_unavailable_reason());
  return gt__fail(GT_ERROR_DEVICE, "not a device (type %d, index %d); gt_cpu() and gt_cuda(0) are",
                  (int)device.type, (int)device.index);
}
static gt_device gt__cuda_device(int index) {
  gt_device device = gt__device(GT_CUDA, index);
  return gt__check_device(device) ? gt__device(GT_NO_DEVICE, 0) : device;
}
GT_API gt_device gt_cuda(int index) {
  GT__CALL;
  return gt__cuda_device(index);
}
GT_API gt_device gt_best_device(void) {
  return gt__device(gt_cuda_is_available() ? GT_CUDA : GT_CPU, 0);
}
GT_API gt_device gt_current_device(void) { return gt__me.device.type ? gt__me.device : gt_cpu(); }
GT_API gt_status gt_set_device(gt_device device) {
  GT__CALL;
  gt_status status = gt__check_device(device);
  if (!status) gt__me.device = device;
  return status;
}
GT_API gt_device gt_parse_device(const char *text) {
  GT__CALL;
  char digits[6], more;
  if (!text) text = "NULL";
  if (!strcmp(text, "cpu") || !strcmp(text, "cpu:0")) return gt_cpu();
  if (!strcmp(text, "cuda")) return gt__cuda_device(gt_current_device().index);
  if (sscanf(text, "cuda:%5[0-9]%c", digits, &more) == 1) return gt__cuda_device(atoi(digits));
  gt__fail(GT_ERROR_ARGUMENT, "\"%.40s\" is not cpu, cuda or cuda:N", text);
  return gt__device(GT_NO_DEVICE, 0);
}
GT_API const char *gt_device_string(gt_device device) {
  char *text = gt__scrap();
  if (device.type == GT_CPU) return "cpu";
  if (device.type != GT_CUDA) return "no device";
  snprintf(text, 32, "cuda:%d", (int)device.index);
  return text;
}
static gt_status gt__check_devices(int i, const gt_tensor *x, int j, const gt_tensor *y) {
  if (gt__same_device(x->device, y->device)) return GT_OK;
  return gt__fail(GT_ERROR_DEVICE,
                  "operand %d %s is on %s, operand %d %s on %s; gt_to moves a tensor", i,
                  gt__shape_text(x), gt_device_string(x->device), j, gt__shape_text(y),
                  gt_device_string(y->device));
}
static const struct {
  const char *name, *npy;
  uint8_t size, kind, compute;
  int64_t low, high;
} gt__dtype[GT_DTYPES] = {
#define GT__ROW(name, text, bytes, kind, compute, npy, low, high) \
  {text, npy, bytes, kind, compute, low, high},
    GT__DTYPES(GT__ROW)
#undef GT__ROW
};
static int gt__is_dtype(gt_dtype d) { return (int)d >= 0 && d < GT_DTYPES; }
GT_API size_t gt_dtype_size(gt_dtype d) { return gt__is_dtype(d) ? gt__dtype[d].size : 0; }
GT_API const char *gt_dtype_string(gt_dtype d) { return gt__is_dtype(d) ? gt__dtype[d].name : "?"; }
static int gt__is_floating(gt_dtype d) { return gt__dtype[d].kind == GT__FLOAT_KIND; }
GT_API int gt_is_floating(gt_dtype d) { return gt__is_dtype(d) && gt__is_floating(d); }
static int gt__compute_of(gt_dtype d) {
  return gt__is_dtype(d) ? gt__dtype[d].compute : (int)GT__I64;
}
/* PyTorch's table, the order of the enum, where two pairs of equals become the next higher. */
GT__ASSERT(GT_BOOL < GT_UINT8 && GT_UINT8 < GT_INT8 && GT_INT8 < GT_INT16 && GT_INT16 < GT_INT32 &&
               GT_INT32 < GT_INT64 && GT_INT64 < GT_FLOAT16 && GT_FLOAT16 < GT_BFLOAT16 &&
               GT_BFLOAT16 < GT_FLOAT32 && GT_FLOAT32 < GT_FLOAT64 && GT_DTYPES == 10,
           "of two dtypes the later one holds both, but for the pairs in gt__promote_types");
GT__INSIDE gt_dtype gt__promote_types(gt_dtype a, gt_dtype b) {
  gt_dtype low = a < b ? a : b;
  gt_dtype high = a < b ? b : a;
  if (low == GT_UINT8 && high == GT_INT8) return GT_INT16;
  return low == GT_FLOAT16 && high == GT_BFLOAT16 ? GT_FLOAT32 : high;
}
GT_API gt_dtype gt_promote_types(gt_dtype a, gt_dtype b) {
  GT__CALL;
  if (gt__is_dtype(a) && gt__is_dtype(b)) return gt__promote_types(a, b);
  gt__fail(GT_ERROR_DTYPE, "%d and %d are not both dtypes", (int)a, (int)b);
  return GT_FLOAT32;
}

/* ---- >>regions ---------------------------------------------------------------------------------
   The bytes that an operation touches, as regions of memory:

     begin
     |<- run ->|          |<- run ->|          |<- run ->|     count = 3: a block of columns, say
     |<------ pitch ----->|

   Where it cannot be told whether two have a byte in common, they count as if they had. */
static uintptr_t gt__region_end(const gt__region *r) {
  int64_t last = r->pitch * (r->count - 1);
  return r->begin + (uintptr_t)(last + r->run);
}
static gt__region gt__range(const void *p, size_t bytes) {
  gt__region r = {(uintptr_t)p, (int64_t)bytes, 0, 1, 1};
  return r;
}
/* Makes r what it is n times, `step` bytes apart. Of a tensor's dims the smallest step comes
   first: steps within the run make it longer, the first larger one makes `count` runs, and one
   that goes on with those makes more of them. For any other step all so far becomes one run. */
static void gt__repeat_region(gt__region *r, int64_t n, int64_t step) {
  if (r->count > 1 && step == r->pitch * r->count) {
    r->count *= n;
    return;
  }
  if (r->count > 1) { /* what lies between the runs counts from now on */
    r->run += r->pitch * (r->count - 1);
    r->count = 1;
    r->exact &= -2; /* no longer 1 */
  }
  if (step <= r->run) {
    r->run += step * (n - 1);
  } else {
    r->pitch = step;
    r->count = n;
  }
}
static char *gt__address(const gt_tensor *x) {
  return (char *)x->storage->data + x->offset * gt__dtype[x->dtype].size;
}
static int64_t gt__magnitude(int64_t i) { return i < 0 ? -i : i; }
/* Adds the dims below `dims` of x to r, from the smallest stride on. A step that is shorter than
   what it repeats lets elements share memory, or it may: then `exact` is negative. */
static void gt__repeat_by_dims(gt__region *r, const gt_tensor *x, int dims, int64_t size) {
  const int64_t *stride = x->stride;
  int order[GT_MAX_DIMS], n = 0;
  for (int d = dims - 1; d >= 0; d--) {
    if (x->shape[d] == 1) continue;
    if (x->shape[d] == 0) r->run = 0;
    int at = n++;
    for (; at > 0; at--) {
      int before = order[at - 1];
      if (gt__magnitude(stride[before]) <= gt__magnitude(stride[d])) break;
      order[at] = before;
    }
    order[at] = d;
  }
  for (int i = 0; i < n && r->run; i++) {
    int d = order[i];
    int64_t step = gt__magnitude(stride[d]) * size, last = x->shape[d] - 1;
    if (stride[d] < 0) r->begin -= (uintptr_t)(step * last); /* the last ones begin */
    if (r->begin + (uintptr_t)step < gt__region_end(r)) r->exact = -1;
    gt__repeat_region(r, x->shape[d], step);
  }
}
/* The bytes of x. As a rule its last dims lie side by side, and no dim has to be sorted. (A copy of
   a region that was just made would wait for its fields, some 3 ns.) */
static void gt__set_region(gt__region *r, const gt_tensor *x) {
  size_t size = gt__dtype[x->dtype].size;
  int64_t dense = 1; /* elements that lie side by side */
  int d = x->ndim - 1;
  for (; d >= 0; d--) {
    if (x->stride[d] != dense) break;
    dense *= x->shape[d];
  }
  r->begin = (uintptr_t)gt__address(x);
  r->run = (int64_t)size * dense;
  r->pitch = 0;
  r->count = 1;
  r->exact = 1;
  if (d >= 0) gt__repeat_by_dims(r, x, d + 1, (int64_t)size);
}
static gt__region gt__region_of(const gt_tensor *x) {
  gt__region r;
  gt__set_region(&r, x);
  return r;
}
/* Do two regions have a byte in common? Run i of a and run j of b have one if a's begins before b's
   ends and the other way round: -a->run < from + d*pitch < b->run, where d = i - j. The smallest d
   for which the left half holds is tried, since the right half is the likelier the smaller d is. */
enum { GT__APART, GT__MAY_MEET, GT__WILL_MEET };
static int gt__meeting(const gt__region *a, const gt__region *b) {
  if (a->begin >= gt__region_end(b)) return GT__APART;
  if (b->begin >= gt__region_end(a)) return GT__APART;
  if (!a->run || !b->run) return GT__APART;
  int64_t pitch = a->count > 1 ? a->pitch : b->pitch;
  if (b->count > 1 && b->pitch != pitch) return GT__MAY_MEET;
  int64_t from = (int64_t)(a->begin - b->begin), d = 0;
  if (pitch) d = gt__floor_div_i64(-a->run - from, pitch) + 1;
  if (d < 1 - b->count) d = 1 - b->count;
  if (d >= a->count || from + d * pitch >= b->run) return GT__APART;
  return a->exact > 0 && b->exact > 0 ? GT__WILL_MEET : GT__MAY_MEET;
}
/* Has a all the bytes of b? An inexact region counts as all that it encloses. */
static int gt__covers(const gt__region *a, const gt__region *b) {
  if (b->begin < a->begin || gt__region_end(b) > gt__region_end(a)) return 0;
  if (a->count == 1) return 1; /* whose runs lie between a's ends */
  if (b->count > 1 && a->pitch != b->pitch) return 0;
  int64_t from = (int64_t)(b->begin - a->begin), row = from / a->pitch;
  if (from - row * a->pitch + b->run > a->run) return 0;
  return row + b->count <= a->count;
}
/* Takes b into a: two ranges side by side become one; others, if `any`, what encloses them. 0: they
   are not side by side, and a is as it was. */
static int gt__join_regions(gt__region *a, const gt__region *b, int any) {
  uintptr_t begin = a->begin, end = gt__region_end(a);
  uintptr_t b_end = gt__region_end(b);
  int dense = a->count == 1 && b->count == 1;
  int beside = dense && begin <= b_end && b->begin <= end;
  if (!beside && !any) return 0;
  int exact = beside && a->exact > 0 && b->exact > 0;
  if (b->begin < begin) begin = b->begin;
  if (b_end > end) end = b_end;
  *a = gt__range((void *)begin, (size_t)(end - begin));
  a->exact = exact;
  return 1;
}

/* ---- >>codes ------------------------------------------------------------------------------------
   Error codes of back ends, and a few of ours, become messages here. */
/* Whose code it is, which need not be the device's that was asked: a CPU stream waits for a GPU,
   too. */
static gt_device gt__device_of(int code, gt_device asked) {
  if (code > GT__CPU_CODES && code < GT__CPU_CODES_END) return gt_cpu();
  if (!gt__on_host(asked)) return asked;
  return gt__me.culprit.type ? gt__me.culprit : gt__device(GT_CUDA, 0);
}
static int gt__is_out_of_memory(int code, gt_device asked) {
  return code && gt__backend_of(gt__device_of(code, asked))->classify(code) == GT_ERROR_MEMORY;
}
/* Reports an error code, if it is one; called without the lock. */
static gt_status gt__report_ours(gt_device device, int code) {
  switch (code) {
    case GT__TOO_MANY:
      return gt__fail(GT_ERROR_STATE, "%d streams are in use; gt_stream_free gives one back",
                      GT__STREAMS);
    case GT__STREAM_FREED:
      return gt__fail(GT_ERROR_STATE,
                      "the thread's current stream of %s was freed; gt_set_stream chooses another",
                      gt_device_string(device));
    case GT__RECORDED:
      return gt__fail(GT_ERROR_STATE,
                      "work that is being recorded uses this memory, and is done only by "
                      "gt_graph_launch; this has to come before gt_graph_begin or after "
                      "gt_graph_end. (0-d tensors of the CPU are read at the call)");
    case GT__CAPTURED:
      return gt__fail(GT_ERROR_STATE,
                      "the program captures a stream of %s itself, to which this would add work "
                      "or a wait; gt_graph_begin records it",
                      gt_device_string(device));
    case GT__UNWRITTEN:
      return gt__fail(GT__HOST->classify(gt__me.failed.code),
                      "what it reads was never "
                      "written, since %s on a stream of the CPU failed: %s; gt_fill or gt_copy may "
                      "write it anew",
                      gt__me.failed.text, GT__HOST->text(gt__me.failed.code));
    default:
      return gt__fail(GT_ERROR_DEVICE_LOST,
                      "%s was lost to an earlier fault; only a new process can use it again",
                      gt_device_string(device));
  }
}
/* Makes a message of any code: what the back end says of it and, of a stream, what was called last.
   A device that is lost is noted. */
GT__COLD static gt_status gt__report(gt_device asked, const gt_stream *s, int code) {
  char recent[160] = "";
  size_t n = 0;
  if (!code) return GT_OK;
  if (code >= GT__TOO_MANY && code <= GT__UNWRITTEN) return gt__report_ours(asked, code);
  gt_device device = gt__device_of(code, asked);
  const gt__backend *backend = gt__backend_of(device);
  gt_status status = backend->classify(code);
  gt__lock();
  if (status == GT_ERROR_DEVICE_LOST) gt__all.lost[gt__slot(device)] = 1;
  for (unsigned i = 1; s && i <= GT__RECENT && s->n_recent >= i; i++)
    n += snprintf(recent + n, sizeof recent - n, "%s%.30s", i > 1 ? ", " : "",
                  s->recent[(s->n_recent - i) % GT__RECENT]);
  gt__unlock();
  return gt__fail(status, "%s: %s%s%s", gt_device_string(device), backend->text(code),
                  n ? "; last operations on this stream, newest first: " : "", recent);
}
GT_API gt_status gt_device_properties(gt_device device, gt_properties *out) {
  GT__CALL;
  if (gt__check_device(device)) return gt__failed();
  if (!out) return gt__fail(GT_ERROR_ARGUMENT, "out is NULL");
  memset(out, 0, sizeof *out);
  return gt__report(device, NULL, gt__backend_of(device)->properties(device.index, out));
}
GT_API int gt_num_threads(void) { return GT__HOST->threads(0); }
GT_API gt_status gt_set_num_threads(int n) {
  GT__CALL;
  if (n < 1 || n > GT__MOST_THREADS)
    return gt__fail(GT_ERROR_ARGUMENT, "%d threads; give 1 to %d", n, GT__MOST_THREADS);
  GT__HOST->threads(n);
  return GT_OK;
}
GT_API const char *gt_device_name(gt_device device) {
  gt_properties p;
  return gt_device_properties(device, &p) ? "no device"
                                          : (char *)memcpy(gt__scrap(), p.name, sizeof p.name);
}

GT__RARE_BEGINS
/* ---- >>trace-code -------------------------------------------------------------------------------
   What is noted while a trace is on, with the lock, in an array of records whose first one is none.
   Work on the CPU is measured by who does it. Work on a GPU is measured by an event behind it and,
   where its stream may have been idle before it, one in front, which are read when the trace ends.
 */
#define GT__IDLE_MS 0.05    /* since the host enqueued something: a stream may be idle */
#define GT__CLOCK_MS 1000.0 /* after which GPU and host compare clocks: a float has 24 bits */
static int32_t gt__record_place(const gt__record *r) { return (int32_t)(r - gt__trace.at); }
static gt__record *gt__record_new(int what) { /* or NULL */
  if (gt__trace.on != 1) return NULL;
  int full = gt__trace.n > gt__trace.room;
  gt__trace.dropped += full;
  if (full) return NULL;
  gt__record *r = &gt__trace.at[gt__trace.n++];
  if (!gt__me.thread) gt__me.thread = ++gt__all.threads;
  r->what = (uint8_t)what;
  r->moving = gt__me.moving;
  r->thread = gt__me.thread;
  r->call = gt__me.call;
  r->asked = gt_now_ms();
  r->begin = r->asked;
  r->end = r->asked;
  return r;
}
/* As much of a text in UTF-8 as there is room for; no character is cut. */
static void gt__set_text(gt__record *r, const char *text) {
  size_t n = strlen(text);
  if (n >= sizeof r->text) n = sizeof r->text - 1;
  while (n && (text[n] & 0xc0) == 0x80) n--;
  memcpy(r->text, text, n);
}
/* What begins now and ends later: its number over all traces, or 0. */
static int64_t gt__trace_begin(gt__record *r) {
  if (!r) return 0;
  r->end = -1;
  return gt__all.traced + gt__record_place(r);
}
/* The place of that number, if it is of this trace, and that is on; or 0. */
static int32_t gt__place_of(int64_t number) {
  int here = gt__trace.on == 1 && number > gt__all.traced;
  return here ? (int32_t)(number - gt__all.traced) : 0;
}
static void gt__trace_end(int64_t number) {
  int32_t place = gt__place_of(number);
  if (!place) return;
  gt__record *r = &gt__trace.at[place];
  r->end = gt_now_ms();
  if (r->what != GT__TRACED_RANGE && !gt__me.moving) gt__me.blocked = number;
}
/* A stream, or with NULL the host, begins to wait for what another one holds up to that number. */
static int64_t gt__trace_wait(const gt_stream *s, int slot, uint64_t number) {
  gt__record *r = gt__record_new(s ? GT__TRACED_JOIN : GT__TRACED_WAIT);
  if (!r) return 0;
  int32_t place = gt__record_place(r), newest = gt__trace.line[slot].last;
  while (gt__trace.at[newest].number > number) newest = gt__trace.at[newest].before;
  r->from = newest;
  r->to = s ? 0 : place;
  if (!s) return gt__trace_begin(r);
  r->before = gt__trace.line[s->slot].joins;
  gt__trace.line[s->slot].joins = place;
  return 0;
}
/* A copy that keeps the host, as a whole; what gt_item and its like do is a wait. */
static int64_t gt__trace_copy(int64_t bytes, int reads) {
  GT__HOLD(gt__mutex);
  gt__record *r = gt__record_new(reads ? GT__TRACED_WAIT : GT__TRACED_COPY);
  if (r) r->size[0] = bytes;
  return gt__trace_begin(r);
}
/* What a trace says of an operation; gt__write_args has the meaning of its sizes. */
static void gt__describe_op(gt__record *r, const gt__op *op) {
  const gt__copy_args *c = &op->u.copy;
  const gt__matmul_args *x = &op->u.matmul;
  int bytes = op->kind == GT__COPY && c->kind == GT__BYTES;
  long long *n = r->size;
  r->kind = op->kind;
  r->device = op->device;
  if (!bytes) r->way = op->way->name;
  if (gt__me.formula) gt__set_text(r, gt__me.formula);
  switch (op->kind) {
    case GT__COPY: n[0] = bytes ? c->bytes : c->count << c->dst.size_log2; break;
    case GT__MAP: n[0] = op->u.map.count; break;
    case GT__SCATTER: n[0] = op->u.scatter.n * op->u.scatter.rest; break;
    case GT__REPLAY: n[0] = op->u.graph->n; break;
    case GT__REDUCE:
      n[0] = op->u.reduce.outer;
      n[1] = op->u.reduce.n;
      break;
    case GT__SCAN:
      n[0] = op->u.scan.outer * op->u.scan.inner;
      n[1] = op->u.scan.n;
      break;
    case GT__ORDER:
      n[0] = op->u.order.rows;
      n[1] = op->u.order.n;
      break;
    case GT__MATMUL:
      r->dtype = x->a.dtype;
      n[0] = x->m;
      n[1] = x->n;
      n[2] = x->k;
      n[3] = x->batch;
  }
}
/* The tie between a GPU's clock and the host's: an event on a queue of our own. It happened later
   than the host's reading in front of it, so that no operation seems to end behind a wait for it.
   The first round only warms up. */
static int32_t gt__trace_clock(gt_device device) {
  const gt__backend *b = gt__backend_of(device);
  void **queue = &gt__trace.clock[device.index].queue;
  int32_t *newest = &gt__trace.clock[device.index].newest;
  if (*newest && gt_now_ms() - gt__trace.at[*newest].begin < GT__CLOCK_MS) return *newest;
  if (!*queue && b->queue_create(device.index, 0, queue)) return *newest;
  gt__record *r = gt__record_new(GT__TRACED_CLOCK);
  int code = !r;
  for (int round = 0; round < 2 && !code; round++) {
    r->device = device;
    r->begin = gt_now_ms();
    code = b->event_record(device.index, &r->back, *queue);
    if (!code) code = b->event_ask(device.index, r->back, GT__WAIT);
  }
  if (!code) *newest = gt__record_place(r);
  return *newest;
}
/* op is about to start: its record, or NULL. */
static gt__record *gt__trace_op(const gt_stream *s, const gt__op *op) {
  gt__line *line = &gt__trace.line[s->slot];
  gt__record *r = gt__record_new(GT__TRACED_OPERATION);
  if (!r) return NULL;
  gt__describe_op(r, op);
  r->allocated = gt__all.allocated[gt__slot(op->device)];
  r->behind = gt__place_of(gt__me.blocked);
  gt__me.blocked = 0;
  gt__trace.open += !s->queue;
  if (!s->queue) return r;
  if (gt__me.asked > 0) r->asked = gt__me.asked;
  gt__me.asked = 0;
  r->name = s->name;
  r->number = op->number;
  r->before = line->last;
  line->last = gt__record_place(r);
  int idle = line->joins || r->asked - line->enqueued > GT__IDLE_MS;
  for (int32_t *i = &line->joins; *i; *i = gt__trace.at[*i].before)
    gt__trace.at[*i].to = line->last;
  if (gt__on_host(op->device)) return r;
  r->clock = gt__trace_clock(op->device);
  if (idle) GT__OF(op)->event_record(op->device.index, &r->front, s->queue);
  return r;
}
/* It has been enqueued or, by this thread, done. A trace does not end in between. */
static void gt__trace_started(const gt_stream *s, gt__record *r, int code) {
  const gt__backend *b = GT__OF(r);
  gt__trace.open -= !s->queue;
  if (!s->queue) return;
  if (code) r->what = GT__TRACED_NOTHING;
  else if (!gt__on_host(r->device)) b->event_record(r->device.index, &r->back, s->queue);
  r->called = gt_now_ms();
  gt__trace.line[s->slot].enqueued = r->called;
}
GT_API gt_status gt_range_push(const char *name) {
  GT__CALL;
  if (!name) return gt__fail(GT_ERROR_ARGUMENT, "the name is NULL");
  if (gt__me.ranges == GT__RANGES)
    return gt__fail(GT_ERROR_STATE, "%d ranges are open", GT__RANGES);
#ifdef GPUTENSOR_NVTX
  nvtxRangePushA(name);
#endif
  GT__HOLD(gt__mutex);
  gt__record *r = gt__record_new(GT__TRACED_RANGE);
  if (r) gt__set_text(r, name);
  gt__me.range[gt__me.ranges++] = gt__trace_begin(r);
  return GT_OK;
}
GT_API gt_status gt_range_pop(void) {
  GT__CALL;
  if (!gt__me.ranges) return gt__fail(GT_ERROR_STATE, "no range is open; gt_range_push begins one");
#ifdef GPUTENSOR_NVTX
  nvtxRangePop();
#endif
  GT__HOLD(gt__mutex);
  gt__trace_end(gt__me.range[--gt__me.ranges]);
  return GT_OK;
}
GT__FLAGS_END

/* ---- >>waiting ----------------------------------------------------------------------------------
   One stream behind another: marks, which are events, and the clocks that remember what has been
   waited for; and the life of a stream. All with the lock; what ends in _unlocks gives it up for a
   while, and what was read before has to be read again. */
/* A stream whose handle the program has: it may be capturing what goes there. */
static int gt__captured(const gt_stream *s) {
  if ((s->owned && !s->shared) || s->gone || !GT__OF(s)->captured) return 0;
  return GT__OF(s)->captured(s->device.index, s->queue);
}
static int gt__record_event(gt_stream *t, void **event) {
  int code = gt__captured(t);
  if (!code) code = GT__OF(t)->event_record(t->device.index, event, t->queue);
  if (!code) t->recorded = t->number;
  return code;
}
/* Records t's mark, unless it covers `number` operations already. */
static int gt__set_mark(gt_stream *t, uint64_t number) {
  if (t->gone || (t->marked && t->marked >= number)) return 0;
  int code = gt__record_event(t, &t->mark);
  if (!code) t->marked = t->number;
  return code;
}
static void gt__learn(gt__clock *c, const gt__clock *more, int slot, uint64_t number) {
  for (int i = 0; i < gt__all.top; i++)
    if (c->at[i] < more->at[i]) c->at[i] = more->at[i];
  if (c->at[slot] < number) c->at[slot] = number;
}
/* A stream that is held is not ended while the lock is given up. */
static void gt__let_go_of(gt_stream *t) {
  t->held--;
  if (!t->held && t->freed) pthread_cond_broadcast(&gt__idle);
}
/* A GPU's code is kept with the device that it came from. */
static int gt__blame(const gt_stream *t, int code) {
  if (code && !gt__on_host(t->device)) gt__me.culprit = t->device;
  return code;
}
/* Gives up the lock and waits for what t holds up to `number`; for all of it, without a mark. Who
   asks for the stream is told (`tell`) what failed there. Others are not: operations of a CPU
   stream that failed have left a gt__failure for those who read what they should have written. */
static int gt__await_unlocks(gt_stream *t, uint64_t number, int tell) {
  const gt__backend *b = GT__OF(t);
  gt__clock seen = t->seen;
  int captured = gt__captured(t);
  if (captured) return captured;
  int index = t->device.index, how = tell ? GT__WAIT : GT__WAIT_ONLY;
  int whole = !t->gone && (number >= t->number || gt__set_mark(t, number));
  number = whole ? t->number : t->marked;
  int64_t wait = number > gt__all.done.at[t->slot] ? gt__trace_wait(NULL, t->slot, number) : 0;
  t->held++;
  gt__unlock();
  int code = whole ? b->queue_ask(index, t->queue, how) : b->event_ask(index, t->mark, how);
  gt__lock();
  gt__trace_end(wait);
  gt__let_go_of(t);
  if (!code) gt__learn(&gt__all.done, &seen, t->slot, number);
  return gt__blame(t, code);
}
/* Waits for all streams, or for those of one device. */
static int gt__await_all_unlocks(const gt_device *device, int tell) {
  int code = 0;
  for (int i = 0; i < gt__all.top; i++) { /* also behind one that failed */
    gt_stream *s = gt__all.slot[i];
    if (!s || (device && !gt__same_device(s->device, *device))) continue;
    int failed = gt__await_unlocks(s, s->number, tell);
    if (!code) code = failed;
  }
  return code;
}
/* Makes s wait for what t holds up to `number`. A mark that was recorded before t began to wait for
   others does not cover them, so whoever starts to wait forgets its mark. */
static int gt__join(gt_stream *s, gt_stream *t, uint64_t number) {
  const gt__backend *b = GT__OF(s), *other = GT__OF(t);
  int code = gt__captured(s);
  if (code) return code;
  if (b == other) {
    code = gt__set_mark(t, number);
    if (!code) code = b->queue_wait_event(s->device.index, s->queue, t->mark);
    number = t->marked;
  } else { /* an event of its own, since marks move on */
    code = b->queue_wait_other(s->queue, other, t->device.index, t->queue);
    t->recorded = t->number;
    number = t->number;
  }
  if (code) return gt__blame(t, code);
  gt__learn(&s->seen, &t->seen, t->slot, number);
  s->marked = 0;
  gt__trace_wait(s, t->slot, number);
  gt__all.stats.stream_waits++;
  return 0;
}
/* Is this point behind all that s (NULL: the host) does from now on? */
static int gt__knows(const gt_stream *s, gt__point p) {
  return p.number <= gt__all.done.at[p.slot] ||
         (s && (p.slot == s->slot || p.number <= s->seen.at[p.slot]));
}
/* Can s itself wait for t? A GPU does not wait for a CPU stream. */
static int gt__can_join(const gt_stream *s, const gt_stream *t) {
  if (s->device.type == t->device.type) return 1;
  return GT__OF(s)->queue_wait_other && !t->gone;
}
/* Brings s (NULL: the host) behind p. Where s cannot wait itself the host does, without the lock;
   then *away is set. */
static int gt__reach_unlocks(gt_stream *s, gt__point p, int *away) {
  gt_stream *t = gt__all.slot[p.slot];
  if (gt__knows(s, p)) return 0;
  if (s && gt__can_join(s, t)) return gt__join(s, t, p.number);
  *away = 1;
  gt__all.stats.host_waits++;
  return gt__await_unlocks(t, p.number, 0);
}
static void gt__poll(gt_stream *t) { /* what is known of t's progress without waiting */
  const gt__backend *b = GT__OF(t);
  int index = t->device.index;
  uint64_t number = 0;
  if (gt__captured(t)) return;
  if (t->queue && b->queue_progress) number = b->queue_progress(t->queue);
  else if (!t->gone && !b->queue_ask(index, t->queue, GT__ASK)) number = t->number;
  else if (t->marked && !b->event_ask(index, t->mark, 0)) number = t->marked;
  if (number > t->number) number = t->number;
  if (number > gt__all.done.at[t->slot]) gt__all.done.at[t->slot] = number;
}
/* Gives back t's scratch; what has no end is a graph's, of which t is a lane. While the program
   captures t that cannot be, unless t `ends`: then its work is done. Without scratch nothing is
   asked: a native stream may be gone unknown to us. */
static void gt__drop_scratch(gt_stream *t, int ends) {
  if (!t->scratch[0].end && !t->scratch[1].end) return;
  int captured = gt__captured(t);
  void *queue = t->gone || captured ? NULL : t->queue;
  for (gt__span *span = t->scratch; span < t->scratch + 2; span++) {
    if (!span->end || (captured && !ends)) continue;
    GT__OF(t)->release(t->device.index, queue, span->begin, 0);
    memset(span, 0, sizeof *span);
  }
}
static void gt__stream_destroy(gt_stream *s) {
  gt__drop_scratch(s, 1);
  if (s->mark) GT__OF(s)->event_destroy(s->device.index, s->mark);
  if (s->owned && s->queue) GT__OF(s)->queue_destroy(s->device.index, s->queue);
  gt__all.slot[s->slot] = NULL;
  gt__all.streams -= s->name != 0;
  if (s->name) GPUTENSOR_FREE(s);
  else memset(s, 0, sizeof *s);
}
static void gt__reap(void) { /* ends freed streams whose work is done */
  for (int i = 0; i < gt__all.top; i++) {
    gt_stream *t = gt__all.slot[i];
    if (!t || !t->freed || t->held) continue;
    if (gt__all.done.at[i] < t->number) gt__poll(t);
    if (gt__all.done.at[i] >= t->number) gt__stream_destroy(t);
  }
}
/* Fills in s, which is all 0. A CPU stream has a queue only if it is asked for one. */
static int gt__stream_open(gt_stream *s, gt_device device, int priority, void *native, int queued) {
  int code = 0, slot = 0;
  while (gt__all.slot[slot]) slot++; /* the caller has at most GT__STREAMS, a graph its lanes */
  s->queue = native;
  s->owned = !native;
  if (queued) code = gt__backend_of(device)->queue_create(device.index, priority, &s->queue);
  if (code) return code;
  if (gt__all.top <= slot) gt__all.top = slot + 1;
  gt__all.slot[slot] = s;
  s->number = gt__all.done.at[slot];
  s->slot = slot;
  s->device = device;
  return 0;
}
/* A stream of ours is opened on first use; NULL and *code if it cannot be. */
static gt_stream *gt__opened(gt_stream *s, gt_device device, int *code) {
  *code = s->device.type ? 0 : gt__stream_open(s, device, 0, NULL, !gt__on_host(device));
  return *code ? NULL : s;
}
/* The thread's current stream, which may be the default one, or NULL if it was freed. With the
   lock. */
GT__INSIDE gt_stream *gt__current(gt_device device) {
  gt__choice choice = gt__me.stream[gt__slot(device)];
  if (!choice.name) return &gt__all.fallback[gt__slot(device)];
  gt_stream *s = gt__all.slot[choice.slot];
  return s && s->name == choice.name && !s->freed ? s : NULL;
}
static gt_stream *gt__opened_current(gt_device device, int *code) {
  gt_stream *s = gt__current(device);
  *code = s ? 0 : (int)GT__STREAM_FREED;
  return s ? gt__opened(s, device, code) : NULL;
}
/* Ends freed streams of the caller's, waiting for them, until there is room for another one. */
static int gt__make_room_unlocks(void) {
  int code = 0;
  gt__reap();
  while (gt__all.streams == GT__STREAMS && !code) {
    int i = 0;
    while (i < gt__all.top && !(gt__all.slot[i] && gt__all.slot[i]->freed)) i++;
    if (i == gt__all.top) return GT__TOO_MANY;
    gt_stream *t = gt__all.slot[i];
    if (t->held) pthread_cond_wait(&gt__idle, &gt__mutex); /* another thread waits for it, too */
    else code = gt__await_unlocks(t, t->number, 0);
    gt__reap();
  }
  return code;
}
/* A stream of the caller's, with a queue of its own if `queued`, else around `native`; a CPU stream
   without a queue does its work in the call. */
static gt_stream *gt__stream_new(gt_device device, int priority, void *native, int queued) {
  if (gt__check_device(device)) return NULL;
  gt_stream *s = (gt_stream *)gt__malloc(sizeof *s);
  if (!s) return NULL;
  gt__lock();
  int code = gt__make_room_unlocks();
  if (!code) code = gt__stream_open(s, device, priority, native, queued);
  if (!code) {
    s->name = ++gt__all.names;
    gt__all.streams++;
  }
  gt__unlock();
  if (!code) return s;
  GPUTENSOR_FREE(s);
  gt__report(device, NULL, code);
  return NULL;
}
static gt_status gt__no_stream(const gt_stream *stream) {
  return stream ? GT_OK : gt__fail(GT_ERROR_ARGUMENT, "the stream is NULL");
}
static gt_status gt__refuse_wait(gt_device device) {
  return gt__refuse_recorded(device,
                             "nothing of it has run, so there is nothing to wait for; wait "
                             "behind gt_graph_launch");
}

/* ---- >>ledgers ----------------------------------------------------------------------------------
   Each storage has a list of the operations that used its memory and need not be over. */
static const gt__access *gt__touched(const gt__op *op) {
  return op->kind == GT__REPLAY ? op->u.graph->access : op->touch;
}
static gt__ledger *gt__ledger_of(gt__storage *x) {
  if (x->aliased) return &gt__all.aliases;
  return &x->own;
}
static gt__use *gt__uses(gt__ledger *l) { return l->more ? l->more : l->few; }
static void gt__forget_use(gt__ledger *l, int k) {
  gt__use *use = gt__uses(l);
  use[k] = use[--l->n];
}
/* Two uses of one stream become one. The region may become larger, and the older use newer. */
static void gt__join_uses(gt__ledger *l, int i, int j) {
  gt__use *a = &gt__uses(l)[i], *b = &gt__uses(l)[j];
  gt__join_regions(&a->where, &b->where, 1);
  if (a->at.number < b->at.number) a->at = b->at;
  a->writes |= b->writes;
  gt__forget_use(l, j);
}
static int gt__grow_ledger(gt__ledger *l, int room) {
  gt__use *more = (gt__use *)GPUTENSOR_MALLOC((size_t)room * sizeof *more);
  if (!more) return 0;
  memcpy(more, gt__uses(l), (size_t)l->n * sizeof *more);
  GPUTENSOR_FREE(l->more);
  l->more = more;
  l->room = room;
  return 1;
}
static int gt__has_place(const gt__ledger *l) {
  return l->n < (l->more ? l->room : (int)GT__FEW_USES);
}
/* Is there room for one more use? If not, those that are over go; then there is more memory, for
   GT__MANY_USES; then two of one stream become one, which may order more than has to be. 0: there
   is no memory. */
static int gt__make_place(gt__ledger *l) {
  const gt__use *use = gt__uses(l);
  if (gt__has_place(l)) return 1;
  for (int k = l->n - 1; k >= 0; k--)
    if (gt__knows(NULL, use[k].at)) gt__forget_use(l, k);
  if (gt__has_place(l)) return 1;
  if (!l->more && gt__grow_ledger(l, GT__MANY_USES)) return 1;
  for (int i = 0; i < l->n; i++)
    for (int j = i + 1; j < l->n; j++) {
      if (use[i].at.slot != use[j].at.slot) continue;
      gt__join_uses(l, i, j);
      return 1;
    }
  return gt__grow_ledger(l, 2 * l->n);
}
/* Without memory for a use it has to be over: it is waited for, with the lock. */
static void gt__add_use(gt__ledger *l, const gt__use *u) {
  const gt_stream *s = gt__all.slot[u->at.slot];
  if (gt__knows(NULL, u->at)) return; /* and that stream may be gone */
  if (gt__make_place(l)) gt__uses(l)[l->n++] = *u;
  else GT__OF(s)->queue_ask(s->device.index, s->queue, GT__WAIT_ONLY);
}
/* Does an access go on where a use of the same stream and kind ended, as a loop over rows does?
   Then the use takes in its memory. Not if somebody may know that the older one is over, by a
   record or because it is: the joined use would be newer than that. */
static int gt__is_continued(gt__use *u, const gt__access *a, const gt_stream *s) {
  if (u->at.slot != s->slot || u->writes != a->writes) return 0;
  if (u->at.number <= s->recorded || gt__knows(NULL, u->at)) return 0;
  return gt__join_regions(&u->where, &a->where, 0);
}
/* Notes that s's newest operation touches this. What is behind a write is behind all uses that s
   knows of, too, so those that the write covers need no place any more; a read replaces
   reads so. Uses that s does not know of (GT_OFF, see gt_safety) stay, for a free to wait for. */
static void gt__note(const gt__access *a, const gt_stream *s) {
  gt__ledger *l = gt__ledger_of(a->storage);
  gt__use *use = gt__uses(l);
  int k = l->n - 1;
  a->storage->last = s->slot;
  for (; k >= 0; k--) {
    if (gt__is_continued(&use[k], a, s)) break;
    if ((use[k].writes && !a->writes) || !gt__knows(s, use[k].at)) continue;
    if (gt__covers(&a->where, &use[k].where)) gt__forget_use(l, k);
  }
  gt__point at = {s->number, gt__me.call, s->slot};
  gt__use newest = {at, a->where, a->writes};
  if (k < 0) gt__add_use(l, &newest);
  else use[k].at = at;
}
/* -- waiting for all uses of a storage -- */
static gt__access gt__whole(gt__storage *x, int writes) {
  gt__access a = {x, gt__range(x->data, x->bytes), !writes, writes};
  return a;
}
static int gt__settled(gt__storage *x) { /* has all work on x been done? */
  gt__region where = gt__range(x->data, x->bytes);
  gt__ledger *l = gt__ledger_of(x);
  for (int k = 0; k < l->n; k++) {
    gt__use u = gt__uses(l)[k];
    if (gt__knows(NULL, u.at) || !gt__meeting(&where, &u.where)) continue;
    gt__poll(gt__all.slot[u.at.slot]);
    if (!gt__knows(NULL, u.at)) return 0;
  }
  return 1;
}
/* Brings s behind all uses of x's memory. With NULL as s the host waits, without the lock: then the
   ledger may be another, and it looks again. */
static int gt__reach_all_unlocks(gt_stream *s, gt__storage *x) {
  gt__region where = gt__range(x->data, x->bytes);
  int code = 0, away;
  do {
    gt__ledger *l = gt__ledger_of(x);
    away = 0;
    for (int k = 0; k < l->n && !code && !away; k++) {
      gt__use u = gt__uses(l)[k];
      if (gt__knows(s, u.at) || !gt__meeting(&where, &u.where)) continue;
      code = gt__reach_unlocks(s, u.at, &away);
    }
  } while (away && !code);
  return code;
}
/* -- writes that failed after their call had returned. Nearly always there is none: any_failures
   asks that without a lock. Threads of CPU streams ask and tell, too: with gt__failures_lock. -- */
static int gt__any_failures(void) { return __atomic_load_n(&gt__all.failures, __ATOMIC_RELAXED); }
/* Adds one. If there are too many the last one encloses it, and more is an error than has to be. */
static void gt__add_failure(const gt__failure *f) {
  int n = gt__all.failures;
  if (n == GT__FAILURES) {
    gt__join_regions(&gt__all.failure[n - 1].where, &f->where, 1);
    return;
  }
  gt__all.failure[n] = *f;
  __atomic_store_n(&gt__all.failures, n + 1, __ATOMIC_RELAXED);
}
static void gt__add_rest(gt__failure f, uintptr_t begin, uintptr_t end) { /* what is left of f */
  if (begin >= end) return;
  f.where = gt__range((void *)begin, end - begin);
  gt__add_failure(&f);
}
/* Every byte there was written: what it covers of failures is over. Of failures in several runs one
   write has to cover all. */
static void gt__mark_written(const gt__region *where) {
  if (!gt__any_failures()) return;
  GT__HOLD(gt__failures_lock);
  for (int i = gt__all.failures - 1; i >= 0 && where->exact; i--) {
    gt__failure f = gt__all.failure[i];
    int ranges = where->count == 1 && f.where.count == 1;
    if (!gt__meeting(&f.where, where)) continue;
    if (!ranges && !gt__covers(where, &f.where)) continue;
    gt__all.failure[i] = gt__all.failure[gt__all.failures - 1];
    __atomic_store_n(&gt__all.failures, gt__all.failures - 1, __ATOMIC_RELAXED);
    gt__add_rest(f, f.where.begin, where->begin);
    gt__add_rest(f, gt__region_end(where), gt__region_end(&f.where));
  }
}
GT__COLD static int gt__check_written(const gt__access *a) {
  GT__HOLD(gt__failures_lock);
  for (int i = 0; i < gt__all.failures; i++) {
    gt__me.failed = gt__all.failure[i];
    if (gt__meeting(&gt__me.failed.where, &a->where)) return GT__UNWRITTEN;
  }
  return 0;
}
static int gt__reads_unwritten(const gt__op *op) {
  if (!gt__any_failures()) return 0;
  for (int i = 0; i < op->n_touch; i++) {
    const gt__access *a = &gt__touched(op)[i];
    if (a->reads && gt__check_written(a)) return gt__me.failed.code;
  }
  return 0;
}
/* After an operation: what it wrote counts as written or, if its code is an error, as failed. */
static void gt__mark_output(const gt__op *op, int code) {
  if (!code && !gt__any_failures()) return;
  for (int i = 0; i < op->n_touch; i++) {
    const gt__access *a = &gt__touched(op)[i];
    gt__failure f = {a->where, code, op->text};
    if (!a->writes) continue;
    if (code) {
      GT__HOLD(gt__failures_lock);
      gt__add_failure(&f);
    } else gt__mark_written(&f.where);
  }
}
/* x ends, and its memory with it, unless another storage has it, too. */
static int gt__same_memory(const gt__storage *x, const gt__storage *y) {
  uintptr_t a = (uintptr_t)x->data, b = (uintptr_t)y->data;
  return a < b + y->bytes && b < a + x->bytes;
}
static void gt__forget_failures(const gt__storage *x) {
  if (!gt__any_failures()) return;
  for (const gt_tensor *y = gt__all.tensors; y && x->foreign; y = y->gt__next)
    if (y->storage != x && gt__same_memory(x, y->storage)) return;
  gt__region where = gt__range(x->data, x->bytes);
  gt__mark_written(&where);
}
static void gt__end_storage(gt__storage *x) { /* but not its memory; its uses are over */
  gt__forget_failures(x);
  GPUTENSOR_FREE(x->own.more);
  GPUTENSOR_FREE(x);
}
/* -- memory that is wrapped more than once -- */
/* x has memory in common with another storage: its uses go to the common ledger. */
static void gt__alias(gt__storage *x) {
  const gt__use *use = gt__uses(&x->own);
  if (x->aliased) return;
  x->aliased = 1;
  for (int k = 0; k < x->own.n; k++) gt__add_use(&gt__all.aliases, use + k);
}
static void gt__find_aliases(gt__storage *x) { /* x wraps memory, perhaps of other storages, too */
  for (gt_tensor *y = gt__all.tensors; y; y = y->gt__next) {
    if (y->storage == x || !gt__same_memory(x, y->storage)) continue;
    gt__alias(x);
    gt__alias(y->storage);
  }
}

/* ---- >>order ------------------------------------------------------------------------------------
   For each operation: which of the uses in the ledgers touch one of its bytes, too, and one of the
   two writes it; and the waits that put these in order. */
/* -- claims: memory that a thread itself reads or writes at this moment, outside the lock. Who
   wants it waits for gt__idle. -- */
static void gt__begin_claim(gt__claim *c, int n, const gt__access *access) {
  c->access = access;
  c->n = n;
  c->next = gt__all.claims;
  gt__all.claims = c;
}
static void gt__end_claim(const gt__claim *c) {
  gt__claim **p = &gt__all.claims;
  while (*p != c) p = &(*p)->next;
  *p = c->next;
  pthread_cond_broadcast(&gt__idle);
}
static int gt__conflicts(const gt__access *a, int n, const gt__access *b) {
  for (int i = 0; i < n; i++) {
    int writes = a->writes || b[i].writes;
    if (writes && gt__meeting(&a->where, &b[i].where)) return 1;
  }
  return 0;
}
static int gt__is_claimed(const gt__access *a) {
  for (const gt__claim *c = gt__all.claims; c; c = c->next)
    if (gt__conflicts(a, c->n, c->access)) return 1;
  return 0;
}
/* What is done at once, while a graph is recorded, has nothing to do with it. */
static int gt__check_recorded(int n, const gt__access *a) {
  const gt_graph *g = gt__me.graph;
  for (int i = 0; i < n; i++)
    if (gt__conflicts(a + i, g->n_access, g->access)) return GT__RECORDED;
  return 0;
}
/* -- races, and the order that avoids them -- */
GT__COLD static void gt__stream_text(char *text, const gt_stream *s) {
  if (!s || !s->queue) snprintf(text, 64, "the host");
  else if (s->name) snprintf(text, 64, "stream %d of %s", s->name, gt_device_string(s->device));
  else snprintf(text, 64, "the default stream of %s", gt_device_string(s->device));
}
/* Writes the line that gt_report_races prints. It names the tensor of just these bytes, or else one
   of the storage. */
GT__COLD static void gt__note_race(const gt_stream *s, const gt__access *a, const gt__use *u,
                                   int meeting) {
  const gt_tensor *y = NULL; /* of that memory, else another one of the storage */
  char here[64], there[64], *line = gt__all.race[gt__all.n_race++ % GT__RACES];
  for (const gt_tensor *x = gt__all.tensors; x; x = x->gt__next) {
    if (x->storage != a->storage) continue;
    gt__region where = gt__region_of(x);
    y = x;
    if (gt__covers(&where, &a->where) && gt__covers(&a->where, &where)) break;
  }
  gt__stream_text(here, s);
  gt__stream_text(there, gt__all.slot[u->at.slot]);
  const char *kind = meeting == GT__WILL_MEET ? "race" : "may be a race";
  const char *does = a->writes ? "writes" : "reads";
  const char *doing = u->writes ? "writing" : "reading";
  const char *dtype = y ? gt_dtype_string(y->dtype) : "memory";
  const char *shape = y ? gt__shape_text(y) : "";
  snprintf(line, sizeof gt__all.race[0],
           "%s: %.40s on %s %s %s %s, which %.40s on %s may still be %s", kind, gt__me.call, here,
           does, dtype, shape, u->at.text, there, doing);
}
/* Brings s behind a use that meets what it is about to do. What the library made for itself is
   ordered always, and so is the host behind its own stream. */
static int gt__follow_unlocks(gt_stream *s, const gt__access *a, gt__use u, int meeting,
                              int *away) {
  const gt_stream *t = gt__all.slot[u.at.slot];
  int always = a->storage->internal || (!s && t == gt__current(t->device));
  if (gt__me.safety == GT_ORDER || always) return gt__reach_unlocks(s, u.at, away);
  if (gt__me.safety == GT_REPORT) gt__note_race(s, a, &u, meeting);
  return 0;
}
/* Orders one access. *away: the lock was given up, and others may have gone on. */
static int gt__order_access_unlocks(gt_stream *s, const gt__access *a, int *away) {
  int code = 0;
  while (gt__all.claims && gt__me.safety == GT_ORDER && gt__is_claimed(a)) {
    *away = 1;
    pthread_cond_wait(&gt__idle, &gt__mutex);
  }
  gt__ledger *l = gt__ledger_of(a->storage);
  for (int k = 0; k < l->n && !code; k++) {
    const gt__use *u = &gt__uses(l)[k];
    if (s && u->at.slot == s->slot) continue; /* as on one stream */
    if ((!a->writes && !u->writes) || gt__knows(s, u->at)) continue;
    int meeting = gt__meeting(&a->where, &u->where);
    if (meeting) code = gt__follow_unlocks(s, a, *u, meeting, away);
  }
  if (!code && a->reads && gt__any_failures()) code = gt__check_written(a);
  return code;
}
/* Orders what s is about to do. NULL, or a stream without a queue, is the calling thread. Where the
   lock was given up it looks again, and *waited says so. */
static int gt__order_unlocks(gt_stream *s, int n, const gt__access *a, int *waited) {
  int away, code = gt__me.graph ? gt__check_recorded(n, a) : 0;
  if (s && !s->queue) s = NULL;
  do {
    away = 0;
    for (int i = 0; i < n && !code; i++) code = gt__order_access_unlocks(s, a + i, &away);
    *waited |= away;
  } while (away && !code);
  return code;
}
/* After a wait: was there a bad index on a device since the last one? */
static gt_status gt__check_fault(void) {
  gt__lock();
  volatile int32_t *word = gt__all.fault;
  gt__unlock();
  int i = 0;
  while (word && i < GT__PICKERS && !word[i]) i++;
  if (!word || i == GT__PICKERS) return GT_OK;
  word[i] = 0;
  gt__me.call = gt__picker[i];
  return gt__fail(GT_ERROR_ARGUMENT,
                  "an index of a GPU or a graph was out of range; the entries that it named are %s",
                  i < GT__ADDS ? "0" : "left out");
}
/* -- the host's own reading and writing -- */
static gt_status gt__order_host(const gt__access *a, gt__claim *claim) {
  int waited = 0;
  gt_device device = gt_cpu();
  gt_stream copy;
  gt__lock();
  int code = gt__order_unlocks(NULL, 1, a, &waited);
  if (!code && claim) gt__begin_claim(claim, 1, a);
  const gt_stream *last = gt__all.slot[a->storage->last];
  if (code && last) { /* which may end as soon as the lock is given up */
    copy = *last;
    last = &copy;
    device = copy.device;
  }
  gt__unlock();
  if (code) return gt__report(device, last, code);
  return waited ? gt__check_fault() : GT_OK;
}
/* Waits until the host may read x, or read and write it. */
static gt_status gt__host_access(const gt_tensor *x, int writes) {
  gt__access a = {x->storage, gt__region_of(x), 1, writes};
  return gt__order_host(&a, NULL);
}
static void gt__host_end(gt__host_use *use) {
  if (!use->claim.access) return;
  gt__lock();
  gt__end_claim(&use->claim);
  if (use->access.writes) gt__mark_written(&use->access.where);
  gt__unlock();
  use->claim.access = NULL;
  gt__me.claims--;
  if (gt__me.untold && !gt__me.claims) gt__tell_handler();
}
static gt_status gt__host_begin(const gt_tensor *x, int writes, gt__host_use *use) {
  gt__access a = {x->storage, gt__region_of(x), !writes, writes};
  use->access = a;
  use->claim.access = NULL;
  gt_status status = gt__order_host(&use->access, &use->claim);
  gt__me.claims += use->claim.access != NULL;
  if (status) gt__host_end(use);
  return status;
}
static int gt__is_pinned(const void *p) { /* memory of the caller's */
  gt__owner owner;
  GT__HOLD(gt__mutex);
  GT__PINNING->owner(p, -1, &owner);
  return owner.kind == GT__PINNED;
}
/* Can memory of the caller's be a tensor's of that device? *pinned: it is page-locked. */
static gt_status gt__check_owner(const void *p, gt_device device, int *pinned) {
  int gpu = !gt__on_host(device);
  gt__owner owner;
  gt__lock();
  int code = GT__PINNING->owner(p, gpu ? device.index : -1, &owner);
  gt__unlock();
  if (code) return gt__report(device, NULL, code);
  *pinned = !gpu && owner.kind == GT__PINNED;
  if (!p || owner.kind == GT__OF_ALL) return GT_OK;
  if (owner.kind == GT__OF_DEVICE && (!gpu || owner.index != device.index))
    return gt__fail(GT_ERROR_DEVICE,
                    "data is memory of cuda:%d, not of %s; wrap it for the device that it is on",
                    owner.index, gt_device_string(device));
  if (owner.kind != GT__OF_DEVICE && gpu)
    return gt__fail(GT_ERROR_DEVICE,
                    "data is memory of the host, not of %s; gt_from_array copies it there",
                    gt_device_string(device));
  return GT_OK;
}

/* ---- >>storage ---------------------------------------------------------------------------------
   Device memory is taken and given back in stream order, from pools that keep it: a pool hands out
   what was given back on a stream only behind all that the stream was given before, so kernels may
   still be using it. Memory of the host is kept until the work that uses it is done, pinned memory
   longer, for the next who asks. Where memory goes when the last handle on it ends:

     the host's, its work done       back to the C library
     the host's, work still to do    gt__all.pool[0], until gt__sweep_unlocks finds that done
     pinned                          gt__all.pool of its class, for the next of that class
     a GPU's                         its pool: on the stream that used it last, if that is behind
                                     all other uses, or else behind all of them, on the bin */
/* Gives device memory back: on the stream that used it last, if other uses are behind that; else on
   the device's bin, which waits so that no user's stream must. What cannot be waited for stays. */
static int gt__release_device_unlocks(gt__storage *s) {
  gt_stream *t = gt__all.slot[s->last];
  gt__ledger *l = gt__ledger_of(s);
  const gt__use *use = gt__uses(l);
  int code = 0, fits = t && !t->freed && !gt__captured(t) && gt__same_device(t->device, s->device);
  for (int k = 0; k < l->n && fits; k++) fits = gt__knows(t, use[k].at);
  if (!fits) t = gt__opened(&gt__all.bin[gt__slot(s->device)], s->device, &code);
  if (code || gt__reach_all_unlocks(t, s)) code = gt__reach_all_unlocks(NULL, s);
  void *queue = t ? t->queue : NULL;
  if (!code) GT__OF(s)->release(s->device.index, queue, s->data, 0);
  return code;
}
static void gt__drop_unlocks(gt__storage *s) { /* its memory goes for good; with the lock */
  if (!gt__on_host(s->device)) gt__release_device_unlocks(s);
  else (s->pooled ? GT__PINNING : GT__HOST)->release(-1, NULL, s->data, s->pooled);
  gt__end_storage(s);
}
static gt__storage *gt__pool_take(int c) { /* the oldest of a class */
  gt__storage *s = gt__all.pool[c].first;
  if (!s) return NULL;
  gt__all.pool[c].first = s->next, gt__all.pool[c].count--;
  return s;
}
static void gt__pool_give(gt__storage *s) {
  int c = s->pooled;
  s->next = NULL;
  if (gt__all.pool[c].first) gt__all.pool[c].last->next = s;
  else gt__all.pool[c].first = s;
  gt__all.pool[c].last = s, gt__all.pool[c].count++;
}
/* Frees ordinary memory that has settled; with `wait` all it can, and the lock is given up then. */
static void gt__sweep_unlocks(int wait) {
  for (int c = 0; c < (wait ? (int)GT__CLASSES : 1); c++)
    for (int n = gt__all.pool[c].count; n > 0; n--) {
      gt__storage *s = gt__pool_take(c);
      if (!s) break; /* another thread has them */
      if (gt__settled(s) || (wait && !gt__reach_all_unlocks(NULL, s))) gt__drop_unlocks(s);
      else gt__pool_give(s);
    }
}
/* Pinned memory from the pool, or fresh. If the oldest block still waits for its work, 32 MiB more;
   then it is waited for: a program that runs ahead of its GPU must not pin ever more. */
static int gt__take_pinned_unlocks(gt__storage *s) {
  int code, c = 12;                                                      /* from a page on */
  if ((uint64_t)s->bytes >> (GT__CLASSES - 1)) return GT__CPU_NO_MEMORY; /* beyond all classes */
  while (c < GT__CLASSES - 1 && (size_t)1 << c < s->bytes) c++;
  int most = 2; /* blocks: 32 MiB together, but two at least */
  if (c <= 23) most = 1 << (25 - (c < 15 ? 15 : c));
  gt__storage *found = gt__all.pool[c].first;
  if (found && (gt__settled(found) || gt__all.pool[c].count >= most)) {
    gt__pool_take(c);
    code = gt__reach_all_unlocks(NULL, found);
    s->data = found->data;
    if (code) gt__pool_give(found);
    else gt__end_storage(found);
  } else code = GT__PINNING->alloc(gt_current_device().index, NULL, (size_t)1 << c, 1, &s->data);
  s->pooled = code ? 0 : c;
  return code;
}
/* One attempt; with the lock. */
static int gt__storage_fill_unlocks(gt__storage *s) {
  const gt__backend *b = GT__OF(s);
  int code = 0;
  if (gt__on_host(s->device)) {
    gt__sweep_unlocks(0);
    if (s->pinned && s->bytes) return gt__take_pinned_unlocks(s);
    return b->alloc(0, NULL, s->bytes, 0, &s->data);
  }
  gt_stream *stream = gt__opened_current(s->device, &code);
  if (stream) code = gt__captured(stream);
  if (code) return code;
  code = b->alloc(s->device.index, stream->queue, s->bytes, 0, &s->data);
  if (code) return code;
  gt__access all = gt__whole(s, 1);
  stream->number++; /* an allocation is an operation that writes */
  gt__note(&all, stream);
  return 0;
}
/* The message of a failed allocation says who holds most of the memory. */
GT__COLD static gt_status gt__no_memory(gt_device device, size_t bytes, int code) {
  if (!gt__is_out_of_memory(code, device)) return gt__report(device, NULL, code);
  char owners[400] = "";
  size_t n = 0, last = SIZE_MAX, reserved, available, total, held;
  gt__lock();
  held = gt__all.allocated[gt__slot(device)];
  for (int i = 0; i < 3; i++) {
    const gt_tensor *most = NULL;
    for (const gt_tensor *x = gt__all.tensors; x; x = x->gt__next)
      if (gt__same_device(x->device, device) && x->storage->bytes < last &&
          x->storage->bytes > (most ? most->storage->bytes : 0))
        most = x;
    if (!most) break;
    last = most->storage->bytes;
    n += snprintf(owners + n, sizeof owners - n, "%s%s %.70s %zu",
                  n ? ", " : "; largest: ", gt_dtype_string(most->dtype), gt__shape_text(most),
                  last);
  }
  gt__backend_of(device)->memory(device.index, &reserved, &available, &total);
  gt__unlock();
  return gt__fail(GT_ERROR_MEMORY,
                  "out of memory on %s: asked for %zu bytes, %zu of %zu are free, %zu "
                  "are in tensors%s",
                  gt_device_string(device), bytes, available, total, held, owners);
}
/* Gives back all that is cached. */
static int gt__give_back_unlocks(gt_device device) {
  const gt__backend *b = gt__backend_of(device);
  int code = gt__await_all_unlocks(&device, 0);
  for (int i = 0; i < gt__all.top; i++) {
    gt_stream *t = gt__all.slot[i];
    if (t && gt__same_device(t->device, device)) gt__drop_scratch(t, 0);
  }
  gt__sweep_unlocks(1);
  return code || !b->trim ? code : b->trim(device.index);
}
/* Memory for a tensor or for staging; NULL, with an error, if there is none even after all that is
   kept for later was given back. */
static gt__storage *gt__storage_new(size_t bytes, gt_device device, int pinned) {
  gt__storage *s = (gt__storage *)gt__malloc(sizeof *s);
  int slot = gt__slot(device);
  if (!s) return NULL;
  s->bytes = bytes;
  s->device = device;
  s->pinned = pinned;
  gt__lock();
  int code = gt__storage_fill_unlocks(s);
  if (code && (gt__is_out_of_memory(code, device) || pinned)) {
    gt__give_back_unlocks(device);
    code = gt__storage_fill_unlocks(s);
  }
  if (code && pinned) { /* page-locked memory is scarcer: ordinary memory does it too, slower */
    s->pinned = 0;
    code = gt__storage_fill_unlocks(s);
  }
  if (!code) gt__all.allocated[slot] += bytes;
  if (gt__all.peak[slot] < gt__all.allocated[slot]) gt__all.peak[slot] = gt__all.allocated[slot];
  gt__unlock();
  if (!code) return s;
  GPUTENSOR_FREE(s);
  gt__no_memory(device, bytes, code);
  return NULL;
}
/* Scratch for s's next operation. A stream keeps that of two, which alternate: then it is known
   what may still be using it, where new memory may be a tensor's just freed, and there is nothing
   to allocate. */
static int gt__take_scratch_unlocks(gt_stream *s, size_t bytes, int *again) {
  gt__span *own = &s->scratch[s->scratch_next];
  int tried = *again;
  void *p;
  *again = 0;
  if ((size_t)(own->end - own->begin) >= bytes) return 0;
  int code = GT__OF(s)->alloc(s->device.index, s->queue, bytes, 0, &p);
  if (!tried && gt__is_out_of_memory(code, s->device)) {
    *again = 1;
    gt__give_back_unlocks(s->device);
    return 0;
  }
  if (code) return code;
  if (own->begin) GT__OF(s)->release(s->device.index, s->queue, own->begin, 0);
  own->begin = (char *)p;
  own->end = own->begin + bytes;
  s->fresh = 1;
  return 0;
}
/* Memory of the caller's: who has it now hears of what should have been written and was not. */
static void gt__end_wrap(gt__storage *s) { /* without the lock */
  gt__access all = gt__whole(s, 0);
  gt__lock();
  int code = gt__reach_all_unlocks(NULL, s);
  if (!code && gt__any_failures()) code = gt__check_written(&all);
  gt__unlock();
  if (s->deleter) s->deleter(s->data, s->context);
  gt__lock();
  gt_device device = s->device;
  gt__end_storage(s);
  gt__unlock();
  gt__me.call = "gt_free";
  gt__report(device, NULL, code);
}
static void gt__storage_end_unlocks(gt__storage *s) { /* with the lock, which it gives up */
  gt__all.allocated[gt__slot(s->device)] -= s->bytes;
  int gpu = !gt__on_host(s->device);
  int captured = gpu && s->data && gt__release_device_unlocks(s) == GT__CAPTURED;
  if (gpu && !captured) gt__end_storage(s);
  else if (!gpu && !s->pooled && gt__settled(s)) gt__drop_unlocks(s);
  else gt__pool_give(s); /* a captured stream cannot be asked */
  gt__unlock();
}

/* ---- >>ways ------------------------------------------------------------------------------------
   See gt__way. Tests define GT__HOOK_WAY to count which ways were taken. */
#ifndef GT__HOOK_WAY
#define GT__HOOK_WAY(op) (void)0
#endif
static const char *gt__asked_ways(void) { /* NULL: GPUTENSOR_WAYS is not set */
  static int known;
  static const char *asked;
  if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
    const char *text = getenv("GPUTENSOR_WAYS");
    __atomic_store_n(&asked, text && *text ? text : NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&known, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&asked, __ATOMIC_RELAXED);
}
/* The length of the name with which a list begins. */
static size_t gt__first_name(const char *list) { return strcspn(list, ","); }
static int gt__is_named(const gt__way *way, const char *name) {
  const size_t n = gt__first_name(name);
  return strlen(way->name) == n && !memcmp(way->name, name, n);
}
/* Has a back end a way of the name with which the list begins? */
static int gt__any_way(const gt__backend *backend, const char *list) {
  for (int kind = 0; kind < GT__KINDS; kind++)
    for (const gt__way *way = backend->ways(kind); way->name; way++)
      if (gt__is_named(way, list)) return 1;
  return 0;
}
/* The first of the named ways that takes op, else the last of the table. */
static const gt__way *gt__asked_way(gt__op *op, const gt__way *ways, const char *list) {
  const gt__way *way = ways;
  for (; *list; list += gt__first_name(list), list += *list == ',')
    for (way = ways; way->name; way++)
      if (gt__is_named(way, list) && way->plan(op)) return way;
  for (way = ways; way[1].name;) way++;
  way->plan(op);
  return way;
}
/* `ways` ends with a row without a name. */
static int gt__choose_way(gt__op *op, const gt__way *ways) {
  const char *asked = gt__asked_ways();
  op->scratch = 0;
  op->plan_bytes = 0;
  if (asked) ways = gt__asked_way(op, ways, asked);
  else
    while (!ways->plan(op)) ways++;
  op->way = ways;
  GT__HOOK_WAY(op);
  return 0;
}

/* ---- >>submit ----------------------------------------------------------------------------------
   The one way to a back end. An operation is planned, put in order behind the pending uses of its
   memory, given scratch and a number, traced if a trace is on, run, and noted in the ledgers. One
   that is recorded for a graph is planned and kept, see gt__graph_add. What the calling thread does
   itself runs outside the lock, with claims. */
static void **gt__scratch_of(gt__op *op) { /* a reduction begins with a map */
  if (op->kind == GT__ORDER) return &op->u.order.scratch;
  if (op->kind == GT__SCATTER) return &op->u.scatter.scratch;
  return op->kind == GT__MATMUL ? &op->u.matmul.post.scratch : &op->u.map.scratch;
}
/* The kernels of a product may begin before the operations in front of it on the stream have ended.
   What they may do that early: READ the operands, WRITE the scratch; they wait before they write
   anything else. `late` has the memory that operations which may still run write. A product that
   may do neither, or that has scratch, is a barrier: nothing behind it begins before all in front
   of it has ended, and `late` starts anew with it (gt__note_late). Where others may enqueue on the
   stream the list is not complete, so nothing is early. */
static int gt__is_late(const gt_stream *s, gt__region where) {
  for (int k = 0; k < s->n_late; k++)
    if (gt__meeting(&s->late[k], &where)) return 1;
  return 0;
}
static int gt__earliness(const gt_stream *s, const gt__op *op) {
  if (!s->owned || s->shared || s->n_late > GT__LATE - 2) return 0; /* not all are in the list */
  for (int i = 1; i < op->n_touch; i++)
    if (gt__is_late(s, op->touch[i].where)) return 0;
  if (!op->scratch || s->fresh) return GT__EARLY_READ;
  gt__region scratch = gt__range(s->scratch[s->scratch_next].begin, op->scratch);
  return gt__is_late(s, scratch) ? GT__EARLY_READ : GT__EARLY_READ | GT__EARLY_WRITE;
}
static void gt__set_late(gt_stream *s, gt__region where) {
  if (s->n_late < GT__LATE) s->late[s->n_late++] = where;
}
/* The queue of a CPU stream is bounded: waits while it is full. In a trace the call begins before
   that wait. */
static void gt__wait_for_room_unlocks(gt_stream *s) {
  if (gt__trace.on) gt__me.asked = gt_now_ms();
  gt__unlock();
  GT__OF(s)->queue_room(s->queue);
  gt__lock();
}
/* Orders op, and takes scratch for it. *no_memory: that could not be had. */
static int gt__prepare_unlocks(gt_stream *s, gt__op *op, int *waited, int *no_memory) {
  int again = 0, code;
  do {
    code = gt__order_unlocks(s, op->n_touch, gt__touched(op), waited);
    if (code || !op->scratch) return code;
    code = gt__take_scratch_unlocks(s, op->scratch, &again);
    *no_memory = code != 0;
  } while (again && !code);
  if (!code) *gt__scratch_of(op) = s->scratch[s->scratch_next].begin;
  return code;
}
/* What the calling thread does itself runs outside the lock, with claims. */
static int gt__start_unlocks(gt_stream *s, const gt__op *op) {
  const gt__backend *backend = GT__OF(op);
  gt__claim claim;
  if (s->queue) return backend->run(op->device.index, s->queue, op);
  gt__begin_claim(&claim, op->n_touch, gt__touched(op));
  gt__unlock();
  int code = backend->run(op->device.index, NULL, op);
  gt__lock();
  gt__end_claim(&claim);
  return code;
}
static void gt__note_late(gt_stream *s, const gt__op *op, int code) {
  int waits = op->kind == GT__MATMUL && (op->scratch || !op->u.matmul.post.early);
  if (!code && waits) s->n_late = 0;
  gt__set_late(s, op->touch[0].where);
  if (!op->scratch) return;
  gt__set_late(s, gt__range(s->scratch[s->scratch_next].begin, op->scratch));
  s->scratch_next ^= 1;
  s->fresh = 0;
}
/* Notes what is on its way, even if that failed: a part of it may have been started. */
static void gt__note_all(gt_stream *s, const gt__op *op, int code) {
  s->number++;
  if (op->kind >= GT__KINDS) s->n_late = GT__LATE; /* we do not know which, so none is early */
  else gt__note_late(s, op, code);
  for (int i = 0; i < op->n_touch; i++) gt__note(&gt__touched(op)[i], s);
}
/* Orders op behind other work, starts it and notes it, on the current stream s, which is held. */
static int gt__submit_to_unlocks(gt_stream *s, gt__op *op, int *waited, int *no_memory) {
  if (s->queue && GT__OF(s)->queue_room) gt__wait_for_room_unlocks(s);
  if (gt__all.lost[gt__slot(op->device)]) return GT__LOST;
  int code = gt__captured(s);
  if (!code) code = gt__prepare_unlocks(s, op, waited, no_memory);
  if (code) return code;
  op->number = s->number + 1;
  if (op->kind == GT__MATMUL && s->queue) op->u.matmul.post.early = gt__earliness(s, op);
  op->record = gt__trace.on ? gt__trace_op(s, op) : NULL;
  code = gt__start_unlocks(s, op);
  if (op->record) gt__trace_started(s, op->record, code);
  if (s->queue) gt__note_all(s, op, code);
  if (code) return code;
  s->recent[s->n_recent++ % GT__RECENT] = op->text;
  gt__all.stats.operations++;
  if (!s->queue || !gt__on_host(s->device)) gt__mark_output(op, 0);
  return 0;
}
/* Every name in GPUTENSOR_WAYS must be a way's. */
static gt_status gt__check_ways(void) {
  for (const char *list = gt__asked_ways(); *list; list += *list == ',') {
    int n = (int)gt__first_name(list);
    if (!gt__any_way(GT__HOST, list) && !gt__any_way(GT__PINNING, list))
      return gt__fail(GT_ERROR_ARGUMENT,
                      "GPUTENSOR_WAYS names \"%.*s\", which is no way of doing "
                      "anything here; gt_build_info lists them",
                      n, list);
    list += n;
  }
  return GT_OK;
}
/* Plans op, then orders, runs and notes it under the lock; or hands it to the graph that this
   thread records. */
static gt_status gt__submit(gt__op *op) {
  const gt__backend *backend = GT__OF(op);
  int waited = 0, no_memory = 0;
  gt_status status = GT_OK;
  if (gt__asked_ways() && gt__check_ways()) return gt__failed();
  int code = op->kind >= GT__KINDS ? 0 : backend->plan(op);
  if (code) return gt__report(op->device, NULL, code);
  if (gt__is_recorded(op->device)) return gt__graph_add(op);
  gt__lock();
  gt_stream *s = gt__opened_current(op->device, &code);
  if (s) { /* another thread may free it meanwhile */
    s->held++;
    code = gt__submit_to_unlocks(s, op, &waited, &no_memory);
  }
  if (code) {
    gt__unlock();
    status =
        no_memory ? gt__no_memory(op->device, op->scratch, code) : gt__report(op->device, s, code);
    gt__lock();
  }
  if (s) gt__let_go_of(s);
  gt__unlock();
  return !code && waited ? gt__check_fault() : status;
}
/* Submits an operation that has no plan to that stream, whatever the current one is. */
static gt_status gt__submit_on(const gt_stream *s, gt__op *op) {
  gt__choice *current = &gt__me.stream[gt__slot(s->device)], before = *current;
  op->scratch = 0;
  op->plan_bytes = 0;
  current->slot = s->slot;
  current->name = s->name;
  gt_status status = gt__submit(op);
  *current = before;
  return status ? status : gt__check_fault();
}
static gt__op *gt__op_new(gt__op *op, int kind, gt_device device) {
  op->kind = kind;
  op->n_touch = 0;
  *gt__scratch_of(op) = NULL;
  if (kind == GT__COPY) memset(&op->u.copy, 0, sizeof op->u.copy); /* the others set all fields */
  op->text = gt__me.call;
  op->device = device;
  return op;
}
/* Adds what is touched; the output is the first. */
static void gt__touch(gt__op *op, gt__storage *storage) { /* touch[n_touch].where is set */
  gt__access *last = &op->touch[op->n_touch];
  if (!last->where.run) return; /* nobody waits before such memory is freed */
  for (gt__access *a = op->touch; a < last; a++) {
    if (a->storage != storage || !gt__covers(&a->where, &last->where)) continue;
    a->reads = 1;
    return;
  }
  last->storage = storage;
  last->writes = op->n_touch == 0;
  last->reads = op->n_touch > 0;
  op->n_touch++;
}
static void gt__touch_bytes(gt__op *op, gt__storage *storage, const void *p, int64_t bytes) {
  op->touch[op->n_touch].where = gt__range(p, (size_t)bytes);
  gt__touch(op, storage);
}

/* ---- >>handles ---------------------------------------------------------------------------------
   Scopes and tensors. A handle is in the list of all, and in that of its scope, if it has one; a
   storage counts its handles, and ends with the last. */
GT_API gt_scope *gt_scope_push(gt_scope *scope) {
  gt_scope begun = {NULL, gt__me.scope};
  *scope = begun;
  return gt__me.scope = scope;
}
/* Takes x out of its scope, if any, and puts it into `scope`, if any. With the lock. */
static void gt__set_scope(gt_tensor *x, gt_scope *scope) {
  if (x->gt__scope_next) x->gt__scope_next->gt__scope_prev = x->gt__scope_prev;
  if (x->gt__scope_prev) x->gt__scope_prev->gt__scope_next = x->gt__scope_next;
  else if (x->gt__scope) x->gt__scope->gt__first = x->gt__scope_next;
  x->gt__scope = scope;
  x->gt__scope_prev = NULL;
  x->gt__scope_next = scope ? scope->gt__first : NULL;
  if (x->gt__scope_next) x->gt__scope_next->gt__scope_prev = x;
  if (scope) scope->gt__first = x;
}
GT_API gt_tensor *gt_keep(gt_tensor *x) {
  if (GT__NO(x)) return NULL;
  GT__HOLD(gt__mutex);
  gt__set_scope(x, x->gt__scope ? x->gt__scope->gt__outer : NULL);
  return x;
}
static gt_tensor *gt__outside(gt_tensor *x) { /* of any scope; NULL is fine */
  GT__HOLD(gt__mutex);
  if (x) gt__set_scope(x, NULL);
  return x;
}
/* A tensor's description without its links, which other threads may be changing. */
static gt_tensor gt__plain(const gt_tensor *x) {
  gt_tensor y;
  memcpy(&y, x, offsetof(gt_tensor, gt__next));
  memset(&y.gt__next, 0, sizeof y - offsetof(gt_tensor, gt__next));
  return y;
}
/* What the public functions of these names answer, of a tensor that was checked. */
static int64_t gt__numel(const gt_tensor *x) { return gt__count(x->ndim, x->shape); }
GT__INSIDE size_t gt__nbytes(const gt_tensor *x) { return gt__numel(x) * gt__dtype[x->dtype].size; }
static gt_shape gt__shape_of(const gt_tensor *x) {
  gt_shape shape = {x->ndim, {0}};
  memcpy(shape.size, x->shape, sizeof shape.size);
  return shape;
}
static int gt__is_dense(const gt_tensor *x) { /* contiguous */
  int64_t stride = 1;
  for (int d = x->ndim - 1; d >= 0; d--) {
    if (x->shape[d] == 0) return 1;
    if (x->shape[d] > 1 && x->stride[d] != stride) return 0;
    stride *= x->shape[d];
  }
  return 1;
}
/* A new handle like `model`, on the same storage. */
static gt_tensor *gt__handle(const gt_tensor *model) {
  gt_tensor *x = (gt_tensor *)gt__malloc(sizeof *x);
  if (!x) return NULL;
  memcpy(x, model, offsetof(gt_tensor, gt__next));
  GT__HOLD(gt__mutex);
  x->storage->refs++, x->gt__next = gt__all.tensors;
  if (x->gt__next) x->gt__next->gt__prev = x;
  gt__all.tensors = x;
  gt__set_scope(x, gt__me.scope);
  return x;
}
/* Ends a handle and, if it is the last one of a storage, that. Memory of the caller's is waited for
   first, since it is his again on return. */
static void gt__end_handle(gt_tensor *x, int how) {
  gt__storage *storage = x->storage;
  int wrap = storage->foreign;
  gt__lock();
  gt__set_scope(x, NULL);
  int last = storage->refs == 1;
  if (last && wrap) gt__reach_all_unlocks(NULL, storage); /* in the list: new wraps find it */
  if (x->gt__prev) x->gt__prev->gt__next = x->gt__next;
  else gt__all.tensors = x->gt__next;
  if (x->gt__next) x->gt__next->gt__prev = x->gt__prev;
  last = --storage->refs == 0;
  if (last && !wrap) gt__storage_end_unlocks(storage);
  else gt__unlock();
  if (last && wrap) gt__end_wrap(storage);
  GPUTENSOR_FREE(gt__held_back(x, how));
}
GT_API void gt_scope_pop(gt_scope *scope) {
  while (scope->gt__first) gt__end_handle(scope->gt__first, GT__BY_SCOPE);
  gt__me.scope = scope->gt__outer;
}
static void gt__free(gt_tensor *x) {
  if (x) gt__end_handle(x, GT__BY_FREE);
}
GT_API void gt_free(gt_tensor *x) {
  GT__CALL;
  if (!gt__is_ended(1, x)) gt__free(x);
}
static void gt__end_local(gt_tensor **x) { gt__free(*x); }
#define GT__LOCAL __attribute__((cleanup(gt__end_local))) /* a handle that ends with its block */
GT_API gt_tensor *gt_retain(const gt_tensor *x) { return GT__NO(x) ? NULL : gt__handle(x); }
/* THE SIZES. No tensor, view, broadcast or product has more elements than this, sizes of 0 counted
   as 1: each new shape is checked here, and only shapes that passed are computed with. Then sums of
   two sizes, a dim's size times its stride, and the bytes between two elements are below 2^63. */
#define GT__MOST (PTRDIFF_MAX / 8)
static gt_status gt__check_size(int ndim, const int64_t *size) {
  int64_t n = 1;
  for (int d = 0; d < ndim; d++)
    if (size[d] && (__builtin_mul_overflow(n, size[d], &n) || n > GT__MOST))
      return gt__fail(GT_ERROR_SHAPE, "%s elements are more than memory can address",
                      gt__sizes(ndim, size));
  return GT_OK;
}
/* Fills a model of a contiguous tensor. */
static gt_status gt__model(gt_tensor *x, gt_shape shape, gt_dtype dtype, gt_device device) {
  int64_t stride = 1;
  memset(x, 0, sizeof *x);
  if (!gt__is_dtype(dtype)) return gt__fail(GT_ERROR_DTYPE, "%d is not a dtype", (int)dtype);
  if (shape.ndim < 0 || shape.ndim > GT_MAX_DIMS)
    return gt__fail(GT_ERROR_SHAPE, "%d dimensions; 0 to %d are possible", shape.ndim, GT_MAX_DIMS);
  for (int d = 0; d < shape.ndim; d++)
    if (shape.size[d] < 0)
      return gt__fail(GT_ERROR_SHAPE, "negative size in %s", gt__sizes(shape.ndim, shape.size));
  if (gt__check_size(shape.ndim, shape.size)) return gt__failed();
  for (int d = shape.ndim - 1; d >= 0; d--) {
    x->shape[d] = shape.size[d];
    x->stride[d] = stride;
    if (x->shape[d]) stride *= x->shape[d];
  }
  x->ndim = shape.ndim;
  x->dtype = dtype;
  x->device = device;
  return gt__check_device(device);
}
static gt_tensor *gt__new(gt_shape shape, gt_dtype dtype, gt_device device, int pinned) {
  gt_tensor model;
  if (gt__model(&model, shape, dtype, device)) return NULL;
  model.storage = gt__storage_new(gt__nbytes(&model), device, pinned);
  if (!model.storage) return NULL;
  gt_tensor *x = gt__handle(&model);
  if (x) return x;
  gt__lock();
  gt__storage_end_unlocks(model.storage);
  return NULL;
}
GT_API gt_tensor *gt_empty(gt_shape shape, gt_dtype dtype, gt_device device) {
  GT__CALL;
  return gt__new(shape, dtype, device, 0);
}
GT_API gt_tensor *gt_empty_pinned(gt_shape shape, gt_dtype dtype) {
  GT__CALL;
  return gt__new(shape, dtype, gt_cpu(), gt_cuda_is_available());
}
/* The tensor of a result. While a graph is recorded, it may get memory of one that has ended. */
static gt_tensor *gt__new_like(const gt_tensor *x) {
  int recorded = gt__is_recorded(x->device);
  gt_tensor *y = recorded ? gt__graph_memory(x) : NULL;
  if (!y) y = gt__new(gt__shape_of(x), x->dtype, x->device, 0);
  if (y && recorded) y->storage->graph = gt__me.graph->serial;
  return y;
}
GT_API gt_tensor *gt_empty_like(const gt_tensor *x) {
  return GT__NO(x) ? NULL : gt__new(gt__shape_of(x), x->dtype, x->device, 0);
}
typedef void gt__deleter(void *data, void *context);
/* A tensor in memory of the caller's, in which other storages may lie, too. */
static gt_tensor *gt__wrap(void *data, gt_shape shape, gt_dtype dtype, gt_device device,
                           gt__deleter *deleter, void *context, int constant) {
  gt_tensor model;
  if (gt__model(&model, shape, dtype, device)) return NULL;
  if (!data && gt__numel(&model)) return GT__NULL(GT_ERROR_ARGUMENT, "data is NULL");
  if ((uintptr_t)data % gt_dtype_size(dtype))
    return GT__NULL(GT_ERROR_ARGUMENT, "data is not aligned to its %s elements",
                    gt_dtype_string(dtype));
  int pinned = 0;
  if (gt__check_owner(data, device, &pinned)) return NULL;
  gt__storage *s = (gt__storage *)gt__malloc(sizeof *s);
  model.storage = s;
  if (!s) return NULL;
  s->data = data;
  s->bytes = gt__nbytes(&model);
  s->device = device;
  s->foreign = 1;
  s->constant = constant;
  s->deleter = deleter;
  s->context = context;
  s->pinned = pinned;
  gt_tensor *x = gt__handle(&model);
  gt__lock();
  if (x) gt__find_aliases(s);
  else gt__end_storage(s); /* the caller still owns data */
  gt__unlock();
  return x;
}
GT_API gt_tensor *gt_from_ptr(void *data, gt_shape shape, gt_dtype dtype, gt_device device,
                              gt__deleter *deleter, void *context) {
  GT__CALL;
  return gt__wrap(data, shape, dtype, device, deleter, context, 0);
}
GT_API gt_tensor *gt_from_const_ptr(const void *data, gt_shape shape, gt_dtype dtype,
                                    gt_device device, gt__deleter *deleter, void *context) {
  GT__CALL;
  return gt__wrap((void *)(uintptr_t)data, shape, dtype, device, deleter, context, 1);
}
GT_API int64_t gt_numel(const gt_tensor *x) { return GT__NO(x) ? 0 : gt__numel(x); }
GT_API size_t gt_nbytes(const gt_tensor *x) { return GT__NO(x) ? 0 : gt__nbytes(x); }
GT_API gt_shape gt_shape_of(const gt_tensor *x) {
  gt_shape none = {0, {0}};
  return GT__NO(x) ? none : gt__shape_of(x);
}
GT_API int gt_is_contiguous(const gt_tensor *x) { return GT__NO(x) ? 0 : gt__is_dense(x); }
GT_API int gt_is_pinned(const gt_tensor *x) { return GT__NO(x) ? 0 : x->storage->pinned; }
static size_t gt__tensor_bytes(gt_device device, const size_t *bytes) { /* by slot */
  if (gt__check_device(device)) return 0;
  GT__HOLD(gt__mutex);
  return bytes[gt__slot(device)];
}
GT_API size_t gt_memory_allocated(gt_device device) {
  GT__CALL;
  return gt__tensor_bytes(device, gt__all.allocated);
}
GT_API size_t gt_max_memory_allocated(gt_device device) {
  GT__CALL;
  return gt__tensor_bytes(device, gt__all.peak);
}
/* All that the library keeps for it. */
GT_API size_t gt_memory_reserved(gt_device device) {
  GT__CALL;
  if (gt__check_device(device)) return 0;
  GT__HOLD(gt__mutex);
  size_t n = gt__all.allocated[gt__slot(device)], available, total;
  if (!gt__on_host(device)) {
    gt__backend_of(device)->memory(device.index, &n, &available, &total);
    return n;
  }
  for (int c = 0; c < GT__CLASSES; c++)
    for (const gt__storage *s = gt__all.pool[c].first; s; s = s->next)
      n += c ? (size_t)1 << c : s->bytes;
  return n;
}
GT_API gt_status gt_reset_peak_memory_stats(gt_device device) {
  GT__CALL;
  if (gt__check_device(device)) return gt__failed();
  GT__HOLD(gt__mutex);
  gt__all.peak[gt__slot(device)] = gt__all.allocated[gt__slot(device)];
  return GT_OK;
}
GT_API gt_status gt_empty_cache(void) {
  gt_device device = gt_cpu();
  int code = 0;
  GT__CALL;
  gt__lock();
  gt__sweep_unlocks(1);
  for (int i = 0; i < gt_cuda_device_count() && !code; i++) {
    device = gt__device(GT_CUDA, i);
    code = gt__give_back_unlocks(device);
  }
  gt__unlock();
  return gt__report(device, NULL, code);
}
GT_API int64_t gt_report_leaks(FILE *file) {
  int64_t n = 0;
  GT__HOLD(gt__mutex);
  for (gt_tensor *x = gt__all.tensors; x; x = x->gt__next, n++)
    if (file)
      fprintf(file, "alive: %s %s on %s, a storage of %zu bytes with %lld handle%s\n",
              gt_dtype_string(x->dtype), gt__shape_text(x), gt_device_string(x->device),
              x->storage->bytes, (long long)x->storage->refs, x->storage->refs == 1 ? "" : "s");
  return n;
}

/* ---- >>views-code -------------------------------------------------------------------------------
   Handles with other shapes and strides on the same storage. */
/* The dim that the lowest bit of what GT_DIM makes names. */
static int gt__first_dim(uint32_t dims) {
  int d = __builtin_ctz(dims) - GT__FIRST_DIM;
  return d < 8 ? d : d - 16;
}
/* A dim from 0 on, or -1 and an error. */
static int gt__dim(int64_t dim, int ndim) {
  if (dim >= -ndim && dim < ndim) return dim < 0 ? dim + ndim : dim;
  if (dim >= GT_DIM(0) && dim <= GT_DIM(-1) && !(dim & (dim - 1))) {
    int d = gt__first_dim((uint32_t)dim);
    gt__fail(GT_ERROR_ARGUMENT, "a plain number is expected here: %d, not GT_DIM(%d)", d, d);
  } else
    gt__fail(GT_ERROR_ARGUMENT, "dim %lld is out of range for %d dimensions", (long long)dim, ndim);
  return -1;
}
/* As PyTorch, where a tensor without dims may be taken for one with one. */
static int gt__dim_or_0(int64_t dim, int ndim) {
  return ndim == 0 && (dim == 0 || dim == -1) ? 0 : gt__dim(dim, ndim);
}
/* GT_DIM bits become one bit a dim; GT_ALL of a 0-d tensor is none. What is meant as GT_DIM, a
   bare number from -8 to 7, has other bits, and is refused. */
static gt_status gt__dim_set(uint32_t dims, int ndim, uint32_t *set) {
  uint32_t named = GT_DIM(-1) * 2 - GT_DIM(0);
  *set = dims & GT_ALL ? ~0u : 0;
  if (dims + 8 < 16)
    return gt__fail(GT_ERROR_ARGUMENT, "dims is the bare number %d; write GT_DIM(%d)", (int)dims,
                    (int)dims);
  if (dims & ~(named | GT_ALL))
    return gt__fail(GT_ERROR_ARGUMENT,
                    "dims 0x%x is not GT_ALL, nor GT_DIM(d), d from -8 to "
                    "7, or several with | between",
                    (unsigned)dims);
  for (dims &= named; dims; dims &= dims - 1) {
    int d = gt__dim_or_0(gt__first_dim(dims), ndim);
    if (d < 0) return gt__failed();
    if (*set >> d & 1) return gt__fail(GT_ERROR_ARGUMENT, "dim %d is named twice", d);
    *set |= 1u << d;
  }
  *set &= (1u << ndim) - 1;
  return GT_OK;
}
/* *dim becomes one from 0 on. True, with an error, if it is none. */
static int gt__no_dim(int *dim, int ndim) {
  *dim = gt__dim(*dim, ndim);
  return *dim < 0;
}
static int gt__no_dim_or_0(int *dim, int ndim) {
  *dim = gt__dim_or_0(*dim, ndim);
  return *dim < 0;
}
/* Strides that give x, without copying, the sizes of y. From the last dim on, y's sizes are taken
   from x's, of which `left` entries are left, `stride` apart. Where that is not enough x's next dim
   comes in, which has to go on as they do: if not, 0. */
static int gt__restride(const gt_tensor *x, gt_tensor *y) {
  int64_t left = 1, stride = 1;
  int e = x->ndim;
  while (left == 1 && e > 0) {
    stride = x->stride[--e];
    left = x->shape[e];
  }
  for (int d = y->ndim - 1; d >= 0; d--) {
    int64_t size = y->shape[d];
    for (; left % size; left *= x->shape[--e]) {
      int64_t next = x->stride[e - 1];
      if (left == 1) stride = next;
      else if (x->shape[e - 1] > 1 && next != left * stride) return 0;
    }
    y->stride[d] = stride;
    stride *= size;
    left /= size;
  }
  return 1;
}
/* Replaces a size of -1 by what the other sizes leave of n elements. */
static gt_status gt__fill_hole(gt_shape *shape, int64_t n) {
  int hole = -1;
  int64_t rest = 1;
  for (int d = 0; d < shape->ndim && d < GT_MAX_DIMS; d++) {
    int64_t size = shape->size[d];
    if (size == -1 && hole >= 0) return gt__fail(GT_ERROR_SHAPE, "only one size may be -1");
    if (size == -1) hole = d;
    else rest = size > 0 && rest <= n / size ? rest * size : 0;
  }
  if (hole >= 0) shape->size[hole] = rest > 0 ? n / rest : 0;
  return GT_OK;
}
GT_API gt_tensor *gt_reshape(const gt_tensor *x, gt_shape shape) {
  gt_tensor y;
  if (GT__NO(x)) return NULL;
  int64_t n = gt__numel(x);
  if (gt__fill_hole(&shape, n)) return NULL;
  if (gt__model(&y, shape, x->dtype, x->device)) return NULL;
  if (gt__numel(&y) != n)
    return GT__NULL(GT_ERROR_SHAPE, "%s has %lld elements, %s has %lld", gt__shape_text(x),
                    (long long)n, gt__shape_text(&y), (long long)gt__numel(&y));
  y.offset = x->offset;
  y.storage = x->storage;
  y.gt__number = x->gt__number;
  if (n > 0 && !gt__restride(x, &y))
    return GT__NULL(GT_ERROR_SHAPE,
                    "the strides of %s do not allow a view as %s; call gt_contiguous first",
                    gt__shape_text(x), gt__shape_text(&y));
  return gt__handle(&y);
}
/* Moves a view's beginning. Those without elements stay: beginnings that are none could add up. */
static void gt__advance(gt_tensor *y, int64_t by) {
  if (gt__count(y->ndim, y->shape)) y->offset += by;
}
static void gt__swap_dims(gt_tensor *y, int i, int j) {
  gt__swap(&y->shape[i], &y->shape[j]);
  gt__swap(&y->stride[i], &y->stride[j]);
}
static void gt__drop_dim(gt_tensor *y, int dim) {
  y->ndim--;
  for (; dim < y->ndim; dim++) gt__swap_dims(y, dim, dim + 1);
}
static void gt__insert_dim(gt_tensor *y, int dim) { /* of size 1 */
  int last = y->ndim++;
  y->shape[last] = 1;
  y->stride[last] = 1;
  if (dim < last) y->stride[last] = y->stride[dim] * y->shape[dim];
  for (int d = last; d > dim; d--) gt__swap_dims(y, d, d - 1);
}
GT_API gt_tensor *gt_transpose(const gt_tensor *x, int dim0, int dim1) {
  if (GT__NO(x) || gt__no_dim_or_0(&dim0, x->ndim) || gt__no_dim_or_0(&dim1, x->ndim)) return NULL;
  gt_tensor y = gt__plain(x);
  gt__swap_dims(&y, dim0, dim1);
  return gt__handle(&y);
}
GT_API gt_tensor *gt_permute(const gt_tensor *x, gt_shape order) {
  unsigned seen = 0;
  if (GT__NO(x)) return NULL;
  gt_tensor y = gt__plain(x);
  if (order.ndim != x->ndim)
    return GT__NULL(GT_ERROR_ARGUMENT, "%d dims named for the %d of %s", order.ndim, x->ndim,
                    gt__shape_text(x));
  for (int d = 0; d < x->ndim; d++) {
    int e = gt__dim(order.size[d], x->ndim);
    if (e < 0) return NULL;
    if (seen >> e & 1) return GT__NULL(GT_ERROR_ARGUMENT, "dim %d is named twice", e);
    seen |= 1u << e;
    y.shape[d] = x->shape[e];
    y.stride[d] = x->stride[e];
  }
  return gt__handle(&y);
}
/* Python's: a negative one counts from n; going backwards the entries lie behind the end. */
static int64_t gt__clipped(int64_t i, int64_t n, int backwards) {
  if (i < 0) i += n;
  return i < 0 ? -backwards : gt__minimum_i64(i, n - backwards);
}
static void gt__take_slice(gt_tensor *y, int dim, int64_t start, int64_t end, int64_t step) {
  int64_t n = y->shape[dim], stride = y->stride[dim], way = step < 0 ? -1 : 1;
  start = gt__clipped(start, n, step < 0);
  end = gt__clipped(end, n, step < 0);
  y->shape[dim] = (end - start) * way > 0 ? (end - start - way) / step + 1 : 0;
  gt__advance(y, start * stride);
  if (y->shape[dim] > 1) y->stride[dim] *= step; /* else step may overflow and does not matter */
}
GT_API gt_tensor *gt_slice(const gt_tensor *x, int dim, int64_t start, int64_t end, int64_t step) {
  if (GT__NO(x) || gt__no_dim(&dim, x->ndim)) return NULL;
  if (!step) return GT__NULL(GT_ERROR_ARGUMENT, "step 0; it must be positive or negative");
  gt_tensor y = gt__plain(x);
  gt__take_slice(&y, dim, start, end, step);
  return gt__handle(&y);
}
GT_API gt_tensor *gt_flip(const gt_tensor *x, uint32_t dims) {
  uint32_t set;
  if (GT__NO(x) || gt__dim_set(dims, x->ndim, &set)) return NULL;
  gt_tensor y = gt__plain(x);
  for (int d = 0; d < x->ndim; d++)
    if (set >> d & 1) gt__take_slice(&y, d, INT64_MAX, INT64_MIN, -1);
  return gt__handle(&y);
}
/* 0: there is no such entry. */
static int gt__take_entry(gt_tensor *y, int dim, int64_t index) {
  int64_t n = y->shape[dim], stride = y->stride[dim];
  if (index < -n || index >= n) return 0;
  gt__drop_dim(y, dim);
  gt__advance(y, (index < 0 ? index + n : index) * stride);
  return 1;
}
GT_API gt_tensor *gt_select(const gt_tensor *x, int dim, int64_t index) {
  if (GT__NO(x) || gt__no_dim(&dim, x->ndim)) return NULL;
  gt_tensor y = gt__plain(x);
  if (!gt__take_entry(&y, dim, index))
    return GT__NULL(GT_ERROR_ARGUMENT, "index %lld is out of range for dim %d of %s",
                    (long long)index, dim, gt__shape_text(x));
  return gt__handle(&y);
}
/* Makes y of x, broadcast to the shape of `like`: stride 0 where x has size 1 or no dim. Or 0. */
static int gt__broadcast_to(const gt_tensor *x, const gt_tensor *like, gt_tensor *y) {
  int lead = like->ndim - x->ndim;
  *y = gt__plain(x);
  for (int d = 0; d < like->ndim; d++) {
    int64_t n = d < lead || lead < 0 ? 1 : x->shape[d - lead];
    if (n != like->shape[d] && n != 1) return 0;
    y->stride[d] = n == 1 ? 0 : x->stride[d - lead];
    y->shape[d] = like->shape[d];
  }
  y->ndim = like->ndim;
  return lead >= 0;
}
GT_API gt_tensor *gt_expand(const gt_tensor *x, gt_shape shape) {
  gt_tensor y, model;
  if (GT__NO(x)) return NULL;
  for (int e = x->ndim - 1; e >= 0; e--) {
    int64_t d = (int64_t)shape.ndim - x->ndim + e;
    if (d < 0 || d >= GT_MAX_DIMS) continue;
    if (shape.size[d] == -1) shape.size[d] = x->shape[e];
  }
  if (gt__model(&model, shape, x->dtype, x->device)) return NULL;
  if (!gt__broadcast_to(x, &model, &y))
    return GT__NULL(GT_ERROR_SHAPE, "%s does not expand to %s", gt__shape_text(x),
                    gt__shape_text(&model));
  return gt__handle(&y);
}
GT_API gt_tensor *gt_squeeze(const gt_tensor *x, int dim) {
  if (GT__NO(x) || gt__no_dim_or_0(&dim, x->ndim)) return NULL;
  gt_tensor y = gt__plain(x);
  if (x->ndim && x->shape[dim] == 1) gt__drop_dim(&y, dim);
  return gt__handle(&y);
}
static gt_status gt__is_full(const gt_tensor *x) {
  if (x->ndim < GT_MAX_DIMS) return GT_OK;
  return gt__fail(GT_ERROR_SHAPE, "%s already has %d dimensions", gt__shape_text(x), x->ndim);
}
GT_API gt_tensor *gt_unsqueeze(const gt_tensor *x, int dim) {
  if (GT__NO(x) || gt__is_full(x) || gt__no_dim(&dim, x->ndim + 1)) return NULL;
  gt_tensor y = gt__plain(x);
  gt__insert_dim(&y, dim);
  return gt__handle(&y);
}
/* A 0-d tensor has one window, of its element or of nothing, as with PyTorch. */
GT_API gt_tensor *gt_unfold(const gt_tensor *x, int dim, int64_t size, int64_t step) {
  if (GT__NO(x) || gt__no_dim_or_0(&dim, x->ndim)) return NULL;
  int last = x->ndim;
  int64_t n = last ? x->shape[dim] : 1;
  if (size < 0 || size > n || step < 1)
    return GT__NULL(GT_ERROR_ARGUMENT, "no windows of %lld, one every %lld, are in %lld entries",
                    (long long)size, (long long)step, (long long)n);
  if (gt__is_full(x)) return NULL;
  gt_tensor y = gt__plain(x);
  gt__insert_dim(&y, last);
  if (last) {
    y.stride[last] = x->stride[dim];
    y.shape[dim] = (n - size) / step + 1;
    if (y.shape[dim] > 1) y.stride[dim] *= size ? step : 0; /* of no elements none matters */
  }
  y.shape[last] = size;
  return gt__check_size(y.ndim, y.shape) ? NULL : gt__handle(&y);
}
/* Adds up how far the elements reach from the offset, down and up: all must be inside. */
GT_API gt_tensor *gt_as_strided(const gt_tensor *x, gt_shape shape, gt_shape strides,
                                int64_t offset) {
  gt_tensor y;
  if (GT__NO(x) || gt__model(&y, shape, x->dtype, x->device)) return NULL;
  size_t room = x->storage->bytes / gt__dtype[x->dtype].size;
  int64_t n = gt__numel(&y);
  double first = offset, last = first; /* in which nothing overflows */
  for (int d = 0; d < y.ndim && n; d++) {
    if (y.shape[d] == 1) continue; /* its stride does not matter */
    y.stride[d] = strides.size[d];
    int64_t steps = y.shape[d] - 1;
    double reach = (double)y.stride[d] * steps;
    first += fmin(reach, 0);
    last += fmax(reach, 0);
  }
  if (strides.ndim != y.ndim || (n && (first < 0 || last >= room)))
    return GT__NULL(GT_ERROR_ARGUMENT, "%s by %d strides from %lld on is not in %zu elements",
                    gt__shape_text(&y), strides.ndim, (long long)offset, room);
  y.offset = n ? offset : 0;
  y.storage = x->storage;
  return gt__handle(&y);
}
/* One step goes along both dims. A positive offset begins so many columns to the right, a negative
   one so many rows down. */
GT_API gt_tensor *gt_diagonal(const gt_tensor *x, int64_t offset, int dim0, int dim1) {
  if (GT__NO(x) || gt__no_dim(&dim0, x->ndim) || gt__no_dim(&dim1, x->ndim)) return NULL;
  if (dim0 == dim1) return GT__NULL(GT_ERROR_ARGUMENT, "dim %d is named twice", dim0);
  gt_tensor y = gt__plain(x);
  int64_t start = gt__magnitude(gt__maximum_i64(offset, -INT64_MAX));
  gt__take_slice(&y, offset < 0 ? dim0 : dim1, start, INT64_MAX, 1);
  int64_t n = gt__minimum_i64(y.shape[dim0], y.shape[dim1]);
  int64_t step = x->stride[dim0] + x->stride[dim1];
  gt__drop_dim(&y, dim0);
  gt__drop_dim(&y, dim1 - (dim1 > dim0));
  gt__insert_dim(&y, y.ndim);
  y.shape[y.ndim - 1] = n; /* one element needs no stride: such strides could add up, too */
  if (n > 1) y.stride[y.ndim - 1] = step;
  return gt__handle(&y);
}

/* ---- >>operands ---------------------------------------------------------------------------------
   Tensors as the back ends see them: addresses and strides over the dims of an operation, of which
   as few are left as there can be; and where a result goes. */
/* Makes x an operand of n dims, and adds what it touches to the operation. Dim i of the operand is
   dim order[i] of the `ndim` dims to which x is broadcast; -1: x stands still along it. */
static void gt__bind(gt__op *op, gt__operand *o, const gt_tensor *x, int ndim, int n,
                     const int *order) {
  o->data = gt__address(x);
  o->dtype = x->dtype;
  o->size_log2 = __builtin_ctz(gt__dtype[x->dtype].size);
  o->fresh = gt__on_host(op->device) && !op->n_touch && /* only CPUs ask: the output is the first */
             !__atomic_load_n(&x->storage->written, __ATOMIC_RELAXED) &&
             !__atomic_exchange_n(&x->storage->written, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < n; i++) {
    int d = order[i] - (ndim - x->ndim);
    int moves = o->data && d >= 0 && x->shape[d] != 1;
    o->stride[i] = moves ? x->stride[d] : 0;
  }
  gt__set_region(&op->touch[op->n_touch].where, x);
  gt__touch(op, x->storage);
}
static void gt__exchange_dims(gt__walk *w, int i, int j) {
  gt__swap(&w->size[i], &w->size[j]);
  for (int k = 0; k < w->n; k++) {
    int64_t *stride = w->o[k]->stride;
    gt__swap(&stride[i], &stride[j]);
  }
}
/* Moves dims `from` to `to` to place `at` and the next ones, without sizes of 1, and merges
   neighbours that every operand walks evenly. Returns the place behind them. */
static int gt__collapse(gt__walk *w, int at, int from, int to) {
  int first = at;
  for (int d = from; d < to; d++) {
    int64_t size = w->size[d];
    int merge = at > first;
    if (size == 1) continue;
    for (int k = 0; k < w->n && merge; k++) {
      const int64_t *stride = w->o[k]->stride;
      merge = stride[at - 1] == stride[d] * size;
    }
    if (!merge) w->size[at++] = 1;
    w->size[at - 1] *= size;
    for (int k = 0; k < w->n; k++) {
      int64_t *stride = w->o[k]->stride;
      stride[at - 1] = stride[d];
    }
  }
  return at;
}
/* Back ends want one dim at least. */
static int gt__one_dim_at_least(gt__walk *w, int ndim) {
  if (ndim) return ndim;
  w->size[0] = 1;
  for (int k = 0; k < w->n; k++) w->o[k]->stride[0] = 0;
  return 1;
}
/* All byte offsets, forwards and backwards, below 2^31? A CPU does not care. */
GT__INSIDE int gt__fits_int(const gt__op *op, const gt__walk *w, int ndim) {
  int fits = !gt__on_host(op->device) && gt__count(ndim, w->size) <= INT32_MAX;
  for (int k = 0; k < w->n && fits; k++) {
    double last = 0; /* in which nothing overflows */
    for (int d = 0; d < ndim; d++) {
      double step = w->o[k]->stride[d];
      last += (w->size[d] - 1) * fabs(step);
    }
    fits &= last * 8 <= INT32_MAX;
  }
  return fits;
}
/* Walks the dims from `first` on in the order of operand `by`'s strides, of which none is negative
   then: what is dense is read so. */
static void gt__sort_dims(gt__walk *w, int first, int ndim, int by) {
  const int64_t *stride = w->o[by]->stride;
  for (int d = first; d < ndim; d++)
    for (int k = 0, back = stride[d] < 0; back && k < w->n; k++) { /* from its other end on */
      gt__operand *o = w->o[k];
      o->data += o->stride[d] * (w->size[d] - 1) * (1 << o->size_log2);
      o->stride[d] = -o->stride[d];
    }
  for (int i = first + 1; i < ndim; i++)
    for (int j = i; j > first && w->size[j] > 1; j--) {
      if (stride[j - 1] >= stride[j]) break;
      gt__exchange_dims(w, j, j - 1);
    }
}
/* May x and y meet? Two storages can if one of them wraps memory. */
static int gt__overlaps(const gt_tensor *x, const gt_tensor *y) {
  if (x->storage != y->storage && !x->storage->foreign && !y->storage->foreign) return 0;
  gt__region a, b;
  gt__set_region(&a, x);
  gt__set_region(&b, y);
  return gt__meeting(&a, &b) != GT__APART;
}
GT__INSIDE int gt__same_shape(const gt_tensor *x, const gt_tensor *y) {
  size_t bytes = x->ndim * sizeof *x->shape;
  return x->ndim == y->ndim && !memcmp(x->shape, y->shape, bytes);
}
static int gt__same_view(const gt_tensor *x, const gt_tensor *y) {
  if (gt__address(x) != gt__address(y) || x->dtype != y->dtype || !gt__same_shape(x, y)) return 0;
  for (int d = 0; d < x->ndim; d++)
    if (x->stride[d] != y->stride[d] && x->shape[d] != 1) return 0;
  return 1;
}
static int gt__is_constant(const gt_tensor *x) { return x->ndim == 0 && gt__on_host(x->device); }
/* One element as a number: its exact value, integers in i, floating numbers in f. */
static gt__num gt__decode(gt_dtype dtype, const void *p) {
  gt__num value;
  GT__HOST->element(dtype, p, &value);
  return value;
}
static gt_status gt__check_constant(const gt_tensor *out) {
  if (!out->storage->constant) return GT_OK;
  return gt__fail(GT_ERROR_ARGUMENT,
                  "the output %s is of gt_from_const_ptr, whose memory is "
                  "not written to; gt_copy(NULL, x) makes a tensor that may be",
                  gt__shape_text(out));
}
static gt_status gt__check_own(const gt_tensor *out) {
  gt__region where;
  if (gt__check_constant(out)) return gt__failed();
  gt__set_region(&where, out);
  if (where.exact >= 0) return GT_OK;
  return gt__fail(GT_ERROR_ARGUMENT,
                  "the output's elements share memory, as those of gt_expand and gt_unfold do, or "
                  "may by their strides; give a tensor of its own");
}
/* `like` describes the result, which the store converts; `in_place`: the very elements of an
   operand may be written over. */
static gt_status gt__begin(gt__result *r, gt_tensor *out, const gt_tensor *like, int n,
                           gt__operands x, int in_place) {
  gt_tensor wide;
  r->made = !out;
  r->out = out ? out : gt__new_like(like);
  r->place = r->out;
  if (!out) return r->out ? GT_OK : gt__failed();
  if (!gt__same_device(out->device, like->device))
    return gt__fail(GT_ERROR_DEVICE, "the output is on %s, the operands on %s; gt_to moves them",
                    gt_device_string(out->device), gt_device_string(like->device));
  if (!gt__same_shape(out, like))
    return gt__fail(GT_ERROR_SHAPE, "the output is %s, the result %s; NULL in its place makes one",
                    gt__shape_text(out), gt__shape_text(like));
  if (gt__check_own(out)) return gt__failed();
  for (int i = 0; i < n && r->place == out; i++) {
    if (!x[i]->storage || !gt__overlaps(out, x[i])) continue;
    if (in_place && (gt__is_constant(x[i]) ||
                     (gt__broadcast_to(x[i], like, &wide) && gt__same_view(out, &wide))))
      continue;
    r->place = gt__new_like(out);
  }
  return r->place ? GT_OK : gt__failed();
}
/* The word that kernels set when they meet a bad index; NULL on the CPU, where the call checks, but
   for a graph's. */
static int32_t *gt__fault_word(gt_device device, int caller) {
  void *words = NULL;
  size_t bytes = GT__PICKERS * sizeof(int32_t);
  if (gt__on_host(device) && !gt__is_recorded(device)) return NULL;
  GT__HOLD(gt__mutex);
  if (!gt__all.fault && !GT__PINNING->alloc(device.index, NULL, bytes, 1, &words))
    gt__all.fault = (int32_t *)memset(words, 0, bytes);
  return gt__all.fault ? gt__all.fault + caller : NULL;
}
/* dst = src of one dtype and shape, or what `pick` picks from src; by src's device. */
static gt_status gt__move_elements(const gt_tensor *dst, const gt_tensor *src,
                                   const gt__pick *pick) {
  gt__op op;
  GT__STRICT;
  gt__copy_args *a = &gt__op_new(&op, GT__COPY, src->device)->u.copy;
  gt__walk w = {a->size, 2, {&a->dst, &a->src, &a->index}};
  const int *of_src = pick ? pick->of_src : gt__as_it_is;
  a->kind = GT__ELEMENTS;
  a->count = gt__numel(dst);
  a->gather_size = 1;
  a->ndim = dst->ndim;
  if (!a->count) return GT_OK;
  memcpy(a->size, dst->shape, sizeof a->size);
  gt__bind(&op, &a->dst, dst, a->ndim, a->ndim, gt__as_it_is);
  gt__bind(&op, &a->src, src, src->ndim, a->ndim, of_src);
  if (pick) {
    const gt_tensor *index = pick->index;
    w.n = 3;
    gt__bind(&op, &a->index, index, index->ndim, a->ndim, pick->of_index);
    a->gather_size = src->shape[pick->dim];
    a->gather_stride = src->stride[pick->dim];
    a->fault = gt__fault_word(op.device, pick->caller);
  }
  gt__sort_dims(&w, 0, a->ndim, 0);
  a->ndim = gt__one_dim_at_least(&w, gt__collapse(&w, 0, 0, a->ndim));
  a->fits_int = gt__fits_int(&op, &w, a->ndim);
  return gt__submit(&op);
}
static gt_tensor *gt__end(gt__result *r, gt_status status) { /* out, or nothing is left behind */
  if (r->place != r->out) {
    if (!status) status = gt__move_elements(r->out, r->place, NULL);
    gt__free(r->place);
  }
  if (!status) return r->out;
  if (r->made) gt__free(r->out);
  return NULL;
}

/* ---- >>parser ----------------------------------------------------------------------------------
   Text becomes a tree of nodes, operands before operations: the nodes of a subtree lie side by
   side, its root last. Leaves are operands, numbers and index. An operator waits for its last
   operand on a stack, until one comes that binds no tighter:

     read   waiting    nodes          read   waiting    nodes
     a                 a              *      + *        a b          * binds tighter, so + waits
     +      +          a              c      + *        a b c
     b      +          a b            end               a b c * +    the newest is complete first

   No recursion here or in >>compiler goes as deep as a text may, since the stacks of threads are
   small. */
enum { GT__CAST = GT__OPS, GT__OPERAND, GT__WHOLE, GT__REAL, GT__NODES };
enum { GT__ARITH, GT__FLOAT, GT__BOOL, GT__INT, GT__WHERE };
enum { GT__LIGHT, GT__HEAVY };
/* By an operation's number: its name in texts, how many operands it has, the rule for its result's
   dtype, and its cost. */
static const struct {
  const char *name;
  uint8_t arity, rule, heavy;
} gt__table[GT__NODES] = {
    {"", 0, 0, 0},
    {"", 0, 0, 0},
    {"index", 0, 0, 1},
    {"", 0, 0, 1},
    {"", 0, 0, 1},
    {"", 3, 0, 1}, /* its first operand is loaded for nothing */
#define GT__ROW(name, arity, result, cost, f, i) {#name, arity, GT__##result, GT__##cost},
    GT__OPERATIONS(GT__ROW){"", 1, 0, 0}}; /* the cast, and zeros for leaves */
GT__ASSERT(GT__LOAD == 0 && GT__SAVE == 1 && GT__INDEX == 2 && GT__UNIFORM == 3 &&
               GT__NORMAL == 4 && GT__INTEGER == 5,
           "the rows before the operations, and GT__INDEX to GT__INTEGER need the index");
enum { GT__NUMBER, GT__ZERO_D, GT__DIMENSIONED }; /* promotion levels */
enum { GT__FEW = 24 };                            /* nodes that need no memory of their own */
enum { GT__DEEPEST = 1000 };                      /* brackets, signs, ** and ?: in each other */
typedef struct {
  uint8_t op, level, natural; /* natural: the compute type of the operation by itself */
  uint8_t highest, indexed;   /* floating compute type in it, or GT__I64; depends on the index */
  uint8_t bits;               /* that a compute type must hold, see gt__bits_of */
  uint8_t compute, apart;     /* of its program; does it become a temporary? */
  gt_dtype dtype, as;         /* as: of that temporary */
  int32_t size;               /* nodes of the subtree of which it is the root */
  gt__num value;      /* GT__WHOLE, GT__OPERAND's number, GT__CAST's dtype: i; GT__REAL: f */
  const gt_tensor *x; /* GT__OPERAND; from number n_in of the tree on, a temporary */
} gt__node;
/* What still waits for an operand. Up to GT__THEN, that goes on until a sign ends it. */
enum { GT__TEXT, GT__BRACKET, GT__ARGUMENTS, GT__THEN, GT__INFIX, GT__SIGN, GT__ELSE };
typedef struct {
  int kind, op, level, right; /* see gt__signs; a cast's level is its dtype */
  int at, commas;             /* at: where it stands */
} gt__waiting;
typedef struct {
  const char *text;
  int at, depth, bad;    /* of the parser; bad: there was an error */
  int n, n_in;           /* nodes, operands */
  int kept;              /* the operation that it is, if its program is to be kept */
  uint64_t seed, offset; /* of the random numbers in it */
  gt__operands in;
  gt_tensor whole;                  /* describes the result: device, shape and dtype */
  gt__node *node, few[GT__FEW + 2]; /* two more behind a text test its root, see >>folding */
  gt__waiting *last, few_waiting[1 + GT__FEW]; /* last: the first is the text itself */
} gt__tree;
static int gt__arity(const gt__node *v) { return gt__table[v->op].arity; }
static gt__node *gt__root(const gt__tree *t) { return &t->node[t->n - 1]; }
static gt__node *gt__child(gt__node *v, int k) { /* operand k of v */
  gt__node *c = v - 1;
  for (int j = gt__arity(v) - 1; j > k; j--) c -= c->size;
  return c;
}
static void gt__tree_begin(gt__tree *t, const char *text, int n, gt__operands in) {
  memset(t, 0, offsetof(gt__tree, whole));
  t->text = text;
  t->node = t->few;
  t->n_in = n;
  t->in = in;
  t->last = t->few_waiting;
}
static void gt__end_temporary(gt__tree *t, gt__node *v) { /* if v is one */
  if (v->op != GT__OPERAND || v->value.i < t->n_in) return;
  gt__free((gt_tensor *)(uintptr_t)v->x);
  v->x = NULL;
}
static void gt__tree_end(gt__tree *t) { /* with its block */
  for (int i = 0; i < t->n; i++) gt__end_temporary(t, &t->node[i]);
  if (t->node != t->few) GPUTENSOR_FREE(t->node);
}
#define GT__TREE(t, text, n, in) \
  GT__STRICT; \
  gt__tree t __attribute__((cleanup(gt__tree_end))); \
  gt__tree_begin(&t, text, n, in)
/* Adds a node, whose operands are the last ones. */
GT__INSIDE gt__node *gt__add_node(gt__tree *t, int op) {
  gt__node *v = &t->node[t->n++];
  memset(v, 0, sizeof *v);
  v->op = op;
  v->size = 1;
  for (int k = gt__arity(v); k > 0; k--) v->size += v[-v->size].size;
  return v;
}
static void gt__add_whole(gt__tree *t, int op, int64_t value) { /* GT__OPERAND or GT__WHOLE */
  gt__add_node(t, op)->value.i = value;
}
static void gt__add_real(gt__tree *t, double value) { gt__add_node(t, GT__REAL)->value.f = value; }
/* The first error is kept and ends the text. */
GT__PRINTF(3, 4) static void gt__bad_text(gt__tree *t, int at, const char *format, ...) {
  int length = strlen(t->text);
  char what[160];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  if (!t->bad)
    gt__fail(GT_ERROR_EXPRESSION, "\"%.300s%s\"  at column %d: %s", t->text,
             length > 300 ? "..." : "", at + 1, what);
  t->bad = 1;
  t->at = length;
}
static int gt__peek(gt__tree *t) {
  t->at += strspn(t->text + t->at, " \t\n");
  return (unsigned char)t->text[t->at];
}
static int gt__take_token(gt__tree *t, const char *token) {
  size_t n = strlen(token);
  gt__peek(t);
  if (strncmp(t->text + t->at, token, n)) return 0;
  t->at += n;
  return 1;
}
static int gt__is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static int gt__is_digit(int c) { return c >= '0' && c <= '9'; }
static void gt__wait(gt__tree *t, int kind, int op, int level, int right, int at) {
  gt__waiting w = {kind, op, level, right, at, 0};
  *++t->last = w;
  t->depth += right <= level;
  if (t->depth > GT__DEEPEST) gt__bad_text(t, at, "nested more than 1000 deep");
}
/* The last node is the last operand of what waits. A minus goes into a number. */
static void gt__complete(gt__tree *t) {
  const gt__waiting *w = t->last--;
  gt__node *v = gt__root(t);
  int is_minus = w->op == GT__OP_neg;
  t->depth -= w->right <= w->level;
  if (w->kind == GT__BRACKET) return;
  if (is_minus && v->op == GT__REAL) v->value.f = -v->value.f;
  else if (is_minus && v->op == GT__WHOLE && v->value.i != INT64_MIN) v->value.i = -v->value.i;
  else if (is_minus && v->op == GT__WHOLE && w->kind == GT__SIGN)
    gt__bad_text(t, w->at, "an integer beyond int64");
  else v = gt__add_node(t, w->op);
  if (w->op == GT__CAST) v->value.i = w->level;
}
/* Completes the operators that bind the last node tighter than one of this level would. */
static void gt__complete_above(gt__tree *t, int level) {
  while (t->last->right > level) gt__complete(t);
}
/* Names that other languages and libraries have for our operations, and for what an expression
   cannot do. */
static const char gt__known_names[] =
    " max fmax amax fmaxf : maximum(x, y); over a dimension gt_max\n"
    " min fmin amin fminf : minimum(x, y); over a dimension gt_min\n"
    " sum mean prod any all argmax argmin std var norm : over a dimension gt_sum, gt_reduce ...\n"
    " ln : log(x)\n"
    " power : x ** y\n"
    " ^ xor : x ** y is the power; logical_xor(x, y), bitwise_xor(x, y)\n"
    " & and : x && y, or bitwise_and(x, y)\n"
    " | or : x || y, or bitwise_or(x, y)\n"
    " ~ not : !x, or bitwise_not(x)\n"
    " << left_shift : bitwise_left_shift(x, y)\n"
    " >> right_shift : bitwise_right_shift(x, y)\n"
    " // floor_divide : floor_div(x, y)\n"
    " mod modulo : x % y has the divisor's sign, fmod(x, y) the dividend's\n"
    " multiply divide true_divide subtract negative : x * y, x / y, x - y, -x\n"
    " = equal not_equal less greater : x == y, x != y, x < y, x > y\n"
    " if select ifelse : x ? y : z, or where(x, y, z)\n"
    " @ matmul dot : gt_matmul multiplies matrices, gt_matmul_eval with a formula behind it\n"
    " absolute fabs fabsf : abs(x)\n"
    " clip : clamp(x, low, high)\n"
    " rint nearbyint around : round(x)\n"
    " sgn signum : sign(x)\n"
    " sqr : square(x)\n"
    " cbrt : x ** (1.0 / 3)\n"
    " expit logistic : sigmoid(x)\n"
    " arcsin arccos arctan arctan2 : asin(x), acos(x), atan(x), atan2(x, y)\n"
    " expf logf powf sqrtf sinf cosf tanf tanhf : names have no f behind them\n"
    " float double half int long : float32(x), int32(x) and the other dtypes convert\n"
    " rand randn uniform normal : gt_rand and gt_randn make tensors of random numbers\n"
    " true false True False : 1 and 0\n"
    " INFINITY INF Inf infinity NAN NaN PI Pi M_PI : inf, nan and pi\n";
static void gt__no_operation(gt__tree *t, int at, const char *name) {
  char key[48];
  const char *hint = "";
  snprintf(key, sizeof key, " %s ", name);
  const char *s = strstr(gt__known_names, key); /* it may stand in another's hint, too */
  for (; s && *hint != ':'; s = strstr(s + 1, key)) hint = s + strcspn(s, ":\n");
  gt__bad_text(t, at, "no operation is called %s%.*s", name, (int)strcspn(hint, "\n"), hint);
}
/* -- numbers -- */
/* The smallest integer has no positive counterpart: its digits are right only behind a
   minus. */
static void gt__add_integer(gt__tree *t, int start) {
  uint64_t value = strtoull(t->text + start, NULL, 10), lowest = (uint64_t)1 << 63;
  int is_base = gt__peek(t) == '*' && t->text[t->at + 1] == '*';
  int negated = t->last->kind == GT__SIGN && t->last->op == GT__OP_neg && !is_base;
  int smallest = negated && value == lowest;
  if (value >= lowest + smallest)
    gt__bad_text(t, start, "an integer beyond int64; with a point it is a floating number");
  else gt__add_whole(t, GT__WHOLE, value);
  if (smallest) t->depth--, t->last--; /* the minus is done */
}
/* A floating number with so many digits before the point and after it. strtod rounds correctly but
   reads the locale's point, so it gets an integer and an exponent. With an f it is a float, as in
   C. */
static void gt__add_digits(gt__tree *t, int start, int before, int after) {
  const char *first = t->text + start, *s = t->text + t->at;
  char number[80], *end;
  int64_t exponent = 0;
  int good = 1;
  if (*s == 'e' || *s == 'E') {
    exponent = gt__maximum_i64(-9999, gt__minimum_i64(9999, strtol(s + 1, &end, 10)));
    good = s[1] > ' ' && gt__is_digit(end[-1]);
    s = end;
  }
  int is_single = *s == 'f' || *s == 'F';
  s += is_single;
  t->at = s - t->text;
  snprintf(number, sizeof number, "%.*s%.*se%d", before, first, after, first + before + 1,
           (int)exponent - after);
  if (!good || *s == '.' || gt__is_digit(*s) || gt__is_letter(*s))
    gt__bad_text(t, start, "a malformed number");
  else gt__add_real(t, is_single ? strtof(number, NULL) : strtod(number, NULL));
}
/* A number; with a point or an exponent it is a real one. */
static void gt__parse_literal(gt__tree *t) {
  static const char digits[] = "0123456789";
  const char *s = t->text + t->at;
  int start = t->at, before = strspn(s, digits), after = 0;
  int is_real = s[before] == '.';
  if (is_real) after = strspn(s + before + 1, digits);
  s += before + after + is_real;
  t->at = s - t->text;
  if (before + after > 60) gt__bad_text(t, start, "a number of more than 60 characters");
  else if (is_real || *s == 'e' || *s == 'E') gt__add_digits(t, start, before, after);
  else gt__add_integer(t, start);
}
/* -- names and brackets -- */
/* Each of these returns 1 if an operand must follow. */
static int gt__parse_call(gt__tree *t, int start, const char *name) {
  int op = GT__INDEX + 1, dtype = 0;
  while (op < GT__OPS && strcmp(gt__table[op].name, name)) op++;
  if (op == GT__CAST)
    while (dtype < GT_DTYPES && strcmp(gt__dtype[dtype].name, name)) dtype++;
  if (dtype == GT_DTYPES) gt__no_operation(t, start, name);
  else if (!gt__take_token(t, "(")) gt__bad_text(t, t->at, "expected ( after the operation's name");
  else gt__wait(t, GT__ARGUMENTS, op, dtype, 0, start);
  return 1;
}
/* A single letter: an operand; pi, inf, nan; index; else an operation or a dtype, and a bracket. */
static int gt__parse_name(gt__tree *t) {
  int start = t->at;
  char name[41]; /* no operation's name is as long */
  int n = 0;
  for (; gt__is_letter(t->text[t->at]) || gt__is_digit(t->text[t->at]); t->at++)
    if (n < 40) name[n++] = t->text[t->at];
  name[n] = 0;
  int letter = n == 1 && *name >= 'a' && *name <= 'z' ? *name - 'a' : -1;
  if (letter >= t->n_in)
    gt__bad_text(t, start, "operand %c, but %d operand%s given", *name, t->n_in,
                 t->n_in == 1 ? " was" : "s were");
  else if (letter >= 0) gt__add_whole(t, GT__OPERAND, letter);
  else if (!strcmp(name, "pi")) gt__add_real(t, 3.14159265358979323846);
  else if (!strcmp(name, "inf")) gt__add_real(t, INFINITY);
  else if (!strcmp(name, "nan")) gt__add_real(t, NAN);
  else if (!strcmp(name, "index")) gt__add_node(t, GT__INDEX);
  else return gt__parse_call(t, start, name);
  return 0;
}
/* What stands where an operand must: a name, a number, a bracket or a sign. */
static int gt__parse_operand(gt__tree *t) {
  int c = gt__peek(t), at = t->at, is_not = c == '!' && t->text[at + 1] != '=';
  if (gt__is_letter(c)) return gt__parse_name(t);
  if (gt__is_digit(c) || (c == '.' && gt__is_digit(t->text[at + 1]))) {
    gt__parse_literal(t);
    return 0;
  }
  t->at++;
  if (c == '(') gt__wait(t, GT__BRACKET, 0, 0, 0, at);
  else if (c == '-') gt__wait(t, GT__SIGN, GT__OP_neg, 8, 8, at);
  else if (is_not) gt__wait(t, GT__SIGN, GT__OP_logical_not, 8, 8, at);
  else if (c == '~') gt__no_operation(t, at, "~");
  else if (c != '+') gt__bad_text(t, at, "expected an operand");
  return 1;
}
/* The level, from 1 on, says how tight an operator binds what is on its left. What is on its right
   binds tighter, or as tight where operators group from the right. A longer token stands before the
   one that it begins with. Level 0: none of ours, which the message names. */
static const struct {
  const char *token;
  uint8_t level, op;
} gt__signs[] = {{"<<", 0, 0},
                 {">>", 0, 0},
                 {"//", 0, 0},
                 {"?", 1, GT__OP_where},
                 {"||", 2, GT__OP_logical_or},
                 {"&&", 3, GT__OP_logical_and},
                 {"==", 4, GT__OP_eq},
                 {"!=", 4, GT__OP_ne},
                 {"<=", 5, GT__OP_le},
                 {">=", 5, GT__OP_ge},
                 {"<", 5, GT__OP_lt},
                 {">", 5, GT__OP_gt},
                 {"+", 6, GT__OP_add},
                 {"-", 6, GT__OP_sub},
                 {"**", 9, GT__OP_pow},
                 {"*", 7, GT__OP_mul},
                 {"/", 7, GT__OP_div},
                 {"%", 7, GT__OP_remainder},
                 {"^", 0, 0},
                 {"&", 0, 0},
                 {"|", 0, 0},
                 {"=", 0, 0},
                 {"@", 0, 0}};
/* What stands behind an operand: 0 if it is no operator. First all that wait and bind tighter are
   completed; then the operator waits for its next operand. */
static int gt__parse_operator(gt__tree *t) {
  int n = sizeof gt__signs / sizeof *gt__signs;
  int k = 0;
  gt__peek(t);
  int at = t->at;
  while (k < n && !gt__take_token(t, gt__signs[k].token)) k++;
  if (k == n) return 0;
  int level = gt__signs[k].level, op = gt__signs[k].op, is_choice = op == GT__OP_where;
  int compares = level == 4 || level == 5, groups = op != GT__OP_pow && !is_choice;
  gt__complete_above(t, level + compares);
  if (!op) gt__no_operation(t, at, gt__signs[k].token);
  else if (compares && t->last->kind == GT__INFIX && t->last->level == level)
    gt__bad_text(t, at, "comparisons make no chain: x < y && y < z, or brackets around one");
  gt__complete_above(t, level);
  if (is_choice) gt__wait(t, GT__THEN, op, level, 0, at);
  else gt__wait(t, GT__INFIX, op, level, level + groups, at);
  return 1;
}
static void gt__end_call(gt__tree *t) { /* the last node is its last operand */
  const gt__waiting *w = t->last;
  int arity = gt__table[w->op].arity;
  const char *name = w->op == GT__CAST ? gt__dtype[w->level].name : gt__table[w->op].name;
  if (w->commas + 1 == arity) gt__complete(t);
  else gt__bad_text(t, w->at, "%s takes %d operand%s", name, arity, arity == 1 ? "" : "s");
}
/* Behind an operand stand signs that end what is open, then an operator or the end of the text. */
static int gt__parse_behind(gt__tree *t) {
  static const char ends[] = {0, ')', ')', ':'}; /* these two by kind */
  static const char *const expected[] = {"an operator", ")", ") or ,", ":"};
  while (!t->bad && !gt__parse_operator(t)) {
    gt__complete_above(t, 0);
    gt__waiting *w = t->last;
    int c = gt__peek(t), is_end = c == ends[w->kind];
    int comma = c == ',' && w->kind == GT__ARGUMENTS;
    if (!is_end && !comma) gt__bad_text(t, t->at, "expected %s", expected[w->kind]);
    else if (!c) return 0;
    else t->at++;
    if (is_end && w->kind == GT__BRACKET) gt__complete(t);
    else if (is_end && w->kind == GT__ARGUMENTS) gt__end_call(t);
    else {
      if (w->kind == GT__THEN) {
        w->kind = GT__ELSE;
        w->right = w->level;
      }
      w->commas += comma;
      return 1;
    }
  }
  return 1;
}
static void gt__parse(gt__tree *t) {
  memset(t->last, 0, sizeof *t->last);
  do
    while (!t->bad && gt__parse_operand(t)) continue;
  while (!t->bad && gt__parse_behind(t));
}
/* Short texts already parsed, by content; n_in matters too: a letter beyond it is an error. */
static struct gt__known {
  gt__node node[GT__FEW];
  char text[128];
  int n, n_in;
} gt__cache[128];
/* The tree of a text: that of the cache, in which each text has one place by its hash, or a new
   one. Short texts are kept there. */
static gt_status gt__parse_text(gt__tree *t) {
  size_t length = strlen(t->text);
  uint64_t hash = 1469598103934665603u; /* FNV-1a */
  for (const char *s = t->text; *s; s++) hash = (hash ^ (unsigned char)*s) * 1099511628211u;
  struct gt__known *k = &gt__cache[hash >> 57];
  gt__lock();
  if (!strcmp(k->text, t->text) && k->n_in <= t->n_in) {
    memcpy(t->node, k->node, k->n * sizeof *k->node);
    t->n = k->n;
  }
  gt__unlock();
  if (t->n) return GT_OK;
  if (length > 65535) return gt__fail(GT_ERROR_EXPRESSION, "a text of more than 65535 characters");
  if (length > GT__FEW) { /* each node has a character of its own, and so has what waits */
    size_t bytes = (2 + length) * (sizeof *t->node + sizeof *t->last);
    gt__node *node = (gt__node *)gt__malloc(bytes);
    if (!node) return gt__failed();
    t->node = node;
    t->last = (gt__waiting *)(node + length + 2);
  }
  gt__parse(t);
  if (t->bad) return gt__failed();
  if (t->n > GT__FEW || length >= sizeof k->text) return GT_OK;
  GT__HOLD(gt__mutex);
  memcpy(k->node, t->node, t->n * sizeof *k->node);
  memcpy(k->text, t->text, length + 1);
  k->n = t->n;
  k->n_in = t->n_in;
  return GT_OK;
}
/* -- Python's indexing -- */
/* Reads start:end:step, or an index in the place of start; numbers beyond int64 are as large as it
   can hold. Is it a slice? */
static int gt__take_slice_text(gt__tree *t, int at, int64_t *number) {
  int k = -1, given = 0;
  do {
    const char *from = t->text + t->at;
    char *end;
    number[++k] = strtoll(from, &end, 10);
    given |= (end > from) << k;
    t->at += end - from;
  } while (k < 2 && gt__take_token(t, ":"));
  if (given < 4) number[2] = 1;
  if (!number[2] || !(k | given))
    gt__bad_text(t, at, "expected an index, a slice of no step 0, or ...");
  if (!(given & 1)) number[0] = number[2] < 0 ? INT64_MAX : 0;
  if (!(given & 2)) number[1] = number[2] < 0 ? INT64_MIN : INT64_MAX;
  return k > 0;
}
/* Does what an entry of the text says of dim `dim`. Returns the next one. */
static int gt__take_index(gt__tree *t, gt_tensor *y, int dim) {
  int64_t number[3];
  gt__peek(t);
  int at = t->at, rest = y->ndim - dim;
  if (gt__take_token(t, "...")) {
    const char *behind = t->text + t->at;
    if (strstr(behind, "...")) gt__bad_text(t, at, "... stands twice");
    for (; *behind; behind++) rest -= *behind == ',';
    return rest > 0 ? dim + rest : dim;
  }
  int slice = gt__take_slice_text(t, at, number);
  if (!rest) gt__bad_text(t, at, "the tensor has no dim for this");
  if (t->bad) return dim;
  if (slice) gt__take_slice(y, dim, number[0], number[1], number[2]);
  else if (!gt__take_entry(y, dim, *number)) gt__bad_text(t, at, "an index out of range");
  return dim + slice;
}
GT_API gt_tensor *gt_view(const gt_tensor *x, const char *text) {
  gt__tree t;
  int dim = 0;
  if (GT__NO(x)) return NULL;
  if (!text || strlen(text) > 65535)
    return GT__NULL(GT_ERROR_EXPRESSION, "no text, or more than 65535 characters");
  gt__tree_begin(&t, text, 0, NULL);
  gt_tensor y = gt__plain(x);
  do dim = gt__take_index(&t, &y, dim);
  while (gt__take_token(&t, ","));
  if (gt__peek(&t)) gt__bad_text(&t, t.at, "expected a comma or the end");
  return t.bad ? NULL : gt__handle(&y);
}

/* ---- >>compiler --------------------------------------------------------------------------------
   A tree becomes programs in three steps: each node gets PyTorch's dtype; the tree is cut where
   integers must stay exact beside floating numbers; what is larger than the machine is cut too.
   What is cut off is computed into a temporary tensor first and becomes an operand. Example:

     "a*2 + b//3"       a float32, b int64; a number in the text promotes as a number does
     node       0    1    2      3    4    5       6        children before their parents
                a    2    a*2    b    3    b//3    a*2 + b//3
     dtype      f32  i64  f32    i64  i64  i64     f32      gt__annotate
     natural    f32  i64  f32    i64  i64  i64     f32      the compute type of the node by itself
     compute    f32  f32  f32    i64  i64  i64     f32      gt__cut_tree: node 6 is computed in f32,
                                           apart            where b//3 could be rounded
     gt__cut_node    LOAD b; FLOOR_DIV 3         into t, int64: node 5 becomes the operand t
     gt__fit    LOAD a; MUL 2; ADD t        the program of node 6 */
static int gt__rule(const gt__node *v) { return gt__table[v->op].rule; }
/* The higher of two compute types, from int64_t over float to double. */
static int gt__higher(int a, int b) { return a == GT__F64 || b == GT__I64 ? a : b; }
/* 0-d CPU ones are constants, which the host reads. */
static gt_status gt__set_operand(const gt__tree *t, gt__node *v) {
  gt__host_use use;
  if (!v->x) v->x = t->in[v->value.i];
  const gt_tensor *x = v->x;
  v->dtype = x->dtype;
  v->natural = gt__compute_of(x->dtype);
  v->highest = v->natural;
  if (v->natural == GT__F64 && !x->ndim) v->highest = GT__F32;
  v->level = x->gt__number ? GT__NUMBER : GT__ZERO_D;
  if (x->ndim) v->level = GT__DIMENSIONED;
  if (!gt__is_constant(x) || !x->storage) return GT_OK;
  gt_status status = gt__host_begin(x, 0, &use);
  if (!status) v->value = gt__decode(x->dtype, gt__address(x));
  gt__host_end(&use);
  v->op = gt__is_floating(x->dtype) ? GT__REAL : GT__WHOLE;
  return status;
}
static int gt__is_leaf(const gt__node *v) { return v->op > GT__CAST; }
/* How many bits hold an integer node's values, where those of its operands take `below`. Of most
   operations that is not known, since floats divide by 0 and combine bits in other ways; it is of
   those that make truths, choose between them, or count them. */
static int gt__bits_of(const gt__node *v, int below) {
  int op = v->op, counts = op == GT__OP_where || op == GT__OP_add || op == GT__OP_mul;
  if (v->natural != GT__I64) return v->natural == GT__F32 ? 24 : 53;
  if (op == GT__OPERAND || op == GT__CAST) return 8 * gt__dtype[v->dtype].size;
  if (op == GT__WHOLE) {
    double size = fabs((double)v->value.i);
    if (size < 0x1p53) return size < 0x1p24 ? 24 : 53;
  }
  return v->dtype == GT_BOOL && (gt__rule(v) == GT__BOOL || counts) ? below : 64;
}
static int gt__holds(int compute, const gt__node *v) { /* are v's integers the same there? */
  static const uint8_t bits[] = {24, 53, 64};          /* by compute type */
  return v->bits <= bits[compute];
}
/* What an operation takes over from its operands. Returns the dtype that they promote to, as
   PyTorch's TypeProperties.cpp: of lower levels only those count whose kind is higher. */
static gt_dtype gt__inherit(gt__node *v) {
  gt_dtype own[3] = {GT_BOOL, GT_BOOL, GT_BOOL}, best = GT_BOOL; /* as with nothing */
  v->level = GT__NUMBER;
  v->highest = GT__I64;
  v->bits = 24;
  v->indexed = v->op >= GT__INDEX && v->op <= GT__INTEGER;
  for (int k = 0; k < gt__arity(v); k++) {
    const gt__node *c = gt__child(v, k);
    gt_dtype *level = &own[c->level], dtype = c->dtype;
    if (c->level > v->level) v->level = c->level;
    if (c->bits > v->bits) v->bits = c->bits;
    v->highest = gt__higher(v->highest, c->highest);
    v->indexed |= c->indexed;
    if (k == 0 && gt__rule(v) == GT__WHERE) continue;
    if (c->level == GT__NUMBER && gt__is_floating(dtype)) dtype = GT_FLOAT32;
    if (*level != dtype) *level = gt__promote_types(*level, dtype);
  }
  for (int level = GT__DIMENSIONED; level >= GT__NUMBER; level--)
    if (gt__dtype[own[level]].kind > gt__dtype[best].kind) best = own[level];
  return best;
}
/* The dtype of a node: that to which its operands promote, changed by its rule. */
static gt_status gt__annotate_operation(gt__node *v) {
  int rule = gt__rule(v), is_whole = v->op == GT__WHOLE || v->op == GT__INDEX;
  gt_dtype d = gt__inherit(v);
  if (!gt__arity(v)) d = is_whole ? GT_INT64 : GT_FLOAT32;
  if (v->op == GT__CAST) {
    d = (gt_dtype)v->value.i;
    v->highest = GT__I64;
  }
  if (rule == GT__FLOAT && !gt__is_floating(d)) d = GT_FLOAT32;
  if (rule == GT__INT && gt__is_floating(d))
    return gt__fail(GT_ERROR_DTYPE, "%s has no meaning for %s; it takes integers and bool",
                    gt__table[v->op].name, gt_dtype_string(d));
  v->natural = gt__compute_of(d);
  v->dtype = rule == GT__BOOL ? GT_BOOL : d;
  if (v->op == GT__OP_bitwise_not && d == GT_BOOL) v->op = GT__OP_logical_not;
  if (rule == GT__WHERE) {
    gt__node *condition = gt__child(v, 0);
    if (condition->op == GT__REAL) condition->value.f = condition->value.f != 0; /* if tiny, too */
    if (condition->natural == GT__F64 && v->natural == GT__F32) v->natural = GT__F64; /* likewise */
  }
  v->highest = gt__higher(v->highest, v->natural);
  return GT_OK;
}
static gt_status gt__annotate(gt__tree *t) {
  for (gt__node *v = t->node; v <= gt__root(t); v++) {
    int is_operand = v->op == GT__OPERAND || v->x;
    if (is_operand ? gt__set_operand(t, v) : gt__annotate_operation(v)) return gt__failed();
    v->bits = gt__bits_of(v, v->bits);
  }
  return GT_OK;
}
/* The compute type of a program for v: integers stay integers unless nothing is lost. */
static int gt__choose_compute(const gt__node *v, int at_least) {
  int stays = gt__is_leaf(v);
  if (v->natural == GT__I64) stays |= !gt__holds(v->highest, v);
  return gt__higher(stays ? v->natural : v->highest, at_least);
}
/* Slots get their numbers in the end: until then inputs count from 0, the others from these. */
enum { GT__CONSTANT_AT = 32 };
enum { GT__TEMPORARY_AT = 64 };
typedef struct {
  int n_temporary, most_temporaries, over; /* over: it does not fit */
  int depth;                               /* of gt__generate's calls */
  int indexed;                             /* it needs the logical order */
  int subtree_size;
  gt__node *root, *subtree; /* subtree: the one below the root with the longest code so far */
  gt__program p;
  const gt_tensor *in[GT__INPUTS];
} gt__code;
/* A cast is no instruction: what it converts has been stored as its dtype, where that changes
   it. */
static gt__node *gt__bare(gt__node *v) {
  while (v->op == GT__CAST) v--;
  return v;
}
static void gt__emit(gt__code *g, int op, int b, int c, int d) {
  gt__ins ins = {(uint8_t)op, (uint8_t)b, (uint8_t)c, (uint8_t)d};
  if (g->p.n_ins == GT__CODE) g->over = 1;
  if (g->over) return;
  g->p.ins[g->p.n_ins++] = ins;
  g->p.heavy += gt__table[op].heavy;
  g->indexed |= op >= GT__INDEX && op <= GT__INTEGER;
}
static gt__num gt__constant_of(const gt__node *v, int compute) {
  int is_real = v->op == GT__REAL;
  double f = is_real ? v->value.f : v->value.i;
  gt__num c = {0};
  if (compute == GT__F32) c.s = is_real ? (float)f : (float)v->value.i;
  else if (compute == GT__F64) c.f = f;
  else c.i = is_real ? gt__to_i64_f64(f, INT64_MIN, INT64_MAX) : v->value.i;
  return c;
}
/* The slot of an operand or a number: the one that it has already, or the next. */
static int gt__leaf_slot(gt__code *g, const gt__node *v) {
  int n = g->p.n_in, k = 0;
  if (v->op == GT__OPERAND) {
    while (k < n && g->in[k] != v->x) k++;
    if (k == GT__INPUTS) g->over = 1;
    else if (k == n) g->in[g->p.n_in++] = v->x;
    return k;
  }
  n = g->p.n_const;
  gt__num c = gt__constant_of(v, g->p.compute);
  while (k < n && memcmp(&g->p.constant[k], &c, sizeof c)) k++;
  if (k == GT__SLOTS) g->over = 1;
  else if (k == n) g->p.constant[g->p.n_const++] = c;
  return GT__CONSTANT_AT + k;
}
/* The nodes of two subtrees are compared side by side: operands by their numbers, of which
   temporaries have their own. */
static int gt__equal_subtrees(const gt__node *v, const gt__node *w) {
  int n = v->size == w->size ? v->size : 0, k = 0;
  for (; k < n; k++) {
    const gt__node *x = v - k, *y = w - k;
    if (x->op != y->op || x->op <= GT__INTEGER || x->value.i != y->value.i) return 0;
  }
  return n;
}
/* Exchanges two operands, if that puts a leaf behind what is none. Returns the operation then. */
static int gt__leaf_last(int op, gt__node **child) {
  static const uint8_t pair[][2] = {{GT__OP_sub, GT__OP_rsub},
                                    {GT__OP_div, GT__OP_rdiv},
                                    {GT__OP_lt, GT__OP_gt},
                                    {GT__OP_le, GT__OP_ge}};
  static const uint8_t same[] = {GT__OP_eq,          GT__OP_ne,          GT__OP_add,
                                 GT__OP_mul,         GT__OP_hypot,       GT__OP_maximum,
                                 GT__OP_minimum,     GT__OP_logical_and, GT__OP_logical_or,
                                 GT__OP_logical_xor, GT__OP_bitwise_and, GT__OP_bitwise_or,
                                 GT__OP_bitwise_xor};
  gt__node *leaf = child[0];
  int exchanged = memchr(same, op, sizeof same) ? op : 0;
  if (!gt__is_leaf(leaf) || gt__is_leaf(child[1])) return op;
  for (int k = 0; k < 4; k++) {
    if (op == pair[k][0]) exchanged = pair[k][1];
    if (op == pair[k][1]) exchanged = pair[k][0];
  }
  if (!exchanged) return op;
  child[0] = child[1];
  child[1] = leaf;
  return exchanged;
}
static int gt__save(gt__code *g) {
  int slot = GT__TEMPORARY_AT + g->n_temporary++;
  if (g->n_temporary > g->most_temporaries) g->most_temporaries = g->n_temporary;
  if (g->n_temporary > GT__SLOTS) g->over = 1;
  gt__emit(g, GT__SAVE, 0, 0, slot);
  return slot;
}
static void gt__generate(gt__code *g, gt__node *v);
static int gt__is_two(const gt__node *v) { /* and has been since it was parsed, or given */
  if (v->op == GT__REAL) return v->size == 1 && v->value.f == 2;
  return v->op == GT__WHOLE && v->size == 1 && v->value.i == 2;
}
/* Operands that are no leaves go into temporaries first, the left one last; of two that are equal
   only that one. */
static void gt__generate_operation(gt__code *g, gt__node *v) {
  int arity = gt__arity(v), op = v->op, equal = 0, slot[3] = {0, 0, 0};
  gt__node *child[3];
  for (int k = 0; k < arity; k++) child[k] = gt__bare(gt__child(v, k));
  if (op == GT__OP_pow && gt__is_two(v - 1)) {
    op = GT__OP_square;
    arity = 1;
  }
  if (arity == 2) op = gt__leaf_last(op, child);
  if (arity == 2 && !gt__is_leaf(child[0])) equal = gt__equal_subtrees(child[0], child[1]);
  for (int k = arity - 1; k > 0 && !g->over; k--) {
    if (equal || gt__is_leaf(child[k])) continue;
    gt__generate(g, child[k]);
    slot[k] = gt__save(g);
  }
  if (arity) gt__generate(g, child[0]);
  if (equal) slot[1] = gt__save(g);
  for (int k = 1; k < arity; k++)
    if (gt__is_leaf(child[k])) slot[k] = gt__leaf_slot(g, child[k]);
  gt__emit(g, op, slot[1], slot[2], 0);
}
/* Leaves v in acc. If it is deeper than programs are long, gt__fit has not been at its subtrees. */
static void gt__generate(gt__code *g, gt__node *v) {
  int before = g->n_temporary, start = g->p.n_ins;
  if (g->depth++ > GT__CODE) g->over = 1;
  if (gt__is_leaf(v)) gt__emit(g, GT__LOAD, gt__leaf_slot(g, v), 0, 0);
  else if (!g->over) gt__generate_operation(g, v);
  g->depth--;
  g->n_temporary = before;
  if (g->over || v == g->root || g->p.n_ins - start <= g->subtree_size) return;
  g->subtree = v;
  g->subtree_size = g->p.n_ins - start;
}
static uint8_t gt__moved(const gt__program *p, int slot) { /* from where it was counted */
  if (slot >= GT__TEMPORARY_AT) return slot - GT__TEMPORARY_AT + p->n_in + p->n_const;
  return slot >= GT__CONSTANT_AT ? slot - GT__CONSTANT_AT + p->n_in : slot;
}
/* A program for v; 0 if it does not fit the machine, but g->subtree does, or a subtree of that. */
static int gt__compile(const gt__tree *t, gt__node *v, gt__code *g) {
  gt__program *p = &g->p;
  memset(g, 0, offsetof(gt__code, p) + offsetof(gt__program, ins));
  g->root = gt__bare(v);
  p->compute = v->compute;
  p->seed = t->seed;
  p->offset = t->offset;
  int is_product = t->n_in && !t->in[0]->storage;
  if (is_product) g->in[p->n_in++] = t->in[0];
  gt__generate(g, g->root);
  p->n_slot = p->n_in + p->n_const + g->most_temporaries;
  if (g->over || p->n_slot > GT__SLOTS) return 0;
  for (gt__ins *ins = p->ins; ins < p->ins + p->n_ins; ins++) {
    ins->b = gt__moved(p, ins->b);
    ins->c = gt__moved(p, ins->c);
    ins->d = gt__moved(p, ins->d);
  }
  return 1;
}
/* y also takes in x's first dims, of that number. 0: they cannot broadcast. */
static int gt__merge_shape(gt_tensor *y, const gt_tensor *x, int ndim) {
  int n = ndim > y->ndim ? ndim : y->ndim;
  int lead = n - y->ndim, x_lead = n - ndim;
  for (int d = n - 1; d >= 0; d--) {
    int64_t have = d < lead ? 1 : y->shape[d - lead];
    int64_t want = d < x_lead ? 1 : x->shape[d - x_lead];
    if (have != want && have != 1 && want != 1) return 0;
    y->shape[d] = have == 1 ? want : have;
  }
  y->ndim = n;
  return 1;
}
/* Copies to m what is used of a program, as a rule a fraction of it. Its inputs, but for a product,
   become operands as in gt__bind, behind w's output. */
static void gt__set_program(gt__op *op, gt__map_args *m, const gt__code *g, gt__walk *w, int ndim,
                            int n, const int *order) {
  const gt__program *p = &g->p;
  memcpy(&m->program, p, offsetof(gt__program, ins) + p->n_ins * sizeof *p->ins);
  memcpy(m->program.constant, p->constant, p->n_const * sizeof *p->constant);
  for (int k = op->kind == GT__MATMUL; k < p->n_in; k++) {
    gt__bind(op, &m->in[k], g->in[k], ndim, n, order);
    w->o[w->n++] = &m->in[k];
  }
}
/* The operands of an operation that computes g for each element of `out`, in its own dims. */
GT__INSIDE void gt__bind_elements(gt__op *op, gt__map_args *m, gt__walk *w, const gt__code *g,
                                  const gt_tensor *out) {
  int ndim = out->ndim;
  w->size = (int64_t *)memcpy(m->size, out->shape, sizeof m->size);
  w->n = 1;
  w->o[0] = &m->out;
  m->count = gt__numel(out);
  gt__bind(op, &m->out, out, ndim, ndim, gt__as_it_is);
  gt__set_program(op, m, g, w, ndim, ndim, gt__as_it_is);
}
static gt_status gt__launch_map(const gt__code *g, const gt_tensor *out) {
  gt__op op;
  gt__walk w;
  gt__map_args *m = &gt__op_new(&op, GT__MAP, out->device)->u.map;
  if (!gt__numel(out)) return GT_OK;
  gt__bind_elements(&op, m, &w, g, out);
  if (!g->indexed) gt__sort_dims(&w, 0, out->ndim, 0);
  m->ndim = gt__one_dim_at_least(&w, gt__collapse(&w, 0, 0, out->ndim));
  m->fits_int = gt__fits_int(&op, &w, m->ndim);
  return gt__submit(&op);
}
static const gt_dtype gt__widest[] = {GT_FLOAT32, GT_FLOAT64, GT_INT64}; /* by compute type */
static int gt__stays_integer(int compute, const gt__node *c) { /* or it may be another value */
  return c->op < GT__OPS && c->op > GT__INTEGER && !gt__holds(compute, c);
}
/* Must v's program not compute its operand c? Integers stay integers in float company, and a cast
   goes through memory unless its dtype is computed in. Of a condition only "not zero" matters; the
   program that reads it may not see fractions. */
static int gt__is_apart(const gt__node *v, const gt__node *c, int is_condition) {
  int compute = v->compute, leaf = gt__is_leaf(c);
  if (v->op == GT__CAST) {
    int higher = !leaf && gt__higher(c->highest, compute) != compute;
    if (higher || v->dtype != gt__widest[compute]) return 1;
  }
  if (compute != GT__I64) return gt__stays_integer(compute, c);
  return c->natural != GT__I64 && (!leaf || is_condition);
}
/* Gives the nodes of the root's program its compute type, and their own to those that must be
   computed apart, with what is below them. Returns how many these are. */
static int gt__cut_tree(gt__tree *t, int compute) {
  int count = 0;
  gt__node *v = gt__root(t);
  v->compute = compute;
  for (; v >= t->node; v--)
    for (int k = 0; k < gt__arity(v); k++) {
      int is_condition = v->op == GT__OP_where && k == 0;
      gt__node *c = gt__child(v, k);
      if (gt__is_leaf(c) && !is_condition && v->op != GT__CAST) continue; /* it is just loaded */
      c->compute = v->compute;
      c->apart = gt__is_apart(v, c, is_condition);
      if (!c->apart) continue;
      c->compute = gt__choose_compute(c, c->op == GT__REAL ? GT__F64 : GT__I64);
      c->as = gt__widest[c->compute];
      if (is_condition || gt__rule(c) == GT__BOOL) c->as = GT_BOOL;
      if (v->op == GT__CAST) c->as = v->dtype;
      count++;
    }
  return count;
}
/* v, whose program is g, becomes an operand: a temporary of this dtype. Those that it was made of
   have no other use. */
static gt_status gt__cut_node(gt__tree *t, gt__node *v, gt_dtype dtype, const gt__code *g) {
  gt_tensor value = t->whole;
  gt_graph *recorded = gt__me.graph;
  if (!v->indexed) value.ndim = 0; /* index counts in the shape of the whole */
  for (int k = 0; k < g->p.n_in; k++) {
    const gt_tensor *in = g->in[k];
    gt__merge_shape(&value, in, in->ndim);
  }
  value.dtype = dtype;
  if (gt__is_constant(&value)) gt__me.graph = NULL; /* the host reads it: not in a graph */
  gt_tensor *x = gt__new_like(&value);
  if (x) x->storage->internal = 1;
  gt_status status = x ? gt__launch_map(g, x) : gt__failed();
  gt__me.graph = recorded;
  for (int k = 1; k < v->size; k++) gt__end_temporary(t, v - k);
  v->op = GT__OPERAND; /* with a number of its own: it ends with the tree, or before */
  v->value.i = t->n_in + (v - t->node);
  v->x = x;
  if (!status) status = gt__set_operand(t, v);
  if (v->op != GT__OPERAND) gt__free(x);
  return status;
}
/* A program for v; subtrees that fit the machine are cut off until it does. */
static gt_status gt__fit(gt__tree *t, gt__node *v, gt__code *g) {
  while (!gt__compile(t, v, g)) {
    gt__node *subtree = g->subtree;
    while (!gt__compile(t, subtree, g)) subtree = g->subtree;
    if (gt__cut_node(t, subtree, gt__widest[subtree->compute], g)) return gt__failed();
  }
  return GT_OK;
}
/* A program for the root in one compute type. Children stand before their parents, so what must
   be computed apart is computed first; and of a large tree the subtrees are made to fit, from the
   leaves on, so that no program that is far too long is ever tried. */
static gt_status gt__prepare_in(gt__tree *t, int compute, gt__code *g) {
  int apart = gt__cut_tree(t, compute), large = t->n > GT__CODE;
  gt__node *root = gt__root(t);
  for (gt__node *v = apart || large ? t->node : root; v < root; v++) {
    if (!v->apart && (!large || gt__is_leaf(v))) continue;
    if (gt__fit(t, v, g)) return gt__failed();
    if (v->apart && gt__cut_node(t, v, v->as, g)) return gt__failed();
  }
  return gt__fit(t, root, g);
}
/* The program of an operand, or a product, as it is: one GT__LOAD, which is number 0. */
static void gt__load_alone(gt__program *p, int compute) {
  memset(p, 0, offsetof(gt__program, ins[1]));
  p->compute = compute;
  p->n_in = 1;
  p->n_slot = 1;
  p->n_ins = 1;
}
/* A program that computes the root in that type; for a mean, or a floating output, integers become
   floats. */
static gt_status gt__prepare(gt__tree *t, int compute, gt__code *g) {
  gt__node *root = gt__root(t);
  if (root->op == GT__OPERAND) {
    gt__load_alone(&g->p, compute);
    g->indexed = 0;
    g->in[0] = root->x;
    return GT_OK;
  }
  if (!gt__stays_integer(compute, root)) return gt__prepare_in(t, compute, g);
  if (gt__prepare_in(t, GT__I64, g)) return gt__failed();
  if (gt__cut_node(t, root, GT_INT64, g)) return gt__failed();
  root->compute = compute;
  return gt__fit(t, root, g);
}

/* ---- >>operations-code --------------------------------------------------------------------------
   gt_add and its like, and gt_eval: a tree is placed (which device, which shape), annotated (which
   dtypes), compiled and launched as a map. */
/* Device and shape of an expression. */
static gt_status gt__place_tree(gt__tree *t, const gt_tensor *out) {
  gt_tensor *whole = &t->whole;
  int first = -1;
  whole->ndim = 0;
  whole->gt__number = 0;
  whole->storage = NULL;
  whole->device = gt_cpu();
  for (int i = 0; i < t->n_in; i++) {
    const gt_tensor *x = t->in[i];
    if (gt__is_constant(x) && x->storage) continue; /* a number, which gt__annotate reads */
    if (first < 0) {
      first = i;
      whole->device = x->device;
    }
    if (gt__check_devices(first + 1, t->in[first], i + 1, x)) return gt__failed();
    if (!gt__merge_shape(whole, x, x->ndim))
      return gt__fail(GT_ERROR_SHAPE,
                      "operand %d %s does not broadcast with %s; from the last dim back sizes must "
                      "be equal or 1",
                      i + 1, gt__shape_text(x), gt__shape_text(whole));
  }
  if (first < 0 && out) *whole = gt__plain(out); /* numbers alone fill the output */
  return gt__check_size(whole->ndim, whole->shape);
}
/* A text becomes a tree that knows its device, shape and dtypes. */
static gt_status gt__analyse(gt__tree *t) {
  if (gt__parse_text(t) || gt__place_tree(t, NULL)) return gt__failed();
  return gt__annotate(t);
}
/* The compute type of a whole tree. Numbers are as exact as the result; one that float would round
   stays a double, since storing it as a 16-bit float is its one rounding. */
static int gt__compute_all(const gt__tree *t, gt_dtype dtype, int is_number, int at_least) {
  const gt__node *v = gt__root(t);
  int compute = gt__choose_compute(v, at_least);
  int rounds = v->op == GT__REAL && v->value.f != (double)(float)v->value.f;
  if (rounds && dtype != GT_FLOAT32) return GT__F64;
  if (!is_number || v->op == GT__WHOLE) return compute;
  return gt__higher(compute, gt__is_floating(dtype) ? GT__F64 : GT__I64); /* they are 64-bit */
}
/* The program of the operation or formula that a thread did last, if its operands were different
   tensors of one dtype, with dims. The next call of that kind needs no tree: of 1,024 elements
   gt_add and gt_eval take a quarter fewer instructions for it (callgrind, November 2026). */
static __thread struct {
  int op; /* 0: none; GT__OPS: a formula's text */
  gt_dtype from, to;
  char text[64];
  gt__code code;
} gt__last;
/* Is t, which is of `op`, what was kept? If not, its program is to be, where that may be. */
static int gt__is_kept(gt__tree *t, int op) {
  gt__operands x = t->in;
  int n = t->n_in;
  for (int i = 0; i < n; i++) {
    if (!x[i]->ndim || x[i]->dtype != x[0]->dtype) return 0;
    for (int j = 0; j < i; j++)
      if (x[i] == x[j]) return 0;
  }
  t->kept = n ? op : 0;
  int same = op == gt__last.op && n == gt__last.code.p.n_in && x[0]->dtype == gt__last.from;
  return same && (!*t->text || !strcmp(t->text, gt__last.text));
}
static void gt__keep_program(const gt__tree *t, const gt__code *g) {
  size_t n = t->n_in;
  gt__last.op = 0;
  if (g->p.n_in != n || strlen(t->text) >= sizeof gt__last.text) return;
  if (memcmp(g->in, t->in, n * sizeof *t->in)) return;
  gt__last.op = t->kept;
  gt__last.from = t->in[0]->dtype;
  gt__last.to = t->whole.dtype;
  strcpy(gt__last.text, t->text);
  gt__last.code = *g;
}
static gt_tensor *gt__run_kept(gt__tree *t, gt_tensor *out) {
  gt__code *g = &gt__last.code;
  gt__result r;
  if (gt__place_tree(t, out)) return NULL;
  t->whole.dtype = gt__last.to;
  if (gt__begin(&r, out, &t->whole, t->n_in, t->in, 1)) return NULL;
  memcpy(g->in, t->in, t->n_in * sizeof *t->in);
  return gt__end(&r, gt__launch_map(g, r.place));
}
/* Computes the tree into `out`, or into a new tensor. The result's dtype, and the shape of numbers
   alone, are those of `like`, or NULL: as the tree has it, or for numbers alone `out`. */
static gt_tensor *gt__run_tree(gt__tree *t, gt_tensor *out, const gt_tensor *like, int at_least) {
  const gt__node *v = gt__root(t);
  gt__result r;
  gt__code g;
  if (gt__place_tree(t, like ? like : out) || gt__annotate(t)) return NULL;
  int is_number = !like && v->level == GT__NUMBER;
  gt_dtype dtype = like ? like->dtype : v->dtype;
  int as_out = out && gt__dtype[out->dtype].kind >= gt__dtype[dtype].kind;
  if (is_number && out) dtype = as_out ? out->dtype : GT_FLOAT64; /* see gt__compute_all */
  if (v->op == GT__CAST && v->dtype == dtype) t->n--;             /* storing it converts it */
  int compute = gt__compute_all(t, dtype, is_number, at_least);
  t->whole.dtype = dtype;
  if (gt__begin(&r, out, &t->whole, t->n_in, t->in, 1)) return NULL;
  gt_status status = gt__prepare(t, compute, &g);
  if (!status && t->kept) gt__keep_program(t, &g);
  if (!status) status = gt__launch_map(&g, r.place);
  return gt__end(&r, status);
}
/* Like gt__refuse, of the operands of a text; a product takes the first letter. */
static int gt__refuse_text(const gt_tensor *out, const char *text, int taken, int n,
                           gt__operands x) {
  if (!text) return gt__fail(GT_ERROR_ARGUMENT, "the text is NULL");
  if (n >= 0 && n <= 26 - taken) return gt__refuse(out, 1 + 2 * taken, n, x);
  return gt__fail(GT_ERROR_ARGUMENT, "%lld operands; the letters a to z name 26",
                  (long long)n + taken);
}
/* The least compute type in which x becomes a `like`. Integers become floating numbers in the type
   of these. To bfloat16 they go through a type that holds them, since float would round them first.
   (What float rounds is infinite in float16.) */
static int gt__compute_as(const gt_tensor *x, const gt_tensor *like) {
  if (gt__is_floating(x->dtype)) return GT__I64;
  size_t size = gt_dtype_size(x->dtype);
  if (like->dtype != GT_BFLOAT16 || size < 4) return gt__compute_of(like->dtype);
  return size == 4 ? GT__F64 : GT__I64;
}
/* gt_eval_n, with a result like `like`; NULL: as the text has it. */
static gt_tensor *gt__eval_at(gt_tensor *out, const gt_tensor *like, const char *text, int n,
                              gt__operands x) {
  if (gt__refuse_text(out, text, 0, n, x)) return NULL;
  GT__TREE(t, text, n, x);
  if (!like && gt__is_kept(&t, GT__OPS)) return gt__run_kept(&t, out);
  int at_least = like ? gt__compute_as(x[0], like) : GT__I64;
  return gt__parse_text(&t) ? NULL : gt__run_tree(&t, out, like, at_least);
}
/* Ends a call that has noted its formula for traces. */
static gt_tensor *gt__end_formula(gt_tensor *y) {
  gt__me.formula = NULL;
  return y;
}
GT_API gt_tensor *gt_eval_n(gt_tensor *out, const char *text, int n, gt__operands x) {
  gt__me.call = "gt_eval";
  gt__me.formula = text;
  return gt__end_formula(gt__eval_at(out, NULL, text, n, x));
}
static gt_tensor *gt__apply_op(gt_tensor *out, int op, int n, gt__operands x) {
  if (gt__refuse(out, 1, n, x)) return NULL;
  GT__TREE(t, "", n, x);
  if (gt__is_kept(&t, op)) return gt__run_kept(&t, out);
  for (int i = 0; i < n; i++) gt__add_whole(&t, GT__OPERAND, i);
  gt__add_node(&t, op);
  return gt__run_tree(&t, out, NULL, GT__I64);
}
#define GT__DEFINE(name, arity, result, cost, f, i) \
  GT_API gt_tensor *gt_##name(gt_tensor *out, GT__LETTERS_##arity(const gt_tensor *)) { \
    gt__me.call = "gt_" #name; \
    const gt_tensor *x[] = {GT__LETTERS_##arity()}; \
    return gt__apply_op(out, GT__OP_##name, arity, x); \
  }
GT__OPERATIONS(GT__DEFINE)

/* ---- >>moving ----------------------------------------------------------------------------------
   Copies. One between devices is one operation, and the call returns at once, or it is staged:

     GPU <-> pinned memory; GPU <-> GPU      bytes, if both are dense    gt__copy_bytes
     GPU  -> GPU whose memory it reaches     a kernel of the source's    gt__move_elements
     GPU <-> ordinary memory                 staged, if both are dense   gt__copy_staged

   What is not dense, or of another dtype, becomes so first, in memory between: gt__copy_into. */
/* Bytes between devices; memory of the host is pinned. */
static gt_status gt__copy_bytes(gt__storage *to, void *dst, gt__storage *from, void *src,
                                int64_t bytes) {
  gt__op op;
  int up = !gt__on_host(to->device), down = !gt__on_host(from->device);
  gt__copy_args *a = &gt__op_new(&op, GT__COPY, (up ? to : from)->device)->u.copy;
  a->kind = GT__BYTES;
  a->bytes = bytes;
  a->dst.data = (char *)dst;
  a->src.data = (char *)src;
  a->dst_index = up ? to->device.index : -1;
  a->src_index = down ? from->device.index : -1;
  gt__touch_bytes(&op, to, dst, bytes);
  gt__touch_bytes(&op, from, src, bytes);
  return gt__submit(&op);
}
/* Ordinary memory of the host passes through staging buffers, which are pinned: while the GPU
   copies one, the caller fills the next,

     host memory --move--> buffer --copy_bytes--> device                  upwards

   or empties the one that came GT__STAGED - 1 before, of a ring of GT__STAGED:

     device --copy_bytes--> buffer --move--> host memory                  downwards */
enum { GT__STAGED = 8 };             /* buffers of the ring */
enum { GT__STAGED_BYTES = 1 << 21 }; /* of one */
static int64_t gt__staged_bytes(const gt_tensor *x, int64_t at) {
  return gt__minimum_i64(GT__STAGED_BYTES, gt__nbytes(x) - at);
}
/* Fills, or has the GPU fill, a buffer with what begins at byte `at`. */
static gt_status gt__begin_staging(gt__storage **buffer, const gt_tensor *to, const gt_tensor *from,
                                   int64_t at, int up) {
  int64_t n = gt__staged_bytes(to, at);
  char *dst = gt__address(to) + at, *src = gt__address(from) + at;
  gt__storage *s = gt__storage_new(n, gt_cpu(), 1);
  *buffer = s;
  if (!s) return gt__failed();
  s->internal = 1;
  if (!up) return gt__copy_bytes(s, s->data, from->storage, src, n);
  GT__HOST->move((char *)s->data, src, n);
  return gt__copy_bytes(to->storage, dst, s, s->data, n);
}
/* The loop has GT__STAGED - 1 rounds behind the last buffer, for those on their way down. Upwards a
   buffer is let go of at once: its memory is kept until the device has read it. */
static gt_status gt__copy_staged(const gt_tensor *to, const gt_tensor *from, int up) {
  gt__storage *ring[GT__STAGED] = {NULL};
  int64_t buffers = (gt__nbytes(to) - 1) / GT__STAGED_BYTES + 1;
  gt__host_use host;
  gt_status status = gt__host_begin(up ? from : to, !up, &host);
  for (int64_t i = 0; i < buffers + GT__STAGED - 1; i++) {
    int64_t at = i * GT__STAGED_BYTES, back = at - (GT__STAGED - 1) * GT__STAGED_BYTES;
    gt__storage **first = &ring[i % GT__STAGED];
    gt__storage **last = up ? first : &ring[(i + 1) % GT__STAGED];
    if (i < buffers && !status) status = gt__begin_staging(first, to, from, at, up);
    gt__storage *s = *last;
    *last = NULL;
    if (!s) continue;
    gt__access whole = gt__whole(s, 0);
    if (!up && !status) status = gt__order_host(&whole, NULL);
    if (!up && !status)
      GT__HOST->move(gt__address(to) + back, (char *)s->data, gt__staged_bytes(to, back));
    gt__lock();
    gt__storage_end_unlocks(s);
  }
  gt__host_end(&host);
  return status;
}
/* While a graph of the GPU is recorded, the host takes no part in a copy. */
GT__COLD static gt_status gt__refuse_copy(const gt__storage *host, gt_device gpu) {
  if (!gt__on_host(host->device) || (host->pinned && !host->internal)) return GT_OK;
  return gt__refuse_recorded(gpu,
                             "the host has a part in this copy, once; take dense tensors of "
                             "gt_empty_pinned and one dtype, or copy before");
}
/* dst = src on another device, by one of the ways that the table above has. */
static gt_status gt__copy_across(const gt_tensor *to, const gt_tensor *from) {
  int down = gt__on_host(to->device), up = gt__on_host(from->device);
  int direction = down ? GT_DEVICE_TO_HOST : GT_DEVICE_TO_DEVICE;
  const gt__storage *host = down ? to->storage : from->storage; /* if one is the host's */
  gt_device gpu = down ? from->device : to->device;
  int pinned = host->pinned || up == down, kind = GT_COPY_ASYNC;
  int dense = gt__is_dense(from) & gt__is_dense(to);
  int64_t bytes = gt__nbytes(to), traced = 0;
  gt_status status;
  if (!bytes) return GT_OK;
  if (gt__refuse_copy(host, gpu)) return gt__failed();
  if (up) direction = GT_HOST_TO_DEVICE;
  if (!pinned) kind = up ? GT_COPY_STAGED : GT_COPY_BLOCKING;
  gt__me.moving = 1 + 3 * direction + kind;
  if (!pinned) traced = gt__trace_copy(bytes, to->storage->internal);
  if (!pinned) status = gt__copy_staged(to, from, up);
  else if (!dense) status = gt__move_elements(to, from, NULL);
  else
    status = gt__copy_bytes(to->storage, gt__address(to), from->storage, gt__address(from), bytes);
  gt__me.moving = 0;
  int recorded = gt__is_recorded(gpu);
  GT__HOLD(gt__mutex);
  gt__trace_end(traced);
  if (status || recorded) return status;
  gt__all.stats.copies[direction][kind].count++;
  gt__all.stats.copies[direction][kind].bytes += bytes;
  return GT_OK;
}
/* May a kernel of src's GPU write to dst, of another one? Only whole lines, to memory that is ours,
   and where the library puts that GPU's stream behind dst's. */
static int gt__reaches(const gt_tensor *dst, const gt_tensor *src) {
  int gpus = !gt__on_host(dst->device) && !gt__on_host(src->device), lines = 0;
  for (int d = 0; d < dst->ndim; d++) lines |= dst->stride[d] == 1;
  if (!gpus || !lines || dst->storage->foreign || src->dtype != dst->dtype) return 0;
  if (gt__me.graph || gt__me.safety != GT_ORDER) return 0;
  GT__HOLD(gt__mutex);
  return GT__OF(dst)->reaches(src->device.index, dst->device.index);
}
/* dst = src of one shape. Between devices go dense bytes of dst's dtype, which src becomes first,
   where no kernel can write to dst. */
static gt_status gt__copy_into(gt_tensor *dst, const gt_tensor *src) {
  int crosses = !gt__same_device(dst->device, src->device), same = src->dtype == dst->dtype;
  int sent = crosses && same && gt__is_dense(src);
  gt_device device = sent ? dst->device : src->device;
  if (!crosses) {
    if (!same) return gt__eval_at(dst, dst, "a", 1, &src) ? GT_OK : gt__failed();
    if (gt__same_view(dst, src)) return GT_OK;
    if (!gt__overlaps(dst, src)) return gt__move_elements(dst, src, NULL);
  }
  if (sent && gt__is_dense(dst)) return gt__copy_across(dst, src);
  if (crosses && gt__reaches(dst, src)) return gt__copy_across(dst, src);
  GT__LOCAL gt_tensor *between =
      gt__new(gt__shape_of(src), dst->dtype, device, sent && gt__on_host(device));
  if (!between) return gt__failed();
  between->storage->internal = 1;
  gt_status status = gt__copy_into(between, src);
  return status ? status : gt__copy_into(dst, between);
}
static gt_tensor *gt__converted(const gt_tensor *x, gt_dtype dtype, gt_device device, int share) {
  int same = x->dtype == dtype && gt__same_device(x->device, device);
  if (same && (share == GT__ANY_STRIDES || (share == GT__DENSE && gt__is_dense(x))))
    return gt__handle(x);
  int pinned = gt__on_host(device) && !gt__on_host(x->device); /* then it comes at once */
  gt_tensor like = gt__plain(x);
  like.dtype = dtype;
  like.device = device;
  gt_tensor *y = pinned ? gt__new(gt__shape_of(x), dtype, device, 1) : gt__new_like(&like);
  gt__result r = {y, y, 1};
  return y ? gt__end(&r, gt__copy_into(y, x)) : NULL;
}
GT_API gt_tensor *gt_copy(gt_tensor *dst, const gt_tensor *src) {
  GT__CALL;
  gt_tensor wide;
  if (gt__refuse(dst, 1, 1, &src)) return NULL;
  if (!dst) return gt__converted(src, src->dtype, src->device, GT__FRESH);
  if (!gt__broadcast_to(src, dst, &wide))
    return GT__NULL(GT_ERROR_SHAPE, "the source %s does not broadcast to %s", gt__shape_text(src),
                    gt__shape_text(dst));
  return gt__check_own(dst) || gt__copy_into(dst, &wide) ? NULL : dst;
}
GT_API gt_tensor *gt_to(const gt_tensor *x, gt_device device) {
  if (GT__NO(x) || gt__check_device(device)) return NULL;
  return gt__converted(x, x->dtype, device, GT__ANY_STRIDES);
}
GT_API gt_tensor *gt_to_dtype(const gt_tensor *x, gt_dtype dtype) {
  if (GT__NO(x)) return NULL;
  return gt__converted(x, dtype, x->device, GT__ANY_STRIDES);
}
GT_API gt_tensor *gt_contiguous(const gt_tensor *x) {
  if (GT__NO(x)) return NULL;
  return gt__converted(x, x->dtype, x->device, GT__DENSE);
}
/* Copies x, which is contiguous, to memory of the caller's or, with `up` and on a GPU only, from
   it; on return that is his again. Meanwhile `s` and `host` describe it as a storage and a tensor.
   */
static gt_status gt__copy_outside(const gt_tensor *x, void *data, int up) {
  gt__storage s;
  gt_status status;
  if (gt__on_host(x->device)) {
    gt__host_use use;
    status = gt__host_begin(x, 0, &use);
    if (!status && gt__numel(x)) memcpy(data, gt__address(x), gt__nbytes(x));
    gt__host_end(&use);
    return status;
  }
  if (gt__refuse_recorded(x->device,
                          "nothing of it has run, and the host waits for no launch; "
                          "read and write before gt_graph_begin or behind a launch"))
    return gt__failed();
  memset(&s, 0, sizeof s);
  s.data = data;
  s.bytes = gt__nbytes(x);
  s.device = gt_cpu();
  s.internal = 1;
  s.pinned = gt__is_pinned(data);
  gt_tensor host = gt__plain(x);
  host.device = s.device;
  host.storage = &s;
  host.offset = 0;
  status = up ? gt__copy_across(x, &host) : gt__copy_across(&host, x);
  gt__access whole = gt__whole(&s, 1);
  gt_status waited = gt__order_host(&whole, NULL); /* a copy that failed may have begun */
  GPUTENSOR_FREE(s.own.more);
  return status ? status : waited;
}
GT_API gt_tensor *gt_from_array(const void *data, gt_shape shape, gt_dtype dtype,
                                gt_device device) {
  GT__CALL;
  gt_tensor *x = gt__new(shape, dtype, device, 0);
  gt__result r = {x, x, 1};
  if (!x || !gt__numel(x)) return x;
  if (data && gt__on_host(device)) return memcpy(x->storage->data, data, gt__nbytes(x)), x;
  return gt__end(&r, data ? gt__copy_outside(x, (void *)(uintptr_t)data, 1)
                          : gt__fail(GT_ERROR_ARGUMENT, "data is NULL"));
}
GT_API gt_status gt_to_array(const gt_tensor *x, void *host, size_t bytes) {
  if (GT__NO(x)) return gt__failed();
  if (bytes != gt__nbytes(x))
    return gt__fail(GT_ERROR_ARGUMENT, "%zu bytes given, %s of %s has %zu", bytes,
                    gt__shape_text(x), gt_dtype_string(x->dtype), gt__nbytes(x));
  if (!host && bytes) return gt__fail(GT_ERROR_ARGUMENT, "host is NULL");
  if (gt__is_dense(x)) return gt__copy_outside(x, host, 0);
  GT__LOCAL gt_tensor *dense = gt__converted(x, x->dtype, x->device, GT__DENSE);
  return dense ? gt__copy_outside(dense, host, 0) : gt__failed();
}
GT_API void *gt_data(const gt_tensor *x) {
  if (GT__NO(x) || !gt__numel(x)) return NULL;
  if (gt__on_host(x->device) && gt__host_access(x, 1)) return NULL;
  return gt__address(x);
}
static gt_status gt__one(const gt_tensor *x, gt__num *v) {
  if (gt__refuse_one(x)) return gt__failed();
  if (gt__numel(x) != 1)
    return gt__fail(GT_ERROR_SHAPE, "%s has %lld elements, one is needed; gt_to_array reads all",
                    gt__shape_text(x), (long long)gt__numel(x));
  gt_status status = gt__copy_outside(x, v, 0);
  if (!status) *v = gt__decode(x->dtype, v);
  return status;
}
GT_API double gt_item(const gt_tensor *x) {
  GT__CALL;
  gt__num v = {0};
  GT__STRICT;
  if (gt__one(x, &v)) return NAN;
  double value = gt__is_floating(x->dtype) ? v.f : v.i;
  GT__FENCE(value);
  return value;
}
GT_API int64_t gt_item_int64(const gt_tensor *x) {
  GT__CALL;
  gt__num v = {0};
  GT__STRICT;
  if (gt__one(x, &v)) return 0;
  int64_t value = gt__is_floating(x->dtype) ? gt__to_i64_f64(v.f, INT64_MIN, INT64_MAX) : v.i;
  GT__FENCE(value);
  return value;
}

/* ---- >>making -----------------------------------------------------------------------------------
   Tensors of numbers: texts over the index, without operands; and random ones. */
/* Fills `out`, or a new tensor, from a text over numbers: integers if it computes in int64. */
static gt_tensor *gt__make(gt_tensor *out, const char *text, gt_shape shape, gt_dtype dtype,
                           gt_device device, int n, const double *number, int at_least) {
  gt_tensor like;
  GT__TREE(t, text, n, NULL); /* letters, made numbers below */
  if (gt__model(&like, shape, dtype, device) || gt__parse_text(&t)) return NULL;
  for (gt__node *v = t.node; v < t.node + t.n; v++) {
    if (v->op != GT__OPERAND) continue;
    v->op = at_least == GT__I64 ? GT__WHOLE : GT__REAL;
    if (v->op == GT__WHOLE) v->value.i = number[v->value.i];
    else v->value.f = number[v->value.i];
  }
  t.n_in = 0;
  return gt__run_tree(&t, out, &like, at_least);
}
static gt_tensor *gt__full(gt_tensor *out, gt_shape shape, double value, gt_dtype dtype,
                           gt_device device) {
  return gt__make(out, "a", shape, dtype, device, 1, &value,
                  gt_is_floating(dtype) ? gt__compute_of(dtype) : GT__F64);
}
GT_API gt_tensor *gt_full(gt_shape shape, double value, gt_dtype dtype, gt_device device) {
  GT__CALL;
  return gt__full(NULL, shape, value, dtype, device);
}
GT_API gt_tensor *gt_full_int64(gt_shape shape, int64_t value, gt_dtype dtype, gt_device device) {
  GT__CALL;
  gt_tensor like;
  if (gt__model(&like, shape, dtype, device)) return NULL;
  GT__TREE(t, "", 0, NULL);
  gt__add_whole(&t, GT__WHOLE, value);
  return gt__run_tree(&t, NULL, &like, GT__I64);
}
GT_API gt_tensor *gt_zeros(gt_shape shape, gt_dtype dtype, gt_device device) {
  GT__CALL;
  return gt__full(NULL, shape, 0, dtype, device);
}
GT_API gt_tensor *gt_ones(gt_shape shape, gt_dtype dtype, gt_device device) {
  GT__CALL;
  return gt__full(NULL, shape, 1, dtype, device);
}
GT_API gt_tensor *gt_zeros_like(const gt_tensor *x) {
  if (GT__NO(x)) return NULL;
  return gt__full(NULL, gt__shape_of(x), 0, x->dtype, x->device);
}
GT_API gt_tensor *gt_fill(gt_tensor *x, double value) {
  if (GT__NO(x)) return NULL;
  return gt__full(x, gt__shape_of(x), value, x->dtype, x->device);
}
static gt_tensor *gt__new_number(gt_dtype dtype, const void *value) {
  gt_tensor *x = gt__new(GT_SHAPE_0D, dtype, gt_cpu(), 0);
  if (!x) return NULL;
  memcpy(x->storage->data, value, 8);
  x->gt__number = 1;
  return x;
}
static gt_tensor *gt__number(double value) { return gt__new_number(GT_FLOAT64, &value); }
GT_API gt_tensor *gt_scalar(double value) {
  GT__CALL;
  return gt__number(value);
}
GT_API gt_tensor *gt_scalar_int64(int64_t value) {
  GT__CALL;
  return gt__new_number(GT_INT64, &value);
}
static int gt__is_whole(double x) { return x == floor(x) && fabs(x) < 9e18; }
GT_API gt_tensor *gt_arange(double start, double end, double step, gt_dtype dtype,
                            gt_device device) {
  GT__CALL;
  GT__STRICT;
  GT__FENCE(start);
  GT__FENCE(step);
  double n = ceil((end - start) / step);
  int whole = !gt_is_floating(dtype) && gt__is_whole(start) && gt__is_whole(step);
  double v[] = {start, step};
  if (!(step != 0) || !(n >= 0) || !(n < 9e18))
    return GT__NULL(GT_ERROR_ARGUMENT, "from %g to %g in steps of %g is no finite sequence", start,
                    end, step);
  return gt__make(NULL, "a + index*b", GT_SHAPE((int64_t)n), dtype, device, 2, v,
                  whole ? GT__I64 : GT__F64);
}
/* From both ends, so that the last element is `end` itself. */
GT_API gt_tensor *gt_linspace(double start, double end, int64_t steps, gt_dtype dtype,
                              gt_device device) {
  GT__CALL;
  GT__STRICT;
  GT__FENCE(start);
  GT__FENCE(steps);
  double last = (double)steps - 1, half = steps / 2;
  double length = end - start; /* it may not be finite where the step is */
  double step = isfinite(length) ? length / last : end / last - start / last;
  double v[] = {start, step, end, last, half};
  if (steps <= 1) v[1] = 0;
  if (steps == 1) v[2] = start;
  return gt__make(NULL, "index < e ? a + index*b : c - (d - index)*b", GT_SHAPE(steps), dtype,
                  device, 5, v, GT__F64);
}
GT_API gt_tensor *gt_eye(int64_t rows, int64_t columns, gt_dtype dtype, gt_device device) {
  GT__CALL;
  double n = columns;
  return gt__make(NULL, "remainder(index, a) == floor_div(index, a)", GT_SHAPE(rows, columns),
                  dtype, device, 1, &n, GT__I64);
}
GT_API void gt_manual_seed(uint64_t seed) {
  gt__me.generator.seed = seed;
  gt__me.generator.offset = 0;
}
static gt_status gt__refuse_draw(gt_device device) {
  return gt__refuse_recorded(device,
                             "each launch would draw the same numbers; draw them into a "
                             "tensor before each");
}
/* Draws numbers into a new tensor, by a tree whose operation is `op`, and counts them in the
   generator. The three nodes in front of it are GT__INTEGER's operands: the first is loaded for
   nothing, then low and range. The other operations have none. */
static gt_tensor *gt__random(int op, gt_shape shape, gt_dtype dtype, gt_device device,
                             gt_generator *generator, int64_t low, uint64_t range) {
  gt_generator *source = generator ? generator : &gt__me.generator;
  gt_tensor like;
  if (gt__refuse_draw(device)) return NULL;
  if (op != GT__INTEGER && gt__is_dtype(dtype) && !gt__is_floating(dtype))
    return GT__NULL(GT_ERROR_DTYPE,
                    "%s cannot hold these numbers; choose a floating dtype, or gt_randint",
                    gt_dtype_string(dtype));
  if (gt__model(&like, shape, dtype, device)) return NULL;
  GT__TREE(t, "", 0, NULL);
  gt__add_whole(&t, GT__WHOLE, low);
  gt__add_whole(&t, GT__WHOLE, low);
  gt__add_whole(&t, GT__WHOLE, range);
  gt__add_node(&t, op);
  if (op == GT__UNIFORM && gt__dtype[dtype].size == 2) { /* cut, not rounded: 1 is excluded */
    double steps = gt__dtype[dtype].high;
    gt__add_real(&t, steps);
    gt__add_node(&t, GT__OP_mul);
    gt__add_node(&t, GT__OP_floor);
    gt__add_real(&t, steps);
    gt__add_node(&t, GT__OP_div);
  }
  t.seed = source->seed;
  t.offset = source->offset;
  int compute = op == GT__INTEGER ? (int)GT__I64 : gt__compute_of(dtype);
  gt_tensor *out = gt__run_tree(&t, NULL, &like, compute);
  if (out) source->offset += gt__numel(out);
  return out;
}
GT_API gt_tensor *gt_rand(gt_shape shape, gt_dtype dtype, gt_device device,
                          gt_generator *generator) {
  GT__CALL;
  return gt__random(GT__UNIFORM, shape, dtype, device, generator, 0, 0);
}
GT_API gt_tensor *gt_randn(gt_shape shape, gt_dtype dtype, gt_device device,
                           gt_generator *generator) {
  GT__CALL;
  return gt__random(GT__NORMAL, shape, dtype, device, generator, 0, 0);
}
GT_API gt_tensor *gt_randint(int64_t low, int64_t high, gt_shape shape, gt_dtype dtype,
                             gt_device device, gt_generator *generator) {
  GT__CALL;
  if (low >= high)
    return GT__NULL(GT_ERROR_ARGUMENT, "no integer is from %lld to below %lld", (long long)low,
                    (long long)high);
  if (gt__is_dtype(dtype) && (low < gt__dtype[dtype].low || high - 1 > gt__dtype[dtype].high))
    return GT__NULL(GT_ERROR_ARGUMENT, "%s does not hold every integer from %lld to below %lld",
                    gt_dtype_string(dtype), (long long)low, (long long)high);
  return gt__random(GT__INTEGER, shape, dtype, device, generator, low,
                    (uint64_t)high - (uint64_t)low);
}
/* Fisher and Yates's shuffle, on the host: exactly uniform, and the same on every device. */
GT_API gt_tensor *gt_randperm(int64_t n, gt_device device, gt_generator *generator) {
  GT__CALL;
  gt_generator *source = generator ? generator : &gt__me.generator;
  if (gt__refuse_draw(device)) return NULL;
  GT__LOCAL gt_tensor *host = gt__new(GT_SHAPE(n), GT_INT64, gt_cpu(), 0);
  if (!host) return NULL;
  int64_t *p = (int64_t *)host->storage->data;
  for (int64_t i = 0; i < n; i++) {
    int64_t j = gt__random_i64(source->seed, source->offset + i, 0, i + 1);
    p[i] = p[j];
    p[j] = i;
  }
  gt_tensor *out = gt__converted(host, GT_INT64, device, GT__DENSE);
  if (out) source->offset += n;
  return out;
}

/* ---- >>joining ---------------------------------------------------------------------------------
   Elements that an index picks, and tensors put together: both are copies. */
/* On the CPU the call looks at the index; a GPU does, and a graph's launch. */
static gt_status gt__check_index(const gt_tensor *index, int64_t size) {
  if (!gt__on_host(index->device) || gt__is_recorded(index->device)) return GT_OK;
  int64_t n = gt__numel(index), i = 0, v = 0;
  int dense = gt__is_dense(index), is_wide = index->dtype == GT_INT64;
  const char *data = gt__address(index);
  const int32_t *entry_32 = (const int32_t *)data;
  const int64_t *entry_64 = (const int64_t *)data;
  gt__host_use use;
  gt_status status = gt__host_begin(index, 0, &use);
  for (; i < n && !status; i++) {
    int64_t at = dense ? i : gt__offset(i, index->ndim, index->shape, index->stride);
    v = is_wide ? entry_64[at] : entry_32[at];
    if (v < 0 || v >= size) break;
  }
  gt__host_end(&use);
  if (status || i == n) return status;
  return gt__fail(GT_ERROR_ARGUMENT, "index[%lld] is %lld, the dim has %lld entries", (long long)i,
                  (long long)v, (long long)size);
}
/* Like gt__refuse, for the source and the index of a call that picks. */
static int gt__refuse_pick(const gt_tensor *out, gt__operands in, int *dim) {
  if (gt__refuse(out, 1, 2, in) || gt__no_dim_or_0(dim, in[0]->ndim)) return 1;
  gt_dtype dtype = in[1]->dtype;
  if (dtype != GT_INT64 && dtype != GT_INT32)
    return gt__fail(GT_ERROR_ARGUMENT, "the index must be int32 or int64, not %s %s",
                    gt_dtype_string(dtype), gt__shape_text(in[1]));
  return gt__check_devices(1, in[0], 2, in[1]);
}
/* x has dims, or is of one element that has been given one. */
static gt_tensor *gt__picked(gt_tensor *out, const gt_tensor *like, const gt_tensor *x,
                             const gt__pick *pick) {
  gt__result r;
  const gt_tensor *in[] = {x, pick->index};
  if (gt__begin(&r, out, like, 2, in, 0)) return NULL;
  gt_status status = gt__check_index(pick->index, x->shape[pick->dim]);
  if (!status && r.place->dtype == x->dtype) status = gt__move_elements(r.place, x, pick);
  else if (!status) {
    GT__LOCAL gt_tensor *picked = gt__new_like(like);
    status = picked ? gt__move_elements(picked, x, pick) : gt__failed();
    if (!status) status = gt__copy_into(r.place, picked);
  }
  return gt__end(&r, status);
}
/* Each dim of the result is one of the index's, or one of x's. Of a table (n, width) and an index
   (batch, time), with dim 0, of_index is {0, 1, -1} and of_src {-1, -1, 1}: see gt__pick. */
GT_API gt_tensor *gt_index_select(gt_tensor *out, const gt_tensor *x, int dim,
                                  const gt_tensor *index) {
  GT__CALL;
  const gt_tensor *in[] = {x, index};
  if (gt__refuse_pick(out, in, &dim)) return NULL;
  if (!x->ndim && gt__numel(index) != 1)
    return GT__NULL(GT_ERROR_SHAPE, "a tensor without dims has one entry, the index names %lld",
                    (long long)gt__numel(index));
  gt_tensor from = gt__plain(x);
  gt_tensor like = from;
  gt__pick pick = {index, GT__SELECTS, dim, {0}, {0}};
  if (!x->ndim) gt__insert_dim(&from, 0);
  else like.ndim = x->ndim - 1 + index->ndim;
  if (like.ndim > GT_MAX_DIMS)
    return GT__NULL(GT_ERROR_SHAPE, "an index %s for a dim of %s makes %d dimensions, %d are most",
                    gt__shape_text(index), gt__shape_text(x), like.ndim, GT_MAX_DIMS);
  for (int d = 0; d < like.ndim; d++) {
    int at = d - dim;
    int named = at >= 0 && at < index->ndim;
    int other = at < 0 ? d : d - index->ndim + 1;
    pick.of_src[d] = named ? -1 : other;
    pick.of_index[d] = named ? at : -1;
    like.shape[d] = named ? index->shape[at] : x->shape[other];
  }
  return gt__picked(out, &like, &from, &pick);
}
GT_API gt_tensor *gt_gather(gt_tensor *out, const gt_tensor *x, int dim, const gt_tensor *index) {
  GT__CALL;
  const gt_tensor *in[] = {x, index};
  if (gt__refuse_pick(out, in, &dim)) return NULL;
  gt_tensor from = gt__plain(x);
  gt_tensor like = gt__plain(index);
  gt__pick pick = {index, GT__GATHERS, dim, {0}, {0}};
  if (!x->ndim) gt__insert_dim(&from, 0);
  int fits = from.ndim == (index->ndim ? index->ndim : 1);
  for (int d = 0; d < index->ndim && fits; d++) {
    fits = d == dim || index->shape[d] <= from.shape[d];
    pick.of_src[d] = d == dim ? -1 : d;
    pick.of_index[d] = d;
  }
  if (!fits)
    return GT__NULL(GT_ERROR_SHAPE,
                    "the index %s must have as many dims as %s, and none but dim %d may be longer",
                    gt__shape_text(index), gt__shape_text(x), dim);
  like.dtype = x->dtype;
  return gt__picked(out, &like, &from, &pick);
}
/* torch.cat passes over 1-d tensors without elements. */
static int gt__is_skipped(const gt_tensor *x, int stack) {
  return !stack && x->ndim == 1 && x->shape[0] == 0;
}
/* What x gives to what is joined: when stacking, with a new dim. */
static gt_tensor gt__to_join(const gt_tensor *x, int dim, int stack) {
  gt_tensor y = gt__plain(x);
  if (stack) gt__insert_dim(&y, dim);
  return y;
}
/* Describes in `like` what n tensors make along *dim, which becomes one from 0 on. */
static gt_status gt__joined(gt_tensor *like, int n, gt__operands x, int *dim, int stack) {
  int first = 0;
  while (first < n - 1 && gt__is_skipped(x[first], stack)) first++;
  const gt_tensor *model = x[first];
  int ndim = model->ndim + stack;
  if (ndim > GT_MAX_DIMS || ndim == 0)
    return gt__fail(GT_ERROR_SHAPE, "tensors of %d dimensions cannot be joined", model->ndim);
  if (gt__no_dim(dim, ndim)) return gt__failed();
  *like = gt__to_join(model, *dim, stack);
  int64_t *size = &like->shape[*dim], sum = 0;
  for (int i = 0; i < n; i++) {
    gt_tensor y = gt__plain(x[i]);
    like->dtype = gt__promote_types(like->dtype, y.dtype);
    if (gt__check_devices(first + 1, model, i + 1, &y)) return gt__failed();
    if (gt__is_skipped(&y, stack)) continue;
    int fits = y.ndim == model->ndim;
    if (fits) y = gt__to_join(&y, *dim, stack);
    sum += y.shape[*dim];
    *size = y.shape[*dim];
    if (!fits || !gt__same_shape(&y, like))
      return gt__fail(GT_ERROR_SHAPE, "tensor %d is %s, tensor %d %s; %s", first + 1,
                      gt__shape_text(model), i + 1, gt__shape_text(x[i]),
                      stack ? "all must be alike" : "only the joined dim may differ");
    *size = sum;
    if (gt__check_size(ndim, like->shape)) return gt__failed();
  }
  return GT_OK;
}
/* Each tensor is copied to its place in the output. */
static gt_tensor *gt__join_tensors(gt_tensor *out, int n, gt__operands x, int dim, int stack) {
  gt_tensor like;
  gt__result r;
  gt_status status = GT_OK;
  if (n < 1 || !x) return GT__NULL(GT_ERROR_ARGUMENT, "no tensors given");
  if (gt__refuse(out, 1, n, x) || gt__joined(&like, n, x, &dim, stack)) return NULL;
  if (gt__begin(&r, out, &like, n, x, 0)) return NULL;
  gt_tensor place = gt__plain(r.place);
  for (int i = 0; i < n && !status; i++) {
    if (gt__is_skipped(x[i], stack)) continue;
    gt_tensor part = gt__to_join(x[i], dim, stack);
    place.shape[dim] = part.shape[dim];
    if (gt__numel(&place)) status = gt__copy_into(&place, &part);
    place.offset += place.shape[dim] * place.stride[dim];
  }
  return gt__end(&r, status);
}
GT_API gt_tensor *gt_cat(gt_tensor *out, int n, gt__operands x, int dim) {
  GT__CALL;
  return gt__join_tensors(out, n, x, dim, 0);
}
GT_API gt_tensor *gt_stack(gt_tensor *out, int n, gt__operands x, int dim) {
  GT__CALL;
  return gt__join_tensors(out, n, x, dim, 1);
}

/* ---- >>folding ----------------------------------------------------------------------------------
   A fold of a tree: its elements are computed where they are folded. What takes two folds, such as
   var, norm and a softmax of long rows, is a chain of such. */
typedef struct {
  int fold, finish, keepdim;
  uint32_t dims;
  gt_dtype dtype;    /* of a new output; GT_DTYPES: the usual one */
  double correction; /* DIVIDE by n - correction */
  int soft;          /* GT__SOFTMAX ..., GT__RUNNING, or 0 */
  int at_least;      /* the compute type, or a lower one than it will be: as a rule dtype's */
  int truths;        /* the elements are tested first: is it not 0? */
} gt__folding;
enum { GT__RUNNING = GT__LOGSUMEXP + 1 }; /* a scan */
/* Do softmax, log_softmax and a scan, whose result has all the dims? */
static int gt__all_kept(const gt__folding *f) { return f->soft && f->soft != GT__LOGSUMEXP; }
/* Binds the operands, in the dims of `whole`; then the folded ones move behind the kept. */
static void gt__bind_fold(gt__op *op, gt__walk *w, const gt__code *g, const gt_tensor *out,
                          const gt_tensor *whole, uint32_t set) {
  gt__reduce_args *r = &op->u.reduce;
  int ndim = whole->ndim;
  int drops = out->ndim < ndim, place = 0;
  int order[GT_MAX_DIMS] = {0};
  r->n = 1;
  r->inner = 1;
  r->n_kept = 0;
  for (int d = 0; d < ndim; d++) {
    int64_t size = whole->shape[d];
    int folded = set >> d & 1;
    order[d] = folded && drops ? -1 : place++;
    if (folded) r->n *= size;
    if (size != 1) r->inner = folded; /* the plan: is the fastest dim folded? */
  }
  memcpy(w->size, whole->shape, sizeof whole->shape);
  memset(&r->pre.out, 0, sizeof r->pre.out);
  gt__bind(op, w->o[0], out, out->ndim, ndim, order);
  gt__set_program(op, &r->pre, g, w, ndim, ndim, gt__as_it_is);
  for (int d = 0; d < ndim; d++) {
    if (set >> d & 1) continue;
    for (int i = d; i > r->n_kept; i--) gt__exchange_dims(w, i, i - 1);
    r->n_kept++;
  }
}
/* Brings the dims into the order of memory: the kept ones always; the folded ones, and which side
   is the inner one, where `any` order gives the same bits, as of maxima and integers. */
static void gt__order_fold(gt__reduce_args *r, gt__walk *w, int any, int ndim) {
  int kept = r->n_kept;
  if (w->n > 1) gt__sort_dims(w, 0, kept, 1);
  if (any) gt__sort_dims(w, kept, ndim, 1);
  int first = gt__collapse(w, 0, 0, kept); /* of the folded dims */
  int end = gt__collapse(w, first, kept, ndim);
  if (any && first && first < end) {
    const int64_t *stride = w->o[1]->stride;
    r->inner = stride[end - 1] <= stride[first - 1];
  }
  r->n_kept = first;
  r->pre.ndim = gt__one_dim_at_least(w, end);
}
/* Makes the operation, and what THE PLAN needs to know of it. */
static gt_status gt__launch_fold(const gt__folding *f, const gt__code *g, const gt_tensor *out,
                                 const gt_tensor *whole, uint32_t set) {
  gt__op op;
  gt__reduce_args *r = &gt__op_new(&op, GT__REDUCE, out->device)->u.reduce;
  gt__map_args *m = &r->pre;
  gt__walk w;
  int exact = f->fold > GT__FOLD_PROD || g->p.compute == GT__I64;
  r->outer = gt__numel(out);
  if (!r->outer) return GT_OK;
  w.size = m->size;
  w.n = 1;
  *w.o = gt__all_kept(f) ? &m->out : &r->out;
  gt__bind_fold(&op, &w, g, out, whole, set);
  int any = w.n > 1 && exact && !gt__finds_index(f->fold);
  gt__order_fold(r, &w, any, whole->ndim);
  if (gt__all_kept(f)) r->outer /= r->n;
  m->count = r->outer * r->n;
  m->fits_int = gt__fits_int(&op, &w, m->ndim);
  r->soft = f->soft;
  r->fold = f->fold;
  r->truths = f->truths && r->n;
  if (r->truths < f->truths) r->fold -= GT__FOLD_MAX; /* of nothing: the sum 0, the product 1 */
  r->finish = f->finish;
  r->chunk = r->inner ? (int)GT__CHUNK : (int)GT__ROWS;
  r->n_chunk = r->n ? gt__div_up(r->n, r->chunk) : 1;
  double divisor = fmax(r->n - f->correction, 0);
  if (g->p.compute == GT__F32) r->divisor.s = divisor;
  else r->divisor.f = divisor;
  return gt__submit(&op);
}
/* The shape of what a fold of these dims gives. */
static gt_status gt__folded_shape(const gt__folding *f, const gt_tensor *whole, uint32_t set,
                                  gt_tensor *like) {
  int chooses = f->fold >= GT__FOLD_MAX && !f->truths;
  *like = *whole;
  if (gt__all_kept(f)) return GT_OK;
  like->ndim = 0;
  for (int d = 0; d < whole->ndim; d++) {
    int folded = set >> d & 1;
    if (!folded || f->keepdim) like->shape[like->ndim++] = folded ? 1 : whole->shape[d];
  }
  if (!chooses || !gt__numel(like) || gt__numel(whole)) return GT_OK;
  return gt__fail(GT_ERROR_SHAPE, "no elements to choose from in %s", gt__shape_text(whole));
}
/* *dtype, that of the elements, becomes the one of the result; *compute, the type of the fold. */
static void gt__folded_type(const gt__folding *f, gt_dtype *dtype, int *compute) {
  if (f->fold <= GT__FOLD_PROD && !gt__is_floating(*dtype)) {
    if (f->finish || *compute != GT__I64) *compute = GT__F64; /* counts stay exact beyond 2^24 */
    *dtype = f->finish ? GT_FLOAT32 : GT_INT64;
  }
  if (gt__finds_index(f->fold)) *dtype = GT_INT64;
  if (f->dtype != GT_DTYPES) *dtype = f->dtype;
}
/* One operand as it is, the text of most folds, needs no tree but a root. A sum of 1,024 elements
   takes a sixth fewer instructions for it (callgrind, November 2026). */
static gt_status gt__analyse_fold(gt__tree *t) {
  int is_a = t->n_in == 1 && t->text[0] == 'a' && !t->text[1];
  if (!is_a || t->in[0]->ndim == 0) return gt__analyse(t); /* that may be a number */
  memcpy(&t->whole, t->in[0], offsetof(gt_tensor, gt__next));
  gt__add_whole(t, GT__OPERAND, 0);
  return gt__set_operand(t, t->node);
}
/* The root becomes the truth of what it was. */
static gt_status gt__test_root(gt__tree *t) {
  if (gt__root(t)->dtype == GT_BOOL) return GT_OK;
  gt__add_whole(t, GT__WHOLE, 0);
  gt__add_node(t, GT__OP_ne);
  return gt__annotate(t);
}
/* GPUs scan what lies in memory: there a text is computed first, and stays of the compute type. */
static gt_status gt__launch_scan(const gt__folding *f, gt__tree *t, gt__code *g,
                                 const gt_tensor *out, uint32_t set) {
  gt__op op;
  gt__walk w;
  gt__scan_args *s = &gt__op_new(&op, GT__SCAN, out->device)->u.scan;
  gt__map_args *m = &s->pre;
  int compute = g->p.compute;
  int loads = g->p.n_ins * g->p.n_in == 1;
  if (!gt__numel(out)) return GT_OK;
  if (!loads && !gt__on_host(out->device)) {
    if (gt__cut_node(t, gt__root(t), gt__widest[compute], g)) return gt__failed();
    if (gt__prepare(t, compute, g)) return gt__failed();
  }
  gt__bind_elements(&op, m, &w, g, out);
  m->ndim = gt__one_dim_at_least(&w, out->ndim);
  m->fits_int = gt__fits_int(&op, &w, m->ndim);
  s->fold = f->fold;
  s->dim = __builtin_ctz(set | 1u << (m->ndim - 1));
  s->n = m->size[s->dim];
  s->inner = gt__count(m->ndim - 1 - s->dim, m->size + s->dim + 1);
  s->outer = m->count / s->n / s->inner;
  return gt__submit(&op);
}
/* Folds a text over the operands as f says: a reduction, a softmax or a scan. */
static gt_tensor *gt__fold_text(const gt__folding *f, gt_tensor *out, const char *text, int n,
                                gt__operands x) {
  gt__result r;
  gt__code g;
  gt_tensor like;
  uint32_t set;
  if (gt__refuse_text(out, text, 0, n, x)) return NULL;
  GT__TREE(t, text, n, x);
  if (gt__analyse_fold(&t) || (f->truths && gt__test_root(&t))) return NULL;
  const gt__node *root = gt__root(&t);
  if (root->indexed)
    return GT__NULL(GT_ERROR_EXPRESSION, "index has no meaning before a fold; use gt_eval first");
  if (gt__dim_set(f->dims, t.whole.ndim, &set)) return NULL;
  if (gt__folded_shape(f, &t.whole, set, &like)) return NULL;
  int compute = gt__choose_compute(root, f->at_least);
  like.dtype = root->dtype;
  gt__folded_type(f, &like.dtype, &compute);
  if (gt__begin(&r, out, &like, n, x, gt__all_kept(f))) return NULL;
  gt_status status = gt__prepare(&t, compute, &g);
  if (!status && f->soft == GT__RUNNING) status = gt__launch_scan(f, &t, &g, r.place, set);
  else if (!status) status = gt__launch_fold(f, &g, r.place, &t.whole, set);
  return gt__end(&r, status);
}
GT__ASSERT(GT_PROD == 1 && GT_MEAN == 2 && GT_MIN == 4 && GT_ALL_TRUE == 8 && GT__FOLD_PROD == 1 &&
               GT__FOLD_ARGMIN == 5,
           "gt__folding_of's order; folds: the same without the mean, sums and products first");
/* any and all are the largest and the least of truths. */
static gt__folding gt__folding_of(gt_reduction reduction, uint32_t dims, int keepdim,
                                  gt_dtype dtype) {
  int mean = reduction == GT_MEAN, truths = reduction >= GT_ANY_TRUE;
  int fold = mean ? (int)GT__FOLD_SUM : (int)reduction - (reduction > GT_MEAN);
  int finish = mean ? GT__DIVIDE : 0, at_least = gt__compute_of(dtype);
  if (truths) {
    fold += GT__FOLD_MAX - (GT_ANY_TRUE - 1);
    dtype = GT_BOOL;
  }
  gt__folding f = {fold, finish, keepdim, dims, dtype, 0, 0, at_least, truths};
  return f;
}
GT_API gt_tensor *gt_reduce_n(gt_tensor *out, gt_reduction reduction, uint32_t dims, int keepdim,
                              const char *text, int n, gt__operands x) {
  gt__me.call = "gt_reduce";
  gt__folding f = gt__folding_of(reduction, dims, keepdim, GT_DTYPES);
  if ((unsigned)reduction > GT_ALL_TRUE)
    return GT__NULL(GT_ERROR_ARGUMENT, "%d is not a reduction", (int)reduction);
  gt__me.formula = text;
  return gt__end_formula(gt__fold_text(&f, out, text, n, x));
}
#define GT__REDUCTION(name, reduction) \
  GT_API gt_tensor *gt_##name(gt_tensor *out, const gt_tensor *x, uint32_t dims, int keepdim) { \
    gt__me.call = "gt_" #name; \
    gt__folding f = gt__folding_of(reduction, dims, keepdim, GT_DTYPES); \
    return gt__fold_text(&f, out, "a", 1, &x); \
  }
GT__REDUCTIONS(GT__REDUCTION)
static gt_tensor *gt__scan_text(gt_tensor *out, gt_reduction reduction, int dim, const char *text,
                                int n, gt__operands x) {
  if (gt__dim(dim, GT_MAX_DIMS) < 0) return NULL;
  gt__folding f = gt__folding_of(reduction, GT_DIM(dim), 1, GT_DTYPES);
  f.soft = GT__RUNNING;
  return gt__fold_text(&f, out, text, n, x);
}
GT_API gt_tensor *gt_scan_n(gt_tensor *out, gt_reduction reduction, int dim, const char *text,
                            int n, gt__operands x) {
  gt__me.call = "gt_scan";
  if ((unsigned)reduction > GT_MIN || reduction == GT_MEAN)
    return GT__NULL(GT_ERROR_ARGUMENT, "%d is not GT_SUM, GT_PROD, GT_MAX or GT_MIN",
                    (int)reduction);
  gt__me.formula = text;
  return gt__end_formula(gt__scan_text(out, reduction, dim, text, n, x));
}
#define GT__SCANNING(name, reduction) \
  GT_API gt_tensor *gt_##name(gt_tensor *out, const gt_tensor *x, int dim) { \
    gt__me.call = "gt_" #name; \
    return gt__scan_text(out, reduction, dim, "a", 1, &x); \
  }
GT__SCANS(GT__SCANNING)
static gt_dtype gt__float_dtype(const gt_tensor *x) {
  return gt__is_floating(x->dtype) ? x->dtype : GT_FLOAT32;
}
/* An intermediate result, never less than float32: a text over x and y (or NULL), folded. */
static gt_tensor *gt__inner(gt_reduction reduction, uint32_t dims, int keepdim, const char *text,
                            const gt_tensor *x, const gt_tensor *y) {
  const gt_tensor *in[] = {x, y};
  gt_dtype dtype = x->dtype == GT_FLOAT64 ? GT_FLOAT64 : GT_FLOAT32;
  gt__folding f = gt__folding_of(reduction, dims, keepdim, dtype);
  return gt__fold_text(&f, NULL, text, y ? 2 : 1, in);
}
/* The last step of a function of x: a text over a, b, c (the last may be NULL) in a's shape. */
static gt_tensor *gt__outer(gt_tensor *out, const gt_tensor *x, const char *text,
                            const gt_tensor *a, const gt_tensor *b, const gt_tensor *c) {
  const gt_tensor *in[] = {a, b, c};
  gt_tensor like = gt__plain(a);
  like.dtype = gt__float_dtype(x);
  return gt__eval_at(out, &like, text, 1 + (b != NULL) + (c != NULL), in);
}
/* What x is multiplied or divided by, with the folded dims as 1: a text over the largest |x|, or
   the smallest. */
static gt_tensor *gt__scale(gt_reduction reduction, uint32_t dims, const char *text,
                            const gt_tensor *x) {
  gt_reduction first = gt__numel(x) ? reduction : GT_SUM; /* of nothing: 0 */
  GT__LOCAL gt_tensor *most = gt__inner(first, dims, 1, "abs(a)", x, NULL);
  return most ? gt__outer(NULL, most, text, most, NULL, NULL) : NULL;
}
/* The scale in y's shape, which may be without the folded dims: both are contiguous. */
static gt_tensor gt__scale_of(const gt_tensor *y, const gt_tensor *scale) {
  gt_tensor like = gt__plain(y);
  like.storage = scale->storage;
  return like;
}
/* Squares leave the range where the root of their sum is well within it. Those of float32,
   bfloat16 and integers are folded in float64, whose range they cannot leave; those of float16
   cannot leave float32's. That takes 1.6 times as long as in float32, where a scale would take a
   further read: 131072 x 1024, H200, November 2026, var over rows 540 us, was 336, norm 293, was
   181 (PyTorch 205 and 138). CPUs take twice as long; GPUs whose float64 has 1/64 of float32's rate
   lose more, as the operations count there. Squares of float64 itself need a scale, and the largest
   |x| decides which: 2^-600, 2^600 or, for ordinary data, 1. That costs a read, and no bit. */
static gt_tensor *gt__scaled_squares(const gt__folding *f, gt_tensor *out, const gt_tensor *x,
                                     int centred) {
  static const char scale_text[] =
      "a > 1e135 ? 2.409919865102884e-181 : a < 1e-135 ? 4.149515568880993e180 : 1";
  GT__LOCAL gt_tensor *scale = gt__scale(GT_MAX, f->dims, scale_text, x);
  GT__LOCAL gt_tensor *mean =
      scale && centred ? gt__inner(GT_MEAN, f->dims, 1, "a*b", x, scale) : NULL;
  const gt_tensor *in[] = {x, scale, mean};
  if (!scale || (centred && !mean)) return NULL;
  const char *text = centred ? "(a*b - c)*(a*b - c)" : "square(a*b)";
  GT__LOCAL gt_tensor *folded = gt__fold_text(f, NULL, text, 2 + centred, in);
  if (!folded) return NULL;
  gt_tensor by = gt__scale_of(folded, scale);
  return gt__outer(out, x, f->finish & GT__ROOT ? "a/b" : "a/b/b", folded, &by, NULL);
}
/* Folds the squares of x or, centred, of x - mean: the mean first, then the squares of the rest. */
static gt_tensor *gt__squares(gt__folding *f, gt_tensor *out, const gt_tensor *x, int centred) {
  gt_dtype wide = x->dtype == GT_FLOAT16 ? GT_FLOAT32 : GT_FLOAT64;
  if (x->dtype == GT_FLOAT64) return gt__scaled_squares(f, out, x, centred);
  f->at_least = gt__compute_of(wide);
  if (!centred) return gt__fold_text(f, out, "square(a)", 1, &x);
  gt__folding first = gt__folding_of(GT_MEAN, f->dims, 1, wide);
  GT__LOCAL gt_tensor *mean = gt__fold_text(&first, NULL, "a", 1, &x);
  const gt_tensor *in[] = {x, mean};
  return mean ? gt__fold_text(f, out, "(a - b)*(a - b)", 2, in) : NULL;
}
static gt_tensor *gt__spread(gt_tensor *out, const gt_tensor *x, uint32_t dims, double correction,
                             int keepdim, int finish) {
  if (gt__refuse(out, 1, 1, &x)) return NULL;
  gt__folding f = gt__folding_of(GT_MEAN, dims, keepdim, gt__float_dtype(x));
  f.finish = finish;
  f.correction = correction;
  return gt__squares(&f, out, x, 1);
}
GT_API gt_tensor *gt_var(gt_tensor *out, const gt_tensor *x, uint32_t dims, double correction,
                         int keepdim) {
  GT__CALL;
  return gt__spread(out, x, dims, correction, keepdim, GT__DIVIDE);
}
GT_API gt_tensor *gt_std(gt_tensor *out, const gt_tensor *x, uint32_t dims, double correction,
                         int keepdim) {
  GT__CALL;
  return gt__spread(out, x, dims, correction, keepdim, GT__DIVIDE | GT__ROOT);
}
/* Other powers. Those of |x| in units of the largest, for p < 0 of the smallest, are 1 at most, and
   their sum is 1 at least. For p in -1..1 powers are in range as they are; the sum's might not. */
static gt_tensor *gt__power_norm(gt_tensor *out, const gt_tensor *x, double p, uint32_t dims,
                                 int keepdim) {
  GT__LOCAL gt_tensor *power = gt__number(p);
  if (!power) return NULL;
  if (fabs(p) < 1) {
    GT__LOCAL gt_tensor *sum = gt__inner(GT_SUM, dims, keepdim, "abs(a)**b", x, power);
    return sum ? gt__outer(out, x, "a**(1/b)", sum, power, NULL) : NULL;
  }
  GT__LOCAL gt_tensor *unit =
      gt__scale(p > 0 ? GT_MAX : GT_MIN, dims, "a > 0 && isfinite(a) ? a : 1", x);
  const gt_tensor *in[] = {x, unit, power};
  if (!unit) return NULL;
  gt__folding f = gt__folding_of(GT_SUM, dims, keepdim, unit->dtype);
  GT__LOCAL gt_tensor *sum = gt__fold_text(&f, NULL, "(abs(a)/b)**c", 3, in);
  if (!sum) return NULL;
  gt_tensor by = gt__scale_of(sum, unit);
  return gt__outer(out, x, "a**(1/b)*c", sum, power, &by);
}
/* For a p of 2 see gt__squares; 0, 1 and the infinities are one fold; any other takes powers. */
GT_API gt_tensor *gt_norm(gt_tensor *out, const gt_tensor *x, double p, uint32_t dims,
                          int keepdim) {
  GT__CALL;
  GT__STRICT;
  GT__FENCE(p);
  if (gt__refuse(out, 1, 1, &x)) return NULL;
  if (p != p) return GT__NULL(GT_ERROR_ARGUMENT, "p is NaN");
  gt__folding f = gt__folding_of(GT_SUM, dims, keepdim, gt__float_dtype(x));
  if (isinf(p)) f.fold = p > 0 ? GT__FOLD_MAX : GT__FOLD_MIN;
  if (p == 2) {
    f.finish = GT__ROOT;
    return gt__squares(&f, out, x, 0);
  }
  if (p != 0 && p != 1 && !isinf(p)) return gt__power_norm(out, x, p, dims, keepdim);
  return gt__fold_text(&f, out, p == 0 ? "a != 0" : "abs(a)", 1, &x);
}
/* Does a row of x stay on the chip, or do a few threads of a GPU take a column? See
   gt__reduce_args. */
static int gt__is_row(const gt_tensor *x, uint32_t set, const gt_tensor *out) {
  gt_dtype to = out ? out->dtype : x->dtype;
  int64_t n = 1, all = gt__numel(x);
  int inner = 0;
  for (int d = 0; d < x->ndim; d++) {
    int64_t size = x->shape[d];
    if (set >> d & 1) n *= size;
    if (size != 1) inner = set >> d & 1;
  }
  if (!n || set & (set - 1) || !gt__is_floating(x->dtype)) return 0;
  if (gt__compute_of(to) != gt__compute_of(x->dtype)) return 0;
  if (inner) return n * (x->dtype == GT_FLOAT64 ? 8 : 4) <= GT__SOFT_BYTES;
  if (gt__on_host(x->device) || to != x->dtype) return 0;
  return n <= (n > all / n ? 512 : 1024);
}
/* By one operation, which reads once; or in steps: m, the maximum of a row, then s, the sum of
   exp(x - m), and then the result. */
static gt_tensor *gt__soft(gt_tensor *out, const gt_tensor *x, uint32_t dims, int keepdim,
                           int soft) {
  static const char *const last[] = {"", "exp(a-b)/c", "(a-b)-log(c)"}; /* by `soft` */
  gt__folding f = gt__folding_of(GT_SUM, dims, keepdim, GT_DTYPES);
  uint32_t set;
  if (gt__dim_set(dims, x->ndim, &set)) return NULL;
  f.soft = soft;
  if (gt__is_row(x, set, out)) return gt__fold_text(&f, out, "a", 1, &x);
  gt_reduction first = gt__numel(x) ? GT_MAX : GT_SUM; /* of nothing: 0, its logarithm -inf */
  GT__LOCAL gt_tensor *m = gt__inner(first, dims, 1, "a", x, NULL);
  if (!m || (soft == GT__LOGSUMEXP && /* no inf - inf below */
             !gt__outer(m, x, "isinf(a) ? 0 : a", m, NULL, NULL)))
    return NULL;
  GT__LOCAL gt_tensor *s = gt__inner(GT_SUM, dims, keepdim, "exp(a-b)", x, m);
  if (!s) return NULL;
  if (soft != GT__LOGSUMEXP) return gt__outer(out, x, last[soft], x, m, s);
  gt_tensor most = gt__scale_of(s, m);
  return gt__outer(out, x, "log(a)+b", s, &most, NULL);
}
static gt_tensor *gt__soft_along(gt_tensor *out, const gt_tensor *x, int dim, int soft) {
  if (gt__refuse(out, 1, 1, &x)) return NULL;
  if (gt__no_dim_or_0(&dim, x->ndim)) return NULL;
  return gt__soft(out, x, GT_DIM(dim), 1, soft);
}
GT_API gt_tensor *gt_softmax(gt_tensor *out, const gt_tensor *x, int dim) {
  GT__CALL;
  return gt__soft_along(out, x, dim, GT__SOFTMAX);
}
GT_API gt_tensor *gt_log_softmax(gt_tensor *out, const gt_tensor *x, int dim) {
  GT__CALL;
  return gt__soft_along(out, x, dim, GT__LOG_SOFTMAX);
}
GT_API gt_tensor *gt_logsumexp(gt_tensor *out, const gt_tensor *x, uint32_t dims, int keepdim) {
  GT__CALL;
  if (gt__refuse(out, 1, 1, &x)) return NULL;
  return gt__soft(out, x, dims, keepdim, GT__LOGSUMEXP);
}

/* ---- >>multiplying ------------------------------------------------------------------------------
   A product, and behind it the tree of an expression, where the back end can compute it there. */
GT_API gt_precision gt_float32_matmul_precision(void) { return gt__me.precision; }
GT_API gt_status gt_set_float32_matmul_precision(gt_precision precision) {
  GT__CALL;
  if ((int)precision < GT_HIGHEST || (int)precision > GT_MEDIUM)
    return gt__fail(GT_ERROR_ARGUMENT, "%d is not a precision", (int)precision);
  gt__me.precision = precision;
  return GT_OK;
}
typedef struct {
  gt__op op;
  const gt_tensor *a, *b;
  gt_tensor result; /* without storage until it is computed; without the dim of a vector */
} gt__product_op;
/* What the product is: the batches, of at and bt dims, broadcast, then M and N, but for vectors. */
static gt_status gt__product_result(gt__product_op *p, int at, int bt) {
  gt__matmul_args *x = &p->op.u.matmul;
  gt_tensor *r = &p->result;
  r->ndim = 0;
  r->gt__number = 0;
  r->storage = NULL;
  r->device = p->a->device;
  r->dtype = gt__promote_types(p->a->dtype, p->b->dtype);
  gt__merge_shape(r, p->a, at);
  if (!gt__merge_shape(r, p->b, bt))
    return gt__fail(GT_ERROR_SHAPE, "%s x %s: the batches do not broadcast", gt__shape_text(p->a),
                    gt__shape_text(p->b));
  x->n_batch = r->ndim;
  int64_t *shape = r->shape;
  if (p->a->ndim > 1) shape[r->ndim++] = x->m;
  if (p->b->ndim > 1) shape[r->ndim++] = x->n;
  if (gt__check_size(r->ndim, shape)) return gt__failed();
  x->batch = gt__count(x->n_batch, shape);
  /* Back ends bring all matrices to scratch with rows and columns rounded up. */
  enum { ROUNDED = 64 };
  int64_t k = gt__rounded(x->k, ROUNDED);
  int64_t larger = gt__rounded(gt__maximum_i64(x->m, x->n), ROUNDED);
  int64_t all[] = {x->batch, larger, k};
  return gt__check_size(3, all);
}
/* Fills p, but for what comes behind the product. Of vectors a is one row, b one column. */
static gt_status gt__product_shape(const gt_tensor *a, const gt_tensor *b, gt__product_op *p) {
  gt__matmul_args *x = &p->op.u.matmul;
  int vector = a->ndim == 1;
  int column = b->ndim == 1;
  int at = a->ndim + vector - 2; /* dims of the batch */
  int bt = b->ndim + column - 2;
  gt__op_new(&p->op, GT__MATMUL, a->device);
  p->a = a;
  p->b = b;
  if (at < 0 || bt < 0)
    return gt__fail(GT_ERROR_SHAPE,
                    "%s x %s: both need one dimension at least; gt_mul multiplies by a number",
                    gt__shape_text(a), gt__shape_text(b));
  if (gt__check_devices(1, a, 2, b)) return gt__failed();
  x->k = a->shape[at + !vector];
  int some = x->k > 0; /* else there may be no memory to step over */
  x->a_col = some * a->stride[at + !vector];
  x->m = vector ? 1 : a->shape[at];
  x->a_row = vector ? x->a_col * x->k : some * a->stride[at];
  x->n = column ? 1 : b->shape[bt + 1];
  x->b_col = column ? 1 : some * b->stride[bt + 1];
  x->b_row = some * b->stride[bt];
  if (b->shape[bt] != x->k)
    return gt__fail(GT_ERROR_SHAPE, "%s x %s: inner sizes %lld and %lld differ%s",
                    gt__shape_text(a), gt__shape_text(b), (long long)x->k, (long long)b->shape[bt],
                    x->n == x->k ? "; transpose the second operand?" : "");
  return gt__product_result(p, at, bt);
}
/* A CPU reads a matrix that is stored by columns best as the second operand. If A is, and C has few
   columns, C^T = B^T x A^T is computed. */
static int gt__is_transposed(const gt__op *op) {
  const gt__matmul_args *x = &op->u.matmul;
  int thin = x->n <= 14 && x->m > 28;
  if (x->n == 1) thin = x->m > 1;
  return thin && x->k > 1 && x->a_row == 1 && gt__on_host(op->device);
}
/* Where all matrices have the same B, those whose rows follow each other in every operand are one:
   so a linear layer takes x of any dims. Returns the dims. */
static int gt__join_rows(gt__matmul_args *x, gt__walk *w, int n) {
  int same = x->n_batch > 0;
  for (int d = 0; d < x->n_batch; d++) same &= !x->b.stride[d];
  if (!same) return n;
  w->o[w->n++] = &x->a;
  x->a.stride[n - 2] = x->a_row;
  x->a.stride[n - 1] = 0;
  int rows = gt__one_dim_at_least(w, gt__collapse(w, 0, 0, n - 1)) - 1;
  gt__exchange_dims(w, rows + 1, n - 1);
  w->n--;
  x->n_batch = rows;
  x->batch = gt__count(rows, w->size);
  x->m = w->size[rows];
  if (x->m > 1) x->a_row = x->a.stride[rows];
  return rows + 2;
}
/* Transposes it, if that is better, and binds the operands to the kernel's dims: batch, M, N. */
static void gt__bind_product(gt__product_op *p, const gt__code *g, const gt_tensor *out) {
  gt__op *op = &p->op;
  gt__matmul_args *x = &op->u.matmul;
  gt__map_args *post = &x->post;
  gt__walk w;
  const gt_tensor *a = p->a, *b = p->b;
  int batch = x->n_batch, n = batch + 2;
  int ndim = p->result.ndim;
  int transposed = gt__is_transposed(op);
  int order[GT_MAX_DIMS];
  w.size = post->size;
  w.n = 1;
  *w.o = &post->out;
  memcpy(order, gt__as_it_is, sizeof gt__as_it_is);
  order[batch + transposed] = a->ndim == 1 ? -1 : batch;
  order[batch + !transposed] = b->ndim == 1 ? -1 : ndim - 1;
  if (transposed) {
    gt__swap(&x->m, &x->n);
    gt__swap(&x->a_row, &x->b_col);
    gt__swap(&x->a_col, &x->b_row);
    a = p->b;
    b = p->a;
  }
  memcpy(post->size, p->result.shape, sizeof post->size);
  post->size[batch] = x->m;
  post->size[batch + 1] = x->n;
  gt__bind(op, &post->out, out, ndim, n, order);
  gt__bind(op, &x->a, a, n - (a->ndim == 1), batch, order);
  gt__bind(op, &x->b, b, n - (b->ndim == 1), batch, order);
  if (g) gt__set_program(op, post, g, &w, ndim, n, order);
  else gt__load_alone(&post->program, gt__compute_of(p->result.dtype));
  post->ndim = gt__join_rows(x, &w, n);
  post->fits_int = gt__fits_int(op, &w, post->ndim);
}
/* Starts the product, with the program g behind it or, if g is NULL, without one. */
static gt_status gt__launch_product(gt__product_op *p, const gt__code *g, const gt_tensor *out) {
  gt__matmul_args *x = &p->op.u.matmul;
  if (!gt__numel(out)) return GT_OK;
  gt__bind_product(p, g, out);
  x->post.count = x->batch * x->m * x->n;
  x->precision = gt__me.precision;
  x->compute = x->post.program.compute;
  return gt__submit(&p->op);
}
static gt_tensor *gt__matmul_bare(gt_tensor *out, const gt_tensor *a, const gt_tensor *b) {
  const gt_tensor *x[] = {a, b}; /* nothing behind it: no tree */
  gt__product_op p;
  gt__result r;
  GT__STRICT;
  if (gt__refuse(out, 1, 2, x)) return NULL;
  if (gt__product_shape(a, b, &p)) return NULL;
  if (gt__begin(&r, out, &p.result, 2, x, 0)) return NULL;
  return gt__end(&r, gt__launch_product(&p, NULL, r.place));
}
/* May what stands behind a product broadcast it? UNREAD: it may not, and all sums count as 0. */
enum { GT__BROADCAST, GT__SAME_SHAPE, GT__UNREAD };
static gt_status gt__place_behind(gt__tree *t, const gt_tensor *product, int what) {
  if (gt__analyse(t)) return gt__failed();
  if (gt__root(t)->indexed)
    return gt__fail(GT_ERROR_EXPRESSION, "index has no meaning behind a product; use gt_eval");
  if (what == GT__BROADCAST || gt__same_shape(&t->whole, product)) return GT_OK;
  return gt__fail(GT_ERROR_SHAPE, "%s does not broadcast to the product's shape %s",
                  gt__shape_text(t->in[1]), gt__shape_text(product));
}
/* Does the tree fit behind the product as it is, in the type that products add up in? */
static int gt__fits_behind(gt__tree *t, const gt__product_op *p, gt__code *g) {
  int type = gt__compute_of(p->result.dtype);
  if (!gt__same_shape(&t->whole, &p->result)) return 0;
  if (gt__choose_compute(gt__root(t), GT__I64) != type) return 0;
  return !gt__cut_tree(t, type) && gt__compile(t, gt__root(t), g);
}
/* Where the tree does not fit behind the product, that is computed by itself, in the type that
   products add up in, and then the tree. */
static gt_tensor *gt__matmul_text(gt_tensor *out, const gt_tensor *a, const gt_tensor *b,
                                  const char *text, int n, gt__operands x, int what) {
  gt__product_op p;
  gt__result r;
  gt__code g;
  const gt_tensor *in[28] = {a, b}; /* then the product, x, and its factors */
  if (gt__refuse(out, 1, 2, in)) return NULL;
  if (gt__refuse_text(out, text, 1, n, x)) return NULL;
  if (gt__product_shape(a, b, &p)) return NULL;
  if (what == GT__UNREAD) p.op.u.matmul.k = 0;
  in[0] = &p.result;
  for (int i = 0; i < n; i++) in[i + 1] = x[i];
  in[n + 1] = a;
  in[n + 2] = b;
  GT__TREE(t, text, n + 1, in);
  if (gt__place_behind(&t, &p.result, what)) return NULL;
  int fits = gt__fits_behind(&t, &p, &g);
  t.whole.dtype = gt__root(&t)->dtype;
  if (gt__begin(&r, out, &t.whole, n + 3, in, 0)) return NULL;
  if (fits) return gt__end(&r, gt__launch_product(&p, &g, r.place));
  gt_dtype dtype = gt__widest[gt__compute_of(p.result.dtype)];
  GT__LOCAL gt_tensor *product = gt__new(gt__shape_of(&p.result), dtype, a->device, 0);
  gt_status status = product ? gt__launch_product(&p, NULL, product) : gt__failed();
  if (status) return gt__end(&r, status);
  p.result = gt__plain(product);
  return gt__end(&r, gt__run_tree(&t, r.place, NULL, GT__I64) ? GT_OK : gt__failed());
}
GT_API gt_tensor *gt_matmul_eval_n(gt_tensor *out, const gt_tensor *a, const gt_tensor *b,
                                   const char *text, int n, gt__operands x) {
  gt__me.call = "gt_matmul_eval";
  gt__me.formula = text;
  return gt__end_formula(gt__matmul_text(out, a, b, text, n, x, GT__BROADCAST));
}
GT_API gt_tensor *gt_matmul(gt_tensor *out, const gt_tensor *a, const gt_tensor *b) {
  GT__CALL;
  return gt__matmul_bare(out, a, b);
}
/* A whole factor of integer matrices is an integer, so that their product stays one. */
static gt_tensor *gt__factor_of(const gt_tensor *a, const gt_tensor *b, double value) {
  gt_dtype dtype = gt__promote_types(a->dtype, b->dtype);
  if (gt__is_floating(dtype) || !gt__is_whole(value)) return gt__number(value);
  int64_t whole = value;
  return gt__new_number(GT_INT64, &whole);
}
/* One product, with a program behind it in which alpha and beta are numbers. If beta is 0, c is not
   read, and if alpha is 0, nor are a and b: not even a NaN in them counts. */
GT_API gt_tensor *gt_addmm(gt_tensor *out, const gt_tensor *c, const gt_tensor *a,
                           const gt_tensor *b, double beta, double alpha) {
  GT__CALL;
  GT__STRICT;
  GT__FENCE(alpha);
  GT__FENCE(beta);
  const gt_tensor *given[] = {c, a, b};
  int without = !c && beta == 0;
  if (without && gt__me.status) return NULL;
  if (gt__refuse(out, 1 + without, 3 - without, given + without)) return NULL;
  GT__LOCAL gt_tensor *x = gt__factor_of(a, b, alpha);
  GT__LOCAL gt_tensor *y = gt__factor_of(a, b, beta);
  const gt_tensor *in[] = {c, x, y};
  int what = alpha != 0 ? GT__SAME_SHAPE : GT__UNREAD;
  if (!x || !y) return NULL;
  if (beta == 0) return gt__matmul_text(out, a, b, "a*b", 1, in + 1, what);
  const char *text = alpha != 0 ? "b*d + a*c" : "b*d - a*c"; /* -0 - 0 is -0 */
  return gt__matmul_text(out, a, b, text, 3, in, what);
}
GT_API gt_tensor *gt_linear(gt_tensor *out, const gt_tensor *x, const gt_tensor *w,
                            const gt_tensor *bias) {
  GT__CALL;
  const gt_tensor *given[] = {x, w, bias};
  if ((!bias && gt__me.status) || gt__refuse(out, 1, bias ? 3 : 2, given)) return NULL;
  if (w->ndim != 2)
    return GT__NULL(GT_ERROR_SHAPE, "w is %s; it must be (out, in)", gt__shape_text(w));
  gt_tensor wt = gt__plain(w);
  gt__swap_dims(&wt, 0, 1);
  return bias ? gt__matmul_text(out, x, &wt, "a + b", 1, &bias, GT__SAME_SHAPE)
              : gt__matmul_bare(out, x, &wt);
}

GT__RARE_BEGINS
/* ---- >>scattering -------------------------------------------------------------------------------
   gt_index_add and gt_scatter_reduce: the first is the second with an index that is expanded. In x
   are out, the index and src, of one dim at least. */
/* The index's dim comes first, then those along which it moves, then the rest; neighbours among the
   last two are merged. */
static gt_status gt__launch_scatter(const gt_tensor *x, int dim, int caller, int fold,
                                    int include_self) {
  gt__op op;
  GT__STRICT;
  gt__scatter_args *a = &gt__op_new(&op, GT__SCATTER, x->device)->u.scatter;
  gt__operand *o[] = {&a->out, &a->index, &a->src};
  gt__walk w = {a->size, 3, {&a->src, &a->out, &a->index}};
  int ndim = x->ndim, n = ndim; /* n: of the dims that the index walks along */
  memcpy(a->size, x[1].shape, sizeof a->size);
  for (int i = 0; i < 3; i++) {
    const gt_tensor *y = x + i;
    gt__bind(&op, o[i], y, ndim, ndim, gt__as_it_is);
  }
  op.touch->reads = 1;
  a->out.stride[dim] = 0;
  gt__exchange_dims(&w, 0, dim);
  for (int d = ndim - 1; d > 0; d--)
    if (!a->index.stride[d]) gt__exchange_dims(&w, d, --n);
  gt__sort_dims(&w, n, ndim, 0);
  a->n_index = gt__collapse(&w, 1, 1, n);
  a->ndim = gt__collapse(&w, a->n_index, n, ndim);
  a->inner = gt__count(a->n_index - 1, a->size + 1);
  a->n = a->size[0] * a->inner;
  a->rest = gt__numel(x + 1) / a->n;
  a->entries = x->shape[dim];
  a->pitch = x->stride[dim];
  a->fold = fold;
  a->include_self = include_self;
  a->compute = gt__compute_of(x->dtype);
  a->fault = gt__fault_word(op.device, caller);
  return gt__submit(&op);
}
/* Expands the index of rows; do the three fit together? */
static gt_status gt__fit_scatter(gt_tensor *x, int dim, int rows) {
  gt_tensor *at = x + 1, *from = x + 2;
  int ndim = x->ndim, fits = from->ndim == ndim;
  int64_t n = at->shape[0];
  const int64_t step = at->stride[0];
  const int dims = rows ? 1 : ndim; /* of the index */
  fits &= at->ndim == dims;
  if (from->dtype != x->dtype)
    return gt__fail(GT_ERROR_DTYPE, "the source is %s, the output %s; gt_to_dtype converts",
                    gt_dtype_string(from->dtype), gt_dtype_string(x->dtype));
  if (rows) fits &= n == from->shape[dim];
  for (int d = 0; d < ndim && rows; d++) {
    fits &= d == dim || from->shape[d] == x->shape[d];
    at->shape[d] = from->shape[d];
    at->stride[d] = d == dim ? step : 0;
  }
  at->ndim = ndim;
  for (int d = 0; d < ndim; d++) {
    const int64_t room = x->shape[d];
    n = at->shape[d];
    fits &= n <= from->shape[d];
    if (d == dim) fits &= room || !n;
    else fits &= n <= room;
  }
  if (fits) return GT_OK;
  return gt__fail(GT_ERROR_SHAPE, "the source %s does not go along dim %d into the output %s",
                  gt__shape_text(from), dim, gt__shape_text(x));
}
/* Both functions. If out shares memory with the index or src, a copy of it takes in what goes
   there. */
GT__COLD static gt_tensor *gt__scatter(gt_tensor *out, int dim, const gt_tensor *index,
                                       const gt_tensor *src, int caller, int fold,
                                       int include_self) {
  const gt_tensor *in[] = {out, index, src};
  gt__result r;
  if (gt__refuse_pick(out, in, &dim)) return NULL;
  if (gt__refuse(out, 3, 1, &src)) return NULL;
  if (gt__check_devices(1, out, 3, src)) return NULL;
  if (gt__begin(&r, out, out, 2, in + 1, 0)) return NULL;
  gt_tensor x[] = {gt__plain(r.place), gt__plain(index), gt__plain(src)};
  for (int i = 0; i < 3; i++)
    if (!x[i].ndim) gt__insert_dim(x + i, 0);
  gt_status status = gt__fit_scatter(x, dim, caller == GT__ADDS);
  const int any = !status && gt__numel(x + 1);
  if (any) status = gt__check_index(index, x->shape[dim]);
  const int is_copy = r.place != out;
  if (!status && is_copy) status = gt__copy_into(r.place, out);
  if (!status && any) status = gt__launch_scatter(x, dim, caller, fold, include_self != 0);
  return gt__end(&r, status);
}
GT_API gt_tensor *gt_index_add(gt_tensor *out, int dim, const gt_tensor *index,
                               const gt_tensor *src) {
  GT__CALL;
  return gt__scatter(out, dim, index, src, GT__ADDS, GT__FOLD_SUM, 1);
}
GT_API gt_tensor *gt_scatter_reduce(gt_tensor *out, int dim, const gt_tensor *index,
                                    const gt_tensor *src, gt_reduction reduction,
                                    int include_self) {
  GT__CALL;
  int fold = reduction == GT_MAX ? (int)GT__FOLD_MAX : (int)GT__FOLD_MIN;
  if (reduction == GT_SUM) fold = GT__FOLD_SUM;
  if (fold == GT__FOLD_MIN && reduction != GT_MIN)
    return GT__NULL(GT_ERROR_ARGUMENT, "the reduction must be GT_SUM, GT_MAX or GT_MIN");
  return gt__scatter(out, dim, index, src, GT__SCATTERS, fold, include_self);
}

/* ---- >>sorting ---------------------------------------------------------------------------------
   An operation finds the order of rows, as positions; values are then gathered by these. */
/* The positions of what comes first along x's last dim, to `at`. Both are contiguous. */
static gt_status gt__find_order(const gt_tensor *at, const gt_tensor *x, int64_t keep, int how) {
  gt__op op;
  gt__order_args *a = &gt__op_new(&op, GT__ORDER, x->device)->u.order;
  if (!gt__numel(at)) return GT_OK;
  a->n = x->shape[x->ndim - 1];
  a->keep = keep;
  a->rows = gt__numel(at) / keep;
  a->how = how;
  gt__bind(&op, &a->out, at, 0, 0, NULL);
  gt__bind(&op, &a->x, x, 0, 0, NULL);
  const int is_bit = how == GT__NONZERO || x->dtype == GT_BOOL;
  a->bits = is_bit ? 1 : 8 << a->x.size_log2;
  return gt__submit(&op);
}
static gt_status gt__check_row(const gt_tensor *x, int64_t n, int64_t keep) {
  if (keep < !x->ndim || keep > n)
    return gt__fail(GT_ERROR_ARGUMENT, "k is %lld, a row has %lld entries", (long long)keep,
                    (long long)n);
  if (n <= UINT32_MAX) return GT_OK;
  return gt__fail(GT_ERROR_SHAPE, "a row of %s has %lld entries, 2^32 - 1 are most",
                  gt__shape_text(x), (long long)n);
}
/* The first `keep` along dim `dim`: what they are to `values`, where they are to `indices`; each
   may be NULL. */
static gt_status gt__order_into(gt_tensor *values, gt_tensor *indices, const gt_tensor *x, int dim,
                                int64_t keep, int how) {
  gt_tensor across = gt__plain(x);
  if (!x->ndim) gt__insert_dim(&across, 0);
  const int last = across.ndim - 1;
  gt__swap_dims(&across, dim, last);
  const int direct = indices && indices->dtype == GT_INT64 && dim == last && gt__is_dense(indices);
  GT__LOCAL gt_tensor *dense = gt__converted(&across, x->dtype, x->device, GT__DENSE);
  across.shape[last] = keep;
  across.dtype = GT_INT64;
  GT__LOCAL gt_tensor *at = direct ? gt__handle(indices) : gt__new_like(&across);
  if (!dense || !at) return gt__failed();
  if (gt__find_order(at, dense, keep, how)) return gt__failed();
  gt_tensor index = gt__plain(at);
  gt__swap_dims(&index, dim, last);
  index.ndim = x->ndim;
  if (values && !gt_gather(values, x, dim, &index)) return gt__failed();
  if (!indices || direct) return GT_OK;
  return gt__copy_into(indices, &index);
}
/* An output that is not wanted has neither a place nor an end. */
static gt_status gt__begin_wanted(gt__result *r, gt_tensor *const *out, const gt_tensor *like,
                                  const gt_tensor *x) {
  r->out = NULL;
  r->place = NULL;
  return out ? gt__begin(r, *out, like, 1, &x, 0) : GT_OK;
}
static gt_status gt__end_wanted(gt__result *r, gt_tensor **out, gt_status status) {
  gt_tensor *const y = out ? gt__end(r, status) : NULL;
  if (y) *out = y;
  return y || !out ? status : gt__failed();
}
/* The first *k of each row, or all for NULL. */
static gt_status gt__order(gt_tensor **values, gt_tensor **indices, const gt_tensor *x,
                           const int64_t *k, int dim, int how) {
  gt__result v, at;
  if (gt__refuse(values ? *values : x, 1, 1, &x)) return gt__failed();
  if (gt__refuse(indices ? *indices : x, 1, 1, &x)) return gt__failed();
  if (gt__no_dim_or_0(&dim, x->ndim)) return gt__failed();
  const int64_t n = x->ndim ? x->shape[dim] : 1;
  const int64_t keep = k ? *k : n;
  gt_tensor like = gt__plain(x);
  like.shape[dim] = keep;
  if (gt__check_row(x, n, keep)) return gt__failed();
  if (values && indices && *values && *indices && gt__overlaps(*values, *indices))
    return gt__fail(GT_ERROR_ARGUMENT, "values and indices share memory");
  if (gt__begin_wanted(&v, values, &like, x)) return gt__failed();
  like.dtype = GT_INT64;
  gt_status status = gt__begin_wanted(&at, indices, &like, x);
  if (status) indices = NULL;
  else status = gt__order_into(v.place, at.place, x, dim, keep, how);
  status = gt__end_wanted(&v, values, status);
  return gt__end_wanted(&at, indices, status);
}
GT_API gt_status gt_sort(gt_tensor **values, gt_tensor **indices, const gt_tensor *x, int dim,
                         int descending) {
  GT__CALL;
  return gt__order(values, indices, x, NULL, dim, descending ? GT__FALLING : GT__RISING);
}
GT_API gt_status gt_topk(gt_tensor **values, gt_tensor **indices, const gt_tensor *x, int64_t k,
                         int dim, int largest) {
  GT__CALL;
  return gt__order(values, indices, x, &k, dim, largest ? GT__FALLING : GT__RISING);
}
/* Coordinates in x from positions: a column of `out` for each dim. */
static gt_status gt__coordinates(const gt_tensor *out, const gt_tensor *at, const gt_tensor *x) {
  char text[80];
  int64_t inner = 1;
  gt_tensor column = gt__plain(out);
  column.ndim = 1;
  for (int d = x->ndim - 1; d >= 0; d--) {
    const long long size = x->shape[d];
    column.offset = d;
    snprintf(text, sizeof text, "floor_div(a, %lld) %% %lld", (long long)inner, size);
    if (!gt__eval_at(&column, NULL, text, 1, &at)) return gt__failed();
    inner *= size;
  }
  return GT_OK;
}
/* Counts, waits for the count, and finds the positions: an order by keys of one bit. */
GT_API gt_tensor *gt_nonzero(const gt_tensor *x) {
  GT__CALL;
  gt__num n;
  gt__folding f = gt__folding_of(GT_SUM, GT_ALL, 0, GT_DTYPES);
  if (gt__refuse(NULL, 1, 1, &x)) return NULL;
  if (gt__refuse_recorded(x->device, "the host waits for how many elements are not 0")) return NULL;
  if (gt__check_row(x, gt__numel(x), gt__numel(x))) return NULL;
  GT__LOCAL gt_tensor *count = gt__fold_text(&f, NULL, "a != 0", 1, &x);
  GT__LOCAL gt_tensor *dense = gt__converted(x, x->dtype, x->device, GT__DENSE);
  if (!count || !dense) return NULL;
  if (gt__one(count, &n)) return NULL;
  gt_tensor line = gt__plain(dense);
  line.ndim = 1;
  line.shape[0] = gt__numel(x);
  gt_tensor *out = gt__new(GT_SHAPE(n.i, x->ndim), GT_INT64, x->device, 0);
  gt__result r = {out, out, 1};
  if (!out) return NULL;
  GT__LOCAL gt_tensor *at =
      x->ndim == 1 ? gt__handle(out) : gt__new(GT_SHAPE(n.i), GT_INT64, x->device, 0);
  gt_status status = at ? gt__find_order(at, &line, n.i, GT__NONZERO) : gt__failed();
  if (!status && x->ndim != 1) status = gt__coordinates(out, at, x);
  return gt__end(&r, status);
}

/* ---- >>timeline ---------------------------------------------------------------------------------
   The end of a trace: its records get their times and become slices, sorted by lane and time, which
   are drawn, saved and summed up. With the lock. */
enum { GT__ENGINES, GT__QUEUES, GT__HOSTS, GT__ALL_WORK };     /* groups of lanes */
enum { GT__UPLOADS, GT__COMPUTING, GT__DOWNLOADS, GT__CALLS }; /* engines of a GPU */
static const int gt__tid_of_engine[] = {1, 2, 1000, 1001};     /* 2 and up: tracks */
enum { GT__TID_OF_QUEUES = 100000 };                           /* threads come before */
/* What a letter means: of a GPU's engines, of operations by their kind, and of the host's time. */
static const char *const gt__letters[] = {"u upload",
                                          "C compute",
                                          "d download",
                                          "f function",
                                          "c copy",
                                          "m map",
                                          "r reduction",
                                          "P product",
                                          "S scan",
                                          "o order",
                                          "k scatter",
                                          "g graph",
                                          "w wait of the host",
                                          "s staged or blocking copy",
                                          "x work of the host"};
enum { GT__LETTERS = sizeof gt__letters / sizeof *gt__letters };
static int gt__is_op(const gt__record *r) { return r->what == GT__TRACED_OPERATION; }
static int gt__on_gpu(const gt__record *r) { return gt__is_op(r) && !gt__on_host(r->device); }
static int gt__engine(const gt__record *r) {
  if (r->kind == GT__FUNCTION) return GT__CALLS; /* in a thread of CUDA's */
  if (r->kind != GT__COPY || r->way) return GT__COMPUTING;
  return (r->moving - 1) / 3 == GT_DEVICE_TO_HOST ? GT__DOWNLOADS : GT__UPLOADS;
}
/* When an event of an operation happened, or -1. */
static double gt__event_ms(const gt__record *r, void *event) {
  const gt__record *tie = &gt__trace.at[r->clock];
  const gt__backend *b = GT__OF(r);
  float ms = 0;
  if (!r->clock || !event) return -1;
  if (b->event_elapsed(r->device.index, tie->back, event, &ms)) return -1;
  return tie->begin + (double)ms;
}
/* Operations of a stream come one after the other. */
static void gt__set_times(gt__record *r, double now) {
  double before = gt__trace.at[r->before].end;
  if (gt__on_gpu(r)) {
    r->begin = fmax(r->begin, gt__event_ms(r, r->front));
    r->end = gt__event_ms(r, r->back);
    if (r->end < 0) {
      r->what = GT__TRACED_NOTHING;
      r->end = before;
      gt__trace.dropped++;
    }
  }
  if (r->end < 0) r->end = now; /* it is still going on */
  if (!r->number) return;
  r->begin = fmax(fmin(r->begin, r->end), before);
  r->end = fmax(r->end, r->begin);
}
/* Slices are sorted by lane, then by end. */
static int gt__compare_slices(const void *a, const void *b) {
  const gt__slice *x = (const gt__slice *)a, *y = (const gt__slice *)b;
  double order = (double)(x->lane - y->lane);
  if (order == 0) order = *x->end - *y->end;
  if (order == 0) order = (double)(x->r - y->r);
  return (order > 0) - (order < 0);
}
static void gt__add_slice(int group, int pid, int tid, int letter, gt__record *r) {
  int enqueues = group == GT__HOSTS && r->number; /* the call that did */
  int what = enqueues ? (int)GT__TRACED_ENQUEUE : r->what;
  const double *begin = enqueues ? &r->asked : &r->begin;
  const double *end = enqueues ? &r->called : &r->end;
  int64_t lane = ((int64_t)group * 64 + pid) << 32 | tid;
  gt__slice s = {lane, group, pid, tid, 0, what, letter, begin, end, r};
  *gt__trace.end++ = s;
}
/* Gives each record its times, puts it into its lanes, and sorts these. */
static void gt__make_slices(void) {
  static const char host[] = "?xws"; /* by what it is; ranges are not drawn */
  double now = gt_now_ms();
  for (int64_t i = 1; i < gt__trace.n; i++) {
    gt__record *r = &gt__trace.at[i];
    gt__set_times(r, now);
    int gpu = gt__on_gpu(r), pid = gt__slot(r->device), engine = gt__engine(r);
    int letter = gpu || r->kind == GT__FUNCTION ? engine : GT__CALLS + 1 + r->kind;
    if (!r->what || r->what > GT__TRACED_RANGE) continue;
    gt__add_slice(GT__HOSTS, 0, r->thread, r->number ? 0 : host[r->what], r);
    if (gt__is_op(r)) gt__add_slice(GT__ALL_WORK, 0, 0, 0, r);
    if (r->number)
      gt__add_slice(GT__QUEUES, pid, GT__TID_OF_QUEUES + r->name, gt__letters[letter][0], r);
    if (gpu) gt__add_slice(GT__ENGINES, pid, gt__tid_of_engine[engine], '0' + r->name % 10, r);
  }
  size_t n = gt__trace.end - gt__trace.slices;
  qsort(gt__trace.slices, n, sizeof(gt__slice), gt__compare_slices);
}
/* Behind the last slice of the lane of s. */
static gt__slice *gt__lane_end(gt__slice *s) {
  int64_t lane = s->lane;
  while (s < gt__trace.end && s->lane == lane) s++;
  return s;
}
/* A copy engine does one at a time: a copy that waited for it has begun when it was free. */
static void gt__serve_copies(gt__slice *s, const gt__slice *end) {
  for (double is_free = 0; s < end; s++) {
    s->r->begin = fmax(s->r->begin, is_free);
    is_free = s->r->end;
  }
}
/* The time in which any operation of a lane was at work, which is walked from the last end back.
   Those side by side get tracks: in an engine no more than there are streams. */
static double gt__union_ms(const gt__slice *first, gt__slice *s) {
  double used[GT__SLOTS_OF_STREAMS + 1] = {0}; /* a track, from then on */
  double sum = 0, since = HUGE_VAL;
  while (s-- > first) {
    double begin = s->r->begin, end = s->r->end;
    int track = 0;
    while (track < GT__SLOTS_OF_STREAMS && used[track] > 0 && used[track] < end) track++;
    used[track] = begin;
    s->track = track;
    sum += fmax(fmin(end, since) - begin, 0);
    since = fmin(since, begin);
  }
  gt__trace.first = fmin(gt__trace.first, since);
  return sum;
}
/* How long a lane was at work. */
static double gt__busy_ms(gt__slice *s, gt__slice *end) {
  double sum = 0;
  if (s->group == GT__ENGINES) return gt__union_ms(s, end);
  for (; s < end; s++) {
    if (s->what != GT__TRACED_OPERATION) continue;
    sum += gt__on_gpu(s->r) ? s->r->end - s->r->begin : s->r->cpu;
  }
  return sum;
}
/* -- what overlapped and, if little, why -- */
enum {
  GT__BY_STREAM,
  GT__BY_RESULT,
  GT__BY_HOST,
  GT__BY_READ,
  GT__BY_PAGEABLE,
  GT__BY_ENGINE,
  GT__BY_ONE,
  GT__REASONS
};
static const char *const gt__reason[] = {
    "most operations waited for the one before them on their own stream: independent work can go "
    "to several streams",
    "most operations waited for results of another stream: what depends on each other takes turns",
    "most operations began as soon as they were enqueued: the host is what is late; larger "
    "operations, or a formula in place of several, take fewer calls",
    "the host waited for results before it enqueued more: read them after all work is enqueued",
    "copies of ordinary (pageable) memory keep the host waiting, which enqueues nothing meanwhile: "
    "gt_empty_pinned makes memory that does not",
    "one kind of work takes nearly all of the time: more streams add only what one operation "
    "leaves of the device",
    "the calling thread did all the work itself: gt_stream_create makes streams that work beside "
    "it"};
GT__ASSERT(sizeof gt__reason / sizeof *gt__reason == GT__REASONS, "each reason has a sentence");
/* Adds up how long what each reason explains was at work. An operation is `joined` if what it
   waited for on another stream ended last: after the one before on its own, and after it was
   enqueued; so is what follows it at once. A wait of the host explains as much of what it enqueues
   next as it was long itself. */
static void gt__explain(double *ms) {
  gt__record *at = gt__trace.at;
  double held = 0; /* of the last wait, what is left */
  int cause = GT__BY_READ;
  for (gt__record *r = at + 1; r < at + gt__trace.n; r++) {
    gt__record *to = &at[r->to];
    const gt__record *wait = &at[r->behind];
    double own = at[r->before].end, other = at[r->from].end;
    double length = r->end - r->begin;
    if (r->to && other > at[to->before].end && other > to->asked) to->joined = 1;
    if (!gt__is_op(r)) continue;
    int late = r->asked > own ? GT__BY_HOST : GT__BY_STREAM;
    if (late == GT__BY_STREAM) r->joined |= at[r->before].joined;
    ms[r->joined ? GT__BY_RESULT : late] += length;
    if (r->behind) held = wait->end - wait->begin;
    if (r->behind) cause = wait->what == GT__TRACED_COPY ? GT__BY_PAGEABLE : GT__BY_READ;
    length = fmin(length, held);
    ms[cause] += length;
    held -= length;
  }
}
/* Which reason kept the lanes from working side by side for the longest time. */
static const char *gt__find_reason(const gt_overlap *o, int queues, double most) {
  double ms[GT__REASONS] = {0};
  gt__explain(ms);
  int held = ms[GT__BY_READ] > ms[GT__BY_PAGEABLE] ? GT__BY_READ : GT__BY_PAGEABLE;
  if (ms[GT__BY_READ] + ms[GT__BY_PAGEABLE] > o->span_ms / 4) return gt__reason[held];
  if (!queues) return gt__reason[GT__BY_ONE];
  int why = ms[GT__BY_RESULT] > ms[GT__BY_STREAM] ? GT__BY_RESULT : GT__BY_STREAM;
  if (ms[GT__BY_HOST] > ms[why]) why = GT__BY_HOST;
  double streams_ms = ms[GT__BY_STREAM] + ms[GT__BY_RESULT] + ms[GT__BY_HOST];
  int together = streams_ms > GT_SMALL_GAIN * o->any_ms;      /* and still little is gained */
  int always = why == GT__BY_HOST && most > 0.8 * o->span_ms; /* one lane was at work */
  return gt__reason[queues > 1 && (together || always) ? (int)GT__BY_ENGINE : why];
}
/* Adds up the lanes; the last one, of all work, is for the sums alone and goes then. */
static void gt__sum_up(gt_overlap *o) {
  double most = 0;
  int queues = 0;
  gt__slice *s = gt__trace.slices, *all = gt__trace.end, *end;
  for (; s < all && s->group != GT__ALL_WORK; s = end) {
    end = gt__lane_end(s);
    if (s->group == GT__ENGINES && gt__engine(s->r) != GT__COMPUTING) gt__serve_copies(s, end);
    queues += s->group == GT__QUEUES;
    if (s->group == GT__QUEUES && s->pid) continue; /* its engines count */
    double busy = gt__busy_ms(s, end);
    o->busy_ms += busy;
    most = fmax(most, busy);
  }
  gt__trace.end = s; /* what follows is not drawn */
  o->any_ms = gt__union_ms(s, all);
  if (s < all) o->span_ms = all[-1].r->end - gt__trace.first;
  if (o->any_ms <= 0) return;
  o->gain = o->busy_ms / o->any_ms;
  if (o->gain < GT_SMALL_GAIN) o->reason = gt__find_reason(o, queues, most);
}
/* -- begin and end -- */
static void gt__drop_events(void) {
  for (int64_t i = 1; i < gt__trace.n; i++) {
    const gt__record *r = &gt__trace.at[i];
    if (r->front) GT__OF(r)->event_destroy(r->device.index, r->front);
    if (r->back) GT__OF(r)->event_destroy(r->device.index, r->back);
  }
  for (int i = 0; i < GT__GPUS; i++)
    if (gt__trace.clock[i].queue) GT__PINNING->queue_destroy(i, gt__trace.clock[i].queue);
}
static void gt__trace_forget(void) {
  if (gt__trace.on) gt__drop_events();
  GPUTENSOR_FREE(gt__trace.at);
  gt__all.traced += gt__trace.n; /* numbers are not used again */
  memset(&gt__trace, 0, sizeof gt__trace);
}
/* A record is in four lanes at most: of the thread, its stream, an engine, and of all work. */
enum { GT__RECORD_BYTES = sizeof(gt__record) + 4 * sizeof(gt__slice) };
enum { GT__MOST_RECORDS = 1 << 22 };
GT__ASSERT(GT__RECORD_BYTES < 1000, "the size of the most records has 32 bits");
/* Memory for all records is taken before the lock, and is given back if a trace is on already. */
GT_API gt_status gt_trace_start(int64_t capacity) {
  GT__CALL;
  if (capacity < 1 || capacity > GT__MOST_RECORDS)
    return gt__fail(GT_ERROR_ARGUMENT, "room for %lld records; give 1 to %d", (long long)capacity,
                    (int)GT__MOST_RECORDS);
  gt__record *at = (gt__record *)gt__malloc(((size_t)capacity + 1) * GT__RECORD_BYTES);
  if (!at) return gt__failed();
  gt__lock();
  int begins = !gt__trace.on;
  if (begins) {
    gt__trace_forget();
    gt__trace.at = at;
    gt__trace.slices = (gt__slice *)(at + capacity + 1);
    gt__trace.end = gt__trace.slices;
    gt__trace.room = capacity;
    gt__trace.n = 1;
    gt__trace.first = HUGE_VAL;
    at->end = gt_now_ms();
    gt__trace.on = 1;
    gt__me.blocked = 0;
  }
  gt__unlock();
  if (begins) return GT_OK;
  GPUTENSOR_FREE(at);
  return gt__fail(GT_ERROR_STATE, "a trace is on; gt_trace_stop ends it");
}
GT_API gt_status gt_trace_stop(void) {
  GT__CALL;
  GT__STRICT;
  gt_overlap *o = &gt__trace.overlap;
  gt__lock();
  int on = gt__trace.on == 1, code = 0;
  if (on) {
    gt__trace.on = 2;
    code = gt__await_all_unlocks(NULL, 0);
    while (gt__trace.open) pthread_cond_wait(&gt__idle, &gt__mutex);
    gt__make_slices();
    gt__drop_events();
    o->reason = "";
    o->records = gt__trace.n - 1;
    o->dropped = gt__trace.dropped;
    gt__sum_up(o);
    gt__trace.on = 0;
  }
  gt__unlock();
  if (!on) return gt__fail(GT_ERROR_STATE, "no trace is on; gt_trace_start begins one");
  return gt__report(gt_cpu(), NULL, code);
}
GT_API gt_overlap gt_trace_overlap(void) {
  GT__HOLD(gt__mutex);
  gt_overlap o = gt__trace.overlap; /* 0 until it has ended */
  if (!o.reason) o.reason = "";
  return o;
}
/* Takes the lock if there is a trace that has ended; else, without it, an error. */
static gt_status gt__open_trace(void) {
  gt__lock();
  if (gt__trace.overlap.reason && !gt__trace.on) return GT_OK;
  gt__unlock();
  return gt__fail(GT_ERROR_STATE,
                  "there is no trace that has ended; gt_trace_start begins one, "
                  "gt_trace_stop ends it");
}
/* -- the picture -- */
static const char *gt__lane_text(const gt__slice *s) {
  int stream = s->group == GT__QUEUES, number = stream ? s->r->name : s->r->thread;
  char *text = gt__scrap();
  if (s->group == GT__ENGINES) return gt__letters[gt__engine(s->r)] + 2;
  if (!number) return "default";
  if (!stream && number == 1) return "host";
  snprintf(text, 32, "%s %d", stream ? "stream" : "host", number);
  return text;
}
/* What a lane's column shows: what took most of the time from `begin` to `end`. */
static int gt__column(const gt__slice *s, const gt__slice *stop, double begin, double end) {
  double ms[128] = {0}, sum = 0; /* by the letter */
  int most = '.', engine = s->group == GT__ENGINES;
  for (; s < stop; s++) {
    double inside = fmin(*s->end, end) - fmax(*s->begin, begin);
    if (!s->letter || inside <= 0) continue;
    sum += inside;
    ms[s->letter] += inside;
  }
  for (int c = 127; c > 0; c--) /* w before s, around it */
    if (ms[c] > ms[most]) most = c;
  return engine && sum > 1.25 * (end - begin) ? '+' : most; /* several at a time */
}
/* With 2 or 3 digits behind a point, whatever the locale has there. */
static const char *gt__decimal(double x, int digits) {
  int unit = digits == 2 ? 100 : 1000;
  int64_t n = (int64_t)(x * unit + 0.5);
  char *text = gt__scrap();
  snprintf(text, 40, "%lld.%0*d", (long long)(n / unit), digits, (int)(n % unit));
  return text;
}
/* A line for each lane, then what its letters mean, and the sums. */
static void gt__draw_lanes(FILE *file, int columns) {
  const gt_overlap *o = &gt__trace.overlap;
  double width = o->span_ms / columns;
  char seen[128] = {0};
  fprintf(file, "a trace of %s ms, %lld records, %lld dropped; on the right the busy time in ms\n",
          gt__decimal(o->span_ms, 2), (long long)o->records, (long long)o->dropped);
  for (gt__slice *s = gt__trace.slices, *end; s < gt__trace.end; s = end) {
    end = gt__lane_end(s);
    const char *device = s->group == GT__HOSTS ? "" : gt_device_string(s->r->device);
    fprintf(file, "  %-6s %-10s|", device, gt__lane_text(s));
    for (int c = 0; c < columns; c++) {
      double from = gt__trace.first + c * width;
      int letter = gt__column(s, end, from, from + width);
      seen[letter] = 1;
      fputc(letter, file);
    }
    fprintf(file, "| %8s\n", gt__decimal(gt__busy_ms(s, end), 2));
  }
  fprintf(file, "%20s %*s ms\n ", "0", columns - 3, gt__decimal(o->span_ms, 2));
  for (int k = 0; k < GT__LETTERS; k++)
    if (seen[(int)gt__letters[k][0]]) fprintf(file, " %s ", gt__letters[k]);
  fprintf(file, " . idle\n  one after another %s ms, any at work %s ms: gain %s\n",
          gt__decimal(o->busy_ms, 2), gt__decimal(o->any_ms, 2), gt__decimal(o->gain, 2));
  if (o->reason[0]) fprintf(file, "  %s\n", o->reason);
}
GT_API gt_status gt_trace_print(FILE *file, int columns) {
  GT__CALL;
  GT__STRICT;
  if (!columns) columns = 72;
  if (!file) return gt__fail(GT_ERROR_ARGUMENT, "the file is NULL");
  if (columns < 8 || columns > 1000)
    return gt__fail(GT_ERROR_ARGUMENT, "%d columns; give 8 to 1000, or 0 for 72", columns);
  if (gt__open_trace()) return gt__failed();
  gt__draw_lanes(file, columns);
  gt__unlock();
  if (!fflush(file) && !ferror(file)) return GT_OK;
  return gt__fail(GT_ERROR_FILE, "the file: %s", strerror(errno));
}
/* -- Chrome's JSON -- */
static int64_t gt__ns(double ms) { /* of a host with several clocks, too */
  double ns = (ms - gt__trace.at->end) * 1e6;
  return ns > 0 ? (int64_t)(ns + 0.5) : 0;
}
/* The begin of an event; `format` ends it. */
GT__PRINTF(6, 7)
static void gt__write_event(FILE *file, const char *kind, int pid, int tid, int64_t ns,
                            const char *format, ...) {
  va_list list;
  fprintf(file, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%s,", kind, pid, tid,
          gt__decimal((double)ns * 1e-3, 3));
  va_start(list, format);
  vfprintf(file, format, list);
  va_end(list);
}
/* What it is, how large, and how it was done. */
static void gt__write_args(FILE *file, const gt__record *r) {
  static const char *const size[] = {
      ",\"bytes\":%lld",
      ",\"elements\":%lld",
      ",\"outputs\":%lld,\"folded\":%lld",
      ",\"M\":%lld,\"N\":%lld,\"K\":%lld,\"batch\":%lld,\"dtype\":\"%s\"",
      ",\"rows\":%lld,\"scanned\":%lld",
      ",\"rows\":%lld,\"entries\":%lld",
      ",\"folded\":%lld",
      ",\"operations\":%lld"};
  static const char *const direction[] = {"to the device", "to the host", "between devices"};
  static const char *const kind[] = {"async\",\"pinned\":true", "staged\",\"pinned\":false",
                                     "blocking\",\"pinned\":false"};
  const long long *n = r->size;
  int moving = r->moving - 1;
  fprintf(file, "\"args\":{\"call\":\"%s\"", r->call);
  const char *format = n[0] ? size[r->kind] : "", *dtype = gt_dtype_string((gt_dtype)r->dtype);
  fprintf(file, format, n[0], n[1], n[2], n[3], dtype);
  if (r->way) fprintf(file, ",\"way\":\"%s\"", r->way);
  else if (n[0] && r->moving)
    fprintf(file, ",\"direction\":\"%s\",\"kind\":\"%s", direction[moving / 3], kind[moving % 3]);
}
/* A slice as an event of the Trace Event Format, whose name is the formula or the function. */
static void gt__write_slice(FILE *file, const gt__slice *s) {
  static const char *const kind[] = {"", "work", "wait", "copy", "range", "enqueue"};
  int64_t begin = gt__ns(*s->begin), ns = gt__ns(*s->end) - begin;
  gt__write_event(file, "X", s->pid, s->tid + s->track, begin, "\"dur\":%s,\"cat\":\"%s\",",
                  gt__decimal((double)ns * 1e-3, 3), kind[s->what]);
  gt__write_args(file, s->r);
  fprintf(file, "},\"name\":\"");
  const char *name = s->r->text[0] ? s->r->text : s->r->call;
  for (const char *c = name; *c; c++)
    if (*c == '"' || *c == '\\' || (uint8_t)*c < ' ') fprintf(file, "\\u%04x", *c);
    else fputc(*c, file);
  fprintf(file, "\"}");
}
/* All slices, and the names of their processes and lanes: from the last back, so that what is in
   another one comes behind it. */
static void gt__write_lanes(FILE *file) {
  int tracks = 0;
  for (gt__slice *s = gt__trace.end; s-- > gt__trace.slices;) {
    if (s + 1 == gt__trace.end || s->lane != s[1].lane) {
      tracks = 0;
      gt__write_event(file, "M", s->pid, 0, 0,
                      "\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}",
                      s->pid ? gt_device_string(s->r->device) : "cpu");
    }
    while (tracks <= s->track)
      gt__write_event(file, "M", s->pid, s->tid + tracks++, 0,
                      "\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}", gt__lane_text(s));
    gt__write_slice(file, s);
  }
}
static void gt__write_arrow_end(FILE *file, const char *kind, const gt__record *r, int64_t ns,
                                int id) {
  gt__write_event(file, kind, gt__slot(r->device),
                  r->number ? GT__TID_OF_QUEUES + r->name : r->thread, ns,
                  "\"id\":%d,\"name\":\"wait\",\"cat\":\"wait\"}", id);
}
/* An arrow from the end of an operation of a stream to the one, or to the host, that waited. */
static void gt__write_arrow(FILE *file, const gt__record *r) {
  const gt__record *from = &gt__trace.at[r->from], *to = &gt__trace.at[r->to];
  int64_t end = gt__ns(from->end), at = gt__ns(to->number ? to->begin : to->end);
  if (!gt__is_op(from) || !to->what) return;
  end -= end > gt__ns(from->begin); /* within the slice */
  if (at < end) at = end;
  if (at > gt__ns(to->end)) return; /* two clocks disagree */
  gt__write_arrow_end(file, "s", from, end, gt__record_place(r));
  gt__write_arrow_end(file, "f\",\"bp\":\"e", to, at, gt__record_place(r));
}
/* The whole file: slices, arrows from what was waited for, the memory over time, and the sums. */
static void gt__write_trace(FILE *file) {
  const gt_overlap *o = &gt__trace.overlap;
  fprintf(
      file,
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"ts\":0,"
      "\"name\":\"process_labels\",\"cat\":\"__metadata\",\"args\":{\"labels\":"
      "\"gputensor " GPUTENSOR_VERSION "\"}}");
  gt__write_lanes(file);
  for (int64_t i = 1; i < gt__trace.n; i++) {
    const gt__record *r = &gt__trace.at[i];
    if (r->from) gt__write_arrow(file, r);
    if (!gt__is_op(r)) continue;
    gt__write_event(file, "C", gt__slot(r->device), 0, gt__ns(r->asked),
                    "\"name\":\"allocated\",\"cat\":\"memory\",\"args\":{\"bytes\":%lld}}",
                    (long long)r->allocated);
  }
  fprintf(file,
          "\n],\"otherData\":{\"records\":%lld,\"dropped\":%lld,\"busy_ms\":%s,\"any_ms\":%s,"
          "\"gain\":%s,\"reason\":\"%s\"}}\n",
          (long long)o->records, (long long)o->dropped, gt__decimal(o->busy_ms, 3),
          gt__decimal(o->any_ms, 3), gt__decimal(o->gain, 3), o->reason);
}
GT_API gt_status gt_trace_save(const char *path) {
  GT__CALL;
  GT__STRICT;
  if (!path) return gt__fail(GT_ERROR_ARGUMENT, "the path is NULL");
  if (gt__open_trace()) return gt__failed();
  FILE *file = fopen(path, "wb");
  int bad = !file;
  if (file) {
    gt__write_trace(file);
    bad = ferror(file) != 0;
    bad |= fclose(file) != 0;
  }
  gt__unlock();
  return bad ? gt__fail(GT_ERROR_FILE, "%.500s: %s", path, strerror(errno)) : GT_OK;
}

/* ---- >>graph-code -------------------------------------------------------------------------------
   Graphs are recorded here, and not by CUDA's capture of the program's streams, so that we can
   refuse at once what cannot be in a graph.
   - Recording: gt__submit plans an operation and hands it to gt__graph_add, which keeps a copy in
     the list, and a handle on each storage. So a tensor that the program frees leaves its memory to
     the graph. How the graph as a whole uses each storage is collected in `access`.
   - gt_graph_end: a GPU's list is run once on streams of our own, the lanes, while CUDA captures
     them. Two operations are put in order only if one writes what the other uses, or if the program
     told a stream to wait. For the CPU the list stays as it is.
   - A launch is one operation, GT__REPLAY. Its accesses are those of the graph, so gt__submit puts
     it in order as any other. The CPU's back end does the list; CUDA launches its graph. */
/* Room for one more in a list of n; NULL: no memory. */
static void *gt__grown(void *list, int n, size_t size) {
  if (n & (n - 1)) return list;
  void *p = GPUTENSOR_REALLOC(list, (size_t)(2 * n + 1) * size);
  if (!p) gt__fail(GT_ERROR_MEMORY, "out of host memory for a graph");
  return p;
}
GT_API gt_status gt_graph_begin(gt_stream *stream) {
  GT__CALL;
  if (gt__no_stream(stream)) return gt__failed();
  if (gt__me.graph)
    return gt__fail(GT_ERROR_STATE, "a graph is being recorded already; gt_graph_end ends it");
  gt_graph *g = (gt_graph *)gt__malloc(sizeof *g);
  if (!g) return gt__failed();
  g->device = stream->device;
  gt__me.graph = g;
  GT__HOLD(gt__mutex);
  g->serial = ++gt__all.graphs;
  return GT_OK;
}
/* Adds op to the list or, if that is NULL, a wait of the stream in that slot for all that the other
   stream was given so far. */
static gt_status gt__graph_push(gt__op *op, int slot, int other) {
  gt_graph *g = gt__me.graph;
  void *p = gt__grown(g->list, g->n, sizeof *g->list);
  if (!p) return gt__failed();
  g->list = (gt__recorded *)p;
  gt__recorded v = {op, slot, other, {0}, NULL};
  g->list[g->n++] = v;
  return GT_OK;
}
/* Adds an access of the next operation to those of the graph, which has one for each storage, and
   keeps a handle on a new storage. What the graph wrote before it reads it comes from no work
   outside: that is no read. */
static gt_status gt__graph_touch(const gt__access *a) {
  gt_graph *g = gt__me.graph;
  gt_scope *scope = gt__me.scope;
  gt_tensor model;
  int k = g->n_access - 1;
  gt__lock();
  if (a->storage->graph == g->serial) a->storage->used = g->n;
  gt__unlock();
  while (k >= 0 && g->access[k].storage != a->storage) k--;
  if (k >= 0) {
    gt__access *b = &g->access[k];
    int covered = gt__covers(&b->where, &a->where);
    if (!covered || !b->writes || !b->where.exact) b->reads |= a->reads;
    if (!covered) gt__join_regions(&b->where, &a->where, 1);
    b->writes |= a->writes;
    return GT_OK;
  }
  void *p = gt__grown(g->access, g->n_access, sizeof *a);
  if (!p) return gt__failed();
  g->access = (gt__access *)p;
  memset(&model, 0, sizeof model);
  model.device = a->storage->device;
  model.storage = a->storage;
  gt__me.scope = &g->kept;
  p = gt__handle(&model);
  gt__me.scope = scope;
  if (!p) return gt__failed();
  g->access[g->n_access++] = *a;
  return GT_OK;
}
/* Keeps op in the list of the graph that this thread records. Its scratch is memory of the graph's,
   which it writes. */
GT__COLD static gt_status gt__graph_add(gt__op *op) {
  gt_tensor like;
  GT__LOCAL gt_tensor *scratch = NULL; /* is memory of the graph's as any */
  const gt__copy_args *c = &op->u.copy;
  if (op->kind == GT__COPY && c->kind == GT__BYTES && c->dst_index >= 0 && c->src_index >= 0)
    return gt__refuse_recorded(op->device, "it has work of one GPU; copy from others before");
  if (op->scratch) {
    gt__model(&like, GT_SHAPE((int64_t)op->scratch), GT_UINT8, op->device);
    scratch = gt__new_like(&like);
    if (!scratch) return gt__failed();
    op->touch[op->n_touch++] = gt__whole(scratch->storage, 1);
    *gt__scratch_of(op) = scratch->storage->data;
  }
  gt__lock();
  const gt_stream *s = gt__current(op->device);
  int slot = s ? s->slot : -1;
  gt__unlock();
  if (slot < 0) return gt__report(op->device, NULL, GT__STREAM_FREED);
  for (int i = 0; i < op->n_touch; i++)
    if (gt__graph_touch(&op->touch[i])) return gt__failed();
  gt__me.graph->n_use += op->n_touch;
  const size_t bytes = offsetof(gt__op, plan) + op->plan_bytes;
  gt__op *copy = (gt__op *)gt__malloc(bytes);
  if (!copy) return gt__failed();
  memcpy(copy, op, bytes);
  copy->record = NULL;
  gt_status status = gt__graph_push(copy, slot, slot);
  if (status) GPUTENSOR_FREE(copy);
  return status;
}
/* A tensor like x in memory that was made and freed while this graph was recorded, so that only the
   graph has a handle on it. Of several the one whose last use is the longest ago is taken. On a GPU
   the new tensor's operations have to be behind that last use; so that they seldom wait, the last
   use of small memory has to be GT__GRAPH_APART operations ago. NULL: there is none. */
enum { GT__GRAPH_APART = 64 };     /* operations */
enum { GT__GRAPH_SMALL = 262144 }; /* bytes: of so many operations it is 16 MiB */
static gt_tensor *gt__graph_memory(const gt_tensor *x) {
  const gt_graph *g = gt__me.graph;
  size_t bytes = gt__nbytes(x);
  int newest = g->n;
  if (bytes <= GT__GRAPH_SMALL && !gt__on_host(x->device)) newest -= GT__GRAPH_APART;
  gt_tensor model;
  model.storage = NULL;
  if (gt__model(&model, gt__shape_of(x), x->dtype, x->device)) return NULL;
  gt__lock();
  for (const gt_tensor *y = g->kept.gt__first; y; y = y->gt__scope_next) {
    gt__storage *s = y->storage;
    int fits = s->bytes >= bytes && s->bytes / 2 <= bytes;
    if (!fits || s->refs > 1 || s->graph != g->serial || s->used > newest) continue;
    model.storage = s;
    newest = s->used;
  }
  gt__unlock();
  return model.storage ? gt__handle(&model) : NULL;
}
/* -- the capture of a GPU's list, on lanes. An operation must come behind its predecessors: those
   whose use of memory conflicts with its own, and those that its stream was told to wait for. The
   order of the calls on one stream alone does not count. If a predecessor is the last operation of
   its lane, the operation goes into that lane, so that a chain stays in one lane. It waits for the
   other predecessors by events, but not for those that a wait before already covers.

     the list    1: a = x + 1    2: b = y + 1    3: c = a * b    4: d = x * c
     lane 0      1 --- event
     lane 1      2 --------+---> 3 ---> 4        3 waits for 1, and comes behind 2 by itself

   A list of places, one for each lane, stands for all operations of each lane up to that place:
   `need` for the predecessors, `seen` for what is over. -- */
typedef struct {
  gt__access access;
  int place, lane;
} gt__graph_use;
typedef struct {
  gt_stream stream[GT__GRAPH_LANES];
  int seen[GT__GRAPH_LANES][GT__GRAPH_LANES]; /* of each lane: at the end of its last operation */
  /* of each of the program's streams: its own operations; those that it was told to wait for */
  int all[GT__SLOTS_OF_STREAMS][GT__GRAPH_LANES], told[GT__SLOTS_OF_STREAMS][GT__GRAPH_LANES];
  int n_use;
  gt__graph_use use[1]; /* and more */
} gt__lanes;
/* Each place becomes the later one of the two. */
static void gt__raise_places(int *place, const int *more) {
  for (int l = 0; l < GT__GRAPH_LANES; l++)
    if (place[l] < more[l]) place[l] = more[l];
}
/* Adds to `need` the operations of the list whose uses conflict with that access. */
static void gt__need_uses(const gt__lanes *d, const gt__access *a, int *need) {
  for (const gt__graph_use *u = d->use; u < d->use + d->n_use; u++) {
    int *newest = need + u->lane;
    if (u->place > *newest && gt__conflicts(a, 1, &u->access)) *newest = u->place;
  }
}
/* Notes the uses of an operation. As in gt__note a new use replaces older ones if it is behind them
   and covers their memory: a write replaces all, a read only reads. */
static void gt__note_recorded(gt__lanes *d, const gt__op *op, int place, int lane) {
  for (const gt__access *a = op->touch; a < op->touch + op->n_touch; a++) {
    gt__graph_use next = {*a, place, lane};
    for (int k = d->n_use - 1; k >= 0; k--) {
      const gt__graph_use *u = d->use + k;
      int older = u->place <= d->seen[lane][u->lane] && a->writes >= u->access.writes;
      if (!older || !gt__covers(&a->where, &u->access.where)) continue;
      d->n_use--;
      d->use[k] = d->use[d->n_use];
    }
    d->use[d->n_use++] = next;
  }
}
/* The lane whose last operation is needed, the newest of these; if there is none, the lane that was
   used the longest ago. */
static int gt__choose_lane(const gt__lanes *d, const int *need) {
  int best = 0, most = INT32_MIN;
  for (int l = 0; l < GT__GRAPH_LANES; l++) {
    int score = d->seen[l][l];
    if (score != need[l]) score = -score;
    if (score <= most) continue;
    most = score;
    best = l;
  }
  return best;
}
/* A lane, s, waits for what is needed and not seen yet: for the newest operation of these first, as
   that wait covers all that this operation itself is behind; then for what is left. */
static int gt__wait_for_places(gt_graph *g, gt_stream *s, int *seen, const int *need) {
  int newest = 0;
  for (int l = 0; l < GT__GRAPH_LANES; l++)
    if (need[l] > seen[l] && need[l] > newest) newest = need[l];
  if (!newest) return 0;
  const gt__recorded *u = g->list + newest - 1;
  int code = GT__OF(g)->queue_wait_event(g->device.index, s->queue, u->mark);
  s->n_late = GT__LATE; /* what it waits for may be late: nothing is early */
  gt__raise_places(seen, u->seen);
  return code ? code : gt__wait_for_places(g, s, seen, need);
}
/* Starts one operation of the list, on the lane that suits it, behind its predecessors. */
static int gt__capture_one(gt_graph *g, gt__lanes *d, gt__recorded *v) {
  gt__op *op = v->op;
  int need[GT__GRAPH_LANES] = {0};
  int index = g->device.index, place = (int)(v - g->list) + 1;
  gt__raise_places(need, d->told[v->stream]);
  for (int i = 0; i < op->n_touch; i++) gt__need_uses(d, op->touch + i, need);
  int lane = gt__choose_lane(d, need);
  gt_stream *s = &d->stream[lane];
  int code = gt__wait_for_places(g, s, d->seen[lane], need);
  if (code) return code;
  d->all[v->stream][lane] = place;
  d->seen[lane][lane] = place;
  gt__raise_places(v->seen, d->seen[lane]);
  gt__note_recorded(d, op, place, lane);
  s->scratch[s->scratch_next].begin = (char *)(op->scratch ? *gt__scratch_of(op) : NULL);
  if (op->kind == GT__MATMUL) op->u.matmul.post.early = gt__earliness(s, op);
  code = GT__OF(g)->run(index, s->queue, op);
  gt__note_late(s, op, code);
  return code ? code : GT__OF(g)->event_record(index, &v->mark, s->queue);
}
static int gt__join_lanes(gt_stream *s, gt_stream *t) {
  int code = gt__record_event(t, &t->mark);
  s->n_late = GT__LATE;
  return code ? code : GT__OF(s)->queue_wait_event(s->device.index, s->queue, t->mark);
}
/* CUDA captures the first lane, and with it all streams that wait for it: the other lanes do so in
   the beginning, and in the end the first one waits for them. */
static int gt__capture_all(gt_graph *g, gt__lanes *d) {
  const gt__backend *b = GT__OF(g);
  gt_stream *lane = d->stream;
  int index = g->device.index, code = b->capture(index, lane->queue, NULL);
  if (code) return code;
  for (int i = 1; i < GT__GRAPH_LANES && !code; i++) code = gt__join_lanes(lane + i, lane);
  for (gt__recorded *v = g->list; v < g->list + g->n && !code; v++) {
    gt__raise_places(d->told[v->stream], d->told[v->other]);
    if (v->op) code = gt__capture_one(g, d, v);
    else gt__raise_places(d->told[v->stream], d->all[v->other]);
  }
  for (int i = 1; i < GT__GRAPH_LANES && !code; i++) code = gt__join_lanes(lane, lane + i);
  int ended = b->capture(index, lane->queue, &g->native);
  for (gt__recorded *v = g->list; v < g->list + g->n; v++)
    if (v->mark) b->event_destroy(index, v->mark);
  return code ? code : ended;
}
/* Opens the lanes, runs the list on them while CUDA captures it, and ends them. The lock is held
   throughout: if another thread waited for a lane, that would spoil the capture. */
static gt_status gt__capture_graph(gt_graph *g) {
  size_t uses = (size_t)g->n_use * sizeof(gt__graph_use);
  gt__lanes *d = (gt__lanes *)gt__malloc(sizeof *d + uses);
  int n = 0, code = 0;
  if (!d) return gt__failed();
  gt__lock();
  for (; n < GT__GRAPH_LANES && !code; n += !code)
    code = gt__stream_open(&d->stream[n], g->device, 0, NULL, 1);
  if (!code) code = gt__capture_all(g, d);
  while (n > 0) gt__stream_destroy(&d->stream[--n]);
  gt__unlock();
  GPUTENSOR_FREE(d);
  return gt__report(g->device, NULL, code);
}
/* Ends the list of accesses. Memory that only the graph has is written by each launch, so one such
   storage is enough to put its launches in order, and the accesses of the others are left out. The
   launches then do not wait for these allocations, so that is done here. */
static gt_status gt__close_graph(gt_graph *g) {
  int n = 0, own = 0, code = 0;
  gt__lock();
  for (int i = 0; i < g->n_access && !code; i++) {
    gt__access *a = &g->access[i];
    if (a->storage->graph == g->serial && a->storage->refs == 1) {
      code = gt__reach_all_unlocks(NULL, a->storage);
      a->storage->internal = 1;
      a->writes = 1;
      if (own++) continue;
    }
    g->access[n++] = *a;
  }
  gt__unlock();
  g->n_access = n;
  if (code) return gt__report(g->device, NULL, code);
  return gt__on_host(g->device) ? GT_OK : gt__capture_graph(g);
}
/* -- the finished graph -- */
GT_API void gt_graph_free(gt_graph *g) {
  GT__CALL;
  if (!g) return;
  gt__lock(); /* each launch uses all storages, so waiting for one of them is enough */
  int busy = g->n_access && gt__reach_all_unlocks(NULL, g->access->storage) == GT__CAPTURED;
  if (g->native && !busy) GT__OF(g)->end_graph(g->device.index, g->native);
  gt__unlock();
  if (g->native && busy) { /* what cannot be waited for stays */
    gt__report(g->device, NULL, GT__CAPTURED);
    return;
  }
  for (int i = 0; i < g->n; i++) GPUTENSOR_FREE(g->list[i].op);
  while (g->kept.gt__first) gt__end_handle(g->kept.gt__first, GT__BY_SCOPE);
  GPUTENSOR_FREE(g->list);
  GPUTENSOR_FREE(g->access);
  GPUTENSOR_FREE(g);
}
GT_API gt_graph *gt_graph_end(void) {
  GT__CALL;
  gt_graph *g = gt__me.graph;
  gt__me.graph = NULL;
  if (!g) gt__fail(GT_ERROR_STATE, "no graph is being recorded; gt_graph_begin begins one");
  if (!gt__me.status && !gt__close_graph(g)) return g;
  gt_graph_free(g);
  return NULL;
}
GT_API gt_status gt_graph_launch(gt_graph *graph, gt_stream *stream) {
  gt__op op;
  GT__CALL;
  if (gt__no_stream(stream)) return gt__failed();
  if (!graph) return gt__fail(GT_ERROR_ARGUMENT, "the graph is NULL");
  if (gt__me.graph)
    return gt__fail(GT_ERROR_STATE,
                    "a graph is being recorded, in which there is no launch of "
                    "another; launch it before or after");
  if (!gt__same_device(graph->device, stream->device))
    return gt__fail(GT_ERROR_DEVICE, "the graph is of %s, the stream of %s",
                    gt_device_string(graph->device), gt_device_string(stream->device));
  if (graph->serial <= gt__all.ended_graphs)
    return gt__fail(GT_ERROR_STATE, "the graph is from before gt_shutdown; record it again");
  if (!graph->n_access) return GT_OK; /* it is empty */
  gt__op_new(&op, GT__REPLAY, graph->device);
  op.u.graph = graph;
  op.n_touch = graph->n_access;
  op.way = GT__OF(graph)->replay;
  return gt__submit_on(stream, &op);
}
/* -- what makes ready, and what measures -- */
GT_API gt_status gt_warmup(gt_device device) {
  GT__CALL;
  if (gt__check_device(device) || gt__refuse_wait(device)) return gt__failed();
  GT__LOCAL gt_tensor *x = gt__full(NULL, GT_SHAPE(1 << 20), 0, GT_FLOAT32, device);
  return x ? gt_synchronize(device) : gt__failed();
}
/* Into a list in order, of n. */
static void gt__insert(double *list, int n, double x) {
  for (; n > 0 && list[n - 1] > x; n--) list[n] = list[n - 1];
  list[n] = x;
}
/* Milliseconds of one of n calls; negative: an error. */
static double gt__round_ms(void (*work)(void *), void *argument, gt_device device, int n) {
  if (gt_synchronize(device)) return -1;
  double begin = gt_now_ms();
  for (int i = 0; i < n; i++) work(argument);
  return gt_synchronize(device) || gt__me.status ? -1 : (gt_now_ms() - begin) / n;
}
enum { GT__ROUNDS = 1000 };
/* The first loop finds how many calls make a round, and warms up; the second one measures. */
GT_API gt_timing gt_benchmark(void (*work)(void *argument), void *argument, gt_device device,
                              double for_ms) {
  gt_timing t = {0, 0, 0, 0, 0};
  double ms[GT__ROUNDS], now = INFINITY, before, unit = fmin(for_ms / 100, 1);
  int n = 0, calls = 1, more = 1;
  GT__CALL;
  if (work ? gt__check_device(device) : gt__fail(GT_ERROR_ARGUMENT, "work is NULL")) return t;
  double begin = gt_now_ms();
  do { /* more calls, until a round is long enough, and calls get no faster */
    before = now;
    now = gt__round_ms(work, argument, device, calls);
    if (now * calls >= unit) more = now < .95 * before;
    else if (now > 1e-6 || calls < 64) calls *= 2;
    else for_ms = 0; /* below a ns: a model's clock, which does not see this work */
  } while (now >= 0 && more && gt_now_ms() - begin < for_ms);
  begin = gt_now_ms();
  do {
    now = gt__round_ms(work, argument, device, calls);
    if (now < 0) return t;
    gt__insert(ms, n++, now);
  } while (n <= 2 || (n < GT__ROUNDS && gt_now_ms() - begin < for_ms));
  t.rounds = n;
  t.median_ms = ms[n / 2];
  t.least_ms = ms[0];
  t.most_ms = ms[n - 1];
  t.spread = ms[3 * n / 4] - ms[n / 4];
  if (t.median_ms > 0) t.spread /= t.median_ms;
  return t;
}

/* ---- >>stream-code -----------------------------------------------------------------------------
   The functions of >>streams, which are made of those of >>waiting and >>order; and what asks for,
   or ends, the whole library. */
GT_API gt_stream *gt_stream_create(gt_device device, int priority) {
  GT__CALL;
  return gt__stream_new(device, priority, NULL, 1);
}
GT_API gt_stream *gt_stream_from_native(gt_device device, void *native) {
  GT__CALL;
  if (gt__check_device(device)) return NULL;
  if (!gt__on_host(device) && !native)
    return gt__fail(GT_ERROR_ARGUMENT,
                    "native is NULL, the legacy default stream, which waits "
                    "for all others; make one with cudaStreamNonBlocking"),
           (gt_stream *)NULL;
  return gt__stream_new(device, 0, gt__on_host(device) ? NULL : native, 0);
}
/* It keeps its slot until its work is done. A native stream may end before: a mark covers it.
   Where it is current in other threads or outer blocks, work is refused from now on. */
GT_API void gt_stream_free(gt_stream *stream) {
  if (!stream || !stream->name) return;
  GT__HOLD(gt__mutex);
  gt__choice *mine = &gt__me.stream[gt__slot(stream->device)];
  if (mine->name == stream->name) mine->name = 0;
  stream->freed = 1;
  if (!stream->owned && gt__set_mark(stream, stream->number) &&
      gt__await_unlocks(stream, stream->number, 0))
    gt__all.done.at[stream->slot] = stream->number; /* there is no way left to know */
  stream->gone = !stream->owned;
  gt__reap();
}
GT_API gt_status gt_stream_synchronize(gt_stream *stream) {
  GT__CALL;
  if (gt__no_stream(stream) || gt__refuse_wait(stream->device)) return gt__failed();
  gt__lock();
  int code = gt__await_unlocks(stream, stream->number, 1);
  gt__unlock();
  return code ? gt__report(stream->device, stream, code) : gt__check_fault();
}
static int gt__query(gt_device device, const gt_stream *s, int code) {
  if (code && code != GT__NOT_YET) return gt__report(device, s, code), -1;
  return !code;
}
GT_API int gt_stream_query(gt_stream *stream) {
  GT__CALL;
  if (gt__no_stream(stream)) return -1;
  gt__lock();
  int code = gt__captured(stream);
  if (!code) code = GT__OF(stream)->queue_ask(stream->device.index, stream->queue, 0);
  if (!code) gt__learn(&gt__all.done, &stream->seen, stream->slot, stream->number);
  gt__unlock();
  return gt__query(stream->device, stream, code);
}
GT_API gt_device gt_stream_device(const gt_stream *stream) {
  return stream ? stream->device : gt__device(GT_NO_DEVICE, 0);
}
GT_API void *gt_stream_native(gt_stream *stream) {
  if (!stream || gt__on_host(stream->device)) return NULL;
  GT__CALL;
  if (gt__refuse_recorded(stream->device,
                          "what goes to that stream by other ways is not in it; "
                          "call this before gt_graph_begin"))
    return NULL;
  GT__HOLD(gt__mutex);
  return stream->shared = 1, stream->queue;
}
GT_API gt_stream *gt_current_stream(gt_device device) {
  GT__CALL;
  int code;
  if (gt__check_device(device)) return NULL;
  gt__lock();
  gt_stream *s = gt__opened_current(device, &code);
  gt__unlock();
  return gt__report(device, NULL, code) ? NULL : s;
}
GT_API gt_status gt_set_stream(gt_stream *stream) {
  if (!stream) {
    memset(gt__me.stream, 0, sizeof gt__me.stream);
    return GT_OK;
  }
  gt__choice choice = {stream->slot, stream->name};
  gt__me.stream[gt__slot(stream->device)] = choice;
  return gt_set_device(stream->device);
}
/* The user may have put work of his own on either stream, so this never relies on an old mark. */
GT_API gt_status gt_stream_wait_stream(gt_stream *stream, gt_stream *other) {
  GT__CALL;
  if (gt__no_stream(stream) || gt__no_stream(other)) return gt__failed();
  int inside = gt__is_recorded(stream->device);
  if (inside != gt__is_recorded(other->device))
    return gt__refuse_recorded(gt__me.graph->device,
                               "streams of other devices are not in it, so "
                               "none waits for the other");
  if (inside) return gt__graph_push(NULL, stream->slot, other->slot);
  if (stream == other || !other->queue) return GT_OK;
  gt__lock();
  other->marked = 0;
  int code = stream->queue && gt__can_join(stream, other)
                 ? gt__join(stream, other, other->number)
                 : gt__await_unlocks(other, other->number, 1);
  gt__unlock();
  return gt__report(other->device, other, code);
}
/* Puts what others will enqueue next on s, and what it does with x, in order; with `notes` as an
   operation that later work waits for. */
static int gt__order_others(gt_stream *s, const gt_tensor *x, int writes, int notes) {
  int waited = 0;
  gt__access a = {x->storage, gt__region_of(x), !writes, writes};
  GT__HOLD(gt__mutex);
  int code = gt__captured(s);
  if (!code) code = gt__order_unlocks(s, 1, &a, &waited);
  if (code || !notes) return code;
  if (writes) gt__mark_written(&a.where);
  if (!s->queue) return 0;
  s->number++;
  gt__note(&a, s);
  return 0;
}
static gt_status gt__declare(gt_stream *stream, const gt_tensor *x, int writes) {
  if (gt__no_stream(stream) || gt__refuse_one(x)) return gt__failed();
  if (writes && gt__check_constant(x)) return gt__failed();
  if (gt__refuse_recorded(stream->device, "a kernel of your own is not in it")) return gt__failed();
  return gt__report(stream->device, stream, gt__order_others(stream, x, writes, 1));
}
GT_API gt_status gt_stream_reads(gt_stream *stream, const gt_tensor *x) {
  GT__CALL;
  return gt__declare(stream, x, 0);
}
GT_API gt_status gt_stream_writes(gt_stream *stream, const gt_tensor *x) {
  GT__CALL;
  return gt__declare(stream, x, 1);
}
GT_API gt_status gt_stream_call(gt_stream *stream, void (*function)(void *), void *argument) {
  gt__op op;
  GT__CALL;
  if (!function) return gt__fail(GT_ERROR_ARGUMENT, "the function is NULL");
  if (gt__no_stream(stream) ||
      gt__refuse_recorded(stream->device,
                          "a function of yours is not in it; call it before or behind a launch"))
    return gt__failed();
  gt__op_new(&op, GT__FUNCTION, stream->device);
  op.u.call.function = function;
  op.u.call.argument = argument;
  op.way = GT__OF(stream)->call;
  return gt__submit_on(stream, &op);
}
GT_API gt_safety gt_stream_safety(void) { return gt__me.safety; }
GT_API gt_status gt_set_stream_safety(gt_safety safety) {
  GT__CALL;
  if ((int)safety < GT_ORDER || (int)safety > GT_OFF)
    return gt__fail(GT_ERROR_ARGUMENT, "%d is not a choice", (int)safety);
  gt__me.safety = safety;
  return GT_OK;
}
GT_API int64_t gt_report_races(FILE *file) {
  GT__HOLD(gt__mutex);
  int64_t n = gt__all.n_race, first = n > GT__RACES ? n - GT__RACES : 0;
  for (int64_t i = first; file && i < n; i++) fprintf(file, "%s\n", gt__all.race[i % GT__RACES]);
  if (file && first) fprintf(file, "and %lld before these\n", (long long)first);
  gt__all.n_race = 0;
  return n;
}
GT_API gt_status gt_stats(gt_statistics *out) {
  GT__CALL;
  if (!out) return gt__fail(GT_ERROR_ARGUMENT, "out is NULL");
  GT__HOLD(gt__mutex);
  *out = gt__all.stats;
  return GT_OK;
}
GT_API void gt_reset_stats(void) {
  GT__HOLD(gt__mutex);
  memset(&gt__all.stats, 0, sizeof gt__all.stats);
}
GT_API gt_event *gt_event_create(void) {
  GT__CALL;
  return (gt_event *)gt__malloc(sizeof(gt_event));
}
static void gt__event_clear(gt_event *e) {
  if (e->native) GT__OF(e)->event_destroy(e->device.index, e->native);
  memset(e, 0, sizeof *e);
}
GT_API void gt_event_free(gt_event *event) {
  if (event) gt__event_clear(event);
  GPUTENSOR_FREE(event);
}
/* While a graph is recorded an event just names its stream: a wait for it covers all that the
   stream was given by the time of that wait. */
GT_API gt_status gt_event_record(gt_event *event, gt_stream *stream) {
  GT__CALL;
  if (gt__no_stream(stream)) return gt__failed();
  if (!event) return gt__fail(GT_ERROR_ARGUMENT, "the event is NULL");
  if (gt__is_recorded(stream->device)) {
    gt__event_clear(event);
    event->graph = gt__me.graph->serial;
    event->at.slot = stream->slot;
    return GT_OK;
  }
  gt__lock();
  if (!gt__same_device(event->device, stream->device)) gt__event_clear(event);
  event->device = stream->device;
  event->graph = 0;
  int code = gt__record_event(stream, &event->native);
  if (!code) {
    event->at.number = stream->number;
    event->at.slot = stream->slot;
    event->seen = stream->seen;
  }
  gt__unlock();
  return gt__report(stream->device, stream, code);
}
static gt_status gt__no_event(const gt_event *event) {
  if (!event) return gt__fail(GT_ERROR_ARGUMENT, "the event is NULL");
  gt__lock();
  int recorded = event->native != NULL;
  gt__unlock();
  if (recorded) return GT_OK;
  return gt__fail(GT_ERROR_STATE,
                  "the event was never recorded, but for in a graph; gt_event_record comes first");
}
/* Waits, or asks, for an event; what it covers is then behind the host. */
static int gt__event_ask(gt_event *event, int wait) {
  gt__lock();
  gt_event now = *event;
  int64_t traced = wait ? gt__trace_wait(NULL, now.at.slot, now.at.number) : 0;
  gt__unlock();
  int code = GT__OF(&now)->event_ask(now.device.index, now.native, wait);
  GT__HOLD(gt__mutex);
  gt__trace_end(traced);
  if (!code) gt__learn(&gt__all.done, &now.seen, now.at.slot, now.at.number);
  return code;
}
static gt_status gt__wait_for_event(gt_event *event) {
  if (gt__no_event(event)) return gt__failed();
  int code = gt__event_ask(event, 1);
  return code ? gt__report(event->device, NULL, code) : gt__check_fault();
}
GT_API gt_status gt_event_synchronize(gt_event *event) {
  GT__CALL;
  return gt__wait_for_event(event);
}
/* While a graph is recorded: a wait that it keeps. Between streams of one kind of device: by the
   event. Else whoever can wait does: the stream, or the host. */
GT_API gt_status gt_stream_wait_event(gt_stream *stream, gt_event *event) {
  GT__CALL;
  int code, away = 0;
  if (gt__no_stream(stream)) return gt__failed();
  if (event && gt__is_recorded(stream->device)) {
    if (event->graph == gt__me.graph->serial)
      return gt__graph_push(NULL, stream->slot, event->at.slot);
    return gt__refuse_recorded(stream->device, "its streams wait for events recorded in it");
  }
  if (gt__no_event(event)) return gt__failed();
  if (!stream->queue || (!gt__on_host(stream->device) && gt__on_host(event->device)))
    return gt__wait_for_event(event);
  gt__lock();
  code = gt__captured(stream);
  if (!code && stream->device.type == event->device.type) {
    code = GT__OF(stream)->queue_wait_event(stream->device.index, stream->queue, event->native);
    if (!code) gt__learn(&stream->seen, &event->seen, event->at.slot, event->at.number);
    gt__trace_wait(stream, event->at.slot, event->at.number);
    stream->marked = 0;
  } else if (!code) code = gt__reach_unlocks(stream, event->at, &away);
  gt__unlock();
  return gt__report(stream->device, stream, code);
}
GT_API int gt_event_query(gt_event *event) {
  GT__CALL;
  if (gt__no_event(event)) return -1;
  return gt__query(event->device, NULL, gt__event_ask(event, 0));
}
GT_API double gt_event_elapsed_ms(gt_event *start, gt_event *end) {
  GT__CALL;
  float ms = 0;
  GT__STRICT;
  if (gt__no_event(start) || gt__no_event(end)) return (double)NAN;
  if (!gt__same_device(start->device, end->device))
    return gt__fail(GT_ERROR_DEVICE, "the events are of %s and %s; their clocks differ",
                    gt_device_string(start->device), gt_device_string(end->device)),
           (double)NAN;
  if (gt__wait_for_event(end) || gt__wait_for_event(start)) return (double)NAN;
  int code = GT__OF(end)->event_elapsed(end->device.index, start->native, end->native, &ms);
  return gt__report(end->device, NULL, code) ? (double)NAN : (double)ms;
}
GT_API gt_status gt_synchronize(gt_device device) {
  GT__CALL;
  if (gt__check_device(device) || gt__refuse_wait(device)) return gt__failed();
  gt__lock();
  int code = gt__await_all_unlocks(&device, 1);
  gt__reap();
  gt__unlock();
  return code ? gt__report(device, NULL, code) : gt__check_fault();
}
GT_API gt_with gt_with_device(gt_device device) {
  gt_with w = {gt__me.device, 0, 0, 0};
  gt_set_device(device);
  return w;
}
GT_API gt_with gt_with_stream(gt_stream *stream) {
  gt__me.call = "GT_WITH_STREAM";
  gt_with w = {gt__me.device, 0, 0, 0};
  if (!stream) return gt__fail(GT_ERROR_ARGUMENT, "stream is NULL"), w;
  gt__choice before = gt__me.stream[gt__slot(stream->device)];
  w.gt__where = 1 + gt__slot(stream->device);
  w.gt__slot = before.slot;
  w.gt__name = before.name;
  gt_set_stream(stream);
  return w;
}
GT_API void gt_with_pop(gt_with *with) {
  gt__me.device = with->device;
  gt__choice before = {with->gt__slot, with->gt__name};
  if (with->gt__where) gt__me.stream[with->gt__where - 1] = before;
}
GT_API const char *gt_version(void) { return GPUTENSOR_VERSION; }
/* Writes " copy: a b, map: ..." to text, which has room for n bytes. */
static void gt__list_ways(const gt__backend *backend, char *text, size_t n) {
  static const char *const kind_name[GT__KINDS] = {
      " copy:", ", map:", ", reduce:", ", matmul:", ", scan:", ", order:", ", scatter:"};
  size_t used = 0;
  for (int kind = 0; kind < GT__KINDS; kind++) {
    used += snprintf(text + used, n - used, "%s", kind_name[kind]);
    for (const gt__way *way = backend->ways(kind); way->name && used < n; way++)
      used += snprintf(text + used, n - used, " %s", way->name);
    if (used >= n) return;
  }
}
GT_API const char *gt_build_info(void) {
  static __thread char text[1024];
  const char *gpus = "without CUDA", *of_gpus = "";
  char cpu[400], cuda[400] = "";
  gt__list_ways(GT__HOST, cpu, sizeof cpu);
  if (GT__PINNING != GT__HOST) {
    gt__list_ways(GT__PINNING, cuda, sizeof cuda);
    gpus = GT__PINNING->info();
    of_gpus = "; of GPUs:";
  }
  snprintf(text, sizeof text,
           "gputensor " GPUTENSOR_VERSION "%s" GT__CHECKING ", %s; ways of the CPU:%s%s%s",
           GT__HOST->info(), gpus, cpu, of_gpus, cuda);
  return text;
}
/* All streams are waited for first, then ended; then what is kept for later goes. */
GT_API void gt_shutdown(void) {
  gt_graph_free(gt__me.graph);
  gt__me.graph = NULL;
  gt__lock();
  gt__all.ended_graphs = gt__all.graphs;
  gt__await_all_unlocks(NULL, 0);
  for (int i = 0; i < gt__all.top; i++) {
    if (!gt__all.slot[i]) continue;
    gt__all.done.at[i] = gt__all.slot[i]->number;
    gt__stream_destroy(gt__all.slot[i]);
  }
  gt__sweep_unlocks(1);
  gt__trace_forget();
  if (gt__all.fault) GT__PINNING->release(-1, NULL, gt__all.fault, 1);
  gt__all.fault = NULL;
  GPUTENSOR_FREE(gt__all.aliases.more);
  memset(&gt__all.aliases, 0, sizeof gt__all.aliases); /* all uses are over */
  GT__HOST->shutdown();
  GT__PINNING->shutdown();
  gt__free_held_back();
  gt__unlock();
  memset(gt__me.stream, 0, sizeof gt__me.stream);
}

/* ---- >>npy -------------------------------------------------------------------------------------
   Magic, version, length of the header, the header (a Python dict of descr, fortran_order, shape),
   elements. Nothing is believed: sizes are compared with the file's before memory is asked for. */
enum { GT__NPY_HEADER = 1 << 20 };         /* bytes of a header that is read, at most */
enum { GT__NPY_ALIGN = 64 };               /* bytes, of which elements begin at a multiple */
enum { GT__NPY_HEAD = 6 * GT__NPY_ALIGN }; /* bytes of a header that is written, at most */
enum { GT__PATH = 4096 };
enum { GT__NEW_PATH = GT__PATH + 64 };
enum { GT__LINKS = 40 }; /* symbolic links to follow, as Linux does */
enum { GT__LITTLE_ENDIAN = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };
typedef struct {
  const char *path;
  int file, json;     /* file: -1, none; json: the header is one of safetensors */
  gt_tensor *content; /* of the file, in bytes */
  char *p, *end;      /* p..end: the header that is still unread; *end is 0 */
  gt_dtype dtype;
  int swap, fortran;
  gt_shape shape, place; /* place: where the elements begin and end, in bytes */
} gt__npy;
#ifdef _WIN32
#define GT__SLASHES "/\\"
#define GT__TO_READ (O_RDONLY | O_BINARY)
#define GT__TO_WRITE (O_WRONLY | O_BINARY)
#else
#define GT__SLASHES "/"
#define GT__TO_READ (O_RDONLY | O_NONBLOCK) /* no pipe makes it hang */
#define GT__TO_WRITE O_WRONLY
#endif
/* A file that ends with its block. */
static void gt__npy_close(gt__npy *h) {
  if (h->file >= 0) close(h->file);
}
#define GT__CLOSED __attribute__((cleanup(gt__npy_close)))
#define GT__NPY_BAD(...) gt__fail(GT_ERROR_FORMAT, "%.500s: " __VA_ARGS__)
/* Reads or writes all of it, in portions, since systems pass less than 2 GiB at once. Returns 0,
   errno, or -1: the file ended. */
static int gt__pass(int file, char *p, size_t bytes, int writes) {
  while (bytes) {
    size_t portion = bytes < 1u << 30 ? bytes : 1u << 30;
    int64_t n = writes ? write(file, p, portion) : read(file, p, portion);
    if (n == 0) return -1;
    if (n < 0 && errno != EINTR) return errno;
    if (n < 0) continue;
    p += n;
    bytes -= (size_t)n;
  }
  return 0;
}
#define GT__NPY_MALFORMED(what) GT__NPY_BAD("malformed header: %s", h->path, what)
static int gt__npy_word(gt__npy *h, const char *word) { /* skips spaces and it, if it is there */
  size_t n = strlen(word);
  h->p += strspn(h->p, " \t\r\n");
  if (strncmp(h->p, word, n) != 0) return 0;
  h->p += n;
  return 1;
}
/* A quoted string, ended in place, or NULL; in a message it must be printable. In JSON it may have
   escapes, which stay as they are, and UTF-8. */
static char *gt__npy_string(gt__npy *h) {
  int is_single = gt__npy_word(h, "'");
  char quote = is_single ? '\'' : '"';
  if (!is_single && !gt__npy_word(h, "\"")) return NULL;
  char *text = h->p;
  for (; h->p < h->end && *h->p != quote; h->p++) {
    if (*h->p == '\\' && (!h->json || ++h->p == h->end)) return NULL;
    if (*h->p == '\n') return NULL;
    int high = *h->p & 0x80; /* of UTF-8 */
    if (high ? !h->json : *h->p < ' ' || *h->p > '~') *h->p = '?';
  }
  if (h->p == h->end) return NULL;
  *h->p++ = 0;
  return text;
}
/* "<f4" and its like: the order of bytes, then kind and size. */
static gt_status gt__npy_descr(gt__npy *h) {
  if (gt__npy_word(h, "["))
    return GT__NPY_BAD("structured arrays are not supported; save one field at a time", h->path);
  const char *text = gt__npy_string(h);
  if (!text) return GT__NPY_MALFORMED("descr is not a string");
  int ordered = strspn(text, "<>=|") > 0;
  int d = GT_DTYPES - 1; /* downwards, so that f4 is float32 and not bfloat16 */
  while (d >= 0 && strcmp(text + ordered, gt__dtype[d].npy) != 0) d--;
  if (d < 0)
    return GT__NPY_BAD(
        "dtype '%.23s' is not one of b1 u1 i1 i2 i4 i8 f2 f4 f8; convert it in NumPy (astype)",
        h->path, text);
  h->dtype = (gt_dtype)d;
  h->swap = *text == (GT__LITTLE_ENDIAN ? '>' : '<');
  return GT_OK;
}
static gt_status gt__npy_shape(gt__npy *h, gt_shape *to) { /* in JSON a list */
  int comma = 1;
  to->ndim = 0;
  if (!gt__npy_word(h, h->json ? "[" : "(")) return GT__NPY_MALFORMED("shape is not a tuple");
  for (; !gt__npy_word(h, h->json ? "]" : ")"); comma = gt__npy_word(h, ",")) {
    if (!comma) return GT__NPY_MALFORMED("no comma between two sizes");
    if (to->ndim == GT_MAX_DIMS)
      return GT__NPY_BAD("more than %d dimensions", h->path, GT_MAX_DIMS);
    if (*h->p < '0' || *h->p > '9')
      return GT__NPY_MALFORMED("shape is not a tuple of integers that are not negative");
    errno = 0;
    to->size[to->ndim++] = strtoll(h->p, &h->p, 10);
    if (errno) return GT__NPY_MALFORMED("a size exceeds 64 bits");
    h->p += *h->p == 'L'; /* as Python 2 wrote long integers */
  }
  return to->ndim == 1 && !comma && !h->json ? GT__NPY_MALFORMED("shape is not a tuple") : GT_OK;
}
static const char *const gt__json_dtype[] = {"BOOL", "U8",  "I8",   "I16", "I32",
                                             "I64",  "F16", "BF16", "F32", "F64"};
static gt_status gt__json_value(gt__npy *h, int k) { /* of dtype, shape or data_offsets */
  if (k) return gt__npy_shape(h, k == 1 ? &h->shape : &h->place);
  const char *text = gt__npy_string(h);
  int d = text ? GT_DTYPES - 1 : -1;
  while (d >= 0 && strcmp(text, gt__json_dtype[d]) != 0) d--;
  h->dtype = (gt_dtype)d;
  if (d >= 0) return GT_OK;
  return GT__NPY_BAD("a dtype is none of BOOL U8 I8 I16 I32 I64 F16 BF16 F32 F64", h->path);
}
/* The value of key k: descr, fortran_order or shape. */
static gt_status gt__npy_value(gt__npy *h, int k) {
  if (h->json) return gt__json_value(h, k);
  if (k == 0) return gt__npy_descr(h);
  if (k == 2) return gt__npy_shape(h, &h->shape);
  h->fortran = gt__npy_word(h, "True");
  if (h->fortran || gt__npy_word(h, "False")) return GT_OK;
  return GT__NPY_MALFORMED("fortran_order is neither True nor False");
}
static gt_status gt__npy_entry(gt__npy *h, const char *const *key, int *seen) {
  const char *name = gt__npy_string(h);
  int k = 0;
  if (!name) return GT__NPY_MALFORMED("a key is not a string");
  while (k < 3 && strcmp(name, key[k]) != 0) k++;
  if (k == 3) return GT__NPY_BAD("malformed header: unknown key '%.23s'", h->path, name);
  if (seen[k]++) return GT__NPY_MALFORMED("a key stands there twice");
  if (!gt__npy_word(h, ":")) return GT__NPY_MALFORMED("no colon after a key");
  return gt__npy_value(h, k);
}
/* A dictionary with these three keys, each once, in any order. */
GT__COLD static gt_status gt__npy_dict(gt__npy *h, const char *const *key) {
  int seen[3] = {0, 0, 0}, comma = 1;
  if (!gt__npy_word(h, "{")) return GT__NPY_MALFORMED("it does not begin with a brace");
  for (; !gt__npy_word(h, "}"); comma = gt__npy_word(h, ",")) {
    if (!comma) return GT__NPY_MALFORMED("no comma between two entries");
    if (gt__npy_entry(h, key, seen)) return gt__failed();
  }
  for (int k = 0; k < 3; k++)
    if (!seen[k]) return GT__NPY_BAD("malformed header: %s is missing", h->path, key[k]);
  return GT_OK;
}
static gt_status gt__npy_rest(gt__npy *h) {
  gt__npy_word(h, ""); /* spaces may follow */
  return h->p == h->end ? GT_OK : GT__NPY_MALFORMED("text after the closing brace");
}
static uint64_t gt__npy_number(const char *p, int n) { /* of n bytes, the lowest first */
  uint64_t value = 0;
  while (n-- > 0) value = value << 8 | (unsigned char)p[n];
  return value;
}
/* The header is n bytes of the file at `text`; moved by one, so that there is room for a 0. */
static void gt__npy_text(gt__npy *h, char *text, int64_t n) {
  h->p = text - 1;
  h->end = h->p + n;
  memmove(h->p, text, (size_t)n);
  *h->end = 0;
}
/* Magic, version, length, and then the dict, to the end of the header. */
static gt_status gt__npy_header(gt__npy *h) {
  static const char *const key[] = {"descr", "fortran_order", "shape"};
  char *text = gt__address(h->content);
  const unsigned char *head = (unsigned char *)text;
  int64_t length = h->content->shape[0];
  if (length < 12 || memcmp(head, "\x93NUMPY", 6) != 0)
    return GT__NPY_BAD("not a .npy file", h->path);
  if (head[6] < 1 || head[6] > 3 || head[7] != 0)
    return GT__NPY_BAD("version %d.%d is not 1.0, 2.0 or 3.0", h->path, head[6], head[7]);
  int begin = head[6] == 1 ? 10 : 12;
  int64_t bytes = (int64_t)gt__npy_number(text + 8, begin - 8);
  int is_longer = begin + bytes > length;
  if (bytes > GT__NPY_HEADER || is_longer)
    return GT__NPY_BAD("a header of %lld bytes is %s", h->path, (long long)bytes,
                       is_longer ? "longer than the file" : "too long");
  gt__npy_text(h, text + begin, bytes);
  return gt__npy_dict(h, key) || gt__npy_rest(h) ? gt__failed() : GT_OK;
}
/* Sizes of 0 count as 1 here: what the other sizes say together must be representable too. */
static gt_status gt__npy_check_length(const gt__npy *h, int64_t length) {
  int64_t bytes = gt__dtype[h->dtype].size, empty = 0;
  for (int d = 0; d < h->shape.ndim; d++) {
    int64_t size = h->shape.size[d];
    empty |= !size;
    if (size && __builtin_mul_overflow(bytes, size, &bytes))
      return GT__NPY_BAD("the shape holds more than 2^63 bytes", h->path);
  }
  if (empty || bytes <= length) return GT_OK;
  return GT__NPY_BAD("truncated: %lld bytes of elements, the shape needs %lld", h->path,
                     (long long)length, (long long)bytes);
}
/* From a file to a tensor, or back: swaps the bytes of each element, if `swap`, and makes bools 0
   or 1. Bytes that are right are not written to, so a page of the file stays its own. */
static void gt__swap_bytes(void *elements, size_t bytes, gt_dtype dtype, int swap) {
  unsigned char *p = (unsigned char *)elements;
  size_t width = gt__dtype[dtype].size;
  for (size_t i = 0; swap && i < bytes; i += width)
    for (size_t a = i, b = i + width - 1; a < b; a++, b--) {
      unsigned char t = p[a];
      p[a] = p[b];
      p[b] = t;
    }
  for (size_t i = 0; dtype == GT_BOOL && i < bytes; i++)
    if (p[i] > 1) p[i] = 1;
}
/* The tensor that the header tells of, whose bytes begin at `at` of the file. A copy for another
   device, if they are not aligned, or in Fortran order: that of the reversed shape in C order. */
GT__COLD static gt_tensor *gt__npy_tensor(gt__npy *h, int64_t at, gt_device device) {
  gt_tensor x;
  int64_t *size = h->shape.size, *place = h->place.size;
  int last = h->shape.ndim - 1, half = h->fortran ? h->shape.ndim / 2 : 0;
  char *p = gt__address(h->content) + at;
  for (int d = 0; d < half; d++) gt__swap(size + d, size + last - d);
  if (gt__npy_check_length(h, h->content->shape[0] - at)) return NULL;
  if (gt__model(&x, h->shape, h->dtype, gt_cpu())) return NULL;
  int64_t width = gt__dtype[x.dtype].size, from = p - h->end - 1;
  int64_t to = from + gt__nbytes(&x);
  if (h->json && (h->place.ndim != 2 || place[0] != from || place[1] != to))
    return GT__NULL(GT_ERROR_FORMAT, "%.500s: data_offsets are not those that sizes make them",
                    h->path);
  gt__swap_bytes(p, gt__nbytes(&x), x.dtype, h->swap);
  GT__LOCAL gt_tensor *copy = at % width ? gt__new(h->shape, x.dtype, gt_cpu(), 0) : NULL;
  if (at % width && !copy) return NULL;
  if (copy) memcpy(gt__address(copy), p, gt__nbytes(&x));
  x.storage = copy ? copy->storage : h->content->storage;
  if (!copy) x.offset = at / width;
  for (int d = 0; d < half; d++) gt__swap_dims(&x, d, last - d);
  return gt__converted(&x, x.dtype, device, GT__DENSE);
}
/* The whole file. */
static gt_tensor *gt__npy_read(const gt__npy *h, int64_t bytes) {
  gt_tensor *x = gt__new(GT_SHAPE(bytes + 8), GT_UINT8, gt_cpu(), 0);
  int error = x ? gt__pass(h->file, gt__address(x), (size_t)bytes, 0) : 0;
  if (x) x->shape[0] = bytes;
  if (!error) return x;
  if (error < 0) GT__NPY_BAD("the file ends too early", h->path);
  else gt__fail(GT_ERROR_FILE, "%.500s: %s", h->path, strerror(error));
  gt__free(x);
  return NULL;
}
/* Opens a file to read; what has no length, such as a pipe, is refused. */
static gt_status gt__npy_open(gt__npy *h, const char *path, int json, int64_t *length) {
  memset(h, 0, sizeof *h);
  h->path = path;
  h->file = -1;
  h->json = json;
  struct stat info;
  if (!path) return gt__fail(GT_ERROR_ARGUMENT, "the path is NULL");
  if (!stat(path, &info) && S_ISFIFO(info.st_mode)) /* to open it might disturb others */
    return gt__fail(GT_ERROR_FILE, "%.500s: not a file with a length", path);
  h->file = open(path, GT__TO_READ);
  if (h->file < 0 || fstat(h->file, &info))
    return gt__fail(GT_ERROR_FILE, "%.500s: %s", path, strerror(errno));
  *length = (int64_t)info.st_size;
  return GT_OK;
}
GT_API gt_tensor *gt_load_npy(const char *path, gt_device device) {
  GT__CALL;
  int64_t bytes;
  gt__npy h GT__CLOSED;
  if (gt__npy_open(&h, path, 0, &bytes) || gt__check_device(device)) return NULL;
  GT__LOCAL gt_tensor *content = gt__npy_read(&h, bytes);
  h.content = content;
  if (!content || gt__npy_header(&h)) return NULL;
  return gt__npy_tensor(&h, h.end + 1 - gt__address(content), device);
}
/* -- saving -- */
typedef struct {
  char *head, *data;
  size_t n_head, n_data;
} gt__image; /* what a file shall hold */
/* Also closes the file. Returns 0 or errno, as those below do. */
static int gt__write(int file, const gt__image *image) {
  int error = gt__pass(file, image->head, image->n_head, 1);
  if (!error) error = gt__pass(file, image->data, image->n_data, 1);
  if (close(file) != 0 && !error) error = errno;
  return error < 0 ? EIO : error;
}
static size_t gt__folder_length(const char *path) { /* characters before a file's name */
  size_t n = strlen(path);
  while (n > 0 && !strchr(GT__SLASHES, path[n - 1])) n--;
  return n;
}
/* What a path's symbolic links lead to, which need not be there yet. */
static int gt__follow_links(const char *path, char target[GT__PATH]) {
  if (snprintf(target, GT__PATH, "%s", path) >= GT__PATH) return ENAMETOOLONG;
#ifndef _WIN32
  for (int i = 0; i < GT__LINKS; i++) {
    char link[GT__PATH];
    int64_t n = readlink(target, link, GT__PATH - 1);
    if (n < 0) return 0;
    link[n] = 0;
    size_t folder = *link == '/' ? 0 : gt__folder_length(target);
    if (folder + (size_t)n >= GT__PATH) return ENAMETOOLONG;
    memcpy(target + folder, link, (size_t)n + 1);
  }
#endif
  return 0;
}
/* A new file beside `target`, of a name that nobody has, open to be written; or -1 and errno. */
static int gt__open_beside(const char *target, char name[GT__NEW_PATH], int mode) {
  static unsigned count;
  int file;
  do {
    unsigned number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    snprintf(name, GT__NEW_PATH, "%.*sgputensor-%ld-%u.tmp", (int)gt__folder_length(target), target,
             (long)getpid(), number);
    file = open(name, GT__TO_WRITE | O_CREAT | O_EXCL, mode);
  } while (file < 0 && errno == EEXIST);
  return file;
}
/* Writes a new file and renames it: a reader never sees half of it. old: what is there, or NULL. */
static int gt__save_beside(const char *path, const struct stat *old, const gt__image *image) {
  char target[GT__PATH], name[GT__NEW_PATH];
  int error = gt__follow_links(path, target);
  if (!error && old && access(target, W_OK) != 0) error = EACCES; /* or it has no name any more */
  if (error) return error;
  int file = gt__open_beside(target, name, old ? 0600 : 0666);
  if (file < 0) return errno;
#ifndef _WIN32
  if (old && (fchown(file, old->st_uid, old->st_gid) || fchmod(file, old->st_mode & 07777)))
    error = errno;
#endif
  if (error) close(file);
  else error = gt__write(file, image);
#ifdef _WIN32
  if (!error && old) remove(target); /* rename does not replace there */
#endif
  if (!error && rename(name, target) != 0) error = errno;
  if (error) remove(name);
  return error;
}
/* Was a new file refused where writing in place may be allowed? */
static int gt__wants_in_place(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
    case EBUSY:
    case EXDEV:
    case EEXIST:
    case EROFS:
    case EINVAL:
    case ENAMETOOLONG: return 1;
    default: return 0;
  }
}
/* Writes in place what no new file can replace: devices and pipes, a file of several names, in a
   folder of others, with an owner that we cannot give, or mounted there. *whole: if this fails, the
   older file is as it was. */
static int gt__save_file(const char *path, const gt__image *image, int *whole) {
  struct stat old;
  int there = stat(path, &old) == 0;
  int error = EPERM;
  *whole = there && S_ISREG(old.st_mode);
  if (!there) return errno == ENOENT ? gt__save_beside(path, NULL, image) : errno;
  /* /dev/stdout and the like name files that the process has open; /dev/shm is a folder. */
  int shm = !strncmp(path, "/dev/shm/", 9);
  int ours = (!strncmp(path, "/dev/", 5) && !shm) || !strncmp(path, "/proc/", 6);
  if (*whole && old.st_nlink < 2 && !ours) /* 0: another saver replaces it right now */
    error = gt__save_beside(path, &old, image);
  if (!gt__wants_in_place(error)) return error;
  int file = open(path, GT__TO_WRITE | O_TRUNC);
  if (file < 0) return errno;
  *whole = 0;
  return gt__write(file, image);
}
static gt_status gt__save_image(const char *path, const gt__image *image) {
  int whole, error = gt__save_file(path, image, &whole);
  if (!error) return GT_OK;
  return gt__fail(GT_ERROR_FILE, "%.500s: %s%s", path, strerror(error),
                  whole ? "; an older file is untouched" : "");
}
/* The file's bytes up to the elements; their number. */
static int gt__npy_head(const gt_tensor *host, char head[GT__NPY_HEAD]) {
  char text[4 * GT__NPY_ALIGN];
  char order = GT__LITTLE_ENDIAN ? '<' : '>';
  if (gt__dtype[host->dtype].size == 1) order = '|';
  int n = snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                   order, gt__dtype[host->dtype].npy, gt__shape_text(host));
  int padded = (10 + n) / GT__NPY_ALIGN * GT__NPY_ALIGN + GT__NPY_ALIGN - 10; /* + newline */
  return snprintf(head, GT__NPY_HEAD, "%s%c%c%c%-*s\n", "\x93NUMPY\x01", 0, padded & 255,
                  padded >> 8, padded - 1, text);
}
GT_API gt_status gt_save_npy(const char *path, const gt_tensor *x) {
  char head[GT__NPY_HEAD];
  gt__host_use use;
  if (GT__NO(x)) return gt__failed();
  if (!path) return gt__fail(GT_ERROR_ARGUMENT, "the path is NULL");
  gt_dtype dtype = x->dtype == GT_BFLOAT16 ? GT_FLOAT32 : x->dtype;
  GT__LOCAL gt_tensor *host = gt__converted(x, dtype, gt_cpu(), GT__DENSE);
  if (!host || gt__host_begin(host, 0, &use)) return gt__failed();
  gt__image image = {head, gt__address(host), (size_t)gt__npy_head(host, head), gt__nbytes(host)};
  gt_status status = gt__save_image(path, &image);
  gt__host_end(&use);
  return status;
}

/* ---- >>safetensors ------------------------------------------------------------------------------
   The length of the header in 8 bytes, the header (JSON: an object of names, each with dtype, shape
   and where its bytes begin and end), elements without holes. As of .npy, nothing is believed. */
enum { GT__JSON_ENTRY = 48 }; /* bytes of JSON that each tensor takes, at least */
static gt_status gt__json_metadata(gt__npy *h) { /* which nobody reads */
  int good = gt__npy_word(h, "{");
  int comma = 1;
  for (; good && !gt__npy_word(h, "}"); comma = gt__npy_word(h, ","))
    good = comma && gt__npy_string(h) && gt__npy_word(h, ":") && gt__npy_string(h);
  return good ? GT_OK : GT__NPY_MALFORMED("__metadata__ is not an object of strings");
}
static int gt__by_name(const void *a, const void *b) {
  return strcmp(((const gt_named *)a)->name, ((const gt_named *)b)->name);
}
/* The entries come in the order of their bytes in the file: `at` is where the next one's begin. */
static gt_status gt__json_parse(gt__npy *h, gt_tensors *list, gt_device device) {
  static const char *const key[] = {"dtype", "shape", "data_offsets"};
  int64_t at = h->end + 1 - gt__address(h->content);
  int comma = 1;
  if (!gt__npy_word(h, "{")) return GT__NPY_MALFORMED("it does not begin with a brace");
  for (; !gt__npy_word(h, "}"); comma = gt__npy_word(h, ",")) {
    gt_named x = {gt__npy_string(h), NULL};
    if (!comma || !x.name || !gt__npy_word(h, ":"))
      return GT__NPY_MALFORMED("a name and a colon are missing");
    if (strcmp(x.name, "__metadata__") != 0) {
      x.tensor = gt__npy_dict(h, key) ? NULL : gt__npy_tensor(h, at, device);
      if (!x.tensor) return gt__failed();
      list->item[list->n++] = x;
      at += gt__nbytes(x.tensor);
    } else if (gt__json_metadata(h)) return gt__failed();
  }
  if (gt__npy_rest(h)) return gt__failed();
  return at == h->content->shape[0] ? GT_OK : GT__NPY_BAD("bytes follow the elements", h->path);
}
/* The whole file as bytes: on POSIX its own pages; those that are written to become copies. */
#ifdef _WIN32
static gt_tensor *gt__map_file(const gt__npy *h, int64_t bytes) { return gt__npy_read(h, bytes); }
#else
static void gt__unmap_file(void *data, void *bytes) { munmap(data, (uintptr_t)bytes); }
static gt_tensor *gt__map_file(const gt__npy *h, int64_t bytes) {
  void *context = (void *)(uintptr_t)bytes;
  void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, h->file, 0);
  if (p == MAP_FAILED) return GT__NULL(GT_ERROR_FILE, "%.500s: %s", h->path, strerror(errno));
  gt_tensor *x = gt__wrap(p, GT_SHAPE(bytes), GT_UINT8, gt_cpu(), gt__unmap_file, context, 0);
  if (!x) gt__unmap_file(p, context);
  return x;
}
#endif
/* Fills the list; if that fails, the caller ends what it has by then. */
static gt_status gt__load_list(gt_tensors *list, const char *path, gt_device device) {
  int64_t bytes;
  gt__npy h GT__CLOSED;
  if (gt__npy_open(&h, path, 1, &bytes)) return gt__failed();
  list->gt__file = gt__map_file(&h, bytes);
  h.content = list->gt__file;
  if (!h.content) return gt__failed();
  char *head = gt__address(h.content);
  uint64_t n = gt__npy_number(head, 8);
  if (bytes < 8 || n > (uint64_t)bytes - 8)
    return GT__NPY_BAD(
        "its first 8 bytes name a header of %llu bytes, which is too long: no safetensors file?",
        path, (unsigned long long)n);
  gt__npy_text(&h, head + 8, (int64_t)n);
  h.swap = !GT__LITTLE_ENDIAN;
  list->item = (gt_named *)gt__malloc((size_t)(n / GT__JSON_ENTRY + 1) * sizeof(gt_named));
  if (!list->item || gt__json_parse(&h, list, device)) return gt__failed();
  qsort(list->item, (size_t)list->n, sizeof(gt_named), gt__by_name);
  for (gt_named *x = list->item + 1; x < list->item + list->n; x++)
    if (!gt__by_name(x - 1, x)) return GT__NPY_BAD("two tensors have one name", path);
  return GT_OK;
}
GT_API gt_tensors *gt_load_safetensors(const char *path, gt_device device) {
  GT__CALL;
  gt_scope *scope = gt__me.scope;
  if (gt__check_device(device)) return NULL;
  gt_tensors *list = (gt_tensors *)gt__malloc(sizeof *list);
  gt__me.scope = NULL;
  int failed = !list || gt__load_list(list, path, device);
  gt__me.scope = scope;
  if (!failed) return list;
  gt_tensors_free(list);
  return NULL;
}
GT_API void gt_tensors_free(gt_tensors *list) {
  if (!list) return;
  for (int i = 0; i < list->n; i++) gt_free(list->item[i].tensor);
  gt__free(list->gt__file);
  GPUTENSOR_FREE(list->item);
  GPUTENSOR_FREE(list);
}
GT_API gt_tensor *gt_tensors_get(const gt_tensors *list, const char *name) {
  GT__CALL;
  for (int i = 0; list && name && i < list->n; i++)
    if (!strcmp(list->item[i].name, name)) return list->item[i].tensor;
  return GT__NULL(GT_ERROR_ARGUMENT, "no tensor is named '%.60s'", name ? name : "");
}
/* -- saving -- */
enum { GT__JSON_ROOM = 384 }; /* bytes that a tensor takes in a header, its name left out */
/* Writes to memory, tensors of large elements first, so that all are aligned. */
static gt_status gt__json_image(gt__image *image, int n, const gt_named *item) {
  char *p = image->head + 8;
  p += sprintf(p, "{\"__metadata__\":{\"format\":\"pt\"}");
  for (int size = 8; size; size /= 2)
    for (int i = 0; i < n; i++) {
      gt_tensor *x = item[i].tensor;
      size_t from = image->n_data;
      size_t bytes = gt__nbytes(x);
      char *data = image->data + from;
      if (gt__dtype[x->dtype].size != size) continue;
      if (gt_to_array(x, data, bytes)) return gt__failed();
      gt__swap_bytes(data, bytes, x->dtype, !GT__LITTLE_ENDIAN);
      image->n_data += bytes;
      const char *shape = gt__shape_text(x) + 1; /* without its parentheses */
      int length = strcspn(shape, x->ndim == 1 ? "," : ")");
      p += sprintf(p, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%.*s],\"data_offsets\":[%zu,%zu]}",
                   item[i].name, gt__json_dtype[x->dtype], length, shape, from, image->n_data);
    }
  *p++ = '}';
  while ((p - image->head) % GT__NPY_ALIGN) *p++ = ' ';
  image->n_head = p - image->head;
  uint64_t length = image->n_head - 8;
  for (int i = 0; i < 8; i++) image->head[i] = length >> 8 * i;
  return GT_OK;
}
/* The image of the file is made in one allocation, whose size is known before. */
GT_API gt_status gt_save_safetensors(const char *path, int n, const gt_named *item) {
  GT__CALL;
  size_t room = GT__JSON_ROOM, bytes = 0;
  if (!path || !item || n < 0)
    return gt__fail(GT_ERROR_ARGUMENT, "the path or the list is NULL, or n negative");
  for (int i = 0; i < n; i++) {
    const char *name = item[i].name; /* which JSON has as it is */
    int bad = !name || !strcmp(name, "__metadata__") ||
              strpbrk(name,
                      "\"\\\1\2\3\4\5\6\7\b\t\n\v\f\r\16\17\20\21\22\23"
                      "\24\25\26\27\30\31\32\33\34\35\36\37");
    for (int j = 0; j < i && !bad; j++) bad = !gt__by_name(item + i, item + j);
    if (bad)
      return gt__fail(GT_ERROR_ARGUMENT, "name %d is NULL, __metadata__, no plain text or not new",
                      i);
    if (gt__refuse_one(item[i].tensor)) return gt__failed();
    room += GT__JSON_ROOM + strlen(name);
    bytes += gt__nbytes(item[i].tensor);
    if (bytes > GT__MOST) bytes = GT__MOST; /* which gt__new refuses */
  }
  GT__LOCAL gt_tensor *memory = gt__new(GT_SHAPE((int64_t)(room + bytes)), GT_UINT8, gt_cpu(), 0);
  if (!memory) return gt__failed();
  char *p = gt__address(memory);
  gt__image image = {p, p + room, 0, 0};
  if (gt__json_image(&image, n, item)) return gt__failed();
  GT__CALL;
  return gt__save_image(path, &image);
}

/* ---- >>dlpack -----------------------------------------------------------------------------------
   The ABI of DLPack 1: structures without and with a version. */
typedef struct {
  void *data;
  gt_device device; /* whose types GT_CPU and GT_CUDA are DLPack's, too */
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} gt__dl_tensor;
typedef struct gt__dl_old {
  gt__dl_tensor tensor;
  void *context;
  void (*deleter)(struct gt__dl_old *self);
} gt__dl_old;
typedef struct gt__dl_new {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct gt__dl_new *self);
  uint64_t read_only;
  gt__dl_tensor tensor;
} gt__dl_new;
enum { GT__DL_PINNED = 3 };
static const uint8_t gt__dl_code[] = {6, 1, 0, 0, 0, 0, 2, 4, 2, 2}; /* of dtypes */
GT__ASSERT(sizeof gt__dl_code == GT_DTYPES && GT_CPU == 1 && GT_CUDA == 2 &&
               sizeof gt__json_dtype / sizeof *gt__json_dtype == GT_DTYPES,
           "devices and dtypes as DLPack has them, and the names of dtypes in safetensors");
/* Lets a stream of others wait for our work on x and, with `behind`, later work of ours for all
   that it holds now. The CPU's own work is waited for here. */
static gt_status gt__meet(const gt_tensor *x, int64_t stream, int behind) {
  gt_safety before = gt__me.safety;
  if (gt__on_host(x->device)) return gt__host_access(x, 1);
  if (stream < 0) return GT_OK;
  if (gt__refuse_recorded(x->device, "it has no streams of others")) return gt__failed();
  gt_stream *s = gt__stream_new(x->device, 0, (void *)(uintptr_t)(stream ? stream : 1), 0);
  if (!s) return gt__failed();
  gt__me.safety = GT_ORDER;
  int code = gt__order_others(s, x, 1, behind);
  gt__me.safety = before;
  gt_stream_free(s);
  return gt__report(x->device, NULL, code);
}
/* -- giving: one block of memory has both structures, of which the caller gets one -- */
typedef struct {
  gt__dl_old old;
  gt__dl_new now;
  gt_tensor *x;
  int64_t stream;
} gt__lent;
static void gt__lent_end(void *context) {
  gt__lent *l = (gt__lent *)context;
  if (l->stream <= 2) gt__meet(l->x, l->stream, 1); /* others may not exist any more */
  gt__free(l->x);
  GPUTENSOR_FREE(l);
}
static void gt__lent_end_old(gt__dl_old *self) { gt__lent_end(self->context); }
static void gt__lent_end_new(gt__dl_new *self) { gt__lent_end(self->context); }
/* The handle y keeps the memory until the other side calls the deleter. */
GT_API void *gt_to_dlpack(const gt_tensor *x, int versioned, int64_t stream) {
  if (GT__NO(x) || gt__meet(x, stream, 0)) return NULL;
  if (!versioned && x->storage->constant)
    return GT__NULL(GT_ERROR_ARGUMENT,
                    "only a versioned DLPack tensor can say that it is not written to");
  gt__lent *l = (gt__lent *)gt__malloc(sizeof *l);
  gt_tensor *y = l ? gt__outside(gt__handle(x)) : NULL;
  if (!y) {
    GPUTENSOR_FREE(l);
    return NULL;
  }
  gt__dl_tensor t = {gt__address(y),
                     y->device,
                     y->ndim,
                     gt__dl_code[y->dtype],
                     (uint8_t)(8 * gt__dtype[y->dtype].size),
                     1,
                     y->shape,
                     y->stride,
                     0};
  gt__dl_old old = {t, l, gt__lent_end_old};
  gt__dl_new now = {1, 0, l, gt__lent_end_new, y->storage->constant != 0, t};
  l->old = old;
  l->now = now;
  l->x = y;
  l->stream = stream;
  return versioned ? (void *)&l->now : &l->old;
}
/* -- taking -- */
static void gt__taken_end_old(void *data, void *managed) {
  gt__dl_old *m = (gt__dl_old *)managed;
  if (m->deleter) m->deleter(m);
  (void)data;
}
static void gt__taken_end_new(void *data, void *managed) {
  gt__dl_new *m = (gt__dl_new *)managed;
  if (m->deleter) m->deleter(m);
  (void)data;
}
/* A model of t, as far as our tensors can be like it. */
static gt_status gt__dl_model(gt_tensor *x, const gt__dl_tensor *t) {
  gt_shape shape = {t->ndim, {0}};
  gt_device device = t->device;
  int d = GT_DTYPES - 1;
  for (; d >= 0; d--)
    if (gt__dl_code[d] == t->code && gt__dtype[d].size * 8 == t->bits) break;
  if (d < 0 || t->lanes != 1)
    return gt__fail(GT_ERROR_DTYPE,
                    "DLPack's dtype of code %d, %d bits and %d lanes is none of ours", t->code,
                    t->bits, t->lanes);
  if (device.type == GT__DL_PINNED) device = gt_cpu();
  if (device.type != GT_CPU && device.type != GT_CUDA)
    return gt__fail(GT_ERROR_DEVICE, "DLPack's device type %d is neither CPU, pinned nor CUDA",
                    (int)device.type);
  int n = t->ndim < GT_MAX_DIMS ? t->ndim : GT_MAX_DIMS;
  for (int k = 0; k < n; k++) shape.size[k] = t->shape[k];
  return gt__model(x, shape, (gt_dtype)d, device);
}
/* Takes over t's strides, where they count, and sets the offset. Returns how many elements lie from
   the lowest to the highest address, or -1. */
static int64_t gt__dl_extent(gt_tensor *x, const int64_t *stride) {
  int64_t above = 0, step = 0;
  if (!gt__numel(x)) return 0;
  for (int k = 0; k < x->ndim; k++) {
    if (stride && x->shape[k] > 1) x->stride[k] = stride[k];
    int bad = __builtin_mul_overflow(x->stride[k], x->shape[k] - 1, &step);
    if (step < 0) bad |= __builtin_sub_overflow(x->offset, step, &x->offset);
    else bad |= __builtin_add_overflow(above, step, &above);
    if (!bad && above < GT__MOST / 2 && x->offset < GT__MOST / 2) continue;
    gt__fail(GT_ERROR_SHAPE, "strides %s are too large", gt__sizes(x->ndim, stride));
    return -1;
  }
  return x->offset + above + 1;
}
static gt_tensor *gt__dl_take(const gt__dl_tensor *t, int64_t stream) {
  gt_tensor x;
  if (gt__dl_model(&x, t)) return NULL;
  int64_t extent = gt__dl_extent(&x, t->strides);
  if (extent < 0) return NULL;
  char *data = (char *)t->data + t->byte_offset;
  if (data) data -= x.offset * gt__dtype[x.dtype].size;
  GT__LOCAL gt_tensor *flat = gt__wrap(data, GT_SHAPE(extent), x.dtype, x.device, NULL, NULL, 0);
  if (!flat || gt__meet(flat, stream, 1)) return NULL;
  x.storage = flat->storage;
  return gt__handle(&x);
}
/* The storage calls their deleter when its last handle ends; on failure it is called at once. */
GT_API gt_tensor *gt_from_dlpack(void *managed, int versioned, int64_t stream) {
  GT__CALL;
  gt__dl_new *now = (gt__dl_new *)managed;
  gt__dl_old *old = (gt__dl_old *)managed;
  gt_tensor *x = NULL;
  if (!managed) return gt__me.status ? NULL : GT__NULL(GT_ERROR_ARGUMENT, "managed is NULL");
  if (versioned && now->major != 1)
    gt__fail(GT_ERROR_VERSION, "DLPack's version %u is not 1", (unsigned)now->major);
  else x = gt__dl_take(versioned ? &now->tensor : &old->tensor, stream);
  gt__deleter *end = versioned ? gt__taken_end_new : gt__taken_end_old;
  if (!x) {
    end(NULL, managed);
    return NULL;
  }
  x->storage->constant = versioned && (now->read_only & 1);
  x->storage->deleter = end;
  x->storage->context = managed;
  return x;
}

/* ---- >>print -----------------------------------------------------------------------------------
   A tensor as PyTorch 2 prints it with its default options, which are these. */
enum { GT__PRINT_DIGITS = 4 }; /* behind the point */
enum { GT__PRINT_COLUMNS = 80 };
enum { GT__PRINT_ALL = 1000 }; /* elements; of larger tensors the edges are printed */
enum { GT__PRINT_EDGE = 3 };   /* entries at each end of a dim */
enum { GT__PRINT_INDENT = sizeof "tensor(" - 1 };
typedef struct {
  const gt_tensor *x;
  gt_shape shown; /* what is shown of x, and on the host as float64 or int64 */
  const gt__num *value;
  int64_t count, next;            /* of these elements: how many, and the one to be printed next */
  int width, integer, scientific; /* of floating dtypes: "1." for all, "1.0000e+00" for all */
  char number[64];                /* the longest is -9223372036854775808 */
  char *text;
  size_t n, room;
  int failed; /* out of memory; what follows is dropped */
} gt__printer;
/* Adds a text of less than 256 characters. */
GT__PRINTF(2, 3) static void gt__print_text(gt__printer *t, const char *format, ...) {
  va_list list;
  if (t->room - t->n < 256) {
    t->room = 2 * t->room + 512;
    char *text = (char *)GPUTENSOR_REALLOC(t->text, t->room);
    if (text) t->text = text;
    else t->failed = 1;
  }
  if (t->failed) return;
  va_start(list, format);
  t->n += vsnprintf(t->text + t->n, 256, format, list);
  va_end(list);
}
/* Element i as text, in the format that gt__choose_format chose. */
static const char *gt__format(gt__printer *t, int64_t i) {
  gt__num v = t->value[i];
  if (t->x->dtype == GT_BOOL) return v.i ? "True" : "False";
  if (!gt__is_floating(t->x->dtype))
    return snprintf(t->number, sizeof t->number, "%lld", (long long)v.i), t->number;
  if (v.f != v.f) return "nan";
  if (v.f - v.f != 0) return v.f < 0 ? "-inf" : "inf";
  int digits = t->integer && !t->scientific ? 0 : GT__PRINT_DIGITS;
  snprintf(t->number, sizeof t->number, t->scientific ? "%.*e" : "%.*f", digits, v.f);
  /* The locale's decimal point, of one byte or more, becomes ours; without one ours is added. */
  char *point = t->number + strspn(t->number, "-0123456789");
  const char *rest = point + strcspn(point, "0123456789");
  memmove(point + 1, rest, strlen(rest) + 1);
  *point = '.';
  return t->number;
}
/* Zeros, NaN and infinities have no say. */
static int gt__has_say(double x) { return x != 0 && x - x == 0; }
/* PyTorch's choice, by the least and the greatest number: 1., 1.5000 or 1.5000e+00 for all; and the
   width of the widest. */
static void gt__choose_format(gt__printer *t) {
  int floating = gt__is_floating(t->x->dtype);
  double least = HUGE_VAL, most = 0;
  t->integer = 1;
  for (int64_t i = 0; i < t->count && floating; i++) {
    double x = t->value[i].f, size = fabs(x);
    if (!gt__has_say(x)) continue;
    most = fmax(most, size);
    least = fmin(least, size);
    if (x != gt__trunc_f64(x)) t->integer = 0;
  }
  t->scientific = most / least > 1000 || most > 1e8 || (!t->integer && least < 1e-4);
  t->width = 1;
  for (int64_t i = 0; i < t->count; i++) {
    if (floating && !gt__has_say(t->value[i].f)) continue;
    int n = strlen(gt__format(t, i));
    if (n > t->width) t->width = n;
  }
}
static void gt__print_level(gt__printer *t, int dim) { /* from element `next` on */
  int inner = t->shown.ndim - 1 - dim, indent = GT__PRINT_INDENT + dim;
  int room = (GT__PRINT_COLUMNS - indent) / (t->width + 2), per_line = room < 1 ? 1 : room;
  if (inner < 0) {
    gt__print_text(t, "%*s", t->width, gt__format(t, t->next++));
    return;
  }
  int64_t n = t->shown.size[dim];
  int cut = n < t->x->shape[dim];
  gt__print_text(t, "[");
  for (int64_t i = 0; i < n + cut; i++) {
    int breaks = inner ? inner : i % per_line == 0;
    if (i > 0)
      gt__print_text(t, ",%.*s%*s", breaks, "\n\n\n\n\n\n\n\n", breaks ? indent + 1 : 1, "");
    if (cut && i == GT__PRINT_EDGE) gt__print_text(t, inner ? "..." : " ...");
    else gt__print_level(t, dim + 1);
  }
  gt__print_text(t, "]");
}
/* A line that would grow too long breaks before a suffix. */
static void gt__print_suffix(gt__printer *t, int *column, const char *format, const char *value) {
  char text[200];
  int n = snprintf(text, sizeof text, format, value);
  const char *before = ", ";
  if (*column + n + 2 > GT__PRINT_COLUMNS) {
    before = ",\n       ";
    *column = GT__PRINT_INDENT - 2;
  }
  gt__print_text(t, "%s%s", before, text);
  *column += n + 2;
}
/* Suffixes are PyTorch's, without a dtype's torch. */
static void gt__print_suffixes(gt__printer *t) {
  const gt_tensor *x = t->x;
  int inferred = t->count && (x->dtype == GT_INT64 || x->dtype == GT_BOOL);
  const char *last = strrchr(t->text, '\n');
  int column = 2 + strlen(last ? last + 1 : t->text);
  if (!gt__on_host(x->device))
    gt__print_suffix(t, &column, "device='%s'", gt_device_string(x->device));
  if (!t->count && x->ndim != 1) gt__print_suffix(t, &column, "size=%s", gt__shape_text(x));
  if (x->dtype != GT_FLOAT32 && !inferred)
    gt__print_suffix(t, &column, "dtype=%s", gt_dtype_string(x->dtype));
}
/* Copies src into dst; where dst is smaller, the first and last entries of src. */
static gt_status gt__copy_edges(gt_tensor *dst, const gt_tensor *src, int dim) {
  while (dim < src->ndim && dst->shape[dim] == src->shape[dim]) dim++;
  if (dim == src->ndim) return gt__copy_into(dst, src);
  gt_tensor to = gt__plain(dst), from = gt__plain(src);
  to.shape[dim] = GT__PRINT_EDGE;
  from.shape[dim] = GT__PRINT_EDGE;
  if (gt__copy_edges(&to, &from, dim + 1)) return gt__failed();
  to.offset += GT__PRINT_EDGE * to.stride[dim];
  from.offset += (src->shape[dim] - GT__PRINT_EDGE) * from.stride[dim];
  return gt__copy_edges(&to, &from, dim + 1);
}
/* Makes t->text, to be freed also on failure. */
GT__COLD static gt_status gt__print(gt__printer *t, const gt_tensor *x) {
  memset(t, 0, sizeof *t);
  GT__STRICT;
  if (gt__refuse_one(x)) return gt__failed();
  t->x = x;
  t->shown = gt__shape_of(x);
  for (int d = 0; d < x->ndim && gt__numel(x) > GT__PRINT_ALL; d++)
    if (x->shape[d] > 2 * GT__PRINT_EDGE) t->shown.size[d] = 2 * GT__PRINT_EDGE;
  gt_dtype dtype = gt__is_floating(x->dtype) ? GT_FLOAT64 : GT_INT64;
  GT__LOCAL gt_tensor *host = gt__new(t->shown, dtype, gt_cpu(), 0);
  if (!host || gt__copy_edges(host, x, 0) || gt__host_access(host, 0)) return gt__failed();
  t->count = gt__numel(host);
  t->value = (const gt__num *)gt__address(host);
  gt__choose_format(t);
  gt__print_text(t, t->count ? "tensor(" : "tensor([]");
  if (t->count) gt__print_level(t, 0);
  if (!t->failed) gt__print_suffixes(t);
  gt__print_text(t, ")");
  return t->failed ? gt__fail(GT_ERROR_MEMORY, "out of memory") : GT_OK;
}
GT_API gt_status gt_fprint(FILE *file, const gt_tensor *x) {
  gt__me.call = "gt_print";
  gt__printer t;
  gt_status status = gt__print(&t, x);
  if (!file) gt__me.call = "gt_fprint";
  if (!status && !file) status = gt__fail(GT_ERROR_ARGUMENT, "the file is NULL");
  if (!status && fprintf(file, "%s\n", t.text) < 0)
    status = gt__fail(GT_ERROR_FILE, "%s", strerror(errno));
  GPUTENSOR_FREE(t.text);
  return status;
}
GT_API gt_status gt_print(const gt_tensor *x) { return gt_fprint(stdout, x); }
GT_API int64_t gt_to_string(const gt_tensor *x, char *text, size_t size) {
  GT__CALL;
  gt__printer t;
  int64_t length = gt__print(&t, x) ? -1 : (int64_t)t.n;
  if (text) snprintf(text, size, "%s", length > 0 ? t.text : "");
  GPUTENSOR_FREE(t.text);
  return length;
}
GT__FLAGS_END

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wunused-parameter" /* all back ends' functions have the same ones */
/* ---- >>cpu-threads -----------------------------------------------------------------------------
   An operation is divided into items, which may be done in any order, and its threads take them.
   Each thread first works on its own share of the items, the same share as in the last call, which
   may still be in its cache; then it takes items from the others' shares, as cores may differ in
   speed. Results never depend on it. */
GT__INSIDE int64_t gt__cpu_bytes(const gt__operand *x) { return (int64_t)1 << x->size_log2; }
static char *gt__cpu_at(const gt__operand *x, int64_t i, int ndim, const int64_t *size) {
  return x->data + gt__offset(i, ndim, size, x->stride) * gt__cpu_bytes(x);
}
typedef struct {
  int64_t begin, end;
  char *own; /* the thread's scratch */
} gt__cpu_range;
typedef void (*gt__cpu_task)(const void *context, gt__cpu_range items);
#define GT__CPU_PARALLEL 65536     /* steps worth waking threads for: some microseconds */
enum { GT__CPU_SPARE = 25 << 10 }; /* bytes of scratch on a stack */
enum { GT__MOST_SHARES = 64 };
static __thread int gt__cpu_share; /* of a stream's thread: how many streams share the cores */
static __thread int gt__cpu_wide;  /* its operation would take several cores, but shares them */
static int gt__cpu_most;           /* threads, if the program has said how many; else 0 */
static inline int gt__cpu_available(void) {
#ifdef _OPENMP
  const int most = __atomic_load_n(&gt__cpu_most, __ATOMIC_RELAXED);
  return most ? most : omp_get_max_threads();
#else
  return 1;
#endif
}
static int gt__cpu_threads(double work) {
#ifdef _OPENMP
  if (work >= GT__CPU_PARALLEL && !gt__forked && !omp_in_parallel()) {
    const int n = gt__cpu_available() / (gt__cpu_share > 1 ? gt__cpu_share : 1);
    gt__cpu_wide = gt__cpu_share > 1;
    return n > 1 ? n : 1;
  }
#endif
  (void)work;
  return 1;
}
/* Steps of a program over all its elements, about; a heavy one counts for sixteen. */
static double gt__cpu_work(const gt__map_args *m) {
  return (double)m->count * (m->program.n_ins + (m->program.heavy ? 16 : 0));
}
/* Stores past the caches are seen before what follows. */
static void gt__cpu_fence(void) {
#ifdef __SSE2__
  __asm__ volatile("sfence" : : : "memory");
#endif
}
#ifdef _OPENMP
typedef struct {
  gt__cpu_task task;
  const void *context;
  int64_t items, each; /* each: that a thread takes at once */
  int shares;
  int64_t next[GT__MOST_SHARES][8]; /* of a share, on a line of the caches of its own */
} gt__cpu_sharing;
/* Takes the next items of a share that ends at `end`; 0: there are none. To read before adding
   leaves the line of a finished share in all caches: 128^3 takes 16 threads 8 us, was 13. */
static int gt__cpu_take(const gt__cpu_sharing *s, int64_t *next, int64_t end,
                        gt__cpu_range *range) {
  if (__atomic_load_n(next, __ATOMIC_RELAXED) >= end) return 0;
  range->begin = __atomic_fetch_add(next, s->each, __ATOMIC_RELAXED);
  range->end = gt__least(range->begin + s->each, end);
  return range->begin < end;
}
static void gt__cpu_take_all(gt__cpu_sharing *s, int me, int helps, char *own) {
  gt__cpu_range range = {0, 0, own};
  for (int i = 0; i < (helps ? s->shares : 1); i++) {
    const int share = (me + i) % s->shares;
    const int64_t end = s->items * (share + 1) / s->shares;
    while (gt__cpu_take(s, s->next[share], end, &range)) s->task(s->context, range);
  }
}
/* memory: scratch of all threads, `own` bytes each, or NULL: their stacks have room for it. */
static void gt__cpu_share_out(gt__cpu_task task, const void *context, int64_t items, int threads,
                              char *memory, size_t own) {
  gt__cpu_sharing s;
  s.task = task;
  s.context = context;
  s.items = items;
  s.each = gt__div_up(items, 16 * threads);
  s.shares = threads < GT__MOST_SHARES ? threads : (int)GT__MOST_SHARES;
  for (int64_t i = 0; i < s.shares; i++) *s.next[i] = items * i / s.shares;
#pragma omp parallel num_threads(threads)
  {
    char spare[GT__CPU_SPARE] __attribute__((aligned(64)));
    GT__STRICT;
    const int me = omp_get_thread_num();
    const int helps = items > s.shares || omp_get_num_threads() < s.shares; /* else each has one */
    gt__cpu_take_all(&s, me, helps, memory ? memory + (size_t)me * own : spare);
    gt__cpu_fence();
  }
}
#endif
/* Each thread has `own` bytes of scratch, on a line of the caches. What a task needs comes from
   there, since the stacks of threads may be small: musl gives them 128 KiB. */
static int gt__cpu_split(gt__cpu_task task, const void *context, int64_t items, int threads,
                         size_t own) {
  char spare[GT__CPU_SPARE] __attribute__((aligned(64)));
  char *memory = NULL, *scratch = spare;
  if (items <= 1) threads = 1;
  if (own > GT__CPU_SPARE) {
    memory = (char *)GPUTENSOR_MALLOC((size_t)threads * own + 64);
    if (!memory) return GT__CPU_NO_MEMORY;
    scratch = memory + (64 - ((uintptr_t)memory & 63));
  }
  const gt__cpu_range all = {0, items, scratch};
  if (threads <= 1 && items > 0) task(context, all);
#ifdef _OPENMP
  if (threads > 1) gt__cpu_share_out(task, context, items, threads, memory ? scratch : NULL, own);
#endif
  gt__cpu_fence();
  if (memory) GPUTENSOR_FREE(memory);
  return 0;
}
/* Bytes to memory. A result of so many has left the caches before it is read again, so it goes past
   them, and memory is not read first for what is overwritten: add 1.4, relu 1.6, a cast to float32
   1.9 times as fast on a Xeon. Not if it is fresh: then the system's zeros are in the caches. */
enum { GT__PAST_CACHES = 1 << 26 };
static void gt__cpu_lay(char *to, const char *from, int64_t bytes, int past) {
  int64_t i = past ? gt__least((int64_t)(-(uintptr_t)to & 63), bytes) : bytes;
  memcpy(to, from, (size_t)i);
#ifdef __SSE2__
  typedef long long gt__16_bytes __attribute__((vector_size(16), may_alias));
  for (; i <= bytes - 64; i += 64) { /* a whole line at once: others are read first */
    gt__16_bytes line[4];
    memcpy(line, from + i, sizeof line);
    for (gt__16_bytes *x = line; x < line + 4; x++) {
      gt__16_bytes *place = (gt__16_bytes *)(void *)(to + i) + (x - line);
      __asm__("movntdq %1, %0" : "=m"(*place) : "x"(*x));
    }
  }
#endif
  memcpy(to + i, from + i, (size_t)(bytes - i));
}
enum { GT__COPY_BYTES = 512 };
static void gt__cpu_bytes_task(const void *context, gt__cpu_range items) {
  const gt__copy_args *c = (const gt__copy_args *)context;
  const int64_t begin = items.begin * GT__COPY_BYTES;
  const int64_t bytes = gt__least(items.end * GT__COPY_BYTES, c->bytes) - begin;
  gt__cpu_lay(c->dst.data + begin, c->src.data + begin, bytes, c->bytes >= GT__PAST_CACHES);
}
static int gt__cpu_copy_bytes(char *to, char *from, int64_t bytes, int threads) {
  gt__copy_args c;
  c.dst.data = to;
  c.src.data = from;
  c.bytes = bytes;
  const int64_t items = gt__div_up(bytes, GT__COPY_BYTES);
  return gt__cpu_split(gt__cpu_bytes_task, &c, items, threads, 0);
}

/* ==== Part I, plainly ==== */
/* ---- >>cpu-plain -------------------------------------------------------------------------------
   The primitives, one element after the other: the DEFINITION of what each operation computes,
   with which every faster way is compared. There is nothing else with GPUTENSOR_PLAIN, and it runs
   where the processor lacks the vector instructions of the faster ways. */
typedef int16_t gt__i16 __attribute__((may_alias));
typedef uint16_t gt__u16 __attribute__((may_alias));
typedef int32_t gt__i32 __attribute__((may_alias));
typedef uint32_t gt__u32 __attribute__((may_alias));
typedef uint64_t gt__u64 __attribute__((may_alias));
typedef int64_t gt__i64 __attribute__((may_alias));
typedef float gt__f32 __attribute__((may_alias));
typedef double gt__f64 __attribute__((may_alias));
/* clang-format off */
/* A dtype, its type in memory, which may alias others, the formula of a value from `a` in memory,
   and that of what goes to memory from a value `a`. GT__EITHER(f, i): f for floats, else i. */
#define GT__CLIP(lo, hi) GT__EITHER(GT__F(to_i32)(a, lo, hi), a)
#define GT__SINGLE(v) GT__EITHER(v, gt__to_i64_f32(v, INT64_MIN, INT64_MAX))
#define GT__MEMORY_TYPES(X) \
  X(BOOL, uint8_t, a != 0, a != 0) \
  X(UINT8, uint8_t, a, GT__CLIP(0, 255)) \
  X(INT8, int8_t, a, GT__CLIP(-128, 127)) \
  X(INT16, gt__i16, a, GT__CLIP(-32768, 32767)) \
  X(INT32, gt__i32, a, GT__CLIP(INT32_MIN, INT32_MAX)) \
  X(INT64, gt__i64, a, GT__EITHER(GT__F(to_i64)(a, INT64_MIN, INT64_MAX), a)) \
  X(FLOAT16, gt__u16, GT__SINGLE(gt__f16_to_f32(a)), gt__f32_to_f16(GT__F(odd)(a))) \
  X(BFLOAT16, gt__u16, GT__SINGLE(gt__bf16_to_f32(a)), gt__f32_to_bf16(GT__F(odd)(a))) \
  X(FLOAT32, gt__f32, GT__SINGLE(a), a) \
  X(FLOAT64, gt__f64, GT__EITHER(a, gt__to_i64_f64(a, INT64_MIN, INT64_MAX)), a)
GT__EACH_DTYPE(GT__MEMORY_TYPES(GT__ONE_MORE), "each dtype has a row in GT__MEMORY_TYPES");
#define GT__LOADS(dtype, M, value, memory) \
  case GT_##dtype: { \
    const M a = *(const M *)p; \
    v.VALUE = (T)(value); \
    break; \
  }
#define GT__STORES(dtype, M, value, memory) \
  case GT_##dtype: *(M *)p = (M)(memory); break;
#define GT__APPLIES(name, arity, result, cost, f, integer) \
  case GT__OP_##name: x.VALUE = (T)(GT__EITHER(f, integer)); break;
/* clang-format on */
/* x86 without fused multiply-adds emulates them: an exp of float64 takes 2 us. There the C library
   computes functions, as exactly, but not to the same bits. */
#if defined(__x86_64__) && !defined(__FMA__)
#define GT__LIBM_1(name) \
  case GT__OP_##name: *out = (name)(a); break;                     /* no macro of tgmath.h */
static int gt__cpu_libm(int op, double a, double b, double *out) { /* 0: it has not done it */
  if (__builtin_cpu_supports("fma")) return 0;
  /* clang-format off */
  switch (op) {
    GT__LIBM_1(exp) GT__LIBM_1(exp2) GT__LIBM_1(expm1) GT__LIBM_1(log) GT__LIBM_1(log2)
    GT__LIBM_1(log10) GT__LIBM_1(log1p) GT__LIBM_1(sin) GT__LIBM_1(cos) GT__LIBM_1(tan)
    GT__LIBM_1(asin) GT__LIBM_1(acos) GT__LIBM_1(atan) GT__LIBM_1(sinh) GT__LIBM_1(cosh)
    GT__LIBM_1(tanh) GT__LIBM_1(erf)
    case GT__OP_pow: *out = (pow)(a, b); break;
    case GT__OP_atan2: *out = (atan2)(a, b); break;
    case GT__OP_hypot: *out = (hypot)(a, b); break;
    default: return 0;
  }
  /* clang-format on */
  return 1;
}
#undef GT__LIBM_1
#else
#define gt__cpu_libm(op, a, b, out) 0
#endif
/* What the primitives need of a compute type, whose values are the s, f or i of a gt__num. */
typedef struct {
  int width;       /* bytes */
  gt_dtype native; /* of its values */
  gt__num (*load)(int dtype, const void *p);
  void (*store)(int dtype, void *p, gt__num v);
  gt__num (*apply)(int op, gt__num a, gt__num b, gt__num c); /* THE TABLE */
  gt__num (*make)(const gt__program *p, int op, int64_t i, gt__num low, gt__num range);
  gt__num (*identity)(int fold);
  gt__num (*fold)(int fold, gt__num a, gt__num b);
  int (*wins)(int fold, gt__num a, gt__num b);
  gt__num (*scan)(int fold, void *level, int64_t k, gt__num x); /* THE SCAN */
  void (*row)(void *sums, const void *a, const void *b);        /* of a product */
  void (*take)(int fold, int first, void *sums, int dtype, const char *from, int64_t step,
               int64_t n);
} gt__cpu_numbers;
enum { GT__PLAIN_ROWS = 128 }; /* of a product's blocks */
enum { GT__PLAIN_COLUMNS = 256 };
enum { GT__PLAIN_DEPTH = 64 };
#endif /* GPUTENSOR_IMPLEMENTATION */
#endif /* GT__MAIN: what follows, up to the next one, is the text for one type */
#if GT__EXCERPT == GT__NUMBERS
#define GT__F F
#if GT__TYPE == 0
#define GT__EITHER(f, i) i
#define VALUE i
#define DTYPE GT_INT64
#else
#define GT__EITHER(f, i) f
#endif
#if GT__TYPE == 32
#define VALUE s
#define DTYPE GT_FLOAT32
#endif
#if GT__TYPE == 64
#define VALUE f
#define DTYPE GT_FLOAT64
#endif
static gt__num F(cpu_load)(int dtype, const void *p) {
  gt__num v = {0};
  switch (dtype) { GT__MEMORY_TYPES(GT__LOADS) }
  return v;
}
static void F(cpu_store)(int dtype, void *p, gt__num v) {
  const T a = v.VALUE;
  switch (dtype) { GT__MEMORY_TYPES(GT__STORES) }
}
#if GT__TYPE
GT__RARELY static T F(cpu_angle)(T x, U which) { return F(trig)(x, which, 1); }
#endif
#define GT__ANGLE(which) F(cpu_angle)(a, which)
/* An operation of THE TABLE on single numbers. */
GT__COLD GT__RARELY static gt__num F(cpu_apply)(int op, gt__num x, gt__num y, gt__num z) {
  const T a = x.VALUE, b = y.VALUE, c = z.VALUE;
  (void)b, (void)c;
#if GT__TYPE == 64
  if (gt__cpu_libm(op, a, b, &x.VALUE)) return x;
#endif
  switch (op) { GT__OPERATIONS(GT__APPLIES) }
  return x;
}
/* A value that depends on its element's logical index i. */
static gt__num F(cpu_make)(const gt__program *p, int op, int64_t i, gt__num low, gt__num range) {
  const uint64_t counter = p->offset + (uint64_t)i;
  gt__num v = {0};
  (void)low, (void)range;
  if (op == GT__INDEX) v.VALUE = (T)i;
  else
    v.VALUE = GT__EITHER(F(random)(op, p->seed, counter),
                         gt__random_i64(p->seed, counter, low.i, range.i));
  return v;
}
static gt__num F(cpu_identity)(int fold) {
  gt__num v = {0};
  v.VALUE = F(identity)(fold);
  return v;
}
static gt__num F(cpu_fold)(int fold, gt__num a, gt__num b) {
  a.VALUE = F(fold)(fold, a.VALUE, b.VALUE);
  return a;
}
/* argmax, argmin: does b win over a, which stands before it? The first NaN wins over all others. */
static int F(cpu_wins)(int fold, gt__num a, gt__num b) {
  const T x = a.VALUE, y = b.VALUE;
  if (GT__EITHER(y != y, 0)) return GT__EITHER(x == x, 1);
  return fold == GT__FOLD_ARGMIN ? y < x : y > x;
}
static gt__num F(cpu_scan)(int fold, void *level, int64_t k, gt__num x) {
  x.VALUE = F(scan)(fold, (T(*)[2])level + 1, k, x.VALUE);
  return x;
}
/* A row of C takes in a row of A times a submatrix of B, of which four rows at a time. */
static GT__LIGHTLY("off") void F(cpu_row)(void *sums, const void *of_a, const void *of_b) {
  typedef GT__EITHER(T, uint64_t) S; /* which wraps */
  const int n = GT__PLAIN_COLUMNS;
  S *__restrict c = (S *)sums;
  const S *a = (const S *)of_a, *__restrict b = (const S *)of_b;
  for (int k = 0; k < GT__PLAIN_DEPTH; k += 4, a += 4, b += 4 * n)
    for (int j = 0; j < n; j++) {
      const S two = a[0] * b[j] + a[1] * b[n + j];
      const S more = a[2] * b[2 * n + j] + a[3] * b[3 * n + j];
      c[j] += two + more;
    }
}
/* Each of n sums takes in an element; `first`: it begins with that. */
static GT__LIGHTLY("off") void F(cpu_take)(int fold, int first, void *sums, int dtype,
                                           const char *from, int64_t step, int64_t n) {
  T *to = (T *)sums;
  step *= gt__dtype[dtype].size;
  for (; n > 0; n--, to++, from += step) {
    const T before = first ? F(identity)(fold) : *to;
    *to = F(fold)(fold, before, F(cpu_load)(dtype, from).VALUE);
  }
}
static const gt__cpu_numbers F(cpu_numbers) = {
    sizeof(T),       DTYPE,                                   /* and functions */
    F(cpu_load),     F(cpu_store), F(cpu_apply), F(cpu_make), /* of a value */
    F(cpu_identity), F(cpu_fold),  F(cpu_wins),  F(cpu_scan), /* of folds */
    F(cpu_row),      F(cpu_take)};                            /* of many values */
#undef VALUE
#undef DTYPE
#undef GT__ANGLE
#undef GT__EITHER
#undef GT__F
#undef GT__TYPE
#endif
#if GT__EXCERPT == GT__MAIN
#ifdef GPUTENSOR_IMPLEMENTATION
#undef GT__EXCERPT
#define GT__NUMBERS 10
#define GT__EXCERPT GT__NUMBERS
#define GT__TYPE 32
#include GPUTENSOR_FILE
#define GT__TYPE 64
#include GPUTENSOR_FILE
#define GT__TYPE 0
#include GPUTENSOR_FILE
#undef GT__EXCERPT
#define GT__EXCERPT GT__MAIN
#undef GT__APPLIES
#undef GT__LOADS
#undef GT__STORES
static const gt__cpu_numbers *const gt__cpu_types[] = {&gt__cpu_numbers_f32, &gt__cpu_numbers_f64,
                                                       &gt__cpu_numbers_i64}; /* by compute type */

/* -- map: the accumulator machine (see >>machine). Slots: inputs, constants, temporaries. -- */
static void gt__cpu_set_constants(const gt__program *p, gt__num slot[GT__SLOTS]) {
  memset(slot, 0, GT__SLOTS * sizeof *slot);
  memcpy(slot + p->n_in, p->constant, p->n_const * sizeof *slot);
}
/* The program's value for element i. Inputs from number `given` on are loaded. */
static gt__num gt__cpu_evaluate(const gt__map_args *m, gt__num *slot, int given, int64_t i) {
  const gt__program *p = &m->program;
  const gt__cpu_numbers *t = gt__cpu_types[p->compute];
  for (int k = given; k < p->n_in; k++) {
    const gt__operand *in = &m->in[k];
    slot[k] = t->load(in->dtype, gt__cpu_at(in, i, m->ndim, m->size));
  }
  gt__num acc = slot[0];
  for (const gt__ins *x = p->ins; x < p->ins + p->n_ins; x++) {
    const gt__num b = slot[x->b], c = slot[x->c];
    if (x->op == GT__LOAD) acc = b;
    else if (x->op == GT__SAVE) slot[x->d] = acc;
    else if (x->op <= GT__INTEGER) acc = t->make(p, x->op, i, b, c);
    else acc = t->apply(x->op, acc, b, c);
  }
  return acc;
}
static void gt__cpu_store_element(const gt__map_args *m, int64_t i, gt__num v) {
  const gt__cpu_numbers *t = gt__cpu_types[m->program.compute];
  t->store(m->out.dtype, gt__cpu_at(&m->out, i, m->ndim, m->size), v);
}
static void gt__cpu_plain_map_task(const void *context, gt__cpu_range items) {
  const gt__map_args *m = (const gt__map_args *)context;
  gt__num slot[GT__SLOTS];
  gt__cpu_set_constants(&m->program, slot);
  for (int64_t i = items.begin; i < items.end; i++)
    gt__cpu_store_element(m, i, gt__cpu_evaluate(m, slot, 0, i));
}
static int gt__cpu_plain_map(const gt__op *op, void *queue) {
  const gt__map_args *m = &op->u.map;
  const int threads = gt__cpu_threads(gt__cpu_work(m));
  return gt__cpu_split(gt__cpu_plain_map_task, m, m->count, threads, 0);
}

/* -- reduce: THE PLAN of >>machine. Of each output the n elements are cut into chunks. A chunk has
   256 lanes if the last dim is folded, which take its elements one after the other and then combine
   by halving; else one. The chunks' values combine pairwise, a last odd one is carried up. With
   five chunks:

     chunks   0   1   2   3   4        A node over `count` chunks has under it the largest power of
               \ /     \ /    |        two below `count` on the left, and the rest on the right:
               01      23     |        so the tree is a recursive function.
                 \    /       |
                  0123        |        Where there are few outputs, threads first make the values of
                      \      /         groups, nodes over the same number of chunks each, a power of
                       01234           two, and then the rest of the tree above them. */
typedef struct {
  gt__num value;
  int64_t index; /* argmax, argmin: where it stands among the n */
} gt__partial;
typedef struct {
  const gt__reduce_args *r;
  const gt__cpu_numbers *type;
  gt__num slot[GT__SLOTS];
  const gt__num *row;     /* the values of an output's elements, if they are known; else NULL */
  gt__partial *partial;   /* of [outer][n_group]: of each group, if known; else NULL */
  int64_t group, n_group; /* chunks of a group; groups */
} gt__cpu_tree;
static gt__partial gt__cpu_combine(const gt__cpu_tree *t, gt__partial a, gt__partial b) {
  const int fold = t->r->fold;
  if (!gt__finds_index(fold)) a.value = t->type->fold(fold, a.value, b.value);
  else if (t->type->wins(fold, a.value, b.value)) a = b;
  return a;
}
/* Where the first of equals is sought, one lane does as well as many. */
static gt__partial gt__cpu_chunk_of(gt__cpu_tree *t, int64_t o, int64_t chunk) {
  const gt__reduce_args *r = t->r;
  const int64_t begin = chunk * r->chunk;
  const int64_t n = gt__least(r->chunk, r->n - begin);
  const int many = r->inner && !gt__finds_index(r->fold);
  const gt__partial first = {t->type->identity(r->fold), begin};
  gt__partial lane[GT__LANES];
  int64_t lanes = 1;
  while (many && lanes < n && lanes < GT__LANES) lanes *= 2;
  for (int64_t i = 0; i < lanes; i++) lane[i] = first;
  for (int64_t k = begin; k < begin + n; k++) {
    gt__partial *x = &lane[(k - begin) % lanes];
    gt__partial next;
    next.index = k;
    if (t->row) next.value = t->row[k];
    else next.value = gt__cpu_evaluate(&r->pre, t->slot, 0, o * r->n + k);
    *x = gt__cpu_combine(t, *x, next);
  }
  for (int64_t half = lanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) {
      const gt__partial behind = lane[i + half];
      lane[i] = gt__cpu_combine(t, lane[i], behind);
    }
  return lane[0];
}
/* The value of the node over `count` chunks, or groups, of output o. */
static gt__partial gt__cpu_node(gt__cpu_tree *t, int64_t o, int64_t first, int64_t count) {
  int64_t half = 1;
  if (count == 1 && t->partial) return t->partial[o * t->n_group + first];
  if (count == 1) return gt__cpu_chunk_of(t, o, first);
  while (2 * half < count) half *= 2;
  const gt__partial left = gt__cpu_node(t, o, first, half);
  const gt__partial right = gt__cpu_node(t, o, first + half, count - half);
  return gt__cpu_combine(t, left, right);
}
/* A sum becomes a mean, one of squares a root; then the result goes to memory. */
static void gt__cpu_plain_finish(const gt__cpu_tree *t, int64_t o, gt__partial p) {
  const gt__reduce_args *r = t->r;
  const gt__operand *out = &r->out;
  const gt__cpu_numbers *type = gt__finds_index(r->fold) ? &gt__cpu_numbers_i64 : t->type;
  gt__num v = p.value;
  if (gt__finds_index(r->fold)) v.i = p.index;
  if (r->finish & GT__DIVIDE) v = type->apply(GT__OP_div, v, r->divisor, v);
  if (r->finish & GT__ROOT) v = type->apply(GT__OP_sqrt, v, v, v);
  type->store(out->dtype, gt__cpu_at(out, o, r->n_kept, r->pre.size), v);
}
static void gt__cpu_plain_group_task(const void *context, gt__cpu_range items) {
  gt__cpu_tree t = *(const gt__cpu_tree *)context;
  gt__partial *const partial = t.partial;
  t.partial = NULL;
  for (int64_t item = items.begin; item < items.end; item++) {
    const int64_t first = item % t.n_group * t.group;
    const int64_t count = gt__least(t.group, t.r->n_chunk - first);
    partial[item] = gt__cpu_node(&t, item / t.n_group, first, count);
  }
}
static void gt__cpu_plain_reduce_task(const void *context, gt__cpu_range items) {
  gt__cpu_tree t = *(const gt__cpu_tree *)context;
  const int64_t nodes = t.partial ? t.n_group : t.r->n_chunk;
  for (int64_t o = items.begin; o < items.end; o++)
    gt__cpu_plain_finish(&t, o, gt__cpu_node(&t, o, 0, nodes));
}
/* softmax and its like: row by row, of which the differences from the maximum, and their
   exponentials, are kept. */
static void gt__cpu_plain_soft_row(gt__cpu_tree *t, int64_t o, gt__num *less, gt__num *exps) {
  const gt__reduce_args *r = t->r;
  const gt__cpu_numbers *type = t->type;
  const gt__num zero = {0};
  gt__num most = type->identity(GT__FOLD_MAX);
  for (int64_t k = 0; k < r->n; k++) {
    less[k] = gt__cpu_evaluate(&r->pre, t->slot, 0, o * r->n + k);
    most = type->fold(GT__FOLD_MAX, most, less[k]);
  }
  if (r->soft == GT__LOGSUMEXP) /* 0 if it is infinite */
    most = type->apply(GT__OP_where, type->apply(GT__OP_isinf, most, zero, zero), zero, most);
  for (int64_t k = 0; k < r->n; k++) {
    less[k] = type->apply(GT__OP_sub, less[k], most, zero);
    exps[k] = type->apply(GT__OP_exp, less[k], zero, zero);
  }
  t->row = exps;
  gt__partial sum = gt__cpu_node(t, o, 0, r->n_chunk);
  const gt__num log = type->apply(GT__OP_log, sum.value, zero, zero);
  for (int64_t k = 0; k < r->n && r->soft != GT__LOGSUMEXP; k++) {
    if (r->soft == GT__SOFTMAX) exps[k] = type->apply(GT__OP_div, exps[k], sum.value, zero);
    else exps[k] = type->apply(GT__OP_sub, less[k], log, zero);
    gt__cpu_store_element(&r->pre, o * r->n + k, exps[k]);
  }
  sum.value = type->apply(GT__OP_add, log, most, zero);
  if (r->soft == GT__LOGSUMEXP) gt__cpu_plain_finish(t, o, sum);
}
static void gt__cpu_plain_soft_task(const void *context, gt__cpu_range items) {
  gt__cpu_tree t = *(const gt__cpu_tree *)context;
  gt__num *row = (gt__num *)(void *)items.own;
  for (int64_t o = items.begin; o < items.end; o++)
    gt__cpu_plain_soft_row(&t, o, row, row + t.r->n);
}
enum { GT__PLAIN_GROUPS = 32 }; /* that few outputs, or groups, are worth an item each */
static int gt__cpu_plain_reduce(const gt__op *op, void *queue) {
  const gt__reduce_args *r = &op->u.reduce;
  const int threads = gt__cpu_threads(gt__cpu_work(&r->pre));
  gt__partial partial[GT__PLAIN_GROUPS * GT__PLAIN_GROUPS];
  gt__cpu_tree t = {r, gt__cpu_types[r->pre.program.compute], {{0}}, NULL, NULL, 1, 1};
  int code = 0;
  if (r->outer <= 0) return 0;
  gt__cpu_set_constants(&r->pre.program, t.slot);
  if (r->soft)
    return gt__cpu_split(gt__cpu_plain_soft_task, &t, r->outer, threads,
                         2 * (size_t)r->n * sizeof(gt__num));
  while (gt__div_up(r->n_chunk, t.group) > GT__PLAIN_GROUPS) t.group *= 2;
  t.n_group = gt__div_up(r->n_chunk, t.group);
  if (r->outer < GT__PLAIN_GROUPS && t.n_group > 1) {
    t.partial = partial;
    code = gt__cpu_split(gt__cpu_plain_group_task, &t, r->outer * t.n_group, threads, 0);
  }
  return code ? code : gt__cpu_split(gt__cpu_plain_reduce_task, &t, r->outer, threads, 0);
}

/* -- scan: THE SCAN of >>machine, row by row -- */
static void gt__cpu_plain_scan_task(const void *context, gt__cpu_range items) {
  const gt__scan_args *s = (const gt__scan_args *)context;
  const gt__program *p = &s->pre.program;
  const gt__cpu_numbers *type = gt__cpu_types[p->compute];
  gt__num slot[GT__SLOTS];
  gt__cpu_set_constants(p, slot);
  for (int64_t row = items.begin; row < items.end; row++) {
    const int64_t o = row / s->inner;
    const int64_t before = o * (s->n - 1) * s->inner;
    int64_t at = before + row;
    for (int64_t k = 0; k < s->n; k++) {
      gt__num x = gt__cpu_evaluate(&s->pre, slot, 0, at);
      x = type->scan(s->fold, items.own, k, x);
      gt__cpu_store_element(&s->pre, at, x);
      at += s->inner;
    }
  }
}
static int gt__cpu_plain_scan(const gt__op *op, void *queue) {
  const gt__scan_args *s = &op->u.scan;
  const int threads = gt__cpu_threads(gt__cpu_work(&s->pre));
  const int64_t rows = s->outer * s->inner;
  return gt__cpu_split(gt__cpu_plain_scan_task, s, rows, threads, 0);
}

/* -- matmul: C is cut into blocks, and K into chunks, such that the operands of a block stay in the
   caches. A submatrix of A, rows x depth, and one of B, depth x columns, are loaded as numbers of
   the compute type, row by row. Then each row of C takes in four rows of B at a time, times values
   of A: a loop without a branch, of which compilers make vectors. --

              B  depth | . . . . . . . . |      sums[i][j] += a[i][k]     * b[k][j]
      A                | . . . . . . . . |                  + a[i][k + 1] * b[k + 1][j]
      rows | k ... |  C| i: j ...        |                  + ...                          */
typedef struct {
  const gt__matmul_args *x;
  const gt__cpu_numbers *type;
  int64_t across, down; /* blocks */
} gt__cpu_blocks;
typedef struct {
  int64_t rows, columns, row, column; /* sizes; strides in elements */
  int64_t high, pitch;                /* rows and columns that there is space for */
} gt__cpu_submatrix;
/* Loads a submatrix, whose first element is number `at` of x, as numbers of the compute type, in
   rows `pitch` numbers apart, with zeros behind rows and columns. */
static void gt__cpu_load_submatrix(const gt__cpu_blocks *c, char *to, const gt__operand *x,
                                   int64_t at, const gt__cpu_submatrix *p) {
  const int64_t size = gt__cpu_bytes(x), w = c->type->width;
  const int same = x->dtype == (int)c->type->native && p->column == 1;
  const int whole = p->rows == p->high && p->columns == p->pitch;
  if (!whole) memset(to, 0, (size_t)(p->high * p->pitch * w));
  for (int64_t i = 0; i < p->rows; i++, to += p->pitch * w) {
    const char *from = x->data + (at + i * p->row) * size;
    if (same) memcpy(to, from, (size_t)(p->columns * w));
    for (int64_t j = 0; j < p->columns && !same; j++) {
      const gt__num v = c->type->load(x->dtype, from + j * p->column * size);
      memcpy(to + j * w, &v, (size_t)w);
    }
  }
}
/* The program behind the product, for element (i, j) of the block at (m, n), and its store. */
static void gt__cpu_plain_store(const gt__cpu_blocks *c, const char *sums, int64_t first,
                                int64_t rows, int64_t columns) {
  const gt__map_args *m = &c->x->post;
  const int64_t w = c->type->width;
  gt__num slot[GT__SLOTS];
  gt__cpu_set_constants(&m->program, slot);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      const int64_t at = first + i * c->x->n + j;
      memcpy(slot, sums + (i * GT__PLAIN_COLUMNS + j) * w, (size_t)w);
      gt__cpu_store_element(m, at, gt__cpu_evaluate(m, slot, 1, at));
    }
}
/* Block number `item` of C: its sums over all of K, by chunks, and then the program behind. */
static void gt__cpu_plain_block(const gt__cpu_blocks *c, int64_t item, char *own) {
  const gt__matmul_args *x = c->x;
  const int64_t batch = item / c->across / c->down, w = c->type->width;
  const int64_t m = item / c->across % c->down * GT__PLAIN_ROWS;
  const int64_t n = item % c->across * GT__PLAIN_COLUMNS;
  const int64_t rows = gt__least(GT__PLAIN_ROWS, x->m - m);
  const int64_t columns = gt__least(GT__PLAIN_COLUMNS, x->n - n);
  const int64_t *batches = x->post.size;
  const int64_t at_a = gt__offset(batch, x->n_batch, batches, x->a.stride) + m * x->a_row;
  const int64_t at_b = gt__offset(batch, x->n_batch, batches, x->b.stride) + n * x->b_col;
  char *sums = own, *a = sums + w * GT__PLAIN_ROWS * GT__PLAIN_COLUMNS;
  char *b = a + w * GT__PLAIN_ROWS * GT__PLAIN_DEPTH;
  memset(sums, 0, (size_t)(rows * GT__PLAIN_COLUMNS * w));
  for (int64_t k = 0; k < x->k; k += GT__PLAIN_DEPTH) {
    const int64_t depth = gt__least(GT__PLAIN_DEPTH, x->k - k);
    const gt__cpu_submatrix of_a = {rows, depth, x->a_row, x->a_col, rows, GT__PLAIN_DEPTH};
    const gt__cpu_submatrix of_b = {depth,    columns,         x->b_row,
                                    x->b_col, GT__PLAIN_DEPTH, GT__PLAIN_COLUMNS};
    gt__cpu_load_submatrix(c, a, &x->a, at_a + k * x->a_col, &of_a);
    gt__cpu_load_submatrix(c, b, &x->b, at_b + k * x->b_row, &of_b);
    for (int64_t i = 0; i < rows; i++)
      c->type->row(sums + i * GT__PLAIN_COLUMNS * w, a + i * GT__PLAIN_DEPTH * w, b);
  }
  gt__cpu_plain_store(c, sums, (batch * x->m + m) * x->n + n, rows, columns);
}
static void gt__cpu_plain_matmul_task(const void *context, gt__cpu_range items) {
  const gt__cpu_blocks *c = (const gt__cpu_blocks *)context;
  for (int64_t i = items.begin; i < items.end; i++) gt__cpu_plain_block(c, i, items.own);
}
/* A thread's scratch has the sums of a block, a submatrix of A and one of B. */
static int gt__cpu_plain_matmul(const gt__op *op, void *queue) {
  const gt__matmul_args *x = &op->u.matmul;
  const double work = (double)x->m * (double)x->n * (double)x->k / 8;
  const int threads = gt__cpu_threads((double)x->batch * work + gt__cpu_work(&x->post));
  const int rows = GT__PLAIN_ROWS;
  const int depth = GT__PLAIN_DEPTH;
  const int operands = depth * (rows + GT__PLAIN_COLUMNS);
  const int numbers = rows * GT__PLAIN_COLUMNS + operands;
  gt__cpu_blocks c;
  c.x = x;
  c.type = gt__cpu_types[x->compute];
  c.across = gt__div_up(x->n, GT__PLAIN_COLUMNS);
  c.down = gt__div_up(x->m, GT__PLAIN_ROWS);
  return gt__cpu_split(gt__cpu_plain_matmul_task, &c, x->batch * c.across * c.down, threads,
                       (size_t)(numbers * c.type->width));
}

/* -- copy: elements of one dtype, whatever its bits -- */
static const int64_t gt__cpu_zero = 0; /* what an entry that names nothing stands for */
/* The entry of the source that element `at` of the index names, or -1. */
GT__INSIDE int64_t gt__cpu_entry(const gt__copy_args *c, int64_t at) {
  const int64_t k = c->index.dtype == GT_INT32 ? ((const gt__i32 *)(void *)c->index.data)[at]
                                               : ((const gt__i64 *)(void *)c->index.data)[at];
  if (k >= 0 && k < c->gather_size) return k;
  if (c->fault) *c->fault = 1;
  return -1;
}
/* One element after the other; what a bad entry of the index names is 0. */
static void gt__cpu_plain_copy_task(const void *context, gt__cpu_range items) {
  const gt__copy_args *c = (const gt__copy_args *)context;
  const int64_t size = gt__cpu_bytes(&c->dst);
  for (int64_t i = items.begin; i < items.end; i++) {
    const char *from = gt__cpu_at(&c->src, i, c->ndim, c->size);
    if (c->index.data) {
      const int64_t k = gt__cpu_entry(c, gt__offset(i, c->ndim, c->size, c->index.stride));
      from = k < 0 ? (const char *)&gt__cpu_zero : from + k * c->gather_stride * size;
    }
    memcpy(gt__cpu_at(&c->dst, i, c->ndim, c->size), from, (size_t)size);
  }
}
static int gt__cpu_plain_copy(const gt__op *op, void *queue) {
  const gt__copy_args *c = &op->u.copy;
  const int threads = gt__cpu_threads((double)c->count);
  return gt__cpu_split(gt__cpu_plain_copy_task, c, c->count, threads, 0);
}

static int gt__cpu_plain_order(const gt__op *op, void *queue); /* see >>cpu-order */
static int gt__cpu_plain_scatter(const gt__op *op, void *queue);
static int gt__cpu_takes_all(gt__op *op) { return 1; }
#define GT__CPU_PLAIN(run) \
  { "plain", gt__cpu_takes_all, run, "the definition" }
#define GT__CPU_NO_MORE \
  { NULL, NULL, NULL, NULL }
static const gt__way gt__cpu_plain_ways[GT__FUNCTION + 1][2] = {
    {GT__CPU_PLAIN(gt__cpu_plain_copy)},   {GT__CPU_PLAIN(gt__cpu_plain_map)},
    {GT__CPU_PLAIN(gt__cpu_plain_reduce)}, {GT__CPU_PLAIN(gt__cpu_plain_matmul)},
    {GT__CPU_PLAIN(gt__cpu_plain_scan)},   {GT__CPU_PLAIN(gt__cpu_plain_order)},
    {GT__CPU_PLAIN(gt__cpu_plain_scatter)}};

GT__DATA_BEGINS
/* ---- >>cpu-order -------------------------------------------------------------------------------
   The order of rows, and what goes to places. Pairs, of 32 bits of a key above the position, are
   sorted by digits of eight bits, the lowest first; a few by insertion. */
enum { GT__FEW_PAIRS = 48 };
enum { GT__DIGIT_VALUES = 256 };
GT__INSIDE unsigned gt__cpu_digit(uint64_t pair, int shift) { return pair >> shift & 255; }
#define GT__KEYS(type) \
  for (int64_t i = 0; i < n; i++) { \
    const type bits = ((const type *)p)[i]; \
    key[i] = gt__order_key(a, bits); \
  } \
  break
GT__FOLDING("no-")
static void gt__cpu_keys(const gt__order_args *a, int64_t first, int64_t n, uint64_t *key) {
  const void *p = a->x.data + (first << a->x.size_log2);
  switch (a->x.size_log2) {
    case 0: GT__KEYS(uint8_t);
    case 1: GT__KEYS(gt__u16);
    case 2: GT__KEYS(gt__u32);
    default: GT__KEYS(gt__u64);
  }
}
#undef GT__KEYS
static uint64_t gt__cpu_key(const gt__order_args *a, int64_t i) {
  uint64_t key;
  gt__cpu_keys(a, i, 1, &key);
  return key;
}
GT__TIGHT static void gt__cpu_insert(uint64_t *pair, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    const uint64_t x = pair[i];
    int64_t k = i;
    for (; k > 0; k--) {
      if (pair[k - 1] >> 32 <= x >> 32) break;
      pair[k] = pair[k - 1];
    }
    pair[k] = x;
  }
}
/* Sorts n pairs, fewer than 2^32, stably by the lowest `bits` bits of their keys, above which all
   are alike. `spare` has room for as many. */
GT__TIGHT static void gt__cpu_radix(uint64_t *pair, uint64_t *spare, int64_t n, int bits) {
  uint32_t counts[4][GT__DIGIT_VALUES] = {{0}};
  uint64_t *from = pair, *to = spare;
  const int end = 32 + bits;
  if (n <= GT__FEW_PAIRS) {
    gt__cpu_insert(pair, n);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    for (int shift = 32; shift < end; shift += 8) {
      uint32_t *count = counts[shift / 8 - 4];
      count[gt__cpu_digit(pair[i], shift)]++;
    }
  for (int shift = 32; shift < end; shift += 8) {
    uint32_t *next = counts[shift / 8 - 4];
    uint32_t sum = 0;
    if (next[gt__cpu_digit(*from, shift)] == n) continue; /* all have the same digit */
    for (int d = 0; d < GT__DIGIT_VALUES; d++) {
      sum += next[d];
      next[d] = sum - next[d];
    }
    for (int64_t i = 0; i < n; i++) {
      const unsigned digit = gt__cpu_digit(from[i], shift);
      to[next[digit]++] = from[i];
    }
    to = from;
    from = from == pair ? spare : pair;
  }
  if (from != pair) memcpy(pair, from, (size_t)n * sizeof *pair);
}
/* Keys of up to 32 bits are there; of 64 the lower half comes first, and then the upper one. */
static void gt__cpu_sort(const gt__order_args *a, uint64_t *pair, uint64_t *spare, int64_t n) {
  for (int low = 0; low < a->bits; low += 32) {
    for (int64_t i = 0; i < n && a->bits > 32; i++) {
      const uint32_t at = (uint32_t)pair[i];
      pair[i] = gt__cpu_key(a, at) >> low << 32 | at;
    }
    gt__cpu_radix(pair, spare, n, (int)gt__least(a->bits, 32));
  }
}
/* Few that are kept of many are found in room for several times as many: whenever it is full it is
   sorted and cut, and from then on only keys below the last one's come in. */
static int64_t gt__cpu_order_room(const gt__order_args *a) {
  return gt__least(a->n, 4 * a->keep + GT__FEW_PAIRS);
}
GT__TIGHT static void gt__cpu_order_row(const gt__order_args *a, uint64_t *pair) {
  const int64_t room = gt__cpu_order_room(a);
  gt__i64 *out = (gt__i64 *)(void *)a->out.data;
  uint64_t key[GT__BLOCK];
  uint64_t below = 1;
  int is_cut = a->how == GT__NONZERO;
  int64_t n = 0;
  for (int64_t i = 0; i < a->n; i++) {
    const int k = (int)(i % GT__BLOCK);
    if (k == 0) gt__cpu_keys(a, i, gt__least(a->n - i, GT__BLOCK), key);
    if (is_cut && key[k] >= below) continue;
    pair[n++] = key[k] << 32 | (uint64_t)i;
    if (n < room || i + 1 == a->n) continue;
    gt__cpu_sort(a, pair, pair + room, n);
    n = a->keep;
    below = gt__cpu_key(a, (uint32_t)pair[n - 1]);
    is_cut = 1;
  }
  gt__cpu_sort(a, pair, pair + room, n);
  for (int64_t i = 0; i < a->keep; i++) out[i] = (uint32_t)pair[i];
}
static void gt__cpu_order_task(const void *context, gt__cpu_range items) {
  for (int64_t row = items.begin; row < items.end; row++) {
    gt__order_args a = *(const gt__order_args *)context;
    a.x.data += row * a.n << a.x.size_log2;
    a.out.data += row * a.keep * 8;
    gt__cpu_order_row(&a, (uint64_t *)(void *)items.own);
  }
}
static int gt__cpu_plain_order(const gt__op *op, void *queue) {
  const gt__order_args *a = &op->u.order;
  const int threads = gt__cpu_threads((double)a->rows * (double)a->n * 16);
  const size_t room = (size_t)gt__cpu_order_room(a); /* of pairs, twice */
  if (room > SIZE_MAX / 32 / (size_t)threads) return GT__CPU_NO_MEMORY;
  return gt__cpu_split(gt__cpu_order_task, a, a->rows, threads, room * 16);
}
/* -- scatter: positions are sorted by the places to which they go, and a thread folds what goes to
   each place, a line of elements of the rest at a time. Of the tree's nodes it has those that wait
   for others, as a binary counter has ones. --

     positions    0      1      2      3
     index        2      0      2      1         the places
     pairs        2|0    0|1    2|2    1|3       a place above a position
     sorted       0|1    1|3    2|0    2|2       out[0] takes in src[1], out[1] src[3],
                                                 out[2] the fold of src[0] and src[2] */
enum { GT__WAITING = 30 }; /* more than 2^32 / GT__ROWS has digits */
typedef struct {
  const gt__scatter_args *a;
  const gt__cpu_numbers *type;
  const uint64_t *pair; /* a place, `base` less, above a position */
  int64_t n, base;
} gt__cpu_sorted;
/* Folds what pairs begin ... end - 1 bring to n elements, from number e of the rest on. `top` is
   the node at hand, a line of n values. When it has taken in a run of GT__ROWS pairs it joins those
   in front of it, once for each 1 with which its run's number ends in binary; the last one joins
   all. */
static void gt__cpu_fold_pairs(const gt__cpu_sorted *t, int64_t begin, int64_t end, int64_t e,
                               int64_t n, char *node) {
  const gt__scatter_args *a = t->a;
  const gt__operand *src = &a->src;
  const int64_t line = GT__GROUP * t->type->width;
  const int64_t step = src->stride[a->ndim - 1];
  char *top = node;
  for (int64_t p = begin, i = 0; p < end; p++, i++) {
    const uint64_t ahead = t->pair[gt__least(p + 16, t->n - 1)];
    const int64_t later = gt__scatter_from(a, src, (uint32_t)ahead, e);
    const int64_t from = gt__scatter_from(a, src, (uint32_t)t->pair[p], e);
    const char *x = src->data + from * gt__cpu_bytes(src);
    const int last = p + 1 == end;
    __builtin_prefetch(src->data + later * gt__cpu_bytes(src));
    t->type->take(a->fold, i % GT__ROWS == 0, top, src->dtype, x, step, n);
    if (i % GT__ROWS < GT__ROWS - 1 && !last) continue;
    for (int64_t runs = i / GT__ROWS; top > node && (last || runs & 1); runs >>= 1) {
      top -= line;
      t->type->take(a->fold, 0, top, t->type->native, top + line, 1, n);
    }
    top += line;
  }
}
/* n elements of a place take in what goes there. */
static void gt__cpu_end_place(const gt__cpu_sorted *t, int64_t place, int64_t e, int64_t n,
                              const char *values) {
  const gt__scatter_args *a = t->a;
  const gt__operand *out = &a->out;
  const gt__cpu_numbers *type = t->type;
  for (; n > 0; n--, e++, values += type->width) {
    char *to = out->data + gt__scatter_to(a, place, e) * gt__cpu_bytes(out);
    gt__num v = type->load(type->native, values);
    const gt__num old = type->load(out->dtype, to);
    if (a->include_self) v = type->fold(a->fold, old, v);
    type->store(out->dtype, to, v);
  }
}
/* Takes the places whose pairs begin among these. */
static void gt__cpu_scatter_task(const void *context, gt__cpu_range items) {
  const gt__cpu_sorted *t = (const gt__cpu_sorted *)context;
  const gt__scatter_args *a = t->a;
  const int64_t wide = a->ndim > a->n_index ? a->size[a->ndim - 1] : 1;
  int64_t end, n;
  for (int64_t p = items.begin; p < items.end; p = end) {
    const uint64_t place = t->pair[p] >> 32;
    for (end = p + 1; end < t->n && t->pair[end] >> 32 == place;) end++;
    if (p > 0 && t->pair[p - 1] >> 32 == place) continue;
    for (int64_t e = 0; e < a->rest; e += n) {
      n = gt__least(GT__GROUP, wide - e % wide);
      gt__cpu_fold_pairs(t, p, end, e, n, items.own);
      gt__cpu_end_place(t, t->base + (int64_t)place, e, n, items.own);
    }
  }
}
/* Up to 2^32 places at a time. */
static int gt__cpu_plain_scatter(const gt__op *op, void *queue) {
  const gt__scatter_args *a = &op->u.scatter;
  const int threads = gt__cpu_threads((double)a->n * (double)a->rest);
  const int64_t places = a->inner * a->entries;
  const size_t bytes = (size_t)a->n * sizeof(uint64_t);
  const size_t own = (size_t)GT__WAITING * GT__GROUP * sizeof(uint64_t);
  uint64_t *pair = NULL;
  int bits = 1, code = 0;
  gt__cpu_sorted t = {a, gt__cpu_types[a->compute], NULL, 0, 0};
  const int fits = a->n <= UINT32_MAX && bytes <= SIZE_MAX / 2;
  if (fits) pair = (uint64_t *)GPUTENSOR_MALLOC(2 * bytes);
  if (!pair) return GT__CPU_NO_MEMORY;
  t.pair = pair;
  while (bits < 32 && places >> bits) bits++;
  for (; t.base < places && !code; t.base += (int64_t)1 << 32) {
    t.n = 0;
    for (int64_t p = 0; p < a->n; p++) {
      const int64_t place = gt__scatter_place(a, p);
      const int64_t k = place - t.base;
      if (place < 0 && a->fault) *a->fault = 1;
      if (k >= 0 && k <= UINT32_MAX) pair[t.n++] = (uint64_t)k << 32 | (uint64_t)p;
    }
    gt__cpu_radix(pair, pair + a->n, t.n, bits);
    code = gt__cpu_split(gt__cpu_scatter_task, &t, t.n, threads, own);
  }
  GPUTENSOR_FREE(pair);
  return code;
}
GT__FLAGS_END

/* ---- >>cpu-streams -----------------------------------------------------------------------------
   The CPU as a back end: memory, properties, and streams as threads with a queue. */
/* Strict C hides the clock with glibc and musl, and on 32 bits which of its two forms to call. */
#ifdef CLOCK_MONOTONIC
#define GT__MONOTONIC CLOCK_MONOTONIC
#elif __SIZEOF_LONG__ == 8
int clock_gettime(int clock, struct timespec *t);
#define GT__MONOTONIC 1
#endif
#ifdef CLOCK_THREAD_CPUTIME_ID
#define GT__THREAD_TIME CLOCK_THREAD_CPUTIME_ID
#elif defined(GT__MONOTONIC) && defined(__linux__)
#define GT__THREAD_TIME 3
#endif
#if defined(GT__MONOTONIC) && !defined(GT__HOOK_NOW)
static double gt__clock_ms(int clock) {
  struct timespec t = {0, 0};
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
#endif
static int gt__cpu_lacks(void); /* see >>cpu-ways */
/* Tests that give the host a clock of their own define GT__HOOK_NOW, which reads it; _WORK, for an
   operation or for bytes that the calling thread moves; and _AFTER: it goes on at that time. */
#ifndef GT__HOOK_WORK
#define GT__HOOK_WORK(op, bytes) (void)0
#define GT__HOOK_AFTER(ms) (void)0
#endif
/* Runs an operation by its way; plain ways are refused where the processor, or the compiler, lacks
   what their bits need. */
static int gt__cpu_do(const gt__op *op) {
  GT__HOOK_WORK(op, 0);
  if (op->way == gt__cpu_plain_ways[op->kind] && gt__cpu_lacks()) return GT__CPU_LACKS;
#if defined(_WIN32) && !defined(__FMA__) && !defined(__aarch64__)
  if (op->way == gt__cpu_plain_ways[op->kind]) return GT__CPU_NO_FMA;
#endif
  return op->way->run(op, NULL);
}
/* The time that the processor gave this thread, in ms; where that is not known, the time. */
static double gt__cpu_time(void) {
#if defined(GT__THREAD_TIME) && !defined(GT__HOOK_NOW)
  return gt__clock_ms(GT__THREAD_TIME);
#else
  return gt_now_ms();
#endif
}
/* Runs an operation and notes its times in the record of a trace. */
static int gt__cpu_traced(const gt__op *op) {
  gt__record *r = op->record;
  if (r->number) r->begin = gt_now_ms(); /* else it was just made */
  gt__cpu_wide = 0;
  double cpu = gt__cpu_time();
  int code = gt__cpu_do(op);
  r->end = gt_now_ms();
  cpu = gt__cpu_time() - cpu;
  if (gt__cpu_wide) cpu /= (double)gt__least(gt__cpu_share, gt__cpu_available());
  r->cpu = fmin(cpu, r->end - r->begin);
  return code;
}
GT__INSIDE int gt__cpu_execute(const gt__op *op) {
  return op->record ? gt__cpu_traced(op) : gt__cpu_do(op);
}
static int gt__cpu_replay_list(const gt__op *op, void *queue) {
  const gt_graph *g = op->u.graph;
  int code = 0;
  for (int i = 0; i < g->n && !code; i++)
    if (g->list[i].op) code = gt__cpu_do(g->list[i].op);
  return code;
}
static const gt__way gt__cpu_replay = {"graph", NULL, gt__cpu_replay_list, ""};
static int gt__cpu_call_function(const gt__op *op, void *queue) {
  return op->u.call.function(op->u.call.argument), 0;
}
static const gt__way gt__cpu_call = {"host", NULL, gt__cpu_call_function, ""};
static const gt__way *gt__cpu_ways(int kind); /* see >>cpu-ways */
static const char *gt__cpu_name(void);        /* of the instruction set */
static int gt__cpu_plan(gt__op *op) { return gt__choose_way(op, gt__cpu_ways(op->kind)); }
/* On a multiple of 64, a cache line and the widest vector; what to give back stands in front. */
static int gt__cpu_alloc(int index, void *queue, size_t bytes, int pinned, void **out) {
  char *base = bytes <= SIZE_MAX - 128 ? (char *)GPUTENSOR_MALLOC(bytes + 128) : NULL;
  *out = NULL;
  if (!base) return GT__CPU_NO_MEMORY;
  void **p = (void **)(void *)(base + (128 - ((uintptr_t)base & 63)));
#ifdef MADV_HUGEPAGE
  enum { HUGE_PAGE = 1 << 21 }; /* of large storage: a first touch costs as much as a small one's */
  const size_t before = HUGE_PAGE - ((uintptr_t)base & (HUGE_PAGE - 1));
  if (bytes >= 2 * HUGE_PAGE) madvise(base + before, bytes - before, MADV_HUGEPAGE);
#endif
  p[-1] = base;
  *out = p;
  return 0;
}
static int gt__cpu_release(int index, void *queue, void *p, int pinned) {
  GPUTENSOR_FREE(p ? ((void **)p)[-1] : NULL);
  return 0;
}
static int gt__cpu_memory(int index, size_t *reserved, size_t *free_bytes, size_t *total) {
  *reserved = 0;
  *free_bytes = 0;
  *total = 0;
#if defined(_SC_AVPHYS_PAGES) && defined(_SC_PAGESIZE)
  *free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  *total = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
#endif
  return 0;
}
static int gt__cpu_properties(int index, gt_properties *out) {
  char line[256];
  size_t reserved, free_bytes;
  FILE *file = fopen("/proc/cpuinfo", "r");
  snprintf(out->name, sizeof out->name, "CPU");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "model name : %120[^\n]", out->name) == 1) break;
  if (file) fclose(file);
  out->multiprocessors = GT__CORES;
  gt__cpu_memory(index, &reserved, &free_bytes, &out->total_memory);
  snprintf(out->instructions, sizeof out->instructions, "%s", gt__cpu_name());
  return 0;
}
/* ---- queues: a created CPU stream is a thread that takes its items one after the other ----
   An item runs an operation, waits for another item or a GPU, or only passes, to record an event.

     stream 1    operation 5 ---> passes: an event --------> operation 6
                                     |
     stream 2    operation 2 ---> waits for that item -----> operation 3

   The threads take no lock of the core, so who waits for them may hold it. A failure's code stays
   until the queue is asked; items that pass meanwhile, and queues that wait for those, get it. */
enum { GT__CPU_FULL = 64 }; /* items waiting, from which on callers have to wait too */
typedef struct gt__cpu_item {
  struct gt__cpu_item *next, *wait;
  gt__op *op;               /* stands behind the item */
  const gt__backend *other; /* whose event to wait for, and to destroy; NULL: the CPU's */
  void *event;              /* of that back end, or NULL; ours becomes `wait` */
  int index, refs, passed, code;
  double ms; /* when it passed */
} gt__cpu_item;
static gt__cpu_item gt__cpu_blank; /* all 0, never written */
typedef struct {
  gt__cpu_item *now;
} gt__cpu_event; /* the newest record; NULL: none */
typedef struct {
  pthread_t thread;
  pthread_cond_t more; /* something was pushed, or it is closed: wakes the thread */
  gt__cpu_item *first, *last;
  uint64_t pushed, popped, finished; /* finished: the number of the last operation done */
  int code, closed;
  int missed; /* a wait failed: what is behind it is not done, until one asks */
  double ms;  /* when the newest item passed */
} gt__cpu_queue;
static struct {
  pthread_mutex_t lock;
  pthread_cond_t passed; /* an item has */
  int busy;              /* threads that run an operation */
} gt__cpu_all = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static void gt__cpu_sleep(void) { pthread_cond_wait(&gt__cpu_all.passed, &gt__cpu_all.lock); }
GT_API double gt_now_ms(void) {
  GT__STRICT;
#ifdef GT__HOOK_NOW
  double now = GT__HOOK_NOW();
#elif defined(GT__MONOTONIC)
  double now = gt__clock_ms(GT__MONOTONIC);
#else
  struct timeval t = {0, 0};
  gettimeofday(&t, NULL);
  double now = (double)t.tv_sec * 1e3 + (double)t.tv_usec * 1e-3;
#endif
  GT__FENCE(now);
  return now;
}
static void gt__cpu_drop(gt__cpu_item *x) { /* with the lock */
  if (x && --x->refs == 0) GPUTENSOR_FREE(x);
}
/* Runs an operation, unless what it reads was never written. With the lock, which it gives up. */
static int gt__cpu_serve_op(gt__cpu_queue *q, const gt__op *op) {
  int code = q->missed ? q->missed : gt__reads_unwritten(op);
  if (!code) {
    gt__cpu_all.busy++;
    gt__cpu_share = gt__cpu_all.busy;
    pthread_mutex_unlock(&gt__cpu_all.lock);
    code = gt__cpu_execute(op);
    pthread_mutex_lock(&gt__cpu_all.lock);
    gt__cpu_all.busy--;
  }
  gt__mark_output(op, code);
  q->finished = op->number;
  return code;
}
/* Waits for a GPU, whose event ends with the item. With the lock, which it gives up. */
static int gt__cpu_serve_event(const gt__cpu_item *x) {
  pthread_mutex_unlock(&gt__cpu_all.lock);
  const int code = x->other->event_ask(x->index, x->event, 1);
  x->other->event_destroy(x->index, x->event);
  pthread_mutex_lock(&gt__cpu_all.lock);
  return code ? (int)GT__CPU_OTHER : 0;
}
/* A stream's thread takes the first item once what it waits for has passed, until the queue is
   closed and empty. */
static void *gt__cpu_serve(void *argument) {
  gt__cpu_queue *q = (gt__cpu_queue *)argument;
  GT__STRICT;
  GT__HOLD(gt__cpu_all.lock);
  while (q->first || !q->closed) {
    gt__cpu_item *x = q->first;
    int code = 0;
    if (!x) {
      pthread_cond_wait(&q->more, gt__held);
      continue;
    }
    if (x->wait && !x->wait->passed) {
      gt__cpu_sleep();
      continue;
    }
    GT__HOOK_AFTER(x->wait && x->wait->ms > x->ms ? x->wait->ms : x->ms);
    if (x->op) code = gt__cpu_serve_op(q, x->op);
    else if (x->other) code = gt__cpu_serve_event(x);
    else if (x->wait) code = x->wait->code;
    if (x->other && code) q->missed = code;
    if (code) q->code = code;
    x->code = q->code;
    x->ms = gt_now_ms();
    q->ms = x->ms;
    x->passed = 1;
    q->first = x->next;
    q->popped++;
    gt__cpu_drop(x->wait);
    gt__cpu_drop(x);
    pthread_cond_broadcast(&gt__cpu_all.passed);
  }
  return NULL;
}
/* Appends an item like `like`, with a copy of `op` behind it, if there is one; without a queue it
   has passed at once. *keep is a reference to it, which has to be dropped. An item that waits for
   an event waits for its newest record. */
static int gt__cpu_push(gt__cpu_queue *q, const gt__cpu_item *like, const gt__op *op,
                        gt__cpu_item **keep) {
  if (q && gt__forked) return GT__CPU_FORKED;
  const size_t bytes =
      op ? offsetof(gt__op, plan) + op->plan_bytes : 0; /* what op uses of itself */
  gt__cpu_item *x = (gt__cpu_item *)GPUTENSOR_MALLOC(sizeof *x + bytes);
  if (!x) return GT__CPU_NO_MEMORY;
  *x = *like;
  if (op) x->op = (gt__op *)memcpy(x + 1, op, bytes);
  x->refs = (q != NULL) + (keep != NULL);
  x->passed = !q;
  x->ms = gt_now_ms();
  if (keep) *keep = x;
  if (!q) return 0;
  GT__HOLD(gt__cpu_all.lock);
  if (x->event && !x->other) x->wait = ((gt__cpu_event *)x->event)->now;
  if (x->wait) x->wait->refs++;
  if (q->first) q->last->next = x;
  else q->first = x;
  q->last = x, q->pushed++;
  pthread_cond_signal(&q->more);
  return 0;
}
/* Waits while the queue holds `most` items or more, those pushed later not counted. */
static void gt__cpu_until(gt__cpu_queue *q, uint64_t most) {
  GT__HOLD(gt__cpu_all.lock);
  for (uint64_t goal = q->pushed; goal - q->popped >= most && q->popped < goal && !gt__forked;)
    gt__cpu_sleep();
}
/* The thread takes no signals of the program's: it inherits its maker's mask, here all but those
   that tell of a fault. */
static int gt__cpu_start(gt__cpu_queue *q) {
#ifdef GT__SET_SIGNALS
  static const int fault[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t all, before;
  sigfillset(&all);
  for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) sigdelset(&all, fault[i]);
  pthread_sigmask(GT__SET_SIGNALS, &all, &before);
#endif
  const int code = pthread_create(&q->thread, NULL, gt__cpu_serve, q);
#ifdef GT__SET_SIGNALS
  pthread_sigmask(GT__SET_SIGNALS, &before, NULL);
#endif
  return code;
}
static int gt__cpu_queue_create(int index, int priority, void **queue) {
  *queue = NULL;
#ifdef GPUTENSOR_NO_THREADS
  return 0;
#endif
  if (gt__forked) return GT__CPU_FORKED;
  gt__cpu_queue *q = (gt__cpu_queue *)GPUTENSOR_MALLOC(sizeof *q);
  if (!q) return GT__CPU_NO_MEMORY;
  memset(q, 0, sizeof *q), pthread_cond_init(&q->more, NULL);
  if (gt__cpu_start(q)) {
    pthread_cond_destroy(&q->more), GPUTENSOR_FREE(q);
    return GT__CPU_NO_THREAD;
  }
  *queue = q;
  return 0;
}
static int gt__cpu_queue_destroy(int index, void *queue) {
  gt__cpu_queue *q = (gt__cpu_queue *)queue;
  if (q && !gt__forked) { /* a child has no such thread, and a condition that is in use */
    {
      GT__HOLD(gt__cpu_all.lock);
      q->closed = 1, pthread_cond_signal(&q->more);
    }
    pthread_join(q->thread, NULL), pthread_cond_destroy(&q->more);
  }
  if (q) GPUTENSOR_FREE(q);
  return 0;
}
/* Is all done, or waits for it. Who asks is told of a failure, once; who only waits is not. */
static int gt__cpu_queue_ask(int index, void *queue, int how) {
  gt__cpu_queue *q = (gt__cpu_queue *)queue;
  const int wait = how != GT__ASK;
  if (!q) return 0;
  if (wait) gt__cpu_until(q, 1);
  GT__HOLD(gt__cpu_all.lock); /* behind a wait there may be newer items, pushed by another thread */
  const int done = !q->first || (wait && !gt__forked);
  if (!done) return gt__forked ? (int)GT__CPU_FORKED : GT__NOT_YET;
  if (wait) GT__HOOK_AFTER(q->ms);
  if (how == GT__WAIT_ONLY) return 0;
  const int code = q->code;
  q->code = 0;
  q->missed = 0;
  return code;
}
static int gt__cpu_queue_wait_event(int index, void *queue, void *event) {
  gt__cpu_item like = gt__cpu_blank;
  like.event = event;
  return queue ? gt__cpu_push((gt__cpu_queue *)queue, &like, NULL, NULL) : 0;
}
static int gt__cpu_event_destroy(int index, void *event) {
  GT__HOLD(gt__cpu_all.lock);
  gt__cpu_drop(((gt__cpu_event *)event)->now);
  GPUTENSOR_FREE(event);
  return 0;
}
/* The event is now an item that passes when all in front of it have. */
static int gt__cpu_event_record(int index, void **event, void *queue) {
  gt__cpu_event *e = (gt__cpu_event *)(*event ? *event : GPUTENSOR_MALLOC(sizeof *e));
  gt__cpu_item *x;
  if (!e) return GT__CPU_NO_MEMORY;
  if (!*event) {
    e->now = NULL;
    *event = e; /* only then: another thread may be asking for the event */
  }
  const int code = gt__cpu_push((gt__cpu_queue *)queue, &gt__cpu_blank, NULL, &x);
  if (code) return code;
  GT__HOLD(gt__cpu_all.lock);
  gt__cpu_drop(e->now);
  e->now = x;
  return 0;
}
static int gt__cpu_event_ask(int index, void *event, int how) {
  const int wait = how != GT__ASK;
  GT__HOLD(gt__cpu_all.lock);
  gt__cpu_item *x = ((gt__cpu_event *)event)->now;
  if (x) x->refs++; /* it may be recorded again */
  while (wait && x && !x->passed && !gt__forked) gt__cpu_sleep();
  int code = gt__forked ? (int)GT__CPU_FORKED : GT__NOT_YET;
  if (!x || x->passed) code = x && how != GT__WAIT_ONLY ? x->code : 0;
  if (wait && x) GT__HOOK_AFTER(x->ms);
  gt__cpu_drop(x);
  return code;
}
static int gt__cpu_event_elapsed(int index, void *start, void *end, float *ms) {
  GT__HOLD(gt__cpu_all.lock);
  const gt__cpu_item *a = ((gt__cpu_event *)start)->now, *b = ((gt__cpu_event *)end)->now;
  *ms = a && b ? (float)(b->ms - a->ms) : 0; /* both have passed */
  return 0;
}
static int gt__cpu_run(int index, void *queue, const gt__op *op) {
  return queue ? gt__cpu_push((gt__cpu_queue *)queue, &gt__cpu_blank, op, NULL)
               : gt__cpu_execute(op);
}
/* Waits for what another back end's queue holds by now: for an event of its own. */
static int gt__cpu_queue_wait_other(void *queue, const gt__backend *other, int index,
                                    void *others) {
  gt__cpu_item like = gt__cpu_blank;
  like.other = other;
  like.index = index;
  int code = other->event_record(index, &like.event, others);
  if (!code) code = gt__cpu_push((gt__cpu_queue *)queue, &like, NULL, NULL);
  if (code && like.event) other->event_destroy(index, like.event);
  return code;
}
static uint64_t gt__cpu_queue_progress(void *queue) {
  const gt__cpu_queue *q = (gt__cpu_queue *)queue;
  GT__HOLD(gt__cpu_all.lock);
  return q->first ? q->finished : UINT64_MAX;
}
static void gt__cpu_queue_room(void *queue) { gt__cpu_until((gt__cpu_queue *)queue, GT__CPU_FULL); }
static int gt__cpu_set_threads(int n) {
  if (n > 0) __atomic_store_n(&gt__cpu_most, n, __ATOMIC_RELAXED);
  return gt__cpu_available();
}
static void gt__cpu_move_bytes(char *to, char *from, int64_t bytes) {
  GT__HOOK_WORK(NULL, bytes);
  const int threads = gt__cpu_threads(bytes / 8), half = threads > 8 ? threads / 2 : 4;
  const int most = half < 8 ? half : 8;
  gt__cpu_copy_bytes(to, from, bytes, threads < most ? threads : most);
}
static void gt__cpu_element(gt_dtype dtype, const void *p, gt__num *value) {
  const gt__cpu_numbers *t = gt_is_floating(dtype) ? &gt__cpu_numbers_f64 : &gt__cpu_numbers_i64;
  *value = t->load((int)dtype, p);
}
static int gt__cpu_owner(const void *p, int index, gt__owner *out) {
  memset(out, 0, sizeof *out); /* the host's own */
  return 0;
}
static const char *gt__cpu_info(void) { return GT__COMPILER GT__OPENMP; }
static void gt__cpu_after_fork(void) {
  const pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  gt__cpu_all.lock = mutex;
  gt__cpu_all.passed = cond;
}
static void gt__cpu_shutdown(void) {}
static gt_status gt__cpu_classify(int code) {
  if (code == GT__CPU_NO_MEMORY) return GT_ERROR_MEMORY;
  return code ? GT_ERROR_STATE : GT_OK;
}
static const char *gt__cpu_text(int code) {
  static const char *const text[] = {
      "no error",
      "out of memory",
      "the system gives no more threads",
      "a GPU's work, for which this stream waited, failed",
      ("this process was forked: CPU streams stayed with its parent; "
       "the default CPU stream works here"),
      ("MinGW-w64's own fma rounds twice, so that this takes a processor with AVX2 and FMA and "
       "not GPUTENSOR_PLAIN, or -mfma"),
      ("this program was compiled for vector instructions that this processor lacks: compile it "
       "without -march, or with -DGPUTENSOR_DISPATCH")};
  return text[code > GT__CPU_CODES && code < GT__CPU_CODES_END ? code - GT__CPU_CODES : 0];
}
static const gt__backend gt__cpu_backend = {gt__cpu_properties,
                                            gt__cpu_memory,
                                            gt__cpu_alloc,
                                            gt__cpu_release,
                                            NULL,
                                            gt__cpu_ways,
                                            gt__cpu_plan,
                                            gt__cpu_run,
                                            gt__cpu_queue_create,
                                            gt__cpu_queue_destroy,
                                            gt__cpu_queue_ask,
                                            gt__cpu_queue_wait_event,
                                            gt__cpu_event_destroy,
                                            gt__cpu_event_record,
                                            gt__cpu_event_ask,
                                            gt__cpu_event_elapsed,
                                            gt__cpu_classify,
                                            gt__cpu_text,
                                            gt__cpu_owner,
                                            gt__cpu_info,
                                            gt__cpu_after_fork,
                                            gt__cpu_shutdown,
                                            &gt__cpu_replay,
                                            &gt__cpu_call,
                                            NULL,
                                            NULL,
                                            NULL,
                                            NULL,
                                            gt__cpu_queue_wait_other,
                                            gt__cpu_queue_progress,
                                            gt__cpu_queue_room,
                                            gt__cpu_set_threads,
                                            gt__cpu_move_bytes,
                                            gt__cpu_element};
static const gt__backend *gt__cpu_table(void) { return &gt__cpu_backend; }

/* ==== Part II, faster ways ==== */
#ifndef GPUTENSOR_PLAIN
GT__DATA_BEGINS
/* ---- >>tuning ----------------------------------------------------------------------------------
   Numbers of the CPU's ways that were measured, in November 2026. Zen 3, Zen 4 and Xeons, these
   with AVX-512 and AMX, are the machines of test/bench. */
enum { GT__TILE_MAP = 48 };       /* values of a row that gains by transposed tiles; Zen 4 */
enum { GT__TILE_COPY = 8 };       /* the same of a copy; Zen 4 */
enum { GT__TILE_SMALL = 128 };    /* the same of elements of one or two bytes; Zen 4 */
enum { GT__LONG_LINE = 384 };     /* values of a line that gains where it lies; Zen 4 */
enum { GT__LINES = 16 };          /* lines: then threads have enough of them; not tuned */
enum { GT__AT_ONCE = 2048 };      /* elements of a map of one operation without blocks; Zen 4 */
enum { GT__L1_PERIOD = 4096 };    /* bytes apart, lines meet in a set of L1; all of them */
enum { GT__L1_VALUES = 1 << 15 }; /* bytes of B that L1 holds for many rows; Zen 3 */
enum { GT__L2_LINES = 1 << 12 };  /* values of B, for each lane, that L2 holds; Zen 3 */
enum { GT__A_BYTES = 1 << 18 };   /* bytes, a quarter of A's panels, as L3 holds; Zen 3 */
enum { GT__N_BLOCK = 1024 };      /* columns of a block of C; Xeon */
enum { GT__FEW_ROWS = 56 };       /* rows of A that do not pay for packing B; Zen 3 */
enum { GT__DEPTH = 256 };         /* of K: a small product's, and a chunk for AMX; Xeon */
enum { GT__DEPTH_4 = 384 };       /* of K, a chunk, values of 4 bytes; Zen 3 and 4 */
enum { GT__DEPTH_4_XEON = 256 };  /* the same, AVX-512 of a Xeon */
enum { GT__DEPTH_8 = 256 };       /* the same, values of 8 bytes; Zen 3 */
enum { GT__DEPTH_8_AMD = 384 };   /* the same, AVX-512; Zen 4 */
enum { GT__DEPTH_8_XEON = 192 };  /* the same, AVX-512 of a Xeon */
enum { GT__DOT_BYTES = 4096 };    /* bytes of a line in dots: eight lines stay in L1 */
enum { GT__NARROW_WORK = 1024 };  /* values of A, beyond which no narrower vectors; Zen 4 */
enum { GT__BLOCK_WORK = 4096 };   /* steps that a block of C is worth at least; Xeon, 16 threads */
enum { GT__SHARED_LINE = 100 };   /* cycles lost where two threads write a line; Xeon */
enum { GT__SUM_CYCLES = 5 };      /* cycles to add up a dot product's vector; Zen 3 */
enum { GT__LOAD_SHARE = 14 };     /* multiply-adds for a load that dots do more; Zen 3 */
static const double gt__pack_cycles = .3; /* cycles to pack a value; Zen 3 */
enum { GT__AMX_BLOCK = 512 };             /* rows, columns: C in half of the L2 cache; Xeon */

/* ---- >>cpu-loops -------------------------------------------------------------------------------
   Loops over values, written once for all types and instruction sets: plain text that the file
   includes from itself. Each loop is a case of its function. */
/* What a kernel of matmul works on. Strides count values. */
typedef struct {
  void *c;
  const void *a, *b;
  int64_t k, c_row, c_col, a_row, a_col;
  int64_t b_row;         /* of micro, from k to k + 1; of dot, a line's */
  int64_t panels;        /* of B side by side, or (down) of packed A one behind another */
  const char *next;      /* rows to be fetched meanwhile, two cache lines of each; or NULL */
  int64_t far_row, fars; /* bytes to the next, 0: none; how many a tile of packed A fetches */
  void *copy;            /* if not NULL, what is fetched is copied here: B's next panel */
  int rows, columns, add, down; /* add: to what C holds */
} gt__cpu_tile;
typedef struct {
  int width, native;             /* bytes of a value; its dtype */
  int vector, rows, panel, dots; /* values of one; micro's rows and columns; rows of a dot */
  void (*step)(int op, void *out, const void *pa, const void *pb, const void *pc, int64_t n);
  void (*fold)(int fold, void *pa, void *at, const void *pb, int64_t n, int64_t rows, int64_t pitch,
               int64_t row);
  void (*lanes)(int fold, void *pa, void *at, const void *pb, int64_t n, int64_t count);
  void (*scan)(int fold, void *to, const void *from, int64_t n, int64_t k, void *level);
  void (*make)(const gt__program *p, int op, void *to, const void *pb, const void *pc,
               int64_t first, int64_t n);
  void (*micro)(const gt__cpu_tile *t);
  void (*few)(const gt__cpu_tile *t); /* of all rows and columns */
  void (*dot)(const gt__cpu_tile *t);
  void (*pack)(void *to, int64_t panel, int64_t pitch, const void *from, int64_t line,
               int64_t along, int64_t n, int64_t k);
} gt__cpu_loops;
typedef struct {
  const char *name;
  const gt__cpu_loops *loops[3];
  int amx, needs; /* needs: 2 AVX2 and FMA, 3 AVX-512, 4 AMX, too */
} gt__cpu_isa;
/* Steps beside the operations. Conversions between a dtype in memory and the three compute types
   are steps, too; only these take an n that is no multiple of 64. */
enum { GT__FROM = GT__OPS };                 /* + dtype */
enum { GT__TO = GT__FROM + (int)GT_DTYPES }; /* + dtype */
enum {
  GT__OP_mul_add = GT__TO + (int)GT_DTYPES, /* two steps in one loop, each of them rounded */
  GT__OP_less,                              /* a - b, and so on, where b is one number */
  GT__OP_over,
  GT__OP_exp_less,
  GT__OP_near_exp, /* of values below 87 (708), so without limits */
  GT__OP_near_exp_less,
  GT__OP_far /* sin, cos or tan of any values; their own steps: below 2^15 (2^40) */
};
/* Folds beside the operations': one of the largest or least values; a NaN may be left out. */
enum { GT__FOLD_TOP = GT__FOLD_ARGMIN + 1, GT__FOLD_BOTTOM, GT__FOLD_SOME, GT__FOLD_EVERY };
/* The step that takes op's place where values allow it (near_) or ask for it (far). */
static int gt__cpu_other(int op) {
  switch (op) {
    case GT__OP_exp: return GT__OP_near_exp;
    case GT__OP_exp_less: return GT__OP_near_exp_less;
    case GT__OP_sin:
    case GT__OP_cos:
    case GT__OP_tan: return GT__OP_far;
    default: return op;
  }
}
typedef void (*gt__cpu_step)(int op, void *out, const void *pa, const void *pb, const void *pc,
                             int64_t n);
/* Converts the n values, fewer than a group, behind the first `whole`: as a group of their own. */
static void gt__cpu_convert_rest(gt__cpu_step step, int width, int op, void *out, const void *from,
                                 int64_t whole, int64_t n) {
#define GT__SIZE(dtype, M, value, memory) sizeof(M),
  static const uint8_t size[] = {GT__MEMORY_TYPES(GT__SIZE)};
#undef GT__SIZE
  char a[GT__GROUP * 8] __attribute__((aligned(64))) = {0};
  char b[GT__GROUP * 8] __attribute__((aligned(64)));
  const int in = op < GT__TO ? size[op - GT__FROM] : width;
  const int to = op < GT__TO ? width : size[op - GT__TO];
  memcpy(a, (const char *)from + whole * in, (size_t)(n * in));
  step(op, b, a, a, a, GT__GROUP);
  memcpy((char *)out + whole * to, b, (size_t)(n * to));
}
/* Masks: two vectors become the lower (0) or the upper half of x0 y0 x1 y1 ...; y0 is number n */
#define GT__ZIP_2(x, n) x, x + n
#define GT__ZIP_4(x, n) GT__ZIP_2(x, n), GT__ZIP_2(x + 1, n)
#define GT__ZIP_8(x, n) GT__ZIP_4(x, n), GT__ZIP_4(x + 2, n)
#define GT__ZIP_16(x, n) GT__ZIP_8(x, n), GT__ZIP_8(x + 4, n)
#endif /* GPUTENSOR_PLAIN */
#endif /* GPUTENSOR_IMPLEMENTATION */
#endif
#if GT__EXCERPT == GT__LOOPS
/* In a text of loops L(step) is the step function of this type and instruction set, and N the type
   of its products: unsigned for integers, which wrap. Tiles fill the registers, 32 or 16 of them.
   */
#define GT__F(name) F(name)
#if GT__TYPE
#define FLOATS
#define N T
#define GT__EITHER(f, i) f
#else
#define N uint64_t
#define GT__EITHER(f, i) i
#endif
#if GT__TYPE == 32
#define MASK int32_t
#define DTYPE GT_FLOAT32
#else
#define MASK int64_t
#define DTYPE (GT__TYPE ? (int)GT_FLOAT64 : (int)GT_INT64)
#endif
#if GT__ISA == 1
#define IN_REGISTER(x) (void)0
#else
#define IN_REGISTER(x) __asm__("" : "+v"(x)) /* not loaded for each use */
#endif
#if GT__ISA == 2
#define L(name) F(cpu_avx2_##name)
#define PACK_64_OF_SET gt__cpu_avx2_pack_f64
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define ROWS 6
#define WIDE 2
#define DOTS 2
#if GT__TYPE == 32
#define ZIPS 8
#else
#define ZIPS 4
#endif
#endif
#if GT__ISA == 3
#define L(name) F(cpu_avx512_##name)
#define PACK_64_OF_SET gt__cpu_avx512_pack_f64
#ifdef __clang__
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#else /* -march=native of a Xeon would make vectors of 256 bits: maps take 1.2 times as long */
#define TARGET \
  __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,prefer-vector-width=512")))
#endif
#define BYTES 64
#if GT__TYPE
#define ROWS 14
#else /* integers take longer to multiply than to load */
#define ROWS 8
#endif
#define WIDE 2
#define DOTS 4
#if GT__TYPE == 32
#define ZIPS 16
#else
#define ZIPS 8
#endif
#endif
#if GT__ISA == 1
#define L(name) F(cpu_baseline_##name)
#define PACK_64_OF_SET gt__cpu_baseline_pack_f64
#define TARGET
#define BYTES 16
#if GT__TYPE == 32
#define ZIPS 4
#else
#define ZIPS 2
#endif
#define ROWS 8
#define WIDE 3
#define DOTS 4
#endif
#define ZIP(half) GT__JOIN(GT__ZIP_, ZIPS)(half * ZIPS / 2, ZIPS)
#ifdef GT__TILES_ALONE /* steps, folds and packing are another set's */
#define S(name) F(cpu_avx2_##name)
#define PACK_64 gt__cpu_avx2_pack_f64
#else
#define S(name) L(name)
#define PACK_64 PACK_64_OF_SET
#endif
#if GT__TYPE == 32
#define PACK S(pack)
#else
#define PACK PACK_64 /* which moves integers as well */
#endif
#if defined(__OPTIMIZE__) || GT__TYPE == 32
#define STEPPING GT__LIGHTLY("off")
#else /* at -O0 vectors of 64 bits would take a tenth of the time to compile */
#define STEPPING GT__RARELY
#endif
#ifndef GT__TILES_ALONE
/* ---- steps: one loop for each operation of the table and for each conversion ---- */
/* out[i] = formula of a, an S, and of what `others` declares; what it leaves out is never loaded.
   */
#define LOOP(op, D, S, others, formula) \
  case op: \
    GT__IVDEP for (int64_t i = 0; i < n; i++) { \
      const S a = ((const S *)pa)[i]; \
      others; \
      (void)a; \
      ((D *)out)[i] = (D)(formula); \
    } \
    break;
#define B_C \
  const T b = ((const T *)pb)[i], c = ((const T *)pc)[i]; \
  (void)b, (void)c
#define ONE_B \
  const T b = *(const T *)pb; \
  (void)b
#define STEP(name, arity, result, cost, f, integer) \
  LOOP(GT__OP_##name, T, T, B_C, GT__EITHER(f, integer))
#define BY_ONE(name, f) LOOP(GT__OP_##name, T, T, ONE_B, GT__EITHER(f, a))
#define CONVERT(dtype, M, value, memory) \
  LOOP(GT__FROM + (int)GT_##dtype, T, M, (void)0, value) \
  LOOP(GT__TO + (int)GT_##dtype, M, T, (void)0, memory)
#ifdef FLOATS
/* Is `other` the step for these values? near_exp if none is beyond its limit, far if one is. */
STEPPING TARGET static int L(is_for)(int other, const T *a, const T *b, int64_t n) {
  const T less = other == GT__OP_near_exp_less ? *b : (T)0;
  const T most = other == GT__OP_far ? K(0x1p15f, 0x1p40) : K(87, 708);
  T outside = 0;
  for (int64_t i = 0; i < n; i++) {
    const T size = F(abs)(a[i] - less);
    outside = !(size < most) ? (T)1 : outside;
  }
  return (outside == 0) == (other != GT__OP_far);
}
#endif
#define GT__ANGLE(which) F(trig)(a, which, 0)
STEPPING TARGET static void L(step)(int op, void *out, const void *pa, const void *pb,
                                    const void *pc, int64_t all) {
  const int64_t n = all & -(int64_t)GT__GROUP;
  if (n < all && op >= GT__FROM && op < GT__OP_mul_add)
    gt__cpu_convert_rest(L(step), (int)sizeof(T), op, out, pa, n, all - n);
#ifdef FLOATS
  const U which = op == GT__OP_tan ? 2 : op == GT__OP_cos; /* for far */
  const int other = gt__cpu_other(op);
  if (other != op)
    if (L(is_for)(other, (const T *)pa, (const T *)pb, n)) op = other;
#endif
  switch (op) {
    GT__OPERATIONS(STEP)
    GT__MEMORY_TYPES(CONVERT)
    LOOP(GT__OP_mul_add, T, T, B_C, F(add)(F(mul)(a, b), c))
#ifdef FLOATS
    BY_ONE(less, GT__SUB(a, b))
    BY_ONE(over, GT__DIV(a, b))
    BY_ONE(exp_less, F(exp)(GT__SUB(a, b)))
    BY_ONE(near_exp_less, F(exp_normal)(GT__SUB(a, b)))
    STEP(near_exp, 1, FLOAT, HEAVY, F(exp_normal)(a), a)
    STEP(far, 1, FLOAT, HEAVY, F(trig)(a, which, 1), a)
#endif
  }
}
#undef LOOP
#undef GT__ANGLE
#undef B_C
#undef ONE_B
#undef STEP
#undef BY_ONE
#undef CONVERT
/* Makes values from the indices of their elements, whole groups of them, first + i for number i. */
GT__FOLDING("no-")
TARGET static void L(make)(const gt__program *p, int op, void *to, const void *pb, const void *pc,
                           int64_t first, int64_t all) {
  const int64_t n = (all + GT__GROUP - 1) & ~(int64_t)(GT__GROUP - 1);
  const uint64_t counter = p->offset + (uint64_t)first;
  T *out = (T *)to;
  if (op == GT__INDEX) {
    for (int64_t i = 0; i < n; i++) out[i] = (T)(first + i);
    return;
  }
#ifdef FLOATS
  (void)pb, (void)pc;
  if (op == GT__UNIFORM)
    for (int64_t i = 0; i < n; i++) {
      const uint64_t number = counter + (uint64_t)i;
      out[i] = F(random)(GT__UNIFORM, p->seed, number);
    }
  else
    for (int64_t i = 0; i < n; i++) {
      const uint64_t number = counter + (uint64_t)i;
      out[i] = F(random)(GT__NORMAL, p->seed, number);
    }
#else
  const T *low = (const T *)pb, *range = (const T *)pc;
  for (int64_t i = 0; i < n; i++)
    out[i] = gt__random_i64(p->seed, counter + (uint64_t)i, low[i], range[i]);
#endif
}
/* ---- folds ---- */
#define EACH_FOLD(function, ...) \
  switch (fold) { \
    case GT__FOLD_SUM: L(function)(GT__FOLD_SUM, __VA_ARGS__); break; \
    case GT__FOLD_PROD: L(function)(GT__FOLD_PROD, __VA_ARGS__); break; \
    case GT__FOLD_MAX: L(function)(GT__FOLD_MAX, __VA_ARGS__); break; \
    default: L(function)(GT__FOLD_MIN, __VA_ARGS__); break; \
  }
GT__INSIDE TARGET int L(is_nan)(T x) { return GT__EITHER(x != x, 0); }
/* For a `mirror` of -1, -x of a float, ~x of an integer; for 1, or 0 of integers, x itself. */
GT__INSIDE TARGET T L(mirrored)(T x, T mirror) {
  return GT__EITHER(GT__MUL(x, mirror), x ^ mirror);
}
/* SOME and EVERY tell whether a value that is not 0 is among them, or no other. */
GT__INSIDE TARGET T L(join)(const int fold, T x, T y) {
  if (fold == GT__FOLD_TOP) return y > x ? y : x;
  if (fold == GT__FOLD_BOTTOM) return y < x ? y : x;
  if (fold == GT__FOLD_SOME) return y != 0 ? (T)1 : x;
  if (fold == GT__FOLD_EVERY) return y != 0 ? x : (T)0;
  return F(fold)(fold, x, y);
}
/* a[i] takes in b[i], for an n that is a multiple of 16, or small and known to the compiler. */
GT__INSIDE TARGET void L(take)(const int fold, T *a, const T *b, int64_t n) {
  GT__IVDEP for (int64_t i = 0; i < n; i++) {
    const T x = b[i];
    a[i] = L(join)(fold, a[i], x);
  }
}
/* Four rows at once, while lines of the next rows are fetched: many short rows outwit the
   processor's own prefetching, and a Zen 4 sums rows of 1024 three times faster. Of TOP and BOTTOM
   it says whether a NaN passed, or a zero that another may have had to replace. */
GT__INSIDE TARGET int L(take_four)(const int fold, T *a, const T *b, int64_t n, int64_t pitch,
                                   T mirror) {
  U hard = 0;
  if (pitch == n && n * (int64_t)sizeof(T) >= 2048)
    for (int64_t i = 8 * n; i < 12 * n; i += 64 / sizeof(T)) __builtin_prefetch(b + i);
  GT__IVDEP for (int64_t i = 0; i < n; i++) {
    const T b0 = L(mirrored)(b[i], mirror);
    const T b1 = L(mirrored)(b[i + pitch], mirror);
    const T b2 = L(mirrored)(b[i + 2 * pitch], mirror);
    const T b3 = L(mirrored)(b[i + 3 * pitch], mirror);
    const T x = L(join)(fold, L(join)(fold, a[i], b0), b1);
    a[i] = L(join)(fold, L(join)(fold, x, b2), b3);
#ifdef FLOATS
    const U bits = F(bits)(a[i]);
    if (fold == GT__FOLD_TOP) hard |= (U)(bits == F(minus));
    if (fold == GT__FOLD_BOTTOM) hard |= (U)(bits == 0);
    if (fold == GT__FOLD_TOP || fold == GT__FOLD_BOTTOM)
      hard |= (U)(__builtin_isunordered(b0, b1) | __builtin_isunordered(b2, b3));
#endif
  }
  return hard != 0;
}
/* Largest and least are found by comparison alone. That is wrong for NaN, and for +0 beside -0 if
   the other one should win. Where that is possible the rows are folded once more by the exact
   function: folding a maximum twice changes nothing. Columns behind the last 16 are folded one by
   one. */
GT__INSIDE TARGET void L(take_rows)(const int fold, T *a, const T *b, int64_t all, int64_t rows,
                                    int64_t pitch) {
  int quick = fold;
#ifdef FLOATS
  if (fold == GT__FOLD_MAX) quick = GT__FOLD_TOP;
  if (fold == GT__FOLD_MIN) quick = GT__FOLD_BOTTOM;
#endif
  const int64_t n = all & ~(int64_t)15;
  int64_t k = 0;
  for (; k + 4 <= rows; k += 4)
    if (L(take_four)(quick, a, b + k * pitch, n, pitch, GT__EITHER(1, 0))) break;
  for (; k < rows; k++) L(take)(fold, a, b + k * pitch, n);
  for (int64_t i = n; i < all; i++) {
    T x = a[i];
    const T *column = b + i;
    for (k = 0; k < rows; k++) x = L(join)(fold, x, column[k * pitch]);
    a[i] = x;
  }
}
GT__FOLDING("no-")
TARGET static void L(rows)(int fold, T *a, const T *b, int64_t n, int64_t rows, int64_t pitch) {
  EACH_FOLD(take_rows, a, b, n, rows, pitch);
}
GT__INSIDE TARGET void L(clear)(T *a, T none, int64_t n) {
  for (int64_t i = 0; i < n; i++) a[i] = none;
}
/* Notes in *place, as a value, the row whose value won. */
GT__INSIDE TARGET void L(take_place)(const int fold, T *a, T *place, T x, T row) {
  const int better = fold == GT__FOLD_ARGMAX ? x > *a : x < *a;
  const int wins = better | (L(is_nan)(x) & !L(is_nan)(*a));
  *a = wins ? x : *a;
  *place = wins ? row : *place;
}
/* Two rows at once; a last one without another is taken twice, which changes nothing. */
GT__INSIDE TARGET void L(take_places)(const int fold, T *a, T *place, const T *b, int64_t n,
                                      int64_t rows, int64_t pitch, int64_t row) {
  if (row == 0) L(clear)(place, 0, n);
  for (int64_t k = 0; k < rows; k += 2, b += 2 * pitch) {
    const T *next = k + 1 < rows ? b + pitch : b;
    const T number = (T)(row + k);
    GT__IVDEP for (int64_t i = 0; i < n; i++) {
      T best = a[i], at = place[i];
      L(take_place)(fold, &best, &at, b[i], number);
      L(take_place)(fold, &best, &at, next[i], number + 1);
      a[i] = best;
      place[i] = at;
    }
  }
}
/* Is one of the values 0, or, if not `zero`, is one another? */
GT__FOLDING("") TARGET static int L(meets)(const T *b, int64_t n, int zero) {
  int64_t i = 0;
  for (; i + GT__GROUP <= n; i += GT__GROUP) {
    U found = 0;
    for (int j = 0; j < GT__GROUP; j++) {
      const int is = b[i + j] == 0;
      found |= (U)(is == zero);
    }
    if (found) return 1;
  }
  while (i < n && (b[i] == 0) != zero) i++;
  return i < n;
}
/* Folds `rows` rows of n values, `pitch` apart, into a[0..n), in order. `row` is the number of the
   first; if it is 0, a is set to the identity first, and places to 0. */
GT__FOLDING("no-")
TARGET static void L(fold)(int fold, void *pa, void *at, const void *pb, int64_t n, int64_t rows,
                           int64_t pitch, int64_t row) {
  const T *b = (const T *)pb;
  T *a = (T *)pa, *place = (T *)at;
  const int every = fold == GT__FOLD_EVERY;
  if (row == 0) L(clear)(a, every ? (T)1 : F(identity)(fold), n);
  if (every) L(take_rows)(GT__FOLD_EVERY, a, b, n, rows, pitch);
  else if (fold == GT__FOLD_SOME) L(take_rows)(GT__FOLD_SOME, a, b, n, rows, pitch);
  else if (fold == GT__FOLD_ARGMAX)
    L(take_places)(GT__FOLD_ARGMAX, a, place, b, n, rows, pitch, row);
  else if (fold == GT__FOLD_ARGMIN)
    L(take_places)(GT__FOLD_ARGMIN, a, place, b, n, rows, pitch, row);
  else if (rows) L(rows)(fold, a, b, n, rows, pitch);
}
/* Lanes combine by halving; `most`, a power of two, of them hold values. */
GT__INSIDE TARGET void L(halve)(const int fold, T *lane, int64_t most) {
  for (int64_t half = most / 2; half >= 16; half /= 2)
    L(take)(fold, lane, lane + half, half & ~(int64_t)15);
  L(take)(fold, lane, lane + 8, 8);
  L(take)(fold, lane, lane + 4, 4);
  L(take)(fold, lane, lane + 2, 2);
  L(take)(fold, lane, lane + 1, 1);
}
/* Takes in the last row of a chunk, which may be short, and combines the lanes. */
GT__INSIDE TARGET void L(finish)(const int fold, T *lane, const T *b, int64_t all, int64_t most) {
  const int64_t n = all & ~(int64_t)15;
  L(take)(fold, lane, b, n);
  for (int64_t i = n; i < all; i++) {
    const T x = b[i];
    lane[i] = F(fold)(fold, lane[i], x);
  }
  L(halve)(fold, lane, most);
}
GT__FOLDING("") TARGET static T L(chunk)(int fold, const T *b, int64_t n) {
  T lane[GT__LANES] __attribute__((aligned(64)));
  const int64_t rows = n / GT__LANES, rest = n % GT__LANES;
  int64_t most = 16;
  while (most < n && most < GT__LANES) most *= 2;
  L(clear)(lane, F(identity)(fold), most);
  if (rows) L(rows)(fold, lane, b, GT__LANES, rows, GT__LANES);
  EACH_FOLD(finish, lane, b + rows * GT__LANES, rest, most);
  return lane[0];
}
/* The largest value by comparison alone, in as many lanes as are fast, since order is free; the
   least one if `mirror` is -1. The last group may reach back over the one before: twice is once. */
GT__INSIDE TARGET int L(extreme)(T *to, const T *b, int64_t n, const int group, T mirror) {
  T lane[GT__GROUP] __attribute__((aligned(64)));
  int64_t first = 0;
  U odd = 0;
  L(clear)(lane, F(identity)(GT__FOLD_MAX), group);
  for (; first + 4 * group <= n; first += 4 * group)
    odd |= (U)L(take_four)(GT__FOLD_TOP, lane, b + first, group, group, mirror);
  for (; first < n; first += group) {
    const T *x = b + (first + group <= n ? first : n - group);
    GT__IVDEP for (int i = 0; i < group; i++) {
      lane[i] = L(join)(GT__FOLD_TOP, lane[i], L(mirrored)(x[i], mirror));
      odd |= (U)L(is_nan)(x[i]);
    }
  }
  L(halve)(GT__FOLD_TOP, lane, group);
  *to = L(mirrored)(lane[0], mirror);
  return (odd != 0) | GT__EITHER((*to == 0), 0);
}
/* The largest value, in as many lanes as n values allow. Returns whether it must be found again by
   the exact fold: there was a NaN, or it is a zero. */
GT__INSIDE TARGET int L(best)(T *to, const T *b, int64_t n, T mirror) {
  if (GT__EITHER(n >= 512, 0)) return L(extreme)(to, b, n, GT__GROUP, mirror);
  if (n >= 16) return L(extreme)(to, b, n, 16, mirror);
  T x = F(identity)(GT__FOLD_MAX);
  int odd = 0;
  for (int64_t i = 0; i < n; i++) {
    odd |= L(is_nan)(b[i]);
    x = L(join)(GT__FOLD_TOP, x, L(mirrored)(b[i], mirror));
  }
  *to = L(mirrored)(x, mirror);
  return odd | GT__EITHER((x == 0), 0);
}
/* Skips steps of values, none of which is x or a NaN. */
GT__INSIDE TARGET int64_t L(skip)(const T *b, int64_t n, T x, int64_t first, const int step) {
  for (; first + step < n; first += step) {
    U found = 0;
    for (int i = 0; i < step; i++) {
      const T y = b[first + i];
      found |= (U)((y == x) | L(is_nan)(y));
    }
    if (found) break;
  }
  return first;
}
GT__FOLDING("") TARGET static int64_t L(find)(const T *b, int64_t n, T x) {
  int64_t first = L(skip)(b, n, x, 0, 128);
  first = L(skip)(b, n, x, first, 16);
  while (first + 1 < n && b[first] != x && !L(is_nan)(b[first])) first++;
  return first;
}
/* a[c] becomes the fold of chunk c of `count`, n values each, at[c] the place in it */
GT__FOLDING("")
TARGET static void L(lanes)(int fold, void *pa, void *at, const void *pb, int64_t n,
                            int64_t count) {
  T *a = (T *)pa;
  const T *b = (const T *)pb;
  int exact = fold;
  if (gt__finds_index(fold)) exact += GT__FOLD_MAX - GT__FOLD_ARGMAX;
  const int least = exact == GT__FOLD_MIN || fold == GT__FOLD_BOTTOM;
  const T mirror = least ? (T)-1 : (T)GT__EITHER(1, 0);
  const int every = fold == GT__FOLD_EVERY;
  if (every || fold == GT__FOLD_SOME) {
    for (int64_t c = 0; c < count; c++, b += n) {
      const int met = L(meets)(b, n, every);
      a[c] = (T)(met != every);
    }
    return;
  }
  for (int64_t c = 0; c < count; c++, b += n) {
    __builtin_prefetch(b + n + 1024 / (int64_t)sizeof(T));
    int hard = fold < GT__FOLD_TOP;
    if (exact > GT__FOLD_PROD) hard &= L(best)(a + c, b, n, mirror);
    if (hard) a[c] = L(chunk)(exact, b, n);
    if (exact == fold) continue;
    T *place = (T *)at + c;
    *place = (T)L(find)(b, n, a[c]);
  }
}
/* THE SCAN of a row's values from number k, a multiple of 16, on. */
GT__INSIDE TARGET T L(scan_run)(const int fold, T *to, const T *from, int64_t n, T before) {
  T run = F(identity)(fold);
  GT__UNROLL_4 for (int64_t i = 0; i < n; i++) {
    run = F(fold)(fold, run, from[i]);
    to[i] = F(fold)(fold, before, run);
  }
  return run;
}
/* Sums have a loop of their own; one for all others is light, and half as fast. */
GT__FOLDING("")
TARGET static void L(scan)(int fold, void *to, const void *from, int64_t n, int64_t k,
                           void *levels) {
  const T *x = (const T *)from;
  T *y = (T *)to, run;
  T(*level)[2] = (T(*)[2])levels;
  if (k == 0) **level = F(identity)(fold);
  for (; n > 0; n -= GT__RUN, k += GT__RUN, x += GT__RUN) {
    const int64_t some = gt__least(n, GT__RUN);
    if (fold == GT__FOLD_SUM) run = L(scan_run)(GT__FOLD_SUM, y, x, some, **level);
    else run = L(scan_run)(fold, y, x, some, **level);
    if (n >= GT__RUN) F(scan)(fold, level + 1, k / GT__RUN, run);
    y += GT__RUN;
  }
}
#undef EACH_FOLD
#endif
/* ---- kernels of matmul: register blocks of C, written with the compilers' vector types ---- */
typedef N L(vector) __attribute__((vector_size(BYTES)));
typedef N L(unaligned) __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef N L(number) __attribute__((may_alias));
typedef MASK L(mask) __attribute__((vector_size(BYTES)));
#define V L(vector)
#define AT(p) (*(L(unaligned) *)(p))
#define READ(p) (*(const L(unaligned) *)(const void *)(p))
enum { L(width) = BYTES / sizeof(N) };
#define LANES L(width)
/* Rows of a tile, from the last one on: its number, the pointer into A, and the rows from there.
   Three rows share a pointer, as processors add an index and its double. */
#define ROWS_2(X) X(1, a0, 1) X(0, a0, 0)
#define ROWS_4(X) X(3, a1, 0) X(2, a0, 2) ROWS_2(X)
#define ROWS_6(X) X(5, a1, 2) X(4, a1, 1) ROWS_4(X)
#define ROWS_8(X) X(7, a2, 1) X(6, a2, 0) ROWS_6(X)
#define ROWS_10(X) X(9, a3, 0) X(8, a2, 2) ROWS_8(X)
#define ROWS_12(X) X(11, a3, 2) X(10, a3, 1) ROWS_10(X)
#define ROWS_14(X) X(13, a4, 1) X(12, a4, 0) ROWS_12(X)
#define EACH_ROW(X) GT__JOIN(ROWS_, ROWS)(X)
#define EACH_CASE(X) EACH_ROW(X) default : break;
#define SUMS(i, p, r) \
  V s##i##_0 = zero; \
  V s##i##_1 = zero; \
  V s##i##_2 = zero;
#define ADD_ROW(i, y) \
  s##i##_0 += (y)*x0; \
  if (vectors > 1) s##i##_1 += (y)*x1; \
  if (vectors > 2) s##i##_2 += (y)*x2;
#define STORE_ROW(i) \
  L(store)(c + i * c_row, s##i##_0, t->add); \
  if (vectors > 1) L(store)(c + i * c_row + at1, s##i##_1, t->add); \
  if (vectors > 2) L(store)(c + i * c_row + at2, s##i##_2, t->add);
/* Sums begin at +0, and a -0 that an underflow left becomes +0 in the store. */
GT__INSIDE TARGET void L(store)(N *to, V sum, int add) {
  GT__FUSE
  V before = {0};
  if (add) before = AT(to);
  AT(to) = sum + before;
}
/* A tile of up to ROWS rows and `vectors` vectors from A as it lies: its sums stay in registers
   over all of k, and with vectors of B, and a value of A for all lanes, fill them. One body serves
   all heights: for each k it is entered at the last row. Meanwhile B's next lines are fetched, and
   now and then a row of C, unless `next` is NULL; of what may lie across two cache lines the
   second, as the first came with what is beside it. */
/* clang-format off */
#define AND_BELOW __attribute__((fallthrough));
#define ADD_LYING(i, p, r) case i + 1: ADD_ROW(i, p[r * a_row]) AND_BELOW
#define STORE_LYING(i, p, r) case i + 1: STORE_ROW(i) AND_BELOW
/* clang-format on */
GT__INSIDE TARGET void L(lying)(const int vectors, const int rows, const gt__cpu_tile *t) {
  GT__FUSE
  const V zero = {0};
  const int64_t a_row = t->a_row, a_col = t->a_col, b_row = t->b_row, c_row = t->c_row;
  const int64_t every = t->next ? 16 : t->k; /* after so many k a row of C is fetched */
  /* where a line's other vectors begin; the last one ends with it and may overlap the one before */
  const int64_t last = t->columns - LANES, at1 = vectors > 2 ? (int64_t)LANES : last, at2 = last;
  for (int64_t panel = 0; panel < t->panels; panel++) {
    const N *b = (const N *)t->b + panel * vectors * LANES;
    N *c = (N *)t->c + panel * vectors * LANES;
    const char *next = t->next + panel * vectors * BYTES;
    const L(number) *a0 = (const L(number) *)t->a;
    const L(number) *a1 = a0 + 3 * a_row, *a2 = a1 + 3 * a_row;
    const L(number) *a3 = a2 + 3 * a_row, *a4 = a3 + 3 * a_row;
    V x0 = zero, x1 = zero, x2 = zero;
    EACH_ROW(SUMS)
    for (int64_t k = 0, row = 0; k < t->k; row++) {
      const int64_t end = k + every < t->k ? k + every : t->k;
      for (int j = 0; t->next && row < rows && j < vectors; j++)
        __builtin_prefetch(c + row * c_row + j * LANES + LANES - 1, 1);
      for (; k < end; k++) {
        x0 = READ(b);
        if (vectors > 1) x1 = READ(b + at1);
        if (vectors > 2) x2 = READ(b + at2);
        if (t->far_row) __builtin_prefetch(next + 63, 0, 2);
        if (t->far_row) __builtin_prefetch(next + 127, 0, 2);
        if (rows < 1 || rows > ROWS) __builtin_unreachable();
        switch (rows) { EACH_CASE(ADD_LYING) }
        b += b_row;
        next += t->far_row;
        a0 += a_col;
        a1 += a_col;
        a2 += a_col;
        a3 += a_col;
        a4 += a_col;
      }
    }
    switch (rows) { EACH_CASE(STORE_LYING) }
    (void)x1, (void)x2, (void)at1, (void)at2;
    (void)a1, (void)a2, (void)a3, (void)a4;
  }
}
/* The same for ROWS rows and WIDE vectors of packed A: (1) one pointer and constant offsets
   address it; (2) it is fetched into L1 ahead, for 512-bit vectors alone, as processors do so for
   narrower ones; (3) each tile fetches, or copies, its share of B's next panel; (4) four k are
   done at a time, from the beginning of a cache line on. Together 10 to 20 %. Such tiles follow
   one another down A in one call. Integers do without. */
#define ADD_PACKED(i, p, r) ADD_ROW(i, a[i])
#define STORE_PACKED(i, p, r) STORE_ROW(i)
GT__INSIDE TARGET void L(packed)(const gt__cpu_tile *t) {
  GT__FUSE
  enum { vectors = WIDE };
  enum { at1 = BYTES / sizeof(N) };
  enum { at2 = 2 * at1 };
  enum { broad = WIDE * at1 };
  const V zero = {0};
  const int64_t c_row = t->c_row, b_row = t->b_row, far_row = t->far_row;
  const int64_t least = ROWS > 8 ? 16 : 32;
  const int64_t steps = t->k / (t->fars > ROWS ? t->fars : ROWS);
  const int64_t every = steps > least ? steps & ~(int64_t)3 : least;
  const int64_t lines = t->fars * every / (t->k + 1) + 1; /* to fetch each time */
  const int64_t soon = t->copy ? 16 * far_row : 0, ahead = 1024 / sizeof(N);
  N *copy = (N *)t->copy;
  for (int64_t panel = 0; panel < t->panels; panel++) {
    const int64_t above = t->down ? panel * ROWS * t->k : 0;
    const L(number) *a = (const L(number) *)t->a + above;
    const N *b = (const N *)t->b + (t->down ? 0 : panel * broad);
    N *c = (N *)t->c + panel * (t->down ? ROWS * c_row : (int64_t)broad);
    const int64_t apart = t->down ? t->fars * far_row : broad * (int)sizeof(N);
    const char *next = t->next + panel * apart;
    const int64_t behind = t->k - t->fars * panel;
    int64_t left = t->down && behind < t->fars ? behind : t->fars;
    V x0 = zero, x1 = zero, x2 = zero;
    EACH_ROW(SUMS)
    for (int64_t k = 0, row = 0; k < t->k; row++) {
      const int64_t end = k + every < t->k ? k + every : t->k;
      for (int j = 0; row < ROWS && j < vectors; j++)
        __builtin_prefetch(c + row * c_row + j * at1 + at1 - 1, 1);
      for (int64_t line = 0; line < lines && left > 0; line++, left--, next += far_row) {
        __builtin_prefetch(next + soon + 63, 0, 2); /* into L2: L1 is full */
        __builtin_prefetch(next + soon + 127, 0, 2);
        if (!copy) continue;
        for (int j = 0; j < vectors; j++) AT(copy + j * at1) = READ(next + j * BYTES);
        copy += broad;
      }
      GT__UNROLL_4 for (; k < end; k++, b += b_row, a += ROWS) {
        x0 = READ(b);
        if (vectors > 1) x1 = READ(b + at1);
        if (vectors > 2) x2 = READ(b + at2);
        if (BYTES > 32) __builtin_prefetch(a + ahead);
        if (ROWS * sizeof(N) > 64) __builtin_prefetch(a + ahead + ROWS / 2);
        EACH_ROW(ADD_PACKED)
      }
    }
    EACH_ROW(STORE_PACKED)
    (void)x1, (void)x2;
  }
}
GT__FUSED TARGET static void L(micro)(const gt__cpu_tile *t) {
  const int full = t->rows == ROWS && t->columns == WIDE * LANES;
  if (full && GT__EITHER(t->a_row == 1 && t->a_col == ROWS, 0)) L(packed)(t);
  else if (t->columns == 1) L(lying)(1, t->rows, t);
  else if (GT__EITHER(t->rows == 1, 0)) L(lying)(WIDE, 1, t);
  else L(lying)(WIDE, t->rows, t);
}
/* All of a small product, most of it in tiles of one height, of which nothing is fetched. */
GT__FUSED TARGET static void L(few)(const gt__cpu_tile *all) {
  enum { high = ROWS > 8 ? 8 : 4 };
  enum { broad = WIDE * BYTES / sizeof(N) };
  gt__cpu_tile t = *all;
  t.far_row = 0; /* as they are: compilers are to know */
  t.next = NULL;
  for (int j = 0, some; j < all->columns; j += some) {
    some = all->columns - j;
    t.panels = some > broad ? some / broad : 1;
    if (some > broad) some = broad;
    t.columns = some > broad - (int)LANES ? some : 1;
    if (t.columns == 1) some = LANES;
    if (j > all->columns - some) j = all->columns - some;
    some *= (int)t.panels;
    for (int i = 0; i < all->rows; i += t.rows) {
      const int left = all->rows - i;
      t.rows = left <= ROWS && left % high ? left : high;
      t.a = (const N *)all->a + i * t.a_row;
      t.b = (const N *)all->b + j;
      t.c = (N *)all->c + i * t.c_row + j;
      if (t.rows != high || !GT__EITHER(1, 0)) L(micro)(&t);
      else if (t.columns > 1) L(lying)(WIDE, high, &t);
      else L(lying)(1, high, &t);
    }
  }
}
#undef SUMS
#undef ADD_ROW
#undef STORE_ROW
#undef AND_BELOW
#undef ADD_LYING
#undef STORE_LYING
#undef ADD_PACKED
#undef STORE_PACKED
#undef EACH_ROW
#undef EACH_CASE
#undef ROWS_2
#undef ROWS_4
#undef ROWS_6
#undef ROWS_10
#undef ROWS_12
#undef ROWS_8
#undef ROWS_14
/* ---- dot products of rows of A with rows of B^T, all of whose values lie side by side ----
   Two vectors of partial sums become one, x0 + x_half, y0 + y_half, ..., until each lane is a sum:
   of n vectors, 1 at the end. The order of additions is the same for every number of rows and
   columns. */
GT__INSIDE TARGET int L(add_lanes)(V *sum, const int count) {
  const L(mask) low = {ZIP(0)}, high = {ZIP(1)};
  int n = count;
  (void)low, (void)high;
  GT__UNROLL for (int width = 1; width < LANES; width *= 2) {
    const int half = n > 1 ? n / 2 : 0;
    GT__UNROLL for (int i = 0; i < count; i++) {
      if (i > 0 && i >= half) continue;
      const V lower = GT__SHUFFLE(sum[i], sum[i + half], low, ZIP(0));
      sum[i] = lower + GT__SHUFFLE(sum[i], sum[i + half], high, ZIP(1));
    }
    n = half ? half : 1;
  }
  return n;
}
/* `rows` rows of A times up to four columns: where fewer exist, the last one stands for those
   behind it. */
GT__INSIDE TARGET void L(dots)(const int rows, const gt__cpu_tile *t) {
  GT__FUSE
  const V zero = {0};
  const N *a = (const N *)t->a, *line[4];
  const int64_t whole = t->k & ~(int64_t)(LANES - 1);
  V sum[DOTS * 4], x[4];
  GT__UNROLL for (int j = 0; j < 4; j++) {
    const int column = j < t->columns ? j : t->columns - 1;
    line[j] = (const N *)t->b + column * t->b_row;
  }
  GT__UNROLL for (int i = 0; i < rows * 4; i++) sum[i] = zero;
  for (int64_t k = 0; k < whole; k += LANES) {
    GT__UNROLL for (int j = 0; j < 4; j++) {
      V z = READ(line[j] + k);
      IN_REGISTER(z);
      x[j] = z;
    }
    GT__UNROLL for (int i = 0; i < rows; i++) {
      V y = READ(a + i * t->a_row + k);
      IN_REGISTER(y);
      GT__UNROLL for (int j = 0; j < 4; j++) sum[i * 4 + j] += y * x[j];
    }
  }
  /* sum number i is now in vector i % n, in lane i / n * apart */
  const int n = L(add_lanes)(sum, rows * 4), apart = LANES * n / (rows * 4);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < t->columns; j++) {
      const int number = i * 4 + j;
      N *to = (N *)t->c + i * t->c_row + j * t->c_col;
      N value = sum[number % n][number / n * apart];
      const N *row = a + i * t->a_row;
      for (int64_t k = whole; k < t->k; k++) value += row[k] * line[j][k];
      *to = value + (t->add ? *to : 0);
    }
}
GT__FUSED TARGET static void L(dot)(const gt__cpu_tile *t) {
#ifdef FLOATS
  if (t->rows == 1) L(dots)(1, t);
  else if (DOTS > 2 && t->rows == 2) L(dots)(2, t);
  else L(dots)(DOTS, t);
#else
  gt__cpu_tile one = *t;
  for (int i = 0; i < t->rows; i++) {
    L(dots)(1, &one);
    one.a = (const N *)one.a + t->a_row;
    one.c = (N *)one.c + t->c_row;
  }
#endif
}
#if GT__TYPE && !defined(GT__TILES_ALONE)
/* ---- packing: n lines of k values become to[k][panel], `pitch` values from k to k + 1 ----
   Behind the last line come copies of it. Each panel overwrites what is behind the last.
   Lines across: the values of a k lie side by side. Whole vectors are copied, also of what lies
   behind a line, but for the last k, behind which may be nothing. Returns how many k are done. */
GT__INSIDE TARGET int64_t L(copy_across)(N *to, int64_t panel, int64_t pitch, const N *from,
                                         int64_t along, int64_t n, int64_t k) {
  const int64_t behind = (panel + LANES - 1) / LANES * LANES - n;
  const int64_t safe = k - (behind + along - 1) / along;
  for (int64_t at = 0; at < safe; at++, to += pitch, from += along)
    for (int64_t i = 0; i < panel; i += LANES) {
      AT(to + i) = READ(from + i);
      __builtin_prefetch(from + 48 * along + i + LANES - 1);
    }
  return safe > 0 ? safe : 0;
}
/* Lines along k are transposed in squares: after as many rounds of interleaving row i with row i +
   half as a lane's number has bits, rows are columns. */
GT__INSIDE TARGET void L(transpose)(N *to, int64_t pitch, const N *const *start, int64_t at) {
  const L(mask) low = {ZIP(0)}, high = {ZIP(1)};
  V x[LANES], y[LANES];
  (void)low, (void)high;
  GT__UNROLL for (int r = 0; r < LANES; r++) x[r] = READ(start[r] + at);
  GT__UNROLL for (int round = 1; round < LANES; round *= 2) {
    GT__UNROLL for (int r = 0; r < LANES / 2; r++) {
      const V upper = x[r], under = x[r + LANES / 2];
      y[2 * r] = GT__SHUFFLE(upper, under, low, ZIP(0));
      y[2 * r + 1] = GT__SHUFFLE(upper, under, high, ZIP(1));
    }
    GT__UNROLL for (int r = 0; r < LANES; r++) x[r] = y[r];
  }
  GT__UNROLL for (int r = 0; r < LANES; r++) AT(to + r * pitch) = x[r];
}
GT__INSIDE TARGET void L(pack_across)(N *to, int64_t panel, int64_t pitch, const N *from,
                                      int64_t line, int64_t n, int64_t whole) {
  /* the next panel's lines are fetched, unless both fill a set of L1 */
  const int fetch = LANES < 8 || line * (int64_t)sizeof(N) % 4096;
  for (int64_t done = 0, i; done < panel && whole > 0; done = i + LANES) {
    const N *start[LANES];
    i = done + LANES > panel && panel > LANES ? panel - LANES : done;
    GT__UNROLL for (int r = 0; r < LANES; r++) {
      const int64_t number = i + r < n ? i + r : n - 1;
      start[r] = from + number * line;
    }
    for (int64_t at = 0; at < whole; at += LANES) {
      for (int r = 0; r < LANES && fetch && at % (64 / (int64_t)sizeof(N)) == 0; r++)
        __builtin_prefetch(start[r] + at + panel * line);
      L(transpose)(to + at * pitch + i, pitch, start, at);
    }
  }
}
GT__FUSED TARGET static void L(pack)(void *pto, int64_t panel, int64_t pitch, const void *pfrom,
                                     int64_t line, int64_t along, int64_t n, int64_t k) {
  N *to = (N *)pto;
  const N *from = (const N *)pfrom;
  int64_t done = along == 1 ? k & ~(int64_t)(LANES - 1) : 0;
  if (line == 1 && along > 0) done = L(copy_across)(to, panel, pitch, from, along, n, k);
  else L(pack_across)(to, panel, pitch, from, line, n, done);
  for (; done < k; done++)
    for (int64_t i = 0; i < panel; i++)
      to[done * pitch + i] = from[done * along + (i < n ? i : n - 1) * line];
}
#endif
#undef V
#undef AT
#undef READ
#undef LANES
static const gt__cpu_loops L(loops) = {
    (int)sizeof(T), DTYPE,   L(width), ROWS,    WIDE *L(width), DOTS, /* numbers */
    S(step),        S(fold), S(lanes), S(scan), S(make),              /* of maps and folds */
    L(micro),       L(few),  L(dot),   PACK};                         /* of products */
#undef STEPPING
#undef GT__F
#undef FLOATS
#undef N
#undef GT__EITHER
#undef MASK
#undef DTYPE
#undef L
#undef PACK
#undef IN_REGISTER
#undef PACK_64
#undef PACK_64_OF_SET
#undef TARGET
#undef BYTES
#undef ROWS
#undef WIDE
#undef DOTS
#undef ZIP
#undef ZIPS
#undef S
#undef GT__TYPE
#endif
#if GT__EXCERPT == GT__MAIN
#ifdef GPUTENSOR_IMPLEMENTATION
#ifndef GPUTENSOR_PLAIN
#undef GT__EXCERPT
#define GT__EXCERPT GT__LOOPS
#if GT__WITH_BASELINE
#define GT__ISA 1
#define GT__TYPE 32
#include GPUTENSOR_FILE
#define GT__TYPE 64
#include GPUTENSOR_FILE
#define GT__TYPE 0
#include GPUTENSOR_FILE
#undef GT__ISA
#endif
#if GT__WITH_AVX2
#define GT__ISA 2
#define GT__TYPE 32
#include GPUTENSOR_FILE
#define GT__TYPE 64
#include GPUTENSOR_FILE
#define GT__TYPE 0
#include GPUTENSOR_FILE
#undef GT__ISA
#endif
#if GT__WITH_AVX512
#define GT__ISA 3
#if GT__WITH_AVX512 == 1
#define GT__TILES_ALONE
#endif
#define GT__TYPE 32
#include GPUTENSOR_FILE
#define GT__TYPE 64
#include GPUTENSOR_FILE
#define GT__TYPE 0
#include GPUTENSOR_FILE
#undef GT__TILES_ALONE
#undef GT__ISA
#endif
#undef GT__EXCERPT
#define GT__EXCERPT GT__MAIN
#ifdef GT__AMX
static int gt__cpu_has_amx(void) { /* bfloat16 and tiles, whose registers Linux gives who asks */
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 22 & d >> 24 & 1 &&
         syscall(SYS_arch_prctl, 0x1023, 18) == 0; /* ARCH_REQ_XCOMP_PERM, tile data */
}
#endif
/* The instruction sets that this program has loops for, better ones behind. */
#define GT__SET(set) \
  { &gt__cpu_##set##_loops_f32, &gt__cpu_##set##_loops_f64, &gt__cpu_##set##_loops_i64 }
static const gt__cpu_isa gt__cpu_isas[] = {
#if GT__WITH_BASELINE
    {"baseline", GT__SET(baseline), 0, 1},
#endif
#if GT__WITH_AVX2
    {"avx2", GT__SET(avx2), 0, 2},
#endif
#if GT__WITH_AVX512
    {"avx512", GT__SET(avx512), 0, 3},
#endif
#ifdef GT__AMX
    {"amx", GT__SET(avx512), 1, 4},
#endif
};
#define GT__CPU_NO_ISA (gt__cpu_isas + sizeof gt__cpu_isas / sizeof *gt__cpu_isas)
#undef GT__SET
static int gt__cpu_has(int needs) {
#ifdef __x86_64__
  if (needs >= 2 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return 0;
  if (needs >= 3 && !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")))
    return 0;
#endif
  return needs < 4 || gt__cpu_has_amx();
}
/* The best set that the machine has, or a lesser one that GPUTENSOR_CPU names; the last entry if it
   has none of them, or "plain" is asked for. */
static const gt__cpu_isa *gt__cpu_find_isa(void) {
  const char *asked = getenv("GPUTENSOR_CPU");
  const gt__cpu_isa *isa = gt__cpu_isas, *best = GT__CPU_NO_ISA;
  for (; isa < GT__CPU_NO_ISA && gt__cpu_has(isa->needs); isa++) {
    best = isa;
    if (asked && !strcmp(asked, isa->name)) break;
  }
  return asked && !strcmp(asked, "plain") ? GT__CPU_NO_ISA : best;
}
GT__INSIDE const gt__cpu_isa *gt__cpu_choose(void) { /* NULL: none */
  static const gt__cpu_isa *chosen;
  const gt__cpu_isa *isa = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
  if (!isa) {
    isa = gt__cpu_find_isa();
    __atomic_store_n(&chosen, isa, __ATOMIC_RELAXED);
  }
  return isa < GT__CPU_NO_ISA ? isa : NULL;
}
/* ---- >>cpu-vectors -----------------------------------------------------------------------------
   Values pass in blocks of 512, so that all slots stay in the L1 and L2 caches. A step of a program
   is one loop over a block, in vectors: see >>cpu-loops.

     an input    that lies side by side, as values of the compute type: is read in place
                 that lies otherwise: is gathered into the block of its slot
                 of another dtype: is gathered into `raw`, if it lies otherwise, and converted
     a step      from the blocks of slots to acc's or, the last one if it can be, to memory
     the result  is converted, into `raw` if it does not lie side by side, and stored

   Loops run over multiples of 64 values and need no remainder: the padding repeats the last value,
   so it raises no floating-point exception that the data did not.
   First what moves elements of 1, 2, 4 or 8 bytes. Of every second or fourth byte compilers make
   vectors, if the distance is a constant; else four elements go at a time, whose addresses do not
   wait for each other. */
#define GT__EVERY(S, distance) \
  if (to == 1 && from == distance) { \
    GT__IVDEP for (int64_t i = 0; i < n; i++) d[i] = s[i * distance]; \
    return; \
  }
#define GT__MOVE(S) \
  { \
    S *d = (S *)dst; \
    const S *s = (const S *)src; \
    if (sizeof(S) < 4) { \
      GT__EVERY(S, 2) \
      GT__EVERY(S, 4) \
    } \
    if (to == 1 && from == 0) \
      for (const S v = *s; n > 0; n--) *d++ = v; \
    for (; n >= 4; n -= 4, d += 4 * to, s += 4 * from) { \
      const S a = s[0], b = s[from]; \
      const S c = s[2 * from], e = s[3 * from]; \
      d[0] = a; \
      d[to] = b; \
      d[2 * to] = c; \
      d[3 * to] = e; \
    } \
    for (; n > 0; n--, d += to, s += from) *d = *s; \
  }
static GT__LIGHTLY("off") void gt__cpu_move(int64_t size, void *dst, int64_t to, const void *src,
                                            int64_t from, int64_t n) {
  /* clang-format off */
  if (to == 1 && from == 1) memcpy(dst, src, (size_t)(n * size));
  else if (size == 1) GT__MOVE(uint8_t)
  else if (size == 2) GT__MOVE(gt__u16)
  else if (size == 4) GT__MOVE(gt__i32)
  else GT__MOVE(gt__i64)
  /* clang-format on */
}
#undef GT__MOVE
#undef GT__EVERY
/* Short lines that lie close together, as the channels of pixels do, are moved by columns: one loop
   over all lines of a block for each of their few elements. */
typedef struct {
  int64_t line, to, from; /* elements of a line; from one line to the next */
  int on;
} gt__cpu_stripes;
/* `on`: lines of at most 4 elements begin at most 64 bytes apart on both sides. */
static gt__cpu_stripes gt__cpu_stripes_of(int64_t size, int last, int64_t line, const int64_t *to,
                                          const int64_t *from) {
  gt__cpu_stripes c = {line, line, line, 0};
  if (to && last) c.to = to[last - 1];
  if (from && last) c.from = from[last - 1];
  c.on = last > 0 && line <= 4 && c.to * size <= 64 && c.from * size <= 64;
  return c;
}
static void gt__cpu_move_columns(const gt__cpu_stripes *c, int64_t size, char *dst, int64_t to,
                                 const char *src, int64_t from, int64_t lines) {
  for (int64_t i = 0; i < c->line; i++) {
    gt__cpu_move(size, dst, c->to, src, c->from, lines);
    dst += to * size;
    src += from * size;
  }
}
/* The step from behind the last place along d to the first one of the next along d - 1. */
static int64_t gt__cpu_carry(const int64_t *stride, int d, const int64_t *box) {
  return stride ? stride[d - 1] - stride[d] * box[d] : 0;
}
/* Moves n elements of a box from `first` on. A side without strides holds just these, packed. */
static void gt__cpu_walk(int64_t size, int ndim, const int64_t *box, int64_t first, int64_t n,
                         char *dst, const int64_t *to, const char *src, const int64_t *from) {
  int64_t at[GT_MAX_DIMS];
  const int last = ndim - 1;
  if (ndim == 0) {
    memcpy(dst, src, (size_t)size);
    return;
  }
  if (to) dst += gt__offset(first, ndim, box, to) * size;
  if (from) src += gt__offset(first, ndim, box, from) * size;
  for (int d = last; d >= 0; d--) {
    at[d] = first % box[d];
    first /= box[d];
  }
  const int64_t inner_to = to ? to[last] : 1;
  const int64_t inner_from = from ? from[last] : 1;
  const gt__cpu_stripes c = gt__cpu_stripes_of(size, last, box[last], to, from);
  for (;;) {
    const int64_t run = gt__least(n, c.line - at[last]);
    int64_t more = 0; /* lines, behind the first */
    if (c.on && run == c.line) {
      more = gt__least(n / c.line, box[last - 1] - at[last - 1]) - 1;
      gt__cpu_move_columns(&c, size, dst, inner_to, src, inner_from, more + 1);
      at[last - 1] += more;
    } else gt__cpu_move(size, dst, inner_to, src, inner_from, run);
    n -= run + more * c.line;
    if (n == 0) return;
    at[last] += run;
    dst += (inner_to * run + c.to * more) * size;
    src += (inner_from * run + c.from * more) * size;
    for (int d = last; d > 0 && at[d] == box[d]; d--) { /* carry into the next dimension */
      at[d] = 0;
      at[d - 1]++;
      dst += gt__cpu_carry(to, d, box) * size;
      src += gt__cpu_carry(from, d, box) * size;
    }
  }
}

/* -- the evaluator: one block of values through a program -- */
#if defined(__OPTIMIZE__) && !defined(__clang__) && !defined(__CUDACC__)
/* what is done for each block is worth a few passes more, from here to the end */
#pragma GCC optimize("O1", "inline-small-functions", "inline-functions")
#endif
enum {
  GT__PITCH = GT__BLOCK * 8 + 128
}; /* 128 bytes off the power of two: a load waits for a
                                             pending store with the same 12 address bits */
typedef struct {
  const gt__cpu_loops *loops; /* of the program's compute type */
  const gt__map_args *m;
  int width, given, kept;        /* bytes of a value; slots that callers fill; outer dims */
  int64_t first;                 /* of a block, where values depend on their index */
  int out, in[GT__INPUTS], past; /* how the elements of m's operands lie; gt__cpu_goes_past */
  int pitch;                     /* from a slot's block to the next; the last is acc's */
  char *slot[GT__SLOTS + 1], *blocks;
  char *raw; /* elements before or after a conversion */
  int bare;  /* the values are those of one operand; of SOME and EVERY also of "a != 0" */
} gt__cpu_eval;
/* What a block holds: `rows` runs of `columns` elements, from (o, k) on: kept and folded dims. */
typedef struct {
  int64_t o, columns, k, rows;
} gt__cpu_runs;
static int gt__cpu_width(const gt__program *p) { return p->compute == GT__F32 ? 4 : 8; }
static int gt__cpu_pitch(const gt__program *p) { return GT__BLOCK * gt__cpu_width(p) + 128; }
static size_t gt__cpu_eval_bytes(const gt__map_args *m) { /* of scratch */
  const int blocks = m->program.n_slot + 1;
  return (size_t)(GT__PITCH + blocks * gt__cpu_pitch(&m->program));
}
static char *gt__cpu_block_of(const gt__cpu_eval *e, int slot) {
  return e->blocks + slot * e->pitch;
}
static int gt__cpu_goes_past(const gt__operand *out, int64_t count) {
  return !out->fresh && count << out->size_log2 >= GT__PAST_CACHES;
}
static void gt__cpu_pad(const gt__cpu_eval *e, char *values, int64_t n) {
  char *end = values + n * e->width;
  const int64_t rest = gt__rounded(n, GT__GROUP) - n;
  gt__cpu_move(e->width, end, 1, end - e->width, 0, rest);
}
/* How the elements of an operand lie: side by side in their order, all in one place, or else. */
enum { GT__STRIDED, GT__IN_LINE, GT__ONE };
static int gt__cpu_lies(const gt__operand *x, int ndim, const int64_t *size) {
  int line = 1, one = 1;
  int64_t next = 1;
  for (int d = ndim - 1; d >= 0; d--) {
    if (size[d] == 1) continue; /* its stride does not matter */
    line &= x->stride[d] == next;
    one &= x->stride[d] == 0;
    next *= size[d];
  }
  if (line) return GT__IN_LINE;
  return one ? GT__ONE : GT__STRIDED;
}
/* Fills the slots that stay the same in all blocks. */
static void gt__cpu_begin(gt__cpu_eval *e, const gt__map_args *m, int given, int kept, char *own) {
  const gt__program *p = &m->program;
  const int64_t n = gt__rounded(gt__least(m->count, GT__BLOCK), GT__GROUP);
  e->loops = gt__cpu_choose()->loops[p->compute];
  e->m = m;
  e->width = e->loops->width;
  e->given = given;
  e->kept = kept;
  e->bare = gt__is_bare(p);
  e->raw = own;
  e->blocks = own + GT__PITCH;
  e->pitch = gt__cpu_pitch(p);
  for (int k = 0; k <= p->n_slot; k++) e->slot[k] = gt__cpu_block_of(e, k);
  e->out = gt__cpu_lies(&m->out, m->ndim, m->size);
  const int line = e->out == GT__IN_LINE;
  e->past = line && gt__cpu_goes_past(&m->out, m->count);
  for (int k = given; k < p->n_in; k++) {
    e->in[k] = gt__cpu_lies(&m->in[k], m->ndim, m->size);
    if (e->in[k] != GT__ONE || !n) continue;
    char *block = e->slot[k];
    const int from = GT__FROM + m->in[k].dtype;
    e->loops->step(from, block, m->in[k].data, NULL, NULL, 1);
    gt__cpu_move(e->width, block, 1, block, 0, n);
  }
  char **slot = e->slot + p->n_in;
  for (int k = 0; k < p->n_const; k++) {
    const gt__num *constant = &p->constant[k];
    gt__cpu_move(e->width, slot[k], 1, constant, 0, n);
  }
}
/* Short runs of several operands, and rows, outwit the processor's own prefetching: this asks for
   the next, or the row after it. On a Xeon sums of bfloat16 over dim 0 take .7 of the time. */
static void gt__cpu_prefetch(const gt__cpu_eval *e, const gt__operand *in, const char *from,
                             int64_t o, int64_t n) {
  const gt__map_args *m = e->m;
  const int64_t size = gt__cpu_bytes(in);
  const int64_t last = m->ndim - 1;
  const int run = e->kept == m->ndim;
  if (run && o + n >= m->count) return; /* nothing follows */
  from += (run ? n : 2 * in->stride[last]) * size;
  const char *end = from + n * size;
  for (; from < end; from += 64) __builtin_prefetch(from);
}
static char *gt__cpu_row_at(const gt__cpu_eval *e, const gt__operand *in, int64_t k) {
  const int kept = e->kept;
  const int64_t *size = e->m->size + kept;
  const int64_t *stride = in->stride + kept;
  return in->data + gt__offset(k, e->m->ndim - kept, size, stride) * gt__cpu_bytes(in);
}
/* Where input s of a block lies in memory as the loops read it, or NULL: it has to be gathered.
   Values are read up to a whole group, what is still to be converted is not. */
static char *gt__cpu_in_place(const gt__cpu_eval *e, int s, const gt__cpu_runs *b, int native) {
  const gt__map_args *m = e->m;
  const gt__operand *in = &m->in[s];
  const int64_t n = b->rows * b->columns;
  const int64_t last = e->kept - 1;
  const int64_t reach = native ? gt__rounded(n, GT__GROUP) : n;
  const int line = e->in[s] == GT__IN_LINE && e->kept == m->ndim;
  if (line && b->o + reach <= m->count) return in->data + b->o * gt__cpu_bytes(in);
  if (b->rows > 1 || last < 0) return NULL;
  if (in->stride[last] != 1) return NULL;
  if (b->o % m->size[last] + reach > m->size[last]) return NULL;
  const int64_t before = gt__offset(b->o, e->kept, m->size, in->stride);
  return gt__cpu_row_at(e, in, b->k) + before * gt__cpu_bytes(in);
}
/* Brings the elements of input s, of all rows of a block, side by side to `to`. */
static void gt__cpu_gather(const gt__cpu_eval *e, int s, const gt__cpu_runs *b, char *to) {
  const gt__operand *in = &e->m->in[s];
  const int64_t size = gt__cpu_bytes(in);
  const int64_t *box = e->m->size;
  const int64_t *stride = in->stride;
  for (int64_t i = 0; i < b->rows; i++) {
    const char *row = gt__cpu_row_at(e, in, b->k + i);
    const char *first = row + b->o * size * *stride;
    if (e->kept == 1) gt__cpu_move(size, to, 1, first, *stride, b->columns);
    else gt__cpu_walk(size, e->kept, box, b->o, b->columns, to, NULL, row, stride);
    to += b->columns * size;
  }
}
/* Fills the input slots that are not given or the same in all blocks: IN PLACE where possible, else
   GATHERED, and CONVERTED where elements are not of the compute type. */
static void gt__cpu_fetch(gt__cpu_eval *e, const gt__cpu_runs *b) {
  const int64_t n = b->rows * b->columns;
  e->first = b->o;
  for (int s = e->given; s < e->m->program.n_in; s++) {
    const gt__operand *in = &e->m->in[s];
    const int native = in->dtype == e->loops->native;
    if (e->in[s] == GT__ONE) continue;
    char *const block = gt__cpu_block_of(e, s);
    char *from = gt__cpu_in_place(e, s, b, native);
    if (from) gt__cpu_prefetch(e, in, from, b->o, n);
    else {
      from = native ? block : e->raw;
      gt__cpu_gather(e, s, b, from);
    }
    e->slot[s] = native ? from : block;
    if (!native) e->loops->step(GT__FROM + in->dtype, block, from, NULL, NULL, n);
    if (e->slot[s] == block) gt__cpu_pad(e, block, n);
  }
}
static void gt__cpu_fetch_line(gt__cpu_eval *e, int64_t first, int64_t n) {
  const gt__cpu_runs b = {first, n, 0, 1};
  gt__cpu_fetch(e, &b);
}
/* Runs the program over n values and says where they are. With `last`, the last step puts them
   there; n is then a multiple of 64. GT__LOAD copies nothing: the next step reads the slot. */
static char *gt__cpu_compute(gt__cpu_eval *e, int64_t n, char *last) {
  const gt__program *p = &e->m->program;
  const gt__ins *end = p->ins + p->n_ins;
  const int64_t padded = gt__rounded(n, GT__GROUP);
  char *a = e->slot[0];
  for (const gt__ins *x = p->ins; x < end; x++) {
    const int pair = x->op == GT__OP_mul && x + 1 < end && x[1].op == GT__OP_add;
    char *b = e->slot[x->b];
    char *c = e->slot[x->c];
    char *to = e->slot[p->n_slot];
    if (last && x + pair + 1 == end) to = last;
    if (x->op == GT__LOAD) {
      a = b;
      continue;
    }
    if (x->op == GT__SAVE) {
      to = gt__cpu_block_of(e, x->d);
      e->slot[x->d] = to;
      if (a != to) memcpy(to, a, (size_t)(padded * e->width));
      continue;
    }
    if (x->op <= GT__INTEGER) {
      e->loops->make(p, x->op, to, b, c, e->first, n);
      gt__cpu_pad(e, to, n);
    } else if (pair) {
      x++;
      e->loops->step(GT__OP_mul_add, to, a, b, e->slot[x->b], padded);
    } else e->loops->step(x->op, to, a, b, c, padded);
    a = to;
  }
  return a;
}
/* Are the values of a program one operand, which lies in memory as such? */
static int gt__cpu_is_there(const gt__map_args *m) {
  const gt__program *p = &m->program;
  const gt__operand *in = &m->in[0];
  if (!gt__is_bare(p) || in->dtype != gt__cpu_choose()->loops[p->compute]->native) return 0;
  return gt__cpu_lies(in, m->ndim, m->size) == GT__IN_LINE;
}
/* Says where n values of the program are, from element `first` on: in `room`, which has space for n
   and a block, or in memory, where an operand that needs no change lies there side by side. */
static const char *gt__cpu_values(gt__cpu_eval *e, char *room, int64_t first, int64_t n) {
  const gt__operand *in = &e->m->in[0];
  const int line = e->in[0] == GT__IN_LINE;
  if (e->bare && line) {
    const char *from = in->data + first * gt__cpu_bytes(in);
    const int step = GT__FROM + in->dtype;
    if (in->dtype == e->loops->native) return from;
    e->loops->step(step, room, from, NULL, NULL, n);
    return room;
  }
  for (int64_t i = 0; i < n; i += GT__BLOCK) {
    const int64_t run = gt__least(GT__BLOCK, n - i);
    char *to = room + i * e->width;
    gt__cpu_fetch_line(e, first + i, run);
    const char *values = gt__cpu_compute(e, run, to);
    if (values != to) memcpy(to, values, (size_t)(run * e->width));
  }
  return room;
}
/* Where and as what values are stored: `loops` of their type, or NULL: of out's. */
typedef struct {
  const gt__cpu_loops *loops;
  const gt__operand *out;
  int lies, ndim, past;
} gt__cpu_place;
static gt__cpu_place gt__cpu_place_of(const gt__cpu_eval *e) { /* the map's output */
  const gt__map_args *m = e->m;
  const gt__cpu_place place = {e->loops, &m->out, e->out, m->ndim, e->past};
  return place;
}
/* Stores n values as elements first, first + 1, ... */
static void gt__cpu_put(const gt__cpu_eval *e, const gt__cpu_place *p, int64_t first, int64_t n,
                        const char *values) {
  const gt__operand *out = p->out;
  const int64_t bytes = gt__cpu_bytes(out);
  const int line = p->lies == GT__IN_LINE;
  char *place = line ? out->data + first * bytes : e->raw;
  if (p->loops && out->dtype != p->loops->native) {
    char *to = p->past ? e->raw : place;
    p->loops->step(GT__TO + out->dtype, to, values, NULL, NULL, n);
    values = to;
  }
  if (line) {
    if (values != place) gt__cpu_lay(place, values, n * bytes, p->past);
    return;
  }
  const int64_t *box = e->m->size;
  gt__cpu_walk(bytes, p->ndim, box, first, n, out->data, out->stride, values, NULL);
}

/* -- map -- */
/* Runs the program over elements whose given slots are filled, and stores them. */
static void gt__cpu_block(gt__cpu_eval *e, int64_t first, int64_t n) {
  const gt__map_args *m = e->m;
  const gt__cpu_place out = gt__cpu_place_of(e);
  const int native = m->out.dtype == e->loops->native;
  const int whole = n % GT__GROUP == 0;
  const int straight = e->out == GT__IN_LINE && whole && native && !e->past;
  char *to = straight ? m->out.data + first * e->width : NULL;
  if (to && !e->given) {
    const char *values = gt__cpu_values(e, to, first, n);
    gt__cpu_put(e, &out, first, n, values);
    return;
  }
  gt__cpu_fetch_line(e, first, n);
  const char *values = gt__cpu_compute(e, n, to);
  gt__cpu_put(e, &out, first, n, values);
}
/* By how much the first block is shorter, so that the others begin with a line of the caches:
   vectors that cross lines cost a Zen 4 up to half of the time, and NumPy's memory begins 16 bytes
   behind one. */
static int64_t gt__cpu_lead(const gt__map_args *m) {
  const gt__operand *out = &m->out;
  if (m->ndim != 1 || out->stride[0] != 1) return 0;
  if (m->count < 16 * GT__BLOCK) return 0;
  return (int64_t)((uintptr_t)out->data & 63) >> out->size_log2;
}
/* A map of few elements and one operation, of which all lies in memory as the loops read it, takes
   one call of a loop and no blocks. Returns how many elements that did: whole groups. */
static int64_t gt__cpu_at_once(const gt__cpu_eval *e) {
  const gt__map_args *m = e->m;
  const gt__program *p = &m->program;
  const gt__ins *x = &p->ins[1];
  const int native = e->loops->native;
  const char *a = NULL, *b = NULL, *c = NULL;
  if (m->count > GT__AT_ONCE) return 0;
  if (p->n_ins != 2 || p->n_const) return 0;
  if (p->ins[0].op != GT__LOAD || x->op <= GT__INTEGER) return 0;
  if (e->out != GT__IN_LINE) return 0;
  if (m->out.dtype != native) return 0;
  for (int k = 0; k < p->n_in; k++) {
    const char *data = m->in[k].data;
    if (e->in[k] != GT__IN_LINE) return 0;
    if (m->in[k].dtype != native) return 0;
    if (p->ins[0].b == k) a = data;
    if (x->b == k) b = data;
    if (x->c == k) c = data;
  }
  const int64_t whole = m->count & -(int64_t)GT__GROUP;
  if (whole) e->loops->step(x->op, m->out.data, a, b, c, whole);
  return whole;
}
static void gt__cpu_map_task(const void *context, gt__cpu_range items) {
  const gt__map_args *m = (const gt__map_args *)context;
  const int64_t lead = gt__cpu_lead(m);
  const int64_t end = gt__least(items.end * GT__BLOCK - lead, m->count);
  gt__cpu_eval e;
  gt__cpu_begin(&e, m, 0, m->ndim, items.own);
  int64_t i = items.begin * GT__BLOCK - lead + gt__cpu_at_once(&e);
  for (; i < end; i += GT__BLOCK) {
    const int64_t from = i < 0 ? 0 : i;
    gt__cpu_block(&e, from, gt__least(i + GT__BLOCK, end) - from);
  }
}
static int gt__cpu_run_map(const gt__op *op, void *queue) {
  const gt__map_args *m = &op->u.map;
  const int threads = gt__cpu_threads(gt__cpu_work(m));
  const int64_t blocks = gt__div_up(m->count + gt__cpu_lead(m), GT__BLOCK);
  return gt__cpu_split(gt__cpu_map_task, m, blocks, threads, gt__cpu_eval_bytes(m));
}

/* -- copy: memory as it lies, dim after dim, or row after row of what an index names -- */
static void gt__cpu_copy_task(const void *context, gt__cpu_range items) {
  const gt__copy_args *c = (const gt__copy_args *)context;
  const gt__operand *to = &c->dst, *from = &c->src;
  const int64_t size = gt__cpu_bytes(to);
  const int64_t i = items.begin * GT__BLOCK;
  const int64_t n = gt__least(items.end * GT__BLOCK, c->count) - i;
  const int in_line = gt__cpu_lies(to, c->ndim, c->size) == GT__IN_LINE &&
                      gt__cpu_lies(from, c->ndim, c->size) == GT__IN_LINE;
  const int past = gt__cpu_goes_past(to, c->count);
  char *dst = to->data, *src = from->data;
  if (in_line) gt__cpu_lay(dst + i * size, src + i * size, n * size, past);
  else gt__cpu_walk(size, c->ndim, c->size, i, n, dst, to->stride, src, from->stride);
}
static int64_t gt__cpu_dot_of(const int64_t *at, const int64_t *stride, int n) {
  int64_t sum = 0;
  for (int d = 0; d < n; d++) sum += at[d] * stride[d];
  return sum;
}
/* `run` values along the last dim, each named by an entry of the index, from element `entry` on. */
#define GT__PICK(S) \
  for (; run > 0; run--) { \
    const int64_t k = gt__cpu_entry(c, entry); \
    S value = 0; \
    if (k >= 0) value = *(const S *)(const void *)(from + k * hop); \
    *(S *)(void *)to = value; \
    to += pitch; \
    from += step; \
    entry += next; \
  }
GT__FUSED static void gt__cpu_pick(const gt__copy_args *c, char *to, const char *from,
                                   int64_t entry, int64_t run) {
  const int last = c->ndim - 1;
  const int64_t size = gt__cpu_bytes(&c->dst);
  const int64_t step = c->src.stride[last] * size;
  const int64_t pitch = c->dst.stride[last] * size;
  const int64_t next = c->index.stride[last];
  const int64_t hop = c->gather_stride * size;
  /* clang-format off */
  if (size == 1) GT__PICK(uint8_t)
  else if (size == 2) GT__PICK(gt__u16)
  else if (size == 4) GT__PICK(gt__i32)
  else GT__PICK(gt__i64)
  /* clang-format on */
}
#undef GT__PICK
/* Elements that an index picks, in runs along the last dim: the index has one entry for a run, or
   one for each element. */
static void gt__cpu_copy_named(const void *context, gt__cpu_range items) {
  const gt__copy_args *c = (const gt__copy_args *)context;
  const int last = c->ndim - 1;
  const int64_t size = gt__cpu_bytes(&c->dst);
  const int64_t end = gt__least(items.end * GT__BLOCK, c->count);
  int64_t i = items.begin * GT__BLOCK, at[GT_MAX_DIMS], left = i, run;
  for (int d = last; d >= 0; d--) {
    at[d] = left % c->size[d];
    left /= c->size[d];
  }
  for (; i < end; i += run) {
    const int64_t entry = gt__cpu_dot_of(at, c->index.stride, c->ndim);
    const int64_t source = gt__cpu_dot_of(at, c->src.stride, c->ndim);
    char *to = c->dst.data + gt__cpu_dot_of(at, c->dst.stride, c->ndim) * size;
    const char *from = c->src.data + source * size;
    run = gt__least(end - i, c->size[last] - at[last]);
    if (c->index.stride[last]) gt__cpu_pick(c, to, from, entry, run);
    else {
      const int64_t k = gt__cpu_entry(c, entry);
      if (k < 0) from = (const char *)&gt__cpu_zero;
      else from += k * c->gather_stride * size;
      const int64_t step = k < 0 ? 0 : c->src.stride[last];
      gt__cpu_move(size, to, c->dst.stride[last], from, step, run);
    }
    at[last] += run;
    for (int d = last; d > 0 && at[d] == c->size[d]; d--) {
      at[d] = 0;
      at[d - 1]++;
    }
  }
}
static int gt__cpu_run_copy(const gt__op *op, void *queue) {
  const gt__copy_args *c = &op->u.copy;
  const int threads = gt__cpu_threads((double)c->count);
  const gt__cpu_task task = c->index.data ? gt__cpu_copy_named : gt__cpu_copy_task;
  return gt__cpu_split(task, c, gt__div_up(c->count, GT__BLOCK), threads, 0);
}
static int gt__cpu_takes(gt__op *op) { return gt__cpu_choose() != NULL; }
/* A map that is one number, as of gt_zeros, is the copy of that: it is converted once. */
static int gt__cpu_plan_fill(gt__op *op) {
  const gt__program *p = &op->u.map.program;
  if (p->n_ins != 1 || p->n_in) return 0;
  return p->ins->op == GT__LOAD && gt__cpu_choose();
}
static int gt__cpu_run_fill(const gt__op *op, void *queue) {
  const gt__map_args *m = &op->u.map;
  const gt__program *p = &m->program;
  const gt__cpu_loops *loops = gt__cpu_choose()->loops[p->compute];
  const int to = GT__TO + m->out.dtype;
  gt__num number = p->constant[0];
  gt__op copy;
  gt__copy_args *c = &copy.u.copy;
  memset(c, 0, sizeof *c);
  c->ndim = m->ndim;
  c->count = m->count;
  c->dst = m->out;
  c->src.data = (char *)&number;
  memcpy(c->size, m->size, sizeof c->size);
  if (m->out.dtype != loops->native) loops->step(to, &number, p->constant, NULL, NULL, 1);
  return gt__cpu_run_copy(&copy, queue);
}

/* ---- >>cpu-transposed --------------------------------------------------------------------------
   Operands that run along the dim before the last, and not along the last, are transposed tile by
   tile: else each of their values would cost a line of the caches, which is gone before its next
   value is due. A tile is a few cache lines high and one block (512 values) wide:

     in memory, columns side by side      tile, rows side by side      block
       a0 a1 a2 ...                         a0 b0 c0 ...               a0 b0 c0 ...   -> program
       b0 b1 b2 ...          ->             a1 b1 c1 ...               a1 b1 c1 ...   -> program
       c0 c1 c2 ...                         a2 b2 c2 ...               ...
   A copy is a map without a program, of one operand. */
enum { GT__TILE_PITCH = GT__BLOCK + 8 }; /* off the power of two, as GT__PITCH */
typedef struct {
  gt__map_args m;
  int transposed[GT__INPUTS], n_transposed;
  int64_t rows, across, along; /* of a tile; tiles */
  int64_t bytes;               /* of a transposed operand's tile */
} gt__cpu_tiles;
/* tile[r][c], and up to 16 columns more, become what is r * stride[0] + c * stride[1] behind
   `from`. */
static void gt__cpu_transpose(int64_t size, char *tile, const char *from, int64_t rows,
                              int64_t columns, const int64_t *stride) {
  const gt__cpu_loops *loops = gt__cpu_choose()->loops[size == 8]; /* of as wide values */
  const int squares = stride[0] == 1 && size >= 4;
  const int step = squares ? 16 : 1;
  const int64_t pitch = GT__TILE_PITCH;
  for (int64_t i = 0; i < columns; i += step) {
    const int64_t n = gt__least(step, columns - i);
    if (squares) loops->pack(tile, step, pitch, from, stride[1], 1, n, rows);
    else gt__cpu_move(size, tile, pitch, from, stride[0], rows);
    tile += step * size;
    from += step * stride[1] * size;
  }
}
/* Makes the tiles of the columns from (i, j) on, element `first`, and has m read them. */
static void gt__cpu_make_tiles(const gt__cpu_tiles *t, gt__map_args *m, char *tile, int64_t i,
                               int64_t j, int64_t first) {
  const int x = m->ndim - 2;
  const int y = x + 1;
  const int64_t rows = gt__least(t->rows, m->size[x] - i);
  const int64_t columns = gt__least(GT__BLOCK, m->size[y] - j);
  for (int k = 0; k < t->n_transposed; k++, tile += t->bytes) {
    const gt__operand *in = &t->m.in[t->transposed[k]];
    gt__operand *out = &m->in[t->transposed[k]];
    const int64_t bytes = gt__cpu_bytes(in);
    const char *from = gt__cpu_at(in, first, m->ndim, m->size);
    gt__cpu_transpose(bytes, tile, from, rows, columns, in->stride + x);
    memset(out->stride, 0, sizeof out->stride);
    out->stride[x] = GT__TILE_PITCH;
    out->stride[y] = 1;
    out->data = tile - (i * GT__TILE_PITCH + j) * bytes;
  }
}
/* Makes the transposed operands of a tile; then its rows pass through the program. */
static void gt__cpu_tiles_task(const void *context, gt__cpu_range items) {
  const gt__cpu_tiles *t = (const gt__cpu_tiles *)context;
  const int64_t size_x = t->m.size[t->m.ndim - 2];
  const int64_t size_y = t->m.size[t->m.ndim - 1];
  char *tiles = items.own + gt__cpu_eval_bytes(&t->m);
  gt__map_args m = t->m;
  gt__cpu_eval e;
  gt__cpu_begin(&e, &m, 0, m.ndim, items.own);
  const int64_t pitch = GT__TILE_PITCH * gt__cpu_bytes(&m.out);
  gt__cpu_place out = gt__cpu_place_of(&e);
  out.loops = NULL;
  for (int64_t item = items.begin; item < items.end; item++) {
    const int64_t i = item / t->along % t->across * t->rows;
    const int64_t j = item % t->along * GT__BLOCK;
    const int64_t rows = gt__least(t->rows, size_x - i);
    const int64_t columns = gt__least(GT__BLOCK, size_y - j);
    const int64_t outer = item / t->along / t->across;
    int64_t at = (outer * size_x + i) * size_y + j;
    gt__cpu_make_tiles(t, &m, tiles, i, j, at);
    for (int64_t r = 0; r < rows; r++, at += size_y)
      if (m.program.n_ins) gt__cpu_block(&e, at, columns);
      else gt__cpu_put(&e, &out, at, columns, tiles + r * pitch);
  }
}
/* Is there an operand that gains? Rows shorter than about 50 values do not, since to start a tile
   costs as much as 50 values; copies gain from 8 on, elements of one or two bytes from 128. */
static int gt__cpu_plan_tiles(gt__op *op, const gt__map_args *m, int operands) {
  gt__cpu_tiles *t = (gt__cpu_tiles *)(void *)op->plan;
  const int x = m->ndim - 2;
  if (x < 0 || m->size[x] < 8 || !gt__cpu_choose()) return 0;
  t->n_transposed = 0;
  t->rows = GT__GROUP;
  for (int k = 0; k < operands; k++) {
    const int64_t *stride = m->in[k].stride + x;
    const int64_t bytes = gt__cpu_bytes(&m->in[k]);
    int least = GT__TILE_COPY;
    if (m->program.n_ins) least = GT__TILE_MAP;
    if (bytes < 4) least = GT__TILE_SMALL;
    if (stride[1] <= 1 || gt__magnitude(stride[0]) * 8 > stride[1]) continue;
    if (m->size[x + 1] < least) continue;
    t->transposed[t->n_transposed++] = k;
    t->rows = gt__least(t->rows, (bytes < 4 ? 64 : 256) / bytes);
  }
  if (!t->n_transposed) return 0;
  t->m = *m;
  t->across = gt__div_up(m->size[x], t->rows);
  t->along = gt__div_up(m->size[x + 1], GT__BLOCK);
  t->bytes = (t->rows * GT__TILE_PITCH + GT__GROUP) * 8;
  op->plan_bytes = sizeof *t;
  return 1;
}
static int gt__cpu_plan_map_tiles(gt__op *op) {
  const gt__map_args *m = &op->u.map;
  return gt__cpu_plan_tiles(op, m, m->program.n_in);
}
/* The dim along which the source runs is brought before the last. */
static int gt__cpu_plan_copy_tiles(gt__op *op) {
  const gt__copy_args *c = &op->u.copy;
  const int last = c->ndim - 1;
  gt__map_args m;
  int cross = 0;
  if (last <= 0 || c->index.data) return 0;
  if (c->dst.stride[last] != 1) return 0;
  for (int d = 1; d < last; d++)
    if (gt__magnitude(c->src.stride[d]) < gt__magnitude(c->src.stride[cross])) cross = d;
  memset(&m, 0, sizeof m);
  m.ndim = c->ndim;
  m.count = c->count;
  m.out = c->dst;
  m.in[0] = c->src;
  memcpy(m.size, c->size, sizeof m.size);
  int64_t *to = m.out.stride;
  int64_t *from = m.in[0].stride;
  for (int d = cross; d < last - 1; d++) {
    gt__swap(&m.size[d], &m.size[d + 1]);
    gt__swap(&to[d], &to[d + 1]);
    gt__swap(&from[d], &from[d + 1]);
  }
  return gt__cpu_plan_tiles(op, &m, 1);
}
static int gt__cpu_run_tiles(const gt__op *op, void *queue) {
  const gt__cpu_tiles *t = (const gt__cpu_tiles *)(const void *)op->plan;
  const int map = op->kind == GT__MAP;
  const double work = map ? gt__cpu_work(&t->m) : (double)t->m.count;
  const int threads = gt__cpu_threads(work);
  const size_t transposed = (size_t)(t->n_transposed * t->bytes);
  const size_t own = gt__cpu_eval_bytes(&t->m) + transposed;
  const int64_t outer = gt__count(t->m.ndim - 2, t->m.size);
  const int64_t tiles = outer * t->across * t->along;
  return gt__cpu_split(gt__cpu_tiles_task, t, tiles, threads, own);
}

/* ---- >>cpu-lines -------------------------------------------------------------------------------
   Maps of slices, and of a row or a column that is broadcast. A slice's lines lie apart, and a row
   is the same for each line. A block of >>cpu-vectors goes on over the end of a line, so that such
   operands are gathered before its program, or scattered behind it. Here each line is read and
   written where it lies, by blocks of whole groups of 64 values. What is left behind those is done
   with the values before it, as the last group of the line:

     line of 1000     [ 512          ][ 448         ]
     last group                                 [ 64 ]

   An output may be an input, too: the last group is computed first, and stored last. */
/* n values of a line, a multiple of 64, from its place `from` on. Its inputs begin at `in`; the
   results go to `to`, where the last step of the program puts them if it can. */
static void gt__cpu_line_values(gt__cpu_eval *e, char *const *in, int64_t from, int64_t n,
                                char *to) {
  const gt__map_args *m = e->m;
  const int last = m->ndim - 1;
  const int dtype = m->out.dtype;
  const int native = e->loops->native;
  const char *values;
  for (int k = 0; k < m->program.n_in; k++) {
    const gt__operand *x = &m->in[k];
    const int converted = x->dtype != native;
    const int64_t size = gt__cpu_bytes(x);
    const int64_t step = x->stride[last];
    char *block = gt__cpu_block_of(e, k);
    char *place = in[k] + from * step * size;
    if (step == 0) continue; /* one value, which its block holds */
    if (step != 1) {
      char *packed = converted ? e->raw : block;
      gt__cpu_move(size, packed, 1, place, step, n);
      place = packed;
    }
    e->slot[k] = converted ? block : place;
    if (converted) e->loops->step(GT__FROM + x->dtype, block, place, NULL, NULL, n);
  }
  if (dtype != native) {
    values = gt__cpu_compute(e, n, NULL);
    e->loops->step(GT__TO + dtype, to, values, NULL, NULL, n);
    return;
  }
  values = gt__cpu_compute(e, n, to);
  if (values != to) memcpy(to, values, (size_t)(n * e->width));
}
/* The line that begins with element `first`. */
static void gt__cpu_map_line(gt__cpu_eval *e, int64_t first) {
  const gt__map_args *m = e->m;
  const int end = m->ndim - 1;
  const int64_t line = m->size[end];
  const int64_t group = line - GT__GROUP;
  const int64_t whole = line & -(int64_t)GT__GROUP;
  const int64_t some = gt__least(line, GT__BLOCK);
  const int64_t size = gt__cpu_bytes(&m->out);
  char *out = gt__cpu_at(&m->out, first, m->ndim, m->size);
  char *in[GT__INPUTS];
  char last[GT__GROUP * 8] __attribute__((aligned(64)));
  for (int k = 0; k < m->program.n_in; k++) {
    const gt__operand *x = &m->in[k];
    char *block = gt__cpu_block_of(e, k);
    in[k] = gt__cpu_at(x, first, m->ndim, m->size);
    if (x->stride[end] != 0) continue;
    e->loops->step(GT__FROM + x->dtype, block, in[k], NULL, NULL, 1);
    gt__cpu_move(e->width, block, 1, block, 0, some);
  }
  e->first = first + group;
  if (whole < line) gt__cpu_line_values(e, in, group, GT__GROUP, last);
  for (int64_t i = 0; i < whole; i += GT__BLOCK) {
    const int64_t n = gt__least(GT__BLOCK, whole - i);
    char *to = out + i * size;
    e->first = first + i;
    gt__cpu_line_values(e, in, i, n, to);
  }
  if (whole < line) memcpy(out + group * size, last, (size_t)(GT__GROUP * size));
}
static void gt__cpu_lines_task(const void *context, gt__cpu_range items) {
  const gt__map_args *m = (const gt__map_args *)context;
  const int64_t line = m->size[m->ndim - 1];
  gt__cpu_eval e;
  gt__cpu_begin(&e, m, 0, m->ndim, items.own);
  const int64_t end = items.end * line;
  for (int64_t i = items.begin * line; i < end; i += line) { gt__cpu_map_line(&e, i); }
}
/* Are there long lines, and enough of them for all threads? */
static int gt__cpu_plan_lines(gt__op *op) {
  const gt__map_args *m = &op->u.map;
  const int last = m->ndim - 1;
  if (last <= 0 || !gt__cpu_choose()) return 0;
  if (m->size[last] < GT__LONG_LINE) return 0;
  if (m->count / m->size[last] < GT__LINES) return 0;
  return m->out.stride[last] == 1;
}
static int gt__cpu_run_lines(const gt__op *op, void *queue) {
  const gt__map_args *m = &op->u.map;
  const int64_t lines = m->count / m->size[m->ndim - 1];
  const int threads = gt__cpu_threads(gt__cpu_work(m));
  const size_t own = gt__cpu_eval_bytes(m);
  return gt__cpu_split(gt__cpu_lines_task, m, lines, threads, own);
}

/* ---- >>cpu-folds -------------------------------------------------------------------------------
   Reductions, by THE PLAN of >>machine. A thread takes `columns` outputs and a group of at most 16
   chunks, and joins their values as they come, as a binary counter carries: after chunk c the two
   newest subtrees merge as often as c + 1 can be halved; at the last all that are left merge, from
   the newest on. That is the plan's tree, whose node i of level L covers the chunks i * 2^L to
   (i + 1) * 2^L - 1; so groups are nodes, and the rest of the tree joins them. */
enum { GT__TREE = 5 };          /* levels of a tree over 16 chunks */
enum { GT__LINE_BYTES = 2048 }; /* bytes of a line: a value of each output at hand */
typedef struct {
  const gt__reduce_args *r;
  int64_t columns, group, n_group;
  char *memory; /* values of [n_group][outer], then indices */
} gt__cpu_reduction;
typedef struct {
  char *value;
  int64_t *index;
} gt__cpu_column;
typedef struct {
  gt__cpu_eval e;
  const gt__reduce_args *r;
  const gt__cpu_loops *loops; /* of the values */
  int fold, indexed, width;
  gt__cpu_column tree[GT__TREE];
  char *at, *chunk; /* at: rows or places that won, as values */
} gt__cpu_folder;
/* Scratch: lines, each of a value or an index for all outputs at hand, and a chunk where it has to
   be made. */
static int64_t gt__cpu_line(const gt__cpu_reduction *c, int width) {
  return gt__rounded(c->columns * width, 64);
}
/* The scratch of a thread: a line for each level of the tree and, if they have to be made, the
   values of a chunk. */
static size_t gt__cpu_folder_bytes(const gt__cpu_reduction *c) {
  const gt__map_args *m = &c->r->pre;
  const int width = gt__cpu_width(&m->program);
  const int indexed = gt__finds_index(c->r->fold);
  const int64_t levels = gt__least(GT__TREE, c->r->n_chunk);
  const int64_t line = gt__cpu_line(c, width);
  const int64_t chunk = gt__least(GT__CHUNK, c->columns * c->r->n);
  const int64_t made = c->r->inner ? gt__rounded(chunk, GT__BLOCK) : 0;
  int64_t bytes = levels * line;
  if (indexed) bytes += line + levels * gt__cpu_line(c, 8);
  if (!gt__cpu_is_there(m)) bytes += made * width;
  return gt__cpu_eval_bytes(m) + (size_t)bytes;
}
/* Makes a thread ready to fold: how values come, and what kind of fold it is. */
static void gt__cpu_folder_begin(gt__cpu_folder *f, const gt__reduce_args *r, int kept, char *own) {
  gt__cpu_begin(&f->e, &r->pre, 0, kept, own);
  f->r = r;
  f->loops = f->e.loops;
  f->width = f->e.width;
  f->fold = r->fold;
  if (r->truths) {
    f->fold = GT__FOLD_SOME;
    if (r->fold == GT__FOLD_MIN) f->fold = GT__FOLD_EVERY;
  }
  f->e.bare |= r->truths && gt__is_truth(&r->pre.program);
  f->indexed = gt__finds_index(r->fold);
  f->at = own + gt__cpu_eval_bytes(&r->pre);
}
static void gt__cpu_set_tree(gt__cpu_folder *f, const gt__cpu_reduction *c) {
  const int64_t line = gt__cpu_line(c, f->width);
  char *room = f->at;
  if (f->indexed) room += line;
  for (int k = 0; k < GT__TREE && k < c->r->n_chunk; k++) {
    f->tree[k].value = room;
    room += line;
    f->tree[k].index = (int64_t *)(void *)room;
    if (f->indexed) room += gt__cpu_line(c, 8);
  }
  f->chunk = room;
}
static void gt__cpu_fold_rows(const gt__cpu_folder *f, const gt__cpu_column *to, const char *from,
                              int64_t n, int64_t rows, int64_t pitch, int64_t row) {
  f->loops->fold(f->fold, to->value, f->at, from, n, rows, pitch, row);
}
/* Takes in n values that stand behind those of a, with their indices. */
static void gt__cpu_join(gt__cpu_folder *f, const gt__cpu_column *a, const gt__cpu_column *b,
                         int64_t n) {
  const gt__i32 *won_32 = (const gt__i32 *)(void *)f->at;
  const gt__i64 *won_64 = (const gt__i64 *)(void *)f->at;
  if (f->indexed) memset(f->at, 0, (size_t)(n * f->width));
  gt__cpu_fold_rows(f, a, b->value, n, 1, 0, 1);
  if (!f->indexed) return;
  for (int64_t i = 0; i < n; i++) {
    const int won = f->width == 4 ? won_32[i] != 0 : won_64[i] != 0;
    if (won) a->index[i] = b->index[i];
  }
}
/* Do the rows of a block lie in memory as values, column beside column? */
static int gt__cpu_rows_lie(const gt__cpu_folder *f) {
  const gt__map_args *m = f->e.m;
  const gt__operand *in = &m->in[0];
  if (!f->e.bare) return 0;
  if (in->dtype != f->loops->native || in->stride[0] != 1) return 0;
  return f->e.kept == 1 && m->ndim == 2;
}
/* Folds rows begin ... begin + n - 1 of `columns` outputs, in place where possible. */
static void gt__cpu_fold_columns(gt__cpu_folder *f, gt__cpu_column *to, int64_t o, int64_t columns,
                                 int64_t begin, int64_t n) {
  const gt__operand *in = &f->e.m->in[0];
  const int64_t pitch = in->stride[1];
  const int64_t most = GT__BLOCK / columns;
  gt__cpu_fold_rows(f, to, NULL, columns, 0, 0, 0);
  if (gt__cpu_rows_lie(f)) {
    const char *from = in->data + (o + begin * pitch) * f->width;
    gt__cpu_fold_rows(f, to, from, columns, n, pitch, 0);
    return;
  }
  for (int64_t k = 0; k < n; k += most) {
    const int64_t rows = gt__least(most, n - k);
    const gt__cpu_runs b = {o, columns, begin + k, rows};
    gt__cpu_fetch(&f->e, &b);
    const char *values = f->e.slot[0];
    if (!f->e.bare) values = gt__cpu_compute(&f->e, columns * rows, NULL);
    gt__cpu_fold_rows(f, to, values, columns, rows, columns, k);
  }
}
/* Where in its chunk output i's value was found: the loops count in values of their own type. */
static int64_t gt__cpu_found_at(const gt__cpu_folder *f, int64_t i) {
  const void *at = f->at + i * f->width;
  if (f->loops->native == GT_FLOAT32) return (int64_t) * (const float *)at;
  if (f->loops->native == GT_FLOAT64) return (int64_t) * (const double *)at;
  return *(const int64_t *)at;
}
/* Folds a chunk of each of `columns` outputs; if inner, more than one only with one chunk each. */
static void gt__cpu_fold_chunk(gt__cpu_folder *f, gt__cpu_column *to, int64_t o, int64_t columns,
                               int64_t begin) {
  const gt__reduce_args *r = f->r;
  const int64_t n = gt__least(r->chunk, r->n - begin);
  const int64_t most = n ? GT__CHUNK / n : columns;
  if (!r->inner) gt__cpu_fold_columns(f, to, o, columns, begin, n);
  for (int64_t c = 0; c < columns && r->inner; c += most) {
    const int64_t count = gt__least(most, columns - c);
    const int64_t at = c * f->width;
    const int64_t first = (o + c) * r->n + begin;
    const char *values = gt__cpu_values(&f->e, f->chunk, first, count * n);
    f->loops->lanes(f->fold, to->value + at, f->at + at, values, n, count);
  }
  if (!f->indexed) return;
  for (int64_t i = 0; i < columns; i++) to->index[i] = begin + gt__cpu_found_at(f, i);
}
/* to[i] = op(from[i], number) for n values; no number (NULL) for an op of one operand. */
static void gt__cpu_each(const gt__cpu_eval *e, int op, char *to, const char *from,
                         const void *number, int64_t n) {
  const int64_t whole = n & -(int64_t)GT__GROUP;
  const int64_t at = whole * e->width;
  const size_t bytes = (size_t)((n - whole) * e->width);
  char rest[GT__GROUP * 8] __attribute__((aligned(64)));
  const void *other = number ? number : from;
  if (whole) e->loops->step(op, to, from, other, from, whole);
  if (whole == n) return;
  if (!number) number = rest;
  memcpy(rest, from + at, bytes);
  gt__cpu_pad(e, rest, n - whole);
  e->loops->step(op, rest, rest, number, rest, GT__GROUP);
  memcpy(to + at, rest, bytes);
}
/* What follows a fold, for n outputs from o on: a division, a root, and the store. */
static void gt__cpu_finish(gt__cpu_folder *f, int64_t o, int64_t n, const gt__cpu_column *c) {
  const gt__reduce_args *r = f->r;
  const gt__cpu_eval *e = &f->e;
  char *values = f->indexed ? (char *)c->index : c->value;
  gt__cpu_place out = {f->loops, &r->out, GT__STRIDED, r->n_kept, 0};
  out.lies = gt__cpu_lies(&r->out, r->n_kept, r->pre.size);
  if (f->indexed) out.loops = gt__cpu_choose()->loops[GT__I64];
  const int divide = r->finish & GT__DIVIDE;
  const int root = r->finish & GT__ROOT;
  if (divide) gt__cpu_each(e, GT__OP_over, values, values, &r->divisor, n);
  if (root) gt__cpu_each(e, GT__OP_sqrt, values, values, NULL, n);
  gt__cpu_put(e, &out, o, n, values);
}
/* The partials of a group from output o on. */
static gt__cpu_column gt__cpu_partials(const gt__cpu_reduction *c, const gt__cpu_folder *f,
                                       int64_t group, int64_t o) {
  const int64_t at = group * c->r->outer + o;
  const int64_t all = c->n_group * c->r->outer;
  int64_t *index = (int64_t *)(void *)c->memory + all;
  const gt__cpu_column x = {c->memory + at * f->width, index + at};
  return x;
}
/* A group's tree, from its chunk `first` on. */
static void gt__cpu_fold_group(gt__cpu_folder *f, int64_t o, int64_t columns, int64_t first,
                               int64_t n) {
  gt__cpu_column *top = f->tree; /* the newest subtree */
  for (int64_t i = 0; i < n; i++) {
    gt__cpu_fold_chunk(f, top, o, columns, (first + i) * f->r->chunk);
    const int last = i + 1 == n;
    for (int64_t bits = i; top > f->tree && (last || bits & 1); bits >>= 1) {
      top--;
      gt__cpu_join(f, top, top + 1, columns);
    }
    top++;
  }
}
/* Folds groups of chunks for some outputs. What is not all of an output goes to the partials, which
   gt__cpu_tree_task joins. */
static void gt__cpu_group_task(const void *context, gt__cpu_range items) {
  const gt__cpu_reduction *c = (const gt__cpu_reduction *)context;
  const gt__reduce_args *r = c->r;
  gt__cpu_folder f;
  const int kept = r->inner ? r->pre.ndim : r->n_kept;
  gt__cpu_folder_begin(&f, r, kept, items.own);
  gt__cpu_set_tree(&f, c);
  for (int64_t item = items.begin; item < items.end; item++) {
    const int64_t o = item / c->n_group * c->columns;
    const int64_t group = item % c->n_group;
    const int64_t columns = gt__least(c->columns, r->outer - o);
    const int64_t first = group * c->group;
    const int64_t chunks = gt__least(c->group, r->n_chunk - first);
    gt__cpu_fold_group(&f, o, columns, first, chunks);
    if (!c->memory) {
      gt__cpu_finish(&f, o, columns, f.tree);
      continue;
    }
    const gt__cpu_column to = gt__cpu_partials(c, &f, group, o);
    const size_t bytes = (size_t)(columns * f.width);
    memcpy(to.value, f.tree->value, bytes);
    if (f.indexed) memcpy(to.index, f.tree->index, (size_t)columns * 8);
  }
}
/* The rest of the tree: node i of a level, over `step` groups each, is the partial of group
   i * step. */
static void gt__cpu_tree_task(const void *context, gt__cpu_range items) {
  const gt__cpu_reduction *c = (const gt__cpu_reduction *)context;
  const int64_t end = gt__least(items.end * GT__GROUP, c->r->outer);
  gt__cpu_folder f;
  gt__cpu_folder_begin(&f, c->r, c->r->n_kept, items.own);
  for (int64_t o = items.begin * GT__GROUP; o < end; o += GT__BLOCK) {
    const int64_t n = gt__least(end - o, GT__BLOCK);
    for (int64_t step = 1; step < c->n_group; step *= 2)
      for (int64_t k = 0; k + step < c->n_group; k += 2 * step) {
        const gt__cpu_column a = gt__cpu_partials(c, &f, k, o);
        const gt__cpu_column b = gt__cpu_partials(c, &f, k + step, o);
        gt__cpu_join(&f, &a, &b, n);
      }
    const gt__cpu_column all = gt__cpu_partials(c, &f, 0, o);
    gt__cpu_finish(&f, o, n, &all);
  }
}
static int gt__cpu_plan_folds(gt__op *op) { /* softmax has a way of its own */
  return gt__cpu_choose() && !op->u.reduce.soft;
}
/* An item has some outputs and a group of their chunks: groups are halved until there are items for
   all threads. */
static int gt__cpu_run_folds(const gt__op *op, void *queue) {
  const gt__reduce_args *r = &op->u.reduce;
  const int width = gt__cpu_width(&r->pre.program) << gt__finds_index(r->fold);
  const int64_t most = GT__LINE_BYTES / width;
  const int threads = gt__cpu_threads(gt__cpu_work(&r->pre));
  gt__cpu_reduction c = {r, most, 1 << (GT__TREE - 1), 0, NULL};
  if (r->outer <= 0) return 0;
  if (r->inner && r->n) c.columns = gt__div_up(4 * GT__CHUNK, r->n);
  if (r->inner && r->n > GT__CHUNK) c.columns = 1;
  c.columns = gt__least(c.columns, most);
  c.columns = gt__least(c.columns, r->outer);
  const int64_t blocks = gt__div_up(r->outer, c.columns);
  const int64_t busy = 4 * threads - 4;
  c.n_group = gt__div_up(r->n_chunk, c.group);
  while (c.group > 1 && blocks * c.n_group < busy) {
    c.group /= 2;
    c.n_group = gt__div_up(r->n_chunk, c.group);
  }
  if (c.n_group > 1) { /* one partial for 32 elements at least, so their number does not overflow */
    const size_t partials = (size_t)(r->outer * c.n_group);
    c.memory = (char *)GPUTENSOR_MALLOC(partials * GT__PARTIAL);
    if (!c.memory) return GT__CPU_NO_MEMORY;
  }
  const size_t own = gt__cpu_folder_bytes(&c);
  const int64_t items = blocks * c.n_group;
  int code = gt__cpu_split(gt__cpu_group_task, &c, items, threads, own);
  const size_t rest = gt__cpu_eval_bytes(&r->pre) + GT__BLOCK * 8;
  const int64_t joins = gt__div_up(r->outer, GT__GROUP);
  if (c.memory && !code) code = gt__cpu_split(gt__cpu_tree_task, &c, joins, threads, rest);
  if (c.memory) GPUTENSOR_FREE(c.memory);
  return code;
}

/* ---- >>cpu-softmax -----------------------------------------------------------------------------
   softmax and its like: a row stays in the caches from read to store, and short rows pass several
   at a time, as many as fill a block. */
typedef struct {
  gt__cpu_eval e;
  const gt__reduce_args *r;
  const gt__cpu_loops *loops;
  char *row, *exps;   /* room for the values of the rows at hand, and for exp(value - maximum) */
  const char *values; /* in `row` or where they lie in memory */
  int64_t o, rows, n; /* the first row; how many; values of each */
  gt__num most[GT__BLOCK];
  gt__num sum[GT__BLOCK + GT__SOFT_BYTES / 4 / GT__CHUNK];
} gt__cpu_softer;
/* to[i] = op(from[i], the number of its row), up to a whole group behind the last row. */
static void gt__cpu_by_row(const gt__cpu_softer *s, int op, char *to, const char *from,
                           const void *numbers) {
  const gt__cpu_eval *e = &s->e;
  const int64_t w = e->width;
  const int64_t padded = gt__rounded(s->n * s->rows, GT__GROUP);
  char wide[GT__BLOCK * 8] __attribute__((aligned(64)));
  const char *number = (const char *)numbers;
  if (s->rows == 1) {
    s->loops->step(op, to, from, numbers, from, padded);
    return;
  }
  for (int64_t i = 0; i < s->rows; i++, number += w)
    gt__cpu_move(w, wide + i * s->n * w, 1, number, 0, s->n);
  gt__cpu_pad(e, wide, s->n * s->rows);
  const int by_value = op == GT__OP_over ? (int)GT__OP_div : (int)GT__OP_sub;
  s->loops->step(by_value, to, from, wide, from, padded);
  if (op != GT__OP_exp_less) return;
  s->loops->step(GT__OP_exp, to, to, to, to, padded);
}
/* Says where the values are, and finds the largest of each row. */
static void gt__cpu_rows_maximum(gt__cpu_softer *s) {
  const int64_t w = s->e.width;
  const int64_t first = s->o * s->n;
  const int64_t all = s->rows * s->n;
  const int64_t padded = gt__rounded(all, GT__GROUP);
  const int64_t behind = first + padded;
  const char *values = gt__cpu_values(&s->e, s->row, first, all);
  if (values != s->row && behind > s->r->pre.count) { /* nothing may lie behind it */
    memcpy(s->row, values, (size_t)(all * w));
    values = s->row;
  }
  if (values == s->row) gt__cpu_pad(&s->e, s->row, all);
  s->loops->lanes(GT__FOLD_TOP, s->most, NULL, values, s->n, s->rows);
  s->values = values;
  if (s->r->soft != GT__LOGSUMEXP) return;
  for (int64_t i = 0; i < s->rows; i++) { /* 0 for an infinite one */
    gt__f32 *f = (gt__f32 *)s->most + i;
    gt__f64 *d = (gt__f64 *)s->most + i;
    if (w == 4 && isinf(*f)) *f = 0;
    if (w == 8 && isinf(*d)) *d = 0;
  }
}
/* Chunks of 4096 by lanes, then the tree over them; only a single row has more than one. */
static void gt__cpu_rows_sum(gt__cpu_softer *s) {
  const gt__cpu_loops *loops = s->loops;
  const int64_t w = s->e.width;
  const int64_t n = s->n;
  const int64_t whole = n / GT__CHUNK;
  const int64_t rest = n % GT__CHUNK;
  const int64_t chunks = whole + (rest > 0);
  char *sum = (char *)s->sum;
  gt__cpu_by_row(s, GT__OP_exp_less, s->exps, s->values, s->most);
  loops->lanes(GT__FOLD_SUM, sum, NULL, s->exps, GT__CHUNK, whole);
  const char *last = s->exps + (n - rest) * w;
  char *behind = sum + whole * w;
  if (rest) loops->lanes(GT__FOLD_SUM, behind, NULL, last, rest, s->rows);
  for (int64_t step = 1; step < chunks; step *= 2)
    for (int64_t c = 0; c + step < chunks; c += 2 * step) {
      char *x = sum + c * w;
      loops->fold(GT__FOLD_SUM, x, NULL, x + step * w, 1, 1, 0, 1);
    }
  if (s->r->soft == GT__SOFTMAX) return;
  gt__cpu_each(&s->e, GT__OP_log, sum, sum, NULL, s->rows);
}
/* softmax divides the exponentials by their sum; log_softmax subtracts its logarithm. */
static void gt__cpu_rows_result(gt__cpu_softer *s) {
  const gt__cpu_eval *e = &s->e;
  const gt__map_args *m = e->m;
  const int64_t w = e->width;
  const int64_t first = s->o * s->n;
  const int64_t all = s->rows * s->n;
  const int log = s->r->soft == GT__LOG_SOFTMAX;
  const int op = log ? GT__OP_less : GT__OP_over;
  const int direct = e->out == GT__IN_LINE && m->out.dtype == e->loops->native &&
                     (s->rows == 1 || all % GT__GROUP == 0);
  char *to = direct ? m->out.data + first * w : s->row;
  if (log) gt__cpu_by_row(s, GT__OP_less, s->row, s->values, s->most);
  const char *from = log ? s->row : s->exps;
  if (s->rows == 1) gt__cpu_each(e, op, to, from, s->sum, s->n);
  else gt__cpu_by_row(s, op, to, from, s->sum);
  if (direct) return;
  const gt__cpu_place out = gt__cpu_place_of(e);
  for (int64_t k = 0; k < all; k += GT__BLOCK) {
    const int64_t n = gt__least(GT__BLOCK, all - k);
    gt__cpu_put(e, &out, first + k, n, s->row + k * w);
  }
}
static void gt__cpu_rows_logsumexp(gt__cpu_softer *s) {
  const gt__reduce_args *r = s->r;
  const gt__cpu_place out = {s->loops, &r->out, GT__STRIDED, r->n_kept, 0};
  char *sum = (char *)s->sum;
  s->loops->fold(GT__FOLD_SUM, sum, NULL, s->most, s->rows, 1, 0, 1);
  gt__cpu_put(&s->e, &out, s->o, s->rows, sum);
}
static size_t gt__cpu_row_bytes(int64_t n) {
  return (size_t)gt__rounded(n, GT__GROUP) * 8 + GT__PITCH;
}
/* Long rows pass one at a time, short ones as many as fill a block. */
static void gt__cpu_soft_task(const void *context, gt__cpu_range items) {
  const gt__reduce_args *r = (const gt__reduce_args *)context;
  const int groups = r->n % GT__GROUP == 0;
  const int single = r->n > 128 || (groups && r->soft == GT__SOFTMAX);
  const int64_t most = single ? 1 : GT__BLOCK / r->n;
  gt__cpu_softer s;
  s.r = r;
  s.n = r->n;
  s.row = items.own + gt__cpu_eval_bytes(&r->pre);
  s.exps = s.row + gt__cpu_row_bytes(r->n);
  gt__cpu_begin(&s.e, &r->pre, 0, r->pre.ndim, items.own);
  s.loops = s.e.loops;
  s.o = items.begin;
  for (; s.o < items.end; s.o += most) {
    s.rows = gt__least(most, items.end - s.o);
    gt__cpu_rows_maximum(&s);
    gt__cpu_rows_sum(&s);
    if (r->soft == GT__LOGSUMEXP) gt__cpu_rows_logsumexp(&s);
    else gt__cpu_rows_result(&s);
  }
}
static int gt__cpu_plan_rows(gt__op *op) { return gt__cpu_choose() && op->u.reduce.soft; }
static int gt__cpu_run_rows(const gt__op *op, void *queue) {
  const gt__reduce_args *r = &op->u.reduce;
  const int threads = gt__cpu_threads(gt__cpu_work(&r->pre) * 16);
  const size_t own = gt__cpu_eval_bytes(&r->pre) + 2 * gt__cpu_row_bytes(r->n);
  return gt__cpu_split(gt__cpu_soft_task, r, r->outer, threads, own);
}

/* ---- >>cpu-scans --------------------------------------------------------------------------------
   Running folds, by THE SCAN of >>machine. Along the last dim a row passes block by block, and
   short rows several at a time; else neighbouring rows pass together, a line of a value of each
   after the other, and each level has two lines. */
typedef struct {
  const gt__scan_args *s;
  int64_t columns; /* of a line */
  int64_t rows;    /* that pass at a time, along the last dim */
} gt__cpu_scanning;
/* Along the last dim: `level` has what THE SCAN hands on from block to block of a row. */
static void gt__cpu_scan_rows(const void *context, gt__cpu_range items) {
  const gt__cpu_scanning *c = (const gt__cpu_scanning *)context;
  const gt__map_args *m = &c->s->pre;
  const int64_t all = c->rows * c->s->n;
  char *room = items.own + gt__cpu_eval_bytes(m);
  gt__num level[2 * GT__LEVELS];
  gt__cpu_eval e;
  gt__cpu_begin(&e, m, 0, m->ndim, items.own);
  const gt__cpu_place out = gt__cpu_place_of(&e);
  const int64_t end = gt__least(items.end * all, m->count);
  int64_t n, run, k = 0;
  for (int64_t at = items.begin * all; at < end; at += n) {
    n = gt__least(end - at, c->rows > 1 ? all : gt__least(GT__BLOCK, c->s->n - k));
    const char *values = gt__cpu_values(&e, room, at, n);
    for (int64_t i = 0; i < n; i += run) {
      const int64_t place = i * e.width;
      run = gt__least(n - i, c->s->n);
      e.loops->scan(c->s->fold, room + place, values + place, run, k, level);
    }
    gt__cpu_put(&e, &out, at, n, room);
    k = (k + n) % c->s->n;
  }
}
/* to = before + run; in a row's first run, number 0, nothing is before. */
static void gt__cpu_join_lines(const gt__cpu_eval *e, int fold, char *to, const char *before,
                               int64_t n, int64_t k) {
  const int64_t pitch = n * e->width;
  const char *run = before + pitch;
  const int first = k < GT__RUN;
  memcpy(to, first ? run : before, (size_t)pitch);
  if (!first) e->loops->fold(fold, to, NULL, run, n, 1, 0, 1);
}
/* Line x, number k, becomes what is stored, in y. `level` has before and run of each. */
static void gt__cpu_scan_line(const gt__cpu_eval *e, int fold, char *level, const char *x, char *y,
                              int64_t n, int64_t k) {
  const int64_t pitch = n * e->width;
  char *top = level;
  for (;; k /= GT__RUN) {
    char *run = top + pitch;
    e->loops->fold(fold, run, NULL, x, n, 1, 0, k % GT__RUN);
    if (top == level) gt__cpu_join_lines(e, fold, y, top, n, k);
    if (k % GT__RUN < GT__RUN - 1) break;
    x = run;
    top += 2 * pitch;
  }
  for (; level < top; level += 2 * pitch) gt__cpu_join_lines(e, fold, level, top, n, k);
}
/* Along another dim: a line of values of neighbouring rows is scanned as one value is. */
static void gt__cpu_scan_columns(const void *context, gt__cpu_range items) {
  const gt__cpu_scanning *c = (const gt__cpu_scanning *)context;
  const gt__scan_args *s = c->s;
  const int64_t blocks = gt__div_up(s->inner, c->columns);
  char *room = items.own + gt__cpu_eval_bytes(&s->pre);
  char *y = room + GT__PITCH;
  char *level = y + GT__PITCH;
  gt__cpu_eval e;
  gt__cpu_begin(&e, &s->pre, 0, s->pre.ndim, items.own);
  const gt__cpu_place out = gt__cpu_place_of(&e);
  for (int64_t item = items.begin; item < items.end; item++) {
    const int64_t i = item % blocks * c->columns;
    const int64_t n = gt__least(c->columns, s->inner - i);
    int64_t at = item / blocks * s->n * s->inner + i;
    for (int64_t k = 0; k < s->n; k++) {
      const char *x = gt__cpu_values(&e, room, at, n);
      gt__cpu_scan_line(&e, s->fold, level, x, y, n, k);
      gt__cpu_put(&e, &out, at, n, y);
      at += s->inner;
    }
  }
}
/* How rows, or columns side by side, are cut into items; a row is never cut. */
static int gt__cpu_run_scan(const gt__op *op, void *queue) {
  const gt__scan_args *s = &op->u.scan;
  const int threads = gt__cpu_threads(gt__cpu_work(&s->pre));
  size_t own = gt__cpu_eval_bytes(&s->pre) + 2 * GT__PITCH;
  const int64_t share = gt__div_up(s->outer * s->inner, 4 * threads);
  gt__cpu_scanning c = {s, gt__rounded(share, GT__GROUP), 1};
  if (s->n < GT__BLOCK) c.rows = GT__BLOCK / s->n;
  int64_t items = gt__div_up(s->outer, c.rows);
  if (s->inner == 1) return gt__cpu_split(gt__cpu_scan_rows, &c, items, threads, own);
  c.columns = gt__least(c.columns, GT__BLOCK);
  items = s->outer * gt__div_up(s->inner, c.columns);
  own += 2 * GT__LEVELS * GT__PITCH;
  return gt__cpu_split(gt__cpu_scan_columns, &c, items, threads, own);
}

/* ---- >>cpu-products ----------------------------------------------------------------------------
   Three ways, chosen by dtypes, shape and strides alone, so that threads change no sum; a fourth is
   in >>cpu-amx.
   - Panels. A block of C takes all of K in chunks. For each, panels of rows of A are packed to stay
     in the L2 cache; then each panel of columns of B is packed, and the micro-kernel takes it down
     the rows, while it fetches what the next panel is made of. No thread waits for another.
     Operands that are as good where they lie are not packed.

              B  k | panel | panel |     A is packed once for a chunk of K, panel after panel of
      A            |       |       |     its rows: [panel][k][row]. B's panel is packed when its
      panel of  k  |       |       |     time comes, as [k][column], and stays in the L1 cache while
      rows   -----  C tile | ...         all panels of A pass; a tile of C stays in registers.
      panel  -----    tile | ...

     for each block of C, which one thread takes                   gt__cpu_block_task
       for each chunk of K                                         gt__cpu_by_panels
         pack A's panels, of the block's rows                      gt__cpu_pack_a
         for each panel of B, of the block's columns
           pack it, unless it lies well or was copied already      gt__cpu_take_panel
           for each panel of A                                     gt__cpu_multiply_panel
             a tile of C += a panel of A x that panel of B         micro, in >>cpu-loops

     A tile of float32 is 6 x 16 with AVX2, 14 x 32 with AVX-512: its sums, two vectors of B and
     one of A fill the registers.
   - Small: a product whose operands all can stay where they lie, by panels in the caller's thread.
   - Dots: where A has few rows, or B few columns, and the values of both lie side by side along K.
   Packing converts, so the kernels know the compute types alone. C takes the sums itself where it
   can; else a block of them passes through the program behind the product while it is in cache.
   Threads share the blocks of all products of a batch. */
enum { GT__PACK_SQUARE = 32 }; /* what is gathered to be packed is a square of this side */
enum { GT__EDGE = 14 * 128 };  /* bytes of the largest tile */
struct gt__cpu_product;
/* A block of C, rows x columns from (m, n) on: at `to`, with its strides. a, b: the numbers of the
   first elements of this product's A and B. */
typedef struct {
  char *to;
  int64_t row, column, m, rows, n, columns, a, b;
} gt__cpu_area;
typedef struct gt__cpu_product {
  const gt__matmul_args *x;
  const gt__cpu_loops *loops;
  void (*block)(const struct gt__cpu_product *c, const gt__cpu_area *z, char *own);
  double work; /* of one product, in steps of a map */
  int64_t width, a_row, a_col, b_row, b_col;
  int direct, a_direct, stored, pieces; /* B, A in place; C takes the sums; see >>cpu-amx */
  int64_t high, broad, depth;           /* units of blocks' rows and columns; a chunk of K */
  int64_t most_m, most_n;               /* rows and columns of a block */
  int64_t grid_m, grid_n;               /* blocks of C */
  int64_t a_bytes, b_bytes, sums;       /* scratch: of packed A, B, and sums on their way to C */
  int64_t more_bytes;                   /* and of the way's own, for a block of C */
} gt__cpu_product;
static int gt__cpu_is_amd(void) {
#ifdef __x86_64__
  return __builtin_cpu_is("amd") != 0;
#else
  return 0;
#endif
}
/* Does it pay to read B where it lies? Rows a multiple of 4 KB apart map to the same sets of the L1
   cache; few rows of A suffer that, since packing would cost more, and so do 16 with more than 8
   threads (16 x 4096 x 4096, 16 threads: 744 GFLOP/s, was 274). What many rows read is packed if L1
   cannot hold it, as odd rows lie in twice the lines: 500 x 70 x 300 gains 25 %. */
static int gt__cpu_b_in_place(const gt__cpu_product *c, int threads) {
  const gt__matmul_args *x = c->x;
  const int64_t rows = c->loops->rows;
  const int64_t many = threads > 8 && c->width == 4 ? 2 : 0;
  const double values = (double)x->k * (double)x->n;
  const double bytes = values * (double)c->width;
  const int meet = c->b_row * c->width % GT__L1_PERIOD == 0;
  if (x->b.dtype != c->loops->native) return 0;
  if (x->k <= 0 || c->b_col != 1) return 0;
  if (meet && x->m > rows + many) return 0;
  if (x->m <= GT__FEW_ROWS || bytes <= (double)GT__L1_VALUES) return 1;
  return x->m < 40 * rows && values <= GT__L2_LINES * c->loops->vector;
}
/* Does it pay to read A where it lies? What many panels of B pass is packed: 128 x 512 x 128 gains
   20 % on AVX2, 64 x 1024 x 64 15 %. Rows that meet in L1 are packed if it has no room for a
   tile's: else 16 x 16 x 1024 would take 1.6 times as long. */
static int gt__cpu_a_in_place(const gt__cpu_product *c) {
  const gt__matmul_args *x = c->x;
  const int meet = c->a_row * c->width % GT__L1_PERIOD == 0 && c->loops->rows > 6;
  const double panels = (double)x->n / (double)c->loops->panel;
  const double bytes = (double)x->m * (double)x->k * (double)c->width;
  if (x->a.dtype != c->loops->native) return 0;
  if (c->a_row != 1 && (c->a_col != 1 || meet)) return 0;
  return x->n <= 64 || (panels <= 16 && panels * bytes <= 8 * GT__A_BYTES);
}
static int gt__cpu_takes_sums(const gt__cpu_product *c, int any_column) {
  const gt__map_args *m = &c->x->post;
  const gt__program *p = &m->program;
  const gt__ins *first = p->ins;
  if (p->n_ins != 1 || first->op != GT__LOAD || first->b) return 0;
  if (m->out.dtype != c->loops->native) return 0;
  const int64_t column = m->out.stride[c->x->n_batch + 1];
  return any_column || c->x->n == 1 || column == 1;
}
GT__INSIDE int gt__cpu_product_threads(const gt__cpu_product *c) {
  const gt__matmul_args *x = c->x;
  const double after = gt__cpu_work(&x->post);
  return gt__cpu_threads((double)x->batch * c->work + after);
}
/* What all ways ask for, made when the first of them asks. NULL: there are no vectors. */
static gt__cpu_product *gt__cpu_product_of(gt__op *op) {
  const gt__cpu_isa *isa = gt__cpu_choose();
  gt__cpu_product *c = (gt__cpu_product *)(void *)op->plan;
  const gt__matmul_args *x = &op->u.matmul;
  const double m = (double)x->m;
  const double n = (double)x->n;
  const double k = (double)x->k;
  if (!isa || op->plan_bytes) return isa ? c : NULL;
  op->plan_bytes = sizeof *c;
  c->x = x;
  c->loops = isa->loops[x->compute];
  c->width = c->loops->width;
  const double values = m * k + k * n + m * n;
  c->work = m * n * k * (double)c->width / 64 + values / 2;
  /* strides along dims of size 1 are never used: 1 is as good, and makes more ways possible */
  c->a_row = x->m == 1 ? 1 : x->a_row;
  c->a_col = x->k == 1 ? 1 : x->a_col;
  c->b_row = x->k == 1 ? 1 : x->b_row;
  c->b_col = x->n == 1 ? 1 : x->b_col;
  c->direct = gt__cpu_b_in_place(c, gt__cpu_product_threads(c));
  c->a_direct = gt__cpu_a_in_place(c);
  c->stored = gt__cpu_takes_sums(c, 0);
  c->pieces = 0;
  c->more_bytes = 0;
  return c;
}

/* -- panels -- */
/* Packs n lines of k values as one panel, [k][panel]; line and along are strides. What does not lie
   as the kernel wants it is first gathered and converted, in small squares. */
static void gt__cpu_pack(const gt__cpu_product *c, char *to, int64_t panel, const gt__operand *x,
                         int64_t first, int64_t line, int64_t along, int64_t n, int64_t k) {
  char values[GT__PACK_SQUARE * GT__PACK_SQUARE * 8] __attribute__((aligned(64)));
  char raw[GT__PACK_SQUARE * GT__PACK_SQUARE * 8] __attribute__((aligned(64)));
  const int64_t size = gt__cpu_bytes(x);
  const int native = x->dtype == c->loops->native;
  const int by_line = gt__magnitude(along) < gt__magnitude(line) || n == 1;
  const int64_t swapped[2] = {along, line};
  const int64_t straight[2] = {line, along};
  const int64_t *stride = by_line ? straight : swapped;
  const char *from = x->data + first * size;
  if (native && (line == 1 || along == 1)) {
    c->loops->pack(to, panel, panel, from, line, along, n, k);
    return;
  }
  const int convert = GT__FROM + x->dtype;
  char *gathered = native ? values : raw;
  for (int64_t done = 0; done < k; done += GT__PACK_SQUARE) {
    const int64_t depth = gt__least(GT__PACK_SQUARE, k - done);
    const int64_t high = by_line ? n : depth;
    const int64_t box[2] = {high, n + depth - high};
    const int64_t pitch = by_line ? depth : 1;
    const int64_t step = by_line ? 1 : n;
    gt__cpu_walk(size, 2, box, 0, n * depth, gathered, NULL, from, stride);
    if (!native) c->loops->step(convert, values, raw, NULL, NULL, n * depth);
    c->loops->pack(to, panel, panel, values, pitch, step, n, depth);
    from += depth * along * size;
    to += depth * panel * c->width;
  }
}
/* One panel of A times one or more of B. At the edges of C it goes by way of a small buffer. */
static void gt__cpu_tile_of(const gt__cpu_product *c, gt__cpu_tile *t, char *to, int64_t c_row,
                            int64_t rows, int64_t columns) {
  char edge[GT__EDGE] __attribute__((aligned(64)));
  const int64_t broad = t->columns > 1 ? t->columns : c->loops->vector;
  const int64_t row = c_row * c->width;
  const int64_t pitch = broad * c->width;
  const size_t bytes = (size_t)(columns * c->width);
  t->c = to;
  t->c_row = c_row;
  if (rows >= t->rows && columns >= broad) {
    c->loops->micro(t);
    return;
  }
  const int64_t known = t->add ? rows : 0;
  for (int64_t i = 0; i < known; i++) memcpy(edge + i * pitch, to + i * row, bytes);
  t->c = edge;
  t->c_row = broad;
  c->loops->micro(t);
  for (int64_t i = 0; i < rows; i++) memcpy(to + i * row, edge + i * pitch, bytes);
}
/* A block's way through its panels. If one pass covers all of K, the last panel of B may overlap
   the one before it (`back`), as it only writes the same values again. */
typedef struct {
  const gt__cpu_product *c;
  const gt__cpu_area *z;
  gt__cpu_tile t;
  int back;
  int below;             /* the rows of B below are fetched, not the next panel */
  int wide;              /* panels of B in place, side by side, are taken in one call */
  char *pa, *pb, *spare; /* packed A, B's panel, room for the next one */
  char *ready;           /* B's next panel, if it was copied; else NULL */
  int64_t k, j, some, b; /* of K done; of columns; columns of this panel; its first element of B */
  int more, whole;       /* another panel follows; it can be copied as it is */
} gt__cpu_panels;
/* Decides what is the same for all panels of a block. */
static void gt__cpu_panels_begin(gt__cpu_panels *p, const gt__cpu_product *c, const gt__cpu_area *z,
                                 char *own) {
  const int64_t rows = c->loops->rows;
  const int64_t lanes = c->loops->vector;
  const int64_t broad = c->loops->panel;
  p->c = c;
  p->z = z;
  const int64_t enough = c->direct ? lanes : broad;
  p->back = c->x->k <= c->depth && z->columns >= enough;
  /* of narrow blocks of B in place the lines below are fetched: 1.2 to 1.4 times as fast */
  p->below = c->direct && c->x->m <= 2 * rows && z->columns <= 8 * broad;
  /* B is read once, or fits into L2 */
  const int fits = c->x->k * z->columns <= GT__L2_LINES * lanes;
  p->wide = c->direct && (z->rows <= rows || fits);
  p->pb = own;
  p->spare = own + c->b_bytes / 2;
  p->pa = own + c->b_bytes;
  p->ready = NULL;
}
/* Rows of the next panel, of `rows` that are left: the last two alike rather than one tiny. */
static int gt__cpu_height(const gt__cpu_product *c, int64_t rows) {
  const int64_t most = c->loops->rows;
  if (rows > most && rows < most + 3) return (int)(rows + 1) / 2;
  return (int)gt__least(rows, most);
}
static int64_t gt__cpu_row_of_a(const gt__cpu_panels *p, int64_t i) { /* the number of an element */
  const gt__cpu_product *c = p->c;
  const gt__cpu_area *z = p->z;
  return z->a + (z->m + i) * c->a_row + p->k * c->a_col;
}
static void gt__cpu_pack_a(const gt__cpu_panels *p) {
  const gt__cpu_product *c = p->c;
  const gt__operand *x = &c->x->a;
  const int64_t rows = c->a_direct ? 0 : p->z->rows;
  for (int64_t i = 0; i < rows;) {
    const int high = gt__cpu_height(c, rows - i);
    char *to = p->pa + i * p->t.k * c->width;
    const int64_t first = gt__cpu_row_of_a(p, i);
    gt__cpu_pack(c, to, high, x, first, c->a_row, c->a_col, high, p->t.k);
    i += high;
  }
}
/* Columns of the panel from j on, of which `left` are left. */
static int64_t gt__cpu_panel_width(const gt__cpu_panels *p, int64_t left) {
  const int64_t lanes = p->c->loops->vector;
  const int64_t broad = p->c->loops->panel;
  const int64_t some = gt__least(broad, left);
  if (p->wide && left > broad) return left / broad * broad;
  if (!p->back || some == broad) return some;
  if (some > lanes && p->z->columns >= broad) return broad;
  return some > broad - lanes ? some : lanes;
}
/* B's panel from column j on: where it lies, or packed, or where the kernel copied it while it
   multiplied the one before. */
static void gt__cpu_take_panel(gt__cpu_panels *p) {
  const gt__cpu_product *c = p->c;
  const gt__operand *of_b = &c->x->b;
  const int64_t columns = p->z->columns;
  const int64_t lanes = c->loops->vector;
  const int64_t broad = c->loops->panel;
  gt__cpu_tile *t = &p->t;
  p->some = gt__cpu_panel_width(p, columns - p->j);
  if (p->back) p->j = gt__least(p->j, columns - p->some);
  const int64_t column = p->z->n + p->j;
  p->b = p->z->b + column * c->b_col + p->k * c->b_row;
  p->more = c->b_col == 1 && p->j + broad < columns;
  p->whole = p->more && p->j + 2 * broad <= columns && !c->direct;
  if (of_b->dtype != c->loops->native) p->whole = 0;
  if (p->ready) {
    p->spare = p->pb;
    p->pb = p->ready;
  }
  t->columns = (int)broad;
  if (p->back && p->some < broad) t->columns = (int)p->some;
  if (p->some <= lanes) t->columns = 1;
  t->b_row = t->columns > 1 ? broad : lanes;
  t->b = p->pb;
  if (c->direct && (p->back || p->some % t->b_row == 0)) {
    t->b = of_b->data + p->b * c->width;
    t->b_row = c->b_row;
  } else if (!p->ready) {
    const int64_t n = p->some;
    const int64_t panel = t->b_row;
    gt__cpu_pack(c, p->pb, panel, of_b, p->b, c->b_col, c->b_row, n, t->k);
  }
  p->ready = NULL;
}
/* What micro fetches, or copies, while it multiplies `high` rows from i on: B's next panel, or the
   rows below. */
static void gt__cpu_set_fetch(gt__cpu_panels *p, int64_t i, int64_t high, int packed) {
  const gt__cpu_product *c = p->c;
  gt__cpu_tile *t = &p->t;
  const int64_t size = gt__cpu_bytes(&c->x->b);
  const int64_t shared = t->down ? high : p->z->rows;
  const int fetch = p->below ? i == 0 : p->more && (i == 0 || packed);
  const int64_t ahead = p->below ? 16 * c->b_row : (int64_t)c->loops->panel;
  t->far_row = fetch ? c->b_row * size : 0;
  t->next = (const char *)t->b;
  if (fetch) t->next = c->x->b.data + (p->b + ahead) * size;
  t->fars = packed ? gt__div_up(t->k * t->rows, shared) : 0;
  t->copy = p->whole && t->down ? p->spare : NULL;
  if (t->copy) p->ready = p->spare;
}
/* All rows of the block times that panel, a panel of A at a time, or all of one height in one call.
   */
static void gt__cpu_multiply_panel(gt__cpu_panels *p) {
  const gt__cpu_product *c = p->c;
  const int64_t broad = c->loops->panel;
  const int64_t rows = p->z->rows;
  gt__cpu_tile *t = &p->t;
  for (int64_t i = 0, high; i < rows; i += high) {
    t->rows = gt__cpu_height(c, rows - i);
    high = t->rows;
    const int packed = !c->a_direct && high == c->loops->rows && t->columns > 1;
    t->down = packed && p->some == broad && c->x->compute != GT__I64;
    t->panels = p->some > broad ? p->some / broad : 1;
    if (t->down) { /* all panels of A of this height in one call */
      const int64_t rest = (rows - i) % high;
      t->panels = (rows - i) / high - (rest == 1 || rest == 2);
      high *= t->panels;
    }
    t->a = p->pa + i * t->k * c->width;
    const int64_t first = gt__cpu_row_of_a(p, i);
    if (c->a_direct) t->a = c->x->a.data + first * c->width;
    t->a_row = c->a_direct ? c->a_row : 1;
    t->a_col = c->a_direct ? c->a_col : t->rows;
    gt__cpu_set_fetch(p, i, high, packed);
    const int64_t c_row = p->z->row;
    char *to = p->z->to + (i * c_row + p->j) * c->width;
    gt__cpu_tile_of(c, t, to, c_row, high, p->some);
  }
}
/* A block of C: for each chunk of K A is packed, and then B's panels pass. */
static void gt__cpu_by_panels(const gt__cpu_product *c, const gt__cpu_area *z, char *own) {
  gt__cpu_panels p;
  gt__cpu_panels_begin(&p, c, z, own);
  const int64_t all = c->x->k;
  for (p.k = 0; p.k < all || p.k == 0; p.k += c->depth) {
    p.t.k = gt__least(c->depth, all - p.k);
    p.t.add = p.k > 0;
    gt__cpu_pack_a(&p);
    for (p.j = 0; p.j < z->columns; p.j += p.some) {
      gt__cpu_take_panel(&p);
      gt__cpu_multiply_panel(&p);
    }
  }
}
/* How deep are chunks of K? The deeper, the less often C is read and written. A Xeon's L1 cache is
   to hold a panel of A and one of B; of AMD's processors L2 is as good. With few rows B is read in
   long lines, so many that loading and storing C costs little beside them. */
static void gt__cpu_set_depth(gt__cpu_product *c, int threads) {
  const gt__matmul_args *x = c->x;
  const int64_t w = c->width;
  const int64_t wide = c->loops->vector * w == 64;
  const int64_t amd = gt__cpu_is_amd();
  int64_t deep = GT__DEPTH_4;
  if (w == 8) deep = GT__DEPTH_8;
  if (wide && w == 4 && !amd) deep = GT__DEPTH_4_XEON;
  if (wide && w == 8) deep = GT__DEPTH_8_XEON;
  if (wide && w == 8 && amd) deep = GT__DEPTH_8_AMD;
  const int two_to_a_core = w > 4 && threads > 8;
  c->most_m = (wide ? 3 : 4) * GT__A_BYTES / (deep * w) >> two_to_a_core;
  c->most_n = c->stored && threads == 1 ? 4 * GT__N_BLOCK : GT__N_BLOCK;
  if (c->direct && x->m <= c->loops->rows) deep = 8 * (x->m + 1);
  c->depth = gt__least(deep, x->k + !x->k);
}
static int gt__cpu_plan_panels(gt__op *op) {
  gt__cpu_product *c = gt__cpu_product_of(op);
  if (!c) return 0;
  c->block = gt__cpu_by_panels;
  c->high = c->loops->rows;
  c->broad = c->loops->panel;
  return 1;
}

/* -- small: done by the caller, from operands as they lie, with no memory of its own. If columns
   are fewer than a vector has values, there may be narrower ones. -- */
static int gt__cpu_plan_small(gt__op *op) {
  gt__cpu_product *c = gt__cpu_product_of(op);
  const gt__matmul_args *x = &op->u.matmul;
  if (!c || !c->direct || !c->a_direct) return 0;
  if (!c->stored || x->n_batch || x->m <= 0) return 0;
  if (x->n * c->width < 16 || x->k > GT__DEPTH) return 0;
  if (c->work >= GT__CPU_PARALLEL) return 0;
  if (x->n < c->loops->vector && x->m * x->k > GT__NARROW_WORK) return 0;
  const gt__cpu_isa *isa = gt__cpu_choose();
  const gt__cpu_loops *loops = c->loops;
  while (x->n < loops->vector && isa > gt__cpu_isas) {
    isa--;
    loops = isa->loops[x->compute];
  }
  if (x->n < loops->vector) return 0;
  c->loops = loops;
  return 1;
}
static int gt__cpu_run_small(const gt__op *op, void *queue) {
  const gt__matmul_args *x = &op->u.matmul;
  const gt__operand *out = &x->post.out;
  const gt__cpu_product *c = (const gt__cpu_product *)(const void *)op->plan;
  const gt__cpu_tile t = {out->data, x->a.data, x->b.data, x->k,     out->stride[0],
                          1,         c->a_row,  c->a_col,  c->b_row, 1,
                          NULL,      0,         0,         NULL,     (int)x->m,
                          (int)x->n, 0,         0};
  c->loops->few(&t);
  return 0;
}

/* -- dots: in chunks of K that stay in L1; C may have any strides -- */
typedef struct { /* lines along K, rows of A or columns of B */
  const char *from;
  int64_t line, n, sum; /* from one to the next; how many; from one's sums to the next's in C */
} gt__cpu_lines;
/* A block of C: of each chunk of K up to four lines of B at a time, times all lines of A. */
static void gt__cpu_by_dots(const gt__cpu_product *c, const gt__cpu_area *z, char *own) {
  const gt__matmul_args *x = c->x;
  const int64_t w = c->width;
  const int64_t depth = GT__DOT_BYTES / w;
  const char *from_a = x->a.data + (z->a + z->m * c->a_row) * w;
  const char *from_b = x->b.data + (z->b + z->n * c->b_col) * w;
  gt__cpu_lines a = {from_a, c->a_row, z->rows, z->row};
  gt__cpu_lines b = {from_b, c->b_col, z->columns, z->column};
  if (b.n == 1) { /* a column of B is as good as a row of A */
    const gt__cpu_lines column = b;
    b = a;
    a = column;
  }
  gt__cpu_tile t;
  t.c_row = a.sum;
  t.c_col = b.sum;
  t.a_row = a.line;
  t.b_row = b.line;
  for (int64_t k = 0; k < x->k; k += depth) {
    t.k = gt__least(depth, x->k - k);
    t.add = k > 0;
    for (int64_t j = 0; j < b.n; j += t.columns) {
      t.columns = (int)gt__least(4, b.n - j);
      t.b = b.from + (j * b.line + k) * w;
      for (int64_t i = 0; i < a.n; i += t.rows) {
        t.rows = a.n - i < 2 ? 1 : 2;
        if (a.n - i >= c->loops->dots) t.rows = c->loops->dots;
        t.a = a.from + (i * a.line + k) * w;
        t.c = z->to + (i * a.sum + j * b.sum) * w;
        c->loops->dot(&t);
      }
    }
  }
}
/* Do dots take less time than panels? For each value of C they save packing, but vectors have to be
   added up, and loads are more. Many rows, which mostly lie in place, times many columns go by
   panels (64 x 64 x 32768: 1.4 times as fast on AVX2, 2 on AVX-512). */
static int gt__cpu_plan_dots(gt__op *op) {
  gt__cpu_product *c = gt__cpu_product_of(op);
  const gt__matmul_args *x = &op->u.matmul;
  if (!c) return 0;
  const int native = c->loops->native;
  if (x->a.dtype != native || x->b.dtype != native) return 0;
  const int64_t lanes = c->loops->vector;
  const int64_t dots = c->loops->dots;
  const double m = (double)x->m;
  const double n = (double)x->n;
  const double k = (double)x->k;
  if (c->a_col != 1 || c->b_row != 1 || x->k < lanes) return 0;
  if (x->m > 8 * dots && x->n >= lanes * dots / 2) return 0;
  const double packing = gt__pack_cycles * (k / m + k / n);
  const double adding = (double)GT__SUM_CYCLES + k / (double)(GT__LOAD_SHARE * lanes);
  if (packing <= adding) return 0;
  c->block = gt__cpu_by_dots;
  c->high = dots;
  c->broad = 4;
  c->direct = 0;
  c->stored = gt__cpu_takes_sums(c, 1);
  return 1;
}

/* -- blocks: how C is partitioned, on which no sums depend -- */
/* How many blocks are worth their overhead? */
static double gt__cpu_most_blocks(double least, double work, int threads) {
  const double many = fmax(6 * threads, 2 * least);
  return threads == 1 ? 0 : fmin(many, work / (double)GT__BLOCK_WORK);
}
/* Blocks a thread: 3, because cores may differ in speed by a factor of two; up to 6, threads / 4,
   with many threads; fewer if blocks would get too small; 1 where B's lines would get too short;
   with AMX, whose packing is slow, 1 or 3. */
static double gt__cpu_rounds(const gt__cpu_product *c, double work, int threads) {
  const int64_t m = c->x->m;
  double most = fmax(3, fmin(threads / 4, 6));
  const int some_rows = m > 2 * c->loops->rows && m <= GT__FEW_ROWS;
  if (c->direct && some_rows) return 1;
  if (c->pieces) most = threads > 8 ? 3 : 1;
  return fmin(fmax(1, work / threads / GT__CPU_PARALLEL), most);
}
/* The time of i x j blocks, in tiles: those of one block, with its packing, and what two threads
   lose in a line of the caches that both write, times how many blocks one thread makes. */
static double gt__cpu_time_of(const gt__cpu_product *c, int64_t i, int64_t j, double rounds,
                              int threads) {
  const gt__operand *out = &c->x->post.out;
  const gt__matmul_args *x = c->x;
  const int64_t m = gt__div_up(x->m, c->high);
  const int64_t n = gt__div_up(x->n, c->broad);
  const double high = (double)gt__div_up(m, i);
  const double broad = (double)gt__div_up(n, j);
  const int apart = out->stride[x->n_batch] * gt__cpu_bytes(out) % 64 == 0;
  const double k = x->k > 0 ? (double)x->k : 1;
  const double shared = apart || j == 1 ? 0 : (double)GT__SHARED_LINE / k;
  const double tiles = (high + 1) * (broad + 1) + high * shared;
  const double items = (double)(i * j * x->batch);
  return tiles * fmax(rounds, ceil(items / threads));
}
/* The next number of blocks of a dim to try, about a quarter more, and `most` once; then more than
   that. */
static int64_t gt__cpu_more_blocks(int64_t blocks, int64_t most) {
  if (blocks == most) return most + 1;
  return gt__least(most, blocks + blocks / 4 + 1);
}
/* Cuts C into blocks. Of the partitions that are tried it takes the one whose estimated time is
   least. */
static void gt__cpu_partition(gt__cpu_product *c, double work, int threads) {
  const int64_t m = gt__div_up(c->x->m, c->high);
  const int64_t n = gt__div_up(c->x->n, c->broad);
  const int64_t least_m = gt__div_up(c->x->m, c->most_m);
  const int64_t least_n = gt__div_up(c->x->n, c->most_n);
  const double least = (double)(least_m * least_n * c->x->batch);
  const double most = gt__cpu_most_blocks(least, work, threads);
  const double rounds = gt__cpu_rounds(c, work, threads);
  double best = HUGE_VAL;
  c->grid_m = least_m;
  c->grid_n = least_n;
  for (int64_t i = least_m; i <= m; i = gt__cpu_more_blocks(i, m))
    for (int64_t j = least_n; j <= n; j = gt__cpu_more_blocks(j, n)) {
      if ((double)(i * j * c->x->batch) > most) break;
      const double time = gt__cpu_time_of(c, i, j, rounds, threads);
      if (time >= best) continue;
      best = time;
      c->grid_m = i;
      c->grid_n = j;
    }
}
/* Runs the program behind the product over a block of sums and stores it. */
static void gt__cpu_after(const gt__cpu_product *c, gt__cpu_eval *e, const gt__cpu_area *z,
                          int64_t batch) {
  const gt__matmul_args *x = c->x;
  const int64_t first = (batch * x->m + z->m) * x->n + z->n;
  const int whole = z->columns == x->n;
  const int64_t runs = whole ? 1 : z->rows;
  const int64_t run = z->rows * z->columns / runs;
  for (int64_t i = 0; i < runs; i++)
    for (int64_t j = 0; j < run; j += GT__BLOCK) {
      const int64_t n = gt__least(GT__BLOCK, run - j);
      e->slot[0] = z->to + (i * z->columns + j) * c->width;
      gt__cpu_block(e, first + i * x->n + j, n);
    }
}
/* Where block i of the n blocks of a dim begins, which are made of whole units. */
static int64_t gt__cpu_block_begin(int64_t size, int64_t unit, int64_t i, int64_t n) {
  return gt__least(size, gt__div_up(size, unit) * i / n * unit);
}
/* Block number `item` of all products of the batch. */
static gt__cpu_area gt__cpu_area_of(const gt__cpu_product *c, int64_t item, char *sums) {
  const gt__matmul_args *x = c->x;
  const gt__operand *out = &x->post.out;
  const int64_t *shape = x->post.size;
  const int64_t batch = item / c->grid_n / c->grid_m;
  const int64_t p = item / c->grid_n % c->grid_m;
  const int64_t q = item % c->grid_n;
  gt__cpu_area z;
  z.m = gt__cpu_block_begin(x->m, c->high, p, c->grid_m);
  z.n = gt__cpu_block_begin(x->n, c->broad, q, c->grid_n);
  const int64_t end_m = gt__cpu_block_begin(x->m, c->high, p + 1, c->grid_m);
  const int64_t end_n = gt__cpu_block_begin(x->n, c->broad, q + 1, c->grid_n);
  z.rows = end_m - z.m;
  z.columns = end_n - z.n;
  z.a = gt__offset(batch, x->n_batch, shape, x->a.stride);
  z.b = gt__offset(batch, x->n_batch, shape, x->b.stride);
  z.row = c->stored ? out->stride[x->n_batch] : z.columns;
  z.column = c->stored ? out->stride[x->n_batch + 1] : 1;
  int64_t at = gt__offset(batch, x->n_batch, shape, out->stride);
  at += z.m * z.row + z.n * z.column;
  z.to = c->stored ? out->data + at * c->width : sums;
  return z;
}
/* Blocks of C: the way's sums of each, and then the program behind. */
static void gt__cpu_block_task(const void *context, gt__cpu_range items) {
  const gt__cpu_product *c = (const gt__cpu_product *)context;
  const int64_t packed = c->b_bytes + c->a_bytes;
  gt__cpu_eval e;
  if (!c->stored) {
    char *own = items.own + packed + c->sums + c->more_bytes;
    const gt__map_args *m = &c->x->post;
    gt__cpu_begin(&e, m, 1, m->ndim, own);
  }
  for (int64_t item = items.begin; item < items.end; item++) {
    const gt__cpu_area z = gt__cpu_area_of(c, item, items.own + packed);
    c->block(c, &z, items.own);
    const int64_t batch = item / c->grid_n / c->grid_m;
    if (!c->stored) gt__cpu_after(c, &e, &z, batch);
  }
}
/* Decides what the plan left open, since it depends on the threads: the partition of C,
   and scratch. */
static int gt__cpu_run_product(const gt__op *op, void *queue) {
  gt__cpu_product c = *(const gt__cpu_product *)(const void *)op->plan;
  const gt__matmul_args *x = &op->u.matmul;
  c.x = x;
  if (x->m <= 0 || x->n <= 0 || x->batch <= 0) return 0;
  const int threads = gt__cpu_product_threads(&c);
  if (!c.pieces) gt__cpu_set_depth(&c, threads);
  gt__cpu_partition(&c, (double)x->batch * c.work, threads);
  const int64_t units_m = gt__div_up(x->m, c.high);
  const int64_t units_n = gt__div_up(x->n, c.broad);
  const int64_t rows = gt__div_up(units_m, c.grid_m) * c.high;
  const int64_t columns = gt__div_up(units_n, c.grid_n) * c.broad;
  const int dots = c.block == gt__cpu_by_dots;
  c.b_bytes = dots ? 0 : 2 * c.broad * c.depth * c.width;
  c.a_bytes = dots ? 0 : rows * c.depth * c.width + 64;
  /* a group behind the sums may be read, when the last group of a block is rounded up */
  c.sums = c.stored ? 0 : (rows * columns + GT__GROUP) * c.width;
  c.sums += -(c.b_bytes + c.a_bytes + c.sums) & 63;
  if (c.pieces) /* see >>cpu-amx */
    c.more_bytes = rows * columns * 4 + rows * 64 + columns * 4;
  size_t own = (size_t)(c.b_bytes + c.a_bytes + c.sums + c.more_bytes);
  if (!c.stored) own += gt__cpu_eval_bytes(&x->post);
  const int64_t items = x->batch * c.grid_m * c.grid_n;
  return gt__cpu_split(gt__cpu_block_task, &c, items, threads, own);
}

/* ---- >>cpu-amx ---------------------------------------------------------------------------------
   Products of floats on Xeons with AMX, where the flags name it or all instruction sets are asked
   for. A tile register has 16 rows of 64 bytes. One instruction adds to a tile of C, 16 x 16
   float32, the product of 16 x 32 bfloat16 by 32 x 16 in pairs of K: 16 times what AVX-512 does in
   its time. A float32 is the sum of three bfloat16, of whose nine products six count, as the others
   are below 2^-24, so it takes 2.7 times fewer cycles than multiply-adds. The small ones are summed
   first, over 128 of K by themselves, which leaves a third of the error of OpenBLAS. GT_HIGH takes
   three products of two pieces; GT_MEDIUM and bfloat16 one, over 256. A's panels stay in L2, one of
   B's in L1.

     registers    6: B, left half   7: B, right half     Squares of 32 x 32: C's sums are four
     4: A, top            0              1               tiles, which stay in registers over a chunk
     5: A, bottom         2              3               of K. Instructions are written as such: the
                                                         compilers' header of all takes .45 s. */
#ifdef GT__AMX
enum { GT__SIDE = 32 };          /* of a square */
enum { GT__PIECE_BYTES = 2048 }; /* of a square of bfloat16 */
enum { GT__SUMS = 1024 };        /* of a square */
typedef uint32_t gt__bits __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t gt__masks __attribute__((vector_size(64), may_alias));
typedef float gt__floats __attribute__((vector_size(64), aligned(4), may_alias));
typedef struct {
  char bytes[32];
} gt__32_bytes;
#define GT__TILE_LOAD(tile, from) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile : : "r"(from), "r"((int64_t)64))
#define GT__TILE_STORE(tile, to) \
  __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" \
                   : \
                   : "r"(to), "r"((int64_t)128) \
                   : "memor" \
                     "y")
#define GT__TILE_ZERO(tile) __asm__ volatile("tilezero %%tmm" #tile : :)
#define GT__TILE_ADD(c, a, b) __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
GT__AMX static inline gt__bits gt__amx_larger(gt__bits x, gt__bits y) { /* of 32 shorts each */
  __asm__("vpmaxuw %1, %0, %0" : "+v"(x) : "v"(y));
  return x;
}
GT__AMX static inline gt__bits gt__amx_words(const char *x) { /* 16 shorts */
  gt__bits words;
  __asm__("vpmovzxwd %1, %0" : "=v"(words) : "m"(*(const gt__32_bytes *)(const void *)x));
  return words;
}
/* Where the values of a square of 32 lines and 32 of K lie, and what was seen of them. A square is
   read in place (`here`) if it is whole and of float32, or of bfloat16 that is one piece; others
   are brought to `square` first. It is `transposed` if its rows are not A's lines or B's k's: then
   pairs are transposed. `deep`: rows of memory are along K. */
typedef struct {
  const gt__operand *x;
  int of_b, here, transposed, deep;
  int64_t size, row; /* bytes of a value, of a row */
  const char *from;
  gt__bits square[2 * GT__SIDE] __attribute__((aligned(64)));
  gt__masks nan, tiny; /* has it any? tiny: subnormal */
} gt__amx_source;
/* Finds where a square is read: in place or, by gt__cpu_pack, in s->square. */
GT__AMX static void gt__amx_find(const gt__cpu_product *c, gt__amx_source *s, int64_t at,
                                 int64_t lines, int64_t n) {
  const gt__operand *x = s->x;
  const int of_b = s->of_b;
  const int one = x->dtype == GT_BFLOAT16 && c->pieces == 1;
  const int64_t line = of_b ? c->b_col : c->a_col;
  const int64_t along = of_b ? c->b_row : c->a_row;
  const int whole = n == GT__SIDE && lines == GT__SIDE;
  const int side_by_side = line == 1 || along == 1;
  s->here = whole && side_by_side && (x->dtype == GT_FLOAT32 || one);
  s->transposed = s->here && line != 1;
  s->deep = s->transposed == of_b;
  if (s->here) {
    s->size = gt__cpu_bytes(x);
    s->row = s->size * (s->transposed ? line : along);
    s->from = x->data + s->size * at;
    return;
  }
  char *square = (char *)s->square;
  const int64_t of = of_b ? lines : n;
  s->size = 4;
  s->row = 128;
  s->from = square;
  if (!whole) memset(square, 0, sizeof s->square);
  gt__cpu_pack(c, square, GT__SIDE, x, at, line, along, of, lines + n - of);
}
/* Splits 16 pairs of float32 into pieces: each the rounded upper half, then what is left. */
GT__AMX static inline void gt__amx_split(gt__bits *out, gt__bits x, gt__bits y, int pieces) {
  GT__UNROLL for (int p = 0; p < 3; p++) {
    if (p == pieces) break;
    const gt__bits u = (x + 0x8000) & 0xffff0000;
    const gt__bits v = (y + 0x8000) & 0xffff0000;
    out[p * GT__SIDE] = u >> 16 | v;
    x = (gt__bits)((gt__floats)x - (gt__floats)u);
    y = (gt__bits)((gt__floats)y - (gt__floats)v);
  }
}
/* Rounding may make a NaN 0, and a subnormal number: these are noted. */
GT__AMX static inline void gt__amx_note(gt__amx_source *s, gt__bits x) {
  const gt__bits twice = x + x; /* without the sign */
  s->nan |= (gt__masks)(twice > 0xff000000u);
  s->tiny |= (gt__masks)(twice - 1 < 0x00ffffffu);
}
/* One half of a square, 16 rows of pairs x and y of k and k + 16, as pieces. */
GT__AMX static void gt__amx_half(const gt__cpu_product *c, gt__amx_source *s, gt__bits *out) {
  const int64_t beside = s->deep ? 16 * s->size : 16 * s->row;
  const char *from = s->from;
  for (int i = 0; i < 16; i++, from += s->row) {
    __builtin_prefetch(from + 2 * beside, 0, 2);
    __builtin_prefetch(from + 3 * beside, 0, 2);
    if (s->size == 2) {
      out[i] = gt__amx_words(from) | gt__amx_words(from + beside) << 16;
      continue;
    }
    const gt__bits x = *(const gt__bits *)(const void *)from;
    const gt__bits y = *(const gt__bits *)(const void *)(from + beside);
    gt__amx_note(s, x);
    gt__amx_note(s, y);
    gt__amx_split(out + i, x, y, c->pieces);
  }
  s->from = s->deep ? from : from + 16 * (s->size - s->row);
  for (int p = 0; p < c->pieces && s->transposed; p++)
    c->loops->pack(out + p * GT__SIDE, 16, 16, out + p * GT__SIDE, 16, 1, 16, 16);
}
GT__AMX static int gt__amx_any(const gt__masks *x) {
  int any = 0;
  for (int i = 0; i < 16; i++) any |= (*x)[i];
  return any;
}
/* Splits a panel of at most 32 lines and `depth` of K in steps of 32 x 32, as [step][piece][half]
   [16][16 pairs]. top takes in the largest |x| of A's [line][16], or B's [2][16 lines]. */
GT__AMX static void gt__amx_pack(const gt__cpu_product *c, void *to, int of_b, int64_t first,
                                 int64_t lines, int64_t depth, gt__bits *top) {
  const int64_t step = of_b ? c->b_row : c->a_col;
  gt__bits *out = (gt__bits *)to;
  gt__amx_source s;
  s.x = of_b ? &c->x->b : &c->x->a;
  s.of_b = of_b;
  memset(&s.nan, 0, sizeof s.nan);
  memset(&s.tiny, 0, sizeof s.tiny);
  for (int64_t k = 0; k < depth; k += GT__SIDE, out += (c->pieces - 1) * GT__SIDE) {
    gt__amx_find(c, &s, first + k * step, lines, gt__least(GT__SIDE, depth - k));
    for (int half = 0; half < 2; half++, out += 16) {
      gt__amx_half(c, &s, out);
      gt__bits *all = top + half * (of_b ? 1 : 16);
      gt__bits most = *all;
      for (int i = 0; i < 16; i++, all += !of_b) {
        most = gt__amx_larger(of_b ? most : *all, out[i] & 0x7fff7fff);
        *all = most;
      }
    }
  }
  if (gt__amx_any(&s.tiny)) /* so no line looks like zeros */
    for (int i = 0; i < (of_b ? 2 : GT__SIDE); i++) top[i] |= 1;
  if (gt__amx_any(&s.nan)) *top |= 0xffff;
}
/* Adds to the tiles products p x q of pieces, low <= p + q <= high, over `steps` steps. */
GT__AMX static inline __attribute__((always_inline)) void gt__amx_multiply(
    const int pieces, const int low, const int high, const char *a, const char *b, int64_t steps) {
  for (; steps > 0; steps--, a += pieces * GT__PIECE_BYTES, b += pieces * GT__PIECE_BYTES) {
    int there = -1; /* A's piece in the tiles */
    GT__UNROLL for (int q = 0; q < pieces; q++) {
      const char *piece_b = b + q * GT__PIECE_BYTES;
      if (q > high) break;
      GT__TILE_LOAD(6, piece_b);
      GT__TILE_LOAD(7, piece_b + GT__PIECE_BYTES / 2);
      GT__UNROLL for (int p = pieces - 1; p >= 0; p--) {
        const char *piece_a = a + p * GT__PIECE_BYTES;
        if (p + q < low || p + q > high) continue;
        if (p != there) {
          GT__TILE_LOAD(4, piece_a);
          GT__TILE_LOAD(5, piece_a + GT__PIECE_BYTES / 2);
        }
        there = p;
        GT__TILE_ADD(0, 4, 6);
        GT__TILE_ADD(1, 4, 7);
        GT__TILE_ADD(2, 5, 6);
        GT__TILE_ADD(3, 5, 7);
      }
    }
  }
}
/* A square's sums over a chunk of K, small products first, in the tiles. */
GT__AMX static void gt__amx_square(int pieces, const char *a, const char *b, int64_t steps) {
  GT__TILE_ZERO(0);
  GT__TILE_ZERO(1);
  GT__TILE_ZERO(2);
  GT__TILE_ZERO(3);
  if (pieces == 3) gt__amx_multiply(3, 1, 2, a, b, steps);
  if (pieces == 3) gt__amx_multiply(3, 0, 0, a, b, steps);
  else if (pieces == 2) gt__amx_multiply(2, 0, 1, a, b, steps);
  else gt__amx_multiply(1, 0, 0, a, b, steps);
}
GT__AMX static void gt__amx_store(float *to) {
  GT__TILE_STORE(0, to);
  GT__TILE_STORE(1, to + 16);
  GT__TILE_STORE(2, to + 16 * GT__SIDE);
  GT__TILE_STORE(3, to + 16 * GT__SIDE + 16);
  __atomic_signal_fence(__ATOMIC_SEQ_CST); /* compilers do not see what tiles read and write */
}
GT__AMX static void gt__amx_add(float *to, const float *sums) {
  for (int i = 0; to && i < GT__SUMS; i += 16)
    *(gt__floats *)(void *)(to + i) += *(const gt__floats *)(const void *)(sums + i);
}
/* A block's squares: sums of each, the largest values of A's lines and B's, packed A and B. Sums of
   a chunk of K behind the first go to `fresh`, and are added while the next square's tiles work. */
typedef struct {
  const gt__cpu_product *c;
  const gt__cpu_area *z;
  int64_t high, wide, depth; /* squares; of K, at most */
  float *sums, *last;        /* last: those to which fresh[now] are still to be added */
  gt__bits *top;
  char *a, *b;
  int now;
  float fresh[2][GT__SUMS] __attribute__((aligned(64)));
} gt__amx_state;
/* Squares of column j, over `steps` of K behind k. */
GT__AMX static void gt__amx_column(gt__amx_state *s, int64_t k, int64_t j, int64_t steps) {
  const int pieces = s->c->pieces;
  const int64_t panel = pieces * GT__PIECE_BYTES * (s->depth / GT__SIDE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  for (int64_t i = 0; i < s->high; i++, s->now = !s->now) {
    float *sum = s->sums + (j * s->high + i) * GT__SUMS;
    if (s->c->x->k <= s->depth)
      for (int q = 0; q < GT__SUMS; q += 16) __builtin_prefetch(sum + q, 1);
    gt__amx_square(pieces, s->a + i * panel, s->b, steps);
    gt__amx_add(s->last, s->fresh[s->now]); /* sums before these, as tiles are still at work */
    s->last = k ? sum : NULL;
    gt__amx_store(k ? s->fresh[!s->now] : sum);
  }
}
/* All squares of a block: for each chunk of K A's panels are split, then B's one after the other,
   past which all of A's go. */
GT__AMX static void gt__amx_multiply_all(gt__amx_state *s) {
  const gt__cpu_product *c = s->c;
  const gt__cpu_area *z = s->z;
  const int64_t panel = c->pieces * GT__PIECE_BYTES * (s->depth / GT__SIDE);
  for (int64_t k = 0; k < c->x->k; k += s->depth) {
    const int64_t depth = gt__least(s->depth, c->x->k - k);
    for (int64_t i = 0; i < s->high; i++) {
      const int64_t first = z->a + (z->m + i * GT__SIDE) * c->a_row + k * c->a_col;
      const int64_t lines = gt__least(GT__SIDE, z->rows - i * GT__SIDE);
      gt__amx_pack(c, s->a + i * panel, 0, first, lines, depth, s->top + i * GT__SIDE);
    }
    for (int64_t j = 0; j < s->wide; j++) {
      const int64_t first = z->b + (z->n + j * GT__SIDE) * c->b_col + k * c->b_row;
      const int64_t lines = gt__least(GT__SIDE, z->columns - j * GT__SIDE);
      gt__amx_pack(c, s->b, 1, first, lines, depth, s->top + s->high * GT__SIDE + 2 * j);
      gt__amx_column(s, k, j, gt__div_up(depth, GT__SIDE));
    }
  }
  gt__amx_add(s->last, s->fresh[s->now]);
}
/* Stores squares as rows of C; -0 becomes +0. */
GT__AMX static void gt__amx_to_c(const gt__amx_state *s) {
  const gt__cpu_area *z = s->z;
  float *to = (float *)(void *)z->to;
  for (int64_t i = 0; i < z->rows; i++)
    for (int64_t j = 0; j < z->columns; j += 16) {
      const int64_t square = j / GT__SIDE * s->high * GT__SIDE + i;
      const float *sum = s->sums + square * GT__SIDE + j % GT__SIDE;
      const gt__floats values = *(const gt__floats *)(const void *)sum + 0.0f;
      const size_t n = (size_t)gt__least(16, z->columns - j);
      if (n == 16) memcpy(to + i * z->row + j, &values, sizeof values);
      else memcpy(to + i * z->row + j, &values, n * sizeof(float));
    }
}
/* Has one of 32 lines, rows of A or columns of B, values that pieces cannot carry? If its largest
   |x| is NaN, infinite or above 2^62, products may overflow; below 2^-50 tiles have no low ones. */
static int gt__amx_cannot(const gt__u16 *lane, int lanes) {
  int bad = 0;
  for (int line = 0; line < GT__SIDE; line++) {
    int most = 0;
    for (int i = 0; i < lanes; i++, lane++)
      if (*lane > most) most = *lane;
    bad |= most > 189 << 7 || (most < 77 << 7 && most > 0);
  }
  return bad;
}
/* How many of the n squares from `at` on, one behind the other, have such lines? */
static int64_t gt__amx_bad_run(const gt__bits *top, int64_t at, int64_t n, int lanes) {
  const gt__u16 *lane = (const gt__u16 *)(const void *)top;
  int64_t run = 0;
  while (at + run < n && gt__amx_cannot(lane + (at + run) * GT__SIDE * lanes, lanes)) run++;
  return run;
}
/* Rows and columns of squares with such lines are computed again, by panels. */
static void gt__amx_again(const gt__amx_state *s, char *own) {
  const int64_t w = s->c->width;
  for (int64_t i = 0, run; i < s->high; i += run + 1) {
    gt__cpu_area z = *s->z;
    run = gt__amx_bad_run(s->top, i, s->high, GT__SIDE);
    z.m += i * GT__SIDE;
    z.to += i * GT__SIDE * z.row * w;
    z.rows = gt__least(run * GT__SIDE, z.rows - i * GT__SIDE);
    if (run) gt__cpu_by_panels(s->c, &z, own);
    if (run == s->high) return;
  }
  for (int64_t j = 0, run; j < s->wide; j += run + 1) {
    gt__cpu_area z = *s->z;
    run = gt__amx_bad_run(s->top + s->high * GT__SIDE, j, s->wide, 2);
    z.n += j * GT__SIDE;
    z.to += j * GT__SIDE * w;
    z.columns = gt__least(run * GT__SIDE, z.columns - j * GT__SIDE);
    if (run) gt__cpu_by_panels(s->c, &z, own);
  }
}
/* A block of C. `shape` says that each of the eight tiles has 16 rows of 64 bytes. */
GT__AMX static void gt__amx_by_squares(const gt__cpu_product *c, const gt__cpu_area *z, char *own) {
  struct {
    uint8_t palette, start, none[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } shape;
  memset(&shape, 0, sizeof shape);
  shape.palette = 1;
  for (int tile = 0; tile < 8; tile++) {
    shape.bytes[tile] = 64;
    shape.rows[tile] = 16;
  }
  gt__amx_state s;
  memset(&s, 0, sizeof s);
  s.c = c;
  s.z = z;
  s.high = gt__div_up(z->rows, GT__SIDE);
  s.wide = gt__div_up(z->columns, GT__SIDE);
  s.depth = c->pieces > 1 ? 128 : 256;
  s.b = own;
  s.a = own + c->b_bytes;
  s.sums = (float *)(void *)(own + c->b_bytes + c->a_bytes + c->sums);
  s.top = (gt__bits *)(void *)(s.sums + s.high * s.wide * GT__SUMS);
  memset(s.top, 0, (size_t)(GT__SIDE * s.high + 2 * s.wide) * 64);
  __asm__ volatile("ldtilecfg %0" : : "m"(shape));
  gt__amx_multiply_all(&s);
  __asm__ volatile("tilerelease" : :);
  gt__amx_to_c(&s);
  gt__amx_again(&s, own);
}
/* How many pieces? None if splitting takes longer than tiles save: on Xeons, in multiply-adds, a
   tile's product costs .38 for each of its own, and splitting or summing a value 27; 14 or 3 where
   other ways would have to convert the value as well. 256^3 of float32 takes one thread .7 of the
   time so, but sixteen, which all split, 1.3. */
static int gt__amx_pieces(const gt__matmul_args *x) {
  const gt_dtype a = (gt_dtype)x->a.dtype;
  const gt_dtype b = (gt_dtype)x->b.dtype;
  const int f32 = a == GT_FLOAT32 || b == GT_FLOAT32;
  const int half = a == GT_BFLOAT16 && a == b;
  const double m = (double)gt__rounded(x->m, GT__SIDE);
  const double n = (double)gt__rounded(x->n, GT__SIDE);
  const double k = (double)gt__rounded(x->k, GT__SIDE);
  const double work = (double)x->m * (double)x->n * (double)x->k;
  double each = half ? 3 : 14;
  if (f32) each = 27;
  if (x->compute != GT__F32 || !gt_is_floating(a) || !gt_is_floating(b)) return 0;
  const double values = m * n + m * k + n * k;
  if (f32 && work <= 2e7) return 0;
  if (.38 * m * n * k + each * values >= work) return 0;
  if (f32) return 3 - x->precision;
  return half ? 1 : 3;
}
static int gt__cpu_plan_amx(gt__op *op) {
  gt__cpu_product *c = gt__cpu_product_of(op);
  if (!c || !gt__cpu_choose()->amx || c->work <= 2048) return 0;
  c->pieces = gt__amx_pieces(c->x);
  if (!c->pieces) return 0;
  c->block = gt__amx_by_squares;
  c->high = GT__SIDE;
  c->broad = c->loops->panel; /* as much */
  c->depth = GT__DEPTH;
  c->most_m = GT__AMX_BLOCK;
  c->most_n = GT__AMX_BLOCK;
  return 1;
}
#undef GT__TILE_LOAD
#undef GT__TILE_STORE
#undef GT__TILE_ZERO
#undef GT__TILE_ADD
#endif

/* ---- >>cpu-ways --------------------------------------------------------------------------------
   The CPU's table of ways: of each kind the fastest first. EPYC: two cores of a Zen 4 with AVX-512,
   compiled with -march=native. */
static const gt__way gt__cpu_map_ways[] = {
    {"fill", gt__cpu_plan_fill, gt__cpu_run_fill,
     "510000 uint8: 2.7 us, vectors 79, float32 19 for 25; EPYC, one thread, 2026-11"},
    {"tiles", gt__cpu_plan_map_tiles, gt__cpu_run_tiles,
     "a + b, b transposed, 2048^2 float32: 3.7 ms, vectors 82; EPYC, one thread, 2026-11"},
    {"lines", gt__cpu_plan_lines, gt__cpu_run_lines,
     "510 x 1000 float32 plus a row: 44 us, vectors 59; slices 55 for 120; EPYC, one thread, "
     "2026-11"},
    {"vectors", gt__cpu_takes, gt__cpu_run_map,
     "exp of 2^20 float32: .15 ms, plain 28; EPYC, one thread, 2026-11"},
    GT__CPU_PLAIN(gt__cpu_plain_map),
    GT__CPU_NO_MORE};
static const gt__way gt__cpu_scan_ways[] = {
    {"vectors", gt__cpu_takes, gt__cpu_run_scan,
     "4096^2 float32 along the last dim: 8.7 ms, plain 190; EPYC, one thread, 2026-11"},
    GT__CPU_PLAIN(gt__cpu_plain_scan),
    GT__CPU_NO_MORE};
static const gt__way *gt__cpu_ways(int kind) {
  static const gt__way copy[] = {
      {"tiles", gt__cpu_plan_copy_tiles, gt__cpu_run_tiles,
       "2048^2 float32 transposed: 1.7 ms, vectors 73; EPYC, one thread, 2026-11"},
      {"vectors", gt__cpu_takes, gt__cpu_run_copy,
       "2048 x 1000 float32 of rows of 2048: .17 ms, plain 38; EPYC, one thread, 2026-11"},
      GT__CPU_PLAIN(gt__cpu_plain_copy),
      GT__CPU_NO_MORE};
  static const gt__way reduce[] = {
      {"rows", gt__cpu_plan_rows, gt__cpu_run_rows,
       "softmax of 1024 rows of 1024 float32: .27 ms, plain 41; EPYC, one thread, 2026-11"},
      {"vectors", gt__cpu_plan_folds, gt__cpu_run_folds,
       "sum of 2^20 float32: 45 us, plain 18000; EPYC, one thread, 2026-11"},
      GT__CPU_PLAIN(gt__cpu_plain_reduce),
      GT__CPU_NO_MORE};
  static const gt__way matmul[] = {
#ifdef GT__AMX
      {"amx", gt__cpu_plan_amx, gt__cpu_run_product,
       "float32 1.4, bfloat16 3 times as fast as panels; Xeon, one thread, 2026-11"},
#endif
      {"dots", gt__cpu_plan_dots, gt__cpu_run_product,
       "2 x 1024 x 1024 float32, B transposed: 40 us, panels 129; EPYC, one thread, 2026-11"},
      {"small", gt__cpu_plan_small, gt__cpu_run_small,
       "16^3 float32: .19 us, panels .27; Zen 5, one thread, 2026-11"},
      {"panels", gt__cpu_plan_panels, gt__cpu_run_product,
       "1024^3 float32: 17 ms, plain 94; EPYC, one thread, 2026-11"},
      GT__CPU_PLAIN(gt__cpu_plain_matmul),
      GT__CPU_NO_MORE};
  static const gt__way *const ways[GT__KINDS] = {copy, gt__cpu_map_ways, reduce, matmul,
                                                 gt__cpu_scan_ways};
  return ways[kind] ? ways[kind] : gt__cpu_plain_ways[kind];
}
static const char *gt__cpu_name(void) {
  return gt__cpu_choose() ? gt__cpu_choose()->name : "plain";
}
/* A program for one set of vector instructions alone has plain ways that may use them, too. */
static int gt__cpu_lacks(void) {
  return GT__WITH_BASELINE + GT__WITH_AVX2 + GT__WITH_AVX512 != 3 &&
         !gt__cpu_has(gt__cpu_isas->needs);
}
GT__FLAGS_END
#else
static int gt__cpu_lacks(void) { return 0; }
static const gt__way *gt__cpu_ways(int kind) { return gt__cpu_plain_ways[kind]; }
static const char *gt__cpu_name(void) { return "plain"; }
#endif /* GPUTENSOR_PLAIN */
#pragma GCC diagnostic pop
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#ifdef GT__CUDA
/* ---- >>cuda-backend ----------------------------------------------------------------------------
   The host side of CUDA, in plain C; the kernels are in gputensor_kernels.cu. It uses the
   runtime API alone, never the legacy stream, and waits only where a function's name says so.
   Each function leaves the thread on the device where it was, and clears the last-error slot of
   its own errors. */
#ifndef CUDART_VERSION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* the header has anonymous structures and long enums */
#include <cuda_runtime_api.h>
#pragma GCC diagnostic pop
#endif
enum { GT__CUDA_FORKED = -1001, GT__CUDA_OTHER_VERSION };
enum { GT__CUDA_NO_IMAGE = 209 };
static pthread_once_t gt__gpu_once = PTHREAD_ONCE_INIT;
static struct {
  int count, forked; /* forked: a child of a process that has used CUDA */
  int used;          /* 1 + a device on which we have a context, or 0 */
  char reason[256];  /* why count is 0 */
  int (*get)(void **), (*push)(void *);
  int (*pop)(void **), (*retain)(void **, int);
  void *context[GT__GPUS]; /* the primary one, from the device's first use on */
  int checked[GT__GPUS];   /* 1 after its first use was found right */
  cudaMemPool_t pool[GT__GPUS];
  uint32_t reached[GT__GPUS]; /* a bit for each GPU that its pool is open to */
  gt__build build;            /* from the first use of any on; asking takes a context */
} gt__gpu;
static int gt__cuda_done(cudaError_t error) { /* a failure is ours: it leaves no last error */
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error == cudaErrorNotReady ? (int)GT__NOT_YET : (int)error;
}
/* -- which devices, and the current one --
   cudaSetDevice creates a context where there is none, also when it only sets back what was. So a
   device's context goes on top of the thread's stack of contexts and off again, by the driver. */
static int gt__cuda_driver(const char *name, void *function) {
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  void *p = NULL;
#if CUDART_VERSION >= 12050
  cudaError_t error = cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault, &found);
#else
  cudaError_t error = cudaGetDriverEntryPoint(name, &p, cudaEnableDefault, &found);
#endif
  if (gt__cuda_done(error) || found != cudaDriverEntryPointSuccess || !p) return 0;
  memcpy(function, &p, sizeof p); /* C has no cast from a data pointer to a function */
  return 1;
}
/* Is there a GPU, and a driver that has what is needed? If not, why not. */
static void gt__cuda_find(void) {
  int n = 0, version = 0; /* a failing cudaGetDeviceCount may leave n as it is */
  int code = gt__cuda_done(cudaGetDeviceCount(&n));
  const char *reason = "CUDA does not start", *text = "0 devices";
  gt__cuda_done(cudaRuntimeGetVersion(&version));
  if (code == 0 || code == 100) reason = "no NVIDIA GPU is visible";
  if (code == 35) reason = "no NVIDIA driver, or one that is too old";
  if (code) text = cudaGetErrorString((cudaError_t)code);
  if (code || n <= 0)
    snprintf(gt__gpu.reason, sizeof gt__gpu.reason, "%s (CUDA %d.%d: %s)", reason, version / 1000,
             version % 1000 / 10, text);
  else if (gt__cuda_driver("cuCtxGetCurrent", &gt__gpu.get) &&
           gt__cuda_driver("cuCtxPushCurrent", &gt__gpu.push) &&
           gt__cuda_driver("cuCtxPopCurrent", &gt__gpu.pop) &&
           gt__cuda_driver("cuDevicePrimaryCtxRetain", &gt__gpu.retain))
    gt__gpu.count = n < GT__GPUS ? n : GT__GPUS;
  else snprintf(gt__gpu.reason, sizeof gt__gpu.reason, "the NVIDIA driver is too old");
}
GT_API int gt_cuda_device_count(void) {
  pthread_once(&gt__gpu_once, gt__cuda_find);
  return gt__gpu.forked ? 0 : gt__gpu.count;
}
#define GT__FORKED "this process was forked after CUDA was used; use the CPU, or fork before"
GT_API const char *gt_cuda_unavailable_reason(void) {
  if (gt_cuda_device_count() > 0) return "";
  return gt__gpu.forked ? GT__FORKED : gt__gpu.reason;
}
static void gt__cuda_after_fork(void) { gt__gpu.forked = gt__gpu.count > 0; }
static int gt__cuda_first_use(int index) { /* do header, kernels and GPU fit together? */
  gt__build ours = {GPUTENSOR_VERSION, GT__LAYOUT, sizeof(gt__op), 0, {0}};
  int code = gt__cuda_build(&gt__gpu.build);
  if (!code && memcmp(&gt__gpu.build, &ours, offsetof(gt__build, n_arch)))
    code = GT__CUDA_OTHER_VERSION;
  if (!code) code = gt__cuda_warmup(); /* loading one later may wait for the device */
  gt__gpu.checked[index] = !code;
  return code;
}
#define GT__USED (gt__gpu.used - 1)
/* Makes the device's context the thread's. *away: it lies on another one, and gt__cuda_leave takes
   it off again. */
static int gt__cuda_enter(int *away, int index) {
  void *current = NULL;
  int code = 0;
  *away = 0;
  if (gt__gpu.forked) return GT__CUDA_FORKED;
  if (!gt__gpu.context[index])
    code = index < gt_cuda_device_count() ? gt__gpu.retain(&gt__gpu.context[index], index)
                                          : (int)cudaErrorInvalidDevice;
  if (!code) code = gt__gpu.get(&current);
  if (!code && current != gt__gpu.context[index]) {
    code = gt__gpu.push(gt__gpu.context[index]);
    *away = !code;
  }
  if (code) return code;
  if (!gt__gpu.used) gt__gpu.used = 1 + index;
  return gt__gpu.checked[index] ? 0 : gt__cuda_first_use(index);
}
static void gt__cuda_leave(int *away) {
  void *ours;
  if (*away) gt__gpu.pop(&ours);
}
#define GT__ENTER(index) \
  GT__STRICT; \
  int away __attribute__((cleanup(gt__cuda_leave))), code = gt__cuda_enter(&away, index)
/* A body of one runtime call on a device. What gives back is called even if it cannot be
   entered. */
#define GT__ON_IF(index, condition, call) \
  GT__ENTER(index); \
  if (condition) code = gt__cuda_done(call); \
  return code;
#define GT__ON(index, call) GT__ON_IF(index, !code, call)
#define GT__GIVE_BACK(index, call) GT__ON_IF(index, code != GT__CUDA_FORKED, call)
/* What CUDA says of a GPU, and which of the instructions built in it can run. */
static int gt__cuda_properties(int index, gt_properties *out) {
  struct cudaDeviceProp p;
  const char *own = "";
  int code = gt__cuda_done(cudaGetDeviceProperties(&p, index));
  if (!code) code = gt__cuda_done(cudaDeviceGetPCIBusId(out->pci_bus_id, 32, index));
  if (code) return code;
  for (int i = 0; i < gt__gpu.build.n_arch; i++)
    if (gt__gpu.build.arch[i] >= 900 && p.major == 9 && p.minor == 0) own = "a";
  snprintf(out->name, sizeof out->name, "%.127s", p.name);
  snprintf(out->instructions, sizeof out->instructions, "sm_%d%d%s", p.major, p.minor, own);
  out->major = p.major;
  out->minor = p.minor;
  out->multiprocessors = p.multiProcessorCount;
  out->total_memory = p.totalGlobalMem;
  out->l2_bytes = (size_t)p.l2CacheSize;
  return 0;
}
/* -- memory: a private stream-ordered pool per device, which keeps what it once had; the GPUs in
   use reach each other's, so that copies go straight: 394 GB/s between two H200, by way of
   the host 39 -- */
/* Opens a GPU's pool to another one; if that fails, copies go by way of the host. */
static void gt__cuda_open_pool(int index, int to) {
  struct cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, to},
                                     cudaMemAccessFlagsProtReadWrite};
  if (index == to || !gt__gpu.pool[index] || !gt__gpu.pool[to]) return;
  int code = gt__cuda_done(cudaMemPoolSetAccess(gt__gpu.pool[index], &access, 1));
  if (!code) gt__gpu.reached[index] |= 1u << to;
}
static int gt__cuda_reaches(int index, int to) { return gt__gpu.reached[to] >> index & 1; }
/* Makes the device's pool, on first use; it and those of the other GPUs are opened to each other.
   */
static int gt__cuda_pool(int index) {
  struct cudaMemPoolProps props;
  unsigned long long keep = UINT64_MAX;
  if (gt__gpu.pool[index]) return 0;
  memset(&props, 0, sizeof props);
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = index;
  cudaMemPool_t *pool = &gt__gpu.pool[index];
  int code = gt__cuda_done(cudaMemPoolCreate(pool, &props));
  if (!code) /* should this fail, memory goes back to the system at each wait */
    gt__cuda_done(cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keep));
  for (int i = 0; i < gt__gpu.count; i++)
    gt__cuda_open_pool(index, i), gt__cuda_open_pool(i, index);
  return code;
}
static cudaStream_t gt__cuda_stream(void *queue) { /* NULL: the thread's own, which is not legacy */
  return queue ? (cudaStream_t)queue : cudaStreamPerThread;
}
static int gt__cuda_alloc(int index, void *queue, size_t bytes, int pinned, void **out) {
  *out = NULL;
  if (bytes == 0) return 0;
  GT__ENTER(pinned && gt__gpu.used ? GT__USED : index); /* pinned: on any device that is in use */
  if (!code && !pinned) code = gt__cuda_pool(index);
  if (!code)
    code = gt__cuda_done(
        pinned ? cudaHostAlloc(out, bytes, cudaHostAllocPortable)
               : cudaMallocFromPoolAsync(out, bytes, gt__gpu.pool[index], gt__cuda_stream(queue)));
  return code;
}
static int gt__cuda_release(int index, void *queue, void *p, int pinned) {
  if (!p) return 0;
  if (pinned) { GT__GIVE_BACK(GT__USED, cudaFreeHost(p)) }
  if (!gt__gpu.pool[index]) { GT__GIVE_BACK(index, cudaFree(p)) }
  GT__GIVE_BACK(index, cudaFreeAsync(p, gt__cuda_stream(queue)))
}
static int gt__cuda_trim(int index) {
  if (!gt__gpu.pool[index]) return 0;
  GT__ON(index, cudaMemPoolTrimTo(gt__gpu.pool[index], 0))
}
static int gt__cuda_memory(int index, size_t *reserved, size_t *free_bytes, size_t *total) {
  uint64_t held = 0;
  *reserved = 0;
  *free_bytes = 0;
  *total = 0;
  if (!gt__gpu.context[index]) return 0; /* asking would create one */
  GT__ENTER(index);
  if (!code && gt__gpu.pool[index])
    code = gt__cuda_done(
        cudaMemPoolGetAttribute(gt__gpu.pool[index], cudaMemPoolAttrReservedMemCurrent, &held));
  if (!code) code = gt__cuda_done(cudaMemGetInfo(free_bytes, total));
  *reserved = (size_t)held;
  return code;
}
/* Whose memory is at p? Asked for a tensor of GPU `index`, or of the CPU (-1): all is the host's
   own before CUDA is used, and what cannot be told counts as pinned, so that copies are waited
   for. */
static int gt__cuda_owner(const void *p, int index, gt__owner *out) {
  struct cudaPointerAttributes a;
  memset(out, 0, sizeof *out); /* the host's own */
  if (!p || (index < 0 && !gt__gpu.used)) return 0;
  GT__ENTER(index < 0 ? GT__USED : index);
  if (!code) code = gt__cuda_done(cudaPointerGetAttributes(&a, p));
  if (code) {
    out->kind = GT__PINNED;
    return index < 0 ? 0 : code;
  }
  out->index = a.device;
  if (a.type == cudaMemoryTypeHost) out->kind = GT__PINNED;
  if (a.type == cudaMemoryTypeDevice) out->kind = GT__OF_DEVICE;
  if (a.type == cudaMemoryTypeManaged) out->kind = GT__OF_ALL;
  return 0;
}
/* Bytes are copied by the copy engines, and need no plan. */
static int gt__cuda_plan(gt__op *op) {
  op->scratch = 0;
  op->plan_bytes = 0;
  if (op->kind == GT__COPY && op->u.copy.kind == GT__BYTES) return 0;
  GT__ENTER(op->device.index);
  return code ? code : gt__choose_way(op, gt__cuda_ways(op->kind));
}
static int gt__cuda_run(int index, void *queue, const gt__op *op) {
  cudaStream_t stream = gt__cuda_stream(queue);
  const gt__copy_args *c = &op->u.copy;
  size_t bytes = (size_t)c->bytes;
  GT__ENTER(index);
  if (code) return code;
  if (op->kind != GT__COPY || c->kind == GT__ELEMENTS) return op->way->run(op, stream);
  return gt__cuda_done(
      c->dst_index < 0 || c->src_index < 0
          ? cudaMemcpyAsync(c->dst.data, c->src.data, bytes, cudaMemcpyDefault, stream)
          : cudaMemcpyPeerAsync(c->dst.data, c->dst_index, c->src.data, c->src_index, bytes,
                                stream));
}
static int gt__cuda_queue_create(int index, int priority, void **out) { /* CUDA clips priorities */
  GT__ON(index, cudaStreamCreateWithPriority((cudaStream_t *)out, cudaStreamNonBlocking, priority))
}
static int gt__cuda_queue_destroy(int index, void *queue) {
  GT__GIVE_BACK(index, cudaStreamDestroy((cudaStream_t)queue))
}
static int gt__cuda_queue_ask(int index, void *queue, int wait) {
  GT__ON(index, (wait ? cudaStreamSynchronize : cudaStreamQuery)(gt__cuda_stream(queue)))
}
static int gt__cuda_queue_wait_event(int index, void *queue, void *event) {
  GT__ON(index, cudaStreamWaitEvent(gt__cuda_stream(queue), (cudaEvent_t)event, 0))
}
static int gt__cuda_event_destroy(int index, void *event) {
  GT__GIVE_BACK(index, cudaEventDestroy((cudaEvent_t)event))
}
static int gt__cuda_event_record(int index, void **event, void *queue) {
  cudaEvent_t e = (cudaEvent_t)*event;
  GT__ENTER(index);
  if (!code && !e) code = gt__cuda_done(cudaEventCreate(&e));
  if (!code) code = gt__cuda_done(cudaEventRecord(e, gt__cuda_stream(queue)));
  if (!*event) *event = e; /* only then: another thread may be asking for the event */
  return code;
}
static int gt__cuda_event_ask(int index, void *event, int wait) {
  GT__ON(index, (wait ? cudaEventSynchronize : cudaEventQuery)((cudaEvent_t)event))
}
static int gt__cuda_event_elapsed(int index, void *start, void *end, float *ms) {
  GT__ON(index, cudaEventElapsedTime(ms, (cudaEvent_t)start, (cudaEvent_t)end))
}
/* -- graphs. Capture is relaxed: what else is called meanwhile is not its concern. -- */
static int gt__cuda_capture(int index, void *queue, void **out) {
  cudaStream_t stream = (cudaStream_t)queue;
  cudaGraph_t graph = NULL;
  GT__ENTER(index);
  if (!out)
    return code ? code
                : gt__cuda_done(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  int ended = gt__cuda_done(cudaStreamEndCapture(stream, &graph)); /* it must end, whatever fails */
  if (!code) code = ended;
  if (!code) code = gt__cuda_done(cudaGraphInstantiateWithFlags((cudaGraphExec_t *)out, graph, 0));
  if (graph) gt__cuda_done(cudaGraphDestroy(graph));
  return code;
}
static int gt__cuda_end_graph(int index, void *graph) {
  GT__GIVE_BACK(index, cudaGraphExecDestroy((cudaGraphExec_t)graph))
}
static int gt__cuda_captured(int index, void *queue) {
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  GT__ENTER(index);
  if (!code) code = gt__cuda_done(cudaStreamIsCapturing(gt__cuda_stream(queue), &status));
  if (code == cudaErrorStreamCaptureImplicit) return GT__CAPTURED; /* the legacy stream's word */
  if (code || status == cudaStreamCaptureStatusNone) return 0; /* what comes next meets the error */
  return GT__CAPTURED;
}
static int gt__cuda_replay_graph(const gt__op *op, void *queue) {
  const cudaGraphExec_t graph = (cudaGraphExec_t)op->u.graph->native;
  return gt__cuda_done(cudaGraphLaunch(graph, (cudaStream_t)queue));
}
static const gt__way gt__cuda_replay = {"graph", NULL, gt__cuda_replay_graph, ""};
static int gt__cuda_call_function(const gt__op *op, void *queue) {
  return gt__cuda_done(
      cudaLaunchHostFunc((cudaStream_t)queue, op->u.call.function, op->u.call.argument));
}
static const gt__way gt__cuda_call = {"host", NULL, gt__cuda_call_function, ""};
/* Lets go of the pools; memory that is still in tensors goes when they do. */
static void gt__cuda_shutdown(void) {
  for (int i = 0; i < gt__gpu.count; i++) {
    if (!gt__gpu.pool[i]) continue;
    GT__ENTER(i);
    if (code) continue;
    gt__cuda_done(cudaMemPoolDestroy(gt__gpu.pool[i]));
    gt__gpu.pool[i] = NULL;
    gt__gpu.reached[i] = 0;
  }
}
static gt_status gt__cuda_classify(int code) { /* numbers, since older runtimes lack some names */
  static const short lost[] = {214, 220, 226, 700, 702, 709, /* ECC, NVLink, address, time */
                               710, 714, 715, 716, 717, 718, 719, 721 /* kernels */};
  if (code == 0) return GT_OK;
  if (code == 2) return GT_ERROR_MEMORY;
  if (code == GT__CUDA_OTHER_VERSION) return GT_ERROR_VERSION;
  if (code == GT__CUDA_FORKED) return GT_ERROR_STATE;
  for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
    if (code == lost[i]) return GT_ERROR_DEVICE_LOST;
  return GT_ERROR_CUDA;
}
static const char *gt__cuda_architectures(void) { /* " sm_80 sm_90a" */
  static __thread char text[160];
  const gt__build *b = &gt__gpu.build;
  size_t n = 0;
  for (int i = 0; i < b->n_arch; i++) {
    int arch = b->arch[i], own = arch >= 900;
    n += snprintf(text + n, sizeof text - n, own ? " sm_90a" : " sm_%d", arch);
  }
  return text;
}
static const char *gt__cuda_info(void) {
  static __thread char text[256];
  gt_properties p;
  int slow = gt__gpu.used && !gt__cuda_properties(GT__USED, &p) && !strcmp(p.instructions, "sm_90");
  snprintf(text, sizeof text, "CUDA%s%s", gt__cuda_architectures(),
           slow ? " (slow products here: build with nvcc -arch=sm_90a)" : "");
  return text;
}
/* A message for a code, with the way out where the build is at fault. */
static const char *gt__cuda_text(int code) {
  static __thread char text[384];
  const char *version = gt__gpu.build.version;
  if (code == GT__CUDA_FORKED) return GT__FORKED;
  if (code == GT__CUDA_OTHER_VERSION && !strcmp(version, "fast-math"))
    return "gputensor_kernels.cu flushes tiny numbers to zero: build it without --use_fast_math";
  if (code == GT__CUDA_OTHER_VERSION)
    snprintf(text, sizeof text,
             "gputensor_kernels.cu is %.15s, gputensor.h is " GPUTENSOR_VERSION
             "%s: copy both files",
             version, strcmp(version, GPUTENSOR_VERSION) ? "" : ", but what they share differs");
  else if (code == GT__CUDA_NO_IMAGE && gt__gpu.build.n_arch)
    snprintf(text, sizeof text,
             "gputensor_kernels.cu was built for%s, not for this GPU: build it "
             "with nvcc -arch=native, or with -arch=sm_90a for Hopper",
             gt__cuda_architectures());
  else
    snprintf(text, sizeof text, "%.80s: %.160s", cudaGetErrorName((cudaError_t)code),
             cudaGetErrorString((cudaError_t)code));
  return text;
}
static const gt__backend gt__cuda_backend = {gt__cuda_properties,
                                             gt__cuda_memory,
                                             gt__cuda_alloc,
                                             gt__cuda_release,
                                             gt__cuda_trim,
                                             gt__cuda_ways,
                                             gt__cuda_plan,
                                             gt__cuda_run,
                                             gt__cuda_queue_create,
                                             gt__cuda_queue_destroy,
                                             gt__cuda_queue_ask,
                                             gt__cuda_queue_wait_event,
                                             gt__cuda_event_destroy,
                                             gt__cuda_event_record,
                                             gt__cuda_event_ask,
                                             gt__cuda_event_elapsed,
                                             gt__cuda_classify,
                                             gt__cuda_text,
                                             gt__cuda_owner,
                                             gt__cuda_info,
                                             gt__cuda_after_fork,
                                             gt__cuda_shutdown,
                                             &gt__cuda_replay,
                                             &gt__cuda_call,
                                             gt__cuda_capture,
                                             gt__cuda_end_graph,
                                             gt__cuda_captured,
                                             gt__cuda_reaches,
                                             NULL,
                                             NULL,
                                             NULL,
                                             NULL,
                                             NULL,
                                             NULL};
static const gt__backend *gt__cuda_table(void) { return &gt__cuda_backend; }
#else
/* No device leads to it. */
static const gt__backend *gt__cuda_table(void) { return gt__cpu_table(); }
GT_API int gt_cuda_device_count(void) { return 0; }
GT_API const char *gt_cuda_unavailable_reason(void) {
  return "built without CUDA: build with nvcc, or define GPUTENSOR_CUDA in the file that has "
         "GPUTENSOR_IMPLEMENTATION and link gputensor_kernels.cu";
}
#endif /* GT__CUDA */
/* Helpers end here: only macros that a program may use leave this file. */
#undef GT__ADD
#undef GT__AMX
#undef GT__ANGLE
#undef GT__ARITHMETIC
#undef GT__ASSERT
#undef GT__BARE
#undef GT__BRANCHES
#undef GT__CALL
#undef GT__CHECKING
#undef GT__CLIP
#undef GT__CLOCK_MS
#undef GT__CLOSED
#undef GT__COLD
#undef GT__COMPILER
#undef GT__CORES
#undef GT__CPU_NO_ISA
#undef GT__CPU_NO_MORE
#undef GT__CPU_PARALLEL
#undef GT__CPU_PLAIN
#undef GT__CUDA
#undef GT__DATA_BEGINS
#undef GT__DEFINE
#undef GT__DIV
#undef GT__DTYPES
#undef GT__DTYPE_NUMBER
#undef GT__EACH_DTYPE
#undef GT__ENTER
#undef GT__ENUM
#undef GT__FENCE
#undef GT__FLAGS_END
#undef GT__FN
#undef GT__FOLDING
#undef GT__FOLDS
#undef GT__FORKED
#undef GT__FUNCTIONS
#undef GT__FUSE
#undef GT__FUSED
#undef GT__GET_MODE
#undef GT__GIVE_BACK
#undef GT__GRAPH_LANES
#undef GT__HOLD
#undef GT__HOOK_AFTER
#undef GT__HOOK_NOW
#undef GT__HOOK_WAY
#undef GT__HOOK_WORK
#undef GT__HOST
#undef GT__IDLE_MS
#undef GT__INSIDE
#undef GT__IS_USUAL
#undef GT__IVDEP
#undef GT__LIBM
#undef GT__LIGHTLY
#undef GT__LOCAL
#undef GT__LOOPS
#undef GT__MAIN
#undef GT__MEMORY_TYPES
#undef GT__MONOTONIC
#undef GT__MOST
#undef GT__MUL
#undef GT__NO
#undef GT__NPY_BAD
#undef GT__NPY_MALFORMED
#undef GT__NULL
#undef GT__NUMBERS
#undef GT__OF
#undef GT__ON
#undef GT__ONE_MORE
#undef GT__ON_IF
#undef GT__OPENMP
#undef GT__PINNING
#undef GT__PRINTF
#undef GT__RARELY
#undef GT__RARE_BEGINS
#undef GT__REDUCTION
#undef GT__ROW
#undef GT__SAME_NUMBER
#undef GT__SCANNING
#undef GT__SET_MODE
#undef GT__SET_SIGNALS
#undef GT__SHUFFLE
#undef GT__SINGLE
#undef GT__SLASHES
#undef GT__STRICT
#undef GT__SUB
#undef GT__THREAD_TIME
#undef GT__TIGHT
#undef GT__TO_READ
#undef GT__TO_WRITE
#undef GT__TREE
#undef GT__UNROLL
#undef GT__UNROLL_4
#undef GT__USED
#undef GT__USUAL
#undef GT__VECTOR_PASSES
#undef GT__WITH_AVX2
#undef GT__WITH_AVX512
#undef GT__WITH_BASELINE
#undef GT__ZIP_16
#undef GT__ZIP_2
#undef GT__ZIP_4
#undef GT__ZIP_8
#undef gt__cpu_has_amx
#undef gt__cpu_libm
#undef gt__free_held_back
#undef gt__held_back
#undef gt__is_ended
#endif /* GPUTENSOR_IMPLEMENTATION */
#ifdef __clang__
#pragma STDC FP_CONTRACT DEFAULT /* what the command line says */
#elif defined(__GNUC__) && !defined(__CUDACC__)
#pragma GCC pop_options
#endif
#undef POLY
#undef GT__EXCERPT
#else /* a text for one type ends */
#undef T
#undef U
#undef F
#undef K
#undef LIST
#undef LIBM
#undef LOWEST
#undef HIGHEST
#endif
#endif /* GT__EXCERPT */

/* ---- >>licence ---------------------------------------------------------------------------------
   MIT License

   Copyright (c) 2026 the gputensor authors

   Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
   associated documentation files (the "Software"), to deal in the Software without restriction,
   including without limitation the rights to use, copy, modify, merge, publish, distribute,
   sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
   furnished to do so, subject to the following conditions:

   The above copyright notice and this permission notice shall be included in all copies or
   substantial portions of the Software.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
   NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
   NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
   DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
   OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

   HISTORY
     0.9.0  on the CPU slices, and rows and columns that are broadcast, are read where they lie, and
            a number is filled in by copying it; the ways of a GPU that were called narrow and
            turned are bfloat16 and transposed; a graph can be ended while another thread waits for
            the device or empties its cache
     0.8.0  ways for a matrix times a vector, float32, whose last bits may differ from before, and
            for long chains of bfloat16; a fifth less to compile
     0.7.0  a copy that changes strides goes to another GPU in one kernel; a way for tiny products
            on GPUs, where products may differ from before in their last bits
     0.6.0  gt_gather, gt_index_select by an index of any rank; gt_index_add, gt_scatter_reduce;
            gt_scan, gt_cumsum, gt_cumprod, gt_cummax; gt_sort, gt_topk, gt_nonzero; matrices that
            are multiplied by the same one are one product, whose bits may differ from before
     0.5.0  safetensors: gt_load_safetensors, gt_save_safetensors, gt_tensors_get and _free,
            gt_to_dlpack, gt_from_dlpack;
            views: gt_view, gt_flip, gt_unfold, gt_as_strided, slices with a negative step
     0.4.0  traces: gt_trace_start, _stop, _print, _save and _overlap, gt_range_push and _pop;
            graphs: gt_graph_begin, _end, _launch and _free; gt_warmup and gt_benchmark;
            gt_stream_call
     0.3.0  two parts: GPUTENSOR_PLAIN in place of GPUTENSOR_NO_SIMD, GPUTENSOR_WAYS in the
            environment in place of GPUTENSOR_NO_TENSOR_CORES; one instruction set but with
            GPUTENSOR_DISPATCH; gt_build_info lists the ways
     0.2.0  streams are ordered by the bytes that operations touch, failed writes are told to who
            reads; what behaves otherwise: std, var and norm find all results in range, GT_DIM is
            no small number, a given output converts, products are not broadcast to what is added
     0.1.0  tensors, expressions, copy, map, reduce and matmul on the CPU and with CUDA
*/
