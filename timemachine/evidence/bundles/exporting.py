"""Write the bundle of a session, replay or comparison: seal what is not sealed yet, then write."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import IO, Any, Final

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.database import snapshot
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import Conflict, NotFound
from timemachine.core.pure.json_types import JsonObject
from timemachine.evidence.bundles import bundle, log_bundle
from timemachine.evidence.bundles.bundle import Part
from timemachine.evidence.models import EvidenceLog, Seal
from timemachine.evidence.pure import checkpoint
from timemachine.evidence.queries import seal_of
from timemachine.evidence.sealing import comparison_records
from timemachine.evidence.sealing.checkpoints import (
    ErasedMeanwhile,
    ensure_signed_at,
    newest_state,
    signed_size_covering,
)
from timemachine.evidence.sealing.comparison_records import CELL, RESULTS, name_of
from timemachine.evidence.sealing.comparison_subject import comparison_subject, current_seal
from timemachine.evidence.sealing.disclosure import Discloses
from timemachine.evidence.sealing.previous_seals import Reader
from timemachine.evidence.sealing.repeated_steps import repeated_steps
from timemachine.evidence.sealing.replay_records import ran_after
from timemachine.evidence.sealing.seals import replay_subject, seal_comparison, seal_replay, seal_session
from timemachine.evidence.sealing.subjects import SessionSubject, Subject
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.queries import sessions_of
from timemachine.replay.runs.models import Replay, ReplayStep

Plan = tuple[Sequence[Part], Mapping[str, Any]]
IN_MEMORY: Final = 8 * 1024 * 1024  # bytes; a larger bundle goes to a temporary file on disk


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Whom a bundle is for: the project, which sees everything, or the visitors of a share link.

    `discloses` chooses the disclosed fields, `described` replaces the facts about sessions in the statement, `link` is
    what the statement says about the link, and `reader` is who may know which signed states.
    """

    discloses: Discloses | None = None
    described: Mapping[str, Any] | None = None
    link: Mapping[str, Any] | None = None
    reader: Reader | None = None

    def part(self, subject: Subject, seal: Seal, size: int, shown: Sequence[int] | None = None) -> Part:
        """Return the records of what is exported; recorded steps that it repeats are parts without a reader."""
        return Part(
            subject=subject,
            seal=seal,
            size=size,
            shown=shown,
            discloses=self.discloses,
            reader=self.reader,
        )


PROJECT: Final = Audience()


def temporary_file(write: Callable[[IO[bytes]], object]) -> IO[bytes]:
    """Return a file with what `write` writes, at its beginning. The caller closes it.

    An error is raised here, before anything is sent, so that nobody gets half a file.
    """
    target = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
    try:
        write(target)
    except BaseException:
        target.close()
        raise
    target.seek(0)
    return target


def write_session(
    target: IO[bytes],
    session: Session,
    *,
    through: int | None = None,
    audience: Audience = PROJECT,
) -> Seal:
    """Write the bundle of a session, complete or through a step.

    Raises `Conflict` if nothing is recorded yet, `NotFound`, `RecordMissing`, `ErasedMeanwhile`, and
    `Unavailable` if the key cannot be read.
    """
    seal = None if through is None else signed_session(session, through + 1)
    seal = _existing(seal or seal_session(session.id), "session")
    size = seal.size if through is None else through + 1
    if size < 2 or size > seal.size:  # noqa: PLR2004  # the session itself and a step
        raise Conflict("Nothing has been recorded yet, so there is no evidence.", code="nothing_to_prove")

    def plan() -> Plan:
        current = _current(session, "session")
        part = audience.part(SessionSubject(current), seal, size)
        return [part], {"session": dict(audience.described or session_facts(current))}

    _write(target, plan, audience)
    return seal


def write_replay(
    target: IO[bytes],
    replay: Replay,
    *,
    audience: Audience = PROJECT,
) -> Seal:
    """Write the bundle of a finished replay, with the recorded steps that it repeats.

    Raises `Conflict` while it is running, otherwise as `write_session` does.
    """
    seal = _existing(signed_replay(replay) or seal_replay(replay.id), "replay")

    def plan() -> Plan:
        current = _current(replay, "replay")
        subject = replay_subject(current)
        repeated_steps = sorted(subject.leaves)
        if not repeated_steps:
            raise Conflict("This replay has no steps, so there is no evidence.", code="nothing_to_prove")
        session_seal = seal_of(current.session)
        if session_seal is None:
            raise ErasedMeanwhile
        recorded = Part(
            subject=SessionSubject(current.session),
            seal=session_seal,
            size=signed_size_covering(session_seal, repeated_steps[-1]),
            shown=[0, *repeated_steps],
            discloses=audience.discloses,
        )
        return [audience.part(subject, seal, seal.size), recorded], {
            "session": dict(audience.described or session_facts(current.session)),
            "replay": str(current.id),
        }

    _write(target, plan, audience)
    return seal


