import ast
from dataclasses import replace
from pathlib import Path

import pytest

import gramshift as gs
from gramshift.kernels.registry import KERNELS
from gramshift.runtime.resources import STAGES, Runtime
from small_demo import load_demo

SOURCE = Path(gs.__file__).parent
TELLING = ("progress", "report", "telling", "told", "under")


def stages_in(tree):
    """Names of stages that code passes on as they stand: to a call that tells of progress, or as ``stage``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", "")).strip("_")
            named = [keyword.value for keyword in node.keywords if keyword.arg == "stage"]
            for value in named + (node.args[:1] if called in TELLING else []):
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
                    yield value.value


def test_every_stage_is_in_the_list_and_nothing_else_is():
    listing = ("resources.py", "progress_bar.py")
    trees = [ast.parse(path.read_text()) for path in SOURCE.rglob("*.py") if path.name not in listing]
    found = {stage for tree in trees for stage in stages_in(tree)} | {kind.stage for kind in KERNELS.values()}
    assert len(found) > 10
    assert found <= set(STAGES)
    assert set(STAGES) <= {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def test_what_is_not_in_the_list_is_refused():
    runtime = Runtime(1)
    for call in (
        lambda: runtime.report("guessing", 1, 2),
        lambda: runtime.telling("guessing"),
        lambda: runtime.under("guessing"),
        lambda: runtime.run(abs, [1], stage="guessing"),
    ):
        with pytest.raises(AssertionError, match="guessing"):
            call()
    assert runtime.run(abs, [-1]) == [1]


@pytest.mark.parametrize("options", [{}, {"preset": "best", "n_rounds": 5}, {"kernel": "subsequence"}])
def test_a_fit_reports_stages_of_the_list(options):
    kitchen, films, calls = load_demo("kitchen"), load_demo("films"), []
    clf = gs.TransductiveClassifier(**{"preset": "paper", "ngram_range": (3, 4)} | options)
    clf.fit(kitchen.texts[:60], kitchen.labels[:60], target=films.texts[:40], progress=lambda *call: calls.append(call))
    assert clf.predict_proba(films.texts[40:50]).shape == (10, 2)
    assert {stage for stage, _, _ in calls} <= set(STAGES)
    assert all(0 <= done <= total for _, done, total in calls)


def test_progress_can_be_put_under_one_name():
    calls = []
    runtime = Runtime(2, progress=lambda *call: calls.append(call))
    runtime.under("reference").run(abs, range(2), stage="gram")
    assert calls == [("reference", 0, 2), ("reference", 1, 2), ("reference", 2, 2)]
    assert Runtime(2).under("reference").progress is None


def test_memory_is_what_the_user_allows_or_what_is_free():
    assert Runtime(memory_limit="2 MB").memory == 2_000_000
    free = Runtime()
    assert free.memory > 0
    pinned = free.pinned()
    assert pinned.memory == pinned.memory_limit
    assert replace(pinned, memory_limit=None) == free
    with pytest.raises(MemoryError, match=r"a gram needs 2.9 MiB, but the memory limit is 1.9 MiB: buy some"):
        Runtime(memory_limit="2 MB").require("a gram", 3_000_000, "buy some")
