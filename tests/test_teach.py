"""The teaching kit: verdicts in words, the living model, printing, pictures and sliders."""
import ast
import inspect
import textwrap
import threading
import warnings
from fractions import Fraction
from pathlib import Path

import ipywidgets as widgets
import matplotlib
import numpy as np
import pytest
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg

import gpt2lab
from gpt2lab.teach import check, diff, gallery, play, plot, show, writes
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.pictures import layernorm as pictures


@pytest.fixture
def my_ops(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path / "ops"))
    return tmp_path / "ops"


# check

@pytest.mark.parametrize("function, words", [
    (lambda: 1, "no exercise called '<lambda>'"), (3, "no exercise called 3"),
    (len, "no exercise called 'len'"),
])
def test_check_of_something_else(function, words, capsys):
    check(function)
    assert words in capsys.readouterr().out


@pytest.mark.parametrize("body, words", [
    (lambda x, gain, bias, epsilon=1e-5: None, "end in a return?"),
    (lambda x, gain, bias, epsilon=1e-5: 1 / 0, "ZeroDivisionError"),
    (lambda x, gain, bias, epsilon: x + bias @ 1, "ValueError"),
    (lambda x, gain, bias, epsilon=1e-5: x[:, :2], "want shape (1, 4), got shape (1, 2)"),
    (lambda x, gain, bias, epsilon=1e-5: x.astype(np.float64), "want float32 numbers, got float64"),
    (lambda x, gain, bias, epsilon=1e-5: x.tolist(), "want an array of shape (1, 4)"),
    (lambda x, gain, bias, epsilon=1e-5: x * np.nan, "got nan"),
    (lambda x, gain, bias, epsilon=1e-5: "x", "want an array"),
    (lambda x, gain, bias, epsilon=1e-5: x.fill(0) or x, "changed its input"),
])
def test_check_says_what_is_wrong_and_never_raises(body, words, my_ops):
    body.__name__ = "layer_norm"
    text = verdict(body)
    assert "0 of 10 cases pass" in text and words in text, text
    assert not my_ops.exists()


# the living model

def test_gallery_and_diff_name_the_operation(capsys):
    gallery("layer_norm", tokens=3)
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 2 * len(exercises()["layer_norm"].mistakes) + 3
    assert max(map(len, printed.splitlines())) <= 100
    ids = [464, 3616, 5]
    assert diff(gpt2lab.load(), ids) is None
    for mistake in exercises()["layer_norm"].mistakes[:4]:
        found = diff(gpt2lab.load(ops=gpt2lab.Ops(layer_norm=mistake)), ids)
        assert (found.name, found.operation) == ("h.0.ln_1", "layer_norm")


@pytest.mark.parametrize("name, wrong, where", [
    ("embed", lambda ids, wte, wpe, start=0: wte[ids], "embed"),
    ("linear", lambda x, w, b: x @ w, "h.0.attn.c_attn"),
    ("softmax", lambda s: np.exp(s - s.max(-1, keepdims=True)), "h.0.attn.pattern"),
    ("attend", lambda q, k, v, softmax: softmax(q @ k.swapaxes(-1, -2)) @ v, "h.0.attn.mixed"),
    ("gelu", lambda x: np.maximum(x, 0), "h.0.mlp.act"),
    ("mlp", lambda x, a, b, c, d, linear, gelu: gelu(linear(linear(x, a, b), c, d)), "h.0.mlp"),
    ("lm_head", lambda x, gain, bias, wte, epsilon, layer_norm: x @ wte.T, "logits"),
    ("block", lambda x, w, **named: x, "h.0.resid_post"),
    ("remember", lambda old_k, old_v, k, v: gpt2lab.Ops().remember(k, v, old_k, old_v),
     "h.0.attn.remember"),
])
def test_diff_finds_the_operation_at_fault(name, wrong, where):
    found = diff(gpt2lab.load(ops=gpt2lab.Ops(**{name: wrong})), [464, 3616, 5])
    assert found.operation == name and found.name == where


def test_diff_when_an_operation_fails():
    def broken(x):
        raise RuntimeError("no")
    found = diff(gpt2lab.load(ops=gpt2lab.Ops(gelu=broken)), [464])
    assert (found.name, found.operation) == ("h.0.mlp.act", "gelu")
    assert writes(gpt2lab.load(ops=gpt2lab.Ops(gelu=broken))) == "[stops: no]"


# show

