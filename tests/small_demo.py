"""The first reviews of the demo corpus: as many as tests need, whatever is added to it."""

from gramshift.datasets import demo

N = 120


def load_demo(domain):
    """The first 120 reviews of a domain, half of them "positive", half "negative"."""
    texts, labels = demo.load_demo(domain)
    return demo.Reviews(texts[:N], labels[:N])
