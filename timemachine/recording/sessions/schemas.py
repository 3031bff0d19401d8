"""Sessions and their checkpoints as the API takes and returns them."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, Self

from django.conf import settings
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.knowledge.schemas.collections import FrameOut, FramePlace
from timemachine.recording.sessions.frames import FrameUses
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import Kind, Status
from timemachine.recording.sessions.queries import time_of

_WRITTEN: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*", re.DOTALL)
_AHEAD: Final = timedelta(days=1)


def _as_text(given: Any) -> Any:
    if given is not None and not (isinstance(given, str) and _WRITTEN.fullmatch(given)):
        raise ValueError("must be a time such as 2026-11-23T18:00:00Z")
    return given


def _not_ahead(at: datetime) -> datetime:
    if at > now() + _AHEAD:
        raise ValueError(
            "it is more than a day ahead of this server's clock; check the clock that produced it"
        )
    return at


Happened = Annotated[AwareDatetime, BeforeValidator(_as_text), AfterValidator(_not_ahead)]
"""When something happened that is recorded. A number is refused, as is a time more than a day ahead of the server's."""


class ParentIn(Strict):
    """The session and step that a session branched from."""

    session: str
    sequence: int = Field(ge=1)


class SessionIn(Strict):
    """A new session; `started_at` is for one that began before the server heard of it."""

    name: str
    key: str | None = None
    agent: str | None = None
    user: str | None = None
    collection: str | None = Field(default=None, min_length=1)
    parent: ParentIn | None = None
    metadata: JsonObject = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    started_at: Happened | None = None


class SessionEnd(Strict):
    """When a session that is recorded elsewhere ended; without it, it ends now."""

    ended_at: Happened | None = None


class SessionChange(Strict):
    """What can change in a session: its name, metadata and tags, never what it recorded."""

    name: str | None = None
    metadata: JsonObject | None = None
    tags: list[str] | None = None


class SessionErasure(Strict):
    """Why a session is deleted."""

    reason: str = ""


class SessionFilter(Strict):
    """Which sessions are listed; an empty text matches any, and a session must match all filters.

    `q` is searched for in names and keys, and in the texts of the steps, as in the search. `tool`, `kind` and `model` match sessions with such
    a step. `since` and `until` are about the session's start, so a session without times matches neither: RFC 3339, or a date for the whole day.
    `steps_since` and `steps_until` match sessions with a step on these days (UTC). `min_cost` is in USD; `cost` is `unknown` for sessions with calls of unknown cost.
    `held` is `yes` for those under legal hold, `no` for the others; `branch` is `yes` for those that branched from another session, such as
    continuations, `no` for the others.
    """

    agent: str = ""
    user: str = ""
    tool: str = ""
    kind: Literal[Kind, ""] = ""
    model: str = ""
    status: Literal[Status, ""] = ""
    tag: str = ""
    q: str = ""
    since: str = ""
    until: str = ""
    steps_since: str = ""
    steps_until: str = ""
    min_cost: float | None = Field(default=None, ge=0)
    cost: Literal["unknown", ""] = ""
    held: Literal["yes", "no", ""] = ""
    branch: Literal["yes", "no", ""] = ""
    limit: int = 50
    after: str | None = None


class ParentOut(Schema):
    """The session and step that a session branched from."""

    session: str
    sequence: int | None


class ContinuesOut(Schema):
    """What the branch of a continuation continues: the session and its model call, with which model, and the id of the replay."""

    session: str
    step: int
    model: str
    replay: str


class ParentDeletedOut(Schema):
    """The deletion of the session that a session branched from, null where that was not kept, and the step."""

    session: str | None
    sequence: int | None


class ParentAwaitedOut(Schema):
    """The key of the session that a session branched from, while that has not been recorded here."""

    key: str
    sequence: int | None


class SessionOut(Schema):
    """A session: what it is called, and what its actions add up to.

    `started_at` and `duration_ms` are those of the summary: from the first start of a step to the last end of one. Money is US dollars. `unknown_cost_calls` are in no sum; `saved_usd` is what the answers from the cache saved.

    `actions` counts every recorded action, also those copied from another session; errors, tokens, cost and times leave copies out.
    The summary tells them apart.
    """

    id: str
    key: str
    name: str
    agent: str | None
    user: str | None
    collection: str | None
    status: Status
    parent: ParentOut | None
    parent_deleted: ParentDeletedOut | None
    parent_awaited: ParentAwaitedOut | None
    continues: ContinuesOut | None
    metadata: JsonObject
    tags: list[str]
    created_at: str
    created_by: str
    started_at: str | None
    ended_at: str | None
    duration_ms: float | None
    imported_as: str | None
    actions: int
    errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_cost_calls: int
    cached_calls: int
    saved_usd: float | None
    unknown_saved_calls: int
    url: str

    @classmethod
    def of(cls, session: Session, **more: Any) -> Self:
        """The session, with the fields that a subclass has besides."""
        return cls.from_attributes(
            session,
            collection=session.collection.name if session.collection else None,
            parent=_parent(session),
            parent_deleted=_parent_deleted(session),
            parent_awaited=_parent_awaited(session),
            started_at=session.began_at,
            actions=session.last_sequence,
            errors=session.error_count,
            url=f"{settings.PUBLIC_URL}/sessions/{session.id}/",
            **more,
        )


