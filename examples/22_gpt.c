/* 22_gpt.c - a transformer of GPT-2's shape writes tokens, one after the other.

   You learn: how a language model computes, in sixty lines; that the keys and values of earlier
   tokens are kept, so that a step computes the newest token alone; how such a step becomes a graph
   that serves every position: its shapes are fixed, and where it stands is a number in a tensor;
   and how a token is drawn from the likeliest without a word from the host. The weights are read
   from a safetensors file with the names of GPT-2's, such as that of gpt2 on Hugging Face. Without
   one a small random model is made, saved and loaded. 22_gpt.py compares with PyTorch.

   A token is a number that stands for a piece of text: GPT-2's tokenizer, which is not here, makes
   one of the other. The model reads tokens and gives a score, the logit, for each of its words (all
   the tokens there are), of how well it comes next. One is drawn, becomes the newest token, and all
   begins anew. In between each token has a row of numbers, x, which starts as a row of the table
   wte, for the word, plus one of wpe, for the position; and

       in each layer    x = x + attention(layer_norm(x))    it takes from itself and those before it
                        x = x + network(layer_norm(x))      it works on its own row, as in lesson 09
       at the end       logits = layer_norm(x) times the transposed wte

   layer_norm subtracts a row's mean and divides by its deviation. In attention a product makes of
   each row a query, a key and a value. A token's query times another one's key, number by number
   and added up, says how much it takes of that one's value; softmax makes parts of these, which add
   up to 1. A head is 64 numbers of a row, which do that on their own.

       cc -O2 -march=native -fopenmp -I. examples/22_gpt.c -lm -lpthread -o gpt
       nvcc -O3 -Xcompiler -fopenmp -arch=native -I. examples/22_gpt.c gputensor_kernels.cu -o gpt
       ./gpt [--device cpu|cuda|cuda:N] [MODEL.safetensors [PROMPT.npy [TOKENS [LOGITS.npy]]]]

   PROMPT: int64 (sequences, tokens); TOKENS, how many more to write; LOGITS, to save the prompt's.
   Output without a file (the rates differ between machines):

       3 layers, 128 wide, 256 words, on cpu (AMD EPYC)
       tensor([[ 72, 101, 108, 108, 111, 132,  77, 165,  42,  10,  10, 245,  61,  93, ...
       by calls 8807 tokens a second, by a graph 16919 tokens a second
       by calls and by a graph: the same logits
       one token a step and all at once: the same logits
       here and on the CPU: the same logits

   Try: leave out the copy after a step, which gives keys and values a place of their own: one
   token a step is no longer what all at once are, and the program stops. LIKELIEST = 1: always the
   likeliest token. "a/5 - ..." in choose: a wilder text. gt_manual_seed(1) in main: another model,
   another text.
*/
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64, LIKELIEST = 40, MOST_LAYERS = 48 }; /* a head is 64 wide in all of GPT-2 */

/* Parameters: their names in the file, and rows and columns of the random model's, in multiples of
   its width; a vector has 0 rows. The first four are the model's, the others each layer's. */
enum { WTE, WPE, LN_F, LN_F_B, MODELS }; /* (words, width), (positions, width), (width) */
enum { LN_1, LN_1_B, QKV, QKV_B, OUT, OUT_B, LN_2, LN_2_B, UP, UP_B, DOWN, DOWN_B, LAYERS };
static const struct { const char *name; int rows, columns; } part[MODELS + LAYERS] = {
    {"wte.weight", 2, 1},         {"wpe.weight", 1, 1},
    {"ln_f.weight", 0, 1},        {"ln_f.bias", 0, 1},
    {"ln_1.weight", 0, 1},        {"ln_1.bias", 0, 1},
    {"attn.c_attn.weight", 1, 3}, {"attn.c_attn.bias", 0, 3},
    {"attn.c_proj.weight", 1, 1}, {"attn.c_proj.bias", 0, 1},
    {"ln_2.weight", 0, 1},        {"ln_2.bias", 0, 1},
    {"mlp.c_fc.weight", 1, 4},    {"mlp.c_fc.bias", 0, 4},
    {"mlp.c_proj.weight", 4, 1},  {"mlp.c_proj.bias", 0, 1}};
typedef struct {
  gt_tensors *file; /* has the tensors of p, which are freed with it */
  gt_tensor *p[MODELS + MOST_LAYERS * LAYERS];
  int layers;
  gt_tensor *squared; /* (2, 1, 1): false, true */
} model;

/* What a step reads and writes: a graph knows it by its memory. A slot has the key and the value of
   one token. The number of slots is a multiple of 8, so that each line of scores begins at a
   multiple of 16 bytes. */
