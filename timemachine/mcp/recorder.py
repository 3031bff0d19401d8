"""The actions of a recorder: start, snapshot, status, export, stop, list. A tool for each, so that a client can allow each on its own."""

from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Schema, Strict
from timemachine.mcp.api import Api, Refused, named_session, path_of
from timemachine.mcp.pages import page, place_of
from timemachine.mcp.tool import NOTICE, Answer, Item, Paged, Tool, without_null
from timemachine.mcp.writing import OWN_SESSION, Recorded

_SESSIONS_AT_ONCE: Final = 50


class SessionItem(Item):
    """A session. `steps` counts what it recorded; what is unknown is absent."""

    session: str
    id: str
    name: str
    status: str
    steps: int
    errors: int
    url: str
    agent: str | None = None
    user: str | None = None
    tags: list[str] | None = None
    started_at: str | None = None
    ended_at: str | None = None
    duration_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    unknown_cost_calls: int | None = None


_FIELDS: Final = (
    "agent", "user", "tags", "started_at", "ended_at", "duration_ms", "input_tokens", "output_tokens", "cost_usd",
)  # fmt: skip


def session_item(found: JsonObject) -> JsonObject:
    """Return a session of the API for an answer."""
    return {
        "session": found["key"],
        "id": found["id"],
        "name": found["name"],
        "status": found["status"],
        "steps": found["actions"],
        "errors": found["errors"],
        **without_null(
            **{name: found[name] for name in _FIELDS}, unknown_cost_calls=found["unknown_cost_calls"] or None
        ),
        "url": found["url"],
    }


class StartArguments(Strict):
    """The session to start."""

    name: str = Field(min_length=1, description="What the session is about, for example the task.")
    key: str | None = Field(
        default=None,
        description="A name for later calls: letters, digits and . _ : @ -. Generated if left out.",
    )
    agent: str | None = Field(default=None, description="The name of the recording agent.")
    user: str | None = Field(default=None, description="The user for whom the agent works.")
    tags: list[str] = Field(default_factory=list, description="Tags to find it by.")
    parent_session: str | None = Field(
        default=None, description="The session that this one continues, as `resume` returns it …"
    )
    parent_step: int | None = Field(default=None, ge=1, description="… and the step.")

    @model_validator(mode="after")
    def _whole_parent(self) -> Self:
        if (self.parent_session is None) != (self.parent_step is None):
            raise ValueError("give `parent_session` and `parent_step` together")
        return self


async def _start(api: Api, given: StartArguments) -> JsonObject:
    body = given.model_dump(exclude={"parent_session", "parent_step"}, exclude_none=True)
    if given.parent_session is not None:
        body["parent"] = {"session": given.parent_session, "sequence": given.parent_step}
    found = await api.call("POST", "/api/sessions", body=body)
    api.current = found["key"]
    return session_item(found)


class SnapshotArguments(Strict):
    """What was reached."""

    description: str = Field(
        min_length=1, max_length=200, description="What was reached; becomes the name of the checkpoint."
    )
    session: str | None = Field(default=None, description=OWN_SESSION)


async def _snapshot(api: Api, given: SnapshotArguments) -> JsonObject:
    session = named_session(api, given.session)
    last = (await api.call("GET", path_of(session)))["actions"]
    if not last:
        raise Refused("The session has no steps yet, so there is nothing to take a snapshot of.")
    state = await api.call("GET", path_of(session, "state"), query={"at": last})
    messages = [{"role": each["role"] or "user", "content": each["content"]} for each in state["messages"]]
    body = {"name": given.description, "state": {"messages": messages, "through_step": last}}
    found = await api.call("POST", path_of(session, "checkpoints"), body=body)
    return {"session": session, "step": found["sequence"]}


class OneSession(Strict):
    """Which session."""

    session: str | None = Field(default=None, description=OWN_SESSION)


async def _status(api: Api, asked: OneSession) -> JsonObject:
    return session_item(await api.call("GET", path_of(named_session(api, asked.session))))


async def _stop(api: Api, asked: OneSession) -> JsonObject:
    session = named_session(api, asked.session)
    found = await api.call("POST", path_of(session, "end"), body={})
    if api.current in (session, found["key"]):
        api.current = None
    return session_item(found)


