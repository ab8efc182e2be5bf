/* The library as one object with its CUDA back end, on top of the simulated runtime and of the
   allocator of hooks.h. The kernels' entry points stand here: they enqueue the operation, and when
   it is executed the CPU back end computes it in the other mapping of device memory. */
#include "../hooks.h"
#include "sim.h"

/* What a kernel needs comes from elsewhere: a GPU would not ask the host for it. */
static void *lib_malloc(size_t bytes);
static void *lib_realloc(void *p, size_t bytes);
static void lib_free(void *p);
#define GPUTENSOR_CUDA
#define GPUTENSOR_MALLOC(n) lib_malloc(n)
#define GPUTENSOR_REALLOC(p, n) lib_realloc(p, n)
#define GT__HOOK_WAY(op) hooks_way((op)->device.type == GT_CUDA, (op)->kind, (op)->way->name)
/* The model of time: see sim.c. */
struct gt__op;
static void lib_work(const struct gt__op *op, int64_t bytes);
#define GT__HOOK_NOW() sim_now()
#define GT__HOOK_WORK(op, bytes) lib_work(op, bytes)
#define GT__HOOK_AFTER(ms) sim_host_after(ms)
#define GPUTENSOR_FREE(p) lib_free(p)
#define GPUTENSOR_IMPLEMENTATION
#include "../../gputensor.h"

static __thread int in_kernel;
static void *lib_malloc(size_t bytes) { return in_kernel ? malloc(bytes) : hooks_malloc(bytes); }
static void *lib_realloc(void *p, size_t bytes) {
  return in_kernel ? realloc(p, bytes) : hooks_realloc(p, bytes);
}
static void lib_free(void *p) {
  if (in_kernel) free(p);
  else hooks_free(p);
}

/* The bytes that an operand's strides can reach. */
typedef struct { char *begin, *end; } extent;
static extent extent_of(const gt__operand *o, int ndim, const int64_t *size) {
  const int64_t width = (int64_t)gt_dtype_size((gt_dtype)o->dtype);
  extent e = {o->data, o->data};
  if (!o->data) return e;
  for (int d = 0; d < ndim; d++) {
    const int64_t way = (size[d] - 1) * o->stride[d] * width;
    if (size[d] <= 0) return e.end = e.begin, e;
    if (way < 0) e.begin += way;
    else e.end += way;
  }
  e.end += width;
  return e;
}
/* The operand's data becomes the address where the host finds it; all that its strides can reach
   must be its own. 0 if it is not. */
static int reach(gt__operand *o, int ndim, const int64_t *size, const char *what) {
  const int64_t width = (int64_t)gt_dtype_size((gt_dtype)o->dtype);
  const extent e = extent_of(o, ndim, size);
  char *p;
  if (e.begin == e.end) return 1;
  if ((uintptr_t)o->data % (uintptr_t)width) sim_complain("%s is not aligned to its elements", what);
  if ((int64_t)1 << o->size_log2 != width)
    sim_complain("%s has elements of another size than its size_log2 says", what);
  p = (char *)sim_touch(e.begin, (size_t)(e.end - e.begin), what);
  if (p) o->data = p - (e.begin - o->data);
  return p != NULL;
}
static int reach_map(gt__map_args *m, int first) {
  static const char *const name[GT__INPUTS] = {"input 0", "input 1", "input 2", "input 3",
                                               "input 4", "input 5", "input 6", "input 7"};
  int good = 1;
  for (int i = first; i < m->program.n_in; i++)
    good &= reach(&m->in[i], m->ndim, m->size, name[i]);
  return good;
}
static void finish(int code) {
  in_kernel = 0;
  if (code) sim_complain("a kernel found no memory");
}

