"""Find what solved an error in its own session: a later step marked as a solution, or a successful retry of the
call.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from timemachine.core.payloads.queries import heads
from timemachine.core.pure.content import value_of
from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.patterns.models import CHANGED_CALL, SAME_CALL, SIGNIFICANT, PatternStep
from timemachine.memory.patterns.pure.retries import changed_between
from timemachine.memory.patterns.pure.step_texts import ERROR
from timemachine.memory.patterns.significance import solving_steps
from timemachine.recording.sessions.models import Action

MOST_UNSOLVED: Final = 200
"""How many unsolved errors of a session are considered, the latest ones."""
LONGEST_ARGUMENTS: Final = 64 * 1024
_NEAR: Final = 1_000
"""How many steps before a result its call is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call and its result, in one step or in two."""

    call: int
    result: int
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsolvedError:
    """An unsolved error; `call` is the step with the arguments of the failed call."""

    action: int
    sequence: int
    call: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The step that solved an error, the rule, and the arguments that differ in it."""

    by: int
    how: str
    changed: tuple[str, ...] = ()


def calls_of(session_id: UUID, actions: Iterable[Action]) -> dict[int, Call]:
    """Return the calls whose results these steps are, by step row. At most one query."""
    results = [each for each in actions if each.kind in {"tool_call", "tool_result"}]
    call_ids = {each.call_id for each in results if _is_apart(each)}
    candidates: dict[str, list[tuple[int, str | None]]] = {}
    if call_ids:
        first = min(each.sequence for each in results) - _NEAR
        near = Action.objects.filter(session_id=session_id, kind="tool_call", sequence__gte=first)
        found = near.filter(call_id__in=call_ids).order_by("sequence")
        for sequence, tool, call_id in found.values_list("sequence", "tool", "call_id"):
            candidates.setdefault(call_id or "", []).append((sequence, tool))
    return {each.id: call for each in results if (call := _call_of(each, candidates))}


def unsolved_errors(session_id: UUID) -> list[UnsolvedError]:
    """Return the latest unsolved errors of a session. One query."""
    found = PatternStep.objects.filter(session_id=session_id, solved_by=None, wording__kind=ERROR)
    latest = found.order_by("-sequence").values_list("action_id", "sequence", "call")[:MOST_UNSOLVED]
    return [UnsolvedError(action=row, sequence=sequence, call=call) for row, sequence, call in latest]


def solutions_of(
    session_id: UUID,
    errors: Sequence[UnsolvedError],
    succeeded: Collection[Call],
    *,
    after: int,
    through: int,
) -> dict[int, Solution]:
    """Return what solved these errors between two steps, by the row of each solved error. At most four queries."""
    if not errors:
        return {}
    significant = solving_steps(session_id, after, through)
    calls = _arguments(session_id, errors, succeeded)
    found = {each.action: _first(each, significant, succeeded, calls) for each in errors}
    return {action: solution for action, solution in found.items() if solution is not None}


def _is_apart(result: Action) -> bool:
    return result.kind == "tool_result" and result.input_id is None and bool(result.call_id)


def _call_of(result: Action, candidates: Mapping[str, Sequence[tuple[int, str | None]]]) -> Call | None:
    if not _is_apart(result):
        named = result.tool or result.name
        return Call(call=result.sequence, result=result.sequence, tool=named) if named else None
    before = [each for each in candidates.get(result.call_id or "", ()) if each[0] < result.sequence]
    if not before:
        return None
    sequence, tool = before[-1]
    named = tool or result.tool
    return Call(call=sequence, result=result.sequence, tool=named) if named else None


def _arguments(
    session_id: UUID, errors: Sequence[UnsolvedError], succeeded: Collection[Call]
) -> dict[int, tuple[str, Any]]:
    """Return the tool and the arguments of each call by its step, only of tools that succeeded. At most two
    queries.
    """
    failed = {each.call for each in errors if each.call is not None}
    if not failed or not succeeded:
        return {}
    ids = failed | {each.call for each in succeeded}
    rows = Action.objects.filter(session_id=session_id, sequence__in=ids, input__isnull=False)
    found = [
        (sequence, tool or name or "", payload)
        for sequence, tool, name, payload in rows.values_list("sequence", "tool", "name", "input_id")
    ]
    went_through = {each.tool for each in succeeded}
    tools = {tool for sequence, tool, _ in found if sequence in failed} & went_through
    given = heads({payload for _, tool, payload in found if tool in tools and payload}, LONGEST_ARGUMENTS)
    return {
        sequence: (tool, _value(given[payload].media_type, given[payload].data))
        for sequence, tool, payload in found
        if payload in given and given[payload].size <= LONGEST_ARGUMENTS
    }


def _value(media_type: str, data: bytes) -> Any:
    try:
        return value_of(media_type, data)
    except (ValueError, InvalidInput):
        return None


def _first(
    error: UnsolvedError,
    significant: Sequence[int],
    succeeded: Collection[Call],
    calls: Mapping[int, tuple[str, Any]],
) -> Solution | None:
    """Return what solved the error first. If a step is both, its significance counts."""
    later = next((each for each in significant if each > error.sequence), None)
    retried = _retried(error, succeeded, calls)
    if later is not None and (retried is None or later <= retried.by):
        return Solution(by=later, how=SIGNIFICANT)
    return retried


def _retried(
    error: UnsolvedError, succeeded: Collection[Call], calls: Mapping[int, tuple[str, Any]]
) -> Solution | None:
    if error.call is None or error.call not in calls:
        return None
    tool, given = calls[error.call]
    for each in sorted(succeeded, key=lambda call: call.result):
        if each.result <= error.sequence or each.tool != tool or each.call not in calls:
            continue
        changed = changed_between(given, calls[each.call][1])
        if changed is not None:
            return Solution(
                by=each.result, how=CHANGED_CALL if changed else SAME_CALL, changed=tuple(changed)
            )
    return None
