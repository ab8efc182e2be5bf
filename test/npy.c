/* NumPy's files: good ones of every kind, round trips, and hostile ones. */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[200], path[300]; /* one file, written again and again */

static const char *in_folder(const char *name) {
  static char text[4][300];
  static int turn;
  turn = (turn + 1) & 3;
  snprintf(text[turn], sizeof text[turn], "%s/%s", folder, name);
  return text[turn];
}
/* Checked handles that ended are held back; gt_shutdown lets go of them. */
static int64_t blocks_alive(void) {
  if (strstr(gt_build_info(), "handles checked")) gt_shutdown();
  return hooks_live();
}
static int exists(const char *name) {
  struct stat info;
  return lstat(name, &info) == 0;
}
static void write_file(const void *bytes, size_t n) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, n, file) == n);
  if (file) fclose(file);
}
static unsigned char image[1 << 16];
/* A whole file in `image`: version, header text, elements; returns its length. */
static size_t make_file(int version, const char *header, const void *data, size_t bytes) {
  const size_t n = strlen(header), start = version == 1 ? 10 : 12;
  memcpy(image, "\x93NUMPY", 6);
  image[6] = (unsigned char)version;
  image[7] = 0;
  image[8] = (unsigned char)n;
  image[9] = (unsigned char)(n >> 8);
  if (version != 1) image[10] = image[11] = 0;
  memcpy(image + start, header, n);
  if (bytes) memcpy(image + start + n, data, bytes);
  return start + n + bytes;
}
static gt_tensor *load_made(int version, const char *header, const void *data, size_t bytes) {
  write_file(image, make_file(version, header, data, bytes));
  return gt_load_npy(path, DEV);
}

static const char *const type_name[GT_DTYPES] = {"b1", "u1", "i1", "i2", "i4", "i8", "f2", "", "f4", "f8"};
static const int is_little = 1; /* the machines that these tests run on */

/* ---- good files ---- */
static void test_versions(void) {
  static const float v[6] = {1, 2, 3, 4, 5, 6};
  int version;
  CHECK(*(const char *)&is_little == 1);
  for (version = 1; version <= 3; version++) {
    gt_tensor *x = load_made(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                             v, sizeof v);
    CHECK_VALUES(x, 1, 2, 3, 4, 5, 6);
    CHECK_INT(x ? x->ndim : -1, 2);
    CHECK_INT(x ? (int)x->dtype : -1, GT_FLOAT32);
    CHECK_INT(x ? (int)x->device.type : -1, DEV.type);
  }
}
static void test_spellings(void) { /* what Python's literal may look like */
  static const int32_t v[3] = {7, -8, 9};
  static const char *const header[] = {
      "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }\n",
      "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}",
      "{'shape': (3,), 'fortran_order': False, 'descr': '<i4'}",
      "{\"descr\": \"<i4\", \"fortran_order\": False, \"shape\": (3,)}",
      "{'descr':'<i4','fortran_order':False,'shape':(3,)}",
      "  { 'descr' : '<i4' , 'fortran_order' : True , 'shape' : ( 3 , ) , }   \n\n",
      "{'descr': '=i4', 'fortran_order': False, 'shape': (3L,), }",
      "{'descr': '|i4', 'fortran_order': False, 'shape': (3,), }",
      "{'descr': 'i4', 'fortran_order': False, 'shape': (3,), }",
      "{\t'descr': '<i4',\r\n 'fortran_order': False,\n 'shape': (0003,), }"};
  unsigned i;
  for (i = 0; i < sizeof header / sizeof *header; i++) {
    gt_tensor *x = load_made(1, header[i], v, sizeof v);
    CHECK_TEXT(x != NULL, "%s: %s", header[i], gt_error_message());
    CHECK_VALUES(x, 7, -8, 9);
  }
}
/* Every dtype in every byte order, C and Fortran, from bytes put together here. */
static void test_dtypes_and_orders(void) {
  static const char order[] = "<>|=";
  int t, o, fortran, version = 1;
  for (t = 0; t < GT_DTYPES; t++)
    for (o = 0; o < 4; o++)
      for (fortran = 0; fortran < 2; fortran++) GT_SCOPE {
          const size_t size = gt_dtype_size((gt_dtype)t);
          char header[200];
          unsigned char data[24 * 8], wanted[24 * 8];
          gt_tensor *x;
          void *p;
          int64_t i, j, k, at;
          if (t == GT_BFLOAT16) continue;
          for (i = 0; i < 24; i++)
            if (is_float((gt_dtype)t)) store((gt_dtype)t, wanted, i, i * 1.25 - 10);
            else store_int((gt_dtype)t, wanted, i, t == GT_BOOL ? i % 3 == 0 : i * 5);
          if (t == GT_INT64) store_int(GT_INT64, wanted, 5, INT64_MIN + 3);
          for (i = 0; i < 2; i++)
            for (j = 0; j < 3; j++)
              for (k = 0; k < 4; k++) {
                at = fortran ? i + 2 * (j + 3 * k) : (i * 3 + j) * 4 + k;
                memcpy(data + (size_t)at * size, wanted + (size_t)((i * 3 + j) * 4 + k) * size, size);
              }
          for (i = 0; i < 24 && order[o] == '>'; i++) /* swap the bytes of each element */
            for (j = 0; j < (int64_t)size / 2; j++) {
              unsigned char *a = data + (size_t)i * size + j, *b = data + (size_t)(i + 1) * size - 1 - j;
              const unsigned char c = *a;
              *a = *b;
              *b = c;
            }
          snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (2, 3, 4), }\n",
                   order[o], type_name[t], fortran ? "True" : "False");
          x = load_made(1 + version++ % 3, header, data, 24 * size);
          CHECK_SHAPE(x, 2, 3, 4);
          if (!x) continue;
          CHECK_INT(x->dtype, t);
          CHECK(gt_is_contiguous(x));
          p = values_of(x);
          CHECK_TEXT(memcmp(p, wanted, 24 * size) == 0, "%s", header);
          free(p);
        }
}
static void test_shapes(void) {
  static const double one = 42;
  static const uint8_t flags[4] = {0, 1, 2, 255};
  int16_t v[16];
  gt_tensor *x;
  int i;
  for (i = 0; i < 16; i++) v[i] = (int16_t)i;
  x = load_made(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", &one, 8);
  CHECK(x && x->ndim == 0);
  CHECK_NUM(gt_item(x), 42);
  x = load_made(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (), }", &one, 8);
  CHECK_NUM(gt_item(x), 42);
  x = load_made(2, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0, 2), }", NULL, 0);
  CHECK_SHAPE(x, 3, 0, 2);
  x = load_made(3, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5), }", NULL, 0);
  CHECK_SHAPE(x, 0, 5);
  x = load_made(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1, 2, 1, 2, 1, 1, 2), }", v, 32);
  CHECK_SHAPE(x, 2, 1, 2, 1, 2, 1, 1, 2);
  CHECK_VALUES(x, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  x = load_made(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 1, 2, 1, 2, 1, 1, 2), }", v, 32);
  CHECK_VALUES(x, 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15);
  x = load_made(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", flags, 4);
  CHECK_VALUES(x, 0, 1, 1, 1); /* any byte but zero is true, and is kept as 1 */
  CHECK_NUM(gt_item(gt_sum(NULL, x, GT_ALL, 0)), 3);
  x = load_made(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }", v, 32);
  CHECK_VALUES(x, 0, 1, 2); /* as NumPy: what follows the elements is not read */
}

