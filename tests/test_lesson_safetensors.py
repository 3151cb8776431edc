"""Lesson 02: the byte view shows the file's own bytes; BF16 is rounded as others round it.

And files are judged as the official reader judges them, and one byte as the lesson says.
"""
import json
from pathlib import Path

import nbformat
import numpy as np
import pytest

import drawing
import gpt2lab
from gpt2lab import safetensors
from gpt2lab.checkpoint import BUNDLED
from gpt2lab.teach import checking, play, plot, show
from gpt2lab.teach.attempting import Failure, attempt
from gpt2lab.teach.exercises import exercises, safetensors as ready_made
from gpt2lab.teach.exercises.safetensors import FILES, file_of, from_bf16, says, to_bf16
from gpt2lab.teach.pictures import safetensors as pictures

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "02_safetensors.ipynb"
PATH = BUNDLED / "model.safetensors"
AWKWARD = [("$$", "F32", [3]), ("<b>&amp;", "F16", [7]), ("a\nb\t\"q\"", "BF16", [2, 2]),
           ("🤗 naïve", "I64", []), ("", "U8", [0]), ("x" * 70, "U8", [40])]


def drawn(fig):
    """The arrays of a picture, which is checked as all are, and cuts no text off."""
    drawing.drawn(fig)
    with plot.house_style():
        for ax in fig.axes:
            for text in ax.texts:
                extent = text.get_window_extent()
                assert 0 <= extent.x0 and extent.x1 <= 640, text
                assert 0 <= extent.y0 and extent.y1 <= fig.bbox.y1, text
    return fig.drawn


def byte_view(path, name, number=0):
    """The byte view of a file as the library reads it."""
    file = safetensors.open_file(path)
    return pictures.byte_view(np.fromfile(path, np.uint8), file.entries, name, file[name], number)


@pytest.fixture(scope="module")
def explorers():
    """What the lesson's explorers draw, each with its controls: the cells that they need, run."""
    space, told = {}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "show", told.append)
        patch.setattr(play, "explore", lambda draw, **controls: told.append((draw, controls)))
        for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
            needed = ("import json", "PATH = ", "def read_header(", "def tensor_view(",
                      "data = PATH.read_bytes()", "before, begin = ", "play.explore(")
            if cell.cell_type == "code" and any(part in cell.source for part in needed):
                exec(cell.source, space)
    return [one for one in told if isinstance(one, tuple)]


@pytest.mark.parametrize("name, number", [
    ("transformer.h.0.attn.c_attn.bias", 0), ("transformer.h.2.ln_1.bias", 127),
    ("transformer.h.2.ln_1.bias", 125), ("transformer.wte.weight", 64)])
def test_byte_view_shows_the_files_own_bytes(name, number, explorers):
    raw, array = PATH.read_bytes(), safetensors.open_file(PATH)[name]
    draw, controls = explorers[0]
    assert name in controls["name"].options and controls["number"].min <= number
    fig = draw(name, number)
    arrays, entry = drawn(fig), safetensors.read_header(PATH).entries[name]
    assert arrays["length"] == int.from_bytes(raw[:8], "little")
    assert json.loads(b"{" + arrays["entry"] + b"}")[name]["shape"] == list(entry.shape)
    at = entry.begin + 4 * number
    assert arrays["bytes"] == raw[at:min(at + 24, entry.end)]
    np.testing.assert_array_equal(arrays["numbers"], array.reshape(-1)[number:number + 6])
    np.testing.assert_allclose(arrays["shares"].sum(), 100)
    shown = [text.get_text() for text in fig.axes[0].texts]
    assert " ".join(f"{byte:02x}" for byte in raw[at:min(at + 12, entry.end)]) in shown
    assert f"{at:,}" in shown and f"= {arrays['length']:,}" in shown


@pytest.mark.parametrize("name, dtype, shape", AWKWARD)
def test_byte_view_takes_any_name_and_type(name, dtype, shape, tmp_path):
    size = int(np.prod(shape)) * safetensors.BITS[dtype] // 8
    header = {"first": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
              name: {"dtype": dtype, "shape": shape, "data_offsets": [1, 1 + size]}}
    text = json.dumps(header, ensure_ascii=False).replace(": ", ":").encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(file_of(text, bytes(range(size + 1))))
    values = safetensors.open_file(path)[name].reshape(-1)
    for number in (0, 1000):
        arrays = drawn(byte_view(path, name, number))
        assert name in json.loads(b"{" + arrays["entry"] + b"}")
        assert np.isfinite(arrays["numbers"].astype(np.float64)).all()
        begin = min(number, max(len(values) - 1, 0))
        whole = 24 // (safetensors.BITS[dtype] // 8)
        np.testing.assert_array_equal(arrays["numbers"], values[begin:begin + whole])


