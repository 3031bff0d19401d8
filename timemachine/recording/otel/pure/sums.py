"""Count every model call once: spans around calls state the sums of these calls again.

A span that repeats others (`repeats`) stays an event without their numbers; they remain in its source. An agent below which
nothing was counted keeps its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.unknown_prices import STATED
from timemachine.recording.otel.pure.attributes import Attributes
from timemachine.recording.otel.pure.claude_code import (
    API_REQUEST,
    LLM_REQUEST,
    TOOL_RESULT,
    TOOL_SPAN,
    request_of,
    tool_call_of,
)
from timemachine.recording.otel.pure.counts import CALL, EVENT, TOKENS, is_counted, states_sums
from timemachine.recording.otel.pure.model_calls import cost_of, usage_of
from timemachine.recording.otel.pure.repeats import Repeats, repeats_of
from timemachine.recording.sessions.pure.corrections import correction_prices, has_unknown_cost
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

LOST: Final[Mapping[str, Any]] = {"source": "unknown", "reason": "tokens_not_recorded"}
"""The `prices` of a correction that takes back sums which included those of others."""


def counted_once(drafts: Sequence[ActionDraft]) -> list[ActionDraft]:
    """Return the drafts; those that repeat the numbers of others are events without numbers."""
    spans = {name for each in drafts if (name := tool_call_of(each, TOOL_SPAN))}
    logged_twice = {each.id for each in drafts if tool_call_of(each, TOOL_RESULT) in spans}
    every = [without_sums(each) if each.id in logged_twice else each for each in _with_logged_costs(drafts)]
    repeats = repeats_of(every, [])
    return [without_sums(each) if _has_no_sums(each) else _once(each, repeats) for each in every]


def settled(drafts: Sequence[ActionDraft], recorded: Iterable[ActionDraft]) -> list[ActionDraft]:
    """Return new, priced drafts of a session as they are recorded, and corrections of what was recorded.

    `recorded` are actions that are above or below the drafts. Nothing recorded changes: if calls arrive after an agent
    that kept its own sums, a correction takes these back. If a call arrives inside a recorded call, it is the same call
    and becomes an event; if only this span has numbers, a correction adds them to the call. So does a request of Claude
    Code whose span or log record was recorded before. Its tool calls are recorded once, too.
    """
    before = {str(each.id): each for each in recorded}
    first, corrected = _requests_once(_tools_once(drafts, before.values()), list(before.values()))
    repeats = repeats_of(first, before.values())
    later = {str(each.id): before[call] for each in first if (call := _same_call(each, repeats)) in before}
    new = [without_sums(each) if each.id in later else own_sums(_once(each, repeats)) for each in first]
    lost = _with_lost_sums(first, list(before.values()))
    taken = [correction(before[name], unknown=name in lost) for name in sorted(repeats.sums & before.keys())]
    added = [_added(each, later[str(each.id)]) for each in first if each.id in later]
    return new + taken + added + corrected


def _same_call(draft: ActionDraft, repeats: Repeats) -> str:
    """Return the id of the span of the same call, which has no numbers; empty without such a span."""
    is_call = draft.kind == CALL and is_counted(draft) and draft.id not in repeats.sums
    return repeats.calls.get(str(draft.id), "") if is_call else ""


def _once(draft: ActionDraft, repeats: Repeats) -> ActionDraft:
    """Return the draft; an event if it repeats another one, with its numbers if only it has them."""
    if draft.id in repeats.sums or (draft.id in repeats.calls and not is_counted(draft)):
        return without_sums(draft)
    return replace(draft, kind="event") if draft.id in repeats.calls else draft


def without_sums(draft: ActionDraft) -> ActionDraft:
    """Return the draft of a span around calls, without what it repeats of them."""
    return replace(
        draft,
        kind="event",
        tool=None,
        model=None,
        usage=None,
        cost_usd=None,
        prices=None,
        cached=None,
        saved_usd=None,
    )


def own_sums(draft: ActionDraft) -> ActionDraft:
    """Return a priced draft of an agent whose numbers count. It may have called several models, so it names none. Prices
    that depend on the size of a call say nothing about a sum."""
    if not states_sums(draft):
        return draft
    if (draft.prices or {}).get("tier"):
        return replace(draft, model=None, cost_usd=None, prices=None)
    return replace(draft, model=None)


def _with_lost_sums(drafts: Sequence[ActionDraft], recorded: Sequence[ActionDraft]) -> set[str]:
    """Return the ids of spans around recorded ones that state sums and are around no counted call: these were left out as part
    of the outer one's sums."""
    every = [*recorded, *drafts]
    parents = {str(each.id): each.parent for each in every}
    above = {name: set(_above(name, parents)) for name in parents}
    around_calls = {
        name for each in every if each.kind == CALL and is_counted(each) for name in above[str(each.id)]
    }
    return {
        name
        for each in recorded
        if each.kind == EVENT and str(each.id) not in around_calls and _stated_sums(each)
        for name in above[str(each.id)]
    }