/* The CPU back end plans and computes what a kernel would, by the ways that the environment asks for. */
static gt__op *new_op(int kind) {
  gt__op *op = (gt__op *)malloc(sizeof *op);
  op->kind = (uint8_t)kind;
  op->device = gt_cpu();
  return op;
}
static int compute(gt__op *op) {
  gt__cpu_plan(op);
  const int code = op->way->run(op, NULL);
  free(op);
  return code;
}
static int compute_map(const gt__map_args *m) {
  gt__op *op = new_op(GT__MAP);
  op->u.map = *m;
  return compute(op);
}
static int compute_reduce(const gt__reduce_args *r) {
  gt__op *op = new_op(GT__REDUCE);
  op->u.reduce = *r;
  return compute(op);
}
static int compute_scan(const gt__scan_args *s) {
  gt__op *op = new_op(GT__SCAN);
  op->u.scan = *s;
  return compute(op);
}
static int compute_matmul(const gt__matmul_args *x) {
  gt__op *op = new_op(GT__MATMUL);
  op->u.matmul = *x;
  return compute(op);
}
static int compute_scatter(const gt__scatter_args *a) {
  gt__op *op = new_op(GT__SCATTER);
  op->u.scatter = *a;
  return compute(op);
}
static int compute_copy(const gt__copy_args *c) {
  gt__op *op = new_op(GT__COPY);
  op->u.copy = *c;
  return compute(op);
}

static int compute_order(const gt__order_args *a) {
  gt__op *op = new_op(GT__ORDER);
  op->u.order = *a;
  return compute(op);
}

static void run_map(void *args) {
  gt__map_args *m = (gt__map_args *)args;
  if (!(reach_map(m, 0) & reach(&m->out, m->ndim, m->size, "the output"))) return;
  in_kernel = 1;
  finish(compute_map(m));
}
static void run_scan(void *args) {
  gt__scan_args *s = (gt__scan_args *)args;
  gt__map_args *m = &s->pre;
  if (!(reach_map(m, 0) & reach(&m->out, m->ndim, m->size, "the output"))) return;
  in_kernel = 1;
  finish(compute_scan(s));
}
/* Appends an instruction. */
static void then(gt__program *p, int op, int b, int d) {
  const gt__ins next = {(uint8_t)op, (uint8_t)b, 0, (uint8_t)d};
  p->ins[p->n_ins++] = next;
}
/* What the GPU's kernel for softmax and its like along another dim than the last does at once: m, the
   maxima, s, the sums of exp(x - m), and the result from them. */
