/* 01_hello.c - make tensors, compute with them, print them.

   You learn: what a tensor is; that GPUTENSOR_IMPLEMENTATION, which one file defines, compiles the
   library there; that the same calls run on the GPU or on the CPU; how numbers get into a tensor
   and back into an array; that GT_SCOPE frees what was made inside it; and where errors go.

   A tensor is a block of memory and a description of it. Of x below these are

       memory     1 2 3 4 5 6     six float32, one after the other
       shape      (2, 3)          two dims: dim 0 counts the rows, dim 1 the columns
       stride     (3, 1)          element (i, j) is number i*3 + j*1 of the memory

   gt_transpose(x, 0, 1) is a view: a second description, of shape (3, 2) and strides (1, 3), of the
   same memory. Nothing is copied. A reduction, such as gt_mean, takes a dim away: of GT_DIM(0), the
   rows, remains one number for each column; of GT_ALL, all dims, remains one number.

       cc -O2 -march=native -fopenmp -I. examples/01_hello.c -lm -lpthread -o hello
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/01_hello.c gputensor_kernels.cu \
            -o hello

   Output (the device is the first GPU where there is one):

       computing on cpu
       tensor([[1., 2., 3.],
               [4., 5., 6.]])
       tensor([[0.5000, 1.0000, 1.5000],
               [2.0000, 2.5000, 3.0000]])
       tensor([[14., 32.],
               [32., 77.]])
       tensor([2.5000, 3.5000, 4.5000])
       the largest product is 77
       in an array of C: 14 32 32 77
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <stdio.h>

int main(void) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  /* Ends the program at the first error. One that can go on would look at gt_error instead. */
  gt_set_error_handler(gt_exit_on_error, NULL);
  const gt_device device = gt_best_device();
  printf("computing on %s\n", gt_device_string(device));

  GT_SCOPE {
    gt_tensor *x = gt_from_array(numbers, GT_SHAPE(2, 3), GT_FLOAT32, device);
    gt_print(x);

    /* The result comes first; NULL: make it. gt_scalar makes an operand of a number. */
    gt_tensor *half = gt_mul(NULL, x, gt_scalar(0.5));
    gt_print(half);

    gt_tensor *products = gt_matmul(NULL, x, gt_transpose(x, 0, 1)); /* (2, 3) x (3, 2) */
    gt_print(products);

    /* The last argument: 1 would keep dim 0, with size 1. */
    gt_print(gt_mean(NULL, x, GT_DIM(0), 0));

    const double largest = gt_item(gt_max(NULL, products, GT_ALL, 0)); /* waits for the device */
    printf("the largest product is %g\n", largest);
    if (largest != 4 * 4 + 5 * 5 + 6 * 6) return 1;

    float back[4]; /* row by row; this call waits, too */
    gt_to_array(products, back, sizeof back);
    printf("in an array of C: %g %g %g %g\n", back[0], back[1], back[2], back[3]);
  } /* here x, half and all other tensors are freed */
  return 0;
}
