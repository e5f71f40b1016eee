"""Fits with an encoder of the user: vectors of whole texts next to n-grams."""

from collections import Counter
from math import sqrt

import numpy as np
import pytest
from sklearn.base import clone

import gramshift as gs
import naive_best
from gramshift.commands.info import describe_model
from gramshift.errors import InputError, MemoryLimitError
from gramshift.kernels.corpus import Corpus
from gramshift.kernels.encoding import BATCH, encode_texts
from gramshift.learn.calibrate import fit_offsets
from gramshift.model import fit as model_fit
from gramshift.model.archive import ModelFileError
from gramshift.model.settings import PRESETS
from gramshift.runtime import Runtime
from small_demo import load_demo

HELD = PRESETS["best"]
LETTERS, WEIGHT = "aeinst", 0.1
SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
X, Y, TARGET = SOURCE.texts, SOURCE.labels, FILMS.texts
NEW = [
    "a great blender, i love it",
    "Broke after a day!",
    "",
    "\ud800 gr\N{GRINNING FACE}eat",
    "qq",
]


def encode(texts):
    """Count letters."""
    counts = [[text.lower().count(one) for one in LETTERS] for text in texts]
    return np.array(counts, np.float64)


def fit(source=X, labels=Y, target=TARGET, **options):
    given = {"ngram_range": (2, 3), "encoder": encode}
    fitted = {"corrections", "random_labels", "domains", "unlabelled", "progress", "sample_weight"}
    of_fit = {name: options.pop(name) for name in fitted & options.keys()}
    return gs.TransductiveClassifier(**given | options).fit(source, labels, target=target, **of_fit)


def naive_cosines(texts, n_source):
    """Return the cosines of letter counts, minus their mean in the source or in the target."""
    rows = [[text.lower().count(one) for one in LETTERS] for text in texts]
    units = []
    for number, row in enumerate(rows):
        domain = rows[:n_source] if number < n_source else rows[n_source:]
        known = [one for one in domain if any(one)]
        mean = [sum(column) / len(known) for column in zip(*known, strict=True)]
        centred = [v - m for v, m in zip(row, mean, strict=True)] if any(row) else row
        length = sqrt(sum(value**2 for value in centred))
        units.append([value / length if length else 0.0 for value in centred])
    return np.array(
        [[sum(a * b for a, b in zip(one, two, strict=True)) for two in units] for one in units]
    )


def draw_documents(n_classes, n, seed):
    """Return documents of words that some classes have more often, and two others."""
    chance, words = np.random.default_rng(seed), ["good", "bad", "pan!", "ok", "lid", "Tea", "dull"]
    codes = [i % n_classes for i in range(n)]
    texts = []
    for code in codes:
        odds = np.ones(len(words)) + 3 * (np.arange(len(words)) % n_classes == code)
        texts.append(" ".join(chance.choice(words, 6, p=odds / odds.sum())))
    texts[-1], texts[n_classes], texts[-2] = "", texts[0], "sss iii"
    return texts, codes


@pytest.fixture(scope="module", autouse=True)
def _fixed_weight():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_fit, "encoder_weight", lambda *_: WEIGHT)
        yield


@pytest.fixture(scope="module")
def clf(_fixed_weight):
    return fit()


@pytest.mark.parametrize(("n_classes", "n", "seed"), [(2, 20, 1), (3, 21, 2)])
def test_rounds_are_the_recipe_with_a_third_view(n_classes, n, seed):
    source, codes = draw_documents(n_classes, n, seed)
    target, _ = draw_documents(n_classes, n - 5, seed + 100)
    clf = fit(source, [f"class {code}" for code in codes], target, n_added=HELD["n_added"])
    scores, shares = naive_best.best(
        source,
        codes,
        target,
        ngram_range=(2, 3),
        third=(naive_cosines([*source, *target], len(source)), WEIGHT),
        alpha=HELD["alpha"],
        added=HELD["n_added"],
        idf=HELD["weighting"]["idf"],
        by_class=HELD["weighting"]["classes"],
        fit_offsets=fit_offsets,
    )
    known = ~np.isnan(scores).any(axis=1)
    assert known.sum() == len(target) - 1  # an empty text has no vector either
    np.testing.assert_allclose(clf.transduction_score_[known], scores[known], atol=1e-5)
    used = [one["used"] for one in clf.class_prior_.values()]
    np.testing.assert_allclose(used, shares, atol=1e-5)


