"""The bonus lesson looking_inside: its pictures draw what the model computes, at 144 heads too."""
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from cells import ran
from drawing import drawn, two_lines
from gpt2lab import GPT2, Config
from gpt2lab.checkpoint import tokenizer
from gpt2lab.inside import direct_logits, first_token, position_losses, trace_of, without_heads
from gpt2lab.layernorm import layer_norm
from gpt2lab.softmax import softmax
from gpt2lab.teach import show
from gpt2lab.teach.exercises import exercises, looking_inside as lesson
from gpt2lab.teach.judging import recognise, results_of
from gpt2lab.teach.pictures import looking_inside as pictures
from recipes import weights_of

TEXTS = ["a", "$$ x_1^2 $ <b>bold</b> &amp;",
         "two\nlines\t🤗 naïve and then more than twelve tokens of text"]
STORY = "The old king saw the young queen. Then the old"


@pytest.fixture(scope="module")
def cells():
    """The lesson's cells: its pictures, and lens, contributions, head_off, which explorers draw."""
    return ran("bonus/looking_inside", "import numpy", "texts = [", "def induction_score",
               "found = ", "position=17", "curves = {", "pictures.worth", "pictures.parking",
               "gain, bias, target = ", "def lens", "def direct_logits_loops",
               "def direct_logits(", "yours(direct_logits)", "def contributions",
               "pictures.direct_and_off", "play.explore")


@pytest.fixture(scope="module")
def model(cells):
    return cells["model"]


@pytest.fixture(scope="module")
def wide(model):
    """As many blocks and heads as GPT-2 124M has."""
    sizes = {"vocab_size": 50257, "n_positions": 128, "n_embd": 48, "n_layer": 12, "n_head": 12}
    return GPT2(Config(**sizes), weights_of(sizes), model.tokenizer)


def switched_off(model, block, head):
    """The model without a head in another way than the library's: its rows of c_proj are 0."""
    name, D = f"h.{block}.attn.c_proj.weight", model.config.n_embd
    rows = model.weights[name].reshape(model.config.n_head, -1, D).copy()           # (H, Dh, D)
    rows[head] = 0
    return GPT2(model.config, {**model.weights, name: rows.reshape(D, D)}, model.tokenizer)


def shown(cells, *names):
    """The picture of a cell by the names of the arrays that are drawn."""
    return next(fig for fig in cells["shown"] if set(names) <= set(fig.drawn))


def test_the_explorers_draw_what_the_pictures_above_them_draw(cells):
    assert cells["explorers"] == [cells[name] for name in ("lens", "contributions", "head_off")]


def test_a_model_of_single_bytes():
    sizes = {"vocab_size": 256, "n_positions": 64, "n_embd": 8, "n_layer": 1, "n_head": 2}
    small = GPT2(Config(**sizes), weights_of(sizes), tokenizer(256))
    assert [lesson.word_id(small, word) for word in ("king", " queen ")] == small.encode("kq")
    assert lesson.shares(small, STORY, "king", instead_of="queen")
    lengths = np.linalg.norm(small.weights["wte.weight"], axis=-1)
    assert set(lesson.pool(small)) == set(np.argsort(lengths)[:25])


def test_random_tokens_are_said_twice_and_come_from_the_short_rows(model):
    lengths = np.linalg.norm(model.weights["wte.weight"].astype(np.float64), axis=-1)
    ids = lesson.twice(model, 30, seed=3)
    assert list(ids[:30]) == list(ids[30:]) and len(set(ids)) > 25
    assert lengths[ids].max() <= np.sort(lengths)[lesson.COMMON - 1]
    anything = lesson.twice(model, 30, 3, lesson.KINDS[2])
    assert list(anything[:30]) == list(anything[30:])
    assert lengths[anything].max() > lengths[ids].max()
    met = model.weights["wte.weight"][lesson.pool(model, lesson.KINDS[1])]
    assert len(met) + 20888 == len(lengths)
    assert len({row.tobytes() for row in met}) == len(met)      # each has its own row
    assert list(lesson.twice(model, 30, 4)) != list(ids)


