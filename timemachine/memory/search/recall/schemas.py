"""Recall across sessions as the API takes and returns it."""

from typing import Any, Literal, Self, cast

from pydantic import Field, StrictBool, model_validator

from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Schema, Strict
from timemachine.knowledge.embedding.wordllama import TOKENIZER_NAME
from timemachine.memory.search.indexing import MODEL
from timemachine.memory.search.recall.empty_results import explain_no_results
from timemachine.memory.search.recall.prompt_text import prompt_text
from timemachine.memory.search.recall.queries import QueryResult, RecalledTurn, RecallResult, TimeRead
from timemachine.memory.search.recall.questions import (
    MOST_AROUND,
    MOST_QUERIES,
    MOST_RESULTS,
    MOST_TOKENS,
    RecallOptions,
)
from timemachine.memory.search.schemas import Mode, StepHit
from timemachine.memory.transcripts.pure.selection import gaps
from timemachine.memory.transcripts.schemas import TurnOut
from timemachine.recording.sessions.pure.vocabulary import Kind, Role, Significance, Status
from timemachine.recording.sessions.queries import time_of

Relation = Literal["within", "before", "after"]


class RecallIn(Strict):
    """Questions to earlier sessions, and which turns are searched; an empty text or list matches any.

    `agent` is the step's own, else its session's; of several `tags` (of a step or its session), `kinds` and `significances` one is enough.
    `since` and `until` are about the step: RFC 3339, or a date for the whole day. `session` searches one session only; nothing is found in
    `besides`, the session that asks, and the last session is the one before it.
    """

    queries: list[str] = Field(min_length=1, max_length=MOST_QUERIES)
    mode: Mode = "hybrid"
    agent: str = ""
    user: str = ""
    session: str = ""
    besides: str = ""
    tags: list[str] = Field(default_factory=list)
    kinds: list[Kind] = Field(default_factory=list)
    significances: list[Significance] = Field(default_factory=list)
    min_importance: float | None = Field(default=None, ge=0, le=1)
    since: str = ""
    until: str = ""
    time_words: StrictBool = True
    past_times: StrictBool = False
    time_zone: str = "UTC"
    around: int = Field(default=0, ge=0, le=MOST_AROUND)
    limit: int = Field(default=10, ge=1, le=MOST_RESULTS)
    top_k: int | None = Field(default=None, ge=1, le=MOST_RESULTS)
    budget: int | None = Field(default=None, ge=1, le=MOST_TOKENS)

    @model_validator(mode="after")
    def _limit_by_either_name(self) -> Self:
        """Take `top_k` as the limit. Raises `ValueError` if both are given and differ."""
        if self.top_k is not None:
            if "limit" in self.model_fields_set and self.limit != self.top_k:
                raise ValueError("`top_k` is another name for `limit`. Use only one of them.")
            self.limit = self.top_k
        return self

    def options(self) -> RecallOptions:
        """The same as recall takes it."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in self.model_dump(exclude={"top_k"}).items()
        }
        return RecallOptions(**given)


class SessionNames(Schema):
    """A session by its names."""

    id: str
    key: str
    name: str


class TimeReadOut(Schema):
    """Words of a query that were read as a time: which characters they are, and from when until when that is.

    `until` is the first moment after it. `sessions` are those that the words name; `relation` says whether within, before or after them.
    """

    words: str
    start: int
    end: int
    from_: str | None = Field(alias="from")
    until: str | None
    session: SessionNames | None
    sessions: list[SessionNames]
    previous_session: bool
    relation: Relation

    @classmethod
    def of(cls, time: TimeRead) -> "TimeReadOut":
        """The words and their time."""
        return cls.from_attributes(
            time.reading,
            from_=time.begin,
            until=time.until,
            session=time.session,
            sessions=time.sessions,
            relation=time.reading.how or "within",
        )


class TimeUnread(Schema):
    """Words of a query that look like a time and were not read as one, and why."""

    words: str
    start: int
    end: int
    why: str


class SessionRecalled(SessionNames):
    """The session of a recalled turn."""

    agent: str | None
    user: str | None
    status: Status
    started_at: str | None
    turns: int


class TurnAround(TurnOut):
    """A turn around a result; `cut` if only the beginnings of its input, output and error are given."""

    cut: bool


class AroundOut(Schema):
    """The turns around a result, with how many of the session are left out before each and after the last."""

    items: list[TurnAround]
    left_out_after: int

    @classmethod
    def of(cls, recalled: RecalledTurn) -> "AroundOut":
        """The turns in their order."""
        sequences = [row.turn.sequence for row in recalled.around]
        *before, after = gaps(sequences, max(recalled.session.last_sequence, sequences[-1]))
        items = [
            TurnAround.model_construct(**row.document, left_out_before=missing, cut=row.cut)
            for row, missing in zip(recalled.around, before, strict=True)
        ]
        return cls.model_construct(items=items, left_out_after=after)


class TurnRecalled(StepHit):
    """A turn of an earlier session that answers a query."""

    session: SessionRecalled
    role: Role | None
    significance: Significance | None
    importance: float | None
    tags: list[str]
    at: str | None
    around: AroundOut | None = None  # absent unless turns around the results were requested

    @classmethod
    def of(cls, recalled: RecalledTurn) -> "TurnRecalled":
        """The turn, with those around it."""
        session, action = recalled.session, recalled.hit.action
        found = cls.of_hit(
            recalled.hit,
            session=SessionRecalled.from_attributes(
                session, started_at=session.began_at, turns=session.last_sequence
            ),
            role=action.role,
            significance=recalled.significance,
            importance=recalled.importance,
            tags=action.tags,
            at=written(time_of(action, session)),
        )
        return found.model_copy(update={"around": AroundOut.of(recalled)}) if recalled.around else found


class QueryRecalled(Schema):
    """The answer to one query: what was read as a time, the remaining search terms, and the turns found, best first.

    `nothing` is why there are no results, null if there are.
    """

    query: str
    looked_for: str
    times: list[TimeReadOut]
    unread: list[TimeUnread]
    ranked_by: str
    results: list[TurnRecalled]
    nothing: str | None

    @classmethod
    def of(cls, answer: QueryResult, options: RecallOptions) -> "QueryRecalled":
        """The answer."""
        return cls.from_attributes(
            answer,
            times=[TimeReadOut.of(time) for time in answer.times],
            results=[TurnRecalled.of(each) for each in answer.results],
            nothing=explain_no_results(answer, options),
        )


class PromptTurns(Schema):
    """How many turns of how many sessions are in the text for a prompt."""

    turns: int
    sessions: int


class PromptTokens(Schema):
    """How many tokens the text for a prompt has, of how many allowed; `least` is what the shortest turn takes if none fits."""

    kept: int
    budget: int
    tokenizer: str
    estimated: bool
    least: int | None


class RecallOut(Schema):
    """The answers to the queries, in their order. With a `budget`, `text` is the best turns for a prompt.

    `not_indexed` is how many steps cannot be found yet, `no_embeddings` why nothing was compared by meaning, null if it was.
    """

    items: list[QueryRecalled]
    mode: Mode
    embedding_model: str | None
    no_embeddings: str | None
    not_indexed: int
    time_zone: str
    text: str | None = None  # absent without a budget
    told: PromptTurns | None = None  # absent without a budget
    tokens: PromptTokens | None = None  # absent without a budget

    @classmethod
    def of(cls, found: RecallResult) -> "RecallOut":
        """The answers, with a text for a prompt if there is a budget."""
        by_meaning = found.options.mode != "text" and not found.no_embeddings
        answered = cls.model_construct(
            items=[QueryRecalled.of(answer, found.options) for answer in found.answers],
            mode=cast("Mode", found.options.mode),
            embedding_model=MODEL.name if by_meaning else None,
            no_embeddings=found.no_embeddings,
            not_indexed=found.not_indexed,
            time_zone=found.options.time_zone,
        )
        return (
            answered.model_copy(update=_prompt(found, found.options.budget))
            if found.options.budget
            else answered
        )


def _prompt(found: RecallResult, budget: int) -> dict[str, object]:
    prompt = prompt_text(found, budget)
    tokens = PromptTokens.model_construct(
        kept=prompt.tokens,
        budget=budget,
        tokenizer=TOKENIZER_NAME,
        estimated=prompt.estimated,
        least=prompt.least,
    )
    turns = PromptTurns.model_construct(turns=prompt.turns, sessions=prompt.sessions)
    return {"text": prompt.text, "told": turns, "tokens": tokens}
