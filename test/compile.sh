#!/bin/bash
# Small compile tests: standards and compilers, options, refusals, names that leave the files, marks
# and density, the programs in the documentation, and CUDA where nvcc is. density.py and names.py have
# lists of what is still allowed, density.txt and names.txt, which only shrink.
#   compile.sh [standards|documents|cuda]...       without arguments: all
# GCC_LIBRARY: objects and options to link the library with, as gcc compiled it, or nothing
# GCC_FRAMES: gcc's lists of the stack that each function takes, of the library with GPUTENSOR_DISPATCH
#   and of that with GPUTENSOR_PLAIN, or nothing
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
root=$PWD
header=gputensor.h
kernels=gputensor_kernels.cu
strict="-Wall -Wextra -Wpedantic -Werror"
passed=0 failed=0 skipped=0
# The plain ways alone compile fastest; the programs of run.sh are built with all of it.
fast="-O0 -DGPUTENSOR_PLAIN"

# ---- checks ----
have() { command -v "$1" > /dev/null 2>&1; }
skip() {
  printf 'skipped: compile: %s\n' "$1"
  skipped=$((skipped + 1))
}
pass() { passed=$((passed + 1)); }
fail() { # NAME [LOG]
  printf 'FAILED %s\n' "$1"
  if [ -n "$2" ]; then head -n 20 "$2" | sed 's/^/    /'; fi
  failed=$((failed + 1))
}
check() { # NAME COMMAND...: the command succeeds
  local name=$1
  shift
  if "$@" > "$work/log" 2>&1; then pass; else fail "$name: $*" "$work/log"; fi
}
refuse() { # NAME PATTERN COMMAND...: it fails, and says so
  local name=$1 sentence=$2
  shift 2
  if "$@" > "$work/log" 2>&1; then fail "$name: was not refused: $*"
  elif ! grep -qE -- "$sentence" "$work/log"; then fail "$name: does not say \"$sentence\"" "$work/log"
  else pass
  fi
}
# A command that finds nothing to look at prints that: an empty list is not a clean one.
empty() { # NAME COMMAND...: it prints nothing; what it prints is what is wrong
  local name=$1
  shift
  "$@" > "$work/lines"
  if [ -s "$work/lines" ]; then fail "$name" "$work/lines"; else pass; fi
}
c_compilers() { for c in gcc clang; do if have $c; then echo $c; fi; done; }
cpp_compilers() { for c in g++ clang++; do if have $c; then echo $c; fi; done; }
something_in() { # FILE WHAT
  if [ ! -s "$1" ]; then echo "no $2 were found: nothing was looked at"; fi
}
# Older compilers do not have the newest standards.
knows() { echo | "$1" -std="$2" -x c++ -fsyntax-only - 2> /dev/null; }
name_missing_compilers() {
  for c in gcc clang g++ clang++; do if ! have $c; then skip "$c: not there"; fi; done
}

# ---- sources ----
# Every macro of the public part, as a user writes it; C and C++.
write_user() { # FILE
  cat > "$1" << 'END'
#include "gputensor.h"
int user(gt_stream *stream);
int user(gt_stream *stream) {
  const int64_t four = 4;
  double total = 0;
  GT_WITH_DEVICE(gt_cpu()) {
    GT_SCOPE {
      gt_tensor *x = gt_full(GT_SHAPE(3, four), 2, GT_FLOAT32, gt_current_device());
      gt_tensor *y = gt_eval(NULL, "a*b + c", x, x, gt_scalar(0.5));
      gt_tensor *s = gt_reduce(NULL, GT_SUM, GT_DIM(0) | GT_DIM(-1), 0, "a", y);
      gt_tensor *p = gt_matmul_eval(NULL, x, gt_transpose(x, 0, 1), "a");
      total = gt_item(s) + gt_item(gt_sum(NULL, p, GT_ALL, 0));
    }
  }
  if (stream) {
    const float read_only[3] = {1, 2, 3};
    const size_t n = sizeof read_only / sizeof *read_only;
    GT_SCOPE {
      gt_tensor *x =
          gt_from_const_ptr(read_only, GT_SHAPE(n), GT_FLOAT32, gt_cpu(), NULL, NULL);
      gt_reshape(x, GT_SHAPE(1u, n, -1, 1L, 1, n / n, 1ULL, (short)1));
    }
    GT_WITH_STREAM(stream) { gt_stream_synchronize(stream); }
    gt_synchronize(gt_stream_device(stream));
  }
  return total == 54 + 144 && gt_numel(NULL) == 0 ? 0 : 1;
}
END
}
write_sources() {
  write_user "$work/user.c"
  write_user "$work/user.cpp"
  cat > "$work/whole.c" << 'END'
#include "gputensor.h"
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include "gputensor.h"
END
  cat > "$work/own.c" << 'END'
#include <stddef.h>
void *own_malloc(size_t n);
void *own_realloc(void *p, size_t n);
void own_free(void *p);
#define GPUTENSOR_MALLOC(n) own_malloc(n)
#define GPUTENSOR_REALLOC(p, n) own_realloc(p, n)
#define GPUTENSOR_FREE(p) own_free(p)
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
END
  cat > "$work/number.c" << 'END'
#include "gputensor.h"
gt_tensor *f(gt_tensor *x);
gt_tensor *f(gt_tensor *x) { return gt_eval(x, "a*b", x, 0.5); }
END
  cat > "$work/stream.c" << 'END'
#include "gputensor.h"
gt_status f(gt_stream *stream);
gt_status f(gt_stream *stream) { return gt_synchronize(stream); }
END
  cat > "$work/main.c" << 'END'
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#ifdef __cplusplus
extern "C"
#endif
int visit(void);
int main(void) { return visit(); }
END
  # The other file of a program of two: it calls through the linker, in the other language.
  { write_user "$work/visit.c"
    cat >> "$work/visit.c" << 'END'
#ifdef __cplusplus
extern "C"
#endif
int visit(void);
int visit(void) {
  gt_stream *stream = gt_stream_create(gt_cpu(), 0);
  const int bad = user(stream);
  gt_stream_free(stream);
  gt_clear_error();
  return bad;
}
END
  }
  # What people write first; the compilers' warnings need their optimisation.
  cat > "$work/blocks.c" << 'END'
#include "gputensor.h"
double product(gt_stream *s, gt_tensor *x);
double product(gt_stream *s, gt_tensor *x) {
  gt_tensor *y;
  GT_WITH_STREAM(s) y = gt_matmul(NULL, x, x);
  return gt_item(y);
}
double kept(gt_tensor *x, int twice);
double kept(gt_tensor *x, int twice) {
  gt_tensor *y;
  if (twice)
    GT_SCOPE { y = gt_keep(gt_add(NULL, x, x)); }
  else
    GT_WITH_DEVICE(gt_cpu()) GT_SCOPE y = gt_keep(gt_neg(NULL, x));
  return gt_item(y);
}
double scoped(gt_stream *s, gt_tensor *x);
double scoped(gt_stream *s, gt_tensor *x) {
  for (;;) {
    GT_WITH_STREAM_SCOPED(s); GT_WITH_DEVICE_SCOPED(gt_cpu()); GT_SCOPED; GT_SCOPED;
    return gt_item(gt_neg(NULL, x));
  }
}
END
  for f in whole own number stream main visit blocks; do cp "$work/$f.c" "$work/$f.cpp"; done
}

