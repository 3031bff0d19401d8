"""Queries about seals: the seal of a session, replay or comparison, its state, and its last check; the seals of a list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.database import row_of
from timemachine.core.pure.errors import NotFound
from timemachine.evidence.models import Seal, SealCheck, SealCheckpoint, SigningKey
from timemachine.evidence.sealing.comparison_subject import comparison_subject, current_seal
from timemachine.evidence.sealing.erased_since import NOTHING_ERASED, ErasureSummary, erased_of_seal
from timemachine.evidence.sealing.previous_seals import PreviousSeal, previous_seals_of
from timemachine.evidence.sealing.repeated_steps import steps_repeated_by
from timemachine.evidence.sealing.replay_records import ran_after
from timemachine.evidence.sealing.seals import replay_subject
from timemachine.evidence.sealing.subjects import SessionSubject, Subject
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay

Result = Literal["intact", "altered"]
NOT_YET, SO_FAR, SEALED, STOPPED = "not yet", "so far", "sealed", "stopped"
RESEALING: Final = "being resealed"  # a comparison, after an erasure
_SEALS: Final = """
SELECT seal.session_id, seal.problem, seal.signed_size, compared.finished_at, compared.started_at,
    COALESCE(compared.problems = '[]', true), erased.fields, erased.at
