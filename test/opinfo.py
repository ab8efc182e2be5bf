#!/usr/bin/env python3
"""Indexing, scans, order and views beside PyTorch's results, over PyTorch's own samples.

    python3 test/opinfo.py [--device cpu|cuda] [--only REGEX] [LIBRARY]

torch.testing._internal has a table of operations, op_db, with sample inputs for each; of the
operations that the library has, too, every sample is computed by both, in each dtype that both
have, on the CPU and, if there is one, on a GPU. The library works on PyTorch's memory, by PyTorch's
strides. Integers, and values that are only moved or chosen, have to be equal; sums and products of
floats are compared with PyTorch's of float64. What a GPU makes has to have the CPU's bits. A sample
is skipped only where the library has no counterpart, with the reason; an operation without a sample
that was compared is a failure. Without a library given it is built into test/build.
"""
import argparse
import collections
import ctypes as c
import os
import pathlib
import re
import subprocess
import sys
import types
import unittest
import warnings

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "bench"))
from rounds import nvcc_target

options = argparse.ArgumentParser(description="the library beside PyTorch, over PyTorch's samples")
options.add_argument("--device", choices=["cpu", "cuda"], help="without it all that are there")
options.add_argument("--only", default="", metavar="REGEX", help="of 'operation dtype device'")
options.add_argument("library", nargs="?")
options = options.parse_args()
try:
    import torch
except ImportError:
    print("skipped: opinfo: PyTorch is not here")
    print("opinfo: 0 passed, 0 failed, 1 skipped")
    sys.exit(0)


# ---- PyTorch's table ----
class StandIn(types.ModuleType):
    """Of a package that PyTorch's tests import, and their samples do not need."""
    TestCase = unittest.TestCase
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **named: None


def table_of_operations():
    missing = []
    while True:
        try:
            from torch.testing._internal.common_methods_invocations import op_db
            return op_db, missing
        except ModuleNotFoundError as error:
            name = error.name
            if not name or name in sys.modules or name.split(".")[0] == "torch":
                raise
            missing.append(name)
            sys.modules[name] = StandIn(name)
            for module in [m for m in sys.modules if m.startswith("torch.testing._internal")]:
                del sys.modules[module]  # which was half imported


# ---- the library ----
def build(gpu):
    made = ROOT / "test" / "build" / ("opinfo-cuda.so" if gpu else "opinfo-cpu.so")
    made.parent.mkdir(exist_ok=True)
    source = made.with_suffix(".c")
    source.write_text('#define GPUTENSOR_IMPLEMENTATION\n#include "gputensor.h"\n')
    command = ["cc", "-O2", "-fopenmp", "-fPIC", str(source)]
    if gpu:
        command = ["nvcc", "-O3", "-Xcompiler", "-fPIC,-fopenmp",
                   nvcc_target(*torch.cuda.get_device_capability()), str(source),
                   str(ROOT / "gputensor_kernels.cu")]
    subprocess.run(command + ["-shared", "-I", str(ROOT), "-lm", "-lpthread", "-o", str(made)],
                   check=True)
    return str(made)


class Device(c.Structure):
    _fields_ = [("type", c.c_int), ("index", c.c_int)]


class Shape(c.Structure):
    _fields_ = [("ndim", c.c_int), ("size", c.c_int64 * 8)]


class Fields(c.Structure):
    """How a gt_tensor begins."""
    _fields_ = [("dtype", c.c_int), ("device", Device), ("ndim", c.c_int),
                ("shape", c.c_int64 * 8), ("stride", c.c_int64 * 8)]


T, INT, LONG, TEXT, PLACE = c.c_void_p, c.c_int, c.c_int64, c.c_char_p, c.POINTER(c.c_void_p)
FUNCTIONS = {
    "gt_from_ptr": (T, T, Shape, INT, Device, T, T), "gt_as_strided": (T, T, Shape, Shape, LONG),
    "gt_to_array": (INT, T, T, c.c_size_t), "gt_free": (None, T), "gt_synchronize": (INT, Device),
    "gt_error_message": (TEXT,), "gt_clear_error": (None,), "gt_report_leaks": (LONG, T),
    "gt_unfold": (T, T, INT, LONG, LONG), "gt_flip": (T, T, c.c_uint32), "gt_view": (T, T, TEXT),
    "gt_index_select": (T, T, T, INT, T), "gt_gather": (T, T, T, INT, T),
    "gt_index_add": (T, T, INT, T, T), "gt_scatter_reduce": (T, T, INT, T, T, INT, INT),
    "gt_cumsum": (T, T, T, INT), "gt_cumprod": (T, T, T, INT), "gt_cummax": (T, T, T, INT),
    "gt_sort": (INT, PLACE, PLACE, T, INT, INT), "gt_topk": (INT, PLACE, PLACE, T, LONG, INT, INT),
    "gt_nonzero": (T, T),
}
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.float16, torch.bfloat16, torch.float32, torch.float64]  # in gt_dtype's order
SUM, MAX, MIN = 0, 3, 4  # gt_reduction


