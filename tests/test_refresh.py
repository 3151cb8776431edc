"""tools/refresh.py: what a run or an editor leaves in a notebook goes, and nothing else."""
import base64
import copy
import io
import json
from pathlib import Path

import nbformat
import pytest
from matplotlib.figure import Figure

import refresh

LESSON = Path(__file__).resolve().parents[1] / "notebooks" / "05_layernorm.ipynb"
BOOK = json.loads(LESSON.read_text(encoding="utf-8"))
for place, each in enumerate(BOOK["cells"], start=1):
    each["id"] = f"05-{place:02}"
FOLDERS = ["/home/ada/gpt2lab/", "~/my lab/", "/tmp/my läb #1/", "~/gpt2lab/my gpt2lab/",
           "C:\\Users\\Ada L\\my lab\\", "/content/"]


def cleaned(book, tmp_path, run=False):
    """The file that the tool makes of this notebook."""
    path = tmp_path / LESSON.name
    path.write_text(json.dumps(book), encoding="utf-8")
    refresh.refresh(path, run=run)
    return path.read_bytes()


def every(book, kind="data"):
    """All outputs that have this key."""
    return [output for cell in book["cells"] for output in cell.get("outputs", [])
            if kind in output]


def older_format(book):
    book["nbformat_minor"] = 4
    for cell in book["cells"]:
        del cell["id"]


def new_format_without_ids(book):
    for cell in book["cells"]:
        del cell["id"]


def ids_twice(book):
    """Some editors copy the id when a cell is split; the place gives the second one its own."""
    book["cells"][7]["id"] = book["cells"][6]["id"]


def jupyterlab(book):
    book["metadata"]["language_info"] |= {"version": "3.13.1", "file_extension": ".py"}
    book["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {
        "state": {}, "version_major": 2, "version_minor": 0}}
    for cell in book["cells"]:
        cell["metadata"] |= {"editable": True, "slideshow": {"slide_type": ""}, "trusted": True,
                             "collapsed": False, "scrolled": True, "ExecuteTime": {"end_time": "1"}}
        cell["metadata"].setdefault("tags", [])
        cell["metadata"]["jupyter"] = {"outputs_hidden": False, "source_hidden": False} | cell[
            "metadata"].get("jupyter", {})
        if cell["cell_type"] == "code":
            cell["metadata"]["execution"] = {"iopub.status.busy": "2026-01-01T00:00:00Z"}


def vs_code(book):
    book["metadata"]["kernelspec"]["display_name"] = ".venv (3.12.1)"
    book["metadata"]["vscode"] = {"interpreter": {"hash": "1"}}
    for cell in book["cells"]:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        if cell["cell_type"] == "markdown":
            cell["attachments"] = {}


def colab(book):
    book["nbformat_minor"] = 0
    book["metadata"] |= {"colab": {"provenance": [], "toc_visible": True}, "accelerator": "GPU"}
    for cell in book["cells"]:
        cell["metadata"] |= {"id": cell.pop("id"), "outputId": "1", "colab": {"height": 35}}
    for output in every(book):
        output["metadata"] |= {"needs_background": "light"}
        output["data"]["application/vnd.google.colaboratory.intrinsic+json"] = {"type": "string"}


def other_widget_ids(book):
    kind = "application/vnd.jupyter.widget-view+json"
    for n, output in enumerate(every(book)):
        if kind in output["data"]:
            output["data"][kind]["model_id"] = f"{n:x}abcdef"


def pictures_with_a_line_break(book):
    for output in every(book):
        if "image/png" in output["data"]:
            output["data"]["image/png"] += "\n"


def print_in_bits(book):
    for output in every(book, "text"):
        output["text"] = "".join(output["text"])
    for cell in book["cells"]:
        if "text" in (cell.get("outputs") or [{}])[0]:
            first = cell["outputs"][0]
            cell["outputs"][:1] = [first | {"text": first["text"][:5]},
                                   first | {"text": first["text"][5:]}]


@pytest.mark.parametrize("spoil", [
    older_format, new_format_without_ids, ids_twice, jupyterlab, vs_code, colab, other_widget_ids,
    pictures_with_a_line_break, print_in_bits], ids=lambda spoil: spoil.__name__)
def test_what_an_editor_saved_cleans_to_no_diff(spoil, tmp_path):
    book = copy.deepcopy(BOOK)
    spoil(book)
    assert book != BOOK
    assert cleaned(book, tmp_path).decode() == nbformat.writes(nbformat.from_dict(BOOK)) + "\n"


