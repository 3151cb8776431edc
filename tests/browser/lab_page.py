"""What the tests do with a notebook in JupyterLab: open it, run it, ask its kernel."""
import ast
import json
from contextlib import contextmanager
from pathlib import Path

try:
    from playwright.sync_api import TimeoutError as TooLong
except ImportError:
    raise ImportError(
        "these tests need playwright: `pip install -r requirements-slow.txt`") from None

KERNEL = "const kernel = window.panel?.sessionContext.session?.kernel; "
RUN_SECONDS = 120                               # for all cells of a notebook


@contextmanager
def opened(page, lab, path):
    """The notebook in JupyterLab with a fresh kernel; both are closed at the end."""
    ask(page, """const opening = jupyterapp.commands.execute('docmanager:open', {path: argument});
                 window.panel = await opening;
                 await panel.context.ready; await panel.sessionContext.ready;
                 await panel.sessionContext.session.kernel.info;
                 while (jupyterapp.shell.currentWidget != panel) {
                     jupyterapp.shell.activateById(panel.id);
                     await new Promise(done => setTimeout(done, 50)) }""",
        str(path.relative_to(lab.folder.parent)))
    try:
        yield
    finally:
        ask(page, """await panel.sessionContext.shutdown();
                     panel.context.model.dirty = false;
                     panel.dispose()""")


def ask(page, script, argument=None, seconds=30):
    """What the script returns; it knows the notebook's panel, its kernel and the argument."""
    waiting = f"async argument => {{ {KERNEL} return [await (async () => {{ {script} }})()] }}"
    return page.wait_for_function(waiting, arg=argument, timeout=1000 * seconds).json_value()[0]


def in_kernel(page, expression, code=""):
    """The value of a Python expression, by JSON; the cells and their numbers take no notice."""
    content = ask(page, """
        const [code, expression] = argument;
        const asked = kernel.requestExecute({code, silent: true, store_history: false,
                                             user_expressions: {answer: expression}});
        return (await asked.done).content""", [code, f"__import__('json').dumps({expression})"])
    answer = content.get("user_expressions", {}).get("answer", content)
    assert answer["status"] == "ok", f"{answer['ename']}: {answer['evalue']}"
    return json.loads(ast.literal_eval(answer["data"]["text/plain"]))


def watch_explorers(page):
    folder = str(Path(__file__).parent)
    in_kernel(page, "None", f"import sys; sys.path.append({folder!r}); import watch; watch.start()")


def run_all(page):
    """Run all cells, up to an error that nobody asked for; the code cells as if saved now."""
    # The command's own promise is kept too early where a cell raises, and a cell whose source is
    # hidden shows no prompt: so the numbers of the cells are waited for.
    ask(page, """await jupyterapp.commands.execute('notebook:clear-all-cell-outputs');
                 jupyterapp.commands.execute('notebook:run-all-cells')""")
    try:
        page.wait_for_function("""() => {
            const cells = panel.content.widgets.map(c => c.model).filter(m => m.type == 'code');
            const failed = m => m.outputs.toJSON().some(o => o.output_type == 'error') &&
                                !(m.getMetadata('tags') ?? []).includes('raises-exception');
            return cells.every(m => m.executionCount) || cells.some(failed) }""",
            timeout=1000 * RUN_SECONDS)
    except TooLong:
        waiting = [cell["source"] for cell in code_cells(page) if not cell["execution_count"]]
        raise AssertionError(
            f"a cell did not end within {RUN_SECONDS} seconds: {waiting[0]}") from None
    return code_cells(page)


def code_cells(page):
    return ask(page, """return panel.content.widgets.map(c => c.model.toJSON())
                        .filter(c => c.cell_type == 'code')""")


def cell_with(page, source):
    """The locator of the only code cell whose source holds the text."""
    places = ask(page, """return panel.content.widgets.map((c, i) => [i, c.model])
        .filter(([i, m]) => m.type == 'code' && m.sharedModel.getSource().includes(argument))
        .map(([i]) => i)""", source)
    assert len(places) == 1, f"{len(places)} cells hold {source!r}"
    return page.locator(".jp-Notebook-cell").nth(places[0])


def run_cell(page, cell, source=None):
    """Run one cell as a learner does, with new source if there is some; what it prints."""
    if source is not None:
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(source)
    else:
        cell.locator(".jp-InputPrompt").first.click()
    place = ask(page, """panel.content.activeCell.model.executionCount = null;
                         return panel.content.activeCellIndex""")
    page.keyboard.press("Control+Enter")
    ask(page, """const model = panel.content.widgets[argument].model;
                 while (!model.executionCount) await new Promise(done => setTimeout(done, 50))""",
        place)
    return cell.locator(".jp-Cell-outputArea").inner_text()
