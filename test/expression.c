/* The expression language: grammar, errors, types, and programs that are larger than the
   machine. */
#include "check.h"

/* the value of a text over a = 2, b = 3, c = -5 (float64) */
static double number(const char *text) {
  double v = (double)NAN;
  GT_SCOPE {
    gt_tensor *a = gt_full(GT_SHAPE(1), 2, GT_FLOAT64, DEV),
              *b = gt_full(GT_SHAPE(1), 3, GT_FLOAT64, DEV);
    gt_tensor *c = gt_full(GT_SHAPE(1), -5, GT_FLOAT64, DEV);
    v = gt_item(gt_eval(NULL, text, a, b, c));
  }
  return v;
}

static void test_grammar(void) {
  static const struct { const char *text; double value; } table[] = {
      {"a + b * c", -13}, {"(a + b) * c", -25}, {"a - b - c", 4}, {"a - (b - c)", -6},
      {"a / b / c", 2.0 / 3 / -5}, {"a * b % 4", 2}, {"c % a", 1}, {"c % -b", -2}, {"-c % b", 2},
      {"a ** b ** a", 512}, {"(a ** b) ** a", 64}, {"-a ** 2", -4}, {"(-a) ** 2", 4},
      {"a ** -1", 0.5},
      {"a ** -a ** 0", 0.5}, {"2 ** 3 ** 2", 512}, {"- - a", 2}, {"-+-a", 2}, {"+c", -5}, {"!a", 0},
      {"!0 + 1.5", 2.5}, {"!(a > b) * 4.0", 4}, {"a < b", 1}, {"a < b < c", 0}, {"c < b == 1", 1},
      {"a > b == c < 0", 0}, {"a != b", 1}, {"a <= 2", 1}, {"a >= 3", 0}, {"a == 2 && b == 3", 1},
      {"a == 1 || b == 3 && c == 0", 0}, {"(a == 1 || b == 3) && c == -5", 1}, {"1 || 0 && 0", 1},
      {"a > b ? 1 : c > b ? 2 : 3", 3}, {"a < b ? c < 0 ? 7 : 8 : 9", 7}, {"a < b ? a : b", 2},
      {"a + b > 4 ? a : b", 2}, {"1 ? 2.5 : 3", 2.5}, {"where(a > b, 1, 2.5)", 2.5},
      {"fma(a, b, c)", 1}, {"maximum(a, b) - minimum(a, b)", 1}, {"clamp(c, -1, 1)", -1},
      {"pi + a*0", 3.14159265358979323846}, {"pi * 0 + 1e3", 1000}, {"1.5e-3 * 1E3", 1.5},
      {".5 + 0.", 0.5},
      {"1e+2", 100}, {"00012", 12}, {"a*1+b*1", 5}, {"  a\t+\nb ", 5}, {"a+b", 5}, {"sqrt(a*8)", 4},
      {"abs(c)**a", 25}, {"a-1", 1}, {"a -1", 1}, {"a- -1", 3}, {"a--1", 3}, {"(((((a)))))", 2},
      {"square(c)+square(b)", 34}, {"1e400 > 1", 1}, {"1e-400", 0}, {"a!=2", 0}, {"!a!=1", 1},
      {"0.1 + 0.2 + a*0", 0.1 + 0.2}, {"1 / 3.0 + a*0", 1 / 3.0}, {"floor_div(c, a)", -3},
      {"fmod(c, a)", -1},
      {"hypot(3.0, 4.0)", 5}, {"gt(a, b) + 0.5", 0.5}, {"logical_xor(a, 0) + 0.5", 1.5}};
  size_t i;
  for (i = 0; i < sizeof table / sizeof *table; i++) {
    const double v = number(table[i].text);
    if (v != table[i].value)
      check_report(__FILE__, __LINE__, "%s is %.17g, not %.17g (%s)", table[i].text, v,
                   table[i].value, gt_error_message());
    gt_clear_error();
  }
}

static void test_integers(void) {
  gt_tensor *a = gt_full(GT_SHAPE(1), 7, GT_INT64, DEV), *y;
  static const struct { const char *text; int64_t value; } table[] = {
      {"a + 9223372036854775800", INT64_MAX}, {"a * 0 + 9223372036854775807", INT64_MAX},
      {"a - 9007199254740993", INT64_C(7) - 9007199254740993}, {"a % 4", 3}, {"-a % 4", 1},
      {"a ** 20", 79792266297612001}, {"a ** -1", 0}, {"a * -1 % 0", 0}, {"floor_div(a, 0)", 0},
      {"bitwise_and(a, 5) + bitwise_left_shift(a, 3)", 61}, {"bitwise_not(a)", -8},
      {"a > 3 ? 9007199254740993 : 0", 9007199254740993},
      {"(a > 3) + 9007199254740992", 9007199254740993},
      {"!a + 9007199254740993", 9007199254740993}, {"abs(-9223372036854775807) + a * 0", INT64_MAX},
      {"a + -9223372036854775807 - 8", INT64_MIN}};
  size_t i;
  for (i = 0; i < sizeof table / sizeof *table; i++) {
    y = gt_eval(NULL, table[i].text, a);
    if (!y || y->dtype != GT_INT64 || gt_item_int64(y) != table[i].value)
      check_report(__FILE__, __LINE__, "%s is %" PRId64 " (%s), not %" PRId64 " (%s)",
                   table[i].text, y ? gt_item_int64(y) : 0, y ? gt_dtype_string(y->dtype) : "NULL",
                   table[i].value, gt_error_message());
    gt_clear_error();
  }
}

