"""The library beside PyTorch, NumPy and numexpr, in one process and on the same memory.

    python3 test/bench/peers.py [--device cpu|cuda] [--only REGEX] [--quick] [--threads N] [LIBRARY]

peers.c has the table of lines; without a library given it is built into test/build, with nvcc for
a GPU. Each peer and the library take turns for some rounds, on the same buffers and into given
outputs where the peer can. Printed are both medians and the median of the rounds' ratios: above 1,
the library is the faster. Results are compared, too: "WRONG" in the last column is a difference.

On a GPU both enqueue on one stream of PyTorch's, several launches a round between two events,
behind a sleeping kernel that lasts until they are enqueued: no host time is counted. At 2^24
elements the launches go through several sets of tensors, so that nothing is found in the L2 cache.
On the CPU a round is one or more calls by the clock, after a pause in which threads fall asleep.

"of rate" is the share of the rate of a copy of 1 GiB (on the CPU 512 MiB, by all threads) in the
same run; for reductions on a GPU of the read rate, the fastest of PyTorch's sum, maximum and norm.
"""
import argparse
import ctypes
import math
import os
import re
import sys
import time

sys.dont_write_bytecode = True
from rounds import alternate, build, compare, on_a_gpu

options = argparse.ArgumentParser(description="the library beside its peers")
options.add_argument("--device", choices=["cpu", "cuda"])
options.add_argument("--only", default="", metavar="REGEX", help="of 'name shape dtype peer'")
options.add_argument("--quick", action="store_true")
options.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
options.add_argument("library", nargs="?")
options = options.parse_args()
# Read by the OpenMP run-time libraries when they are loaded.
os.environ["OMP_NUM_THREADS"] = os.environ["NUMEXPR_MAX_THREADS"] = str(options.threads)

try:
    import torch
except ImportError:
    torch = None
try:
    import numpy as np
except ImportError:
    np = None
try:
    import numexpr
except ImportError:
    numexpr = None
if not torch and np is None:
    sys.exit("neither PyTorch nor NumPy is here: there is no peer")
if torch:
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
if numexpr:
    numexpr.set_num_threads(options.threads)
if not options.device:
    options.device = "cuda" if torch and torch.cuda.is_available() else "cpu"
CUDA = options.device == "cuda"
if CUDA and not (torch and torch.cuda.is_available()):
    sys.exit("--device cuda needs PyTorch and a GPU")


# ---- the library ----
class Case(ctypes.Structure):
    _fields_ = [("line", ctypes.c_void_p), ("n", ctypes.c_int64), ("from_dtype", ctypes.c_int),
                ("to_dtype", ctypes.c_int)]

    def text(self, function):
        buffer = ctypes.create_string_buffer(64)
        function(ctypes.byref(self), buffer, ctypes.c_size_t(64))
        return buffer.value.decode()


lib = ctypes.CDLL(options.library or build(torch.cuda.get_device_capability() if CUDA else None))
for name in ("bench_name", "bench_group", "bench_error", "bench_device_name", "gt_build_info"):
    getattr(lib, name).restype = ctypes.c_char_p
for name in ("bench_bytes", "bench_wanted_of_rate"):
    getattr(lib, name).restype = ctypes.c_double
lib.bench_tensor.restype = ctypes.c_void_p
for name in ("bench_free", "bench_use_stream"):
    getattr(lib, name).argtypes = [ctypes.c_void_p]
lib.bench_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64"]


def all_cases():
    found = (Case * lib.bench_cases(CUDA, options.quick, None))()
    lib.bench_cases(CUDA, options.quick, found)
    return found


# ---- memory ----
def new_array(shape, dtype):
    """Random from 0.1 to 1.1, so that sums and quotients are harmless; bool: half of it true."""
    if torch:
        kind, device = getattr(torch, dtype), options.device
        if dtype in ("bool", "int64"):
            return torch.randint(2, shape, device=device).to(kind)
        return torch.rand(shape, device=device).add_(0.1).to(kind)
    generator = np.random.default_rng(0)
    if dtype in ("bool", "int64"):
        return generator.integers(0, 2, shape).astype(dtype)
    return np.asarray(generator.random(shape, np.float32) + np.float32(0.1)).astype(dtype)


