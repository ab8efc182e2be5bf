/* Every CUDA call that can fail, fails: one program that touches the whole library, run again for
   each function and each of its calls, which fails once or from then on. It must end with an error
   that has a message, or with the right results; and whatever happened, gt_shutdown leaves nothing
   behind. Each run is a process of its own, since the library asks some things only once.
     failures [--quick] [FUNCTION NTH STICKY [CODE]]      the latter: one run, in this process */
#define _GNU_SOURCE
#include "../check.h"
#include "cuda_runtime_api.h"
#include "sim.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000, SIDE = 24, SECONDS = 20 };
static char npy[64], json[64];

/* ---- the scenario ---- */
static int wrong; /* a result that is not right */
static void expect(const char *what, double x, double y) {
  if (x == y || gt_error()) return;
  if (!wrong++) printf("%s is %.17g, not %.17g; ", what, x, y);
}
static gt_tensor *counted(int64_t rows, int64_t columns, gt_device device) {
  float v[N];
  int64_t i;
  for (i = 0; i < rows * columns; i++) v[i] = (float)(i % 7);
  return gt_from_array(v, GT_SHAPE(rows, columns), GT_FLOAT32, device);
}
static void add_one(void *argument) { ++*(float *)argument; }
static double counted_sum(int64_t n) {
  double sum = 0;
  int64_t i;
  for (i = 0; i < n; i++) sum += (double)(i % 7);
  return sum;
}
static void one_device(gt_device device) {
  gt_stream *s = gt_stream_create(device, 0), *t = gt_stream_create(device, -1);
  gt_event *e = gt_event_create(), *f = gt_event_create();
  const int64_t pick[] = {3, 0, 3};
  float host[SIDE * SIDE];
  GT_SCOPE {
    gt_tensor *x = NULL, *y = NULL, *z = NULL, *pinned = gt_empty_pinned(GT_SHAPE(N), GT_FLOAT32);
    float *p = (float *)gt_data(pinned);
    int i;
    for (i = 0; p && i < N; i++) p[i] = 2;
    GT_WITH_STREAM(s) {
      x = counted(10, N / 10, device);
      y = gt_exp(NULL, x);
      y = gt_eval(y, "a*2 + 1", x);
      if (s) gt_event_record(e, s);
    }
    GT_WITH_STREAM(t) {
      z = gt_sum(NULL, y, GT_ALL, 0); /* waits for s */
      expect("the sum", gt_item(z), 2 * counted_sum(N) + N);
      z = gt_to(pinned, device);      /* an upload from pinned memory */
      z = gt_add(NULL, gt_reshape(z, GT_SHAPE(10, N / 10)), y);
      if (t) gt_event_record(f, t);
    }
    z = gt_sum(NULL, z, GT_DIM(1), 0);
    expect("the second sum", gt_item(gt_sum(NULL, z, GT_ALL, 0)), 2 * counted_sum(N) + 3 * N);
    z = gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a*0 + 1", gt_zeros(GT_SHAPE(9000), GT_FLOAT32, device));
    expect("the long sum", gt_item(z), 9000);
    if (s && t) gt_stream_wait_stream(s, t);
    GT_WITH_STREAM(s) {
      gt_tensor *one = gt_eye(SIDE, SIDE, GT_FLOAT32, device);
      x = counted(SIDE, SIDE, device);
      y = gt_matmul(NULL, x, one);
      y = gt_matmul_eval(NULL, y, one, "a + b", x);
      gt_fill(x, 9);                  /* after the product has read it */
      gt_copy(gt_transpose(x, 0, 1), y);
    }
    z = gt_full(GT_SHAPE(3, 4), 2, GT_FLOAT32, device);
    z = gt_addmm(NULL, z, gt_matmul(NULL, z, gt_transpose(z, 0, 1)), z, 2, 3); /* these take scratch */
    expect("the small products", gt_item(gt_sum(NULL, z, GT_ALL, 0)), 12 * (2 * 2 + 3 * 3 * 16 * 2));
    if (t && e && !gt_error()) gt_stream_wait_event(t, e);
    memset(host, 0, sizeof host);
    if (!gt_to_array(y, host, sizeof host)) expect("the product", host[5], 10);
    y = gt_contiguous(gt_transpose(x, 0, 1));
    y = gt_to(y, gt_cpu());
    p = (float *)gt_data(y);
    if (p) expect("the transposed product", p[5], 10);
    y = gt_index_select(NULL, x, 0, gt_from_array(pick, GT_SHAPE(3), GT_INT64, device));
    y = gt_slice(gt_select(y, 0, 1), 0, 5, 6, 1);
    expect("the chosen row", gt_item(y), 2 * (5 * SIDE % 7));
    y = gt_load_npy(npy, device);
    expect("the file", gt_item_int64(gt_sum(NULL, y, GT_ALL, 0)), 10);
    if (e && f && !gt_error()) expect("the time", gt_event_elapsed_ms(e, f) >= 0, 1);
    if (f && !gt_error()) gt_event_synchronize(f);
    if (f && !gt_error()) expect("the query", gt_event_query(f), 1);
    if (s) gt_stream_query(s);
    p = (float *)gt_data(pinned);
    if (s && p && !gt_stream_writes(s, pinned) && !gt_stream_call(s, add_one, p))
      expect("what a function wrote", gt_item(gt_slice(gt_to(pinned, device), 0, 0, 1, 1)), 3);
    gt_free(gt_randn(GT_SHAPE(N), GT_FLOAT32, device, NULL));
    gt_free(gt_empty(GT_SHAPE(100000), GT_FLOAT32, device));
  }
  if (t) gt_stream_synchronize(t);
  gt_stream_free(t);
  gt_event_free(e);
  gt_event_free(f);
  gt_synchronize(device);
  gt_stream_free(s);
}
static void both_devices(gt_device a, gt_device b) {
  gt_properties properties;
  gt_device_properties(b, &properties);
  GT_SCOPE {
    gt_tensor *x = counted(SIDE, SIDE, a), *y = gt_to(x, b), *z;
    gt_add(x, x, x);
    z = gt_to(gt_add(NULL, y, y), a);
    expect("the difference", gt_item(gt_sum(NULL, gt_sub(NULL, x, z), GT_ALL, 0)), 0);
    z = gt_sub(NULL, gt_copy(y, gt_transpose(x, 0, 1)), gt_to(gt_transpose(x, 0, 1), b));
    expect("the transposed difference", gt_item(gt_max(NULL, z, GT_ALL, 0)), 0);
    gt_copy(y, x);
    z = gt_empty_pinned(GT_SHAPE(SIDE, SIDE), GT_FLOAT32);
    gt_copy(z, y);
    if (gt_data(z)) expect("the copy", ((float *)gt_data(z))[6], 12);
  }
}
/* What is let go while work still needs it. */
static gt_tensor *twos(gt_device device) { return gt_full(GT_SHAPE(N), 2, GT_FLOAT32, device); }
static void let_go(gt_device a, gt_device b) {
  gt_stream *s = gt_stream_create(a, 0);
  gt_tensor *x = gt_empty_pinned(GT_SHAPE(N), GT_FLOAT32), *y, *z, *sum;
  float *p = (float *)gt_data(x);
  int i;
  for (i = 0; p && i < N; i++) p[i] = 2;
  y = p ? gt_from_array(p, GT_SHAPE(N), GT_FLOAT32, a) : NULL;
  if (p) p[N - 1] = 7; /* the call has read it */
  sum = gt_sum(NULL, y, GT_ALL, 0);
  expect("the sum of twos", gt_item(sum), 2 * N);
  gt_free(y);
  gt_free(sum);
  y = gt_to(x, a);     /* pinned, and freed while the copy is on its way */
  gt_free(x);
  sum = gt_sum(NULL, y, GT_ALL, 0);
  expect("the sum with a seven", gt_item(sum), 2 * N + 5);
  gt_free(y);
  gt_free(sum);
  y = twos(a);         /* freed while the other device reads it, and its memory is used again */
  z = gt_to(y, b);
  gt_free(y);
  y = gt_full(GT_SHAPE(N), 5, GT_FLOAT32, a);
  sum = gt_sum(NULL, z, GT_ALL, 0);
  expect("the sum over there", gt_item(sum), 2 * N);
  gt_free(y);
  gt_free(z);
  gt_free(sum);
  x = y = NULL;
  GT_WITH_STREAM(s) x = twos(a), y = gt_exp(NULL, gt_log(x, x));
  gt_stream_free(s);   /* its work is not lost, and is waited for */
  sum = gt_sum(NULL, y, GT_ALL, 0);
  expect("the sum of a stream that is gone", gt_item(sum), 2 * N);
  gt_free(x);
  gt_free(y);
  gt_free(sum);
}
/* Recorded on two streams, with an upload, and launched three times; x gains what the host writes. */
static void graphs(gt_device device) {
  gt_stream *s = gt_stream_create(device, 0), *t = gt_stream_create(device, 0);
  gt_graph *graph;
  float *p;
  int i;
  GT_SCOPE {
    gt_tensor *x = twos(device), *y = NULL, *sum = NULL;
    gt_tensor *pinned = gt_empty_pinned(GT_SHAPE(N), GT_FLOAT32);
    gt_fill(pinned, 1);
    gt_synchronize(gt_cpu());
    if (t) gt_stream_native(t); /* whoever has it may capture it, which is asked from now on */
    if (s && t) gt_graph_begin(s);
    GT_WITH_STREAM(s) y = gt_to(pinned, device), gt_add(x, x, y);
    GT_WITH_STREAM(t) sum = gt_sum(NULL, gt_eval(NULL, "a*2 + b", x, y), GT_ALL, 0);
    graph = gt_graph_end();
    for (i = 1; i <= 3; i++) {
      p = (float *)gt_data(pinned);
      if (p) p[0] = (float)i;
      if (graph) gt_graph_launch(graph, i % 2 ? s : t);
    }
    expect("the sum of a graph", gt_item(sum), (5 * 2 + 1) * (N - 1) + 8 * 2 + 3);
    gt_graph_free(graph);
  }
  gt_stream_free(t);
  gt_stream_free(s);
}
/* The same, traced. */
static void traces(gt_device device) {
  FILE *file = fopen(json, "w");
  gt_trace_start(200);
  gt_range_push("graphs");
  graphs(device);
  gt_range_pop();
  gt_trace_stop();
  expect("the trace is empty", gt_error() || gt_trace_overlap().records > 0, 1);
  if (file) gt_trace_print(file, 0), fclose(file);
  gt_trace_save(json);
}
static void scenario(void) {
  int64_t v[] = {1, 2, 3, 4};
  gt_device a, b;
  int before;
  GT_SCOPE gt_save_npy(npy, gt_from_array(v, GT_SHAPE(4), GT_INT64, gt_cpu()));
  a = gt_cuda(0);
  b = gt_cuda(1);
  if (gt_error()) return;
  one_device(a);
  one_device(b);
  before = sim_device();
  both_devices(a, b);
  expect("pools open to the other device", (double)sim_calls("cudaMemPoolSetAccess"), 2);
  let_go(a, b);
  graphs(a);
  traces(b);
  if (!sim_failed()) gt_warmup(a); /* a million elements: where its own calls fail, and where none does */
  expect("the current device", sim_device(), before);
  if (!gt_error()) gt_empty_cache(); /* after an error gt_from_array may still read what it was given */
}