/* Refused, with exactly this message; a = b = c = ones(2). */
static void test_bad_texts(void) {
  static const struct { const char *text, *message; } table[] = {
      {"a * (b + ", "at column 10: expected an operand"}, {"", "at column 1: expected an operand"},
      {"   ", "at column 4: expected an operand"}, {"a +", "at column 4: expected an operand"},
      {"a + * b", "at column 5: expected an operand"}, {"(a", "at column 3: expected )"},
      {"(a + b c", "at column 8: expected )"}, {"a b", "at column 3: expected an operator"},
      {"a )", "at column 3: expected an operator"}, {"a = b", "at column 3: expected an operator"},
      {"a & b", "at column 3: expected an operator"},
      {"a | b", "at column 3: expected an operator"},
      {"a # b", "at column 3: expected an operator"}, {"2 a", "at column 3: expected an operator"},
      {"2a", "at column 2: expected an operator"}, {"a ? b", "at column 6: expected :"},
      {"a ? b c", "at column 7: expected :"}, {"a ? : c", "at column 5: expected an operand"},
      {"a + d", "at column 5: operand d, but 3 operands were given"},
      {"z", "at column 1: operand z, but 3 operands were given"},
      {"A", "at column 1: no operation is called A"},
      {"foo(a)", "at column 1: no operation is called foo"},
      {"a + sine(b)", "at column 5: no operation is called sine"},
      {"ab", "at column 1: no operation is called ab"},
      {"_", "at column 1: no operation is called _"},
      {"pie", "at column 1: no operation is called pie"},
      {"exp a", "at column 5: expected ( after the operation's name"},
      {"exp", "at column 4: expected ( after the operation's name"},
      {"exp(a", "at column 6: expected ) or ,"}, {"exp(a b)", "at column 7: expected ) or ,"},
      {"exp()", "at column 5: expected an operand"},
      {"exp(a,)", "at column 7: expected an operand"},
      {"exp(a, b)", "at column 1: exp takes 1 operand"},
      {"add(a)", "at column 1: add takes 2 operands"},
      {"a + fma(a, b)", "at column 5: fma takes 3 operands"},
      {"where(a, b, c, a, b, c)", "at column 1: where takes 3 operands"},
      {"1.2.3", "at column 1: a malformed number"}, {"a + 1e", "at column 5: a malformed number"},
      {"1e+", "at column 1: a malformed number"}, {"1.5x", "at column 1: a malformed number"},
      {".", "at column 1: expected an operand"}, {"a..b", "at column 2: expected an operator"},
      {"1234567890123456789012345678901234567890123456789012345678901234567890",
       "at column 1: a number of more than 60 characters"},
      {"a ** ** b", "at column 6: expected an operand"},
      {"a !b", "at column 3: expected an operator"},
      {"a == = b", "at column 6: expected an operand"},
      {"\xc3\xa4", "at column 1: expected an operand"},
      {"a + \x01", "at column 5: expected an operand"},
      {"a, b", "at column 2: expected an operator"},
      {"\"a\"", "at column 1: expected an operand"}, {"%d", "at column 1: expected an operand"}};
  gt_tensor *x = gt_ones(GT_SHAPE(2), GT_FLOAT32, DEV),
            *out = gt_ones(GT_SHAPE(2), GT_FLOAT32, DEV);
  size_t i;
  int turn;
  char want[300];
  for (i = 0; i < sizeof table / sizeof *table; i++)
    for (turn = 0; turn < 2; turn++) { /* also the second time: nothing bad is cached */
      gt_tensor *y = gt_eval(out, table[i].text, x, x, x);
      CHECK(y == NULL);
      CHECK_INT(gt_error(), GT_ERROR_EXPRESSION);
      snprintf(want, sizeof want, "gt_eval: \"%s\"  %s", table[i].text, table[i].message);
      CHECK_STR(gt_error_message(), want);
      gt_clear_error();
    }
  CHECK_VALUES(out, 1, 1);
}

