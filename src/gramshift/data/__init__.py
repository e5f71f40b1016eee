"""Readers and writers of files, the data set of the paper, and the demo corpus that ships with the package."""
