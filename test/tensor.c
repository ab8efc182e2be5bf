/* Making, viewing, copying, converting, owning: everything about tensors but arithmetic. */
#include "check.h"

/* ---- making ---- */
static void test_making(void) {
  gt_tensor *x = gt_empty(GT_SHAPE(2, 3), GT_FLOAT32, DEV);
  CHECK_SHAPE(x, 2, 3);
  CHECK_INT(x->stride[0], 3);
  CHECK_INT(x->stride[1], 1);
  CHECK_INT(x->offset, 0);
  CHECK_INT(x->dtype, GT_FLOAT32);
  CHECK_INT(gt_numel(x), 6);
  CHECK_INT(gt_nbytes(x), 24);
  CHECK(gt_is_contiguous(x) && !gt_is_pinned(x));
  CHECK_VALUES(gt_zeros(GT_SHAPE(2, 2), GT_INT8, DEV), 0, 0, 0, 0);
  CHECK_VALUES(gt_ones(GT_SHAPE(3), GT_BFLOAT16, DEV), 1, 1, 1);
  CHECK_VALUES(gt_full(GT_SHAPE(2), 2.5, GT_FLOAT16, DEV), 2.5, 2.5);
  CHECK_VALUES(gt_full(GT_SHAPE(2), 300.7, GT_UINT8, DEV), 255, 255);
  CHECK_VALUES(gt_full(GT_SHAPE(1), (double)NAN, GT_INT32, DEV), 0);
  CHECK_VALUES(gt_full(GT_SHAPE(1), (double)NAN, GT_BOOL, DEV), 1);
  CHECK_VALUES(gt_full(GT_SHAPE_0D, 7, GT_INT64, DEV), 7);
  CHECK_VALUES(gt_zeros_like(gt_ones(GT_SHAPE(2, 1), GT_INT16, DEV)), 0, 0);
  x = gt_empty_like(gt_transpose(gt_ones(GT_SHAPE(2, 3), GT_INT16, DEV), 0, 1));
  CHECK_SHAPE(x, 3, 2);
  CHECK(gt_is_contiguous(x));
  CHECK_INT(x->dtype, GT_INT16);
  x = gt_scalar(0.1);
  CHECK_NUM(gt_item(x), 0.1);
  CHECK_SHAPE_0D(x);
  CHECK_INT(x->device.type, GT_CPU);
  CHECK_INT(gt_item_int64(gt_scalar_int64(INT64_MAX - 6)), INT64_MAX - 6);
  x = gt_empty_pinned(GT_SHAPE(4), GT_INT32);
  CHECK_INT(x->device.type, GT_CPU);
  CHECK_INT(gt_is_pinned(x) != 0, gt_cuda_is_available());
  x = gt_zeros(GT_SHAPE(3, 0, 2), GT_FLOAT64, DEV);
  CHECK_INT(gt_numel(x), 0);
  CHECK(gt_is_contiguous(x));
  CHECK_INT(gt_to_array(x, NULL, 0), GT_OK);
  x = gt_empty(GT_SHAPE(1, 1, 1, 1, 1, 1, 1, 2), GT_BOOL, DEV);
  CHECK_INT(x->ndim, 8);
  if (DEV.type == GT_CPU)
    CHECK_INT((uintptr_t)gt_data(gt_empty(GT_SHAPE(5), GT_INT8, DEV)) % 64, 0);
}

static void test_every_dtype(void) {
  int t;
  static const char *const name[] = {"bool",  "uint8",   "int8",     "int16",   "int32",
                                     "int64", "float16", "bfloat16", "float32", "float64"};
  static const size_t size[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
  CHECK_INT(GT_DTYPES, 10);
  for (t = 0; t < GT_DTYPES; t++) {
    gt_tensor *x = gt_ones(GT_SHAPE(2, 3), (gt_dtype)t, DEV);
    CHECK_INT(gt_dtype_size((gt_dtype)t), size[t]);
    CHECK_STR(gt_dtype_string((gt_dtype)t), name[t]);
    CHECK_INT(gt_is_floating((gt_dtype)t) != 0, t >= GT_FLOAT16);
    CHECK_VALUES(x, 1, 1, 1, 1, 1, 1);
    CHECK_VALUES(gt_fill(x, 0), 0, 0, 0, 0, 0, 0);
  }
  CHECK_INT(gt_dtype_size((gt_dtype)99), 0);
  CHECK_INT(gt_is_floating((gt_dtype)-1), 0);
  CHECK(gt_dtype_string((gt_dtype)99) != NULL);
}

static void test_sequences(void) {
  CHECK_VALUES(gt_arange(0, 5, 1, GT_INT64, DEV), 0, 1, 2, 3, 4);
  CHECK_VALUES(gt_arange(5, 0, -2, GT_INT32, DEV), 5, 3, 1);
  CHECK_VALUES(gt_arange(0, 1, 0.25, GT_FLOAT32, DEV), 0, 0.25, 0.5, 0.75);
  CHECK_VALUES(gt_arange(1, 2.1, 0.5, GT_FLOAT64, DEV), 1, 1.5, 2);
  CHECK_VALUES(gt_arange(-3, 3, 2, GT_INT8, DEV), -3, -1, 1);
  CHECK_SHAPE(gt_arange(3, 3, 1, GT_FLOAT32, DEV), 0);
  CHECK_VALUES(gt_arange(0, 3, 1, GT_FLOAT16, DEV), 0, 1, 2);
  CHECK_VALUES(gt_linspace(0, 1, 5, GT_FLOAT32, DEV), 0, 0.25, 0.5, 0.75, 1);
  CHECK_VALUES(gt_linspace(3, 3, 1, GT_FLOAT64, DEV), 3);
  CHECK_VALUES(gt_linspace(2, 1, 3, GT_FLOAT64, DEV), 2, 1.5, 1);
  CHECK_VALUES(gt_linspace(-0x1p1023, 0x1p1023, 3, GT_FLOAT64, DEV), -0x1p1023, 0, 0x1p1023);
  CHECK_SHAPE(gt_linspace(0, 1, 0, GT_FLOAT32, DEV), 0);
  CHECK_VALUES(gt_eye(2, 3, GT_FLOAT32, DEV), 1, 0, 0, 0, 1, 0);
  CHECK_VALUES(gt_eye(3, 2, GT_BOOL, DEV), 1, 0, 0, 1, 0, 0);
  CHECK_SHAPE(gt_eye(0, 4, GT_INT64, DEV), 0, 4);
  { /* the last point is the end, and i*step is one rounding in float64 */
    gt_tensor *x = gt_linspace(0, 0.3, 7, GT_FLOAT64, DEV),
              *y = gt_arange(0.1, 100, 0.1, GT_FLOAT64, DEV);
    double *p = (double *)values_of(x), *q = (double *)values_of(y);
    int i;
    CHECK_NUM(p[6], 0.3);
    CHECK_INT(gt_numel(y), (int64_t)ceil((100 - 0.1) / 0.1));
    for (i = 0; i < gt_numel(y); i++) CHECK_NEAR(q[i], 0.1 + i * 0.1, 2e-14);
    free(p);
    free(q);
  }
  REFUSED(gt_arange(0, 5, 0, GT_INT64, DEV), GT_ERROR_ARGUMENT, "gt_arange");
  REFUSED(gt_arange(0, 5, -1, GT_INT64, DEV), GT_ERROR_ARGUMENT, "gt_arange");
  REFUSED(gt_arange(0, (double)INFINITY, 1, GT_FLOAT32, DEV), GT_ERROR_ARGUMENT, "gt_arange");
  REFUSED(gt_arange((double)NAN, 1, 1, GT_FLOAT32, DEV), GT_ERROR_ARGUMENT, "gt_arange");
  REFUSED(gt_linspace(0, 1, -1, GT_FLOAT32, DEV), GT_ERROR_SHAPE, "gt_linspace");
  REFUSED(gt_eye(-1, 2, GT_FLOAT32, DEV), GT_ERROR_SHAPE, "gt_eye");
}

static void test_refused_shapes(void) {
  const int64_t huge = INT64_C(1) << 40;
  gt_shape nine = {9, {1, 1, 1, 1, 1, 1, 1, 1}}, minus = {-1, {0}};
  gt_device nowhere = {GT_NO_DEVICE, 0};
  REFUSED(gt_empty(GT_SHAPE(huge, huge), GT_FLOAT32, DEV), GT_ERROR_SHAPE, "gt_empty");
  REFUSED(gt_zeros(GT_SHAPE(huge, 0, huge), GT_FLOAT32, DEV), GT_ERROR_SHAPE, "zeros");
  REFUSED(gt_full(GT_SHAPE(INT64_MAX), 1, GT_INT16, DEV), GT_ERROR_SHAPE, "full");
  REFUSED(gt_empty(GT_SHAPE(2, -1), GT_FLOAT32, DEV), GT_ERROR_SHAPE, "negative size in (2, -1)");
  REFUSED(gt_empty(nine, GT_FLOAT32, DEV), GT_ERROR_SHAPE, "9 dimensions");
  REFUSED(gt_empty(minus, GT_FLOAT32, DEV), GT_ERROR_SHAPE, "-1 dimensions");
  REFUSED(gt_empty(GT_SHAPE(2), (gt_dtype)10, DEV), GT_ERROR_DTYPE, "10 is not a dtype");
  REFUSED(gt_empty(GT_SHAPE(2), (gt_dtype)-1, DEV), GT_ERROR_DTYPE, "-1 is not a dtype");
  REFUSED(gt_empty(GT_SHAPE(2), GT_FLOAT32, nowhere), GT_ERROR_DEVICE, "not a device");
  REFUSED(gt_empty(GT_SHAPE(INT64_C(1) << 50), GT_FLOAT64, DEV), GT_ERROR_MEMORY, "out of");
}

static void test_devices(void) {
  gt_device d = gt_parse_device("cpu"), cuda;
  gt_properties p;
  CHECK_INT(d.type, GT_CPU);
  CHECK_STR(gt_device_string(gt_cpu()), "cpu");
  CHECK_STR(gt_device_string(d = gt_current_device()), "cpu");
  CHECK_INT(gt_device_properties(gt_cpu(), &p), GT_OK);
  CHECK(p.multiprocessors >= 1 && p.total_memory > 1000000 && p.name[0] && p.instructions[0]);
  CHECK(p.major == 0 && p.pci_bus_id[0] == 0);
  CHECK(gt_device_name(gt_cpu())[0] != 0);
  REFUSED_STATUS(gt_device_properties(gt_cpu(), NULL), GT_ERROR_ARGUMENT, "out is NULL");
  d = gt_parse_device("gpu");
  REFUSED_IF(d.type == GT_NO_DEVICE, GT_ERROR_ARGUMENT, "\"gpu\" is not cpu, cuda or cuda:N");
  d = gt_parse_device("cuda:");
  REFUSED_IF(d.type == GT_NO_DEVICE, GT_ERROR_ARGUMENT, "cuda:");
  d = gt_parse_device("cuda:1x");
  REFUSED_IF(d.type == GT_NO_DEVICE, GT_ERROR_ARGUMENT, "cuda:1x");
  d = gt_parse_device(NULL);
  REFUSED_IF(d.type == GT_NO_DEVICE, GT_ERROR_ARGUMENT, "NULL");
  CHECK_INT(gt_cuda_is_available() != 0, gt_cuda_device_count() > 0);
  CHECK_INT(gt_best_device().type, gt_cuda_is_available() ? GT_CUDA : GT_CPU);
  CHECK_INT(gt_cuda_unavailable_reason()[0] == 0, gt_cuda_is_available());
  cuda = gt_cuda(31);
  REFUSED_IF(cuda.type == GT_NO_DEVICE, GT_ERROR_DEVICE, "gt_cuda");
  cuda = gt_cuda(-1);
  REFUSED_IF(cuda.type == GT_NO_DEVICE, GT_ERROR_DEVICE, "gt_cuda");
  d.type = 7;
  CHECK_STR(gt_device_string(d), "no device");
  CHECK_STR(gt_device_name(d), "no device");
  gt_clear_error();
  REFUSED_STATUS(gt_set_device(d), GT_ERROR_DEVICE, "not a device (type 7");
  CHECK_INT(gt_set_device(DEV), GT_OK);
  CHECK_INT(gt_current_device().type, DEV.type);
  CHECK_INT(gt_set_device(gt_cpu()), GT_OK);
  GT_WITH_DEVICE(DEV) { CHECK_INT(gt_current_device().type, DEV.type); }
  CHECK_INT(gt_current_device().type, GT_CPU);
  if (!gt_cuda_is_available()) {
    d = gt_parse_device("cuda");
    REFUSED_IF(d.type == GT_NO_DEVICE, GT_ERROR_DEVICE, "gt_best_device() chooses");
    cuda.type = GT_CUDA;
    cuda.index = 0;
    REFUSED(gt_to(gt_ones(GT_SHAPE(2), GT_INT8, gt_cpu()), cuda), GT_ERROR_DEVICE, "no GPU");
  }
  char numbers[32];
  snprintf(numbers, sizeof numbers, "%d.%d.%d", GPUTENSOR_VERSION_MAJOR,
           GPUTENSOR_VERSION_MINOR, GPUTENSOR_VERSION_PATCH);
  CHECK_STR(gt_version(), GPUTENSOR_VERSION);
  CHECK_STR(gt_version(), numbers);
  CHECK(strlen(gt_build_info()) > 10);
  if (DEV.type == GT_CUDA) {
    gt_ones(GT_SHAPE(2), GT_INT8, DEV);
    CHECK(strstr(gt_build_info(), "CUDA sm_") != NULL);
  }
}

/* ---- reading ---- */
static void test_reading(void) {
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(2, 2), 1, 2.5, -3, 4);
  float v[4];
  CHECK_NUM(gt_item(gt_select(gt_select(x, 0, 1), 0, 0)), -3);
  CHECK_NUM(gt_item(TENSOR(GT_INT64, GT_SHAPE(1, 1), 9)), 9);
  CHECK_INT(gt_item_int64(TENSOR(GT_FLOAT32, GT_SHAPE(1), -2.75)), -2);
  CHECK_INT(gt_item_int64(TENSOR(GT_BOOL, GT_SHAPE(1), 1)), 1);
  CHECK_INT(gt_item_int64(TENSOR(GT_FLOAT64, GT_SHAPE(1), 1e300)), INT64_MAX);
  CHECK_NUM(gt_item(TENSOR(GT_BFLOAT16, GT_SHAPE_0D, 0.5)), 0.5);
  CHECK_NUM(gt_item(TENSOR(GT_FLOAT16, GT_SHAPE_0D, 65504)), 65504);
  CHECK_INT(gt_to_array(gt_transpose(x, 0, 1), v, sizeof v), GT_OK);
  CHECK(v[0] == 1 && v[1] == -3 && v[2] == 2.5 && v[3] == 4);
  REFUSED_STATUS(gt_to_array(x, v, 15), GT_ERROR_ARGUMENT, "gt_to_array: 15 bytes given, (2, 2)");
  REFUSED_STATUS(gt_to_array(x, NULL, 16), GT_ERROR_ARGUMENT, "NULL");
  REFUSED_IF(isnan(gt_item(x)), GT_ERROR_SHAPE, "gt_item: (2, 2) has 4 elements");
  REFUSED_IF(gt_item_int64(x) == 0, GT_ERROR_SHAPE, "gt_item_int64: (2, 2) has 4 elements");
  REFUSED_IF(isnan(gt_item(NULL)), GT_ERROR_ARGUMENT, "NULL");
  REFUSED_STATUS(gt_to_array(NULL, v, 4), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_data(NULL), GT_ERROR_ARGUMENT, "NULL");
  CHECK(gt_data(gt_empty(GT_SHAPE(0), GT_INT8, DEV)) == NULL);
  if (DEV.type == GT_CPU) {
    CHECK((float *)gt_data(gt_select(x, 0, 1)) == (float *)gt_data(x) + 2);
    ((float *)gt_data(x))[3] = 8;
    CHECK_VALUES(x, 1, 2.5, -3, 8);
  }
}

