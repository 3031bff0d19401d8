"""Steps that a file repeats from another session, because the tool copied the conversation into a new file.

A repeated step is marked as copied, so that it is counted once. If the lines do not say which session is the original, the one
imported later has the copies: a recorded step never changes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import batched
from typing import Any, Final
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, Func, Q, QuerySet, TextField, UUIDField, Value

from timemachine.core.accounts.models import Project
from timemachine.core.pure.content import content_of
from timemachine.core.pure.postgres_text import storable
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.branches import ancestors_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft

_AT_ONCE: Final = 1_000
_SAID: Final = ("message", "llm_call", "tool_call", "tool_result")
_NO_RANK: Final = (0, False)
_ANSWERED: Final = "(SELECT tm_answers_with(%(expressions)s))"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """A step of another session: its place, and what tells whether another step repeats it."""

    session: UUID
    key: str
    sequence: int
    id: str | None
    kind: str
    call_id: str | None
    started_at: datetime | None
    output: str | None
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """A draft with its copies marked, and the other sessions that have the same steps."""

    draft: SessionDraft
    relatives: tuple[UUID, ...] = ()


def with_copies(project: Project, draft: SessionDraft, format_name: str) -> Copies:
    """Return the draft with the steps marked that sessions of the same format already have.

    Only sessions with an answer or a prompt of the draft are looked at.
    A step is a repetition if id, kind, time and output are equal, a model call if the provider's ids of the answer and its
    request are; what is under a repeated call is repeated too. See `_with_new_ids` for steps that were given new ids.
    """
    if not draft.ids_are_global:
        return Copies(draft=draft)
    others = Session.objects.filter(id__in=_with_same_words(project, draft), imported_as=format_name)
    found = _repeated(project, others, draft)
    if not found:
        return Copies(draft=draft)
    actions = [_copy(each, found.get(each.id)) if each.id is not None else each for each in draft.actions]
    marked = replace(draft, actions=tuple(actions))
    keys = {each.key for each in found.values()} - {draft.key}
    if not keys or draft.forked_from is not None:
        return Copies(draft=marked)
    relatives = _relatives(others, keys).exclude(key=draft.key)
    ids = tuple(each.id for each in relatives)
    times = _times(marked)
    ranks = [(rank, each) for each in relatives if (rank := _rank(times, _times_in(each)))]
    if not ranks:
        return Copies(draft=marked, relatives=ids)
    _, parent = max(ranks, key=lambda ranked: ranked[0])
    forked_at = last_of(parent, [each.id for each in draft.actions])
    return Copies(draft=replace(marked, forked_from=parent.key, forked_at=forked_at), relatives=ids)


def link_branches(session: Session, relatives: Sequence[UUID]) -> None:
    """Link sessions that were imported earlier to the session if it is the one that they continue.

    The ids of the steps must be global.
    """
    times = _times_in(session) if relatives else {}
    waiting = Session.objects.filter(id__in=relatives, parent_key=None, parent_erased=None)
    for each in (
        waiting.exclude(id__in=ancestors_of(session)).exclude(parent=session).select_related("parent")
    ):
        theirs = _times_in(each)
        before = None if each.parent is None else _rank(theirs, _times_in(each.parent))
        if (rank := _rank(theirs, times)) and rank > (before or _NO_RANK):
            Session.objects.filter(id=each.id).update(parent=session, parent_sequence=None)


def place_branches(session: Session, *, ids_are_global: bool) -> None:
    """Note at which step branches left the session that were imported before it: at the last one that they have in common."""
    for each in Session.objects.filter(parent=session, parent_sequence=None):
        if (at := _last_common(session, each, ids_are_global=ids_are_global)) is not None:
            Session.objects.filter(id=each.id).update(parent_sequence=at)


def _last_common(session: Session, branch: Session, *, ids_are_global: bool) -> int | None:
    """Return the last step of the session that the branch has, too, whichever of the two has the copies."""
    copies = branch.actions.filter(copied_from__session=session.key).values_list("copied_from", flat=True)
    ids = [copy["step"] for copy in copies if copy]
    if ids_are_global:
        ids += branch.actions.values_list("client_id", flat=True)
    copied_from_branch = session.actions.filter(copied_from__session=branch.key).order_by("-sequence")
    last = (last_of(session, ids), copied_from_branch.values_list("sequence", flat=True).first())
    return max((each for each in last if each is not None), default=None)


def last_of(session: Session, steps: Sequence[Any]) -> int | None:
    """Return the last of the session's steps that have these ids; what is no text is no id."""
    sequences: list[int] = []
    for some in batched([each for each in steps if isinstance(each, str)], _AT_ONCE, strict=False):
        found = session.actions.filter(client_id__in=some).order_by("-sequence")
        sequences += found.values_list("sequence", flat=True)[:1]
    return max(sequences, default=None)


