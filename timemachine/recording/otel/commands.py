"""Spans become actions: of the session that they name, else of the one that their trace names, else of the trace's own.

Spans come in any order, in any number of requests, and again: each is one action under its own id. Where a trace names its session
late (a root span ends, and is sent, last), what it had recorded before moves there.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected

from timemachine.core.accounts.models import Project
from timemachine.core.pure.content import content_of
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, Unavailable
from timemachine.llm.prices import price_if_known
from timemachine.recording.otel.batching import Together
from timemachine.recording.otel.models import Trace
from timemachine.recording.otel.moving import move
from timemachine.recording.otel.pure import session_identity
from timemachine.recording.otel.pure.decoding import Refused
from timemachine.recording.otel.pure.drafts import again, draft_of, moment
from timemachine.recording.otel.pure.span import Span
from timemachine.recording.otel.session_attributes import describe, keep_erasure_away
from timemachine.recording.otel.trace_rows import enter
from timemachine.recording.sessions import action_rows
from timemachine.recording.sessions.commands import append_new, known_ids, locked, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.prepared_rows import columns, rows_of
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure import validation
from timemachine.recording.sessions.pure.draft import ActionDraft

_OF_KEYS = f"SELECT {columns(Session)} FROM tm_session WHERE project_id = %(project)s AND key = ANY(%(keys)s)"  # noqa: S608  # names of columns
SMALL = 50
"""Requests with at most so many spans share a transaction with others of their sender that come at the same time."""
MOST_TRIES = 3
NAMED_OTHERWISE = "otlp"
"""How the key of a session begins whose recorded name cannot be a key."""


type Known = dict[str, tuple[int, str | None]]
"""Actions of a session by their client id: the sequence of each, and the SHA-256 of its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of the spans of a request: how many stand recorded, new or before, and which were refused."""

    recorded: int
    refused: tuple[Refused, ...]


class _Item(NamedTuple):
    """A span that can be recorded: whose it is, and as what."""

    project: Project
    by: str
    span: Span
    draft: ActionDraft


def take(project: Project, found: Iterable[Span | Refused], *, by: str) -> Taken:
    """Record spans, all that can be recorded or none; durable when it returns. Raises `Unavailable` where others are in the way."""
    items: list[_Item] = []
    refused: list[Refused] = []
    for each in found:
        if isinstance(each, Refused):
            refused.append(each)
            continue
        try:
            items.append(_Item(project, by, each, _checked(draft_of(each), large=_is_large(each))))
        except InvalidInput as why:
            refused.append(Refused(span=each.id, reason=why.message))
    if len(items) > SMALL or (items and connection.in_atomic_block):
        _tried(items)
    elif items:
        with _one_at_a_time:
            together = _together.setdefault(
                (project.id, by), Together(_tried, before_waiting=_give_connection_back)
            )
        together.do(items)
    return Taken(recorded=len(items), refused=tuple(refused))


def _tried(items: Sequence[_Item]) -> None:
    """Record them, and again where a session went meanwhile, or two requests were in each other's way."""
    for last in (False,) * (MOST_TRIES - 1) + (True,):
        try:
            recorded = _record_all(items)
        except (NotFound, OperationalError) as why:
            in_the_way = isinstance(why, NotFound) or isinstance(why.__cause__, DeadlockDetected)
            if not in_the_way or connection.in_atomic_block:
                raise
            if last:
                raise Unavailable(
                    "These spans and a change of their sessions were in each other's way; send them again.",
                    code="busy",
                    retry_after_seconds=1,
                ) from why
        else:
            for session, spans in recorded:
                _describe(session, spans)
            return


@transaction.atomic
def _record_all(items: Sequence[_Item]) -> list[tuple[Session, list[Span]]]:
    """Record them, all of one sender; the sessions with what each got."""
    drafts = {id(item.span): item.draft for item in items}
    recorded = _at_home(items[0].project, [item.span for item in items], items[0].by)
    _record([(session, [drafts[id(span)] for span in spans]) for session, spans in recorded])
    return recorded


def _give_connection_back() -> None:
    connection.close()  # each thread has its own


