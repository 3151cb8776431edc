"""Lesson 00: what its pictures draw is what the model computes; the README shows the same plan."""
import itertools
import json
import math
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.patches import FancyBboxPatch

import gpt2lab
from drawing import drawn
from gpt2lab.files import shipped
from gpt2lab.sampling import probabilities
from gpt2lab.teach import keeping, play, plot, show
from gpt2lab.teach.exercises import start_here as exercises
from gpt2lab.teach.pictures import start_here as pictures

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import plan_picture  # noqa: E402

MODEL = gpt2lab.load()


@pytest.fixture(scope="module")
def lesson():
    """What the lesson shows: its pictures, the functions of its explorers, its names."""
    shown, draws, space = [], [], {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "show", shown.append)
        patch.setattr(play, "explore", lambda draw, **controls: draws.append(draw))
        for cell in nbformat.read(plan_picture.LESSON, as_version=4).cells:
            if cell.cell_type == "code":
                exec(cell.source, space)
    return shown, draws, space


def test_path_draws_the_models_arrays(lesson):
    (fig, _), _, space = lesson
    arrays, trace = drawn(fig), MODEL.trace(MODEL.encode(space["text"]))
    np.testing.assert_array_equal(arrays["embed"], trace["embed"])
    np.testing.assert_array_equal(arrays["stream"], trace["h.3.resid_post"])
    best = np.sort(trace["logits"][-1])[::-1][:6]
    np.testing.assert_array_equal(arrays["logits"], best)
    wanted = np.exp(best.astype(np.float64)) / np.exp(trace["logits"][-1].astype(np.float64)).sum()
    np.testing.assert_allclose(arrays["probabilities"], wanted, rtol=1e-6)
    chosen = show.token(MODEL.tokenizer.decode([int(trace["logits"][-1].argmax())]))
    assert f"the best next token is {chosen} with" in fig.alt
    assert fig.axes[5].texts[0].get_text() == chosen


@pytest.mark.parametrize("text", ["The king and the", "a", "$x$ 🤗 \n<b>", ""])
def test_explorer_draws_the_best_next_words(lesson, text):
    _, (draw,), _ = lesson
    if not text:
        with pytest.raises(ValueError):
            draw(text)
        return
    fig, probs = draw(text), probabilities(MODEL.next_logits(MODEL.encode(text)))
    np.testing.assert_array_equal(drawn(fig)["values"], np.sort(probs)[::-1][:10])
    labels = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert labels[0] == show.token(MODEL.tokenizer.decode([int(probs.argmax())]))
    T = len(MODEL.encode(text))
    assert f"After these {T} tokens the best next token is {labels[0]} with" in fig.alt


def test_path_titles_give_the_shapes_of_the_trace(lesson):
    (fig, _), _, space = lesson
    trace, (T, V) = space["trace"], space["trace"]["logits"].shape
    titles = [ax.get_title().replace("50257", f"{V}") for ax in fig.axes[:6]]
    for title, shape in zip(titles, [(T,), trace["embed"].shape, trace["embed"].shape, (T, V),
                                     (V,)]):
        assert title.endswith(f"\n{shape}"), title
    assert titles[2].startswith("3  after 4 blocks\n")


def test_the_scale_of_a_map_is_that_of_its_colours(lesson):
    (fig, _), _, _ = lesson
    plot.png(fig)
    for ax, bar in zip(fig.axes[1:3], fig.axes[6:]):
        low, high = ax.images[0].get_clim()
        assert low == -high and bar.get_xlabel() == "orange < 0 < purple"
        labels = [label.get_text() for label in bar.get_xticklabels()]
        assert labels == [f"−{high:g}", "0", f"{high:g}"]
        assert 0.97 < (np.abs(ax.images[0].get_array()) <= high).mean() < 1
        negative, positive = ax.images[0].cmap(0.25), ax.images[0].cmap(0.75)
        assert negative[0] > negative[2] and positive[2] > positive[0]      # red, blue


def test_a_path_of_other_sizes():
    """Two tokens, three blocks, a table of eight words, six of which are shown."""
    trace = {"embed": np.ones((2, 3)), "h.0.resid_post": np.ones((2, 3)),
             "h.1.resid_post": np.ones((2, 3)), "h.2.resid_post": np.full((2, 3), 2.0),
             "logits": np.arange(16.0).reshape(2, 8)}
    fig = pictures.path(["a", "b"], [0, 1], trace, "hgfedc", range(7, 1, -1), np.arange(8) / 28)
    assert "the same after 3 blocks, 2 rows of 8 scores" in fig.alt and "is h with 25%." in fig.alt
    np.testing.assert_array_equal(drawn(fig)["stream"], np.full((2, 3), 2.0))


def test_the_readme_shows_the_lessons_picture():
    assert plan_picture.TARGET.read_bytes() == plan_picture.plan_of_lesson()


CONFIGS = {"tiny": MODEL.config, "xl": gpt2lab.Config(50257, 1024, 1600, 48, 25),
           "small": gpt2lab.Config(256, 128, 64, 1, 2)}


