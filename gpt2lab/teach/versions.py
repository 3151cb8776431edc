"""A lesson and the library that runs it must be of one version."""
from pathlib import Path

import gpt2lab


def written_for(version):
    """Say so where the lesson was written for another version of gpt2lab than the one that runs.

    version: gpt2lab's, as the lesson's first cell gives it. Where both are the same: nothing.
    """
    if version != gpt2lab.__version__:
        print(f"This lesson was written for gpt2lab {version}, but gpt2lab {gpt2lab.__version__} "
              f"runs it, from {Path(gpt2lab.__file__).parent}.\n"
              "Some cells may fail. Take lessons and library of one version: "
              "`gpt2lab lessons FOLDER` copies the lessons that fit.")
