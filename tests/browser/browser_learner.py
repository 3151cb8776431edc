"""A learner's afternoon: a wrong answer is named, the right one is kept, the last lesson uses it.

How to run this: see conftest.py.
"""
import nbformat

from gpt2lab.teach.exercises import layernorm, title
from lab_page import ask, cell_with, in_kernel, opened, run_all, run_cell

WRONG = """def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred ** 2).mean(axis=-1, keepdims=True))
    return (centred / (deviation + epsilon) * gain + bias).astype(x.dtype)

check(layer_norm)"""
RIGHT = """def layer_norm(x, gain, bias, epsilon=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + epsilon)
    return (centred / deviation * gain + bias).astype(x.dtype)

check(layer_norm)"""


def test_a_learner_builds_layer_norm_and_meets_it_again(lab, page, my_ops):
    with opened(page, lab, lab.folder / "05_layernorm.ipynb"):
        first = page.locator(".jp-CodeCell").first
        run_cell(page, first)
        stub = cell_with(page, "check(layer_norm)")
        assert "layer_norm: not written yet" in run_cell(page, stub)
        said = run_cell(page, stub, WRONG)
        assert title(layernorm.epsilon_outside) in said and "Hint: " in said, said
        assert not list(my_ops.iterdir()), "a wrong operation was kept"
        said = run_cell(page, stub, RIGHT)
        assert "cases pass. Kept for the later lessons." in said and "Hint" not in said, said

        ask(page, "jupyterapp.commands.execute('notebook:restart-kernel')")
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        page.wait_for_selector(".jp-Dialog", state="detached")
        ask(page, "await panel.sessionContext.session.kernel.info")
        assert not in_kernel(page, "'layer_norm' in globals()"), "the kernel was not restarted"
        run_cell(page, first)
        assert in_kernel(page, "model.ops.layer_norm.__code__.co_filename") == str(
            my_ops / "layer_norm.py")
        assert in_kernel(page, "model.ops.gelu is gpt2lab.Ops().gelu")

    path = lab.folder / "13_generation.ipynb"
    with opened(page, lab, path):
        cells = run_all(page)
        printed = {cell["source"]: "".join(output.get("text", "") for output in cell["outputs"])
                   for cell in cells}
        table = next(text for source, text in printed.items() if source.startswith("built()"))
        assert built_by_the_learner(table) == ["layer_norm"], table
        assert "agree to 4 decimals" in table, table
        source = next(source for source in printed
                      if "The little girl" in source and "yours(" in source)
        stored = next(cell for cell in nbformat.read(path, as_version=4).cells
                      if cell.source == source)
        assert printed[source] == stored.outputs[0].text, "the learner's model writes another text"
        used = in_kernel(page, "mine().layer_norm.__code__.co_filename")
        assert used == str(my_ops / "layer_norm.py")


def built_by_the_learner(table):
    """The functions in the column "yours" of the table that built() prints."""
    header, *rows = table.splitlines()
    column = slice(header.index("yours"), header.index("missing"))
    return [name for row in rows if row[:2].isdigit()
            for name in row[column].replace(",", "").split()]
