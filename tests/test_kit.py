"""check and keep, tried with what people write: a verdict for each, "kept" only for what works."""
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from cells import run
from gpt2lab.teach import attempting, keep, mine, yours
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.comparing import fault, same
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.judging import miss
from gpt2lab.teach.keeping import load, write

KEPT = "all 9 cases pass. Kept for the later lessons."
IMPORTS = "import numpy as np\n"


@pytest.fixture
def my_ops(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path / "ops"))
    return tmp_path / "ops"


def written(*cells, name="softmax"):
    """The function `name` after these cells have run, as in a notebook."""
    space = {"__name__": "__main__"}
    for source in (IMPORTS, *cells):
        run(source, space)
    return space[name]


IN_A_PROCESS = """
import json, sys
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.judging import results_of
from gpt2lab.teach.keeping import mine, yours
misses = results_of(exercises()[sys.argv[1]], yours(sys.argv[1]))[1]
print(json.dumps(misses))
"""


def in_a_fresh_process(name, my_ops, cwd):
    """What is wrong with the kept function, case by case, in a process that knows nothing else."""
    environment = os.environ | {"GPT2LAB_MY_OPS": str(my_ops),
                                "PYTHONPATH": str(Path(attempting.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-W", "error", "-c", IN_A_PROCESS, name], cwd=cwd,
                          env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# --- what is kept works by itself

BODY = """    w = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return w / w.sum(axis=-1, keepdims=True)
"""
KEPT_WITH = {
    "nothing": ["def softmax(scores):\n" + BODY],
    "helper from another cell": [
        "def shifted(s):\n    return s - top(s)\ndef top(s):\n    return s.max(-1, keepdims=True)",
        "def softmax(scores):\n    w = np.exp(shifted(scores))\n    return w / w.sum(-1, keepdims=True)"],
    "a lambda": ["raised = lambda s: np.exp(s - s.max(-1, keepdims=True))",
                 "def softmax(scores):\n    w = raised(scores)\n    return w / w.sum(-1, keepdims=True)"],
    "two lambdas in a line": [
        "low, high = (lambda s: s.sum(-1, keepdims=True)), (lambda s: s.max(-1, keepdims=True))",
        "def softmax(scores):\n    w = np.exp(scores - high(scores))\n    return w / low(w)"],
    "a lambda over two lines": [
        "raised = (lambda s:\n    np.exp(s\n    - s.max(-1, keepdims=True)))",
        "def softmax(scores):\n    w = raised(scores)\n    return w / w.sum(-1, keepdims=True)"],
    "an alias": ["def total(w):\n    return w.sum(-1, keepdims=True)", "summed = total",
                 "def softmax(scores):\n    w = np.exp(scores - scores.max(-1, keepdims=True))\n"
                 "    return w / summed(w)"],
    "a decorator with wraps": [
        "import functools\ndef noted(f):\n    @functools.wraps(f)\n    def inner(*a, **n):\n"
        "        return f(*a, **n)\n    return inner",
        "@noted\ndef softmax(scores):\n" + BODY],
    "a decorator of its own name": [
        "def noted(f):\n    def softmax(*a):\n        return f(*a)\n    return softmax",
        "@noted\ndef softmax(scores):\n" + BODY],
    "a decorator that changes nothing": [
        "seen = []\ndef noted(f):\n    seen.append(f)\n    return f",
        "@noted\ndef softmax(scores):\n" + BODY],
    "a closure": ["def made(axis, keep):\n    def softmax(scores):\n"
                  "        w = np.exp(scores - scores.max(axis, keepdims=keep))\n"
                  "        return w / w.sum(axis, keepdims=keep)\n    return softmax",
                  "softmax = made(-1, True)"],
    "a closure with a helper inside": [
        "def made():\n    def top(s):\n        return s.max(-1, keepdims=True)\n    def softmax(scores):\n"
        "        w = np.exp(scores - top(scores))\n        return w / w.sum(-1, keepdims=True)\n"
        "    return softmax", "softmax = made()"],
    "imports of names": ["from math import inf, e as euler\nfrom numpy import exp, maximum as larger\n"
                         "from numpy.typing import NDArray\nimport numpy.linalg as la",
                         "def softmax(scores: NDArray) -> NDArray:\n    la.norm([euler])\n"
                         "    top = larger.reduce(scores, axis=-1, keepdims=True, initial=-inf)\n"
                         "    w = exp(scores - top)\n    return w / w.sum(-1, keepdims=True)"],
    "constants": ["LAST, KEEP, LOW, EDGE = -1, {'keepdims': True}, float('-inf'), np.float32(0)\n"
                  "ROOM = np.array([1.0, np.nan])",
                  "def softmax(scores, start=EDGE):\n    ROOM.sum(), LOW\n"
                  "    w = np.exp(scores - scores.max(LAST, **KEEP) + start)\n"
                  "    return w / w.sum(LAST, **KEEP)"],
    "a class": ["class Last:\n    AXIS = -1\n    def of(self, w):\n        return w.sum(self.AXIS, keepdims=True)",
                "def softmax(scores):\n    w = np.exp(scores - scores.max(-1, keepdims=True))\n"
                "    return w / Last().of(w)"],
    "an indented def with a ragged text": [
        "if True:\n    def softmax(scores):\n        '''Ragged,\n  as it\n stands.'''\n"
        "        text = '''a\n        b'''\n        assert len(text) == 11\n"
        + BODY.replace("    ", "        ", 2).replace("\n    return", "\n        return")],
    "a library function": ["from gpt2lab.softmax import softmax as theirs",
                           "def softmax(scores):\n    return theirs(scores)"],
    "itself": ["def softmax(scores):\n    if scores.ndim > 1:\n"
               "        return np.stack([softmax(row) for row in scores])\n" + BODY],
}


@pytest.mark.parametrize("what", KEPT_WITH)
def test_what_is_kept_works_in_a_fresh_process(what, my_ops, tmp_path):
    function = written(*KEPT_WITH[what])
    text = verdict(function)
    assert text.endswith("cases pass. Kept for the later lessons."), text
    assert set(in_a_fresh_process("softmax", my_ops, tmp_path)) == {None}
    assert [path.name for path in my_ops.iterdir()] == ["softmax.py"]


def test_a_kept_operation_that_is_used_again_goes_along(my_ops, tmp_path):
    assert "Kept" in verdict(written(*KEPT_WITH["a lambda"]))
    attend = written(
        "from gpt2lab.teach import mine\nsoftmax = mine().softmax",
        "def attend(q, k, v, softmax=softmax):\n    T, S = q.shape[-2], k.shape[-2]\n"
        "    later = np.arange(S) > np.arange(S - T, S)[:, None]\n"
        "    scores = q @ k.swapaxes(-1, -2) / np.float32(q.shape[-1] ** 0.5)\n"
        "    return softmax(np.where(later, -np.inf, scores).astype(q.dtype)) @ v", name="attend")
    assert "Kept" in verdict(attend), verdict(attend)
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere / "attend.py", (my_ops / "attend.py").read_text())
    assert set(in_a_fresh_process("attend", elsewhere, tmp_path)) == {None}


NOT_KEPT = {
    "a method": (["class A:\n    def softmax(self, scores):\n    " + BODY.replace("\n", "\n    "),
                  "softmax = A().softmax"], "method"),
    "a generator made outside": (["rng = np.random.default_rng(0)",
                                  "def softmax(scores):\n    rng.random()\n" + BODY],
                                 "softmax uses rng, which is a Generator made outside of it"),
    "two things of one name": (
        ["def made(k):\n    def f(s):\n        return s.sum(-1, keepdims=bool(k))\n    return f",
         "one, two = made(1), made(2)",
         "def softmax(scores):\n    w = np.exp(scores - scores.max(-1, keepdims=True))\n    two(w)\n"
         "    return w / one(w)"], "give one"),
    "a default from a closure": (
        ["def made(axis):\n    def softmax(scores, axis=axis):\n        w = np.exp(scores - scores.max("
         "axis, keepdims=True))\n        return w / w.sum(axis, keepdims=True)\n    return softmax",
         "softmax = made(-1)"], "cannot be loaded by itself: NameError"),
    "no source": (["exec(compile('def softmax(s):\\n    w = np.exp(s - s.max(-1, keepdims=True))\\n"
                   "    return w / w.sum(-1, keepdims=True)', '<nowhere>', 'exec'))"], "no source"),
    "state that lives in the notebook": (
        ["def softmax(scores):\n    if __name__ != '__main__':\n        return scores\n" + BODY],
        "in a file of its own it gives something else"),
}


@pytest.mark.parametrize("what", NOT_KEPT)
def test_what_cannot_be_kept_is_told(what, my_ops):
    cells, words = NOT_KEPT[what]
    text = verdict(written(*cells))
    assert "could not be kept: " in text and words in text, text
    assert not my_ops.exists() or not list(my_ops.iterdir())


def test_a_file_of_yours_beside_the_notebook_cannot_be_imported_later(my_ops, tmp_path, monkeypatch):
    (tmp_path / "beside.py").write_text("def top(s):\n    return s.max(-1, keepdims=True)\nAXIS = -1\n")
    monkeypatch.syspath_prepend(tmp_path)
    body = ("def softmax(scores):\n    w = np.exp(scores - {})\n"
            "    return w / w.sum(-1, keepdims=True)")
    text = verdict(written("import beside", body.format("beside.top(scores)")))
    assert "softmax uses beside, which is a file of yours: copy what you need" in text
    assert "Kept" in verdict(written("from beside import top", body.format("top(scores)")))
    assert set(in_a_fresh_process("softmax", my_ops, my_ops)) == {None}


def test_a_wrong_function_is_not_kept(my_ops):
    assert keep(written("def softmax(scores):\n    return scores")) == (
        "It is not kept: it does not pass its cases.")
    assert "no exercise is called 'other'" in keep(written("def other(x):\n    return x", name="other"))
    assert not my_ops.exists()


def test_two_writers_do_not_disturb_each_other(my_ops):
    right, seen = written(*KEPT_WITH["nothing"]), []

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


def test_a_file_that_does_not_load_is_left_out_and_said(my_ops, capsys):
    assert "Kept" in verdict(written(*KEPT_WITH["nothing"]))
    for name, text in {"gelu": "def gelu(:", "linear": "import sys\nsys.exit(1)", "mlp": "x = 1",
                       "block": "1 / 0", "embed": "while True:\n    try:\n        pass\n    except:\n        pass"
                       if hasattr(__import__("signal"), "setitimer") else "x"}.items():
        (my_ops / f"{name}.py").write_text(text)
    (my_ops / "attend.py").write_bytes(b"\xff\xfe")
    ops = mine()
    assert ops.softmax.__code__.co_filename == str(my_ops / "softmax.py")
    printed = capsys.readouterr().out
    for name in ("gelu", "linear", "mlp", "block", "embed", "attend"):
        assert getattr(ops, name) is getattr(type(ops)(), name)
        assert f"{my_ops / name}.py" in printed and f"The library's {name} stands in" in printed
    with pytest.raises(ValueError, match="gelu.py cannot be loaded by itself: SyntaxError"):
        yours("gelu")
    with pytest.raises(ValueError, match="not kept lm_head"):
        yours("lm_head")


# --- where operations are kept

def folder_of(cwd, tmp_path, **environment):
    code = "from gpt2lab.teach.keeping import folder; import os; os.chdir('/'); print(folder())"
    environment = {"GPT2LAB_MY_OPS": "", "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)} | environment
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, env=(
        os.environ | {"PYTHONPATH": str(Path(attempting.__file__).parents[2])} | environment))
    return done.stdout.strip() or done.stderr.strip().split("\n")[-1]


def test_the_folder_is_beside_the_lessons_that_are_open(tmp_path):
    course = tmp_path / "pulled" / "notebooks"
    (course / "bonus").mkdir(parents=True)
    (course / "00_start_here.ipynb").write_text("{}")
    for cwd in (course, course / "bonus", course.parent):
        assert folder_of(cwd, tmp_path) == str(course / "my_ops")
        assert folder_of(cwd, tmp_path, GPT2LAB_MY_OPS="mine") == str(course / "mine")
        assert folder_of(cwd, tmp_path, GPT2LAB_MY_OPS="~/mine") == str(tmp_path / "mine")
    (tmp_path / "elsewhere").mkdir()
    assert folder_of(tmp_path / "elsewhere", tmp_path) == str(tmp_path / "elsewhere" / "my_ops")
    assert "names a home that is not there: ~nobody-here/x" in folder_of(
        course, tmp_path, GPT2LAB_MY_OPS="~nobody-here/x")


# --- nothing that a function does gets out

def softmax_that(body):
    return written("import os, sys, time, random, itertools, warnings",
                   f"def softmax(scores):\n{body}\n")


ODD = {
    "exits": ("    sys.exit()", "it ends Python"),
    "quits": ("    raise SystemExit", "it ends Python"),
    "leaves at once": ("    os._exit(3)", "it ends Python"),
    "is interrupted": ("    raise KeyboardInterrupt", "interrupted"),
    "raises an odd thing": ("    class Odd(BaseException):\n        pass\n    raise Odd", "Odd: "),
    "raises what cannot be shown": ("    class Odd(Exception):\n        def __str__(self):\n"
                                    "            1 / 0\n    raise Odd", "its text cannot be read"),
    "has no end": ("    while True:\n        pass", "stopped after"),
    "has no end and catches all": ("    while True:\n        try:\n            sum(range(100))\n"
                                   "        except BaseException:\n            pass", "stopped after"),
    "sleeps": ("    time.sleep(60)", "stopped after"),
    "counts on": ("    for i in itertools.count():\n        pass", "stopped after"),
    "recurses": ("    return softmax(scores)", "RecursionError"),
    "gives objects": ("    return np.full(scores.shape, None)", "want float32 numbers, got object"),
    "gives text": ("    return scores.astype(str)", "want float32 numbers, got str"),
    "gives a matrix": ("    return np.matrix(scores[0])", "want a plain array, got a matrix"),
    "gives a masked array": ("    return np.ma.array(scores)", "want a plain array, got a MaskedArray"),
    "gives what raises when shown": ("    class Odd:\n        def __repr__(self):\n            1 / 0\n"
                                     "    return Odd()", "got an Odd that cannot be shown"),
    "gives what raises when compared": (
        "    class Odd(np.ndarray):\n        def __eq__(self, other):\n            1 / 0\n"
        "    return scores.view(Odd)", "want a plain array, got an Odd"),
    "gives a generator": ("    return (row for row in scores)", "got <generator"),
    "gives a list": ("    return scores.tolist()", "got a list"),
    "gives nothing": ("    scores.max()", "nothing came back"),
    "changes its input": ("    scores -= 1\n    return scores", "changed its input"),
    "gives complex numbers": ("    return scores + 0j", "got complex64"),
}


@pytest.mark.parametrize("what", ODD)
def test_check_gives_a_verdict_and_stops(what, my_ops, monkeypatch):
    monkeypatch.setattr(attempting.attempt, "__defaults__", (0.3,))
    body, words = ODD[what]
    begin = time.perf_counter()
    text = verdict(softmax_that(body))
    assert words in text and "0 of 9 cases pass" in text, text
    assert time.perf_counter() - begin < 3
    assert not my_ops.exists()


@pytest.mark.parametrize("by_signal", [True, False])
def test_the_limit_holds_with_and_without_signals(by_signal, my_ops, monkeypatch):
    monkeypatch.setattr(attempting.attempt, "__defaults__", (0.3,))
    if not by_signal:
        monkeypatch.delattr(attempting.signal, "setitimer", raising=False)
    assert "stopped after" in verdict(softmax_that(ODD["has no end and catches all"][0]))
    found = []
    thread = threading.Thread(target=lambda: found.append(verdict(softmax_that(ODD["has no end"][0]))))
    thread.start()
    thread.join(10)
    assert "stopped after" in found[0]
    assert "all 9 cases pass" in verdict(written(*KEPT_WITH["nothing"]))
    time.sleep(0.2)                             # nothing comes late


def test_one_long_call_into_c_is_told(my_ops, monkeypatch):
    monkeypatch.setattr(attempting.attempt, "__defaults__", (0.1,))
    text = verdict(softmax_that("    np.sort(np.random.default_rng(0).random(30_000_000))\n    return scores"))
    assert "one long call into NumPy cannot be stopped sooner" in text or "after 0.1 s" in text, text


def test_global_settings_are_put_back(my_ops, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    changes = ("    np.seterr(all='raise')\n    np.random.seed(1)\n    random.seed(1)\n"
               "    os.chdir('deep')\n    os.environ['NEW'] = '1'\n    os.environ.pop('HOME', 0)\n"
               "    sys.setrecursionlimit(5000)\n    np.set_printoptions(precision=1)\n"
               "    warnings.simplefilter('error')\n    sys.stdout = None\n")

    def state():
        return (np.geterr(), np.random.get_state()[1].tolist(), random_state(), os.getcwd(),
                dict(os.environ), sys.getrecursionlimit(), np.get_printoptions(), sys.stdout)
    import random

    def random_state():
        return random.getstate()
    before = state()
    for body in (changes + BODY.replace("    ", "    "), changes + "    1 / 0"):
        text = verdict(softmax_that(body))
        assert state() == before, text
    assert "ZeroDivisionError" in text


def test_the_learners_own_line_is_shown(my_ops):
    text = verdict(written("def product(a):\n    # helper\n    return a @ np.ones(17)",
                           "def softmax(scores):\n    a = scores\n    return product(a)"))
    assert "in your function, line 3: return a @ np.ones(17)" in text, text
    text = verdict(written("def softmax(scores):\n    a = scores\n    return np.concatenate(a, a)"))
    assert "in your function, line 3: return np.concatenate(a, a)" in text, text


@pytest.mark.parametrize("odd", [len, np.tanh, 3, None, lambda: 1, type("softmax", (), {}), "softmax",
                                 __import__("functools").partial(max), np.float32])
def test_what_is_no_function_of_an_exercise_gets_a_verdict(odd, my_ops):
    text = verdict(odd)
    assert "There is no exercise called" in text or text.startswith("softmax: "), text


def test_a_c_function_under_an_exercises_name_gets_a_verdict(my_ops):
    import codecs
    assert codecs.encode.__name__ == "encode" and verdict(codecs.encode).startswith("encode: 0 of ")


def test_a_cached_function_gets_a_verdict(my_ops):
    text = verdict(written("import functools", "@functools.cache\ndef softmax(scores):\n" + BODY))
    assert "unhashable" in text
    gelu = written("import functools, math", "@functools.cache\ndef root():\n    return math.sqrt(2 / math.pi)",
                   "def gelu(x):\n    return 0.5 * x * (1 + np.tanh(root() * (x + 0.044715 * x ** 3)))",
                   name="gelu")
    assert "Kept" in verdict(gelu), verdict(gelu)
    assert set(in_a_fresh_process("gelu", my_ops, my_ops)) == {None}


def test_it_works_without_docstrings_and_asserts(my_ops, tmp_path):
    code = ("from gpt2lab.teach.exercises import exercises\nfrom gpt2lab.teach.checking import verdict\n"
            "wrong = exercises()['softmax'].mistakes[0]\nwrong.__name__ = 'softmax'\nprint(verdict(wrong))")
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, env=(
        os.environ | {"PYTHONPATH": str(Path(attempting.__file__).parents[2])}))
    assert "This is what you get when: " in done.stdout, done.stdout + done.stderr


# --- kinds and values

A, I = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(3)
RIGHT = [(A, A.copy()), (np.float32(2), np.array(2, np.float32)), ([1, 2], np.array([1, 2])), ([1, 2], (1, 2)),
         (3, np.int64(3)), (3.0, 3), (3.0, np.float32(3)), (3.0, np.array(3.0)), (True, np.True_),
         ((A, 2), (A, np.int32(2))), ([0.5], np.array([0.5], np.float32)), ({"a": A, "b": 1}, {"b": 1, "a": A}),
         (float("nan"), float("nan")), ([b"a"], [b"a"]), (np.int8([1]), np.int8([1]))]
WRONG = [(A, A.astype(np.float64), "the values are right, but want float32 numbers, got float64"),
         (A, A.reshape(3, 2), "the values are right, but want shape (2, 3), got shape (3, 2)"),
         (A, A.T, "want shape (2, 3), got shape (3, 2)"), (A, A.tolist(), "the values are right, but want an array"),
         (A, A.astype(np.float64) + 1, "at [0, 0] want 0, got 1; want float32 numbers, got float64"),
         (3, 3.0, "want a whole number, got 3.0"), (1, True, "want a whole number, got True"),
         (3, np.float64(3), "want a whole number"), ([3, 4], [3, 4.0], "number 2: want a whole number, got 4.0"),
         ([3, 4], np.array([3.0, 4.0]), "number 1: want a whole number"), (3.0, "3", "want 3.0, got '3'"),
         (3.0, 3 + 0j, "want a number"), (b"a", bytearray(b"a"), "want b'a', got bytearray(b'a')"),
         (b"a", "a", "want b'a'"), ((A, I), (A, I * 1.0), "result 2 of 2: the values are right, but want int64"),
         ((A, I), (A,), "want 2 in a tuple, got 1"), ((A, I), A, "want a tuple of 2"),
         ([1, 2], [1, 3], "want [1, 2], got [1, 3]"), ([1, 2], 1, "want a list of 2, got 1"),
         ({"a": 1}, {"a": 2}, "'a': want 1, got 2"), ({"a": 1}, {"b": 1}, "want {'a': 1}"),
         (np.int8([-64]), np.int8([64]), "at [0] want -64, got 64"), (True, 1, "want True or False, got 1"),
         (np.uint64([2 ** 63]), np.int64([-2 ** 63]), "want"), (1.0, float("inf"), "want 1.0"),
         (float("inf"), 1.0, "want inf"), (A, np.float32(1), "want shape (2, 3), got shape ()"),
         ([b"a", b"b"], np.array([b"a", b"b"]), "want a list of 2"), (A, None, "want an array")]


@pytest.mark.parametrize("want, got", RIGHT)
def test_kinds_that_are_right(want, got):
    assert fault(got, want, 1e-5) is None and same(got, want, 1e-5)


@pytest.mark.parametrize("want, got, words", WRONG)
def test_kinds_that_are_wrong(want, got, words):
    assert words in (fault(got, want, 1e-5) or ""), fault(got, want, 1e-5)


@pytest.mark.parametrize("exercise", exercises().values(), ids=exercises())
def test_right_answers_are_called_by_position_and_what_the_model_binds(exercise):
    """So a function may call its arguments as it likes."""
    from gpt2lab.teach.checking import BOUND
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
    asked = failure("ValueError: no", ValueError)
    assert miss(failure("ValueError: other", ValueError), asked, 0) is None
    assert "must be refused with a ValueError" in miss(failure("KeyError: 'a'", KeyError), asked, 0)
    assert "must be refused with a ValueError" in miss(failure("it ends Python", SystemExit), asked, 0)
    assert "must be refused with an error" in miss(3, asked, 0)
    assert miss(failure("TimeUp", attempting.TimeUp), failure("KeyError", KeyError), 0) is not None


def test_load_runs_nothing_but_the_text():
    with pytest.raises(ValueError, match="a cannot be loaded by itself: NameError"):
        load("b = helper", "a")
    with pytest.raises(ValueError, match="a holds no function a"):
        load("a = 1", "a")
