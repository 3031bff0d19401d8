"""Put, find and ask as the API takes and returns them."""

from dataclasses import replace

from pydantic import Field, StrictBool

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.knowledge.commands import NewFrame
from timemachine.knowledge.find import Query
from timemachine.knowledge.schemas.findings import EmptyOut, FindingsOut, Mode
from timemachine.llm.pure.completion import is_cut_off, is_refused
from timemachine.llm.schemas import UsageOut
from timemachine.recording.answering.commands import AskDone, FindDone, PutDone
from timemachine.recording.answering.model_asks import CallParameters
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.sessions.queries import resolve_moment


class FrameIn(Strict):
    """A passage to put; `frame` names the frame that it is a new version of."""

    text: str
    title: str = ""
    uri: str = ""
    metadata: JsonObject = Field(default_factory=dict)
    frame: int | None = Field(default=None, ge=0, le=2**62)


class PutIn(FrameIn):
    """One passage, or several in `frames`."""

    text: str | None = None  # type: ignore[assignment]  # absent where `frames` is given
    frames: list[FrameIn] | None = Field(default=None, max_length=1000)

    def new_frames(self) -> list[NewFrame]:
        """The passages. Raises `InvalidInput` if there is neither `text` nor `frames`, or both."""
        if (self.text is None) == (self.frames is None):
            raise InvalidInput("Send one passage in `text` or several in `frames`.", code="invalid_request")
        if self.frames is not None:
            return [replace(_new_frame(each), may_be_empty=True) for each in self.frames]
        return [_new_frame(self)]


class SessionPutIn(PutIn):
    """A put inside a session; `collection` and `agent` where they are not the session's own."""

    collection: str | None = None
    agent: str | None = None


class _Retrieval(Strict):
    """How to search for passages."""

    top_k: int = 8
    mode: Mode = "hybrid"
    adaptive: StrictBool = False
    min_score: float | None = None
    relative: float | None = None
    cliff: float | None = None
    as_of: str | None = None
    embedding_model: str | None = None

    def in_project(self, project: Project, text: str) -> Query:
        """The query for a text; `as_of` can name a moment of the project."""
        return Query(
            text=text,
            mode=self.mode,
            top_k=self.top_k,
            adaptive=self.adaptive,
            min_score=self.min_score,
            relative=self.relative,
            cliff=self.cliff,
            as_of=resolve_moment(project, self.as_of),
            embedding_model=self.embedding_model,
        )


class FindIn(_Retrieval):
    """A query, and how to search."""

    query: str


class SessionFindIn(FindIn):
    """A find inside a session; `collection` and `agent` where they are not the session's own."""

    collection: str | None = None
    agent: str | None = None


class AskIn(_Retrieval):
    """A question, how to look for passages, and which model answers over them."""

    question: str
    use_model: str = ""
    system_prompt: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    no_cache: StrictBool = False
    stream: StrictBool = False

    def parameters(self) -> CallParameters:
        """The parameters of the call of the model."""
        return CallParameters(
            system_prompt=self.system_prompt,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
        )


class SessionAskIn(AskIn):
    """An ask inside a session; `collection` and `agent` where they are not the session's own."""

    collection: str | None = None
    agent: str | None = None


class FramePut(Schema):
    """A frame that was put; `already_there` where the same passage was in the collection, and nothing was added."""

    frame: int
    version: int
    sha256: str
    title: str
    already_there: bool


class PutOut(Schema):
    """The frames that were put, and the sequences of the steps where a session recorded them."""

    frames: list[FramePut]
    sequences: list[int]

    @classmethod
    def of(cls, done: PutDone) -> "PutOut":
        frames = [
            FramePut.from_attributes(each.frame, frame=each.frame.number, already_there=each.already_there)
            for each in done.puts
        ]
        return cls.model_construct(frames=frames, sequences=done.sequences)


class FindOut(FindingsOut):
    """The result of a find, and the step where a session recorded it. `empty` is null unless there was nothing to find."""

    empty: EmptyOut | None
    sequence: int | None

    @classmethod
    def of(cls, done: FindDone) -> "FindOut":
        return cls.of_findings(done.findings, empty=done.empty, sequence=done.sequence)


class _Answer(Schema):
    """What a model answered, and what it used."""

    answer: str | None
    model: str
    parameters: JsonObject
    finish_reason: str | None
    cut_off: bool | None
    refused: bool | None
    usage: UsageOut | None
    cost_usd: float | None
    prices: JsonObject | None
    grounding: JsonObject | None
    cached: bool
    saved_usd: float | None
    cached_from: JsonObject | None
    duration_ms: float | None


class AskOut(FindOut, _Answer):
    """The answer of a model over what was found, and the step where a session recorded it."""

    @classmethod
    def of(cls, done: AskDone) -> "AskOut":  # type: ignore[override]  # an ask answers more than a find
        reason = done.answered.parameters.get("finish_reason")
        answer = _Answer.from_attributes(
            done.answered,
            answer=done.answered.text,
            finish_reason=reason,
            cut_off=is_cut_off(reason),
            refused=is_refused(reason),
        )
        found = FindingsOut.of_findings(done.findings)
        return cls.model_construct(
            **dict(answer),
            **dict(found),
            empty=EmptyOut.from_attributes(done.empty) if done.empty else None,
            sequence=done.sequence,
        )


class AskUnderWayOut(Schema):
    """An ask whose model has not answered yet."""

    id: str
    session: str | None
    question: str
    started_at: str
    cancel_wanted: bool

    @classmethod
    def of(cls, ask: AskUnderWay) -> "AskUnderWayOut":
        return cls.from_attributes(
            ask,
            session=ask.session.key if ask.session else None,
            cancel_wanted=ask.cancel_wanted_at is not None,
        )


class AsksUnderWay(Page[AskUnderWayOut]):
    """Asks whose models have not answered yet, the oldest first."""


def _new_frame(payload: FrameIn) -> NewFrame:
    return NewFrame(
        text=payload.text or "",
        title=payload.title,
        uri=payload.uri,
        metadata=payload.metadata,
        number=payload.frame,
    )


class AnswerCacheChange(Strict):
    """Whether the answer cache is on."""

    on: StrictBool


class AnswerCacheOut(Schema):
    """Whether the answer cache is on, since when, how many answers it holds, and how many bytes these have."""

    on: bool
    changed_by: str | None
    changed_at: str | None
    answers: int
    bytes: int
    most_bytes: int


class AnswerCacheEmptied(Schema):
    """How many answers were removed from the cache."""

    removed: int
