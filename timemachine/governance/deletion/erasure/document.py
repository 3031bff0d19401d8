"""Erasures, and the fields that are gone, as JSON documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from timemachine.core.pure.clock import written
from timemachine.evidence.models import ErasedField
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.governance.deletion.erasure.queries import erased_of
from timemachine.recording.annotations.significance.document import weighed
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.turn_text import Deleted


def erasure_json(erasure: Erasure) -> dict[str, Any]:
    """An erasure: what was chosen, what it would take away (`preview`), and what it did (`result`)."""
    profile = erasure.profile
    return {
        "id": str(erasure.id),
        "session": str(erasure.session_id),
        "status": erasure.status,
        "redaction": profile and {"name": profile["name"], "version": profile["version"]},
        "fields": erasure.fields,
        "steps": erasure.steps,
        "preview": erasure.preview,
        "result": erasure.result,
        "problem": erasure.problem,
        "reason": erasure.reason,
        "requested_by": erasure.requested_by,
        "requested_at": written(erasure.requested_at),
        "confirmed_by": erasure.confirmed_by,
        "confirmed_at": written(erasure.confirmed_at),
        "finished_at": written(erasure.finished_at),
    }


def field_json(row: ErasedField) -> dict[str, Any]:
    """A field that is gone, by the name that its seal has for it; `commitment` is what it was sealed under, null where it was not yet."""
    return {
        "field": row.field,
        "erased_at": written(row.erased_at),
        "erased_by": row.erased_by,
        "reason": row.reason,
        "commitment": row.commitment,
        "log_index": row.log_index,
    }


def as_given(session: Session, documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Actions as the API gives them: those of which something was erased, or whose weight was changed, say what, and deleted ones by whom and why.

    Two queries, three where something was erased.
    """
    erased = erased_of(session, [each["sequence"] for each in documents])
    deleted = deletions_of(session, erased) if erased else {}
    return [
        each | {"erased": [field_json(row) for row in erased[each["sequence"]]]} | _deleted(deleted, each)
        if each["sequence"] in erased
        else each
        for each in weighed(session, documents)
    ]


def _deleted(turns: Mapping[int, Deleted], document: dict[str, Any]) -> dict[str, Any]:
    """When, by whom and why the turn was deleted whole, where it was."""
    found = turns.get(document["sequence"])
    return {} if found is None else {"deleted": found.as_json()}