static char *repeated(const char *head, const char *middle, int n, const char *tail) {
  char *text = (char *)malloc(strlen(head) + strlen(middle) * (size_t)n + strlen(tail) + 1),
       *p = text;
  p += sprintf(p, "%s", head);
  while (n-- > 0) p += sprintf(p, "%s", middle);
  sprintf(p, "%s", tail);
  return text;
}
static void test_limits(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT64, DEV);
  const gt_tensor *list[30];
  int64_t before;
  int i;
  char *text;
  for (i = 0; i < 30; i++) list[i] = x;
  text = repeated("", "(", 100000, "a");
  REFUSED(gt_eval(NULL, text, x), GT_ERROR_EXPRESSION, "gt_eval");
  free(text);
  text = repeated("", "-", 60000, "a");
  REFUSED(gt_eval(NULL, text, x), GT_ERROR_EXPRESSION, "nested more than 500 deep");
  free(text);
  text = repeated("", "(", 60000, "a");
  REFUSED(gt_eval(NULL, text, x), GT_ERROR_EXPRESSION, "nested more than 500 deep");
  free(text);
  text = repeated("a", "**a", 2000, "");
  REFUSED(gt_eval(NULL, text, x), GT_ERROR_EXPRESSION, "deep");
  free(text);
  text = repeated("", "a?", 20000, "a");
  REFUSED(gt_eval(NULL, text, x), GT_ERROR_EXPRESSION, "deep");
  free(text);
  text = repeated("a", "+a", 499, "");
  CHECK_VALUES(gt_eval(NULL, text, x), 500, 500, 500);
  free(text);
  text = repeated("a", " + a*a", 500, ""); /* 1,000 operations: some 20 passes */
  before = hooks_calls();
  CHECK_VALUES(gt_eval(NULL, text, x), 501, 501, 501);
  CHECK_TEXT(hooks_calls() - before < 300, "%" PRId64 " allocations for 1,000 operations",
             hooks_calls() - before);
  free(text);
  text = repeated("a", "+a", 40000, "");
  REFUSED(gt_eval(NULL, text, x), GT_ERROR_EXPRESSION, "more than 65535 characters");
  free(text);
  text = repeated("", "(", 300, "a");
  REFUSED(gt_eval(NULL, text, x), GT_ERROR_EXPRESSION, "...");
  free(text);
  REFUSED(gt_eval_n(NULL, "a", 27, list), GT_ERROR_ARGUMENT,
          "27 operands; the letters a to z name 26");
  REFUSED(gt_eval_n(NULL, "a", -1, list), GT_ERROR_ARGUMENT, "-1 operands");
  REFUSED(gt_eval_n(NULL, NULL, 1, list), GT_ERROR_ARGUMENT, "the text is NULL");
  list[1] = NULL;
  REFUSED(gt_eval_n(NULL, "a", 2, list), GT_ERROR_ARGUMENT, "gt_eval: operand 2 is NULL");
  REFUSED(gt_eval(NULL, "a + b", x, gt_ones(GT_SHAPE(4), GT_FLOAT64, DEV)), GT_ERROR_SHAPE,
          "gt_eval: operand 2 (4,) does not broadcast with (3,)");
  REFUSED(gt_eval(NULL, "bitwise_and(a, a)", x), GT_ERROR_DTYPE,
          "bitwise_and has no meaning for float64; it takes integers and bool");
}

/* ---- larger than the machine: 8 inputs, 16 slots, 64 instructions ---- */
static void test_many_operands(void) {
  const gt_tensor *list[26];
  gt_tensor *expected = gt_zeros(GT_SHAPE(5, 33), GT_FLOAT64, DEV), *y;
  char text[400] = "", *p = text;
  int i;
  for (i = 0; i < 26; i++) {
    list[i] = gt_to_dtype(random_tensor(GT_SHAPE(5, 33), GT_INT32, DEV), GT_FLOAT64);
    p += sprintf(p, "%s%c * %d", i ? " + " : "", 'a' + i, i + 1);
    gt_add(expected, expected, gt_mul(NULL, list[i], gt_scalar(i + 1)));
  }
  CHECK_SAME(gt_eval_n(NULL, text, 26, list), expected);
  /* into an operand, and into a view shifted over one */
  y = gt_copy(NULL, list[3]);
  list[3] = y;
  CHECK(gt_eval_n(y, text, 26, list) == y);
  CHECK_SAME(y, expected);
  GT_SCOPE {
    gt_tensor *base = gt_zeros(GT_SHAPE(6, 33), GT_FLOAT64, DEV);
    list[3] = gt_slice(base, 0, 0, 5, 1);
    y = gt_eval_n(NULL, text, 26, list);
    CHECK(gt_eval_n(gt_slice(base, 0, 1, 6, 1), text, 26, list) != NULL);
    CHECK_SAME(gt_slice(base, 0, 1, 6, 1), y);
  }
  /* 26 operands of different shapes and dtypes */
  for (i = 0; i < 26; i++)
    list[i] = gt_full(i % 3 == 0 ? GT_SHAPE(5, 1) : i % 3 == 1 ? GT_SHAPE(33) : GT_SHAPE(5, 33), i,
                      i % 2 ? GT_INT16 : GT_FLOAT32, DEV);
  y = gt_eval_n(NULL, "a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q+r+s+t+u+v+w+x+y+z", 26, list);
  CHECK_SAME(y, gt_full(GT_SHAPE(5, 33), 325, GT_FLOAT32, DEV));
  /* what is computed in several passes is what one would give: a sum of bool is a number there */
  y = gt_eval_n(NULL, "((a<b)+(c<d)+(e<f)+(g<h)+(i<j))*1.5", 26, list);
  CHECK_SAME(y, gt_full(GT_SHAPE(5, 33), 7.5, GT_FLOAT32, DEV));
}

