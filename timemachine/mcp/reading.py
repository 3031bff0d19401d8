"""Tools that read a recorded session: get_transcript, get_step."""

from typing import Any, Final, Self

from pydantic import Field, model_validator

from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp.api import Api, Refused, path_of
from timemachine.mcp.pages import page, place_of
from timemachine.mcp.parts import Part, cut_parts
from timemachine.mcp.tool import NOTICE, Answer, Item, Paged, Sized, Tool, without_null
from timemachine.recording.sessions.pure.turn_text import Turn, content_of, who_of
from timemachine.recording.sessions.pure.vocabulary import Kind, Role, Significance

SESSION: Final = "The session's key or id, as other tools return it."
STEPS_AT_ONCE: Final = 50


class StepItem(Item):
    """A step. `who` is its speaker or what it did; `text` its content."""

    step: int
    kind: Kind
    who: str
    text: str
    significance: str | None = None
    at: str | None = None
    failed: bool = False
    session: str | None = None
    session_name: str | None = None
    around: list["StepItem"] | None = None


def step_item(found: JsonObject, **more: Any) -> JsonObject:
    """Return a step of the API for an answer."""
    error = found.get("error") or {}
    turn = Turn(
        sequence=found["sequence"],
        kind=found["kind"],
        role=found.get("role"),
        name=found.get("name"),
        tool=found.get("tool"),
        model=found.get("model"),
        input=found.get("input"),
        output=found.get("output"),
        error=(error.get("type"), error.get("message")),
    )
    significance = found.get("significance")
    return {
        "step": turn.sequence,
        "kind": turn.kind,
        "who": who_of(turn),
        **without_null(
            significance=None if significance == "normal" else significance,
            at=found.get("at") or found.get("started_at"),
            failed=bool(error) or None,
        ),
        **more,
        "text": "[deleted]" if found.get("deleted") else content_of(turn),
    }


class TranscriptArguments(Paged):
    """Which steps of a session."""

    session: str = Field(description=SESSION)
    kind: Kind | None = Field(default=None, description="Only steps of this kind.")
    role: Role | None = Field(default=None, description="Only messages with this role.")
    significance: Significance | None = Field(default=None, description="Only steps with this significance.")
    min_importance: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Only steps with at least this importance; 0.9 leaves decisions, solutions and breakthroughs.",
    )


class TranscriptAnswer(Answer):
    """The steps of a session in their order."""

    session: str
    name: str
    status: str
    recorded_steps: int
    steps: list[StepItem]
    next: str | None = None


async def _transcript(api: Api, asked: TranscriptArguments) -> JsonObject:
    _, cursor = place_of(asked.after)
    session = await api.call("GET", path_of(asked.session))
    filters = asked.model_dump(include={"kind", "role", "significance", "min_importance"}, exclude_none=True)
    found = await api.call(
        "GET", path_of(asked.session, "actions"), query={"limit": STEPS_AT_ONCE, "after": cursor, **filters}
    )
    head = {
        "notice": NOTICE,
        "session": session["key"],
        "name": session["name"],
        "status": session["status"],
        "recorded_steps": session["actions"],
    }
    items = [step_item(each) for each in found["items"]]
    return page(head, "steps", items, after=asked.after, following=found["next"], limit=asked.max_tokens)


class StepArguments(Sized):
    """Which step, and which part of it."""

    session: str = Field(description=SESSION)
    step: int = Field(ge=1, description="The number of the step in its session.")
    field: str | None = Field(
        default=None,
        description="Only this field, for example `output`; with `offset` to read on in a long one.",
    )
    offset: int = Field(
        default=0,
        ge=0,
        description="The character of `field` to begin with: `next_offset` of the previous answer.",
    )

    @model_validator(mode="after")
    def _offset_of_a_field(self) -> Self:
        if self.offset and self.field is None:
            raise ValueError("name the `field` that `offset` is about")
        return self


class StepAnswer(Answer):
    """A step with its fields as text, JSON where they are not text. What was not recorded is absent."""

    session: str
    step: int
    kind: Kind
    facts: dict[str, str | int | float | bool]
    fields: list[Part]


_FACTS: Final = (
    "role", "layer", "agent", "name", "tool", "model", "significance", "importance", "iteration",
    "started_at", "duration_ms", "cost_usd", "cached", "saved_usd",
)  # fmt: skip
_NOT_FIELDS: Final = frozenset({*_FACTS, "sequence", "kind"})


async def _step(api: Api, asked: StepArguments) -> JsonObject:
    found = await api.call("GET", path_of(asked.session, "actions", asked.step))
    fields = {
        name: value
        for name, value in found.items()
        if name not in _NOT_FIELDS and value not in (None, [], {})
    }
    if asked.field is not None:
        if asked.field not in fields:
            raise Refused(
                f"Step {asked.step} has no `{asked.field[:40]}`. It has: {', '.join(fields) or 'none'}."
            )
        fields = {asked.field: fields[asked.field]}
    head = {
        "notice": NOTICE,
        "session": asked.session,
        "step": found["sequence"],
        "kind": found["kind"],
        "facts": without_null(**{name: found.get(name) for name in _FACTS}),
    }
    return cut_parts(head, fields, asked.offset, asked.max_tokens)


READING: Final[tuple[Tool[Any], ...]] = (
    Tool(
        name="get_transcript",
        title="Read a session",
        description="Read the steps of one session in order, as text, page by page. Filters keep only what matters: `min_importance` 0.9 "
        "for decisions and solutions, `significance`, `kind`, `role`. Long steps are shortened; get_step returns them whole.",
        arguments=TranscriptArguments,
        answer=TranscriptAnswer,
        run=_transcript,
    ),
    Tool(
        name="get_step",
        title="Read a step",
        description="Read everything that one step recorded: input, output, error, model, tokens, retrieved passages. If a field is too long, "
        "call it again with `field` and `offset` set to its `next_offset`.",
        arguments=StepArguments,
        answer=StepAnswer,
        run=_step,
    ),
)
