"""Made-up texts, cells and names: tame ones that say something, and such as programs stumble over."""

from random import Random

GOOD = ["good", "great", "lovely", "solid", "bright", "clear", "gentle", "fresh", "useful", "happy"]
BAD = ["bad", "poor", "broken", "dull", "awful", "noisy", "stale", "bitter", "weak", "useless"]
THINGS = [
    "film",
    "pan",
    "knife",
    "story",
    "kettle",
    "song",
    "plot",
    "handle",
    "actor",
    "lid",
    "scene",
    "spoon",
    "camera",
    "stove",
]
LINKS = ["the", "a", "and", "but", "with", "so", "too", "very", "of", "in", "it", "was", "is", "this"]

ATOMS = [
    "", " ", "a", "0012", "1.0", "NaN", "nan", "NA", "None", "null", "True", '"', '""', "'", ",", ";", "\t", "|", "\n",
    "\r\n", "\r", "\0", "\ufeff", "é", "e\u0301", "\U0001f600", "\u2028", "\u2029", "\x85", "\x1c", "\x0b", "\x0c",
    "=1+1", "@SUM(1)", "-1", "+1", "\\", "\\n", '\\"', "\u202e", "\u200b", "\x1a", "ß", "İ", "\x7f", "{", "}", "[1]",
    "-0", "1e5", "  lead", "trail  ", "id", "text", "label", "\x1b[31m", "日本語", "שלום", "1e400", "9007199254740993",
    "x" * 300,
]  # fmt: skip
HALVES = ["\ud800", "\udfff", "\ud83d"]

HOSTILE = [
    "</script><script>x=1</script>", "<!--<script>", "-->", "<img src=x onerror=x()>", "\"'><svg onload=x()>",
    "javascript:x()", "{{ 7 * 7 }}", "{% raw %}", "${x}", "\u202e", "\u2067", "\u2028", "\0", "\x1b[31m", "\ufeff",
    "\ud83d", "\ude00", "]]>", "&lt;b&gt;&amp;<b>", "&#60;b&#62;", "</title>", "</textarea>", "</style><b>",
    "<plaintext>", "' style='x", '" onclick="x', "`", "\\u003c", "\\", "\n", "__proto__", "constructor", "<", ">", "&",
    '"', "'", "=", "/", "<!doctype html>", "<a href=//x>", "\x0c", "\x0b", "</svg>", "<![CDATA[", "%3Cscript%3E", "é",
    "\U0001f600", "",
]  # fmt: skip


def sentence(rng: Random, *, good: bool) -> str:
    """A tame sentence of a good or a bad review."""
    words = [rng.choice(LINKS), rng.choice(GOOD if good else BAD), rng.choice(THINGS), rng.choice(LINKS)]
    return " ".join([*words, rng.choice(GOOD if good else BAD), rng.choice(THINGS)])


def cell(rng: Random, *, halves: bool = False) -> str:
    """A string that a table may hold; with ``halves`` now and then half a surrogate pair."""
    parts = [rng.choice(ATOMS) for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))]
    if halves and rng.random() < 0.05:
        parts.append(rng.choice(HALVES))
    return "".join(parts)


def hostile(rng: Random) -> str:
    """A string that would like to be more than text."""
    return "".join(rng.choice(HOSTILE) for _ in range(rng.choice([1, 1, 2, 3])))
