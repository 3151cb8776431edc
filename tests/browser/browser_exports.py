"""Every notebook as `jupyter nbconvert --to html` gives it, on a wide and on a narrow window.

The page's formulas need MathJax from the net, which is kept away here: they stay as they are typed.
How to run this: see conftest.py.
"""
import re

import nbformat
import pytest
from bs4 import BeautifulSoup  # nbconvert needs it
from nbconvert import HTMLExporter

from browser_lessons import NOTEBOOKS
from conftest import ROOT

WIDTHS = (1280, 400)
CODE_ASIDE = ":is(.jp-MarkdownCell, .jp-OutputArea)"    # long code is cut on a narrow window


@pytest.fixture(scope="module")
def reader(browser):
    """A page without a net."""
    page = browser.new_page()
    page.route(re.compile("^https?:"), lambda route: route.abort())
    yield page
    page.close()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_export(reader, shot, tmp_path, path):
    book = nbformat.read(ROOT / "notebooks" / path, as_version=4)
    html, _ = HTMLExporter().from_notebook_node(book)
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    reader.goto((tmp_path / "page.html").as_uri())
    shown = [output.data for cell in book.cells for output in cell.get("outputs", [])
             if "data" in output]
    pictures = [data["text/plain"] for data in shown if "image/png" in data]
    controls = [data["text/plain"] for data in shown
                if "application/vnd.jupyter.widget-view+json" in data]
    text = " ".join(reader.inner_text("body").split())
    assert "Error displaying widget" not in text and "model not found" not in text
    missing = [sentence for sentence in controls if " ".join(sentence.split()) not in text]
    assert not missing, f"controls that cannot be seen: {missing}"
    for width in WIDTHS:
        reader.set_viewport_size({"width": width, "height": 900})
        shot(reader, f"export_{path.stem}_{width}", full_page=True)
        images = reader.locator(".jp-OutputArea-output img").evaluate_all("""all => all.map(one => {
            const {left, right} = one.getBoundingClientRect();
            return [one.naturalWidth, left, right] })""")
        assert len(images) == len(pictures), f"{len(images)} pictures of {len(pictures)}"
        for number, (natural, left, right) in enumerate(images, start=1):
            assert natural > 0, f"picture {number} is broken"
            assert 0 <= left < right <= width, f"picture {number}: {left} to {right} of {width}"
        wide = reader.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= width, f"the page is {wide} wide in a window of {width}"
        cut = too_wide(reader, ".jp-Notebook" if width > 1000 else CODE_ASIDE)
        assert not cut, f"cut off or to be scrolled in a window of {width}: {cut}"


def too_wide(reader, where):
    """The texts of the boxes that are too small for what stands in them."""
    return reader.locator(f"{where} *").evaluate_all("""all => all.filter(one => one.clientWidth &&
        one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX != 'visible')
        .map(one => one.innerText.slice(0, 80))""")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_export_has_alternative_text(path):
    """With --template classic: nbconvert's default one drops what the notebook says, and warns."""
    book = nbformat.read(ROOT / "notebooks" / path, as_version=4)
    wanted = [output.data["text/plain"].replace("\n", " ") for cell in book.cells
              for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    page = HTMLExporter(template_name="classic").from_notebook_node(book)[0]
    images = BeautifulSoup(page, "html.parser").select("img[src^='data:image/png']")
    assert [image["alt"] for image in images] == wanted
