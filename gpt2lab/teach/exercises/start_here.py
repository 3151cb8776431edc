"""What lesson 00 shows of a model: the keys of its config.json, its size, what is built of it.

Nothing is asked for in that lesson.
"""
import json
import math

from gpt2lab.files import shipped

# Key, what it is, the lesson in which it matters.
KEYS = [("n_layer", "L, blocks one after the other", "09"),
        ("n_head", "H, heads in each block", "07"),
        ("n_embd", "D, numbers in a row", "04"),
        ("n_positions", "N, the context: tokens that it can see", "04"),
        ("vocab_size", "V, the vocabulary: all tokens", "03"),
        ("n_inner", "F, width inside the MLP; null: 4 times D", "08"),
        ("activation_function", "the bend inside the MLP", "08"),
        ("layer_norm_epsilon", "keeps the norm from dividing by 0", "05"),
        ("tie_word_embeddings", "embedding and LM head share one table", "10"),
        ("eos_token_id", "the token that ends a text", "13")]


def keys(config):
    """(key, value as it stands in the file, what it is, lesson) of each key that matters."""
    return [(key, json.dumps(config[key]), what, lesson) for key, what, lesson in KEYS]


def size(name, config):
    """(name, blocks, numbers in them, numbers in the token table, all numbers, context)."""
    count = {part: sum(math.prod(shape) for key, shape in config.shapes() if key.startswith(part))
             for part in ("h.", "wte.", "")}
    return name, config.n_layer, *(f"{n:>11,}" for n in count.values()), config.n_positions


def books():
    """Titles of the books that the bundled model has read."""
    lines = shipped("data", "gpt2-tiny", "train", "books.txt").read_text(encoding="utf-8")
    return [line.split("/")[1].removesuffix(".md") for line in lines.splitlines()]


def done():
    """The lessons ("01" to "13") of which everything is built, and passes its check."""
    from gpt2lab.teach import keeping  # here, since it imports all exercises
    return [lesson for lesson, names in keeping.BUILDS.items() if all(map(keeping.passes, names))]
