from collections import Counter

import pytest

from gramshift.datasets.demo import DOMAINS, load_demo


@pytest.mark.parametrize("domain", DOMAINS)
def test_half_of_the_reviews_are_positive(domain):
    reviews = load_demo(domain)
    assert Counter(reviews.labels) == {"positive": 210, "negative": 210}
    assert all(text.strip() for text in reviews.texts)


def test_no_review_occurs_twice_and_some_are_not_plain_ascii():
    texts = [text for domain in DOMAINS for text in load_demo(domain).texts]
    assert len(set(texts)) == len(texts) == 840
    assert sum(not text.isascii() for text in texts) >= 15


def test_an_unknown_domain():
    with pytest.raises(ValueError, match=r"domain='books': must be one of 'kitchen', 'films'"):
        load_demo("books")
