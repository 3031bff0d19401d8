"""A passage in a record: `hit.N` for where it came from and how it was ranked, `hit.N.text` for its words. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from timemachine.evidence.pure.record import Field, stored, written_here

OF_HIT: Final = (
    "rank",
    "score",
    "scores",
    "frame",
    "version",
    "title",
    "uri",
    "metadata",
    "sha256",
    "matched",
)


def hit_fields(row: Mapping[str, Any]) -> Iterator[tuple[str, Field | None]]:
    """The fields of a passage, by name, from its columns with `payload_id`, `payload__sha256` and `payload__size`."""
    name = f"hit.{row['rank']}"
    yield name, written_here({each: row[each] for each in OF_HIT})
    if row["payload_id"] is not None:
        yield f"{name}.text", stored(row["payload_id"], row["payload__sha256"], row["payload__size"])
