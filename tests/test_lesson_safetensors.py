"""Lesson 02: the byte view shows the file's own bytes; BF16 is rounded as others round it; seven files are judged alike."""
import json
from pathlib import Path

import nbformat
import numpy as np
import pytest

import drawing
from gpt2lab import safetensors
from gpt2lab.checkpoint import BUNDLED
from gpt2lab.teach.checking import Failure, attempt
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.exercises.safetensors import FILES, file_of, from_bf16
from gpt2lab.teach.pictures import safetensors as pictures

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "02_safetensors.ipynb"
PATH = BUNDLED / "model.safetensors"
AWKWARD = [("$$", "F32", [3]), ("<b>&amp;", "F16", [7]), ("a\nb\t\"q\"", "BF16", [2, 2]), ("🤗 naïve", "I64", []),
           ("", "U8", [0]), ("x" * 70, "U8", [40])]


def drawn(fig):
    """The arrays of a picture, which is checked as all are, and cuts no text off."""
    drawing.drawn(fig)
    for ax in fig.axes:
        for text in ax.texts:
            extent = text.get_window_extent()
            assert 0 <= extent.x0 and extent.x1 <= 640 and 0 <= extent.y0 and extent.y1 <= fig.bbox.y1, text
    return fig.drawn


@pytest.mark.parametrize("name, number", [("transformer.h.0.attn.c_attn.bias", 0), ("transformer.h.2.ln_1.bias", 127),
                                          ("transformer.h.2.ln_1.bias", 125), ("transformer.wte.weight", 64)])
def test_byte_view_shows_the_files_own_bytes(name, number):
    raw, array = PATH.read_bytes(), safetensors.open_file(PATH)[name]
    fig = pictures.byte_view(PATH, name, number)
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
    path = tmp_path / "model.safetensors"
    path.write_bytes(file_of(json.dumps(header, ensure_ascii=False).replace(": ", ":").encode(), bytes(range(size + 1))))
    for number in (0, 1000):
        arrays = drawn(pictures.byte_view(path, name, number))
        assert name in json.loads(b"{" + arrays["entry"] + b"}")
        assert np.isfinite(arrays["numbers"].astype(np.float64)).all()


def test_parts_are_the_whole_file():
    np.testing.assert_allclose(drawn(pictures.parts(PATH))["values"].sum(), 100)
    assert [pictures.group(f"{prefix}h.3.ln_1.bias") for prefix in ("", "transformer.")] == ["h.3"] * 2


def test_bf16_is_rounded_to_the_nearest_and_ties_to_even():
    bits = np.arange(0x0100, 0x7F00, 97, dtype=np.uint16)
    exact = pictures.from_bf16(bits)
    np.testing.assert_array_equal(pictures.to_bf16(exact), bits)
    np.testing.assert_array_equal(exact, from_bf16(bits))
    above = pictures.from_bf16(bits + np.uint16(1))
    middle = (exact.astype(np.float64) + above) / 2
    np.testing.assert_array_equal(pictures.to_bf16(middle), bits + (bits & 1))
    np.testing.assert_array_equal(pictures.to_bf16(np.nextafter(middle.astype(np.float32), np.float32(0))), bits)
    np.testing.assert_array_equal(pictures.to_bf16(-exact), bits | 0x8000)


@pytest.mark.parametrize("value", [0.1, 1.0, -2.0, 70000.0])
def test_bits_are_those_of_the_number(value):
    arrays = drawn(pictures.bits(value))
    packed = {name: np.packbits(array)[::-1].tobytes() for name, array in arrays.items()}
    assert np.frombuffer(packed["F32"], "<f4")[0] == np.float32(value)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.frombuffer(packed["F16"], "<f2")[0], np.float16(value))
    assert packed["BF16"] == pictures.to_bf16(value).tobytes()


def test_four_of_the_seven_files_are_broken_as_the_official_reader_says():
    refused = [isinstance(attempt(exercises()["read_header"].right, case), Failure) for case in FILES]
    assert refused == [False] * 3 + [True] * 4
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
    assert pictures.says(FILES[0].arguments[0]) == "accepted: w"
    assert "Git-LFS" in pictures.says(FILES[3].arguments[0])
    assert pictures.says(b"abc") == "the file has 3 bytes, a safetensors file needs at least 8"


def test_loops_version_reads_float32():
    loops = function_of_the_notebook("f32_loops")
    for value in (1.5, -0.1, 3.4e38, 1e-30, 2.0 ** -126):
        assert np.float32(loops(np.array([value], "<f4").tobytes())) == np.float32(value)


def function_of_the_notebook(name):
    space = {"np": np}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            exec("\n\n".join(part for part in cell.source.split("\n\n") if part.startswith("def ")), space)
    return space[name]
