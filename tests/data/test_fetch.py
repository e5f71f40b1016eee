"""Fetching from a server of our own: whole, cut off, wrong and hostile."""

import gzip
import io
import os
import socket
import stat
import tarfile
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from gramshift import GramshiftError
from gramshift.data import reviews as sentiment
from gramshift.data.download import Patience
from gramshift.data.fetch import LARGEST_HEADER, MOST_MEMBERS, PINNED, FetchError, digest_files, fetch_sentiment

REVIEW = "<review>\n<title>\n{title}\n</title>\n<review_text>\nwords\n</review_text>\n</review>\n"


def make_archive(*, n=1000, leave_out="", extra=()):
    """Made-up reviews in the data set's folders; ``extra`` are further members."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for domain in sentiment.DOMAINS.values():
            for name in sentiment.FILES:
                path = f"sorted_data_acl/{domain}/{name}"
                if path == leave_out:
                    continue
                add(tar, path, "".join(REVIEW.format(title=i) for i in range(n)).encode())
        add(tar, "sorted_data_acl/books/unlabeled.review", b"not wanted")
        for member, data in extra:
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


class Server:
    """Sends ``content``; the first ``n_cut`` answers break off in the middle."""

    def __init__(self, content, *, n_cut=0, status=200, ranges=True, claim=None, shift=0):
        self.requests = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked = self.headers.get("Range")
                outer.requests.append(asked)
                if status != 200:
                    self.send_error(status)
                    return
                start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and ranges else 0
                body = content[start:]
                if start >= len(content):
                    self.send_error(416)
                    return
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start + shift}-{len(content) - 1}/{len(content)}")
                self.send_header("Content-Length", str(claim or len(body)))
                self.end_headers()
                cut = len(outer.requests) <= n_cut
                self.wfile.write(body[: len(body) // 2] if cut else body)

            def log_message(self, *arguments):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/data.tar.gz"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


def test_a_whole_archive(tmp_path):
    steps = []
    with Server(make_archive()) as server:
        result = fetch_sentiment(tmp_path, url=server.url, progress=lambda *step: steps.append(step))
    assert result["reviews"] == 8000
    assert len(result["warnings"]) == 8  # made up, so none is the file that we know
    assert str(tmp_path / "sorted_data_acl" / "books" / "positive.review") in result["warnings"][0]
    assert steps[-1][0] == "download"
    assert steps[-1][1] == steps[-1][2]
    assert [path.name for path in tmp_path.iterdir()] == ["sorted_data_acl"]
    assert not (tmp_path / "sorted_data_acl" / "books" / "unlabeled.review").exists()
    with Server(b"") as server, pytest.raises(FileExistsError, match="exists"):
        fetch_sentiment(tmp_path, url=server.url)


def test_reviews_are_on_the_disk_before_they_have_their_name(tmp_path, monkeypatch):
    events, sync, rename = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: events.append(stat.S_ISDIR(os.fstat(file).st_mode)) or sync(file))
    monkeypatch.setattr(os, "replace", lambda *names: events.append("rename") or rename(*names))
    with Server(make_archive()) as server:
        fetch_sentiment(tmp_path, url=server.url)
    assert events == [*[False] * 8, *[True] * 5, "rename", True]  # files, their folders, and the one that has the name


def test_what_a_run_left_that_was_killed_when_it_had_all_is_removed(tmp_path):
    (tmp_path / "sorted_data_acl").mkdir()
    (tmp_path / "domain_sentiment_data.tar.gz.part").write_bytes(b"of no use any more")
    with pytest.raises(FileExistsError, match="choose another folder, or remove it first"):
        fetch_sentiment(tmp_path, url="http://127.0.0.1:1/")
    assert [path.name for path in tmp_path.iterdir()] == ["sorted_data_acl"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_connection_that_breaks_off_is_taken_up_again(tmp_path, ranges):
    content = make_archive()
    with Server(content, n_cut=2, ranges=ranges) as server:
        fetch_sentiment(tmp_path, url=server.url)
        assert server.requests[0] is None
        assert server.requests[1] == f"bytes={len(content) // 2}-"
        assert len(server.requests) == 3
    assert sentiment.load_sentiment(tmp_path).domains["K"].codes[0] == 1


def test_what_arrived_is_kept_for_the_next_call(tmp_path):
    content = make_archive()
    with Server(content, n_cut=3) as server, pytest.raises(FetchError, match=r"bytes are kept in .* and taken up next time"):
        fetch_sentiment(tmp_path, url=server.url)
    assert not (tmp_path / "sorted_data_acl").exists()
    with Server(content) as server:
        fetch_sentiment(tmp_path, url=server.url)
        assert server.requests[0].startswith("bytes=")


def test_a_server_that_sends_another_part_than_asked_for(tmp_path):
    with Server(make_archive(), n_cut=1, shift=-5) as server:
        fetch_sentiment(tmp_path, url=server.url)
    assert sentiment.load_sentiment(tmp_path).domains["B"].codes[0] == 1


def test_what_is_whole_already_is_asked_for_anew(tmp_path):
    content = make_archive()
    (tmp_path / "domain_sentiment_data.tar.gz.part").write_bytes(content)
    with Server(content) as server:
        fetch_sentiment(tmp_path, url=server.url)
        assert server.requests == [f"bytes={len(content)}-", None]
    assert [path.name for path in tmp_path.iterdir()] == ["sorted_data_acl"]


def test_an_output_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError, match="is a file; give a folder"):
        fetch_sentiment(tmp_path / "file", url="http://127.0.0.1:9/x")


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "",
        "//x",
        "http://",
        "http://[::1",
        "http://127.0.0.1:99999/",
        "http://a b/",
        "http://127.0.0.1/\r\nX: y",
        "file:///etc/passwd",
        "ftp://127.0.0.1:1/x",
        "data:,hi",
    ],
)
def test_an_address_that_is_none(tmp_path, url):
    with pytest.raises(GramshiftError, match="is not an address; give one that begins with http:// or https://"):
        fetch_sentiment(tmp_path, url=url)


def test_no_network_says_what_to_do(tmp_path):
    with pytest.raises(FetchError, match="without a network, get the archive elsewhere"):
        fetch_sentiment(tmp_path, url="http://127.0.0.1:9/nothing")
    with Server(b"", status=404) as server, pytest.raises(FetchError, match="the server says 404"):
        fetch_sentiment(tmp_path, url=server.url)
    assert not (tmp_path / "sorted_data_acl").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>not an archive</html>", "not a whole .tar.gz"),
        (make_archive()[:-4000], "not a whole .tar.gz"),
        (make_archive(leave_out="sorted_data_acl/dvd/negative.review"), "7 of the 8 files"),
        (make_archive(n=999), "has 999 reviews"),
    ],
)
def test_wrong_archives(tmp_path, content, message):
    with Server(content) as server, pytest.raises((FetchError, ValueError), match=message):
        fetch_sentiment(tmp_path, url=server.url)
    assert list(tmp_path.iterdir()) == []  # no archive that would be taken up again


def link(name, target, kind):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


def plain(name, data=b"evil"):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info, data


@pytest.mark.parametrize(
    "member",
    [
        plain("../evil"),
        plain("sorted_data_acl/../../evil"),
        plain("/tmp/evil"),
        link("sorted_data_acl/books/x", "/etc/passwd", tarfile.SYMTYPE),
        link("sorted_data_acl/books/x", "../../evil", tarfile.LNKTYPE),
    ],
)
def test_hostile_archives_leave_nothing(tmp_path, member):
    inside = tmp_path / "inside"
    with Server(make_archive(n=1, extra=[member])) as server, pytest.raises(FetchError, match="leads out of its folder"):
        fetch_sentiment(inside, url=server.url)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inside"]
    assert not (inside / "sorted_data_acl").exists()


def test_an_archive_that_is_too_large(tmp_path):
    with Server(make_archive()) as server, pytest.raises(FetchError, match="more than the 1000"):
        fetch_sentiment(tmp_path, url=server.url, largest_archive=1000)
    with Server(make_archive()) as server, pytest.raises(FetchError, match="is not the data set"):
        fetch_sentiment(tmp_path, url=server.url, largest_file=1000)


@contextmanager
def answering(*answers):
    """A server that gives the first request the first answer, and so on; an answer is bytes, or told the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        n_asked = []

        def serve():
            for answer in answers:
                try:
                    connection, _ = listening.accept()
                except OSError:  # the test is over
                    return
                with connection, suppress(OSError):  # when nobody reads any more
                    n_asked.append(connection.recv(10_000))
                    connection.sendall(answer) if isinstance(answer, bytes) else answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/data.tar.gz", n_asked
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def test_redirects_lead_to_the_web_alone(tmp_path):
    with answering(b"220 hello\r\n") as (elsewhere, asked):
        there = elsewhere.replace("http", "ftp")
        leading = f"HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode()
        with answering(leading) as (url, _), pytest.raises(FetchError, match="neither http nor https"):
            fetch_sentiment(tmp_path, url=url)
        assert asked == []
    with Server(make_archive()) as server:
        leading = f"HTTP/1.1 302 Found\r\nLocation: {server.url}\r\nContent-Length: 0\r\n\r\n".encode()
        with answering(leading) as (url, _):
            assert fetch_sentiment(tmp_path, url=url)["reviews"] == 8000


