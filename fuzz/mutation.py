"""Changes of bytes, as steps that are plain values: any of them can be left out and the others still mean something."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Step = list[Any]
MOST_BYTES = 2_000_000  # of an input, so that repetitions show what takes quadratic time and no more
FAR = 1 << 20  # places are drawn up to this and then taken modulo the length
LATIN = "latin-1"  # a character for every byte: how bytes stand in JSON
CHANCES = {"put": 250, "over": 350, "flip": 100, "cut": 120, "copy": 130, "end": 45, "repeat": 5}
NUMBERS = ("00000000", "ffffffff", "01000000", "00000080", "7f", "80", "00", "ff")


def draw_steps(rng: Random, words: Sequence[str], *, tail: int = 0, most: int = 6) -> list[Step]:
    """Draw some changes; ``words`` are what the format is made of, ``tail`` the bytes at the end that deserve half of them."""
    kinds = rng.choices(list(CHANCES), list(CHANCES.values()), k=min(most, int(rng.expovariate(0.6)) + 1))
    return [[kind, _draw_place(rng, tail), *_draw_rest(rng, kind, words)] for kind in kinds]


def _draw_place(rng: Random, tail: int) -> int:
    return -1 - rng.randrange(tail) if tail and rng.random() < 0.5 else rng.randrange(FAR)


def _draw_rest(rng: Random, kind: str, words: Sequence[str]) -> list[Any]:
    """What a change needs beyond its place."""
    rest: dict[str, Callable[[], list[Any]]] = {
        "put": lambda: [rng.choice(words)],
        "over": lambda: [
            rng.choice([rng.choice(words), bytes.fromhex(rng.choice(NUMBERS)).decode(LATIN), chr(rng.randrange(256))])
        ],
        "flip": lambda: [rng.randrange(8)],
        "cut": lambda: [rng.choice([1, 1, 2, 5, 20])],
        "copy": lambda: [rng.randrange(1, 60), rng.randrange(FAR)],
        "end": list,
        "repeat": lambda: [rng.randrange(1, 30), rng.choice([10, 1000, 20_000])],
    }
    return rest[kind]()


def apply_steps(data: bytes, steps: Sequence[Step]) -> bytes:
    """Make the changes, one after another."""
    for step in steps:
        data = _apply(data, *step)[:MOST_BYTES]
    return data


def _apply(data: bytes, what: str, at: int, *more: Any) -> bytes:
    at %= len(data) + 1
    if what in ("put", "over"):
        new: bytes = more[0].encode(LATIN)
        return data[:at] + new + data[at + len(new) * (what == "over") :]
    if what == "flip":
        return data[:at] + bytes([data[at] ^ 1 << more[0]]) + data[at + 1 :] if at < len(data) else data
    if what == "cut":
        rest: bytes = data[at + more[0] :]
        return data[:at] + rest
    if what == "copy":
        to = more[1] % (len(data) + 1)
        copied: bytes = data[at : at + more[0]]
        return data[:to] + copied + data[to:]
    if what == "repeat":
        repeated: bytes = data[at : at + more[0]] * more[1]
        return data[:at] + repeated + data[at:]
    return data[:at]
