"""Training beside torch, and whole trainings: pytest -n 0 -s tests/slow/slow_training.py

Needs requirements-slow.txt, and three minutes of one core. The name keeps it out of plain `pytest`.
"""
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import numpy as official, torch as official_torch
from transformers import GPT2Config, GPT2LMHeadModel

import gpt2lab
from gpt2lab.config import Config
from gpt2lab.model import GPT2
from gpt2lab.safetensors import NUMPY, save_file
from gpt2lab.training import (
    Training,
    adam,
    cross_entropy,
    cross_entropy_back,
    gradients,
    pages_of,
    save,
    small_config,
    update,
)
from slow_against_transformers import reference, theirs

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "data" / "training-text" / "wizard-of-oz.txt"
SHAPES = {
    "one block": {}, "two blocks": {"n_layer": 2}, "one head": {"n_head": 1, "n_layer": 2},
    "heads of one number": {"n_head": 12}, "n_inner": {"n_inner": 7, "n_layer": 2},
    "epsilon": {"layer_norm_epsilon": 0.1, "n_layer": 2}, "tiny": {
        "vocab_size": 2, "n_positions": 1, "n_embd": 2, "n_head": 1},
    "the lesson's": {"vocab_size": 256, "n_positions": 128, "n_embd": 64, "n_head": 4},
    "the copying head's": {"vocab_size": 256, "n_positions": 64, "n_embd": 64, "n_layer": 2}}


def pair(seed=0, **keys):
    """The same random numbers, in float64, in our model and in that of transformers."""
    sizes = {"vocab_size": 13, "n_positions": 9, "n_embd": 12, "n_layer": 1, "n_head": 2}
    sizes |= {"bos_token_id": None, "eos_token_id": None} | keys
    other = GPT2LMHeadModel(GPT2Config(**sizes, attn_implementation="eager")).double().eval()
    generator, weights = torch.Generator().manual_seed(seed), {}
    with torch.no_grad():
        for name, values in other.named_parameters():
            noise = torch.randn(values.shape, generator=generator, dtype=torch.float64)
            values.copy_(0.3 * noise + ("ln_" in name and name.endswith("weight")))
            weights[name.removeprefix("transformer.")] = values.numpy().copy()
    return GPT2(Config.from_dict(sizes), weights), other


def autograd(other, ids):
    """Loss and {bare name: gradient} by torch."""
    other.zero_grad()
    ids = torch.tensor(ids)
    logits = other(ids[None, :-1], use_cache=False).logits[0]
    loss = torch.nn.functional.cross_entropy(logits, ids[1:])
    loss.backward()
    return loss.item(), {name.removeprefix("transformer."): values.grad.numpy().copy()
                         for name, values in other.named_parameters()}


