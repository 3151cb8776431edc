"""Lesson 04: what its pictures draw are the rows of the model's tables; what it says is so."""
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.text import Text

import gpt2lab
from drawing import drawn
from gpt2lab.embedding import embed
from gpt2lab.inside import never_seen
from gpt2lab.teach import play, plot, writes
from gpt2lab.teach.exercises import embedding as exercises
from gpt2lab.teach.exercises.embedding import by_use, nearest, one_token_words
from gpt2lab.teach.pictures.bpe import label

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "04_embedding.ipynb"
TEXTS = ["a the of", "king queen prince dog cat horse wolf boat ship sea",
         "he she $x^2$ <b> it \n 🤗 &amp; computer hobgoblin",
         "one two three four five six seven eight nine ten red blue green white", "the the a an"]


@pytest.fixture(scope="module")
def model():
    return gpt2lab.load()


@pytest.fixture(scope="module")
def lesson():
    """The cells that draw, run: what they leave behind, what they show, what explorers draw."""
    space, shown, draws = {}, [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "show", shown.append)
        for name in ("explore", "write"):
            patch.setattr(play, name, lambda draw, **controls: draws.append(draw))
        for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
            needed = ("import numpy", "plot.show(", "play.explore(", "play.write(", "check(",
                      "= yours(", "def sorted_rows(", "ids = np.array(model.encode(",
                      "directions, k = exercises.loudest(", "wte = np.array(")
            if cell.cell_type == "code" and any(part in cell.source for part in needed):
                exec(cell.source, space)
    return space, shown, draws


@pytest.fixture(scope="module")
def word_map(lesson):
    """The map's function as its explorer calls it."""
    return lesson[2][0]


@pytest.mark.parametrize("text", TEXTS)
def test_map_draws_the_rows_of_the_token_table(model, word_map, text):
    fig = word_map(text)
    arrays, wte = drawn(fig, render=False), model.weights["wte.weight"].astype(np.float64)
    unseen = never_seen(model.weights["wte.weight"])
    found, left_out = one_token_words(text, model.encode, unseen, 14)
    ids = [model.encode(" " + word)[0] for word in found]
    assert list(found.values()) == ids and len(found) + len(left_out) == len(set(text.split()))
    assert arrays["tokens"] == [model.tokenizer.decode_bytes([i]) for i in ids]
    seen = np.flatnonzero(~unseen)
    for row, near in zip(ids, arrays["nearest"]):
        best = [int(seen[i]) for i in nearest(wte[row], wte[seen], 4)]
        assert best[0] == row and near == [model.tokenizer.decode_bytes([i]) for i in best[1:]]
    rows = wte[ids] - wte[ids].mean(axis=0)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    for axis in (0, 1):                         # PCA another way; the sign is free
        wanted = np.abs(rows @ vectors[:, -1 - axis])
        np.testing.assert_allclose(np.abs(arrays["places"][:, axis]), wanted, atol=1e-6)
    assert f"keeps {100 * values[-2:].sum() / values.sum():.0f} % of their spread" in fig.alt
    for name in ("hobgoblin (3 tokens)", "computer (never seen in training)", "$x^2$ (", "<b> ("):
        assert (name in fig.alt) == (name.split()[0] in text.split())
    shown = [note.get_text() for note in fig.axes[0].texts]
    assert shown == [label(token) for token in arrays["tokens"]]


@pytest.mark.parametrize("text", TEXTS + ["uncharacteristically I a of to in the on at by"])
def test_names_on_the_map_do_not_cover_each_other(word_map, text):
    fig = word_map(text)
    drawn(fig)
    boxes = [Text.get_window_extent(note) for note in fig.axes[0].texts]      # without the arrow
    for n, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:n])
        assert box.x0 > 0 and box.x1 < 0.54 * 640


@pytest.mark.parametrize("text, message", [
    ("", "three words"), ("king", "three words"),
    ("king queen computer", r"never seen in training\)"), ("hobgoblin", r"hobgoblin \(3 tokens\)"),
    ("a b c d e f g h i j k l m n o p q r s t u", "words are too many: 14 fit"),
    (" ".join(map(str, range(500))), "words are too many: 14 fit"),
    ("\ud83e a b", "half a surrogate pair")])
def test_words_that_cannot_be_drawn_are_refused_with_a_sentence(word_map, text, message):
    with pytest.raises(ValueError, match=message):
        word_map(text)


