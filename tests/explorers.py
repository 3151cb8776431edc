"""The explorers of a lesson, without a browser: what play.explore was given when its cells ran."""
import contextlib
import io
import linecache
from pathlib import Path

import nbformat

from gpt2lab.teach import play, plot

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def explorers_of(lesson, monkeypatch):
    """[(draw, {name: control})] of notebooks/<lesson>.ipynb, in order.

    Every code cell runs, but those that are meant to fail, and galleries, which take long and make
    nothing that an explorer needs.
    """
    found, space = [], {"__name__": "__main__"}
    monkeypatch.setattr(play, "explore", lambda draw, **controls: found.append((draw, controls)))
    monkeypatch.setattr(plot, "show", lambda fig: None)
    for i, cell in enumerate(nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4).cells):
        tags = cell.metadata.get("tags", [])
        left_out = "raises-exception" in tags or cell.source.startswith("gallery(")
        if cell.cell_type == "code" and not left_out:
            name = f"<{lesson}, cell {i}>"
            linecache.cache[name] = len(cell.source), None, cell.source.splitlines(True), name
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(cell.source, name, "exec"), space)
    return found