/* ---- views ---- */
static void test_views(void) {
  gt_tensor *x = gt_reshape(gt_arange(0, 24, 1, GT_INT32, DEV), GT_SHAPE(2, 3, 4)), *y;
  y = gt_transpose(x, 0, -1);
  CHECK_SHAPE(y, 4, 3, 2);
  CHECK(!gt_is_contiguous(y) && y->storage == x->storage);
  CHECK_VALUES(gt_select(gt_select(y, 0, 1), 0, 2), 9, 21);
  y = gt_permute(x, GT_SHAPE(2, 0, -2));
  CHECK_SHAPE(y, 4, 2, 3);
  CHECK_VALUES(gt_select(gt_select(y, 0, 3), 0, 1), 15, 19, 23);
  y = gt_slice(x, 1, 1, 3, 1);
  CHECK_SHAPE(y, 2, 2, 4);
  CHECK_VALUES(y, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23);
  CHECK_VALUES(gt_slice(gt_select(gt_select(x, 0, 0), 0, 0), 0, 0, 4, 3), 0, 3);
  CHECK_VALUES(gt_slice(gt_arange(0, 5, 1, GT_INT8, DEV), 0, -2, INT64_MAX, 1), 3, 4);
  CHECK_VALUES(gt_slice(gt_arange(0, 5, 1, GT_INT8, DEV), 0, INT64_MIN, -3, 1), 0, 1);
  CHECK_VALUES(gt_slice(gt_arange(0, 5, 1, GT_INT8, DEV), 0, 1, 5, INT64_MAX), 1);
  CHECK_SHAPE(gt_slice(x, 2, 3, 2, 1), 2, 3, 0);
  CHECK_SHAPE(gt_slice(x, 2, 100, 200, 1), 2, 3, 0);
  CHECK_VALUES(gt_select(gt_select(x, -1, -1), 0, 0), 3, 7, 11);
  CHECK_VALUES(gt_diagonal(gt_select(x, 0, 0), 0, 0, 1), 0, 5, 10);
  CHECK_VALUES(gt_diagonal(gt_select(x, 0, 0), 1, 0, 1), 1, 6, 11);
  CHECK_VALUES(gt_diagonal(gt_select(x, 0, 0), -1, 0, 1), 4, 9);
  CHECK_SHAPE(gt_diagonal(x, 9, 1, 2), 2, 0);
  CHECK_SHAPE(gt_diagonal(x, -9, 1, 2), 2, 0);
  CHECK_VALUES(gt_diagonal(x, 0, 2, 0), 0, 13, 4, 17, 8, 21); /* (3, 2): the others, then it */
  y = gt_expand(gt_arange(0, 3, 1, GT_INT32, DEV), GT_SHAPE(2, -1));
  CHECK_SHAPE(y, 2, 3);
  CHECK_INT(y->stride[0], 0);
  CHECK_VALUES(y, 0, 1, 2, 0, 1, 2);
  CHECK_SHAPE(gt_expand(gt_ones(GT_SHAPE(1, 1), GT_INT8, DEV), GT_SHAPE(0, 4)), 0, 4);
  CHECK_SHAPE(gt_expand(gt_scalar(1), GT_SHAPE(2, 2)), 2, 2);
  CHECK_SHAPE(gt_squeeze(gt_ones(GT_SHAPE(2, 1, 3), GT_INT8, DEV), 1), 2, 3);
  CHECK_SHAPE(gt_squeeze(x, 0), 2, 3, 4);
  CHECK_SHAPE(gt_unsqueeze(x, 0), 1, 2, 3, 4);
  CHECK_SHAPE(gt_unsqueeze(x, -1), 2, 3, 4, 1);
  CHECK_SHAPE(gt_unsqueeze(gt_scalar(1), 0), 1);
  y = gt_select(gt_select(gt_select(x, 0, 1), 0, 2), 0, 3); /* without dims, and so in PyTorch */
  CHECK_SHAPE_0D(gt_squeeze(y, 0));
  CHECK_SHAPE_0D(gt_squeeze(gt_squeeze(gt_ones(GT_SHAPE(1), GT_INT8, DEV), 0), -1));
  CHECK_VALUES(gt_transpose(y, 0, -1), 23);
  CHECK_VALUES(gt_permute(y, GT_SHAPE_0D), 23);
  CHECK_VALUES(gt_softmax(NULL, gt_to_dtype(y, GT_FLOAT32), -1), 1);
  REFUSED(gt_squeeze(y, 1), GT_ERROR_ARGUMENT, "dim 1 is out of range for 0 dimensions");
  REFUSED(gt_transpose(y, -2, 0), GT_ERROR_ARGUMENT, "dim -2 is out of range for 0 dimensions");
  REFUSED(gt_slice(y, 0, 0, 1, 1), GT_ERROR_ARGUMENT, "dim 0 is out of range for 0 dimensions");
  REFUSED(gt_diagonal(y, 0, 0, -1), GT_ERROR_ARGUMENT, "out of range");
  REFUSED(gt_transpose(x, GT_DIM(1), 0), GT_ERROR_ARGUMENT,
          "gt_transpose: a plain number is expected here: 1, not GT_DIM(1)");
  REFUSED(gt_select(x, GT_DIM(-1), 0), GT_ERROR_ARGUMENT, "expected here: -1, not GT_DIM(-1)");
  REFUSED(gt_unsqueeze(gt_ones(GT_SHAPE(1, 1, 1, 1, 1, 1, 1, 1), GT_INT8, DEV), 0), GT_ERROR_SHAPE,
          "already has 8");
  REFUSED(gt_unsqueeze(x, 4), GT_ERROR_ARGUMENT, "dim 4 is out of range");
  REFUSED(gt_transpose(x, 0, 3), GT_ERROR_ARGUMENT, "dim 3 is out of range for 3 dimensions");
  REFUSED(gt_transpose(x, -4, 0), GT_ERROR_ARGUMENT, "dim -4");
  REFUSED(gt_permute(x, GT_SHAPE(0, 1)), GT_ERROR_ARGUMENT, "gt_permute: 2 dims named for the 3");
  REFUSED(gt_permute(x, GT_SHAPE(0, 1, 1)), GT_ERROR_ARGUMENT, "dim 1 is named twice");
  REFUSED(gt_permute(x, GT_SHAPE(0, 1, INT64_C(1) << 32)), GT_ERROR_ARGUMENT,
          "gt_permute: dim 4294967296 is out of range for 3 dimensions");
  REFUSED(gt_permute(x, GT_SHAPE(1, 0, (INT64_C(1) << 32) + 2)), GT_ERROR_ARGUMENT, "dim 4294967298 is");
  REFUSED(gt_slice(x, 0, 0, 1, 0), GT_ERROR_ARGUMENT, "gt_slice: step 0");
  REFUSED(gt_slice(x, 7, 0, 1, 1), GT_ERROR_ARGUMENT, "gt_slice: dim 7");
  REFUSED(gt_select(x, 1, 3), GT_ERROR_ARGUMENT, "index 3 is out of range for dim 1 of (2, 3, 4)");
  REFUSED(gt_select(x, 1, -4), GT_ERROR_ARGUMENT, "index -4");
  REFUSED(gt_select(gt_scalar(1), 0, 0), GT_ERROR_ARGUMENT, "out of range");
  REFUSED(gt_expand(x, GT_SHAPE(2, 3, 5)), GT_ERROR_SHAPE,
          "(2, 3, 4) does not expand to (2, 3, 5)");
  REFUSED(gt_expand(x, GT_SHAPE(3, 4)), GT_ERROR_SHAPE, "does not expand");
  REFUSED(gt_expand(x, GT_SHAPE(-1, 2, 3, 4)), GT_ERROR_SHAPE, "gt_expand");
  REFUSED(gt_squeeze(x, 3), GT_ERROR_ARGUMENT, "gt_squeeze");
  REFUSED(gt_diagonal(x, 0, 1, 1), GT_ERROR_ARGUMENT, "dim 1 is named twice");
  REFUSED(gt_diagonal(gt_ones(GT_SHAPE(2), GT_INT8, DEV), 0, 0, 1), GT_ERROR_ARGUMENT,
          "out of range");
  REFUSED(gt_transpose(NULL, 0, 1), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_slice(NULL, 0, 0, 1, 1), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_reshape(NULL, GT_SHAPE(1)), GT_ERROR_ARGUMENT, "NULL");
}