/* (((a+b)*(c-a))...: needs depth temporaries */
static char *balanced(char *p, int depth, int *leaf) {
  if (depth == 0) return p + sprintf(p, "%c", 'a' + (*leaf)++ % 5);
  *p++ = '(';
  p = balanced(p, depth - 1, leaf);
  *p++ = "+-+"[depth % 3];
  p = balanced(p, depth - 1, leaf);
  *p++ = ')';
  return p;
}
static double balanced_value(int depth, int *leaf, const double *v) {
  double left, right;
  if (depth == 0) return v[(*leaf)++ % 5];
  left = balanced_value(depth - 1, leaf, v);
  right = balanced_value(depth - 1, leaf, v);
  return depth % 3 == 1 ? left - right : left + right;
}
static void test_deep(void) {
  static const double v[5] = {3, -7, 11, 0.5, 100};
  char *text = (char *)malloc(40000);
  const gt_tensor *list[5];
  int i, depth;
  for (i = 0; i < 5; i++) list[i] = gt_full(GT_SHAPE(70), v[i], GT_FLOAT64, DEV);
  for (depth = 1; depth <= 10; depth++) {
    int leaf = 0, leaf2 = 0;
    *balanced(text, depth, &leaf) = 0;
    CHECK_SAME(gt_eval_n(NULL, text, 5, list),
               gt_full(GT_SHAPE(70), balanced_value(depth, &leaf2, v), GT_FLOAT64, DEV));
  }
  free(text);
  { /* more constants than slots */
    char t[600] = "a", *p = t + 1;
    double sum = 3;
    for (i = 0; i < 40; i++) p += sprintf(p, " + %d.5*b", i), sum += (i + 0.5) * -7;
    CHECK_SAME(gt_eval_n(NULL, t, 2, list), gt_full(GT_SHAPE(70), sum, GT_FLOAT64, DEV));
  }
}

/* ---- random expressions against a plain interpreter, on numbers small enough to be exact ---- */
enum { OPERANDS = 12, N = 70 };
static double data[OPERANDS][N];
typedef struct { double v[N], bound; int boolean; } value;

