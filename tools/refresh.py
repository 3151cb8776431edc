"""Bring notebooks up to date: run from the top, fold what answers a question, clean, save.

    python tools/refresh.py                    all notebooks
    python tools/refresh.py notebooks/05_*     some
    python tools/refresh.py --clean NAME ...   only clean what JupyterLab saved, without running

An unchanged notebook gives an unchanged file. A value that would round differently on another CPU
stops the run (see gpt2lab/teach/show.py); a picture that comes out with a few other pixels there
stays as it is stored.
"""
import argparse
import base64
import io
import json
import os
import re
import tempfile
from pathlib import Path

import nbformat
from matplotlib.image import imread
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
METADATA = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python",
                           "name": "python3"},
            "language_info": {"name": "python"}}

# Places in a traceback that say where the checkout lies on somebody's disk: what stands before
# gpt2lab/ in a frame, and VS Code's name of a cell. A folder may have blanks in its name, and ends
# where a colour begins. VS Code also makes links of line numbers.
FRAME = re.compile(r"(File (?:\x1b\[[\d;]*m)*)[^\x1b\n]*[/\\](gpt2lab[/\\][^\x1b\n:]+)")
CELL = re.compile(r"((?:\x1b\[[\d;]*m)*)[^\x1b\n]*[/\\]([^/\\\x1b\n]+\.ipynb Cell )")
WIDGET = "application/vnd.jupyter.widget-view+json"
QUESTION = re.compile(r"\*\*[^*]+\?[^*]*\*\*")        # in bold: what the learner is to guess
ASKS = "guess(", "teach.guess("         # how a cell begins; one lesson builds a guess of its own
TELLS = "guesses(", "teach.guesses("
COLOUR = re.compile(r"\x1b\[[\d;]*m")
LINK = re.compile(r"<a href='[^']*'>(\d+)</a>")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--clean", action="store_true", help="do not run")
    arguments = parser.parse_args()
    for path in arguments.notebooks or sorted((ROOT / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            print(path, flush=True)
            refresh(path, run=not arguments.clean)


def refresh(path, run=True):
    """Rewrite one notebook in place; on an error the file stays as it was."""
    book = read(path)
    stored = {cell.id: cell.get("outputs", []) for cell in book.cells}
    measured = {cell.id: (cell.source, cell.outputs) for cell in book.cells
                if "nbval-ignore-output" in cell.metadata.get("tags", []) and cell.outputs}
    if run:
        with tempfile.TemporaryDirectory() as empty:
            os.environ.update(GPT2LAB_MY_OPS=os.path.join(empty, "my_ops"),
                              GPT2LAB_REFRESH="1", GPT2LAB_MODEL="")
            NotebookClient(book, kernel_name="python3", timeout=600, record_timing=False,
                           resources={"metadata": {"path": str(path.parent.resolve())}}).execute()
    for cell in book.cells:             # a time that was measured stays until its cell changes
        if measured.get(cell.id, ("",))[0] == cell.source:
            cell.outputs = measured[cell.id][1]
    clean(book)
    for cell in book.cells:             # so does a picture that the processor shades otherwise
        for new, old in zip(cell.get("outputs", []), stored[cell.id]):
            if looks_like(new, old):
                new.data["image/png"] = old.data["image/png"].strip()
    fold(book)
    nbformat.validate(book)
    path.write_text(nbformat.writes(book) + "\n", encoding="utf-8", newline="\n")


def read(path):
    """The notebook, each cell with an id that is its own.

    Files of nbformat 4.4 and older have no ids, nor have some that say 4.5; then the id is that of
    the place, as in all lessons ("05-07"). What Colab remembers in the metadata goes before.
    """
    book, taken = json.loads(path.read_text(encoding="utf-8")), set()
    for place, cell in enumerate(book["cells"], start=1):
        names = [cell.get("id"), cell["metadata"].get("id"),
                 *(f"{path.stem[:2]}-{n:02}" for n in range(place, 2 * len(book["cells"]) + 1))]
        cell["id"] = next(name for name in names if name and name not in taken)
        taken.add(cell["id"])
    book["nbformat_minor"] = 5
    return nbformat.reads(json.dumps(book), as_version=4)


def clean(book):
    """Drop what differs from run to run, or from editor to editor: times, views, widget ids."""
    book.metadata = METADATA
    ids = {}
    for cell in book.cells:
        cell.metadata = kept_metadata(cell.metadata)
        if not cell.get("attachments", True):
            del cell["attachments"]
        merged = []                     # print writes in bits: one output for what follows on
        for output in cell.get("outputs", []):
            if merged and output.output_type == "stream" and merged[-1].get("name") == output.name:
                merged[-1].text += output.text
            else:
                merged.append(output)
        if cell.cell_type == "code":
            cell.outputs = merged
        for output in merged:
            clean_output(output, ids)


def kept_metadata(metadata):
    """The tags: all else is an editor's own (what is folded, fold says)."""
    return nbformat.from_dict({"tags": metadata["tags"]} if metadata.get("tags") else {})


def clean_output(output, ids):
    """Drop the same from one output, and whose folder this is; ids: of widgets, new by old."""
    if output.output_type == "error":
        output.traceback = [without_folder(line) for line in output.traceback]
        output.traceback[:1] = [COLOUR.sub("", line) for line in output.traceback[:1]]  # if folded
    if "data" not in output:
        return
    output.data.pop("application/vnd.google.colaboratory.intrinsic+json", None)
    output.metadata = nbformat.from_dict(
        {kind: value for kind, value in output.metadata.items() if kind in output.data})
    if "image/png" in output.data:      # some editors end it with a line break
        output.data["image/png"] = output.data["image/png"].strip()
    view = output.data.get(WIDGET)
    if view:
        view["model_id"] = ids.setdefault(view["model_id"], f"{len(ids) + 1:032x}")


def looks_like(new, old):
    """Do two outputs show the same picture with the same text, but for a few pixels?

    The last bit of a float32 differs between processors, and moves an edge or a shade by a little:
    one pixel in ten thousand may differ by more than an eighth of the scale (the most that was
    seen is one in 200,000; a digit that changes is more).
    """
    new, old = new.get("data", {}), old.get("data", {})
    if not ("image/png" in new and "image/png" in old):
        return False
    if new["image/png"] == old["image/png"] or new.get("text/plain") != old.get("text/plain"):
        return False
    new, old = (imread(io.BytesIO(base64.b64decode(data["image/png"]))) for data in (new, old))
    return new.shape == old.shape and (abs(new - old) > 1 / 8).any(axis=-1).mean() <= 0.0001


def without_folder(line):
    line = FRAME.sub(lambda found: found[1] + found[2].replace("\\", "/"), line)
    return CELL.sub(r"\1\2", LINK.sub(r"\1", line))


def fold(book):
    """Fold outputs that answer a guess or show our version, and code that holds an answer."""
    asks = False                        # does the text above ask a bold question?
    for place, cell in enumerate(book.cells):
        if cell.cell_type == "markdown":
            asks = place > 0 and QUESTION.search(cell.source) is not None   # 0: title and set-up
            continue
        tells = asks or cell.source.startswith(TELLS) or "show.source(" in cell.source
        folded = {"outputs_hidden": tells and answers(cell),
                  "source_hidden": cell.source.startswith(ASKS)}
        if any(folded.values()):
            cell.metadata["jupyter"] = {key: True for key, value in folded.items() if value}


def answers(cell):
    """Would the stored output of a code cell tell an answer? No stub or widget does."""
    shown = [output.get("data", {}) for output in cell.outputs]
    return bool(shown) and "stub" not in cell.metadata.get("tags", []) and not any(
        WIDGET in data for data in shown)


if __name__ == "__main__":
    main()
