"""Words for people: harmless in a terminal, and on stderr; data goes to stdout."""

import json
import sys
from typing import Any


def visible(text: str) -> str:
    """Replace characters that would rearrange a terminal's line or hide."""
    return "".join(char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}" for char in text)


def say(words: str) -> None:
    """Write one line to stderr; what a file brought along cannot move the cursor or colour the terminal."""
    print(visible(words), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a value as one line of JSON, with escapes where standard output cannot have every character."""
    print(json.dumps(value, ensure_ascii=not (sys.stdout.encoding or "").lower().startswith("utf")))
