"""Fetching from a server of our own: whole, cut off, wrong and hostile."""

import io
import os
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from gramshift import GramshiftError
from gramshift.datasets import reviews as sentiment
from gramshift.datasets.fetch import PINNED, FetchError, digest_files, fetch_sentiment

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
    """Sends ``content``, or the first half of it."""

    def __init__(self, content, *, cut=False, status=200):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if status != 200:
                    self.send_error(status)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if cut else content)

            def log_message(self, *arguments):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/data.tar.gz"

    def __enter__(self):
        serve = self.server.serve_forever
        threading.Thread(target=serve, args=(0.01,), daemon=True).start()  # soon shut down
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


def test_a_whole_archive(tmp_path):
    steps = []
    with Server(make_archive()) as server:
        result = fetch_sentiment(
            tmp_path, url=server.url, progress=lambda *step: steps.append(step)
        )
    assert result["reviews"] == 8000
    assert len(result["warnings"]) == 8  # made up, so none is the file that we know
    assert str(tmp_path / "sorted_data_acl" / "books" / "positive.review") in result["warnings"][0]
    assert steps[-1][0] == "download"
    assert steps[-1][1] == steps[-1][2]
    assert [path.name for path in tmp_path.iterdir()] == ["sorted_data_acl"]
    assert not (tmp_path / "sorted_data_acl" / "books" / "unlabeled.review").exists()
    with Server(b"") as server, pytest.raises(FileExistsError, match="exists"):
        fetch_sentiment(tmp_path, url=server.url)


def test_a_connection_that_breaks_off_leaves_nothing(tmp_path):
    with (
        Server(make_archive(), cut=True) as server,
        pytest.raises(FetchError, match=r"broke off after \d+ of \d+ bytes"),
    ):
        fetch_sentiment(tmp_path, url=server.url)
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError, match="is a file; give a folder"):
        fetch_sentiment(tmp_path / "file", url="http://127.0.0.1:9/x")


@pytest.mark.parametrize("url", ["nonsense", "", "file:///etc/passwd", "data:,hi"])
def test_an_address_that_is_none(tmp_path, url):
    with pytest.raises(
        GramshiftError, match="is not an address; give one that begins with http:// or https://"
    ):
        fetch_sentiment(tmp_path, url=url)


def test_no_network_says_what_to_do(tmp_path):
    for url in (
        "http://127.0.0.1:9/nothing",
        "http://[::1",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1/\r\nX: y",
    ):
        with pytest.raises(FetchError, match="without a network, get the archive elsewhere"):
            fetch_sentiment(tmp_path, url=url)
    with Server(b"", status=404) as server, pytest.raises(FetchError, match="the server says 404"):
        fetch_sentiment(tmp_path, url=server.url)
    assert not (tmp_path / "sorted_data_acl").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>not an archive</html>", "not a whole .tar.gz"),
        (make_archive()[:-4000], "not a whole .tar.gz"),
        (make_archive()[:-6], "not a whole .tar.gz"),
        (make_archive(leave_out="sorted_data_acl/dvd/negative.review"), "7 of the 8 files"),
        (make_archive(n=999), "has 999 reviews"),
    ],
)
def test_wrong_archives(tmp_path, content, message):
    with Server(content) as server, pytest.raises((FetchError, ValueError), match=message):
        fetch_sentiment(tmp_path, url=server.url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("link", ["/etc/passwd", "../../../evil"])
def test_links_that_lead_out_of_the_archive_are_refused(tmp_path, link):
    name = "sorted_data_acl/books/positive.review"
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, link
    content = make_archive(n=1, leave_out=name, extra=[(info, b"")])
    with (
        Server(content) as server,
        pytest.raises(FetchError, match=r"is not a whole \.tar\.gz of the data set"),
    ):
        fetch_sentiment(tmp_path, url=server.url)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_that_is_too_large(tmp_path):
    with Server(make_archive()) as server, pytest.raises(FetchError, match="more than the 1000"):
        fetch_sentiment(tmp_path, url=server.url, largest=1000)


def test_from_the_home_page_no_other_reviews_are_taken(tmp_path):
    with (
        Server(make_archive()) as server,
        pytest.raises(FetchError, match=r"8 of 8 files .* give the address yourself: --url"),
    ):
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