def test_new_documents_are_scored_by_coefficients_of_their_vectors(clf):
    """As by the similarities to all documents of the fit, which the model does not need."""
    model, n_source = clf.result_.model, len(X)
    share = WEIGHT / (1 + WEIGHT)
    target_mean = encode(TARGET).mean(axis=0)
    for text in NEW:
        vector = encode([text])[0]
        centred = vector - target_mean if text.strip() and vector.any() else 0 * vector
        unit = centred / (np.linalg.norm(centred) or 1)
        fitted = np.vstack([encode(X) - encode(X).mean(axis=0), encode(TARGET) - target_mean])
        cosines = fitted @ unit / np.linalg.norm(fitted, axis=1)
        assert len(cosines) == n_source + len(TARGET)
        similarity = (1 - share) * model.describe([text]).gram[0] + share * cosines
        expected = similarity @ model.coefficients + model.intercepts
        np.testing.assert_allclose(clf.decision_function([text])[0], expected[1], atol=1e-9)
    together = clf.decision_function(NEW)
    assert together.tolist() == [float(clf.decision_function([text])[0]) for text in NEW]


def test_a_document_without_ngrams_has_evidence_from_its_vector():
    target = [*TARGET[:59], "a\u03dfe\u03dfi\u03dfn", "\N{SNOWMAN}"]
    with_vectors, without = fit(target=target), fit(target=target, encoder=None)
    assert (with_vectors.n_blank_, without.n_blank_) == (1, 1 + 1)
    prior = [one["used"] for one in with_vectors.class_prior_.values()]
    np.testing.assert_allclose(with_vectors.transduction_proba_[-1], prior, atol=1e-9)
    assert abs(with_vectors.transduction_proba_[-2] - prior).max() > 1e-3


class Counting:
    """An encoder that counts how often it gets a text."""

    def __init__(self):
        self.calls, self.seen = 0, Counter()

    def __call__(self, texts):
        assert isinstance(texts, list)
        assert 0 < len(texts) <= BATCH
        self.calls += 1
        self.seen.update(texts)
        return encode(texts)


def test_each_text_is_encoded_once_in_batches():
    """Also with corrections, which need two fits, and with a corpus, which keeps the vectors."""
    encoder, target = Counting(), [*TARGET, TARGET[0], " "]
    corrections = [FILMS.labels[0], *[None] * (len(target) - 1)]
    fit(target=target, encoder=encoder, corrections=corrections)
    assert encoder.seen == Counter({*X, *TARGET})
    corpus, labels = Corpus([*X, *TARGET]), [*Y, *[None] * len(TARGET)]
    encoder, stages, n = Counting(), [], len(encoder.seen)
    for _ in range(2):
        fit(corpus, labels, None, encoder=encoder, progress=lambda *one: stages.append(one))
        assert set(encoder.seen.values()) == {1}
    encoding = [(done, total) for stage, done, total in stages if stage == "encoding"]
    assert encoding == [*((done, n) for done in range(0, n, BATCH)), (n, n)]
    other = Counting()
    fit(corpus, labels, None, encoder=other)
    assert other.seen == encoder.seen


def test_encoding_stops_between_batches():
    encoder = Counting()

    def progress(stage, done, total):
        if stage == "encoding" and done:
            raise KeyboardInterrupt

    texts = [f"{number} pans" for number in range(3 * BATCH)]
    with pytest.raises(KeyboardInterrupt):
        fit(
            texts,
            [number % 2 for number in range(len(texts))],
            None,
            encoder=encoder,
            progress=progress,
        )
    assert encoder.calls == 1


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (lambda texts: encode(texts)[:-1], r"shape \(\d+, 6\)"),
        (lambda texts: encode(texts)[:, 0], r"shape \(\d+,\)"),
        (lambda texts: encode(texts)[:, :0], "without numbers"),
        (lambda texts: encode(texts) * np.nan, "nan in row 0"),
        (lambda texts: encode(texts) + 1e300, "e.300 in row 0"),
        (lambda texts: [["a"]] * len(texts), "a list that is no array of numbers"),
        (lambda texts: [[1], [1, 2]], "a list that is no array of numbers"),
        (lambda texts: None, "a NoneType that is no array"),
        (lambda texts: encode(texts)[:, : 1 + len(texts) % 2], r"shape \(\d+, 1\)"),
    ],
)
def test_vectors_of_a_wrong_kind_are_refused(output, found):
    texts = [f"{number} pans" for number in range(BATCH + 3)]
    with pytest.raises(InputError, match=rf"(?s)encoder gave .*{found}.*must give an array"):
        encode_texts(output, texts, width=2 if found.endswith(r"1\)") else 0)


