import io
import json
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import gramshift as gs
from gramshift.data.demo import load_demo
from gramshift.model.archive import ModelFileError

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
NEW = ["a great blender, i love it", "broke after a day", "", "\ud800 lone \N{GRINNING FACE}"]


def fit(labels=SOURCE.labels, **options):
    given = {"ngram_range": (3, 5), "n_added": 40} | options
    return gs.TransductiveClassifier(**given).fit([*SOURCE.texts[:-1], NEW[3]], labels, target=FILMS.texts)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.gramshift"
    fit().save(path)
    return path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"adapt": False, "classifier": "discriminant"},
        {"classifier": "svm", "n_rounds": 3, "n_added": 0.5},
        {"kernel": gs.StringKernel("spectrum", ngram_range=(2, 3), unicode_form="NFC"), "memory_limit": "2 GiB"},
        {"kernel": ["presence", gs.StringKernel("intersection", ngram_range=(4, 4))], "bias": True},
    ],
)
def test_everything_survives(tmp_path, options):
    clf = fit(**options)
    clf.save(tmp_path / "m")
    loaded = gs.load(tmp_path / "m")
    assert (loaded.decision_function(NEW) == clf.decision_function(NEW)).all()
    assert (loaded.predict_proba(NEW) == clf.predict_proba(NEW)).all()
    assert (loaded.transduction_proba_ == clf.transduction_proba_).all()
    assert (loaded.predict(FILMS.texts) == clf.transduction_).all()
    assert loaded.history_ == clf.history_
    assert (loaded.labeled_iter_ == clf.labeled_iter_).all()
    assert loaded.explain(NEW[0]) == clf.explain(NEW[0])
    assert repr(loaded) == repr(clf)


@pytest.mark.parametrize("names", [(-1, 7), (2.0, 3.0), (False, True), ("\N{SNOWMAN}", 'quo"te')])
def test_labels_keep_their_type(tmp_path, names):
    clf = fit(labels=[names[label == "positive"] for label in SOURCE.labels])
    clf.save(tmp_path / "m")
    loaded = gs.load(tmp_path / "m")
    assert loaded.classes_.dtype == clf.classes_.dtype
    assert loaded.predict(NEW).tolist() == clf.predict(NEW).tolist()
    assert loaded.history_ == clf.history_


