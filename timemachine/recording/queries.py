"""Finding sessions and their actions, always from the project that asks."""

import re
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from timemachine.accounts.models import Project
from timemachine.base.errors import NotFound
from timemachine.base.ids import uuid_of
from timemachine.base.numbers import whole_number
from timemachine.recording.models import KEY_PATTERN, Action, Session

KEY: Final = re.compile(KEY_PATTERN)


def session_of(project: Project, id_or_key: str | UUID) -> Session:
    """The project's session of that uuid or key. Raises `NotFound`, the same for another project's."""
    sessions = Session.objects.filter(project=project).select_related("collection", "parent")
    wanted = uuid_of(str(id_or_key))
    found = None if wanted is None else sessions.filter(id=wanted).first()
    if found is None and KEY.fullmatch(str(id_or_key)):
        found = sessions.filter(key=str(id_or_key)).first()
    if found is None:
        raise NotFound(
            f"There is no session {str(id_or_key)[:80]!r} in this project; the list of sessions shows those there are.",
            code="session_not_found",
        )
    return found


def action_of(session: Session, sequence: int) -> Action:
    """The session's action with that sequence. Raises `NotFound`."""
    found = actions_of(session).filter(sequence=sequence).first() if sequence < 2**63 else None
    if found is None:
        raise NotFound(
            f"The session {session.key} has no step {sequence}; it has steps 1 to {session.last_sequence}.",
            code="step_not_found",
        )
    return found


def actions_of(session: Session) -> QuerySet[Action]:
    """The session's actions with their payloads, in their order."""
    return (
        Action.objects.filter(session=session)
        .select_related("input", "output", "source")
        .order_by("sequence")
    )


def checkpoint_of(session: Session, name: int | str | None) -> Action:
    """The session's checkpoint of that sequence or name; the last one where none is named. Raises `NotFound`."""
    found = actions_of(session).filter(kind="checkpoint").order_by("-sequence")
    if name is not None:
        number = whole_number(str(name))
        by_name = Q(name=str(name))
        found = found.filter(by_name if number is None else by_name | Q(sequence=number))
    checkpoint = found.first()
    if checkpoint is None:
        raise NotFound(
            f"The session {session.key} has no checkpoint{'' if name is None else f' {str(name)[:80]!r}'}.",
            code="checkpoint_not_found",
        )
    return checkpoint
