"""Every notebook in a real browser: its cells run, each control of an explorer redraws the picture.

The picture in the page must be, byte for byte, the one that the drawing function gives for the
controls' values. How to run this: see conftest.py.
"""
import base64
import io
import time

import nbformat
import pytest
from PIL import Image

from conftest import ROOT, SECONDS
from lab_page import TooLong, ask, in_kernel, opened, run_all, watch_explorers

NOTEBOOKS = sorted(p.relative_to(ROOT / "notebooks") for p in (ROOT / "notebooks").rglob("*.ipynb")
                   if ".ipynb_checkpoints" not in p.parts)
OTHER_TEXT = "the queen and her dog"
PNG = "data:image/png;base64,"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook(lab, page, shot, path):
    study(lab, page, shot, lab.folder / path)


def study(lab, page, shot, path):
    """Do with a notebook all that a learner could. Raises AssertionError with a sentence."""
    start = time.monotonic()
    with opened(page, lab, path):
        watch_explorers(page)
        look_at_cells(page, run_all(page), nbformat.read(path, as_version=4))
        ran, changes = time.monotonic() - start, 0
        explorers = in_kernel(page, "__import__('watch').describe()")
        cells = page.locator(".jp-CodeCell:has(.jupyter-widgets):has(img)")
        assert cells.count() == len(explorers), (
            f"{cells.count()} cells show widgets and a picture, {len(explorers)} should")
        for i, controls in enumerate(explorers):
            changes += play_with(page, i, cells.nth(i), controls)
            shot(cells.nth(i), f"{path.stem}_{i}")
        assert not page.troubles, page.troubles
    print(f"{path.stem}: run in {ran:.0f} s; {len(explorers)} explorers, {changes} changes "
          f"in {time.monotonic() - start - ran:.0f} s")


def look_at_cells(page, cells, stored):
    """No error that was not asked for, nothing on stderr, nothing blank, the file's outputs."""
    stored = [cell for cell in stored.cells if cell.cell_type == "code"]
    views = page.locator(".jp-CodeCell").evaluate_all("""cells => cells.map(cell =>
        [...cell.querySelectorAll('.jp-OutputArea-output')].map(one =>
            [one.offsetHeight, one.innerText.trim(),
             Boolean(one.querySelector('.jupyter-widgets, img'))]))""")
    for cell, kept, seen in zip(cells, stored, views, strict=True):
        source, outputs = cell["source"], cell["outputs"]
        kinds = [output["output_type"] for output in outputs]
        asked_for = "raises-exception" in cell["metadata"].get("tags", [])
        errors = [output["ename"] + ": " + output["evalue"] for output in outputs
                  if output["output_type"] == "error"]
        assert bool(errors) == asked_for, f"errors {errors} in the cell: {source}"
        said = "".join(output["text"] for output in outputs if output.get("name") == "stderr")
        assert not said, f"stderr {said!r} in the cell: {source}"
        wanted = [output["output_type"] for output in kept.outputs] or kinds
        assert kinds == wanted, (
            f"outputs {kinds} in the page, {wanted} in the file, of the cell: {source}")
        assert len(seen) == len(kinds), f"{len(seen)} of {len(kinds)} outputs to be seen: {source}"
        for output, (height, text, other) in zip(outputs, seen):
            script = "application/javascript" in output.get("data", {})     # nothing to be seen
            assert script or height and (text or other), f"blank output of the cell: {source}"
            assert "Error displaying widget" not in text, f"dead widget in the cell: {source}"
    images = page.locator(".jp-OutputArea-output img")
    for data in images.evaluate_all("all => all.map(one => one.src)"):
        look_at_picture(data)


def look_at_picture(data):
    assert data.startswith(PNG), f"a picture that is no PNG of the notebook: {data[:60]}"
    image = Image.open(io.BytesIO(base64.b64decode(data.removeprefix(PNG)))).convert("RGB")
    assert any(low != high for low, high in image.getextrema()), "blank picture: all of one colour"


