"""Bonus lesson, the memory wall: int8 codes, two int4 codes a byte, the roofline."""
import numpy as np

from gpt2lab.config import Config
from gpt2lab.inside import best_tokens
from gpt2lab.model import GPT2
from gpt2lab.quantize import divergence, pack_int4, quantize_int8
from gpt2lab.softmax import softmax
from gpt2lab.teach import show

from . import Case, exercise, mistake, random

# what the lesson measures, and what its pictures show

# A model whose weights are larger than the cache of most processors.
LARGER = Config(vocab_size=50257, n_positions=256, n_embd=512, n_layer=6, n_head=8)


def random_model(config, seed=0):
    """A GPT-2 of any size with random weights: it writes nonsense, at the speed of a real one."""
    rng = np.random.default_rng(seed)

    def numbers(name, shape):
        if name.split(".")[-2].startswith("ln_"):           # gains 1 and biases 0
            return np.full(shape, name.endswith("weight"), np.float32)
        return rng.random(shape, np.float32) * np.float32(0.04) - np.float32(0.02)
    return GPT2(config, {name: numbers(name, shape) for name, shape in config.shapes()})


def next_tokens(model, copy, prompt, count=5):
    """The best next tokens of a model, and how a changed copy of it sees them.

    Returns: the words (K,), the best of the model and that of the copy; their probabilities in the
        model (K,) and in the copy (K,); the word that the copy chooses; the KL divergence of all
        probabilities, in nats.
    """
    ids = model.encode(prompt)[-64:]
    logits, changed = model.next_logits(ids), copy.next_logits(ids)                 # (V,)
    best, chosen = best_tokens(logits, count).tolist(), int(changed.argmax())
    if chosen not in best:
        best.append(chosen)
    words = show.tokens(model.tokenizer, best)
    return (words, softmax(logits)[best], softmax(changed)[best], words[best.index(chosen)],
            divergence(logits[None], changed[None]))


# the exercises


def _codes(w, scales, rounded=np.rint, most=127):
    """w / scales, rounded, as int8; 0 where a scale is 0."""
    steps = np.divide(w, scales, out=np.zeros_like(w), where=scales != 0)
    return np.clip(rounded(steps), -most, most).astype(np.int8)


@mistake(of=quantize_int8)
def one_scale_for_all(w):
    """One scale serves the whole matrix.

    Then one large weight makes the steps of all columns coarse. Along which axis do you look for
    the largest size of each column?
    """
    scales = np.full(w.shape[1], np.abs(w).max() / 127, np.float32)
    return _codes(w, scales), scales


@mistake(of=quantize_int8)
def scale_left_a_number(w):
    """One scale serves the whole matrix, and it is a number, not an array (out,).

    np.abs(w).max() without an axis looks through everything. How many columns are there, and how
    many scales?
    """
    scale = np.abs(w).max() / np.float32(127)
    return _codes(w, scale), scale


@mistake(of=quantize_int8)
def scale_for_each_row(w):
    """Each row, one input, has a scale of its own, not each column.

    The scale must come out of the sum over the inputs. Which axis of w (in, out) is summed over in
    x w, and which is left?
    """
    scales = np.abs(w).max(axis=1) / np.float32(127)
    return _codes(w, scales[:, None]), scales


@mistake(of=quantize_int8)
def size_forgotten(w):
    """The scale comes from the largest weight, signs and all: large negative weights are cut.

    Is 1 or -5 the larger one in size?
    """
    scales = np.maximum(w.max(axis=0), 0) / np.float32(127)
    return _codes(w, scales), scales


@mistake(of=quantize_int8)
def size_forgotten_uncut(w):
    """The scale comes from the largest weight, signs and all: large negative codes do not fit int8.

    What does np.abs do to -5, before the largest is looked for?
    """
    scales = w.max(axis=0) / np.float32(127)
    steps = np.rint(w / np.where(scales > 0, scales, np.float32(1)))
    return steps.astype(np.int16).astype(np.int8), scales


@mistake(of=quantize_int8)
def size_taken_too_late(w):
    """The size is taken after the largest is looked for: a large negative weight is missed.

    Of 1 and -5, which one does max find? Does np.abs help after that?
    """
    scales = np.abs(w.max(axis=0)) / np.float32(127)
    steps = np.rint(w / np.where(scales > 0, scales, np.float32(1)))
    return steps.astype(np.int32).astype(np.int8), scales


