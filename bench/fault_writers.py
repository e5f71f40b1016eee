"""Everything that we write, each as one piece of work that can be done again and again in a folder of its own."""

import io
import json
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

import gramshift as gs
from gramshift.commands.classify import run as classify_run
from gramshift.commands.classify.options import ClassifyOptions
from gramshift.commands.classify.sampling import classify_any
from gramshift.commands.compare import check_folder
from gramshift.commands.demo import write_domains
from gramshift.commands.explain import explain
from gramshift.commands.predict import predict
from gramshift.data.fetch import fetch_sentiment
from gramshift.data.reviews import DOMAINS, FILES, FOLDER
from gramshift.evaluate.comparison_files import write_comparison
from gramshift.evaluate.kept import Kept
from gramshift.report.comparison_plot import write_plot
from gramshift.report.page import write_page

OLD = b"old"
TEXTS = ["a good film, nice and good", "nice, really good", "a bad film, dull and bad", "dull, really bad"] * 5
NEW = [f"{text} as well" for text in TEXTS]
LABELS = ["positive", "positive", "negative", "negative"] * 5


@dataclass(frozen=True)
class Writer:
    """Something that is written, once or again."""

    name: str
    write: Callable[[Path], Any]
    """Writes into a folder, as a run of its own that begins there."""
    files: tuple[str, ...]
    """Those that are there before, and change together if there are several."""
    also: tuple[str, ...] = ()
    """Patterns of others that it writes, each by itself."""
    is_slow: bool = False
    varying: tuple[str, ...] = field(default=("m.gramshift", ".gramshift/*", "run.json", "lock", "kept/*", "fit.json"))
    """Patterns of files that differ from run to run, such as by a date; they must be whole by themselves."""


@contextmanager
def make_writers(scratch: Path) -> Iterator[list[Writer]]:
    """All writers; what they write is made ready in a folder, and a server of our own sends what is fetched."""
    model, new = scratch / "m.gramshift", scratch / "new.csv"
    classifier = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 3), n_added=2, n_jobs=1)
    classifier.fit(TEXTS, LABELS, target=TEXTS).save(model)
    new.write_text("text\n" + "".join(f'"{text}"\n' for text in NEW))
    known = scratch / "known.csv"
    known.write_text("text,label\n" + "".join(f'"{text}",{label}\n' for text, label in zip(TEXTS, LABELS, strict=True)))
    given = {"source": [str(known)], "target": str(new), "ngrams": "2-3", "force": True, "jobs": 1}
    asked = _ask(ClassifyOptions(**given, method="tkc", added="2", output="labels.csv", save="m.gramshift", report="page.html"))
    compared = gs.compare(TEXTS, LABELS, target=NEW, target_labels=LABELS, methods=["plain", "tfidf"], n_jobs=1)

    def label(end: str, folder: Path) -> None:
        predict(str(model), str(new), str(folder / f"labels{end}"), force=True, jobs=1, say=_silent, most_rows=7)

    def label_folder(folder: Path) -> None:
        predict(str(model), [str(new)], f"{folder / 'labels'}/", force=True, jobs=1, say=_silent, most_rows=7)

    def keep(folder: Path) -> None:
        Kept(folder).save("result", {"seed": 1}, list(range(2000)))

    def make_gram(folder: Path, resume: str | None = None) -> None:
        kept = None if resume is None else folder / resume
        gs.StringKernel(ngram_range=(2, 3), n_jobs=1).gram(TEXTS, out=folder / "gram.npy", resume=kept)

    def write_three(folder: Path) -> None:
        names = {"output": "labels.csv", "save": "m.gramshift", "report": "page.html"}
        options = ClassifyOptions(
            **given, method="tkc", added="2", **{option: str(folder / name) for option, name in names.items()}
        )
        classify_run.check_files(options)
        classify_run.write_outputs(options, *asked[1:])

    def sample(folder: Path) -> None:
        names = {"output": "labels.csv", "save": "m.gramshift", "resume": "kept"}
        options = ClassifyOptions(
            **given, method="plain", sample="12", **{option: str(folder / name) for option, name in names.items()}
        )
        classify_any(options, say=_silent, most_rows=9)

    def write_compared(folder: Path) -> None:
        check_folder(folder)
        write_comparison(compared, folder)

    def draw(folder: Path) -> None:
        check_folder(folder)
        write_plot(compared, folder)

    writers = [
        *(Writer(f"labels{end}", partial(label, end), (f"labels{end}",)) for end in (".csv", ".jsonl", ".parquet", ".csv.gz")),
        Writer("model", lambda folder: classifier.save(folder / "m.gramshift"), ("m.gramshift",)),
        Writer("page", lambda folder: write_page(folder / "page.html", asked[-1]), ("page.html",)),
        Writer("labels, model and page", write_three, ("labels.csv", "m.gramshift", "page.html")),
        Writer("explanations", lambda folder: _explain(model, folder), ("why.html",)),
        Writer("gram", make_gram, ("gram.npy",)),
        Writer("gram, its tiles", partial(make_gram, resume="kept"), ("gram.npy",), ("kept/*",)),
        Writer("kept result", keep, ("result.json",)),
        Writer("labels in a folder", label_folder, ("labels/new.csv",), ("labels/.gramshift/*",)),
        Writer("comparison", write_compared, _names_of(compared, scratch)),
        Writer("demo", write_domains, (), ("*.csv",)),
        Writer("labels by a sample", sample, ("labels.csv", "m.gramshift"), ("kept/*",), is_slow=True),
        Writer("plot", draw, ("comparison.png",), is_slow=True),
    ]
    with _serving(_make_archive()) as url:
        fetched = tuple(f"{FOLDER}/{domain}/{name}" for domain in DOMAINS.values() for name in FILES)
        fetch = Writer("fetched data", partial(_fetch, url), (), fetched, is_slow=True)
        yield [*writers, fetch]


def _silent(_: str) -> None:
    pass


def _ask(options: ClassifyOptions) -> tuple[Any, ...]:
    """What a run would write, without writing it."""
    with mock.patch.object(classify_run, "write_outputs") as writing:
        classify_run.classify(options, say=_silent)
    return tuple(writing.call_args.args)


def _explain(model: Path, folder: Path) -> None:
    explain(str(model), TEXTS[0], html=str(folder / "why.html"), force=True)


def _names_of(compared: Any, scratch: Path) -> tuple[str, ...]:
    return tuple(write_comparison(compared, scratch / "compared"))


def _fetch(url: str, folder: Path) -> None:
    with suppress(FileExistsError):  # it has appeared, and nothing is to be done but to clean up
        fetch_sentiment(folder, url=url)


def _make_archive() -> bytes:
    review = "<review>\n<title>\n{}\n</title>\n<review_text>\nwords\n</review_text>\n</review>\n"
    data, out = "".join(review.format(number) for number in range(1000)).encode(), io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for domain in DOMAINS.values():
            for name in FILES:
                info = tarfile.TarInfo(f"{FOLDER}/{domain}/{name}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


@contextmanager
def _serving(content: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:])

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/data.tar.gz"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def is_whole(path: Path) -> bool:
    """Whether a file that differs from run to run is whole by itself."""
    data = path.read_bytes()
    if path.suffix == ".gramshift":
        try:
            gs.load(path)
        except ValueError:
            return False
        return True
    if path.suffix == ".json":
        try:
            return isinstance(json.loads(data), dict)
        except ValueError:
            return False
    return path.name == "lock" and (not data or data.startswith(b"process "))
