"""The facts of a recorded or replayed step that are compared, from rows without their complete payloads."""

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

# Bytes of a payload that are read, to find similar steps and to compare JSON by its values.
HEAD_BYTES: Final = 1_500
PARTS: Final = ("sha256", "media_type", "size", "head")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """A step of a run: what is compared, and what a list shows. Costs are US dollars, None if unknown or no model was called.

    `unknown_cost` distinguishes a call of unknown price from a step without a call; `not_asked` is why a
    replay made no call.
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
        """Return its sequence in its session."""
        return self.facts.sequence


def columns_of(payload: str, prefix: str) -> dict[str, Any]:
    """Return the payload columns that `identity` and `beginning` need, with a prefix."""
    whole: dict[str, Any] = {part: F(f"{payload}__{part}") for part in PARTS[:3]}
    head = Substr(f"{payload}__data", 1, HEAD_BYTES, output_field=BinaryField())
    return {f"{prefix}_{part}": column for part, column in {**whole, "head": head}.items()}


def identity(row: dict[str, Any], prefix: str) -> str | None:
    """Return what identifies a payload: its SHA-256, or that of its values for short JSON; None without a payload.

    An answer recorded in an object (`{"answer": …}`) equals one recorded as text. The identity of a long one
    is already in the row, as `output_answer`.
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
    """Return whether a step's output is an ask's JSON that is too long for `identity`."""
    return bool(
        row["kind"] == "ask"
        and row["output_media_type"] == "application/json"
        and row["output_size"] > HEAD_BYTES
    )


def answer_identity(data: bytes | memoryview) -> str | None:
    """Return the identity of the answer in an object, as if it had been recorded as text; None for JSON without an answer."""
    answer = _answer(json.loads(text_of(data)))
    return None if answer is None else text_sha256(answer)


def beginning(row: dict[str, Any], *prefixes: str) -> str:
    """Return the beginnings of the texts of some payloads."""
    heads = [row[f"{prefix}_head"] for prefix in prefixes]
    return " ".join(bytes(head).decode("utf-8", "replace") for head in heads if head is not None)


def error_of(row: dict[str, Any]) -> str | None:
    """Return the recorded error as one text."""
    parts = [row["error_type"], row["error_message"]]
    return ": ".join(part for part in parts if part is not None) if any(parts) else None


def frame_key(frame: object, sha256: str | None) -> str:
    """Return what identifies the passage of a hit: its text, or the frame's name if it was not hashed."""
    return sha256 or f"frame {frame}"


def _answer(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    parts: Sequence[str] = [value[key] for key in ANSWER_KEYS if isinstance(value.get(key), str)]
    return parts[0] if parts else None
