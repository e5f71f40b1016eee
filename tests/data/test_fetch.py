"""Fetching from a server of our own: whole, cut off, wrong and hostile."""

import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from gramshift import GramshiftError
from gramshift.data import reviews as sentiment
from gramshift.data.fetch import FetchError, fetch_sentiment

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


def test_an_address_that_is_none(tmp_path):
    with pytest.raises(GramshiftError, match="'nonsense' is not an address; give one such as https"):
        fetch_sentiment(tmp_path, url="nonsense")


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