def test_other_tokens_may_stand_in_front(model):
    ids = lesson.twice(model, 5, seed=1, before=3)
    assert len(ids) == 13 and list(ids[3:8]) == list(ids[8:])
    assert list(ids[:8]) == list(lesson.twice(model, 8, 1)[:8])
    p = model.trace(ids)["h.1.attn.pattern"][1]
    wanted = np.mean([p[t, t - 4] for t in range(8, 13)])
    score = lesson.induction_scores(model, [ids], 3)[0, 1, 1]
    np.testing.assert_allclose(score, wanted, rtol=1e-5)
    means = lesson.scores_by_length(model, lesson.KINDS[0], [(3, 5)], [1])
    np.testing.assert_allclose(means[0, 1, 1], wanted, rtol=1e-5)


def test_losses_are_the_models(model):
    texts = [lesson.twice(model, 6, seed) for seed in range(2)]
    wanted = np.zeros(11)
    for ids in texts:
        z = model(ids).astype(np.float64)
        wanted += [np.log(np.exp(z[t]).sum()) - z[t, ids[t + 1]] for t in range(11)]
    curve = lesson.mean_losses(model, texts)
    np.testing.assert_allclose(curve, wanted / 2, atol=1e-4)
    fig = pictures.losses({"all": curve, "twice": 2 * curve})
    np.testing.assert_array_equal(drawn(fig)["twice"], 2 * curve)
    assert f"all {curve[:5].mean():.2f} and {curve[6:].mean():.2f}; twice" in fig.alt


def test_the_cells_draw_losses_with_all_heads_and_without_one(cells, model):
    texts, arrays = cells["texts"], shown(cells, "block 1 head 1 off").drawn
    np.testing.assert_array_equal(arrays["all heads on"], lesson.mean_losses(model, texts))
    for block, head in ((1, 1), (2, 1)):
        off = lesson.mean_losses(switched_off(model, block, head), texts)
        np.testing.assert_allclose(arrays[f"block {block} head {head} off"], off, atol=1e-4)


def test_scores_are_means_of_the_trace(model):
    texts = [lesson.twice(model, 5, seed) for seed in range(2)]
    found = lesson.induction_scores(model, texts)
    for n, ids in enumerate(texts):
        p = model.trace(ids)["h.1.attn.pattern"][1]
        wanted = np.mean([p[t, t - 4] for t in range(5, 10)])
        np.testing.assert_allclose(found[n, 1, 1], wanted, rtol=1e-5)
    np.testing.assert_array_equal(drawn(pictures.scores(found))["scores"], found.mean(axis=0))


def test_heads_found_in_the_bundled_model(model):
    """What the lesson says: two heads copy, three are needed for it, one parks."""
    texts = [lesson.twice(model, 24, seed) for seed in (11, 12)]
    mean = lesson.induction_scores(model, texts).mean(axis=0)
    assert {tuple(map(int, place)) for place in np.argwhere(mean > 0.3)} == {(1, 0), (1, 1)}
    usual = lesson.mean_losses(model, texts)
    lost = {}
    for place in ((0, 1), (1, 0), (1, 1), (0, 3), (2, 1), (3, 2)):
        off = model.tapped(without_heads(model, [place]))
        lost[place] = (lesson.mean_losses(off, texts) - usual)[24:].mean()
    assert all((lost[place] > 3) == (place in ((0, 1), (1, 0), (1, 1))) for place in lost), lost
    weight, size = first_token(model.trace(model.encode(STORY)))
    for best in (weight.argmax(), size.argmin()):
        assert np.unravel_index(best, (4, 4)) == (1, 1)


@pytest.mark.parametrize("place", [(0, 1), (3, 0)])
def test_of_each_head_measures_the_model_with_that_head_switched_off(model, place):
    ids = model.encode(STORY)
    logits = lesson.of_each_head(model, lambda changed: changed(ids)[-1])           # (L, H, V)
    np.testing.assert_allclose(logits[place], switched_off(model, *place)(ids)[-1], atol=1e-4)


