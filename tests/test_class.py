"""Many learners on one machine: each has operations of their own, and all share the weights."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from class_memory import MIB, together

ROOT = Path(__file__).resolve().parents[1]

KEEPS = """
import numpy as np
from gpt2lab.teach.keeping import keep, mine
print(mine().gelu.__module__)
NUMBER = {number}
def gelu(x):
    NUMBER
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi).astype(x.dtype) * (x + 0.044715 * x ** 3)))
print(keep(gelu), mine().gelu.__globals__["NUMBER"])
"""


def test_two_learners_do_not_see_each_other(tmp_path):
    def learner(name, number):
        script = tmp_path / f"{name}.py"
        script.write_text(KEEPS.format(number=number))
        env = os.environ | {"GPT2LAB_MY_OPS": str(tmp_path / name), "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                              timeout=60, cwd=tmp_path, env=env)
        return done.stdout.split("\n")
    assert learner("one", 2.0) == ["gpt2lab.gelu", "Kept for the later lessons. 2.0", ""]
    assert learner("two", 3.0) == ["gpt2lab.gelu", "Kept for the later lessons. 3.0", ""]
    assert learner("one", 2.0)[0] == "my_ops.gelu"
    kept = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("gelu*"))
    assert kept == ["one/gelu.py", "two/gelu.py"]


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(),
                    reason="only Linux says what a process shares")
def test_the_weights_are_shared():
    """gpt2-tiny has 28 MiB of weights; a process that copied them would hold them alone."""
    for steps in together("gpt2-tiny", 2):
        before, after = steps["tokenizer"], steps["one pass of 64 tokens"]
        assert after["USS"] - before["USS"] < 10 * MIB
        assert after["weights"] == 0
        assert after["RSS"] - before["RSS"] > 25 * MIB          # they are there
