/* How handles begin and end: scopes, as blocks and as declarations, blocks of streams and devices,
   tensors that were freed, devices by name; and what small programs want, a clock and a handler. */
#include "check.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static gt_tensor *ones(int64_t n) { return gt_ones(GT_SHAPE(n), GT_FLOAT32, DEV); }
static int64_t alive(void) { return gt_report_leaks(NULL); }
static int same_device(gt_device a, gt_device b) { return a.type == b.type && a.index == b.index; }

/* ---- declarations: break, continue and return do what C says ---- */
static void test_scoped_in_loops(void) {
  const int64_t before = alive();
  int i, rounds = 0;
  for (i = 0; i < 10; i++) {
    GT_SCOPED;
    ones(3);
    if (i == 1) continue;
    if (i == 4) break;
    rounds++;
  }
  CHECK_INT(i, 4);
  CHECK_INT(rounds, 3);
  CHECK_INT(alive(), before);
  while (rounds < 100) {
    gt_tensor *x = ones(2), *y;
    GT_SCOPED; /* what was made before is not its business */
    y = gt_add(NULL, x, x);
    if (++rounds == 50) break;
    CHECK_INT(alive(), before + 2 + (rounds - 4));
    CHECK(y != NULL);
  }
  CHECK_INT(rounds, 50);
  CHECK_INT(alive(), before + 47);
}
static gt_tensor *returns_from_scoped(int how) {
  GT_SCOPED;
  gt_tensor *x = ones(2), *sum = gt_add(NULL, x, x);
  if (how == 0) return gt_keep(sum);
  if (how == 1) return NULL;
  for (;;) {
    GT_SCOPED;
    gt_tensor *inner = gt_add(NULL, sum, x);
    if (how == 2) return gt_keep(gt_keep(inner));
    break;
  }
  return gt_keep(x);
}
static void test_scoped_and_return(void) {
  const int64_t before = alive();
  gt_tensor *const two = returns_from_scoped(0), *const three = returns_from_scoped(2);
  CHECK(returns_from_scoped(1) == NULL);
  gt_tensor *const one = returns_from_scoped(3);
  CHECK_VALUES(one, 1, 1);
  CHECK_VALUES(two, 2, 2);
  CHECK_VALUES(three, 3, 3);
  CHECK_INT(alive(), before + 3);
}
static void test_several_in_a_block(void) {
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  gt_stream *const usual = gt_current_stream(DEV);
  const gt_device device = gt_current_device();
  const int64_t before = alive();
  int i, rounds = 0;
  { GT_SCOPED; GT_SCOPED; GT_WITH_STREAM_SCOPED(s); GT_WITH_STREAM_SCOPED(t); GT_SCOPED; /* one line */
    ones(1);
    CHECK(gt_current_stream(DEV) == t);
    CHECK(same_device(gt_current_device(), DEV));
    GT_WITH_DEVICE_SCOPED(gt_cpu()); GT_WITH_DEVICE_SCOPED(DEV); GT_WITH_DEVICE_SCOPED(gt_cpu());
    CHECK(same_device(gt_current_device(), gt_cpu()));
    CHECK_INT(alive(), before + 1);
  }
  CHECK(gt_current_stream(DEV) == usual && same_device(gt_current_device(), device));
  CHECK_INT(alive(), before);
  for (i = 0; i < 10; i++) {
    GT_WITH_STREAM_SCOPED(i % 2 ? s : t);
    GT_WITH_DEVICE_SCOPED(gt_cpu());
    CHECK(gt_current_stream(DEV) == (i % 2 ? s : t));
    if (i == 2) continue;
    if (i == 5) break;
    rounds++;
  }
  CHECK_INT(i * 100 + rounds, 504);
  CHECK(gt_current_stream(DEV) == usual && same_device(gt_current_device(), device));
  gt_stream_free(s);
  gt_stream_free(t);
}
/* A block is a loop of one round: break and continue end it alone. Blocks of one line may nest. */
static void test_blocks(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_stream *const usual = gt_current_stream(DEV);
  int i, rounds = 0;
  for (i = 0; i < 4; i++) {
    GT_WITH_STREAM(s) GT_WITH_DEVICE(gt_cpu()) GT_SCOPE GT_SCOPE {
      CHECK(gt_current_stream(DEV) == s && same_device(gt_current_device(), gt_cpu()));
      if (i == 1) break;
      if (i == 2) continue;
      rounds++;
    }
    CHECK(gt_current_stream(DEV) == usual);
    rounds += 10;
  }
  CHECK_INT(rounds, 42);
  if (i == 0) GT_SCOPE rounds = 0; /* and they are one statement */
  else rounds++;
  CHECK_INT(rounds, 43);
  gt_stream_free(s);
}
/* Without the stream or the device an error is pending, and what follows runs as before it. */
static void test_nothing_to_go_to(void) {
  const gt_device nowhere = {GT_CUDA, 1000}, before = gt_current_device();
  gt_stream *const usual = gt_current_stream(DEV);
  gt_tensor *x = ones(2), *y = x;
  int inside = 0;
  GT_WITH_STREAM(NULL) {
    inside++;
    y = gt_add(NULL, x, x); /* as any call that makes its result */
  }
  REFUSED_IF(inside == 1 && !y, GT_ERROR_ARGUMENT, "GT_WITH_STREAM: stream is NULL");
  y = x;
  GT_WITH_DEVICE(nowhere) y = gt_add(NULL, x, x);
  REFUSED_IF(!y, GT_ERROR_DEVICE, "gt_set_device");
  {
    GT_WITH_STREAM_SCOPED(NULL);
    REFUSED_IF(1, GT_ERROR_ARGUMENT, "GT_WITH_STREAM: stream is NULL");
    GT_WITH_DEVICE_SCOPED(nowhere);
    REFUSED_IF(1, GT_ERROR_DEVICE, "gt_set_device");
    CHECK(gt_current_stream(DEV) == usual && same_device(gt_current_device(), before));
  }
  CHECK(gt_current_stream(DEV) == usual && same_device(gt_current_device(), before));
}