def address(array):
    return array.data_ptr() if torch else array.ctypes.data


class Operands:
    """Sets of operands of one case, the output first: `tuples` for the peers, `handles` for us."""

    def __init__(self, case):
        self.case = case
        self.size = lib.bench_operands(ctypes.byref(case))
        self.sets = lib.bench_sets(ctypes.byref(case), CUDA)
        made = [self.operand(i % self.size) for i in range(self.sets * self.size)]
        arrays, handles = zip(*made)
        self.handles = (ctypes.c_void_p * len(handles))(*handles)
        self.tuples = [arrays[i:i + self.size] for i in range(0, len(arrays), self.size)]

    def operand(self, k):
        shape, dtype, view = (ctypes.c_int64 * 8)(), ctypes.c_int(), ctypes.c_int()
        ndim = lib.bench_base(ctypes.byref(self.case), k, shape, ctypes.byref(dtype),
                              ctypes.byref(view))
        array = new_array(tuple(shape[:ndim]), DTYPES[dtype.value])
        pointer = address(array)
        handle = lib.bench_tensor(ctypes.byref(self.case), k, CUDA, ctypes.c_void_p(pointer))
        if not handle:
            sys.exit("the library: " + lib.bench_error().decode())
        views = {0: array, 1: array.swapaxes(-2, -1) if array.ndim > 1 else array,
                 2: array[1:-1, 1:-1] if array.ndim > 1 else array}
        return views[view.value], handle

    def ours(self, times):
        lib.bench_run(ctypes.byref(self.case), self.handles, self.sets, times)

    def free(self):
        for handle in self.handles:
            lib.bench_free(handle)


# ---- the peers: name of the line to {name of the peer: function of output and inputs} ----
def torch_peers():
    from torch.nn import functional as F
    aten = torch.ops.aten

    def chain8(a, b, c):
        return torch.sigmoid(torch.relu((a * b + c) * a - b) * c)

    def chain16(a, b, c):
        x = torch.sigmoid(torch.relu((a * b + c) * a - b) * c)
        return torch.tanh((torch.sqrt(torch.exp(x * 1.5 + a)) + 1.5) / b) * c + 1.5

    def copy(o, a):
        o.copy_(a)

    def three_kernels(o, a, b):
        d = a - b
        torch.mean(torch.mul(d, d, out=d), 0, out=o)

    peers = {
        "add": lambda o, a, b: torch.add(a, b, out=o),
        "mul": lambda o, a, b: torch.mul(a, b, out=o),
        "div": lambda o, a, b: torch.div(a, b, out=o),
        "a*b+c": lambda o, a, b, c: torch.addcmul(c, a, b, out=o),
        "relu": lambda o, a: aten.relu.out(a, out=o),
        "exp": lambda o, a: torch.exp(a, out=o),
        "tanh": lambda o, a: torch.tanh(a, out=o),
        "sin": lambda o, a: torch.sin(a, out=o),
        "silu": lambda o, a: aten.silu.out(a, out=o),
        "log": lambda o, a: torch.log(a, out=o),
        "pow": lambda o, a, b: torch.pow(a, b, out=o),
        "sigmoid": lambda o, a: torch.sigmoid(a, out=o),
        "gelu": lambda o, a: aten.gelu.out(a, out=o),
        "+scalar": lambda o, a: torch.add(a, 1.5, out=o),
        "where": lambda o, m, b, c: torch.where(m, b, c, out=o),
        "cast": copy,
        "chain of 8": lambda o, a, b, c: chain8(a, b, c),
        "chain of 16": lambda o, a, b, c: chain16(a, b, c),
        "add a row": lambda o, a, b: torch.add(a, b, out=o),
        "add a column": lambda o, a, b: torch.add(a, b, out=o),
        "add slices": lambda o, a, b: torch.add(a, b, out=o),
        "scale a slice": lambda o, a: torch.mul(a, 1.5, out=o),
        "transposed copy": copy,
        "transposed square": copy,
        "permute(0,2,1)": copy,
        "softmax": lambda o, a: aten._softmax.out(a, 1, False, out=o),
        "mean((a-b)^2)": three_kernels,
        "result + t1*t2": lambda r, a, b: r + a * b,
        "gt_add of 1024": lambda o, a, b: torch.add(a, b, out=o),
        "gt_eval of 1024": lambda o, a, b: torch.add(a, b, out=o),
    }
    for name, f in (("sum", torch.sum), ("mean", torch.mean), ("max", torch.amax)):
        peers[name + " of all"] = lambda o, a, f=f: f(a, (0, 1), out=o)
        peers[name + " of dim 0"] = lambda o, a, f=f: f(a, 0, out=o)
        peers[name + " of dim 1"] = lambda o, a, f=f: f(a, 1, out=o)
    peers["argmax of all"] = lambda o, a: torch.argmax(a.view(-1), 0, out=o)
    peers["argmax of dim 0"] = lambda o, a: torch.argmax(a, 0, out=o)
    peers["argmax of dim 1"] = lambda o, a: torch.argmax(a, 1, out=o)
    found = {name: {"PyTorch": f} for name, f in peers.items()}
    found["mean((a-b)^2)"]["F.mse_loss"] = lambda o, a, b: F.mse_loss(a, b)
    if CUDA and not options.quick:
        compiled = torch.compile(chain8, dynamic=False)
        found["chain of 8"]["compile"] = lambda o, a, b, c: compiled(a, b, c)
    return found


