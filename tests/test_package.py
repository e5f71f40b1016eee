"""What holds for the package as a whole."""

import ast
import doctest
import re
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

import pytest

import gramshift

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gramshift"
BELOW = {  # what each room may import; what that may import, it may too
    "errors": [],
    "leaf": [],
    "text": ["errors"],
    "ngrams": ["leaf", "text"],
    "kernels": ["ngrams"],
    "runtime": ["text"],
    "grams": ["kernels", "runtime"],
    "learn": ["leaf", "runtime"],
    "model": ["grams", "learn"],
    "baselines": ["model"],
    "methods": ["model", "baselines"],
    "data": ["text"],
    "evaluate": ["methods", "data"],
    "report": ["evaluate"],
    "commands": ["report"],
}


def reachable(room):
    """The rooms that a room may import."""
    found, left = set(), [room]
    while left:
        here = left.pop()
        if here not in found:
            found.add(here)
            left += BELOW[here]
    return found


def test_public_names_can_be_imported():
    assert all(getattr(gramshift, name) is not None for name in gramshift.__all__)
    assert dir(gramshift) == sorted(gramshift.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Stringkernel'"):
        _ = gramshift.Stringkernel


def test_the_version_is_the_one_that_is_installed():
    assert metadata.version("gramshift") == gramshift.__version__


def test_lower_layers_never_import_higher_ones():
    for path in SOURCE.glob("*/**/*.py"):
        allowed = reachable(path.relative_to(SOURCE).parts[0])
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("gramshift."):
                assert node.module.split(".")[1] in allowed, f"{path} imports {node.module}"


def test_modules_are_short():
    assert {path.name: size for path in SOURCE.rglob("*.py") if (size := len(path.read_text().splitlines())) > 400} == {}


def test_every_compiled_leaf_is_cached_on_disk_and_needs_no_gil():
    paths = sorted(SOURCE.glob("*/leaves/[a-z]*.py"))
    assert len(paths) > 10
    for path in paths:
        module = import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))
        leaves = [value for value in vars(module).values() if hasattr(value, "signatures")]
        assert leaves
        for leaf in leaves:
            assert leaf.signatures
            assert leaf.targetoptions["nogil"]
            assert leaf.stats.cache_path


def test_doctests():
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("page", ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))])
def test_examples_in_the_documents_run(page):
    """Every >>> example in a document is run as it stands, top to bottom, and its output compared."""
    text = (ROOT / page).read_text()
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", text, flags=re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.summarize().failed == 0
    if page == "README.md":
        assert test.examples


def test_importing_changes_nothing_and_says_nothing():
    """Libraries set filters of warnings when they are imported; we add none to theirs, nor a handler of messages."""
    script = "import logging, warnings, numba, scipy.special, sklearn.linear_model; before = list(warnings.filters); "
    script += "import gramshift; gramshift.StringKernel; gramshift.TransductiveClassifier; assert warnings.filters == before; "
    script += "assert not logging.getLogger('gramshift').handlers"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout == result.stderr == ""


def test_the_command_line_does_not_wait_for_compiled_code():
    script = (
        "import sys; from gramshift.commands import main; assert 'numba' not in sys.modules and 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_dask_is_loaded_only_when_it_is_asked_for():
    script = (
        "import sys, gramshift; gramshift.StringKernel(ngram_range=(1, 2)).gram(['a', 'b']); gramshift.TransductiveClassifier; "
    )
    script += "assert not {'dask', 'distributed', 'tornado'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
