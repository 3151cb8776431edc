"""Bonus lesson: guesses from the text so far, how many to accept, and one step of the loop."""
import time
from functools import lru_cache

import numpy as np

from gpt2lab.kvcache import KVCache
from gpt2lab.lookup import accept, guess, logits_behind, passes
from gpt2lab.teach.living import GAP

from . import Case, exercise, mistake

# what the lesson measures, and what its pictures show


def greedy_ids(model, text, tokens):
    """The new ids that greedy writes, up to where two best tokens are too close to call."""
    return list(_greedy_ids(model, text, tokens))


@lru_cache(maxsize=32)
def _greedy_ids(model, text, tokens):
    cache, new, ids = KVCache(model.config), model.encode(text), []
    for _ in range(min(tokens, model.config.n_positions - len(new) + 1)):
        logits = model.next_logits(new, cache)                                      # (V,)
        second, first = np.sort(logits)[-2:]
        if first - second < GAP:
            break
        new = [int(logits.argmax())]
        ids += new
    return tuple(ids)


def passes_of(ids, prompt, k, longest=3, careful=True, guess=guess, accept=accept):
    """The passes that write ids[prompt:], as if greedy would: [(guesses checked, new ids)].

    guess, accept: the library's, or the learner's.
    """
    def choose(text, guessed):
        return ids[len(text):][:len(guessed) + 1]
    return list(passes(choose, ids[:prompt], len(ids) - prompt, k, longest, careful, guess, accept))


def greedy_in_passes(model, text, tokens, lookup=None):
    """Greedy's new ids, and the number of passes that the model made for them."""
    names = []

    def watch(name, function):
        names.append(name)
        return function
    done = model.tapped(watch).generate_ids(model.encode(text), max_new_tokens=tokens,
                                            temperature=0, eos_token_id=None, lookup=lookup)
    return done.ids, names.count("embed")       # every pass begins with it


def writing_seconds(model, ids, prompt, k, careful=True):
    """Seconds of the passes that write ids[prompt:], as if greedy would; k = 0: without guesses."""
    cache = KVCache(model.config)

    def choose(text, guessed):
        logits_behind(model, cache, text, guessed)
        return ids[len(text):]
    start = time.perf_counter()
    list(passes(choose, ids[:prompt], len(ids) - prompt, k, careful=careful))
    return time.perf_counter() - start


def pass_seconds(model, rows, seen=64, repeats=5):
    """Median seconds of a pass over so many tokens and their logits, with `seen` in the cache."""
    cache, ids = KVCache(model.config), list(range(100, 100 + max(seen, *rows)))
    model.next_logits(ids[:seen], cache)
    times = {n: [] for n in rows}
    for _ in range(repeats):
        for n in rows:
            cache.length = seen
            start = time.perf_counter()
            model.last_logits(ids[:n], n, cache)
            times[n].append(time.perf_counter() - start)
    return [float(np.median(times[n])) for n in rows]


# the exercises


@mistake(of=guess)
def earliest_place(ids, k, longest=3):
    """The first place is taken where the end occurs, not the latest.

    What was said last is the best guide to what comes next. From which side do you look?
    """
    return _search(ids, k, longest, latest=False)


@mistake(of=guess)
def shortest_first(ids, k, longest=3):
    """The last token alone decides: it is looked for first, or nothing longer is.

    Two tokens alike tell more than one. With which number of tokens do you begin?
    """
    return _search(ids, k, longest, lengths=range(1, longest + 1))


@mistake(of=guess)
def only_the_longest(ids, k, longest=3):
    """Only the longest end is looked for.

    Where three tokens do not occur before, two may, or one. What do you try next?
    """
    return _search(ids, k, longest, lengths=[longest])


@mistake(of=guess)
def last_token_untried(ids, k, longest=3):
    """The last token alone is never looked for.

    Where two tokens do not occur before, one may. Which is the last number that range gives?
    """
    return _search(ids, k, longest, lengths=range(longest, 1, -1))


