"""What tests hand to an operation, and where some of them cannot run."""
import sys
from pathlib import Path

import numpy as np
import pytest

in_an_ascii_folder = pytest.mark.skipif(
    not f"{Path(__file__).resolve()}{sys.prefix}".isascii(),
    reason="Python itself does not start here under the C locale: its folder's name is not ASCII")


def fixed(values, dtype=np.float64):
    """A read-only array: an operation that writes into its input fails."""
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array