static value grow(char **text, int depth) {
  value r, x, y, z;
  char *p = *text;
  int i, kind = depth <= 0 ? (int)rnd_below(2) : 2 + (int)rnd_below(14);
  memset(&r, 0, sizeof r);
  if (kind == 0) {
    const int k = (int)rnd_below(OPERANDS);
    p += sprintf(p, "%c", 'a' + k);
    memcpy(r.v, data[k], sizeof r.v);
    r.bound = 16;
  } else if (kind == 1) {
    const double c = (double)rnd_below(33) * 0.5;
    p += sprintf(p, "%.1f", c);
    for (i = 0; i < N; i++) r.v[i] = c;
    r.bound = 16;
  } else if (kind <= 7) { /* + - * and names of them, while it stays exact */
    static const char *const sign[] = {"+", "-", "*"};
    const int k = (int)rnd_below(3);
    const int named = (int)rnd_below(4) == 0;
    p += sprintf(p, named ? "%s(" : "(", k == 0 ? "add" : k == 1 ? "sub" : "mul");
    x = grow(&p, depth - 1);
    if (x.boolean) p += sprintf(p, "*1.0"); /* bool + bool would be a bool */
    p += sprintf(p, named ? ", " : " %s ", sign[k]);
    y = grow(&p, depth - 1);
    if (k == 2 && x.bound * y.bound > 0x1p40) {
      *p++ = '*', *p++ = '0';
      for (i = 0; i < N; i++) y.v[i] *= 0;
      y.bound = 0;
    }
    *p++ = ')';
    for (i = 0; i < N; i++)
      r.v[i] = k == 0 ? x.v[i] + y.v[i] : k == 1 ? x.v[i] - y.v[i] : x.v[i] * y.v[i];
    r.bound = k == 2 ? x.bound * y.bound + 1 : x.bound + y.bound;
  } else if (kind <= 10) {
    static const char *const sign[] = {"<", "<=", ">", ">=", "==", "!=", "&&", "||"};
    const int k = (int)rnd_below(8);
    *p++ = '(';
    x = grow(&p, depth - 1);
    p += sprintf(p, " %s ", sign[k]);
    y = grow(&p, depth - 1);
    *p++ = ')';
    for (i = 0; i < N; i++) {
      const double a = x.v[i], b = y.v[i];
      r.v[i] = k == 0 ? a < b : k == 1 ? a <= b : k == 2 ? a > b : k == 3 ? a >= b : k == 4 ? a == b
             : k == 5 ? a != b : k == 6 ? a != 0 && b != 0 : a != 0 || b != 0;
    }
    r.bound = 1;
    r.boolean = 1;
  } else if (kind <= 12) {
    *p++ = '(';
    x = grow(&p, depth - 1);
    p += sprintf(p, " ? ");
    y = grow(&p, depth - 1);
    p += sprintf(p, " : ");
    z = grow(&p, depth - 1);
    *p++ = ')';
    for (i = 0; i < N; i++) r.v[i] = x.v[i] != 0 ? y.v[i] : z.v[i];
    r.bound = y.bound > z.bound ? y.bound : z.bound;
    r.boolean = y.boolean && z.boolean;
  } else if (kind == 13) {
    p += sprintf(p, "-");
    x = grow(&p, depth - 1);
    for (i = 0; i < N; i++) r.v[i] = x.boolean ? x.v[i] : -x.v[i];
    if (x.boolean) { /* the sign of a bool is not interesting: write it off */
      p += sprintf(p, "*0.0");
      for (i = 0; i < N; i++) r.v[i] *= 0;
    }
    r.bound = x.bound;
  } else if (kind == 14) {
    p += sprintf(p, "!");
    x = grow(&p, 0);
    for (i = 0; i < N; i++) r.v[i] = x.v[i] == 0;
    r.bound = r.boolean = 1;
  } else {
    const int k = (int)rnd_below(2);
    p += sprintf(p, k ? "maximum(" : "minimum(");
    x = grow(&p, depth - 1);
    p += sprintf(p, ", ");
    y = grow(&p, depth - 1);
    p += sprintf(p, ")");
    for (i = 0; i < N; i++)
      r.v[i] = k == (x.v[i] > y.v[i]) ? x.v[i] : y.v[i];
    r.bound = x.bound > y.bound ? x.bound : y.bound;
    r.boolean = x.boolean && y.boolean;
  }
  *p = 0;
  *text = p;
  return r;
}
static void test_random_expressions(void) {
  const gt_tensor *list[OPERANDS];
  static char text[200000];
  int i, k;
  for (k = 0; k < OPERANDS; k++) {
    for (i = 0; i < N; i++) data[k][i] = (double)(rnd_below(33) - 16);
    list[k] = gt_from_array(data[k], GT_SHAPE(N), GT_FLOAT64, DEV);
  }
  for (k = 0; k < (QUICK ? 60 : 700); k++) GT_SCOPE {
      char *end = text;
      value want = grow(&end, 1 + k % 7);
      gt_tensor *y;
      double *v;
      sprintf(end, " + 0.0");
      y = gt_eval_n(NULL, text, OPERANDS, list);
      v = (double *)values_of(y);
      CHECK_TEXT(y != NULL, "%.300s: %s", text, gt_error_message());
      gt_clear_error();
      if (y && y->dtype != GT_FLOAT64 && y->dtype != GT_FLOAT32)
        check_report(__FILE__, __LINE__, "%s for %.400s", gt_dtype_string(y->dtype), text);
      for (i = 0; y && y->ndim && i < N; i++) {
        const double got = load(y->dtype, v, i);
        if (got != want.v[i]) {
          check_report(__FILE__, __LINE__, "%.1500s [%d] is %.17g, not %.17g", text, i, got,
                       want.v[i]);
          break;
        }
      }
      free(v);
    }
}

