#!/bin/bash
# Builds and runs all that this machine can run, two jobs at a time, and counts. Parts that it cannot
# run are named. "run.sh quick" takes one compiler and short runs.
#
# Every test/NAME.c with a main is a program. The library is compiled once for each of these:
#   gcc        all instruction sets, OpenMP            all programs in full; each set, and each way of
#                                                      doing each primitive, forced with --quick
#   clang      the same                                all with --quick
#   plain      gcc, the plain ways alone               all with --quick
#   native     gcc, -march=native                      products and operations with --quick
#   arm64      a cross compiler; NEON, by emulation    matmul, ops, environment with --quick; ops judged
#                                                      by its digest, which is that of the other runs
# ports.sh does so for musl, 32 bits, a big-endian machine and Windows: ops and two examples.
# And gcc's runs two as on a processor without AVX2 and FMA, by emulation, whose bits may differ.
# sim/run.sh runs the CUDA side of the library on a simulated CUDA runtime, in three builds, and the
# CPU side in that with ASan and UBSan and, of programs about streams, in that with TSan.
# pretend.sh runs the lessons on it, with its model of time.
# The digests that programs print must be equal in all --quick runs: other compiler, other
# instruction set, other number of threads, same bits.
cd "$(dirname "$0")" || exit 1
mode=${1:-all}
build=build
jobs_at_once=2
time_limit=280                 # a guard against hanging, in seconds for one program
export LC_ALL=C
export OMP_WAIT_POLICY=passive # two programs share the cores: waiting threads must not spin

# ---- what this machine has ----
have() { command -v "$1" > /dev/null 2>&1; }
limited() { if have timeout; then timeout "$time_limit" "$@"; else "$@"; fi; }
# Does a program built with these options start? Sanitizers may link and still refuse the kernel.
works() {
  local probe=$build/probe/$RANDOM$RANDOM
  echo 'int main(void) { return 0; }' > "$probe.c"
  "$@" "$probe.c" -o "$probe" > /dev/null 2>&1 && "$probe" > /dev/null 2>&1
}
programs() { grep -l '^int main' -- *.c | sed 's/\.c$//'; }

# Sets CC, FLAGS, LIBRARY_FLAGS (the library must be free of warnings), OBJECTS, where the programs' own
# objects are, with which options they are made, and what programs run on. What the library's options do
# not change is compiled once: programs of the same objects differ in the library.
configure() {
  local strict="-std=c99 -Wall -Wextra -Wpedantic -Werror"
  EMULATOR="" OBJECTS=$1 OBJECT_FLAGS="-O1"
  case $1 in
    gcc) CC=gcc FLAGS="-O2 $gcc_openmp -DGPUTENSOR_DISPATCH" LIBRARY_FLAGS="$strict -fstack-usage" ;;
    clang) # clang is quick at O0 alone
      CC=clang FLAGS="-O2 $clang_openmp" LIBRARY_FLAGS=$strict OBJECT_FLAGS="-O0" ;;
    plain)
      CC=gcc FLAGS="-O2 $gcc_openmp -DGPUTENSOR_PLAIN" LIBRARY_FLAGS="$strict -fstack-usage" OBJECTS=gcc ;;
    native) # gcc fuses a*b + c by itself, which must not reach the library
      CC=gcc FLAGS="-O2 $gcc_openmp -march=native" LIBRARY_FLAGS="$strict -ffp-contract=fast" OBJECTS=gcc ;;
    arm64)
      # it fuses, too, nor must that reach the inputs of the tests
      CC=aarch64-linux-gnu-gcc FLAGS="-O2 -static" EMULATOR=qemu-aarch64
      LIBRARY_FLAGS="$strict -ffp-contract=fast" OBJECT_FLAGS="-O1 -ffp-contract=off" ;;
  esac
  case $OBJECTS in
    gcc) OBJECT_FLAGS="$OBJECT_FLAGS $gcc_openmp" ;;
    clang) OBJECT_FLAGS="$OBJECT_FLAGS $clang_openmp" ;;
  esac
}

