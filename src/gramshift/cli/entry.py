"""Where the command ``gramshift`` begins: even while it is being loaded it can be interrupted without a traceback."""

from gramshift.cli.interrupt import stop_while_loading


def run() -> None:
    """Load the command and run it."""
    stop_while_loading()
    from gramshift.cli.main import main

    main()
