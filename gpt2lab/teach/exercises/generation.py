"""Lesson 13: the loop that writes, and a stream that ends at a word."""
import numpy as np

from gpt2lab.inside import best_tokens
from gpt2lab.sampling import probabilities, sample
from gpt2lab.teach import show

from . import Case, exercise, mistake

# what the lesson's pictures show


def words(tokenizer, arrays):
    """The texts beside some arrays of the way: of the ids, the 12 best tokens, the next word."""
    ids = {"ids": arrays["ids"], "probabilities": best_tokens(arrays["probabilities"], 12),
           "next word": arrays["next word"]}
    return {name: show.tokens(tokenizer, some) for name, some in ids.items()}


# the exercises


def write_loop(next_logits, ids, max_new_tokens, context, end, choose):
    """The right answer: predict, choose, hand out, append, with one reason to stop."""
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
        ids.append(chosen)
    return "enough"


class _Whole:
    """The ids of a loop, one by one; behind the last of them, its reason."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __iter__(self):
        self.reason = yield from write_loop(*self.arguments)


@mistake(of=write_loop)
def all_returned_at_once(next_logits, ids, max_new_tokens, context, end, choose):
    """All ids come back at once, in a list beside the reason.

    Nobody can read the text while it is written. return ends the function; yield hands an id over
    and goes on later. Which line knows the next id?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    return list(loop), loop.reason


@mistake(of=write_loop)
def list_returned(next_logits, ids, max_new_tokens, context, end, choose):
    """All ids come back at once, in a list, and the reason is lost.

    Nobody can read the text while it is written. return ends the function; yield hands an id over
    and goes on later. Which line knows the next id?
    """
    return list(write_loop(next_logits, ids, max_new_tokens, context, end, choose))


@mistake(of=write_loop)
def collected_first(next_logits, ids, max_new_tokens, context, end, choose):
    """The ids are collected in a list, and handed out when the last of them is there.

    Then the first word comes as late as the last one. In which line is an id known, and what can
    you do there at once?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    yield from list(loop)
    return loop.reason


@mistake(of=write_loop)
def list_yielded(next_logits, ids, max_new_tokens, context, end, choose):
    """A whole list is handed out by one yield.

    Each yield hands out what stands behind it. What should that be, a list or one id, and where in
    the loop?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    yield list(loop)
    return loop.reason


@mistake(of=write_loop)
def text_so_far_yielded(next_logits, ids, max_new_tokens, context, end, choose):
    """Each yield hands out the whole text so far.

    Who reads the stream has the beginning already. What is new in each turn?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    text = list(ids)
    for chosen in loop:
        text.append(chosen)
        yield list(text)
    return loop.reason


@mistake(of=write_loop)
def new_ids_so_far_yielded(next_logits, ids, max_new_tokens, context, end, choose):
    """Each yield hands out all new ids so far.

    Who reads the stream has the first ones already. What is new in each turn?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    new = []
    for chosen in loop:
        new.append(chosen)
        yield list(new)
    return loop.reason


@mistake(of=write_loop)
def each_in_a_list(next_logits, ids, max_new_tokens, context, end, choose):
    """Each id is handed out in a list of its own.

    Square brackets make a list. What does tokenizer.decode_stream expect, ids or lists?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    for chosen in loop:
        yield [chosen]
    return loop.reason


@mistake(of=write_loop)
def nothing_yielded(next_logits, ids, max_new_tokens, context, end, choose):
    """No id is handed out: only the reason comes back.

    Without a yield the function runs to its end at once. What hands out the chosen id, each time
    round the loop?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    list(loop)
    return loop.reason


@mistake(of=write_loop)
def prompt_yielded(next_logits, ids, max_new_tokens, context, end, choose):
    """The prompt is handed out along with the new ids.

    Who calls has the prompt already. Which ids has the model chosen?
    """
    yield from ids
    return (yield from write_loop(next_logits, ids, max_new_tokens, context, end, choose))


@mistake(of=write_loop)
def end_token_yielded(next_logits, ids, max_new_tokens, context, end, choose):
    """The end token is handed out with the text.

    It is a signal, no part of the text. What comes first: yield, or the comparison with end?
    """
    reason = yield from write_loop(next_logits, ids, max_new_tokens, context, end, choose)
    if reason == "end token":
        yield end
    return reason


@mistake(of=write_loop)
def end_token_ignored(next_logits, ids, max_new_tokens, context, end, choose):
    """The end token stops nothing.

    Which argument tells you that the model has finished its text?
    """
    return write_loop(next_logits, ids, max_new_tokens, context, None, choose)