class SessionPage(Page[SessionOut]):
    """Sessions, newest first."""


class BranchOut(SessionOut):
    """A session among its branches; `depth` is how many of the listed sessions are above it."""

    depth: int


class BranchesOut(Schema):
    """A session with all that it branched from and all that branched from those; `complete` is false where some are left out."""

    items: list[BranchOut]
    complete: bool


class RemainingSummary(Schema):
    """A summary of a deleted session that stays in a collection."""

    collection: str
    frame: int


class SessionDeleted(Schema):
    """Which session was deleted, how many actions and branches it had, and its summaries that stay in collections."""

    erased: str
    actions: int
    branches: int
    summaries: list[RemainingSummary]


class CheckpointIn(Strict):
    """A point from which an agent can resume, with its state, and a name if it needs one."""

    name: str | None = None
    state: JsonObject = Field(default_factory=dict)
    agent: str | None = None


class ResumeIn(Strict):
    """Which checkpoint to resume from: its sequence or its name; the last one without."""

    checkpoint: int | str | None = None


class CheckpointOut(Schema):
    """The checkpoint that was set."""

    sequence: int
    name: str | None


class CheckpointNamed(Schema):
    """The checkpoint that a session is resumed from; `at` is null where its time is not recorded."""

    sequence: int
    name: str | None
    at: str | None


class ResumedOut(Schema):
    """What an agent knew at a checkpoint: the named parts of its state, null where it has none, and the others in `more`."""

    messages: Any
    system_prompt: Any
    working_directory: Any
    tools: Any
    last_query: Any
    last_result: Any
    model: Any
    environment: Any
    checkpoint: CheckpointNamed
    parent: ParentOut
    more: JsonObject

    @classmethod
    def of(cls, found: Action, session: Session) -> "ResumedOut":
        """The state of the checkpoint, and the `parent` of a session that continues from it."""
        recorded = value(found.output)
        state: JsonObject = recorded if isinstance(recorded, dict) else {}
        return cls.model_construct(
            **{name: state.get(name) for name in STATE},
            checkpoint=CheckpointNamed.model_construct(
                sequence=found.sequence, name=found.name, at=written(time_of(found, session))
            ),
            parent=ParentOut.model_construct(session=str(found.session_id), sequence=found.sequence),
            more={name: each for name, each in state.items() if name not in STATE},
        )


STATE: Final = tuple(name for name in ResumedOut.model_fields if name not in {"checkpoint", "parent", "more"})
"""The named parts of a state."""


class FrameUsedIn(Schema):
    """A session that found a frame or asked a model over it: in how many steps, and in which one last."""

    session: str
    key: str
    name: str
    steps: int
    last_step: int
    last_used_at: str
    url: str


class FrameUsage(Schema):
    """The sessions that used a frame, the latest first. With `at_least`, there may be more sessions and steps than counted."""

    sessions: list[FrameUsedIn]
    count: int
    steps: int
    at_least: bool

    @classmethod
    def of(cls, usage: FrameUses) -> "FrameUsage":
        sessions = [
            FrameUsedIn.from_attributes(
                each,
                last_step=each.step,
                last_used_at=each.at,
                url=f"{settings.PUBLIC_URL}/sessions/{each.session}/?step={each.step}",
            )
            for each in usage.used_by
        ]
        return cls.model_construct(
            sessions=sessions, count=usage.sessions, steps=usage.steps, at_least=usage.more
        )


class FrameVersions(Schema):
    """The versions of a frame, the first one first, with the files that have any of them and the sessions that used the frame."""

    frame: int
    versions: list[FrameOut]
    next: str | None
    files: list[FramePlace]
    used_by: FrameUsage


def _parent(session: Session) -> ParentOut | None:
    if session.parent_id is None:
        return None
    return ParentOut.model_construct(session=str(session.parent_id), sequence=session.parent_sequence)


def _parent_deleted(session: Session) -> ParentDeletedOut | None:
    if not session.has_lost_parent:
        return None
    deletion = session.parent_erased
    return ParentDeletedOut.model_construct(
        session=None if deletion is None else str(deletion), sequence=session.parent_sequence
    )


def _parent_awaited(session: Session) -> ParentAwaitedOut | None:
    if session.parent_id is not None or session.parent_key is None:
        return None
    return ParentAwaitedOut.model_construct(key=session.parent_key, sequence=session.parent_sequence)
