"""Which sense of WordNet a word has in its sentence, and what that sense is near to."""

from collections.abc import Sequence
from functools import lru_cache

from gramshift.baselines.tagging import N_TEXTS, Word, tag_text
from gramshift.baselines.wordnet import FILES, WordNet, load_wordnet

NEAR = 0.5  # what a neighbour of a sense counts, where the sense itself counts 1
LIGHT = {"be", "have", "do"}  # they say nothing about the sense of others


def choose_senses(sentence: Sequence[Word], wordnet: WordNet) -> list[str]:
    """A key per word, empty if WordNet does not know it: simplified Lesk.

    The sense whose gloss shares most words with the rest of the sentence; of equals the most frequent.
    """
    telling = [word for word in sentence if word.part and word.lemma not in LIGHT]
    context = {text for word in telling for text in (word.form, word.lemma)}
    return [_choose(word, context, wordnet) for word in sentence]


def _choose(word: Word, context: set[str], wordnet: WordNet) -> str:
    senses = wordnet.senses(word.lemma, word.part) if word.part in FILES else []
    if len(senses) < 2:
        return senses[0] if senses else ""
    others = context - {word.form, word.lemma}
    return max(senses, key=lambda sense: len(others & wordnet.signature(sense)))


def expand_senses(senses: set[str], wordnet: WordNet) -> dict[str, float]:
    """The senses, which count 1, and their neighbours, which count NEAR."""
    near = {key: NEAR for sense in senses for key in wordnet.synset(sense).neighbours}
    return near | dict.fromkeys(senses, 1.0)


@lru_cache(maxsize=N_TEXTS)
def senses_of_text(text: str) -> tuple[tuple[str, ...], ...]:
    """A key per word of each sentence."""
    wordnet = load_wordnet()
    return tuple(tuple(choose_senses(sentence, wordnet)) for sentence in tag_text(text))
