"""How much of an answer and of its passages is read, so that a grounding takes a second or two at most."""

from collections.abc import Sequence
from typing import Final

from timemachine.text.pure.language.sentences import Sentence, sentences

# In characters and in sentences; chosen from measurements, which docs/grounding.md tells.
ANSWER: Final = 20_000
PASSAGE: Final = 20_000
PASSAGES: Final = 100_000
ANSWER_SENTENCES: Final = 500
PASSAGES_SENTENCES: Final = 2_500
# Of all answers and passages of one request: as much as one answer may have.
REQUEST: Final = ANSWER + PASSAGES


def beginning(text: str, characters: int, most: int) -> tuple[Sentence, ...]:
    """The first sentences of a text, at most `most` of them and within its first `characters`.

    A sentence that the end of those cuts is left out, unless it is the first: then it is read as far as it goes.
    """
    found = sentences(text[:characters])
    if len(text) > characters and len(found) > 1:
        found = found[:-1]
    return found[:most]


def beginnings(texts: Sequence[str]) -> list[tuple[Sentence, ...]]:
    """The first sentences of each passage, until all that may be read is used up."""
    characters, most = PASSAGES, PASSAGES_SENTENCES
    found: list[tuple[Sentence, ...]] = []
    for text in texts:
        read = beginning(text, min(PASSAGE, characters), most)
        characters, most = characters - length(read), most - len(read)
        found.append(read)
    return found


def length(read: Sequence[Sentence]) -> int:
    """How many characters of its text were read."""
    return read[-1].end if read else 0


def readable(answer: str, passages: Sequence[str]) -> int:
    """How many characters of an answer and its passages are read at most."""
    of_passages = sum(min(len(text), PASSAGE) for text in passages)
    return min(len(answer), ANSWER) + min(of_passages, PASSAGES)
