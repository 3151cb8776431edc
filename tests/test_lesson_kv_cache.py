"""Lesson 12: the pictures draw the cache of the model, and the counts are counts."""
import numpy as np
import pytest

from cells import ran
from drawing import two_lines
from gpt2lab import Ops, load
from gpt2lab.inside import multiplications
from gpt2lab.teach import compare, gallery, mine, plot, writes
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.exercises import exercises
from gpt2lab.teach.exercises.kv_cache import work

LESSON = ran("12_kv_cache", "import numpy", "work_curves", "def cache_step", "play.explore")
MODEL, cache_step = LESSON["model"], LESSON["cache_step"]


def test_the_explorer_draws_what_the_pictures_above_it_draw():
    assert LESSON["explorers"] == [cache_step]


@pytest.mark.parametrize("step", [0, 1, 10, 20])
def test_cache_step_draws_the_keys_of_the_trace(step):
    text = "Once upon a time"
    fig = cache_step(text, step, block=1, head=2)
    prompt = MODEL.encode(text)
    ids = prompt + MODEL.generate_ids(prompt, max_new_tokens=step, temperature=0,
                                      eos_token_id=None).ids
    trace = MODEL.trace(ids)
    for name, key in (("keys", "h.1.attn.k"), ("values", "h.1.attn.v")):
        np.testing.assert_allclose(fig.drawn[name], trace[key][2], atol=1e-4)
    assert [ax.get_title() for ax in fig.axes[:2]] == [f"K ({len(ids)}, 32)", f"V ({len(ids)}, 32)"]
    assert f"{2 * 4 * len(ids) * 128 * 4:,} bytes" in fig.alt
    old = len(prompt) + step - 1 if step else 0
    read = two_lines(fig.alt)[1]
    assert read.startswith(f"Move {step}: rows {old} to {len(ids) - 1} of K and V are new, up to “")
    naive, cached = work(MODEL.config, len(prompt), len(ids))
    assert fig.drawn["work"].tolist() == [naive[-1], cached[-1]]
    assert plot.png(fig).startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["$$", "<b>", "\n", "🦀", "word " * 100])
def test_cache_step_takes_any_text(text):
    assert plot.png(cache_step(text, 2)).startswith(b"\x89PNG")


def test_empty_text_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="prompt is empty"):
        cache_step("", 0)


def test_work_is_the_sum_of_its_steps():
    naive, cached = work(MODEL.config, 8, 10)
    assert naive[-1] == sum(multiplications(MODEL.config, n, n) for n in (8, 9, 10))
    passes = ((8, 8), (1, 9), (1, 10))
    assert cached[-1] == sum(multiplications(MODEL.config, new, seen) for new, seen in passes)


def test_work_curves_draw_the_work():
    naive, cached = work(MODEL.config, 8, 200)
    drawn = LESSON["shown"][0].drawn
    np.testing.assert_array_equal(drawn["without"], naive / 1e9)
    np.testing.assert_array_equal(drawn["with cache"], cached / 1e9)


# --- remember, in the living model

def test_the_gallery_shows_texts_that_mistakes_write(capsys):
    """With no old rows some mistakes are right, so their logits after the prompt are the same."""
    gallery("remember", tokens=4, most=8)
    _, nothing, right, *pairs = capsys.readouterr().out.splitlines()
    rows = pairs[1::2]
    assert len(rows) == 8 and not any("[stops" in row for row in rows)
    assert nothing == "(no mistake: ours)"
    assert [i for i, row in enumerate(rows) if row.startswith("    same ")] == [0, 6, 7]
    assert all(row.startswith("    changed ") for i, row in enumerate(rows) if i not in (0, 6, 7))
    assert not any(row.endswith(", and the little") for row in rows)
    assert right.endswith(", and the little")


def test_mistakes_that_lose_rows_stop_with_a_sentence():
    lost = next(m for m in exercises()["remember"].mistakes if m.__name__ == "old_rows_lost")
    assert writes(load(ops=Ops(remember=lost))).startswith("[stops: remember: must give all keys")


def test_a_kept_remember_runs_in_the_model(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))

    def remember(old_k, old_v, k, v):
        return np.hstack([old_k, k]), np.hstack([old_v, v])
    assert "Kept" in verdict(remember)
    model = load(ops=mine())
    assert model.ops.remember.__code__.co_filename == str(tmp_path / "remember.py")
    compare(model)
    assert "agree to 4 decimals\ngreedy text: 40 of 40 tokens alike\n" == (
        capsys.readouterr().out.split(": ", 1)[1])


def test_compare_names_a_wrong_remember(capsys):
    """The logits of one pass are right: only the text, which is written with a cache, is not."""
    wrong = exercises()["remember"].mistakes[0]
    compare(load(ops=Ops(remember=wrong)))
    printed = capsys.readouterr().out
    assert "logits against the stored reference: agree" in printed and "40 of 40" not in printed
    assert "h.0.attn.remember is the first array that differs; it was made by remember" in printed
