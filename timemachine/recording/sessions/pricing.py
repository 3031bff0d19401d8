"""Price calls that were made elsewhere, with the prices of their day."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from timemachine.core.pure.clock import now
from timemachine.llm.prices import Priced, price
from timemachine.llm.pure.catalogue import ModelName, as_recorded
from timemachine.llm.pure.completion import TokenUsage
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.validation import COST_DIGITS
from timemachine.recording.sessions.pure.vocabulary import CACHED_FOR_AN_HOUR

type PriceOf = Callable[[ModelName, TokenUsage | None, datetime], Priced]


def priced(drafts: Sequence[ActionDraft], price_of: PriceOf = price) -> list[ActionDraft]:
    """Return the drafts with costs added to calls that have a model and tokens but no cost, if the price is known.

    Raises `Unavailable` if the operator's prices cannot be read; with `price_if_known` the price is unknown instead.
    """
    return [
        _with_price(draft, draft.model, draft.usage, price_of)
        if draft.cost_usd is None and draft.model and draft.usage
        else draft
        for draft in drafts
    ]


def _with_price(draft: ActionDraft, model: str, usage: Usage, price_of: PriceOf) -> ActionDraft:
    tokens = TokenUsage(
        **{name: getattr(usage, name) for name in usage.__slots__},
        cache_write_1h_tokens=(draft.parameters or {}).get(CACHED_FOR_AN_HOUR),
    )
    found = price_of(as_recorded(model), tokens, draft.started_at or now())
    cost = None if found.cost_usd is None else round(found.cost_usd, COST_DIGITS)
    return replace(draft, cost_usd=cost, prices=found.prices)
