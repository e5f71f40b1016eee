"""From labelled files and a file to be labelled to labels, a model and a page."""

import os
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramshift.commands.classify.findings import Fits, describe_findings
from gramshift.commands.classify.labelled import (
    Corrections,
    LabelColumns,
    label_columns,
    own_labels_in_words,
    read_corrections,
    renamed_in_words,
)
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.reading import Inputs, Say, check_names, read_inputs
from gramshift.commands.outputs import STANDARD, check_outputs, open_output
from gramshift.errors import InputError
from gramshift.learn.features import compact
from gramshift.learn.labelling import Labelling
from gramshift.learn.ridge import SingularKernelError
from gramshift.learn.rounds import SOURCE
from gramshift.methods import BEST, METHODS
from gramshift.model.advice import Advice, Answers, choose_verdict, diagnose_answers, proportions_by_round, separability
from gramshift.model.classifier import TransductiveClassifier, fit_on_gram
from gramshift.model.data_problems import DOUBTFUL, Examined, Issues, find_issues
from gramshift.model.describers import compare_plainly
from gramshift.model.diagnosis import FEWEST, fell_back, find_void_rounds, first_round
from gramshift.model.inputs import ListedCorpus
from gramshift.model.labels import encode_labels
from gramshift.model.settings import PLAIN, WORD_RANGE
from gramshift.model.string_kernel import StringKernel
from gramshift.report.build import build_contents
from gramshift.report.contents import ReportContents, RunInfo
from gramshift.report.evidence import MAX_EXPLAINED
from gramshift.report.page import MOST_COLUMNS, MOST_SHOWN, render_page
from gramshift.report.payload import LONGEST_VALUE
from gramshift.runtime.memory import Needs, Work, check_memory, memory_of
from gramshift.runtime.replacing import Replacing
from gramshift.runtime.resources import Runtime
from gramshift.runtime.storage import is_url
from gramshift.tables.columns import Progress
from gramshift.tables.opening import format_of
from gramshift.tables.table import Table, TableError
from gramshift.tables.writing import open_writer, output_style

ADVICE = Advice(
    without_class_prior="compare with --method plain, or add fewer pseudo-labels (--added)",
    with_class_prior="compare with unadapted_label, or give the class proportions if you know them (--class-prior)",
)
MAX_CHANCE = 2.33  # standard deviations that one in a hundred exceeds
OF_BASELINES = Advice(without_class_prior=f"compare with --method {BEST}")
N_WORD_LENGTHS = 1 + WORD_RANGE[1] - WORD_RANGE[0]


def classify(options: ClassifyOptions, *, progress: Progress | None = None, say: Say = print) -> dict[str, Any]:
    """Run it; what can be refused is refused before the work. Returns what happened, fit for JSON."""
    if options.sample is not None:
        from gramshift.commands.classify.sampling import classify_any  # late: it measures runs with functions from here

        return classify_any(options, progress=progress, say=say)
    begun = time.perf_counter()
    check_files(options)
    inputs = read_inputs(options, progress=progress, say=say)
    options.given_parameters(inputs.labels)  # proportions of classes that there are not are refused
    given = _corrections(options, inputs, say)
    corrections = given.labels
    classes = sorted({*inputs.labels, *corrections.values()})
    columns = _columns(options, inputs, classes, say)
    needs = measure(options, inputs, corrections)
    described = describe(options, inputs, needs, n_corrected=len(corrections)) | {"classes": list(map(str, classes))}
    say(described["sentence"])
    if options.report is not None and len(inputs.rows) > MOST_SHOWN:
        advice = "leave --report out; the least sure rows of --output have the lowest confidence"
        raise InputError(f"--report shows {MOST_SHOWN} documents at most, and the target has {len(inputs.rows)}: {advice}")
    if options.report is not None and not METHODS[options.method].is_own:
        raise InputError(f"--report shows a model of n-grams, and {options.method} has none: leave it out, or --method best")
    if options.dry_run:
        return described | {"dry_run": True}
    fits = fit_all(inputs, given, options, progress)
    result = described | describe_findings(options, inputs, corrections, fits)
    contents = None
    if options.report is not None:
        contents = _make_contents(options, inputs, given, fits, result, progress)
    write_outputs(options, inputs, columns, fits, contents)  # nothing is written before all is known
    files = {"output": options.output, "report": options.report, "model": options.save}
    return result | files | {"seconds": round(time.perf_counter() - begun, 2)}


