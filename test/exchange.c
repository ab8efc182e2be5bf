/* Files of safetensors, good and hostile ones, and DLPack. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define HAS_DLPACK 1
#endif
#endif

static uint64_t random_state = 20261126;
static uint64_t random_bits(void) { /* xorshift64* */
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * UINT64_C(2685821657736338717) >> 20;
}
static char folder[200], path[300];
static unsigned char image[1 << 16];

/* Checked handles that ended are held back; gt_shutdown lets go of them. */
static int64_t blocks_alive(void) {
  if (strstr(gt_build_info(), "handles checked")) gt_shutdown();
  gt_empty_cache(); /* of what a GPU was still copying from */
  return hooks_live();
}
static void write_file(const void *bytes, size_t n) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, n, file) == n);
  if (file) fclose(file);
}
static size_t read_file(void) { /* into `image` */
  FILE *file = fopen(path, "rb");
  const size_t n = file ? fread(image, 1, sizeof image, file) : 0;
  if (file) fclose(file);
  return n;
}
static size_t make_file(const char *header, const void *data, size_t bytes) {
  const size_t n = strlen(header);
  int i;
  for (i = 0; i < 8; i++) image[i] = (unsigned char)((uint64_t)n >> 8 * i);
  memcpy(image + 8, header, n);
  if (bytes) memcpy(image + 8 + n, data, bytes);
  return 8 + n + bytes;
}
static gt_tensors *load_made(const char *header, const void *data, size_t bytes) {
  write_file(image, make_file(header, data, bytes));
  return gt_load_safetensors(path, DEV);
}

