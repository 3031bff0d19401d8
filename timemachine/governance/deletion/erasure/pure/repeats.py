"""Finding erased texts that are repeated: word for word in the session, and in the reason. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from timemachine.text.pure.language.sentences import sentence_texts
from timemachine.text.pure.language.words import WORD, folded
from timemachine.text.redaction.pure.engine import readable
from timemachine.text.redaction.pure.rules import Rules, Wordings

NAME: Final = "repeated text"
_LONGEST: Final = 1_000
SHORTEST: Final = 3
"""Fewest letters and digits of a text to search for; shorter ones occur everywhere."""


def lost_texts(before: Any, after: Any) -> Iterator[str]:
    """Yield the texts of a JSON value that are no longer in it unchanged."""
    if before == after:
        return
    if isinstance(before, dict):
        inner = after if isinstance(after, dict) else {}
        for key, value in before.items():
            yield from lost_texts(value, inner.get(key))
    elif isinstance(before, list):
        same = isinstance(after, list) and len(after) == len(before)
        for place, value in enumerate(before):
            yield from lost_texts(value, after[place] if same else None)
    elif isinstance(before, str):
        yield before


def rules_for(texts: Iterable[str]) -> Rules | None:
    """Return rules that find these texts and their sentences anywhere; None if all are too short."""
    found = Wordings.of((piece for text in texts for piece in _pieces(text)), NAME)
    return Rules(texts=found) if found.by_begin else None


def _pieces(text: str) -> Iterator[str]:
    for each in _sentences(text):
        stripped = each.strip()
        yield from (stripped[begin : begin + _LONGEST] for begin in range(0, len(stripped), _LONGEST))


def quotes(text: str, texts: Iterable[str]) -> bool:
    """Return whether a text has all the words of one of the others, or of one of its sentences, in a row."""
    words = _words(text)
    return any(_stands_in(each, words) for other in texts for each in _quotable(other))


def _quotable(text: str) -> Iterator[list[str]]:
    for each in _sentences(text):
        words = _words(each)
        if sum(map(_letters, words)) >= SHORTEST:
            yield words


def _words(text: str) -> list[str]:
    return [folded(word) for word in WORD.findall(text)]


def _letters(word: str) -> int:
    """Return how many letters a word counts as: two for a single non-ASCII character, which can be a word."""
    return 2 if len(word) == 1 and not word.isascii() else len(word)


def _stands_in(words: list[str], text_words: list[str]) -> bool:
    return any(
        text_words[begin : begin + len(words)] == words for begin in range(len(text_words) - len(words) + 1)
    )


def _sentences(text: str) -> Iterator[str]:
    legible = readable(text)
    yield legible
    yield from sentence_texts(legible)
