"""Slips of any exercise: what check says where no known mistake of the exercise fits."""
import numpy as np
import pytest

from cells import run
from gpt2lab.teach import slips
from gpt2lab.teach.attempting import Failure
from gpt2lab.teach.checking import verdict
from gpt2lab.teach.comparing import Yielded
from gpt2lab.teach.exercises import hint, title

WANT = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
ROWS = np.array([[2], [3], [5]], np.float32)
COLUMNS = np.array([2, 3, 5, 7], np.float32)


@pytest.mark.parametrize("name, got, want", [
    ("nothing_given_back",
     Failure("nothing came back: does every way through it end in a return?"), WANT),
    ("not_refused", WANT, Failure("x", ValueError)),
    ("wrong_kind_of_error", Failure("KeyError: 1", KeyError), Failure("x", ValueError)),
    ("name_unknown", Failure("NameError: name 'npp' is not defined", NameError), WANT),
    ("too_large_for_its_kind", Failure("OverflowError: 300", OverflowError), WANT),
    ("arguments_do_not_fit", Failure("TypeError: linear() missing 1 required positional argument: "
                                     "'b'", TypeError), WANT),
    ("arguments_do_not_fit", Failure("TypeError: f() takes 2 positional arguments but 3 were given",
                                     TypeError), WANT),
    ("kinds_do_not_fit", Failure("TypeError: 'int' object is not callable", TypeError), WANT),
    ("divided_by_zero", Failure("ZeroDivisionError: x", ZeroDivisionError), WANT),
    ("float64_for_float32", WANT.astype(np.float64), WANT),
    ("another_dtype", WANT.astype(np.float16), WANT),
    ("list_for_an_array", WANT.tolist(), WANT),
    ("list_for_an_array", list(WANT), WANT),
    ("turned_over", WANT.T, WANT),
    ("axes_lost", WANT.reshape(-1), WANT),
    ("one_row_only", WANT[0], WANT),
    ("only_one_of_them", [1, 2], [1, 2, 3]),
    ("backwards", [3, 1, 2], [2, 1, 3]),
    ("in_order_of_size", [1, 2, 3], [2, 1, 3]),
    ("one_list_a_turn", [[1, 2], [3]], [1, 2, 3]),
    ("number_of_another_kind", 3.0, 3),
    ("off_by_one", 4, 3),
    ("white_space", "ab", "a b"),
    ("bytes_for_text", b"ab", "ab"),
    ("letters_lost", "caf?", "café"),
    ("sign_turned", -WANT, WANT),
    ("sign_lost", WANT, WANT * np.array([1, -1, 1, 1], np.float32)),
    ("all_by_one_amount", WANT + 2, WANT),
    ("all_by_one_factor", WANT * 2, WANT),
    ("rows_by_a_factor", WANT * ROWS, WANT),
    ("rows_by_an_amount", WANT + ROWS, WANT),
    ("columns_by_an_amount", WANT + COLUMNS, WANT),
    ("columns_by_a_factor", WANT * COLUMNS, WANT),
    ("other_axes", WANT[:2, :2], WANT),
    ("a_generator", Failure("it gives a generator: want numbers, texts or plain arrays"), [1]),
    ("another_text_among_results", ([1, 2], "end"), ([1, 2], "end token")),
    ("all_at_once", [1, 2], Yielded([1, 2], "end")),
    ("all_at_once", "end", Yielded([1, 2], "end")),
    ("another_text_among_results", Yielded([1, 2], "ended"), Yielded([1, 2], "end")),
    ("only_one_of_them", Yielded([1, 2], "end"), Yielded([1, 2, 3], "end")),
    ("backwards", Yielded([3, 1, 2], "end"), Yielded([2, 1, 3], "end")),
    (None, Yielded([1, 7, 9], "end"), Yielded([1, 2, 3], "end")),
    ("another_kind_of_thing", {}, [1]),
    ("another_kind_of_thing", {"a": 1, "b": {}}, {"a": 1, "b": (1, 2)}),
    ("nan_or_infinity", WANT + np.array([0, np.nan, 0, 0], np.float32), WANT),
    ("few_digits", WANT + 1e-3 * np.sin(WANT), WANT),
    (None, WANT ** 2, WANT),
    (None, [1, 7, 9], [1, 2, 3]),
])
def test_a_slip_is_told_by_what_came_out(name, got, want):
    found, everywhere = slips.slip_of([got], [want], ["miss"])
    assert found is (name and getattr(slips, name)) and everywhere is bool(name)


def test_each_slip_has_one_sentence_and_a_hint():
    assert len({title(test) for test in slips._slips}) == len(slips._slips)
    for test in slips._slips:
        assert title(test).endswith(".") and len(hint(test).split()) >= 5


def test_check_tells_a_slip_only_where_no_known_mistake_fits(tmp_path, monkeypatch):
    monkeypatch.setenv("GPT2LAB_MY_OPS", str(tmp_path))
    for body, words in {
            "s.tolist() and npp": "This is what you get when: A name is used that Python does not",
            "np.zeros(s.shape[0] + 7) + s": "is what you get when: Two arrays come together",
            "None": "This is what you get when: Nothing is given back"}.items():
        space = {"np": np, "__name__": "__main__"}
        run(f"def softmax(s):\n    return {body}\n", space)
        assert words in verdict(space["softmax"])