@pytest.mark.parametrize("claim", ["abc", "-5", "5, 6", "9" * 5000, "\u00b2"])
def test_a_length_that_is_none_is_told_with_the_address(tmp_path, claim):
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {claim}\r\n\r\nxx".encode("latin-1")
    with answering(answer) as (url, _), pytest.raises(FetchError, match="as Content-Length, which is no number") as caught:
        fetch_sentiment(tmp_path, url=url)
    assert str(caught.value).startswith(url)
    assert len(str(caught.value)) < 300


class Ticking:
    """A clock that goes on by so many seconds whenever it is read, and lets the server send once more."""

    def __init__(self, seconds):
        self.now, self.seconds, self.read, self.over = 0.0, seconds, threading.Semaphore(0), False

    def __call__(self):
        self.now += self.seconds
        self.read.release()
        return self.now

    def drip(self, connection, begin, drop):
        connection.sendall(begin)
        while self.read.acquire() and not self.over:
            connection.sendall(drop)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.over = True
        self.read.release(3)


@pytest.mark.parametrize(
    ("begin", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n", b"X-1: y\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n", b"x"),
    ],
    ids=["body", "body of no length", "headers", "go on", "body of a redirect"],
)
def test_a_server_that_drips_is_left(tmp_path, begin, drop):
    clock = Ticking(1)
    drips = [lambda connection: clock.drip(connection, begin, drop)] * 3
    with answering(*drips) as (url, asked), clock, pytest.raises(FetchError, match=r"only \d+ bytes in 20 s"):
        fetch_sentiment(tmp_path, url=url, patience=Patience(clock=clock))
    assert len(asked) == 3
    assert not any(path.stat().st_size == 0 for path in tmp_path.iterdir())


