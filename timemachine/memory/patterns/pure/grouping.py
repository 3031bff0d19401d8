"""Which wordings are one pattern. Pure.

A longer wording joins a shorter one when it has all of its words and hardly more: words may be added, none may be exchanged for another.
Only wordings that no shorter one claims are joined, so nothing is joined over a third; and one that two of them claim stands alone.
What comes out depends on the wordings only, not on the order in which they came.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Final

from timemachine.memory.patterns.pure.wording import NOT, Wording

FEWEST: Final = 4
"""How many words two wordings share at least, that which negates not counted."""
SHARE: Final = 2 / 3
"""How much of the longer one's words the shorter one has at least."""
_DIRECTED: Final = frozenset({"to", "from", "into", "than", "before", "after", "by", "onto"})


def joins(short: Wording, long: Wording) -> bool:
    """Whether the longer wording says what the shorter one says, and hardly more.

    It has all of the shorter one's words, at least `FEWEST`, which are at least `SHARE` of its own; both negate or neither; and where one of
    them says from where to where, the words stand in the same order.
    """
    if short.text == long.text:
        return True
    shared, all_words = set(short.words), set(long.words)
    if len(shared - {NOT}) < FEWEST or not shared <= all_words or (NOT in shared) != (NOT in all_words):
        return False
    if len(shared) < SHARE * len(all_words):
        return False
    if not (_is_directed(short) or _is_directed(long)):
        return True
    return short.words == tuple(word for word in long.words if word in shared)


def grouped[Key: Hashable](wordings: Mapping[Key, Wording]) -> dict[Key, Key]:
    """The pattern of each wording, known by its shortest one."""
    by_word: dict[str, list[Key]] = {}
    found: dict[Key, Key] = {}
    for key in sorted(wordings, key=lambda each: _length(wordings[each])):
        wording = wordings[key]
        claiming = [root for root in _near(wording.words, by_word) if joins(wordings[root], wording)]
        found[key] = claiming[0] if len(claiming) == 1 else key
        if found[key] == key and wording.words:
            by_word.setdefault(max(wording.words), []).append(key)
    return found


def _near[Key](words: Iterable[str], by_word: Mapping[str, list[Key]]) -> Iterator[Key]:
    """Those among which every one is whose words are all among these."""
    for word in words:
        yield from by_word.get(word, ())


def _length(wording: Wording) -> tuple[int, int, str]:
    return len(wording.words), len(wording.text), wording.text


def _is_directed(wording: Wording) -> bool:
    return not _DIRECTED.isdisjoint(wording.text.casefold().split())
