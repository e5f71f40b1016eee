"""``gramshift demo``: what the kernel sees in the demo corpus."""

import json
from textwrap import shorten
from typing import Annotated, Any

import typer


def demo_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare 240 reviews of kitchen tools and films by their shared n-grams.

    Example: `gramshift demo`
    """
    result = run_demo()
    print(json.dumps(result, ensure_ascii=False) if as_json else describe(result))


def run_demo() -> dict[str, Any]:
    """Mean similarities between the domains and classes of the demo corpus, and its closest pairs across domains."""
    import time

    import numpy as np

    from gramshift.datasets.demo import DOMAINS, load_demo
    from gramshift.estimators.string_kernel import StringKernel

    corpora = {domain: load_demo(domain) for domain in DOMAINS}
    texts = [text for corpus in corpora.values() for text in corpus.texts]
    groups = np.array([f"{label} {domain}" for domain, corpus in corpora.items() for label in corpus.labels])
    kernel = StringKernel("presence", ngram_range=(3, 5), normalize=True)
    begun = time.perf_counter()
    gram = kernel.gram(texts)
    seconds = time.perf_counter() - begun
    names = [f"{label} {domain}" for domain in DOMAINS for label in ("positive", "negative")]
    distinct = np.where(np.eye(len(texts), dtype=bool), np.nan, gram)  # a review with itself says nothing
    means = {a: {b: float(np.nanmean(distinct[np.ix_(groups == a, groups == b)])) for b in names} for a in names}
    half = len(corpora[DOMAINS[0]].texts)
    across = gram[:half, half:]
    closest = np.dstack(np.unravel_index(np.argsort(-across, axis=None, kind="stable")[:3], across.shape))[0]
    pairs = [{"similarity": float(across[i, j]), "texts": [texts[i], texts[half + j]]} for i, j in closest]
    return {"documents": len(texts), "seconds": round(seconds, 3), "mean_similarity": means, "closest": pairs}


def describe(result: dict[str, Any]) -> str:
    means = result["mean_similarity"]
    lines = [
        f"{result['documents']} reviews compared by the character 3- to 5-grams they share, in {result['seconds']:.2f} s.",
        "",
        "Mean similarity (0 to 1):",
        " " * 18 + "".join(f"{name:>18}" for name in means),
        *(f"{row:>18}" + "".join(f"{value:18.4f}" for value in columns.values()) for row, columns in means.items()),
        "",
        "The closest pairs of a kitchen and a film review:",
    ]
    for pair in result["closest"]:
        first, second = (shorten(text, 100, placeholder=" ...") for text in pair["texts"])
        lines += [f"  {pair['similarity']:.3f}  {first}", f"         {second}"]
    return "\n".join(lines)
