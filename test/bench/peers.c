/* How close the library comes to the memory's speed: the maps, reductions and copies of one table,
   beside a peer that takes turns with it. As a program the peer is a loop written by hand, or a
   copy of as many bytes; peers.py loads this file as a shared object and puts PyTorch, NumPy and
   numexpr there.

   cc   -O2 -fopenmp -I. test/bench/peers.c -lm -lpthread -o peers
   nvcc -O3 -Xcompiler -fopenmp -arch=sm_90a -I. test/bench/peers.c gputensor_kernels.cu -o peers
   ./peers [--device cpu|cuda] [--only TEXT] [--quick]

   --only keeps the lines in whose name, shape and dtype the text occurs; OMP_NUM_THREADS says how
   many threads the CPU uses. On a GPU each figure is the time between two events around several
   launches on one stream; at 2^24 elements these go through several sets of tensors in turn, so
   that nothing is found in the L2 cache. result + t1*t2 is the step of the article's loop. */
#define _POSIX_C_SOURCE 199309L
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include "rounds.h"

/* ---- the table ---- */
enum { MAP, COPY, REDUCE, SOFTMAX, LOOP, CALL };
enum { WHOLE, EXCHANGED, INSIDE }; /* views */
enum { COLUMNS = 1024, SIDE = 512, LEAST = 24, ROTATED = 1 << 29, MOST = 256 };

/* A loop over the elements as one would write it by hand. */
typedef void by_hand(const float *a, const float *b, const float *c, float *o, int64_t n);
#define BY_HAND(name, formula) \
  static void name(const float *a, const float *b, const float *c, float *o, int64_t n) { \
    (void)b, (void)c; \
    IN_PARALLEL \
    for (int64_t i = 0; i < n; i++) o[i] = formula; \
  }
#ifdef _OPENMP
#define IN_PARALLEL _Pragma("omp parallel for")
#else
#define IN_PARALLEL
#endif
static float sigmoid(float x) { return 1 / (1 + expf(-x)); }
BY_HAND(hand_add, a[i] + b[i])
BY_HAND(hand_mul, a[i] * b[i])
BY_HAND(hand_div, a[i] / b[i])
BY_HAND(hand_fma, a[i] * b[i] + c[i])
BY_HAND(hand_relu, a[i] > 0 ? a[i] : 0)
BY_HAND(hand_exp, expf(a[i]))
BY_HAND(hand_tanh, tanhf(a[i]))
BY_HAND(hand_sin, sinf(a[i]))
BY_HAND(hand_sigmoid, sigmoid(a[i]))
BY_HAND(hand_scalar, a[i] + 1.5f)
BY_HAND(hand_chain, sigmoid(fmaxf((a[i] * b[i] + c[i]) * a[i] - b[i], 0) * c[i]))
BY_HAND(hand_loop, o[i] + a[i] * b[i])

typedef struct line {
  const char *group, *name;
  const char *operands; /* a letter of base_shape each, the output's first */
  const char *dtypes;   /* f float32, b bfloat16, h float16, d float64, * casts between all */
  int kind;
  const char *text;     /* of the expression */
  int reduction;
  uint32_t dims;
  by_hand *loop;        /* of float32 on the CPU; NULL: the peer is the copy */
} line;

#define ROW(name, text, reduction, dtypes) \
  {"reduce", name " of all", "0m", dtypes, REDUCE, text, reduction, GT_ALL, NULL}, \
  {"reduce", name " of dim 0", "rm", dtypes, REDUCE, text, reduction, GT_DIM(0), NULL}, \
  {"reduce", name " of dim 1", "dm", dtypes, REDUCE, text, reduction, GT_DIM(1), NULL}
