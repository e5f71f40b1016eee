"""The string kernel for users: a function, a scikit-learn kernel and a transformer."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import TransformerTags

from gramshift.errors import InputError
from gramshift.files import check_overwrite
from gramshift.kernels.corpus import UNITS, Corpus
from gramshift.kernels.gram import compute_gram
from gramshift.kernels.registry import (
    KERNELS,
    PARAMETERS,
    check_ngram_range,
    check_parameters,
    check_weighting,
)
from gramshift.kernels.weighting import Powers, Weighting, as_groups
from gramshift.memory import parse_bytes
from gramshift.parallel import Progress, count_threads
from gramshift.runtime import Runtime
from gramshift.text.documents import as_documents
from gramshift.text.steps import TextSteps


@dataclass(frozen=True)
class KernelSpec:
    """A string kernel with checked parameters, which do not change any more."""

    kind: str
    ngram_range: tuple[int, int]
    unit: str
    steps: TextSteps
    powers: Powers | None
    """Powers of the factors of n-gram weights; None for equal weights."""
    parameters: Mapping[str, Any]
    """Parameters that only this kind has."""
    normalize: bool
    memory_limit: int | float | str | None
    n_jobs: int | None

    @property
    def counts(self) -> bool:
        """True if the kernel is a sum over shared n-grams."""
        return KERNELS[self.kind].counts

    def compute(
        self,
        documents: Any,
        others: Any = None,
        *,
        runtime: Runtime | None = None,
        normalize: bool | None = None,
        domains: Any = None,
        classes: Any = None,
        out: str | os.PathLike[str] | None = None,
    ) -> NDArray[Any]:
        """Compute the kernel matrix, with a given runtime or the kernel's threads and memory."""
        if out is not None and not Path(out).absolute().parent.is_dir():
            raise FileNotFoundError(
                f"{Path(out).absolute().parent}: no such folder for out={str(out)!r}; make it first"
            )
        symmetric = others is None or others is documents
        rows = (
            documents
            if isinstance(documents, Corpus) and symmetric
            else Corpus(as_documents(documents))
        )
        columns = None if symmetric else as_documents(others, name="others")
        texts = self.prepare(rows if columns is None else Corpus([*rows.texts, *columns]))
        n_rows = len(rows)
        return compute_gram(
            texts[:n_rows],
            None if columns is None else texts[n_rows:],
            kind=self.kind,
            ngram_range=self.ngram_range,
            parameters=self.parameters,
            weighting=self.make_weighting(
                n_rows if columns is None else len(columns), domains, classes
            ),
            normalize=self.normalize if normalize is None else normalize,
            runtime=runtime or Runtime(self.n_jobs, self.memory_limit),
            out=out,
        )

    def make_weighting(self, n: int, domains: Any = None, classes: Any = None) -> Weighting | None:
        """Return the weighting for n documents of these domains and classes, or None."""
        powers = self.powers
        if powers is None:
            return None
        return Weighting(
            powers,
            as_groups(domains, n, "domains") if powers.consistency or domains is not None else None,
            as_groups(classes, n, "classes") if powers.classes else None,
        )

    def prepare(self, corpus: Corpus) -> list[str]:
        """Return texts as n-grams are taken from them; words are numbered by first occurrence."""
        return corpus.form(self.steps, self.unit)