def _above(name: str, parents: Mapping[str, str | int | None]) -> Iterator[str]:
    seen = {name}
    above = parents[name]
    while isinstance(above, str) and above in parents and above not in seen:
        yield above
        seen.add(above)
        above = parents[above]


def _stated_sums(draft: ActionDraft) -> bool:
    """Return whether a span around calls states sums, in its source if it was recorded without them."""
    stated = draft.source.get("attributes") if isinstance(draft.source, Mapping) else None
    if is_counted(draft) or not isinstance(stated, dict):
        return is_counted(draft)
    return bool(usage_of(Attributes(stated), is_call=False) or cost_of(Attributes(stated)))


def correction(draft: ActionDraft, *, unknown: bool = False) -> ActionDraft:
    """Return the event that takes back the numbers of a recorded action, because calls inside it arrived later. With `unknown` they
    included others, which are recorded nowhere else: the cost is unknown."""
    usage = draft.usage or Usage()
    return _correction(
        draft,
        id=f"{draft.id}/counted-below",
        name="correction: removes tokens also stated by a call that arrived later",
        usage=Usage(**{name: -count for name in TOKENS if (count := getattr(usage, name)) is not None}),
        cost_usd=None if draft.cost_usd is None else -draft.cost_usd,
        prices=correction_prices(
            LOST if unknown else None, was=has_unknown_cost(draft), before=draft.prices, now=unknown
        ),
    )


def _added(draft: ActionDraft, call: ActionDraft) -> ActionDraft:
    """Return the event that adds the numbers of a new span to the recorded span of the same call, which has none."""
    was, now = has_unknown_cost(call), has_unknown_cost(draft)
    return _correction(
        call,
        id=f"{draft.id}/same-call",
        name="correction: adds what a span that arrived later states for this call",
        usage=draft.usage,
        cost_usd=draft.cost_usd,
        prices=correction_prices(draft.prices, was=was, before=call.prices, now=now),
    )


def _correction(step: ActionDraft, **numbers: Any) -> ActionDraft:
    return ActionDraft(
        kind="event",
        layer="sys",
        role="system",
        parent=step.id,
        agent=step.agent,
        model=step.model,
        started_at=step.started_at,
        **numbers,
    )


def _has_no_sums(draft: ActionDraft) -> bool:
    return draft.kind == "event" and not is_counted(draft)


def _with_logged_costs(drafts: Sequence[ActionDraft]) -> list[ActionDraft]:
    """Return the drafts with one call for each request of Claude Code: its span has the tree, its log record, sent as a
    span, the cost."""
    logged = {name: each for each in drafts if (name := request_of(each, API_REQUEST))}
    there = {name for each in drafts if (name := request_of(each, LLM_REQUEST))}
    found = []
    for each in drafts:
        record = logged.get(request_of(each, LLM_REQUEST) or "")
        if record is not None and each.cost_usd is None:
            found.append(replace(each, cost_usd=record.cost_usd))
        elif request_of(each, API_REQUEST) in there:
            found.append(without_sums(each))
        else:
            found.append(each)
    return found


def _requests_once(
    drafts: Sequence[ActionDraft], recorded: Sequence[ActionDraft]
) -> tuple[list[ActionDraft], list[ActionDraft]]:
    """Return the drafts without the numbers of requests that were recorded before, as a span or as a log record, and
    corrections of costs: what a record states counts, whichever of both arrives first."""
    before = {name: each for each in recorded if each.kind == CALL and (name := request_of(each))}
    new, corrected = [], []
    for each in drafts:
        call = before.get(request_of(each) or "")
        if call is None or call.name == each.name:
            new.append(each)
            continue
        new.append(without_sums(each))
        states_another = each.cost_usd is not None and each.cost_usd != call.cost_usd
        if each.name == API_REQUEST and states_another:
            corrected.append(_cost_correction(each, call))
    return new, corrected


def _tools_once(drafts: Sequence[ActionDraft], recorded: Iterable[ActionDraft]) -> list[ActionDraft]:
    """Return the drafts; those of tool calls of Claude Code that were recorded before, as a span or as a log record, are events."""
    before = {name: each.name for each in recorded if (name := tool_call_of(each))}
    return [
        without_sums(each) if before.get(tool_call_of(each) or "", each.name) != each.name else each
        for each in drafts
    ]


def _cost_correction(record: ActionDraft, call: ActionDraft) -> ActionDraft:
    return _correction(
        call,
        id=f"{record.id}/counted-below",
        name="correction: the cost that a log record states for this call, minus the cost already counted",
        cost_usd=(record.cost_usd or 0) - (call.cost_usd or Decimal(0)),
        prices=correction_prices(STATED, was=has_unknown_cost(call), before=call.prices, now=False),
    )
