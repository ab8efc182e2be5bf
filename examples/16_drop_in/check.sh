#!/bin/sh
# An old program of two C files and a Makefile, before, with the library and with the GPU: applies the
# two diffs to a copy, builds and runs each, and compares the checksums. README.md says what to look at.
#
#     sh examples/16_drop_in/check.sh [FOLDER]     FOLDER, where to work: a new one, removed at the end
#
# Where there are nvcc and a GPU the last is built for it, which takes a minute or two: with KERNELS, a
# compiled gputensor_kernels.o, in the environment a few seconds. OBJECTS there, the library and its
# options to link with, saves compiling it again behind the first diff; RUNS is how often each is run.
cd "$(dirname "$0")" || exit 1
size="1000 501" # and steps
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}" # others may need the cores: threads must not spin
work=${1:-$(mktemp -d)} || exit 1
mkdir -p "$work" || exit 1
stop() { echo "wrong: $1" >&2; cat "$work/log" >&2; exit 1; }
run() { # TITLE PROGRAM: prints its checksum and the least of its times
  : > "$work/log"
  for _ in $(seq "${RUNS:-5}"); do
    # shellcheck disable=SC2086
    "$work/$2" $size > "$work/out" 2>> "$work/log" || stop "$2 fails"
  done
  result=$(cat "$work/out")
  printf '%-42s %s  %s\n' "$1" "$result" "$(sed 's/.*: //' "$work/log" | sort -n | head -n 1)"
}
same() { [ "$result" = "$old" ] || stop "the checksum was $old"; }
build() { make -s -C "$work" "$@" > "$work/log" 2>&1 || stop "it does not build"; }
apply() { patch -s -d "$work" -p1 < "$1" > "$work/log" 2>&1 || stop "$1 does not apply"; }
changed() { grep -c '^[-+]\([^-+]\|$\)' "$1"; } # lines that go or come

cp heat.c simulate.c Makefile ../../gputensor.h ../../gputensor_kernels.cu "$work" || exit 1
build heat
run "as it was" heat
old=$result

apply 1_library.diff
build heat
run "1_library.diff, $(changed 1_library.diff) lines" heat
same

apply 2_gpu.diff
if [ -n "$OBJECTS" ]; then
  cc -fsyntax-only "$work/simulate.c" > "$work/log" 2>&1 || stop "it does not compile as it stands"
  sed -i "s|^\tcc .*simulate.c|& -DGPUTENSOR_LINKED $OBJECTS|" "$work/Makefile"
fi
build heat
run "2_gpu.diff, $(changed 2_gpu.diff) lines, on the CPU" heat
same

# What is forgotten most: on the CPU gt_to shares the memory, and half of the time it is the right half.
mv "$work/simulate.c" "$work/right.c"
grep -v 'gt_copy(host, now)' "$work/right.c" > "$work/simulate.c"
build -B heat
run "the same without the copy back" heat
[ "$result" != "$old" ] || stop "it makes no difference"
mv "$work/right.c" "$work/simulate.c"

if command -v nvcc > /dev/null && nvidia-smi > "$work/log" 2>&1; then
  if [ -n "$KERNELS" ]; then sed -i "s|gputensor_kernels.cu|$KERNELS|" "$work/Makefile"; fi
  build heat_gpu
  run "2_gpu.diff, on the GPU" heat_gpu
  same
else echo "no GPU here: make heat_gpu would need one"
fi
echo "all checksums are equal, but for the mistake"
[ $# -gt 0 ] || rm -r "$work"
