"""The preset "best" without one of its parts, on the paper's settings with one source: a look at tested labels.

See docs/experiments.md. On words or on characters alone it is a method of its own, and runs with `gramshift reproduce`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import gramshift as gs
from bench.corpus import Texts, find_data
from bench.machine import describe_machine, describe_versions, say, timed
from gramshift.data.demo import load_demo
from gramshift.data.reviews import load_sentiment
from gramshift.evaluate.protocol import LETTERS, SINGLE, Setting
from gramshift.evaluate.resampling import Clustered, interval_of
from gramshift.learn import shares
from gramshift.methods import METHODS

BEST, TEXT_ALONE, RAW = "best", "best, text without title", "best, proportions as estimated"
VARIANTS: dict[str, dict[str, Any]] = {
    BEST: {},
    "best, no weights by class": {"weighting": {"idf": 2}},
    "best, no idf": {"weighting": {"classes": 1}},
    "best, the surest join": {"class_prior": "ignored"},
    "best, the source's proportions": {"class_prior": "source"},
    RAW: {},
    TEXT_ALONE: {},
    "tkc, the source's proportions": METHODS["tkc"].options | {"class_prior": "source"},
}
Domains = dict[str, dict[str, tuple[list[str], Any]]]
"""By domain and fields: texts and codes."""


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Right answers of all variants; ``texts`` are not used."""
    domains = load_small() if smoke else load_domains()
    settings = [Setting("B", "D")] if smoke else SINGLE
    right: dict[str, list[Any]] = {name: [] for name in VARIANTS}
    proportions = {}
    for setting in settings:
        for name, options in VARIANTS.items():
            seconds, clf = timed(lambda name=name, options=options, one=setting: fit(domains, one, name, options))
            right[name].append((clf.transduction_ == domains[setting.target]["title+text"][1]).astype(float))
            say(f"{setting.name}, {name}: {100 * right[name][-1].mean():.1f} ({seconds:.0f} s)")
            if name == BEST:
                proportions[setting.name] = clf.class_prior_[1]
    clusters = Clustered([np.arange(len(one)) for one in right[BEST]], [setting.target for setting in settings])
    drawn = {name: clusters.means(values) for name, values in right.items()}
    rows = [
        {
            "variant": name,
            "accuracy": 100 * float(np.mean(values)),
            "each": [100 * float(one.mean()) for one in values],
            "interval": [100 * one for one in interval_of(drawn[name])],
            "minus_best": [100 * one for one in interval_of(drawn[name] - drawn[BEST])],
        }
        for name, values in right.items()
    ]
    told = {"benchmark": "ablations", "machine": describe_machine(), "versions": describe_versions()}
    return told | {"rows": rows, "proportions": proportions}


def fit(domains: Domains, setting: Setting, name: str, options: dict[str, Any]) -> Any:
    """One variant on one setting; true labels of the target are not handed over."""
    fields = "text" if name == TEXT_ALONE else "title+text"
    source = [domains[letter][fields] for letter in setting.source]
    texts, codes = [text for some, _ in source for text in some], np.concatenate([some for _, some in source])
    clf = gs.TransductiveClassifier(**options)
    if name == RAW:
        with unsettled():
            return clf.fit(texts, codes, target=domains[setting.target][fields][0])
    return clf.fit(texts, codes, target=domains[setting.target][fields][0])


@contextmanager
def unsettled() -> Iterator[None]:
    """Estimates are used as they are, whatever their errors; nothing but a benchmark wants that, so that it is no parameter."""
    kept = shares.settle
    shares.settle = lambda estimated, source, errors, limits: estimated
    try:
        yield
    finally:
        shares.settle = kept


def load_domains() -> Domains:
    """The four tested domains, with and without titles."""
    found = load_sentiment(find_data(None), letters=LETTERS)
    return {
        letter: {fields: (found.domains[letter].texts(fields), np.array(found.domains[letter].codes)) for fields in FIELDS}
        for letter in LETTERS
    }


FIELDS = ("title+text", "text")


def load_small() -> Domains:
    """Two domains of the demo."""
    result: Domains = {}
    for letter, name in (("B", "kitchen"), ("D", "films")):
        texts, labels = load_demo(name)
        codes = np.array([int(label == "positive") for label in labels[:80]])
        result[letter] = dict.fromkeys(FIELDS, (texts[:80], codes))
    return result


def show(result: dict[str, Any]) -> str:
    """The means with intervals, and the share of positive documents of each setting: as estimated, as used."""
    lines = ["| variant | accuracy | 95 % interval | minus best |", "|---|---|---|---|"]
    for row in result["rows"]:
        low, high = row["interval"]
        apart = "" if row["variant"] == BEST else f"{row['minus_best'][0]:+.1f} to {row['minus_best'][1]:+.1f}"
        lines.append(f"| {row['variant']} | {row['accuracy']:.1f} | {low:.1f} to {high:.1f} | {apart} |")
    lines += ["", "| setting | positive in the source | estimated | used |", "|---|---|---|---|"]
    for name, one in result["proportions"].items():
        lines.append(f"| {name} | {one['source']:.2f} | {one['estimated']:.3f} | {one['used']:.3f} |")
    return "\n".join(lines)
