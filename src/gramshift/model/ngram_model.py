"""A linear model with one coefficient per n-gram and class: it needs no documents to score."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import merge
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.kernels.corpus import Corpus
from gramshift.kernels.encoding import Encoder, encode_texts
from gramshift.kernels.string_kernel import KernelSpec
from gramshift.learn.features import one_over_root
from gramshift.learn.ridge import Coefficients, is_mirrored
from gramshift.learn.training_set import TrainingSet
from gramshift.learn.vectors import to_units
from gramshift.memory import release_freed_memory
from gramshift.model.feature_makers import NGramFeatureMaker, weigh_by, weigh_lists
from gramshift.ngrams.trie import NGramTable, build_table
from gramshift.parallel import ONE_BLAS_THREAD
from gramshift.runtime import Runtime
from gramshift.text.encode import Encoded, encode
from gramshift.text.steps import Aligned, TextSteps, align
from gramshift.text.words import SPLITTERS, Vocabulary, split_words

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NGramPart:
    """The n-grams of one kernel that have weight, each with its feature in a table.

    Feature f has ``weights[f]`` and ``coefficients[f]``; a model for two classes has one column,
    that of the second. With a ``vocabulary``, n-grams are of words.
    """

    steps: TextSteps
    table: NGramTable
    weights: Floats
    coefficients: Floats
    vocabulary: Vocabulary | None = None

    @cached_property
    def values(self) -> Floats:
        """The contribution of each n-gram to self-values, then to unnormalised scores."""
        return np.hstack([self.weights[:, None], self.weights[:, None] * self.coefficients])

    def encode(self, corpus: Corpus) -> Encoded:
        """Return texts as the table looks them up."""
        texts = corpus.form(self.steps)
        return encode(
            texts if self.vocabulary is None else self.vocabulary.write(texts), self.table.alphabet
        )

    def name(self, node: int) -> str:
        """Return the n-gram of a node as people write it."""
        text = self.table.ngram_text(node)
        return text if self.vocabulary is None else " ".join(self._words[char] for char in text)

    @cached_property
    def _words(self) -> dict[str, str]:
        assert self.vocabulary is not None
        return {char: word for word, char in self.vocabulary.characters.items()}


@dataclass(frozen=True)
class VectorPart:
    """The coefficients of the vectors of whole texts, times their ``share`` of the kernel.

    Vectors are centred by the mean of the fit's target, and have length 1 then.
    """

    encoder: Encoder
    centre: Floats
    coefficients: Floats
    share: float

    def score(self, texts: Sequence[str]) -> Floats:
        """Return a column of scores for each of the coefficients."""
        units = to_units(encode_texts(self.encoder, texts, width=len(self.centre)), self.centre)
        scores = np.zeros((len(texts), self.coefficients.shape[1]))
        with ONE_BLAS_THREAD:
            for row, unit in enumerate(units):  # one by one: bits do not depend on other texts
                scores[row] = unit @ self.coefficients
        return scores


@dataclass(frozen=True)
class NGramModel:
    """The mean of several normalised linear kernels, and intercepts."""

    parts: Sequence[NGramPart]
    intercepts: Floats
    n_jobs: int | None = field(default=-1, compare=False)
    vectors: VectorPart | None = None
    """The vectors of texts, if there is an encoder; n-grams have the rest of the kernel."""

    @property
    def is_mirrored(self) -> bool:
        """True if the score of the first of two classes is the negative of the second's."""
        return len(self.intercepts) == 2 and self.parts[0].coefficients.shape[1] == 1

    def score(self, texts: Sequence[str], *, n_jobs: int | None = -1) -> Floats:
        """Return a column of scores per class; those of a document do not depend on others."""
        corpus, run = Corpus(list(texts)), Runtime(n_jobs).run
        total = np.zeros((len(texts), self.parts[0].coefficients.shape[1]))
        for part in self.parts:
            sums = part.table.sum_values(part.encode(corpus), part.values, run=run)
            total += sums[:, 1:] * one_over_root(sums[:, :1])
        scores = self._for_all_classes(total / self._divisor) + self.intercepts
        return scores if self.vectors is None else scores + self.score_vectors(texts)

    def score_vectors(self, texts: Sequence[str]) -> Floats:
        """Return what the vectors of the texts add to their scores, per class."""
        if self.vectors is None:
            return np.zeros((len(texts), len(self.intercepts)))
        return self._for_all_classes(self.vectors.score(texts))

    @property
    def _divisor(self) -> float:
        """The number of parts of n-grams, larger if they are not the whole kernel."""
        return len(self.parts) / (1.0 if self.vectors is None else 1 - self.vectors.share)

    def spread(self, texts: Sequence[str], own: Floats | None = None) -> list[Floats]:
        """Return what each character of each text adds to the scores, per class, by its n-grams.

        ``own`` are the coefficients of the texts as documents of the fit: what they taught about
        themselves is left out.
        """
        result = [np.zeros((len(text), len(self.intercepts))) for text in texts]
        aligned: dict[TextSteps, list[Aligned]] = {}
        run = Runtime(self.n_jobs).run
        for part in self.parts:
            if part.steps not in aligned:
                aligned[part.steps] = [align(text, part.steps) for text in texts]
            here = aligned[part.steps]
            here = here if part.vocabulary is None else part.vocabulary.align(here)
            encoded = encode([one.text for one in here], part.table.alphabet)
            scale = one_over_root(part.table.sum_values(encoded, part.weights[:, None], run=run))
            less = None if own is None else scale * own[:, -part.coefficients.shape[1] :]
            spread = part.table.spread_values(
                encoded, part.weights, part.coefficients, less, run=run
            )
            for row, origin in enumerate(here):
                mine = spread[encoded.bounds[row] : encoded.bounds[row + 1]] * (
                    scale[row] / self._divisor
                )
                result[row] += at_origins(self._for_all_classes(mine), origin, len(texts[row]))
        return result

    def strongest(self, n: int, *, overlapping: bool = True) -> "list[list[ListedNGram]]":
        """Return for every class the n n-grams with the largest values.

        Of those in the same documents it is the longest, and without ``overlapping`` none that has
        much in common with a stronger one.
        """
        nodes = [_longest_nodes(part.table) for part in self.parts]
        values = [self._for_all_classes(part.values[:, 1:]) / self._divisor for part in self.parts]
        found = []
        for code in range(len(self.intercepts)):
            both = zip(self.parts, nodes, values, strict=True)
            lists = [_descending(part, longest, worth[:, code]) for part, longest, worth in both]
            ordered: Iterable[ListedNGram] = merge(*lists, key=lambda one: -one.worth)
            ordered = ordered if overlapping else _leave_apart(ordered)
            found.append(list(islice(ordered, n)))
        return found

    def _for_all_classes(self, columns: Floats) -> Floats:
        return np.hstack([-columns, columns]) if self.is_mirrored else columns