def test_of_the_metadata_the_tags_stay(tmp_path):
    book = copy.deepcopy(BOOK)
    book["cells"][2]["metadata"] = {"tags": ["stub"], "vscode": {"languageId": "python"}}
    assert json.loads(cleaned(book, tmp_path))["cells"][2]["metadata"] == {"tags": ["stub"]}


def test_what_is_folded_follows_the_text_and_no_editor(tmp_path):
    book = copy.deepcopy(BOOK)
    for cell in book["cells"]:
        cell["metadata"]["jupyter"] = {"outputs_hidden": not cell["metadata"].get(
            "jupyter", {}).get("outputs_hidden", False)}
    assert cleaned(book, tmp_path).decode() == nbformat.writes(nbformat.from_dict(BOOK)) + "\n"


TITLE = nbformat.v4.new_markdown_cell("# 01 · Title\n\n**What is it?**")
ASKS = nbformat.v4.new_markdown_cell("Some words. **Which one is it?** More words.")
TELLS = nbformat.v4.new_markdown_cell("**It is this one.** Is it not?")
PRINTED = nbformat.v4.new_output("stream", name="stdout", text="this one")
PICTURE = nbformat.v4.new_output("display_data", {"image/png": "", "text/plain": "A picture."})
SLIDER = nbformat.v4.new_output("display_data", {refresh.WIDGET: {"model_id": "1"}})
HIDDEN = {"outputs_hidden": True}


def code(source="f()", outputs=(PRINTED,), tags=()):
    return nbformat.v4.new_code_cell(
        source, outputs=list(outputs), metadata={"tags": list(tags)} if tags else {})


@pytest.mark.parametrize("above, cell, folded", [
    (ASKS, code(), HIDDEN), (ASKS, code(outputs=[PICTURE]), HIDDEN),
    (TELLS, code(), None), (TITLE, code(), None),
    (ASKS, code(outputs=[]), None),
    (ASKS, code(tags=["stub"]), None), (ASKS, code(tags=["raises-exception"]), HIDDEN),
    (ASKS, code(tags=["nbval-ignore-output"]), HIDDEN),
    (ASKS, code(outputs=[SLIDER, PICTURE]), None),
    (ASKS, code("guess('a', ['b', 'c'],\n      answer='b')", [SLIDER]), {"source_hidden": True}),
    (TELLS, code("guesses()"), HIDDEN),
])
def test_what_answers_a_question_is_folded(above, cell, folded):
    """The outputs under a bold question, and the code of a guess; else nothing."""
    cells = [above, cell] if above is TITLE else [TITLE, above, cell]
    book = nbformat.v4.new_notebook(cells=copy.deepcopy(cells))
    refresh.fold(book)
    assert book.cells[-1].metadata.get("jupyter") == folded
    assert all("jupyter" not in other.metadata for other in book.cells[:-1])


def test_a_question_reaches_to_the_next_text():
    book = nbformat.v4.new_notebook(cells=copy.deepcopy([TITLE, ASKS, code(), code(), TELLS,
                                                         code()]))
    refresh.fold(book)
    assert ["jupyter" in cell.metadata for cell in book.cells] == [False] * 2 + [True] * 2 + [
        False] * 2


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("before, after", [("\x1b[36mFile \x1b[39m\x1b[32m", "\x1b[39m"),
                                           ("File ", "")], ids=["colours", "plain"])
def test_no_folder_stays_in_a_traceback(folder, before, after):
    path = "gpt2lab/teach/show.py"
    if "\\" in folder:
        path = path.replace("/", "\\")
    rest = ":95" + after + ", in f(x)\n     93 y = x / 2\n---> 95 raise ValueError"
    assert (refresh.without_folder(before + folder + path + rest)
            == before + "gpt2lab/teach/show.py" + rest)


def test_a_division_is_no_folder():
    line = "     18 rows = x/gpt2lab/2      # File of a/gpt2lab"
    assert refresh.without_folder(line) == line


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_folder_stays_in_the_links_of_vs_code(folder):
    line = ("\x1b[1;32m" + folder + "05_layernorm.ipynb Cell 13\x1b[0m line \x1b[0;36m4\n"
            "<a href='vscode-notebook-cell:/my%20lab/05_layernorm.ipynb#X2?line=3'>4</a> f(x)")
    assert refresh.without_folder(line) == (
        "\x1b[1;32m05_layernorm.ipynb Cell 13\x1b[0m line \x1b[0;36m4\n4 f(x)")


