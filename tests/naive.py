"""String kernels as one would write them on a blackboard; slow, and easy to believe."""

import unicodedata
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import combinations
from math import exp, log, sqrt

# the names of characters of scripts without blanks, which are words by themselves, begin with these
WITHOUT_BLANKS = (
    "THAI ", "LAO ", "MYANMAR ", "KHMER ", "HIRAGANA ", "KATAKANA ", "KATAKANA-HIRAGANA ",
    "COMBINING KATAKANA-HIRAGANA ",
    "HALFWIDTH KATAKANA", "CJK ", "IDEOGRAPHIC ",
)  # fmt: skip
WITH_BLANKS = (  # rare exceptions: annotation marks, additions for other languages and old texts
    *range(0x302A, 0x302E), *range(0x3192, 0x3196), *range(0xA9E0, 0xAA80),
    *range(0x1AFF0, 0x1B168), *range(0x1D372, 0x1D377),
)  # fmt: skip
SAME_MARK = {"¡": "!", "！": "!", "‼": "!", "¿": "?", "？": "?", "؟": "?", "⁇": "?", "\u037e": "?"}
SAME_MARK |= {"\u2010": "-", "\u2011": "-"}


def prepare(text):
    return " ".join(text.lower().split())


@lru_cache(1000)
def place_of(char):
    """Return "in" for a part of a word, "alone" for a word by itself, "between" for a separator."""
    category, name, ascii = unicodedata.category(char), unicodedata.name(char, ""), ord(char) < 128
    without_blanks = name.startswith(WITHOUT_BLANKS) and ord(char) not in WITH_BLANKS
    if char in "!?":
        return "alone"
    if (
        char.isspace()
        or char in '.,;:()"'
        or name in ("ZERO WIDTH SPACE", "VARIATION SELECTOR-15", "VARIATION SELECTOR-16")
    ):
        return "between"
    if name.startswith("EMOJI MODIFIER FITZPATRICK"):  # the colour of a skin
        return "between"
    if category == "So" or (
        category[0] in "LMN" and without_blanks
    ):  # symbols; letters, marks, numbers
        return "alone"
    return "between" if category[0] == "P" and not ascii and char not in "·׳״" else "in"


def words_at(text):
    """(start, stop, word) of all words, character by character."""
    found, begun, word = [], 0, ""
    for at, written in enumerate(f"{text} "):
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        between_letters = all(one.isalnum() or one == "_" for one in (before, after))
        char = "'" if written == "’" and between_letters else SAME_MARK.get(written, written)
        place = place_of(char)
        if place == "in":
            begun = begun if word else at
            word += char
            continue
        if word:
            found.append((begun, at, word))
            word = ""
        if place == "alone":
            found.append((at, at + 1, char))
    return found


def words(text):
    return [word for _, _, word in words_at(text)]


def words_with_opening(text):
    """The words, and the first eight of a text of 200 characters once more, with a mark."""
    opening = words(text)[:8] if len(text) >= 200 else []
    return words(text) + ["«" + word for word in opening]


def ngrams(text, ngram_range):
    lo, hi = ngram_range
    return Counter(text[i : i + n] for n in range(lo, hi + 1) for i in range(len(text) - n + 1))


def kernel(kind, a, b):
    if kind == "presence":
        return sum(1 for gram in a if gram in b)
    if kind == "intersection":
        return sum((a & b).values())
    return sum(count * b[gram] for gram, count in a.items())


def gram(kind, texts, others, ngram_range):
    """Of texts as they are, without any text steps."""
    rows, columns = (
        [ngrams(text, ngram_range) for text in texts],
        [ngrams(text, ngram_range) for text in others],
    )
    # the smaller one first, because kernels go through that one; they are symmetric
    return [[kernel(kind, *sorted((row, column), key=len)) for column in columns] for row in rows]


def normalized_gram(kind, texts, others, ngram_range):
    counts = gram(kind, texts, others, ngram_range)
    row_self = [gram(kind, [text], [text], ngram_range)[0][0] for text in texts]
    col_self = [gram(kind, [text], [text], ngram_range)[0][0] for text in others]
    return [
        [value / sqrt(r * c) if r and c else 0.0 for value, c in zip(row, col_self, strict=True)]
        for row, r in zip(counts, row_self, strict=True)
    ]


