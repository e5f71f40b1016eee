"""Words for people go to stderr; data goes to stdout."""

import json
import sys
from typing import Any


def say(words: str) -> None:
    print(words, file=sys.stderr)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))
