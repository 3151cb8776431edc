"""Lesson 02: read_header, tensor_view, and BF16 made wide."""
import json
import math
import tempfile
from pathlib import Path

import numpy as np

from gpt2lab import safetensors

from . import Case, exercise, mistake

SIZES = {"F32": 4, "F16": 2, "BF16": 2}
CODES = {"F32": "<f4", "F16": "<f2"}



# What the lesson uses beside its exercises

def to_bf16(x):
    """float32 -> the 16 bits of the nearest BF16 (of two equally near the even one), as uint16."""
    bits = np.array(x, np.float32).view(np.uint32)
    even = (bits >> np.uint32(16)) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + even) >> np.uint32(16)).astype(np.uint16)


def says(data):
    """What the library says of a file with these bytes."""
    try:
        return f"accepted: {', '.join(read_header(data))}"
    except safetensors.SafetensorsError as error:
        return str(error).split("model.safetensors: ", 1)[1]    # without the path


# read_header

def read_header(data):
    """The library's answer for these bytes: {name: (dtype, shape, begin, end)}."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(data)
        entries = safetensors.read_header(path).entries
    return {name: tuple(entry) for name, entry in entries.items()}


@mistake(of=read_header)
def all_refused(data):
    """Every file is refused, good ones too.

    Print each step for the first case. The length is little endian: its first byte counts ones,
    the next one counts 256s. The header begins after these 8 bytes. And a size in bytes is more
    than a count of numbers. Which step comes out wrong?
    """
    raise ValueError("refused")


@mistake(of=read_header)
def length_of_one_byte(data):
    """Only the first byte of the length is used.

    That works up to 255 bytes of header. What do the other seven bytes count?
    """
    return _parsed(data, length=data[0])


@mistake(of=read_header)
def offsets_from_the_data(data):
    """The offsets are counted from where the data begin, not from the start of the file.

    data_offsets begin at 0 after the header. How many bytes stand before the data?
    """
    start = 8 + int.from_bytes(data[:8], "little")
    return {name: (dtype, shape, begin - start, end - start)
            for name, (dtype, shape, begin, end) in _parsed(data).items()}


@mistake(of=read_header)
def length_itself_forgotten(data):
    """The offsets are 8 too small.

    Header and data are not all: what stands in front of the header?
    """
    return {name: (dtype, shape, begin - 8, end - 8)
            for name, (dtype, shape, begin, end) in _parsed(data).items()}


@mistake(of=read_header)
def metadata_taken_for_a_tensor(data):
    """__metadata__ is taken for a tensor.

    The header may hold one entry that has no dtype and no shape. How do you leave it out?
    """
    return _parsed(data, keep_metadata=True)


@mistake(of=read_header)
def cut_files_pass(data):
    """A file that was cut short is accepted.

    A download may stop half-way: the header is whole, the last numbers are missing. Compare the
    end of each tensor with len(data).
    """
    return _parsed(data, check_end=False)


@mistake(of=read_header)
def small_shapes_pass(data):
    """A shape that is too small for its bytes is accepted.

    Bytes would be left over. Is it enough that the shape does not ask for too many?
    """
    try:
        return _parsed(data)
    except ValueError:
        found = _parsed(data, check_shape=False)
        if any(SIZES[dtype] * math.prod(shape) > end - begin
               for dtype, shape, begin, end in found.values()):
            raise
        return found


@mistake(of=read_header)
def wrong_shapes_pass(data):
    """A shape that does not fit its bytes is accepted.

    Multiply the sizes of the shape, times the bytes of one number. What must that be equal to?
    """
    return _parsed(data, check_shape=False)


@mistake(of=read_header)
def everything_passes(data):
    """Broken files are accepted: nothing is compared with anything.

    Two things can be compared: the end of a tensor with the end of the file, and the bytes that a
    shape needs with the bytes that the offsets give.
    """
    return _parsed(data, check_end=False, check_shape=False)


@mistake(of=read_header)
def begin_and_size(data):
    """The last number is the size of a tensor, not its end.

    The second offset is where the tensor ends: data[begin:end] are its bytes. Do you subtract?
    """
    return {name: (dtype, shape, begin, end - begin)
            for name, (dtype, shape, begin, end) in _parsed(data).items()}


@mistake(of=read_header)
def offsets_ignored(data):
    """The tensors are laid one behind the other in the order of the header.

    The header may name them in any order; data_offsets say where each one lies. Do you read them?
    """
    entries, at = {}, 8 + int.from_bytes(data[:8], "little")
    for name, (dtype, shape, begin, end) in _parsed(data).items():
        entries[name] = dtype, shape, at, at + end - begin
        at += end - begin
    return entries


@mistake(of=read_header)
def order_demanded(data):
    """A file is refused because its header names the tensors in another order than the data.

    GPT-2's own file does that. The order of the header is free; the offsets decide.
    """
    entries = _parsed(data)
    begins = [begin for _, _, begin, _ in entries.values()]
    if begins != sorted(begins):
        raise ValueError("order")
    return entries


def _parsed(data, length=None, keep_metadata=False, check_end=True, check_shape=True):
    start = 8 + (int.from_bytes(data[:8], "little") if length is None else length)
    header, entries = json.loads(data[8:start]), {}
    if not keep_metadata:
        header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if check_end and start + end > len(data):
            raise ValueError("end")
        if check_shape and math.prod(entry["shape"]) * SIZES[entry["dtype"]] != end - begin:
            raise ValueError("shape")
        entries[name] = entry["dtype"], tuple(entry["shape"]), start + begin, start + end
    return entries


# tensor_view

def tensor_view(data, dtype, shape, begin, end):
    """The right answer: the bytes from begin to end, read as numbers of this shape."""
    return np.frombuffer(data[begin:end], CODES[dtype]).reshape(shape)


@mistake(of=tensor_view)
def left_flat(data, dtype, shape, begin, end):
    """The numbers stay in one row.

    The flat buffer is right. What gives it its shape, without moving a number?
    """
    return np.frombuffer(data[begin:end], CODES[dtype])


@mistake(of=tensor_view)
def down_the_columns(data, dtype, shape, begin, end):
    """The shape is filled down the columns, not along the rows.

    In the file a row lies in one run. Which order does reshape take when you leave `order` out?
    """
    return np.frombuffer(data[begin:end], CODES[dtype]).reshape(shape, order="F")


@mistake(of=tensor_view)
def read_from_the_top(data, dtype, shape, begin, end):
    """The numbers are read from the start of the file.

    The first bytes are the length and the header. Where does this tensor begin?
    """
    return np.frombuffer(data[:end - begin], CODES[dtype]).reshape(shape)


@mistake(of=tensor_view)
def big_endian(data, dtype, shape, begin, end):
    """The bytes of each number are read in the wrong direction.

    The file is little endian, in its length and in its numbers: < in front of the type, not >.
    """
    turned = np.frombuffer(data[begin:end], CODES[dtype].replace("<", ">"))
    return turned.astype(CODES[dtype]).reshape(shape)


@mistake(of=tensor_view)
def all_float32(data, dtype, shape, begin, end):
    """F16 is read as if it were F32.

    A number of F16 has two bytes. Do you use the argument dtype?
    """
    return np.frombuffer(data[begin:end], "<f4").reshape(shape)


@mistake(of=tensor_view)
def widened(data, dtype, shape, begin, end):
    """F16 comes out as float32.

    The values are right, but the array takes twice the memory. Does the type have to change?
    """
    return tensor_view(data, dtype, shape, begin, end).astype(np.float32)


# from_bf16

def from_bf16(bits):
    """The right answer to the exercise: the 16 bits are the upper half of a float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


