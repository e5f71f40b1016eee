"""Diagnostics, warnings and verdicts, on cases made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from gramshift import StringKernel
from gramshift.learn.class_proportions import proportions_matter
from gramshift.model.advice import (
    Advice,
    FitSummary,
    agreement,
    class_prior_in_words,
    class_proportions,
    count_to_label,
    diagnose,
    drift,
    how_sure,
    label_sentence,
    warn,
)
from gramshift.model.diagnosis import separability
from gramshift.model.settings import UNADAPTED
from gramshift.model.verdict import choose_verdict, judge_labels, tone_of
from gramshift.terminal import counts_in_words, labelled_in_words

EVEN = {"good": 0.5, "bad": 0.5}
DRIFT = "drift of the class proportions"
THREE = {"a": 0.4, "b": 0.3, "c": 0.3}


def shares(good):
    return {"good": good, "bad": 1 - good}


def test_the_figures_by_hand():
    assert class_proportions(["a", "b", "a", "a"], ["a", "b", "c"]) == {
        "a": 0.75,
        "b": 0.25,
        "c": 0.0,
    }
    assert agreement(["a", "b", "a"], ["a", "a", "a"]) == pytest.approx(2 / 3)
    assert drift([shares(0.5), shares(0.9), shares(0.7)]) == pytest.approx(0.2)
    assert drift([{"a": 0.2, "b": 0.3, "c": 0.5}, {"a": 0.5, "b": 0.3, "c": 0.2}]) == pytest.approx(
        0.3
    )


def warn_of(source, rounds, n_target=40, **more):
    """Return the warnings of a target with these class proportions in each round."""
    return warn(FitSummary(["a"] * n_target, source, rounds, **more))


def gram_of(source, target):
    gram = StringKernel(ngram_range=(2, 3)).gram([*source, *target])
    return gram, np.arange(len(gram)) < len(source)


def test_domains_that_share_nothing_are_always_separated():
    source = [f"knife blade pan {word}" for word in ["alpha", "beta", "gamma", "delta"]]
    target = [f"film scene plot {word}" for word in ["one", "two", "three", "four", "five"]]
    assert separability(*gram_of(source, target)) == 1.0


def test_two_halves_of_one_domain_are_not_separated():
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefgh"), 12)) for _ in range(300)]
    assert separability(*gram_of(texts[:150], texts[150:])) < 0.6


def test_leaving_one_out_equals_fitting_without_it():
    """Against a ridge regression with a bias, solved for each document."""
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
    pairs = [
        (scores[a] > scores[b]) + (scores[a] == scores[b]) / 2
        for a in range(18)
        for b in range(18, 25)
    ]
    assert separability(gram, is_source) == pytest.approx(np.mean(pairs))
    assert 0.5 < np.mean(pairs) < 1


def test_only_some_documents_are_compared():
    """Only documents that are compared separate the domains; the others share nothing."""
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
            ["one class dominates: 97% of the target got 'good', which is 50% of the source"],
        ),
        (shares(0.9), [shares(0.94), shares(0.97)], []),
        (
            EVEN,
            [shares(0.5), shares(0.75)],
            ["the proportion of 'good' grew from 50% to 75% over the rounds"],
        ),
        (
            EVEN,
            [shares(0.5), shares(1.0)],
            ["one class dominates: 100%", "no target document was labelled 'bad'"],
        ),
        (EVEN, [shares(0.95)], ["one class dominates: 95%"]),
        (
            shares(0.9),
            [shares(0.985)],
            ["one class dominates: 98% of the target got 'good', which is 90% of the source"],
        ),
        (shares(0.99), [shares(1.0)], []),  # of twenty documents none is foreseen
        (THREE, [THREE], []),
        (
            THREE,
            [{"a": 0.55, "b": 0.38, "c": 0.07}],
            ["few target documents were labelled 'c' (7.0%, 30% of the source)"],
        ),
        (THREE | {"new": 0.0}, [THREE | {"new": 0.0}], []),  # a class that a person has added
    ],
)
def test_warnings(source, stages, expected):
    found = warn_of(source, stages)
    assert len(found) == len(expected)
    assert all(words in warning for words, warning in zip(expected, found, strict=True))


@pytest.mark.parametrize(
    ("labels", "plain", "apart", "verdict", "tone"),
    [
        (["good", "bad"] * 150, ["good", "bad"] * 150, 0.9, "No red flags", "good"),
        (["good", "bad"] * 150, ["good", "bad"] * 150, 0.55, "Hardly needed", "good"),
        (
            ["good", "bad"] * 50,
            ["good", "bad"] * 50,
            0.9,
            "Unclear with only 100 target documents",
            "careful",
        ),
        (["good", "bad"] * 150, ["bad", "good"] * 150, 0.9, "Look closer", "careful"),
        (["good"] * 300, ["good", "bad"] * 150, 0.9, "Doubtful", "doubtful"),
    ],
)
def test_the_verdict_and_its_tone(labels, plain, apart, verdict, tone):
    rounds = [class_proportions(labels, ["good", "bad"])]
    found, _ = diagnose(FitSummary(labels, EVEN, rounds, reference=plain, separability=apart))
    assert found["verdict"].startswith(verdict)
    assert tone_of(found["verdict"]) == tone
    assert found["separability"]["value"] == apart
    assert found["agreement with plain"]["value"] == pytest.approx(agreement(labels, plain))


@pytest.mark.parametrize(
    ("interval", "largest", "warnings", "verdict"),
    [
        (
            (0.08, 0.99, 1.0),
            0.67,
            [],
            "Cannot tell: about 99 of 100 labels are expected to be right (8 to 100)",
        ),
        ((0.08, 0.99, 1.0), 1.0, [], "Cannot tell"),  # three documents of one class
        ((0.74, 0.85, 0.92), 0.5, [], "Yes"),
        ((0.6, 0.85, 0.95), 0.5, [], "With care"),  # of every 100 labels 40 may be wrong
        ((0.58, 0.73, 0.84), 0.5, [], "With care"),
        ((0.74, 0.85, 0.92), 0.5, ["one class dominates"], "Only after a look"),
        (
            (0.74, 0.85, 0.92),
            0.8,
            [],
            "With care",
        ),  # a quarter of the mistakes fewer than by one class alone
        (
            (0.74, 0.82, 0.92),
            0.8,
            [],
            "No, not as they are: about 82 of 100 labels are expected to be right (74 to 92),"
            " hardly more",
        ),
        (
            (0.6, 0.65, 0.7),
            0.92,
            [],
            "No, not as they are: about 65 of 100 labels are expected to be right (60 to 70),"
            " no more than",
        ),
        ((0.8, 0.9, 0.95), 0.94, [], "With care"),  # rare classes may be found well all the same
        ((0.95, 0.98, 0.99), 0.93, [], "Yes"),
        ((0.5, 0.59, 0.7), 0.5, [], "No, not as they are"),
        (
            (0.5, 0.599, 0.7),
            0.1,
            [],
            "No, not as they are: about 60 of 100 labels are expected to be right (50 to 70)."
            " Label",
        ),
        ((0.5, 0.6, 0.7), 0.1, [], "With care"),
        (
            (0.1, 0.55, 0.9),
            0.1,
            [],
            "No, not as they are",
        ),  # so few that no interval makes them usable
        ((0.5, 0.55, 0.7), 0.1, ["one class dominates"], "No, not as they are"),
    ],
)
def test_labels_are_judged_by_the_whole_interval(interval, largest, warnings, verdict):
    expected = dict(zip(("low", "value", "high"), interval, strict=True))
    assert judge_labels(expected, largest, warnings).startswith(verdict)


@pytest.mark.parametrize(
    ("interval", "largest", "tone"),
    [
        ((0.08, 0.99, 1.0), 0.6, "doubtful"),
        ((0.74, 0.85, 0.92), 0.5, "good"),
        ((0.74, 0.82, 0.92), 0.8, "doubtful"),
    ],
)
def test_verdicts_about_labels_have_a_tone_too(interval, largest, tone):
    assert (
        tone_of(
            judge_labels(dict(zip(("low", "value", "high"), interval, strict=True)), largest, [])
        )
        == tone
    )


def test_a_measured_accuracy_replaces_the_expected_one():
    verdict = judge_labels({"low": 0.53, "value": 0.57, "high": 0.6}, 0.5, [], 600)
    assert verdict.startswith(
        "No, not as they are: 57% of the 600 documents with known labels are right (53 to 60),"
        " hardly more than"
    )
    assert verdict.endswith("Label more documents by hand.")
    verdict = judge_labels({"low": 0.57, "value": 0.59, "high": 0.61}, 0.1, [], 3000)
    assert verdict.startswith(
        "No, not as they are: 59% of the 3000 documents with known labels are right (57 to 61)."
        " Label"
    )


GOOD = {"low": 0.77, "value": 0.84, "high": 0.9}


def test_few_source_documents_allow_no_verdict_unless_the_accuracy_was_measured():
    assert judge_labels(GOOD, 0.5, [], n_source=29).startswith(
        "Cannot tell: only 29 labelled source documents, too few"
    )
    assert judge_labels(GOOD, 0.5, [], n_source=30).startswith("Yes")
    assert judge_labels(GOOD, 0.5, [], 60, n_source=29).startswith("Yes")
    assert judge_labels(GOOD, 0.5, [], n_source=29, n_random=50).startswith("Yes")
    assert judge_labels(GOOD | {"value": 0.59}, 0.5, [], n_source=29).startswith(
        "No, not as they are"
    )
    few = FitSummary(["a", "b"] * 30, HALVES, [HALVES], n_source=11, expected=GOOD)
    assert diagnose(few)[0]["verdict"].startswith(
        "Cannot tell: only 11 labelled source documents, "
    )
    found, _ = diagnose(replace(few, n_random=20))
    assert found["verdict"].startswith("Yes")


def test_an_accuracy_measured_by_random_labels_is_described_as_such():
    words = "84% of labels right (77% to 90%), by 50 random labels and the estimate together"
    found = {"labels": {"a": 40, "b": 20}, "expected_accuracy": GOOD, "scores": None}
    assert how_sure(found, 50) == words
    assert label_sentence(found, 50) == f"60 documents labelled: a: 40, b: 20; {words}"
    assert how_sure(found) == "expected accuracy 84% (77% to 90%)"
    given = {"expected_accuracy_given": {"value": 0.912, "n": 30}}
    assert how_sure(found | given) == "expected accuracy 84% (77% to 90%), 91% of the labels given"
    assert how_sure(found | given, 50) == f"{words}; 91% of those given"
    assert (
        how_sure(found | {"expected_accuracy_given": {"value": None, "n": 0}})
        == "expected accuracy 84% (77% to 90%)"
    )
    verdict = judge_labels(GOOD, 0.5, [], n_random=50)
    assert f": {words}." in verdict


HALVES = {"a": 0.5, "b": 0.5}


def known(proportions):
    """Return the fields of a summary that say that these are the target's class proportions."""
    prior = {
        name: {"source": one, "estimated": one, "used": one, "low": one, "high": one}
        for name, one in proportions.items()
    }
    return {"class_prior": prior, "prior_is_known": True}


