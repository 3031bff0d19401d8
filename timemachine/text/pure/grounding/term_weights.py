"""What a term counts. Fixed, so that a passage more can only add support, and documented in docs/grounding.md."""

from typing import Final

from timemachine.text.pure.language.talk import GLUE

# A word that holds any answer together counts little; a number or a name of a machine counts more than a word.
_GLUE: Final = 0.3
_WORD: Final = 1.0
_FIGURE: Final = 1.3


def weight(key: str) -> float:
    """What the term with this root counts."""
    if key in GLUE:
        return _GLUE
    return _FIGURE if key.startswith("#") else _WORD
