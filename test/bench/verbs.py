"""Indexing, scans and order beside PyTorch, in one process and on the same memory.

    python3 test/bench/verbs.py [--device cpu|cuda] [--only REGEX] [--quick] [LIBRARY]

The library is peers.c as a shared object; if none is given it is built into test/build. LINES is
the table. The library and PyTorch take turns for some rounds, into given outputs where PyTorch can;
printed are both medians and the median of the rounds' ratios: above 1, the library is the faster.
Results are compared: "WRONG" in the last column is a difference.

On a GPU a round is several calls on one stream of PyTorch's between two events, behind a sleeping
kernel, so no host time is counted as long as that sleeps; but it is in nonzero, where both wait for
the number of elements, and in small sums that are "deterministic", which take many calls. The calls
go through up to 32 sets of tensors, 512 MiB in all, so that little is found in the L2 cache.
"deterministic" is PyTorch under use_deterministic_algorithms: there its sums are the same in every
run, as the library's are; its default adds atomically. On the CPU a round is some calls by the
clock, after a pause in which threads fall asleep; OMP_NUM_THREADS says how many there are.

"of rate" is the share of the rate of a copy, by PyTorch, of 1 GiB, on the CPU of 256 MiB.
"""
import argparse
import ctypes
import os
import re
import sys
import time
import warnings

import torch

sys.dont_write_bytecode = True
from rounds import alternate, build, compare, on_a_gpu

options = argparse.ArgumentParser(description="indexing, scans and order beside PyTorch")
options.add_argument("--device", choices=["cpu", "cuda"])
options.add_argument("--only", default="", metavar="REGEX", help="of 'what shape dtype peer'")
options.add_argument("--quick", action="store_true", help="few rounds, a sixteenth of the sizes")
options.add_argument("library", nargs="?")
options = options.parse_args()
torch.manual_seed(1)
torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0)))))
warnings.filterwarnings("ignore")  # some functions say that they are not deterministic
CUDA = (options.device or ("cuda" if torch.cuda.is_available() else "cpu")) == "cuda"
WHERE = "cuda" if CUDA else "cpu"


# ---- the library ----
def structure(*fields):
    return type("structure", (ctypes.Structure,), {"_fields_": fields})


Shape = structure(("ndim", ctypes.c_int), ("size", ctypes.c_int64 * 8))
Device = structure(("type", ctypes.c_int32), ("index", ctypes.c_int32))
KINDS = {"p": ctypes.c_void_p, "i": ctypes.c_int, "l": ctypes.c_int64, "t": ctypes.c_char_p,
         "S": Shape, "D": Device, "-": None}
FUNCTIONS = """gt_from_ptr ppSiDpp, gt_free -p, gt_numel lp, gt_copy ppp, gt_error_message t,
gt_build_info t, bench_device_name ti, bench_use_stream ip, gt_index_select pppip, gt_gather pppip,
gt_index_add ppipp, gt_scatter_reduce ppippii, gt_cumsum pppi, gt_sort ipppii, gt_topk ippplii,
gt_nonzero pp"""  # the kinds of the result and of the arguments
lib = ctypes.CDLL(options.library or build(torch.cuda.get_device_capability() if CUDA else None))
for name, kinds in (one.split() for one in FUNCTIONS.split(",")):
    function = getattr(lib, name)
    function.restype, *function.argtypes = (KINDS[k] for k in kinds)
DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
held = []  # (handle, tensor) of the line that is measured


def check(good):
    return good or sys.exit("the library: " + lib.gt_error_message().decode())


def ours(x):
    """The library's tensor on PyTorch's memory; both are kept until the line has ended."""
    shape = Shape(x.dim(), (ctypes.c_int64 * 8)(*x.shape))
    handle = check(lib.gt_from_ptr(x.data_ptr(), shape, DTYPES.index(str(x.dtype)[6:]),
                                   Device(2 if CUDA else 1, 0), None, None))
    held.append((handle, x))
    return handle