def write_outputs(
    options: ClassifyOptions, inputs: Inputs, columns: LabelColumns, fits: Fits, contents: ReportContents | None
) -> None:
    """Write labels, model and page, those that are asked for; they appear together, when all of them are whole."""
    with Replacing() as files:
        if contents is not None:
            with files.open(str(options.report)) as file:
                file.write(render_page(contents).encode())
        if options.save is not None:
            with files.open(options.save) as file:
                fits.classifier.save(file)
        if options.output is not None:  # last: what has gone to standard output cannot be taken back
            write_labels(options, inputs, columns, fits, files=files)


def write_labels(
    options: ClassifyOptions, inputs: Inputs, columns: LabelColumns, fits: Fits, *, files: Replacing | None = None
) -> None:
    """The target with its new columns; of a file with gaps all rows, those that had a label as they were."""
    name, target, gap = str(options.output), inputs.target, columns.label == inputs.target.columns.label
    everywhere: list[Any] = list(target.labels) if gap else [None] * len(target)
    sure: list[list[float]] = [[]] * len(target)
    reference: list[Any] = [None] * len(target)
    for row, label, one in zip(inputs.rows, fits.labels, fits.probabilities.tolist(), strict=True):
        everywhere[row], sure[row] = label, one
    for row, one in zip(inputs.rows, fits.reference_labels or [], strict=False):
        reference[row] = one
    issues = _place_issues(inputs, fits, gap=gap)
    done = 0
    with open_output(name, files) as file, open_writer(file, name, target.table, columns.types) as writer:
        for part in target.raw:
            here = slice(done, done + len(part.rows))
            beside = reference[here], issues[here]
            writer.write(part, columns.values(everywhere[here], sure[here], options.abstain_below, *beside))
            done += len(part.rows)


def _place_issues(inputs: Inputs, fits: Fits, *, gap: bool) -> list[str | None]:
    """What is wrong with the document of each row of the target; in a file with gaps also of those that had a label."""
    issues: list[str | None] = [None] * len(inputs.target)
    of_source = [row for row, label in enumerate(inputs.target.labels) if label is not None] if gap else []
    for number, words in fits.issues.by_row().items():
        of_target = number - len(inputs.labels)
        if of_target >= 0:
            issues[inputs.rows[of_target]] = words
        elif gap:
            issues[of_source[number]] = words
    return issues


def check_files(options: ClassifyOptions) -> None:
    """Refuse names that cannot be read or written, before anything is."""
    check_names(options, options.targets)
    for target in options.targets:
        if any(sign in target for sign in "*?[") and not is_url(target) and not os.path.exists(target):
            advice = "name one file, or add --sample 100000, which takes patterns and labels all files"
            raise InputError(f"--target {target}: there is no such file; {advice}")
    given = (options.corrections, options.unlabelled, options.truth)  # a column is no file, or none of these
    names = [*options.source, *options.targets, *filter(None, given)]
    outputs = {"--output": options.output, "--report": options.report, "--save": options.save}
    check_outputs(outputs, names, force=options.force)
    for option, name in (("--report", options.report), ("--save", options.save)):
        if name == STANDARD:
            raise InputError(f"{option} cannot go to standard output; give the name of a file")
    if options.output not in (None, STANDARD):
        format_of(str(options.output), option="another --output")


