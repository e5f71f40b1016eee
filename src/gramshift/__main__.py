"""The command, as ``python -m gramshift``."""

from gramshift.commands.entry import run

run()
