"""Record spans, and log records as spans, as actions of the session that they name, else of the session their trace names, else of one for the
trace.

Spans arrive in any order, in any number of requests, and repeatedly: each is one action under its own id. If a trace
names its session late (a root span ends, and is sent, last), its recorded actions move to that session.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import OperationalError, connection, connections, transaction
from psycopg.errors import DeadlockDetected

from timemachine.core.accounts.models import Project
from timemachine.core.pure.content import content_of
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, Unavailable
from timemachine.llm.prices import recorded_price_if_known
from timemachine.recording.otel.batching import RequestBatcher
from timemachine.recording.otel.messages import add_messages
from timemachine.recording.otel.models import Trace
from timemachine.recording.otel.moving import move_actions
from timemachine.recording.otel.pure import session_identity
from timemachine.recording.otel.pure.decoding import Refused
from timemachine.recording.otel.pure.drafts import draft_of, moment, resent_event
from timemachine.recording.otel.pure.span import Span
from timemachine.recording.otel.pure.sums import counted_once
from timemachine.recording.otel.sql import describe_session, insert_traces, lock_project
from timemachine.recording.otel.sums import settle_sums
from timemachine.recording.sessions import action_rows
from timemachine.recording.sessions.commands import append_new, known_ids, locked, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.prepared_rows import columns, rows_of
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure import validation
from timemachine.recording.sessions.pure.draft import ActionDraft

_OF_KEYS = f"SELECT {columns(Session)} FROM tm_session WHERE project_id = %(project)s AND key = ANY(%(keys)s)"  # noqa: S608  # names of columns
SMALL = 50
"""Requests with at most this many spans share a transaction with concurrent requests of the same sender."""
MOST_TRIES = 3
KEY_PREFIX = "otlp"
"""Prefix of the key of a session whose recorded name cannot be a key."""


type Known = dict[str, tuple[int, str | None]]
"""Actions of a session by client id: the sequence of each, and the SHA-256 of its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedSpans:
    """The result of a request: how many spans are recorded, now or before, and which were refused."""

    recorded: int
    refused: tuple[Refused, ...]


class _Item(NamedTuple):
    """A span that can be recorded: its project, its sender, and its action."""

    project: Project
    by: str
    span: Span
    draft: ActionDraft


def record_spans(project: Project, found: Iterable[Span | Refused], *, by: str) -> ReceivedSpans:
    """Record all spans that are valid, or none. They are durable when this returns.

    Raises `Unavailable` if other changes of the same sessions are in the way.
    """
    items: list[_Item] = []
    refused: list[Refused] = []
    for each in found:
        if isinstance(each, Refused):
            refused.append(each)
            continue
        try:
            draft = draft_of(each)
            validation.check_action(draft)
            if _is_large(each):
                action_rows.contents_of(draft, settings.MAX_ACTION_BYTES)
            items.append(_Item(project, by, each, draft))
        except InvalidInput as why:
            refused.append(Refused(span=each.id, reason=why.message))
    if len(items) > SMALL or (items and connection.in_atomic_block):
        _record_with_retries(items)
    elif items:
        with _batchers_lock:
            batcher = _batchers.setdefault(
                (project.id, by), RequestBatcher(_record_with_retries, before_waiting=connections.close_all)
            )
        batcher.run(items)
    return ReceivedSpans(recorded=len(items), refused=tuple(refused))


def _record_with_retries(items: Sequence[_Item]) -> None:
    """Record the items, and retry if a session was deleted meanwhile or two requests deadlocked."""
    for last in (False,) * (MOST_TRIES - 1) + (True,):
        try:
            recorded = _record_all(items)
        except (NotFound, OperationalError) as why:
            in_the_way = isinstance(why, NotFound) or isinstance(why.__cause__, DeadlockDetected)
            if not in_the_way or connection.in_atomic_block:
                raise
            if last:
                raise Unavailable(
                    "The sessions of these spans are being changed. Send the spans again.",
                    code="busy",
                    retry_after_seconds=1,
                ) from why
        else:
            for session, spans in recorded:
                _describe(session, spans)
            return