class Refused(Exception):
    """The library's error message."""


class Library:
    def __init__(self, path):
        loaded = c.CDLL(path)
        self.lacks = [name for name in FUNCTIONS if not hasattr(loaded, name)]
        for name, (result, *arguments) in FUNCTIONS.items():
            if name in self.lacks:
                continue
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name[3:], function)
        self.handles = []

    def keep(self, handle):
        """A handle that is freed after the sample."""
        if not handle:
            message = self.error_message().decode()
            self.clear_error()
            raise Refused(message)
        self.handles.append(handle)
        return handle

    def free_all(self):
        while self.handles:
            self.free(self.handles.pop())

    @staticmethod
    def shape(sizes):
        return Shape(len(sizes), (c.c_int64 * 8)(*sizes))

    def of(self, x):
        """A handle on the elements of PyTorch's tensor, by its strides."""
        gpu = x.device.type == "cuda"
        device = Device(2, x.device.index or 0) if gpu else Device(1, 0)
        storage = x.untyped_storage() if hasattr(x, "untyped_storage") else x.storage()
        bytes_there = storage.nbytes()
        if gpu:
            torch.cuda.synchronize()
        whole = self.keep(self.from_ptr(storage.data_ptr() or None,
                                        self.shape([bytes_there // x.element_size()]),
                                        DTYPES.index(x.dtype), device, None, None))
        return self.keep(self.as_strided(whole, self.shape(x.shape), self.shape(x.stride()),
                                         x.storage_offset()))

    def wait(self, device):
        """Until PyTorch may read what the library has written."""
        if device.type == "cuda" and self.synchronize(Device(2, device.index or 0)):
            self.keep(None)

    def read(self, handle):
        """The tensor of a handle, on the host."""
        fields = Fields.from_address(self.keep(handle))
        y = torch.empty(tuple(fields.shape[:fields.ndim]), dtype=DTYPES[fields.dtype])
        if self.to_array(handle, y.data_ptr() or None, y.numel() * y.element_size()):
            self.keep(None)
        return y

    def read_two(self, function, x, *arguments):
        """What gt_sort and gt_topk make: values and indices."""
        values, indices = c.c_void_p(), c.c_void_p()
        if function(c.byref(values), c.byref(indices), self.of(x), *arguments):
            self.keep(None)
        return [self.read(values.value), self.read(indices.value)]


# ---- one function for each operation: what PyTorch makes of a sample, and what the library does ----
class NoCounterpart(Exception):
    """Why a sample is skipped."""


Both = collections.namedtuple("Both", "expected ours how")
EQUAL, NEAR = "equal", "near"


def named(arguments, keywords, *names, **usual):
    """The arguments of a call by name, as Python would bind them."""
    found = dict(usual)
    found.update(zip(names, arguments))
    found.update(keywords)
    extra = set(found) - set(names)
    if extra:
        raise NoCounterpart("the argument " + ", ".join(sorted(extra)))
    return [found.get(name) for name in names]


def view_as_strided(x, arguments, keywords):
    size, stride, offset = named(arguments, keywords, "size", "stride", "storage_offset")
    if offset is None:
        offset = x.storage_offset()

    def ours(lib, x):
        return [lib.read(lib.as_strided(lib.of(x), lib.shape(size), lib.shape(stride), offset))]
    return Both([torch.as_strided(x, size, stride, offset)], ours, EQUAL)


def view_unfold(x, arguments, keywords):
    dim, size, step = named(arguments, keywords, "dimension", "size", "step")
    return Both([x.unfold(dim, size, step)],
                lambda lib, x: [lib.read(lib.unfold(lib.of(x), dim, size, step))], EQUAL)


def view_flip(x, arguments, keywords):
    dims, = named(arguments, keywords, "dims")
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not dims:
        raise NoCounterpart("no dims to flip")
    bits = sum(1 << (8 + (d & 15)) for d in dims)  # GT_DIM
    return Both([torch.flip(x, dims)], lambda lib, x: [lib.read(lib.flip(lib.of(x), bits))], EQUAL)


def text_of(part):
    if isinstance(part, slice):
        ends = [part.start, part.stop] + ([part.step] if part.step is not None else [])
        return ":".join("" if e is None else str(e) for e in ends)
    if part is Ellipsis:
        return "..."
    if isinstance(part, int) and not isinstance(part, bool):
        return str(part)
    raise NoCounterpart("an index of several tensors, masks or None")


def indexed(x, arguments, keywords):
    """Slices and numbers are gt_view's, one list or tensor beside whole dims gt_index_select's."""
    index, = named(arguments, keywords, "index")
    if isinstance(index, list) and not all(isinstance(part, int) for part in index):
        index = tuple(index)  # as PyTorch reads it
    parts = index if isinstance(index, tuple) else (index,)
    expected = [x[index]]
    chosen = [d for d, part in enumerate(parts) if isinstance(part, (list, torch.Tensor))]
    if not chosen:
        text = ", ".join(map(text_of, parts)).encode()
        return Both(expected, lambda lib, x: [lib.read(lib.view(lib.of(x), text))], EQUAL)
    dim = chosen[0]
    places = torch.as_tensor(parts[dim], device=x.device) if len(chosen) == 1 else None
    others = [part for d, part in enumerate(parts) if d != dim]
    whole = all(part == slice(None) or part is Ellipsis for part in others)
    if places is None or places.dtype != torch.int64 or not whole or Ellipsis in parts[:dim]:
        raise NoCounterpart("an index of several tensors, masks or None")
    if bool((places < 0).any()):
        raise NoCounterpart("indices from the end")

    def ours(lib, x, places):
        return [lib.read(lib.index_select(None, lib.of(x), dim, lib.of(places)))]
    return Both(expected, ours, EQUAL), places


def whole_index(index):
    if index.dtype not in (torch.int32, torch.int64):
        raise NoCounterpart("an index of " + str(index.dtype))


def index_select(x, arguments, keywords):
    dim, index = named(arguments, keywords, "dim", "index")
    whole_index(index)
    expected = torch.index_select(x, dim, index)
    if x.ndim and not index.ndim:  # one entry: PyTorch keeps the dim, the library drops it
        expected = expected.squeeze(dim)

    def ours(lib, x, index):
        return [lib.read(lib.index_select(None, lib.of(x), dim, lib.of(index)))]
    return Both([expected], ours, EQUAL), index


def embedding(x, arguments, keywords):  # what else is named matters to gradients alone
    index, *_ = named(arguments, keywords, "index", "padding_idx", "scale_grad_by_freq", "sparse")
    whole_index(index)
    return Both([torch.nn.functional.embedding(index, x)], lambda lib, x, index: [
        lib.read(lib.index_select(None, lib.of(x), 0, lib.of(index)))], EQUAL), index


def gather(x, arguments, keywords):
    dim, index, _ = named(arguments, keywords, "dim", "index", "sparse_grad")
    whole_index(index)

    def ours(lib, x, index):
        return [lib.read(lib.gather(None, lib.of(x), dim, lib.of(index)))]
    return Both([torch.gather(x, dim, index)], ours, EQUAL), index


def exactly(f, x, *others):
    """f of tensors: of floats in float64."""
    if not x.dtype.is_floating_point:
        return [f(x, *others)]
    return [f(x.double(), *[o.double() if o.dtype.is_floating_point else o for o in others])]


def written(lib, x, call):
    """What an operation makes of a copy of x, in place."""
    out = x.clone()
    handle = lib.of(out)
    if call(handle) != handle:
        lib.keep(None)
    lib.wait(out.device)
    return [out.cpu()]


def index_add(x, arguments, keywords):
    """PyTorch's factor alpha is multiplied into the source first, for both."""
    dim, index, source, alpha = named(arguments, keywords, "dim", "index", "source", "alpha",
                                      alpha=1)
    whole_index(index)
    if alpha != 1:
        source = (source * alpha).to(source.dtype)
    expected = exactly(lambda x, index, source: torch.index_add(x, dim, index, source), x, index,
                       source)

    def ours(lib, x, index, source):
        i, s = lib.of(index), lib.of(source)
        return written(lib, x, lambda out: lib.index_add(out, dim, i, s))
    return Both(expected, ours, NEAR), index, source


def scatter_reduce(x, arguments, keywords):
    dim, index, source, reduce, own = named(arguments, keywords, "dim", "index", "src", "reduce",
                                            "include_self", include_self=True)
    whole_index(index)
    kind = {"sum": SUM, "amax": MAX, "amin": MIN}.get(reduce)
    if kind is None:
        raise NoCounterpart("the reduction " + reduce)

    def theirs(x, index, source):
        return torch.scatter_reduce(x, dim, index, source, reduce, include_self=own)
    expected = exactly(theirs, x, index, source) if kind == SUM else [theirs(x, index, source)]

    def ours(lib, x, index, source):
        i, s = lib.of(index), lib.of(source)
        return written(lib, x, lambda out: lib.scatter_reduce(out, dim, i, s, kind, own))
    return Both(expected, ours, NEAR if kind == SUM else EQUAL), index, source


def scan(name):
    def adapter(x, arguments, keywords):
        dim, dtype = named(arguments, keywords, "dim", "dtype")
        theirs = getattr(torch, name)
        expected = exactly(lambda x: theirs(x, dim), x)
        if dtype:
            expected = [expected[0].to(dtype)]

        def ours(lib, x):
            out = torch.empty_like(x, dtype=dtype) if dtype else None
            handle = lib.of(out) if dtype else None
            made = getattr(lib, name)(handle, lib.of(x), dim)
            if not dtype or not made:
                return [lib.read(made)]
            lib.wait(x.device)
            return [out.cpu()]
        return Both(expected, ours, NEAR)
    return adapter


def cummax(x, arguments, keywords):
    dim, = named(arguments, keywords, "dim")
    return Both([torch.cummax(x, dim).values],
                lambda lib, x: [lib.read(lib.cummax(None, lib.of(x), dim))], EQUAL)


def sort(x, arguments, keywords):
    dim, down, _ = named(arguments, keywords, "dim", "descending", "stable", dim=-1,
                         descending=False)
    return Both(list(torch.sort(x, dim=dim, descending=down, stable=True)),
                lambda lib, x: lib.read_two(lib.sort, x, dim, down), EQUAL)


def topk(x, arguments, keywords):
    """PyTorch may name any of equals: its indices count by the values that they name."""
    k, dim, largest, _ = named(arguments, keywords, "k", "dim", "largest", "sorted", dim=-1,
                               largest=True)
    values, indices = torch.topk(x, k, dim, largest, True)
    places = torch.sort(x, dim=dim, descending=largest, stable=True).indices
    if x.ndim:
        places = places.narrow(dim, 0, k)
    agree = same(torch.gather(x, dim, indices), values) if x.ndim else True
    if not agree:
        raise AssertionError("PyTorch's indices do not name its values")
    return Both([values, places], lambda lib, x: lib.read_two(lib.topk, x, k, dim, largest), EQUAL)


def nonzero(x, arguments, keywords):
    named(arguments, keywords, "as_tuple")  # the same numbers
    return Both([torch.nonzero(x)], lambda lib, x: [lib.read(lib.nonzero(lib.of(x)))], EQUAL)


# The operations of op_db, by name and variant; what is not here has no counterpart.
OPERATIONS = {
    "as_strided": view_as_strided, "unfold": view_unfold, "flip": view_flip,
    "__getitem__": indexed, "index_select": index_select, "nn.functional.embedding": embedding,
    "gather": gather, "index_add": index_add, "scatter_reduce sum": scatter_reduce,
    "scatter_reduce amax": scatter_reduce, "scatter_reduce amin": scatter_reduce,
    "cumsum": scan("cumsum"), "cumprod": scan("cumprod"), "cummax": cummax, "sort": sort,
    "topk": topk, "nonzero": nonzero,
}


# ---- comparing ----
def same(x, y):
    return x.shape == y.shape and bool(((x == y) | ((x != x) & (y != y))).all())


def same_bits(x, y):
    """Signs of zeros, too; any NaN is one."""
    if x.dtype != y.dtype or not same(x, y):
        return False
    return not x.dtype.is_floating_point or bool((torch.signbit(x) == torch.signbit(y))[x == x].all())


def near(x, expected, operands):
    """Is x the expected, rounded to x's dtype and off by a sum's error, which grows with how many
    there are and how large they are, or by a product's, which grows with it?"""
    if x.shape != expected.shape:
        return False
    terms = [o.double().abs().flatten() for o in operands if o.dtype.is_floating_point]
    large = max([float(t[torch.isfinite(t)].max()) for t in terms if torch.isfinite(t).any()] + [0])
    many = max([max(o.shape, default=1) for o in operands])
    work = torch.finfo(torch.promote_types(x.dtype, torch.float32)).eps  # what it is computed in
    final = torch.finfo(x.dtype).eps
    rounded = expected.to(x.dtype).double()  # infinite where the dtype ends
    x, expected = x.double(), expected.double()
    allowed = final * expected.abs() + 4 * many * work * (expected.abs() + many * large)
    return bool(((x == rounded) | ((x - expected).abs() <= allowed) |
                 ((x != x) & (rounded != rounded))).all())


def on_host(x):
    """x with its whole storage, and so its strides, on the CPU."""
    n = x.untyped_storage().nbytes() if hasattr(x, "untyped_storage") else x.storage().nbytes()
    whole = torch.as_strided(x, (n // x.element_size(),), (1,), 0)
    return torch.as_strided(whole.cpu(), x.shape, x.stride(), x.storage_offset())


def complaint(lib, both, operands):
    """What is wrong with a sample, or nothing."""
    made = both.ours(lib, *operands)
    for x, expected in zip(made, both.expected):
        expected = expected.cpu()
        floats = x.dtype.is_floating_point and both.how == NEAR
        wanted = operands[0].dtype if floats else expected.dtype
        if x.dtype != wanted:
            return f"{x.dtype}, not {wanted}"
        if x.shape != expected.shape:
            return f"{tuple(x.shape)}, not {tuple(expected.shape)}"
        if not (near(x, expected, operands) if floats else same(x, expected)):
            return f"{x.flatten()[:8].tolist()}..., not {expected.flatten()[:8].tolist()}..."
    if operands[0].device.type == "cpu":
        return None
    host = both.ours(lib, *[on_host(o) for o in operands])
    return None if all(map(same_bits, made, host)) else "other bits than the CPU's"


# ---- all samples ----
OPERATION = re.compile(r"\S+( sum| amax| amin)?")


class Counts:
    def __init__(self):
        self.passed = self.failed = 0
        self.shown = collections.Counter()
        self.skipped = collections.Counter()

    def fail(self, what, of=None):
        self.failed += 1
        self.shown[of] += 1
        if of is None or self.shown[of] <= 6:  # of an operation
            print("FAILED", what, flush=True)


def check_sample(lib, counts, adapter, sample, title):
    """1: it was compared."""
    try:
        found = adapter(sample.input, sample.args, sample.kwargs)
    except NoCounterpart as reason:
        counts.skipped[str(reason)] += 1
        return 0
    both, others = (found[0], found[1:]) if type(found) is tuple else (found, ())
    try:
        wrong = complaint(lib, both, [sample.input, *others])
    except (Refused, AttributeError) as error:
        wrong = str(error)
    lib.free_all()
    if wrong:
        keywords = "".join(f" {k}={v}" for k, v in sample.kwargs.items())
        places = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in sample.args]
        x = sample.input
        counts.fail(f"{title} {tuple(x.shape)} by {x.stride()} {places}{keywords}: {wrong}",
                    OPERATION.match(title).group())
    else:
        counts.passed += 1
    return 1


def check_operation(lib, counts, name, info, device):
    compared = 0
    theirs = info.supported_dtypes(device)
    if options.only and not any(wanted(name, dtype, device) for dtype in theirs):
        return
    for dtype in sorted(theirs, key=str):
        if dtype not in DTYPES:
            counts.skipped["dtypes that the library does not have"] += 1
        elif wanted(name, dtype, device):
            torch.manual_seed(20261126)
            for sample in info.sample_inputs(device, dtype, requires_grad=False):
                title = f"{name} {str(dtype)[6:]} {device}"
                compared += check_sample(lib, counts, OPERATIONS[name], sample, title)
    if not compared:
        counts.fail(f"{name} {device}: not one sample was compared")
    print(f"{name}, {device}: {compared} samples", flush=True)


def wanted(name, dtype, device):
    return not options.only or re.search(options.only, f"{name} {str(dtype)[6:]} {device}")


def main():
    torch.set_grad_enabled(False)
    warnings.simplefilter("ignore")
    gpu = torch.cuda.is_available() and options.device != "cpu"
    if options.device == "cuda" and not gpu:
        sys.exit("--device cuda needs a GPU")
    devices = [options.device] if options.device else ["cpu"] + gpu * ["cuda"]
    counts = Counts()
    table, missing = table_of_operations()
    if missing:
        print("without " + ", ".join(missing))
    lib = Library(options.library or build(gpu))
    for name in lib.lacks:
        counts.fail(f"the library has no {name}")
    found = {f"{info.name} {info.variant_test_name}".strip(): info for info in table}
    for name in OPERATIONS:
        if name not in found:
            counts.fail(f"PyTorch's table has no {name}")
            continue
        for device in devices:
            check_operation(lib, counts, name, found[name], device)
    if lib.report_leaks(None):
        counts.fail("tensors are left")
    for reason, times in sorted(counts.skipped.items()):
        print(f"skipped: opinfo: {reason} ({times})")
    print(f"opinfo: {counts.passed} passed, {counts.failed} failed, {sum(counts.skipped.values())} skipped")
    return counts.failed != 0 or counts.passed == 0


if __name__ == "__main__":
    sys.exit(main())