/* ---- round trips ---- */
static void round_trip(const gt_tensor *x) {
  gt_tensor *y, *wanted = x->dtype == GT_BFLOAT16 ? gt_to_dtype(x, GT_FLOAT32) : gt_retain(x);
  int d;
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  y = gt_load_npy(path, DEV);
  CHECK(y && y->ndim == x->ndim);
  for (d = 0; y && d < x->ndim; d++) CHECK_INT(y->shape[d], x->shape[d]);
  CHECK_SAME(y, wanted);
  y = gt_load_npy(path, gt_cpu());
  CHECK_INT(y ? y->device.type : -1, GT_CPU);
  CHECK_SAME(y, wanted);
}
static void test_round_trips(void) {
  int t, layout;
  for (t = 0; t < GT_DTYPES; t++)
    for (layout = 0; layout < LAYOUTS; layout++) GT_SCOPE {
        const gt_dtype d = (gt_dtype)t;
        round_trip(relayout(random_tensor(GT_SHAPE(5, 7), d, DEV), layout));
        round_trip(relayout(random_tensor(GT_SHAPE(3, 1, 4), d, DEV), layout));
        round_trip(relayout(random_tensor(GT_SHAPE(11), d, DEV), layout));
        if (layout) continue;
        round_trip(random_tensor(GT_SHAPE_0D, d, DEV));
        round_trip(random_tensor(GT_SHAPE(0), d, DEV));
        round_trip(random_tensor(GT_SHAPE(2, 0, 3), d, DEV));
        round_trip(random_tensor(GT_SHAPE(2, 1, 2, 1, 2, 1, 2, 3), d, DEV));
        round_trip(random_tensor(GT_SHAPE(QUICK ? 5000 : 300000), d, DEV));
        round_trip(gt_expand(random_tensor(GT_SHAPE(3, 1), d, DEV), GT_SHAPE(3, 4)));
        round_trip(gt_diagonal(random_tensor(GT_SHAPE(4, 4), d, DEV), 0, 0, 1));
      }
  GT_SCOPE { /* NaN, infinities, denormals and -0 stay themselves */
    const double nan = (double)NAN, inf = (double)INFINITY;
    round_trip(TENSOR(GT_FLOAT16, GT_SHAPE(6), nan, inf, -inf, -0.0, 0x1p-24, 65504));
    round_trip(TENSOR(GT_BFLOAT16, GT_SHAPE(6), nan, inf, -inf, -0.0, 0x1p-133, 3e38));
    round_trip(TENSOR(GT_FLOAT32, GT_SHAPE(6), nan, inf, -inf, -0.0, 0x1p-149, FLT_MAX));
    round_trip(TENSOR(GT_FLOAT64, GT_SHAPE(6), nan, inf, -inf, -0.0, 0x1p-1074, DBL_MAX));
  }
}
/* The bytes of a saved file are those that NumPy writes. */
static void test_saved_bytes(void) {
  static const char wanted[] =
      "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  static const struct { gt_dtype dtype; gt_shape shape; const char *text; } header[] = {
      {GT_BOOL, {1, {3}}, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }"},
      {GT_INT8, {0, {0}}, "{'descr': '|i1', 'fortran_order': False, 'shape': (), }"},
      {GT_UINT8, {2, {1, 0}}, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 0), }"},
      {GT_INT64, {3, {1, 2, 1}}, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2, 1), }"},
      {GT_FLOAT16, {1, {1}}, "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }"},
      {GT_BFLOAT16, {1, {1}}, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"}};
  static const float v[6] = {0, 1, 2, 3, 4, 5};
  unsigned char got[400];
  size_t n;
  unsigned i;
  FILE *file;
  CHECK_INT(gt_save_npy(path, gt_reshape(gt_arange(0, 6, 1, GT_FLOAT32, DEV), GT_SHAPE(2, 3))), GT_OK);
  file = fopen(path, "rb");
  n = file ? fread(got, 1, sizeof got, file) : 0;
  if (file) fclose(file);
  CHECK_INT(n, 128 + 24);
  CHECK(memcmp(got, wanted, sizeof wanted - 1) == 0);
  CHECK(got[127] == '\n' && got[126] == ' ');
  CHECK(memcmp(got + 128, v, 24) == 0);
  for (i = 0; i < sizeof header / sizeof *header; i++) {
    CHECK_INT(gt_save_npy(path, gt_zeros(header[i].shape, header[i].dtype, DEV)), GT_OK);
    file = fopen(path, "rb");
    n = file ? fread(got, 1, 128, file) : 0;
    if (file) fclose(file);
    CHECK_INT(n, 128);
    CHECK_TEXT(memcmp(got + 10, header[i].text, strlen(header[i].text)) == 0, "%.*s", 100,
               (const char *)got + 10);
    CHECK_INT(got[127], '\n');
  }
  { /* the longest header there is: 8 sizes, one of them 0 so that it can be made */
    const int64_t big = INT64_C(1) << 7;
    gt_tensor *x = gt_empty(GT_SHAPE(0, big, big, big, big, big, big, big), GT_BOOL, DEV);
    CHECK_INT(gt_save_npy(path, x), GT_OK);
    x = gt_load_npy(path, DEV);
    CHECK_SHAPE(x, 0, 128, 128, 128, 128, 128, 128, 128);
  }
}

