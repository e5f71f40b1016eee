"""What holds for the package as a whole."""

import doctest
import re
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path
from pkgutil import walk_packages

import pytest

import gramshift

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gramshift"


def test_public_names_can_be_imported():
    assert all(getattr(gramshift, name) is not None for name in gramshift.__all__)
    assert dir(gramshift) == sorted(gramshift.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Stringkernel'"):
        _ = gramshift.Stringkernel


def test_the_version_is_the_one_that_is_installed():
    assert metadata.version("gramshift") == gramshift.__version__
    assert f"\nversion: {gramshift.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_compiled_function_is_cached_on_disk_and_needs_no_gil():
    paths = sorted(SOURCE.glob("*/compiled/[a-z]*.py"))
    assert len(paths) > 10
    for path in paths:
        module = import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
        functions = [value for value in vars(module).values() if hasattr(value, "signatures")]
        assert functions
        for function in functions:
            assert function.declared
            assert function.targetoptions["nogil"]
            function.enable_caching()
            assert function.stats.cache_path


def test_doctests():
    names = ["gramshift", *(module.name for module in walk_packages([str(SOURCE)], "gramshift."))]
    results = {name: doctest.testmod(import_module(name)) for name in names}
    assert {name: result.failed for name, result in results.items() if result.failed} == {}
    assert sum(result.attempted for result in results.values()) > 0


PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_examples_in_the_documents_run(page, tmp_path, monkeypatch):
    """Every >>> example in a document is run from top to bottom, and its output compared."""
    monkeypatch.chdir(tmp_path)  # some write files
    text = (ROOT / page).read_text()
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", text, flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.summarize().failed == 0
    if page == "README.md":
        assert test.examples


IMPORTING = """
import locale, logging, os, signal, sys, warnings
import {first}  # what others change is not ours

def state():
    loggers = [logging.getLogger(), logging.getLogger("gramshift")]
    return {{
        "filters": list(warnings.filters),
        "handlers": [[*logger.handlers, logger.level, logger.disabled] for logger in loggers],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "path": list(sys.path),
        "locale": locale.setlocale(locale.LC_ALL),
        "signals": {{number: signal.getsignal(number) for number in signal.valid_signals()}},
        "hooks": [sys.excepthook, sys.displayhook, sys.unraisablehook],
    }}

before = state()
{work}
after = state()
changed = [(key, before[key], after[key]) for key in before if before[key] != after[key]]
assert before == after, changed
"""


COMPUTING = """
gramshift.StringKernel(ngram_range=(1, 2)).gram(["a", "b"])
assert not {"dask", "distributed", "tornado"} & set(sys.modules)  # loaded only when it is asked for
"""
STARTING = """
from gramshift.commands import main
assert not {"numba", "sklearn"} & set(sys.modules)  # the command line starts without them
"""


@pytest.mark.parametrize(
    ("first", "work", "then"),
    [
        ("sys", "import gramshift", STARTING),
        (
            "numba, numpy, scipy.linalg, scipy.sparse, sklearn.base",
            "import gramshift; gramshift.StringKernel",
            COMPUTING,
        ),
        (
            "numba, scipy.linalg, scipy.stats, sklearn.svm",
            "import gramshift; gramshift.TransductiveClassifier",
            COMPUTING,
        ),
    ],
    ids=["package", "kernel", "classifier"],
)
def test_importing_changes_nothing_says_nothing_and_loads_what_is_needed(first, work, then):
    script = IMPORTING.format(first=first, work=work) + then
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
