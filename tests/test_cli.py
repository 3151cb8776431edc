"""The command line: results on stdout, or one sentence on stderr and status 2."""
import codecs
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpt2lab
from gpt2lab.bpe import BPE
from gpt2lab.checkpoint import BUNDLED, DATA
from gpt2lab.cli import main
from inputs import in_an_ascii_folder
from recipes import A, write_checkpoint

ROOT = Path(__file__).resolve().parents[1]
PROMPT = "Once upon a time"
OWN = BPE.from_files(DATA / "gpt2-vocab" / "vocab.bpe", DATA / "gpt2-vocab" / "encoder.json")


def run(capsys, *words):
    """(status, stdout, stderr) of one command, in this process."""
    status = main(list(words))
    out, err = capsys.readouterr()
    return status, out, err


def process(*words, **settings):
    """The same in a process of its own."""
    return subprocess.run([sys.executable, "-m", "gpt2lab", *words], cwd=ROOT,
                          capture_output=True, timeout=60, **settings)


def shell(line, **settings):
    """The same through a POSIX shell; "gpt2lab" in the line stands for the command."""
    command = f"{shlex.quote(sys.executable)} -m gpt2lab"
    return subprocess.run(line.replace("gpt2lab", command), shell=True, cwd=ROOT,
                          capture_output=True, timeout=60, **settings)


def one_sentence(err):
    """stderr is one line of ours, and no traceback."""
    return err.startswith("gpt2lab: ") and err.count("\n") == 1 and err.endswith("\n")


# results

def test_generate_greedy_is_the_reference_text(capsys):
    stored = np.load(BUNDLED / "reference.npz")
    model = gpt2lab.load()
    for name in ("sentence", "emoji", "code"):
        prompt = model.tokenizer.decode(stored[f"{name}/ids"])
        wanted = model.tokenizer.decode(stored[f"{name}/greedy"])
        status, out, err = run(capsys, "generate", prompt, "--greedy", "--max-new-tokens",
                               str(len(stored[f"{name}/greedy"])))
        assert (status, err) == (0, "") and out.startswith(prompt)
        assert out.removesuffix("\n") in (prompt + wanted,
                                          prompt + wanted.split("<|endoftext|>")[0])


def test_generate_is_repeatable_and_is_the_librarys(capsys):
    words = ["generate", PROMPT, "--max-new-tokens", "8", "--temperature", "0.8", "--top-k", "40",
             "--top-p", "0.9", "--min-p", "0.01", "--seed", "0"]
    first, second = run(capsys, *words)[1], run(capsys, *words)[1]
    assert first == second == PROMPT + gpt2lab.load().generate(
        PROMPT, max_new_tokens=8, temperature=0.8, top_k=40, top_p=0.9, min_p=0.01, seed=0) + "\n"


def test_generate_nothing(capsys):
    assert run(capsys, "generate", PROMPT, "--max-new-tokens", "0") == (0, PROMPT + "\n", "")


def test_logits(capsys):
    status, out, err = run(capsys, "logits", PROMPT, "--top", "3", "--json")
    result, model = json.loads(out), gpt2lab.load()
    logits = model(result["ids"])[-1]
    assert (status, err) == (0, "") and result["ids"] == model.tokenizer.encode(PROMPT)
    assert [row["id"] for row in result["top"]] == list(np.argsort(-logits)[:3])
    np.testing.assert_allclose([row["logit"] for row in result["top"]],
                               np.sort(logits)[::-1][:3], atol=1e-4)
    assert run(capsys, "logits", PROMPT)[1].count("\n") == 6


def test_tokens(capsys):
    status, out, _ = run(capsys, "tokens", "i want to sleep!!", "--json")
    result = json.loads(out)
    assert status == 0 and result["agree"]
    assert result["ids"] == result["tiktoken_ids"] == [72, 765, 284, 3993, 3228]
    assert result["tokens"][1] == {"id": 765, "text": " want", "bytes": "20 77 61 6e 74"}
    _, out, _ = run(capsys, "tokens", "a\n<b>\x00")
    assert '"\\n"' in out and "\\x00" in out and "\x00" not in out
    assert json.loads(run(capsys, "tokens", "", "--json")[1])["ids"] == []
    assert run(capsys, "tokens", "Hi")[1].endswith("1 tokens; tiktoken says the same\n")


