"""The data set of the paper: ``.review`` files, which look like XML and are not, and the layout of its folders."""

import codecs
import gzip
import json
import os
import re
import tarfile
import urllib.request
import zlib
from dataclasses import dataclass
from hashlib import file_digest, sha256
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NoReturn
from urllib.error import HTTPError

from gramshift.errors import InputError
from gramshift.runtime.replacing import UNDER_WAY
from gramshift.runtime.threads import Progress

_TAG = re.compile(rb"^<(/?)([A-Za-z_]+)>[ \t\r]*$", re.MULTILINE)  # alone on its line
_XML = re.compile(rb"^<\?xml[^>\n]*\?>[ \t\r]*$", re.MULTILINE)


CUT_OFF = "a field that is cut off, or text outside of a field"


class ReviewFileError(InputError):
    """A file that is not what it should be; the message names the file and the line."""


@dataclass(frozen=True)
class Review:
    """All fields of one review, each tag with its values in order; a tag may stand twice, a value may be empty."""

    fields: dict[str, list[str]]

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

    reviews: list[Review]
    notes: list[str]


def read_review_file(path: Path) -> ReviewFile:
    """Read every field of every review; nothing is dropped: what cannot be read is an error with the place.

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
        rest = (between if review else _XML.sub(b"", between)).strip()
        if rest:
            outside = f"text outside of a review: {rest[:40]!r}"
            fail(content.index(rest[:40], end), CUT_OFF if review else outside)

    for tag in _TAG.finditer(content):
        is_end, name = bool(tag[1]), tag[2].decode()
        if field is not None:
            if name == "review":
                early = f"a review begins before <{field[2].decode()}> of the last one has ended"
                fail(field.start() if is_end else tag.start(), CUT_OFF if is_end else early)
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
    notes = [f"{path}: {n_repaired} reviews are not UTF-8 and were read as Windows-1252"] if n_repaired else []
    return ReviewFile(reviews, notes)


_WINDOWS = "".join(bytes([byte]).decode("windows-1252", "ignore") or chr(byte) for byte in range(256))


def _decode(values: dict[str, list[bytes]]) -> tuple[dict[str, list[str]], bool]:
    """Decode the fields of a review; return True if they are not UTF-8 but Windows-1252.

    Windows-1252 leaves five bytes undefined: they become the control characters of the same number.
    """
    try:
        return {tag: [one.decode() for one in several] for tag, several in values.items()}, False
    except UnicodeDecodeError:
        decode = codecs.charmap_decode
        return {tag: [decode(one, "strict", _WINDOWS)[0] for one in several] for tag, several in values.items()}, True


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
            path = folder / DOMAINS[letter] / name
            read = read_review_file(path)
            if len(read.reviews) != n_reviews:
                raise ReviewFileError(f"{path} has {len(read.reviews)} reviews; it should have {n_reviews}")
            if digest(read.reviews) != DIGESTS[f"{DOMAINS[letter]}/{name}"]:
                notes.append(f"{path} differs from the file that the documented figures come from")
            notes += read.notes
            reviews += read.reviews
        domains[letter] = Domain(reviews, [1] * n_reviews + [0] * n_reviews)
    return Sentiment(domains, notes)


def digest(reviews: list[Review]) -> str:
    """Return a digest of all fields of all reviews, in order; what stands outside of reviews does not matter."""
    content = json.dumps([review.fields for review in reviews], ensure_ascii=True, sort_keys=True)
    return sha256(content.encode()).hexdigest()


URL = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/domain_sentiment_data.tar.gz"
HOME = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/"
PINNED = "5ce52d31945c624ac65e2d9185f00cf409656129e53acc306d243887ba26fda3"
"""The sha256 of what sha256sum prints of the eight files, in the order of their names; of the files, not of the archive."""
LARGEST_ARCHIVE = 3 * 10**8  # bytes; its home page says 30 MB
TIMEOUT_SECONDS = 20
PIECE_BYTES = 1 << 16
ADVICE = f"without a network, get the archive elsewhere from {HOME}, unpack it and give its folder to gramshift reproduce"
WANTED = sorted(str(PurePosixPath(domain, name)) for domain in DOMAINS.values() for name in FILES)


class FetchError(OSError):
    """The data could not be had."""


def fetch_sentiment(
    output: Path, *, url: str = URL, pinned: bool = False, progress: Progress | None = None, largest: int = LARGEST_ARCHIVE
) -> dict[str, Any]:
    """Download the archive into ``output``, unpack the labelled reviews there and check them.

    With ``pinned`` reviews other than those that the documented figures come from are refused; without, they are named in
    ``warnings``.
    """
    folder = output / FOLDER
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file; give a folder for the data")
    if os.path.lexists(folder):
        raise FileExistsError(f"{folder} exists; choose another folder, or remove it first")
    output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".fetching-", dir=output) as name:
        temporary = Path(name)
        UNDER_WAY.add(temporary)
        try:
            archive = temporary / "domain_sentiment_data.tar.gz"
            download(url, archive, largest=largest, progress=progress)
            unpack(archive, temporary)
            try:
                sentiment = load_sentiment(temporary)
            except ReviewFileError as error:
                raise FetchError(f"{url} is not the data set: {str(error).replace(str(temporary), '')}") from None
            found = digest_files(temporary / FOLDER)
            differing = [note.replace(str(temporary), str(output)) for note in sentiment.notes if "differs" in note]
            if differing and pinned:
                raise FetchError(_describe_others(url, differing, found))
            os.replace(temporary / FOLDER, folder)
        finally:
            UNDER_WAY.discard(temporary)
    if found != PINNED and not differing:
        differing = [f"{folder} has the reviews that we know, and other bytes around them (sha256 {found}, not {PINNED})"]
    n_files = len(WANTED)
    return {"folder": str(folder), "files": n_files, "reviews": 1000 * n_files, "sha256": found, "warnings": differing}


def digest_files(folder: Path) -> str:
    """Return the digest of the eight files, as ``sha256sum */*.review | LC_ALL=C sort -k 2 | sha256sum`` has it there."""
    lines = []
    for name in WANTED:
        with (folder / name).open("rb") as file:
            lines.append(f"{file_digest(file, 'sha256').hexdigest()}  {name}\n")
    return sha256("".join(lines).encode()).hexdigest()


def _describe_others(url: str, differing: list[str], found: str) -> str:
    return (
        f"{url} has other reviews than this version of Gramshift knows, in {len(differing)} of {len(WANTED)} files "
        f"(sha256 {found}, not {PINNED}); nothing was kept. Somebody may have changed them on the way: fetch again from "
        f"another network. To take them as they are, give the address yourself: --url {url}"
    )


def download(url: str, path: Path, *, largest: int, progress: Progress | None = None) -> None:
    """Download a file of at most ``largest`` bytes."""
    if not url.startswith(("http://", "https://")):
        raise InputError(f"{url!r} is not an address; give one that begins with http:// or https://")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer, path.open("wb") as file:
            total = answer.length or 0
            n_read = 0
            while piece := answer.read1(PIECE_BYTES):
                n_read += len(piece)
                if max(n_read, total) > largest:
                    raise FetchError(f"{url} has more than the {largest} bytes that this data set may have")
                file.write(piece)
                if progress is not None:
                    progress("download", n_read, max(total, n_read))
            if n_read < total:
                raise FetchError(f"{url} broke off after {n_read} of {total} bytes; fetch again")
    except FetchError:
        raise
    except HTTPError as error:
        raise FetchError(f"{url}: the server says {error.code} {str(error.reason)[:200]}; {ADVICE}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = str(getattr(error, "reason", error))[:200] or type(error).__name__
        raise FetchError(f"{url} could not be fetched ({reason}); {ADVICE}") from None


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the eight files of labelled reviews, and nothing else."""
    wanted = {str(PurePosixPath(FOLDER, name)) for name in WANTED}
    try:
        with gzip.open(archive) as content, tarfile.open(fileobj=content) as tar:
            members = [member for member in tar if os.path.normpath(member.name) in wanted]
            tar.extractall(folder, members, filter="data")  # raises an error for names and links that lead out of the folder
            while content.read(PIECE_BYTES):  # to the end, where the checksum is
                pass
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FetchError(f"{archive.name} is not a whole .tar.gz of the data set ({error}); it was removed") from None
    n_found = sum((folder / name).is_file() for name in wanted)
    if n_found < len(wanted):
        raise FetchError(f"{archive.name} holds {n_found} of the {len(wanted)} files of labelled reviews; it was removed")
