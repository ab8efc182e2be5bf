"""Products on the CPU beside PyTorch's (MKL), in one process and on the same memory.

    matmul_cpu.py [--only REGEX] [--threads N,N...] [--seconds N] [LIBRARY]

LIBRARY is peers.c as a shared object; without it, it is built into test/build. Both are called from
Python, a microsecond or two a call, and share one OpenMP run-time library and so its threads. They
take turns for some rounds; printed are both medians and the median of the rounds' ratios: above 1,
the library is the faster. A number of threads gets --seconds; what does not fit is left out.
"""
import argparse
import ctypes
import math
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from rounds import compare

ROOT = pathlib.Path(__file__).resolve().parents[2]
options = argparse.ArgumentParser(description="products beside PyTorch's on the CPU")
options.add_argument("--only", default="", metavar="REGEX", help="of 'group MxNxK form dtype'")
options.add_argument("--threads", default=f"{len(os.sched_getaffinity(0))},1", metavar="N,N")
options.add_argument("--seconds", type=float, default=120)
options.add_argument("library", nargs="?")
options = options.parse_args()
COUNTS = [int(n) for n in options.threads.split(",")]
os.environ["OMP_NUM_THREADS"] = str(max(COUNTS))
import torch
torch.set_grad_enabled(False)


def share_openmp():
    """PyTorch's own libgomp serves the library, too: two of them would fight for the cores."""
    with open("/proc/self/maps") as maps:
        found = [line.split()[-1] for line in maps if "libgomp" in line]
    if found:
        ctypes.CDLL(found[0], mode=ctypes.RTLD_GLOBAL)


def build():
    made = ROOT / "test" / "build" / "peers-cpu.so"
    sources = [ROOT / "test/bench/peers.c", ROOT / "gputensor.h"]
    if not made.exists() or made.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        made.parent.mkdir(exist_ok=True)
        subprocess.run(["cc", "-O2", "-fopenmp", "-fPIC", "-shared", "-I", str(ROOT),
                        str(sources[0]), "-lm", "-lpthread", "-o", str(made)], check=True)
    return str(made)


class Shape(ctypes.Structure):
    _fields_ = [("ndim", ctypes.c_int), ("size", ctypes.c_int64 * 8)]


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


share_openmp()
lib = ctypes.CDLL(options.library or build())
for name in ("gt_from_ptr", "gt_transpose", "gt_matmul"):
    getattr(lib, name).restype = ctypes.c_void_p
for name in ("gt_matmul", "gt_free"):
    getattr(lib, name).argtypes = [ctypes.c_void_p] * (3 if name == "gt_matmul" else 1)
lib.gt_transpose.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
for name in ("gt_build_info", "gt_error_message", "bench_device_name"):
    getattr(lib, name).restype = ctypes.c_char_p


def check(result):
    if not result:
        sys.exit("the library: " + lib.gt_error_message().decode())
    return result


def handle(x, transposed):
    """The library's view of a matrix, stored transposed or not."""
    shape = Shape(2, (ctypes.c_int64 * 8)(*x.shape))
    dtype = {torch.float64: 9, torch.float32: 8, torch.bfloat16: 7}[x.dtype]
    t = check(lib.gt_from_ptr(ctypes.c_void_p(x.data_ptr()), shape, dtype, Device(1, 0), None, None))
    if not transposed:
        return t
    view = check(lib.gt_transpose(t, 0, 1))
    lib.gt_free(t)
    return view


def stopwatch(f, times):
    def run():
        start = time.perf_counter()
        for _ in range(times):
            f()
        return (time.perf_counter() - start) / times * 1e6
    return run


ROW = "{:<8} {:<18} {:<3} {:<8} {:>7} {:>12} {:>12} {:>9} {:>6}"


def product(group, m, n, k, form, dtype, threads):
    """One line; returns the ratio."""
    shapes = [(m, k) if form[0] == "N" else (k, m), (k, n) if form[1] == "N" else (n, k)]
    a, b = (torch.rand(s, dtype=dtype) - 0.5 for s in shapes)
    c, ours = torch.zeros(m, n, dtype=dtype), torch.zeros(m, n, dtype=dtype)
    x, y, z = handle(a, form[0] == "T"), handle(b, form[1] == "T"), handle(ours, False)
    va, vb = a if form[0] == "N" else a.T, b if form[1] == "N" else b.T
    theirs = stopwatch(lambda: torch.mm(va, vb, out=c), 1)
    theirs()
    once = min(theirs(), theirs())
    times = max(1, min(10000, round(3000 / once)))
    rounds = 3 if once > 3e5 else 5 if once > 3e4 else 11
    us, peer_us, ratio = compare(rounds, stopwatch(lambda: lib.gt_matmul(z, x, y), times),
                                 stopwatch(lambda: torch.mm(va, vb, out=c), times))
    far = 1e-2 if dtype == torch.bfloat16 else 1e-4
    wrong = "" if (c - ours).abs().max() <= far * c.abs().max() else " WRONG"
    print(ROW.format(group, f"{m}x{n}x{k}", form, str(dtype)[6:], threads, f"{us:.2f}",
                     f"{peer_us:.2f}", f"{2e-3 * m * n * k / us:.1f}", f"{ratio:.2f}") + wrong,
          flush=True)
    for t in (x, y, z):
        lib.gt_free(t)
    return ratio


SKINNY = [(1, 4096, 4096, "NN"), (1, 4096, 4096, "NT"), (4096, 1, 4096, "NN"),
          (4, 2048, 2048, "NN"), (4, 2048, 2048, "NT"), (8, 4096, 4096, "NN"),
          (14, 2048, 2048, "NN"), (16, 2048, 2048, "NN"), (16, 2048, 2048, "NT"),
          (16, 1760, 1760, "NN"), (32, 2560, 2560, "NT"), (64, 2560, 2560, "NT"),
          (2048, 16, 512, "NN"), (2048, 10, 512, "NT"), (512, 10, 2048, "TN"),
          (64, 64, 8192, "NT"), (10000, 32, 32, "NN"), (1000, 1000, 1, "NN"), (64, 10, 128, "NN")]


def cases():
    for n in (512, 1024, 2048, 4096):
        for dtype in (torch.float32, torch.float64):
            yield "square", n, n, n, "NN", dtype
    for n in (512, 1024, 2048, 4096):
        for form in ("NN", "NT"):
            yield "bfloat16", n, n, n, form, torch.bfloat16
    for n in (8, 16, 32, 48, 64, 96, 100, 128, 256):
        yield "small", n, n, n, "NN", torch.float32
    for m, n, k, form in SKINNY:
        yield "skinny", m, n, k, form, torch.float32


def main():
    print(f"{lib.bench_device_name(0).decode()}, torch {torch.__version__}, "
          f"{lib.gt_build_info().decode()}\n")
    print(ROW.format("group", "MxNxK", "", "dtype", "threads", "ours us", "peer us", "GFLOP/s",
                     "ratio"))
    for threads in COUNTS:
        torch.set_num_threads(threads)
        lib.omp_set_num_threads(threads)
        end, found = time.perf_counter() + options.seconds, {}
        for case in cases():
            text = "{} {}x{}x{} {} {}".format(*case)
            if time.perf_counter() < end and re.search(options.only, text):
                found.setdefault(case[0], []).append(product(*case, threads))
        for group, ratios in found.items():
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{group}, {threads} threads: geometric mean of {len(ratios)} {mean:.2f}, "
                  f"worst {min(ratios):.2f}\n")


main()
