"""Assign sessions to parts of the data. With the same seed the assignment never changes. Pure."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from uuid import UUID

from timemachine.core.pure.errors import InvalidInput

PARTS: Final = ("train", "valid", "test")
SEED: Final = "time-machine"
DEFAULT: Final = (80, 10, 10)
LONGEST_SEED: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A seed, and how many percent of the sessions belong to each of `PARTS`."""

    seed: str = SEED
    shares: tuple[int, int, int] = DEFAULT

    def part_of(self, session: UUID) -> str:
        """Return the part of a session: the first 8 bytes of the SHA-256 of `seed:id`, scaled to 0–1, select a
        share.
        """
        digest = sha256(f"{self.seed}:{session}".encode()).digest()
        place = int.from_bytes(digest[:8]) / 2**64 * 100
        train, valid, _ = self.shares
        return PARTS[0] if place < train else PARTS[1] if place < train + valid else PARTS[2]


def split_of(seed: str, shares: str) -> Split:
    """Return the split for shares like `80,10,10` of train, valid and test. Raises `InvalidInput`."""
    written = [each.strip() for each in shares.split(",")] if shares else [str(each) for each in DEFAULT]
    numbers = [int(each) for each in written if each.isascii() and each.isdigit() and len(each) < 4]  # noqa: PLR2004
    if len(written) != len(PARTS) or len(numbers) != len(PARTS) or sum(numbers) != 100:  # noqa: PLR2004
        raise InvalidInput(
            "`shares` must be three whole numbers that add up to 100, for train, valid and test: 80,10,10.",
            code="invalid_field",
            field="shares",
        )
    if len(seed) > LONGEST_SEED:
        raise InvalidInput(
            f"`seed` can have at most {LONGEST_SEED} characters.", code="invalid_field", field="seed"
        )
    train, valid, test = numbers
    return Split(seed=seed or SEED, shares=(train, valid, test))