/* ---- hostile files: each is refused, by name, and nothing is left ---- */
static void refused_file(const char *what, gt_status status, const char *text, int64_t live) {
  gt_tensor *x = gt_load_npy(path, DEV);
  CHECK_TEXT(x == NULL, "%s was loaded", what);
  CHECK_TEXT(gt_error() == status, "%s: %s: %s", what, gt_status_string(gt_error()), gt_error_message());
  CHECK_TEXT(strstr(gt_error_message(), text) != NULL, "%s: \"%s\" lacks \"%s\"", what,
             gt_error_message(), text);
  CHECK_TEXT(strstr(gt_error_message(), path) != NULL, "%s: \"%s\" does not name the file", what,
             gt_error_message());
  CHECK_TEXT(strstr(gt_error_message(), "gt_load_npy") != NULL, "%s: \"%s\"", what, gt_error_message());
  gt_clear_error();
  CHECK_INT(blocks_alive(), live);
  gt_free(x);
}
static void test_hostile_headers(void) {
#define D "{'descr': '<f4', 'fortran_order': False, "
  static const struct { const char *header, *message; } bad[] = {
      /* shape */
      {D "'shape': (-1,), }", "negative"},
      {D "'shape': (2, -3), }", "negative"},
      {D "'shape': (9223372036854775808,), }", "64 bits"},
      {D "'shape': (99999999999999999999999999999,), }", "64 bits"},
      {D "'shape': (9223372036854775807,), }", "2^63"},
      {D "'shape': (4294967296, 4294967296), }", "2^63"},
      {D "'shape': (9223372036854775807, 0, 2), }", "2^63"},
      {D "'shape': (0, 4611686018427387904), }", "2^63"},
      {D "'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }", "dimensions"},
      {D "'shape': (1000000000,), }", "truncated"},
      {D "'shape': (5,), }", "truncated"},
      {D "'shape': (2, 3), }", "truncated"},
      {D "'shape': (2), }", "not a tuple"},
      {D "'shape': 2, }", "not a tuple"},
      {D "'shape': [2], }", "not a tuple"},
      {D "'shape': (2 2), }", "comma"},
      {D "'shape': (,), }", "integers"},
      {D "'shape': (1,,2), }", "integers"},
      {D "'shape': (1.0,), }", "malformed"},
      {D "'shape': (0x2,), }", "malformed"},
      {D "'shape': (1e0,), }", "malformed"},
      {D "'shape': (+1,), }", "integers"},
      {D "'shape': (True,), }", "integers"},
      {D "'shape': ('1',), }", "integers"},
      {D "'shape': ((1,),), }", "integers"},
      {D "'shape': (2", "malformed"},
      {D "'shape': (2,", "malformed"},
      {D "'shape': (", "malformed"},
      {D "'shape':", "malformed"},
      {D "'shape'", "colon"},
      /* dtypes */
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "dtype"},
      {"{'descr': 'O', 'fortran_order': False, 'shape': (1,), }", "dtype"},
      {"{'descr': '|S4', 'fortran_order': False, 'shape': (1,), }", "dtype"},
      {"{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", "dtype"},
      {"{'descr': '|V4', 'fortran_order': False, 'shape': (1,), }", "dtype"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }", "dtype '<u4'"},
      {"{'descr': '<f16', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': '<f', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': '<f44', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': '<<f4', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': ' <f4', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': '', 'fortran_order': False, 'shape': (0,), }", "dtype ''"},
      {"{'descr': '<', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': '<f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4', 'fortran_order': False, 'shape': (0,), }", "dtype"},
      {"{'descr': '<\x1b[31m', 'fortran_order': False, 'shape': (0,), }", "dtype '<?[31m'"},
      {"{'descr': 'f\\x34', 'fortran_order': False, 'shape': (0,), }", "not a string"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "structured"},
      {"{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,), }", "not a string"},
      {"{'descr': <f4, 'fortran_order': False, 'shape': (1,), }", "not a string"},
      {"{'descr': None, 'fortran_order': False, 'shape': (1,), }", "not a string"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (1,), }", "dtype '<f4, '"},
      {"{'descr': '<f4\", 'fortran_order': False, 'shape': (1,), }", "dtype '<f4\", '"},
      /* order */
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", "fortran_order"},
      {"{'descr': '<f4', 'fortran_order': true, 'shape': (1,), }", "fortran_order"},
      {"{'descr': '<f4', 'fortran_order': 'False', 'shape': (1,), }", "fortran_order"},
      {"{'descr': '<f4', 'fortran_order': Falsetto, 'shape': (1,), }", "comma"},
      {"{'descr': '<f4', 'fortran_order': , 'shape': (1,), }", "fortran_order"},
      /* the dict */
      {"", "brace"},
      {"   \n", "brace"},
      {"x", "brace"},
      {"['descr']", "brace"},
      {"{", "key"},
      {"{}", "descr is missing"},
      {"{'descr': '<f4'}", "fortran_order is missing"},
      {"{'descr': '<f4', 'fortran_order': False}", "shape is missing"},
      {"{'fortran_order': False, 'shape': (1,)}", "descr is missing"},
      {"{'descr': '<f4', 'shape': (1,)}", "fortran_order is missing"},
      {D "'shape': (1,), 'shape': (1,), }", "twice"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "twice"},
      {D "'fortran_order': False, 'shape': (1,), }", "twice"},
      {D "'shape': (1,), 'extra': 1, }", "unknown key 'extra'"},
      {"{'Descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "unknown key 'Descr'"},
      {"{'shapeshapeshapeshapeshapeshapeshape': (1,)}", "unknown key"},
      {"{descr: '<f4', 'fortran_order': False, 'shape': (1,), }", "key is not a string"},
      {"{1: '<f4', 'fortran_order': False, 'shape': (1,), }", "key is not a string"},
      {"{'descr' '<f4', 'fortran_order': False, 'shape': (1,), }", "colon"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,), }", "comma"},
      {"{'descr': '<f4',, 'fortran_order': False, 'shape': (1,), }", "key is not a string"},
      {"{,'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "key is not a string"},
      {D "'shape': (1,), ", "key is not a string"},
      {D "'shape': (1,)", "comma"},
      {D "'shape': (1,), } x", "text after"},
      {D "'shape': (1,), }}", "text after"},
      {D "'shape': (1,), }{'descr': '<f8'}", "text after"},
      {D "'shape': (1,), }\n\n#", "text after"}};
#undef D
  static const float v[4] = {1, 2, 3, 4};
  const int64_t live = blocks_alive();
  unsigned i;
  int version;
  for (i = 0; i < sizeof bad / sizeof *bad; i++)
    for (version = 1; version <= 3; version++) {
      write_file(image, make_file(version, bad[i].header, v, sizeof v));
      refused_file(bad[i].header, GT_ERROR_FORMAT, bad[i].message, live);
    }
}
static void test_hostile_starts(void) {
  static const char good[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }      \n";
  static const float v[4] = {1, 2, 3, 4};
  const int64_t live = blocks_alive();
  size_t n, i;
  int version, k;
  char what[80];
  for (version = 1; version <= 3; version++) {
    n = make_file(version, good, v, sizeof v);
    write_file(image, n);
    gt_free(gt_load_npy(path, gt_cpu()));
    NO_ERROR();
    for (i = 0; i < n; i++) { /* cut at every byte */
      write_file(image, i);
      snprintf(what, sizeof what, "version %d, cut at %d", version, (int)i);
      refused_file(what, GT_ERROR_FORMAT, "", live);
    }
    for (i = 0; i < 8; i++) { /* each byte of the magic, and the version */
      if (i == 6) continue;
      make_file(version, good, v, sizeof v);
      image[i] ^= 0x20;
      write_file(image, n);
      refused_file("a wrong magic", GT_ERROR_FORMAT, i < 6 ? "not a .npy file" : "version", live);
    }
  }
  for (k = 0; k < 256; k++) { /* other versions */
    n = make_file(1, good, v, sizeof v);
    image[6] = (unsigned char)k;
    write_file(image, n);
    if (k == 0 || k > 3) refused_file("another version", GT_ERROR_FORMAT, "version", live);
  }
  /* header lengths that are not true */
  n = make_file(1, good, v, sizeof v);
  image[8] = image[9] = 0xff;
  write_file(image, n);
  refused_file("a header of 65535", GT_ERROR_FORMAT, "longer than the file", live);
  n = make_file(1, good, v, sizeof v);
  image[8] = 10;
  write_file(image, n);
  refused_file("a header cut short", GT_ERROR_FORMAT, "malformed", live);
  n = make_file(2, good, v, sizeof v);
  image[8] = image[9] = image[10] = image[11] = 0xff;
  write_file(image, n);
  refused_file("a header of 4 GB", GT_ERROR_FORMAT, "longer than the file", live);
  { /* 2 MB of header that is really there */
    const size_t big = 2u << 20;
    unsigned char *p = (unsigned char *)malloc(big + 12);
    memset(p, ' ', big + 12);
    n = make_file(2, "", NULL, 0);
    memcpy(p, image, 12);
    p[10] = 0x20;
    write_file(p, big + 12);
    refused_file("a header of 2 MB", GT_ERROR_FORMAT, "too long", live);
    free(p);
  }
}
/* Single bytes changed at random: loaded or refused, but never harmful. */
static void test_damaged(void) {
  static const char good[] = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }      \n";
  static const int16_t v[4] = {1, 2, 3, 4};
  const int64_t live = blocks_alive();
  int i, k, loaded = 0;
  for (i = 0; i < (QUICK ? 300 : 4000); i++) {
    const size_t n = make_file(1 + i % 3, good, v, sizeof v);
    for (k = 0; k < 1 + i % 4; k++) image[rnd_below((int64_t)n)] = (unsigned char)rnd();
    write_file(image, n);
    GT_SCOPE {
      gt_tensor *x = gt_load_npy(path, DEV);
      if (x) {
        loaded++;
        CHECK(gt_numel(x) <= 8);
      } else {
        CHECK(gt_error() == GT_ERROR_FORMAT && strstr(gt_error_message(), path));
      }
    }
    gt_clear_error();
    if (DEV.type == GT_CUDA) gt_empty_cache(); /* of pinned memory */
    CHECK_INT(blocks_alive(), live);
  }
  CHECK(loaded > 5);
}
static void test_not_a_file(void) {
  FILE *file;
  REFUSED(gt_load_npy(NULL, DEV), GT_ERROR_ARGUMENT, "the path is NULL");
  REFUSED(gt_load_npy(in_folder("missing.npy"), DEV), GT_ERROR_FILE, "missing.npy");
  REFUSED(gt_load_npy("", DEV), GT_ERROR_FILE, "gt_load_npy");
  REFUSED(gt_load_npy(folder, DEV), GT_ERROR_FILE, folder); /* a directory */
  REFUSED(gt_load_npy("/dev/null", DEV), GT_ERROR_FORMAT, "/dev/null");
  CHECK_INT(mkfifo(in_folder("pipe"), 0600), 0);
  REFUSED(gt_load_npy(in_folder("pipe"), DEV), GT_ERROR_FILE, "not a file with a length");
  remove(in_folder("pipe")); /* nobody was at its other end, and it did not hang */
  file = fopen(path, "wb"); /* no permission, unless the tests run as root */
  if (file) fclose(file);
  chmod(path, 0);
  if (geteuid() != 0) REFUSED(gt_load_npy(path, DEV), GT_ERROR_FILE, path);
  else skip("unreadable file", "root reads everything");
  chmod(path, 0600);
  CHECK_INT(gt_save_npy(path, gt_ones(GT_SHAPE(2), GT_INT8, DEV)), GT_OK);
  REFUSED(gt_load_npy(path, (gt_device){GT_NO_DEVICE, 0}), GT_ERROR_DEVICE, "not a device");
}

