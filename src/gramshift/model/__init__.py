"""Thin scikit-learn classes over the layers below."""
