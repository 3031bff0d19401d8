"""The bundle of a session, of a replay or of a comparison: sealed as far as it goes, then written."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import IO, Any, Final

from django.db import transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import Conflict, NotFound
from timemachine.evidence.bundles import bundle, log_bundle
from timemachine.evidence.bundles.bundle import Part
from timemachine.evidence.models import EvidenceLog, Seal
from timemachine.evidence.queries import seal_of
from timemachine.evidence.sealing.checkpoints import ErasedMeanwhile, at_size, size_behind
from timemachine.evidence.sealing.comparison_records import CELL, repeated
from timemachine.evidence.sealing.comparison_subject import comparison_subject
from timemachine.evidence.sealing.disclosure import Discloses
from timemachine.evidence.sealing.previous_seals import Reader
from timemachine.evidence.sealing.seals import replay_subject, seal_comparison, seal_replay, seal_session
from timemachine.evidence.sealing.subjects import SessionSubject
from timemachine.evidence.signed_before import signed_comparison, signed_replay, signed_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.read_snapshot import snapshot
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.queries import sessions_of
from timemachine.replay.runs.models import Replay, ReplayStep

Planned = tuple[Sequence[Part], Mapping[str, Any]]
IN_MEMORY: Final = 8 * 1024 * 1024  # bytes; a larger bundle waits in a file of the system's


def whole(write: Callable[[IO[bytes]], object]) -> IO[bytes]:
    """What `write` writes, from its begin; whoever reads it closes it. What goes wrong is an error here, and not half a file there."""
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
    discloses: Discloses | None = None,
    told: Mapping[str, Any] | None = None,
    link: Mapping[str, Any] | None = None,
    reader: Reader | None = None,
) -> Seal:
    """Write the bundle of a session, all of it or through a step; `told` is what the statement says of it.

    Raises `Conflict` where nothing is recorded yet, `NotFound`, `NotWhole`, `ErasedMeanwhile`, and `Unavailable` where the key cannot be read.
    """
    seal = None if through is None else signed_session(session, through + 1)
    seal = seal or seal_session(session.id)
    if seal is None:
        raise _gone("session")
    size = seal.size if through is None else through + 1
    if size < 2 or size > seal.size:  # noqa: PLR2004  # the session itself and a step
        raise Conflict("Nothing is recorded yet, so there is nothing to prove.", code="nothing_to_prove")

    def planned() -> Planned:
        there = _there(Session, session, "session")
        part = Part(subject=SessionSubject(there), seal=seal, size=size, discloses=discloses, reader=reader)
        return [part], {"session": dict(told or about(there))}

    _write(target, planned, link)
    return seal


def write_replay(
    target: IO[bytes],
    replay: Replay,
    *,
    discloses: Discloses | None = None,
    told: Mapping[str, Any] | None = None,
    link: Mapping[str, Any] | None = None,
    reader: Reader | None = None,
) -> Seal:
    """Write the bundle of a replay that is over, with the recorded steps that it repeats.

    Raises `Conflict` while it runs, `NotFound`, `NotWhole`, `ErasedMeanwhile`, and `Unavailable` where the key cannot be read.
    """
    seal = signed_replay(replay) or seal_replay(replay.id)
    if seal is None:
        raise _gone("replay")

    def planned() -> Planned:
        there = _there(Replay, replay, "replay")
        subject = replay_subject(there)
        repeated = sorted(subject.leaves)
        if not repeated:
            raise Conflict("This replay has no steps, so there is nothing to prove.", code="nothing_to_prove")
        behind = seal_of(there.session)
        if behind is None:
            raise ErasedMeanwhile
        recorded = Part(
            subject=SessionSubject(there.session),
            seal=behind,
            size=size_behind(behind, repeated[-1]),
            shown=[0, *repeated],
            discloses=discloses,
        )
        own = Part(subject=subject, seal=seal, size=seal.size, discloses=discloses, reader=reader)
        parts = [own, recorded]
        return parts, {"session": dict(told or about(there.session)), "replay": str(there.id)}

    _write(target, planned, link)
    return seal


def write_comparison(
    target: IO[bytes],
    comparison: Comparison,
    *,
    rows: AbstractSet[str] | None = None,
    discloses: Discloses | None = None,
    told: Mapping[str, Any] | None = None,
    link: Mapping[str, Any] | None = None,
    reader: Reader | None = None,
) -> Seal:
    """Write the bundle of a comparison that is over, or of these rows of it, with the recorded steps that its cells repeat.

    Raises `Conflict` while it runs, `NotFound`, `NotWhole`, `ErasedMeanwhile`, and `Unavailable` where the key cannot be read.
    """
    seal = signed_comparison(comparison, rows) or seal_comparison(comparison.id)
    if seal is None:
        raise _gone("comparison")

    def planned() -> Planned:
        there = _there(Comparison, comparison, "comparison")
        parts = _compared(there, seal, rows, discloses, reader)
        says = told or {"sessions": [about(session) for session in sessions_of(there)]}
        return parts, {**says, "comparison": str(there.id)}

    _write(target, planned, link)
    return seal


def _write(target: IO[bytes], planned: Callable[[], Planned], link: Mapping[str, Any] | None) -> None:
    """What is to be signed is signed first, for the log grows by it; then everything is read as it stands at one moment. `link` is what the
    statement says of the link that the bundle is of.
    """
    for part in planned()[0]:
        at_size(part.subject, part.seal, part.size, part.reader.link if part.reader else None)
    with snapshot():
        parts, says = planned()
        bundle.write(target, parts, says if link is None else {**says, "link": link})


def _there[Row: (Session, Replay, Comparison)](kind: type[Row], row: Row, name: str) -> Row:
    """The row as it stands now. Raises `NotFound` where it was erased."""
    found = kind._default_manager.filter(pk=row.pk).first()  # noqa: SLF001  # the manager of any model
    if found is None:
        raise _gone(name)
    return found


def _gone(name: str) -> NotFound:
    return NotFound(f"The {name} was deleted.", code=f"{name}_not_found")


def _compared(
    comparison: Comparison,
    seal: Seal,
    rows: AbstractSet[str] | None,
    discloses: Discloses | None,
    reader: Reader | None,
) -> list[Part]:
    """The comparison, or these rows of it, and the recorded steps behind its cells. Raises `Conflict` where no answer is among them."""
    subject = comparison_subject(comparison)
    sealed = subject.rows[: seal.size - 1]
    shown = [index for index, row in enumerate(sealed, 1) if rows is None or row in rows]
    cells = [sealed[index - 1] for index in shown if sealed[index - 1].startswith(f"{CELL} ")]
    if not cells:
        raise Conflict(
            "This comparison has no answers, so there is nothing to prove.", code="nothing_to_prove"
        )
    size = shown[-1] + 1
    whole_tree = len(shown) == size - 1
    part = Part(
        subject=subject,
        seal=seal,
        size=size,
        shown=None if whole_tree else [0, *shown],
        discloses=discloses,
        reader=reader,
    )
    return [part, *_recorded(cells, discloses)]


def _recorded(cells: Sequence[str], discloses: Discloses | None) -> list[Part]:
    """The recorded steps behind some cells, a tree for each session."""
    steps = ReplayStep.objects.filter(id__in=[row.partition(" ")[2] for row in cells])
    found = repeated(steps)
    seals = {
        each.session_id: each
        for each in Seal.objects.filter(session__in=found).select_related("session__project")
    }
    return [
        Part(
            subject=SessionSubject(session),
            seal=seals[session_id],
            size=size_behind(seals[session_id], sequences[-1]),
            shown=[0, *sequences],
            discloses=discloses,
            folder=f"session-{number}",
        )
        for number, (session_id, sequences) in enumerate(found.items(), 1)
        if session_id in seals and (session := seals[session_id].session) is not None
    ]


@transaction.atomic
def write_log(target: IO[bytes], project: Project, access: Callable[[], Iterable[bytes]] = tuple) -> None:
    """Write the bundle of a project's log with the lines of its access logs; nothing is sealed or erased meanwhile.

    Raises `Conflict` where nothing was ever sealed, and `Unavailable` where the key cannot be read.
    """
    if EvidenceLog.objects.select_for_update().filter(project=project, size__gt=0).first() is None:
        raise Conflict(
            "Nothing was sealed in this project yet, so its log is empty.", code="nothing_to_prove"
        )
    log_bundle.write(target, project, {"project": project.name}, access())


def about(session: Session) -> dict[str, Any]:
    """What people call a session, which they may change: said in the statement as it is now."""
    return {
        "key": session.key,
        "name": session.name,
        "tags": session.tags,
        "metadata": session.metadata,
        "status": session.status,
        "ended_at": written(session.ended_at),
    }
