"""The sizes of a model and the few switches that change its results, read from config.json."""
import json
import sys
from dataclasses import dataclass
from pathlib import Path

ACTIVATIONS = ("gelu_new", "gelu", "relu")
SIZES = ("vocab_size", "n_positions", "n_embd", "n_layer", "n_head")
ALSO_NAMED = {"n_positions": "max_position_embeddings", "n_embd": "hidden_size",
              "n_layer": "num_hidden_layers",
              "n_head": "num_attention_heads"}          # transformers reads these names as well
REFUSED = ("add_cross_attention", "is_encoder_decoder", "pruned_heads", "quantization_config")


class ConfigError(ValueError):
    """config.json is not that of a GPT-2 which this library computes exactly."""


@dataclass(frozen=True)
class Config:
    """What config.json says of a GPT-2; the field names are its keys.

    Sizes: V = vocab_size, N = n_positions, D = n_embd, L = n_layer, H = n_head,
    F = n_inner (4 * D where the file has none or null). Absent or null keys take
    GPT-2's defaults. Every other key that would change the results is refused.
    """
    vocab_size: int
    n_positions: int
    n_embd: int
    n_layer: int
    n_head: int
    n_inner: int | None = None
    activation_function: str = "gelu_new"
    layer_norm_epsilon: float = 1e-5
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False
    tie_word_embeddings: bool = True
    bos_token_id: int | None = 50256
    eos_token_id: int | None = 50256

    def __post_init__(self):
        for key in SIZES:
            _check_size(key, getattr(self, key))
        if self.n_inner is None:
            object.__setattr__(self, "n_inner", 4 * self.n_embd)
        _check_size("n_inner", self.n_inner)
        if self.n_embd % self.n_head:
            raise ConfigError(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if self.activation_function not in ACTIVATIONS:
            _refuse("activation_function", f"one of {', '.join(ACTIVATIONS)}",
                    self.activation_function)
        epsilon = self.layer_norm_epsilon
        number = isinstance(epsilon, (int, float)) and not isinstance(epsilon, bool)
        if not number or not 0 < epsilon <= sys.float_info.max:
            _refuse("layer_norm_epsilon", "a finite number above 0", epsilon)
        for key in ("scale_attn_weights", "scale_attn_by_inverse_layer_idx", "tie_word_embeddings"):
            if not isinstance(getattr(self, key), bool):
                _refuse(key, "true or false", getattr(self, key))
        for key in ("bos_token_id", "eos_token_id"):
            token = getattr(self, key)
            if token is not None and (not _is_int(token) or token < 0):
                _refuse(key, "a token id or null", token)

    @classmethod
    def from_dict(cls, values):
        """Config of a parsed config.json. Raises ConfigError, which names the key."""
        if not isinstance(values, dict):
            raise ConfigError(f"config.json must hold one JSON object, got {type(values).__name__}")
        given = {key: value for key, value in values.items() if value is not None}
        if given.get("model_type", "gpt2") != "gpt2":
            _refuse("model_type", "gpt2 (other architectures compute something else)",
                    given["model_type"])
        for key in REFUSED:
            if given.get(key):
                _refuse(key, "absent (this library does not compute it)", given[key])
        for key, other in ALSO_NAMED.items():
            if other in given and given.setdefault(key, given[other]) != given[other]:
                _refuse(other, f"the same as {key} = {given[key]!r}", given[other])
        given.setdefault("n_positions", given.get("n_ctx"))
        for key in SIZES:
            if given.get(key) is None:
                raise ConfigError(f"config.json lacks {key}")
        return cls(**{key: given[key] for key in cls.__dataclass_fields__ if key in given})

    @classmethod
    def from_file(cls, path):
        """Config of the file at `path`. Raises ConfigError, which names the file."""
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (ConfigError, ValueError, RecursionError) as error:  # ValueError: not UTF-8 or JSON
            raise ConfigError(f"{path}: {error}") from None

    def shapes(self):
        """(name in the checkpoint, shape) of every parameter, one after the other."""
        V, N, D, F = self.vocab_size, self.n_positions, self.n_embd, self.n_inner
        yield "wte.weight", (V, D)
        yield "wpe.weight", (N, D)
        for i in range(self.n_layer):
            for part, shape in (("ln_1", (D,)), ("attn.c_attn", (D, 3 * D)),
                                ("attn.c_proj", (D, D)), ("ln_2", (D,)),
                                ("mlp.c_fc", (D, F)), ("mlp.c_proj", (F, D))):
                yield f"h.{i}.{part}.weight", shape
                yield f"h.{i}.{part}.bias", shape[-1:]
        yield "ln_f.weight", (D,)
        yield "ln_f.bias", (D,)
        if not self.tie_word_embeddings:
            yield "lm_head.weight", (V, D)


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _check_size(key, value):
    if not _is_int(value) or value < 1:
        _refuse(key, "a whole number of at least 1", value)


def _refuse(key, rule, value):
    raise ConfigError(f"{key} must be {rule}, got {value!r:.60}")
