import dask
import dask.bag
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gramshift.text.documents import as_documents

GOOD = ["one", "two", ""]


@pytest.mark.parametrize(
    "documents",
    [
        GOOD,
        tuple(GOOD),
        np.array(GOOD),
        np.array(GOOD, dtype=object),
        pd.Series(GOOD),
        pd.Series(GOOD, index=[5, 3, 1], dtype="string"),
        pl.Series(GOOD),
        (text for text in GOOD),
        np.array(GOOD)[:, None],
        pd.DataFrame({"text": GOOD}, index=[5, 3, 1]),
        pd.DataFrame(GOOD),
        pl.DataFrame({"text": GOOD}),
        pd.DataFrame({"column_names": GOOD}),
        pa.table({"text": GOOD}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_column_of_str_becomes_a_list_of_str(documents):
    result = as_documents(documents)
    assert result == GOOD
    assert all(isinstance(text, str) for text in result)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_of_one_column_is_a_column():
    assert as_documents(np.matrix(GOOD).T) == GOOD


def test_numpy_strings_count_as_str():
    assert as_documents([np.str_("one"), "two"]) == ["one", "two"]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("a text", r"documents is a single str; give a list of str"),
        (b"a text", r"documents is a single bytes"),
        (["a", b"b"], r"documents\[1\] is b'b' \(bytes\); every document must be a str: decode it"),
        (
            ["a", None],
            r"documents\[1\] is None \(NoneType\).*drop the missing rows, or fill them with ''",
        ),
        (["a", "b", float("nan")], r"documents\[2\] is nan \(float\).*missing"),
        (pd.Series(["a", None]), r"documents\[1\] is .*missing"),
        (pd.Series(["a", pd.NA], dtype="string"), r"documents\[1\] is .*missing"),
        (pl.Series(["a", None]), r"documents\[1\] is None"),
        ([1, 2], r"documents\[0\] is 1 \(int\); every document must be a str$"),
        ([["a"], "b"], r"documents\[0\] is \['a'\] \(list\)"),
        (7, r"documents is of type int; give a list of str"),
        (None, r"documents is of type NoneType"),
        ({"text": "a"}, r"documents is of type dict"),
        ({"a", "b"}, r"documents is of type set; give a list of str"),
        (np.array([["a", "b"]]), r"documents has 2 columns; give the one .*documents\[:, 0\]"),
        (np.array([[["a"]]]), r"documents has shape \(1, 1, 1\); give one column of texts"),
        (pd.DataFrame({"id": [1], "text": ["a"]}), r"2 columns: id, text; .*documents\['text'\]"),
        (pl.DataFrame({"id": [1], "body": ["a"]}), r"2 columns: id, body; .*documents\['id'\]"),
        (pa.table({"id": [1], "text": ["a"]}), r"2 columns: id, text; .*documents\['text'\]"),
        (pd.DataFrame({"n": [1]}), r"documents\[0\] is 1 \(int\)"),
        (pd.DataFrame(range(3)).iloc[:, :0], r"documents has no columns; give one of texts$"),
        (pa.table({}), r"documents has no columns"),
        (np.empty((3, 0)), r"documents has no columns"),
        (["x" * 10_000, 5.0], r"documents\[1\] is 5.0 \(float\)"),
    ],
)
def test_the_first_bad_row_is_named(documents, message):
    with pytest.raises(TypeError, match=message):
        as_documents(documents)


def test_long_values_are_shortened_in_the_message():
    for documents in ([["x" * 1000]], pd.DataFrame({"x" * 1000: [1], "y" * 1000: [1]})):
        with pytest.raises(TypeError) as error:
            as_documents(documents)
        assert len(str(error.value)) < 300


def test_dask_collections_are_computed():
    bag = dask.bag.from_delayed(
        [dask.delayed(lambda number: [f"text {number}", "more"])(number) for number in range(2)]
    )
    assert as_documents(bag) == ["text 0", "more", "text 1", "more"]
    frame = dask.dataframe.from_pandas(
        pd.DataFrame({"text": ["a", "b", "c"], "label": [0, 1, 0]}), npartitions=2
    )
    assert as_documents(frame["text"]) == ["a", "b", "c"]
    with pytest.raises(
        TypeError, match=r"documents is a dask DataFrame; give a bag of texts or one column"
    ):
        as_documents(frame)
    with pytest.raises(TypeError, match=r"target\[2\] is None \(NoneType\).*drop the missing rows"):
        as_documents(dask.bag.from_sequence(["a", "b", None], npartitions=2), name="target")
