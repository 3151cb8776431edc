"""Lesson 03: what its pictures draw is what the tokenizers do; its table of merges is OpenAI's."""
import random
from pathlib import Path

import nbformat
import numpy as np
import pytest

import gpt2lab
from gpt2lab.bpe import BPE, byte_characters, piece_pattern
from gpt2lab.checkpoint import DATA
from gpt2lab.teach.exercises import bpe as known
from gpt2lab.teach.pictures import bpe as pictures
from drawing import drawn

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "03_bpe.ipynb"
FOLDER = DATA / "gpt2-vocab"
TEXTS = ["raspberry", "a", " ", "can't  stop", "🤗", "$$ x_1^2 $", "<b>&amp;</b>", "two\nlines\t", "naïve 你好", "z" * 24,
         "hob goblin", "\x00\x7f", "'Tomorrow'"]


@pytest.fixture(scope="module")
def bpe():
    return BPE.from_files(FOLDER / "vocab.bpe", FOLDER / "encoder.json")


@pytest.fixture(scope="module")
def ranks(bpe):
    return {(bpe.tokens[a], bpe.tokens[b]): rank for (a, b), (rank, _) in bpe.ranks.items()}


@pytest.fixture(scope="module")
def tokenizer():
    return gpt2lab.load().tokenizer


@pytest.mark.parametrize("text", TEXTS)
def test_player_draws_every_step_up_to_the_ids(bpe, tokenizer, ranks, text):
    size, total = len(text.encode("utf-8")), pictures.merging(bpe, text, 0)[3]
    for done in range(total + 2):
        parts, by_rank, cuts, _, coming = pictures.merging(bpe, text, done)
        assert b"".join(parts).decode("utf-8") == text and len(parts) == size - min(done, total)
        for place, (pair, rank) in enumerate(zip(zip(parts, parts[1:]), by_rank)):
            assert rank == (None if place in cuts else ranks.get(pair))
        assert (coming is None) == (done >= total)
        if coming is not None:
            after = pictures.merging(bpe, text, done + 1)[0]
            assert after == parts[:coming] + [parts[coming] + parts[coming + 1]] + parts[coming + 2:]
    for done in (0, total // 2, 23) if text in ("raspberry", "🤗") else (23,):
        fig = pictures.player(bpe, tokenizer, text, done)
        arrays = drawn(fig, render=done == 23 and text in ("raspberry", "🤗", "$$ x_1^2 $", "two\nlines\t"))
        parts = pictures.merging(bpe, text, done)[0]
        assert list(np.diff(arrays["parts"])) == list(map(len, parts))
        assert list(arrays["ids"]) == tokenizer.encode(text)
    assert [tokenizer.decode_bytes([i]) for i in tokenizer.encode(text)] == parts, "at the end stand tiktoken's tokens"
    assert fig.alt.endswith("tiktoken says the same.") and str(tokenizer.encode(text)[-1]) in fig.alt


@pytest.mark.parametrize("text", ["a", "<b>&amp;</b>", "naïve 你好"])
def test_byte_view_draws_bytes_and_ids(tokenizer, text):
    arrays = drawn(pictures.byte_view(tokenizer, text), render=text in ("a", "<b>&amp;</b>"))
    assert bytes(arrays["bytes"]) == text.encode("utf-8") and list(arrays["ids"]) == tokenizer.encode(text)


def test_staircase_and_byte_table(bpe):
    arrays = drawn(pictures.staircase(bpe, "raspberry"))
    assert list(arrays["ranks"]) == [rank for _, rank in bpe.merge_steps("raspberry")[1:]]
    assert list(arrays["ids"]) == bpe.encode("raspberry")
    moved = drawn(pictures.byte_table(), render=False)["moved"].ravel()
    assert all(moved[byte] == (ord(character) != byte) for byte, character in byte_characters().items())


def test_text_that_cannot_be_drawn_is_refused_with_a_sentence(bpe, tokenizer):
    for draw in (lambda text: pictures.player(bpe, tokenizer, text, 3), lambda text: pictures.byte_view(tokenizer, text),
                 lambda text: pictures.staircase(bpe, text)):
        with pytest.raises(ValueError, match="there is no text: type a word"):
            draw("")
        with pytest.raises(ValueError, match="this text has 25 bytes and the picture holds 24"):
            draw("z" * 25)
        with pytest.raises(ValueError, match="half a surrogate pair"):
            draw("\ud83e")
    with pytest.raises(ValueError, match="cut into several pieces"):
        pictures.staircase(bpe, "two words")


def test_labels_never_show_an_empty_box():
    assert pictures.label("é".encode()) == "é" and pictures.label(b" a") == "·a"
    assert pictures.label("🤗".encode()) == "U+1F917" and pictures.label(b" \xf0\x9f") == "·f09f"
    assert pictures.label(b"\n") == "\\n" and pictures.label(b"\xa4") == "a4"


def test_the_cases_use_openais_merges_and_ids(ranks, bpe):
    assert all(ranks[pair] == rank for pair, rank in known.RANKS.items())
    assert all(bpe.tokens[i] == token for token, i in known.IDS.items())
    for word in known.WORDS:                    # nothing is missing: these merges give GPT-2's tokens
        for piece in piece_pattern().findall(word):
            found = known.merge([bytes([byte]) for byte in piece.encode("utf-8")], known.RANKS)
            assert [known.IDS[part] for part in found] == bpe.encode(piece)


def test_id_is_rank_plus_256(bpe):
    assert all(merged == rank + 256 for rank, merged in bpe.ranks.values())


def test_right_answers_equal_tiktoken(ranks, bpe, tokenizer):
    ids, dice = {token: i for i, token in enumerate(bpe.tokens)}, random.Random(3)
    for _ in range(200):
        text = "".join(dice.choices(["the", " cat", "'s", " ", "\n", "12", "é", "🤗", "!", "tion", "龍", "Ab"], k=12))
        found = known.encode(text, piece_pattern(), known.merge, ranks, ids)
        assert found == tokenizer.encode(text) and known.decode(found, bpe.tokens) == text


def test_the_wrong_loop_of_the_notebook_is_the_known_mistake(ranks):
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and "def left_to_right(" in cell.source:
            space = {}
            exec(cell.source.split("\n\n")[0], space)
    for word in known.WORDS:
        parts = [bytes([byte]) for byte in word.encode("utf-8")]
        assert space["left_to_right"](parts, ranks) == known.left_to_right(parts, ranks)
