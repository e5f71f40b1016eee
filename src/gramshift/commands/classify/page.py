"""The page of a run."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from gramshift.commands.classify.fitting import Fits
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs
from gramshift.report.contents import ReportContents, ShownAsItIs, SourceDocuments, TargetDocuments
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
    """Gather all that the page shows."""
    names = [_short(name) for name, _ in inputs.files]
    typed = {name.replace("_", "-"): value for name, value in asdict(options).items() if value not in (None, False)}
    target = _short(inputs.target.table.name)
    return gather_contents(
        fits.classifier,
        fits.plain,
        target=TargetDocuments(
            inputs.target_ids,
            inputs.target_texts,
            truth=None if inputs.truth is None else [inputs.truth[row] for row in inputs.rows],
            corrected=corrections,
        ),
        source=SourceDocuments(inputs.ids, inputs.texts, inputs.labels),
        shown=ShownAsItIs(
            title=f"{target}, labelled from {', '.join(names)}",
            sentence=found["sentence"],
            options=typed,
            sources=inputs.files,
            warnings=found["warnings"],
            diagnostics=found["diagnostics"],
            scores=found["scores"],
            changes=found["corrections"]["changes"] if found["corrections"] else (),
            target_name=target,
            config=options.to_toml(),
        ),
        abstain_below=options.abstain_below or 0.0,
        progress=progress,
    )


def _short(name: str) -> str:
    return Path(name).name or name