# ---- standards and options ----
each_standard() { # NAME OPTIONS FILE [STANDARDS-OF-C [OF-C++]]: with every compiler
  local c s
  for c in $(c_compilers); do
    for s in ${4:-c99}; do
      # shellcheck disable=SC2086
      check "$1" "$c" -std=$s $strict -fsyntax-only -I. $2 "$work/$3.c"
    done
  done
  for c in $(cpp_compilers); do
    for s in ${5:-c++17}; do
      if ! knows "$c" $s; then skip "$1: $c has no $s"; continue; fi
      # shellcheck disable=SC2086
      check "$1" "$c" -std=$s $strict -fsyntax-only -I. $2 "$work/$3.cpp"
    done
  done
}
standards() {
  # what an option does not change is parsed above, for each standard
  local quickly=-DGPUTENSOR_PLAIN
  # <windows.h> and <complex.h> have these names
  local taken="-Dnear= -Dfar= -Dsmall=char -Dhyper=__int64 -DI=_Complex_I"
  each_standard "declarations" "" user "c99 c11 c17" "c++11 c++14 c++17 c++20"
  each_standard "declarations and strict conversions" "-Wconversion -Wsign-conversion" user
  natural_uses
  each_standard "included three times, then the implementation" "" whole "c99 c11 c17"
  each_standard "implementation by -D" "-DGPUTENSOR_IMPLEMENTATION $quickly" user
  each_standard "GPUTENSOR_STATIC" "-DGPUTENSOR_STATIC -DGPUTENSOR_IMPLEMENTATION" user
  each_standard "GPUTENSOR_NO_CUDA" "-DGPUTENSOR_NO_CUDA $quickly" whole
  each_standard "GPUTENSOR_PLAIN" $quickly whole c99 c++20
  each_standard "GPUTENSOR_DISPATCH" -DGPUTENSOR_DISPATCH whole c99 c++17
  renamed $quickly
  each_standard "names that other headers take" "$quickly $taken" whole
  each_standard "an old POSIX" "$quickly -D_POSIX_C_SOURCE=199309L" whole
  each_standard "GPUTENSOR_CHECK_HANDLES" "-DGPUTENSOR_CHECK_HANDLES $quickly" whole
  each_standard "GPUTENSOR_NO_THREADS" "-DGPUTENSOR_NO_THREADS $quickly" whole
  each_standard "own allocator" $quickly own
}
# The header includes itself, by its name.
renamed() { # OPTIONS
  mkdir -p "$work/renamed"
  cp $header "$work/renamed/tensors.h"
  sed 's/gputensor.h/renamed\/tensors.h/' "$work/whole.c" > "$work/renamed.c"
  # shellcheck disable=SC2086
  {
    check "GPUTENSOR_FILE" "$(quick_c)" $strict $1 "-DGPUTENSOR_FILE=\"tensors.h\"" -fsyntax-only "$work/renamed.c"
    refuse "another name" "define GPUTENSOR_FILE" "$(quick_c)" $1 -fsyntax-only "$work/renamed.c"
  }
}
natural_uses() {
  local c
  for c in $(c_compilers); do
    # shellcheck disable=SC2086
    check "blocks and declarations" "$c" -std=c99 $strict -O2 -I. -c "$work/blocks.c" -o "$work/blocks.o"
  done
  for c in $(cpp_compilers); do
    # shellcheck disable=SC2086
    check "blocks and declarations" "$c" -std=c++17 $strict -O2 -I. -c "$work/blocks.cpp" \
      -o "$work/blocks.o"
  done
}
symbols() { # NM-OPTIONS OBJECT PATTERN: defined symbols that do not match
  # shellcheck disable=SC2086
  nm $1 --defined-only "$2" | awk '{ print $3 }' > "$work/symbols"
  something_in "$work/symbols" symbols
  grep -vE "$3" "$work/symbols"
}
only_symbols() { # NAME NM-OPTIONS OBJECT PATTERN
  if ! have nm; then skip "$1: no nm"
  elif [ ! -f "$3" ]; then skip "$1: no $(basename "$3")"
  else empty "$1" symbols "$2" "$3" "$4"
  fi
}
# gcc looks for what is unused only when it makes code.
static_library() {
  # shellcheck disable=SC2086
  check "GPUTENSOR_STATIC makes no warning" gcc -std=c99 $strict $fast -I. -DGPUTENSOR_STATIC \
    -DGPUTENSOR_IMPLEMENTATION -c "$work/user.c" -o "$work/static.o"
  only_symbols "GPUTENSOR_STATIC leaves these symbols" -g "$work/static.o" '^user$'
}
# The program that defines GPUTENSOR_IMPLEMENTATION has nothing of the library in it.
linked() {
  check "GPUTENSOR_LINKED" gcc -std=c99 $strict -I. -DGPUTENSOR_LINKED -DGPUTENSOR_IMPLEMENTATION \
    -c "$work/user.c" -o "$work/linked.o"
  only_symbols "GPUTENSOR_LINKED leaves these symbols" "" "$work/linked.o" '^user$'
}
# clang makes code in a third of gcc's time.
quick_c() { if have clang; then echo clang; else echo gcc; fi; }
quick_cpp() { if have clang++; then echo clang++; else echo g++; fi; }
two_languages() {
  local flags="$fast -I. $strict" c cpp
  c=$(quick_c) cpp=$(quick_cpp)
  have "$cpp" || return
  # shellcheck disable=SC2086
  {
    check "implementation in C" "$c" $flags -c "$work/main.c" -o "$work/main_c.o"
    check "user in C++" "$cpp" -std=c++17 $flags -c "$work/visit.cpp" -o "$work/visit_cpp.o"
    check "links" "$cpp" "$work/main_c.o" "$work/visit_cpp.o" -lm -lpthread -o "$work/c_cpp"
    check "runs" "$work/c_cpp"
    check "implementation in C++" "$cpp" -std=c++17 $flags -c "$work/main.cpp" -o "$work/main_cpp.o"
    check "user in C" "$c" $flags -c "$work/visit.c" -o "$work/visit_c.o"
    check "links" "$cpp" "$work/main_cpp.o" "$work/visit_c.o" -lm -lpthread -o "$work/cpp_c"
    check "runs" "$work/cpp_c"
  }
}
# Created CPU streams then work at once, which a test program is built to expect.
no_threads() {
  # shellcheck disable=SC2086
  {
    check "GPUTENSOR_NO_THREADS makes no warning" "$(quick_c)" -std=c99 $strict $fast \
      -DGPUTENSOR_NO_THREADS -c test/lib.c -o "$work/no_threads_lib.o"
    check "async without threads" "$(quick_c)" -std=gnu11 -O0 -DGPUTENSOR_NO_THREADS test/async.c \
      test/hooks.c "$work/no_threads_lib.o" -lm -lpthread -o "$work/async"
    check "async without threads runs" "$work/async" --quick
  }
}
# Stacks of threads may be small: musl's have 128 KiB.
large_frames() { awk -F'\t' '$2 > 32768 || $3 == "dynamic" { print $1 ": " $2 " bytes of stack" }' "$1"; }
frames() {
  local f build="gcc -std=c99 -O2 -fstack-usage -I. -c test/lib.c"
  if [ -n "$GCC_FRAMES" ]; then
    cp "${GCC_FRAMES% *}" "$work/dispatch.su"
    cp "${GCC_FRAMES#* }" "$work/plain.su"
  else
    check "frames: builds" $build -DGPUTENSOR_DISPATCH -o "$work/dispatch.o"
    check "frames: builds" $build -DGPUTENSOR_PLAIN -o "$work/plain.o"
  fi
  check "frames: builds" $build -o "$work/default.o"
  for f in dispatch plain default; do
    if [ -s "$work/$f.su" ]; then empty "frames above 32 KiB" large_frames "$work/$f.su"
    else fail "frames: no $f.su"
    fi
  done
}
# The default build is light: 450 KB of code and constants.
too_large() { size "$1" | awk 'NR == 2 && $1 > 450 * 1024 { print $1 " bytes" }'; }
weight() {
  if have size && [ "$(uname -m)" = x86_64 ]; then empty "the default build's object" too_large "$work/default.o"
  else skip "the default build's size: no size, or not x86-64"
  fi
}
refusals() {
  local c stop="-fsyntax-only -Wfatal-errors -DGPUTENSOR_PLAIN"
  for c in $(c_compilers) $(cpp_compilers); do
    local ending=c
    case $c in *++) ending=cpp ;; esac
    # shellcheck disable=SC2086
    {
      check "declarations with -ffast-math" "$c" -ffast-math $stop -I. "$work/user.$ending"
      refuse "-ffast-math" "build this file without -ffast-math" \
        "$c" -ffast-math $stop -I. "$work/whole.$ending"
      refuse "-ffinite-math-only" "build this file without -ffast-math" \
        "$c" -ffinite-math-only $stop -I. "$work/whole.$ending"
      refuse "only GPUTENSOR_MALLOC" "define all of GPUTENSOR_MALLOC, GPUTENSOR_REALLOC" \
        "$c" "-DGPUTENSOR_MALLOC(n)=malloc(n)" $stop -I. "$work/whole.$ending"
      refuse "only GPUTENSOR_FREE" "define all of GPUTENSOR_MALLOC, GPUTENSOR_REALLOC" \
        "$c" "-DGPUTENSOR_FREE(p)=free(p)" $stop -I. "$work/whole.$ending"
      refuse "CUDA and no CUDA" "GPUTENSOR_CUDA and GPUTENSOR_NO_CUDA are both defined" \
        "$c" -DGPUTENSOR_CUDA -DGPUTENSOR_NO_CUDA $stop -I. "$work/whole.$ending"
      refuse "static and linked" "GPUTENSOR_LINKED elsewhere: choose one" \
        "$c" -DGPUTENSOR_STATIC -DGPUTENSOR_LINKED $stop -I. "$work/whole.$ending"
      refuse "GPUTENSOR_NO_SIMD" "GPUTENSOR_PLAIN" "$c" -DGPUTENSOR_NO_SIMD $stop -I. "$work/whole.$ending"
      refuse "GPUTENSOR_NO_TENSOR_CORES" "GPUTENSOR_WAYS" \
        "$c" -DGPUTENSOR_NO_TENSOR_CORES $stop -I. "$work/whole.$ending"
      refuse "a number among tensors" "error" "$c" $stop -I. "$work/number.$ending"
      refuse "a stream for a device" "error" "$c" $stop -I. "$work/stream.$ending"
    }
  done
  if ! have tcc; then skip "tcc: not there"; return; fi
  # an output of its own: tcc replaces what it is given, /dev/null too
  refuse "a block by tcc" "so_use_gcc_or_clang" tcc -c -I. "$work/blocks.c" -o "$work/tcc.o"
}
# In one sentence, though the rest of the file would be worth hundreds.
one_sentence() { # NAME PATTERN COMMAND...
  refuse "$@"
  if [ "$(grep -c 'error:' "$work/log")" = 1 ]; then pass; else fail "$1: is not one error" "$work/log"; fi
}
impossible_compilers() {
  local c s only="-fsyntax-only -I."
  # shellcheck disable=SC2086
  {
    for c in $(c_compilers); do
      one_sentence "C90" "needs C99" "$c" -std=c90 $only "$work/whole.c"
      one_sentence "not GCC or Clang" "needs GCC or Clang" "$c" -D__TINYC__ $only "$work/whole.c"
    done
    for c in $(cpp_compilers); do
      for s in c++11 c++14; do
        one_sentence "$s" "needs C..17's" "$c" -std=$s $only "$work/whole.cpp"
      done
    done
    if ! have tcc; then skip "tcc: not there"
    else one_sentence "tcc" "needs GCC or Clang" tcc -I. -c "$work/whole.c" -o "$work/tcc.o"
    fi
    if [ "$(uname -m)" != x86_64 ]; then skip "x87: not an x86"
    else one_sentence "x87" "x87 cannot" gcc -mfpmath=387 $only "$work/whole.c"
    fi
  }
}
# What the command line says of a*b + c holds again behind the implementation.
contraction() {
  local how
  if ! have clang; then skip "contraction of the user's code: not clang"; return; fi
  { cat "$work/whole.c"
    echo 'float after(float a, float b, float c);'
    echo 'float after(float a, float b, float c) { return a * b + c; }'
  } > "$work/after.c"
  for how in off on fast; do
    # shellcheck disable=SC2086
    check "-ffp-contract=$how" clang $fast -ffp-contract=$how -I. -S -emit-llvm "$work/after.c" \
      -o "$work/after.ll"
    awk '/define.*@after\(/, /^}/' "$work/after.ll" | grep -oE 'fmuladd|fmul contract|fmul float' |
      head -n 1 > "$work/found"
    case $how-$(cat "$work/found") in
      'off-fmul float' | on-fmuladd | 'fast-fmul contract') pass ;;
      *) fail "-ffp-contract=$how does not hold behind the implementation" "$work/found" ;;
    esac
  done
}