_together: dict[tuple[UUID, str], Together[_Item]] = {}
"""By the sender: each transaction takes its locks in one order, which those of two senders one after the other would not."""
_one_at_a_time = Lock()


def _checked(draft: ActionDraft, *, large: bool) -> ActionDraft:
    validation.check_action(draft)
    if large:
        action_rows.held(draft, settings.MAX_ACTION_BYTES)
    return draft


def _is_large(span: Span) -> bool:
    """Whether it might be over the limit: a character has six bytes at most, as JSON, and may stand there twice."""
    nested = any(isinstance(found, list | dict) for found in span.attributes.values())
    letters = sum(len(found) for found in span.attributes.values() if isinstance(found, str))
    letters += sum(map(len, span.attributes)) + len(span.name) + len(span.status_message)
    return nested or bool(span.events) or letters > settings.MAX_ACTION_BYTES // 12


def _at_home(project: Project, spans: Sequence[Span], by: str) -> list[tuple[Session, list[Span]]]:
    """The spans by the session that each belongs to; sessions in the order in which all writers lock them."""
    named = {id(span): _key(name) for span in spans if (name := session_identity.session_of(span))}
    sessions = _sessions(project, set(named.values()), by)
    traces = _by_trace(spans)
    firsts = {
        trace: next((sessions[named[id(span)]] for span in its if id(span) in named), None)
        for trace, its in traces.items()
    }
    homes: dict[UUID, tuple[Session, list[Span]]] = {}
    for trace, default in _homes(project, firsts, by).items():
        for span in traces[trace]:
            session = sessions[named[id(span)]] if id(span) in named else default
            homes.setdefault(session.id, (session, []))[1].append(span)
    return [homes[each] for each in sorted(homes)]


