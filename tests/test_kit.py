"""check and keep, tried with what people write: a verdict for each, "kept" only for what works."""
import codecs
import functools
import importlib
import json
import os
import random
import signal
import site
import subprocess
import sys
import textwrap
import threading
import time
import types
from dataclasses import fields
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import gpt2lab
from cells import run
from gpt2lab.teach import attempting, certificate, gallery, keep, keeping, mine, plot, yours
from gpt2lab.teach.checking import BOUND, verdict
from gpt2lab.teach.comparing import Yielded, fault, same
from gpt2lab.teach.exercises import Case, exercises
from gpt2lab.teach.judging import miss
from gpt2lab.teach.keeping import load, write
from gpt2lab.teach.sourcing import is_installed

NEXT_CELL = "# %%\n"


@pytest.fixture
def my_ops(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path / "ops"))
    return tmp_path / "ops"


def written(text, name="softmax"):
    """The function `name` after the cells of a text have run, as in a notebook."""
    space = {"__name__": "__main__"}
    for cell in ("import numpy as np", *text.split(NEXT_CELL)):
        run(cell.strip("\n") + "\n", space)
    return space[name]


def python(*arguments, cwd=None, **environment):
    """What a fresh Python process prints, which can import the package from everywhere."""
    root = Path(attempting.__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root)} | environment
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, env=environment,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- what is kept works by itself

BODY = """
    w = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return w / w.sum(axis=-1, keepdims=True)
"""
RIGHT = "def softmax(scores):" + BODY
KEPT_WITH = {
    "nothing": RIGHT,
    "helper from another cell": """
def shifted(s):
    return s - top(s)
def top(s):
    return s.max(-1, keepdims=True)
# %%
def softmax(scores):
    w = np.exp(shifted(scores))
    return w / w.sum(-1, keepdims=True)
""",
    "a lambda": """
raised = lambda s: np.exp(s - s.max(-1, keepdims=True))
# %%
def softmax(scores):
    w = raised(scores)
    return w / w.sum(-1, keepdims=True)
""",
    "two lambdas in a line": """
low, high = (lambda s: s.sum(-1, keepdims=True)), (lambda s: s.max(-1, keepdims=True))
# %%
def softmax(scores):
    w = np.exp(scores - high(scores))
    return w / low(w)
""",
    "a lambda over two lines": """
raised = (lambda s:
    np.exp(s
    - s.max(-1, keepdims=True)))
# %%
def softmax(scores):
    w = raised(scores)
    return w / w.sum(-1, keepdims=True)
""",
    "an alias": """
def total(w):
    return w.sum(-1, keepdims=True)
# %%
summed = total
# %%
def softmax(scores):
    w = np.exp(scores - scores.max(-1, keepdims=True))
    return w / summed(w)
""",
    "a decorator with wraps": """
import functools
def noted(f):
    @functools.wraps(f)
    def inner(*a, **n):
        return f(*a, **n)
    return inner
# %%
@noted
""" + RIGHT,
    "a decorator of its own name": """
def noted(f):
    def softmax(*a):
        return f(*a)
    return softmax
# %%
@noted
""" + RIGHT,
    "a decorator that changes nothing": """
seen = []
def noted(f):
    seen.append(f)
    return f
# %%
@noted
""" + RIGHT,
    "a closure": """
def made(axis, keep):
    def softmax(scores):
        w = np.exp(scores - scores.max(axis, keepdims=keep))
        return w / w.sum(axis, keepdims=keep)
    return softmax
# %%
softmax = made(-1, True)
""",
    "a closure with a helper inside": """
def made():
    def top(s):
        return s.max(-1, keepdims=True)
    def softmax(scores):
        w = np.exp(scores - top(scores))
        return w / w.sum(-1, keepdims=True)
    return softmax
# %%
softmax = made()
""",
    "imports of names": """
from math import inf, e as euler
from numpy import exp, maximum as larger
from numpy.typing import NDArray
import numpy.linalg as la
# %%
def softmax(scores: NDArray) -> NDArray:
    la.norm([euler])
    top = larger.reduce(scores, axis=-1, keepdims=True, initial=-inf)
    w = exp(scores - top)
    return w / w.sum(-1, keepdims=True)
""",
    "constants": """
LAST, KEEP, LOW, EDGE = -1, {'keepdims': True}, float('-inf'), np.float32(0)
ROOM = np.array([1.0, np.nan])
# %%
def softmax(scores, start=EDGE):
    ROOM.sum(), LOW
    w = np.exp(scores - scores.max(LAST, **KEEP) + start)
    return w / w.sum(LAST, **KEEP)
""",
    "a class": """
class Last:
    AXIS = -1
    def of(self, w):
        return w.sum(self.AXIS, keepdims=True)
# %%
def softmax(scores):
    w = np.exp(scores - scores.max(-1, keepdims=True))
    return w / Last().of(w)
""",
    "a class without functions, and one that uses it": """
class Broken(ValueError):
    pass
class Settings:
    axis, error = -1, Broken
# %%
def softmax(scores):
    if scores.size == 0:
        raise Broken
    w = np.exp(scores - scores.max(Settings.axis, keepdims=True))
    return w / w.sum(Settings.axis, keepdims=True)
""",
    "an indented def with a ragged text": """
if True:
    def softmax(scores):
        '''Ragged,
  as it
 stands.'''
        text = '''a
        b'''
        assert len(text) == 11
        w = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return w / w.sum(axis=-1, keepdims=True)
""",
    "a library function": """
from gpt2lab.softmax import softmax as theirs
# %%
def softmax(scores):
    return theirs(scores)
""",
    "itself": """
def softmax(scores):
    if scores.ndim > 1:
        return np.stack([softmax(row) for row in scores])
""" + BODY,
    "a module of a package": """
import concurrent.futures
# %%
def softmax(scores):
    assert concurrent.futures.Future is concurrent.futures.Future
""" + BODY,
    "an array without numbers": """
NONE = np.zeros((0, 4))
# %%
def softmax(scores):
    assert NONE.shape == (0, 4)
""" + BODY,
    "annotations that are never evaluated": """
from __future__ import annotations
def softmax(scores: Unknown) -> Unknown:
""" + BODY,
    "an f-string over lines in an indented def": """
if True:
    def softmax(scores):
        text = f'''a
        {1}
        b'''
        assert len(text) == 21
        w = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return w / w.sum(axis=-1, keepdims=True)
""",
    "an alias of an oddly spaced def": """
def  total (w):
    return w.sum(-1, keepdims=True)
summed = total
# %%
def softmax(scores):
    w = np.exp(scores - scores.max(-1, keepdims=True))
    return w / summed(w)
""",
    "a cached helper": """
import functools, math
# %%
@functools.cache
def root():
    return math.sqrt(2 / math.pi)
# %%
def gelu(x):
    return 0.5 * x * (1 + np.tanh(root() * (x + 0.044715 * x ** 3)))
""",
    "a function from a file beside the notebook": """
from beside import top
# %%
def softmax(scores):
    w = np.exp(scores - top(scores))
    return w / w.sum(-1, keepdims=True)
""",
    "a kept operation that is used again": """
from gpt2lab.teach import keep, mine
raised = lambda s: np.exp(s - s.max(-1, keepdims=True))
def softmax(scores):
    w = raised(scores)
    return w / w.sum(-1, keepdims=True)
keep(softmax)
# %%
softmax = mine().softmax
# %%
def attend(q, k, v, softmax=softmax):
    T, S = q.shape[-2], k.shape[-2]
    later = np.arange(S) > np.arange(S - T, S)[:, None]
    scores = q @ k.swapaxes(-1, -2) / np.float32(q.shape[-1] ** 0.5)
    return softmax(np.where(later, -np.inf, scores).astype(q.dtype)) @ v
""",
    "a generator and one that it calls": """
def steps(next_logits, ids, room, end, choose):
    for _ in range(room):
        chosen = choose(next_logits(ids))
        if chosen == end:
            return True
        yield chosen
        ids.append(chosen)
# %%
def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    room = context - len(ids)
    if (yield from steps(next_logits, list(ids), min(max_new_tokens, room), end, choose)):
        return "end token"
    return "enough" if max_new_tokens <= room else "context full"
""",
}
OF = {"a cached helper": "gelu", "a kept operation that is used again": "attend",
      "a generator and one that it calls": "write_loop"}        # else softmax
