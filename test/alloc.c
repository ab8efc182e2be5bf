/* Every allocation of every kind of call fails once, and then with all that follow it: the call must
   say so, leave its output as it was or complete, lose nothing, and work afterwards. */
#include "check.h"

#include <unistd.h>

/* ---- a scenario: make the inputs, then the call that is tested ---- */
enum { INPUTS = 28 };
static gt_tensor *in[INPUTS]; /* made by prepare; freed by the scope around both */
static gt_tensor *out;        /* the output that is given, or NULL */
static gt_generator generator;
static char file_name[300];

typedef struct scenario {
  const char *name;
  void (*prepare)(void);
  gt_tensor *(*run)(void); /* NULL: it failed */
} scenario;

static gt_tensor *f32(gt_shape s) { return random_tensor(s, GT_FLOAT32, DEV); }
static gt_tensor *f64(gt_shape s) { return random_tensor(s, GT_FLOAT64, DEV); }
static gt_tensor *f16(gt_shape s) { return random_tensor(s, GT_FLOAT16, DEV); }
static gt_tensor *i32(gt_shape s) { return random_tensor(s, GT_INT32, DEV); }
static gt_tensor *i64(gt_shape s) { return random_tensor(s, GT_INT64, DEV); }

static void prepare_nothing(void) {}
static void prepare_vectors(void) {
  int i;
  for (i = 0; i < 13; i++) in[i] = i % 4 == 3 ? f64(GT_SHAPE(50)) : f32(GT_SHAPE(50));
  in[13] = i64(GT_SHAPE(50));
  in[14] = i32(GT_SHAPE(50));
  in[15] = f16(GT_SHAPE(50));
}
static void prepare_vectors_out(void) {
  prepare_vectors();
  out = gt_full(GT_SHAPE(50), 9, GT_FLOAT64, DEV);
}
static void prepare_matrices(void) {
  in[0] = f32(GT_SHAPE(33, 20));
  in[1] = f32(GT_SHAPE(20, 17));
  in[2] = gt_transpose(f32(GT_SHAPE(17, 20)), 0, 1);
  in[3] = i32(GT_SHAPE(20, 17));
  in[4] = f64(GT_SHAPE(3, 33, 20));
  in[5] = f64(GT_SHAPE(20, 17));
  in[6] = f32(GT_SHAPE(17));
  in[7] = f16(GT_SHAPE(33, 20));
  in[8] = f16(GT_SHAPE(20, 17));
  in[9] = f32(GT_SHAPE(20));
  in[10] = i64(GT_SHAPE(33, 17));
  in[11] = f32(GT_SHAPE(17, 20));
  in[12] = f64(GT_SHAPE(17));
  in[13] = i32(GT_SHAPE(33, 20));
}
static void prepare_matrices_out(void) {
  prepare_matrices();
  out = gt_full(GT_SHAPE(33, 17), 9, GT_FLOAT32, DEV);
}
static void prepare_big(void) {
  in[0] = f32(GT_SHAPE(300, 290));
  in[1] = f32(GT_SHAPE(290, 310));
  in[2] = f32(GT_SHAPE(QUICK ? 20000 : 200000));
}
static void prepare_pieces(void) {
  in[0] = f32(GT_SHAPE(4, 5));
  in[1] = f16(GT_SHAPE(4, 5));
  in[2] = i32(GT_SHAPE(4, 5));
  in[3] = gt_transpose(f32(GT_SHAPE(5, 4)), 0, 1);
  in[4] = TENSOR(GT_INT64, GT_SHAPE(3), 3, 0, 2);
  in[5] = TENSOR(GT_INT32, GT_SHAPE(6), 0, 0, 0, 0, 1, 0); /* every second one is used */
}
static void prepare_pieces_out(void) {
  prepare_pieces();
  out = gt_full(GT_SHAPE(16, 5), 9, GT_FLOAT64, DEV);
}
static void prepare_stack_out(void) {
  prepare_pieces();
  out = gt_full(GT_SHAPE(4, 4, 5), 9, GT_FLOAT64, DEV);
}
static void prepare_select_out(void) {
  prepare_pieces();
  out = gt_full(GT_SHAPE(3, 5), 9, GT_FLOAT64, DEV);
}
static void prepare_index_add(void) {
  prepare_pieces();
  out = gt_full(GT_SHAPE(4, 5), 9, GT_FLOAT32, DEV);
}
static void prepare_scatter_overlap(void) {
  prepare_pieces();
  out = gt_slice(in[0], 0, 0, 4, 1);
}
static void prepare_select_overlap(void) {
  prepare_pieces();
  out = gt_slice(in[0], 0, 0, 3, 1);
}
static void prepare_overlap(void) { /* out is in[0] moved by one */
  gt_tensor *all = f32(GT_SHAPE(60));
  in[0] = gt_slice(all, 0, 0, 50, 1);
  in[1] = f64(GT_SHAPE(50));
  in[2] = i64(GT_SHAPE(50));
  out = gt_slice(all, 0, 1, 51, 1);
}
static void prepare_in_place(void) {
  in[1] = f32(GT_SHAPE(50));
  in[2] = i64(GT_SHAPE(50));
  in[3] = f64(GT_SHAPE(50));
  out = f32(GT_SHAPE(50));
}
static void prepare_copy(void) {
  in[0] = gt_transpose(f64(GT_SHAPE(6, 5)), 0, 1);
  in[1] = i32(GT_SHAPE(6));
  out = gt_slice(gt_full(GT_SHAPE(5, 12), 9, GT_FLOAT16, DEV), 1, 0, 12, 2);
}
static void prepare_file(void) {
  in[0] = f32(GT_SHAPE(4, 5));
  in[1] = gt_transpose(random_tensor(GT_SHAPE(5, 4), GT_BFLOAT16, DEV), 0, 1);
  gt_save_npy(file_name, in[0]);
}
static void prepare_fortran(void) {
  static const char header[] = "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3)}";
  static const unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, sizeof header - 1, 0};
  FILE *file = fopen(file_name, "wb");
  float v[6];
  memset(v, 0x40, sizeof v);
  fwrite(start, 1, 10, file);
  fwrite(header, 1, sizeof header - 1, file);
  fwrite(v, 1, sizeof v, file);
  fclose(file);
}

