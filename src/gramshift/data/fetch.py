"""Fetching the public data set from its home page: with progress, resumed where it broke off, unpacked with care."""

import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import IO, Any

from gramshift.data.reviews import DOMAINS, FILES, FOLDER, ReviewFileError, load_sentiment
from gramshift.errors import InputError

URL = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/domain_sentiment_data.tar.gz"
HOME = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/"
LARGEST_ARCHIVE = 2 * 10**9  # bytes; the archive is far smaller
LARGEST_FILE = 10**8  # of one file of reviews
TIMEOUT = 30  # seconds without a byte
PIECE = 1 << 16
TRIES = 3  # a connection that breaks off is taken up again
Progress = Callable[[str, int, int], None]


class FetchError(OSError):
    """The data could not be had."""


def fetch_sentiment(
    output: Path,
    *,
    url: str = URL,
    progress: Progress | None = None,
    largest_archive: int = LARGEST_ARCHIVE,
    largest_file: int = LARGEST_FILE,
) -> dict[str, Any]:
    """Download the archive into ``output``, unpack the labelled reviews there and check them."""
    folder = output / FOLDER
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file; give a folder for the data")
    if folder.exists():
        raise FileExistsError(f"{folder} exists; choose another folder, or remove it first")
    output.mkdir(parents=True, exist_ok=True)
    archive = output / "domain_sentiment_data.tar.gz.part"
    download(url, archive, progress=progress, largest=largest_archive)
    temporary = Path(mkdtemp(prefix=".unpacking-", dir=output))
    try:
        n_files = unpack(archive, temporary, largest=largest_file)
        sentiment = load_sentiment(temporary)
        os.replace(temporary / FOLDER, folder)
    except ReviewFileError as error:
        raise FetchError(f"{url} is not the data set: {str(error).replace(str(temporary), '')}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        archive.unlink(missing_ok=True)  # whole by now: of use, or of none
    differing = [note.replace(str(temporary), str(output)) for note in sentiment.notes if "differs" in note]
    return {"folder": str(folder), "files": n_files, "reviews": 1000 * n_files, "warnings": differing}


def download(url: str, path: Path, *, progress: Progress | None = None, largest: int = LARGEST_ARCHIVE) -> None:
    """Download into ``path``, which keeps what has arrived: calling again goes on from there."""
    for attempt in range(TRIES):
        try:
            _download_once(url, path, progress, largest)
            return
        except FetchError:
            raise
        except (OSError, HTTPException) as error:  # includes connections that break off and time out
            if isinstance(error, urllib.error.HTTPError) and error.code == 416:  # nothing is left to send, or it has changed
                path.unlink(missing_ok=True)
            elif isinstance(error, urllib.error.HTTPError) and error.code < 500:
                raise FetchError(f"{url}: the server says {error.code} {error.reason}; {_advice()}") from None
            if attempt == TRIES - 1:
                reason = getattr(error, "reason", error)
                kept = path.stat().st_size if path.exists() else 0
                words = f"{kept} bytes are kept in {path} and taken up next time; " if kept else ""
                raise FetchError(f"{url} could not be fetched ({reason}); {words}{_advice()}") from None


def _advice() -> str:
    return f"without a network, get the archive elsewhere from {HOME}, unpack it and give its folder to gramshift reproduce"


def _download_once(url: str, path: Path, progress: Progress | None, largest: int) -> None:
    have = path.stat().st_size if path.exists() else 0
    try:
        request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    except ValueError:
        raise InputError(f"{url!r} is not an address; give one such as {URL}") from None
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        resumed = answer.status == 206
        if resumed and not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            path.unlink(missing_ok=True)
            raise ConnectionError("the server sends another part than was asked for")
        have = have if resumed else 0
        total = have + int(answer.headers.get("Content-Length") or 0)
        if total > largest:
            raise FetchError(f"{url} has {total} bytes, more than the {largest} that this data set may have")
        with path.open("ab" if resumed else "wb") as file:
            while piece := answer.read(PIECE):
                file.write(piece)
                have += len(piece)
                if have > largest:
                    raise FetchError(f"{url} sends more than the {largest} bytes that this data set may have")
                if progress is not None:
                    progress("download", have, max(total, have))
        if total and have < total:
            raise ConnectionError(f"broke off after {have} of {total} bytes")


def unpack(archive: Path, folder: Path, *, largest: int = LARGEST_FILE) -> int:
    """Unpack the eight files of labelled reviews, and nothing else; return how many there were."""
    wanted = {PurePosixPath(FOLDER, domain, name) for domain in DOMAINS.values() for name in FILES}
    found = 0
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                name = PurePosixPath(*(part for part in PurePosixPath(member.name).parts if part != "."))
                if name.is_absolute() or ".." in name.parts or member.issym() or member.islnk() or member.isdev():
                    raise FetchError(f"{archive} is not the data set: it holds {member.name!r}, which leads out of its folder")
                if name not in wanted:
                    continue
                if not member.isfile() or member.size > largest:
                    raise FetchError(f"{archive} is not the data set: {member.name!r} has {member.size} bytes")
                content = tar.extractfile(member)
                if content is not None:
                    _write(content, folder / name)
                    found += 1
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        if isinstance(error, FetchError):
            raise
        raise FetchError(f"{archive} is not a whole .tar.gz ({error}); it was removed, fetch again") from None
    if found != len(wanted):
        raise FetchError(f"{archive} holds {found} of the {len(wanted)} files of labelled reviews; it was removed")
    return found


def _write(content: IO[bytes], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)
