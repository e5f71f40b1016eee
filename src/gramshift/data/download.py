"""Downloading one file: with limits on time, on bytes and on where a redirect leads, taken up again where it broke off."""

import io
import os
import re
import stat
import time
import urllib.request as web
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any, BinaryIO
from urllib.error import HTTPError
from urllib.parse import urlsplit

from gramshift.errors import InputError

SCHEMES = ("http", "https")
SLOWEST = 1000  # bytes a second; a line that is slower brings nothing in the end
LARGEST_HEADERS = 1_000_000  # bytes of an answer before its body, or of one that leads elsewhere
PIECE = 1 << 16
TRIES = 3  # a connection that breaks off is taken up again
Progress = Callable[[str, int, int], None]


class FetchError(OSError):
    """The data could not be had."""


class TooLargeError(FetchError):
    """A server sends more than it may: what has arrived is of no use."""


@dataclass(frozen=True)
class Patience:
    """How long a server may take, in seconds, and who tells the time."""

    idle: float = 20.0
    """For the headers of an answer, and after them for each ``idle * SLOWEST`` bytes."""
    total: float = 7200.0
    """For all tries together: 30 MB at 4 KB a second."""
    clock: Callable[[], float] = time.monotonic


def download(
    url: str, path: Path, *, largest: int, advice: str, progress: Progress | None = None, patience: Patience | None = None
) -> None:
    """Download into ``path``, which keeps what has arrived: calling again goes on from there. Errors end with ``advice``."""
    _check_address(url)
    watch = _Watch(patience or Patience())
    if path.exists() and path.stat().st_size > largest:
        path.unlink()
    for attempt in range(TRIES):
        try:
            _download_once(url, path, progress, largest, watch)
            return
        except TooLargeError:
            path.unlink(missing_ok=True)
            raise
        except FetchError:
            raise
        except (OSError, HTTPException) as error:  # includes connections that break off and time out
            if isinstance(error, HTTPError) and error.code == 416:  # nothing is left to send, or it has changed
                path.unlink(missing_ok=True)
            elif isinstance(error, HTTPError) and error.code < 500:
                raise FetchError(f"{url}: the server says {error.code} {str(error.reason)[:200]}; {advice}") from None
            if attempt == TRIES - 1 or watch.is_over():
                reason = str(getattr(error, "reason", error))[:200] or type(error).__name__
                kept = path.stat().st_size if path.exists() else 0
                if not kept:
                    path.unlink(missing_ok=True)
                words = f"{kept} bytes are kept in {path} and taken up next time; " if kept else ""
                raise FetchError(f"{url} could not be fetched ({reason}); {words}{advice}") from None


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0 and url.isascii() and url.isprintable()
    except ValueError:  # a port that is no number, a bracket that is not closed
        good = False
    if not good or " " in url:
        raise InputError(f"{url!r} is not an address; give one that begins with http:// or https://")


def _download_once(url: str, path: Path, progress: Progress | None, largest: int, watch: "_Watch") -> None:
    have = path.stat().st_size if path.exists() else 0
    request = web.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with _make_opener(watch).open(request, timeout=watch.patience.idle) as answer:
        resumed = answer.status == 206
        if resumed and not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            path.unlink(missing_ok=True)
            raise ConnectionError("the server sends another part than was asked for")
        have = have if resumed else 0
        claimed = _read_length(url, answer)
        total = have + claimed
        if total > largest:
            raise TooLargeError(f"{url} has {total} bytes, more than the {largest} that this data set may have")
        watch.start(2 * largest)  # with what a body in chunks has between them
        with _open_part(path, append=resumed) as file:
            _report(progress, have, total)
            while piece := answer.read1(PIECE):  # what is there: not only when all of a piece has come
                file.write(piece)
                have += len(piece)
                if have > largest:
                    raise TooLargeError(f"{url} sends more than the {largest} bytes that this data set may have")
                _report(progress, have, total)
        if claimed and have < total:
            raise ConnectionError(f"broke off after {have} of {total} bytes")


def _report(progress: Progress | None, have: int, total: int) -> None:
    if progress is not None:
        progress("download", have, max(total, have))


def _read_length(url: str, answer: Any) -> int:
    """Return how many bytes the server says it sends, 0 if it does not say."""
    claimed = answer.headers.get("Content-Length") or "0"
    if not re.fullmatch("[0-9]{1,18}", claimed):
        raise FetchError(f"{url}: the server gives {claimed[:40]!r} as Content-Length, which is no number of bytes")
    return int(claimed)


