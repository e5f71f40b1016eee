"""``fit(..., sample=n)``: learning from a sample of the target and labelling the rest of it."""

import numpy as np
import pytest

import gramshift as gs
from gramshift.model.archive import read_archive, write_archive
from gramshift.model.inputs import AT_A_TIME
from gramshift.model.model_schema import declare_model
from gramshift.text.corpus import DRAWN, Reservoir, sample_rows
from small_demo import load_demo
from small_tables import Parts

KITCHEN, FILMS = load_demo("kitchen"), load_demo("films")
ROWS = sample_rows(120, 40, 0)
OTHERS = np.setdiff1d(np.arange(120), ROWS)


def fit(target=FILMS.texts, source=KITCHEN.texts, labels=KITCHEN.labels, *, sample=None, progress=None, **options):
    clf = gs.TransductiveClassifier(**{"preset": "paper", "ngram_range": (3, 5), "n_added": 20, "n_jobs": 1} | options)
    return clf.fit(source, labels, target=target, sample=sample, progress=progress)


@pytest.fixture(scope="module")
def sampled():
    return fit(sample=40)


@pytest.fixture(scope="module")
def by_hand():
    return fit([FILMS.texts[row] for row in ROWS])


def test_a_sample_is_drawn_as_documents_come_or_by_their_number():
    for n, size, seed in [(10, 4, 0), (DRAWN * 2 + 5, 1000, 7), (DRAWN + 3, DRAWN + 1, 1), (5, 9, 0), (0, 3, 0)]:
        reservoir = Reservoir(size, seed)
        numbers = list(map(str, range(n)))
        for start in range(0, n, 10_000):
            reservoir.add(numbers[start : start + 10_000])
            assert len(reservoir.take()[0]) <= size  # no more is ever held
        rows, texts = reservoir.take()
        assert rows == sample_rows(n, size, seed).tolist()
        assert texts == list(map(str, rows))
        assert len(rows) == len(set(rows)) == min(n, size)
        assert reservoir.n_seen == n


def test_every_document_has_the_same_chance():
    counts = np.bincount(np.concatenate([sample_rows(20, 5, seed) for seed in range(400)]), minlength=20)
    assert counts.sum() == 2000
    assert np.abs(counts - 100).max() < 45  # five standard deviations


def test_documents_of_the_sample_have_the_scores_of_the_fit_and_others_those_of_predict(sampled, by_hand):
    for name in ("transduction_", "transduction_score_", "transduction_proba_"):
        assert np.array_equal(getattr(sampled, name)[ROWS], getattr(by_hand, name)), name
    others = [FILMS.texts[row] for row in OTHERS]
    assert np.array_equal(sampled.transduction_[OTHERS], by_hand.predict(others))
    assert np.array_equal(sampled.transduction_proba_[OTHERS], by_hand.predict_proba(others))
    assert np.array_equal(sampled.transduction_score_[OTHERS][:, 1], by_hand.decision_function(others))
    assert np.array_equal(sampled.predict(FILMS.texts), sampled.transduction_)
    assert np.array_equal(sampled.predict_proba(FILMS.texts), sampled.transduction_proba_)


def test_what_joined_and_what_the_story_counts(sampled, by_hand):
    when = sampled.labeled_iter_
    assert (when[:120] == 0).all()
    assert (when[120 + OTHERS] == -1).all()
    assert np.array_equal(when[120 + ROWS], by_hand.labeled_iter_[120:])
    assert sum(sampled.history_[-1]["labels"].values()) == 40
    assert sum(sampled.history_[-1]["added"].values()) == 20


@pytest.mark.parametrize("sample", [120, 121, 10**9])
def test_a_sample_of_all_is_no_sample_to_the_bit(sample):
    found, expected = fit(sample=sample), fit()
    assert found.transduction_score_.tobytes() == expected.transduction_score_.tobytes()
    assert found.transduction_proba_.tobytes() == expected.transduction_proba_.tobytes()
    assert np.array_equal(found.labeled_iter_, expected.labeled_iter_)
    assert found._fit.sampled is None


def test_the_seed_is_random_state(sampled):
    assert np.array_equal(fit(sample=40).transduction_score_, sampled.transduction_score_)
    other = fit(sample=40, random_state=1)
    assert np.flatnonzero(other.labeled_iter_ > 0).tolist() != np.flatnonzero(sampled.labeled_iter_ > 0).tolist()


@pytest.mark.parametrize("options", [{}, {"landmarks": 50}, {"preset": "best", "n_added": None, "n_rounds": 5}])
def test_a_target_in_parts_is_read_once_to_draw_and_once_to_label(options):
    target = Parts(FILMS.texts)
    found, expected = fit(target, sample=40, **options), fit(sample=40, **options)
    assert found.transduction_score_.tobytes() == expected.transduction_score_.tobytes()
    if "landmarks" not in options:
        assert target.passes == 2
    else:
        assert found.landmarks_.max() < 240
        assert (found.labeled_iter_[found.landmarks_] == 0).sum() == (expected._fit.landmarks < 120).sum()


