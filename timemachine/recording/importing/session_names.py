"""Cut the names of a file's sessions to the allowed length."""

from dataclasses import replace

from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.sessions.pure.validation import LONGEST_WORD


def cut_to_limit(found: ParsedFile) -> ParsedFile:
    """Return the sessions with names, agents, users and tags within the limit; the report counts the sessions that changed."""
    sessions = tuple(_within(session) for session in found.sessions)
    cut = sum(1 for before, after in zip(found.sessions, sessions, strict=True) if before != after)
    if not cut:
        return found
    note = f"A name, agent, user or tag of {counted(cut, 'session')} was cut to {LONGEST_WORD:,} characters."
    return replace(found, sessions=sessions, report=replace(found.report, notes=(*found.report.notes, note)))


def _within(session: SessionDraft) -> SessionDraft:
    texts = {name: getattr(session, name) for name in ("name", "agent", "user")}
    long = {name: text[:LONGEST_WORD] for name, text in texts.items() if text and len(text) > LONGEST_WORD}
    tags = tuple(tag[:LONGEST_WORD] for tag in session.tags)
    return session if not long and tags == session.tags else replace(session, **long, tags=tags)