@mistake(of=guess)
def first_place_untried(ids, k, longest=3):
    """Place 0, the start of the text, is never looked at.

    What you look for may stand there. Which is the last number that range gives?
    """
    return _search(ids, k, longest, starts=lambda n: range(1, max(len(ids) - n, 1)))


@mistake(of=guess)
def end_finds_itself(ids, k, longest=3):
    """The end of the text finds itself.

    Nothing follows the last place of all. Where must the search begin, so that it finds an earlier
    one?
    """
    return []


@mistake(of=guess)
def found_tokens_too(ids, k, longest=3):
    """The guess begins with the tokens that were looked for.

    They stand at the end of the text already. How many tokens behind the start does the guess
    begin?
    """
    return _search(ids, k, longest, shift=lambda n: 0)


@mistake(of=guess)
def one_too_far(ids, k, longest=3):
    """The first token behind the place is left out.

    The place begins at start and is n tokens long. Which index comes after it?
    """
    return _search(ids, k, longest, shift=lambda n: n + 1)


@mistake(of=guess)
def no_round(ids, k, longest=3):
    """The guess is too short where the text ends.

    A text that repeats itself goes on: begin again with what followed. What does a list times k
    give?
    """
    for n in range(min(longest, len(ids) - 1), 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[-n:]:
                return ids[start + n:start + n + k]
    return []


@mistake(of=guess)
def last_token_again(ids, k, longest=3):
    """Where the text ends, the guess is filled up with the last token.

    A text that repeats itself goes on: begin again with all that followed. What does a list times k
    give?
    """
    followed = no_round(ids, k, longest)
    return followed + followed[-1:] * (k - len(followed))


@mistake(of=guess)
def searched_again(ids, k, longest=3):
    """One token is guessed, then the search begins anew behind it.

    One search is enough: with the place come all the tokens that follow it. How many of them do you
    take?
    """
    text = list(ids)
    for _ in range(k):
        text += guess(text, 1, longest)
    return text[len(ids):]


@mistake(of=guess)
def no_overlap(ids, k, longest=3):
    """A place that overlaps the end of the text is not looked at.

    In 1 1 1 the end 1 1 stands one place further up too. Which start is the latest that is not the
    end itself?
    """
    return _search(ids, k, longest, starts=lambda n: range(max(len(ids) - 2 * n + 1, 0)))


@mistake(of=guess)
def k_ignored(ids, k, longest=3):
    """All that follows the place is guessed, not k tokens.

    The caller says how long the guess may be. Where do you cut?
    """
    followed = no_round(ids, len(ids), longest)
    return followed if len(followed) > k else guess(ids, k, longest)


@mistake(of=guess)
def longest_ignored(ids, k, longest=3):
    """Three tokens are looked for, whatever longest says.

    Is there a 3 in your function where the argument should stand?
    """
    return guess(ids, k)


@mistake(of=guess)
def ids_as_floats(ids, k, longest=3):
    """The ids are floats.

    np.append and np.array([]) hold float64 unless you say otherwise, and an id is a whole number.
    What joins two lists?
    """
    return [float(i) for i in guess(ids, k, longest)]


@mistake(of=guess)
def no_bound(ids, k, longest=3):
    """At the start of the text, `longest` tokens are looked for where there are fewer.

    ids[-3:] of a list of two is that list. How long can the end be, if something must stand before
    it?
    """
    if len(ids) <= longest:
        return []
    return guess(ids, k, longest)


@mistake(of=guess)
def last_token_where_nothing_is_found(ids, k, longest=3):
    """Where nothing is found, the last token is guessed again and again.

    A guess out of nothing is nearly always wrong, and each one costs a row. What is a list without
    any guess?
    """
    return guess(ids, k, longest) or ids[-1:] * k


@mistake(of=guess)
def nothing_comes_back(ids, k, longest=3):
    """Where nothing is found, nothing comes back, not even an empty list.

    The loops then end without a return. What do you return after them?
    """
    return guess(ids, k, longest) or None


@mistake(of=guess)
def start_of_the_text(ids, k, longest=3):
    """The first tokens of the text are looked for, not the last.

    The guess should go on behind the end. Which slice has the last n tokens?
    """
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if ids[start:start + n] == ids[:n]:
                return (ids[start + n:] * k)[:k]
    return []


@mistake(of=guess)
def in_any_order(ids, k, longest=3):
    """The tokens are compared without their order.

    1 2 and 2 1 are two different ends. What does a set, or a sorted list, forget?
    """
    for n in range(longest, 0, -1):
        for start in range(len(ids) - n - 1, -1, -1):
            if set(ids[start:start + n]) == set(ids[-n:]):
                return (ids[start + n:] * k)[:k]
    return []


@mistake(of=guess)
def one_token_less(ids, k, longest=3):
    """The longest end is one token too short.

    range stops in front of its second number, and begins at its first. Which end do you look for
    first?
    """
    return guess(ids, k, longest - 1)


@mistake(of=guess)
def one_guess_too_many(ids, k, longest=3):
    """One guess too many comes back.

    A cut [:n] keeps n tokens. How many are asked for?
    """
    return guess(ids, k + 1, longest)


@mistake(of=guess)
def text_grows(ids, k, longest=3):
    """The caller's list of ids is changed.

    append, extend and += change the list itself, and a second name for it is no copy. How do you
    get a list of your own?
    """
    found = guess(ids, k, longest)
    ids.extend(found)
    return found


def _search(ids, k, longest, latest=True, lengths=None, shift=lambda n: n, starts=None):
    """guess with one part exchanged."""
    for n in range(longest, 0, -1) if lengths is None else lengths:
        places = starts(n) if starts else range(max(len(ids) - n, 0))
        for start in reversed(places) if latest else places:
            if ids[start:start + n] == ids[-n:]:
                return (ids[start + shift(n):] * k)[:k]
    return []


@mistake(of=accept)
def all_alike(guessed, greedy):
    """All guesses that agree are counted, those behind a wrong one too.

    Behind a wrong guess, the model has read a text that will not be written. When must you stop?
    """
    return sum(a == b for a, b in zip(guessed, greedy))


@mistake(of=accept)
def return_in_the_loop(guessed, greedy):
    """The loop is left at its first pair, right or wrong.

    A return inside the loop ends it. Under which condition may it stand there, and what comes after
    the loop?
    """
    right = 0
    for a, b in zip(guessed, greedy):
        if a == b:
            right += 1
        return right


@mistake(of=accept)
def no_return_behind(guessed, greedy):
    """Nothing comes back when no guess is wrong.

    The loop then ends without a return. What do you return after it?
    """
    right = accept(guessed, greedy)
    return right if right < len(guessed) else None


@mistake(of=accept)
def one_place_late(guessed, greedy):
    """Each guess is compared with the choice behind it.

    greedy[0] is what comes after the text, where the first guess stands. Which two belong together?
    """
    return accept(guessed, greedy[1:])


@mistake(of=accept)
def all_or_nothing(guessed, greedy):
    """One wrong guess throws all away.

    The guesses in front of it are right. Can you keep them?
    """
    return len(guessed) if accept(guessed, greedy) == len(guessed) else 0


@mistake(of=accept)
def free_token_counted(guessed, greedy):
    """One too many: the model's own token is counted as a guess.

    How many of the guesses are right? What comes after them is added elsewhere.
    """
    return accept(guessed, greedy) + 1


@mistake(of=accept)
def the_tokens(guessed, greedy):
    """The accepted tokens come back, not their number.

    The question is how many.
    """
    return guessed[:accept(guessed, greedy)]


@mistake(of=accept)
def wrong_ones_counted(guessed, greedy):
    """The guesses that are refused are counted.

    Count the right ones, from the first guess on.
    """
    return len(guessed) - accept(guessed, greedy)


@mistake(of=accept)
def index_of_the_first_false(guessed, greedy):
    """Where all guesses are right, there is no False to be found.

    index raises an error for what is not in the list. What stands behind the last guess, if you put
    it there?
    """
    return [a == b for a, b in zip(guessed, greedy)].index(False)


@mistake(of=accept)
def no_end_to_the_guesses(guessed, greedy):
    """The loop runs past the last guess.

    Where all are right, nothing stops it. What must still be true for the loop to go on?
    """
    right = 0
    while guessed[right] == greedy[right]:
        right += 1
    return right


@mistake(of=accept)
def all_right_gives_0(guessed, greedy):
    """Where all guesses are right, 0 comes back.

    No guess is wrong there: argmin finds no smaller number, and a loop ends without a return. How
    many are right then?
    """
    right = accept(guessed, greedy)
    return right if right < len(guessed) else 0


@mistake(of=accept)
def last_one_not_compared(guessed, greedy):
    """The last guess is not compared.

    greedy is the longer list, guessed is not. Over how many places must you go?
    """
    return accept(guessed[:-1], greedy)


@mistake(of=accept)
def found_anywhere(guessed, greedy):
    """A guess counts as right wherever greedy has that token.

    A guess must be greedy's choice at its own place. What does `in` leave out?
    """
    right = 0
    while right < len(guessed) and guessed[right] in greedy:
        right += 1
    return right


@mistake(of=accept)
def the_same_object(guessed, greedy):
    """Large ids are not recognised as equal.

    `is` asks for the same object, and two equal numbers may be two objects. What asks whether they
    are equal?
    """
    right = accept(guessed, greedy)
    return next((i for i in range(right) if guessed[i] > 256), right)


@mistake(of=accept)
def longest_run(guessed, greedy):
    """The longest run of right guesses is counted, wherever it begins.

    Behind a wrong guess, the model has read a text that will not be written. Where must the run
    begin?
    """
    best = run = 0
    for a, b in zip(guessed, greedy):
        run = run + 1 if a == b else 0
        best = max(best, run)
    return best


@mistake(of=accept)
def counted_from_the_end(guessed, greedy):
    """The right guesses are counted from the last one on.

    A wrong guess spoils what comes behind it, not what stands in front. At which end do you begin?
    """
    return accept(guessed[::-1], greedy[:len(guessed)][::-1])


@mistake(of=accept)
def yes_or_no(guessed, greedy):
    """True or False comes back: whether all guesses are right.

    The question is how many. What do all and == of whole lists not tell?
    """
    return accept(guessed, greedy) == len(guessed)


@mistake(of=accept)
def a_float(guessed, greedy):
    """The number is a float.

    A list cannot be cut at 2.0. Which step makes a float of a whole number?
    """
    return float(accept(guessed, greedy))


class Choose:
    """A model that writes one text: choose(ids, rows) gives greedy's id after each last one.

    Behind a token that is not in the text, and behind its end, it chooses 99. It answers once: one
    pass is all there is.
    """

    def __init__(self, *text):
        self.text, self.asked = text, 0

    def __call__(self, ids, rows):
        self.asked += 1
        if self.asked > 1:
            raise RuntimeError("the model was asked twice: one pass is enough for all guesses")
        if not 1 <= rows <= len(ids):
            raise ValueError(f"choose: rows must be from 1 to {len(ids)}, got {rows}")
        if not all(isinstance(i, (int, np.integer)) for i in ids):
            raise TypeError(f"choose: ids must be whole numbers, got {list(ids)}")
        return [self._after(tuple(ids[:end])) for end in range(len(ids) - rows + 1, len(ids) + 1)]

    def _after(self, ids):
        known = len(ids) < len(self.text) and ids == self.text[:len(ids)]
        return self.text[len(ids)] if known else 99

    def __eq__(self, other):
        return self.text == other.text

    def __repr__(self):
        return f"a model that writes {self.text}"


def step(choose, ids, k, guess=guess, accept=accept):
    """The right answer: the new tokens of one pass."""
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return greedy[:accept(guessed, greedy) + 1]


@mistake(of=step)
def no_own_token(choose, ids, k, guess=guess, accept=accept):
    """The model's own token behind the accepted guesses is missing.

    greedy holds one token more than the guesses. Without it, a pass with no right guess gives
    nothing.
    """
    return step(choose, ids, k, guess, accept)[:-1]


@mistake(of=step)
def no_own_token_at_the_end(choose, ids, k, guess=guess, accept=accept):
    """The model's own token is missing where no guess is wrong.

    greedy holds one token more than the guesses. Which one is left over when the last guess is
    right?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return greedy[:min(accept(guessed, greedy) + 1, len(guessed))]


@mistake(of=step)
def unchecked(choose, ids, k, guess=guess, accept=accept):
    """All guesses are kept, right or wrong.

    What did accept say? Only so many are greedy's own.
    """
    guessed = guess(ids, k)
    return guessed + choose(ids + guessed, 1)


@mistake(of=step)
def all_choices(choose, ids, k, guess=guess, accept=accept):
    """All of greedy's choices are kept, also those behind a wrong guess.

    They follow a text that will not be written. Where do you cut the list?
    """
    guessed = guess(ids, k)
    return choose(ids + guessed, len(guessed) + 1)


@mistake(of=step)
def one_choice_too_many(choose, ids, k, guess=guess, accept=accept):
    """One of greedy's choices too many is kept, behind a wrong guess.

    It follows a guess that was refused. A cut [:n] keeps n tokens: how many does a pass with no
    right guess give?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return greedy[:accept(guessed, greedy) + 2]


@mistake(of=step)
def one_pass_each(choose, ids, k, guess=guess, accept=accept):
    """The model is asked more than once: one pass is enough for all guesses.

    With a pass for each guess nothing is won. choose can look at many tokens at once: how many rows
    do you ask for?
    """
    guessed = guess(ids, k)
    greedy = [choose(ids + guessed[:i], 1)[0] for i in range(len(guessed) + 1)]
    return greedy[:accept(guessed, greedy) + 1]


@mistake(of=step)
def a_row_for_every_token(choose, ids, k, guess=guess, accept=accept):
    """The model is asked for a row of every token, those of the text too.

    Then greedy[0] comes after the first token of the text. Behind which token must the first row
    stand?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(ids + guessed))
    return greedy[:accept(guessed, greedy) + 1]


@mistake(of=step)
def one_row_short(choose, ids, k, guess=guess, accept=accept):
    """The row after the text itself is missing.

    The first guess is checked by the choice in front of it. How many rows are that, with one for
    each guess?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed))
    return greedy[:accept(guessed, greedy) + 1]


