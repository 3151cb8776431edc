"""The wheel, installed in fresh environments elsewhere, does what the checkout does.

Needs the package index. Lessons get the versions that requirements.txt names.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = "Scripts" if os.name == "nt" else "bin"
PROMPT = "Once upon a time"
COMMANDS = [("generate", PROMPT, "--greedy"), ("logits", PROMPT, "--json"),
            ("inspect", "gpt2-tiny"),
            ("generate", PROMPT, "--greedy", "--lookup", "4", "--max-new-tokens", "60")]
STREAM = """
import gpt2lab
model = gpt2lab.load()
pieces = list(model.stream("The \\u4f60 caf\\u00e9", max_new_tokens=30, temperature=0.9, seed=3))
print(ascii(pieces), model.tokenizer.encode("\\U0001f980 they'll"), type(model.tokenizer).__name__)
"""


def learner(folder):
    """Environment variables as a learner has them: none of ours, no checkout on the path."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "VIRTUAL_ENV") and not name.startswith("GPT2LAB_")}
    return kept | {"MPLCONFIGDIR": str(folder / "fonts")}


def run(folder, *words):
    """Standard output of a command in this folder. It must succeed, and say nothing on stderr."""
    done = subprocess.run([str(word) for word in words], cwd=folder, env=learner(folder),
                          capture_output=True, text=True, encoding="utf-8", timeout=900)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def pip(folder, environment, *words):
    """pip may warn of what it likes."""
    done = subprocess.run([environment / BIN / "python", "-m", "pip", "--disable-pip-version-check",
                           *words], cwd=folder, env=learner(folder), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def fresh(place):
    """An environment of its own, made by the running Python, in a folder with a space."""
    subprocess.run([sys.executable, "-m", "venv", place], check=True, env=learner(place.parent))
    return place


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    return tmp_path_factory.mktemp("my lab")


@pytest.fixture(scope="module")
def listed():
    """The files of the repository, as git knows them."""
    done = subprocess.run(["git", "-c", "core.quotePath=off", "ls-files"], cwd=ROOT,
                          capture_output=True, text=True, encoding="utf-8", check=True)
    return [name for name in done.stdout.split("\n") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def wheel(elsewhere, listed):
    """Built from a copy of the checkout in which a learner has worked."""
    copy = elsewhere / "my l\u00e4b #1"
    for name in listed:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    for name in ("my_ops/gelu.py", "my_ops/x.ipynb", ".ipynb_checkpoints/05-checkpoint.ipynb",
                 "bonus/my_ops/x.ipynb", "bonus/.ipynb_checkpoints/x.ipynb", "my_gpt2.py"):
        (copy / "notebooks" / name).parent.mkdir(exist_ok=True)
        (copy / "notebooks" / name).write_text("mine")
    environment = fresh(elsewhere / "build")
    pip(elsewhere, environment, "wheel", "--quiet", "--no-deps", "--wheel-dir", elsewhere, copy)
    (path,) = elsewhere.glob("gpt2lab-*.whl")
    return path


@pytest.fixture(scope="module")
def checkout():
    """What the commands print in the checkout."""
    return {words: run(ROOT, sys.executable, "-m", "gpt2lab", *words) for words in COMMANDS}


def test_the_wheel_carries_data_and_lessons_and_nothing_of_a_learner(wheel, listed):
    names = zipfile.ZipFile(wheel).namelist()
    print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB, {len(names)} files")
    wanted = {name for name in listed if name.startswith("gpt2lab/")}
    wanted |= {"gpt2lab/" + name for name in listed if name.startswith(("data/", "notebooks/"))}
    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert wheel.stat().st_size < 40 * 2**20


@pytest.fixture(scope="module")
def with_lessons(elsewhere, wheel):
    environment = fresh(elsewhere / "with lessons")
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("\n")
    pins = elsewhere / "pins.txt"
    pins.write_text("\n".join(line for line in lines if re.match(r"[\w.-]+==", line)))
    pip(elsewhere, environment, "install", "--quiet", "--constraint", pins,
        f"gpt2lab[learn] @ {wheel.as_uri()}", "pytest", "nbval")
    return environment


def test_the_commands_give_what_they_give_in_the_checkout(elsewhere, with_lessons, checkout):
    where = run(elsewhere, with_lessons / BIN / "python", "-c",
                "import gpt2lab; print(gpt2lab.__file__)")
    assert Path(where.strip()).is_relative_to(with_lessons)
    for words in COMMANDS:
        assert run(elsewhere, with_lessons / BIN / "gpt2lab", *words) == checkout[words]
    rows = json.loads(run(elsewhere, with_lessons / BIN / "gpt2lab", "validate", "--json"))
    assert len(rows) >= 8 and all(row["ok"] for row in rows)


def test_copied_lessons_run_strictly(elsewhere, with_lessons):
    """As the learner's own: no conftest.py stands beside them, nothing has been kept."""
    folder = elsewhere / "x"
    said = run(elsewhere, with_lessons / BIN / "gpt2lab", "lessons", "x")
    assert "Not installed" not in said
    for name in ("05_layernorm.ipynb", "00_start_here.ipynb"):
        assert (folder / name).read_bytes() == (ROOT / "notebooks" / name).read_bytes()
    before = sorted(path.relative_to(elsewhere) for path in folder.rglob("*"))
    said = run(elsewhere, with_lessons / BIN / "python", "-m", "pytest", "-p", "no:cacheprovider",
               "--nbval", "--nbval-current-env", "x/05_layernorm.ipynb", "x/00_start_here.ipynb")
    print(said.strip().split("\n")[-1])
    assert re.search(r"\d+ passed", said) and "failed" not in said
    assert sorted(path.relative_to(elsewhere) for path in folder.rglob("*")) == before
    if os.name != "nt":                         # and JupyterLab is there to open them
        assert run(elsewhere, with_lessons / BIN / "jupyter", "lab", "--version").strip()


@pytest.fixture(scope="module")
def bare(elsewhere, wheel):
    """NumPy and nothing else: no tiktoken, no huggingface_hub, nothing of the extra `learn`."""
    environment = fresh(elsewhere / "bare")
    pip(elsewhere, environment, "install", "--quiet", "numpy")
    pip(elsewhere, environment, "install", "--quiet", "--no-deps", wheel)
    listed = json.loads(pip(elsewhere, environment, "list", "--format", "json"))
    assert {row["name"] for row in listed} <= {"gpt2lab", "numpy", "pip", "setuptools"}
    return environment


def test_numpy_alone_is_enough(elsewhere, bare, checkout):
    for words in COMMANDS:
        assert run(elsewhere, bare / BIN / "gpt2lab", *words) == checkout[words]
    theirs = run(elsewhere, bare / BIN / "python", "-c", STREAM)
    ours = run(ROOT, sys.executable, "-c", STREAM)
    assert theirs.endswith(" BPE\n") and ours.endswith(" Tokenizer\n")
    assert theirs.removesuffix(" BPE\n") == ours.removesuffix(" Tokenizer\n")
    said = run(elsewhere, bare / BIN / "gpt2lab", "tokens", "Hello there")
    assert said.endswith("2 tokens; tiktoken is not installed, so nothing is compared\n")
    said = run(elsewhere, bare / BIN / "gpt2lab", "lessons", "y")
    assert 'pip install "gpt2lab[learn]"' in said and (elsewhere / "y/05_layernorm.ipynb").is_file()


def test_a_name_of_the_hub_without_its_client_is_one_sentence(elsewhere, bare):
    words = [bare / BIN / "gpt2lab", "logits", "Hi", "--model", "gpt2"]
    done = subprocess.run(words, cwd=elsewhere, env=learner(elsewhere), capture_output=True,
                          text=True)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "pip install huggingface_hub" in done.stderr
