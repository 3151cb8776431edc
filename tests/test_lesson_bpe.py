"""Lesson 03: what its pictures draw is what the tokenizers do; its table of merges is OpenAI's."""
import random
from itertools import combinations
from pathlib import Path
from pydoc_data import topics

import matplotlib.colors
import nbformat
import numpy as np
import pytest

import gpt2lab
from drawing import drawn
from gpt2lab.bpe import BPE, piece_pattern
from gpt2lab.files import shipped
from gpt2lab.teach import play, plot
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import bpe as known
from gpt2lab.teach.pictures import bpe as pictures

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "03_bpe.ipynb"
FOLDER = shipped("data", "gpt2-vocab")
TEXTS = ["raspberry", "a", " ", "can't  stop", "🤗", "$$ x_1^2 $", "<b>&amp;</b>", "two\nlines\t",
         "naïve 你好", "z" * 30, "hob goblin", "\x00\x7f", "'Tomorrow'"]
RENDERED = ("raspberry", "🤗", "$$ x_1^2 $", "two\nlines\t")


@pytest.fixture(scope="module")
def bpe():
    return BPE.from_files(FOLDER / "vocab.bpe", FOLDER / "encoder.json")


@pytest.fixture(scope="module")
def ranks(bpe):
    return {(bpe.tokens[a], bpe.tokens[b]): rank for (a, b), (rank, _) in bpe.ranks.items()}


@pytest.fixture(scope="module")
def tokenizer():
    return gpt2lab.load().tokenizer


@pytest.fixture(scope="module")
def lesson():
    """The cells that draw, run: what they leave behind, what they show, the player's function.

    The book that comes with Python is left out.
    """
    space, shown = {}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topics, "topics", {})
        patch.setattr(plot, "show", shown.append)
        patch.setattr(play, "explore", lambda draw, **controls: space.update(explorer=draw))
        for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
            needed = ("import re\n", "plot.show(pictures.", "bpe = BPE.", "play.explore(", "check(",
                      "= yours(", "hand = ", "toy = {", "def left_to_right(")
            if cell.cell_type == "code" and any(part in cell.source for part in needed):
                exec(cell.source, space)
    return space, shown


def after(bpe, ranks, text, done):
    """A text after some merges."""
    pieces = [bpe.merge_steps(piece) for piece in piece_pattern().findall(text)]
    return known.merging(pieces, ranks, done)


