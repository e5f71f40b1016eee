"""With what work runs: threads or Dask workers, memory, finished pieces on disk, progress."""
