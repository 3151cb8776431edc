"""Lesson 13: the loop that writes, and a stream that ends at a word."""
import numpy as np

from gpt2lab.inside import best_tokens
from gpt2lab.teach import show

from . import Case, exercise, mistake

# what the lesson's pictures show


def words(tokenizer, arrays):
    """The texts beside some arrays of the way: of the ids, the 12 best tokens, the next word."""
    ids = {"ids": arrays["ids"], "probabilities": best_tokens(arrays["probabilities"], 12),
           "next word": arrays["next word"]}
    return {name: show.tokens(tokenizer, some) for name, some in ids.items()}


# the exercises


def write_loop(next_logits, ids, max_new_tokens, context, end):
    """The right answer: predict, choose, append, with one reason to stop."""
    ids, new = list(ids), []
    while True:
        if len(new) == max_new_tokens:
            return new, "enough"
        if len(ids) == context:
            return new, "context full"
        chosen = int(np.argmax(next_logits(ids)))
        if chosen == end:
            return new, "end token"
        ids.append(chosen)
        new.append(chosen)


@mistake(of=write_loop)
def end_token_kept(next_logits, ids, max_new_tokens, context, end):
    """The end token is returned with the text.

    It is a signal, no part of the text. What comes first: to append the token, or to compare it?
    """
    new, reason = write_loop(next_logits, ids, max_new_tokens, context, end)
    return (new + [end] if reason == "end token" else new), reason


@mistake(of=write_loop)
def end_token_ignored(next_logits, ids, max_new_tokens, context, end):
    """The end token stops nothing.

    Which argument tells you that the model has finished its text?
    """
    return write_loop(next_logits, ids, max_new_tokens, context, None)


@mistake(of=write_loop)
def one_too_many(next_logits, ids, max_new_tokens, context, end):
    """There is one token too many, also where none was asked for.

    With max_new_tokens = 0 the model must not be asked at all. Count before you predict.
    """
    return write_loop(next_logits, ids, max_new_tokens + 1, context, end)


@mistake(of=write_loop)
def context_ignored(next_logits, ids, max_new_tokens, context, end):
    """The text grows past the context.

    The position table has no row for a position past the last. When must the loop stop?
    """
    return write_loop(next_logits, ids, max_new_tokens, 10 ** 9, end)


