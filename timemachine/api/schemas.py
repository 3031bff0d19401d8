"""What programs send: names and types of every field; an unknown field is refused by its name."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from timemachine.api.moments import Happened
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.schemas import Strict
from timemachine.recording.sessions.pure.vocabulary import Kind, Layer, Role, Significance, Status

Mode = Literal["hybrid", "semantic", "lexical"]


class ParentIn(Strict):
    """The session and step that a session branched from."""

    session: str
    sequence: int = Field(ge=1)


class SessionIn(Strict):
    """A new session; `started_at` is for one that began before the server heard of it."""

    name: str
    key: str | None = None
    agent: str | None = None
    user: str | None = None
    collection: str | None = Field(default=None, min_length=1)
    parent: ParentIn | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    started_at: Happened | None = None


class SessionEnd(Strict):
    """When a session that is recorded elsewhere ended; without it, it ends now."""

    ended_at: Happened | None = None


class SessionChange(Strict):
    """What of a session may change: how people call and group it, never what it recorded."""

    name: str | None = None
    metadata: dict[str, Any] | None = None
    tags: list[str] | None = None


class FrameIn(Strict):
    """A passage to put; `frame` names the frame that it is a new version of."""

    text: str
    title: str = ""
    uri: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    frame: int | None = Field(default=None, ge=0, le=2**62)


class PutIn(Strict):
    """One passage, or several in `frames`."""

    text: str | None = None
    title: str = ""
    uri: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    frame: int | None = Field(default=None, ge=0, le=2**62)
    frames: list[FrameIn] | None = Field(default=None, max_length=1000)


class SessionPutIn(PutIn):
    """A put inside a session; `collection` and `agent` where they are not the session's own."""

    collection: str | None = None
    agent: str | None = None


class FindIn(Strict):
    """A query, and how to look."""

    query: str
    top_k: int = 8
    mode: Mode = "hybrid"
    adaptive: bool = False
    min_score: float | None = None
    relative: float | None = None
    cliff: float | None = None
    as_of: str | None = None
    embedding_model: str | None = None


class SessionFindIn(FindIn):
    """A find inside a session; `collection` and `agent` where they are not the session's own."""

    collection: str | None = None
    agent: str | None = None


class AskIn(Strict):
    """A question, how to look for passages, and which model answers over them."""

    question: str
    use_model: str = ""
    top_k: int = 8
    mode: Mode = "hybrid"
    adaptive: bool = False
    min_score: float | None = None
    relative: float | None = None
    cliff: float | None = None
    as_of: str | None = None
    embedding_model: str | None = None
    system_prompt: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    no_cache: bool = False
    stream: bool = False


class SessionAskIn(AskIn):
    """An ask inside a session; `collection` and `agent` where they are not the session's own."""

    collection: str | None = None
    agent: str | None = None


class CollectionIn(Strict):
    """A new collection."""

    name: str


class EmbeddingIn(Strict):
    """The embedding model that a collection is to have."""

    model: str


class CheckpointIn(Strict):
    """A named point from which an agent can resume, with its state."""

    name: str
    state: dict[str, Any] = Field(default_factory=dict)
    agent: str | None = None


class ResumeIn(Strict):
    """Which checkpoint to resume from: its sequence or its name; the last one without."""

    checkpoint: int | str | None = None


class ShareIn(Strict):
    """A share link to make. Which numbers can be, `governance.sharing.pure.terms` says in a sentence that names them."""

    target_type: Literal["session", "replay", "comparison"]
    target_id: str
    through_sequence: int | None = None
    expires_at: AwareDatetime | None = None
    passphrase: str | None = None
    max_opens: int | None = None
    evidence_only: bool = False
    redaction: str | None = None
    label: str = ""


class SharePolicyIn(Strict):
    """What is to change of what a project allows of its links; `longest_days` null is as long as any link may live."""

    forbidden: bool = False
    passphrase_required: bool = False
    profile_required: bool = False
    longest_days: int | None = None


