"""The entry point of the command ``gramshift``."""

import gc

from gramshift.commands.interrupt import exit_while_loading
from gramshift.terminal import fill_standard_files


def run() -> None:
    """Load the command and run it; Ctrl-C shows no traceback even while it is loaded."""
    fill_standard_files()
    exit_while_loading()
    gc.disable()  # until a command begins, so that --help is a tenth faster
    from gramshift.commands.main import main

    main()
