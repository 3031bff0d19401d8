"""What a replay would cost before it starts, and what one call of it may: both reckon alike, at today's prices. An estimate, and it says what it leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from timemachine.core.pure.clock import now
from timemachine.llm.prices import price
from timemachine.llm.pure.catalogue import ModelName, as_recorded
from timemachine.llm.pure.completion import TokenUsage
from timemachine.llm.pure.usage import estimate_tokens
from timemachine.llm.queries import usable_model
from timemachine.recording.answering.pure.prompt import TEMPLATE, Prompt, check_template
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.replay.runs import frozen
from timemachine.replay.runs.plan import recorded, replayable_of
from timemachine.replay.runs.prompt_size import Sent, sent_with
from timemachine.replay.runs.pure.engine import planned
from timemachine.replay.runs.pure.options import ReplayOptions

TOKENS_OF_AN_ANSWER: Final = 500
"""Of one whose length nobody knows: it was not recorded, or the call failed."""
_COUNTED: Final = ("input_tokens", "output_tokens", "cached", "cached_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """`cost_usd` for the asks of a model whose price is known; `unknown` counts the other asks.

    `guessed` counts the asks that would not send what was recorded, or whose tokens were not recorded: four characters of what
    would be sent are taken for one. `model` is None where each ask goes to the model that it was recorded with.
    """

    model: str | None
    asks: int
    cost_usd: Decimal
    unknown: int
    guessed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """A recorded ask, what it would send, and the tokens that were recorded of it (None: they were not)."""

    action: Action
    sent: Sent
    counted: TokenUsage | None


def estimated(sessions: Sequence[Session], asked: Sequence[ReplayOptions]) -> list[Estimate]:
    """The estimated cost of replays of the sessions, for each of the options: what a spend limit would reckon with, call by call.

    Passages that would be looked for again are taken to be as large as the frozen ones. The asks are read once for all options.
    Without a model each ask goes to the model that it was recorded with, and in an audit to nobody; an ask without a model is not
    asked again then, and not counted. Raises `InvalidInput` and `Unavailable` for a model or a template that cannot be used.
    """
    for options in asked:
        check_template(options.prompt_template or TEMPLATE)
    models = _models(sessions, asked)
    if all(options.audit and model is None for options, model in zip(asked, models, strict=True)):
        return [_estimate([], options, None) for options in asked]
    found = _asks_in(sessions)
    return [_estimate(found, options, model) for options, model in zip(asked, models, strict=True)]


def _models(sessions: Sequence[Session], asked: Sequence[ReplayOptions]) -> list[ModelName | None]:
    named = {options.use_model for options in asked if options.use_model is not None and sessions}
    usable = {each: usable_model(sessions[0].project_id, each) for each in named}
    return [usable.get(options.use_model or "") for options in asked]


def _estimate(found: Sequence[_Ask], options: ReplayOptions, model: ModelName | None) -> Estimate:
    nobody = options.audit and model is None
    asked = [
        each
        for each in found
        if not nobody and (model or each.action.model is not None) and planned(recorded(each.action), options)
    ]
    moment = now()
    costs = [
        price(model or as_recorded(each.action.model or ""), _used(each, options), moment).cost_usd
        for each in asked
    ]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        model=None if model is None else str(model),
        asks=len(costs),
        cost_usd=sum(known, Decimal(0)),
        unknown=len(costs) - len(known),
        guessed=sum(each.counted is None or not each.sent.as_recorded(options) for each in asked),
    )


def _asks_in(sessions: Sequence[Session]) -> list[_Ask]:
    """The asks of the sessions with what each would send."""
    actions = [action for _, found in replayable_of(sessions, also=_COUNTED) for action in found]
    asks = [action for action in actions if action.kind == "ask"]
    finds = [action for action in actions if action.kind == "find" and recorded(action).within_ask]
    sent = sent_with(asks, finds)
    return [
        _Ask(action=ask, sent=sent[ask.id], counted=_counted(ask))
        for ask in asks
        if ask.id in sent  # or it was erased meanwhile
    ]


def _used(ask: _Ask, options: ReplayOptions) -> TokenUsage:
    same = ask.sent.as_recorded(options)
    most = ask.sent.max_tokens if options.max_tokens is None else options.max_tokens
    return TokenUsage(
        input_tokens=ask.counted.input_tokens if ask.counted and same else ask.sent.input_tokens(options),
        output_tokens=_answer_tokens(ask.counted, ask.sent.answer) if most is None else most,
    )


def expected_cost(model: ModelName, ask: Action, prompt: Prompt, *, max_tokens: int | None) -> Decimal | None:
    """What asking this prompt may cost: its own tokens, and as many of answer as it may have, else as the recorded one had.

    None where the price is unknown. Raises `Unavailable` where the operator's prices cannot be read.
    """
    counted = _counted(ask)
    same = counted is not None and (ask.parameters or {}).get("prompt_sha256") == prompt.sha256
    usage = TokenUsage(
        input_tokens=counted.input_tokens if counted and same else _tokens_of(prompt),
        output_tokens=_answer_tokens(counted, _answer_length(ask)) if max_tokens is None else max_tokens,
    )
    cost = price(model, usage, now()).cost_usd
    return None if cost is None else round(cost, COST_DIGITS)


def _counted(ask: Action) -> TokenUsage | None:
    """The recorded tokens; an answer from the cache used none, so those of the ask that it was first given to."""
    first = (ask.cached_from or {}).get("usage") or {}
    read = first.get("input_tokens") if ask.cached else ask.input_tokens
    written = first.get("output_tokens") if ask.cached else ask.output_tokens
    return None if read is None or written is None else TokenUsage(input_tokens=read, output_tokens=written)


def _tokens_of(prompt: Prompt) -> int:
    return estimate_tokens(sum(len(message.content) for message in prompt.messages))


def _answer_length(ask: Action) -> int | None:
    answer = frozen.answer_of(ask)
    return None if answer is None else len(answer)


def _answer_tokens(counted: TokenUsage | None, length: int | None) -> int:
    if counted is not None and counted.output_tokens is not None:
        return counted.output_tokens
    return TOKENS_OF_AN_ANSWER if length is None else estimate_tokens(length)
