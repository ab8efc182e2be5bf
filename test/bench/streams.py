"""What streams cost and gain, beside PyTorch in the same process: each figure is the median of rounds
in which the two alternate.

    nvcc -O3 -shared -Xcompiler -fPIC,-fopenmp -arch=sm_90a -I. test/bench/streams.c gputensor_kernels.cu -o streams.so
    python3 test/bench/streams.py ./streams.so
"""
import ctypes
import sys
import time

import torch

from rounds import alternate

lib = ctypes.CDLL(sys.argv[1])
for name in ("bench_add", "bench_add_new", "bench_launch", "bench_order", "bench_chunks",
             "bench_chunks_to", "bench_both"):
    getattr(lib, name).restype = ctypes.c_double
UPLOAD, COMPUTE, DOWNLOAD = 1, 2, 4
ALL = UPLOAD | COMPUTE | DOWNLOAD
dev = torch.device("cuda:0")


def timed(f):
    torch.cuda.synchronize()
    t = time.perf_counter()
    f()
    torch.cuda.synchronize()
    return (time.perf_counter() - t) * 1e6


a, b = torch.rand(1024, device=dev), torch.rand(1024, device=dev)
o = torch.empty_like(a)


def torch_add(calls=1000):
    torch.cuda.synchronize()
    t = time.perf_counter()
    for _ in range(calls):
        torch.add(a, b, out=o)
    t = time.perf_counter() - t
    torch.cuda.synchronize()
    return t / calls * 1e6


def torch_add_new(calls=1000):
    torch.cuda.synchronize()
    t = time.perf_counter()
    for _ in range(calls):
        torch.add(a, b)
    t = time.perf_counter() - t
    torch.cuda.synchronize()
    return t / calls * 1e6


n, chunk = 16, 1 << 22
pinned = [torch.rand(chunk).pin_memory() for _ in range(n)]
pinned_out = [torch.empty(chunk).pin_memory() for _ in range(n)]
plain, plain_out = [torch.rand(chunk) for _ in range(n)], [torch.zeros(chunk) for _ in range(n)]
buffers = [torch.empty(chunk, device=dev) for _ in range(n)]
streams = [torch.cuda.Stream() for _ in range(4)]


def torch_chunks(n_streams, source, target, late):
    """As the library's bench_chunks; `late`: downloads after all else, since they block."""
    def go():
        for i in range(n):
            with torch.cuda.stream(streams[i % n_streams]):
                buffers[i].copy_(source[i], non_blocking=True)
                for _ in range(20):
                    buffers[i].mul_(1.0001).add_(1e-6)
                if not late:
                    target[i].copy_(buffers[i], non_blocking=True)
        for i in range(n if late else 0):
            with torch.cuda.stream(streams[i % n_streams]):
                target[i].copy_(buffers[i], non_blocking=True)
    return timed(go)


def torch_compute(n_streams):
    def go():
        for i in range(n):
            with torch.cuda.stream(streams[i % n_streams]):
                for _ in range(20):
                    buffers[i].mul_(1.0001).add_(1e-6)
    return timed(go)


def torch_chunks_to():
    def go():
        result = []
        for i in range(n):
            with torch.cuda.stream(streams[i % 4]):
                buffers[i].copy_(plain[i], non_blocking=True)
                for _ in range(20):
                    buffers[i].mul_(1.0001).add_(1e-6)
        for i in range(n):
            with torch.cuda.stream(streams[i % 4]):
                result.append(buffers[i].cpu())
    return timed(go)


print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
print(f"results are {'right' if lib.bench_right() else 'WRONG'}")
print("\nhost time of one operation on 1024 float32, us")
launch, ours, theirs, ours_new, theirs_new, order = alternate(31, [
    lambda: lib.bench_launch(1000), lambda: lib.bench_add(1000), torch_add,
    lambda: lib.bench_add_new(1000), torch_add_new, lambda: lib.bench_order(10000)])
print(f"bare launch                      {launch:8.3f}")
print(f"add into a given tensor          {ours:8.3f}   above the launch {ours - launch:6.3f}   PyTorch {theirs:7.3f}")
print(f"add with a new result            {ours_new:8.3f}                            PyTorch {theirs_new:7.3f}")
print(f"order, number and lock, of these {order:8.3f}")

print("\n16 chunks of 16 MiB: upload, 40 elementwise kernels, download, us")
up, down, both = alternate(11, [
    lambda: lib.bench_chunks(1, UPLOAD, 1), lambda: lib.bench_chunks(1, DOWNLOAD, 1), lib.bench_both])
comp = alternate(11, [lambda: lib.bench_chunks(1, COMPUTE, 1), lambda: lib.bench_chunks(2, COMPUTE, 1),
                      lambda: lib.bench_chunks(4, COMPUTE, 1), lambda: torch_compute(1),
                      lambda: torch_compute(2), lambda: torch_compute(4)])
print(f"uploads {up:.0f}, downloads {down:.0f}, copies in both directions at once {both:.0f}")
print("compute alone on 1, 2, 4 streams {:.0f} {:.0f} {:.0f}           PyTorch {:.0f} {:.0f} {:.0f}".format(*comp))
ideal = max(both, comp[2]) + min(both, comp[2]) / n
print(f"ideal, of the copies and the compute on four streams: the longer, and a chunk of the other: {ideal:.0f}")
one, four, torch_one, torch_four = alternate(21, [
    lambda: lib.bench_chunks(1, ALL, 1), lambda: lib.bench_chunks(4, ALL, 1),
    lambda: torch_chunks(1, pinned, pinned_out, False), lambda: torch_chunks(4, pinned, pinned_out, False)])
print(f"pinned, one stream               {one:8.0f}  ({one / ideal:.2f} of ideal)   PyTorch {torch_one:8.0f}  ({torch_one / ideal:.2f})")
print(f"pinned, four streams             {four:8.0f}  ({four / ideal:.2f} of ideal)   PyTorch {torch_four:8.0f}  ({torch_four / ideal:.2f})")
given, to, torch_early, torch_late, torch_to = alternate(11, [
    lambda: lib.bench_chunks(4, ALL, 0), lambda: lib.bench_chunks_to(4),
    lambda: torch_chunks(4, plain, plain_out, False), lambda: torch_chunks(4, plain, plain_out, True),
    torch_chunks_to])
best = min(torch_early, torch_late)
print(f"malloc to malloc, four streams   {given:8.0f}                     PyTorch {best:8.0f}  ({best / given:.2f} times ours)")
print(f"malloc to a new host tensor      {to:8.0f}                     PyTorch {torch_to:8.0f}  ({torch_to / to:.2f} times ours)")