def numpy_peers():
    def fma(o, a, b, c):
        np.multiply(a, b, out=o)
        np.add(o, c, out=o)

    def sigmoid(x):
        return np.reciprocal(1 + np.exp(-x))

    def sigmoid_out(o, a):
        np.negative(a, out=o)
        np.exp(o, out=o)
        np.add(o, 1, out=o)
        np.reciprocal(o, out=o)

    def chain8(a, b, c):
        return sigmoid(np.maximum((a * b + c) * a - b, 0) * c)

    def chain16(o, a, b, c):
        x = np.sqrt(np.exp(chain8(a, b, c) * 1.5 + a))
        return np.tanh((x + 1.5) / b) * c + 1.5

    def copy(o, a):
        np.copyto(o, a, casting="unsafe")

    def softmax(o, a):
        np.subtract(a, a.max(1, keepdims=True), out=o)
        np.exp(o, out=o)
        np.divide(o, o.sum(1, keepdims=True), out=o)

    def mse(o, a, b):
        d = a - b
        np.mean(np.multiply(d, d, out=d), out=o)

    peers = {
        "add": lambda o, a, b: np.add(a, b, out=o),
        "mul": lambda o, a, b: np.multiply(a, b, out=o),
        "div": lambda o, a, b: np.divide(a, b, out=o),
        "a*b+c": fma,
        "relu": lambda o, a: np.maximum(a, 0, out=o),
        "exp": lambda o, a: np.exp(a, out=o),
        "tanh": lambda o, a: np.tanh(a, out=o),
        "sin": lambda o, a: np.sin(a, out=o),
        "log": lambda o, a: np.log(a, out=o),
        "pow": lambda o, a, b: np.power(a, b, out=o),
        "sigmoid": sigmoid_out,
        "+scalar": lambda o, a: np.add(a, np.float32(1.5), out=o),
        "where": lambda o, m, b, c: np.where(m, b, c),
        "cast": copy,
        "chain of 8": lambda o, a, b, c: chain8(a, b, c),
        "chain of 16": chain16,
        "add a row": lambda o, a, b: np.add(a, b, out=o),
        "add a column": lambda o, a, b: np.add(a, b, out=o),
        "add slices": lambda o, a, b: np.add(a, b, out=o),
        "scale a slice": lambda o, a: np.multiply(a, a.dtype.type(1.5), out=o),
        "transposed copy": copy,
        "transposed square": copy,
        "permute(0,2,1)": copy,
        "softmax": softmax,
        "mean((a-b)^2)": mse,
        "result + t1*t2": lambda r, a, b: r + a * b,
        "gt_add of 1024": lambda o, a, b: np.add(a, b, out=o),
        "gt_eval of 1024": lambda o, a, b: np.add(a, b, out=o),
    }
    for name in ("sum", "mean", "max", "argmax"):
        for what, axis in ((" of all", None), (" of dim 0", 0), (" of dim 1", 1)):
            peers[name + what] = lambda o, a, f=getattr(np, name), axis=axis: f(a, axis, out=o)
    return {name: {"NumPy": f} for name, f in peers.items()}


