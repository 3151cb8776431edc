"""Pictures of lesson 07: the cut into heads, all heads at a glance, scores, a head switched off."""
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from gpt2lab.teach import plot, show

from .attention import words
from .pixels import LEFT, SIZE, WIDTH, Stamp, box, head_map, paper, printed, tall, write

# The scores of a head, in the order of inside.head_jobs: letter and words.
JOBS = (("P", "previous word"), ("F", "first word"), ("R", "what followed last time"))


@plot.styled
def looks(tokens, weights, block):
    """Where the last of S tokens looks, a row for each head of a block; weights (H, S)."""
    tokens, _ = words(tokens, weights.shape[1])
    best = [f"“{tokens[s]}” (head {h})" for h, s in enumerate(weights.argmax(axis=-1))]
    fig, (ax,) = plot.figure(height=150 + 28 * len(weights), drawn={"weights": weights}, alt=(
        "Where the last token looks: its weights on all tokens, a row for each head of one "
        "block.\n"
        f"From “{tokens[-1]}”, the heads of block {block} look most at {', '.join(best)}."))
    image = ax.imshow(weights, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for (h, s), weight in np.ndenumerate(weights):
        if weights.size <= 80:
            ax.text(s, h, f"{weight:.2f}", ha="center", va="center",
                    color="white" if weight < 0.5 else "black")
    ax.set_yticks(range(len(weights)), [f"head {h}" for h in range(len(weights))])
    step = -(-len(tokens) // 32)
    ax.set_xticks(range(0, len(tokens), step), tokens[::step], rotation=90)
    ax.set(title=f"block {block}, looking from {tokens[-1]}", xlabel="key: the token looked at")
    ax.spines[:].set_visible(False)
    fig.colorbar(image, ax=ax, label="weight")
    return fig


@plot.styled
def cut(x, right, wrong):
    """A small array (T, D) as it is, and its heads as layers (H, T, Dh), cut right and wrong."""
    (T, D), n_head = x.shape, len(right)
    owner = {number: d // (D // n_head) for d in range(D) for number in x[:, d]}
    numbers = ", ".join(f"{number:g}" for number in wrong[0].ravel())
    rows = len(np.unique(np.argwhere(np.isin(x, wrong[0]))[:, 0]))
    fig, axes = plot.figure(3, height=270, drawn={"x": x, "right": right, "wrong": wrong}, alt=(
        "A small array of tokens and columns, and its heads, cut out in two ways.\n"
        f"Of {T} tokens and {D} columns, reshape and swapaxes give each of the {n_head} heads its "
        f"own columns of all tokens; reshape alone gives head 0 the numbers {numbers}, from {rows} "
        f"of the {T} tokens."))
    titles = f"x (T, D) = ({T}, {D})", "right: reshape,\nthen swapaxes", "wrong:\nreshape alone"
    for ax, layers, title in zip(axes, (x[None], right, wrong), titles):
        _cells(ax, layers, owner)
        ax.set(title=title, xlim=(-1.6, D + 0.1), ylim=(T * n_head + n_head - 0.4, -1.4))
    return fig


def _cells(ax, layers, owner):
    """Numbers in cells, one layer below another; colour and hatch tell the head of their column."""
    ax.axis("off")
    paper_colours, hatches = ("#9ecae8", "#f6c9a8", "#a6dcc8", "#e6c6d8"), ("", "//", "..", "xx")
    white = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    for h, layer in enumerate(layers):
        top = h * (len(layer) + 1)
        ax.text(-0.2, top - 0.75, f"head {h}" if len(layers) > 1 else "", ha="left", va="center")
        for (t, d), value in np.ndenumerate(layer):
            look = owner[value] % 4
            ax.add_patch(Rectangle((d, top + t - 0.5), 1, 1, facecolor=paper_colours[look],
                                   edgecolor="white", hatch=hatches[look]))
            ax.text(d + 0.5, top + t, f"{value:g}", ha="center", va="center", bbox=white)
        for t in range(len(layer)):
            ax.text(-0.2, top + t, f"t {t}", ha="right", va="center")


def _best(scores):
    """For each job its words, the place of the highest score in words, and that score or nan."""
    for (_, name), s in zip(JOBS, scores):
        block, head = np.unravel_index(np.nan_to_num(s, nan=-1).argmax(), s.shape)
        yield name, f"block {block} head {head}", s[block, head]


@plot.styled
def jobs(scores):
    """Three maps of scores (3, L, H), a cell for each head: block down, head across."""
    told = "; ".join(f"{name}: {place} with {show.number(score, 2)}" if np.isfinite(score)
                     else f"{name}: nothing to measure" for name, place, score in _best(scores))
    drawn = {name: s for (_, name), s in zip(JOBS, scores)}
    fig, axes = plot.figure(3, height=290, drawn=drawn, alt=(
        "How well each head does three jobs: a map for each job, a cell for each head.\n"
        f"Highest score for each job: {told}."))
    _, L, H = scores.shape
    for ax, (name, values) in zip(axes, drawn.items()):
        image = plot.draw_map(ax, values, range(L), range(H), "cividis", 0, 1)
        ax.set(title=name.replace(" followed", "\nfollowed"), xlabel="head")
        ax.set_xticks(range(0, H, -(-H // 8)))
        ax.tick_params(axis="x", rotation=0)
    axes[0].set_ylabel("block")
    fig.colorbar(image, ax=axes, label="mean weight", shrink=0.8)
    return fig


CHARS, STEP = 74, 22                            # of a line of the coloured text: characters, pixels


def _places(tokens):
    """(line, first character) of each token in lines of CHARS characters."""
    places, line, column = [], 0, 0
    for token in tokens:
        if column + len(token) > CHARS:
            line, column = line + 1, 0
        places.append((line, column))
        column += len(token) + 1
    return places


def _lines(fig, tokens, top, colour):
    """The tokens as text in lines."""
    for token, (line, column) in zip(tokens, _places(tokens)):
        write(fig, 12 + 8.4 * column, top + STEP * (line + 0.5), token, family="DejaVu Sans Mono",
              color=colour)


def coloured_text(fig, top, tokens, weights, position):
    """The text, each token on its weight's colour; who looks is framed, later ones are hatched."""
    places = _places(tokens)
    high = STEP * (places[-1][0] + 1)
    ax = box(fig, 0, top, WIDTH, high, xlim=(0, WIDTH), ylim=(high, 0))
    corners = [(9 + 8.4 * c, STEP * line + 2, 15 + 8.4 * (c + len(token)), STEP * (line + 1) - 2)
               for token, (line, c) in zip(tokens, places)]
    boxes = [np.array([(a, b), (c, b), (c, d), (a, d)]) for a, b, c, d in corners]
    seen = position + 1
    colours = plot.matplotlib.colormaps["cividis"](weights[:seen])
    ax.add_collection(PolyCollection(boxes[:seen], facecolors=colours, linewidth=0))
    ax.add_collection(PolyCollection(boxes[seen:], facecolors="0.95", edgecolors="0.8",
                                     hatch="////", linewidth=0))
    size = boxes[position][2] - boxes[position][0]
    ax.add_patch(Rectangle(boxes[position][0], *size, fill=False, clip_on=False,
                           edgecolor=plot.VERMILLION, linewidth=2.5))
    ink = printed(_lines, tall(fig), tokens, top, "black").copy()
    white = printed(_lines, tall(fig), tokens, top, "white")
    for (a, b, c, d), weight in zip(corners, weights[:seen]):
        if weight < 0.5:                        # white on the dark colours
            at = slice(round(top + b), round(top + d)), slice(round(a), round(c))
            ink[at] = white[at]
    fig.add_artist(Stamp(ink, zorder=3))


@plot.styled
def explorer(tokens, weights, position, scores, block, head):
    """One head: the text coloured by what one token looks at, and its map with that row framed.

    weights (T, T) on the first T tokens of a text, scores (3,) as in JOBS.
    """
    tokens, cut = words(tokens, len(weights))
    row = weights[position, :position + 1]
    best = int(row.argmax())
    measured = ", ".join(f"{name} {score:.2f}" for (_, name), score in zip(JOBS, scores)
                         if np.isfinite(score))
    top = 52 + STEP * (_places(tokens)[-1][0] + 1) + 14
    drawn = {"pattern": weights, "row": row, "scores": np.array(scores)}
    fig = paper(top + SIZE + 105, drawn=drawn, alt=(
        "One head: the text coloured by what one token looks at, and the map of all weights.\n"
        f"Block {block}, head {head}{cut}: “{tokens[position]}” at position {position} looks most "
        f"at “{tokens[best]}” at position {best}, with weight {show.number(row[best], 2)}."))
    write(fig, 12, 16, f"block {block}, head {head}{cut}: from {tokens[position]} (position "
                       f"{position}) to {tokens[best]} {row[best]:.2f}", fontsize=11)
    write(fig, 12, 37, measured or "one token: nothing to measure")
    coloured_text(fig, 52, tokens, row, position)
    head_map(fig, top, tokens, weights, position)
    return fig


# The small maps: their width together, left edge, room for scores below each; where they begin.
GLANCE, EDGE, BELOW, TOP = 560, 72, 18, 66


def step_of(L, room):
    """Height of a small map with its scores, in pixels, where L of them share a room."""
    return max(room // max(L, 4), 56)


def glance_words(fig, labels, step):
    """Around the small maps: blocks at the left, heads above, labels (L, H) below each."""
    H = len(labels[0])
    wide = GLANCE / H
    for i, row in enumerate(labels):
        write(fig, EDGE - 8, TOP + i * step + (step - BELOW) / 2, f"block {i}", ha="right")
        for h, label in enumerate(row):
            write(fig, EDGE + (h + 0.5) * wide, TOP + (i + 1) * step - BELOW / 2 - 2, label,
                  ha="center", fontsize=10 if H <= 16 else 6)
    for h in range(H):
        write(fig, EDGE + (h + 0.5) * wide, TOP - 9, f"head {h}" if H <= 8 else str(h), ha="center")


def labels_of(scores):
    """Scores (3, L, H) as texts (L, H): the highest of the three for each head."""
    _, L, H = scores.shape
    return tuple(tuple(_label(scores[:, i, h], H) for h in range(H)) for i in range(L))


def _label(scores, H):
    """A head's highest score: behind the word of its job, or its letter where room is scarce."""
    known = [(score, word) for (_, word), score in zip(JOBS, scores) if np.isfinite(score)]
    if not known:
        return "–"
    score, word = max(known)
    if H > 5:
        letter = next(letter for letter, name in JOBS if name == word)
        return f"{letter}{100 * score:.0f}"
    return f"{word.removeprefix('what ').split()[0]} {score:.2f}"


def glance_maps(patterns, step):
    """The pixels of all small maps, block down and head across; later keys are hatched grey."""
    L, H, T, _ = patterns.shape
    wide, high = GLANCE // H - 4, step - BELOW - 4
    earlier = np.tri(T, dtype=bool)
    small = _resized(patterns, high, wide)                      # (L, H, high, wide)
    seen = _resized(earlier, high, wide)                        # (high, wide)
    y, x = np.indices(seen.shape)
    grey = np.where((x + y) % 8 == 0, 0.6, 0.9)[..., None] * [1, 1, 1, 0] + [0, 0, 0, 1]
    colours = np.where(seen[..., None], plot.matplotlib.colormaps["cividis"](small), grey)
    whole = np.zeros((L * step, GLANCE, 4))
    for i in range(L):
        for h in range(H):
            y, x = i * step + 2, round(h * GLANCE / H) + 2
            whole[y:y + high, x:x + wide] = colours[i, h]
    return (255 * whole + 0.5).astype(np.uint8)


def _resized(maps, high, wide):
    """Maps (..., T, T) on (high, wide) pixels: of cells under one pixel the largest is shown."""
    for axis, pixels in ((-2, high), (-1, wide)):
        size = maps.shape[axis]
        starts = np.arange(pixels) * size // pixels
        maps = (np.maximum.reduceat(maps, starts, axis=axis) if pixels < size
                else np.take(maps, starts, axis=axis))
    return maps


def _draw_glance(fig, patterns, scores, step, cut):
    """All small maps, what stands around them, and what the letters below them mean."""
    fig.add_artist(Stamp(glance_maps(patterns, step), EDGE, TOP, zorder=1))
    fig.add_artist(Stamp(printed(glance_words, tall(fig), labels_of(scores), step)))
    legend = (f"below each map: its highest mean weight{cut}, of those on the\n"
              "previous word, the first word, the word that followed last time")
    if patterns.shape[1] > 5:
        legend = (f"below each map: its highest mean weight in hundredths{cut}, on the\n"
                  "(P) previous word, (F) first word, (R) what followed last time")
    write(fig, 12, 20, legend)


def _mark(fig, step, H, block, head, off):
    """A frame around one small map, and a cross through it where the head is off."""
    wide = GLANCE / H
    ax = box(fig, EDGE + head * wide, TOP + block * step, wide, step - BELOW - 2,
             xlim=(0, 1), ylim=(0, 1), zorder=4)
    ax.patch.set_visible(False)
    ax.add_patch(Rectangle((0, 0), 1, 1, fill=False, edgecolor=plot.VERMILLION, linewidth=3,
                           clip_on=False))
    if off:
        ax.plot([0, 1, np.nan, 0, 1], [0, 1, np.nan, 1, 0], color=plot.VERMILLION, linewidth=3)


@plot.styled
def glance(tokens, patterns, scores, block=None, head=None):
    """Every head as a small map with its scores; one may be framed.

    patterns (L, H, T, T) on the first T tokens of a text, scores (3, L, H) as in JOBS.
    """
    L, H, T, _ = patterns.shape
    _, cut = words(tokens, T)
    told = ", ".join(f"{name}: {place} ({show.number(score, 2)})"
                     for name, place, score in _best(scores) if np.isfinite(score))
    step = step_of(L, 448)
    fig = paper(TOP + L * step + 8, drawn={"patterns": patterns, "scores": scores}, alt=(
        "The patterns of all heads as small maps, each with its scores.\n"
        f"{L * H} heads on {T} tokens{cut}. Highest scores: "
        f"{told or 'nothing to measure'}."))
    _draw_glance(fig, patterns, scores, step, cut)
    if block is not None:
        _mark(fig, step, H, block, head, False)
    return fig


@plot.styled
def switch(tokens, patterns, scores, best, on, without, heads):
    """All heads at a glance, and the next words with all heads and with some switched off.

    best: some next words, the most probable first; on, without: their probabilities with all heads
    and with heads [(block, head), ...] off. Where none is off, only `on` is drawn.
    """
    L, H, T, _ = patterns.shape
    _, cut = words(tokens, T)
    best = [show.short(word) for word in best]
    step = step_of(L, 336)
    one, two, off = show.number(on[0], 2), show.number(without[0], 2), len(heads) > 0
    named = " ".join(f"{block}.{head}" for block, head in heads)
    change = (f"With {named} off, “{best[0]}” goes from {one} to {two}." if off
              else f"All heads are on; the best next word is “{best[0]}” with {one}.")
    drawn = {"patterns": patterns, "scores": scores, "on": on} | ({"off": without} if off else {})
    fig = paper(TOP + L * step + 300, drawn=drawn, alt=(
        "All heads as small maps, and the next words with some heads on or off.\n"
        f"{L * H} heads on {T} tokens{cut}. {change}"))
    _draw_glance(fig, patterns, scores, step, cut)
    for block, head in heads:
        _mark(fig, step, H, block, head, True)
    ax = box(fig, LEFT, TOP + L * step + 35, 420, 235)
    places = np.arange(len(best))
    ax.barh(places - 0.2 * off, on, height=0.4 if off else 0.7, color=plot.BLUE)
    if off:
        ax.barh(places + 0.2, without, height=0.4, color=plot.VERMILLION, hatch="//",
                edgecolor="white")
    near = {"textcoords": "offset points", "va": "center"}
    for place, (word, a, b) in enumerate(zip(best, on, without)):
        ax.annotate(word, (0, place), (-6, 0), ha="right", **near)
        text, end = (f"{a:.3f} → {b:.3f}", max(a, b)) if off else (f"{a:.3f}", a)
        ax.annotate(text, (end, place), (6, 0), **near)
    title = ", with the crossed heads off (hatched)" if off else ""
    ax.set(ylim=(len(best) - 0.5, -0.5), xlim=(0, max(on.max(), without.max()) * 1.3),
           title=f"next words: all heads (blue){title}")
    return fig


@plot.styled
def parking(tokens, weights, values, mixed, block, head):
    """One head: how much each token looks at the first one, its value's length, what it mixes.

    weights (T,) on the first token, values (T,) and mixed (T,) the lengths of the value of each
    token and of what the head hands to it.
    """
    tokens, cut = words(tokens, len(weights))
    parked = weights > 0.9
    fig, (left, right) = plot.figure(2, height=340, drawn={
        "weights": weights, "values": values, "mixed": mixed}, alt=(
        "One head: weights on the first token, and lengths of values and of what is handed over.\n"
        f"Block {block}, head {head}{cut}: {parked.sum()} of {len(weights)} tokens give over 0.9 "
        f"to the first one, whose value has length {show.number(values[0], 1)}; the others' values "
        f"have {show.number(values[1:].min(), 1)} to {show.number(values[1:].max(), 1)}. "
        f"“{tokens[-1]}” gives it {show.number(weights[-1], 2)} and gets "
        f"{show.number(mixed[-1], 1)}."))
    places = np.arange(len(tokens))
    left.bar(places, weights, color=plot.BLUE)
    right.bar(places - 0.2, values, 0.4, color=plot.GREEN, label="its value")
    right.bar(places + 0.2, mixed, 0.4, color=plot.VERMILLION, hatch="//", edgecolor="white",
              label="what the head hands to it")
    for ax in (left, right):
        step = -(-len(tokens) // 32)
        ax.set_xticks(places[::step], [show.short(token) for token in tokens[::step]], rotation=90)
    left.set(title="weight on the first token", ylim=(0, 1.05), ylabel="weight",
             xlabel="query: the token that looks")
    right.set(title="length", ylim=(0, 1.35 * max(values.max(), mixed.max())), xlabel="token")
    right.legend(frameon=False, loc="upper left")
    return fig


@plot.styled
def silenced(chances, word, on):
    """How probable a word is with one head off: chances (L, H), block down, head across."""
    L, H = chances.shape
    low = [f"block {i} head {h} ({show.number(chances[i, h], 2)})"
           for i, h in np.argwhere(chances < on / 4)]
    fig, (ax,) = plot.figure(height=300, drawn={"chances": chances}, alt=(
        "How probable one next word is when one head is switched off, a cell for each head.\n"
        f"With all heads on, “{word}” has {show.number(on, 2)}. It falls below a quarter of that "
        f"without {', or without '.join(low) or 'no head'}. Of {chances.size} heads, "
        f"{(chances > on).sum()} raise it when they are off, each alone."))
    image = plot.draw_map(ax, chances, range(L), range(H), "cividis", 0, 1)
    ax.tick_params(axis="x", rotation=0)
    ax.set(title=f"probability of {word}; {on:.2f} with all heads on", ylabel="in block",
           xlabel="the head that is off")
    fig.colorbar(image, ax=ax, label="probability")
    return fig


@plot.styled
def growth(name, S, weights, pairs, N):
    """Multiplications for one new token in one block, over the S tokens read so far.

    weights (len(S),) with the block's weights, pairs (len(S),) with the keys and values of all
    tokens; N: the model's context.
    """
    meet = S[np.abs(pairs - weights).argmin()]
    share = pairs[S == N][0] / (pairs + weights)[S == N][0]
    fig, (ax,) = plot.figure(height=300, drawn={"weights": weights, "pairs": pairs}, alt=(
        "Multiplications for one token in one block, over the number of tokens read so far.\n"
        f"{name}: the two lines meet at {meet:,} tokens; its context ends at {N:,}. There, pairs "
        f"of tokens make {100 * share:.0f} percent of the multiplications."))
    ax.plot(S, weights / 1e6, color=plot.BLUE)
    ax.plot(S, pairs / 1e6, color=plot.VERMILLION, linestyle="--")
    top = 1.15 * pairs.max() / 1e6
    ax.axvspan(0, N, color="0.9", zorder=0)
    ax.annotate(f"what it\ncan read:\n{N:,}", (0, top), (4, -4), textcoords="offset points",
                va="top")
    ax.plot(meet, weights[0] / 1e6, "o", color="black")
    near = {"textcoords": "offset points"}
    ax.annotate(f"they meet at {meet:,}", (meet, weights[0] / 1e6), (12, -8), va="top", **near)
    ax.annotate("with weights: the same for each token", (1.05 * N, weights[0] / 1e6), (4, 5),
                color=plot.BLUE, va="bottom", **near)
    half = len(S) // 2
    ax.annotate("with keys and values:\ngrows with the text", (S[half], pairs[half] / 1e6),
                (12, -8), color=plot.VERMILLION, va="top", **near)
    ax.set(title=name, xlabel="S, tokens read so far", xlim=(0, S[-1]), ylim=(0, top),
           ylabel="multiplications, millions")
    return fig
