"""What a learner builds keeps its name: from `op = yours(op)` on it is what runs, sliders included.

Each lesson runs here as a diligent learner has it, with every printed answer kept. The library's
function of the same name is then called by mistakes, checks and comparisons only.
"""
import ast
import contextlib
import sys
import threading
from unittest import mock

import nbformat
import pytest

import gpt2lab
from cells import NOTEBOOKS, code_cells, run
from gpt2lab import teach, validate
from gpt2lab.teach import checking, judging, keep, keeping, living, play, plot
from gpt2lab.teach.exercises import exercises
from test_lessons import LESSONS as PATHS, answers

LESSONS = [path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in PATHS
           if not path.stem.startswith("00")]

# Cells that call the library's function after `yours`, and why they may:
# {(lesson, function): {a piece of the cell: the reason}}.
COMPARED = {
    ("01_linear", "linear"): {
        "against the model's own h.0.attn.c_attn": "beside what the library's model computes"},
    ("02_safetensors", "read_header"): {
        "ready_made.says(": "the library's words about each broken file"},
    ("04_embedding", "embed"): {
        "yours and ours": "beside what the library's model computes",
        "cases = [([-1], 0)": "yours and ours beside each other"},
    ("06_attention", "attend"): {
        "real = gpt2lab.load().trace(": "beside what the library's model computes"},
    ("06_attention", "softmax"): {
        "real = gpt2lab.load().trace(": "beside what the library's model computes"},
    ("08_mlp", "gelu"): {
        "own, rows = gpt2lab.load()(ids)": "three activations beside the library's model"},
    ("10_lm_head", "lm_head"): {
        "gpt2lab.load()(ids)": "beside what the library's model computes"},
    ("bonus/memory_wall", "pack_int4"): {
        "quantize_int4(w)": "times the library's own formats"},
    ("bonus/speculation", "guess"): {
        "lookup=8": "beside the library's passes",
        "writing_seconds(": "times the library's passes"},
    ("bonus/speculation", "accept"): {
        "lookup=8": "beside the library's passes",
        "writing_seconds(": "times the library's passes"},
}
# Explorers, counted from 0, that do not call what the learner built, and why they need not:
# {(lesson, function): {explorer: the reason}}.
NOT_MOVED = {
    ("01_linear", "linear"): {3: "it shows places in memory"},
    ("01_linear", "downhill"): {2: "what the model writes: nothing learns",
                                3: "it shows places in memory"},
    ("01_linear", "find_number"): {3: "it shows places in memory"},
    ("02_safetensors", "read_header"): {0: "it shows tensors that were read above with it"},
    ("02_safetensors", "tensor_view"): {0: "it shows tensors that were read above with it"},
    ("03_bpe", "join"): {1: "it merges by GPT-2's list, which is found"},
    ("03_bpe", "find_merges"): {1: "it merges by GPT-2's list, which is found"},
    ("03_bpe", "decode"): {1: "it cuts and merges, and decodes nothing"},
    ("04_embedding", "embed"): {0: "it compares rows of the token table alone"},
    ("04_embedding", "nearest"): {0: "it compares several rows with the table at once",
                                  1: "the nearest in some directions only", 2: "the model writes"},
    ("05_layernorm", "fold"): {0: "it moves one norm: no layer stands behind it"},
    ("05_layernorm", "rms_norm"): {0: "it moves the other norm"},
    ("08_mlp", "merged"): {0: "it draws the curves of activations", 1: "the model's units"},
    ("13_generation", "read_header"): {1: "the weights were read above with it"},
    ("13_generation", "tensor_view"): {1: "the weights were read above with it"},
    ("bonus/looking_inside", "induction_score"): {0: "a lens on the stream", 1: "parts of a logit"},
    ("bonus/looking_inside", "direct_logits"): {0: "a lens on the stream", 2: "a head is off"},
    ("bonus/memory_wall", "attainable"): {0: "rounded weights: no speed is computed"},
    ("bonus/memory_wall", "quantize_int8"): {0: "rounds to any number of bits, not to 8 alone"},
    ("bonus/memory_wall", "pack_int4"): {0: "rounds to any number of bits, and packs nothing"},
    **{("bonus/training", name): {1: "what trained models write", 3: "a trained model writes",
                                  4: "heads of trained models"}
       for name in ("update", "cross_entropy", "cross_entropy_back", "linear_back")},
    ("bonus/speculation", "step"): {0: "the text is written already: no pass is made"},
}
# Functions that only the rest of the cell of their `yours` calls, and what becomes of it.
AT_ONCE = {
    ("01_linear", "downhill"): "the layer that finds the price list",
    ("01_linear", "find_number"): "the search for the number, and its story",
    ("02_safetensors", "one_byte"): "its copy of the file is read and drawn there",
    ("05_layernorm", "fold"): "the model whose norms are bare tells its story there",
    ("05_layernorm", "rms_norm"): "the models with the other norm write there",
    ("06_attention", "by_hand"): "the explorer beside the trained head",
    ("07_heads", "fewest_heads"): "the search for the heads, and the stories without them",
    ("08_mlp", "merged"): "the table of the hand numbers",
    ("08_mlp", "rewrite"): "the model that the learner teaches, which reads five texts there",
    ("13_generation", "read_header"): "it reads the weights of the generator",
    ("13_generation", "tensor_view"): "it reads the weights of the generator",
    ("bonus/memory_wall", "attainable"): "the table of what each pass can reach",
    ("bonus/memory_wall", "pack_int4"): "the packed models, which later cells draw",
}

