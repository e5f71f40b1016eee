"""Methods side by side on documents whose labels are known, and the protocols of two published benchmarks."""
