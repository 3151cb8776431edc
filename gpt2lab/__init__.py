"""gpt2lab: GPT-2 inference in NumPy, one operation a file, in the order of the course.

files, config, safetensors, bpe, tokenizer, linear, embedding, layernorm, softmax, attention, heads,
gelu, mlp, block, lm_head, sampling, kvcache, lookup, generate, taps, model, checkpoint; for the
bonus lessons quantize, inside, training. Each operation is imported from its own file (from
gpt2lab.layernorm import layer_norm); a file imports only files before it.
"""
from . import safetensors
from . import bpe
from . import sampling
from .config import Config
from .tokenizer import Tokenizer
from .kvcache import KVCache
from .model import GPT2, Ops
from .checkpoint import load

__all__ = ["safetensors", "bpe", "sampling", "Config", "Tokenizer", "KVCache", "GPT2", "Ops",
           "load"]
__version__ = "0.2.0"