def badges(fig):
    """[(lesson, is it filled)] of the plan; the last two explain the others."""
    texts = [text for text in fig.axes[0].texts if text.get_text().isdigit()]
    return [(text.get_text(), text.get_color() == "white") for text in texts]


def test_the_plan_of_the_lesson_names_every_lesson(lesson):
    (_, fig), _, _ = lesson
    assert {name for name, _ in badges(fig)[:-2]} == set(keeping.BUILDS)
    assert [filled for _, filled in badges(fig)] == [False] * (len(badges(fig)) - 1) + [True]
    np.testing.assert_array_equal(drawn(fig)["sizes"], [4, 4, 128, 512, 256, 50257])


def test_the_plan_fills_what_is_built():
    fig = pictures.plan(MODEL.config, ["01", "05"])
    assert {name for name, filled in badges(fig)[:-2] if filled} == {"01", "05"}
    assert {name for name, filled in badges(fig)[:-2] if not filled} == (
        set(keeping.BUILDS) - {"01", "05"})


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_the_plan_says_the_sizes_of_the_model(config):
    fig = pictures.plan(config)
    L, H, D, F, N, V = drawn(fig)["sizes"]
    assert (L, H, D, F) == (config.n_layer, config.n_head, config.n_embd, config.n_inner)
    said = "\n".join(text.get_text() for text in fig.axes[0].texts)
    for part in (f"block × {L}", f"{H} heads", f"{D} → {F} → {D}", f"up to {N} tokens",
                 "last row of scores", f"{V:,} chances", "T ids", f"T rows of {D}"):
        assert part in said, part


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_nothing_in_the_plan_overlaps(config):
    fig = pictures.plan(config)
    plot.png(fig)
    page, texts = fig.bbox, fig.axes[0].texts
    places = [text.get_window_extent() for text in texts]
    block = max((patch.get_window_extent() for patch in fig.axes[0].patches
                 if isinstance(patch, FancyBboxPatch)), key=lambda box: box.height)
    for text, place in zip(texts, places):
        assert not place.x0 < block.x0 < place.x1 + 3, f"{text.get_text()} runs into the block"
        assert page.x0 < place.x0 and place.x1 < page.x1, text.get_text()
        assert page.y0 < place.y0 and place.y1 < page.y1, text.get_text()
        assert text.get_fontsize() >= 10
    for (one, a), (other, b) in itertools.combinations(zip(texts, places), 2):
        wide, high = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert wide <= 0 or high <= 2, (one.get_text(), other.get_text())


@pytest.mark.parametrize("here", ["03", "05", "06", "08", "09"])
def test_stations_fill_what_is_built_and_mark_the_lesson(here):
    fig = pictures.stations(MODEL.config, ["01", "05"], here, "Then the old", " king")
    plot.png(fig)
    assert {name for name, filled in badges(fig) if filled} == {"01", "05"}
    assert {name for name, filled in badges(fig) if not filled} == {
        "03", "04", "06", "07", "08", "09", "10"}
    thick = sum(patch.get_linewidth() == 3.2 for patch in fig.axes[0].patches)
    assert thick == {"05": 3}.get(here, 1)
    assert "Yours: what lessons 01, 05 built." in fig.alt and "it writes “ king”." in fig.alt
    said = [text for text in fig.axes[0].texts if not text.get_text().isdigit()]
    for one, other in itertools.combinations(said, 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent()), (one, other)


def test_keys_are_those_of_the_file_that_ships():
    config = json.loads(shipped("data", "gpt2-tiny", "config.json").read_text(encoding="utf-8"))
    for key, value, what, lesson in exercises.keys(config):
        assert json.loads(value) == config[key] and what and lesson in keeping.BUILDS


def test_sizes_are_those_of_the_weights():
    def number(text):
        return int(text.replace(",", ""))
    _, blocks, in_blocks, table, everything, context = exercises.size("tiny", MODEL.config)
    assert (blocks, context) == (4, 256)
    assert number(table) == MODEL.weights["wte.weight"].size
    assert number(everything) == sum(w.size for w in MODEL.weights.values())
    assert number(in_blocks) == sum(
        math.prod(w.shape) for name, w in MODEL.weights.items() if name.startswith("h."))


def test_done_lists_the_lessons_of_which_all_is_built(monkeypatch):
    kept = {"linear", "merge", "encode", "gelu", "mlp"}
    monkeypatch.setattr(keeping, "passes", kept.__contains__)
    assert exercises.done() == ["01", "08"]


def test_the_swap_that_the_lesson_tells_of(lesson):
    """King and queen change places, and so does the answer; the fox and the young do not follow."""
    _, _, space = lesson
    best = {text: space["best_two"](text)[1] for text in (
        "Then the old", "The old king saw the young queen. Then the old",
        "The old queen saw the young king. Then the old",
        "The young king saw the old queen. Then the old",
        "The old king saw the young queen. Then the young",
        "The old fox saw the young hen. Then the old")}
    assert [*best.values()] == ["·man", "·king", "·queen", "·queen", "·king", "·man"]
