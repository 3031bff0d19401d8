"""What is asked of evidence: a subject's seal, what it says, and what came of the last comparison with the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.ids import uuid_of
from timemachine.evidence.models import Seal, SealCheck, SealCheckpoint, SigningKey
from timemachine.evidence.sealing.comparison_subject import comparison_subject, current_seal
from timemachine.evidence.sealing.erased_since import NOTHING_ERASED, Erased, erased_of_seal
from timemachine.evidence.sealing.previous_seals import Earlier, earlier_of
from timemachine.evidence.sealing.repeated_steps import repeated_by
from timemachine.evidence.sealing.seals import replay_subject
from timemachine.evidence.sealing.subjects import SessionSubject, Subject
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay

Result = Literal["intact", "altered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What is sealed of a session, replay or comparison: its newest checkpoint and the newest comparison that is over; None where there is none.

    `erased` is what was erased of its records and of the recorded steps that it repeats, before that comparison or since;
    `repeats_altered` whether the newest comparison of a session that it repeats found that one altered.
    """

    seal: Seal | None
    checkpoint: SealCheckpoint | None
    check: SealCheck | None
    checking: SealCheck | None
    records: int
    erased: Erased = NOTHING_ERASED
    repeats_altered: bool = False

    @property
    def altered(self) -> bool:
        """Whether this server knows that its evidence would not verify."""
        return self.repeats_altered or (self.check is not None and bool(self.check.problems))

    @property
    def erased_since(self) -> bool:
        """Whether something was erased after the newest comparison began: what it found says nothing of that."""
        return self.check is not None and self.erased.is_after(
            self.check.started_at or self.check.finished_at
        )

    @property
    def unsealed(self) -> int:
        """How many records no checkpoint counts yet; the thing itself is one of them."""
        return self.records - (self.checkpoint.size if self.checkpoint else 0)

    def earlier(self) -> list[Earlier]:
        """The seals before this one. No query for a first seal, else as `earlier_of`."""
        return earlier_of(self.seal) if self.seal is not None else []


def seal_of(session: Session) -> Seal | None:
    """How far a session is sealed. One query."""
    return Seal.objects.filter(session=session).first()


def sealed_session(session: Session) -> Sealed:
    """What is sealed of a session."""
    return sealed_as(seal_of(session), session.last_sequence + 1)


def sealed_replay(replay: Replay) -> Sealed:
    """What is sealed of a replay's last run."""
    seal = Seal.objects.filter(replay=replay, run_ended_at=replay.finished_at).order_by("-generation").first()
    return sealed_as(seal, replay.steps.count() + 1)


def sealed_comparison(comparison: Comparison) -> Sealed:
    """What is sealed of a comparison's last run."""
    return sealed_as(current_seal(comparison), comparison_subject(comparison).last + 1)


def subject_of(seal: Seal) -> Subject:
    """What the seal is of."""
    if seal.session is not None:
        return SessionSubject(seal.session)
    if seal.comparison is not None:
        return comparison_subject(seal.comparison)
    if seal.replay is None:
        raise LookupError(f"the seal {seal.pk} is of nothing")
    return replay_subject(seal.replay)


def check_of(project: Project, check_id: str | UUID) -> SealCheck:
    """The project's comparison of that id. Raises `NotFound`."""
    wanted = uuid_of(str(check_id))
    found = SealCheck.objects.filter(seal__project=project, id=wanted).first() if wanted else None
    if found is None:
        raise NotFound(f"There is no check {str(check_id)[:60]!r} in this project.", code="check_not_found")
    return found


def checkpoints_of(seal: Seal) -> QuerySet[SealCheckpoint]:
    """The signed states of a seal, newest first."""
    return SealCheckpoint.objects.filter(seal=seal).select_related("key").order_by("-size", "-id")


def marked_as_cut(states: QuerySet[SealCheckpoint]) -> QuerySet[SealCheckpoint]:
    """The states, each with `is_cut`: whether there was one of more records before it. Those from before that was kept name no link that they were cut for."""
    longer = SealCheckpoint.objects.filter(
        seal=OuterRef("seal"), size__gt=OuterRef("size"), id__lt=OuterRef("id")
    )
    return states.annotate(is_cut=Exists(longer))


def earlier_keys_of(seal: Seal) -> Sequence[SigningKey]:
    """The keys that signed states of a seal and were replaced since, the newest first. One query."""
    found = SigningKey.objects.filter(
        project=seal.project_id, pk__in=checkpoints_of(seal).order_by().values("key")
    )
    return list(found.exclude(replaced_at=None).order_by("-replaced_at"))


def keys_of(project: Project) -> Sequence[SigningKey]:
    """The project's signing keys, the one in use first."""
    return list(SigningKey.objects.filter(project=project).order_by("-created_at", "-pk"))


def result_of(check: SealCheck) -> Result | None:
    """`intact` where everything is as it was sealed, `altered` where something is not, None while nobody knows."""
    if check.finished_at is None:
        return None
    return "altered" if check.problems else "intact"


def sealed_as(seal: Seal | None, records: int) -> Sealed:
    """What a seal says of a thing that has so many records."""
    if seal is None:
        return Sealed(seal=None, checkpoint=None, check=None, checking=None, records=records)
    checks = SealCheck.objects.filter(seal=seal).order_by("-requested_at")
    return Sealed(
        seal=seal,
        checkpoint=checkpoints_of(seal).first(),
        check=checks.filter(finished_at__isnull=False).first(),
        checking=checks.filter(finished_at=None).first(),
        records=records,
        erased=erased_of_seal(seal),
        repeats_altered=_repeats_altered(seal),
    )


def _repeats_altered(seal: Seal) -> bool:
    """Whether a session that is repeated there was altered when it was compared last. At most three queries."""
    sessions = repeated_by(seal)
    if not sessions:
        return False
    newest = SealCheck.objects.filter(seal__session__in=sessions, finished_at__isnull=False)
    newest = newest.order_by("seal", "-requested_at").distinct("seal")
    return any(newest.values_list("problems", flat=True))