@transaction.atomic
def _record_all(items: Sequence[_Item]) -> list[tuple[Session, list[Span]]]:
    """Record the items of one sender; return the sessions, each with its spans."""
    once = counted_once([item.draft for item in items])
    drafts = {id(item.span): draft for item, draft in zip(items, once, strict=True)}
    recorded = _by_session(items[0].project, [item.span for item in items], items[0].by)
    sessions = locked([session.id for session, _ in recorded])
    known = _known((session, drafts[id(span)].id) for session, spans in recorded for span in spans)
    new = {
        session.id: _new_drafts(session, [drafts[id(span)] for span in spans], known[session.id])
        for session, spans in recorded
    }
    empty = {key for key, session in sessions.items() if not session.last_sequence}
    new = add_messages(new, empty=empty)
    new = settle_sums({key: priced(some, recorded_price_if_known) for key, some in new.items()}, empty=empty)
    append_new((sessions[key], some) for key, some in new.items())
    return recorded


_batchers: dict[tuple[UUID, str], RequestBatcher[_Item]] = {}
"""One batcher per sender: a transaction takes its locks in one order, which the items of two senders would break."""
_batchers_lock = Lock()


def _is_large(span: Span) -> bool:
    """Return whether the action might exceed the limit: a character takes up to six bytes as JSON and may be stored twice."""
    nested = any(isinstance(found, list | dict) for found in span.attributes.values())
    letters = sum(len(found) for found in span.attributes.values() if isinstance(found, str))
    letters += sum(map(len, span.attributes)) + len(span.name) + len(span.status_message)
    return nested or bool(span.events) or letters > settings.MAX_ACTION_BYTES // 12


def _by_session(project: Project, spans: Sequence[Span], by: str) -> list[tuple[Session, list[Span]]]:
    """Return the spans by session, in the order in which all writers lock sessions."""
    named = {id(span): _key(name) for span in spans if (name := session_identity.session_named(span))}
    existing, missing = _existing_sessions(project, set(named.values()))
    sessions = existing | {key: _started(project, key, by)[0] for key in missing}
    traces: defaultdict[str, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: span.order):
        traces[span.trace].append(span)
    named_first = {
        trace: next((sessions[named[id(span)]] for span in its if id(span) in named), None)
        for trace, its in traces.items()
    }
    by_session: dict[UUID, tuple[Session, list[Span]]] = {}
    for trace, default in _sessions_of_traces(project, named_first, by).items():
        for span in traces[trace]:
            session = sessions[named[id(span)]] if id(span) in named else default
            by_session.setdefault(session.id, (session, []))[1].append(span)
    return [by_session[each] for each in sorted(by_session)]


def _existing_sessions(project: Project, keys: Iterable[str]) -> tuple[dict[str, Session], list[str]]:
    """Return the sessions with these keys, and the keys without a session, sorted so that all start them in the same order."""
    ordered = sorted(keys)
    if not ordered:
        return {}, []
    found = {each.key: each for each in rows_of(Session, _OF_KEYS, {"project": project.id, "keys": ordered})}
    return found, [key for key in ordered if key not in found]


def _started(project: Project, key: str, by: str) -> tuple[Session, bool]:
    """Return the session, and whether this call started it."""
    try:
        return start_session(project, name=key, key=key, by=by), True
    except Conflict:  # another request started it in the meantime
        return Session.objects.get(project=project, key=key), False


def _sessions_of_traces(
    project: Project, named_first: Mapping[str, Session | None], by: str
) -> dict[str, Session]:
    """Return the session for each trace's unnamed spans. `named_first` are the sessions that this request's spans name
    first.

    Two requests with spans of the same trace run one after the other.
    """
    fresh = insert_traces(
        project.id, {trace: first.id if first else None for trace, first in named_first.items()}
    )
    sessions = {trace: first for trace, first in named_first.items() if trace in fresh and first is not None}
    rest = set(named_first) - set(sessions)
    lock_project(project, exclusively=_may_move(project, rest, named_first))
    known = _locked(project, rest)
    for trace, row in known.items():
        if row.session is not None:
            sessions[trace] = _session_of_trace(row, row.session, named_first[trace], by)
    unassigned = {trace: row for trace, row in known.items() if row.session is None}
    return sessions | _assigned(project, unassigned, named_first, by)