@pytest.mark.parametrize(
    ("source", "target", "warns"),
    [
        (0.01, 0.04, True),  # by 3 points
        (0.01, 0.0399, False),
        (0.02, 0.06, False),  # 3 times, not more
        (0.02, 0.0601, True),
        (0.1, 0.31, True),
        (0.1, 0.29, False),
        (0.0, 0.1, False),  # a class that a person has added
    ],
)
def test_a_class_that_multiplies_is_warned_about(source, target, warns):
    before = {"rare": source, "a": 0.5, "b": 0.5 - source}
    after = {"rare": target, "a": 0.5, "b": 0.5 - target}
    summary = FitSummary(["a"] * 1000, before, [after])
    words = (
        f"more than 3 times as common as in the source: 'rare' ({target:.1%} of the target,"
        f" {source:.1%} of the source);"
        " check some of these labels, give class_prior"
    )
    advice = Advice(without_class_prior="give class_prior")
    assert warn(summary, advice) == ([words] if warns else [])
    assert warn(replace(summary, **known(after))) == []


def test_a_class_is_warned_about_once():
    source, last = {"a": 0.2, "b": 0.4, "c": 0.4}, {"a": 0.7, "b": 0.15, "c": 0.15}
    (warning,) = warn_of(source, [source, last], n_target=400)
    assert warning.startswith("the proportion of 'a' grew from 20% to 70%")