def _open_part(path: Path, *, append: bool) -> BinaryIO:
    """Open the file that keeps what has arrived; a link or a device in its place is not written to."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else 0)
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"):  # Windows has but one of them
        flags |= getattr(os, name, 0)
    try:
        number = os.open(path, flags, 0o666)
    except OSError:
        if not path.is_symlink() and not path.is_fifo():
            raise
    else:
        if stat.S_ISREG(os.fstat(number).st_mode):
            if not append:
                os.truncate(number, 0)
            return os.fdopen(number, "ab" if append else "wb")
        os.close(number)
    raise FetchError(f"{path} is not a plain file; remove it first")


class _Watch:
    """Knows how long and how much a server has sent, over all connections of a download."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self._end = patience.clock() + patience.total
        self.start(LARGEST_HEADERS)

    def start(self, most: int) -> None:
        """Begin to count anew, at the headers of an answer or at its body, of which ``most`` bytes may come."""
        self._since, self._in_time, self._left = self.patience.clock(), 0, most

    def is_over(self) -> bool:
        return self.patience.clock() >= self._end

    def wait(self) -> float:
        """Return for how many seconds the next byte may be waited for."""
        now = self.patience.clock()
        left = min(self._since + self.patience.idle, self._end) - now
        if left <= 0:
            raise self.describe()
        return left

    def describe(self) -> TimeoutError:
        if self.is_over():
            return TimeoutError(f"not done in {self.patience.total:.0f} s, which is the most it may take")
        return TimeoutError(f"only {self._in_time} bytes in {self.patience.idle:.0f} s")

    def count(self, n: int) -> None:
        self._in_time += n
        self._left -= n
        if self._left < 0:
            raise TooLargeError("the server sends more than it may, outside of the data that was asked for")
        if self._in_time >= SLOWEST * self.patience.idle:
            self._since, self._in_time = self.patience.clock(), 0


class _Watched(io.RawIOBase):
    """What comes out of a socket, while the watch allows it."""

    def __init__(self, raw: io.RawIOBase, sock: Any, watch: _Watch) -> None:
        self._raw, self._sock, self._watch = raw, sock, watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(self._watch.wait())
        try:
            n: int = self._raw.readinto(buffer)
        except TimeoutError:
            raise self._watch.describe() from None
        self._watch.count(n)
        return n

    def close(self) -> None:
        self._raw.close()
        super().close()


class _WatchedResponse(HTTPResponse):
    def __init__(self, sock: Any, *arguments: Any, watch: _Watch, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        watch.start(LARGEST_HEADERS)
        self.fp: Any = io.BufferedReader(_Watched(self.fp.detach(), sock, watch))


class _Handler(web.HTTPHandler, web.HTTPSHandler):
    """Connections whose answers are watched."""

    def __init__(self, watch: _Watch) -> None:
        super().__init__()
        self._watch = watch

    def _connect(self, kind: type[HTTPConnection], host: str, **options: Any) -> HTTPConnection:
        connection = kind(host, **options)
        connection.response_class = partial(_WatchedResponse, watch=self._watch)  # type: ignore[assignment]
        return connection

    def http_open(self, request: web.Request) -> HTTPResponse:
        return self.do_open(partial(self._connect, HTTPConnection), request)

    def https_open(self, request: web.Request) -> HTTPResponse:
        return self.do_open(partial(self._connect, HTTPSConnection), request)


class _Redirects(web.HTTPRedirectHandler):
    def redirect_request(self, request: web.Request, *arguments: Any) -> web.Request | None:
        """Follow a redirect to http and https alone; urllib would go to ftp as well."""
        there = arguments[-1]
        if urlsplit(there).scheme not in SCHEMES:
            raise FetchError(
                f"{request.full_url} leads to {there[:200]!r}, which is neither http nor https; it was not followed"
            )
        return super().redirect_request(request, *arguments)


def _make_opener(watch: _Watch) -> web.OpenerDirector:
    """What can open addresses of the web, through a proxy if one is set, and nothing else: no files, no ftp."""
    opener = web.OpenerDirector()
    for plain in (web.ProxyHandler, web.UnknownHandler, web.HTTPDefaultErrorHandler, web.HTTPErrorProcessor, _Redirects):
        opener.add_handler(plain())
    opener.add_handler(_Handler(watch))
    return opener
