"""Can the other tests fail? Small notebooks with one fault each must be refused, by their sentence.

How to run this: see conftest.py.
"""
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from browser_lessons import study

GOOD = """from gpt2lab.teach import play, plot

def draw(height=1, text="words"):
    return plot.bars([text, "other"], [height, 2], "number", "word",
                     alt=f"Two bars.\\n{height} and 2.")

play.explore(draw, height=play.slider("height", 1, 0, 5), text=play.words("text", "words"))"""
FAULTS = {
    "no redraw": (
        "from IPython.display import DisplayHandle\n"
        "DisplayHandle.update = lambda *what, **named: None\n" + GOOD,
        "height: Home: the picture was not redrawn"),
    "no pure drawing": (
        "calls = []\n" + GOOD.replace("[height, 2]", "[height, len(calls)]")
        .replace("    return", "    calls.append(1)\n    return"),
        "at the start: this is not what the drawing function gives"),
    "display instead of update": (
        "from IPython.display import DisplayHandle, display\n"
        "DisplayHandle.update = lambda self, *what, **named: display(*what, **named)\n" + GOOD,
        "height: Home: (2 pictures under the explorer|the picture was not redrawn)"),
    "two pictures": (GOOD + "\nplot.show(draw())", "at the start: 2 pictures under the explorer"),
    "exception in a cell": (GOOD + "\n1 / 0",
                            "errors .'ZeroDivisionError: division by zero'. in the cell"),
    "exception in a drawing": (GOOD.replace("[height, 2]", "[1 / (5 - height), 2]"),
                               "height: End: the drawing function fails: ZeroDivisionError"),
    "a control without use": (GOOD.replace("[height, 2]", "[1, 2]"),
                              "height: no setting changes the picture"),
    "blank output": ("from IPython.display import HTML\nHTML('')", "blank output of the cell"),
    "blank picture": (
        "from gpt2lab.teach import plot\nfrom matplotlib.figure import Figure\n\n"
        "fig = Figure()\nfig.alt = 'A figure.\\nNothing.'\nplot.show(fig)", "blank picture"),
    "warning": ("import warnings\nwarnings.warn('careful')", "stderr .*careful"),
    "endless cell": ("while True:\n    pass", "a cell did not end within 30 seconds: while True"),
    "console": (
        "from IPython.display import Javascript\n"
        "Javascript('console.error(\"lost\"); element.textContent = \"seen\"')",
        "console error: lost"),
}


def test_the_good_notebook_passes(lab, page, shot):
    study(lab, page, shot, written(lab, "good", GOOD))


@pytest.mark.parametrize("name", FAULTS)
def test_a_spoiled_notebook_fails(lab, page, shot, name, monkeypatch):
    monkeypatch.setattr("browser_lessons.SECONDS", 10)
    monkeypatch.setattr("lab_page.RUN_SECONDS", 30)
    source, sentence = FAULTS[name]
    with pytest.raises(AssertionError, match=sentence):
        study(lab, page, shot, written(lab, name.replace(" ", "_"), source))


def written(lab, name, source):
    """The path of a notebook with this one cell, which was never run."""
    path = lab.folder / f"{name}.ipynb"
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    book = new_notebook(cells=[new_code_cell(source)], metadata={"kernelspec": kernel})
    nbformat.write(book, path)
    return path
