/* Lesson 22's transformer, compared with plain loops in float64: all logits of a text, those of one
   token at a time by calls and by a graph, and the tokens that are drawn. */
#include "check.h"

#include <unistd.h>
#ifndef GPUTENSOR_LINKED
#define GPUTENSOR_LINKED
#endif
#define main lesson_main
#include "../examples/22_gpt.c"
#undef main

enum { SEQUENCES = 2, TEXT = 20, GIVEN = 6 };
static char path[300];

/* ---- by plain loops ---- */
static const float *floats(const gt_tensor *x) { return (const float *)gt_data(x); } /* of the CPU */
static double *doubles(int64_t n) { return (double *)calloc((size_t)n, sizeof(double)); }
static void plain_norm(int64_t width, const double *x, gt_tensor *const *p, double *y) {
  double mean = 0, var = 0;
  for (int64_t i = 0; i < width; i++) mean += x[i] / (double)width;
  for (int64_t i = 0; i < width; i++) var += (x[i] - mean) * (x[i] - mean) / (double)width;
  for (int64_t i = 0; i < width; i++) y[i] = (x[i] - mean) / sqrt(var + 1e-5) * floats(p[0])[i] + floats(p[1])[i];
}
static void plain_linear(const double *x, gt_tensor *const *p, double *y) { /* w (in, out), then b */
  const int64_t in = p[0]->shape[0], out = p[0]->shape[1];
  const float *w = floats(p[0]), *b = floats(p[1]); /* a call that asks for data costs more than a sum */
  for (int64_t j = 0; j < out; j++) y[j] = b[j];
  for (int64_t i = 0; i < in; i++)
    for (int64_t j = 0; j < out; j++) y[j] += x[i] * w[i * out + j];
}
/* One head of one token, number t: its query, keys and values of tokens 0 to t are in qkv, of 3 * width
   numbers a token. */
static void plain_head(const double *qkv, int64_t t, int64_t width, int64_t first, double *y) {
  double chance[TEXT], sum = 0;
  for (int64_t s = 0; s <= t; s++) {
    chance[s] = 0;
    for (int64_t i = first; i < first + HEAD; i++) chance[s] += qkv[t * 3 * width + i] * qkv[s * 3 * width + width + i];
    chance[s] = exp(chance[s] / sqrt(HEAD));
    sum += chance[s];
  }
  for (int64_t i = first; i < first + HEAD; i++) {
    y[i] = 0;
    for (int64_t s = 0; s <= t; s++) y[i] += chance[s] / sum * qkv[s * 3 * width + 2 * width + i];
  }
}
static void plain_layer(const model *m, gt_tensor *const *p, double *x) { /* x: (TEXT, width) */
  const int64_t width = m->p[WTE]->shape[1];
  double *qkv = doubles(TEXT * 3 * width), *y = doubles(4 * width), *z = doubles(4 * width);
  for (int64_t t = 0; t < TEXT; t++) {
    plain_norm(width, x + t * width, p + LN_1, y);
    plain_linear(y, p + QKV, qkv + t * 3 * width);
  }
  for (int64_t t = 0; t < TEXT; t++) {
    for (int64_t h = 0; h < width / HEAD; h++) plain_head(qkv, t, width, h * HEAD, y);
    plain_linear(y, p + OUT, z);
    for (int64_t i = 0; i < width; i++) x[t * width + i] += z[i];
    plain_norm(width, x + t * width, p + LN_2, y);
    plain_linear(y, p + UP, z);
    for (int64_t i = 0; i < 4 * width; i++)
      z[i] *= 0.5 * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (z[i] + 0.044715 * z[i] * z[i] * z[i])));
    plain_linear(z, p + DOWN, y);
    for (int64_t i = 0; i < width; i++) x[t * width + i] += y[i];
  }
  free(qkv);
  free(y);
  free(z);
}
static void plain_logits(const model *m, const int64_t *token, double *logits) { /* (TEXT, words) */
  const int64_t words = m->p[WTE]->shape[0], width = m->p[WTE]->shape[1];
  const float *wte = floats(m->p[WTE]), *wpe = floats(m->p[WPE]);
  double *x = doubles(TEXT * width), *y = doubles(width);
  for (int64_t i = 0; i < TEXT * width; i++)
    x[i] = (double)wte[token[i / width] * width + i % width] + wpe[i];
  for (int i = 0; i < m->layers; i++) plain_layer(m, m->p + MODELS + i * LAYERS, x);
  for (int64_t t = 0; t < TEXT; t++) {
    plain_norm(width, x + t * width, m->p + LN_F, y);
    for (int64_t n = 0; n < words; n++) {
      double *sum = &logits[t * words + n];
      *sum = 0;
      for (int64_t i = 0; i < width; i++) *sum += y[i] * wte[n * width + i];
    }
  }
  free(x);
  free(y);
}

