"""What a training export contains and leaves out, as the API takes and returns it."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from timemachine.core.pure.schemas import Schema, Strict
from timemachine.memory.training.pure.options import ExportOptions, export_options
from timemachine.memory.training.pure.pairs import OF_SESSIONS, REASONS, RULES
from timemachine.memory.training.pure.split import LONGEST_SEED, PARTS, SEED
from timemachine.memory.training.queries import NotExported, Report, SessionPair
from timemachine.text.redaction.schemas import ProfileVersion, RuleCount, counts_of

Form = Literal["chat", "dpo"]
What = Literal["resolution", "chain"]
Part = Literal["train", "valid", "test"]


class TrainingFilter(Strict):
    """Which pairs of which sessions, and in what form; an empty text matches any session."""

    form: Form = "chat"
    what: What = "resolution"
    part: Literal["train", "valid", "test", ""] = ""
    seed: str = Field(SEED, max_length=LONGEST_SEED)
    shares: str = "80,10,10"
    redaction: str = "built-in"
    agent: str = ""
    user: str = ""
    tag: str = ""
    q: str = ""
    since: str = ""
    until: str = ""

    def options(self) -> ExportOptions:
        """The same as an export takes it. Raises `InvalidInput`."""
        return export_options(**self.model_dump())


class TrainingParts(Schema):
    """A number for each part of the data."""

    train: int
    valid: int
    test: int


class TrainingSplit(Schema):
    """How sessions are divided into parts, and how many sessions and pairs each part has."""

    seed: str
    shares: TrainingParts
    sessions: TrainingParts
    pairs: TrainingParts


class RejectedBy(Schema):
    """How many pairs have an attempt that was rejected by a rule."""

    rule: str
    says: str
    pairs: int


class SkippedCount(Schema):
    """How many sessions or solutions were left out for a reason."""

    reason: str
    says: str
    of: Literal["session", "solution"]
    count: int


class SkippedStep(Schema):
    """A session, or the step of a solution in it, that was left out, and why."""

    session: str
    key: str
    name: str
    step: int | None
    reason: str
    says: str

    @classmethod
    def of(cls, found: NotExported) -> "SkippedStep":
        """What was left out."""
        return cls.from_attributes(
            found,
            session=found.session.id,
            key=found.session.key,
            name=found.session.name,
            says=REASONS[found.reason],
        )


class TrainingPair(Schema):
    """A pair, the steps that it was made from, and its `line` of the file."""

    session: str
    key: str
    part: Part
    solution: int
    steps: list[int]
    rejected_step: int | None
    rule: str | None
    line: dict[str, Any]

    @classmethod
    def of(cls, found: SessionPair, form: str) -> "TrainingPair":
        """The pair with its line in that form."""
        return cls.from_attributes(
            found.pair,
            session=found.session.id,
            key=found.session.key,
            part=found.part,
            line=found.line(form),
        )


class TrainingReport(Schema):
    """The pairs of an export by part and by rule, what was withheld, what was left out and why, and the first pairs.

    `unread` sessions are in the export but were not read for this report, which would have taken too long.
    """

    form: Form
    what: What
    sessions: int
    unread: int
    split: TrainingSplit
    pairs: int
    rejected_by: list[RejectedBy]
    redaction: ProfileVersion
    withheld: list[RuleCount]
    deleted_turns: int
    left_out: list[SkippedCount]
    first_left_out: list[SkippedStep]
    first: list[TrainingPair]

    @classmethod
    def of(cls, report: Report, first: list[SessionPair]) -> "TrainingReport":
        """The report with these pairs."""
        options = report.options
        return cls.from_attributes(
            report,
            form=options.form,
            what=options.what,
            split=_split(report),
            pairs=report.pairs.total(),
            rejected_by=[
                RejectedBy.model_construct(rule=rule, says=RULES[rule], pairs=number)
                for rule, number in report.rules.items()
            ],
            redaction=ProfileVersion.from_attributes(report.profile),
            withheld=counts_of(report.tally),
            left_out=[
                SkippedCount.model_construct(
                    reason=reason,
                    says=REASONS[reason],
                    of="session" if reason in OF_SESSIONS else "solution",
                    count=number,
                )
                for reason, number in report.left_out.most_common()
                if number
            ],
            first_left_out=[SkippedStep.of(each) for each in report.first],
            first=[TrainingPair.of(each, options.form) for each in first],
        )


def _split(report: Report) -> TrainingSplit:
    split = report.options.split
    return TrainingSplit.model_construct(
        seed=split.seed,
        shares=_parts(dict(zip(PARTS, split.shares, strict=True))),
        sessions=_parts(report.of_sessions),
        pairs=_parts(report.pairs),
    )


def _parts(numbers: Mapping[str, int]) -> TrainingParts:
    return TrainingParts.model_construct(train=numbers["train"], valid=numbers["valid"], test=numbers["test"])