@pytest.mark.parametrize("text", TEXTS + ["walked asked uncharacteristically said unfortunate"])
def test_the_list_of_nearest_tokens_ends_inside_the_picture(word_map, text):
    fig = word_map(text)
    drawn(fig)
    assert all(Text.get_window_extent(note).x1 <= 640 for note in fig.axes[1].texts)


def test_positions_draw_the_cosines_of_the_position_table(model, lesson):
    wpe = model.weights["wpe.weight"].astype(np.float64)
    wanted = wpe @ wpe.T / np.outer(*[np.sqrt((wpe ** 2).sum(axis=-1))] * 2)
    (fig,) = [fig for fig in lesson[1] if "cosines" in fig.drawn]
    np.testing.assert_allclose(drawn(fig)["cosines"], wanted, atol=1e-5)
    assert f"neighbours have {np.diagonal(wanted, 1).mean():.2f}, places 10 apart" in fig.alt


def halves(model, taken):
    """(word rows, place rows) of what is left, (word rows, place rows) of what is taken away."""
    wte, wpe = (model.weights[name].astype(np.float64) for name in ("wte.weight", "wpe.weight"))
    values, vectors = np.linalg.eigh(wpe.T @ wpe)               # the loudest last
    gone = vectors[:, len(values) - taken:]
    loud = gone @ gone.T
    return (wte - wte @ loud, wpe - wpe @ loud), (wte @ loud, wpe @ loud)


def nearest_word(row, words, unseen):
    lengths = np.where(unseen, np.inf, np.linalg.norm(words, axis=-1))
    return int((words @ row / lengths).argmax())


@pytest.mark.parametrize("taken", [0, 12, 40, 81, 126])
def test_word_and_place_are_read_from_the_two_parts_of_a_row(model, lesson, taken):
    text, split = "The old king saw the young queen. Then the old", lesson[2][1]
    ids, unseen = model.encode(text), never_seen(model.weights["wte.weight"])
    (left_words, left_places), (loud_words, loud_places) = halves(model, taken)
    fig = split(text, taken)
    arrays = drawn(fig, render=taken in (0, 40))
    for t, i in enumerate(ids):
        row = left_words[i] + left_places[t]
        word = nearest_word(row, left_words, unseen)
        assert arrays["read"][t] == model.tokenizer.decode_bytes([word])
        wanted = row @ left_words[word] / (np.linalg.norm(row) * np.linalg.norm(left_words[word]))
        assert abs(arrays["cosines"][t] - wanted) < 1e-5
        if taken:
            loud = loud_words[i] + loud_places[t]
            assert arrays["places"][t] == ((loud_places - loud) ** 2).sum(axis=-1).argmin()
    words = [model.tokenizer.decode_bytes([i]) for i in ids]
    right = sum(one == other for one, other in zip(words, arrays["read"]))
    assert f"{right} of {len(ids)} words" in fig.alt
    shown = [note.get_text() for note in fig.axes[0].texts]
    marks = "".join(text[0] for text in shown)
    assert marks.count("✓") == right and marks.count("✗") == len(ids) - right == len(marks) - right


def test_a_long_text_and_odd_tokens_are_split_too(lesson):
    for text in ("a", "the " * 40, "x $y$ \n 🤗 <b>", "computer internet"):
        assert len(drawn(lesson[2][1](text, 81))["read"]) <= 12


def test_the_reach_is_that_of_the_rows_along_the_directions_of_the_places(model, lesson):
    """Measured another way: by the matrix of squares of the places, whose eigenvectors they are."""
    (fig,) = [fig for fig in lesson[1] if "words" in fig.drawn and "places" in fig.drawn]
    arrays, (dashed, line, _) = drawn(fig), fig.axes[0].lines
    words = model.weights["wte.weight"][model.encode(
        "The old king saw the young queen. Then the old")].astype(np.float64)
    places = model.weights["wpe.weight"].astype(np.float64)
    squares, axes = np.linalg.eigh(places.T @ places)
    wanted = np.sqrt(squares[::-1] / len(places))
    np.testing.assert_allclose(arrays["places"], wanted, rtol=1e-4)
    reach = np.sqrt(np.square(words @ axes[:, ::-1]).mean(axis=0))
    np.testing.assert_allclose(arrays["words"], reach, rtol=1e-3)
    np.testing.assert_array_equal(dashed.get_ydata(), arrays["places"])
    np.testing.assert_array_equal(line.get_ydata(), arrays["words"])
    assert (wanted[:80] > reach[:80]).all(), "in front of the line the places are louder"
    assert (wanted[84:] < reach[84:]).all() and "0.024 along 82" in fig.alt