def test_run_in_a_folder_with_blanks(tmp_path, monkeypatch):
    """A real traceback through a file of a package named gpt2lab, in a folder as people have it."""
    for name in ("GPT2LAB_MY_OPS", "GPT2LAB_REFRESH", "GPT2LAB_MODEL"):
        monkeypatch.setenv(name, "")            # refresh sets them; put back after the test
    folder = tmp_path / "my läb #1"
    (folder / "gpt2lab").mkdir(parents=True)
    (folder / "gpt2lab" / "wrong.py").write_text("def divide():\n    return 1 / 0\n")
    (folder / "gpt2lab" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    cell = {"cell_type": "code", "execution_count": None, "id": "05-01", "outputs": [],
            "metadata": {"tags": ["raises-exception"]},
            "source": "from gpt2lab import wrong\nwrong.divide()"}
    text = cleaned(BOOK | {"cells": [cell]}, folder, run=True).decode()
    assert "ZeroDivisionError" in text and "gpt2lab/wrong.py" in text
    assert "my l" not in text and tmp_path.name not in text


def picture(title="loss 2.31", shade=0.5, line=0.0, text="A line."):
    """An output with a picture as lessons have them, and its text."""
    figure = Figure(figsize=(6.4, 3), dpi=100)
    axes = figure.subplots()
    axes.set_title(title, fontsize=10)
    axes.set_ylim(0, 1)
    axes.plot([0, 1], [0.2, 0.7 + line], color=str(shade))
    axes.imshow([[0, shade]], extent=(0, 0.2, 0.8, 1), aspect="auto", vmin=0, vmax=1)
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return nbformat.v4.new_output("display_data", {
        "image/png": base64.b64encode(file.getvalue()).decode(), "text/plain": text})


@pytest.mark.parametrize("other", [{"shade": 0.51}, {"line": 2e-3}])
def test_a_picture_that_another_processor_shades_otherwise_stays(other):
    assert picture(**other).data["image/png"] != picture().data["image/png"]
    assert refresh.looks_like(picture(**other), picture())


@pytest.mark.parametrize("other", [{"title": "loss 2.91"}, {"line": 0.03}, {"shade": 0.7},
                                   {"text": "Another line."}])
def test_a_picture_that_shows_something_else_is_stored(other):
    assert not refresh.looks_like(picture(**other), picture())


def test_what_was_measured_stays_until_its_cell_changes(tmp_path, monkeypatch):
    for name in ("GPT2LAB_MY_OPS", "GPT2LAB_REFRESH", "GPT2LAB_MODEL"):
        monkeypatch.setenv(name, "")    # the tool sets them; they are as before after the test
    cell = nbformat.v4.new_code_cell("print('new')", id="a", outputs=[PRINTED],
                                     metadata={"tags": ["nbval-ignore-output"]})
    path = tmp_path / "book.ipynb"

    def printed():
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
        refresh.refresh(path)
        return nbformat.read(path, as_version=4).cells[0].outputs[0].text

    assert printed() == PRINTED.text
    del cell.metadata["tags"]
    assert printed() == "new\n"


def test_a_changed_cell_gets_its_new_picture(tmp_path, monkeypatch):
    """The whole way: the file has what the last run drew, unless that looks the same."""
    for name in ("GPT2LAB_MY_OPS", "GPT2LAB_REFRESH", "GPT2LAB_MODEL"):
        monkeypatch.setenv(name, "")    # the tool sets them; they are as before after the test
    code = ("import io\nfrom IPython.display import Image\n"
            "from matplotlib.figure import Figure\nfigure, file = Figure(), io.BytesIO()\n"
            "figure.subplots().plot([0, 1, 2], [0, {}, 1])\n"
            "figure.savefig(file)\nImage(file.getvalue())")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code.format(1), id="a")])
    path = tmp_path / "book.ipynb"

    def stored(slope):
        book.cells[0].source = code.format(slope)
        nbformat.write(book, path)
        refresh.refresh(path)
        book.cells[0].outputs = nbformat.read(path, as_version=4).cells[0].outputs
        return book.cells[0].outputs[0].data["image/png"]

    first, same, other = stored(0.5), stored(0.5001), stored(0.9)
    assert first == same != other
