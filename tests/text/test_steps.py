import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from gramshift.text.steps import TextSteps


@given(st.lists(st.text()))
def test_the_default_is_strip_lower_case_and_single_blanks(texts):
    assert TextSteps().apply(texts) == [naive.prepare(text) for text in texts]


@given(st.text(alphabet=" \t\n\u2003aB"))
def test_each_step_can_be_turned_off(text):
    assert TextSteps(strip=False, lowercase=False, collapse_whitespace=False).apply([text]) == [
        text
    ]
    assert TextSteps(lowercase=False, collapse_whitespace=False).apply([text]) == [text.strip()]
    assert TextSteps(strip=False, collapse_whitespace=False).apply([text]) == [text.lower()]
    assert TextSteps(lowercase=False).apply([text]) == [" ".join(text.split())]
    collapsed = TextSteps(strip=False, lowercase=False).apply([text])[0]
    assert collapsed.strip() == " ".join(text.split())
    assert collapsed.startswith(" ") == text[:1].isspace()
    assert "  " not in collapsed


@given(st.text(alphabet="eÉ\u0301Iİ", max_size=8))
def test_a_unicode_form_holds_after_lower_casing(text):
    result = TextSteps(unicode_form="NFC").apply([text])[0]
    assert unicodedata.is_normalized("NFC", result)
    assert result == unicodedata.normalize("NFC", text.lower())


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match=r"unicode_form='nfc': must be one of None, 'NFC', 'NFD'"):
        TextSteps(unicode_form="nfc")
