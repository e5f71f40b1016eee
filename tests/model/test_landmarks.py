from types import SimpleNamespace

import numpy as np
import pytest

import gramshift as gs
import naive
from gramshift.learn.landmark_ridge import draw, spread
from gramshift.runtime.resources import Runtime
from gramshift.text.corpus import Corpus, Joined, in_lists
from small_demo import load_demo
from small_tables import Parts

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
NEW = [text[5:] for text in FILMS.texts[:6]] + KITCHEN.texts[:3] + FILMS.texts[:3] + ["", "naïve 𝒙 café"]
WAYS = {
    "tkc": {},
    "plain": {"adapt": False, "n_rounds": 1},
    "adapted": {"n_rounds": 1, "bias": True},
    "spectrum": {"kernel": "spectrum", "n_rounds": 3, "n_added": 30},
    "intersection": {"kernel": "intersection"},
    "two": {"kernel": ["presence", gs.StringKernel("spectrum", ngram_range=(2, 2))], "bias": True},
    "weighted": {"weighting": {"idf": 1, "consistency": 0.5}},
    "words": {"kernel": "words"},
    "proportions": {"class_prior": {"positive": 0.4, "negative": 0.6}},
    "function": {"kernel": lambda a, b: np.array([[len(set(one) & set(other)) for other in b] for one in a])},
}


def fit(target=FILMS.texts, **options):
    return gs.TransductiveClassifier(**{"preset": "paper", "ngram_range": (3, 5)} | options).fit(
        KITCHEN.texts, KITCHEN.labels, target=target
    )


KNOWN_WORDS = {word for text in KITCHEN.texts for word in naive.words(naive.prepare(text))}
WITH_EVIDENCE = [text for text in FILMS.texts if KNOWN_WORDS & set(naive.words(naive.prepare(text)))]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.slow
def test_all_documents_as_landmarks_are_the_exact_classifier(way):
    target = WITH_EVIDENCE if way == "words" else FILMS.texts  # landmarks leave no document out
    exact, found = (fit(target, landmarks=n, **WAYS[way]) for n in (None, 10**6))
    assert found.transduction_.tolist() == exact.transduction_.tolist()
    assert found.labeled_iter_.tolist() == exact.labeled_iter_.tolist()
    assert [step["added"] for step in found.history_] == [step["added"] for step in exact.history_]
    assert found.landmarks_.tolist() == list(range(len(exact.labeled_iter_)))
    np.testing.assert_allclose(found.transduction_score_, exact.transduction_score_, atol=1e-8)
    np.testing.assert_allclose(found.transduction_proba_, exact.transduction_proba_, atol=1e-8)
    np.testing.assert_allclose(found.decision_function(NEW), exact.decision_function(NEW), atol=1e-8)
    np.testing.assert_allclose(found.predict_proba(NEW), exact.predict_proba(NEW), atol=1e-8)


@pytest.mark.parametrize("way", ["tkc", "plain", "two"])
@pytest.mark.slow
def test_explanations_are_those_of_the_exact_classifier(way):
    expected, found = (fit(landmarks=n, **WAYS[way]).explain(NEW[0]) for n in (None, 10**6))
    for label in expected.score:
        assert abs(found.score[label] - expected.score[label]) < 1e-8
    assert [(span.start, span.stop, span.label) for span in found.spans] == [
        (span.start, span.stop, span.label) for span in expected.spans
    ]
    mine, theirs = ({one.number: one for one in each.documents} for each in (found, expected))
    for number, one in theirs.items():
        assert (mine[number].text, mine[number].label, mine[number].role) == (one.text, one.label, one.role)
        np.testing.assert_allclose(list(mine[number].shares.values()), list(one.shares.values()), atol=1e-8)