static int soft_down(const gt__reduce_args *r) {
  const int compute = r->pre.program.compute;
  char *memory = (char *)calloc((size_t)r->outer, 16);
  gt__reduce_args a = *r;
  gt__operand m, s;
  gt__map_args last = r->pre;
  int64_t stride = 1, i;
  int d, code;
  memset(&m, 0, sizeof m);
  m.data = memory;
  m.dtype = compute == GT__F32 ? GT_FLOAT32 : GT_FLOAT64;
  m.size_log2 = compute == GT__F32 ? 2 : 3;
  for (d = r->n_kept - 1; d >= 0; stride *= r->pre.size[d--]) m.stride[d] = stride;
  s = m;
  s.data += r->outer * 8;
  a.soft = 0;
  a.fold = GT__FOLD_MAX;
  a.out = m;
  code = compute_reduce(&a);
  for (i = 0; i < r->outer && r->soft == GT__LOGSUMEXP; i++) {
    if (compute == GT__F32 && isinf(((float *)(void *)memory)[i])) ((float *)(void *)memory)[i] = 0;
    if (compute != GT__F32 && isinf(((double *)(void *)memory)[i])) ((double *)(void *)memory)[i] = 0;
  }
  a.fold = GT__FOLD_SUM;
  a.out = s;
  a.pre.in[1] = m;
  a.pre.program.n_in = a.pre.program.n_slot = 2;
  a.pre.program.heavy = 1;
  then(&a.pre.program, GT__OP_sub, 1, 0);
  then(&a.pre.program, GT__OP_exp, 0, 0);
  if (!code) code = compute_reduce(&a);
  last.in[1] = m;
  last.in[2] = s;
  last.program.n_in = 3;
  last.program.n_slot = 4;
  last.program.heavy = 1;
  last.program.n_ins = 0;
  if (r->soft == GT__SOFTMAX) {
    then(&last.program, GT__LOAD, 0, 0);
    then(&last.program, GT__OP_sub, 1, 0);
    then(&last.program, GT__OP_exp, 0, 0);
    then(&last.program, GT__OP_div, 2, 0);
  } else {
    then(&last.program, GT__LOAD, 2, 0);
    then(&last.program, GT__OP_log, 0, 0);
    then(&last.program, r->soft == GT__LOGSUMEXP ? GT__OP_add : GT__SAVE, 1, 3);
  }
  if (r->soft == GT__LOG_SOFTMAX) {
    then(&last.program, GT__LOAD, 0, 0);
    then(&last.program, GT__OP_sub, 1, 0);
    then(&last.program, GT__OP_sub, 3, 0);
  }
  if (r->soft == GT__LOGSUMEXP) {        /* over the outputs; input 0 is not used */
    last.in[0] = s;
    last.out = r->out;
    last.ndim = r->n_kept;
    last.count = r->outer;
    if (!last.ndim) last.size[last.ndim++] = 1;
  }
  if (!code) code = compute_map(&last);
  free(memory);
  return code;
}
static void run_reduce(void *args) {
  gt__reduce_args *r = (gt__reduce_args *)args;
  const size_t scratch = (size_t)r->outer * (size_t)r->n_chunk * GT__PARTIAL;
  const int whole = r->soft && r->soft != GT__LOGSUMEXP; /* the result has all dims */
  int good = reach_map(&r->pre, 0) &
             reach(whole ? &r->pre.out : &r->out, whole ? r->pre.ndim : r->n_kept, r->pre.size,
                   "the output");
  if (r->n_chunk > 1) {
    void *p = sim_touch(r->pre.scratch, scratch, "scratch");
    good &= p != NULL;
    if (p) memset(p, 0xee, scratch); /* where a kernel would write */
  }
  if (!good) return;
  in_kernel = 1;
  finish(r->soft && !r->inner ? soft_down(r) : compute_reduce(r));
}
/* What kernels write that may still run when a stream's next one begins: a product that is not early
   lets none begin before all before it has ended. The library calls these with its lock held. */
enum { TOO_EARLY = 99 };
static struct { void *stream; int n; extent at[64]; } late[GT__SLOTS_OF_STREAMS];
static int late_of(void *stream) {
  int i = 0;
  while (i < GT__SLOTS_OF_STREAMS - 1 && late[i].stream && late[i].stream != stream) i++;
  if (late[i].stream != stream) late[i].n = 0;
  late[i].stream = stream;
  return i;
}
static void is_late(void *stream, extent e) {
  const int i = late_of(stream);
  if (late[i].n < 64) late[i].at[late[i].n++] = e;
}
static int meets_late(void *stream, extent e) {
  const int i = late_of(stream);
  int meets = late[i].n == 64;
  for (int k = 0; k < late[i].n; k++) meets |= e.begin < late[i].at[k].end && late[i].at[k].begin < e.end;
  return meets;
}
/* Makes o, of which only the batch dims have strides, the line of all that its matrices span: one
   more dim, since an operand has no room for two. By how many bytes its data moved; 0 rows or
   columns: *size is 0. */
