import io
import json
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.svm import SVC

import gramshift as gs
import naive
from altered_files import read_members, write_members
from gramshift.model.archive import ModelFileError
from small_demo import load_demo

SOURCE, FILMS = load_demo("kitchen"), load_demo("films")
NEW = ["a great blender, i love it", "broke after a day", "", "\ud800 lone \N{GRINNING FACE}"]


def fit(labels=SOURCE.labels, **options):
    given = {"preset": "paper", "ngram_range": (3, 5), "n_added": 40} | options
    return gs.TransductiveClassifier(**given).fit(
        [*SOURCE.texts[:-1], NEW[3]], labels, target=FILMS.texts
    )


STEP = {"added": [1, 2], "labels": [1, 2], "changed": 0, "seconds": 1, "class_prior": None}


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
        {"classifier": "discriminant", "n_rounds": 3, "n_added": 0.5},
        {"kernel": gs.StringKernel("spectrum", ngram_range=(2, 3), unicode_form="NFC")},
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
    script += "print(m.decision_function(t).tobytes().hex(), "
    script += "m.predict_proba(t).tobytes().hex(), *m.predict(t))"
    command = [sys.executable, "-c", script, str(path), ascii(NEW)]
    found = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=300
    ).stdout.split()
    clf = fit()
    expected = [
        clf.decision_function(NEW).tobytes().hex(),
        clf.predict_proba(NEW).tobytes().hex(),
        *clf.predict(NEW),
    ]
    assert found == expected


def test_a_precomputed_gram_needs_no_texts(tmp_path):
    kernel = gs.StringKernel(ngram_range=(3, 5), normalize=True)
    texts = SOURCE.texts + FILMS.texts
    clf = gs.TransductiveClassifier("precomputed", preset="paper", n_added=40).fit(
        kernel.gram(texts), SOURCE.labels + [None] * 120
    )
    clf.save(tmp_path / "m")
    rows = kernel.gram(NEW, texts)
    assert (gs.load(tmp_path / "m").decision_function(rows) == clf.decision_function(rows)).all()


def test_what_cannot_be_saved_is_an_error_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "m"
    path.write_text("old")
    with pytest.raises(TypeError, match="is a function and cannot be saved"):
        fit(kernel=gs.StringKernel(ngram_range=(3, 5)).gram).save(path, overwrite=True)
    with pytest.raises(
        ValueError, match=r"a model file holds no objects such as classifier=SVC\(...\); save"
    ):
        fit(classifier=SVC(kernel="precomputed")).save(path, overwrite=True)
    with pytest.raises(FileNotFoundError):
        fit().save(tmp_path / "no" / "folder")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["m"]
    with pytest.raises(FileNotFoundError):
        gs.load(tmp_path / "nothing")


def rewrite(path, tmp_path, change, **options):
    """Write a model with its members changed, and with a checksum that fits again."""
    members = read_members(path)
    head = json.loads(members.pop("model.json"))
    change(head, members)
    return write_members(
        tmp_path / "hostile", {"model.json": json.dumps(head).encode(), **members}, **options
    )


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
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_member("../../evil.npy", b""), "holds .*evil"),
        (set_member("/etc/evil", b""), "holds .*evil"),
        (lambda head, members: members.pop("scores.npy"), "it lacks .scores.npy"),
        (set_member("coefficients.npy", b"\x80\x04pickle"), "coefficients.npy is not an array"),
        (
            set_member("coefficients.npy", npy(np.array([{}], object), allow_pickle=True)),
            "of type object",
        ),
        (set_member("coefficients.npy", npy(np.zeros((240, 2), "<f4"))), "of type float32"),
        (set_member("coefficients.npy", header_only((10**12, 10**6))), "is not what it holds"),
        (set_member("coefficients.npy", header_only((-1, 2))), "is not what it holds"),
        (set_member("coefficients.npy", npy(np.zeros((3, 2)))), r"coefficients has shape \(3, 2\)"),
        (
            set_member("text_ends.npy", npy(np.arange(240)[::-1].copy())),
            "text_ends does not end where it should",
        ),
        (
            set_member("labeled_iter.npy", npy(np.full(240, -7))),
            "labeled_iter has values from -7 to -7; they must be from -1",
        ),
        (
            set_member("source_codes.npy", npy(np.full(120, 9))),
            "source_codes has values from 9 to 9; they must be from 0 to 1",
        ),
        (set_head(format="other"), "is not a Gramshift model"),
        (set_head(format_version=99), "has format 99"),
        (set_head(parameters={"kernel": "presence", "ngram_range": [5, 8], "evil": 1}), "evil"),
        (set_head(parameters={"kernel": "presence", "ngram_range": [8, 5]}), "ngram_range"),
        (set_head(classes={"dtype": "O", "values": ["a", "b"]}), "labels are not of type O"),
        (set_head(settings={}), "settings are not those that it needs"),
        (
            set_member("known_codes.npy", npy(np.full(240, 2))),
            "known_codes has values from 2 to 2; they must be from -1 to 1",
        ),
        (set_head(classes=None), "trusted"),
        (
            set_head(classes={"dtype": "<U500000000", "values": ["a", "a"]}),
            "not in order, or not different",
        ),
        (set_head(classes={"dtype": "|i1", "values": [1, 1000]}), "trusted"),
        (set_head(classes={"dtype": "<i8", "values": [1, 10**400]}), "trusted"),
        (set_head(classes={"dtype": "<U4", "values": [None, "a"]}), "labels are not of type"),
        (set_head(steepness=-1.0), "steepness is -1.0, but must be a number from"),
        (set_head(steepness=10**400), "trusted"),
        (set_head(steepness=float("nan")), "steepness is nan, but must be a number from"),
        (set_head(versions=[], format_version=99), "made by gramshift another version"),
        (
            set_head(history=[STEP | {"added": ["<script>", 2]}]),
            "added is .<script>., but must be a whole number",
        ),
        (set_member("coefficients.npy", npy(np.full((240, 2), np.nan))), "from nan to nan"),
        (set_member("coefficients.npy", header_only("(" * 900)), "not an array"),
        (set_member("coefficients.npy", header_only((0, 10**30))), "trusted|whole"),
        (set_member("coefficients.npy", header_only((True, False))), "is not what it holds"),
    ],
)
def test_hostile_files_are_refused(path, tmp_path, change, message):
    with pytest.raises(ModelFileError, match=message):
        gs.load(rewrite(path, tmp_path, change))


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
    clf = fit(
        n_added=np.int64(20),
        alpha=np.float32(0.5),
        bias=np.bool_(True),
        ngram_range=(np.int64(3), np.int32(5)),
    )
    clf.save(tmp_path / "m")
    assert (gs.load(tmp_path / "m").decision_function(NEW) == clf.decision_function(NEW)).all()


