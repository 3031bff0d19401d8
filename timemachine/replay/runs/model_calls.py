"""Sending the request of a recorded model call again, and comparing what the model did with what was recorded."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.process_pool import run_in_pool
from timemachine.llm.calling import complete
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.catalogue import LOCAL, Connection, ModelName
from timemachine.llm.pure.completion import Completion, is_refused_by, recorded_request
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.canonical import canonical_json, request_sha256
from timemachine.llm.pure.requests.neutral import Message, Part, Request, Text, Tool, ToolCall
from timemachine.llm.pure.requests.protocols import body_of
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.llm.pure.requests.refusals import refusal
from timemachine.llm.queries import ModelLookup
from timemachine.recording.answering.model_asks import Answered, answered_by
from timemachine.recording.model_calls.called_tools import ByAgent, called_tools
from timemachine.recording.model_calls.pure.requests import TOOLS, FrozenRequest
from timemachine.recording.model_calls.queries import latest_of_request, request_of, requests_of
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.runs.estimate import expected_cost
from timemachine.replay.runs.frozen import model_answer_of
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.outcomes import Outcome, cut_off, with_failure, without_answer
from timemachine.replay.runs.prompt_size import sends_recorded_request
from timemachine.replay.runs.pure.actions import action_verdict
from timemachine.replay.runs.pure.context import VERIFIED
from timemachine.replay.runs.pure.engine import intent
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.selection import recorded
from timemachine.replay.runs.spend_limit import LimitReached
from timemachine.text.pure.difference.verdict import AnswerVerdict, answer_verdict

_READ: Final = "frozen_request"
_CALLED: Final = "called_tools"
_TOOLLESS: Final = "local:extractive quotes passages and cannot call tools, so it cannot replace an agent's model. Choose a language model."


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestGaps:
    """What of a request was not recorded and cannot be sent again, the tools that are offered as the recorded calls
    show them, and whether its agent writes its tool calls as text, so that it has no tools."""

    absent: tuple[str, ...]
    inferred: tuple[str, ...]
    calls_in_text: bool


def read_requests(steps: Sequence[ReplayStep]) -> None:
    """Read the requests of the steps, all of one session, together. One that cannot be read is tried again by its step."""
    calls = {step.sequence: step for step in steps if step.action.kind == MODEL_CALL}
    if len(calls) > 1:
        with suppress(InvalidInput):
            for sequence, request in requests_of(steps[0].action.session, calls):
                setattr(calls[sequence], _READ, request)
        _share_called_tools(list(calls.values()))


def _share_called_tools(steps: Sequence[ReplayStep]) -> None:
    """Read the tools that were called once for all steps whose requests lack definitions."""
    lacking = [
        step for step in steps if (found := getattr(step, _READ, None)) is not None and found.lacks_tools
    ]
    if lacking:
        tools = called_tools(lacking[0].action.session)
        for step in lacking:
            setattr(step, _CALLED, tools)


def frozen_request(step: ReplayStep) -> FrozenRequest:
    """Return the recorded or rebuilt request of the step's model call. Raises `InvalidInput` if it is too long."""
    found: FrozenRequest | None = getattr(step, _READ, None)
    return request_of(step.action) if found is None else found


def sendable(action: Action, frozen: FrozenRequest, called: ByAgent | None = None) -> Request:
    """Return the recorded request. Tools without recorded definitions have those that the agent's calls show.

    A request that was recorded as it was sent may have had no tools: they are added only if its answer calls one.
    `called` has the tools by agent, if they were read already.
    """
    if not frozen.lacks_tools or (frozen.verdict == VERIFIED and not _calls_of(action)):
        return frozen.request
    tools = called_tools(action.session) if called is None else called
    return frozen.with_tools(tools.get(action.agent) or tools.get(None, ()))