static int64_t span_matrix(gt__operand *o, const gt__matmul_args *x, int64_t rows, int64_t row,
                           int64_t columns, int64_t column, int64_t *size) {
  const int64_t down = (rows - 1) * row, right = (columns - 1) * column;
  const int64_t before = (down < 0 ? down : 0) + (right < 0 ? right : 0);
  const int64_t moved = before * (int64_t)gt_dtype_size((gt_dtype)o->dtype);
  memcpy(size, x->post.size, sizeof x->post.size);
  size[x->n_batch] = rows > 0 && columns > 0 ? down + right - 2 * before + 1 : 0;
  o->stride[x->n_batch] = 1;
  if (size[x->n_batch]) o->data += moved;
  return moved;
}
static size_t matmul_scratch(const gt__matmul_args *args);
static int reach_matrix(gt__operand *o, const gt__matmul_args *x, int64_t rows, int64_t row,
                        int64_t columns, int64_t column, const char *what) {
  gt__operand wide = *o;
  int64_t size[GT_MAX_DIMS + 2];
  const int64_t moved = span_matrix(&wide, x, rows, row, columns, column, size);
  int good;
  if (!size[x->n_batch]) return 1;
  good = reach(&wide, x->n_batch + 1, size, what);
  o->data = wide.data - moved;
  return good;
}
static void run_matmul(void *args) {
  gt__matmul_args *x = (gt__matmul_args *)args;
  const size_t scratch = matmul_scratch(x);
  void *p = scratch ? sim_touch(x->post.scratch, scratch, "scratch") : NULL;
  const int good = reach_matrix(&x->a, x, x->m, x->a_row, x->k, x->a_col, "the first matrix") &
                   reach_matrix(&x->b, x, x->k, x->b_row, x->n, x->b_col, "the second matrix") &
                   reach_map(&x->post, 1) &
                   reach(&x->post.out, x->post.ndim, x->post.size, "the output");
  if (x->post.early == TOO_EARLY)
    sim_complain("a product may begin with what kernels before it write that may still run");
  if (p) memset(p, 0xee, scratch); /* where a kernel would write */
  if (!good || (scratch && !p)) return;
  in_kernel = 1;
  finish(compute_matmul(x));
}
static void run_copy(void *args) {
  gt__copy_args *c = (gt__copy_args *)args;
  const int picks = c->index.data != NULL;
  int good = reach(&c->dst, c->ndim, c->size, "the output");
  if (picks) good &= reach(&c->index, c->ndim, c->size, "the index");
  if (picks && c->gather_size) {
    gt__operand last = c->src;
    last.data += (c->gather_size - 1) * c->gather_stride * (1 << last.size_log2);
    good &= reach(&last, c->ndim, c->size, "the source's last entry");
  }
  if (!picks || c->gather_size) good &= reach(&c->src, c->ndim, c->size, "the source");
  if (c->fault) {
    c->fault = (int32_t *)sim_touch(c->fault, sizeof *c->fault, "the fault word");
    good &= c->fault != NULL;
  }
  if (!good) return;
  in_kernel = 1;
  finish(compute_copy(c));
}

/* out with all that the index can name. */
static gt__operand all_places(const gt__scatter_args *a, int64_t *size) {
  gt__operand wide = a->out;
  memcpy(size, a->size, sizeof a->size);
  wide.stride[0] = a->pitch;
  size[0] = a->entries;
  return wide;
}
static int reach_places(gt__scatter_args *a) {
  int64_t size[GT_MAX_DIMS];
  gt__operand wide = all_places(a, size);
  if (!reach(&wide, a->ndim, size, "the output")) return 0;
  a->out.data = wide.data;
  return 1;
}
static size_t scatter_scratch(const gt__scatter_args *a) { return (size_t)a->n * 16; }
static void run_scatter(void *args) {
  gt__scatter_args *a = (gt__scatter_args *)args;
  int good = reach_places(a) & reach(&a->src, a->ndim, a->size, "the source") &
             reach(&a->index, a->ndim, a->size, "the index");
  void *p = sim_touch(a->scratch, scatter_scratch(a), "scratch");
  if (p) memset(p, 0xee, scatter_scratch(a)); /* where a kernel would write */
  if (a->fault) {
    a->fault = (int32_t *)sim_touch(a->fault, sizeof *a->fault, "the fault word");
    good &= a->fault != NULL;
  }
  if (!good || !p) return;
  in_kernel = 1;
  finish(compute_scatter(a));
}

