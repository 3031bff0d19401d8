"""Erasures, and the fields that are gone, as JSON documents."""

from typing import Any

from timemachine.base.clock import written
from timemachine.erasure.models import Erasure
from timemachine.evidence.models import ErasedField


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
