"""Call a learner's function so that nothing it does reaches further than its result."""
import builtins
import contextlib
import copy
import ctypes
import inspect
import io
import linecache
import os
import random
import signal
import site
import sys
import sysconfig
import threading
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .comparing import Yielded, same

SECONDS = 5.0                                   # for one case
PRINTED = 2_000                                 # characters that one case may print
PLAIN = {bool, int, float, complex, str, bytes, bytearray, range, set, type(None), type(...)}
# Where code that is not the learner's lies.
_PLACES = [*map(sysconfig.get_path, ("stdlib", "purelib", "platlib")), *site.getsitepackages(),
           site.getusersitepackages(), Path(np.__file__).parents[1], Path(__file__).parents[1]]
LIBRARIES = tuple({f"{path}{os.sep}" for place in _PLACES
                   for path in (place, Path(place).resolve())})    # many are symbolic links


@dataclass(frozen=True)
class Failure:
    """A result that is none. error: the class that was raised; line: the learner's own, as text."""
    text: str
    error: type | None = None
    line: str = ""


class TimeUp(BaseException):
    """Raised in a function that runs too long. No Exception, so that few functions catch it."""


class OddResult(TypeError):
    """Raised for a result that cannot be compared."""


def attempt(function, case, seconds=SECONDS):
    """What the function gives for a case, or a Failure where that is nothing to be compared.

    It is a Failure to raise, to exit, to take longer than `seconds`, to give None, and to change
    the arguments. What is changed in global settings is put back. Of a generator its values are
    taken, one by one, where the case asks for one.
    """
    arguments, named = copy.deepcopy((case.arguments, case.named))
    begin = time.perf_counter()
    try:
        result = contained(lambda: _taken(function(*arguments, **named), case.take), seconds,
                           case.stops_at_nan)
    except TimeUp:
        return Failure(_too_long(time.perf_counter() - begin, seconds), TimeUp)
    except SystemExit:
        return Failure("it ends Python: give the result back with return", SystemExit)
    except KeyboardInterrupt:
        return Failure("it was interrupted", KeyboardInterrupt)
    except OddResult as error:                  # among what a generator gives
        return Failure(str(error))
    except BaseException as error:
        return Failure(told(error), type(error), own_line(error))
    if result is None:
        return Failure("nothing came back: does every way through it end in a return?")
    try:
        result = _of_its_own(result)
    except OddResult as error:
        return Failure(str(error))
    except RecursionError as error:             # a list that holds itself
        return Failure(told(error))
    if not same((arguments, named), (case.arguments, case.named)):
        return Failure("your function changed its input: work on a new array")
    return result


def contained(call, seconds, stops_at_nan=False):
    """call(), with a limit of time, and with global settings put back afterwards.

    NumPy's and Python's global chance begin at the same place each time, so a verdict can be
    repeated. Of what is printed, the first PRINTED characters are shown.

    Raises: TimeUp after so many seconds, or when a single call into C that outlasts them comes
        back; SystemExit for every way to end Python; RuntimeError where somebody would have to
        type; else what the call raises.
    """
    stop = "raise" if stops_at_nan else "ignore"
    before = [(put, get()) for get, put in SETTINGS]
    try:
        with (warnings.catch_warnings(), np.errstate(all="ignore", divide=stop, invalid=stop),
              contextlib.redirect_stdout(_Short(sys.stdout)), _nobody_there(), _TimeLimit(seconds)):
            np.random.seed(0)
            random.seed(0)
            return call()
    finally:
        for put, value in before:
            put(value)


def told(error):
    """An exception in one line of at most 300 characters."""
    try:
        words = " ".join(str(error).split())
    except Exception:
        words = "(its text cannot be read)"
    return f"{type(error).__name__}: {words}"[:300]