def test_encoders_that_cannot_be_used_are_refused_before_they_are_called():
    for wrong in ("minilm", Counting, 7):
        with pytest.raises(InputError, match=r"encoder=.*give a function"):
            fit(encoder=wrong)
    encoder = Counting()
    for options in (
        {"preset": "paper"},
        {"kernel": "spectrum"},
        {"weighting": "idf"},
        {"classifier": "discriminant"},
    ):
        with pytest.raises(InputError, match=r"encoder .*preset='best'"):
            fit(encoder=encoder, **options)
    with pytest.raises(InputError, match=r"encoder .*fit on texts"):
        gs.TransductiveClassifier("rows", encoder=encoder).fit(np.eye(4), [0, 1, None, None])
    with pytest.raises(MemoryLimitError, match="texts needs"):
        encode_texts(encode, X, Runtime(1, memory_limit=1000))
    assert not encoder.calls


def test_copies_have_equal_vectors_and_empty_texts_zeros_in_the_precision_of_the_encoder():
    texts = ["a pan", "", "tea", "a pan", " \n"]
    for dtype, kept in ((np.float32, np.float32), (np.float16, np.float32), (int, np.float64)):
        vectors = encode_texts(lambda some, dtype=dtype: encode(some).astype(dtype), texts)
        assert vectors.dtype == kept
        assert vectors.tolist() == encode(texts).tolist()
    assert encode_texts(encode, ["", ""], width=5).tolist() == [[0.0] * 5] * 2


def test_all_kinds_of_input_go_with_an_encoder(tmp_path):
    """Several sources, random labels, corrections, further documents, weights, and no target."""
    target = TARGET[:60]
    some = [label if number % 5 == 0 else None for number, label in enumerate(FILMS.labels[:60])]
    domains = ["first" if number % 2 else "second" for number in range(len(X))]
    for options in (
        {"domains": domains},
        {"random_labels": some},
        {"corrections": some},
        {"unlabelled": TARGET[60:]},
        {"sample_weight": [1 + number % 2 for number in range(len(X))]},
        {"class_prior": {"positive": 1, "negative": 2}},
        {"bias": True, "n_rounds": 2, "n_added": 10},
    ):
        clf = fit(target=target, **options)
        assert len(clf.transduction_) == len(target)
        assert np.isfinite(clf.transduction_proba_).all()
        assert clf.result_.model.ngrams.vectors.share > 0
        assert clf.diagnostics_["verdict"]
        assert set(clf.predict(NEW)) <= set(clf.classes_)
        assert len(clf.issues_.to_frame()) >= 0
        assert len(clf.sample(5)) == 5
        clf.report(tmp_path / "report.html", overwrite=True)
        assert (
            "the vectors of whole texts, 9% of the kernel" in (tmp_path / "report.html").read_text()
        )
    alone = gs.TransductiveClassifier(encoder=encode).fit(X, Y)
    assert np.isfinite(alone.decision_function(NEW)).all()


def test_corrected_documents_are_centred_as_those_of_the_target():
    some = [label if number % 5 == 0 else None for number, label in enumerate(FILMS.labels)]
    clf = fit(corrections=some)
    centre = clf.result_.model.ngrams.vectors.centre
    np.testing.assert_allclose(centre, encode(TARGET).mean(axis=0))


def test_bits_do_not_depend_on_threads(clf):
    other = fit(n_jobs=2)
    assert (other.transduction_score_ == clf.transduction_score_).all()
    assert (other.decision_function(NEW) == clf.decision_function(NEW)).all()


def test_explanations_add_up_with_the_share_of_the_vector(clf):
    for text in (TARGET[0], NEW[0]):
        one = clf.explain(text)
        itself = one.itself or dict.fromkeys(one.score, 0.0)
        for label, score in one.score.items():
            rest = one.empty[label] + one.vectors[label]
            by_words = sum(span.shares[label] for span in one.spans)
            by_documents = sum(other.shares[label] for other in one.documents) + itself[label]
            assert score == pytest.approx(rest + by_words)
            assert score == pytest.approx(rest + by_documents)
        line = f"vectors of the text: {one.vectors[one.label]:+.3f}"
        assert line in one.text().splitlines()
        assert line in one.html()
    assert "vectors" not in fit(encoder=None).explain(NEW[0]).text()


@pytest.mark.parametrize("texts", [False, True])
def test_files_need_the_encoder_and_predict_the_same(clf, tmp_path, texts):
    path = tmp_path / "m.gramshift"
    clf.save(path, texts=texts)
    loaded = gs.load(path, encoder=encode)
    assert (loaded.decision_function(NEW) == clf.decision_function(NEW)).all()
    assert loaded.explain(NEW[0]).vectors == clf.explain(NEW[0]).vectors
    loaded.save(path, texts=texts, overwrite=True)
    assert (gs.load(path, encoder=encode).predict_proba(NEW) == clf.predict_proba(NEW)).all()
    assert describe_model(str(path))["encoder"]["name"] == "encode"
    assert describe_model(str(path))["encoder"]["width"] == len(LETTERS)


