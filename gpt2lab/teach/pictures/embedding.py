"""Pictures of lesson 04: a map of words, their nearest tokens, how alike the position rows are."""
from itertools import product

import matplotlib
import numpy as np

from gpt2lab.teach import plot, show
from gpt2lab.teach.pictures.bpe import label

MOST = 14                           # words on one map
LETTER, LINE = 9, 16                # pixels that a letter and a line of text need at most


def never_seen(wte):
    """Which rows (V,) were never moved by training: they are all equal, and more than a hundred."""
    _, group, counts = np.unique(wte[:, 0], return_inverse=True, return_counts=True)
    common = wte[np.flatnonzero(group == counts.argmax())[0]]
    equal = (wte == common).all(axis=-1)                                            # (V,)
    return equal if equal.sum() > 100 else np.zeros(len(wte), bool)


def flat(rows):
    """PCA by SVD: rows (n, D) -> places (n, 2), and the share of the spread that they keep.

    The first axis is the direction in which the rows differ most, the second the next. The sign of
    an axis is free: the largest number on it is made positive.
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    places = u[:, :2] * s[:2]                                                       # (n, 2)
    largest = np.take_along_axis(places, np.abs(places).argmax(axis=0)[None], axis=0)
    return places * np.where(largest < 0, -1, 1), (s[:2] ** 2).sum() / max((s ** 2).sum(), 1e-12)


class Words:
    """Words and their rows in a model's token table; what takes long is computed once."""

    def __init__(self, model):
        self.tokenizer, self.wte = model.tokenizer, model.weights["wte.weight"]
        self.lengths = np.maximum(np.linalg.norm(self.wte, axis=-1), 1e-12)         # (V,)
        self.unseen = never_seen(self.wte)                                          # (V,)

    def find(self, text):
        """({word: id}, [what was left out and why]) of words with spaces between them."""
        found, left_out = {}, []
        for word in dict.fromkeys(text.split()):
            ids = self.tokenizer.encode(" " + word)
            if len(ids) > 1:
                left_out.append(f"{label(word.encode('utf-8'))} ({len(ids)} tokens)")
            elif self.unseen[ids[0]]:
                left_out.append(f"{label(word.encode('utf-8'))} (never seen in training)")
            else:
                found[word] = ids[0]
        return found, left_out

    def nearest(self, i, count=3):
        """Ids of the tokens whose rows are nearest to row i by cosine, without i, and the cosines."""
        return next(self.nearest_to_each([i], count))

    def nearest_to_each(self, ids, count=3):
        """The same for several ids: the table is read once."""
        table = self.wte @ self.wte[ids].T / (self.lengths[:, None] * self.lengths[ids])   # (V, n)
        for i, cosines in zip(ids, np.ascontiguousarray(table.T)):
            cosines[self.unseen] = -2
            cosines[i] = -2
            best = np.argpartition(-cosines, count)[:count]
            best = best[np.lexsort((best, -cosines[best]))]
            yield best, cosines[best]


@plot.styled
def word_map(words, text, count=3):
    """Words as points, flattened from D dimensions to 2, and beside them their nearest tokens."""
    found, left_out = words.find(text)
    reasons = f" Left out: {', '.join(left_out)}." if left_out else ""
    if len(found) < 3:
        raise ValueError(f"a map needs three words that are one token each.{reasons}")
    if len(found) > MOST:
        raise ValueError(f"{len(found)} words are too many: {MOST} fit on the map")
    ids = list(found.values())
    places, share = flat(words.wte[ids])                                            # (n, 2)
    nearest = [best for best, _ in words.nearest_to_each(ids, count)]                             # (n, count)
    names, *near = ([label(words.tokenizer.decode_bytes([i])) for i in row] for row in (ids, *nearest))
    fig = plot.Figure(figsize=(6.4, 3.8), dpi=plot.DPI)
    fig.drawn = {"ids": np.array(ids), "places": places, "nearest": np.array(nearest)}
    fig.alt = (f"A map of {len(names)} words that keeps {show.number(100 * share, 0)} % of their spread. "
               f"Nearest to “{names[0]}” are {', '.join(f'“{token}”' for token in near[0])}.{reasons}")
    ax, beside = fig.add_axes((0.05, 0.13, 0.51, 0.79)), fig.add_axes((0.58, 0.13, 0.41, 0.79))
    _points(ax, names, places)
    ax.set(xticks=[], yticks=[], title="map of the rows", xlabel="first axis")
    ax.set_ylabel("second axis", labelpad=2)
    beside.axis("off")
    beside.set(ylim=(MOST - 0.5, -0.5), xlim=(0, 1), title="nearest tokens by cosine")
    for line, (name, others) in enumerate(zip(names, near)):
        beside.text(0, line, _short(f"{name}:  {'  '.join(others)}", 36), va="center")
    if left_out:
        fig.text(0.01, 0.03, _short(reasons.strip(), 84), color=plot.VERMILLION)
    return fig