# ---- the functions: what is called, of each peer too, and whether the results differ ----
def random(shape, dtype):
    if dtype == torch.int64:
        return torch.randint(-1 << 62, 1 << 62, shape, device=WHERE)
    return torch.randn(shape, device=WHERE).to(dtype)


def empty(*of):
    """Tensors of a shape and these dtypes, for the library and for PyTorch."""
    return [[torch.empty(of[0], dtype=dtype, device=WHERE) for dtype in of[1:]] for _ in range(2)]


def differs(a, exact):
    bound = 1e-2 if a.dtype in (torch.bfloat16, torch.float16) else 1e-5
    return not bool((a.double() - exact).abs().max() <= bound * exact.abs().max())


def picked(name, x, dim, index, shape, theirs):
    (out,), (peer_out,) = empty(shape, x.dtype)
    to, source, by = ours(out), ours(x), ours(index)
    return (lambda: getattr(lib, name)(to, source, dim, by), {"PyTorch": lambda: theirs(peer_out)},
            lambda: not torch.equal(out, peer_out))


def index_select(shape, dtype, dim):
    x, index = random(shape, dtype), torch.randperm(shape[dim], device=WHERE)
    return picked("gt_index_select", x, dim, index, shape,
                  lambda out: torch.index_select(x, dim, index, out=out))


def embedding(shape, dtype, entries):
    """Of tokens (batch, time), which PyTorch's function with a given output takes in one dim."""
    x, index = random((entries, shape[-1]), dtype), torch.randint(entries, shape[:-1], device=WHERE)
    return picked("gt_index_select", x, 0, index, shape, lambda out: torch.index_select(
        x, 0, index.view(-1), out=out.view(-1, shape[-1])))


def gather(shape, dtype, dim):
    x, index = random(shape, dtype), torch.randint(shape[dim], shape, device=WHERE)
    return picked("gt_gather", x, dim, index, shape,
                  lambda out: torch.gather(x, dim, index, out=out))


def deterministic(f):
    torch.use_deterministic_algorithms(True, warn_only=True)
    f()
    torch.use_deterministic_algorithms(False)


def added(shape, src, index, mine, theirs):
    outs = [torch.zeros(shape, dtype=src.dtype, device=WHERE) for _ in range(3)]
    to, by, of = ours(outs[0]), ours(index), ours(src)
    peers = {"PyTorch": lambda: theirs(outs[1], src)}
    if CUDA:
        peers["deterministic"] = lambda: deterministic(lambda: theirs(outs[2], src))
    return (lambda: mine(to, by, of), peers,
            lambda: differs(outs[0], theirs(torch.zeros_like(outs[0]).double(), src.double())))


def index_add(shape, dtype, entries):
    index = torch.randint(entries, shape[:1], device=WHERE)
    return added((entries, *shape[1:]), random(shape, dtype), index,
                 lambda to, by, of: lib.gt_index_add(to, 0, by, of),
                 lambda out, x: out.index_add_(0, index, x))


def scatter_sum(shape, dtype, dim):
    """gt_scatter_reduce by GT_SUM."""
    index = torch.randint(shape[dim], shape, device=WHERE)
    return added(shape, random(shape, dtype), index,
                 lambda to, by, of: lib.gt_scatter_reduce(to, dim, by, of, 0, 1),
                 lambda out, x: out.scatter_add_(dim, index, x))


def cumsum(shape, dtype, dim):
    x, ((out,), (peer_out,)) = random(shape, dtype), empty(shape, dtype)
    to, source = ours(out), ours(x)
    return (lambda: lib.gt_cumsum(to, source, dim),
            {"PyTorch": lambda: torch.cumsum(x, dim, out=peer_out)},
            lambda: differs(out, torch.cumsum(x.double(), dim)))