def play_with(page, i, cell, controls):
    """Move each control to its ends and back, then all, and Reset; gives the number of changes."""
    views = cell.locator(".jp-OutputArea-output:has(.jupyter-widgets)")
    assert views.count() == len(controls) + 1, (
        f"{views.count()} widgets: {len(controls)} controls and Reset?")
    compare(page, cell, i, "at the start")
    used = list(zip(views.all(), controls.items()))
    used.sort(key=lambda pair: pair[1][1]["kind"] != "Button")  # first: others may need a press
    changes = 0
    for view, (name, control) in used:
        seen = {picture(cell)}
        for what, act, wanted in moves(page, view, control):
            before = picture(cell)
            act()
            wait_for_setting(page, i, name, wanted, f"{control['label']}: {what}")
            compare(page, cell, i, f"{control['label']}: {what}", before, may_refuse=wanted == "")
            seen.add(picture(cell))
            changes += 1
        assert len(seen) > 1, f"{control['label']}: no setting changes the picture"
    for view, (name, control) in used:
        what, act, wanted = moves(page, view, control)[0]
        act()
        wait_for_setting(page, i, name, wanted, f"{control['label']}: {what}")
    views.last.locator("button").click()
    for name, control in controls.items():
        wait_for_setting(page, i, name, control["start"], f"{control['label']} after Reset")
    compare(page, cell, i, "after Reset")
    return changes


def moves(page, view, control):
    """[(what is done, a function that does it, the setting it must lead to)], the start last."""
    start = control["start"]

    def key(name):
        view.locator(".noUi-handle").press(name)

    def number(value):
        view.locator(".widget-readout").click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(str(value))
        page.keyboard.press("Enter")

    def text(words):
        view.locator("input").fill(words)
        view.locator("input").press("Enter")

    if control["kind"] == "Slider":
        low, high, step = control["min"], control["max"], control["step"]
        return [("Home", lambda: key("Home"), low),
                ("arrow key", lambda: key("ArrowRight"), low + step),
                ("End", lambda: key("End"), high),
                (f"{start} typed", lambda: number(start), start)]
    if control["kind"] == "Dropdown":
        return [(f"choice {k}", lambda k=k: view.locator("select").select_option(index=k), k)
                for k in (control["choices"] - 1, 0, start)]
    if control["kind"] == "Checkbox":
        return [("clicked", lambda: view.locator("input").click(), value)
                for value in (not start, start)]
    if control["kind"] == "Text":
        return [(f"{words!r} typed", lambda words=words: text(words), words)
                for words in (OTHER_TEXT, "", start)]
    if control["kind"] == "Button":
        return [("pressed", lambda: view.locator("button").click(), ...)]
    raise AssertionError(f"the test does not know how to use a {control['kind']}")


def wait_for_setting(page, i, name, wanted, what):
    """Until the kernel has heard of it."""
    end = time.monotonic() + SECONDS
    while (got := in_kernel(page, f"__import__('watch').settings({i})")[name]) != wanted:
        if isinstance(wanted, float) and abs(got - wanted) < 1e-9:
            return                              # a step of 0.1 ends near its value
        if wanted is ... and got:
            return                              # a button only counts
        assert time.monotonic() < end, f"{what}: the kernel has {got!r} instead of {wanted!r}"
        page.wait_for_timeout(50)


def picture(cell):
    return cell.locator(".jp-OutputArea-output img").first.get_attribute("src")


def compare(page, cell, i, what, before=None, may_refuse=False):
    """The explorer must show one picture: what its drawing function gives for these settings."""
    wanted, text, refused = in_kernel(page, f"__import__('watch').picture({i})")
    assert not refused or may_refuse and refused.startswith("ValueError"), (
        f"{what}: the drawing function fails: {refused}")
    try:
        page.wait_for_function("""([cell, wanted]) => {
            const pictures = cell.querySelectorAll('.jp-OutputArea-output img');
            return pictures.length != 1 || pictures[0].src == wanted }""",
            arg=[cell.element_handle(), PNG + wanted], timeout=1000 * SECONDS)
    except TooLong:
        if picture(cell) == before:
            raise AssertionError(f"{what}: the picture was not redrawn") from None
        raise AssertionError(f"{what}: this is not what the drawing function gives") from None
    count = cell.locator(".jp-OutputArea-output img").count()
    assert count == 1, f"{what}: {count} pictures under the explorer"
    look_at_picture(PNG + wanted)
    saved = ask(page, """
        const cells = panel.content.widgets.filter(c => c.node.contains(argument));
        return cells[0].model.outputs.toJSON().find(o => o.data?.['image/png'])""",
        cell.element_handle())
    texts = saved["data"]["text/plain"], saved["metadata"].get("image/png", {}).get("alt")
    assert texts == (text, text.replace("\n", " ")), (
        f"{what}: the picture's text should be {text!r}, not {texts}")
    cell.locator("pre").last.filter(has_text=text).wait_for()
