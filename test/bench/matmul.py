"""Products on a GPU beside PyTorch's (cuBLAS), in one process and on the same memory.

    matmul.py [--only REGEX] [--quick] [--shapes FILE] [LIBRARY]

LIBRARY is peers.c, with the kernels, as a shared object; if none is given it is built into test/build.
A copy of it does all products by the way "tiled", as on a GPU without Hopper's tensor cores. FILE has lines
source,M,N,K,ta,tb as BLAS knows them; a source with "_col" has column-major matrices.

The library and PyTorch take turns for some rounds, on random data; printed are both medians and the
median of the rounds' ratios: above 1, the library is the faster. Below 50 us a round has twenty
products, behind a sleeping kernel that lasts until they are enqueued, so no host time is counted.
The products of a round go through several sets of operands, so that small ones are not found in
the L2 cache. They do not depend on each other, so that a GPU may begin one before the last has
ended, which the library lets it do on a stream of its own; "chained" are products that each read
what the one before wrote. Results are compared with float64's; the errors printed are norms of the
difference divided by the norm of the product.

Where JAX is installed and finds the GPU, HIGHEST and HIGH stand beside XLA's products of six and of
three bfloat16 pieces, on the same matrices. JAX has a stream of its own, which takes no events, so
there both are timed by the clock: of many calls, from the first one until the device has done all.
They are so large that the host is ahead of the device; JAX makes a new output at each call.
"""
import argparse
import ctypes
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn import functional as F

sys.dont_write_bytecode = True
from rounds import compare, nvcc_target

ROOT = pathlib.Path(__file__).resolve().parents[2]
options = argparse.ArgumentParser(description="products beside PyTorch's")
options.add_argument("--only", default="", metavar="REGEX", help="of 'what shape dtype'")
options.add_argument("--quick", action="store_true")
options.add_argument("--shapes", metavar="FILE")
options.add_argument("library", nargs="?")
options = options.parse_args()
HALVES = [torch.bfloat16, torch.float16]
HIGHEST, HIGH, MEDIUM = range(3)
FORMS = ["NN", "NT", "TN", "TT"]
torch.set_grad_enabled(False)
stream = torch.cuda.Stream()
torch.cuda.set_stream(stream)


# ---- the library ----
class Shape(ctypes.Structure):
    _fields_ = [("ndim", ctypes.c_int), ("size", ctypes.c_int64 * 8)]


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


def build(name):
    """The path of a shared object in test/build, made anew where it is older than its sources."""
    made = ROOT / "test" / "build" / f"{name}.so"
    sources = [ROOT / f for f in ("test/bench/peers.c", "gputensor_kernels.cu", "gputensor.h")]
    if not made.exists() or made.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        made.parent.mkdir(exist_ok=True)
        subprocess.run(["nvcc", "-O3", "-shared", "-Xcompiler", "-fPIC,-fopenmp", "-I", str(ROOT),
                        nvcc_target(*torch.cuda.get_device_capability()),
                        *map(str, sources[:2]), "-o", str(made)], check=True)
    return str(made)


