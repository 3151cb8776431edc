"""Lesson 10: what its pictures draw is what the model computes."""
import numpy as np
import pytest

from cells import ran
from drawing import drawn
from gpt2lab.inside import logit_parts, trace_of
from gpt2lab.lm_head import lm_head
from gpt2lab.teach import show
from gpt2lab.teach.exercises.lm_head import lens

PROMPTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;",
           "two\nlines\t🤗 naïve and then more than ten tokens of text"]
POSITIONS = 10                                  # how many the lens shows


@pytest.fixture(scope="module")
def cells():
    """The lesson's cells: its pictures, and direction and lens_of, which its explorers draw."""
    return ran("10_lm_head", "import numpy", "half_plane", "def lm_head(", "yours(", "head = (",
               "def direction", "def lens_of", "def lm_head_loops", "play.explore")


@pytest.fixture(scope="module")
def model(cells):
    return cells["model"]


def test_the_explorers_draw_what_the_pictures_above_them_draw(cells):
    assert cells["explorers"] == [cells["direction"], cells["lens_of"]]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_direction_draws_the_models_logits(cells, model, prompt):
    trace, w = model.trace(model.encode(prompt)), model.weights
    for back in (0, 10):
        fig, at = cells["direction"](prompt, back), max(len(trace["logits"]) - 1 - back, 0)
        best = np.argsort(-trace["logits"][at], kind="stable")[:10]
        words = [label.get_text() for label in fig.axes[0].get_yticklabels()]
        assert words == show.tokens(model.tokenizer, best)
        arrays = drawn(fig)
        head = w["ln_f.weight"], w["ln_f.bias"], w["wte.weight"]
        logits = lm_head(trace["h.3.resid_post"][at:at + 1], *head)[0, best]
        np.testing.assert_array_equal(arrays["logits"], logits)
        np.testing.assert_allclose(arrays["logits"], trace["logits"][at, best], rtol=0, atol=1e-4)
        np.testing.assert_allclose(arrays["parts"].prod(axis=-1), logits, rtol=0, atol=1e-4)
        assert arrays["parts"][0, 0] == np.linalg.norm(trace["ln_f"][at])


@pytest.mark.parametrize("prompt", PROMPTS)
def test_lens_draws_the_head_behind_every_block(cells, model, prompt):
    ids, w = model.encode(prompt), model.weights
    trace = model.trace(ids)
    head = w["ln_f.weight"], w["ln_f.bias"], w["wte.weight"]
    fig = cells["lens_of"](prompt)
    arrays = drawn(fig)
    assert " after each block; " in fig.alt
    T = min(len(ids), POSITIONS)
    assert arrays["probabilities"].shape == (model.config.n_layer + 1, T)
    streams = [trace[name][-T:] for name in ["embed", *(f"h.{i}.resid_post" for i in range(4))]]

    def words(ids):
        return [show.tokens(model.tokenizer, row) for row in ids]
    assert arrays["words"] == words(lens(streams, *head))
    assert arrays["words"][-1:] == words([trace["logits"][-T:].argmax(axis=-1)])
    for x, chances in zip(streams, arrays["probabilities"]):
        z = lm_head(x, *head).astype(np.float64)
        wanted = 1 / np.exp(z - z.max(-1, keepdims=True)).sum(-1)
        np.testing.assert_allclose(chances, wanted, rtol=1e-4)
    bare = drawn(cells["lens_of"](prompt, normed=False))
    assert bare["words"][-1:] == words([(streams[-1] @ head[2].T).argmax(axis=-1)])


def test_half_plane_draws_every_row_of_the_table(cells, model):
    row = model.trace(model.encode("Alice did not know what to"))["ln_f"][-1]
    arrays, table = drawn(cells["shown"][0]), model.weights["wte.weight"]
    np.testing.assert_allclose(arrays["along"] * np.linalg.norm(row), table @ row, atol=1e-4)
    lengths = np.linalg.norm(table, axis=1)
    np.testing.assert_allclose(np.hypot(arrays["along"], arrays["across"]), lengths, rtol=1e-4)
    assert list(arrays["best"]) == list(np.argsort(-arrays["along"], kind="stable")[:3])


@pytest.mark.parametrize("draw", ["direction", "lens_of"])
def test_a_prompt_that_cannot_be_read_is_refused_with_a_sentence(cells, draw):
    with pytest.raises(ValueError, match="the prompt is empty"):
        cells[draw]("")
    with pytest.raises(ValueError, match="the context holds N = 256 tokens, got"):
        cells[draw]("word " * 300)


def test_a_move_runs_the_model_once_a_prompt(cells):
    trace_of.cache_clear()
    for back, normed in ((0, True), (3, False), (1, True)):
        cells["direction"]("The king said", back)
        cells["lens_of"]("The king said", normed)
    assert trace_of.cache_info().misses == 1


def test_loops_version_is_the_operation(cells):
    draw = np.random.default_rng(3).normal
    arguments = draw(size=(2, 4)), draw(size=4), draw(size=4), draw(size=(5, 4))
    logits = cells["lm_head_loops"](*arguments, 0.1)
    np.testing.assert_allclose(logits, lm_head(*arguments, 0.1), atol=1e-12)


def test_parts_of_a_logit_multiply_to_it():
    row = np.random.default_rng(4).normal(size=4)
    table = np.random.default_rng(5).normal(size=(6, 4))
    np.testing.assert_allclose(logit_parts(row, table).prod(axis=-1), table @ row)
    length = np.sqrt((row ** 2).sum())
    np.testing.assert_allclose(logit_parts(row, table)[:, 0], length)