def test_strips_draw_how_much_of_their_outputs_the_word_makes(model, lesson):
    """Measured: the layer itself, without its bias, on rows that the norm has taken the mean of."""
    (fig,) = [fig for fig in lesson[1] if set(fig.drawn) == {"words"}]
    w, ids = model.weights, model.encode("The old king saw the young queen. Then the old")
    spreads = []
    for rows in (w["wte.weight"][ids], w["wpe.weight"]):
        rows = (rows - rows.mean(axis=-1, keepdims=True)) * w["h.0.ln_1.weight"]
        out = rows @ w["h.0.attn.c_attn.weight"]
        spreads.append([np.square(part - part.mean(axis=0)).sum() / len(part)
                        for part in np.split(out, 12, axis=-1)])
    what, where = np.array(spreads)
    np.testing.assert_allclose(drawn(fig)["words"], what / (what + where), rtol=1e-4)
    assert f"Strip {(what / where).argmax()} gets" in fig.alt


def test_labels_of_the_split_rows_end_inside_the_picture(lesson):
    for text in ("a", "The old king saw the young queen. Then the old"):
        fig = lesson[2][1](text, 40)
        drawn(fig)
        for label_of_axis in (axis.xaxis.label for axis in fig.axes):
            box = Text.get_window_extent(label_of_axis)
            assert 0 <= box.x0 and box.x1 <= 640


def test_the_free_directions_as_the_lesson_tells_it(model, lesson):
    """Measured with projections made another way: the loudest directions taken away."""
    wte, ids = model.weights["wte.weight"], model.encode(lesson[0]["story"])
    seen = np.flatnonzero(~never_seen(wte))
    k = lesson[0]["k"]
    (words, places), (loud_words, _) = halves(model, k)
    assert exercises.loudest(model.weights["wpe.weight"])[1] == k == 81
    assert np.square(places).sum() < 0.001 * np.square(model.weights["wpe.weight"]).sum()
    part = np.square(words[seen]).sum() / np.square(wte[seen].astype(np.float64)).sum()
    assert abs(exercises.share(wte[seen], lesson[0]["free"]) - part) < 1e-6
    assert 0.285 < part < 0.30
    assert [seen[nearest(words[i] + places[t], words[seen], 1)[0]]
            for t, i in enumerate(ids)] == ids
    strips = exercises.strips(model.weights, 12)
    parts = [100 * exercises.share(strip.T, lesson[0]["free"]) for strip in strips]
    assert np.argmax(parts) == 9 and parts[9] > 99 and max(parts[1], parts[5]) < 45


def test_the_places_began_as_the_waves_of_the_script(model, lesson):
    """They are still alike after the training, and fill as many directions."""
    wpe = model.weights["wpe.weight"]
    began = exercises.waves(*wpe.shape)
    assert (wpe * began).sum() > 0.9 * np.linalg.norm(wpe) * np.linalg.norm(began)
    assert exercises.loudest(began)[1] == 81
    script = NOTEBOOK.parents[1] / "data" / "gpt2-tiny" / "train" / "train.py"
    made = "frequency = 2.5 * torch.exp(-math.log(125.0) * torch.arange(half) / (half - 1))"
    assert made in script.read_text(encoding="utf-8")


def test_each_place_finds_the_place_before_it(model):
    """By the layer itself: queries and keys of head 1 from place rows that the norm has centred."""
    w = model.weights
    rows = (w["wpe.weight"] - w["wpe.weight"].mean(axis=-1, keepdims=True)) * w["h.0.ln_1.weight"]
    parts = np.split(rows @ w["h.0.attn.c_attn.weight"], 12, axis=-1)
    scores = parts[1] @ parts[5].T
    assert sum(scores[t, :t + 1].argmax() == t - 1 for t in range(1, 256)) == 254


def test_places_that_offer_what_a_place_asks_for():
    """Only places up to its own are asked: the last one here would like its neighbour's offer."""
    offering = np.array([[1, 0], [0, 1], [3, 0], [0, 9]])
    found = exercises.before(np.array([[9, 9], [1, 0], [0, 1], [1, 0]]), offering)
    assert found.tolist() == [0, 1, 2]
    found = exercises.before(np.array([[0, 0], [1, 0], [0, 1], [0, 0.5]]), offering)
    assert found.tolist() == [0, 1, 3]


