"""Text for a terminal."""


def visible(text: str) -> str:
    """Without characters that would rearrange a terminal's line or hide."""
    return "".join(char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}" for char in text)
