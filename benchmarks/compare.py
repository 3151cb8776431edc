"""gpt2lab beside what people would use instead, in one run: speed, cold start, memory.

    python benchmarks/compare.py            a table
    python benchmarks/compare.py --json     the same for machines

Two threads each, float32, random weights of GPT-2 124M's exact shape. Every contestant is a process
of its own that waits for orders; the repeats alternate, and ratios are taken repeat by repeat, so
that a slow moment of the machine hits both sides. Needs requirements-slow.txt; takes some minutes.

  gpt2lab        this library
  transformers   generate() with its KV cache, torch on the CPU
  bound          every weight matrix of the model times one vector, through the BLAS of gpt2lab, and
                 nothing else: no program that reads all weights for a token can be faster
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from recipes import write_124m

ROOT = Path(__file__).resolve().parents[1]
THREADS = "2"
SETTLE = 0.5        # seconds between two contestants: the threads of a BLAS run on for a while
PROMPT, NEW = list(range(1000, 1032)), 100
LONG, LATE = list(range(2000, 2512)), list(range(3000, 3256))
ENVIRONMENT = os.environ | {
    "OMP_NUM_THREADS": THREADS, "OPENBLAS_NUM_THREADS": THREADS, "MKL_NUM_THREADS": THREADS,
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "PYTHONPATH": str(ROOT)}


# ---- contestants: {what: function}, each run in a process of its own

def gpt2lab(folder):
    import numpy as np

    from gpt2lab import KVCache, load
    model = load(folder)
    matrices = [w for name, w in model.weights.items() if w.ndim == 2 and name != "wpe.weight"]
    cache = KVCache(model.config)
    vectors = {n: np.ones((1, n), np.float32) for w in matrices for n in w.shape}

    def bound():                        # as the file has them: x W, and x W^T with the token table
        for w in matrices:
            vectors[w.shape[1]] @ w.T if len(w) == model.config.vocab_size else vectors[len(w)] @ w

    def write(new):
        model.generate_ids(PROMPT, max_new_tokens=new, temperature=0, eos_token_id=None)

    def step_at(length):
        cache.length = length                   # the cache has been filled that far before
        model.next_logits([7], cache)

    model.next_logits(LATE[:min(len(LATE), model.config.n_positions - 1)], cache)
    return {"write": write,
            "prefill": lambda _: model.next_logits(LONG[:model.config.n_positions]),
            "bound": lambda _: bound(),
            "cached step": step_at,
            "uncached step": lambda length: model.next_logits(LATE[:length])}


def transformers(folder):
    import torch
    from transformers import GPT2LMHeadModel
    torch.set_num_threads(int(THREADS))
    model = GPT2LMHeadModel.from_pretrained(folder, dtype=torch.float32).eval()
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = None, 0

    def write(new):
        model.generate(torch.tensor([PROMPT]), do_sample=False, max_new_tokens=new,
                       min_new_tokens=new)

    def prefill(_):
        with torch.no_grad():
            model(torch.tensor([LONG]), use_cache=True, logits_to_keep=1)
    return {"write": write, "prefill": prefill}


CONTESTANTS = {"gpt2lab": gpt2lab, "transformers": transformers}


def obey(name, folder):
    """The contestant's process: for each order [what, argument] a line with the seconds it took."""
    orders = CONTESTANTS[name](folder)
    print("ready", flush=True)
    for line in sys.stdin:
        what, argument = json.loads(line)
        begin = time.perf_counter()
        orders[what](argument)
        print(time.perf_counter() - begin, flush=True)


class Contestant:
    """A process that takes orders: contestant("write", 100) -> seconds."""

    def __init__(self, name, folder):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--obey", name, "--folder", str(folder)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit(f"compare: {name} did not start")

    def __call__(self, what, argument=None):
        print(json.dumps([what, argument]), file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ---- measurements

def speeds(folder, tiny, repeats):
    """Seconds of each repeat, {"contestant what": [...]}; without the first one, a warm-up."""
    ours, theirs = Contestant("gpt2lab", folder), Contestant("transformers", folder)
    small, took = Contestant("gpt2lab", tiny), {}

    def note(name, seconds):
        took.setdefault(name, []).append(seconds)
    for repeat in range(repeats + 1):
        say(f"speed: repeat {repeat} of {repeats}")
        for name, contestant in (("gpt2lab", ours), ("transformers", theirs)):
            time.sleep(SETTLE)
            first, all_of_them = contestant("write", 1), contestant("write", NEW)
            note(f"{name} first token", first)
            note(f"{name} next token", (all_of_them - first) / (NEW - 1))
            note(f"{name} prefill", contestant("prefill"))
            if contestant is ours:
                bounds = [ours("bound") for _ in range(15)]
                steps = [ours("cached step", len(LATE) - 1) for _ in range(5)]
                note("bound next token", statistics.median(bounds))
                note("cached step", statistics.median(steps))
                note("uncached step", ours("uncached step", len(LATE)))
        time.sleep(SETTLE)
        note("tiny next token", (small("write", NEW) - small("write", 1)) / (NEW - 1))
        note("tiny bound next token", statistics.median(small("bound") for _ in range(50)))
    for contestant in (ours, theirs, small):
        contestant.close()
    return {name: seconds[1:] for name, seconds in took.items()}


START = {"gpt2lab": """
import gpt2lab
m = gpt2lab.load({folder!r})
m.generate_ids({ids}, max_new_tokens={new}, temperature=0, eos_token_id=None)
""", "transformers": """
import torch
from transformers import GPT2LMHeadModel
torch.set_num_threads(2)
m = GPT2LMHeadModel.from_pretrained({folder!r}, dtype=torch.float32).eval()
m.generate(torch.tensor([{ids}]), do_sample=False, max_new_tokens={new}, pad_token_id=0)
"""}
PEAK = """
print([l.split()[1] for l in open("/proc/self/status") if l.startswith("VmHWM")][0], flush=True)
"""


def run_new(name, folder, new):
    """(seconds from process start until the tokens are there, peak bytes) of a new process."""
    program = START[name].format(folder=str(folder), ids=PROMPT, new=new) + PEAK
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                               env=ENVIRONMENT)
    peak = 1024 * int(process.stdout.readline())
    seconds = time.perf_counter() - begin
    process.wait()
    return seconds, peak


