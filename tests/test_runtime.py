import ast
from dataclasses import replace
from pathlib import Path

import pytest

import gramshift as gs
from gramshift.kernels.registry import KERNELS
from gramshift.runtime import STAGES, Runtime

SOURCE = Path(gs.__file__).parent
REPORTING = ("progress", "report", "under")  # callables whose first argument is a stage


def stages_in(tree):
    """Yield the stages in calls: the first argument of a report, or the argument ``stage``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", "")).strip("_")
            named = [keyword.value for keyword in node.keywords if keyword.arg == "stage"]
            for value in named + (node.args[:1] if called in REPORTING else []):
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
                    yield value.value


def test_the_table_of_stages_is_complete_and_has_no_others():
    files = [path for path in SOURCE.rglob("*.py") if path.name != "runtime.py"]
    trees = [ast.parse(path.read_text()) for path in files]
    found = {stage for tree in trees for stage in stages_in(tree)}
    found |= {kind.stage for kind in KERNELS.values()}
    nodes = [node for tree in trees for node in ast.walk(tree)]
    constants = {node.value for node in nodes if isinstance(node, ast.Constant)}
    assert len(found) > 10
    assert found <= set(STAGES) <= constants


def test_an_unknown_stage_is_refused():
    runtime = Runtime(1)
    with pytest.raises(AssertionError, match="guessing"):
        runtime.report("guessing", 1, 2)
    with pytest.raises(AssertionError, match="guessing"):
        runtime.under("guessing")


def test_work_on_threads_is_reported_as_its_stage_or_under_another():
    calls = []
    runtime = Runtime(2, progress=lambda *call: calls.append(call))
    assert runtime.run(abs, [-1]) == [1]
    assert calls == []
    runtime.run(abs, range(1), stage="gram")
    runtime.under("reference").run(abs, range(2), stage="gram")
    reference = [("reference", done, 2) for done in range(3)]
    assert calls == [("gram", 0, 1), ("gram", 1, 1), *reference]
    assert Runtime(2).under("reference").progress is None


def test_memory_is_the_limit_of_the_user_or_all_free_memory():
    assert Runtime(memory_limit="2 MB").memory == 2_000_000
    free = Runtime()
    assert free.memory > 0
    pinned = free.pinned()
    assert pinned.memory == pinned.memory_limit
    assert replace(pinned, memory_limit=None) == free
    with pytest.raises(MemoryError, match=r"needs 2.9 MiB.*limit is 1.9 MiB: buy some"):
        Runtime(memory_limit="2 MB").require("a gram", 3_000_000, "buy some")
