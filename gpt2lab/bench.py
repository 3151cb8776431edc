"""How fast a model runs on this machine: first token, next tokens, parts, memory."""
import statistics
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from .kvcache import KVCache
from .model import GPT2

REPEATS = 3


def bench(model, tokens=100):
    """Measured figures as {name: number}; seconds unless the name says otherwise.

    One warm-up run is not counted; medians of 3 runs. The prompt has 32 tokens, or what the
    context leaves. Raises: ValueError where the context cannot hold prompt and new tokens.
    """
    N = model.config.n_positions
    if not 2 <= tokens < N:
        raise ValueError(f"bench: --tokens must be from 2 to N - 1 = {N - 1}, got {tokens}")
    prompt = list(range(min(32, N - tokens)))
    runs = [_run(model, prompt, tokens) for _ in range(1 + REPEATS)][1:]
    first, each = (statistics.median(run[i] for run in runs) for i in (0, 1))
    weight_bytes = sum(a.nbytes for name, a in model.weights.items() if name != "wpe.weight")
    peak, bandwidth = _peak_memory(), _bandwidth()      # the peak first: what follows holds more
    spread = max(run[1] for run in runs) - min(run[1] for run in runs)
    return {"prompt_tokens": len(prompt), "new_tokens": tokens, "time_to_first_token": first,
            "time_per_token": each, "time_per_token_spread": spread,
            "tokens_per_second": 1 / each, **_parts(model, prompt, tokens),
            **_growth(model), "peak_memory_bytes": peak, "bytes_read_per_token": weight_bytes,
            "bandwidth_used_bytes_per_second": weight_bytes / each,
            "bandwidth_of_machine_bytes_per_second": bandwidth,
            "share_of_bandwidth": weight_bytes / each / bandwidth}


def _run(model, prompt, tokens):
    """(seconds to the first token, seconds for each of the next ones) of one greedy run."""
    cache, start = KVCache(model.config), time.perf_counter()
    chosen = int(model.next_logits(prompt, cache).argmax())
    first = time.perf_counter()
    for _ in range(tokens - 1):
        chosen = int(model.next_logits([chosen], cache).argmax())
    return first - start, (time.perf_counter() - first) / (tokens - 1)


def _parts(model, prompt, tokens):
    """Share of the time that each part takes by itself, measured around one run's operations."""
    inside = [0.0]                              # seconds in the parts that the running part calls
    parts = {"embed": 0.0, "layer_norm": 0.0, "attend_heads": 0.0, "mlp": 0.0, "lm_head": 0.0}

    def timed(name, function):
        def call(*arguments, **named):
            inside.append(0.0)
            start = time.perf_counter()
            result = function(*arguments, **named)
            seconds = time.perf_counter() - start
            parts[name] += seconds - inside.pop()
            inside[-1] += seconds
            return result
        return call
    ops = replace(model.ops, **{name: timed(name, getattr(model.ops, name)) for name in parts})
    watched = GPT2(model.config, model.weights, model.tokenizer, ops)
    _run(watched, prompt, 2)                    # warm-up
    parts.update(dict.fromkeys(parts, 0.0))
    start = time.perf_counter()
    _run(watched, prompt, tokens)
    total = time.perf_counter() - start
    return {f"share_of_{name}": seconds / total for name, seconds in parts.items()}


def _growth(model):
    """Seconds for one more token after an eighth, a quarter, half, all but one of the context."""
    cache, N, found = KVCache(model.config), model.config.n_positions, {}
    cache.keys[:] = cache.values[:] = 0.5       # the time does not depend on the numbers
    for length in sorted({N // 8, N // 4, N // 2, N - 1}):
        times = []
        for _ in range(1 + REPEATS):
            cache.length, start = length, time.perf_counter()
            model.next_logits([0], cache)
            times.append(time.perf_counter() - start)
        found[f"time_per_token_after_{length}_tokens"] = statistics.median(times[1:])
    return found


def _bandwidth():
    """Bytes a second that this machine reads from memory: best of five products with a vector."""
    matrix, vector = np.ones((16_000, 4_000), np.float32), np.ones(4_000, np.float32)   # 256 MB
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        matrix @ vector                         # through BLAS, with the model's number of threads
        best = min(best, time.perf_counter() - start)
    return matrix.nbytes / best


def _peak_memory():
    """Most bytes that this process has held, as the system counts; None where it does not say."""
    try:                                        # Linux, where getrusage counts the parent's too
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:                         # Windows
        return None
    import sys
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
