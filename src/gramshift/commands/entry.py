"""Where the command ``gramshift`` begins."""

import gc

from gramshift.commands.interrupt import stop_while_loading


def run() -> None:
    """Load the command and run it; already while it is loaded it can be interrupted without a traceback."""
    stop_while_loading()
    gc.disable()  # until a command begins: --help is a tenth faster without it
    from gramshift.commands.main import main

    main()
