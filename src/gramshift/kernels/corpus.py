"""Texts with all that is found in them once: prepared forms, digests, n-gram lists, vectors."""

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramshift.errors import InputError
from gramshift.kernels.encoding import Encoder, encode_texts, is_same
from gramshift.kernels.gram import clip_range
from gramshift.memory import release_freed_memory
from gramshift.ngrams.feature_lists import FeatureLists, build_lists
from gramshift.ngrams.sorted_ngrams import SortedNGrams
from gramshift.runtime import Runtime
from gramshift.text.documents import digest_of
from gramshift.text.encode import Encoded, encode
from gramshift.text.steps import TextSteps
from gramshift.text.words import SPLITTERS, number_words

if TYPE_CHECKING:
    from gramshift.kernels.string_kernel import KernelSpec

UNITS = ("character", *SPLITTERS)


class Corpus:
    """Texts with their prepared forms and the n-gram lists found in them, each made once.

    Give a corpus to several fits, so that they find n-grams once, and encode each text once if they
    have an encoder. With ``keep=False``, n-gram lists and vectors are freed after their last use in
    a fit. Do not change the lists that its methods return.
    """

    def __init__(self, texts: list[str], *, keep: bool = True) -> None:
        self.texts = texts
        self._keep = keep
        self._forms: dict[tuple[TextSteps, str], list[str]] = {}
        self._words: dict[tuple[TextSteps, str], list[str]] = {}
        self._lists: dict[Any, FeatureLists] = {}
        self._part: tuple[bytes, Corpus] | None = None
        self._encoded: tuple[Encoder, NDArray[Any]] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_characters(self) -> int:
        """The number of characters in all texts."""
        return sum(map(len, self.texts))

    @cached_property
    def digests(self) -> list[bytes]:
        """The digest of each text as it was given."""
        return [digest_of(text) for text in self.texts]

    def form(self, steps: TextSteps, unit: str = "character") -> list[str]:
        """Return the texts after the text steps, as characters or with a character per word.

        Words are numbered in the order of the texts, so words of two corpora cannot be compared.
        """
        if unit not in UNITS:
            raise InputError(f"unit={unit!r}: must be one of {', '.join(map(repr, UNITS))}")
        if (steps, unit) not in self._forms:
            if unit == "character":
                self._forms[steps, unit] = steps.apply(self.texts)
            else:
                written, words = number_words(self.form(steps), unit)
                self._forms[steps, unit], self._words[steps, unit] = written, words
        return self._forms[steps, unit]

    def words(self, steps: TextSteps, unit: str = "word") -> list[str]:
        """Return the word of each code point in the form by words."""
        self.form(steps, unit)
        return self._words[steps, unit]

    def encode(self, kernel: "KernelSpec") -> Encoded:
        """Return the texts as the kernel takes n-grams from them."""
        return encode(self.form(kernel.steps, kernel.unit))

    def lists(self, kernel: "KernelSpec", runtime: Runtime) -> FeatureLists:
        """Return the lists of documents that share n-grams."""
        key = self._key(kernel)
        if key not in self._lists:
            encoded = self.encode(kernel)
            ngrams = SortedNGrams(encoded, clip_range(encoded, kernel.kind, kernel.ngram_range))
            self._lists[key] = build_lists(ngrams, run=partial(runtime.run, stage="index"))
            release_freed_memory()
        return self._lists[key]

    def take_lists(self, kernel: "KernelSpec", runtime: Runtime) -> FeatureLists:
        """Return the lists for their last use in a fit."""
        lists = self.lists(kernel, runtime)
        if not self._keep:
            del self._lists[self._key(kernel)]
        return lists

    def vectors(self, encoder: Encoder, runtime: Runtime) -> NDArray[Any]:
        """Return the vector of each text by an encoder; those of the last encoder are kept."""
        if self._encoded is None or not is_same(self._encoded[0], encoder):
            encoded = encoder, encode_texts(encoder, self.texts, runtime)
            if not self._keep:
                return encoded[1]
            self._encoded = encoded
        return self._encoded[1]

    def only(self, rows: NDArray[np.intp]) -> "Corpus":
        """Return some of the texts; the last choice is kept for other fits on the same texts."""
        key = rows.tobytes()
        if self._part is None or self._part[0] != key:
            texts = [self.texts[row] for row in rows.tolist()]
            self._part = key, Corpus(texts, keep=self._keep)
        return self._part[1]

    @staticmethod
    def _key(kernel: "KernelSpec") -> Any:
        return kernel.steps, kernel.unit, kernel.ngram_range
