"""Pictures of lesson 08: three curves, one unit's activations, what wakes a unit and what it pushes."""
from dataclasses import replace

import numpy as np

from gpt2lab.gelu import exact_gelu, gelu
from gpt2lab.model import GPT2
from gpt2lab.teach import plot, show

# Written for this course, in the style of old children's stories.
CORPUS = (
    "Once upon a time there was a miller who had three sons and one grey cat.",
    "The old king sat upon his golden throne and wept for his lost daughter.",
    "There were two little boys who lived by themselves at the edge of the sea.",
    "She opened the door very softly and looked into the dark room.",
    "He shook his head and said that he knew nothing of the matter.",
    "\"I beg your pardon,\" said the frog; \"I did not mean to frighten you.\"",
    "\"Who are you?\" asked the child. \"I am the wind,\" answered the voice.",
    "\"Come in,\" cried the old woman, \"and warm your hands at the fire.\"",
    "The wolf ran through the forest as fast as he could, but the hare was quicker.",
    "In the morning the sun rose over the hills, and all the birds began to sing.",
    "They walked for seven days and seven nights, until they came to a great river.",
    "The princess took the ring from her finger and threw it into the well.",
    "At last the youngest brother found the key under a flat stone.",
    "\"What shall we do now?\" said the girl, and she began to cry.",
    "The giant lifted the rock with one hand and laughed so loud that the trees shook.",
    "A ship with white sails came slowly into the harbour.",
    "The captain ordered his men to lower the boat and row to the island.",
    "It was so cold that the water in the bucket was frozen.",
    "Then the witch gave her an apple, red on one side and green on the other.",
    "The mouse crept out of its hole, for it smelled the cheese.",
    "\"Do not be afraid,\" said the fairy; \"I will help you.\"",
    "He could not sleep, because he was thinking of the treasure in the cave.",
    "The donkey, the dog and the rooster agreed to travel together.",
    "After supper the grandmother told them a story about the moon.",
    "If you had listened to me, you would not have lost your way.",
    "The soldier drew his sword and stood before the gate.",
    "Her eyes were as blue as the sky, and her hair was as black as coal.",
    "The merchant counted his money twice, and then he counted it again.",
    "Nobody in the village had ever seen such a beautiful bird.",
    "The children were hungry and tired, and their shoes were full of holes.",
    "\"Oh dear!\" cried the duck, \"where are my eggs?\"",
    "The queen looked into the glass, but the glass said nothing at all.",
    "By and by the rain stopped, and they went on their way.",
    "He put the letter in his pocket and rode away upon his horse.",
    "The fox was sitting under the tree, waiting for the crow to drop the meat.",
    "\"You must never open the seventh room,\" said the master of the house.",
    "The poor tailor had nothing left but a needle and a piece of thread.",
    "When the clock struck twelve, the coach turned into a pumpkin again.",
    "The bear did not want to hurt anybody; he only wanted the honey.",
    "So they were married, and they lived happily for a great many years.",
)