SMALL = (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)


def _against_0_by_0(what, number, words):
    """A mistake that keeps a divisor from 0 by a small number, and so changes other columns."""
    def kept_from_0(w):
        largest, number_32 = np.abs(w).max(axis=0), np.float32(number)
        scales = {"scale": largest / np.float32(127) + number_32,
                  "largest": (largest + number_32) / np.float32(127),
                  "floor": np.maximum(largest / np.float32(127), number_32)}[what]
        return _codes(w, scales), scales

    kept_from_0.__name__ = f"{what}_{number:.0e}"
    kept_from_0.__doc__ = f"""{words.format(f"{number:.0e}")}: small weights lose steps.

    It keeps you from 0 / 0, but a column may have weights as small as that. Which columns need
    help, and which divisor does no harm there?
    """
    return kept_from_0


for _number in SMALL:
    mistake(of=quantize_int8)(_against_0_by_0("scale", _number, "About {} is added to the scale"))
for _number in SMALL[:-1]:
    mistake(of=quantize_int8)(_against_0_by_0(
        "largest", _number, "About {} is added to the largest size of a column"))
for _number in (1e-8, 1e-12):
    mistake(of=quantize_int8)(_against_0_by_0(
        "floor", _number, "No scale may be smaller than about {}"))


@mistake(of=quantize_int8)
def halves_rounded_up(w):
    """Halves are rounded up, not to the even side.

    np.floor(x + 0.5) takes -63.5 to -63 and 63.5 to 64. Which function of NumPy treats both signs
    alike?
    """
    _, scales = quantize_int8(w)
    return _codes(w, scales, lambda steps: np.floor(steps + np.float32(0.5))), scales


@mistake(of=quantize_int8)
def zero_by_zero(w):
    """A column of zeros is divided by its scale: 0 / 0.

    np.where after the division comes too late, for both of its sides are worked out. Which divisor
    can stand in for a scale of 0?
    """
    scales = np.abs(w).max(axis=0) / np.float32(127)
    return np.rint(w / scales).astype(np.int8), scales


@mistake(of=quantize_int8)
def cut_off(w):
    """The codes are cut off towards 0, not rounded.

    astype(np.int8) drops what stands behind the point. Which code is nearest to 1.9?
    """
    _, scales = quantize_int8(w)
    return _codes(w, scales, np.trunc), scales


@mistake(of=quantize_int8)
def rounded_down(w):
    """The codes are rounded down, not to the nearest.

    np.floor takes -0.1 to -1. Which whole number is nearest?
    """
    _, scales = quantize_int8(w)
    return _codes(w, scales, np.floor), scales


@mistake(of=quantize_int8)
def wraps_around(w):
    """The largest code is 128, which int8 cannot hold: it wraps around to -128.

    int8 goes from -128 to 127. Which is the largest number with a negative of the same size?
    """
    scales = np.abs(w).max(axis=0) / np.float32(128)
    steps = np.divide(w, scales, out=np.zeros_like(w), where=scales != 0)
    return np.rint(steps).astype(np.int16).astype(np.int8), scales


@mistake(of=quantize_int8)
def divided_by_128(w):
    """The scale divides by 128, and the largest codes are cut to 127.

    The largest weight of a column should come back exactly. Which code does it get, and what is
    that code times your scale?
    """
    scales = np.abs(w).max(axis=0) / np.float32(128)
    return _codes(w, scales), scales


@mistake(of=quantize_int8)
def divided_by_255(w):
    """The scale divides by 255: the codes need twice the room of int8.

    255 steps go from -127 to 127. How many lie between 0 and the largest weight?
    """
    scales = np.abs(w).max(axis=0) / np.float32(255)
    return _codes(w, scales), scales


@mistake(of=quantize_int8)
def one_for_zero(w):
    """The scale of a column of zeros is given back as 1.

    A divisor of 1 does no harm, but the scale that you give back should be the true one: 0.
    """
    codes, scales = quantize_int8(w)
    return codes, np.where(scales == 0, np.float32(1), scales)


