"""config.json: every key that changes the result is honoured or refused, null means absent."""
import json
import sys

import numpy as np
import pytest

import gpt2lab
from gpt2lab.config import Config, ConfigError
from recipes import A_IDS, A_LAST, A, weights_of, write_checkpoint

TOLERANCE = 1e-5                # float32 stays 1e-6 from these; gelu and gelu_new are 1.6e-4 apart
SIZES = {key: A[key] for key in ("vocab_size", "n_positions", "n_embd", "n_layer", "n_head")}
DEFAULTS = {"n_inner": 32, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
            "scale_attn_weights": True,
            "scale_attn_by_inverse_layer_idx": False, "tie_word_embeddings": True,
            "bos_token_id": 50256, "eos_token_id": 50256}

pytestmark = pytest.mark.filterwarnings("error")


def refused(values, *parts):
    """from_dict refuses this with one sentence in which all the parts occur."""
    with pytest.raises(ConfigError) as caught:
        Config.from_dict(values)
    sentence = str(caught.value)
    assert "\n" not in sentence and len(sentence) < 250
    for part in parts:
        assert part in sentence, sentence


def last_row(folder, config):
    return gpt2lab.load(write_checkpoint(folder, config, weights_of(A)))(A_IDS)[-1]


# --- honoured -------------------------------------------------------------------------------------

@pytest.mark.parametrize("config", [
    SIZES, SIZES | dict.fromkeys(DEFAULTS), SIZES | DEFAULTS, A,
    {("n_ctx" if key == "n_positions" else key): value for key, value in SIZES.items()},
    SIZES | {"n_positions": None, "n_ctx": 12}, SIZES | {"n_ctx": None},
    {"vocab_size": 13, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
     "max_position_embeddings": 12},
    SIZES | {"num_attention_heads": 2, "model_type": None, "add_cross_attention": False,
             "pruned_heads": {}},
    SIZES | {"reorder_and_upcast_attn": True, "attn_pdrop": 0.1, "use_cache": False,
             "summary_type": "cls_index"}],
    ids=["sizes", "null", "defaults", "A", "n_ctx", "null and n_ctx", "null n_ctx", "other names",
         "harmless", "unknown"])
def test_absent_and_null_keys_take_the_defaults(tmp_path, config):
    found = Config.from_dict(config)
    assert {key: getattr(found, key) for key in SIZES} == SIZES
    if config is not A:
        assert {key: getattr(found, key) for key in DEFAULTS} == DEFAULTS
    assert np.abs(last_row(tmp_path, config) - A_LAST).max() < TOLERANCE


