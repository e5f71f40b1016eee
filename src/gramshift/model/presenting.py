"""What a fitted classifier shows of itself in Python: diagnostics, a data frame, a report and a summary for notebooks."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import estimator_html_repr

from gramshift.errors import InputError, MissingPackageError
from gramshift.model.choosing import (
    DOUBTFUL,
    RANDOM,
    check_number,
    choose_doubtful,
    choose_random,
    compare_rows,
    compare_texts,
)
from gramshift.model.diagnosis import diagnose_fit
from gramshift.model.fitted import Fit
from gramshift.runtime.resources import Runtime
from gramshift.runtime.threads import Progress
from gramshift.text.corpus import digest_of
from gramshift.text.documents import as_documents, as_list


class Presented:
    """What people look at, once a classifier has a fit."""

    _fit: Fit
    classes_: NDArray[Any]
    transduction_: NDArray[Any]
    unadapted_transduction_: NDArray[Any] | None
    labeled_iter_: NDArray[np.intp]
    n_jobs: int | None
    memory_limit: int | float | str | None

    @property
    def diagnostics_(self) -> dict[str, Any]:
        """What ``gramshift classify`` says of its labels: figures with a sentence each, warnings, and the verdict.

        It is worked out when it is first asked for, which takes about as long as one round of the fit. A model that was loaded
        without texts has no separability.
        """
        self._check_fitted()  # type: ignore[attr-defined]
        kept: tuple[Fit, dict[str, Any]] | None = getattr(self, "_diagnosis", None)
        if kept is None or kept[0] is not self._fit:
            kept = (self._fit, diagnose_fit(self._fit, Runtime(self.n_jobs, self.memory_limit)))
            self._diagnosis = kept
        return {name: dict(one) if isinstance(one, dict) else one for name, one in kept[1].items()}

    def to_frame(self, *, ids: Any = None, texts: Any = None) -> Any:
        """Return the target documents as a pandas data frame, a row each, in their order.

        Columns are ``text``, ``label``, the probability of each class as ``p_<class>``, ``unadapted_label`` (the label without
        adapting), ``round`` (the round after which a document joined the training set as a pseudo-label, 0 for never) and
        ``doubt``, the probability that the label is wrong.

        Parameters
        ----------
        ids : list, column or index, optional
            What the rows are called; by default their numbers. The index of a pandas Series or frame may be given.
        texts : list of str, optional
            The texts of the target, where the classifier does not keep them: of rows of numbers, and after
            loading a file without texts. Without them there is no column ``text``.
        """
        self._check_fitted()  # type: ignore[attr-defined]
        try:
            import pandas as pd  # an extra of the user's: nothing else here needs it
        except ModuleNotFoundError:
            raise MissingPackageError("to_frame needs pandas: pip install pandas", name="pandas") from None
        n, probabilities = len(self.transduction_), self._fit.wanted_probabilities
        shown = target_texts(self._fit) if texts is None else check_texts(self._fit, texts, n)
        columns: dict[str, Any] = {} if shown is None else {"text": shown}
        columns["label"] = self.transduction_
        columns |= {f"p_{name}": probabilities[:, code] for code, name in enumerate(self.classes_.tolist())}
        if self.unadapted_transduction_ is not None:
            columns["unadapted_label"] = self.unadapted_transduction_
        columns["round"] = rounds_of(self.labeled_iter_)
        columns["doubt"] = 1 - probabilities.max(axis=1, initial=0)
        index = None if ids is None else pd.Index(check_ids(ids, n, "target"), name=getattr(ids, "name", None))
        return pd.DataFrame(columns, index=index)

    def sample(self, n: int = 50, *, how: str = DOUBTFUL, texts: Any = None, random_state: int = 0) -> NDArray[np.intp]:
        """Choose target documents for a person to label; return their places in ``transduction_``.

        Parameters
        ----------
        n : int
            How many.
        how : {"doubtful", "random"}
            Doubtful documents that are unlike each other, whose labels teach most; or each document with the same chance, to
            score labels with.
        texts : list of str, optional
            The texts of the target, where the classifier does not keep them, as in ``to_frame``; for doubtful ones.
        random_state : int
            The seed of drawing by chance.
        """
        self._check_fitted()  # type: ignore[attr-defined]
        n = check_number(n, len(self.transduction_))
        if how == RANDOM:
            return choose_random(len(self.transduction_), n, random_state)
        if how != DOUBTFUL:
            raise InputError(f"how={how!r}: give {DOUBTFUL!r} or {RANDOM!r}")
        fit = self._fit
        if fit.is_of_rows:
            compare = compare_rows(np.asarray(fit.model.documents)[fit.labelling.target[fit.wanted]])
        else:
            known = target_texts(fit) if texts is None else check_texts(fit, texts, len(self.transduction_))
            if known is None:
                raise InputError("near copies are left out, and the texts of the target are not kept here; give texts=...")
            compare = compare_texts(known, self.n_jobs)
        return choose_doubtful(fit.wanted_probabilities.max(axis=1), n, compare)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        ids: Any = None,
        source_ids: Any = None,
        columns: Mapping[str, Sequence[Any]] | Any = None,
        title: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write the report that ``gramshift classify --report`` writes: one HTML file to read, search and correct labels in.

        Parameters
        ----------
        path : path of a file
            Where it goes; a file that is there already is replaced once the new one is whole.
        ids, source_ids : list, column or index, optional
            What the target and the source documents are called; by default their numbers, from 1 on. Corrections that are
            saved in the page name documents by these.
        columns : dict or DataFrame, optional
            More to show of each target document, such as its title and date: values by name, one for each document.
        title : str, optional
            The heading.
        progress : callable, optional
            Called as progress(stage, done, total).
        """
        self._check_fitted()  # type: ignore[attr-defined]
        from gramshift.report.build import write_report  # late: the report imports this classifier

        more = {"ids": ids, "source_ids": source_ids, "columns": columns, "title": title, "progress": progress}
        write_report(self, path, **more)  # type: ignore[arg-type]

    def _repr_html_inner(self) -> str:
        """The summary of a fit; scikit-learn's box of parameters before there is one.

        That box is not for fits: it looks at every attribute, and diagnostics would be worked out for it.
        """
        if not hasattr(self, "_fit"):
            return str(estimator_html_repr(self))
        from gramshift.report.summary import draw_summary  # late, as above

        return draw_summary(self)  # type: ignore[arg-type]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What notebooks ask for: as text, and unless scikit-learn is set to show text alone, as HTML."""
        bundle = {"text/plain": repr(self)}
        return bundle | ({"text/html": self._repr_html_inner()} if get_config()["display"] == "diagram" else {})


