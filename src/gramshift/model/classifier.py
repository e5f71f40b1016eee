"""The transductive classifier, the default and the paper's, behind scikit-learn's interface."""

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from gramshift.errors import InputError
from gramshift.files import check_flag, check_overwrite
from gramshift.kernels.corpus import Corpus
from gramshift.kernels.string_kernel import StringKernel
from gramshift.learn.calibrate import log_of, softmax
from gramshift.learn.pseudo_labels import choose_classes
from gramshift.model.advice import Advice
from gramshift.model.archive import ModelFileError, Writable, read_archive
from gramshift.model.corrections import (
    DOMAIN,
    check_corrections,
    corrected_codes,
    doubt_new_classes,
    extend_values,
    fit_with_corrections,
    join_corrections,
    put_in_place,
    target_rows,
)
from gramshift.model.data_problems import Issues, without_corrected
from gramshift.model.diagnosis import (
    CorrectionReview,
    ReferenceComparison,
    compare_fit,
    diagnose_fit,
    find_warnings,
)
from gramshift.model.documents_to_label import (
    DOUBTFUL,
    RANDOM,
    check_number,
    choose_doubtful,
    choose_random,
)
from gramshift.model.estimate import Estimate, estimate_fit
from gramshift.model.explanation import Explanation, explain_text
from gramshift.model.fit import fit_documents
from gramshift.model.inputs import (
    FitInput,
    check_domains,
    check_gram,
    check_random,
    gather,
    warn,
    warn_of_input,
)
from gramshift.model.kernel_list import KernelList, kernel_list_of
from gramshift.model.labels import as_labels, weigh_documents
from gramshift.model.presenting import (
    check_origins,
    check_texts,
    comparer,
    make_frame,
    target_texts,
)
from gramshift.model.result import FitResult
from gramshift.model.saving import parameters_from_json, read_fit, save_fit, with_encoder
from gramshift.model.settings import (
    Settings,
    check_encoder,
    check_verbose,
    copy_kernel,
    kernel_is_rows,
)
from gramshift.parallel import Progress
from gramshift.progress import shown_progress
from gramshift.runtime import Runtime
from gramshift.terminal import Say, say
from gramshift.text.documents import as_documents

Floats = NDArray[np.float64]