def sequences(text, ngram_range, decay):
    """Return the weight of every sequence of characters: the sum of decay ** span."""
    lo, hi = ngram_range
    weights = defaultdict(int)
    for n in range(lo, min(hi, len(text)) + 1):
        for places in combinations(range(len(text)), n):
            weights["".join(text[k] for k in places)] += decay ** (places[-1] - places[0] + 1)
    return weights


def subsequence(a, b, ngram_range, decay):
    a, b = sequences(a, ngram_range, decay), sequences(b, ngram_range, decay)
    return sum(weight * b[sequence] for sequence, weight in a.items() if sequence in b)


def subsequence_by_recursion(a, b, ngram_range, decay):
    """Compute the kernel as Lodhi and others define it: before and now are K', last_step K''."""
    total, before = 0, [[1] * (len(b) + 1) for _ in range(len(a) + 1)]
    for n in range(1, ngram_range[1] + 1):
        now = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            last_step = 0
            for j in range(1, len(b) + 1):
                last_step *= decay
                if a[i - 1] == b[j - 1]:
                    last_step += decay**2 * before[i - 1][j - 1]
                    total += decay**2 * before[i - 1][j - 1] * (n >= ngram_range[0])
                now[i][j] = decay * now[i - 1][j] + last_step
        before = now
    return total


def local_rank(a, b, ngram_range, max_offset, sigma):
    """exp(-distance / (2 sigma ** 2)); the distance as one reads it in the definition."""
    distance = n_ngrams = 0
    if min(len(a), len(b)) < ngram_range[0]:
        return 0.0
    for one, other in ((a, b), (b, a)):
        for n in range(ngram_range[0], ngram_range[1] + 1):
            for i in range(len(one) - n + 1):
                offsets = [
                    abs(i - j)
                    for j in range(len(other) - n + 1)
                    if one[i : i + n] == other[j : j + n]
                ]
                distance += min([*offsets, max_offset])
                n_ngrams += 1
    return exp(-distance / (max_offset * n_ngrams) / (2 * sigma**2))


def surprise(inside, n_inside, outside, n_outside):
    """Return |log(a / b)|, a and b being found over expected inside and outside, plus one each.

    If it were as common in both, each would have its part of all documents that have it.
    """
    having, n = inside + outside, n_inside + n_outside
    often_inside = (inside + 1) / (having * n_inside / n + 1)
    often_outside = (outside + 1) / (having * n_outside / n + 1)
    return abs(log(often_inside / often_outside))


def ngram_weight(gram, others, powers, domains, classes):
    """``others`` are the sets of n-grams of the documents that give weights."""
    having = [gram in one for one in others]
    if sum(having) < 2 and ("consistency" in powers or "classes" in powers):
        return 0.0
    result = log(len(others) / max(1, sum(having))) ** powers.get("idf", 0)
    if "consistency" in powers:
        by_domain = [
            [has for has, d in zip(having, domains, strict=True) if d == domain]
            for domain in set(domains)
        ]
        shares = [sum(one) / len(one) for one in by_domain]
        result *= (min(shares) / max(shares)) ** powers["consistency"]
    if "classes" in powers:
        known, best = (
            [(has, c) for has, c in zip(having, classes, strict=True) if c is not None],
            0.0,
        )
        for c in {c for _, c in known}:
            inside, outside = (
                [has for has, d in known if d == c],
                [has for has, d in known if d != c],
            )
            if inside and outside:
                best = max(best, surprise(sum(inside), len(inside), sum(outside), len(outside)))
        result *= best ** powers["classes"] if best >= 0.2 else 0.0
    return result


def weighted_gram(texts, others, ngram_range, powers, *, domains, classes):
    rows, columns = (
        [set(ngrams(text, ngram_range)) for text in texts],
        [set(ngrams(text, ngram_range)) for text in others],
    )
    weights = {
        gram: ngram_weight(gram, columns, powers, domains, classes)
        for gram in set().union(*columns)
    }
    return [[sum(weights[gram] for gram in row & column) for column in columns] for row in rows]


def weighted_self(text, others, ngram_range, powers, *, domains, classes):
    """k(text, text) with the weights that others give, n-grams included that none of them has."""
    columns = [set(ngrams(other, ngram_range)) for other in others]
    return sum(
        ngram_weight(gram, columns, powers, domains, classes)
        for gram in set(ngrams(text, ngram_range))
    )
