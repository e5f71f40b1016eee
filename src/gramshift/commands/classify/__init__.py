"""What the commands do: plain functions from files to files that return a dict."""