@mistake(of=from_bf16)
def bits_as_a_number(bits):
    """The bits are taken for a whole number.

    astype(np.float32) keeps the value 16256 and makes it 16256.0. What keeps the bits and changes
    the meaning?
    """
    return bits.astype(np.float32)


@mistake(of=from_bf16)
def shifted_out(bits):
    """All numbers are 0: the bits were pushed out at the left.

    16 bits have no room for a shift by 16. What must happen before the shift?
    """
    return (bits & np.uint16(0)).astype(np.uint32).view(np.float32)


@mistake(of=from_bf16)
def lower_half(bits):
    """The bits stand in the lower half of the float32.

    BF16 keeps the sign, the exponent and the first bits of the fraction. At which end do they
    stand?
    """
    return bits.astype(np.uint32).view(np.float32)


@mistake(of=from_bf16)
def as_float16(bits):
    """The bits are read as F16.

    Both types have 16 bits, but F16 has 5 for the exponent and BF16 has 8. With which other type
    does BF16 share its first 16 bits?
    """
    return bits.view(np.float16).astype(np.float32)


# Cases

def file_of(header, data=b""):
    """The bytes of a safetensors file: length, header, data."""
    text = header
    if not isinstance(header, bytes):
        text = json.dumps(header, separators=(",", ":")).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


