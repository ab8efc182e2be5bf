/* Traces: what they record, the file, which is read by a parser of JSON that knows nothing of the library, the
   picture, and the sums, which are done again here. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- JSON, strictly: RFC 8259 ---- */
typedef struct json {
  char type;         /* o a s n t f 0 (null) */
  char *key, *text;  /* of a member; of a string */
  double number;
  struct json *first, *next;
} json;
static json pool[200000];
static char texts[4 << 20];
static int n_pool;
static size_t n_texts;
static const char *at; /* NULL after a mistake */
static json *value(int depth);

static void blank(void) { while (at && *at && strchr(" \t\r\n", *at)) at++; }
static int take(char c) {
  if (!at || *at != c) return 0;
  at++;
  return 1;
}
static json *bad(void) { return at = NULL, (json *)NULL; }
static int is_utf8(const unsigned char *p, size_t n) {
  size_t i = 0;
  while (i < n) {
    const size_t more = p[i] < 0x80 ? 0 : p[i] >= 0xc2 && p[i] < 0xe0 ? 1 : (p[i] & 0xf0) == 0xe0 ? 2 : p[i] >= 0xf0 && p[i] < 0xf5 ? 3 : 9;
    if (more == 9 || i + more >= n + (more == 0)) return 0;
    if (p[i] == 0xe0 && p[i + 1] < 0xa0) return 0;
    for (size_t k = 1; k <= more; k++) if ((p[i + k] & 0xc0) != 0x80) return 0;
    i += more + 1;
  }
  return 1;
}
static char *string(void) {
  char *const begin = texts + n_texts;
  if (!take('"')) return (char *)bad();
  while (at && *at != '"') {
    unsigned char c = (unsigned char)*at++;
    if (c < 0x20 || n_texts + 8 > sizeof texts) return (char *)bad();
    if (c == '\\') {
      const char *const known = "\"\\/bfnrt", *found = *at ? strchr(known, *at) : NULL;
      if (found) c = (unsigned char)"\"\\/\b\f\n\r\t"[found - known], at++;
      else {
        unsigned code = 0;
        if (*at++ != 'u' || strspn(at, "0123456789abcdefABCDEF") < 4 || sscanf(at, "%4x", &code) != 1 || code > 0x7f)
          return (char *)bad();
        c = (unsigned char)code;
        at += 4;
      }
    }
    texts[n_texts++] = (char)c;
  }
  if (!take('"') || !is_utf8((unsigned char *)begin, (size_t)(texts + n_texts - begin))) return (char *)bad();
  texts[n_texts++] = 0;
  return begin;
}
static int digits(void) {
  const char *const from = at;
  while (*at >= '0' && *at <= '9') at++;
  return at > from;
}
static json *number(json *v) {
  const char *const from = at;
  int good;
  take('-');
  good = *at == '0' ? at++ != NULL : digits();
  if (good && take('.')) good = digits();
  if (good && (*at == 'e' || *at == 'E')) {
    at++;
    if (*at == '+' || *at == '-') at++;
    good = digits();
  }
  v->type = 'n';
  v->number = strtod(from, NULL);
  return good ? v : bad();
}
static json *members(json *v, char end, int depth) {
  json **last = &v->first;
  blank();
  if (take(end)) return v;
  do {
    char *key = NULL;
    blank();
    if (end == '}') {
      key = string();
      blank();
      if (!take(':')) return bad();
    }
    *last = value(depth + 1);
    if (!*last) return bad();
    (*last)->key = key;
    last = &(*last)->next;
    blank();
  } while (take(','));
  return take(end) ? v : bad();
}
static json *value(int depth) {
  json *v = &pool[n_pool++];
  blank();
  if (!at || depth > 20 || n_pool >= (int)(sizeof pool / sizeof *pool)) return bad();
  memset(v, 0, sizeof *v);
  if (*at == '"') return v->type = 's', v->text = string(), v->text ? v : bad();
  if (take('{')) return v->type = 'o', members(v, '}', depth);
  if (take('[')) return v->type = 'a', members(v, ']', depth);
  if (!strncmp(at, "true", 4)) return v->type = 't', at += 4, v;
  if (!strncmp(at, "false", 5)) return v->type = 'f', at += 5, v;
  if (!strncmp(at, "null", 4)) return v->type = '0', at += 4, v;
  return number(v);
}
static json *parse(const char *text) {
  json *v;
  n_pool = 0;
  n_texts = 0;
  at = text;
  v = value(0);
  blank();
  return v && at && !*at ? v : NULL;
}
static const json *get(const json *v, const char *key) {
  for (v = v ? v->first : NULL; v; v = v->next)
    if (v->key && !strcmp(v->key, key)) return v;
  return NULL;
}
static double num(const json *v, const char *key) {
  v = get(v, key);
  return v && v->type == 'n' ? v->number : (double)NAN;
}
static const char *str(const json *v, const char *key) {
  v = get(v, key);
  return v && v->type == 's' ? v->text : "";
}
static void test_parser(void) {
  static const char *const wrong[] = {"", "{", "[1,]", "{\"a\":1,}", "01", "1.", "+1", "nul", "\"\n\"", "\"\\x\"", "[1 2]", "{1:2}", "1 1", "\"\xff\"", "\"\xe0\x80\x80\"", "NaN", "-", "1e"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CHECK_TEXT(!parse(wrong[i]), "%s is taken", wrong[i]);
  CHECK(parse(" {\"a\": [1, -0.5e+3, \"\\u0041\\n\xed\x95\x99\", true, null, {}, []]} ") != NULL);
  CHECK_NUM(num(parse("{\"x\":-12.5e1}"), "x"), -125);
}

/* ---- a trace from its file ---- */
typedef struct { int pid, tid; int64_t begin, end; const char *name, *kind; const json *args; } slice;
enum { MOST = 40000 };
static slice slices[MOST];
static int n_slices, arrows, counters, n_lanes;
static const json *whole;
static char path[] = "/tmp/gputensor-trace-XXXXXX";
static int64_t ns(double us) { return (int64_t)llround(us * 1e3); }

static char *read_file(const char *name) {
  FILE *f = fopen(name, "rb");
  char *text = NULL;
  long n;
  if (!f) return NULL;
  fseek(f, 0, SEEK_END);
  n = ftell(f);
  rewind(f);
  text = (char *)calloc((size_t)n + 1, 1);
  if (fread(text, 1, (size_t)n, f) != (size_t)n) text[0] = 0;
  fclose(f);
  return text;
}
static int by_lane(const void *a, const void *b) {
  const slice *x = (const slice *)a, *y = (const slice *)b;
  if (x->pid != y->pid) return x->pid - y->pid;
  if (x->tid != y->tid) return x->tid - y->tid;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  if ((x->end > x->begin) != (y->end > y->begin)) return x->end > x->begin ? 1 : -1; /* of no length: before others */
  return x->end == y->end ? 0 : x->end > y->end ? -1 : 1;
}
static int is_thread(const slice *s) { return s->pid == 0 && s->tid < 100000; }
static int in_slice(int pid, int tid, int64_t time) {
  for (int i = 0; i < n_slices; i++)
    if (slices[i].pid == pid && slices[i].tid == tid && slices[i].begin <= time && time <= slices[i].end) return 1;
  return 0;
}
/* Slices of a lane come one after the other; those of a thread may also be in one another. */
static void check_lanes(void) {
  int64_t open[64];
  int depth = 0;
  n_lanes = 0;
  for (int i = 0; i < n_slices; i++) {
    const slice *s = &slices[i];
    const int fresh = !i || s->pid != s[-1].pid || s->tid != s[-1].tid;
    if (fresh) depth = 0;
    n_lanes += fresh;
    while (depth && open[depth - 1] <= s->begin) depth--;
    if (depth) CHECK_TEXT(is_thread(s) && s->end <= open[depth - 1], "%s at %" PRId64 " of %d/%d overlaps another", s->name, s->begin, s->pid, s->tid);
    if (depth < 64) open[depth++] = s->end;
  }
}
static void check_names(const json *events) {
  for (int i = 0; i < n_slices; i++) {
    int lanes = 0, processes = 0;
    if (i && slices[i].pid == slices[i - 1].pid && slices[i].tid == slices[i - 1].tid) continue;
    for (const json *e = events->first; e; e = e->next) {
      if (num(e, "pid") != slices[i].pid || strcmp(str(e, "ph"), "M")) continue;
      processes |= !strcmp(str(e, "name"), "process_name");
      lanes += num(e, "tid") == slices[i].tid && !strcmp(str(e, "name"), "thread_name") && str(get(e, "args"), "name")[0];
    }
    CHECK_TEXT(lanes == 1 && processes == 1, "lane %d/%d has %d names, its process %d", slices[i].pid, slices[i].tid, lanes, processes);
  }
}
static void check_arrow(const json *events, const json *s) {
  int found = 0;
  CHECK(in_slice((int)num(s, "pid"), (int)num(s, "tid"), ns(num(s, "ts"))));
  for (const json *f = events->first; f; f = f->next) {
    if (num(f, "id") != num(s, "id") || f == s) continue;
    found++;
    CHECK_STR(str(f, "ph"), "f");
    CHECK(num(f, "ts") >= num(s, "ts"));
    CHECK(in_slice((int)num(f, "pid"), (int)num(f, "tid"), ns(num(f, "ts"))));
  }
  CHECK_INT(found, 1);
  arrows++;
}
static void load_events(const json *events) {
  int ends = 0;
  n_slices = arrows = counters = 0;
  for (const json *e = events->first; e; e = e->next) {
    const char *ph = str(e, "ph");
    CHECK(strlen(ph) == 1 && strchr("MXsfC", *ph));
    CHECK(num(e, "pid") >= 0 && num(e, "tid") >= 0 && num(e, "ts") >= 0);
    if (*ph == 'X' && n_slices < MOST) {
      slice x = {(int)num(e, "pid"), (int)num(e, "tid"), ns(num(e, "ts")), 0, str(e, "name"), str(e, "cat"), get(e, "args")};
      x.end = x.begin + ns(num(e, "dur"));
      CHECK(num(e, "dur") >= 0 && x.name[0] && str(x.args, "call")[0]);
      slices[n_slices++] = x;
    }
    ends += *ph == 'f';
    if (*ph != 'C') continue;
    CHECK(num(get(e, "args"), "bytes") >= 0);
    counters++;
  }
  qsort(slices, (size_t)n_slices, sizeof *slices, by_lane);
  for (const json *e = events->first; e; e = e->next)
    if (*str(e, "ph") == 's') check_arrow(events, e);
  CHECK_INT(ends, arrows);
  check_lanes();
  check_names(events);
}
/* The time in which any of the slices worked that `lane` chooses: a pid and tid, or -1: all work. */
static int is_work(const slice *s) { return !strcmp(s->kind, "work"); }
static double union_ms(int pid, int low, int high) {
  int64_t sum = 0, until = -1;
  for (int i = 0; i < n_slices; i++) { /* quadratic, plainly: the next to begin, again and again */
    const slice *next = NULL;
    for (int k = 0; k < n_slices; k++) {
      const slice *s = &slices[k];
      if (!is_work(s) || s->end <= until || s->end <= s->begin) continue;
      if (pid >= 0 && (s->pid != pid || s->tid < low || s->tid > high)) continue;
      if (!next || s->begin < next->begin) next = s;
    }
    if (!next) break;
    sum += next->end - (next->begin > until ? next->begin : until);
    until = next->end;
  }
  return (double)sum * 1e-6;
}
/* The sums again: engines of GPUs work while any of their slices does; who computes on the CPU at most as long. */
static void check_sums(void) {
  const gt_overlap o = gt_trace_overlap();
  const json *other = get(whole, "otherData");
  double engines = 0, cpu = 0;
  CHECK_INT(num(other, "dropped"), o.dropped);
  CHECK_INT(num(other, "records"), o.records);
  CHECK_NEAR(num(other, "busy_ms"), o.busy_ms, 6e-4);
  CHECK_NEAR(num(other, "any_ms"), o.any_ms, 6e-4);
  CHECK_NEAR(o.any_ms, union_ms(-1, 0, 0), 1e-5 * (1 + n_slices));
  for (int pid = 1; pid < 9; pid++)
    engines += union_ms(pid, 1, 1) + union_ms(pid, 2, 999) + union_ms(pid, 1000, 1000) + union_ms(pid, 1001, 1001);
  for (int i = 0; i < n_slices; i++)
    if (slices[i].pid == 0 && is_work(&slices[i])) cpu += (double)(slices[i].end - slices[i].begin) * 1e-6;
  CHECK(o.busy_ms <= engines + cpu + 1e-5 * (1 + n_slices));
  CHECK(o.busy_ms >= engines - 1e-5 * (1 + n_slices));
  CHECK(o.any_ms <= o.span_ms + 1e-9);
  CHECK_NEAR(o.gain * o.any_ms, o.busy_ms, 1e-9);
  CHECK((o.gain >= GT_SMALL_GAIN || o.any_ms == 0) == (o.reason[0] == 0));
}
/* Saves the trace that has ended and looks at all of it. */
static void load_trace(void) {
  static char *text;
  free(text);
  CHECK_INT(gt_trace_save(path), GT_OK);
  text = read_file(path);
  whole = text ? parse(text) : NULL;
  n_slices = 0;
  CHECK_TEXT(whole != NULL, "%s is not JSON near %.60s", path, at ? at : "?");
  if (!whole || !get(whole, "traceEvents")) return;
  load_events(get(whole, "traceEvents"));
  check_sums();
}
/* Slices of that name, on threads (0), streams (1) or engines of GPUs (2). */
static int count_of(const char *name, int where) {
  int n = 0;
  for (int i = 0; i < n_slices; i++) {
    const int place = is_thread(&slices[i]) ? 0 : slices[i].tid >= 100000 ? 1 : 2;
    n += place == where && !strcmp(slices[i].name, name);
  }
  return n;
}
static const slice *slice_of(const char *name) {
  for (int i = 0; i < n_slices; i++)
    if (!strcmp(slices[i].name, name)) return &slices[i];
  return NULL;
}
static const json *args_of(const char *name) {
  const slice *s = slice_of(name);
  CHECK_TEXT(s != NULL, "no slice is called %s", name);
  return s ? s->args : NULL;
}
/* A function of the program's on a stream. */
static void add_one(void *argument) { ++*(float *)argument; }
static void test_call(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  gt_tensor *x = gt_empty_pinned(GT_SHAPE(1), GT_FLOAT32);
  float *value = (float *)gt_data(x);
  *value = 5;
  CHECK_INT(gt_trace_start(100), GT_OK);
  CHECK_INT(gt_stream_writes(s, x), GT_OK);
  CHECK_INT(gt_stream_call(s, add_one, value), GT_OK);
  CHECK_INT(gt_stream_call(gt_current_stream(gt_cpu()), add_one, value + 0 * (int)gt_item(x)), GT_OK);
  CHECK_INT(gt_trace_stop(), GT_OK);
  CHECK_NUM(*value, 7);
  load_trace();
  CHECK_INT(count_of("gt_stream_call", 0), 2); /* enqueued, and done by this thread */
  CHECK_INT(count_of("gt_stream_call", 1), 1);
  CHECK_INT(count_of("gt_stream_call", 2), DEV.type == GT_CUDA);
  CHECK_STR(str(args_of("gt_stream_call"), "way"), "host");
  gt_free(x);
  gt_stream_free(s);
}
/* Where work on DEV's default stream is seen. */
static int default_lane(void) { return DEV.type == GT_CUDA; }

/* ---- tests ---- */
static gt_tensor *ones(int64_t n) { return gt_ones(GT_SHAPE(n), GT_FLOAT32, DEV); }
static void test_off(void) {
  GT_SCOPE {
    gt_tensor *x = ones(100);
    REFUSED_IF(gt_trace_stop() != GT_OK, GT_ERROR_STATE, "no trace is on");
    REFUSED_IF(gt_trace_save(path) != GT_OK, GT_ERROR_STATE, "no trace that has ended");
    CHECK_INT(gt_trace_start(100), GT_OK);
    CHECK_INT(gt_trace_stop(), GT_OK);
    gt_add(x, x, x);
    gt_item(gt_sum(NULL, x, GT_ALL, 0));
    load_trace();
    CHECK_INT(n_slices, 0);
    CHECK_INT(gt_trace_overlap().records, 0);
    CHECK_NUM(gt_trace_overlap().gain, 0);
  }
}
static void test_mistakes(void) {
  char before[200];
  REFUSED_IF(gt_trace_start(0) != GT_OK, GT_ERROR_ARGUMENT, "room for 0 records");
  REFUSED_IF(gt_trace_start(-5) != GT_OK, GT_ERROR_ARGUMENT, "room for -5 records");
  REFUSED_IF(gt_trace_start(INT64_MAX) != GT_OK, GT_ERROR_ARGUMENT, "records; give 1 to");
  REFUSED_IF(gt_trace_stop() != GT_OK, GT_ERROR_STATE, "gt_trace_start begins one");
  CHECK_INT(gt_trace_start(50), GT_OK);
  REFUSED_IF(gt_trace_start(50) != GT_OK, GT_ERROR_STATE, "a trace is on");
  REFUSED_IF(gt_trace_save(path) != GT_OK, GT_ERROR_STATE, "no trace that has ended");
  REFUSED_IF(gt_trace_print(stdout, 0) != GT_OK, GT_ERROR_STATE, "no trace that has ended");
  CHECK_NUM(gt_trace_overlap().any_ms, 0);
  GT_SCOPE gt_add(NULL, ones(10), ones(10));
  CHECK_INT(gt_trace_stop(), GT_OK);
  REFUSED_IF(gt_trace_stop() != GT_OK, GT_ERROR_STATE, "no trace is on");
  CHECK(gt_trace_overlap().records >= 3); /* the one that was refused disturbed nothing */
  REFUSED_IF(gt_trace_save(NULL) != GT_OK, GT_ERROR_ARGUMENT, "the path is NULL");
  REFUSED_IF(gt_trace_save("/tmp/no-such-folder/x.json") != GT_OK, GT_ERROR_FILE, "no-such-folder");
  REFUSED_IF(gt_trace_print(NULL, 0) != GT_OK, GT_ERROR_ARGUMENT, "the file is NULL");
  REFUSED_IF(gt_trace_print(stdout, 7) != GT_OK, GT_ERROR_ARGUMENT, "7 columns");
  REFUSED_IF(gt_trace_print(stdout, -1) != GT_OK, GT_ERROR_ARGUMENT, "-1 columns");
  REFUSED_IF(gt_trace_print(stdout, 1001) != GT_OK, GT_ERROR_ARGUMENT, "1001 columns");
  REFUSED_IF(gt_range_push(NULL) != GT_OK, GT_ERROR_ARGUMENT, "the name is NULL");
  REFUSED_IF(gt_range_pop() != GT_OK, GT_ERROR_STATE, "no range is open");
  snprintf(before, sizeof before, "%s", gt_trace_overlap().reason);
  hooks_fail_once(1);
  REFUSED_IF(gt_trace_start(50) != GT_OK, GT_ERROR_MEMORY, "out of host memory");
  hooks_fail_once(0);
  CHECK_STR(gt_trace_overlap().reason, before); /* the trace before is still there */
  load_trace();
}
static void test_operations(void) {
  const int lane = default_lane();
  gt_statistics stats;
  CHECK_INT(gt_trace_start(1000), GT_OK);
  GT_SCOPE {
    gt_tensor *x = ones(3000), *a = gt_ones(GT_SHAPE(20, 30), GT_FLOAT32, DEV), *b = gt_ones(GT_SHAPE(30, 40), GT_FLOAT32, DEV);
    char text[] = "a*2 + \"b\"";
    snprintf(text, sizeof text, "a*2 + b");
    gt_eval(NULL, text, x, x);
    memset(text, 'x', sizeof text - 1); /* it was copied */
    gt_sub(x, x, x);
    gt_reduce(NULL, GT_SUM, GT_DIM(0), 0, "a - 1", a);
    gt_mean(NULL, a, GT_DIM(1), 0);
    gt_matmul(NULL, a, b);
    gt_matmul_eval(NULL, a, b, "relu(a)");
    gt_copy(NULL, gt_transpose(a, 0, 1));
    gt_to(x, gt_cpu());
  }
  CHECK_INT(gt_trace_stop(), GT_OK);
  gt_stats(&stats);
  load_trace();
  CHECK_INT(count_of("a*2 + b", lane), 1);
  CHECK_INT(num(args_of("a*2 + b"), "elements"), 3000);
  CHECK_STR(str(args_of("a*2 + b"), "call"), "gt_eval");
  CHECK(str(args_of("a*2 + b"), "way")[0] != 0);
  CHECK_INT(count_of("gt_sub", lane), 1);
  CHECK_INT(num(args_of("a - 1"), "outputs"), 30);
  CHECK_INT(num(args_of("a - 1"), "folded"), 20);
  CHECK_INT(num(args_of("gt_mean"), "outputs"), 20);
  CHECK_INT(num(args_of("gt_matmul"), "M"), 20);
  CHECK_INT(num(args_of("gt_matmul"), "N"), 40);
  CHECK_INT(num(args_of("gt_matmul"), "K"), 30);
  CHECK_INT(num(args_of("gt_matmul"), "batch"), 1);
  CHECK_STR(str(args_of("gt_matmul"), "dtype"), "float32");
  CHECK(str(args_of("gt_matmul"), "way")[0] != 0);
  CHECK_STR(str(args_of("relu(a)"), "call"), "gt_matmul_eval");
  CHECK_INT(num(args_of("gt_copy"), "bytes"), 2400);
  CHECK_INT(count_of("gt_copy", 2), DEV.type == GT_CUDA);
  if (DEV.type == GT_CUDA) {
    CHECK_INT(num(args_of("gt_to"), "bytes"), 12000);
    CHECK_STR(str(args_of("gt_to"), "direction"), "to the host");
    CHECK_STR(str(args_of("gt_to"), "kind"), "async");
    CHECK(get(args_of("gt_to"), "pinned")->type == 't');
  }
  CHECK(counters > 8); /* with each operation */
  NO_ERROR();
}
/* Copies of ordinary memory are whole in the lane of the host, in pieces elsewhere. */
static void test_copies(void) {
  const int64_t n = 3 << 20; /* 12 MiB: several pieces */
  if (DEV.type != GT_CUDA) {
    skip("copies", "no GPU");
    return;
  }
  GT_SCOPE {
    gt_tensor *x = gt_ones(GT_SHAPE(n), GT_FLOAT32, gt_cpu()), *y = gt_empty(GT_SHAPE(n), GT_FLOAT32, DEV);
    CHECK_INT(gt_trace_start(1000), GT_OK);
    gt_copy(y, x);
    gt_copy(x, y);
    gt_item(gt_slice(y, 0, 5, 6, 1));
    CHECK_INT(gt_trace_stop(), GT_OK);
  }
  load_trace();
  CHECK_INT(count_of("gt_copy", 1), 12);
  CHECK_INT(count_of("gt_item", 1), 1);
  {
    int staged = 0, blocking = 0;
    for (int i = 0; i < n_slices; i++) {
      if (!is_thread(&slices[i]) || num(slices[i].args, "bytes") != (double)n * 4) continue;
      staged += !strcmp(str(slices[i].args, "kind"), "staged");
      blocking += !strcmp(str(slices[i].args, "kind"), "blocking");
      CHECK(get(slices[i].args, "pinned")->type == 'f');
    }
    CHECK_INT(staged, 1);
    CHECK_INT(blocking, 1);
  }
}
/* Two streams, and all the ways of one waiting for the other, or the host for both. */
static void test_streams(void) {
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  gt_event *e = gt_event_create();
  const int64_t n = QUICK ? 20000 : 500000;
  CHECK_INT(gt_trace_start(2000), GT_OK);
  GT_SCOPE {
    gt_tensor *x = ones(n), *y = ones(n), *z;
    GT_WITH_STREAM(s) gt_eval(x, "exp(a)", x);
    GT_WITH_STREAM(t) z = gt_eval(NULL, "a + b", x, y); /* waits for s, by the library */
    gt_event_record(e, t);
    gt_stream_wait_event(s, e);
    GT_WITH_STREAM(s) gt_eval(z, "a * 3", z);
    gt_stream_wait_stream(t, s);
    GT_WITH_STREAM(t) gt_eval(y, "a + 7", y);
    gt_event_record(e, t);
    gt_event_synchronize(e);
    GT_WITH_STREAM(s) gt_eval(x, "a + 9", x);
    gt_stream_synchronize(s);
  }
  CHECK_INT(gt_trace_stop(), GT_OK);
  load_trace();
  CHECK_INT(count_of("exp(a)", 1), 1);
  CHECK_INT(count_of("a + 9", 1), 1);
  CHECK_INT(count_of("a + 9", 0), 1); /* the call */
  CHECK(count_of("gt_event_synchronize", 0) == 1);
  CHECK(count_of("gt_stream_synchronize", 0) == 1);
  /* Those to the host's waits as well, where one clock is behind all: work of a simulated GPU takes no time of
     the host's unless the model is on, and may end behind the wait for it. */
  CHECK(arrows >= (DEV.type == GT_CUDA && !is_gpu(DEV) && !getenv("SIM_CLOCK") ? 3 : 5));
  {
    const slice *a = NULL, *b = NULL;
    for (int i = 0; i < n_slices; i++) {
      if (slices[i].tid < 100000) continue;
      if (!strcmp(slices[i].name, "exp(a)")) a = &slices[i];
      if (!strcmp(slices[i].name, "a + b")) b = &slices[i];
    }
    CHECK(a && b && a->tid != b->tid && a->end <= b->begin);
  }
  gt_event_free(e);
  gt_stream_free(s);
  gt_stream_free(t);
}
static void test_ranges(void) {
  char name[300];
  memset(name, 'n', sizeof name);
  name[sizeof name - 1] = 0;
  CHECK_INT(gt_range_push("before"), GT_OK);
  CHECK_INT(gt_trace_start(500), GT_OK);
  CHECK_INT(gt_range_push("outer"), GT_OK);
  CHECK_INT(gt_range_push("\"quoted\"\\\n\t\x01 \xed\x95\x99"), GT_OK);
  GT_SCOPE gt_add(NULL, ones(10), ones(10));
  CHECK_INT(gt_range_pop(), GT_OK);
  CHECK_INT(gt_range_push(name), GT_OK);
  CHECK_INT(gt_range_pop(), GT_OK);
  CHECK_INT(gt_range_push(""), GT_OK);
  CHECK_INT(gt_range_pop(), GT_OK);
  CHECK_INT(gt_range_pop(), GT_OK);
  CHECK_INT(gt_range_pop(), GT_OK); /* "before" */
  CHECK_INT(gt_range_push("open"), GT_OK);
  CHECK_INT(gt_trace_stop(), GT_OK);
  CHECK_INT(gt_range_pop(), GT_OK);
  REFUSED_IF(gt_range_pop() != GT_OK, GT_ERROR_STATE, "no range is open");
  load_trace();
  CHECK_INT(count_of("before", 0), 0);
  CHECK_INT(count_of("outer", 0), 1);
  CHECK_INT(count_of("\"quoted\"\\\n\t\x01 \xed\x95\x99", 0), 1);
  name[71] = 0;
  CHECK_INT(count_of(name, 0), 1);
  CHECK_INT(count_of("open", 0), 1);
  {
    const slice *outer = slice_of("outer"), *add = slice_of("gt_add"), *open = slice_of("open");
    if (DEV.type == GT_CPU) CHECK(outer && add && outer->begin <= add->begin && add->end <= outer->end);
    CHECK(outer && open && outer->end <= open->begin);
  }
  for (int open = 0; open < 256; open++) CHECK_INT(gt_range_push("deep"), GT_OK);
  REFUSED_IF(gt_range_push("too deep") != GT_OK, GT_ERROR_STATE, "256 ranges are open");
  for (int open = 0; open < 256; open++) CHECK_INT(gt_range_pop(), GT_OK);
  memset(name, 0x80, sizeof name - 1); /* the middle of characters only */
  CHECK_INT(gt_trace_start(500), GT_OK);
  gt_range_push(name);
  gt_range_pop();
  CHECK_INT(gt_trace_stop(), GT_OK);
  load_trace();
  CHECK_INT(count_of("gt_range_push", 0), 1);
  for (int cut = 0; cut < 4; cut++) { /* a name is not cut within a character */
    memset(name, 'n', sizeof name - 1);
    for (int i = 68 + cut - 3; i + 3 < 100; i += 3) memcpy(name + i, "\xed\x95\x99", 3);
    CHECK_INT(gt_trace_start(500), GT_OK);
    gt_range_push(name);
    gt_range_pop();
    CHECK_INT(gt_trace_stop(), GT_OK);
    load_trace();
    CHECK_INT(n_slices, 1);
  }
}
/* What finds no room is counted, and what was recorded is right. */
static void test_room(void) {
  GT_SCOPE {
    gt_tensor *x = gt_ones(GT_SHAPE(100), GT_FLOAT32, gt_cpu());
    for (int room = 1; room < 40; room += 6) {
      CHECK_INT(gt_trace_start(room), GT_OK);
      for (int i = 0; i < 20; i++) gt_add(x, x, x);
      CHECK_INT(gt_trace_stop(), GT_OK);
      load_trace();
      CHECK_INT(gt_trace_overlap().records, room < 20 ? room : 20);
      CHECK_INT(gt_trace_overlap().dropped, room < 20 ? 20 - room : 0);
      CHECK_INT(count_of("gt_add", 0), room < 20 ? room : 20);
    }
    gt_tensor *y = ones(100);
    for (int room = 1; room < 60; room += QUICK ? 7 : 1) { /* wherever it ends */
      gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
      CHECK_INT(gt_trace_start(room), GT_OK);
      for (int i = 0; i < 6; i++) {
        gt_range_push("round");
        GT_WITH_STREAM(i & 1 ? s : t) gt_mul(y, y, ones(100));
        if (i == 3) gt_item(gt_sum(NULL, y, GT_ALL, 0));
        gt_range_pop();
      }
      CHECK_INT(gt_trace_stop(), GT_OK);
      load_trace();
      CHECK(gt_trace_overlap().records <= room);
      gt_stream_free(s);
      gt_stream_free(t);
    }
  }
  NO_ERROR();
}
/* Operations that fail leave a trace that can be read. */
static void test_failures(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  CHECK_INT(gt_trace_start(2000), GT_OK);
  GT_SCOPE {
    gt_tensor *x = ones(100);
    for (int nth = 1; nth < 12; nth++) {
      hooks_fail_once(nth);
      GT_WITH_STREAM(s) gt_item(gt_sum(NULL, gt_eval(NULL, "a + b", x, x), GT_ALL, 0));
      hooks_fail_once(0);
      gt_clear_error();
    }
  }
  CHECK_INT(gt_trace_stop(), GT_OK);
  load_trace();
  CHECK(count_of("gt_sum", 1) > 0);
  gt_stream_free(s);
}
/* The picture: each lane has as many columns as were asked for. */
static void test_print(void) {
  static const int columns[] = {8, 20, 72, 200, 1000, 0};
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, 0);
  CHECK_INT(gt_trace_start(2000), GT_OK);
  GT_SCOPE {
    gt_tensor *x = ones(50000), *y = ones(50000);
    for (int i = 0; i < 5; i++) {
      GT_WITH_STREAM(s) gt_exp(x, x);
      GT_WITH_STREAM(t) gt_sum(NULL, y, GT_ALL, 0);
    }
    gt_synchronize(DEV);
  }
  CHECK_INT(gt_trace_stop(), GT_OK);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    FILE *f = tmpfile();
    char line[1200];
    int lanes = 0, axes = 0, idle = 0, gain = 0, marks = 0;
    const size_t width = columns[i] ? (size_t)columns[i] : 72;
    CHECK_INT(gt_trace_print(f, columns[i]), GT_OK);
    rewind(f);
    while (fgets(line, sizeof line, f)) {
      const char *bar = strchr(line, '|');
      axes += strstr(line, "                   0 ") != NULL;
      idle += strstr(line, ". idle") != NULL;
      gain += strstr(line, " ms: gain ") != NULL;
      if (!bar) continue;
      lanes++;
      CHECK_INT(strspn(bar + 1, ".0123456789+uCdcmrPwsx"), width);
      CHECK(bar[1 + width] == '|');
      for (size_t c = 1; c <= width; c++) marks += bar[c] != '.';
    }
    CHECK_TEXT(lanes >= 3 && axes == 1 && idle == 1 && gain == 1 && marks > 0, "%d lanes, %d axes, %d legends, %d gains, %d marks",
               lanes, axes, idle, gain, marks);
    fclose(f);
  }
  {
    FILE *f = fopen("/dev/full", "w"); /* some systems have none */
    if (f) {
      REFUSED_IF(gt_trace_print(f, 0) != GT_OK, GT_ERROR_FILE, "the file");
      fclose(f);
    }
  }
  gt_stream_free(s);
  gt_stream_free(t);
}
/* Threads that compute, wait and push ranges, while one begins and ends traces. */
static int going;
static void *work(void *argument) {
  gt_stream *s = gt_stream_create(DEV, 0);
  GT_SCOPE {
    gt_tensor *x = ones(500), *y = gt_ones(GT_SHAPE(500), GT_FLOAT32, gt_cpu());
    while (__atomic_load_n(&going, __ATOMIC_RELAXED)) GT_SCOPE {
      gt_range_push("round");
      GT_WITH_STREAM(s) gt_eval(x, "a + b", x, (const gt_tensor *)argument);
      gt_add(y, y, y);
      gt_item(gt_sum(NULL, x, GT_ALL, 0));
      gt_stream_synchronize(s);
      gt_range_pop();
    }
  }
  gt_stream_free(s);
  return NULL;
}
static void test_threads(void) {
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  int64_t seen = 0;
  gt_tensor *shared = ones(500);
  __atomic_store_n(&going, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, work, shared);
  for (int i = 0; i < (QUICK ? 8 : 40) || (!seen && i < 3000); i++) { /* until the others come by, too */
    CHECK_INT(gt_trace_start(i & 1 ? 1000 : 60), GT_OK);
    for (int k = 0; k < 40; k++) GT_SCOPE gt_item(gt_sum(NULL, ones(1000), GT_ALL, 0));
    CHECK_INT(gt_trace_stop(), GT_OK);
    load_trace();
    seen += count_of("a + b", 1);
  }
  __atomic_store_n(&going, 0, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  CHECK(seen > 0);
  gt_free(shared);
  NO_ERROR();
}
/* One after the other on one stream: nothing is gained, and all of it lies between two readings of a clock. */
static void test_sums(void) {
  gt_stream *s = gt_stream_create(DEV, 0);
  const int64_t n = QUICK ? 200000 : 2000000;
  GT_SCOPE {
    gt_tensor *x = ones(n);
    GT_WITH_STREAM(s) gt_eval(x, "sin(a)", x);
    gt_stream_synchronize(s);
    CHECK_INT(gt_trace_start(1000), GT_OK);
    const double begin = gt_now_ms();
    for (int i = 0; i < 20; i++) GT_WITH_STREAM(s) gt_eval(x, "sin(a)", x);
    gt_stream_synchronize(s);
    const double ms = gt_now_ms() - begin;
    CHECK_INT(gt_trace_stop(), GT_OK);
    const gt_overlap o = gt_trace_overlap();
    if (DEV.type == GT_CPU || is_gpu(DEV)) {
      CHECK_TEXT(o.span_ms <= ms && o.any_ms > 0, "%g, %g of %g ms", o.any_ms, o.span_ms, ms); /* however late the host hears */
      CHECK(o.gain <= 1.0001);
    }
    CHECK(o.reason[0] != 0);
  }
  load_trace();
  CHECK_INT(count_of("sin(a)", 1), 20);
  gt_stream_free(s);
}
/* Where little overlaps the reason is the right one. This takes times that mean something and are the same in each run:
   those of the simulated runtime's model, in a process of its own. */
enum { ONE_STREAM, FOUR_STREAMS, ORDINARY, READ_AT_ONCE, BY_TURNS, COMPUTING };
static gt_overlap overlap_of(int how) {
  enum { CHUNKS = 8, MOST_STREAMS = 4 };
  const int streams = how == ONE_STREAM ? 1 : MOST_STREAMS;
  gt_stream *s[MOST_STREAMS];
  for (int k = 0; k < streams; k++) s[k] = gt_stream_create(DEV, 0);
  GT_SCOPE {
    gt_tensor *host[CHUNKS], *there[CHUNKS];
    for (int i = 0; i < CHUNKS; i++) {
      host[i] = how == ORDINARY ? gt_empty(GT_SHAPE(1 << 18), GT_FLOAT32, gt_cpu()) : gt_empty_pinned(GT_SHAPE(1 << 18), GT_FLOAT32);
      gt_fill(host[i], 1);
      there[i] = ones(1 << 18);
    }
    gt_synchronize(DEV);
    CHECK_INT(gt_trace_start(1000), GT_OK);
    for (int i = 0; i < CHUNKS; i++) GT_WITH_STREAM(s[i % streams]) {
      if (how < BY_TURNS) gt_copy(there[i], host[i]);
      for (int k = 0; k < 5; k++) gt_eval(there[i], "a + b", there[i], there[how == BY_TURNS && i ? i - 1 : i]);
      if (how < BY_TURNS) gt_copy(host[i], there[i]);
      if (how == READ_AT_ONCE) gt_stream_synchronize(s[i % streams]);
    }
    CHECK_INT(gt_trace_stop(), GT_OK);
  }
  for (int k = 0; k < streams; k++) gt_stream_free(s[k]);
  return gt_trace_overlap();
}
static int is_reason(int how, const char *part) {
  const gt_overlap o = overlap_of(how);
  const int good = strstr(o.reason, part) && (o.gain < GT_SMALL_GAIN) == (*part != 0);
  if (!good) printf("  case %d: gain %g, \"%s\", not \"%s\"\n", how, o.gain, o.reason, part);
  return good;
}
static int look_for_reasons(void) {
  return is_reason(ONE_STREAM, "own stream") + is_reason(FOUR_STREAMS, "") + is_reason(ORDINARY, "pageable") +
         is_reason(READ_AT_ONCE, "host waited") + is_reason(BY_TURNS, "another stream") + is_reason(COMPUTING, "one kind of work");
}
static char *myself;
static void test_reasons(void) {
  int status = -1;
  if (DEV.type != GT_CUDA || is_gpu(DEV)) {
    skip("reasons", "no simulated GPU");
    return;
  }
  const pid_t child = fork();
  if (!child) {
    setenv("SIM_CLOCK", "1", 1);
    setenv("SIM_MEMORY", "200", 1);
    execl(myself, myself, "--device", "cuda", "--reasons", (char *)NULL);
    _exit(99);
  }
  waitpid(child, &status, 0);
  CHECK_INT(status, 0);
}
/* Without an end: gt_shutdown takes all of it. */
static void test_shutdown(void) {
  CHECK_INT(gt_trace_start(1000), GT_OK);
  GT_SCOPE gt_add(NULL, ones(10), ones(10));
  gt_shutdown();
  CHECK_INT(hooks_live(), 0);
  REFUSED_IF(gt_trace_stop() != GT_OK, GT_ERROR_STATE, "no trace is on");
}

int main(int argc, char **argv) {
  check_start("trace", argc, argv);
  myself = argv[0];
  if (!strcmp(argv[argc - 1], "--reasons")) return look_for_reasons() != 6;
  close(mkstemp(path));
  RUN(parser);
  RUN(off);
  RUN(mistakes);
  RUN(operations);
  RUN(call);
  RUN(copies);
  RUN(streams);
  RUN(ranges);
  RUN(room);
  RUN(failures);
  RUN(print);
  RUN(threads);
  RUN(sums);
  RUN(reasons);
  RUN(shutdown);
  remove(path);
  return check_finish();
}