/* ---- what a save leaves: the old file or the new one, whole, and nothing beside it ---- */
static int files_there(void) { /* in the folder, all but . and .. */
  DIR *d = opendir(folder);
  int n = -2;
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n;
}
static struct stat look(const char *name) {
  struct stat info;
  memset(&info, 0, sizeof info);
  CHECK_TEXT(lstat(name, &info) == 0, "%s is not there", name);
  return info;
}
static void make_text(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}
static void has_text(const char *name, const char *wanted) {
  char text[40] = "";
  FILE *file = fopen(name, "r");
  CHECK(file && fgets(text, sizeof text, file));
  if (file) fclose(file);
  CHECK_STR(text, wanted);
}
static gt_status save_where_little_fits(const gt_tensor *x) { /* as on a disk that is full */
  struct rlimit before, little;
  gt_status status;
  if (check_messages) fflush(check_messages); /* what follows stays in its buffer */
  signal(SIGXFSZ, SIG_IGN);
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  little = before;
  little.rlim_cur = 4096;
  CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0);
  status = gt_save_npy(path, x);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  return status;
}
static void test_failed_saves(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV), *big = gt_ones(GT_SHAPE(100000), GT_FLOAT64, DEV);
  const char *other = in_folder("other.npy");
  gt_status status;
  ino_t number;
  remove(path);
  REFUSED_STATUS(gt_save_npy(path, NULL), GT_ERROR_ARGUMENT, "gt_save_npy");
  REFUSED_STATUS(gt_save_npy(NULL, x), GT_ERROR_ARGUMENT, "the path is NULL");
  REFUSED_STATUS(gt_save_npy(in_folder("missing/x.npy"), x), GT_ERROR_FILE, "missing/x.npy: No such");
  REFUSED_STATUS(gt_save_npy(folder, x), GT_ERROR_FILE, "Is a directory");
  REFUSED_STATUS(gt_save_npy("", x), GT_ERROR_FILE, "gt_save_npy: : No such");
  char endless[2001]; /* of which a message has the beginning, and the reason behind it */
  memset(endless, 'x', 2000);
  endless[2000] = 0;
  REFUSED_STATUS(gt_save_npy(endless, x), GT_ERROR_FILE, strerror(ENAMETOOLONG));
  REFUSED(gt_load_npy(endless, gt_cpu()), GT_ERROR_FILE, strerror(ENAMETOOLONG));
  CHECK_INT(files_there(), 0);
  /* nothing was there, and nothing is */
  REFUSED_STATUS(save_where_little_fits(big), GT_ERROR_FILE, "file.npy: File too large");
  CHECK_INT(files_there(), 0);
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  REFUSED_STATUS(save_where_little_fits(big), GT_ERROR_FILE,
                 "file.npy: File too large; an older file is untouched");
  CHECK_SAME(gt_load_npy(path, DEV), x);
  CHECK_INT(files_there(), 1);
  /* in place there is no such promise, and the message gives none */
  CHECK_INT(link(path, other), 0);
  status = save_where_little_fits(big);
  CHECK(!strstr(gt_error_message(), "untouched"));
  REFUSED_IF(status == GT_ERROR_FILE, GT_ERROR_FILE, "file.npy: File too large");
  remove(other);
  /* over an older file */
  CHECK_INT(gt_save_npy(path, big), GT_OK);
  number = look(path).st_ino;
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  CHECK(look(path).st_ino != number); /* who has the old one open keeps it */
  CHECK_SAME(gt_load_npy(path, DEV), x);
  CHECK_INT(files_there(), 1);
}
static void test_links(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV), *y = gt_zeros(GT_SHAPE(5), GT_INT8, DEV);
  const char *first = in_folder("link.npy"), *second = in_folder("sub/link.npy"), *sub = in_folder("sub");
  const char *made = in_folder("sub/made.npy");
  remove(path);
  CHECK(mkdir(sub, 0700) == 0 && symlink("file.npy", first) == 0 && symlink("../link.npy", second) == 0);
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  CHECK_INT(gt_save_npy(second, y), GT_OK); /* over two of them */
  CHECK(S_ISLNK(look(first).st_mode) && S_ISLNK(look(second).st_mode) && S_ISREG(look(path).st_mode));
  CHECK_SAME(gt_load_npy(path, DEV), y);
  remove(second);
  CHECK_INT(symlink(made, second), 0); /* which is not there yet */
  CHECK_INT(gt_save_npy(second, x), GT_OK);
  CHECK(S_ISLNK(look(second).st_mode));
  CHECK_SAME(gt_load_npy(made, DEV), x);
  remove(made);
  remove(second);
  CHECK_INT(symlink("link.npy", second), 0); /* in a circle */
  REFUSED_STATUS(gt_save_npy(second, x), GT_ERROR_FILE, "sub/link.npy: ");
  remove(second);
  CHECK_INT(rmdir(sub), 0);
  remove(first);
  /* another name of the same file has the new elements, too */
  CHECK_INT(link(path, first), 0);
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  CHECK_SAME(gt_load_npy(first, DEV), x);
  CHECK_INT(gt_save_npy(first, y), GT_OK); /* which is shorter */
  CHECK_INT(look(path).st_size, 128 + 5);
  CHECK(look(path).st_ino == look(first).st_ino);
  remove(first);
  CHECK_INT(files_there(), 1);
}
/* What others have beside the file is theirs. */
static void test_neighbours(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV);
  const char *own = in_folder("file.npy.tmp"), *victim = in_folder("victim");
  make_text(own, "mine");
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  has_text(own, "mine");
  remove(own);
  make_text(victim, "precious");
  CHECK_INT(symlink("victim", own), 0);
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  has_text(victim, "precious");
  CHECK(S_ISLNK(look(own).st_mode) && S_ISREG(look(path).st_mode));
  remove(own);
  remove(victim);
  CHECK_INT(files_there(), 1);
}
static void test_modes(void) {
  static const mode_t mode[] = {0600, 0640, 0666, 0755};
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV);
  const mode_t mask = umask(027);
  unsigned i;
  remove(path);
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  CHECK_INT(look(path).st_mode & 07777, 0640); /* of a new file, as any program makes it */
  for (i = 0; i < sizeof mode / sizeof *mode; i++) {
    CHECK_INT(chmod(path, mode[i]), 0);
    CHECK_INT(gt_save_npy(path, x), GT_OK);
    CHECK_INT(look(path).st_mode & 07777, mode[i]);
  }
  umask(mask);
  if (geteuid() != 0) {
    skip("another owner's file", "only root can make one");
    return;
  }
  CHECK_INT(chown(path, 12345, 54321), 0);
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  CHECK(look(path).st_uid == 12345 && look(path).st_gid == 54321);
  CHECK_INT(look(path).st_mode & 07777, 0755);
}
/* In place: a folder in which no file can be made, and a file of an owner that we cannot give. */
static void test_without_permission(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV), *y = gt_zeros(GT_SHAPE(300), GT_INT8, DEV);
  const int root = geteuid() == 0;
  ino_t number;
  remove(path);
  CHECK_INT(gt_save_npy(path, y), GT_OK);
  CHECK(chmod(path, 0666) == 0 && chmod(folder, 0555) == 0);
  number = look(path).st_ino;
  if (root) CHECK_INT(seteuid(65534), 0);
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  REFUSED_STATUS(gt_save_npy(in_folder("new.npy"), x), GT_ERROR_FILE, "new.npy: Permission denied");
  if (root) CHECK_INT(seteuid(0), 0);
  CHECK(look(path).st_ino == number);
  CHECK_INT(look(path).st_size, 128 + 12);
  CHECK_SAME(gt_load_npy(path, DEV), x);
  CHECK_INT(chmod(folder, 0777), 0);
  if (root) {
    CHECK_INT(seteuid(65534), 0);
    CHECK_INT(gt_save_npy(path, y), GT_OK);
    CHECK_INT(seteuid(0), 0);
    CHECK(look(path).st_ino == number && look(path).st_uid == 0);
    CHECK_SAME(gt_load_npy(path, DEV), y);
  }
  CHECK_INT(chmod(path, 0444), 0); /* it says that it shall not be written */
  if (root) CHECK_INT(seteuid(65534), 0);
  REFUSED_STATUS(gt_save_npy(path, x), GT_ERROR_FILE, "Permission denied; an older file is untouched");
  if (root) CHECK_INT(seteuid(0), 0);
  CHECK(chmod(folder, 0700) == 0 && chmod(path, 0600) == 0);
  CHECK_INT(files_there(), 1);
}
/* Names as long as they may be: of a file, which the new file's name does not get longer than, and
   of a path, where no name beside it would do. The file is written in any case. */