typedef struct {
  gt_tensor *token;    /* (sequences, 1) int64: the newest */
  gt_tensor *position; /* (1) int64: where it stands */
  gt_tensor *cache;    /* (layers, 2, sequences, heads, slots, HEAD): keys and values */
  gt_tensor *noise;    /* (positions, sequences, LIKELIEST): uniform, below 1 */
  gt_tensor *logits;   /* (sequences, words) */
} session;

/* ---- the model ---- */

/* One call makes both means, of x and of its squares, as `squared` is (2, 1, 1): their difference
   is the variance, exact enough where the mean is no larger than the deviation. */
static gt_tensor *layer_norm(const model *m, const gt_tensor *x, gt_tensor *const *p) {
  gt_tensor *mean = gt_reduce(NULL, GT_MEAN, GT_DIM(-1), 1, "b ? a*a : a", x, m->squared);
  return gt_eval(NULL, "(a - b)*rsqrt(c - b*b + 1e-5)*d + e", x, gt_select(mean, 0, 0),
                 gt_select(mean, 0, 1), p[0], p[1]);
}

/* Adds to x, (sequences * tokens, width), what each token takes from those whose mask is 0, not
   -inf. 0.125 is 1/sqrt(HEAD). fresh, (2, sequences, heads, tokens, HEAD): where the new keys and
   values go; seen, of that shape but with all slots: what is looked at, the new ones too. */
static gt_tensor *attention(const model *m, gt_tensor *const *p, const gt_tensor *x,
                            gt_tensor *fresh, const gt_tensor *seen, const gt_tensor *mask) {
  const int64_t b = fresh->shape[1], heads = fresh->shape[2], t = fresh->shape[3];
  gt_tensor *y = layer_norm(m, x, p + LN_1);
  gt_tensor *qkv = gt_matmul_eval(NULL, y, p[QKV], "a + b", p[QKV_B]);
  qkv = gt_permute(gt_reshape(qkv, GT_SHAPE(b, t, 3, heads, HEAD)), GT_SHAPE(2, 0, 3, 1, 4));
  gt_copy(fresh, gt_slice(qkv, 0, 1, 3, 1));
  gt_tensor *q = gt_select(qkv, 0, 0), *k = gt_transpose(gt_select(seen, 0, 0), -1, -2);
  gt_tensor *score = gt_matmul(NULL, q, k);
  gt_tensor *sum = gt_empty(GT_SHAPE(b, t, heads, HEAD), x->dtype, x->device);
  gt_softmax(score, gt_eval(score, "a*0.125 + b", score, mask), -1);
  gt_matmul(gt_transpose(sum, 1, 2), score, gt_select(seen, 0, 1));
  sum = gt_reshape(sum, GT_SHAPE(b * t, -1));
  return gt_matmul_eval(NULL, sum, p[OUT], "a + b + c", p[OUT_B], x);
}

/* gelu in the form of tanh, as GPT-2 has it: (1 + tanh(u))/2 is sigmoid(2u); 1.59... is
   2*sqrt(2/pi). */
static gt_tensor *network(const model *m, gt_tensor *const *p, const gt_tensor *x) {
  gt_tensor *y = layer_norm(m, x, p + LN_2);
  y = gt_matmul_eval(NULL, y, p[UP], "a + b", p[UP_B]);
  gt_eval(y, "a*sigmoid(1.5957691216057308*a*(1 + 0.044715*a**2))", y);
  return gt_matmul_eval(NULL, y, p[DOWN], "a + b + c", p[DOWN_B], x);
}

/* What the model makes of each token, (sequences * tokens, width); times wte it is the logits.
   token: (sequences, tokens); position: (tokens), where these stand. fresh: where their keys and
   values go, of all layers; seen: those that are looked at. A token at position n looks at slots 0
   to n of these. */
static gt_tensor *forward(const model *m, const gt_tensor *token, const gt_tensor *position,
                          const gt_tensor *fresh, const gt_tensor *seen) {
  gt_tensor *slot = gt_arange(0, (double)seen->shape[4], 1, GT_INT64, token->device);
  gt_tensor *mask = gt_eval(NULL, "a <= b ? 0 : -inf", slot, gt_unsqueeze(position, 1));
  gt_tensor *x = gt_add(NULL, gt_index_select(NULL, m->p[WTE], 0, token),
                        gt_index_select(NULL, m->p[WPE], 0, position));
  x = gt_reshape(x, GT_SHAPE(-1, x->shape[2]));
  for (int i = 0; i < m->layers; i++) {
    GT_SCOPED; /* frees at the end of each round what was made in it */
    gt_tensor *const *p = m->p + MODELS + i * LAYERS;
    x = attention(m, p, x, gt_select(fresh, 0, i), gt_select(seen, 0, i), mask);
    x = gt_keep(network(m, p, x));
  }
  return layer_norm(m, x, m->p + LN_F);
}

