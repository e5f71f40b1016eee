"""The options of a run: from the command line, checked, and written as a command again."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from gramshift.commands.encoders import check_encoder_name, open_encoder
from gramshift.commands.label.many_files import check_engine
from gramshift.commands.label.one_file import check_confidence
from gramshift.commands.outputs import STANDARD
from gramshift.errors import InputError, suggest
from gramshift.learn.rounds import SOURCE
from gramshift.memory import parse_bytes
from gramshift.methods import BEST, KERNELS, METHODS, OWN, check_preset
from gramshift.model.settings import PLAIN, PRESETS, UNADAPTED
from gramshift.terminal import join_words

PAPER = "paper"
MAX_SHOWN = 200  # characters of a value that an error repeats
MAX_CLASSES = 20  # that an error names


@dataclass(frozen=True)
class ClassifyOptions:
    """The options of ``gramshift classify``; making them with a mistake raises an error."""

    source: list[str] = field(default_factory=list)
    target: str | list[str] | None = None
    output: str | None = None
    report: str | None = None
    save: str | None = None
    text: str | None = None
    label: str | None = None
    id: str | None = None
    truth: str | None = None
    corrections: list[str] = field(default_factory=list)
    format: str | None = None
    encoding: str = "utf-8"
    method: str = BEST
    kernel: str = "presence"
    ngrams: str | None = None
    added: str | None = None
    class_prior: str | None = None
    encoder: str | None = None
    vectors: tuple[str, str] | None = None
    unlabelled: str | None = None
    abstain_below: float | None = None
    fit_on: str | None = None
    engine: str = "threads"
    scheduler: str | None = None
    memory: str | None = None
    jobs: int = -1
    dry_run: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        self._check_names()
        self._check_files()
        self._check_method()
        if self.fit_on is None:
            self._check_whole_fit()
        else:
            self._check_fit_on(self.fit_on)
        check_engine(self.engine, self.scheduler)
        check_confidence(self.abstain_below)
        if self.jobs == 0 or self.jobs < -1:
            raise InputError(f"--jobs {self.jobs}: give a number of threads, or -1 for all cores")
        if self.memory is not None:
            parse_bytes(self.memory, name="--memory")
        if self.ngrams is not None:
            parse_ngrams(self.ngrams)
        if self.class_prior is not None:
            parse_class_prior(self.class_prior)
        self._parse_added()

    def _check_names(self) -> None:
        """Raise an error for a method or kernel that does not exist or is not installed."""
        known: dict[str, Iterable[str]] = {"method": METHODS, "kernel": KERNELS}
        for name, values in known.items():
            given = getattr(self, name)
            if given not in values:
                close = suggest(given, values)
                raise InputError(f"--{name} {given}: there are {', '.join(values)}{close}")
        METHODS[self.method].check()

    def _check_files(self) -> None:
        """Raise an error for files that are missing, or that cannot be written."""
        if not self.source:
            raise InputError(
                "no source: name the labelled files, for example"
                " gramshift classify books.csv dvd.csv --target kitchen.csv"
            )
        if self.target is None and len(self.source) > 1:
            raise InputError(
                "no --target: name the file to label;"
                " only a single source whose label column has gaps needs none"
            )
        for name in ("report", "save"):
            if getattr(self, name) == STANDARD:
                raise InputError(f"--{name} cannot go to standard output; give the name of a file")

    def _check_method(self) -> None:
        """Raise an error for options that do not go with the method."""
        method, own = METHODS[self.method], ", ".join(OWN)
        if not method.is_own:
            self._check_baseline(own)
        if method.is_best and (self.kernel != "presence" or self.added is not None):
            unusual = "--kernel" if self.added is None else "--added"
            raise InputError(
                f"{unusual} goes with plain, adapted and tkc; {self.method} has its own,"
                " leave it out"
            )
        if self.class_prior is not None and not method.is_best:
            raise InputError(
                f"--class-prior goes with {BEST}; {self.method} does not use class proportions"
            )
        if self.encoder is not None:
            if not method.is_best:
                raise InputError(f"--encoder goes with {BEST}, not {self.method}; leave it out")
            if self.engine == "dask":
                raise InputError("--encoder goes with --engine threads; leave --engine out")
            check_encoder_name(self.encoder)
        if self.vectors is not None:
            self._check_vectors()
        if self.unlabelled is not None and (self.fit_on is not None or not method.is_own):
            other = "--fit-on" if method.is_own else f"--method {self.method}"
            raise InputError(
                f"--unlabelled does not go together with {other};"
                " leave it out, or put these texts into --target"
            )

    def _check_vectors(self) -> None:
        """Raise an error for options that do not go with --vectors."""
        if not METHODS[self.method].is_best:
            raise InputError(f"--vectors goes with {BEST}, not {self.method}; leave it out")
        if self.target is None:
            raise InputError("--vectors needs --target: its second file has the target's vectors")
        for name in ("encoder", "save", "fit_on", "unlabelled"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"--{name.replace('_', '-')} does not go with --vectors, which has those of"
                    " source and target alone; leave it out, or use --encoder in place of --vectors"
                )

    def _check_baseline(self, own: str) -> None:
        """Raise an error for options that a baseline does not have; ``own`` names our methods."""
        if self.save is not None:
            raise InputError(
                f"--save {self.save}: the baseline {self.method} is not saved;"
                f" leave --save out, or use a method whose models are: {own}"
            )
        for name in ("report", "corrections"):
            if getattr(self, name):
                raise InputError(
                    f"--{name} does not go with the baseline {self.method}; use one of {own},"
                    " or compare methods with gramshift compare"
                )
        if self.fit_on is not None:
            raise InputError(
                f"--fit-on goes with {own}; {self.method} is a baseline, leave --fit-on out"
            )

    def _check_whole_fit(self) -> None:
        """Raise an error for options that only go with --fit-on."""
        if len(self.targets) > 1:
            raise InputError(
                "--target names several files, which goes with --fit-on 100000 alone;"
                " label one after another"
            )
        if self.engine == "dask":
            raise InputError(
                "--engine dask has workers label the files of a target, which goes with --fit-on;"
                " leave it out"
            )

    def _check_fit_on(self, size: str) -> None:
        """Raise an error for a wrong size, or options that do not go with --fit-on."""
        if re.fullmatch(r"\d{1,18}", size) is None or int(size) == 0:
            raise InputError(
                f"--fit-on {size[:60]}: give a number of target documents such as 100000"
            )
        for name in ("report", "truth", "corrections"):
            if getattr(self, name):
                raise InputError(
                    f"--{name} is for runs that have the whole target in view;"
                    " leave it out with --fit-on"
                )
        if not self.targets:
            raise InputError("--fit-on draws from the target; name it with --target")
        if STANDARD in self.targets:
            raise InputError(
                "--fit-on reads documents more than once, which standard input cannot;"
                " give the name of a file"
            )
        if self.output is None and not self.dry_run:
            raise InputError(
                "--fit-on labels a target that need not fit into memory;"
                " name where it goes with --output"
            )

    @property
    def steps(self) -> list[str]:
        """The steps of such a run, in their order, for a display of its progress."""
        method = METHODS[self.method]
        compares = method.is_stage and self.method != PLAIN
        wanted = {
            "reading": True,
            "encoding": self.encoder is not None or self.vectors is not None,
            "before": bool(self.corrections),
            "index": method.is_own,
            "gram": compares,
            "training": True,
            "reference": self.tries_source_prior or compares,
            "problems": method.is_own,
            "report": self.report is not None,
            "labelling": self.fit_on is not None,
        }
        return [step for step, is_wanted in wanted.items() if is_wanted]

    @property
    def tries_source_prior(self) -> bool:
        """True if true labels can show the effect of the source's class proportions."""
        is_best = METHODS[self.method].is_best
        return is_best and self.truth is not None and self.class_prior is None

    @property
    def use_of_random_labels(self) -> str:
        """The use of labels of random documents, in words."""
        if METHODS[self.method].is_best and self.class_prior is None:
            return "set the class proportions and measure the accuracy"
        return "measure the accuracy"

    @property
    def gives_class_prior(self) -> bool:
        """True if the user gives the class proportions of the target."""
        return self.class_prior is not None and parse_class_prior(self.class_prior) is not None

    @property
    def targets(self) -> list[str]:
        """The values of --target: files, or with --fit-on patterns and folders too."""
        return [self.target] if isinstance(self.target, str) else self.target or []

    @property
    def ngram_range(self) -> tuple[int, int]:
        """The lengths of n-grams that are given, or those of the preset."""
        if self.ngrams is not None:
            return parse_ngrams(self.ngrams)
        preset = BEST if METHODS[self.method].is_best else PAPER
        lengths: tuple[int, int] = PRESETS[preset]["ngram_range"]
        return lengths

    @property
    def reference(self) -> str:
        """The name of the labels to compare with: unadapted for best, plain for all others."""
        return UNADAPTED if METHODS[self.method].is_best else PLAIN

    def given_parameters(self, labels: Sequence[Any]) -> dict[str, Any]:
        """Return the typed parameters of our own classifier; others are those of a preset.

        ``labels`` are those of the source, for class proportions.
        """
        method = METHODS[self.method]
        given: dict[str, Any] = {} if method.is_best else {"kernel": self.kernel}
        if self.ngrams is not None:
            given["ngram_range"] = parse_ngrams(self.ngrams)
        if method.is_stage and self.added is not None:
            given["n_added"] = self._parse_added()
        if self.encoder is not None:
            given["encoder"] = open_encoder(self.encoder)
        if self.class_prior is not None and labels:
            given["class_prior"] = match_class_prior(parse_class_prior(self.class_prior), labels)
        return given

    def _parse_added(self) -> int | float | None:
        """Return the number of pseudo-labels, or a fraction of the target; None for the preset."""
        if self.added is None:
            return None
        try:
            number = float(self.added)
        except ValueError:
            number = -1.0
        share = "." in self.added or "e" in self.added.lower()
        if not number > 0 or number == float("inf") or (share and number > 1):
            raise InputError(
                f"--added {self.added}: give a number of documents such as 1000,"
                " or a share such as 0.5"
            )
        return number if share else int(number)

    def to_command(self, **changes: Any) -> str:
        """Write the run as one line for a shell, with other values for some options."""
        defaults = {one.name: one.default for one in fields(self)}
        values = asdict(self) | changes
        sources = [
            f"./{one}" if one.startswith("-") and one != STANDARD else one
            for one in values.pop("source")
        ]
        words = ["gramshift", "classify", *sources]
        for name, value in values.items():
            option = f"--{name.replace('_', '-')}"
            if value == defaults[name] or name == "dry_run" or value == []:
                continue
            if value is True:
                words.append(option)
                continue
            if isinstance(value, tuple):
                words += [option, *value]
                continue
            for one in map(str, value if isinstance(value, list) else [value]):
                looks_like_option = one.startswith("-") and one != STANDARD
                words += [f"{option}={one}"] if looks_like_option else [option, one]
        return join_words(words)