def _with_same_words(project: Project, draft: SessionDraft) -> set[UUID]:
    """Return the sessions that have an answer or a prompt of the draft. Answers and prompts are found by their indexes."""
    found: set[UUID] = set()
    steps = Action.objects.filter(project=project).order_by()
    for some in batched(draft.actions, _AT_ONCE, strict=False):
        said = [each.id for each in some if each.kind == "message" and each.role == "user"]
        for same in (_is_answer(project, some), Q(kind="message", role="user", client_id__in=said)):
            found.update(steps.filter(same).values_list("session", flat=True))
    return found


def _is_answer(project: Project, drafts: Sequence[ActionDraft]) -> Q:
    """Return the condition for steps with an answer of the drafts, by the index of the ids that a provider gave them."""
    answers = [storable(answer) for each in drafts if (answer := _answer(each))]
    given = (Value(project.id, UUIDField()), Value(answers, ArrayField(TextField())))
    return Q(pk__in=Func(*given, template=_ANSWERED, output_field=BigIntegerField()))


def _copy(action: ActionDraft, original: _Recorded | None) -> ActionDraft:
    if original is None or action.copied_from is not None:
        return action
    return replace(action, copied_from={"session": original.key, "step": original.id})


def _repeated(project: Project, others: QuerySet[Session], draft: SessionDraft) -> dict[str, _Recorded]:
    """Return the recorded step that a step of the draft repeats, by the id of that step."""
    drafts = {each.id: each for each in draft.actions if each.id is not None and each.copied_from is None}
    by_id, by_answer = _candidates(project, others, draft.key, list(drafts.values()))
    calls: dict[str | int | None, _Recorded | None] = {}
    found: dict[str, _Recorded] = {}
    for client_id, action in drafts.items():
        same = by_id.get(client_id, [])
        if action.parent in calls:
            above = calls[action.parent]
            same = [] if above is None else _under(above, same)
        elif answer := _answer(action):
            same = [each for each in by_answer.get(answer, []) if _is_same_answer(action, each, draft.key)]
        else:
            same = [each for each in same if _is_same(action, each)]
        if action.kind == "llm_call":
            calls[client_id] = next(iter(same), None)
        if same:
            found[client_id] = same[0]
    return found | _with_new_ids(others, draft, drafts, found)


def _with_new_ids(
    others: QuerySet[Session],
    draft: SessionDraft,
    drafts: Mapping[str, ActionDraft],
    found: Mapping[str, _Recorded],
) -> dict[str, _Recorded]:
    """Return the repeated steps whose recorded one has another id, by their ids, in sessions with repeated answers.

    What a step says or returns, and the id of its tool's call, are equal. Besides, the time is equal, it has the id of a call, or
    it is before a repeated answer: the copied part of a conversation is its beginning. Each recorded step is repeated once.
    """
    answers = {name for name in found if drafts[name].kind == "llm_call"}
    if not answers:
        return {}
    calls = {name for name, each in drafts.items() if each.kind == "llm_call"}
    names = list(drafts)
    beginning = set(names[: max(at for at, name in enumerate(names) if name in answers)])
    under = {name for name, call in found.items() if call.id is None}
    words = {
        name: _words(each)
        for name, each in drafts.items()
        if name in under or (name not in found and each.parent not in calls and name not in calls)
    }
    recorded = _recorded_words(others.filter(id__in={found[name].session for name in answers}), words)
    repeated = {}
    for name, said in words.items():
        each = drafts[name]
        anywhere = name in beginning or name in under or each.call_id is not None
        same = recorded.get(said, [])
        original = next(
            (
                row
                for row in same
                if (anywhere or row.started_at == each.started_at)
                and (row.key != draft.key or row.id not in drafts)
            ),
            None,
        )
        if original is not None:
            same.remove(original)
            repeated[name] = original
    return repeated


type _Words = tuple[str, str | None, str | None]
"""The kind of a step, the id of its tool's call, and the hash of its output."""


def _words(action: ActionDraft) -> _Words:
    sha256 = None if action.output is None else content_of(action.output).sha256
    return action.kind, action.call_id, sha256


def _recorded_words(
    sessions: QuerySet[Session], words: Mapping[str, _Words]
) -> dict[_Words, list[_Recorded]]:
    """Return the steps of the sessions that have one of these words, by their words. Steps without any are left out."""
    found: dict[_Words, list[_Recorded]] = {}
    steps = Action.objects.filter(session__in=sessions, copied_from__isnull=True)
    for some in batched(set(words.values()), _AT_ONCE, strict=False):
        hashes = [sha256 for _, _, sha256 in some if sha256 is not None]
        calls = [call_id for _, call_id, sha256 in some if call_id is not None and sha256 is None]
        for row in _rows(steps.filter(Q(output__sha256__in=hashes) | Q(kind="tool_call", call_id__in=calls))):
            found.setdefault((row.kind, row.call_id, row.output), []).append(row)
    return found


