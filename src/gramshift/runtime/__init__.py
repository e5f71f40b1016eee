"""With what work runs: threads or Dask workers, memory, files, progress."""
