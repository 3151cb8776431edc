"""A clone has the same bytes on every system, whatever git's core.autocrlf says there."""
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BYTE_EXACT = (".safetensors", ".npz", ".png", "encoder.json", "vocab.bpe")


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True,
                          encoding="utf-8", check=True).stdout


def tracked():
    """[(path, ends of line in the index, attributes)] of all files that git knows."""
    try:
        top = git("rev-parse", "--show-toplevel").strip()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"git does not know this folder: {error}")
    if Path(top).resolve() != ROOT:
        pytest.skip("this folder is no git checkout")
    files = []
    for line in git("ls-files", "-z", "--eol").split("\0")[:-1]:
        ends, path = line.split("\t")
        index, _, attributes = ends.split(maxsplit=2)
        files.append((path, index, attributes.removeprefix("attr/").split()))
    return files


def test_text_files_keep_their_ends_of_line():
    for path, index, attributes in tracked():
        if path.endswith(BYTE_EXACT):
            assert "-text" in attributes, f"{path}: .gitattributes must say -text"
        else:
            assert "eol=lf" in attributes and "-text" not in attributes, path
            assert index in ("i/lf", "i/none"), f"{path}: not \\n at each end of line, or not text"