@mistake(of=write_loop)
def last_token_only(next_logits, ids, max_new_tokens, context, end):
    """The model is shown the last token only.

    A GPT reads the whole text for every new token. What do you hand to next_logits?
    """
    return write_loop(lambda ids: next_logits(ids[-1:]), ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def not_appended(next_logits, ids, max_new_tokens, context, end):
    """The chosen token is not appended to what the model reads.

    Then it is asked the same question again and again.
    """
    first = list(ids)
    new, reason = write_loop(lambda _: next_logits(first), ids, max_new_tokens, context, end)
    return new, reason


@mistake(of=write_loop)
def prompt_returned(next_logits, ids, max_new_tokens, context, end):
    """The prompt is returned along with the new tokens.

    Only the new tokens are asked for: keep them in a list of their own.
    """
    new, reason = write_loop(next_logits, ids, max_new_tokens, context, end)
    return list(ids) + new, reason


@mistake(of=write_loop)
def end_token_0_missed(next_logits, ids, max_new_tokens, context, end):
    """An end token with the id 0 stops nothing.

    0 counts as false in Python. How do you ask whether there is an end token at all?
    """
    return write_loop(next_logits, ids, max_new_tokens, context, end or None)


@mistake(of=write_loop)
def context_one_late(next_logits, ids, max_new_tokens, context, end):
    """The text becomes one token longer than the context.

    With N positions there is room for N tokens. Is the next one still allowed when there are N?
    """
    return write_loop(next_logits, ids, max_new_tokens, context + 1, end)


@mistake(of=write_loop)
def context_before_enough(next_logits, ids, max_new_tokens, context, end):
    """A full context is reported although enough tokens were written.

    Where both are true, the reason is that you got what you asked for. Which test comes first?
    """
    new, reason = write_loop(next_logits, ids, max_new_tokens, context, end)
    return new, "context full" if len(ids) + len(new) >= context and reason == "enough" else reason


@mistake(of=write_loop)
def context_one_early(next_logits, ids, max_new_tokens, context, end):
    """The loop stops one token before the context is full.

    With N positions there is room for N tokens. How many stand there when you stop?
    """
    if len(ids) == context:
        return [], "enough" if max_new_tokens == 0 else "context full"
    return write_loop(next_logits, ids, max_new_tokens, context - 1, end)


@mistake(of=write_loop)
def context_counts_new_tokens(next_logits, ids, max_new_tokens, context, end):
    """Only the new tokens are counted against the context.

    Prompt and new tokens stand in one row of positions. Which list has all of them?
    """
    return write_loop(next_logits, ids, max_new_tokens, context + len(ids), end)


@mistake(of=write_loop)
def prompt_counts_as_new(next_logits, ids, max_new_tokens, context, end):
    """The prompt is counted against max_new_tokens.

    So many new tokens are asked for, however long the prompt is. Whose length do you compare?
    """
    return write_loop(next_logits, ids, max(max_new_tokens - len(ids), 0), context, end)


@mistake(of=write_loop)
def window_slides(next_logits, ids, max_new_tokens, context, end):
    """The text is cut to its last tokens when the context is full, and goes on.

    Then the model no longer knows the beginning. This loop stops instead. With which reason?
    """
    return write_loop(lambda ids: next_logits(ids[-context:]), ids, max_new_tokens, 10 ** 9, end)


@mistake(of=write_loop)
def asked_before_counting(next_logits, ids, max_new_tokens, context, end):
    """The model is asked before anything is counted, so there is always one token at least.

    With max_new_tokens = 0, or with a prompt that fills the context, it must not be asked at all.
    Which tests come before the question?
    """
    chosen = int(np.argmax(next_logits(ids)))
    if chosen == end:
        return [], "end token"
    rest, reason = write_loop(next_logits, [*ids, chosen], max(max_new_tokens - 1, 0),
                              max(context, len(ids) + 1), end)
    return [chosen, *rest], reason


@mistake(of=write_loop)
def only_new_ones_read(next_logits, ids, max_new_tokens, context, end):
    """The model reads the prompt once, and later the new tokens only.

    It has no memory of its own: what it should know must stand in its input. What is the whole
    text?
    """
    n = len(ids)
    return write_loop(lambda ids: next_logits(ids[n:] or ids), ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def smallest_logit(next_logits, ids, max_new_tokens, context, end):
    """The token with the smallest logit is chosen.

    argmin finds the smallest, and argsort begins with it. Where does the largest stand?
    """
    return write_loop(lambda ids: -np.asarray(next_logits(ids)), ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def sizes_of_the_logits(next_logits, ids, max_new_tokens, context, end):
    """The logit farthest from 0 is chosen, not the largest.

    A logit of -9 is a very bad one. What does abs, or a square, make of it?
    """
    return write_loop(lambda ids: np.abs(next_logits(ids)), ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def logits_cut_off(next_logits, ids, max_new_tokens, context, end):
    """The logits are cut off or rounded to whole numbers, or all below 0 count as 0.

    Logits are fractions, and often all of them are negative. Then many look alike. Which step is
    not needed to find the largest?
    """
    return write_loop(lambda ids: np.trunc(next_logits(ids)), ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def one_logit_only(next_logits, ids, max_new_tokens, context, end):
    """One logit is picked out before the largest is looked for: then it is always token 0.

    next_logits gives one row already, (V,), not one for each position. Of what do you take [-1]?
    """
    return write_loop(lambda ids: next_logits(ids)[-1:], ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def value_not_place(next_logits, ids, max_new_tokens, context, end):
    """The largest logit itself is taken as the token, not its place.

    max gives the value, and another function gives its place. The place is the id.
    """
    def place_of(ids):
        scores = np.zeros(2000)
        scores[int(np.max(next_logits(ids)))] = 1
        return scores
    return write_loop(place_of, ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def end_in_the_prompt(next_logits, ids, max_new_tokens, context, end):
    """An end token anywhere in the prompt stops the loop.

    Only a token that the model has chosen ends the text. Which list, or which token, do you look
    at?
    """
    return ([], "end token") if end in ids else write_loop(
        next_logits, ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def end_at_the_end_of_the_prompt(next_logits, ids, max_new_tokens, context, end):
    """A prompt that ends with the end token stops the loop before it begins.

    Only a token that the model has chosen ends the text. When is the last token of the text one?
    """
    return ([], "end token") if ids[-1] == end else write_loop(
        next_logits, ids, max_new_tokens, context, end)


@mistake(of=write_loop)
def end_by_identity(next_logits, ids, max_new_tokens, context, end):
    """A large id of the end token is not recognised.

    `is` asks for the same object, and two equal numbers may be two objects. What asks whether they
    are equal?
    """
    small = end if end is not None and end <= 256 else None
    return write_loop(next_logits, ids, max_new_tokens, context, small)


@mistake(of=write_loop)
def end_token_skipped(next_logits, ids, max_new_tokens, context, end):
    """The end token is left out, but the loop goes on behind it.

    What the model says after the end of a text is another text. What do you do instead of going on?
    """
    ids, new = list(ids), []
    while len(new) < max_new_tokens:
        if len(ids) == context:
            return new, "context full"
        ids.append(int(np.argmax(next_logits(ids))))
        if ids[-1] != end:
            new.append(ids[-1])
    return new, "enough"


@mistake(of=write_loop)
def always_enough(next_logits, ids, max_new_tokens, context, end):
    """The reason is always "enough", whatever ended the loop.

    break leaves the loop at different places, and all of them lead to one return. How can each
    place tell its own reason?
    """
    return write_loop(next_logits, ids, max_new_tokens, context, end)[0], "enough"


@mistake(of=write_loop)
def reasons_of_the_library(next_logits, ids, max_new_tokens, context, end):
    """The reasons have other names: those of the library.

    Here they are called "enough", "context full" and "end token". A text must be equal in every
    letter.
    """
    names = {"enough": "max_new_tokens", "context full": "context_full", "end token": "eos"}
    new, reason = write_loop(next_logits, ids, max_new_tokens, context, end)
    return new, names[reason]


@mistake(of=write_loop)
def no_reason(next_logits, ids, max_new_tokens, context, end):
    """The new tokens come back without the reason.

    Two things are asked for. What does return give when there is a comma?
    """
    return write_loop(next_logits, ids, max_new_tokens, context, end)[0]


@mistake(of=write_loop)
def reason_first(next_logits, ids, max_new_tokens, context, end):
    """The two results have changed places.

    Which one does the text name first, the tokens or the reason?
    """
    return write_loop(next_logits, ids, max_new_tokens, context, end)[::-1]


@mistake(of=write_loop)
def nothing_collected(next_logits, ids, max_new_tokens, context, end):
    """The list of new tokens stays empty.

    The chosen token goes into two lists: one that the model reads, and one that you return. Into
    which did it not go?
    """
    return [], write_loop(next_logits, ids, max_new_tokens, context, end)[1]


@mistake(of=write_loop)
def newest_first(next_logits, ids, max_new_tokens, context, end):
    """The new tokens come back in the wrong order, the newest first.

    Text is read from the front. At which end does your list grow?
    """
    new, reason = write_loop(next_logits, ids, max_new_tokens, context, end)
    return new[::-1], reason


@mistake(of=write_loop)
def tokens_as_floats(next_logits, ids, max_new_tokens, context, end):
    """The new tokens are floats.

    np.array([]) and np.zeros hold float64 unless you say otherwise, and append keeps that. An id is
    a whole number. What can hold the tokens as they are?
    """
    new, reason = write_loop(next_logits, ids, max_new_tokens, context, end)
    return np.array(new, float), reason


@mistake(of=write_loop)
def prompt_grows(next_logits, ids, max_new_tokens, context, end):
    """The caller's list of ids is changed: it grows with the text.

    append and += change the list itself, and a second name for it is no copy. How do you get a list
    of your own?
    """
    new, reason = write_loop(next_logits, ids, max_new_tokens, context, end)
    ids.extend(new)
    return new, reason


class Live:
    """A stream that is written while it is read; nothing may be read behind the stop word."""

    def __init__(self, *pieces):
        self.pieces = pieces

    def __iter__(self):
        yield from self.pieces
        raise RuntimeError("the stream was read on after the stop word had come")

    def __eq__(self, other):
        return self.pieces == other.pieces

    def __repr__(self):
        return f"a stream of {self.pieces}"


def until(pieces, stop):
    """The right answer: the text before the first stop word, wherever the pieces are cut."""
    text = ""
    for piece in pieces:
        text += piece
        if stop in text:
            return text[:text.index(stop)]
    return text


@mistake(of=until)
def last_two_pieces(pieces, stop):
    """The stop word is looked for in the last two pieces only.

    It may be cut into three pieces, or more. How much of the text must you keep?
    """
    text, last = "", ""
    for piece in pieces:
        if stop in last + piece:
            return text[:len(text) - len(last)] + (last + piece).split(stop)[0]
        text, last = text + piece, piece
    return text


@mistake(of=until)
def joined_first(pieces, stop):
    """All pieces are read before you look for the stop word.

    A stream that goes on for ever would never end. When can you look for the first time?
    """
    return "".join(pieces).split(stop)[0]


@mistake(of=until)
def each_piece_alone(pieces, stop):
    """The stop word is looked for in each piece alone.

    A stream may cut the stop word in two. Where can you look for it then?
    """
    text = ""
    for piece in pieces:
        if stop in piece:
            return text + piece.split(stop)[0]
        text += piece
    return text


@mistake(of=until)
def stop_kept(pieces, stop):
    """The stop word is returned with the text.

    The text ends before the stop word begins.
    """
    before = until(pieces, stop)
    return before + stop if not isinstance(pieces, list) or stop in "".join(pieces) else before


@mistake(of=until)
def stop_only_at_the_end_of_a_piece(pieces, stop):
    """A stop word is seen only where a piece ends with it.

    It may be followed by more in the same piece. What asks whether it stands anywhere?
    """
    text = ""
    for piece in pieces:
        text += piece
        if text.endswith(stop):
            return text[:-len(stop)]
    return text


@mistake(of=until)
def stop_taken_out(pieces, stop):
    """The stop word is taken out, but what follows it is returned.

    replace removes the word and leaves the rest. Where does the text end?
    """
    text = ""
    for piece in pieces:
        text += piece
        if stop in text:
            return text.replace(stop, "")
    return text


@mistake(of=until)
def last_stop(pieces, stop):
    """The text is cut at the last stop word, not at the first.

    A stream ends when the stop word comes for the first time.
    """
    text = ""
    for piece in pieces:
        text += piece
        if stop in text:
            return text[:text.rindex(stop)]
    return text


@mistake(of=until)
def not_found_is_minus_1(pieces, stop):
    """Without a stop word the last letter is lost.

    find gives -1 where there is nothing, and text[:-1] leaves out one letter. What do you ask
    before you cut?
    """
    text = ""
    for piece in pieces:
        text += piece
        if stop in text:
            break
    return text[:text.find(stop)]


@mistake(of=until)
def stop_at_the_start_missed(pieces, stop):
    """A stop word at the very start of the text is not seen.

    find gives 0 there, and 0 counts as false. Which number says that nothing was found?
    """
    text = ""
    for piece in pieces:
        text += piece
        if text.find(stop) > 0:
            return text[:text.find(stop)]
    return text


@mistake(of=until)
def first_letter_of_stop_kept(pieces, stop):
    """One letter too many: the first of the stop word is returned as well.

    A cut [:n] keeps the letters 0 to n - 1. Where does the stop word begin?
    """
    text = ""
    for piece in pieces:
        text += piece
        if stop in text:
            return text[:text.index(stop) + 1]
    return text


@mistake(of=until)
def piece_with_stop_lost(pieces, stop):
    """The piece in which the stop word ends is left out as a whole.

    Part of it may stand in front of the stop word. Where exactly do you cut?
    """
    text = ""
    for piece in pieces:
        if stop in text + piece:
            return text
        text += piece
    return text


@mistake(of=until)
def spaces_lost(pieces, stop):
    """Spaces and line ends at the edges of the text are lost.

    strip takes away more than the stop word. Is it needed at all?
    """
    return until(pieces, stop).strip()


@mistake(of=until)
def nothing_without_stop(pieces, stop):
    """Without a stop word nothing comes back.

    A stream may end by itself. What is the text then, and where does the return stand?
    """
    text = ""
    for piece in pieces:
        text += piece
        if stop in text:
            return text[:text.index(stop)]
    return ""


def tokens_possible(prompt, context):
    """The right answer."""
    return context - prompt


@mistake(of=tokens_possible)
def context_itself(prompt, context):
    """The prompt is not counted.

    Prompt and new tokens share the positions.
    """
    return context


@mistake(of=tokens_possible)
def one_less(prompt, context):
    """One too few.

    If one position is free, may a token stand on it?
    """
    return context - prompt - 1


@mistake(of=tokens_possible)
def a_sum(prompt, context):
    """Prompt and context are added.

    Can the text become longer than the context?
    """
    return context + prompt


@mistake(of=tokens_possible)
def one_more(prompt, context):
    """One too many: the one that the full window predicts is counted.

    Each new token needs a position of its own. How many are free?
    """
    return context - prompt + 1


@mistake(of=tokens_possible)
def turned_round(prompt, context):
    """The context is taken from the prompt: the sign is wrong.

    Which of the two is larger, and what is left of it?
    """
    return prompt - context


def _toy(ids):
    """Logits of a toy model over 10 tokens: the sum of the text, plus its length."""
    scores = np.zeros(10)
    scores[(sum(ids) + len(ids)) % 10] = 1
    return scores


def _large_toy(ids):
    """The same over 2,000 tokens: the next id is 500 more than the number of tokens."""
    scores = np.zeros(2000)
    scores[500 + len(ids)] = 1
    return scores


def _moody(ids):
    """Logits as a real model gives them, all of them between -1 and 0."""
    return -np.random.default_rng(sum(ids) + len(ids)).random(10)


exercise(write_loop, [
    Case("three new tokens", (_toy, [1, 2], 3, 20, None)),
    Case("an end token", (_toy, [1, 2], 8, 20, 7)),
    Case("the first new token is the end token", (_toy, [1, 2], 8, 20, 5)),
    Case("no new token asked for", (_toy, [1, 2], 0, 20, None)),
    Case("a context of 6", (_toy, [1, 2, 3], 50, 6, None)),
    Case("a prompt that fills the context", (_toy, [1, 2, 3], 5, 3, None)),
    Case("the end token stands in the prompt", (_toy, [7, 1], 2, 20, 7)),
    Case("the end token has the id 0", (_toy, [9], 3, 20, 0)),
    Case("enough and full at once", (_toy, [1, 2, 3], 2, 5, None)),
    Case("the prompt ends with the end token", (_toy, [1, 7], 2, 20, 7)),
    Case("an end token with a large id", (_large_toy, [1, 2], 8, 20, 504)),
    Case("the end token would come next", (_toy, [1, 2], 3, 20, 7)),
    Case("logits that are fractions below 0", (_moody, [1, 2], 4, 20, None)),
    Case("nothing asked for, and no room", (_toy, [1, 2, 3], 0, 3, None)),
])
exercise(until, [
    Case("the stop word in one piece", (["It was", " late. ", "He"], ".")),
    Case("the stop word cut in two", (["a fish", "\n", "\nThe end"], "\n\n")),
    Case("the stop word cut in three", (["a", "<", "/", "s>", "b"], "</s>")),
    Case("no stop word", (["a", "b"], "x")),
    Case("twice", (["a.b.c", ".d"], ".")),
    Case("spaces before the stop word", ([" a fish ", "", "  \n", ". The end"], ".")),
    Case("the stop word comes first", (["</", "s>", "a"], "</s>")),
    Case("no pieces at all", ([], "x")),
    Case("a stream that is still being written", (Live("a b", "c.", "d"), ".")),
])
exercise(tokens_possible, [
    Case("a prompt of 200, a context of 256", (200, 256)),
    Case("a prompt that fills the context", (256, 256)),
    Case("a prompt of 12, a context of 100", (12, 100)),
])
