"""Count every model call once: spans around calls state the sums of these calls again.

Of spans inside each other, the innermost that states tokens or a cost counts. A span around it stays an event without
them; they remain in its source. An agent below which nothing was counted keeps its own.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Final

from timemachine.recording.otel.pure.kinds import EMBEDDINGS
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import CORRECTION, OPERATION

_CALL: Final = "llm_call"
_TOOLS: Final = ("tool_call", "find")
_TOKENS: Final = tuple(each.name for each in fields(Usage))


def states_sums(draft: ActionDraft) -> bool:
    """Return whether a span that is not a call states tokens or a cost."""
    return draft.kind == "event" and is_counted(draft)


def is_counted(draft: ActionDraft) -> bool:
    """Return whether the action states tokens or a cost, other than 0."""
    tokens = draft.usage and any(getattr(draft.usage, name) for name in _TOKENS)
    return bool(tokens or draft.cost_usd)


def is_embedding(draft: ActionDraft) -> bool:
    """Return whether the call computed embeddings."""
    return (draft.parameters or {}).get(OPERATION) == EMBEDDINGS


def covers(outer: ActionDraft, inner: ActionDraft) -> bool:
    """Return whether the numbers of `outer` include those of a counted action inside it.

    Those of an agent that wrote tokens do not consist of embeddings alone.
    """
    wrote = outer.usage is not None and bool(outer.usage.output_tokens)
    return not (is_embedding(inner) and (wrote or outer.kind == _CALL))


def counted_once(drafts: Sequence[ActionDraft]) -> list[ActionDraft]:
    """Return the drafts; those that repeat the numbers of others are events without numbers."""
    every = _with_logged_costs(drafts)
    repeating = repeating_ids(every, [])
    return [without_sums(each) if each.id in repeating or _has_no_sums(each) else each for each in every]


def settled(drafts: Sequence[ActionDraft], recorded: Iterable[ActionDraft]) -> list[ActionDraft]:
    """Return new, priced drafts of a session as they are recorded, and corrections of what was recorded.

    `recorded` are actions that are above or below the drafts. Nothing recorded changes: if calls arrive after an agent
    that kept its own sums, a correction takes these back. If a call arrives inside a recorded call, it is the same call
    and becomes an event.
    """
    before = {str(each.id): each for each in recorded}
    repeating = repeating_ids(drafts, before.values())
    new = [own_sums(without_sums(each) if each.id in repeating else each) for each in drafts]
    return new + [correction(before[name]) for name in sorted(repeating & before.keys())]


def repeating_ids(drafts: Sequence[ActionDraft], recorded: Iterable[ActionDraft]) -> set[str]:
    """Return the ids of the drafts and recorded actions whose numbers repeat those of others, by the tree of their
    parents. Of two recorded actions, only if a draft connects them."""
    before = {str(each.id): each for each in recorded}
    every = before | {str(each.id): each for each in drafts}
    new = {str(each.id) for each in drafts}
    return {
        name
        for inner_id, inner in every.items()
        if is_counted(inner)
        for outer_id, between in _line(inner_id, every)
        if not new.isdisjoint((inner_id, outer_id, *between))
        and (name := _repeating(inner_id, outer_id, every, between, new)) is not None
    }


def _repeating(
    inner_id: str,
    outer_id: str,
    every: Mapping[str, ActionDraft],
    between: Iterable[str],
    new: Collection[str],
) -> str | None:
    """Return which of two actions inside each other repeats the other one; None if neither does.

    What a tool did during a call is not part of the call's numbers.
    """
    inner, outer = every[inner_id], every[outer_id]
    if not is_counted(outer):
        return None
    if outer.kind == "event":
        return outer_id if covers(outer, inner) else None
    past_tool = any(every[name].kind in _TOOLS for name in between)
    if outer.kind != _CALL or past_tool or not covers(outer, inner):
        return None
    return outer_id if inner.kind == _CALL and outer_id in new else inner_id


def without_sums(draft: ActionDraft) -> ActionDraft:
    """Return the draft of a span around calls, without what it repeats of them."""
    return replace(
        draft,
        kind="event",
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
    taken = {name: -count for name in _TOKENS if (count := getattr(usage, name)) is not None}
    return ActionDraft(
        kind="event",
        id=correction_id(str(draft.id)),
        parent=draft.id,
        layer="sys",
        role="system",
        agent=draft.agent,
        name="correction: these tokens are counted in the calls below, which arrived later",
        started_at=draft.started_at,
        usage=Usage(**taken),
        cost_usd=None if draft.cost_usd is None else -draft.cost_usd,
    )


def correction_id(client_id: str) -> str:
    """Return the id of the correction of an action."""
    return f"{client_id}{CORRECTION}"


def _has_no_sums(draft: ActionDraft) -> bool:
    return draft.kind == "event" and not is_counted(draft)


def _line(inner: str, every: Mapping[str, ActionDraft]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the ids above an action, the nearest first, each with those in between."""
    between: list[str] = []
    name = every[inner].parent
    while isinstance(name, str) and name in every and name != inner and name not in between:
        yield name, tuple(between)
        between.append(name)
        name = every[name].parent


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