def starts(folder, tiny, repeats):
    """Cold starts (the files are in the page cache) and peak memory, alternating."""
    found = {}
    for repeat in range(repeats + 1):
        say(f"cold start: repeat {repeat} of {repeats}")
        for model, where in (("124M", folder), ("tiny", tiny)):
            for name in START:
                found.setdefault(f"{name} {model} start", []).append(run_new(name, where, 1)[0])
    found = {name: seconds[1:] for name, seconds in found.items()}
    for name in START:
        say(f"peak memory of {name}")
        found[f"{name} 124M peak"] = [run_new(name, folder, NEW)[1]]
    return found


def say(what):
    print(what, file=sys.stderr, flush=True)


def ticks():
    """(idle, taken by the host, all) ticks of the processors so far; None where unknown."""
    try:
        values = [int(v) for v in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return values[3] + values[4], values[7], sum(values)
    except OSError:
        return None


def others_busy(seconds=2.0):
    """Share of the processors' time that others take while this one sleeps; None where unknown."""
    before = ticks()
    time.sleep(seconds)
    return before and 1 - (ticks()[0] - before[0]) / (ticks()[2] - before[2])


def machine():
    import numpy as np
    names = [platform.processor()]
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {"processor": names[0] if names else "unknown", "processors": os.cpu_count(),
            "threads": int(THREADS), "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "torch", "transformers")},
            "blas": f"{blas['name']} {blas['version']}"}


def ratio(above, below):
    """Median of the ratios, repeat by repeat."""
    return statistics.median(a / b for a, b in zip(above, below))


def summary(took, found, file_bytes):
    """[(what, gpt2lab's figure, the other's, ratio, goal)]; ratios above 1 favour gpt2lab."""
    took = took | found
    rows = []

    def row(what, ours, other, goal, figure=lambda seconds: seconds):
        rows.append((what, figure(statistics.median(took[ours])),
                     figure(statistics.median(took[other])), ratio(took[other], took[ours]), goal))

    def rate(what, ours, other, goal):
        row(what, ours, other, goal, lambda seconds: 1 / seconds)

    rate("decode, tokens a second, beside transformers",
         "gpt2lab next token", "transformers next token", 1.1)
    rate("decode, tokens a second, beside the bound",
         "gpt2lab next token", "bound next token", 0.92)
    row(f"prefill of {len(LONG)} tokens, s", "gpt2lab prefill", "transformers prefill", 0.9)
    row(f"token {len(LATE)} with and without the cache, s", "cached step", "uncached step", 20)
    rate("gpt2-tiny: tokens a second, beside the bound of its file's layout",
         "tiny next token", "tiny bound next token", None)
    row("cold start to first token, 124M, s", "gpt2lab 124M start", "transformers 124M start", 5)
    row("cold start to first token, gpt2-tiny, s",
        "gpt2lab tiny start", "transformers tiny start", None)
    row("peak memory by size of the weight file, 124M", "gpt2lab 124M peak",
        "transformers 124M peak", None, lambda peak: peak / file_bytes)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--folder", help="a 124M-shaped checkpoint; one is made when left out")
    parser.add_argument("--obey", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.obey:
        return obey(options.obey, options.folder)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        if not (folder / "config.json").exists():
            say("making random weights of GPT-2 124M's shape")
            write_124m(folder)
        before, at_start = others_busy(), ticks()
        tiny = ROOT / "data" / "gpt2-tiny"
        took, found = speeds(folder, tiny, options.repeats), starts(folder, tiny, options.repeats)
        rows = summary(took, found, (folder / "model.safetensors").stat().st_size)
        stolen = at_start and (ticks()[1] - at_start[1]) / (ticks()[2] - at_start[2])
        busy = [before, others_busy()]
    quiet = None if None in busy else max(*busy, stolen) < 0.05
    if options.json:
        names = ("what", "gpt2lab", "other", "ratio", "goal")
        return print(json.dumps({
            "machine": machine(), "quiet": quiet, "busy_before_and_after": busy,
            "taken_by_the_host": stolen, "seconds": took | found,
            "rows": [dict(zip(names, row)) for row in rows]}, indent=1))
    for key, value in machine().items():
        print(f"{key}: {value}")
    before, after, taken = ["unknown" if b is None else f"{b:.0%}" for b in (*busy, stolen)]
    verdict = {True: "quiet", False: "not quiet: trust the ratios only", None: "unknown"}[quiet]
    print(f"other programs before and after: {before} and {after} of the processors; "
          f"taken by the host meanwhile: {taken}; {verdict}\n")
    print("| what | gpt2lab | other | ratio | goal |\n|---|---|---|---|---|")
    for what, ours, other, times, goal in rows:
        goal = "" if goal is None else goal
        print(f"| {what} | {ours:.3g} | {other:.3g} | {times:.2f} | {goal} |")


if __name__ == "__main__":
    main()
