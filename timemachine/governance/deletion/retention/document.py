"""Holds, deletions in bulk and retention rules as JSON documents."""

from dataclasses import asdict
from typing import Any

from timemachine.core.pure.clock import written
from timemachine.governance.deletion.retention.models import Forgetting, ForgottenSession, RetentionRule
from timemachine.governance.deletion.retention.queries import Amount, Outcome
from timemachine.governance.deletion.retention.retention import FLOOR_DAYS, is_early, words_of
from timemachine.governance.deletion.retention.session_filter import Which
from timemachine.recording.sessions.models import HeldSession, Hold, Session


def hold_json(hold: Hold) -> dict[str, Any]:
    """A hold as `holds_of` reads it: over how many sessions, and over how many of them still."""
    return {
        "id": str(hold.id),
        "filter": hold.wanted,
        "reason": hold.reason,
        "placed_by": hold.placed_by,
        "placed_at": written(hold.placed_at),
        "sessions": getattr(hold, "number", None),
        "held_still": getattr(hold, "open", None),
        "released_by": hold.released_by,
        "released_at": written(hold.released_at),
        "release_reason": hold.release_reason,
    }


def held_json(row: HeldSession, session: Session | None) -> dict[str, Any]:
    """A session of a hold; without key and name once it was deleted after its release."""
    return {
        "session": str(row.session_id),
        "key": session and session.key,
        "name": session and session.name,
        "released_at": written(row.released_at),
    }


def forgetting_json(
    found: Forgetting, outcome: Outcome, held: int | None = None, *, every: bool | None = None
) -> dict[str, Any]:
    """A deletion in bulk: what was asked for, what it found (`held` of it under legal hold, `every` session of the project; None where nobody looked), and what became

    of the sessions; of `summarised` of them a summary stays in a collection.
    """
    return {
        "id": str(found.id),
        "filter": found.wanted,
        "rule": found.rule_id and str(found.rule_id),
        "status": found.status,
        "sessions": outcome.sessions,
        "turns": outcome.turns,
        "held": outcome.states.get("held", 0) if held is None else held,
        "every": every,
        "summarised": outcome.summarised,
        "states": dict(outcome.states),
        "deleted_turns": outcome.deleted_turns,
        "reason": found.reason,
        "requested_by": found.requested_by,
        "requested_at": written(found.requested_at),
        "confirmed_by": found.confirmed_by,
        "confirmed_at": written(found.confirmed_at),
        "finished_at": written(found.finished_at),
    }


def forgotten_json(row: ForgottenSession, session: Session | None) -> dict[str, Any]:
    """A session of a deletion: without key and name once it is deleted."""
    return {
        "session": str(row.session),
        "key": session and session.key,
        "name": session and session.name,
        "turns": row.turns,
        "summarised": row.summarised,
        "state": row.state,
        "problem": row.problem,
    }


def rule_json(rule: RetentionRule, due: Amount | None = None) -> dict[str, Any]:
    """A retention rule; `due` is what it would delete now, `early` whether that is before six months."""
    return {
        "id": str(rule.id),
        "agent": rule.agent,
        "tag": rule.tag,
        "days": rule.days,
        "says": words_of(rule),
        "early": is_early(rule.days),
        "reason": rule.reason,
        "set_by": rule.set_by,
        "set_at": written(rule.set_at),
        "ran_at": written(rule.ran_at),
        "due": due and asdict(due),
    }


def floor_json() -> dict[str, Any]:
    """Below how many days a rule needs a reason, and why."""
    return {
        "days": FLOOR_DAYS,
        "because": "EU AI Act, Articles 19 and 26(6): logs of high-risk AI systems are kept at least six months.",
    }


def which_json(which: Which, amount: Amount) -> dict[str, Any]:
    """What would be meant now."""
    return {"filter": which.given, **asdict(amount)}