/* ---- what operations cost in the model of time ---- */
/* Of an operand with `count` elements to visit: none of its bytes is moved twice. */
static double bytes_of(const gt__operand *o, int ndim, const int64_t *size, int64_t count) {
  const extent e = extent_of(o, ndim, size);
  const double all = (double)count * (double)((int64_t)1 << o->size_log2);
  return e.end - e.begin < all ? (double)(e.end - e.begin) : all;
}
static sim_cost map_cost(const gt__map_args *m, int first) {
  sim_cost cost = {0, 0};
  for (int i = first; i < m->program.n_in; i++)
    cost.bytes += bytes_of(&m->in[i], m->ndim, m->size, m->count);
  cost.multiply_adds = (double)m->count * m->program.n_ins * (m->program.heavy ? 8 : 1);
  return cost;
}
static sim_cost reduce_cost(const gt__reduce_args *r) {
  const int whole = r->soft && r->soft != GT__LOGSUMEXP;
  sim_cost cost = map_cost(&r->pre, 0);
  cost.multiply_adds += (double)r->pre.count;
  cost.bytes += whole ? bytes_of(&r->pre.out, r->pre.ndim, r->pre.size, r->pre.count)
                      : bytes_of(&r->out, r->n_kept, r->pre.size, r->outer);
  return cost;
}
static sim_cost matmul_cost(const gt__matmul_args *x) {
  const double n = (double)x->batch * (double)x->n, matrices = (double)x->m * (double)x->k;
  const double element = (double)((int64_t)1 << x->a.size_log2);
  sim_cost cost = map_cost(&x->post, 1);
  cost.multiply_adds += n * matrices;
  cost.bytes += element * ((double)x->batch * matrices + n * (double)x->k);
  cost.bytes += bytes_of(&x->post.out, x->post.ndim, x->post.size, x->post.count);
  return cost;
}
static sim_cost copy_cost(const gt__copy_args *c) {
  sim_cost cost = {2 * (double)c->bytes, 0};
  if (c->kind == GT__ELEMENTS) cost.bytes = 2 * bytes_of(&c->dst, c->ndim, c->size, c->count);
  return cost;
}
static sim_cost order_cost(const gt__order_args *a) { /* of keys of 32 bits, about */
  const double n = (double)a->rows * (double)a->n;
  const sim_cost cost = {80 * n, 0};
  return cost;
}
static sim_cost scatter_cost(const gt__scatter_args *a) {
  const double element = (double)((int64_t)1 << a->src.size_log2), all = (double)a->n * (double)a->rest;
  const sim_cost cost = {3 * element * all + 8 * (double)a->n, all};
  return cost;
}
static sim_cost cost_of(int kind, const void *args) {
  sim_cost cost;
  switch (kind) {
    case GT__COPY: return copy_cost((const gt__copy_args *)args);
    case GT__REDUCE: return reduce_cost((const gt__reduce_args *)args);
    case GT__MATMUL: return matmul_cost((const gt__matmul_args *)args);
    case GT__ORDER: return order_cost((const gt__order_args *)args);
    case GT__SCATTER: return scatter_cost((const gt__scatter_args *)args);
    default: cost = map_cost((const gt__map_args *)args, 0);
  }
  const gt__map_args *m = (const gt__map_args *)args;
  cost.bytes += bytes_of(&m->out, m->ndim, m->size, m->count);
  return cost;
}
static sim_cost kernel_cost(int function, const void *args) {
  switch (function) {
    case SIM_gt__cuda_copy: return cost_of(GT__COPY, args);
    case SIM_gt__cuda_map: return cost_of(GT__MAP, args);
    case SIM_gt__cuda_reduce: return cost_of(GT__REDUCE, args);
    case SIM_gt__cuda_order: return cost_of(GT__ORDER, args);
    case SIM_gt__cuda_scatter: return cost_of(GT__SCATTER, args);
    default: return cost_of(GT__MATMUL, args);
  }
}
sim_cost (*sim_cost_of)(int function, const void *args) = kernel_cost;
/* The host does an operation, or moves bytes. Those of a graph come one by one. */
static void lib_work(const gt__op *op, int64_t bytes) {
  if (!sim_clocked()) return; /* before numbers that the program may want to trap */
  const sim_cost moved = {2 * (double)bytes, 0};
  if (op && op->kind >= GT__KINDS) return; /* a graph, or a function of the program's */
  sim_host_work(op ? cost_of(op->kind, &op->u) : moved);
}