def test_parts_are_the_whole_file():
    entries, size = safetensors.read_header(PATH).entries, PATH.stat().st_size
    shares = drawn(pictures.parts(entries))["values"]
    np.testing.assert_allclose(shares.sum(), 100)
    np.testing.assert_allclose(shares[0], 100 * min(e.begin for e in entries.values()) / size)
    for name in ("h.3.ln_1.bias", "transformer.h.3.ln_1.bias"):
        assert pictures.group(name) == "h.3"


def test_the_inventory_counts_every_number_once():
    weights = gpt2lab.load().weights
    rows, block = ready_made.inventory(weights, 128)
    assert sum(row[3] for row in rows) == sum(w.size for w in weights.values())
    assert sum(row[1] for row in rows) == len(weights) == 52
    assert sum(row[4] for row in rows) == pytest.approx(100)
    assert (sum(block["D x D"]), sum(block["D"])) == (12, 13)
    assert 4 * (12 * 128 ** 2 + 13 * 128) == sum(row[3] for row in rows if row[0][:3] == "h.*")
    for name, times, shape, numbers, _, one in rows:
        count, unit = one.split(" ", 1)
        assert numbers == times * int(count) * (128 ** 2 if unit == "D x D" else 128)
        assert str(weights[name.replace("*", "0")].shape) == shape


def test_the_right_view_shares_the_files_memory_and_a_copy_passes_too(monkeypatch, tmp_path):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))         # what passes is kept
    data = PATH.read_bytes()
    entry = ready_made.file_entries()["transformer.h.0.ln_1.bias"]
    raw = np.frombuffer(data, np.uint8)
    assert np.shares_memory(ready_made.tensor_view(data, *entry), raw)

    def tensor_view(data, dtype, shape, begin, end):
        return np.frombuffer(data[begin:end], {"F32": "<f4", "F16": "<f2"}[dtype]).reshape(shape)
    assert not np.shares_memory(tensor_view(data, *entry), raw)
    assert "all 6 cases pass" in checking.verdict(tensor_view)


def test_banana_wins_where_the_models_own_number_lifts_it():
    """What the prose says of the cell that counts; no place is near to the edge."""
    model = gpt2lab.load()
    own = model.trace(model.encode(ready_made.STORY))["ln_f"][-1]
    table, row = model.weights["wte.weight"], model.weights["wte.weight"][25996]
    changed = row.copy()
    changed.view(np.uint8)[3::4] = 66
    sums, largest = row @ own + (changed - row) * own, (table @ own).max()
    wins = sums > largest
    assert np.abs(sums - largest).min() > 0.1 and np.abs(own).min() > 1e-3
    assert (changed > 0).all() and own[3] < 0 < own[4] and wins[4] and not wins[3]
    assert (own[wins] > 0).all() and (own > 0).sum() == wins.sum() + 1
    assert changed[4] / row[4] == pytest.approx(1024, rel=1e-3)
    entry = ready_made.file_entries()
    for number in (3, 4, 88):
        at = entry["transformer.wte.weight"][2] + 4 * (128 * 25996 + number) + 3
        told = ready_made.story(copy_with(at, 66).tobytes())
        assert told.startswith(" banana") == bool(wins[number]), (number, told)


def test_bf16_is_rounded_to_the_nearest_and_ties_to_even():
    bits = np.arange(0x0100, 0x7F00, 97, dtype=np.uint16)
    exact = from_bf16(bits)
    np.testing.assert_array_equal(exact.view(np.uint32), bits.astype(np.uint32) * 2 ** 16)
    np.testing.assert_array_equal(to_bf16(exact), bits)
    middle = (exact.astype(np.float64) + from_bf16(bits + np.uint16(1))) / 2
    below = np.nextafter(middle.astype(np.float32), np.float32(0))
    np.testing.assert_array_equal(to_bf16(middle), bits + (bits & 1))
    np.testing.assert_array_equal(to_bf16(below), bits)
    np.testing.assert_array_equal(to_bf16(-exact), bits | 0x8000)