def _by_trace(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """The spans of each trace in the order in which they began, parents before children that began with them."""
    traces: defaultdict[str, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: (span.began, -span.ended)):
        traces[span.trace].append(span)
    return traces


def _sessions(project: Project, keys: Iterable[str], by: str) -> dict[str, Session]:
    """The project's sessions of these keys; those that are not there are started, in one order everywhere."""
    found, missing = _found(project, keys)
    return found | {key: _started(project, key, by)[0] for key in missing}


def _found(project: Project, keys: Iterable[str]) -> tuple[dict[str, Session], list[str]]:
    """The sessions of these keys, and the keys that no session has, in one order everywhere."""
    wanted = sorted(keys)
    if not wanted:
        return {}, []
    found = {each.key: each for each in rows_of(Session, _OF_KEYS, {"project": project.id, "keys": wanted})}
    return found, [key for key in wanted if key not in found]


def _started(project: Project, key: str, by: str) -> tuple[Session, bool]:
    """The session, and whether it was started here."""
    try:
        return start_session(project, name=key, key=key, by=by), True
    except Conflict:  # another request started it meanwhile
        return Session.objects.get(project=project, key=key), False


def _homes(project: Project, firsts: Mapping[str, Session | None], by: str) -> dict[str, Session]:
    """The session of each trace's spans that name none; `firsts` are the sessions that the spans of this request name first.

    Two requests with spans of one trace go one after the other.
    """
    fresh = enter(project.id, {trace: first.id if first else None for trace, first in firsts.items()})
    homes = {trace: first for trace, first in firsts.items() if trace in fresh and first is not None}
    rest = set(firsts) - set(homes)
    keep_erasure_away(project, exclusively=_may_move(project, rest, firsts))
    known = _locked(project, rest)
    for trace, row in known.items():
        if row.session is not None:
            homes[trace] = _home(row, row.session, firsts[trace], by)
    homeless = {trace: row for trace, row in known.items() if row.session is None}
    return homes | _settled(project, homeless, firsts, by)


def _may_move(project: Project, traces: set[str], firsts: Mapping[str, Session | None]) -> bool:
    """Whether one of the traces had a session of its own, and names another now."""
    named = [trace for trace in traces if firsts[trace] is not None]
    return (
        bool(named)
        and Trace.objects.filter(project=project, trace__in=named, own=True, session__isnull=False).exists()
    )


def _locked(project: Project, traces: set[str]) -> dict[str, Trace]:
    if not traces:
        return {}
    found = Trace.objects.filter(project=project, trace__in=traces).select_related("session")
    rows = {row.trace: row for row in found.select_for_update(of=("self",)).order_by("trace")}
    if set(rows) != traces:  # its session was erased between entering and locking
        raise NotFound("A session of these traces was deleted meanwhile.", code="session_not_found")
    return rows


def _settled(
    project: Project, traces: Mapping[str, Trace], firsts: Mapping[str, Session | None], by: str
) -> dict[str, Session]:
    """Give traces without a session the one that they name, or one of their own; one that was there before is not their own."""
    unnamed = [trace for trace in sorted(traces) if firsts[trace] is None]
    found, missing = _found(project, map(_key, unnamed))
    started = {key: _started(project, key, by) for key in missing}
    homes: dict[str, Session] = {}
    for trace, row in traces.items():
        key, named = _key(trace), firsts[trace]
        session, own = (named, False) if named else started.get(key) or (found[key], False)
        row.own, row.session = own, session
        homes[trace] = session
    Trace.objects.bulk_update(traces.values(), ["session", "own"])
    return homes


def _home(trace: Trace, before: Session, named: Session | None, by: str) -> Session:
    if named is None or not trace.own or before == named:
        return before
    return named if move(trace, before, named, by=by) else before


def _key(name: str) -> str:
    return validation.key_of(name, NAMED_OTHERWISE)


def _record(some: Sequence[tuple[Session, Sequence[ActionDraft]]]) -> None:
    here = locked([session.id for session, _ in some])
    known = _known((session, draft.id) for session, drafts in some for draft in drafts)
    new = [(here[session.id], _lacking(session, drafts, known[session.id])) for session, drafts in some]
    append_new((session, priced(drafts, price_if_known)) for session, drafts in new)


def _describe(session: Session, spans: Sequence[Span]) -> None:
    """Let the session say what these spans say of it and it did not know before: whose it is, what it is called, when it began.

    In a transaction of its own: it locks more than recording does.
    """
    root = session_identity.root_of(spans)
    began = min((at for span in spans if (at := moment(span.began))), default=None)
    describe(
        session,
        agent=session_identity.agent_named(spans),
        user=session_identity.user_named(spans),
        began=began,
        name=(root.name if root else None) or None,
    )


def _known(asked: Iterable[tuple[Session, str | None]]) -> defaultdict[UUID, Known]:
    """Which of these ids each session has."""
    found: defaultdict[UUID, Known] = defaultdict(dict)
    for (session, client_id), at in known_ids([(session.id, str(name)) for session, name in asked]).items():
        found[session][client_id] = at
    return found


def _lacking(session: Session, drafts: Sequence[ActionDraft], known: Known) -> list[ActionDraft]:
    """Those that the session does not have. One whose span stands here already with other words becomes an event of its own beside it, so
    that nothing is lost; what was erased of an action does not come back with its span.
    """
    if not known and len({draft.id for draft in drafts}) == len(drafts):
        return list(drafts)
    gone = _erased(session, known)
    sources = {client_id: source for client_id, (_, source) in known.items()}
    new: dict[str, ActionDraft] = {}
    others: dict[str, ActionDraft] = {}
    for draft in drafts:
        name = str(draft.id)
        if name in gone:
            continue
        sha256 = content_of(draft.source).sha256
        if sources.setdefault(name, sha256) != sha256:
            other = again(draft, sha256)
            others.setdefault(str(other.id), other)
        elif name not in known:
            new.setdefault(name, draft)
    before = _known((session, name) for name in others)[session.id]
    return [*new.values(), *(other for name, other in others.items() if name not in before)]


def _erased(session: Session, known: Known) -> set[str]:
    """Which of these actions something was erased of."""
    rows = session.erased_fields.filter(sequence__in=[at for at, _ in known.values()])
    erased = set(rows.values_list("sequence", flat=True))
    return {name for name, (at, _) in known.items() if at in erased}