def rounds_of(labeled_iter: NDArray[np.intp]) -> NDArray[np.intp]:
    """The round after which each target document joined the training set; 0 for never."""
    rounds: NDArray[np.intp] = np.maximum(labeled_iter[labeled_iter != 0], 0)
    return rounds


def target_texts(fit: Fit) -> list[str] | None:
    """The texts of the target documents whose labels are wanted; None if not all of them are kept."""
    documents = fit.model.documents
    if not isinstance(documents, list) or len(documents) != len(fit.labelling):
        return None
    return [documents[row] for row in fit.labelling.target[fit.wanted].tolist()]


def check_texts(fit: Fit, texts: Any, n: int) -> list[str]:
    """Texts that the user gives: those of the target, as far as that can be known."""
    given: list[str] = as_documents(texts, name="texts")
    known = [] if fit.is_of_rows else fit.target_digests[fit.wanted]
    if len(given) != n or (known and known != list(map(digest_of, given))):
        raise InputError(f"texts has {len(given)} documents, which are not the {n} target documents of the fit, in order")
    return given


def check_ids(ids: Any, n: int, kind: str) -> list[Any]:
    """One id for each document."""
    names = as_list(ids)
    if len(names) != n:
        raise InputError(f"there are {len(names)} ids for {n} {kind} documents; give one for each, in their order")
    return names