def test_others_are_judged_part_by_part():
    """However many documents a part has, or all of them together: no more than AT_A_TIME are judged at a time."""
    sizes, told = [], []
    clf = fit([f"film {n}" for n in range(3 * AT_A_TIME)], sample=5, progress=lambda *call: told.append(call))
    judge = clf._judge
    clf._judge = lambda texts: sizes.append(len(texts)) or judge(texts)
    clf._fit_with = lambda *_: clf
    clf._fit_sample(KITCHEN.texts, KITCHEN.labels, [f"film {n}" for n in range(3 * AT_A_TIME)], 5, clf._runtime())
    assert max(sizes) <= AT_A_TIME
    assert sum(sizes) == 3 * AT_A_TIME - 5
    labelling = [call for call in told if call[0] == "labelling"]
    assert labelling[-1] == ("labelling", 120 + 3 * AT_A_TIME, 120 + 3 * AT_A_TIME)


def test_gaps_of_the_source_are_target_documents_too(by_hand):
    """Some of the target as gaps among the source, before the rest: the same numbers, counted through."""
    texts, labels = KITCHEN.texts + FILMS.texts[:50], [*KITCHEN.labels, *[None] * 50]
    found = fit(FILMS.texts[50:], texts, labels, sample=40)
    assert np.array_equal(found.transduction_score_[ROWS], by_hand.transduction_score_)
    assert len(found.transduction_) == 120


def test_it_is_the_same_after_loading(sampled, tmp_path):
    sampled.save(tmp_path / "m")
    loaded = gs.load(tmp_path / "m")
    for name in ("transduction_", "transduction_score_", "transduction_proba_", "labeled_iter_"):
        assert np.array_equal(getattr(loaded, name), getattr(sampled, name)), name
    assert loaded.history_ == sampled.history_
    assert np.array_equal(loaded.predict_proba(FILMS.texts), sampled.transduction_proba_)
    loaded.save(tmp_path / "again")
    assert np.array_equal(gs.load(tmp_path / "again").transduction_proba_, sampled.transduction_proba_)


def test_it_is_the_same_after_loading_with_landmarks(tmp_path):
    clf = fit(sample=40, landmarks=50)
    clf.save(tmp_path / "m")
    loaded = gs.load(tmp_path / "m")
    assert np.array_equal(loaded.landmarks_, clf.landmarks_)
    assert np.array_equal(loaded.transduction_score_, clf.transduction_score_)
    assert np.array_equal(loaded.predict_proba(FILMS.texts), clf.transduction_proba_)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sampled_rows", lambda rows: rows[::-1]),
        ("sampled_rows", lambda rows: rows[:-1]),
        ("sampled_rows", lambda rows: rows + 1000),
        ("all_scores", lambda scores: scores + 1),
        ("all_scores", lambda scores: np.where(True, np.nan, scores)),
        ("all_scores", lambda scores: scores[:, :1]),
        ("all_probabilities", lambda values: values - 1),
        ("all_probabilities", lambda values: values[1:]),
    ],
)
def test_a_file_whose_sample_does_not_go_with_the_rest_is_refused(sampled, tmp_path, name, change):
    sampled.save(tmp_path / "m")
    head, arrays = read_archive(tmp_path / "m", declare_model)
    del head["checksums"]
    write_archive(tmp_path / "bad", head, arrays | {name: change(arrays[name])})
    with pytest.raises(ValueError, match="not a Gramshift model that can be trusted"):
        gs.load(tmp_path / "bad")


def test_a_command_tells_of_it_and_explanations_count_among_all_documents(sampled, tmp_path, gramshift):
    sampled.save(tmp_path / "m")
    answer = gramshift("info", tmp_path / "m")
    assert "120 source, 40 of 120 target documents" in answer.out
    assert "all 160 texts of the fit" in answer.out
    why = sampled.explain("a great film")
    texts = {"source": KITCHEN.texts, "target": FILMS.texts}
    assert [texts[one.role][one.number] for one in why.documents] == [one.text for one in why.documents]


@pytest.mark.parametrize("sample", [0, -1, 1.5, True, "all", 2.0])
def test_a_sample_that_is_no_number_of_documents_is_refused(sample):
    with pytest.raises(gs.GramshiftError, match=r"sample=.*: give a number of target documents from 1 on"):
        fit(sample=sample)


def test_what_cannot_be_sampled_is_refused():
    with pytest.raises(gs.GramshiftError, match="random_state=-1: give a whole number"):
        fit(sample=40, random_state=-1)
    with pytest.raises(gs.GramshiftError, match="sample is for texts"):
        gs.TransductiveClassifier("precomputed").fit(np.eye(4), [0, 1, None, None], sample=1)
    with pytest.raises(gs.GramshiftError, match="sample is for texts"):
        gs.TransductiveClassifier(lambda a, b: a @ b.T).fit(np.eye(3), [0, 1, None], sample=1)


def test_documents_that_change_between_the_passes_are_noticed():
    class Shrinking(Parts):
        def parts(self):
            yield from super().parts()
            self.texts = self.texts[:-1]

        def __len__(self):
            return 120

    with pytest.raises(gs.GramshiftError, match="must not change"):
        fit(Shrinking(FILMS.texts), sample=40)