def summary_of(used, *, low, high, labels, **more):
    prior = {
        name: {"source": 0.5, "estimated": used[name], "used": used[name], "low": low, "high": high}
        for name in ("a", "b")
    }
    rounds = [class_proportions(labels, ["a", "b"])]
    return FitSummary(labels, HALVES, rounds, n_source=100, class_prior=prior, **more)


def test_known_proportions_are_no_reason_for_warnings():
    estimated = summary_of({"a": 0.95, "b": 0.05}, low=0.9, high=1.0, labels=["a"] * 98 + ["b"] * 2)
    assert len(diagnose(estimated)[1]) == 1
    assert diagnose(replace(estimated, prior_is_known=True))[1] == []
    missed = replace(estimated, labels=["a"] * 100, rounds=[{"a": 1.0, "b": 0.0}])
    (warning,) = diagnose(replace(missed, prior_is_known=True))[1]
    assert warning == "no target document was labelled 'b'", "5 are known to be there"
    last = {"a": 0.55, "b": 0.38, "c": 0.07}
    assert warn_of(THREE, [last], **known(last)) == []
    assert warn_of(EVEN, [shares(0.5), shares(0.75)], **known(shares(0.75))) == []
    assert warn_of(EVEN, [shares(1.0)], **known(shares(1.0))) == []