class StringKernel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Similarity of documents by the character n-grams they share; exact.

    Parameters
    ----------
    kind : {"presence", "intersection", "spectrum", "subsequence", "local_rank"}
        The count of a shared n-gram: 1; the smaller of its two counts; the product of its two
        counts. "subsequence" also counts n-grams with gaps; "local_rank" compares the positions of
        n-grams. These two compare every pair of documents and take far longer.
    ngram_range : (lo, hi)
        All lengths from lo to hi are summed. Any 1 <= lo <= hi.
    unit : {"character", "word", "word+opening"}
        The units of n-grams. Words are separated by white space and ``. , ; : ( ) "``; ! and ? are
        words too. With "word+opening", the first 8 words of a text of 200 characters or more count
        once more, as words of their own, which names of n-grams mark by "«".
    weighting : {None, "idf"} or dict
        The weight of a shared n-gram, for the presence kernel: a product of powers of factors, such
        as ``{"idf": 2}``; "idf" is short for this one. ``idf`` is log(documents / documents with
        the n-gram); ``consistency`` the smallest over the largest fraction of a domain's documents
        that contain it; ``classes`` how much more common it is in a class than elsewhere, as an
        absolute log. Weights are computed from the documents, or from ``others`` if given.
    decay : float
        For "subsequence": a shared sequence counts decay to the power of the characters that it
        spans in both documents.
    max_offset : int
        For "local_rank": an n-gram that is this many characters away, or missing, has the largest
        distance.
    sigma : float
        For "local_rank": the width of exp(-distance / (2 sigma ** 2)), with distances from 0 to 1.
    normalize : bool
        Divide by sqrt(k(a, a) * k(b, b)): similarities from 0 to 1. A document without n-grams has
        similarity 0 to all, itself included.
    strip, lowercase, collapse_whitespace : bool
        Normalisation of texts: no white space at the ends, lower case, one blank for every run of
        white space.
    unicode_form : {None, "NFC", "NFD", "NFKC", "NFKD"}
        Bring texts into a Unicode form, so that for example "é" and "e" + accent are the same.
    memory_limit : int or str, optional
        Bytes, or a size such as "2 GiB". Default: what is free, container limits included.
    n_jobs : int
        Threads; -1 for all cores. The result does not depend on it.

    Examples
    --------
    >>> import gramshift as gs
    >>> kernel = gs.StringKernel("presence", ngram_range=(2, 3))
    >>> kernel.gram(["banana", "bananas", "cherry"])
    array([[6, 6, 0],
           [6, 8, 0],
           [0, 0, 9]])
    """

    def __init__(
        self,
        kind: str = "presence",
        *,
        ngram_range: tuple[int, int] = (5, 8),
        unit: str = "character",
        weighting: Any = None,
        decay: float = PARAMETERS["decay"].default,
        max_offset: int = PARAMETERS["max_offset"].default,
        sigma: float = PARAMETERS["sigma"].default,
        normalize: bool = False,
        strip: bool = True,
        lowercase: bool = True,
        collapse_whitespace: bool = True,
        unicode_form: str | None = None,
        memory_limit: int | float | str | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.kind = kind
        self.ngram_range = ngram_range
        self.unit = unit
        self.weighting = weighting
        self.decay = decay
        self.max_offset = max_offset
        self.sigma = sigma
        self.normalize = normalize
        self.strip = strip
        self.lowercase = lowercase
        self.collapse_whitespace = collapse_whitespace
        self.unicode_form = unicode_form
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs

    def gram(
        self,
        documents: Any,
        others: Any = None,
        *,
        normalize: bool | None = None,
        domains: Any = None,
        classes: Any = None,
        out: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> NDArray[Any]:
        """Return the kernel matrix of documents with each other, or (rows) with others (columns).

        Parameters
        ----------
        documents, others : list of str, array, column of a frame, or dask bag or series
        normalize : bool, optional
            Overrides the constructor's.
        domains, classes : sequence, optional
            For weights that depend on them: domain or class of each document from which weights are
            computed, None for unknown.
        out : path, optional
            Write the kernel matrix into this .npy file, tile by tile, and return it memory-mapped:
            it need not fit into memory.
        overwrite : bool
            If True, a file ``out`` that exists is replaced; otherwise it is an error.
        progress : callable, optional
            Called as progress(stage, done, total).

        Returns
        -------
        int64 counts, or float64 if normalised or weighted and for "subsequence" and "local_rank",
        of shape (documents, others).
        """
        check_overwrite(out, overwrite=overwrite)
        runtime = Runtime(self.n_jobs, self.memory_limit, progress=progress)
        groups = {"domains": domains, "classes": classes}
        return self.parse().compute(
            documents, others, runtime=runtime, normalize=normalize, **groups, out=out
        )

    def parse(self) -> KernelSpec:
        """Return the parameters as they are now; raise an error if one is wrong."""
        if self.kind not in KERNELS:
            raise InputError(f"kind={self.kind!r}: must be one of {', '.join(map(repr, KERNELS))}")
        own = check_parameters(self.kind, {name: getattr(self, name) for name in PARAMETERS})
        powers = check_weighting(self.kind, self.weighting)
        if self.unit not in UNITS:
            raise InputError(f"unit={self.unit!r}: must be one of {', '.join(map(repr, UNITS))}")
        count_threads(self.n_jobs)
        if self.memory_limit is not None:
            parse_bytes(self.memory_limit)
        steps = TextSteps(self.strip, self.lowercase, self.collapse_whitespace, self.unicode_form)
        ngram_range = check_ngram_range(self.ngram_range)
        return KernelSpec(
            self.kind,
            ngram_range,
            self.unit,
            steps,
            powers,
            own,
            self.normalize,
            self.memory_limit,
            self.n_jobs,
        )

    def __call__(self, X: Any, Y: Any = None) -> NDArray[Any]:
        """Return the kernel matrix, for example in ``SVC(kernel=StringKernel(normalize=True))``."""
        return self.gram(X, Y)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the documents that later ones are compared with."""
        self.documents_ = as_documents(X)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the kernel matrix of X with the documents of fit, for ``kernel="precomputed"``."""
        return self.gram(X, self._fitted_documents())

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Return the kernel matrix of X with itself."""
        return self.fit(X).gram(self.documents_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return a name for every column of the kernel matrix."""
        return np.array(
            [f"document{i}" for i in range(len(self._fitted_documents()))], dtype=object
        )

    def _fitted_documents(self) -> list[str]:
        if not hasattr(self, "documents_"):
            raise NotFittedError(
                "This StringKernel is not fitted yet: call fit with the documents to compare with"
            )
        return self.documents_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "transformer"
        tags.transformer_tags = TransformerTags()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags
