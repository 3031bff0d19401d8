"""The picture of a shared session: its steps by agent and kind, when they happened and what they cost.

A redaction profile withholds neither kinds nor times nor costs, but names of agents. No link names who used a key.
"""

from dataclasses import replace

from django.db.models import QuerySet

from timemachine.governance.sharing.pure.link_rules import is_maker
from timemachine.governance.sharing.redactor import Redactor
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.pieces import MOST_COUNTED, StepRange, pieces_of, session_picture
from timemachine.recording.timeline.pure.picture import AxisName, Picture, Piece, picture
from timemachine.recording.usage.models import BIN
from timemachine.text.redaction.pure.marks import FIELD, mark


def shared_picture(
    session: Session, actions: QuerySet[Action], last: int, axis: AxisName, redactor: Redactor
) -> Picture | None:
    """Return the picture of the actions, all up to the `last`; None without any, or without times for a time axis.

    One query. Many steps are drawn in hundreds, which have no agents, and none that the link does not show completely:
    at most two queries.
    """
    complete = last // BIN * BIN
    if complete > MOST_COUNTED:
        return session_picture(session, axis, StepRange(first=1, last=complete))
    agent = redactor.session({"agent": session.agent})["agent"] or ""
    pieces = pieces_of(actions, StepRange(first=1, last=last), agent)
    return picture(_redacted(pieces, redactor), axis, 1, last)


def _redacted(pieces: list[Piece], redactor: Redactor) -> list[Piece]:
    """Return the pieces with the names that a step of the link would show: of agents, and not of who used a key."""
    shown = {
        each: redactor.document({"agent": each})["agent"] if each else each
        for each in {p.agent for p in pieces}
    }
    return [
        replace(each, agent=mark(FIELD) if is_maker(each.kind, each.agent) else shown[each.agent])
        for each in pieces
    ]