@mistake(of=step)
def guesses_not_read(choose, ids, k, guess=guess, accept=accept):
    """The model does not get the guesses to read.

    It can only say what follows a guess when the guess stands in its input.
    """
    guessed = guess(ids, k)
    greedy = choose(ids, len(guessed) + 1)
    return greedy[:accept(guessed, greedy) + 1]


@mistake(of=step)
def guesses_ignored(choose, ids, k, guess=guess, accept=accept):
    """The guesses are ignored: each pass gives one token.

    That is the loop without guessing. Which other tokens may this pass give?
    """
    return choose(ids, 1)


@mistake(of=step)
def whole_text(choose, ids, k, guess=guess, accept=accept):
    """The whole text comes back, not the new tokens.

    The caller appends them: return these alone.
    """
    return ids + step(choose, ids, k, guess, accept)


@mistake(of=step)
def nothing_to_guess(choose, ids, k, guess=guess, accept=accept):
    """Without a guess the model is not asked at all.

    Then the text stands still. What does a pass with no guess give?
    """
    return step(choose, ids, k, guess, accept) if guess(ids, k) else []


@mistake(of=step)
def first_choice_last(choose, ids, k, guess=guess, accept=accept):
    """The token behind the accepted guesses is greedy's first choice, not the one after them.

    greedy[0] comes after the text without guesses. Which one comes after `right` of them?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return guessed[:accept(guessed, greedy)] + greedy[:1]


@mistake(of=step)
def last_choice_last(choose, ids, k, guess=guess, accept=accept):
    """The token behind the accepted guesses is greedy's last choice, behind the wrong ones too.

    greedy[0] comes after the text without guesses. Which one comes after `right` of them?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return guessed[:accept(guessed, greedy)] + greedy[-1:]


