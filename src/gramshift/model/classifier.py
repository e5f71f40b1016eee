"""The transductive classifier, ours and the paper's, behind scikit-learn's interface."""

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from gramshift.errors import FitWarning, InputError
from gramshift.learn.calibrate import softmax
from gramshift.learn.rounds import Calibration
from gramshift.learn.selection import choose_classes
from gramshift.model.archive import ModelFileError, Writable, read_archive
from gramshift.model.data_problems import Issues
from gramshift.model.diagnosis import find_warnings
from gramshift.model.explanation import Explanation, explain_text
from gramshift.model.fit import fit_exact
from gramshift.model.fitted import Fit
from gramshift.model.inputs import (
    FitInput,
    ListedCorpus,
    check_domains,
    check_gram,
    check_random,
    gather,
    warn_of_input,
)
from gramshift.model.labels import weigh_documents
from gramshift.model.presenting import Presented
from gramshift.model.saving import parameters_from_json, read_fit, save_fit
from gramshift.model.settings import Settings, check_verbose, copy_kernel, kernel_is_rows
from gramshift.model.similarities import Similarities, similarities_of
from gramshift.model.string_kernel import StringKernel
from gramshift.runtime.progress_bar import shown_progress
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress
from gramshift.text.documents import as_documents

Floats = NDArray[np.float64]