/* ---- the tests ---- */
static void check_logits(const char *what, const gt_tensor *got, const double *want) {
  const int64_t n = got ? gt_numel(got) : 0;
  float *p = (float *)values_of(got);
  CHECK(n > 0 && got->dtype == GT_FLOAT32);
  for (int64_t i = 0; i < n; i++)
    CHECK_TEXT(fabs(p[i] - want[i]) <= 2e-5 * (1 + fabs(want[i])), "%s[%d] is %.9g, not %.9g", what, (int)i,
               (double)p[i], want[i]);
  free(p);
}
static session new_session(const model *m) {
  gt_generator generator = {7, 0};
  const session s = {gt_empty(GT_SHAPE(SEQUENCES, 1), GT_INT64, DEV),
                     gt_empty(GT_SHAPE(1), GT_INT64, DEV),
                     new_cache(m, SEQUENCES, TEXT),
                     gt_rand(GT_SHAPE(TEXT, SEQUENCES, LIKELIEST), GT_FLOAT32, DEV, &generator),
                     gt_empty(GT_SHAPE(SEQUENCES, m->p[WTE]->shape[0]), GT_FLOAT32, DEV)};
  return s;
}
/* The likeliest of these logits, with this noise for the first, the second... of them. */
static int64_t plain_choice(const double *logits, int64_t words, const float *noise) {
  char *taken = (char *)calloc((size_t)words, 1);
  int64_t chosen = -1;
  double most = -INFINITY;
  for (int k = 0; k < LIKELIEST; k++) {
    int64_t best = -1;
    for (int64_t i = 0; i < words; i++)
      if (!taken[i] && (best < 0 || logits[i] > logits[best])) best = i;
    taken[best] = 1;
    const double with = logits[best] / 0.8 - log(-log((double)noise[k]));
    if (with > most) chosen = best;
    if (with > most) most = with;
  }
  free(taken);
  return chosen;
}
/* Each token behind the given ones is the one that its logits and its noise make. */
static void check_choices(const model *m, const session *s, const int64_t *text, const double *want) {
  const int64_t words = m->p[WTE]->shape[0];
  float *noise = (float *)values_of(s->noise);
  for (int64_t b = 0; b < SEQUENCES; b++)
    for (int64_t t = GIVEN - 1; t < TEXT - 1; t++)
      CHECK_INT(text[b * TEXT + t + 1],
                plain_choice(want + (b * TEXT + t) * words, words, noise + (t * SEQUENCES + b) * LIKELIEST));
  free(noise);
}
static void test_transformer(void) {
  save_random_model(path);
  const model m = load_model(path, DEV), host = load_model(path, gt_cpu());
  const int64_t words = m.p[WTE]->shape[0];
  const session s = new_session(&m);
  double *want = doubles(SEQUENCES * TEXT * words), *last = doubles(SEQUENCES * words);
  gt_graph_begin(gt_current_stream(DEV));
  step(&m, &s);
  gt_graph *graph = gt_graph_end();
  CHECK_INT(m.layers, 3);
  for (int by_graph = 0; by_graph < 2; by_graph++) {
    gt_tensor *text = gt_randint(0, words, GT_SHAPE(SEQUENCES, TEXT), GT_INT64, DEV, NULL);
    CHECK(generate(&m, &s, text, GIVEN, by_graph ? graph : NULL) > 0);
    int64_t *token = (int64_t *)values_of(text);
    for (int64_t b = 0; b < SEQUENCES; b++) {
      plain_logits(&host, token + b * TEXT, want + b * TEXT * words);
      memcpy(last + b * words, want + ((b + 1) * TEXT - 1) * words, (size_t)words * sizeof *last);
    }
    check_logits("all at once", all_logits(&m, text), want);
    check_logits(by_graph ? "by a graph" : "by calls", s.logits, last);
    check_choices(&m, &s, token, want);
    free(token);
  }
  free(want);
  free(last);
  gt_graph_free(graph);
  gt_tensors_free(m.file);
  gt_tensors_free(host.file);
}

int main(int argc, char **argv) {
  const char *where = getenv("TMPDIR");
  check_start("gpt", argc, argv);
  snprintf(path, sizeof path, "%s/gputensor-gpt-%ld.safetensors", where ? where : "/tmp", (long)getpid());
  RUN(transformer);
  remove(path);
  return check_finish();
}
