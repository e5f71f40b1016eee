"""The classifier: its settings, the fit, its result, explanations and files."""
