import pytest

from gramshift.commands.classify import large_target
from gramshift.commands.label import one_file
from small_demo import load_demo
from small_tables import write_csv


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working directory, with pans, knives and truth labelled, and films not."""
    kitchen, films = load_demo("kitchen"), load_demo("films")
    rows = list(zip(range(120), kitchen.texts, kitchen.labels, strict=True))
    write_csv(tmp_path / "pans.csv", ["id", "text", "label"], rows[:70])
    write_csv(tmp_path / "knives.csv", ["key", "Review", "Sentiment"], rows[70:])
    names = [f"f{number}" for number in range(120)]
    write_csv(tmp_path / "films.csv", ["id", "text"], zip(names, films.texts, strict=True))
    write_csv(
        tmp_path / "truth.csv",
        ["id", "text", "label"],
        zip(names, films.texts, films.labels, strict=True),
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def read_rows(monkeypatch):
    """Return a function that sets how many rows are read at a time."""

    def read_rows(number):
        monkeypatch.setattr(one_file, "MAX_ROWS", number)
        monkeypatch.setattr(large_target, "MAX_ROWS", number)

    return read_rows
