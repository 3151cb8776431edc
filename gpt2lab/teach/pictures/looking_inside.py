"""Pictures of the bonus lesson: losses of words said twice, heads, the lens, shares of a logit."""
import numpy as np

from gpt2lab.teach import plot, show

from .pixels import LEFT, SIZE, WIDTH, Stamp, box, frame, head_map, paper, printed


def _figure(panels=1, **settings):
    """A plot.figure that is stored with few colours: this lesson has many pictures."""
    fig, axes = plot.figure(panels, **settings)
    fig.few_colours = True
    return fig, axes


def _halves(losses):
    """Mean loss of the first telling and of the second, whose first token nobody can know either.

    Shapes: losses (..., 2 P - 1) -> (...), (...)
    """
    half = (losses.shape[-1] + 1) // 2
    return losses[..., :half - 1].mean(axis=-1), losses[..., half:].mean(axis=-1)


@plot.styled
def losses(curves):
    """Loss by position for texts that are said twice, {label: (2 P - 1,)}."""
    half = (len(next(iter(curves.values()))) + 1) // 2
    means = {label: [show.number(mean, 2) for mean in _halves(values)]
             for label, values in curves.items()}
    fig, (ax,) = _figure(height=320, drawn=curves, alt=(
        "Loss in nats over the position in texts that are said twice.\n"
        "Mean loss in nats, first telling and second: " + "; ".join(
            f"{label} {first} and {second}" for label, (first, second) in means.items()) + "."))
    _loss_lines(ax, curves, half)
    if len(curves) > 1:
        ax.legend(frameon=False, loc="lower left")
    return fig


def _loss_lines(ax, curves, half):
    steps = np.arange(1, 2 * half)
    for i, (label, values) in enumerate(curves.items()):
        ax.plot(steps, values, color=plot.COLOURS[i % 5], linestyle=plot.DASHES[i % 5],
                marker=plot.MARKERS[i % 5], markevery=4, markersize=4, label=label)
    top = 1.12 * max(values.max() for values in curves.values())
    ax.axvline(half - 0.5, color="0.4", linewidth=0.8)
    ax.text(half - 1, top, "first telling", ha="right", va="top")
    ax.text(half, top, "second telling", va="top")
    ax.set(xlabel="position of the token that is predicted", ylabel="loss (nats)",
           ylim=(0, top * 1.02), xlim=(0, 2 * half))


@plot.styled
def scores(found):
    """Induction scores of all heads, from (texts, L, H): a map of the means, the best in a row."""
    mean = found.mean(axis=0)                                                       # (L, H)
    order = np.argsort(-mean.ravel(), kind="stable")
    places = [np.unravel_index(i, mean.shape) for i in order]
    first, second = (f"block {b} head {h} with {show.number(mean[b, h], 2)}" for b, h in places[:2])
    fig, axes = _figure(2, height=290, width_ratios=(1, 1.1))
    fig.drawn = {"scores": mean, "order": order}
    fig.alt = ("Induction scores of all heads as a map, and the best heads in a row.\n"
               f"{mean.size} heads, mean over {len(found)} texts: the best are "
               f"{first} and {second}; the mean of all others is "
               f"{show.number(mean.ravel()[order[2:]].mean(), 2)}.")
    _head_map(axes[0], mean, "cividis", 0, 1)
    axes[0].set_title("induction score")
    count = min(12, mean.size)
    spread = found.reshape(len(found), -1)[:, order[:count]]
    y = np.arange(count)
    axes[1].barh(y, mean.ravel()[order[:count]], color=plot.BLUE)
    axes[1].hlines(y, spread.min(axis=0), spread.max(axis=0), color="black", linewidth=2)
    axes[1].set_yticks(y, [f"{b}, {h}" for b, h in places[:count]])
    axes[1].set(ylim=(count - 0.5, -0.5), xlim=(0, 1), ylabel="block, head",
                xlabel="score (line: least and most of a text)",
                title=f"the best {count}" if count < mean.size else "all heads")
    return fig


def _head_map(ax, values, colours, low, high, decimals=2):
    """One cell a head: block down, head across."""
    image = plot.draw_map(ax, values, range(len(values)), range(values.shape[1]), colours, low,
                          high, decimals=decimals)
    ax.set(xlabel="head", ylabel="block")
    for number in ax.texts:         # by how bright the cell looks: purple is darker than its mean
        colour = image.cmap(image.norm(values[number.get_position()[::-1]]))[:3]
        number.set_color("white" if colour @ np.array([0.3, 0.59, 0.11]) < 0.5 else "black")
    ax.tick_params(axis="x", rotation=0)
    if values.shape[1] > 8:                     # the numbers of 12 heads do not fit side by side
        ax.set_xticks(range(0, values.shape[1], 2))
    return image