def naive_changes(probabilities, prior, low, high):
    """Document by document, with whole priors."""
    fractions = []
    for code in range(len(prior)):
        found = []
        for end in (low[code], high[code]):
            other = [
                end if k == code else prior[k] * (1 - end) / (1 - prior[code])
                for k in range(len(prior))
            ]
            assert sum(other) == pytest.approx(1)
            found.append(
                [
                    int(np.argmax([p * o / b for p, o, b in zip(row, other, prior, strict=True)]))
                    for row in probabilities
                ]
            )
        fractions.append(np.mean([a != b for a, b in zip(*found, strict=True)]))
    return max(fractions)


def test_labels_that_depend_on_class_proportions_are_counted():
    even = np.array([[0.9, 0.1], [0.6, 0.4], [0.45, 0.55], [0.2, 0.8]])
    half = np.array([0.5, 0.5])
    assert proportions_matter(even, half, half, half) == 0
    assert (
        proportions_matter(even, half, half - 0.2, half + 0.2) == 0.5
    )  # odds of 3 to 7 and of 7 to 3
    assert proportions_matter(even, half, half - 0.35, half + 0.35) == 0.75  # all but 0.9
    assert (
        proportions_matter(even, np.array([1.0, 0.0]), np.array([0.9, 0.0]), np.array([1.0, 0.1]))
        >= 0
    )
    assert proportions_matter(np.empty((0, 2)), half, half - 0.2, half + 0.2) == 0
    rng = np.random.default_rng(3)
    for _ in range(20):
        probabilities, prior = rng.dirichlet([1.0] * 4, 50), rng.dirichlet([3.0] * 4)
        low, high = prior * rng.uniform(0, 1, 4), prior + (1 - prior) * rng.uniform(0, 1, 4)
        assert proportions_matter(probabilities, prior, low, high) == naive_changes(
            probabilities, prior, low, high
        )