/* ---- good files ---- */
static void test_by_hand(void) {
  static const float v[6] = {1, 2, 3, 4, 5, 6};
  static const char *const header[] = {
      "{\"b\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
      "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]}}   ",
      "{\"b\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
      "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]}}",
      " { \"__metadata__\" : { \"k\\\"{}\" : \"v\\\\\" , \"\xc3\xa4\":\"\"} , \"b\" : { \"shape\" : [ 2 , 2 ] ,"
      " \"data_offsets\":[0,16],\"dtype\":\"F32\"},\n\t\"a\":{\"dtype\":\"F32\",\"shape\":[2],"
      "\"data_offsets\":[ 16 , 24 ]} }"};
  unsigned i;
  for (i = 0; i < sizeof header / sizeof *header; i++) {
    gt_tensors *list = load_made(header[i], v, sizeof v);
    CHECK_TEXT(list != NULL, "%s: %s", header[i], gt_error_message());
    if (!list) continue;
    CHECK_INT(list->n, 2);
    CHECK_STR(list->item[0].name, "a");
    CHECK_SHAPE(gt_tensors_get(list, "b"), 2, 2);
    CHECK_VALUES(gt_tensors_get(list, "b"), 1, 2, 3, 4);
    CHECK_VALUES(gt_tensors_get(list, "a"), 5, 6);
    CHECK_INT(gt_tensors_get(list, "a")->device.type, DEV.type);
    REFUSED(gt_tensors_get(list, "c"), GT_ERROR_ARGUMENT, "no tensor is named 'c'");
    REFUSED(gt_tensors_get(list, NULL), GT_ERROR_ARGUMENT, "no tensor is named");
    gt_tensors_free(list);
  }
  REFUSED(gt_tensors_get(NULL, "a"), GT_ERROR_ARGUMENT, "no tensor is named 'a'");
  gt_tensors_free(NULL);
}
static void test_odd(void) {
  static const uint8_t flags[5] = {0, 1, 2, 255, 7};
  gt_tensors *list = load_made("{}", NULL, 0);
  CHECK(list && list->n == 0);
  gt_tensors_free(list);
  list = load_made("{\"a\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]},\"n\":{\"dtype\":\"F64\",\"shape\":"
                   "[3,0],\"data_offsets\":[4,4]},\"s\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[4,5]}}",
                   flags, 5);
  CHECK_VALUES(gt_tensors_get(list, "a"), 0, 1, 1, 1);
  CHECK_NUM(gt_item(gt_sum(NULL, gt_tensors_get(list, "a"), GT_ALL, 0)), 3);
  CHECK_SHAPE(gt_tensors_get(list, "n"), 3, 0);
  CHECK_NUM(gt_item(gt_tensors_get(list, "s")), 7);
  gt_tensors_free(list);
  /* elements that lie askew are copied */
  list = load_made("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                   "\"b\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[1,5]}}", flags, 5);
  CHECK_VALUES(gt_tensors_get(list, "b"), 1 + 2 * 256, 255 + 7 * 256);
  gt_tensors_free(list);
}
static void test_round_trips(void) {
  int layout, t;
  for (layout = 0; layout < LAYOUTS; layout++) GT_SCOPE {
      gt_named x[2 * GT_DTYPES];
      char name[2 * GT_DTYPES][20];
      gt_tensors *list;
      for (t = 0; t < 2 * GT_DTYPES; t++) {
        const gt_dtype d = (gt_dtype)(t % GT_DTYPES);
        const gt_shape shape = t < GT_DTYPES ? GT_SHAPE(5, 7) : GT_SHAPE(3, 1, 3);
        snprintf(name[t], sizeof name[t], "x.%d\xc3\xa4", t);
        x[t].name = name[t];
        x[t].tensor = relayout(random_tensor(shape, d, t % 3 ? DEV : gt_cpu()), layout);
      }
      CHECK_INT(gt_save_safetensors(path, 2 * GT_DTYPES, x), GT_OK);
      list = gt_load_safetensors(path, DEV);
      CHECK_INT(list ? list->n : -1, 2 * GT_DTYPES);
      for (t = 0; list && t < 2 * GT_DTYPES; t++) {
        gt_tensor *y = gt_tensors_get(list, name[t]);
        CHECK(y && y->dtype == x[t].tensor->dtype && gt_is_contiguous(y));
        CHECK_SAME(y, gt_to(x[t].tensor, DEV));
      }
      if (list) CHECK_INT(gt_save_safetensors(path, list->n, list->item), GT_OK); /* over itself */
      for (t = 0; list && t < 2 * GT_DTYPES; t++)
        CHECK_SAME(gt_tensors_get(list, name[t]), gt_to(x[t].tensor, DEV));
      gt_tensors_free(list);
    }
  CHECK_INT(gt_save_safetensors(path, 0, &(gt_named){NULL, NULL}), GT_OK);
  {
    gt_tensors *list = gt_load_safetensors(path, DEV);
    CHECK(list && list->n == 0);
    gt_tensors_free(list);
  }
}
/* On the CPU: the file's pages, which are not written to. */
static void test_pages(void) {
  gt_named x[] = {{"a", gt_full(GT_SHAPE(3000), 7, GT_FLOAT32, DEV)}, {"b", gt_ones(GT_SHAPE(3), GT_INT64, DEV)}};
  gt_tensors *list, *again;
  gt_tensor *own;
  static const char wanted[] =
      "{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}";
  size_t n;
  int64_t live;
  CHECK_INT(gt_save_safetensors(path, 2, x), GT_OK);
  live = blocks_alive();
  list = gt_load_safetensors(path, gt_cpu());
  CHECK(list && list->n == 2);
  if (!list) return;
  CHECK(gt_tensors_get(list, "a")->storage == gt_tensors_get(list, "b")->storage);
  CHECK((uintptr_t)gt_data(gt_tensors_get(list, "b")) % 64 == 0); /* the first of the file */
  gt_add(gt_tensors_get(list, "a"), gt_tensors_get(list, "a"), gt_scalar(1));
  own = gt_retain(gt_tensors_get(list, "a"));
  gt_tensors_free(list);
  CHECK_NUM(gt_item(gt_max(NULL, own, GT_ALL, 0)), 8);
  again = gt_load_safetensors(path, gt_cpu());
  CHECK_NUM(gt_item(gt_max(NULL, gt_tensors_get(again, "a"), GT_ALL, 0)), 7);
  /* a file that is replaced by a rename is no concern of theirs */
  x[0].tensor = gt_ones(GT_SHAPE(2), GT_UINT8, DEV);
  CHECK_INT(gt_save_safetensors(path, 1, x), GT_OK);
  CHECK_NUM(gt_item(gt_max(NULL, gt_tensors_get(again, "a"), GT_ALL, 0)), 7);
  gt_tensors_free(again);
  gt_free(own);
  CHECK(blocks_alive() - live < 20); /* numbers and results of this function */
  n = read_file();
  CHECK_INT(n, 8 + 120 + 2);
  image[8 + strlen(wanted)] = 0; /* spaces follow */
  CHECK_STR((char *)image + 8, wanted);
}
static void test_scopes(void) { /* the list outlives them */
  gt_tensors *list = NULL;
  gt_named x = {"x", gt_ones(GT_SHAPE(3), GT_BFLOAT16, DEV)};
  CHECK_INT(gt_save_safetensors(path, 1, &x), GT_OK);
  GT_SCOPE list = gt_load_safetensors(path, DEV);
  CHECK_VALUES(gt_tensors_get(list, "x"), 1, 1, 1);
  gt_tensors_free(list);
}

