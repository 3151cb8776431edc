"""The weight file: 8 bytes of length, a JSON header, the numbers; read with json and NumPy only.

Accepts what the official reader (safetensors 0.8.0) accepts, with the same arrays, but for:
- a name that stands twice in one JSON object is refused (the official reader takes the last);
- BF16, which NumPy lacks, comes as float32; the float types of 8, 6 and 4 bits can be
  listed, and asking for such a tensor is refused;
- shapes that NumPy cannot hold (over 64 axes, or 2**63 bytes with a zero among the sizes
  left out, BF16 counted as float32) can be listed, and asking for such a tensor is refused.
"""
import difflib
import json
import math
import os
from collections import Counter, namedtuple
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

MAX_HEADER = 100_000_000        # bytes; the official reader's limit
MAX_DEPTH = 127                 # brackets inside brackets; the official reader's limit
FIELDS = ("dtype", "shape", "data_offsets")
NUMPY = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2",
         "U32": "<u4", "I32": "<i4", "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
         "C64": "<c8", "BF16": "<u2"}
BITS = {name: 8 * np.dtype(code).itemsize for name, code in NUMPY.items()} | {
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4}

Entry = namedtuple("Entry", "dtype shape begin end")        # begin, end: bytes of the file
Header = namedtuple("Header", "entries metadata")           # {name: Entry}, {text: text}


class SafetensorsError(ValueError):
    """The file is not a safetensors file, or holds a tensor that NumPy cannot hold."""


def read_header(path):
    """The header of a safetensors file, checked against the file's real size.

    Returns: Header(entries, metadata); entries maps each name to Entry(dtype, shape, begin,
        end) in the order of the file.
    Raises: SafetensorsError with the file, the rule and what came. Reads no data and never
        allocates what the file only claims.
    Source: the format text of github.com/huggingface/safetensors.
    Taught: notebooks/02_safetensors.ipynb
    """
    size = os.path.getsize(path)
    try:
        with open(path, "rb") as file:
            prefix = file.read(8)
            _require(len(prefix) == 8,
                     f"the file has {size} bytes, a safetensors file needs at least 8")
            length = int.from_bytes(prefix, "little")
            if length > min(MAX_HEADER, size - 8):
                raise SafetensorsError(_why_not_a_length(prefix, length, size))
            entries, metadata = _parse(file.read(length))
        _check_tiling(entries, size - 8 - length)
    except SafetensorsError as error:
        raise SafetensorsError(f"{os.fspath(path)}: {error}") from None
    start = 8 + length
    return Header({name: Entry(dtype, tuple(shape), start + begin, start + end)
                   for name, (dtype, shape, (begin, end)) in entries.items()}, metadata)


def open_file(path):
    """Open a safetensors file: a mapping from names to read-only NumPy arrays.

    The file is mapped, not read: an array is a view of the mapped file (zero-copy), made when
    you ask for it. Copies are made of BF16 (becomes float32) and of tensors that do not start
    at a multiple of their item size. A file that is overwritten in place shows through the
    views; one that is replaced by rename does not.
    Returns: TensorFile, with .entries and .metadata of the header.
    Raises: SafetensorsError (see read_header); KeyError for a name that is not there.
    Taught: notebooks/02_safetensors.ipynb
    """
    return TensorFile(path)


def save_file(tensors, path):
    """Write {name: array} as a safetensors file, in this order; the header is padded to 8 bytes.

    Raises: ValueError, before anything is written, for what is no array, and for a name or a type
        of numbers that the format does not have.
    Taught: notebooks/bonus/training.ipynb
    """
    codes = {np.dtype(code): name for name, code in NUMPY.items() if name != "BF16"}
    table, end = {}, 0
    for name, array in tensors.items():
        _require(isinstance(name, str) and name != "__metadata__",
                 f"{name!r:.60} is no name for a tensor")
        _check_values(name)
        _require(isinstance(array, (np.ndarray, np.generic)),
                 f"tensor {name!r} must be an array, got {type(array).__name__}")
        _require(array.dtype in codes, f"tensor {name!r} has dtype {array.dtype}, "
                 f"not one of {', '.join(codes.values())}")
        begin, end = end, end + array.nbytes
        table[name] = dict(zip(FIELDS, (codes[array.dtype], list(array.shape), [begin, end])))
    header = json.dumps(table).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for array in tensors.values():
            file.write(array.tobytes())


class TensorFile(Mapping):
    """Name -> read-only array of an open safetensors file. Made by open_file."""

    def __init__(self, path):
        self.path = os.fspath(path)
        entries, self.metadata = read_header(path)
        self.entries = MappingProxyType(entries)
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)      # (file size,)

    def __getitem__(self, name):
        if name not in self.entries:
            near = difflib.get_close_matches(str(name), self.entries, n=3)
            raise KeyError(f"{os.path.basename(self.path)} has no tensor {name!r}"
                           + (f"; near: {', '.join(near)}" if near else ""))
        dtype, shape, begin, end = self.entries[name]
        if dtype not in NUMPY:
            raise SafetensorsError(f"{self.path}: tensor {name!r} has dtype {dtype}, "
                                   "which NumPy cannot hold")
        flat = self._bytes[begin:end].view(NUMPY[dtype])                              # (elements,)
        if not flat.flags.aligned:
            flat = flat.copy()
        if dtype == "BF16":                     # the upper half of a float32
            flat = (flat.astype(np.uint32) << 16).view(np.float32)
        flat.flags.writeable = False
        try:
            return flat.reshape(shape)                                                # shape
        except (ValueError, OverflowError) as error:
            raise SafetensorsError(f"{self.path}: NumPy cannot hold tensor {name!r}: "
                                   f"{error}") from None

    def __contains__(self, name):
        return name in self.entries

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)

    def __repr__(self):
        return f"<{len(self)} tensors of {os.path.basename(self.path)}>"


