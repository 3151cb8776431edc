"""What several tests share: small checkpoints made by formula, prompts, and a safetensors writer.

Needs only NumPy. The same formula gives the same weights everywhere, so a number computed once with
transformers can be compared on a machine that has no torch.
"""
import json
import math
from pathlib import Path

import numpy as np

# Checkpoint A: as small as a GPT-2 can be and still show each kind of fault.
A = {"model_type": "gpt2", "vocab_size": 13, "n_positions": 12, "n_ctx": 12, "n_embd": 8,
     "n_layer": 2, "n_head": 2,
     "n_inner": None, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
     "bos_token_id": 12, "eos_token_id": 12}
A_IDS = [1, 5, 3, 0, 7]
A_PARAMETERS = 1960
# Logits of A after each of A_IDS, the first four; then the whole last row. Computed with
# transformers 5.24.0 in float64, eager attention.
A_FIRST_FOUR = [[2.062757, 0.152845, 1.562531, 0.842965], [2.110874, 0.771744, 0.958492, 0.725463],
                [2.180204, 0.790853, 0.840084, 0.737951], [2.572405, 1.027244, 0.499516, 0.579583],
                [2.153855, 1.022726, 0.504095, 0.776946]]
A_LAST = [2.153855, 1.022726, 0.504095, 0.776946, 2.012021, 0.274574, -2.544870, 2.316830,
          -1.446389, 0.630841,
          2.413292, 1.050086, 0.661081]

# Another one with sizes that are no powers of two: what works by luck with D = 4 Dh fails here.
SMALL = {"model_type": "gpt2", "vocab_size": 50, "n_positions": 24, "n_embd": 12, "n_layer": 2,
         "n_head": 3,
         "n_inner": 20, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-3,
         "bos_token_id": None, "eos_token_id": None}
SMALL_PROMPTS = {"one": [31], "two": [7, 42], "some": [3, 3, 49, 0, 17, 3, 3],
                 "all positions": [(5 * t * t + 3 * t) % 50 for t in range(24)]}

STORY = """
The lamp in the harbour tower had gone out three nights in a row, and nobody in Sallow Bay could say
why. Old Perrin, who kept it, swore that he had filled the oil himself. "I lit it at dusk," he said,
"and when I woke it was cold." On the fourth night his niece Odile climbed the 112 steps with a
blanket, two apples and her brother's telescope, and hid behind the coil of rope. At ten the wind
turned. At eleven a gull landed on the rail, then a second one, then a third; they walked in a line
like guests who arrive early and do not know where to put their coats. The biggest one knocked on
the glass. It knocked again. Then it pushed the little door with its beak, hopped inside, and began,
very carefully, to drink the oil. Odile laughed so loudly that the other two fell off the rail. "So
it is you!" she cried. The gull looked at her, wiped its beak on the wick, and put out the light. In
the morning she told her uncle, who did not believe a word of it. He bought a padlock all the same.
Since then the lamp has burned every night, and every evening somebody leaves a saucer of oil on
the bottom step. Nobody has ever seen who comes to empty it, but the saucer is always clean, and the
boats come home.
"""

# Prompts for the bundled model. "all positions" is cut to exactly N = 256 ids.
PROMPTS = {
    "one token": "Hello",
    "two tokens": "Once upon",
    "sentence": "The old dog sat by the door and waited for the boy to come home.",
    "emoji": "I ❤ my 🐕‍🦺 and 3 cats 🐈🐈🐈!",
    "code": "def add(a, b):\n    \"\"\"Sum of two.\"\"\"\n    return a + b\n\nprint(add(2, 40))",
    "chinese": "今天天气很好，我们去公园散步。",
    "repeated": "tick tock " * 12,
    "white space": "   \n\t  \n\n    \r\n ",
    "all positions": STORY,
}


def shapes_of(config):
    """{bare name: shape} of a GPT-2 of these sizes."""
    V, N, D = config["vocab_size"], config["n_positions"], config["n_embd"]
    F = config.get("n_inner") or 4 * D
    shapes = {"wte.weight": (V, D), "wpe.weight": (N, D), "ln_f.weight": (D,), "ln_f.bias": (D,)}
    for i in range(config["n_layer"]):
        for part, shape in {"ln_1": (D,), "attn.c_attn": (D, 3 * D), "attn.c_proj": (D, D),
                            "ln_2": (D,), "mlp.c_fc": (D, F), "mlp.c_proj": (F, D)}.items():
            shapes |= {f"h.{i}.{part}.weight": shape, f"h.{i}.{part}.bias": shape[-1:]}
    return shapes