def test_askew_rows_of_a_word_fall_on_one_point_of_the_free_direction(lesson):
    (fig,) = [fig for fig in lesson[1] if "reach" in fig.drawn]
    rows = np.array([[[4, 8], [8, 11], [12, 14]], [[9, 3], [13, 6], [17, 9]]])
    np.testing.assert_array_equal(drawn(fig)["rows"], rows)
    np.testing.assert_allclose(fig.drawn["reach"], [[4] * 3, [-3] * 3])
    assert "word 0 at 4, word 1 at -3" in fig.alt
    boxes = [Text.get_window_extent(note) for note in fig.axes[0].texts if note.get_text()]
    for n, box in enumerate(boxes):
        assert 0 < box.x0 and box.x1 < 640 and not any(box.overlaps(other) for other in boxes[:n])
    landed = [line.get_xydata()[0] for line in fig.axes[0].lines if line.get_marker() == "D"]
    np.testing.assert_allclose(landed, [[-2.4, 3.2], [1.8, -2.4]])


def test_place_0_is_what_counting_from_1_loses(model):
    """The text of section 10 comes back with row 0 alone, and is lost with it alone."""
    wpe, texts = model.weights["wpe.weight"], []
    moved = np.concatenate([wpe[1:], wpe[-1:]])
    kept, lost = moved.copy(), wpe.copy()
    kept[0], lost[0] = wpe[0], wpe[1]
    for rows in (wpe, kept, moved, lost):
        changed = replace(model, weights={**model.weights, "wpe.weight": rows})
        texts.append(writes(changed))
    assert texts[0] == texts[1] and texts[2] == texts[3] == " time" * 12


def test_what_the_short_answer_lets_pass(lesson):
    """No check refuses it, so section 6 shows it; an answer that stops there is as good."""
    hand = [table.astype(int) for table in exercises.HAND]
    shown = [exercises.outcome(function, np.array(ids), *hand, start)
             for ids, start in (([-1], 0), ([2, 0], 3), ([2], 4))
             for function in (lesson[0]["embed"], embed)]
    assert shown == ["[[15, 6]]", "ValueError", "[[45, 6], [41, 2]]", "ValueError", "[]",
                     "ValueError"]


def test_tokens_by_how_often_a_book_uses_them():
    counts, cosines = np.array([0, 1, 1, 3, 4, 19, 20, 99, 100, 700]), np.arange(10) / 10
    found = by_use(counts, cosines)
    assert [row[:2] for row in found] == [("once", 2), ("2 to 4", 2), ("5 to 19", 1),
                                          ("20 to 99", 2), ("100 or more", 2)]
    np.testing.assert_allclose([row[2] for row in found], [0.15, 0.35, 0.5, 0.65, 0.85])


def test_a_word_is_taught_as_the_explorer_says(model, lesson):
    tell = lesson[2][2]
    (text,) = tell(presses=0, word="computer", like="king", factor=1.1,
                   text="The old computer saw the young queen. Then the old")
    assert text.startswith("The old computer saw the young queen. Then the old computer saw")
    assert text.endswith("computer is number 1.")
    (text,) = tell(presses=0, word="robot", like="king", factor=0.5, text="The old")
    rank, scores = int(text.split()[-1].rstrip(".").replace(",", "")), model.next_logits(
        model.encode("The old"))
    half = 0.5 * scores[model.encode(" king")[0]]           # its row has half the length
    assert abs(rank - 1 - (scores > half).sum()) <= 1 < rank
    for word, like, message in (("hobgoblin", "king", "hobgoblin"), ("robot", "", "0 words"),
                                ("robot", "king hobgoblin", "more than one: hobgoblin"),
                                ("robot internet", "king", "one word")):
        with pytest.raises(ValueError, match=message):
            list(tell(presses=0, word=word, like=like, factor=1.0, text="The"))


def test_loops_version_is_the_operation():
    loops = function_of_the_notebook("embed_loops")
    draw = np.random.default_rng(3).normal
    wte, wpe = draw(size=(7, 4)), draw(size=(6, 4))
    for ids, start in (([2, 0, 6], 0), ([5], 5), ([1, 1, 1, 3], 2)):
        np.testing.assert_allclose(loops(ids, wte, wpe, start), embed(ids, wte, wpe, start), atol=0)


def function_of_the_notebook(name):
    space = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            exec(cell.source.split("\n\n")[0], space)
    return space[name]
