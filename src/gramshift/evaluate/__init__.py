"""The paper's protocol: its settings run with every method, significance, tables of results."""