def test_numbers_have_no_minus_zero_and_few_digits(capsys):
    assert show.number(-0.0001) == "0.000" and show.number(2) == "2.000"
    show.array("a", np.array([[1.0, -0.0], [2.5, 3.0]]))
    assert capsys.readouterr().out == "a (2, 2):\n  1.000  0.000\n  2.500  3.000\n"


def test_refresh_refuses_a_value_at_a_rounding_edge(monkeypatch):
    assert show.number(1.0004999) == "1.000"
    monkeypatch.setenv("GPT2LAB_REFRESH", "1")
    with pytest.raises(ValueError, match="rounding edge"):
        show.number(1.0004999)
    assert show.number(1.0004) == "1.000"


@pytest.mark.parametrize("text, visible", [
    (" a", "·a"), ("\n", "\\n"), ("\x00", "\\x00"), ("$$", "$$"), ("é", "é")])
def test_tokens_are_made_visible(text, visible):
    assert show.token(text) == visible


HUGE = 2 ** 63
BOOKS = np.array([1, None, "a"], object)


@pytest.mark.parametrize("a, b, same", [
    (np.array([-64], np.int8), np.array([64], np.int8), False),     # -64 - 64 = -128 = abs(-128)
    (np.array([-128], np.int8), np.array([0], np.int8), False),
    (np.array([0], np.uint8), np.array([255], np.uint8), False),
    (np.array([3], np.uint64), np.array([4], np.uint64), False),
    (np.array([-HUGE]), np.array([HUGE - 1]), False),
    (np.array([-HUGE]), np.array([-HUGE]), True),
    (np.array([HUGE - 1]), np.array([float(HUGE)]), False),             # equal as float64
    (np.array([2 ** 53]), np.array([2 ** 53 + 1]), False),
    (np.array([2 ** 64 - 1], np.uint64), np.array([-1]), False),
    ([10 ** 400], [10 ** 400 + 1], False), ([10 ** 400], [10 ** 400], True),
    ([10 ** 400], [1.0], False),
    ([True, False], [True, True], False), ([True], [1], True), ([True], [1.00001], True),
    (np.array([5], np.int8), np.array([5.00001]), True), ([5], [5.001], False),
    (np.array([60000], np.float16), np.array([-60000], np.float16), False),
    (np.array([1.5], np.float16), np.array([1.5], np.float64), True),
    (np.array([1e308]), np.array([-1e308]), False),
    (np.array([1 + 1e-5], np.float32), np.array([1.0]), True),
    ([np.nan], [np.nan], False), ([np.nan], [1.0], False), ([np.inf], [np.inf], True),
    ([np.inf], [-np.inf], False), ([np.inf], [1e308], False), ([-np.inf], [5], False),
    ([1 + 2j], [1 + 2j], True), ([1 + 2j], [1 - 2j], False), ([1j], [0], False),
    ([1 + 1e-9j], [1], True),
    (BOOKS, BOOKS.copy(), True), (BOOKS, np.array([1, None, "b"], object), False),
    (np.array([np.int8(-64)], object), np.array([np.int8(64)], object), False),
    (np.array([None]), np.array([0.0]), False), (np.array([1, HUGE], object), [1, HUGE], True),
    (["a", "b"], ["a", "b"], True), (["1"], ["1.0"], False), (["a"], [1.0], False),
    (np.zeros(3), np.zeros((3, 1)), False), (np.zeros((1, 3)), np.zeros(3), False),
    (np.zeros((0, 3)), np.zeros((0, 3)), True), (np.zeros((0, 3)), np.zeros((3, 0)), False),
    (np.array([], np.int8), np.array([], np.int8), True), ([], np.array([], object), True),
    (2, 2.00001, True), (2, [2], False), ([Fraction(1, 3)], [1 / 3], True),
])
def test_near_is_the_true_difference(a, b, same, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert show.near(a, b, 1e-4) is same and show.near(b, a, 1e-4) is same
        show.agree("both", a, b)
    printed = capsys.readouterr().out
    assert ("both: agree to 4 decimals" in printed) == same
    assert ("shapes differ" in printed) == (np.shape(a) != np.shape(b))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16])
