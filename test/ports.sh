#!/bin/bash
# The library on another system: built without a warning, two examples, and the short form of the
# operation tests, whose digest has to be that of all other runs.
#   ports.sh PORT DIRECTORY     everything is built in DIRECTORY, logs are DIRECTORY/NAME.log
#   musl      x86-64 with musl, whose threads have stacks of 128 KiB
#   i386      32 bits
#   s390x     big-endian, by emulation
#   windows   x86-64 by MinGW-w64, under wine
# A port whose tools are missing is skipped, by name. Prints "port NAME: N passed, N failed, N skipped".
cd "$(dirname "$0")" || exit 1
port=$1
build=$2
[ -n "$build" ] || { echo "usage: ports.sh musl|i386|s390x|windows DIRECTORY"; exit 1; }
passed=0 failed=0 skipped=0
have() { command -v "$1" > /dev/null 2>&1; }
# The first of these commands that is there.
first_of() { for c in "$@"; do if have "$c"; then echo "$c"; return; fi; done; }
skip() {
  printf 'skipped: port %s: %s\n' "$port" "$1"
  skipped=$((skipped + 1))
}
pass() { passed=$((passed + 1)); }
fail() { # NAME WHAT: with the end of its log
  printf 'FAILED %s: %s\n%s\n' "$1" "$2" "$(tail -n 20 "$build/$1.log" | sed 's/^/    /')"
  failed=$((failed + 1))
}
end() {
  printf 'port %s: %d passed, %d failed, %d skipped\n' "$port" $passed $failed $skipped
  [ $failed = 0 ]
  exit
}

# ---- what a port is built with: FLAGS for library and programs, RUN before a program's name ----
configure() {
  FLAGS="-O1 -DGPUTENSOR_PLAIN" RUN="" PROGRAMS="ops" BEFORE="" # BEFORE: what the library comes after
  HOW="" # by emulation what others have judged is not judged again
  case $port in
    musl) CC=$(first_of musl-gcc) FLAGS="$FLAGS $fma" PROGRAMS="ops stream threads order" ;;
    i386) # only the tests' reference wraps around
      CC=$(first_of i686-linux-gnu-gcc) FLAGS="$FLAGS -static -msse2 -mfpmath=sse -fwrapv" ;;
    s390x)
      CC=$(first_of s390x-linux-gnu-gcc) RUN=$(first_of qemu-s390x qemu-s390x-static)
      FLAGS="$FLAGS -static" HOW=--by-digest ;;
    windows)
      CC=$(first_of x86_64-w64-mingw32-gcc) FLAGS="$FLAGS -static $fma" PROGRAMS="ops stream"
      RUN=$(first_of wine64 wine /usr/lib/wine/wine64) BEFORE="-include windows.h"
      export WINEPREFIX=$PWD/$build/wine WINEDEBUG=-all ;;
    *) echo "there is no port $port"; exit 1 ;;
  esac
  [ -n "$CC" ] || { skip "no compiler for it"; end; }
  case $port in s390x | windows) [ -n "$RUN" ] || { skip "nothing that runs its programs"; end; } ;; esac
}
# musl's and MinGW-w64's fma are not those of IEEE 754 and not needed where there is the instruction.
find_fma() {
  fma=""
  if grep -qw fma /proc/cpuinfo 2> /dev/null; then fma=-mfma; fi
  case $port in musl | windows) [ -n "$fma" ] || { skip "a processor without FMA"; end; } ;; esac
}
# Wine may be there and not start; a kernel need not run 32 bits.
check_that_programs_run() {
  echo 'int main(void) { return 42; }' > "$build/probe.c"
  compile probe "$build/probe.c" && run probe
  [ $? = 42 ] || { skip "its programs do not run here"; end; }
}

