#!/bin/bash
# For a machine with a GPU: builds everything with nvcc, runs all test programs and examples on the
# GPU, compares their results with the CPU's, and looks for faults with compute-sanitizer. Each way of
# doing a primitive is forced over its table; a full header meets plain kernels and the other way round.
#   gpu.sh [tests|ways|sanitizers|examples|all]...   ways: a part of the tests
# Where there are several GPUs, each run has another of them as its first.
cd "$(dirname "$0")/.." || exit 1
parts=${*:-all}
build=test/build/gpu
builds_at_once=$(nproc)
gpus=$(nvidia-smi -L 2> /dev/null | grep -c '^GPU')
runs_at_once=$((4 * (gpus > 0 ? gpus : 1))) # four share a GPU, and a program uses several cores
turn=0
tables="ops reduce matmul scan ordering scatter tensor every_kernel" # what each mixture and way has to do right
time_limit=240                 # a guard against hanging, in seconds for one step
export LC_ALL=C
export OMP_WAIT_POLICY=passive # programs share the cores: waiting threads must not spin
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}

# ---- steps ----
# A step writes to a log, leaves its counts in a file and prints one line; on failure also its log.
have() { command -v "$1" > /dev/null 2>&1; }
limited() { timeout "$time_limit" "$@"; }
log_of() { echo "$build/logs/${1//[^A-Za-z0-9_]/-}.log"; }
count() { echo "$2 $3 $4" > "$build/counts/${1//[^A-Za-z0-9_]/-}"; } # TITLE passed failed skipped
passed() { # TITLE [WHAT]
  printf 'ok      %s%s\n' "$1" "${2:+: $2}"
  count "$1" 1 0 0
}
failed() { # TITLE WHAT
  printf 'FAILED  %s: %s\n%s\n' "$1" "$2" "$(tail -n 40 "$(log_of "$1")" 2> /dev/null | sed 's/^/    /')"
  count "$1" 0 1 0
}
at_most() { # N: waits until fewer jobs than that run
  while [ "$(jobs -rp | wc -l)" -ge "$1" ]; do wait -n; done
}
a_turn() { # waits for a place to run; what begins next sees all GPUs, its first is the next in turn
  at_most $runs_at_once
  if [ "$gpus" -gt 1 ]; then
    turn=$(((turn + 1) % gpus))
    CUDA_VISIBLE_DEVICES=$(seq -s , $turn $((gpus - 1)))$([ $turn = 0 ] || seq -s , 0 $((turn - 1)) | sed 's/^/,/')
    export CUDA_VISIBLE_DEVICES
  fi
}
asks_for() { # PART...: whether one of them is to be done
  local part
  for part in all "$@"; do case " $parts " in *" $part "*) return 0 ;; esac; done
  return 1
}
seconds() { echo "$(($(date +%s) - $1)) s"; }
step() { # TITLE COMMAND...: it succeeds
  local title=$1 began code
  shift
  began=$(date +%s)
  limited "$@" > "$(log_of "$title")" 2>&1
  code=$?
  if [ $code = 0 ]; then passed "$title" "$(seconds "$began")"
  else failed "$title" "exit code $code after $(seconds "$began")"
  fi
  return $code
}
# A test program, whose last line has the counts.
program_step() { # TITLE COMMAND...
  local title=$1 began code line p f s
  shift
  began=$(date +%s)
  limited "$@" > "$(log_of "$title")" 2>&1
  code=$?
  line=$(grep -E '^[a-z_]+: [0-9]+ passed, [0-9]+ failed' "$(log_of "$title")" | tail -n 1)
  read -r p f s <<< "$(echo "${line##*: }" | tr -dc '0-9 \n')"
  if [ -z "$line" ] || { [ $code != 0 ] && [ "$f" = 0 ]; }; then
    failed "$title" "exit code $code after $(seconds "$began")"
    return
  fi
  grep '^skipped:' "$(log_of "$title")"
  if [ "$f" != 0 ]; then
    failed "$title" "${line##*: }"
    grep -E -A 3 '^[^ ]+\.[ch]:[0-9]+: ' "$(log_of "$title")" | head -n 60
  else passed "$title" "${line##*: }, $(seconds "$began")"
  fi
  count "$title" "$p" "$f" "${s:-0}"
}

# ---- building ----
programs() { (cd test && grep -l '^int main' -- *.c | sed 's/\.c$//'); }
examples() { (cd examples && grep -l '^int main' -- *.c | sed 's/\.c$//'); }
target() { # nvcc's option for this GPU
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -dc 0-9)
  # Hopper's own instructions exist as sm_90a only, which -arch would compile for later GPUs, too
  if [ "$capability" = 90 ]; then capability=90a; fi
  echo "-gencode=arch=compute_$capability,code=sm_$capability"
}
build_objects() {
  local split=
  if nvcc --help | grep -q -e -split-compile; then split="-split-compile 0"; fi
  step "build kernels" nvcc -O3 $split -lineinfo "$(target)" \
    -Xcompiler -Wall,-Wextra,-fPIC -I. -c gputensor_kernels.cu -o $build/kernels.o &
  step "build library" nvcc -O2 -Xcompiler -fopenmp,-Wall,-Wextra -c test/lib.c -o $build/lib.o &
  step "build hooks" nvcc -O2 -c test/hooks.c -o $build/hooks.o &
  step "build plain kernels" nvcc -O3 "$(target)" -DGPUTENSOR_PLAIN -Xcompiler -Wall,-Wextra \
    -I. -c gputensor_kernels.cu -o $build/plain_kernels.o &
  step "build plain library" nvcc -O2 -DGPUTENSOR_PLAIN -Xcompiler -fopenmp,-Wall,-Wextra \
    -c test/lib.c -o $build/plain_lib.o &
  [[ $(target) == *90a ]] && # what Ampere runs, on a Hopper
    step "build kernels without Hopper's own" nvcc -O3 $split -arch=sm_90 -I. -c gputensor_kernels.cu \
      -o $build/ampere.o &
}
build_program_object() { # NAME
  step "compile $1" nvcc -O2 -Xcompiler -Wall,-Wextra -I. -c "test/$1.c" -o "$build/$1.o"
}
build_example_object() { # NAME
  step "compile example $1" nvcc -O2 -Xcompiler -fopenmp -I. -c "examples/$1.c" -o "$build/example-$1.o"
}
link_with_kernels() { # TITLE PROGRAM OBJECTS...
  local title=$1 program=$2
  shift 2
  step "$title" nvcc -Xcompiler -fopenmp "$(target)" "$@" $build/kernels.o -lpthread \
    -o "$program"
}
link_mixed() { # PROGRAM NAME LIBRARY KERNELS: to PROGRAM-NAME, if its objects are there
  [ -f "$build/$1.o" ] && [ -f "$build/$3.o" ] && [ -f "$build/$4.o" ] || return
  step "link $1, $2" nvcc -Xcompiler -fopenmp "$(target)" "$build/$1.o" "$build/$3.o" $build/hooks.o \
    "$build/$4.o" -lpthread -o "$build/$1-$2"
}
has_torch() { python3 -c 'import torch' > /dev/null 2>&1; }
link_for_python() {
  printf '#define GPUTENSOR_IMPLEMENTATION\n#include "gputensor.h"\n' > $build/shared.c
  step "link gputensor.so" nvcc -O2 -shared -Xcompiler -fPIC,-fopenmp "$(target)" -I. $build/shared.c \
    $build/kernels.o -lpthread -o $build/gputensor.so
}
# All that is slow to compile at once; linking comes when the kernels are there.
build_all() {
  local name
  build_objects
  for name in $(programs); do at_most $builds_at_once; build_program_object "$name" & done
  if asks_for examples; then
    for name in $(examples); do at_most $builds_at_once; build_example_object "$name" & done
  fi
  wait
  for name in $(programs); do
    at_most $builds_at_once
    if [ -f "$build/$name.o" ]; then
      link_with_kernels "link $name" "$build/$name" "$build/$name.o" $build/lib.o $build/hooks.o &
    fi
  done
  for name in matmul every_kernel; do link_mixed $name ampere lib ampere & done
  if has_torch; then link_for_python & fi
  for name in $(programs); do
    at_most $builds_at_once
    link_mixed "$name" plain_kernels lib plain_kernels &
  done
  for name in $tables; do
    at_most $builds_at_once
    link_mixed "$name" plain_library plain_lib kernels &
  done
  for name in $(examples); do
    at_most $builds_at_once
    if [ -f "$build/example-$name.o" ]; then
      link_with_kernels "link example $name" "$build/example-$name" "$build/example-$name.o" &
    fi
  done
  wait
}

