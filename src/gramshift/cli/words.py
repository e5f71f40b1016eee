"""Words for people go to stderr; data goes to stdout."""

import json
import sys
from typing import Any


def say(words: str) -> None:
    """One line; what a file brought along cannot move the cursor or colour the terminal."""
    print("".join(_shown(char) for char in words), file=sys.stderr)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))


def _shown(char: str) -> str:
    return char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"