/* ---- devices by name ---- */
static void test_device_names(void) {
  const gt_device cpu = gt_cpu(), before = gt_current_device();
  char name[40];
  CHECK(same_device(gt_parse_device("cpu"), cpu));
  CHECK(same_device(gt_parse_device("cpu:0"), cpu));
  NO_ERROR();
#define NO_DEVICE(text, status, message) \
  REFUSED_IF(gt_parse_device(text).type == GT_NO_DEVICE, status, message)
  NO_DEVICE("cpu:1", GT_ERROR_ARGUMENT, "gt_parse_device: \"cpu:1\" is not cpu, cuda or cuda:N");
  NO_DEVICE("cpu:", GT_ERROR_ARGUMENT, "gt_parse_device: ");
  NO_DEVICE("cuda:", GT_ERROR_ARGUMENT, "gt_parse_device: ");
  NO_DEVICE(NULL, GT_ERROR_ARGUMENT, "gt_parse_device: \"NULL\"");
  NO_DEVICE("cuda:999", GT_ERROR_DEVICE, "gt_parse_device: ");
  REFUSED_IF(gt_cuda(999).type == GT_NO_DEVICE, GT_ERROR_DEVICE, "gt_cuda: ");
  if (!gt_cuda_is_available()) {
    NO_DEVICE("cuda", GT_ERROR_DEVICE, "gt_parse_device: no GPU: ");
    NO_DEVICE("cuda:0", GT_ERROR_DEVICE, "gt_parse_device: no GPU: ");
    return;
  }
  snprintf(name, sizeof name, "cuda:%d", gt_cuda_device_count() - 1);
  const gt_device last = gt_parse_device(name);
  CHECK(same_device(last, gt_cuda(gt_cuda_device_count() - 1)));
  CHECK(same_device(gt_parse_device("cuda"), before.type == GT_CUDA ? before : gt_cuda(0)));
  GT_WITH_DEVICE(last) CHECK(same_device(gt_parse_device("cuda"), last));
  NO_DEVICE("cuda:999", GT_ERROR_DEVICE, "gt_parse_device: there is no cuda:999");
#undef NO_DEVICE
}

