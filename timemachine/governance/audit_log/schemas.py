"""The audit log as the API returns it."""

import json
from typing import Self

from timemachine.core.audit.models import AuditEvent
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema


class AuditEventOut(Schema):
    """One event: who did what to which object, and from where.

    `actor` is an e-mail address, `key` and the name of an API key, or another name that docs/audit-log.md lists; it is empty for a failed sign-in. `sequence`, `previous_sha256` and
    `sha256` are the event's place in the project's chain; they are null for up to a minute.
    """

    id: int
    at: str
    action: str
    actor: str
    address: str | None
    request_id: str | None
    target_type: str
    target_id: str
    facts: JsonObject | None
    sequence: int | None
    previous_sha256: str | None
    sha256: str | None

    @classmethod
    def of(cls, event: AuditEvent) -> Self:
        """Return the event."""
        return cls.from_attributes(event)

    def line(self) -> bytes:
        """Return the event as one line of JSON."""
        return json.dumps(self.model_dump(), ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "replace"
        )


class ForwardedEvent(AuditEventOut):
    """An event as destinations get it: with the id of its project, because they get the events of all projects."""

    project: str

    @classmethod
    def of(cls, event: AuditEvent) -> Self:
        """Return the event."""
        return cls.from_attributes(event, project=str(event.project_id))


class AuditPage(Page[AuditEventOut]):
    """Events of the audit log, newest first."""


class AuditBreak(Schema):
    """The first line of the chain that does not match, by the number that it should have, and why."""

    sequence: int
    why: str


class AuditCheck(Schema):
    """How many lines the chain has, the hash of the last, and the first that does not match; `broken` is null if all do.

    `waiting` is the number of new events that are not yet in the signed evidence log. They are after about a minute.
    """

    lines: int
    sha256: str | None
    broken: AuditBreak | None
    waiting: int
