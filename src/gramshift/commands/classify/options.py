"""The options of a run: from the command line, from a file, checked, and written down again."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gramshift.commands.outputs import STANDARD
from gramshift.data.columns import suggest
from gramshift.errors import InputError
from gramshift.learn.rounds import SOURCE_SHARES
from gramshift.methods import BEST, ENGINES, KERNELS, LABELLING, METHODS, check_preset
from gramshift.model.classifier import TransductiveClassifier
from gramshift.model.settings import PRESETS, Settings
from gramshift.runtime.cluster import COMMAND
from gramshift.runtime.memory import parse_bytes

LISTS = ("source",)
PRESET = "preset"  # another way to name a method
PAPER = "paper"
SWITCHES = ("dry_run", "force")
NUMBERS = ("abstain_below",)
WHOLE = ("jobs",)
AUTO = "auto"


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
    shares: str | None = None
    unlabelled: str | None = None
    abstain_below: float | None = None
    landmarks: str | None = None
    sample: str | None = None
    resume: str | None = None
    engine: str = "threads"
    scheduler: str | None = None
    memory: str | None = None
    jobs: int = -1
    dry_run: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        if not self.source:
            raise InputError("no --source: name the labelled files, for example --source books.csv dvd.csv")
        if self.target is None and len(self.source) > 1:
            raise InputError(
                "no --target: name the file to label; only a single --source whose label column has gaps needs none"
            )
        if not any((self.output, self.report, self.save, self.dry_run)):
            raise InputError("nothing is asked for: name a file for the labels with --output, or a page with --report")
        if self.method in METHODS and METHODS[self.method].told:
            raise InputError(f"--method {self.method} is for comparisons, where true labels are known; here use another")
        if self.method not in METHODS:
            close = suggest(self.method, tuple(LABELLING))
            raise InputError(f"--method {self.method}: there are {', '.join(LABELLING)}{close}")
        METHODS[self.method].check()
        if self.kernel not in KERNELS:
            raise InputError(f"--kernel {self.kernel}: there are {', '.join(KERNELS)}{suggest(self.kernel, KERNELS)}")
        if METHODS[self.method].is_best and (self.kernel != "presence" or self.added is not None):
            given = "--kernel" if self.added is None else "--added"
            raise InputError(f"{given} goes with plain, adapted and tkc; {self.method} has its own, leave it out")
        if self.shares is not None:
            if not METHODS[self.method].is_best:
                raise InputError(f"--shares goes with {BEST}; {self.method} has no use for shares of classes")
            parse_shares(self.shares)
        if self.unlabelled is not None and (
            self.sample is not None or not METHODS[self.method].is_own or self.landmarks is not None
        ):
            why = "--sample and --landmarks" if METHODS[self.method].is_own else f"--method {self.method}"
            raise InputError(f"--unlabelled does not go together with {why}; leave it out, or put these texts into --target")
        if self.landmarks is not None:
            self._check_landmarks()
        if self.sample is not None:
            self._check_sample()
        elif len(self.targets) > 1:
            raise InputError("--target names several files, which goes with --sample 100000 alone; label one after another")
        check_engine(self.engine, self.scheduler)
        for name, wanted in (("--resume", self.resume is not None), ("--engine dask", self.engine == "dask")):
            if wanted and self.sample is None and self.landmarks is None and not METHODS[self.method].is_stage:
                advice = f"with {self.method} it goes with --sample" if METHODS[self.method].is_own else "leave it out"
                raise InputError(f"{name} is for the gram of plain, adapted and tkc; {advice}")
        if self.memory is not None:
            parse_bytes(self.memory, name="--memory")
        if self.abstain_below is not None and not 0 < self.abstain_below <= 1:
            raise InputError(f"--abstain-below {self.abstain_below:g}: give a confidence between 0 and 1, such as 0.7")
        if self.jobs == 0 or self.jobs < -1:
            raise InputError(f"--jobs {self.jobs}: give a number of threads, or -1 for all cores")
        if self.ngrams is not None:
            parse_ngrams(self.ngrams)
        self._parse_added()

    def _check_landmarks(self) -> None:
        words = str(self.landmarks)
        if words != AUTO and not (words.isdecimal() and int(words) > 0):
            raise InputError(f"--landmarks {words}: give a number of documents such as 2000, or {AUTO}")
        if not METHODS[self.method].is_stage:
            stages = ", ".join(name for name, one in METHODS.items() if one.is_stage)
            why = "is exact without: use --sample" if METHODS[self.method].is_best else "compares all documents"
            raise InputError(f"--landmarks goes with {stages}; {self.method} {why}")
        if STANDARD in (*self.source, *self.targets):
            raise InputError("--landmarks reads documents more than once, which standard input cannot; give the name of a file")

    def _check_sample(self) -> None:
        words = str(self.sample)
        if not (words.isdecimal() and int(words) > 0):
            raise InputError(f"--sample {words}: give a number of target documents such as 100000")
        for name in ("report", "truth", "corrections"):
            if getattr(self, name) is not None:
                raise InputError(f"--{name} is for runs that have the whole target in view; leave it out with --sample")
        if not self.targets:
            raise InputError("--sample draws from the target; name it with --target")
        if STANDARD in self.targets or (STANDARD in self.source and self.resume is not None):
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

    def n_added(self, n_target: int) -> int:
        """How many of so many target documents join in the end."""
        parameters = TransductiveClassifier(**METHODS[self.method].options | self.given_parameters([])).get_params(deep=False)
        return Settings.from_parameters(parameters).count_added(n_target)[-1] if METHODS[self.method].is_own else n_target

    def given_parameters(self, labels: Sequence[Any]) -> dict[str, Any]:
        """What is given of the parameters of our own classifier; what is not has the values of its preset, as in Python.

        ``labels`` are those of the source, for shares of classes.
        """
        given = self.given_to_plain()
        if METHODS[self.method].is_stage and self.added is not None:
            given["n_added"] = self._parse_added()
        if self.shares is not None and labels:
            given["select"] = match_shares(parse_shares(self.shares), labels)
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

    def to_toml(self) -> str:
        """Write what differs from the defaults as a file for --config."""
        defaults = {one.name: one.default for one in fields(self)}
        chosen = {name: value for name, value in asdict(self).items() if value != defaults[name] and name != "dry_run"}
        return "".join(f"{name.replace('_', '-')} = {_toml(value)}\n" for name, value in chosen.items())


def check_engine(engine: str, scheduler: str | None) -> None:
    """Raise an error if there is no such engine, or Dask is not there, or has no use for the address of a scheduler."""
    if engine not in ENGINES:
        raise InputError(f"--engine {engine}: there are {', '.join(ENGINES)}{suggest(engine, ENGINES)}")
    if scheduler is not None and engine != "dask":
        raise InputError(f"--scheduler {scheduler} is for Dask; add --engine dask")
    if engine == "dask" and find_spec("distributed") is None:
        raise InputError(f"--engine dask needs dask and distributed: {COMMAND}")


def parse_ngrams(value: str) -> tuple[int, int]:
    """Read lengths: "5-8" is (5, 8), "4" is (4, 4)."""
    low, dash, high = value.partition("-")
    if not low.strip().isdecimal() or (dash and not high.strip().isdecimal()):
        raise InputError(f"--ngrams {value}: give two lengths such as 5-8, or one such as 4")
    lengths = int(low), int(high if dash else low)
    if not 1 <= lengths[0] <= lengths[1]:
        meant = f"; did you mean {lengths[1]}-{lengths[0]}?" if lengths[1] >= 1 else ""
        raise InputError(f"--ngrams {value}: the lengths go from a smaller one, at least 1, to a larger one{meant}")
    return lengths


def parse_shares(value: str) -> dict[str, float] | None:
    """Read shares of classes: "positive=0.5,negative=0.5"; None for "source"."""
    if value.strip() == "source":
        return None
    shares: dict[str, float] = {}
    for part in value.split(","):
        name, sign, number = part.rpartition("=")
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not sign or not 0 <= share < float("inf") or name.strip() in shares:
            raise InputError(f"--shares {value}: give source, or a share of every class such as positive=0.5,negative=0.5")
        shares[name.strip()] = share
    return shares


def match_shares(shares: dict[str, float] | None, labels: Sequence[Any]) -> str | dict[Any, float]:
    """What a classifier takes for shares: by the labels that the source has, as they are there."""
    if shares is None:
        return SOURCE_SHARES
    classes = {str(label): label for label in labels}
    if set(shares) != set(classes):
        given, there = ", ".join(shares), ", ".join(sorted(classes))
        raise InputError(f"--shares names {given}; the classes of the source are {there}: give a share for each of these")
    if not sum(shares.values()) > 0:
        raise InputError("--shares gives every class 0; give at least one class a share above 0")
    return {classes[name]: share for name, share in shares.items()}


def gather_options(given: Mapping[str, Any], config: str | None) -> ClassifyOptions:
    """Put the options together; what was typed goes before what the file says."""
    values = read_config(config) if config is not None else {}
    typed = {name: value for name, value in given.items() if value is not None and value != []}
    if isinstance(typed.get("target"), list) and len(typed["target"]) == 1:
        typed["target"] = typed["target"][0]
    return ClassifyOptions(**_name_method(values) | _name_method(typed))


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


def read_config(path: str) -> dict[str, Any]:
    """Read the options in a TOML file, each of the right type."""
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f'{path} is not TOML: {error}; a line is for example method = "tkc"') from None
    known = [*(one.name for one in fields(ClassifyOptions)), PRESET]
    values = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in known:
            shown = [one.replace("_", "-") for one in known]
            raise InputError(f"{path}: there is no option {key!r}{suggest(key, shown)}; there are {', '.join(shown)}")
        values[name] = _checked(path, key, name, value)
    return values


def _checked(path: str, key: str, name: str, value: Any) -> Any:
    if name in LISTS or (name == "target" and isinstance(value, list)):
        several = [value] if isinstance(value, str) else value
        fits = isinstance(several, list) and all(isinstance(one, str) for one in several)
        wanted, value = 'a list such as ["books.csv", "dvd.csv"]', several
    elif name in SWITCHES:
        fits, wanted = isinstance(value, bool), "true or false"
    elif name in WHOLE or name in NUMBERS:
        kinds = (int,) if name in WHOLE else (int, float)
        fits, wanted = isinstance(value, kinds) and not isinstance(value, bool), "a number"
    else:
        number = (
            name in ("ngrams", "added", "memory", "landmarks", "sample")
            and isinstance(value, (int, float))
            and not isinstance(value, bool)
        )
        value = str(value) if number else value
        fits, wanted = isinstance(value, str), "a string in quotes"
    if not fits:
        raise InputError(f"{path}: {key} = {value!r}: it must be {wanted}")
    return value


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
