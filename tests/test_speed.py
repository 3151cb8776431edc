"""Where the learner waits, as ratios to a forward pass in the same moment: slow machines pass too.

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
from cells import NOTEBOOKS, explorers_of
from gpt2lab.teach import plot

LIMIT = 84
LESSONS = ["03_bpe", "05_layernorm", "06_attention", "07_heads", "10_lm_head", "11_sampling"]


def seconds(function, *arguments):
    begin = time.process_time()
    function(*arguments)
    return time.process_time() - begin


def moves(controls):
    """Six settings of the last slider between its ends, {name: value}; none where there is none."""
    sliders = [(name, control) for name, control in controls.items() if hasattr(control, "min")]
    if not sliders:
        return []
    name, slider = sliders[-1]
    kind = type(slider.value)
    return [{name: kind(value)} for value in np.linspace(slider.min, slider.max, 6)]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_move_of_an_explorer(lesson, monkeypatch):
    monkeypatch.chdir(NOTEBOOKS)
    model, explorers = gpt2lab.load(), explorers_of(lesson)
    moving = [(draw, controls) for draw, controls in explorers if moves(controls)]
    assert moving
    for draw, controls in moving:
        start = {name: control.value for name, control in controls.items()}
        plot.png(draw(**start))         # fonts are read, and what the explorer keeps is made

        def move(change, draw=draw, start=start):
            plot.png(draw(**start | change))
        times = [(seconds(move, change), seconds(model, range(8))) for change in moves(controls)]
        each = statistics.median(one_pass for _, one_pass in times)
        assert statistics.median(moved for moved, _ in times) < LIMIT * each


def test_import_costs_little_more_than_numpy():
    def of(module):
        code = ("import time; begin = time.process_time(); "
                f"import {module}; print(time.process_time() - begin)")
        return float(subprocess.check_output([sys.executable, "-c", code], text=True))
    of("gpt2lab")
    of_numpy = statistics.median(of("numpy") for _ in range(3))
    assert statistics.median(of("gpt2lab") for _ in range(3)) < 3 * of_numpy