class Library:
    DTYPES = {torch.float16: 6, torch.bfloat16: 7, torch.float32: 8, torch.float64: 9}

    def __init__(self, path, ways=""):
        """It reads GPUTENSOR_WAYS at its first operation, which is made here."""
        self.c = ctypes.CDLL(path)
        for name in ("gt_from_ptr", "gt_matmul", "gt_linear", "gt_matmul_eval_n", "gt_transpose"):
            getattr(self.c, name).restype = ctypes.c_void_p
        for name in ("gt_build_info", "gt_error_message"):
            getattr(self.c, name).restype = ctypes.c_char_p
        for name in ("gt_stream_create", "gt_stream_from_native", "gt_event_create"):
            getattr(self.c, name).restype = ctypes.c_void_p
        self.c.gt_event_elapsed_ms.restype = ctypes.c_double
        self.torch = self.check(self.c.gt_stream_from_native(Device(2, 0), ctypes.c_void_p(stream.cuda_stream)))
        self.stream = self.check(self.c.gt_stream_create(Device(2, 0), 0))
        self.events = [self.check(self.c.gt_event_create()) for _ in range(3)]
        self.c.gt_set_stream(self.stream)
        os.environ["GPUTENSOR_WAYS"] = ways
        one = torch.ones(1, 1, device="cuda")
        first = self.tensor(one)
        self.matmul(first, first, first)
        self.wait()
        self.c.gt_free(first)

    def check(self, result):
        if not result:
            sys.exit("the library: " + self.c.gt_error_message().decode())
        return ctypes.c_void_p(result)

    def tensor(self, array):
        """A view of PyTorch's memory: row-major, or a matrix stored transposed."""
        transposed = array.dim() > 1 and not array.is_contiguous()
        x = array.mT if transposed else array
        shape = Shape(x.dim(), (ctypes.c_int64 * 8)(*x.shape))
        t = self.check(self.c.gt_from_ptr(ctypes.c_void_p(x.data_ptr()), shape,
                                          self.DTYPES[x.dtype], Device(2, 0), None, None))
        if not transposed:
            return t
        view = self.check(self.c.gt_transpose(t, -2, -1))
        self.c.gt_free(t)
        return view

    def to_the_end(self, f, times):
        """As the function below; begins when PyTorch's stream has done what it has."""
        before, start, end = self.events
        self.c.gt_event_record(before, self.torch)
        self.c.gt_stream_wait_event(self.stream, before)
        self.c.gt_event_record(start, self.stream)
        for i in range(times):
            f(i)
        self.c.gt_event_record(end, self.stream)
        return self.c.gt_event_elapsed_ms(start, end) / times * 1e3

    def wait(self):
        self.c.gt_stream_synchronize(self.stream)

    def precision(self, wanted):
        self.c.gt_set_float32_matmul_precision(wanted)

    def matmul(self, out, a, b):
        return self.check(self.c.gt_matmul(out, a, b))

    def evaluate(self, text, out, a, b, *more):
        array = (ctypes.c_void_p * (len(more) or 1))(*more)
        return self.check(self.c.gt_matmul_eval_n(out, a, b, text.encode(), len(more), array))


# ---- operands and clocks ----
def matrix(rows, columns, form, dtype):
    shape = (rows, columns) if form == "N" else (columns, rows)
    x = (torch.rand(shape, device="cuda") * 2 - 1).to(dtype)
    return x if form == "N" else x.T


