"""Let the vectors of a sentence encoder join the n-grams.

    python examples/sentence_encoder.py

It needs wordllama: pip install 'gramshift[encoder]'. To use another encoder, replace ``encode`` by
any function from a list of texts to an array with a row for each.
"""

from collections import Counter
from pathlib import Path

import wordllama

import gramshift as gs
from gramshift.datasets.demo import load_demo

# the package has its model and tokenizer, so that nothing is downloaded
folder = Path(wordllama.__file__).parent
encode = wordllama.WordLlama.load(cache_dir=folder, disable_download=True).embed
# encode = SentenceTransformer("all-MiniLM-L6-v2").encode


def main() -> None:
    kitchen, films = load_demo("kitchen"), load_demo("films")
    classifier = gs.TransductiveClassifier(encoder=encode)
    classifier.fit(kitchen.texts, kitchen.labels, target=films.texts)
    for label, n in Counter(classifier.transduction_.tolist()).items():
        print(f"{label}: {n}")


if __name__ == "__main__":
    main()
