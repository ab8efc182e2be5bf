/* 18_troubleshooting.c - fifteen mistakes, what the library says of each, and the mend.

   You learn: to read a message (who says it, which operand, its shape and device, the way out);
   that the first error stays until gt_clear_error, so that a chain of calls is checked once, at its
   end; which code belongs to which kind of mistake; and two mistakes that give no message.

       cc -O2 -march=native -fopenmp -I. examples/18_troubleshooting.c -lm -lpthread -o trouble
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/18_troubleshooting.c \
            gputensor_kernels.cu -o trouble
       ./trouble [--device cpu|cuda|cuda:N]

   PyTorch raises: try: ... except RuntimeError as e: print(e). Here a call returns NULL, and

       if (gt_error()) { puts(gt_error_message()); gt_clear_error(); }
       gt_set_error_handler(gt_exit_on_error, NULL);      ends the program at the first one

   Output without a GPU (shortened):

        1  gt_matmul(NULL, a, a)
           bad shape: gt_matmul: (3, 4) x (3, 4): inner sizes 4 and 3 differ; transpose the ...
           mend: gt_matmul(NULL, a, gt_transpose(a, 0, 1))
        2  gt_add(NULL, a, column)
           bad shape: gt_add: operand 2 (3,) does not broadcast with (3, 4); from the last dim ...
           mend: gt_add(NULL, a, gt_unsqueeze(column, 1))
        ...
        7  gt_eval(NULL, "a^2", a)
           bad expression: gt_eval: "a^2"  at column 2: no operation is called ^: x ** y is ...
           mend: gt_eval(NULL, "a**2", a)
        ...
       15  gt_sqrt(NULL, gt_exp(NULL, gt_matmul(NULL, a, a)))
           bad shape: gt_matmul: (3, 4) x (3, 4): inner sizes 4 and 3 differ; transpose the ...
           mend: gt_sqrt(NULL, gt_exp(NULL, gt_matmul(NULL, a, gt_transpose(a, 0, 1))))
       16  two devices in one call: there is one device here
       no message: break inside GT_SCOPE { } inside a loop: 9 rounds; with GT_SCOPED; 3
       no message: gt_to and gt_to_dtype without an assignment: x is still float32

   With a GPU, a pretend one too (make -C examples pretend-18_troubleshooting), 16 is

       16  gt_add(NULL, here, a)
           bad device: gt_add: operand 1 (3, 4) is on cpu, operand 2 (3, 4) on cuda:0; gt_to ...
           mend: gt_add(NULL, gt_to(here, device), a)

   These are not in the list, as they do not compile, or are no errors:

     symptom                                  cause and mend                              lesson
     too few arguments to function gt_add     the output comes first; NULL makes it           01
     undefined reference to gt_add            no file has GPUTENSOR_IMPLEMENTATION, or        01
                                              GPUTENSOR_CUDA is set without the kernels
     multiple definition of gt_add            two files have it                               01
     #error ... -ffast-math                   leave it out for the file that has it           -
     "no driver", "no device", "built         gt_cuda_unavailable_reason() says which         02
     without CUDA"
     slow products on a Hopper                -arch=sm_90a; gt_build_info() says so           12
     CUDA error                               the runtime's own word; often another           -
                                              program's memory, or an old driver
     device lost                              a kernel of your own wrote out of range: run    -
                                              compute-sanitizer; the CPU keeps working
     version                                  gputensor.h and gputensor_kernels.cu are of     -
                                              two versions: take both of one
     now and then other numbers               GT_OFF, or an own kernel that does not say      07
                                              what it touches: look with GT_REPORT
     memory grows                             gt_report_leaks(stdout); GT_SCOPED in the loop  08
     faster than the hardware can be          the clock stopped before the work was done      10
     the GPU is slower                        small work, or copies                           19
     streams gain nothing                     one operation fills the device, or pageable     06
                                              memory, or a read on the host between them

   Try: build with -DGPUTENSOR_CHECK_HANDLES: a seventeenth, a tensor used after its GT_SCOPE. Undo
   the mend of one: its check stops the program. Install gt_exit_on_error at the beginning of main:
   the program ends at the first mistake, with its message.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const char *what) {
  fprintf(stderr, "wrong: %s; the message is \"%s\"\n", what, gt_error_message());
  exit(1);
}

static int number; /* of the mistake */
static void said(const char *call, gt_status code) {
  if (gt_error() != code) stop(call);
  printf("%2d  %s\n    %s: %s\n", ++number, call, gt_status_string(code), gt_error_message());
  gt_clear_error();
}
static void mended(const char *call) {
  if (gt_error()) stop(call);
  printf("    mend: %s\n", call);
}
/* Does what is wrong, looks at the error, then does what is right, which may give none. */
#define MISTAKE(code, wrong, right) \
  do { \
    (void)(wrong); \
    said(#wrong, code); \
    (void)(right); \
    mended(#right); \
  } while (0)

static void shapes(const gt_tensor *a, const gt_tensor *column) {
  MISTAKE(GT_ERROR_SHAPE, gt_matmul(NULL, a, a), gt_matmul(NULL, a, gt_transpose(a, 0, 1)));
  MISTAKE(GT_ERROR_SHAPE, gt_add(NULL, a, column), gt_add(NULL, a, gt_unsqueeze(column, 1)));
  MISTAKE(GT_ERROR_SHAPE, gt_reshape(gt_transpose(a, 0, 1), GT_SHAPE(12)),
          gt_reshape(gt_contiguous(gt_transpose(a, 0, 1)), GT_SHAPE(12)));
  MISTAKE(GT_ERROR_SHAPE, gt_item(a), gt_item(gt_select(gt_select(a, 0, 2), 0, 3)));
}

static void arguments(const gt_tensor *a, gt_device device) {
  const gt_tensor *nine = gt_full(GT_SHAPE(1), 9, GT_INT64, device);
  const gt_tensor *two = gt_full(GT_SHAPE(1), 2, GT_INT64, device);
  MISTAKE(GT_ERROR_ARGUMENT, gt_sum(NULL, a, 1, 0), gt_sum(NULL, a, GT_DIM(1), 0));
  /* A GPU cannot stop at the call: there the next wait says it, here gt_synchronize. */
  MISTAKE(GT_ERROR_ARGUMENT, (gt_index_select(NULL, a, 0, nine), gt_synchronize(device)),
          (gt_index_select(NULL, a, 0, two), gt_synchronize(device)));
  MISTAKE(GT_ERROR_EXPRESSION, gt_eval(NULL, "a^2", a), gt_eval(NULL, "a**2", a));
  MISTAKE(GT_ERROR_EXPRESSION, gt_eval(NULL, "max(a, 0)", a), gt_eval(NULL, "maximum(a, 0)", a));
  MISTAKE(GT_ERROR_DTYPE, gt_randn(GT_SHAPE(3), GT_INT32, device, NULL),
          gt_randint(-3, 4, GT_SHAPE(3), GT_INT32, device, NULL));
}

static void world(gt_device device) {
  gt_event *start = gt_event_create(), *end = gt_event_create();
  MISTAKE(GT_ERROR_MEMORY, gt_empty(GT_SHAPE(1 << 20, 1 << 20, 256), GT_FLOAT32, device),
          gt_empty(GT_SHAPE(1 << 20), GT_FLOAT32, device));
  MISTAKE(GT_ERROR_STATE, gt_event_elapsed_ms(start, end),
          (gt_event_record(start, gt_current_stream(device)),
           gt_event_record(end, gt_current_stream(device)), gt_event_elapsed_ms(start, end)));
  MISTAKE(GT_ERROR_FILE, gt_load_npy("digits_labels.npy", device),
          gt_load_npy("examples/data/digits_labels.npy", device));
  MISTAKE(GT_ERROR_FORMAT, gt_load_npy("examples/data/README.md", device),
          gt_load_npy("examples/data/digits_images.npy", device));
  MISTAKE(GT_ERROR_DEVICE, gt_cuda(gt_cuda_device_count()), gt_best_device());
  gt_event_free(start);
  gt_event_free(end);
}

/* The first error stays, and calls that are given its NULL do nothing: the message is that of the
   call that failed, not of the last one. */
static void chain(const gt_tensor *a, gt_device device) {
  MISTAKE(GT_ERROR_SHAPE, gt_sqrt(NULL, gt_exp(NULL, gt_matmul(NULL, a, a))),
          gt_sqrt(NULL, gt_exp(NULL, gt_matmul(NULL, a, gt_transpose(a, 0, 1)))));
  if (device.type == GT_CUDA) {
    const gt_tensor *here = gt_to(a, gt_cpu());
    MISTAKE(GT_ERROR_DEVICE, gt_add(NULL, here, a), gt_add(NULL, gt_to(here, device), a));
  } else printf("%2d  two devices in one call: there is one device here\n", ++number);
#ifdef GPUTENSOR_CHECK_HANDLES
  gt_tensor *gone = NULL, *kept = NULL;
  GT_SCOPE {
    gone = gt_neg(NULL, a);
    kept = gt_keep(gt_neg(NULL, a));
  }
  MISTAKE(GT_ERROR_ARGUMENT, gt_add(NULL, gone, a), gt_add(NULL, kept, a));
#endif
}

/* No error, and not what was meant. */
static void silent(const gt_tensor *a) {
  int rounds = 0, meant = 0;
  for (int i = 0; i < 10; i++)
    GT_SCOPE {
      if (i == 3) break; /* ends GT_SCOPE's own loop of one round */
      rounds++;
    }
  for (int i = 0; i < 10; i++) {
    GT_SCOPED;
    if (i == 3) break;
    meant++;
  }
  printf("no message: break inside GT_SCOPE { } inside a loop: %d rounds; with GT_SCOPED; %d\n",
         rounds, meant);
  if (rounds != 9 || meant != 3) stop("break");

  gt_tensor *x = gt_copy(NULL, a);
  gt_to_dtype(x, GT_FLOAT16); /* makes a tensor that nobody looks at */
  printf("no message: gt_to and gt_to_dtype without an assignment: x is still %s\n",
         gt_dtype_string(x->dtype));
  x = gt_to_dtype(x, GT_FLOAT16);
  if (x->dtype != GT_FLOAT16) stop("the assignment");
}

int main(int argc, char **argv) {
  gt_device device = gt_best_device();
  if (argc == 3 && strcmp(argv[1], "--device") == 0) device = gt_parse_device(argv[2]);
  GT_SCOPE {
    gt_tensor *a = gt_reshape(gt_arange(0, 12, 1, GT_FLOAT32, device), GT_SHAPE(3, 4));
    gt_tensor *column = gt_ones(GT_SHAPE(3), GT_FLOAT32, device);
    if (gt_error()) stop("no mistake was made yet");
    shapes(a, column);
    arguments(a, device);
    world(device);
    chain(a, device);
    silent(a);
  }
  return 0;
}