@mistake(of=step)
def last_choice_too_early(choose, ids, k, guess=guess, accept=accept):
    """The token behind the accepted guesses is the choice one place too early.

    greedy[0] comes after the text, in the place of the first guess. With one right guess, which one
    follows it?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    right = accept(guessed, greedy)
    return guessed[:right] + [greedy[right - 1]]


@mistake(of=step)
def refused_guess_kept(choose, ids, k, guess=guess, accept=accept):
    """The token behind the accepted guesses is the refused guess, not greedy's choice.

    Which list holds what the model wants at that place, guessed or greedy?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return guessed[:accept(guessed, greedy) + 1]


@mistake(of=step)
def rest_kept(choose, ids, k, guess=guess, accept=accept):
    """The choices behind the accepted guesses are kept, and the accepted ones are cut off.

    [n:] begins at n, [:n] ends in front of it. Which end of greedy is right?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return greedy[accept(guessed, greedy):]


@mistake(of=step)
def one_token_alone(choose, ids, k, guess=guess, accept=accept):
    """One id comes back, not a list of the new tokens.

    An index takes one out of a list. What takes all from the start up to it?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, len(guessed) + 1)
    return greedy[accept(guessed, greedy)]


@mistake(of=step)
def own_token_alone(choose, ids, k, guess=guess, accept=accept):
    """Only the model's own token comes back, without the accepted guesses.

    They are greedy's choices as well: that is what accept found out. Where does your list begin?
    """
    return step(choose, ids, k, guess, accept)[-1:]


