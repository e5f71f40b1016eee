"""The texts that benchmarks run on: the 8000 reviews, or a few hundred made from the demo corpus."""

import os
import random
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOMAINS = ("books", "dvd", "electronics", "kitchen_&_housewares")
SMOKE_DOCS = 300
NGRAM_RANGE = (5, 8)

Texts = list[str]


class CorpusError(Exception):
    """The texts asked for are not there."""


def load_corpus(data: str | None, *, docs: int | None = None, smoke: bool = False) -> Texts:
    """All texts, raw, or an evenly spread sample of them."""
    texts = make_texts() if smoke else read_reviews(find_data(data))
    if docs is not None and docs > len(texts):
        raise CorpusError(f"--docs {docs}: there are {len(texts)} documents; ask for at most that many")
    return texts if docs is None else spread(texts, docs)


def spread(texts: Texts, k: int) -> Texts:
    """k texts, evenly spread; the same as ``texts[:: n // k][:k]`` where k divides n."""
    return [texts[i * len(texts) // k] for i in range(k)]


def find_data(data: str | None) -> Path:
    """The folder sorted_data_acl: of the option, else of the environment, else beside the repository."""
    folder = Path(data or os.environ.get("GRAMSHIFT_DATA") or ROOT.parent / "shared" / "data") / "sorted_data_acl"
    if not folder.is_dir():
        raise CorpusError(f"{folder} is not there; name the folder that holds sorted_data_acl with --data DIR, or use --smoke")
    return folder


def read_reviews(folder: Path) -> Texts:
    """The text of every review, domain by domain, positive ones first."""
    texts: Texts = []
    for domain in DOMAINS:
        for name in ("positive.review", "negative.review"):
            try:
                content = (folder / domain / name).read_bytes()
            except OSError as error:
                raise CorpusError(f"{error}; name a complete folder with --data DIR") from None
            texts += map(decode, re.findall(rb"<review_text>(.*?)</review_text>", content, re.DOTALL))
    return texts


def decode(text: bytes) -> str:
    """UTF-8, else Windows-1252, review by review: the files mix them."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("windows-1252", errors="replace")


def make_texts(n_texts: int = SMOKE_DOCS, seed: int = 5) -> Texts:
    """Sentences of the demo corpus put together anew, with untidy white space; some texts are empty."""
    from gramshift.data.demo import DOMAINS, load_demo

    reviews = [text for domain in DOMAINS for text in load_demo(domain).texts]
    sentences = [sentence for text in reviews for sentence in re.split(r"(?<=[.!?])\s+", text)]
    chance = random.Random(seed)
    texts = []
    for _ in range(n_texts):
        chosen = chance.choices(sentences, k=chance.randint(0, 14))
        texts.append("".join(sentence + chance.choice((" ", "  ", "\n", " \t ")) for sentence in chosen))
    return texts


def normalise(texts: Texts) -> Texts:
    """What gramshift does to texts by default, written down once more: strip, lower-case, one blank per white space."""
    return [re.sub(r"\s+", " ", text.strip().lower()) for text in texts]


def count_ngrams(texts: Texts, ngram_range: tuple[int, int] = NGRAM_RANGE) -> int:
    """How many n-grams normalised texts have, repeated ones counted again."""
    lo, hi = ngram_range
    return sum(max(0, len(text) - n + 1) for text in texts for n in range(lo, hi + 1))
