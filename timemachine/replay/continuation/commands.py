"""Launch a continuation, and let one that stopped go on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from timemachine.core.audit.commands import record
from timemachine.core.database import lock_until_commit
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import canonical_json
from timemachine.core.pure.errors import Conflict, InvalidInput
from timemachine.core.pure.ids import uuid7
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.postgres_text import storable
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.llm.queries import usable_model
from timemachine.recording.model_calls.results import check_length, followed_by
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.continuation.branches import (
    SUPPLIED_BY,
    Turn,
    recorded_messages,
    result_draft,
    turns_of,
    written_message,
)
from timemachine.replay.continuation.plan import (
    MAX_CALLS,
    call_to_continue,
    check_repeatable,
    first_request,
    why_not_sent,
)
from timemachine.replay.runs.commands import check_form, form_used, reopen
from timemachine.replay.runs.model_calls import why_refused
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.plan import check_limit
from timemachine.replay.runs.pure import options as replay_options
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.engine import provider_called
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.selection import recorded

REPLAY_TAG = "replay"
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppliedResult:
    """A result that a person gives, for a call by its id, or for the open call of a tool by the tool's name. A value that is
    not a text is sent to the model as JSON."""

    result: Any
    call_id: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextMessage:
    """What the user says next. `text` is what a person writes; None: the recorded message."""

    text: str | None = None


def launch(session: Session, options: ReplayOptions, *, by: str, replay_id: UUID | None = None) -> Replay:
    """Store a continuation from `options.continue_from` with its branch. The caller enqueues it.

    Calling it again with the same `replay_id` (a form that was sent twice) returns the same replay.

    Raises: `NotFound`; `InvalidInput` for a session that is too long, for a step that is not a model call, for a request
    that cannot be sent to the model, for a spend limit without a price, and for a repeatable tool without results; `Unavailable` for a model that cannot be
    used here; `Conflict` if that id belongs to a different replay.
    """
    action, resolved = checked(session, options)
    with transaction.atomic():
        id_ = replay_id or uuid7()
        lock_until_commit(f"continuation {id_}")  # the same form can be sent twice at the same time
        check_form(Replay, replay_id, session.project_id)
        earlier = Replay.objects.filter(id=id_).first()
        if earlier is None:
            stored = _stored(id_, session, action, resolved, by=by)
            record(
                session.project_id,
                "replay.launched",
                "replay",
                id_,
                by=by,
                session=str(session.id),
                model=stored.model,
            )
            return stored
    if earlier.session_id != session.id or ReplayOptions(**earlier.options) != resolved:
        raise form_used("replay")
    return earlier


def checked(session: Session, options: ReplayOptions) -> tuple[Action, ReplayOptions]:
    """Return the model call to continue, and the options with the resolved model. Raises what `launch` raises, except `Conflict`."""
    replay_options.check(options)
    check_length(session)
    action = call_to_continue(session, options.continue_from or 0)
    named = options.use_model or action.model
    if not named:
        raise InvalidInput(
            "The model of this step was not recorded. Choose one.", code="model_needed", field="model"
        )
    model = usable_model(session.project_id, named)
    check_limit(options.spend_limit_usd, model)
    resolved = options.model_copy(update={"use_model": str(model)})
    _check_request(action, resolved, model)
    check_repeatable(action, resolved)
    return action, resolved


def _check_request(action: Action, options: ReplayOptions, model: ModelName) -> None:
    frozen, request = first_request(action, options)
    why_not = why_not_sent(action, options, frozen) or why_refused(request, model)
    if why_not is not None:
        raise InvalidInput(why_not, code="not_sendable", field="from")


def _stored(id_: UUID, session: Session, action: Action, options: ReplayOptions, *, by: str) -> Replay:
    branch = start_session(
        session.project,
        name=f"{session.name[:_LONGEST_NAME]}, continued from step {action.sequence:,}",
        by=by,
        agent=session.agent,
        user=session.user,
        parent=(session, action.sequence - 1),
        tags=[REPLAY_TAG],
        continues={
            "session": str(session.id),
            "step": action.sequence,
            "model": options.use_model,
            "replay": str(id_),
        },
    )
    replay = Replay.objects.create(
        id=id_,
        project_id=session.project_id,
        session=session,
        branch=branch,
        kind=options.kind,
        model=options.use_model,
        options=options.as_json(),
        reason=options.reason,
        requested_by=by,
        enqueued_at=now(),
    )
    called = provider_called(recorded(action), options)
    ReplayStep.objects.create(
        replay=replay,
        action=action,
        sequence=action.sequence,
        kind=action.kind,
        provider=None if called is None else storable(called),
    )
    return replay


@transaction.atomic
def go_on(
    replay: Replay,
    results: Sequence[SuppliedResult],
    *,
    by: str,
    message: NextMessage | None = None,
    max_calls: int | None = None,
    spend_limit_usd: float | None = None,
) -> Replay:
    """Let a continuation that stopped go on, with results for the calls that the record did not answer, with the next message
    of the user, or with higher limits. The caller enqueues it.

    Raises: `Conflict` if it is not a continuation that stopped; `InvalidInput` for a result of another call, if one or the
    message is missing, or for a limit that is not higher; `Unavailable` for a model that cannot be used any more.
    """
    locked = (
        Replay.objects.select_for_update(of=("self",)).select_related("branch", "session").get(id=replay.id)
    )
    step, ending = _ended_step(locked)
    model = usable_model(locked.project_id, locked.model or "")
    changes = {"max_calls": max_calls, "spend_limit_usd": spend_limit_usd}
    given = {name: value for name, value in changes.items() if value is not None}
    options = ReplayOptions(**locked.options).model_copy(update=given)
    replay_options.check(options)
    _check_limits(ReplayOptions(**locked.options), options, ending)
    check_limit(options.spend_limit_usd, model)
    _check_needed(ending, results, message)
    if ending.why == "diverged":
        _supply(locked, results, by=by)
    elif ending.why == "user_message":
        _say(locked, step.action, ending, message, by=by)
    ReplayStep.objects.filter(id=step.id).update(
        status="waiting", attempts_made=0, verdict=None, evidence=None, finished_at=None
    )
    return reopen(locked, options=options.as_json())


def _check_needed(ending: Ending, results: Sequence[SuppliedResult], message: NextMessage | None) -> None:
    """Raise `Conflict` for what the run does not wait for."""
    if results and ending.why != "diverged":
        raise Conflict(
            f"This continuation is not waiting for a result. {ending.finding}.", code="no_result_needed"
        )
    if message is not None and ending.why != "user_message":
        raise Conflict(
            f"This continuation is not waiting for a message. {ending.finding}.", code="no_message_needed"
        )


def _check_limits(before: ReplayOptions, after: ReplayOptions, ending: Ending) -> None:
    """Raise `InvalidInput` if the limit at which it stopped is not higher now."""
    if ending.why == "call_limit" and (after.max_calls or MAX_CALLS) <= ending.calls:
        raise InvalidInput(
            f"This continuation stopped at its limit of {counted(ending.calls, 'call')}. Give a higher `max_calls`.",
            code="limit_reached",
            field="max_calls",
        )
    if ending.why == "spend_limit" and (after.spend_limit_usd or 0) <= (before.spend_limit_usd or 0):
        raise InvalidInput(
            "This continuation stopped at its spend limit. Give a higher `spend_limit_usd`.",
            code="limit_reached",
            field="spend_limit_usd",
        )


def _ended_step(replay: Replay) -> tuple[ReplayStep, Ending]:
    if replay.kind != replay_options.CONTINUE:
        raise Conflict(
            "This replay is not a continuation. Start one from a model call of its session.",
            code="not_a_continuation",
        )
    if replay.finished_at is None:
        raise Conflict("This continuation is still running. Wait until it stops.", code="replay_running")
    if replay.branch is None:
        raise Conflict("The branch of this continuation was deleted. Start a new one.", code="branch_deleted")
    step = replay.steps.get()
    ending = Ending.stored(step.evidence)
    if ending is None or not ending.can_go_on:
        what = f"It is {replay.status}" if ending is None else ending.finding
        advice = " Retry it instead." if step.status in {"failed", "cancelled"} else ""
        raise Conflict(
            f"This continuation cannot continue with a result or a higher limit. {what}.{advice}",
            code="nothing_to_go_on_with",
        )
    return step, ending


def _supply(replay: Replay, results: Sequence[SuppliedResult], *, by: str) -> None:
    branch, turn = replay.branch, last_turn(replay)
    if branch is None or turn is None:
        raise Conflict("The branch of this continuation was deleted.", code="branch_deleted")
    given = _paired(turn, results)
    append(branch.id, [_draft(turn, call, result, by) for call, result in given], was_open=True)


def _say(replay: Replay, action: Action, ending: Ending, message: NextMessage | None, *, by: str) -> None:
    """Append the user's next message to the branch."""
    branch, turn = replay.branch, last_turn(replay)
    if branch is None or turn is None:
        raise Conflict("The branch of this continuation was deleted.", code="branch_deleted")
    if message is None or (message.text is not None and not message.text.strip()):
        raise InvalidInput(
            "The next message of the user is missing. Give a text, or accept the recorded one.",
            code="message_missing",
            field="message",
        )
    if message.text is not None:
        append(branch.id, [written_message(turn.number, message.text, by=by)], was_open=True)
        return
    recorded_turn = next(
        (each for each in followed_by(action).user_turns if each.step == ending.next_message), None
    )
    if recorded_turn is None:
        raise Conflict(
            "The recorded message was erased or deleted. Write one instead.", code="message_unavailable"
        )
    drafts = recorded_messages(replay.session, turn.number, recorded_turn, accepted_by=by)
    append(branch.id, drafts, was_open=True)


