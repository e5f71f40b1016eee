"""Reading and writing tables of texts: csv, tsv, jsonl, parquet, and folders of texts."""
