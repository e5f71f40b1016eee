"""Readers of data sets, and the demo corpus that ships with the package."""
