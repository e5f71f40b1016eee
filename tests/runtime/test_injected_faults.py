"""A fault at each call of the system that writing makes: the old file or the new one is there, whole, and nothing else."""

import os

import pytest

from bench.fault_shim import FAULTS
from bench.fault_writers import Writer, make_writers
from bench.faults import show, try_writer

pytestmark = [pytest.mark.process, pytest.mark.slow]
NAMES = (
    "labels.csv", "labels.jsonl", "labels.parquet", "labels.csv.gz", "model", "page", "labels, model and page", "explanations",
    "gram", "gram, its tiles", "kept result", "labels in a folder", "comparison", "demo", "plot", "labels by a sample",
    "fetched data",
)  # fmt: skip
USUAL = {"open", "lock", "write", "fsync", "rename", "close"}


@pytest.fixture(scope="module")
def writers(tmp_path_factory):
    with make_writers(tmp_path_factory.mktemp("writers")) as several:
        yield {writer.name: writer for writer in several}


def test_all_that_is_written_is_tried(writers):
    assert sorted(writers) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES[:-3])
def test_files_are_old_or_new_whatever_fails(writers, tmp_path, name):
    cases = list(try_writer(writers[name], tmp_path / "here", smoke=True, strace=False))
    assert {case.call for case in cases} >= USUAL
    assert len(cases) == len({case.call for case in cases}) * len(FAULTS)
    assert [case for case in cases if case.is_bad] == []
    assert {case.call for case in cases if case.outcome == "mixed"} <= {"rename"}


def test_a_writer_that_takes_no_care_is_found_out(tmp_path):
    def write(folder):
        with open(folder / "labels.csv", "wb") as file:
            file.write(b"one line\n" * 10)
        with open(folder / f"left-{os.getpid()}", "wb"):
            pass

    cases = list(try_writer(Writer("careless", write, ("labels.csv",)), tmp_path / "here", smoke=True, strace=False))
    found = {(case.call, case.fault): case.outcome for case in cases}
    assert found["write", "kill"] == "labels.csv is broken"
    assert found["write", "ENOSPC"] == "labels.csv is broken"
    rows = [vars(case) for case in cases]
    assert "labels.csv is broken" in show({"cases": len(rows), "rows": rows})
