"""Count every model call once: spans around calls state the sums of these calls again.

A span that repeats others (`repeats`) stays an event without their numbers; they remain in its source. An agent below which
nothing was counted keeps its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from timemachine.recording.otel.pure.repeats import TOKENS, Repeats, is_counted, repeats_of
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import CORRECTION


def states_sums(draft: ActionDraft) -> bool:
    """Return whether a span that is not a call states tokens or a cost."""
    return draft.kind == "event" and is_counted(draft)


def counted_once(drafts: Sequence[ActionDraft]) -> list[ActionDraft]:
    """Return the drafts; those that repeat the numbers of others are events without numbers."""
    every = _with_logged_costs(drafts)
    repeats = repeats_of(every, [])
    return [without_sums(each) if _has_no_sums(each) else _once(each, repeats) for each in every]


def settled(drafts: Sequence[ActionDraft], recorded: Iterable[ActionDraft]) -> list[ActionDraft]:
    """Return new, priced drafts of a session as they are recorded, and corrections of what was recorded.

    `recorded` are actions that are above or below the drafts. Nothing recorded changes: if calls arrive after an agent
    that kept its own sums, a correction takes these back. If a call arrives inside a recorded call, it is the same call
    and becomes an event.
    """
    before = {str(each.id): each for each in recorded}
    repeats = repeats_of(drafts, before.values())
    new = [own_sums(_once(each, repeats)) for each in drafts]
    return new + [correction(before[name]) for name in sorted(repeats.sums & before.keys())]


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


def correction(draft: ActionDraft) -> ActionDraft:
    """Return the event that takes back the numbers of a recorded action, because calls inside it arrived later."""
    usage = draft.usage or Usage()
    taken = {name: -count for name in TOKENS if (count := getattr(usage, name)) is not None}
    return ActionDraft(
        kind="event",
        id=correction_id(str(draft.id)),
        parent=draft.id,
        layer="sys",
        role="system",
        agent=draft.agent,
        name="correction: takes back tokens that are also stated by a call, which arrived later",
        started_at=draft.started_at,
        usage=Usage(**taken),
        cost_usd=None if draft.cost_usd is None else -draft.cost_usd,
    )


def correction_id(client_id: str) -> str:
    """Return the id of the correction of an action."""
    return f"{client_id}{CORRECTION}"


def _has_no_sums(draft: ActionDraft) -> bool:
    return draft.kind == "event" and not is_counted(draft)


def _with_logged_costs(drafts: Sequence[ActionDraft]) -> list[ActionDraft]:
    """Return the drafts with one call for each request of Claude Code: its span has the tree, its log record, sent as a
    span, the cost."""
    logged = {name: each for each in drafts if (name := _request_of(each, "claude_code.api_request"))}
    there = {name for each in drafts if (name := _request_of(each, "claude_code.llm_request"))}
    found = []
    for each in drafts:
        record = logged.get(_request_of(each, "claude_code.llm_request") or "")
        if record is not None and each.cost_usd is None:
            found.append(replace(each, cost_usd=record.cost_usd))
        elif _request_of(each, "claude_code.api_request") in there:
            found.append(without_sums(each))
        else:
            found.append(each)
    return found


def _request_of(draft: ActionDraft, name: str) -> str | None:
    if draft.name != name or not isinstance(draft.source, dict):
        return None
    found = draft.source.get("attributes", {}).get("request_id")
    return found if isinstance(found, str) else None