static void test_reshape(void) {
  gt_tensor *x = gt_reshape(gt_arange(0, 24, 1, GT_INT32, DEV), GT_SHAPE(4, 6)), *t, *s;
  CHECK_SHAPE(gt_reshape(x, GT_SHAPE(-1)), 24);
  CHECK_SHAPE(gt_reshape(x, GT_SHAPE(2, -1, 3)), 2, 4, 3);
  CHECK_SHAPE(gt_reshape(x, GT_SHAPE(1, 24, 1)), 1, 24, 1);
  CHECK_SHAPE_0D(gt_reshape(gt_ones(GT_SHAPE(1, 1), GT_INT8, DEV), GT_SHAPE_0D));
  CHECK_SHAPE(gt_reshape(gt_scalar(1), GT_SHAPE(1, 1, 1)), 1, 1, 1);
  CHECK_SHAPE(gt_reshape(gt_zeros(GT_SHAPE(0, 3), GT_INT8, DEV), GT_SHAPE(5, 0)), 5, 0);
  CHECK_SHAPE(gt_reshape(gt_zeros(GT_SHAPE(0, 3), GT_INT8, DEV), GT_SHAPE(-1, 3)), 0, 3);
  t = gt_transpose(x, 0, 1); /* (6, 4), strides 1 and 6: dims may split, not merge */
  CHECK_SHAPE(gt_reshape(t, GT_SHAPE(2, 3, 2, 2)), 2, 3, 2, 2);
  CHECK_VALUES(gt_select(gt_select(gt_reshape(t, GT_SHAPE(2, 3, 2, 2)), 0, 1), 0, 2), 5, 11, 17,
               23);
  REFUSED(gt_reshape(t, GT_SHAPE(24)), GT_ERROR_SHAPE,
          "the strides of (6, 4) do not allow a view as (24,); call gt_contiguous first");
  REFUSED(gt_reshape(t, GT_SHAPE(3, 8)), GT_ERROR_SHAPE, "do not allow a view");
  s = gt_slice(x, 1, 0, 4, 1); /* (4, 4), rows 6 apart */
  CHECK_VALUES(gt_select(gt_reshape(s, GT_SHAPE(2, 2, 2, 2)), 0, 1), 12, 13, 14, 15, 18, 19, 20,
               21);
  REFUSED(gt_reshape(s, GT_SHAPE(16)), GT_ERROR_SHAPE, "strides");
  CHECK_SHAPE(gt_reshape(gt_slice(x, 1, 0, 1, 1), GT_SHAPE(2, 2)), 2, 2);
  CHECK_VALUES(gt_reshape(gt_slice(x, 1, 0, 1, 1), GT_SHAPE(2, 2)), 0, 6, 12, 18);
  CHECK_VALUES(gt_reshape(gt_expand(gt_arange(0, 2, 1, GT_INT8, DEV), GT_SHAPE(2, 2)),
                          GT_SHAPE(2, 1, 2)), 0, 1, 0, 1);
  REFUSED(gt_reshape(x, GT_SHAPE(5, 5)), GT_ERROR_SHAPE,
          "gt_reshape: (4, 6) has 24 elements, (5, 5) has 25");
  REFUSED(gt_reshape(x, GT_SHAPE(-1, -1)), GT_ERROR_SHAPE, "only one size may be -1");
  REFUSED(gt_reshape(x, GT_SHAPE(-1, 7)), GT_ERROR_SHAPE, "gt_reshape");
  REFUSED(gt_reshape(x, GT_SHAPE(-1, 0)), GT_ERROR_SHAPE, "gt_reshape");
  REFUSED(gt_reshape(x, GT_SHAPE(-2, -12)), GT_ERROR_SHAPE, "negative size");
  REFUSED(gt_reshape(x, GT_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40, -1)), GT_ERROR_SHAPE,
          "gt_reshape");
  REFUSED(gt_reshape(x, GT_SHAPE(INT64_C(1) << 62, 4, 6)), GT_ERROR_SHAPE, "gt_reshape");
}

/* All ways through sizes 1..3 in 1 to 4 dims: a view agrees with the reshaped copy or is
   refused. */
static void test_reshape_of_views(void) {
  int i;
  for (i = 0; i < 600; i++) GT_SCOPE {
      const int n = 1 + (int)rnd_below(3);
      gt_shape big, shape, order;
      gt_tensor *x, *y, *copy;
      int64_t left;
      int d;
      big.ndim = order.ndim = n;
      for (d = 0; d < n; d++) {
        big.size[d] = 1 + rnd_below(4);
        order.size[d] = d;
      }
      for (d = n - 1; d > 0; d--) {
        const int e = (int)rnd_below(d + 1);
        const int64_t o = order.size[d];
        order.size[d] = order.size[e];
        order.size[e] = o;
      }
      x = gt_permute(random_tensor(big, GT_INT32, DEV), order);
      if (rnd() & 1) x = gt_slice(x, 0, 0, x->shape[0], 2);
      left = gt_numel(x);
      shape.ndim = 0;
      while (left > 1 && shape.ndim < 5) {
        int64_t f = 1 + rnd_below(left);
        while (left % f) f--;
        shape.size[shape.ndim++] = f;
        left /= f;
      }
      shape.size[shape.ndim++] = left;
      copy = gt_reshape(gt_contiguous(x), shape);
      CHECK(copy != NULL);
      y = gt_reshape(x, shape);
      if (y) CHECK_SAME(y, copy);
      else gt_clear_error();
    }
}

