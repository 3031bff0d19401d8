"""Checks of an action before it is recorded. Each function raises `InvalidInput` that names the field, or returns."""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.postgres_text import storable
from timemachine.recording.sessions.pure.corrections import is_correction
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft
from timemachine.recording.sessions.pure.vocabulary import (
    KINDS,
    LAYERS,
    MODES,
    ROLES,
    SIGNIFICANCES,
)

LARGEST_INTEGER = 2**63 - 1
LARGEST_SMALL_INTEGER = 2**31 - 1
MOST_TOKENS = 10**12
LONGEST_DURATION_MS = 30 * 366 * 24 * 3600 * 1000
YEARS = range(1900, 9000)
HIGHEST_COST = Decimal(1_000_000)
COST_DIGITS = 15
LONGEST_WORD = 1_000
LONGEST_ID_BYTES = 2_000
"""Limit for values that an index stores in full: a b-tree entry has at most 2,704 bytes."""
KEY = re.compile(r"[A-Za-z0-9._:@-]{1,200}")
HEX_SHA256 = re.compile(r"[0-9a-f]{64}")
CHOICES: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "layer": LAYERS,
    "role": ROLES,
    "significance": SIGNIFICANCES,
}


def key_of(recorded: str, otherwise: str) -> str:
    """Return another tool's name of a session if it can be a key, else `otherwise` and 12 hex digits of its SHA-256."""
    return recorded if KEY.fullmatch(recorded) else f"{otherwise}-{text_sha256(recorded)[:12]}"


def check_key(key: str) -> str:
    """Return the session key if it has the right form."""
    if not KEY.fullmatch(key):
        raise InvalidInput(
            f"The key {key[:60]!r} is not valid. Use 1 to 200 of these characters: A–Z a–z 0–9 . _ : @ -",
            code="invalid_key",
        )
    return key


def check_head(
    *, name: str | None = None, agent: str | None = None, user: str | None = None, tags: Sequence[str] = ()
) -> None:
    """Raise `TooLarge` if a name, agent, user or tag of a session is too long."""
    given = [("name", name), ("agent", agent), ("user", user), *(("tags", tag) for tag in tags)]
    for field, text in given:
        if text is not None:
            _check_length(field, text)


def check_moment(field: str, at: datetime | None) -> None:
    """Raise `InvalidInput` for a time outside the supported years."""
    if at is not None and at.year not in YEARS:
        raise _invalid(field, f"`{field}` must be between the years 1900 and 9000.")


def check_end(began: datetime, at: datetime | None) -> None:
    """Raise `InvalidInput` for an end outside the supported years or before the start."""
    check_moment("ended_at", at)
    if at is not None and at < began:
        raise _invalid(
            "ended_at",
            f"`ended_at` is before the session's start, {began.isoformat()}. Send a later time or leave it out.",
        )


def new_key() -> str:
    """Return a key for a session without one: `sess-` and eight hex digits."""
    return f"sess-{secrets.token_hex(4)}"


def check_action(draft: ActionDraft) -> None:
    """Raise `InvalidInput` or `TooLarge` for an action that cannot be recorded."""
    for field, allowed in CHOICES.items():
        check_choice(field, getattr(draft, field), allowed)
    check_importance(draft.importance)
    _check_integer("iteration", draft.iteration)
    _check_parent(draft)
    _check_copied_from(draft.copied_from)
    _check_words(draft)
    _check_times(draft)
    corrects = is_correction(draft.kind, draft.prices)
    _check_cost("cost_usd", draft.cost_usd, -HIGHEST_COST if corrects else Decimal(0))
    _check_cost("saved_usd", draft.saved_usd)
    if draft.usage is not None:
        for field in draft.usage.__slots__:
            _check_integer(
                f"usage.{field}", getattr(draft.usage, field), MOST_TOKENS, -MOST_TOKENS if corrects else 0
            )
    if draft.retrieval is not None:
        check_choice("retrieval.mode", draft.retrieval.mode, MODES)
        _check_hits(draft.retrieval.hits)


def check_choice(field: str, value: str | None, allowed: tuple[str, ...]) -> None:
    """Raise `InvalidInput` for a value that is not allowed."""
    if value is None or value in allowed:
        return
    raise _invalid(
        field,
        f"`{field}` cannot be {value[:60]!r}. Use one of: {', '.join(allowed)}.",
        allowed=list(allowed),
    )


def check_importance(importance: float | None) -> None:
    """Raise `InvalidInput` for an importance outside 0 to 1."""
    if importance is not None and not 0 <= importance <= 1:
        raise _invalid("importance", "`importance` must be between 0 and 1.")


def check_id(field: str, given: str) -> None:
    """Raise `InvalidInput` for an id that is too long."""
    size = id_bytes(given)
    if size > LONGEST_ID_BYTES:
        raise _invalid(
            field,
            f"`{field}` has {size:,} bytes in UTF-8; the maximum is {LONGEST_ID_BYTES:,}.",
            limit_bytes=LONGEST_ID_BYTES,
        )


def id_bytes(given: str) -> int:
    """Return the size of an id as it is stored."""
    return len(storable(given).encode())


