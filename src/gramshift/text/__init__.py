"""From the documents of a user to prepared texts, and to arrays of character ids."""