/* ---- hostile files ---- */
static void refused(const char *what, const char *text, int64_t live) {
  gt_tensors *list = gt_load_safetensors(path, DEV);
  CHECK_TEXT(!list, "%s is loaded", what);
  gt_tensors_free(list);
  CHECK_TEXT(strstr(gt_error_message(), text), "%s: %s", what, gt_error_message());
  CHECK_INT(gt_error(), GT_ERROR_FORMAT);
  gt_clear_error();
  CHECK_TEXT(blocks_alive() == live, "%s: %d blocks", what, (int)(blocks_alive() - live));
}
#define A "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
static void test_hostile_headers(void) {
  static const struct { const char *header, *text; } bad[] = {
      {"", "does not begin with a brace"},
      {"[]", "does not begin with a brace"},
      {"{", "a name and a colon"},
      {A, "a name and a colon"},
      {A ",", "a name and a colon"},
      {A "} x", "text after"},
      {A " \"b\":{}}", "a name and a colon"},
      {"{\"a\" {}}", "a name and a colon"},
      {"{\"a\\", "a name and a colon"},
      {"{\"a\\\"", "a name and a colon"},
      {"{\"a\":1}", "does not begin with a brace"},
      {"{\"a\":{}}", "dtype is missing"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", "data_offsets is missing"},
      {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "twice"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":[]}}", "unknown key"},
      {"{\"a\":{\"dtype\":\"U32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "a dtype is none of BOOL"},
      {"{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,8]}}", "none of BOOL"},
      {"{\"a\":{\"dtype\":7,\"shape\":[2],\"data_offsets\":[0,8]}}", "a dtype is none"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", "malformed"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[[2]],\"data_offsets\":[0,8]}}", "malformed"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", "negative"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", "malformed"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2 2],\"data_offsets\":[0,8]}}", "no comma"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,8]}}", "more than 8 dim"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]}}", "64 bits"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,9],\"data_offsets\":[0,8]}}", "2^63"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,0],\"data_offsets\":[0,0]}}", "2^63"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775807],\"data_offsets\":[0,9223372036854775807]}}",
       "truncated"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}}", "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,9223372036854775807]}}", "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]}}", "truncated"},  /* beyond */
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", "data_offsets"},   /* a hole */
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "bytes follow"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]},"                     /* unsorted */
       "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"                     /* overlapping */
       "\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}", "data_offsets"},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
       "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", "two tensors have one name"},
      {"{\"__metadata__\":{\"a\":1}}", "__metadata__"},
      {"{\"__metadata__\":[]}", "__metadata__"},
      {"{\"__metadata__\":{\"a\":{\"a\":{}}}}", "__metadata__"},
      {"{\"__metadata__\":{\"a\":\"b\" \"c\":\"d\"}}", "__metadata__"},
      {"{\"__metadata__\":{\"a\":\"b", "__metadata__"}};
  static const float v[2] = {1, 2};
  const int64_t live = blocks_alive();
  unsigned i;
  for (i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_file(image, make_file(bad[i].header, v, sizeof v));
    refused(bad[i].header, bad[i].text, live);
  }
}
static void test_hostile_starts(void) {
  static const float v[2] = {1, 2};
  const int64_t live = blocks_alive();
  const size_t whole = make_file(A "}", v, sizeof v);
  char *deep;
  size_t n;
  for (n = 1; n < whole; n++) {
    write_file(image, n);
    refused("a file cut short", n < 8 ? "too long" : "", live);
  }
  for (n = 0; n < 8; n++) { /* headers of up to 2^64 bytes */
    write_file(image, make_file(A "}", v, sizeof v));
    image[n] = 255;
    write_file(image, whole);
    refused("a long header", "too long", live);
  }
  deep = (char *)malloc(1 << 15);
  memset(deep, '{', 1 << 15);
  deep[(1 << 15) - 1] = 0;
  write_file(image, make_file(deep, v, 8));
  refused("a deep header", "malformed", live);
  memset(deep, '[', (1 << 15) - 1);
  memcpy(deep, "{\"a\":{\"shape\":", 14);
  write_file(image, make_file(deep, v, 8));
  refused("a deep list", "malformed", live);
  free(deep);
  remove(path);
  REFUSED(gt_load_safetensors(path, DEV), GT_ERROR_FILE, "No such file");
  REFUSED(gt_load_safetensors(folder, DEV), GT_ERROR_FILE, "");
  REFUSED(gt_load_safetensors(NULL, DEV), GT_ERROR_ARGUMENT, "the path is NULL");
  write_file("", 0);
  REFUSED(gt_load_safetensors(path, DEV), GT_ERROR_FILE, "file.safetensors: ");
  { /* as many tensors as a header can name, all of one name */
    const char *one = "\"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
    char *header = (char *)calloc(1, sizeof image), *p = header;
    for (*p++ = '{'; p - header < (int)sizeof image - 200;)
      p += sprintf(p, "%s%s", p - header > 1 ? "," : "", one);
    sprintf(p, "}");
    write_file(image, make_file(header, NULL, 0));
    refused("many of one name", "two tensors have one name", live);
    free(header);
  }
}
/* Bytes changed, cut and added at random: loaded or refused, and nothing is left. */
static void test_damaged(void) {
  gt_named x[] = {{"weight", TENSOR(GT_FLOAT32, GT_SHAPE(2, 2), 1, 2, 3, 4)},
                  {"bias", TENSOR(GT_BFLOAT16, GT_SHAPE(3), 1, 2, 3)},
                  {"mask", TENSOR(GT_BOOL, GT_SHAPE(3), 1, 0, 1)}};
  const char *many = getenv("GPUTENSOR_MUTATIONS");
  const int rounds = many ? atoi(many) : QUICK ? 2000 : 20000;
  static unsigned char whole[1000];
  size_t n;
  int i, k, loaded = 0;
  int64_t live;
  CHECK_INT(gt_save_safetensors(path, 3, x), GT_OK);
  n = read_file();
  CHECK(n < sizeof whole - 100);
  memcpy(whole, image, n);
  live = blocks_alive();
  for (i = 0; i < rounds; i++) {
    static const char likely[] = "\"\\{}[]:,0129 -\n";
    size_t m = n;
    gt_tensors *list;
    memcpy(image, whole, n);
    for (k = (int)(random_bits() % 4); k >= 0; k--) {
      const size_t at = random_bits() % 4 ? random_bits() % 320 % m : random_bits() % m;
      switch (random_bits() % 5) {
        case 0: image[at] = (unsigned char)random_bits(); break;
        case 1: image[at] = (unsigned char)likely[random_bits() % (sizeof likely - 1)]; break;
        case 2: image[at] ^= (unsigned char)(1 << random_bits() % 8); break;
        case 3: m = random_bits() % 8 ? m : at + 1; break;
        default: memmove(image + at, image + at + 1, m - at - 1);
      }
    }
    write_file(image, m);
    list = gt_load_safetensors(path, DEV);
    CHECK((list != NULL) == (gt_error() == GT_OK));
    CHECK(list || strstr(gt_error_message(), path));
    for (k = 0; list && k < list->n; k++) {
      void *p = values_of(list->item[k].tensor);
      free(p);
    }
    loaded += list != NULL;
    gt_tensors_free(list);
    gt_clear_error();
  }
  CHECK(loaded > 0 && loaded < rounds);
  CHECK_INT(blocks_alive(), live);
}
static void test_refused_saves(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV);
  gt_named two[] = {{"a", x}, {"a", x}}, one = {NULL, x}, none = {"a", NULL};
  int i;
  static const char *const bad[] = {"__metadata__", "a\"b", "a\\", "a\nb", "a\b", "\33[1m"};
  remove(path);
  REFUSED_STATUS(gt_save_safetensors(path, 2, two), GT_ERROR_ARGUMENT, "name 1 is NULL, __metadata__, no plain text or not new");
  REFUSED_STATUS(gt_save_safetensors(path, 1, &one), GT_ERROR_ARGUMENT, "name 0 is NULL");
  for (i = 0; i < 6; i++) {
    one.name = bad[i];
    REFUSED_STATUS(gt_save_safetensors(path, 1, &one), GT_ERROR_ARGUMENT, "no plain text");
  }
  REFUSED_STATUS(gt_save_safetensors(path, 1, &none), GT_ERROR_ARGUMENT, "NULL");
  REFUSED_STATUS(gt_save_safetensors(NULL, 1, two), GT_ERROR_ARGUMENT, "path");
  REFUSED_STATUS(gt_save_safetensors(path, -1, two), GT_ERROR_ARGUMENT, "negative");
  REFUSED_STATUS(gt_save_safetensors(path, 1, NULL), GT_ERROR_ARGUMENT, "NULL");
  /* bytes whose sum would begin anew behind 2^64 */
  const gt_tensor *number = gt_zeros(GT_SHAPE(1), GT_FLOAT64, DEV);
  const int64_t huge = (int64_t)1 << (sizeof(size_t) == 8 ? 59 : 27);
  gt_tensor *large = gt_ones(GT_SHAPE(1 << 17), GT_FLOAT64, DEV);
  gt_named vast[5] = {{"a", large}, {"b", NULL}, {"c", NULL}, {"d", NULL}, {"e", NULL}};
  for (i = 1; i < 5; i++) vast[i].tensor = gt_expand(number, GT_SHAPE(huge - (i == 4 ? 1 << 16 : 0)));
  REFUSED_STATUS(gt_save_safetensors(path, 5, vast), GT_ERROR_SHAPE, "more than memory can address");
  CHECK(access(path, F_OK) != 0);
  REFUSED_STATUS(gt_save_safetensors("/nowhere/x", 1, two), GT_ERROR_FILE, "gt_save_safetensors: /nowhere/x: No such");
}
/* Each allocation fails once: an error, and nothing is left. */
static void test_without_memory(void) {
  gt_named x[] = {{"a", gt_ones(GT_SHAPE(30), GT_FLOAT32, DEV)}, {"b", gt_ones(GT_SHAPE(3), GT_BOOL, DEV)}};
  const int64_t live = blocks_alive();
  int i, done = 0;
  for (i = 1; i < 100 && !done; i++) {
    gt_status status;
    gt_tensors *list = NULL;
    hooks_fail_once(i);
    status = gt_save_safetensors(path, 2, x);
    if (!status) list = gt_load_safetensors(path, gt_cpu());
    done = !hooks_failed();
    hooks_fail_at(0);
    CHECK(done ? list != NULL : (list == NULL) == (gt_error() != GT_OK));
    gt_tensors_free(list);
    gt_clear_error();
  }
  CHECK(done);
  CHECK(DEV.type != GT_CPU || blocks_alive() == live);
}