@pytest.mark.parametrize("keys", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("length", ["one", "half", "full"])
def test_gradients_are_those_of_autograd(keys, length):
    model, other = pair(**keys)
    V, N = model.config.vocab_size, model.config.n_positions
    T = {"one": 1, "half": -(-N // 2), "full": N}[length]
    ids = np.random.default_rng(3).integers(0, V, T + 1)
    ids[-1] = ids[0]                                # an id that is read and wanted
    (loss, found), (wanted_loss, wanted) = gradients(model, ids), autograd(other, ids)
    assert abs(loss - wanted_loss) < 1e-12 * max(1, wanted_loss)
    assert found.keys() == wanted.keys()            # the tied table once, with both its gradients
    # of two numbers the norm leaves signs alone: an array may have no gradient but rounding
    most = max(np.abs(array).max() for array in wanted.values())
    worst = max(np.abs(found[name] - array).max() / max(np.abs(array).max(), 1e-4 * most)
                for name, array in wanted.items())
    print(f"T = {T}: worst difference {worst:.1e} of an array's largest gradient")
    assert worst < 1e-9


def test_the_ways_back_of_the_loss_are_those_of_autograd():
    rng = np.random.default_rng(1)
    for T, V, scale in ((1, 1, 1), (5, 3, 1), (7, 50, 20), (3, 257, 1e4)):
        logits, targets = rng.normal(0, scale, (T, V)), rng.integers(0, V, T)
        x = torch.tensor(logits, requires_grad=True)
        loss = torch.nn.functional.cross_entropy(x, torch.tensor(targets))
        loss.backward()
        assert abs(cross_entropy(logits, targets) - loss.item()) < 1e-12 * max(1, loss.item())
        assert np.abs(cross_entropy_back(logits, targets) - x.grad.numpy()).max() < 1e-15


def test_adam_and_update_are_adamw_without_decay():
    """Twenty steps: large, small, and no gradients."""
    rng, p = np.random.default_rng(2), np.random.default_rng(3).normal(size=40)
    mine, m, v, scale = p.copy(), np.zeros(40), np.zeros(40), 10.0 ** rng.integers(-7, 4, 40)
    scale[:3] = 0
    weight = torch.nn.Parameter(torch.tensor(p))
    adamw = torch.optim.AdamW([weight], lr=0.006, betas=(0.9, 0.999), eps=1e-8, weight_decay=0)
    for t in range(1, 21):
        g = rng.normal(0.3, 1, 40) * scale
        weight.grad = torch.tensor(g)
        adamw.step()
        direction, m, v = adam(g, m, v, t)
        mine = update(mine, direction, 0.006)
        assert np.abs(mine - weight.detach().numpy()).max() < 1e-12
    assert np.abs(mine - p)[3:].min() > 0.001 and np.array_equal(mine[:3], p[:3])


def test_the_official_readers_read_what_is_written(tmp_path):
    rng, tensors = np.random.default_rng(0), {}
    for name, code in NUMPY.items():
        for shape in ((), (0,), (3,), (2, 0, 3), (5, 1, 7)):
            if name != "BF16":                      # which NumPy lacks
                tensors[f"{name} {shape} \u00e4"] = (9 * rng.normal(size=shape)).astype(code)
    for some in (tensors, {}, dict(list(tensors.items())[7:8])):
        save_file(some, tmp_path / "own.safetensors")
        for read in (official, official_torch):
            found = read.load_file(tmp_path / "own.safetensors")
            assert found.keys() == some.keys()
            for name, array in some.items():
                assert np.asarray(found[name]).dtype == array.dtype, name
                assert np.asarray(found[name]).shape == array.shape, name
                assert np.asarray(found[name]).tobytes() == array.tobytes(), name


@pytest.mark.parametrize("keys", [{}, {"L": 2, "H": 2}, {"V": 50257, "N": 20, "D": 12, "H": 3}],
                         ids=str)
def test_a_saved_model_opens_in_transformers(tmp_path, keys):
    config = small_config(**keys)
    ids = np.random.default_rng(1).integers(0, config.vocab_size, config.n_positions + 1)
    training = Training(config, pages_of(ids, config.n_positions), pages=1, steps=3)
    for _ in range(3):
        training.advance()
    save(training.model, tmp_path)
    other = reference(tmp_path)                     # refuses what is missing or left over
    ours = training.model(ids[:-1])
    assert np.abs(ours - theirs(other, ids[:-1])).max() < 1e-5 and np.ptp(ours) > 0.5
    assert other.lm_head.weight is other.transformer.wte.weight
    assert (other.config.eos_token_id is None) == (config.vocab_size < 50257)
    other.save_pretrained(tmp_path / "theirs")      # and back
    again = gpt2lab.load(tmp_path / "theirs")
    assert all(np.array_equal(again.weights[name], array)
               for name, array in training.model.weights.items())


# --- whole trainings, each in a process of its own ------------------------------------------------

BEGIN = """
import json, sys, time
import numpy as np
from gpt2lab import inside
from gpt2lab.checkpoint import tokenizer
from gpt2lab.training import *
text = open(sys.argv[1], encoding="utf-8").read()
book = np.array(tokenizer(256).encode(text))
read, held_out = book[:len(book) * 9 // 10], book[len(book) * 9 // 10:]
"""


def told(code, *arguments, **environment):
    """What a script prints as JSON. One thread: for matrices as small as these, two are slower."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run([sys.executable, "-c", BEGIN + code, str(BOOK), *map(str, arguments)],
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


WHOLE = """
from gpt2lab.training import save
training, losses, begin = Training(small_config(), pages_of(read, 128)), {}, time.perf_counter()
cpu = time.process_time()
for t in range(3001):
    if t in (0, 300, 3000):
        losses[t] = held_out_loss(training.model, held_out)
    if t < 3000:
        training.advance()
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
save(training.model, sys.argv[2])
pieces = [training.model.generate("The ", max_new_tokens=125, temperature=0.7, seed=seed)
          for seed in range(16)]
print(json.dumps([losses, seconds, cpu, pieces]))
"""


def words_of(text):
    return re.findall("[a-z]+(?:'[a-z]+)?", text.lower())


def test_the_whole_training_of_the_lesson(tmp_path):
    """From noise over pairs of letters to words; the file is a GPT-2 for everyone."""
    losses, seconds, cpu, pieces = told(WHOLE, tmp_path)
    print(f"\n3,000 steps in {seconds:.0f} s ({cpu:.0f} s of one core); held-out loss {losses}")
    written = [word for piece in pieces for word in words_of(piece)[:-1]]   # the last may be cut
    known = set(words_of(BOOK.read_text(encoding="utf-8")))
    share = np.mean([word in known for word in written])
    print(f"{share:.0%} of {len(written)} words stand in the book: {pieces[0]!r}")
    assert sum(map(len, pieces)) >= 2000 - 16 and len(written) > 300
    assert 5.4 < losses["0"] < 5.9              # log(256) is 5.55
    assert 2.2 < losses["300"] < 2.45           # what the letter before tells is 2.3
    assert 1.35 < losses["3000"] < 1.50
    assert share >= 0.80
    ids = np.random.default_rng(1).integers(0, 256, 128)
    assert np.abs(gpt2lab.load(tmp_path)(ids) - theirs(reference(tmp_path), ids)).max() < 1e-4


SHORT = """
from numpy._core._multiarray_umath import __cpu_features__ as features
training = Training(small_config(), pages_of(read, 128), steps=150, seed=int(sys.argv[2]))
for _ in range(150):
    training.advance()
last = float(np.mean(training.losses[-10:]))
print(json.dumps([features.get("X86_V3", features.get("AVX2")), training.losses[0],
                  training.losses[-1], last, held_out_loss(training.model, held_out)]))
"""
SETTINGS = [{}, {"OPENBLAS_CORETYPE": "Haswell"},
            {"OPENBLAS_CORETYPE": "Nehalem",
             "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"}]


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"),
                    reason="the settings are those of Intel's and AMD's processors")
@pytest.mark.parametrize("seed", [0, 1])
def test_a_training_is_the_same_on_older_processors(seed):
    """Their sums differ in the last bits; after 150 steps the losses do not show it."""
    (avx2, *new), (_, *middle), (off, *old) = (told(SHORT, seed, **keys) for keys in SETTINGS)
    apart = np.ptp([new, middle, old], axis=0)
    print(f"\nlosses {np.round(new, 4).tolist()}, apart by {np.round(apart, 6).tolist()}")
    assert not off and (apart.max() > 0 or not avx2)        # the settings have been heard
    assert apart.max() < 0.01
    assert 2.3 < new[3] < 2.6


COPYING = """
letters = np.array(tokenizer(256).encode("abcdefghijklmnopqrstuvwxyz"))
training = Training(small_config(N=32, L=2, H=2), pages_and_repeats(book, 32, letters), steps=2000,
                    rate=0.004, pages=8, seed=int(sys.argv[2]))
rng, begin, cpu = np.random.default_rng(99), time.perf_counter(), time.process_time()
told = [np.tile(rng.permutation(letters)[:16], 2) for _ in range(40)]


def measured():
    losses, followed, before = [], [], []
    for ids in told:
        arrays = training.model.trace(ids)
        patterns = inside.patterns_of(arrays)
        losses.append(inside.position_losses(arrays["logits"], ids))
        followed.append(inside.what_followed(patterns, ids))
        before.append(inside.previous_word(patterns))
    losses = np.mean(losses, axis=0)
    return (float(losses[:15].mean()), float(losses[16:].mean()),
            np.mean(followed, axis=0).tolist(), np.mean(before, axis=0).tolist())


found = {0: measured()}
for t in range(1, 2001):
    training.advance()
    if t % 250 == 0:
        found[t] = measured()
print(json.dumps([found, time.perf_counter() - begin, time.process_time() - cpu]))
"""


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_copying_head_is_born(seed):
    """Late and at once: a head of block 1 finds what followed last time, by the letter before it.

    Two tellings of 16 letters; the first of the second telling can be known by nobody.
    """
    found, seconds, cpu = told(COPYING, seed)
    print(f"\nseed {seed}: 2,000 steps in {seconds:.0f} s ({cpu:.0f} s of one core)")
    for t, (first, second, followed, before) in found.items():
        print(f"{t:>5}  first telling {first:.2f}, second {second:.2f}, heads on what followed "
              f"{np.round(followed, 2).tolist()}, on the one before {np.round(before, 2).tolist()}")
    first, second, followed, before = found["2000"]
    assert first > 3 and second < 0.3           # log(26) is 3.26: what is new stays a surprise
    assert np.max(followed[1]) >= 0.6 > 0.2 > np.max(followed[0])
    assert np.max(before[0]) >= 0.4             # the other half of the copier
    assert found["500"][1] > 3 and np.max(found["500"][2]) < 0.2
