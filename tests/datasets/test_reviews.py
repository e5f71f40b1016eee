import re

import pytest

from gramshift.datasets.reviews import (
    DOMAINS,
    FILES,
    ReviewFileError,
    digest,
    find_folder,
    load_sentiment,
    read_review_file,
)


def write(tmp_path, content):
    path = tmp_path / "x.review"
    path.write_bytes(content)
    return path


def field(tag, value):
    return b"<" + tag + b">\n" + value + b"\n</" + tag + b">\n"


def review(*fields):
    return b"<review>\n" + b"".join(fields) + b"</review>\n"


TEXT = field(b"review_text", b"good & <cheap>\n\n< 5 $ > 3 $")


def test_every_field_is_read_as_it_stands(tmp_path):
    body = review(
        field(b"unique_id", b"1:a"),
        field(b"unique_id", b"1:b"),
        field(b"title", b""),
        field(b"rating", b"5.0"),
        TEXT,
    )
    read = read_review_file(write(tmp_path, body + review(TEXT)))
    first, second = read.reviews
    assert first.fields["unique_id"] == ["1:a", "1:b"]
    assert first.fields["title"] == [""]
    assert first.title == ""
    assert first.text == "good & <cheap>\n\n< 5 $ > 3 $"
    assert list(second.fields) == ["review_text"]
    assert read.notes == []


def test_encodings_are_repaired_review_by_review(tmp_path):
    latin = review(field(b"title", b"caf\xe9 \x80 \x81"), TEXT)
    utf = review(field(b"title", "café €".encode()), TEXT)
    read = read_review_file(write(tmp_path, latin + utf))
    assert [one.title for one in read.reviews] == ["café € \x81", "café €"]
    assert "1 reviews are not UTF-8" in read.notes[0]


ONE_LINE = review(field(b"review_text", b"fine"))


@pytest.mark.parametrize(
    "content",
    [
        b'<?xml version="1.0"?>\n<reviews>\n' + ONE_LINE + b"</reviews>\n",
        b"\xef\xbb\xbf" + ONE_LINE,
        ONE_LINE.replace(b"\n", b"\r\n"),
    ],
    ids=["wrapper", "byte order mark", "line ends of Windows"],
)
def test_what_surrounds_reviews_does_not_matter(tmp_path, content):
    plain = read_review_file(write(tmp_path, ONE_LINE)).reviews
    assert digest(read_review_file(write(tmp_path, content)).reviews) == digest(plain)


def test_control_characters_stay(tmp_path):
    content = review(field(b"review_text", b"\x1fa\x1ab\x1c"))
    assert read_review_file(write(tmp_path, content)).reviews[0].text == "\x1fa\x1ab\x1c"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            review(TEXT) + b"<review>\n<title>\nx\n",
            "line 8: a review that does not end with </review>",
        ),
        (review(TEXT) + b"stray\n", "line 8: text outside of a review: b'stray'"),
        (b"<review>\n<title>\nx\n</review>\n", "line 2: a field that is cut off"),
        (
            review(field(b"title", b"x"), b"stray\n", TEXT),
            "line 5: a field that is cut off, or text outside",
        ),
        (review(field(b"title", b"x")), "line 1: a review without <review_text>"),
        (
            b"<review>\n<review_text>\ncut\n" + review(TEXT),
            "line 4: a review begins before <review_text> of the last one has ended",
        ),
        (b"x<reviews>y\n" + review(TEXT), "line 1: text outside of a review: b'x<reviews>y'"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(tmp_path, content, message):
    with pytest.raises(ReviewFileError, match=re.escape(message)):
        read_review_file(write(tmp_path, content))


def make_folder(tmp_path, n=1000):
    for domain in DOMAINS.values():
        for name in FILES:
            path = tmp_path / "sorted_data_acl" / domain / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(review(field(b"title", b"T"), TEXT) * n)
    return tmp_path


def test_a_folder_of_the_data_set(tmp_path):
    data = load_sentiment(make_folder(tmp_path), letters="BK")
    assert list(data.domains) == ["B", "K"]
    assert data.domains["B"].codes == [1] * 1000 + [0] * 1000
    assert data.domains["B"].texts("title+text")[0].startswith("T good &")
    assert data.domains["B"].texts("text")[0].startswith("good &")
    assert sum("differs from the file" in note for note in data.notes) == 4
    with pytest.raises(ValueError, match="fields='body'"):
        data.domains["B"].texts("body")


def test_faulty_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds none of the folders"):
        find_folder(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no such folder; .*'gramshift fetch"):
        find_folder(tmp_path / "nothing")
    make_folder(tmp_path)
    path = tmp_path / "sorted_data_acl" / "dvd" / "negative.review"
    path.write_bytes(review(TEXT) * 999)
    with pytest.raises(ReviewFileError, match=r"dvd/negative.review has 999 .* 1000"):
        load_sentiment(tmp_path)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"dvd/negative.review: no such file"):
        load_sentiment(tmp_path)


def test_the_real_files(data_folder):
    data = load_sentiment(data_folder)
    assert not [note for note in data.notes if "differs" in note]
    assert all(len(domain.reviews) == 2000 for domain in data.domains.values())
    fields = {
        tag for domain in data.domains.values() for one in domain.reviews for tag in one.fields
    }
    usual = "unique_id asin product_name helpful rating title date reviewer review_text"
    assert set(usual.split()) <= fields
    assert all(one.text and one.title for domain in data.domains.values() for one in domain.reviews)
    for domain in data.domains.values():
        assert all(
            (float(one.value("rating")) > 3) == bool(code)
            for one, code in zip(domain.reviews, domain.codes, strict=True)
        )