/* ---- DLPack ---- */
/* The ABI, written down apart from the library's; and Debian's header, if it is there. */
typedef struct { int32_t type, id; } dl_device;
typedef struct {
  void *data;
  dl_device device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;
typedef struct dl_plain {
  dl_tensor t;
  void *context;
  void (*deleter)(struct dl_plain *);
} dl_plain;
typedef struct dl_versioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct dl_versioned *);
  uint64_t flags;
  dl_tensor t;
} dl_versioned;
static int ended;
static void end_plain(dl_plain *m) { ended++, free(m); }
static void end_versioned(dl_versioned *m) { ended++, free(m); }
static int64_t lent_shape[9], lent_stride[9];
static dl_versioned *lend(void *data, int n, const int64_t *shape, const int64_t *stride) {
  dl_versioned *m = (dl_versioned *)calloc(1, sizeof *m);
  m->major = 1;
  m->deleter = end_versioned;
  m->t.data = data;
  m->t.device.type = DEV.type;
  m->t.device.id = DEV.index;
  m->t.ndim = n;
  m->t.dtype.code = 2;
  m->t.dtype.bits = 32;
  m->t.dtype.lanes = 1;
  if (n > 0) memcpy(lent_shape, shape, (size_t)n * 8);
  if (n > 0 && stride) memcpy(lent_stride, stride, (size_t)n * 8);
  m->t.shape = lent_shape;
  m->t.strides = stride ? lent_stride : NULL;
  return m;
}
static void test_dlpack_headers(void) {
#ifdef HAS_DLPACK
  static const struct { gt_dtype dtype; int code; } row[] = {
      {GT_UINT8, kDLUInt}, {GT_INT8, kDLInt}, {GT_INT16, kDLInt}, {GT_INT32, kDLInt}, {GT_INT64, kDLInt},
      {GT_FLOAT16, kDLFloat}, {GT_BFLOAT16, kDLBfloat}, {GT_FLOAT32, kDLFloat}, {GT_FLOAT64, kDLFloat}};
  unsigned i;
  CHECK_INT(sizeof(DLManagedTensor), sizeof(dl_plain));
  CHECK_INT(offsetof(DLManagedTensor, deleter), offsetof(dl_plain, deleter));
  CHECK_INT(offsetof(DLTensor, byte_offset), offsetof(dl_tensor, byte_offset));
  for (i = 0; i < sizeof row / sizeof *row; i++) {
    gt_tensor *x = gt_transpose(gt_ones(GT_SHAPE(2, 3), row[i].dtype, DEV), 0, 1);
    DLManagedTensor *m = (DLManagedTensor *)gt_to_dlpack(x, 0, -1);
    CHECK(m && m->dl_tensor.data == gt_data(x) && m->dl_tensor.ndim == 2 && m->dl_tensor.byte_offset == 0);
    if (!m) continue;
    CHECK_INT(m->dl_tensor.device.device_type, DEV.type == GT_CPU ? kDLCPU : kDLCUDA);
    CHECK_INT(m->dl_tensor.device.device_id, DEV.index);
    CHECK_INT(m->dl_tensor.dtype.code, row[i].code);
    CHECK_INT(m->dl_tensor.dtype.bits, 8 * gt_dtype_size(row[i].dtype));
    CHECK_INT(m->dl_tensor.dtype.lanes, 1);
    CHECK(m->dl_tensor.shape[0] == 3 && m->dl_tensor.strides[0] == 1 && m->dl_tensor.strides[1] == 3);
    m->deleter(m);
  }
#else
  skip("Debian's dlpack.h", "libdlpack-dev is not installed");
#endif
}
/* Out and in again: the same memory, all dtypes and layouts; and it lives until both sides let go. */
static void test_dlpack_round_trips(void) {
  int t, layout, versioned;
  for (t = 0; t < GT_DTYPES; t++)
    for (layout = 0; layout < LAYOUTS; layout++)
      for (versioned = 0; versioned < 2; versioned++) GT_SCOPE {
          gt_tensor *x = relayout(random_tensor(GT_SHAPE(5, 7), (gt_dtype)t, DEV), layout), *y;
          gt_tensor *wanted = gt_copy(NULL, x);
          void *m;
          int d;
          m = gt_to_dlpack(x, versioned, is_gpu(DEV) ? 0 : 2);
          CHECK(m != NULL);
          if (m && versioned) {
            CHECK(((dl_versioned *)m)->major == 1 && ((dl_versioned *)m)->flags == 0);
            CHECK(((dl_versioned *)m)->t.data == gt_data(x));
            CHECK_INT(((dl_versioned *)m)->t.dtype.code, t == GT_BOOL ? 6 : is_float((gt_dtype)t) ? (t == GT_BFLOAT16 ? 4 : 2) : t == GT_UINT8);
          }
          y = gt_from_dlpack(m, versioned, is_gpu(DEV) ? 0 : 2);
          CHECK(y != NULL);
          if (y) {
            CHECK(gt_data(y) == gt_data(x) && y->dtype == x->dtype);
            for (d = 0; d < x->ndim; d++) CHECK(y->shape[d] == x->shape[d] && y->stride[d] == x->stride[d]);
          }
          gt_free(x);
          if (y) CHECK_SAME(y, wanted);
          gt_clear_error();
        }
}
static void test_dlpack_taken(void) {
  static const int64_t two[] = {2, 3}, rows[] = {4, 1}, down[] = {-3, 1}, zero[] = {2, 0}, none[] = {0, 1};
  gt_tensor *memory = gt_arange(0, 24, 1, GT_FLOAT32, DEV), *x;
  float *data = (float *)gt_data(memory);
  dl_plain *plain;
  dl_versioned *m;
  ended = 0;
  x = gt_from_dlpack(lend(data, 2, two, NULL), 1, -1);
  CHECK_SHAPE(x, 2, 3);
  CHECK_VALUES(x, 0, 1, 2, 3, 4, 5);
  gt_fill(x, 7);
  CHECK_NUM(gt_item(gt_select(memory, 0, 5)), 7);
  CHECK_INT(ended, 0);
  gt_free(x);
  CHECK_INT(ended, 1);
  m = lend(data, 2, two, rows);
  m->t.byte_offset = 32;
  m->flags = 1;
  x = gt_from_dlpack(m, 1, -1);
  CHECK_VALUES(x, 8, 9, 10, 12, 13, 14);
  REFUSED(gt_fill(x, 1), GT_ERROR_ARGUMENT, "not written to");
  REFUSED(gt_to_dlpack(x, 0, -1), GT_ERROR_ARGUMENT, "only a versioned");
  m = (dl_versioned *)gt_to_dlpack(x, 1, -1);
  CHECK(m && m->flags == 1);
  gt_free(x);
  CHECK_INT(ended, 1); /* lent on */
  if (m) m->deleter(m);
  CHECK_INT(ended, 2);
  x = gt_from_dlpack(lend(data, 2, zero, NULL), 1, -1);
  CHECK_SHAPE(x, 2, 0);
  gt_free(x);
  x = gt_from_dlpack(lend(data, 2, two, none), 1, -1); /* rows that are one row */
  CHECK_VALUES(x, 7, 7, 7, 7, 7, 7);
  gt_free(x);
  CHECK_INT(ended, 4);
  plain = (dl_plain *)calloc(1, sizeof *plain);
  m = lend(data, 0, NULL, NULL);
  plain->t = m->t;
  free(m);
  plain->deleter = end_plain;
  x = gt_from_dlpack(plain, 0, -1);
  CHECK_NUM(gt_item(x), 7);
  gt_free(x);
  CHECK_INT(ended, 5);
  x = gt_from_dlpack(lend(data + 11, 2, two, down), 1, -1); /* from the end */
  CHECK_VALUES(x, 11, 12, 13, 8, 9, 10);
  gt_free(x);
  CHECK_INT(ended, 6);
  m = lend(data, 2, two, NULL); /* nobody wants it back */
  m->deleter = NULL;
  gt_free(gt_from_dlpack(m, 1, -1));
  free(m);
}
static void not_taken(dl_versioned *m, gt_status status, const char *text) {
  const int before = ended;
  const int64_t live = blocks_alive();
  REFUSED(gt_from_dlpack(m, 1, -1), status, text);
  CHECK_INT(ended, before + 1);
  CHECK_INT(blocks_alive(), live);
}
static void test_dlpack_refused(void) {
  static const int64_t two[] = {2, 3}, low[] = {1, INT64_MIN}, large[] = {INT64_C(1) << 62, 1}, minus[] = {2, -3};
  static const int64_t nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  gt_tensor *memory = gt_zeros(GT_SHAPE(24), GT_FLOAT32, DEV);
  char *data = (char *)gt_data(memory);
  dl_versioned *m;
  int i;
  REFUSED(gt_from_dlpack(NULL, 1, -1), GT_ERROR_ARGUMENT, "managed is NULL");
  m = lend(data, 2, two, NULL), m->major = 2;
  not_taken(m, GT_ERROR_VERSION, "DLPack's version 2 is not 1");
  for (i = 0; i < 3; i++) {
    m = lend(data, 2, two, NULL);
    if (i == 0) m->t.dtype.code = 5;
    if (i == 1) m->t.dtype.bits = 128;
    if (i == 2) m->t.dtype.lanes = 4;
    not_taken(m, GT_ERROR_DTYPE, "is none of ours");
  }
  for (i = 4; i < 16; i += 3) { /* OpenCL, Vulkan, ROCm, managed */
    m = lend(data, 2, two, NULL), m->t.device.type = i;
    not_taken(m, GT_ERROR_DEVICE, "is neither CPU, pinned nor CUDA");
  }
  m = lend(data, 2, two, NULL), m->t.device.type = 2, m->t.device.id = 63;
  not_taken(m, GT_ERROR_DEVICE, "");
  not_taken(lend(data, 2, two, low), GT_ERROR_SHAPE, "too large");
  not_taken(lend(data, 2, two, large), GT_ERROR_SHAPE, "too large");
  not_taken(lend(data, 2, minus, NULL), GT_ERROR_SHAPE, "negative size");
  not_taken(lend(data, 9, nine, NULL), GT_ERROR_SHAPE, "9 dimensions");
  not_taken(lend(data, -1, nine, NULL), GT_ERROR_SHAPE, "-1 dimensions");
  not_taken(lend(data, 2, huge, NULL), GT_ERROR_SHAPE, "");
  not_taken(lend(NULL, 2, two, NULL), GT_ERROR_ARGUMENT, "data is NULL");
  not_taken(lend(data + 1, 2, two, NULL), GT_ERROR_ARGUMENT, "not aligned");
  for (i = 1; i < 20; i++) { /* out of memory, at each place */
    const int before = ended;
    gt_tensor *x;
    hooks_fail_once(i);
    x = gt_from_dlpack(lend(data, 2, two, NULL), 1, DEV.type == GT_CPU ? -1 : 2);
    hooks_fail_at(0);
    CHECK_INT(ended, before + !x);
    gt_free(x);
    CHECK_INT(ended, before + 1);
    gt_clear_error();
    hooks_fail_once(i);
    m = (dl_versioned *)gt_to_dlpack(memory, 1, -1);
    hooks_fail_at(0);
    CHECK((m != NULL) == (gt_error() == GT_OK));
    if (m) m->deleter(m);
    gt_clear_error();
  }
}
/* Work of ours comes before what the other side enqueues, and behind what it had enqueued. */
static void test_dlpack_order(void) {
  gt_stream *ours = gt_stream_create(DEV, 0), *theirs = gt_stream_create(DEV, 0);
  void *native = gt_stream_native(theirs);
  int64_t number = native ? (int64_t)(intptr_t)native : 0;
  int i;
  gt_set_stream_safety(GT_ORDER);
  for (i = 0; i < (QUICK ? 20 : 200); i++) GT_SCOPE {
      gt_tensor *x = gt_zeros(GT_SHAPE(3000), GT_FLOAT32, DEV), *y, *copy;
      dl_versioned *m;
      GT_WITH_STREAM(ours) {
        gt_eval(x, "exp(a) + 1", x);
        gt_add(x, x, gt_scalar(i));
      }
      m = (dl_versioned *)gt_to_dlpack(x, 1, number);
      CHECK(m != NULL);
      if (!m) continue;
      gt_set_stream_safety(GT_OFF); /* from here on only what DLPack has ordered */
      GT_WITH_STREAM(theirs) copy = gt_empty_like(x);
      y = gt_from_dlpack(lend(m->t.data, 1, m->t.shape, NULL), 1, -1);
      GT_WITH_STREAM(theirs) gt_copy(copy, y);
      gt_set_stream_safety(GT_ORDER);
      gt_stream_synchronize(theirs);
      CHECK_NUM(gt_item(gt_max(NULL, copy, GT_ALL, 0)), 2 + i);
      CHECK_NUM(gt_item(gt_min(NULL, copy, GT_ALL, 0)), 2 + i);
      m->deleter(m);
    }
  for (i = 0; i < (QUICK ? 20 : 200) && native; i++) GT_SCOPE {
      gt_tensor *x = gt_zeros(GT_SHAPE(3000), GT_FLOAT32, DEV), *y, *z = NULL;
      static const int64_t shape[] = {3000};
      void *data = gt_data(x);
      gt_synchronize(DEV);
      gt_set_stream_safety(GT_OFF);
      GT_WITH_STREAM(theirs) gt_fill(x, i + 1); /* as a producer's work, of which the library knows nothing */
      gt_set_stream_safety(GT_ORDER);
      y = gt_from_dlpack(lend(data, 1, shape, NULL), 1, number);
      GT_WITH_STREAM(ours) z = gt_copy(NULL, y);
      CHECK_NUM(gt_item(gt_min(NULL, z, GT_ALL, 0)), i + 1);
    }
  gt_stream_free(ours);
  gt_stream_free(theirs);
}
static void test_dlpack_in_a_graph(void) {
  gt_tensor *x = gt_ones(GT_SHAPE(3), GT_FLOAT32, DEV);
  gt_graph *graph;
  gt_graph_begin(gt_current_stream(DEV));
  gt_add(x, x, x);
  REFUSED(gt_to_dlpack(x, 1, 2), GT_ERROR_STATE, "");
  graph = gt_graph_end();
  CHECK(graph != NULL);
  gt_graph_free(graph);
}

int main(int argc, char **argv) {
  const char *where = getenv("TMPDIR");
  check_start("exchange", argc, argv);
  snprintf(folder, sizeof folder, "%s/gputensor-exchange-XXXXXX", where ? where : "/tmp");
  if (!mkdtemp(folder)) {
    printf("exchange: no folder %s\nexchange: 0 passed, 1 failed, 0 skipped\n", folder);
    return 1;
  }
  snprintf(path, sizeof path, "%s/file.safetensors", folder);
  gt_free(gt_ones(GT_SHAPE(2), GT_FLOAT32, DEV)); /* what is made on first use is there */
  RUN(by_hand);
  RUN(odd);
  RUN(round_trips);
  RUN(pages);
  RUN(scopes);
  RUN(hostile_headers);
  RUN(hostile_starts);
  RUN(damaged);
  RUN(refused_saves);
  RUN(without_memory);
  RUN(dlpack_headers);
  RUN(dlpack_round_trips);
  RUN(dlpack_taken);
  RUN(dlpack_refused);
  RUN(dlpack_order);
  RUN(dlpack_in_a_graph);
  remove(path);
  if (rmdir(folder) != 0) printf("exchange: files are left in %s\n", folder), check_failed++;
  return check_finish();
}