@pytest.mark.parametrize("value", [0.1, 1.0, -2.0, 70000.0])
def test_bits_are_those_of_the_number(value):
    cell = next(cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells
                if cell.cell_type == "code" and "pictures.bits(" in cell.source)
    with pytest.MonkeyPatch.context() as patch:
        shown = []
        patch.setattr(plot, "show", shown.append)
        space = {"np": np, "plot": plot, "pictures": pictures, "ready_made": ready_made,
                 "show": show}
        exec(cell.replace("[0.1, ", f"[{value}, "), space)
    (fig,) = shown
    arrays = drawn(fig)
    packed = {name: np.packbits(array)[::-1].tobytes() for name, array in arrays.items()}
    assert np.frombuffer(packed["F32"], "<f4")[0] == np.float32(value)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.frombuffer(packed["F16"], "<f2")[0], np.float16(value))
    assert packed["BF16"] == to_bf16(value).tobytes()
    shown = [text.get_text() for text in fig.axes[0].texts]
    assert f"= {float(np.float32(value)):.8g}" in shown
    assert f"= {float(from_bf16(to_bf16(value))):.8g}" in shown


def test_five_of_the_eight_files_are_broken_as_the_official_reader_says():
    right = exercises()["read_header"].right
    refused = [isinstance(attempt(right, case), Failure) for case in FILES]
    assert refused == [False] * 3 + [True] * 5
    official = pytest.importorskip("safetensors")
    for case, wanted in zip(FILES, refused):
        try:
            found = dict(official.deserialize(case.arguments[0]))
        except official.SafetensorError:
            assert wanted, case.label
        else:
            assert not wanted and set(found) == set(safetensors_names(case)), case.label


def safetensors_names(case):
    return exercises()["read_header"].right(*case.arguments)


def test_says_what_the_library_says():
    assert says(FILES[0].arguments[0]) == "accepted: w"
    assert "Git-LFS" in says(FILES[3].arguments[0])
    assert says(b"abc") == "the file has 3 bytes, a safetensors file needs at least 8"


def test_loops_version_reads_float32():
    loops = function_of_the_notebook("f32_loops")
    for value in (1.5, -0.1, 3.4e38, 1e-30, 2.0 ** -126):
        assert np.float32(loops(np.array([value], "<f4").tobytes())) == np.float32(value)


def function_of_the_notebook(name):
    space = {"np": np}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            parts = cell.source.split("\n\n")
            exec("\n\n".join(part for part in parts if part.startswith("def ")), space)
    return space[name]


# One number by hand

@pytest.mark.parametrize("value", [1.5, -10.0, 0.1, 3.4e38, -1e-30])
def test_the_number_by_hand_is_that_of_its_bytes(value):
    four = np.array([value], "<f4").tobytes()
    fig = pictures.by_hand(four)
    arrays = drawn(fig)
    sign, exponent, fraction = (int(part) for part in arrays["fields"])
    assert np.float32((-1) ** sign * 2.0 ** (exponent - 127) * (1 + fraction / 2 ** 23)) == (
        np.float32(value)) == arrays["value"]
    assert np.packbits(arrays["bits"]).tobytes()[::-1] == four
    shown = [text.get_text() for text in fig.axes[0].texts]
    assert {"minus" if value < 0 else "plus", f"{exponent} - 127 = {exponent - 127}",
            f"byte 3: {four[3]}", f"byte 0: {four[0]}"} <= set(shown)


def test_the_learners_number_is_the_one_that_the_text_says():
    prose = "\n".join(cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells
                      if cell.cell_type == "markdown")
    assert f"193 is {193:b}, and 32 is {32:08b}" in prose
    assert np.frombuffer(bytes([0, 0, 32, 193]), "<f4")[0] == -10 == -1.25 * 2 ** (130 - 127)


# One byte of the file

def copy_with(place, value):
    copy = ready_made.file_bytes().copy()
    copy[place] = value
    return copy


ROW = ready_made.file_entries()["transformer.wte.weight"][2] + 4 * 128 * 5822     # " king"