class TransductiveClassifier(Presented, ClassifierMixin, BaseEstimator):
    """Label the documents of a target domain from labelled documents of a source domain, adapting to the target.

    By default documents are a linear model of weighted n-grams, whose memory grows in line with the documents: ridge regression
    is trained on the source and, in five rounds, on pseudo-labels for more and more of the target. The preset "paper" is the
    transductive kernel classifier of Ionescu and Butnaru (2018): documents are described by similarity to all documents, and a
    second round also learns from the target documents of which the first was surest.

    Parameters
    ----------
    kernel : str, StringKernel, callable or list of these, optional
        How documents are compared: a kind of :class:`StringKernel` by its name, "words" for the presence of words and pairs
        of words, "rows", "precomputed", a StringKernel, or a callable k(A, B). Values are normalised; several kernels are
        averaged after that. With "rows", X and target have a row of numbers for each document, such as its embedding, and rows
        are compared by their cosine. With "precomputed", X is the square kernel matrix of source and target documents, and gaps
        in y mark the target. A callable gets lists of texts, or arrays where X has rows of numbers; it cannot be saved.
    preset : {"best", "paper"}
        What holds for all parameters that are None: the recommended choices, or the paper's.
    ngram_range : tuple of two int, optional
        The smallest and the largest length of n-grams, for kernels given by name: 3 to 8, for the paper 5 to 8.
    weighting : {"none", "idf"} or dict, optional
        What n-grams weigh, for the kernels "presence" and "words" given by name: as in :class:`StringKernel`. Domains are
        source and target; classes are those of the documents that a round learns from, so that the kernel changes from round
        to round.
    adapt : bool, optional
        Whether every document is described by its similarity to all source and target documents, which is the paper's
        transductive kernel.
    n_rounds : int, optional
        The number of rounds. The paper has 2: the second also learns from answers of the first. More are allowed.
    n_added : int, float or list of these, optional
        How many target documents join the training set, with their pseudo-labels, after a round; a float up to 1.0 is a
        fraction of the target. All of them join if there are fewer. A list has a number for each round after the first.
    class_prior : {"estimated", "source", "ignored"} or dict, optional
        The class proportions of the target: estimated from its scores, those of the source, or a dict with that of each class.
        Of each class its proportion is pseudo-labelled, the surest first. An estimate has a standard error, and moves the
        source's proportions only by what that error leaves of the difference. With "ignored" the surest documents are
        pseudo-labelled, whatever their class, as in the paper.
    alpha : float, optional
        The regularisation of the ridge regression and of the discriminant analysis.
    class_weight : dict or "balanced", optional
        How much the source documents of each class count, beside the others. For linear models such as the preset "best".
    classifier : {"ridge", "discriminant"} or scikit-learn classifier
        What learns on the kernel: ridge regression, kernel discriminant analysis, or a classifier for kernel matrices such as
        ``SVC(kernel="precomputed")``, of which a clone is fitted for each class against the rest.
    bias : bool or "prior", optional
        Whether "ridge" has an unpenalised intercept; the paper has none. With "prior" scores begin at the class priors
        of the training set, so that a document without evidence gets these, and the last round decides by probabilities.
    memory_limit : int, float or str, optional
        How many bytes may be used, or a size such as "2 GB"; by default all that is free. What needs more is refused.
    n_jobs : int or None
        The number of threads; -1 for all cores.
    verbose : bool or int
        Whether ``fit`` shows its progress: one line in a terminal, or in a notebook that has ipywidgets.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    transduction_ : array of shape (n_target,)
        The label of each target document.
    transduction_score_ : array of shape (n_target, n_classes)
        The scores of each target document; the largest decides.
    transduction_proba_ : array of shape (n_target, n_classes)
        The probabilities of each target document, on average as sure as labels are expected to be right.
    unadapted_transduction_ : array of shape (n_target,) or None
        The label that each target document would have without adapting, by the first round with the source's class proportions.
    class_prior_ : dict or None
        For each class its proportion in the "source", as "estimated" for the target, as "used", the 95 % interval of the last,
        "low" and "high", and the "limit" beyond which it may not grow: of three or more classes, its part of the unadapted
        labels or of the source.
    expected_accuracy_ : dict or None
        The fraction of right labels that is to be expected, "value", with the interval of nine of ten fits, "low" and "high".
        With ``random_labels`` it is measured by these.
    sources_ : list of dict or None
        For each of several sources its "drift" from the target, the "weight" of its documents, and the "accuracy" of the other
        sources on it.
    labeled_iter_ : array of int of shape (n_source + n_target,)
        When each document joined the training set, source before target: 0 for a given label, k for round k + 1, -1 for never.
    history_ : list of dict
        For each round how many documents of each class were added before it, how many target documents it gave each label,
        how many labels changed, and the seconds that it took.

    References
    ----------
    .. [1] Radu Tudor Ionescu and Andrei M. Butnaru, "Transductive Learning with String Kernels for Cross-Domain Text
       Classification", ICONIP 2018.

    Examples
    --------
    >>> import gramshift as gs
    >>> clf = gs.TransductiveClassifier()
    >>> source = ["a great, great pan", "this pan broke at once", "great knife", "the knife broke, sadly"]
    >>> target = ["a great film", "the disc broke", "great great fun"]
    >>> clf.fit(source, ["good", "bad", "good", "bad"], target=target).transduction_.tolist()
    ['good', 'bad', 'good']
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        preset: str = "best",
        ngram_range: tuple[int, int] | None = None,
        weighting: Any = None,
        adapt: bool | None = None,
        n_rounds: int | None = None,
        n_added: Any = None,
        class_prior: Any = None,
        alpha: float | None = None,
        class_weight: Any = None,
        classifier: Any = "ridge",
        bias: bool | str | None = None,
        memory_limit: int | float | str | None = None,
        n_jobs: int | None = -1,
        verbose: bool | int = False,
    ) -> None:
        self.kernel = kernel
        self.preset = preset
        self.ngram_range = ngram_range
        self.weighting = weighting
        self.adapt = adapt
        self.n_rounds = n_rounds
        self.n_added = n_added
        self.class_prior = class_prior
        self.alpha = alpha
        self.class_weight = class_weight
        self.classifier = classifier
        self.bias = bias
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        target: Any = None,
        unlabelled: Any = None,
        sample_weight: Any = None,
        domains: Any = None,
        random_labels: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from labelled documents, adapt to the target documents and label them; warn of what looks wrong.

        Parameters
        ----------
        X : list of str, column of texts, or what the kernel takes
            The source documents. Those whose label is missing are target documents too, before those of ``target``.
        y : list or array
            A label for each document of X; None, NaN or NA where it is missing. -1 is a label like any other.
        target : like X, or :class:`Target`
            The documents to be labelled. Their true labels are never asked for.
        unlabelled : like X
            More documents of the target's domain: they shape the weights of n-grams and may be pseudo-labelled, but get no
            label in ``transduction_``.
        sample_weight : list or array of float
            How much each document of X counts, beside the others. For linear models such as the preset "best".
        domains : list of str
            The name of the source that each document of X is of, where there are several: ``sources_`` then tells how near each
            is to the target, and near ones count more. For linear models such as the preset "best".
        random_labels : list or array
            Labels of target documents that were drawn at random, such as by ``sample(50, how="random")``: one for each target
            document, None, NaN or NA for all others. They determine the class proportions, measure the accuracy
            (``expected_accuracy_``) by a fit that has not learnt from them, and then join the training set. Labels of
            documents that were chosen because they are doubtful measure nothing: give these as labelled documents of X.
        progress : callable
            Called as progress(stage, done, total), from this thread; ``verbose`` then shows nothing.
        """
        more = {"sample_weight": sample_weight, "domains": domains, "random_labels": random_labels}
        warn_of_input(X, y, target)
        with shown_progress(check_verbose(self.verbose), progress) as report:
            self._fit_with(X, y, target, self._runtime(report), unlabelled=unlabelled, **more)
        for words in find_warnings(self._fit):
            warnings.warn(words, FitWarning, stacklevel=2)
        return self

    def _fit_with(
        self,
        X: Any,
        y: Any,
        target: Any,
        runtime: Runtime,
        *,
        unlabelled: Any = None,
        sample_weight: Any = None,
        domains: Any = None,
        random_labels: Any = None,
        calibrate: bool = True,
    ) -> Self:
        """Fit with what the runtime has, whatever the parameters say of that; without ``calibrate`` for the labels alone."""
        settings, similarities = self._check_parameters(runtime)
        parameters = self._given_parameters()
        read = self._reader(X, target, similarities, runtime.n_threads, reset=True)
        given = gather(X, y, target, read=read, unlabelled=unlabelled)
        given = self._weigh(given, sample_weight, domains)
        given = replace(given, random=check_random(random_labels, given))
        self._keep(fit_exact(settings, parameters, similarities, given, runtime, calibrate=calibrate))
        return self

    def _weigh(self, given: FitInput, sample_weight: Any, domains: Any) -> FitInput:
        """The same input with what each document counts."""
        weights = weigh_documents(given.labels, given.is_source, sample_weight, self.class_weight)
        return replace(given, weights=weights, domains=check_domains(domains, given.labels, given.is_source))

    def _keep(self, fit: Fit) -> None:
        """Set the fitted attributes."""
        self._fit = fit
        self.classes_ = fit.classes
        self.transduction_score_ = fit.scores[fit.wanted]
        self.labeled_iter_ = fit.labeled_iter[: len(fit.labeled_iter) - fit.n_unlabelled]
        self.class_prior_, self.unadapted_transduction_ = fit.describe_class_prior(), fit.unadapted_labels
        self.expected_accuracy_, self.sources_ = fit.expected_accuracy, fit.sources
        self.transduction_: NDArray[Any] = fit.classes[choose_classes(self.transduction_score_)]
        self.history_ = fit.history

    def _runtime(self, progress: Progress | None = None) -> Runtime:
        """With what a fit runs, by the parameters that say so."""
        return Runtime(self.n_jobs, self.memory_limit, progress=progress)

    def _check_parameters(self, runtime: Runtime) -> tuple[Settings, Similarities | None]:
        """Raise an error if a parameter is wrong; else what is to be done, and the kernels if these are not given."""
        settings = Settings.from_parameters(self.get_params(deep=False))
        return settings, similarities_of(settings, runtime)

    def _given_parameters(self) -> dict[str, Any]:
        """The parameters as they are now, whatever is set later."""
        parameters: dict[str, Any] = self.get_params(deep=False)
        del parameters["verbose"]  # how much it says is no part of a fit
        lengths = None if self.ngram_range is None else tuple(map(int, self.ngram_range))
        classifier = self.classifier if isinstance(self.classifier, str) else clone(self.classifier)
        return parameters | {"kernel": copy_kernel(self.kernel), "ngram_range": lengths, "classifier": classifier}

    def _reader(
        self, X: Any, target: Any, similarities: Similarities | None, n_threads: int = 1, *, reset: bool
    ) -> Callable[..., Any]:
        """How X becomes documents: a gram, rows of numbers, or texts."""
        if similarities is None:
            if target is not None:
                raise InputError("with kernel='precomputed' X holds the target too: mark its rows by missing labels in y")
            return lambda X, name: check_gram(X, n_threads=n_threads)
        if similarities.takes_rows(X):
            return lambda X, name: validate_data(self, X, reset=reset and name == "X", dtype=float, copy=True)
        return as_documents

    def decision_function(self, X: Any) -> Floats:
        """Scores of documents never seen, no refit: for two classes that of the second, else a column per class."""
        scores = self._score(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of documents; those of the target get the label that fit gave them."""
        scores = self._score(X)
        labels: NDArray[Any] = self.classes_[choose_classes(scores)]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """A probability per class, calibrated as those of the target are; the predicted class has the largest."""
        return self._judge(self._read(X))[1]

    def _judge(self, X: Any) -> tuple[Floats, Floats]:
        """Scores and probabilities of documents that were read."""
        scores = self._score_read(X)
        probabilities = softmax(scores, self._calibration.steepness)
        for row, place in self._fit.find_known(X):
            probabilities[row] = self._fit.probabilities[place]
        return scores, probabilities

    @property
    def transduction_proba_(self) -> Floats:
        """Probabilities of the target documents.

        A document that joined the training is judged by what the others teach, not by the answer that it joined with; if these
        would answer otherwise, it gets its label with the least certainty that there is.
        """
        self._check_fitted()
        return self._fit.wanted_probabilities.copy()

    @property
    def issues_(self) -> Issues:
        """Problems in the data: doubtful labels of the source, copies, empty texts, target documents unlike the source.

        They are looked for when they are asked for, once: a fit takes no longer for them. ``issues_.to_frame()`` makes a table.
        """
        self._check_fitted()
        return self._fit.issues

    def explain(self, text: str) -> Explanation:
        """The parts of one document that pushed towards each class, and the documents of the fit that counted most.

        The shares add up to the score, with what an empty document would score. A model without texts names no documents.
        """
        self._check_fitted()
        return explain_text(self._fit, text)

    def strongest_ngrams(
        self, n: int = 50, *, overlapping: bool = True, counts: bool = False
    ) -> dict[Any, list[tuple[Any, ...]]]:
        """The n-grams that speak most for each class of a linear model such as the preset "best", and what each is worth.

        Of n-grams that stand in the same documents the longest is listed, with what it is worth before scores are normalised.
        For people to read: with overlapping=False those are left out that share half or more with a stronger one. With
        counts=True each has two numbers more: how many source and how many target documents have it.
        """
        self._check_fitted()
        return self._fit.strongest_ngrams(n, overlapping=overlapping, counts=counts)

    def save(self, path: Writable, *, texts: bool = False) -> None:
        """Write the fitted classifier into one file, for ``gramshift.load``: a name, or a file that is open for writing bytes.

        Of a linear model such as the preset "best" it holds n-grams that two documents or more share, with coefficients, and
        no document, unless ``texts`` asks for all of them: explanations show these as neighbours. Files of other models
        always hold the documents that new ones are compared with.
        """
        self._check_fitted()
        if not isinstance(texts, (bool, np.bool_)):
            raise InputError(f"texts={texts!r}: give True or False")
        save_fit(self._fit, path, texts=bool(texts))

    @property
    def _calibration(self) -> Calibration:
        assert self._fit.calibration is not None, "a fit that users made has it"
        return self._fit.calibration

    def _read(self, X: Any) -> Any:
        """New documents, as those of the fit."""
        self._check_fitted()
        similarities = self._fit.model.similarities
        return np.asarray(X) if similarities is None else self._reader(X, None, similarities, reset=False)(X, name="X")

    def _score(self, X: Any) -> Floats:
        return self._score_read(self._read(X))

    def _score_read(self, X: Any) -> Floats:
        scores = self._fit.model.score(X, n_jobs=self.n_jobs)
        for row, place in self._fit.find_known(X):  # a target document keeps the very score that fit gave it
            scores[row] = self._fit.scores[place]
        return scores

    def _check_fitted(self) -> None:
        if not hasattr(self, "_fit"):
            raise NotFittedError("This TransductiveClassifier is not fitted yet: call fit first")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fit")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.two_d_array = tags.input_tags.pairwise or self._takes_numbers()
        tags.input_tags.string = not tags.input_tags.two_d_array
        return tags

    def _takes_numbers(self) -> bool:
        kernels = self.kernel if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        return kernel_is_rows(self.kernel) or all(
            callable(kernel) and not isinstance(kernel, StringKernel) for kernel in kernels
        )


def fit_on_gram(
    classifier: TransductiveClassifier,
    documents: ListedCorpus | list[str],
    labels: list[Any],
    gram: NDArray[Any] | None,
    runtime: Runtime,
    *,
    n_unlabelled: int = 0,
    domains: list[str] | None = None,
    random: Mapping[int, Any] | None = None,
    calibrate: bool = True,
) -> None:
    """Fit one of several classifiers on the same documents; gaps in the labels mark the target.

    What linear fits find in listed documents is found once for all. ``gram`` holds the counts that its kernel finds, None
    for a classifier that compares in ways of its own. Without ``calibrate`` it will have no probabilities.
    """
    settings, similarities = classifier._check_parameters(runtime)
    given, parameters = (
        classifier._weigh(FitInput(documents, labels, n_unlabelled, random=random or {}), None, domains),
        classifier._given_parameters(),
    )
    classifier._keep(fit_exact(settings, parameters, similarities, given, runtime, gram=gram, calibrate=calibrate))


def load(path: str | os.PathLike[str]) -> TransductiveClassifier:
    """Read a model file that ``save`` wrote; the classifier predicts the same, to the last bit."""
    return load_with_head(path)[0]


def load_with_head(path: str | os.PathLike[str]) -> tuple[TransductiveClassifier, dict[str, Any]]:
    """Read a model file, and return also what it says of itself."""
    head, arrays = read_archive(path)
    try:
        classifier = TransductiveClassifier(**parameters_from_json(head["parameters"]))
        given = {name: value for name, value in classifier.get_params(deep=False).items() if name != "verbose"}
        classifier._keep(read_fit(given, head, arrays))
    except MemoryError:
        raise
    except Exception as error:  # whatever a made-up file leads to, it is the file's fault
        raise ModelFileError(f"{path} is not a Gramshift model that can be trusted: {error}") from error
    if "rows" in arrays:
        classifier.n_features_in_ = arrays["rows"].shape[1]
    return classifier, head
