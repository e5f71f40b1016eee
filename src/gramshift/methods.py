"""The table of methods, ours and the baselines, by the names that users type.

Other names that users type are also here, so that --help need not import anything slow.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from gramshift.baselines import CLASSES, EXTRA, require
from gramshift.errors import InputError, suggest

BEST = "best"  # a preset, and the method that uses it
KERNELS = ("presence", "intersection", "spectrum")
FORMATS = ("csv", "tsv", "jsonl", "parquet")
ENGINES = ("threads", "dask")
PRESETS = ("paper", BEST)


@dataclass(frozen=True)
class Method:
    """A method of labelling target documents."""

    name: str
    title: str
    """The name in tables."""
    class_name: str
    reference: str
    options: dict[str, Any] = field(default_factory=dict)
    adapts: bool = True
    """True if the method uses target documents."""
    needs: tuple[str, ...] = ()
    """Packages that the method needs beyond our dependencies."""
    published: str | None = None
    """The row of the published figures."""
    difference: str = ""
    """How the published experiments differed from ours."""

    @property
    def is_own(self) -> bool:
        """True if the method is our own classifier with some options."""
        return self.class_name == "TransductiveClassifier"

    @property
    def is_stage(self) -> bool:
        """True for the three stages of the paper, which take any kernel."""
        return self.is_own and self.options["preset"] == "paper"

    @property
    def is_best(self) -> bool:
        """True if the method runs the preset "best", with all or some of its kernels."""
        return self.is_own and self.options["preset"] == BEST

    def check(self) -> None:
        """Raise an error with the package to install if one is missing."""
        require(self.title, self.needs)

    @property
    def unadapted(self) -> dict[str, Any]:
        """Options of the method's own classifier without adaptation, trained on the source."""
        if not self.adapts:
            return {}
        if self.is_best:
            return {"n_rounds": 1, "class_prior": "source"}
        return {"adapt": False, "n_rounds": 1} if self.is_own else {"adapt": False}

    def make(self, *, source_only: bool = False, **options: Any) -> Any:
        """Return an unfitted estimator: the method, or its classifier without adaptation."""
        self.check()
        options = self.options | (self.unadapted if source_only else {}) | options
        if self.is_own:
            # slow to import, and not needed for --help
            from gramshift.model.classifier import TransductiveClassifier

            return TransductiveClassifier(**options)
        return getattr(import_module(CLASSES[self.class_name]), self.class_name)(**options)