BESIDE = """
def top(s):
    return s.max(-1, keepdims=True)
AXIS = -1
"""

JUDGE_ALL = """
import json, os, sys
from pathlib import Path
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.judging import results_of
from gpt2lab.teach.keeping import kept
found = {}
for path in Path(sys.argv[1]).glob("*/*.py"):
    os.environ["GPT2LAB_MY_OPS"] = str(path.parent)
    try:
        found[path.parent.name] = results_of(exercises()[path.stem], kept(path.stem))[1]
    except ValueError as error:
        found[path.parent.name] = [str(error)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """(what check says, files in my_ops, what is wrong with the file) of each in KEPT_WITH.

    The last comes from a process that knows nothing else: one for all of them, as it takes seconds
    to start. There each file lies alone in a folder and is loaded in a namespace of its own.
    """
    beside, alone = tmp_path_factory.mktemp("beside"), tmp_path_factory.mktemp("alone")
    (beside / "beside.py").write_text(BESIDE)
    said, files = {}, {}
    for what, text in KEPT_WITH.items():
        my_ops, name = tmp_path_factory.mktemp("ops") / "my_ops", OF.get(what, "softmax")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GPT2LAB_MY_OPS", str(my_ops))
            patch.syspath_prepend(beside)
            said[what] = verdict(written(text, name))
        files[what] = sorted(path.name for path in my_ops.glob("*"))
        if f"{name}.py" in files[what]:
            write(alone / what / f"{name}.py", (my_ops / f"{name}.py").read_text())
    wrong = json.loads(python("-W", "error", "-c", JUDGE_ALL, str(alone), cwd=alone))
    return {what: (said[what], files[what], wrong.get(what)) for what in KEPT_WITH}


@pytest.mark.parametrize("what", KEPT_WITH)
def test_what_is_kept_works_in_a_fresh_process(what, kept):
    text, files, wrong = kept[what]
    name = OF.get(what, "softmax")
    assert text.endswith("cases pass. Kept for the later lessons."), text
    assert files == sorted({f"{name}.py", *(["softmax.py"] if name == "attend" else [])})
    assert len(wrong) == len(exercises()[name].cases) and set(wrong) == {None}, wrong


NOT_KEPT = {
    "a method": ("""
class A:
    def softmax(self, scores):
        w = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return w / w.sum(axis=-1, keepdims=True)
# %%
softmax = A().softmax
""", "method"),
    "a line with % inside": ("""
class Shell:
    def get_ipython(self):
        return self
    def run_line_magic(self, *line):
        pass
get_ipython = Shell().get_ipython
# %%
def softmax(scores):
    get_ipython().run_line_magic('time', '1')
""" + BODY, "softmax uses get_ipython, which stands for a line with % or !: leave that line out"),
    "a generator made outside": ("""
rng = np.random.default_rng(0)
# %%
def softmax(scores):
    rng.random()
""" + BODY, "softmax uses rng, which is a Generator made outside of it"),
    "two things of one name": ("""
def made(k):
    def f(s):
        return s.sum(-1, keepdims=bool(k))
    return f
# %%
one, two = made(1), made(2)
# %%
def softmax(scores):
    w = np.exp(scores - scores.max(-1, keepdims=True))
    two(w)
    return w / one(w)
""", "softmax uses k, which stands for two things: rename one of them"),
    "a default from a closure": ("""
def made(axis):
    def softmax(scores, axis=axis):
        w = np.exp(scores - scores.max(axis, keepdims=True))
        return w / w.sum(axis, keepdims=True)
    return softmax
# %%
softmax = made(-1)
""", "cannot be loaded by itself: NameError"),
    "a list that holds itself": ("""
seen = []
seen.append(seen)
# %%
def softmax(scores):
    seen
""" + BODY, "RecursionError"),
    "a long double": ("""
