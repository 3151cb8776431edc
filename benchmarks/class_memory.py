"""Memory of a class on one server: python benchmarks/class_memory.py [MODEL] [--json]

MODEL is a folder or a Hub name; without it a random checkpoint of GPT-2 124M's shape is made, which
takes 548 MB on disk. Linux only: reads /proc/self/smaps_rollup. USS is what a process holds alone,
PSS adds its part of what is shared. The weights are mapped, so all processes share the pages of one
file; a process that is alone with the file has all of them as its own, but they are the system's
file cache and can be dropped.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
MIB = 2**20
STEPS = ("Python and gpt2lab", "tokenizer", "model opened", "one pass of 64 tokens",
         "40 tokens written")
# The beginning of what another process runs: this file, wherever that process starts.
IMPORT = f"import sys; sys.path.insert(0, {str(ROOT / 'benchmarks')!r}); import class_memory; "


def memory():
    """{USS, PSS, RSS, weights: bytes of weight files that only this process holds}."""
    fields = {}
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]:
        key, kilobytes = line.split()[:2]
        fields[key.rstrip(":")] = 1024 * int(kilobytes)
    return {"USS": fields["Private_Clean"] + fields["Private_Dirty"], "PSS": fields["Pss"],
            "RSS": fields["Rss"], "weights": weights_held_alone()}


def weights_held_alone():
    """Bytes of mapped .safetensors files that are private to this process."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split()[0]
        if not first.endswith(":"):             # the head of a mapping ends with its file
            inside = ".safetensors" in line or "/blobs/" in line
        elif inside and first in ("Private_Clean:", "Private_Dirty:"):
            total += 1024 * int(line.split()[1])
    return total


def learner(source):
    """One process of the class: prints its memory after each step, waits for a line in between."""
    import numpy as np

    import gpt2lab
    model = None

    def load():
        nonlocal model
        model = gpt2lab.load(source)

    def write():
        model.generate_ids(list(range(64)), max_new_tokens=40, temperature=0, eos_token_id=None)

    for step in (lambda: None, gpt2lab.checkpoint.tokenizer, load, lambda: model(np.arange(64)),
                 write):
        step()
        print("ready", flush=True)
        sys.stdin.readline()                    # all others are here as well
        print(json.dumps(memory()), flush=True)
        sys.stdin.readline()


def together(source, count):
    """[{step: memory}] of `count` processes that have the model open at the same time."""
    program = [sys.executable, "-c", IMPORT + f"class_memory.learner({str(source)!r})"]
    processes = [subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                 for _ in range(count)]
    found = [{} for _ in processes]
    for step in STEPS:
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process, steps in zip(processes, found):        # measured while nobody computes
            process.stdin.write("\n")
            process.stdin.flush()
            steps[step] = json.loads(process.stdout.readline())
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
    for process in processes:
        process.communicate()
    return found


def kernel(source):
    """Memory of a Jupyter kernel after lesson 13's first cell; source None: the bundled model."""
    import nbformat
    from nbclient import NotebookClient
    folder = ROOT / "notebooks"
    lesson = nbformat.read(folder / "13_generation.ipynb", as_version=4)
    first = next(cell.source for cell in lesson.cells if cell.cell_type == "code")
    ask = IMPORT + "print(class_memory.json.dumps(class_memory.memory()))"
    cells = [nbformat.v4.new_code_cell(code) for code in (first, ask)]
    book = nbformat.v4.new_notebook(cells=cells)
    os.environ["GPT2LAB_MODEL"] = str(source or "")
    NotebookClient(book, kernel_name="python3", timeout=120,
                   resources={"metadata": {"path": str(folder)}}).execute()
    return json.loads(book.cells[1].outputs[-1].text)


def measure(source, count=3):
    """{kernels: {model: memory}, processes: [{step: memory}]}, bytes."""
    return {"kernels": {"gpt2-tiny": kernel(None), "this model": kernel(source)},
            "processes": together(source, count)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="?")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.model is None:
            from recipes import write_124m
            write_124m(folder)
        result = measure(arguments.model or folder)
    if arguments.json:
        return print(json.dumps(result, indent=1))
    print(f"{'MiB':48}{'USS':>10}{'PSS':>10}{'RSS':>10}{'own copy':>10}")
    print("(own copy: of the weights)")
    rows = [(f"kernel after lesson 13's setup, {name}", used)
            for name, used in result["kernels"].items()]
    for i, steps in enumerate(result["processes"], start=1):
        rows += [(f"process {i}: {step}", used) for step, used in steps.items()]
    for name, used in rows:
        sizes = [used[key] / MIB for key in ("USS", "PSS", "RSS", "weights")]
        print(f"{name:48}" + "".join(f"{size:10.1f}" for size in sizes))


if __name__ == "__main__":
    main()
