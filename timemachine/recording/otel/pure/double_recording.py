"""Which calls were recorded twice, by two instrumentations whose spans are not inside each other.

A framework that reports its calls by callbacks and the client that it uses make spans side by side. They are one call if they
overlap in time and name the same response. Without the name of a response, they must have the same parent, model and tokens, and one
must have run during the other.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import combinations
from typing import Final

from timemachine.recording.otel.pure.counts import CALL, is_counted, is_embedding, tokens_of
from timemachine.recording.sessions.pure.draft import ActionDraft

RESPONSE: Final = "response_id"
"""The parameter of a call that names its response."""
_BEFORE_ID: Final = "-"


def recorded_twice(
    calls: Iterable[ActionDraft], new: Collection[str]
) -> Iterator[tuple[ActionDraft, ActionDraft]]:
    """Yield pairs of a call that is too many, one of the `new` ids, and the call that it repeats."""
    groups: defaultdict[Hashable, list[ActionDraft]] = defaultdict(list)
    for each in calls:
        if each.kind == CALL and not is_embedding(each):
            for key in _keys(each):
                groups[key].append(each)
    gone: set[str] = set()
    for group in groups.values():
        for one, other in combinations(sorted(group, key=lambda each: _rank(each, new)), 2):
            names = {str(one.id), str(other.id)}
            if str(other.id) in new and not names & gone and _is_same(one, other):
                gone.add(str(other.id))
                yield other, one


def response_of(draft: ActionDraft) -> str | None:
    """Return the provider's id of the response of a call; None if it was not recorded."""
    found = (draft.parameters or {}).get(RESPONSE)
    return found if isinstance(found, str) and found else None


def have_two_senders(one: ActionDraft, other: ActionDraft) -> bool:
    """Return whether two instrumentations made the spans. Of recorded spans the names tell: instrumentations differ in them."""
    scopes = _scope_of(one), _scope_of(other)
    return scopes[0] != scopes[1] if None not in scopes else one.name != other.name


def _scope_of(draft: ActionDraft) -> str | None:
    """Return the name of the instrumentation that made the span; None if it is not known."""
    scope = draft.source.get("scope") if isinstance(draft.source, Mapping) else None
    name = scope.get("name") if isinstance(scope, Mapping) else None
    return name if isinstance(name, str) else None


def _keys(draft: ActionDraft) -> Iterator[Hashable]:
    """Yield what spans of one call have in common."""
    if (response := response_of(draft)) is not None:
        yield str(draft.id).partition(_BEFORE_ID)[0], response
    if draft.parent is not None and all(tokens_of(draft)):
        yield draft.parent, tokens_of(draft)


def _rank(draft: ActionDraft, new: Collection[str]) -> tuple[bool, bool, bool, str]:
    """Return the key by which the span that remains is the first: recorded before, with messages, with numbers."""
    return str(draft.id) in new, draft.input is None, not is_counted(draft), str(draft.id)


def _is_same(one: ActionDraft, other: ActionDraft) -> bool:
    times = _interval(one), _interval(other)
    if times[0] is None or times[1] is None or not have_two_senders(one, other):
        return False
    (began, ended), (began_other, ended_other) = times[0], times[1]
    responses = response_of(one), response_of(other)
    if None not in responses:
        return responses[0] == responses[1] and began < ended_other and began_other < ended
    within = began <= began_other and ended_other <= ended
    return (within or (began_other <= began and ended <= ended_other)) and _have_one_model(one, other)


def _have_one_model(one: ActionDraft, other: ActionDraft) -> bool:
    """Return whether the models can be the same: one instrumentation states the alias, the other the dated name."""
    names = sorted((each.model or "").rpartition(":")[2].rpartition("/")[2] for each in (one, other))
    return bool(names[0]) and names[1].startswith(names[0])


def _interval(draft: ActionDraft) -> tuple[datetime, datetime] | None:
    if draft.started_at is None or draft.duration_ms is None:
        return None
    return draft.started_at, draft.started_at + timedelta(milliseconds=draft.duration_ms)
