"""Pictures of the bonus lesson on speculation: the passes of a text as a strip, tokens a pass, times."""
import time
from functools import lru_cache

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullLocator

from gpt2lab.kvcache import KVCache
from gpt2lab.lookup import accept, guess
from gpt2lab.model import GPT2
from gpt2lab.teach import plot, show
from gpt2lab.teach.living import GAP

KEPT, OWN, REFUSED = "✓", "▸", "×"
ROWS, WIDTH, LONG = 24, 66, 24                  # passes that are drawn; characters in a row, in a token


def greedy_ids(model, text, tokens):
    """The new ids that greedy writes; they end before two best tokens that are too close to call."""
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


def passes(ids, prompt, k, longest=3, careful=True):
    """The passes in which ids[prompt:] is written, if greedy would write it: [(guesses checked, new ids)].

    careful: one guess after a pass with a right one, all after two such passes, as the library does.
    """
    found, place, before, right = [], prompt, 0, 0
    while place < len(ids):
        guessed = guess(ids[:place], min(k, len(ids) - place - 1), longest)
        checked = guessed if not careful or before and right else guessed[:right]
        new = ids[place:place + accept(checked, ids[place:]) + 1]
        found.append((checked, new))
        place += len(new)
        before, right = right, accept(guessed, new)
    return found


def strip_of(model, text, k, longest=3, careful=True, tokens=24):
    """The strip of the passes in which lookup writes greedy's text behind a prompt."""
    prompt = model.encode(text)
    new = greedy_ids(model, text, tokens)
    if not new:
        return plot.message("The two best tokens behind this text are too close to call: try another one.")
    return strip(model.tokenizer, passes(prompt + new, len(prompt), k, longest, careful))


@plot.styled
def strip(tokenizer, found):
    """One row a pass: guesses kept, the model's own token behind them, guesses refused."""
    new = sum(len(kept) for _, kept in found)
    right, wrong = (sum(count) for count in zip(*((len(kept) - 1, len(checked) - len(kept) + 1) for checked, kept in found)))
    shown = found[:ROWS]
    fig, (ax,) = plot.figure(height=70 + 23 * len(shown), drawn={
        "tokens": np.array([len(kept) for _, kept in found]), "checked": np.array([len(checked) for checked, _ in found])}, alt=(
        f"{new} new tokens in {len(found)} passes, {new / len(found):.1f} a pass: {right} guesses kept, {wrong} refused."))
    for row, (checked, kept) in enumerate(shown):
        cells = [(KEPT, i) for i in kept[:-1]] + [(OWN, kept[-1])] + [(REFUSED, i) for i in checked[len(kept) - 1:]]
        _row(ax, row, [(mark, mark + show.token(tokenizer.decode([i]))[:LONG]) for mark, i in cells])
        ax.text(WIDTH + 1, row, f"+{len(kept)}", va="center")
    ax.set(xlim=(0, WIDTH + 4), ylim=(len(shown) - 0.4, -0.6), ylabel="pass", xticks=[],
           title=f"{KEPT} guess kept    {OWN} the model's own token    {REFUSED} guess refused\n"
                 f"{new} tokens, {len(found)} passes: {new / len(found):.1f} a pass; {right} kept, {wrong} refused"
                 + (f" (the first {ROWS} are shown)" if len(found) > ROWS else ""))
    ax.set_yticks(range(len(shown)), range(1, len(shown) + 1))
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return fig


LOOK = {KEPT: {"facecolor": "#d5efe6", "edgecolor": plot.GREEN}, OWN: {"facecolor": "#d4e6f3", "edgecolor": plot.BLUE, "linewidth": 2},
        REFUSED: {"facecolor": "0.95", "edgecolor": "0.6", "hatch": "////"}}


def _row(ax, row, cells):
    """The tokens of one pass, from left to right, as wide as their texts; dots where the row is full.

    The model's own token is drawn in any case: dots stand for the last guesses kept, if need be.
    """
    x, full = 0.0, None                         # full: the mark of the guesses that have no room
    own = 3 + next(len(text) + 0.8 for mark, text in cells if mark == OWN)
    for mark, text in cells:
        width = len(text) + 0.8
        if mark == full:
            continue
        if mark != OWN and x + width + (own if mark == KEPT else 0) > WIDTH - 2:
            ax.text(x, row, "...", va="center", in_layout=False)
            x, full = x + 3, mark
            continue
        ax.add_patch(Rectangle((x, row - 0.4), width - 0.2, 0.8, in_layout=False, **LOOK[mark]))
        ax.text(x + width / 2 - 0.1, row, text, ha="center", va="center", family="DejaVu Sans Mono", in_layout=False)
        x += width


def tokens_per_pass(texts, ks, longest=3, careful=True):
    """Tokens a pass over k, one line a text {label: (ids, prompt)}."""
    series = {label: np.array([(len(ids) - prompt) / len(passes(ids, prompt, k, longest, careful)) for k in ks])
              for label, (ids, prompt) in texts.items()}
    best = "; ".join(f"{label} {values[-1]:.1f}" for label, values in series.items())
    return plot.lines(series, "guesses k", "tokens a pass", x=np.array(ks), at_end=False,
                      alt=f"Tokens a pass over the number of guesses; with k = {ks[-1]}: {best}.")


def measured(model, text, tokens, lookup=None):
    """(new ids, passes of the model, seconds) of greedy writing."""
    passes_made = []

    class Counting(GPT2):
        def last_logits(self, ids, rows, cache=None):
            passes_made.append(rows)
            return super().last_logits(ids, rows, cache)
    counting = Counting(model.config, model.weights, model.tokenizer, model.ops)
    start = time.perf_counter()
    ids = counting.generate_ids(model.encode(text), max_new_tokens=tokens, temperature=0, eos_token_id=None, lookup=lookup).ids
    return ids, len(passes_made), time.perf_counter() - start


def writing_seconds(model, ids, prompt, k, careful=True):
    """Seconds in which the passes write ids[prompt:], as if greedy would write it; k = 0: without guesses."""
    start = time.perf_counter()
    cache, read = KVCache(model.config), ids[:prompt]
    for checked, new in passes(ids, prompt, k, careful=careful):
        model.last_logits(read + checked, 1 + len(checked), cache)
        cache.length -= len(checked) + 1 - len(new)
        read = new[-1:]
    return time.perf_counter() - start


def pass_seconds(model, rows, seen=64, repeats=5):
    """Median seconds of one pass over this many tokens, all logits included, with `seen` in the cache."""
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


def pass_times(rows, seconds):
    """Milliseconds of one pass over its tokens, beside as many passes over one token."""
    one = seconds[rows.index(1)]
    fig = plot.lines({"one pass": np.array(seconds) * 1e3, "one pass for each token": np.array(rows) * one * 1e3}, "rows of the pass (log scale)",
                      "time (ms, log scale)", x=np.array(rows), log=True, logx=True, at_end=False,
                      alt="Measured time of one pass over its tokens, beside the time of one pass for each of them.")
    fig.axes[0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    fig.axes[0].yaxis.set_minor_locator(NullLocator())
    return fig
