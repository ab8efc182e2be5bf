#!/usr/bin/env python3
"""The library called from Python, by ctypes: load, make, compute, read. README.md says how to build it.

    python3 examples/21_other_libraries/from_python.py [./libgputensor.so]"""
import ctypes as c
import sys

lib = c.CDLL(sys.argv[1] if len(sys.argv) > 1 else './libgputensor.so')
class Device(c.Structure): _fields_ = [('type', c.c_int), ('index', c.c_int)]
class Shape(c.Structure): _fields_ = [('ndim', c.c_int), ('size', c.c_int64 * 8)]
FLOAT32, tensor = 8, c.c_void_p  # gt_dtype's place of it; a gt_tensor * that Python does not look into

def function(name, result, *arguments):
    f = getattr(lib, name)
    f.restype, f.argtypes = result, arguments
    return f

best_device = function('gt_best_device', Device)
device_string = function('gt_device_string', c.c_char_p, Device)
from_array = function('gt_from_array', tensor, c.c_void_p, Shape, c.c_int, Device)
matmul_eval = function('gt_matmul_eval_n', tensor, tensor, tensor, tensor, c.c_char_p, c.c_int, c.POINTER(tensor))
to_array = function('gt_to_array', c.c_int, tensor, c.c_void_p, c.c_size_t)
free = function('gt_free', None, tensor)
error_message = function('gt_error_message', c.c_char_p)

def make(rows, columns, values):
    return from_array((c.c_float * (rows * columns))(*values), Shape(2, (c.c_int64 * 8)(rows, columns)), FLOAT32, best_device())

x, w, b = make(2, 3, range(6)), make(3, 2, [1, -1] * 3), make(1, 2, [0.5, 4])
y = matmul_eval(None, x, w, b'relu(a + b)', 1, (tensor * 1)(b))  # the macros' own functions end in _n
result = (c.c_float * 4)()
if not y or to_array(y, result, c.sizeof(result)): sys.exit(error_message().decode())
print('relu(x @ w + b) on %s: %s' % (device_string(best_device()).decode(), list(result)))
if list(result) != [3.5, 1.0, 12.5, 0.0]: sys.exit('wrong: the result')
if matmul_eval(None, x, x, b'a', 0, None): sys.exit('wrong: (2, 3) x (2, 3) was computed')
print('a mistake: ' + error_message().decode())
for t in x, w, b, y: free(t)