def gaps_of(action: Action) -> RequestGaps | None:
    """Return what a request lacks when it is sent again; None if it lacks nothing, or is too long to be put together."""
    try:
        frozen = latest_of_request(action, 1)
    except InvalidInput:
        return None
    if not frozen.absent and not frozen.calls_in_text:
        return None
    inferred = inferred_names(frozen, sendable(action, frozen))
    absent = tuple(each for each in frozen.absent if not (inferred and each.startswith(TOOLS)))
    return RequestGaps(absent=absent, inferred=inferred, calls_in_text=frozen.calls_in_text)


def inferred_names(frozen: FrozenRequest, sent: Request) -> tuple[str, ...]:
    """Return the names of the tools that are sent although they were not recorded with the request."""
    recorded = frozen.request.tools
    return tuple(tool.name for tool in sent.tools if isinstance(tool, Tool) and tool not in recorded)


def run_call(
    step: ReplayStep,
    reach: ModelLookup,
    before_call: Callable[[Decimal | None], None],
    listening: Listening | None = None,
) -> Outcome:
    """Verify the request of a model call, send it again if the options ask for that, and compare what the model did.

    `before_call` and `listening` are those of `steps.run_step`.
    """
    options = ReplayOptions(**step.replay.options)
    try:
        frozen = frozen_request(step)
    except InvalidInput as failed:
        return with_failure(Outcome(), failed)
    decided = intent(recorded(step.action), options, frozen.verdict, 0)
    request = changed(sendable(step.action, frozen, getattr(step, _CALLED, None)), options)
    outcome = Outcome(
        context=frozen.verdict,
        frames=[],
        evidence={
            **request_evidence(frozen, request),
            **_recorded_tools(step.action),
            **cut_off(step.action, None),
        },
    )
    if decided.call is None:
        return _not_sent(outcome, decided.why_not)
    try:
        model, connection = reach.model(decided.call)
    except TimeMachineError as failed:
        return with_failure(outcome, failed)
    why_not = why_refused(request, model)
    if why_not is not None:
        return _not_sent(outcome, why_not)
    try:
        if model.provider != LOCAL:
            same = sends_recorded_request(options)
            before_call(cost_of_sending(step.action, options, model, request, same=same))
        answered, new = send(request, model, connection, options, listening)
    except (LimitReached, TimeMachineError) as why:
        return without_answer(outcome, why, model)
    compared = compare(step.action, answered, new)
    return replace(
        outcome,
        answered=answered,
        verdict=compared.name,
        evidence={**(outcome.evidence or {}), **compared.evidence, **cut_off(step.action, answered)},
        calls_made=answered.calls_made,
    )


def _not_sent(outcome: Outcome, why: str | None) -> Outcome:
    return (
        outcome if why is None else replace(outcome, evidence={**(outcome.evidence or {}), "not_asked": why})
    )


def cost_of_sending(
    action: Action, options: ReplayOptions, model: ModelName, request: Request, *, same: bool
) -> Decimal | None:
    """Return the expected cost of sending the request, which is the `same` as the recorded one or another; None without a
    spend limit, which needs no estimate."""
    if options.spend_limit_usd is None:
        return None
    most = request.parameters.max_tokens if options.max_tokens is None else options.max_tokens
    written = None if action.output is None else action.output.size
    return expected_cost(
        model,
        action,
        characters=len(canonical_json(request)),
        same=same,
        answer=written,
        max_tokens=most,
    )


def changed(request: Request, options: ReplayOptions) -> Request:
    """Return the request as these options send it: with another system prompt, or another last message of the user."""
    if options.system_prompt is not None:
        request = replace(request, system=(Text(options.system_prompt),), messages=_without_system(request))
    return request if options.question is None else _with_question(request, options.question)


def _without_system(request: Request) -> tuple[Message, ...]:
    first = next((place for place, each in enumerate(request.messages) if not _is_system(each)), 0)
    return request.messages[first:]


def _is_system(message: Message) -> bool:
    return message.role in {"system", "developer"}