static const line lines[] = {
  {"map", "add", "vvv", "fbh", MAP, "a + b", 0, 0, hand_add},
  {"map", "mul", "vvv", "fbh", MAP, "a * b", 0, 0, hand_mul},
  {"map", "div", "vvv", "fbh", MAP, "a / b", 0, 0, hand_div},
  {"map", "a*b+c", "vvvv", "fbh", MAP, "a*b + c", 0, 0, hand_fma},
  {"map", "relu", "vv", "fbh", MAP, "relu(a)", 0, 0, hand_relu},
  {"map", "exp", "vv", "fbh", MAP, "exp(a)", 0, 0, hand_exp},
  {"map", "tanh", "vv", "fbh", MAP, "tanh(a)", 0, 0, hand_tanh},
  {"map", "sigmoid", "vv", "fbh", MAP, "sigmoid(a)", 0, 0, hand_sigmoid},
  {"map", "gelu", "vv", "fbh", MAP, "gelu(a)", 0, 0, NULL},
  {"map", "+scalar", "vv", "fbh", MAP, "a + 1.5", 0, 0, hand_scalar},
  {"map", "where", "vkvv", "fbh", MAP, "a ? b : c", 0, 0, NULL},
  {"map", "cast", "vv", "*", COPY, NULL, 0, 0, NULL},
  {"other", "sin", "vv", "fbh", MAP, "sin(a)", 0, 0, hand_sin},
  {"other", "silu", "vv", "fbh", MAP, "silu(a)", 0, 0, NULL},
  {"float64", "exp", "vv", "d", MAP, "exp(a)", 0, 0, NULL},
  {"float64", "log", "vv", "d", MAP, "log(a)", 0, 0, NULL},
  {"float64", "sin", "vv", "d", MAP, "sin(a)", 0, 0, NULL},
  {"float64", "tanh", "vv", "d", MAP, "tanh(a)", 0, 0, NULL},
  {"float64", "sigmoid", "vv", "d", MAP, "sigmoid(a)", 0, 0, NULL},
  {"float64", "gelu", "vv", "d", MAP, "gelu(a)", 0, 0, NULL},
  {"float64", "pow", "vvv", "d", MAP, "a ** b", 0, 0, NULL},
  {"chain", "chain of 8", "vvvv", "fb", MAP, "sigmoid(relu((a*b + c)*a - b)*c)", 0, 0, hand_chain},
  {"chain", "chain of 16", "vvvv", "fb", MAP,
   "tanh((sqrt(exp(sigmoid(relu((a*b + c)*a - b)*c)*1.5 + a)) + 1.5)/b)*c + 1.5", 0, 0, NULL},
  {"broadcast", "add a row", "mmr", "fb", MAP, "a + b", 0, 0, NULL},
  {"broadcast", "add a column", "mmc", "fb", MAP, "a + b", 0, 0, NULL},
  {"slices", "add slices", "iii", "fbd", MAP, "a + b", 0, 0, NULL},
  {"slices", "scale a slice", "ii", "fbd", MAP, "a * 1.5", 0, 0, NULL},
  {"transpose", "transposed copy", "Mt", "fb", COPY, NULL, 0, 0, NULL},
  {"transpose", "transposed square", "ss", "fb", COPY, NULL, 0, 0, NULL},
  {"transpose", "permute(0,2,1)", "bp", "fb", COPY, NULL, 0, 0, NULL},
  ROW("sum", "a", GT_SUM, "fb"),
  ROW("mean", "a", GT_MEAN, "fb"),
  ROW("max", "a", GT_MAX, "fb"),
  ROW("argmax", "a", GT_ARGMAX, "fb"),
  {"reduce", "softmax", "mm", "fb", SOFTMAX, NULL, 0, 0, NULL},
  {"mse", "mean((a-b)^2)", "0vv", "fb", REDUCE, "(a - b)*(a - b)", GT_MEAN, GT_ALL, NULL},
  {"loop", "result + t1*t2", "lll", "f", LOOP, "a + b*c", 0, 0, hand_loop},
  {"call", "gt_add of 1024", "rrr", "f", CALL, NULL, 0, 0, NULL},
  {"call", "gt_eval of 1024", "rrr", "f", CALL, "a + b", 0, 0, NULL},
};
enum { LINES = sizeof lines / sizeof *lines };

static int64_t root_of(int64_t n) { /* n is a power of 4 */
  int64_t side = 1;
  while (side * side < n) side *= 2;
  return side;
}
/* The memory of an operand; t, s and p are views of it with the last two dims exchanged, i is without its
   outermost rows and columns. */