static int launch_map(const gt__map_args *args, void *stream) {
  is_late(stream, extent_of(&args->out, args->ndim, args->size));
  return sim_launch(SIM_gt__cuda_map, stream, args, sizeof *args, run_map);
}
static int launch_scan(const gt__scan_args *args, void *stream) { /* as a map's kernel */
  is_late(stream, extent_of(&args->pre.out, args->pre.ndim, args->pre.size));
  return sim_launch(SIM_gt__cuda_map, stream, args, sizeof *args, run_scan);
}
static int launch_reduce(const gt__reduce_args *args, void *stream) {
  const int whole = args->soft && args->soft != GT__LOGSUMEXP;
  is_late(stream, extent_of(whole ? &args->pre.out : &args->out, whole ? args->pre.ndim : args->n_kept,
                            args->pre.size));
  return sim_launch(SIM_gt__cuda_reduce, stream, args, sizeof *args, run_reduce);
}
static int launch_matmul(const gt__matmul_args *args, void *stream) {
  gt__matmul_args x = *args;
  gt__operand *const matrix[] = {&x.a, &x.b};
  int64_t size[GT_MAX_DIMS + 2];
  for (int i = 0; i < 2 && args->post.early; i++) {
    gt__operand wide = *matrix[i];
    if (i) span_matrix(&wide, &x, x.k, x.b_row, x.n, x.b_col, size);
    else span_matrix(&wide, &x, x.m, x.a_row, x.k, x.a_col, size);
    if (size[x.n_batch] && meets_late(stream, extent_of(&wide, x.n_batch + 1, size))) x.post.early = TOO_EARLY;
  }
  for (int i = 1; i < x.post.program.n_in && args->post.early; i++)
    if (meets_late(stream, extent_of(&x.post.in[i], x.post.ndim, x.post.size))) x.post.early = TOO_EARLY;
  const size_t scratch = matmul_scratch(args);
  const extent own = {(char *)x.post.scratch, (char *)x.post.scratch + scratch};
  if (args->post.early & GT__EARLY_WRITE && meets_late(stream, own)) x.post.early = TOO_EARLY;
  if (!args->post.early || scratch) late[late_of(stream)].n = 0;
  if (scratch) is_late(stream, own);
  is_late(stream, extent_of(&x.post.out, x.post.ndim, x.post.size));
  return sim_launch(SIM_gt__cuda_matmul, stream, &x, sizeof x, run_matmul);
}
/* Some products need scratch, as on Hopper. */
static size_t matmul_scratch(const gt__matmul_args *args) {
  return args->m == args->n ? 0 : (size_t)args->m * (size_t)args->n * sizeof(float);
}
static int launch_copy(const gt__copy_args *args, void *stream) {
  is_late(stream, extent_of(&args->dst, args->ndim, args->size));
  return sim_launch(SIM_gt__cuda_copy, stream, args, sizeof *args, run_copy);
}
/* Contiguous, as a back end finds it. */
static gt__operand line_of(const gt__operand *o) {
  gt__operand line = *o;
  line.stride[0] = 1;
  return line;
}
static size_t order_scratch(const gt__order_args *a) { return (size_t)(a->rows * a->n) * 16; }
static void run_order(void *args) {
  gt__order_args *a = (gt__order_args *)args;
  const int64_t all = a->rows * a->n, kept = a->rows * a->keep;
  a->x = line_of(&a->x);
  a->out = line_of(&a->out);
  const int good = reach(&a->x, 1, &all, "the input") & reach(&a->out, 1, &kept, "the output");
  void *p = sim_touch(a->scratch, order_scratch(a), "scratch");
  if (p) memset(p, 0xee, order_scratch(a)); /* where a kernel would write */
  if (!good || !p) return;
  in_kernel = 1;
  finish(compute_order(a));
}
static int launch_order(const gt__order_args *a, void *stream) {
  const extent own = {(char *)a->scratch, (char *)a->scratch + order_scratch(a)};
  const int64_t kept = a->rows * a->keep;
  const gt__operand out = line_of(&a->out);
  is_late(stream, own);
  is_late(stream, extent_of(&out, 1, &kept));
  return sim_launch(SIM_gt__cuda_order, stream, a, sizeof *a, run_order);
}
static int launch_scatter(const gt__scatter_args *a, void *stream) {
  const extent own = {(char *)a->scratch, (char *)a->scratch + scatter_scratch(a)};
  int64_t size[GT_MAX_DIMS];
  const gt__operand wide = all_places(a, size);
  is_late(stream, own);
  is_late(stream, extent_of(&wide, a->ndim, size));
  return sim_launch(SIM_gt__cuda_scatter, stream, a, sizeof *a, run_scatter);
}
/* The ways of the pretended kernels: one for each primitive. */
static int plan_none(gt__op *op) { return op != NULL; }
static int plan_reduce(gt__op *op) {
  const gt__reduce_args *r = &op->u.reduce;
  if (r->n_chunk > 1) op->scratch = (size_t)r->outer * (size_t)r->n_chunk * GT__PARTIAL;
  return 1;
}
static int plan_matmul(gt__op *op) {
  op->scratch = matmul_scratch(&op->u.matmul);
  return 1;
}
static int plan_order(gt__op *op) {
  op->scratch = order_scratch(&op->u.order);
  return 1;
}
static int begin_order(const gt__op *op, void *queue) { return launch_order(&op->u.order, queue); }
static int begin_copy(const gt__op *op, void *queue) { return launch_copy(&op->u.copy, queue); }
static int begin_map(const gt__op *op, void *queue) { return launch_map(&op->u.map, queue); }
static int begin_reduce(const gt__op *op, void *queue) { return launch_reduce(&op->u.reduce, queue); }
static int begin_matmul(const gt__op *op, void *queue) { return launch_matmul(&op->u.matmul, queue); }
static int begin_scan(const gt__op *op, void *queue) { return launch_scan(&op->u.scan, queue); }
static int plan_scatter(gt__op *op) {
  op->scratch = scatter_scratch(&op->u.scatter);
  return 1;
}
static int begin_scatter(const gt__op *op, void *queue) { return launch_scatter(&op->u.scatter, queue); }
const gt__way *gt__cuda_ways(int kind) {
  static const gt__way way[GT__KINDS][2] = {
      {{"plain", plan_none, begin_copy, ""}, {NULL, NULL, NULL, NULL}},
      {{"plain", plan_none, begin_map, ""}, {NULL, NULL, NULL, NULL}},
      {{"plain", plan_reduce, begin_reduce, ""}, {NULL, NULL, NULL, NULL}},
      {{"plain", plan_matmul, begin_matmul, ""}, {NULL, NULL, NULL, NULL}},
      {{"plain", plan_none, begin_scan, ""}, {NULL, NULL, NULL, NULL}},
      {{"plain", plan_order, begin_order, ""}, {NULL, NULL, NULL, NULL}},
      {{"plain", plan_scatter, begin_scatter, ""}, {NULL, NULL, NULL, NULL}}};
  return way[kind];
}
int sim_other_layout;
int gt__cuda_build(gt__build *build) {
  memset(build, 0, sizeof *build);
  snprintf(build->version, sizeof build->version, "%s", GPUTENSOR_VERSION);
  build->layout = GT__LAYOUT + sim_other_layout;
  build->size_op = (int)sizeof(gt__op);
  build->n_arch = 1;
  build->arch[0] = 900 + 'a';
  return sim_call(SIM_gt__cuda_build);
}
int gt__cuda_warmup(void) { return sim_call(SIM_gt__cuda_warmup); }