def test_a_bomb_is_refused(path, tmp_path):
    bomb = set_member("text_bytes.npy", npy(np.zeros(10**7, np.uint8)))
    with pytest.raises(ModelFileError, match="compressed or encrypted"):
        gs.load(rewrite(path, tmp_path, bomb, compress=zipfile.ZIP_DEFLATED))


@pytest.mark.parametrize("name", ["model.json", "coefficients.npy"])
def test_an_altered_member_is_noticed(path, tmp_path, name):
    """The sums of the zip archive fit again, ours does not."""
    members, comment = read_members(path), zipfile.ZipFile(path).comment
    members[name] = members[name][:-1] + b"\x01"
    with pytest.raises(ModelFileError, match="its checksum is wrong: it was altered"):
        gs.load(write_members(tmp_path / "forged", members, comment=comment))


def test_every_cut_is_noticed(path, tmp_path):
    whole = path.read_bytes()
    for length in {0, 1, 30, len(whole) // 3, len(whole) // 2, len(whole) - 70, len(whole) - 1}:
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(
            ModelFileError, match=r"not a whole one|not a whole Gramshift model|trusted"
        ):
            gs.load(tmp_path / "cut")


def test_every_changed_byte_is_noticed_or_harmless(path, tmp_path):
    """No flipped byte may raise another error or change a prediction."""
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
            assert (loaded.result_.model.coefficients == expected.result_.model.coefficients).all()
            assert loaded.result_.model.documents == expected.result_.model.documents
    assert noticed > 140


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "text").write_text("not a model at all")
    with pytest.raises(ModelFileError, match="not a Gramshift model, or not a whole one"):
        gs.load(tmp_path / "text")


SECRET = "My neighbour Quillfeather returned the zqyxwv kettle on 12.03.1987."
LINEAR = {"preset": "best", "ngram_range": (3, 5), "n_rounds": 3}


def fit_linear(n_classes=2, **options):
    source = [*SOURCE.texts[:38], NEW[3], SECRET]
    labels = SOURCE.labels[:40] if n_classes == 2 else [i % n_classes for i in range(40)]
    return gs.TransductiveClassifier(**LINEAR | options).fit(
        source, labels, target=[*FILMS.texts[:20], "", SECRET[::-1]]
    )


@pytest.fixture(scope="module")
def linear():
    return fit_linear()


