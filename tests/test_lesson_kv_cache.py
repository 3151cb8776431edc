"""Lesson 12: the pictures draw the cache of the model, and the counts are counts."""
import numpy as np
import pytest

import gpt2lab
from gpt2lab.teach import plot
from gpt2lab.teach.pictures import kv_cache as pictures

MODEL = gpt2lab.load()


@pytest.mark.parametrize("step", [0, 1, 10, 20])
def test_cache_step_draws_the_keys_of_the_trace(step):
    text = "Once upon a time"
    fig = pictures.cache_step(MODEL, text, step, block=1, head=2)
    ids = MODEL.encode(text)
    ids = ids + MODEL.generate_ids(ids, max_new_tokens=step, temperature=0, eos_token_id=None).ids
    trace = MODEL.trace(ids)
    for name, key in (("keys", "h.1.attn.k"), ("values", "h.1.attn.v")):
        np.testing.assert_allclose(fig.drawn[name], trace[key][2], atol=1e-4)
    assert f"{2 * 4 * len(ids) * 128 * 4:,} bytes" in fig.alt
    assert plot.png(fig).startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["$$", "<b>", "\n", "🦀", "word " * 100])
def test_cache_step_takes_any_text(text):
    assert plot.png(pictures.cache_step(MODEL, text, 2)).startswith(b"\x89PNG")


def test_empty_text_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="prompt is empty"):
        pictures.cache_step(MODEL, "", 0)


def test_multiplications_are_those_of_the_products():
    """Count the products of one real pass, by the shapes that go into each of them."""
    counted = []

    def linear(x, w, b):
        counted.append(x.shape[0] * w.size)
        return x @ w + b

    def attend(q, k, v, softmax):
        counted.append(2 * q.shape[0] * q.shape[1] * k.shape[1] * q.shape[2])
        return gpt2lab.Ops().attend(q, k, v)
    model, cache = gpt2lab.load(ops=gpt2lab.Ops(linear=linear, attend=attend)), gpt2lab.KVCache(MODEL.config)
    head = MODEL.config.vocab_size * MODEL.config.n_embd
    for new, seen in ((5, 5), (1, 6), (3, 9)):
        counted.clear()
        model.next_logits(list(range(new)), cache)
        assert sum(counted) + head == pictures.multiplications(MODEL.config, new, seen)


def test_work_is_the_sum_of_its_steps():
    naive, cached = pictures.work(MODEL.config, 8, 10)
    step = pictures.multiplications
    assert naive[-1] == sum(step(MODEL.config, n, n) for n in (8, 9, 10))
    assert cached[-1] == step(MODEL.config, 8, 8) + step(MODEL.config, 1, 9) + step(MODEL.config, 1, 10)
    np.testing.assert_array_equal(pictures.work_curves(MODEL.config, 8, 10).drawn["without"], naive / 1e9)
