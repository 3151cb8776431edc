"""Pictures of lesson 00: the path from a sentence to the next word, and the plan of the model."""
import numpy as np

from gpt2lab.teach import plot

from .page import GREY, INK, Page


@plot.styled
def path(tokens, ids, trace, words, best, probs):
    """Text, ids, rows, blocks, logits, probabilities, word: the arrays of one text.

    tokens, ids: the text's (T,); trace: as model.trace gives it; words, best: texts and ids of the
    six best next tokens, the best one first; probs: the probability of each token (V,).
    """
    blocks = [name for name in trace if name.endswith("resid_post")]
    rows, last_rows, logits = trace["embed"], trace[blocks[-1]], trace["logits"][-1]
    (T, D), V, L = rows.shape, len(logits), len(blocks)
    fig = plot.Figure(figsize=(6.4, 6.5), dpi=plot.DPI, layout="constrained")
    fig.few_colours = True
    fig.drawn = {"embed": rows, "stream": last_rows, "logits": logits[best],
                 "probabilities": probs[best]}
    fig.alt = ("The path from a text to its next word: ids, rows, blocks, scores, "
               "probabilities.\n"
               f"{T} tokens: ids, {T} rows of {D} numbers, the same after {L} blocks, "
               f"{T} rows of {V:,} scores; from the last row come probabilities, and the best "
               f"next token is {words[0]} with {probs[best[0]]:.0%}.")
    table, first, last, scores, chances, word = fig.subplots(
        2, 3, gridspec_kw={"height_ratios": (1.35, 1)}).flat
    table.set(title=f"1  ids\n({T},)", xlim=(0, 1), ylim=(T - 0.5, -0.5))
    for t, (token, i) in enumerate(zip(tokens, ids)):
        table.text(0.45, t, token, ha="right", va="center")
        table.text(0.55, t, str(i), ha="left", va="center", color=plot.BLUE)
    _map(first, rows, tokens, f"2  rows\n({T}, {D})")
    _map(last, last_rows, tokens, f"3  after {L} blocks\n({T}, {D})")
    _six_best(scores, words, logits[best], f"4  logits (scores)\n({T}, {V})", plot.BLUE, None)
    scores.set(xlabel=f"of row {T}: the 6 best")
    _six_best(chances, words, probs[best], f"5  probabilities\n({V},)", plot.GREEN, "//")
    chances.set(xlabel="the same 6")
    word.text(0.5, 0.6, words[0], ha="center", va="center", fontsize=22, color=plot.VERMILLION)
    word.text(0.5, 0.3, "appended to the text,\nthen again from 1", ha="center", va="center")
    word.set_title("6  next token\n")
    for ax in (table, word):
        ax.axis("off")
    return fig


