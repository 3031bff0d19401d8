"""An agent uses every tool over both transports, and each answer has the schema of its tool."""

from typing import Any

import httpx
import pytest
from django.test import override_settings
from mcp.shared.exceptions import MCPError

from tests.mcp.conftest import Agent, Place
from tests.memory.search.recorded import index, message, session_of
from timemachine.core.accounts.models import Project
from timemachine.mcp.pure.tokens import size
from timemachine.mcp.tools import TOOLS
from timemachine.recording.sessions.models import Session

TYPE_ERROR = "TypeError: cannot read properties of undefined (reading 'total')"


def earlier_sessions(project: Project) -> Session:
    """Two sessions with the same error, solved in the first, which is returned."""
    solved = session_of(
        project,
        message(TYPE_ERROR, significance="error"),
        message("await fetchCart() in checkout.js:42; all tests pass.", significance="solution"),
        name="Orders fail",
        agent="debugger",
    )
    session_of(project, message(TYPE_ERROR, significance="error"), name="Orders fail again", agent="debugger")
    index(project)
    return solved


@pytest.mark.parametrize(("transport", "mode"), [("http", "auto"), ("http", "legacy"), ("stdio", "auto")])
def test_an_agent_lists_and_calls_every_tool(place: Place, transport: str, mode: str) -> None:
    solved = earlier_sessions(place.project)
    used: set[str] = set()

    async def story(agent: Agent) -> None:
        listed = {each.name: each for each in (await agent.client.list_tools()).tools}
        assert listed.keys() == TOOLS.keys()
        for name, tool in listed.items():
            assert tool.output_schema is not None
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is TOOLS[name].reads_only

        async def call(tool: str, **arguments: Any) -> Any:
            used.add(tool)
            return await agent.call(tool, **arguments)

        recalled = await call("recall", query="why was the total undefined?", around=1)
        assert solved.key in {each["session"] for each in recalled["results"]}
        found = await call("search_sessions", query="fetchCart")
        assert [each["session"] for each in found["sessions"]] == [solved.key]
        transcript = await call("get_transcript", session=solved.key, min_importance=0.9)
        assert [each["step"] for each in transcript["steps"]] == [2]
        step = await call("get_step", session=solved.key, step=1)
        assert {"field": "output", "text": TYPE_ERROR, "length": len(TYPE_ERROR)} in step["fields"]
        await call("similar_errors", text=TYPE_ERROR)
        started = await call("recorder_start", name="Repair", agent="mcp", key=f"repair:{transport}@{mode}")
        own = {"session": started["session"]} if transport == "http" else {}
        decided = await call("record_decision", decision="We await it.", reason="It is async.", **own)
        assert decided == {"session": started["session"], "step": 1}
        state = {"messages": [{"role": "user", "content": "Fix it"}], "working_directory": "/src"}
        assert (await call("checkpoint", name="half way", state=state, **own))["step"] == 2
        assert (await call("recorder_snapshot", description="decided", **own))["step"] == 3
        resumed = await call("resume", session=started["session"], checkpoint="half way")
        assert [each["text"] for each in resumed["messages"]] == ["Fix it"]
        assert {each["field"]: each["text"] for each in resumed["fields"]} == {"working_directory": "/src"}
        snapshot = await call("resume", session=started["session"], checkpoint="decided")
        assert [each["text"] for each in snapshot["messages"]] == ["We await it.\nReason: It is async."]
        assert (await call("recorder_status", **own))["steps"] == 3
        exported = await call("recorder_export", **own)
        assert ("file" in exported) is (transport == "stdio")
        assert (await call("recorder_stop", **own))["status"] == "ended"
        listing = await call("recorder_list", agent="mcp")
        assert [each["session"] for each in listing["sessions"]] == [started["session"]]
        for no_key in ("..", f"{solved.key}/end", "größer"):
            assert "recorder_list" in await agent.refused("get_transcript", session=no_key)
        missing = await agent.refused("record_decision", decision="Too late.")
        assert "recorder_start" in missing

    place.over(transport, story, place.key(), mode)
    assert used == TOOLS.keys()


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_sessions_are_resources_with_templates(place: Place, transport: str) -> None:
    solved = earlier_sessions(place.project)

    async def story(agent: Agent) -> None:
        resources = (await agent.client.list_resources()).resources
        uri = f"timemachine://sessions/{solved.key}"
        assert uri in {each.uri for each in resources}
        assert len((await agent.client.list_resource_templates()).resource_templates) == 3
        for address in (uri, f"{uri}/transcript?max_tokens=500", f"{uri}/steps/2?field=output"):
            (content,) = (await agent.client.read_resource(address)).contents
            assert solved.key in str(content)
        with pytest.raises(MCPError, match="There is no resource"):
            await agent.client.read_resource("timemachine://frames/1")

    place.over(transport, story, place.key("read"))


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_key_of_another_project_sees_nothing_and_a_read_key_cannot_record(
    place: Place, transport: str
) -> None:
    solved = earlier_sessions(place.project)
    other = Project.objects.create(name="Others")

    async def stranger(agent: Agent) -> None:
        assert (await agent.call("recall", query="fetchCart total undefined"))["results"] == []
        assert (await agent.call("search_sessions", query="fetchCart"))["sessions"] == []
        assert (await agent.call("similar_errors", text=TYPE_ERROR))["items"] == []
        assert (await agent.call("recorder_list"))["sessions"] == []
        assert (await agent.client.list_resources()).resources == []
        of_it: dict[str, dict[str, Any]] = {
            "get_transcript": {},
            "get_step": {"step": 1},
            "similar_errors": {"step": 1},
            "resume": {},
            "record_decision": {"decision": "Mine now."},
            "checkpoint": {"name": "mine", "state": {}},
            "recorder_snapshot": {"description": "mine"},
            "recorder_status": {},
            "recorder_export": {},
            "recorder_stop": {},
        }
        for tool, arguments in of_it.items():
            for named in (solved.key, str(solved.id)):
                assert "recorder_list" in await agent.refused(tool, session=named, **arguments), tool

    place.over(transport, stranger, place.key(project=other))

    async def reader(agent: Agent) -> None:
        why = await agent.refused("recorder_start", name="Not allowed")
        assert "lacks the scope `record`" in why
        assert "do not retry" in why

    place.over(transport, reader, place.key("read"))
    assert set(Session.objects.values_list("project_id", flat=True)) == {place.project.id}


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_pages_fit_the_limit_and_together_have_every_step_whole(place: Place, transport: str) -> None:
    session = session_of(
        place.project, *[message(f"Step {number}: {'word ' * (number % 40)}") for number in range(1, 121)]
    )
    long = '"\\\n\u0000 日本語 🦆\ud800 ' * 800
    session_of(place.project, message(long), key="long")

    async def story(agent: Agent) -> None:
        steps: list[int] = []
        after: dict[str, Any] = {}
        while after is not None:
            found = await agent.call("get_transcript", session=session.key, max_tokens=1_500, **after)
            assert size(found) <= 1_500
            steps += [each["step"] for each in found["steps"]]
            after = {"after": found["next"]} if "next" in found else None  # type: ignore[assignment]
        assert steps == list(range(1, 121))
        text, offset = "", 0
        while offset is not None:
            found = await agent.call(
                "get_step", session="long", step=1, field="output", offset=offset, max_tokens=5_000
            )
            assert size(found) <= 5_000
            (part,) = found["fields"]
            text += part["text"]
            offset = part.get("next_offset")
        assert len(text) == len(long)
        shortened = await agent.call("get_transcript", session="long", max_tokens=500)
        assert size(shortened) <= 500
        assert shortened["steps"][0]["cut"]
        assert "`next`" in await agent.refused("get_transcript", session="long", after="xyz")
        assert "`max_tokens`" in await agent.refused("recall", query="x", max_tokens=10)
        assert "`sesion`" in await agent.refused("get_transcript", sesion="long")

    place.over(transport, story, place.key("read"))


