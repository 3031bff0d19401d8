"""Transcripts, summaries and compression of sessions as the API takes and returns them."""

from typing import Any, Literal

from pydantic import Field, StrictBool

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME
from timemachine.llm.schemas import CallUsageOut, FailureOut
from timemachine.memory.transcripts.options import MOST_TOKENS
from timemachine.memory.transcripts.summarising import EXTRACTIVE
from timemachine.memory.transcripts.transcript import AmountOut, Effect, Transcript
from timemachine.recording.annotations.significance.models import Compression, CompressionChange, Rule
from timemachine.recording.annotations.significance.schemas import CompressionChangeOut
from timemachine.recording.answering.models import SessionSummary
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.vocabulary import Kind, Role, Significance, Status
from timemachine.recording.timeline.schemas.actions import TurnDeleted


class TranscriptFilter(Strict):
    """Which turns are returned, and in which form; several words of one field are separated by commas."""

    form: Literal["json", "text", "messages"] = Field("json", alias="as")
    significance: str = ""
    role: str = ""
    kind: str = ""
    tag: str = ""
    min_importance: float | None = Field(None, ge=0, le=1)
    budget: int | None = Field(None, ge=1, le=MOST_TOKENS)


class TranscriptSession(Schema):
    """The session of a transcript."""

    id: str
    key: str
    name: str
    agent: str | None
    user: str | None
    status: Status
    started_at: str | None
    ended_at: str | None

    @classmethod
    def of(cls, session: Session) -> "TranscriptSession":
        """The session."""
        return cls.from_attributes(session, started_at=session.began_at)


class TranscriptFilters(Schema):
    """The filters of a transcript; an empty list matches any."""

    significance: list[str]
    role: list[str]
    kind: list[str]
    tag: list[str]
    min_importance: float | None
    budget: int | None


class TurnCount(Schema):
    """How many turns a transcript has, of how many recorded."""

    kept: int
    recorded: int


class TokenCount(TurnCount):
    """How many tokens the turns have. `marks` are the tokens of the marks that replace turns, which count towards the budget."""

    marks: int
    tokenizer: str
    estimated: bool


class TranscriptHead(Schema):
    """What a transcript is of, and how much of it that is."""

    session: TranscriptSession
    through_sequence: int
    asked: TranscriptFilters
    turns: TurnCount
    tokens: TokenCount

    @classmethod
    def of(cls, found: Transcript) -> "TranscriptHead":
        """The head of the transcript."""
        return cls.model_construct(
            session=TranscriptSession.of(found.session),
            through_sequence=found.through,
            asked=TranscriptFilters.from_attributes(found.asked),
            turns=TurnCount.model_construct(kept=found.kept.turns, recorded=found.recorded.turns),
            tokens=TokenCount.model_construct(
                kept=found.kept.tokens,
                recorded=found.recorded.tokens,
                marks=found.marks,
                tokenizer=TOKENIZER_NAME,
                estimated=found.estimated,
            ),
        )


class TurnOut(Schema):
    """A turn of a session as it was recorded; `left_out_before` is how many turns before it are left out.

    `turn_rows.Row.document` writes it: 10,000 of them are streamed at a time, too many to make each a schema first.
    """

    sequence: int
    kind: Kind
    role: Role | None
    agent: str | None
    name: str | None
    tool: str | None
    model: str | None
    significance: Significance | None
    importance: float | None
    copied: bool
    tags: list[str]
    started_at: str | None
    duration_ms: float | None
    input: Any
    output: Any
    error: FailureOut | None
    deleted: TurnDeleted | None = None  # absent unless the turn was deleted
    left_out_before: int


class TranscriptOut(TranscriptHead):
    """A session's turns in their order, or those that match; `left_out_after` is how many are left out after the last."""

    left_out_after: int
    items: list[TurnOut]


class ChatMessage(Schema):
    """A message for a chat model."""

    role: str
    content: str


class TranscriptMessages(TranscriptHead):
    """The same as the messages of a chat, in which marks say where turns are left out."""

    messages: list[ChatMessage]


class SummaryIn(Strict):
    """The collection to put a summary into, the session's own by default, and the model that writes it."""

    collection: str = ""
    use_model: str = EXTRACTIVE


class SessionSummaryOut(Schema):
    """A summary of a session as a frame of a collection: which steps it cites, which model wrote it and what that cost.

    `unknown_steps` are cited in it but were not given to the model.
    """

    id: str
    collection: str
    frame: int
    version: int
    model: str
    prompt_template: str | None
    through_sequence: int
    steps: list[int]
    unknown_steps: list[int]
    usage: CallUsageOut | None
    cost_usd: float | None
    prices: JsonObject | None
    by: str
    at: str

    @classmethod
    def of(cls, made: SessionSummary) -> "SessionSummaryOut":
        """The summary."""
        return cls.from_attributes(
            made,
            collection=made.collection.name,
            frame=made.number,
            through_sequence=made.through,
            usage=made.usage and CallUsageOut.model_construct(**made.usage),
        )


class SessionSummaries(Page[SessionSummaryOut]):
    """The summaries of a session, the latest first."""


class ProposalAnswer(Strict):
    """Whether a proposal is accepted or declined."""

    sequence: int = Field(ge=1, lt=2**62)
    rule: Rule
    accept: StrictBool


class ProposalOut(Schema):
    """The significance that a rule proposes for a step, and why."""

    sequence: int
    rule: Rule
    significance: Significance
    reason: str


class ProposalPage(Page[ProposalOut]):
    """The suggestions of rules for a session. The first `read` of its `recorded` steps were checked."""

    read: int
    recorded: int


class CompressionOut(Schema):
    """What compressing a session does, or did: the turns that stay as they are, and those that fall to an importance of 0.30.

    `through` is the last compressed step, null where the session is not compressed.
    """

    compressed: bool
    through: int | None
    kept: AmountOut
    falls: AmountOut
    estimated: bool
    history: list[CompressionChangeOut]

    @classmethod
    def of(
        cls, now: Compression | None, effect: Effect, history: list[CompressionChange]
    ) -> "CompressionOut":
        """The compression of a session that has that effect."""
        return cls.from_attributes(
            effect,
            compressed=now is not None,
            through=None if now is None else now.through,
            history=history,
        )
