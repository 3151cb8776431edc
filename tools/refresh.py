"""Bring notebooks up to date: module code into the `# final:` cells, run from the top, clean, save.

    python tools/refresh.py                    all notebooks
    python tools/refresh.py notebooks/05_*     some
    python tools/refresh.py --clean NAME ...   only clean what JupyterLab saved, without running

An unchanged notebook gives an unchanged file. A value that would round differently on another CPU
stops the run (see gpt2lab/teach/show.py).
"""
import argparse
import ast
import json
import os
import re
import tempfile
from pathlib import Path

import nbformat
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
    for cell in book.cells:
        if is_final(cell.source):
            cell.source = final_source(cell.source.split("\n")[0])
    measured = {cell.id: (cell.source, cell.outputs) for cell in book.cells
                if "nbval-ignore-output" in cell.metadata.get("tags", []) and cell.outputs}
    if run:
        with tempfile.TemporaryDirectory() as empty:
            os.environ.update(GPT2LAB_MY_OPS=empty, GPT2LAB_REFRESH="1", GPT2LAB_MODEL="")
            NotebookClient(book, kernel_name="python3", timeout=600, record_timing=False,
                           resources={"metadata": {"path": str(path.parent.resolve())}}).execute()
    for cell in book.cells:             # a time that was measured stays until its cell changes
        if measured.get(cell.id, ("",))[0] == cell.source:
            cell.outputs = measured[cell.id][1]
    clean(book)
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
    """The tags, and what is folded: all else is an editor's own."""
    folded = [key for key in ("source_hidden", "outputs_hidden")
              if metadata.get("jupyter", {}).get(key)]
    kept = {"tags": metadata.get("tags"), "jupyter": dict.fromkeys(folded, True)}
    return nbformat.from_dict({key: value for key, value in kept.items() if value})


def clean_output(output, ids):
    """Drop the same from one output, and whose folder this is; ids: of widgets, new by old."""
    if output.output_type == "error":
        output.traceback = [without_folder(line) for line in output.traceback]
    if "data" not in output:
        return
    output.data.pop("application/vnd.google.colaboratory.intrinsic+json", None)
    output.metadata = nbformat.from_dict(
        {kind: value for kind, value in output.metadata.items() if kind in output.data})
    if "image/png" in output.data:      # some editors end it with a line break
        output.data["image/png"] = output.data["image/png"].strip()
    view = output.data.get("application/vnd.jupyter.widget-view+json")
    if view:
        view["model_id"] = ids.setdefault(view["model_id"], f"{len(ids) + 1:032x}")


def without_folder(line):
    line = FRAME.sub(lambda found: found[1] + found[2].replace("\\", "/"), line)
    return CELL.sub(r"\1\2", LINK.sub(r"\1", line))


def is_final(source):
    return source.startswith("# final: ")


def final_source(first_line):
    """The cell for a first line such as "# final: gpt2lab/bpe.py byte_characters BPE.merge_steps".

    The module's code without docstrings and import lines; if it names functions, only those.
    """
    path, *names = first_line.removeprefix("# final: ").split()
    text = (ROOT / path).read_text(encoding="utf-8")
    lines, tree = text.split("\n"), ast.parse(text)
    for node in ast.walk(tree):
        has_one = isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
        if has_one and ast.get_docstring(node) is not None:
            _blank(lines, node.body[0])
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _blank(lines, node)
    if names:
        code = "\n\n".join(_part(lines, tree, name) for name in names)
    else:
        code = "\n".join(lines)
    code = re.sub("\x00\n?", "", code)
    return first_line + "\n" + re.sub(r"\n{3,}", "\n\n", code).strip("\n")


def _blank(lines, node):
    for i in range(node.lineno - 1, node.end_lineno):
        lines[i] = "\x00"


def _part(lines, tree, dotted):
    """The lines of one function, or of Class.method, moved to the left edge."""
    body = tree.body
    for name in dotted.split("."):
        node = next(n for n in body if getattr(n, "name", None) == name)
        body = getattr(node, "body", [])
    start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    indent = node.col_offset
    return "\n".join(line[indent:] if line.startswith(" ") else line
                     for line in lines[start - 1:node.end_lineno])


if __name__ == "__main__":
    main()