def numexpr_peers():
    """numexpr computes in double as soon as a constant is one: 1.5 is handed in as a float32."""
    k = np.float32(1.5)

    def evaluate(text):
        def run(o, *inputs):
            inputs = dict(zip("abc", inputs), k=k)
            return numexpr.evaluate(text, local_dict=inputs, out=o if o.ndim else None)
        return run

    relu = "where({0} > 0, {0}, 0)"
    chain8 = "1/(1 + exp(-c*" + relu.format("((a*b + c)*a - b)") + "))"
    texts = {
        "add": "a + b", "mul": "a * b", "div": "a / b", "a*b+c": "a*b + c",
        "relu": relu.format("a"), "exp": "exp(a)", "tanh": "tanh(a)", "sin": "sin(a)",
        "log": "log(a)", "pow": "a**b",
        "sigmoid": "1/(1 + exp(-a))", "+scalar": "a + k", "where": "where(a, b, c)",
        "chain of 8": chain8,
        "chain of 16": "tanh((sqrt(exp(" + chain8 + "*k + a)) + k)/b)*c + k",
        "add a row": "a + b", "add a column": "a + b", "sum of all": "sum(a)",
        "sum of dim 0": "sum(a, 0)", "sum of dim 1": "sum(a, 1)", "max of all": "max(a)",
    }
    found = {name: {"numexpr": evaluate(text)} for name, text in texts.items()}
    squares = evaluate("sum((a - b)*(a - b))")
    found["mean((a-b)^2)"] = {"numexpr": lambda o, a, b: squares(o, a, b) / a.size}
    found["result + t1*t2"] = {"numexpr": lambda r, a, b: numexpr.evaluate("r + a*b", out=r)}
    return found


def on_numpy(f):
    """A function of NumPy's arrays, given PyTorch's tensors."""
    return lambda *arrays: f(*[a.numpy() if torch.is_tensor(a) else a for a in arrays])


def all_peers():
    found = torch_peers() if torch else numpy_peers()
    if numexpr and not CUDA:
        for name, peers in numexpr_peers().items():
            for peer, f in peers.items():
                found[name][peer] = on_numpy(f) if torch else f
    return found


def has_dtype(peer, dtype):
    """NumPy has no bfloat16; its float16 and numexpr's lack are not worth a minute each."""
    if peer == "numexpr":
        return dtype in ("float32", "float64")
    return peer != "NumPy" or "bfloat16" not in dtype and (">" in dtype or "float16" not in dtype)


# ---- what is wanted ----
def wanted_ratio(name, group, shape, dtype, peer, large):
    """How many times as fast as the peer, or None."""
    transposed = group == "transpose"
    if not CUDA:
        if dtype != "float32":
            return None
        if name == "chain of 8":
            return 1.2 if peer == "numexpr" else 8
        if group == "loop":
            return 3
        names = ("add", "mul", "a*b+c", "exp", "tanh", "sin", "softmax")
        return 1 if name in names or transposed or name.startswith("sum") else None
    if group == "map":
        return 0.7 if name in ("sigmoid", "tanh", "gelu") and dtype != "float32" else 0.97
    if group == "reduce":
        return 0.95
    if group == "loop":
        return 1.5
    if not large:
        return None
    if peer == "compile":
        return 0.97 if dtype == "float32" else None
    if group == "broadcast":
        return 1.45
    if transposed:
        if name == "transposed square":
            return None
        return 3 if name.startswith("permute") else 4 if dtype == "float32" else 5
    float32 = {"chain of 8": 4.7, "chain of 16": 4.8}
    if name in float32:
        return float32[name] if dtype == "float32" else None
    return {"PyTorch": 3, "F.mse_loss": 2}[peer] if group == "mse" and dtype == "float32" else None


def wanted_us(group):
    """Microseconds at most, or None."""
    return {"loop": 370000, "call": 3.0}.get(group) if CUDA else None


