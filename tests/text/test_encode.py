from hypothesis import given
from hypothesis import strategies as st

from gramshift.text.encode import encode


@given(st.lists(st.text(alphabet=st.characters(codec=None), max_size=20)))
def test_equal_characters_have_equal_ids_and_others_do_not(texts):
    encoded = encode(texts)
    assert encoded.lengths.tolist() == [len(text) for text in texts]
    pairs = set(zip("".join(texts), encoded.codes.tolist(), strict=True))
    assert (
        len(pairs)
        == len({char for char, _ in pairs})
        == len({code for _, code in pairs})
        == encoded.n_chars
    )
    assert all(1 <= code <= encoded.n_chars for _, code in pairs)


def test_characters_are_code_points_not_utf16_units():
    assert encode(["😀", "\ud83d\ude00"]).lengths.tolist() == [1, 2]
    assert encode(["😀", "\ud83d\ude00"]).n_chars == 3
