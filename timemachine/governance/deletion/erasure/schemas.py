"""Erasures of fields and deletions of steps as the API takes and returns them."""

from typing import Annotated, Literal

from pydantic import Field

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.evidence.sealing.erased_fields import FieldsOf
from timemachine.governance.deletion.erasure.before_after import ErasedPlace, sample_of
from timemachine.governance.deletion.erasure.models import Erasure
from timemachine.recording.sessions.schemas import RemainingSummary
from timemachine.text.redaction.schemas import ProfileVersion, RuleCount

ErasureStatus = Literal["looking", "found", "erasing", "done"]


class ErasureIn(Strict):
    """What is to be erased from a session: what a redaction profile matches, or fields by their paths, of some steps or of all."""

    redaction: str | None = None
    fields: list[str] = Field(default_factory=list, max_length=100)
    steps: list[Annotated[int, Field(ge=1, lt=2**62)]] = Field(default_factory=list, max_length=1_000)


class ErasureConfirmation(Strict):
    """Why it is erased."""

    reason: str


class StepDeletion(Strict):
    """Why a step is deleted."""

    reason: str = ""


class FieldCount(Schema):
    """In how many steps a field is erased."""

    field: str
    count: int


class PlaceCount(Schema):
    """How many other rows that repeat the session are rewritten, by the name of their place."""

    place: str
    count: int


class ErasureCounts(Schema):
    """What an erasure removes, in numbers and names. Nothing here quotes what is erased."""

    steps: int
    first_steps: list[int]
    of_steps: list[FieldCount]
    of_session: list[str]
    counts: list[RuleCount]
    replay_steps: int
    elsewhere: list[PlaceCount]
    collections: list[str]  # those that hold passages which the erased steps found or put; they stay
    summaries: list[RemainingSummary]  # those that may quote what is erased; they stay
    kept_by_others: int  # payloads of the erased steps that other sessions use, and keep
    fields: int
    fields_of: FieldsOf

    @classmethod
    def of(cls, stored: JsonObject | None) -> "ErasureCounts | None":
        """The counts that were stored with an erasure, if it has any yet."""
        if stored is None:
            return None
        nested = {
            "of_steps": [FieldCount.model_construct(**each) for each in stored["of_steps"]],
            "counts": [RuleCount.model_construct(**each) for each in stored["counts"]],
            "elsewhere": [PlaceCount.model_construct(**each) for each in stored["elsewhere"]],
            "summaries": [RemainingSummary.model_construct(**each) for each in stored["summaries"]],
            "fields_of": FieldsOf.model_construct(**stored["fields_of"]),
        }
        return cls.model_construct(**stored | nested)


class ErasureOut(Schema):
    """An erasure: what was chosen, what it would remove (`preview`), and what it removed (`result`)."""

    id: str
    session: str
    status: ErasureStatus
    redaction: ProfileVersion | None
    fields: list[str]
    steps: list[int]
    preview: ErasureCounts | None
    result: ErasureCounts | None
    problem: str | None  # why the last attempt did not succeed
    reason: str | None
    requested_by: str
    requested_at: str
    confirmed_by: str | None
    confirmed_at: str | None
    finished_at: str | None
    first: list[ErasedPlace] | None = None  # the first places; absent unless `status` is `found`

    @classmethod
    def of(cls, erasure: Erasure) -> "ErasureOut":
        """The erasure without its first places."""
        profile = erasure.profile
        return cls.from_attributes(
            erasure,
            session=erasure.session_id,
            redaction=None
            if profile is None
            else ProfileVersion.model_construct(name=profile["name"], version=profile["version"]),
            preview=ErasureCounts.of(erasure.preview),
            result=ErasureCounts.of(erasure.result),
        )

    @classmethod
    def with_first_places(cls, erasure: Erasure) -> "ErasureOut":
        """The erasure with its first places, whose text is computed from the session and stored nowhere."""
        found = cls.of(erasure)
        places = sample_of(erasure)
        return found.model_copy(update={"first": places}) if places else found


class ErasurePage(Page[ErasureOut]):
    """The erasures of a session, newest first."""
