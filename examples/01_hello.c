/* 01_hello.c - make tensors, compute with them, print them.

   You learn: the one line that compiles the library, that the same calls run on the GPU or on the
   CPU, that GT_SCOPE frees what was made inside it, and where errors go.

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

    gt_tensor *half = gt_mul(NULL, x, gt_scalar(0.5)); /* NULL: make the result */
    gt_print(half);

    gt_tensor *products = gt_matmul(NULL, x, gt_transpose(x, 0, 1)); /* read in place, no copy */
    gt_print(products);

    gt_print(gt_mean(NULL, x, GT_DIM(0), 0));

    const double largest = gt_item(gt_max(NULL, products, GT_ALL, 0)); /* waits for the device */
    printf("the largest product is %g\n", largest);
    if (largest != 4 * 4 + 5 * 5 + 6 * 6) return 1;
  }
  return 0;
}
