"""String kernels, each of which fills one tile of a kernel matrix, and the only loop over tiles."""
