"""Loading: each parameter from exactly one tensor of exactly the right shape, or nothing at all."""
import json
import time

import numpy as np
import pytest

import gpt2lab
from gpt2lab.checkpoint import CheckpointError
from gpt2lab.config import Config
from recipes import (
    A_FIRST_FOUR,
    A_IDS,
    A_LAST,
    A_PARAMETERS,
    A,
    values_of,
    weights_of,
    write_checkpoint,
    write_safetensors,
    write_shards,
)

TOLERANCE = 1e-5                # float32 stays 1e-6 from the stored numbers of float64
INDEX = "model.safetensors.index.json"
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"

pytestmark = pytest.mark.filterwarnings("error")


def assert_is_a(model, exact=False):
    """The model is checkpoint A: its logits, its number of parameters, float32, read-only."""
    logits = model(A_IDS)
    assert logits.dtype == np.float32
    assert np.abs(logits[:, :4] - A_FIRST_FOUR).max() < TOLERANCE
    assert np.abs(logits[-1] - A_LAST).max() < TOLERANCE
    assert sum(array.size for array in model.weights.values()) == A_PARAMETERS
    for name, array in weights_of(A).items():
        assert np.array_equal(model.weights[name], array)
        assert not model.weights[name].flags.writeable
    assert model.weights.keys() == weights_of(A).keys()


def refused(folder, *parts, error=CheckpointError):
    """load refuses the folder at once, with one sentence in which all the parts occur."""
    begin = time.perf_counter()
    with pytest.raises(error) as caught:
        gpt2lab.load(folder)
    assert isinstance(caught.value, ValueError) and time.perf_counter() - begin < 1
    sentence = str(caught.value)
    assert "\n" not in sentence and len(sentence.replace(str(folder), "")) < 250, sentence
    for part in parts:
        assert part in sentence, sentence


def changed(**arrays):
    """Tensors of A with some exchanged; dots are written as __, None removes the tensor."""
    tensors = weights_of(A) | {name.replace("__", "."): array for name, array in arrays.items()}
    return {name: array for name, array in tensors.items() if array is not None}


# --- names ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_with_and_without_the_prefix(tmp_path, prefix):
    assert_is_a(gpt2lab.load(write_checkpoint(tmp_path, prefix=prefix)))
    assert_is_a(gpt2lab.load(str(tmp_path)))


@pytest.mark.parametrize("twice", ["wte.weight", "h.1.attn.c_proj.bias", "lm_head.weight",
                                   "h.0.attn.bias"])
def test_one_tensor_under_both_names_is_refused(tmp_path, twice):
    array = values_of("wte.weight", (13, 8))
    tensors = {twice: array} | weights_of(A)
    refused(write_checkpoint(tmp_path, tensors=tensors | {"transformer." + twice: tensors[twice]}),
            twice, "twice")


@pytest.mark.parametrize("name", ["transformer.transformer.wte.weight", "model.wte.weight",
                                  "wte.weight.", "WTE.weight"])
def test_other_spellings_are_no_names(tmp_path, name):
    tensors = weights_of(A)
    refused(write_checkpoint(tmp_path, tensors=tensors | {name: tensors["wte.weight"]}),
            name.removeprefix("transformer."))
    refused(write_checkpoint(tmp_path, tensors=changed(wte__weight=None)
                             | {name: tensors["wte.weight"]}), "wte.weight", "missing")


@pytest.mark.parametrize("prefix", ["", "transformer."])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.bool_])
def test_mask_buffers_are_no_parameters(tmp_path, dtype, prefix):
    buffers = {f"h.{i}.attn.bias": np.tril(np.ones((1, 1, 12, 12))).astype(dtype) for i in range(2)}
    buffers |= {"h.0.attn.masked_bias": np.array(-10000.0, np.float32)}
    assert_is_a(gpt2lab.load(write_checkpoint(tmp_path, tensors=buffers | weights_of(A),
                                              prefix=prefix)))


@pytest.mark.parametrize("extra", ["h.0.attn.bias2", "h.0.mlp.bias", "h.x.attn.bias", "attn.bias",
                                   "h.0.attn.masked_bias.weight",
                                   "h.2.ln_1.weight", "score.weight",
                                   "h.0.crossattention.c_attn.weight", "lm_head.bias", ""])
def test_a_tensor_that_is_no_part_of_the_model_is_refused(tmp_path, extra):
    refused(write_checkpoint(tmp_path, tensors=weights_of(A) | {extra: np.zeros(8, np.float32)}),
            f"tensor {extra} is no part")


@pytest.mark.parametrize("name", list(weights_of(A)))
def test_every_single_tensor_is_needed(tmp_path, name):
    refused(write_checkpoint(tmp_path, tensors=changed(**{name: None})), f"tensor {name} ",
            "missing", str(weights_of(A)[name].shape))


