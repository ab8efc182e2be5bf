#!/bin/sh
# Two processes with MPI: on the CPU, their gradients as they are and by pinned memory, and on two pretend
# GPUs; the losses have to be the same. README.md says what to look at.
#
#     sh examples/20_beyond_one_machine/check.sh [FOLDER]     FOLDER, where to build: a new one
#
# Without mpicc and mpirun it says so and does nothing.
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
if ! command -v mpicc > /dev/null || ! command -v mpirun > /dev/null; then
  echo "skipped: 20_beyond_one_machine: no mpicc or no mpirun: apt-get install libopenmpi-dev openmpi-bin"
  exit 0
fi
work=${1:-$(mktemp -d)} || exit 1
mkdir -p "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of tests in containers
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 # others may need the cores
stop() { echo "wrong: $1" >&2; cat "$work/log" >&2; exit 1; }
two() { mpirun -n 2 "$@" > "$work/out" 2> "$work/log" || stop "$*"; cat "$work/out"; }
losses() { grep -o 'loss of epoch 1 [0-9.]*, of epoch 3 [0-9.]*' "$work/out"; }
same() { losses > "$work/now"; diff "$work/losses" "$work/now" > "$work/log" || stop "other losses"; }
# What computes is compiled once: the lesson has the library elsewhere.
mpicc -O1 -DGPUTENSOR_PLAIN -Itest/sim -c test/sim/lib.c -o "$work/lib.o" 2> "$work/log" || stop "test/sim/lib.c"
mpicc -O2 -Wall -Wextra -Werror -I. -DGPUTENSOR_LINKED "$here/with_mpi.c" test/sim/sim.c test/hooks.c "$work/lib.o" \
  -Itest/sim -lm -lpthread -o "$work/with_mpi" 2> "$work/log" || stop "it does not build"
export SIM_DEVICES=2 SIM_MEMORY=256

two "$work/with_mpi" --device cpu --trace "$work/trace"
losses > "$work/losses"
[ "$(wc -l < "$work/losses")" = 4 ] || stop "there are not four lines with losses"
for rank in 0 1; do
  [ "$(grep -c '"name":"MPI_Allreduce' "$work/trace-$rank.json")" = 3 ] || stop "the trace of process $rank"
done
two "$work/with_mpi" --device cpu --pinned
same
two "$work/with_mpi" --device cuda
same
echo "the losses are the same on the CPU, by pinned memory and on two pretend GPUs"
