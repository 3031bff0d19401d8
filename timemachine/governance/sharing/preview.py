"""What a link would show and withhold, before it is created."""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final
from uuid import UUID

from django.db import transaction

from timemachine.core.payloads import queries as payloads
from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.sharing.boundaries import counted_actions, counted_steps
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.link_rules import rules_of
from timemachine.governance.sharing.read_models.links import SharedSession
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.schemas.actions import ActionOut, with_everything
from timemachine.replay.comparison.queries import sessions_of
from timemachine.text.redaction.pure.marks import OPENING
from timemachine.text.redaction.pure.profile import BUILT_IN
from timemachine.text.redaction.pure.projection import redact_action, redact_session
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.values import Tally, excerpts, redact_value
from timemachine.text.redaction.schemas import counts_of

logger = logging.getLogger(__name__)
MOST_STEPS: Final = 500
MOST_BYTES: Final = 8 << 20
MOST_SECONDS: Final = 5.0
"""After this time no further step is read, so that a form answers soon also on a busy machine."""
MOST_BYTES_WHEN_CREATED: Final = 128 << 10
MOST_SECONDS_WHEN_CREATED: Final = 2.0
"""The same for a link that is being created: its creator waits for the URL."""
BATCH: Final = 50
SHOWN: Final = 12
# The fields of a session on the pages of a link and in its evidence.
OF_SESSION: Final = ("name", "agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A place where something is withheld: session, step (None: the session itself), field, position in it,
    and the text around it as it would read.
    """

    session: SharedSession
    sequence: int | None
    field: str
    text: str


@dataclass(slots=True, kw_only=True)
class _Limit:
    """Reading ends before a text that would exceed `bytes`, and after `until` on the monotonic clock."""

    bytes: int
    until: float

    @classmethod
    def of(cls, seconds: float, size: int) -> "_Limit":
        return cls(bytes=size, until=time.monotonic() + seconds)

    def allows(self, size: int) -> bool:
        """Return whether a text of this size is to be read, and count it."""
        self.bytes -= size
        return self.bytes >= 0 and time.monotonic() <= self.until


@dataclass(slots=True, kw_only=True)
class Preview:
    """What a link would show: its `sessions` as they would be named, and the number of recorded `steps`.

    `tally` counts what its profile withholds, by rule, in names, in the first `read` steps, and in the first `answers_read` of the new
    `answers` of replays; `lines` are the first places as they would read. For a
    link that shows evidence alone no step is read, because it shows no text. For a link that withholds nothing, `found` counts what the
    built-in profile would find, so that nobody passes it on by accident.
    """

    link: ShareLink
    sessions: Sequence[SharedSession]
    steps: int
    read: int = 0
    answers: int = 0
    answers_read: int = 0
    tally: Tally = field(default_factory=Counter)
    lines: list[Line] = field(default_factory=list)
    found: Tally = field(default_factory=Counter)

    @property
    def readable_matches(self) -> int:
        """Return how many matches of the built-in profile would be readable."""
        return self.found.total()

    @property
    def total(self) -> int:
        """Return how many places are withheld."""
        return self.tally.total()

    def note(self, session: UUID, sequence: int | None, fields: Mapping[str, object], tally: Tally) -> None:
        """Count what was found in the fields of a step or session, and store the first places."""
        self.tally += tally
        free = SHOWN - len(self.lines)
        self.lines += islice(self._lines(session, sequence, fields), max(free, 0))

    def _lines(self, session: UUID, sequence: int | None, fields: Mapping[str, object]) -> Iterator[Line]:
        named = next(each for each in self.sessions if each.id == session)
        for name, value in fields.items():
            for place, text in excerpts(value, OPENING, name):
                yield Line(session=named, sequence=sequence, field=place, text=text)


def preview_of(link: ShareLink) -> Preview:
    """Return what a link, saved or not, would show and withhold in its first steps."""
    return _preview(link, _Limit.of(MOST_SECONDS, MOST_BYTES))


def _preview(link: ShareLink, limit: _Limit) -> Preview:
    preview = Preview(link=link, sessions=Scope(link=link).sessions(), steps=counted_actions(link).count())
    rules = BUILT_IN.rules if link.redaction is None else rules_of(link.redaction)
    for session in _sessions(link):
        _note_session(preview, session, rules)
    if not link.evidence_only:
        _note_steps(preview, rules, replace(limit))
        _note_answers(preview, rules, limit)
    if link.redaction is None:
        preview.found, preview.tally, preview.lines = preview.tally, Counter(), []
    return preview


def preview_of_created(link: ShareLink) -> Preview | None:
    """Return what the profile of a link that is being created matches, or what the built-in one would. None if the search failed.

    The link is created all the same, and its URL can only be shown now, so nothing here may fail.
    """
    try:
        with transaction.atomic():  # the link can be created after an error of the database
            return _preview(link, _Limit.of(MOST_SECONDS_WHEN_CREATED, MOST_BYTES_WHEN_CREATED))
    except Exception:
        logger.exception(
            "The content of a link to the %s %s could not be searched", link.target_type, link.target_id
        )
        return None


def matches_when_created(link: ShareLink) -> JsonObject | None:
    """Return how often the profile of a link that is being created matches, as it is stored with the link.

    None without a profile, for a link that shows no text, and if the search failed or read nothing.
    """
    found = preview_of_created(link) if link.redaction and not link.evidence_only else None
    if found is None or not (found.read or found.answers_read):
        return None
    counts = [each.model_dump() for each in counts_of(found.tally)]
    searched = ("steps", "read", "answers", "answers_read")
    return {name: getattr(found, name) for name in searched} | {"counts": counts}


def _sessions(link: ShareLink) -> list[Session]:
    return sessions_of(link.comparison) if link.comparison else [link.session] if link.session else []


def _note_session(preview: Preview, session: Session, rules: Rules) -> None:
    found = redact_session({name: getattr(session, name) for name in OF_SESSION}, rules)
    touched = {name: found.document[name] for name in found.touched}
    preview.note(session.id, None, touched, found.tally)


def _note_steps(preview: Preview, rules: Rules, limit: _Limit) -> None:
    steps = with_everything(counted_actions(preview.link)).order_by("session_id", "sequence")
    for action in steps[:MOST_STEPS].iterator(BATCH):
        if not limit.allows(_size(action)):
            break
        preview.read += 1
        step = redact_action(ActionOut.of(action).model_dump(), rules)
        touched = {name: step.document[name] for name in step.touched}
        preview.note(action.session_id, action.sequence, touched, step.tally)


def _note_answers(preview: Preview, rules: Rules, limit: _Limit) -> None:
    """Add what is withheld of the first answers of replays: at most `MOST_STEPS` of them, within the limit."""
    steps = counted_steps(preview.link).filter(output__isnull=False).select_related("output", "replay")
    preview.answers = steps.count()
    for step in steps.order_by("id")[:MOST_STEPS].iterator(BATCH):
        if step.output is None or not limit.allows(step.output.size):
            break
        preview.answers_read += 1
        found = redact_value(payloads.value(step.output), rules)
        touched = {"new answer": found.value} if found.touched else {}
        preview.note(step.replay.session_id, step.sequence, touched, found.tally)


def _size(action: Action) -> int:
    own = (action.input, action.output, action.source, *(hit.payload for hit in action.hits.all()))
    return sum(each.size for each in own if each is not None)