static gt_shape base_shape(char letter, int64_t n) {
  switch (letter) {
    case 'm': case 't': case 'i': return GT_SHAPE(n / COLUMNS, COLUMNS);
    case 'M': return GT_SHAPE(COLUMNS, n / COLUMNS);
    case 's': return GT_SHAPE(root_of(n), root_of(n));
    case 'b': case 'p': return GT_SHAPE(n / SIDE / SIDE, SIDE, SIDE);
    case 'r': return GT_SHAPE(COLUMNS);
    case 'c': return GT_SHAPE(n / COLUMNS, 1);
    case 'd': return GT_SHAPE(n / COLUMNS);
    case 'l': return GT_SHAPE(100, 1000, 1000);
    case '0': return GT_SHAPE_0D;
    default: return GT_SHAPE(n);
  }
}
static int64_t elements(gt_shape s) {
  int64_t n = 1;
  for (int i = 0; i < s.ndim; i++) n *= s.size[i];
  return n;
}

/* ---- the cases: a line with a size and dtypes ---- */
typedef struct bench_case {
  const line *line;
  int64_t n;
  int from, to; /* dtypes of the inputs and of the output */
} bench_case;

static gt_dtype dtype_of(char letter) {
  return letter == 'b' ? GT_BFLOAT16 : letter == 'h' ? GT_FLOAT16
         : letter == 'd' ? GT_FLOAT64 : GT_FLOAT32;
}
/* Fills `found` (NULL: only counts) with all cases; the smaller size first. */
int bench_cases(int cuda, int quick, bench_case *found) {
  const int sizes[] = {LEAST, cuda ? 28 : 26};
  int count = 0;
  for (int s = 0; s < (quick && !cuda ? 1 : 2); s++)
    for (const line *l = lines; l < lines + LINES; l++) {
      const int casts = *l->dtypes == '*', small = l->kind == LOOP || l->kind == CALL;
      for (const char *from = casts ? "fbhd" : l->dtypes; *from && !(small && s); from++)
        for (const char *to = casts ? "fbhd" : "f"; *to; to++) {
          bench_case c = {l, (int64_t)1 << sizes[s], (int)dtype_of(*from), (int)dtype_of(*to)};
          if (casts && *from == *to) continue;
          if (!casts) c.to = l->reduction == GT_ARGMAX ? (int)GT_INT64 : c.from;
          if (found) found[count] = c;
          count++;
        }
    }
  return count;
}
const char *bench_group(const bench_case *c) { return c->line->group; }
const char *bench_name(const bench_case *c) { return c->line->name; }
int bench_operands(const bench_case *c) { return (int)strlen(c->line->operands); }
/* The shape and dtype of operand k's memory (0: the output); returns the number of dims. */
int bench_base(const bench_case *c, int k, int64_t *shape, int *dtype, int *view) {
  const char letter = c->line->operands[k];
  const gt_shape s = base_shape(letter, c->n);
  for (int i = 0; i < s.ndim; i++) shape[i] = s.size[i];
  *dtype = letter == 'k' ? (int)GT_BOOL : k ? c->from : c->to;
  *view = letter == 'i' ? INSIDE : k && strchr("tsp", letter) ? EXCHANGED : WHOLE;
  return s.ndim;
}
/* Bytes that must move: each operand once; the article's result is read, too. */
double bench_bytes(const bench_case *c) {
  double bytes = c->line->kind == LOOP ? 4e8 : 0;
  for (int k = 0; k < bench_operands(c); k++) {
    int64_t shape[GT_MAX_DIMS];
    int dtype, view;
    bench_base(c, k, shape, &dtype, &view);
    bytes += (double)gt_dtype_size((gt_dtype)dtype) *
             (double)elements(base_shape(c->line->operands[k], c->n));
  }
  return bytes;
}
/* How many sets of operands are more than any L2 cache holds. */
int bench_sets(const bench_case *c, int cuda) {
  if (!cuda || c->line->kind == LOOP || c->line->kind == CALL) return 1;
  return 1 + (int)(ROTATED / bench_bytes(c));
}
/* The share of the memory's rate that is wanted on a GPU, or 0. */
double bench_wanted_of_rate(const bench_case *c) {
  const char *group = c->line->group;
  if (c->n >> 28 == 0 || c->from != GT_FLOAT32 || c->line->kind == COPY) return 0;
  return strcmp(group, "map") == 0 ? 0.97 : strcmp(group, "reduce") == 0 ? 0.93 : 0;
}
void bench_shape_text(const bench_case *c, char *text, size_t size) {
  const char *o = c->line->operands;
  const gt_shape s = base_shape(o[1], c->n);
  size_t used = 0;
  if (o[1] == 'v' || o[1] == 'k') {
    int log2 = 0;
    while (c->n >> log2 > 1) log2++;
    snprintf(text, size, "2^%d", log2);
    return;
  }
  for (int i = 0; i < s.ndim && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, i ? "x%lld" : "%lld", (long long)s.size[i]);
}
void bench_dtype_text(const bench_case *c, char *text, size_t size) {
  if (c->line->kind == COPY && c->from != c->to)
    snprintf(text, size, "%s>%s", gt_dtype_string((gt_dtype)c->from),
             gt_dtype_string((gt_dtype)c->to));
  else snprintf(text, size, "%s", gt_dtype_string((gt_dtype)c->from));
}