# ---- tests ----
run_tests() {
  local name
  refuses_fast_math &
  for name in $(programs); do
    [ -x "$build/$name" ] || continue
    a_turn
    program_step "$name on cuda" "$build/$name" --device cuda &
  done
  for name in $(programs); do run_quick "$name"; done
  for name in $([ "$(nvidia-smi -L | wc -l)" -gt 1 ] && programs); do
    [ -x "$build/$name" ] || continue
    a_turn
    program_step "$name quick on cuda:1" "$build/$name" --device cuda:1 --quick &
  done
  if [ -x "$build/matmul-ampere" ]; then
    a_turn
    program_step "matmul by ampere kernels" "$build/matmul-ampere" --device cuda &
  fi
  if [ -f $build/gputensor.so ]; then
    a_turn
    program_step "PyTorch's samples" python3 test/opinfo.py $build/gputensor.so &
  fi
  a_turn
  program_step "random programs for a minute" $build/programs --device cuda --minutes 1 --seed 1000 &
  run_mixtures
  run_ways
  wait
  check_ways
  for name in $(programs); do compare_digests "$name"; done
}
run_quick() { # NAME
  [ -x "$build/$1" ] || return
  a_turn
  program_step "$1 quick on cuda" "$build/$1" --device cuda --quick &
  a_turn
  program_step "$1 quick on cpu" "$build/$1" --device cpu --quick &
}
# The ways alone, beside quick runs that their digests are compared with.
run_ways_alone() {
  local name
  for name in $(programs); do run_quick "$name"; done
  run_mixtures
  run_ways
  wait
  check_ways
  for name in $(programs); do compare_digests "$name"; done
}
run_mixtures() {
  local name mixture
  for name in $(programs); do
    for mixture in plain_kernels plain_library; do
      [ -x "$build/$name-$mixture" ] || continue
      a_turn
      program_step "$name quick on cuda, $mixture" "$build/$name-$mixture" --device cuda --quick &
    done
  done
}
# The ways of each primitive, forced; see check_ways of run.sh.
program_of() { # KIND, a primitive: its program
  case $1 in copy) echo tensor ;; map) echo ops ;; order) echo ordering ;; *) echo "$1" ;; esac
}
run_by() { # WAY NAME
  [ -x "$build/$2" ] || return
  a_turn
  GPUTENSOR_WAYS=$1 program_step "$2 quick on cuda by $1" "$build/$2" --device cuda --quick &
}
run_ways() {
  local kind way name
  : > $build/ways.txt
  if [ -x $build/ways ]; then $build/ways --list | grep '^cuda' > $build/ways.txt; fi
  while read -r -u 3 _ kind way; do run_by "$way" "$(program_of "$kind")"; done 3< $build/ways.txt
  for way in $(awk '{ print $3 }' $build/ways.txt | sort -u); do run_by "$way" every_kernel; done
  for name in $(programs); do # the plain ways do all that there is
    case " $tables " in *" $name "*) ;; *) run_by plain "$name" ;; esac
  done
}
check_ways() {
  local device kind way
  while read -r device kind way; do
    if grep -qs "^way $device $kind $way " "$(log_of "$(program_of "$kind") quick on cuda by $way")" \
        "$(log_of "every_kernel quick on cuda by $way")"; then
      passed "the way $way of $kind" "runs"
    else failed "the way $way of $kind" "was forced, and never ran"
    fi
  done < $build/ways.txt
}
# Its quick run's, the same also for each mixture and each forced way.
# Kernels that flush tiny numbers to zero must be refused at the first use of the device.
refuses_fast_math() {
  cat > $build/fast.c << 'END'
#include "gputensor.h"
#include <string.h>
int main(void) {
  gt_free(gt_ones(GT_SHAPE(3), GT_FLOAT32, gt_cuda(0)));
  printf("%s: %s\n", gt_status_string(gt_error()), gt_error_message());
  return gt_error() == GT_ERROR_VERSION && strstr(gt_error_message(), "--use_fast_math") ? 0 : 1;
}
END
  step "build kernels with --use_fast_math" nvcc --use_fast_math -DGPUTENSOR_PLAIN \
    -Xptxas -O1 "$(target)" -I. -c gputensor_kernels.cu -o $build/fast_kernels.o || return
  step "link them" nvcc -Xcompiler -fopenmp -DGPUTENSOR_IMPLEMENTATION -I. $build/fast.c \
    $build/fast_kernels.o -lpthread -o $build/fast || return
  step "--use_fast_math is refused" $build/fast
}
digest_of() { grep "^digest $1" "$(log_of "$2")" 2> /dev/null | awk '{ print $3 }'; }
compare_digests() { # NAME: the same bits on both devices, in all quick runs
  local cuda cpu other
  cuda=$(digest_of "$1" "$1 quick on cuda")
  cpu=$(digest_of "$1" "$1 quick on cpu")
  # Products are within their bound on each device, not bit-equal; cbf2... is a digest of nothing.
  if [ "$1" = matmul ] || [ "$cpu" = cbf29ce484222325 ] || [ -z "$cpu" ]; then return; fi
  other=$(cat $build/logs/"$1"-quick-on-cuda*.log | sed -n "s/^digest $1 //p" | grep -v cbf29ce484222325 | sort -u)
  if [ "$other" != "$cpu" ]; then failed "digest of $1" "$(echo "$other" | tr '\n' ' ') on cuda, $cpu on cpu"
  elif [ "$cuda" = "$cpu" ]; then passed "digest of $1" "$cpu on both devices"
  else failed "digest of $1" "$cuda on cuda, $cpu on cpu"
  fi
}

