"""Lesson 10: what its pictures draw is what the model computes."""
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.lm_head import lm_head
from gpt2lab.teach.exercises.lm_head import lens, logit_parts
from gpt2lab.teach.pictures import lm_head as pictures
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "10_lm_head.ipynb"
PROMPTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;", "two\nlines\t🤗 naïve and then more than ten tokens of text"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.mark.parametrize("prompt", PROMPTS)
def test_direction_draws_the_models_logits(model, prompt):
    trace = model.trace(model.encode(prompt))
    for back in (0, 10):
        arrays, at = drawn(pictures.direction(model, prompt, back)), max(len(trace["logits"]) - 1 - back, 0)
        assert list(arrays["best"]) == list(np.argsort(-trace["logits"][at], kind="stable")[:10])
        np.testing.assert_array_equal(arrays["logits"], trace["logits"][at][arrays["best"]])
        product = arrays["row"] * arrays["lengths"] * arrays["cosines"]
        np.testing.assert_allclose(product, arrays["logits"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_lens_draws_the_head_behind_every_block(model, prompt):
    ids, w = model.encode(prompt), model.weights
    trace = model.trace(ids)
    head = w["ln_f.weight"], w["ln_f.bias"], w["wte.weight"]
    arrays = drawn(pictures.lens(model, prompt))
    T = min(len(ids), pictures.POSITIONS)
    assert arrays["best"].shape == (model.config.n_layer + 1, T)
    streams = [trace[name][-T:] for name in ["embed", *(f"h.{i}.resid_post" for i in range(4))]]
    np.testing.assert_array_equal(arrays["best"], lens(streams, *head))
    np.testing.assert_array_equal(arrays["best"][-1], trace["logits"][-T:].argmax(axis=-1))
    for x, chances in zip(streams, arrays["probabilities"]):
        z = lm_head(x, *head).astype(np.float64)
        np.testing.assert_allclose(chances, 1 / np.exp(z - z.max(-1, keepdims=True)).sum(-1), rtol=1e-4)
    bare = drawn(pictures.lens(model, prompt, normed=False))
    np.testing.assert_array_equal(bare["best"][-1], (streams[-1] @ head[2].T).argmax(axis=-1))


def test_half_plane_loses_nothing(model):
    row = model.trace([464, 3616])["ln_f"][-1]
    arrays, table = drawn(pictures.half_plane(model, row)), model.weights["wte.weight"]
    np.testing.assert_allclose(arrays["along"] * np.linalg.norm(row), table @ row, rtol=0, atol=1e-4)
    np.testing.assert_allclose(np.hypot(arrays["along"], arrays["across"]), np.linalg.norm(table, axis=1), rtol=1e-4)


@pytest.mark.parametrize("draw", [pictures.direction, pictures.lens])
def test_a_prompt_that_cannot_be_read_is_refused_with_a_sentence(model, draw):
    with pytest.raises(ValueError, match="the prompt is empty"):
        draw(model, "")
    with pytest.raises(ValueError, match="the context holds N = 256 tokens, got"):
        draw(model, "word " * 300)


def test_loops_version_is_the_operation():
    loops = function_of_the_notebook("lm_head_loops")
    draw = np.random.default_rng(3).normal
    arguments = draw(size=(2, 4)), draw(size=4), draw(size=4), draw(size=(5, 4))
    np.testing.assert_allclose(loops(*arguments, 0.1), lm_head(*arguments, 0.1), atol=1e-12)


def test_parts_of_a_logit_multiply_to_it():
    row, table = np.random.default_rng(4).normal(size=4), np.random.default_rng(5).normal(size=(6, 4))
    np.testing.assert_allclose(logit_parts(row, table).prod(axis=-1), table @ row)
    length, lengths, cosines = pictures.products(row, table)
    np.testing.assert_allclose(length * lengths * cosines, table @ row)


def function_of_the_notebook(name):
    space = {"np": np, "show": None, "layer_norm": gpt2lab.Ops().layer_norm}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            exec(cell.source.split("\n\n")[0], space)
    return space[name]