FROM tm_seal seal
LEFT JOIN LATERAL (
    SELECT * FROM tm_seal_check WHERE seal_id = seal.id AND finished_at IS NOT NULL ORDER BY requested_at DESC LIMIT 1
) compared ON true
CROSS JOIN LATERAL (
    SELECT count(DISTINCT (index, field)) AS fields, max(erased_at) AS at FROM tm_erased_field
    WHERE session_id = seal.session_id AND replay_id IS NULL
) erased
WHERE seal.session_id = ANY(%(sessions)s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """How far something is sealed: its newest checkpoint, and its newest finished and unfinished check.

    `erased` counts what was erased of its records and of the recorded steps that it repeats.
    `repeats_altered` is whether the newest check of a repeated session found it altered.
    """

    seal: Seal | None
    checkpoint: SealCheckpoint | None
    check: SealCheck | None
    checking: SealCheck | None
    records: int
    erased: ErasureSummary = NOTHING_ERASED
    repeats_altered: bool = False

    @property
    def altered(self) -> bool:
        """Return whether this server knows that the evidence would not verify."""
        return self.repeats_altered or (self.check is not None and bool(self.check.problems))

    @property
    def erased_since(self) -> bool:
        """Return whether something was erased after the newest check began, which its result does not cover."""
        return self.check is not None and self.erased.is_after(
            self.check.started_at or self.check.finished_at
        )

    @property
    def unsealed(self) -> int:
        """Return how many records no checkpoint covers yet; the thing itself is one of them."""
        return self.records - (self.checkpoint.size if self.checkpoint else 0)

    def earlier(self) -> list[PreviousSeal]:
        """Return the previous seals. No query for a first seal, otherwise as `previous_seals_of`."""
        return previous_seals_of(self.seal) if self.seal is not None else []


def seal_of(session: Session) -> Seal | None:
    """Return the seal of a session. One query."""
    return Seal.objects.filter(session=session).first()


def sealed_session(session: Session) -> Sealed:
    """Return how far a session is sealed."""
    return sealed_as(seal_of(session), session.last_sequence + 1)


def sealed_replay(replay: Replay) -> Sealed:
    """Return how far a replay's last run is sealed."""
    latest = Seal.objects.filter(replay=replay).order_by("-generation").first()
    seal = None if latest is None or ran_after(latest, replay) else latest
    return sealed_as(seal, replay.steps.count() + 1)


def sealed_comparison(comparison: Comparison) -> Sealed:
    """Return how far a comparison's last run is sealed."""
    return sealed_as(current_seal(comparison), comparison_subject(comparison).last + 1)


def subject_of(seal: Seal) -> Subject:
    """Return what the seal is for."""
    if seal.session is not None:
        return SessionSubject(seal.session)
    if seal.comparison is not None:
        return comparison_subject(seal.comparison)
    if seal.replay is None:
        raise LookupError(f"the seal {seal.pk} is of nothing")
    return replay_subject(seal.replay)


def check_of(project: Project, check_id: str | UUID) -> SealCheck:
    """Return the project's check with that id. Raises `NotFound`."""
    missing = NotFound(f"There is no check {str(check_id)[:60]!r} in this project.", code="check_not_found")
    return row_of(SealCheck.objects.filter(seal__project=project), check_id, missing)


def checkpoints_of(seal: Seal) -> QuerySet[SealCheckpoint]:
    """Return the signed states of a seal, newest first."""
    return SealCheckpoint.objects.filter(seal=seal).select_related("key").order_by("-size", "-id")


def with_is_cut(states: QuerySet[SealCheckpoint]) -> QuerySet[SealCheckpoint]:
    """Annotate with `is_cut` whether an earlier state had more records: old states do not name their link."""
    longer = SealCheckpoint.objects.filter(
        seal=OuterRef("seal"), size__gt=OuterRef("size"), id__lt=OuterRef("id")
    )
    return states.annotate(is_cut=Exists(longer))


def earlier_keys_of(seal: Seal) -> Sequence[SigningKey]:
    """Return the replaced keys that signed states of a seal, the newest first. One query."""
    found = SigningKey.objects.filter(
        project=seal.project_id, pk__in=checkpoints_of(seal).order_by().values("key")
    )
    return list(found.exclude(replaced_at=None).order_by("-replaced_at"))


def keys_of(project: Project) -> Sequence[SigningKey]:
    """Return the project's signing keys, the one in use first."""
    return list(SigningKey.objects.filter(project=project).order_by("-created_at", "-pk"))


def result_of(check: SealCheck) -> Result | None:
    """Return `intact` if everything is as it was sealed, `altered` if not, None while the check runs."""
    if check.finished_at is None:
        return None
    return "altered" if check.problems else "intact"


def sealed_as(seal: Seal | None, records: int) -> Sealed:
    """Return how far a thing with that many records is sealed."""
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
    """Return whether the last check of a repeated session found it altered. At most three queries."""
    sessions = steps_repeated_by(seal)
    if not sessions:
        return False
    newest = SealCheck.objects.filter(seal__session__in=sessions, finished_at__isnull=False)
    newest = newest.order_by("seal", "-requested_at").distinct("seal")
    return any(newest.values_list("problems", flat=True))


class _Row(NamedTuple):
    """A row of `_SEALS`: a session's seal, its last finished check, and what was erased."""

    problem: str | None
    signed_size: int
    checked_at: datetime | None
    compared_from: datetime | None
    intact: bool
    erased: int
    erased_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSeal:
    """How far a thing is sealed, in a `word`; when it was last checked, and whether all was `intact`.

    `erased` is how many of its fields were erased; `erased_since` whether some were erased after that check.
    """

    word: str
    records: int = 0
    checked_at: datetime | None = None
    intact: bool = True
    erased: int = 0
    erased_since: bool = False


def listed_seals(sessions: Sequence[Session]) -> Mapping[UUID, ListedSeal]:
    """Return the seals of these sessions. One query."""
    rows = prepared_statements.fetch_rows(_SEALS, {"sessions": [each.id for each in sessions]})
    found = {session: _Row(*row) for session, *row in rows}
    return {each.id: _listed(each, found.get(each.id)) for each in sessions}


def listed_seal(sealed: Sealed) -> ListedSeal:
    """Return how a list shows a replay or comparison. No query."""
    if sealed.checkpoint is None:
        return ListedSeal(word=_unsealed_word(sealed.seal))
    return ListedSeal(
        word=SO_FAR if sealed.unsealed > 0 else SEALED,
        records=sealed.checkpoint.size,
        checked_at=sealed.check.finished_at if sealed.check else None,
        intact=not sealed.altered,
        erased=sealed.erased.fields,
        erased_since=sealed.erased_since,
    )


def _unsealed_word(seal: Seal | None) -> str:
    if seal is None:
        return NOT_YET
    return STOPPED if seal.problem else RESEALING if seal.generation > 1 else NOT_YET


def _listed(session: Session, seal: _Row | None) -> ListedSeal:
    if seal is None:
        return ListedSeal(word=NOT_YET)
    erased = ErasureSummary(fields=seal.erased, at=seal.erased_at)
    return ListedSeal(
        word=_word(session, seal),
        records=seal.signed_size,
        checked_at=seal.checked_at,
        intact=seal.intact,
        erased=erased.fields,
        erased_since=erased.is_after(seal.compared_from or seal.checked_at),
    )


def _word(session: Session, seal: _Row) -> str:
    if seal.problem:
        return STOPPED
    if not seal.signed_size:
        return NOT_YET
    is_complete = seal.signed_size > session.last_sequence and session.status == Session.ENDED
    return SEALED if is_complete else SO_FAR
