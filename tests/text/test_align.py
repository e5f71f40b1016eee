from hypothesis import given
from hypothesis import strategies as st

from gramshift.text.steps import FORMS, TextSteps, align

steps = st.builds(TextSteps, st.booleans(), st.booleans(), st.booleans(), st.sampled_from(FORMS))


@given(st.text(max_size=30), steps)
def test_the_prepared_text_is_that_of_the_steps_and_origins_are_in_order(text, chosen):
    aligned = align(text, chosen)
    assert aligned.text == chosen.apply([text])[0]
    assert len(aligned.starts) == len(aligned.stops) == len(aligned.text)
    assert all(0 <= a < b <= len(text) for a, b in zip(aligned.starts, aligned.stops, strict=True))
    assert list(aligned.starts) == sorted(aligned.starts)
    assert list(aligned.stops) == sorted(aligned.stops)


@given(st.text(alphabet="aB \t\nÄİßΣ", max_size=30))
def test_each_character_comes_from_where_it_says(text):
    aligned = align(text, TextSteps())
    for char, start, stop in zip(aligned.text, aligned.starts, aligned.stops, strict=True):
        origin = text[start:stop]
        assert (
            origin.isspace()
            if char == " "
            else char in origin.lower() or (char == "ς" and origin == "Σ")
        )


def test_by_hand():
    aligned = align("  Ab \n c ", TextSteps())
    assert aligned.text == "ab c"
    assert list(zip(aligned.starts, aligned.stops, strict=True)) == [(2, 3), (3, 4), (4, 7), (7, 8)]
    composed = align("e\u0301x", TextSteps(unicode_form="NFC"))
    assert (composed.text, composed.starts, composed.stops) == ("éx", [0, 2], [2, 3])
    stacked = align(
        "a\u0323\u0302x", TextSteps(unicode_form="NFC")
    )  # the second mark joins what the first has made
    assert (stacked.text, stacked.starts, stacked.stops) == ("\u1eadx", [0, 3], [3, 4])
    syllable = align("\u1100\u1161.", TextSteps(unicode_form="NFC"))
    assert (syllable.text, syllable.starts, syllable.stops) == ("가.", [0, 2], [2, 3])