@mistake(of=step)
def rows_for_k_guesses(choose, ids, k, guess=guess, accept=accept):
    """The model is asked for k + 1 rows, even where there are fewer guesses.

    guess may find nothing. How many guesses has the model read then, and how many rows belong to
    them?
    """
    guessed = guess(ids, k)
    greedy = choose(ids + guessed, k + 1)
    return greedy[:accept(guessed, greedy) + 1]


@mistake(of=step)
def text_not_read(choose, ids, k, guess=guess, accept=accept):
    """The model reads the guesses alone, without the text in front of them.

    It can only say what follows a text when the text stands in its input. What belongs together?
    """
    guessed = guess(ids, k)
    greedy = choose(guessed, len(guessed) + 1)
    return greedy[:accept(guessed, greedy) + 1]


@mistake(of=step)
def text_changed(choose, ids, k, guess=guess, accept=accept):
    """The caller's list of ids is changed: the guesses are appended to it.

    append, extend and += change the list itself; most guesses may be wrong. What makes a new list?
    """
    new = step(choose, ids, k, guess, accept)
    ids += guess(ids, k)
    return new


@mistake(of=step)
def own_parts_used(choose, ids, k, guess=guess, accept=accept):
    """The functions guess and accept that are handed in are not used.

    The caller may hand in others. Do you call your arguments, or something written into step?
    """
    return step(choose, ids, k)