def _corrections(options: ClassifyOptions, inputs: Inputs, say: Say) -> Corrections:
    """Read what a person has said of target documents; what should be known of the file is said."""
    if options.corrections is None:
        return Corrections()
    found = read_corrections(
        options.corrections,
        ids=inputs.target_ids,
        classes=sorted(set(inputs.labels)),
        texts=inputs.target_texts,
    )
    if len(found.labels) == len(inputs.rows):
        raise TableError(f"{options.corrections} has a label for every target document; there is nothing left to find")
    if found.new and options.gives_class_prior:
        named = ", ".join(map(repr, map(str, found.new)))
        raise TableError(
            f"--class-prior is for the classes of the source, and {options.corrections} adds {named}; leave --class-prior out"
        )
    method = METHODS[options.method]
    use = "measure the accuracy" if method.is_own else f"are corrections like others for the method {options.method}"
    if method.is_best and options.class_prior is None:
        use = "set the class proportions and measure the accuracy"
    for words in found.in_words(options.corrections, use):
        say(words)
    return found


def _columns(options: ClassifyOptions, inputs: Inputs, classes: list[Any], say: Say) -> LabelColumns:
    """The columns of the output, whose format must fit too."""
    table = inputs.target.table
    filled = inputs.target.columns.label if not options.targets else None
    reference = options.reference if options.method != PLAIN else None
    columns = label_columns(table, classes, filled=filled, reference=reference, issue=True)
    if options.output is not None:
        check_columns_fit(options.output, table, columns, classes, say)
    own, labels = inputs.target.columns.label, inputs.target.labels
    if options.label in table.columns:
        own, labels = options.label, inputs.target.column(str(options.label))
    if options.targets and options.truth is None and own is not None and any(one is not None for one in labels):
        say(own_labels_in_words(table, own))
    return columns


def check_columns_fit(output: str, table: Table, columns: LabelColumns, classes: list[Any], say: Say) -> None:
    """Raise an error if an output cannot have the labels; say what becomes of columns that the table has already."""
    style = output_style(output, table)
    try:
        "".join(map(str, classes)).encode(style.encoding)
    except UnicodeEncodeError as error:
        lacking = error.object[error.start]
        raise TableError(f"{output} would be {style.encoding}, which lacks {lacking!r} of a label") from None
    words = renamed_in_words(table, columns)
    if words is not None:
        say(words)


def measure(options: ClassifyOptions, inputs: Inputs, corrections: dict[str, Any]) -> Needs:
    """Estimate what a run will take; it is refused if that is more memory than there is."""
    n_target, method = len(inputs.rows), METHODS[options.method]
    low, high = options.ngram_range
    work = Work(
        n_source=len(inputs.labels),
        n_target=n_target + len(inputs.more_texts),
        n_characters=inputs.n_characters,
        n_lengths=high - low + 1 + (N_WORD_LENGTHS if method.is_best else 0),
        n_classes=len({*inputs.labels, *corrections.values()}),
        label_characters=max((len(label) for label in set(inputs.labels) if isinstance(label, str)), default=0),
        n_explained=min(n_target, MAX_EXPLAINED) if options.report else 0,
        longest=max(map(len, inputs.target_texts), default=0) if options.report else 0,
        n_fits=2 if corrections else 1,
        jobs=options.jobs,
    )
    is_plain = options.method == PLAIN and options.kernel == "presence"
    linear = method.is_best or not method.is_own or is_plain
    return check_memory(work, memory_of(options.memory), linear=linear, way="--sample {}")


def describe(
    options: ClassifyOptions, inputs: Inputs, needs: Needs, *, n_corrected: int = 0, n_all: int | None = None
) -> dict[str, Any]:
    """Describe what a run will do, fit for JSON; ``n_all`` is how many there are of which the target is a sample."""
    n_source, n_target = len(inputs.labels), len(inputs.rows)
    of_all = "" if n_all is None else f" of {n_all}"
    return {
        "n_source": n_source,
        "n_target": n_target,
        "n_unlabelled": len(inputs.more_texts),
        "classes": [str(one) for one in sorted(set(inputs.labels))],
        "sources": [list(one) for one in inputs.files],
        "target": inputs.target.table.name,
        "method": options.method,
        "kernel": options.kernel,
        "ngrams": "-".join(map(str, options.ngram_range)),
        "n_added": options.n_added(n_target - n_corrected),
        "command": options.to_command(),
        "needs": {"bytes": needs.n_bytes, "seconds": round(needs.seconds, 1)},
        "sentence": f"{n_source} source and {n_target}{of_all} target documents: {needs}",
    }


