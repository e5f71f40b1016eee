"""``gramshift compare``: methods side by side on the user's own files."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from gramshift.commands.outputs import check_length, same_file
from gramshift.data.columns import Documents, check_column, find_columns, read_documents
from gramshift.data.readers import open_table
from gramshift.data.tables import TableError
from gramshift.errors import InputError
from gramshift.evaluate.comparison import plan_comparison
from gramshift.evaluate.comparison_run import Comparison
from gramshift.evaluate.comparison_files import PlotLine, notes_of, plot_lines, table_of, to_json, write_comparison, write_plot
from gramshift.evaluate.kept import LARGEST, Kept
from gramshift.methods import parse_methods
from gramshift.runtime.door import read_json
from gramshift.runtime.threads import Progress
from gramshift.text.terminal import is_terminal, visible

Say = Callable[[str], None]
PARTS, DONE = "compared", "comparison.json"


def compare_files(
    source: list[str] | None,
    target: str | None,
    data: str | None,
    domain: str | None,
    *,
    text: str | None,
    label: str | None,
    truth: str | None,
    format: str | None,
    encoding: str,
    methods: str,
    reference: str | None,
    repeat: int,
    seed: int,
    source_only: bool,
    output: Path,
    resume: bool,
    force: bool,
    plot: bool,
    jobs: int,
    progress: Progress | None,
    say: Say,
) -> tuple[Comparison, dict[str, Any]]:
    """Read the files, compare the methods, and write what was found into a folder; "files" are those in it."""
    _check_files(source, target, data, domain, truth)
    names = parse_methods(methods)
    if jobs == 0 or jobs < -1:
        raise InputError(f"--jobs {jobs}: give a number of threads, or -1 for all cores")
    if repeat < 0 or seed < 0:
        raise InputError(f"--{'repeat' if repeat < 0 else 'seed'} {repeat if repeat < 0 else seed}: give 0 or more")
    if reference is not None and reference not in names:
        raise InputError(f"--reference {reference} is not among --methods: {', '.join(names)}")
    check_folder(output)

    def read(name: str, column: str | None = label) -> Documents:
        with open_table(name, format=format, encoding=encoding) as table:
            found = read_documents(table, find_columns(table, text=text, label=column, need_label=True), progress=progress)
        _check_gaps(found)
        return found

    documents = [read(name) for name in source or [str(data)]]
    texts = [one for several in documents for one in several.texts]
    labels = [one for several in documents for one in several.labels]
    given: dict[str, Any]
    if target is None:
        given = {"domains": _domains_of(documents[0], str(domain))}
    else:
        found = read(target, truth or label)
        given = {"target": found.texts, "target_labels": found.labels}
    pairs = "every pair of domains" if data is not None else "one target"
    halves = f", {repeat} random halves each" if repeat else ""
    say(f"{len(texts) + len(given.get('target', []))} documents, {pairs}{halves}: {', '.join(names)}")
    given |= {"methods": names, "reference": reference, "source_only": source_only}
    plan = plan_comparison(texts, labels, **given, repeats=repeat, random_state=seed)
    kept = Kept(output / PARTS)
    if not force:
        _check_results(output, {"documents": plan.fingerprint, "source_only": source_only}, kept, resume=resume)
    if not resume:
        kept.clear()
    comparison = plan.run(kept=kept, n_jobs=jobs, progress=progress)
    files = write_comparison(comparison, output) + (draw(plot_lines(comparison), output, say) if plot else [])
    return comparison, to_json(comparison) | {"files": files}


def _check_files(source: list[str] | None, target: str | None, data: str | None, domain: str | None, truth: str | None) -> None:
    if data is None and (not source or target is None):
        raise InputError(
            "name a source and a --target, files whose labels are known, or --data with --domain: "
            "gramshift compare books.csv --target kitchen.csv"
        )
    if data is not None:
        if source or target is not None or truth is not None:
            raise InputError("--data has source and target in one file; leave out the sources, --target and --truth")
        if domain is None:
            raise InputError(f"--data {data}: name the column that tells the domain, for example --domain category")
    elif domain is not None:
        raise InputError(f"--domain {domain} goes with --data, one file of several domains")
    for place, name in enumerate(source or []):
        if target is not None and same_file(name, target):
            raise InputError(f"--target {target} is also a source; methods would be tested on what they learnt from")
        if any(same_file(name, other) for other in (source or [])[:place]):
            raise InputError(f"the source {name} is named twice")


def _domains_of(documents: Documents, column: str) -> list[str]:
    cells = documents.column(check_column(documents.table, column, f"--domain {column}"))
    gaps = cells.count(None)
    if gaps:
        raise TableError(f"{documents.table.name}: {gaps} rows have no domain in {column!r}; fill them in, or leave them out")
    return [str(cell) for cell in cells]


def _check_gaps(documents: Documents) -> None:
    gaps = documents.labels.count(None)
    if gaps:
        where = f"{documents.table.name}: {gaps} of {len(documents)} rows have no label in {documents.columns.label!r}"
        raise TableError(f"{where}; a comparison counts right answers, leave these rows out")


def check_folder(output: Path) -> None:
    """Raise an error if results cannot go there; what runs that were killed have left there is removed."""
    check_length(os.fspath(output), "--output")
    there = next(path for path in (output, *output.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is a file; give a folder for the results")
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(f"{output}: you may not write into {there}; give another folder for the results")


def _check_results(output: Path, compared: dict[str, Any], kept: Kept, *, resume: bool) -> None:
    """Raise an error rather than replace the results of another comparison, or lose those of a run that was stopped."""
    advice = "--force replaces them, --output names another folder"
    if (output / DONE).exists():
        if not resume:
            raise FileExistsError(f"{output} has the results of a comparison; {advice}")
        try:
            done = read_json(output / DONE, most=LARGEST)
            same = all(done[name] == value for name, value in compared.items())
        except (ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise FileExistsError(f"{output} has the results of another comparison; {advice}")
    elif kept.names() and not resume:
        raise FileExistsError(f"{output} has results of a comparison that was stopped; --continue resumes it, {advice}")


def draw(lines: list[PlotLine], output: Path, say: Say) -> list[str]:
    """Draw the picture if matplotlib is there, and return the names of files."""
    try:
        return [write_plot(lines, output)]
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        say("no plot: it needs matplotlib, pip install 'gramshift[plot]'")
        return []


def show_comparison(found: Comparison) -> None:
    """Print the table and what its columns mean."""
    heading, lines = table_of(found)
    show_table(heading, [[visible(cell) for cell in line] for line in lines], bold=found.methods.index(found.reference))
    for note in notes_of(found):
        make_console().print(visible(note), highlight=False, markup=False)


def make_console() -> Console:
    """Return a console as wide as the terminal, or wide enough for tables."""
    return Console(width=None if is_terminal(sys.stdout) else 160)


def show_table(
    heading: list[str], lines: list[list[str]], *, title: str | None = None, bold: int | None = None, markup: bool = False
) -> None:
    """Print a table on the terminal; the line ``bold`` stands out, and cells may have ``markup``."""
    shown = Shown(title=title, title_justify="left")
    for place, name in enumerate(heading):
        shown.add_column(Text(visible(name)), justify="right" if place else "left", no_wrap=place > 0)
    for place, line in enumerate(lines):
        cells = (Text.from_markup(cell) if markup else Text(cell) for cell in line)
        shown.add_row(*cells, style="bold" if place == bold else "")
    make_console().print(shown)
