"""The command line: results on stdout, or one sentence on stderr and status 2."""
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpt2lab
from gpt2lab.checkpoint import BUNDLED
from gpt2lab.cli import main

ROOT = Path(__file__).resolve().parents[1]
PROMPT = "Once upon a time"


def run(capsys, *words):
    """(status, stdout, stderr) of one command, in this process."""
    status = main(list(words))
    out, err = capsys.readouterr()
    return status, out, err


def process(*words, **settings):
    """The same in a process of its own."""
    return subprocess.run([sys.executable, "-m", "gpt2lab", *words], cwd=ROOT, capture_output=True, timeout=60, **settings)


# results

def test_generate_greedy_is_the_reference_text(capsys):
    stored = np.load(BUNDLED / "reference.npz")
    model = gpt2lab.load()
    for name in ("sentence", "emoji", "code"):
        prompt = model.tokenizer.decode(stored[f"{name}/ids"])
        wanted = model.tokenizer.decode(stored[f"{name}/greedy"])
        status, out, err = run(capsys, "generate", prompt, "--greedy", "--max-new-tokens", str(len(stored[f"{name}/greedy"])))
        assert (status, err) == (0, "") and out.startswith(prompt)
        assert out.removesuffix("\n") in (prompt + wanted, prompt + wanted.split("<|endoftext|>")[0])


def test_generate_is_repeatable_and_is_the_librarys(capsys):
    words = ["generate", PROMPT, "--max-new-tokens", "8", "--temperature", "0.8", "--top-k", "40", "--top-p", "0.9",
             "--min-p", "0.01", "--seed", "0"]
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
    np.testing.assert_allclose([row["logit"] for row in result["top"]], np.sort(logits)[::-1][:3], atol=1e-4)
    assert run(capsys, "logits", PROMPT)[1].count("\n") == 6


def test_tokens(capsys):
    status, out, _ = run(capsys, "tokens", "i want to sleep!!", "--json")
    result = json.loads(out)
    assert status == 0 and result["ids"] == result["tiktoken_ids"] == [72, 765, 284, 3993, 3228] and result["agree"]
    assert result["tokens"][1] == {"id": 765, "text": " want", "bytes": "20 77 61 6e 74"}
    _, out, _ = run(capsys, "tokens", "a\n<b>\x00")
    assert '"\\n"' in out and "\\x00" in out and "\x00" not in out
    assert json.loads(run(capsys, "tokens", "", "--json")[1])["ids"] == []


def test_inspect(capsys):
    result = json.loads(run(capsys, "inspect", "gpt2-tiny", "--json")[1])
    assert result["parameters"] == 7_259_008 and len(result["tensors"]) == 52
    assert sum(row["share"] for row in result["tensors"]) == pytest.approx(1, abs=1e-4)
    table = next(row for row in result["tensors"] if row["name"].endswith("wte.weight"))
    assert (table["dtype"], table["shape"], table["bytes"]) == ("F32", [50257, 128], 50257 * 128 * 4)
    assert "7,259,008 numbers" in run(capsys, "inspect", str(ROOT / "data/gpt2-tiny/model.safetensors"))[1]


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
    monkeypatch.setattr(validate, "load", lambda source: gpt2lab.load(ops=gpt2lab.Ops(gelu=lambda x: np.maximum(x, 0))))
    assert run(capsys, "validate")[0] == 1 and model is not None


def test_bench(capsys):
    result = json.loads(run(capsys, "bench", "--tokens", "4", "--json")[1])
    assert result["new_tokens"] == 4 and result["tokens_per_second"] > 1
    shares = [value for key, value in result.items() if key.startswith("share_of_") and key != "share_of_bandwidth"]
    assert 0.3 < sum(shares) <= 1.0001
    growth = {key: value for key, value in result.items() if key.startswith("time_per_token_after_")}
    assert list(growth) == [f"time_per_token_after_{n}_tokens" for n in (32, 64, 128, 255)] and min(growth.values()) > 0


# wrong input

