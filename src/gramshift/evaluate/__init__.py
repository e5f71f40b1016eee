"""Comparison of methods on known labels, and two published benchmarks."""
