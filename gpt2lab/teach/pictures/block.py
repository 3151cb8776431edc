"""Pictures of lesson 09: what adding saves, forwards and back; a block; sizes, votes, changes."""
import numpy as np

from gpt2lab.teach import plot, show

from .page import GREY, Page

PARTS = {"attn": "attention", "mlp": "MLP"}


@plot.styled
def many_blocks(series):
    """How alike rows are after each of many blocks, {kind: (L + 1,)}; see exercises.block."""
    six, end = 6, len(series["adds"]) - 1
    n = {kind: [show.number(values[L], 2) for L in (six, end)] for kind, values in series.items()}
    fig = plot.lines(series, "number of blocks", "mean cosine of two rows", alt=(
        "How alike the rows are over the number of blocks, where blocks add and where they "
        "replace.\n"
        f"Eight different rows go through {end} random blocks. Where blocks replace, the mean "
        f"cosine of two rows is {n['replaces'][0]} after six blocks; where blocks add, it is "
        f"{n['adds'][0]} there, and {n['adds'][1]} at the end. Where they replace but have no "
        f"attention, it is {n['replaces, no attention'][0]} and {n['replaces, no attention'][1]}."),
        at_end=False)
    fig.few_colours = True
    return fig


@plot.styled
def places_of_norm(series):
    """How alike rows are after each of many blocks, {kind: (L + 1,)}: pre-norm and post-norm."""
    end = len(series["pre-norm"]) - 1
    n = {kind: [show.number(values[L], 2) for L in (6, end // 2, end)]
         for kind, values in series.items()}
    fig = plot.lines(series, "number of blocks", "mean cosine of two rows", alt=(
        "How alike the rows are over the number of blocks, of four kinds.\n"
        f"After 6, {end // 2} and {end} random blocks the mean cosine of two rows is "
        f"{', '.join(n['pre-norm'])} with pre-norm, {', '.join(n['post-norm'])} with "
        f"post-norm, and {', '.join(n['post-norm, branches × 0.2'])} with post-norm and light "
        "branches."), at_end=False, height=340)
    ax, = fig.axes
    ax.set(ylim=(-0.05, 1.4))
    ax.set_yticks(np.arange(0, 1.1, 0.2))
    ax.legend(frameon=False, loc="upper center", ncols=2)
    fig.few_colours = True
    return fig


@plot.styled
def read_back(found):
    """Share of tokens that a reader finds at each stage, {kind: (L + 1,)}; see exercises.block."""
    series = {"blocks add: read": found["adds"], "blocks replace: read": found["replaces"],
              "fitted on shuffled tokens": found["shuffled"]}
    adds = [f"{100 * share:.0f}" for share in found["adds"]]
    fig = plot.lines(series, "stream after so many blocks", "share of tokens found", alt=(
        "Share of tokens that a reader finds in the stream after each block.\n"
        f"Of 100 tokens it finds {', '.join(adds)} after 0 to {len(adds) - 1} blocks that add, and "
        f"at most {100 * max(found['replaces'][1:]):.0f} after blocks that replace."),
        at_end=False, height=330)
    ax, = fig.axes
    ax.set(ylim=(-0.05, 1.35))
    ax.set_xticks(range(len(adds)))
    ax.set_yticks(np.arange(0, 1.1, 0.2))
    ax.legend(frameon=False, loc="upper center", ncols=2)
    fig.few_colours = True
    return fig


WAYS = {"both ways": (plot.BLACK, "-", "o"), "plus alone": (plot.BLUE, "--", "s"),
        "branches alone": (plot.VERMILLION, "-.", "^")}


@plot.styled
def way_back(bundled, deep):
    """Size of the gradient by the stream from the last stage to the first, of two models.

    bundled, deep: {way: (L + 1,)}, as multiples of the last stage's.
    """
    lost = -np.log10(deep["branches alone"][-1])
    mid = show.number(bundled["branches alone"][-2], 2)
    L = len(deep["plus alone"]) - 1
    fig, axes = plot.figure(2, height=330, drawn={"this model": bundled, "deep": deep}, alt=(
        "Size of the gradient on its way back through this model, and through a deep one.\n"
        f"Along the plus alone it stays 1. Through the branches alone {mid} is left before block "
        f"1 of this model; of {L} random blocks, less than 1 divided by 10 to the power of "
        f"{int(lost)}. Both ways together it is {show.number(bundled['both ways'][-2], 1)} before "
        "block 1 of this model."))
    for ax, series, title in zip(axes, (bundled, deep), ("this model", f"{L} random blocks")):
        for way, values in series.items():
            colour, dash, marker = WAYS[way]
            stages = np.arange(len(values))[::-1]
            ax.plot(stages, values, color=colour, linestyle=dash, label=way,
                    marker=marker if len(values) <= 13 else None)
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(_power)
        ax.minorticks_off()
        last = len(values) - 1
        ax.set_xticks(range(0, last + 1, max(1, last // 6)))
        ax.set(title=title, xlabel="stream after so many blocks", xlim=(1.04 * last, -0.04 * last))
    axes[0].set(ylabel="gradient (last stream's = 1)", ylim=(None, 1e4))
    axes[0].legend(frameon=False, loc="upper left")
    fig.few_colours = True
    return fig


def _power(value, _):
    """1 divided or multiplied by ten so many times: a tick of a wide log scale, as text."""
    power = round(np.log10(value))
    return f"{value:g}" if -3 <= power <= 4 else f"10{str(power).translate(RAISED)}"


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@plot.styled
def plan(sizes, block, T, D):
    """One block as a plan, with the size (RMS) of each array of it at its arrow.

    sizes: {"resid_pre": ..., "ln_1": ..., "attn": ..., "resid_mid": ..., "ln_2": ..., "mlp": ...,
    "resid_post": ...}.
    """
    draw = Page(470, ())
    n = {name: show.number(value, 2) for name, value in sizes.items()}
    draw.fig.drawn = sizes
    draw.fig.few_colours = True
    draw.fig.alt = (
        "The plan of one block: the stream, its two branches, and the size (RMS) of each array.\n"
        f"In block {block} the stream comes in with {n['resid_pre']}. Attention reads the normed "
        f"copy and adds {n['attn']}: {n['resid_mid']}. The MLP reads the next normed copy and adds "
        f"{n['mlp']}: {n['resid_post']} goes out.")
    stream, left, right, far = 180, 262, 362, 600
    draw.arrow((stream, 20), (stream, 455), plot.BLUE, 5)
    rows = [(38, "x", "resid_pre"), (232, "m", "resid_mid"), (438, "y", "resid_post")]
    for y, letter, name in rows:
        draw.words(stream - 18, y, f"{letter}: {T} rows of {D}\nsize {n[name]}", ha="right",
                   color=plot.BLUE)
    parts = [(80, "norm₁", "attention", "rows look at rows", plot.GREEN, "ln_1", "attn"),
             (280, "norm₂", "MLP", "each row alone", plot.PURPLE, "ln_2", "mlp")]
    for top, norm, name, what, colour, normed, branch in parts:
        middle = top + 24
        draw.arrow((stream, middle), (left, middle), plot.BLUE, 1.8)
        draw.words((stream + left) / 2, middle - 14, "read", color=GREY)
        draw.box(left, top, right, top + 48, norm, "", GREY)
        draw.arrow((right, middle), (far - 120, middle), plot.BLUE, 1.8)
        draw.words((right + far - 120) / 2, middle - 14, f"size {n[normed]}", color=plot.BLUE)
        draw.box(far - 120, top - 10, far + 20, top + 58, name, what, colour)
        low = top + 106
        draw.line([(far - 50, top + 58), (far - 50, low)], plot.BLUE, 1.8)
        draw.arrow((far - 50, low), (stream + 13, low), plot.BLUE, 1.8)
        draw.words((stream + far - 50) / 2 + 10, low - 14, f"the branch adds: size {n[branch]}",
                   color=plot.BLUE)
        draw.plus(stream, low)
    return draw.fig


@plot.styled
def votes(names, values, word, without):
    """What each summand of the stream adds to the score of one word; what is said without it.

    names: of the summands (K,), the embedding first; values (K,); without: the next word without
    each of them (K,), "" for the embedding.
    """
    labels = ["embedding", *(f"{PARTS[part]}, block {i}"
                             for _, i, part in (name.split(".") for name in names[1:]))]
    loudest, lowest = int(np.argmax(values)), int(np.argmin(values))
    gone = [label for label, said in zip(labels, without) if said not in ("", word)]
    fig, (ax,) = plot.figure(height=340, drawn={"values": np.asarray(values)}, alt=(
        f"What the embedding and each branch add to the score of “{word}”, and the next word "
        "without each.\n"
        f"Most comes from {labels[loudest]} ({show.number(values[loudest], 1)}), against it speaks "
        f"{labels[lowest]} ({show.number(values[lowest], 1)}). Another word comes without "
        f"{', without '.join(gone) if gone else 'none of them'}."))
    places = np.arange(len(values))
    ax.barh(places, values, height=0.7, edgecolor="white",
            color=[plot.BLUE if value > 0 else plot.VERMILLION for value in values],
            hatch=["" if value > 0 else "//" for value in values])
    ax.axvline(0, color="0.4", linewidth=0.8)
    ax.set_yticks(places, labels)
    reach = max(max(values), 0.1)
    ax.set_xticks([tick for tick in ax.get_xticks() if min(values) <= tick <= reach])
    ax.set(ylim=(len(values) - 0.4, -1.2), xlim=(min(*values, 0) * 1.1, reach * 1.75),
           xlabel=f"added to the score of “{word}”")
    ax.text(reach * 1.15, -0.9, "without it comes", va="center")
    for place, said in zip(places, without):
        ax.text(reach * 1.15, place, said and f"“{show.short(said, 12)}”", va="center",
                weight="normal" if said in ("", word) else "bold")
    fig.few_colours = True
    return fig


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
    labels = [f"“{show.short(word, 12)}”" for word in words]
    drawn = {"stream": after[0], "attn": after[1], "mlp": after[2], "stream before": before,
             "probabilities": probs}
    fig, axes = plot.figure(2, height=360, width_ratios=(1, 1), drawn=drawn)
    fig.alt = ("Sizes of the stream and its parts with some branches changed, and the next words "
               "of both models.\n"
               f"With {' and '.join(names or ['nothing'])} {how}: best next word {labels[0]} "
               f"({show.number(probs[0, 0], 2)}) as the model is, “{words[best]}” "
               f"({show.number(probs[1, best], 2)}) with the change.")
    _sizes(axes[0], *after, before=before if names else None)
    _next_words(axes[1], labels, probs)
    fig.few_colours = True
    return fig


@plot.styled
def pushed(word, away, block, strength, words, probs):
    """The next words without and with a push towards `word` and away from `away`.

    words (W,) with probabilities probs (2, W), of the model as it is and with the push, the best
    word of the model first.
    """
    labels = [f"“{show.short(word, 12)}”" for word in words]
    best = probs[1].argmax()
    fig, (ax,) = plot.figure(height=340, drawn={"probabilities": probs}, alt=(
        "The next words of the model, as it is and with a push in its stream.\n"
        f"Pushed {strength:.2f} from “{away}” to “{word}” after block {block}: best next word "
        f"{labels[0]} ({show.number(probs[0, 0], 2)}) as the model is, {labels[best]} "
        f"({show.number(probs[1, best], 2)}) with the push."))
    _next_words(ax, labels, probs)
    fig.few_colours = True
    return fig


def _next_words(ax, labels, probs):
    """Two bars for each next word: as the model is, and changed."""
    places = np.arange(len(labels))
    ax.barh(places - 0.2, probs[0], height=0.4, color=plot.BLUE, edgecolor="white",
            label="as it is")
    ax.barh(places + 0.2, probs[1], height=0.4, color=plot.VERMILLION, edgecolor="white",
            hatch="//", label="changed")
    ax.set_yticks(places, labels)
    ax.set(ylim=(len(labels) - 0.4, -0.6), xlim=(0, max(1.1 * probs.max(), 0.25)),
           xlabel="probability", ylabel="next word")
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


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
