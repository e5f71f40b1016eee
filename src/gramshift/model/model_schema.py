"""What files of classifiers hold: the head and the arrays, and what each of them must be before anything is made of it."""

from typing import Any

from gramshift.runtime.schema import Anything, Array, Flag, Listed, Number, Plain, Record, SchemaError, Sizes, Text
from gramshift.text.documents import DIGEST

PRECOMPUTED = "precomputed"  # a kernel matrix of the user
ROWS = "rows"  # the cosine of rows of numbers, such as embeddings
FORMAT = "gramshift-model"
FORMAT_VERSION = 1
MOST_CLASSES = 5_000  # scores of 4096 texts take 160 MB then
LONGEST_NGRAM = 1_000  # what a file may ask to compare texts by; no fit that is of use has a tenth of it
MOST_PARTS = 64
SMALLEST = 5e-324  # of what must be above 0
OF_THE_MACHINE = ("n_jobs", "memory_limit")
"""Parameters that are up to whoever loads a file: they are neither saved nor taken from one."""

COUNT = Number(0, 2**62, whole=True)
PROPORTIONS = Listed(Number(0, 1), "classes")
STEP = Record(
    {"added": Listed(COUNT, "classes"), "labels": Listed(COUNT, "classes"), "changed": COUNT, "seconds": Number(0)},
    {"class_prior": PROPORTIONS},
)
TOLD = Record(
    {
        **dict.fromkeys(("unlabelled", "blank", "random"), COUNT),
        **dict.fromkeys(("corrected", "without_domain"), Listed(COUNT)),
    },
    {
        "class_prior": Record(
            dict.fromkeys(("source", "estimated", "used", "limits"), PROPORTIONS) | {"errors": Listed(Number(0), "classes")}
        ),
        "expected": Record({name: Number(0, 1) for name in ("value", "low", "high")}),
        "sources": Listed(Record({"domain": Text(10_000)}, others=Number())),
        "origins": Anything(),
    },
)
MODEL_HEAD = Record(
    {
        "format": Text(20),
        "format_version": Number(FORMAT_VERSION, FORMAT_VERSION, whole=True),
        "versions": Record({}, others=Text(100)),
        "saved": Text(100),
        "classes": Record({"dtype": Text(20), "values": Listed(Anything(), "classes", MOST_CLASSES)}),
        "parameters": Record({}, others=Plain()),
        "settings": Record({}, others=Plain()),
        "steepness": Number(SMALLEST),
        "normalized": Flag(),
        "history": Listed(STEP),
        "told": TOLD,
        "parts": Number(0, MOST_PARTS, whole=True),
        "texts": Flag(),
        "columns": COUNT,
    }
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


def strings(kind: str, size: str | int, number: str = "") -> dict[str, Array]:
    """Strings one after another, as bytes and as the places where they end."""
    n_bytes = f"{kind}_bytes{number}"
    ends = Array("<i8", (size,), low=0, most=n_bytes, rising="ends")
    return {n_bytes: Array("<u1", (n_bytes,)), f"{kind}_ends{number}": ends}


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


def declare_model(head: Any, sizes: Sizes) -> dict[str, Array]:
    """Return the arrays that a file with this head must have, if it is one that this version reads."""
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise SchemaError("it does not call itself a Gramshift model")
    if head.get("format_version") != FORMAT_VERSION:
        found, versions = str(head.get("format_version"))[:20], head.get("versions")
        made_by = str(versions.get("gramshift"))[:20] if isinstance(versions, dict) else "another version"
        raise SchemaError(f"it has format {found}, made by gramshift {made_by}; this one reads {FORMAT_VERSION}")
    MODEL_HEAD.check("model.json", head, sizes)
    return arrays_of(head)


def arrays_of(head: dict[str, Any]) -> dict[str, Array]:
    """Return the arrays that a file with this head must have.

    A model of n-grams has ``parts``, one for each kernel, and may have texts; any other has a coefficient for each document,
    and what new documents are compared with: texts, rows of numbers in ``columns``, or nothing where similarities are given.
    """
    arrays, kernel = dict(ARRAYS), head["settings"].get("kernel")
    n_parts, has_texts = head["parts"], head["texts"]
    takes_texts = not isinstance(kernel, str) or kernel not in (ROWS, PRECOMPUTED)
    if takes_texts != (n_parts > 0 or has_texts):
        words = "it holds neither texts nor n-grams" if takes_texts else "it holds texts or n-grams"
        raise SchemaError(f"{words}, which does not go with its kernel")
    for number in range(n_parts):
        arrays |= of_part(number)
    if n_parts:
        arrays |= DIGESTS
    if kernel == ROWS:
        arrays["rows"] = Array("<f8", ("documents", head["columns"]))
    if has_texts:
        arrays |= strings("text", "documents")
    if has_texts or not n_parts:
        arrays["coefficients"] = Array("<f8", ("documents", "classes"))
    if head["told"].get("class_prior") is not None:
        arrays |= UNADAPTED_CODES
    return arrays
