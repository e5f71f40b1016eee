import numpy as np
import pytest

from gramshift import StringKernel
from gramshift.datasets.demo import load_demo
from gramshift.learn.adapt import adapted_kernel, exponential, normalize_gram
from gramshift.learn.ridge import solve_ridge
from gramshift.learn.rounds import transduce
from naive_algorithm import transductive_kernel_algorithm


def demo_gram(n_source, n_target, ngram_range=(3, 5)):
    source, target = load_demo("kitchen"), load_demo("films")
    texts = source.texts[:n_source] + target.texts[:n_target]
    codes = np.array([label == "positive" for label in source.labels[:n_source]], np.intp)
    return StringKernel(ngram_range=ngram_range).gram(texts), codes


@pytest.mark.parametrize("n_rounds", [1, 2, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rounds_follow_the_algorithm_line_by_line(n_rounds, n_classes):
    gram, codes = demo_gram(30, 24)
    if n_classes == 3:
        codes = np.arange(30) % 3
    kernel = adapted_kernel(exponential(normalize_gram(gram)))
    outcome = transduce(kernel, codes, n_classes, solve=lambda k, y: solve_ridge(k, y, 1e-5), n_rounds=n_rounds, n_added=10)
    labels, scores = transductive_kernel_algorithm(gram.tolist(), codes.tolist(), n_classes, 10, 1e-5, n_rounds)
    assert outcome.scores.argmax(axis=1).tolist() == labels
    np.testing.assert_allclose(outcome.scores, scores, rtol=0, atol=1e-7 * np.abs(scores).max())
    assert [len(step.added) for step in outcome.rounds] == [0] + [10] * (n_rounds - 1)
    assert len(outcome.training) == 30 + (10 if n_rounds > 1 else 0)


def test_without_target_it_is_an_ordinary_fit():
    gram, codes = demo_gram(30, 0)
    outcome = transduce(normalize_gram(gram), codes, 2, solve=lambda k, y: solve_ridge(k, y, 1e-5), n_rounds=2, n_added=0)
    assert outcome.scores.shape == (0, 2)
    assert outcome.training.tolist() == list(range(30))
