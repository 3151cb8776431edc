"""Side by side with the official reader (safetensors 0.8.0) on files that are right or nearly so.

    python tests/slow/fuzz_safetensors.py --count 20000 --seed 1

Each file starts valid and is changed in zero to two places. Both readers must take it or both
refuse it; of a file that both take, names, metadata, dtypes, shapes and bits must be equal. Only
the exceptions in the docstring of gpt2lab/safetensors.py are let pass, each recognised exactly.
Exit code 1, and the file is kept, where the readers differ.
"""
import argparse
import collections
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import safetensors as official
import safetensors.numpy

from gpt2lab.safetensors import SafetensorsError, open_file

NUMPY = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2",
         "U32": "<u4", "I32": "<i4", "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
         "C64": "<c8", "BF16": "<u2"}
SMALL = {"F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
         "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4}
BITS = {name: 8 * np.dtype(code).itemsize for name, code in NUMPY.items()} | SMALL
DTYPES = list(NUMPY) * 2 + list(SMALL)
NAMES = ["a", "wte.weight", "h.0.attn.c_attn.weight", "", "é", "🦀", "dtype", "\x00", "\x7f", '"',
         "\\", "/", "__metadata", "\u2028", "\ufeff", "\uffff", "\U0010ffff", " a", "a "]
NUMBERS = ["0", "1", "2", "3", "4", "8", "-0", "-1", "0.0", "4.0", "1e2", "4e0", "1E0", "0e0",
           "-0.0", "1e308", "1e309", "1e-400", "01", "+1", "1.", ".5", "0x4", "4294967296",
           "9223372036854775807", "9223372036854775808", "18446744073709551615",
           "18446744073709551616", "1" + "0" * 24, "1" + "0" * 25, "9" * 308, "9" * 309, "9" * 400,
           "0" * 30, "0." + "0" * 400, "true", "false", "null", '"1"', '""', "[]", "{}", "[1]",
           "NaN", "Infinity", "-Infinity"]
STRINGS = ['"F32"', '"f32"', '"U8"', '"\\u0055\\u0038"', '"\\ud83e\\udd80"', '"\\ud800"',
           '"\\udc00"', '"\\udd80\\ud83e"',
           '"\\ud800\\u0041"', '"\\uD800\\\\uDC00"', '"\\u000"', '"\\x41"',
           '"\\/"', '"\\\'"', '"\t"', '"\n"', '"\x00"', '"\x1f"', '"\x7f"', '"\x80"', '"a', "'a'",
           '"\\"', "a"]
ANY = NUMBERS + STRINGS + ['{"F32":null}', '{"F32":{}}', '{"F32":null,"U8":null}', '{"x":null}',
                           '["F32"]', '[[],[[]]]', '{"a":{"b":[1,{"c":null}]}}', '{"a":1,"a":2}',
                           "[1,]", "{,}", '{"a":1,}', "[1 2]", '{"a" 1}', '{1:2}', "//", "/**/"]
SPACES = [" ", "\t", "\n", "\r", "\r\n", "  ", "\x0b", "\x0c", "\xa0", "\u2003", "\ufeff", "\x00",
          "\x1e", "\x85"]
WEIGHTY = [" ", "\t", "\n", "\r"]


class Draft:
    """A file in the making: tensors as lists of [field, JSON text], free to be made wrong."""

    def __init__(self, dice):
        self.dice = dice
        self.tensors, self.data = [], b""       # [name as JSON text, [[field, text], ...], form]
        self.metadata, self.extra = [], []      # [name, JSON text], put among the tensors
        self.space = lambda: ""
        names = dice.sample(NAMES, dice.choice((0, 1, 1, 2, 2, 3, 4)))
        for name in names:
            dtype = dice.choice(DTYPES)
            shape = dice.choices((0, 1, 1, 2, 2, 3, 4), k=dice.choice((0, 1, 1, 2, 2, 3)))
            if BITS[dtype] % 8:                 # whole bytes
                shape.append(4)
            size = math.prod(shape) * BITS[dtype] // 8
            begin = len(self.data)
            self.data += bytes(dice.choices((0, 1) if dtype == "BOOL" else range(256), k=size))
            fields = [["dtype", quoted(dtype)], ["shape", json.dumps(shape)],
                      ["data_offsets", json.dumps([begin, len(self.data)])]]
            if dice.random() < 0.3:
                dice.shuffle(fields)
            name = json.dumps(name, ensure_ascii=dice.random() < 0.5)
            self.tensors.append([name, fields, "object"])
        dice.shuffle(self.tensors)
        if dice.random() < 0.3:
            pairs = {key: dice.choice(NAMES) for key in dice.sample(NAMES, dice.randrange(3))}
            self.metadata.append(['"__metadata__"', json.dumps(pairs, ensure_ascii=False)])

    def header(self):
        space = self.space

        def object_of(pairs):
            return "{" + ",".join(f"{space()}{name}{space()}:{space()}{value}{space()}"
                                  for name, value in pairs) + "}"

        def tensor(fields, form):
            if form == "list":
                return "[" + ",".join(text for _, text in fields) + "]"
            return object_of((quoted(field), text) for field, text in fields)

        members = [(name, tensor(fields, form)) for name, fields, form in self.tensors]
        for pair in self.metadata + self.extra:
            members.insert(self.dice.randint(0, len(members)), tuple(pair))
        return space() + object_of(members) + space()


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


# Changes of the draft. Those of MILD leave the file valid, or nearly always.

def some_tensor(draft):
    """One tensor of the draft, or a new one of no bytes."""
    if not draft.tensors:
        fields = [["dtype", '"U8"'], ["shape", "[0]"], ["data_offsets", "[0,0]"]]
        draft.tensors.append(['"new"', fields, "object"])
    return draft.dice.choice(draft.tensors)


def white_space(draft):
    draft.space = lambda: draft.dice.choice(WEIGHTY) * draft.dice.randrange(3)


def odd_white_space(draft):
    place, odd = draft.dice.randrange(8), draft.dice.choice(SPACES)
    counter = iter(range(10**6))
    draft.space = lambda: odd if next(counter) == place else ""


def unknown_field(draft):
    fields = some_tensor(draft)[1]
    pair = [draft.dice.choice(NAMES), draft.dice.choice(ANY)]
    fields.insert(draft.dice.randint(0, len(fields)), pair)


def deep_field(draft):
    depth = draft.dice.choice((1, 60, 120, 123, 124, 125, 126, 127, 128, 200, 1500))
    left, right = draft.dice.choice((("[", "]"), ('{"a":', "}"), ('[{"":', "}]")))
    depth //= len(right)
    inside = "1" if left != "[" else ""
    some_tensor(draft)[1].append(["x", left * depth + inside + right * depth])


def list_form(draft):
    tensor = some_tensor(draft)
    if draft.dice.random() < 0.8:               # the right order
        tensor[1].sort(key=lambda pair: ("dtype", "shape", "data_offsets", pair[0]).index(pair[0]))
    tensor[2] = "list"


def dtype_object(draft):
    for pair in some_tensor(draft)[1]:
        if pair[0] == "dtype":
            value = draft.dice.choice(("null", "null", "null", "{}", "[]", "1"))
            pair[1] = "{%s:%s}" % (pair[1], value)


def escapes(draft):
    """The same header with some letters as \\u escapes."""
    tensor = some_tensor(draft)
    for pair in tensor[1]:
        if pair[0] == "dtype":
            pair[1] = pair[1].replace("F", "\\u0046").replace("U", "\\u0055")
    tensor[0] = tensor[0].replace("a", "\\u0061")


def metadata(draft):
    pairs = ",".join(f"{quoted(draft.dice.choice(NAMES))}:{quoted(draft.dice.choice(NAMES))}"
                     for _ in range(draft.dice.randrange(4)))
    value = "null" if draft.dice.random() < 0.3 else "{%s}" % pairs
    draft.metadata[:] = [['"__metadata__"', value]]


def empty_tensor(draft):
    end = draft.dice.choice((0, len(draft.data)))
    shape = draft.dice.choice(([0], [0, 3], [2, 0, 5], [0, 0], [0, 2**31, 2**30], [0, 2**63],
                               [2**63, 0], [2**64 - 1, 0], [0, 2**64 - 1], [0] * 65, [1] * 64 + [0],
                               [0, 2**61], [0, 2**60 - 1], [2**32, 2**31, 0], [2**32, 2**32, 0]))
    draft.tensors.append(['"empty"', [["dtype", quoted(draft.dice.choice(DTYPES))],
                                      ["shape", json.dumps(shape)],
                                      ["data_offsets", f"[{end},{end}]"]], "object"])


def many_axes(draft):
    for pair in some_tensor(draft)[1]:
        if pair[0] == "shape":
            pair[1] = pair[1].rstrip("]") + ("," if pair[1] != "[]" else "") + ",".join(
                ["1"] * draft.dice.choice((1, 2, 60, 63, 64, 65))) + "]"


def dtype_value(draft):
    for pair in some_tensor(draft)[1]:
        if pair[0] == "dtype":
            pair[1] = draft.dice.choice(ANY + [quoted(d) for d in DTYPES + ["F128", "F32 ", ""]])


def one_number(draft):
    """One number of a shape or of offsets becomes another value."""
    field, step = draft.dice.choice(("shape", "data_offsets")), draft.dice.choice((-4, -1, 1, 4))
    for pair in some_tensor(draft)[1]:
        if pair[0] == field:
            parts = pair[1].strip("[]").split(",")
            i = draft.dice.randrange(len(parts))
            step_text = str(int(parts[i]) + step) if parts[i].strip().isdigit() else "1"
            parts[i] = draft.dice.choice((step_text, draft.dice.choice(NUMBERS)))
            pair[1] = "[" + ",".join(parts) + "]"


def numbers_value(draft):
    field = draft.dice.choice(("shape", "data_offsets"))
    for pair in some_tensor(draft)[1]:
        if pair[0] == field:
            pair[1] = draft.dice.choice((draft.dice.choice(ANY), pair[1][:-1] + ",0]", "[]", "[0]"))


def missing_field(draft):
    fields = some_tensor(draft)[1]
    del fields[draft.dice.randrange(len(fields))]


def duplicate_field(draft):
    fields = some_tensor(draft)[1]
    fields.insert(draft.dice.randint(0, len(fields)), list(draft.dice.choice(fields)))


def duplicate_name(draft):
    name, fields, form = some_tensor(draft)
    other = draft.dice.choice(draft.tensors)
    draft.tensors.append([name, [list(pair) for pair in other[1]], form])


def metadata_value(draft):
    value = draft.dice.choice((draft.dice.choice(ANY), '{"k":%s}' % draft.dice.choice(ANY),
                               '{"k":"1","k":"1"}', '{%s:"v"}' % draft.dice.choice(STRINGS)))
    draft.metadata.append(['"__metadata__"', value])


def extra_member(draft):
    draft.extra.append([draft.dice.choice(STRINGS), draft.dice.choice(ANY)])


def odd_name(draft):
    some_tensor(draft)[0] = draft.dice.choice(STRINGS)


def swapped_offsets(draft):
    first, second = (next((pair for pair in some_tensor(draft)[1] if pair[0] == "data_offsets"),
                          ["", ""]) for _ in range(2))
    first[1], second[1] = second[1], first[1]


MILD = [white_space, unknown_field, list_form, dtype_object, escapes, metadata, empty_tensor,
        many_axes]
WILD = [odd_white_space, deep_field, dtype_value, one_number, one_number, numbers_value,
        missing_field, duplicate_field, duplicate_name, metadata_value, extra_member, odd_name,
        swapped_offsets]


def some_byte(dice, header):
    """One byte of the header changed, put in, or taken out."""
    i = dice.randrange(len(header))
    byte = bytes([dice.choice(b'{}[]",:0123456789 \\ntfeFU.-+\x00\x1f\x80\xc3\xed\xff')])
    return header[:i] + dice.choice((byte, byte + header[i:i + 1], b"")) + header[i + 1:]


def make_file(dice):
    """One file, and what was done to it."""
    draft = Draft(dice)
    done = dice.choices(MILD, k=dice.choice((0, 1, 1, 2)))
    if dice.random() < 0.45:
        done += dice.choices(WILD, k=dice.choice((1, 1, 1, 2)))
    for change in done:
        change(draft)
    header = draft.header().encode("utf-8")
    what = [change.__name__ for change in done]
    if dice.random() < 0.1:
        header, what = some_byte(dice, header), what + ["some_byte"]
    length, data = len(header), draft.data
    if dice.random() < 0.06:
        what.append("length")
        length = dice.choice((0, 1, 7, length - 1, length + 1, length + len(data), 2 * length,
                              100_000_000, 100_000_001, 2**31, 2**32 + length, 2**63, 2**64 - 1,
                              dice.getrandbits(64)))
    content = (length % 2**64).to_bytes(8, "little") + header + data
    if dice.random() < 0.04:
        what.append("cut")
        content = content[:dice.choice((len(content) - 1, dice.randrange(len(content) + 1),
                                        dice.randrange(10)))]
    if dice.random() < 0.04:
        what.append("extended")
        content += dice.choice((b"\0", b" ", b"}", b"PK\3\4", bytes(8)))
    return content, what


# The two readers

def duplicated(content):
    """Whether one name stands twice in one object of the header."""
    found = []

    def hook(pairs):
        found.append(len({name for name, _ in pairs}) < len(pairs))
        return {}
    header = content[8:8 + int.from_bytes(content[:8], "little")]
    json.loads(header, object_pairs_hook=hook)
    return any(found)


def beyond_numpy(dtype, shape):
    item = 4 if dtype == "BF16" else BITS[dtype] // 8           # BF16 comes as float32
    return len(shape) > 64 or math.prod(n for n in shape if n) * item >= 2**63


def compare(path, content, counts):
    """None, or a sentence where the two readers differ."""
    try:
        theirs = dict(official.deserialize(content))
    except official.SafetensorError as error:
        theirs = None
        reason = error
    begin = time.perf_counter()
    try:
        ours = open_file(path)
        arrays = {}
        for name, (dtype, shape, *_) in ours.entries.items():
            try:
                arrays[name] = ours[name]
            except SafetensorsError as error:
                kind = ("small float" if dtype in SMALL else
                        "shape beyond NumPy" if beyond_numpy(dtype, shape) else None)
                if kind is None or "NumPy" not in str(error):
                    return f"asking for {name!r}: {error}"
                counts[kind] += 1
    except SafetensorsError as error:
        ours = None
        if not str(error).startswith(f"{path}: "):
            return f"the file is not named: {error}"
        sentence = error
    except Exception as error:                  # the very thing that must not happen
        counts["exceptions of another kind"] += 1
        return f"{type(error).__name__}: {error}"
    finally:
        counts["seconds"] = time.perf_counter() - begin
    if ours is None and theirs is None:
        counts["refused by both"] += 1
        return None
    if ours is None:
        if "twice" in str(sentence) and duplicated(content):
            counts["name twice"] += 1
            return None
        return f"only the official reader takes it; ours: {sentence}"
    if theirs is None:
        return f"only our reader takes it; official: {reason}"
    counts["accepted by both"] += 1
    if ours.keys() != theirs.keys():
        return f"names: {list(ours)} and {list(theirs)}"
    for name, entry in ours.entries.items():
        told, bits = theirs[name], bytes(theirs[name]["data"])
        if (entry.dtype, list(entry.shape)) != (told["dtype"], told["shape"]):
            return f"{name!r}: {entry} and {told}"
        if content[entry.begin:entry.end] != bits:
            return f"{name!r}: other bytes than the official reader's"
        if name not in arrays:
            continue
        if entry.dtype in SMALL or beyond_numpy(entry.dtype, entry.shape):
            return f"{name!r}: given, but documented as refused"
        array, code = arrays[name], np.dtype(NUMPY[entry.dtype])
        if entry.dtype == "BF16":
            counts["BF16"] += 1
            code = np.dtype("f4")
            bits = (np.frombuffer(bits, "<u2").astype(np.uint32) << 16).tobytes()
        if (array.dtype, list(array.shape)) != (code, told["shape"]) or array.tobytes() != bits:
            return f"{name!r}: the array differs"
        if array.flags.writeable:
            return f"{name!r}: writeable"
        counts["arrays equal"] += 1
    with official.safe_open(path, framework="np") as file:      # the official library's other door
        if (file.metadata() or {}) != ours.metadata or set(file.keys()) != set(ours):
            return f"safe_open: {file.metadata()} {file.keys()}, ours {ours.metadata} {list(ours)}"
    in_numpy = [e.dtype in NUMPY and e.dtype != "BF16" for e in ours.entries.values()]
    if all(in_numpy) and len(arrays) == len(ours):
        for name, array in safetensors.numpy.load(content).items():
            if array.dtype != arrays[name].dtype or array.tobytes() != arrays[name].tobytes():
                return f"{name!r}: the array differs from safetensors.numpy.load"
        counts["files equal through safetensors.numpy"] += 1
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000, help="files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="stop after so long, whatever the count")
    args = parser.parse_args()
    dice = random.Random(args.seed)
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="fuzz_safetensors_", dir=shm))
    counts, changes = collections.Counter(), collections.Counter()
    slowest, wrong, done, begin = (0, ""), [], 0, time.perf_counter()
    while done < args.count and not (args.seconds and time.perf_counter() - begin > args.seconds):
        content, what = make_file(dice)
        path = folder / f"{done}.safetensors"
        path.write_bytes(content)
        accepted = counts["accepted by both"]
        sentence = compare(path, content, counts)
        slowest = max(slowest, (counts.pop("seconds"), "+".join(what)))
        if counts["accepted by both"] > accepted:
            changes.update(set(what))
        if sentence:
            wrong.append((path, sentence))
            print(f"{path} ({'+'.join(what)}): {sentence}")
            if len(wrong) == 20:
                break
        else:
            path.unlink()
        done += 1
    share = counts["accepted by both"] / max(done, 1)
    print(f"seed {args.seed}: {done} files in {time.perf_counter() - begin:.1f} s, "
          f"accepted share {share:.0%}, official safetensors {official.__version__}")
    for name in ("accepted by both", "refused by both", "arrays equal",
                 "files equal through safetensors.numpy"):
        print(f"  {name}: {counts[name]}")
    print("documented exceptions: " + ", ".join(f"{name} {counts[name]}" for name in
          ("name twice", "BF16", "small float", "shape beyond NumPy")))
    print("changes in accepted files: "
          + ", ".join(f"{name} {n}" for name, n in changes.most_common()))
    print(f"slowest file: {slowest[0] * 1000:.1f} ms ({slowest[1] or 'unchanged'})")
    print(f"exceptions of another kind: {counts['exceptions of another kind']}")
    print(f"disagreements: {len(wrong)}" + (f", kept in {folder}" if wrong else ""))
    if not wrong:
        shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
