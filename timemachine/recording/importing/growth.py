"""Steps whose tokens and cost a file that was imported later states higher: a later version of their file, because an
answer was still being written or the run went on, or the other file of a task.

A recorded step never changes, so a correction below it adds what is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from itertools import batched
from typing import Any, Final

from timemachine.core.pure.unknown_prices import STATED
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.corrections import (
    correction_prices,
    has_unknown_cost,
    unknown_cost_calls,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import SPENDING
from timemachine.recording.sessions.queries import HAPPENED_HERE, IS_CORRECTION

_NAME: Final = "more tokens: stated by a file imported later"
_TOKENS: Final = tuple(each.name for each in fields(Usage))
_READ: Final = ("kind", "agent", "model", "started_at", "prices", "cost_usd", *_TOKENS)
_AT_ONCE: Final = 1_000


@dataclass(slots=True, kw_only=True)
class _Counted:
    """The numbers of a recorded step with those of its corrections, and where they count."""

    agent: str | None
    model: str | None
    started_at: datetime | None
    prices: Any
    cost_usd: Decimal | None
    usage: dict[str, int | None]
    unknown: int
    corrections: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "_Counted":
        return cls(
            **{name: row[name] for name in ("agent", "model", "started_at", "prices", "cost_usd")},
            usage={name: row[name] for name in _TOKENS},
            unknown=_unknown(row),
        )

    def add(self, row: Mapping[str, Any]) -> None:
        for name in _TOKENS:
            if row[name] is not None:
                self.usage[name] = (self.usage[name] or 0) + row[name]
        if row["cost_usd"] is not None:
            self.cost_usd = (self.cost_usd or Decimal(0)) + row["cost_usd"]
        if "source" in row["prices"]:
            self.prices = row["prices"]
        self.unknown += _unknown(row)
        self.corrections += 1


def more_tokens(session: Session, drafts: Sequence[ActionDraft]) -> list[ActionDraft]:
    """Return corrections of recorded steps for which the drafts state more. Counts that became smaller are left."""
    spending = [each for each in drafts if each.kind in SPENDING and each.id is not None and _states(each)]
    made = []
    for some in batched(spending, _AT_ONCE, strict=False):
        counted = _counted(session, [str(each.id) for each in some])
        made += [event for each in some if (event := _more(each, counted.get(str(each.id)))) is not None]
    return made


def _states(draft: ActionDraft) -> bool:
    stated = (draft.usage, draft.cost_usd, draft.prices)
    return draft.copied_from is None and any(each is not None for each in stated)


def _counted(session: Session, ids: Sequence[str]) -> dict[str, _Counted]:
    happened = Action.objects.filter(HAPPENED_HERE, session=session)
    steps = happened.filter(kind__in=SPENDING, client_id__in=ids).values("client_id", *_READ)
    found = {str(row["client_id"]): _Counted.of(row) for row in steps}
    corrections = happened.filter(IS_CORRECTION, parent_id_given__in=list(found)).order_by("sequence")
    for row in corrections.values("parent_id_given", *_READ):
        found[str(row["parent_id_given"])].add(row)
    return found


def _unknown(row: Mapping[str, Any]) -> int:
    columns = ("model", "cost_usd", "input_tokens", "output_tokens", "prices")
    return unknown_cost_calls(row["kind"], **{name: row[name] for name in columns})


def _more(draft: ActionDraft, counted: _Counted | None) -> ActionDraft | None:
    if counted is None:
        return None
    whole = priced([draft])[0]
    usage = _more_usage(draft, counted)
    was, now = counted.unknown > 0, has_unknown_cost(whole)
    if not usage and not _states_more_cost(draft, counted):  # newer price lists change nothing
        return None
    prices, cost = whole.prices, None
    if now and not was and _stays_known(draft, whole, counted):
        prices, now = None, False
    elif whole.cost_usd is not None or now > was:
        cost = (whole.cost_usd or 0) - (counted.cost_usd or Decimal(0))
        cost = max(cost, Decimal(0)) if _stays_known(draft, whole, counted) else cost
    return ActionDraft(
        kind="event",
        id=f"{draft.id}/more-{counted.corrections + 1}",
        parent=draft.id,
        layer="sys",
        role="system",
        agent=counted.agent,
        model=counted.model,
        name=_NAME,
        started_at=counted.started_at,
        usage=Usage(**usage) if usage else None,
        cost_usd=cost,
        prices=correction_prices(prices, was=was, before=counted.prices, now=now),
    )


def _states_more_cost(draft: ActionDraft, counted: _Counted) -> bool:
    if draft.cost_usd is None:  # of a run, it is stated with another step
        return counted.unknown > 0 and _is_stated(draft.prices)
    return counted.cost_usd is None or draft.cost_usd > counted.cost_usd


def _more_usage(draft: ActionDraft, counted: _Counted) -> dict[str, int]:
    stated = draft.usage or Usage()
    found = {name: (getattr(stated, name), counted.usage[name]) for name in _TOKENS}
    return {
        name: count - (before or 0)
        for name, (count, before) in found.items()
        if count is not None and (before is None or count > before)
    }


def _stays_known(draft: ActionDraft, whole: ActionDraft, counted: _Counted) -> bool:
    """Return whether the known cost must not become lower or unknown: the draft states fewer tokens, or no cost where one was stated."""
    stated = draft.usage or Usage()
    fewer = any(
        before is not None and ((count := getattr(stated, name)) is None or count < before)
        for name, before in counted.usage.items()
    )
    return fewer or (_is_stated(counted.prices) and not _is_stated(whole.prices))


def _is_stated(prices: Any) -> bool:
    return isinstance(prices, dict) and prices.get("source") == STATED["source"]