def test_the_web_address_refuses_what_the_protocol_and_browsers_do_not_need(place: Place) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {
        "Authorization": f"Bearer {place.key('read')}",
        "Accept": "application/json, text/event-stream",
    }
    url = f"{place.url}/mcp"
    with httpx.Client(trust_env=False) as http:
        got = http.get(url, headers=headers)
        assert (got.status_code, got.headers["Allow"]) == (405, "POST")
        assert http.delete(url, headers=headers).status_code == 405
        without = http.post(url, json=ping)
        assert (without.status_code, without.headers["WWW-Authenticate"]) == (401, "Bearer")
        foreign = http.post(url, json=ping, headers=headers | {"Origin": "https://evil.example"})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "foreign_origin")
        assert http.post(url, json=ping, headers=headers | {"Origin": place.url}).json()["result"] == {}
        with override_settings(ALLOWED_HOSTS=["timemachine.example"]):
            assert http.post(url, json=ping, headers=headers).status_code == 400
        assert http.post(url, content=b"x" * (9 << 20), headers=headers).status_code == 413
        assert (
            http.post(url, content=b"{", headers=headers | {"Content-Type": "application/json"}).status_code
            == 400
        )


def test_a_server_that_is_away_is_reported_to_the_agent(place: Place) -> None:
    async def story(agent: Agent) -> None:
        assert "No server at http://127.0.0.1:9" in await agent.refused("recorder_list")

    Place("http://127.0.0.1:9", place.folder, place.project).over("stdio", story, "tmk_aaaaaaaaaaaa_x")
