"""One JupyterLab of its own on this machine, and one Chromium, for all tests of this folder.

Plain `pytest` does not collect them. Run them by name, from the project's root:

    pip install -r requirements-slow.txt
    pytest tests/browser/browser_*.py

They need Chromium (or Chrome); set GPT2LAB_CHROMIUM to its path if it is not found. Set
GPT2LAB_SHOTS to a folder to keep a picture of each explorer and each exported page.
"""
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 30                                    # longest wait for one thing in a page
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},    # all cells in the page
}
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window. Fails, with what to do, where it or its driver is missing."""
    names = [os.environ.get("GPT2LAB_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    if path is None:
        pytest.fail("these tests need Chromium: `apt-get install chromium fonts-dejavu-core`, "
                    "or set GPT2LAB_CHROMIUM to the path of Chromium or Chrome", pytrace=False)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.fail("these tests need playwright: `pip install -r requirements-slow.txt`",
                    pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def my_ops_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("my_ops")


@pytest.fixture
def my_ops(my_ops_folder):
    """The folder in which a learner's operations are kept; empty again after the test."""
    yield my_ops_folder
    for path in my_ops_folder.iterdir():
        path.unlink()


@pytest.fixture(scope="session")
def lab(tmp_path_factory, my_ops_folder):
    """A JupyterLab, on a copy of the notebooks, that reads no settings of this user."""
    home = tmp_path_factory.mktemp("jupyter")
    (home / "config/labconfig").mkdir(parents=True)
    (home / "config/labconfig/default_setting_overrides.json").write_text(json.dumps(SETTINGS))
    folder = tmp_path_factory.mktemp("course") / "notebooks"
    shutil.copytree(ROOT / "notebooks", folder,
                    ignore=shutil.ignore_patterns("my_ops", ".ipynb_checkpoints"))
    (folder.parent / "data").symlink_to(ROOT / "data")
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    env = dict(os.environ, PYTHONPATH=python_path, GPT2LAB_MY_OPS=str(my_ops_folder),
               IPYTHONDIR=f"{home}/ipython", JUPYTER_CONFIG_DIR=f"{home}/config",
               JUPYTER_DATA_DIR=f"{home}/data", JUPYTER_RUNTIME_DIR=f"{home}/runtime",
               JUPYTERLAB_SETTINGS_DIR=f"{home}/settings",
               JUPYTERLAB_WORKSPACES_DIR=f"{home}/workspaces")
    token = secrets.token_hex(16)
    with open(home / "log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
             "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", f"--IdentityProvider.token={token}",
             f"--ServerApp.root_dir={folder.parent}", "--LabApp.expose_app_in_browser=True"],
            env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        end = time.monotonic() + 90
        while not (info := list(home.glob("runtime/jpserver-*.json"))):    # it names the free port
            if server.poll() is not None or time.monotonic() > end:
                said = (home / "log").read_text()[-3000:]
                pytest.fail(f"JupyterLab did not start:\n{said}", pytrace=False)
            time.sleep(0.2)
        url = json.loads(info[0].read_text())["url"].rstrip("/")
        yield Lab(folder, url, token)
    finally:
        os.killpg(server.pid, signal.SIGTERM)   # the group started above, kernels included
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)


class Lab:
    """Where the JupyterLab of the tests is, and the folder with its copy of the notebooks."""

    def __init__(self, folder, url, token):
        self.folder, self.url, self.token = folder, url, token


@pytest.fixture(scope="session")
def only_page(browser, lab):
    """JupyterLab takes seconds to appear: so once for all tests."""
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.set_default_timeout(1000 * SECONDS)
    page.troubles = []
    page.on("pageerror", lambda error: page.troubles.append(f"page error: {error}"))
    page.on("console", lambda said: said.type == "error" and page.troubles.append(
        f"console error: {said.text} ({said.location.get('url')})"))
    page.goto(f"{lab.url}/lab?reset&token={lab.token}")
    page.wait_for_selector(".jp-Launcher")
    return page


@pytest.fixture
def page(only_page):
    """JupyterLab in the browser; page.troubles collects the complaints of console and scripts."""
    only_page.troubles.clear()
    return only_page


@pytest.fixture
def shot(request):
    """shot(page or element, name) keeps a picture of it in the folder GPT2LAB_SHOTS, if set."""
    def keep(what, name, **settings):
        if folder := os.environ.get("GPT2LAB_SHOTS"):
            file = re.sub(r"[^\w.]+", "_", name) + ".png"
            what.screenshot(path=Path(folder) / file, **settings)
    return keep
