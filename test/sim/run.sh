#!/bin/bash
# The library's CUDA code on the simulated runtime: its own tests, failures of every call, and random
# programs on three simulated GPUs, of gcc the most, whose CPU side is plain. The sanitized build runs all
# test programs, with --device cuda and on the CPU, there also by the plain ways; that against races those
# about streams, on both; gcc's, with SIM_ALL=1, all too.
#   bash sim/run.sh CONFIG                    CONFIG: gcc, sanitized (ASan, UBSan) or race (TSan)
#   bash sim/run.sh CONFIG PROGRAMS [SEED]    only that many random programs
# Prints a line for each program and, last, "sim CONFIG: N passed, N failed, N skipped".
cd "$(dirname "$0")/.." || exit 1
config=${1:-gcc}
programs=$2
first=${3:-1}
time_limit=280
build=build/sim-$config
export LC_ALL=C
passed=0 failed=0 skipped=0
complaint='^[^ ]+:[0-9]+: |^FAILED|^sim: |runtime error:|ERROR: |WARNING: ThreadSan'

limited() { if command -v timeout > /dev/null; then timeout "$time_limit" "$@"; else "$@"; fi; }
case $config in
  gcc) flags="-O1 -g1 -DGPUTENSOR_PLAIN" library_flags="-Wall -Wextra -Wpedantic -Werror" ;; # a plain header
  sanitized)
    flags="-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
    flags="$flags -DGPUTENSOR_CHECK_HANDLES"
    library_flags= ;;
  race) flags="-O1 -g1 -fsanitize=thread" library_flags= ;;
  *) echo "usage: sim/run.sh gcc|sanitized|race [SEEDS]"; exit 1 ;;
esac
# Hostile sizes must come back as a NULL, as from the C library, and not stop the program.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-allocator_may_return_null=1:halt_on_error=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

compile() { # OUTPUT ARGUMENTS...
  local output=$1
  shift
  # shellcheck disable=SC2086
  gcc $flags -Isim -I.. "$@" -o "$build/$output" >> "$build/build.log" 2>&1
}
build_library() {
  rm -rf "$build"
  mkdir -p "$build"
  # shellcheck disable=SC2086
  compile lib.o -std=c99 $library_flags -c sim/lib.c &&
    compile sim.o -std=c99 -Wall -Wextra -Wpedantic -Werror -c sim/sim.c &&
    compile hooks.o -c hooks.c
}
# The counts are in the program's last line; an exit code that says otherwise is a failure.
run_program() { # TITLE PROGRAM ARGUMENTS...
  local title=$1 program=$2 log=$build/${1// /-}.log line p f s code
  shift 2
  limited "$build/$program" "$@" > "$log" 2>&1
  code=$?
  line=$(grep -E '^[A-Za-z0-9_ -]+: [0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
  read -r p f s <<< "$(echo "${line##*: }" | tr -dc '0-9 \n')"
  if [ -z "$line" ] || { [ $code -ne 0 ] && [ "$f" -eq 0 ]; }; then p=0 f=1 s=0; fi
  if [ "$f" -ne 0 ]; then grep -E "$complaint" "$log" | head -n 60; fi
  echo "$title: $p passed, $f failed, ${s:-0} skipped (exit code $code)"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
}
# A program of these tests or of the simulator's own.
run_source() { # NAME SOURCE ARGUMENTS...
  local name=$1 source=$2
  shift 2
  if compile "$name" -std=gnu11 -Wall -Wextra -DGPUTENSOR_CUDA "$source" "$build"/{lib,sim,hooks}.o -lm -lpthread; then
    run_program "$name" "$name" "$@"
    return
  fi
  tail -n 30 "$build/build.log"
  echo "$name: 0 passed, 1 failed, 0 skipped (does not build)"
  failed=$((failed + 1))
}
run_all() {
  local program
  run_source sim-self sim/self.c
  if [ "$config" = gcc ]; then run_source sim-failures sim/failures.c
  else run_source sim-failures sim/failures.c --quick
  fi
  for program in $(grep -l '^int main' -- *.c); do
    case $config-$program in
      race-stream.c | race-async.c | race-graph.c | race-trace.c | sanitized-*) ;;
      gcc-*) [ -n "$SIM_ALL" ] || [ "$program" = programs.c ] || continue ;;
      *) [ "$program" = programs.c ] || continue ;;
    esac
    if [ "$program-$config" = programs.c-gcc ]; then
      SIM_DEVICES=3 run_source programs programs.c --device cuda
    elif [ "$program" = programs.c ]; then
      SIM_DEVICES=3 run_source programs programs.c --device cuda --quick
    else
      run_source "${program%.c}" "$program" --device cuda --quick
    fi
    if [ "$config" != gcc ] && [ "$program" != every_kernel.c ]; then # that one compares devices
      run_program "${program%.c} cpu" "${program%.c}" --device cpu --quick
      case $program in ops.c | reduce.c | matmul.c | tensor.c | scan.c)
        GPUTENSOR_WAYS=plain run_program "${program%.c} cpu plain" "${program%.c}" --device cpu --quick ;;
      esac
    fi
  done
}

if ! build_library; then
  tail -n 30 "$build/build.log"
  failed=1
elif [ -n "$programs" ]; then
  time_limit=86400
  SIM_DEVICES=3 run_source programs programs.c --device cuda --programs "$programs" --seed "$first"
  grep '^programs ' "$build/programs.log"
else
  run_all
fi
echo "sim $config: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