def to_the_end(f, times, lib=None):
    """Microseconds of one of `times`, of the library or of PyTorch."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    if times > 1:
        torch.cuda._sleep(4_000_000)
    if lib:
        return lib.to_the_end(f, times)
    start.record()
    for i in range(times):
        f(i)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / times * 1e3


def in_turn(lib, ours, theirs):
    """Medians in microseconds, and the ratio."""
    torch.cuda.synchronize()
    for f in (ours, theirs):
        f(0)
        f(0)
    us = to_the_end(theirs, 4)
    times = 20 if us < 50 else 4 if us < 500 else 1
    rounds = 5 if options.quick else max(5, min(25, round(2e5 / (us * times))))
    return compare(rounds, lambda: to_the_end(ours, times, lib), lambda: to_the_end(theirs, times))


def error(c, a, b):
    exact = a.double() @ b.double()
    return ((c.double() - exact).norm() / exact.norm()).item()


# ---- the table ----
ROW = "{:<22} {:<20} {:<9} {:>10} {:>10} {:>8} {:>6}  {:<7} {}"
BOUND = {torch.bfloat16: 4e-3, torch.float16: 6e-4, torch.float32: 2e-6, torch.float64: 2e-15}
ERROR_BOUND = BOUND[torch.float32], 4e-5, 6e-3  # of float32, by precision
verdicts = []


def report(what, shape, dtype, us, peer_us, ratio, operations, wanted, wrong="", more=""):
    ok = "" if wanted is None else "ok" if ratio >= wanted else "NO"
    if ok or wrong:
        verdicts.append(ok != "NO" and not wrong)
    print(ROW.format(what, shape, str(dtype)[6:], f"{us:.1f}", f"{peer_us:.1f}",
                     f"{operations / us / 1e6:.1f}", f"{ratio:.2f}",
                     "" if wanted is None else f"{wanted:.2f}", ok + wrong + more), flush=True)


def chosen(what, shape, dtype):
    return re.search(options.only, f"{what} {shape} {str(dtype)[6:]}")


def product(lib, what, m, n, k, form, dtype, precision=HIGHEST, wanted=None, chained=False):
    """One line: matrix product into given memory. Returns the ratio."""
    shape = f"{m}x{n}x{k} {form}"
    if not chosen(what, shape, dtype):
        return None
    bytes_of_one = (m * k + k * n + m * n) * dtype.itemsize
    sets = []
    for _ in range(max(1, min(20, math.ceil(2e8 / bytes_of_one)))):
        a, b = matrix(m, k, form[0], dtype), matrix(k, n, form[1], dtype)
        if chained:                      # sizes are equal, and numbers stay as large as they are
            a, b = sets[-1][0] if sets else a, b * math.sqrt(3 / k)
        c = torch.empty(m, n, dtype=dtype, device="cuda")
        sets.append((c, a, b, lib.tensor(c), lib.tensor(a), lib.tensor(b)))
    lib.precision(precision)
    us, peer_us, ratio = in_turn(lib, lambda i: lib.matmul(*sets[i % len(sets)][3:]),
                                 lambda i: torch.mm(*sets[i % len(sets)][1:3],
                                                    out=sets[i % len(sets)][0]))
    c, a, b = sets[0][:3]
    lib.matmul(*sets[0][3:])
    lib.wait()
    bound = ERROR_BOUND[precision] if dtype == torch.float32 else BOUND[dtype]
    wrong = "" if m * n * k > 1e12 or error(c, a, b) < bound else " WRONG"
    report(what, shape, dtype, us, peer_us, ratio, 2.0 * m * n * k, wanted, wrong)
    for handles in sets:
        for t in handles[3:]:
            lib.c.gt_free(t)
    lib.precision(HIGHEST)
    return ratio


def squares(lib, without):
    for dtype in HALVES:
        for n, wanted in ((1024, 1.1), (2048, 1.1), (4096, 1), (8192, 1)):
            for form in FORMS:
                product(lib, "square", n, n, n, form, dtype, wanted=wanted)
    for sizes in ((4095, 4097, 4093), (2049, 2051, 2047), (1023, 1025, 1021)):
        product(lib, "odd rows", *sizes, "NN", torch.bfloat16, wanted=3)
    for sizes, form in (((4096, 1000, 4096), "NN"), ((4096, 4096, 1000), "NT"), ((2048, 2056, 2048), "NN"),
                        ((2048, 2048, 2056), "NT")):
        product(lib, "rows off 128 bytes", *sizes, form, torch.bfloat16)
    for n in (512, 1024, 2048):
        product(lib, "chained", n, n, n, "NN", torch.bfloat16, chained=True)
    product(lib, "chained", 1024, 1024, 1024, "NN", torch.float32, chained=True)
    for n, wanted in ((1024, 1.5), (2048, 2.2), (4096, 2.55), (8192, 2.65)):
        for form in FORMS:
            product(lib, "HIGHEST", n, n, n, form, torch.float32, wanted=wanted)
    for n in (64, 128, 256):
        product(lib, "HIGHEST, small", n, n, n, "NN", torch.float32)
    for rows in (1, 4, 8, 16, 24, 48, 64, 128):
        for n, k, form in ((4096, 4096, "NN"), (4096, 4096, "NT"), (7168, 16384, "NT")):
            product(lib, "HIGHEST, few rows", rows, n, k, form, torch.float32, wanted=1 if rows > 4 else None)
            product(lib, "few rows", rows, n, k, form, torch.bfloat16)
    product(lib, "HIGHEST, few columns", 4096, 24, 4096, "TN", torch.float32, wanted=1)
    for n in (128, 256, 512, 1024, 2048):
        product(lib, "float64", n, n, n, "NN", torch.float64)
    for n in (4096, 8192):
        product(lib, "HIGH", n, n, n, "NN", torch.float32, HIGH, wanted=4.5)
        product(lib, "MEDIUM", n, n, n, "NN", torch.float32, MEDIUM)
        product(without, "without tensor cores", n, n, n, "NN", torch.float32, wanted=0.92)
        product(lib, "float64", n, n, n, "NN", torch.float64, wanted=0.85)


# ---- XLA, whose products of pieces are asked for by name ----
def xla_products():
    """Names and functions of PyTorch's tensors, which JAX reads in place."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch has memory, too
    try:
        import jax
        if jax.devices()[0].platform != "gpu":
            raise RuntimeError("JAX finds no GPU")
    except (ImportError, RuntimeError) as reason:
        print(f"XLA's X6 and X3 are left out: {reason}", flush=True)
        return {}

    def product(preset):
        dot = jax.jit(lambda a, b: jax.lax.dot(a, b, precision=preset))

        def prepared(a, b):
            torch.cuda.synchronize()
            x, y = (jax.dlpack.from_dlpack(t) for t in (a, b))
            return lambda: torch.from_dlpack(dot(x, y).block_until_ready()), lambda: dot(x, y)
        return prepared
    presets = jax.lax.DotAlgorithmPreset
    print(f"JAX {jax.__version__}", flush=True)
    return {"X6": product(presets.BF16_BF16_F32_X6), "X3": product(presets.BF16_BF16_F32_X3)}


