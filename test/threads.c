/* What the library does with threads: its stacks and the program's small ones, the number of CPU
   threads, and signals. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(GPUTENSOR_NO_THREADS)
#define QUEUED 0
#else
#define QUEUED 1
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static gt_tensor *numbers(gt_shape shape, gt_dtype dtype, gt_device device) {
  gt_tensor *x = gt_to_dtype(gt_eval(NULL, "index % 7 - 3", gt_zeros(shape, GT_INT64, device)), dtype);
  if (!x) printf("numbers: %s\n", gt_error_message());
  return x;
}

/* ---- how deep the calls go ---- */
enum { STACK = 1 << 20, SMALL = 128 << 10 }; /* the latter is musl's */
static gt_device at;
static void run_maps(gt_dtype dtype) {
  gt_tensor *x = numbers(GT_SHAPE(70, 90), dtype, at), *t = gt_transpose(x, 0, 1), *h;
  gt_eval(NULL, "exp(a) + sin(a)*b", x, gt_scalar(0.1));
  gt_eval(NULL, "(a+1)*(a+2)*((a+3)*(a+4) + (a+5)*((a+6)*(a+7) + (a+8)/(a*a + 9)))", x);
  gt_eval(NULL, "a*b + a/(b*b + 1) + a", gt_contiguous(t), t);
  h = gt_to_dtype(x, GT_FLOAT16);
  gt_eval(NULL, "a*a + b", h, gt_slice(x, 0, 0, 70, 1));
  gt_contiguous(t);
  gt_cat(NULL, 2, (const gt_tensor *const[]){x, x}, 1);
  gt_index_select(NULL, x, 1, gt_arange(0, 90, 2, GT_INT64, at));
  gt_index_add(x, 1, gt_zeros(GT_SHAPE(90), GT_INT64, at), gt_copy(NULL, x));
}
static void run_reductions(gt_dtype dtype) {
  gt_tensor *x = numbers(GT_SHAPE(70, 90), dtype, at), *wide = numbers(GT_SHAPE(600, 520), dtype, at);
  gt_sum(NULL, x, GT_ALL, 0);
  gt_sum(NULL, x, GT_DIM(0), 0);
  gt_sum(NULL, wide, GT_DIM(0), 0);
  gt_argmax(NULL, wide, GT_DIM(0), 0);
  gt_argmax(NULL, x, GT_ALL, 0);
  gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "exp(a - b)*a", wide, x = gt_select(wide, 0, 3));
  gt_var(NULL, wide, GT_ALL, 1, 0);
  gt_norm(NULL, wide, 3, GT_DIM(1), 0);
}
static void run_softmax(gt_dtype dtype) {
  gt_tensor *x = numbers(GT_SHAPE(70, 90), dtype, at), *wide = numbers(GT_SHAPE(3, 5000), dtype, at);
  gt_softmax(NULL, x, 0);
  gt_softmax(NULL, x, 1);
  gt_log_softmax(NULL, wide, 1);
  gt_logsumexp(NULL, wide, GT_ALL, 0);
}
static void run_products(gt_dtype dtype) {
  gt_tensor *x = numbers(GT_SHAPE(64, 64), dtype, at), *y = numbers(GT_SHAPE(130, 129), dtype, at);
  gt_matmul(NULL, x, gt_transpose(x, 0, 1));
  gt_matmul(NULL, gt_transpose(y, 0, 1), y);
  gt_matmul(NULL, gt_to_dtype(y, GT_FLOAT16), gt_to_dtype(gt_transpose(y, 0, 1), GT_FLOAT16));
  gt_matmul_eval(NULL, x, x, "tanh(a)*b + c", x, gt_scalar(0.5));
  gt_addmm(NULL, x, x, gt_transpose(x, 0, 1), 0.1, 0.2);
}
static void run_others(gt_dtype dtype) {
  char text[400];
  gt_randn(GT_SHAPE(70, 90), dtype, at, NULL);
  gt_linspace(0, 1, 1000, dtype, at);
  CHECK(gt_to_string(numbers(GT_SHAPE(3, 4), dtype, at), text, sizeof text) > 0);
  CHECK(gt_eval(NULL, "a + no_such_thing", numbers(GT_SHAPE(3), dtype, at)) == NULL);
  CHECK_INT(gt_error(), GT_ERROR_EXPRESSION);
  gt_clear_error();
}
static const struct { const char *name; void (*run)(gt_dtype dtype); } part[] = {
    {"maps", run_maps}, {"reductions", run_reductions}, {"softmax", run_softmax},
    {"products", run_products}, {"others", run_others}};
enum { PARTS = sizeof part / sizeof *part };

