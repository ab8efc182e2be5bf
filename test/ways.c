/* The table of ways: gt_build_info lists it, GPUTENSOR_WAYS in the environment chooses from it, and every
   operation is right by each way, as the tables of ops.c, reduce.c, matmul.c, ordering.c and tensor.c say when run.sh
   forces them. With --list: prints "cpu matmul panels" for each way there is, and ends. */
#define _GNU_SOURCE
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

/* "copy" to "scatter" and the names, as gt_build_info has them: "copy: a b, map: c". */
typedef struct { char device[8], kind[8], name[32]; } row;
static int rows_of(const char *device, const char *info, row *out) {
  char kind[8] = "", word[64];
  int n = 0, used;
  for (; sscanf(info, " %63[^ ,;]%n", word, &used) == 1; info += used + (info[used] == ',')) {
    const size_t length = strlen(word);
    if (word[length - 1] == ':') snprintf(kind, sizeof kind, "%.*s", (int)length - 1, word);
    else {
      snprintf(out[n].device, sizeof out[n].device, "%s", device);
      snprintf(out[n].kind, sizeof out[n].kind, "%s", kind);
      snprintf(out[n++].name, sizeof out[n].name, "%.31s", word);
    }
    if (info[used] == ';') break;
  }
  return n;
}
static row all[100];
static int n_all;
static void find_all(void) {
  const char *info = gt_build_info(), *cpu = strstr(info, "ways of the CPU:"), *gpu = strstr(info, "of GPUs:");
  n_all = 0;
  if (cpu) n_all = rows_of("cpu", cpu + strlen("ways of the CPU:"), all);
  if (gpu) n_all += rows_of("cuda", gpu + strlen("of GPUs:"), all + n_all);
}
static void test_list(void) {
  static const char *const kind[] = {"copy", "map", "reduce", "matmul", "scan", "order", "scatter"};
  find_all();
  CHECK_TEXT(strlen(gt_build_info()) < 1000, "gt_build_info is cut off: %s", gt_build_info());
  for (int k = 0; k < (int)(sizeof kind / sizeof *kind); k++) {
    const row *last = NULL;
    for (int i = 0; i < n_all; i++)
      if (!strcmp(all[i].device, "cpu") && !strcmp(all[i].kind, kind[k])) last = &all[i];
    CHECK_TEXT(last && !strcmp(last->name, "plain"), "the last way of %s is not plain in: %s", kind[k],
               gt_build_info());
  }
}

/* In a child, as the environment is read once. 0: it was as expected. */
static int in_child(const char *names, int (*test)(void)) {
  int status = -1;
  const pid_t child = (fflush(NULL), fork());
  if (!child) {
    setenv("GPUTENSOR_WAYS", names, 1);
    _exit(test());
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}
static int good_sum(void) {
  int good = 0;
  GT_SCOPE {
    const gt_tensor *x = gt_arange(0, 1000, 1, GT_FLOAT32, gt_cpu());
    good = gt_item(gt_sum(NULL, gt_add(NULL, x, x), GT_ALL, 0)) == 999000;
    good = good && gt_item(gt_matmul(NULL, x, gt_ones(GT_SHAPE(1000), GT_FLOAT32, gt_cpu()))) == 499500;
  }
  return !good || gt_error() != GT_OK;
}
static int refused(void) { /* the first operation says so, and each one after it */
  const char *said = "GPUTENSOR_WAYS names \"fastest\"";
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cpu());
  if (x || gt_error() != GT_ERROR_ARGUMENT || !strstr(gt_error_message(), said)) return 1;
  if (check_messages) fflush(check_messages);
  gt_clear_error();
  return gt_zeros(GT_SHAPE(3), GT_FLOAT32, gt_cpu()) || !strstr(gt_error_message(), said);
}
static void test_environment(void) {
  CHECK_INT(in_child("", good_sum), 0);
  CHECK_INT(in_child("plain", good_sum), 0);
  CHECK_INT(in_child("plain,fastest", refused), 0);
  CHECK_INT(in_child("fastest", refused), 0);
  for (int i = 0; i < n_all; i++)
    CHECK_TEXT(!in_child(all[i].name, good_sum), "a sum by %s is another", all[i].name);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "--list")) {
    find_all();
    for (int i = 0; i < n_all; i++) printf("%s %s %s\n", all[i].device, all[i].kind, all[i].name);
    return 0;
  }
  check_start("ways", argc, argv);
  RUN(list);
  RUN(environment);
  return check_finish();
}