def test_tokens_without_tiktoken_compares_nothing(capsys, monkeypatch):
    monkeypatch.setattr("gpt2lab.cli.tokenizer", lambda: OWN)
    status, out, err = run(capsys, "tokens", "Hi there", "--json")
    result = json.loads(out)
    assert (status, err) == (0, "") and result["ids"] == [17250, 612]
    assert result["tiktoken_ids"] is result["agree"] is None
    status, out, _ = run(capsys, "tokens", "Hi there")
    assert status == 0 and "2 tokens; tiktoken is not installed, so nothing is compared\n" in out


def test_tokens_says_where_the_two_differ(capsys, monkeypatch):
    wrong = SimpleNamespace(encode=lambda text: [1, 2])
    monkeypatch.setattr("gpt2lab.cli.tokenizer", lambda: wrong)
    status, out, _ = run(capsys, "tokens", "Hi there")
    assert status == 1 and out.endswith("tiktoken says otherwise: [1, 2]\n")


def test_inspect(capsys):
    result = json.loads(run(capsys, "inspect", "gpt2-tiny", "--json")[1])
    assert result["parameters"] == 7_259_008 and len(result["tensors"]) == 52
    assert sum(row["share"] for row in result["tensors"]) == pytest.approx(1, abs=1e-4)
    table = next(row for row in result["tensors"] if row["name"].endswith("wte.weight"))
    assert (table["dtype"], table["shape"]) == ("F32", [50257, 128])
    assert table["bytes"] == 50257 * 128 * 4
    file = str(ROOT / "data/gpt2-tiny/model.safetensors")
    assert "7,259,008 numbers" in run(capsys, "inspect", file)[1]


def test_trace(capsys, tmp_path):
    status, out, _ = run(capsys, "trace", "Hello there", "--out", str(tmp_path / "new"))
    trace = gpt2lab.load().trace(gpt2lab.load().tokenizer.encode("Hello there"))
    assert status == 0 and {p.stem for p in (tmp_path / "new").iterdir()} == set(trace)
    for name, array in trace.items():
        np.testing.assert_array_equal(np.load(tmp_path / "new" / f"{name}.npy"), array)


def test_validate_against_stored_values(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "transformers", None)
    status, out, _ = run(capsys, "validate", "--json")
    rows = json.loads(out)
    assert status == 0 and len(rows) >= 8 and all(row["ok"] for row in rows)
    from gpt2lab import validate
    model = gpt2lab.load()
    other = gpt2lab.Ops(gelu=lambda x: np.maximum(x, 0))
    monkeypatch.setattr(validate, "load", lambda source: gpt2lab.load(source, ops=other))
    assert run(capsys, "validate")[0] == 1 and model is not None


def test_bench(capsys):
    result = json.loads(run(capsys, "bench", "--tokens", "4", "--json")[1])
    assert result["new_tokens"] == 4 and result["tokens_per_second"] > 1
    shares = [value for key, value in result.items()
              if key.startswith("share_of_") and key != "share_of_bandwidth"]
    assert 0.3 < sum(shares) <= 1.0001
    growth = {key: value for key, value in result.items()
              if key.startswith("time_per_token_after_")}
    assert list(growth) == [f"time_per_token_after_{n}_tokens" for n in (32, 64, 128, 255)]
    assert min(growth.values()) > 0


# wrong input