def test_all_tries_together_have_a_time(tmp_path):
    clock = Ticking(1)
    drips = [lambda connection: clock.drip(connection, b"HTTP/1.1 200 OK\r\n\r\n", b"x")] * 3
    with answering(*drips) as (url, asked), clock, pytest.raises(FetchError, match="not done in 40 s, which is the most"):
        fetch_sentiment(tmp_path, url=url, patience=Patience(total=40, clock=clock))
    assert len(asked) == 2


def test_what_has_come_is_told_while_more_is_waited_for(tmp_path):
    """The server sends the next byte only when the last one has been told."""
    told = threading.Semaphore(0)

    def answer(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        for _ in range(5):
            assert told.acquire(timeout=60)
            connection.sendall(b"x")

    steps = []
    with answering(answer) as (url, _), pytest.raises(FetchError, match="not a whole"):
        fetch_sentiment(tmp_path, url=url, progress=lambda *step: (steps.append(step), told.release()))
    assert steps == [("download", n, 5) for n in range(6)]


def test_a_body_without_an_end_leaves_nothing(tmp_path):
    def answer(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 10_000)

    with answering(answer) as (url, _), pytest.raises(FetchError, match="sends more than the 100000 bytes"):
        fetch_sentiment(tmp_path, url=url, largest_archive=100_000)
    assert os.listdir(tmp_path) == []


def test_a_redirect_with_a_body_without_an_end(tmp_path):
    def answer(connection):
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n")
        while True:
            connection.sendall(b"x" * 100_000)

    with answering(answer) as (url, _), pytest.raises(FetchError, match="sends more than it may"):
        fetch_sentiment(tmp_path, url=url)


def test_a_link_in_the_place_of_what_arrived_is_not_followed(tmp_path):
    other = tmp_path / "precious"
    other.write_text("precious")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "domain_sentiment_data.tar.gz.part").symlink_to(other)
    with Server(make_archive()) as server, pytest.raises(FetchError, match="is not a plain file; remove it first"):
        fetch_sentiment(inside, url=server.url)
    assert other.read_text() == "precious"


