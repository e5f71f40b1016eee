"""What files of classifiers hold: the head and the arrays, and what each of them must be before anything is made of it."""

from typing import Any

from gramshift.runtime.schema import Anything, Array, Flag, Listed, Number, Plain, Record, SchemaError, Sizes, Text
from gramshift.text.corpus import DIGEST

FORMAT = "gramshift-model"
FORMAT_VERSION, OF_NGRAMS, OF_ROWS = 2, 4, 5
MOST_CLASSES = 5_000  # scores of 4096 texts take 160 MB then
LONGEST_NGRAM = 1_000  # what a file may ask to compare texts by; no fit that is of use has a tenth of it
MOST_PARTS = 64
SMALLEST = 5e-324  # of what must be above 0
OF_THE_MACHINE = ("n_jobs", "memory_limit")
"""Parameters that are up to whoever loads a file: they are neither saved nor taken from one."""

COUNT = Number(0, 2**62, whole=True)
STEP = {"added": Listed(COUNT, "classes"), "changed": COUNT, "seconds": Number(0)}
LABELS = {"labels": Listed(COUNT, "classes")}
PROPORTIONS = Listed(Number(0, 1), "classes")
STARTS = {  # what the heads of all models begin with
    "format_version": Number(whole=True),
    "checksums": Record({}, others=Text(64)),
    "classes": Record({"dtype": Text(20), "values": Listed(Anything(), "classes", MOST_CLASSES)}),
    "parameters": Record({}, others=Plain()),
    "steepness": Number(SMALLEST),
}
VERSIONS = {"versions": Record({}, others=Text(100)), "saved": Text(100)}  # that early files need not have
TOLD = Record(
    {"unlabelled": COUNT, "blank": COUNT},
    {
        "corrected": COUNT,
        "without_domain": Listed(COUNT),
        "random": COUNT,
        "class_prior": Record(
            dict.fromkeys(("source", "estimated", "used", "limits"), PROPORTIONS) | {"errors": Listed(Number(0), "classes")}
        ),
        "expected": Record({name: Number(0, 1) for name in ("value", "low", "high")}),
        "sources": Listed(Record({"domain": Text(10_000)}, others=Number())),
    },
    others=Anything(),
)
MODEL_HEAD = Record(
    STARTS
    | {
        "settings": Record({}, others=Plain()),
        "normalized": Flag(),
        "history": Listed(Record(STEP, LABELS | {"class_prior": PROPORTIONS}, others=Anything())),
    },
    VERSIONS | {"told": TOLD, "parts": Number(1, MOST_PARTS, whole=True), "texts": Flag()},
    others=Anything(),  # of versions to come: nobody looks at it
)

BY_CLASS = Array("<f8", ("target", "classes"))
ARRAYS = {
    "labeled_iter": Array("<i8", ("documents",), low=-1, zeros="source", others="target"),
    "source_codes": Array("<i8", ("source",), low=0, below="classes"),
    "known_codes": Array("<i8", ("documents",), low=-1, below="classes"),
    "intercepts": Array("<f8", ("classes",)),
    "scores": BY_CLASS,
    "held_out_scores": BY_CLASS,
}
UNADAPTED_CODES = {"unadapted_codes": Array("<i8", ("target",), low=0, below="classes")}
DIGESTS = {"digests": Array("<u1", ("target", DIGEST))}
ROWS = {  # of numbers, in place of texts
    "rows": Array("<f8", ("documents", "features")),
    "coefficients": Array("<f8", ("documents", "classes")),
}


def strings(kind: str, size: str | int, number: str = "") -> dict[str, Array]:
    """Strings one after another, as bytes and as the places where they end."""
    n_bytes = f"{kind}_bytes{number}"
    ends = Array("<i8", (size,), low=0, most=n_bytes, rising="ends")
    return {n_bytes: Array("<u1", (n_bytes,)), f"{kind}_ends{number}": ends}


def of_texts(*, precomputed: bool) -> dict[str, Array]:
    """The documents that new ones are compared with; there are none where similarities are given."""
    return strings("text", 0 if precomputed else "documents") | {"coefficients": Array("<f8", ("documents", "classes"))}


def of_part(number: int) -> dict[str, Array]:
    """The n-grams of one kernel; what else holds for its nodes the table checks that they are put into."""
    nodes, letters, features = (f"{name} {number}" for name in ("nodes", "alphabet", "features"))
    arrays = {
        "alphabet": Array("<u4", (letters,), low=0, most=0x10FFFF),
        "weights": Array("<f8", (features,), low=SMALLEST),
        "worth": Array("<f8", (features, "columns")),
        "parents": Array("<u4", (nodes,), low=0, below=nodes),
        "characters": Array("<u4", (nodes,), low=0, most=letters),
        "features": Array("<i4", (nodes,), low=-1, below=features),
    }
    return {f"{name}_{number}": array for name, array in arrays.items()} | strings("word", f"words {number}", f"_{number}")


def declare_model(head: dict[str, Any], sizes: Sizes) -> dict[str, Array]:
    """The arrays that a file must have, if its head is that of a classifier."""
    MODEL_HEAD.check("model.json", head, sizes)
    return arrays_of(head)


def arrays_of(head: dict[str, Any]) -> dict[str, Array]:
    """The arrays that a file with this head must have."""
    arrays = dict(ARRAYS)
    if head["format_version"] == OF_NGRAMS:
        n_parts, texts = head.get("parts"), head.get("texts")
        if n_parts is None or texts is None:
            raise SchemaError("it does not say how many kernels it has, or whether it holds texts")
        arrays |= of_texts(precomputed=False) if texts else {}
        for number in range(n_parts):
            arrays |= of_part(number)
        arrays |= DIGESTS
    elif head["format_version"] == OF_ROWS:
        arrays |= ROWS
    else:
        arrays |= of_texts(precomputed=head["settings"].get("kernel") == "precomputed")
    if (head.get("told") or {}).get("class_prior") is not None:
        arrays |= UNADAPTED_CODES
    return arrays