def own_line(error):
    """The innermost line of the learner's code that led to an exception: "line 3: y = x @ w"."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__)
           if not frame.filename.startswith((*LIBRARIES, "<frozen", "<__array_function__"))]
    if not own:
        return ""
    text = linecache.getline(own[-1].filename, own[-1].lineno).strip()
    return f"line {own[-1].lineno}: {text}" if text else ""


def _too_long(took, seconds):
    if took < seconds + 1:
        return f"it was stopped after {seconds:g} seconds: does every loop come to an end?"
    return (f"it was stopped after {took:.0f} seconds, and may take {seconds:g} "
            "(one long call into compiled code cannot be stopped sooner)")


def _put_environment(before):
    if dict(os.environ) != before:
        os.environ.clear()
        os.environ.update(before)


# (get, put back) of what a function may change for everybody.
SETTINGS = [(np.geterrcall, np.seterrcall), (np.random.get_state, np.random.set_state),
            (random.getstate, random.setstate), (os.getcwd, os.chdir),
            (lambda: dict(os.environ), _put_environment),
            (sys.getrecursionlimit, sys.setrecursionlimit),
            (lambda: list(sys.path), lambda path: sys.path.__setitem__(slice(None), path)),
            (np.get_printoptions, lambda options: np.set_printoptions(**options)),
            (lambda: (sys.stdout, sys.stderr), lambda streams: vars(sys).update(
                zip(("stdout", "stderr"), streams)))]


@contextlib.contextmanager
def _nobody_there():
    """os._exit and a notebook's quit() raise SystemExit; input() and breakpoint() RuntimeError."""
    def leave(*_, **__):
        raise SystemExit

    def ask(*_, **__):
        raise RuntimeError("a function that is checked cannot ask somebody to type")
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    plain = os._exit, builtins.input, sys.breakpointhook
    os._exit, builtins.input, sys.breakpointhook = leave, ask, ask
    if shell is not None:
        shell.ask_exit = leave
    try:
        yield
    finally:
        os._exit, builtins.input, sys.breakpointhook = plain
        if shell is not None:
            del shell.ask_exit


class _Short(io.TextIOBase):
    """Gives on the first PRINTED characters that are written, and a remark where there is more."""

    def __init__(self, stream):
        self.stream, self.left = stream, PRINTED

    def write(self, text):
        if self.left >= 0 and self.stream is not None:
            self.stream.write(text[:self.left])
            if len(text) > self.left:
                self.stream.write(f"\n(only the first {PRINTED:,} characters are shown)\n")
        self.left -= len(text)                  # below 0: the remark has been made
        return len(text)


def _taken(result, most):
    """What a generator gives, of its values at most `most`; all else is a result by itself.

    Each value is copied at once: a list that is given may grow until the next one.
    """
    if most is None or not inspect.isgenerator(result):
        return result
    values = []
    with contextlib.closing(result):
        while len(values) < most:
            try:
                value = next(result)
            except StopIteration as stop:
                return Yielded(values, stop.value)
            values.append(_of_its_own(value))
    return Yielded(values)


def _of_its_own(result):
    """A copy of what a function gave: the next case may change what it still holds.

    Raises: OddResult for what is no number, text or array, nor a list, tuple or dict of them. So
    nothing is called later that such an object defines: its repr or its comparing may never end.
    """
    kind = type(result)
    if kind is np.ndarray:
        return result.copy()
    if kind in (list, tuple):
        return kind(map(_of_its_own, result))
    if kind is Yielded:
        return Yielded(result.values, _of_its_own(result.returned))
    if kind is dict:
        return {_of_its_own(key): _of_its_own(value) for key, value in result.items()}
    if isinstance(result, tuple) and hasattr(kind, "_fields"):      # a named tuple is a tuple
        return tuple(map(_of_its_own, result))
    if kind not in PLAIN and not isinstance(result, np.generic):
        if inspect.iscoroutine(result):
            result.close()                      # else Python warns that nobody waits for it
        article = "an" if kind.__name__[:1].lower() in "aeiou" else "a"
        raise OddResult(f"it gives {article} {kind.__name__}: want numbers, texts or plain arrays")
    return result


class _TimeLimit:
    """Raises TimeUp in the thread that entered it, again and again where that is caught.

    Not while a line of this file runs: so leaving is never disturbed. In the main thread a signal
    does it, which wakes sleep too; elsewhere, and on Windows, another thread.
    """
    AGAIN = 0.001                               # seconds

    def __init__(self, seconds):
        self.seconds = seconds
        main = threading.current_thread() is threading.main_thread()
        self.by_signal = main and hasattr(signal, "setitimer")

    def __enter__(self):
        if self.by_signal:
            self.before = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, self.seconds, self.AGAIN)
        else:
            self.target, self.left = threading.get_ident(), threading.Event()
            threading.Thread(target=self._watch, daemon=True).start()

    def __exit__(self, *_):
        if self.by_signal:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before)
        else:
            self.left.set()

    @staticmethod
    def _ring(number, frame):
        if frame.f_code.co_filename != __file__:
            raise TimeUp

    def _watch(self):
        wait = self.seconds
        while not self.left.wait(wait):
            frame, wait = sys._current_frames().get(self.target), self.AGAIN
            if frame is not None and frame.f_code.co_filename != __file__:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self.target), ctypes.py_object(TimeUp))
