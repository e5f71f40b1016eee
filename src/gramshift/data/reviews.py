"""The data set of the paper: ``.review`` files, which look like XML and are not, and the layout of its folders."""

import codecs
import json
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from gramshift.errors import InputError

_REVIEW = re.compile(rb"^<review>[ \t\r]*\n", re.MULTILINE)  # no pattern spans lines: none is tried to the end of the file
_REVIEW_END = re.compile(rb"^</review>[ \t\r]*$", re.MULTILINE)
_FIELD = re.compile(rb"^<([A-Za-z_]+)>[ \t\r]*\n", re.MULTILINE)
_FIELD_END = re.compile(rb"^</([A-Za-z_]+)>[ \t\r]*$", re.MULTILINE)
_NOT_BLANK = re.compile(rb"\S")
_OPENING = re.compile(rb"^<review>[ \t\r]*$", re.MULTILINE)
_WRAPPER = re.compile(rb"^(<\?xml[^>\n]*\?>|</?reviews>)[ \t\r]*$", re.MULTILINE)


class ReviewFileError(InputError):
    """A file that is not what it should be; the message names the file and the line."""


@dataclass(frozen=True)
class Review:
    """All fields of one review, each tag with its values in order; a tag may stand twice, a value may be empty."""

    fields: dict[str, list[str]]
    encoding: str
    line: int

    def value(self, tag: str) -> str:
        """Return the first value that is not empty, else ''."""
        return next((value for value in self.fields.get(tag, []) if value), "")

    @property
    def text(self) -> str:
        return self.value("review_text")

    @property
    def title(self) -> str:
        return self.value("title")


@dataclass(frozen=True)
class ReviewFile:
    """The reviews of one file, and what was odd about it, in words."""

    path: Path
    reviews: list[Review]
    notes: list[str]


def read_review_file(path: Path) -> ReviewFile:
    """Read every field of every review; nothing is dropped: what cannot be read is an error with the place."""
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    reviews, end, line = [], 0, 1
    while (opening := _REVIEW.search(content, end)) and (closing := _REVIEW_END.search(content, opening.end())):
        _check_between(path, content, end, opening.start())
        line += content.count(b"\n", end, opening.start())
        reviews.append(_read_review(path, content[opening.end() : closing.start()], line))
        line += content.count(b"\n", opening.start(), closing.end())
        end = closing.end()
    _check_between(path, content, end, len(content))
    n_repaired = sum(review.encoding != "utf-8" for review in reviews)
    notes = [f"{path}: {n_repaired} reviews are not UTF-8 and were read as Windows-1252"] if n_repaired else []
    return ReviewFile(path, reviews, notes)


def _check_between(path: Path, content: bytes, start: int, stop: int) -> None:
    """Raise an error for text outside of reviews: there may be blank lines and an XML wrapper, nothing else."""
    rest = _WRAPPER.sub(lambda match: b" " * len(match[0]), content[start:stop])  # places stay as they are
    if rest.strip():
        line = _line(content, start + len(rest) - len(rest.lstrip()))
        what = (
            "a review that does not end with </review>"
            if b"<review>" in rest
            else f"text outside of a review: {rest.strip()[:40]!r}"
        )
        raise ReviewFileError(f"{path}, line {line}: {what}")


def _read_review(path: Path, body: bytes, line: int) -> Review:
    """Read one review; ``line`` is that of its <review>."""
    encoding = "utf-8"
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        encoding = "windows-1252"
    fields: dict[str, list[str]] = {}
    end = 0
    while begin := _NOT_BLANK.search(body, end):
        place = begin.start()
        opening = _FIELD.match(body, place)
        closing = None if opening is None else _find_end(body, opening)
        if opening is None or closing is None:
            where = line + body.count(b"\n", 0, place) + 1
            raise ReviewFileError(f"{path}, line {where}: a field that is cut off, or text outside of a field")
        tag, value = opening[1].decode(), body[opening.end() : closing.start()]
        inside = _OPENING.search(value)
        if inside:
            where = line + body.count(b"\n", 0, opening.end() + inside.start()) + 1
            raise ReviewFileError(f"{path}, line {where}: a review begins before <{tag}> of the last one has ended")
        fields.setdefault(tag, []).append(_decode(value, encoding).strip(" \t\r\n"))
        end = closing.end()
    if "review_text" not in fields:
        raise ReviewFileError(f"{path}, line {line}: a review without <review_text>")
    return Review(fields, encoding, line)


def _find_end(body: bytes, opening: re.Match[bytes]) -> re.Match[bytes] | None:
    """Find the line that ends a field: the next that has its name."""
    return next((one for one in _FIELD_END.finditer(body, opening.end()) if one[1] == opening[1]), None)


_WINDOWS = "".join(bytes([byte]).decode("windows-1252", "ignore") or chr(byte) for byte in range(256))


def _decode(data: bytes, encoding: str) -> str:
    """Decode a field. Windows-1252 leaves five bytes undefined: they become the control characters of the same number."""
    return data.decode("utf-8") if encoding == "utf-8" else codecs.charmap_decode(data, "strict", _WINDOWS)[0]


def _line(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


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
    """The 2000 reviews of a domain, positive ones first; code 1 is positive."""

    reviews: list[Review]
    codes: list[int]

    def texts(self, fields: str) -> list[str]:
        """The texts as they are compared: the review alone, or its title, a blank and the review."""
        if fields not in FIELDS:
            raise InputError(f"fields={fields!r}: must be one of {', '.join(map(repr, FIELDS))}")
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


def load_sentiment(data: Path, *, letters: str = "BDEK", n_reviews: int = N_REVIEWS) -> Sentiment:
    """Read all reviews of these domains and check them: so many in each file, the same that our figures come from."""
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
            if len(read.reviews) != n_reviews:
                raise ReviewFileError(f"{read.path} has {len(read.reviews)} reviews; it should have {n_reviews}")
            key = f"{DOMAINS[letter]}/{name}"
            if digest(read.reviews) != DIGESTS.get(key):
                notes.append(f"{read.path} differs from the file that the documented figures come from")
            notes += read.notes
            reviews += read.reviews
        domains[letter] = Domain(reviews, [1] * n_reviews + [0] * n_reviews)
    return Sentiment(domains, notes)


def digest(reviews: list[Review]) -> str:
    """Return a digest of all fields of all reviews, in order; what stands outside of reviews does not matter."""
    content = json.dumps([review.fields for review in reviews], ensure_ascii=True, sort_keys=True)
    return sha256(content.encode()).hexdigest()