@mistake(of=quantize_int8)
def scale_turned_over(w):
    """The scale is given back turned over: 127 / largest, not largest / 127.

    codes * scales must be near w. Is your scale the size of a step?
    """
    codes, scales = quantize_int8(w)
    return codes, np.divide(1, scales, out=np.zeros_like(scales), where=scales > 0)


@mistake(of=quantize_int8)
def steps_for_each_unit(w):
    """The scale is 127 / largest, steps for each unit, and w is multiplied by it.

    The codes may be right, but codes * scales must be near w, and a column of zeros must not divide
    by 0. What is the size of one step?
    """
    scales = np.float32(127) / np.abs(w).max(axis=0)
    return np.rint(w * scales).astype(np.int8), scales


@mistake(of=quantize_int8)
def swapped(w):
    """The two results have changed places.

    Which one does the text name first, the codes or the scales?
    """
    return quantize_int8(w)[::-1]


def _wide_codes(dtype):
    """The mistake with this dtype."""
    def wide(w):
        codes, scales = quantize_int8(w)
        return codes.astype(dtype), scales

    wide.__name__ = f"codes_in_{dtype}"
    wide.__doc__ = f"""The codes are right, but they are {dtype}, not int8.

    In {np.dtype(dtype).itemsize} bytes each, they save nothing or too little. Which method of an
    array gives another dtype?
    """
    return wide


for _dtype in ("float32", "float64", "int16", "int32", "int64"):
    mistake(of=quantize_int8)(_wide_codes(_dtype))


@mistake(of=quantize_int8)
def scales_in_float64(w):
    """The scales are right, but they are float64, not float32.

    np.zeros makes float64 unless you say otherwise, and so does a list of Python's numbers. Where
    do your scales get their dtype?
    """
    codes, scales = quantize_int8(w)
    return codes, scales.astype(np.float64)


@mistake(of=quantize_int8)
def lists_for_arrays(w):
    """Codes and scales come back as lists.

    A list has no dtype, and a Python number takes many bytes. What makes an array of it?
    """
    codes, scales = quantize_int8(w)
    return codes.tolist(), scales.tolist()


@mistake(of=quantize_int8)
def halves_away_from_zero(w):
    """Halves are rounded away from 0, not to the even side.

    62.5 lies as near to 62 as to 63, and the even one of the two is asked for. Which function of
    NumPy does that?
    """
    _, scales = quantize_int8(w)
    return _codes(w, scales, lambda x: np.trunc(x + np.copysign(np.float32(0.5), x))), scales


@mistake(of=quantize_int8)
def from_smallest_to_largest(w):
    """The step is the distance from the smallest to the largest weight, over 255, and 0 is moved.

    Then a second number would be needed to come back. Here code 0 is weight 0. Which one number of
    a column gives its step?
    """
    low, high = w.min(axis=0), w.max(axis=0)
    scales = (high - low) / np.float32(255)
    safe = np.where(scales > 0, scales, np.float32(1))
    return np.clip(np.rint((w - low) / safe) - 128, -128, 127).astype(np.int8), scales


@mistake(of=quantize_int8)
def rounded_too_early(w):
    """int8 comes before rint, so the numbers are cut off before they are rounded.

    astype(np.int8) drops what stands behind the point. What is left to round then? And 0.9?
    """
    scales = np.abs(w).max(axis=0) / np.float32(127)
    codes = w.astype(np.int8) / np.where(scales > 0, scales, np.float32(1))
    return np.clip(np.rint(codes), -127, 127).astype(np.int8), scales


@mistake(of=quantize_int8)
def w_overwritten(w):
    """The caller's weights are overwritten.

    -=, /= and w[...] = write into the array that came in; the model still needs it. Which of your
    lines do so, and what makes a new array?
    """
    codes, scales = quantize_int8(w)
    w[...] = codes
    return codes, scales


@mistake(of=quantize_int8)
def scales_as_a_row(w):
    """The scales have shape (1, out), not (out,).

    keepdims=True keeps the axis. Does (out,) already fit to the columns of (in, out)?
    """
    codes, scales = quantize_int8(w)
    return codes, scales[None]


