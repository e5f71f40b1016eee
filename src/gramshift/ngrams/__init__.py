"""The n-grams of documents, sorted once, and what is read off them: which n-gram stands in which document, how often."""
