"""The data set of the paper and its download, and the demo corpus."""
