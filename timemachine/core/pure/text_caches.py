"""In-memory caches of recorded text, which are cleared when something is erased."""

from typing import Final, Protocol


class Cache(Protocol):
    """A function with a cache, as `functools.lru_cache` makes it."""

    def cache_clear(self) -> None:
        """Clear the cache."""


_CACHES: Final[list[Cache]] = []


def cleared_on_erasure[C: Cache](cache: C) -> C:
    """Register a cached function, so that `clear_text_caches` clears it. A decorator."""
    _CACHES.append(cache)
    return cache


def clear_text_caches() -> None:
    """Clear every registered cache of this process. Other processes keep theirs until they restart."""
    for each in _CACHES:
        each.cache_clear()