def test_costs_are_differences_of_mean_losses(cells, model):
    texts = [lesson.twice(model, 4, seed=5)]
    added = lesson.added_losses(model, texts)                                       # (L, H, 7)
    changed = model, switched_off(model, 2, 3)
    before, after = (position_losses(one(texts[0]), texts[0]) for one in changed)
    np.testing.assert_allclose(added[2, 3], after - before, atol=1e-4)
    arrays = drawn(pictures.worth(added))
    np.testing.assert_array_equal(arrays["first"], added[..., :3].mean(axis=-1))
    np.testing.assert_array_equal(arrays["second"], added[..., 4:].mean(axis=-1))
    added = lesson.added_losses(model, cells["texts"][:3])
    second = shown(cells, "first", "second").drawn["second"]
    np.testing.assert_allclose(second, added[..., 40:].mean(axis=-1), atol=1e-5)


def test_head_pattern_and_parking_draw_the_trace(cells, model):
    ids = lesson.twice(model, 16, seed=1)
    pattern, fig = model.trace(ids)["h.1.attn.pattern"][1], shown(cells, "pattern")
    np.testing.assert_array_equal(drawn(fig)["pattern"], pattern)
    best, words = int(pattern[17].argmax()), show.tokens(model.tokenizer, ids)
    score = np.mean([pattern[t, t - 15] for t in range(16, 32)])
    read = two_lines(fig.alt)[1]
    assert read.startswith(f"Block 1, head 1, induction score {score:.2f}. The framed row: ")
    assert f"“{show.short(words[17], 8)}” at position 17 looks most at " in fig.alt
    assert f"at position {best}, with weight {pattern[17, best]:.2f}." in fig.alt
    ids = lesson.twice(model, 5, seed=1)
    pattern = lesson.mean_pattern(model, [ids], 1, 1)
    np.testing.assert_array_equal(pattern, model.trace(ids)["h.1.attn.pattern"][1])
    arrays = drawn(pictures.parking(pattern, 1, 1))
    np.testing.assert_array_equal(arrays["first token"], pattern[1:, 0])
    followed = [pattern[t, t - 4] for t in range(5, 10)]
    np.testing.assert_array_equal(arrays["what followed last time"], followed)


def test_sink_measures_weight_and_value_of_the_first_token(cells, model):
    fig, trace = shown(cells, "weight", "size"), model.trace(cells["story_ids"])
    p, v, arrays = trace["h.2.attn.pattern"][3], trace["h.2.attn.v"][3], drawn(fig)
    lengths = np.sqrt((v ** 2).sum(axis=-1))
    np.testing.assert_allclose(arrays["weight"][2, 3], p[1:, 0].mean(), rtol=1e-5)
    np.testing.assert_allclose(arrays["size"][2, 3], lengths[0] / lengths[1:].mean(), rtol=1e-5)
    read = two_lines(fig.alt)[1]
    assert read.startswith(f"On {len(cells['story_ids'])} tokens, block 1 head 1 leaves ")
    with pytest.raises(ValueError, match="the text must have at least two tokens"):
        first_token(model.trace(model.encode("a")))


def test_the_first_token_is_changed_for_one_head_only(model):
    ids = model.encode(STORY)
    usual = model.trace(ids)
    p, v = usual["h.1.attn.pattern"][1], usual["h.1.attn.v"][1]
    cases = {"value": p @ np.concatenate([3 * v[:1], v[1:]])}
    cut = p[1:, 1:] / p[1:, 1:].sum(axis=-1, keepdims=True)
    cases["reach"] = np.concatenate([v[:1], cut @ v[1:]])
    for name, setting in (("value", 3.0), ("reach", False)):
        trace = model.tapped(lesson.first_changed(1, 1, **{name: setting})).trace(ids)
        mixed, others = trace["h.1.attn.mixed"], [0, 2, 3]
        np.testing.assert_allclose(mixed[1], cases[name], rtol=0, atol=2e-4)
        np.testing.assert_array_equal(mixed[others], usual["h.1.attn.mixed"][others])
        np.testing.assert_array_equal(trace["h.0.attn.mixed"], usual["h.0.attn.mixed"])
    unchanged = model.tapped(lesson.first_changed(1, 1))
    np.testing.assert_array_equal(unchanged(ids), model(ids))


