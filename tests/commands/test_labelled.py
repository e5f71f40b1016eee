from gramshift.commands.classify.labelled import label_columns, renamed_in_words
from gramshift.data.tables import Style, Table


def make_table(*columns, kept=None):
    return Table("t.csv", list(columns), Style("csv", kept=kept), parts=iter, position=lambda: (0, 0))


def test_names_that_are_taken_get_a_prefix():
    table = make_table("text", "label", "predicted_label", "p_a")
    columns = label_columns(table, ["a", "b"])
    assert columns.label == "predicted_predicted_label"
    assert (columns.confidence, columns.of_class) == ("confidence", ["predicted_p_a", "p_b"])
    assert "goes into predicted_predicted_label, predicted_p_a" in renamed_in_words(table, columns)
    assert label_columns(table, ["a", "b"], filled="label").label == "label"
    assert label_columns(make_table("id", "text", "label", kept=["id"]), ["a"]).label == "label"
    assert renamed_in_words(make_table("text"), label_columns(make_table("text"), ["a"])) is None


def test_a_document_just_as_sure_as_asked_for_keeps_its_label():
    columns = label_columns(make_table("text"), ["a", "b"])
    found = columns.values(["a", "b", "a", "b"], [[0.7, 0.3], [0.31, 0.69], [1 / 3, 2 / 3], []], abstain_below=0.7)
    assert found == {
        "label": ["a", None, None, "b"],
        "confidence": [0.7, 0.69, 0.666667, None],
        "p_a": [0.7, 0.31, 0.333333, None],
        "p_b": [0.3, 0.69, 0.666667, None],
    }