static gt_status in_thread;
static void *run_part(void *which) {
  GT_SCOPE {
    const int k = *(int *)which;
    part[k / 2].run(k % 2 ? GT_FLOAT64 : GT_FLOAT32);
    gt_synchronize(at);
    in_thread = gt_error();
    if (in_thread) printf("%s: %s\n", part[k / 2].name, gt_error_message());
  }
  return NULL;
}
/* Bytes that a thread has written on a stack that was painted before. */
static int64_t depth_of(void *(*run)(void *), void *argument, unsigned char *stack) {
  pthread_attr_t attributes;
  pthread_t thread;
  int64_t free_bytes = 0;
  memset(stack, POISON, STACK);
  pthread_attr_init(&attributes);
  CHECK_INT(pthread_attr_setstack(&attributes, stack, STACK), 0);
  CHECK_INT(pthread_create(&thread, &attributes, run, argument), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  while (free_bytes < STACK && stack[free_bytes] == POISON) free_bytes++;
  return STACK - free_bytes;
}
static void test_depth(void) {
  unsigned char *stack = NULL;
  int k;
  CHECK_INT(posix_memalign((void **)&stack, 1 << 16, STACK), 0);
  at = DEV;
  for (k = 0; k < 2 * PARTS; k++) {
    const int64_t bytes = depth_of(run_part, &k, stack);
    CHECK_INT(in_thread, GT_OK);
    CHECK_TEXT(bytes < SMALL, "%s take %" PRId64 " bytes of stack", part[k / 2].name, bytes);
  }
  free(stack);
}

/* ---- a process all of whose threads have small stacks ---- */
enum { LITTLE = 160 << 10 }; /* in which glibc puts its own tables, too */
static int wrong_values(const gt_tensor *x, const double *expected) {
  void *p = values_of(x);
  int64_t i, wrong = 0, n = gt_numel(x);
  for (i = 0; i < n; i++) wrong += !(load(x->dtype, p, i) == expected[i]);
  free(p);
  return (int)wrong;
}
static int wrong_product(gt_dtype dtype, int64_t n) {
  gt_tensor *x = numbers(GT_SHAPE(n, n), dtype, at), *y = gt_matmul(NULL, x, gt_transpose(x, 0, 1));
  double *a = (double *)malloc((size_t)(2 * n * n) * sizeof *a), *c = a + n * n;
  void *p = values_of(x);
  int64_t i, j, k;
  int wrong;
  for (i = 0; i < n * n; i++) a[i] = load(dtype, p, i);
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (c[i * n + j] = 0, k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * a[j * n + k];
  wrong = wrong_values(y, c);
  free(p);
  free(a);
  return wrong;
}
static int wrong_sums(gt_dtype dtype, int64_t rows, int64_t columns) {
  gt_tensor *x = gt_full(GT_SHAPE(rows, columns), 2, dtype, at), *y = gt_sum(NULL, x, GT_DIM(0), 0);
  gt_tensor *all = gt_sum(NULL, x, GT_ALL, 0), *ties = gt_argmax(NULL, x, GT_DIM(0), 0);
  double *c = (double *)malloc((size_t)columns * sizeof *c);
  int64_t i;
  int wrong = gt_item(all) != 2.0 * (double)(rows * columns);
  for (i = 0; i < columns; i++) c[i] = 2.0 * (double)rows;
  wrong += wrong_values(y, c);
  for (i = 0; i < columns; i++) c[i] = 0;
  wrong += wrong_values(ties, c);
  free(c);
  return wrong;
}
static int wrong_here(void) {
  int wrong = 0, k;
  GT_SCOPE {
    for (k = 0; k < 2 * PARTS; k++) run_part(&k);
    for (k = 0; k < 2; k++) {
      wrong += wrong_product(k ? GT_FLOAT64 : GT_FLOAT32, 64);
      wrong += wrong_product(k ? GT_FLOAT64 : GT_FLOAT32, 150);
      wrong += wrong_sums(k ? GT_FLOAT64 : GT_FLOAT32, 300, 700);
    }
  }
  return wrong + (gt_error() != GT_OK);
}
static int with_small_stacks(void) { /* the child's main: how many values are wrong */
  gt_stream *s;
  int wrong;
#if defined(__GLIBC__)
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, LITTLE);
  pthread_setattr_default_np(&attributes);
#endif
  at = gt_cpu();
  wrong = wrong_here();
  s = gt_stream_create(at, 0);
  GT_WITH_STREAM(s) wrong += wrong_here();
  gt_stream_free(s);
  printf("with small stacks: %d wrong %s\n", wrong, gt_error_message());
  return wrong != 0;
}
static const char *self;
enum { CANNOT = 77 };
static void test_small_stacks(void) {
  int status = -1;
  pid_t pid;
  fflush(NULL);
  pid = fork();
  if (pid == 0) {
    setenv("OMP_STACKSIZE", "160k", 1);
    setenv("OMP_NUM_THREADS", "4", 1);
    execl(self, self, "--small-stacks", (char *)NULL);
    _exit(CANNOT);
  }
  CHECK(pid > 0);
  if (pid > 0) CHECK_INT(waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
    skip("small_stacks", "the program cannot start itself here");
  else CHECK_TEXT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's status is %#x", status);
}

/* ---- signals ---- */
/* Which threads there are, and whether each of them blocks a signal. */
enum { MOST = 4000 };
typedef struct { int n, id[MOST], blocks[MOST]; } threads;
static int read_mask(const char *id, int number) { /* 1 blocked, 0 not, -1 unknown */
  char path[300], line[200];
  unsigned long long mask = 0;
  int found = 0;
  FILE *file;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/status", id);
  file = fopen(path, "r");
  while (file && !found && fgets(line, sizeof line, file)) found = sscanf(line, "SigBlk: %llx", &mask);
  if (file) fclose(file);
  return found == 1 ? (int)(mask >> (number - 1) & 1) : -1;
}
static void list_threads(threads *t, int number) {
  DIR *folder = opendir("/proc/self/task");
  struct dirent *entry;
  t->n = 0;
  while (folder && (entry = readdir(folder)) && t->n < MOST) {
    if (*entry->d_name == '.') continue;
    t->id[t->n] = atoi(entry->d_name);
    t->blocks[t->n++] = read_mask(entry->d_name, number);
  }
  if (folder) closedir(folder);
}
static int is_listed(const threads *t, int id) {
  int i = 0;
  while (i < t->n && t->id[i] != id) i++;
  return i < t->n;
}
/* The thread that a stream brings with it takes none of the program's signals, and the mask of the
   thread that makes it is as before. A GPU's driver may make threads at any time, which may. */
static void test_signals(void) {
  static threads before, after;
  sigset_t mask, same;
  gt_stream *s;
  int i, fresh = 0, blocking = 0;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  list_threads(&before, SIGUSR1);
  s = gt_stream_create(gt_cpu(), 0);
  list_threads(&after, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, NULL, &same);
  for (i = 1; i < 32; i++) CHECK_INT(sigismember(&same, i), sigismember(&mask, i));
  if (before.n && before.blocks[0] >= 0) {
    for (i = 0; i < after.n; i++) {
      if (is_listed(&before, after.id[i])) continue;
      blocking += after.blocks[i] == 1;
      fresh++;
    }
    CHECK(blocking >= 1 && (fresh == 1 || gt_best_device().type == GT_CUDA));
  } else skip("which signals a stream's thread takes", "no /proc/self/task");
  gt_stream_free(s);
}

/* ---- how many threads ---- */
static int threads_there(void) { /* of this process; 0: unknown */
  char line[200];
  int n = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Threads: %d", &n) == 1) break;
  if (file) fclose(file);
  return n;
}
static double work(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(1000, 1000), GT_FLOAT32, gt_cpu());
  return gt_item(gt_sum(NULL, x, GT_ALL, 0));
}
static void test_refused_numbers(void) {
  const int before = gt_num_threads();
  REFUSED_IF(gt_set_num_threads(0) != GT_OK, GT_ERROR_ARGUMENT, "gt_set_num_threads: 0 threads; give 1");
  REFUSED_IF(gt_set_num_threads(-3) != GT_OK, GT_ERROR_ARGUMENT, "-3 threads");
  REFUSED_IF(gt_set_num_threads(1025) != GT_OK, GT_ERROR_ARGUMENT, "1025 threads");
  CHECK_INT(gt_num_threads(), before);
}
static void test_number_of_threads(void) {
  const int before = gt_num_threads(), there = threads_there();
  CHECK(before >= 1);
  CHECK_INT(gt_set_num_threads(1), GT_OK);
  CHECK_INT(gt_num_threads(), 1);
  CHECK_NUM(work(), 1e6);
  CHECK_INT(threads_there(), there);
  CHECK_INT(gt_set_num_threads(5), GT_OK);
  CHECK_NUM(work(), 1e6);
  if (strstr(gt_build_info(), "no OpenMP")) {
    CHECK_INT(gt_num_threads(), 1);
    CHECK_INT(threads_there(), there);
  } else {
    CHECK_INT(gt_num_threads(), 5);
    if (there) CHECK(threads_there() >= there + 4);
    else skip("threads that work", "no /proc/self/status");
  }
  gt_set_num_threads(before);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--small-stacks") == 0) return with_small_stacks();
  self = argv[0];
  check_start("threads", argc, argv);
  if (QUEUED) RUN(signals); /* first, before there are OpenMP's threads, which take them */
  RUN(refused_numbers);
  RUN(number_of_threads);
  if (SANITIZED) skip("depth and small_stacks", "sanitizers take more of a stack");
  else {
    RUN(depth);
    RUN(small_stacks);
  }
  return check_finish();
}
