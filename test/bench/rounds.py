"""What the benchmarks share: the library that is loaded, rounds in which several functions take turns, and
their medians."""
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def nvcc_target(major, minor):
    """nvcc's option for the GPU of this compute capability. Hopper's own instructions exist as sm_90a only,
    which -arch would compile for later GPUs, too."""
    name = "90a" if major == 9 else f"{major}{minor}"
    return f"-gencode=arch=compute_{name},code=sm_{name}"


def build(capability=None):
    """Builds peers.c where it is older than its sources, for the GPU of that compute capability or for the
    CPU; returns the path of the shared object."""
    made = ROOT / "test" / "build" / f"peers-{'cuda' if capability else 'cpu'}.so"
    sources = [ROOT / "test/bench/peers.c", ROOT / "gputensor.h"]
    command = ["cc", "-O2", "-fopenmp", "-fPIC"]
    if capability:
        sources.append(ROOT / "gputensor_kernels.cu")
        command = ["nvcc", "-O3", "-Xcompiler", "-fPIC,-fopenmp", nvcc_target(*capability)]
    if not made.exists() or made.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        made.parent.mkdir(exist_ok=True)
        files = [str(s) for s in sources if s.suffix != ".h"]
        subprocess.run(command + ["-shared", "-I", str(ROOT)] + files +
                       ["-lm", "-lpthread", "-o", str(made)], check=True)
    return str(made)


def on_a_gpu(torch, f, times):
    """Microseconds of one of `times` between two events, behind a kernel that sleeps until they are enqueued."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(1_000_000)
    start.record()
    f(times)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / times * 1e3


def take_turns(rounds, functions):
    """The results of each function: one a round, after one that warms up and is not counted."""
    results = [[] for _ in functions]
    for f in functions:
        f()
    for _ in range(rounds):
        for r, f in zip(results, functions):
            r.append(f())
    return results


def alternate(rounds, functions):
    """The median of each function's results, in the order given."""
    return [statistics.median(r) for r in take_turns(rounds, functions)]


def compare(rounds, ours, theirs):
    """Medians of both, and the median of each round's ratio: above 1, ours is the faster."""
    a, b = take_turns(rounds, [ours, theirs])
    ratio = statistics.median(y / x for x, y in zip(a, b))
    return statistics.median(a), statistics.median(b), ratio
