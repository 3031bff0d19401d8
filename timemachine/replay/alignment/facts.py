"""What of a recorded or replayed step is compared, taken from rows without their whole payloads."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from django.db.models import BinaryField, F
from django.db.models.functions import Substr

from timemachine.core.payloads.queries import text_of
from timemachine.core.pure.content import sha256_hex, text_sha256
from timemachine.replay.runs.frozen import ANSWER_KEYS
from timemachine.text.pure.difference.json import comparable
from timemachine.text.pure.difference.steps import StepFacts

# Bytes of a payload that are read: what steps are found alike by, and as much JSON as is compared by its values.
HEAD_BYTES: Final = 1_500
PARTS: Final = ("sha256", "media_type", "size", "head")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """A step of a run: what is compared, and what a list shows of it. Costs in US dollars, None where unknown or nothing was called.

    `unknown_cost` tells a call of unknown price from a step that called nobody; `not_asked` why a replay left the call out.
    """

    facts: StepFacts
    label: str
    duration_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    unknown_cost: bool
    not_asked: str | None = None

    @property
    def sequence(self) -> int:
        """Where it stands in its session."""
        return self.facts.sequence


def columns_of(payload: str, prefix: str) -> dict[str, Any]:
    """The columns by which `identity` and `beginning` know a payload, named with a prefix."""
    whole: dict[str, Any] = {part: F(f"{payload}__{part}") for part in PARTS[:3]}
    head = Substr(f"{payload}__data", 1, HEAD_BYTES, output_field=BinaryField())
    return {f"{prefix}_{part}": column for part, column in {**whole, "head": head}.items()}


def identity(row: dict[str, Any], prefix: str) -> str | None:
    """What a payload is known by: its SHA-256, or that of its values where it is short JSON; None for no payload.

    An answer that was recorded in an object (`{"answer": …}`) is the same as one that was recorded as a text; that of a long one
    stands in the row already, as `output_answer`.
    """
    if row[f"{prefix}_sha256"] is None:
        return None
    if row.get(f"{prefix}_answer") is not None:
        return f"{row[f'{prefix}_answer']}"
    if row[f"{prefix}_media_type"] != "application/json" or row[f"{prefix}_size"] > HEAD_BYTES:
        return f"{row[f'{prefix}_sha256']}"
    head = row[f"{prefix}_head"]
    answer = answer_identity(head) if prefix == "output" and row["kind"] == "ask" else None
    return answer or f"json {sha256_hex(comparable(json.loads(text_of(head))))}"


def has_long_answer(row: dict[str, Any]) -> bool:
    """Whether a step's output is an ask's JSON of which `identity` cannot read the whole."""
    return bool(
        row["kind"] == "ask"
        and row["output_media_type"] == "application/json"
        and row["output_size"] > HEAD_BYTES
    )


def answer_identity(data: bytes | memoryview) -> str | None:
    """What the answer in an object is known by, as if it had been recorded as a text; None for JSON without one."""
    answer = _answer(json.loads(text_of(data)))
    return None if answer is None else text_sha256(answer)


def beginning(row: dict[str, Any], *prefixes: str) -> str:
    """How the texts of some payloads begin."""
    heads = [row[f"{prefix}_head"] for prefix in prefixes]
    return " ".join(bytes(head).decode("utf-8", "replace") for head in heads if head is not None)


def error_of(row: dict[str, Any]) -> str | None:
    """The error that was recorded, in one text."""
    said = [row["error_type"], row["error_message"]]
    return ": ".join(part for part in said if part is not None) if any(said) else None


def frame_key(frame: object, sha256: str | None) -> str:
    """What makes two hits the same passage: its text; where that was not hashed, the frame's name."""
    return sha256 or f"frame {frame}"


def _answer(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    said: Sequence[str] = [value[key] for key in ANSWER_KEYS if isinstance(value.get(key), str)]
    return said[0] if said else None
