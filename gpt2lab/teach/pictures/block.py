"""Pictures of lesson 09: what adding saves, sizes of the stream and its parts, parts taken out."""
import numpy as np

from gpt2lab.teach import plot, show

PARTS = {"attn": "attention", "mlp": "MLP"}


def many_blocks(series):
    """How alike rows are after each of many blocks, {"adds": (L + 1,), "replaces": (L + 1,)}."""
    six, end = 6, len(series["adds"]) - 1
    adds, replaces = ({L: show.number(values[L], 2) for L in (six, end)}
                      for values in (series["adds"], series["replaces"]))
    return plot.lines(series, "number of blocks", "mean cosine of two rows", alt=(
        "How alike the rows are over the number of blocks, where blocks add and where they "
        "replace.\n"
        f"Eight different rows go through {end} random blocks. Where blocks replace, the mean "
        f"cosine of two rows is {replaces[six]} after six blocks; where blocks add, it is "
        f"{adds[six]} there, and {adds[end]} at the end."))


@plot.styled
def sizes(stream, attention, mlp):
    """Size of the stream (L + 1,), and of what attention and the MLP add to it (L,) each."""
    drawn = {"stream": stream, "attn": attention, "mlp": mlp}
    fig, (ax,) = plot.figure(height=320, drawn=drawn, alt=(
        "Size (RMS) of the stream between blocks, and of what attention and the MLP add in "
        f"each.\nThe stream has {show.number(stream[0], 2)} before block 0, "
        f"{show.number(stream[-1], 1)} after block {len(stream) - 2}. Attention adds "
        f"{_list(attention)}, the MLP {_list(mlp)}, block by block."))
    _sizes(ax, stream, attention, mlp, columns=3)
    return fig


def branches(L):
    """What can be taken out, for a list to choose from: (text, name of the branch)."""
    return [("nothing", ""), *((f"{word}, block {i}", f"h.{i}.{part}")
                               for i in range(L) for part, word in PARTS.items())]


@plot.styled
def stream(changed, factor, words, probs, after, before):
    """Sizes with some branches multiplied by a factor; the next words with and without.

    changed: names of the branches; words (W,) with probabilities probs (2, W), of the model as it
    is and with the change, the best word of the model first; after: sizes of the stream, of what
    attention and of what the MLP adds with the change; before: those of the stream as it is.
    """
    names = [f"{PARTS[part]}, block {i}" for _, i, part in (name.split(".") for name in changed)]
    how = "taken out" if factor == 0 else f"times {factor:.1f}"
    best = probs[1].argmax()
    labels = [show.short(word, 12) for word in words]
    drawn = {"stream": after[0], "attn": after[1], "mlp": after[2], "stream before": before,
             "probabilities": probs}
    fig, axes = plot.figure(2, height=360, width_ratios=(1, 1), drawn=drawn)
    fig.alt = ("Sizes of the stream and its parts with some branches changed, and the next words "
               "of both models.\n"
               f"With {' and '.join(names or ['nothing'])} {how}: best next word “{labels[0]}” "
               f"({show.number(probs[0, 0], 2)}) as the model is, “{words[best]}” "
               f"({show.number(probs[1, best], 2)}) with the change.")
    _sizes(axes[0], *after, before=before if names else None)
    places = np.arange(len(words))
    axes[1].barh(places - 0.2, probs[0], height=0.4, color=plot.BLUE, edgecolor="white",
                 label="as it is")
    axes[1].barh(places + 0.2, probs[1], height=0.4, color=plot.VERMILLION, edgecolor="white",
                 hatch="//", label="changed")
    axes[1].set_yticks(places, labels)
    axes[1].set(ylim=(len(words) - 0.4, -0.6), xlim=(0, max(1.1 * probs.max(), 0.25)),
                xlabel="probability", ylabel="next word")
    axes[1].legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return fig


def _sizes(ax, stream, attention, mlp, before=None, columns=1):
    """Bars of what the parts add, the stream as a line between them; a scale of factors of ten."""
    L, floor = len(attention), 0.05
    ax.bar(np.arange(L) - 0.19, np.maximum(attention, floor), width=0.36, color=plot.BLUE,
           edgecolor="white", label="attention adds")
    ax.bar(np.arange(L) + 0.19, np.maximum(mlp, floor), width=0.36, color=plot.VERMILLION,
           edgecolor="white", hatch="//", label="MLP adds")
    between = np.arange(L + 1) - 0.5
    if before is not None:
        ax.plot(between, before, color="0.5", linestyle="--", label="stream as it was")
    ax.plot(between, np.maximum(stream, floor), color=plot.BLACK, marker="D", label="stream")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.set_xticks(range(0, L, -(-L // (12 if columns > 1 else 8))))     # as many as have room
    top = max(*stream, 10) * (5 if columns > 1 else 20)                 # room for the legend
    ax.set(ylabel="size (RMS, log scale)", ylim=(floor, top), xlabel="block")
    ax.legend(frameon=False, loc="upper left", ncols=columns)


def _list(values):
    return ", ".join(show.number(value, 1) for value in values)