def test_long_texts_which_attention_takes_in_pieces_are_changed_as_well(model):
    ids = np.concatenate([lesson.twice(model, 32, seed=1), [11]])   # 65: one more than a piece
    usual = model(ids)
    for tap in (lesson.first_changed(1, 1, value=16.0), lesson.first_changed(1, 1, reach=False),
                without_heads(model, [(1, 1)])):
        changed = model.tapped(tap)
        np.testing.assert_allclose(changed(ids), changed.trace(ids)["logits"], atol=1e-3)
        assert np.abs(changed(ids) - usual)[1:].max(axis=-1).min() > 1e-3


@pytest.mark.parametrize("text, back", [*zip(TEXTS, (5, 0, 11)), (TEXTS[2], 0)])
def test_lens_draws_rank_and_probability_of_the_word(cells, model, text, back):
    ids, w = model.encode(text), model.weights
    trace, T, fig = model.trace(ids), min(len(ids), lesson.ROWS), cells["lens"](text, "king", back)
    arrays, token = drawn(fig), model.encode(" king")[0]
    assert two_lines(fig.alt)[1].startswith("“·king” after “")
    assert arrays["row"] == max(T - 1 - back, 0)
    names = ["embed", *(f"h.{i}.{part}" for i in range(4) for part in ("resid_mid", "resid_post"))]
    assert arrays["rank"].shape == arrays["probability"].shape == (len(names), T)
    for s, name in list(enumerate(names))[::3]:
        x = layer_norm(trace[name][-T:], w["ln_f.weight"], w["ln_f.bias"])
        z = (x @ w["wte.weight"].T).astype(np.float64)
        np.testing.assert_array_equal(arrays["rank"][s], (z > z[:, [token]]).sum(axis=-1) + 1)
        chance = np.exp(z[:, token]) / np.exp(z).sum(axis=-1)
        np.testing.assert_allclose(arrays["probability"][s], chance, rtol=1e-3)
        assert arrays["best"][s:s + 1] == show.tokens(model.tokenizer, [z[arrays["row"]].argmax()])
    last = trace["logits"][-T:][arrays["row"]].argmax()
    assert arrays["best"][-1:] == show.tokens(model.tokenizer, [last])


def test_a_move_runs_the_model_once_a_text(cells):
    trace_of.cache_clear()
    for word, back in (("king", 0), ("queen", 3), ("king", 5)):
        cells["lens"](STORY, word, back)
        cells["contributions"](STORY, word, "fox")
    assert trace_of.cache_info().misses == 1


@pytest.mark.parametrize("text", [
    "Once upon a time there was a little girl who lived in a forest with her grandmother", STORY,
    "grandmother " * 60])
def test_no_label_of_the_lens_is_cut_off_at_the_left(cells, text):
    canvas = FigureCanvasAgg(cells["lens"](text, "king"))
    canvas.draw()
    assert (np.asarray(canvas.buffer_rgba())[:, :3, :3] == 255).all()


@pytest.mark.parametrize("text, word, other", [
    (TEXTS[0], "king", ""), (TEXTS[1], "  $x$ ", "queen"), (TEXTS[2], "king", "queen")])
def test_contributions_add_up_to_the_models_logit(cells, model, text, word, other):
    fig, logits = cells["contributions"](text, word, other), model(model.encode(text))[-1]
    first, second = (model.encode(" " + name.strip())[0] for name in (word, other or "queen"))
    wanted, arrays = logits[first] - (logits[second] if other else 0), drawn(fig)
    words = show.tokens(model.tokenizer, [first, second] if other else [first])
    what = "The logit of “" + "” minus that of “".join(words)
    assert two_lines(fig.alt)[1].startswith(f"{what}” is ")
    np.testing.assert_allclose(arrays["values"].sum(), wanted, atol=1e-4)
    heads = [[arrays["values"][1 + 6 * i + h] for h in range(4)] for i in range(4)]
    np.testing.assert_array_equal(arrays["heads"], heads)
    assert list(arrays["order"]) == list(np.argsort(-np.abs(arrays["values"]), kind="stable"))