/* ---- owning ---- */
static int deletions;
static void *deleted;
static void deleter(void *data, void *context) {
  deletions += *(int *)context;
  deleted = data;
}
static void test_from_ptr(void) {
  float v[6] = {1, 2, 3, 4, 5, 6};
  int one = 1;
  char *raw = (char *)v;
  size_t before;
  gt_tensor *x, *y;
  deletions = 0;
  x = gt_from_ptr(v, GT_SHAPE(2, 3), GT_FLOAT32, gt_cpu(), deleter, &one);
  CHECK(gt_data(x) == v);
  y = gt_select(x, 0, 1);
  gt_free(x);
  CHECK_INT(deletions, 0);
  CHECK_VALUES(y, 4, 5, 6);
  gt_neg(y, y);
  CHECK(v[3] == -4);
  gt_free(y);
  CHECK_INT(deletions, 1);
  CHECK(deleted == v);
  x = gt_from_ptr(v, GT_SHAPE(6), GT_FLOAT32, gt_cpu(), NULL, NULL);
  y = gt_from_ptr(v, GT_SHAPE(6), GT_FLOAT32, gt_cpu(), NULL, NULL); /* two names of the same elements */
  gt_reset_peak_memory_stats(gt_cpu());
  before = gt_max_memory_allocated(gt_cpu());
  CHECK(gt_square(x, y) == x);
  CHECK_VALUES(y, 1, 4, 9, 16, 25, 36);
  CHECK(gt_max_memory_allocated(gt_cpu()) == before); /* in place, without a temporary */
  gt_free(y);
  y = gt_from_ptr(v + 1, GT_SHAPE(5), GT_FLOAT32, gt_cpu(), NULL, NULL);
  GT_SCOPE gt_copy(gt_slice(x, 0, 0, 5, 1), y); /* an element apart: through one */
  CHECK_VALUES(x, 4, 9, 16, 25, 36, 36);
  CHECK(gt_max_memory_allocated(gt_cpu()) > before);
  gt_free(y);
  gt_free(x);
  x = gt_from_ptr(NULL, GT_SHAPE(0), GT_FLOAT32, gt_cpu(), deleter, &one);
  CHECK_INT(gt_numel(x), 0);
  gt_free(x);
  CHECK_INT(deletions, 2);
  REFUSED(gt_from_ptr(NULL, GT_SHAPE(2), GT_FLOAT32, gt_cpu(), deleter, &one), GT_ERROR_ARGUMENT,
          "data is NULL");
  REFUSED(gt_from_ptr(raw + 1, GT_SHAPE(2), GT_FLOAT32, gt_cpu(), deleter, &one), GT_ERROR_ARGUMENT,
          "not aligned to its float32 elements");
  REFUSED(gt_from_ptr(v, GT_SHAPE(-2), GT_FLOAT32, gt_cpu(), deleter, &one), GT_ERROR_SHAPE,
          "gt_from_ptr");
  CHECK_INT(deletions, 2);
  REFUSED(gt_from_array(NULL, GT_SHAPE(2), GT_FLOAT32, DEV), GT_ERROR_ARGUMENT, "data is NULL");
  CHECK_SHAPE(gt_from_array(NULL, GT_SHAPE(0), GT_FLOAT32, DEV), 0);
}
/* Memory that is only read: every kind of operation that would write to it says so. */
static void test_from_const_ptr(void) {
  static const float v[6] = {1, 2, 3, 4, 5, 6};
  gt_tensor *there = gt_from_array(v, GT_SHAPE(6), GT_FLOAT32, DEV);
  const void *p = gt_data(there);
  const gt_tensor *list[1] = {there};
  const char *const text = "is of gt_from_const_ptr, whose memory is not written to";
  static int one = 1; /* views end with the scope */
  gt_tensor *x, *y, *six, *index;
  gt_stream *s = gt_stream_create(DEV, 0);
  deletions = 0;
  x = gt_from_const_ptr(p, GT_SHAPE(2, 3), GT_FLOAT32, DEV, deleter, &one);
  CHECK(gt_data(x) == p);
  CHECK_VALUES(gt_eval(NULL, "a*a - a", x), 0, 2, 6, 12, 20, 30);
  CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 21);
  CHECK_VALUES(gt_matmul(NULL, x, gt_transpose(x, 0, 1)), 14, 32, 32, 77);
  CHECK_INT(gt_stream_reads(s, x), GT_OK);
  six = gt_reshape(x, GT_SHAPE(6)); /* views are read only, too */
  y = gt_select(x, 0, 1);
  index = gt_arange(0, 6, 1, GT_INT64, DEV);
  REFUSED(gt_add(x, x, x), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_fill(y, 7), GT_ERROR_ARGUMENT, "gt_fill: the output (3,) is of gt_from_const_ptr");
  REFUSED(gt_copy(six, there), GT_ERROR_ARGUMENT, "gt_copy(NULL, x) makes a tensor that may be");
  REFUSED(gt_copy(six, gt_from_array(v, GT_SHAPE(6), GT_FLOAT32, gt_cpu())), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_copy(six, index), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_eval(six, "index * 2"), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_sum(y, gt_full(GT_SHAPE(2, 3), 1, GT_FLOAT32, DEV), GT_DIM(0), 0), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_softmax(y, gt_full(GT_SHAPE(3), 1, GT_FLOAT32, DEV), 0), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_matmul(y, gt_slice(six, 0, 0, 2, 1), x), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_stack(gt_reshape(x, GT_SHAPE(1, 6)), 1, list, 0), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_cat(six, 1, list, 0), GT_ERROR_ARGUMENT, text);
  REFUSED(gt_index_select(six, there, 0, index), GT_ERROR_ARGUMENT, text);
  REFUSED_STATUS(gt_stream_writes(s, x), GT_ERROR_ARGUMENT, text);
  CHECK_VALUES(there, 1, 2, 3, 4, 5, 6);
  CHECK_VALUES(gt_fill(gt_copy(NULL, y), 7), 7, 7, 7);
  CHECK_VALUES(gt_relu(NULL, gt_to_dtype(x, GT_FLOAT64)), 1, 2, 3, 4, 5, 6);
  gt_free(x);
  gt_free(six);
  CHECK_INT(deletions, 0);
  gt_free(y);
  gt_stream_free(s);
  REFUSED(gt_from_const_ptr(NULL, GT_SHAPE(2), GT_FLOAT32, DEV, deleter, &one), GT_ERROR_ARGUMENT,
          "gt_from_const_ptr: data is NULL");
}

static gt_tensor *returns_from_scope(int how) {
  GT_SCOPE {
    gt_tensor *x = gt_ones(GT_SHAPE(2), GT_INT8, DEV);
    if (how == 0) return gt_keep(gt_add(NULL, x, x));
    gt_neg(NULL, x);
    if (how == 1) break;
    GT_SCOPE { gt_neg(NULL, x); }
    return NULL;
  }
  return NULL;
}
static void test_scopes(void) {
  const int64_t before = gt_report_leaks(NULL);
  gt_tensor *x, *kept = NULL, *outer = NULL;
  int i;
  x = returns_from_scope(0);
  CHECK_VALUES(x, 2, 2);
  CHECK_INT(gt_report_leaks(NULL), before + 1);
  gt_free(x);
  CHECK(returns_from_scope(1) == NULL && returns_from_scope(2) == NULL);
  CHECK_INT(gt_report_leaks(NULL), before);
  for (i = 0; i < 5; i++) GT_SCOPE {
      gt_zeros(GT_SHAPE(3), GT_INT8, DEV);
      if (i == 1) continue; /* leaves the scope, goes on with the loop */
      if (i == 3) break;
    }
  CHECK_INT(i, 5);
  CHECK_INT(gt_report_leaks(NULL), before);
  GT_SCOPE {
    GT_SCOPE {
      kept = gt_keep(gt_zeros(GT_SHAPE(3), GT_INT8, DEV));
      outer = gt_keep(gt_keep(gt_ones(GT_SHAPE(3), GT_INT8, DEV)));
      gt_zeros(GT_SHAPE(3), GT_INT8, DEV);
      CHECK_INT(gt_report_leaks(NULL), before + 3);
    }
    CHECK_INT(gt_report_leaks(NULL), before + 2);
    CHECK_VALUES(kept, 0, 0, 0);
    gt_free(kept); /* freeing by hand inside a scope is fine */
    CHECK_INT(gt_report_leaks(NULL), before + 1);
  }
  CHECK_INT(gt_report_leaks(NULL), before + 1);
  CHECK_VALUES(outer, 1, 1, 1);
  gt_free(outer);
  gt_free(NULL);
  REFUSED(gt_keep(NULL), GT_ERROR_ARGUMENT, "gt_keep");
  GT_SCOPE {
    gt_scope *by_hand, scope;
    by_hand = gt_scope_push(&scope);
    CHECK(by_hand == &scope);
    gt_ones(GT_SHAPE(1), GT_INT8, DEV);
    gt_scope_pop(&scope);
    CHECK_INT(gt_report_leaks(NULL), before);
  }
  /* what a view keeps alive outlives the scope of its base */
  GT_SCOPE {
    x = gt_keep(gt_slice(gt_arange(0, 5, 1, GT_INT32, DEV), 0, 1, 3, 1));
  }
  CHECK_VALUES(x, 1, 2);
  gt_free(x);
}

static void test_retain_and_leaks(void) {
  const size_t bytes = gt_memory_allocated(DEV);
  const int64_t before = gt_report_leaks(NULL);
  char text[400] = "";
  FILE *file = tmpfile();
  gt_tensor *x = gt_ones(GT_SHAPE(7, 9), GT_FLOAT64, DEV), *y = gt_retain(x);
  CHECK(y != x && y->storage == x->storage);
  CHECK_INT(gt_memory_allocated(DEV) - bytes, 7 * 9 * 8);
  CHECK_INT(gt_report_leaks(file), before + 2);
  rewind(file);
  CHECK(fread(text, 1, sizeof text - 1, file) > 0);
  CHECK(strstr(text, "float64") && strstr(text, "(7, 9)") && strstr(text, "504 bytes"));
  fclose(file);
  gt_free(x);
  CHECK_INT(gt_memory_allocated(DEV) - bytes, 7 * 9 * 8);
  gt_fill(y, 2);
  gt_free(y);
  CHECK_INT(gt_memory_allocated(DEV), bytes);
  REFUSED(gt_retain(NULL), GT_ERROR_ARGUMENT, "gt_retain");
}

