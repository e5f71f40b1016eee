"""Readers and writers of tables, the data set of the paper, and the demo corpus."""