# ---- THE TABLE ----
# One line adds an operation, wherever it stands, and changes no other: here beside sin and tan, whose
# loops are looked for by their places in the table.
write_functions() {
  cat > "$work/functions.c" << 'END'
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#define SAME(name, f) bad += differs(#name, gt_##name(NULL, x), f, values)
static int differs(const char *name, gt_tensor *y, double (*f)(double), const double *x) {
  int bad = 0;
  for (int i = 0; i < 200 && !bad; i++) {
    const double got = gt_item(gt_select(y, 0, i)), expected = f(x[i]);
    bad = !(fabs(got - expected) <= 1e-5 * fabs(expected) + 1e-6);
    if (bad) printf("%s(%g) is %g, not %g\n", name, x[i], got, expected);
  }
  return bad;
}
static double twice(double x) { return 2 * x; }
static double thrice(double x) { return 3 * x; }
int main(void) {
  double values[200];
  int bad = 0;
  for (int i = 0; i < 200; i++) values[i] = (float)((i - 99.5) / 101);
  GT_SCOPE {
    gt_tensor *wide = gt_from_ptr(values, GT_SHAPE(200), GT_FLOAT64, gt_cpu(), NULL, NULL);
    const gt_tensor *x = gt_to_dtype(wide, GT_FLOAT32);
    SAME(twice, twice), SAME(thrice, thrice), SAME(sin, sin), SAME(cos, cos), SAME(tan, tan);
    SAME(asin, asin), SAME(acos, acos), SAME(atan, atan), SAME(sinh, sinh), SAME(cosh, cosh);
    SAME(tanh, tanh), SAME(exp, exp), SAME(exp2, exp2), SAME(expm1, expm1), SAME(log1p, log1p);
    SAME(erf, erf);
  }
  printf("%s\n", gt_error_message());
  return bad || gt_error();
}
END
}
table_grows() {
  mkdir -p "$work/grown"
  sed -e 's/X(sin, 1, [^\\]*/& X(twice, 1, ARITH, LIGHT, GT__ADD(a, a), gt__add_i64(a, a)) /' \
    -e 's/X(cos, 1, [^\\]*/& X(thrice, 1, ARITH, LIGHT, GT__MUL(a, 3), gt__mul_i64(a, 3)) /' \
    $header > "$work/grown/gputensor.h"
  write_functions
  check "a grown table builds" "$(quick_c)" -O0 "-I$work/grown" "$work/functions.c" -lm -lpthread -o "$work/functions"
  check "a grown table changes nothing else" "$work/functions"
}
# A dtype more does not compile before each place knows it that lists them.
dtypes_grow() {
  local sentence
  sed 's/GT_FLOAT64, GT_DTYPES/GT_FLOAT64, GT_UINT16, GT_DTYPES/' $header > "$work/grown/gputensor.h"
  for sentence in "GT__DTYPES has gt_dtype" "each dtype has a row in GT__MEMORY_TYPES" "of two dtypes the later"; do
    refuse "a dtype more" "$sentence" "$(quick_c)" -DGPUTENSOR_PLAIN -fsyntax-only "-I$work/grown" "$work/functions.c"
  done
}

