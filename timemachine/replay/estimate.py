"""What a replay would cost before it starts, and what one call of it may: tokens at today's prices. An estimate, and it says what it leaves out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from timemachine.answering.asking import CallParameters, prompt_of
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
from timemachine.replay.commands import asks_in
from timemachine.replay.options import ReplayOptions

TOKENS_OF_AN_ANSWER: Final = 500
"""Of one whose length nobody knows: it was not recorded, or the call failed."""
_READ_TOGETHER: Final = 50


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


def estimate(asks: Sequence[Action], model: ModelName | None) -> Estimate:
    """The estimated cost of asking these again, of the model or of their own: as many tokens as were recorded then.

    An ask without either is not asked again, and not counted.
    """
    asked = [ask for ask in asks if model is not None or ask.model is not None]
    costs = [price(model or _recorded(ask), usage, now()).cost_usd for ask, usage in _usages(asked)]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        model=None if model is None else str(model),
        asks=len(costs),
        cost_usd=sum(known, Decimal(0)),
        unknown=len(costs) - len(known),
        guessed=sum(_counted(ask) is None for ask in asked),
    )


def estimated(session: Session, options: ReplayOptions) -> Estimate:
    """The estimated cost of a replay with these options. Raises `InvalidInput` and `Unavailable` for a model that cannot be asked."""
    if options.use_model is None:  # an audit asks nobody then, a debug replay the recorded models
        return estimate([] if options.audit else asks_in(session, options), None)
    return estimate(asks_in(session, options), usable_model(session.project_id, options.use_model))


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


def _recorded(ask: Action) -> ModelName:
    provider, _, model = (ask.model or "").partition(":")
    return ModelName(provider=provider, model=model)


def _usages(asks: Sequence[Action]) -> Iterator[tuple[Action, TokenUsage]]:
    """Each ask with its tokens, as they were recorded or by its frozen texts, which are read some at a time."""
    for at in range(0, len(asks), _READ_TOGETHER):
        together = asks[at : at + _READ_TOGETHER]
        frozen.read_hits([ask for ask in together if _counted(ask) is None])
        for ask in together:
            yield ask, _counted(ask) or _guessed(ask)


def _counted(ask: Action) -> TokenUsage | None:
    """The recorded tokens; an answer from the cache used none, so those of the ask that it was first given to."""
    first = (ask.cached_from or {}).get("usage") or {}
    read = first.get("input_tokens") if ask.cached else ask.input_tokens
    written = first.get("output_tokens") if ask.cached else ask.output_tokens
    return None if read is None or written is None else TokenUsage(input_tokens=read, output_tokens=written)


def _guessed(ask: Action) -> TokenUsage:
    passages = frozen.passages_of(frozen.hits_of(ask))
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