/* ---- the calls ---- */
#define CALL(name, expression) static gt_tensor *run_##name(void) { return expression; }
static double host_data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
CALL(empty, gt_fill(gt_empty(GT_SHAPE(3, 4), GT_FLOAT32, DEV), 3))
CALL(zeros, gt_zeros(GT_SHAPE(3, 4), GT_INT16, DEV))
CALL(full, gt_full(GT_SHAPE(3, 4), 0.1, GT_FLOAT64, DEV))
CALL(like, gt_zeros_like(gt_ones(GT_SHAPE(3), GT_BOOL, DEV)))
CALL(arange, gt_arange(0, 10, 0.5, GT_FLOAT32, DEV))
CALL(linspace, gt_linspace(0, 10, 7, GT_FLOAT16, DEV))
CALL(eye, gt_eye(3, 5, GT_INT8, DEV))
CALL(scalar, gt_scalar(3.5))
CALL(scalar_int64, gt_scalar_int64(7))
CALL(from_array, gt_from_array(host_data, GT_SHAPE(3, 4), GT_FLOAT64, DEV))
CALL(from_ptr, gt_from_ptr(host_data, GT_SHAPE(3, 4), GT_FLOAT64, gt_cpu(), NULL, NULL))
/* memory that a tensor has already: what is known of it is shared */
CALL(from_ptr_again, gt_from_ptr(gt_data(in[0]), GT_SHAPE(2), in[0]->dtype, in[0]->device, NULL, NULL))
CALL(pinned, gt_fill(gt_empty_pinned(GT_SHAPE(9), GT_INT32), 4))
CALL(retain, gt_retain(in[0]))
CALL(views, gt_transpose(gt_slice(gt_unsqueeze(gt_expand(gt_select(in[0], 0, 1), GT_SHAPE(3, 20)), 0),
                                  2, 1, 9, 2), 1, 2))
