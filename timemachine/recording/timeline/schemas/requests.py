"""Actions as clients send them."""

from decimal import Decimal
from typing import Any, Literal, Self

from pydantic import AwareDatetime, Field, StrictBool, field_validator, model_validator

from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Strict
from timemachine.recording.sessions.commands import check_count
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage, copy_of
from timemachine.recording.sessions.pure.validation import check_parents
from timemachine.recording.sessions.pure.vocabulary import Kind, Layer, Role, Significance
from timemachine.recording.sessions.schemas import Happened


class UsageIn(Strict):
    """Tokens of one model call."""

    input_tokens: int | None = Field(default=None, strict=True)
    output_tokens: int | None = Field(default=None, strict=True)
    total_tokens: int | None = Field(default=None, strict=True)
    cached_tokens: int | None = Field(default=None, strict=True)
    cache_write_tokens: int | None = Field(default=None, strict=True)
    reasoning_tokens: int | None = Field(default=None, strict=True)

    @model_validator(mode="after")
    def _parts_of_it(self) -> Self:
        read, cached = self.input_tokens, self.cached_tokens
        if read is not None and cached is not None and cached > read:
            raise ValueError(
                "`cached_tokens` are part of `input_tokens` and cannot be more. If the provider counts them separately, add them to `input_tokens`"
            )
        return self


class HitIn(Strict):
    """One passage that a step retrieved."""

    rank: int
    score: float | None = None
    scores: dict[str, float] | None = None
    frame: int | str | None = None
    version: int | None = None
    title: str | None = None
    uri: str | None = None
    metadata: JsonObject | None = None
    sha256: str | None = None
    text: str | None = None
    matched: JsonObject | None = None


class RetrievalIn(Strict):
    """The passages that a step retrieved, and how."""

    collection: str | None = None
    mode: str | None = None
    top_k: int | None = None
    adaptive: StrictBool | None = None
    cut_by: str | None = None
    as_of: AwareDatetime | None = None
    embedding_model: str | None = None
    semantic_search: str | None = None
    curve: JsonObject | None = None
    below: JsonObject | None = None
    not_embedded: int | None = Field(default=None, ge=0, lt=2**62)
    thresholds: JsonObject | None = None
    min_score: float | None = None
    hits: list[HitIn] = Field(default_factory=list)

    def draft(self) -> RetrievalDraft:
        """The same as recording takes it."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name != "hits"}
        return RetrievalDraft(**given, hits=tuple(HitDraft(**hit.model_dump()) for hit in self.hits))


class ErrorIn(Strict):
    """What went wrong in a step."""

    type: str | None = None
    message: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.type is None and self.message is None:
            raise ValueError("must have a `type`, a `message` or both; leave it out if nothing went wrong")
        return self


class CachedFromIn(Strict):
    """The ask that a cached answer was first given to; without a session it was asked outside one."""

    session: str | None = None
    sequence: int | None = Field(default=None, ge=1, lt=2**62)
    at: Happened | None = None
    call_ms: float | None = Field(default=None, ge=0)
    usage: UsageIn | None = None

    def as_json(self) -> JsonObject:
        """The same as recording stores it."""
        return {**self.model_dump(), "at": written(self.at)}


class CopiedFromIn(Strict):
    """The session by its key, and the step in it by its id or sequence, that a step was copied from; null if unknown."""

    session: str | None = None
    step: int | str | None = None


class ActionIn(Strict):
    """One action, as "An action in JSON" describes it."""

    kind: str
    id: str | None = None
    layer: str | None = None
    role: str | None = None
    agent: str | None = None
    name: str | None = None
    tool: str | None = None
    call_id: str | None = None
    parent: int | str | None = None
    copied_from: CopiedFromIn | None = None
    significance: str | None = None
    importance: float | None = Field(default=None, strict=True)
    iteration: int | None = Field(default=None, strict=True)
    tags: list[str] = Field(default_factory=list)
    metadata: JsonObject | None = None
    started_at: Happened | None = None
    duration_ms: float | None = Field(default=None, strict=True)
    input: Any = None
    output: Any = None
    error: ErrorIn | None = None
    model: str | None = None
    parameters: JsonObject | None = None
    usage: UsageIn | None = None
    cost_usd: Decimal | None = Field(default=None, ge=0, lt=10**9)
    prices: JsonObject | None = None
    cached: StrictBool | None = None
    saved_usd: Decimal | None = Field(default=None, ge=0, lt=10**9)
    cached_from: CachedFromIn | None = None
    grounding: JsonObject | None = None
    retrieval: RetrievalIn | None = None

    @field_validator("id", "parent")
    @classmethod
    def _not_empty(cls, given: Any) -> Any:
        if given == "":
            raise ValueError("it is empty; leave it out or name the action")
        return given

    def draft(self) -> ActionDraft:
        """The same as recording takes it."""
        apart = {"error", "usage", "retrieval", "tags", "cached_from", "copied_from"}
        given = {name: getattr(self, name) for name in ActionIn.model_fields if name not in apart}
        return ActionDraft(
            **given,
            tags=tuple(self.tags),
            error_type=self.error.type if self.error else None,
            error_message=self.error.message if self.error else None,
            usage=Usage(**self.usage.model_dump()) if self.usage else None,
            copied_from=copy_of(self.copied_from.session, self.copied_from.step)
            if self.copied_from
            else None,
            cached_from=self.cached_from.as_json() if self.cached_from else None,
            retrieval=self.retrieval.draft() if self.retrieval else None,
        )


class ActionsIn(ActionIn):
    """One action, or several in `actions`."""

    kind: str | None = None  # type: ignore[assignment]  # absent where `actions` is given
    actions: list[ActionIn] | None = None

    @field_validator("actions", mode="before")
    @classmethod
    def _not_too_many(cls, given: Any) -> Any:
        if isinstance(given, list):
            check_count(len(given))
        return given

    def drafts(self) -> list[ActionDraft]:
        """The same as recording takes them. Raises `InvalidInput` where the request has neither or both forms."""
        if self.actions is None:
            if self.kind is None:
                raise InvalidInput(
                    "Send one action with its `kind` or several in `actions`.", code="invalid_request"
                )
            return [self.draft()]
        if self.model_fields_set != {"actions"}:
            raise InvalidInput("Send either one action or `actions`, not both.", code="invalid_request")
        drafts = [each.draft() for each in self.actions]
        check_parents(drafts)
        return drafts


class ActionFilter(Strict):
    """Which of a session's actions are listed; an empty text matches any, and an action must match all filters."""

    after: str | None = None
    limit: int = 50
    kind: Literal[Kind, ""] = ""
    layer: Literal[Layer, ""] = ""
    role: Literal[Role, ""] = ""
    significance: Literal[Significance, ""] = ""
    min_importance: float | None = Field(default=None, ge=0, le=1)
    tag: str = ""
    metadata: str = ""
    model: str = ""
    tool: str = ""

    def exactly(self) -> dict[str, str]:
        """The fields that have to match as they are."""
        names = ("kind", "layer", "role", "model", "tool")
        return {name: value for name in names if (value := getattr(self, name))}