def fit_all(inputs: Inputs, given: Corrections, options: ClassifyOptions, progress: Progress | None) -> Fits:
    """Fit the method, and on the same n-grams what it is compared with and the method without corrections.

    True labels of the target are not looked at here. Labels of documents drawn at random are a measurement for our own
    methods; others learn from them as from corrections.
    """
    method, n_more = METHODS[options.method], len(inputs.more_texts)
    drawn = given.random if method.is_own else set()
    known = [None if one in drawn else given.labels.get(one) for one in inputs.target_ids]
    first = len(inputs.labels)
    random = {row: given.labels[one] for row, one in enumerate(inputs.target_ids, start=first) if one in drawn}
    documents = ListedCorpus(inputs.texts + inputs.target_texts + inputs.more_texts)
    texts = documents.corpus.texts
    limits: dict[str, Any] = {"memory_limit": options.memory, "n_jobs": options.jobs}
    kernel = StringKernel(options.kernel, ngram_range=options.ngram_range, **limits).parse()
    runtime = Runtime(options.jobs, options.memory, progress=progress)
    gram: NDArray[Any] | None = None
    if kernel.kind != "presence" or (method.is_stage and options.method != PLAIN):  # a linear model needs none
        gram = compact(kernel.compute(texts, runtime=runtime, normalize=False))

    def fit(classifier: Any, known: list[Any], step: str | None = None, **more: Any) -> Any:
        """Fit on the source and these labels of the target; ``step`` is the part of the run that progress shows."""
        labels, running = inputs.labels + known + [None] * n_more, runtime if step is None else runtime.under(step)
        if not isinstance(classifier, TransductiveClassifier):
            running.report("training", 0, 1)
            return classifier.fit(texts, labels)
        is_best = classifier.preset == BEST
        more |= {"n_unlabelled": n_more, "domains": inputs.domains(known) if is_best else None}
        fit_on_gram(classifier, documents, labels, None if is_best else gram, running, **more)
        return classifier

    def make(**more: Any) -> Any:
        return method.make(**options.given_parameters(inputs.labels) | limits | more) if method.is_own else method.make()

    without: Any = None
    lowered: list[str] = []
    prior: dict[str, Any] = {}
    if given.labels:
        without = fit(make(), [None] * len(known), "before")
        if method.is_best and not random and options.class_prior is None:
            proportions, lowered = lower_wrong_classes(without, known)
            prior = {"class_prior": proportions} if lowered else {}
    classifier = fit(make(**prior), known, random=random)
    n_checked = sum(label is not None for label in known)
    before = [] if without is None else without.transduction_.tolist()
    n_wrong = sum(label is not None and label != found for label, found in zip(known, before, strict=False))
    if method.is_own:
        expected = classifier._fit.expected
        if 2 * n_wrong > n_checked and without._fit.expected is not None:
            expected = min(expected, without._fit.expected, key=lambda one: one.value)  # checks that failed promise no more
        n_corrected = len(given.labels) - len(random)
        classifier._keep(replace(classifier._fit, origins=inputs.origins(), n_corrected=n_corrected, expected=expected))
    reference: Any = None
    unknown: list[str] = []
    if method.is_best:
        reference = TransductiveClassifier()
        reference._keep(first_round(classifier._fit))
    elif options.method != PLAIN:
        try:
            plain = METHODS[PLAIN].make(**options.given_to_plain() | limits)
            reference = fit(plain, known, "reference", calibrate=False)
        except SingularKernelError as error:  # labels do not need it
            unknown = [f"The labels could not be compared with the {options.reference} ones: {error}."]
    of_source = None
    if options.tries_source_prior:
        of_source = fit(make(class_prior=SOURCE), known, "reference", calibrate=False)
    runtime.report("problems", 0, 1)
    is_source = np.arange(len(texts)) < len(inputs.texts)
    kernel = classifier._fit.model.similarities.kernels[0] if method.is_best else kernel  # with n-grams that are known
    compared = gram if gram is not None else partial(compare_plainly, kernel, documents, runtime)
    apart = separability(compared, is_source) if min(is_source.sum(), (~is_source).sum()) >= FEWEST else None
    diagnostics, warnings = _diagnose(classifier, reference, inputs, options, apart, n_random=len(random))
    if n_wrong and "verdict" in diagnostics:
        verdict = _diagnose(without, None, inputs, options, None)[0].get("verdict")
        diagnostics["verdict"] = choose_verdict(verdict, diagnostics["verdict"], n_checked, n_wrong)
    return Fits(
        classifier,
        reference,
        labels=_fill(known, classifier.transduction_),
        reference_labels=None if reference is None else _fill(known, reference.transduction_),
        uncorrected=None if without is None else before,
        probabilities=_probabilities(classifier, known),
        diagnostics=diagnostics,
        warnings=lowered + warnings + unknown,
        documents=documents,
        issues=look_for_issues(classifier, inputs, known),
        source_labels=None if of_source is None else _fill(known, of_source.transduction_),
        n_random=len(random),
    )


