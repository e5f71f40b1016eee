"""The exact index: which n-gram stands in which document, how often."""