# ---- jobs ----
# A job writes its output to a log, its counts to a file and its lines to the screen when it is over.
start() {
  while [ "$(jobs -rp | wc -l)" -ge "$jobs_at_once" ]; do wait -n; done
  "$@" &
}
count() { echo "$2 $3 $4" > "$build/counts/$1"; } # NAME passed failed skipped
skip() {
  printf 'skipped: %s\n' "$1"
  count "skip-${1//[^a-z0-9]/-}" 0 0 1
}
log_of() { echo "$build/logs/${1// /-}.log"; }
# No process substitution here: some containers have no /dev/fd.

complaint='^[^ ]+:[0-9]+: |^FAILED|runtime error:|ERROR: |WARNING: ThreadSan'
failed_job() { # TITLE REASON: with the end of its log
  printf '%s: 0 passed, 1 failed (%s)\n%s\n' "$1" "$2" "$(tail -n 30 "$(log_of "$1")" | sed 's/^/    /')"
  count "${1// /-}" 0 1 0
}
# Reads "...: N passed, N failed[, N skipped]" from the log. An exit code that says otherwise (a
# sanitizer's report at exit, say) is a failure of its own.
finished_job() { # TITLE EXIT-CODE
  local log line p f s
  log=$(log_of "$1")
  line=$(grep -E '^[A-Za-z0-9_ -]+: [0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
  if [ -z "$line" ]; then failed_job "$1" "ended without its line, exit code $2"; return; fi
  read -r p f s <<< "$(echo "${line##*: }" | tr -dc '0-9 \n')"
  if [ "$2" -ne 0 ] && [ "$f" -eq 0 ]; then failed_job "$1" "exit code $2"; return; fi
  if [ "$f" -ne 0 ]; then
    printf '%s\n' "$(grep -E -A 3 "$complaint" "$log" | head -n 60 | sed 's/^/    /')"
  fi
  printf '%s\n' "$(grep '^skipped:' "$log"; echo "$1: ${line##*: }, $(($(date +%s) - began)) s")"
  count "${1// /-}" "$p" "$f" "${s:-0}"
}

# ---- the library and the programs ----
build_library() { # CONFIG
  local title="$1 library" began
  began=$(date +%s)
  configure "$1"
  mkdir -p "$build/$1"
  # shellcheck disable=SC2086
  if $CC $FLAGS $LIBRARY_FLAGS -c lib.c -o "$build/$1/lib.o" > "$(log_of "$title")" 2>&1 &&
      $CC $FLAGS -c hooks.c -o "$build/$1/hooks.o" >> "$(log_of "$title")" 2>&1; then
    printf '%s: built, %s s\n' "$title" $(($(date +%s) - began))
    echo yes > "$build/$1/done"
  else
    failed_job "$title" "does not build"
    echo no > "$build/$1/done"
  fi
}
library_is_there() { # CONFIG; its job was started before, so this ends
  while [ ! -s "$build/$1/done" ]; do sleep 0.2; done
  [ "$(cat "$build/$1/done")" = yes ]
}

# Makes a file, if it is not there; two jobs may make the same one at once.
make_file() { # FILE LOG COMMAND..., which writes what is named behind it
  local file=$1 log=$2
  shift 2
  if [ -f "$file" ]; then return; fi
  "$@" "$file-$BASHPID" >> "$log" 2>&1 && mv "$file-$BASHPID" "$file"
}
build_program() { # CONFIG NAME LOG
  local object=$build/objects-$OBJECTS/$2.o
  : > "$3"
  mkdir -p "$build/objects-$OBJECTS"
  # shellcheck disable=SC2086
  make_file "$object" "$3" $CC $OBJECT_FLAGS -I.. -std=gnu11 -Wall -Wextra -c "$2.c" -o &&
    make_file "$build/$1/$2" "$3" $CC $FLAGS "$object" "$build/$1/lib.o" "$build/$1/hooks.o" -lm -lpthread -o
}
run_program() { # CONFIG NAME VARIANT ARGUMENTS...: the variant names the log
  local config=$1 name=$2 title="$2 $1 $3" log program began
  shift 3
  log=$(log_of "$title")
  program=$build/$config/$name
  began=$(date +%s)
  library_is_there "$config" || return
  configure "$config"
  if ! build_program "$config" "$name" "$log"; then failed_job "$title" "does not build"; return; fi
  # shellcheck disable=SC2086
  limited ${emulator:-$EMULATOR} "./$program" "$@" >> "$log" 2>&1
  finished_job "$title" $?
}
run_as() { # INSTRUCTIONS THREADS NAME: a set that the machine lacks is ignored by the library
  export GPUTENSOR_CPU=$1 OMP_NUM_THREADS=$2
  run_program gcc "$3" "quick-$1-$2-threads" --quick
}
# Writes "cpu matmul panels" and so on, the ways that the library has, to build/ways.
list_ways() {
  : > "$build/ways"
  library_is_there gcc || return
  configure gcc
  build_program gcc ways "$build/logs/list-of-ways.log" && "$build/gcc/ways" --list > "$build/ways"
}
run_by() { # WAY NAME: the operations that it takes go that way, others the plain one
  export GPUTENSOR_WAYS=$1 OMP_NUM_THREADS=3
  run_program gcc "$2" "quick-by-$1" --quick
}
program_of() { # KIND, a primitive: its program
  case $1 in copy) echo tensor ;; map) echo ops ;; order) echo ordering ;; *) echo "$1" ;; esac
}
run_ways() {
  local _ kind way
  list_ways
  while read -r -u 3 _ kind way; do start run_by "$way" "$(program_of "$kind")"; done 3< "$build/ways"
}
run_emulated() { # PROCESSOR NAME
  local emulator="qemu-x86_64 -cpu $1"
  run_program gcc "$2" "on-$1" --quick
}
run_compile() { # PART of compile.sh, whose examples need a library, and its frames
  if [ "$1" = standards ] && library_is_there gcc && library_is_there plain; then
    export GCC_FRAMES="$PWD/$build/gcc/lib.su $PWD/$build/plain/lib.su"
  fi
  if [ "$1" = documents ] && library_is_there gcc; then
    export GCC_LIBRARY="$PWD/$build/gcc/lib.o $PWD/$build/gcc/hooks.o $gcc_openmp"
  fi
  run_script "compile $1" bash compile.sh "$1"
}
run_script() { # TITLE COMMAND...
  local title=$1 began
  shift
  began=$(date +%s)
  "$@" > "$(log_of "$title")" 2>&1
  finished_job "$title" $?
}

