"""Four lessons with models as a learner trains them: pytest tests/slow/slow_small_models.py

One block or two, a vocabulary of the 256 bytes, a short context. Trained for 30 steps they write
nothing of sense: that the cells run, and write with that model, is what is looked at. pytest -s
says what ran.
"""
import re
import shutil
from string import ascii_lowercase

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import gpt2lab
from gpt2lab.checkpoint import tokenizer
from gpt2lab.files import shipped
from gpt2lab.teach import show
from gpt2lab.training import Training, pages_of, save, small_config
from slow_real_size import ENDS, NOTEBOOKS, printed
from test_export import alone

LESSONS = "06_attention", "07_heads", "bonus/looking_inside", "13_generation"
SIZES = {"one block": {}, "two blocks": {"N": 64, "L": 2, "H": 2}}
PROMPTS = "Once upon a time", "Dorothy’s café 🐕"       # with characters of two to four bytes


@pytest.fixture(scope="module", params=SIZES)
def folder(request, tmp_path_factory):
    """A model of 30 steps: half of its pages the book, half 32 random letters said again."""
    book = shipped("data", "training-text", "wizard-of-oz.txt").read_text(encoding="utf-8")
    config, bytes_of = small_config(**SIZES[request.param]), tokenizer(256).encode
    page, letters = pages_of(bytes_of(book), config.n_positions), bytes_of(ascii_lowercase)

    def draw(rng):
        told = np.resize(rng.choice(letters, 32), config.n_positions + 1)
        return page(rng) if rng.random() < 0.5 else told
    training = Training(config, draw, steps=30)
    for _ in range(training.steps):
        training.advance()
    assert training.losses[-1] < training.losses[0]
    folder = tmp_path_factory.mktemp("trained") / request.param.replace(" ", "_")
    save(training.model, folder)
    return folder


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_on_it(lesson, folder, monkeypatch, tmp_path):
    book, done, lines = ran(lesson, folder, monkeypatch, tmp_path)
    for before, after in zip(book.cells, done.cells[1:]):
        if "raises-exception" in before.metadata.get("tags", []):       # the same words
            assert without_numbers(error(after)) == without_numbers(error(before))
    explorers = sum(cell.source.count("play.explore(")
                    for cell in book.cells if cell.cell_type == "code")
    assert sum(line.startswith("drawn at the ends") for line in lines) == explorers
    agreed = [line for line in printed(book).splitlines() if re.search(r": agree to \d", line)]
    for line in agreed:                 # what agrees in one model agrees in every other
        assert line.replace("the stored reference", "the library's") in lines
    drawn = sum("image/png" in output.get("data", {})
                for cell in done.cells for output in cell.get("outputs", []))
    print(f"\n{lesson} on {folder.name}: {len(done.cells) - 1} cells, {drawn} pictures, "
          f"{explorers} explorers, {len(agreed)} identities")


def ran(lesson, folder, monkeypatch, tmp_path):
    """The notebook as it is stored, as it ran with the model, and the lines that it printed."""
    monkeypatch.setenv("GPT2LAB_MODEL", str(folder))
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path / "my_ops"))
    path = NOTEBOOKS / f"{lesson}.ipynb"
    book, done = (nbformat.read(path, as_version=4) for _ in range(2))
    done.cells.insert(0, nbformat.v4.new_code_cell(ENDS))
    NotebookClient(done, kernel_name="python3", timeout=300,
                   resources={"metadata": {"path": str(path.parent)}}).execute()
    return book, done, printed(done).splitlines()


def error(cell):
    return next(output.evalue for output in cell.outputs if output.output_type == "error")


def without_numbers(words):
    return re.sub(r"\d+", "", words)


def test_the_finale_and_the_exported_file_write_with_it(folder, monkeypatch, tmp_path):
    _, _, lines = ran("13_generation", folder, monkeypatch, tmp_path)
    model = gpt2lab.load(folder)
    assert f"{len(model.weights)} arrays and 256 tokens" in lines
    want = model.generate("The king said", max_new_tokens=25, temperature=0)
    assert "greedy    " + show.token("The king said" + want).replace("·", " ") in lines
    assert f"Those of the model {folder.name} are in my_gpt2_model/: hand that folder on " \
           "with the file." in lines
    home = tmp_path / "friend"
    home.mkdir()
    for name in ("my_gpt2.py", "my_gpt2_model"):
        shutil.move(tmp_path / name, home)
    monkeypatch.chdir(home)
    for prompt in PROMPTS:
        want = model.generate(prompt, temperature=0)
        assert alone(prompt, "--temperature", 0) == (0, f"{prompt}{want}\n", "")
        want = model.generate(prompt, top_k=5, seed=3)          # the best may be blanks all along
        assert alone(prompt, "--top-k", 5, "--seed", 3) == (0, f"{prompt}{want}\n", "")
        print(f"\nthe file on {folder.name}: {(prompt + want)!r}")