@mistake(of=write_loop)
def end_token_skipped(next_logits, ids, max_new_tokens, context, end, choose):
    """The end token is not handed out, but the loop goes on behind it.

    What the model says after the end of a text is another text. What do you do instead of going on?
    """
    ids, given = list(ids), 0
    while given < max_new_tokens:
        if len(ids) == context:
            return "context full"
        ids.append(choose(next_logits(ids)))
        if ids[-1] != end:
            given += 1
            yield ids[-1]
    return "enough"


@mistake(of=write_loop)
def end_token_0_missed(next_logits, ids, max_new_tokens, context, end, choose):
    """An end token with the id 0 stops nothing.

    0 counts as false in Python. How do you ask whether there is an end token at all?
    """
    return write_loop(next_logits, ids, max_new_tokens, context, end or None, choose)


@mistake(of=write_loop)
def end_in_the_prompt(next_logits, ids, max_new_tokens, context, end, choose):
    """An end token anywhere in the prompt stops the loop.

    Only a token that the model has chosen ends the text. Which list, or which token, do you look
    at?
    """
    if end in ids:
        return "end token"
    return (yield from write_loop(next_logits, ids, max_new_tokens, context, end, choose))


@mistake(of=write_loop)
def end_at_the_end_of_the_prompt(next_logits, ids, max_new_tokens, context, end, choose):
    """A prompt that ends with the end token stops the loop before it begins.

    Only a token that the model has chosen ends the text. When is the last token of the text one?
    """
    if ids[-1] == end:
        return "end token"
    return (yield from write_loop(next_logits, ids, max_new_tokens, context, end, choose))


@mistake(of=write_loop)
def end_by_identity(next_logits, ids, max_new_tokens, context, end, choose):
    """A large id of the end token is not recognised.

    `is` asks for the same object, and two equal numbers may be two objects. What asks whether they
    are equal?
    """
    small = end if end is not None and end <= 256 else None
    return write_loop(next_logits, ids, max_new_tokens, context, small, choose)


@mistake(of=write_loop)
def never_enough(next_logits, ids, max_new_tokens, context, end, choose):
    """max_new_tokens stops nothing.

    So many ids are asked for, and no more. What ends your loop when the model would go on?
    """
    return write_loop(next_logits, ids, 10 ** 9, context, end, choose)


@mistake(of=write_loop)
def one_too_many(next_logits, ids, max_new_tokens, context, end, choose):
    """There is one id too many, also where none was asked for.

    With max_new_tokens = 0 the model must not be asked at all. How often does your loop turn?
    """
    return write_loop(next_logits, ids, max_new_tokens + 1, context, end, choose)


@mistake(of=write_loop)
def one_too_few(next_logits, ids, max_new_tokens, context, end, choose):
    """There is one id too few.

    range(n) has n turns, from 0 to n - 1. How often does your loop turn?
    """
    return write_loop(next_logits, ids, max(max_new_tokens - 1, 0), context, end, choose)


@mistake(of=write_loop)
def context_ignored(next_logits, ids, max_new_tokens, context, end, choose):
    """The text grows past the context.

    The position table has no row for a position past the last. When must the loop stop?
    """
    return write_loop(next_logits, ids, max_new_tokens, 10 ** 9, end, choose)


@mistake(of=write_loop)
def context_one_late(next_logits, ids, max_new_tokens, context, end, choose):
    """The text becomes one token longer than the context.

    With N positions there is room for N tokens. Is the next one still allowed when there are N?
    """
    return write_loop(next_logits, ids, max_new_tokens, context + 1, end, choose)


@mistake(of=write_loop)
def context_one_early(next_logits, ids, max_new_tokens, context, end, choose):
    """The loop stops one token before the context is full.

    With N positions there is room for N tokens. How many stand there when you stop?
    """
    if len(ids) == context:
        return "enough" if max_new_tokens == 0 else "context full"
    return (yield from write_loop(next_logits, ids, max_new_tokens, context - 1, end, choose))


