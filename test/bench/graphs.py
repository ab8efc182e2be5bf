"""Replayed graphs beside PyTorch's, in the same run: a chain of small additions, and lesson 09's training.

    nvcc -O3 -shared -Xcompiler -fPIC,-fopenmp -arch=sm_90a -I. test/bench/graphs.c gputensor_kernels.cu -o graphs.so
    nvcc -O3 -Xcompiler -fopenmp -arch=sm_90a -I. examples/09_train_digits.c gputensor_kernels.cu -o digits
    python3 test/bench/graphs.py ./graphs.so ./digits

Each figure is the median of rounds in which all take turns. PyTorch trains the same network by its own
means: autograd, and SGD with momentum. Its graph holds the steps of a whole epoch, as ours does; in
front of it both draw an order and noise, and behind it both read the loss.
"""
import ctypes
import math
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

sys.dont_write_bytecode = True
from rounds import alternate

ROOT = pathlib.Path(__file__).resolve().parents[2]
lib = ctypes.CDLL(sys.argv[1])
digits = sys.argv[2]
for name in ("bench_replay", "bench_calls", "bench_traced", "bench_error"):
    getattr(lib, name).restype = ctypes.c_double
lib.bench_message.restype = ctypes.c_char_p
dev = torch.device("cuda:0")


# ---- a chain of additions ----
a, b = torch.rand(1024, device=dev), torch.rand(1024, device=dev)
out = torch.empty_like(a)


def recorded(work):
    """A CUDA graph of the work, which ran three times before on a stream of its own, as PyTorch's manual has it."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


def timed(work):
    torch.cuda.synchronize()
    t = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return (time.perf_counter() - t) * 1e6


def chain(length, rounds=41, replays=20):
    def additions():
        for _ in range(length):
            torch.add(a, b, out=out)

    def repeat(work):
        for _ in range(replays):
            work()

    if lib.bench_record(length):
        sys.exit(lib.bench_message().decode())
    graph = recorded(additions)
    functions = [lambda: lib.bench_replay(replays),
                 lambda: timed(lambda: repeat(graph.replay)) / (length * replays),
                 lambda: lib.bench_calls(replays),
                 lambda: timed(lambda: repeat(additions)) / (length * replays),
                 lambda: lib.bench_traced(replays)]
    ours, theirs, calls, their_calls, traced = alternate(rounds, functions)
    if lib.bench_error() != 0 or not torch.equal(out, a + b):
        sys.exit("wrong results")
    print(f"{length:5} additions of 1,024 elements, us each: graph {ours:.3f}, PyTorch's {theirs:.3f} "
          f"({theirs / ours:.2f} times ours); calls {calls:.3f}, PyTorch's {their_calls:.3f}; "
          f"calls with a trace {traced:.3f} ({traced / calls:.2f} times)")


# ---- lesson 09's training ----
EPOCHS, BATCH, NOISE = 40, 32, 0.3


class Training:
    """The lesson's network and data, trained by PyTorch; graph: replayed by epochs."""

    def __init__(self, graph):
        data = ROOT / "examples/data"
        images = torch.from_numpy(np.load(data / "digits_images.npy")).reshape(-1, 64).float().to(dev) / 16
        labels = torch.from_numpy(np.load(data / "digits_labels.npy")).reshape(-1).long().to(dev)
        n = labels.numel()
        kept = n - n // 3
        order = torch.randperm(n, device=dev)
        self.x, self.label = images[order][:kept], labels[order][:kept]
        self.held_x, self.held_label = images[order][kept:], labels[order][kept:]
        self.model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).to(dev)
        self.rate = torch.tensor(0.1, device=dev)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.rate, momentum=0.9, fused=True)
        self.mixed, self.mixed_label = self.x.clone(), self.label.clone()
        self.loss = torch.zeros((), device=dev)
        self.graph = recorded(self.steps) if graph else None

    def steps(self):
        self.loss.zero_()
        for i in range(0, self.mixed_label.numel(), BATCH):
            self.optimizer.zero_grad(set_to_none=False)
            loss = F.cross_entropy(self.model(self.mixed[i:i + BATCH]), self.mixed_label[i:i + BATCH])
            loss.backward()
            self.optimizer.step()
            self.loss += loss.detach() * self.mixed_label[i:i + BATCH].numel()

    def epoch(self, number):
        self.rate.fill_(0.05 * (1 + math.cos(math.pi * (number - 1) / EPOCHS)))
        order = torch.randperm(self.label.numel(), device=dev)
        self.mixed.copy_(self.x[order] + NOISE * torch.randn_like(self.x))
        self.mixed_label.copy_(self.label[order])
        if self.graph:
            self.graph.replay()
        else:
            self.steps()
        return self.loss.item() / self.label.numel()

    def run(self):
        """The median epoch in milliseconds, and how many of the held-out digits are read right."""
        times = []
        for number in range(1, EPOCHS + 1):
            t = time.perf_counter()
            self.epoch(number)
            times.append((time.perf_counter() - t) * 1e3)
        with torch.no_grad():
            right = (self.model(self.held_x).argmax(1) == self.held_label).float().mean().item()
        return statistics.median(times), 100 * right


def ours(*options):
    """The lesson as it stands: the median of its epochs, and its last accuracy."""
    text = subprocess.run([digits, "--device", "cuda", "--epochs", str(EPOCHS), *options], cwd=ROOT, check=True,
                          capture_output=True, text=True).stdout
    lines = re.findall(r"^epoch +\d+ +loss ([\d.]+) +held out ([\d.]+) % +([\d.]+) ms", text, re.M)
    return statistics.median(float(ms) for _, _, ms in lines), float(lines[-1][1]), [loss for loss, _, _ in lines]


def training(rounds=5):
    result = {name: [] for name in ("ours", "ours, graph", "PyTorch", "PyTorch, graph")}
    right = {}
    for _ in range(rounds):
        plain, graph = ours(), ours("--graph")
        if plain[2] != graph[2]:
            sys.exit("the graph's losses differ from the calls'")
        runs = {"ours": plain, "ours, graph": graph, "PyTorch": Training(False).run(),
                "PyTorch, graph": Training(True).run()}
        for name, (ms, accuracy, *_) in runs.items():
            result[name].append(ms)
            right[name] = accuracy
    print("training of lesson 09, ms an epoch of 38 steps: " + ", ".join(
        f"{name} {statistics.median(ms):.2f} ({right[name]:.1f} % right)" for name, ms in result.items()))
    print(f"our graph: {statistics.median(result['ours']) / statistics.median(result['ours, graph']):.2f} times as fast as "
          f"our calls, {statistics.median(result['PyTorch, graph']) / statistics.median(result['ours, graph']):.2f} times "
          "as fast as PyTorch's graph")


print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
for length in (10, 100, 1000):
    chain(length)
training()