@mistake(of=step)
def k_not_handed_on(choose, ids, k, guess=guess, accept=accept):
    """guess is not asked for k tokens.

    The caller says how long the guess may be. Which number do you hand to guess?
    """
    return step(choose, ids, 8, guess, accept)


GUESSES = [
    Case("the text of the hand example", ([5, 6, 7, 5, 6], 2)),
    Case("three tokens are found again", ([1, 2, 3, 9, 8, 1, 2, 3], 2)),
    Case("two tokens, further back than one", ([1, 2, 3, 4, 7, 3, 5, 2, 3], 1)),
    Case("one token, twice", ([3, 4, 7, 3, 5, 8, 3], 2)),
    Case("a token that comes again and again", ([4, 7, 7, 7], 4)),
    Case("a text that ends before k tokens", ([1, 2, 1, 2], 4)),
    Case("a place that overlaps the end", ([1, 1, 2, 1, 1, 1], 1)),
    Case("what follows occurred later too, with another end", ([9, 1, 2, 3, 4, 1, 2, 3, 5, 9], 4)),
    Case("a text of two", ([7, 7], 3)),
    Case("nothing is found", ([1, 2, 3], 4)),
    Case("a text of one token", ([1], 4)),
    Case("longest = 1", ([1, 2, 3, 4, 7, 3, 5, 2, 3], 1, 1)),
    Case("longest = 4", ([9, 1, 2, 3, 4, 8, 1, 2, 3, 5, 9, 1, 2, 3], 1, 4)),
    Case("three tokens unless longest says otherwise",
         ([9, 1, 2, 3, 4, 8, 1, 2, 3, 5, 6, 2, 3, 7, 9, 1, 2, 3], 1)),
    Case("ids whose digits look alike", ([212, 5, 50000, 12], 2)),
    Case("the same tokens in another order", ([1, 2, 5, 2, 1, 6, 1, 2], 1)),
    Case("no guess asked for", ([1, 2, 1], 0)),
    Case("k = 1", ([1, 2, 3, 9, 8, 1, 2, 3], 1)),
]
LOOP = (1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3)


