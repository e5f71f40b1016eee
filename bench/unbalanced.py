"""Targets with 20 or 80 % positive documents, cut from the tested domains: a look at tested labels, see docs/experiments.md."""

from typing import Any

from bench.corpus import Texts
from bench.experiments import SHARES, load_data, load_demo_data, measure, show_part
from bench.machine import describe_machine, describe_versions

SETTINGS = (("D", 0, "B"), ("E", 0, "D"), ("B", 0, "E"), ("D", 0, "K"))


def run(texts: Texts, *, smoke: bool, repeat: int) -> dict[str, Any]:
    """Accuracies; ``texts`` are not used."""
    data = load_demo_data() if smoke else load_data()
    rows = measure(data, [("B", 0, "V")] if smoke else SETTINGS, SHARES, [0.2, 0.8])
    return {"benchmark": "unbalanced", "machine": describe_machine(), "versions": describe_versions(), "unbalanced": rows}


def show(result: dict[str, Any]) -> str:
    """A table per share."""
    return show_part(result, "unbalanced")
