"""Where the files that ship with gpt2lab are: in a checkout, and in an installed package."""
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def shipped(*parts):
    """Path of a shipped file or folder: shipped("data", "gpt2-tiny"), shipped("notebooks").

    An installed package carries data/ and notebooks/ inside it; in a checkout they stand beside it.
    """
    inside = PACKAGE.joinpath(*parts)
    return inside if (PACKAGE / parts[0]).is_dir() else PACKAGE.parent.joinpath(*parts)