/* ---- one run ---- */
static void left_behind(void) {
  char text[300];
  if (hooks_live()) printf("%d host blocks left; ", (int)hooks_live());
  if (sim_left(text, sizeof text)) printf("%s", text);
  if (gt_report_leaks(NULL)) printf("%d handles left; ", (int)gt_report_leaks(NULL));
}
/* Without these the library cannot get to a device, also not to free what is there. */
static int enters(const char *function) {
  return !strncmp(function, "cuCtx", 5) || !strcmp(function, "cudaGetDevice") ||
         !strcmp(function, "cudaSetDevice") || !strcmp(function, "cuDevicePrimaryCtxRetain");
}
/* Prints what is not as it must be. Without a function nothing fails, and nth is another seed. */
static void run(const char *function, int nth, int sticky, int code) {
  char text[1000];
  sim_reset((uint64_t)nth * 31 + (uint64_t)sticky, 2);
  if (function) sim_fail(function, nth, sticky);
  sim_fail_code(code);
  scenario();
  if (gt_error() && !gt_error_message()[0]) printf("an error without a message; ");
  if (gt_error() && !sim_failed()) printf("an error though nothing failed; ");
  if (cudaPeekAtLastError()) printf("CUDA's last error is left at %d; ", (int)cudaGetLastError());
  if (getenv("FAILURES_SAY")) printf("[%s] ", gt_error_message());
  if (function) sim_fail(function, 0, 0);
  gt_clear_error();
  gt_shutdown();
  if (!sticky || !enters(function)) left_behind();
  if (sim_violations(text, sizeof text))
    printf("violation: %.*s; ", (int)strcspn(text, "\n"), text);
}