/* ---- exact integers ---- */
static int64_t int64_of(int64_t value, gt_dtype dtype) {
  gt_tensor *x = gt_full_int64(GT_SHAPE(2, 3), value, dtype, DEV);
  CHECK_SHAPE(x, 2, 3);
  CHECK_INT(x ? (int)x->dtype : -1, dtype);
  return gt_item_int64(gt_select(gt_select(x, 0, 1), 0, 2));
}
static void test_full_int64(void) {
  static const int64_t value[] = {0, 1, -1, INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1,
                                  -(INT64_C(1) << 53) - 1, INT64_C(1234567890123456789)};
  unsigned i;
  for (i = 0; i < sizeof value / sizeof *value; i++) CHECK_INT(int64_of(value[i], GT_INT64), value[i]);
  CHECK_INT(int64_of(300, GT_UINT8), 44); /* what does not fit wraps, as int64 does in a conversion */
  CHECK_INT(int64_of(200, GT_INT8), -56);
  CHECK_INT(int64_of(INT64_C(1) << 40 | 7, GT_INT32), 7);
  CHECK_INT(int64_of(256, GT_BOOL), 1);
  CHECK_INT(int64_of(-1000, GT_INT16), -1000);
#define NUMBER(value, dtype) gt_item(gt_full_int64(GT_SHAPE_0D, value, dtype, DEV))
  CHECK_NUM(NUMBER((INT64_C(1) << 53) + 1, GT_FLOAT64), 0x1p53);
  CHECK_NUM(NUMBER(INT64_MIN, GT_FLOAT64), -0x1p63);
  CHECK_NUM(NUMBER(16777217, GT_FLOAT32), 16777216);
  /* just above the middle of two float32: in one rounding it goes up */
  CHECK_NUM(NUMBER((INT64_C(1) << 60) + (INT64_C(1) << 36) + 1, GT_FLOAT32), 0x1p60 + 0x1p37);
  CHECK_NUM(NUMBER(2049, GT_FLOAT16), 2048);
  CHECK_NUM(NUMBER(-257, GT_BFLOAT16), -256);
#undef NUMBER
  REFUSED(gt_full_int64(GT_SHAPE(-1), 1, GT_INT64, DEV), GT_ERROR_SHAPE, "gt_full_int64");
  REFUSED(gt_full_int64(GT_SHAPE(1), 1, GT_DTYPES, DEV), GT_ERROR_DTYPE, "gt_full_int64");
}

