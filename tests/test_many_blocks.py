"""Pictures of a model with as many blocks and heads as GPT-2: no label lies on another."""
from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import gpt2lab
from gpt2lab.inside import head_jobs, patterns_of
from gpt2lab.teach.pictures import block, heads, lm_head, pixels
from recipes import write_checkpoint
from test_lesson_block import lesson_with

TEXT = "The old king saw the young queen. Then the old"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    sizes = {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 64, "n_embd": 24,
             "n_layer": 12, "n_head": 12}
    return gpt2lab.load(write_checkpoint(tmp_path_factory.mktemp("twelve"), sizes))


def labels(fig):
    """Where the words stand, in pixels: for each axes labels along x, along y and free texts."""
    canvas = FigureCanvasAgg(fig)
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
    lambda model: lesson_with(model).stream(TEXT, "h.2.mlp"),
    lambda model: lm_head.lens(model, TEXT), lambda model: lm_head.lens(model, TEXT, False)],
    ids=["jobs", "sizes", "stream", "lens", "lens without norm"])
def test_no_label_lies_on_another(model, draw):
    for group in labels(draw(model)):
        for (one, a), (other, b) in combinations(group, 2):
            assert not a.overlaps(b), f"{one!r} and {other!r}"


def test_all_heads_at_a_glance(model):
    step = heads.step_of(12, 448)
    fig = pixels.paper(heads.TOP + 12 * step + 8, "", {})
    heads.glance_words(fig, heads.labels_of(scores_of(model)), step)
    (around,) = labels(fig)
    assert len(around) == 12 * 12 + 12 + 12
    for (one, a), (other, b) in combinations(around, 2):
        assert not a.overlaps(b), f"{one!r} and {other!r}"


def test_the_lens_says_which_blocks_it_shows(model):
    fig = lm_head.lens(model, TEXT)
    assert len(fig.drawn["best"]) == 5 and "after blocks 2, 5, 8, 11;" in fig.alt
    best, _ = lm_head.readings(model, model.encode(TEXT))
    assert (fig.drawn["best"] == best[[0, 3, 6, 9, 12]]).all()
    fig = lm_head.lens(gpt2lab.load(), TEXT)
    assert len(fig.drawn["best"]) == 5 and "each block" in fig.alt