/* A handler that looks at the tensors of the failing call, which has to be over with them. */
static gt_tensor *looked_at;
static int looks;
static void look(gt_status status, const char *message, void *user) {
  char text[400];
  (void)user;
  looks++;
  if (!status || !*message) printf("the handler was told nothing; ");
  if (gt_to_string(looked_at, text, sizeof text) < 0) printf("the handler could not read; ");
}
static void child_look(const void *what) {
  (void)what;
  sim_reset(7, 1);
  gt_tensor *x = counted(10, 100, gt_cuda(0)), *y = NULL;
  looked_at = gt_zeros(GT_SHAPE(10, 100), GT_FLOAT32, gt_cpu());
  gt_synchronize(gt_cuda(0));
  gt_set_error_handler(look, NULL);
  sim_fail("cudaMemcpyAsync", 1, 0);
  if (gt_copy(looked_at, x)) printf("the copy did not fail; ");
  sim_fail("cudaMemcpyAsync", 0, 0);
  gt_clear_error();
  y = gt_copy(looked_at, x); /* and the call leaves nothing locked */
  if (!y || looks != 1) printf("the handler looked %d times; ", looks);
}

/* Header and kernels of one version that do not belong together. */
static void child_layout(const void *what) {
  (void)what;
  sim_reset(7, 1);
  sim_other_layout = 1;
  gt_free(gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cuda(0)));
  if (gt_error() != GT_ERROR_VERSION) printf("status %s; ", gt_status_string(gt_error()));
  if (!strstr(gt_error_message(), "what they share differs: copy both files"))
    printf("the message \"%s\"; ", gt_error_message());
}