static void test_long_names(void) {
  enum { LONGEST = 4095 };
  static char name[LONGEST + 1];
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV), *y = gt_zeros(GT_SHAPE(5), GT_INT8, DEV);
  char part[256];
  size_t start, n;
  ino_t number;
  int i, file;
  remove(path);
  memset(part, 'a', 255);
  part[255] = 0;
  snprintf(name, sizeof name, "%s/%s", folder, part);
  for (i = 0; i < 2; i++) {
    CHECK_INT(gt_save_npy(name, i ? y : x), GT_OK);
    CHECK_SAME(gt_load_npy(name, DEV), i ? y : x);
    CHECK_INT(files_there(), 1);
  }
  remove(name);
  /* folders in one another, and in the last one a file of one letter */
  n = start = strlen(folder);
  snprintf(name, sizeof name, "%s", folder);
  while (n < LONGEST - 2) {
    size_t more = LONGEST - 2 - n < 202 ? LONGEST - 2 - n : 200; /* none is left of one character */
    name[n] = '/';
    memset(name + n + 1, 'b', more - 1);
    name[n += more] = 0;
    CHECK_TEXT(mkdir(name, 0700) == 0, "no folder of %d characters", (int)n);
  }
  memcpy(name + n, "/c", 3);
  file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) skip("the longest path", "no such file can be made");
  else {
    close(file);
    number = look(name).st_ino;
    for (i = 0; i < 2; i++) {
      CHECK_INT(gt_save_npy(name, i ? y : x), GT_OK);
      NO_ERROR();
      CHECK_SAME(gt_load_npy(name, DEV), i ? y : x);
      CHECK(look(name).st_ino == number);
    }
    remove(name);
    REFUSED_STATUS(gt_save_npy(name, x), GT_ERROR_FILE, ""); /* there is nothing to write to */
  }
  for (; n > start; n = (size_t)(strrchr(name, '/') - name)) {
    name[n] = 0;
    CHECK_INT(rmdir(name), 0);
  }
  CHECK_INT(files_there(), 0);
}
/* Files that the process has open, by their number: it is they that get the elements, and who has
   them open sees that. A file beside would be another one. */