ZERO = np.longdouble(0)
# %%
def softmax(scores):
    ZERO
""" + BODY, "softmax uses ZERO, which is a longdouble made outside of it"),
    "a partial under its name": ("""
import functools
def f(scores, axis):
    w = np.exp(scores - scores.max(axis, keepdims=True))
    return w / w.sum(axis, keepdims=True)
softmax = functools.update_wrapper(functools.partial(f, axis=-1), f)
softmax.__name__ = "softmax"
""", "in a file of its own it gives something else"),
    "no source": (f"exec(compile({RIGHT!r}, '<nowhere>', 'exec'))", "no source"),
    "state that lives in the notebook": ("""
def softmax(scores):
    if __name__ != '__main__':
        return scores
""" + BODY, "in a file of its own it gives something else"),
}


@pytest.mark.parametrize("what", NOT_KEPT)
def test_what_cannot_be_kept_is_told(what, my_ops):
    text, words = NOT_KEPT[what]
    told = verdict(written(text))
    assert "could not be kept: " in told and words in told, told
    assert not my_ops.exists() or not list(my_ops.iterdir())


def test_a_file_beside_the_notebook_cannot_be_imported_later(my_ops, tmp_path, monkeypatch):
    """A function that is taken from it goes along: KEPT_WITH."""
    (tmp_path / "beside.py").write_text(BESIDE)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "folder").mkdir()               # without __init__.py
    (tmp_path / "folder" / "inner.py").write_text(BESIDE)
    for before, inside, used, top in (
            ("import beside", "pass", "beside", "beside.top"),
            ("import folder.inner", "pass", "folder", "folder.inner.top"),
            ("", "from beside import top", "beside", "top")):
        text = verdict(written(f"""
{before}
# %%
def softmax(scores):
    {inside}
    w = np.exp(scores - {top}(scores))
    return w / w.sum(-1, keepdims=True)
"""))
        assert f"softmax uses {used}, which is a file of yours: copy what you need" in text
    assert not my_ops.exists()


def test_a_file_that_has_changed_since_is_read_again(my_ops, tmp_path, monkeypatch):
    path = tmp_path / "changing.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path.write_text("import numpy as np\ndef softmax(scores):\n    return scores / 0 @ 1\n")
    changing = importlib.import_module("changing")
    assert "0 of 9 cases pass" in verdict(changing.softmax)
    path.write_text(f"import numpy as np\n{RIGHT}")
    assert "Kept" in verdict(importlib.reload(changing).softmax)


def test_a_wrong_function_is_not_kept(my_ops):
    assert keep(written("def softmax(scores):\n    return scores")) == (
        "It is not kept: it does not pass its cases.")
    other = written("def other(x):\n    return x", name="other")
    assert "no exercise is called 'other'" in keep(other)
    assert not my_ops.exists()


BLOCK = """
from gpt2lab.block import block as theirs
from gpt2lab.teach import mine
layer_norm, attend_heads, mlp = mine().layer_norm, mine().attend_heads, mine().mlp
# %%
def block(x, w, n_head, epsilon=1e-5, remember=None, layer_norm=layer_norm,
          attend_heads=attend_heads, mlp=mlp):
    return theirs(x, w, n_head, epsilon, remember, layer_norm, attend_heads, mlp)
"""


@pytest.mark.parametrize("linears, kept", [
    (("def linear(x, w, b): return x @ w + b", "def linear(x, w, b): return b + x @ w"), True),
    (("from gpt2lab.linear import linear", "def linear(x, w, b): return x @ w + b"), True),
    (("def plus(x, b): return x + b", "def plus(x, b): return b + x"), False)])
def test_two_kept_operations_may_bring_a_third_one_each(linears, kept, my_ops):
    """As linear of lesson 01, kept anew between 07 and 08; but a helper is no operation."""
    for part, name, linear in zip(("heads", "mlp"), ("attend_heads", "mlp"), linears):
        used = "linear" if "linear" in linear else "plus"
        write(my_ops / f"{name}.py", f"from gpt2lab.{part} import {name} as {name}_\n{linear}\n"
              f"def {name}(*given, {used}={used}, **named): return {name}_(*given, **named)\n")
    text = verdict(written(BLOCK, "block"))
    assert ("Kept for the later lessons." if kept else
            "block uses plus, which stands for two things: rename one of them") in text, text
    assert (my_ops / "block.py").is_file() == kept


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_kept_file_may_be_read_as_any_other(my_ops):
    keep(written(RIGHT))
    (my_ops / "other").write_text("")
    assert (my_ops / "softmax.py").stat().st_mode == (my_ops / "other").stat().st_mode


def test_two_writers_do_not_disturb_each_other(my_ops):
    right, seen = written(RIGHT), []

    def often(text):
        for _ in range(50):
            write(my_ops / "softmax.py", text)
            seen.append((my_ops / "softmax.py").read_text())
    texts = ["a" * 20_000, "b" * 30_000]
    threads = [threading.Thread(target=often, args=[text]) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) <= set(texts) and len(seen) == 100
    assert [path.name for path in my_ops.iterdir()] == ["softmax.py"]
    assert "Kept" in verdict(right)


ENDLESS = """
while True:
    try:
        sum(range(100))
    except BaseException:
        pass