@pytest.mark.parametrize("name", list(weights_of(A)))
def test_every_shape_is_checked(tmp_path, name):
    array = weights_of(A)[name]
    for wrong in (array[:-1], array[None], np.concatenate([array, array[:1]])):
        refused(write_checkpoint(tmp_path, tensors=changed(**{name: wrong.copy()})), name,
                str(wrong.shape), str(array.shape))


@pytest.mark.parametrize("name", ["attn.c_attn", "mlp.c_fc", "mlp.c_proj"])
def test_weights_the_other_way_round_are_refused_where_the_shape_shows_it(tmp_path, name):
    name = f"h.1.{name}.weight"
    refused(write_checkpoint(tmp_path, tensors=changed(**{name: weights_of(A)[name].T.copy()})),
            name, "shape")


def test_weights_are_in_times_out(tmp_path):
    turned = {f"h.{i}.attn.c_proj.weight": weights_of(A)[f"h.{i}.attn.c_proj.weight"].T.copy()
              for i in range(2)}
    model = gpt2lab.load(write_checkpoint(tmp_path, tensors=changed(**turned)))
    assert np.abs(model(A_IDS)[-1] - A_LAST).max() > 0.1      # the shape of a square cannot tell


@pytest.mark.parametrize("keys, parts", [
    ({"n_embd": 16}, ["wte.weight", "(13, 8)", "(13, 16)"]),
    ({"n_layer": 3}, ["h.2.ln_1.weight", "missing"]),
    ({"n_layer": 1}, ["h.1.", "no part"]), ({"n_layer": 10 ** 12}, ["h.2.ln_1.weight", "missing"]),
    ({"vocab_size": 14}, ["wte.weight", "(13, 8)", "(14, 8)"]),
    ({"vocab_size": 10 ** 30}, ["wte.weight"]),
    ({"n_positions": 11}, ["wpe.weight", "(12, 8)", "(11, 8)"]),
    ({"n_inner": 31}, ["h.0.mlp.c_fc.weight", "(8, 31)"])], ids=str)
def test_sizes_of_config_json_and_of_the_file_must_agree(tmp_path, keys, parts):
    refused(write_checkpoint(tmp_path, A | keys, weights_of(A)), *parts)


def test_heads_that_do_not_divide_the_width_are_refused(tmp_path):
    refused(write_checkpoint(tmp_path, A | {"n_head": 3}, weights_of(A)), "config.json", "8",
            "n_head = 3", error=ValueError)


# --- the output layer -----------------------------------------------------------------------------

HEAD = values_of("lm_head.weight", (13, 8))


@pytest.mark.parametrize("name", ["lm_head.weight", "transformer.lm_head.weight"])
def test_a_tied_head_may_be_stored_if_it_is_the_same(tmp_path, name):
    wte = weights_of(A)["wte.weight"]
    assert_is_a(gpt2lab.load(write_checkpoint(tmp_path, tensors=weights_of(A) | {name: wte})))
    almost = wte.copy()
    almost[12, 7] = np.nextafter(almost[12, 7], 9)
    for other in (HEAD, almost):
        refused(write_checkpoint(tmp_path, tensors=weights_of(A) | {name: other}),
                "lm_head.weight differs from wte.weight")
    refused(write_checkpoint(tmp_path, tensors=weights_of(A) | {name: wte[:12]}), "lm_head.weight",
            "(12, 8)", "(13, 8)")


def test_an_untied_head_is_used(tmp_path):
    untied = A | {"tie_word_embeddings": False}
    model = gpt2lab.load(write_checkpoint(tmp_path, untied, weights_of(A)
                                          | {"lm_head.weight": HEAD}))
    assert sum(array.size for array in model.weights.values()) == A_PARAMETERS + 13 * 8
    assert np.abs(model(A_IDS) - model.trace(A_IDS)["ln_f"] @ HEAD.T).max() < TOLERANCE
    assert np.abs(model(A_IDS)[-1] - UNTIED).max() < TOLERANCE
    refused(write_checkpoint(tmp_path, untied, weights_of(A)), "lm_head.weight", "missing")


# The last row with lm_head.weight = HEAD, by transformers 5.24.0 in float64.
UNTIED = [-2.335213, -0.823739, -0.316033, -0.133424, -1.837970, -0.728002, 2.401874, -1.754660,
          1.419118, -0.945496,
          -1.891717, -0.486563, -0.182585]


# --- dtypes ---------------------------------------------------------------------------------------

def as_f16(array):
    return array.astype(np.float16)


def as_bf16(array):
    return "BF16", (array.view(np.uint32) >> 16).astype(np.uint16)