def _points(ax, names, places):
    """Points with their names, moved apart where they would cover each other."""
    width, height = ax.get_position().size * ax.figure.get_size_inches() * plot.DPI
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    low, high = low - span * (0.06, 0.08), high + span * (0.06, 0.08)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    pixels = (places - low) / (high - low) * (width, height)                        # (n, 2)
    ax.plot(*places.T, "o", color=plot.BLUE, markersize=5, clip_on=False)
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in pixels]
    for (x, y), name in zip(pixels, names):
        name = _short(name, 16)
        wide = LETTER * len(name)
        spots = sorted(product((7, -wide - 7, -wide / 2), range(-90, 91, 10)),
                       key=lambda spot: (abs(spot[1]) + 8 * (spot[0] == -wide / 2) + (spot[0] < 0), spot))
        for dx, dy in spots:
            box = (x + dx, y + dy - LINE / 2, x + dx + wide, y + dy + LINE / 2)
            inside = 0 <= box[0] and box[2] <= width and 0 <= box[1] and box[3] <= height
            if inside and not any(_cover(box, other) for other in taken):
                break
        taken.append(box)
        end = {7: "left", -wide - 7: "right"}.get(dx, "center")
        at = (box[0] if end == "left" else box[2] if end == "right" else x, y + dy)
        if abs(dy) > 12:
            ax.annotate(name, (x, y), at, xycoords="axes pixels", textcoords="axes pixels", ha=end, va="center",
                        arrowprops={"arrowstyle": "-", "color": "0.6", "shrinkA": 0})
        else:
            ax.text(at[0] / width, at[1] / height, name, transform=ax.transAxes, ha=end, va="center")


def _cover(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _short(text, most):
    return text if len(text) <= most else text[:most - 1] + "…"


def unit(rows):
    """Rows (N, D) of length 1: their dot products are cosines."""
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@plot.styled
def positions(wpe):
    """How alike each position's row is to every other's."""
    alike, N = unit(wpe) @ unit(wpe).T, len(wpe)                                    # (N, N)
    away = [show.number(np.diagonal(alike, n).mean(), 2) for n in (1, 10, 50)]
    fig, (ax,) = plot.figure(height=390, drawn={"cosines": alike}, alt=(
        f"Cosines of all {N} position rows with each other. On average neighbours have {away[0]}, places 10 apart "
        f"{away[1]}, places 50 apart {away[2]}."))
    few = matplotlib.colormaps["PuOr"].resampled(17)        # few colours: the file stays small
    image = ax.imshow(alike, cmap=few, vmin=-1, vmax=1, interpolation="nearest")
    ax.set(xlabel="position", ylabel="position")
    fig.colorbar(image, ax=ax, label="cosine of the two rows")
    return fig


@plot.styled
def one_position(wpe, at):
    """How alike the row of one position is to all the others."""
    alike = unit(wpe) @ unit(wpe)[at]                                               # (N,)
    order = np.argsort(-alike, kind="stable")
    order = order[order != at]
    fig, (ax,) = plot.figure(height=260, drawn={"cosines": alike}, alt=(
        f"The row of position {at} against all {len(wpe)}: the most alike is position {order[0]} with cosine "
        f"{alike[order[0]]:z.2f}."))
    ax.plot(alike, color=plot.BLUE)
    ax.axvline(at, color=plot.VERMILLION, linestyle="--")
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set(xlabel=f"position (dashed: {at})", ylabel="cosine", ylim=(-0.5, 1.05), xlim=(0, len(wpe) - 1))
    return fig