def test_another_process_predicts_the_same_bits(path):
    script = "import sys, gramshift as gs; m = gs.load(sys.argv[1]); t = eval(sys.argv[2])\n"
    script += "print(m.decision_function(t).tobytes().hex(), m.predict_proba(t).tobytes().hex(), *m.predict(t))"
    command = [sys.executable, "-c", script, str(path), ascii(NEW)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout.split()
    clf = fit()
    expected = [clf.decision_function(NEW).tobytes().hex(), clf.predict_proba(NEW).tobytes().hex(), *clf.predict(NEW)]
    assert found == expected


def test_a_precomputed_gram_needs_no_texts(tmp_path):
    kernel = gs.StringKernel(ngram_range=(3, 5), normalize=True)
    texts = SOURCE.texts + FILMS.texts
    clf = gs.TransductiveClassifier("precomputed", n_added=40).fit(kernel.gram(texts), SOURCE.labels + [None] * 120)
    clf.save(tmp_path / "m")
    rows = kernel.gram(NEW, texts)
    assert (gs.load(tmp_path / "m").decision_function(rows) == clf.decision_function(rows)).all()


def test_what_cannot_be_saved_is_an_error_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "m"
    path.write_text("old")
    with pytest.raises(TypeError, match="is a function and cannot be saved"):
        fit(kernel=gs.StringKernel(ngram_range=(3, 5)).gram).save(path)
    with pytest.raises(FileNotFoundError):
        fit().save(tmp_path / "no" / "folder")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["m"]
    with pytest.raises(FileNotFoundError):
        gs.load(tmp_path / "nothing")


def rewrite(path, tmp_path, change, *, compress=zipfile.ZIP_STORED, comment=None):
    """The model with its members changed, and with checksums that fit again: what somebody hostile would send."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    head = json.loads(members.pop("model.json"))
    change(head, members)
    head["checksums"] |= {name: sha256(data).hexdigest() for name, data in members.items()}
    text = json.dumps(head).encode()
    hostile = tmp_path / "hostile"
    with zipfile.ZipFile(hostile, "w", compress) as archive:
        for name, data in {"model.json": text, **members}.items():
            archive.writestr(name, data)
        archive.comment = sha256(text).hexdigest().encode() if comment is None else comment
    return hostile


def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def set_member(name, data):
    return lambda head, members: members.__setitem__(name, data)


def set_head(**values):
    return lambda head, members: head.update(values)


def header_only(shape, dtype="<f8"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_member("../../evil.npy", b""), "holds .*evil"),
        (set_member("/etc/evil", b""), "holds .*evil"),
        (lambda head, members: members.pop("scores.npy"), "it lacks .scores.npy"),
        (set_member("coefficients.npy", b"\x80\x04pickle"), "coefficients.npy is not an array"),
        (set_member("coefficients.npy", npy(np.array([{}], object), allow_pickle=True)), "of type object"),
        (set_member("coefficients.npy", npy(np.zeros((240, 2), "<f4"))), "of type float32"),
        (set_member("coefficients.npy", header_only((10**12, 10**6))), "is not what it holds"),
        (set_member("coefficients.npy", header_only((-1, 2))), "is not what it holds"),
        (set_member("coefficients.npy", npy(np.zeros((3, 2)))), r"coefficients has shape \(3, 2\)"),
        (set_member("text_ends.npy", npy(np.arange(240)[::-1].copy())), "texts do not end"),
        (set_member("labeled_iter.npy", npy(np.full(240, -7))), "shape|rounds"),
        (set_member("source_codes.npy", npy(np.full(120, 9))), "classes"),
        (set_head(format="other"), "is not a Gramshift model"),
        (set_head(format_version=99), "has format 99"),
        (set_head(parameters={"kernel": "presence", "ngram_range": [5, 8], "evil": 1}), "evil"),
        (set_head(parameters={"kernel": "presence", "ngram_range": [8, 5]}), "ngram_range"),
        (set_head(classes={"dtype": "O", "values": ["a", "b"]}), "labels are not of type O"),
        (set_head(settings={}), "settings are not those that it needs"),
        (set_member("known_codes.npy", npy(np.full(240, 2))), "classes or rounds that there are not"),
        (set_head(classes=None), "trusted"),
        (set_head(classes={"dtype": "<U500000000", "values": ["a", "a"]}), "not in order, or not different"),
        (set_head(classes={"dtype": "|i1", "values": [1, 1000]}), "trusted"),
        (set_head(classes={"dtype": "<i8", "values": [1, 10**400]}), "trusted"),
        (set_head(classes={"dtype": "<U4", "values": [None, "a"]}), "labels are not of type"),
        (set_head(steepness=-1.0), "calibration"),
        (set_head(steepness=10**400), "trusted"),
        (set_head(steepness=float("nan")), "calibration"),
        (set_head(versions=[], format_version=99), "made by gramshift another version"),
        (set_head(history=[{"added": ["<script>", 2], "changed": 0, "seconds": 1}]), "history has"),
        (set_member("coefficients.npy", npy(np.full((240, 2), np.nan))), "not finite"),
        (set_member("coefficients.npy", header_only("(" * 900)), "not an array"),
        (set_member("coefficients.npy", header_only((0, 10**30))), "trusted|whole"),
        (set_member("coefficients.npy", header_only((True, False))), "is not what it holds"),
    ],
)
def test_hostile_files_are_refused(path, tmp_path, change, message):
    with pytest.raises(ModelFileError, match=message):
        gs.load(rewrite(path, tmp_path, change))


def test_a_file_that_does_not_know_the_labels_of_each_round_still_opens(path, tmp_path):
    """Early versions kept neither these nor the date."""

    def forget(head, members):
        del head["saved"]
        for step in head["history"]:
            del step["labels"]

    old = gs.load(rewrite(path, tmp_path, forget))
    assert [step["labels"] for step in old.history_] == [None, None]
    assert (old.decision_function(NEW) == gs.load(path).decision_function(NEW)).all()
    old.save(tmp_path / "again")
    assert gs.load(tmp_path / "again").history_ == old.history_


def test_a_fitted_model_is_saved_as_it_was_fitted(tmp_path):
    kernel = gs.StringKernel(ngram_range=(3, 5))
    clf = fit(kernel=kernel)
    expected, sure = clf.decision_function(NEW), fit(kernel=kernel).predict_proba(NEW)
    clf.set_params(adapt=False, alpha=10.0, ngram_range=(2, 2))
    kernel.set_params(ngram_range=(1, 1))
    clf.save(tmp_path / "m")
    loaded = gs.load(tmp_path / "m")
    for model in (clf, loaded):
        assert (model.decision_function(NEW) == expected).all()
        assert (model.predict_proba(NEW) == sure).all()


def test_parameters_may_be_numbers_of_numpy(tmp_path):
    clf = fit(n_added=np.int64(20), alpha=np.float32(0.5), bias=np.bool_(True), ngram_range=(np.int64(3), np.int32(5)))
    clf.save(tmp_path / "m")
    assert (gs.load(tmp_path / "m").decision_function(NEW) == clf.decision_function(NEW)).all()


def test_a_bomb_is_refused(path, tmp_path):
    bomb = set_member("text_bytes.npy", npy(np.zeros(10**7, np.uint8)))
    with pytest.raises(ModelFileError, match="compressed or encrypted"):
        gs.load(rewrite(path, tmp_path, bomb, compress=zipfile.ZIP_DEFLATED))


def test_an_altered_head_is_noticed(path, tmp_path):
    with pytest.raises(ModelFileError, match=r"checksum of model.json is wrong"):
        gs.load(rewrite(path, tmp_path, set_head(steepness=3.0), comment=b"0" * 64))


def test_a_member_with_another_checksum_is_noticed(path, tmp_path):
    """Zip's own sums fit again, ours do not."""
    forged = tmp_path / "forged"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(forged, "w") as other:
        for name in archive.namelist():
            data = archive.read(name)
            other.writestr(name, data[:-1] + b"\x01" if name == "coefficients.npy" else data)
        other.comment = archive.comment
    with pytest.raises(ModelFileError, match=r"checksum of coefficients.npy is wrong"):
        gs.load(forged)


def test_every_cut_is_noticed(path, tmp_path):
    whole = path.read_bytes()
    for length in {0, 1, 30, len(whole) // 3, len(whole) // 2, len(whole) - 70, len(whole) - 1}:
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=r"not a whole Gramshift model|trusted"):
            gs.load(tmp_path / "cut")


def test_every_changed_byte_is_noticed_or_harmless(path, tmp_path):
    """No flipped byte may raise anything else or change what the model predicts."""
    whole, expected = bytearray(path.read_bytes()), gs.load(path)
    places = np.random.default_rng(0).integers(0, len(whole), 150).tolist()
    noticed = 0
    for place in places:
        whole[place] ^= 0x55
        (tmp_path / "flipped").write_bytes(whole)
        whole[place] ^= 0x55
        try:
            loaded = gs.load(tmp_path / "flipped")
        except ModelFileError:
            noticed += 1
        else:
            assert (loaded.transduction_score_ == expected.transduction_score_).all()
            assert (loaded._fit.model.coefficients == expected._fit.model.coefficients).all()
            assert loaded._fit.model.documents == expected._fit.model.documents
    assert noticed > 140


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "text").write_text("not a model at all")
    with pytest.raises(ModelFileError, match="not a whole Gramshift model"):
        gs.load(tmp_path / "text")


@pytest.mark.parametrize("name", ["paper", "best", "landmarks"])
def test_files_of_an_earlier_version_predict_the_same(name):
    """They were saved before a fit was made of values, with what they predicted then beside them."""
    folder = Path(__file__).parent / "saved"
    expected = json.loads((folder / "format2.json").read_text())[name]
    new = ["a great blender, i love it", "Broke after a day; waste of money!", ""]
    clf = gs.load(folder / f"format2-{name}.gramshift")
    assert clf.transduction_.tolist() == expected["labels"]
    np.testing.assert_allclose(clf.decision_function(new), expected["decision"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(clf.predict_proba(new), expected["proba"], rtol=0, atol=1e-12)