def lower_wrong_classes(classifier: Any, known: list[Any]) -> tuple[dict[Any, float], list[str]]:
    """Return the class proportions of a fit, lower for classes of which a person found too many labels wrong.

    Of the labels that were checked, their mean confidence should be right. Where most of a class are wrong, and fewer right
    than confidence and chance explain, its proportion is multiplied by the right ones over the expected ones.
    """
    prior = {label: one["used"] for label, one in (classifier.class_prior_ or {}).items()}
    found, confidence = classifier.transduction_, classifier.transduction_proba_.max(axis=1)
    checked = np.array([label is not None for label in known], bool)
    lines = []
    for label in prior:
        rows = np.flatnonzero(checked & (found == label))
        right, expected = sum(known[row] == label for row in rows), float(confidence[rows].sum())
        spread = np.sqrt(np.sum(confidence[rows] * (1 - confidence[rows])))
        if len(rows) and 2 * right < len(rows) and expected - right > MAX_CHANCE * spread:
            lines.append(
                f"{len(rows) - right} of {len(rows)} checked labels {label!r} were wrong, so that its proportion was lowered"
            )
            prior[label] *= (right + 1) / (expected + 1)
    total = sum(prior.values())
    return {label: share / total for label, share in prior.items()}, lines


def look_for_issues(classifier: Any, inputs: Inputs, known: list[Any]) -> Issues:
    """Problems in the data; labels that a person has just corrected are not doubted."""
    if isinstance(classifier, TransductiveClassifier):
        found = classifier.issues_
    else:
        texts, origins = inputs.texts + inputs.target_texts, inputs.origins()
        classes, codes = encode_labels([*inputs.labels, *(label for label in known if label is not None)])
        is_source = np.array([True] * len(inputs.labels) + [label is not None for label in known])
        labelling = Labelling.of_source(is_source, codes, len(classes))
        names = [" ".join(one) for one in origins]
        found = find_issues(Examined(texts, labelling, classes.tolist(), range(len(texts)), names.__getitem__))
    kept = [one for one in found if one.issue != DOUBTFUL or one.row < len(inputs.labels)]
    return Issues(kept, found.label_quality)


