"""Pictures of lesson 10: the token table seen from one row, a logit taken apart, the logit lens."""
import numpy as np

from gpt2lab.teach import plot, show


@plot.styled
def half_plane(along, across, best, words):
    """Every row of the token table by its part along one row and its part across.

    along, across (V,); best: the ids that are marked, with their words.
    """
    fig, (ax,) = plot.figure(
        height=330, drawn={"along": along, "across": across, "best": best}, alt=(
            "All tokens by how far they reach along the normed row.\n"
            f"Only {(along > 0).sum():,} of {len(along):,} reach forwards at all; farthest are "
            f"“{words[0]}”, “{words[1]}” and “{words[2]}”."))
    ax.plot(along, across, ".", color="0.6", markersize=2, rasterized=True)
    ax.plot(along[best], across[best], plot.MARKERS[1], color=plot.VERMILLION)
    for word, i, offset in zip(words, best, ((30, 0), (30, 30), (15, 60))):
        ax.annotate(word, (along[i], across[i]), xytext=offset, textcoords="offset points",
                    va="center", color=plot.VERMILLION,
                    arrowprops={"arrowstyle": "-", "color": plot.VERMILLION, "shrinkB": 4})
    ax.axvline(0, color="black", linewidth=0.8, linestyle="--")
    ax.set(xlabel="part of the token's row along the normed row", ylabel="the rest of its length",
           ylim=(0, None), xlim=(None, along.max() * 1.6))
    return fig


@plot.styled
def direction(here, words, parts, logits):
    """The best next tokens as length times length times cosine.

    here: the token read last; words (K,): the best tokens; parts (K, 3) and logits (K,): theirs.
    """
    length, lengths, cosines = parts[0, 0], parts[:, 1], parts[:, 2]
    fig, axes = plot.figure(3, height=340, sharey=True)
    fig.drawn = {"parts": parts, "logits": logits}
    fig.alt = ("The best next tokens: the length of each one's row, its cosine, its logit.\n"
               f"After “{here}” the normed row has length {length:.1f}. The best token "
               f"“{words[0]}” has length {lengths[0]:.2f} and cosine {cosines[0]:.2f}, "
               f"which makes the logit {show.number(logits[0], 2)}.")
    for ax, values, title, colour, hatch in (
            (axes[0], lengths, "length of the\ntoken's row", plot.BLUE, None),
            (axes[1], cosines, "cosine", plot.GREEN, "//"),
            (axes[2], logits, f"times {length:.1f}:\nthe logit", plot.VERMILLION, "..")):
        ax.barh(range(len(words)), values, color=colour, hatch=hatch, edgecolor="white")
        for place, value in enumerate(values):
            ax.annotate(f"{value:z.2f}", (max(value, 0), place), xytext=(3, 0),
                        textcoords="offset points", va="center")
        ax.set(title=title, xticks=[0],
               xlim=(min(values.min(), 0), max(values.max(), 1e-3) * 1.45))
    axes[0].set_yticks(range(len(words)), words)
    axes[0].set(ylim=(len(words) - 0.5, -0.5), ylabel=f"best tokens after {here}")
    return fig


@plot.styled
def lens(tokens, words, chances):
    """The best next word after each block (across) for each position (down), and its probability.

    tokens: those of the whole text; words and chances (L + 1, T): the best words and their
    probabilities before the first block and after each, of the last T positions. Five columns have
    room; of more than four blocks the first, the last and three between are shown.
    """
    parts = np.linspace(0, len(words) - 1, min(len(words), 5)).round().astype(int)
    after = ("each block" if len(parts) == len(words) else
             "blocks " + ", ".join(str(part - 1) for part in parts[1:]))
    words, chances = [words[part] for part in parts], np.asarray(chances)[parts]
    (L, T), final = chances.shape, [column[-1] for column in words]
    cut = f" (the last {T} of {len(tokens)} tokens)" if T < len(tokens) else ""
    fig, (ax,) = plot.figure(height=110 + 38 * T)
    fig.drawn = {"words": words, "probabilities": chances}
    fig.alt = ("The best next word and its probability, before the blocks and after them, for each "
               "position.\n"
               f"Best next word after “{tokens[-1]}”{cut}: “{final[0]}” before the first block, "
               f"then {', '.join(f'“{word}”' for word in final[1:])} after {after}; "
               f"the last has probability {show.number(chances[-1, -1], 2)}.")
    image = ax.imshow(chances.T, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for (block, position), chance in np.ndenumerate(chances):
        word = show.short(words[block][position], 8)
        ax.text(block, position, f"{word}\n{chance:.2f}", ha="center", va="center",
                color="white" if chance < 0.5 else "black")
    ax.set_xticks(range(L), ["embedding", *(f"block {part - 1}" for part in parts[1:])])
    ax.set_yticks(range(T), [show.short(token, 8) for token in tokens[-T:]])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.set(xlabel="best next token and its probability, read after this part",
           ylabel="token read last")
    ax.spines[:].set_visible(False)
    fig.colorbar(image, ax=ax, label="probability")
    return fig
