"""Lesson 01: lines and layers learn, one bias changes the story, explorers draw their arrays."""
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from cells import ran, run
from drawing import drawn, two_lines
from gpt2lab.linear import linear
from gpt2lab.teach import play, plot, show, writes
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import linear as ready_made
from gpt2lab.teach.exercises.linear import LAYERS, STORY, downhill, strides_of
from gpt2lab.teach.pictures import linear as pictures

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "01_linear.ipynb"
BUFFER = np.arange(24, dtype=np.float32)
SHAPES = [(24,), (4, 6), (6, 4), (2, 3, 4), (4, 3, 2)]
TURNS = ["none", "swap the last two axes", "reverse all axes"]
ORDERS = ["i-j-k", "i-k-j", "i-j-k, B transposed"]


def cells(*parts):
    """What the cells of the notebook that hold these parts leave behind."""
    sources = []
    space = {"np": np, "plot": plot, "play": play, "show": show, "pictures": pictures,
             "linear": linear}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and any(part in cell.source for part in parts):
            sources.append(cell.source)
    assert len(sources) == len(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "show", lambda fig: space.setdefault("shown", []).append(fig))
        patch.setattr(play, "explore", lambda draw, **controls: space.update(
            explorer=draw, controls=controls))
        for source in sources:
            exec(source, space)
    return space


@pytest.fixture(scope="module")
def turning():
    """The cells of the buffer's explorer."""
    return cells("def with_axes(")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("copy", [False, True])
def test_strides_touches_the_places_of_the_row(shape, turn, copy, turning):
    wanted = BUFFER.reshape(shape)
    if turn == "reverse all axes":
        wanted = np.transpose(wanted)
    elif turn != "none" and len(shape) > 1:
        wanted = np.moveaxis(wanted, -1, -2)
    rows = wanted.reshape(-1, wanted.shape[-1])
    for row in (0, 5, 11):
        fig = turning["explorer"](shape=shape, turn=turn, row=row, copy=copy)
        arrays, row = fig.drawn, row % len(rows)
        np.testing.assert_array_equal(arrays["array"], wanted)
        np.testing.assert_array_equal(arrays["buffer"][arrays["places"]], rows[row])
        lead = np.unravel_index(row, wanted.shape[:-1])
        start = sum(int(i) * int(s) for i, s in zip(lead, arrays["strides"]))
        along = arrays["strides"][-1] * np.arange(wanted.shape[-1])
        np.testing.assert_array_equal(arrays["places"], start + along)
        assert np.shares_memory(arrays["array"], arrays["buffer"])
        assert np.shares_memory(arrays["array"], turning["buffer"]) is not copy
        assert ("is a copy" in fig.alt) == copy
    assert not copy or tuple(arrays["strides"]) == strides_of(wanted.shape)


def test_the_explorer_offers_what_is_tested(turning):
    controls = turning["controls"]
    assert list(controls["shape"].options) == SHAPES and list(controls["turn"].options) == TURNS
    assert (controls["row"].min, controls["row"].max) == (0, 11)


@pytest.mark.parametrize("array, row", [
    (BUFFER, 0), (BUFFER.reshape(4, 6), 0), (BUFFER.reshape(4, 3, 2).T.copy(), 11)])
def test_strides_picture_is_whole(array, row):
    fig = pictures.strides(BUFFER, array, row)
    drawn(fig)
    inside(fig)


def inside(fig):
    """All text lies within the picture."""
    box = fig.bbox
    for ax in fig.axes:
        for text in ax.texts:
            extent = text.get_window_extent()
            assert box.x0 <= extent.x0 and extent.x1 <= box.x1, text
            assert box.y0 <= extent.y0 and extent.y1 <= box.y1, text


def test_frames_stand_around_the_cells_of_the_row():
    fig = pictures.strides(BUFFER, BUFFER.reshape(4, 6).T, 1)
    frames = fig.axes[0].collections[1].get_segments()      # after the lines of the buffer's grid
    assert [int(frame[:, 0].min()) for frame in frames] == list(fig.drawn["places"])
    assert list(fig.drawn["places"]) == [1, 7, 13, 19]


def test_the_walks_read_each_number_of_b_twice():
    (fig,) = ran("01_linear", "import numpy", "pictures.walks(")["shown"]
    ways = drawn(fig)
    assert list(ways) == ORDERS
    assert all(sorted(way) == sorted(2 * [*range(12)]) for way in ways.values())
    assert [int((np.abs(np.diff(way)) > 1).sum()) for way in ways.values()] == [23, 1, 1]


