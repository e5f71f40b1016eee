import json

from gramshift.cli.demo import describe, run_demo


def test_the_demo_finds_reviews_of_one_domain_more_alike():
    result = run_demo()
    means = result["mean_similarity"]
    assert result["documents"] == 240
    assert means["positive kitchen"]["negative kitchen"] > means["positive kitchen"]["negative films"]
    assert [pair["similarity"] for pair in result["closest"]] == sorted(
        (p["similarity"] for p in result["closest"]), reverse=True
    )
    json.dumps(result)
    assert "240 reviews compared" in describe(result)