class KeyIn(Strict):
    """An API key to make."""

    name: str
    scopes: list[str]
    expires_at: AwareDatetime | None = None


class AnswerIn(Strict):
    """An answer and the passages that should support it."""

    answer: str
    context: list[str] = Field(max_length=1_000)


class GroundIn(Strict):
    """An answer and the passages that should support it, or several in `items`."""

    answer: str | None = None
    context: list[str] | None = Field(default=None, max_length=1_000)
    items: list[AnswerIn] | None = Field(default=None, min_length=1, max_length=200)

    def answers(self) -> list[AnswerIn]:
        """All that is to be grounded. Raises `InvalidInput` where it is neither one answer nor several."""
        if self.items is not None and self.answer is None and self.context is None:
            return self.items
        if self.items is None and self.answer is not None and self.context is not None:
            return [AnswerIn(answer=self.answer, context=self.context)]
        raise InvalidInput("Send either `answer` and `context`, or `items`.", code="invalid_request")


class NoteIn(Strict):
    """A sentence to pin to a step."""

    sequence: int = Field(ge=1, lt=2**62)
    text: str


class RedactionIn(Strict):
    """A redaction profile to make; `text.redaction.pure.rules.read_rules` reads its rules."""

    name: str
    rules: dict[str, Any]


class RedactionChange(Strict):
    """Other rules for a redaction profile."""

    rules: dict[str, Any]


class ErasureIn(Strict):
    """What shall be erased of a session: what a redaction profile finds, or fields by their paths, of some steps or of all."""

    redaction: str | None = None
    fields: list[str] = Field(default_factory=list, max_length=100)
    steps: list[Annotated[int, Field(ge=1, lt=2**62)]] = Field(default_factory=list, max_length=1_000)


class ErasureConfirmation(Strict):
    """Why it is erased."""

    reason: str


class SessionErasure(Strict):
    """Why a session is erased."""

    reason: str = ""


class RedactionTest(Strict):
    """A text, or a step of a session, and the profile (or rules of its own) to look at it with."""

    text: str | None = Field(default=None, max_length=200_000)
    session: str | None = None
    sequence: int | None = Field(default=None, ge=1, lt=2**62)
    redaction: str = "built-in"
    rules: dict[str, Any] | None = None


class AnswerCacheChange(Strict):
    """Whether the answer cache is to be on."""

    on: bool


class SessionFilter(Strict):
    """Which sessions are listed; an empty text asks for any, and all that is asked for must hold.

    `q` is looked for in names and keys, and in what the steps say, as in the search. `tool`, `kind` and `model` ask for sessions with such
    a step. `since` and `until` are about the session's start: RFC 3339, or a date for the whole day. `min_cost` is in USD.
    `held` is `yes` for those under legal hold, `no` for the others.
    """

    agent: str = ""
    user: str = ""
    tool: str = ""
    kind: Literal[Kind, ""] = ""
    model: str = ""
    status: Literal[Status, ""] = ""
    tag: str = ""
    q: str = ""
    since: str = ""
    until: str = ""
    min_cost: float | None = Field(default=None, ge=0)
    held: Literal["yes", "no", ""] = ""
    limit: int = 50
    after: str | None = None


class ActionFilter(Strict):
    """Which of a session's actions are listed."""

    after: str | None = None
    limit: int = 50
    kind: Literal[Kind, ""] = ""
    layer: Literal[Layer, ""] = ""
    role: Literal[Role, ""] = ""
    significance: Literal[Significance, ""] = ""
    min_importance: float | None = Field(default=None, ge=0, le=1)
    tag: str = ""
    model: str = ""
    tool: str = ""

    def exactly(self) -> dict[str, str]:
        """The fields that have to match as they are."""
        names = ("kind", "layer", "role", "model", "tool")
        return {name: asked for name in names if (asked := getattr(self, name))}
