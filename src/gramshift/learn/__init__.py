"""The method on plain arrays: kernels adapted to the target, ridge regression, rounds of self-training."""
