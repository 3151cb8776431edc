"""Pictures of a model with as many blocks and heads as GPT-2: no label lies on another."""
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import gpt2lab
from cells import ran
from gpt2lab.inside import head_jobs, patterns_of
from gpt2lab.lm_head import lm_head
from gpt2lab.teach import plot, show
from gpt2lab.teach.pictures import block, heads, lm_head as pictures, pixels
from recipes import write_checkpoint
from test_lesson_block import lesson_with

TEXT = "The old king saw the young queen. Then the old"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    sizes = {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 64, "n_embd": 24,
             "n_layer": 12, "n_head": 12}
    return write_checkpoint(tmp_path_factory.mktemp("twelve"), sizes)


@pytest.fixture(scope="module")
def model(folder):
    return gpt2lab.load(folder)


@pytest.fixture(scope="module")
def lesson_10(folder):
    """The cells of lesson 10 with this model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPT2LAB_MODEL", str(folder))
        return ran("10_lm_head", "import numpy", "half_plane", "def lm_head(", "yours(", "head = (",
                   "def direction", "def lens_of")


def labels(fig):
    """Where the words stand, in pixels: for each axes labels along x, along y and free texts."""
    canvas = FigureCanvasAgg(fig)
    with plot.house_style():
        canvas.draw()
    groups = [fig.texts]
    for ax in fig.axes:
        groups += [ax.get_xticklabels(), ax.get_yticklabels(), ax.texts]
    for group in groups:
        yield [(text.get_text(), text.get_window_extent(canvas.get_renderer()))
               for text in group if text.get_text()]


def scores_of(model):
    ids = model.encode(TEXT)
    return head_jobs(patterns_of(model.trace(ids)), ids)


def sizes(model):
    return block.sizes(*lesson_with(model).all_sizes(model.trace(model.encode(TEXT))))


@pytest.mark.parametrize("draw", [
    lambda model: heads.jobs(scores_of(model)), sizes,
    lambda model: lesson_with(model).stream(TEXT, "h.2.mlp")], ids=["jobs", "sizes", "stream"])
def test_no_label_lies_on_another(model, draw):
    check_labels(draw(model))


@pytest.mark.parametrize("normed", [True, False])
def test_no_label_of_the_lens_lies_on_another(lesson_10, normed):
    check_labels(lesson_10["lens_of"](TEXT, normed))


def check_labels(fig):
    for group in labels(fig):
        for (one, a), (other, b) in combinations(group, 2):
            assert not a.overlaps(b), f"{one!r} and {other!r}"


def test_all_heads_at_a_glance(model):
    step = heads.step_of(12, 448)
    fig = pixels.paper(heads.TOP + 12 * step + 8, "", {})
    with plot.house_style():
        heads.glance_words(fig, heads.labels_of(scores_of(model)), step)
    (around,) = labels(fig)
    assert len(around) == 12 * 12 + 12 + 12
    for (one, a), (other, b) in combinations(around, 2):
        assert not a.overlaps(b), f"{one!r} and {other!r}"


def test_the_lens_says_which_blocks_it_shows(lesson_10, model):
    fig = lesson_10["lens_of"](TEXT)
    assert lesson_10["model"].config == model.config
    assert len(fig.drawn["words"]) == 5 and "after blocks 2, 5, 8, 11;" in fig.alt
    trace, w = model.trace(model.encode(TEXT)), model.weights
    head = w["ln_f.weight"], w["ln_f.bias"], w["wte.weight"], model.config.layer_norm_epsilon
    stages = "embed", *(f"h.{i}.resid_post" for i in (2, 5, 8, 11))
    for words, name in zip(fig.drawn["words"], stages):
        best = lm_head(trace[name][-10:], *head).argmax(axis=-1)
        assert words == show.tokens(model.tokenizer, best)


def test_the_lens_of_the_bundled_model_shows_every_block():
    words = [list(column) for column in np.full((5, 2), "word")]
    fig = pictures.lens(["two", "tokens"], words, np.full((5, 2), 0.5))
    assert len(fig.drawn["words"]) == 5 and "each block" in fig.alt
