"""Where the command ``gramshift`` begins."""

import gc

from gramshift.commands.interrupt import exit_while_loading
from gramshift.text.terminal import fill_standard_files


def run() -> None:
    """Load the command and run it; already while it is loaded it can be interrupted without a traceback."""
    fill_standard_files()
    exit_while_loading()
    gc.disable()  # until a command begins: --help is a tenth faster without it
    from gramshift.commands.main import main

    main()
