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


def _toy(ids):
    """Logits of a toy model over 10 tokens: the sum of the text, plus its length."""
    scores = np.zeros(10)
    scores[(sum(ids) + len(ids)) % 10] = 1
    return scores


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
])
exercise(until, [
    Case("the stop word in one piece", (["It was", " late. ", "He"], ".")),
    Case("the stop word cut in two", (["a fish", "\n", "\nThe end"], "\n\n")),
    Case("the stop word cut in three", (["a", "<", "/", "s>", "b"], "</s>")),
    Case("no stop word", (["a", "b"], "x")),
    Case("twice", (["a.b.c", ".d"], ".")),
    Case("a stream that is still being written", (Live("a b", "c.", "d"), ".")),
])
exercise(tokens_possible, [
    Case("a prompt of 200, a context of 256", (200, 256)),
    Case("a prompt that fills the context", (256, 256)),
    Case("a prompt of 12, a context of 100", (12, 100)),
])