static void test_open_files(void) {
  static const char *const how[] = {"/dev/fd/%d", "/proc/self/fd/%d"};
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV), *y;
  char name[40];
  ino_t number;
  unsigned i;
  int file, before;
  for (i = 0; i < 2; i++) {
    remove(path);
    file = open(path, O_RDWR | O_CREAT, 0600);
    snprintf(name, sizeof name, how[i], file);
    if (access(name, F_OK) != 0) {
      skip("open files by number", name);
      close(file);
      continue;
    }
    CHECK_INT(write(file, "older", 5), 5);
    number = look(path).st_ino;
    CHECK_INT(gt_save_npy(name, x), GT_OK);
    CHECK(look(path).st_ino == number);
    CHECK_INT(lseek(file, 0, SEEK_END), 128 + 12);
    y = gt_load_npy(path, DEV);
    CHECK_SAME(y, x);
    close(file);
  }
  /* its output, which goes to a file meanwhile */
  remove(path);
  fflush(stdout);
  before = dup(1);
  file = open(path, O_RDWR | O_CREAT, 0600);
  number = look(path).st_ino;
  if (before < 0 || file < 0 || dup2(file, 1) != 1) CHECK(!"another output");
  i = (unsigned)gt_save_npy("/dev/stdout", x);
  dup2(before, 1);
  close(before);
  CHECK_INT(i, GT_OK);
  CHECK(look(path).st_ino == number);
  CHECK_INT(lseek(file, 0, SEEK_END), 128 + 12);
  CHECK_SAME(gt_load_npy(path, DEV), x);
  close(file);
  CHECK_INT(files_there(), 1);
}
static void *read_pipe(void *name) { /* into `image`, whose first bytes say how much */
  const int file = open((const char *)name, O_RDONLY);
  size_t n = 0;
  ssize_t part;
  while ((part = read(file, image + sizeof n + n, 1000)) > 0) n += (size_t)part;
  memcpy(image, &n, sizeof n);
  close(file);
  return NULL;
}
static void test_devices_and_pipes(void) {
  gt_tensor *x = gt_arange(0, 3000, 1, GT_INT16, DEV);
  const char *name = in_folder("pipe");
  static char saved[10000];
  size_t n;
  pthread_t reader;
  FILE *file;
  CHECK_INT(gt_save_npy("/dev/null", x), GT_OK);
  CHECK(S_ISCHR(look("/dev/null").st_mode));
  REFUSED_STATUS(gt_save_npy("/dev/full", x), GT_ERROR_FILE, "/dev/full: No space left on device");
  CHECK(S_ISCHR(look("/dev/full").st_mode));
  CHECK_INT(mkfifo(name, 0600), 0);
  CHECK_INT(pthread_create(&reader, NULL, read_pipe, (void *)(uintptr_t)name), 0);
  CHECK_INT(gt_save_npy(name, x), GT_OK);
  if (gt_error()) { /* the reader still waits for somebody */
    file = fopen(name, "w");
    if (file) fclose(file);
  }
  CHECK_INT(pthread_join(reader, NULL), 0);
  CHECK(S_ISFIFO(look(name).st_mode));
  memcpy(&n, image, sizeof n);
  CHECK_INT(n, 128 + 6000);
  CHECK_INT(gt_save_npy(path, x), GT_OK);
  file = fopen(path, "rb");
  CHECK(file && fread(saved, 1, sizeof saved, file) == 128 + 6000);
  if (file) fclose(file);
  CHECK(memcmp(saved, image + sizeof n, 128 + 6000) == 0);
  remove(name);
  { /* a file that has no name any more is written where it is, and gets none */
    const int gone = open(path, O_RDWR);
    char number[40];
    snprintf(number, sizeof number, "/proc/self/fd/%d", gone);
    remove(path);
    if (access(number, F_OK) == 0) CHECK_INT(gt_save_npy(number, gt_zeros(GT_SHAPE(7), GT_INT8, DEV)), GT_OK);
    else skip("a file without a name", "no /proc");
    CHECK(access(number, F_OK) != 0 || lseek(gone, 0, SEEK_END) == 128 + 7);
    close(gone);
    CHECK_INT(files_there(), 0);
  }
}
/* Several save one path, and each reads it: always one of their files, whole. */
enum { SAVERS = 4 };
static int failed_saves, torn_loads;
static void *save_and_load(void *number) {
  const int k = *(const int *)number;
  gt_tensor *x = gt_full(GT_SHAPE(20000 + 1000 * k), k, GT_FLOAT64, gt_cpu());
  int i;
  for (i = 0; i < (QUICK ? 20 : 150); i++) {
    gt_tensor *y;
    if (gt_save_npy(path, x) != GT_OK) __atomic_add_fetch(&failed_saves, 1, __ATOMIC_RELAXED);
    gt_clear_error();
    y = gt_load_npy(path, gt_cpu());
    GT_SCOPE {
      const double low = y ? gt_item(gt_min(NULL, y, GT_ALL, 0)) : -1;
      if (!y || low != gt_item(gt_max(NULL, y, GT_ALL, 0)) || gt_numel(y) != 20000 + 1000 * (int)low)
        __atomic_add_fetch(&torn_loads, 1, __ATOMIC_RELAXED);
    }
    gt_clear_error();
    gt_free(y);
  }
  gt_free(x);
  return NULL;
}
static void test_savers_of_one_path(void) {
  pthread_t thread[SAVERS];
  int number[SAVERS], i;
  for (i = 0; i < SAVERS; i++) {
    number[i] = i;
    CHECK_INT(pthread_create(&thread[i], NULL, save_and_load, &number[i]), 0);
  }
  for (i = 0; i < SAVERS; i++) pthread_join(thread[i], NULL);
  CHECK_INT(failed_saves, 0);
  CHECK_INT(torn_loads, 0);
  CHECK_INT(files_there(), 1);
}
/* What is saved may be the result of work that fails: the save waits for it, and says so. */
static void test_failed_work(void) {
  gt_stream *s;
  gt_tensor *x, *y = NULL;
  int i, failed;
  remove(path);
  if (DEV.type == GT_CUDA) {
    y = gt_index_select(NULL, gt_ones(GT_SHAPE(4), GT_FLOAT32, DEV), 0,
                        TENSOR(GT_INT64, GT_SHAPE(2), 0, 99));
    REFUSED_STATUS(gt_save_npy(path, y), GT_ERROR_ARGUMENT, "out of range");
    CHECK(!exists(path));
    return;
  }
  s = gt_stream_create(DEV, 0);
  x = gt_ones(GT_SHAPE(300000), GT_FLOAT32, DEV);
  hooks_hold(1); /* the stream's thread gets no memory before this one says that there is none */
  GT_WITH_STREAM(s) y = gt_sum(NULL, x, GT_ALL, 0);
  hooks_fail_at(1);
  hooks_hold(0);
  for (i = 0; i < 2000 && !hooks_failed(); i++) usleep(1000);
  failed = hooks_failed();
  hooks_fail_at(0);
  if (failed) REFUSED_STATUS(gt_save_npy(path, y), GT_ERROR_MEMORY, "gt_save_npy: ");
  else skip("saving the result of work that failed", "work on a stream asks for no memory");
  CHECK(!exists(path) || !failed);
  gt_stream_free(s);
}
static void test_pending(void) { /* with an error pending a save of NULL does nothing */
  gt_empty(GT_SHAPE(-1), GT_FLOAT32, DEV);
  remove(path);
  CHECK_INT(gt_save_npy(path, NULL), GT_ERROR_SHAPE);
  CHECK(!exists(path));
  REFUSED_IF(1, GT_ERROR_SHAPE, "gt_empty");
}