def unknown(n_decided, *, n=100, low=0.34, high=0.66, **more):
    """Return the diagnostic of n documents of which n_decided depend on the proportions."""
    probabilities = np.array([[0.55, 0.45]] * n_decided + [[0.95, 0.05]] * (n - n_decided))
    given = summary_of(
        HALVES,
        low=low,
        high=high,
        labels=["a", "b"] * (n // 2),
        probabilities=probabilities,
        **more,
    )
    return diagnose(given)[0].get("class proportions unknown")


def test_proportions_that_are_unknown_and_decide_are_diagnosed():
    words = "Class proportions are unknown and decide this result: label 50 random documents."
    assert unknown(21) == {"value": 0.21, "sentence": words}
    assert unknown(20) is None
    assert unknown(50, low=0.36) is None  # no wider than 0.3
    assert unknown(50, prior_is_known=True) is None
    assert unknown(30, n=60)["sentence"].endswith("label 30 random documents.")
    assert unknown(18, n=18) is None  # too few to say anything
    assert [count_to_label(n) for n in (19, 20, 99, 100, 5000)] == [9, 10, 49, 50, 50]


NO, UNSURE, LOOK, CARE, YES = (
    "No, not as they are: x",
    "Cannot tell: x",
    "Only after a look: x",
    "With care: x",
    "Yes, for: x",
)


@pytest.mark.parametrize(
    ("before", "after", "checked", "wrong", "shown"),
    [
        (NO, YES, 10, 6, NO),
        (NO, YES, 10, 5, YES),  # no more than half
        (NO, YES, 0, 0, YES),
        (None, YES, 10, 9, YES),
        (YES, NO, 10, 9, NO),
        (NO, UNSURE, 3, 2, NO),
        (UNSURE, CARE, 3, 2, UNSURE),
        (LOOK, CARE, 3, 2, LOOK),
        ("Doubtful: x", CARE, 3, 2, "Doubtful: x"),
        (CARE, YES, 3, 2, CARE),
        (UNSURE, LOOK, 3, 2, LOOK),  # as bad: that of the present run
        ("Look closer: x", "No red flags: x", 3, 2, "Look closer: x"),
    ],
)
def test_a_verdict_does_not_improve_by_labels_that_were_mostly_wrong(
    before, after, checked, wrong, shown
):
    assert choose_verdict(before, after, checked, wrong) == shown


def test_if_plain_gives_the_same_labels_it_is_no_safer():
    labels = ["good"] * 300
    same = FitSummary(labels, EVEN, [shares(1.0)], reference=labels, separability=0.9)
    found, _ = diagnose(same)
    assert found["verdict"] == "Doubtful: see the warnings. The plain labels are the same."
    found, _ = diagnose(replace(same, rounds=[shares(0.5), shares(1.0)]))
    assert "round by round: good: 100%, 50%, 100%" in found[DRIFT]["sentence"]
    found, _ = diagnose(replace(same, rounds=[shares(0.5), shares(1.0)], reference_name=UNADAPTED))
    assert found["verdict"] == "Doubtful: see the warnings. The unadapted labels are the same."
    assert found["agreement with unadapted"]["sentence"].endswith("match the unadapted ones.")
    shown = "Class proportions, unadapted and in later rounds: good: 100%, 100%"
    assert found[DRIFT]["sentence"].startswith(shown)


def test_of_many_classes_the_proportions_that_moved_most_are_listed():
    names = [f"c{number}" for number in range(20)]
    labels = [name for k, name in enumerate(names) for _ in range(2 if k % 7 else 22)]
    plain = [name for name in names for _ in range(5)]
    prior = {
        name: {"source": 0.05, "estimated": 0.05, "used": 0.05 + 0.01 * (k % 7 == 0)}
        | {"low": 0.0, "high": float(k == 1)}
        for k, name in enumerate(names)
    }
    stages = [class_proportions(labels, names)]
    source = dict.fromkeys(names, 0.05)
    summary = FitSummary(labels, source, stages, reference=plain, class_prior=prior)
    found, _ = diagnose(summary)
    drift = found[DRIFT]["sentence"]
    assert "plain and round by round: c0: 5%, 22%; c1: 5%, 2%;" in drift
    assert drift.endswith("c14: 5%, 22%; 12 more not listed.")
    used = found["class proportions moved"]["sentence"]
    assert used.startswith("Class proportions used: c0: 6% (0% to 0%; source 5%, estimated 5%);")
    assert "; c14: 6% (" in used
    assert used.endswith("; 12 more not listed.")


def test_a_class_that_was_not_allowed_to_grow_is_named_though_it_has_not_moved():
    names = [f"c{number}" for number in range(20)]
    one = {"source": 0.05, "estimated": 0.05, "used": 0.05, "low": 0.0, "high": 1.0}
    prior = {name: one | {"used": 0.01 * k} for k, name in enumerate(names)}
    prior["c5"] = one | {"estimated": 0.4, "limit": 0.05}
    assert "; c5:" not in class_prior_in_words(prior)
    held = ". c5 is held near 5%: the unadapted labels do not support the estimated 40%."
    assert class_prior_in_words(prior).endswith(held)
    prior["c5"] |= {"used": 0.5}  # random labels say more than the unadapted ones
    assert "held" not in class_prior_in_words(prior)


def test_a_single_round_is_compared_with_the_labels_without_adapting():
    plain, labels = ["good", "bad"] * 50, ["good"] * 80 + ["bad"] * 20
    grown = FitSummary(labels, EVEN, [shares(0.8)], reference=plain, separability=0.9)
    _, warnings = diagnose(grown, Advice(without_class_prior="compare with best"))
    assert warnings == [
        "the proportion of 'good' is 80%, plain 50%: check some of these labels, compare with best"
    ]


def test_counts_are_listed_in_the_order_of_the_classes():
    assert counts_in_words({"1": 190, "2": 14, "4": 684}) == "1: 190, 2: 14, 4: 684"
    many = {f"c{number}": number for number in range(8)}
    assert counts_in_words(many) == "c2: 2, c3: 3, c4: 4, c5: 5, c6: 6, c7: 7 and 2 more classes"
    assert labelled_in_words({"labels": {"a": 40, "b": 20}}) == "60 documents labelled"
    left = {"labels": {"a": 40, "b": 20}, "abstained": 60}
    assert labelled_in_words(left) == "60 of 120 documents labelled (60 left without a label)"


def test_without_plain_there_is_no_verdict():
    found, _ = diagnose(FitSummary(["good"], EVEN, [shares(1.0)], separability=0.7))
    assert set(found) == {"separability"}


def test_labels_that_match_plain_are_counted():
    for same, share in ((20, "100%"), (19, "95%"), (10, "50%")):
        plain = ["good"] * same + ["bad"] * (20 - same)
        found, _ = diagnose(FitSummary(["good"] * 20, EVEN, [shares(1.0)], reference=plain))
        assert found["agreement with plain"]["sentence"].startswith(
            f"{share} of labels ({same} of 20) match"
        )
