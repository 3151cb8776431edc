"""gpt2lab train: a text becomes a small GPT that writes like it, saved while it learns."""
import math
import os
import signal
import threading
import time
from collections import namedtuple
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from .checkpoint import INDEX, tokenizer
from .training import Training, held_out_loss, pages_of, save, small_config

BYTES, TOKENS = 256, 50_256     # V from the single bytes alone to all tokens but the end token
LONGEST = 86_400                # seconds: a day
MOST_STEPS = 10_000_000         # more than a day on a fast machine
HELD_OUT = 200                  # pages that measure, at most: a long text must not take minutes
SAVED = 10                      # times

Trained = namedtuple("Trained", "model steps held_out per_byte")


def train(text, folder, tokens=BYTES, seconds=60, steps=None, seed=0, tell=lambda *_: None):
    """Train a GPT on the first nine tenths of a text; save it at each tenth of its way.

    text: str. folder: made if it is not there; then for gpt2lab.load. tokens: V, GPT-2's first
        so many: 256 are the single bytes, more are the first merges too.
    seconds: some steps are tried, and as many taken as fit. steps: so many instead; the same text,
        tokens, seed and steps give the same file on one machine.
    tell: called as tell(step, steps, loss, seconds left), with 0, steps, None, None at the start
        and after each step; the loss is the mean of the last 50.
    Returns: Trained(model, steps, held_out, per_byte), the last two the loss on the last tenth
        of the text in nats a token and in nats a byte; None where it fills no page.
    Raises: ValueError before anything is computed or written; OSError, with what the system
        says, where the folder cannot be written to, and KeyboardInterrupt, which says what the
        folder holds: the last saved state, or nothing.
    """
    folder = Path(os.path.expanduser(folder))
    _check(tokens, seconds, steps, seed, folder)
    config = small_config(tokens)
    ids, rest = _parts(text, config)
    draw, step, saved = pages_of(ids, config.n_positions), 0, 0
    made = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial = folder / "config.json.part"     # a folder that takes no file says so now
        trial.write_bytes(b"")
        trial.unlink()
        if steps is None:
            steps = _fitting(config, draw, seconds)
        tell(0, steps, None, None)
        training, begin = Training(config, draw, steps, seed=seed), time.perf_counter()
        for step in range(1, steps + 1):
            training.advance()
            if step * SAVED // steps > (step - 1) * SAVED // steps:
                with _interrupted_later():      # so that `saved` is what the folder holds
                    save(training.model, folder)
                    saved = step
            tell(step, steps, float(np.mean(training.losses[-50:])),
                 (time.perf_counter() - begin) / step * (steps - step))
        return Trained(training.model, steps, *_measured(training.model, rest))
    except KeyboardInterrupt:
        where = f"at step {step} of {steps}" if steps else "before the first step"
        what = f"{folder} holds step {saved}" if saved else "nothing was saved"
        raise KeyboardInterrupt(f"interrupted {where}: {what}") from None
    finally:
        for path in made if not saved else ():
            with suppress(OSError):
                path.rmdir()


def _check(tokens, seconds, steps, seed, folder):
    _check_whole("tokens", tokens, BYTES, TOKENS)
    _check_whole("seed", seed, 0)
    if steps is not None:
        _check_whole("steps", steps, 1, MOST_STEPS)
    elif not 0 < seconds <= LONGEST:
        raise ValueError(f"train: seconds must be above 0 and at most {LONGEST}, got {seconds!r}")
    if os.path.lexists(folder) and not folder.is_dir():
        raise ValueError(f"train: {folder} is a file, not a folder")
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    found = [name for name in names
             if name in ("config.json", INDEX) or name.endswith(".safetensors")]
    if found:
        raise ValueError(f"train: {folder} holds a model already ({', '.join(found[:3])}), "
                         "and nothing is written over one")


def _check_whole(name, value, low, high=None):
    whole = isinstance(value, (int, np.integer)) and value >= low
    if not whole or high is not None and value > high:
        rule = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"train: {name} must be a whole number {rule}, got {value!r}")


def _parts(text, config):
    """Ids of a text: its first nine tenths, and the last tenth."""
    ids = np.array(tokenizer(config.vocab_size).encode(text), np.int64)             # (n,)
    cut, page = len(ids) * 9 // 10, config.n_positions + 1
    if cut < page:
        raise ValueError(f"train: a text must have at least {-(-page * 10 // 9)} tokens, a page of "
                         f"{page} in its first nine tenths; got {len(ids)}")
    return ids[:cut], ids[cut:]


def _fitting(config, draw, seconds):
    """How many steps fit into so many seconds, from some of a training that is thrown away.

    The rate comes down to 0 at the last step, so their number must be known before the first.
    """
    begin = time.perf_counter()
    trial = Training(config, draw)
    trial.advance()                             # the first one is slower, and not counted
    start, done, now = time.perf_counter(), 0, -math.inf
    while done < 20 and now - start < min(2, seconds / 10):
        trial.advance()
        done, now = done + 1, time.perf_counter()
    fit = (seconds - (now - begin)) / (now - start) * done
    return int(min(max(fit, 1), MOST_STEPS))


def _measured(model, ids):
    """Loss on a text in nats a token and in nats a byte; None, None where it fills no page."""
    T = model.config.n_positions
    n = min(HELD_OUT, (len(ids) - 1) // T) * T
    if n < T:
        return None, None
    loss = held_out_loss(model, ids[:n + 1])
    return loss, loss * n / len(model.tokenizer.decode_bytes(ids[1:n + 1]))


@contextmanager
def _interrupted_later():
    """Ctrl-C waits for the end of the block. Where it does something else, it is left alone."""
    if (threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
        yield
        return
    came = []
    signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