# ---- examples ----
run_examples() {
  local name
  for name in $(examples); do
    if [ "$name" != 09_train_digits ] && [ -x "$build/example-$name" ]; then
      step "example $name" "$build/example-$name"
      case $name in 0[5-8]*|10*|13*|19*) cat "$(log_of "example $name")" ;; esac
    fi
  done
  step "example 16_drop_in" env KERNELS="$PWD/$build/kernels.o" sh examples/16_drop_in/check.sh &&
    cat "$(log_of "example 16_drop_in")"
  if has_torch; then
    step "example 22_gpt beside PyTorch" python3 examples/22_gpt.py $build/example-22_gpt &&
      cat "$(log_of "example 22_gpt beside PyTorch")"
  fi
  step "build the ladder" nvcc -O3 "$(target)" -Xcompiler -fopenmp -I. \
    examples/12_matmul_ladder.cu $build/kernels.o $build/lib.o $build/hooks.o -lpthread \
    -o $build/ladder && step "example 12_matmul_ladder" $build/ladder &&
    cat "$(log_of "example 12_matmul_ladder")"
  compare_training
}
losses() { sed -n 's/^epoch *\([0-9]*\) *loss *\([0-9.]*\).*/\1 \2/p' "$(log_of "$1")"; }
# The same seed trains the same network on both devices; products differ in their last bits, and ten
# epochs let that grow. What is printed has 4 decimals, so one unit of the last is allowed beside.
compare_training() {
  local program=$build/example-09_train_digits device
  [ -x "$program" ] || return
  for device in cpu cuda; do
    step "train on $device" "$program" --device $device --seed 1 --epochs 10 || return
  done
  losses "train on cpu" | sort > "$build/losses-cpu"
  losses "train on cuda" | sort > "$build/losses-cuda"
  join "$build/losses-cpu" "$build/losses-cuda" > "$build/losses"
  if awk '
      { allowed = ($1 == 1 ? 1e-5 : 1e-3) * $2 + 1.001e-4; d = $2 - $3; if (d < 0) d = -d }
      ($1 == 1 || $1 == 10) { seen++; if (d > allowed) bad++; print "epoch " $1 ": " $2 ", " $3 }
      END { exit bad || seen != 2 }' "$build/losses" > "$(log_of "training agrees")"; then
    passed "training agrees" "$(tr '\n' ' ' < "$(log_of "training agrees")")"
  else failed "training agrees" "losses on cpu and cuda differ"
  fi
}