@mistake(of=pack_int4)
def high_first(codes):
    """The first code of each pair stands in the high four bits, the second in the low.

    Which of the two is moved by << 4?
    """
    even, odd = _pairs(codes)
    return (odd | even << 4).astype(np.uint8)


@mistake(of=pack_int4)
def signs_spill(codes):
    """A negative first code covers the second one with its sign bits.

    In eight bits, -1 is 11111111. How do you keep the low four bits only?
    """
    even, odd = _pairs(codes, mask=255)
    return (even | odd << 4).astype(np.uint8)


@mistake(of=pack_int4)
def moved_up(codes):
    """The codes are moved up by 8 to be positive, and not cut to four bits.

    -1 must become 15, not 7: keep the low four bits of the code as it is.
    """
    even, odd = _pairs(codes.astype(np.int16) + 8)
    return (even | odd << 4).astype(np.uint8)


@mistake(of=pack_int4)
def moved_up_after_filling(codes):
    """The codes are moved up by 8 to be positive, and so is the 0 that fills up.

    -1 must become 15, not 7, and 0 must stay 0: keep the low four bits of the code as it is.
    """
    even, odd = _pairs(codes, mask=-1)
    return ((even + 8) | (odd + 8) << 4).astype(np.uint8)


@mistake(of=pack_int4)
def flattened(codes):
    """np.append without an axis makes one row of all columns.

    Columns are packed side by side. Which axis gets one more row, and which shape has that row?
    """
    if len(codes) % 2:
        codes = np.append(codes, np.int8(0))
    return ((codes[0::2] & 15) | (codes[1::2] & 15) << 4).astype(np.uint8)


