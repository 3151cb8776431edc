"""Lesson 01: the explorers draw the arrays that they speak of; every way of multiplying is linear."""
import itertools
from pathlib import Path

import nbformat
import numpy as np
import pytest

from gpt2lab.linear import linear
from gpt2lab.teach.exercises.linear import linear_rows, strides_of
from gpt2lab.teach.pictures import linear as pictures
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "01_linear.ipynb"
BUFFER = np.arange(24, dtype=np.float32)


@pytest.mark.parametrize("shape", pictures.SHAPES)
@pytest.mark.parametrize("turn", pictures.TURNS)
@pytest.mark.parametrize("copy", [False, True])
def test_strides_touches_the_places_of_the_row(shape, turn, copy):
    wanted = BUFFER.reshape(shape)
    if turn == "reverse all axes":
        wanted = np.transpose(wanted)
    elif turn != "none" and len(shape) > 1:
        wanted = np.moveaxis(wanted, -1, -2)
    rows = wanted.reshape(-1, wanted.shape[-1])
    for row in (0, 5, 11):
        fig = pictures.strides(shape, turn, row, copy)
        arrays, row = fig.drawn, row % len(rows)
        np.testing.assert_array_equal(arrays["array"], wanted)
        np.testing.assert_array_equal(arrays["buffer"][arrays["places"]], rows[row])
        lead = np.unravel_index(row, wanted.shape[:-1])
        start = sum(int(i) * int(s) for i, s in zip(lead, arrays["strides"]))
        np.testing.assert_array_equal(arrays["places"], start + arrays["strides"][-1] * np.arange(wanted.shape[-1]))
        assert copy is not np.shares_memory(arrays["array"], arrays["buffer"]) or copy
        assert ("is a copy" in fig.alt) == copy
    assert not copy or tuple(arrays["strides"]) == strides_of(wanted.shape)


@pytest.mark.parametrize("settings", [((24,), "none", 0, False), ((4, 6), "none", 0, False), ((4, 3, 2), "reverse all axes", 11, True)])
def test_strides_picture_is_whole(settings):
    fig = pictures.strides(*settings)
    drawn(fig)
    inside(fig)


def inside(fig):
    """All text lies within the picture."""
    box = fig.bbox
    for ax in fig.axes:
        for text in ax.texts:
            extent = text.get_window_extent()
            assert box.x0 <= extent.x0 and extent.x1 <= box.x1 and box.y0 <= extent.y0 and extent.y1 <= box.y1, text


def test_frames_stand_around_the_cells_of_the_row():
    fig = pictures.strides((4, 6), pictures.TURNS[1], 1)
    frames = fig.axes[0].collections[1].get_segments()          # after the lines of the buffer's grid
    assert [int(frame[:, 0].min()) for frame in frames] == list(fig.drawn["places"]) == [1, 7, 13, 19]


@pytest.mark.parametrize("order", pictures.ORDERS)
def test_walk_visits_every_product_once_and_ends_at_the_product(order):
    steps = pictures.visits(order)
    assert sorted(steps) == sorted(itertools.product(range(2), range(4), range(3)))
    flat = pictures.B.T.flatten() if order == pictures.ORDERS[2] else pictures.B.flatten()
    for (i, j, k), place in zip(steps, pictures.positions(order)):
        assert flat[place] == pictures.B[k, j]
    for step in (1, 7, 24):
        fig = pictures.walk(order, step)
        arrays = drawn(fig)
        inside(fig)
        np.testing.assert_array_equal(arrays["way"], pictures.positions(order)[:step])
        assert arrays["C"].sum() == sum(pictures.A[i, k] * pictures.B[k, j] for i, j, k in steps[:step])
    np.testing.assert_array_equal(arrays["C"], pictures.A @ pictures.B)


def test_the_other_pictures_draw_their_arrays():
    assert [int((np.abs(np.diff(way)) > 1).sum()) for way in drawn(pictures.walks()).values()] == [23, 1, 1]
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
    loops = functions_of_the_notebook("linear_loops")["linear_loops"]
    np.testing.assert_allclose(loops(x, w, b), linear(x, w, b), atol=1e-12)
    np.testing.assert_allclose(linear_rows(x, w, b), linear(x, w, b), atol=1e-12)
    ways = functions_of_the_notebook("by_columns")
    np.testing.assert_allclose(ways["by_columns"](x, w), x @ w, atol=1e-12)
    np.testing.assert_allclose(ways["by_rows"](x, w), x @ w, atol=1e-12)


def functions_of_the_notebook(name):
    """The functions of the cell that defines this one."""
    space = {"np": np}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            exec("\n\n".join(part for part in cell.source.split("\n\n") if part.startswith("def ")), space)
    return space
