"""Guesses and hands: what is folded when a lesson is opened, guessing by keyboard, dragging.

How to run this: see conftest.py.
"""
import json
import time

from lab_page import cell_with, opened, run_all, run_cell

LESSON = "05_layernorm.ipynb"


def test_a_guess_is_possible_and_made_by_keyboard(lab, page, my_ops, shot):
    with opened(page, lab, lab.folder / LESSON):
        answer = cell_with(page, "pictures.stream_sizes(")
        question = cell_with(page, "Without the norm, the stream ends")
        assert not answer.locator("img").is_visible(), "the answer is seen before the guess"
        assert not question.locator(".cm-content").is_visible(), "the guess shows its answer"
        answer.scroll_into_view_if_needed()
        shot(page, "opened")
        run_all(page)
        assert answer.locator("img").is_visible(), "a folded output stays folded when it is run"
        question.scroll_into_view_if_needed()
        said = "about ten times as large"
        assert question.get_by_role("button", name="as large").count() == 5
        question.get_by_role("button", name=said, exact=True).focus()
        page.keyboard.press("Enter")
        question.get_by_text(f"Noted: {said}").wait_for()
        noted = json.loads((my_ops / "guesses.json").read_text())
        assert [guess["said"] for guess in noted.values()] == [said]
        shot(page, "guessed")
        told = run_cell(page, cell_with(page, "guesses()"))
        assert f"you: {said}" in told and "0 of 1 guesses were right." in told, told
        shot(page, "guesses")
        assert not page.troubles, page.troubles


def test_the_picture_follows_the_mouse(lab, page, my_ops, shot):
    with opened(page, lab, lab.folder / LESSON):
        run_all(page)
        cell = cell_with(page, 'gain=play.slider("gain"')
        cell.scroll_into_view_if_needed()
        handle = cell.get_by_role("slider", name="gain")
        handle.wait_for()
        picture, words = cell.locator("img"), cell.locator("pre").last
        before = words.inner_text()
        seen, box = {picture.get_attribute("src")}, handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        for step in range(1, 21):
            page.mouse.move(x + 5 * step, y)
            time.sleep(0.1)
            seen.add(picture.get_attribute("src"))
        dragged = len(seen) - 1
        page.mouse.up()
        shot(page, "dragged")
        assert dragged >= 5, f"{dragged} pictures while the slider was dragged for two seconds"
        assert words.inner_text() != before, "the text below the picture stays as it was"
        assert not page.troubles, page.troubles


def test_the_finale_writes_by_keyboard(lab, page, my_ops, shot):
    with opened(page, lab, lab.folder / "13_generation.ipynb"):
        run_all(page)
        cell = cell_with(page, "play.write(write")
        cell.scroll_into_view_if_needed()
        words, button = cell.locator("pre").last, cell.get_by_role("button", name="Write")
        cell.locator("input[type=text]").fill("The queen and her dog")
        cell.locator("input[type=text]").press("Enter")
        cell.get_by_role("slider", name="temperature").press("ArrowRight")
        cell.evaluate("""cell => {
            const texts = window.texts = []
            new MutationObserver(() => {
                const text = [...cell.querySelectorAll("pre")].at(-1)?.innerText
                const grown = text?.startsWith("The queen and her dog") && text !== texts.at(-1)
                if (grown) texts.push(text)
            }).observe(cell, {subtree: true, childList: true, characterData: true}) }""")
        button.focus()
        page.keyboard.press("Space")
        grown, quiet = [], time.monotonic() + 20
        while time.monotonic() < quiet:
            time.sleep(0.1)
            if len(texts := page.evaluate("texts")) > len(grown):
                grown, quiet = texts, time.monotonic() + 2  # nothing new for so long: it has ended
        assert len(grown) >= 5, f"{len(grown)} texts while it wrote: {words.inner_text()}"
        assert grown[-1] == words.inner_text(), grown[-1]
        assert all(len(one) < len(two) for one, two in zip(grown, grown[1:])), grown
        shot(cell, "finale")
        for name in ("built()", "export(", "certificate(text)"):
            one = cell_with(page, name)
            one.scroll_into_view_if_needed()
            shot(one, f"finale_{name}")
        assert not page.troubles, page.troubles
