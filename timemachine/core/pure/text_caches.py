"""What a process keeps in its memory of texts that were recorded, so that it need not read the same words twice. Pure."""

from typing import Final, Protocol


class Cache(Protocol):
    """A function that keeps what it found, as `functools.lru_cache` makes it."""

    def cache_clear(self) -> None:
        """Forget all of it."""


_CACHES: Final[list[Cache]] = []


def kept[C: Cache](cache: C) -> C:
    """Have a function that keeps texts forget them with the others, when something is erased. A decorator."""
    _CACHES.append(cache)
    return cache


def forget_kept() -> None:
    """Forget every text that this process keeps. Other processes keep theirs until they are started again."""
    for each in _CACHES:
        each.cache_clear()
