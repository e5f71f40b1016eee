"""N-grams of documents: sorted exactly, then listed by document, indexed, or put in a trie."""