static gt_tensor *new_cache(const model *m, int64_t sequences, int64_t positions) {
  const int64_t heads = m->p[WTE]->shape[1] / HEAD, slots = (1 + positions + 7) / 8 * 8;
  const gt_shape shape = GT_SHAPE(m->layers, 2, sequences, heads, slots, HEAD);
  return gt_zeros(shape, m->p[WTE]->dtype, m->p[WTE]->device);
}
/* A whole text at once. A token's slot is 1 + its position in the cache, and its position in
   `place`, which begins at slot 1. */
static gt_tensor *read_text(const model *m, const gt_tensor *cache, const gt_tensor *text) {
  gt_tensor *position = gt_arange(0, (double)text->shape[1], 1, GT_INT64, text->device);
  gt_tensor *place = gt_slice(cache, 4, 1, 1 + text->shape[1], 1);
  return forward(m, text, position, place, place);
}
static gt_tensor *all_logits(const model *m, const gt_tensor *text) { /* (tokens of all, words) */
  const gt_tensor *cache = new_cache(m, text->shape[0], text->shape[1]);
  return gt_linear(NULL, read_text(m, cache, text), m->p[WTE], NULL);
}

/* ---- writing ---- */

/* Draws a token for each sequence: noise of this form is added to the logits of the likeliest, and
   the token with the largest sum is taken. Each then has the chance that softmax gives it (Gumbel).
   x: (sequences, width) */
static void choose(const model *m, const session *s, const gt_tensor *x) {
  gt_tensor *likely = NULL, *word = NULL;
  gt_linear(s->logits, x, m->p[WTE], NULL);
  gt_topk(&likely, &word, s->logits, LIKELIEST, -1, 1);
  const gt_tensor *noise = gt_select(gt_index_select(NULL, s->noise, 0, s->position), 0, 0);
  const gt_tensor *best =
      gt_reduce(NULL, GT_ARGMAX, GT_DIM(-1), 1, "a/0.8 - log(-log(b))", likely, noise);
  gt_gather(s->token, word, 1, best);
  gt_add(s->position, s->position, gt_scalar_int64(1));
}
/* The newest token's keys and values go to slot 0, whatever its position: a graph's addresses are
   fixed. If its position is n, slots 1 to n hold those of the n tokens before it. */
static void step(const model *m, const session *s) {
  GT_SCOPED;
  choose(m, s, forward(m, s->token, s->position, gt_slice(s->cache, 4, 0, 1, 1), s->cache));
}
/* Writes what comes after the first `given` tokens of each row; returns tokens a second. */
static double generate(const model *m, const session *s, gt_tensor *text, int64_t given,
                       gt_graph *graph) {
  GT_SCOPED;
  gt_tensor *x = read_text(m, s->cache, gt_slice(text, 1, 0, given, 1));
  gt_fill(s->position, (double)(given - 1));
  choose(m, s, gt_select(gt_reshape(x, GT_SHAPE(-1, given, x->shape[1])), 1, given - 1));
  gt_synchronize(text->device);
  const double began = gt_now_ms();
  for (int64_t i = given; i < text->shape[1]; i++) { /* the host waits for nothing */
    GT_SCOPED;
    gt_copy(gt_slice(text, 1, i, i + 1, 1), s->token);
    if (graph) gt_graph_launch(graph, gt_current_stream(text->device));
    else step(m, s);
    gt_copy(gt_slice(s->cache, 4, 1 + i, 2 + i, 1), gt_slice(s->cache, 4, 0, 1, 1));
  }
  gt_synchronize(text->device);
  return 1e3 * (double)(gt_numel(text) - given * text->shape[0]) / (gt_now_ms() - began);
}

/* ---- the weights ---- */

