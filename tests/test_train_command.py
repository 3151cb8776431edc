"""gpt2lab train: a text becomes a model; interrupted, it leaves the last saved state or nothing."""
import codecs
import io
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpt2lab
from gpt2lab import train as command, training
from gpt2lab.cli import LONGEST_TEXT, main

ROOT = Path(__file__).resolve().parents[1]
BOOK = (ROOT / "data" / "training-text" / "wizard-of-oz.txt").read_text(encoding="utf-8")
FILES = ["config.json", "model.safetensors"]


@pytest.fixture(autouse=True)
def as_an_installed_command(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/x/bin/gpt2lab"])


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(BOOK[:3000], encoding="utf-8")
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "new" / "model"


def run(capsys, *words):
    """(status, stdout, stderr) of gpt2lab train, in this process."""
    status = main(["train", *map(str, words)])
    said, err = capsys.readouterr()
    return status, said, err


def one_sentence(err):
    return err.startswith("gpt2lab: ") and err.count("\n") == 1 and err.endswith("\n")


def there(folder):
    return sorted(path.name for path in folder.iterdir())


def trained(capsys, text, out, *words):
    """Bytes of the weights after a training that succeeds."""
    status, _, err = run(capsys, text, "--out", out, *words)
    assert status == 0, err
    return (out / "model.safetensors").read_bytes()


# results

def test_what_is_said_and_what_is_written(capsys, text, out):
    status, said, err = run(capsys, text, "--out", out, "--steps", 12, "--seed", 3)
    assert status == 0 and there(out) == FILES
    assert re.fullmatch(r"step 12 of 12  loss \d\.\d{3}  0 s left\n", err)
    model = gpt2lab.load(out)
    assert model.config == training.small_config() and model.tokenizer.end_of_text is None
    rest = model.tokenizer.encode(BOOK[:3000])[2700:]
    loss = training.held_out_loss(model, rest)
    assert 3 < loss < math.log(256)
    sample = "The " + model.generate("The ", max_new_tokens=100, seed=3)
    assert said == (f"held-out loss: {loss:.3f} nats a token on the last tenth of the text; by "
                    f"chance 5.545\nit writes: {sample}\n"
                    f'more of it: gpt2lab generate "The " --model {shlex.quote(str(out))}\n')
    assert main(shlex.split(said.split("more of it: gpt2lab ")[1])) == 0
    assert capsys.readouterr().out.startswith("The ")


def test_it_is_the_training_of_the_library(capsys, text, out):
    """Nine tenths of the text, and nothing of the last one."""
    trained(capsys, text, out, "--steps", 12)
    ids = gpt2lab.checkpoint.tokenizer(256).encode(BOOK[:2700])
    wanted = training.Training(training.small_config(), training.pages_of(ids, 128), 12)
    for _ in range(12):
        wanted.advance()
    model = gpt2lab.load(out)
    for name, array in wanted.model.weights.items():
        np.testing.assert_array_equal(model.weights[name], array)


def test_seed_steps_and_text_make_the_file(capsys, text, tmp_path):
    first = trained(capsys, text, tmp_path / "a", "--steps", 6)
    assert trained(capsys, text, tmp_path / "b", "--steps", 6, "--seed", 0) == first
    assert trained(capsys, text, tmp_path / "c", "--steps", 6, "--seed", 1) != first
    assert trained(capsys, text, tmp_path / "d", "--steps", 7) != first
    text.write_text(BOOK[1:3001], encoding="utf-8")
    assert trained(capsys, text, tmp_path / "e", "--steps", 6) != first


def test_seconds_choose_the_steps_and_say_how_to_repeat_them(capsys, text, tmp_path):
    status, said, _ = run(capsys, text, "--out", tmp_path / "a", "--seconds", 0.6)
    steps, again = re.match(r"(\d+) steps; --steps (\d+) repeats it exactly\n", said).groups()
    assert status == 0 and steps == again and int(steps) >= 1
    assert trained(capsys, text, tmp_path / "b", "--steps", steps) == (
        tmp_path / "a" / "model.safetensors").read_bytes()


@pytest.mark.parametrize("seconds, cost, steps", [
    (10, 0.125, 71),        # 1 step of warm-up, 8 measured in a second: 8.875 seconds are left
    (60, 0.0625, 939),      # 20 measured at most
    (1, 4, 1), (86_400, 1e-7, command.MOST_STEPS)])
def test_so_many_steps_fit(seconds, cost, steps, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(command, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(command, "Training", lambda config, draw: SimpleNamespace(
        advance=lambda: now.__setitem__(0, now[0] + cost)))
    assert command._fitting(None, None, seconds) == steps


def test_more_tokens(capsys, text, out):
    text.write_text(BOOK[:6000], encoding="utf-8")
    status, said, _ = run(capsys, text, "--out", out, "--steps", 3, "--tokens", 300)
    model = gpt2lab.load(out)
    assert status == 0 and model.config.vocab_size == 300
    ids = model.tokenizer.encode(BOOK[:6000])
    rest = ids[len(ids) * 9 // 10:]
    T = 128
    read = rest[1:(len(rest) - 1) // T * T + 1]
    loss = training.held_out_loss(model, rest)
    per_byte = loss * len(read) / len(model.tokenizer.decode_bytes(read))
    assert f"{loss:.3f} nats a token ({per_byte:.3f} a byte) on the last tenth" in said
    assert per_byte < loss


def test_a_short_text_is_trained_and_not_measured(capsys, text, out):
    """144 tokens: 129 to read, 15 that are too few to measure."""
    text.write_text("a" * 144)
    status, said, _ = run(capsys, text, "--out", out, "--steps", 1)
    assert status == 0 and there(out) == FILES
    assert "left out, the last tenth of the text is shorter than a context\n" in said


def test_a_long_text_is_measured_on_some_pages(monkeypatch):
    asked = []
    monkeypatch.setattr(command, "held_out_loss", lambda model, ids: asked.append(len(ids)) or 2.0)
    model = SimpleNamespace(config=training.small_config(),
                            tokenizer=gpt2lab.checkpoint.tokenizer(256))
    for n, pages in ((129, 1), (256, 1), (257, 2), (10**6, command.HELD_OUT)):
        assert command._measured(model, np.zeros(n, int)) == (2.0, 2.0)
        assert asked.pop() == 128 * pages + 1
    assert command._measured(model, np.zeros(128, int)) == (None, None) and not asked


def test_without_tiktoken_it_is_the_same_file(capsys, text, tmp_path):
    code = ("import sys; sys.modules['tiktoken'] = None\n"
            "from gpt2lab.cli import main; sys.exit(main())")
    done = subprocess.run(
        [sys.executable, "-c", code, "train", text, "--out", tmp_path / "a", "--steps", "2",
         "--tokens", "300"], capture_output=True, timeout=60,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == trained(
        capsys, text, tmp_path / "b", "--steps", 2, "--tokens", 300)


LE, BE = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


@pytest.mark.parametrize("data", [
    BOOK[:2000].encode() + b"\n", BOOK[:2000].encode() + b"\r\n",
    codecs.BOM_UTF8 + BOOK[:2000].encode(), LE + BOOK[:2000].encode("utf-16-le"),
    BE + BOOK[:2000].encode("utf-16-be")], ids=["newline", "CRLF", "UTF-8", "LE", "BE"])
def test_marks_and_one_newline_are_no_text_in_files_and_standard_input(data, capsys, text, tmp_path,
                                                                      monkeypatch):
    text.write_bytes(BOOK[:2000].encode())
    plain = trained(capsys, text, tmp_path / "a", "--steps", 2)
    text.write_bytes(data)
    assert trained(capsys, text, tmp_path / "b", "--steps", 2) == plain
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert trained(capsys, "-", tmp_path / "c", "--steps", 2) == plain


def test_any_text_any_folder(capsys, text, tmp_path, monkeypatch):
    """What a name or a text holds: an emoji, a space, a tilde; other files stay."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    text.write_text("\U0001f980\x1b[31m \u4f60\n" * 60, encoding="utf-8")
    folder = tmp_path / "my l\u00e4b"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    (folder / "notes.txt").write_text("mine")
    status, said, _ = run(capsys, "~/text.txt", "--out", "~/my l\u00e4b", "--steps", 2)
    assert status == 0 and there(folder) == [*FILES, "notes.txt"]
    assert there(tmp_path) == ["my l\u00e4b", "text.txt"]       # and no folder named ~
    assert main(shlex.split(said.split("more of it: gpt2lab ")[1])) == 0
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["gpt2-tiny", "-x", "gpt2"])
def test_the_line_that_uses_it_means_this_folder(name, capsys, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run(capsys, text, f"--out={name}", "--steps", 1)[1]
    words = shlex.split(said.split("more of it: gpt2lab ")[1])
    loaded = []
    monkeypatch.setattr("gpt2lab.cli.load", lambda model: loaded.append(model) or gpt2lab.load(
        model))
    assert main(words) == 0 and gpt2lab.load(loaded[0]).config.n_embd == 64


def test_the_line_names_the_command_as_it_was_called(capsys, text, out, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/x/gpt2lab/__main__.py"])
    assert "more of it: python -m gpt2lab generate" in run(capsys, text, "--out", out, "--steps",
                                                           1)[1]


# progress

def ticking(monkeypatch):
    """Each look at the clock of the command line finds a second gone."""
    now = iter(range(1000))
    monkeypatch.setattr("gpt2lab.cli.time", SimpleNamespace(monotonic=lambda: next(now)))


def test_a_line_every_five_seconds_where_no_terminal_is(capsys, text, out, monkeypatch):
    ticking(monkeypatch)
    err = run(capsys, text, "--out", out, "--steps", 17)[2]
    assert re.findall(r"step (\d+) of 17  loss \d\.\d{3}  \d+ s left\n", err) == [
        "5", "10", "15", "17"]
    assert err.count("\n") == 4 and "\r" not in err


def test_one_line_is_rewritten_on_a_terminal(capsys, text, out, monkeypatch):
    ticking(monkeypatch)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    err = run(capsys, text, "--out", out, "--steps", 17)[2]
    first, *lines = err.removesuffix("\n").split("\r")
    assert first == "" and "\n" not in "".join(lines) and err.endswith("\n")
    assert [int(line.split()[1]) for line in lines] == list(range(1, 18))
    assert len({len(line) for line in lines}) == 1          # the end of a longer one is covered


def test_a_terminal_gets_no_empty_line_before_a_refusal(capsys, text, out, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert one_sentence(run(capsys, text, "--out", out, "--steps", 0)[2])


def test_a_terminal_sees_no_control_characters(capsys, text, out, monkeypatch):
    class Escapes(training.Training):
        @property
        def model(self):
            model = super().model
            (i,) = model.encode("\x1b")
            bias = 1000 * model.weights["wte.weight"][i]            # whatever it has read
            return replace(model, weights=model.weights | {
                "ln_f.weight": np.zeros_like(bias), "ln_f.bias": bias})
    monkeypatch.setattr(command, "Training", Escapes)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    said = run(capsys, text, "--out", out, "--steps", 1)[1]
    assert "it writes: The \\x1b\\x1b" in said and "\x1b" not in said


def test_the_time_left_and_the_mean_of_the_last_losses(text, out, monkeypatch):
    told, now = [], [0.0]

    class Slow(training.Training):
        losses = []

        def advance(self):
            now[0] += 2
            self.losses.append(float(len(self.losses)))
    monkeypatch.setattr(command, "Training", Slow)
    monkeypatch.setattr(command, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    command.train(BOOK[:3000], out, steps=60, tell=lambda *what: told.append(what))
    assert told[0] == (0, 60, None, None)
    assert told[1:] == [(t, 60, np.mean(range(max(0, t - 50), t)), 2 * (60 - t))
                        for t in range(1, 61)]


# wrong input

def nothing_is_computed(monkeypatch):
    def computed(*_, **__):
        raise AssertionError("a training began")
    monkeypatch.setattr(command, "Training", computed)


WRONG = [
    (["{text}"], "--out"), (["--out", "{out}"], "TEXT"),
    (["{text}", "--steps", "0"], "steps must be a whole number from 1 to 10000000, got 0"),
    (["{text}", "--steps", "-5"], "got -5"), (["{text}", "--steps", "1.5"], "1.5"),
    (["{text}", "--steps", "10000001"], "got 10000001"),
    (["{text}", "--seconds", "0"], "seconds must be above 0 and at most 86400, got 0.0"),
    (["{text}", "--seconds", "-1"], "got -1.0"), (["{text}", "--seconds", "nan"], "got nan"),
    (["{text}", "--seconds", "inf"], "got inf"), (["{text}", "--seconds", "soon"], "'soon'"),
    (["{text}", "--steps", "5", "--seconds", "5"], "give --seconds or --steps"),
    (["{text}", "--seed", "-1"], "seed must be a whole number of at least 0, got -1"),
    (["{text}", "--tokens", "255"], "tokens must be a whole number from 256 to 50256, got 255"),
    (["{text}", "--tokens", "50257"], "got 50257"),
    (["{text}", "--json"], "--json"), (["{text}", "--model", "gpt2"], "--model"),
    (["no/such/file"], "no/such/file"), (["{folder}"], "is a folder, not a text file"),
    (["a" * 5000], "too long"), ([""], "No such file"),
]


@pytest.mark.parametrize("words, named", WRONG, ids=[ascii(" ".join(w)[:50]) for w, _ in WRONG])
def test_wrong_input_is_one_sentence(words, named, capsys, text, out, tmp_path, monkeypatch):
    nothing_is_computed(monkeypatch)
    words = [word.format(text=text, out=out, folder=tmp_path) for word in words]
    end = [] if words[0] == "--out" or named == "--out" else ["--out", out]
    status, said, err = run(capsys, *words, *end)
    assert (status, said) == (2, "") and one_sentence(err) and named in err, err
    assert there(tmp_path) == ["text.txt"]


TEXTS = [
    (b"", "at least 144 tokens"), (b"\n", "got 0"), (codecs.BOM_UTF8, "got 0"),
    (b"a" * 143, "at least 144 tokens, a page of 129 in its first nine tenths; got 143"),
    (b"a" * 500 + b"\xe9", "UTF-8, got byte 0xe9 at place 500"), (b"a" * 500 + b"\xc3", "UTF-8"),
    (LE + b"a\0b", "UTF-16-LE, got byte 0x62 at place 2"),
    (b"a" * (LONGEST_TEXT + 1), "at most 10000000 bytes")]


@pytest.mark.parametrize("data, named", TEXTS, ids=[ascii(data[:10]) for data, _ in TEXTS])
@pytest.mark.parametrize("way", ["file", "standard input"])
def test_what_is_no_text_to_train_on(way, data, named, capsys, text, out, tmp_path, monkeypatch):
    nothing_is_computed(monkeypatch)
    text.write_bytes(data)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    status, said, err = run(capsys, text if way == "file" else "-", "--out", out, "--steps", 1)
    assert (status, said) == (2, "") and one_sentence(err) and named in err, err
    assert there(tmp_path) == ["text.txt"]


def test_no_more_is_read_than_can_be_trained_on(capsys, out, monkeypatch):
    """Or a stream without end would fill the memory."""
    data = io.BytesIO(b"a" * 3 * LONGEST_TEXT)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=data))
    assert run(capsys, "-", "--out", out)[0] == 2 and data.tell() == LONGEST_TEXT + 1


def test_standard_input_that_is_closed(capsys, out, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    status, said, err = run(capsys, "-", "--out", out)
    assert (status, said) == (2, "") and "standard input is closed" in err


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "x.safetensors",
                                  "model.safetensors.index.json"])
def test_a_folder_with_a_model_is_left_alone(name, capsys, text, out, monkeypatch):
    nothing_is_computed(monkeypatch)
    out.mkdir(parents=True)
    (out / name).write_text("mine")
    status, said, err = run(capsys, text, "--out", out, "--steps", 1)
    assert (status, said) == (2, "") and one_sentence(err)
    assert f"holds a model already ({name})" in err
    assert there(out) == [name] and (out / name).read_text() == "mine"


@pytest.mark.parametrize("make, named", [
    (lambda path: path.parent.mkdir() or path.write_text("mine"), "is a file, not a folder"),
    (lambda path: path.parent.write_text("mine"), "new")], ids=["a file", "in a file"])
def test_a_file_where_the_folder_should_be(make, named, capsys, text, out, tmp_path, monkeypatch):
    nothing_is_computed(monkeypatch)
    make(out)
    before = sorted(tmp_path.rglob("*"))
    status, said, err = run(capsys, text, "--out", out, "--steps", 1)
    assert (status, said) == (2, "") and one_sentence(err) and named in err, err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_that_leads_nowhere_is_not_followed(capsys, text, tmp_path):
    (tmp_path / "x").symlink_to(tmp_path / "elsewhere")
    status, _, err = run(capsys, text, "--out", tmp_path / "x", "--steps", 1)
    assert status == 2 and one_sentence(err) and "not a folder" in err
    assert not (tmp_path / "elsewhere").exists()


def test_a_name_that_no_folder_can_have(capsys, text, out, tmp_path, monkeypatch):
    """What was made on the way to it goes again."""
    nothing_is_computed(monkeypatch)
    status, said, err = run(capsys, text, "--out", out / ("a" * 300), "--steps", 1)
    assert (status, said) == (2, "") and one_sentence(err)
    assert there(tmp_path) == ["text.txt"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("inside", ["", "x"])
def test_read_only_folder(inside, capsys, text, tmp_path, monkeypatch):
    nothing_is_computed(monkeypatch)
    folder = tmp_path / "locked"
    folder.mkdir(0o500)
    status, said, err = run(capsys, text, "--out", folder / inside, "--steps", 1)
    assert (status, said) == (2, "") and one_sentence(err) and "ermission" in err


def test_a_folder_that_takes_no_file_says_so_at_once(capsys, text, out, tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")
    nothing_is_computed(monkeypatch)
    monkeypatch.setattr("gpt2lab.train.Path.write_bytes", refused)
    status, said, err = run(capsys, text, "--out", out, "--steps", 1)
    assert (status, said) == (2, "") and one_sentence(err) and "Permission denied" in err
    assert there(tmp_path) == ["text.txt"]


@pytest.mark.parametrize("good", [0, 2])
def test_a_disk_that_is_full_leaves_what_was_saved(good, capsys, text, out, monkeypatch):
    calls = []

    def full(model, folder):
        calls.append(model)
        if len(calls) > good:
            raise OSError(28, "No space left on device")
        training.save(model, folder)
    monkeypatch.setattr(command, "save", full)
    status, _, err = run(capsys, text, "--out", out, "--steps", 20)
    assert status == 2 and one_sentence(err) and "No space left" in err
    if good:
        assert there(out) == FILES
        same_weights(gpt2lab.load(out), calls[good - 1])
    else:
        assert not out.parent.exists()


# interrupted

def same_weights(model, other):
    for name, array in other.weights.items():
        np.testing.assert_array_equal(model.weights[name], array)


def interrupted_at(monkeypatch, call):
    """The call of this number of Training.advance is interrupted."""
    calls, advance = [], training.Training.advance

    def stopped(self):
        calls.append(self)
        if len(calls) == call:
            raise KeyboardInterrupt
        advance(self)
    monkeypatch.setattr(training.Training, "advance", stopped)


@pytest.mark.parametrize("words, call, named", [
    (["--seconds", "5"], 3, "before the first step: nothing was saved"),
    (["--steps", "30"], 1, "at step 1 of 30: nothing was saved"),
    (["--steps", "30"], 3, "at step 3 of 30: nothing was saved")])
def test_interrupted_before_anything_is_saved(words, call, named, capsys, text, out, monkeypatch):
    interrupted_at(monkeypatch, call)
    status, said, err = run(capsys, text, "--out", out, *words)
    assert (status, said, err) == (130, "", f"gpt2lab: interrupted {named}\n")
    assert not out.parent.exists()


def test_interrupted_later(capsys, text, out, tmp_path, monkeypatch):
    """What is there is what a training has after the last tenth that it reached."""
    interrupted_at(monkeypatch, 11)
    status, said, err = run(capsys, text, "--out", out, "--steps", 30)
    assert (status, said) == (130, "") and there(out) == FILES
    assert err == f"gpt2lab: interrupted at step 11 of 30: {out} holds step 9\n"
    monkeypatch.undo()
    ids = gpt2lab.checkpoint.tokenizer(256).encode(BOOK[:2700])
    wanted = training.Training(training.small_config(), training.pages_of(ids, 128), 30)
    for _ in range(9):
        wanted.advance()
    same_weights(gpt2lab.load(out), wanted.model)
    assert gpt2lab.load(out).generate("The ", max_new_tokens=5, seed=1)


@pytest.mark.parametrize("steps, wanted", [
    (30, range(3, 31, 3)), (4, range(1, 5)), (15, [2, 3, 5, 6, 8, 9, 11, 12, 14, 15])])
def test_it_is_saved_ten_times(steps, wanted, text, out, monkeypatch):
    told, saved = [], []
    monkeypatch.setattr(command, "save", lambda model, folder: saved.append(len(told)))
    command.train(BOOK[:3000], out, steps=steps, tell=lambda step, *_: told.append(step))
    assert told == list(range(steps + 1)) and saved == list(wanted)


@pytest.fixture
def ctrl_c():
    """Ctrl-C as a command has it, wherever the tests run."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)


def test_interrupted_while_it_saves(capsys, text, out, monkeypatch, ctrl_c):
    """Between the two files of the first state: both come, and the sentence knows of them."""
    replace = os.replace

    def interrupting(*paths):
        replace(*paths)
        ctrl_c()
    monkeypatch.setattr("gpt2lab.training.os.replace", interrupting)
    status, _, err = run(capsys, text, "--out", out, "--steps", 30)
    assert status == 130 and err == f"gpt2lab: interrupted at step 3 of 30: {out} holds step 3\n"
    assert there(out) == FILES and gpt2lab.load(out).config.n_layer == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_means_something_else_is_left_alone(text, out, ctrl_c):
    came = []
    signal.signal(signal.SIGINT, lambda *_: came.append(True))
    ours = signal.getsignal(signal.SIGINT)
    with command._interrupted_later():
        ctrl_c()
        assert came == [True]
    assert signal.getsignal(signal.SIGINT) is ours


def test_interrupted_after_the_last_step(capsys, text, out, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt
    monkeypatch.setattr(command, "held_out_loss", stopped)
    status, _, err = run(capsys, text, "--out", out, "--steps", 3)
    assert status == 130 and there(out) == FILES
    assert err.endswith(f"gpt2lab: interrupted at step 3 of 3: {out} holds step 3\n")


def test_a_terminals_line_ends_before_the_sentence(capsys, text, out, monkeypatch):
    ticking(monkeypatch)
    interrupted_at(monkeypatch, 3)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    err = run(capsys, text, "--out", out, "--steps", 30)[2]
    assert re.search(r"\rstep 2 of 30 [^\n\r]*\ngpt2lab: interrupted [^\n]*\n$", err)


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no Ctrl-C to one process")
@pytest.mark.parametrize("steps, wait_for, saved", [(400, "model/model.safetensors", True),
                                                    (1_000_000, "model", False)])
def test_a_real_ctrl_c(steps, wait_for, saved, text, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "gpt2lab", "train", str(text), "--out", "model", "--steps",
         str(steps)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))     # even under nohup
    end = time.monotonic() + 60
    while not (tmp_path / wait_for).exists() and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said, err = process.communicate(timeout=60)
    last = err.split("\n")[-2]
    assert (process.returncode, said) == (130, ""), err
    if saved:
        step, held = re.fullmatch(r"gpt2lab: interrupted at step (\d+) of 400: model holds step "
                                  r"(\d+)", last).groups()
        assert int(held) == int(step) // 40 * 40 >= 40 and there(tmp_path / "model") == FILES
        assert gpt2lab.load(tmp_path / "model").generate("The ", max_new_tokens=5, seed=1)
    else:
        assert re.fullmatch(r"gpt2lab: interrupted (at step \d+ of 1000000|before the first step): "
                            "nothing was saved", last)
        assert there(tmp_path) == ["text.txt"]


# streams

@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes them")
@pytest.mark.parametrize("stderr", ["2>&-", "2</dev/null", "2>/dev/full"])
def test_progress_that_nobody_takes_stops_nothing(stderr, text, out):
    if "full" in stderr and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    line = (f"{shlex.quote(sys.executable)} -m gpt2lab train {shlex.quote(str(text))} --out "
            f"{shlex.quote(str(out))} --steps 2 {stderr}")
    done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, timeout=60)
    assert done.returncode == 0 and b"it writes: The " in done.stdout and there(out) == FILES
