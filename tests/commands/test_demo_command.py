import json

from gramshift.commands.demo import describe, run_demo, write_demo
from small_tables import read_csv


def test_the_demo_labels_films_better_than_chance():
    result = run_demo() | {"folder": "demo", "report": "demo/report.html"}
    first, second = result["settings"]
    assert (first["source"], first["target"], first["n"]) == ("kitchen", "films", 420)
    assert (second["source"], second["target"]) == ("films", "kitchen")
    assert (
        list(first["accuracy"])
        == list(second["accuracy"])
        == ["plain", "paper", "unadapted", "best"]
    )
    assert all(
        value > 54.8 for value in first["accuracy"].values()
    )  # 230 of 420: by chance once in forty times
    json.dumps(result)
    page = describe(result)
    for value in [*first["accuracy"].values(), *second["accuracy"].values()]:
        assert f"{value:.1f}" in page
    assert "The surest answer" in page


def test_the_demo_ends_with_a_page_to_open(tmp_path):
    folder = tmp_path / "new"
    for _ in range(2):  # a second time replaces what the first has written
        result = write_demo(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "films.csv",
        "kitchen.csv",
        "labels.csv",
        "report.html",
    ]
    assert "kitchen.csv" in (folder / "report.html").read_text()
    assert result["report"] == str(folder / "report.html")
    assert len(read_csv(folder / "labels.csv")) == 420
    page = describe(run_demo() | result)
    assert page.splitlines()[-1] == str(folder / "report.html")
