"""Lesson 13: each step of the way is an array of the trace, in its order, with its lesson."""
import numpy as np
import pytest

import gpt2lab
from gpt2lab.sampling import probabilities
from gpt2lab.teach import compare, plot
from gpt2lab.teach.pictures import generation as pictures

MODEL, TEXT = gpt2lab.load(), "Once upon a time there was"
STEPS = pictures.steps(MODEL, TEXT)


def test_steps_are_the_trace_between_ids_and_word():
    trace = MODEL.trace(MODEL.encode(TEXT))
    assert [name for name, _ in STEPS] == ["ids", *trace, "probabilities", "next word"]
    for name, array in STEPS[1:-2]:
        np.testing.assert_array_equal(array, trace[name])
    np.testing.assert_array_equal(STEPS[-2][1], probabilities(trace["logits"][-1], 0.8))
    assert len(STEPS) == 78                     # the slider of the notebook ends at 77


@pytest.mark.parametrize("step", [0, 1, 5, 8, 9, 10, 16, 74, 75, 76, 77, 500])
def test_a_step_draws_its_array(step):
    fig = pictures.step_through(MODEL, TEXT, step)
    name, array = STEPS[min(step, len(STEPS) - 1)]
    np.testing.assert_array_equal(fig.drawn[name], array)
    assert name in fig.alt and pictures.lesson(name) in fig.axes[0].get_title()
    assert plot.png(fig).startswith(b"\x89PNG")


@pytest.mark.parametrize("name, lesson", [("embed", "04"), ("h.2.ln_1", "05"), ("h.0.attn.q", "07"), ("h.0.attn.c_attn", "01"),
                                          ("h.1.attn.pattern", "06"), ("h.1.attn", "07"), ("h.3.mlp.act", "08"),
                                          ("h.3.mlp.c_proj", "01"), ("h.0.resid_mid", "09"), ("logits", "10")])
def test_lesson_of_an_array(name, lesson):
    assert pictures.lesson(name).startswith(lesson)


@pytest.mark.parametrize("text", ["$$ $x$", "<b>&", "a\nb", "🦀", "word " * 60])
def test_any_text(text):
    for step in (0, 10, 76, 77):
        assert plot.png(pictures.step_through(MODEL, text, step)).startswith(b"\x89PNG")


def test_compare_names_the_fault(capsys):
    compare(MODEL)
    assert capsys.readouterr().out.count("alike") == 1
    compare(gpt2lab.load(ops=gpt2lab.Ops(gelu=lambda x: 1 / 0)))
    assert "the model stops: division by zero" in capsys.readouterr().out