@pytest.mark.parametrize("copy, words", [
    (lambda: ready_made.file_bytes(), "no byte is changed"),
    (lambda: ready_made.file_bytes()[:-1], "shorter"),
    (lambda: np.append(ready_made.file_bytes(), np.uint8(0)), "longer"),
    (lambda: copy_with(slice(ROW + 2, ROW + 4), 66), "more than one byte"),
    (lambda: copy_with(0, 66), "none of a number"),
    (lambda: copy_with(5039, 66), "none of a number"),
    (lambda: copy_with(ROW, 66), "the same story"),
    (lambda: copy_with(ROW + 3, 127), "writes no story"),
    (lambda: 7, "hand the judge"), (lambda: None, "hand the judge"),
    (lambda: ready_made.file_bytes().astype(np.float32), "hand the judge"),
    (lambda: ready_made.file_bytes().tolist()[:10], "hand the judge")])
def test_the_judge_refuses_by_its_rules(copy, words):
    with pytest.raises(ValueError, match=words):
        ready_made.judge(copy())


@pytest.mark.parametrize("place, value", [
    (ROW + 3, 194), (ROW + 3, 66),
    (ready_made.file_entries()["transformer.ln_f.weight"][2] + 3, 66)])
def test_the_judge_takes_any_byte_that_changes_the_story(place, value):
    copy = copy_with(place, value)
    assert ready_made.judge(copy) == ready_made.judge(copy.tobytes()) == "another story"
    assert ready_made.its_story() == " king saw the young queen," != ready_made.story(
        copy.tobytes())


def test_the_judge_says_what_was_not_heard_and_mistakes_say_nothing(capsys):
    with pytest.raises(ValueError):
        ready_made.judge(copy_with(ROW + 1, 66))
    assert 'wte.weight, row 5,822, of " king", number 0: byte 1 was 46 and is 66, the number was ' \
        "0.05863805 and is" in capsys.readouterr().out
    for mistake in exercises()["one_byte"].mistakes:
        attempt(mistake, exercises()["one_byte"].cases[0])
    assert capsys.readouterr().out == ""


def test_the_file_itself_is_never_changed():
    assert not ready_made.file_bytes().flags.writeable
    assert ready_made.file_bytes().tobytes() == PATH.read_bytes()
    assert exercises()["one_byte"].cases[0].arguments[0] is ready_made.file_bytes()


def test_a_byte_is_told_by_its_tensor_row_and_number():
    entries = ready_made.file_entries()
    for name, place in (("h.0.mlp.c_fc.weight", (5, 7)), ("ln_f.bias", (9,))):
        _, shape, begin, _ = entries[f"transformer.{name}"]
        at = begin + 4 * int(np.ravel_multi_index(place, shape))
        row = "row 5, " if len(place) == 2 else ""
        for byte in range(4):
            assert ready_made.number_at(entries, at + byte) == (
                f"{name}, {row}number {place[-1]}", at)
    assert ready_made.number_at(entries, 5039) is None


def test_the_explorer_changes_the_byte_that_it_says(explorers):
    draw, controls = explorers[1]
    assert {name: (control.min, control.max) for name, control in controls.items()
            if name != "row"} == {"number": (0, 127), "byte": (0, 3), "value": (0, 255)}
    raw = ready_made.file_bytes()
    for _, row in controls["row"].options:
        for number, byte, value in ((0, 3, 66), (127, 0, 255), (64, 2, 0), (5, 3, 255)):
            fig = draw(row, number, byte, value)
            arrays, at = drawn(fig), row + 4 * number
            assert arrays["was"].tobytes() == raw[at:at + 4].tobytes()
            want = bytearray(arrays["was"].tobytes())
            want[byte] = value
            assert arrays["now"].tobytes() == bytes(want)
            np.testing.assert_array_equal(arrays["values"], np.frombuffer(
                arrays["was"].tobytes() + bytes(want), "<f4"))
    shown = [text.get_text() for text in draw(ROW, 0, 3, 194).axes[0].texts]
    assert any(text.endswith("... man was a little girl,") for text in shown)
    assert any(text.endswith("... king saw the young queen,") for text in shown)
    same = draw(ROW, 0, 3, int(raw[ROW + 3]))
    assert "which is the same story" in same.alt and "→" not in " ".join(
        text.get_text() for text in same.axes[0].texts)
