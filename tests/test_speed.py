"""Where the learner waits, as ratios to a forward pass in the same moment: on any machine.

A move takes 8 to 42 passes of the bundled model over 8 tokens on one thread, most of it in
matplotlib (an empty axes takes 6 to 8); the limit stands twice above the slowest.
"""
import statistics
import subprocess
import sys
import time

import numpy as np
import pytest

import gpt2lab
from gpt2lab.teach import plot
from gpt2lab.teach.pictures import attention, bpe, heads, layernorm, lm_head, sampling

TEXT = "The old king saw the young queen. Then the old"
MODEL = gpt2lab.load()
TOKENIZER = gpt2lab.bpe.BPE.from_files(gpt2lab.checkpoint.DATA / "gpt2-vocab" / "vocab.bpe",
                                       gpt2lab.checkpoint.DATA / "gpt2-vocab" / "encoder.json")
HEADS, READER, GROWING = heads.Reader(MODEL), attention.Reader(MODEL), sampling.Growing(MODEL)
ROW = np.linspace(-1, 1, 8).astype(np.float32)
LIMIT = 84
MOVES = {
    "05 gain": lambda n: layernorm.one_row(ROW, float(n)),
    "03 merge player": lambda n: bpe.player(TOKENIZER, MODEL.tokenizer, "raspberry", n),
    "06 where it looks": lambda n: attention.where(READER, TEXT, 1, 0, n),
    "07 attention explorer": lambda n: heads.explorer(HEADS, text=TEXT, block=1, head=0,
                                                      position=n),
    "10 direction": lambda n: lm_head.direction(MODEL, "The king said", n),
    "11 sampling": lambda n: sampling.explorer(GROWING, prompt=TEXT, temperature=0.5 + n / 10,
                                               greedy=False, top_k=0, top_p=1.0, min_p=0.0,
                                               seed=1, presses=0)}


def seconds(function, *arguments):
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


@pytest.mark.parametrize("name", MOVES)
def test_a_move_of_an_explorer(name):
    draw = MOVES[name]
    plot.png(draw(0))                   # fonts are read, and what the explorer keeps is made
    moves, passes = [], []
    for n in (1, 2, 3, 1, 2, 3):
        moves.append(seconds(lambda n=n: plot.png(draw(n))))
        passes.append(seconds(MODEL, range(8)))
    assert statistics.median(moves) < LIMIT * statistics.median(passes)


def test_import_costs_little_more_than_numpy():
    def of(module):
        code = ("import time; begin = time.process_time(); "
                f"import {module}; print(time.process_time() - begin)")
        return float(subprocess.check_output([sys.executable, "-c", code], text=True))
    of("gpt2lab")
    ours, numpys = [of("gpt2lab") for _ in range(3)], [of("numpy") for _ in range(3)]
    assert statistics.median(ours) < 3 * statistics.median(numpys)