PAPER = "Ionescu and Butnaru 2018"
KDA = "Giménez-Pérez, Franco-Salvador and Rosso, EACL 2017"
OTHER_SPLIT = "1600 source and 400 target documents, five random splits"
_ROWS = (
    Method(
        "plain",
        "plain",
        "TransductiveClassifier",
        PAPER,
        {"preset": "paper", "adapt": False, "n_rounds": 1},
        adapts=False,
    ),
    Method(
        "adapted", "adapted", "TransductiveClassifier", PAPER, {"preset": "paper", "n_rounds": 1}
    ),
    Method("tkc", "tkc", "TransductiveClassifier", PAPER, {"preset": "paper"}),
    Method(BEST, "best", "TransductiveClassifier", "docs/experiments.md", {"preset": BEST}),
    Method(
        "best-words",
        "best, words",
        "TransductiveClassifier",
        "docs/experiments.md",
        {"preset": BEST, "kernel": "words"},
    ),
    Method(
        "best-characters",
        "best, characters",
        "TransductiveClassifier",
        "docs/experiments.md",
        {"preset": BEST, "kernel": "presence"},
    ),
    Method(
        "kda", "string kernels + KDA", "KernelDiscriminant", KDA, adapts=False, published="KDA 0/1"
    ),
    Method(
        "kda-intersection",
        "string kernels ∩ + KDA",
        "KernelDiscriminant",
        KDA,
        {"kernel": "intersection"},
        adapts=False,
        published="KDA ∩",
    ),
    Method("tfidf", "tf-idf + logistic regression", "TfidfLogistic", "scikit-learn", adapts=False),
    Method(
        "tfidf-characters",
        "tf-idf of characters + SVM",
        "TfidfCharacters",
        "scikit-learn",
        adapts=False,
    ),
    Method("nbsvm", "NB-SVM", "NBSVM", "Wang and Manning, ACL 2012", adapts=False),
    Method("self-training", "self-training", "SelfTraining", "scikit-learn"),
    Method(
        "self-training-balanced",
        "balanced self-training",
        "BalancedSelfTraining",
        "after Zou, Yu, Kumar and Wang, ECCV 2018",
    ),
    Method("msda", "mSDA", "MSDA", "Chen, Xu, Weinberger and Sha, ICML 2012"),
    Method(
        "sfa",
        "SFA",
        "SFA",
        "Pan, Ni, Sun, Yang and Chen, WWW 2010",
        published="SFA",
        difference=OTHER_SPLIT,
    ),
    Method(
        "coral",
        "CORAL",
        "CORAL",
        "Sun, Feng and Saenko, AAAI 2016",
        published="CORAL",
        difference="a fixed choice of 400 words that came with its data, other splits; "
        "four settings only",
    ),
    Method(
        "tradaboost", "TrAdaBoost (pseudo-labels)", "TrAdaBoost", "Dai, Yang, Xue and Yu, ICML 2007"
    ),
    Method(
        "tr-tradaboost",
        "TR-TrAdaBoost (pseudo-labels)",
        "TopicTrAdaBoost",
        "Huang, Rao, Xie, Wong and Wang, AAAI 2017",
        published="TR-TrAdaBoost",
        difference="some target documents with their true labels, ours has pseudo-labels; "
        "parameters unknown",
    ),
    Method(
        "scl", "SCL", "SCL", "Blitzer, McDonald and Pereira, EMNLP 2006", {"pivots": "frequency"}
    ),
    Method(
        "scl-mi",
        "SCL-MI",
        "SCL",
        "Blitzer, Dredze and Pereira, ACL 2007",
        {"pivots": "mutual_information"},
    ),
    Method(
        "dci",
        "DCI",
        "DCI",
        "Moreo Fernández, Esuli and Sebastiani, JAIR 2016",
        published="DCI",
        difference="the data set's unlabelled files besides, 4/5 of the source and 1/5 of the "
        "target, five folds",
    ),
    Method("tsvm", "TSVM", "TransductiveSVM", "Joachims, ICML 1999"),
    Method(
        "tsvm-strings", "TSVM 0/1", "TransductiveSVM", "Joachims, ICML 1999", {"kernel": "presence"}
    ),
    Method(
        "sst",
        "SST",
        "SST",
        "Bollegala, Weir and Carroll, TKDE 2013",
        needs=("HanTa",),
        published="SST",
        difference="the data set's unlabelled files besides, 1600 source documents each, "
        "400 target documents",
    ),
    Method(
        "ke-meta",
        "KE-Meta (substitute)",
        "KEMeta",
        "Franco-Salvador, Cruz, Troyano and Rosso, KBS 2015",
        adapts=False,
        needs=("HanTa", "pattern"),
        published="KE-Meta",
        difference="BabelNet where ours has WordNet; how its parts work is not public",
    ),
)


METHODS = {method.name: method for method in _ROWS}
OWN = [name for name, method in METHODS.items() if method.is_own]
STAGES = [name for name in OWN if METHODS[name].is_stage]
RIVALS = [name for name in METHODS if name not in OWN]


def parse_methods(value: str) -> list[str]:
    """Return the methods named by "own", "baselines", "all" or names such as "tkc,sfa".

    Each is returned once, in the order of the table.
    """
    return parse_names(
        "method", value, METHODS, {"own": STAGES, "baselines": RIVALS, "all": list(METHODS)}
    )


def parse_names(
    what: str, value: str, known: Iterable[str], groups: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Return the known names that a comma-separated list of names and groups stands for.

    Case does not matter. Each is returned once, in the order of the known names.
    """
    names, groups = list(known), groups or {}
    meant = {name.lower(): [name] for name in names} | dict(groups)
    given = [part.strip() for part in value.split(",") if part.strip()]
    unknown = [name for name in given if name.lower() not in meant]
    if unknown or not given:
        fault = f"{what} {unknown[0]!r} is not known" if unknown else f"no {what} is named"
        close = suggest(unknown[0], meant) if unknown else ""
        raise InputError(f"{fault}; there are {', '.join([*groups, *names])}{close}")
    chosen = {name for part in given for name in meant[part.lower()]}
    return [name for name in names if name in chosen]


def check_preset(name: str) -> None:
    """Raise an error if there is no such preset."""
    if name not in PRESETS:
        there = " and ".join(PRESETS)
        raise InputError(f"--preset {name}: there are {there}{suggest(name, PRESETS)}")


def methods_table() -> str:
    """Return the table as Markdown, for the documentation."""
    lines = [
        "| name | method | class | learns from the target | reference | needs |",
        "|---|---|---|---|---|---|",
    ]
    for method in METHODS.values():
        options = ", ".join(f"{name}={value!r}" for name, value in method.options.items())
        needs = f"`gramshift[{EXTRA}]`" if method.needs else ""
        adapts = "yes" if method.adapts else "no"
        made = f"`{method.class_name}({options})`"
        cells = (f"`{method.name}`", method.title, made, adapts, method.reference, needs)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
