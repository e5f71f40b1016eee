import io
import json
import os
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from gramshift import StringKernel
from gramshift.commands.kernel import write_kernel

LINES = ["Good film", "", "bad film", "good pan"]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_the_file_has_the_kernel_matrix(gramshift, tmp_path, source):
    options = ["--kernel", "spectrum", "--ngrams", "2-3", "--json"]
    result = gramshift("kernel", source, "--output", tmp_path / "K.npy", *options)
    assert result.code == 0, result.err
    gram = np.load(tmp_path / "K.npy")
    assert (gram == StringKernel("spectrum", ngram_range=(2, 3)).gram(LINES)).all()
    report = json.loads(result.out)
    assert report["documents"] == 4
    assert report["dtype"] == "int64"
    assert report["bytes"] == gram.nbytes
    assert result.err == f"4 documents, 25 characters; {tmp_path / 'K.npy'} will take 128 bytes\n"


@pytest.mark.parametrize(
    ("kind", "options", "parameters"),
    [
        ("subsequence", ["--decay", "0.3"], {"decay": 0.3}),
        ("local_rank", ["--max-offset", "5", "--sigma", "0.5"], {"max_offset": 5, "sigma": 0.5}),
    ],
)
def test_kernels_with_parameters_of_their_own(
    gramshift, tmp_path, source, kind, options, parameters
):
    options = ["--kernel", kind, "--ngrams", "2-3", *options, "--json"]
    result = gramshift("kernel", source, "-o", tmp_path / "K.npy", *options)
    assert result.code == 0, result.err
    assert json.loads(result.out)["dtype"] == "float64"
    expected = StringKernel(kind, ngram_range=(2, 3), **parameters).gram(LINES)
    assert np.load(tmp_path / "K.npy").tolist() == expected.tolist()


def test_standard_input_and_normalising(gramshift, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"ab\nabc\n"))))
    result = gramshift("kernel", "-", "-o", tmp_path / "K.npy", "--normalize", "--ngrams", "2")
    assert result.code == 0, result.err
    assert result.out == f"wrote {tmp_path / 'K.npy'}: float64, 2 x 2\n"
    assert np.load(tmp_path / "K.npy").tolist() == [[1, 1 / np.sqrt(2)], [1 / np.sqrt(2), 1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{in}", "-o", "{out}", "--kernel", "string"], "--kernel string: there are presence, "),
        (
            ["{in}", "-o", "{out}", "--decay", "0.3"],
            "--decay goes with --kernel subsequence, not with presence; leave it out",
        ),
        (
            ["{in}", "-o", "{out}", "--kernel", "subsequence", "--decay", "2"],
            "decay=2.0: give a number from 1e-06 to 1",
        ),
        (["{in}", "-o", "{out}", "--memory", "10"], "the memory limit is 10 bytes"),
        (["{in}", "-o", "{out}.txt"], "give a name that ends in .npy"),
        (["{folder}/missing.txt", "-o", "{out}", "--jobs", "0"], "n_jobs=0"),
        (
            ["{in}", "-o", "{folder}/old.npy"],
            "old.npy exists; choose another --output or replace it with --force",
        ),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(gramshift, tmp_path, source, arguments, message):
    (tmp_path / "old.npy").write_bytes(b"old")
    names = {"in": source, "out": tmp_path / "K.npy", "folder": tmp_path}
    result = gramshift("kernel", *(argument.format(**names) for argument in arguments))
    assert result.code == 2
    assert message.format(**names) in result.err
    assert "Traceback" not in result.err
    assert result.out == ""
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "old.npy"]
    assert (tmp_path / "old.npy").read_bytes() == b"old"


def test_ctrl_c_is_one_line_and_leaves_nothing(gramshift, tmp_path, source, monkeypatch):
    def interrupt(stage, done, total):
        raise KeyboardInterrupt

    @contextmanager
    def interrupting(plan=(), *, quiet):
        yield interrupt

    monkeypatch.setattr("gramshift.commands.parser.progress_bar", interrupting)
    result = gramshift("kernel", source, "-o", tmp_path / "K.npy")
    assert result.code == 130
    assert result.err.splitlines()[-1] == "gramshift: interrupted; nothing was written"
    assert os.listdir(tmp_path) == ["in.txt"]


def test_force_replaces(tmp_path, source):
    (tmp_path / "K.npy").write_bytes(b"old")
    options = {"kind": "presence", "ngram_range": (5, 8), "force": True}
    assert write_kernel(str(source), tmp_path / "K.npy", **options)["documents"] == 4
    assert np.load(tmp_path / "K.npy").shape == (4, 4)


def test_a_missing_option_is_a_usage_error(gramshift, source):
    result = gramshift("kernel", source)
    assert result.code == 2
    assert "--output" in result.err