def sort(shape, dtype, k=None):
    """Of equals topk of PyTorch's may name any: there the values that are named are compared."""
    x, shape = random(shape, dtype), (*shape[:-1], k or shape[-1])
    out, peer_out = empty(shape, dtype, torch.int64)
    source, *to = ours(x), *(ctypes.byref(ctypes.c_void_p(ours(y))) for y in out)
    if k:
        return (lambda: lib.gt_topk(*to, source, k, -1, 1) == 0,
                {"PyTorch": lambda: torch.topk(x, k, out=peer_out)},
                lambda: not torch.equal(out[0], peer_out[0]) or
                not torch.equal(x.gather(-1, out[1]), out[0]))
    return (lambda: lib.gt_sort(*to, source, -1, 0) == 0,
            {"PyTorch": lambda: torch.sort(x, dim=-1, stable=True, out=peer_out)},
            lambda: not all(map(torch.equal, out, peer_out)))


def nonzero(shape, dtype, share):
    x = (torch.rand(shape, device=WHERE) < share).to(dtype)
    source = ours(x)

    def run(wrong=False):
        found = check(lib.gt_nonzero(source))
        if wrong:
            (out,), _ = empty((lib.gt_numel(found) // x.dim(), x.dim()), torch.int64)
            lib.gt_copy(ours(out), found)
            wrong = not torch.equal(out, torch.nonzero(x))
        lib.gt_free(found)
        return wrong
    return (lambda: not run()), {"PyTorch": lambda: torch.nonzero(x)}, lambda: run(True)


# ---- the table: on a GPU a ratio is wanted, to "deterministic" where it is there, or a share ----
F, B, D, K, M = torch.float32, torch.bfloat16, torch.float64, 1 << 10, 1 << 20
SQUARE = (4 * K, 4 * K)
LINES = [  # function, shape, dtype, what else it is given; a ratio, a share of the copy rate
    *[(index_select, (8 * K, 8 * K), F, ("dim", dim), 1, 0) for dim in (0, 1)],
    (index_select, (60000, 784), F, ("dim", 0), 1, 0),
    *[(embedding, (32, K, 768), t, ("of", 50257), 1, 0) for t in (F, B)],
    *[(gather, shape, F, ("dim", dim), 1, 0) for shape, dim in (((16 * M,), 0), ((64, 256, K), 1))],
    *[(gather, SQUARE, t, ("dim", dim), 1, 0) for t in (F, B, D) for dim in (0, 1)],
    *[(index_add, shape, t, ("to", to), 1, 0) for shape, to in
      (((256 * K, 64), 64 * K), ((32 * K, 768), 50257)) for t in (F, B)],
    *[(index_add, shape, F, ("to", to), 1, 0) for shape, to in
      (((256 * K, 100), K), ((1000, 64), 100), ((16 * M,), 256 * K), ((16 * M,), M),
       ((16 * M,), 16 * M), ((M,), 64 * K))],
    *[(scatter_sum, SQUARE, F, ("dim", dim), 1, 0) for dim in (0, 1)],
    *[(cumsum, shape, F, ("dim", dim), 0, share) for shape, dim, share in
      (((16 * K, 16 * K), 1, .9), ((16 * K, 16 * K), 0, 0), ((256 * M,), 0, .6),
       ((256 * K, 1000), 1, 0), ((M, 256), 1, 0), ((M, 50), 1, 0), ((M, 16), 1, 0),
       ((16, 16 * M), 0, 0), ((1000, 256 * K), 0, 0))],
    *[(cumsum, (n * K, 16 * K), t, ("dim", dim), 0, 0) for n, t, dim in
      ((16, B, 1), (8, D, 1), (8, D, 0))],
    *[(sort, shape, F, (), 0, 0) for shape in
      ((16 * M,), (M,), (16 * K, K), (64 * K, 256), (M, 16), (K, 16 * K), (64, 50257))],
    *[(sort, (16 * M,), t, (), 0, 0) for t in (torch.int64, B)],
    *[(sort, shape, F, ("k", k), ratio, 0) for shape, k, ratio in
      (((M,), 64, .5), ((64, 50257), 50, 0), ((1, 50257), 50, 0), ((16 * K, K), 10, 0))],
    *[(nonzero, shape, t, ("share", share), 0, 0) for shape, t, share in
      (((16 * M,), torch.bool, .5), ((16 * M,), torch.bool, .01), (SQUARE, F, .5))],
]


# ---- clocks ----
if CUDA:
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    check(lib.bench_use_stream(stream.cuda_stream))


def to_the_end(f, times):
    """Microseconds of one of `times`, all finished."""
    if not CUDA:
        time.sleep(0.01)
        start = time.perf_counter()
        f(times)
        return (time.perf_counter() - start) / times * 1e6
    return on_a_gpu(torch, f, times)


def in_turn(functions):
    """Calls that go through the sets of tensors."""
    return lambda times: [functions[i % len(functions)]() for i in range(times)]


def copy_rate():
    """Bytes a microsecond, read and written."""
    x = torch.rand(1 << (28 if CUDA else 26), device=WHERE)
    y = torch.empty_like(x)
    return 8 * x.numel() / alternate(11, [lambda: to_the_end(in_turn([lambda: y.copy_(x)]), 4)])[0]


def measure(mine, theirs):
    """Microseconds of both, and the ratio."""
    _, a, _, b = (to_the_end(f, 1) for f in (mine, mine, theirs, theirs))
    times = min(64, max(1, round((3000 if CUDA else 20000) / (a + b))))
    return compare(3 if options.quick else 21 if CUDA else 7,
                   lambda: to_the_end(mine, times), lambda: to_the_end(theirs, times))


# ---- one line ----
ROW = "{:<13} {:<23} {:<9} {:<14} {:>10} {:>10} {:>6} {:>7}  {:<9} {}"
verdicts = []


def run_line(function, shape, dtype, given, wanted, wanted_share, rate):
    if options.quick:
        shape = tuple(n // 16 if n == max(shape) else n for n in shape)
    size = "x".join(map(str, shape)) if len(shape) > 1 else f"2^{shape[0].bit_length() - 1}"
    name = "topk" if "k" in given else function.__name__
    what, given = (name, " ".join(map(str, (size, *given))), str(dtype)[6:]), given[1:]
    sets = [function(shape, dtype, *given)]
    peers = [p for p in sets[0][1] if re.search(options.only, " ".join((*what, p)))]
    size = sum(x.numel() * x.element_size() for _, x in held)
    for _ in range(min(31, (1 << 29) // size) if CUDA and peers else 0):
        sets.append(function(shape, dtype, *given))
    mine, theirs, wrong = sets[0]
    check(mine()), theirs["PyTorch"]()
    is_wrong = bool(peers) and wrong()
    for peer in peers:
        us, peer_us, ratio = measure(in_turn([s[0] for s in sets]),
                                     in_turn([s[1][peer] for s in sets]))
        share = size / us / rate if function is cumsum else 0  # both are moved once
        judged = [(has, least, text) for has, least, text in
                  ((ratio, wanted, f"{wanted:.2f}"), (share, wanted_share, f"{wanted_share} rate"))
                  if least and CUDA and peer == list(theirs)[-1]]
        good = all(has >= least for has, least, _ in judged) and not is_wrong
        verdicts.extend([good] if judged or is_wrong else [])
        print(ROW.format(*what, peer, f"{us:.1f}", f"{peer_us:.1f}", f"{ratio:.2f}",
                         f"{share:.2f}" if share else "", *[t for _, _, t in judged] or [""],
                         "WRONG" if is_wrong else "" if not judged else "ok" if good else "NO")
              .rstrip(), flush=True)
    for handle, _ in held:
        lib.gt_free(handle)
    held.clear()


def main():
    rate = copy_rate()
    print(f"{lib.bench_device_name(CUDA).decode()}, torch {torch.__version__}, " +
          (f"CUDA {torch.version.cuda}" if CUDA else f"{torch.get_num_threads()} threads"))
    print(f"{lib.gt_build_info().decode()}\ncopy {rate / 1e3:.0f} GB/s read and written\n")
    print(ROW.format("what", "shape", "dtype", "peer", "ours us", "peer us", "ratio", "of rate",
                     "wanted", "ok"))
    for line in LINES:
        run_line(*line, rate)
    print(f"\n{sum(verdicts)} of {len(verdicts)} at or above what is wanted")


main()