OURS = {name: {exercise.right.__code__} for name, exercise in exercises().items()}
for _name, _function in vars(gpt2lab.Ops()).items():        # the right answer may be another one
    OURS.setdefault(_name, set()).add(_function.__code__)
JUDGES = {module.__file__ for module in (checking, judging, validate)}
COMPARING = {function.__code__ for function in (living.compare, living.diff, living.gallery)}
MISTAKES = {mistake.__code__ for exercise in exercises().values() for mistake in exercise.mistakes}


class Watch:
    """Sees, of some names, the calls of the learner's function and of the library's.

    place: what runs, (cell, None) or (cell, explorer). learners: {(name, place)}. librarys:
    {(name, place): who called first}, but for mistakes, checks and comparisons.
    """

    def __init__(self, folder):
        self.folder, self.names, self.place = str(folder), set(), None
        self.learners, self.librarys = set(), {}

    def __call__(self, frame, event, _):
        code = frame.f_code
        if event != "call" or code.co_name not in self.names:
            return
        if code.co_filename.startswith(self.folder):
            self.learners.add((code.co_name, self.place))
        elif code in OURS[code.co_name] and not excused(frame.f_back):
            caller = frame.f_back.f_code
            self.librarys.setdefault((code.co_name, self.place),
                                     f"{caller.co_name} in {caller.co_filename}")

    @contextlib.contextmanager
    def at(self, place):
        before, self.place = self.place, place
        try:
            yield
        finally:
            self.place = before

    @contextlib.contextmanager
    def watching(self):
        """Nothing is slowed down before there is a name."""
        look = self if self.names else None
        sys.setprofile(look)
        threading.setprofile(look)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def excused(frame):
    """Does a mistake, a check or a comparison make this call?"""
    while frame is not None:
        code = frame.f_code
        if code.co_filename in JUDGES or code in COMPARING or code in MISTAKES:
            return True
        frame = frame.f_back
    return False


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """The folder of a learner who has kept all printed answers; galleries have only a first row."""
    folder, known = tmp_path_factory.mktemp("desk"), [e.mistakes for e in exercises().values()]
    mistakes = [list(them) for them in known]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPT2LAB_MY_OPS", str(folder))
        patch.chdir(NOTEBOOKS)
        for path in PATHS:
            keep_answers(path)
        for them in known:
            them.clear()
        yield folder
        for them, before in zip(known, mistakes):
            them[:] = before


def keep_answers(path):
    """Keep the printed answers of a notebook; they see its imports and what was kept before."""
    book, space = nbformat.read(path, as_version=4), {"__name__": "__main__"}
    for cell in book.cells:
        if cell.cell_type == "code" and "import " in cell.source:
            imports = [node for node in ast.parse(cell.source).body
                       if isinstance(node, (ast.Import, ast.ImportFrom))]
            run("\n".join(map(ast.unparse, imports)), space)
    for name, source in answers(book).items():
        for file in keeping.folder().glob("*.py"):
            space.setdefault(file.stem, keeping.kept(file.stem))
        run(source, space)
        said = keep(space[name])
        assert said == "Kept for the later lessons.", (name, said)


