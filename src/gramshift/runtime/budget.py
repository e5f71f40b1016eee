"""Estimates of the memory and the time of a run, which live in ``memory``."""

from gramshift.runtime.memory import BASE, Needs, Work, check_memory, estimate, in_words

__all__ = ["BASE", "Needs", "Work", "check_memory", "estimate", "in_words"]
