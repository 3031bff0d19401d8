"""The Merkle tree of RFC 6962 (section 2.1) over SHA-256: roots, proofs of inclusion and consistency.

A leaf is hashed after a zero byte, a node after a one byte. A hash is 32 bytes.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

EMPTY: Final = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a record."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """The part of a tree that it needs to grow: the roots of its complete subtrees, the largest first.

    There is one for each bit of `size` that is set.
    """

    size: int = 0
    peaks: tuple[bytes, ...] = ()

    def grown(self, leaves: Iterable[bytes]) -> "Frontier":
        """Return the frontier with more leaf hashes appended."""
        size, peaks = self.size, list(self.peaks)
        for leaf in leaves:
            made, position = leaf, size
            while position & 1:
                made = node_hash(peaks.pop(), made)
                position >>= 1
            peaks.append(made)
            size += 1
        return Frontier(size=size, peaks=tuple(peaks))

    @property
    def root(self) -> bytes:
        """Return the hash of the tree."""
        if not self.peaks:
            return EMPTY
        *others, found = self.peaks
        for peak in reversed(others):
            found = node_hash(peak, found)
        return found


@dataclass(slots=True)
class Tree:
    """A complete tree: leaf hashes, and every complete subtree above them, computed once."""

    leaves: Sequence[bytes]
    _levels: list[Sequence[bytes]] = field(init=False)

    def __post_init__(self) -> None:
        self._levels = [self.leaves]
        while len(self._levels[-1]) > 1:
            below = self._levels[-1]
            pairs = range(0, len(below) - 1, 2)
            self._levels.append([node_hash(below[at], below[at + 1]) for at in pairs])

    def root(self, size: int | None = None) -> bytes:
        """Return the hash of the tree of the first `size` leaves, or of all."""
        return self._range(0, len(self.leaves) if size is None else size)

    def inclusion(self, index: int, size: int | None = None) -> list[bytes]:
        """Return the audit path of a leaf in the tree of the first `size` leaves, upwards (2.1.1)."""
        end = len(self.leaves) if size is None else size
        if not 0 <= index < end <= len(self.leaves):
            raise ValueError(f"leaf {index} of a tree of {end}")
        return self._path(index, 0, end)

    def consistency(self, old: int, new: int | None = None) -> list[bytes]:
        """Return the proof that the tree of `old` leaves is a prefix of that of `new` (2.1.2)."""
        end = len(self.leaves) if new is None else new
        if not 0 < old <= end <= len(self.leaves):
            raise ValueError(f"a tree of {old} in one of {end}")
        return [] if old == end else self._subproof(old, 0, end, whole=True)

    def _range(self, begin: int, end: int) -> bytes:
        width = end - begin
        if width == 0:
            return EMPTY
        if width & (width - 1) == 0:  # complete, and begins at a multiple of its width
            return self._levels[width.bit_length() - 1][begin // width]
        middle = begin + _split(width)
        return node_hash(self._range(begin, middle), self._range(middle, end))

    def _path(self, index: int, begin: int, end: int) -> list[bytes]:
        if end - begin == 1:
            return []
        middle = begin + _split(end - begin)
        if index < middle:
            return [*self._path(index, begin, middle), self._range(middle, end)]
        return [*self._path(index, middle, end), self._range(begin, middle)]

    def _subproof(self, old: int, begin: int, end: int, *, whole: bool) -> list[bytes]:
        if old == end:
            return [] if whole else [self._range(begin, end)]
        middle = begin + _split(end - begin)
        if old <= middle:
            return [*self._subproof(old, begin, middle, whole=whole), self._range(middle, end)]
        return [*self._subproof(old, middle, end, whole=False), self._range(begin, middle)]


def _split(width: int) -> int:
    """Return the largest power of two below the width."""
    return 1 << (width - 1).bit_length() - 1