def test_another_encoder_is_refused(clf, tmp_path):
    path = tmp_path / "m.gramshift"
    clf.save(path)
    rule = rf"{path} was fitted with the encoder encode, with 6 numbers.*gs.load\(path, encoder="
    with pytest.raises(ModelFileError, match=rule):
        gs.load(path)
    for other in (lambda texts: encode(texts)[:, ::-1], lambda texts: encode(texts)[:, :2]):
        with pytest.raises(ModelFileError, match=rule):
            gs.load(path, encoder=other)
    with pytest.raises(InputError, match="encoder='encode'"):
        gs.load(path, encoder="encode")
    rounded = gs.load(path, encoder=lambda texts: encode(texts) * (1 + 1e-5))
    np.testing.assert_allclose(rounded.predict_proba(NEW), clf.predict_proba(NEW), atol=1e-4)


def test_a_fingerprint_that_differs_in_one_small_column_is_another(tmp_path):
    clf, path = fit(encoder=lambda texts: encode(texts) * [100, 1, 1, 1, 1, 1]), tmp_path / "m"
    clf.save(path)
    with pytest.raises(ModelFileError, match="is another one"):
        gs.load(path, encoder=lambda texts: encode(texts) * [100, 1, 1, 1, 1, 2])


def test_diagnostics_have_the_share_of_the_vectors():
    clf = fit()
    found = clf.diagnostics_["vectors"]
    assert clf.result_.model.ngrams.vectors.share == pytest.approx(WEIGHT / (1 + WEIGHT))
    assert found["value"] == 0.0909
    assert "9.1% of the kernel" in found["sentence"]


def test_an_encoder_may_yield_vectors():
    clf, yielding = fit(), fit(encoder=lambda texts: iter(encode(texts)))
    assert (clf.transduction_score_ == yielding.transduction_score_).all()


def test_a_later_batch_of_higher_precision_keeps_it():
    def encode_batch(texts):
        vectors = encode(texts) + 1e50 * (len(texts) < BATCH)
        return vectors.astype(np.float32 if len(texts) == BATCH else np.float64)

    vectors = encode_texts(encode_batch, [f"{number} pans" for number in range(BATCH + 3)])
    assert vectors.dtype == np.float64
    assert vectors[-1].min() == 1e50


def test_each_source_has_a_mean_of_its_own():
    """A number that only tells the sources apart leaves no trace."""
    domains = ["shop"] * (len(X) // 2) + ["market"] * (len(X) - len(X) // 2)
    of_market = set(X[len(X) // 2 :])

    def encode_source(texts):
        return np.hstack([encode(texts), [[9.0 * (text in of_market)] for text in texts]])

    half = len(X) // 2
    numbers = np.repeat([1, 2, 0], [half, len(X) - half, len(TARGET)])
    vectors = model_fit.VectorFeatures.of_domains(encode_source([*X, *TARGET]), numbers)
    assert np.abs(vectors.units[:, -1]).max() < 1e-12
    with_trace, without = (fit(domains=domains, encoder=one) for one in (encode_source, encode))
    np.testing.assert_allclose(
        with_trace.transduction_score_, without.transduction_score_, rtol=0, atol=1e-5
    )


def test_vectors_of_weight_0_change_nothing_and_need_no_encoder(tmp_path, monkeypatch):
    """Also documents that share no n-gram with the source stay without evidence."""
    monkeypatch.setattr(model_fit, "encoder_weight", lambda *_: 0.0)
    foreign = ["плохо", "хорошо"] * 5
    clf, without = (fit(target=[*TARGET, *foreign], encoder=one) for one in (encode, None))
    assert (clf.transduction_score_ == without.transduction_score_).all()
    assert (clf.transduction_proba_ == without.transduction_proba_).all()
    assert clf.n_blank_ == without.n_blank_ == 10
    found = clf.diagnostics_["vectors"]
    assert found["value"] == 0
    assert "no weight" in found["sentence"]
    assert "vectors" not in without.diagnostics_
    clf.save(tmp_path / "m")
    assert (gs.load(tmp_path / "m").predict(NEW) == without.predict(NEW)).all()


def test_clones_share_the_encoder():
    encoder = Counting()
    clf = clone(gs.TransductiveClassifier(encoder=encoder, ngram_range=(2, 3)))
    assert clf.encoder is encoder
    assert clf.get_params()["ngram_range"] == (2, 3)
    assert not hasattr(clf, "result_")
    assert clone(fit(encoder=encoder)).get_params()["encoder"] is encoder