int main(int argc, char **argv) {
  const char *where = getenv("TMPDIR");
  check_start("npy", argc, argv);
  snprintf(folder, sizeof folder, "%s/gputensor-npy-XXXXXX", where ? where : "/tmp");
  if (!mkdtemp(folder)) {
    printf("npy: no folder %s\nnpy: 0 passed, 1 failed, 0 skipped\n", folder);
    return 1;
  }
  snprintf(path, sizeof path, "%s/file.npy", folder);
  gt_free(gt_ones(GT_SHAPE(2), GT_FLOAT32, DEV)); /* what is made on first use is there */
  RUN(versions);
  RUN(spellings);
  RUN(dtypes_and_orders);
  RUN(shapes);
  RUN(round_trips);
  RUN(saved_bytes);
  RUN(hostile_headers);
  RUN(hostile_starts);
  RUN(damaged);
  RUN(not_a_file);
  RUN(failed_saves);
  RUN(links);
  RUN(neighbours);
  RUN(modes);
  RUN(without_permission);
  RUN(long_names);
  RUN(open_files);
  RUN(devices_and_pipes);
  RUN(savers_of_one_path);
  RUN(failed_work);
  RUN(pending);
  remove(path);
  rmdir(folder);
  if (exists(folder)) printf("npy: files are left in %s\n", folder), check_failed++;
  return check_finish();
}
