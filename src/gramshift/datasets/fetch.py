"""Downloading the data set of the paper, and unpacking and checking it."""

import gzip
import os
import tarfile
import urllib.request
import zlib
from hashlib import file_digest, sha256
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError

from gramshift.datasets.reviews import (
    DIFFERS,
    DOMAINS,
    FILES,
    FOLDER,
    N_REVIEWS,
    ReviewFileError,
    load_sentiment,
)
from gramshift.errors import InputError
from gramshift.files import UNFINISHED
from gramshift.parallel import Progress

URL = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/domain_sentiment_data.tar.gz"
HOME = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/"
PINNED = "5ce52d31945c624ac65e2d9185f00cf409656129e53acc306d243887ba26fda3"
"""The SHA-256 of the output of sha256sum for the eight files, in the order of their names."""
MAX_ARCHIVE_BYTES = 3 * 10**8  # its home page announces 30 MB
TIMEOUT_SECONDS = 20
PIECE_BYTES = 1 << 16
ADVICE = (
    f"without a network, get the archive elsewhere from {HOME}, unpack it "
    "and give its folder to gramshift reproduce"
)
WANTED = sorted(str(PurePosixPath(domain, name)) for domain in DOMAINS.values() for name in FILES)


class FetchError(OSError):
    """Data that could not be downloaded, or that are not the data set."""


def fetch_sentiment(
    output: Path,
    *,
    url: str = URL,
    pinned: bool = False,
    progress: Progress | None = None,
    largest: int = MAX_ARCHIVE_BYTES,
) -> dict[str, Any]:
    """Download the archive into ``output``, unpack the labelled reviews there and check them.

    Reviews that differ from those that the documented figures come from are refused if ``pinned``
    is true, and else named in ``warnings``.
    """
    folder = output / FOLDER
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file; give a folder for the data")
    if os.path.lexists(folder):
        raise FileExistsError(f"{folder} exists; choose another folder, or remove it first")
    output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".fetching-", dir=output) as name:
        temporary = Path(name)
        UNFINISHED.add(temporary)
        try:
            archive = temporary / "domain_sentiment_data.tar.gz"
            download(url, archive, largest=largest, progress=progress)
            unpack(archive, temporary)
            try:
                notes = load_sentiment(temporary).notes
            except ReviewFileError as error:
                problem = str(error).replace(str(temporary), "")
                raise FetchError(f"{url} is not the data set: {problem}") from None
            found = digest_files(temporary / FOLDER)
            differing = [
                note.replace(str(temporary), str(output)) for note in notes if DIFFERS in note
            ]
            if differing and pinned:
                raise FetchError(_describe_others(url, differing, found))
            os.replace(temporary / FOLDER, folder)
        finally:
            UNFINISHED.discard(temporary)
    if found != PINNED and not differing:
        digests = f"sha256 {found}, not {PINNED}"
        differing = [
            f"{folder} has the reviews that we know, and other bytes around them ({digests})"
        ]
    return {
        "folder": str(folder),
        "files": len(WANTED),
        "reviews": N_REVIEWS * len(WANTED),
        "sha256": found,
        "warnings": differing,
    }


def digest_files(folder: Path) -> str:
    """Return the digest of ``sha256sum */*.review | LC_ALL=C sort -k 2 | sha256sum``."""
    lines = []
    for name in WANTED:
        with (folder / name).open("rb") as file:
            lines.append(f"{file_digest(file, 'sha256').hexdigest()}  {name}\n")
    return sha256("".join(lines).encode()).hexdigest()


def _describe_others(url: str, differing: list[str], found: str) -> str:
    return (
        f"{url} has other reviews than this version of Gramshift knows, in {len(differing)} of "
        f"{len(WANTED)} files (sha256 {found}, not {PINNED}); nothing was kept. Somebody may have "
        "changed them on the way: fetch again from another network. To take them as they are, "
        f"give the address yourself: --url {url}"
    )


def download(url: str, path: Path, *, largest: int, progress: Progress | None = None) -> None:
    """Download a file of at most ``largest`` bytes."""
    if not url.startswith(("http://", "https://")):
        advice = "give one that begins with http:// or https://"
        raise InputError(f"{url!r} is not an address; {advice}")
    try:
        with (
            urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer,
            path.open("wb") as file,
        ):
            total = answer.length or 0
            n_read = 0
            while piece := answer.read1(PIECE_BYTES):
                n_read += len(piece)
                if max(n_read, total) > largest:
                    allowed = f"the {largest} bytes that this data set may have"
                    raise FetchError(f"{url} has more than {allowed}")
                file.write(piece)
                if progress is not None:
                    progress("download", n_read, max(total, n_read))
            if n_read < total:
                raise FetchError(f"{url} broke off after {n_read} of {total} bytes; fetch again")
    except FetchError:
        raise
    except HTTPError as error:
        answered = f"the server says {error.code} {str(error.reason)[:200]}"
        raise FetchError(f"{url}: {answered}; {ADVICE}") from None
    except (OSError, HTTPException, ValueError) as error:
        reason = str(getattr(error, "reason", error))[:200] or type(error).__name__
        raise FetchError(f"{url} could not be fetched ({reason}); {ADVICE}") from None


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the eight files of labelled reviews, and nothing else."""
    wanted = {str(PurePosixPath(FOLDER, name)) for name in WANTED}
    try:
        with gzip.open(archive) as content, tarfile.open(fileobj=content) as tar:
            members = [member for member in tar if os.path.normpath(member.name) in wanted]
            tar.extractall(folder, members, filter="data")  # nothing leads out of the folder
            while content.read(PIECE_BYTES):  # to the end, where the checksum is
                pass
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        problem = f"{archive.name} is not a whole .tar.gz of the data set ({error})"
        raise FetchError(f"{problem}; it was removed") from None
    n_found = sum((folder / name).is_file() for name in wanted)
    if n_found < len(wanted):
        found = f"{n_found} of the {len(wanted)} files of labelled reviews"
        raise FetchError(f"{archive.name} holds {found}; it was removed")
