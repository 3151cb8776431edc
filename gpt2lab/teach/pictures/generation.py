"""Pictures of lesson 13: every array from a text to the next word, one a step."""
import textwrap

import numpy as np

from gpt2lab.teach import plot, show

LESSONS = (("ids", "03 BPE"), ("embed", "04 Embedding"), ("ln_", "05 LayerNorm"),
           ("attn.c_attn", "01 Linear"), ("attn.c_proj", "01 Linear"),
           ("attn.scores", "06 Attention"), ("attn.pattern", "06 Attention"),
           ("attn.mixed", "06 Attention"), ("attn", "07 Heads"), ("mlp.c_", "01 Linear"),
           ("mlp", "08 MLP"), ("resid", "09 Block"), ("logits", "10 LM head"),
           ("probabilities", "11 Sampling"), ("next word", "11 Sampling"))


def lesson(name):
    """The lesson that built the array of this name."""
    place = name.split(".", 2)[2] if name.startswith("h.") else name
    return next(title for start, title in LESSONS if place.startswith(start))


@plot.styled
def step_through(arrays, step, words):
    """One array of the way: its name, shape, picture, and the lesson that built it.

    arrays {name: array}: from "ids" to "probabilities" and "next word", in the order of computing;
    words: the texts of the "ids", of the best "probabilities" (the best first), of the "next word".
    """
    step = min(step, len(arrays) - 1)
    name, array = list(arrays.items())[step]
    built = lesson(name)
    fig, (ax,) = plot.figure(height=330, drawn={name: array}, alt=(
        "One array on the way from a text to its next word.\n"
        f"Step {step} of {len(arrays) - 1}: {name}, shape {array.shape}, built in lesson {built}; "
        f"the text ends in “{words['ids'][-1]}”."))
    if name in ("ids", "next word"):
        _ids(ax, array, words[name])
    elif name == "probabilities":
        best = np.sort(array)[::-1][:len(words[name])]
        ax.barh(range(len(best)), best, color=plot.GREEN, hatch="//", edgecolor="white")
        ax.set_yticks(range(len(best)), words[name])
        ax.set(xlabel=f"probability, the {len(best)} best", ylim=(len(best) - 0.5, -0.5))
    else:
        _map(ax, name, array, words["ids"])
    ax.set_title(f"step {step} of {len(arrays) - 1}: {name} {array.shape} · lesson {built}")
    return fig


def _ids(ax, ids, words):
    """The first 16 tokens as words, with their ids beside them."""
    ax.axis("off")
    rows = max(len(words[:16]), 4)
    for place, (word, i) in enumerate(zip(words[:16], ids)):
        y = 1 - (place + 0.5) / rows
        ax.text(0.45, y, word, ha="right", va="center")
        ax.text(0.55, y, str(i), va="center", color=plot.BLUE)


def _map(ax, name, array, tokens):
    """An array as a map; heads stand side by side; of the logits the 200 best of the last row."""
    if name == "logits":
        array = array[:, np.sort(np.argsort(-array[-1], kind="stable")[:200])]
    wide = np.concatenate(list(array), axis=-1) if array.ndim == 3 else array       # (T, ...)
    finite = wide[np.isfinite(wide)]
    if name.endswith("pattern"):
        ax.imshow(wide, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    else:
        limit = np.abs(finite).max() or 1
        ax.imshow(np.ma.masked_invalid(wide), cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        ax.set_facecolor("0.85")
    if array.ndim == 3:
        for edge in range(1, len(array)):
            ax.axvline(edge * array.shape[-1] - 0.5, color="black", linewidth=1)
        ax.set_xlabel("heads H side by side")
    else:
        ax.set_xlabel("the 200 best tokens, by id" if name == "logits" else "column D or F")
    every = -(-len(tokens) // 16)
    ax.set_yticks(range(0, len(tokens), every), tokens[::every])


@plot.styled
def certificate(parts, lines, right, guesses, text):
    """What a learner has: parts {name: built?}, lines of code, right guesses of all, a text."""
    built = sum(parts.values())
    numbers = f"{built} of {len(parts)} parts, {lines} lines of code, {right} of {guesses} guesses"
    visible = " ".join(show.token(word) for word in text.split())
    rows = textwrap.wrap(visible, 62, max_lines=8, placeholder=" …")
    height = 276 + 20 * len(rows)
    fig, (ax,) = plot.figure(height=height, drawn={"built": [*parts.values()]}, alt=(
        f"A certificate: which parts of a GPT are built, and what it writes.\n"
        f"{numbers} right. It writes: “{' '.join(rows)}”."))
    fig.set_layout_engine("none")
    ax.set_position((0.02, 0.02, 0.96, 0.96))
    ax.set(xlim=(0, 1), ylim=(height, 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    ax.spines[:].set(color=plot.BLUE, linewidth=3)
    ax.text(0.5, 34, "A GPT, built by hand" if built else "A GPT, to be built by hand", ha="center",
            va="center", fontsize=18, color=plot.BLUE)
    for place, (name, is_built) in enumerate(parts.items()):
        x, y = 0.06 + place % 4 * 0.23, 74 + place // 4 * 26
        ax.text(x, y, f"{'✓' if is_built else '·'} {name}", va="center",
                color=plot.BLACK if is_built else "0.6")
    ax.text(0.5, 216, f"{numbers} right", ha="center", va="center", fontsize=11)
    ax.text(0.5, 242, "\n".join(rows), ha="center", va="top", fontsize=11, style="italic",
            linespacing=1.5, color=plot.BLUE)
    return fig
