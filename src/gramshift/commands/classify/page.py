"""The page of a run."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gramshift.commands.classify.fitting import Fits
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.report.contents import ReportContents
from gramshift.report.gather import gather_contents
from gramshift.runtime.threads import Progress


def make_contents(
    options: ClassifyOptions,
    inputs: Inputs,
    corrections: dict[str, Any],
    fits: Fits,
    found: dict[str, Any],
    progress: Progress | None,
) -> ReportContents:
    """All that the page shows."""
    names = [_short(name) for name, _ in inputs.files]
    typed = {name.replace("_", "-"): value for name, value in asdict(options).items() if value not in (None, False)}
    contents = gather_contents(
        fits.classifier,
        fits.plain,
        ids=inputs.target_ids,
        texts=inputs.target_texts,
        source_ids=inputs.ids,
        source_texts=inputs.texts,
        source_labels=inputs.labels,
        truth=None if inputs.truth is None else [inputs.truth[row] for row in inputs.rows],
        corrected=corrections,
        changes=found["corrections"]["changes"] if found["corrections"] else (),
        title=f"{_short(inputs.target.table.name)}, labelled from {', '.join(names)}",
        sentence=found["sentence"],
        warnings=found["warnings"],
        options=typed,
        sources=inputs.files,
        diagnostics=found["diagnostics"],
        scores=found["scores"],
        progress=progress,
        target_name=_short(inputs.target.table.name),
        abstain_below=options.abstain_below or 0.0,
    )
    return replace(contents, config=options.to_toml())


def _short(name: str) -> str:
    return Path(name).name or name
