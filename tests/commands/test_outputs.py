"""Files that commands write: links, modes, long names, and what belongs together."""

import os
import signal
import stat
from pathlib import Path

import pytest

import gramshift as gs
from conftest import posix
from gramshift.commands.predict import predict
from small_tables import die_in_a_fork, read_csv, write_csv

TEXTS = [
    "a good film, nice and good",
    "nice, really good",
    "a bad film, dull and bad",
    "dull, really bad",
]
LABELS = ["positive", "positive", "negative", "negative"]
LONGEST = 255  # bytes of a name


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.gramshift"
    gs.TransductiveClassifier(preset="paper", ngram_range=(2, 3), n_added=2).fit(
        TEXTS, LABELS, target=TEXTS
    ).save(path)
    return str(path)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "new.csv", ["text"], [[text] for text in TEXTS])
    write_csv(tmp_path / "known.csv", ["text", "label"], zip(TEXTS, LABELS, strict=True))
    (tmp_path / "lines.txt").write_text("\n".join(TEXTS) + "\n")
    return tmp_path


CLASSIFY = (
    "classify",
    "known.csv",
    "--target",
    "new.csv",
    "--method",
    "tkc",
    "--ngrams",
    "2-3",
    "--added",
    "2",
)
ALL = (*CLASSIFY, "--output", "labels.csv", "--save", "m.gramshift", "--report", "page.html")
OLD = {"labels.csv": b"old labels", "m.gramshift": b"old model", "page.html": b"old page"}


def mode_of(name):
    return stat.S_IMODE(os.stat(name).st_mode)


def leftovers():
    return [name for name in os.listdir() if name.endswith(".partial")]


def refuse(*_, **__):
    raise AssertionError("work began")


def test_two_outputs_through_a_linked_folder_are_seen_to_be_one(gramshift):
    os.mkdir("d")
    os.symlink("d", "dl")
    answer = gramshift(*CLASSIFY, "--output", "d/a.csv", "--report", "dl/a.csv")
    assert answer.code == 2
    assert "--output and --report are both d/a.csv" in answer.err
    assert os.listdir("d") == []


def test_a_link_is_written_through_and_stays(gramshift, model):
    os.mkdir("elsewhere")
    Path("elsewhere/file.csv").write_text("old")
    os.symlink("elsewhere/file.csv", "link.csv")
    assert (
        gramshift(
            "predict", "--model", model, "--input", "new.csv", "--output", "link.csv", "--force"
        ).code
        == 0
    )
    assert os.readlink("link.csv") == "elsewhere/file.csv"
    assert Path("elsewhere/file.csv").read_text().startswith("text,label")
    assert os.listdir("elsewhere") == ["file.csv"]


def test_a_link_that_leads_nowhere_exists_and_with_force_its_file_is_made(gramshift, model):
    os.symlink("file.csv", "link.csv")
    run = ["predict", "--model", model, "--input", "new.csv", "--output", "link.csv"]
    answer = gramshift(*run)
    assert answer.code == 2
    assert "link.csv exists (it is a link to" in answer.err
    assert gramshift(*run, "--force").code == 0
    assert os.path.islink("link.csv")
    assert Path("file.csv").read_text().startswith("text,label")


def test_a_link_to_itself_is_refused(gramshift, model):
    os.symlink("loop.csv", "loop.csv")
    answer = gramshift(
        "predict", "--model", model, "--input", "new.csv", "--output", "loop.csv", "--force"
    )
    assert answer.code == 2
    assert "--output loop.csv is a link that leads back to itself" in answer.err


def test_links_in_a_folder_of_labels_are_replaced(gramshift, model):
    """The user has not typed their names."""
    os.mkdir("labels")
    Path("precious.txt").write_text("precious")
    os.symlink("../precious.txt", "labels/new.csv")
    assert (
        gramshift(
            "predict", "--model", model, "--input", "new.csv", "--output", "labels/", "--force"
        ).code
        == 0
    )
    assert Path("precious.txt").read_text() == "precious"
    assert not os.path.islink("labels/new.csv")


def test_the_mode_of_a_file_is_kept_and_a_new_one_has_the_usual(gramshift):
    before = os.umask(0o027)
    try:
        for name, content in OLD.items():
            Path(name).write_bytes(content)
            os.chmod(name, 0o600)
        assert gramshift(*ALL, "--force").code == 0
        assert [mode_of(name) for name in OLD] == [0o600, 0o600, 0o600]
        assert gramshift("kernel", "lines.txt", "--output", "new.npy", "--ngrams", "2").code == 0
        assert mode_of("new.npy") == 0o640
        os.chmod("new.npy", 0o444)
        assert (
            gramshift("kernel", "lines.txt", "--output", "new.npy", "--ngrams", "2", "--force").code
            == 0
        )
        assert mode_of("new.npy") == 0o444
    finally:
        os.umask(before)


def test_the_owner_of_a_file_is_kept(gramshift, model):
    Path("file.csv").write_text("old")
    owner = (
        (65534, 65534) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    )  # only root gives files away
    os.chown("file.csv", *owner)
    assert (
        gramshift(
            "predict", "--model", model, "--input", "new.csv", "--output", "file.csv", "--force"
        ).code
        == 0
    )
    assert (os.stat("file.csv").st_uid, os.stat("file.csv").st_gid) == owner