static const char *name_of(char name[64], int n) {
  const int layer = (n - MODELS) / LAYERS;
  if (n < MODELS) return part[n].name;
  snprintf(name, 64, "h.%d.%s", layer, part[n - layer * LAYERS].name);
  return name;
}
static model load_model(const char *path, gt_device device) {
  char name[64];
  model m = {gt_load_safetensors(path, device), {NULL}, 0, NULL};
  for (int i = 0, n; i < m.file->n; i++)
    if (sscanf(m.file->item[i].name, "h.%d.", &n) == 1 && n >= m.layers) m.layers = n + 1;
  if (m.layers > MOST_LAYERS) gt_exit_on_error(GT_ERROR_FORMAT, "there are too many layers", NULL);
  for (int n = 0; n < MODELS + m.layers * LAYERS; n++)
    m.p[n] = gt_tensors_get(m.file, name_of(name, n));
  m.squared = gt_reshape(gt_arange(0, 2, 1, GT_BOOL, device), GT_SHAPE(2, 1, 1));
  return m;
}
static void save_random_model(const char *path) {
  enum { WIDTH = 128, ALL = MODELS + 3 * LAYERS };
  char name[ALL][64];
  gt_named item[ALL];
  GT_SCOPED;
  for (int i = 0; i < ALL; i++) {
    const int n = i < MODELS ? i : MODELS + (i - MODELS) % LAYERS;
    const int64_t rows = part[n].rows * WIDTH, columns = part[n].columns * WIDTH;
    const gt_shape shape = rows ? GT_SHAPE(rows, columns) : GT_SHAPE(columns);
    gt_tensor *x = gt_randn(shape, GT_FLOAT32, gt_cpu(), NULL);
    item[i].name = name_of(name[i], i);
    item[i].tensor = gt_eval(x, "a*rsqrt(b)", x, gt_scalar(rows ? (double)rows : 4));
  }
  gt_save_safetensors(path, ALL, item);
}

/* ---- the lesson ---- */

static void compare(const char *what, const gt_tensor *x, const gt_tensor *y) {
  const gt_tensor *off = gt_reduce(NULL, GT_MAX, GT_ALL, 0, "abs(a - b) / (1 + abs(b))", x, y);
  if (!(gt_item(off) < 1e-4)) gt_exit_on_error(GT_ERROR_STATE, what, NULL);
  printf("%s: the same logits\n", what);
}

int main(int argc, char **argv) {
  static const int64_t hello[] = {72, 101, 108, 108, 111, 72, 97, 108, 108, 111};
  const int named = argc > 2 && strcmp(argv[1], "--device") == 0 ? 2 : 0;
  gt_set_error_handler(gt_exit_on_error, NULL);
  GT_SCOPED;
  const gt_device device = named ? gt_parse_device(argv[2]) : gt_best_device();
  const char *own = argc - named > 1 ? NULL : "gputensor_gpt.safetensors";
  if (own) save_random_model(own);
  const model m = load_model(own ? own : argv[named + 1], device);
  printf("%d layers, %d wide, %d words, on %s (%s)\n", m.layers, (int)m.p[WTE]->shape[1],
         (int)m.p[WTE]->shape[0], gt_device_string(device), gt_device_name(device));

  const gt_tensor *prompt = gt_from_array(hello, GT_SHAPE(2, 5), GT_INT64, device);
  if (argc - named > 2) prompt = gt_load_npy(argv[named + 2], device);
  const int64_t sequences = prompt->shape[0], given = prompt->shape[1];
  const int64_t all = given + (argc - named > 3 ? atoi(argv[named + 3]) : 24);
  const session s = {gt_empty(GT_SHAPE(sequences, 1), GT_INT64, device),
                     gt_empty(GT_SHAPE(1), GT_INT64, device), new_cache(&m, sequences, all),
                     gt_rand(GT_SHAPE(all, sequences, LIKELIEST), GT_FLOAT32, device, NULL),
                     gt_empty(GT_SHAPE(sequences, m.p[WTE]->shape[0]), m.p[WTE]->dtype, device)};
  gt_tensor *text = gt_zeros(GT_SHAPE(sequences, all), GT_INT64, device);
  gt_copy(gt_slice(text, 1, 0, given, 1), prompt);
  const double by_calls = generate(&m, &s, text, given, NULL);
  const gt_tensor *called = gt_copy(NULL, s.logits);
  gt_graph_begin(gt_current_stream(device));
  step(&m, &s);
  gt_graph *graph = gt_graph_end();
  const double by_graph = generate(&m, &s, text, given, graph);
  gt_graph_free(graph);
  gt_print(text);
  printf("by calls %.0f tokens a second, by a graph %.0f tokens a second\n", by_calls, by_graph);
  compare("by calls and by a graph", called, s.logits);
  const gt_tensor *whole = all_logits(&m, text);
  compare("one token a step and all at once", s.logits,
          gt_select(gt_reshape(whole, GT_SHAPE(sequences, all, -1)), 1, all - 1));
  if (argc - named > 4) gt_save_npy(argv[named + 4], all_logits(&m, prompt));
  if (own) {
    const model host = load_model(own, gt_cpu());
    compare("here and on the CPU", gt_to(whole, gt_cpu()),
            all_logits(&host, gt_to(text, gt_cpu())));
    gt_tensors_free(host.file);
    remove(own);
  }
  gt_tensors_free(m.file);
  return 0;
}
