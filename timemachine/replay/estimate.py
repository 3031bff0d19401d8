"""What a replay would cost before it starts, and what one call of it may: tokens at today's prices. An estimate, and it says what it leaves out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import batched
from typing import Any, Final

from timemachine.answering.asking import CallParameters, ContextPassage, prompt_of
from timemachine.answering.prompt import Prompt
from timemachine.base.clock import now
from timemachine.providers.catalogue import ModelName
from timemachine.providers.completion import TokenUsage
from timemachine.providers.prices import price
from timemachine.providers.queries import usable_model
from timemachine.providers.token_estimate import tokens_about
from timemachine.recording.models import Action, Session
from timemachine.recording.validation import COST_DIGITS
from timemachine.replay import frozen
from timemachine.replay.engine import planned
from timemachine.replay.options import ReplayOptions
from timemachine.replay.plan import recorded, replayable_of

TOKENS_OF_AN_ANSWER: Final = 500
"""Of one whose length nobody knows: it was not recorded, or the call failed."""
_READ_TOGETHER: Final = 50
_COUNTED: Final = ("input_tokens", "output_tokens", "cached", "cached_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """`cost_usd` for the asks of a model whose price is known; `unknown` counts the other asks.

    `guessed` counts the asks whose tokens were not recorded: those of their frozen texts are taken, four characters for one.
    `model` is None where each ask goes to the model that it was recorded with.
    """

    model: str | None
    asks: int
    cost_usd: Decimal
    unknown: int
    guessed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Used:
    """What a recorded ask used: the model that is named with it, and its tokens, `guessed` where they were not recorded."""

    model: str | None
    tokens: TokenUsage
    guessed: bool


def estimated(
    sessions: Sequence[Session], options: ReplayOptions, models: Sequence[str | None]
) -> list[Estimate]:
    """The estimated cost of replays of the sessions with these options, for each of the models: as many tokens as were recorded then.

    The asks are read once for all models. None leaves each ask to the model that it was recorded with, and in an audit asks nobody;
    an ask without a model is not asked again then, and not counted. Raises `InvalidInput` and `Unavailable` for a model that cannot be asked.
    """
    if not sessions:
        return [Estimate(model=each, asks=0, cost_usd=Decimal(0), unknown=0) for each in models]
    names = [None if each is None else usable_model(sessions[0].project_id, each) for each in models]
    if options.audit and not any(names):
        return [_estimate([], None) for _ in names]
    used = _used(_asks_in(sessions, options))
    return [_estimate([] if options.audit and name is None else used, name) for name in names]


def _estimate(used: Sequence[_Used], model: ModelName | None) -> Estimate:
    asked, moment = [each for each in used if model or each.model is not None], now()
    costs = [price(model or _named(each.model), each.tokens, moment).cost_usd for each in asked]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        model=None if model is None else str(model),
        asks=len(costs),
        cost_usd=sum(known, Decimal(0)),
        unknown=len(costs) - len(known),
        guessed=sum(each.guessed for each in asked),
    )


def _asks_in(sessions: Sequence[Session], options: ReplayOptions) -> list[Action]:
    """The asks that a replay with these options would ask again."""
    return [
        action
        for _, actions in replayable_of(sessions, also=_COUNTED)
        for action in actions
        if action.kind == "ask" and planned(recorded(action), options)
    ]


def estimate_json(found: Estimate) -> dict[str, Any]:
    """The estimate; `guessed_asks` counts those whose tokens were not recorded."""
    return {
        "model": found.model,
        "asks": found.asks,
        "cost_usd": float(found.cost_usd),
        "unknown_cost_calls": found.unknown,
        "guessed_asks": found.guessed,
    }


def expected_cost(model: ModelName, ask: Action, prompt: Prompt, *, max_tokens: int | None) -> Decimal | None:
    """What asking this prompt may cost: its own tokens, and as many of answer as it may have, else as the recorded one had.

    None where the price is unknown. Raises `Unavailable` where the operator's prices cannot be read.
    """
    counted = _counted(ask)
    same = counted is not None and (ask.parameters or {}).get("prompt_sha256") == prompt.sha256
    usage = TokenUsage(
        input_tokens=counted.input_tokens if counted and same else _tokens_of(prompt),
        output_tokens=_answer_tokens(ask) if max_tokens is None else max_tokens,
    )
    cost = price(model, usage, now()).cost_usd
    return None if cost is None else round(cost, COST_DIGITS)


def _named(recorded_model: str | None) -> ModelName:
    provider, _, model = (recorded_model or "").partition(":")
    return ModelName(provider=provider, model=model)


def _used(asks: Sequence[Action]) -> list[_Used]:
    counted = {ask.id: known for ask in asks if (known := _counted(ask)) is not None}
    tokens = counted | dict(_guesses([ask.id for ask in asks if ask.id not in counted]))
    return [
        _Used(model=ask.model, tokens=tokens[ask.id], guessed=ask.id not in counted)
        for ask in asks
        if ask.id in tokens  # or it was erased meanwhile
    ]


def _guesses(asks: Sequence[int]) -> Iterator[tuple[int, TokenUsage]]:
    """The tokens of these asks by their frozen texts, which are read some at a time."""
    for together in batched(asks, _READ_TOGETHER):
        read = list(Action.objects.filter(id__in=together).select_related("input", "output"))
        hits = frozen.hits_of_each(read)
        for ask in read:
            yield ask.id, _guessed(ask, frozen.passages_of(hits[ask.id]))


def _counted(ask: Action) -> TokenUsage | None:
    """The recorded tokens; an answer from the cache used none, so those of the ask that it was first given to."""
    first = (ask.cached_from or {}).get("usage") or {}
    read = first.get("input_tokens") if ask.cached else ask.input_tokens
    written = first.get("output_tokens") if ask.cached else ask.output_tokens
    return None if read is None or written is None else TokenUsage(input_tokens=read, output_tokens=written)


def _guessed(ask: Action, passages: Sequence[ContextPassage]) -> TokenUsage:
    asked = CallParameters(system_prompt=(ask.parameters or {}).get("system_prompt"))
    prompt = prompt_of(frozen.question_of(ask) or "", passages, asked)
    return TokenUsage(input_tokens=_tokens_of(prompt), output_tokens=_answer_tokens(ask))


def _tokens_of(prompt: Prompt) -> int:
    return tokens_about(sum(len(message.content) for message in prompt.messages))


def _answer_tokens(ask: Action) -> int:
    counted = _counted(ask)
    if counted is not None and counted.output_tokens is not None:
        return counted.output_tokens
    answer = frozen.answer_of(ask)
    return TOKENS_OF_AN_ANSWER if answer is None else tokens_about(len(answer))
