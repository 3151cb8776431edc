"""Lesson 02: read_header, tensor_view, BF16 made wide, and one byte that changes the story."""
import json
import math
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from gpt2lab import checkpoint, safetensors
from gpt2lab.config import Config
from gpt2lab.model import GPT2
from gpt2lab.teach import show
from gpt2lab.teach.living import STORY, writes

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
    except ValueError as error:
        return str(error)


def verdict(reader, data):
    """Does a reader of headers accept the file with these bytes?"""
    try:
        reader(data)
    except Exception:
        return "refuses"
    return "accepts"


def inventory(weights, width):
    """What a model's weights are, largest first, and what one of its blocks has.

    Rows (tensor, how many, shape, numbers of all, percent, one of them); h.* stands for the blocks.
    And {"D x D" or "D": how many times that each tensor of a block has}; D is the width.
    """
    kinds, rows, block = {}, [], {"D x D": [], "D": []}
    for name, w in weights.items():
        kinds.setdefault("h.*" + name[3:] if name.startswith("h.") else name, []).append(w)
    total = sum(w.size for w in weights.values())
    for kind, (first, *others) in kinds.items():
        of_block, times = kind.startswith("h.*"), 1 + len(others)
        unit = "D x D" if of_block and first.ndim == 2 else "D"
        count = first.size // (width * width if unit == "D x D" else width)
        if of_block:
            block[unit].append(count)
        numbers = times * first.size
        rows.append((kind, times, str(first.shape), numbers, 100 * numbers / total,
                     f"{count} {unit}"))
    return sorted(rows, key=lambda row: -row[3]), block


# read_header