def _parse(header):
    """Header bytes -> {name: [dtype, shape, [begin, end]]}, {text: text}."""
    try:
        table = json.loads(header.decode("utf-8"), object_pairs_hook=_no_duplicates,
                           parse_int=_integer, parse_float=_finite, parse_constant=_finite)
        _check_values(table)
    except SafetensorsError:
        raise
    except (ValueError, RecursionError) as error:          # ValueError: not UTF-8, not JSON
        raise SafetensorsError(f"the header is not JSON: {error or type(error).__name__}") from None
    _require(isinstance(table, dict),
             f"the header must be one JSON object, got {type(table).__name__}")
    metadata = table.pop("__metadata__", None)
    metadata = {} if metadata is None else metadata
    _require(isinstance(metadata, dict),
             f"__metadata__ must be an object, got {type(metadata).__name__}")
    for key, text in metadata.items():
        _require(isinstance(text, str), f"__metadata__ {key!r} must be text, got {text!r:.60}")
    return {name: _entry(name, entry) for name, entry in table.items()}, metadata


def _entry(name, entry):
    """One value of the header, checked: [dtype, shape, [begin, end]]."""
    if isinstance(entry, list) and len(entry) == 3:        # the official reader takes this form too
        entry = dict(zip(FIELDS, entry))
    _require(isinstance(entry, dict) and all(field in entry for field in FIELDS),
             f"tensor {name!r} must be an object with {', '.join(FIELDS)}, got {entry!r:.60}")
    dtype, shape, offsets = (entry[field] for field in FIELDS)
    if isinstance(dtype, dict) and list(dtype.values()) == [None]:       # and this one
        dtype = next(iter(dtype))
    _require(isinstance(dtype, str) and dtype in BITS,
             f"tensor {name!r} has an unknown dtype: {dtype!r:.60}")
    for field, numbers in (("shape", shape), ("data_offsets", offsets)):
        _require(isinstance(numbers, list)
                 and all(type(n) is int and 0 <= n < 2**64 for n in numbers),
                 f"tensor {name!r}: {field} must be whole numbers from 0 to 2**64 - 1, "
                 f"got {numbers!r:.60}")
    _require(len(offsets) == 2,
             f"tensor {name!r}: data_offsets must be two numbers, got {len(offsets)}")
    return dtype, shape, offsets


def _check_tiling(entries, data_size):
    """Sorted by offset, the tensors must cover the data section exactly, each with its own size."""
    expected = 0
    for name, (dtype, shape, (begin, end)) in sorted(entries.items(), key=lambda item: item[1][2]):
        _require(begin == expected and end >= begin,
                 f"tensor {name!r} must begin at byte {expected} of the data, got {begin} to {end}")
        elements = 1
        for n in (*shape, BITS[dtype]):                     # the official reader counts in 64 bits
            elements *= n
            _require(elements < 2**64, f"tensor {name!r}: shape {shape} overflows 64 bits")
        _require(elements == 8 * (end - begin), f"tensor {name!r}: {dtype} of shape {shape} has "
                 f"{elements / 8:.15g} bytes, its data_offsets give {end - begin}")
        expected = end
    kind = "too many" if data_size > expected else "missing"
    _require(expected == data_size, f"the tensors end at byte {expected} of the data, the file has "
             f"{data_size} ({abs(data_size - expected)} {kind})")


def _why_not_a_length(prefix, length, size):
    """The sentence for a first number that cannot be the length of a header."""
    if prefix == b"version ":
        return ("this is a Git-LFS pointer, not the weights: download the real file "
                f"('git lfs pull'); its first 8 bytes, read as a length, give {length}")
    if size - 8 < length <= MAX_HEADER:
        return (f"the header should have {length} bytes, the file has {size} in all: "
                "cut short, or no safetensors file")
    return (f"the header would have {length} bytes, the limit is {MAX_HEADER}: no safetensors file "
            f"(it begins with {prefix!r})")


def _check_values(value, depth=1):
    """Text must be Unicode, brackets must not nest too deep: json is laxer than the format."""
    if isinstance(value, str):
        value.encode("utf-8")                              # half a surrogate pair is not text
    elif isinstance(value, (dict, list)):
        _require(depth <= MAX_DEPTH, f"the header nests more than {MAX_DEPTH} brackets")
        for item in value:
            _check_values(item, depth + 1)
        if isinstance(value, dict):
            for item in value.values():
                _check_values(item, depth + 1)


def _no_duplicates(pairs):
    table = dict(pairs)
    if len(table) < len(pairs):
        names = Counter(name for name, _ in pairs)
        raise SafetensorsError(f"the header has the name {names.most_common(1)[0][0]!r} twice")
    return table


def _integer(text):
    return int(text) if len(text) < 25 and text != "-0" else _finite(text)


def _finite(text):
    number = float(text)
    _require(math.isfinite(number), f"the header holds a number out of range: {text:.60}")
    return number


def _require(condition, sentence):
    if not condition:
        raise SafetensorsError(sentence)
