"""The options of a run: from the command line, checked, and written as a command again."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from gramshift.commands.label_files import check_engine
from gramshift.commands.outputs import STANDARD
from gramshift.errors import InputError
from gramshift.learn.rounds import SOURCE
from gramshift.methods import BEST, KERNELS, METHODS, OWN, check_preset
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.settings import PLAIN, PRESETS, UNADAPTED, Settings
from gramshift.runtime.memory import parse_bytes
from gramshift.tables.columns import suggest
from gramshift.text.terminal import join_words

PRESET = "preset"  # another way to name a method
PAPER = "paper"
LONGEST_SHOWN, MOST_CLASSES = 200, 20  # characters of what was typed, and classes, that an error repeats


@dataclass(frozen=True)
class ClassifyOptions:
    """The options of ``gramshift classify``, by the names that they have there; made with a mistake, it is an error."""

    source: list[str] = field(default_factory=list)
    target: str | list[str] | None = None
    output: str | None = None
    report: str | None = None
    save: str | None = None
    text: str | None = None
    label: str | None = None
    id: str | None = None
    truth: str | None = None
    corrections: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    method: str = BEST
    kernel: str = "presence"
    ngrams: str | None = None
    added: str | None = None
    class_prior: str | None = None
    unlabelled: str | None = None
    abstain_below: float | None = None
    sample: str | None = None
    engine: str = "threads"
    scheduler: str | None = None
    memory: str | None = None
    jobs: int = -1
    dry_run: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        if not self.source:
            raise InputError(
                "no source: name the labelled files, for example gramshift classify books.csv dvd.csv --target kitchen.csv"
            )
        if self.target is None and len(self.source) > 1:
            raise InputError("no --target: name the file to label; only a single source whose label column has gaps needs none")
        if not any((self.output, self.report, self.save, self.dry_run)):
            raise InputError("nothing is asked for: name a file for the labels with --output, or a report with --report")
        if self.method not in METHODS:
            close = suggest(self.method, METHODS)
            raise InputError(f"--method {self.method}: there are {', '.join(METHODS)}{close}")
        METHODS[self.method].check()
        if self.save is not None and not METHODS[self.method].is_own:
            advice = f"leave --save out, or use a method whose models are: {', '.join(OWN)}"
            raise InputError(f"--save {self.save}: the baseline {self.method} is not saved; {advice}")
        if self.kernel not in KERNELS:
            raise InputError(f"--kernel {self.kernel}: there are {', '.join(KERNELS)}{suggest(self.kernel, KERNELS)}")
        if METHODS[self.method].is_best and (self.kernel != "presence" or self.added is not None):
            given = "--kernel" if self.added is None else "--added"
            raise InputError(f"{given} goes with plain, adapted and tkc; {self.method} has its own, leave it out")
        if self.class_prior is not None:
            if not METHODS[self.method].is_best:
                raise InputError(f"--class-prior goes with {BEST}; {self.method} does not use class proportions")
            parse_class_prior(self.class_prior)
        if self.unlabelled is not None and (self.sample is not None or not METHODS[self.method].is_own):
            why = "--sample" if METHODS[self.method].is_own else f"--method {self.method}"
            raise InputError(f"--unlabelled does not go together with {why}; leave it out, or put these texts into --target")
        if self.sample is not None:
            self._check_sample()
        elif len(self.targets) > 1:
            raise InputError("--target names several files, which goes with --sample 100000 alone; label one after another")
        check_engine(self.engine, self.scheduler)
        if self.engine == "dask" and self.sample is None:
            raise InputError("--engine dask has workers label the files of a target, which goes with --sample; leave it out")
        if self.memory is not None:
            parse_bytes(self.memory, name="--memory")
        if self.abstain_below is not None and not 0 < self.abstain_below <= 1:
            raise InputError(f"--abstain-below {self.abstain_below:g}: give a confidence between 0 and 1, such as 0.7")
        if self.jobs == 0 or self.jobs < -1:
            raise InputError(f"--jobs {self.jobs}: give a number of threads, or -1 for all cores")
        if self.ngrams is not None:
            parse_ngrams(self.ngrams)
        self._parse_added()

    @property
    def steps(self) -> list[str]:
        """The steps of such a run, in their order, for whoever shows its progress."""
        method = METHODS[self.method]
        compares = method.is_stage and self.method != PLAIN
        wanted = {
            "reading": True,
            "index": method.is_own,
            "gram": compares,
            "training": True,
            "reference": self.tries_source_prior or not (method.is_best or self.method == PLAIN),
            "before": self.corrections is not None,
            "problems": True,
            "report": self.report is not None,
            "labelling": self.sample is not None,
        }
        return [step for step, is_wanted in wanted.items() if is_wanted]

    @property
    def tries_source_prior(self) -> bool:
        """Return True if true labels can show what the class proportions of the source would have given."""
        return METHODS[self.method].is_best and self.truth is not None and self.class_prior is None

    @property
    def gives_class_prior(self) -> bool:
        """Return True if the user gives the class proportions of the target."""
        return self.class_prior is not None and parse_class_prior(self.class_prior) is not None

    def _check_sample(self) -> None:
        if not re.fullmatch(r"\d{1,18}", str(self.sample)) or int(str(self.sample)) == 0:
            raise InputError(f"--sample {str(self.sample)[:60]}: give a number of target documents such as 100000")
        if not METHODS[self.method].is_own:
            raise InputError(f"--sample goes with {', '.join(OWN)}; {self.method} is a baseline, leave --sample out")
        for name in ("report", "truth", "corrections"):
            if getattr(self, name) is not None:
                raise InputError(f"--{name} is for runs that have the whole target in view; leave it out with --sample")
        if not self.targets:
            raise InputError("--sample draws from the target; name it with --target")
        if STANDARD in self.targets:
            raise InputError("--sample reads documents more than once, which standard input cannot; give the name of a file")
        if self.output is None and not self.dry_run:
            raise InputError("--sample labels a target that need not fit into memory; name where it goes with --output")

    @property
    def targets(self) -> list[str]:
        """What --target names: files, or with --sample patterns and folders too."""
        return [self.target] if isinstance(self.target, str) else self.target or []

    @property
    def single_target(self) -> str | None:
        """The one file to be labelled; None if it is the source with gaps."""
        return next(iter(self.targets), None)

    @property
    def ngram_range(self) -> tuple[int, int]:
        """The lengths of n-grams that are given, or those of the preset."""
        lengths: tuple[int, int] = PRESETS[BEST if METHODS[self.method].is_best else PAPER]["ngram_range"]
        return lengths if self.ngrams is None else parse_ngrams(self.ngrams)

    @property
    def reference(self) -> str:
        """What labels are compared with, by name: for best its own first round, for all others the method plain."""
        return UNADAPTED if METHODS[self.method].is_best else PLAIN

    def n_added(self, n_target: int) -> int:
        """How many of so many target documents join in the end."""
        parameters = TransductiveClassifier(**METHODS[self.method].options | self.given_parameters([])).get_params(deep=False)
        return Settings.from_parameters(parameters).count_added(n_target)[-1] if METHODS[self.method].is_own else n_target

    def given_parameters(self, labels: Sequence[Any]) -> dict[str, Any]:
        """What is given of the parameters of our own classifier; what is not has the values of its preset, as in Python.

        ``labels`` are those of the source, for class proportions.
        """
        given = self.given_to_plain()
        if METHODS[self.method].is_stage and self.added is not None:
            given["n_added"] = self._parse_added()
        if self.class_prior is not None and labels:
            given["class_prior"] = match_class_prior(parse_class_prior(self.class_prior), labels)
        return given

    def given_to_plain(self) -> dict[str, Any]:
        """The same for what has no rounds."""
        given: dict[str, Any] = {} if self.ngrams is None else {"ngram_range": parse_ngrams(self.ngrams)}
        return given | ({} if METHODS[self.method].is_best else {"kernel": self.kernel})

    def _parse_added(self) -> int | float | None:
        """The number of target documents that join, or their share; None for that of the preset."""
        if self.added is None:
            return None
        try:
            number = float(self.added)
        except ValueError:
            number = -1.0
        share = "." in self.added or "e" in self.added.lower()
        if not number > 0 or number == float("inf") or (share and number > 1):
            raise InputError(f"--added {self.added}: give a number of documents such as 1000, or a share such as 0.5")
        return number if share else int(number)

    def to_command(self, **changes: Any) -> str:
        """Write the run as one line for a shell, with other values for some options."""
        defaults = {one.name: one.default for one in fields(self)}
        values = asdict(self) | changes
        sources = [f"./{one}" if one.startswith("-") and one != STANDARD else one for one in values.pop("source")]
        words = ["gramshift", "classify", *sources]
        for name, value in values.items():
            option = f"--{name.replace('_', '-')}"
            if value == defaults[name] or name == "dry_run" or value == []:
                continue
            if value is True:
                words.append(option)
                continue
            for one in map(str, value if isinstance(value, list) else [value]):
                is_dashed = one.startswith("-") and one != STANDARD  # it would be taken for an option
                words += [f"{option}={one}"] if is_dashed else [option, one]
        return join_words(words)


def parse_ngrams(value: str) -> tuple[int, int]:
    """Read lengths: "5-8" is (5, 8), "4" is (4, 4)."""
    given = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", value)
    if given is None:
        raise InputError(f"--ngrams {value[:60]}: give two lengths such as 5-8, or one such as 4")
    low, high = int(given[1]), int(given[2] or given[1])
    if not 1 <= low <= high:
        meant = f"; did you mean {high}-{low}?" if high >= 1 else ""
        raise InputError(f"--ngrams {value}: the lengths go from a smaller one, at least 1, to a larger one{meant}")
    return low, high


def parse_class_prior(value: str) -> dict[str, float] | None:
    """Read class proportions: "positive=60%,negative=40%", also as 60 and 40 or 0.6 and 0.4; None for "source"."""
    if value.strip() == SOURCE:
        return None
    given = f"--class-prior {value[:LONGEST_SHOWN]}"
    advice = "give source, or a proportion for every class, such as positive=60%,negative=40%"
    proportions: dict[str, float] = {}
    signs = set()
    for part in value.split(","):
        name, equals, number = (one.strip() for one in part.rpartition("="))
        if not equals or not name:
            raise InputError(f"{given}: {part.strip()[:LONGEST_SHOWN]!r} is not of the form class=proportion; {advice}")
        if name in proportions:
            raise InputError(f"{given}: {name!r} is there twice; {advice}")
        signs.add(number.endswith("%"))
        try:
            proportions[name] = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
        except ValueError:
            raise InputError(f"{given}: {number!r} of {name!r} is not a number; {advice}") from None
        if not 0 <= proportions[name] < float("inf"):
            raise InputError(f"{given}: {number} of {name!r} is not a proportion from 0 on; {advice}")
    if len(signs) > 1:
        raise InputError(f"{given}: some numbers have a % and some have none; {advice}, or positive=0.6,negative=0.4")
    if not sum(proportions.values()) > 0:
        raise InputError(f"{given}: every class has 0; give at least one class a proportion above 0")
    return proportions


def match_class_prior(proportions: dict[str, float] | None, labels: Sequence[Any]) -> str | dict[Any, float]:
    """Turn class proportions into what a classifier takes: by the labels of the source, as they are there."""
    if proportions is None:
        return SOURCE
    classes = {str(label): label for label in labels}
    unknown, missing = [one for one in proportions if one not in classes], sorted(classes.keys() - proportions.keys())
    if unknown or missing:
        names, more = sorted(classes), len(classes) - MOST_CLASSES
        there = ", ".join(names[:MOST_CLASSES]) + (f" and {more} more" if more > 0 else "")
        wrong = f"no class of the source is called {unknown[0]!r}" if unknown else f"it has nothing for {missing[0]!r}"
        advice = f"give a proportion for each of these, or 0{suggest(unknown[0], names) if unknown else ''}"
        raise InputError(f"--class-prior: {wrong}; the classes are {there}: {advice}")
    return {classes[name]: one for name, one in proportions.items()}


def gather_options(given: Mapping[str, Any]) -> ClassifyOptions:
    """Make options of what was typed; the others have their defaults."""
    typed = {name: value for name, value in given.items() if value is not None and value != []}
    if isinstance(typed.get("target"), list) and len(typed["target"]) == 1:
        typed["target"] = typed["target"][0]
    return ClassifyOptions(**_name_method(typed))


def _name_method(values: dict[str, Any]) -> dict[str, Any]:
    """Replace a preset by the method that it stands for."""
    rest = {name: value for name, value in values.items() if name != PRESET}
    if PRESET not in values:
        return rest
    check_preset(values[PRESET])
    method = values.get("method", BEST if values[PRESET] == BEST else "tkc")
    if method in METHODS and METHODS[method].is_best != (values[PRESET] == BEST):
        raise InputError(f"--preset {values[PRESET]} and --method {method} do not go together; give one of them")
    return rest | {"method": method}