"""


def test_a_file_that_does_not_load_is_left_out_and_said(my_ops, capsys, monkeypatch):
    monkeypatch.setattr(keeping, "SECONDS", 0.5)
    assert "Kept" in verdict(written(RIGHT))
    for name, text in {
            "gelu": "def gelu(:", "linear": "import sys\nsys.exit(1)", "mlp": "x = 1",
            "layer_norm": "class Odd(BaseException):\n    pass\nraise Odd",
            "block": "1 / 0", "embed": ENDLESS if hasattr(signal, "setitimer") else "x"}.items():
        (my_ops / f"{name}.py").write_text(text)
    (my_ops / "attend.py").write_bytes(b"\xff\xfe")
    ops = mine()
    assert ops.softmax.__code__.co_filename == str(my_ops / "softmax.py")
    printed = capsys.readouterr().out
    for name in ("gelu", "linear", "mlp", "layer_norm", "block", "embed", "attend"):
        assert getattr(ops, name) is getattr(type(ops)(), name)
        assert f"{my_ops / name}.py" in printed and f"The library's {name} stands in" in printed
    with pytest.raises(ValueError, match="gelu.py cannot be loaded by itself: SyntaxError"):
        keeping.kept("gelu")
    with pytest.raises(ValueError, match="not kept lm_head"):
        keeping.kept("lm_head")


# --- whose function runs

def test_yours_is_what_you_kept_and_until_then_ours(my_ops, capsys):
    right = exercises()["softmax"].right
    assert yours("softmax") is right and yours(written(RIGHT)) is right
    assert capsys.readouterr().out == "softmax: ours, until yours passes its check\n" * 2
    assert not my_ops.exists()
    keep(written(RIGHT))
    for operation in ("softmax", written(RIGHT), right, gpt2lab.softmax.softmax):
        found = yours(operation)
        assert found.__code__.co_filename == str(my_ops / "softmax.py")
        np.testing.assert_allclose(found(np.zeros((1, 2))), [[0.5, 0.5]])
    assert capsys.readouterr().out == "softmax: yours\n" * 4


def test_yours_never_runs_what_it_is_given(my_ops):
    def softmax(scores):
        ran.append(scores)
    ran, right = [], exercises()["softmax"].right
    assert yours(softmax) is right and yours(Signed()) is right
    keep(written(RIGHT))
    assert yours(softmax) is not softmax and yours(Signed()) is not right
    assert ran == []


@pytest.mark.parametrize("text", ["def softmax(:", "1 / 0", "x = 1", "import sys\nsys.exit()",
                                  "class Odd(BaseException):\n    pass\nraise Odd"])
def test_yours_is_ours_where_the_file_does_not_load(text, my_ops, capsys):
    write(my_ops / "softmax.py", text)
    assert yours("softmax") is exercises()["softmax"].right
    said = capsys.readouterr().out
    assert said.startswith(f"{my_ops / 'softmax.py'} ") and said.count("\n") == 1
    assert said.endswith("The library's softmax stands in: run its lesson's check again.\n")


@pytest.mark.parametrize("odd", [len, np.tanh, 3, None, lambda: 1, functools.partial(max), "", [],
                                 "nobody", "../softmax", ["softmax"], ...])
def test_yours_refuses_what_no_exercise_is_called(odd, my_ops):
    with pytest.raises(ValueError, match="^yours: no exercise is called "):
        yours(odd)


def test_mine_with_one_exchanged(my_ops, capsys):
    keep(written(RIGHT))
    write(my_ops / "gelu.py", "1 / 0")

    def exchanged(x, *rest):
        return x
    ops = mine(layer_norm=exchanged, gelu=exchanged)
    assert ops.layer_norm is exchanged and ops.gelu is exchanged
    assert capsys.readouterr().out == "", "the file that is not asked for is not read"
    assert ops.softmax.__code__.co_filename == str(my_ops / "softmax.py")
    assert ops.linear is gpt2lab.Ops().linear
    assert mine(softmax=exchanged).softmax is exchanged
    with pytest.raises(TypeError, match="nobody"):
        mine(nobody=exchanged)


def test_built_shows_lesson_by_lesson_what_is_yours(my_ops, capsys):
    keeping.built()
    header, _, *rows, last = capsys.readouterr().out.splitlines()
    assert header.split() == ["lesson", "yours", "missing"]
    assert [row.split()[0] for row in rows] == [f"{lesson:02}" for lesson in range(1, 14)]
    assert rows[5].split() == ["06", "softmax,", "attend"]
    assert last == f"You have built 0 of {sum(map(len, keeping.BUILDS.values()))}."
    keep(written(RIGHT))
    write(my_ops / "strides_of.py", "x = 1")           # of an exercise that no generator needs
    keeping.built()
    header, _, *rows, last = capsys.readouterr().out.splitlines()
    assert rows[5].index("softmax") == header.index("yours")
    assert rows[5].index("attend") == header.index("missing")
    assert "You have built 1 of" in last


def test_built_says_what_is_kept_and_does_not_pass(my_ops, capsys):
    write(my_ops / "softmax.py", "def softmax(scores):\n    return scores * 0")
    keeping.built()
    printed = capsys.readouterr().out
    assert "softmax (kept, but does not pass), attend\n" in printed
    assert "You have built 0 of 19." in printed


def test_a_certificate_counts_what_passes(my_ops, monkeypatch):
    shown = []
    monkeypatch.setattr(plot, "show", shown.append)
    keep(written(RIGHT))
    write(my_ops / "linear.py", "def linear(x, w, b):\n    return x")
    write(my_ops / "guesses.json", json.dumps({"One?": {"said": "a", "answer": "a"},
                                               "Two?": {"said": "a", "answer": "b"}}))
    certificate("Once upon a time")
    lines = [line for line in (my_ops / "softmax.py").read_text().splitlines() if line.strip()]
    assert f"1 of 19 parts, {len(lines)} lines of code, 1 of 2 guesses right." in shown[0].alt
    assert "“Once upon a time”" in shown[0].alt and sum(shown[0].drawn["built"]) == 1
    assert (my_ops.parent / "certificate.png").read_bytes() == plot.png(shown[0])


def test_ipythons_open_is_pythons(my_ops):
    """IPython puts a function of its own in the place of open."""
    from IPython.core.interactiveshell import _modified_open
    function = written("def softmax(scores):\n    open\n" + RIGHT.split("\n", 1)[1])
    function.__globals__["open"] = _modified_open
    assert keep(function) == "Kept for the later lessons."


def test_what_built_lists_can_be_built():
    names = [name for names in keeping.BUILDS.values() for name in names]
    assert len(set(names)) == len(names) and set(names) <= exercises().keys()
    assert {field.name for field in fields(gpt2lab.Ops)} <= set(names)
    for lesson, built in keeping.BUILDS.items():
        (notebook,) = (Path(__file__).parents[1] / "notebooks").glob(f"{lesson}_*.ipynb")
        text = notebook.read_text(encoding="utf-8")
        assert all(f"check({name})" in text for name in built), lesson


def test_the_gallery_runs_your_function(my_ops, capsys, monkeypatch):
    """In its first row; each mistake stands beside what else you have built."""
    monkeypatch.setattr(keeping, "passes", lambda name: True)      # what would be refused is seen
    def rows():
        gallery("softmax", tokens=2, most=2)
        return [line.split()[0] for line in capsys.readouterr().out.splitlines()[2::2]]
    assert rows()[0] == "same"
    keep(written(RIGHT))
    assert rows()[0] == "same"
    write(my_ops / "softmax.py", "def softmax(scores):\n    return scores * 0")
    assert rows()[0] == "changed"
    write(my_ops / "linear.py", "def linear(x, w, b):\n    1 / 0")
    assert rows() == ["none"] * 3


# --- where operations are kept

FOLDERS = """
import os
from gpt2lab.teach.keeping import folder
os.chdir("/")
for named in ("", "mine", "~/mine", "~nobody-here/x"):
    os.environ["GPT2LAB_MY_OPS"] = named
    try:
        print(folder())
    except ValueError as error:
        print(error)