def _with_question(request: Request, question: str) -> Request:
    messages = list(request.messages)
    places = [place for place, each in enumerate(messages) if each.role == "user"]
    asked = Message(role="user", parts=(Text(question),))
    if places:
        messages[places[-1]] = asked
    else:
        messages.append(asked)
    return replace(request, messages=tuple(messages))


def why_refused(request: Request, model: ModelName) -> str | None:
    """Return why the model's provider does not accept this request, or None if nothing is known."""
    if model.provider == LOCAL:
        return _TOOLLESS if request.tools else None
    found = refusal(request, model.provider)
    return None if found is None else f"{model.provider} does not accept this request: {found}"


def send(
    request: Request,
    model: ModelName,
    connection: Connection,
    options: ReplayOptions,
    listening: Listening | None,
) -> tuple[Answered, Answer]:
    """Send the request. Return the answer as it is stored, and in the neutral form. Raises `ModelFailed` or `Cancelled`."""
    sent = recorded_request(
        model,
        connection,
        request,
        temperature=options.temperature,
        seed=options.seed,
        max_tokens=options.max_tokens,
    )
    completion = complete(sent, listening)
    answered = replace(answered_by(model, completion), message=_message(completion, model, connection))
    if completion.dropped:
        answered = replace(answered, parameters={**answered.parameters, "not_sent": list(completion.dropped)})
    return answered, Answer(parts=_parts(completion), finish_reason=completion.finish_reason)


def compare(action: Action, answered: Answered, new: Answer) -> AnswerVerdict:
    """Compare what the model did with what was recorded, which is nothing if the recorded call failed."""
    stated = is_refused_by(action.parameters), is_refused_by(answered.parameters)
    recorded = model_answer_of(action)
    if recorded is None:
        return answer_verdict(None, new.text, None, stated)
    return run_in_pool(action_verdict, recorded, new, stated)


def text_in(output: object) -> str | None:
    """Return the text in the output of a model call; None if it has none or is in no known form."""
    answer = None if output is None else read_answer(output)
    return answer.text or None if answer is not None else None


def calls_in(kind: str, output: object) -> Sequence[ToolCall]:
    """Return the calls in the output of a step; none if it is not a model call."""
    answer = read_answer(output) if kind == MODEL_CALL and output is not None else None
    return () if answer is None else answer.calls


def request_evidence(frozen: FrozenRequest, sent: Request) -> JsonObject:
    """Return what identifies the request: its hash, its size, what of it was not recorded, the tools that were inferred, and
    whether its agent writes its tool calls as text."""
    inferred = list(inferred_names(frozen, sent))
    facts: JsonObject = {
        "sha256": request_sha256(sent),
        "messages": len(sent.messages),
        "tools": len(sent.tools),
        "absent": list(frozen.absent),
    }
    if inferred:
        facts["inferred_tools"] = inferred
    if frozen.calls_in_text:
        facts["calls_in_text"] = True
    return {"request": facts}


def _calls_of(action: Action) -> Sequence[ToolCall]:
    answer = model_answer_of(action)
    return () if answer is None else answer.calls


def _recorded_tools(action: Action) -> JsonObject:
    """Return the names of the tools that the recorded answer calls, none if it calls no tool."""
    names = sorted({call.name for call in _calls_of(action)})
    return {"tools": names} if names else {}


def _parts(completion: Completion) -> tuple[Part, ...]:
    if completion.parts:
        return completion.parts
    return (Text(completion.text),) if completion.text else ()


def _message(completion: Completion, model: ModelName, connection: Connection) -> JsonObject | None:
    """Return the answer as a message of the API that it came from; None if it is nothing but text."""
    if all(isinstance(part, Text) for part in completion.parts):
        return None
    answer = Request(messages=(Message(role="assistant", parts=completion.parts),))
    message: JsonObject = body_of(answer, model, connection)["messages"][0]
    return message
