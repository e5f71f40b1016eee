"""The labelled part of the Multi-Domain Sentiment Dataset, from a folder that the user names."""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from gramshift.data.reviews import Review, ReviewFileError, read_review_file

DOMAINS = {"B": "books", "D": "dvd", "E": "electronics", "K": "kitchen_&_housewares"}
FILES = ("positive.review", "negative.review")
FOLDER = "sorted_data_acl"
N_REVIEWS = 1000
FIELDS = ("text", "title+text")
DIGESTS = {  # of the files that the documented figures come from
    "books/positive.review": "73b7b6c57a66352d48f6aa397d9f2724fff551ba0d01472c3ba61ddff1acff96",
    "books/negative.review": "3baa614d0edefa52888d510fa397dcd0be34a6c6dd6075389c43762cb5801bda",
    "dvd/positive.review": "d4b0970eab2356ba1547e49869e7261d295d530dd8c93f85016d88fe7e63f2b6",
    "dvd/negative.review": "c660754dab453c945305c0e7fc6a88be80e16cbb96db9b0f5019cd7b67a26bb7",
    "electronics/positive.review": "f2882a32cd50da776752f38d2a6c5174b81bf2a5d590efeb4c0e903c30ff1593",
    "electronics/negative.review": "975ff5ee02240e32548e0e6cc560af94c4696c56ac2424957d8949e84ebd9515",
    "kitchen_&_housewares/positive.review": "b117cffd70c2aaacb8a6285d5f6e9eaa659ac65ac82b7cd005a69e071f22759f",
    "kitchen_&_housewares/negative.review": "4323d8e7dbf2e439bafe794d37d635bdfe6720bdcc4093c4a4147d2042e8e7ba",
}


@dataclass(frozen=True)
class Domain:
    """2000 reviews, positive ones first; code 1 is positive."""

    letter: str
    reviews: list[Review]
    codes: list[int]

    def texts(self, fields: str) -> list[str]:
        """The texts as they are compared: the review alone, or its title, a blank and the review."""
        if fields not in FIELDS:
            raise ValueError(f"fields={fields!r}: must be one of {', '.join(map(repr, FIELDS))}")
        return [f"{one.title} {one.text}" if fields == "title+text" else one.text for one in self.reviews]


@dataclass(frozen=True)
class Sentiment:
    domains: dict[str, Domain]
    notes: list[str]


def find_folder(data: Path) -> Path:
    """The folder that holds the four domains: the one named, or sorted_data_acl within it."""
    if data.exists() and not data.is_dir():
        raise NotADirectoryError(f"{data} is a file; give the folder that holds books, dvd, ...")
    if not data.is_dir():
        raise FileNotFoundError(f"{data}: no such folder; get the data with 'gramshift fetch sentiment --output {data}'")
    for folder in (data, data / FOLDER):
        if any((folder / name).is_dir() for name in DOMAINS.values()):
            return folder
    names = ", ".join(DOMAINS.values())
    raise FileNotFoundError(f"{data} holds none of the folders {names}; get them with 'gramshift fetch sentiment'")


def load_sentiment(data: Path, *, letters: str = "BDEK") -> Sentiment:
    """All reviews of these domains, checked: 1000 in each file, and the same as in the files that our figures come from."""
    folder = find_folder(data)
    missing = [
        str(folder / DOMAINS[letter] / name)
        for letter in letters
        for name in FILES
        if not (folder / DOMAINS[letter] / name).is_file()
    ]
    if missing:
        raise FileNotFoundError(
            f"{missing[0]}: no such file{f', nor {len(missing) - 1} others' if missing[1:] else ''}; the data set has it"
        )
    domains, notes = {}, []
    for letter in letters:
        reviews: list[Review] = []
        for name in FILES:
            read = read_review_file(folder / DOMAINS[letter] / name)
            if len(read.reviews) != N_REVIEWS:
                raise ReviewFileError(f"{read.path} has {len(read.reviews)} reviews; it should have {N_REVIEWS}")
            key = f"{DOMAINS[letter]}/{name}"
            if digest(read.reviews) != DIGESTS.get(key):
                notes.append(f"{read.path} differs from the file that the documented figures come from")
            notes += read.notes
            reviews += read.reviews
        domains[letter] = Domain(letter, reviews, [1] * N_REVIEWS + [0] * N_REVIEWS)
    return Sentiment(domains, notes)


def digest(reviews: list[Review]) -> str:
    """Of all fields of all reviews, in order; what stands outside of reviews does not matter."""
    content = json.dumps([review.fields for review in reviews], ensure_ascii=True, sort_keys=True)
    return sha256(content.encode()).hexdigest()
