"""The state of the house, counted from its source: modules, their names, who imports whom, and what tests reach into.

No text and no data is needed. `--commit REV` counts at a commit instead of in the working tree.
"""

import ast
import subprocess
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.imports import PACKAGE, Import, Source, read_imports, read_source
from bench.table import table

ROOT = Path(__file__).parents[1]
BEFORE = "e701970"  # before the rooms were built
COMMANDS = ("commands", "cli")
LONGEST = 400  # lines of a module
MOST_PATCHES = 24

ALONE = {  # modules that one other imports, and what idea each of them is
    "learn.factor": "a Cholesky factor that grows, of which ridge regression needs only solutions",
    "baselines.coral": "the method CORAL",
    "baselines.dci": "the method DCI",
    "baselines.discriminant": "the method of kernel discriminant analysis",
    "baselines.kemeta": "the method KE-Meta",
    "baselines.msda": "the method mSDA",
    "baselines.naive_bayes": "the method NB-SVM",
    "baselines.scl": "the method SCL",
    "baselines.senses": "word senses and their polarity, which KE-Meta votes with",
    "baselines.sfa": "the method SFA",
    "baselines.sst": "the method SST",
    "baselines.tfidf": "the methods on tf-idf of words",
    "baselines.thesaurus": "relatedness of words over domains, which SST expands texts with",
    "baselines.tradaboost": "the methods of TrAdaBoost",
    "baselines.tsvm": "the method of the transductive support-vector machine",
    "commands.classify.sampling": "a target that need not fit into memory: a fit with a sample of it, then all of it",
    "commands.demo": "the command demo",
    "commands.experiment_parser": "the options of commands that set methods side by side",
    "commands.explain": "the command explain",
    "commands.info": "the command info",
    "commands.kernel": "the command kernel",
    "commands.main": "the parser, which the entry must be able to wait for with Ctrl-C in hand",
    "commands.parser": "the options of every command, apart from what computes",
    "commands.predict": "the command predict",
    "commands.reproduce": "the command reproduce",
    "commands.sample": "the command sample",
    "data.demo": "the corpus that ships with the package",
    "data.download": "a download with limits, taken up again where it broke off",
    "data.fetch": "the public data set: unpacked with care and compared with what we know of it",
    "evaluate.amazon5": "the second published benchmark",
    "evaluate.reproduce": "the paper's tables, all settings of them",
    "grams.filling": "the only loop over tiles",
    "kernels.counting": "the kernels that count shared n-grams",
    "kernels.local_rank": "the kernel local_rank",
    "kernels.subsequence": "the kernel subsequence",
    "kernels.to_landmarks": "n-grams that documents share with landmarks; its leaf stands beside it",
    "kernels.weighted": "the kernel presence with a weight for every n-gram",
    "learn.doubts": "labels that may be wrong",
    "learn.precondition": "the preconditioner of ridge regression",
    "model.predictor": "what a fitted classifier is asked, apart from how it is fitted",
    "ngrams.copies": "copies and near copies among texts",
    "report.comparison_plot": "the picture of a comparison",
    "report.plot": "the public module gs.plot",
    "report.plots": "pictures of the paper's tables",
    "report.presenter": "the report and the summary of a classifier, which the package registers for it",
    "runtime.remote_pieces": "pieces that live on Dask workers",
    "text.novelty": "documents whose words are not those of the source",
}


def run(commit: str | None = None) -> dict[str, Any]:
    """Count here or at a commit; and, if that is not asked for and git knows it, before the rooms were built."""
    if commit:
        return {commit: count_at(commit)}
    found = {"now": count_house(ROOT)}
    try:
        return {BEFORE: count_at(BEFORE)} | found
    except subprocess.CalledProcessError:  # a clone without history
        return found