def naive_landmark_scores(landmarks, *, n_added, alpha=1e-5):
    """Both rounds by hand: descriptions, least squares with a pull to 0, the surest join, least squares again.

    The pull is alpha and what landmarks cannot say of others, squared, times their share of all (learn/landmarks.py).
    """
    texts, n_source = KITCHEN.texts + FILMS.texts, len(KITCHEN.texts)
    similarity = gs.StringKernel(ngram_range=(3, 5)).gram(texts, [texts[i] for i in landmarks], normalize=True)
    rows = np.exp(similarity - 1)
    signs = np.array([[1.0, -1.0] if label == "negative" else [-1.0, 1.0] for label in KITCHEN.labels])
    training, targets = np.arange(n_source), signs

    said = np.diag(rows @ np.linalg.pinv(rows[landmarks], 1e-10) @ rows.T)

    def score():
        others = np.setdiff1d(np.arange(len(texts)), landmarks)
        penalty = (alpha + np.mean(1 - said[others]) ** 2) * len(landmarks) / len(texts)
        design = np.vstack([rows[training], np.sqrt(penalty) * np.eye(len(landmarks))])
        weights = np.linalg.lstsq(design, np.vstack([targets, np.zeros((len(landmarks), 2))]))[0]
        return rows[n_source:] @ weights

    scores = score()
    surest = np.argsort(-scores.max(axis=1), kind="stable")[:n_added]
    training = np.concatenate([training, n_source + surest])
    targets = np.vstack([signs, np.where(scores[surest] == scores[surest].max(axis=1, keepdims=True), 1.0, -1.0)])
    return score()


@pytest.mark.parametrize("n", [5, 60, 130])
def test_few_landmarks_are_both_rounds_by_hand(n):
    found = fit(landmarks=n, n_added=40)
    assert len(found.landmarks_) == n
    np.testing.assert_allclose(
        found.transduction_score_, naive_landmark_scores(found.landmarks_, n_added=40), atol=1e-7 if n < 100 else 1e-8
    )


@pytest.mark.parametrize("way", ["tkc", "plain"])
@pytest.mark.parametrize("choice", ["uniform", "spread"])
@pytest.mark.slow
def test_saved_and_loaded_it_says_the_same(tmp_path, way, choice):
    found = fit(landmarks=50, landmark_choice=choice, random_state=3, **WAYS[way])
    found.save(tmp_path / "model.gramshift")
    loaded = gs.load(tmp_path / "model.gramshift")
    assert loaded.landmarks_.tolist() == found.landmarks_.tolist()
    for ask in ("predict", "predict_proba", "decision_function"):
        assert getattr(loaded, ask)(NEW).tolist() == getattr(found, ask)(NEW).tolist()
    assert loaded.transduction_proba_.tolist() == found.transduction_proba_.tolist()
    assert loaded.explain(NEW[0]) == found.explain(NEW[0])
    assert sorted(loaded._fit.model.documents) == sorted((KITCHEN.texts + FILMS.texts)[i] for i in found.landmarks_)


def test_target_documents_keep_what_fit_said():
    found = fit(landmarks=40)
    assert found.predict_proba(FILMS.texts).tolist() == found.transduction_proba_.tolist()
    assert found.decision_function(FILMS.texts).tolist() == found.transduction_score_[:, 1].tolist()


def test_the_seed_decides_the_landmarks():
    one, same, other = (fit(landmarks=30, random_state=seed).landmarks_.tolist() for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_landmarks_come_from_source_and_target_in_proportion():
    is_source = np.arange(100) < 80
    chosen = draw(is_source, 10, np.random.default_rng(0))
    assert is_source[chosen].tolist() == [True] * 8 + [False] * 2
    assert sorted(set(chosen.tolist())) == chosen.tolist()
    assert draw(is_source, 500, np.random.default_rng(0)).tolist() == list(range(100))
    counts = np.zeros(100)
    for seed in range(400):
        counts[draw(is_source, 10, np.random.default_rng(seed))] += 1
    assert counts.min() > 15
    assert counts.max() < 75


def test_spread_landmarks_are_far_from_each_other():
    """Three heaps of copies: one of each before any twice."""
    heaps = np.repeat([0, 1, 2], [50, 5, 2])
    similarity = (heaps[:, None] == heaps).astype(float)
    for seed in range(20):
        chosen = spread(similarity.__getitem__, 3, np.ones(57), np.random.default_rng(seed))
        assert heaps[chosen].tolist() == [0, 1, 2]
    assert spread(similarity.__getitem__, 10, np.ones(57), np.random.default_rng(0)).size == 10


@pytest.mark.parametrize("size", [1, 50, 1000])
def test_documents_may_come_in_parts(size):
    source, target = Parts(KITCHEN.texts, size), Parts(FILMS.texts, size)
    clf, whole = (gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), landmarks=70) for _ in range(2))
    clf._fit_with(source, KITCHEN.labels, target, Runtime(piece_size=64))
    whole._fit_with(KITCHEN.texts, KITCHEN.labels, FILMS.texts, Runtime(piece_size=64))
    assert clf.transduction_score_.tolist() == whole.transduction_score_.tolist()
    assert source.passes == target.passes == 2  # one to choose landmarks, one to describe all