@dataclass(frozen=True)
class ListedNGram:
    """An n-gram of words or of characters, and its value for a class."""

    text: str
    worth: float
    unit: str
    steps: TextSteps

    @property
    def of_words(self) -> bool:
        """True for an n-gram of words."""
        return self.unit in SPLITTERS

    @cached_property
    def words(self) -> str:
        """Its words, between blanks, without marks of an opening."""
        return f" {' '.join(split_words(self.text))} "

    def overlaps(self, other: "ListedNGram") -> bool:
        """Return True if one contains the other, or half of the shorter one.

        N-grams of words contain only whole words of each other.
        """
        if self.of_words and other.of_words:
            return self.words in other.words or other.words in self.words
        if self.of_words != other.of_words:
            characters, words = (other, self) if self.of_words else (self, other)
            return words.words in characters.words or _has_half_of(characters.text, words.text)
        return _has_half_of(*sorted((self.text, other.text), key=lambda text: len(text.strip())))


def find_documents(
    ngrams: Iterable[ListedNGram], texts: Sequence[str]
) -> Iterator[NDArray[np.bool_]]:
    """Yield for each n-gram which of the texts contain it."""
    corpus = Corpus(list(texts))
    as_words: dict[tuple[TextSteps, str], list[str]] = {}
    for one in ngrams:
        prepared, wanted = corpus.form(one.steps), one.text
        if one.of_words:
            key, split = (one.steps, one.unit), SPLITTERS[one.unit]
            if key not in as_words:
                as_words[key] = [f" {' '.join(split(text))} " for text in prepared]
            prepared, wanted = as_words[key], f" {one.text} "
        yield np.array([wanted in text for text in prepared], bool)


def _has_half_of(short: str, long: str) -> bool:
    """Return True if half of a text, in a row, is in another; blanks at its ends do not count."""
    kept = short.strip() or short
    half = (len(kept) + 1) // 2
    return any(kept[start : start + half] in long for start in range(len(kept) - half + 1))


def _leave_apart(ordered: Iterable[ListedNGram]) -> Iterator[ListedNGram]:
    """Yield n-grams that overlap with no earlier one that was kept."""
    kept: list[ListedNGram] = []
    for one in ordered:
        if not any(map(one.overlaps, kept)):
            kept.append(one)
            yield one


