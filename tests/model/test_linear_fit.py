"""Whole fits of linear models: against the recipe line by line, and against fits that compare all
documents by a gram.
"""

from collections import defaultdict
from dataclasses import replace
from functools import cache
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import gramshift as gs
import naive
import naive_best
from conftest import ALPHABET, examples
from gramshift.kernels.corpus import Corpus
from gramshift.learn.calibrate import fit_offsets
from gramshift.learn.rounds import fit_rounds
from gramshift.learn.training_set import TrainingSet
from gramshift.model.feature_makers import NGramFeatureMaker
from gramshift.model.fit import describe_work, kernel_features, make_schedule
from gramshift.model.inputs import gather
from gramshift.model.ngram_model import ListedNGram
from gramshift.model.settings import PRESETS
from gramshift.ngrams.feature_lists import MIN_PARALLEL_ENTRIES
from gramshift.runtime import Runtime
from gramshift.text.documents import as_documents
from gramshift.text.steps import TextSteps
from gramshift.text.words import split_words
from small_demo import load_demo

HELD = PRESETS["best"]
POWERS = {"idf": HELD["weighting"]["idf"], "by_class": HELD["weighting"]["classes"]}
PROMISED = 1e-6  # of a score
SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
X, Y, TARGET = SOURCE.texts, SOURCE.labels, FILMS.texts
NEW = [
    "a great blender, i love it",
    "Broke after a day; waste of money!",
    "",
    "\ud800 gr\N{GRINNING FACE}eat",
    *TARGET[:3],
]


def draw_documents(n_classes, n, seed):
    """Documents of words that some classes have more often; with copies, an empty one, one of
    unknown words, and some that are long enough for an opening.
    """
    chance, words = (
        np.random.default_rng(seed),
        ["good", "bad", "pan!", "ok", "lid", "Tea", "dull", "fun", "so", "\N{SNOWMAN}"],
    )
    codes = [i % n_classes for i in range(n)]
    texts = []
    for i, code in enumerate(codes):
        odds = np.ones(len(words)) + 3 * (np.arange(len(words)) % n_classes == code)
        texts.append(" ".join(chance.choice(words, 80 if i % 5 == 3 else 6, p=odds / odds.sum())))
    texts[-1], texts[n_classes], texts[-2] = "", texts[0], "zzz yyy"
    return texts, codes


def fit_best(source, labels, target=None, **options):
    """With all rounds, which a target of fewer than 50 documents does not get by itself."""
    given_ = {"preset": "best", "ngram_range": (2, 3), "n_added": HELD["n_added"]} | options
    return gs.TransductiveClassifier(**given_).fit(source, labels, target=target)


def fit_by_gram(options, source, labels, target=None):
    """Run the same rounds with a kernel matrix for every training set, as other classifiers do."""
    runtime = Runtime(1)
    settings, kernel_list = gs.TransductiveClassifier(**options)._check_parameters(runtime)
    given_ = gather(source, labels, target, read=as_documents)
    classes, training_set = given_.read_labels(settings)
    schedule = make_schedule(settings, given_, training_set, classes)
    feature_maker, _ = kernel_features(
        settings, kernel_list, given_, training_set, schedule, runtime, map
    )
    words = NGramFeatureMaker(
        kernel_list, Corpus(given_.documents), alpha=1.0, bias=False, runtime=runtime
    )
    feature_maker.measure_drift = (
        words.measure_drift
    )  # a gram does not tell how far words have drifted
    return fit_rounds(feature_maker, training_set, schedule, runtime)


def views_of(texts, ngram_range=(2, 3)):
    """The n-grams and the words and pairs of words of each document."""
    prepared = [naive.prepare(text) for text in texts]
    words = [naive.words_with_opening(text) for text in prepared]
    pairs = [
        {tuple(one[i : i + n]) for n in (1, 2) for i in range(len(one) - n + 1)} for one in words
    ]
    return [[set(naive.ngrams(text, ngram_range)) for text in prepared], pairs]


def with_evidence(source, target, ngram_range):
    """Which target documents share an n-gram or a word with the source: others are left out of a
    fit.
    """
    views, m = views_of([*source, *target], ngram_range), len(source)
    return [
        i for i in range(len(target)) if any(sets[m + i] & set().union(*sets[:m]) for sets in views)
    ]


def known_classes(clf):
    return [None if code < 0 else code for code in clf.result_.training_set.known.tolist()]


@pytest.mark.parametrize(
    ("n_classes", "n", "ngram_range"),
    [(2, 16, (2, 3)), (2, 21, (1, 2)), (3, 18, (3, 5)), (7, 24, (2, 3))],
)
def test_rounds_are_the_recipe_line_by_line(n_classes, n, ngram_range):
    """Two kernels, also with the same range, copies, empty documents, as many rounds as the preset
    has.
    """
    seed = n
    source, codes = draw_documents(n_classes, n, seed)
    target, _ = draw_documents(n_classes, n - 5, seed + 100)
    clf = fit_best(source, [f"class {code}" for code in codes], target, ngram_range=ngram_range)
    scores, shares = naive_best.best(
        source,
        codes,
        target,
        ngram_range=ngram_range,
        alpha=HELD["alpha"],
        added=HELD["n_added"],
        fit_offsets=fit_offsets,
        **POWERS,
    )
    assert clf.result_.model.ngrams is not None
    blank = np.isnan(scores).any(axis=1)
    np.testing.assert_allclose(
        clf.transduction_score_[~blank], scores[~blank], rtol=0, atol=PROMISED
    )
    np.testing.assert_allclose(
        [one["used"] for one in clf.class_prior_.values()], shares, rtol=0, atol=PROMISED
    )
    np.testing.assert_allclose(
        clf.transduction_proba_[blank], np.tile(shares, (blank.sum(), 1)), rtol=0, atol=1e-6
    )
    assert len(clf.history_) == 1 + len(HELD["n_added"])


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("n_classes", [2, 7])
def test_documents_are_compared_by_the_weights_of_the_recipe(n_classes, across):
    """Across domains n-grams that one of them has more often count less; some classes of either
    domain are known.
    """
    source, codes = draw_documents(n_classes, 16, 12)
    target, answers = draw_documents(n_classes, 9, 13)
    known = [*codes, *(code if row % 2 else None for row, code in enumerate(answers))]
    rows = np.array([row for row, code in enumerate(known) if code is not None])
    training_set = TrainingSet(
        np.arange(25) < 16, rows, np.array([known[row] for row in rows]), n_classes
    )
    runtime = Runtime(1)
    _, kernel_list = gs.TransductiveClassifier(preset="best", ngram_range=(2, 3))._check_parameters(
        runtime
    )
    feature_maker = NGramFeatureMaker(
        kernel_list, Corpus([*source, *target]), alpha=1.0, bias=False, runtime=runtime
    )
    found = feature_maker.features_for(training_set, across=across).multiply(np.eye(25))
    powers = POWERS | ({"n_source": 16} if across else {})
    expected = np.mean(
        [naive_best.similarity(sets, known, **powers) for sets in views_of([*source, *target])],
        axis=0,
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert feature_maker.by_labels


@pytest.mark.parametrize(("n_source", "n_target"), [(120, 120), (120, 30), (20, 15), (4, 120)])
def test_drift_is_that_of_words_and_pairs_of_words(n_source, n_target):
    texts, runtime = [*X[:n_source], *TARGET[:n_target]], Runtime(2)
    _, kernel_list = gs.TransductiveClassifier()._check_parameters(runtime)
    feature_maker = NGramFeatureMaker(
        kernel_list, Corpus(texts), alpha=1.0, bias=False, runtime=runtime
    )
    training_set = TrainingSet.of_source(
        np.arange(len(texts)) < n_source, np.arange(n_source) % 2, 2
    )
    words = [naive.words_with_opening(naive.prepare(text)) for text in texts]
    expected = naive_best.drift(words, n_source)
    assert feature_maker.measure_drift(training_set) == pytest.approx(expected, abs=1e-12)
    assert (
        feature_maker.measure_drift(
            TrainingSet.of_source(np.arange(len(texts)) < 4, np.arange(4) % 2, 2)
        )
        == 2
    )  # too few to tell


def test_gaps_in_labels_are_the_target_too():
    source, codes = draw_documents(2, 20, 4)
    target, _ = draw_documents(2, 8, 5)
    gaps = {1, 6, 7, 12, 18}
    labels = [None if i in gaps else codes[i] for i in range(20)]
    apart = (
        [source[i] for i in range(20) if i not in gaps],
        [codes[i] for i in range(20) if i not in gaps],
    )
    mixed = fit_best(source, labels, target)
    expected = fit_best(*apart, [*(source[i] for i in sorted(gaps)), *target])
    np.testing.assert_allclose(
        mixed.transduction_score_, expected.transduction_score_, rtol=0, atol=PROMISED
    )
    np.testing.assert_allclose(
        mixed.transduction_proba_, expected.transduction_proba_, rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(
        mixed.decision_function(NEW), expected.decision_function(NEW), rtol=0, atol=PROMISED
    )


some_texts = st.lists(st.text(alphabet=ALPHABET, max_size=15), min_size=1, max_size=5)


@given(some_texts, some_texts, st.integers(2, 3))
@examples(15)
def test_the_last_round_is_the_textbook_on_what_it_learnt_from(source, target, n_classes):
    """On any texts; which of equal documents joined does not matter then. From where evidence
    begins is another matter.
    """
    source = [*source, "ab", "aab", "b a"]
    clf = fit_best(source, [i % n_classes for i in range(len(source))], target, ngram_range=(1, 3))
    kept = with_evidence(source, target, (1, 3))
    known = [
        known_classes(clf)[row] for row in [*range(len(source)), *(len(source) + i for i in kept)]
    ]
    assert sum(code is not None for code in known) == sum(
        code is not None for code in known_classes(clf)
    )  # others never join
    target = [target[i] for i in kept]
    rows = [row for row, code in enumerate(known) if code is not None]
    views = views_of([*source, *target], (1, 3))
    expected = naive_best.train(views, known, rows, n_classes, HELD["alpha"], **POWERS)
    mean = [
        2 * sum(known[row] == code for row in rows) / len(rows) - 1 for code in range(n_classes)
    ]
    model = clf.result_.model
    np.testing.assert_allclose(
        model.score([*source, *target]) - model.intercepts, expected - mean, rtol=0, atol=PROMISED
    )


BY_CLASSES = gs.StringKernel(ngram_range=(3, 4), weighting={"classes": 2.0})
ALIKE = [
    {"preset": "best", "ngram_range": (3, 5), "n_rounds": 5},
    {"preset": "best", "ngram_range": (3, 5), "bias": True, "n_rounds": 2},
    {
        "preset": "best",
        "kernel": ["words", BY_CLASSES],
        "weighting": {"classes": 1.5},
        "n_added": [0.3, 20],
    },
    {"preset": "best", "kernel": "words", "class_prior": "ignored", "alpha": 2.0, "n_rounds": 5},
    {
        "preset": "best",
        "ngram_range": (3, 5),
        "weighting": {"idf": 1, "consistency": 1},
        "n_rounds": 5,
    },
    {"preset": "best", "ngram_range": (3, 5), "weighting": "idf", "n_rounds": 5},
    {"preset": "best", "kernel": [BY_CLASSES, gs.StringKernel(ngram_range=(2, 3))], "n_rounds": 5},
    {"preset": "paper", "adapt": False, "n_rounds": 1, "kernel": "presence", "ngram_range": (3, 5)},
    {
        "preset": "paper",
        "adapt": False,
        "n_rounds": 1,
        "kernel": "presence",
        "ngram_range": (2, 4),
        "bias": True,
    },
    {
        "preset": "paper",
        "adapt": False,
        "n_added": 30,
        "kernel": ["presence", "words"],
        "ngram_range": (4, 5),
    },
]
WITH_COEFFICIENTS = 5  # so many of them weigh n-grams of single documents nothing


@pytest.mark.parametrize(
    ("number", "n_classes"),
    [(0, 2), *((number, 7 - number % 2 * 5) for number in range(len(ALIKE)))],
)
def test_a_fit_without_a_gram_is_the_one_with_it(number, n_classes):
    options = ALIKE[number]
    source, target = [*X[:48], X[3], ""], [*TARGET[:25], TARGET[1], X[5]]
    labels = Y[:50] if n_classes == 2 else [i % 7 for i in range(50)]
    clf = gs.TransductiveClassifier(**options).fit(source, labels, target=target)
    expected = fit_by_gram(options, source, labels, target)
    last = expected.rounds[-1]
    np.testing.assert_allclose(clf.transduction_score_, last.scores, rtol=0, atol=PROMISED)
    assert [sum(step["added"].values()) for step in clf.history_] == [
        len(step.added) for step in expected.rounds
    ]
    calibration = clf.result_.calibration
    np.testing.assert_allclose(
        calibration.scores, expected.calibration.scores, rtol=0, atol=PROMISED
    )
    np.testing.assert_allclose(calibration.steepness, expected.calibration.steepness, rtol=1e-4)
    np.testing.assert_allclose(
        clf.result_.model.intercepts, last.fitted.intercepts, rtol=0, atol=PROMISED
    )
    assert (clf.result_.model.ngrams is not None) == (number < WITH_COEFFICIENTS)


@pytest.mark.parametrize(
    "options", ALIKE[WITH_COEFFICIENTS:], ids=map(str, range(WITH_COEFFICIENTS, len(ALIKE)))
)
def test_kernels_in_which_single_documents_count_predict_by_texts(options):
    """What an n-gram weighs that no document of the fit has is then asked of these, so that they
    are kept.
    """
    clf = gs.TransductiveClassifier(**options).fit(X[:40], Y[:40], target=TARGET[:20])
    model, last = clf.result_.model, fit_by_gram(options, X[:40], Y[:40], TARGET[:20]).rounds[-1]
    assert model.ngrams is None
    assert model.documents == X[:40] + TARGET[:20]
    expected = replace(
        model, coefficients=last.fitted.coefficients, intercepts=last.fitted.intercepts
    )
    np.testing.assert_allclose(
        clf.decision_function(NEW[:4]), expected.score(NEW[:4])[:, 1], rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_bits_do_not_depend_on_threads(preset):
    """There are as many entries as threads are worth it for, and several chunks for these."""
    source, target = (
        [f"{one[i % 120]} {two[7 * i % 120]}" for i in range(800)]
        for one, two in ((X, TARGET), (TARGET, X))
    )
    lists = Corpus([*source, *target]).lists(
        gs.StringKernel(ngram_range=(1, 5)).parse(), Runtime(1)
    )
    assert lists.n_entries > MIN_PARALLEL_ENTRIES
    assert len(lists.chunks) > 1
    results = []
    for n_jobs in (1, 2, 7):
        clf = gs.TransductiveClassifier(
            preset=preset, adapt=False, n_rounds=2, ngram_range=(1, 5), n_jobs=n_jobs
        )
        clf.fit(source, [Y[i % 120] for i in range(800)], target=target)
        found = [
            clf.transduction_score_,
            clf.transduction_proba_,
            clf.decision_function(NEW),
            clf.predict_proba(NEW),
        ]
        results.append([array.tobytes() for array in found])
    assert results[0] == results[1] == results[2]


@cache
def fit_demo(n_classes=2, **options):
    labels = Y[:50] if n_classes == 2 else [i % n_classes for i in range(50)]
    return fit_best(
        [*X[:48], X[2], ""],
        labels,
        [*TARGET[:30], TARGET[4], ""],
        **{"ngram_range": (3, 5)} | options,
    )


@given(st.lists(st.text(alphabet=ALPHABET + "good.!t, h", max_size=30), max_size=4))
@examples(12)
def test_new_documents_are_scored_as_if_they_were_compared(texts):
    """By coefficients of n-grams, and by similarities to all documents of the fit."""
    for clf in (fit_demo(), fit_demo(7), fit_demo(3, bias=True, kernel=BY_CLASSES)):
        model = clf.result_.model
        assert model.ngrams is not None
        compared = replace(model, ngrams=None).score([*texts, *NEW])
        np.testing.assert_allclose(model.score([*texts, *NEW]), compared, rtol=0, atol=1e-12)


def test_scores_of_new_documents_are_those_of_the_recipe():
    """A new document has the n-grams of the fit alone: others weigh nothing, and do not count for
    its length.
    """
    clf = fit_best(*draw_documents(7, 24, 6), draw_documents(7, 9, 7)[0], ngram_range=(3, 5))
    documents = clf.result_.model.documents[
        :-1
    ]  # the last of the target is empty, and gives no weights
    known = known_classes(clf)[:-1]
    new = ["this lid is good! xyzzy", "so dull a film", "?!", "fun, bad pan! so good" * 10]
    scores = np.tile(clf.result_.model.intercepts, (len(new), 1))
    for sets in views_of([*documents, *new], (3, 5)):
        fitted, others = sets[: len(documents)], sets[len(documents) :]
        weights = {
            gram: naive_best.weight(gram, fitted, known, **POWERS) for gram in set().union(*fitted)
        }
        for row, mine in enumerate(others):
            own = sum(weights.get(gram, 0.0) for gram in mine)
            for theirs, coefficients in zip(
                fitted, clf.result_.model.coefficients[:-1], strict=True
            ):
                shared, length = (
                    sum(weights[gram] for gram in mine & theirs),
                    sum(weights[gram] for gram in theirs),
                )
                scores[row] += coefficients * shared / sqrt(own * length) / 2 if shared else 0.0
    np.testing.assert_allclose(clf.decision_function(new), scores, rtol=0, atol=1e-10)
    assert (
        clf.decision_function([""])[0].tolist() == clf.transduction_score_[8].tolist()
    )  # the last of the target is known again


def naive_worth(clf, ngram_range):
    """(n-gram, what it is worth per class) of all that two documents or more have and no longer one
    has in the same places.
    """
    documents, known, coefficients = (
        clf.result_.model.documents,
        known_classes(clf),
        clf.result_.model.coefficients,
    )
    prepared = [naive.prepare(text) for text in documents]
    listed = [naive.words_with_opening(text) for text in prepared]
    found = []
    for units, (low, high), join in ((prepared, ngram_range, "".join), (listed, (1, 2), " ".join)):
        counts = defaultdict(lambda: defaultdict(int))
        for doc, one in enumerate(units):
            for n in range(low, high + 1):
                for i in range(len(one) - n + 1):
                    counts[tuple(one[i : i + n])][doc] += 1
        sets = [{gram for gram, docs in counts.items() if doc in docs} for doc in range(len(units))]
        weights = {gram: naive_best.weight(gram, sets, known, **POWERS) for gram in counts}
        scale = [
            1 / sqrt(own) if (own := sum(weights[gram] for gram in one)) else 0.0 for one in sets
        ]
        longer = defaultdict(list)
        for gram, docs in counts.items():
            longer[gram[:-1]].append(docs)
        for gram, docs in counts.items():
            if weights[gram] and docs not in longer[gram]:
                worth = sum(scale[doc] * coefficients[doc] for doc in docs)
                found.append((join(gram), weights[gram] * worth / 2))
    return found


@pytest.mark.parametrize("n_classes", [2, 7])
def test_strongest_ngrams_are_those_of_all(n_classes):
    source, codes = draw_documents(n_classes, 28, 8)
    target, _ = draw_documents(n_classes, 12, 9)
    target.remove("")  # it would give no weights
    clf = fit_best(source, [f"class {code}" for code in codes], target)
    every = naive_worth(clf, (2, 3))
    for n in (1, 7, 10_000):
        strongest = clf.strongest_ngrams(n)
        assert list(strongest) == clf.classes_.tolist()
        for code, label in enumerate(strongest):
            worth = sorted(
                (value[code] for _, value in every if value[code] > 1e-12), reverse=True
            )[:n]
            np.testing.assert_allclose(
                [value for _, value in strongest[label]], worth, rtol=1e-9, atol=1e-12
            )
            left = [(name, value[code]) for name, value in every]
            for name, value in strongest[label]:
                left.remove(
                    next(one for one in left if one[0] == name and abs(one[1] - value) < 1e-9)
                )


def test_strongest_ngrams_say_what_decides():
    clf = fit_best(
        ["good good pan", "a good lid", "bad pot", "bad, bad tea"],
        ["+", "+", "-", "-"],
        ["good tea", "bad lid"],
    )
    strongest = clf.strongest_ngrams(3)
    assert "good" in {name for name, _ in strongest["+"]}
    assert "bad" in {name for name, _ in strongest["-"]}
    assert all(len(one) == 3 for one in strongest.values())


def naive_overlap(first, second):
    """Whether two n-grams, each with whether it is of words, have so much in common that people
    need one of them.
    """
    (a, a_of_words), (b, b_of_words) = first, second
    a, b = a.replace("«", ""), b.replace("«", "")  # marks of an opening
    if a_of_words and b_of_words:
        return f" {a} " in f" {b} " or f" {b} " in f" {a} "
    if a_of_words != b_of_words:
        words, characters = (a, b) if a_of_words else (b, a)
        cut, short = split_words(characters), characters.strip() or characters
        size = len(words.split(" "))
        if any(cut[i : i + size] == words.split(" ") for i in range(len(cut))):
            return True
        return 2 * longest_in_common(short, words) >= len(short)
    short, long = sorted((a, b), key=lambda text: len(text.strip()))
    short = short.strip() or short
    return 2 * longest_in_common(short, long) >= len(short)


def longest_in_common(first, second):
    every = (first[i:j] for i in range(len(first)) for j in range(i, len(first) + 1))
    return max(len(part) for part in every if part in second)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ngrams_for_people_do_not_overlap(n_classes):
    clf = fit_best(
        X[:40], [f"class {row % n_classes}" for row in range(40)], TARGET[:20], ngram_range=(3, 6)
    )
    parts = clf.result_.model.ngrams.parts
    assert [part.vocabulary is not None for part in parts] == [False, True]
    for code, (label, found) in enumerate(clf.strongest_ngrams(40, overlapping=False).items()):
        kept = []
        named = [
            (replace(clf.result_.model.ngrams, parts=[part]), part.vocabulary is not None)
            for part in parts
        ]
        every = [
            (each.text, each.worth / 2, words)
            for one, words in named
            for each in one.strongest(10_000)[code]
        ]
        for text, worth, words in sorted(every, key=lambda one: -one[1]):
            if not any(naive_overlap((text, words), other[::2]) for other in kept):
                kept.append((text, worth, words))
        assert found == [(text, pytest.approx(worth)) for text, worth, _ in kept[:40]], label
        assert found[0] == clf.strongest_ngrams(1)[label][0]


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        (("isappoin", False), ("disappoi", False), True),
        (("disappoi", False), ("ppointin", False), True),  # half of it
        (("disappoi", False), ("pointing", False), False),
        (("loved ", False), (" love", False), True),
        (("waste of", True), ("waste", True), True),
        (("waste of", True), ("of", True), True),
        (("waste of", True), ("of money", True), False),
        (("our", True), ("four", True), False),  # another word
        (("«bad", True), ("bad", True), True),  # of an opening
        (("isappoin", False), ("disappointed", True), True),
        (("is bad a", False), ("bad", True), True),
        (("i", True), ("while", False), False),
        (("bad", True), ("adorable", False), False),
    ],
)
def test_what_overlaps(first, second, overlap):
    units = {False: "character", True: "word+opening"}
    a, b = (ListedNGram(text, 1.0, units[words], TextSteps()) for text, words in (first, second))
    assert a.overlaps(b) is b.overlaps(a) is overlap


def test_overlapping_is_yes_or_no():
    with pytest.raises(ValueError, match="overlapping='no': give True or False"):
        fit_demo().strongest_ngrams(3, overlapping="no")


@pytest.mark.parametrize("n", [0, -1, True, 2.5, "ten", None])
def test_a_number_of_ngrams_that_is_none_is_an_error(n):
    with pytest.raises(ValueError, match=f"n={n!r}: give a number of n-grams from 1 on"):
        fit_demo().strongest_ngrams(n)


def test_numbers_of_numpy_are_numbers():
    assert fit_demo().strongest_ngrams(np.int64(2)) == fit_demo().strongest_ngrams(2)


@pytest.mark.parametrize(
    "options",
    [
        {"preset": "paper"},
        {"preset": "best", "weighting": "idf"},
        {"preset": "best", "classifier": "discriminant"},
    ],
)
def test_other_models_have_no_strongest_ngrams(options):
    clf = gs.TransductiveClassifier(ngram_range=(3, 4), **options).fit(
        X[:20], Y[:20], target=TARGET[:10]
    )
    with pytest.raises(
        ValueError,
        match="in a linear model whose weights come from classes alone: fit with preset='best'",
    ):
        clf.strongest_ngrams()
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        gs.TransductiveClassifier(preset="best").strongest_ngrams()


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "a", "b", "b"]])
@pytest.mark.parametrize("texts", [["ab", "ab"], ["abc", "xyz"], ["", "abc"]])
def test_documents_that_share_nothing_have_no_ngrams_that_count(texts, labels):
    clf = fit_best(texts * (len(labels) // 2), labels, [""])
    assert clf.transduction_score_.shape == (1, 2)
    assert np.isfinite(clf.decision_function(["abc", "", "q"])).all()
    assert set(clf.strongest_ngrams()) == {"a", "b"}
    explanation = clf.explain("abc")
    total = explanation.empty["a"] + sum(span.shares["a"] for span in explanation.spans)
    assert total == pytest.approx(explanation.score["a"])


def test_n_jobs_of_a_loaded_model_can_be_changed(tmp_path):
    gs.TransductiveClassifier(preset="best", ngram_range=(2, 3), n_jobs=1).fit(
        X[:20], Y[:20], target=TARGET[:9]
    ).save(tmp_path / "m")
    clf = gs.load(tmp_path / "m").set_params(n_jobs="many")
    with pytest.raises(ValueError, match="n_jobs='many': give a number of threads"):
        clf.predict(NEW)
    assert len(clf.set_params(n_jobs=2).predict(NEW)) == len(NEW)


def test_memory_is_told_by_the_number_of_classes():
    given = gather(X[:40], [i % 20 for i in range(40)], TARGET[:9], read=as_documents)
    clf = gs.TransductiveClassifier(preset="best")
    _, kernel_list = clf._check_parameters(Runtime(1))
    assert describe_work(given, kernel_list, Runtime(1)).n_classes == 20