def test_half_precision_is_widened(tmp_path):
    tensors = {name: as_f16(array) for name, array in weights_of(A).items()}
    model = gpt2lab.load(write_checkpoint(tmp_path, tensors=tensors))
    assert {array.dtype.name for array in model.weights.values()} == {"float32"}
    assert {array.dtype.name for array in model.trace(A_IDS).values()} == {"float32"}
    # by transformers 5.24.0 in float64 from the rounded weights
    assert np.abs(model(A_IDS)[-1, :4] - [2.153507, 1.022188, 0.503128, 0.776805]).max() < TOLERANCE


def test_bfloat16_is_widened(tmp_path):
    tensors = {name: as_bf16(array) for name, array in weights_of(A).items()}
    model = gpt2lab.load(write_checkpoint(tmp_path, tensors=tensors))
    for name, array in weights_of(A).items():
        assert np.array_equal(model.weights[name].view(np.uint32),
                              array.view(np.uint32) & 0xFFFF0000)
    assert model(A_IDS).dtype == np.float32 and 1e-4 < np.abs(model(A_IDS)[-1] - A_LAST).max() < 0.1


def test_float64_and_mixed_files(tmp_path):
    tensors = {name: array.astype(np.float64) for name, array in weights_of(A).items()}
    assert_is_a(gpt2lab.load(write_checkpoint(tmp_path / "f64", tensors=tensors)))
    cast = [as_f16, as_bf16, lambda array: array.astype(np.float64), lambda array: array]
    tensors = {name: cast[i % 4](array) for i, (name, array) in enumerate(weights_of(A).items())}
    model = gpt2lab.load(write_checkpoint(tmp_path / "mixed", tensors=tensors))
    assert {array.dtype.name for array in model.trace(A_IDS).values()} == {"float32"}
    assert np.abs(model(A_IDS)[-1] - A_LAST).max() < 0.1


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.bool_])
def test_whole_numbers_are_no_weights(tmp_path, dtype):
    array = np.ones((8, 24), dtype)
    refused(write_checkpoint(tmp_path, tensors=changed(h__0__attn__c_attn__weight=array)),
            "h.0.attn.c_attn.weight", "dtype")


def test_float8_is_refused(tmp_path):
    array = "F8_E4M3", np.zeros((8, 24), np.uint8)
    refused(write_checkpoint(tmp_path, tensors=changed(h__0__attn__c_attn__weight=array)),
            "c_attn.weight", "F8_E4M3")


# --- shards ---------------------------------------------------------------------------------------

def edit_index(folder, change):
    index = json.loads((folder / INDEX).read_text())
    change(index["weight_map"])
    (folder / INDEX).write_text(json.dumps(index))
    return folder


def test_two_files_and_an_index(tmp_path):
    assert_is_a(gpt2lab.load(write_shards(tmp_path)))
    write_safetensors(tmp_path / "other.safetensors", {"x": HEAD})      # the index alone decides
    write_safetensors(tmp_path / "model.safetensors", {"x": HEAD})
    assert_is_a(gpt2lab.load(tmp_path))


@pytest.mark.parametrize("gone", [[FIRST], [SECOND], [FIRST, SECOND]])
def test_missing_files_are_listed_before_any_is_read(tmp_path, gone):
    write_shards(tmp_path)
    for name in (FIRST, SECOND):
        (tmp_path / name).write_bytes(b"no safetensors file")
    for name in gone:
        (tmp_path / name).unlink()
    refused(tmp_path, "missing", *gone)


def test_a_cut_file_is_refused(tmp_path):
    write_shards(tmp_path)
    (tmp_path / SECOND).write_bytes((tmp_path / SECOND).read_bytes()[:-1])
    refused(tmp_path, SECOND, error=gpt2lab.safetensors.SafetensorsError)


@pytest.mark.parametrize("place", ["../x.safetensors", "/x.safetensors", "..", "sub/x.safetensors",
                                   "..\\x.safetensors",
                                   "C:x.safetensors", "x.bin", "", "x.safetensors\n",
                                   ".safetensors/", 7, "x\0.safetensors"])
def test_the_index_names_files_of_this_folder_only(tmp_path, place):
    folder = write_shards(tmp_path / "model")
    (folder / "sub").mkdir()
    for outside in (tmp_path / "x.safetensors", folder / "sub" / "x.safetensors", folder / "x.bin"):
        outside.write_bytes((folder / SECOND).read_bytes())
    edit_index(folder, lambda places: places.update({name: place for name, file in places.items()
                                                     if file == SECOND}))
    refused(folder, INDEX)


def test_a_tensor_in_two_files_is_refused(tmp_path):
    tensors = weights_of(A)
    write_shards(tmp_path)
    second = dict(list(tensors.items())[1::2])
    write_safetensors(tmp_path / SECOND, second | {"wte.weight": tensors["wte.weight"]})
    refused(tmp_path, INDEX, "wte.weight", SECOND)
    write_safetensors(tmp_path / SECOND, second | {"transformer.wte.weight": tensors["wte.weight"]})
    refused(edit_index(tmp_path, lambda places: places.update({"transformer.wte.weight": SECOND})),
            "wte.weight", "twice")


