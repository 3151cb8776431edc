"""Write docs/path.png, the picture of the README: it is the path that lesson 00 draws."""
import base64
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
LESSON, TARGET = ROOT / "notebooks" / "00_start_here.ipynb", ROOT / "docs" / "path.png"


def path_of_lesson():
    """The first picture of the lesson as PNG bytes."""
    for cell in nbformat.read(LESSON, as_version=4).cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                return base64.b64decode(output.data["image/png"])


if __name__ == "__main__":
    TARGET.write_bytes(path_of_lesson())
    print(f"wrote {TARGET.name}")