# ---- after all programs ----
compare_digests() {
  local name digests
  for name in $(programs); do
    digests=$(cat "$build"/logs/"$name"-*-quick*.log "$build"/sim-*/"$name"{,-cpu,-cpu-plain}.log \
                "$build"/port-*/"$name".log 2> /dev/null |
              sed -n "s/^digest $name //p" | grep -v cbf29ce484222325)
    # A product is within its bound on each instruction set, not bit-equal.
    if [ "$name" = matmul ] || [ -z "$digests" ]; then continue; fi
    if [ "$(echo "$digests" | wc -l)" -eq 1 ]; then skip "digest of $name, of one run"; continue; fi
    if [ "$(echo "$digests" | sort -u | wc -l)" -eq 1 ]; then count "digest-$name" 1 0 0; continue; fi
    grep -H "^digest $name" "$build"/{logs,sim-*,port-*}/"$name"*.log
    echo "digest of $name: 0 passed, 1 failed (not equal in all --quick runs)"
    count "digest-$name" 0 1 0
  done
}
# A way that was forced and takes nothing is not tested, whatever its programs say. AMX needs its
# processor: there its way takes nothing.
check_ways() {
  local device kind way
  while read -r device kind way; do
    if grep -q "^way $device $kind $way " "$build/logs/$(program_of "$kind")"-*-by-"$way".log 2> /dev/null; then
      count "way-$device-$kind-$way" 1 0 0
    elif [ "$way" = amx ] && ! grep -qw amx_bf16 /proc/cpuinfo; then skip "the way amx: no such processor"
    else
      echo "way $way of $kind, $device: 0 passed, 1 failed (was forced, and never ran)"
      count "way-$device-$kind-$way" 0 1 0
    fi
  done < "$build/ways"
}
total() { # the last line and the exit code
  cat "$build"/counts/* | awk '
    { p += $1; f += $2; s += $3 }
    END {
      printf "%d passed, %d failed", p, f
      if (s) printf ", %d skipped", s
      print ""
      exit f != 0 || p == 0
    }'
}

# ---- the plan ----
prepare() {
  rm -rf "$build"
  mkdir -p "$build/probe" "$build/logs" "$build/counts" "$build/messages"
  gcc_openmp="" clang_openmp=""
  if works gcc -fopenmp; then gcc_openmp=-fopenmp; else skip "OpenMP with gcc"; fi
  if ! have clang; then skip "clang"
  elif works clang -fopenmp; then clang_openmp=-fopenmp
  else skip "OpenMP with clang"
  fi
  # Hostile sizes must come back as a NULL, as from the C library, and not stop the program.
  local options=allocator_may_return_null=1
  export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=$options:halt_on_error=1
  if ASAN_OPTIONS=detect_leaks=1 works gcc -fsanitize=address; then options=$options:detect_leaks=1
  else options=$options:detect_leaks=0; skip "LeakSanitizer"
  fi
  export ASAN_OPTIONS=$options
}
run_all() {
  local name sanitized=0 race=0 arm64=0
  if works gcc -fsanitize=address,undefined; then sanitized=1; else skip "ASan and UBSan"; fi
  if works gcc -fsanitize=thread; then race=1; else skip "TSan"; fi
  if have aarch64-linux-gnu-gcc && have qemu-aarch64; then arm64=1; else skip "arm64"; fi
  start build_library gcc
  if have clang; then start build_library clang; fi
  start build_library plain
  start build_library native
  if [ $arm64 = 1 ]; then start build_library arm64; fi
  if [ -f compile.sh ]; then
    for name in cuda standards documents; do start run_compile $name; done
  fi
  # the slowest first, so that no long one is alone at the end
  if [ $sanitized = 1 ]; then start run_script "sim sanitized" bash sim/run.sh sanitized
  else export SIM_ALL=1            # somewhere all programs must run
  fi
  start run_script "sim gcc" bash sim/run.sh gcc
  if have make; then start run_script "pretend" bash pretend.sh $build/pretend; else skip "pretend"; fi
  if [ $race = 1 ]; then start run_script "sim race" bash sim/run.sh race; fi
  if [ $arm64 = 1 ]; then
    for name in matmul environment; do start run_program arm64 $name quick --quick; done
    start run_program arm64 ops quick --quick --by-digest
  fi
  for name in s390x windows i386 musl; do
    if [ -f ports.sh ]; then start run_script "port $name" bash ports.sh $name $build/port-$name; fi
  done
  if [ "$(uname -m)" = x86_64 ] && have qemu-x86_64; then
    for name in ops tensor; do start run_emulated Nehalem $name; done
  else skip "x86 without fused multiply-adds"
  fi
  for name in $(programs); do
    start run_program gcc "$name" full --messages "$build/messages/$name"
  done
  for name in $(programs); do
    if have clang; then start run_program clang "$name" quick --quick; fi
  done
  for name in $(programs); do start run_program plain "$name" quick --quick; done
  for name in ops reduce matmul; do start run_program native $name quick --quick; done
  for name in ops random reduce tensor; do
    start run_as plain 1 $name
    start run_as avx2 2 $name
    start run_as avx512 5 $name
  done
  run_ways
  start run_as plain 1 matmul
  start run_as avx2 2 matmul
  OMP_THREAD_LIMIT=3 start run_as avx512 7 matmul # a team may be smaller than asked for
  wait
  if [ -f errors.sh ]; then run_script "errors" sh errors.sh "$build/messages"; fi
  compare_digests
  check_ways
}
run_quick() {
  local name
  start build_library gcc
  for name in $(programs); do start run_program gcc "$name" quick --quick; done
  wait
}

have gcc || { echo "gcc is needed"; echo "0 passed, 1 failed"; exit 1; }
prepare
"run_$mode"
total
