"""Sessions as resources: each is an answer of a tool under an address."""

from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp import tools
from timemachine.mcp.api import Api, Refused

SCHEME: Final = "timemachine"
_ALL: Final = f"{SCHEME}://sessions"
TEMPLATES: Final = (
    (f"{_ALL}/{{session}}", "Session", "The totals of a session, by its key or id."),
    (
        f"{_ALL}/{{session}}/transcript{{?after,max_tokens}}",
        "Transcript",
        "The steps of a session in order, one page.",
    ),
    (f"{_ALL}/{{session}}/steps/{{step}}{{?field,offset,max_tokens}}", "Step", "What one step recorded."),
)
"""The templates of addresses, each with a title and a description."""


def address_of(session: str) -> str:
    """Return the address of a session."""
    return f"{_ALL}/{quote(session, safe='')}"


async def read(api: Api, uri: str) -> JsonObject:
    """Return the document at an address. Raises `Refused`."""
    name, given = _call_of(uri)
    return await tools.call(api, name, given)


def _call_of(uri: str) -> tuple[str, dict[str, Any]]:
    """Return the tool that an address names, and its arguments."""
    parts = urlsplit(uri)
    query = dict(parse_qsl(parts.query))
    if parts.scheme == SCHEME and parts.netloc == "sessions":
        match [unquote(each) for each in parts.path.split("/")[1:]]:
            case [] | [""]:
                return "recorder_list", query
            case [session]:
                return "recorder_status", {"session": session, **query}
            case [session, "transcript"]:
                return "get_transcript", {"session": session, **query}
            case [session, "steps", step]:
                return "get_step", {"session": session, "step": step, **query}
    raise Refused(
        f"There is no resource {uri[:200]!r}. Resources are {', '.join(each[0] for each in TEMPLATES)}."
    )
