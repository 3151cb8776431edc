"""Pictures of lesson 00: the whole path from a sentence to the next word."""
import numpy as np

from gpt2lab.teach import plot


@plot.styled
def path(tokens, ids, trace, words, best, probs):
    """Text, ids, rows, blocks, logits, probabilities, word: the arrays of one text.

    tokens, ids: the text's (T,); trace: as model.trace gives it; words, best: texts and ids of the
    six best next tokens, the best one first; probs: the probability of each token (V,).
    """
    blocks = [name for name in trace if name.endswith("resid_post")]
    rows, last_rows, logits = trace["embed"], trace[blocks[-1]], trace["logits"][-1]
    (T, D), V, L = rows.shape, len(logits), len(blocks)
    fig = plot.Figure(figsize=(6.4, 5.2), dpi=plot.DPI, layout="constrained")
    fig.drawn = {"embed": rows, "stream": last_rows, "logits": logits[best],
                 "probabilities": probs[best]}
    fig.alt = ("The path from a text to its next word: ids, rows, blocks, logits, "
               "probabilities.\n"
               f"{T} tokens: ids, {T} rows of {D} numbers, the same after {L} blocks, "
               f"{V:,} logits, probabilities; the best next token is {words[0]} "
               f"with {probs[best[0]]:.0%}.")
    table, first, last, scores, chances, word = fig.subplots(2, 3).flat
    table.set(title=f"1 text → ids ({T},)", xlim=(0, 1), ylim=(T - 0.5, -0.5))
    for t, (token, i) in enumerate(zip(tokens, ids)):
        table.text(0.45, t, token, ha="right", va="center")
        table.text(0.55, t, str(i), ha="left", va="center", color=plot.BLUE)
    _map(first, rows, tokens, f"2 rows x ({T}, {D})")
    _map(last, last_rows, tokens, f"3 {L} blocks ({T}, {D})")
    _six_best(scores, words, logits[best], f"4 logits ({V},)", plot.BLUE, None)
    _six_best(chances, words, probs[best], "5 probabilities", plot.GREEN, "//")
    word.text(0.5, 0.55, words[0], ha="center", va="center", fontsize=20, color=plot.VERMILLION)
    word.text(0.5, 0.3, "appended to the text,\nthen again from 1", ha="center", va="center")
    word.set_title("6 next word")
    for ax in (table, word):
        ax.axis("off")
    return fig


def _map(ax, array, tokens, title):
    limit = np.abs(array).max()
    ax.imshow(array, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
    ax.set(title=title, xlabel="column D")
    ax.set_yticks(range(len(tokens)), tokens)


def _six_best(ax, words, values, title, colour, hatch):
    ax.barh(range(len(words)), values, color=colour, hatch=hatch, edgecolor="white")
    ax.set(title=title, ylim=(len(words) - 0.5, -0.5), xlabel="the 6 best")
    ax.set_yticks(range(len(words)), words)


def next_words(words, probs, T):
    """The best next tokens after T tokens, and their probabilities (n,)."""
    return plot.bars(words, probs, "probability", "next token", height=320,
                     title=f"{T} tokens read", alt=(
                         "The best next tokens after a text, and their probabilities.\n"
                         f"After these {T} tokens the best next token is {words[0]} "
                         f"with {probs[0]:.0%}, then {words[1]}."))