"""


@pytest.fixture
def course(tmp_path):
    """The notebooks' folder of a course that somebody has pulled."""
    course = tmp_path / "pulled" / "notebooks"
    (course / "bonus").mkdir(parents=True)
    (course / "00_start_here.ipynb").write_text("{}")
    return course


def test_the_folder_is_beside_the_lessons_that_are_open(course, tmp_path):
    """Where the process stood when it imported the package, wherever it stands now."""
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    assert python("-c", FOLDERS, cwd=course / "bonus", **home).splitlines() == [
        str(course / "my_ops"), str(course / "mine"), str(tmp_path / "mine"),
        "GPT2LAB_MY_OPS names a home that is not there: ~nobody-here/x"]


@pytest.mark.parametrize("start, beside", [
    ("pulled/notebooks", "pulled/notebooks"), ("pulled/notebooks/bonus", "pulled/notebooks"),
    ("pulled", "pulled/notebooks"), ("elsewhere", "elsewhere")])
def test_the_folder_of_each_start(start, beside, course, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(keeping, "START", tmp_path / start)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    resolved = keeping._resolved.__wrapped__        # without what it remembers
    assert resolved("my_ops") == tmp_path / beside / "my_ops"
    assert resolved("mine") == tmp_path / beside / "mine"
    assert resolved("~/mine") == tmp_path / "mine"


# --- nothing that a function does gets out

def softmax_that(body):
    body = textwrap.indent(textwrap.dedent(body), "    ")
    return written(f"import os, sys, time, random, itertools, warnings\n{NEXT_CELL}"
                   f"def softmax(scores):\n{body}\n")


ODD = {
    "exits": ("sys.exit()", "it ends Python"),
    "quits": ("raise SystemExit", "it ends Python"),
    "leaves at once": ("os._exit(3)", "it ends Python"),
    "is interrupted": ("raise KeyboardInterrupt", "interrupted"),
    "raises an odd thing": ("""
        class Odd(BaseException):
            pass
        raise Odd
        """, "Odd: "),
    "raises what cannot be shown": ("""
        class Odd(Exception):
            def __str__(self):
                1 / 0
        raise Odd
        """, "its text cannot be read"),
    "has no end": ("while True:\n    pass", "stopped after"),
    "has no end and catches all": (ENDLESS, "stopped after"),
    "sleeps": ("time.sleep(60)", "stopped after"),
    "counts on": ("for i in itertools.count():\n    pass", "stopped after"),
    "recurses": ("return softmax(scores)", "RecursionError"),
    "gives objects": ("return np.full(scores.shape, None)", "want float32 numbers, got object"),
    "gives text": ("return scores.astype(str)", "want float32 numbers, got str"),
    "gives a matrix": ("warnings.simplefilter('ignore')\nreturn np.matrix(scores[0])",
                       "it gives a matrix"),
    "gives a masked array": ("return np.ma.array(scores)", "it gives a MaskedArray"),
    "gives what raises when shown": ("""
        class Odd:
            def __repr__(self):
                1 / 0
        return Odd()
        """, "it gives an Odd"),
    "gives what raises when compared": ("""
        class Odd(np.ndarray):
            def __eq__(self, other):
                1 / 0
        return scores.view(Odd)
        """, "it gives an Odd"),
    "gives a generator": ("return (row for row in scores)", "it gives a generator"),
    "gives a list": ("return scores.tolist()", "got a list"),
    "gives nothing": ("scores.max()", "nothing came back"),
    "changes its input": ("scores -= 1\nreturn scores", "changed its input"),
    "gives complex numbers": ("return scores + 0j", "got complex64"),
    "asks somebody": ("return input('number? ')", "cannot ask somebody to type"),
    "stops to be looked at": ("breakpoint()\nreturn scores", "cannot ask somebody to type"),
    "gives what never ends when shown": ("""
        class Odd:
            def __repr__(self):
                while True:
                    pass
            __eq__ = __len__ = __array__ = __iter__ = __hash__ = __float__ = __repr__
        return [Odd(), {"a": Odd()}]
        """, "it gives an Odd"),
    "gives a coroutine": ("""
        async def later():
            pass
        return later()
        """, "it gives a coroutine"),
    "gives a list that holds itself": ("a = []\na.append(a)\nreturn a", "RecursionError"),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("what", ODD)
def test_check_gives_a_verdict_and_stops(what, my_ops, monkeypatch):
    monkeypatch.setattr(attempting.attempt, "__defaults__", (0.3,))
    body, words = ODD[what]
    begin = time.perf_counter()
    text = verdict(softmax_that(body))
    assert words in text and "0 of 9 cases pass" in text, text
    assert time.perf_counter() - begin < 3
    assert not my_ops.exists()


def loop_that(body):
    """A write_loop of this body; a yield in it makes it a generator."""
    body = textwrap.indent(textwrap.dedent(body), "    ")
    return written("import itertools, sys\n" + NEXT_CELL + "def write_loop(next_logits, ids, "
                   f"max_new_tokens, context, end, choose):\n{body}\n", "write_loop")


LOOP = """
ids = list(ids)
for _ in range(max_new_tokens):
    if len(ids) == context:
        return "context full"
    chosen = choose(next_logits(ids))
    if chosen == end:
        return "end token"
    yield chosen
    ids.append(chosen)
return "enough"
"""
GENERATORS = {
    "yields without end": ("while True:\n    yield 5", "yield: want 3 ids, got 100: [5, 5, 5,"),
    "counts on": ("yield from itertools.count()", "want 3 ids, got 100: [0, 1, 2, 3,"),
    "has no end behind a yield": ("yield 5\nwhile True:\n    pass", "stopped after"),
    "has no end before the first yield": ("while True:\n    pass\nyield 5", "stopped after"),
    "has no end when it is closed": ("""
        try:
            while True:
                yield 5
        finally:
            while True:
                pass
        """, "stopped after"),
    "will not be closed": ("""
        while True:
            try:
                yield 5
            except BaseException:
                pass
        """, "RuntimeError: generator ignored GeneratorExit"),
    "raises": ("yield 5\nyield 1 / 0", "in your function, line 3: yield 1 / 0"),
    "raises what ends a generator": ("yield 5\nraise StopIteration", "raised StopIteration"),
    "exits": ("yield 5\nsys.exit()", "it ends Python"),
    "yields objects": ("yield object()", "it gives an object"),
    "returns an object": ("yield from [5, 1, 3]\nreturn object()", "it gives an object"),
    "yields generators": ("yield (i for i in ids)", "it gives a generator"),
    "returns a list": ("return [5, 1, 3]", "give each id with yield, one by one"),
    "returns a pair": ("return [5, 1, 3], 'enough'", "give each id with yield, one by one"),
    "returns an iterator": ("return iter([5, 1, 3])", "it gives a list_iterator"),
    "gives nothing": ("list(ids)", "nothing came back"),
    "has no reason": (LOOP.replace('return "enough"', ""), "want 'enough', got None"),
    "changes its input": ("ids.append(5)\n" + LOOP, "changed its input"),
}


@pytest.mark.filterwarnings("ignore:Exception ignored in")     # of the one that will not be closed
@pytest.mark.parametrize("what", GENERATORS)
def test_a_generator_gets_a_verdict_and_is_stopped(what, my_ops, monkeypatch):
    monkeypatch.setattr(attempting.attempt, "__defaults__", (0.3,))
    body, words = GENERATORS[what]
    begin = time.perf_counter()
    text = verdict(loop_that(body))
    assert words in text and "of 17 cases pass\nfirst miss: three new tokens: " in text, text
    assert time.perf_counter() - begin < 5
    assert not my_ops.exists()


def test_ids_are_taken_one_by_one(my_ops):
    """Who collects them all first cannot stream: only the case that takes two of them tells."""
    assert "all 17 cases pass. Kept" in verdict(loop_that(LOOP))
    collects = f"def inner(ids):\n{textwrap.indent(LOOP, '    ')}\n" + """
loop, new = inner(ids), []
while True:
    try:
        new.append(next(loop))
    except StopIteration as stop:
        reason = stop.value
        break
yield from new
return reason
"""
    text = verdict(loop_that(collects))
    assert "16 of 17 cases pass\nfirst miss: two ids are taken while the text" in text, text
    assert "handed out when the last of them is there" in text


def test_of_a_generator_so_much_is_taken_as_the_case_says_and_then_it_is_closed():
    seen, held = [], []

    def made():
        held.append(counts())                   # so nothing but attempt closes it
        return held[-1]

    def counts():
        try:
            for i in range(5):
                seen.append(i)
                yield i
            return "end"
        finally:
            seen.append("closed")
    for take, wanted, then in ((2, Yielded([0, 1]), [0, 1, "closed"]),
                               (5, Yielded([0, 1, 2, 3, 4]), [0, 1, 2, 3, 4, "closed"]),
                               (9, Yielded([0, 1, 2, 3, 4], "end"), [0, 1, 2, 3, 4, "closed"])):
        assert attempting.attempt(made, Case("", take=take)) == wanted
        assert seen == then
        seen.clear()
    result = attempting.attempt(counts, Case(""))       # where none is asked for
    assert result.text.startswith("it gives a generator") and not seen


def test_each_value_is_taken_as_it_is_at_that_moment():
    def grows():
        text = []
        for i in range(3):
            text.append(i)
            yield text
    assert attempting.attempt(grows, Case("", take=9)) == Yielded([[0], [0, 1], [0, 1, 2]])


def test_what_a_generator_changes_is_put_back(my_ops):
    before = np.geterr(), random.getstate(), sys.stdout
    text = verdict(loop_that("import random\nnp.seterr(all='raise')\nyield 5\nrandom.seed(1)\n"
                             "sys.stdout = None\nyield 1\nyield 1 / 0"))
    assert "ZeroDivisionError" in text
    assert (np.geterr(), random.getstate(), sys.stdout) == before


@pytest.mark.parametrize("by_signal", [True, False])
def test_the_limit_holds_with_and_without_signals(by_signal, my_ops, monkeypatch):
    monkeypatch.setattr(attempting.attempt, "__defaults__", (0.3,))
    if not by_signal:
        monkeypatch.delattr(attempting.signal, "setitimer", raising=False)
    assert "stopped after" in verdict(softmax_that(ENDLESS))
    found, endless = [], softmax_that("while True:\n    pass")
    thread = threading.Thread(target=lambda: found.append(verdict(endless)))
    thread.start()
    thread.join(10)
    assert "stopped after" in found[0]
    assert "all 9 cases pass" in verdict(written(RIGHT))
    time.sleep(0.2)                             # nothing comes late


def test_one_long_call_into_c_is_told(my_ops, monkeypatch):
    monkeypatch.setattr(attempting.attempt, "__defaults__", (0.1,))
    text = verdict(softmax_that("""
        np.sort(np.random.default_rng(0).random(10_000_000))
        return scores
        """))
    assert ("one long call into compiled code cannot be stopped sooner" in text
            or "after 0.1 s" in text), text
    assert attempting._too_long(3.2, 0.1) == (
        "it was stopped after 3 seconds, and may take 0.1 "
        "(one long call into compiled code cannot be stopped sooner)")


CHANGES = """
    np.seterr(all='raise')
    np.random.seed(1)
    random.seed(1)
    os.chdir('deep')
    os.environ['NEW'] = '1'
    os.environ.pop('HOME', 0)
    sys.setrecursionlimit(5000)
    np.set_printoptions(precision=1)
    warnings.simplefilter('error')
    sys.stdout = None
    sys.path.clear()
"""


def test_of_much_that_is_printed_the_beginning_is_shown(my_ops, capsys, monkeypatch):
    monkeypatch.setattr(attempting.attempt, "__defaults__", (0.3,))
    text = verdict(softmax_that("while True:\n    print('again and again')"))
    assert "stopped after" in text
    printed = capsys.readouterr().out
    assert 2_000 < len(printed) < 2_100 and "only the first 2,000 characters" in printed
    assert "all 9 cases pass" in verdict(softmax_that("    print('here')\n" + BODY))
    assert capsys.readouterr().out.count("here") == 18          # the function, and its file


def test_a_buffer_that_is_used_again_is_right(my_ops):
    text = verdict(written(f"room = np.empty(1000, np.float32)\n{NEXT_CELL}" + """
def softmax(scores):
    out = room[:scores.size].reshape(scores.shape)
    np.exp(scores - scores.max(axis=-1, keepdims=True), out=out)
    out /= out.sum(axis=-1, keepdims=True)
    return out
"""))
    assert "all 9 cases pass" in text, text


def test_a_folder_that_cannot_be_written_to_is_told(my_ops, monkeypatch):
    my_ops.write_text("a file in its place")
    assert "It could not be kept: " in verdict(written(KEPT_WITH["nothing"]))


def test_global_settings_are_put_back(my_ops, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()

    def state():
        return (np.geterr(), np.random.get_state()[1].tolist(), random.getstate(), os.getcwd(),
                dict(os.environ), sys.getrecursionlimit(), np.get_printoptions(), sys.stdout,
                list(sys.path))
    before = state()
    for body in (CHANGES + BODY, CHANGES + "    1 / 0"):
        text = verdict(softmax_that(body))
        assert state() == before, text
    assert "ZeroDivisionError" in text


def test_the_learners_own_line_is_shown(my_ops):
    text = verdict(written("""
def product(a):
    # helper
    return a @ np.ones(17)
# %%
def softmax(scores):
    a = scores
    return product(a)
"""))
    assert "in your function, line 3: return a @ np.ones(17)" in text, text
    text = verdict(softmax_that("a = scores\nreturn np.concatenate(a, a)"))
    assert "in your function, line 3: return np.concatenate(a, a)" in text, text


@pytest.mark.parametrize("odd", [
    len, np.tanh, 3, None, lambda: 1, type("softmax", (), {}), "softmax", functools.partial(max),
    np.float32])
def test_what_is_no_function_of_an_exercise_gets_a_verdict(odd, my_ops):
    text = verdict(odd)
    assert "There is no exercise called" in text or text.startswith("softmax: "), text


class Named(type):
    @property
    def __name__(cls):
        raise ZeroDivisionError


class Signed:
    __name__ = "softmax"
    __signature__ = property(lambda self: 1 / 0)

    def __call__(self, scores):
        return scores


def test_what_raises_when_asked_for_its_name_gets_a_verdict(my_ops):
    assert "There is no exercise called" in verdict(Named("softmax", (), {}))
    assert "softmax: 0 of 9 cases pass" in verdict(Signed())


def test_what_lies_in_a_users_own_site_packages_is_installed():
    module = types.ModuleType("somebodys")
    module.__file__ = os.path.join(site.getusersitepackages(), "somebodys.py")
    assert is_installed(module) and is_installed(np) and is_installed(json)
    module.__file__ = os.path.join(os.getcwd(), "somebodys.py")
    assert not is_installed(module)


def test_a_c_function_under_an_exercises_name_gets_a_verdict(my_ops):
    assert codecs.encode.__name__ == "encode"
    assert verdict(codecs.encode).startswith("encode: 0 of ")


def test_a_cached_function_gets_a_verdict(my_ops):
    """A cached helper is kept: KEPT_WITH."""
    assert "unhashable" in verdict(written(
        f"import functools\n{NEXT_CELL}@functools.cache\n{RIGHT}"))


def test_it_works_without_docstrings_and_asserts():
    printed = python("-OO", "-c", """
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.checking import verdict
wrong = exercises()["softmax"].mistakes[0]
wrong.__name__ = "softmax"
print(verdict(wrong))
""")
    assert "This is what you get when: " in printed, printed


# --- kinds and values

A, ROW = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(3)
SAME = [                                        # (want, got)
    (A, A.copy()),
    (np.float32(2), np.array(2, np.float32)),
    ([1, 2], np.array([1, 2])),
    ([1, 2], (1, 2)),
    (3, np.int64(3)),
    (3.0, 3),
    (3.0, np.float32(3)),
    (3.0, np.array(3.0)),
    (True, np.True_),
    ((A, 2), (A, np.int32(2))),
    ([0.5], np.array([0.5], np.float32)),
    ({"a": A, "b": 1}, {"b": 1, "a": A}),
    (float("nan"), float("nan")),
    ([b"a"], [b"a"]),
    (np.int8([1]), np.int8([1])),
    (np.array([[3, 4]]), np.array([[3, 4]], np.int32)),
    (Yielded([1, 2], "end"), Yielded([np.int64(1), 2], "end")),
    (Yielded([1, 2]), Yielded([1, 2])),
]
OTHER = [                                       # (want, got, words)
    (A, A.astype(np.float64), "the values are right, but want float32 numbers, got float64"),
    (np.array([3, 4]), np.array([3.0, 4.0]), "the values are right, but want int64 numbers"),
    (A, A.reshape(3, 2), "the values are right, but want shape (2, 3), got shape (3, 2)"),
    (A, A.T, "want shape (2, 3), got shape (3, 2)"),
    (A, A.tolist(), "the values are right, but want an array"),
    (A, A.astype(np.float64) + 1, "at [0, 0] want 0, got 1; want float32 numbers, got float64"),
    (A, np.float32(1), "want shape (2, 3), got shape ()"),
    (A, None, "want an array"),
    (3, 3.0, "want a whole number, got 3.0"),
    (3, np.float64(3), "want a whole number"),
    (1, True, "want a whole number, got True"),
    (True, 1, "want True or False, got 1"),
    (3.0, "3", "want 3.0, got '3'"),
    (3.0, 3 + 0j, "want a number"),
    (1.0, float("inf"), "want 1.0"),
    (float("inf"), 1.0, "want inf"),
    ([3, 4], [3, 4.0], "number 2: want a whole number, got 4.0"),
    ([3, 4], np.array([3.0, 4.0]), "number 1: want a whole number"),
    ([1, 2], [1, 3], "want [1, 2], got [1, 3]"),
    ([1, 2], 1, "want a list of 2, got 1"),
    ([b"a", b"b"], np.array([b"a", b"b"]), "want a list of 2"),
    (b"a", bytearray(b"a"), "want b'a', got bytearray(b'a')"),
    (b"a", "a", "want b'a'"),
    ((A, ROW), (A, ROW * 1.0), "result 2 of 2: the values are right, but want int64"),
    ((A, ROW), (A,), "want 2 in a tuple, got 1"),
    ((A, ROW), A, "want a tuple of 2"),
    ({"a": 1}, {"a": 2}, "'a': want 1, got 2"),
    ({"a": 1}, {"b": 1}, "want {'a': 1}"),
    (np.int8([-64]), np.int8([64]), "at [0] want -64, got 64"),
    (np.uint64([2 ** 63]), np.int64([-2 ** 63]), "want"),
    (Yielded([1, 2]), [1, 2], "give each id with yield, one by one: want a generator, got [1, 2]"),
    (Yielded([1, 2], "end"), ([1, 2], "end"), "give each id with yield, one by one"),
    (Yielded([1, 2]), Yielded([1]), "given with yield: want 2 ids, got 1: [1]"),
    (Yielded([1, 2]), Yielded([1, 3]), "given with yield: want [1, 2], got [1, 3]"),
    (Yielded([1, 2]), Yielded([1, 2.0]), "given with yield: number 2: want a whole number"),
    (Yielded([1], "end"), Yielded([1]), "given with return, at the end: want 'end', got None"),
    (Yielded([1]), Yielded([1], "end"), "given with return, at the end: want None, got 'end'"),
    ([1, 2], Yielded([1, 2]), "want a list of 2, got Yielded"),
]


@pytest.mark.parametrize("want, got", SAME)
def test_kinds_that_are_right(want, got):
    assert fault(got, want, 1e-5) is None and same(got, want, 1e-5)


@pytest.mark.parametrize("want, got, words", OTHER)
def test_kinds_that_are_wrong(want, got, words):
    assert words in (fault(got, want, 1e-5) or ""), fault(got, want, 1e-5)


def test_a_generator_is_like_no_list_or_pair():
    for other in ([1, 2], (1, 2), ([1, 2], None), np.array([1, 2]), None):
        assert not same(Yielded([1, 2]), other) and not same(other, Yielded([1, 2]))


@pytest.mark.parametrize("exercise", exercises().values(), ids=exercises())
def test_right_answers_are_called_by_position_and_what_the_model_binds(exercise):
    """So a function may call its arguments as it likes."""
    named = {name for case in exercise.cases for name in case.named}
    operation = exercise.name in BOUND or exercise.name in (
        "layer_norm", "linear", "softmax", "gelu")
    assert not operation or named <= set(BOUND.get(exercise.name, ()))


def test_arguments_may_have_other_names(my_ops):
    def softmax(x):
        w = np.exp(x - x.max(-1, keepdims=True))
        return w / w.sum(-1, keepdims=True)

    def mlp(x, a, b, c, d):
        return x
    assert "all 9 cases pass" in verdict(softmax)
    assert "hands linear, gelu over by name: keep these arguments of the stub" in verdict(mlp)


def test_miss_tells_refusals_apart():
    failure = attempting.Failure
    asked, must = failure("ValueError: no", ValueError), "must be refused with a ValueError"
    assert miss(failure("ValueError: other", ValueError), asked, 0) is None
    assert must in miss(failure("KeyError: 'a'", KeyError), asked, 0)
    assert must in miss(failure("it ends Python", SystemExit), asked, 0)
    assert "must be refused with an error" in miss(3, asked, 0)
    stopped = failure("TimeUp", attempting.TimeUp)
    assert miss(stopped, failure("KeyError", KeyError), 0) is not None


def test_load_runs_nothing_but_the_text():
    with pytest.raises(ValueError, match="a cannot be loaded by itself: NameError"):
        load("b = helper", "a")
    with pytest.raises(ValueError, match="a holds no function a"):
        load("a = 1", "a")


BODIES = {"pass\n    while True:\n        pass": "it was stopped after 5 seconds",
          "quit()": "it ends Python", "return input('a number? ')": "cannot ask somebody to type"}


def test_the_kernel_of_a_notebook_goes_on(my_ops):
    """IPython's quit and input are its own, and its cells run in the main thread."""
    cells = ["import numpy as np\nfrom gpt2lab.teach import check"]
    cells += [f"def layer_norm(x, gain, bias, epsilon=1e-5):\n    {body}\n\ncheck(layer_norm)"
              for body in BODIES]
    cells.append("print('alive')")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, kernel_name="python3", timeout=60).execute()
    printed = ["".join(output.get("text", "") for output in cell.outputs) for cell in book.cells]
    for text, words in zip(printed[1:-1], BODIES.values()):
        assert "layer_norm: 0 of 10 cases pass" in text and words in text, text
    assert printed[-1] == "alive\n" and not my_ops.exists()
