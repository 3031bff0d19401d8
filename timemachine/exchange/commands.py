"""Importing: a file of another tool becomes sessions, all of it or none, and a report that accounts for every line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.errors import Conflict
from timemachine.exchange.claude_code_calls import CACHED_FOR_AN_HOUR
from timemachine.exchange.formats import read, recognise
from timemachine.exchange.report import ImportReport, SessionDraft
from timemachine.providers.catalogue import ModelName
from timemachine.providers.completion import TokenUsage
from timemachine.providers.prices import price
from timemachine.recording.changes import end_later
from timemachine.recording.commands import MOST_ACTIONS, append, end_session, start_session
from timemachine.recording.draft import ActionDraft
from timemachine.recording.models import Session
from timemachine.recording.validation import COST_DIGITS


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """A session of the file: how many actions the file has for it, and how many of them stood here already."""

    session: Session
    actions: int
    already_there: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDone:
    """What an import came to."""

    sessions: tuple[ImportedSession, ...]
    report: ImportReport


def import_file(
    project: Project, data: bytes, *, by: str, format_name: str | None = None, filename: str | None = None
) -> ImportDone:
    """Import a file. The same file again adds nothing; one that has grown adds what is new.

    Raises `InvalidInput` for a file that is no transcript or an unknown format, `Conflict` where one of its sessions has the
    key of a session that was not imported; nothing is kept then.
    """
    chosen = format_name or recognise(data, filename)
    found = read(data, chosen, filename)
    with transaction.atomic():
        sessions = tuple(_import_session(project, draft, chosen, by) for draft in found.sessions)
    return ImportDone(sessions=sessions, report=found.report)


def _import_session(project: Project, draft: SessionDraft, format_name: str, by: str) -> ImportedSession:
    session = Session.objects.filter(project=project, key=draft.key).first() or _start(
        project, draft, format_name, by
    )
    if session.imported_as is None:
        raise Conflict(
            f"A session with the key {draft.key!r} was recorded here; it cannot be imported over.",
            code="key_taken",
        )
    before = session.last_sequence
    for start in range(0, len(draft.actions), MOST_ACTIONS):
        append(session.id, _priced(draft.actions[start : start + MOST_ACTIONS]), imported=True)
    ended = end_session(session.id, at=draft.ended_at)
    if draft.ended_at is not None:
        ended = end_later(ended, draft.ended_at)
    added = ended.last_sequence - before
    return ImportedSession(
        session=ended, actions=len(draft.actions), already_there=len(draft.actions) - added
    )


def _start(project: Project, draft: SessionDraft, format_name: str, by: str) -> Session:
    return start_session(
        project,
        name=draft.name,
        key=draft.key,
        agent=draft.agent,
        user=draft.user,
        metadata=draft.metadata,
        tags=draft.tags,
        started_at=draft.started_at,
        by=by,
        imported_as=format_name,
    )


def _priced(drafts: Sequence[ActionDraft]) -> list[ActionDraft]:
    """The drafts with what their model calls cost, by the prices of their day, where these are known."""
    return [
        _with_price(draft) if draft.cost_usd is None and draft.model and draft.usage else draft
        for draft in drafts
    ]


def _with_price(draft: ActionDraft) -> ActionDraft:
    provider, _, model = (draft.model or "").partition(":")
    priced = price(ModelName(provider=provider, model=model), _tokens(draft), draft.started_at or now())
    cost = None if priced.cost_usd is None else round(priced.cost_usd, COST_DIGITS)
    return replace(draft, cost_usd=cost, prices=priced.prices)


def _tokens(draft: ActionDraft) -> TokenUsage | None:
    usage = draft.usage
    if usage is None:
        return None
    for_an_hour = (draft.parameters or {}).get(CACHED_FOR_AN_HOUR)
    return TokenUsage(
        **{name: getattr(usage, name) for name in usage.__slots__}, cache_write_1h_tokens=for_an_hour
    )
