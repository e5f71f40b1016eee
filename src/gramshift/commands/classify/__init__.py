"""The command classify: its options, what it reads, fits, finds and writes."""