/* ---- the clock and the handler ---- */
static void test_clock(void) {
  const struct timespec nap = {0, 30 * 1000000};
  double last = gt_now_ms(), least = 1e9;
  int i;
  for (i = 0; i < 100000; i++) {
    const double now = gt_now_ms();
    if (now < last) CHECK_TEXT(0, "the clock went from %.6f to %.6f", last, now);
    if (now > last && now - last < least) least = now - last;
    last = now;
  }
  CHECK(least < 1); /* it is finer than milliseconds */
  last = gt_now_ms();
  nanosleep(&nap, NULL);
  CHECK(gt_now_ms() - last >= 29.9);
}
/* What a child process did that failed: its exit status, and what it wrote to stderr. */
static int child(char *text, size_t size, int fails) {
  int ends[2], status = 0;
  ssize_t n;
  size_t at = 0;
  CHECK(pipe(ends) == 0);
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 2);
    gt_set_error_handler(gt_exit_on_error, NULL);
    gt_free(gt_empty(GT_SHAPE(fails ? -1 : 1), GT_FLOAT32, gt_cpu()));
    _exit(7); /* it was not called */
  }
  close(ends[1]);
  while ((n = read(ends[0], text + at, size - 1 - at)) > 0 || (n < 0 && errno == EINTR))
    at += n > 0 ? (size_t)n : 0;
  text[at] = 0;
  close(ends[0]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
static void test_exit_on_error(void) {
  char text[4000];
  CHECK_INT(child(text, sizeof text, 1), 1);
  CHECK_STR(text, "gt_empty: negative size in (-1,)\n");
  CHECK_INT(child(text, sizeof text, 0), 7);
  CHECK_STR(text, "");
}

/* ---- tensors that were freed ---- */
static gt_tensor *freed(int by_scope) {
  gt_tensor *x = NULL;
  if (by_scope) GT_SCOPE x = ones(4);
  else gt_free(x = ones(4));
  return x;
}
#define SCOPE "was freed by the end of a GT_SCOPE; gt_keep hands it out"
#define DEAD(call, text) \
  do { \
    (void)(call); \
    REFUSED_IF(gt_error() != GT_OK, GT_ERROR_ARGUMENT, text " " SCOPE); \
  } while (0)
static void dead_operands(gt_tensor *x, gt_tensor *m, const gt_tensor *i, gt_tensor *dead) {
  const gt_tensor *const pair[] = {x, dead};
  DEAD(gt_add(NULL, dead, x), "gt_add: operand 1");
  DEAD(gt_add(NULL, x, dead), "gt_add: operand 2");
  DEAD(gt_add(x, x, dead), "gt_add: operand 2");
  DEAD(gt_add(dead, x, x), "gt_add: operand 0, the output,");
  DEAD(gt_neg(dead, x), "gt_neg: operand 0, the output,");
  DEAD(gt_where(NULL, x, x, dead), "gt_where: operand 3");
  DEAD(gt_eval(NULL, "a*b + c", x, x, dead), "gt_eval: operand 3");
  DEAD(gt_eval(dead, "1"), "gt_eval: operand 0, the output,");
  DEAD(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a*b", x, dead), "gt_reduce: operand 2");
  DEAD(gt_sum(NULL, dead, GT_ALL, 0), "gt_sum: operand 1");
  DEAD(gt_var(NULL, dead, GT_ALL, 1, 0), "gt_var: operand 1");
  DEAD(gt_norm(NULL, dead, 3, GT_ALL, 0), "gt_norm: operand 1");
  DEAD(gt_softmax(NULL, dead, 0), "gt_softmax: operand 1");
  DEAD(gt_log_softmax(dead, x, 0), "gt_log_softmax: operand 0, the output,");
  DEAD(gt_logsumexp(NULL, dead, GT_ALL, 0), "gt_logsumexp: operand 1");
  DEAD(gt_matmul(NULL, x, dead), "gt_matmul: operand 2");
  DEAD(gt_matmul(dead, m, m), "gt_matmul: operand 0, the output,");
  DEAD(gt_matmul_eval(NULL, m, m, "a + b", dead), "gt_matmul_eval: operand 3");
  DEAD(gt_addmm(NULL, dead, m, m, 1, 1), "gt_addmm: operand 1");
  DEAD(gt_addmm(NULL, NULL, m, dead, 0, 1), "gt_addmm: operand 3");
  DEAD(gt_addmm(dead, NULL, m, m, 0, 1), "gt_addmm: operand 0, the output,");
  DEAD(gt_linear(NULL, m, dead, NULL), "gt_linear: operand 2");
  DEAD(gt_linear(NULL, m, m, dead), "gt_linear: operand 3");
  DEAD(gt_cat(NULL, 2, pair, 0), "gt_cat: operand 2");
  DEAD(gt_stack(NULL, 2, pair, 0), "gt_stack: operand 2");
  DEAD(gt_index_select(NULL, x, 0, dead), "gt_index_select: operand 2");
  DEAD(gt_index_select(dead, x, 0, i), "gt_index_select: operand 0, the output,");
  DEAD(gt_gather(NULL, dead, 0, i), "gt_gather: operand 1");
  gt_tensor *values = NULL, *indices = dead;
  DEAD(gt_sort(&values, NULL, dead, 0, 0), "gt_sort: operand 1");
  DEAD(gt_topk(&values, &indices, x, 1, 0, 0), "gt_topk: operand 0, the output,");
  DEAD(gt_nonzero(dead), "gt_nonzero: operand 1");
  DEAD(gt_gather(NULL, x, 0, dead), "gt_gather: operand 2");
  DEAD(gt_gather(dead, x, 0, i), "gt_gather: operand 0, the output,");
  DEAD(gt_index_add(dead, 0, i, x), "gt_index_add: operand 1");
  DEAD(gt_index_add(x, 0, dead, x), "gt_index_add: operand 2");
  DEAD(gt_scatter_reduce(x, 0, i, dead, GT_MAX, 1), "gt_scatter_reduce: operand 3");
}
static void dead_handles(gt_tensor *x, gt_tensor *dead) {
  gt_stream *const s = gt_current_stream(DEV);
  char text[100];
  DEAD(gt_copy(NULL, dead), "gt_copy: operand 1");
  DEAD(gt_copy(dead, x), "gt_copy: operand 0, the output,");
  DEAD(gt_to(dead, gt_cpu()), "gt_to: operand 1");
  DEAD(gt_to_dtype(dead, GT_INT8), "gt_to_dtype: operand 1");
  DEAD(gt_contiguous(dead), "gt_contiguous: operand 1");
  DEAD(gt_fill(dead, 1), "gt_fill: operand 1");
  DEAD(gt_retain(dead), "gt_retain: operand 1");
  DEAD(gt_keep(dead), "gt_keep: operand 1");
  DEAD((gt_free(dead), 0), "gt_free: operand 1");
  DEAD(gt_empty_like(dead), "gt_empty_like: operand 1");
  DEAD(gt_zeros_like(dead), "gt_zeros_like: operand 1");
  DEAD(gt_numel(dead), "gt_numel: operand 1");
  DEAD(gt_nbytes(dead), "gt_nbytes: operand 1");
  DEAD(gt_shape_of(dead), "gt_shape_of: operand 1");
  DEAD(gt_is_contiguous(dead), "gt_is_contiguous: operand 1");
  DEAD(gt_is_pinned(dead), "gt_is_pinned: operand 1");
  DEAD(gt_data(dead), "gt_data: operand 1");
  DEAD(gt_item(dead), "gt_item: operand 1");
  DEAD(gt_item_int64(dead), "gt_item_int64: operand 1");
  DEAD(gt_to_array(dead, text, 16), "gt_to_array: operand 1");
  DEAD(gt_print(dead), "gt_print: operand 1");
  DEAD(gt_to_string(dead, text, sizeof text), "gt_to_string: operand 1");
  DEAD(gt_reshape(dead, GT_SHAPE(4)), "gt_reshape: operand 1");
  DEAD(gt_transpose(dead, 0, 0), "gt_transpose: operand 1");
  DEAD(gt_permute(dead, GT_SHAPE(0)), "gt_permute: operand 1");
  DEAD(gt_slice(dead, 0, 0, 1, 1), "gt_slice: operand 1");
  DEAD(gt_select(dead, 0, 0), "gt_select: operand 1");
  DEAD(gt_expand(dead, GT_SHAPE(4)), "gt_expand: operand 1");
  DEAD(gt_squeeze(dead, 0), "gt_squeeze: operand 1");
  DEAD(gt_unsqueeze(dead, 0), "gt_unsqueeze: operand 1");
  DEAD(gt_diagonal(dead, 0, 0, 1), "gt_diagonal: operand 1");
  DEAD(gt_stream_reads(s, dead), "gt_stream_reads: operand 1");
  DEAD(gt_stream_writes(s, dead), "gt_stream_writes: operand 1");
  DEAD(gt_save_npy("never.npy", dead), "gt_save_npy: operand 1");
}
static void test_freed_handles(void) {
  gt_tensor *x, *m, *index, *dead;
  int i;
  if (!strstr(gt_build_info(), "handles checked")) {
    skip("freed handles", "built without GPUTENSOR_CHECK_HANDLES");
    return;
  }
  x = ones(4);
  m = gt_reshape(x, GT_SHAPE(2, 2));
  index = gt_zeros(GT_SHAPE(1), GT_INT64, DEV);
  dead = freed(1); /* the last one, so that no other has its address */
  dead_operands(x, m, index, dead);
  dead_handles(x, dead);
  dead = freed(0);
  REFUSED(gt_add(NULL, dead, x), GT_ERROR_ARGUMENT, "gt_add: operand 1 was freed by gt_free");
  gt_free(dead);
  REFUSED_IF(gt_error() != GT_OK, GT_ERROR_ARGUMENT, "gt_free: operand 1 was freed by gt_free");
  {
    GT_SCOPED;
    dead = ones(4);
  }
  DEAD(gt_sqrt(NULL, dead), "gt_sqrt: operand 1");
  dead = returns_from_scoped(0); /* kept ones are alive */
  CHECK_VALUES(dead, 2, 2);
  /* the first error stays */
  gt_empty(GT_SHAPE(-1), GT_FLOAT32, DEV);
  CHECK(gt_add(x, x, freed(1)) == NULL);
  REFUSED_IF(1, GT_ERROR_SHAPE, "gt_empty");
  /* and a freed one stays freed while others are made, which do not get its address at once */
  dead = freed(1);
  gt_tensor *const by_hand = freed(0);
  for (i = 0; i < 500; i++) {
    gt_tensor *y = freed(0), *z = ones(4);
    if (y == dead || z == dead || y == by_hand || z == by_hand)
      CHECK_TEXT(0, "after %d others a handle has the address of a freed one", i);
    gt_free(z);
    if (i % 50) continue;
    DEAD(gt_add(NULL, x, dead), "gt_add: operand 2");
    REFUSED(gt_exp(NULL, by_hand), GT_ERROR_ARGUMENT, "gt_exp: operand 1 was freed by gt_free");
  }
  DEAD((gt_free(dead), 0), "gt_free: operand 1");
  for (i = 0; i < 5000; i++) { /* an address that is in use again is alive again */
    gt_tensor *y = freed(i % 2), *z = ones(4);
    gt_add(z, z, x);
    if (i % 500 == 0) CHECK_VALUES(z, 2, 2, 2, 2);
    gt_free(z);
    (void)y;
  }
  CHECK_VALUES(x, 1, 1, 1, 1);
}

int main(int argc, char **argv) {
  check_start("handles", argc, argv);
  RUN(scoped_in_loops);
  RUN(scoped_and_return);
  RUN(several_in_a_block);
  RUN(blocks);
  RUN(nothing_to_go_to);
  RUN(device_names);
  RUN(full_int64);
  RUN(clock);
  RUN(exit_on_error);
  RUN(freed_handles);
  return check_finish();
}
