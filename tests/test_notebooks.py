"""What strict nbval does not see: run order, noise, budgets, links, answers that are in sight."""
import ast
import io
import re
import tokenize
from pathlib import Path

import nbformat
import pytest

import refresh
from drawing import two_lines

ROOT = Path(__file__).resolve().parents[1]
PATHS = [p for p in sorted((ROOT / "notebooks").rglob("*.ipynb"))
         if ".ipynb_checkpoints" not in p.parts]
LESSONS = [p for p in PATHS if p.stem[:2] != "00"]
TAGS = {"nbval-ignore-output", "raises-exception", "stub"}
# Most cells, words of prose, and cells whose output is not compared. The lesson on training has
# three models in it, and under the tests it trains each for a few steps only: what the full
# training gave is stored, and nothing that it led to can be compared. Lessons 01 to 04, and
# those of the block, have two questions each: how a thing is computed, and why or how it came
# about; there is a build for either.
BUDGETS = 50, 2000, 2
LARGER = {"01_linear": (60, 2500, 2), "02_safetensors": (60, 2500, 2), "03_bpe": (58, 2500, 2),
          "04_embedding": (62, 2650, 2), "05_layernorm": (60, 2500, 2),
          "06_attention": (60, 2500, 2), "07_heads": (60, 2500, 2),
          "08_mlp": (60, 2500, 2), "09_block": (60, 2500, 2),
          "training": (66, 3400, 13)}
NOISE = re.compile(r"0x[0-9a-f]{6,}|/home/|/root/|/tmp/|/Users/|\\Users\\|[A-Z]:\\|site-packages")
HIDING = re.compile(r"NBVAL_|pyplot|%matplotlib|pip install|warnings\.filter")
FILLER = re.compile(r"\b(simply|obviously|just|of course|easy|easily|trivial)\b", re.I)


def each(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda p: p.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(book):
    return [c for c in book.cells if c.cell_type == "code"]


def tags(cell):
    return set(cell.metadata.get("tags", []))


def texts(output):
    """All text of an output that a reader sees."""
    data = output.get("data", {})
    return [output.get("text", ""),
            *(data.get(kind, "") for kind in ("text/plain", "text/html", "text/markdown"))]


def without_code(prose):
    return re.sub(r"```.*?```", "", prose, flags=re.S)


def words(book):
    prose = "\n".join(c.source for c in book.cells if c.cell_type == "markdown")
    return len(without_code(prose).split())


@each(PATHS)
def test_stored_as_run_from_top_to_bottom(path):
    book = read(path)
    nbformat.validate(book)
    assert book.metadata == refresh.METADATA, "run tools/refresh.py --clean"
    counts = [cell.execution_count for cell in code_cells(book)]
    assert counts == list(range(1, len(counts) + 1))
    assert path.stat().st_size < 400_000


@each(PATHS)
def test_outputs_are_quiet_and_stable(path):
    for cell in code_cells(read(path)):
        assert tags(cell) <= TAGS, tags(cell)
        for output in cell.outputs:
            assert output.get("name") != "stderr", output.text
            assert output.output_type != "error" or "raises-exception" in tags(cell), cell.source
            unsure = set(output.get("data", {})) & {"image/svg+xml", "text/html", "text/latex"}
            assert not unsure, "shown differently, or not at all, elsewhere"
            assert not any(NOISE.search(line) for line in output.get("traceback", [])), cell.source
            if "nbval-ignore-output" not in tags(cell):
                for text in texts(output):
                    assert not NOISE.search(text), cell.source
                    assert not re.search(r"np.float\d+\(|-0\.000", text), cell.source


def pictures(cell):
    """The stored outputs of a cell that are pictures."""
    return [output for output in cell.outputs if "image/png" in output.get("data", {})]


@each(PATHS)
def test_pictures_have_alternative_text(path):
    for cell in code_cells(read(path)):
        for output in pictures(cell):
            what, read_in_it = two_lines(output.data["text/plain"])
            assert output.metadata["image/png"]["alt"] == f"{what} {read_in_it}"
            assert png_width(output.data["image/png"]) == 640


@each(PATHS)
def test_the_first_line_of_a_pictures_text_tells_no_result(path):
    """It is all that a folded output shows: its numbers are those of the code or of a control."""
    for cell in code_cells(read(path)):
        controls = [output.data["text/plain"] for output in cell.outputs
                    if "application/vnd.jupyter.widget-view+json" in output.get("data", {})]
        settings = set(re.findall(r"\d+", " ".join([cell.source, *controls])))
        for output in pictures(cell):
            what, _ = two_lines(output.data["text/plain"])
            assert set(re.findall(r"\d+", what)) <= settings, what


def png_width(data):
    import base64
    return int.from_bytes(base64.b64decode(data)[16:20], "big")


@each(PATHS)
def test_printed_lines_are_at_most_100_wide(path):
    """Wider ones are broken in the middle of a word, where the page has no room."""
    for cell in code_cells(read(path)):
        for output in cell.outputs:
            for line in output.get("text", "").split("\n"):
                assert len(line) <= 100, (len(line), line)


@each(PATHS)
def test_no_marker_hides_a_cell(path):
    book = read(path)
    *_, unseen = LARGER.get(path.stem, BUDGETS)
    assert sum("nbval-ignore-output" in tags(c) for c in code_cells(book)) <= unseen
    for cell in code_cells(book):
        assert not HIDING.search(cell.source), cell.source
        assert not ends_with_semicolon(cell.source), cell.source


def ends_with_semicolon(source):
    found = [text for kind, text in python_tokens(source)
             if kind not in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)]
    return found[-1:] == [";"]