/* ---- errors ---- */
static int handled;
static void counting_handler(gt_status status, const char *message, void *user) {
  if (status == GT_ERROR_SHAPE && message[0]) handled += *(int *)user;
}
static void test_pending_error(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(2), GT_FLOAT32, DEV), *y, *z;
  int one = 1, t;
  char first[200];
  gt_set_error_handler(counting_handler, &one);
  handled = 0;
  y = gt_reshape(x, GT_SHAPE(3));
  CHECK(y == NULL && gt_error() == GT_ERROR_SHAPE);
  CHECK_INT(handled, 1);
  snprintf(first, sizeof first, "%s", gt_error_message());
  CHECK(gt_add(NULL, y, x) == NULL);
  CHECK(gt_add(x, x, y) == NULL);
  CHECK(gt_add(NULL, x, x) == NULL); /* out is NULL while an error is pending */
  CHECK(gt_eval(NULL, "a", x) == NULL && gt_matmul(NULL, x, x) == NULL);
  CHECK(gt_sum(NULL, x, GT_ALL, 0) == NULL && gt_copy(NULL, x) == NULL);
  CHECK(gt_to_array(y, &one, 4) != GT_OK);
  gt_free(y);
  z = gt_add(x, x, x); /* no NULL: it runs */
  CHECK(z == x);
  gt_reshape(x, GT_SHAPE(4)); /* a second error is not kept */
  CHECK_STR(gt_error_message(), first);
  CHECK_INT(handled, 1);
  gt_clear_error();
  CHECK_STR(gt_error_message(), "");
  CHECK_INT(gt_error(), GT_OK);
  gt_set_error_handler(check_handler, NULL);
  CHECK_VALUES(x, 2, 2);
  for (t = 0; t < 13; t++) CHECK(strlen(gt_status_string((gt_status)t)) > 4);
  CHECK_STR(gt_status_string((gt_status)77), "unknown status");
  CHECK_STR(gt_status_string((gt_status)-1), "unknown status");
  REFUSED(gt_add(NULL, NULL, x), GT_ERROR_ARGUMENT, "gt_add: operand 1 is NULL");
  REFUSED(gt_add(NULL, x, NULL), GT_ERROR_ARGUMENT, "gt_add: operand 2 is NULL");
  REFUSED(gt_contiguous(NULL), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_fill(NULL, 1), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_empty_like(NULL), GT_ERROR_ARGUMENT, "gt_empty_like");
  REFUSED(gt_zeros_like(NULL), GT_ERROR_ARGUMENT, "gt_zeros_like");
  REFUSED_IF(gt_numel(NULL) == 0, GT_ERROR_ARGUMENT, "gt_numel");
  REFUSED_IF(gt_nbytes(NULL) == 0, GT_ERROR_ARGUMENT, "gt_nbytes");
  REFUSED_IF(gt_shape_of(NULL).ndim == 0, GT_ERROR_ARGUMENT, "gt_shape_of");
  REFUSED_IF(gt_is_contiguous(NULL) == 0, GT_ERROR_ARGUMENT, "gt_is_contiguous");
}

/* ---- converting ---- */
static double convert_reference(gt_dtype from, gt_dtype to, const void *p, int64_t i, void *out) {
  if (from <= GT_INT64 && to <= GT_INT64) store_int(to, out, 0, load_int(from, p, i));
  else if (from <= GT_INT64) store_int(to, out, 0, load_int(from, p, i));
  else store(to, out, 0, load(from, p, i));
  return load(to, out, 0);
}
static void test_conversions(void) {
  static const double v[] = {
      0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, 127, 128, -128, -129, 255, 256, 257, -1.99,
      300.99, 32767, 32768, -32769, 65503, 65519.9, 65520, 65535, 70000, 2147483647,
      2147483648.0, -2147483649.0, 4294967296.0, 16777217, 9223372036854775807.0,
      -9223372036854775808.0, 1e19, -1e19, 3.3e38, 3.4e38, 3.5e38, 1e300, -1e300, 1e-5,
      6e-8, 2.9e-8, 3e-8, 1e-40, 1e-46, 1e-320, INFINITY, -INFINITY, NAN, 1.00048828125,
      1.00146484375, 1.00390625, 1.01171875, 0.1, 1.000000059604644775390625,
      1.0000001788139343};
  const int n = (int)(sizeof v / sizeof *v);
  enum { RANDOM = 3000 };
  int from, to;
  for (from = 0; from < GT_DTYPES; from++)
    for (to = 0; to < GT_DTYPES; to++) GT_SCOPE {
        unsigned char *p = (unsigned char *)calloc(RANDOM + 100, 8), cell[8], *q;
        gt_tensor *x, *y;
        int64_t i;
        for (i = 0; i < RANDOM + n; i++)
          if (i < n) store((gt_dtype)from, p, i, v[i]);
          else if (!is_float((gt_dtype)from)) store_int((gt_dtype)from, p, i, rnd_int());
          else store((gt_dtype)from, p, i, i & 1 ? double_of(rnd()) : rnd_scaled(50));
        x = gt_from_array(p, GT_SHAPE(RANDOM + n), (gt_dtype)from, DEV);
        y = gt_to_dtype(x, (gt_dtype)to);
        CHECK(y && y->dtype == (gt_dtype)to);
        q = (unsigned char *)values_of(y);
        for (i = 0; y && i < RANDOM + n; i++) {
          convert_reference((gt_dtype)from, (gt_dtype)to, p, i, cell);
          if (!same((gt_dtype)to, cell, q + (size_t)i * gt_dtype_size((gt_dtype)to), 0)) {
            check_report(__FILE__, __LINE__, "%s to %s: %.17g gives %.17g, not %.17g",
                         gt_dtype_string((gt_dtype)from), gt_dtype_string((gt_dtype)to),
                         load((gt_dtype)from, p, i), load((gt_dtype)to, q, i),
                         load((gt_dtype)to, cell, 0));
            break;
          }
        }
        digest((gt_dtype)to, q, y ? gt_numel(y) : 0);
        if (y) { /* the same through gt_copy, strided, and by a broadcast */
          gt_tensor *z = relayout(gt_zeros(GT_SHAPE(RANDOM + n), (gt_dtype)to, DEV), 4);
          CHECK(gt_copy(z, x) == z);
          CHECK_SAME(z, y);
          z = gt_copy(gt_empty(GT_SHAPE(2, 3), (gt_dtype)to, DEV), gt_slice(x, 0, 2, 5, 1));
          CHECK_SAME(gt_select(z, 0, 1), gt_slice(y, 0, 2, 5, 1));
        }
        free(p);
        free(q);
      }
}
/* x becomes this 16-bit float, by each way from a number or a tensor to one. */
static void one_rounding(gt_dtype to, const void *x, gt_dtype from, double number) {
  const uint16_t want = small_encode(number, to == GT_FLOAT16 ? 10 : 7, to == GT_FLOAT16 ? 15 : 127);
  char text[40];
  GT_SCOPE {
    gt_tensor *one = gt_from_array(x, GT_SHAPE(1), from, DEV), *way[9];
    gt_tensor *many = gt_copy(gt_empty(GT_SHAPE(70), from, DEV), one);
    gt_tensor *scalar = from == GT_FLOAT64 ? gt_scalar(number) : gt_scalar_int64((int64_t)number);
    int i, n = 0;
    snprintf(text, sizeof text, "%s(a)", gt_dtype_string(to));
    way[n++] = gt_to_dtype(one, to);
    way[n++] = gt_copy(gt_empty(GT_SHAPE(1), to, DEV), one);
    way[n++] = gt_select(gt_to_dtype(many, to), 0, 69);
    way[n++] = gt_eval(NULL, text, one);
    way[n++] = gt_eval(gt_empty(GT_SHAPE(1), to, DEV), "a", scalar);
    way[n++] = gt_copy(gt_empty(GT_SHAPE(1), to, DEV), scalar);
    if (from == GT_FLOAT64 || number == (double)(int64_t)number) {
      way[n++] = gt_full(GT_SHAPE(1), number, to, DEV);
      way[n++] = gt_fill(gt_empty(GT_SHAPE(1), to, DEV), number);
    }
    snprintf(text, sizeof text, "%s(a) * 1.0", gt_dtype_string(to));
    way[n++] = gt_eval(NULL, text, one); /* computed apart */
    for (i = 0; i < n; i++) {
      uint16_t *h = (uint16_t *)values_of(way[i]);
      CHECK_TEXT(way[i] && way[i]->dtype == to && *h == want, "%s %.20g to %s, way %d: %#x, not %#x (%s)",
                 gt_dtype_string(from), number, gt_dtype_string(to), i, *h, want, gt_error_message());
      gt_clear_error();
      free(h);
    }
  }
}
/* At the middle between two 16-bit floats, and beside it by less than a float32 shows. */
static void test_one_rounding(void) {
  static const struct { gt_dtype to; uint16_t bits; } at[] = {
      {GT_FLOAT16, 0x3c00}, {GT_FLOAT16, 0x3c01}, {GT_FLOAT16, 0xbc00}, {GT_FLOAT16, 0xbc01},
      {GT_FLOAT16, 0x0000}, {GT_FLOAT16, 0x0001}, {GT_FLOAT16, 0x03ff}, {GT_FLOAT16, 0x0400},
      {GT_FLOAT16, 0x7bfe}, {GT_FLOAT16, 0x7bff}, {GT_BFLOAT16, 0x3f80}, {GT_BFLOAT16, 0x3f81},
      {GT_BFLOAT16, 0xbf80}, {GT_BFLOAT16, 0xbf81}, {GT_BFLOAT16, 0x0000}, {GT_BFLOAT16, 0x0001},
      {GT_BFLOAT16, 0x007f}, {GT_BFLOAT16, 0x0080}, {GT_BFLOAT16, 0x7f7e}, {GT_BFLOAT16, 0x7f7f}};
  static const int64_t whole[] = {1, 128, 129, 255};
  int i, k, sign;
  for (i = 0; i < (int)(sizeof at / sizeof *at); i++) {
    const int half = at[i].to == GT_FLOAT16, top = (at[i].bits & 0x7fff) == (half ? 0x7bff : 0x7f7f);
    const double x = half_value(!half, at[i].bits);
    const double next = top ? copysign(half ? 65536 : 0x1p128, x) : half_value(!half, (uint16_t)(at[i].bits + 1));
    const double middle = (x + next) / 2, beside[] = {middle, nextafter(middle, x), nextafter(middle, next)};
    for (k = 0; k < 3; k++) one_rounding(at[i].to, &beside[k], GT_FLOAT64, beside[k]);
  }
  for (i = 0; i < 4; i++) /* 2^30 and 2^62 times as much, one more, one less */
    for (k = -1; k <= 1; k++)
      for (sign = -1; sign <= 1; sign += 2) {
        const int32_t v = (int32_t)(sign * ((whole[i] << 22 | 1 << 21) + k));
        const int64_t w = sign * ((whole[i] << 54 | INT64_C(1) << 53) + k);
        one_rounding(GT_BFLOAT16, &v, GT_INT32, v);
        one_rounding(GT_FLOAT16, &v, GT_INT32, v);
        if (k == 0) one_rounding(GT_BFLOAT16, &w, GT_INT64, (double)w);
      }
  for (k = -1; k <= 1; k += 2) { /* which no double shows */
    const int64_t w = (INT64_C(257) << 54) + k, v = -w;
    gt_tensor *x = gt_from_array(&w, GT_SHAPE(1), GT_INT64, DEV);
    gt_tensor *y = gt_from_array(&v, GT_SHAPE(1), GT_INT64, DEV);
    CHECK_NUM(gt_item(gt_to_dtype(x, GT_BFLOAT16)), ldexp(k < 0 ? 256 : 258, 54));
    CHECK_NUM(gt_item(gt_to_dtype(y, GT_BFLOAT16)), -ldexp(k < 0 ? 256 : 258, 54));
  }
}
/* A NaN with any payload stays a NaN. */
static void test_nan_payloads(void) {
  static const uint64_t low[] = {1, 2, 0x100, 0xffff, 0x10000, 0x1fffffff, 0x20000000, 0xfffffffffffff};
  int i, to, sign;
  for (i = 0; i < 8; i++)
    for (sign = 0; sign < 2; sign++)
      for (to = GT_FLOAT16; to <= GT_BFLOAT16; to++) {
        const double d = double_of((uint64_t)sign << 63 | 0x7ff0000000000000u | low[i]);
        const float f = float_of((uint32_t)sign << 31 | 0x7f800000u | (uint32_t)(low[i] & 0x7fffff));
        gt_tensor *x = gt_from_array(&d, GT_SHAPE(1), GT_FLOAT64, DEV);
        gt_tensor *y = gt_from_array(&f, GT_SHAPE(1), GT_FLOAT32, DEV);
        CHECK(isnan(gt_item(gt_to_dtype(x, (gt_dtype)to))));
        if (f != f) CHECK(isnan(gt_item(gt_to_dtype(y, (gt_dtype)to))));
      }
}
static void test_every_float16(void) {
  uint16_t *h = (uint16_t *)malloc(65536 * 2);
  int t, i;
  for (i = 0; i < 65536; i++) h[i] = (uint16_t)i;
  for (t = GT_FLOAT16; t <= GT_BFLOAT16; t++) {
    gt_tensor *x = gt_from_array(h, GT_SHAPE(65536), (gt_dtype)t, DEV);
    float *f = (float *)values_of(gt_to_dtype(x, GT_FLOAT32));
    for (i = 0; i < 65536; i++) {
      const float want = (float)load((gt_dtype)t, h, i);
      if (bits_of(f[i]) != bits_of(want) && (f[i] == f[i] || want == want)) {
        check_report(__FILE__, __LINE__, "%s %#x is %.9g, not %.9g", gt_dtype_string((gt_dtype)t),
                     i, f[i], want);
        break;
      }
    }
    CHECK_SAME(gt_to_dtype(gt_to_dtype(x, GT_FLOAT32), (gt_dtype)t), x);
    CHECK_SAME(gt_to_dtype(gt_to_dtype(x, GT_FLOAT64), (gt_dtype)t), x);
    free(f);
  }
  free(h);
}

