"""The whole course at once: a careless learner is told which operation went wrong."""
from dataclasses import fields

import numpy as np
import pytest

import gpt2lab
from gpt2lab.teach import diff
from gpt2lab.teach.exercises import exercises
from gpt2lab.validate import STORED

OPS = [field.name for field in fields(gpt2lab.Ops)]
CARELESS = [pytest.param(name, mistake, id=f"{name}-{mistake.__name__}")
            for name, exercise in exercises().items() if name in OPS
            for mistake in exercise.mistakes]
IDS = np.load(STORED)["sentence/ids"]


@pytest.mark.parametrize("name, mistake", CARELESS)
def test_the_operation_of_a_careless_learner_is_named(name, mistake):
    """Or the mistake changes nothing in this model: then the logits are the same."""
    model = gpt2lab.load(ops=gpt2lab.Ops(**{name: mistake}))
    found = diff(model, IDS)
    if found is None:
        np.testing.assert_allclose(model(IDS), gpt2lab.load()(IDS), atol=1e-4)
    else:
        assert found.operation == name
