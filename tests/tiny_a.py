"""Tiny checkpoint A as a model without files, with values that transformers gave for it."""
from gpt2lab import GPT2, Config
from recipes import A, weights_of

CONFIG = Config.from_dict(A)

# Logits of PROMPT, first four of each row, and what greedy choice writes after [1, 5, 3]: computed
# once with transformers 5.24.0 in float64.
PROMPT = [1, 5, 3, 0, 7]
LOGITS = [[2.062757, 0.152845, 1.562531, 0.842965], [2.110874, 0.771744, 0.958492, 0.725463],
          [2.180204, 0.790853, 0.840084, 0.737951], [2.572405, 1.027244, 0.499516, 0.579583],
          [2.153855, 1.022726, 0.504095, 0.776946]]
GREEDY = [7, 0, 2, 10, 4, 2, 10, 8, 10, 2]      # the last one is predicted by the full context


def model(**changes):
    """A fresh model; changes: tokenizer, ops."""
    return GPT2(CONFIG, weights_of(A), **changes)