/* Work on the CPU that waits for a GPU meets a code of the GPU's, which keeps its device. */
typedef struct { int how; const char *function; } one_blame;
/* The stream that used a tensor last ends while the host waits for others that used it; then one of
   those waits fails, and the message is not about a stream that is gone. */
static pthread_barrier_t meeting;
static void *end_stream(void *stream) {
  pthread_barrier_wait(&meeting);
  gt_stream_free((gt_stream *)stream); /* at once: its work is done */
  pthread_barrier_wait(&meeting);
  return NULL;
}
static void let_it_end(void *unused) { /* within the first of the waits */
  (void)unused;
  pthread_barrier_wait(&meeting);
  pthread_barrier_wait(&meeting);
  sim_fail_code(700);
  sim_fail("cudaStreamSynchronize", 1, 1);
  sim_fail("cudaEventSynchronize", 1, 1);
}
static void child_ended(const void *what) {
  const gt_device device = (sim_reset(7, 1), gt_cuda(0));
  gt_stream *s[3];
  gt_tensor *x = gt_empty_pinned(GT_SHAPE(3, 100), GT_FLOAT32);
  gt_tensor *y = gt_ones(GT_SHAPE(100), GT_FLOAT32, device), *z = gt_copy(NULL, y);
  pthread_t thread;
  (void)what;
  gt_synchronize(device);
  pthread_barrier_init(&meeting, NULL, 2);
  for (int i = 0; i < 3; i++) s[i] = gt_stream_create(device, 0);
  gt_stream_call(s[0], let_it_end, NULL);
  for (int i = 0; i < 2; i++) GT_WITH_STREAM(s[i]) gt_copy(gt_select(x, 0, i), y);
  GT_WITH_STREAM(s[2]) gt_copy(z, gt_select(x, 0, 2));
  gt_stream_synchronize(s[2]);
  pthread_create(&thread, NULL, end_stream, s[2]);
  if (gt_data(x) || gt_error() != GT_ERROR_DEVICE_LOST || strstr(gt_error_message(), "last operations"))
    printf("the message \"%s\"; ", gt_error_message());
  pthread_join(thread, NULL);
}

