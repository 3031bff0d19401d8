"""What spans say of their session itself, as far as nobody has signed what it was."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.postgres_text import storable
from timemachine.knowledge import prepared_statements
from timemachine.recording.sessions.locks import keep_from_sealing
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.validation import LONGEST_WORD

# a chosen name stays; the head of a session that was sealed, in part or whole, is never changed
_DESCRIBE = """
UPDATE tm_session AS s SET
    agent = coalesce(s.agent, %(agent)s), "user" = coalesce(s."user", %(user)s),
    started_at = least(s.started_at, %(began)s), name = CASE WHEN s.name = s.key THEN coalesce(%(name)s, s.name) ELSE s.name END
WHERE s.id = %(id)s AND NOT EXISTS (SELECT FROM tm_seal WHERE session_id = s.id)
"""


def keep_erasure_away(project: Project, *, exclusively: bool) -> None:
    """Nothing of the project is erased or moved until this transaction ends; `exclusively` where this one is to move something."""
    rows = Project.objects.filter(pk=project.pk)
    if exclusively:
        rows.select_for_update(no_key=True).get()
    else:
        prepared_statements.ask("SELECT FROM tm_project WHERE id = %(id)s FOR SHARE", {"id": project.pk})


def describe(
    session: Session, *, agent: str | None, user: str | None, began: datetime | None, name: str | None
) -> None:
    """Set what the session did not know: its agent, its user, an earlier begin, and a name where it has only its key."""
    news = (
        (agent is not None and session.agent is None)
        or (user is not None and session.user is None)
        or (began is not None and began < session.started_at)
        or (name is not None and session.name == session.key)
    )
    if news:
        texts = {"agent": agent, "user": user, "name": name}
        facts = {
            field: value if value is None else storable(value[:LONGEST_WORD])
            for field, value in texts.items()
        }
        _describe(session, {**facts, "began": began, "id": session.id})


@transaction.atomic
def _describe(session: Session, facts: Mapping[str, Any]) -> None:
    keep_from_sealing(session)
    with connection.cursor() as cursor:
        cursor.execute(_DESCRIBE, dict(facts))
