"""Pictures of lesson 00: the whole path from a sentence to the next word."""
import numpy as np

from gpt2lab.sampling import probabilities
from gpt2lab.teach import plot, show


@plot.styled
def path(model, text):
    """Text, ids, rows, blocks, logits, probabilities, word: the real arrays of this text."""
    ids = model.encode(text)
    trace = model.trace(ids)
    tokens = show.tokens(model.tokenizer, ids)
    logits = trace["logits"][-1]                                                    # (V,)
    probs = probabilities(logits)                                                   # (V,)
    best = np.argsort(-logits, kind="stable")[:6]
    words = show.tokens(model.tokenizer, best)
    rows, blocks = trace["embed"], trace[f"h.{model.config.n_layer - 1}.resid_post"]
    (T, D), V, L = rows.shape, len(logits), model.config.n_layer
    fig = plot.Figure(figsize=(6.4, 5.2), dpi=plot.DPI, layout="constrained")
    fig.drawn = {"embed": rows, "stream": blocks, "logits": logits[best], "probabilities": probs[best]}
    fig.alt = (f"The path of {T} tokens: ids, {T} rows of {D} numbers, the same after {L} blocks, {V:,} logits, "
               f"probabilities; the best next token is {words[0]} with {probs[best[0]]:.0%}.")
    axes = fig.subplots(2, 3)
    table, first, last, scores, chances, word = axes.flat
    table.set(title=f"1 text → ids ({T},)", xlim=(0, 1), ylim=(T - 0.5, -0.5))
    for t, (token, i) in enumerate(zip(tokens, ids)):
        table.text(0.45, t, token, ha="right", va="center")
        table.text(0.55, t, str(i), ha="left", va="center", color=plot.BLUE)
    for ax, title, array in ((first, f"2 rows x ({T}, {D})", rows), (last, f"3 {L} blocks ({T}, {D})", blocks)):
        limit = np.abs(array).max()
        ax.imshow(array, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        ax.set(title=title, xlabel="column D")
        ax.set_yticks(range(T), tokens)
    for ax, title, values in ((scores, f"4 logits ({V},)", logits[best]), (chances, "5 probabilities", probs[best])):
        ax.barh(range(6), values, color=plot.BLUE if ax is scores else plot.GREEN, hatch=None if ax is scores else "//",
                edgecolor="white")
        ax.set(title=title, ylim=(5.5, -0.5), xlabel="the 6 best")
        ax.set_yticks(range(6), words)
    word.text(0.5, 0.55, words[0], ha="center", va="center", fontsize=20, color=plot.VERMILLION)
    word.text(0.5, 0.3, "appended to the text,\nthen again from 1", ha="center", va="center")
    word.set_title("6 next word")
    for ax in (table, word):
        ax.axis("off")
    return fig


def next_words(model, prompt):
    """The ten best next tokens of a prompt and their probabilities."""
    ids = model.encode(prompt)
    probs = probabilities(model.next_logits(ids))                                   # (V,)
    best = np.argsort(-probs, kind="stable")[:10]
    words = show.tokens(model.tokenizer, best)
    return plot.bars(words, probs[best], "probability", "next token", height=320, title=f"{len(ids)} tokens read", alt=(
        f"After these {len(ids)} tokens the best next token is {words[0]} with {probs[best[0]]:.0%}, then {words[1]}."))