def next_in_line(ids, k):
    """Another guess: after each number comes the next one, up to 3, then 1 again."""
    return [(ids[-1] + i) % 3 + 1 for i in range(k)]


def at_most_2(guessed, greedy):
    """Another accept, which trusts no more than two guesses."""
    return min(accept(guessed, greedy), 2)


SECOND_WRONG, FIRST_WRONG = (1, 2, 3, 1, 2, 3, 9, 4, 5), (1, 2, 3, 1, 2, 8, 1, 2)

exercise(guess, GUESSES)
exercise(accept, [
    Case("the hand example", ([7, 5], [7, 8, 4])),
    Case("all right", ([7, 5, 6], [7, 5, 6, 2])),
    Case("the first one wrong", ([7, 5, 6], [1, 5, 6, 2])),
    Case("the second one wrong", ([7, 5, 6, 3], [7, 1, 6, 3, 2])),
    Case("no guess", ([], [4])),
    Case("all the same token", ([7, 7, 7], [7, 7, 7, 7])),
    Case("right tokens in the wrong places", ([7, 5, 6], [5, 7, 6, 2])),
    Case("large ids", ([int("50000"), 262], [int("50000"), 262, 11])),
    Case("a run of right ones behind a wrong one", ([3, 4, 9, 5, 6, 7], [3, 4, 8, 5, 6, 7, 1])),
])
exercise(step, [
    Case("all guesses right", (Choose(*LOOP), list(LOOP[:5]), 3, guess, accept)),
    Case("the second guess wrong", (Choose(*SECOND_WRONG), [1, 2, 3, 1, 2], 3, guess, accept)),
    Case("the first guess wrong", (Choose(*FIRST_WRONG), [1, 2, 3, 1, 2], 3, guess, accept)),
    Case("nothing to guess from", (Choose(1, 2, 3, 4), [1, 2, 3], 3, guess, accept)),
    Case("k = 1", (Choose(*LOOP), list(LOOP[:5]), 1, guess, accept)),
    Case("a text of one token", (Choose(4, 4, 4, 4), [4], 2, guess, accept)),
    Case("other functions for guess and accept",
         (Choose(*LOOP), [1, 2], 4, next_in_line, at_most_2)),
])