# ---- steps ----
compile() { # NAME ARGUMENTS...: a program
  local name=$1
  shift
  # shellcheck disable=SC2086
  "$CC" $FLAGS "$@" -lm -lpthread -o "$build/$name.exe" > "$build/$name.log" 2>&1
}
run() { # NAME ARGUMENTS...: what it prints becomes its log, without carriage returns
  local name=$1 code
  shift
  # shellcheck disable=SC2086
  $RUN "$build/$name.exe" "$@" > "$build/$name.out" 2> "$build/$name.errors"
  code=$?
  tr -d '\r' < "$build/$name.out" > "$build/$name.log"
  tr -d '\r' < "$build/$name.errors" >> "$build/$name.log"
  return $code
}
build_library() {
  # shellcheck disable=SC2086
  if "$CC" $FLAGS $BEFORE -std=c99 -Wall -Wextra -Wpedantic -Werror -c lib.c -o "$build/lib.o" \
      > "$build/library.log" 2>&1 &&
      "$CC" $FLAGS -c hooks.c -o "$build/hooks.o" >> "$build/library.log" 2>&1; then pass
  else fail library "does not build without a warning"; end
  fi
}
example() { # NAME ARGUMENTS...: with the library that is there
  local name=$1
  shift
  grep -v '^#define GPUTENSOR_IMPLEMENTATION' "../examples/$name.c" > "$build/$name.c"
  if ! compile "$name" -I.. "$build/$name.c" "$build/lib.o" "$build/hooks.o"; then
    fail "$name" "does not build"
    return 1
  fi
  run "$name" "$@" || { fail "$name" "exit code $?"; return 1; }
}
# The output that its first comment promises.
hello() {
  example 01_hello || return
  sed -n '/^ *computing on cpu/,/^\*\//s/^       //p' ../examples/01_hello.c > "$build/hello.txt"
  if [ -s "$build/hello.txt" ] && diff "$build/hello.txt" "$build/01_hello.log" > /dev/null; then pass
  else fail 01_hello "does not print what its comment says"
  fi
}
# It reads files, of little-endian numbers, and multiplies; its first loss does not depend on how.
digits() {
  example 09_train_digits --epochs 1 --data ../examples/data || return
  if grep -q '^epoch *1 *loss 1\.25' "$build/09_train_digits.log"; then pass
  else fail 09_train_digits "has another loss"
  fi
}
program() { # NAME: of the tests
  local line p f s code
  # shellcheck disable=SC2086
  if ! compile "$1" -std=gnu11 -Wall -Wextra "$1.c" "$build/lib.o" "$build/hooks.o"; then
    fail "$1" "does not build"
    return
  fi
  # shellcheck disable=SC2086
  run "$1" --quick $HOW
  code=$?
  line=$(grep -E '^[a-z_]+: [0-9]+ passed, [0-9]+ failed' "$build/$1.log" | tail -n 1)
  line=$(echo "${line##*: }" | tr -dc '0-9 \n')
  p=${line%% *} f=$(echo "$line" | awk '{ print $2 }') s=$(echo "$line" | awk '{ print $3 }')
  if [ -z "$p" ] || { [ $code -ne 0 ] && [ "${f:-0}" -eq 0 ]; }; then fail "$1" "exit code $code"; return; fi
  grep '^skipped:' "$build/$1.log"
  if [ "$f" -ne 0 ]; then grep -E -A 3 '^[^ ]+:[0-9]+: ' "$build/$1.log" | head -n 40; fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
}
# Without the instruction the library must not go on with that C library's fma.
needs_fma() {
  local flags=$FLAGS
  FLAGS="-O0 -DGPUTENSOR_PLAIN -static"
  compile refused -I.. ../examples/01_hello.c
  FLAGS=$flags
  run refused
  if grep -q "fma rounds twice" "$build/refused.log"; then pass
  else fail refused "a processor without FMA is not refused"
  fi
}

find_fma
configure
mkdir -p "$build"
check_that_programs_run
build_library
hello
digits
for name in $PROGRAMS; do program "$name"; done
if [ "$port" = windows ]; then needs_fma; fi
end
