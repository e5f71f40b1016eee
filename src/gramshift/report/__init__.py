"""Plots of the paper's tables, and the page of a run."""
