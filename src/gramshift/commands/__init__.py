"""The command line: one file per command, each a thin parser over a plain function that returns a dict."""