def test_two_runs_that_write_the_same_file_do_not_meet(gramshift, model, read_rows):
    read_rows(1)
    seen = []

    def look(*_):
        if not seen:
            seen.extend(leftovers())
            assert (
                gramshift(
                    "predict", "--model", model, "--input", "new.csv", "--output", "labels.csv"
                ).code
                == 0
            )
            assert leftovers() == seen

    predict(model, "new.csv", "labels.csv", progress=look)
    assert len(seen) == 1
    assert leftovers() == []


@pytest.mark.parametrize("name", OLD)
def test_where_a_rename_fails_each_file_is_old_or_new(gramshift, monkeypatch, name):
    for one, content in OLD.items():
        Path(one).write_bytes(content)
    Path("labels.csv").chmod(0o640)
    real, broken = os.replace, [name]

    def once(source, target):
        if os.path.basename(target) in broken:
            broken.clear()
            raise OSError(5, os.strerror(5))
        real(source, target)

    monkeypatch.setattr(os, "replace", once)
    answer = gramshift(*ALL, "--force")
    assert (answer.code, broken) == (1, [])
    assert answer.err.splitlines()[-1] == f"gramshift: {name}: Input/output error"
    assert Path(name).read_bytes() == OLD[name]
    changed = {one for one in OLD if Path(one).read_bytes() != OLD[one]}
    if "page.html" in changed:
        assert Path("page.html").read_text().endswith("</html>")
    if "m.gramshift" in changed:
        assert gramshift("info", "m.gramshift").code == 0
    if "labels.csv" in changed:
        assert len(read_csv(Path("labels.csv"))) == len(read_csv(Path("new.csv")))
    assert mode_of("labels.csv") == 0o640
    assert leftovers() == []


def test_killed_before_the_first_rename_all_old_files_are_there(gramshift):
    from gramshift.commands.classify.options import ClassifyOptions
    from gramshift.commands.classify.run import classify

    for one, content in OLD.items():
        Path(one).write_bytes(content)
    options = ClassifyOptions(
        source=["known.csv"], target="new.csv", method="tkc", ngrams="2-3", added="2", force=True,
        output="labels.csv", save="m.gramshift", report="page.html",
    )  # fmt: skip

    def die():
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # in the fork alone
        classify(options, say=lambda _: None)

    assert die_in_a_fork(die) == -signal.SIGKILL
    assert {one: Path(one).read_bytes() for one in OLD} == OLD
    assert len(leftovers()) == 3
    assert gramshift(*ALL, "--force").code == 0
    assert not OLD.items() & {one: Path(one).read_bytes() for one in OLD}.items()


def test_names_may_be_as_long_as_the_system_allows(gramshift, model):
    name = "é" * 120 + "x" * (LONGEST - 240 - len(".csv")) + ".csv"
    assert gramshift("predict", "--model", model, "--input", "new.csv", "--output", name).code == 0


@pytest.mark.parametrize(
    "run",
    [
        [*CLASSIFY, "--output", "{}.csv"],
        ["kernel", "lines.txt", "--output", "{}.npy"],
        ["compare", "known.csv", "--target", "new.csv", "--output", "{}"],
    ],
    ids=lambda run: f"{run[0]} {run[-2]}",
)
def test_names_that_are_too_long_are_refused_before_any_work(gramshift, run):
    answer = gramshift(*(argument.format("x" * 256) for argument in run))
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 1
    assert "too long" in answer.err.lower()
    assert sorted(os.listdir()) == ["known.csv", "lines.txt", "new.csv"]


def test_a_folder_too_deep_for_a_temporary_name(gramshift, model):
    deep = "/".join(["d" * 250] * 16)
    here = os.open(".", os.O_RDONLY)
    try:
        for part in deep.split("/"):
            os.mkdir(part)
            os.chdir(part)
        os.fchdir(here)
        answer = gramshift(
            "predict", "--model", model, "--input", "new.csv", "--output", f"{deep}/{'x' * 60}.csv"
        )
        assert answer.code == 2
        assert "the name is too long" in answer.err
    finally:
        os.close(here)


@pytest.mark.parametrize("what", ["a file", "a link", "a link in it"])
def test_a_demo_that_cannot_be_written_is_not_computed(gramshift, monkeypatch, what):
    monkeypatch.setattr("gramshift.commands.demo.run_demo", refuse)
    if what == "a file":
        Path("demo").write_text("a file")
    elif what == "a link":
        os.symlink("nowhere", "demo")
    else:
        os.mkdir("demo")
        os.symlink("../new.csv", "demo/labels.csv")
    before = Path("new.csv").read_bytes()
    answer = gramshift("demo", "--output", "demo")
    assert (answer.code, len(answer.err.splitlines())) == (2, 1), answer.err
    assert Path("new.csv").read_bytes() == before


@posix
def test_library_writers_leave_devices_alone():
    os.mkfifo("pipe")
    classifier = gs.TransductiveClassifier(preset="paper", ngram_range=(2, 3), n_added=2).fit(
        TEXTS, LABELS, target=TEXTS
    )
    with pytest.raises(ValueError, match="pipe is not an ordinary file"):
        classifier.save("pipe")
    assert stat.S_ISFIFO(os.lstat("pipe").st_mode)
    with open("open.gramshift", "wb") as file:
        classifier.save(file)
    assert gs.load("open.gramshift").predict(TEXTS).tolist() == classifier.predict(TEXTS).tolist()