static void blamed(const char *name) {
  if (gt_error() != GT_ERROR_DEVICE_LOST) printf("status %s; ", gt_status_string(gt_error()));
  if (!strstr(gt_error_message(), name) || !strstr(gt_error_message(), "cudaErrorIllegalAddress"))
    printf("the message \"%s\"; ", gt_error_message());
  gt_clear_error();
}
/* On a CPU stream's own thread: whatever would have come behind the wait is not done. */
static void waited_in_vain(gt_stream *s, const gt_tensor *p) {
  gt_tensor *y, *z;
  sim_fail("cudaEventSynchronize", 1, 0);
  GT_WITH_STREAM(s) y = gt_add(NULL, p, p), z = gt_mul(NULL, p, p);
  gt_stream_synchronize(s);
  if (!gt_error() || !strstr(gt_error_message(), "a GPU's work, for which this stream waited"))
    printf("the stream says \"%s\"; ", gt_error_message());
  gt_clear_error();
  if (gt_data(y) || !strstr(gt_error_message(), "gt_add on a stream of the CPU failed"))
    printf("the sum: \"%s\"; ", gt_error_message());
  gt_clear_error();
  if (gt_data(z) || !strstr(gt_error_message(), "gt_mul on a stream of the CPU failed"))
    printf("the product: \"%s\"; ", gt_error_message());
  gt_clear_error();
  GT_WITH_STREAM(s) gt_add(y, p, p); /* and it goes on */
  if (!gt_data(y)) printf("again: \"%s\"; ", gt_error_message());
}
static void blame(const one_blame *c) {
  const gt_device last = (sim_reset(7, 2), gt_cuda(1));
  gt_stream *s = gt_stream_create(gt_cpu(), 0), *g = gt_stream_create(last, 0);
  gt_tensor *x = counted(10, 100, last), *p = gt_empty_pinned(GT_SHAPE(10, 100), GT_FLOAT32);
  gt_event *e = gt_event_create();
  gt_synchronize(last);
  GT_WITH_STREAM(g) gt_copy(p, gt_exp(NULL, x)); /* on its way when the call returns */
  gt_event_record(e, g);
  if (gt_error()) printf("before: %s; ", gt_error_message());
  sim_fail_code(700);
  if (c->how == 6) {
    waited_in_vain(s, p);
    return;
  }
  sim_fail(c->function, 1, 1);
  if (c->how == 0) gt_add(NULL, p, p);           /* the calling thread waits */
  if (c->how == 1) gt_data(p);
  if (c->how == 2) GT_WITH_STREAM(s) gt_add(NULL, p, p);
  if (c->how == 3) gt_stream_wait_stream(s, g);
  if (c->how == 4) gt_stream_wait_event(s, e);
  if (c->how == 5) gt_event_synchronize(e);
  if (!sim_failed()) printf("%s was not called; ", c->function);
  blamed("cuda:1: ");
  sim_fail(c->function, 0, 0);
  sim_fail_code(0);
  gt_add(NULL, x, x);                            /* that GPU is lost, and only that one */
  if (gt_error() != GT_ERROR_DEVICE_LOST || !strstr(gt_error_message(), "cuda:1 was lost"))
    printf("it is not lost: \"%s\"; ", gt_error_message());
  gt_clear_error();
  gt_free(gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cpu()));
  gt_free(gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cuda(0)));
  if (gt_error()) printf("others: %s; ", gt_error_message());
}

/* In a new program, since there are no CPU streams after a fork. */
static void child_blame(const void *what) {
  const one_blame *c = (const one_blame *)what;
  char how[12], program[] = "failures", option[] = "--blame", *argv[5];
  snprintf(how, sizeof how, "%d", c->how);
  argv[0] = program;
  argv[1] = option;
  argv[2] = how;
  argv[3] = (char *)(uintptr_t)c->function;
  argv[4] = NULL;
  execv("/proc/self/exe", argv);
  printf("no new program; ");
}