/* ---- types ---- */
static void test_mixed_types(void) {
  const int64_t big = (INT64_C(1) << 60) + 1;
  gt_tensor *a = gt_copy(gt_empty(GT_SHAPE(2), GT_INT64, DEV), gt_scalar_int64(big)), *y;
  gt_tensor *f = TENSOR(GT_FLOAT32, GT_SHAPE(2), 0.5, -0.5);
  static const struct { const char *text; int64_t first, second; } table[] = {
      {"a + (b > 0)", 1, 0}, {"(b > 0) + a", 1, 0}, {"a - (b < 0.25)", 0, -1},
      {"b ? a : a - 1", 0, 0}, {"where(b, a, a - 1)", 0, 0}, {"b > 0 ? a : a - 1", 0, -1},
      {"a + (b == 0.5 && a > 5)", 1, 0}, {"a + (exp(b) > 1)", 1, 0}, {"a + isnan(b)", 0, 0},
      {"a + !b", 0, 0}, {"a + (sqrt(b*b) + b > 0.9)", 1, 0}};
  const gt_tensor *in[26];
  size_t i;
  for (i = 0; i < sizeof table / sizeof *table; i++) {
    int64_t *v;
    y = gt_eval(NULL, table[i].text, a, f);
    v = (int64_t *)values_of(y);
    if (!y || y->dtype != GT_INT64 || v[0] != big + table[i].first || v[1] != big + table[i].second)
      check_report(__FILE__, __LINE__, "%s: %s, %" PRId64 " %" PRId64 " from %" PRId64 " (%s)",
                   table[i].text, y ? gt_dtype_string(y->dtype) : "NULL", v[0], v[1], big,
                   gt_error_message());
    gt_clear_error();
    free(v);
  }
  /* where: the condition has a type of its own */
  y = gt_where(NULL, f, a, a);
  CHECK(y && y->dtype == GT_INT64 && gt_item_int64(gt_select(y, 0, 1)) == big);
  y = gt_eval(NULL, "a/4 ? b : b + 1", TENSOR(GT_FLOAT32, GT_SHAPE(2), 1, 0),
              TENSOR(GT_INT64, GT_SHAPE(2), 5, 5));
  CHECK_VALUES(y, 5, 6); /* a quarter is not zero, also where integers compute */
  /* three temporaries, each cut out of the next, beside as many operands as there are letters */
  for (i = 0; i < 26; i++) in[i] = i == 1 ? TENSOR(GT_INT64, GT_SHAPE(2), 5, 6) : f;
  y = gt_eval_n(NULL, "a + (b*b + (a/2 + b*b ? b : b + 1))", 26, in);
  CHECK_VALUES(y, 30.5, 41.5);
  y = gt_where(NULL, TENSOR(GT_INT64, GT_SHAPE(2), 0x1p40, 0), f, f);
  CHECK_SAME(y, f);
  y = gt_where(NULL, TENSOR(GT_FLOAT64, GT_SHAPE(2), 1e-300, 0), f, gt_scalar(7));
  CHECK_VALUES(y, 0.5, 7); /* 1e-300 is not zero, also where float32 computes */
  /* comparisons of large integers are exact */
  y = gt_eval(NULL, "a == 1152921504606846976", a);
  CHECK_VALUES(y, 0, 0);
  CHECK_VALUES(gt_eq(NULL, a, gt_sub(NULL, a, gt_scalar_int64(1))), 0, 0);
  /* float64 in float32 company: promotion decides, once */
  CHECK_INT(gt_eval(NULL, "a + 0.1", f)->dtype, GT_FLOAT32);
  y = gt_eval(NULL, "a * 0 + 0.1", f);
  CHECK_NUM(gt_item(gt_select(y, 0, 0)), 0.1f);
  y = gt_eval(NULL, "a * 0 + b", f, gt_full(GT_SHAPE(2), 0.1, GT_FLOAT64, DEV));
  CHECK_NUM(gt_item(gt_select(y, 0, 0)), 0.1);
  /* a 0-d float64 tensor does not widen */
  y = gt_eval(NULL, "a * 0 + b", f, gt_full(GT_SHAPE_0D, 0.1, GT_FLOAT64, DEV));
  CHECK_INT(y ? (int)y->dtype : -1, GT_FLOAT32);
  CHECK_NUM(gt_item(gt_select(y, 0, 0)), 0.1f);
  /* integers by division become float32, comparisons bool, bool + bool bool */
  CHECK_INT(gt_eval(NULL, "a / a", a)->dtype, GT_FLOAT32);
  CHECK_INT(gt_eval(NULL, "(a > 0) + (b > 0)", a, f)->dtype, GT_BOOL);
  CHECK_VALUES(gt_eval(NULL, "(a > 0) + (b > 0)", a, f), 1, 1);
  CHECK_INT(gt_eval(NULL, "a * 2 < 5", f)->dtype, GT_BOOL);
  /* in a chain they count, also where the integers beneath need a program of their own */
  CHECK_VALUES(gt_eval(NULL, "((a > 1) + (a > 2)) * 0.5", TENSOR(GT_INT32, GT_SHAPE(2), 2, 3)), 0.5, 1);
  CHECK_VALUES(gt_eval(NULL, "((a > 1) - (a < 3)) * 0.5", TENSOR(GT_INT64, GT_SHAPE(2), 1, 3)), -0.5, 0.5);
  CHECK_VALUES(gt_eval(NULL, "((a > 1) + (a > 2)) * 0.5", TENSOR(GT_FLOAT32, GT_SHAPE(2), 2, 3)), 0.5, 1);
  /* operations of bools are those of integers in float company, too */
  y = TENSOR(GT_BOOL, GT_SHAPE(4), 0, 0, 1, 1);
  in[0] = y, in[1] = TENSOR(GT_BOOL, GT_SHAPE(4), 0, 1, 0, 1);
  in[2] = TENSOR(GT_FLOAT32, GT_SHAPE(4), 2, 2, 2, 2);
  CHECK_VALUES(gt_eval_n(NULL, "bitwise_and(a, b) * c", 3, in), 0, 0, 0, 2);
  CHECK_VALUES(gt_eval_n(NULL, "bitwise_xor(c > 0, b) * c", 3, in), 2, 0, 2, 0);
  CHECK_VALUES(gt_eval_n(NULL, "bitwise_left_shift(a, b) * c", 3, in), 0, 0, 2, 4);
  CHECK_VALUES(gt_eval_n(NULL, "a % b * c + floor_div(a, b)", 3, in), 0, 0, 0, 1);
  CHECK_VALUES(gt_eval_n(NULL, "(a + b) * (a == b) * c", 3, in), 0, 0, 0, 4);
  CHECK_VALUES(gt_eval_n(NULL, "1 / (c * -a)", 3, in), (double)INFINITY, (double)INFINITY, -0.5, -0.5);
  /* small integers wrap when they are stored, float16 rounds once */
  CHECK_VALUES(gt_eval(NULL, "a * a", TENSOR(GT_INT8, GT_SHAPE(2), 100, -3)), 16, 9);
  CHECK_VALUES(gt_eval(NULL, "a * 300 / 300.0", TENSOR(GT_INT8, GT_SHAPE(1), 100)), 100);
  CHECK_VALUES(gt_eval(NULL, "a * 2048 - a * 2047", TENSOR(GT_FLOAT16, GT_SHAPE(1), 1.0009765625)),
               1.0009765625);
  CHECK_VALUES(gt_eval(NULL, "a * 60000 / 60000", TENSOR(GT_FLOAT16, GT_SHAPE(1), 4)), 4);
}