def python_tokens(source):
    skip = {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT}
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return [(token.type, token.string) for token in found if token.type not in skip]


@each(PATHS)
def test_our_version_is_shown_and_never_copied(path):
    for cell in code_cells(read(path)):
        assert not cell.source.startswith("# final:"), "show it with show.source"


@each(PATHS)
def test_what_answers_a_question_is_folded(path):
    book = read(path)
    stored = [cell.metadata for cell in book.cells]
    for cell in book.cells:
        cell.metadata = refresh.kept_metadata(cell.metadata)
    refresh.fold(book)
    assert [cell.metadata for cell in book.cells] == stored, "run tools/refresh.py --clean"


@each(PATHS)
def test_a_folded_cell_tells_nothing(path):
    """JupyterLab shows the first line of what is folded: it must say what the code says anyway."""
    for cell in code_cells(read(path)):
        if not cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            continue
        first, *others = "".join(texts(cell.outputs[0])).split("\n")
        picture = "image/png" in cell.outputs[0].get("data", {})    # see the test above
        if cell.outputs[0].output_type == "error":          # its first line is a row of dashes
            assert set(cell.outputs[0].traceback[0]) == {"-"}
            continue
        known = "gallery(", "compare(", "show.source(", "play.train(", *refresh.TELLS
        if picture or cell.source.startswith(known):
            continue
        header = others and others[0] and set(others[0]) <= {"-", " "}
        label = re.sub(r" \([\d, ]*\):$", "", first)           # of show.array
        whose = re.fullmatch(r"\w+: ours, until yours passes its check", first)      # of yours
        assert header or whose or label in told(cell.source), (first, cell.source)


