"""Copies to another GPU that change the strides, beside PyTorch's copy_; two GPUs of one host.

    python3 test/bench/across.py [LIBRARY ...]

LIBRARY is peers.c with the kernels as a shared object, named NAME=PATH; of several all take turns. If
none is given it is built into test/build. All have their own memory: the library's comes from its pool,
which it opens to the other GPU, PyTorch's from PyTorch. A round is one copy, alone, or eight queued ones on
the default streams, timed by the clock until both GPUs have done them; printed are the medians of
microseconds a copy, the medians of the rounds' ratios to PyTorch, above 1 where the library is the faster,
and the first library's rate. Results are compared.
"""
import ctypes
import statistics
import sys
import time

import torch

sys.dont_write_bytecode = True
from rounds import build, take_turns

LINES = [  # name, shape of the source's memory, the view that is copied, and of the destination's memory
    ("dense", (8192, 8192), lambda x: x, lambda y: y),
    ("transposed", (8192, 8192), lambda x: x.permute(1, 0), lambda y: y),
    ("(a, b, c) to (c, a, b)", (256, 512, 512), lambda x: x.permute(2, 0, 1), lambda y: y),
    ("(a, b, c) to (b, a, c)", (256, 512, 512), lambda x: x.permute(1, 0, 2), lambda y: y),
    ("every 2nd column", (8192, 16384), lambda x: x[:, ::2], lambda y: y),
    ("every 2nd row", (16384, 8192), lambda x: x[::2], lambda y: y),
    ("to every 2nd column", (8192, 8192), lambda x: x, lambda y: y[:, ::2]),
    ("to every 2nd row", (8192, 8192), lambda x: x, lambda y: y[::2]),
    ("transposed, to every 2nd row", (8192, 8192), lambda x: x.permute(1, 0), lambda y: y[::2]),
]


class Shape(ctypes.Structure):
    _fields_ = [("ndim", ctypes.c_int), ("size", ctypes.c_int64 * 8)]

    def __init__(self, sizes):
        super().__init__(len(sizes), (ctypes.c_int64 * 8)(*sizes))


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


GPU = Device(2, 0), Device(2, 1)
DTYPE = {torch.bfloat16: 7, torch.float32: 8}
P = ctypes.c_void_p
FUNCTIONS = {"gt_empty": (P, Shape, ctypes.c_int, Device), "gt_from_ptr": (P, P, Shape, ctypes.c_int, Device, P, P),
             "gt_as_strided": (P, P, Shape, Shape, ctypes.c_int64), "gt_copy": (P, P, P), "gt_free": (None, P),
             "gt_synchronize": (ctypes.c_int, Device), "gt_error_message": (ctypes.c_char_p,)}


def both_done():
    for i in range(2):
        torch.cuda.synchronize(i)


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(self.c, name)
            function.restype, function.argtypes = result, arguments

    def check(self, good):
        return good or sys.exit("the library: " + self.c.gt_error_message().decode())

    def like(self, x, index):
        """The same view of memory of its own; also a handle on all of that."""
        memory = self.check(self.c.gt_empty(Shape([x.untyped_storage().nbytes() // x.element_size()]), DTYPE[x.dtype],
                                            GPU[index]))
        view = self.check(self.c.gt_as_strided(memory, Shape(x.shape), Shape(x.stride()), x.storage_offset()))
        return view, memory

    def move(self, memory, x, brings):
        """Between that memory and that of PyTorch's tensor, of one GPU."""
        both_done()
        flat = x.as_strided((x.untyped_storage().nbytes() // x.element_size(),), (1,))
        theirs = self.check(self.c.gt_from_ptr(flat.data_ptr(), Shape(flat.shape), DTYPE[x.dtype],
                                               GPU[x.device.index], None, None))
        self.check(self.c.gt_copy(*((memory, theirs) if brings else (theirs, memory))))
        self.c.gt_synchronize(GPU[x.device.index])
        self.c.gt_free(theirs)


def clocked(f, copies):
    both_done()
    start = time.perf_counter()
    for _ in range(copies):
        f()
    both_done()
    return (time.perf_counter() - start) / copies * 1e6


def line(libraries, name, shape, source, destination, dtype):
    x = source(torch.randn(shape, device="cuda:0").to(dtype))
    y = destination(torch.zeros(memory_of(x.shape, destination), dtype=dtype, device="cuda:1"))
    functions, handles, wrong = [], [], []
    for label, lib in libraries.items():
        (a, a_all), (b, b_all) = lib.like(x, 0), lib.like(y, 1)
        lib.move(a_all, x, True)
        lib.check(lib.c.gt_copy(b, a))
        both_done()
        y.zero_()
        lib.move(b_all, y, False)
        if not torch.equal(y.cpu(), x.cpu()):
            wrong.append(label)
        functions.append(lambda lib=lib, a=a, b=b: lib.c.gt_copy(b, a))
        handles += [(lib, t) for t in (a, b, a_all, b_all)]
    functions.append(lambda: y.copy_(x, non_blocking=True))
    for copies in (1, 8):
        *ours, theirs = take_turns(15, [lambda f=f: clocked(f, copies) for f in functions])
        medians = [statistics.median(us) for us in (*ours, theirs)]
        ratios = [statistics.median(q / p for p, q in zip(us, theirs)) for us in ours]
        print(f"{name:<30} {str(dtype)[6:]:<9} {copies:<7}" + "".join(f"{us:9.1f}" for us in medians) +
              "".join(f"{r:8.2f}" for r in ratios) + f"{x.numel() * x.element_size() / medians[0] / 1e3:9.0f}" +
              "".join(f" WRONG: {label}" for label in wrong), flush=True)
    for lib, t in handles:
        lib.c.gt_free(t)


def memory_of(shape, destination):
    """The shape of which that view is of this shape."""
    probe = destination(torch.empty([8] * len(shape))).shape
    return [n * 8 // p for n, p in zip(shape, probe)]


def main():
    given = dict(one.split("=") for one in sys.argv[1:])
    libraries = {name: Library(path) for name, path in
                 (given or {"ours": build(torch.cuda.get_device_capability())}).items()}
    if torch.cuda.device_count() < 2:
        sys.exit("needs two GPUs")
    print(f"{torch.cuda.get_device_name()} and another, PyTorch {torch.__version__}, CUDA {torch.version.cuda}\n")
    print(f"{'us a copy of 2^26':<30} {'dtype':<9} {'copies':<7}" + "".join(f"{name:>9}" for name in (*libraries, "PyTorch")) +
          "".join(f"{name:>8}" for name in libraries) + f"{'GB/s':>9}")
    for dtype in (torch.float32, torch.bfloat16):
        for one in LINES:
            line(libraries, *one, dtype)


main()