/* ---- running ---- */
static gt_device device_of(int cuda) { return cuda ? gt_cuda(0) : gt_cpu(); }
/* The tensor of operand k on `data`, which stays the caller's; NULL: it has its own. */
gt_tensor *bench_tensor(const bench_case *c, int k, int cuda, void *data) {
  gt_shape shape = {0, {0}};
  gt_tensor *x = NULL;
  int dtype, view;
  shape.ndim = bench_base(c, k, shape.size, &dtype, &view);
  GT_SCOPE {
    if (data) x = gt_from_ptr(data, shape, (gt_dtype)dtype, device_of(cuda), NULL, NULL);
    else x = gt_to_dtype(gt_eval(NULL, dtype == GT_BOOL ? "a < 0.5" : "a + 0.1",
                                 gt_rand(shape, GT_FLOAT32, device_of(cuda), NULL)),
                         (gt_dtype)dtype);
    if (view == EXCHANGED) x = gt_transpose(x, -2, -1);
    for (int d = 0; d < 2 && view == INSIDE; d++) x = gt_slice(x, d, 1, -1, 1);
    gt_keep(x);
  }
  return x;
}
/* Goes through `sets` sets of operands in turn; on a GPU it only enqueues. */
void bench_run(const bench_case *c, gt_tensor *const *operands, int sets, int times) {
  const line *l = c->line;
  const int n = bench_operands(c);
  for (int i = 0; i < times; i++) {
    gt_tensor *const *x = operands + i % sets * n;
    const gt_tensor *const *in = (const gt_tensor *const *)x + 1;
    switch (l->kind) {
      case MAP: gt_eval_n(x[0], l->text, n - 1, in); break;
      case COPY: gt_copy(x[0], x[1]); break;
      case REDUCE:
        gt_reduce_n(x[0], (gt_reduction)l->reduction, l->dims, 0, l->text, n - 1, in);
        break;
      case SOFTMAX: gt_softmax(x[0], x[1], 1); break;
      case LOOP: gt_eval_n(x[0], l->text, n, (const gt_tensor *const *)x); break;
      default:
        if (l->text) gt_eval_n(x[0], l->text, n - 1, in);
        else gt_add(x[0], x[1], x[2]);
    }
  }
}
/* All later work goes to this cudaStream_t. */
int bench_use_stream(void *native) {
  return gt_set_stream(gt_stream_from_native(gt_cuda(0), native)) == GT_OK;
}
void bench_synchronize(int cuda) { gt_synchronize(device_of(cuda)); }
const char *bench_error(void) { return gt_error() ? gt_error_message() : ""; }
const char *bench_device_name(int cuda) { return gt_device_name(device_of(cuda)); }
void bench_free(gt_tensor *x) { gt_free(x); }
/* All cores copy; on a GPU it is enqueued on the current stream. */
void bench_copy(void *to, const void *from, size_t bytes, int cuda) {
  const int64_t piece = 1 << 20;
#if defined(GPUTENSOR_CUDA) || defined(__NVCC__)
  if (cuda) cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice,
                            (cudaStream_t)gt_stream_native(gt_current_stream(gt_cuda(0))));
