"""Write docs/plan.png, the picture of the README: it is the plan that lesson 00 draws."""
import base64
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
LESSON, TARGET = ROOT / "notebooks" / "00_start_here.ipynb", ROOT / "docs" / "plan.png"


def plan_of_lesson():
    """The lesson's picture whose text begins with "The plan", as PNG bytes."""
    for cell in nbformat.read(LESSON, as_version=4).cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data and data["text/plain"].startswith("The plan"):
                return base64.b64decode(data["image/png"])


if __name__ == "__main__":
    TARGET.write_bytes(plan_of_lesson())
    print(f"wrote {TARGET.name}")