/* ---- copying ---- */
static void test_copies(void) {
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(2, 3), 1, 2, 3, 4, 5, 6), *y, *b;
  y = gt_copy(NULL, gt_transpose(x, 0, 1));
  CHECK(gt_is_contiguous(y) && y->storage != x->storage);
  CHECK_VALUES(y, 1, 4, 2, 5, 3, 6);
  CHECK(gt_copy(gt_transpose(x, 0, 1), y) != NULL);
  CHECK_VALUES(x, 1, 2, 3, 4, 5, 6);
  CHECK_VALUES(gt_copy(gt_empty(GT_SHAPE(2, 2), GT_INT64, DEV), gt_scalar_int64(INT64_C(1) << 60)),
               0x1p60, 0x1p60, 0x1p60, 0x1p60);
  CHECK_INT(gt_item_int64(gt_copy(gt_empty(GT_SHAPE(1), GT_INT64, DEV),
                                  gt_scalar_int64((INT64_C(1) << 60) + 1))),
            (INT64_C(1) << 60) + 1);
  y = gt_contiguous(x);
  CHECK(y != x && y->storage == x->storage);
  y = gt_contiguous(gt_transpose(x, 0, 1));
  CHECK(y->storage != x->storage && gt_is_contiguous(y));
  CHECK(gt_to(x, DEV)->storage == x->storage);
  CHECK(gt_to_dtype(x, GT_FLOAT32)->storage == x->storage);
  CHECK_SAME(gt_to(gt_to(x, gt_cpu()), DEV), x);
  CHECK_SAME(gt_to(gt_transpose(x, 0, 1), gt_cpu()), gt_transpose(x, 0, 1));
  /* overlap: through a temporary */
  b = gt_arange(0, 10, 1, GT_INT32, DEV);
  CHECK(gt_copy(gt_slice(b, 0, 1, 10, 1), gt_slice(b, 0, 0, 9, 1)) != NULL);
  CHECK_VALUES(b, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8);
  b = gt_reshape(gt_arange(0, 9, 1, GT_FLOAT64, DEV), GT_SHAPE(3, 3));
  CHECK(gt_copy(b, gt_transpose(b, 0, 1)) == b);
  CHECK_VALUES(b, 0, 3, 6, 1, 4, 7, 2, 5, 8);
  b = gt_arange(0, 8, 1, GT_FLOAT32, DEV);
  CHECK(gt_add(gt_slice(b, 0, 1, 8, 1), gt_slice(b, 0, 0, 7, 1), gt_slice(b, 0, 1, 8, 1)) != NULL);
  CHECK_VALUES(b, 0, 1, 3, 5, 7, 9, 11, 13);
  CHECK_VALUES(gt_fill(gt_slice(b, 0, 0, 8, 3), -1), -1, -1, -1);
  CHECK_VALUES(b, -1, 1, 3, -1, 7, 9, -1, 13);
  REFUSED(gt_copy(x, gt_ones(GT_SHAPE(2, 2), GT_INT8, DEV)), GT_ERROR_SHAPE, "gt_copy");
  REFUSED(gt_copy(gt_expand(gt_ones(GT_SHAPE(1), GT_INT8, DEV), GT_SHAPE(4)), gt_scalar(1)),
          GT_ERROR_ARGUMENT, "gt_copy: the output's elements share memory");
  REFUSED(gt_fill(gt_expand(x, GT_SHAPE(2, 2, 3)), 1), GT_ERROR_ARGUMENT, "share memory");
  REFUSED(gt_neg(gt_expand(gt_select(x, 0, 0), GT_SHAPE(2, 3)), x), GT_ERROR_ARGUMENT,
          "share memory");
  REFUSED(gt_neg(y, x), GT_ERROR_SHAPE, "gt_neg: the output is (3, 2), the result (2, 3)");
  REFUSED(gt_neg(gt_empty(GT_SHAPE(1, 2, 3), GT_FLOAT32, DEV), x), GT_ERROR_SHAPE, "gt_neg");
  CHECK_VALUES(gt_neg(gt_empty(GT_SHAPE(2, 3), GT_INT64, DEV), x), -1, -2, -3, -4, -5, -6);
  CHECK_VALUES(gt_neg(gt_empty(GT_SHAPE(2, 3), GT_FLOAT16, DEV), x), -1, -2, -3, -4, -5, -6);
  CHECK_VALUES(gt_lt(gt_empty(GT_SHAPE(2, 3), GT_FLOAT64, DEV), x, gt_scalar(3)), 1, 1, 0, 0, 0, 0);
  REFUSED(gt_to_dtype(x, (gt_dtype)55), GT_ERROR_DTYPE, "gt_to_dtype");
  REFUSED(gt_copy(NULL, NULL), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_copy(x, NULL), GT_ERROR_ARGUMENT, "NULL");
  if (DEV.type == GT_CUDA) {
    REFUSED(gt_add(NULL, x, gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cpu())), GT_ERROR_DEVICE,
            "gt_to moves");
    REFUSED(gt_add(gt_ones(GT_SHAPE(2, 3), GT_FLOAT32, gt_cpu()), x, x), GT_ERROR_DEVICE,
            "the output is on cpu");
    REFUSED(gt_matmul(NULL, x, gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cpu())), GT_ERROR_DEVICE,
            "gt_to moves");
  } else if (!gt_cuda_is_available()) {
    skip("operands on two devices", "no GPU");
  }
}

/* A matrix, or several, transposed: from a part of rows + pad by columns + pad elements to a part of as
   many. All bytes are as the source has them, and what lies around the part is as it was. */
static void check_transposed(gt_dtype t, int64_t batch, int64_t rows, int64_t columns, int64_t pad, int apart) {
  const size_t size = gt_dtype_size(t);
  const int64_t down = columns + pad, across = rows + pad, wide = columns + pad;
  const size_t n = (size_t)(batch * down * across), n_out = (size_t)(batch * rows * wide);
  unsigned char *from = (unsigned char *)malloc(n * size), *to = (unsigned char *)malloc(n_out * size);
  int64_t wrong = 0;
  uint32_t seed = 1;
  size_t k;
  for (k = 0; k < n * size; k++) {
    seed = seed * 1664525u + 1013904223u;
    from[k] = (unsigned char)(t == GT_BOOL ? seed >> 31 : seed >> 24);
  }
  memset(to, t == GT_BOOL ? 1 : 0x5a, n_out * size);
  GT_SCOPE {
    const gt_shape outer = apart ? GT_SHAPE(rows, batch, wide) : GT_SHAPE(batch, rows, wide);
    gt_tensor *x = gt_from_array(from, GT_SHAPE(batch, down, across), t, DEV);
    gt_tensor *y = gt_from_array(to, outer, t, DEV), *out = gt_slice(y, 2, 0, columns, 1);
    if (apart) out = gt_transpose(out, 0, 1);
    x = gt_slice(gt_slice(x, 1, pad, down, 1), 2, pad, across, 1);
    CHECK(gt_copy(out, gt_transpose(x, 1, 2)) == out);
    CHECK_INT(gt_to_array(y, to, n_out * size), GT_OK);
  }
  for (k = 0; k < n_out; k++) {
    const int64_t c = (int64_t)k % wide, line = (int64_t)k / wide;
    const int64_t b = apart ? line % batch : line / rows, r = apart ? line / batch : line % rows;
    const unsigned char *x = from + (size_t)((b * down + c + pad) * across + r + pad) * size;
    size_t i;
    for (i = 0; i < size; i++) {
      const unsigned char expected = c < columns ? x[i] : t == GT_BOOL ? 1 : 0x5a;
      wrong += to[k * size + i] != expected;
    }
  }
  CHECK_TEXT(wrong == 0, "%s, %d of %d x %d, pad %d: %d bytes are wrong", gt_dtype_string(t), (int)batch,
             (int)rows, (int)columns, (int)pad, (int)wrong);
  free(from);
  free(to);
}
static void test_transposed(void) {
  static const int64_t sizes[] = {1, 8, 24, 100, 120, 128, 136, 264};
  static const gt_dtype dtypes[] = {GT_INT16, GT_BFLOAT16, GT_BOOL, GT_FLOAT32, GT_INT64};
  int i, j, k, n = sizeof sizes / sizeof *sizes;
  for (k = 0; k < 5; k++)
    for (i = 0; i < n; i++)
      for (j = 0; j < n; j++) {
        const int odd = (i + j + k) % 3;
        check_transposed(dtypes[k], 1 + 2 * (odd == 1), sizes[i], sizes[j], odd == 2 ? 8 : 0, (i + j) % 2);
        if (k < 2) check_transposed(dtypes[k], 2, sizes[i], sizes[j], odd, (i + j) % 2);
      }
}

