"""The exported file with a checkpoint of GPT-2 124M's shape: pytest tests/slow/slow_export.py

The checkpoint is made by transformers, with random weights, as a fine-tuned model of the Hub is.
"""
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import gpt2lab
from gpt2lab.teach import export
from test_export import VOCABULARY, alone, loaded, next_logits_of, with_vocabulary

PROMPT = "The king and the queen saw a 🐕 near the door, and the boy asked them why."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model folder with my_gpt2.py in it: GPT-2's own 0.02 would leave all logits near 0."""
    torch.manual_seed(5)
    place = tmp_path_factory.mktemp("124m")
    GPT2LMHeadModel(GPT2Config(initializer_range=0.05)).save_pretrained(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPT2LAB_MY_OPS", str(place / "ops"))
        export(place / "my_gpt2.py")
    return with_vocabulary(place)


def test_logits_are_those_of_transformers_and_the_library(folder):
    model, file = gpt2lab.load(folder), str(folder / "my_gpt2.py")
    theirs = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").eval()
    for ids in (model.encode(PROMPT), np.random.default_rng(3).integers(0, 50257, 1024).tolist()):
        next_logits, N = next_logits_of(loaded(file), folder)
        got = next_logits(ids)
        with torch.no_grad():
            want = theirs(torch.tensor([ids])).logits[0, -1].numpy()
        assert N == 1024 and got.dtype == np.float32 and got.std() > 0.5
        np.testing.assert_allclose(got, want, atol=1e-4)
        np.testing.assert_allclose(got, model.next_logits(ids), atol=1e-4)


def test_it_writes_what_the_library_writes(folder, tmp_path):
    want = gpt2lab.load(folder).generate(PROMPT, max_new_tokens=24, temperature=0)
    begin = time.perf_counter()
    got = alone(PROMPT, "--temperature", 0, "--max-new-tokens", 24, file=str(folder / "my_gpt2.py"))
    print(f"24 tokens, with loading: {time.perf_counter() - begin:.1f} s")
    assert got == (0, f"{PROMPT}{want}\n", "")
    # from elsewhere, with OpenAI's names of the vocabulary beside the file
    for path in (folder / "my_gpt2.py", VOCABULARY / "vocab.bpe", VOCABULARY / "encoder.json"):
        shutil.copy(path, tmp_path)
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink()
    assert alone(PROMPT, "--temperature", 0, "--max-new-tokens", 24, "--model", folder,
                 file=str(Path(tmp_path, "my_gpt2.py"))) == got
