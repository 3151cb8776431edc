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


@mistake(of=quantize_int8)
def added_to_the_scale(w):
    """A small number is added to the scale, so the steps are too long.

    It keeps you from 0 / 0, but it changes every column. Which columns need help, and which divisor
    does no harm there?
    """
    scales = np.abs(w).max(axis=0) / np.float32(127) + np.float32(1e-8)
    return _codes(w, scales), scales


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


@mistake(of=quantize_int8)
def codes_left_as_floats(w):
    """The numbers are right, their dtypes are not.

    Codes must be int8, else nothing is saved, and scales float32. Which method of an array gives
    another dtype?
    """
    codes, scales = quantize_int8(w)
    return codes.astype(np.float32), scales


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


def _pairs(codes, mask=15):
    """(codes at even places, codes at odd ones) as int16, the last odd one filled up with 0."""
    full = np.zeros((len(codes) + len(codes) % 2, *codes.shape[1:]), np.int16)
    full[:len(codes)] = codes
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


HAND = np.array([[127, 2], [-63.4, -1], [2.6, 0.3]], np.float32)
ZEROS = random(4, 3, seed=5)
ZEROS[:, 1] = 0
SIZES = random(6, 3, seed=1) * np.array([1, 10, 0.01], np.float32)
NEGATIVE = -np.abs(random(5, 2, seed=6))
exercise(quantize_int8, [
    Case("a column up to 127 and one up to 2", (HAND,)),
    Case("columns of different size", (SIZES,)),
    Case("a column of zeros", (ZEROS,), stops_at_nan=True),
    Case("negative weights only", (NEGATIVE,)),
    Case("as many inputs as outputs", (random(4, 4, seed=2),)),
    Case("halves of both signs", (np.array([[2], [1], [-1]], np.float32),)),
])
exercise(pack_int4, [
    Case("1 and 2", (np.array([1, 2], np.int8),)),
    Case("six codes, some negative", (np.array([-1, 3, 7, -7, 0, -4], np.int8),)),
    Case("three codes", (np.array([5, -2, 6], np.int8),)),
    Case("no codes", (np.zeros(0, np.int8),)),
    Case("columns side by side, shape (3, 2)",
         (np.array([[1, -1], [2, -2], [3, -3]], np.int8),)),
])
exercise(attainable, [
    Case("few operations a byte", (0.5, 10.0, 100.0)),
    Case("many operations a byte", (128.0, 10.0, 100.0)),
    Case("where the roofs meet", (10.0, 10.0, 100.0)),
    Case("another machine", (2.0, 40.0, 1000.0)),
    Case("another machine, on its slope still", (20.0, 40.0, 1000.0)),
])
