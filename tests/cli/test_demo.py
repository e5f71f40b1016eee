import json

from gramshift.cli.demo import describe, run_demo


def test_the_demo_labels_films_better_than_chance():
    result = run_demo()
    first, second = result["settings"]
    assert (first["source"], first["target"], first["n"]) == ("kitchen", "films", 120)
    assert (second["source"], second["target"]) == ("films", "kitchen")
    assert all(value > 59.2 for value in first["accuracy"].values())  # 71 of 120: by chance once in forty times
    json.dumps(result)
    page = describe(result)
    for value in [*first["accuracy"].values(), *second["accuracy"].values()]:
        assert f"{value:.1f}" in page
    assert "The surest answer" in page