def test_contributions_use_the_learners_function(cells, model):
    usual = cells["contributions"]("a", "king").drawn["values"]
    np.testing.assert_array_equal(usual, lesson.shares(model, "a", "king")[1])
    def double(*arguments):
        return 2 * direct_logits(*arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cells, "direct_logits", double)
        twice = cells["contributions"]("a", "king").drawn["values"]
    np.testing.assert_allclose(twice, 2 * usual)
    once, both = (np.array([row[1] for row in lesson.bars_without(
        model, "a", "king", [], function)[:-1]]) for function in (direct_logits, double))
    np.testing.assert_allclose(both, 2 * once)
    draw = np.random.default_rng(4).normal
    arguments = [draw(size=shape) for shape in ((5, 6), (6,), (6,), (6,))]
    first, *others = lesson.splits(*arguments, function=double)
    np.testing.assert_allclose(first[1], 2 * direct_logits(*arguments).sum())
    assert others == lesson.splits(*arguments)[1:]


def test_scores_use_the_learners_function(cells, model):
    def period_alone(pattern, period):
        return np.full(pattern.shape[:-2], period)
    texts = [lesson.twice(model, 5, seed) for seed in range(2)]
    assert (lesson.induction_scores(model, texts, function=period_alone) == 5).all()
    by_length = lesson.scores_by_length(model, lesson.KINDS[0], [(0, 4), (2, 6)], [1], period_alone)
    assert by_length[:, 0, 0].tolist() == [4, 6]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cells, "induction_score", lambda pattern, period: period / 2)
        fig = cells["head_off"](lesson.KINDS[0], 5, 1, 1)
    assert "induction score 2.50; " in fig.alt


@pytest.mark.parametrize("word, other", [("queen", "king"), ("zebra", "king"), ("king", "")])
def test_the_numbers_at_the_bars_are_not_cut_off(cells, word, other):
    fig = cells["contributions"](STORY, word, other)
    FigureCanvasAgg(fig)
    ends = [text.get_window_extent(fig.canvas.get_renderer()).x1
            for text in fig.axes[1].texts if text.get_ha() == "left"]
    assert len(ends) == pictures.BARS + 2 and max(ends) <= 640


def test_bars_without_a_head_are_the_changed_models_shares(model):
    *rows, last = lesson.bars_without(model, STORY, "king", [(0, 1)])
    names, values = lesson.shares(switched_off(model, 0, 1), STORY, "king")
    assert [name for name, *_ in rows] == [f"block {i} MLP" for i in range(4)]
    wanted = [values[names.index(name)] for name, *_ in rows]
    np.testing.assert_allclose([off for _, _, off in rows], wanted, atol=1e-4)
    token, ids = model.encode(" king")[0], model.encode(STORY)
    logits = [one(ids)[-1, token] for one in (model, switched_off(model, 0, 1))]
    np.testing.assert_allclose(last[1:], logits, atol=1e-4)


def test_direct_and_off_compares_with_the_model_without_the_head(cells, model):
    arrays, ids = drawn(shown(cells, "direct", "off")), model.encode(STORY)
    token = model.encode(" king")[0]
    lost = model(ids)[-1, token] - switched_off(model, 0, 1)(ids)[-1, token]
    np.testing.assert_allclose(arrays["off"][0, 1], lost, atol=1e-4)
    direct = lesson.heads_of(*lesson.shares(model, STORY, "king"), model)
    np.testing.assert_array_equal(arrays["direct"], direct)
    assert abs(arrays["direct"][0, 1]) < 0.1 and arrays["off"].argmax() == 1


@pytest.mark.parametrize("kind, length, block, head", [
    (lesson.KINDS[0], 4, 0, 2), (lesson.KINDS[1], 24, 1, 1), (lesson.KINDS[2], 32, 3, 0)])
