"""The data set of the paper: ``.review`` files, which look like XML but are not."""

import codecs
import json
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from gramshift.errors import InputError

TAG = re.compile(rb"^<(/?)([A-Za-z_]+)>[ \t\r]*$", re.MULTILINE)  # alone on its line
XML = re.compile(rb"^<\?xml[^>\n]*\?>[ \t\r]*$", re.MULTILINE)
CUT_OFF = "a field that is cut off, or text outside of a field"


class ReviewFileError(InputError):
    """A malformed file of reviews; the message names the file and the line."""


@dataclass(frozen=True)
class Review:
    """All fields of one review: each tag with its values in order, which may be empty."""

    fields: dict[str, list[str]]

    def value(self, tag: str) -> str:
        """Return the first value that is not empty, else ''."""
        return next((value for value in self.fields.get(tag, []) if value), "")

    @property
    def text(self) -> str:
        """The text of the review."""
        return self.value("review_text")

    @property
    def title(self) -> str:
        """The title of the review."""
        return self.value("title")


@dataclass(frozen=True)
class ReviewFile:
    """The reviews of one file, and notes on its oddities."""

    reviews: list[Review]
    notes: list[str]


def read_review_file(path: Path) -> ReviewFile:
    """Read every field of every review; anything unreadable is an error that names its line.

    A field ends at the next line that has its name.
    """
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    reviews: list[Review] = []
    review: re.Match[bytes] | None = None
    field: re.Match[bytes] | None = None
    values: dict[str, list[bytes]] = {}
    end = n_repaired = 0

    def fail(place: int, words: str) -> NoReturn:
        line = content.count(b"\n", 0, place) + 1
        raise ReviewFileError(f"{path}, line {line}: {words}")

    def check_blank(stop: int) -> None:
        """Raise an error for text between fields or reviews, where a header of XML may be."""
        between = content[end:stop]
        rest = (between if review else XML.sub(b"", between)).strip()
        if rest:
            outside = f"text outside of a review: {rest[:40]!r}"
            fail(content.index(rest[:40], end), CUT_OFF if review else outside)

    for tag in TAG.finditer(content):
        is_end, name = bool(tag[1]), tag[2].decode()
        if field is not None:
            if name == "review":
                if is_end:
                    fail(field.start(), CUT_OFF)
                last = f"<{field[2].decode()}> of the last one"
                fail(tag.start(), f"a review begins before {last} has ended")
            if not is_end or tag[2] != field[2]:
                continue
            values.setdefault(name, []).append(content[field.end() : tag.start()].strip(b" \t\r\n"))
            field = None
        elif review is None:
            check_blank(tag.start() if name in ("review", "reviews") else tag.end())
            if name == "review":
                review, values = tag, {}
        else:
            check_blank(tag.start())
            if name == "review" and is_end:
                if "review_text" not in values:
                    fail(review.start(), "a review without <review_text>")
                fields, is_repaired = _decode(values)
                reviews.append(Review(fields))
                n_repaired += is_repaired
                review = None
            elif name == "review" or is_end:
                fail(tag.start(), CUT_OFF)
            else:
                field = tag
        end = tag.end()
    if review is not None:
        fail(review.start(), "a review that does not end with </review>")
    check_blank(len(content))
    notes = []
    if n_repaired:
        odd = f"{n_repaired} reviews are not UTF-8 and were read as Windows-1252"
        notes.append(f"{path}: {odd}")
    return ReviewFile(reviews, notes)


WINDOWS_1252 = "".join(
    bytes([byte]).decode("windows-1252", "ignore") or chr(byte) for byte in range(256)
)


def _decode(values: dict[str, list[bytes]]) -> tuple[dict[str, list[str]], bool]:
    """Decode the fields of a review; return True if they are not UTF-8 but Windows-1252.

    The five bytes that Windows-1252 does not define become control characters.
    """
    try:
        return {tag: [one.decode() for one in several] for tag, several in values.items()}, False
    except UnicodeDecodeError:
        decoded = {
            tag: [codecs.charmap_decode(one, "strict", WINDOWS_1252)[0] for one in several]
            for tag, several in values.items()
        }
        return decoded, True


