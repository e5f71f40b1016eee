"""Documents that come part after part, as often as they are asked for: a list, or what does not fit into memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

from gramshift.text.documents import as_documents, dask_parts, is_dask

USUAL_LENGTH = 900  # characters
DIGEST = 16  # bytes by which a document is known again


@runtime_checkable
class InParts(Protocol):
    """Anything that tells how many documents it has, and gives them in lists, from the first on each time."""

    def __len__(self) -> int: ...

    def parts(self) -> Iterator[list[str]]: ...


@dataclass(frozen=True)
class Listed:
    """Documents in memory."""

    texts: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_characters(self) -> int:
        return sum(map(len, self.texts))

    def parts(self) -> Iterator[list[str]]:
        yield self.texts


@dataclass(frozen=True)
class Joined:
    """Several, one after another."""

    all: Sequence[InParts]

    def __len__(self) -> int:
        return sum(map(len, self.all))

    def parts(self) -> Iterator[list[str]]:
        for number, one in enumerate(self.all):
            found = 0
            for part in one.parts():
                found += len(part)
                yield part
            if found != len(one):
                raise ValueError(f"input {number + 1} had {len(one)} documents at first and {found} now; it must not change")


class Partitions:
    """A dask bag or column of texts, which is looked through once to know its size."""

    def __init__(self, documents: Any, name: str) -> None:
        self._documents, self._name = documents, name
        self._n, self.n_characters = 0, 0
        for part in self.parts():
            self._n += len(part)
            self.n_characters += sum(map(len, part))

    def __len__(self) -> int:
        return self._n

    def parts(self) -> Iterator[list[str]]:
        return dask_parts(self._documents, name=self._name)


def as_parts(documents: Any, *, name: str = "documents") -> InParts:
    """As they are if they come in parts, else a list of str."""
    if is_dask(documents):
        return Partitions(documents, name)
    return documents if isinstance(documents, InParts) else Listed(as_documents(documents, name=name))


def count_characters(documents: InParts) -> int:
    """Of all of them; where only their number is known, as many as reviews have."""
    if isinstance(documents, Joined):
        return sum(map(count_characters, documents.all))
    return int(getattr(documents, "n_characters", USUAL_LENGTH * len(documents)))


def in_lists(parts: Iterable[list[str]], size: int) -> Iterator[list[str]]:
    """The same documents in lists of ``size``, the last one shorter."""
    waiting: list[str] = []
    for part in parts:
        start = 0
        while start < len(part):
            more = part[start : start + size - len(waiting)]
            start += len(more)
            waiting = waiting + more if waiting else more
            if len(waiting) == size:
                yield waiting
                waiting = []
    if waiting:
        yield waiting


def digest_of(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()