WRONG = [
    ([], "COMMAND"), (["sing"], "invalid choice: 'sing'"), (["generate"], "PROMPT"),
    (["generate", ""], "prompt is empty"), (["logits", ""], "prompt is empty"),
    (["generate", PROMPT, "--temperature", "abc"], "'abc'"), (["generate", PROMPT, "--temperature", "-1"], "temperature"),
    (["generate", PROMPT, "--temperature", "nan"], "temperature"), (["generate", PROMPT, "--top-k", "0"], "top_k"),
    (["generate", PROMPT, "--top-p", "1.5"], "top_p"), (["generate", PROMPT, "--min-p", "-0.1"], "min_p"),
    (["generate", PROMPT, "--max-new-tokens", "-1"], "max_new_tokens"), (["generate", PROMPT, "--seed", "-1"], "seed"),
    (["generate", PROMPT, "--seed", "1.5"], "1.5"), (["generate", PROMPT, "--nope"], "--nope"),
    (["generate", PROMPT, "more"], "more"), (["generate", "word " * 300], "256"),
    (["generate", PROMPT, "--model", "no/such/folder"], "no/such/folder"),
    (["generate", PROMPT, "--model", "README.md"], "README.md"), (["generate", PROMPT, "--model", "tests"], "config.json"),
    (["generate", "a\ud800"], "surrogate"), (["logits", PROMPT, "--top", "0"], "--top"),
    (["logits", PROMPT, "--top", "60000"], "50257"), (["inspect", "nothing.safetensors"], "nothing.safetensors"),
    (["inspect", "README.md"], "README.md"), (["trace", PROMPT], "--out"), (["trace", PROMPT, "--out", "README.md/x"], "README.md"),
    (["bench", "--tokens", "1"], "--tokens"), (["bench", "--tokens", "256"], "--tokens"),
    (["validate", "--model", "no/such/folder"], "no/such/folder"),
]


@pytest.mark.parametrize("words, named", WRONG, ids=[" ".join(w)[:40].replace("\ud800", "?") for w, _ in WRONG])
def test_wrong_input_is_one_sentence_and_status_2(words, named, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    status, out, err = run(capsys, *words)
    assert status == 2 and out == ""
    assert err.startswith("gpt2lab: ") and err.count("\n") == 1 and err.endswith("\n") and named in err, err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="a folder that root cannot write to does not exist")
def test_read_only_folder(capsys, tmp_path):
    tmp_path.chmod(0o500)
    status, _, err = run(capsys, "trace", PROMPT, "--out", str(tmp_path / "x"))
    assert status == 2 and err.count("\n") == 1


# the terminal

@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_encoding_of_the_terminal(encoding):
    done = process("generate", "caf\u00e9 \u2015 \u4f60", "--greedy", "--max-new-tokens", "3",
                   env=dict(os.environ, PYTHONIOENCODING=encoding))
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.startswith(b"caf")


def test_without_a_locale():
    env = {k: v for k, v in os.environ.items() if not k.startswith("LC_") and k != "LANG"}
    done = process("tokens", "caf\u00e9", "--json", env=dict(env, LC_ALL="C", PYTHONUTF8="0"))
    assert done.returncode == 0 and json.loads(done.stdout)["ids"] == [66, 1878, 2634]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_closed_pipe_is_silent(unbuffered):
    writer = subprocess.Popen([sys.executable, "-m", "gpt2lab", "generate", PROMPT, "--max-new-tokens", "200", "--seed", "1"],
                              cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
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


@pytest.mark.parametrize("text, ids", [("Once upon a time\n", [7454, 2402, 257, 640]), ("Once upon a time\n\n", [7454, 2402, 257, 640, 198]),
                                       ("Once ", [7454, 220])])
def test_prompt_from_standard_input_loses_one_newline(text, ids, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert json.loads(run(capsys, "logits", "-", "--json")[1])["ids"] == ids


def test_prompt_from_standard_input_that_is_no_text(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe")))
    status, _, err = run(capsys, "logits", "-")
    assert status == 2 and err.count("\n") == 1


def test_a_terminal_sees_no_control_characters(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b" not in run(capsys, "generate", "a\x1b[31m", "--max-new-tokens", "1")[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert run(capsys, "generate", "a\x1b[31m", "--max-new-tokens", "0")[1] == "a\x1b[31m\n"