# ---- names ----
standard_includes() { # without CUDA's
  grep -hE '^ *# *include <' $header | grep -vE 'cuda|omp\.h' | sort -u | while read -r line; do
    name=${line#*<}
    name=${name%>*}
    # those of other systems stand behind an #if
    printf '#if __has_include(<%s>)\n#include <%s>\n#endif\n' "$name" "$name"
  done
}
macros_of() { gcc -std=gnu99 -dM -E -I. "$1" | awk '{ print $2 }' | sed 's/(.*//' | sort -u; }
leaked_macros() {
  standard_includes > "$work/includes.c"
  macros_of "$work/includes.c" > "$work/others"
  macros_of "$work/whole.c" > "$work/macros"
  something_in "$work/others" "macros of the C library"
  something_in "$work/macros" macros
  comm -13 "$work/others" "$work/macros" | grep -vE "$ours"
}
leaked_types() {
  grep -nE '^(typedef )?(struct|union|enum) [A-Za-z_]+|^} [A-Za-z_]+;' $header $kernels > "$work/types"
  something_in "$work/types" types
  grep -vE ':(typedef )?(struct|union|enum) (alignas\([0-9]+\) )?gt_|:} gt_' "$work/types"
}
names() {
  local ours='^(gt_|GT_|GPUTENSOR_)'
  empty "these macros leave $header" leaked_macros
  # Static data and functions too; "name.5" is a variable inside a function.
  only_symbols "these symbols leave $header" "" "$work/main_c.o" "$ours|\\.|^main$"
  empty "these types leave the files" leaked_types
}

# ---- the files' own order ----
contents_of() { # the words of the table of contents
  awk '/^ *CONTENTS/ { on = 1; sub(/\(.*\)/, "") } /CONVENTIONS|NOTATION/ { on = 0 } on' "$1" |
    grep -oE '>>[a-z][a-z0-9-]*'
}
marks_of() { grep -oE '^/\* ---- >>[a-z][a-z0-9-]*' "$1" | grep -oE '>>.*'; }
unequal_contents() { # in the order of the file
  contents_of "$1" > "$work/contents"
  marks_of "$1" > "$work/marks"
  something_in "$work/contents" contents
  diff "$work/contents" "$work/marks" | grep '^[<>]'
}
# A >>word anywhere leads to a section of one of the files.
lost_references() {
  { marks_of $header; marks_of $kernels; } | sort -u > "$work/marks"
  grep -oE '>>[a-z][a-z0-9-]+' "$1" | grep -vx '>>word' | sort -u > "$work/words"
  something_in "$work/words" references
  comm -23 "$work/words" "$work/marks"
}
order() {
  local f
  for f in $header $kernels; do
    if [ -z "$(marks_of "$f")" ]; then fail "$f has no marks"; fi
    empty "$f: contents (<) and sections (>) differ" unequal_contents "$f"
    empty "$f: no such section" lost_references "$f"
    empty "$f: tabs, or blanks at line ends" grep -nE '[[:space:]]$|	' "$f"
  done
  if have python3; then
    empty "density, beside test/density.txt" python3 test/density.py --check density.txt
    empty "names, beside test/names.txt" python3 test/names.py --check names.txt
  else skip "how dense the files are, and what they name: no python3"
  fi
}

# ---- the programs in the documentation ----
quick_start() { # the first program in the header's first comment
  awk '/#define GPUTENSOR_IMPLEMENTATION/ { on = 1 } on { sub(/^       /, ""); print } on && /^}/ { exit }' \
    $header > "$work/quick_start.c"
}
# Every ```c block becomes a file; one without main is put into one.
readme_blocks() {
  awk -v out="$work/readme" '
    /^```c$/ { n++; on = 1; next }
    /^```/ { on = 0 }
    on { print > (out n ".c") }' README.md
  local f
  for f in "$work"/readme*.c; do
    [ -f "$f" ] || continue
    if grep -q 'int main' "$f"; then continue; fi
    { printf '#define GPUTENSOR_IMPLEMENTATION\n#include "gputensor.h"\n#include <stdio.h>\n'
      printf 'int main(void) {\n'; cat "$f"; printf 'return gt_error() != GT_OK;\n}\n'
    } > "$f.tmp" && mv "$f.tmp" "$f"
  done
}
build_and_run() { # NAME FILE [OBJECTS]
  # shellcheck disable=SC2086
  check "$1 builds" $compiler $fast -I. "$2" $3 -lm -lpthread -o "${2%.c}" || return
  [ -x "${2%.c}" ] || return
  check "$1 runs" "${2%.c}"
  if [ ! -s "$work/log" ]; then fail "$1 prints nothing"; fi
}
# A command in a comment or a block, with the lines that continue it, as one line.
commands_of() { # FILE COMMAND
  sed -e :a -e '/\\$/N; s/ *\\\n */ /; ta' "$1" | sed -n "s/^ *\($2  *-.*\)$/\1/p" | sed 's/  *#.*//; s/   *(.*)$//'
}
# README.md's blocks of cc are run as they stand, in a folder like a user's. Behind the first, cc makes
# the library in the cheapest way: what a block adds are its files and its options.
write_cheap_cc() { # FOLDER
  mkdir -p "$1"
  printf '#!/bin/sh\nexec "%s" "$@" %s\n' "$(command -v cc)" "$fast" > "$1/cc"
  chmod +x "$1/cc"
}
run_blocks() {
  local folder=$work/project n=0 block commands=""
  mkdir -p "$folder"
  write_cheap_cc "$work/cheap"
  cp -r $header examples "$folder"
  awk -v out="$work/block" '
    /^```sh$/ { n++; on = 1; next }
    /^```/ { on = 0 }
    on && !/^nvcc/ { print > (out n ".sh") }' README.md
  for block in $(grep -l '^cc ' "$work"/block*.sh); do
    n=$((n + 1))
    cp "$work/readme1.c" "$folder/app.c"
    if grep -q gputensor.o "$block"; then
      grep -v '^#define GPUTENSOR_IMPLEMENTATION' "$work/readme1.c" > "$folder/app.c"
    fi
    check "README.md's $(grep -m 1 '^cc ' "$block")" \
      env "PATH=$commands$PATH" bash -ec "cd '$folder' && . '$block' && { [ ! -x app ] || ./app; }"
    commands=$work/cheap:
    rm -f "$folder/app"
  done
  if [ $n -lt 3 ]; then fail "README.md has $n blocks with cc"; fi
}
# Whole programs take too long for each; what they are compiled with is looked at, with the library for
# the header's own command and without it for the others'.
example_commands() {
  local f command library=""
  for f in $header examples/*.c; do
    command=$(commands_of "$f" cc | head -n 1)
    if [ -z "$command" ]; then fail "$f has no command with cc"; continue; fi
    cp "$work/quick_start.c" "$work/app.c"
    command=${command/ app.c/ -I. $work/app.c}
    # shellcheck disable=SC2086
    check "$f: $command" ${command% -o *} $library -fsyntax-only
    library=-DGPUTENSOR_LINKED
  done
}
# README.md shows the functions that recipes.c tests.
same_recipes() {
  awk '/^```C$/ { on = 1; next } /^```/ { on = 0 } on' README.md > "$work/shown"
  awk '/^\/\* ---- end of the recipes/ { on = 0 } on; /^\/\* ---- recipes/ { on = 1 }' test/recipes.c > "$work/tested"
  something_in "$work/shown" recipes
  diff "$work/shown" "$work/tested"
}
# Drawn again from their texts they are the same bytes; the curve's text is what lesson 09 prints.
learned() { sed -n 's/^\(epoch .* %\).*/\1/p' "$1"; }
pictures() {
  local printed=$work/lessons/09_train_digits.out
  if have python3; then empty "pictures" python3 test/pictures.py
  else skip "pictures: no python3"
  fi
  if ! [ -f "$printed" ]; then skip "examples/pictures/training.txt: no make"; return; fi
  learned "$printed" > "$work/curve"
  something_in "$work/curve" "epochs of lesson 09" > "$work/nothing"
  learned examples/pictures/training.txt | diff - "$work/curve" >> "$work/nothing"
  empty "examples/pictures/training.txt: make -C examples pictures" cat "$work/nothing"
}
# What the lessons print, times and the like apart, is what examples/expected has. A library that is
# optimised saves their seconds; run.sh has one already.
lessons() {
  local f name compiler=gcc options="-O1"
  if ! have make; then skip "examples: no make"; return; fi
  if [ -z "$GCC_LIBRARY" ]; then compiler=$(quick_c) options="-O1 -DGPUTENSOR_PLAIN"; fi
  for f in examples/[0-9]*.c; do
    name=$(basename "$f" .c)
    check "$f prints what examples/expected/$name.txt says" make -s -C examples CC="$compiler" \
      CFLAGS="$options" OUT="$work/lessons" ${GCC_LIBRARY:+LIBRARY="$GCC_LIBRARY"} "check-$name"
  done
}
# What the comment at a lesson's head shows is what it prints, on the CPU, pretend GPUs or an H200; a line
# with "..." is the begin of one. Those with timelines are compared by heads.py and pretend.sh.
blanked() { LC_ALL=C sed -E -f examples/expected/blank.sed | sed 's/ *$//'; }
heads_differ() {
  local f name line
  for f in examples/[0-9]*.c examples/[0-9]*.cu; do
    name=$(basename "${f%.c*}")
    case $name in 05*|06*|07*|11*) continue ;; esac
    cat "examples/expected/$name"*.txt | blanked > "$work/printed"
    sed '/^\*\//q' "$f" | sed -nE '/^   Output/,/^   (T|On an )/s/^       //p' | blanked | sed 's/ *\.\.\..*//' > "$work/shown"
    something_in "$work/shown" "lines in the head of $f"
    while IFS= read -r line; do
      grep -qF -- "$line" "$work/printed" || echo "$f: is not printed: $line"
    done < "$work/shown"
  done
}
documents() {
  local f name compiler
  compiler=$(quick_c)
  order
  quick_start
  build_and_run "the header's first program" "$work/quick_start.c"
  if ! [ -f README.md ]; then skip "README.md: not there"; else readme_blocks; fi
  for f in "$work"/readme*.c; do
    if [ -f "$f" ]; then build_and_run "README.md's $(basename "$f" .c)" "$f"; fi
  done
  run_blocks
  empty "README.md's recipes, beside test/recipes.c" same_recipes
  example_commands
  lessons
  empty "what the heads of examples show" heads_differ
  pictures
  # The map of the lessons: its lines are where it says, and its words are printed there.
  if have python3; then check "examples/README.md" python3 examples/map.py --check
  else skip "examples/README.md: no python3"
  fi
  # Those of several files have a script, which says "skipped:" where something is missing.
  for f in examples/[0-9]*/check.sh; do
    name=$(basename "$(dirname "$f")")
    if ! have make; then skip "examples/$name: no make"; continue; fi
    if [ "$name" = 16_drop_in ] && ! have patch; then skip "examples/$name: no patch"; continue; fi
    # what is compared needs no library of its own, nor the best of five runs
    check "examples/$name" env RUNS=1 OBJECTS="$GCC_LIBRARY" make -s -C examples OUT="$work/lessons" "check-$name"
    if grep -q '^skipped: ' "$work/log"; then skip "$(sed -n 's/^skipped: //p' "$work/log")"; fi
  done
}

# ---- CUDA ----
# No GPU is needed to compile. -Ofc max leaves out the device compiler's optimisations: they would
# take a minute for each architecture. Speed and results are test/gpu.sh's business.
cuda_include() { # where nvcc's own headers are
  local f
  f=$(echo '#include <cuda_runtime_api.h>' | nvcc -x cu -M - 2> /dev/null |
      tr ' ' '\n' | grep '/cuda_runtime_api\.h$' | head -n 1)
  dirname "$f"
}
quick_nvcc() { # options that make this nvcc fast
  if nvcc --help | grep -q -- '--Ofast-compile'; then echo "-Ofc max"; else echo "-O0 -Xptxas -O0"; fi
}
no_gpu_program() {
  cat > "$work/app.c" << 'END'
#define GPUTENSOR_IMPLEMENTATION
#include "gputensor.h"
#include <string.h>
int main(void) {
  const gt_device best = gt_best_device(), asked = gt_cuda(0);
  printf("available: %d, reason: \"%s\"\n", gt_cuda_is_available(), gt_cuda_unavailable_reason());
  printf("asked for cuda:0: \"%s\"\n", gt_error_message());
  printf("built: %s\n", gt_build_info());
  if (!gt_cuda_is_available()) {
    if (asked.type != GT_NO_DEVICE || gt_error() != GT_ERROR_DEVICE) return 1;
    if (!*gt_cuda_unavailable_reason() || best.type != GT_CPU) return 2;
    gt_clear_error();
  }
  GT_SCOPE {
    gt_tensor *x = gt_eval(NULL, "a + 1", gt_ones(GT_SHAPE(3), GT_FLOAT32, best));
    if (gt_item(gt_sum(NULL, x, GT_ALL, 0)) != 6) return 3;
  }
  return gt_error() ? 4 : 0;
}
END
  # shellcheck disable=SC2086
  check "nvcc builds a C file" nvcc $fast -Xcompiler -Wall,-Wextra -I. "$work/app.c" \
    "$work/kernels_80.o" -o "$work/app" -lpthread
  check "it runs, without a GPU on the CPU" "$work/app"
  cp "$work/app.c" "$work/app.cu"
  check "nvcc takes a .cu file" nvcc -cuda -arch=sm_80 --Werror all-warnings -I. "$work/app.cu" \
    -o "$work/app.ii"
  sed 's/^/  /' "$work/log"
}
# How the library learns what its kernels were built with: the shared memory of a kernel that is never
# launched, here from the compiler's report. --use_fast_math is refused by it at the first use.
expect_probe() { # NAME [CONSTANT-OF-THE-KERNELS]
  local expected=0 found
  if [ -n "$2" ]; then expected=$(grep -oE "$2 = [0-9]+" $kernels | head -n 1 | tr -dc 0-9); fi
  found=$(awk '/Compiling entry.*gt__probe_kernel/ { on = 1 } on && /Used/ {
    print match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART, RLENGTH - 11) : 0; exit }' "$work/log")
  if [ "$found" = "$expected" ]; then pass
  else fail "$1: the probe kernel has $found bytes of shared memory, not $expected"
  fi
}
# Their options are known to this nvcc, and their files are there. It wants a GPU for "native".
nvcc_commands() {
  local f command folder=$work/project
  mkdir -p "$folder"
  cp -r $header $kernels examples "$folder"
  quick_start
  cp "$work/quick_start.c" "$folder/app.c"
  for f in $header README.md examples/*.c; do
    case $f in */12_cpu_ladder.c) continue ;; esac # it is for a CPU
    commands_of "$f" nvcc > "$work/commands"
    if [ ! -s "$work/commands" ]; then fail "$f has no command with nvcc"; fi
    while read -r -u 3 command; do
      check "$f: $command" bash -c "cd '$folder' && ${command/native/sm_80} --dryrun"
    done 3< "$work/commands"
  done
}
cuda() {
  local fast_options include arch bench
  if ! have nvcc; then skip "CUDA: no nvcc"; return; fi
  fast_options=$(quick_nvcc)
  include=$(cuda_include)
  # shellcheck disable=SC2086
  check "C99 with CUDA's headers" gcc -std=c99 $strict -DGPUTENSOR_CUDA "-I$include" -I. \
    -fsyntax-only "$work/whole.c"
  # shellcheck disable=SC2086
  check "C++17 with CUDA's headers" g++ -std=c++17 $strict -DGPUTENSOR_CUDA "-I$include" -I. \
    -fsyntax-only "$work/whole.cpp"
  for arch in 75 90a; do
    # shellcheck disable=SC2086
    check "the ladder for sm_$arch" nvcc $fast_options -Xcompiler -Wall,-Wextra --Werror all-warnings \
      -gencode=arch=compute_$arch,code=sm_$arch -I. -c examples/12_matmul_ladder.cu -o "$work/ladder_$arch.o"
  done
  for arch in 75 80 90a; do
    # shellcheck disable=SC2086
    check "kernels for sm_$arch" nvcc $fast_options -Xcompiler -Wall,-Wextra --Werror all-warnings \
      -Xptxas -v -gencode=arch=compute_$arch,code=sm_$arch -I. -c $kernels -o "$work/kernels_$arch.o"
    expect_probe "sm_$arch" "$(if [ $arch = 90a ]; then echo GT__PROBE_HOPPER; fi)"
  done
  check "plain kernels" nvcc $fast_options -Xcompiler -Wall,-Wextra --Werror all-warnings -arch=sm_80 \
    -DGPUTENSOR_PLAIN -I. -c $kernels -o "$work/kernels_plain.o"
  refuse "GPUTENSOR_NO_TENSOR_CORES" "GPUTENSOR_WAYS" nvcc -DGPUTENSOR_NO_TENSOR_CORES -arch=sm_80 -I. -cuda \
    $kernels -o "$work/kernels.ii"
  grep '^enum { GT__PROBE' $kernels > "$work/probe.cu"
  sed -n '/^extern.*__nvvm_reflect/p; /gt__probe_kernel(/,/^}/p' $kernels >> "$work/probe.cu"
  check "the probe with --use_fast_math" nvcc --use_fast_math -Xptxas -v -arch=sm_75 \
    -c "$work/probe.cu" -o "$work/probe.o"
  expect_probe "--use_fast_math" GT__PROBE_FLUSHES
  nvcc_commands
  for bench in peers streams; do
    # shellcheck disable=SC2086
    check "bench/$bench.c with CUDA" gcc -Wall -Wextra -Werror $fast -DGPUTENSOR_CUDA "-I$include" \
      -I. -fsyntax-only test/bench/$bench.c
  done
  no_gpu_program
}

# ---- benchmarks ----
# They compile, so that they are there when they are wanted. Running them takes a quiet machine.
benchmarks() {
  local f
  # shellcheck disable=SC2086
  check "bench/peers.c" gcc -std=c99 $strict $fast -fsyntax-only -I. test/bench/peers.c
  if ! have python3; then skip "test/bench/*.py: no python3"; return; fi
  for f in test/bench/*.py; do
    check "$f" python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$f"
  done
}

# ---- the plan ----
run_part() {
  work=$root/test/build/compile/$1
  rm -rf "$work"
  mkdir -p "$work"
  write_sources
  case $1 in
    standards) name_missing_compilers; standards; static_library; linked; two_languages; no_threads
      frames; weight; refusals; impossible_compilers; contraction; table_grows; dtypes_grow; names ;;
    documents) documents; benchmarks ;;
    cuda) cuda ;;
    *) fail "there is no part $1" ;;
  esac
}
for part in "${@:-standards documents cuda}"; do
  for one in $part; do run_part "$one"; done
done
printf 'compile: %d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed = 0 ]
