"""Pictures of the bonus lesson: random words said twice, heads switched off, the lens, shares of a logit."""
from functools import lru_cache
from types import SimpleNamespace

import numpy as np

from gpt2lab.inside import direct_logits, induction_score, position_losses, ranks, stream_parts, without_heads
from gpt2lab.lm_head import lm_head
from gpt2lab.model import GPT2
from gpt2lab.teach import plot, show

from .attention import LEFT, SIZE, WIDTH, Stamp, box, frame, head_map, paper, printed, short
from .heads import told_its_block


def _figure(panels=1, **settings):
    """A plot.figure that is stored with few colours: this lesson has many pictures."""
    fig, axes = plot.figure(panels, **settings)
    fig.few_colours = True
    return fig, axes


COMMON = 2000       # how many tokens the random words are drawn from
KINDS = ("tokens with short rows", "any token met in training", "any token")


@lru_cache(maxsize=4)
def pool(model, kind=KINDS[0]):
    """The ids to draw from: those with the shortest rows in the token table, those met in training, or all."""
    table = model.weights["wte.weight"].astype(np.float64)                          # (V, D)
    if kind == KINDS[2]:
        return np.arange(len(table))
    if kind == KINDS[1]:                        # tokens that were never met share one row (lesson 04)
        first, count = np.unique(table[:, 0], return_counts=True)
        return np.flatnonzero(table[:, 0] != first[count.argmax()])
    return np.sort(np.argsort((table ** 2).sum(axis=-1), kind="stable")[:COMMON])


def twice(model, length, seed, kind=KINDS[0], before=0):
    """Random tokens said twice: nothing but the first telling can predict the second.

    before: how many other random tokens stand in front, once; (before + 2 * length,) in all.
    """
    ids = pool(model, kind)
    drawn = ids[(np.random.default_rng(seed).random(before + length) * len(ids)).astype(int)]
    return np.concatenate([drawn, drawn[before:]])


def without(model, *heads):
    """The model with heads (block, head) switched off."""
    return model.tapped(without_heads(model, heads))


def mean_losses(model, texts):
    """Loss of each token but the first, mean over texts of one length: (T - 1,)."""
    return np.mean([position_losses(model(ids), ids) for ids in texts], axis=0)


def all_heads(model):
    """(block, head) of every head."""
    return list(np.ndindex(model.config.n_layer, model.config.n_head))


def _halves(losses):
    """Mean loss of the first telling and of the second, whose first token nobody can know either."""
    half = (len(losses) + 1) // 2
    return losses[:half - 1].mean(), losses[half:].mean()


@plot.styled
def losses(curves):
    """Loss by position for texts that are said twice, {label: (2 P - 1,)}."""
    half = (len(next(iter(curves.values()))) + 1) // 2
    means = {label: _halves(values) for label, values in curves.items()}
    fig, (ax,) = _figure(height=320, drawn=curves, alt="Mean loss in nats, first telling and second: " + "; ".join(
        f"{label} {show.number(first, 2)} and {show.number(second, 2)}" for label, (first, second) in means.items()) + ".")
    _loss_lines(ax, curves, half)
    if len(curves) > 1:
        ax.legend(frameon=False, loc="lower left")
    return fig


def _loss_lines(ax, curves, half):
    steps = np.arange(1, 2 * half)
    for i, (label, values) in enumerate(curves.items()):
        ax.plot(steps, values, color=plot.COLOURS[i % 5], linestyle=plot.DASHES[i % 5], marker=plot.MARKERS[i % 5],
                markevery=4, markersize=4, label=label)
    top = 1.12 * max(values.max() for values in curves.values())
    ax.axvline(half - 0.5, color="0.4", linewidth=0.8)
    ax.text(half - 1, top, "first telling", ha="right", va="top")
    ax.text(half, top, "second telling", va="top")
    ax.set(xlabel="position of the token that is predicted", ylabel="loss (nats)", ylim=(0, top * 1.02), xlim=(0, 2 * half))


