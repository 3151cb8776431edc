"""Notebooks find their files wherever the kernel was started: editors start it in other folders."""
import ast
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
PATHS = [path for path in sorted((ROOT / "notebooks").rglob("*.ipynb"))
         if ".ipynb_checkpoints" not in path.parts]
OPENS_FILES = re.compile(r"\bopen\(|open_file|read_text|read_bytes|np\.load|memmap|shipped|DATA\b")
LIKE_A_PATH = re.compile(r"\.{0,2}[\w.-]*(/[\w.-]+)+"
                         r"|[\w-]+\.(json|safetensors|txt|npz?|bpe|ipynb|csv)")


def code(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def texts_of_paths(source):
    """Texts in a cell that name a file relative to the working directory.

    Left out: what is given to shipped() or joined to a folder with /, and the addresses of pages.
    """
    tree = ast.parse(source)
    joined = {id(part) for node in ast.walk(tree)
              if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
              for part in ast.walk(node)}
    joined |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.Call)
               and ast.unparse(node.func).split(".")[-1] == "shipped" for part in node.args}
    return [node.value for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            and id(node) not in joined and LIKE_A_PATH.fullmatch(node.value)]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_no_cell_names_a_file_by_a_relative_path(path):
    for cell in code(path):
        source = "\n".join(line for line in cell.source.split("\n") if line[:1] not in "%!")
        assert not texts_of_paths(source), cell.source
        assert not re.search(r"getcwd|chdir|Path\(\)|Path\.cwd|__file__", source), cell.source


@pytest.mark.parametrize("source, found", [
    ('PATH = "../data/gpt2-tiny/model.safetensors"', 1), ('open("data/a.txt")', 1),
    ('open("book.txt")', 1), ('load("./gpt2")', 1), ('shipped("data", "tiny", "config.json")', 0),
    ('(DATA / "gpt2-vocab" / "vocab.bpe").read_text()', 0), ('print("a b/c d")', 0)])
def test_the_rule_sees_relative_paths(source, found):
    assert len(texts_of_paths(source)) == found


@pytest.mark.parametrize("folder", ["repository", "elsewhere"])
@pytest.mark.parametrize("path", [
    path for path in PATHS if path.parent.name != "bonus"       # slow, and read nothing else
    and any(OPENS_FILES.search(cell.source) for cell in code(path))], ids=lambda path: path.stem)
def test_cells_that_open_files_run_in_any_folder(path, folder, tmp_path):
    """Lessons with files run from the top to the last cell that names one, and print the same."""
    book = nbformat.read(path, as_version=4)
    last = max(i for i, cell in enumerate(book.cells)
               if cell.cell_type == "code" and OPENS_FILES.search(cell.source))
    book.cells = book.cells[:last + 1]
    stored = [printed(cell) for cell in book.cells]
    where = ROOT if folder == "repository" else tmp_path
    NotebookClient(book, kernel_name="python3", timeout=300,
                   resources={"metadata": {"path": str(where)}}).execute()
    for cell, before in zip(book.cells, stored):
        if "nbval-ignore-output" not in cell.metadata.get("tags", []):
            assert printed(cell) == before, cell.source


def printed(cell):
    """What a cell prints, and the words of the error that it shows."""
    return "".join(output.get("text", "") + output.get("evalue", "")
                   for output in cell.get("outputs", []))