class Memory:
    """The units of a model's MLPs: how awake each one is at every place of some texts, what it pushes.

    texts are read once; places holds (text, position) of each column of awake[block], (P, F).
    """

    def __init__(self, model, texts=CORPUS):
        self.model, self.texts = model, list(texts)
        self.ids = [model.encode(text) for text in self.texts]
        self.places = [(i, t) for i, ids in enumerate(self.ids) for t in range(len(ids))]
        headless = GPT2(model.config, model.weights, model.tokenizer, replace(model.ops, lm_head=lambda x, **_: x))
        traces = [headless.trace(ids) for ids in self.ids]      # the logits are not needed here
        self.awake = [np.concatenate([trace[f"h.{block}.mlp.act"] for trace in traces])
                      for block in range(model.config.n_layer)]
        wte = model.weights["wte.weight"]
        first, counts = np.unique(wte[:, 0], return_counts=True)
        shared = first[counts.argmax()] if counts.max() > 1 else np.nan
        self.known = np.flatnonzero(wte[:, 0] != shared)    # tokens that training has met: others share one row

    def wakers(self, block, unit, count=6):
        """Numbers of the places where the unit is most awake, the most first."""
        return np.argsort(-self.awake[block][:, unit], kind="stable")[:count]

    def place(self, number, before=3):
        """The text of a place: a few tokens, the one that is read in brackets."""
        text, t = self.places[number]
        return bracketed(show.tokens(self.model.tokenizer, self.ids[text]), t, before)

    def pushes(self, block, unit):
        """What one unit of activation adds to each token's logit, but for the last norm's divisor: (V,).

        The way through later blocks is left out: in the last block there is none.
        """
        w = self.model.weights
        value = w[f"h.{block}.mlp.c_proj.weight"][unit]                             # (D,)
        return w["wte.weight"] @ ((value - value.mean()) * w["ln_f.weight"])        # (V,)

    def pushed(self, block, unit, count=6):
        """Ids of the known tokens that are pushed up most, ids of those pushed down most, all pushes."""
        push = self.pushes(block, unit)
        order = self.known[np.argsort(-push[self.known], kind="stable")]
        return order[:count], order[::-1][:count], push


def bracketed(tokens, t, before=3, most=26):
    """The token at t in brackets, behind the tokens before it."""
    text = "".join(tokens[max(0, t - before):t]) + f"[{tokens[t]}]"
    return text if len(text) <= most else "…" + text[1 - most:]


@plot.styled
def along(model, text, block, unit):
    """The activation of one unit at each token of a text."""
    ids = model.encode(text)
    act = model.trace(ids)[f"h.{block}.mlp.act"][:, unit]                           # (T,)
    tokens = show.tokens(model.tokenizer, ids)
    best = np.argsort(-act, kind="stable")[:3]
    fig, (ax,) = plot.figure(height=300, drawn={"activation": act}, alt=(
        f"Activation of unit {unit} of block {block} at each of {len(ids)} tokens: it is most awake at "
        + ", ".join(f"“{tokens[t]}” ({show.number(act[t], 1)})" for t in best) + "."))
    ax.bar(range(len(act)), act, color=plot.BLUE)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(act)), tokens, rotation=90)
    ax.set(ylabel="activation of the unit", xlabel="token that was read last")
    return fig


FORMS = {"ReLU": lambda x: np.maximum(x, 0), "GELU with erf": exact_gelu, "GELU with tanh": gelu}


@plot.styled
def curves(point=None):
    """The three activations on one plot, and the difference of the two GELUs; a point may be marked."""
    x = np.linspace(-5, 5, 201)
    values = {name: form(x) for name, form in FORMS.items()}
    gap = values["GELU with tanh"] - values["GELU with erf"]
    at = {} if point is None else {name: float(form(np.array([float(point)]))[0]) for name, form in FORMS.items()}
    where = abs(x[np.abs(gap).argmax()])
    sentence = ("From a distance the two GELUs are one curve; they differ most near "
                f"x = -{where:.1f} and {where:.1f}, by {np.abs(gap).max():.4f}.")
    if at:
        sentence = f"At x = {point:.1f}: " + ", ".join(f"{name} {y:z.4f}" for name, y in at.items()) + "."
    fig, axes = plot.figure(2, height=300, alt=sentence, drawn={**values, "tanh minus erf": gap, "at the point": list(at.values())})
    for i, (name, y) in enumerate(values.items()):
        axes[0].plot(x, y, color=plot.COLOURS[i], linestyle=("-", "-", "--")[i], linewidth=(1.5, 4, 1.5)[i],
                     label=name, zorder=(3, 1, 2)[i], alpha=(1, 0.5, 1)[i])
        if at:
            axes[0].plot(point, at[name], plot.MARKERS[i], color=plot.COLOURS[i], zorder=4)
    axes[0].legend(frameon=False, loc="upper left")
    axes[0].set(xlabel="x", ylabel="activation", xlim=(-4, 4), ylim=(-0.5, 4))
    axes[1].plot(x, 1e4 * gap, color=plot.BLACK)
    if at:
        axes[1].plot(point, 1e4 * (at["GELU with tanh"] - at["GELU with erf"]), "o", color=plot.BLACK)
    for ax in axes:
        ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
    axes[1].set(xlabel="x", ylabel="difference in ten-thousandths", title="GELU with tanh minus with erf")
    return fig


