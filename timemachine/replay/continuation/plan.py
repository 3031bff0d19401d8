"""What a continuation sends first, checked before anything is stored or sent."""

from dataclasses import replace

from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.llm.pure.requests.neutral import Request
from timemachine.llm.pure.requests.recorded import read_messages
from timemachine.llm.pure.requests.recorded_requests import read_request
from timemachine.recording.model_calls.pure.requests import FrozenRequest
from timemachine.recording.model_calls.queries import request_of
from timemachine.recording.model_calls.results import followed_by
from timemachine.recording.sessions.models import Action, ErasedTurn, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.recording.sessions.queries import action_of
from timemachine.replay.runs.model_calls import changed, sendable
from timemachine.replay.runs.pure.engine import intent
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.selection import recorded

NO_CALLS_TO_ANSWER = (
    "This agent writes its tool calls as text, so the calls of another model cannot be recognised, and the record "
    "cannot answer them. Replay its model calls instead: their texts are compared."
)
MAX_CALLS = 50
"""How many model calls a continuation makes at most, unless it is given another limit."""


def call_to_continue(session: Session, sequence: int) -> Action:
    """Return the model call with that sequence. Raises `NotFound`, or `InvalidInput` for a step of another kind."""
    action = action_of(session, sequence)
    if action.kind != MODEL_CALL:
        raise InvalidInput(
            f"Step {sequence} is a {action.kind.replace('_', ' ')}; a run can continue only from a model call ({MODEL_CALL}).",
            code="not_a_model_call",
            field="from",
        )
    if ErasedTurn.objects.filter(session=session, sequence=sequence).exists():
        raise NotFound(f"Step {sequence} was deleted. Choose another model call.", code="step_deleted")
    return action


def first_request(action: Action, options: ReplayOptions) -> tuple[FrozenRequest, Request]:
    """Return the recorded request, and the one that the continuation sends first. Raises `InvalidInput` if it is too long
    to be rebuilt, or its messages cannot be read."""
    frozen = request_of(action)
    request = sendable(action, frozen)
    if options.messages is not None:
        request = _with_messages(request, options.messages)
    return frozen, changed(request, options)


def why_not_sent(action: Action, options: ReplayOptions, frozen: FrozenRequest) -> str | None:
    """Return why the request must not be sent: its record is missing or altered, or its agent makes no calls that the
    record could answer. Given messages need no recorded ones."""
    if frozen.calls_in_text:
        return NO_CALLS_TO_ANSWER
    if options.messages is not None and frozen.verdict == "not_recorded":
        return None
    return intent(recorded(action), options, frozen.verdict, 0).why_not


def check_repeatable(action: Action, options: ReplayOptions) -> None:
    """Raise `InvalidInput` for a repeatable tool without a recorded result, which would change nothing."""
    if not options.repeatable_tools:
        return
    names = sorted({each.call.name for each in followed_by(action).answered})
    unknown = [name for name in options.repeatable_tools if name not in names]
    if unknown:
        known = f"It has results of {', '.join(names)}." if names else "It has no result of any tool."
        raise InvalidInput(
            f"The recording has no result of the tool {unknown[0][:80]!r} that could be used again. {known}",
            code="no_such_tool",
            field="repeatable_tools",
        )


def _with_messages(request: Request, messages: list[dict[str, object]]) -> Request:
    given = read_request(messages) if messages else None
    if given is None or not given.messages:
        raise InvalidInput(
            '`messages` have an unknown form. Give a list like [{"role": "user", "content": "…"}].',
            code="invalid_field",
            field="messages",
        )
    _check_content(messages)
    return replace(request, messages=given.messages, system=given.system or request.system)


def _check_content(messages: list[dict[str, object]]) -> None:
    """Raise `InvalidInput` for the first message that says nothing: models refuse it."""
    for place, message in enumerate(messages, start=1):
        if not any(read.parts for read in read_messages([message]) or ()):
            raise InvalidInput(
                f"Message {place:,} of `messages` has no content. Give its text in `content`, or leave the message out.",
                code="invalid_field",
                field="messages",
            )
