"""Whether adapting was wise, on cases made by hand."""

import numpy as np
import pytest

from gramshift import StringKernel
from gramshift.evaluate.advice import agreement, class_shares, diagnose, drift, separability, warn

EVEN = {"good": 0.5, "bad": 0.5}


def shares(good):
    return {"good": good, "bad": 1 - good}


def test_the_figures_by_hand():
    assert class_shares(["a", "b", "a", "a"], ["a", "b", "c"]) == {"a": 0.75, "b": 0.25, "c": 0.0}
    assert agreement(["a", "b", "a"], ["a", "a", "a"]) == pytest.approx(2 / 3)
    assert drift([shares(0.5), shares(0.9), shares(0.7)]) == pytest.approx(0.2)
    assert drift([{"a": 0.2, "b": 0.3, "c": 0.5}, {"a": 0.5, "b": 0.3, "c": 0.2}]) == pytest.approx(0.3)


def gram_of(source, target):
    gram = StringKernel(ngram_range=(2, 3)).gram([*source, *target])
    return gram, np.arange(len(gram)) < len(source)


def test_domains_that_share_nothing_are_told_apart_always():
    source = [f"knife blade pan {word}" for word in ["alpha", "beta", "gamma", "delta"]]
    target = [f"film scene plot {word}" for word in ["one", "two", "three", "four", "five"]]
    assert separability(*gram_of(source, target)) == 1.0


def test_two_halves_of_one_domain_are_not_told_apart():
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefgh"), 12)) for _ in range(300)]
    assert separability(*gram_of(texts[:150], texts[150:])) < 0.6


def test_leaving_one_out_is_what_fitting_without_it_gives():
    """Against a ridge regression with a bias, solved anew for each document."""
    rng = np.random.default_rng(2)
    source = [" ".join(rng.choice(list("abcdef"), rng.integers(3, 9))) for _ in range(18)]
    target = [" ".join(rng.choice(list("bcdefg"), rng.integers(3, 9))) for _ in range(7)]
    gram, is_source = gram_of(source, target)
    scale = np.sqrt(np.diagonal(gram))
    kernel, y = gram / np.outer(scale, scale), np.where(is_source, 1.0, -1.0)
    scores = []
    for left in range(25):
        kept = np.arange(25) != left
        n = int(kept.sum())
        system = np.zeros((n + 1, n + 1))
        system[:n, :n], system[n, :n], system[:n, n] = kernel[np.ix_(kept, kept)] + np.eye(n), 1, 1
        solved = np.linalg.solve(system, [*y[kept], 0])
        scores.append(kernel[left, kept] @ solved[:n] + solved[n])
    pairs = [(scores[a] > scores[b]) + (scores[a] == scores[b]) / 2 for a in range(18) for b in range(18, 25)]
    assert separability(gram, is_source) == pytest.approx(np.mean(pairs))
    assert 0.5 < np.mean(pairs) < 1


def test_only_some_documents_are_looked_at():
    """Those that are looked at tell the domains apart; the others, which share nothing with any, would not."""
    gram, is_source = gram_of([f"pan {i}" for i in range(90)], [f"film {i}" for i in range(70)])
    assert separability(gram, is_source, most=20) == 1.0
    spoilt = gram.copy()
    seen = [*np.linspace(0, 89, 20).astype(int), *(90 + np.linspace(0, 69, 20).astype(int))]
    rest = np.setdiff1d(np.arange(160), seen)
    spoilt[rest], spoilt[:, rest] = 0, 0
    assert separability(spoilt, is_source, most=20) == 1.0
    assert separability(spoilt, is_source) < 1.0


@pytest.mark.parametrize(
    ("source", "stages", "expected"),
    [
        (EVEN, [EVEN, shares(0.55)], []),
        (
            EVEN,
            [shares(0.6), shares(0.97)],
            ["one class swallows the rest: 97% of the target got 'good', which is 50% of the source"],
        ),
        (shares(0.9), [shares(0.94), shares(0.97)], []),
        (EVEN, [shares(0.5), shares(0.75)], ["the share of 'good' grew from 50% to 75% over the rounds"]),
        (EVEN, [shares(0.5), shares(1.0)], ["one class swallows the rest: 100%", "no target document got 'bad'"]),
        (EVEN, [shares(0.95)], ["one class swallows the rest: 95%"]),
    ],
)
def test_warnings(source, stages, expected):
    found = warn(source=source, stages=stages)
    assert len(found) == len(expected)
    assert all(words in warning for words, warning in zip(expected, found, strict=True))


@pytest.mark.parametrize(
    ("labels", "plain", "apart", "verdict"),
    [
        (["good", "bad"] * 150, ["good", "bad"] * 150, 0.9, "Nothing speaks against it"),
        (["good", "bad"] * 150, ["good", "bad"] * 150, 0.55, "Hardly needed"),
        (["good", "bad"] * 50, ["good", "bad"] * 50, 0.9, "Not to be told from 100 target documents"),
        (["good", "bad"] * 150, ["bad", "good"] * 150, 0.9, "Look closer"),
        (["good"] * 300, ["good", "bad"] * 150, 0.9, "Doubtful"),
    ],
)
def test_the_verdict(labels, plain, apart, verdict):
    stages = [class_shares(one, ["good", "bad"]) for one in (plain, labels)]
    found, _ = diagnose(labels=labels, plain=plain, source=EVEN, stages=stages, apart=apart)
    assert found["verdict"].startswith(verdict)
    assert found["separability"]["value"] == apart
    assert found["agreement with plain"]["value"] == pytest.approx(agreement(labels, plain))


def test_without_plain_there_is_no_verdict():
    found, _ = diagnose(labels=["good"], plain=None, source=EVEN, stages=[shares(1.0)], apart=0.7)
    assert set(found) == {"separability"}


def test_all_labels_that_plain_gives_too_are_called_all():
    for same, word in ((20, "All of"), (19, "Nearly all of"), (16, "Most of"), (10, "Only part of")):
        plain = ["good"] * same + ["bad"] * (20 - same)
        found, _ = diagnose(labels=["good"] * 20, plain=plain, source=EVEN, stages=[shares(0.9)], apart=0.7)
        assert found["agreement with plain"]["sentence"].startswith(word)