def clocked(f, times):
    """Microseconds of one of `times` calls, until the device has done all."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        f()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times * 1e6


def beside_xla(lib, xla):
    precision_of = {"X6": ("HIGHEST", HIGHEST), "X3": ("HIGH", HIGH)}
    for m, n, k in ((2048,) * 3, (4096,) * 3, (8192,) * 3, (4096, 16384, 7168), (2048, 2048, 13312)):
        for name, prepared in xla.items():
            what, shape = f"{precision_of[name][0]}, XLA's {name}", f"{m}x{n}x{k} NN"
            if not chosen(what, shape, torch.float32):
                continue
            a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
            out = torch.empty(m, n, device="cuda")
            handles = [lib.tensor(t) for t in (out, a, b)]
            result, queued = prepared(a, b)
            lib.precision(precision_of[name][1])
            peer_error = error(result(), a, b)
            lib.matmul(*handles)
            lib.wait()
            our_error = error(out, a, b)
            us = clocked(queued, 4)
            times = max(4, min(100, round(2e4 / us)))
            figures = compare(5 if options.quick else 11, lambda: clocked(lambda: lib.matmul(*handles), times),
                              lambda: clocked(queued, times))
            report(what, shape, torch.float32, *figures, 2.0 * m * n * k, 1,
                   "" if our_error < ERROR_BOUND[precision_of[name][1]] else " WRONG",
                   f"  errors {our_error:.1e}, {peer_error:.1e}")
            lib.precision(HIGHEST)
            for t in handles:
                lib.c.gt_free(t)


def from_file(lib):
    for dtype, what, mean_wanted, worst_wanted in ((torch.bfloat16, "shapes", 1.15, 0.85),
                                                   (torch.float32, "shapes", 1.8, 0.95)):
        ratios = []
        for line in pathlib.Path(options.shapes).read_text().split()[1:]:
            source, *numbers = line.rsplit(",", 5)
            m, n, k, ta, tb = map(int, numbers)
            if "_col" in source:         # the product of the transposed matrices
                m, n, ta, tb = n, m, tb, ta
            ratios.append(product(lib, what, m, n, k, "NT"[ta] + "NT"[tb], dtype))
        ratios = [r for r in ratios if r]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            good = mean >= mean_wanted and min(ratios) >= worst_wanted
            verdicts.append(good)
            print(f"{what}, {str(dtype)[6:]}: geometric mean of {len(ratios)} {mean:.3f} "
                  f"({mean_wanted}), worst {min(ratios):.2f} ({worst_wanted}) "
                  f"{'ok' if good else 'NO'}", flush=True)


def layers(lib):
    """What follows a product in a network, in one call."""
    m, n, k = 8192, 4096, 4096
    x, w = matrix(m, k, "N", torch.bfloat16), matrix(k, n, "T", torch.bfloat16)
    bias, old = matrix(1, n, "N", torch.bfloat16)[0], matrix(m, n, "N", torch.bfloat16)
    out = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
    c, a, b, y, r = (lib.tensor(t) for t in (out, x, w, bias, old))
    for what, text, more, theirs, wanted in (
            ("relu(xw + b)", "relu(a + b)", (y,), lambda i: F.relu(F.linear(x, w.T, bias)), 1.05),
            ("gelu(xw + b)", "gelu(a + b)", (y,), lambda i: F.gelu(F.linear(x, w.T, bias)), None),
            ("xw + residual", "a + b", (r,), lambda i: torch.addmm(old, x, w, out=out), None)):
        shape = f"{m}x{n}x{k} NT"
        if chosen(what, shape, x.dtype):
            result = in_turn(lib, lambda i: lib.evaluate(text, c, a, b, *more), theirs)
            exact = theirs(0).double().clone()
            lib.evaluate(text, c, a, b, *more)
            lib.wait()
            wrong = "" if (out.double() - exact).norm() < 8e-3 * exact.norm() else " WRONG"
            report(what, shape, x.dtype, *result, 2.0 * m * n * k, wanted, wrong)
    for t in (c, a, b, y, r):
        lib.c.gt_free(t)


def host_time(lib):
    if not chosen("host time", "64x64x64 NN", torch.float32):
        return
    a, b, out = (matrix(64, 64, "N", torch.float32) for _ in range(3))
    c, x, y = lib.tensor(out), lib.tensor(a), lib.tensor(b)

    def calls(f):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            f()
        passed = time.perf_counter() - start
        torch.cuda.synchronize()
        return passed / 500 * 1e6
    matmul = lib.c.gt_matmul
    us, peer_us, ratio = compare(15, lambda: calls(lambda: matmul(c, x, y)),
                                 lambda: calls(lambda: torch.mm(a, b, out=out)))
    verdicts.append(us <= 5)
    print(f"host time of a 64x64x64 float32 product, each called from Python: {us:.1f} us (5), "
          f"PyTorch {peer_us:.1f} us, {'ok' if us <= 5 else 'NO'}")


# ---- errors ----
def kinds(n):
    """Six kinds of data: name, A, B."""
    def normal():
        return torch.randn(n, n, device="cuda")
    scale = torch.exp2(torch.linspace(-30, 30, n, device="cuda"))
    yield "normal", normal(), normal()
    yield "uniform", torch.rand(n, n, device="cuda"), torch.rand(n, n, device="cuda")
    yield "wide exponents", normal() * torch.exp(4 * normal()), normal() * torch.exp(4 * normal())
    a, b = normal(), normal()
    a[:, n // 2:] = a[:, :n // 2]
    b[n // 2:] = -b[:n // 2] * (1 + 1e-4 * torch.randn(n // 2, n, device="cuda"))
    yield "cancelling", a, b
    yield "graded", normal() * scale, normal() / scale[:, None]
    yield "softmax", torch.softmax(10 * normal(), 1), normal()


def errors_of(lib, xla, a, b):
    """Of PyTorch without and with TF32, of HIGHEST, HIGH and MEDIUM, and of XLA's."""
    out = torch.empty_like(a)
    handles = [lib.tensor(t) for t in (out, a, b)]
    found = []
    for tf32 in (False, True):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        found.append(error(torch.mm(a, b), a, b))
    torch.backends.cuda.matmul.allow_tf32 = False
    for precision in (HIGHEST, HIGH, MEDIUM):
        lib.precision(precision)
        lib.matmul(*handles)
        lib.wait()
        found.append(error(out, a, b))
    lib.precision(HIGHEST)
    found += [error(prepared(a, b)[0](), a, b) for prepared in xla.values()]
    for t in handles:
        lib.c.gt_free(t)
    return found


