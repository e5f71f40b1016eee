"""Tiles, memory, threads and progress: the engine owns the only loop over tiles."""