def test_index_and_files_must_list_the_same_tensors(tmp_path):
    refused(edit_index(write_shards(tmp_path), lambda places: places.pop("ln_f.bias")), "ln_f.bias",
            "not in both")
    refused(edit_index(write_shards(tmp_path), lambda places: places.update({"more": FIRST})),
            "more", FIRST, "not in both")
    refused(edit_index(write_shards(tmp_path),
                       lambda places: places.update({"wte.weight": SECOND})), "wte.weight",
                       "not in both")
    refused(edit_index(write_shards(tmp_path), lambda places: places.clear()), "wte.weight",
            "missing")


def test_an_index_whose_tensors_are_not_all_is_refused(tmp_path):
    refused(write_shards(tmp_path, tensors=changed(ln_f__bias=None)), "ln_f.bias", "missing")
    refused(write_shards(tmp_path, tensors=weights_of(A) | {"more": HEAD}), "more", "no part")


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"null", b'{"weight_map": null}',
                                  b'{"weight_map": ["wte.weight"]}', b"\xff",
                                  b'{"weight_map": {"a": ["x"]}}',
                                  b'{"weight_map": {"a": "x.safetensors", "b": 1}}',
                                  b"[" * 100_000])
def test_a_wrong_index_is_refused(tmp_path, text):
    write_checkpoint(tmp_path)
    (tmp_path / INDEX).write_bytes(text)
    refused(tmp_path, INDEX, "weight_map")


def test_without_an_index_there_must_be_one_file(tmp_path):
    write_shards(tmp_path)
    (tmp_path / INDEX).unlink()
    refused(tmp_path, "index", FIRST, SECOND)
    (tmp_path / SECOND).unlink()
    refused(tmp_path, "missing")                # the one file is taken for all of the model
    (tmp_path / FIRST).unlink()
    refused(tmp_path, "no safetensors file")
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80")
    refused(tmp_path, "pickled")


def test_a_single_file_may_have_any_name(tmp_path):
    write_checkpoint(tmp_path)
    write_safetensors(tmp_path / "another.safetensors", {"x": HEAD})
    assert_is_a(gpt2lab.load(tmp_path))                 # model.safetensors goes before others
    (tmp_path / "model.safetensors").replace(tmp_path / "another.safetensors")
    assert_is_a(gpt2lab.load(tmp_path))


# --- vocabulary -----------------------------------------------------------------------------------

@pytest.mark.parametrize("V, allowed", [(50304, False), (50258, False), (50257, True)])
def test_rows_that_pad_the_table_are_never_written(tmp_path, V, allowed):
    config = A | {"vocab_size": V}
    tensors = changed(wte__weight=np.zeros((V, 8), np.float32),
                      ln_f__weight=np.zeros(8, np.float32), ln_f__bias=np.ones(8, np.float32))
    tensors["wte.weight"][77], tensors["wte.weight"][-1] = 1, 2         # logits 8 and 16, others 0
    model = gpt2lab.load(write_checkpoint(tmp_path, config, tensors))
    last = V - 1
    assert model([0]).argmax() == last and model([0]).shape == (1, V)
    assert model.generate_ids([0], max_new_tokens=3, temperature=0,
                              eos_token_id=None).ids == [last if allowed else 77] * 3
    drawn = model.generate_ids([0, 1], max_new_tokens=8, temperature=3.0, seed=0,
                               eos_token_id=None).ids
    assert max(drawn) < 50257
    if not allowed:
        with pytest.raises(ValueError, match=str(last)):
            model.tokenizer.decode([last])
    with pytest.raises(ValueError, match=str(V)):
        model([V])


# --- where models are -----------------------------------------------------------------------------

def test_the_bundled_model():
    model = gpt2lab.load()
    assert (model.config.n_layer, model.config.n_embd, model.config.vocab_size) == (4, 128, 50257)
    assert {array.dtype.name for array in model.weights.values()} == {"float32"}


def test_places_that_are_no_model(tmp_path):
    refused(tmp_path, str(tmp_path), "no config.json")
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file", "folder", "file")
    refused(str(tmp_path / "nothing"), "no such folder")
    for source in ("../no", "a/b/c", "http://x/y", "-a b", "a\0b", "x/", "/x", ".."):
        with pytest.raises(CheckpointError):
            gpt2lab.load(source)
    for source in (3, b"gpt2", ["gpt2"], {}, True):
        refused(source, "folder or a name")


def test_all_of_a_is_what_config_json_describes():
    described = dict(Config.from_dict(A).shapes())
    assert described == {name: array.shape for name, array in weights_of(A).items()}
