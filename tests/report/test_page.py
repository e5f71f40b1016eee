"""The page as a text: what stands in it, and that nothing of others' making runs or is fetched."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import pytest

from gramshift.model.verdict import judge_adapting, judge_labels
from gramshift.report.contents import SimilarDocument
from gramshift.report.page import SCRIPTS, page_script, render_page, write_page
from gramshift.report.payload import least_confidence, make_payload
from sample_report import HOSTILE, make_contents, make_entry, make_hostile, make_issue


class Elements(HTMLParser):
    """The elements of a page with their attributes and texts."""

    def __init__(self, page):
        super().__init__()
        self.found, self.texts, self.inside = [], [], None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.texts.append([])
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.texts[-1].append(data)

    def all(self, tag):
        both = zip(self.found, self.texts, strict=True)
        return [(attributes, "".join(text)) for (name, attributes), text in both if name == tag]


def shown_body(page):
    return page[page.index("<body>") :]


def units(text):
    """Return a text as in JavaScript, where two adjacent surrogates are one character."""
    return text.encode("utf-16-le", "surrogatepass")


def test_the_same_contents_give_the_same_page():
    assert render_page(make_contents()) == render_page(make_contents())


def test_the_page_shows_what_it_was_given():
    page = render_page(
        make_contents(warnings=["one class dominates"], scores={"accuracy": 0.845, "macro_f1": 0.5})
    )
    shown = [
        "films labelled from kitchen",
        "60 documents labelled.",
        "One class dominates",
        "kitchen.csv",
    ]
    shown += [
        "84.5\u202f%",
        "50.0\u202f%",
        "2026-01-02 03:04",
        "of the labels are those of the plain kernel",
        "1e-05",
    ]
    for words in shown:
        assert words in page
    titles = [text for _, text in Elements(page).all("title")]
    assert titles[0] == "films labelled from kitchen"
    assert "Confidence" in titles
    assert "Documents after adapting" in titles


def test_parts_that_are_not_known_are_left_out():
    page = render_page(
        make_contents(
            [], before=None, after=None, shares={}, history=[], diagnostics={}, options={}
        )
    )
    assert not Elements(page).all("svg")
    for words in (
        "Before adapting",
        "Can these labels be used",
        "Compared with the true labels",
        "What the corrections changed",
        "Pseudo-labels by round",
    ):
        assert words not in page
    page = render_page(
        make_contents(
            changes=[{"id": "a7", "before": "bad", "after": "good"}],
            command="gramshift classify 'a b.csv'",
        )
    )
    assert "What the corrections changed" in page
    assert "a7" in page
    assert "gramshift classify &#39;a b.csv&#39;" in page


EXPECTED = {"value": 0.7, "low": 0.6, "high": 0.8}
BY_RANDOM_LABELS = (
    "70 % of labels right (60 % to 80 %), by 50 random labels and the estimate together"
)


def verdicts():
    """Every verdict that there is, by how the page takes it."""
    said = "one class dominates"
    return [
        ("doubtful", judge_labels(EXPECTED, 0.65, [])),
        ("doubtful", judge_labels(EXPECTED, 0.5, [said])),
        ("careful", judge_labels(EXPECTED, 0.5, [])),
        ("doubtful", judge_labels(EXPECTED | {"low": 0.1}, 0.5, [])),
        ("good", judge_labels(EXPECTED | {"low": 0.75, "value": 0.9, "high": 0.95}, 0.5, [])),
        ("doubtful", judge_adapting([said], 0.9, 1.0, 300, "plain")),
        ("careful", judge_adapting([], 0.9, 1.0, 30, "plain")),
        ("good", judge_adapting([], 0.5, 1.0, 300, "plain")),
        ("careful", judge_adapting([], 0.9, 0.0, 300, "plain")),
        ("good", judge_adapting([], 0.9, 1.0, 300, "plain")),
    ]


HALVES = {"a": 0.5, "b": 0.5}


def test_whether_adapting_helped_is_no_green_light_for_labels():
    verdict = "No red flags: the domains differ."
    rounds = [
        {
            "added": {"bad": 0, "good": n},
            "labels": {"bad": 30, "good": 30},
            "changed": 0,
            "seconds": 0.1,
        }
        for n in (0, 9)
    ]
    page = shown_body(render_page(make_contents(diagnostics={"verdict": verdict}, history=rounds)))
    assert '<div class="headline careful">' in page
    assert "Did adapting help?" in page
    assert "Can these labels be used?" not in page


def test_the_headline_is_what_can_be_expected_and_whether_that_will_do():
    assert len({verdict for _, verdict in verdicts()}) == 10
    for level, verdict in verdicts():
        page = shown_body(
            render_page(make_contents(diagnostics={"verdict": verdict}, expected_accuracy=EXPECTED))
        )
        assert f'<div class="headline {level}">' in page, verdict
        assert "<b>70\u202f%</b> expected accuracy" in page
        assert "60\u202f% to 80\u202f%" in page
        opening, _, rest = verdict.partition(":")
        assert f"<b>{opening}:</b>" in page.replace("&#39;", "'")
        assert rest[-13:] in page
        assert (
            page.index('class="headline')
            < page.index('class="facts"')
            < page.index("Diagnostics</h2>")
        )
    page = shown_body(
        render_page(make_contents(diagnostics={}, expected_accuracy=EXPECTED, warnings=["w"]))
    )
    assert '<div class="headline doubtful">' in page
    assert '<button type="button" id="sample" class="main">' in page  # as the command advises
    assert "Can these labels be used?" not in page
    assert 'class="headline' not in shown_body(render_page(make_contents()))


def test_counts_of_the_result_are_there_once():
    """The figures below the verdict have them, and so the sentence is left out."""
    changes = {
        "diagnostics": {"verdict": judge_labels(EXPECTED, 0.5, [])},
        "expected_accuracy": EXPECTED,
    }
    page = shown_result(
        make_contents(
            **changes, sentence="60 documents labelled: bad: 30, good: 30; expected accuracy 70%"
        )
    )
    assert page.count("good") == 1
    assert "bad 30 50 %" in page
    assert judge_labels(EXPECTED, 0.5, []).split(": ")[1] in page


def shown_result(contents):
    """The first card as it is read."""
    card = re.search(
        r'<section aria-labelledby="h-result".*?</section>', render_page(contents), re.DOTALL
    )[0]
    return " ".join(
        unescape(
            re.sub("<[^>]*>", " ", re.sub(r'<p id="start".*?</p>', "", card, flags=re.DOTALL))
        ).split()
    )


def test_without_an_accuracy_the_sentence_tells_the_counts():
    page = shown_result(make_contents(diagnostics={}, scores={"accuracy": 0.5, "n": 49}))
    assert "60 documents labelled." in page
    assert "bad 30" not in page
    assert "Measured" not in page


def test_of_many_classes_the_most_common_are_counted_and_what_has_no_label_is_told():
    names = [f"c{number}" for number in range(20)]
    rare = {"c3", "c5", "c8", "c13", "c19"}
    many = [name for name in names for _ in range(1 if name in rare else 2)]
    documents = [
        make_entry(number, label=name, probabilities=[1 / 20] * 20, reference_label=None)
        for number, name in enumerate(many)
    ]
    documents[0] = replace(documents[0], abstained=True)
    shares = {"source": dict.fromkeys(names, 1 / 20)}
    contents = make_contents(
        documents, classes=names, shares=shares, history=[], expected_accuracy=EXPECTED
    )
    page = shown_result(contents).replace("\u202f", " ")
    assert "left without a label 1 c0 1 3 % c1 2 6 % c2 2 6 % c4 2 6 %" in page
    assert page.count(" 2 6 %") == 14
    assert "c18 2 6 % 5 other classes 5 15 %" in page
    assert "5 other classes 25\u202f%" in render_page(contents)  # of the class proportions


def test_the_confidence_to_review_suits_the_number_of_classes():
    assert [least_confidence(n) for n in (2, 3, 4, 6, 50)] == [0.7, 0.6, 0.55, 0.5, 0.5]
    for n, words in ((2, "70"), (3, "60"), (50, "50")):
        names = [f"c{number}" for number in range(n)]
        probabilities = [1 / n] * n
        documents = [
            make_entry(
                number,
                label="c0",
                reference_label=None,
                confidence=sure,
                probabilities=probabilities,
            )
            for number, sure in enumerate((0.45, 0.55, 0.65, 0.75))
        ]
        contents = make_contents(documents, classes=names, shares={}, history=[])
        n_doubtful = {2: 3, 3: 2, 50: 1}[n]
        assert f"doubtful: less than {words} % sure {n_doubtful}" in shown_result(contents)
        assert make_payload(contents)["doubtful"] == least_confidence(n)


def test_an_accuracy_that_was_measured_comes_before_the_expected_one():
    scores = {"accuracy": 0.565, "accuracy_interval": [0.5251, 0.6038], "n": 600}
    page = shown_result(make_contents(scores=scores, expected_accuracy=EXPECTED)).replace(
        "\u202f", " "
    )
    measured = "Measured accuracy 56.5 % (52.5 to 60.4), on 600 documents with a known label"
    assert (
        f"{measured} Expected accuracy 70 % (60 % to 80 %), estimated without these labels" in page
    )
    assert page.count("56.5") == 1
    random = make_contents(scores=scores, expected_accuracy=EXPECTED, n_random=50)
    assert f"{measured} {BY_RANDOM_LABELS}" in shown_result(random).replace("\u202f", " ")
    assert measured in shown_result(make_contents(scores=scores, diagnostics={})).replace(
        "\u202f", " "
    )
    few = shown_result(
        make_contents(scores=scores | {"n": 49}, expected_accuracy=EXPECTED)
    ).replace("\u202f", " ")
    assert "70 % expected accuracy (60 % to 80 %)" in few
    assert "right, of those with a known label 56.5 %" in few
    random = shown_result(make_contents(expected_accuracy=EXPECTED, n_random=50))
    assert BY_RANDOM_LABELS in random.replace("\u202f", " ")
    assert "expected accuracy" not in random


def test_a_warning_is_a_sentence():
    page = shown_body(render_page(make_contents(warnings=["the proportion of 'a' grew", ""])))
    assert '<li dir="auto">The proportion of &#39;a&#39; grew</li>' in page


def test_rounds_have_a_table_where_there_are_several():
    one = {
        "added": {"bad": 0, "good": 0},
        "labels": {"bad": 30, "good": 30},
        "changed": 0,
        "seconds": 0.1,
    }
    assert "by round</h3>" not in render_page(make_contents(history=[one]))
    assert "by round</h3>" in render_page(make_contents(history=[one, one]))


def test_the_foot_tells_what_confidence_is():
    assert "its mean is the expected accuracy" in render_page(
        make_contents(expected_accuracy=EXPECTED)
    )
    assert "calibrated on the source" in render_page(make_contents())


def test_values_of_many_columns_are_cut_to_what_a_page_can_hold():
    more = [(f"column {number}", "x" * 1000) for number in range(12)]
    few = make_payload(make_contents([make_entry(0, more=more)]))["documents"][0]["more"]
    assert [len(value) for _, value in few] == [300] * 12
    many = make_payload(make_contents([make_entry(number, more=more) for number in range(5000)]))[
        "documents"
    ]
    assert sum(len(value) for one in many for _, value in one["more"]) <= 6_000_000


@pytest.mark.parametrize("contents", [make_contents(), make_hostile()])
def test_nothing_but_our_own_script_and_style_can_run(contents):
    elements = Elements(render_page(contents))
    expected = {
        "script": 2,
        "style": 1,
        "link": 1,
        "img": 0,
        "iframe": 0,
        "object": 0,
        "embed": 0,
        "base": 0,
        "image": 0,
    }
    assert {tag: len(elements.all(tag)) for tag in expected} == expected
    for tag, attributes in elements.found:
        assert not [
            name
            for name in attributes
            if name.startswith("on") or name in ("style", "src", "action", "srcset")
        ]
        assert re.fullmatch(r"#\w+|data:,", attributes.get("href", "data:,")), tag
    (policy,) = [
        a["content"]
        for a, _ in elements.all("meta")
        if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    (data, _), (_, script) = elements.all("script")
    assert data == {"type": "application/json", "id": "data"}
    ((_, style),) = elements.all("style")
    for name, text in (("script", script), ("style", style)):
        assert f"{name}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert style == files("gramshift.report").joinpath("assets", "review.css").read_text(
        encoding="utf-8"
    )
    assert script == page_script()


def shown_ngrams(page):
    """Return the lists of n-grams as a screen reader has them: the class, n-grams and numbers."""
    section = re.search(r'<section id="ngrams".*?</section>', page, re.DOTALL)
    if section is None:
        return None

    def read(part):
        heard = re.sub(r'<(\w+) [^>]*aria-hidden="true".*?</\1>', "", part, flags=re.DOTALL)
        return unescape(re.sub("<[^>]*>", "", heard))

    return [
        (
            read(re.search(r"<h3.*?</h3>", card, re.DOTALL)[0]),
            [
                (read(gram), float(figure))
                for gram, figure in re.findall(
                    r'<li><bdi class="gram">(.*?)</bdi>.*?<span class="figure">(.*?)</span></li>',
                    card,
                    re.DOTALL,
                )
            ],
        )
        for card in re.split(r'<div class="card">', section[0])[1:]
    ]


def test_the_strongest_ngrams_of_each_class_are_listed():
    page = render_page(
        make_contents(strongest_ngrams=[[("broke", 4.0), ("e bad ", 1.0)], [("  great", 2.0)]])
    )
    assert shown_ngrams(page) == [
        ("bad", [("broke", 4.0), ("e bad blank ", 1.0)]),
        ("good", [(" blank great", 2.0)]),
    ]
    assert '<span aria-hidden="true">␣␣</span>' in page  # blanks at the ends are seen
    bars = [
        (a["class"], float(b["width"]))
        for (tag, a), (_, b) in pairwise(Elements(page).found)
        if tag == "svg" and "worth" in a["class"]
    ]
    assert bars == [
        ("worth c0", 100),
        ("worth c0", 25),
        ("worth c1", 50),
    ]  # one scale, in the colours of the classes


def test_ngrams_have_the_numbers_of_documents_beside_them():
    page = render_page(
        make_contents(strongest_ngrams=[[("broke", 4.0, 7, 3)], [("great", 2.0, 0, 5)]])
    )
    figures = re.findall(
        r'<span class="figure">(?:<span class="hidden">, in (\w+) documents: </span>)?'
        r"([\d.]+)</span>",
        page,
    )
    assert figures == [
        ("", "4.00"),
        ("source", "7"),
        ("target", "3"),
        ("", "2.00"),
        ("source", "0"),
        ("target", "5"),
    ]
    assert page.count('class="ngram-head') == page.count("<span>weight</span>") == 2
    assert 'class="ngram-head' not in render_page(
        make_contents(strongest_ngrams=[[("broke", 4.0)], []])
    )


def test_problems_in_the_data_have_a_section_with_the_first_of_each_kind():
    doubts = [
        make_issue(
            "doubtful label", f"s.csv {i}", "2% likely", "<b>text</b>", label="good", role="source"
        )
        for i in range(103)
    ]
    page = render_page(
        make_contents(issues=[*doubts, make_issue("empty text", "t.csv 5", "empty text", "")])
    )
    body = shown_body(page)
    assert "<summary>doubtful label <b>103</b></summary>" in body
    assert "<summary>empty text <b>1</b></summary>" in body
    assert body.count("&lt;b&gt;text&lt;/b&gt;") == 100
    assert "Source labels that the other documents contradict" in body
    assert "Problems in the data" not in render_page(make_contents())


def test_it_is_said_where_the_other_problems_are():
    """The output has a row for each target document, and none for source documents."""
    copies = [
        make_issue("copy", f"{i}", "copy of 0", "text", role="source" if i < 105 else "target")
        for i in range(108)
    ]

    def said(**changes):
        body = shown_body(render_page(make_contents(issues=copies, **changes)))
        return re.findall(r'<p class="quiet">(\d more .*?)</p>', re.sub("</?code>", "", body))

    assert said() == [
        "5 more source documents: by gramshift classify --json (key issues, which lists at most"
        " 1000 problems), and in Python in clf.issues_.",
        "3 more target documents: in the column issue of the output, and in Python in clf.issues_.",
    ]
    assert said(options={}) == [
        "5 more source documents: in Python in clf.issues_.",
        "3 more target documents: in Python in clf.issues_.",
    ]


def test_figures_of_ngrams_have_as_many_digits_as_tell_them_apart():
    for largest, figures in (
        (0.02, ("0.0200", "0.0150")),
        (2.0, ("2.00", "1.50")),
        (2000.0, ("2000", "1500")),
    ):
        page = render_page(
            make_contents(strongest_ngrams=[[("a", largest)], [("b", 0.75 * largest)]])
        )
        assert re.findall('<span class="figure">(.*?)</span>', page) == list(figures)


def test_lists_of_many_classes_are_folded_and_empty_ones_say_so():
    names = ["bad", "good", "c", "d", "e"]
    page = render_page(
        make_contents(classes=names, strongest_ngrams=[[("broke", 1.0)], [], [], [], []])
    )
    assert shown_ngrams(page) == [("bad", [("broke", 1.0)]), *((name, []) for name in names[1:])]
    assert page.count("No n-gram indicates this class.") == 4
    assert "<summary>5 classes</summary>" in page
    assert "folded" not in shown_body(
        render_page(make_contents(strongest_ngrams=[[("broke", 1.0)], []]))
    )


@pytest.mark.parametrize("ngrams", [[], [[], []]])
def test_a_model_without_ngrams_has_no_list_of_them(ngrams):
    page = render_page(make_contents(strongest_ngrams=ngrams))
    assert shown_ngrams(page) is None
    assert "Strongest n-grams of each class" not in page


def test_hostile_ngrams_come_out_as_they_went_in():
    page = render_page(make_hostile())
    (_, first), (_, second) = shown_ngrams(page)
    assert [gram for gram, _ in first] == [
        text.replace("\0", "\ufffd").encode("utf-8", "replace").decode() for text in HOSTILE
    ]
    assert "</script><script>window.hacked" not in page
    assert len(second) == 1


def test_hostile_words_come_out_as_they_went_in():
    page = render_page(make_hostile())
    assert page.encode()  # no half of a surrogate pair
    assert "\0" not in page
    ((_, text),) = [(a, text) for a, text in Elements(page).all("script") if a]
    assert not set("<>&\u2028\u2029") & set(text)
    data = json.loads(text)
    assert list(map(units, (one["text"] for one in data["documents"][: len(HOSTILE)]))) == list(
        map(units, HOSTILE)
    )
    assert data["sources"][0][2] == HOSTILE[0]


def test_our_assets_end_no_element_and_name_no_address():
    for name in (*SCRIPTS, "review.css", "report.html.j2"):
        text = files("gramshift.report").joinpath("assets", name).read_text(encoding="utf-8")
        assert not re.search(r"https?:|@import|url\(|innerHTML|eval\(", text)
        assert name.endswith(".j2") or "</" not in text


@pytest.mark.slow
def test_ten_thousand_documents_make_a_page_of_bearable_size():
    texts = [
        f"{number} " + "a review of seven hundred characters " * 19 for number in range(10_000)
    ]
    near = [SimilarDocument(f"s-{number}", "good", 0.25, text) for number, text in enumerate(texts)]
    documents = [
        make_entry(
            number,
            text=text,
            spans=[(10 * k, 10 * k + 7, 0.5, k % 2) for k in range(12)],
            neighbours=near[number : number + 3],
        )
        for number, text in enumerate(texts)
    ]
    assert len(render_page(make_contents(documents)).encode()) < 30_000_000


@pytest.mark.slow
def test_long_texts_are_cut_and_the_page_stays_bearable():
    texts = [
        "</script> " * 10_000,
        *["and words \n" * 10_000] * 9,
    ]  # one in ten, where all that is escaped takes its time
    documents = [make_entry(number, text=texts[number % 10][:100_000]) for number in range(400)]
    page = render_page(make_contents(documents))
    assert len(page.encode()) < 30_000_000
    ((_, text),) = [(a, text) for a, text in Elements(page).all("script") if a]
    one = json.loads(text)["documents"][0]
    assert one["cut"] > 0
    assert len(one["text"]) + one["cut"] == 100_000


def test_the_page_is_written_at_once_or_not_at_all(tmp_path):
    path = tmp_path / "report.html"
    write_page(path, make_contents())
    assert path.read_text(encoding="utf-8") == render_page(make_contents())
    with pytest.raises(KeyError):
        write_page(path, make_contents([make_entry(0, label="no such class")]))
    assert path.read_text(encoding="utf-8") == render_page(make_contents())
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def colours(scheme):
    """The variables of the style sheet: those of :root, and over them those of the dark scheme."""
    style = files("gramshift.report").joinpath("assets", "review.css").read_text(encoding="utf-8")
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    pairs = re.findall(r"--([\w-]+): (#[0-9a-f]{6}|\d+%)", light)
    if scheme == "dark":
        pairs += re.findall(r"--([\w-]+): (#[0-9a-f]{6}|\d+%)", dark.split("\n}")[0])
    return dict(pairs)


def rgb(colour):
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def contrast(first, second):
    def luminance(colour):
        linear = [
            value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
            for value in colour
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough(scheme):
    named = colours(scheme)
    value = {name: rgb(colour) for name, colour in named.items() if colour.startswith("#")}
    pairs = [("ink", name) for name in ("page", "card", "soft", "alarm-page")] + [
        ("quiet", name) for name in ("page", "card", "soft")
    ]
    pairs += [("bad", "bad-page"), ("ink", "bad-page"), ("bad", "card")]
    pairs += [
        ("accent", "card"),
        ("accent", "page"),
        ("on-accent", "accent"),
        ("alarm", "alarm-page"),
        ("alarm", "card"),
    ]
    for ink, ground in pairs:
        assert contrast(value[ink], value[ground]) >= 4.5, (ink, ground)
    for number in range(8):
        mine = value[f"c{number}"]
        assert contrast(mine, value["card"]) >= 3, number  # a shape, no letters
        assert contrast(mine, value["inside"]) >= 4.5, number
        for level in range(1, 6):
            share = int(named[f"m{level}"][:-1]) / 100
            mixed = [share * a + (1 - share) * b for a, b in zip(mine, value["card"], strict=True)]
            assert contrast(value["ink"], mixed) >= 4.5, (number, level)


def test_shares_among_the_diagnostics_are_percentages():
    found = {
        "separability": {"value": 0.8625, "sentence": "Told apart."},
        "size": {"value": 120, "sentence": "Few."},
    }
    page = render_page(make_contents(diagnostics=found))
    assert "separability <b>86\u202f%</b>" in page
    assert "size <b>120</b>" in page