WRONG = [
    ([], "COMMAND"), (["sing"], "invalid choice: 'sing'"), (["generate"], "PROMPT"),
    (["generate", ""], "prompt is empty"), (["logits", ""], "prompt is empty"),
    (["generate", PROMPT, "--temperature", "abc"], "'abc'"),
    (["generate", PROMPT, "--temperature", "-1"], "temperature"),
    (["generate", PROMPT, "--temperature", "nan"], "temperature"),
    (["generate", PROMPT, "--top-k", "0"], "top_k"),
    (["generate", PROMPT, "--top-p", "1.5"], "top_p"),
    (["generate", PROMPT, "--min-p", "-0.1"], "min_p"),
    (["generate", PROMPT, "--max-new-tokens", "-1"], "max_new_tokens"),
    (["generate", PROMPT, "--seed", "-1"], "seed"),
    (["generate", PROMPT, "--seed", "1.5"], "1.5"), (["generate", PROMPT, "--nope"], "--nope"),
    (["generate", PROMPT, "more"], "more"), (["generate", "word " * 300], "256"),
    (["generate", PROMPT, "--model", "no/such/folder"], "no/such/folder"),
    (["generate", PROMPT, "--model", "README.md"], "README.md"),
    (["generate", PROMPT, "--model", "tests"], "config.json"),
    (["generate", PROMPT, "--model", "~nobody-here/x"], "~nobody-here/x"),
    (["generate", PROMPT, "--model", "~nobody-here"], "~nobody-here"),
    (["generate", PROMPT, "--model", "a" * 5000], "too long"),
    (["generate", PROMPT, "--model", "\udcff"], "no such folder"),
    (["generate", PROMPT, "--model", "a\0b"], "no such folder"),
    (["generate", PROMPT, "--model", ""], "config.json"),
    (["generate", PROMPT, "--model", "./gpt2-tiny"], "./gpt2-tiny"),
    (["generate", "a\ud800"], "surrogate"), (["generate", "caf\udce9"], "0xe9 at place 3"),
    (["logits", PROMPT, "--top", "0"], "--top"), (["logits", PROMPT, "--top", "60000"], "50257"),
    (["inspect", "nothing.safetensors"], "nothing.safetensors"),
    (["inspect", "~nobody-here/x.safetensors"], "~nobody-here"),
    (["inspect", "a" * 5000 + ".safetensors"], "too long"),
    (["inspect", "README.md"], "README.md"), (["trace", PROMPT], "--out"),
    (["trace", PROMPT, "--out", "README.md/x"], "README.md"),
    (["bench", "--tokens", "1"], "--tokens"), (["bench", "--tokens", "256"], "--tokens"),
    (["validate", "--model", "no/such/folder"], "no/such/folder"),
    (["lessons"], "FOLDER"), (["lessons", "README.md"], "README.md is a file"),
    (["lessons", "README.md/x"], "README.md"), (["lessons", "a" * 5000], "too long"),
]


