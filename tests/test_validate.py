"""What validate compares with where transformers is not installed, and that a wrong model fails."""
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import gpt2lab
from gpt2lab import validate
from gpt2lab.checkpoint import tokenizer
from gpt2lab.config import Config
from recipes import SIZES_124M, A, write_checkpoint

# as the sources say
ENCODED = {"The dog": [464, 3290], "i want to sleep!!": [72, 765, 284, 3993, 3228]}
THE_DOG = [373, 1043, 287, 257, 2214, 1474, 262, 16246, 286, 2688, 290, 2688, 27262, 13, 198, 198,
           464, 3290]
D_AND_L = {"gpt2": (768, 12), "gpt2-medium": (1024, 24), "gpt2-large": (1280, 36),
           "gpt2-xl": (1600, 48), "distilgpt2": (768, 6)}


def model_that_writes(text, parameters):
    """Stands for a model with this many parameters that goes on after each prompt as text says."""
    def generate(prompt, max_new_tokens, temperature, eos_token_id):
        assert temperature == 0 and eos_token_id is None and max_new_tokens > 0
        return text[prompt]
    weights = {"all": np.broadcast_to(np.float32(0), parameters)}
    return SimpleNamespace(weights=weights, generate=generate, config=Config.from_dict(A),
                           encode=tokenizer().encode)


@pytest.fixture(autouse=True)
def no_transformers(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "transformers", None)


def test_the_published_texts_encode_as_their_sources_say():
    rows = [row for rows in validate.GREEDY.values() for row in rows]
    assert len(rows) == 3 and validate.GREEDY.keys() <= validate.PARAMETERS.keys()
    for prompt, wanted, tokens, origin in rows:
        assert prompt and origin and len(tokenizer().encode(wanted)) <= (tokens or 40)
        assert tokenizer().encode(prompt) == ENCODED.get(prompt, tokenizer().encode(prompt))
    _, wanted, tokens, _ = validate.GREEDY["gpt2"][0]
    assert wanted == tokenizer().decode(THE_DOG) and tokenizer().encode(wanted) == THE_DOG
    assert tokens == len(THE_DOG)


@pytest.mark.parametrize("name", D_AND_L)
def test_the_published_sizes_are_those_of_the_shapes(name):
    D, L = D_AND_L[name]
    config = Config.from_dict(SIZES_124M | {"n_embd": D, "n_layer": L, "n_head": D // 64})
    assert sum(math.prod(shape) for _, shape in config.shapes()) == validate.PARAMETERS[name]


@pytest.mark.parametrize("name", validate.GREEDY)
def test_the_right_texts_pass_and_each_wrong_one_fails(name):
    right = {prompt: wanted for prompt, wanted, _, _ in validate.GREEDY[name]}
    count = validate.PARAMETERS[name]

    def verdicts(text, parameters):
        rows = validate._against_published(name, model_that_writes(text, parameters))
        return [row["ok"] for row in rows]
    assert all(verdicts(right, count))
    assert verdicts(right, count - 1) == [False] + [True] * len(right)
    for prompt, wanted in right.items():
        found = verdicts(right | {prompt: wanted[:-1] + "?"}, count)
        assert sum(found) == len(found) - 1


@pytest.mark.parametrize("name", validate.GREEDY)
def test_another_model_under_the_name_fails(name, tmp_path):
    folder = write_checkpoint(tmp_path / name, A | {"vocab_size": 50257, "n_positions": 64})
    rows = validate.validate(folder)
    assert len(rows) == 1 + len(validate.GREEDY[name]) and not any(row["ok"] for row in rows)


@pytest.mark.parametrize("name, part", [("gpt2-xl", "1,557,611,200"),
                                        ("something", "transformers")])
def test_where_nothing_is_published_nothing_is_said(name, part, tmp_path):
    with pytest.raises(ValueError, match=part):
        validate.validate(write_checkpoint(tmp_path / name))


@pytest.mark.parametrize("given", ["name", "owner/name", "variable", "folder", "folder/", "~", "."])
def test_the_name_is_the_one_that_was_given(given, tmp_path, monkeypatch):
    """Not that of the folder in the Hub's cache, which is a commit; "." is the folder's own."""
    cached = write_checkpoint(tmp_path / "cache" / "0f1e2d")
    folder = write_checkpoint(tmp_path / "gpt2-xl")
    monkeypatch.setattr(validate, "find", lambda source=None: cached)
    source = {"name": "gpt2-xl", "owner/name": "openai-community/gpt2-xl", "folder": folder,
              "folder/": f"{folder}/", "~": "~/gpt2-xl", ".": "."}.get(given)
    monkeypatch.chdir(folder if given == "." else tmp_path / "cache")
    monkeypatch.setenv("GPT2LAB_MODEL", "gpt2-xl" if given == "variable" else "some/other")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(ValueError, match="for gpt2-xl there are no stored values but its size"):
        validate.validate(source)


def test_the_variable_is_heeded(tmp_path, monkeypatch):
    folder = write_checkpoint(tmp_path / "gpt2", A | {"vocab_size": 50257, "n_positions": 64})
    monkeypatch.setenv("GPT2LAB_MODEL", str(folder))
    assert not any(row["ok"] for row in validate.validate())
    monkeypatch.delenv("GPT2LAB_MODEL")
    assert all(row["ok"] for row in validate.validate()) and gpt2lab.load().config.n_layer == 4