def write_comparison(
    target: IO[bytes],
    comparison: Comparison,
    *,
    rows: AbstractSet[str] | None = None,
    audience: Audience = PROJECT,
) -> Seal:
    """Write the bundle of a finished comparison, or of these rows, with the recorded steps of its cells.

    Raises `Conflict` while it is running, otherwise as `write_session` does.
    """
    seal = _existing(signed_comparison(comparison, rows) or seal_comparison(comparison.id), "comparison")

    def plan() -> Plan:
        current = _current(comparison, "comparison")
        parts = _comparison_parts(current, seal, rows, audience)
        facts = audience.described or {
            "sessions": [session_facts(session) for session in sessions_of(current)]
        }
        return parts, {**facts, "comparison": str(current.id)}

    _write(target, plan, audience)
    return seal


def _write(target: IO[bytes], plan: Callable[[], Plan], audience: Audience) -> None:
    """Sign the states that the bundle shows, then read everything as of one moment and write it.

    Signing comes first because it adds to the log.
    """
    for part in plan()[0]:
        ensure_signed_at(part.subject, part.seal, part.size, part.reader.link if part.reader else None)
    with snapshot():
        parts, facts = plan()
        bundle.write(target, parts, {**facts, "link": audience.link} if audience.link else facts)


def _current[Row: (Session, Replay, Comparison)](row: Row, name: str) -> Row:
    """Return the row as it is now. Raises `NotFound` if it was deleted."""
    return _existing(type(row)._base_manager.filter(pk=row.pk).first(), name)


def _existing[Row](row: Row | None, name: str) -> Row:
    if row is None:
        raise NotFound(f"The {name} was deleted.", code=f"{name}_not_found")
    return row


def _comparison_parts(
    comparison: Comparison,
    seal: Seal,
    rows: AbstractSet[str] | None,
    audience: Audience,
) -> list[Part]:
    """Return the comparison's rows and the recorded steps of its cells. Raises `Conflict` without answers."""
    subject = comparison_subject(comparison)
    sealed = subject.rows[: seal.size - 1]
    shown = [index for index, row in enumerate(sealed, 1) if rows is None or row in rows]
    cells = [sealed[index - 1] for index in shown if sealed[index - 1].startswith(f"{CELL} ")]
    if not cells:
        raise Conflict("This comparison has no answers, so there is no evidence.", code="nothing_to_prove")
    size = shown[-1] + 1
    is_complete = len(shown) == size - 1
    part = audience.part(subject, seal, size, None if is_complete else [0, *shown])
    return [part, *_recorded_parts(cells, audience.discloses)]


def _recorded_parts(cells: Sequence[str], discloses: Discloses | None) -> list[Part]:
    """Return the recorded steps of these cells, one tree for each session."""
    steps = ReplayStep.objects.filter(id__in=[row.partition(" ")[2] for row in cells])
    found = repeated_steps(steps)
    seals = {
        each.session_id: each
        for each in Seal.objects.filter(session__in=found).select_related("session__project")
    }
    return [
        Part(
            subject=SessionSubject(session),
            seal=seals[session_id],
            size=signed_size_covering(seals[session_id], sequences[-1]),
            shown=[0, *sequences],
            discloses=discloses,
            folder=f"session-{number}",
        )
        for number, (session_id, sequences) in enumerate(found.items(), 1)
        if session_id in seals and (session := seals[session_id].session) is not None
    ]


@transaction.atomic
def write_log(
    target: IO[bytes],
    project: Project,
    access: Callable[[], Iterable[bytes]] = tuple,
    audit: Callable[[], Iterable[bytes]] | None = None,
) -> None:
    """Write the bundle of a project's log with its access logs, and its audit log if given. Sealing and erasing wait meanwhile.

    Raises `Conflict` if nothing was ever sealed, and `Unavailable` if the key cannot be read.
    """
    if EvidenceLog.objects.select_for_update().filter(project=project, size__gt=0).first() is None:
        raise Conflict(
            "Nothing has been sealed in this project yet, so its log is empty.", code="nothing_to_prove"
        )
    log_bundle.write(target, project, {"project": project.name}, access(), audit and audit())


def session_facts(session: Session) -> JsonObject:
    """Return what people can change about a session, and its status and end, as they are now, for the statement."""
    return {
        "id": str(session.id),
        "key": session.key,
        "name": session.name,
        "tags": session.tags,
        "metadata": session.metadata,
        "status": session.status,
        "ended_at": written(session.ended_at),
    }


def signed_session(session: Session, size: int) -> Seal | None:
    """Return the seal if a state of its first `size` records was signed already. Two queries."""
    seal = seal_of(session)
    return seal if seal is not None and newest_state(seal, size) is not None else None


def signed_replay(replay: Replay) -> Seal | None:
    """Return the seal of a replay's last run if all of it was signed. Two queries."""
    latest = Seal.objects.filter(replay=replay).order_by("-generation").first()
    if latest is None or latest.state != checkpoint.CLOSED or ran_after(latest, replay):
        return None
    return latest


def signed_comparison(comparison: Comparison, rows: AbstractSet[str] | None) -> Seal | None:
    """Return the seal of the last run if these rows (None: all, with today's results) were signed."""
    seal = current_seal(comparison)
    if seal is None or seal.signed_size != seal.size:
        return None
    current = comparison_subject(comparison).rows
    names = {*current, name_of(RESULTS, comparison_records.FORM)} if rows is None else rows
    return seal if names <= set(current[: seal.size - 1]) else None
