"""Seals, their checks, signing keys, and whom a project's log is sent to, as the API takes and returns them."""

from timemachine.core.accounts.models import Project
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.evidence.log import anchors, keys
from timemachine.evidence.models import TIMESTAMP, WITNESS, SealCheck, SigningKey
from timemachine.evidence.queries import Result, Sealed, result_of
from timemachine.evidence.sealing.checking import SealProblem
from timemachine.evidence.sealing.previous_seals import PreviousSeal, PublicSeal


class SealCheckOut(Schema):
    """A comparison of the database with a seal; `result` is null while it runs.

    `recorded_steps` is how many steps of other sessions it compared because the subject repeats them.
    """

    id: str
    requested_by: str | None
    requested_at: str
    finished_at: str | None
    records: int
    recorded_steps: int
    erased_fields: int
    result: Result | None
    problems: list[SealProblem]

    @classmethod
    def of(cls, check: SealCheck) -> "SealCheckOut":
        """The check."""
        return cls.from_attributes(
            check,
            recorded_steps=check.recorded,
            erased_fields=check.erased,
            result=result_of(check),
            problems=[SealProblem.model_construct(**each) for each in check.problems],
        )


class EarlierSeal(PublicSeal):
    """A seal before the current one, by its state with the most records, and why it was replaced.

    `replaced_by`, `reason` and `erased_fields` are about the erasure; null if the subject ran again.
    """

    replaced_by: str | None
    reason: str | None
    erased_fields: int | None

    @classmethod
    def of(cls, earlier: PreviousSeal) -> "EarlierSeal":
        """The seal."""
        why = earlier.replaced
        return cls.from_attributes(
            earlier.public(),
            replaced_by=why.by if why else None,
            reason=why.reason if why else None,
            erased_fields=why.fields if why else None,
        )


class ErasedOfSeal(Schema):
    """How many sealed fields were erased, when last, and whether that was after the last check."""

    fields: int
    at: str | None
    since_check: bool


class SealOut(Schema):
    """The seal of a session, replay or comparison: how much of it is sealed, by which key, and the last check.

    `altered` is whether the last check found a difference, here or in a session that is repeated. `checking` is the check that runs now.
    """

    sealed: bool
    records: int
    sealed_records: int
    state: str | None
    sealed_at: str | None
    root: str | None
    key: str | None
    problem: str | None
    earlier: list[EarlierSeal]
    altered: bool
    erased: ErasedOfSeal
    check: SealCheckOut | None
    checking: SealCheckOut | None

    @classmethod
    def of(cls, found: Sealed) -> "SealOut":
        """The seal; as many queries as `Sealed.earlier`."""
        newest = found.checkpoint
        return cls.from_attributes(
            found,
            sealed=newest is not None,
            sealed_records=newest.size if newest else 0,
            state=newest.state if newest else None,
            sealed_at=newest.at if newest else None,
            root=bytes(newest.root).hex() if newest else None,
            key=newest.key.fingerprint if newest else None,
            problem=found.seal.problem if found.seal else None,
            earlier=[EarlierSeal.of(each) for each in found.earlier()],
            erased=ErasedOfSeal.from_attributes(found.erased, since_check=found.erased_since),
            check=None if found.check is None else SealCheckOut.of(found.check),
            checking=None if found.checking is None else SealCheckOut.of(found.checking),
        )


class SigningKeyOut(Schema):
    """A public key that signs evidence, or did until it was replaced. `store` is where the private key is: `database`, `pkcs11`,
    or the path of an operator's class.
    """

    fingerprint: str
    pem: str
    store: str
    created_at: str
    created_by: str | None
    replaced_at: str | None
    replaced_by: str | None

    @classmethod
    def of(cls, key: SigningKey) -> "SigningKeyOut":
        """The key."""
        return cls.from_attributes(key, pem=keys.pem(bytes(key.public_key)))


class SigningKeys(Page[SigningKeyOut]):
    """The signing keys of a project, the one in use first."""


class AnchorsIn(Strict):
    """Addresses of a witness (C2SP's `tlog-witness`) and of a timestamp authority (RFC 3161); an empty one removes it."""

    witness: str | None = None
    timestamp: str | None = None


class AnchorOut(Schema):
    """A witness or timestamp authority: how many entries of the log it has, since when, and the last error."""

    url: str
    set_by: str
    set_at: str
    size: int
    taken_at: str | None
    error: str | None
    failed_at: str | None


class AnchorsOut(Schema):
    """The witness and the timestamp authority of a project, each null if not set, and the key that a witness needs to know."""

    witness: AnchorOut | None
    timestamp: AnchorOut | None
    witness_key: str

    @classmethod
    def of(cls, project: Project) -> "AnchorsOut":
        """Those of the project."""
        found = anchors.anchors_of(project)
        witness, timestamp = found.get(WITNESS), found.get(TIMESTAMP)
        return cls.model_construct(
            witness=None if witness is None else AnchorOut.from_attributes(witness),
            timestamp=None if timestamp is None else AnchorOut.from_attributes(timestamp),
            witness_key=anchors.key_for_witness(project),
        )
