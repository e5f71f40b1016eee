"""The command line: one parser with the options of all commands, and for each command a plain function that returns a dict."""
