"""About how many tokens a text has, where nobody counted them: four characters are taken for one. Pure."""

from math import ceil
from typing import Final

CHARACTERS_OF_A_TOKEN: Final = 4


def tokens_about(characters: int) -> int:
    """The tokens of a text of so many characters, rounded up."""
    return ceil(characters / CHARACTERS_OF_A_TOKEN)
