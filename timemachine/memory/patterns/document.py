"""Patterns, what solved them, rules and alerts, as the JSON documents of the API."""

from collections.abc import Sequence
from typing import Any, Final

from timemachine.core.pure.clock import written
from timemachine.memory.patterns.models import CHANGED_CALL, SAME_CALL, PatternAlert, PatternRule, Wording
from timemachine.memory.patterns.pure.trend import Trend
from timemachine.memory.patterns.queries import InSession, Resolution
from timemachine.memory.patterns.similar import Similar
from timemachine.recording.sessions.models import Session

_SHOWN_NAMES: Final = 5


def pattern_json(pattern: Wording, trend: Trend | None, resolution: Resolution | None) -> dict[str, Any]:
    """A pattern: how often and in how many sessions, when, and what solved it lately; `resolution` is null where nothing shows."""
    return {
        "id": str(pattern.id),
        "kind": pattern.kind,
        "text": pattern.text,
        "sessions": pattern.sessions,
        "steps": pattern.steps,
        "solved_sessions": pattern.solved,
        "first_seen": written(pattern.first_at),
        "last_seen": written(pattern.last_at),
        "trend": trend_json(trend),
        "resolution": resolution_json(resolution),
        "address": f"/patterns/{pattern.id}/",
    }


def trend_json(trend: Trend | None) -> dict[str, Any] | None:
    """Counts per day or week (from Monday, in UTC), from `begins` on."""
    if trend is None:
        return None
    return {
        "unit": trend.unit,
        "begins": trend.begins.isoformat(),
        "counts": list(trend.counts),
        "before": trend.before,
    }


def wording_json(text: str, steps: int) -> dict[str, Any]:
    """A wording of a pattern, and how many steps say it."""
    return {"text": text, "steps": steps}


def in_session_json(row: InSession) -> dict[str, Any]:
    """A session with the pattern: its steps, of which the first ones are named, and what solved it there."""
    return {
        "session": session_json(row.session),
        "steps": row.steps,
        "sequences": list(row.sequences),
        "first_seen": written(row.first_at),
        "last_seen": written(row.last_at),
        "resolution": resolution_json(row.resolution),
    }


def session_json(session: Session) -> dict[str, Any]:
    """A session, as far as it has to be recognised."""
    return {
        "id": str(session.id),
        "key": session.key,
        "name": session.name,
        "agent": session.agent,
        "started_at": written(session.began_at),
    }


def resolution_json(found: Resolution | None) -> dict[str, Any] | None:
    """What solved it in one session: which step, by which rule, and in words; null where the steps show nothing."""
    if found is None:
        return None
    return {
        "session": session_json(found.session),
        "sequence": found.sequence,
        "solved_by": found.solved_by,
        "how": found.how,
        "changed": list(found.changed),
        "label": found.label,
        "says": resolution_words(found),
        "address": f"/sessions/{found.session.id}/?step={found.solved_by}",
    }


def resolution_words(found: Resolution) -> str:
    """By which rule a step is taken for what solved it, in words."""
    step = f"step {found.solved_by:,}"
    if found.how == SAME_CALL:
        return f"the same call went through in {step}"
    if found.how == CHANGED_CALL:
        names = ", ".join(found.changed[:_SHOWN_NAMES])
        more = f" and {len(found.changed) - _SHOWN_NAMES} more" if len(found.changed) > _SHOWN_NAMES else ""
        return f"the call went through in {step} with another {names}{more}"
    return f"{step} is marked as what solved it"


def similar_json(found: Similar, trend: Trend | None) -> dict[str, Any]:
    """A pattern that is like what was asked about: `like` is `same` or `alike`, `other_sessions` how many others have it."""
    told = pattern_json(found.pattern, trend, found.resolution)
    return told | {"like": found.like, "other_sessions": found.others}


def rule_json(rule: PatternRule) -> dict[str, Any]:
    """A rule: how many sessions of one window, of which kind of pattern (null for both), and who is told (null for nobody)."""
    return {
        "id": str(rule.id),
        "kind": rule.kind,
        "sessions": rule.sessions,
        "window": rule.window,
        "url": rule.url or None,
        "created_by": rule.created_by,
        "created_at": written(rule.created_at),
    }


def alert_json(alert: PatternAlert) -> dict[str, Any]:
    """That a rule held for a pattern in a window; `told_at` and `problem` are about the address of the rule."""
    pattern = alert.pattern.pattern or alert.pattern
    return {
        "id": str(alert.id),
        "pattern": {"id": str(pattern.id), "kind": pattern.kind, "text": pattern.text},
        "rule": rule_json(alert.rule),
        "since": written(alert.since),
        "sessions": alert.sessions,
        "found_at": written(alert.found_at),
        "seen_at": written(alert.seen_at),
        "seen_by": alert.seen_by,
        "told_at": written(alert.told_at),
        "problem": alert.problem,
    }


def listed(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A list that is told whole."""
    return {"items": list(items), "next": None}
