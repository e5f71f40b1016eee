import numpy as np
import pytest

from gramshift import StringKernel
from gramshift.learn.features import KernelFeatures
from gramshift.learn.ridge import KernelRidgeSolver
from gramshift.learn.rounds import Schedule, fit_rounds
from gramshift.learn.training_set import TrainingSet
from gramshift.model.feature_makers import KernelFeatureMaker
from gramshift.runtime import Runtime
from naive_algorithm import transductive_kernel_algorithm
from small_demo import load_demo


def demo_gram(n_source, n_target):
    source, target = load_demo("kitchen"), load_demo("films")
    texts = source.texts[:n_source] + target.texts[:n_target]
    codes = np.array([label == "positive" for label in source.labels[:n_source]], np.intp)
    return StringKernel(ngram_range=(3, 5)).gram(texts), codes


def run_rounds(gram, is_source, codes, n_classes, *, n_rounds, n_added, adapt=True):
    feature_maker = KernelFeatureMaker(
        lambda *_: (KernelFeatures.from_gram(gram, adapt=adapt), {}),
        lambda features, source: KernelRidgeSolver(features, source, 1e-5),
    )
    training_set = TrainingSet.of_source(is_source, codes, n_classes)
    return fit_rounds(
        feature_maker, training_set, Schedule(n_rounds, (n_added,)), Runtime(1)
    ).rounds


@pytest.mark.parametrize("n_rounds", [1, 2, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rounds_follow_the_algorithm_line_by_line(n_rounds, n_classes):
    gram, codes = demo_gram(30, 24)
    if n_classes == 3:
        codes = np.arange(30) % 3
    rounds = run_rounds(gram, np.arange(54) < 30, codes, n_classes, n_rounds=n_rounds, n_added=10)
    for number, step in enumerate(rounds, start=1):
        labels, scores = transductive_kernel_algorithm(
            gram.tolist(), codes.tolist(), n_classes, 10, 1e-5, number
        )
        assert step.codes.tolist() == labels
        np.testing.assert_allclose(step.scores, scores, rtol=0, atol=1e-7 * np.abs(scores).max())
    assert [len(step.added) for step in rounds] == [0] + [10] * (n_rounds - 1)


def test_source_and_target_may_stand_in_any_order():
    gram, codes = demo_gram(30, 24)
    order = np.random.default_rng(3).permutation(54)
    mixed, is_source = np.ascontiguousarray(gram[np.ix_(order, order)]), order < 30
    last = run_rounds(mixed, is_source, codes[order[is_source]], 2, n_rounds=2, n_added=10)[-1]
    _, scores = transductive_kernel_algorithm(gram.tolist(), codes.tolist(), 2, 10, 1e-5, 2)
    np.testing.assert_allclose(
        last.scores, np.array(scores)[order[order >= 30] - 30], rtol=0, atol=1e-6
    )


def test_without_target_it_is_an_ordinary_fit():
    gram, codes = demo_gram(30, 0)
    rounds = run_rounds(gram, np.ones(30, bool), codes, 2, n_rounds=2, n_added=3, adapt=False)
    assert [step.scores.shape for step in rounds] == [(0, 2)]
