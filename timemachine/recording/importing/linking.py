"""Link steps of a session that several files hold, whichever file is imported first."""

from collections.abc import Iterator
from dataclasses import replace

from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def linked(session: Session, draft: SessionDraft) -> SessionDraft:
    """Return the draft with its steps linked to those that the session has from other files.

    Steps whose call is recorded are placed under it. Steps that were recorded before their call get a step between them and
    the call, because a recorded step never changes.
    """
    calls = dict(_recorded_calls(session, draft))
    actions = [
        replace(each, parent=calls[each.parent])
        if isinstance(each.parent, str) and each.parent in calls
        else each
        for each in draft.actions
    ]
    return replace(draft, actions=(*actions, *_awaited_anchors(session, draft)))


def _recorded_calls(session: Session, draft: SessionDraft) -> Iterator[tuple[str, str | int]]:
    """Yield the awaited ids whose calls are recorded, each with the call. One query for each sub-agent."""
    results = Action.objects.filter(session=session, kind="tool_result")
    for placeholder, facts in draft.awaited_calls.items():
        named = results.filter(**{f"metadata__{name}": value for name, value in facts.items()})
        found = named.order_by("sequence").values_list("parent_id_given", "parent_sequence").first()
        if found is not None and (call := found[0] if found[0] is not None else found[1]) is not None:
            yield placeholder, call


def _awaited_anchors(session: Session, draft: SessionDraft) -> list[ActionDraft]:
    named = [each.id for each in draft.anchors if each.id is not None]
    if not named:
        return []
    children = Action.objects.filter(session=session, parent_id_given__in=named)
    awaited = set(children.values_list("parent_id_given", flat=True))
    return [each for each in draft.anchors if each.id in awaited]