class ExportArguments(OneSession):
    """Which session, in which format."""

    format: Literal["timemachine", "atif", "otlp_json", "zip"] = Field(
        default="timemachine",
        description="`timemachine` can be imported again; `zip` is the format that devduck recorders write.",
    )


class Exported(Schema):
    """Where the export is: `file` on this machine (over stdio), or how to download it."""

    session: str
    format: str
    steps: int
    download_path: str
    command: str
    file: str | None = None
    bytes: int | None = None


async def _export(api: Api, asked: ExportArguments) -> JsonObject:
    found = await api.call("GET", path_of(named_session(api, asked.session)))
    session = found["key"]
    saved = await api.save_export(session, asked.format)
    return {
        "session": session,
        "format": asked.format,
        "steps": found["actions"],
        "download_path": f"{path_of(session, 'export')}?format={asked.format}",
        "command": f"timemachine session export {session} --format {asked.format}",
        **({} if saved is None else {"file": str(saved.file), "bytes": saved.bytes}),
    }


class ListArguments(Paged):
    """Which sessions."""

    status: Literal["recording", "ended"] | None = Field(
        default=None, description="Only open sessions, or only ended ones."
    )
    agent: str | None = Field(default=None, description="Only of this agent.")
    user: str | None = Field(default=None, description="Only of this user.")
    tag: str | None = Field(default=None, description="Only with this tag.")
    since: str | None = Field(
        default=None, description="Only started at or after this time: RFC 3339 or a date."
    )
    until: str | None = Field(default=None, description="Only started before this time: RFC 3339 or a date.")


class SessionList(Answer):
    """Sessions, newest first."""

    sessions: list[SessionItem]
    next: str | None = None


async def _list(api: Api, asked: ListArguments) -> JsonObject:
    _, cursor = place_of(asked.after)
    filters = asked.model_dump(exclude={"max_tokens", "after"}, exclude_none=True)
    found = await api.call(
        "GET", "/api/sessions", query={"limit": _SESSIONS_AT_ONCE, "after": cursor, **filters}
    )
    items = [session_item(each) for each in found["items"]]
    head = {"notice": NOTICE}
    return page(head, "sessions", items, after=asked.after, following=found["next"], limit=asked.max_tokens)


RECORDER: Final[tuple[Tool[Any], ...]] = (
    Tool(
        name="recorder_start",
        title="Start recording",
        description="Start a session to record into, and return its key. Over stdio, record_decision, checkpoint and the other recorder tools "
        "use it until recorder_stop; over HTTP, pass the returned `session` to them.",
        arguments=StartArguments,
        answer=SessionItem,
        run=_start,
        reads_only=False,
        idempotent=False,
    ),
    Tool(
        name="recorder_snapshot",
        title="Take a snapshot",
        description="Set a checkpoint whose state is the conversation that the session has recorded so far. To supply the state yourself, use `checkpoint`.",
        arguments=SnapshotArguments,
        answer=Recorded,
        run=_snapshot,
        reads_only=False,
        idempotent=False,
    ),
    Tool(
        name="recorder_status",
        title="Status of a session",
        description="Read whether a session is recording, and its steps, errors, tokens and cost so far.",
        arguments=OneSession,
        answer=SessionItem,
        run=_status,
    ),
    Tool(
        name="recorder_export",
        title="Export a session",
        description="Export a session as a file. Over stdio it is written to this machine and `file` is its path; over HTTP the answer says how to download it.",
        arguments=ExportArguments,
        answer=Exported,
        run=_export,
        reads_only=False,
    ),
    Tool(
        name="recorder_stop",
        title="Stop recording",
        description="End a session: nothing more can be recorded in it, and it is sealed. Its totals are returned.",
        arguments=OneSession,
        answer=SessionItem,
        run=_stop,
        reads_only=False,
    ),
    Tool(
        name="recorder_list",
        title="List sessions",
        description="List the sessions of this project, newest first, without a search; `status` `recording` lists the open ones. To find sessions by content use search_sessions or recall.",
        arguments=ListArguments,
        answer=SessionList,
        run=_list,
    ),
)
