"""Fuzzing: made-up and mutated inputs for everything that Gramshift reads; ``python -m fuzz --help`` says more."""
