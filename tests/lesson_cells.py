"""A lesson's own cells, run for a test: what they define, and the pictures that they make."""
from pathlib import Path
from unittest import mock

import nbformat

from cells import run
from gpt2lab.teach import play, plot

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def ran(lesson, *parts):
    """The names of a lesson after its cells that contain one of the parts were run, in their order.

    Two names are added: "shown", the figures of plot.show, and "explorers", the drawing functions
    given to play.explore.
    """
    names = {"__name__": "__main__", "shown": [], "explorers": []}
    cells = [cell.source for cell in nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", 4).cells
             if cell.cell_type == "code" and any(part in cell.source for part in parts)]
    for part in parts:
        assert any(part in source for source in cells), f"{lesson}: no cell with {part!r}"
    with mock.patch.object(plot, "show", names["shown"].append), \
            mock.patch.object(play, "explore", lambda draw, **_: names["explorers"].append(draw)):
        for source in cells:
            run(source, names)
    return names
