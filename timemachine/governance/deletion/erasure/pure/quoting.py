"""Whether a sentence says, word for word, a text that is erased. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from timemachine.text.pure.language.sentences import sentence_texts
from timemachine.text.pure.language.words import WORD, folded
from timemachine.text.redaction.pure.engine import readable

SHORTEST: Final = 3
"""Letters and digits of the shortest text that is looked for; anything says a shorter one."""


def quotes(said: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts, or one of their sentences, stands in what is said: the same words in a row, whatever their case and signs."""
    words = _words(said)
    return any(_stands_in(each, words) for text in texts for each in _pieces(text))


def _pieces(text: str) -> Iterator[list[str]]:
    legible = readable(text)
    for each in (legible, *sentence_texts(legible)):
        words = _words(each)
        if sum(map(_weight, words)) >= SHORTEST:
            yield words


def _words(text: str) -> list[str]:
    return [folded(word) for word in WORD.findall(text)]


def _weight(word: str) -> int:
    """How many letters a word counts for: one that a script writes as one character says more than a letter does."""
    return 2 if len(word) == 1 and not word.isascii() else len(word)


def _stands_in(words: list[str], said: list[str]) -> bool:
    return any(said[begin : begin + len(words)] == words for begin in range(len(said) - len(words) + 1))
