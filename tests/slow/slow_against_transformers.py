"""Side by side with transformers, live: pytest tests/slow/slow_against_transformers.py

Needs requirements-slow.txt. The name keeps it out of plain `pytest`.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model

import gpt2lab
from recipes import PROMPTS, write_124m

TESTS = Path(__file__).resolve().parent.parent
TOLERANCE = 1e-4
BUNDLED = TESTS.parent / "data" / "gpt2-tiny"
SIZES = {"vocab_size": 101, "n_positions": 40, "n_embd": 24, "n_layer": 3, "n_head": 4,
         "bos_token_id": 0, "eos_token_id": 0}


def reference(folder):
    """The model of transformers, computing in float32 whatever the file holds."""
    model, report = GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager",
                                                    dtype=torch.float32,
                                                    output_loading_info=True)
    wrong = {kind: names for kind, names in report.items() if names}
    assert not wrong, wrong
    return model.eval()


def theirs(model, ids, keep=0):
    with torch.no_grad():
        return model(torch.tensor([list(ids)]), use_cache=False,
                     logits_to_keep=keep).logits[0].numpy()


def their_greedy(model, ids, count):
    ids = torch.tensor([list(ids)])
    model.generation_config.eos_token_id = None         # both write on to the limit
    return model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count,
                          do_sample=False,
                          pad_token_id=0)[0, ids.shape[1]:].tolist()


def our_greedy(model, ids, count):
    return model.generate_ids(ids, max_new_tokens=count, eos_token_id=None, temperature=0).ids


def assert_same(ours, expected, note):
    assert ours.dtype == np.float32 and ours.shape == expected.shape
    largest = np.abs(ours - expected).max()
    print(f"{note}: largest difference {largest:.2g} of logits up to {np.abs(expected).max():.3g}")
    assert largest <= TOLERANCE
    assert np.array_equal(ours.argmax(axis=-1), expected.argmax(axis=-1))


@pytest.fixture(scope="module")
def bundled():
    return gpt2lab.load(), reference(BUNDLED)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_bundled_model(bundled, prompt):
    model, other = bundled
    ids = model.tokenizer.encode(PROMPTS[prompt])[:model.config.n_positions]
    assert_same(model(ids), theirs(other, ids), prompt)
    count = min(40, model.config.n_positions - len(ids))
    if count:
        assert our_greedy(model, ids, count) == their_greedy(other, ids, count)


def filled(kind, seed=0, **keys):
    """A random model of transformers; its own start has zeros and ones, which hide faults."""
    model = kind(GPT2Config(**SIZES | keys))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, values in model.named_parameters():
            noise = torch.randn(values.shape, generator=generator)
            values.copy_(1 + 0.3 * noise if "ln_" in name
                         and name.endswith("weight") else 0.3 * noise)
    return model


VARIANTS = {
    "plain": {}, "unscaled": {"scale_attn_weights": False},
    "scaled by layer": {"scale_attn_by_inverse_layer_idx": True},
    "unscaled but by layer": {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True},
    "upcast": {"reorder_and_upcast_attn": True}, "gelu": {"activation_function": "gelu"},
    "relu": {"activation_function": "relu"},
    "n_inner": {"n_inner": 50}, "epsilon": {"layer_norm_epsilon": 0.1},
    "untied": {"tie_word_embeddings": False},
    "one head": {"n_head": 1}, "heads of one number": {"n_head": 24}, "one block": {"n_layer": 1},
    "all": {"scale_attn_by_inverse_layer_idx": True, "activation_function": "relu", "n_inner": 7,
            "n_head": 3,
            "layer_norm_epsilon": 1e-3, "tie_word_embeddings": False}}


def assert_folder_is_the_same(folder, note):
    model, other = gpt2lab.load(folder), reference(folder)
    N, V = model.config.n_positions, model.config.vocab_size
    ids = np.random.default_rng(1).integers(0, V, N)
    expected = theirs(other, ids)
    assert_same(model(ids), expected, note)
    assert np.ptp(expected) > 1             # a reference of almost equal logits would show little
    cache = gpt2lab.KVCache(model.config)
    cached = [model(ids[i:i + 7], cache=cache) for i in range(0, N, 7)]
    assert_same(np.concatenate(cached), expected, note + ", cached")
    assert our_greedy(model, ids[:5], N - 5) == their_greedy(other, ids[:5], N - 5)


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_saved_by_transformers(tmp_path, name):
    filled(GPT2LMHeadModel, **VARIANTS[name]).save_pretrained(tmp_path)
    assert_folder_is_the_same(tmp_path, name)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("keys", [{}, {"tie_word_embeddings": False}], ids=["tied", "untied"])
def test_other_dtypes(tmp_path, dtype, keys):
    filled(GPT2LMHeadModel, **keys).to(dtype).save_pretrained(tmp_path)
    assert_folder_is_the_same(tmp_path, str(dtype))


@pytest.mark.parametrize("kind, prefix", [(GPT2LMHeadModel, "transformer."), (GPT2Model, "")])
@pytest.mark.parametrize("size", ["20KB", "1GB"])
def test_prefix_and_shards(tmp_path, kind, prefix, size):
    filled(kind).save_pretrained(tmp_path, max_shard_size=size)
    files = sorted(tmp_path.glob("*.safetensors"))
    indexed = (tmp_path / "model.safetensors.index.json").is_file()
    assert (len(files) > 2) == indexed == (size == "20KB")
    assert all(name.startswith(prefix) and ("transformer." in name) == bool(prefix)
               for file in files for name in gpt2lab.safetensors.open_file(file))
    assert_folder_is_the_same(tmp_path, f"{kind.__name__} in {len(files)} files")


def test_a_model_of_the_shape_of_124m(tmp_path):
    model, other = gpt2lab.load(write_124m(tmp_path)), reference(tmp_path)
    assert sum(array.size for array in model.weights.values()) == 124_439_808
    ids = np.random.default_rng(7).integers(0, 50257, 1024)
    assert_same(model(ids[:64]), theirs(other, ids[:64]), "124M, 64 tokens")
    assert_same(model.next_logits(ids)[None], theirs(other, ids, keep=1), "124M, position 1024")
    assert our_greedy(model, ids[:64], 24) == their_greedy(other, ids[:64], 24)
    done = model.generate_ids(ids[:1020], max_new_tokens=40, eos_token_id=None, temperature=0)
    assert (done.ids[:4], done.stop_reason) == (their_greedy(other, ids[:1020], 4), "context_full")
    assert len(done.ids) == 5


def test_the_stored_reference_can_be_made_again():
    done = subprocess.run([sys.executable, str(TESTS / "golden" / "make_golden.py"), "--check"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
