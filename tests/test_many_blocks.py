"""Pictures of a model with as many blocks and heads as GPT-2: no label lies on another."""
from itertools import combinations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import gpt2lab
from gpt2lab.teach.pictures import attention, block, heads, lm_head
from recipes import write_checkpoint

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


@pytest.mark.parametrize("draw", [
    lambda model: heads.jobs(attention.Reader(model), TEXT), lambda model: block.sizes(model, TEXT),
    lambda model: block.stream(model, TEXT, "h.2.mlp"), lambda model: lm_head.lens(model, TEXT),
    lambda model: lm_head.lens(model, TEXT, False)],
    ids=["jobs", "sizes", "stream", "lens", "lens without norm"])
def test_no_label_lies_on_another(model, draw):
    for group in labels(draw(model)):
        for (one, a), (other, b) in combinations(group, 2):
            assert not a.overlaps(b), f"{one!r} and {other!r}"


@pytest.mark.parametrize("draw", [heads._glance_words], ids=["glance"])
def test_all_heads_at_a_glance(model, draw):
    reader = attention.Reader(model)
    fig = attention.paper(66 + 12 * heads._tall(12, 448) + 8, "", {})
    draw(fig, reader, TEXT, 66, heads._tall(12, 448))
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
