"""Labelling of one table or of many files with a fitted model."""
