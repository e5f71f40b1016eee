"""The command line: its parser, and for each command a plain function that returns a dict."""
