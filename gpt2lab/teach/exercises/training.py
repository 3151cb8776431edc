"""Bonus lesson: loss, its gradient, one step, the way back through a layer."""
import os

# what the lesson measures, and what its pictures show


def steps(wanted):
    """How many steps a training of the lesson takes: `wanted`, or fewer where GPT2LAB_STEPS says so.

    Tests set it: the same cells then run in seconds.
    """
    most = os.environ.get("GPT2LAB_STEPS")
    return min(wanted, int(most)) if most else wanted


# the exercises
