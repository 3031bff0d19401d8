"""Sessions that are sealed and compared, and the results."""

from timemachine.core.accounts.models import Project
from timemachine.evidence import commands
from timemachine.evidence.models import Seal, SealCheck
from timemachine.evidence.sealing import seals
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def message(text: str) -> ActionDraft:
    return ActionDraft(kind="message", role="user", output=text)


def long_session(project: Project, actions: int) -> Session:
    session = start_session(project, name="long", by="test")
    for first in range(0, actions, 1_000):
        append(session.id, [message(f"turn {n}") for n in range(first, min(first + 1_000, actions))])
    session.refresh_from_db()
    return session


def checked(session: Session) -> list[dict[str, object]]:
    seals.seal_session(session.id)
    done = compared_with_its_seal(session)
    assert done.records >= session.last_sequence
    return list(done.problems)


def compared_with_its_seal(session: Session) -> SealCheck:
    done = commands.run_check(commands.request_check(Seal.objects.get(session=session), by="test").id)
    assert done is not None
    return done
