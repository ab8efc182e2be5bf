#!/bin/sh
# The library as a shared one, the plain ways alone, which compile fastest; and called from Python.
#
#     sh examples/21_other_libraries/check.sh [FOLDER]     FOLDER, where to build: a new one
#
# Without python3 it says so and does nothing. fft.c is for a GPU.
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v python3 > /dev/null; then
  echo "skipped: 21_other_libraries: no python3"
  exit 0
fi
work=${1:-$(mktemp -d)} || exit 1
mkdir -p "$work" && cd "$here/../.." || exit 1
cc -O1 -DGPUTENSOR_PLAIN -DGPUTENSOR_IMPLEMENTATION -fPIC -shared -I. -x c gputensor.h -lm -lpthread \
  -o "$work/libgputensor.so" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
python3 "$here/from_python.py" "$work/libgputensor.so" || exit 1
for python in python3 /usr/bin/python3; do # NumPy may be the system's
  if "$python" -c 'import numpy' 2> /dev/null; then break; fi
done
"$python" "$here/dlpack.py" "$work/libgputensor.so" > "$work/dlpack.txt" || { cat "$work/dlpack.txt"; exit 1; }
sed -n 's/^skipped: numpy/skipped: 21_other_libraries: numpy/p' "$work/dlpack.txt" >&2
[ $# -gt 0 ] || rm -r "$work"
