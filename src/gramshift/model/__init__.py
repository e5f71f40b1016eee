"""What users call: the string kernel, the classifier, its settings, what a fit has learnt, explanations and files."""