def last_turn(replay: Replay) -> Turn | None:
    """Return the last turn of a continuation, None without one."""
    if replay.branch is None:
        return None
    return next(reversed(turns_of(replay.branch, ModelName.of(replay.model or ""))), None)


def _draft(turn: Turn, call: ToolCall, result: Any, by: str) -> ActionDraft:
    place = [each.id for each in turn.calls].index(call.id) + 1
    text = result if isinstance(result, str) else canonical_json(result).decode()
    return replace(
        result_draft(turn.number, place, call, text),
        metadata={SUPPLIED_BY: by},
    )


def _paired(turn: Turn, results: Sequence[SuppliedResult]) -> list[tuple[ToolCall, Any]]:
    """Return each open call with its result."""
    missing = list(turn.open_calls)
    found: list[tuple[ToolCall, Any]] = []
    for each in results:
        call = next((call for call in missing if each.call_id == call.id), None)
        if each.call_id is None:
            call = next((call for call in missing if each.tool == call.name), None)
        if call is None:
            raise InvalidInput(
                f"No call of {(each.call_id or each.tool or 'a tool')[:80]!r} is waiting for a result. {_waiting(turn)}.",
                code="no_such_call",
                field="results",
            )
        missing.remove(call)
        found.append((call, each.result))
    if missing:
        raise InvalidInput(f"A result is missing. {_waiting(turn)}.", code="result_missing", field="results")
    return found


def _waiting(turn: Turn) -> str:
    names = ", ".join(f"{call.name[:80]} ({call.id[:80]})" for call in turn.open_calls)
    return f"These calls are waiting for a result: {names}"