@plot.styled
def units(memory, *chosen, count=5):
    """For each (block, unit): the places that wake it, and the words that it pushes up and down."""
    fig, _ = plot.figure(height=50 + len(chosen) * (62 + 23 * count))
    fig.clear()
    rows = np.atleast_2d(fig.subplots(len(chosen), 2))                              # one unit below the other
    fig.alt = " ".join(_unit(fig, pair, memory, block, unit, count) for pair, (block, unit) in zip(rows, chosen))
    return fig


@plot.styled
def unit(memory, block, unit, text="", count=7):
    """One unit: where it is most awake in the corpus and in a text of your own, what it pushes."""
    fig, axes = plot.figure(2, height=360)
    fig.alt = _unit(fig, axes, memory, block, unit, count, text)
    return fig


def _unit(fig, axes, memory, block, unit, count, text=""):
    """Two panels for one unit; fills fig.drawn and gives the sentence."""
    numbers = memory.wakers(block, unit, count)
    labels, act = [memory.place(number) for number in numbers], memory.awake[block][numbers, unit]
    key = f"block {block}, unit {unit}"
    sentence = f"Unit {unit} of block {block} is most awake at “{labels[0]}” ({show.number(act[0], 1)})"
    if text:
        ids = memory.model.encode(text)
        yours = memory.model.trace(ids)[f"h.{block}.mlp.act"][:, unit]              # (T,)
        t = int(yours.argmax())
        labels, act = [*labels, "yours: " + bracketed(show.tokens(memory.model.tokenizer, ids), t, 3, 19)], [*act, yours[t]]
        fig.drawn[key + " yours"] = yours
    up, down, push = memory.pushed(block, unit, len(labels))
    lower = round(0.4 * len(labels))                                                # how many are shown of those below
    up, down = up[:len(labels) - lower], down[:lower][::-1]
    ids = np.array([*up, *down])
    words = show.tokens(memory.model.tokenizer, ids)
    fig.drawn |= {key + " activations": np.array(act), key + " places": numbers, key + " ids": ids, key + " pushes": push[ids]}
    _bars(axes[0], labels, act, [plot.BLUE] * len(numbers) + [plot.GREEN] * (len(labels) - len(numbers)))
    axes[0].set(title=f"{key}: wakes at", xlabel="activation")
    _bars(axes[1], [word if len(word) < 16 else word[:14] + "…" for word in words], push[ids],
          [plot.BLUE if value > 0 else plot.VERMILLION for value in push[ids]])
    axes[1].axhline(len(up) - 0.5, color="0.6", linewidth=0.8, linestyle=":")
    axes[1].set(title="pushes up and down", xlabel="push on the token's logit")
    for ax in axes:
        if ax.get_subplotspec().rowspan.stop < ax.get_gridspec().nrows:
            ax.set_xlabel("")
    return sentence + f"; it pushes “{words[0]}” up most and “{words[-1]}” down most."


def _bars(ax, labels, values, colours):
    """Bars with the value at the end; those below 0 and those of your own text are hatched."""
    ax.barh(range(len(labels)), values, color=colours, edgecolor="white",
            hatch=["" if colour == plot.BLUE else "//" for colour in colours])
    span = max(max(values), 0) - min(min(values), 0) or 1
    for place, value in enumerate(values):
        ax.text(max(value, 0) + 0.02 * span, place, f"{value:z.1f}", va="center")
    ax.set_yticks(range(len(labels)), [str(label) for label in labels])
    ax.set(ylim=(len(labels) - 0.4, -0.6), xticks=[0], xlim=(min(min(values), 0) - 0.02 * span, max(max(values), 0) + 0.28 * span))
    ax.tick_params(axis="y", length=0)