CALL(reshape, gt_reshape(in[0], GT_SHAPE(-1)))
static gt_tensor *run_keep(void) {
  gt_tensor *y = NULL;
  GT_SCOPE y = gt_keep(gt_retain(in[0]));
  return y;
}
CALL(rand, gt_rand(GT_SHAPE(50), GT_FLOAT32, DEV, &generator))
CALL(randn, gt_randn(GT_SHAPE(50), GT_FLOAT64, DEV, &generator))
CALL(randint, gt_randint(-5, 5, GT_SHAPE(50), GT_INT32, DEV, &generator))
CALL(randperm, gt_randperm(50, DEV, &generator))
CALL(add, gt_add(NULL, in[0], in[1]))
CALL(add_out, gt_add(out, in[0], in[3]))
CALL(where, gt_where(NULL, in[14], in[15], in[3]))
CALL(eval, gt_eval(NULL, "a*b + c", in[0], in[1], in[2]))
CALL(eval_numbers, gt_eval(out, "2 * pi"))
#define TWELVE in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8], in[9], in[10], in[11]
CALL(eval_twelve, gt_eval(NULL, "a*b + c*d + e*f + g*h + i*j + k*l", TWELVE))
CALL(eval_twelve_out, gt_eval(out, "a*b + c*d + e*f + g*h + i*j + k*l", TWELVE))
CALL(eval_temporaries, gt_eval(NULL, "(a + b)*(b + c)*((c + d)*(d + a) + (a - b)*((a + c) - (b + d)*(a*b + c*d)))",
                               in[0], in[1], in[2], in[4]))
CALL(eval_mixed, gt_eval(out, "exp(c) * remainder(a + b, 7) + (a*b == b*a ? d : a)", in[13], in[14],
                         in[0], in[15]))
