"""The arrays that tests hand to an operation."""
import numpy as np


def fixed(values, dtype=np.float64):
    """A read-only array: an operation that writes into its input fails."""
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array