def told(source):
    """The texts that a cell's own code holds, put together as a reader would."""
    return [node.value for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@each(PATHS)
def test_guesses_are_asked_and_answered(path):
    asked = [cell for cell in code_cells(read(path)) if cell.source.startswith(refresh.ASKS)]
    ends = [cell for cell in code_cells(read(path)) if cell.source.startswith(refresh.TELLS)]
    assert 2 <= len(asked) <= 4 and len(ends) == 1, (len(asked), len(ends))
    for cell in asked:
        call = ast.parse(cell.source).body[0].value
        question, choices = map(ast.literal_eval, call.args)
        (answer,) = [ast.literal_eval(word.value) for word in call.keywords if word.arg == "answer"]
        assert answer in choices and len(set(choices)) == len(choices) >= 2, cell.source
        assert answer not in cell.source.split("\n")[0], "JupyterLab shows the first line"
        assert "answer=" in cell.source.split("\n")[-1]
        assert max(map(len, [question, *choices])) <= 90


@each(PATHS)
def test_links_and_headings(path):
    level = 0
    for cell in read(path).cells:
        if cell.cell_type != "markdown":
            continue
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", cell.source):
            assert target.startswith("https://") or (path.parent / target).exists(), target
        for marks in re.findall(r"^(#+) ", without_code(cell.source), flags=re.M):
            assert len(marks) <= level + 1, f"heading level jumps: {cell.source[:60]}"
            level = len(marks)
        assert not FILLER.search(without_code(cell.source)), cell.source


ROW = re.compile(r"^\| \[([^]]+)\]\(([^)]+\.ipynb)\) \| ([^|]+) \|", flags=re.M)


def rows(text, folder):
    """[(name, path, question)] of the lessons that a table lists; its links start at the folder."""
    return [(name, folder / target, question) for name, target, question in ROW.findall(text)]


def test_both_tables_list_all_lessons_and_agree():
    """That of the README has lesson 00 besides."""
    readme = rows((ROOT / "README.md").read_text(encoding="utf-8"), ROOT)
    start = PATHS[0].parent / "00_start_here.ipynb"
    here = rows("\n".join(cell.source for cell in read(start).cells), start.parent)
    assert readme[0][1] == start and readme[1:] == here
    assert sorted(path for _, path, _ in readme) == sorted(PATHS)


def test_each_lesson_leads_to_the_next_and_back():
    """In the order of the README: by links in the last cell of one and the first of the other."""
    chain = [path for _, path, _ in rows((ROOT / "README.md").read_text(encoding="utf-8"), ROOT)]
    for one, other in zip(chain, chain[1:]):
        assert other in linked(one, -1), f"{one.stem} does not lead to {other.stem}"
        assert one in linked(other, 0), f"{other.stem} does not lead back to {one.stem}"


def linked(path, place):
    """Paths that the links of one cell lead to."""
    found = re.findall(r"\]\(([^)#]+)\)", read(path).cells[place].source)
    return [(path.parent / target).resolve() for target in found]


@each(LESSONS)
def test_lesson_budgets(path):
    book = read(path)
    code = code_cells(book)
    most_cells, most_words, _ = LARGER.get(path.stem, BUDGETS)
    assert 30 <= len(book.cells) <= most_cells, len(book.cells)
    assert 900 <= words(book) <= most_words, words(book)
    for cell in code:
        assert len(cell.source.split("\n")) <= 15, cell.source
    silent = [c for c in code if not c.outputs]
    assert len(silent) <= 0.3 * len(code), [c.source[:40] for c in silent]
    kinds = [cell.cell_type for cell in book.cells if not cell.source.startswith(refresh.ASKS)]
    pairs = list(zip(kinds, kinds[1:]))
    assert pairs.count(("code", "code")) <= 2, "prose comes before a code cell"


@each(LESSONS)
def test_lesson_anatomy(path):
    book = read(path)
    prose = [c.source for c in book.cells if c.cell_type == "markdown"]
    questions = re.findall(r"\*\*[^*]*\?[^*]*\*\*", "\n".join(prose))
    assert len(questions) >= 4, "the question of the lesson, and three to guess"
    assert re.match(r"# .* · ", prose[0]) and "minutes" in prose[0] and "](" in prose[0]
    assert "next" in prose[-1].lower() and "Sources" in prose[-1]
    code = code_cells(book)
    assert any("show.source(gpt2lab." in c.source for c in code)
    assert any("raises-exception" in tags(c) for c in code)
    assert any("play.explore(" in c.source for c in code)
    stubs = [c for c in code if "stub" in tags(c)]
    assert len(stubs) >= 3 and all("not written yet" in c.outputs[0].text for c in stubs)
    answers = re.findall(r"<summary>Answer</summary>\s*```python", "\n".join(prose))
    assert len(answers) == len(stubs)


def test_all_operations_have_a_module_a_test_and_a_lesson():
    """One stem in three places, as far as the lessons are written."""
    for path in LESSONS:
        stem = path.stem[3:]
        if path.parent.name != "bonus" and stem not in ("bpe", "generation", "kv_cache"):
            assert (ROOT / "gpt2lab" / f"{stem}.py").exists(), stem
            assert (ROOT / "tests" / f"test_{stem}.py").exists(), stem