static char long_text[3000];
static gt_tensor *run_eval_long(void) {
  int i;
  strcpy(long_text, "a");
  for (i = 0; i < 60; i++) strcat(long_text, i % 3 ? " + b*2.5" : " + (a - 1)");
  return gt_eval(NULL, long_text, in[0], in[1]);
}
CALL(eval_in_place, gt_eval(out, "a*b + a", out, in[1]))
CALL(eval_in_place_cut, gt_eval(out, "a*exp(b) + (b*b + b) + a*c", out, in[2], in[3]))
CALL(eval_overlap, gt_eval(out, "a + b*c", in[0], in[1], in[2]))
CALL(fill, gt_fill(out, 2.5))
CALL(sum, gt_sum(NULL, in[0], GT_DIM(0), 0))
CALL(sum_large, gt_sum(NULL, in[2], GT_ALL, 0))
CALL(sum_rows, gt_sum(NULL, in[0], GT_DIM(1), 1))
CALL(mean_ints, gt_mean(NULL, in[3], GT_ALL, 0))
CALL(argmax, gt_argmax(NULL, in[0], GT_DIM(1), 0))
CALL(any, gt_any(NULL, in[0], GT_ALL, 0))
CALL(reduce_text, gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "(a - b)*(a - b)", in[0], in[1]))
CALL(reduce_twelve, gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a*b + c*d + e*f + g*h + i*j + k*l", TWELVE))
static void prepare_reduce_out(void) {
  prepare_vectors();
  out = gt_full(GT_SHAPE(1), 9, GT_FLOAT64, DEV);
}
CALL(reduce_out, gt_reduce(out, GT_MAX, GT_ALL, 1, "a*b - c", in[0], in[13], in[2]))
CALL(var, gt_var(NULL, in[0], GT_DIM(1), 1, 0))
CALL(std, gt_std(NULL, in[7], GT_ALL, 0, 0))
CALL(norm, gt_norm(NULL, in[0], 3, GT_DIM(0), 0))
CALL(norm2, gt_norm(NULL, in[0], 2, GT_ALL, 1))
CALL(std_double, gt_std(NULL, gt_to_dtype(in[0], GT_FLOAT64), GT_DIM(1), 1, 0))
CALL(norm_double, gt_norm(NULL, gt_to_dtype(in[0], GT_FLOAT64), 2, GT_ALL, 1))
CALL(logsumexp, gt_logsumexp(NULL, in[0], GT_DIM(1), 0))
CALL(softmax, gt_softmax(NULL, in[0], 1))
CALL(softmax_first, gt_softmax(NULL, in[2], 0))
CALL(log_softmax, gt_log_softmax(NULL, in[7], -1))
static void prepare_softmax_in_place(void) { out = f32(GT_SHAPE(7, 9)); }
CALL(softmax_in_place, gt_softmax(out, out, 1))
CALL(log_softmax_in_place, gt_log_softmax(out, out, 0))
CALL(matmul, gt_matmul(NULL, in[0], in[1]))
CALL(matmul_out, gt_matmul(out, in[0], in[2]))
CALL(matmul_double, gt_matmul(NULL, in[4], in[5]))
CALL(matmul_half, gt_matmul(NULL, in[7], in[8]))
CALL(matmul_ints, gt_matmul(NULL, in[13], in[3]))
CALL(matmul_mixed, gt_matmul(NULL, in[0], in[5]))
CALL(matmul_vector, gt_matmul(NULL, in[0], in[9]))
CALL(matmul_large, gt_matmul(NULL, in[0], in[1]))
CALL(matmul_eval, gt_matmul_eval(NULL, in[0], in[1], "relu(a + b)", in[6]))
CALL(matmul_eval_mixed, gt_matmul_eval(out, in[0], in[2], "a*b + exp(c)*0.01 + c % 3", in[12], in[10]))
CALL(matmul_eval_own, gt_matmul_eval(out, in[0], in[1], "a*0.5 + b", out))
CALL(addmm, gt_addmm(NULL, in[6], in[0], in[1], 0.5, 2))
CALL(addmm_out, gt_addmm(out, out, in[0], in[1], 0.5, 2))
CALL(addmm_unread, gt_addmm(NULL, in[6], in[0], in[1], 0.5, 0))
CALL(linear, gt_linear(NULL, in[0], in[11], in[6]))
CALL(linear_mixed, gt_linear(NULL, in[0], in[11], in[12]))
CALL(cat, gt_cat(NULL, 2, (const gt_tensor *const *)in, 0))
CALL(cat_mixed, gt_cat(NULL, 4, (const gt_tensor *const *)in, 1))
CALL(cat_out, gt_cat(out, 4, (const gt_tensor *const *)in, 0))
CALL(stack, gt_stack(NULL, 4, (const gt_tensor *const *)in, 1))
CALL(stack_out, gt_stack(out, 4, (const gt_tensor *const *)in, 0))
CALL(select, gt_index_select(NULL, in[0], 0, in[4]))
CALL(select_out, gt_index_select(out, in[1], 0, in[4]))
CALL(select_overlap, gt_index_select(out, in[0], 0, in[4]))
CALL(select_strided, gt_index_select(NULL, in[3], 1, gt_slice(in[5], 0, 0, 6, 2)))
CALL(gather, gt_gather(NULL, in[0], 0, gt_expand(gt_unsqueeze(in[4], 1), GT_SHAPE(-1, 5))))
CALL(gather_out, gt_gather(out, in[1], 0, gt_expand(gt_unsqueeze(in[4], 1), GT_SHAPE(-1, 5))))
static gt_tensor *run_sort(void) {
  gt_tensor *values = NULL, *indices = NULL;
  return gt_sort(&values, &indices, in[3], 0, 1) ? NULL : gt_add(NULL, values, indices);
}
static gt_tensor *run_topk_out(void) {
  gt_tensor *values = NULL;
  return gt_topk(&values, &out, in[0], 3, 0, 1) ? NULL : values;
}
CALL(nonzero, gt_nonzero(in[2]))
CALL(index_add, gt_index_add(out, 0, in[4], gt_slice(in[0], 0, 0, 3, 1)))
CALL(scatter_overlap, gt_scatter_reduce(out, 0, gt_expand(gt_unsqueeze(in[4], 1), GT_SHAPE(-1, 5)), in[0], GT_SUM, 1))
CALL(copy, gt_copy(NULL, in[0]))
CALL(copy_out, gt_copy(out, in[0]))
CALL(copy_wide, gt_copy(out, in[1]))
CALL(copy_overlap, gt_copy(out, in[0]))
CALL(to_dtype, gt_to_dtype(in[2], GT_INT16))
CALL(contiguous, gt_contiguous(in[2]))
CALL(to_cpu, gt_to(in[2], gt_cpu()))
CALL(load, gt_load_npy(file_name, DEV))
#define DONE(ok) ((ok) ? in[0] : NULL) /* for calls without a tensor as result */
static gt_tensor *run_save(void) {
  const int ok = gt_save_npy(file_name, in[0]) == GT_OK;
  char temporary[310];
  snprintf(temporary, sizeof temporary, "%s.tmp", file_name);
  CHECK(access(temporary, F_OK) != 0);
  return DONE(ok);
}
CALL(save_view, DONE(gt_save_npy(file_name, in[1]) == GT_OK))
static gt_tensor *run_text(void) {
  char text[9000];
  return DONE(gt_to_string(in[0], text, sizeof text) > 0);
}
static gt_tensor *run_text_view(void) {
  char text[9000] = "untouched";
  const int64_t n = gt_to_string(in[2], text, sizeof text);
  CHECK(n > 0 ? (int64_t)strlen(text) == n : !text[0]);
  return DONE(n > 0);
}
static gt_tensor *run_print(void) {
  FILE *file = fopen("/dev/null", "w");
  const gt_status status = gt_fprint(file, in[0]);
  fclose(file);
  return DONE(status == GT_OK);
}
static gt_tensor *run_item(void) {
  gt_tensor *one = gt_select(gt_select(in[0], 0, 0), 0, 0);
  return DONE(gt_item(one) == gt_item(one));
}
static gt_tensor *run_to_array(void) {
  float v[17 * 20];
  return DONE(gt_to_array(in[2], v, sizeof v) == GT_OK);
}
static gt_tensor *run_scopes(void) {
  gt_tensor *kept = NULL;
  GT_SCOPE {
    GT_SCOPE {
      gt_tensor *x = gt_exp(NULL, in[0]), *y = gt_mul(NULL, x, in[1]);
      kept = gt_add(NULL, y, y);
      if (kept) gt_keep(kept);
    }
    if (kept) gt_keep(kept);
  }
  return kept;
}
static gt_tensor *run_streams(void) {
  gt_stream *s = gt_stream_create(DEV, 0), *t = gt_stream_create(DEV, -1);
  gt_event *e = gt_event_create(), *f = gt_event_create();
  gt_tensor *x = NULL, *y = NULL;
  int ok = s && t && e && f;
  if (ok) {
    GT_WITH_STREAM(s) x = gt_add(NULL, in[0], in[1]);
    ok = x && !gt_event_record(e, s) && !gt_stream_wait_event(t, e) && !gt_stream_wait_stream(t, s);
  }
  if (ok) {
    GT_WITH_STREAM(t) y = gt_mul(NULL, x, in[1]);
    ok = y && !gt_event_record(f, t) && gt_event_elapsed_ms(e, f) >= 0 && !gt_stream_synchronize(t);
  }
  gt_event_free(e);
  gt_event_free(f);
  gt_stream_free(s);
  gt_stream_free(t);
  return ok ? y : NULL;
}
CALL(current, DONE(gt_current_stream(DEV) != NULL))
static gt_tensor *run_chain(void) { /* checked once, at its end */
  gt_tensor *x = gt_matmul(NULL, in[0], in[1]), *y = gt_add(NULL, x, in[6]);
  return gt_sum(NULL, gt_relu(NULL, y), GT_DIM(0), 0);
}

static const scenario table[] = {
#define S(run, inputs) {#run, prepare_##inputs, run_##run}
    S(empty, nothing), S(zeros, nothing), S(full, nothing), S(like, nothing), S(arange, nothing),
    S(linspace, nothing), S(eye, nothing), S(scalar, nothing), S(scalar_int64, nothing),
    S(from_array, nothing), S(from_ptr, nothing), S(from_ptr_again, matrices), S(pinned, nothing), S(retain, matrices),
    S(views, matrices), S(reshape, matrices), S(keep, matrices), S(rand, nothing), S(randn, nothing),
    S(randint, nothing), S(randperm, nothing), S(add, vectors), S(add_out, vectors_out),
    S(where, vectors), S(eval, vectors), S(eval_numbers, vectors_out), S(eval_twelve, vectors),
    S(eval_twelve_out, vectors_out), S(eval_temporaries, vectors), S(eval_mixed, vectors_out),
    S(eval_long, vectors), S(eval_in_place, in_place), S(eval_in_place_cut, in_place),
    S(eval_overlap, overlap), S(fill, vectors_out), S(sum, matrices), S(sum_large, big),
    S(sum_rows, matrices), S(mean_ints, matrices), S(argmax, matrices), S(any, matrices),
    S(reduce_text, vectors), S(reduce_twelve, vectors), S(reduce_out, reduce_out), S(var, matrices),
    S(std, matrices), S(norm, matrices), S(norm2, matrices), S(std_double, matrices),
    S(norm_double, matrices), S(logsumexp, matrices),
    S(softmax, matrices), S(softmax_first, matrices), S(log_softmax, matrices),
    S(softmax_in_place, softmax_in_place), S(log_softmax_in_place, softmax_in_place),
    S(matmul, matrices), S(matmul_out, matrices_out), S(matmul_double, matrices),
    S(matmul_half, matrices), S(matmul_ints, matrices), S(matmul_mixed, matrices),
    S(matmul_vector, matrices), S(matmul_large, big), S(matmul_eval, matrices),
    S(matmul_eval_mixed, matrices_out), S(matmul_eval_own, matrices_out), S(addmm, matrices),
    S(addmm_out, matrices_out), S(addmm_unread, matrices), S(linear, matrices),
    S(linear_mixed, matrices), S(cat, pieces),
    S(cat_mixed, pieces), S(cat_out, pieces_out), S(stack, pieces), S(stack_out, stack_out),
    S(select, pieces), S(select_out, select_out), S(select_overlap, select_overlap),
    S(select_strided, pieces), S(gather, pieces), S(gather_out, select_out), S(copy, pieces),
    S(index_add, index_add), S(scatter_overlap, scatter_overlap), S(sort, pieces), S(topk_out, select_out), S(nonzero, pieces),
    S(copy_out, copy), S(copy_wide, copy),
    S(copy_overlap, overlap), S(to_dtype, matrices), S(contiguous, matrices), S(to_cpu, matrices),
    S(load, file), {"load, Fortran order", prepare_fortran, run_load}, S(save, file),
    S(save_view, file), S(text, matrices), S(text_view, matrices), S(print, matrices),
    S(item, matrices), S(to_array, matrices), S(scopes, vectors), S(streams, vectors),
    S(current, vectors), S(chain, matrices)};

/* ---- the trial ---- */
typedef struct snapshot { void *p[INPUTS + 1]; } snapshot;
static snapshot snap(void) {
  snapshot s;
  int i;
  for (i = 0; i < INPUTS; i++) s.p[i] = in[i] ? values_of(in[i]) : NULL;
  s.p[INPUTS] = out ? values_of(out) : NULL;
  return s;
}
static void snap_free(snapshot *s) {
  int i;
  for (i = 0; i <= INPUTS; i++) free(s->p[i]);
}
static int holds(const gt_tensor *x, const void *bytes) {
  void *p = values_of(x);
  const int same_bytes = x && memcmp(p, bytes, gt_nbytes(x)) == 0;
  free(p);
  return same_bytes;
}
/* Inputs that do not share memory with out must never change. */
static void check_inputs(const snapshot *s) {
  int i;
  for (i = 0; i < INPUTS; i++)
    if (in[i] && !(out && in[i]->storage == out->storage))
      CHECK_TEXT(holds(in[i], s->p[i]), "input %d has changed", i);
}
static void prepare(const scenario *s) {
  memset(in, 0, sizeof in);
  out = NULL;
  rnd_state = 20261121;
  generator.seed = 3;
  generator.offset = 0;
  s->prepare();
  NO_ERROR();
}
static void *wanted; /* the result's bytes when nothing fails */
static size_t wanted_bytes;

/* Returns 1 while there was an allocation to fail. */
static int trial(const scenario *s, int once, int64_t nth) {
  const int64_t handles = gt_report_leaks(NULL);
  int failed = 0;
  GT_SCOPE {
    snapshot before, after;
    gt_tensor *y = NULL;
    int64_t made;
    prepare(s);
    before = snap();
    made = gt_report_leaks(NULL);
    if (once) hooks_fail_once(nth);
    else hooks_fail_at(nth);
    GT_SCOPE {
      y = s->run();
      failed = hooks_failed();
      hooks_fail_at(0);
      if (y && y != out && y != in[0]) gt_keep(y); /* in[0]: a call without a tensor as result */
    }
    CHECK_TEXT(failed || y, "nothing failed, but the call did: %s", gt_error_message());
    if (y) {
      CHECK_TEXT(!gt_error(), "a result and an error: %s", gt_error_message());
      CHECK_TEXT(gt_nbytes(y) == wanted_bytes && holds(y, wanted), "a wrong result, allocation %" PRId64,
                 nth);
    } else {
      CHECK_TEXT(gt_error() == GT_ERROR_MEMORY, "allocation %" PRId64 ": %s: %s", nth,
                 gt_status_string(gt_error()), gt_error_message());
      CHECK_TEXT(strncmp(gt_error_message(), "gt_", 3) == 0, "the message names no function: %s",
                 gt_error_message());
      CHECK_TEXT(gt_report_leaks(NULL) == made, "allocation %" PRId64 ": %" PRId64 " handles are left",
                 nth, gt_report_leaks(NULL) - made);
      CHECK_INT(generator.offset, 0);
      if (out)
        CHECK_TEXT(holds(out, before.p[INPUTS]) || holds(out, wanted),
                   "allocation %" PRId64 ": the output is half written", nth);
    }
    gt_clear_error();
    check_inputs(&before);
    snap_free(&before);
    /* and once more, with memory */
    prepare(s);
    after = snap();
    y = s->run();
    CHECK_TEXT(y && gt_nbytes(y) == wanted_bytes && holds(y, wanted),
               "allocation %" PRId64 ", after the failure: %s", nth, gt_error_message());
    gt_clear_error();
    check_inputs(&after);
    snap_free(&after);
    memset(in, 0, sizeof in);
    out = NULL;
  }
  CHECK_INT(gt_report_leaks(NULL), handles);
  return failed > 0;
}
static int64_t fresh(void) { /* nothing cached, no stream made */
  gt_shutdown();
  return hooks_live();
}
static void test_scenario(const scenario *s) {
  int64_t nth, live, step = 1;
  int mode;
  case_begin("%s", s->name);
  live = fresh();
  GT_SCOPE {
    gt_tensor *y;
    prepare(s);
    y = s->run();
    CHECK_TEXT(y != NULL, "%s", gt_error_message());
    wanted = values_of(y);
    wanted_bytes = y ? gt_nbytes(y) : 0;
  }
  CHECK_INT(fresh(), live);
  for (mode = 0; mode < 4 && !check_bad; mode++) { /* from then on or once; nothing cached or all */
    for (nth = 1;; nth += step) {
      const int more = trial(s, mode & 1, nth);
      if (!(mode & 2)) CHECK_INT(fresh(), live);
      if (!more) break;
      if (QUICK && nth > 20) step = 3;
      CHECK_TEXT(nth < 5000, "it allocates without end");
      if (nth >= 5000) break;
    }
  }
  CHECK_INT(fresh(), live);
  free(wanted);
  case_end();
}

/* A text that cannot be parsed, with every allocation failing: one error or the other. */
static void test_bad_text(void) {
  int64_t nth, live = fresh();
  for (nth = 1; nth < 40; nth++) GT_SCOPE {
      gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV);
      hooks_fail_at(nth);
      CHECK(gt_eval(NULL, "a + exp(a) * (a", x) == NULL);
      hooks_fail_at(0);
      CHECK(gt_error() == GT_ERROR_EXPRESSION || gt_error() == GT_ERROR_MEMORY);
      gt_clear_error();
    }
  CHECK_INT(fresh(), live);
}

int main(int argc, char **argv) {
  unsigned i;
  const char *where = getenv("TMPDIR");
  check_start("alloc", argc, argv);
  snprintf(file_name, sizeof file_name, "%s/gputensor-alloc-%ld.npy", where ? where : "/tmp",
           (long)getpid());
  for (i = 0; i < sizeof table / sizeof *table; i++) test_scenario(&table[i]);
  RUN(bad_text);
  remove(file_name);
  return check_finish();
}
