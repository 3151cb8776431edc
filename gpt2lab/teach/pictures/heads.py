"""Pictures of lesson 07: cutting into heads, every head at a glance, its scores, a head switched off."""
from dataclasses import replace
from functools import lru_cache

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from gpt2lab.model import GPT2
from gpt2lab.sampling import probabilities
from gpt2lab.teach import plot, show

from .attention import LEFT, SIZE, WIDTH, Reader, Stamp, box, head_map, paper, printed, short  # noqa: F401 (Reader: for the lesson)


def previous_word(pattern):
    """Mean weight that a token gives to the one before it; the first token has none.

    Shapes: pattern (..., T, T) -> (...); nan where T = 1.
    """
    t = np.arange(1, pattern.shape[-1])
    return _mean(pattern[..., t, t - 1])


def first_word(pattern):
    """Mean weight that the later tokens give to the first one. Shapes: (..., T, T) -> (...)."""
    return _mean(pattern[..., 1:, 0])


def what_followed(pattern, ids):
    """Mean weight on the token that followed the same token last time.

    Only tokens that have stood there before count. Shapes: (..., T, T), ids (T,) -> (...); nan
    where nothing is repeated.
    """
    last, places = {}, []
    for t, i in enumerate(ids):
        if i in last:
            places.append((t, last[i] + 1))
        last[i] = t
    t, s = np.array(places, int).reshape(-1, 2).T
    return _mean(pattern[..., t, s])


def _mean(weights):
    """Mean along the last axis, nan where it is empty."""
    return weights.mean(axis=-1) if weights.shape[-1] else np.full(weights.shape[:-1], np.nan)


JOBS = (("P", "previous word"), ("F", "first word"), ("R", "what followed last time"))


def all_scores(reader, text):
    """The scores of all heads on a text, (3, L, H), in the order of JOBS; and their patterns (L, H, T, T)."""
    at = reader(text)
    patterns = np.stack([at.trace[f"h.{i}.attn.pattern"] for i in range(at.model.config.n_layer)])
    return np.stack([previous_word(patterns), first_word(patterns), what_followed(patterns, at.ids)]), patterns


def told_its_block(model, attend):
    """The model with attend(block, q, k, v, softmax), which may be called for a few queries at a time."""
    turn = []

    def attend_heads(*arguments, **named):
        turn.append(0)                          # once a block, in their order
        return model.ops.attend_heads(*arguments, **named)
    return GPT2(model.config, model.weights, model.tokenizer, replace(
        model.ops, attend_heads=attend_heads, attend=lambda *a, **n: attend((len(turn) - 1) % model.config.n_layer, *a, **n)))


def switched_off(model, block, head):
    """The model without one head: its mixed values are 0, so it adds nothing to the stream."""
    def attend(block_now, q, k, v, softmax):
        mixed = model.ops.attend(q, k, v, softmax)                                  # (H, T, Dh)
        on = np.arange(len(mixed)) != head if block_now == block else 1
        return mixed * np.reshape(on, (-1, 1, 1)).astype(mixed.dtype)
    return told_its_block(model, attend)


