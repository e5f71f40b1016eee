"""The command, as ``python -m gramshift``."""

from gramshift.commands.entry import run

if __name__ == "__main__":
    run()