def induction_scores(model, texts, before=0):
    """Score of each head on each text that is said twice after `before` other tokens: (texts, L, H)."""
    traces = (model.trace(ids) for ids in texts)
    return np.array([[induction_score(trace[f"h.{i}.attn.pattern"][:, before:, before:], (len(ids) - before) // 2)
                      for i in range(model.config.n_layer)] for ids, trace in zip(texts, traces)])


def scores_by_length(model, kind, lengths, seeds):
    """Mean scores of all heads (L, H), one for each (before, length) of `lengths`; see twice."""
    return [induction_scores(model, [twice(model, length, seed, kind, before) for seed in seeds], before).mean(axis=0)
            for before, length in lengths]


def mean_pattern(model, texts, block, head):
    """One head's pattern, mean over texts of one length: (T, T)."""
    return np.mean([model.trace(ids)[f"h.{block}.attn.pattern"][head] for ids in texts], axis=0)


@plot.styled
def scores(found):
    """Induction scores of all heads, from (texts, L, H): a map of the means, and all heads in a row."""
    mean = found.mean(axis=0)                                                       # (L, H)
    order = np.argsort(-mean.ravel(), kind="stable")
    places = [np.unravel_index(i, mean.shape) for i in order]
    fig, axes = _figure(2, height=290, drawn={"scores": mean, "order": order}, width_ratios=(1, 1.1), alt=(
        f"Induction scores of {mean.size} heads, mean over {len(found)} texts. The best are block {places[0][0]} head "
        f"{places[0][1]} with {show.number(mean[places[0]], 2)} and block {places[1][0]} head {places[1][1]} with "
        f"{show.number(mean[places[1]], 2)}; the mean of all others is {show.number(mean.ravel()[order[2:]].mean(), 2)}."))
    _head_map(axes[0], mean, "cividis", 0, 1)
    axes[0].set_title("induction score")
    count = min(12, mean.size)
    spread = found.reshape(len(found), -1)[:, order[:count]]
    y = np.arange(count)
    axes[1].barh(y, mean.ravel()[order[:count]], color=plot.BLUE)
    axes[1].hlines(y, spread.min(axis=0), spread.max(axis=0), color="black", linewidth=2)
    axes[1].set_yticks(y, [f"{b}, {h}" for b, h in places[:count]])
    axes[1].set(ylim=(count - 0.5, -0.5), xlim=(0, 1), xlabel="score (line: least and most of a text)", ylabel="block, head",
                title=f"the best {count}" if count < mean.size else "all heads")
    return fig


def _head_map(ax, values, colours, low, high, decimals=2):
    """One cell a head: block down, head across."""
    image = plot.draw_map(ax, values, range(len(values)), range(values.shape[1]), colours, low, high, decimals=decimals)
    ax.set(xlabel="head", ylabel="block")
    for number in ax.texts:                     # by how bright the cell looks: purple is darker than its mean
        shade = image.cmap(image.norm(values[number.get_position()[::-1]]))[:3] @ np.array([0.3, 0.59, 0.11])
        number.set_color("white" if shade < 0.5 else "black")
    ax.tick_params(axis="x", rotation=0)
    if values.shape[1] > 8:                     # the numbers of 12 heads do not fit side by side
        ax.set_xticks(range(0, values.shape[1], 2))
    return image


def _named(model, ids):
    return SimpleNamespace(tokens=tuple(short(token, 8) for token in show.tokens(model.tokenizer, ids)))


@plot.styled
def head_pattern(model, ids, block, head, position):
    """One head's map on a text that is said twice, the row of one query framed."""
    weights, at = model.trace(ids)[f"h.{block}.attn.pattern"][head], _named(model, ids)         # (T, T)
    best = int(weights[position].argmax())
    score = induction_score(weights, len(ids) // 2)
    fig = paper(SIZE + 140, drawn={"pattern": weights}, alt=(
        f"Block {block}, head {head}, induction score {show.number(score, 2)}. The framed row: “{at.tokens[position]}” at "
        f"position {position} looks most at “{at.tokens[best]}” at position {best}, with weight "
        f"{show.number(weights[position, best], 2)}."))
    head_map(fig, 35, at, weights, position)
    fig.text((LEFT + SIZE / 2) / WIDTH, 1 - 18 / fig.get_figheight() / plot.DPI,
             f"block {block}, head {head}: score {score:.2f}", ha="center", va="center", fontsize=11)
    return fig


def costs(model, texts):
    """How much the mean loss grows when a head is off: (2, L, H), first telling and second."""
    before = np.array(_halves(mean_losses(model, texts)))
    after = np.array([_halves(mean_losses(without(model, place), texts)) for place in all_heads(model)])
    return (after - before).T.reshape(2, model.config.n_layer, model.config.n_head)


@plot.styled
def worth(cost):
    """What switching off each head costs, from (2, L, H): two maps."""
    limit = np.abs(cost).max() or 1.0
    order = np.argsort(-cost[1].ravel(), kind="stable")
    names = [f"block {b} head {h}" for b, h in (np.unravel_index(i, cost[1].shape) for i in order[:3])]
    rest = cost[1].ravel()[order[3:]]
    fig, axes = _figure(2, height=270, drawn={"first": cost[0], "second": cost[1]}, alt=(
        f"Each cell is the loss in nats with one head off, minus the loss with all. On the second telling "
        f"{', '.join(f'{name} costs {show.number(cost[1].ravel()[i], 2)}' for name, i in zip(names, order))}; "
        f"the other {rest.size} heads cost {show.number(rest.mean(), 2)} on average."))
    for ax, values, title in zip(axes, cost, ("first telling", "second telling")):
        image = _head_map(ax, values, "PuOr", -limit, limit, decimals=1)
        ax.set_title(title)
    fig.colorbar(image, ax=axes, label="loss added (nats)")
    return fig


def first_token(trace, n_layer):
    """Of each head, (L, H): mean weight on the first token, and its value's size beside the others' mean."""
    weight = np.stack([trace[f"h.{i}.attn.pattern"][:, 1:, 0].mean(axis=-1) for i in range(n_layer)])
    sizes = np.stack([np.linalg.norm(trace[f"h.{i}.attn.v"], axis=-1) for i in range(n_layer)])  # (L, H, T)
    return weight, sizes[..., 0] / sizes[..., 1:].mean(axis=-1)


@plot.styled
def sink(model, text):
    """Mean weight on the first token, and how large its value is, of every head."""
    ids = model.encode(text)
    if len(ids) < 2:
        raise ValueError("the text must have at least two tokens")
    weight, size = first_token(model.trace(ids), model.config.n_layer)
    b, h = np.unravel_index(weight.argmax(), weight.shape)
    fig, axes = _figure(2, height=270, drawn={"weight": weight, "size": size}, alt=(
        f"On {len(ids)} tokens, block {b} head {h} leaves {show.number(weight[b, h], 2)} of its weight on the first token, "
        f"the most of all heads; the value that it finds there is {show.number(size[b, h], 2)} times as long as the others."))
    for ax, values, title, label in ((axes[0], weight, "weight on the first token", "mean weight"),
                                     (axes[1], size, "length of its value", "times the others' mean")):
        image = _head_map(ax, values, "cividis", 0, 1 if ax is axes[0] else max(1, values.max()))
        ax.set_title(title)
        fig.colorbar(image, ax=ax, label=label)
    return fig


@plot.styled
def parking(model, texts, block, head):
    """Where one head looks while random words are said twice: first token, or what followed."""
    patterns = mean_pattern(model, texts, block, head)                              # (T, T)
    T, half = len(patterns), len(patterns) // 2
    t = np.arange(half, T)
    series = {"first token": patterns[1:, 0], "what followed last time": patterns[t, t - half + 1]}
    fig, (ax,) = _figure(height=290, drawn=series, alt=(
        f"Block {block} head {head}: on the first telling it leaves {show.number(patterns[1:half, 0].mean(), 2)} on the "
        f"first token; on the second {show.number(patterns[half:, 0].mean(), 2)}, and "
        f"{show.number(series['what followed last time'].mean(), 2)} on what followed last time."))
    for i, (x, (label, values)) in enumerate(zip((np.arange(1, T), t), series.items())):
        ax.plot(x, values, color=plot.COLOURS[i], linestyle=plot.DASHES[i], marker=plot.MARKERS[i], markersize=4,
                label=label)
    ax.axvline(half - 0.5, color="0.4", linewidth=0.8)
    ax.text(half - 1, 1.09, "first telling", ha="right", va="top")
    ax.text(half, 1.09, "second telling", va="top")
    ax.set(xlabel="position of the query", ylabel="weight (mean over texts)", ylim=(0, 1.1))
    ax.legend(frameon=False, loc="center left")
    return fig


def changed_first(model, block, head, value=1.0, reach=True):
    """The model where one head finds the first token's value times `value`, or cannot reach it at all."""
    def attend(block_now, q, k, v, softmax):
        if block_now != block:
            return model.ops.attend(q, k, v, softmax)
        v = v.copy()
        v[head, 0] *= np.float32(value)
        mixed = model.ops.attend(q, k, v, softmax)                                  # (H, T, Dh)
        alone = int(q.shape[1] == k.shape[1])   # the first query of all has nothing else to look at
        if not reach and k.shape[1] > 1:
            mixed[head, alone:] = model.ops.attend(q[head, alone:], k[head, 1:], v[head, 1:], softmax)
        return mixed
    return told_its_block(model, attend)


ROWS = 12           # how many positions the lens shows


def _head_on(model, x):
    w = model.weights
    table = w.get("lm_head.weight", w["wte.weight"])
    return lm_head(x, w["ln_f.weight"], w["ln_f.bias"], table, model.config.layer_norm_epsilon)


@lru_cache(maxsize=1)
def readings(model, text):
    """What the LM head says of the stream at each stage: ids, stage names, logits (stages, T, V) of the last ROWS tokens."""
    ids, L = model.encode(text), model.config.n_layer
    trace = model.trace(ids)
    stages = {"embedding" if L <= 6 else "emb.": "embed"}
    for i in range(L):
        if L <= 6:
            stages[f"attn. {i}"] = f"h.{i}.resid_mid"
        stages[f"MLP {i}" if L <= 6 else f"block {i}"] = f"h.{i}.resid_post"
    logits = np.stack([_head_on(model, trace[name][-ROWS:]) for name in stages.values()])
    return ids, list(stages), logits


def word_id(model, word):
    """The first token of a word with a space before it. Raises ValueError where there is none."""
    if not word.strip():
        raise ValueError("the word is empty: give at least one letter")
    return model.encode(" " + word.strip())[0]


def _count(rank):
    """A rank in at most four characters."""
    return str(rank) if rank < 1000 else f"{rank / 1000:.1f}k" if rank < 9950 else f"{rank / 1000:.0f}k"


@plot.styled
def lens(model, text, word, back=0):
    """One word through the logit lens: its probability and rank at each stage (across), for each token (down)."""
    token = word_id(model, word)
    ids, stages, logits = readings(model, text)
    T = logits.shape[1]
    first = len(ids) - T
    row = max(T - 1 - back, 0)
    place, chance = _lens_numbers(model, text, token)                               # (stages, T)
    most = 10 - len(str(len(ids)))              # its position stands in front of each token
    tokens = tuple(short(t, most) for t in show.tokens(model.tokenizer, ids[first:]))
    name = show.token(model.tokenizer.decode([token]))
    best = logits[:, row].argmax(axis=-1)
    words = tuple(short(t, 9) for t in show.tokens(model.tokenizer, best))
    high, top, below = 24 * T + 300, 76, 24 * T + 122
    fig = paper(high, drawn={"token": token, "rank": place, "probability": chance, "best": best, "row": row}, alt=(
        f"“{name}” after “{tokens[row]}” (position {first + row}): rank {place[0, row]:,} at the embedding, "
        f"{place[-1, row]:,} at the end, with probability {show.number(chance[-1, row], 2)}; best at the end: “{words[-1]}”."))
    ax = box(fig, 110, top, 500, 24 * T)
    ax.imshow(chance.T, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    cells = tuple((s, t, _count(place[s, t]), "white" if value < 0.5 else "black")
                  for (s, t), value in np.ndenumerate(chance))
    frame(ax, 0, row, columns=len(stages))
    fig.add_artist(Stamp(printed(_lens_words, high, tokens, tuple(stages), cells, top, first)))
    fig.text(12 / WIDTH, 1 - 14 / high, f"rank of {short(name, 20)} (1: the best) if the model stopped here; bright: probable",
             va="center")
    curve = box(fig, 110, below, 500, 110, xlim=(-0.5, len(stages) - 0.5),
                ylim=(np.log10(place[:, row].max()) + 0.3, -0.2))
    curve.plot(np.log10(place[:, row]), color=plot.BLUE, marker="o")
    curve.spines[["left", "bottom"]].set_visible(True)
    for power in range(5):
        if power < curve.get_ylim()[0]:
            curve.annotate(f"{10 ** power:,} –", (-0.5, power), (1, 0), textcoords="offset points", ha="right",
                           va="center")
    many = len(stages) > 9
    for s, best_word in enumerate(words):
        fig.text((110 + 500 * (s + 0.5) / len(stages)) / WIDTH, 1 - (below + 117) / high, best_word,
                 rotation=90 if many else 30, ha="center" if many else "right", va="top",
                 rotation_mode="default" if many else "anchor")
    fig.text(50 / WIDTH, 1 - (below + 55) / high, "rank", rotation=90, va="center", ha="center")
    fig.text(110 / WIDTH, 1 - (below - 10) / high,
             f"the framed row: after {tokens[row]}; below: the best word at each stage", va="center")
    return fig


@lru_cache(maxsize=2)
def _lens_numbers(model, text, token):
    logits = readings(model, text)[2]
    top = logits.max(axis=-1, keepdims=True)
    return ranks(logits, token), np.exp(logits[..., token] - top[..., 0]) / np.exp(logits - top).sum(axis=-1)


def _lens_words(fig, tokens, stages, cells, top, first):
    """The words of the map: stages above, tokens with their position at the left, ranks in the cells."""
    def named(s, stage):
        word, _, number = stage.rpartition(" ")
        return f"{word if len(stages) <= 9 or s == 1 else ''}\n{number}"

    high, middle = fig.get_figheight() * plot.DPI, [(110 + 500 * (s + 0.5) / len(stages)) / WIDTH for s in range(len(stages))]
    for t, token in enumerate(tokens):
        fig.text(104 / WIDTH, 1 - (top + 24 * (t + 0.5)) / high, f"{first + t} {token}", ha="right", va="center")
    for s, stage in enumerate(stages):
        fig.text(middle[s], 1 - (top - 5) / high, named(s, stage), ha="center", va="bottom")
    for s, t, rank, colour in cells:
        fig.text(middle[s], 1 - (top + 24 * (t + 0.5)) / high, rank, ha="center", va="center", color=colour)


def shares(model, text, word, function=direct_logits, instead_of=""):
    """Names and what each part adds to the logit of a word after a text; the last one is ln_f's bias.

    instead_of: another word; then to the difference of the two logits.
    """
    ids, w, c = model.encode(text), model.weights, model.config
    names, parts = stream_parts(model.trace(ids), w, c.n_layer, len(ids) - 1)
    table = w.get("lm_head.weight", w["wte.weight"])
    target = table[word_id(model, word)]
    if instead_of.strip():
        if word_id(model, instead_of) == word_id(model, word):
            raise ValueError("both words begin with the same token: there is nothing to compare")
        target = target - table[word_id(model, instead_of)]
    return [*names, "ln_f bias"], function(parts, w["ln_f.weight"], w["ln_f.bias"], target, c.layer_norm_epsilon)


def heads_of(names, values, model):
    """The heads' values out of all, (L, H)."""
    found = [value for name, value in zip(names, values) if " head " in name]
    return np.array(found).reshape(model.config.n_layer, model.config.n_head)


BARS = 11


@plot.styled
def contributions(model, text, word, instead_of="", function=direct_logits):
    """What each part adds to one logit: a map of all heads, bars of the largest parts and of the rest together."""
    names, values = shares(model, text, word, function, instead_of)
    order = np.argsort(-np.abs(values), kind="stable")
    largest, rest = order[:BARS], order[BARS:]
    heads, total = heads_of(names, values, model), float(values.sum())
    what = _logit_name(model, word, instead_of)
    bars = [*values[largest], values[rest].sum(), total]
    labels = [*(names[i] for i in largest), f"other {len(rest)} parts", "sum" if instead_of.strip() else "sum: the logit"]
    fig = paper(350, drawn={"heads": heads, "values": values, "order": order}, alt=(
        f"{what} is {show.number(total, 2)}. The largest parts: " + ", ".join(
            f"{names[i]} {show.number(values[i], 2)}" for i in largest[:4])
        + f"; all {heads.size} heads together {show.number(heads.sum(), 2)}."))
    fig.text(0.5, 1 - 14 / 350, what, ha="center", va="center", fontsize=11)
    limit = np.abs(heads).max() or 1.0
    _head_map(fig.add_axes([52 / WIDTH, 45 / 350, 200 / WIDTH, 255 / 350]), heads, "PuOr", -limit, limit)
    fig.axes[0].set_title("heads: added to the logit")
    high = max(*bars, 0)
    right = max(1.3 * high, high + 0.3 * (high - min(0, *bars))) or 1.0            # room for the number at the bar
    ax = fig.add_axes([415 / WIDTH, 45 / 350, 215 / WIDTH, 272 / 350], yticks=[], ylim=(len(bars) - 0.5, -0.5),
                      xlim=(min(0, 1.1 * min(bars)), right), xlabel="added to the logit")
    ax.spines["left"].set_visible(False)
    colours = [plot.VERMILLION if v < 0 else plot.BLUE for v in bars[:-1]] + ["0.4"]
    ax.barh(range(len(bars)), bars, color=colours, hatch=["//" if v < 0 else "" for v in bars], edgecolor="white")
    for place, (value, label) in enumerate(zip(bars, labels)):
        ax.text(max(value, 0), place, f" {value:z.2f}", va="center")
        ax.annotate(label, (0, place), (-6, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
                    ha="right", va="center")
    ax.axvline(0, color="black", linewidth=0.8)
    return fig


def _logit_name(model, word, instead_of=""):
    names = [show.token(model.tokenizer.decode([word_id(model, w)])) for w in (word, instead_of) if w.strip()]
    return "The logit of “" + "” minus that of “".join(names) + "”"


@plot.styled
def direct_and_off(model, text, word):
    """For each head: what it adds to a logit directly, and how much the logit falls when it is off."""
    names, values = shares(model, text, word)
    direct, token, ids = heads_of(names, values, model), word_id(model, word), model.encode(text)
    before = model(ids)[-1, token]
    off = np.array([before - without(model, place).next_logits(ids)[token] for place in all_heads(model)])
    off = off.reshape(direct.shape)                                                 # (L, H)
    b, h = np.unravel_index((off - direct).argmax(), off.shape)
    limit = np.abs([direct, off]).max() or 1.0
    fig, axes = _figure(2, height=270, drawn={"direct": direct, "off": off}, alt=(
        f"Block {b} head {h} adds {show.number(direct[b, h], 2)} to the logit itself; with it off, the logit falls by "
        f"{show.number(off[b, h], 2)}."))
    for ax, values, title in zip(axes, (direct, off), ("adds to the logit itself", "logit lost when it is off")):
        image = _head_map(ax, values, "PuOr", -limit, limit)
        ax.set_title(title)
    fig.colorbar(image, ax=axes, label="logit")
    return fig


def bars_without(model, text, word, places):
    """What each MLP adds to a logit, and the logit, with one head of `places` off at a time: rows of a table."""
    runs = [shares(model, text, word), *(shares(without(model, place), text, word) for place in places)]
    rows = [(name, *(values[i] for _, values in runs)) for i, name in enumerate(runs[0][0]) if name.endswith(" MLP")]
    return [*rows, ("the logit", *(values.sum() for _, values in runs))]


@lru_cache(maxsize=2)
def _run(model, length, kind, seed):
    ids = twice(model, length, seed, kind)
    trace = model.trace(ids)
    return ids, trace, position_losses(trace["logits"], ids)


@plot.styled
def head_off(model, kind, length, block, head, seed=1):
    """One head on random words said twice: its map, and the loss by position with it on and off."""
    ids, trace, on = _run(model, length, kind, seed)
    off = position_losses(without(model, (block, head))(ids), ids)
    weights, at = trace[f"h.{block}.attn.pattern"][head], _named(model, ids)
    score, second = induction_score(weights, length), (_halves(on)[1], _halves(off)[1])
    fig = paper(SIZE + 350, drawn={"ids": ids, "pattern": weights, "on": on, "off": off}, alt=(
        f"Block {block}, head {head} on {length} random tokens said twice: induction score {show.number(score, 2)}; loss of "
        f"the second telling {show.number(second[0], 2)} with the head, {show.number(second[1], 2)} without it."))
    high = SIZE + 350
    fig.text(12 / WIDTH, 1 - 16 / high, f"block {block}, head {head}: score {score:.2f}; loss of the second telling "
             f"{second[0]:.2f} on, {second[1]:.2f} off", va="center", fontsize=11)
    head_map(fig, 215 + 30, at, weights, length)
    ax = fig.add_axes([60 / WIDTH, 1 - 200 / high, 560 / WIDTH, 160 / high])
    _loss_lines(ax, {"head on": on, "head off": off}, length)
    ax.set_xlabel("")
    ax.legend(frameon=False, loc="lower left", ncols=2)
    return fig
