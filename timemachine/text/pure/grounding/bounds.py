"""Limits on how much of an answer and its passages is read, so that grounding takes at most a second or two."""

from collections.abc import Sequence
from typing import Final

from timemachine.text.pure.language.sentences import Sentence, sentences

# In characters and in sentences, chosen by the measurements in docs/grounding.md.
ANSWER: Final = 20_000
PASSAGE: Final = 20_000
PASSAGES: Final = 100_000
ANSWER_SENTENCES: Final = 500
PASSAGES_SENTENCES: Final = 2_500
# For all answers and passages of a request together: as much as for one answer.
REQUEST: Final = ANSWER + PASSAGES


def beginning(text: str, characters: int, most: int) -> tuple[Sentence, ...]:
    """Return the first sentences of a text, at most `most` and within its first `characters`.

    A sentence that this limit cuts is left out, unless it is the first one: then it is read up to the limit.
    """
    found = sentences(text[:characters])
    if len(text) > characters and len(found) > 1:
        found = found[:-1]
    return found[:most]


def beginnings(texts: Sequence[str]) -> list[tuple[Sentence, ...]]:
    """Return the first sentences of each passage within the total limits."""
    characters, most = PASSAGES, PASSAGES_SENTENCES
    found: list[tuple[Sentence, ...]] = []
    for text in texts:
        read = beginning(text, min(PASSAGE, characters), most)
        characters, most = characters - length(read), most - len(read)
        found.append(read)
    return found


def length(read: Sequence[Sentence]) -> int:
    """Return how many characters of the text were read."""
    return read[-1].end if read else 0


def readable(answer: str, passages: Sequence[str]) -> int:
    """Return the most characters of an answer and its passages that are read."""
    of_passages = sum(min(len(text), PASSAGE) for text in passages)
    return min(len(answer), ANSWER) + min(of_passages, PASSAGES)