static void test_runtime_numbers(void) {
  gt_tensor *x = TENSOR(GT_FLOAT32, GT_SHAPE(3), 1, 2, 3), *y;
  int i;
  for (i = 0; i < 20; i++) GT_SCOPE {
      y = gt_eval(NULL, "a * b + c", x, gt_scalar(i), gt_scalar_int64(i * 2));
      CHECK_NUM(gt_item(gt_select(y, 0, 2)), 3 * i + 2 * i);
      CHECK_INT(y->dtype, GT_FLOAT32);
      y = gt_add(NULL, gt_scalar(i), x);
      CHECK_NUM(gt_item(gt_select(y, 0, 0)), i + 1);
    }
  /* a 0-d CPU tensor is read at the call, beside tensors of any device */
  GT_SCOPE {
    gt_tensor *s = gt_full(GT_SHAPE_0D, 5, GT_INT32, gt_cpu());
    y = gt_eval(NULL, "a * b", x, s);
    gt_fill(s, 6);
    CHECK_VALUES(y, 5, 10, 15);
    CHECK_INT(y->device.type, DEV.type);
    y = gt_eval(NULL, "a * b", x, s);
    CHECK_VALUES(y, 6, 12, 18);
  }
  CHECK_INT(gt_item_int64(gt_eval(NULL, "a + b", gt_full(GT_SHAPE(1), 0, GT_INT64, DEV),
                                  gt_scalar_int64(INT64_MIN))), INT64_MIN);
  CHECK_NUM(gt_item(gt_eval(NULL, "a * b", gt_scalar(3), gt_scalar(4))), 12);
  CHECK_INT(gt_eval(NULL, "a * b", gt_scalar(3), gt_scalar(4))->ndim, 0);
  CHECK_VALUES(gt_eval(x, "2.5"), 2.5, 2.5, 2.5);
  CHECK_VALUES(gt_eval(x, "a", gt_scalar(1.5)), 1.5, 1.5, 1.5);
  if (DEV.type == GT_CUDA) {
    char want[100];
    snprintf(want, sizeof want, "gt_eval: operand 1 (3,) is on %s, operand 2 (3,) on cpu; gt_to moves a "
             "tensor", gt_device_string(DEV));
    REFUSED(gt_eval(NULL, "a * b", x, gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cpu())), GT_ERROR_DEVICE,
            want);
    REFUSED(gt_eval(gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cpu()), "a", x), GT_ERROR_DEVICE,
            "the output");
  }
}

/* Many different texts: the memory that holds them is bounded, and hits are right. */
static void test_cache(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(4), GT_FLOAT64, DEV);
  int64_t most = 0, before = hooks_live();
  char text[64];
  int i, round;
  for (round = 0; round < 2; round++)
    for (i = 0; i < (QUICK ? 1000 : 10000); i++) GT_SCOPE {
        snprintf(text, sizeof text, "a * %d + b", i);
        CHECK_NUM(gt_item(gt_select(gt_eval(NULL, text, x, x), 0, 3)), i + 1);
        if (hooks_live() - before > most) most = hooks_live() - before;
      }
  CHECK_TEXT(most < 600, "%" PRId64 " blocks", most);
  /* the same text with other operands, dtypes, and fewer operands than it names */
  CHECK_VALUES(gt_eval(NULL, "a + b", x, x), 2, 2, 2, 2);
  CHECK_INT(
      gt_eval(NULL, "a + b", gt_ones(GT_SHAPE(4), GT_INT8, DEV), gt_ones(GT_SHAPE(4), GT_BOOL, DEV))
          ->dtype,
      GT_INT8);
  REFUSED(gt_eval(NULL, "a + b", x), GT_ERROR_EXPRESSION, "operand b, but 1 operand was given");
  text[0] = 'a', text[1] = 0;
  CHECK_VALUES(gt_eval(NULL, text, x, gt_neg(NULL, x)), 1, 1, 1, 1);
  text[0] = 'b';
  CHECK_VALUES(gt_eval(NULL, text, x, gt_neg(NULL, x)), -1, -1, -1, -1);
}