def watched(lesson, folder):
    """(what was seen, {name: cell of its yours}, [cell of each explorer]) of a whole lesson.

    Cells that are meant to fail are not watched. Explorers draw once, with what they begin with,
    each button pressed once.
    """
    watch, asked, explorers, space = Watch(folder), {}, [], {"__name__": "__main__"}

    def yours(operation):
        name = operation if isinstance(operation, str) else operation.__name__
        asked.setdefault(name, watch.place[0])
        function = keeping.yours(operation)
        watch.names.add(name)
        sys.setprofile(watch)                   # the rest of this cell is later, too
        return function

    def explore(draw, **controls):
        cell = watch.place[0]
        with watch.at((cell, len(explorers))):
            explorers.append(cell)
            forget(space)
            drawn = draw(**{name: 1 if isinstance(control, play.Button) else control.value
                            for name, control in controls.items()})
            for _ in drawn if hasattr(drawn, "send") else ():       # of play.write
                pass

    with mock.patch.object(teach, "yours", yours), mock.patch.object(play, "explore", explore), \
            mock.patch.object(play, "write", lambda text_of, **controls: explore(
                lambda **values: text_of(presses=1, **values), **controls)), \
            mock.patch.object(plot, "show", lambda fig: None):
        for place, cell in enumerate(code_cells(lesson)):
            if "raises-exception" in cell.metadata.get("tags", []):
                with contextlib.suppress(Exception):
                    run(cell.source, space)
                continue
            with watch.at((place, None)), watch.watching():
                run(cell.source, space)
    return watch, asked, explorers


def forget(space):
    """Clear what functions remember: an explorer computes now, not in a cell above it."""
    spaces = [vars(module) for name, module in list(sys.modules.items())
              if name == "gpt2lab.inside" or name.startswith("gpt2lab.teach.exercises.")]
    for values in (space, *spaces):
        for value in list(values.values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_the_learner_built_runs_on(lesson, desk, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(desk))
    monkeypatch.chdir((NOTEBOOKS / lesson).parent)
    watch, asked, explorers = watched(lesson, desk)
    cells = [cell.source for cell in code_cells(lesson)]
    assert asked and set(keeping.BUILDS.get(lesson[:2], ())) <= set(asked), "no yours(...)"
    for name, start in asked.items():
        the_librarys_only_compares(lesson, name, cells, watch)
        the_learners_runs(lesson, name, start, cells, explorers, watch)


def the_librarys_only_compares(lesson, name, cells, watch):
    """The library's function is called in the cells of COMPARED, and in no other cell."""
    allowed, used = COMPARED.get((lesson, name), {}), set()
    for (called, (place, _)), caller in watch.librarys.items():
        if called == name:
            pieces = {piece for piece in allowed if piece in cells[place]}
            assert pieces, f"the library's {name} runs, called by {caller}, in:\n{cells[place]}"
            used |= pieces
    assert used == set(allowed), f"COMPARED lists too much: {set(allowed) - used}"


def the_learners_runs(lesson, name, start, cells, explorers, watch):
    """The learner's function is called below, in its gallery, and in all explorers but NOT_MOVED.

    start: the cell of its yours.
    """
    places = {place for called, place in watch.learners if called == name}
    later = any(cell > start for cell, _ in places)
    assert places and later != ((lesson, name) in AT_ONCE), (
        f"{name} runs {'' if later else 'not '}in cells below its yours; see AT_ONCE")
    for cell, source in enumerate(cells):
        if cell > start and f'gallery("{name}"' in source:
            assert (cell, None) in places, f"the gallery begins without the learner's {name}"
    still = {number for number, cell in enumerate(explorers)
             if cell > start and (cell, number) not in places}
    assert still == set(NOT_MOVED.get((lesson, name), {})), (
        f"explorers that do not call the learner's {name} are {still}, NOT_MOVED lists others")
