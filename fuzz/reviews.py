"""The target ``review``: files of the paper's data set, which look like XML and are not."""

from pathlib import Path
from random import Random

from fuzz.made_up import cell, sentence
from fuzz.mutation import LATIN, apply_steps, draw_steps
from fuzz.targets import Case, Target, Wrong, may_refuse
from gramshift.data.reviews import digest, read_review_file

TAGS = ["review_text", "title", "rating", "unique_id", "asin", "product_name", "helpful", "date", "reviewer", "review"]
WORDS = [
    "<review>\n", "</review>\n", "<review>", "</review>", "<review_text>\n", "</review_text>\n", "<title>\n",
    "</title>\n", "<reviews>\n", "</reviews>\n", "\n", "\r\n", "\r", " ", "\t", "<", ">", "</",
    "<?xml version='1.0'?>\n", "<a>\n", "</a>\n", "\xff", "\x80", "\x81", "\xc3\xa9", "\xef\xbb\xbf", "\0", "\x1b",
    "&amp;", "<_>\n", "</_>\n", "<A>", "text",
]  # fmt: skip


class Reviews(Target):
    """Reviews between tags."""

    name = "review"
    cut = ("steps", "reviews", "data")

    def draw(self, rng: Random) -> Case:
        reviews = []
        for _ in range(rng.randrange(1, 5)):
            tags = ["review_text", *(rng.choice(TAGS[:-1]) for _ in range(rng.randrange(4)))]
            rng.shuffle(tags)
            reviews.append([[tag, _value(rng)] for tag in tags])
        return {
            "reviews": reviews,
            "wrapped": rng.random() < 0.1,
            "mark": rng.random() < 0.05,
            "encoding": rng.choice(["utf-8", "utf-8", "cp1252"]),
            "end": rng.choice(["\n", "\n", "\r\n"]),
            "steps": draw_steps(rng, WORDS) if rng.random() < 0.85 else [],
        }

    def run(self, case: Case, folder: Path) -> None:
        path = folder / "in.review"
        path.write_bytes(make_bytes(case))
        with may_refuse(str(path)):
            found = read_review_file(path)
        digest(found.reviews)
        if any("review_text" not in review.fields for review in found.reviews):
            raise Wrong("a review without its text was accepted")
        if "data" in case or case["steps"]:
            return
        expected: list[dict[str, list[str]]] = []
        for review in case["reviews"]:
            expected.append({})
            for tag, value in review:
                expected[-1].setdefault(tag, []).append(value)
        if [review.fields for review in found.reviews] != expected:
            raise Wrong("fields are not read as they were written", repr([review.fields for review in found.reviews])[:500])

    def flatten(self, case: Case) -> Case:
        return case if "data" in case else {"data": make_bytes(case).decode(LATIN)}


def _value(rng: Random) -> str:
    """A value that stays what it is: no line of it begins like a tag, and nothing is stripped from it."""
    text = f"{sentence(rng, good=rng.random() < 0.5)} {cell(rng)}{cell(rng)} x" if rng.random() < 0.8 else ""
    return text.replace("\r\n", "\n").replace("\r", "")


def make_bytes(case: Case) -> bytes:
    """The file of a case; Windows-1252 only where that has all characters and the bytes are no UTF-8 by chance."""
    if "data" in case:
        data: str = case["data"]
        return data.encode(LATIN)
    lines = []
    for review in case["reviews"]:
        lines.append("<review>")
        for tag, value in review:
            lines += [f"<{tag}>", value, f"</{tag}>"]
        lines.append("</review>")
    if case["wrapped"]:
        lines = ['<?xml version="1.0"?>', "<reviews>", *lines, "</reviews>"]
    whole = "".join(line + case["end"] for line in lines)
    data_bytes = whole.encode()
    if case["encoding"] == "cp1252" and whole.isascii():
        data_bytes = whole.encode("cp1252")
    if case["mark"]:
        data_bytes = b"\xef\xbb\xbf" + data_bytes
    return apply_steps(data_bytes, case["steps"])


TARGET = Reviews()