def _words(tokens):
    """Tokens that fit the axes of a head's map."""
    return tuple(show.short(token, 8) for token in tokens)


@plot.styled
def head_pattern(tokens, weights, score, block, head, position):
    """One head's map (T, T) on a text that is said twice, the row of one query framed."""
    words, best = _words(tokens), int(weights[position].argmax())
    fig = paper(SIZE + 140, drawn={"pattern": weights}, alt=(
        "One head's pattern on a text that is said twice, one row framed.\n"
        f"Block {block}, head {head}, induction score {show.number(score, 2)}. The framed row: "
        f"“{words[position]}” at position {position} looks most at “{words[best]}” at "
        f"position {best}, with weight {show.number(weights[position, best], 2)}."))
    head_map(fig, 35, words, weights, position)
    title = f"block {block}, head {head}: score {score:.2f}"
    fig.text((LEFT + SIZE / 2) / WIDTH, 1 - 18 / fig.get_figheight() / plot.DPI, title,
             ha="center", va="center", fontsize=11)
    return fig


@plot.styled
def worth(added):
    """What switching off each head costs, from the loss added at each position (L, H, 2 P - 1)."""
    cost = _halves(added)                                                           # (L, H) each
    limit = np.abs(cost).max() or 1.0
    order, second = np.argsort(-cost[1].ravel(), kind="stable"), cost[1].ravel()
    most = ", ".join(f"block {i // added.shape[1]} head {i % added.shape[1]} costs "
                     f"{show.number(second[i], 2)}" for i in order[:3])
    rest = second[order[3:]]
    fig, axes = _figure(2, height=270, drawn={"first": cost[0], "second": cost[1]}, alt=(
        "Each cell is the loss in nats with one head off, minus the loss with all, on the first "
        "telling and on the second.\n"
        f"On the second telling {most}; the other {rest.size} heads cost "
        f"{show.number(rest.mean(), 2)} on average."))
    for ax, values, title in zip(axes, cost, ("first telling", "second telling")):
        image = _head_map(ax, values, "PuOr", -limit, limit, decimals=1)
        ax.set_title(title)
    fig.colorbar(image, ax=axes, label="loss added (nats)")
    return fig


@plot.styled
def sink(weight, size, count):
    """Of each head, (L, H): mean weight on the first of `count` tokens, length of its value."""
    b, h = np.unravel_index(weight.argmax(), weight.shape)
    fig, axes = _figure(2, height=270, drawn={"weight": weight, "size": size}, alt=(
        "Each head's mean weight on the first token, and the length of the value there.\n"
        f"On {count} tokens, block {b} head {h} leaves {show.number(weight[b, h], 2)} of its "
        "weight on the first token, the most of all heads; the value that it finds there is "
        f"{show.number(size[b, h], 2)} times as long as the others."))
    for ax, values, title, label in (
            (axes[0], weight, "weight on the first token", "mean weight"),
            (axes[1], size, "length of its value", "times the others' mean")):
        image = _head_map(ax, values, "cividis", 0, 1 if ax is axes[0] else max(1, values.max()))
        ax.set_title(title)
        fig.colorbar(image, ax=ax, label=label)
    return fig


@plot.styled
def parking(patterns, block, head):
    """Where one head looks while random words are said twice: first token, or what followed.

    patterns (T, T): the head's pattern, mean over some texts.
    """
    T, half = len(patterns), len(patterns) // 2
    t = np.arange(half, T)
    series = {"first token": patterns[1:, 0], "what followed last time": patterns[t, t - half + 1]}
    means = [show.number(weights.mean(), 2) for weights in (
        patterns[1:half, 0], patterns[half:, 0], series["what followed last time"])]
    fig, (ax,) = _figure(height=290, drawn=series, alt=(
        "One head's weight on the first token and on what followed last time, by position.\n"
        f"Block {block} head {head}: on the first telling it leaves {means[0]} on the first token; "
        f"on the second {means[1]}, and {means[2]} on what followed last time."))
    for i, (x, (label, values)) in enumerate(zip((np.arange(1, T), t), series.items())):
        ax.plot(x, values, color=plot.COLOURS[i], linestyle=plot.DASHES[i], marker=plot.MARKERS[i],
                markersize=4, label=label)
    ax.axvline(half - 0.5, color="0.4", linewidth=0.8)
    ax.text(half - 1, 1.09, "first telling", ha="right", va="top")
    ax.text(half, 1.09, "second telling", va="top")
    ax.set(xlabel="position of the query", ylabel="weight (mean over texts)", ylim=(0, 1.1))
    ax.legend(frameon=False, loc="center left")
    return fig