static void test_cat_and_stack(void) {
  gt_tensor *a = TENSOR(GT_INT32, GT_SHAPE(2, 2), 1, 2, 3, 4),
            *b = TENSOR(GT_INT8, GT_SHAPE(2, 1), 5, 6);
  gt_tensor *e = gt_zeros(GT_SHAPE(2, 0), GT_INT32, DEV), *out;
  const gt_tensor *list[4], *many[40];
  int i;
  list[0] = a, list[1] = b, list[2] = e, list[3] = gt_transpose(a, 0, 1);
  out = gt_cat(NULL, 4, list, 1);
  CHECK_SHAPE(out, 2, 5);
  CHECK_INT(out->dtype, GT_INT32);
  CHECK_VALUES(out, 1, 2, 5, 1, 3, 3, 4, 6, 2, 4);
  CHECK_VALUES(gt_cat(NULL, 1, list, -1), 1, 2, 3, 4);
  list[1] = gt_full(GT_SHAPE(1, 2), 2.5, GT_FLOAT32, DEV);
  CHECK_VALUES(gt_cat(NULL, 2, list, 0), 1, 2, 3, 4, 2.5, 2.5);
  out = gt_full(GT_SHAPE(5, 3), 9, GT_FLOAT32, DEV);
  CHECK(gt_cat(gt_slice(gt_slice(out, 0, 1, 4, 1), 1, 1, 3, 1), 2, list, 0) != NULL);
  CHECK_VALUES(out, 9, 9, 9, 9, 1, 2, 9, 3, 4, 9, 2.5, 2.5, 9, 9, 9);
  list[1] = gt_full(GT_SHAPE(2, 2), 7, GT_INT32, DEV);
  CHECK_VALUES(gt_stack(NULL, 2, list, 0), 1, 2, 3, 4, 7, 7, 7, 7);
  CHECK_VALUES(gt_stack(NULL, 2, list, -1), 1, 7, 2, 7, 3, 7, 4, 7);
  CHECK_SHAPE(gt_stack(NULL, 2, list, 1), 2, 2, 2);
  for (i = 0; i < 40; i++) many[i] = gt_full(GT_SHAPE(3), i, GT_INT64, DEV);
  CHECK_SHAPE(gt_stack(NULL, 40, many, 0), 40, 3);
  CHECK_VALUES(gt_slice(gt_cat(NULL, 40, many, 0), 0, 0, 120, 30), 0, 10, 20, 30);
  /* the output may be an input's memory */
  out = gt_arange(0, 4, 1, GT_INT32, DEV);
  list[0] = gt_slice(out, 0, 2, 4, 1), list[1] = gt_slice(out, 0, 0, 2, 1);
  CHECK(gt_cat(out, 2, list, 0) == out);
  CHECK_VALUES(out, 2, 3, 0, 1);
  /* torch.cat passes over tensors of shape (0), which have a dtype all the same */
  list[0] = list[2] = gt_empty(GT_SHAPE(0), GT_FLOAT32, DEV), list[1] = a;
  out = gt_cat(NULL, 3, list, -1);
  CHECK_SHAPE(out, 2, 2);
  CHECK_INT(out->dtype, GT_FLOAT32);
  CHECK_VALUES(out, 1, 2, 3, 4);
  list[1] = list[0];
  CHECK_SHAPE(gt_cat(NULL, 3, list, 0), 0);
  list[1] = a, list[2] = b;
  CHECK_VALUES(gt_cat(gt_empty(GT_SHAPE(2, 3), GT_FLOAT32, DEV), 3, list, 1), 1, 2, 5, 3, 4, 6);
  REFUSED(gt_cat(NULL, 3, list, 0), GT_ERROR_SHAPE, "tensor 2 is (2, 2), tensor 3 (2, 1)");
  REFUSED(gt_stack(NULL, 2, list, 0), GT_ERROR_SHAPE, "tensor 1 is (0,), tensor 2 (2, 2)");
  list[0] = a, list[1] = b;
  REFUSED(gt_cat(NULL, 2, list, 0), GT_ERROR_SHAPE, "gt_cat");
  REFUSED(gt_stack(NULL, 2, list, 0), GT_ERROR_SHAPE, "gt_stack");
  REFUSED(gt_cat(NULL, 2, list, 2), GT_ERROR_ARGUMENT, "dim 2");
  REFUSED(gt_stack(NULL, 1, list, 3), GT_ERROR_ARGUMENT, "dim 3");
  REFUSED(gt_cat(NULL, 0, list, 0), GT_ERROR_ARGUMENT, "gt_cat");
  REFUSED(gt_cat(NULL, 2, NULL, 0), GT_ERROR_ARGUMENT, "gt_cat");
  list[1] = NULL;
  REFUSED(gt_cat(NULL, 2, list, 0), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_stack(NULL, 2, list, 0), GT_ERROR_ARGUMENT, "NULL");
  list[0] = gt_scalar(1);
  REFUSED(gt_cat(NULL, 1, list, 0), GT_ERROR_SHAPE, "tensors of 0 dimensions cannot be joined");
  list[0] = gt_ones(GT_SHAPE(1, 1, 1, 1, 1, 1, 1, 1), GT_INT8, DEV);
  REFUSED(gt_stack(NULL, 1, list, 0), GT_ERROR_SHAPE, "gt_stack");
}

static void test_index_select(void) {
  gt_tensor *x = gt_reshape(gt_arange(0, 12, 1, GT_FLOAT32, DEV), GT_SHAPE(3, 4)), *out;
  gt_tensor *i64 = TENSOR(GT_INT64, GT_SHAPE(3), 2, 0, 2),
            *i32 = TENSOR(GT_INT32, GT_SHAPE(2), 3, 1);
  gt_tensor *number = gt_full(GT_SHAPE_0D, 5, GT_INT16, DEV);
  gt_tensor *first = gt_zeros(GT_SHAPE(1), GT_INT32, DEV);
  CHECK_SHAPE_0D(out = gt_index_select(NULL, number, -1, first)); /* as PyTorch */
  CHECK_VALUES(out, 5);
  out = gt_zeros(GT_SHAPE_0D, GT_FLOAT32, DEV);
  CHECK_VALUES(gt_index_select(out, number, 0, first), 5);
  REFUSED(gt_index_select(NULL, number, 0, i64), GT_ERROR_SHAPE,
          "a tensor without dims has one entry, the index names 3");
  REFUSED(gt_index_select(NULL, number, 1, first), GT_ERROR_ARGUMENT, "dim 1 is out of range");
  if (DEV.type == GT_CPU) REFUSED(gt_index_select(NULL, number, 0, gt_slice(i64, 0, 0, 1, 1)),
                                  GT_ERROR_ARGUMENT, "index[0] is 2, the dim has 1 entries");
  CHECK_VALUES(gt_index_select(NULL, x, 0, i64), 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11);
  CHECK_VALUES(gt_index_select(NULL, x, -1, i32), 3, 1, 7, 5, 11, 9);
  CHECK_VALUES(gt_index_select(NULL, gt_transpose(x, 0, 1), 0, i32), 3, 7, 11, 1, 5, 9);
  CHECK_VALUES(gt_index_select(NULL, x, 1, gt_slice(gt_reshape(gt_arange(0, 6, 1, GT_INT64, DEV),
                                                               GT_SHAPE(6)), 0, 0, 4, 2)),
               0, 2, 4, 6, 8, 10);
  CHECK_SHAPE(gt_index_select(NULL, x, 0, gt_zeros(GT_SHAPE(0), GT_INT64, DEV)), 0, 4);
  out = gt_full(GT_SHAPE(3, 3), -1, GT_FLOAT32, DEV);
  CHECK(gt_index_select(gt_slice(out, 1, 0, 2, 1), x, 1, i32) != NULL);
  CHECK_VALUES(out, 3, 1, -1, 7, 5, -1, 11, 9, -1);
  CHECK(gt_index_select(
            x, x, 0, gt_from_array((const int64_t[]){1, 2, 0}, GT_SHAPE(3), GT_INT64, DEV)) == x);
  CHECK_VALUES(gt_select(x, 1, 0), 4, 8, 0);
  REFUSED(gt_index_select(NULL, x, 0, TENSOR(GT_FLOAT32, GT_SHAPE(1), 0)), GT_ERROR_ARGUMENT,
          "the index must be int32 or int64, not float32 (1,)");
  REFUSED(gt_index_select(NULL, x, 2, i64), GT_ERROR_ARGUMENT, "gt_index_select: dim 2");
  REFUSED(gt_index_select(NULL, NULL, 0, i64), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_index_select(NULL, x, 0, NULL), GT_ERROR_ARGUMENT, "NULL");
  if (DEV.type == GT_CPU) {
    REFUSED(gt_index_select(NULL, x, 0, i32), GT_ERROR_ARGUMENT,
            "index[0] is 3, the dim has 3 entries");
    REFUSED(gt_index_select(NULL, x, 0, TENSOR(GT_INT64, GT_SHAPE(2), 1, -1)), GT_ERROR_ARGUMENT,
            "index[1] is -1");
  } else { /* zeros, and the next wait reports it */
    gt_tensor *y = gt_index_select(NULL, x, 0, i32);
    CHECK_INT(gt_error(), GT_OK);
    REFUSED_IF(gt_synchronize(DEV) != GT_OK, GT_ERROR_ARGUMENT, "out of range");
    CHECK_VALUES(gt_select(y, 0, 0), 0, 0, 0, 0);
  }
}