def count_at(commit: str) -> dict[str, Any]:
    """Count in the files of a commit."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", commit, "src", "tests"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        return count_house(Path(folder))


def count_house(root: Path) -> dict[str, Any]:
    """Count in a folder that has src and tests."""
    source = read_source(root / "src" / PACKAGE)
    imports = read_imports(source)
    leaves = {module for module, path in source.paths.items() if _has_leaves(path)}
    modules = {module: path for module, path in source.paths.items() if path.name != "__init__.py"}
    twice, served = _names_used_twice(source, modules, leaves)
    importers = defaultdict(set)
    for one in imports:
        importers[one.imported].add(one.importer)
    single = [module for module in modules if len(importers[module]) == 1]
    alone = [module.removeprefix(f"{PACKAGE}.") for module in single if module not in leaves]
    patches = [patch for path in sorted((root / "tests").rglob("*.py")) for patch in _patches(path)]
    return {
        "modules": len(modules),
        "names_used_twice": twice,
        "names_like_what_they_serve": served,
        "late_imports": _count(imports, "late"),
        "imports_by_string": _count(imports, "string"),
        "one_importer": len(single),
        "one_importer_no_leaf": alone,
        "one_importer_unlisted": [module for module in alone if module not in ALONE],
        "patches": len(patches),
        "patches_of_ours": sum(ours for ours, _ in patches),
        "patches_of_private_names": sum(ours and private for ours, private in patches),
        "too_long": {
            module: size
            for module, path in modules.items()
            if (size := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
        },
    }


def show(result: dict[str, dict[str, Any]]) -> str:
    """A table with a column for each state, and the names behind the figures of the last one."""
    rows = {
        "modules": "modules",
        "names_used_twice": "names used twice",
        "names_like_what_they_serve": "leaves and commands called like what they serve",
        "late_imports": "names imported inside functions",
        "imports_by_string": "modules imported by string",
        "one_importer": "modules with one importer",
        "one_importer_no_leaf": "of these no leaves",
        "one_importer_unlisted": "of these without a reason in the list of today",
        "patches": "monkeypatch.setattr in tests",
        "patches_of_ours": "of these on names of ours",
        "patches_of_private_names": "of these on private names or constants",
        "too_long": f"modules over {LONGEST} lines",
    }
    figures = [[words, *(_size(state[key]) for state in result.values())] for key, words in rows.items()]
    last = list(result.values())[-1]
    lists = [
        f"{rows[key]}: {', '.join(last[key])}" for key in ("names_used_twice", "one_importer_unlisted", "too_long") if last[key]
    ]
    return "\n".join([table("", list(result), figures), *lists])


def _size(value: Any) -> int:
    return value if isinstance(value, int) else len(value)


def _count(imports: list[Import], how: str) -> int:
    return sum(one.how == how for one in imports)


def _has_leaves(path: Path) -> bool:
    """Whether functions of this module are compiled by the decorator @leaf(...)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    decorators = (one for node in tree.body if isinstance(node, ast.FunctionDef) for one in node.decorator_list)
    return any(isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "leaf" for one in decorators)


def _names_used_twice(source: Source, modules: dict[str, Path], leaves: set[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Names of several modules; apart from them leaves named like a module of their room, and commands named like any."""
    named = defaultdict(list)
    for module, path in modules.items():
        named[path.stem].append(module)
    twice, served = {}, []
    for name, owners in named.items():
        left = [one for one in owners if not (one in leaves and _beside(source, one, owners)) and not _is_command(source, one)]
        if len(owners) > 1 and len(left) <= 1:
            served += [one.removeprefix(f"{PACKAGE}.") for one in owners if one not in left]
        elif len(owners) > 1:
            twice[name] = [one.removeprefix(f"{PACKAGE}.") for one in owners]
    return twice, sorted(served)


def _beside(source: Source, leaf: str, owners: list[str]) -> bool:
    return any(one != leaf and source.room_of(one) == source.room_of(leaf) for one in owners)


def _is_command(source: Source, module: str) -> bool:
    return source.room_of(module) in COMMANDS and module.count(".") == 2


def _patches(path: Path) -> Iterator[tuple[bool, bool]]:
    """For every x.setattr(...): whether something of ours is patched, and whether that is private or a constant."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    foreign = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).partition(".")[0] != PACKAGE
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr"):
            continue
        what = ast.unparse(node.args[0])
        if isinstance(node.args[0], ast.Constant | ast.JoinedStr):
            where, _, name = what.lstrip("f").strip("'\"").rpartition(".")
            ours = where.startswith(PACKAGE)
        else:
            where, name = what, ast.unparse(node.args[1]).strip("'\"")
            ours = where.partition(".")[0] not in foreign
        yield ours, name.startswith("_") or name.isupper()