# ---- sanitizers ----
write_faults() { # one fault for each tool; no argument: none
  cat > $build/faults.cu << 'END'
#include <cstdio>
#include <cstring>
enum { N = 64 };
__global__ void write(int *p, int shift) { p[threadIdx.x + shift] = 1; }
__global__ void copy(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void reverse(int *p, int wait) { /* two warps exchange through shared memory */
  __shared__ int s[N];
  s[threadIdx.x] = p[threadIdx.x];
  if (wait) __syncthreads();
  p[threadIdx.x] = s[N - 1 - threadIdx.x];
}
__global__ void meet(int *p, int first) { /* all threads of a warp must come to the same barrier */
  if (threadIdx.x < first) {
    p[threadIdx.x] += 1;
    __syncthreads();
    p[threadIdx.x] += 1;
  } else {
    p[threadIdx.x] += 2;
    __syncthreads();
    p[threadIdx.x] += 3;
  }
}
int main(int argc, char **argv) {
  const char *fault = argc > 1 ? argv[1] : "";
  int *p, *q;
  if (cudaMalloc(&p, N * sizeof *p) || cudaMalloc(&q, N * sizeof *q)) return 1;
  if (strcmp(fault, "initcheck")) cudaMemset(p, 0, N * sizeof *p);
  copy<<<1, N>>>(p, q);
  cudaMemset(p, 0, N * sizeof *p);
  write<<<1, N>>>(p, strcmp(fault, "memcheck") ? 0 : N);
  reverse<<<1, N>>>(p, strcmp(fault, "racecheck") != 0);
  meet<<<1, N>>>(p, strcmp(fault, "synccheck") ? N : N / 4);
  cudaDeviceSynchronize();
  cudaFree(p);
  cudaFree(q);
  printf("done\n");
  return 0;
}
END
}
# With several threads memcheck (2025.3) fails by itself in one run of twenty, and says so: if that is
# all that it says it is asked again, twice.
sanitizer() { # TOOL COMMAND...
  local tool=$1 output code own
  shift
  # tests make calls fail on purpose; what the library does then is checked by them
  case $tool in memcheck) set -- --report-api-errors no "$@" ;; esac
  for _ in 1 2 3; do
    output=$(compute-sanitizer --tool "$tool" --error-exitcode 9 "$@" 2>&1)
    code=$?
    own=$(grep -c 'Internal error encountered' <<< "$output")
    [ $code = 9 ] && [ "$own" -gt 0 ] && grep -q "ERROR SUMMARY: $own error" <<< "$output" || break
  done
  printf '%s\n' "$output"
  return $code
}
export -f sanitizer
catches() { # TOOL: it is silent about a good program and finds the fault planted for it
  local title="$1 catches its fault" code
  limited bash -c 'sanitizer "$@"' - "$1" $build/faults > "$(log_of "$title")" 2>&1
  code=$?
  if [ $code != 0 ]; then failed "$title" "exit code $code for a program without fault"; return; fi
  limited bash -c 'sanitizer "$@"' - "$1" $build/faults "$1" > "$(log_of "$title")" 2>&1
  code=$?
  if [ $code = 9 ]; then passed "$title"; else failed "$title" "exit code $code, not 9"; fi
}
# What exercises a tool most; each is to take about a minute, of racecheck four. initcheck does not
# see what the copy engine of a Hopper writes, so that products are not for it.
programs_for() { # TOOL
  case $1 in
    memcheck) echo every_kernel tensor expression random npy exchange stream async graph trace indexing \
      scan ordering scatter ;; # and programs
    racecheck) echo scan expression random scatter ;; # and both halves of every_kernel
    initcheck) echo tensor expression random npy stream indexing scan ;;
    synccheck) echo every_kernel expression tensor scan ordering scatter ;;
  esac
}
under_sanitizer() { # TOOL PROGRAM OPTIONS...: beside the next ones
  [ -x "$build/$2" ] || return
  local tool=$1 name=$2
  shift 2
  a_turn
  program_step "$tool $name $*" bash -c 'sanitizer "$@"' - "$tool" "$build/$name" --device cuda "$@" &
}
# Where several threads launch on several GPUs, memcheck (2025.3) has a copy engine read memory that is
# not there (Xid 31). It reports no error, and every later call fails. It does the same to a hundred
# lines of CUDA without this library. So several threads get one GPU, and all GPUs get one thread.
memcheck_programs() {
  local first
  a_turn
  first=${CUDA_VISIBLE_DEVICES:-0}
  CUDA_VISIBLE_DEVICES=${first%%,*} program_step "memcheck programs --quick" \
    bash -c 'sanitizer "$@"' - memcheck $build/programs --device cuda --quick &
  if [ "$gpus" -gt 1 ]; then under_sanitizer memcheck programs --programs 300 --threads 1; fi
}
run_sanitizers() {
  local tool name
  if ! have compute-sanitizer; then failed "sanitizers" "no compute-sanitizer"; return; fi
  write_faults
  step "build faults" nvcc -O1 -lineinfo "$(target)" $build/faults.cu -o $build/faults || return
  for tool in memcheck racecheck initcheck synccheck; do
    a_turn
    catches $tool &
  done
  wait
  time_limit=480
  under_sanitizer racecheck every_kernel --quick --rows
  under_sanitizer racecheck every_kernel --products
  for tool in racecheck memcheck initcheck synccheck; do # what takes longest comes first
    under_sanitizer $tool every_kernel-plain_kernels --quick --small
    for name in $(programs_for $tool); do under_sanitizer $tool "$name" --quick; done
    if [ $tool != initcheck ]; then under_sanitizer $tool every_kernel-ampere --products; fi
  done
  memcheck_programs
  wait
}

# ---- the plan ----
total() {
  cat $build/counts/* 2> /dev/null | awk '
    { p += $1; f += $2; s += $3 }
    END {
      printf "%d passed, %d failed", p, f
      if (s) printf ", %d skipped", s
      print ""
      exit f != 0 || p == 0
    }'
}
nothing_to_run() { # REASON
  echo "$1"
  echo "0 passed, 1 failed"
  exit 1
}
for part in $parts; do
  case $part in
    all|tests|ways|sanitizers|examples) ;;
    *) nothing_to_run "there is no part $part: tests, ways, sanitizers, examples or all" ;;
  esac
done
have nvcc || nothing_to_run "no nvcc"
have nvidia-smi || nothing_to_run "no GPU: no nvidia-smi"
nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader ||
  nothing_to_run "no GPU: nvidia-smi finds none"
began_all=$(date +%s)
rm -rf $build
mkdir -p $build/logs $build/counts
build_all
if asks_for tests; then run_tests; elif asks_for ways; then run_ways_alone; fi
if asks_for examples; then run_examples; fi
if asks_for sanitizers; then run_sanitizers; fi
echo "$(seconds "$began_all") in all"
total