def _map(ax, array, tokens, title):
    """Signed colours; the few numbers beyond the scale (two of a hundred) have its last colour."""
    limit = float(f"{np.percentile(np.abs(array), 98):.1g}") or 1.0
    image = ax.imshow(array, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
    ax.set(title=title, xlabel="column")
    ax.set_yticks(range(len(tokens)), tokens)
    bar = ax.figure.colorbar(image, ax=ax, orientation="horizontal", extend="both", aspect=12,
                             ticks=[-limit, 0, limit], pad=0.03)
    bar.ax.set_xticklabels([f"−{limit:g}", "0", f"{limit:g}"])
    bar.set_label("orange < 0 < purple")


def _six_best(ax, words, values, title, colour, hatch):
    ax.barh(range(len(words)), values, color=colour, hatch=hatch, edgecolor="white")
    ax.set(title=title, ylim=(len(words) - 0.5, -0.5))
    ax.set_yticks(range(len(words)), words)


def _percent(probability):
    return f"{probability:.0%}" if probability >= 0.01 else "less than 1%"


def next_words(words, probs, T):
    """The best next tokens after T tokens, and their probabilities (n,)."""
    return plot.bars(words, probs, "probability", "next token", height=320,
                     title=f"{T} tokens read", alt=(
                         "The best next tokens after a text, and their probabilities.\n"
                         f"After these {T} tokens the best next token is {words[0]} "
                         f"with {_percent(probs[0])}, then {words[1]}."))


@plot.styled
def plan(config, built=()):
    """The stations of a model with these sizes, and one block of it; beside each its lesson.

    built: the lessons ("01" to "13") of which the learner has built everything; their badges are
    filled.
    """
    L, H, D, F, N, V = (config.n_layer, config.n_head, config.n_embd, config.n_inner,
                        config.n_positions, config.vocab_size)
    draw = Page(height=744, built=built)
    draw.fig.drawn = {"sizes": np.array([L, H, D, F, N, V])}
    draw.fig.alt = (
        "The plan of the model: the trunk from text to token and back, and one block of it; beside "
        "each station stands the number of the lesson that builds it.\n"
        f"Text becomes tokens, tokens become rows of {D} numbers; {L} blocks, a norm and the LM "
        f"head make {V:,} scores, these become probabilities, and one token goes back to the text. "
        "In a block, norm and attention, then norm and MLP, add to a stream that runs straight "
        "through.")
    _trunk(draw, L, D, N, V)
    _one_block(draw, H, D, F)
    draw.badge(332, 720, "01", hollow=True)
    draw.words(352, 720, "a lesson,", ha="left")
    draw.badge(436, 720, "01", hollow=False)
    draw.words(456, 720, "one that you built", ha="left")
    return draw.fig


def _trunk(draw, L, D, N, V):
    x, left, right = 156, 50, 262                       # middle and edges of the boxes
    draw.words(x, 24, "The trunk", size=13, weight="bold")
    draw.box(left, 46, right, 88, "text", f"up to {N} tokens", "white")
    stations = [    # top, bottom, name, what it does, colour, lesson
        (120, 164, "tokens", "pieces, each an id", plot.VERMILLION, "03"),
        (200, 244, "embedding", "token row + place row", plot.VERMILLION, "04"),
        (280, 352, f"block × {L}", "adds to each row", plot.BLUE, "09"),
        (388, 432, "norm", "back to one scale", GREY, "05"),
        (468, 512, "LM head", "a score per token", plot.VERMILLION, "10"),
        (548, 592, "probabilities", "scores become chances", plot.VERMILLION, "11"),
        (628, 672, "one token", "drawn by its chance", plot.VERMILLION, "11")]
    flows = ["", "T ids", f"T rows of {D}", f"T rows of {D}", f"T rows of {D}",
             "last row of scores", f"{V:,} chances"]
    above = 88
    draw.wedge([(right + 4, 284), (318, 52), (318, 590), (right + 4, 350)])
    for (top, bottom, name, what, colour, lesson), flow in zip(stations, flows):
        wide = flow.startswith("T rows")
        draw.arrow((x, above), (x, top), plot.BLUE if wide else INK, 3 if wide else 1.4)
        draw.words(x + 14, (above + top) / 2, flow, ha="left", color=plot.BLUE if wide else INK)
        if "×" in name:
            for shift in (8, 4):                        # more than one: sheets behind the first
                draw.box(left + shift, top + shift, right + shift, bottom + shift, "", "", colour)
        draw.box(left, top, right, bottom, name, what, colour)
        draw.badge(right, (top + bottom) / 2, lesson)
        above = bottom + (8 if "×" in name else 0)
    draw.line([(x, 672), (x, 712), (24, 712), (24, 67)], INK, 1.4)
    draw.arrow((24, 67), (left, 67), INK, 1.4)
    draw.words(24, 390, "append it, then all again", rotation=90, background="white")
    draw.badge(24, 712, "13")


def _one_block(draw, H, D, F):
    stream, left, right = 366, 412, 606
    middle = (left + right) / 2
    draw.words(473, 24, "One block", size=13, weight="bold")
    draw.panel(318, 46, 628, 596)
    draw.words(stream + 14, 66, f"in: T rows of {D}", ha="left", color=plot.BLUE)
    draw.words(stream + 14, 578, f"out: T rows of {D}", ha="left", color=plot.BLUE)
    parts = [       # top of the norm, height of the part, its texts, its colour and lessons
        (96, 112, "attention", f"{H} heads look back\nat the rows so far", plot.GREEN,
         ("06", "07")),
        (346, 92, "MLP", f"each row alone:\n{D} → {F} → {D}", plot.PURPLE, ("08",))]
    draw.arrow((stream, 50), (stream, 592), plot.BLUE, 5)
    for top, height, name, what, colour, lessons in parts:
        under, low = top + 40 + 30, top + 40 + 30 + height
        draw.arrow((stream, top + 20), (left, top + 20), plot.BLUE, 1.8)
        draw.box(left, top, right, top + 40, "norm", "", GREY)
        draw.badge(right, top, "05")
        draw.arrow((middle, top + 40), (middle, under), plot.BLUE, 1.8)
        draw.box(left, under, right, low, name, what, colour)
        for i, lesson in enumerate(("01", *lessons)):
            draw.badge(right - 34 * (len(lessons) - i), under, lesson)
        draw.line([(middle, low), (middle, low + 28)], plot.BLUE, 1.8)
        draw.arrow((middle, low + 28), (stream + 13, low + 28), plot.BLUE, 1.8)
        draw.plus(stream, low + 28)
    draw.words(stream - 24, 320, "the residual stream", rotation=90, color=plot.BLUE)
    draw.badge(stream - 24, 226, "09")
    draw.box(318, 620, 462, 692, "weight file", "tables, blocks\nand last norm", "white")
    draw.badge(452, 620, "02")
    draw.box(484, 620, 628, 692, "KV cache", "keeps what atten-\ntion has read", "white")
    draw.badge(618, 620, "12")


@plot.styled
def stations(config, built, here, text, word):
    """The way of a text through the model, a line for the trunk and one for a block.

    built: the lessons of which the learner has built everything, their badges are filled; here:
    the lesson whose station has a thick edge; text, word: what the model read, and what it wrote.
    """
    draw = Page(height=232, built=built)
    draw.fig.few_colours = True
    draw.fig.drawn = {"blocks": np.array(config.n_layer)}
    yours = "None of them is yours yet." if not built else (
        f"Yours: what lesson{'s' * (len(built) > 1)} {', '.join(built)} built.")
    draw.fig.alt = ("The way of a text through the model; the number of a lesson is filled where "
                    f"your function runs.\n{yours} After “{text}” it writes “{word}”.")
    draw.words(16, 20, text, ha="left")
    draw.words(624, 20, word, size=12, ha="right", weight="bold", color=plot.BLUE)
    draw.panel(16, 122, 624, 222)
    draw.wedge([(268, 94), (16, 130), (624, 130), (372, 94)])
    draw.words(320, 137, "in each block")
    trunk = [(80, "tokens", plot.VERMILLION, ("03",)), (203, "embedding", plot.VERMILLION, ("04",)),
             (326, f"block × {config.n_layer}", plot.BLUE, ("09",)), (449, "norm", GREY, ("05",)),
             (572, "LM head", plot.VERMILLION, ("10",))]
    block = [(96, "norm", GREY, ("05",)), (224, "attention", plot.GREEN, ("01", "06", "07")),
             (394, "norm", GREY, ("05",)), (522, "MLP", plot.PURPLE, ("01", "08"))]
    for start, end in ((24, 300), (328, 606)):              # past each branch, and through it
        draw.line([(start, 182), (start, 212), (end, 212)], plot.BLUE, 3)
        draw.arrow((end, 212), (end, 195), plot.BLUE, 1.8)
        draw.arrow((start, 182), (end - 14, 182), plot.BLUE, 1.8)
        draw.plus(end, 182)
    draw.line([(300, 182), (328, 182)], plot.BLUE, 1.8)
    for y, parts in (70, trunk), (182, block):
        for x, name, colour, lessons in parts:
            draw.box(x - 51, y - 20, x + 51, y + 20, name, "", colour,
                     3.2 if here in lessons else 1.4)
            draw.arrow((x - 76, y), (x - 52, y), plot.BLUE, 1.8)
            for i, lesson in enumerate(lessons):
                draw.badge(x + 40 - 31 * (len(lessons) - 1 - i), y - 20, lesson)
    return draw.fig
