"""Draw docs/path.png, the README's picture: the path of one sentence through the bundled model."""
from pathlib import Path

import gpt2lab
from gpt2lab.teach import plot
from gpt2lab.teach.pictures.start_here import path

TARGET = Path(__file__).resolve().parents[1] / "docs" / "path.png"

if __name__ == "__main__":
    TARGET.write_bytes(plot.png(path(gpt2lab.load(), "The king said to his")))
    print(f"wrote {TARGET.name}")