@pytest.mark.parametrize("text", TEXTS)
def test_player_draws_every_step_up_to_the_ids(bpe, tokenizer, ranks, text, lesson):
    size, total = len(text.encode("utf-8")), after(bpe, ranks, text, 0).total
    for done in range(total + 2):
        state = after(bpe, ranks, text, done)
        parts, coming = state.parts, state.coming
        assert b"".join(parts).decode("utf-8") == text and state.done == min(done, total)
        assert len(parts) == size - state.done
        for place, (pair, rank) in enumerate(zip(zip(parts, parts[1:]), state.ranks)):
            assert rank == (None if place in state.cuts else ranks.get(pair))
        assert (coming is None) == (done >= total)
        if coming is not None:
            merged = parts[:coming] + [parts[coming] + parts[coming + 1]] + parts[coming + 2:]
            assert after(bpe, ranks, text, done + 1).parts == merged
    for done in (0, total // 2, 29) if text in ("raspberry", "🤗") else (29,):
        fig = lesson[0]["explorer"](text, done)
        arrays = drawn(fig, render=done == 29 and text in RENDERED)
        parts = after(bpe, ranks, text, done).parts
        assert list(np.diff(arrays["parts"])) == list(map(len, parts))
        assert list(arrays["ids"]) == (tokenizer.encode(text) if done >= total else [])
    tokens = [tokenizer.decode_bytes([i]) for i in tokenizer.encode(text)]
    assert tokens == parts, "at the end stand tiktoken's tokens"
    assert fig.alt.endswith("tiktoken says the same.")
    assert str(tokenizer.encode(text)[-1]) in fig.alt


@pytest.mark.parametrize("text", [*TEXTS, "", "banana", "aaaaaaa", "hippopotamus was was"])
def test_steps_of_a_merge_function_are_the_librarys(bpe, ranks, text):
    for piece in [text, *piece_pattern().findall(text)]:
        assert known.steps_of(known.merge, piece, ranks) == bpe.merge_steps(piece)
    nothing = known.steps_of(lambda parts, ranks: parts, text, ranks)
    assert nothing == [([bytes([byte]) for byte in text.encode("utf-8")], None)]


def test_pictures_follow_the_merge_of_the_learner(lesson, monkeypatch):
    monkeypatch.setitem(lesson[0], "merge", lambda parts, ranks: list(parts))
    fig = lesson[0]["explorer"]("raspberry", 3)
    assert list(drawn(fig, render=False)["parts"]) == list(range(10))
    assert "after 0 of 0 merges" in fig.alt and fig.alt.endswith("tiktoken says something else.")


def test_player_says_when_the_two_tokenizers_differ(bpe, ranks):
    state = after(bpe, ranks, "hi", 9)
    fig = pictures.player(state, [5303], [b"h", b"i"], [71, 72])
    assert fig.alt.endswith("the ids are 5303; tiktoken says something else.")


@pytest.mark.parametrize("text", ["a", "<b>&amp;</b>", "naïve 你好"])
def test_byte_view_draws_bytes_and_ids(tokenizer, text):
    ids = tokenizer.encode(text)
    fig = pictures.byte_view([tokenizer.decode_bytes([i]) for i in ids], ids)
    arrays = drawn(fig, render=text in ("a", "<b>&amp;</b>"))
    assert bytes(arrays["bytes"]) == text.encode("utf-8") and list(arrays["ids"]) == ids
    assert f"“{text}” has {len(text)} characters, {len(text.encode())} bytes" in fig.alt


def test_the_lessons_pictures(bpe, lesson):
    view, stairs = lesson[1]
    assert bytes(drawn(view)["bytes"]).decode() == "The café is open 🤗"
    arrays, steps = drawn(stairs), bpe.merge_steps("raspberry")
    assert list(arrays["ranks"]) == [rank for _, rank in steps[1:]]
    tokens = [bpe.decode_bytes([i]) for i in bpe.encode("raspberry")]
    assert list(np.diff(arrays["parts"])) == list(map(len, tokens))
    assert stairs.alt.endswith(f"ends as {' | '.join(token.decode() for token in tokens)}.")


def test_text_that_cannot_be_drawn_is_refused_with_a_sentence(bpe, tokenizer, lesson):
    def view(text):
        ids = tokenizer.encode(text)
        return pictures.byte_view([tokenizer.decode_bytes([i]) for i in ids], ids)

    def stairs(text):
        return pictures.staircase(bpe.merge_steps(text))
    for draw in (lambda text: lesson[0]["explorer"](text, 3), view, stairs):
        with pytest.raises(ValueError, match="there is no text: type a word"):
            draw("")
        with pytest.raises(ValueError, match="this text has 31 bytes and the picture holds 30"):
            draw("z" * 31)
        with pytest.raises(ValueError, match="half a surrogate pair"):
            draw("\ud83e")
    with pytest.raises(ValueError, match="this text has 200,000 bytes"):
        lesson[0]["explorer"]("z" * 200_000, 3)         # before anything is merged


def test_labels_never_show_an_empty_box():
    assert pictures.label("é".encode()) == "é" and pictures.label(b" a") == "·a"
    assert pictures.label("🤗".encode()) == "U+1F917" and pictures.label(b" \xf0\x9f") == "·f09f"
    assert pictures.label(b"\n") == "\\n" and pictures.label(b"\xa4") == "a4"


def test_the_cases_use_openais_merges_and_ids(ranks, bpe):
    assert all(ranks[pair] == rank for pair, rank in known.RANKS.items())
    assert all(bpe.tokens[i] == token for token, i in known.IDS.items())
    for word in known.WORDS:                    # nothing is missing: they give GPT-2's tokens
        for piece in piece_pattern().findall(word):
            found = known.merge([bytes([byte]) for byte in piece.encode("utf-8")], known.RANKS)
            assert [known.IDS[part] for part in found] == bpe.encode(piece)


def test_id_is_rank_plus_256(bpe):
    assert all(merged == rank + 256 for rank, merged in bpe.ranks.values())


def test_right_answers_equal_tiktoken(ranks, bpe, tokenizer):
    ids, dice = {token: i for i, token in enumerate(bpe.tokens)}, random.Random(3)
    bits = ["the", " cat", "'s", " ", "\n", "12", "é", "🤗", "!", "tion", "龍", "Ab"]
    for _ in range(200):
        text = "".join(dice.choices(bits, k=12))
        found = known.encode(text, piece_pattern(), known.merge, ranks, ids)
        assert found == tokenizer.encode(text) and known.decode(found, bpe.tokens) == text


def pieces_of(text):
    return [[bytes([byte]) for byte in piece.encode("utf-8")]
            for piece in piece_pattern().findall(text)]


def of_letters(dice, letters, most):
    return [dice.choice(letters).encode() for _ in range(dice.randint(1, most))]


def test_the_list_by_hand_is_the_toy_list(lesson):
    pieces = [list(map(bytes, zip(word.encode()))) for word in known.HAND.split()]
    assert lesson[0]["hand"] == known.HAND and lesson[0]["toy"] == known.TOY
    assert known.find_merges(pieces, 9, known.join) == sorted(known.TOY, key=known.TOY.get)
    rows = known.rounds(known.HAND)
    assert len(rows) == len(known.TOY) + 1
    assert rows[1] == ("b ug s  h ug  r ug s  h ug  m ug  h u t  j ug  h u m  h u b",
                       "h u 3, ug s 2, h ug 2")


def test_the_rule_leaves_what_finding_left():
    """And so does one walk down a list that was found, whatever the text."""
    dice, letters = random.Random(5), ("ab", "abc", "aabcd")
    texts = [pieces_of(known.KING), pieces_of("naïve naïve 你好 你好 🤗🤗🤗 aaaaaaa aaa")]
    texts += [[of_letters(dice, dice.choice(letters), 9) for _ in range(dice.randint(1, 6))]
              for _ in range(400)]
    for pieces in texts:
        found = known.find_merges(pieces, 40, known.join)
        ranks = {pair: rank for rank, pair in enumerate(found)}
        assert len(ranks) == len(found) == len({left + right for left, right in found})
        left = known.replay(pieces, found, known.join)
        assert [known.merge(parts, ranks) for parts in pieces] == left
        for parts in [*pieces, of_letters(dice, "abc", 12)]:
            assert known.down_the_list(parts, ranks) == known.merge(parts, ranks)


def test_one_walk_down_gpt2s_list_is_the_rule(ranks):
    """Its pairs stand below those that make their halves, and no token is made by two pairs."""
    made = {bytes([byte]) for byte in range(256)}
    for left, right in sorted(ranks, key=ranks.get):
        assert {left, right} <= made and left + right not in made
        made.add(left + right)
    books = [shipped("data", "held-out", "pride-and-prejudice-1.txt"),
             shipped("data", "training-text", "wizard-of-oz.txt")]
    for piece in {piece for book in books
                  for piece in piece_pattern().findall(book.read_text(encoding="utf-8"))}:
        data = piece.encode("utf-8")
        inside = {(data[i:j], data[j:k]) for i, j, k in combinations(range(len(data) + 1), 3)}
        few = {pair: ranks[pair] for pair in inside & ranks.keys()}
        parts = [bytes([byte]) for byte in data]
        assert known.down_the_list(parts, few) == known.merge(parts, ranks)


def test_the_longest_token_is_a_space_read_wrongly_seven_times(bpe):
    space = "\N{NO-BREAK SPACE}"
    for _ in range(7):
        space = space.encode("utf-8").decode("latin-1")
    assert "".join(filter(str.isalpha, space)).encode() == max(bpe.tokens, key=len)


def test_written_is_the_line_of_the_file(ranks):
    lines = (FOLDER / "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]
    assert list(map(known.written, sorted(ranks, key=ranks.get))) == lines


@pytest.mark.parametrize("text", [known.KING, known.KING * 9, "a", *TEXTS])
def test_the_growing_list_cuts_the_text(lesson, text):
    grow, find = lesson[0]["grow"], lesson[0]["find_merges"]
    found = find(pieces_of(text), 60, known.join)
    for done in (0, 6, 60):
        fig, now = grow(text, done), found[:done]
        arrays = drawn(fig, render=done == 6)
        parts = [part for piece in known.replay(pieces_of(text), now, known.join) for part in piece]
        assert list(np.diff(arrays["parts"])) == list(map(len, parts))
        assert arrays["found"] == len(now)
        assert f"{len(now)} of {len(found)} merges: {len(text.encode()):,} bytes" in fig.alt
    for done, words in ((6, "·king"), (12, "·king, ·saw, ·the")):
        assert grow(known.KING, done).alt.endswith(
            f"The first whole word came with merge 6: ·king. By now: {words}.")
    assert grow(known.KING, 5).alt.endswith("No whole word so far.")


def test_the_first_whole_word_is_the_one_merged_first():
    """Not the one that stands first in the text; more than six are counted, not named."""
    text = "then the the of of of and and was was had had for for but but all all you you"
    found = known.find_merges(pieces_of(text), 60, known.join)
    fig = pictures.growing(known.replay(pieces_of(text), found, known.join), found, len(found))
    first = next(i for i, (left, right) in enumerate(found) if left + right in (b" of", b" the"))
    word = pictures.label(found[first][0] + found[first][1])
    assert f"The first whole word came with merge {first + 1}: {word}. By now: " in fig.alt
    assert fig.alt.endswith(" more.") and fig.alt.count("·") == 7 and ".." not in fig.alt


@pytest.mark.parametrize("text, words", [("I have a cat. My cat is a fat cat.", "·a, ·cat."),
                                         ("a cat, 12 cats, 12 cats,, 12 cat,,", "·cat, ·cats.")])
def test_orange_is_a_word_and_the_caption_names_it(text, words):
    """A word of one letter counts, a number and a row of commas do not."""
    found = known.find_merges(pieces_of(text), 60, known.join)
    for done in range(len(found) + 1):
        fig = pictures.growing(known.replay(pieces_of(text), found[:done], known.join),
                               found[:done], len(found))
        drawn(fig, render=False)
        orange = tuple(matplotlib.colors.to_rgba(pictures.LIGHT[1]))
        seen = any(tuple(colour) == orange for bars in fig.axes[0].collections
                   for colour in bars.get_facecolor())
        assert seen == ("first whole word" in fig.alt) != ("No whole word" in fig.alt)
    assert fig.alt.endswith(f": ·cat. By now: {words}")


@pytest.mark.parametrize("text", [known.KING, known.KING * 3, "a", "z" * 71, "ab " * 30 + "y" * 150,
                                  "你好 " * 40])
def test_lines_of_the_growing_text_end_between_pieces(text):
    pieces = pieces_of(text)
    breaks = list(drawn(pictures.growing(pieces, [], 0), render=False)["breaks"])
    starts = np.cumsum([0, *map(len, pieces)])
    assert breaks[0] == 0 and breaks[-1] == starts[-1]
    assert all(0 < step <= 70 for step in np.diff(breaks))
    for place in breaks:
        if place not in starts:                     # inside a piece that is longer than a line
            i = np.searchsorted(starts, place) - 1
            assert len(pieces[i]) > 70 and (place - starts[i]) % 70 == 0


def test_the_growing_list_follows_the_learners_functions(lesson, monkeypatch):
    monkeypatch.setitem(lesson[0], "join", lambda parts, pair: list(parts))
    lesson[0]["merges_of"].cache_clear()
    assert list(np.diff(drawn(lesson[0]["grow"]("ababab", 5), render=False)["parts"])) == [1] * 6
    monkeypatch.setitem(lesson[0], "find_merges", lambda pieces, n, join: [])
    lesson[0]["merges_of"].cache_clear()
    assert "0 of 0 merges" in lesson[0]["grow"]("ababab", 5).alt
    lesson[0]["merges_of"].cache_clear()


def test_a_word_in_its_forms():
    for pieces, forms in (([known._bytes("the gray, gray cat")], "g r a y 2"),
                          ([[b"gray,", b" gr", b"ay"], [b" gra", b"y "], [b"grayer"]],
                           "gray, 1, ·gr ay 1, ·gra y· 1")):
        assert known.forms(pieces, "gray") == forms
    assert known.forms(pieces_of("graying"), "gray") == ""
    pieces = [[b" gray"], [b" gray"], [b".", b"gray", b"\xf0"]]
    assert known.forms(pieces, "gray") == "·gray 2, gray 1"


@pytest.mark.parametrize("text", [
    *TEXTS, *known.AWKWARD, "They'll pay  25 dollars!!\nOK  ",
    shipped("data", "held-out", "pride-and-prejudice-1.txt").read_text(encoding="utf-8")])
def test_the_six_alternatives_are_the_librarys(text):
    assert [piece for piece, _ in known.taken_by(text)] == piece_pattern().findall(text)
    assert {name for _, name in known.taken_by(text)} <= set(known.ALTERNATIVES)


@pytest.mark.parametrize("stop, words", [
    ("", "It goes on with pairs that come only once, until none is left and max stops"),
    ("        if not counts: break\n", "It goes on with pairs that come only once."),
    ("        if max(counts.values()) < 2: break\n", "It stops with an error when no pair")])
def test_a_loop_that_stops_too_late_is_told_what_its_first_miss_shows(stop, words):
    space = {}
    exec("def find_merges(pieces, n, join):\n    found = []\n    while len(found) < n:\n"
         "        counts = {}\n        for parts in pieces:\n"
         "            for pair in zip(parts, parts[1:]):\n"
         "                counts[pair] = counts.get(pair, 0) + 1\n" + stop +
         "        found.append(max(counts, key=counts.get))\n"
         "        pieces = [join(parts, found[-1]) for parts in pieces]\n    return found\n", space)
    assert f"This is what you get when: {words}" in verdict(space["find_merges"])


@pytest.mark.parametrize("text, words", [
    ("", "there is no text"), ("z" * 2001, "this text has 2,001 bytes and the picture holds 2,000"),
    ("\ud83e", "surrogate")])
def test_a_text_too_long_to_count_is_refused(lesson, text, words):
    with pytest.raises(ValueError, match=words):
        lesson[0]["grow"](text, 3)


def test_the_wrong_loop_of_the_notebook_is_the_known_mistake(ranks):
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and "def left_to_right(" in cell.source:
            space = {}
            exec(cell.source.split("\n\n")[0], space)
    for word in known.WORDS:
        parts = [bytes([byte]) for byte in word.encode("utf-8")]
        assert space["left_to_right"](parts, ranks) == known.left_to_right(parts, ranks)