/* Each entry is what gt_select takes: elements of all sizes, along each dim of tensors however they
   lie, sizes of 1, one entry and several. */
static void test_index_select_everywhere(void) {
  static const gt_dtype dtypes[] = {GT_UINT8, GT_BFLOAT16, GT_FLOAT32, GT_FLOAT64};
  const gt_shape shapes[] = {GT_SHAPE(7, 1, 9), GT_SHAPE(40, 33, 5), GT_SHAPE(1, 300, 6), GT_SHAPE(2, 3, 700),
                             GT_SHAPE(1, 1, 1)};
  const gt_shape orders[] = {GT_SHAPE(0, 1, 2), GT_SHAPE(2, 0, 1), GT_SHAPE(1, 2, 0)};
  for (int i = 0; i < 4 * 5 * 3 * 3 * 2; i++) {
    gt_scope scope;
    gt_scope_push(&scope);
    const gt_shape shape = shapes[i / 4 % 5];
    const int dim = i / 60 % 3, n = i / 180 ? 1 : 6;
    gt_tensor *x = gt_reshape(gt_arange(0, 100003, 1, GT_FLOAT32, DEV), GT_SHAPE(100003));
    x = gt_slice(x, 0, 0, shape.size[0] * shape.size[1] * shape.size[2], 1);
    x = gt_permute(gt_reshape(gt_to_dtype(x, dtypes[i % 4]), shape), orders[i / 20 % 3]);
    int64_t entry[6];
    for (int k = 0; k < n; k++) entry[k] = (k * 5 + i) % x->shape[dim];
    gt_tensor *y = gt_index_select(NULL, x, dim, gt_from_array(entry, GT_SHAPE(n), GT_INT64, DEV));
    for (int k = 0; k < n; k++) CHECK_SAME(gt_select(y, dim, k), gt_select(x, dim, entry[k]));
    gt_scope_pop(&scope);
  }
}

/* ---- promotion ---- */
static void test_promotion(void) {
  enum { b1 = GT_BOOL, u1 = GT_UINT8, i1 = GT_INT8, i2 = GT_INT16, i4 = GT_INT32, i8 = GT_INT64,
         f2 = GT_FLOAT16, bf = GT_BFLOAT16, f4 = GT_FLOAT32, f8 = GT_FLOAT64 };
  static const unsigned char torch[10][10] = { /* torch.promote_types */
      {b1, u1, i1, i2, i4, i8, f2, bf, f4, f8}, {u1, u1, i2, i2, i4, i8, f2, bf, f4, f8},
      {i1, i2, i1, i2, i4, i8, f2, bf, f4, f8}, {i2, i2, i2, i2, i4, i8, f2, bf, f4, f8},
      {i4, i4, i4, i4, i4, i8, f2, bf, f4, f8}, {i8, i8, i8, i8, i8, i8, f2, bf, f4, f8},
      {f2, f2, f2, f2, f2, f2, f2, f4, f4, f8}, {bf, bf, bf, bf, bf, bf, f4, bf, f4, f8},
      {f4, f4, f4, f4, f4, f4, f4, f4, f4, f8}, {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8}};
  int a, b;
  for (a = 0; a < 10; a++)
    for (b = 0; b < 10; b++) GT_SCOPE {
        gt_tensor *x = gt_ones(GT_SHAPE(2), (gt_dtype)a, DEV),
                  *y = gt_ones(GT_SHAPE(2), (gt_dtype)b, DEV);
        gt_tensor *zero = gt_ones(GT_SHAPE_0D, (gt_dtype)b, DEV);
        const int ka = a == 0 ? 0 : a < 6 ? 1 : 2, kb = b == 0 ? 0 : b < 6 ? 1 : 2;
        CHECK_INT(gt_promote_types((gt_dtype)a, (gt_dtype)b), torch[a][b]);
        CHECK_INT(gt_add(NULL, x, y)->dtype, torch[a][b]);
        /* a 0-d tensor counts only where its kind is higher, and then as PyTorch's: by its own
           dtype */
        CHECK_INT(gt_mul(NULL, x, zero)->dtype, kb > ka ? torch[a][b] : a);
        CHECK_INT(gt_mul(NULL, zero, x)->dtype, kb > ka ? torch[a][b] : a);
        CHECK_INT(gt_mul(NULL, gt_select(x, 0, 0), zero)->dtype, torch[a][b]);
      }
  for (a = 0; a < 10; a++) GT_SCOPE { /* numbers */
      gt_tensor *x = gt_ones(GT_SHAPE(2), (gt_dtype)a, DEV),
                *x0 = gt_ones(GT_SHAPE_0D, (gt_dtype)a, DEV);
      CHECK_INT(gt_mul(NULL, x, gt_scalar(2))->dtype, a < 6 ? GT_FLOAT32 : a);
      CHECK_INT(gt_mul(NULL, x0, gt_scalar(2))->dtype, a < 6 ? GT_FLOAT32 : a);
      CHECK_INT(gt_mul(NULL, gt_scalar_int64(2), x)->dtype, a == 0 ? GT_INT64 : a);
      CHECK_INT(gt_eval(NULL, "a * 2", x)->dtype, a == 0 ? GT_INT64 : a);
      CHECK_INT(gt_eval(NULL, "a * 2.5", x)->dtype, a < 6 ? GT_FLOAT32 : a);
      CHECK_INT(gt_eval(NULL, "a < 2.5", x)->dtype, GT_BOOL);
      CHECK_INT(gt_eval(NULL, "a / a", x)->dtype, a < 6 ? GT_FLOAT32 : a);
      CHECK_INT(gt_where(NULL, gt_ones(GT_SHAPE(2), GT_FLOAT64, DEV), x, x)->dtype, a);
    }
  CHECK_INT(gt_mul(NULL, gt_scalar(1), gt_scalar(2))->dtype, GT_FLOAT32);
  REFUSED_IF(gt_promote_types((gt_dtype)-1, GT_INT8) == GT_FLOAT32, GT_ERROR_DTYPE,
             "gt_promote_types");
}

/* ---- printing, as PyTorch 2 prints ---- */
static const char *printed(const gt_tensor *x) {
  static char text[4000];
  const int64_t needed = gt_to_string(x, text, sizeof text);
  CHECK_INT(needed, strlen(text));
  return text;
}
static void test_printing(void) {
  char small[8] = "......";
  char cuda[40] = "", want[200];
  FILE *file = tmpfile();
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(2, 2), 1, 2.5, -3, 1000),
            *i = gt_arange(0, 3, 1, GT_INT64, DEV);
  if (DEV.type == GT_CUDA) snprintf(cuda, sizeof cuda, ", device='%s'", gt_device_string(DEV));
  snprintf(want, sizeof want, "tensor([[   1.0000,    2.5000],\n        [  -3.0000, 1000.0000]]%s)",
           cuda);
  CHECK_STR(printed(x), want);
  snprintf(want, sizeof want, "tensor([0, 1, 2]%s)", cuda);
  CHECK_STR(printed(i), want);
  snprintf(want, sizeof want, "tensor([ True, False]%s)", cuda);
  CHECK_STR(printed(TENSOR(GT_BOOL, GT_SHAPE(2), 1, 0)), want);
  snprintf(want, sizeof want, "tensor([1., 2.]%s)", cuda);
  CHECK_STR(printed(TENSOR(GT_FLOAT32, GT_SHAPE(2), 1, 2)), want);
  snprintf(want, sizeof want, "tensor([1., nan, inf]%s, dtype=float64)", cuda);
  CHECK_STR(printed(TENSOR(GT_FLOAT64, GT_SHAPE(3), 1, (double)NAN, (double)INFINITY)), want);
  snprintf(want, sizeof want, "tensor(0.5000%s, dtype=float16)", cuda);
  CHECK_STR(printed(TENSOR(GT_FLOAT16, GT_SHAPE_0D, 0.5)), want);
  snprintf(want, sizeof want, "tensor([1.0000e-10, 1.0000e+10]%s)", cuda);
  CHECK_STR(printed(TENSOR(GT_FLOAT32, GT_SHAPE(2), 1e-10, 1e10)), want);
  snprintf(want, sizeof want, "tensor([]%s)", cuda);
  CHECK_STR(printed(gt_empty(GT_SHAPE(0), GT_FLOAT32, DEV)), want);
  snprintf(want, sizeof want, "tensor([   0,    1,    2,  ..., 1998, 1999, 2000]%s)", cuda);
  CHECK_STR(printed(gt_arange(0, 2001, 1, GT_INT64, DEV)), want);
  CHECK_INT(gt_to_string(i, small, sizeof small), (int64_t)strlen(printed(i)));
  CHECK_STR(small, "tensor(");
  CHECK(gt_to_string(i, NULL, 0) > 0);
  CHECK_INT(gt_fprint(file, i), GT_OK);
  CHECK(ftell(file) > 10);
  fclose(file);
  REFUSED_IF(gt_to_string(NULL, small, 8) == -1, GT_ERROR_ARGUMENT, "gt_to_string");
  REFUSED_STATUS(gt_print(NULL), GT_ERROR_ARGUMENT, "gt_print");
  REFUSED_STATUS(gt_fprint(NULL, i), GT_ERROR_ARGUMENT, "gt_fprint");
  REFUSED_STATUS(gt_fprint(stdout, NULL), GT_ERROR_ARGUMENT, "NULL");
}

int main(int argc, char **argv) {
  check_start("tensor", argc, argv);
  RUN(making);
  RUN(every_dtype);
  RUN(sequences);
  RUN(refused_shapes);
  RUN(devices);
  RUN(reading);
  RUN(views);
  RUN(reshape);
  RUN(reshape_of_views);
  RUN(from_ptr);
  RUN(from_const_ptr);
  RUN(scopes);
  RUN(retain_and_leaks);
  RUN(pending_error);
  RUN(conversions);
  RUN(one_rounding);
  RUN(nan_payloads);
  RUN(every_float16);
  RUN(copies);
  RUN(transposed);
  RUN(cat_and_stack);
  RUN(index_select);
  RUN(index_select_everywhere);
  RUN(promotion);
  RUN(printing);
  return check_finish();
}