def check_size(size: int, limit: int) -> None:
    """Raise `TooLarge` for an action over the limit, in bytes."""
    if size > limit:
        raise TooLarge(
            f"This action has {size:,} bytes; the maximum is {limit:,}. Split it, or store the content elsewhere and record its URL.",
            limit_bytes=limit,
            size_bytes=size,
        )


def _check_times(draft: ActionDraft) -> None:
    if draft.duration_ms is not None and not 0 <= draft.duration_ms <= LONGEST_DURATION_MS:
        raise _invalid("duration_ms", "`duration_ms` must be between 0 and 30 years, in milliseconds.")
    check_moment("started_at", draft.started_at)


def _check_cost(field: str, dollars: Decimal | None, smallest: Decimal = Decimal(0)) -> None:
    if dollars is None:
        return
    if not smallest <= dollars <= HIGHEST_COST or round(dollars, COST_DIGITS) != dollars:
        raise _invalid(
            field,
            f"`{field}` must be between {smallest:,} and {HIGHEST_COST:,} US dollars, with at most {COST_DIGITS} decimal digits.",
        )


def _check_integer(field: str, value: int | None, largest: int = LARGEST_INTEGER, smallest: int = 0) -> None:
    if value is not None and not smallest <= value <= largest:
        raise _invalid(field, f"`{field}` must be between {smallest:,} and {largest:,}.")


def _check_parent(draft: ActionDraft) -> None:
    if isinstance(draft.parent, int):
        _check_integer("parent", draft.parent)
    elif draft.parent is not None and draft.parent == draft.id:
        raise _invalid("parent", "An action cannot be its own parent.")


def copied_from_in(value: Any) -> JsonObject | None:
    """Return the value of another program if it can be the `copied_from` of an action, else None."""
    if not isinstance(value, dict):
        return None
    try:
        _check_copied_from(value)
    except (InvalidInput, TooLarge):
        return None
    return value


def _check_copied_from(copied_from: JsonObject | None) -> None:
    """Raise `InvalidInput` or `TooLarge` if the origin of a copied action is not `session` and `step`."""
    if copied_from is None:
        return
    if copied_from.keys() != {"session", "step"}:
        raise _invalid("copied_from", "`copied_from` must have `session` and `step`, and nothing else.")
    session, step = copied_from["session"], copied_from["step"]
    if (
        not isinstance(session, str | None)
        or isinstance(step, bool)
        or not isinstance(step, str | int | None)
    ):
        raise _invalid(
            "copied_from", "`copied_from` must name a session by its key and a step by its id or sequence."
        )
    if isinstance(session, str):
        _check_length("copied_from.session", session)
    if isinstance(step, str):
        _check_length("copied_from.step", step)
    elif step is not None:
        _check_integer("copied_from.step", step)


def _check_words(draft: ActionDraft) -> None:
    for field in ("id", "parent", "tool", "call_id", "model", "agent"):
        value: Any = getattr(draft, field)
        if isinstance(value, str):
            _check_length(field, value)
            if field in {"id", "parent"}:
                check_id(field, value)


def _check_length(field: str, text: str) -> None:
    if len(text) > LONGEST_WORD:
        raise TooLarge(
            f"`{field}` has {len(text):,} characters; the maximum is {LONGEST_WORD:,}.",
            field=field,
            limit=LONGEST_WORD,
        )


def _check_hits(hits: tuple[HitDraft, ...]) -> None:
    ranks = [hit.rank for hit in hits]
    if ranks != sorted(set(ranks)) or any(rank < 1 for rank in ranks):
        raise _invalid(
            "retrieval.hits", "The ranks of `retrieval.hits` must start at 1 or later and increase."
        )
    for hit in hits:
        _check_integer("retrieval.hits.rank", hit.rank, LARGEST_SMALL_INTEGER)
        _check_integer("retrieval.hits.version", hit.version, LARGEST_SMALL_INTEGER)
        _check_hash(hit)


def _check_hash(hit: HitDraft) -> None:
    if hit.sha256 is None:
        return
    if not HEX_SHA256.fullmatch(hit.sha256):
        raise _invalid("retrieval.hits", f"The sha256 of hit {hit.rank} is not 64 lower-case hex digits.")
    if hit.text is not None and text_sha256(hit.text) != hit.sha256:
        raise InvalidInput(
            f"The sha256 of hit {hit.rank} does not match its text. Send the UTF-8 text that was hashed, or leave out sha256.",
            code="hash_mismatch",
            field="retrieval.hits",
        )


def check_parents(drafts: Sequence[ActionDraft]) -> None:
    """Raise `InvalidInput` if actions of one request are their own ancestors."""
    parents = {each.id: each.parent for each in drafts if each.id is not None}
    checked: set[str] = set()
    for begin in parents:
        way: list[str] = []
        at: int | str | None = begin
        while isinstance(at, str) and at in parents and at not in checked:
            if at in way:
                raise _invalid(
                    "parent",
                    f"The action {at[:60]!r} is its own ancestor. In `parent`, name the action that contains this one.",
                )
            way.append(at)
            at = parents[at]
        checked.update(way)


def _invalid(field: str, message: str, **facts: object) -> InvalidInput:
    return InvalidInput(message, code="invalid_field", field=field, **facts)
