"""Bonus lesson: loss, its gradient, one step, the way back through a layer."""
import os

# what the lesson measures, and what its pictures show


def steps(wanted):
    """How many steps a training of the lesson takes: `wanted`, or GPT2LAB_STEPS where that is less.

    Tests set it: the same cells then run in seconds.
    """
    most = os.environ.get("GPT2LAB_STEPS")
    return min(wanted, int(most)) if most else wanted


# the exercises