def _may_move(project: Project, traces: set[str], named_first: Mapping[str, Session | None]) -> bool:
    """Return whether one of the traces had a session of its own and now names another one."""
    named = [trace for trace in traces if named_first[trace] is not None]
    return (
        bool(named)
        and Trace.objects.filter(project=project, trace__in=named, own=True, session__isnull=False).exists()
    )


def _locked(project: Project, traces: set[str]) -> dict[str, Trace]:
    if not traces:
        return {}
    found = Trace.objects.filter(project=project, trace__in=traces).select_related("session")
    rows = {row.trace: row for row in found.select_for_update(of=("self",)).order_by("trace")}
    if set(rows) != traces:  # its session was erased after the trace was inserted
        raise NotFound("A session of these traces was deleted in the meantime.", code="session_not_found")
    return rows


def _assigned(
    project: Project, traces: Mapping[str, Trace], named_first: Mapping[str, Session | None], by: str
) -> dict[str, Session]:
    """Assign traces without a session the one that they name, or one of their own. A session that existed before is not
    their own."""
    unnamed = [trace for trace in sorted(traces) if named_first[trace] is None]
    found, missing = _existing_sessions(project, map(_key, unnamed))
    started = {key: _started(project, key, by) for key in missing}
    sessions: dict[str, Session] = {}
    for trace, row in traces.items():
        key, named = _key(trace), named_first[trace]
        session, own = (named, False) if named else started.get(key) or (found[key], False)
        row.own, row.session = own, session
        sessions[trace] = session
    Trace.objects.bulk_update(traces.values(), ["session", "own"])
    return sessions


def _session_of_trace(trace: Trace, before: Session, named: Session | None, by: str) -> Session:
    if named is None or not trace.own or before == named:
        return before
    return named if move_actions(trace, before, named, by=by) else before


def _key(name: str) -> str:
    return validation.key_of(name, KEY_PREFIX)


def _describe(session: Session, spans: Sequence[Span]) -> None:
    """Add to the session what its spans say about it: agent, user, name and start time.

    In a transaction of its own, because it takes more locks than recording does.
    """
    root = session_identity.root_of(spans)
    began = min((at for span in spans if (at := moment(span.began))), default=None)
    describe_session(
        session,
        agent=session_identity.agent_named(spans),
        user=session_identity.user_named(spans),
        began=began,
        name=(root.name if root else None) or None,
    )


def _known(ids: Iterable[tuple[Session, str | None]]) -> defaultdict[UUID, Known]:
    found: defaultdict[UUID, Known] = defaultdict(dict)
    for (session, client_id), at in known_ids([(session.id, str(name)) for session, name in ids]).items():
        found[session][client_id] = at
    return found


def _new_drafts(session: Session, drafts: Sequence[ActionDraft], known: Known) -> list[ActionDraft]:
    """Return the drafts that the session does not have.

    A span that is already recorded with other content becomes an additional event, so that nothing is lost. If
    something of an action was erased, its span is not recorded again.
    """
    if not known and len({draft.id for draft in drafts}) == len(drafts):
        return list(drafts)
    erased = set(
        session.erased_fields.filter(sequence__in=[at for at, _ in known.values()]).values_list(
            "sequence", flat=True
        )
    )
    sources = {client_id: source for client_id, (_, source) in known.items()}
    new: dict[str, ActionDraft] = {}
    others: dict[str, ActionDraft] = {}
    for draft in drafts:
        name = str(draft.id)
        if name in known and known[name][0] in erased:
            continue
        sha256 = content_of(draft.source).sha256
        if sources.setdefault(name, sha256) != sha256:
            other = resent_event(draft, sha256)
            others.setdefault(str(other.id), other)
        elif name not in known:
            new.setdefault(name, draft)
    before = _known((session, name) for name in others)[session.id]
    return [*new.values(), *(other for name, other in others.items() if name not in before)]
