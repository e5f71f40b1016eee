"""What people read, harmless in a terminal: results on stdout, messages on stderr."""

import json
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from rich.cells import cell_len, set_cell_size

from gramshift.errors import InputError

Say = Callable[[str], None]
"""Writes one line for people, such as ``say``."""
MAX_TABLE_CLASSES = 12  # more classes are listed in one line
MAX_CLASS_COLUMNS = 30  # of the name of a class in the table
# a superset of the characters to hide, each of which is then checked
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\U0010ffff]")


def shorten(text: str, most: int) -> str:
    """Return a text of at most ``most`` columns of a terminal, cut with an ellipsis."""
    shown = visible(text)
    return (
        shown
        if cell_len(shown) <= most
        else set_cell_size(shown, most - 1).rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    )


def visible(text: str) -> str:
    """Replace characters that would rearrange a terminal's line or hide."""
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def join_words(words: Sequence[str]) -> str:
    """Write a command as one line for a shell."""
    return " ".join(map(quote_word, words))


def quote_word(word: str) -> str:
    r"""Quote a word for a shell; characters that are not printable become bytes, $'\xc2'."""
    if word.isprintable():
        return shlex.quote(word)
    shown = (
        char
        if char.isprintable() and char not in "\\'"
        else "".join(f"\\x{byte:02x}" for byte in os.fsencode(char))
        for char in word
    )
    return f"$'{''.join(shown)}'"


@dataclass(frozen=True)
class Line:
    """A line for people, and its style in a terminal."""

    words: str
    style: str = ""
    """Of rich: "bold", "red"."""
    indent: int = 0
    is_command: bool = False
    """To be copied: it is printed as one line, however long it is."""

    def plain(self) -> str:
        """Return the line with its indentation, and hidden characters made visible."""
        return " " * self.indent + visible(self.words)


def say(words: str) -> None:
    """Write one line to stderr; control characters in it have no effect."""
    if hasattr(sys.stderr, "rich_proxied_file"):  # rich shows a progress line and wraps the text
        print(visible(words), file=sys.stderr)
    else:
        tell([Line(words)])


def tell(lines: Iterable[Line]) -> None:
    """Write lines to stderr: in a terminal wrapped and in colour, unless NO_COLOR is set."""
    if sys.stderr is None:  # print would take stdout in its place
        return
    if is_terminal(sys.stderr):
        _print_styled(lines, stderr=True)
        return
    with suppress(OSError):  # a full disk must not stop the work
        for line in lines:
            print(line.plain(), file=sys.stderr)


def _print_styled(lines: Iterable[Line], *, stderr: bool) -> None:
    from rich.console import Console  # late: it takes as long as all other imports of --help
    from rich.text import Text

    console = Console(stderr=stderr, highlight=False)
    for line in lines:
        text = Text(visible(line.words), style=line.style)
        for part in [text] if line.is_command else text.wrap(console, console.width - line.indent):
            part.rstrip()
            console.print(" " * line.indent, part, sep="", soft_wrap=True)


def show_lines(lines: Iterable[Line]) -> None:
    """Write lines for people to stdout, styled and wrapped if it is a terminal."""
    require_stdout("what was found is printed there")
    if is_terminal(sys.stdout):
        _print_styled(lines, stderr=False)
    else:
        _write("\n".join(line.plain() for line in lines))


def summarize(lines: Iterable[Line], output: str | None = None) -> None:
    """Write a summary to stdout, or to stderr where stdout has the output itself or is closed."""
    if output == "-" or sys.stdout is None:
        tell(lines)
    else:
        show_lines(lines)


def show(words: str) -> None:
    """Write text for people to stdout; control characters in it have no effect."""
    _write("\n".join(map(visible, words.split("\n"))))


def with_string_keys(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a dict whose keys are strings, as JSON needs them."""
    return {str(name): value for name, value in values.items()}


def print_json(value: Any) -> None:
    """Print a value as one line of JSON, with escapes for characters that cannot be shown."""
    encoding = getattr(sys.stdout, "encoding", None) or ""
    text = json.dumps(value, ensure_ascii=not encoding.lower().startswith("utf"))
    _write(
        _HIDDEN.sub(
            lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text
        )
    )


def _write(text: str) -> None:
    require_stdout("what was found is printed there")
    print(text, flush=True)  # so that a full disk is an error here, and not when Python ends


def require_stdout(why: str) -> None:
    """Raise an error if standard output is closed."""
    if sys.stdout is None:
        raise InputError(f"standard output is closed, and {why}")


def is_terminal(stream: IO[str] | None) -> bool:
    """Return True if a stream is an open terminal."""
    return stream is not None and stream.isatty()


def fill_standard_files() -> None:
    """Open the null device for closed standard files, so that no other file takes their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def count_in_words(n: int, noun: str) -> str:
    """Return a number with a noun, in the plural unless the number is 1."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def labelled_in_words(found: dict[str, Any]) -> str:
    """Return the number of documents with and without a label, in words."""
    n = sum(found["labels"].values())
    left = found.get("abstained", 0)
    if not left:
        return f"{count_in_words(n, 'document')} labelled"
    documents = count_in_words(n + left, "document")
    return f"{n} of {documents} labelled ({left} left without a label)"


def counts_in_words(labels: dict[str, int], most: int = 6) -> str:
    """Return the number of documents of each class in words; of many, the most common ones."""
    shown = {name for name, _ in Counter(labels).most_common(most)}
    words = ", ".join(f"{name}: {count}" for name, count in labels.items() if name in shown)
    return words + (f" and {len(labels) - most} more classes" if len(labels) > most else "")


def list_classes(labels: dict[str, int], source: dict[str, int] | None = None) -> list[str]:
    """Return a table of the classes: documents with each label, and proportions in the domains."""
    if len(labels) > MAX_TABLE_CLASSES:
        return [counts_in_words(labels, MAX_TABLE_CLASSES)]
    n_target, n_source = sum(labels.values()), sum((source or {}).values())
    rows: list[tuple[str, ...]] = [
        ("class", "labels", "target", "source") if source else ("class", "labels", "share")
    ]
    for name, count in labels.items():
        more = [f"{source[name] / max(1, n_source):.0%}"] if source else []
        rows.append(
            (shorten(name, MAX_CLASS_COLUMNS), str(count), f"{count / max(1, n_target):.0%}", *more)
        )
    width = max(cell_len(row[0]) for row in rows)
    return [
        row[0] + " " * (width - cell_len(row[0])) + "".join(one.rjust(8) for one in row[1:])
        for row in rows
    ]
