#!/usr/bin/env python3
"""Tensors shared with NumPy, PyTorch and CuPy without a copy, both ways, by DLPack. README.md says how to build it.

    python3 examples/21_other_libraries/dlpack.py [./libgputensor.so]"""
import ctypes as c
import importlib
import sys

lib = c.CDLL(sys.argv[1] if len(sys.argv) > 1 else './libgputensor.so')
class Device(c.Structure): _fields_ = [('type', c.c_int), ('index', c.c_int)]
FLOAT32, CPU, CUDA = 8, 1, 2
NAMES = b'dltensor', b'dltensor_versioned'        # of capsules that nobody has taken yet
USED = b'used_dltensor', b'used_dltensor_versioned'
DELETER = 56, 16                                  # its place in the two structures, in bytes

def function(name, result, *arguments, of=lib):
    f = getattr(of, name)
    f.restype, f.argtypes = result, arguments
    return f

to_dlpack = function('gt_to_dlpack', c.c_void_p, c.c_void_p, c.c_int, c.c_int64)
take = function('gt_from_dlpack', c.c_void_p, c.c_void_p, c.c_int, c.c_int64)
current_stream = function('gt_current_stream', c.c_void_p, Device)
stream_native = function('gt_stream_native', c.c_void_p, c.c_void_p)
data = function('gt_data', c.c_void_p, c.c_void_p)
add = function('gt_add', c.c_void_p, c.c_void_p, c.c_void_p, c.c_void_p)
free = function('gt_free', None, c.c_void_p)
error_message = function('gt_error_message', c.c_char_p)
new_capsule = function('PyCapsule_New', c.py_object, c.c_void_p, c.c_char_p, c.c_void_p, of=c.pythonapi)
name_of = function('PyCapsule_GetName', c.c_char_p, c.py_object, of=c.pythonapi)
pointer_of = function('PyCapsule_GetPointer', c.c_void_p, c.py_object, c.c_char_p, of=c.pythonapi)
rename = function('PyCapsule_SetName', c.c_int, c.py_object, c.c_char_p, of=c.pythonapi)

@c.CFUNCTYPE(None, c.c_void_p)
def end_capsule(address):
    """Of a capsule that nobody has taken: what it holds ends with it."""
    api = c.pythonapi
    is_valid = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p)(('PyCapsule_IsValid', api))
    pointer = c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.c_char_p)(('PyCapsule_GetPointer', api))
    for name, place in zip(NAMES, DELETER):
        if is_valid(address, name):
            managed = pointer(address, name)
            c.CFUNCTYPE(None, c.c_void_p)(c.c_void_p.from_address(managed + place).value)(managed)

class Tensor:
    """A gt_tensor * with Python's two methods of DLPack."""
    def __init__(self, handle):
        if not handle: raise BufferError(error_message().decode())
        self.handle = handle
    def __del__(self):
        if hasattr(self, 'handle'): free(self.handle)
    def __dlpack_device__(self):
        _, kind, index = (c.c_int * 3).from_address(self.handle)  # dtype, device
        return kind, index
    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or dl_device not in (None, self.__dlpack_device__()): raise BufferError('it is shared as it is, or not')
        versioned = max_version is not None and max_version[0] >= 1
        managed = to_dlpack(self.handle, versioned, stream or 0)
        if not managed: raise BufferError(error_message().decode())
        return new_capsule(managed, NAMES[versioned], end_capsule)

def from_dlpack(x):
    kind, index = x.__dlpack_device__()
    stream = stream_native(current_stream(Device(kind, index))) if kind == CUDA else None
    try: capsule = x.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError: capsule = x.__dlpack__(stream=stream)  # before DLPack 1
    name = name_of(capsule)
    versioned = NAMES.index(name)
    managed = pointer_of(capsule, name)
    rename(capsule, USED[versioned])  # it is ours now, also if it is refused
    return Tensor(take(managed, versioned, stream or 0))

def check(right, what):
    if not right: sys.exit('wrong: ' + what)

def both_ways(library, what, make, address, sum_of):
    """theirs -> ours -> theirs: one memory, and what either writes the other reads."""
    theirs = make()
    wanted = 2 * sum_of(theirs)
    ours = from_dlpack(theirs)
    check(data(ours.handle) == address(theirs), 'the address in the library')
    check(add(ours.handle, ours.handle, ours.handle), error_message().decode())  # in place
    back = library.from_dlpack(ours)
    check(address(back) == address(theirs), 'the address that came back')
    check(sum_of(back) == wanted, 'the values')
    made = library.from_dlpack(Tensor(add(None, ours.handle, ours.handle)))  # of our own memory
    check(sum_of(made) == 2 * wanted, 'what the library made')
    del ours, theirs
    check(sum_of(back) == wanted, 'the values, when all others had gone')
    print('%s: one memory, sum %g' % (what, wanted))

def module(name):
    try: return importlib.import_module(name)
    except ImportError: print('skipped: %s is not here' % name)

numpy, torch, cupy = module('numpy'), module('torch'), module('cupy')
if numpy:
    make = lambda: numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    both_ways(numpy, 'NumPy', make, lambda a: a.ctypes.data, lambda a: float(a.sum()))
    both_ways(numpy, 'NumPy, transposed', lambda: make().T, lambda a: a.ctypes.data, lambda a: float(a.sum()))
    a = make()
    before = sys.getrefcount(a)
    kept = from_dlpack(a)
    check(sys.getrefcount(a) > before, 'NumPy knows nothing of us')
    del kept
    check(sys.getrefcount(a) == before, 'its deleter was not called, or more than once')
    for bad, why in (numpy.zeros(3, numpy.complex64), 'none of ours'), (numpy.zeros(3, numpy.uint32), 'none of ours'):
        try: from_dlpack(bad)
        except BufferError as error: check(why in str(error), str(error))
        else: check(False, str(bad.dtype) + ' was taken')
        function('gt_clear_error', None)()
    own = from_dlpack(a)
    capsule = own.__dlpack__()
    del own, capsule  # which nobody has taken
if torch:
    for device in ['cpu'] + ['cuda:%d' % i for i in range(torch.cuda.device_count())]:
        make = lambda: torch.arange(1 << 20, dtype=torch.float32, device=device) % 7
        both_ways(torch, 'PyTorch, ' + device, make, lambda t: t.data_ptr(), lambda t: t.sum(dtype=torch.float64).item())
        if device == 'cpu': continue
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream()):
            both_ways(torch, 'PyTorch, another stream of ' + device, make, lambda t: t.data_ptr(),
                      lambda t: t.sum(dtype=torch.float64).item())
if cupy:
    make = lambda: cupy.arange(1 << 20, dtype=cupy.float32) % 7
    both_ways(cupy, 'CuPy', make, lambda a: a.data.ptr, lambda a: float(a.sum(dtype=cupy.float64)))
check(function('gt_report_leaks', c.c_int64, c.c_void_p)(None) == 0, 'tensors are left')