def parse_ngrams(value: str) -> tuple[int, int]:
    """Read lengths: "5-8" is (5, 8), "4" is (4, 4)."""
    given = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", value)
    if given is None:
        raise InputError(f"--ngrams {value[:60]}: give two lengths such as 5-8, or one such as 4")
    low, high = int(given[1]), int(given[2] or given[1])
    if not 1 <= low <= high:
        meant = f"; did you mean {high}-{low}?" if high >= 1 else ""
        raise InputError(
            f"--ngrams {value}: the lengths go from a smaller one, at least 1,"
            f" to a larger one{meant}"
        )
    return low, high


def parse_class_prior(value: str) -> dict[str, float] | None:
    """Read class proportions such as "positive=60%,negative=40%"; None for "source"."""
    if value.strip() == SOURCE:
        return None
    proportions: dict[str, float] = {}
    signs = set()

    advice = (
        "give source, or a proportion for every class, such as positive=60%,negative=40%"
        " or positive=0.6,negative=0.4"
    )

    def error(words: str, advice: str = advice) -> InputError:
        return InputError(f"--class-prior {value[:MAX_SHOWN]}: {words}; {advice}")

    for part in value.split(","):
        name, equals, number = (one.strip() for one in part.rpartition("="))
        if not equals or not name:
            raise error(f"{part.strip()[:MAX_SHOWN]!r} is not of the form class=proportion")
        if name in proportions:
            raise error(f"{name!r} is there twice")
        signs.add(number.endswith("%"))
        scale = 100 if number.endswith("%") else 1
        try:
            proportions[name] = float(number.removesuffix("%")) / scale
        except ValueError:
            raise error(f"{number!r} of {name!r} is not a number") from None
        if not 0 <= proportions[name] < float("inf"):
            raise error(f"{number} of {name!r} is not a proportion from 0 on")
    if len(signs) > 1:
        raise error("some numbers have a % and some have none")
    if not sum(proportions.values()) > 0:
        raise error("every class has 0", "give at least one class a proportion above 0")
    return proportions