def _under(call: _Recorded, same: Sequence[_Recorded]) -> list[_Recorded]:
    """Return the steps with the id of a step under a repeated call; the last one is there even if its id is unknown."""
    return [*(each for each in same if each.session == call.session), replace(call, id=None)]


def _candidates(
    project: Project, others: QuerySet[Session], key: str, drafts: Sequence[ActionDraft]
) -> tuple[dict[str, list[_Recorded]], dict[str, list[_Recorded]]]:
    """Return the recorded steps with the ids of the drafts, by these; and those with their answers, by the answers' ids."""
    by_id: dict[str, list[_Recorded]] = {}
    by_answer: dict[str, list[_Recorded]] = {}
    steps = Action.objects.filter(session__in=others, copied_from__isnull=True)
    for some in batched(drafts, _AT_ONCE, strict=False):
        for row in _rows(steps.exclude(session__key=key).filter(client_id__in=[each.id for each in some])):
            by_id.setdefault(str(row.id), []).append(row)
        for row in _rows(steps.filter(_is_answer(project, some))):
            by_answer.setdefault(row.metadata["message_id"], []).append(row)
    return by_id, by_answer


def _rows(steps: QuerySet[Action]) -> Iterator[_Recorded]:
    columns = (
        "session", "session__key", "sequence", "client_id", "kind", "call_id", "started_at", "output__sha256", "metadata",
    )  # fmt: skip
    for session, key, sequence, client_id, kind, call_id, started_at, output, metadata in steps.order_by(
        "session", "sequence"
    ).values_list(*columns):
        yield _Recorded(
            session=session,
            key=key,
            sequence=sequence,
            id=client_id,
            kind=kind,
            call_id=call_id,
            started_at=started_at,
            output=output,
            metadata=metadata or {},
        )


def _answer(action: ActionDraft) -> str | None:
    return (action.metadata or {}).get("message_id") if action.kind == "llm_call" else None


def _is_same_answer(action: ActionDraft, other: _Recorded, key: str) -> bool:
    """Return whether two model calls are one: the request's ids do not differ, and it is not the same step."""
    requests = {(action.metadata or {}).get("request_id"), other.metadata.get("request_id")} - {None}
    return len(requests) <= 1 and (other.key, other.id) != (key, action.id)


def _is_same(action: ActionDraft, other: _Recorded) -> bool:
    output = None if action.output is None else content_of(action.output).sha256
    return (action.kind, action.started_at, output) == (other.kind, other.started_at, other.output)


def _relatives(others: QuerySet[Session], keys: Collection[str]) -> QuerySet[Session]:
    """Return the sessions with these keys, and those with copies of their steps, in the order in which they were imported."""
    copying = Action.objects.filter(session__in=others, copied_from__session__in=list(keys))
    return others.filter(Q(key__in=keys) | Q(id__in=copying.values("session"))).order_by("created_at", "id")


def _rank(
    mine: Mapping[str, datetime | None], theirs: Mapping[str, datetime | None]
) -> tuple[int, bool] | None:
    """Return how well a session continues another one, None if it does not: by the number of steps that they have in common,
    and then by whether the other one ended with these.

    A session that went on itself is continued only if its own steps began earlier.
    """
    common = mine.keys() & theirs.keys()
    own = [time for step, time in mine.items() if step not in common and time]
    others = [time for step, time in theirs.items() if step not in common and time]
    has_ended = mine.keys() >= theirs.keys()
    if not common or not (has_ended or (own and others and min(own) >= min(others))):
        return None
    return len(common), has_ended


def _times(draft: SessionDraft) -> dict[str, datetime | None]:
    """Return when each step of the conversation happened, by its id or that of the step that it was copied from."""
    made = (each for each in draft.actions if each.kind in _SAID)
    return {step: each.started_at for each in made if (step := _original(each.copied_from, each.id))}


def _times_in(session: Session) -> dict[str, datetime | None]:
    rows = session.actions.filter(kind__in=_SAID).values_list("copied_from", "client_id", "started_at")
    return {step: at for copied, name, at in rows if (step := _original(copied, name))}


def _original(copied_from: Mapping[str, Any] | None, client_id: str | None) -> str | None:
    """Return the id with which a step happened, None if it is unknown."""
    return client_id if copied_from is None else copied_from["step"]