def test_parts_that_change_are_noticed():
    class Shrinking(Parts):
        def parts(self):
            yield from super().parts()
            self.texts = self.texts[:-1]

        def __len__(self):
            return 120

    with pytest.raises(ValueError, match="input 2 had 120 documents at first and 119 now"):
        gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), landmarks=20).fit(
            KITCHEN.texts, KITCHEN.labels, target=Shrinking(FILMS.texts, 50)
        )


def test_lists_of_equal_size():
    parts = [["a", "b", "c"], [], ["d"], ["e", "f", "g", "h"]]
    assert list(in_lists(parts, 3)) == [["a", "b", "c"], ["d", "e", "f"], ["g", "h"]]
    assert list(in_lists([], 3)) == []
    assert [*Joined([Corpus(["a"]), Corpus(["b", "c"])]).parts()] == [["a"], ["b", "c"]]


@pytest.mark.parametrize("way", ["tkc"])
def test_pieces_on_disk_change_nothing_and_leave_nothing(way, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    clf, stores = gs.TransductiveClassifier(**{"preset": "paper", "ngram_range": (3, 5), "landmarks": 40} | WAYS[way]), set()
    watch = Runtime(held=0, progress=lambda *_: stores.update(path.name[:10] for path in tmp_path.iterdir()))
    on_disk = clf._fit_with(KITCHEN.texts, KITCHEN.labels, FILMS.texts, watch)
    assert stores == {"gramshift-"}
    in_memory = fit(landmarks=40, **WAYS[way])
    assert on_disk.transduction_score_.tolist() == in_memory.transduction_score_.tolist()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"landmarks": 0}, "landmarks=0: give a number of documents from 1 on"),
        ({"landmarks": "many"}, "landmarks='many'"),
        ({"landmarks": True}, "landmarks=True"),
        ({"landmarks": 2.5}, "landmarks=2.5"),
        ({"landmarks": 5, "preset": "best"}, "which is exact without landmarks; leave them out, and for more"),
        ({"landmarks": 5, "weighting": {"classes": 1}}, "do not go together with weights by class; use weighting='none'"),
        ({"landmarks": 5, "landmark_choice": "best"}, "must be one of 'uniform', 'spread'"),
        ({"landmarks": 5, "random_state": None}, "random_state=None: give a whole number"),
        ({"landmarks": 5, "classifier": "discriminant"}, "classifier='discriminant' works on the exact kernel alone"),
        ({"landmarks": 5, "kernel": "precomputed"}, "'precomputed' is exact already"),
    ],
)
def test_wrong_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        fit(**options)


@pytest.mark.filterwarnings("ignore:fit was given no target")
def test_rows_of_numbers_are_refused():
    clf = gs.TransductiveClassifier(preset="paper", kernel=np.dot, landmarks=3)
    with pytest.raises(TypeError, match="landmarks are for texts"):
        clf.fit(np.eye(4), [0, 1, 0, 1])


def test_an_empty_target_is_refused():
    with pytest.raises(ValueError, match="target is an empty list"):
        gs.TransductiveClassifier(preset="paper", landmarks=3).fit(["a", "b"], [0, 1], target=[])


