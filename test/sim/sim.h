/* The simulated CUDA runtime: what tests ask it and tell it, and what the simulated kernels need.
   The runtime itself is declared in cuda_runtime_api.h; sim.c says how it behaves. */
#ifndef SIM_H
#define SIM_H

#include <stddef.h>
#include <stdint.h>

/* X(name, can_fail): every function that is counted. */
#define SIM_FUNCTIONS(X) \
  X(cudaGetDeviceCount, 1) X(cudaRuntimeGetVersion, 1) X(cudaDriverGetVersion, 1) \
  X(cudaGetErrorString, 0) X(cudaGetErrorName, 0) X(cudaGetLastError, 0) \
  X(cudaPeekAtLastError, 0) X(cudaGetDriverEntryPoint, 1) X(cudaGetDriverEntryPointByVersion, 1) \
  X(cudaGetDevice, 1) X(cudaSetDevice, 1) X(cudaDeviceGetAttribute, 1) \
  X(cudaGetDeviceProperties, 1) X(cudaDeviceGetPCIBusId, 1) \
  X(cudaDeviceGetStreamPriorityRange, 1) X(cudaDeviceSynchronize, 1) X(cudaMemGetInfo, 1) \
  X(cudaMemPoolCreate, 1) X(cudaMemPoolDestroy, 1) X(cudaMemPoolSetAttribute, 1) \
  X(cudaMemPoolGetAttribute, 1) X(cudaMemPoolSetAccess, 1) X(cudaMemPoolTrimTo, 1) \
  X(cudaMallocFromPoolAsync, 1) X(cudaMallocAsync, 1) X(cudaMalloc, 1) X(cudaFreeAsync, 1) \
  X(cudaFree, 1) X(cudaHostAlloc, 1) X(cudaFreeHost, 1) X(cudaHostRegister, 1) X(cudaHostUnregister, 1) \
  X(cudaPointerGetAttributes, 1) X(cudaMemcpyAsync, 1) X(cudaMemcpyPeerAsync, 1) \
  X(cudaMemsetAsync, 1) X(cudaStreamCreateWithFlags, 1) X(cudaStreamCreateWithPriority, 1) \
  X(cudaStreamDestroy, 1) X(cudaStreamQuery, 1) X(cudaStreamSynchronize, 1) \
  X(cudaStreamWaitEvent, 1) X(cudaLaunchHostFunc, 1) X(cudaEventCreate, 1) \
  X(cudaEventCreateWithFlags, 1) X(cudaEventDestroy, 1) X(cudaEventRecord, 1) \
  X(cudaEventQuery, 1) X(cudaEventSynchronize, 1) X(cudaEventElapsedTime, 1) \
  X(cudaStreamBeginCapture, 1) X(cudaStreamEndCapture, 1) X(cudaStreamIsCapturing, 1) \
  X(cudaGraphInstantiateWithFlags, 1) X(cudaGraphUpload, 1) X(cudaGraphLaunch, 1) \
  X(cudaGraphExecDestroy, 1) X(cudaGraphDestroy, 1) \
  X(cuCtxGetCurrent, 1) X(cuCtxPushCurrent, 1) X(cuCtxPopCurrent, 1) \
  X(cuDevicePrimaryCtxRetain, 1) X(cuDevicePrimaryCtxGetState, 1) \
  X(gt__cuda_build, 1) X(gt__cuda_warmup, 1) X(gt__cuda_copy, 1) X(gt__cuda_map, 1) \
  X(gt__cuda_reduce, 1) X(gt__cuda_matmul, 1) X(gt__cuda_order, 1) X(gt__cuda_scatter, 1)
#define SIM_ENUM(name, can_fail) SIM_##name,
enum { SIM_FUNCTIONS(SIM_ENUM) SIM_FUNCTION_COUNT };
#undef SIM_ENUM

/* ---- for tests ---- */
/* Forgets everything and starts again with this many devices (0: none, -1: no driver either). The
   seed decides the order of all work and everything else that is left to chance. No other thread
   may be inside a CUDA function, and handles and addresses from before are invalid. Without a first
   call, the environment counts: SIM_SEED (1), SIM_DEVICES (2) and SIM_MEMORY in MiB (64). SIM_CLOCK
   (0) counts always: 1 gives the model of time that sim.c describes, in which seeds change nothing. */
void sim_reset(uint64_t seed, int devices);
/* The size of every device's memory, from now; at most 1 GiB. sim_reset sets it back. */
void sim_memory(size_t bytes);
/* With the model of time or without, from now. sim_reset sets it back, and all clocks of devices, the
   caller's and those of new threads to 0. */
void sim_clock(int on);
/* The nth call from now of this function fails, and with from_then_on all later ones; nth 0: none.
   "*" counts over all functions that can fail. The code is the fitting one, or what sim_fail_code
   was told (0: the fitting one again). */
void sim_fail(const char *function, int nth, int from_then_on);
void sim_fail_code(int code);
int64_t sim_failed(void);                     /* calls that were made to fail since sim_reset */
int64_t sim_calls(const char *function);      /* since sim_reset; "*": of all that can fail */
int sim_seen(const char **names, int size);   /* functions called since sim_reset that can fail */
typedef struct sim_counts {
  int64_t device_allocations, device_bytes, host_allocations, streams, events, pools, graphs, execs;
} sim_counts;
sim_counts sim_live(void);                    /* what the program has not given back */
int64_t sim_left(char *text, size_t size);    /* the same as a sentence; the sum without bytes */
int sim_contexts(int device);                 /* 1 if the device has a context */
int sim_device(void);                         /* the calling thread's current device */
int64_t sim_pending(void);                    /* pieces of work not yet executed */
/* Mistakes of the program since the last call, a line each; returns how many, and forgets them.
   Those that nobody asked for are printed at exit, and the exit code is then 3, unless SIM_RACES in
   the environment says that the program shows some. */
int sim_violations(char *text, size_t size);
/* Where the test may look at device memory: what is there now, whoever may still write it. */
void *sim_peek(const void *device_address);

extern int sim_other_layout; /* 1: the kernels say that they share other structures with the header */

/* ---- for the simulated kernels ---- */
/* Counts a call; returns the error that it must return, or 0. */
int sim_call(int function);
/* Enqueues run(copy of args) on the stream, of the current device. Returns a cudaError_t. */
int sim_launch(int function, void *stream, const void *args, size_t bytes, void (*run)(void *args));
/* Inside run: where the host finds the bytes that the program knows at this address; NULL, and a
   violation that names `what`, if they are not the kernel's to touch. */
void *sim_touch(const void *address, size_t bytes, const char *what);
void sim_complain(const char *format, ...);   /* inside run: a violation */
/* What the model of time asks: the bytes and the multiply-adds of a kernel, of which the slower count.
   NULL: kernels cost nothing but their launch. */
typedef struct sim_cost { double bytes, multiply_adds; } sim_cost;
extern sim_cost (*sim_cost_of)(int function, const void *args);
/* Milliseconds of the calling thread's clock; without the model those of the machine's. */
double sim_now(void);
int sim_clocked(void); /* is there a model of time: SIM_CLOCK */
void sim_host_work(sim_cost cost); /* with the model: the calling thread does such work */
void sim_host_after(double ms);    /* it goes on at that time at the earliest */

#endif