def _stage(name, many):
    """The stage of a name of the trace, "h.1.resid_mid", in few letters."""
    if name == "embed":
        return "emb." if many else "embedding"
    _, block, place = name.split(".")
    return f"{'attn.' if place == 'resid_mid' else 'block' if many else 'MLP'} {block}"


def _count(rank):
    """A rank in at most four characters."""
    if rank < 1000:
        return str(rank)
    return f"{rank / 1000:.1f}k" if rank < 9950 else f"{rank / 1000:.0f}k"


@plot.styled
def lens(name, tokens, stages, rank, chance, row, best):
    """A word through the logit lens: probability and rank at each stage (across), per token (down).

    name: the word; tokens: of the whole text; stages (K,): where the stream was read, as the trace
    names it; rank, chance (K, T): of the word, behind each of the last T tokens; row: the one of
    them that is framed; best (K,): the best word behind it at each stage.
    """
    (K, T), first = rank.shape, len(tokens) - rank.shape[1]
    stages = tuple(_stage(stage, "h.0.resid_mid" not in stages) for stage in stages)
    most = 10 - len(str(len(tokens)))           # its position stands in front of each token
    tokens = tuple(show.short(token, most) for token in tokens[first:])
    words = tuple(show.short(word, 9) for word in best)
    high, top, below = 24 * T + 300, 76, 24 * T + 122
    fig = paper(high, drawn={"rank": rank, "probability": chance, "best": best, "row": row}, alt=(
        "One word's rank and probability at each stage, behind each of the last tokens.\n"
        f"“{name}” after “{tokens[row]}” (position {first + row}): rank {rank[0, row]:,} at the "
        f"embedding, {rank[-1, row]:,} at the end, with probability "
        f"{show.number(chance[-1, row], 2)}; best at the end: “{words[-1]}”."))
    ax = box(fig, 110, top, 500, 24 * T)
    ax.imshow(chance.T, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    cells = tuple((s, t, _count(rank[s, t]), "white" if value < 0.5 else "black")
                  for (s, t), value in np.ndenumerate(chance))
    frame(ax, 0, row, columns=K)
    fig.add_artist(Stamp(printed(_lens_words, high, tokens, stages, cells, top, first)))
    fig.text(12 / WIDTH, 1 - 14 / high, va="center", s=(
        f"rank of {show.short(name, 20)} (1: the best) if the model stopped here; "
        "bright: probable"))
    curve = box(fig, 110, below, 500, 110, xlim=(-0.5, K - 0.5),
                ylim=(np.log10(rank[:, row].max()) + 0.3, -0.2))
    curve.plot(np.log10(rank[:, row]), color=plot.BLUE, marker="o")
    curve.spines[["left", "bottom"]].set_visible(True)
    for power in range(5):
        if power < curve.get_ylim()[0]:
            curve.annotate(f"{10 ** power:,} –", (-0.5, power), (1, 0), textcoords="offset points",
                           ha="right", va="center")
    turned = ({"rotation": 90, "ha": "center", "rotation_mode": "default"} if K > 9 else
              {"rotation": 30, "ha": "right", "rotation_mode": "anchor"})
    for s, word in enumerate(words):
        fig.text((110 + 500 * (s + 0.5) / K) / WIDTH, 1 - (below + 117) / high, word, va="top",
                 **turned)
    fig.text(50 / WIDTH, 1 - (below + 55) / high, "rank", rotation=90, va="center", ha="center")
    fig.text(110 / WIDTH, 1 - (below - 10) / high,
             f"the framed row: after {tokens[row]}; below: the best word at each stage",
             va="center")
    return fig


def _lens_words(fig, tokens, stages, cells, top, first):
    """The words of the map: stages above, tokens and positions at the left, ranks in the cells."""
    def named(s, stage):
        word, _, number = stage.rpartition(" ")
        return f"{word if len(stages) <= 9 or s == 1 else ''}\n{number}"

    high = fig.get_figheight() * plot.DPI
    middle = [(110 + 500 * (s + 0.5) / len(stages)) / WIDTH for s in range(len(stages))]
    for t, token in enumerate(tokens):
        fig.text(104 / WIDTH, 1 - (top + 24 * (t + 0.5)) / high, f"{first + t} {token}",
                 ha="right", va="center")
    for s, stage in enumerate(stages):
        fig.text(middle[s], 1 - (top - 5) / high, named(s, stage), ha="center", va="bottom")
    for s, t, rank, colour in cells:
        fig.text(middle[s], 1 - (top + 24 * (t + 0.5)) / high, rank, ha="center", va="center",
                 color=colour)


BARS = 11


@plot.styled
def contributions(words, names, values, heads):
    """What each part adds to a logit: a map of all heads, bars of the largest parts and the rest.

    words: that of the logit; or two, where it is the difference of their logits; names, values
    (K + 1,): of all parts; heads (L, H): the values of the heads alone.
    """
    order = np.argsort(-np.abs(values), kind="stable")
    largest, rest, total = order[:BARS], order[BARS:], float(values.sum())
    what = "The logit of “" + "” minus that of “".join(words) + "”"
    bars = [*values[largest], values[rest].sum(), total]
    labels = [*(names[i] for i in largest), f"other {len(rest)} parts",
              "sum" if len(words) > 1 else "sum: the logit"]
    told = ", ".join(f"{names[i]} {show.number(values[i], 2)}" for i in largest[:4])
    fig = paper(350, drawn={"heads": heads, "values": values, "order": order}, alt=(
        "What each part adds to a logit or to the difference of two: all heads, and the largest "
        "parts.\n"
        f"{what} is {show.number(total, 2)}. The largest parts: {told}; all {heads.size} heads "
        f"together {show.number(heads.sum(), 2)}."))
    fig.text(0.5, 1 - 14 / 350, what, ha="center", va="center", fontsize=11)
    limit = np.abs(heads).max() or 1.0
    ax = fig.add_axes([52 / WIDTH, 45 / 350, 200 / WIDTH, 255 / 350])
    _head_map(ax, heads, "PuOr", -limit, limit)
    ax.set_title("heads: added to the logit")
    high = max(*bars, 0)
    right = max(1.3 * high, high + 0.3 * (high - min(0, *bars))) or 1.0     # room for the numbers
    ax = fig.add_axes([415 / WIDTH, 45 / 350, 215 / WIDTH, 272 / 350], yticks=[],
                      ylim=(len(bars) - 0.5, -0.5), xlim=(min(0, 1.1 * min(bars)), right),
                      xlabel="added to the logit")
    ax.spines["left"].set_visible(False)
    colours = [plot.VERMILLION if v < 0 else plot.BLUE for v in bars[:-1]] + ["0.4"]
    ax.barh(range(len(bars)), bars, color=colours, hatch=["//" if v < 0 else "" for v in bars],
            edgecolor="white")
    for place, (value, label) in enumerate(zip(bars, labels)):
        ax.text(max(value, 0), place, f" {value:z.2f}", va="center")
        ax.annotate(label, (0, place), (-6, 0), xycoords=("axes fraction", "data"),
                    textcoords="offset points", ha="right", va="center")
    ax.axvline(0, color="black", linewidth=0.8)
    return fig


@plot.styled
def direct_and_off(direct, off):
    """Of each head, (L, H): what it adds to a logit, and how much the logit falls without it."""
    b, h = np.unravel_index((off - direct).argmax(), off.shape)
    limit = np.abs([direct, off]).max() or 1.0
    fig, axes = _figure(2, height=270, drawn={"direct": direct, "off": off}, alt=(
        "What each head adds to a logit itself, and what the logit loses with that head off.\n"
        f"Block {b} head {h} adds {show.number(direct[b, h], 2)} to the logit itself; with it off, "
        f"the logit falls by {show.number(off[b, h], 2)}."))
    titles = "adds to the logit itself", "logit lost when it is off"
    for ax, values, title in zip(axes, (direct, off), titles):
        image = _head_map(ax, values, "PuOr", -limit, limit)
        ax.set_title(title)
    fig.colorbar(image, ax=axes, label="logit")
    return fig


@plot.styled
def head_off(tokens, weights, on, off, score, block, head):
    """One head on words said twice: its map (T, T), the losses with it on and off (T - 1,)."""
    length, second = len(tokens) // 2, (_halves(on)[1], _halves(off)[1])
    high = SIZE + 350
    fig = paper(high, drawn={"pattern": weights, "on": on, "off": off}, alt=(
        "One head on words said twice: its pattern, and the losses with the head on and off.\n"
        f"Block {block}, head {head} on {length} random tokens said twice: induction score "
        f"{show.number(score, 2)}; loss of the second telling {show.number(second[0], 2)} with the "
        f"head, {show.number(second[1], 2)} without it."))
    fig.text(12 / WIDTH, 1 - 16 / high, va="center", fontsize=11, s=(
        f"block {block}, head {head}: score {score:.2f}; loss of the second telling "
        f"{second[0]:.2f} on, {second[1]:.2f} off"))
    head_map(fig, 215 + 30, _words(tokens), weights, length)
    ax = fig.add_axes([60 / WIDTH, 1 - 200 / high, 560 / WIDTH, 160 / high])
    _loss_lines(ax, {"head on": on, "head off": off}, length)
    ax.set_xlabel("")
    ax.legend(frameon=False, loc="lower left", ncols=2)
    return fig