@plot.styled
def looks(reader, text, block, position=10**6):
    """Where one token looks, a row for each head of a block."""
    at = reader(text)
    position = at.place(position)
    weights = at.trace[f"h.{block}.attn.pattern"][:, position, :position + 1]       # (H, S)
    best = [at.tokens[s] for s in weights.argmax(axis=-1)]
    fig, (ax,) = plot.figure(height=150 + 28 * len(weights), drawn={"weights": weights}, alt=(
        f"From “{at.tokens[position]}”, the heads of block {block} look most at " + ", ".join(
            f"“{word}” (head {h})" for h, word in enumerate(best)) + "."))
    image = ax.imshow(weights, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for (h, s), weight in np.ndenumerate(weights):
        if weights.size <= 80:
            ax.text(s, h, f"{weight:.2f}", ha="center", va="center", color="white" if weight < 0.5 else "black")
    ax.set_yticks(range(len(weights)), [f"head {h}" for h in range(len(weights))])
    step = -(-(position + 1) // 32)
    ax.set_xticks(range(0, position + 1, step), at.tokens[:position + 1:step], rotation=90)
    ax.set(title=f"block {block}, looking from {at.tokens[position]}", xlabel="key: the token looked at")
    ax.spines[:].set_visible(False)
    fig.colorbar(image, ax=ax, label="weight")
    return fig


@plot.styled
def cut(x, n_head):
    """A small array (T, D) as it is, its strips a head, and the heads as layers (H, T, Dh): right and wrong."""
    T, D = x.shape
    right = x.reshape(T, n_head, -1).swapaxes(0, 1)                                 # (H, T, Dh)
    wrong = x.reshape(n_head, T, -1)                                                # (H, T, Dh)
    owner = np.arange(D) // (D // n_head)                                           # (D,)
    fig, axes = plot.figure(3, height=270, drawn={"x": x, "right": right, "wrong": wrong}, alt=(
        f"An array of {T} tokens and {D} columns. reshape and swapaxes give each of the {n_head} heads its own columns of "
        f"all tokens; reshape alone gives head 0 the numbers {', '.join(f'{n:g}' for n in wrong[0].ravel())}, from "
        f"{len(np.unique(np.argwhere(np.isin(x, wrong[0]))[:, 0]))} of the {T} tokens."))
    _cells(axes[0], x[None], {n: owner[d] for d in range(D) for n in x[:, d]})
    for ax, heads in zip(axes[1:], (right, wrong)):
        _cells(ax, heads, {n: owner[d] for d in range(D) for n in x[:, d]})
    for ax, title in zip(axes, (f"x (T, D) = ({T}, {D})", "right: reshape,\nthen swapaxes", "wrong:\nreshape alone")):
        ax.set(title=title, xlim=(-1.6, D + 0.1), ylim=(T * n_head + n_head - 0.4, -1.4))
    return fig


def _cells(ax, layers, owner):
    """Numbers in cells, coloured and hatched by the head that owns their column; one layer below another."""
    ax.axis("off")
    for h, layer in enumerate(layers):
        top = h * (len(layer) + 1)
        ax.text(-0.2, top - 0.75, f"head {h}" if len(layers) > 1 else "", ha="left", va="center")
        for (t, d), value in np.ndenumerate(layer):
            ax.add_patch(Rectangle((d, top + t - 0.5), 1, 1, facecolor=("#9ecae8", "#f6c9a8", "#a6dcc8", "#e6c6d8")[owner[value] % 4],
                                   edgecolor="white", hatch=("", "//", "..", "xx")[owner[value] % 4]))
            ax.text(d + 0.5, top + t, f"{value:g}", ha="center", va="center", bbox={"facecolor": "white",
                    "edgecolor": "none", "pad": 1})
        for t in range(len(layer)):
            ax.text(-0.2, top + t, f"t {t}", ha="right", va="center")


@plot.styled
def jobs(reader, text):
    """Three maps of scores, a cell for each head: block down, head across."""
    scores, _ = all_scores(reader, text)
    best = [np.unravel_index(np.nan_to_num(s, nan=-1).argmax(), s.shape) for s in scores]
    told = "; ".join(f"{name}: block {b[0]} head {b[1]} with {show.number(s[b], 2)}" if np.isfinite(s[b]) else f"{name}: nothing to measure"
                     for (_, name), s, b in zip(JOBS, scores, best))
    fig, axes = plot.figure(3, height=290, drawn={name: s for (_, name), s in zip(JOBS, scores)},
                            alt=f"The highest score for each job{reader.cut}. {told}.")
    for ax, (_, name), values in zip(axes, JOBS, scores):
        image = plot.draw_map(ax, values, range(len(values)), range(values.shape[1]), "cividis", 0, 1)
        ax.set(title=name.replace(" followed", "\nfollowed"), xlabel="head")
        ax.set_xticks(range(0, values.shape[1], -(-values.shape[1] // 8)))
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


def _words(fig, tokens, top, colour):
    """The tokens as text in lines."""
    for token, (line, column) in zip(tokens, _places(tokens)):
        fig.text((12 + 8.4 * column) / WIDTH, 1 - (top + STEP * (line + 0.5)) / fig.get_figheight() / plot.DPI, token,
                 family="DejaVu Sans Mono", va="center", color=colour)


def coloured_text(fig, top, tokens, weights, position):
    """The text, each token on the colour of its weight; the one that looks is framed, later ones hatched."""
    height = round(fig.get_figheight() * plot.DPI)
    places = _places(tokens)
    ax = box(fig, 0, top, WIDTH, STEP * (places[-1][0] + 1), xlim=(0, WIDTH), ylim=(STEP * (places[-1][0] + 1), 0))
    corners = [(9 + 8.4 * c, STEP * line + 2, 12 + 8.4 * (c + len(token)) + 3, STEP * (line + 1) - 2)
               for token, (line, c) in zip(tokens, places)]
    boxes = [np.array([(a, b), (c, b), (c, d), (a, d)]) for a, b, c, d in corners]
    seen = position + 1
    colours = plot.matplotlib.colormaps["cividis"](weights[:seen])
    ax.add_collection(PolyCollection(boxes[:seen], facecolors=colours, linewidth=0))
    ax.add_collection(PolyCollection(boxes[seen:], facecolors="0.95", edgecolors="0.8", hatch="////", linewidth=0))
    ax.add_patch(Rectangle(boxes[position][0], *(boxes[position][2] - boxes[position][0]), fill=False, clip_on=False,
                           edgecolor=plot.VERMILLION, linewidth=2.5))
    ink = printed(_words, height, tokens, top, "black").copy()
    white = printed(_words, height, tokens, top, "white")
    for (a, b, c, d), weight in zip(corners, weights[:seen]):
        if weight < 0.5:                        # white on the dark colours
            at = slice(round(top + b), round(top + d)), slice(round(a), round(c))
            ink[at] = white[at]
    fig.add_artist(Stamp(ink, zorder=3))


@plot.styled
def explorer(reader, text, block, head, position=10**6):
    """One head: the text coloured by what one token looks at, and the whole map with that row framed."""
    at = reader(text)
    position = at.place(position)
    weights = at["pattern", block, head]                                            # (T, T)
    row = weights[position, :position + 1]
    best = int(row.argmax())
    scores = previous_word(weights), first_word(weights), what_followed(weights, at.ids)
    measured = ", ".join(f"{name} {score:.2f}" for (_, name), score in zip(JOBS, scores) if np.isfinite(score))
    lines = _places(at.tokens)[-1][0] + 1
    top = 52 + STEP * lines + 14
    fig = paper(top + SIZE + 105, drawn={"pattern": weights, "row": row, "scores": np.array(scores)}, alt=(
        f"Block {block}, head {head}{at.cut}: “{at.tokens[position]}” at position {position} looks most at “{at.tokens[best]}” "
        f"at position {best}, with weight {show.number(row[best], 2)}."))
    high = fig.get_figheight() * plot.DPI
    fig.text(12 / WIDTH, 1 - 16 / high, f"block {block}, head {head}{at.cut}: from {at.tokens[position]} (position {position}) "
             f"to {at.tokens[best]} {row[best]:.2f}", va="center", fontsize=11)
    fig.text(12 / WIDTH, 1 - 37 / high, measured or "one token: nothing to measure", va="center")
    coloured_text(fig, 52, at.tokens, row, position)
    head_map(fig, top, at, weights, position)
    return fig


GLANCE, EDGE, BELOW = 560, 72, 18               # the small maps: their width together, left edge, room for scores


def _glance_words(fig, reader, text, top, tall):
    """What stands around the small maps: blocks at the left, heads above, scores below each."""
    scores, _ = all_scores(reader, text)
    (_, L, H), high = scores.shape, fig.get_figheight() * plot.DPI
    wide = GLANCE / H
    for i in range(L):
        fig.text((EDGE - 8) / WIDTH, 1 - (top + i * tall + (tall - BELOW) / 2) / high, f"block {i}", ha="right", va="center")
        for h in range(H):
            fig.text((EDGE + (h + 0.5) * wide) / WIDTH, 1 - (top + (i + 1) * tall - BELOW / 2 - 2) / high,
                     _label(scores[:, i, h], H), ha="center", va="center", fontsize=10 if H <= 16 else 6)
    for h in range(H):
        fig.text((EDGE + (h + 0.5) * wide) / WIDTH, 1 - (top - 9) / high, f"head {h}" if H <= 8 else str(h), ha="center", va="center")


@lru_cache(maxsize=4)
def _glance_maps(reader, text, step):
    """The pixels of all small maps, block down and head across; later keys are hatched grey."""
    _, patterns = all_scores(reader, text)
    L, H, T, _ = patterns.shape
    wide, tall = GLANCE // H - 4, step - BELOW - 4
    earlier = np.tri(T, dtype=bool)
    small, seen = _resized(patterns, tall, wide), _resized(earlier, tall, wide)     # (L, H, tall, wide), (tall, wide)
    y, x = np.indices(seen.shape)
    grey = np.where((x + y) % 8 == 0, 0.6, 0.9)[..., None] * [1, 1, 1, 0] + [0, 0, 0, 1]
    colours = np.where(seen[..., None], plot.matplotlib.colormaps["cividis"](small), grey)
    whole = np.zeros((L * step, GLANCE, 4))
    for i in range(L):
        for h in range(H):
            corner = i * step + 2, round(h * GLANCE / H) + 2
            whole[corner[0]:corner[0] + tall, corner[1]:corner[1] + wide] = colours[i, h]
    return (255 * whole + 0.5).astype(np.uint8)


def _resized(maps, tall, wide):
    """Maps (..., T, T) on (tall, wide) pixels; where pixels are fewer, each shows the largest weight under it."""
    for axis, pixels in ((-2, tall), (-1, wide)):
        starts = np.arange(pixels) * maps.shape[axis] // pixels
        maps = np.maximum.reduceat(maps, starts, axis=axis) if pixels < maps.shape[axis] else np.take(maps, starts, axis=axis)
    return maps


def _draw_glance(fig, reader, text, top, tall):
    high, maps = round(fig.get_figheight() * plot.DPI), _glance_maps(reader, text, tall)
    fig.add_artist(Stamp(maps, EDGE, top, zorder=1))
    fig.add_artist(Stamp(printed(_glance_words, high, reader, text, top, tall)))


def _tall(L, room):
    """Height of a small map with its scores, in pixels."""
    return max(room // max(L, 4), 56)


def _label(scores, H):
    """A head's scores as text: all three where there is room, else the highest, in hundredths."""
    known = [(letter, score) for (letter, _), score in zip(JOBS, scores) if np.isfinite(score)]
    if not known:
        return "–"
    if H > 5:
        known = [max(known, key=lambda pair: pair[1])]
    return " ".join(f"{letter}{100 * score:.0f}" for letter, score in known)


def _legend(H, cut):
    """What the letters below the small maps mean."""
    which = "below each map" if H <= 5 else "below each map, only its highest"
    return f"{which}: mean weight in hundredths{cut}\non the (P) previous word, (F) first word, (R) what followed last time"


@plot.styled
def glance(reader, text, block=None, head=None):
    """Every head of the model as a small map with its scores; one may be framed."""
    scores, patterns = all_scores(reader, text)
    (_, L, H), at = scores.shape, reader(text)
    best = [np.unravel_index(np.nan_to_num(s, nan=-1).argmax(), s.shape) for s in scores]
    told = ", ".join(f"{name}: block {b[0]} head {b[1]} ({show.number(s[b], 2)})"
                     for (_, name), s, b in zip(JOBS, scores, best) if np.isfinite(s[b]))
    tall = _tall(L, 448)
    high = 66 + L * tall + 8
    fig = paper(high, drawn={"patterns": patterns, "scores": scores}, alt=(
        f"The patterns of all {L * H} heads on {len(at.ids)} tokens{at.cut}. Highest scores: {told or 'nothing to measure'}."))
    _draw_glance(fig, reader, text, 66, tall)
    fig.text(12 / WIDTH, 1 - 20 / high, _legend(H, at.cut), va="center")
    if block is not None:
        _mark(fig, 66, tall, H, block, head, False)
    return fig


def _mark(fig, top, tall, H, block, head, off):
    """A frame around one small map, and a cross through it where the head is off."""
    wide = GLANCE / H
    ax = box(fig, EDGE + head * wide, top + block * tall, wide, tall, xlim=(0, 1), ylim=(0, 1), zorder=4)
    ax.patch.set_visible(False)
    ax.add_patch(Rectangle((0, 0), 1, 1, fill=False, edgecolor=plot.VERMILLION, linewidth=3, clip_on=False))
    if off:
        ax.plot([0, 1, np.nan, 0, 1], [0, 1, np.nan, 1, 0], color=plot.VERMILLION, linewidth=3)


def next_words(reader, text, block, head, count=8):
    """Best next tokens, and their probabilities with all heads and with one head off: ids, (count,), (count,)."""
    ids = reader.model.encode(text)
    on = probabilities(reader.model.next_logits(ids))                               # (V,)
    off = probabilities(switched_off(reader.model, block, head).next_logits(ids))   # (V,)
    best = np.argsort(-np.maximum(on, off), kind="stable")[:count]
    best = best[np.argsort(-on[best], kind="stable")]
    return best, on[best], off[best]


@plot.styled
def switch(reader, text, block, head, off=True):
    """All heads at a glance, and the next words with all heads and with one head switched off."""
    scores, patterns = all_scores(reader, text)
    at, (_, L, H) = reader(text), scores.shape
    best, on, without = next_words(reader, text, block, head)
    words = [short(show.token(reader.model.tokenizer.decode([i]))) for i in best]
    top, tall = 66, _tall(L, 336)
    high = top + L * tall + 300
    drawn = {"patterns": patterns, "scores": scores, "ids": best, "on": on, **({"off": without} if off else {})}
    change = (f"With block {block} head {head} off, “{words[0]}” goes from {show.number(on[0], 2)} to {show.number(without[0], 2)}."
              if off else f"All heads are on; the best next word is “{words[0]}” with {show.number(on[0], 2)}.")
    fig = paper(high, drawn=drawn, alt=f"All {L * H} heads on {len(at.ids)} tokens{at.cut}, and the next words. {change}")
    _draw_glance(fig, reader, text, top, tall)
    fig.text(12 / WIDTH, 1 - 20 / high, _legend(H, at.cut), va="center")
    _mark(fig, top, tall, H, block, head, off)
    ax = box(fig, LEFT, top + L * tall + 35, 420, 235)
    places = np.arange(len(best))
    ax.barh(places - 0.2 * off, on, height=0.4 if off else 0.7, color=plot.BLUE)
    if off:
        ax.barh(places + 0.2, without, height=0.4, color=plot.VERMILLION, hatch="//", edgecolor="white")
    for place, (word, a, b) in enumerate(zip(words, on, without)):
        ax.annotate(word, (0, place), (-6, 0), textcoords="offset points", ha="right", va="center")
        ax.annotate(f"{a:.3f} → {b:.3f}" if off else f"{a:.3f}", (max(a, b) if off else a, place), (6, 0),
                    textcoords="offset points", va="center")
    ax.set(ylim=(len(best) - 0.5, -0.5), xlim=(0, max(on.max(), without.max()) * 1.3),
           title=f"next words: all heads (blue){f', block {block} head {head} off (hatched)' if off else ''}")
    return fig