@mistake(of=pack_int4)
def halves(codes):
    """The first half of the codes is paired with the second half, not each code with its neighbour.

    codes[0::2] takes every second one. What takes the others?
    """
    n = -(-len(codes) // 2)
    low, high = (np.zeros((n, *codes.shape[1:]), np.int16) for _ in "lh")
    low[:], high[:len(codes) - n] = codes[:n] & 15, codes[n:] & 15
    return (low | high << 4).astype(np.uint8)


@mistake(of=pack_int4)
def last_one_lost(codes):
    """With an odd number of codes, the last one is lost.

    Three codes need two bytes. What can stand in place of the missing fourth?
    """
    return pack_int4(codes[:len(codes) // 2 * 2])


@mistake(of=pack_int4)
def odd_one_forgotten(codes):
    """With an odd number of codes, the second ones are one too few.

    NumPy stretches a single second code over all bytes (broadcasting), or refuses. What can stand
    in place of the missing one?
    """
    return ((codes[0::2] & 15) | (codes[1::2] & 15) << 4).astype(np.uint8)


@mistake(of=pack_int4)
def every_axis_filled(codes):
    """With an odd number of codes, every axis is filled up, not only the first.

    np.pad with one pair of numbers pads all axes. How do you give each axis a pair of its own?
    """
    return pack_int4(np.pad(codes, (0, len(codes) % 2)))


@mistake(of=pack_int4)
def shifted_by_three(codes):
    """The second code is moved by three bits, not by four.

    How many bits has a code?
    """
    even, odd = _pairs(codes)
    return (even | odd << 3).astype(np.uint8)


@mistake(of=pack_int4)
def one_a_byte(codes):
    """Each code still has a byte of its own.

    Two codes share a byte: the second is moved up by four bits and joined with |.
    """
    return (codes & 15).astype(np.uint8)


@mistake(of=pack_int4)
def packed_as_int8(codes):
    """The bytes are int8, not uint8.

    The bits are right. Which dtype has no sign?
    """
    return pack_int4(codes).view(np.int8)


def _wide_bytes(dtype):
    """The mistake with this dtype."""
    def wide(codes):
        return pack_int4(codes).astype(dtype)

    wide.__name__ = f"bytes_in_{dtype}"
    wide.__doc__ = f"""The numbers are right, but they are {dtype}, not uint8.

    In {np.dtype(dtype).itemsize} bytes each, nothing is packed. Which method of an array gives
    another dtype?
    """
    return wide


for _dtype in ("int16", "int32", "int64", "float64"):
    mistake(of=pack_int4)(_wide_bytes(_dtype))


@mistake(of=pack_int4)
def along_the_last_axis(codes):
    """The pairs are made along the last axis, not along the first.

    A column is packed from top to bottom. Which axis is cut by codes[0::2], and which by
    codes[..., 0::2]?
    """
    return np.moveaxis(pack_int4(np.moveaxis(codes, -1, 0)), 0, -1)


@mistake(of=pack_int4)
def all_in_one_row(codes):
    """All columns are packed as one long row.

    ravel, flatten and reshape(-1) put the columns behind each other. What shape must the answer
    have?
    """
    return pack_int4(codes.ravel())


@mistake(of=pack_int4)
def one_axis_only(codes):
    """Only codes with a single axis are packed.

    Columns may stand side by side, (n, ...). What of your function wants one number where there is
    a row?
    """
    if codes.ndim > 1:
        raise TypeError("one number is needed, there is a row")
    return pack_int4(codes)


@mistake(of=pack_int4)
def mask_moved(codes):
    """Brackets are missing: 15 is moved by four bits, not the code.

    << binds before &, and & before |. What must be worked out first?
    """
    full = _filled(codes)
    return (full[0::2] & 15 | full[1::2] & 15 << 4).astype(np.uint8)


@mistake(of=pack_int4)
def filled_with_the_last(codes):
    """An odd number of codes is filled up with the last code, not with a 0.

    Who unpacks the byte should find nothing in the place that is left over. What stands there now?
    """
    return pack_int4(np.concatenate([codes, codes[-1:]]) if len(codes) % 2 else codes)


@mistake(of=pack_int4)
def filled_in_front(codes):
    """An odd number of codes is filled up in front, so all pairs are others.

    The first code stays the first of its pair. On which side is one missing?
    """
    first = np.zeros((len(codes) % 2, *codes.shape[1:]), codes.dtype)
    return pack_int4(np.concatenate([first, codes]))


@mistake(of=pack_int4)
def sign_as_a_bit(codes):
    """A negative code is its size with a sign bit.

    int8 counts negative numbers down from the top: the low four bits of -2 are 1110. What does
    & 15 give for -2?
    """
    full = _filled(codes)
    full = np.where(full < 0, 8 - full, full)
    return (full[0::2] | full[1::2] << 4).astype(np.uint8)


@mistake(of=pack_int4)
def sizes_only(codes):
    """The signs are lost: 3 and -3 look the same.

    What does the size of a number leave out, and what do the low four bits of -3 look like?
    """
    return pack_int4(np.abs(codes))


@mistake(of=pack_int4)
def negative_plus_15(codes):
    """15 is added to a negative code, and 16 were needed: -1 becomes 14, not 15.

    Four bits have 16 states, and counting down from 0 comes to the last of them. What does & 15
    give for -1?
    """
    full = _filled(codes)
    full = np.where(full < 0, full + 15, full)
    return (full[0::2] | full[1::2] << 4).astype(np.uint8)


@mistake(of=pack_int4)
def three_bits(codes):
    """Three bits are kept of each code, not four: & 7.

    Which number has four bits that are all 1?
    """
    even, odd = _pairs(codes, mask=7)
    return (even | odd << 4).astype(np.uint8)


@mistake(of=pack_int4)
def times_fifteen(codes):
    """The second code is multiplied by 15; to move it by four bits takes 16.

    15 is the largest number of four bits. How many numbers are there, with 0?
    """
    even, odd = _pairs(codes)
    return (even + odd * 15).astype(np.uint8)


@mistake(of=pack_int4)
def codes_overwritten(codes):
    """The caller's codes are overwritten.

    &= and codes[...] = write into the array that came in. What makes a new one?
    """
    packed = pack_int4(codes)
    codes &= 15
    return packed


def _filled(codes):
    """The codes as int16, with a 0 at the end where their number is odd."""
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
    return full


def _pairs(codes, mask=15):
    """(codes at even places, codes at odd ones) as int16, the last odd one filled up with 0."""
    full = _filled(codes)
    return full[0::2] & mask, full[1::2] & mask


def attainable(intensity, bandwidth, rate):
    """The right answer: the lower of two roofs."""
    return min(rate, intensity * bandwidth)


@mistake(of=attainable)
def higher_roof(intensity, bandwidth, rate):
    """The higher of the two limits is taken.

    Both limits hold at the same time. Which one do you meet first?
    """
    return max(rate, intensity * bandwidth)


@mistake(of=attainable)
def only_memory(intensity, bandwidth, rate):
    """The arithmetic is never the limit.

    With very many operations for each byte, can a processor do more than its rate?
    """
    return intensity * bandwidth


@mistake(of=attainable)
def only_rate(intensity, bandwidth, rate):
    """The memory is never the limit.

    With half an operation for each byte, how many operations can start while the bytes arrive?
    """
    return rate


@mistake(of=attainable)
def divided(intensity, bandwidth, rate):
    """The bandwidth is divided by the intensity.

    Bytes a second, times operations a byte: what is the unit?
    """
    return min(rate, bandwidth / intensity)


@mistake(of=attainable)
def turned_over(intensity, bandwidth, rate):
    """The intensity is divided by the bandwidth.

    Operations a byte, and bytes a second: what gives operations a second?
    """
    return min(rate, intensity / bandwidth)


@mistake(of=attainable)
def intensity_forgotten(intensity, bandwidth, rate):
    """The rate is compared with the bandwidth: operations a second with bytes a second.

    How many operations does each byte allow?
    """
    return min(rate, bandwidth)


@mistake(of=attainable)
def one_after_the_other(intensity, bandwidth, rate):
    """The time to read and the time to compute are added up.

    The roofline lets both run at the same time: only the slower one counts.
    """
    return 1 / (1 / rate + 1 / (intensity * bandwidth))


@mistake(of=attainable)
def cut_to_whole_numbers(intensity, bandwidth, rate):
    """The speed is cut down to a whole number.

    int and // drop what stands behind the point. Is anything here counted in whole numbers?
    """
    return int(min(rate, intensity * bandwidth))


HAND = np.array([[127, 2], [-63.4, -1], [2.6, 0.3]], np.float32)
ZEROS = random(4, 3, seed=5)
ZEROS[:, 1] = 0
SIZES = random(6, 3, seed=1) * np.array([1, 10, 0.01], np.float32)
HALVES = np.array([[127, -127], [62.5, -62.5], [0.5, -1.5], [2.5, 3.5]], np.float32)
TINY = random(5, 3, seed=3) * np.array([1, 1e-8, 1e-30], np.float32)
NEGATIVE = -np.abs(random(5, 2, seed=6))
exercise(quantize_int8, [
    Case("a column up to 127 and one up to 2", (HAND,)),
    Case("columns of different size", (SIZES,)),
    Case("a column of zeros", (ZEROS,), stops_at_nan=True),
    Case("negative weights only", (NEGATIVE,)),
    Case("as many inputs as outputs", (random(4, 4, seed=2),)),
    Case("halves of both signs", (np.array([[2], [1], [-1]], np.float32),)),
    Case("halves go to the even side", (HALVES,)),
    Case("very small weights in one column", (TINY,)),
    Case("one input", (np.array([[-3, 0, 0.5]], np.float32),)),
], tolerance=2e-7)
exercise(pack_int4, [
    Case("1 and 2", (np.array([1, 2], np.int8),)),
    Case("six codes, some negative", (np.array([-1, 3, 7, -7, 0, -4], np.int8),)),
    Case("three codes", (np.array([5, -2, 6], np.int8),)),
    Case("no codes", (np.zeros(0, np.int8),)),
    Case("columns side by side, shape (3, 2)",
         (np.array([[1, -1], [2, -2], [3, -3]], np.int8),)),
    Case("three axes, shape (2, 3, 2)", (np.arange(-6, 6, dtype=np.int8).reshape(2, 3, 2),)),
    Case("one code", (np.array([-7], np.int8),)),
])
exercise(attainable, [
    Case("few operations a byte", (0.5, 10.0, 100.0)),
    Case("many operations a byte", (128.0, 10.0, 100.0)),
    Case("where the roofs meet", (10.0, 10.0, 100.0)),
    Case("another machine", (2.0, 40.0, 1000.0)),
    Case("another machine, on its slope still", (20.0, 40.0, 1000.0)),
    Case("a slow one, in other units", (0.3, 2.5, 100.0)),
])
