"""Group wordings into patterns. Pure.

A longer wording joins a shorter one if it contains all of its words and few others: words may be added but not
exchanged. Only wordings that no shorter one claims are joined, so nothing is joined through a third; a wording
claimed by two of them stays alone. The result depends only on the wordings, not on their order.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Final

from timemachine.memory.patterns.pure.wording import NEGATION, Wording

FEWEST: Final = 4
"""How many words two wordings share at least, not counting negations."""
SHARE: Final = 2 / 3
"""Which share of the longer wording's words the shorter one has at least."""
_DIRECTED: Final = frozenset({"to", "from", "into", "than", "before", "after", "by", "onto"})


def joins(short: Wording, long: Wording) -> bool:
    """Return whether the longer wording means the same as the shorter one.

    It must have all of the shorter one's words, at least `FEWEST`, which are at least `SHARE` of its own. Both
    negate or neither does. If one of them names a direction (from, to), the words must have the same order.
    """
    if short.text == long.text:
        return True
    shared, all_words = set(short.words), set(long.words)
    if (
        len(shared - {NEGATION}) < FEWEST
        or not shared <= all_words
        or (NEGATION in shared) != (NEGATION in all_words)
    ):
        return False
    if len(shared) < SHARE * len(all_words):
        return False
    if not (_is_directed(short) or _is_directed(long)):
        return True
    return short.words == tuple(word for word in long.words if word in shared)


def grouped[Key: Hashable](wordings: Mapping[Key, Wording]) -> dict[Key, Key]:
    """Return the pattern of each wording, identified by its shortest wording."""
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
    """Return the candidates that could include every wording whose words are all among these."""
    for word in words:
        yield from by_word.get(word, ())


def _length(wording: Wording) -> tuple[int, int, str]:
    return len(wording.words), len(wording.text), wording.text


def _is_directed(wording: Wording) -> bool:
    return not _DIRECTED.isdisjoint(wording.text.casefold().split())
