"""``gramshift compare``: methods side by side on the user's own files."""

from pathlib import Path
from typing import Any

from gramshift.commands.outputs import check_distinct, check_folder
from gramshift.commands.table_output import draw, show_notes, show_table
from gramshift.errors import InputError
from gramshift.evaluate.comparison import plan_comparison
from gramshift.evaluate.comparison_files import (
    FILES,
    RESULTS,
    notes_of,
    plot_lines,
    table_of,
    to_json,
    write_comparison,
)
from gramshift.evaluate.comparison_run import Comparison
from gramshift.evaluate.result_store import MAX_RESULT_BYTES, ResultStore
from gramshift.methods import parse_methods
from gramshift.parallel import Progress
from gramshift.safe_reading import read_json
from gramshift.tables.columns import TableDocuments, check_column, find_columns, read_documents
from gramshift.tables.opening import open_table
from gramshift.tables.table import TableError
from gramshift.terminal import Say, count_in_words, visible

FINISHED_PARTS = "compared"  # a folder in that of the results


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
    quiet: bool,
) -> tuple[Comparison, dict[str, Any]]:
    """Compare methods on files and write the results into a folder; "files" are those in it."""
    _check_files(source, target, data, domain, truth)
    names = parse_methods(methods)
    if jobs == 0 or jobs < -1:
        raise InputError(f"--jobs {jobs}: give a number of threads, or -1 for all cores")
    for option, number in {"--repeat": repeat, "--seed": seed}.items():
        if number < 0:
            raise InputError(f"{option} {number}: give 0 or more")
    if reference is not None and reference not in names:
        raise InputError(f"--reference {reference} is not among --methods: {', '.join(names)}")
    check_folder(output)

    def read(name: str, column: str | None = label) -> TableDocuments:
        with open_table(name, format=format, encoding=encoding) as table:
            columns = find_columns(table, text=text, label=column, need_label=True)
            documents = read_documents(table, columns, progress=progress)
        _check_labels(documents)
        return documents

    sources = [read(name) for name in source or [str(data)]]
    texts = [one for documents in sources for one in documents.texts]
    labels = [one for documents in sources for one in documents.labels]
    n_documents = len(texts)
    given: dict[str, Any]
    if target is None:
        given = {"domains": _domains_of(sources[0], str(domain))}
    else:
        documents = read(target, truth or label)
        given = {"target": documents.texts, "target_labels": documents.labels}
        n_documents += len(documents)
    pairs = "every pair of domains" if data is not None else "one target"
    halves = f", {repeat} random halves each" if repeat else ""
    if not quiet:
        say(f"{n_documents} documents, {pairs}{halves}: {', '.join(names)}")
    plan = plan_comparison(
        texts,
        labels,
        **given,
        methods=names,
        reference=reference,
        source_only=source_only,
        repeats=repeat,
        random_state=seed,
    )
    kept = ResultStore(output / FINISHED_PARTS)
    if not force:
        compared = {"documents": plan.fingerprint, "source_only": source_only}
        _check_results(output, compared, kept, resume=resume)
    if not resume:
        kept.clear()
    comparison = plan.run(kept=kept, n_jobs=jobs, progress=progress)
    files = write_comparison(comparison, output)
    if plot:
        files += draw(plot_lines(comparison), output, say)
    return comparison, to_json(comparison) | {"files": files}


def _check_files(
    source: list[str] | None,
    target: str | None,
    data: str | None,
    domain: str | None,
    truth: str | None,
) -> None:
    """Raise an error unless there are sources and a target, or one file of several domains."""
    if data is not None:
        if source or target is not None or truth is not None:
            raise InputError(
                "--data has source and target in one file; leave out the sources, --target and "
                "--truth"
            )
        if domain is None:
            raise InputError(
                f"--data {data}: name the column of the domain, for example --domain category"
            )
        return
    if not source or target is None:
        raise InputError(
            "name a source and a --target, files whose labels are known, or --data with --domain: "
            "gramshift compare books.csv --target kitchen.csv"
        )
    if domain is not None:
        raise InputError(f"--domain {domain} goes with --data, one file of several domains")
    check_distinct(source, [target], "methods would be tested on what they learnt from")


def _domains_of(documents: TableDocuments, column: str) -> list[str]:
    cells = documents.column(check_column(documents.table, column, f"--domain {column}"))
    n_gaps = cells.count(None)
    if n_gaps:
        raise TableError(
            f"{documents.table.name}: {count_in_words(n_gaps, 'row')} without a domain in"
            f" {column!r}; fill this in, or leave such rows out"
        )
    return [str(cell) for cell in cells]


def _check_labels(documents: TableDocuments) -> None:
    n_gaps = documents.labels.count(None)
    if n_gaps:
        raise TableError(
            f"{documents.table.name}: {n_gaps} of {len(documents)} rows have no label in "
            f"{documents.columns.label!r}; a comparison counts right answers, leave these rows out"
        )


def _check_results(
    output: Path, compared: dict[str, Any], kept: ResultStore, *, resume: bool
) -> None:
    """Raise an error rather than replace or lose the results that a folder has."""
    advice = "--force replaces them, --output names another folder"
    if (output / RESULTS).exists():
        if not resume:
            raise FileExistsError(f"{output} has the results of a comparison; {advice}")
        try:
            found = read_json(output / RESULTS, most=MAX_RESULT_BYTES)
            is_same = all(found[name] == value for name, value in compared.items())
        except (ValueError, KeyError, TypeError):
            is_same = False
        if not is_same:
            raise FileExistsError(f"{output} has the results of another comparison; {advice}")
    elif kept.names():
        if not resume:
            raise FileExistsError(
                f"{output} has results of a comparison that was stopped; --continue resumes it, "
                f"{advice}"
            )
    else:
        for name in FILES:
            if (output / name).exists():
                raise FileExistsError(
                    f"{output / name} exists; --force replaces it, --output names another folder"
                )


def show_comparison(found: Comparison) -> None:
    """Print the table, and notes on what its columns mean."""
    heading, lines = table_of(found)
    cells = [[visible(cell) for cell in line] for line in lines]
    show_table(heading, cells, bold=found.methods.index(found.reference))
    show_notes(notes_of(found))
