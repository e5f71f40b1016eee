"""Verdicts: whether labels can be used, in a sentence that a person reads first."""

from gramshift.terminal import count_in_words

MAX_BALANCED = 0.8  # the largest proportion of a class of documents that are balanced
MAX_ERROR_RATIO = 0.8  # errors, divided by those of the most common class alone; above: useless
GOOD_ERROR_RATIO = 0.5
MIN_ACCURACY = 0.6  # of labels that can be used at all, however many classes there are
GOOD_ACCURACY = 0.8
MIN_LOWER_END = 0.65  # of the interval of the accuracy of labels that can be used
MAX_ACCURACY_WIDTH = 0.5  # a wider interval of the accuracy is of no use
MIN_SOURCE_DOCUMENTS = 30  # with fewer the expected accuracy is a guess
MIN_TARGET_TO_ADAPT = 200  # in a smaller target adapting gains little
MIN_AGREEMENT = 0.75  # with the labels without adapting
MAX_ALIKE = 0.6  # separability of domains that are much alike
UNKNOWN_ACCURACY = (  # the verdict on labels of a method that estimates nothing
    "Not known: this method cannot estimate its accuracy."
    " Score it on some documents that you label yourself."
)
OPENINGS = (  # the first words of verdicts, with their tone and rank, the worst first
    ("No, not", "doubtful", 0),
    ("Cannot tell", "doubtful", 1),
    ("Only after a look", "doubtful", 1),
    ("Doubtful", "doubtful", 1),
    ("Yes", "good", 3),
    ("No red flags", "good", 3),
    ("Hardly needed", "good", 3),
    ("", "careful", 2),  # all others
)


def tone_of(verdict: str) -> str:
    """Return the tone of a verdict: "good", "careful" or "doubtful"."""
    return _tone_and_rank(verdict)[0]


def choose_verdict(before: str | None, after: str, n_checked: int, n_wrong: int) -> str:
    """Return the verdict after labels were checked: the worse one if most were wrong.

    ``before`` is the verdict without the corrections, if it is known.
    """
    if before is None or 2 * n_wrong <= n_checked:
        return after
    return before if _tone_and_rank(before)[1] < _tone_and_rank(after)[1] else after


def _tone_and_rank(verdict: str) -> tuple[str, int]:
    return next((tone, rank) for words, tone, rank in OPENINGS if verdict.startswith(words))


def judge_labels(
    expected: dict[str, float],
    largest: float,
    warnings: list[str],
    n_known: int | None = None,
    *,
    n_source: int | None = None,
    n_random: int = 0,
) -> str:
    """Return the verdict by accuracy, compared with that of the most common class alone.

    ``expected`` is the accuracy, "value", with its interval, "low" and "high": measured on
    ``n_known`` documents with known labels, or in part on ``n_random`` random ones. ``largest`` is
    the proportion of the most common class, ``n_source`` the number of labelled documents.
    """
    value, low, high = (expected[name] for name in ("value", "low", "high"))
    is_measured = n_known is not None or n_random > 0
    words = _accuracy_in_words(expected, n_known, n_random)
    unclear = None
    if n_source is not None and n_source < MIN_SOURCE_DOCUMENTS and not is_measured:
        found = f"only {count_in_words(n_source, 'labelled source document')}"
        few = f"{found}, too few to say how many labels are right"
        unclear = f"{few}. Label more of them, or check some labels by hand"
    elif high - low > MAX_ACCURACY_WIDTH:
        advice = "Check some by hand, or label more documents together"
        unclear = f"{words}, too wide an interval to say. {advice}"
    if unclear is not None and value >= MIN_ACCURACY:
        return f"Cannot tell: {unclear}."
    is_useless = 1 - value > MAX_ERROR_RATIO * (1 - largest)
    alone = f"the most common class alone ({100 * largest:.0f})"
    if is_useless and largest > MAX_BALANCED and value >= GOOD_ACCURACY:
        return f"With care: {words}, and {alone} would reach about as many. Check the rare classes."
    if is_useless or value < MIN_ACCURACY:
        than = f", {'hardly' if value > largest else 'no'} more than {alone}" if is_useless else ""
        more = "more documents by hand" if is_measured else "some documents by hand first"
        return f"No, not as they are: {words}{than}. Label {more}."
    if warnings:
        return f"Only after a look: {words}, but see the warnings."
    is_good = value >= GOOD_ACCURACY and 1 - value <= GOOD_ERROR_RATIO * (1 - largest)
    if not is_good or low < MIN_LOWER_END:
        return f"With care: {words}. Check those that matter, least sure first."
    return f"Yes, for most purposes: {words}. Check the least sure ones."


def _accuracy_in_words(expected: dict[str, float], n_known: int | None, n_random: int) -> str:
    """Return the accuracy in words: measured, measured in part, or expected."""
    value, low, high = (f"{100 * expected[name]:.0f}" for name in ("value", "low", "high"))
    if n_known is not None:
        return f"{value}% of the {n_known} documents with known labels are right ({low} to {high})"
    if n_random:
        return measured_in_words(expected, n_random)
    return f"about {value} of 100 labels are expected to be right ({low} to {high})"


def measured_in_words(expected: dict[str, float], n_random: int) -> str:
    """Return the accuracy that random labels and the estimate give together, in words."""
    value, low, high = (f"{expected[name]:.0%}" for name in ("value", "low", "high"))
    return f"{value} of labels right ({low} to {high}), {by_random_labels(n_random)}"


def by_random_labels(n_random: int) -> str:
    """Return where such an accuracy comes from, in words."""
    return f"by {n_random} random labels and the estimate together"


def judge_adapting(
    warnings: list[str], separability: float | None, same: float, n_target: int, name: str
) -> str:
    """Return the verdict on adapting, for labels without an expected accuracy.

    ``same`` is the fraction of labels that are the same without adapting; these are called
    ``name``.
    """
    if warnings:
        choice = "the safer choice" if same < 1 else "the same"
        return f"Doubtful: see the warnings. The {name} labels are {choice}."
    if n_target < MIN_TARGET_TO_ADAPT:
        few = count_in_words(n_target, "target document")
        return f"Unclear with only {few}: the {name} labels are usually as good."
    if separability is not None and separability < MAX_ALIKE:
        return (
            f"Hardly needed: source and target are alike, so the {name} labels are about as good."
        )
    if same < MIN_AGREEMENT:
        return (
            "Look closer: adapting changed many labels."
            " Check some of those that differ before you trust either."
        )
    return (
        f"No red flags: the domains differ, most labels agree with the {name} ones,"
        " and no class grew at the cost of others."
    )