# Last row after A_IDS, computed as A_LAST: checkpoint A of recipes.py loaded by transformers 5.24.0
# with GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64).
VARIANTS = [
    ({"activation_function": "relu"}, [2.199589, 0.977844, 0.581156, 0.785141, 1.916069, 0.288201,
                                       -2.592497,
                                       2.324696, -1.394697, 0.548646, 2.409008, 0.960835,
                                       0.668543]),
    ({"activation_function": "gelu"}, [2.153779, 1.022804, 0.503960, 0.776904, 2.012133, 0.274708,
                                       -2.544796,
                                       2.316821, -1.446554, 0.630975, 2.413309, 1.050243,
                                       0.661054]),
    ({"scale_attn_weights": False}, [2.042628, 0.817020, 0.352389, 0.845440, 2.140787, -0.256016,
                                     -2.252189,
                                     2.030896, -1.093160, 0.584065, 2.447782, 1.264319, 0.696878]),
    ({"scale_attn_by_inverse_layer_idx": True}, [2.188869, 1.018344, 0.594962, 0.791985, 1.926406,
                                                 0.286320, -2.611131,
                                                 2.342741, -1.422463, 0.576758, 2.402724, 0.928749,
                                                 0.663120]),
    ({"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True},
     [2.104903, 0.879933, 0.437767, 0.823062, 2.065697, -0.127675, -2.332960, 2.132823, -1.151240,
      0.536149,
      2.445014, 1.178665, 0.670066])]


@pytest.mark.parametrize("keys, expected", VARIANTS, ids=[" ".join(keys) + str(list(keys.values()))
                                                          for keys, _ in VARIANTS])
def test_a_key_that_changes_the_result_is_honoured(tmp_path, keys, expected):
    model = gpt2lab.load(write_checkpoint(tmp_path, A | keys))
    assert np.abs(model(A_IDS)[-1] - expected).max() < TOLERANCE
    cache = gpt2lab.KVCache(model.config)
    model(A_IDS[:3], cache=cache)
    assert np.abs(model(A_IDS[3:], cache=cache)[-1] - expected).max() < TOLERANCE
    # ignoring the key would be seen:
    assert np.abs(np.subtract(expected, A_LAST)).max() > 10 * TOLERANCE


def test_epsilon_is_honoured_in_every_norm(tmp_path):
    model = gpt2lab.load(write_checkpoint(tmp_path, A | {"layer_norm_epsilon": 0.5}))
    arrays = model.trace(A_IDS)
    for before, norm in (("h.0.resid_pre", "h.0.ln_1"), ("h.1.resid_mid", "h.1.ln_2"),
                         ("h.1.resid_post", "ln_f")):
        x = arrays[before].astype(np.float64)
        normed = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 0.5)
        right = normed * model.weights[norm + ".weight"] + model.weights[norm + ".bias"]
        assert np.abs(arrays[norm] - right).max() < TOLERANCE


def test_the_end_token_of_config_json_ends_the_text(tmp_path):
    model = gpt2lab.load(write_checkpoint(tmp_path, A | {"eos_token_id": 10}))
    done = model.generate_ids([1, 5, 3], max_new_tokens=9, temperature=0)
    assert (done.ids, done.stop_reason) == ([7, 0, 2], "eos")
    done = model.generate_ids([1, 5, 3], max_new_tokens=9, temperature=0, eos_token_id=None)
    assert (done.ids, done.stop_reason) == ([7, 0, 2, 10, 4, 2, 10, 8, 10], "max_new_tokens")


def test_n_inner_need_not_be_four_times_the_width():
    assert Config.from_dict(A | {"n_inner": 5}).n_inner == 5
    assert Config.from_dict(A).n_inner == 32


# --- refused --------------------------------------------------------------------------------------

@pytest.mark.parametrize("key", SIZES)
@pytest.mark.parametrize("wrong", [0, -1, 2.0, 8.5, "8", True, False, [8], {}, float("nan"),
                                   float("inf")], ids=repr)
def test_a_size_is_a_whole_number_of_at_least_one(key, wrong):
    refused(SIZES | {key: wrong}, key, "whole number of at least 1", repr(wrong))


@pytest.mark.parametrize("key", SIZES)
def test_a_size_that_is_missing_is_named(key):
    refused({other: value for other, value in SIZES.items() if other != key}, f"lacks {key}")
    refused(SIZES | {key: None}, f"lacks {key}")


