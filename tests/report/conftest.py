import os
import shutil

import pytest

from page_visits import Visit

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail("no chromium on the path; on Debian: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.fail("playwright is not installed: pip install playwright")
    with sync_playwright() as playwright:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]
        running = playwright.chromium.launch(executable_path=path, args=sandbox)
        yield running
        running.close()


@pytest.fixture
def visit(browser, tmp_path):
    one = Visit(browser, tmp_path, viewport={"width": 1280, "height": 900})
    yield one
    one.close()


@pytest.fixture
def axe():
    """Require axe-core, which checks the accessibility of pages."""
    try:
        import axe_playwright_python  # noqa: F401
    except ImportError:
        pytest.fail("axe-core is not installed: pip install axe-playwright-python")