def _longest_nodes(table: NGramTable) -> NDArray[np.int64]:
    """Return for each feature the node of the longest n-gram that has it."""
    nodes = np.full(table.n_features, -1, np.int64)
    ordered = np.flatnonzero(table.features >= 0)
    nodes[table.features[ordered]] = (
        ordered  # longer ones come after the n-grams that they begin with
    )
    return nodes


def _descending(part: NGramPart, nodes: NDArray[np.int64], values: Floats) -> Iterator[ListedNGram]:
    """Yield n-grams of positive value, largest first; only those asked for get a name."""
    for feature in np.argsort(-values, kind="stable"):
        if values[feature] <= 0:
            return
        yield ListedNGram(
            part.name(int(nodes[feature])),
            float(values[feature]),
            "character" if part.vocabulary is None else part.vocabulary.unit,
            part.steps,
        )


def make_ngram_model(
    feature_maker: NGramFeatureMaker,
    training_set: TrainingSet,
    fitted: Coefficients,
    *,
    encoder: Encoder | None = None,
    centre: Floats | None = None,
) -> NGramModel:
    """Return the coefficients of a fit by n-gram, without n-grams of weight 0.

    Vectors by an ``encoder``, whose mean in the target is ``centre``, get coefficients too. The
    n-gram lists of the documents are freed, unless their corpus keeps them.
    """
    documents, runtime = feature_maker.documents, feature_maker.runtime
    kernels = feature_maker.kernel_list.kernels
    described = feature_maker.features_for(training_set).parts
    scales = [part.scale for part in described[: len(kernels)]]
    del described
    vectors = None
    if feature_maker.vectors is not None:
        assert encoder is not None
        assert centre is not None, "vectors have one"
        share = feature_maker.vector_weight / (1 + feature_maker.vector_weight)
        columns = fitted.coefficients[:, is_mirrored(fitted.coefficients) :]
        worth = share * feature_maker.vectors.gather(columns, runtime.run)
        vectors = VectorPart(encoder, centre, worth, share)
    parts = []
    for kernel, scale in zip(kernels, scales, strict=True):
        chosen, weights, coefficients = _choose(
            kernel, documents, scale, training_set, fitted, runtime
        )
        release_freed_memory()  # lists that were freed take more memory than all that follows
        table = build_table(documents.encode(kernel), *chosen, kernel.ngram_range)
        vocabulary = None
        if kernel.unit in SPLITTERS:
            words = documents.words(kernel.steps, kernel.unit)
            known = [words[point] for point in table.alphabet.tolist()]
            vocabulary = Vocabulary.from_words(known, table.alphabet, kernel.unit)
        parts.append(NGramPart(kernel.steps, table, weights, coefficients, vocabulary))
    return NGramModel(parts, fitted.intercepts, runtime.n_jobs, vectors)


def _choose(
    kernel: KernelSpec,
    documents: Corpus,
    scale: Floats,
    training_set: TrainingSet,
    fitted: Coefficients,
    runtime: Runtime,
) -> tuple[tuple[NDArray[Any], NDArray[Any], NDArray[Any]], Floats, Floats]:
    """Return places, lengths and counts of the features with weight; weights; coefficients.

    ``scale`` normalises the documents.
    """
    lists = documents.take_lists(kernel, runtime)
    mirrored = is_mirrored(fitted.coefficients)
    weights, _ = weigh_lists(lists, weigh_by(kernel, training_set), len(training_set), runtime.run)
    kept = np.flatnonzero(weights)
    of_documents = scale[:, None] * fitted.coefficients[:, mirrored:]
    coefficients = lists.gather(of_documents, kept, run=runtime.run)
    longest, times = lists.longest[kept].astype(np.int64), lists.times[kept].astype(np.int64)
    return (lists.places[kept], longest, times), weights[kept], coefficients


def at_origins(shares: Floats, aligned: Aligned, length: int) -> Floats:
    """Move shares from characters of the prepared text to those of the original.

    A share is divided evenly if its character comes from several.
    """
    result = np.zeros((length, shares.shape[1]))
    if isinstance(aligned.starts, range):
        result[aligned.starts.start : aligned.starts.stop] = shares
        return result
    if not len(shares):
        return result
    origins: NDArray[Any] = np.array([aligned.starts, aligned.stops]).T
    edges = np.flatnonzero(
        np.any(np.diff(origins, axis=0, prepend=-1) != 0, axis=1)
    )  # several can come from one
    starts, stops = origins[edges].T
    widths = stops - starts
    values = np.add.reduceat(shares, edges, axis=0) / widths[:, None]
    places = np.arange(widths.sum()) + np.repeat(starts - np.cumsum(widths) + widths, widths)
    np.add.at(result, places, np.repeat(values, widths, axis=0))
    return result
