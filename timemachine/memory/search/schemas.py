"""A search across sessions as the API takes and returns it."""

from typing import Any, Final, Literal, Self

from pydantic import Field

from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.memory.search.empty_results import explain_no_results
from timemachine.memory.search.hits import Hit
from timemachine.memory.search.indexing import MODEL
from timemachine.memory.search.names import Part
from timemachine.memory.search.queries import SearchResult, SessionGroup
from timemachine.recording.sessions.pure.vocabulary import Kind, Status

FoundBy = Literal["words", "meaning"]
Mode = Literal["hybrid", "text", "semantic"]
FOUND_BY: Final[dict[str, FoundBy]] = {"text": "words", "semantic": "meaning"}


class SearchIn(Strict):
    """What is searched for, and where; an empty text matches any, and a step must match all filters.

    `since` and `until` are about the step: RFC 3339, or a date for the whole day. `status` is the step's (`error`, `ok`) or its session's
    (`recording`, `ended`); `user` and `min_cost` (USD) are its session's, `tag` is of either.
    """

    q: str
    mode: Mode = "hybrid"
    kind: Literal[Kind, ""] = ""
    tool: str = ""
    model: str = ""
    agent: str = ""
    status: Literal["error", "ok", "recording", "ended", ""] = ""
    since: str = ""
    until: str = ""
    session: str = ""
    user: str = ""
    tag: str = ""
    min_cost: float | None = Field(default=None, ge=0)
    limit: int = 50
    after: str | None = None


class MatchedPassage(Schema):
    """The passage of a step that matches, and in which part of the step it is.

    `marks` are the first and the last-but-one character of each marked run. `begins` and `ends`: whether it is the part's begin and end.
    """

    in_: str = Field(alias="in")
    text: str
    marks: list[list[int]]
    begins: bool
    ends: bool


class HitScores(Schema):
    """The scores by keyword (`text`) and by meaning (`semantic`), each absent if the step was not found by it."""

    text: float | None = None
    semantic: float | None = None


class StepHit(Schema):
    """A step that was found, and by what; `cut` if only the beginning of it was searched."""

    sequence: int
    kind: Kind
    label: str
    name: str | None
    tool: str | None
    agent: str | None
    model: str | None
    failed: bool
    started_at: str | None
    score: float
    scores: HitScores
    found_by: list[FoundBy]
    passage: MatchedPassage | None
    cut: bool
    address: str

    @classmethod
    def of_hit(cls, hit: Hit, **more: Any) -> Self:
        """The step, with the fields that a subclass has besides."""
        action = hit.action
        return cls.from_attributes(
            action,
            **more,
            failed=action.error_type is not None or action.error_message is not None,
            score=hit.score,
            scores=HitScores.model_construct(None, **hit.scores),
            found_by=[FOUND_BY[name] for name in hit.scores],
            passage=_passage(hit),
            cut=hit.cut,
            address=f"/sessions/{action.session_id}/?step={action.sequence}",
        )


class MatchedSession(Schema):
    """A session in which something was found."""

    id: str
    key: str
    name: str
    agent: str | None
    status: Status
    started_at: str | None


class SessionHits(Schema):
    """A session with its best steps. `matches` is how many of its steps have the words, null if it was found by meaning; `more` of those are not listed.

    `named` says where the session itself has the words: in its `name`, `key` or `tags`. Then it can have no hits.
    """

    session: MatchedSession
    named: list[Part]
    matches: int | None
    more: int
    hits: list[StepHit]

    @classmethod
    def of(cls, group: SessionGroup) -> "SessionHits":
        """The session with its hits."""
        return cls.model_construct(
            session=MatchedSession.from_attributes(group.session, started_at=group.session.began_at),
            named=list(group.named),
            matches=group.number,
            more=group.more,
            hits=[StepHit.of_hit(hit) for hit in group.hits],
        )


class SearchPage(Page[SessionHits]):
    """Sessions with their best steps, why each was found, and what the search could not see.

    `no_embeddings` is why nothing was compared by meaning, `nothing` why there are no results; each null otherwise.
    """

    mode: Mode
    embedding_model: str | None
    no_embeddings: str | None
    too_common: bool
    nothing: str | None
    not_indexed: int

    @classmethod
    def of(cls, found: SearchResult) -> "SearchPage":
        """A page of the search."""
        return cls.from_attributes(
            found,
            items=[SessionHits.of(group) for group in found.groups],
            mode=found.options.mode,
            embedding_model=None if found.options.mode == "text" or found.no_embeddings else MODEL.name,
            nothing=explain_no_results(found),
        )


def _passage(hit: Hit) -> MatchedPassage | None:
    found = hit.passage
    if found is None:
        return None
    return MatchedPassage.from_attributes(found, in_=found.part, marks=hit.marks)