/* The other places where expressions stand. */
static void test_in_reduce_and_matmul(void) {
  gt_tensor *p = TENSOR(GT_FLOAT32, GT_SHAPE(2, 2), 1, 2, 3, 4),
            *q = TENSOR(GT_FLOAT32, GT_SHAPE(2), 1, 1);
  CHECK_VALUES(gt_reduce(NULL, GT_MEAN, GT_ALL, 0, "(a-b)*(a-b)", p, q), 3.5);
  CHECK_VALUES(gt_reduce(NULL, GT_SUM, GT_DIM(0), 0, "a > 1.5 ? a : b*10", p, q), 13, 6);
  CHECK_VALUES(gt_matmul_eval(NULL, p, p, "relu(a - b)", gt_full(GT_SHAPE(2), 8, GT_FLOAT32, DEV)),
               0, 2, 7, 14);
  REFUSED(gt_reduce(NULL, GT_SUM, GT_ALL, 0, "a +", p), GT_ERROR_EXPRESSION,
          "gt_reduce: \"a +\"  at column 4: expected an operand");
  REFUSED(gt_matmul_eval(NULL, p, p, "a + b"), GT_ERROR_EXPRESSION,
          "gt_matmul_eval: \"a + b\"  at column 5");
}

/* Outputs that begin anywhere in a line of the caches, on which a map lays its blocks. Those of 64 MiB go
   past the caches, by whole lines. What lies beside them stays. */
static void lines_of(gt_dtype dtype, int64_t n, int64_t start) {
  const int64_t total = start + n + 70;
  double *v = (double *)malloc((size_t)total * sizeof *v);
  int64_t i, wrong = 0;
  gt_tensor *x, *all, *wide;
  for (i = 0; i < n; i++) v[i] = (double)(i % 101);
  x = gt_to_dtype(gt_from_array(v, GT_SHAPE(n), GT_FLOAT64, DEV), GT_UINT8);
  all = gt_full(GT_SHAPE(total), 7, dtype, DEV);
  CHECK(gt_eval(gt_slice(all, 0, start, start + n, 1), "a + 9", x) != NULL);
  wide = gt_eval(gt_empty(GT_SHAPE(total), GT_FLOAT64, DEV), "a", all);
  CHECK_INT(gt_to_array(wide, v, (size_t)total * sizeof *v), GT_OK);
  for (i = 0; i < total; i++)
    wrong += v[i] != (i < start || i >= start + n ? 7 : (double)((i - start) % 101 + 9));
  CHECK_TEXT(wrong == 0, "%s, %" PRId64 " from %" PRId64 " on: %" PRId64 " wrong",
             gt_dtype_string(dtype), n, start, wrong);
  free(v);
}
static void test_lines(void) {
  static const gt_dtype dtypes[] = {GT_UINT8, GT_FLOAT16, GT_FLOAT32, GT_FLOAT64};
  static const int64_t starts[] = {0, 1, 3, 4, 15, 31, 63}, sizes[] = {8191, 8192, 8193, 20000};
  int d, s, n;
  for (d = 0; d < 4; d++)
    for (s = 0; s < 7; s++)
      for (n = 0; n < 4; n++) GT_SCOPE lines_of(dtypes[d], sizes[n], starts[s]);
  for (s = 0; s < 7 && !QUICK; s += 2) GT_SCOPE lines_of(GT_FLOAT32, (1 << 24) + 5, starts[s]);
}

static void test_no_list(void) {
  REFUSED(gt_eval_n(NULL, "a", 1, NULL), GT_ERROR_ARGUMENT, "NULL");
  REFUSED(gt_reduce_n(NULL, GT_SUM, GT_ALL, 0, "a", 1, NULL), GT_ERROR_ARGUMENT, "NULL");
}

int main(int argc, char **argv) {
  check_start("expression", argc, argv);
  RUN(grammar);
  RUN(integers);
  RUN(bad_texts);
  RUN(limits);
  RUN(many_operands);
  RUN(deep);
  RUN(random_expressions);
  RUN(mixed_types);
  RUN(runtime_numbers);
  RUN(cache);
  RUN(in_reduce_and_matmul);
  RUN(lines);
  RUN(no_list);
  return check_finish();
}