def _diagnose(
    classifier: Any, reference: Any, inputs: Inputs, options: ClassifyOptions, apart: float | None, *, n_random: int = 0
) -> tuple[dict[str, Any], list[str]]:
    method = METHODS[options.method]
    answers = Answers(
        classes=list(map(str, classifier.classes_.tolist())),
        labels=list(map(str, classifier.transduction_.tolist())),
        source=list(map(str, inputs.labels)),
        rounds=proportions_by_round(classifier.history_, len(classifier.transduction_)),
        reference=None if reference is None else list(map(str, reference.transduction_.tolist())),
        reference_name=options.reference,
        expected=getattr(classifier, "expected_accuracy_", None),
        class_prior=getattr(classifier, "class_prior_", None),
        adapts=method.adapts,
        sources=getattr(classifier, "sources_", None),
        fell_back=method.is_own and fell_back(classifier._fit),
        prior_is_known=method.is_best and (n_random > 0 or options.gives_class_prior),
        n_random=n_random,
        probabilities=getattr(classifier, "transduction_proba_", None),
    )
    found, warnings = diagnose_answers(answers, apart, ADVICE if method.is_own else OF_BASELINES)
    return found, warnings + (find_void_rounds(classifier.history_, "--added") if method.is_own else [])


def _fill(known: list[Any], found: NDArray[Any]) -> list[Any]:
    rest = iter(found.tolist())
    return [next(rest) if label is None else label for label in known]


def _probabilities(classifier: Any, known: list[Any]) -> NDArray[np.float64]:
    """The probabilities of all target documents; those that a person has labelled have 1 for what they are."""
    gaps = np.array([label is None for label in known], bool)
    result: NDArray[np.float64] = np.array([classifier.classes_ == label for label in known], float).reshape(len(known), -1)
    result[gaps] = classifier.transduction_proba_
    return result


class _Shown(TransductiveClassifier):
    """A fitted classifier whose target documents include those that a person has labelled."""

    transduction_proba_: Any = None
    issues_: Any = None


def _make_contents(
    options: ClassifyOptions,
    inputs: Inputs,
    corrections: Corrections,
    fits: Fits,
    found: dict[str, Any],
    progress: Progress | None,
) -> ReportContents:
    """Gather all that the page shows."""
    names = [_short(name) for name, _ in inputs.files]
    typed = {name.replace("_", "-"): value for name, value in asdict(options).items() if value not in (None, False)}
    target = _short(inputs.target.table.name)
    classifier = _Shown()
    classifier.__dict__.update(fits.classifier.__dict__)
    classifier.transduction_ = np.array([*fits.labels, None], object)[:-1]
    classifier.transduction_proba_, classifier.issues_ = fits.probabilities, fits.issues
    classifier.corrected_ = np.array([one in corrections.labels for one in inputs.target_ids])
    return build_contents(
        classifier,
        ids=inputs.target_ids,
        source_ids=inputs.ids,
        columns=_other_columns(options, inputs),
        title=f"{target}, labelled from {', '.join(names)}",
        truth=None if inputs.truth is None else [inputs.truth[row] for row in inputs.rows],
        drawn=corrections.drawn,
        abstain_below=options.abstain_below,
        run=RunInfo(
            command=options.to_command(),
            next_command=options.to_command(corrections="corrections.csv", force=True),
            options=typed,
            target_name=target,
            sources=inputs.files,
            scores=found["scores"],
            changes=found["corrections"]["changes"] if found["corrections"] else (),
            sentence=found["sentence"],
            warnings=found["warnings"],
            diagnostics=found["diagnostics"],
        ),
        progress=progress,
    )


def _other_columns(options: ClassifyOptions, inputs: Inputs) -> dict[str, list[Any]]:
    """What else the target says of each document, such as its title: the first columns that are not text, id or label."""
    table, columns = inputs.target.table, inputs.target.columns
    ours = {*columns.texts, columns.id, *([] if options.targets else [columns.label])}
    truth = (options.truth or "").strip().lower()  # however it is spelt
    names = [name for name in table.columns if name not in ours and name.strip().lower() != truth][:MOST_COLUMNS]
    wanted = set(inputs.rows)
    rows = [row for part in inputs.target.raw for row in part.rows] if names else []
    return {name: [_cell(row.get(name)) for number, row in enumerate(rows) if number in wanted] for name in names}


def _cell(value: Any) -> str:
    """A value as a page shows it: the beginning of what it is."""
    return "" if value is None else str(value)[:LONGEST_VALUE]


def _short(name: str) -> str:
    return Path(name).name or name
