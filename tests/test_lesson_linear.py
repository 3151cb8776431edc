"""Lesson 01: the explorers draw the arrays that they speak of; all ways of multiplying are linear.
"""
import itertools
from pathlib import Path

import nbformat
import numpy as np
import pytest

from drawing import drawn
from gpt2lab.linear import linear
from gpt2lab.teach import play, plot, show
from gpt2lab.teach.exercises.linear import linear_rows, strides_of
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
    return cells("buffer = np.arange", "def turned(")


@pytest.fixture(scope="module")
def walking():
    """The cells of the loops' walk."""
    return cells("def by_columns(", "def steps_of(", "def walk(")


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


def test_the_explorer_offers_what_is_tested(turning, walking):
    controls = turning["controls"]
    assert list(controls["shape"].options) == SHAPES and list(controls["turn"].options) == TURNS
    assert (controls["row"].min, controls["row"].max) == (0, 11)
    assert list(walking["controls"]["order"].options) == ORDERS
    assert (walking["controls"]["step"].min, walking["controls"]["step"].max) == (1, 24)


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


@pytest.mark.parametrize("order", ORDERS)
def test_walk_visits_every_product_once_and_ends_at_the_product(order, walking):
    steps, places = walking["steps_of"](order), walking["places_in_b"](order)
    A, B = walking["A"], walking["B"]
    assert sorted(steps) == sorted(itertools.product(range(2), range(4), range(3)))
    flat = B.T.flatten() if order == ORDERS[2] else B.flatten()
    for (_, j, k), place in zip(steps, places):
        assert flat[place] == B[k, j]
    for step in (1, 7, 24):
        fig = walking["explorer"](order=order, step=step)
        arrays = drawn(fig)
        inside(fig)
        assert list(arrays["way"]) == places[:step]
        assert arrays["C"].sum() == sum(A[i, k] * B[k, j] for i, j, k in steps[:step])
        assert f"step {step} of 24: place {places[step - 1]} of" in fig.alt
    np.testing.assert_array_equal(arrays["C"], A @ B)
    np.testing.assert_array_equal(arrays["B"].flatten(), flat)


def test_the_other_pictures_draw_their_arrays(walking):
    ways = drawn(walking["shown"][0])
    assert list(ways) == ORDERS
    assert [int((np.abs(np.diff(way)) > 1).sum()) for way in ways.values()] == [23, 1, 1]
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
    np.testing.assert_allclose(linear_rows(x, w, b), linear(x, w, b), atol=1e-12)
    ways = cells("def by_columns(")
    np.testing.assert_allclose(ways["by_columns"](x, w), x @ w, atol=1e-12)
    np.testing.assert_allclose(ways["by_rows"](x, w), x @ w, atol=1e-12)
