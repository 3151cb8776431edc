"""Operations inside the living model: what it writes with a mistake in it, where it goes wrong."""
import copy
import textwrap
from dataclasses import dataclass, replace

import numpy as np

from gpt2lab.checkpoint import BUNDLED, load, tokenizer
from gpt2lab.config import Config
from gpt2lab.kvcache import KVCache
from gpt2lab.model import GPT2, Ops
from gpt2lab.taps import by_position, split
from gpt2lab.validate import STORED

from . import show
from .exercises import exercises, title
from .keeping import is_kept, mine

PROMPT = "Once upon a time"
STORY = "The old king saw the young queen. Then the old"      # it goes with the learner from 00 on
GAP = 0.01          # two best logits nearer than this may change places on another CPU
# The operation that makes the array of this name.
OPERATION = {"embed": "embed", "ln_1": "layer_norm", "ln_2": "layer_norm", "ln_f": "layer_norm",
             "attn.c_attn": "linear", "attn.c_proj": "linear", "mlp.c_fc": "linear",
             "mlp.c_proj": "linear", "attn.remember": "remember",
             "attn.pattern": "softmax", "attn.mixed": "attend", "attn": "attend_heads",
             "mlp.act": "gelu", "mlp": "mlp", "resid_post": "block",
             "logits": "lm_head", "linear?": "linear", "layer_norm?": "layer_norm"}


def writes(model, prompt=PROMPT, tokens=12):
    """The greedy text after a prompt (text or ids); "..." where two tokens are too near to call."""
    cache, ids = KVCache(model.config), []
    try:
        new = model.encode(prompt) if isinstance(prompt, str) else prompt
        with np.errstate(all="ignore"):
            for _ in range(tokens):
                logits = model.next_logits(new, cache)                              # (V,)
                second, first = np.sort(logits)[-2:]
                if not np.isfinite(logits).all():
                    return model.tokenizer.decode(ids) + " [the logits are not finite]"
                if first - second < GAP:
                    return model.tokenizer.decode(ids) + "..."
                new = [int(logits.argmax())]
                ids += new
    except Exception as error:
        return f"[stops: {textwrap.shorten(str(error), 72, placeholder=' ...')}]"
    return model.tokenizer.decode(ids)


def gallery(name, prompt=PROMPT, tokens=12, most=None):
    """Print what your model writes, and what with each known mistake in place of the operation.

    most: so many, the first of the exercise; None for all. "changed": the logits after the prompt
    change by more than 0.0001; "none": there are no logits, the model stops.
    """
    right, own = load(), load(ops=mine())
    wanted = right.next_logits(right.encode(prompt))                                # (V,)
    models = [(f"(no mistake: {'yours' if is_kept(name) else 'ours'})", own)]
    for mistake in exercises()[name].mistakes[:most]:
        models.append((title(mistake).rstrip("."), load(ops=replace(own.ops, **{name: mistake}))))
    rows = []
    for what, model in models:
        try:
            with np.errstate(all="ignore"):
                got = model.next_logits(model.encode(prompt), KVCache(model.config))    # (V,)
            logits = "same" if _near(got, wanted, 1e-4) else "changed"
        except Exception:
            logits = "none"
        rows.append((what, logits, writes(model, prompt, tokens)))
    legend = "(logits; what the model goes on; three dots: too close to call)"
    print(f"{prompt} ...", legend, sep="   " if len(prompt) + len(legend) < 90 else "\n")
    for what, logits, text in rows:
        print(f"{what}\n    {logits:7}  {show.short(show.token(text).replace('·', ' '), 88)}")


@dataclass(frozen=True)
class Difference:
    """Where a model first computes something else than the library: the array, its operation."""
    name: str
    operation: str

    def __repr__(self):
        return f"{self.name} is the first array that differs; it was made by {self.operation}"


def diff(model, ids, tolerance=5e-6):
    """The first operation of the model that gives something else than the library's, or None.

    Every operation is compared with the library's on the very same input, the inner ones before
    those that call them: so the one that is at fault is named. The text is read in two steps
    through a cache, so that both prefill and decode are looked at. Rounding is no fault: the
    tolerance is a share of the largest number of an array.
    """
    library, found = Ops(), []
    right = {"linear?": library.linear, "layer_norm?": library.layer_norm,
             "attn.remember": library.remember}         # the run below has no cache
    GPT2(model.config, model.weights, model.tokenizer).run_tapped(
        ids, lambda name, function: right.setdefault(name, function))

    def tap(name, function):
        place = split(name)[1]

        def call(*arguments, **named):
            given, rest = by_position(function, arguments, named)
            before = copy.deepcopy([a for a in given if isinstance(a, np.ndarray)])
            wanted = _result(right.get(name) or right[place], given, rest)
            result = _result(function, arguments, named)
            after = [a for a in given if isinstance(a, np.ndarray)]
            changed = any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(before, after))
            failed = isinstance(result, Exception)
            if changed or not (failed and isinstance(wanted, Exception)) and not _near(
                    result, wanted, tolerance * _size(wanted)):
                found.append(Difference(name, OPERATION[place]))
            if failed:
                raise result
            return result
        return call
    cache = KVCache(model.config)
    try:
        for part in (ids[:-1], ids[-1:]):
            if len(part):
                model.run_tapped(part, tap, cache)
    except Exception:
        pass                                    # the operation that failed has been found
    return found[0] if found else None


def _result(function, arguments, named):
    """What the function gives, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(*arguments, **named)
    except Exception as error:
        return error


def _near(a, b, tolerance):
    """Two arrays (or pairs), no two numbers in one place further apart than the tolerance."""
    if isinstance(a, (tuple, list)) and isinstance(b, tuple):           # a list is as good
        return len(a) == len(b) and all(_near(*pair, tolerance) for pair in zip(a, b))
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and show.near(a, b, tolerance)


def _size(array):
    """The largest finite number of an array (or pair), at least 1: what rounding is measured by."""
    if isinstance(array, tuple):
        return max(map(_size, array))
    return np.abs(array[np.isfinite(array)]).max(initial=1) if isinstance(array, np.ndarray) else 1


def compare(model, prompt="sentence"):
    """Print whether a model gives its reference, and if not, who is at fault.

    The reference of the bundled model is stored; that of another one is what the library computes
    of the same text, or of as much of it as half of the context holds.
    """
    with np.load(STORED) as stored:
        ids, wanted, greedy = (stored[f"{prompt}/{part}"] for part in ("ids", "logits", "greedy"))
    columns = np.linspace(0, model.config.vocab_size - 1, wanted.shape[1]).astype(int)
    origin, greedily = "the stored reference", {"max_new_tokens": len(greedy), "temperature": 0,
                                                "eos_token_id": None}
    if model.config != Config.from_file(BUNDLED / "config.json"):
        right, origin = GPT2(model.config, model.weights, model.tokenizer), "the library's"
        ids = model.encode(tokenizer().decode(ids))[:model.config.n_positions // 2]
        wanted = right(ids)[:, columns]                                             # (T, columns)
        greedy = right.generate_ids(ids, **greedily).ids
    try:
        with np.errstate(all="ignore"):
            same = _near(model(ids)[:, columns], wanted, 1e-4)
            new = model.generate_ids(ids, **greedily).ids
    except Exception as error:
        print(f"the model stops: {error}")
        same, new = False, []
    print(f"logits against {origin}:", "agree to 4 decimals" if same else "do not agree")
    print(f"greedy text: {sum(a == b for a, b in zip(new, greedy))} of {len(greedy)} tokens alike")
    found = diff(model, ids)
    if found is not None:
        print("first fault:", found)
