"""Lines for people: whole words in a terminal, commands to copy, colours only if wanted."""

import io
import os
import sys

import pytest

from gramshift.terminal import Line, say, shorten, tell, visible

COMMAND = "gramshift classify a.csv b.csv --target c.csv --output 'my labels.csv' --force"
SENTENCE = "about 73 of 100 labels are expected to be right (58 to 84). Check those that matter."


class Terminal(io.StringIO):
    def isatty(self):
        return True


def open_terminal(monkeypatch, width=40):
    """In the test itself: pytest has a standard error of its own for every fixture."""
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(os.environ, "TERM", "xterm")
    monkeypatch.setitem(os.environ, "COLUMNS", str(width))
    return stream


@pytest.mark.parametrize("width", [20, 80])
def test_words_stay_whole(monkeypatch, width):
    terminal = open_terminal(monkeypatch, width)
    tell([Line(SENTENCE, indent=2)])
    lines = terminal.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    assert " ".join(" ".join(lines).split()) == SENTENCE
    assert all(line.startswith("  ") for line in lines)


def test_what_fits_keeps_its_blanks(monkeypatch):
    terminal = open_terminal(monkeypatch)
    tell([Line("class     labels", indent=2)])
    assert terminal.getvalue() == "  class     labels\n"


def test_a_command_is_one_line_that_can_be_copied(monkeypatch):
    terminal = open_terminal(monkeypatch)
    tell([Line(COMMAND, indent=4, is_command=True)])
    assert terminal.getvalue() == f"    {COMMAND}\n"


def test_wide_characters_take_two_columns(monkeypatch):
    terminal = open_terminal(monkeypatch, 14)
    tell([Line("猫猫猫 犬犬犬 鳥鳥鳥")])
    assert terminal.getvalue().splitlines() == ["猫猫猫 犬犬犬", "鳥鳥鳥"]
    assert shorten("猫猫猫猫", 5) == "猫猫\N{HORIZONTAL ELLIPSIS}"
    assert shorten("猫" * 100_000, 5) == "猫猫\N{HORIZONTAL ELLIPSIS}"  # hours in quadratic time


def test_a_terminal_has_colours(monkeypatch):
    terminal = open_terminal(monkeypatch)
    tell([Line("fine"), Line("Doubtful", "red")])
    assert terminal.getvalue() == "fine\n\x1b[31mDoubtful\x1b[0m\n"
    say(SENTENCE)
    assert max(map(len, terminal.getvalue().splitlines())) <= 40


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_turned_off(monkeypatch, name, value):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setitem(os.environ, name, value)
    tell([Line("Doubtful", "red")])
    assert terminal.getvalue() == "Doubtful\n"


def test_a_file_has_neither_colours_nor_breaks(monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    monkeypatch.setitem(os.environ, "COLUMNS", "40")
    tell([Line(SENTENCE, "red", 2), Line("x\x1b[31m\ny")])
    assert stream.getvalue() == f"  {SENTENCE}\nx\N{REPLACEMENT CHARACTER}[31m y\n"


def test_nothing_moves_the_cursor_or_hides():
    assert visible("plain Ünïcödé 雪") == "plain Ünïcödé 雪"
    assert visible("a\x1b[31mb\nc\td\u202ee") == "a\ufffd[31mb c d\ufffde"
