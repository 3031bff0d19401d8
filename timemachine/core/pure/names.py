"""Names of sessions that are made of their texts."""

from typing import Final

NAME_LENGTH: Final = 80


def shortened(text: str, limit: int = NAME_LENGTH) -> str:
    """Return the text on one line and within the limit. If it is cut, it ends after a complete word, with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    words = line[:limit].rpartition(" ")[0]
    return (words or line[: limit - 1]) + "…"
