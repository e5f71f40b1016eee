"""Fetch the public data set from its home page: download the archive, unpack the labelled reviews, check them."""

import gzip
import os
import tarfile
import urllib.request
import zlib
from collections.abc import Callable
from hashlib import file_digest, sha256
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError

from gramshift.data.reviews import DOMAINS, FILES, FOLDER, ReviewFileError, load_sentiment
from gramshift.errors import InputError
from gramshift.runtime.replacing import UNDER_WAY

URL = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/domain_sentiment_data.tar.gz"
HOME = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/"
PINNED = "5ce52d31945c624ac65e2d9185f00cf409656129e53acc306d243887ba26fda3"
"""The sha256 of what sha256sum prints of the eight files, in the order of their names; of the files, not of the archive."""
LARGEST_ARCHIVE = 3 * 10**8  # bytes; its home page says 30 MB
TIMEOUT_SECONDS = 20
PIECE_BYTES = 1 << 16
ADVICE = f"without a network, get the archive elsewhere from {HOME}, unpack it and give its folder to gramshift reproduce"
WANTED = sorted(str(PurePosixPath(domain, name)) for domain in DOMAINS.values() for name in FILES)
Progress = Callable[[str, int, int], None]


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