class TransductiveClassifier(ClassifierMixin, BaseEstimator):
    """Label documents of a target domain from labelled documents of a source domain.

    By default this is a linear model of weighted n-grams, whose memory grows in line with the
    documents: ridge regression is trained on the source and then, in four more rounds, on
    pseudo-labels for more and more of the target. The preset "paper" is the transductive kernel
    classifier of Ionescu and Butnaru (2018): documents are described by their similarity to all
    documents, and a second round also learns from the most confident labels of the first.

    Parameters
    ----------
    kernel : str, StringKernel, callable or list of these, optional
        The kernel that compares documents: a kind of :class:`StringKernel` by its name, "words" for
        the presence of words and pairs of words, "rows", "precomputed", a StringKernel, or a
        callable k(A, B). Its values are normalised; those of several kernels are then averaged.
        With "words", the first words of a long text also count as words of their own. With "rows",
        X and target contain a row of numbers for each document, such as its embedding, compared by
        cosine. With "precomputed", X is the square kernel matrix of source and target documents,
        and missing labels in y mark the target. A callable receives lists of texts, or arrays if X
        contains rows of numbers; it cannot be saved.
    preset : {"best", "paper"}
        The values of all parameters that are None: the recommended ones, or those of the paper.
    ngram_range : tuple of two int, optional
        The smallest and the largest length of n-grams, for kernels given by name: 3 to 8, or 5 to 8
        in the paper.
    weighting : {"none", "idf"} or dict, optional
        The weights of n-grams, for the kernels "presence" and "words" given by name, as in
        :class:`StringKernel`. Its domains are source and target; its classes are those of the
        training set, so that the kernel changes from round to round.
    adapt : bool, optional
        If True, every document is described by its similarity to all source and target documents,
        which is the transductive kernel of the paper.
    n_rounds : int, optional
        The number of rounds: 2 in the paper, where the second also learns from labels of the first.
    n_added : int, float or list of these, optional
        The number of target documents that join the training set with their pseudo-labels after a
        round. A float up to 1.0 is a fraction of the target, and a list contains one number for
        each round after the first. If the target is smaller, all of it joins.
    class_prior : {"estimated", "source", "ignored"} or dict, optional
        The class proportions of the target: estimated from its scores, those of the source, or a
        dict with that of each class. Each class gets its proportion of the pseudo-labels, for its
        most confident documents. An estimate moves the proportions of the source only as far as
        its standard error allows. With "ignored" the most confident documents are pseudo-labelled,
        whatever their class, as in the paper.
    alpha : float, optional
        The regularisation of the ridge regression and of the discriminant analysis.
    class_weight : dict or "balanced", optional
        The weight of the source documents of each class. For linear models such as the preset
        "best".
    classifier : {"ridge", "discriminant"} or scikit-learn classifier
        The learner on the kernel: ridge regression, kernel discriminant analysis, or a classifier
        of kernel matrices such as ``SVC(kernel="precomputed")``, a clone of which is fitted for
        each class against the rest.
    bias : bool or "prior", optional
        If True, "ridge" has an unpenalised intercept; the paper has none. With "prior", scores
        start at the class proportions of the training set, so that a document without evidence gets
        these, and the last round decides by probabilities.
    encoder : callable, optional
        A function from a list of texts to an array with a row of numbers for each, such as
        ``SentenceTransformer(...).encode``. These vectors are centred within each source and the
        target, compared by cosine, and join the n-grams, with a weight of their own. Each text is
        encoded once, as it is given; an empty one has no vector. For linear models of texts such as
        the preset "best".
    memory_limit : int, float or str, optional
        The number of bytes that may be used, or a size such as "2 GB"; by default all free memory.
        A fit that needs more is refused.
    n_jobs : int or None
        The number of threads; -1 for all cores.
    verbose : bool or int
        If true, ``fit`` shows its progress: one line in a terminal, or in a notebook with
        ipywidgets, and elsewhere a line on stderr for each round. These lines are also logged by
        the logger "gramshift", at the level INFO.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    transduction_ : array of shape (n_target,)
        The label of each target document.
    transduction_score_ : array of shape (n_target, n_classes)
        The scores of each target document; the largest decides.
    transduction_proba_ : array of shape (n_target, n_classes)
        The probabilities of each target document. The mean confidence is the expected accuracy.
    unadapted_transduction_ : array of shape (n_target,) or None
        The label of each target document without adapting: by the first round, with the class
        proportions of the source.
    class_prior_ : dict or None
        For each class its proportion in the "source", as "estimated" for the target and as "used",
        the 95 % interval of the last, "low" and "high", and the "limit" beyond which it may not
        grow: of three or more classes, its proportion of the unadapted labels or of the source.
    expected_accuracy_ : dict or None
        The expected fraction of correct labels, "value", with a 90 % interval, "low" and "high".
        With ``random_labels`` it is measured on these.
    sources_ : list of dict or None
        For each of several sources its "drift" from the target, the "weight" of its documents, and
        the "accuracy" of the other sources on it.
    labeled_iter_ : array of int of shape (n_source + n_target,)
        The time at which each document joined the training set, source before target: 0 for a given
        label, k for round k + 1, -1 for never.
    history_ : list of dict
        For each round the number of documents of each class that were added before it, the number
        of target documents with each label, the number of labels that changed, and the seconds.
    corrected_ : array of bool of shape (n_target,)
        True for the target documents with corrections or random labels.
    uncorrected_transduction_ : array of shape (n_target,) or None
        The label of each target document by a fit without the corrections. Model files do not
        contain it.
    n_blank_ : int
        The number of target documents without a vector or any n-gram that shows their class.
    corpus_ : Corpus or None
        The corpus of the fit, if X was one: reports do not look for its n-grams again.
    result_ : FitResult
        The whole result of the fit, with its model, for people who know the code.

    References
    ----------
    .. [1] Radu Tudor Ionescu and Andrei M. Butnaru, "Transductive Learning with String Kernels for
       Cross-Domain Text Classification", ICONIP 2018.

    Examples
    --------
    >>> import gramshift as gs
    >>> clf = gs.TransductiveClassifier()
    >>> source = ["a great, great pan", "this pan broke", "great knife", "the knife broke, sadly"]
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
        encoder: Any = None,
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
        self.encoder = encoder
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
        corrections: Any = None,
        origins: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from labelled documents, adapt to the target documents and label them.

        Warn of labels that look wrong.

        Parameters
        ----------
        X : list of str, column of texts, Corpus, or input of the kernel
            The source documents. Documents without a label are target documents too, before those
            of ``target``. A Corpus contains all documents (source, target and unlabelled ones), and
            keeps their n-grams and vectors for further fits.
        y : list or array
            A label for each document of X; None, NaN or NA where it is missing. -1 is a label like
            any other.
        target : like X, or :class:`Target`
            The documents to be labelled. Their true labels are not needed.
        unlabelled : like X
            More documents of the target's domain. They affect the weights of n-grams and may be
            pseudo-labelled, but get no label in ``transduction_``. Of a Corpus, the number of its
            last documents that are unlabelled ones.
        sample_weight : list or array of float
            The weight of each document of X. For linear models such as the preset "best".
        domains : list of str
            The name of the source of each document of X, if there are several. ``sources_`` then
            describes how near each is to the target, and near ones count more. For linear models
            such as the preset "best".
        random_labels : list or array
            Labels of target documents that were drawn at random, for example by
            ``sample(50, how="random")``: one for each target document, None, NaN or NA for all
            others. They determine the class proportions, measure the accuracy
            (``expected_accuracy_``) of a fit that has not learnt from them, and then join the
            training set.
        corrections : list or array
            Labels of target documents that were chosen for any other reason, for example by
            ``sample(50)``: one for each target document, None, NaN or NA for all others. A label
            may be a new class. The classifier is fitted twice: without them, for
            ``uncorrected_transduction_``, and with them as labelled documents. If they show that
            most labels of a class are wrong, the class gets a lower proportion.
        origins : list of pairs of str
            The file of each document and its id there, of X, ``target`` and ``unlabelled``.
            Explanations and ``issues_`` name documents by these.
        progress : callable
            Called as progress(stage, done, total), from this thread, in place of ``verbose``.
        """
        warn_of_input(X, y, target)
        verbose = check_verbose(self.verbose)
        with shown_progress(verbose, progress) as report:
            runtime = self._runtime(report, say if verbose and report is None else None)
            settings, kernels = self._check_parameters(runtime)
            parameters = self._given_parameters()

            def fit(settings: Settings, given: FitInput, runtime: Runtime) -> FitResult:
                return fit_documents(settings, parameters, kernels, given, runtime)

            given = self._gather(X, y, target, unlabelled, kernels, runtime.n_threads)
            n, random = len(given.labels), check_random(random_labels, given)
            given = replace(given, random=random, origins=check_origins(origins, n))
            weighed = self._weigh(given, sample_weight, domains)
            if corrections is None:
                result, review = fit(settings, weighed, runtime), None
            else:
                known = check_corrections(corrections, given)
                for words in doubt_new_classes(known, given):
                    warn(words, stacklevel=3)
                joined = self._weigh(
                    join_corrections(given, known),
                    extend_values(sample_weight, n, 1.0),
                    extend_values(domains, n, DOMAIN),
                )
                result, review = fit_with_corrections(
                    fit, settings, weighed, joined, known, runtime
                )
        self._keep(result, review, X if isinstance(X, Corpus) else None)
        for words in find_warnings(result, review):
            warn(words, stacklevel=3)
        return self

    def estimate(
        self,
        X: Any,
        y: Any,
        *,
        target: Any = None,
        unlabelled: Any = None,
        corrections: Any = None,
        n_explained: int = 0,
        advice: str = "fit on {} of its documents, and predict the others",
    ) -> Estimate:
        """Estimate the memory and the time of a fit; raise an error if it needs too much memory.

        Parameters
        ----------
        X, y, target, unlabelled, corrections
            As in ``fit``.
        n_explained : int
            The number of documents that a report will explain.
        advice : str
            The advice of the error, with ``{}`` for the number of target documents that would fit.
        """
        runtime = self._runtime()
        settings, kernel_list = self._check_parameters(runtime)
        given = self._gather(X, y, target, unlabelled, kernel_list, runtime.n_threads)
        known = None if corrections is None else check_corrections(corrections, given)
        return estimate_fit(
            settings, kernel_list, given, known, runtime, n_explained=n_explained, advice=advice
        )

    def _gather(
        self,
        X: Any,
        y: Any,
        target: Any,
        unlabelled: Any,
        kernel_list: KernelList | None,
        n_threads: int,
    ) -> FitInput:
        """Return the documents and labels of a fit; gaps in the labels mark the target."""
        if not isinstance(X, Corpus):
            read = self._reader(X, target, kernel_list, n_threads, reset=True)
            return gather(X, y, target, read=read, unlabelled=unlabelled)
        if target is not None:
            raise InputError("a Corpus holds the target too: mark it by missing labels in y")
        if kernel_list is None or kernel_list.by_rows:
            raise InputError(
                "a Corpus holds texts: choose another kernel than 'precomputed' or 'rows'"
            )
        given = FitInput(X, as_labels(y, n_documents=len(X)), unlabelled or 0)
        if given.is_source[len(X) - given.n_unlabelled :].any():
            raise InputError(f"unlabelled={unlabelled}: some of these last documents have labels")
        return given

    def _weigh(self, given: FitInput, sample_weight: Any, domains: Any) -> FitInput:
        """Return the input with the weight of each document and the names of the sources."""
        weights = weigh_documents(given.labels, given.is_source, sample_weight, self.class_weight)
        names = check_domains(domains, given.labels, given.is_source)
        return replace(given, weights=weights, domains=names)

    def _keep(
        self, fit: FitResult, review: CorrectionReview | None = None, corpus: Corpus | None = None
    ) -> None:
        """Set the fitted attributes."""
        codes = corrected_codes(fit)
        labels = fit.classes[codes]
        one_hot = np.eye(len(fit.classes))[codes]
        self.result_ = fit
        self._review = review
        self.corpus_ = corpus
        self._comparison: ReferenceComparison | None = None
        self.classes_ = fit.classes
        self.transduction_score_ = put_in_place(fit, fit.scores[fit.wanted], 2 * one_hot - 1)
        self.transduction_: NDArray[Any] = fit.classes[choose_classes(self.transduction_score_)]
        before = fit.unadapted_labels
        self.unadapted_transduction_ = None if before is None else put_in_place(fit, before, labels)
        self.uncorrected_transduction_ = None if review is None else review.uncorrected_labels
        self.corrected_ = np.isin(target_rows(fit), (*fit.corrected, *fit.random))
        self.labeled_iter_ = fit.labeled_iter[: len(fit.labeled_iter) - fit.n_unlabelled]
        self.class_prior_ = fit.describe_class_prior()
        self.expected_accuracy_ = fit.expected_accuracy
        self.sources_ = fit.sources
        self.n_blank_ = fit.n_blank
        self.history_ = fit.history

    def _runtime(self, progress: Progress | None = None, say: Say | None = None) -> Runtime:
        """Return the threads, memory and progress that the parameters ask for."""
        return Runtime(self.n_jobs, self.memory_limit, progress=progress, say=say)

    def _check_parameters(self, runtime: Runtime) -> tuple[Settings, KernelList | None]:
        """Return the checked parameters, and the kernels unless a kernel matrix is given."""
        settings = Settings.from_parameters(self.get_params(deep=False))
        return settings, kernel_list_of(settings, runtime)

    def _given_parameters(self) -> dict[str, Any]:
        """Return copies of the parameters, which later changes by the user do not affect."""
        parameters: dict[str, Any] = self.get_params(deep=False)
        del parameters["verbose"]  # it affects what a fit shows, not its result
        lengths = None if self.ngram_range is None else tuple(map(int, self.ngram_range))
        learner = self.classifier if isinstance(self.classifier, str) else clone(self.classifier)
        kernel = copy_kernel(self.kernel)
        return parameters | {"kernel": kernel, "ngram_range": lengths, "classifier": learner}

    def _reader(
        self,
        X: Any,
        target: Any,
        kernel_list: KernelList | None,
        n_threads: int = 1,
        *,
        reset: bool,
    ) -> Callable[..., Any]:
        """Return the function that checks X: as a kernel matrix, rows of numbers, or texts."""
        if kernel_list is None:
            if target is not None:
                advice = "mark its rows by missing labels in y"
                raise InputError(f"with kernel='precomputed' X holds the target too: {advice}")
            return lambda X, name: check_gram(X, n_threads=n_threads)
        if kernel_list.takes_rows(X):
            return lambda X, name: validate_data(
                self, X, reset=reset and name == "X", dtype=float, copy=True
            )
        return as_documents

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of documents, without a new fit; of two classes those of the second."""
        scores = self._score(self._read(X))
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels of documents; target documents keep the label of the fit."""
        scores = self._score(self._read(X))
        labels: NDArray[Any] = self.classes_[choose_classes(scores)]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Return a probability per class, calibrated like those of the target documents.

        The predicted class has the largest.
        """
        documents = self._read(X)
        calibration = self.result_.calibration
        assert calibration is not None, "a fit that users made has it"
        probabilities = softmax(self._score(documents), calibration.steepness)
        for row, place in self.result_.find_known(documents):
            probabilities[row] = self.result_.probabilities[place]
        return probabilities

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of each probability; that of 0 is minus infinity."""
        return log_of(self.predict_proba(X))

    @property
    def transduction_proba_(self) -> Floats:
        """Probabilities of the target documents.

        A document that joined the training set gets its probabilities from classifiers that did not
        learn from its pseudo-label; if these prefer another class, it gets its label with the
        smallest possible confidence. A corrected document has probability 1 for its label.
        """
        check_is_fitted(self)
        certain = np.eye(len(self.classes_))[corrected_codes(self.result_)]
        return put_in_place(self.result_, self.result_.wanted_probabilities, certain).copy()

    @property
    def reference_transduction_(self) -> NDArray[Any] | None:
        """Labels without adapting, or None if the fit does not adapt or its documents are not kept.

        They are those of the first round of the preset "best". For others they need another fit,
        with ``adapt=False`` and one round, made on first access.
        """
        check_is_fitted(self)
        fit, reference = self.result_, self._compare().reference
        if reference is None:
            return None
        labels = reference.labels[reference.wanted]
        return put_in_place(fit, labels, fit.classes[corrected_codes(fit)])

    @property
    def issues_(self) -> Issues:
        """Problems in the data, found on first access; ``issues_.to_frame()`` returns a table.

        They are doubtful labels of the source, copies, empty texts, and target documents unlike the
        source. Corrections are not doubted.
        """
        check_is_fitted(self)
        fit = self.result_
        return without_corrected(fit.issues, fit.corrected, fit.training_set.source)

    @property
    def diagnostics_(self) -> dict[str, Any]:
        """Figures with a sentence each, warnings, and a verdict on the labels.

        Computed on first access, in about the time of one round. A model that was loaded without
        texts has no separability.
        """
        return self.diagnose()

    def diagnose(
        self, *, advice: Advice | None = None, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Return ``diagnostics_``, with other advice in the warnings; report the progress."""
        check_is_fitted(self)
        compared = self._compare(progress)
        return diagnose_fit(self.result_, compared, self._review, advice or Advice())

    def _compare(self, progress: Progress | None = None) -> ReferenceComparison:
        """Return the comparison with a fit without adapting, computed once."""
        if self._comparison is None:
            self._comparison = compare_fit(self.result_, self._runtime(progress), self.corpus_)
        return self._comparison

    def to_frame(self, *, ids: Any = None, texts: Any = None) -> Any:
        """Return the target documents as a pandas data frame, in their order.

        The columns are ``text`` and those that ``gramshift classify`` adds to a table: ``label``,
        ``confidence`` (the probability of the label), the probability of each class as
        ``p_<class>``, ``unadapted_label`` (the label without adapting) and ``issue`` (the problems
        of the document in words, as in ``issues_``). There is no ``issue`` after a fit on rows of
        numbers or a kernel matrix, nor in a model that was loaded.

        Parameters
        ----------
        ids : list, column or index, optional
            The index of the frame; by default numbers.
        texts : list of str, optional
            The texts of the target, if the classifier does not keep them: they were rows of
            numbers, or the model was saved without texts. Without them there is no column ``text``.
        """
        check_is_fitted(self)
        fit, n, probabilities = self.result_, len(self.transduction_), self.transduction_proba_
        shown = target_texts(fit) if texts is None else check_texts(fit, texts, n)
        columns: dict[str, Any] = {} if shown is None else {"text": shown}
        columns["label"] = self.transduction_
        columns["confidence"] = probabilities.max(axis=1, initial=0)
        for code, name in enumerate(self.classes_.tolist()):
            columns[f"p_{name}"] = probabilities[:, code]
        if self.unadapted_transduction_ is not None:
            columns["unadapted_label"] = self.unadapted_transduction_
        if not fit.why_no_issues:
            by_row = self.issues_.by_row()
            columns["issue"] = [by_row.get(row) for row in target_rows(fit).tolist()]
        return make_frame(columns, ids, n)

    def sample(
        self, n: int = 50, *, how: str = DOUBTFUL, texts: Any = None, random_state: int = 0
    ) -> NDArray[np.intp]:
        """Choose target documents for a person to label; return their places in ``transduction_``.

        Documents with corrections or random labels are not chosen again.

        Parameters
        ----------
        n : int
            The number of documents.
        how : {"doubtful", "random"}
            Doubtful documents that are unlike each other, from whose labels most can be learnt; or
            a random sample, to measure the accuracy.
        texts : list of str, optional
            The texts of the target, for doubtful documents, as in ``to_frame``.
        random_state : int
            The seed of random draws.
        """
        check_is_fitted(self)
        fit = self.result_
        places = np.flatnonzero(~self.corrected_)
        n = check_number(n, len(places))
        if how == RANDOM:
            return places[choose_random(len(places), n, random_state)]
        if how != DOUBTFUL:
            raise InputError(f"how={how!r}: give {DOUBTFUL!r} or {RANDOM!r}")
        compare = comparer(fit, texts, places, self.n_jobs)
        confidence = self.transduction_proba_[places].max(axis=1)
        return places[choose_doubtful(confidence, n, compare)]

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        ids: Any = None,
        source_ids: Any = None,
        columns: Mapping[str, Sequence[Any]] | Any = None,
        title: str | None = None,
        truth: Any = None,
        drawn: Any = None,
        abstain_below: float | None = None,
        run: Any = None,
        progress: Progress | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write an HTML report to read, search and correct labels in, of a fit on texts.

        Parameters
        ----------
        path : path of a file, or open binary file
            A new file appears once it is complete.
        ids, source_ids : list, column or index, optional
            Names of the target and the source documents; by default their numbers, from 1 on.
            Corrections that are saved in the page name documents by these.
        columns : dict or DataFrame, optional
            More values to show for each target document, by name, such as its title and date.
        title : str, optional
            The heading.
        truth : list, optional
            The true label of each target document, None where it is not known.
        drawn : dict, optional
            How documents were chosen to be labelled by hand, by id: "random", "doubtful" or
            "chosen".
        abstain_below : float, optional
            Documents with less confidence are shown as left without a label.
        run : RunInfo, optional
            Facts about the run of a command.
        progress : callable, optional
            Called as progress(stage, done, total).
        overwrite : bool
            If True, a file of this name is replaced; otherwise it is an error.
        """
        check_is_fitted(self)
        check_overwrite(path, overwrite=overwrite)
        from gramshift.report.build import write_report  # late: it imports this classifier

        write_report(
            self,
            path,
            ids=ids,
            source_ids=source_ids,
            columns=columns,
            title=title,
            truth=truth,
            drawn=drawn,
            abstain_below=abstain_below,
            run=run,
            progress=progress,
        )

    def _repr_html_inner(self) -> str:
        """Return the summary of a fit; before a fit, scikit-learn's box of parameters.

        The box reads every attribute, and would compute the diagnostics of a fit.
        """
        if not hasattr(self, "result_"):
            return str(estimator_html_repr(self))
        from gramshift.report.summary import draw_summary  # late: it imports this classifier

        return draw_summary(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return text for notebooks, and HTML unless scikit-learn is set to show text alone."""
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def explain(self, text: str) -> Explanation:
        """Return the words that speak for and against the label of a text, and similar documents.

        Their shares, the share of the text's vector (with an encoder) and the score of an empty
        document add up to the score. A model without texts has no similar documents.
        """
        check_is_fitted(self)
        return explain_text(self.result_, text)

    def strongest_ngrams(
        self, n: int = 50, *, overlapping: bool = True, counts: bool = False
    ) -> dict[Any, list[tuple[Any, ...]]]:
        """Return the n-grams that indicate each class most in a linear model, with their weights.

        Of n-grams that occur in the same documents the longest is listed, with its weight before
        scores are normalised. With overlapping=False, an n-gram that shares half or more with a
        stronger one is left out. With counts=True, the numbers of source and of target documents
        that contain it follow.
        """
        check_is_fitted(self)
        return self.result_.strongest_ngrams(n, overlapping=overlapping, counts=counts)

    def save(self, path: Writable, *, texts: bool = False, overwrite: bool = False) -> None:
        """Write the fitted classifier to a path or an open binary file, for ``gramshift.load``.

        The file of a linear model such as the preset "best" contains n-grams that two or more
        documents share, with coefficients. It contains documents only with ``texts=True``, and then
        explanations show similar ones. Files of other models always contain the documents that new
        ones are compared with. A file of this name is replaced only with ``overwrite=True``.
        """
        check_is_fitted(self)
        check_overwrite(path, overwrite=overwrite)
        save_fit(self.result_, path, texts=check_flag("texts", texts))

    def _read(self, X: Any) -> Any:
        """Return new documents, checked as those of the fit were."""
        check_is_fitted(self)
        kernel_list = self.result_.model.kernel_list
        if kernel_list is None:
            return np.asarray(X)
        return self._reader(X, None, kernel_list, reset=False)(X, name="X")

    def _score(self, documents: Any) -> Floats:
        """Return a column of scores per class; target documents keep those of the fit."""
        scores = self.result_.model.score(documents, n_jobs=self.n_jobs)
        for row, place in self.result_.find_known(documents):
            scores[row] = self.result_.scores[place]
        return scores

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same encoder, which may be too large to be copied."""
        bare = copy(self)
        bare.encoder = None
        cloned: Self = BaseEstimator.__sklearn_clone__(bare)
        cloned.encoder = self.encoder
        return cloned

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

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


def load(path: str | os.PathLike[str], *, encoder: Any = None) -> TransductiveClassifier:
    """Read a model file that ``save`` wrote; the classifier predicts the same, to the last bit.

    A model that was fitted with an encoder needs it again: files hold its name and a fingerprint.
    """
    check_encoder(encoder)
    classifier, head, arrays = read_classifier(path, encoder=encoder)
    fit = with_encoder(classifier.result_, encoder, head, arrays, path)
    classifier._keep(fit)
    return classifier


def read_classifier(
    path: str | os.PathLike[str], *, encoder: Any = None
) -> tuple[TransductiveClassifier, dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the classifier of a file, which may lack its encoder, and the parts of the file."""
    head, arrays = read_archive(path)
    try:
        parameters = parameters_from_json(head["parameters"])
        classifier = TransductiveClassifier(**parameters, encoder=encoder)
        given = classifier.get_params(deep=False)
        del given["verbose"]
        classifier._keep(read_fit(given, head, arrays))
    except MemoryError:
        raise
    except Exception as error:  # whatever fails, the file is the reason
        raise ModelFileError(
            f"{path} is not a Gramshift model that can be trusted: {error}"
        ) from error
    if "rows" in arrays:
        classifier.n_features_in_ = arrays["rows"].shape[1]
    return classifier, head, arrays
