"""String kernels: each fills one tile of a gram and knows nothing of threads, memory or progress."""