DOMAINS = {"B": "books", "D": "dvd", "E": "electronics", "K": "kitchen_&_housewares"}
FILES = ("positive.review", "negative.review")
FOLDER = "sorted_data_acl"
N_REVIEWS = 1000
FIELDS = ("text", "title+text")
DIFFERS = "differs from the file that the documented figures come from"
DIGESTS = {
    "books": (
        "73b7b6c57a66352d48f6aa397d9f2724fff551ba0d01472c3ba61ddff1acff96",
        "3baa614d0edefa52888d510fa397dcd0be34a6c6dd6075389c43762cb5801bda",
    ),
    "dvd": (
        "d4b0970eab2356ba1547e49869e7261d295d530dd8c93f85016d88fe7e63f2b6",
        "c660754dab453c945305c0e7fc6a88be80e16cbb96db9b0f5019cd7b67a26bb7",
    ),
    "electronics": (
        "f2882a32cd50da776752f38d2a6c5174b81bf2a5d590efeb4c0e903c30ff1593",
        "975ff5ee02240e32548e0e6cc560af94c4696c56ac2424957d8949e84ebd9515",
    ),
    "kitchen_&_housewares": (
        "b117cffd70c2aaacb8a6285d5f6e9eaa659ac65ac82b7cd005a69e071f22759f",
        "4323d8e7dbf2e439bafe794d37d635bdfe6720bdcc4093c4a4147d2042e8e7ba",
    ),
}
"""The digests of the positive and the negative reviews behind the documented figures."""


@dataclass(frozen=True)
class ReviewDomain:
    """The 2000 reviews of a domain, the positive ones first, with 1 as their code."""

    reviews: list[Review]
    codes: list[int]

    def texts(self, fields: str) -> list[str]:
        """Return the texts of the reviews, or the title, a blank and the text of each."""
        if fields not in FIELDS:
            raise InputError(f"fields={fields!r}: must be one of {', '.join(map(repr, FIELDS))}")
        if fields == "text":
            return [one.text for one in self.reviews]
        return [f"{one.title} {one.text}" for one in self.reviews]


@dataclass(frozen=True)
class Sentiment:
    """The domains of the data set by letter, and notes on their files."""

    domains: dict[str, ReviewDomain]
    notes: list[str]


def find_folder(data: Path) -> Path:
    """Return the folder with the four domains: the given one, or sorted_data_acl within it."""
    if data.exists() and not data.is_dir():
        raise NotADirectoryError(f"{data} is a file; give the folder that holds books, dvd, ...")
    if not data.is_dir():
        advice = f"get the data with 'gramshift fetch sentiment --output {data}'"
        raise FileNotFoundError(f"{data}: no such folder; {advice}")
    for folder in (data, data / FOLDER):
        if any((folder / name).is_dir() for name in DOMAINS.values()):
            return folder
    names = ", ".join(DOMAINS.values())
    advice = "get them with 'gramshift fetch sentiment'"
    raise FileNotFoundError(f"{data} holds none of the folders {names}; {advice}")


def load_sentiment(data: Path, *, letters: str = "BDEK", n_reviews: int = N_REVIEWS) -> Sentiment:
    """Read all reviews of these domains, and check their number.

    Notes name the files that differ from those that the documented figures come from.
    """
    folder = find_folder(data)
    missing = [
        str(folder / DOMAINS[letter] / name)
        for letter in letters
        for name in FILES
        if not (folder / DOMAINS[letter] / name).is_file()
    ]
    if missing:
        others = f", nor {len(missing) - 1} others" if len(missing) > 1 else ""
        raise FileNotFoundError(f"{missing[0]}: no such file{others}; the data set has it")
    domains, notes = {}, []
    for letter in letters:
        reviews: list[Review] = []
        for name in FILES:
            path = folder / DOMAINS[letter] / name
            read = read_review_file(path)
            if len(read.reviews) != n_reviews:
                found = f"{path} has {len(read.reviews)} reviews"
                raise ReviewFileError(f"{found}; it should have {n_reviews}")
            if digest(read.reviews) != DIGESTS[DOMAINS[letter]][FILES.index(name)]:
                notes.append(f"{path} {DIFFERS}")
            notes += read.notes
            reviews += read.reviews
        domains[letter] = ReviewDomain(reviews, [1] * n_reviews + [0] * n_reviews)
    return Sentiment(domains, notes)


def digest(reviews: list[Review]) -> str:
    """Return a digest of all fields of all reviews, in order."""
    content = json.dumps([review.fields for review in reviews], ensure_ascii=True, sort_keys=True)
    return sha256(content.encode()).hexdigest()
