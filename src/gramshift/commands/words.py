"""Words for people go to stderr; data goes to stdout."""

import json
import sys
from typing import Any

from gramshift.text.terminal import visible


def say(words: str) -> None:
    """One line; what a file brought along cannot move the cursor or colour the terminal."""
    print(visible(words), file=sys.stderr)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))