def test_near_holds_for_every_pair_of_small_whole_numbers(dtype):
    every = np.unique(np.arange(-2 ** 16, 2 ** 16, 37).astype(dtype))
    for a in every[::max(len(every) // 20, 1)]:
        for b in every[::max(len(every) // 20, 1)]:
            apart = abs(int(a) - int(b))
            assert show.near(np.array([a]), np.array([b]), 3) == (apart <= 3)


def bare(x):
    return x                                    # nothing to say


def documented(x):
    """Words.

    More words.
    """
    def inner(y):
        """Words of its own."""
        return """no docstring"""
    text = """no docstring
    either"""
    return inner(x), text


class Documented(dict):
    """Words."""

    size = 3

    def method(self):
        """Words."""
        return self.size


class Close(dict):
    """Words."""
    size = 3


DISPLAYED = """def bare(x):
    return x                                    # nothing to say


def documented(x):
    def inner(y):
        return \"""no docstring\"""
    text = \"""no docstring
    either\"""
    return inner(x), text


class Documented(dict):
    size = 3

    def method(self):
        return self.size


def method(self):
    return self.size


class Close(dict):
    size = 3"""


def test_source_is_shown_without_its_docstrings(monkeypatch):
    shown = []
    monkeypatch.setattr(show, "display", lambda bundle, raw: shown.append(bundle))
    show.source(bare, documented, Documented, Documented.method, Close)
    assert shown == [{"text/plain": DISPLAYED, "text/markdown": f"```python\n{DISPLAYED}\n```"}]


LIBRARY = [*vars(gpt2lab.Ops()).values(), gpt2lab.safetensors.read_header, gpt2lab.KVCache,
           gpt2lab.GPT2, gpt2lab.bpe.BPE, gpt2lab.bpe.BPE.encode, gpt2lab.sampling._best]


@pytest.mark.parametrize("part", LIBRARY, ids=lambda part: part.__name__)
def test_what_is_shown_of_the_library_is_its_own_code(part, monkeypatch):
    """Statement by statement, and line by line, but for the docstrings."""
    shown = []
    monkeypatch.setattr(show, "display", lambda bundle, raw: shown.append(bundle["text/plain"]))
    show.source(part)
    whole = textwrap.dedent(inspect.getsource(part))
    tree = ast.parse(whole)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:]
    assert ast.dump(ast.parse(shown[0])) == ast.dump(tree)
    assert set(shown[0].splitlines()) <= set(whole.splitlines())


# pictures

AWKWARD = ["$$", " $$", "#$#$", "$$$$", "$x$", "y$", "_a", "^", "\\frac", "\n", "<b>", "&", "\x00"]


def test_pictures_take_any_token_text_and_close():
    import matplotlib.pyplot as pyplot
    square = np.eye(len(AWKWARD))
    labels = [show.token(t) for t in AWKWARD]
    for _ in range(25):
        fig = plot.heat({"a": square}, "query T", "key S", "A map.", rows=labels, columns=labels)
    assert plot.png(fig).startswith(b"\x89PNG")
    assert plot.png(plot.bars(labels, np.arange(13.0), "x", "y", "Bars.")).startswith(b"\x89PNG")
    assert plot.png(plot.message("$$ \n <b>")).startswith(b"\x89PNG")
    assert [t.get_text() for t in fig.axes[0].get_yticklabels()] == labels
    np.testing.assert_array_equal(fig.drawn["a"], square)
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("alt", ["", "One line.", "One.\n", "One.\n ", "\nTwo.",
                                 "One.\nTwo.\nThree."])
def test_a_picture_needs_its_two_lines(alt):
    fig, _ = plot.figure(alt=alt)
    with pytest.raises(ValueError, match="a picture needs a text of two lines: what is drawn"):
        plot.show(fig)


def test_a_picture_is_shown_with_its_two_lines(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(plot, "display", lambda bundle, **named: shown.append((bundle, named)))
    plot.show(plot.message("Words."))
    ((bundle, named),) = shown
    assert bundle["text/plain"] == f"{MESSAGE}Words." and capsys.readouterr().out == (
        f"{MESSAGE}Words.\n")
    alt = "A message in place of the picture. Words."
    assert named == {"metadata": {"image/png": {"alt": alt}}, "raw": True}


def test_the_same_picture_gives_the_same_bytes():
    row = np.array([0.5, 1.0, -2.0, 0.0])
    one, two = (pictures.one_row(row, row / 2, "halved") for _ in range(2))
    assert plot.png(one) == plot.png(two)


USERS = {
    "dark": style.library["dark_background"], "LaTeX": {"text.usetex": True},
    "upside down": {"image.origin": "lower"}, "blurred": {"image.interpolation": "bilinear"},
    "large serif": {"font.family": "serif", "font.size": 22, "font.weight": "bold"},
    "sketch": {"path.sketch": (1, 100, 2)}, "no minus": {"axes.unicode_minus": False},
    "thick": {"lines.linewidth": 6, "lines.marker": "x", "hatch.color": "red"},
    "other sizes": {"figure.dpi": 40, "savefig.dpi": 300, "figure.figsize": (2, 2)},
    "other layout": {"figure.autolayout": True, "axes.titlelocation": "left", "axes.xmargin": 0.5},
    "ticks": {"xtick.color": "red", "xtick.direction": "in", "ytick.labelsize": 20,
              "ytick.minor.visible": True, "axes.formatter.limits": (0, 0)},
    "colours": {"image.cmap": "gray", "axes.prop_cycle": matplotlib.cycler(color=["yellow"])},
    "coarse letters": {"text.antialiased": False, "text.hinting": "none"},
    "bare": {"axes.spines.left": False, "axes.spines.bottom": False, "axes.grid": True},
    "every switch turned over": {name: not value for name, value in plot.SETTINGS.items()
                                 if isinstance(value, bool)},
}


@plot.styled
def picture_with_everything():
    """Maps, lines, text, a legend; measured while it is made, as some pictures are."""
    fig, (left, right) = plot.figure(2, alt="Everything.")
    plot.draw_map(left, np.array([[0.5, -2.0], [np.nan, 1.0]]), ["a", "ढ"], None, "PuOr", -2, 2)
    right.plot([1e-3, -5, 2], label="line")
    right.fill_between([0, 1], [1, 2], hatch="//")
    right.set(title="title", xlabel="x", ylabel="y")
    right.legend()
    right.text(1, 0, "$x_1$ लड़की").get_window_extent(FigureCanvasAgg(fig).get_renderer())
    return fig


def some_pictures():
    """PNG of several kinds of pictures."""
    return [plot.png(fig) for fig in (
        picture_with_everything(), plot.message("ValueError: no"),
        plot.lines({"a": [1, 10], "b": [3, 2]}, "x", "y", "Lines.", log=True),
        plot.bars(["a", "b"], [1.0, -2.0], "x", "y", "Bars.", signed=True),
        plot.heat({"map": np.eye(9)}, "T", "S", "A map.", kind="probability"),
        pictures.one_row(np.array([1.0, 2.0]), np.array([-1.0, 1.0]), "normed"))]


@pytest.fixture(scope="module")
def plain():
    return some_pictures()


@pytest.mark.parametrize("user", USERS)
def test_the_users_settings_change_no_picture(user, plain):
    with matplotlib.rc_context(USERS[user]):
        theirs = dict(matplotlib.rcParams)
        assert some_pictures() == plain
        assert dict(matplotlib.rcParams) == theirs, "and they are back afterwards"


def test_two_threads_draw_one_after_the_other():
    """As when a slider moves while a cell draws: what the one sets back must not hit the other."""
    entered, left, sizes = threading.Event(), threading.Event(), []

    def second():
        with plot.house_style():
            entered.set()
            left.wait(10)
            sizes.append(matplotlib.rcParams["axes.titlesize"])
    thread = threading.Thread(target=second)
    with plot.house_style():
        thread.start()
        assert not entered.wait(0.3)
    left.set()
    thread.join(10)
    assert sizes == [plot.STYLE["axes.titlesize"]]


@pytest.mark.parametrize("path", sorted(Path(plot.__file__).parent.glob("pictures/*.py")),
                         ids=lambda path: path.stem)
def test_every_figure_is_made_and_changed_in_the_house_style(path):
    """Only a function that gives on at once what plot.lines and the like have made needs no style.
    """
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        given_on = {id(part.value) for part in ast.walk(node) if isinstance(part, ast.Return)}
        makers = {f"plot.{kind}" for kind in ("figure", "Figure", "lines", "bars", "heat")}
        made = [part for part in ast.walk(node) if isinstance(part, ast.Call)
                and ast.unparse(part.func) in makers and id(part) not in given_on]
        styled = "plot.styled" in map(ast.unparse, node.decorator_list)
        assert styled or not made, f"{node.name} needs @plot.styled"


SCRIPTS = ["लड़की ने", "გოგონა", "女の子", "فتاة", "ילדה", "🤗🦀", "ᚠᛇᚻ", "เด็ก", "\ue000",
           "a\u0301\u0915"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_script_gives_a_warning(script, screen):
    shown, updates = screen
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = [script, "b"]
        for fig in (plot.bars(labels, [1.0, 2.0], script, "y", "Bars.", title=script),
                    plot.heat({script: np.eye(2)}, script, "x", "Map.", rows=labels,
                              columns=labels),
                    plot.lines({script: [1, 2]}, "x", script, "Lines.", at_end=False),
                    plot.message(f"ValueError: {script}")):
            assert plot.png(fig).startswith(b"\x89PNG")

        @plot.styled
        def measured(text):
            """Draws by itself and measures, as quick explorers do."""
            fig, (ax,) = plot.figure(alt=f"A text.\n{text}")
            canvas = FigureCanvasAgg(fig)
            ax.text(0, 0, text).get_window_extent(canvas.get_renderer())
            canvas.draw()
            return fig
        box = play.words("text", "b")
        play.explore(measured, text=box)
        box.value = script
    assert updates[-1]["text/plain"] == f"A text.\n{script}"


# sliders

MESSAGE = "A message in place of the picture.\n"


@pytest.fixture
def screen(monkeypatch):
    """What play shows: [bundles as they stand now], and [pictures that took another's place]."""
    shown, updates = [], []

    class Handle:
        def __init__(self, place):
            self.place = place

        def update(self, bundle, raw, metadata=None):
            shown[self.place] = bundle
            if "image/png" in bundle:
                alt = metadata["image/png"]["alt"]
                assert alt == bundle["text/plain"].replace("\n", " ")       # kept when it is saved
                updates.append(bundle)

    def display(bundle, raw, metadata=None, display_id=False):
        shown.append(bundle)
        return Handle(len(shown) - 1) if display_id else None
    monkeypatch.setattr(play, "display", display)
    return shown, updates


def test_explorer_redraws_one_picture(screen):
    shown, updates = screen
    slider, calls = play.slider("gain", 1.0, -3.0, 3.0), []

    def draw(gain):
        calls.append(gain)
        row = np.array([1.0, 2.0, 4.0])
        return pictures.one_row(row, row * gain, f"gain {gain:g}")
    play.explore(draw, gain=slider)
    assert sum("image/png" in bundle for bundle in shown) == 1
    assert shown[0]["text/plain"] == "[slider gain: 1.0; run this cell to use it]"
    for value in np.linspace(-3, 3, 50):
        slider.value = value
    assert len(updates) == 50 and len(calls) == 51
    assert updates[0]["image/png"] != updates[-1]["image/png"]


def test_the_text_below_the_picture_follows_it(screen):
    shown, _ = screen
    slider, box = play.slider("n", 1, 0, 3), play.words("text", "a")
    play.explore(lambda n, text: plot.message(f"{text} {6 // n}"), n=slider, text=box)
    assert shown[-1] == {"text/plain": MESSAGE + "a 6"} and "image/png" in shown[-2]
    for change, words in ((lambda: setattr(slider, "value", 2), "a 3"),
                          (lambda: setattr(box, "value", "b"), "b 3"),
                          (lambda: setattr(slider, "value", 0), "ZeroDivisionError: integer")):
        change()
        assert shown[-1]["text/plain"].startswith(MESSAGE + words)
        assert shown[-1] == {"text/plain": shown[-2]["text/plain"]}


def test_a_long_text_stands_below_the_picture_in_lines(screen):
    shown, _ = screen
    slider = play.slider("n", 30, 0, 60)
    play.explore(lambda n: plot.message("word " * n), n=slider)
    for n in (30, 60):
        slider.value = n
        picture, below = (bundle["text/plain"] for bundle in shown[-2:])
        assert below.split() == picture.split() and max(map(len, below.split("\n"))) <= 100
        assert picture.count("\n") == 1 and "image/png" in shown[-2]


def test_a_text_grows_under_its_button(screen, monkeypatch):
    shown, _ = screen
    grown, buttons = [], []
    plain = play.button
    monkeypatch.setattr(play, "button", lambda label: buttons.append(plain(label)) or buttons[-1])

    def text_of(word, presses):
        for times in range(1, 4):
            grown.append(shown[-1]["text/plain"])
            yield f"{word * times} {presses}"
        if word == "stop":
            raise ValueError("no more")
    box = play.words("word", "ab")
    play.write(text_of, word=box)
    assert shown[-1] == {"text/plain": "ababab 0"}
    box.value = "cd"
    assert shown[-1] == {"text/plain": "ababab 0"}      # it waits for the button
    del grown[:]
    buttons[0].click()
    assert shown[-1] == {"text/plain": "cdcdcd 1"}
    assert grown == ["ababab 0", "cd 1", "cdcd 1"]      # each text is seen before the next is made
    box.value = "stop"
    buttons[0].click()
    assert shown[-1] == {"text/plain": "ValueError: no more"}


class Run:
    """Something to train: five steps; the stop button is pressed in step `stopped`."""
    steps = 5

    def __init__(self, stopped=None):
        self.losses, self.stopped = [], stopped

    def advance(self):
        if len(self.losses) == self.stopped:
            self.stopped = None
            raise KeyboardInterrupt
        self.losses = [*self.losses, 5 - len(self.losses)]


def test_a_training_is_seen_while_it_goes_on(screen):
    shown, updates = screen
    run, noted = Run(), []
    play.train(run, lambda: noted.append(len(run.losses)),
               lambda: plot.message(f"after {len(run.losses)}"), every=0)
    assert noted == [0, 1, 2, 3, 4, 5]
    assert [bundle["text/plain"] for bundle in updates] == [
        f"{MESSAGE}after {t}" for t in (1, 2, 3, 4, 5, 5)]
    assert shown == [{"text/plain": "5 steps in 0 seconds"}, updates[-1]]


def test_between_two_pictures_time_must_pass(screen):
    _, updates = screen
    play.train(Run(), lambda: None, lambda: plot.message("one"), every=60)
    assert len(updates) == 1                    # at the end


def test_a_training_that_is_stopped_goes_on(screen):
    shown, updates = screen
    run = Run(stopped=2)
    for _ in range(2):
        play.train(run, lambda: None, lambda: plot.message(f"after {len(run.losses)}"), every=60)
    assert [bundle["text/plain"] for bundle in shown[::2]] == [
        "Stopped at step 2 of 5: run this cell again and it goes on.",
        "5 steps, 0 seconds for the last 3"]
    assert [bundle["text/plain"] for bundle in updates] == [
        f"{MESSAGE}after {t}" for t in (2, 5)]


def test_a_training_that_is_over_is_shown_again(screen):
    shown, _ = screen
    run = Run()
    for _ in range(2):
        play.train(run, lambda: None, lambda: plot.message("after"))
    assert len(run.losses) == 5 and shown[2]["text/plain"] == "5 steps: all are done"


def test_an_error_in_a_training_is_seen(screen):
    with pytest.raises(ZeroDivisionError):
        play.train(Run(), lambda: 1 / 0, lambda: plot.message("never"))


def test_explorer_shows_its_own_errors(screen):
    shown, updates = screen
    slider = play.slider("n", 1, 0, 3)
    play.explore(lambda n: pictures.one_row(np.ones(4), np.full(4, 1 / n), ""), n=slider)
    slider.value = 0
    assert updates[-1]["text/plain"] == f"{MESSAGE}ZeroDivisionError: division by zero"
    with pytest.raises(ZeroDivisionError):
        play.explore(lambda n: 1 / 0, n=play.slider("n", 1, 0, 3))


@pytest.mark.parametrize("words", [
    "x" * 100_000, "word " * 5_000, "W" * 300, "line\n" * 500, "\n\n\nbeginning\n\n" + "y " * 900,
    "one line", "字" * 4_000, "$$ {x} \\frac <b>", ""])
def test_of_a_long_error_kind_and_beginning_are_read(words, screen):
    shown, updates = screen
    slider = play.slider("n", 1, 0, 3)

    def draw(n):
        if not n:
            raise ValueError(words)
        return plot.message("fine")
    play.explore(draw, n=slider)
    slider.value = 0
    told = f"ValueError: {words}".strip()
    what, said = updates[-1]["text/plain"].split("\n")
    assert f"{what}\n" == MESSAGE and said[:40] == told[:40].replace("\n", " ")
    fig = plot.message(told)
    (text,) = fig.axes[0].texts
    rows = text.get_text().split("\n")
    with plot.house_style():
        extent = text.get_window_extent(FigureCanvasAgg(fig).get_renderer())
    assert rows[0].startswith("ValueError:") and len(rows) <= 12
    assert 0 < extent.x0 and extent.x1 < 640
    assert 0 < extent.y0 and extent.y1 < fig.bbox.height < 300
    whole = "".join(rows).replace(" ", "")
    assert whole.endswith("…") == (whole != "".join(told.split())), "what is left out is at the end"


def test_an_error_while_rendering_or_in_the_error_itself_is_shown(screen):
    shown, updates = screen

    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    @plot.styled
    def draw(n):
        if n == 2:
            raise Mute
        fig, (ax,) = plot.figure(alt="A picture.")
        ax.text(0, 0, r"$\frac$" if n else "fine", parse_math=True)
        return fig
    slider = play.slider("n", 0, 0, 3)
    play.explore(draw, n=slider)
    slider.value = 2
    assert updates[-1]["text/plain"] == f"{MESSAGE}Mute"
    slider.value = 1
    assert updates[-1]["text/plain"].startswith(f"{MESSAGE}ValueError: ")


def test_reset_button_sets_everything_back_with_one_redraw(screen, monkeypatch):
    made = []
    real = widgets.Button.__init__
    monkeypatch.setattr(widgets.Button, "__init__",
                        lambda self, **named: (real(self, **named), made.append(self))[0])
    _, updates = screen
    a, b = play.slider("a", 1, 0, 3), play.words("b", "hi")
    play.explore(lambda a, b: plot.message(f"{a} {b}"), a=a, b=b)
    a.value, b.value = 3, "there"
    before = len(updates)
    made[-1].click()
    assert (a.value, b.value) == (1, "hi") and len(updates) == before + 1


def test_button_counts_its_presses():
    button = play.button("Draw")
    button.click()
    button.click()
    assert button.value == 2


@pytest.mark.parametrize("control, follows", [
    (play.slider("a", 1, 0, 3), True), (play.slider("a", 1.0, 0.0, 3.0), True),
    (play.words("a", "b"), False)])
def test_sliders_follow_the_hand_and_texts_wait_for_enter(control, follows):
    assert control.continuous_update is follows


def test_one_row_draws_the_rows():
    row = np.array([0.2, 0.5, -0.1, 0.9])
    fig = pictures.one_row(row, 3 - row, "turned around")
    for ax, wanted in zip(fig.axes, (row, 3 - row)):
        np.testing.assert_allclose([patch.get_height() for patch in ax.patches][:4], wanted)
    assert "with mean 0.38, deviation 0.37 comes out with mean 2.62, deviation 0.37 (" in fig.alt


# what second readers found

def test_an_error_that_is_asked_for_must_be_a_value_error(my_ops):
    def linear(x, w, b):
        assert w.shape[0] == x.shape[-1] and w.shape[1:] == b.shape
        return gpt2lab.Ops().linear(x, w, b)
    assert "must be refused with a ValueError, got AssertionError" in verdict(linear)


@pytest.mark.parametrize("name, same", [
    ("linear", lambda x, w, b: np.einsum("ti,io->to", x, w) + b),
    ("gelu", lambda x: gpt2lab.Ops().gelu(x) * np.float32(1 + 1e-6)),
])
def test_diff_takes_rounding_for_no_fault(name, same):
    assert diff(gpt2lab.load(ops=gpt2lab.Ops(**{name: same})), [464, 3616, 5]) is None


def in_place(x, gain, bias, epsilon=1e-5):
    x -= x.mean(axis=-1, keepdims=True)
    return x / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon) * gain + bias


def attend_in_a_prefill(q, k, v, softmax):
    """Right without a cache: the mask takes the queries for the first positions."""
    scores = q @ k.swapaxes(-1, -2) / np.float32(q.shape[-1] ** 0.5)
    seen = np.tri(q.shape[1], k.shape[1]) > 0
    return softmax(np.where(seen, scores, np.float32(-np.inf))) @ v


@pytest.mark.parametrize("name, wrong", [
    ("embed", lambda ids, wte, wpe, start=0: wte[ids] + wpe[:len(ids)]),
    ("attend", attend_in_a_prefill),
    ("layer_norm", in_place),
    ("lm_head", lambda x, gain, bias, wte, epsilon, layer_norm: (
        np.float32(1.00002) * (layer_norm(x, gain, bias) @ wte.T))),
])
def test_diff_sees_faults_of_decoding_and_of_habit(name, wrong):
    assert diff(gpt2lab.load(ops=gpt2lab.Ops(**{name: wrong})), [464, 3616, 5]).operation == name