def errors(lib, xla, n):
    """Geometric means over five draws: of wide exponents few elements make most of the error."""
    draws = {}
    for seed in range(5):
        torch.manual_seed(seed)
        for name, a, b in kinds(n):
            draws.setdefault(name, []).append(errors_of(lib, xla, a, b))
    print(f"\n{'errors of ' + str(n) + '^3':<16} {'PyTorch':>9} {'HIGHEST':>9} {'TF32':>9} "
          f"{'HIGH':>9} {'MEDIUM':>9} " + "".join(f"{name:>9} " for name in xla))
    for name, found in draws.items():
        theirs, tf32, highest, high, medium, *pieces = map(statistics.geometric_mean, zip(*found))
        good = highest <= max(theirs, 1e-7), name == "softmax" or high <= tf32 / 40
        verdicts.extend(good)
        print(f"{name:<16} {theirs:9.1e} {highest:9.1e} {tf32:9.1e} {high:9.1e} {medium:9.1e} " +
              "".join(f"{e:9.1e} " for e in pieces) + f" {'ok' if all(good) else 'NO'}", flush=True)


def main():
    path = options.library or build("peers-cuda")
    lib = Library(path)
    with tempfile.TemporaryDirectory() as folder:  # a second copy, as the first would be found again
        without = Library(shutil.copy(path, folder), "tiled")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, CUDA {torch.version.cuda}")
    print(lib.c.gt_build_info().decode() + "\n")
    print(ROW.format("what", "shape", "dtype", "ours us", "peer us", "TFLOP/s", "ratio", "wanted",
                     "ok").rstrip())
    squares(lib, without)
    layers(lib)
    xla = xla_products()
    beside_xla(lib, xla)
    if options.shapes:
        from_file(lib)
    host_time(lib)
    if chosen("errors", "", torch.float32):
        errors(lib, xla, 1024 if options.quick else 4096)
    print(f"\n{sum(verdicts)} of {len(verdicts)} at or above what is wanted")


main()
