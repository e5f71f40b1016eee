"""String kernels, and the one loop that fills a kernel matrix, tile by tile."""