def test_with_a_folder_the_gram_goes_to_disk_if_it_must(tmp_path):
    """And the fit has the same bits; a limit between what both ways take decides."""
    chance = np.random.default_rng(0)
    texts = ["".join(chance.choice(list("abcde"), 12)) for _ in range(1200)]  # short, so that the gram is most of it
    labels = [text.count("a") > 2 for text in texts[:200]]

    def fit_short(resume=None, memory_limit=None):
        clf = gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), n_added=100, memory_limit=memory_limit)
        return clf.fit(texts[:200], labels, target=texts[200:], resume=resume)

    exact = fit_short()
    for _ in range(2):
        found = fit_short(tmp_path / "kept", "10 MB")
        assert found.transduction_score_.tobytes() == exact.transduction_score_.tobytes()
        assert np.load(tmp_path / "kept" / "gram.npy").shape == (1200, 1200)
    with pytest.raises(MemoryError, match=r"resume='folder'\)\) about .* and 1 s; with landmarks \(landmarks=\d+\) about"):
        fit_short(memory_limit="10 MB")


def fit_kept(folder, **options):
    clf = gs.TransductiveClassifier(**{"preset": "paper", "ngram_range": (3, 5)} | options)
    return clf.fit(KITCHEN.texts, KITCHEN.labels, target=FILMS.texts, resume=folder)


def test_a_fit_goes_on_with_pieces_and_sums(tmp_path):
    def pieces():
        """A piece that is made again is another file of the same name."""
        return {path.name: path.stat().st_ino for path in (tmp_path / "kept").glob("*.piece")}

    expected = fit_kept(tmp_path / "kept", landmarks=50)
    made = pieces()
    assert {name.partition("-")[0] for name in made} == {"landmarks", "half_sums"}
    found = fit_kept(tmp_path / "kept", landmarks=50)
    assert pieces() == made
    assert found.transduction_score_.tobytes() == expected.transduction_score_.tobytes()
    with pytest.raises(ValueError, match="landmarks"):
        fit_kept(tmp_path / "kept", landmarks=51)
    changed = [*FILMS.texts[:-1], FILMS.texts[-1] + "!"]
    with pytest.raises(ValueError, match="content"):
        gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), landmarks=50).fit(
            KITCHEN.texts, KITCHEN.labels, target=changed, resume=tmp_path / "kept"
        )


@pytest.mark.parametrize("options", [{"kernel": ["presence", "spectrum"]}])
def test_exact_fits_of_several_kernels_cannot_be_resumed(tmp_path, options):
    with pytest.raises(ValueError, match="resume keeps the kernel matrix of one kernel"):
        fit_kept(tmp_path / "kept", **options)


def test_documents_that_change_between_passes_are_noticed():
    class Turned(Parts):
        def parts(self):
            yield from super().parts()
            self.texts = self.texts[::-1]

    with pytest.raises(ValueError, match="the documents are not the same as when they were first read"):
        gs.TransductiveClassifier(preset="paper", ngram_range=(3, 5), landmarks=20).fit(
            KITCHEN.texts, KITCHEN.labels, target=Turned(FILMS.texts, 50)
        )


def test_landmarks_come_from_both_domains_however_small_one_is():
    for n_source in (1, 3, 99):
        chosen = draw(np.arange(100) < n_source, 10, np.random.default_rng(0))
        assert set((chosen < n_source).tolist()) == {True, False}
        assert len(chosen) == 10


def test_a_function_cannot_be_known_again_so_it_cannot_be_resumed(tmp_path):
    with pytest.raises(TypeError, match="is a function and cannot be saved"):
        fit_kept(tmp_path / "kept", landmarks=20, kernel=WAYS["function"]["kernel"])
    assert not (tmp_path / "kept").exists()


def test_a_full_disk_is_noticed_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(OSError, match=r"similarities to the landmarks take .* of disk, but 1000 bytes are free"):
        fit_kept(tmp_path / "kept", landmarks=20)
