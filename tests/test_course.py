"""The whole course at once: a diligent learner reaches the reference text, a careless one is told where it went wrong."""
from dataclasses import fields

import numpy as np
import pytest

import gpt2lab
from gpt2lab.teach import compare, diff, mine
from gpt2lab.teach.mistakes import exercises
from gpt2lab.validate import STORED
from test_lessons import LESSONS, my_ops, study  # noqa: F401 (a fixture)

OPS = [field.name for field in fields(gpt2lab.Ops)]
CARELESS = [pytest.param(name, mistake, id=f"{name}-{mistake.__name__}")
            for name, exercise in exercises().items() if name in OPS for mistake in exercise.mistakes]
STORED_SENTENCE = {part: np.load(STORED)[f"sentence/{part}"] for part in ("ids", "greedy")}


def test_all_operations_of_a_diligent_learner_write_the_reference_text(my_ops, capsys):  # noqa: F811
    for path in LESSONS:
        for printed in study(path):
            assert "cases pass. Kept" in printed
    kept = {path.stem for path in my_ops.iterdir()}
    built = [name for name in OPS if name in exercises()]
    assert set(built) <= kept
    model = gpt2lab.load(ops=mine())
    assert all(getattr(model.ops, name) is not getattr(gpt2lab.Ops(), name) for name in built)
    ids, greedy = STORED_SENTENCE["ids"], STORED_SENTENCE["greedy"]
    assert model.generate_ids(ids, max_new_tokens=len(greedy), temperature=0, eos_token_id=None).ids == list(greedy)
    assert diff(model, ids) is None
    compare(model)
    assert "agree to 4 decimals\ngreedy text: 40 of 40 tokens alike\n" in capsys.readouterr().out


@pytest.mark.parametrize("name, mistake", CARELESS)
def test_the_operation_of_a_careless_learner_is_named(name, mistake):
    """Or the mistake changes nothing in this model: then the logits are the same."""
    model, ids = gpt2lab.load(ops=gpt2lab.Ops(**{name: mistake})), STORED_SENTENCE["ids"]
    found = diff(model, ids)
    if found is None:
        np.testing.assert_allclose(model(ids), gpt2lab.load()(ids), atol=1e-4)
    else:
        assert found.operation == name