def test_head_off_draws_losses_with_and_without(cells, model, kind, length, block, head):
    fig, ids = cells["head_off"](kind, length, block, head), lesson.twice(model, length, 1, kind)
    arrays, off = drawn(fig), switched_off(model, block, head)
    assert len(ids) == 2 * length
    np.testing.assert_array_equal(arrays["on"], position_losses(model(ids), ids))
    np.testing.assert_allclose(arrays["off"], position_losses(off(ids), ids), atol=1e-3)
    pattern = model.trace(ids)[f"h.{block}.attn.pattern"][head]
    np.testing.assert_array_equal(arrays["pattern"], pattern)
    score = np.mean([pattern[t, t - length + 1] for t in range(length, 2 * length)])
    second = [arrays[name][length:].mean() for name in ("on", "off")]
    assert f"{length} random tokens said twice: induction score {score:.2f}; " in fig.alt
    assert f"{second[0]:.2f} with the head, {second[1]:.2f} without it." in fig.alt


def test_usable_at_12_blocks_of_12_heads(cells, model, wide):
    texts = [lesson.twice(wide, 6, seed) for seed in range(2)]
    scores = drawn(pictures.scores(lesson.induction_scores(wide, texts)))["scores"]
    assert scores.shape == (12, 12)
    added = np.random.default_rng(0).normal(size=(12, 12, 7))
    assert drawn(pictures.worth(added))["second"].shape == (12, 12)
    weight, size = first_token(wide.trace(wide.encode(STORY)))
    assert drawn(pictures.sink(weight, size, 11))["weight"].shape == (12, 12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cells, "model", wide)
        fig = cells["lens"](STORY, "king")
        assert drawn(fig)["rank"].shape == (13, 11)
        arrays = drawn(cells["contributions"](STORY, "king"))
        drawn(cells["head_off"](lesson.KINDS[0], 8, 11, 11))
    assert arrays["heads"].shape == (12, 12) and len(arrays["values"]) == 1 + 12 * 14 + 1
    logit = wide(wide.encode(STORY))[-1, wide.encode(" king")[0]]
    np.testing.assert_allclose(arrays["values"].sum(), logit, atol=1e-4)


def test_what_cannot_be_read_is_refused_with_a_sentence(cells):
    with pytest.raises(ValueError, match="both words begin with the same token: there is nothing"):
        cells["contributions"](STORY, "king", " king")
    for name in ("lens", "contributions"):
        with pytest.raises(ValueError, match="the prompt is empty"):
            cells[name]("", "king")
        with pytest.raises(ValueError, match="the word is empty: give at least one letter"):
            cells[name]("a", "  ")
        with pytest.raises(ValueError, match="the context holds N = 256 tokens, got"):
            cells[name]("word " * 300, "king")


def test_loops_version_is_the_operation(cells):
    draw = np.random.default_rng(3).normal
    arguments = [draw(size=shape) for shape in ((5, 6), (6,), (6,), (6,))]
    added = cells["direct_logits_loops"](*arguments, 0.1)
    np.testing.assert_allclose(added, direct_logits(*arguments, 0.1), atol=1e-12)


def test_splits_show_the_right_one_and_five_mistakes():
    draw = np.random.default_rng(4).normal
    arguments = [draw(size=shape) for shape in ((5, 6), (6,), (6,), (6,))]
    rows, right = lesson.splits(*arguments), direct_logits(*arguments)
    names = [row[0] for row in rows]
    assert names[:2] == ["(none)", "Each part is divided by its own deviation"] and len(rows) == 6
    np.testing.assert_allclose(rows[0][1:], [right.sum(), right[0], right[4]])
    sums = [np.isclose(row[1], right.sum()) for row in rows]
    assert sums == [True, False, False, True, False, False] and not np.isclose(rows[3][2], right[0])


@pytest.mark.parametrize("chance, name", [
    (lambda z: softmax(z) + np.float32(1e-12), "added_1e-12"),
    (lambda z: np.maximum(softmax(z), np.float32(1e-7)), "added_1e-07"),
    (lambda z: np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True), "overflowing_softmax"),
    (softmax, "softmax_first")])
def test_other_ways_to_lose_large_losses_have_a_name(chance, name):
    def position_losses(logits, ids):
        return -np.log(chance(logits[:-1])[np.arange(len(ids) - 1), ids[1:]])
    exercise = exercises()["position_losses"]
    known, everywhere = recognise(exercise, *results_of(exercise, position_losses))
    assert known.__name__ == name and everywhere
