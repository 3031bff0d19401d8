"""Profiles, and what they would withhold, as JSON documents."""

from typing import Any

from timemachine.core.pure.clock import written
from timemachine.text.redaction.models import RedactionProfile
from timemachine.text.redaction.pure.profile import BUILT_IN, BUILT_IN_HANDLE
from timemachine.text.redaction.pure.values import Tally


def profile_json(row: RedactionProfile) -> dict[str, Any]:
    """One version of a project's own profile."""
    return {
        "id": str(row.id),
        "name": row.name,
        "version": row.version,
        "built_in": False,
        "rules": row.rules,
        "created_by": row.created_by,
        "created_at": written(row.created_at),
        "retired_by": row.retired_by,
        "retired_at": written(row.retired_at),
    }


def built_in_json() -> dict[str, Any]:
    """The profile that every project has, in the same form."""
    absent = dict.fromkeys(("created_by", "created_at", "retired_by", "retired_at"))
    return {"id": BUILT_IN_HANDLE, **BUILT_IN.as_json(), "built_in": True, **absent}


def tally_json(tally: Tally) -> list[dict[str, Any]]:
    """How often each rule found what, the most frequent first."""
    return [
        {"rule": rule, "what": what, "count": number}
        for (rule, what), number in sorted(tally.items(), key=lambda each: (-each[1], each[0]))
    ]
