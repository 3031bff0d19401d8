"""Tools that record: record_decision, checkpoint; and resume, which reads what a checkpoint recorded."""

from typing import Any, Final, Literal
from uuid import uuid4

from pydantic import Field

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Schema, Strict
from timemachine.mcp.api import Api, named_session, path_of
from timemachine.mcp.pages import place_of
from timemachine.mcp.parts import Part, cut_parts
from timemachine.mcp.pure.fitting import CUT, filled
from timemachine.mcp.reading import SESSION
from timemachine.mcp.tool import NOTICE, Answer, Item, Paged, Tool, without_null
from timemachine.recording.sessions.pure.turn_text import message_text

OWN_SESSION: Final = "The key or id of the session to record into. Over stdio it can be left out after recorder_start; over HTTP it is required."


class DecisionArguments(Strict):
    """A decision, and why."""

    decision: str = Field(
        min_length=1,
        description="What was decided or found out, in one or two sentences that make sense on their own later.",
    )
    reason: str | None = Field(default=None, description="Why.")
    alternatives: list[str] = Field(default_factory=list, description="What was considered and not chosen.")
    significance: Literal["decision", "solution", "breakthrough", "hypothesis"] = Field(
        default="decision",
        description="`solution` for what solved a problem, `breakthrough` for a root cause, `hypothesis` for a guess.",
    )
    tags: list[str] = Field(default_factory=list, description="Tags to find it by.")
    session: str | None = Field(default=None, description=OWN_SESSION)


class Recorded(Schema):
    """The step that was recorded."""

    session: str
    step: int


async def _decide(api: Api, given: DecisionArguments) -> JsonObject:
    session = named_session(api, given.session)
    reason = [f"Reason: {given.reason}"] if given.reason else []
    others = [f"Not chosen: {'; '.join(given.alternatives)}"] if given.alternatives else []
    action = {
        "id": f"mcp-{uuid4()}",
        "kind": "message",
        "role": "agent",
        "significance": given.significance,
        "tags": given.tags,
        "output": "\n".join([given.decision, *reason, *others]),
    }
    found = await api.call("POST", path_of(session, "actions"), body={"actions": [action]})
    return {"session": session, "step": found["sequences"][0]}


class CheckpointArguments(Strict):
    """A name and the state to resume from."""

    name: str = Field(min_length=1, description="What was reached, for example `tests pass, docs left`.")
    state: dict[str, Any] = Field(
        description="What is needed to continue: `messages` ([{role, content}]), `system_prompt`, `working_directory`, `last_query`, `last_result`, `model`, and any other fields. No secrets."
    )
    session: str | None = Field(default=None, description=OWN_SESSION)


async def _checkpoint(api: Api, given: CheckpointArguments) -> JsonObject:
    session = named_session(api, given.session)
    found = await api.call(
        "POST", path_of(session, "checkpoints"), body={"name": given.name, "state": given.state}
    )
    return {"session": session, "step": found["sequence"]}


class ResumeArguments(Paged):
    """Which checkpoint."""

    session: str = Field(description=SESSION)
    checkpoint: int | str | None = Field(
        default=None, description="Its step or its name; the last one if left out."
    )


class MessageItem(Item):
    """A message of the conversation; `number` counts from 1."""

    number: int
    role: str
    text: str


class ResumeParent(Schema):
    """The `parent_session` and `parent_step` for recorder_start, to continue in a session of its own."""

    session: str
    step: int


class Resumed(Answer):
    """What the agent knew at a checkpoint: the last `messages` that fit, and the other `fields` of its state. `next` has earlier messages."""

    session: str
    checkpoint: str
    step: int
    parent: ResumeParent
    all_messages: int
    messages: list[MessageItem]
    fields: list[Part]
    at: str | None = None
    next: str | None = None


_HALF: Final = 2


async def _resume(api: Api, asked: ResumeArguments) -> JsonObject:
    skip, _ = place_of(asked.after)
    body = {} if asked.checkpoint is None else {"checkpoint": asked.checkpoint}
    found = await api.call("POST", path_of(asked.session, "resume"), body=body)
    checkpoint, parent, more = found.pop("checkpoint"), found.pop("parent"), found.pop("more")
    messages = _messages(found.pop("messages"))
    head = {
        "notice": NOTICE,
        "session": asked.session,
        "checkpoint": checkpoint["name"] or f"step {checkpoint['sequence']}",
        "step": checkpoint["sequence"],
        **without_null(at=checkpoint["at"]),
        "parent": {"session": parent["session"], "step": parent["sequence"]},
        "all_messages": len(messages),
    }
    fields = without_null(**{**found, **more}) if skip == 0 else {}
    state = cut_parts(head, fields, 0, asked.max_tokens // _HALF) if fields else {**head, "fields": []}
    latest = messages[: len(messages) - skip][::-1]

    def build(kept: list[JsonObject]) -> JsonObject:
        given = skip + len(kept)
        following = {"next": f"{given}:"} if given < len(messages) else {}
        return {
            **{name: each for name, each in state.items() if name != CUT},
            "messages": kept[::-1],
            **following,
        }

    return filled(build, latest, asked.max_tokens)


def _messages(recorded: Any) -> list[JsonObject]:
    found = recorded if isinstance(recorded, list) else []
    return [
        {
            "number": number,
            "role": str(each.get("role", "unknown")) if isinstance(each, dict) else "unknown",
            "text": message_text(each),
        }
        for number, each in enumerate(found, 1)
    ]


WRITING: Final[tuple[Tool[Any], ...]] = (
    Tool(
        name="record_decision",
        title="Record a decision",
        description="Record a decision, solution, root cause or hypothesis with its reason, so that later sessions can recall it. Use it whenever "
        "you choose between alternatives or solve a problem.",
        arguments=DecisionArguments,
        answer=Recorded,
        run=_decide,
        reads_only=False,
        idempotent=False,
    ),
    Tool(
        name="checkpoint",
        title="Set a checkpoint",
        description="Record a named checkpoint with the state that you give, from which you or another agent can resume later. "
        "recorder_snapshot takes the state from what was recorded instead.",
        arguments=CheckpointArguments,
        answer=Recorded,
        run=_checkpoint,
        reads_only=False,
        idempotent=False,
    ),
    Tool(
        name="resume",
        title="Resume from a checkpoint",
        description="Read what an agent knew at a checkpoint: its messages and state. Use it to continue earlier work. It records nothing; to "
        "record the continuation, call recorder_start with the returned `parent`.",
        arguments=ResumeArguments,
        answer=Resumed,
        run=_resume,
    ),
)