def header(name, size, kind=b"0"):
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


def pax(key, value):
    info = tarfile.TarInfo("sorted_data_acl/books/negative.review")
    info.size, info.pax_headers = 3, {key: value}
    return gzip.compress(info.tobuf(tarfile.PAX_FORMAT) + b"abc".ljust(512, b"\0") + bytes(1024))


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (gzip.compress(header("x", LARGEST_HEADER + 1, b"x") + bytes(2 * LARGEST_HEADER)), "a header of 'x' has 1000001 bytes"),
        (gzip.compress(header("x", 2**33, b"L")), "a header of 'x' has 8589934592 bytes"),
        (gzip.compress(header("x", -512)), "a header of 'x' has -512 bytes"),
        (gzip.compress(header("x", 2**80) + bytes(20_000_000)), "bytes are packed into it"),
        (gzip.compress(header("x", 0) * (MOST_MEMBERS + 1)), f"more than {MOST_MEMBERS} files"),
        (gzip.compress(header("sorted_data_acl/dvd/negative.review", 512, b"S") + bytes(1024)), "is no plain file"),
        (gzip.compress((header("sorted_data_acl/dvd/negative.review", 1) + bytes(512)) * 2), "twice"),
        (pax("GNU.sparse.map", "a,b,c"), "holds 1 of the 8 files"),
        (pax("GNU.sparse.size", "-5"), "holds 1 of the 8 files"),
        (pax("size", "abc"), "holds 1 of the 8 files"),
        (pax("path", "../../evil"), "holds 1 of the 8 files"),
        (make_archive()[:-10], "not a whole .tar.gz"),
        (gzip.compress(b""), "not a whole .tar.gz"),
    ],
    ids=[
        "pax",
        "long name",
        "negative",
        "bomb",
        "members",
        "sparse",
        "twice",
        "map",
        "size",
        "no size",
        "path",
        "cut",
        "empty",
    ],
)
def test_hostile_headers_are_refused_and_named(tmp_path, archive, message):
    with Server(archive) as server, pytest.raises(FetchError, match=message) as caught:
        fetch_sentiment(tmp_path, url=server.url)
    assert "domain_sentiment_data.tar.gz" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_from_the_home_page_no_other_reviews_are_taken(tmp_path):
    with Server(make_archive()) as server, pytest.raises(FetchError, match=r"8 of 8 files .* give the address yourself: --url"):
        fetch_sentiment(tmp_path, url=server.url, pinned=True)
    assert os.listdir(tmp_path) == []


def pack(folder):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tar:
        for path in sorted(folder.rglob("*.review")):
            add(tar, f"sorted_data_acl/{path.relative_to(folder)}", path.read_bytes())
    return out.getvalue()


def test_the_pinned_digest_is_that_of_the_real_files(tmp_path, data_folder):
    folder = sentiment.find_folder(data_folder)
    assert digest_files(folder) == PINNED
    with Server(pack(folder)) as server:
        result = fetch_sentiment(tmp_path, url=server.url, pinned=True)
    assert (result["sha256"], result["warnings"]) == (PINNED, [])
    other = tmp_path / "other"
    for path in (tmp_path / "sorted_data_acl").rglob("*.review"):
        path.write_bytes(path.read_bytes() + b"\n")
    with Server(pack(tmp_path / "sorted_data_acl")) as server:
        result = fetch_sentiment(other, url=server.url, pinned=True)
    assert "the reviews that we know, and other bytes around them" in result["warnings"][0]


def test_what_a_killed_process_was_unpacking_is_removed(tmp_path):
    for name in (".unpacking-999999999-x", f".unpacking-{os.getpid()}-x", ".unpacking-else"):
        (tmp_path / name).mkdir()
    with Server(make_archive()) as server:
        fetch_sentiment(tmp_path, url=server.url)
    assert sorted(os.listdir(tmp_path)) == [f".unpacking-{os.getpid()}-x", ".unpacking-else", "sorted_data_acl"]