# ---- clocks ----
if CUDA:
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    if not lib.bench_use_stream(stream.cuda_stream):
        sys.exit("the library: " + lib.bench_error().decode())


def synchronize():
    if CUDA:
        torch.cuda.synchronize()


def on_the_host(f, times):
    """Microseconds of one of `times` calls by the clock; those of a GPU are not waited for."""
    synchronize()
    start = time.perf_counter()
    f(times)
    passed = time.perf_counter() - start
    synchronize()
    return passed / times * 1e6


def to_the_end(f, times):
    """Microseconds of one of `times`, all finished."""
    if not CUDA:
        time.sleep(0.01)
        return on_the_host(f, times)
    return on_a_gpu(torch, f, times)


def in_turn(f, operands):
    """Calls of a peer's function that go through the sets of operands as ours do."""
    def run(times):
        for i in range(times):
            f(*operands.tuples[i % operands.sets])
    return run


def whole_loop(f, operands):
    """The article's loop: each step's result is an operand of the next."""
    def run(times):
        result, a, b = operands.tuples[0]
        for _ in range(times):
            result = f(result, a, b)
    return run


# ---- one case ----
def sample(array):
    x = array.reshape(-1)[::997]
    return torch.as_tensor(x).double().cpu().clone() if torch else x.astype("float64")


def differs(case, group, name, peer, operands, f):
    """Do the results differ by more than their dtype explains? Of equal maxima any may be named;
    numexpr adds up float32 one after the other, which stalls before 2^26 elements are added."""
    one_by_one = peer == "numexpr" and group in ("reduce", "mse")
    if group in ("loop", "call") or name.startswith("argmax") or one_by_one:
        return False
    out = operands.tuples[0][0]
    result = f(*operands.tuples[0])
    theirs = sample(out if result is None else result)
    operands.ours(1)
    synchronize()
    tolerance = {"float16": 4e-3, "bfloat16": 6e-2}.get(DTYPES[case.to_dtype], 2e-4)
    return not bool((abs(sample(out) - theirs) <= tolerance * (1 + abs(theirs))).all())


def repetitions(group, ours_us, theirs_us):
    """How many calls a round has, and how many rounds there are."""
    if group == "call":
        return 1000, 5 if options.quick else 31
    both = ours_us + theirs_us
    if CUDA:
        return min(64, max(2, round(3000 / both))), 5 if options.quick else 21
    seconds = 0.5 if options.quick else 2
    times = min(64, max(1, round(20000 / both)))
    return times, min(15, max(3, round(seconds * 1e6 / (both * times))))


def measure(group, operands, f):
    """Microseconds of both, and the ratio."""
    if group == "loop":
        steps, rounds = (1000, 3) if CUDA else (3, 3)
        theirs = whole_loop(f, operands)
        us, peer_us, ratio = compare(rounds, lambda: to_the_end(operands.ours, steps),
                                     lambda: to_the_end(theirs, steps))
        return us * 1000, peer_us * 1000, ratio
    clock = on_the_host if group == "call" else to_the_end
    theirs = in_turn(f, operands)
    clock(operands.ours, 1), clock(theirs, 1)
    times, rounds = repetitions(group, clock(operands.ours, 1), clock(theirs, 1))
    return compare(rounds, lambda: clock(operands.ours, times), lambda: clock(theirs, times))


ROW = "{:<18} {:<14} {:<17} {:<10} {:>11} {:>11} {:>6} {:>7}  {:<14} {}"
results = []    # (group, peer, ratio)
verdicts = []   # of all that is wanted


def judge(name, group, shape, dtype, peer, case, us, ratio, rate):
    """Texts of what is wanted and whether it is so."""
    texts, good = [], []
    wanted = wanted_ratio(name, group, shape, dtype, peer, large=case.n >> 28)
    if wanted is not None:
        texts.append(f"{wanted:.2f}")
        good.append(ratio >= wanted)
    of_rate = lib.bench_wanted_of_rate(ctypes.byref(case)) if CUDA else 0
    if of_rate:
        texts.append(f"{of_rate:.2f} rate")
        good.append(rate >= of_rate)
    most = wanted_us(group)
    if most is not None:
        texts.append(f"<={most:g} us")
        good.append(us <= most)
    if good:
        verdicts.append(all(good))
    return ", ".join(texts), "" if not good else "ok" if all(good) else "NO"