def match_class_prior(
    proportions: dict[str, float] | None, labels: Sequence[Any]
) -> str | dict[Any, float]:
    """Return class proportions by the labels of the source, as a classifier takes them."""
    if proportions is None:
        return SOURCE
    classes = {str(label): label for label in labels}
    unknown = [one for one in proportions if one not in classes]
    missing = sorted(classes.keys() - proportions.keys())
    if unknown or missing:
        names, more = sorted(classes), len(classes) - MAX_CLASSES
        there = ", ".join(names[:MAX_CLASSES]) + (f" and {more} more" if more > 0 else "")
        if unknown:
            wrong = f"no class of the source is called {unknown[0]!r}"
            close = suggest(unknown[0], names)
        else:
            wrong, close = f"it has nothing for {missing[0]!r}", ""
        advice = f"give a proportion for each of these, or 0{close}"
        raise InputError(f"--class-prior: {wrong}; the classes are {there}: {advice}")
    return {classes[name]: one for name, one in proportions.items()}


def gather_options(given: Mapping[str, Any]) -> ClassifyOptions:
    """Make options of what was typed; the others have their defaults."""
    typed = {name: value for name, value in given.items() if value is not None and value != []}
    if isinstance(typed.get("target"), list) and len(typed["target"]) == 1:
        typed["target"] = typed["target"][0]
    preset = typed.pop("preset", None)
    if preset is not None:
        check_preset(preset)
        method = typed.setdefault("method", BEST if preset == BEST else "tkc")
        if method in METHODS and METHODS[method].is_best != (preset == BEST):
            raise InputError(
                f"--preset {preset} and --method {method} do not go together; give one of them"
            )
    return ClassifyOptions(**typed)