@pytest.fixture(scope="module")
def linear_path(linear, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "linear.gramshift"
    linear.save(path)
    return path


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize(
    ("n_classes", "options"),
    [
        (2, {}),
        (7, {}),
        (3, {"bias": True, "kernel": "words"}),
        (2, {"kernel": "presence", "weighting": {"consistency": 1}}),
    ],
)
def test_a_linear_model_survives_with_and_without_texts(tmp_path, n_classes, options, texts):
    clf, new = fit_linear(n_classes, **options), [*NEW, *FILMS.texts[:22], SECRET]
    clf.save(tmp_path / "m", texts=texts)
    loaded = gs.load(tmp_path / "m")
    assert json.loads(read_members(tmp_path / "m")["model.json"])["format_version"] == 1
    assert loaded.decision_function(new).tobytes() == clf.decision_function(new).tobytes()
    assert loaded.predict_proba(new).tobytes() == clf.predict_proba(new).tobytes()
    assert loaded.transduction_proba_.tobytes() == clf.transduction_proba_.tobytes()
    assert (loaded.predict(FILMS.texts[:20]) == clf.transduction_[:20]).all()
    assert loaded.strongest_ngrams(20) == clf.strongest_ngrams(20)
    assert loaded.history_ == clf.history_
    assert loaded.result_.model.documents == (clf.result_.model.documents if texts else [])
    found, expected = loaded.explain(NEW[0]), clf.explain(NEW[0])
    assert (found.score, found.spans) == (expected.score, expected.spans)
    assert found.documents == (expected.documents if texts else [])


def test_what_is_loaded_is_saved_again_with_the_same_bytes(linear, tmp_path):
    """Only the date may differ."""

    def read(name):
        members = read_members(tmp_path / name)
        return members | {"model.json": json.loads(members["model.json"]) | {"saved": None}}

    linear.save(tmp_path / "with", texts=True)
    linear.save(tmp_path / "without", texts=np.bool_(False))
    gs.load(tmp_path / "with").save(tmp_path / "1", texts=True)
    gs.load(tmp_path / "with").save(tmp_path / "2")
    gs.load(tmp_path / "without").save(tmp_path / "3")
    assert read("1") == read("with") != read("without")
    assert read("2") == read("3") == read("without")


def test_texts_that_are_not_there_cannot_be_saved(linear, linear_path, tmp_path):
    with pytest.raises(ValueError, match=r"texts=True: .* loaded from a file without texts"):
        gs.load(linear_path).save(tmp_path / "m", texts=True)
    for texts in ("yes", 1, None):
        with pytest.raises(ValueError, match=f"texts={texts!r}: give True or False"):
            linear.save(tmp_path / "m", texts=texts)
    assert list(tmp_path.iterdir()) == []


def test_other_models_hold_their_texts_whatever_is_asked_for(tmp_path):
    clf = fit_linear(weighting="idf")
    clf.save(tmp_path / "m", texts=False)
    assert SECRET.encode() in (tmp_path / "m").read_bytes()


def test_a_file_without_texts_holds_nothing_that_a_single_document_has(
    linear, linear_path, tmp_path
):
    documents, members = linear.result_.model.documents, read_members(linear_path)
    linear.save(tmp_path / "with", texts=True)
    assert SECRET.encode() in (tmp_path / "with").read_bytes()  # so that it would be found
    prepared = [naive.prepare(text) for text in documents]
    words = {word for text in prepared for word in naive.words(text) if len(word) > 7}
    alone = [word for word in words if sum(word in text for text in prepared) == 1]
    assert "quillfeather" in alone
    assert len(alone) > 50
    head = members.pop("model.json")  # names of parameters and arrays are words too
    assert not [
        text
        for text in ("uillfeather", "zqyxwv", "kettle", *documents[:38])
        if text.encode() in head
    ]
    for text in [word for one in alone for word in (one, one.title())] + [
        one for one in documents if len(one) > 4
    ]:
        for encoding in ("utf-8", "utf-16-le", "utf-32-le"):
            needle = text.encode(encoding, "surrogatepass")
            assert not [name for name, data in members.items() if needle in data], text


def test_every_ngram_of_a_file_without_texts_stands_in_two_documents(linear, linear_path):
    prepared = [naive.prepare(text) for text in linear.result_.model.documents]
    characters, words = gs.load(linear_path).result_.model.ngrams.parts
    grams = [characters.name(node) for node in range(1, characters.table.parents.size)]
    assert len(grams) > 1000
    for gram in grams:
        assert sum(gram in text for text in prepared) > 1, gram
    pairs = [naive.words_with_opening(text) for text in prepared]
    assert len(words.vocabulary.words) > 50
    for word in words.vocabulary.words:
        assert sum(word in one for one in pairs) > 1, word
    for node in range(1, words.table.parents.size):
        pair = words.name(node).split(" ")
        assert (
            sum(any(one[i : i + len(pair)] == pair for i in range(len(one))) for one in pairs) > 1
        ), pair


def works(clf):
    """Assert that a model that was accepted computes finite numbers, however odd they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(clf.decision_function(NEW)).all()
        assert clf.decision_function(NEW).shape[0] == len(NEW)
        assert set(clf.predict([*NEW, *FILMS.texts[:5]])) <= set(clf.classes_)
        assert clf.predict_proba(NEW).shape == (len(NEW), len(clf.classes_))
        assert clf.transduction_proba_.shape == clf.transduction_score_.shape
        assert set(clf.strongest_ngrams(5)) == set(clf.classes_)
        assert clf.explain(NEW[0]).given == NEW[0]
    return True


@pytest.fixture(scope="module", params=[False, True], ids=["without texts", "with texts"])
def small_path(request, tmp_path_factory):
    """A small model of three classes, so that no array has a shape that would fit another."""
    source = ["a good pan", "good lid", "bad pot", "a bad, bad tea", "so-so tea", "a so-so lid"]
    clf = gs.TransductiveClassifier(**LINEAR | {"ngram_range": (2, 3), "n_jobs": 1})
    clf.fit(source, [0, 0, 1, 1, 2, 2], target=["good tea", "bad lid", "so-so pan", "tea"])
    path = tmp_path_factory.mktemp("models") / "small.gramshift"
    clf.save(path, texts=request.param)
    assert works(gs.load(path))
    return path


def refusal(path, tmp_path, change):
    """Return the error of a changed file, or None if it is a model that works."""
    try:
        loaded = gs.load(rewrite(path, tmp_path, change))
    except ModelFileError as error:
        return str(error)
    assert works(loaded)
    return None


def test_another_number_of_kernels_is_refused(small_path, tmp_path):
    for parts in (0, 1, 3, -1, 65, 10**9, True, 2.0, "2", None, [2]):
        assert refusal(small_path, tmp_path, set_head(parts=parts)), parts
    for texts in (None, 1, 0, "yes", []):
        assert "texts is neither true nor false" in refusal(
            small_path, tmp_path, set_head(texts=texts)
        )
    for version in (0, 2, "1", 1.5, True, None):
        assert refusal(small_path, tmp_path, set_head(format_version=version)), version

    def drop_a_part(head, members):
        head["parts"] = 1
        for name in [name for name in members if name.endswith("_1.npy")]:
            del members[name]

    def add_a_part(head, members):
        head["parts"] = 3
        members |= {
            name.replace("_1", "_2"): data
            for name, data in members.items()
            if name.endswith("_1.npy")
        }

    def turn_parts(head, members):
        for name in [name for name in members if name.endswith("_0.npy")]:
            other = name.replace("_0", "_1")
            members[name], members[other] = members[other], members[name]

    def drop_a_class(head, members):
        for name in ("worth_0.npy", "worth_1.npy"):
            members[name] = npy(np.ascontiguousarray(np.load(io.BytesIO(members[name]))[:, :-1]))

    for change in (drop_a_part, add_a_part, turn_parts, drop_a_class):
        assert refusal(small_path, tmp_path, change), change.__name__


def test_settings_that_do_not_go_with_coefficients_of_ngrams_are_refused(small_path, tmp_path):
    def put(where, **values):
        return lambda head, members: head[where].update(values)

    for values in (
        {"adapt": True},
        {"kernel": "presence"},
        {"kernel": ["presence", "spectrum"]},
        {"kernel": "precomputed"},
        {"kernel": ["words", "presence"]},
        {"kernel": ["presence", "words", "words"]},
        {"weighting": "idf"},
        {"weighting": "none"},
        {"weighting": {"classes": 0.0}},
    ):
        assert refusal(small_path, tmp_path, put("settings", **values)), values
    for ngram_range in ([3, 3], [1, 2], [0, 3], [3, 2], [2], [2, 3, 4], "23", None):
        assert refusal(small_path, tmp_path, put("settings", ngram_range=ngram_range)), ngram_range
    for ngram_range in (
        [0, 3],
        [3, 2],
        [2],
        [2, 3, 4],
        "23",
    ):  # what the user gave must be right by itself
        assert refusal(small_path, tmp_path, put("parameters", ngram_range=ngram_range)), (
            ngram_range
        )
    for where in ("settings", "parameters"):
        for ngram_range in ([2, 10**30], [1, 3], [2, 2**31], [10**30, 10**30]):
            refusal(
                small_path, tmp_path, put(where, ngram_range=ngram_range)
            )  # refused, or a model that works


def test_every_changed_byte_of_a_linear_model_is_noticed_or_harmless(linear_path, tmp_path):
    whole, expected = (
        bytearray(linear_path.read_bytes()),
        gs.load(linear_path).decision_function(NEW).tobytes(),
    )
    noticed = 0
    for place in np.random.default_rng(1).integers(0, len(whole), 60).tolist():
        whole[place] ^= 0x55
        (tmp_path / "flipped").write_bytes(whole)
        whole[place] ^= 0x55
        try:
            loaded = gs.load(tmp_path / "flipped")
        except ModelFileError:
            noticed += 1
        else:
            assert loaded.decision_function(NEW).tobytes() == expected
    assert noticed > 50