/* ---- all of them ---- */
static void died(int signal_number) { /* what was printed so far says more than the signal */
  char text[40];
  const int n = snprintf(text, sizeof text, "signal %d; ", signal_number);
  fflush(stdout);
  if (write(1, text, (size_t)n) != n) _exit(2);
  _exit(1);
}
/* Runs it in a child and returns what that has printed. */
static const char *report_of(void (*child)(const void *), const void *what) {
  static char report[8192];
  size_t n = 0;
  ssize_t more;
  int ends[2], status = 0;
  pid_t pid;
  fflush(NULL);
  if (pipe(ends)) exit(2);
  pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    setvbuf(stdout, NULL, _IOFBF, 8192);
    signal(SIGALRM, died);
    signal(SIGABRT, died);
    alarm(SECONDS);
    child(what);
    fflush(stdout);
    _exit(0);
  }
  close(ends[1]);
  while ((more = read(ends[0], report + n, sizeof report - 1 - n)) > 0) n += (size_t)more;
  close(ends[0]);
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status))
    n += (size_t)snprintf(report + n, sizeof report - n, "signal %d; ", WTERMSIG(status));
  else if (WEXITSTATUS(status) && !n)
    n += (size_t)snprintf(report + n, sizeof report - n, "exit code %d; ", WEXITSTATUS(status));
  report[n] = 0;
  return report;
}
typedef struct { const char *function; int nth, sticky, code; } one_case;
static void child_run(const void *what) {
  const one_case *c = (const one_case *)what;
  run(c->function, c->nth, c->sticky, c->code);
}
/* What the scenario calls, and how often, when nothing fails. */
static void child_survey(const void *what) {
  const char *names[SIM_FUNCTION_COUNT];
  int n, k;
  (void)what;
  sim_reset(0, 2);
  scenario();
  gt_shutdown();
  n = sim_seen(names, SIM_FUNCTION_COUNT);
  for (k = 0; k < n; k++) printf("%s %d\n", names[k], (int)sim_calls(names[k]));
}
static void check_case(const char *function, int nth, int sticky, int code) {
  one_case c;
  const char *report;
  c.function = function;
  c.nth = nth;
  c.sticky = sticky;
  c.code = code;
  report = report_of(child_run, &c);
  CHECK_TEXT(!*report, "call %d%s, code %d: %s", nth, sticky ? " and later ones" : "", code,
             report);
}
static void check_function(const char *function, int n) {
  const int step = QUICK && n > 20 ? n / 20 : 1;
  int nth;
  case_begin("%s, %d calls", function, n);
  for (nth = 1; nth <= n; nth += step) {
    check_case(function, nth, 0, 0);
    check_case(function, nth, 1, 0);
  }
  /* a lost device: it says so from now on, and nothing else breaks */
  check_case(function, 1, 0, cudaErrorLaunchFailure);
  check_case(function, (n + 1) / 2, 1, cudaErrorLaunchFailure);
  case_end();
}
int main(int argc, char **argv) {
  char name[64], *list, *line;
  int n;
  snprintf(npy, sizeof npy, "/tmp/gputensor-failures-%d.npy", (int)getpid());
  snprintf(json, sizeof json, "/tmp/gputensor-failures-%d.json", (int)getpid());
  if (argc == 4 && strcmp(argv[1], "--blame") == 0) {
    one_blame c;
    c.how = atoi(argv[2]);
    c.function = argv[3];
    blame(&c);
    fflush(stdout);
    _exit(0); /* as after the other runs */
  }
  if (argc >= 4) {
    run(argv[1], atoi(argv[2]), atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
    printf("\n");
    remove(npy);
    remove(json);
    return 0;
  }
  check_start("sim-failures", argc, argv);
  case_begin("nothing fails");
  for (n = 0; n < (QUICK ? 20 : 100); n++) check_case(NULL, n, 0, 0);
  case_end();
  case_begin("a handler that reads the tensor of the failing call");
  CHECK_STR(report_of(child_look, NULL), "");
  case_end();
  case_begin("a stream that ends while others are waited for");
  CHECK_STR(report_of(child_ended, NULL), "");
  case_end();
  case_begin("whose code it is");
  for (n = 0; n < 6; n++) {
    static const char *const function[] = {
        "cudaStreamSynchronize", "cudaStreamSynchronize", "cudaEventRecord",
        "cudaEventRecord", "cudaEventRecord", "cudaEventSynchronize"};
    one_blame c;
    c.how = n;
    c.function = function[n];
    CHECK_TEXT(!*report_of(child_blame, &c), "%d: %s", n, report_of(child_blame, &c));
  }
  case_end();
  case_begin("a stream's thread that waited in vain");
  {
    const one_blame c = {6, "cudaEventSynchronize"};
    CHECK_STR(report_of(child_blame, &c), "");
  }
  case_end();
  case_begin("kernels of another layout");
  CHECK_STR(report_of(child_layout, NULL), "");
  case_end();
  list = strdup(report_of(child_survey, NULL));
  for (line = strtok(list, "\n"); line; line = strtok(NULL, "\n"))
    if (sscanf(line, "%63s %d", name, &n) == 2) check_function(name, n);
  free(list);
  remove(npy);
  remove(json);
  return check_finish();
}
