"""Price calls that were made elsewhere, with the prices of their day."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from timemachine.core.pure.clock import now
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.unknown_prices import STATED
from timemachine.llm.priced import Priced
from timemachine.llm.prices import recorded_price
from timemachine.llm.pure.price_conditions import CACHED_FOR_AN_HOUR, Conditions
from timemachine.llm.pure.usage import TokenUsage, count
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL, SPENDING

type PriceOf = Callable[[str, TokenUsage | None, datetime, Conditions], Priced]

_NO_MODEL: Final[JsonObject] = {"source": "unknown", "reason": "model_not_recorded"}
_NOTHING: Final[JsonObject] = {"source": "unknown", "reason": "model_and_tokens_not_recorded"}


def priced(drafts: Sequence[ActionDraft], price_of: PriceOf = recorded_price) -> list[ActionDraft]:
    """Return the drafts with the cost of each call, and in `prices` where it comes from or why it is unknown.

    A cost that the sender stated is kept. Steps that are not calls are left as they are.
    Raises `Unavailable` if the operator's prices cannot be read; with `recorded_price_if_known` the price is unknown
    instead.
    """
    return [_priced(draft, price_of) for draft in drafts]


def _priced(draft: ActionDraft, price_of: PriceOf) -> ActionDraft:
    if draft.cost_usd is not None:
        is_known = draft.prices is not None or draft.cached  # an answer from the cache has no price
        return draft if is_known else replace(draft, prices=dict(STATED))
    if draft.prices is not None:
        return draft
    if draft.model:
        return _with_price(draft, draft.model, price_of)
    spent = draft.usage and (draft.usage.input_tokens or draft.usage.output_tokens)
    if draft.kind in SPENDING and spent:
        return replace(draft, prices=dict(_NO_MODEL))
    why = _NOTHING if draft.usage is None else _NO_MODEL
    return replace(draft, prices=dict(why)) if draft.kind == MODEL_CALL else draft


def _with_price(draft: ActionDraft, model: str, price_of: PriceOf) -> ActionDraft:
    parameters = draft.parameters or {}
    tokens = None if draft.usage is None else _tokens(draft.usage, parameters)
    found = price_of(model, tokens, draft.started_at or now(), Conditions.of(parameters))
    cost = None if found.cost_usd is None else round(found.cost_usd, COST_DIGITS)
    return replace(draft, cost_usd=cost, prices=found.prices)


def _tokens(usage: Usage, parameters: JsonObject) -> TokenUsage:
    return TokenUsage(
        **{name: getattr(usage, name) for name in usage.__slots__},
        cache_write_1h_tokens=count(parameters, CACHED_FOR_AN_HOUR),
    )
