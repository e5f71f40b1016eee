"""The method on plain arrays: features, ridge regression, and rounds of self-training."""