def read_header(data):
    """The library's answer for these bytes: {name: (dtype, shape, begin, end)}."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        with open(path, "wb") as file:          # of the data only the size is looked at
            file.write(data[:8 + int.from_bytes(data[:8], "little")])
            file.truncate(len(data))
        try:
            entries = safetensors.read_header(path).entries
        except safetensors.SafetensorsError as error:
            raise ValueError(str(error).removeprefix(f"{path}: ")) from None
    return {name: tuple(entry) for name, entry in entries.items()}


@mistake(of=read_header)
def all_refused(data):
    """Every file is refused, good ones too.

    Print each step for the first case. The length is little endian: its first byte counts ones,
    the next one counts 256s. The header begins after these 8 bytes. A size in bytes is more than a
    count of numbers, and a product of the shape, no sum. The last tensor may end with the file.
    Which step comes out wrong?
    """
    raise ValueError("refused")


@mistake(of=read_header)
def header_cut_short(data):
    """The last 8 bytes of the header are missing.

    The header is n bytes long and begins at byte 8. Where does it end?
    """
    return _parsed(data, length=int.from_bytes(data[:8], "little") - 8)


@mistake(of=read_header)
def header_from_byte_0(data):
    """The text is taken from the first byte of the file.

    Eight bytes stand in front of it, and they are no text. Where does the header begin?
    """
    return json.loads(data[:int.from_bytes(data[:8], "little")])


@mistake(of=read_header)
def header_without_an_end(data):
    """The length is read from the wrong end, or not used: the data are taken for text as well.

    Print the length of the first file: if it is huge, you have read its bytes from the wrong end.
    The first byte counts ones. If it is small: where does the header end?
    """
    return json.loads(data[8:])


@mistake(of=read_header)
def length_of_some_bytes(data):
    """Only some of the eight bytes of the length are used.

    That is enough for short headers. But a file whose length is nonsense must be refused, and the
    nonsense may stand in any of the eight. How many bytes has the length?
    """
    return _parsed(data, length=int.from_bytes(data[:4], "little"))


@mistake(of=read_header)
def json_as_it_is(data):
    """The header comes back as JSON has it.

    What is asked for is {name: (dtype, shape, begin, end)}, counted from the start of the file.
    What must be done with each entry?
    """
    return json.loads(data[8:8 + int.from_bytes(data[:8], "little")])


@mistake(of=read_header)
def notes_demanded(data):
    """A file without __metadata__ is refused.

    The notes are allowed, not demanded. How do you take a name out of a dict that may lack it?
    """
    found = _parsed(data, keep_metadata=False)
    json.loads(data[8:8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    return found


@mistake(of=read_header)
def first_tensor_only(data):
    """Only the first tensor comes back.

    The loop ends at its first turn. How far is the return indented?
    """
    return dict(list(_parsed(data).items())[:1])


@mistake(of=read_header)
def last_tensor_only(data):
    """Only the last tensor comes back.

    Each turn of the loop begins with an empty dict. Where must the dict be made?
    """
    return dict(list(_parsed(data).items())[-1:])


@mistake(of=read_header)
def bf16_unknown(data):
    """The type BF16 is not known.

    Three types can stand in a header. How many bytes has each of them?
    """
    return {name: (dtype, *rest) for name, (dtype, *rest) in _parsed(data).items()
            if {"F32": 4, "F16": 2}[dtype]}


@mistake(of=read_header)
def all_of_four_bytes(data):
    """All types count as four bytes.

    F16 and BF16 have two. Where do you look at the type of a tensor?
    """
    found = _parsed(data, check_shape=False)
    if any(4 * math.prod(shape) != end - begin for _, shape, begin, end in found.values()):
        raise ValueError("shape")
    return _parsed(data)


@mistake(of=read_header)
def sizes_added_up(data):
    """The sizes of a shape are added up, not multiplied.

    A table of 2 rows and 3 columns has 6 numbers, not 5. And how many has a single number, whose
    shape is ()?
    """
    found = _parsed(data, check_shape=False)
    if any(SIZES[dtype] * sum(shape) != end - begin for dtype, shape, begin, end in found.values()):
        raise ValueError("shape")
    return found


@mistake(of=read_header)
def matrices_only(data):
    """Only tensors with two axes are taken.

    A bias has one axis, a single number has none. Which function multiplies all sizes, however
    many there are?
    """
    found = _parsed(data)
    if any(len(shape) != 2 for _, shape, _, _ in found.values()):
        raise ValueError("axes")
    return found


@mistake(of=read_header)
def types_of_numpy(data):
    """The type comes back as NumPy's, not as the word of the file.

    What stands first in each result is "F32" or another such word. What does the header hold?
    """
    types = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}
    return {name: (types[dtype], *rest) for name, (dtype, *rest) in _parsed(data).items()}


@mistake(of=read_header)
def empty_when_broken(data):
    """A broken file gives an empty dict, not an error.

    Whoever called would go on without weights. How does Python say that it cannot go on?
    """
    try:
        return _parsed(data)
    except ValueError:
        return {}


@mistake(of=read_header)
def nothing_when_broken(data):
    """A broken file gives None, not an error.

    Whoever called would go on without weights. How does Python say that it cannot go on?
    """
    try:
        _parsed(data, check_end=False, check_shape=False)       # no JSON: that raises by itself
        return _parsed(data)
    except ValueError as error:
        return None if str(error) in ("end", "shape") else _parsed(data)


@mistake(of=read_header)
def wrong_kind_of_error(data):
    """A broken file is refused, but not with a ValueError.

    assert and KeyError are for other occasions. How do you raise the error that was asked for?
    """
    try:
        return _parsed(data)
    except ValueError as error:
        if str(error) in ("end", "shape"):
            raise AssertionError from None
        raise


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
def eight_too_many(data):
    """The offsets are 8 too large.

    The 8 bytes of the length are counted twice. How many bytes stand in front of the data?
    """
    return {name: (dtype, shape, begin + 8, end + 8)
            for name, (dtype, shape, begin, end) in _parsed(data).items()}


@mistake(of=read_header)
def end_is_the_last_byte(data):
    """The end is the place of the last byte, not the place behind it.

    data[begin:end] leaves data[end] out. What is end - begin to be?
    """
    return {name: (dtype, shape, begin, end - 1)
            for name, (dtype, shape, begin, end) in _parsed(data).items()}


@mistake(of=read_header)
def shape_before_the_type(data):
    """The shape stands in front of the type.

    The order is (dtype, shape, begin, end). In which order do you write yours?
    """
    return {name: (shape, dtype, begin, end)
            for name, (dtype, shape, begin, end) in _parsed(data).items()}


@mistake(of=read_header)
def offsets_in_one(data):
    """begin and end stand together in one list.

    Four things are asked for: (dtype, shape, begin, end). What does a * in front of a list do?
    """
    return {name: (dtype, shape, [begin, end])
            for name, (dtype, shape, begin, end) in _parsed(data).items()}


@mistake(of=read_header)
def metadata_taken_for_a_tensor(data):
    """__metadata__ is taken for a tensor.

    The header may hold one entry that has no dtype and no shape. How do you leave it out?
    """
    return _parsed(data, keep_metadata=True)


@mistake(of=read_header)
def metadata_first(data):
    """__metadata__ is taken for a tensor, and nothing is compared yet.

    The header may hold one entry that has no dtype, no shape and no offsets. How do you leave it
    out? Then compare the end of each tensor with the file, and its shape with its bytes.
    """
    return _parsed(data, keep_metadata=True, check_end=False, check_shape=False)


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
    header, entries = json.loads(bytes(data[8:start])), {}
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
    """The right answer: the bytes from begin to end, seen as numbers of this shape; no copy."""
    return np.frombuffer(memoryview(data)[begin:end], CODES[dtype]).reshape(shape)


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


@mistake(of=tensor_view)
def widened_to_float64(data, dtype, shape, begin, end):
    """The numbers come out as float64.

    Python's own floats are of that kind, and np.array keeps it. What does frombuffer give when it
    knows the type?
    """
    return tensor_view(data, dtype, shape, begin, end).astype(np.float64)


@mistake(of=tensor_view)
def read_as_float64(data, dtype, shape, begin, end):
    """The bytes are read as float64, eight to a number.

    np.frombuffer takes float64 when it is told nothing. Where does the type come from?
    """
    return np.frombuffer(data[begin:end]).reshape(shape)


@mistake(of=tensor_view)
def all_float16(data, dtype, shape, begin, end):
    """F32 is read as if it were F16.

    A number of F32 has four bytes. Do you use the argument dtype?
    """
    return np.frombuffer(data[begin:end], "<f2").reshape(shape)


@mistake(of=tensor_view)
def word_as_a_type(data, dtype, shape, begin, end):
    """NumPy gets the word of the file, such as F32, which it does not know.

    NumPy calls that type float32, or "<f4". How do you get from one word to the other?
    """
    return np.frombuffer(data[begin:end], dtype).reshape(shape)


@mistake(of=tensor_view)
def each_byte_a_number(data, dtype, shape, begin, end):
    """Each byte becomes a number of its own.

    Four bytes together are one number of F32. Which function reads them so, when it knows the type?
    """
    return np.array(list(data[begin:end]), np.float32).reshape(shape)


@mistake(of=tensor_view)
def whole_numbers(data, dtype, shape, begin, end):
    """The bits are read as whole numbers.

    The bytes are right, but i4 and i2 are integers. Which letter stands for floats?
    """
    return np.frombuffer(data[begin:end], CODES[dtype].replace("f", "i")).reshape(shape)


@mistake(of=tensor_view)
def f16_as_whole_numbers(data, dtype, shape, begin, end):
    """The bits of F16 are read as whole numbers.

    NumPy has no BF16, but it has F16. Which type is it?
    """
    code = CODES[dtype].replace("f2", "u2")
    return np.frombuffer(data[begin:end], code).reshape(shape)


@mistake(of=tensor_view)
def counted_in_numbers(data, dtype, shape, begin, end):
    """begin and end are used as places of numbers.

    They count bytes. Which do you cut first, the bytes or the numbers?
    """
    return np.frombuffer(data, CODES[dtype])[begin:end].reshape(shape)


@mistake(of=tensor_view)
def bytes_as_a_count(data, dtype, shape, begin, end):
    """The number of bytes is taken for the number of numbers.

    count asks how many numbers to read. How many bytes has one?
    """
    return np.frombuffer(data, CODES[dtype], count=end - begin, offset=begin).reshape(shape)


@mistake(of=tensor_view)
def others_bytes_too(data, dtype, shape, begin, end):
    """Bytes that belong to others are read along, behind this tensor or in front of it.

    They need not be a whole number of numbers. Which bytes are the tensor's own?
    """
    return np.frombuffer(data, CODES[dtype], offset=begin).reshape(shape)


@mistake(of=tensor_view)
def a_byte_missing(data, dtype, shape, begin, end):
    """The slice of bytes is off by one.

    begin is its first byte; its end is left out. How many bytes has data[8:32]?
    """
    return np.frombuffer(data[begin:end - 1], CODES[dtype]).reshape(shape)


@mistake(of=tensor_view)
def eight_bytes_too_far(data, dtype, shape, begin, end):
    """It is read 8 bytes too far on.

    begin and end count from the start of the file already. What do you add to them?
    """
    return np.frombuffer(data[8 + begin:8 + end], CODES[dtype]).reshape(shape)


@mistake(of=tensor_view)
def turned(data, dtype, shape, begin, end):
    """The matrix is turned over.

    A transpose changes the shape. Is there a .T too many?
    """
    return tensor_view(data, dtype, shape, begin, end).T


@mistake(of=tensor_view)
def shape_backwards(data, dtype, shape, begin, end):
    """The sizes of the shape stand the other way round.

    The header's shape is NumPy's: (rows, columns). Why do you turn it over?
    """
    return tensor_view(data, dtype, shape[::-1], begin, end)


@mistake(of=tensor_view)
def always_a_matrix(data, dtype, shape, begin, end):
    """Every tensor is made a matrix.

    A bias has one axis, a single number has none. What does reshape take as it is?
    """
    return tensor_view(data, dtype, (-1, shape[-1]), begin, end)


@mistake(of=tensor_view)
def matrices(data, dtype, shape, begin, end):
    """Only tensors with two axes are taken.

    A bias has one axis, a single number has none. What does reshape take as it is?
    """
    rows, columns = shape
    return tensor_view(data, dtype, (rows, columns), begin, end)


@mistake(of=tensor_view)
def zero_by_the_rule(data, dtype, shape, begin, end):
    """0 comes out as a tiny number: the exponent field 0 is read like the others.

    Section 4 left the fields 0 and 255 out, and F16 divides its bits in another way. Which function
    of NumPy knows all of that?
    """
    numbers = np.frombuffer(data[begin:end], "<f4").astype(np.float64)
    numbers[numbers == 0] = 2.0 ** -127
    return numbers.reshape(shape)


@mistake(of=tensor_view)
def lists(data, dtype, shape, begin, end):
    """The numbers come back in lists, not in an array.

    A list of a thousand numbers takes many times the memory. What is lost if you leave tolist out?
    """
    return tensor_view(data, dtype, shape, begin, end).tolist()


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
def no_room(bits):
    """uint16 has no room for 32 bits.

    The shift pushes all bits out at the left, and .view then makes one number of two. Which type
    has 32 bits, and when must it be made?
    """
    return (bits & np.uint16(0)).view(np.float32)


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


@mistake(of=from_bf16)
def shifted_as_a_number(bits):
    """The bits are moved to the right place, but then taken for a whole number.

    astype keeps the value and changes the bits. What keeps the bits and changes the meaning?
    """
    return (bits.astype(np.uint32) << 16).astype(np.float32)


@mistake(of=from_bf16)
def not_far_enough(bits):
    """The bits are moved by 8 places, not by 16.

    BF16 has 16 bits, F32 has 32. How many places are left at the right?
    """
    return (bits.astype(np.uint32) << 8).view(np.float32)


@mistake(of=from_bf16)
def bf16_in_float64(bits):
    """The numbers come out as float64, twice as wide as asked for.

    np.zeros makes float64 unless you say otherwise. What does .view(np.float32) give?
    """
    return from_bf16(bits).astype(np.float64)


@mistake(of=from_bf16)
def bf16_made_flat(bits):
    """The numbers stand in one row, whatever shape the bits had.

    A matrix of bits becomes a matrix of numbers. Which step makes it flat?
    """
    return from_bf16(bits).reshape(-1)


# one_byte

@cache
def file_bytes():
    """The bundled model's file, as an array of bytes that cannot be written into.

    It is mapped: nothing is read before it is touched.
    """
    return np.asarray(np.memmap(checkpoint.BUNDLED / "model.safetensors", np.uint8, mode="r"))


@cache
def file_entries():
    return _parsed(memoryview(file_bytes()))


def story(data):
    """What the model in these bytes of a whole file goes on with."""
    config = Config.from_file(checkpoint.BUNDLED / "config.json")
    weights = {name.removeprefix("transformer."): tensor_view(data, *entry)
               for name, entry in _parsed(data).items()}
    return writes(GPT2(config, weights, checkpoint.tokenizer()), STORY, 6)


@cache
def its_story():
    """What the model of the file as it is goes on with."""
    return story(file_bytes().tobytes())


def judge(copy):
    """"another story" where one byte of the file is changed and the model goes on otherwise.

    copy: all bytes of the file, as an array. Raises: ValueError with the rule that is broken. It
    prints the number where a change is not heard.
    """
    return _judged(copy, print)


def number_at(entries, place):
    """(words, place of its first byte): the number of four bytes that the byte at `place` is of.

    None where the byte is in no tensor.
    """
    for name, (_, shape, begin, end) in entries.items():
        if begin <= place < end:
            which = int(place - begin) // 4
            row, column = divmod(which, shape[-1]) if shape else (0, 0)
            name = name.removeprefix("transformer.")
            if name == "wte.weight":
                word = show.token(checkpoint.tokenizer().decode([row])).replace("·", " ")
                where = f'row {row:,}, of "{word}", '
            else:
                where = f"row {row:,}, " if len(shape) == 2 else ""
            return f"{name}, {where}number {column}", begin + 4 * which
    return None


def _judged(copy, tell=lambda words: None):
    if isinstance(copy, (bytes, bytearray)):
        copy = np.frombuffer(copy, np.uint8)
    file = file_bytes()
    if not isinstance(copy, np.ndarray) or copy.dtype != np.uint8 or copy.ndim != 1:
        raise ValueError("hand the judge all bytes of your copy, as an array of uint8")
    if copy.size != file.size:
        more = "longer" if copy.size > file.size else "shorter"
        raise ValueError(f"your copy is {more} than the file")
    places = np.flatnonzero(copy != file)
    if not len(places):
        raise ValueError("your copy is the file: no byte is changed")
    if len(places) > 1:
        raise ValueError("more than one byte is changed")
    found = number_at(file_entries(), places[0])
    if found is None:
        raise ValueError("the byte that you changed is none of a number: it is in front of them")
    told = story(copy.tobytes())
    if "not finite" in told:
        raise ValueError("the model writes no story: its scores are infinite or no numbers at all")
    if its_story().startswith(told.removesuffix("...")):        # dots: two words are too near
        where, at = found
        was, now = (np.frombuffer(some[at:at + 4].tobytes(), "<f4")[0] for some in (file, copy))
        tell(f"{where}: byte {places[0] - at} was {file[places[0]]} and is {copy[places[0]]}, "
             f"the number was {was:.7g} and is {now:.7g}")
        raise ValueError("the model tells the same story")
    return "another story"


def _row_of_king(entries):
    """Where the row of " king" begins in the file."""
    return entries["transformer.wte.weight"][2] + 4 * 128 * 5822


def one_byte(raw, entries, judge):
    """A right answer: one number in the row of " king" becomes large and negative."""
    copy = raw.copy()
    copy[_row_of_king(entries) + 3] = 194
    return judge(copy)


@mistake(of=one_byte)
def no_byte_changed(raw, entries, judge):
    """Your copy is the file as it was.

    Perhaps the byte had that value already. Print it before and after. What does your line change?
    """
    return judge(raw.copy())


@mistake(of=one_byte)
def whole_number_changed(raw, entries, judge):
    """A whole number is written, which has four bytes.

    Of these four only one may change. Which of them holds most of the exponent?
    """
    copy, at = raw.copy(), _row_of_king(entries)
    copy[at:at + 4] = np.frombuffer(np.array([1000], "<f4").tobytes(), np.uint8)
    return judge(copy)


@mistake(of=one_byte)
def in_front_of_the_data(raw, entries, judge):
    """The byte is one of the length or of the header.

    Such a file may not be readable at all. A name's entry is (dtype, shape, begin, end): where do
    the bytes of its numbers begin?
    """
    copy = raw.copy()
    copy[3] = 66
    return judge(copy)


@mistake(of=one_byte)
def fraction_changed(raw, entries, judge):
    """The number changes too little, or it is one that this story does not need.

    A number has four bytes; the table above shows which of them matters. A row of the token table
    has 128 numbers, and only a few rows are words that this story could say. Is it your number that
    you hit? It begins at begin + 4 x its place.
    """
    copy = raw.copy()
    copy[_row_of_king(entries)] = 66
    return _judged(copy)                        # which tells nothing of a byte that is not yours


@mistake(of=one_byte)
def far_too_large(raw, entries, judge):
    """The number becomes so large that the model can no longer reckon with it.

    Sums of such numbers are infinite. An exponent field of 127 stands for 2^0, and each one more
    doubles the number: which value of the byte makes it large, but not that large?
    """
    copy = raw.copy()
    copy[_row_of_king(entries) + 3] = 127
    return judge(copy)


@mistake(of=one_byte)
def file_itself_changed(raw, entries, judge):
    """Your function writes into the bytes that it was given.

    b = raw gives them a second name, and raw[:] is a view of them (lesson 01). What makes a copy?
    """
    raw[_row_of_king(entries) + 3] = 66
    return judge(raw)


@mistake(of=one_byte)
def no_judge(raw, entries, judge):
    """The copy comes back, and nobody has judged it.

    What is asked for is what judge gives. How do you call it?
    """
    copy = raw.copy()
    copy[_row_of_king(entries) + 3] = 66
    return copy


@mistake(of=one_byte)
def judge_gets_a_part(raw, entries, judge):
    """The judge gets something else than all bytes of the file.

    A part of the copy is no file, and a place, a list or floats are no bytes. What is to be handed
    over?
    """
    return judge(66)


@mistake(of=one_byte)
def part_of_the_file(raw, entries, judge):
    """Bytes of the file are missing.

    One byte is to have another value; all others stay where they are. Do you cut, or leave one out?
    """
    return judge(raw[:-1].copy())


@mistake(of=one_byte)
def byte_put_in(raw, entries, judge):
    """A byte is put in, so that all behind it move on.

    The header would give wrong places. How do you give the byte at one place another value?
    """
    return judge(np.append(raw, np.uint8(66)))


@mistake(of=one_byte)
def behind_the_end(raw, entries, judge):
    """The place is counted behind the end of the file.

    begin and end are places in the file already. What do you add to them, and times what?
    """
    copy = raw.copy()
    copy[len(raw)] = 66
    return judge(copy)


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
PIECES = np.array([-1.2345678, 2.5e-8, -3e30, 0.1], "<f4").tobytes()
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
    Case("a length whose last byte is not 0, which must be refused",
         (file_of(ONE, SIX)[:7] + b"\x01" + file_of(ONE, SIX)[8:],)),
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
    Case("F32 with other numbers behind it",
         (b"\x07" * 8 + SIX + SIX, "F32", (6,), 8, 32)),
    Case("F32 with fractions and signs", (PIECES, "F32", (4,), 0, 16)),
    Case("F16 of shape (2, 2)", (b"\x3c" * 8 + FOUR, "F16", (2, 2), 8, 16)),
    Case("a single number, shape ()", (b"\x07" * 4 + SIX, "F32", (), 8, 12)),
]
BITS = [
    Case("the bits of 1, -2, 3.140625 and infinity",
         (np.array([0x3F80, 0xC000, 0x4049, 0x7F80], np.uint16),)),
    Case("a matrix", (np.array([[0x0000, 0x3E80], [0xBF00, 0x42F7]], np.uint16),)),
]

exercise(read_header, FILES)
exercise(tensor_view, VIEWS, tolerance=0.0)
exercise(from_bf16, BITS, tolerance=0.0)
exercise(one_byte, [Case("the bundled model and the story of the old king",
                         (file_bytes(), file_entries(), judge))])
