"""Fetching the public data set from its home page: with progress, resumed where it broke off, unpacked with care."""

import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from hashlib import file_digest, sha256
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Any, BinaryIO

import psutil

from gramshift.data.download import FetchError, Patience, Progress, download
from gramshift.data.reviews import DOMAINS, FILES, FOLDER, LARGEST_FILE, ReviewFileError, load_sentiment
from gramshift.runtime.replacing import UNDER_WAY, sync_folder

URL = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/domain_sentiment_data.tar.gz"
HOME = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/"
PINNED = "5ce52d31945c624ac65e2d9185f00cf409656129e53acc306d243887ba26fda3"
"""The sha256 of what sha256sum prints of the eight files, in the order of their names; of the files, not of the archive."""
LARGEST_ARCHIVE = 3 * 10**8  # bytes; its home page says 30 MB
LARGEST_CONTENT = 2 * 10**9  # bytes that are unpacked of it, wanted or not
HIGHEST_RATIO = 100  # of bytes unpacked to bytes packed, beyond the first ten million; texts have 3, a bomb 1000
LARGEST_HEADER = 10**6  # bytes of a long name or of other particulars of a member
MOST_MEMBERS = 10_000
PIECE = 1 << 16
BLOCK = tarfile.BLOCKSIZE
ADVICE = f"without a network, get the archive elsewhere from {HOME}, unpack it and give its folder to gramshift reproduce"
WANTED = sorted(str(PurePosixPath(domain, name)) for domain in DOMAINS.values() for name in FILES)
_PARTICULARS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


def fetch_sentiment(
    output: Path,
    *,
    url: str = URL,
    pinned: bool = False,
    progress: Progress | None = None,
    largest_archive: int = LARGEST_ARCHIVE,
    largest_file: int = LARGEST_FILE,
    patience: Patience | None = None,
) -> dict[str, Any]:
    """Download the archive into ``output``, unpack the labelled reviews there and check them.

    With ``pinned`` reviews other than those that the documented figures come from are refused; without, they are named in
    ``warnings``.
    """
    folder, archive = output / FOLDER, output / "domain_sentiment_data.tar.gz.part"
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file; give a folder for the data")
    _remove_leavings(output)
    if os.path.lexists(folder):
        archive.unlink(missing_ok=True)  # of a run that was killed when it had all
        raise FileExistsError(f"{folder} exists; choose another folder, or remove it first")
    output.mkdir(parents=True, exist_ok=True)
    download(url, archive, largest=largest_archive, advice=ADVICE, progress=progress, patience=patience)
    temporary = Path(mkdtemp(prefix=f".unpacking-{os.getpid()}-", dir=output))
    UNDER_WAY.add(temporary)
    try:
        n_files = unpack(archive, temporary, largest=largest_file)
        sentiment = load_sentiment(temporary)
        found = digest_files(temporary / FOLDER)
        differing = [note.replace(str(temporary), str(output)) for note in sentiment.notes if "differs" in note]
        if differing and pinned:
            raise FetchError(_describe_others(url, differing, found))
        for inner in (*(temporary / FOLDER).iterdir(), temporary / FOLDER):
            sync_folder(inner)
        os.replace(temporary / FOLDER, folder)
        sync_folder(output)
    except ReviewFileError as error:
        raise FetchError(f"{url} is not the data set: {str(error).replace(str(temporary), '')}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        UNDER_WAY.discard(temporary)
        archive.unlink(missing_ok=True)  # whole by now: of use, or of none
    if found != PINNED and not differing:
        differing = [f"{folder} has the reviews that we know, and other bytes around them (sha256 {found}, not {PINNED})"]
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


def _remove_leavings(output: Path) -> None:
    """Remove folders that processes which no longer run were unpacking into."""
    for folder in output.glob(".unpacking-*-*"):
        process = folder.name.split("-")[1]
        if process.isdecimal() and not psutil.pid_exists(int(process)) and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


class _Content:
    """What a .gz holds, from its beginning to its end, with limits on how much that is."""

    def __init__(self, archive: Path, packed: BinaryIO) -> None:
        self._archive, self._packed, self._n = archive, packed, 0
        self._unpacked = gzip.GzipFile(fileobj=packed)

    def read(self, n: int) -> bytes:
        piece = self._unpacked.read(n)
        self._n += len(piece)
        if self._n > LARGEST_CONTENT or self._n > HIGHEST_RATIO * max(self._packed.tell(), 10**5):
            raise FetchError(f"{self._archive} is not the data set: more than {self._n} bytes are packed into it")
        return piece

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield what a member of this size holds, and pass over what fills up its last block."""
        for start in range(0, size, PIECE):
            piece = self.read(min(PIECE, size - start))
            if len(piece) < min(PIECE, size - start):
                raise EOFError("it ends within a file")
            yield piece
        self.read(-size % BLOCK)

    def members(self) -> Iterator[tarfile.TarInfo]:
        """Yield the headers; whoever takes them reads the pieces of each before the next."""
        for number in range(MOST_MEMBERS + 1):
            block = self.read(BLOCK)
            if (not block and number) or (block and not any(block)):
                break
            yield tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        else:
            raise FetchError(f"{self._archive} is not the data set: it holds more than {MOST_MEMBERS} files")
        while self.read(PIECE):  # to the end, where a checksum is
            pass


def unpack(archive: Path, folder: Path, *, largest: int = LARGEST_FILE) -> int:
    """Unpack the eight files of labelled reviews, and nothing else; return how many there were.

    Names and sizes are those of the plain headers. Long names, maps of sparse files and other particulars are passed over: the
    files that we want have none, and a library that reads them takes as much memory as a header says.
    """
    missing = {PurePosixPath(FOLDER, name) for name in WANTED}
    wanted = frozenset(missing)
    wrong = f"{archive} is not the data set"
    try:
        with archive.open("rb") as packed:
            content = _Content(archive, packed)
            for member in content.members():
                name = PurePosixPath(*(part for part in PurePosixPath(member.name).parts if part != "."))
                if name.is_absolute() or ".." in name.parts or member.issym() or member.islnk() or member.isdev():
                    raise FetchError(f"{wrong}: it holds {member.name!r}, which leads out of its folder")
                if member.size < 0 or (member.type in _PARTICULARS and member.size > LARGEST_HEADER):
                    raise FetchError(f"{wrong}: a header of {member.name!r} has {member.size} bytes")
                if member.type in _PARTICULARS or name not in wanted:
                    for _ in content.pieces(member.size):
                        pass
                    continue
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.size > largest:
                    raise FetchError(f"{wrong}: {member.name!r} has {member.size} bytes, or is no plain file")
                if name not in missing:
                    raise FetchError(f"{wrong}: it holds {member.name!r} twice")
                missing.remove(name)
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with (folder / name).open("wb") as file:
                    file.writelines(content.pieces(member.size))
                    file.flush()
                    os.fsync(file.fileno())
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FetchError(f"{archive} is not a whole .tar.gz ({error}); it was removed, fetch again") from None
    if missing:
        found = len(wanted) - len(missing)
        raise FetchError(f"{archive} holds {found} of the {len(wanted)} files of labelled reviews; it was removed")
    return len(wanted)