SIX = np.arange(6, dtype="<f4").tobytes()
FOUR = np.array([1, -2, 0.5, 3], "<f2").tobytes()
ONE = {"__metadata__": {"format": "pt"}, "w": entry("F32", [2, 3], 0, 24)}
MIXED = {"b": entry("F16", [4], 24, 32), "a": entry("F32", [2, 3], 0, 24),
         "c": entry("BF16", [2, 1], 32, 36)}
LONG = {f"h.{i}.attn.c_attn.weight": entry("F32", [2, 3], 24 * i, 24 * i + 24)
        for i in range(4)}
LONG["scale"] = entry("F32", [], 96, 100)
POINTER = (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64
           + b"\nsize 548105171\n")
FILES = [
    Case("one tensor, and __metadata__", (file_of(ONE, SIX),)),
    Case("three tensors, in another order than their data",
         (file_of(MIXED, SIX + FOUR + b"\x80?\x00\xc0"),)),
    Case("a header of more than 255 bytes, with spaces at its end",
         (file_of(json.dumps(LONG).encode() + b"   ", SIX * 4 + SIX[4:8]),)),
    Case("a Git-LFS pointer, which must be refused", (POINTER,)),
    Case("a file cut short, which must be refused", (file_of(ONE, SIX)[:-1],)),
    Case("a shape that does not fit its bytes, which must be refused",
         (file_of({"w": entry("F32", [2, 4], 0, 24)}, SIX),)),
    Case("a shape that is too small for its bytes, which must be refused",
         (file_of({"w": entry("F32", [2, 2], 0, 24)}, SIX),)),
]
VIEWS = [
    Case("F32 of shape (2, 3)", (b"\x07" * 8 + SIX, "F32", (2, 3), 8, 32)),
    Case("F32 that begins at an odd place",
         (b"\x07" * 5 + SIX + b"\x01\x02", "F32", (3, 2), 5, 29)),
    Case("F16 of shape (2, 2)", (b"\x3c" * 8 + FOUR, "F16", (2, 2), 8, 16)),
    Case("a single number, shape ()", (b"\x07" * 4 + SIX, "F32", (), 8, 12)),
]
BITS = [
    Case("the bits of 1, -2, 3.140625 and infinity",
         (np.array([0x3F80, 0xC000, 0x4049, 0x7F80], np.uint16),)),
    Case("a matrix", (np.array([[0x0000, 0x3E80], [0xBF00, 0x42F7]], np.uint16),)),
]

exercise(read_header, FILES)
exercise(tensor_view, VIEWS)
exercise(from_bf16, BITS, tolerance=0.0)