#endif
  if (cuda) return;
  IN_PARALLEL
  for (int64_t i = 0; i < (int64_t)bytes; i += piece)
    memcpy((char *)to + i, (const char *)from + i,
           (size_t)((int64_t)bytes - i < piece ? (int64_t)bytes - i : piece));
}

/* ---- the program ---- */
typedef struct bench {
  const bench_case *c;
  gt_tensor **x;
  char *from, *to; /* of the copy */
  size_t room;     /* both together, in bytes */
  int cuda, sets;
  gt_event *start, *end;
} bench;

static void theirs(const bench *b, int times) {
  gt_tensor *const *x = b->x;
  const size_t half = (size_t)(bench_bytes(b->c) / 2);
  for (int i = 0; i < times; i++)
    if (b->c->line->loop && !b->cuda && b->c->from == GT_FLOAT32) {
      const int n = bench_operands(b->c);
      const float *in[3] = {NULL, NULL, NULL};
      for (int k = 1; k < n; k++) in[k - 1] = (const float *)gt_data(x[k]);
      b->c->line->loop(in[0], in[1], in[2], (float *)gt_data(x[0]), gt_numel(x[0]));
    } else bench_copy(b->to, b->from, half, b->cuda);
}
/* Microseconds for one: between two events on a GPU, by the clock on the CPU and for a call. */
static double timed(const bench *b, int ours, int times) {
  gt_stream *s = b->cuda ? gt_current_stream(gt_cuda(0)) : NULL;
  double t = now_us();
  if (s) gt_event_record(b->start, s);
  if (ours) bench_run(b->c, b->x, b->sets, times);
  else theirs(b, times);
  if (s) gt_event_record(b->end, s);
  t = now_us() - t;
  if (s) gt_event_synchronize(b->end);
  if (s && b->c->line->kind != CALL) t = gt_event_elapsed_ms(b->start, b->end) * 1e3;
  return t / times;
}
static void print_head(void) {
  printf("%-18s %-16s %-17s %-9s %11s %11s %6s %7s %6s\n", "what", "shape", "dtype", "peer",
         "ours us", "peer us", "ratio", "of copy", "wanted");
}
/* Returns 1 if it is what is wanted, 0 if not, -1 if nothing is. */
static int print_row(const bench *b, const double *us, double ratio, double copy_rate) {
  const bench_case *c = b->c;
  const double of_copy = bench_bytes(c) / us[0] / copy_rate;
  const double wanted = b->cuda ? bench_wanted_of_rate(c) : 0;
  const int host_only = c->line->kind == CALL, by_hand_too = c->line->loop && !b->cuda;
  char shape[64], dtype[64];
  bench_shape_text(c, shape, sizeof shape);
  bench_dtype_text(c, dtype, sizeof dtype);
  printf("%-18s %-16s %-17s %-9s %11.2f ", c->line->name, shape, dtype,
         host_only ? "-" : by_hand_too && c->from == GT_FLOAT32 ? "loop" : "copy", us[0]);
  if (host_only) printf("%11s %6s %7s %6s", "-", "-", "-", "<= 3.0");
  else printf("%11.2f %6.2f %7.2f ", us[1], ratio, of_copy);
  if (wanted > 0) printf("%6.2f", wanted);
  printf("%s\n", host_only ? (us[0] <= 3 ? " ok" : " NO")
                 : wanted > 0 ? (of_copy >= wanted ? " ok" : " NO") : "");
  fflush(stdout);
  return host_only ? us[0] <= 3 : wanted > 0 ? of_copy >= wanted : -1;
}
/* A round is a few milliseconds of each; the one that begins changes from round to round. */
static void take_turns(const bench *b, int rounds, double *us, double *ratio) {
  double t[2][64], r[64];
  const double once = timed(b, 1, 1);
  int times = (int)(2000 / (once > 1 ? once : 1));
  times = b->c->line->kind == CALL ? 1000 : times < 2 ? (b->cuda ? 3 : 1) : times;
  if (times > 64 && b->c->line->kind != CALL) times = 64;
  timed(b, 0, 1);
  for (int i = 0; i < rounds; i++) {
    for (int k = 0; k < 2; k++) t[(k + i) % 2][i] = timed(b, (k + i) % 2 == 0, times);
    r[i] = t[1][i] / t[0][i];
  }
  for (int k = 0; k < 2; k++) us[k] = median(t[k], rounds);
  *ratio = median(r, rounds);
}
static int run_case(bench *b, int rounds, double copy_rate) {
  const int n = bench_operands(b->c);
  double us[2], ratio;
  int good;
  gt_tensor *x[MOST];
  b->sets = bench_sets(b->c, b->cuda);
  if (b->sets * n > MOST) b->sets = MOST / n;
  for (int i = 0; i < b->sets * n; i++) x[i] = bench_tensor(b->c, i % n, b->cuda, NULL);
  b->x = x;
  take_turns(b, rounds, us, &ratio);
  good = print_row(b, us, ratio, copy_rate);
  for (int i = 0; i < b->sets * n; i++) gt_free(x[i]);
  return good;
}
/* Bytes a microsecond, read and written; a call copies a quarter of the room four times. */
static void four_copies(void *argument) {
  const bench *b = (const bench *)argument;
  for (int k = 0; k < 4; k++) bench_copy(b->to, b->from, b->room / 4, b->cuda);
}
static double measured_copy_rate(bench *b) {
  const double ms = gt_benchmark(four_copies, b, device_of(b->cuda), 1000).median_ms;
  return 2e-3 * (double)b->room / ms;
}
static int usage(const char *name) {
  fprintf(stderr, "usage: %s [--device cpu|cuda] [--only TEXT] [--quick]\n", name);
  return 2;
}
int main(int argc, char **argv) {
  int cuda = gt_cuda_is_available(), quick = 0, good = 0, wanted = 0;
  const char *only = "";
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0) quick = 1;
    else if (i + 1 == argc) return usage(argv[0]);
    else if (strcmp(argv[i], "--only") == 0) only = argv[++i];
    else if (strcmp(argv[i], "--device") == 0) cuda = strcmp(argv[++i], "cpu") != 0;
    else return usage(argv[0]);
  }
  const size_t room = (size_t)1 << (cuda ? 32 : 30);
  const int n = bench_cases(cuda, quick, NULL);
  bench_case *cases = (bench_case *)malloc((size_t)n * sizeof *cases);
  gt_tensor *copies = gt_ones(GT_SHAPE((int64_t)room), GT_UINT8, device_of(cuda));
  bench b = {NULL, NULL, (char *)gt_data(copies), NULL, room, cuda, 0, gt_event_create(),
             gt_event_create()};
  if (gt_error() || !cases) {
    printf("%s\n", bench_error());
    return 1;
  }
  b.to = b.from + room / 2;
  bench_cases(cuda, quick, cases);
  const double rate = measured_copy_rate(&b);
  printf("%s, gputensor %s (%s)\n", bench_device_name(cuda), gt_version(), gt_build_info());
  printf("copy rate, read and written: %.1f GB/s\n\n", rate * 1e-3);
  print_head();
  for (b.c = cases; b.c < cases + n; b.c++) {
    char text[192];
    const size_t used = (size_t)snprintf(text, sizeof text, "%s ", b.c->line->name);
    bench_shape_text(b.c, text + used, 64);
    strcat(text, " ");
    bench_dtype_text(b.c, text + strlen(text), 64);
    if (!strstr(text, only)) continue;
    const int ok = run_case(&b, quick ? 5 : 11, rate);
    good += ok > 0;
    wanted += ok >= 0;
  }
  printf("%d of %d at or above what is wanted\n", good, wanted);
  if (gt_error()) printf("%s\n", bench_error());
  return gt_error() != GT_OK;
}
