"""Reading ``.review`` files: they look like XML and are not, and mix encodings."""

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

_REVIEW = re.compile(rb"^<review>[ \t\r]*\n(.*?)^</review>[ \t\r]*$", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(rb"^<([A-Za-z_]+)>[ \t\r]*\n(.*?)^</\1>[ \t\r]*$", re.DOTALL | re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_OPENING = re.compile(rb"^<review>[ \t\r]*$", re.MULTILINE)
_WRAPPER = re.compile(rb"^(<\?xml[^>]*\?>|</?reviews>)[ \t\r]*$", re.MULTILINE)


class ReviewFileError(ValueError):
    """A file that is not what it should be; the message names the file and the line."""


@dataclass(frozen=True)
class Review:
    """All fields of one review, each tag with its values in order; a tag may stand twice, a value may be empty."""

    fields: dict[str, list[str]]
    encoding: str
    line: int

    def value(self, tag: str) -> str:
        """The first value that is not empty, else ''."""
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
    """Every field of every review; nothing is dropped: what cannot be read is an error with the place."""
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    reviews, end, line = [], 0, 1
    for match in _REVIEW.finditer(content):
        _check_between(path, content, end, match.start())
        line += content.count(b"\n", end, match.start())
        reviews.append(_read_review(path, match[1], line))
        line += content.count(b"\n", match.start(), match.end())
        end = match.end()
    _check_between(path, content, end, len(content))
    return ReviewFile(path, reviews, _describe_oddities(path, reviews))


def _check_between(path: Path, content: bytes, start: int, stop: int) -> None:
    """Outside of reviews there may be blank lines and an XML wrapper, nothing else."""
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
    """``line`` is that of its <review>."""
    encoding = "utf-8"
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        encoding = "windows-1252"
    fields: dict[str, list[str]] = {}
    end = 0
    for match in _FIELD.finditer(body):
        if body[end : match.start()].strip():
            break
        inside = _OPENING.search(match[2])
        if inside:
            place = line + body.count(b"\n", 0, match.start(2) + inside.start()) + 1
            raise ReviewFileError(
                f"{path}, line {place}: a review begins before <{match[1].decode()}> of the last one has ended"
            )
        fields.setdefault(match[1].decode(), []).append(_decode(match[2], encoding).strip(" \t\r\n"))
        end = match.end()
    if body[end:].strip():
        place = line + body.count(b"\n", 0, end + len(body[end:]) - len(body[end:].lstrip())) + 1
        raise ReviewFileError(f"{path}, line {place}: a field that is cut off, or text outside of a field")
    if "review_text" not in fields:
        raise ReviewFileError(f"{path}, line {line}: a review without <review_text>")
    return Review(fields, encoding, line)


def _decode(data: bytes, encoding: str) -> str:
    """Windows-1252 leaves five bytes undefined: they become the control characters of the same number."""
    if encoding == "utf-8":
        return data.decode("utf-8")
    return "".join(bytes([byte]).decode("windows-1252", "ignore") or chr(byte) for byte in data)


def _line(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


def _describe_oddities(path: Path, reviews: list[Review]) -> list[str]:
    notes = []
    repaired = sum(review.encoding != "utf-8" for review in reviews)
    if repaired:
        notes.append(f"{path}: {repaired} reviews are not UTF-8 and were read as Windows-1252")
    for review in reviews:
        values = [(tag, value) for tag, values in review.fields.items() for value in values]
        for tag, value in values:
            controls = ", ".join(sorted({f"U+{ord(char):04X}" for char in _CONTROL.findall(value)}))
            if controls:
                notes.append(f"{path}, review at line {review.line}: control characters {controls} in <{tag}>, kept")
    return notes