def weights_of(config):
    """{bare name: array float32} of a GPT-2 of these sizes; a formula gives each value."""
    return {name: values_of(name, shape) for name, shape in shapes_of(config).items()}


def values_of(name, shape):
    """One tensor of the recipe: numbers that look random, are not, and differ from name to name."""
    k = np.arange(math.prod(shape), dtype=np.float64)
    c = sum(i * ord(letter) for i, letter in enumerate(name, start=1)) % 1000 / 7
    v = np.sin(0.731 * k * k + 1.37 * k + c)
    if name.endswith(".bias"):
        v = 0.1 * v
    elif "ln_" in name:
        v = 1 + 0.25 * v
    else:
        v = (0.5 if name.startswith(("wte", "wpe", "lm_head")) else 0.9) * v
    return v.astype(np.float32).reshape(shape)


# The shape of the real GPT-2 of 124M parameters.
SIZES_124M = {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_ctx": 1024,
              "n_embd": 768, "n_layer": 12, "n_head": 12, "activation_function": "gelu_new",
              "layer_norm_epsilon": 1e-5, "bos_token_id": 50256, "eos_token_id": 50256}


def write_124m(folder, seed=7):
    """A random checkpoint with the tensors of the published gpt2: no prefix, mask buffers (548 MB).

    Weights spread by 0.05: GPT-2's own 0.02 leaves all logits near 0, training spreads them.
    """
    random, N = np.random.default_rng(seed), SIZES_124M["n_positions"]
    tensors = {}
    for name, shape in shapes_of(SIZES_124M).items():
        values = random.standard_normal(shape, np.float32)
        values *= 0.01 if name.endswith(".bias") else 0.1 if "ln_" in name else 0.05
        tensors[name] = values + np.float32("ln_" in name and name.endswith(".weight"))
    for i in range(SIZES_124M["n_layer"]):
        tensors[f"h.{i}.attn.bias"] = np.tri(N, dtype=np.float32).reshape(1, 1, N, N)
    return write_checkpoint(folder, SIZES_124M, tensors)


DTYPES = {"float16": "F16", "float32": "F32", "float64": "F64", "int8": "I8", "int32": "I32",
          "int64": "I64",
          "uint8": "U8", "bool": "BOOL"}


def write_safetensors(path, tensors):
    """A safetensors file of {name: array}; (dtype, array of the bits) for what NumPy lacks."""
    header, arrays, end = {}, [], 0
    for name, array in tensors.items():
        dtype, array = array if isinstance(array, tuple) else (DTYPES[array.dtype.name], array)
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [begin, end]}
        arrays.append(array)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)             # so that the numbers begin at a multiple of 8
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays:
            file.write(array.tobytes())


def write_checkpoint(folder, config=A, tensors=None, prefix=""):
    """Folder with config.json and model.safetensors; the recipe's tensors unless given."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tensors = weights_of(config) if tensors is None else tensors
    write_safetensors(folder / "model.safetensors", {prefix + name: array
                                                     for name, array in tensors.items()})
    return folder


def write_shards(folder, config=A, tensors=None):
    """The same in two files with an index: every second tensor is in the second file."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tensors = weights_of(config) if tensors is None else tensors
    place_of = {}
    for part, names in enumerate((list(tensors)[::2], list(tensors)[1::2]), start=1):
        file = f"model-0000{part}-of-00002.safetensors"
        write_safetensors(folder / file, {name: tensors[name] for name in names})
        place_of |= dict.fromkeys(names, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {},
                                                                     "weight_map": place_of}))
    return folder


# The layout of the two files that tests/golden/make_golden.py writes and test_model.py reads.
COLUMNS = 256                   # logits stored per row, of V
PLACES = 64                     # values stored per traced array, for more than two tokens
FULL_ROWS = ("sentence", "code",
             "all positions")       # prompts whose last row of logits is stored whole


def columns(vocab_size):
    """The columns of the logits that are stored, evenly spaced from the first to the last."""
    return np.linspace(0, vocab_size - 1, min(COLUMNS, vocab_size)).astype(int)


def sampled(array, tokens):
    """The values of a traced array that are stored: evenly spaced, all for short prompts."""
    flat = np.asarray(array).reshape(-1)
    count = len(flat) if tokens <= 2 else min(PLACES, len(flat))
    return flat[np.linspace(0, len(flat) - 1, count).astype(int)]
