"""``gramshift classify`` with its texts counted: python -P classify_child.py REPORT OPTIONS, for the gramshift of PYTHONPATH.

It imports nothing of bench, so that it runs beside any commit. What a commit does not have is not counted.
"""

import functools
import importlib
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

counts: dict[str, list[int]] = defaultdict(list)
"""For each call of what is counted the number of its documents."""


def count_prepared() -> None:
    """Texts that text steps are applied to."""
    steps = importlib.import_module("gramshift.text.steps").TextSteps
    apply = steps.apply

    @functools.wraps(apply)
    def counted(self: Any, texts: Any) -> Any:
        given = list(texts)
        counts["prepared"].append(len(given))
        return apply(self, given)

    steps.apply = counted


def count_sorted() -> None:
    """Documents whose n-grams are sorted: that happens whenever n-grams that are not held are read."""
    ngrams = importlib.import_module("gramshift.ngrams.sorted_ngrams").SortedNGrams
    read = ngrams.map

    @functools.wraps(read)
    def counted(self: Any, *arguments: Any, **options: Any) -> Any:
        if self.held is None:
            counts["sorted"].append(int(self.texts.n_docs))
        return read(self, *arguments, **options)

    ngrams.map = counted


def count_encoded() -> None:
    """Documents that are written as numbers, for sorting or for looking n-grams up; before other modules take the function."""
    home: Any = importlib.import_module("gramshift.text.encode")
    encode = home.encode

    @functools.wraps(encode)
    def counted(texts: Any, *arguments: Any, **options: Any) -> Any:
        counts["encoded"].append(len(texts))
        return encode(texts, *arguments, **options)

    home.encode = counted


def peak_bytes() -> int:
    """The peak of resident memory since this program was loaded."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Run the command and report what it took."""
    report = Path(sys.argv[1])
    sys.argv = ["gramshift", "classify", *sys.argv[2:]]
    found = {}
    for count in (count_encoded, count_prepared, count_sorted):
        try:
            count()
        except (ImportError, AttributeError) as error:
            found[count.__name__] = f"not counted: {error}"
    import gramshift
    from gramshift.commands.entry import run

    code: Any = 0
    try:
        run()
    except SystemExit as stop:
        code = stop.code
    home = str(Path(gramshift.__file__).parent)
    took = {"cpu_s": time.process_time(), "peak_mb": peak_bytes() / 1e6}
    report.write_text(json.dumps({"home": home, "counts": counts, "missing": found} | took))
    sys.exit(code)


if __name__ == "__main__":
    main()