@pytest.mark.parametrize("keys, parts", [
    ({"n_head": 3}, ["n_embd = 8", "n_head = 3", "not divisible"]),
    ({"n_head": 16}, ["n_embd = 8", "n_head = 16"]),
    ({"n_inner": 0}, ["n_inner", "at least 1"]), ({"n_inner": True}, ["n_inner", "True"]),
    ({"n_inner": 32.0}, ["n_inner"]),
    ({"activation_function": "swish"}, ["activation_function", "'swish'", "gelu_new"]),
    ({"activation_function": "GELU_NEW"}, ["activation_function"]),
    ({"activation_function": ["relu"]}, ["activation_function"]),
    ({"activation_function": ""}, ["activation_function", "''"]),
    ({"layer_norm_epsilon": 0}, ["layer_norm_epsilon", "above 0"]),
    ({"layer_norm_epsilon": -1e-5}, ["layer_norm_epsilon"]),
    ({"layer_norm_epsilon": float("nan")}, ["layer_norm_epsilon", "nan"]),
    ({"layer_norm_epsilon": float("inf")}, ["inf"]),
    ({"layer_norm_epsilon": "1e-5"}, ["layer_norm_epsilon"]),
    ({"layer_norm_epsilon": True}, ["layer_norm_epsilon", "True"]),
    ({"scale_attn_weights": 1}, ["scale_attn_weights", "true or false"]),
    ({"scale_attn_weights": "false"}, ["'false'"]),
    ({"scale_attn_by_inverse_layer_idx": 0}, ["scale_attn_by_inverse_layer_idx"]),
    ({"tie_word_embeddings": "no"}, ["tie_word_embeddings"]),
    ({"eos_token_id": -1}, ["eos_token_id", "-1"]), ({"eos_token_id": [12]},
                                                     ["eos_token_id", "[12]"]),
    ({"bos_token_id": True}, ["bos_token_id"]), ({"eos_token_id": 12.0}, ["eos_token_id"]),
    ({"model_type": "gpt_neo"}, ["model_type", "'gpt_neo'", "gpt2"]),
    ({"model_type": "gpt_bigcode"}, ["'gpt_bigcode'"]),
    ({"model_type": "GPT2"}, ["'GPT2'"]), ({"model_type": ""}, ["model_type"]),
    ({"model_type": 2}, ["model_type"]), ({"model_type": "x" * 1000}, ["model_type", "'xxx"]),
    ({"add_cross_attention": True}, ["add_cross_attention"]),
    ({"is_encoder_decoder": True}, ["is_encoder_decoder"]),
    ({"pruned_heads": {"0": [1]}}, ["pruned_heads"]), ({"quantization_config": {"bits": 8}},
                                                       ["quantization_config"]),
    ({"num_attention_heads": 4}, ["num_attention_heads", "n_head = 2", "4"]),
    ({"hidden_size": 16}, ["hidden_size", "n_embd = 8"])], ids=str)
def test_what_is_not_computed_exactly_is_refused(keys, parts):
    refused(A | keys, *parts)


@pytest.mark.parametrize("epsilon", [sys.float_info.max, int(sys.float_info.max), 5e-324, 1])
def test_every_finite_number_above_0_is_an_epsilon(epsilon):
    assert Config.from_dict(A | {"layer_norm_epsilon": epsilon}).layer_norm_epsilon == epsilon


def test_an_epsilon_beyond_all_floats_is_refused():
    with pytest.raises(ConfigError, match="layer_norm_epsilon"):
        Config.from_dict(A | {"layer_norm_epsilon": 10 ** 400})


@pytest.mark.parametrize("values", [[], "gpt2", 3, None, True], ids=repr)
def test_config_json_holds_an_object(values):
    refused(values, "one JSON object", type(values).__name__)


@pytest.mark.parametrize("text", [
    b"", b"{", b"not json", b"\xff\xfe", b"[]", b'{"n_embd": 8,}', b"[" * 100_000, b"1" * 5000,
    b'{"model_type": "bert", "hidden_size": 8}', b"version https://git-lfs.github.com/spec/v1\n"],
    ids=["empty", "cut", "text", "utf-16", "list", "comma", "deep", "long number", "bert", "lfs"])
def test_a_wrong_file_is_named(tmp_path, text):
    (tmp_path / "config.json").write_bytes(text)
    with pytest.raises(ConfigError) as caught:
        gpt2lab.load(tmp_path)
    assert str(tmp_path / "config.json") in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", "-0.0", "1e-400"])
def test_numbers_of_json_that_are_no_epsilon(tmp_path, number):
    text = json.dumps(A).replace("1e-05", number)
    assert number in text
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ConfigError, match="layer_norm_epsilon"):
        Config.from_file(tmp_path / "config.json")


def test_a_config_cannot_be_changed_behind_the_checks():
    with pytest.raises(AttributeError):
        Config.from_dict(A).n_head = 3
    with pytest.raises(ConfigError, match="not divisible"):
        Config(vocab_size=13, n_positions=12, n_embd=8, n_layer=2, n_head=3)