def run_case(case, peers, rates):
    name = lib.bench_name(ctypes.byref(case)).decode()
    group = lib.bench_group(ctypes.byref(case)).decode()
    shape, dtype = case.text(lib.bench_shape_text), case.text(lib.bench_dtype_text)
    chosen = {peer: f for peer, f in peers.get(name, {}).items() if has_dtype(peer, dtype)
              and re.search(options.only, f"{name} {shape} {dtype} {peer}")}
    if not chosen or not CUDA and case.n >> 25 and "float32" != dtype:
        return
    operands = Operands(case)
    for peer, f in chosen.items():
        try:
            wrong = differs(case, group, name, peer, operands, f)
        except Exception as error:  # a peer that does not run here
            print(f"{name}, {dtype}: {peer}: {type(error).__name__}: {str(error)[:200]}")
            continue
        us, peer_us, ratio = measure(group, operands, f)
        steps = 1000 if group == "loop" else 1
        rate = lib.bench_bytes(ctypes.byref(case)) * steps / us / rates[group == "reduce"]
        wanted, ok = judge(name, group, shape, dtype, peer, case, us, ratio, rate)
        results.append((group, peer, ratio))
        if wrong:
            verdicts.append(False)
        print(ROW.format(name, shape, dtype, peer, f"{us:.2f}", f"{peer_us:.2f}", f"{ratio:.2f}",
                         "" if group == "call" else f"{rate:.2f}", wanted, ok + " WRONG" * wrong),
              flush=True)
    operands.free()
    if lib.bench_error():
        sys.exit("the library: " + lib.bench_error().decode())


# ---- the whole ----
def measured_rates():
    """Bytes a microsecond: of a copy, read and written, and of reading."""
    n = 1 << (28 if CUDA else 27)
    x, y = (new_array((n,), "float32") for _ in range(2))

    def median(f):
        return alternate(11, [lambda: to_the_end(lambda times: [f() for _ in range(times)], 4)])[0]

    if not CUDA:
        copy = 8 * n / median(lambda: lib.bench_copy(address(y), address(x), 4 * n, 0))
        return copy, copy
    copy = 8 * n / median(lambda: y.copy_(x))
    readers = (torch.sum, torch.amax, torch.linalg.vector_norm)
    return copy, max([copy] + [4 * n / median(lambda: f(x)) for f in readers])


def versions():
    found = [f"{m.__name__} {m.__version__}" for m in (torch, np, numexpr) if m]
    if CUDA:
        found.append(f"CUDA {torch.version.cuda}")
    found.append(f"{options.threads} threads")
    return ", ".join([lib.bench_device_name(CUDA).decode()] + found)


def means():
    """Geometric means of each group and peer."""
    for group, peer in dict.fromkeys((g, p) for g, p, _ in results):
        ratios = [r for g, p, r in results if (g, p) == (group, peer)]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        wanted = CUDA and group in ("map", "reduce")
        if wanted:
            verdicts.append(mean >= 1)
        print(f"{group:<10} {peer:<10} geometric mean of {len(ratios):3} ratios {mean:6.2f}" +
              (f"   1.00 {'ok' if mean >= 1 else 'NO'}" if wanted else ""))


def main():
    peers, rates = all_peers(), measured_rates()
    print(versions())
    print(lib.gt_build_info().decode())
    print(f"copy {rates[0] / 1e3:.0f} GB/s read and written, reading {rates[1] / 1e3:.0f} GB/s\n")
    print(ROW.format("what", "shape", "dtype", "peer", "ours us", "peer us", "ratio", "of rate",
                     "wanted", "ok").rstrip())
    for case in all_cases():
        run_case(case, peers, rates)
    print("\nthe article's loop is given for 1000 steps" +
          ("" if CUDA else ", scaled from 3"))
    means()
    print(f"{sum(verdicts)} of {len(verdicts)} at or above what is wanted")


main()
