"""The estimated cost of a replay and of a single call, at current prices. An estimate lists what it leaves out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from timemachine.core.pure.clock import now
from timemachine.llm.prices import price, recorded_price
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.usage import TokenUsage, estimate_tokens
from timemachine.llm.queries import usable_model
from timemachine.recording.answering.pure.prompt import TEMPLATE, Prompt, check_template
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.runs.plan import Planner, replayable, replayable_in
from timemachine.replay.runs.prompt_size import PromptSize, RequestSize, prompt_sizes, request_sizes
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.schemas import EstimateOut
from timemachine.replay.runs.selection import chosen, recorded

TOKENS_OF_AN_ANSWER: Final = 500
"""The assumed length of an answer that was not recorded or whose call failed."""
_COUNTED: Final = ("input_tokens", "output_tokens", "cached", "cached_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A recorded ask or model call, the size of what was sent, and its recorded tokens (None if they were not recorded)."""

    action: Action
    sent: PromptSize | RequestSize
    counted: TokenUsage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionCalls:
    """The steps of a session that can be replayed, and the calls among those of all sessions, by the step's id."""

    session: Session
    actions: Sequence[Action]
    calls: Mapping[int, _Call]

    def chosen(self, options: ReplayOptions) -> list[_Call]:
        """Return the calls that a replay with these options makes."""
        steps = chosen(self.session, self.actions, options)
        return [self.calls[step.id] for step in steps if step.id in self.calls]


def estimate_replays(
    sessions: Sequence[Session], options_list: Sequence[ReplayOptions], *, runs: int = 1
) -> list[EstimateOut]:
    """Return the estimated cost of replaying the sessions this many times, for each of the options.

    This is what a spend limit reserves, call by call. Passages that would be retrieved again are assumed to
    be as large as the frozen ones. The calls are read once for all options. Without a model, each goes to
    its recorded model, and an audit calls no model; a call without a recorded model is then not repeated and
    not counted.

    Raises: `InvalidInput` and `Unavailable` for a model or a template that cannot be used.
    """
    for options in options_list:
        check_template(options.prompt_template or TEMPLATE)
    models = _models(sessions, options_list)
    if all(options.audit and model is None for options, model in zip(options_list, models, strict=True)):
        return [_estimate([], options, None, runs) for options in options_list]
    found = _calls_in(sessions)
    return [
        _estimate(found, options, model, runs) for options, model in zip(options_list, models, strict=True)
    ]


def estimate_launch(session: Session, options_list: Sequence[ReplayOptions]) -> list[EstimateOut]:
    """Return the estimated cost of the replays that `commands.launch` would store with each of the options. Raises what it
    raises."""
    planner, actions = Planner(session.project_id), replayable(session)
    for options in options_list:
        planner.plan(session, options, actions)
    return estimate_replays([session], options_list)


def _models(sessions: Sequence[Session], options_list: Sequence[ReplayOptions]) -> list[ModelName | None]:
    named = {options.use_model for options in options_list if options.use_model is not None and sessions}
    usable = {each: usable_model(sessions[0].project_id, each) for each in named}
    return [usable.get(options.use_model or "") for options in options_list]


def _estimate(
    found: Sequence[_SessionCalls], options: ReplayOptions, model: ModelName | None, runs: int
) -> EstimateOut:
    nobody = options.audit and model is None
    calls = [
        each
        for of_session in found
        for each in ([] if nobody else of_session.chosen(options))
        if model or each.action.model is not None
    ]
    moment = now()
    costs = [
        (
            price(model, _used(each, options), moment)
            if model
            else recorded_price(each.action.model or "", _used(each, options), moment)
        ).cost_usd
        for each in calls
    ]
    known = [cost for cost in costs if cost is not None]
    return EstimateOut.model_construct(
        model=None if model is None else str(model),
        calls=len(costs) * runs,
        cost_usd=float(sum(known, Decimal(0)) * runs),
        unknown_cost_calls=(len(costs) - len(known)) * runs,
        guessed_calls=sum(
            each.counted is None or not each.sent.sends_recorded_prompt(options) for each in calls
        ),
    )


def _calls_in(sessions: Sequence[Session]) -> list[_SessionCalls]:
    """Return what can be replayed of each session, with the sizes of what is sent to models."""
    found = [(session, actions) for session, actions in replayable_in(sessions, also=_COUNTED)]
    actions = [action for _, of_session in found for action in of_session]
    asks = [action for action in actions if action.kind == "ask"]
    finds = [action for action in actions if action.kind == "find" and recorded(action).within_ask]
    requests = [action for action in actions if action.kind == MODEL_CALL]
    sent: dict[int, PromptSize | RequestSize] = {**prompt_sizes(asks, finds), **request_sizes(requests)}
    calls = {
        each.id: _Call(action=each, sent=sent[each.id], counted=_counted(each))
        for each in (*asks, *requests)
        if each.id in sent  # or it was erased in the meantime
    }
    return [_SessionCalls(session=session, actions=each, calls=calls) for session, each in found]


def _used(call: _Call, options: ReplayOptions) -> TokenUsage:
    same = call.sent.sends_recorded_prompt(options)
    most = call.sent.max_tokens if options.max_tokens is None else options.max_tokens
    return TokenUsage(
        input_tokens=call.counted.input_tokens if call.counted and same else call.sent.input_tokens(options),
        output_tokens=_answer_tokens(call.counted, call.sent.answer) if most is None else most,
    )


def expected_cost(
    model: ModelName,
    action: Action,
    *,
    characters: int,
    same: bool,
    answer: int | None,
    max_tokens: int | None,
) -> Decimal | None:
    """Return the expected cost of sending this many characters, in US dollars; None if the price is unknown.

    `same`: exactly what was recorded is sent, so the recorded tokens count. The answer is assumed to have
    `max_tokens`, or else as many tokens as the recorded one, which has `answer` characters (None: not recorded).

    Raises: `Unavailable` if the operator's prices cannot be read.
    """
    counted = _counted(action)
    usage = TokenUsage(
        input_tokens=counted.input_tokens if counted and same else estimate_tokens(characters),
        output_tokens=_answer_tokens(counted, answer) if max_tokens is None else max_tokens,
    )
    cost = price(model, usage, now()).cost_usd
    return None if cost is None else round(cost, COST_DIGITS)


def _counted(ask: Action) -> TokenUsage | None:
    """Return the recorded tokens. A cached answer used none, so those of the ask that it was first given to are returned."""
    first = (ask.cached_from or {}).get("usage") or {}
    read = first.get("input_tokens") if ask.cached else ask.input_tokens
    written = first.get("output_tokens") if ask.cached else ask.output_tokens
    return None if read is None or written is None else TokenUsage(input_tokens=read, output_tokens=written)


def tokens_of(prompt: Prompt) -> int:
    """Return the estimated number of tokens of a prompt."""
    return estimate_tokens(sum(len(message.content) for message in prompt.messages))


def _answer_tokens(counted: TokenUsage | None, length: int | None) -> int:
    if counted is not None and counted.output_tokens is not None:
        return counted.output_tokens
    return TOKENS_OF_AN_ANSWER if length is None else estimate_tokens(length)