def test_the_other_pictures_draw_their_arrays():
    arrays = drawn(pictures.shapes(BUFFER, (4, 6), (2, 3, 4)))
    np.testing.assert_array_equal(arrays["(2, 3, 4)"], BUFFER.reshape(2, 3, 4))
    picture = np.random.default_rng(0).random((6, 5, 4))
    np.testing.assert_array_equal(drawn(pictures.planes(picture))["planes"][2], picture[:, :, 2])


@pytest.mark.parametrize("shape", [(1,), (7,), (2, 5), (3, 1, 4), (2, 3, 4, 5)])
def test_strides_of_is_numpys(shape):
    assert strides_of(shape) == tuple(s // 4 for s in np.empty(shape, np.float32).strides)


def test_all_ways_of_the_notebook_are_linear():
    draw = np.random.default_rng(5).normal
    x, w, b = draw(size=(3, 4)), draw(size=(4, 5)), draw(size=5)
    loops = cells("W, b = np.array(", "def linear_loops(")["linear_loops"]
    np.testing.assert_allclose(loops(x, w, b), linear(x, w, b), atol=1e-12)
    ways = cells("def by_columns(")
    np.testing.assert_allclose(ways["by_columns"](x, w), x @ w, atol=1e-12)
    np.testing.assert_allclose(ways["by_rows"](x, w), x @ w, atol=1e-12)


@pytest.fixture(scope="module")
def cafe():
    """The cells of the line that learns."""
    return ran("01_linear", "import numpy", "def loss(", "pictures.line(", "def learn(",
               "pictures.learning(")


def test_each_proposed_line_goes_through_two_points_and_one_is_best(cafe):
    errors = {(k, b): k * cafe["x"] + b - cafe["y"] for k, b in ((1, 3), (2, 1), (3, 1))}
    assert all((error == 0).sum() == 2 for error in errors.values())
    losses = {line: cafe["loss"](*line) for line in errors}
    assert losses == {line: np.mean(error ** 2) for line, error in errors.items()}
    assert min(losses, key=losses.get) == (2, 1) and sorted(losses.values()).count(0.5) == 1


@pytest.mark.parametrize("k, b", [(1, 1), (2.2, 1.2), (-1, 4)])
def test_the_picture_of_a_line_has_its_errors_and_their_squares(cafe, k, b):
    x, y = cafe["x"], cafe["y"]
    left, right = pictures.line(x, y, k, b).axes
    strokes = [mark.get_ydata() for mark in left.lines if len(set(mark.get_xdata())) == 1]
    np.testing.assert_allclose(np.diff(strokes)[:, 0], k * x + b - y)
    np.testing.assert_allclose([bar.get_height() for bar in right.patches], (k * x + b - y) ** 2)
    (mean,) = right.lines
    np.testing.assert_allclose(mean.get_ydata(), cafe["loss"](k, b))


@pytest.mark.parametrize("seed", range(10))
def test_the_line_ends_at_the_best_one_from_every_start(cafe, seed):
    path = np.array(cafe["learn"](0.1, seed=seed))
    assert (np.diff(path[:, 2]) < 0).all(), "the loss falls at each step"
    np.testing.assert_allclose(path[-1, :2], np.polyfit(cafe["x"], cafe["y"], 1), atol=0.02)
    errors = path[-1, 0] * cafe["x"] + path[-1, 1] - cafe["y"]
    assert (np.abs(errors) > 0.1).all(), "it goes through none of the points"


def test_the_knobs_reach_what_is_asked_for_and_too_large_a_rate_flies_off(cafe):
    assert cafe["loss"](2.2, 1.2) < 0.3
    assert cafe["learn"](0.22)[-1][2] < 1 < 1e6 < cafe["learn"](0.25)[-1][2]


def test_line_and_learning_draw_what_they_say(cafe):
    knobs, steps = cafe["explorers"]
    for k, b in ((-1.0, -2.0), (2.0, 1.0), (4.0, 4.0)):
        fig = knobs(k=k, b=b)
        np.testing.assert_allclose(drawn(fig)["errors"], k * cafe["x"] + b - cafe["y"])
        assert f"is {cafe['loss'](k, b):.2f}." in fig.alt
    for step, rate, seed in ((0, 0.01, 0), (50, 0.1, 8), (100, 0.26, 9)):
        fig = steps(step=step, rate=rate, seed=seed)
        np.testing.assert_array_equal(drawn(fig)["path"], cafe["learn"](rate, seed=seed))
        assert f"At step {step}, with the rate {rate:g}" in fig.alt
    assert "e+" in fig.alt


@pytest.mark.parametrize("step, rate, seed", [
    (0, 0.1, 8), (1, 0.1, 8), (100, 0.1, 3), (0, 0.24, 0), (7, 0.25, 8), (100, 0.26, 9)])
def test_the_dot_lies_on_its_curve_inside_the_axis(step, rate, seed, cafe):
    fig = cafe["explorers"][1](step=step, rate=rate, seed=seed)
    right = fig.axes[1]
    future, past, dot = right.lines
    (x,), (y,) = dot.get_data()
    assert (x, y) == (step, future.get_ydata()[step]) == (step, past.get_ydata()[-1])
    assert right.get_ylim()[0] == 0 and 0 <= y < right.get_ylim()[1]
    left_picture = "left the picture" in "".join(text.get_text() for text in fig.axes[0].texts)
    assert left_picture == (rate > 0.25)


def test_the_network_marks_an_edge_that_turning_w_over_would_lose():
    (fig,) = ran("01_linear", "import numpy", "pictures.network(")["shown"]
    assert fig.drawn["W"][0, 1] != fig.drawn["W"][1, 0]


def test_the_network_shows_each_number_twice_and_marks_one():
    (fig,) = ran("01_linear", "import numpy", "pictures.network(")["shown"]
    W, b = drawn(fig)["W"], drawn(fig)["b"]
    net, table = fig.axes
    inside(fig)
    on_edges = sorted(t.get_text() for t in net.texts if t.get_text().isdigit())
    assert on_edges == sorted(map(str, W.ravel()))
    in_cells = sorted(t.get_text() for t in table.texts if t.get_text().isdigit())
    assert in_cells == sorted(map(str, [*W.ravel(), *b]))
    thick = [line for line in net.lines if line.get_linewidth() == 3]
    assert len(thick) == 1 and thick[0].get_color() == plot.VERMILLION
    assert "The edge from cups to minutes, 4, is row 0, column 1 of W" in fig.alt


def test_a_layer_finds_the_price_list():
    names = ran("01_linear", "import numpy", "W, b = np.array(", "check(linear)",
                "linear = yours(", "check(downhill)",
                "downhill = yours(")
    np.testing.assert_allclose(names["numbers"][:6].reshape(2, 3), names["W"], atol=0.004)
    np.testing.assert_allclose(names["numbers"][6:], names["b"], atol=0.004)


def test_downhill_is_the_gradients_step():
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    numbers = np.array([1.0, -2.0])
    moved = downhill(lambda n: n @ A @ n, numbers, 0.1)
    np.testing.assert_allclose(moved, numbers - 0.1 * 2 * A @ numbers, atol=1e-3)


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


def test_one_number_of_one_bias_changes_the_story(model):
    layer = ready_made.LAYER
    b, says = model.weights[f"{layer}.bias"], []
    for i in range(len(b)):
        changed = b.copy()
        changed[i] -= 8
        says.append(ready_made.next_word(model, layer, changed))
    assert [i for i, word in enumerate(says) if word == " queen"] == [279]
    assert ready_made.next_word(model, layer, b) == " king"
    changed = b.copy()
    changed[279] -= 8
    assert writes(ready_made.with_bias(model, layer, changed), STORY, 18) == (
        " queen went on, and the little girl came to the little girl who had been a queen")


def test_the_steering_wheel_shows_the_changed_model(model):
    names = ran("01_linear", "import numpy", "def steer(")
    (steer,) = names["explorers"]
    assert set(LAYERS) == {name.removesuffix(".bias") for name in model.weights
                           if name.startswith("h.") and ".ln_" not in name
                           and name.endswith(".bias")}
    for layer, place, amount, first in (("h.0.attn.c_proj", 0, 0, " king"),
                                        ("h.0.attn.c_proj", 4, 5, " queen"),
                                        ("h.1.attn.c_attn", 279, -8, " queen"),
                                        ("h.3.mlp.c_fc", 511, 12, None)):
        fig = steer(layer=layer, place=place, amount=amount)
        values = drawn(fig)["values"]
        b = model.weights[f"{layer}.bias"].copy()
        b[place] += amount
        logits = ready_made.with_bias(model, layer, b).next_logits(model.encode(STORY))
        np.testing.assert_allclose(values, np.sort(logits)[:-6:-1], atol=1e-4)
        assert first is None or f'It goes on: "{first.strip()}' in fig.alt
        two_lines(fig.alt)


@pytest.mark.parametrize("asked, named", [
    ("b + amount", "All numbers of the bias are moved."),
    ("b", "It is the unchanged bias that is asked, each time."),
    ("np.where(np.arange(len(b)) == i, b + amount, b), ''", "A function is called with too few or "
                                                           "too many arguments.")])
def test_what_is_asked_in_find_number_is_named(asked, named, monkeypatch, tmp_path):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))
    space = {"np": np}
    run("def find_number(says, b, amount, word):\n"
        "    for i in range(len(b)):\n"
        f"        if says({asked}) == word:\n"
        "            return i\n", space)
    assert named in str(verdict(space["find_number"]))