@mistake(of=write_loop)
def context_before_enough(next_logits, ids, max_new_tokens, context, end, choose):
    """A full context is reported although enough ids were written.

    Where both are true, the reason is that you got what you asked for. Which test comes first?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    new = []
    for chosen in loop:
        new.append(chosen)
        yield chosen
    full = len(ids) + len(new) >= context and loop.reason == "enough"
    return "context full" if full else loop.reason


@mistake(of=write_loop)
def context_counts_new_ids(next_logits, ids, max_new_tokens, context, end, choose):
    """Only the new ids are counted against the context.

    Prompt and new ids stand in one row of positions. Which list has all of them?
    """
    return write_loop(next_logits, ids, max_new_tokens, context + len(ids), end, choose)


@mistake(of=write_loop)
def prompt_counts_as_new(next_logits, ids, max_new_tokens, context, end, choose):
    """The prompt is counted against max_new_tokens.

    So many new ids are asked for, however long the prompt is. Whose length do you compare?
    """
    return write_loop(next_logits, ids, max(max_new_tokens - len(ids), 0), context, end, choose)


@mistake(of=write_loop)
def window_slides(next_logits, ids, max_new_tokens, context, end, choose):
    """The text is cut to its last tokens when the context is full, and goes on.

    Then the model no longer knows the beginning. This loop stops instead. With which reason?
    """
    return write_loop(lambda ids: next_logits(ids[-context:]), ids, max_new_tokens, 10 ** 9, end,
                      choose)


@mistake(of=write_loop)
def asked_before_counting(next_logits, ids, max_new_tokens, context, end, choose):
    """The model is asked before anything is counted, so there is always one id at least.

    With max_new_tokens = 0, or with a prompt that fills the context, it must not be asked at all.
    Which tests come before the question?
    """
    chosen = choose(next_logits(ids))
    if chosen == end:
        return "end token"
    yield chosen
    return (yield from write_loop(next_logits, [*ids, chosen], max(max_new_tokens - 1, 0),
                                  max(context, len(ids) + 1), end, choose))


@mistake(of=write_loop)
def asked_when_full(next_logits, ids, max_new_tokens, context, end, choose):
    """The model is asked once more although the context is full.

    There is no position for another token, so nobody needs its answer. What do you test before you
    ask?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    for chosen in loop:
        ids = [*ids, chosen]
        yield chosen
    full = loop.reason == "context full"
    return "end token" if full and choose(next_logits(ids)) == end else loop.reason


@mistake(of=write_loop)
def last_token_only(next_logits, ids, max_new_tokens, context, end, choose):
    """The model is shown the last token only.

    A GPT reads the whole text for every new token. What do you hand to next_logits?
    """
    return write_loop(lambda ids: next_logits(ids[-1:]), ids, max_new_tokens, context, end, choose)


@mistake(of=write_loop)
def not_appended(next_logits, ids, max_new_tokens, context, end, choose):
    """The chosen id is not appended to what the model reads.

    Then it is asked the same question again and again. What must the text have grown by?
    """
    first = list(ids)
    return write_loop(lambda _: next_logits(first), ids, max_new_tokens, context, end, choose)


@mistake(of=write_loop)
def text_stays_the_prompt(next_logits, ids, max_new_tokens, context, end, choose):
    """The chosen id is appended nowhere: neither the model nor the context sees the text grow.

    yield hands the id to the caller only. Which list has to know it too?
    """
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        chosen = choose(next_logits(ids))
        if chosen == end:
            return "end token"
        yield chosen
    return "enough"


@mistake(of=write_loop)
def only_new_ones_read(next_logits, ids, max_new_tokens, context, end, choose):
    """The model reads the prompt once, and later the new ids only.

    It has no memory of its own: what it should know must stand in its input. What is the whole
    text?
    """
    n = len(ids)
    return write_loop(lambda ids: next_logits(ids[n:] or ids), ids, max_new_tokens, context, end,
                      choose)


@mistake(of=write_loop)
def always_the_largest(next_logits, ids, max_new_tokens, context, end, choose):
    """The largest logit is chosen, whatever choose does.

    Another choose may draw by chance, or take the smallest. Which argument is not used?
    """
    return write_loop(next_logits, ids, max_new_tokens, context, end, _largest)


@mistake(of=write_loop)
def one_logit_only(next_logits, ids, max_new_tokens, context, end, choose):
    """One logit is picked out before choose sees them: then there is one place to choose from.

    next_logits gives one row already, (V,), not one for each position. Of what do you take [-1]?
    """
    return write_loop(lambda ids: next_logits(ids)[-1:], ids, max_new_tokens, context, end, choose)


@mistake(of=write_loop)
def choose_gets_the_ids(next_logits, ids, max_new_tokens, context, end, choose):
    """choose is handed the ids, not the logits.

    The model gives a score for each token of the vocabulary, and choose picks one of those. What do
    you hand to it?
    """
    return write_loop(lambda ids: np.asarray(ids), ids, max_new_tokens, context, end, choose)


@mistake(of=write_loop)
def chosen_twice(next_logits, ids, max_new_tokens, context, end, choose):
    """choose is called twice for one token.

    Where chance decides, the second call gives another id than the first. What keeps what the first
    call gave?
    """
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        logits = next_logits(ids)
        if choose(logits) == end:
            return "end token"
        chosen = choose(logits)
        yield chosen
        ids.append(chosen)
    return "enough"


@mistake(of=write_loop)
def asked_twice(next_logits, ids, max_new_tokens, context, end, choose):
    """The model is asked twice for one token.

    It takes seconds to answer, and choose may give another id the second time. What keeps what the
    first call gave?
    """
    ids = list(ids)
    for _ in range(max_new_tokens):
        if len(ids) == context:
            return "context full"
        if choose(next_logits(ids)) == end:
            return "end token"
        chosen = choose(next_logits(ids))
        yield chosen
        ids.append(chosen)
    return "enough"


