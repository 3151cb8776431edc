"""The data files are those that the cards describe."""
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

import gpt2lab

DATA = Path(__file__).resolve().parents[1] / "data"
CARDS = (DATA / "gpt2-tiny" / "README.md", DATA / "gpt2-vocab" / "SOURCES.md",
         DATA / "training-text" / "README.md")
LISTED = [(card.parent / name, digest) for card in CARDS for digest, name in
          re.findall(r"^([0-9a-f]{64})  (\S+)$", card.read_text(encoding="utf-8"), flags=re.M)]


@pytest.mark.parametrize("path, digest", LISTED, ids=[path.name for path, _ in LISTED])
def test_sha256(path, digest):
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest


def test_the_cards_list_six_files():
    assert len(LISTED) == 6


def test_sizes_of_the_card():
    model = gpt2lab.load()
    assert sum(array.size for array in model.weights.values()) == 7_259_008
    table = model.weights["wte.weight"]
    assert table.size == 6_432_896
    rows, counts = np.unique(table, axis=0, return_counts=True)
    assert counts.max() == 20_888 and len(rows) == 29_369 + 1
