/* Error messages: all that the other programs do not meet, and what every call does with an error.
   errors.sh looks for each message of the library in what the programs have written. */
#include "check.h"

static gt_tensor *ones(gt_shape shape, gt_dtype dtype) { return gt_ones(shape, dtype, DEV); }

/* ---- texts of expressions: the message names the place ---- */
static void bad_text(const char *text, const char *message) {
  gt_tensor *x = ones(GT_SHAPE(3), GT_FLOAT32);
  const int64_t before = gt_report_leaks(NULL);
  gt_tensor *y = gt_eval(NULL, text, x, x);
  CHECK_TEXT(y == NULL, "\"%.60s\" was accepted", text);
  CHECK_TEXT(gt_error() == GT_ERROR_EXPRESSION, "\"%.60s\": %s", text, gt_status_string(gt_error()));
  CHECK_TEXT(strstr(gt_error_message(), message) != NULL, "\"%.60s\": \"%s\" lacks \"%s\"", text,
             gt_error_message(), message);
  gt_clear_error();
  gt_free(y);
  CHECK_INT(gt_report_leaks(NULL), before);
}
static char *repeated(const char *piece, int n, const char *end) {
  char *text = (char *)malloc(strlen(piece) * (size_t)n + strlen(end) + 1);
  int i;
  text[0] = 0;
  for (i = 0; i < n; i++) memcpy(text + (size_t)i * strlen(piece), piece, strlen(piece) + 1);
  memcpy(text + strlen(piece) * (size_t)n, end, strlen(end) + 1);
  return text;
}
static void test_texts(void) {
  static const struct { const char *text, *message; } bad[] = {
      {"", "column 1: expected an operand"},
      {"   ", "column 4: expected an operand"},
      {"a +", "column 4: expected an operand"},
      {"a + * b", "column 5: expected an operand"},
      {"()", "column 2: expected an operand"},
      {"a b", "column 3: expected an operator"},
      {"a)", "column 2: expected an operator"},
      {"a = b", "column 3: no operation is called =: x == y"},
      {"a & b", "column 3: no operation is called &: x && y, or bitwise_and(x, y)"},
      {"a; b", "column 2: expected an operator"},
      {"2a", "column 2: expected an operator"},
      {"0x10", "expected an operator"},
      {"(a", "column 3: expected )"},
      {"(a, b)", "column 3: expected )"},
      {"exp(a", "column 6: expected ) or ,"},
      {"exp(a b)", "column 7: expected ) or ,"},
      {"exp a", "column 5: expected ( after the operation's name"},
      {"maximum", "expected ( after the operation's name"},
      {"a ? b", "column 6: expected :"},
      {"a ? b, a", "expected :"},
      {"exp(a, b)", "column 1: exp takes 1 operand"},
      {"maximum(a)", "column 1: maximum takes 2 operands"},
      {"a + where(a, b)", "column 5: where takes 3 operands"},
      {"where(a, b, a, b, a, b)", "where takes 3 operands"},
      {"exp()", "column 5: expected an operand"},
      {"sinus(a)", "column 1: no operation is called sinus"},
      {"a + Exp(a)", "column 5: no operation is called Exp"},
      {"A + a", "no operation is called A"},
      {"_", "no operation is called _"},
      {"aa", "no operation is called aa"},
      {"randn(a)", "no operation is called randn"},
      {"a + c", "column 5: operand c, but 2 operands were given"},
      {"z", "operand z, but 2 operands were given"},
      {"1.2.3", "column 1: a malformed number"},
      {"a + 1e", "column 5: a malformed number"},
      {"1e+", "a malformed number"},
      {"1.5x", "a malformed number"},
      {"1e5e5", "a malformed number"},
      {"0000000000000000000000000000000000000000000000000000000000000000", "more than 60 characters"},
      {"\x80", "expected an operand"},
      {"a \xff b", "expected an operator"},
      {"a\vb", "expected an operator"},
      {"a %% b", "expected an operand"}};
  unsigned i;
  char *text;
  for (i = 0; i < sizeof bad / sizeof *bad; i++)
    bad_text(bad[i].text, bad[i].message);
  bad_text("%s%n", "expected an operand"); /* a text is never a format */
  REFUSED(gt_eval(NULL, "b", ones(GT_SHAPE(2), GT_INT8)), GT_ERROR_EXPRESSION,
          "operand b, but 1 operand was given");
  text = repeated("(", 1001, "a");
  bad_text(text, "nested more than 1000 deep");
  free(text);
  text = repeated("-", 1001, "a");
  bad_text(text, "nested more than 1000 deep");
  free(text);
  text = repeated("a?a:", 1001, "a");
  bad_text(text, "nested more than 1000 deep");
  free(text);
  text = repeated("2**", 600, "a");
  { /* either is right: it is a chain from the right */
    gt_tensor *y = gt_eval(NULL, text, ones(GT_SHAPE(2), GT_FLOAT32), NULL);
    CHECK(y == NULL || gt_numel(y) == 2);
    gt_clear_error();
  }
  free(text);
  text = repeated(" ", 65600, "a");
  bad_text(text, "a text of more than 65535 characters");
  free(text);
  text = repeated("a+", 400, "?"); /* a long text is shown in part */
  bad_text(text, "...\"  at column 801: expected an operand");
  free(text);
  text = repeated("x", 3000, "");
  bad_text(text, "no operation is called xxxxxxxxxx");
  free(text);
  text = repeated("a+", 200, "a"); /* and one that is good */
  CHECK_VALUES(gt_eval(NULL, text, ones(GT_SHAPE(2), GT_FLOAT64)), 201, 201);
  free(text);
}
static void test_eval(void) {
  gt_tensor *x = ones(GT_SHAPE(2, 3), GT_FLOAT32), *y = ones(GT_SHAPE(4), GT_FLOAT32);
  gt_tensor *many[30], *i = ones(GT_SHAPE(3), GT_INT32);
  int k;
  for (k = 0; k < 30; k++) many[k] = i;
  REFUSED(gt_eval_n(NULL, NULL, 1, (const gt_tensor *const *)many), GT_ERROR_ARGUMENT, "the text is NULL");
  REFUSED(gt_eval_n(NULL, "a", 27, (const gt_tensor *const *)many), GT_ERROR_ARGUMENT, "27 operands");
  REFUSED(gt_eval_n(NULL, "a", -1, (const gt_tensor *const *)many), GT_ERROR_ARGUMENT, "-1 operands");
  CHECK_VALUES(gt_eval_n(NULL, "z + a", 26, (const gt_tensor *const *)many), 2, 2, 2);
  REFUSED(gt_eval(NULL, "a + b", x, NULL), GT_ERROR_ARGUMENT, "gt_eval: operand 2 is NULL");
  REFUSED(gt_eval(NULL, "a + b", x, y), GT_ERROR_SHAPE, "operand 2 (4,) does not broadcast with (2, 3)");
  REFUSED(gt_eval(y, "a + a", x), GT_ERROR_SHAPE, "the output is (4,), the result (2, 3)");
  REFUSED(gt_eval(gt_expand(gt_ones(GT_SHAPE(1), GT_FLOAT32, DEV), GT_SHAPE(3)), "a", i), GT_ERROR_ARGUMENT,
          "share memory");
  REFUSED(gt_eval(NULL, "bitwise_and(a, 1)", x), GT_ERROR_DTYPE, "bitwise_and has no meaning for float32");
  REFUSED(gt_bitwise_or(NULL, x, x), GT_ERROR_DTYPE, "gt_bitwise_or: bitwise_or has no meaning for float32");
  REFUSED(gt_eval(NULL, "~a", i), GT_ERROR_EXPRESSION, "no operation is called ~: !x, or bitwise_not(x)");
}
static void test_reductions(void) {
  gt_tensor *x = ones(GT_SHAPE(2, 3), GT_FLOAT32), *none = ones(GT_SHAPE(0, 3), GT_FLOAT32);
  REFUSED(gt_sum(NULL, x, GT_DIM(2), 0), GT_ERROR_ARGUMENT, "dim 2 is out of range for 2 dimensions");
  REFUSED(gt_sum(NULL, x, GT_DIM(-3), 0), GT_ERROR_ARGUMENT, "dim -3 is out of range");
  REFUSED(gt_sum(NULL, x, GT_DIM(8), 0), GT_ERROR_ARGUMENT, "dims 0x80000000 is not GT_ALL");
  REFUSED(gt_sum(NULL, x, 0, 0), GT_ERROR_ARGUMENT, "gt_sum: dims is the bare number 0; write GT_DIM(0)");
  REFUSED(gt_sum(NULL, x, 1u << 24, 0), GT_ERROR_ARGUMENT, "dims 0x1000000 is not");
  REFUSED(gt_max(NULL, none, GT_DIM(0), 0), GT_ERROR_SHAPE, "no elements to choose from in (0, 3)");
  REFUSED(gt_argmin(NULL, none, GT_ALL, 0), GT_ERROR_SHAPE, "no elements to choose from");
  REFUSED(gt_reduce(NULL, (gt_reduction)9, GT_ALL, 0, "a", x), GT_ERROR_ARGUMENT, "9 is not a reduction");
  REFUSED(gt_reduce(NULL, (gt_reduction)-1, GT_ALL, 0, "a", x), GT_ERROR_ARGUMENT, "-1 is not a reduction");
  REFUSED(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a + index", x), GT_ERROR_EXPRESSION,
          "index has no meaning before a fold");
  REFUSED(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a + ", x), GT_ERROR_EXPRESSION, "gt_reduce");
  REFUSED(gt_norm(NULL, x, (double)NAN, GT_ALL, 0), GT_ERROR_ARGUMENT, "gt_norm: p is NaN");
  REFUSED(gt_softmax(NULL, x, 2), GT_ERROR_ARGUMENT, "gt_softmax: dim 2 is out of range");
  REFUSED(gt_var(NULL, NULL, GT_ALL, 1, 0), GT_ERROR_ARGUMENT, "gt_var: operand 1 is NULL");
}
static void test_products(void) {
  gt_tensor *a = ones(GT_SHAPE(4, 5), GT_FLOAT32), *b = ones(GT_SHAPE(4, 5), GT_FLOAT32);
  gt_tensor *p = ones(GT_SHAPE(2, 4, 5), GT_FLOAT32), *q = ones(GT_SHAPE(3, 5, 4), GT_FLOAT32);
  REFUSED(gt_matmul(NULL, a, gt_scalar(2)), GT_ERROR_SHAPE, "both need one dimension at least; gt_mul");
  REFUSED(gt_matmul(NULL, a, b), GT_ERROR_SHAPE, "(4, 5) x (4, 5): inner sizes 5 and 4 differ");
  REFUSED(gt_matmul(NULL, p, q), GT_ERROR_SHAPE, "the batches do not broadcast");
  REFUSED(gt_matmul_eval(NULL, a, gt_transpose(b, 0, 1), "a + index"), GT_ERROR_EXPRESSION,
          "index has no meaning behind a product");
  REFUSED(gt_linear(NULL, a, p, NULL), GT_ERROR_SHAPE, "w is (2, 4, 5); it must be (out, in)");
  REFUSED(gt_linear(NULL, a, NULL, NULL), GT_ERROR_ARGUMENT, "gt_linear: operand 2 is NULL");
  REFUSED(gt_addmm(NULL, NULL, a, gt_transpose(b, 0, 1), 1, 1), GT_ERROR_ARGUMENT, "gt_addmm");
  REFUSED_STATUS(gt_set_float32_matmul_precision((gt_precision)3), GT_ERROR_ARGUMENT, "3 is not a precision");
  CHECK_INT(gt_float32_matmul_precision(), GT_HIGHEST);
}
static void test_joining(void) {
  gt_tensor *a = ones(GT_SHAPE(3), GT_FLOAT32), *b = ones(GT_SHAPE(1, 3), GT_FLOAT32);
  gt_tensor *wide = ones(GT_SHAPE(1, 1, 1, 1, 1, 1, 1, 1), GT_FLOAT32), *number = ones(GT_SHAPE_0D, GT_FLOAT32);
  const gt_tensor *x[2];
  x[0] = a;
  x[1] = b;
  REFUSED(gt_cat(NULL, 2, x, 0), GT_ERROR_SHAPE, "tensor 1 is (3,), tensor 2 (1, 3)");
  REFUSED(gt_stack(NULL, 2, x, 0), GT_ERROR_SHAPE, "tensor 1 is (3,), tensor 2 (1, 3)");
  x[0] = b;
  x[1] = a;
  REFUSED(gt_stack(NULL, 2, x, 0), GT_ERROR_SHAPE, "tensor 2 (3,)");
  REFUSED(gt_cat(NULL, 0, x, 0), GT_ERROR_ARGUMENT, "gt_cat: no tensors given");
  REFUSED(gt_cat(NULL, 1, NULL, 0), GT_ERROR_ARGUMENT, "gt_cat: no tensors given");
  x[0] = x[1] = wide;
  REFUSED(gt_stack(NULL, 2, x, 0), GT_ERROR_SHAPE, "tensors of 8 dimensions cannot be joined");
  x[0] = x[1] = number;
  REFUSED(gt_cat(NULL, 2, x, 0), GT_ERROR_SHAPE, "tensors of 0 dimensions cannot be joined");
  x[0] = x[1] = a;
  REFUSED(gt_cat(NULL, 2, x, 1), GT_ERROR_ARGUMENT, "gt_cat: dim 1 is out of range");
  x[1] = NULL;
  REFUSED(gt_cat(NULL, 2, x, 0), GT_ERROR_ARGUMENT, "gt_cat: operand 2 is NULL");
}

/* ---- out of memory ---- */
static void test_memory(void) {
  gt_tensor *x = ones(GT_SHAPE(3), GT_FLOAT32);
  char text[100];
  REFUSED(gt_empty(GT_SHAPE(INT64_C(1) << 50), GT_FLOAT64, DEV), GT_ERROR_MEMORY, "gt_empty: out of memory");
  hooks_fail_at(1);
  REFUSED(gt_retain(x), GT_ERROR_MEMORY, "gt_retain: out of host memory, asked for");
  REFUSED_IF(gt_event_create() == NULL, GT_ERROR_MEMORY, "gt_event_create: out of host memory");
  REFUSED_IF(gt_to_string(x, text, sizeof text) == -1, GT_ERROR_MEMORY, "out of");
  hooks_fail_at(3); /* past the copy of what is shown */
  REFUSED_IF(gt_to_string(x, text, sizeof text) == -1, GT_ERROR_MEMORY, "out of");
  CHECK_STR(text, "");
  hooks_fail_at(0);
  gt_shutdown(); /* the default stream is made anew */
  hooks_fail_at(1);
  CHECK(gt_current_stream(DEV) != NULL); /* neither that nor a map in place takes memory */
  CHECK(gt_add(x, x, x) == x);
  hooks_fail_at(0);
  CHECK_VALUES(x, 2, 2, 2);
}

/* ---- streams ---- */
static void test_streams(void) {
  enum { MOST = 256 };
  gt_stream *s[MOST];
  gt_statistics stats;
  int i, n = 0;
  CHECK(gt_current_stream(DEV) != NULL);
  while (n < MOST && (s[n] = gt_stream_create(DEV, 0)) != NULL) n++;
  CHECK_TEXT(n > MOST - 4, "%d streams", n); /* a GPU's default stream counts, too */
  if (n == MOST) REFUSED(gt_stream_create(DEV, 0), GT_ERROR_STATE, "gt_stream_create: 256 streams");
  else REFUSED_IF(1, GT_ERROR_STATE, "256 streams are in use; gt_stream_free gives one back");
  CHECK_VALUES(ones(GT_SHAPE(3), GT_FLOAT32), 1, 1, 1);
  gt_stream_free(s[n / 2]);
  gt_synchronize(DEV);
  s[n / 2] = gt_stream_create(DEV, 0);
  CHECK(s[n / 2] != NULL);
  for (i = 0; i < n; i++) gt_stream_free(s[i]);
  REFUSED_STATUS(gt_set_stream_safety((gt_safety)3), GT_ERROR_ARGUMENT, "3 is not a choice");
  REFUSED_STATUS(gt_set_stream_safety((gt_safety)-1), GT_ERROR_ARGUMENT, "-1 is not a choice");
  CHECK_INT(gt_stream_safety(), GT_ORDER);
  REFUSED_STATUS(gt_stats(NULL), GT_ERROR_ARGUMENT, "gt_stats: out is NULL");
  CHECK_INT(gt_stats(&stats), GT_OK);
  if (DEV.type == GT_CUDA)
    REFUSED(gt_stream_from_native(DEV, NULL), GT_ERROR_ARGUMENT, "the legacy default stream");
}

/* ---- what an error does: the first one stays, and calls with a NULL do nothing ---- */
static int handled;
static char handled_message[800];
static void handler(gt_status status, const char *message, void *user) {
  handled++;
  CHECK(user == &handled);
  CHECK(status == gt_error());
  snprintf(handled_message, sizeof handled_message, "%s", message);
  gt_free(gt_ones(GT_SHAPE(2), GT_INT8, gt_cpu())); /* no lock is held */
  if (check_messages) fprintf(check_messages, "%d\t%s\n", (int)status, message);
}
static void test_first_error(void) {
  gt_tensor *x = ones(GT_SHAPE(3), GT_FLOAT32), *y = ones(GT_SHAPE(4), GT_FLOAT32), *out;
  const int64_t before = gt_report_leaks(NULL);
  int s;
  gt_set_error_handler(handler, &handled);
  handled = 0;
  CHECK(gt_add(NULL, x, y) == NULL);
  CHECK_INT(handled, 1);
  CHECK_STR(handled_message, gt_error_message());
  CHECK(gt_matmul(NULL, x, y) == NULL);
  CHECK(gt_exp(NULL, gt_add(NULL, NULL, x)) == NULL);
  CHECK(gt_exp(NULL, x) == NULL); /* a NULL output with an error pending */
  CHECK(gt_sum(NULL, x, GT_ALL, 0) == NULL && gt_copy(NULL, x) == NULL && gt_softmax(NULL, x, 0) == NULL);
  CHECK(gt_linear(NULL, x, NULL, NULL) == NULL && gt_retain(NULL) == NULL && gt_keep(NULL) == NULL);
  CHECK_INT(gt_numel(NULL), 0);
  CHECK_INT(handled, 1);
  CHECK_STR(handled_message, gt_error_message());
  out = gt_add(x, x, x); /* complete calls go on */
  CHECK(out == x);
  CHECK_INT(gt_error(), GT_ERROR_SHAPE);
  CHECK_INT(gt_report_leaks(NULL), before);
  gt_clear_error();
  CHECK_STR(gt_error_message(), "");
  CHECK_VALUES(x, 2, 2, 2);
  CHECK(gt_add(NULL, x, y) == NULL);
  CHECK_INT(handled, 2);
  gt_clear_error();
  gt_set_error_handler(NULL, NULL);
  CHECK(gt_add(NULL, x, y) == NULL);
  CHECK_INT(handled, 2);
  gt_clear_error();
  gt_set_error_handler(check_handler, NULL);
  for (s = -1; s < 15; s++) CHECK(gt_status_string((gt_status)s) != NULL);
  CHECK_STR(gt_status_string(GT_OK), "no error");
  CHECK_STR(gt_status_string((gt_status)99), "unknown status");
}
/* Messages are cut, never overrun: large shapes, long paths, long texts. */
static void test_long_messages(void) {
  const int64_t big = INT64_MAX / 3;
  char *path = repeated("long/", 300, "file.npy"), *device = repeated("cuda", 500, "");
  gt_shape s = {8, {big, big, big, big, big, big, big, big}};
  REFUSED(gt_empty(s, GT_FLOAT64, DEV), GT_ERROR_SHAPE, "gt_empty");
  REFUSED(gt_load_npy(path, DEV), GT_ERROR_FILE, "gt_load_npy");
  REFUSED_STATUS(gt_save_npy(path, ones(GT_SHAPE(2), GT_INT8)), GT_ERROR_FILE, "gt_save_npy");
  REFUSED_IF(gt_parse_device(device).type == GT_NO_DEVICE, GT_ERROR_ARGUMENT, "gt_parse_device");
  free(path);
  free(device);
}
static void test_printing_fails(void) {
  FILE *full = fopen("/dev/full", "w");
  if (full) {
    setvbuf(full, NULL, _IONBF, 0);
    REFUSED_STATUS(gt_fprint(full, ones(GT_SHAPE(3), GT_FLOAT32)), GT_ERROR_FILE, "No space");
    fclose(full);
  }
  REFUSED_STATUS(gt_fprint(NULL, ones(GT_SHAPE(3), GT_FLOAT32)), GT_ERROR_ARGUMENT, "the file is NULL");
}

int main(int argc, char **argv) {
  check_start("errors", argc, argv);
  RUN(texts);
  RUN(eval);
  RUN(reductions);
  RUN(products);
  RUN(joining);
  RUN(memory);
  RUN(streams);
  RUN(first_error);
  RUN(long_messages);
  RUN(printing_fails);
  return check_finish();
}