@mistake(of=write_loop)
def always_enough(next_logits, ids, max_new_tokens, context, end, choose):
    """The reason is always "enough", whatever ended the loop.

    break leaves the loop at different places, and all of them lead to one return. How can each
    place tell its own reason?
    """
    yield from write_loop(next_logits, ids, max_new_tokens, context, end, choose)
    return "enough"


@mistake(of=write_loop)
def reasons_of_the_library(next_logits, ids, max_new_tokens, context, end, choose):
    """The reasons have other names: those of the library.

    Here they are called "enough", "context full" and "end token". A text must be equal in every
    letter.
    """
    names = {"enough": "max_new_tokens", "context full": "context_full", "end token": "eos"}
    return names[(yield from write_loop(next_logits, ids, max_new_tokens, context, end, choose))]


@mistake(of=write_loop)
def no_reason(next_logits, ids, max_new_tokens, context, end, choose):
    """The ids come, but no reason in the end.

    A generator may return as well, when it comes to its end. What stands behind each return of
    yours?
    """
    yield from write_loop(next_logits, ids, max_new_tokens, context, end, choose)


@mistake(of=write_loop)
def reason_yielded(next_logits, ids, max_new_tokens, context, end, choose):
    """The reason is handed out by yield, as if it were one more id.

    What is yielded is part of the text. What gives something back at the very end?
    """
    yield (yield from write_loop(next_logits, ids, max_new_tokens, context, end, choose))


@mistake(of=write_loop)
def ids_with_the_reason(next_logits, ids, max_new_tokens, context, end, choose):
    """The ids come back once more at the end, beside the reason.

    The caller has had them, one by one. What alone is left to be told?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    new = []
    for chosen in loop:
        new.append(chosen)
        yield chosen
    return new, loop.reason


@mistake(of=write_loop)
def prompt_grows(next_logits, ids, max_new_tokens, context, end, choose):
    """The caller's list of ids is changed: it grows with the text.

    append and += change the list itself, and a second name for it is no copy. How do you get a list
    of your own?
    """
    loop = _Whole(next_logits, ids, max_new_tokens, context, end, choose)
    for chosen in loop:
        yield chosen
        ids.append(chosen)
    return loop.reason


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


class Asked:
    """The toy, which answers only so many times: nobody has taken a further id."""

    def __init__(self, times):
        self.left = times

    def __call__(self, ids):
        if not self.left:
            raise RuntimeError("the model is asked for one more id before the last one is handed "
                               "out")
        self.left -= 1
        return _toy(ids)

    def __eq__(self, other):                    # who has used it up has not changed it
        return isinstance(other, Asked)


def _largest(logits):
    return int(np.argmax(logits))


def _smallest(logits):
    return int(np.argmin(logits))


class Chance:
    """Draws by chance, with the same luck in every try."""

    def __init__(self):
        self.rng = np.random.default_rng(13)

    def __call__(self, logits):
        return sample(probabilities(logits), self.rng.random())

    def __eq__(self, other):                    # who has drawn has not changed it
        return isinstance(other, Chance)


def _case(label, next_logits, ids, most, context, end, choose=_largest, take=100):
    return Case(label, (next_logits, ids, most, context, end, choose), take=take)


exercise(write_loop, [
    _case("three new tokens", _toy, [1, 2], 3, 20, None),
    _case("an end token", _toy, [1, 2], 8, 20, 7),
    _case("the first new token is the end token", _toy, [1, 2], 8, 20, 5),
    _case("no new token asked for", _toy, [1, 2], 0, 20, None),
    _case("a context of 6", _toy, [1, 2, 3], 50, 6, None),
    _case("a prompt that fills the context", _toy, [1, 2, 3], 5, 3, None),
    _case("the end token stands in the prompt", _toy, [7, 1], 2, 20, 7),
    _case("the end token has the id 0", _toy, [9], 3, 20, 0),
    _case("enough and full at once", _toy, [1, 2, 3], 2, 5, None),
    _case("the prompt ends with the end token", _toy, [1, 7], 2, 20, 7),
    _case("an end token with a large id", _large_toy, [1, 2], 8, 20, 504),
    _case("the end token would come next", _toy, [1, 2], 3, 20, 7),
    _case("full, and the end token would come next", _toy, [1, 2, 3], 5, 3, 9),
    _case("nothing asked for, and no room", _toy, [1, 2, 3], 0, 3, None),
    _case("choose takes the smallest logit", _moody, [1, 2], 4, 20, None, _smallest),
    _case("choose draws by chance", _moody, [1, 2], 6, 20, None, Chance()),
    _case("two ids are taken while the text is being written", Asked(2), [1, 2], 8, 20, None,
          take=2),
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