@pytest.mark.parametrize("words, named", WRONG, ids=[ascii(" ".join(w)[:50]) for w, _ in WRONG])
def test_wrong_input_is_one_sentence_and_status_2(words, named, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    status, out, err = run(capsys, *words)
    assert status == 2 and out == ""
    assert one_sentence(err) and named in err, err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("words", [("trace", PROMPT, "--out"), ("lessons",)], ids=lambda w: w[0])
def test_read_only_folder(words, capsys, tmp_path):
    tmp_path.chmod(0o500)
    status, _, err = run(capsys, *words, str(tmp_path / "x"))
    assert status == 2 and one_sentence(err)


def test_a_disk_that_is_full_while_files_are_written(capsys, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr("gpt2lab.cli.np.save", full)
    status, out, err = run(capsys, "trace", PROMPT, "--out", str(tmp_path))
    assert (status, out) == (2, "") and one_sentence(err) and "No space" in err


def test_a_hub_name_without_the_hubs_client(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    status, _, err = run(capsys, "logits", PROMPT, "--model", "gpt2")
    assert status == 2 and one_sentence(err) and "pip install huggingface_hub" in err


def test_a_tilde_is_the_home_folder_even_where_the_shell_leaves_it(capsys, tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert run(capsys, "trace", "Hi", "--out", "~/arrays")[0] == 0
    assert (tmp_path / "arrays" / "logits.npy").is_file()
    shutil.copytree(BUNDLED, tmp_path / "model", ignore=shutil.ignore_patterns("train"))
    for words in (["logits", "Hi", "--model", "~/model"], ["inspect", "~/model/model.safetensors"]):
        assert run(capsys, *words)[::2] == (0, "")


def test_a_folder_of_the_bundled_models_name_is_not_it(capsys, tmp_path, monkeypatch):
    wanted = run(capsys, "logits", "Hi")
    write_checkpoint(tmp_path / "gpt2-tiny", A)
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "logits", "Hi") == wanted
    assert run(capsys, "logits", "Hi", "--model", "gpt2-tiny") == wanted
    monkeypatch.setenv("GPT2LAB_MODEL", "gpt2-tiny")
    assert run(capsys, "logits", "Hi") == wanted
    assert gpt2lab.load("gpt2-tiny").config.n_layer == 4
    for folder in ("./gpt2-tiny", "gpt2-tiny/", Path("gpt2-tiny"), tmp_path / "gpt2-tiny"):
        assert gpt2lab.load(folder).config.n_layer == 2


# standard streams that are closed, full or the wrong way round

@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes them")
@pytest.mark.parametrize("line, named", [
    ("gpt2lab logits - <&-", "standard input is closed"),
    ("gpt2lab tokens - <&-", "standard input is closed"),
    ("gpt2lab logits - 0>/dev/null", "descriptor"),
    ("gpt2lab tokens hi >&-", "standard output is closed"),
    ("gpt2lab generate hi >&-", "standard output is closed"),
    ("gpt2lab validate --json >&-", "standard output is closed"),
    ("gpt2lab --help >&-", "standard output is closed"),
    ("gpt2lab tokens hi 1</dev/null", "descriptor"),
    ("gpt2lab --help 1</dev/null", "descriptor"),
    ("gpt2lab tokens - <&- >&-", "closed"),
])
def test_a_closed_stream_is_one_sentence_and_status_2(line, named):
    done = shell(line)
    assert (done.returncode, done.stdout) == (2, b""), done.stderr
    assert one_sentence(done.stderr.decode()) and named in done.stderr.decode(), done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes them")
def test_what_a_command_does_not_need_may_be_closed():
    for line in ("gpt2lab tokens hi <&-", "gpt2lab tokens hi 2>&-", "gpt2lab tokens hi <&- 2>&-"):
        done = shell(line)
        assert (done.returncode, done.stderr) == (0, b"") and b"tiktoken" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes them")
@pytest.mark.parametrize("stderr", ["2>&-", "2</dev/null", "2>/dev/full"])
def test_without_stderr_the_status_tells(stderr):
    """The sentence must not go to standard output instead."""
    if "full" in stderr and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = shell(f"gpt2lab logits '' {stderr}")
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", ["tokens hi", "generate hi", "inspect gpt2-tiny", "--help"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_standard_output(words, unbuffered):
    done = shell(f"gpt2lab {words} > /dev/full", env=dict(os.environ, PYTHONUNBUFFERED=unbuffered))
    assert done.returncode == 2 and one_sentence(done.stderr.decode()), done.stderr
    assert b"No space left" in done.stderr


# the terminal

@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_encoding_of_the_terminal(encoding):
    done = process("generate", "caf\u00e9 \u2015 \u4f60", "--greedy", "--max-new-tokens", "3",
                   env=dict(os.environ, PYTHONIOENCODING=encoding))
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.startswith(b"caf")


@in_an_ascii_folder
def test_without_a_locale():
    env = {k: v for k, v in os.environ.items() if not k.startswith("LC_") and k != "LANG"}
    done = process("tokens", "caf\u00e9", "--json", env=dict(env, LC_ALL="C", PYTHONUTF8="0"))
    assert done.returncode == 0 and json.loads(done.stdout)["ids"] == [66, 1878, 2634]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_closed_pipe_is_silent(unbuffered):
    words = ["generate", PROMPT, "--max-new-tokens", "200", "--seed", "1"]
    writer = subprocess.Popen([sys.executable, "-m", "gpt2lab", *words], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, PYTHONUNBUFFERED=unbuffered))
    assert writer.stdout.read(1) == b"O"
    writer.stdout.close()
    assert writer.stderr.read() == b"" and writer.wait(30) == 0


def test_ctrl_c_ends_without_a_traceback(capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt
    monkeypatch.setattr("gpt2lab.cli.load", interrupted)
    status, _, err = run(capsys, "generate", PROMPT)
    assert status == 130 and err == "\n"


# text from standard input

UTF8, LE, BE = codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
FROM_STDIN = [
    (b"Once upon\n", "Once upon"), (b"Once upon\r\n", "Once upon"), (b"Once upon", "Once upon"),
    (b"Once \n\n", "Once \n"), (b"Once\r\n\r\n", "Once\r\n"), (b"Once\n\r\n", "Once\n"),
    (b"Once\r", "Once\r"), (b"a\r\nb\n", "a\r\nb"), (b"\nOnce ", "\nOnce "), (b" \n", " "),
    (UTF8 + b"Once\r\n", "Once"), (UTF8 + UTF8 + b"Once", "\ufeffOnce"),
    (b"Once" + UTF8, "Once\ufeff"), ("caf\u00e9 \U0001f980\n".encode(), "caf\u00e9 \U0001f980"),
    (LE + "caf\u00e9 \U0001f980\r\n".encode("utf-16-le"), "caf\u00e9 \U0001f980"),
    (BE + "caf\u00e9 \U0001f980\n".encode("utf-16-be"), "caf\u00e9 \U0001f980"),
    (LE + "\ufeffOnce".encode("utf-16-le"), "\ufeffOnce"), (b"a\0b", "a\0b"),
]


@pytest.mark.parametrize("data, text", FROM_STDIN, ids=[ascii(data) for data, _ in FROM_STDIN])
@pytest.mark.parametrize("command", ["logits", "tokens"])
def test_text_from_standard_input(command, data, text, capsys, monkeypatch):
    """One byte order mark at the beginning and one newline at the end are dropped, no more."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    status, out, err = run(capsys, command, "-", "--json")
    assert (status, err) == (0, "") and json.loads(out)["ids"] == OWN.encode(text)


@pytest.mark.parametrize("data, named", [
    (b"caf\xe9\n", "UTF-8, got byte 0xe9 at place 3"), (b"caf\xc3", "UTF-8"),
    (b"\xed\xa0\x80", "UTF-8"),
    (LE + b"a\0b", "UTF-16-LE, got byte 0x62 at place 2"), (LE + b"\0\xd8a\0", "UTF-16-LE"),
    (BE + b"\xdc\0", "UTF-16-BE"), (UTF8 + b"\xff", "UTF-8"), (b"", "prompt is empty"),
    (b"\r\n", "prompt is empty"), (UTF8, "prompt is empty"), (LE, "prompt is empty")], ids=ascii)
def test_standard_input_that_is_no_text(data, named, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    status, out, err = run(capsys, "logits", "-")
    assert (status, out) == (2, "") and one_sentence(err) and named in err, err


# the name of the command

@pytest.mark.parametrize("first, name", [("/x/gpt2lab/__main__.py", "python -m gpt2lab"),
                                         ("/x/bin/gpt2lab", "gpt2lab"), ("gpt2lab.exe", "gpt2lab")])
def test_help_names_the_command_as_it_was_called(first, name, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [first])
    status, out, err = run(capsys, "--help")
    assert (status, err) == (0, "") and out.startswith(f"usage: {name} [-h] COMMAND")
    assert f"(see {name} generate --help)" in run(capsys, "generate")[2]
    assert "newline at its end dropped" in " ".join(run(capsys, "logits", "--help")[1].split())


def test_a_terminal_sees_no_control_characters(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b" not in run(capsys, "generate", "a\x1b[31m", "--max-new-tokens", "1")[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert run(capsys, "generate", "a\x1b[31m", "--max-new-tokens", "0")[1] == "a\x1b[31m\n"
