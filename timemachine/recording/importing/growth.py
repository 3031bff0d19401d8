"""Model calls whose tokens and cost a file that was imported later states higher: a later version of their file, because an
answer was still being written, or the other file of a task.

A recorded step never changes, so an event below the call adds what is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from itertools import batched
from typing import Final

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.queries import HAPPENED_HERE

_NAME: Final = "more tokens: stated by a file that was imported later"
_TOKENS: Final = tuple(each.name for each in fields(Usage))
_AT_ONCE: Final = 1_000


@dataclass(slots=True, kw_only=True)
class _Counted:
    """The numbers of a recorded call with those of the events that added to it."""

    usage: dict[str, int | None]
    cost_usd: Decimal | None
    events: int = 0

    def add(self, usage: Mapping[str, int | None], cost_usd: Decimal | None) -> None:
        for name, count in usage.items():
            if count is not None:
                self.usage[name] = (self.usage[name] or 0) + count
        if cost_usd is not None:
            self.cost_usd = (self.cost_usd or Decimal(0)) + cost_usd
        self.events += 1


def more_tokens(session: Session, drafts: Sequence[ActionDraft]) -> list[ActionDraft]:
    """Return the events that add to recorded calls what the drafts state more. Counts that became smaller are left."""
    calls = [
        each
        for each in drafts
        if each.kind == "llm_call" and each.id is not None and each.copied_from is None and _states(each)
    ]
    made = []
    for some in batched(calls, _AT_ONCE, strict=False):
        counted = _counted(session, [str(each.id) for each in some])
        made += [event for each in some if (event := _more(each, counted.get(str(each.id)))) is not None]
    return made


def _states(draft: ActionDraft) -> bool:
    return draft.usage is not None or draft.cost_usd is not None


def _counted(session: Session, ids: Sequence[str]) -> dict[str, _Counted]:
    happened = Action.objects.filter(HAPPENED_HERE, session=session)
    columns = ("cost_usd", *_TOKENS)
    found = {
        str(name): _Counted(usage=dict(zip(_TOKENS, tokens, strict=True)), cost_usd=cost)
        for name, cost, *tokens in happened.filter(kind="llm_call", client_id__in=ids).values_list(
            "client_id", *columns
        )
    }
    added = happened.filter(kind="event", name=_NAME, parent_id_given__in=list(found))
    for name, cost, *tokens in added.values_list("parent_id_given", *columns):
        found[str(name)].add(dict(zip(_TOKENS, tokens, strict=True)), cost)
    return found


def _more(draft: ActionDraft, counted: _Counted | None) -> ActionDraft | None:
    if counted is None:
        return None
    stated = draft.usage or Usage()
    usage = {
        name: count - (counted.usage[name] or 0)
        for name in _TOKENS
        if (count := getattr(stated, name)) is not None and count > (counted.usage[name] or 0)
    }
    costs_more = draft.cost_usd is not None and draft.cost_usd > (counted.cost_usd or 0)
    if not usage and not costs_more:
        return None
    whole = priced([draft])[0]
    cost = None if whole.cost_usd is None else max(whole.cost_usd - (counted.cost_usd or 0), Decimal(0))
    return ActionDraft(
        kind="event",
        id=f"{draft.id}/more-{counted.events + 1}",
        parent=draft.id,
        layer="sys",
        role="system",
        agent=draft.agent,
        name=_NAME,
        started_at=draft.started_at,
        usage=Usage(**usage) if usage else None,
        cost_usd=cost,
        prices=whole.prices,
    )
